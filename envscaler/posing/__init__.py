"""Posing: how a scenario comes about, step by step, for the stage `scenarios`.

`drafting` asks for the parts, `vetting` says what is wrong with one as it comes, `locating` which part stands in the
way of a certificate, `solving` makes a witness of an agent's episode, `doubting` and `completing` take what speaks
against a world's tools back to their author, `catching` measures how much of all this a careless author gets past.
"""
