"""Rollouts as training data, and scenarios as a reward: what a trainer takes from here.

`picking` keeps the episodes that are worth imitating, `saving` writes them for the loaders of TRL and LlamaFactory,
`rewarding` grades completed episodes for trainers that reinforce. No trainer is imported here, and nothing is trained.
"""
