"""Where it happens: sources that are read, environments that run, checks that grade, certificates that prove.

This wing knows no model, no agent and no stage. Generated code runs in `sandbox` and nowhere else.
"""
