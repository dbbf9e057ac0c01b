"""What audits are not developed on: kinds of planted fault and environments that are kept for measuring."""

import hashlib

from envscaler.schema import Skeleton

KINDS = frozenset({"wrong unit", "swallowed error", "duplicate id accepted", "stale index"})
"""Kinds that nobody saw who worked on the layers while they were developed."""


def environment(skeleton: Skeleton) -> bool:
    """Whether an environment is of the third that is held out, by its published id or its title."""
    name = str(skeleton.extra.get("env_id") or skeleton.title)
    return hashlib.sha256(name.encode()).digest()[0] % 3 == 0
