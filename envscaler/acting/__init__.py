"""Acting: what agents and the user of an episode are made of, for `agent`, `episode` and the stage `rollouts`.

`wording` has calls written as text, `choosing` an action as a choice by JSON schema, `messages` whatever an agent
returned as a message, `slips` messages that say nothing, `finishing` the tool `finish`, `user` the user simulator,
`user_faults` what it did wrong, `forms` in which the same fact may be said.
"""
