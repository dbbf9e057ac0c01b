"""Which world a request is about: found in the words of its blocks, and in the names that code and tools bear.

Title and summary speak; once there is a class, its tables and tools speak louder. Where nothing is near enough, or
the class at hand is not one of the known worlds, `NothingFits` says so. This module answers nothing.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from envscaler.error import NothingFits
from envscaler.model.builtin.build import World, world_of
from envscaler.model.builtin.domain import ENOUGH, domains, ranking

NEAR = 8
"""Worlds whose names are compared, the nearest in words first."""
NAMED = 0.9
"""Least overlap of names at which a class is taken to be the world's."""
_NAME = re.compile(r"[A-Za-z_]\w+")


def need(blocks: Mapping[str, str], name: str) -> str:
    """The text of a block; raises `NothingFits` when the prompt has no such block."""
    if name not in blocks:
        raise NothingFits(
            f"The built-in model expected a block <{name}>, but the prompt has {sorted(blocks)}."
        )
    return blocks[name]


def read(blocks: Mapping[str, str], name: str) -> Any:
    """The JSON of a block; raises `NothingFits` when it is none."""
    try:
        return json.loads(need(blocks, name))
    except json.JSONDecodeError as error:
        raise NothingFits(f"The built-in model expected JSON in the block <{name}>: {error}.") from error


def world_in(words: str) -> World:
    """The world that a title and summary speak of."""
    ranked = ranking(words)
    if not ranked or ranked[0][0] < ENOUGH:
        raise NothingFits(
            f"The built-in model knows no world like {words[:80]!r}; it knows {', '.join(domains())}."
        )
    return world_of(ranked[0][1].name)


def world_with(words: str, names: str) -> World:
    """The world whose tables and tools bear the names that occur in a text, of those that the words are near to."""
    said = set(_NAME.findall(names))
    ranked = ranking(words)
    worlds = [world_of(domain.name) for _, domain in ranked[:NEAR]]
    if not worlds:
        raise NothingFits("The built-in model has no worlds.")
    score, world = max(((_overlap(world, said), world) for world in worlds), key=lambda pair: pair[0])
    if score < NAMED:
        raise NothingFits(f"The built-in model did not write this class; nearest is {world.domain.name}.")
    return world


def _overlap(world: World, said: set[str]) -> float:
    """From 0 to 2: how many of the world's tables and of its tools are named; 1 where all of either are."""
    tables = {table.noun.ids for table in world.tables}
    return len(tables & said) / len(tables) + len(world.tools.keys() & said) / max(len(world.tools), 1)
