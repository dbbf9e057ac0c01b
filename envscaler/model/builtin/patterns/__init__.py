"""The patterns of the built-in model, one file each; `pattern.py` says what a pattern is."""
