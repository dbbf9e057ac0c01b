"""Certifying: environments and scenarios of anybody's, examined, for `python -m envscaler certify`.

`examine` looks at one of them, with the help of `checklist` (faults of checks), `fitting` (states that do not fit their
class), `providers` (tool schemas that providers refuse) and `surveying` (tools that never succeed); `rows` are what
is found, `many` does all of them and sums up.
"""
