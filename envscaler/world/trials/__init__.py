"""Trials: what the referee holds against an environment, each a question that running it can answer.

`schemas` compares what is declared with what the methods take, `replies` holds what a call says against what it
did, `habits` what it left behind against what the state was like before, `inputs` what became of its arguments,
`rules` the rules' invariants, `inside` what neither reply nor state shows, `again` whether it all comes out the
same another time. None knows a world or what a tool is meant to do; calls come from `world.trials.exploring`.
"""
