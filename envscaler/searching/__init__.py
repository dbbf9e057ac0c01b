"""Searching: a witness for a scenario that comes without one.

`search` is the way in; `hints` reads the checks, `naming` tells what their words may mean, `proposing` makes calls of
that, `seeking` tries them, `referring` puts references in the place of ids that nobody could have known.
"""
