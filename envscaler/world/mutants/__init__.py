"""Mutants: a solution, a state or a source with one thing in it made wrong, to see who notices.

`calls` and `states` make mutants of a scenario's solution, which its checks must tell from it. `sources` plants
known faults in the methods of an environment, which its audit must find. This package makes mutants and judges
none.
"""
