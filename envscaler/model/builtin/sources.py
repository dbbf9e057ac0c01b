"""All code that the built-in model can write, written again: what it vouches for where nothing else is sealed off.

Heads of classes, tools as they are and with every fault they may carry, invariants, and one check of each
form. It is for comparing shapes of code, not for use, and executes nothing.
"""

from collections.abc import Iterator

from envscaler import syntax
from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.checks import check_source, guard_source
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.faults import KINDS, edited
from envscaler.model.builtin.pattern import Added, Changed


def sources() -> Iterator[str]:
    """Every source, world by world."""
    yield check_source(Changed("t", "k", {}, ""))
    yield check_source(Added("t", {}, ""))
    yield guard_source("t", 1)
    for name in domains():
        world = world_of(name)
        yield world.head(world.domain.titles[0], world.domain.class_name, list(world.rules))
        yield from world.rules.values()
        yield from (tool.source for tool in world.tools.values())
    for name in domains():
        for tool in world_of(name).tools.values():
            yield from variants(tool.source)


def variants(method: str) -> Iterator[str]:
    """The method with each fault that it can carry."""
    lines = method.splitlines()
    for node in syntax.parse(method).body:
        for kind in KINDS.values():
            yield from filter(None, (edited(lines, edit) for edit in kind(node, lines)))
