"""The built-in model: a hand-written stand-in that needs no key, no network and no GPU."""
