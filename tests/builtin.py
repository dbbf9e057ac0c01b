"""Worlds of the built-in model as their author writes them without faults, for tests."""

from functools import cache

import numpy as np

from envscaler.model.builtin import BuiltinModel
from envscaler.model.builtin.domain import domains
from envscaler.schema import Skeleton, Theme
from envscaler.skeletons import build_skeleton

MODEL = BuiltinModel(fault_rate=0)


@cache
def skeleton_of(name: str) -> Skeleton:
    """The world of a domain."""
    rng, domain = np.random.default_rng(7), domains()[name]
    theme = Theme(
        title=domain.word_title(rng),
        summary=domain.word_summary(rng),
        usefulness=8,
        modelability=8,
        task_ids=["t"],
        example="Please help me.",
    )
    return build_skeleton(theme, MODEL)
