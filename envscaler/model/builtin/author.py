"""The stand-in as author of worlds: its answers to the steps `skeletons/*` and to `audits/repair`.

It recognises the world in the title and summary, or in the class it is shown, and writes that world's parts
down. At the fault rate a tool carries a fault (`faults`) that an audit should find; told what is wrong, it
writes it clean, and asked to repair, it does so nine times in ten. It executes nothing and remembers
nothing between steps.
"""

from collections.abc import Mapping
from typing import Any

from envscaler.error import NothingFits
from envscaler.model.builtin.build import World
from envscaler.model.builtin.faults import spoil
from envscaler.model.builtin.pattern import Rng
from envscaler.model.builtin.recall import need, read, world_in, world_with

Blocks = Mapping[str, str]

SLOPPY = 0.1
"""How often a repair leaves the tool as it was, when the stand-in errs at all."""


def plan_state(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """Entities and rules of the world that title and summary speak of."""
    world = world_in(f"{need(blocks, 'title')}. {need(blocks, 'summary')}")
    return {
        "class_name": world.domain.class_name,
        "entities": [entity.model_dump() for entity in world.entities],
        "rules": list(world.rules),
    }


def write_class(blocks: Blocks, rng: Rng, fault_rate: float) -> str:
    """The class without tools, under the planned name and with the planned rules."""
    title, entities = need(blocks, "title"), need(blocks, "entities")
    world = world_with(f"{title}. {need(blocks, 'summary')}", entities)
    return fenced(world.head(title, need(blocks, "class_name").strip(), read(blocks, "rules")))


def plan_tools(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """The tools of the world whose class it is shown."""
    world = _written(blocks)
    tools = world.tools.values()
    return {"tools": [{"name": t.name, "purpose": t.purpose, "mutates": t.mutates} for t in tools]}


def write_tool(blocks: Blocks, rng: Rng, fault_rate: float) -> str:
    """One planned tool, sometimes with a fault."""
    world, wanted = _written(blocks), read(blocks, "tool")
    method = _method(world, str(wanted.get("name")))
    errs = rng.random() < fault_rate and not need(blocks, "feedback").strip()
    return fenced(spoil(method, rng) if errs else method)


def write_invariant(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """The invariant of a rule of the world, or none for a rule it does not know."""
    source_so_far = need(blocks, "class_source")
    world = world_with(f"{need(blocks, 'title')}. {source_so_far}", source_so_far)
    source = world.rules.get(" ".join(need(blocks, "rule").split()))
    reason = "It can be decided from the records." if source else "I do not know how to decide this rule."
    return {"reason": reason, "source": source}


def repair(blocks: Blocks, rng: Rng, fault_rate: float) -> str:
    """The tool as it ought to be, most of the time."""
    world = world_with(need(blocks, "summary") + need(blocks, "rules"), need(blocks, "class_source"))
    old = need(blocks, "tool_source")
    name = old.split("def ", 1)[-1].split("(", 1)[0].strip()
    method = _method(world, name)
    sloppy = fault_rate > 0 and rng.random() < SLOPPY and not need(blocks, "feedback").strip()
    return fenced(old if sloppy else method)


def _written(blocks: Blocks) -> World:
    words = f"{need(blocks, 'title')}. {need(blocks, 'summary')}"
    return world_with(words, need(blocks, "class_source"))


def _method(world: World, name: str) -> str:
    tool = world.tools.get(name)
    if tool is None:
        raise NothingFits(f"The built-in model knows no tool {name!r} in {world.domain.name}.")
    return tool.source


def fenced(source: str) -> str:
    """Code as a reply gives it."""
    return f"```python\n{source.strip()}\n```"
