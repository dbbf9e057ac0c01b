"""Proving: what a certificate is made of, beside the mutants.

`proofs` says what each of its lines needs, `otherwise` solves a task in other ways, `alike` compares states up to
generated ids and times, `shape` reads a state's columns and relations, `queries` finds the look-ups that count,
`binding` the rules that can be broken.
"""
