"""Auditing: what the stage `audits` is made of.

`starting` has states to begin in, `probing` the tester's and the checker's rounds, `repair` how a tool goes back to
its author, `accepting` when another version of it stays, `calibration` how good an audit is.
"""
