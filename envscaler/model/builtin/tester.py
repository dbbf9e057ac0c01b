"""The stand-in as tester: its answer to `audits/probe`.

It draws a sub-task that needs the tool and takes its values, or guesses values by the parameters' names from the
records at hand; for a negative or a boundary call it then bends one of them. It sees no code and judges nothing.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from envscaler.model.builtin.build import World
from envscaler.model.builtin.pattern import NOT_THERE, Changed, Outcome, Rng, State, pick, shuffled
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.recall import need, read, world_with
from envscaler.record import FROM, is_number

Blocks = Mapping[str, str]
Json = Any


def probe(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """A call of the tool that is due, with the intent that is due."""
    world = world_with(need(blocks, "summary"), need(blocks, "tools") + need(blocks, "state"))
    tools = {tool["name"]: tool for tool in read(blocks, "tools")}
    due, given = read(blocks, "suggestion"), read(blocks, "state")
    name = due["tool"] if due.get("tool") in tools else pick(rng, list(tools))
    intent = due.get("intent", "positive")
    parameters = tools[name]["parameters"].get("properties", {})
    required = set(tools[name]["parameters"].get("required", []))
    arguments = (_from_goal(world, name, given, rng) if rng.random() < 0.8 else None) or {
        p: _guess(p, schema, given, rng)
        for p, schema in parameters.items()
        if p in required or rng.random() < 0.5
    }
    arguments = {p: v for p, v in arguments.items() if p in parameters}
    thought = f"{name} with values that fit together."
    if intent != "positive":
        thought = _bend(arguments, parameters, given, rng, intent)
    return {"thought": thought, "tool": name, "intent": intent, "arguments": arguments}


def _from_goal(world: World, tool: str, given: State, rng: Rng) -> dict[str, Any] | None:
    """Arguments of the tool in the plan of a sub-task, its references taken from what the sub-task demands."""
    for goal in shuffled(rng, world.goals):
        try:
            slots = goal.draw(given, rng)
            outcomes = goal.outcome(slots, given) if slots is not None else []
        except NOT_THERE:  # calls have rolled the state on
            continue
        calls = [call for call in goal.plan(slots) if call["tool"] == tool] if slots is not None else []
        if calls:
            arguments = calls[-1]["arguments"]
            filled = {p: _filled(p, v, outcomes, given) for p, v in arguments.items()}
            if None not in filled.values():
                return filled
    return None


def _filled(parameter: str, value: Json, outcomes: list[Outcome], given: State) -> Json:
    """An argument with its references, also those in a list, replaced; None where the demands do not tell."""
    if isinstance(value, list):
        parts = [_filled(parameter, one, outcomes, given) for one in value]
        return None if None in parts else parts
    is_reference = isinstance(value, dict) and FROM in value
    return _demanded(parameter, value, outcomes, given) if is_reference else value


def _demanded(parameter: str, reference: Json, outcomes: list[Outcome], given: State) -> Json:
    """What a reference stands for, as far as the demands tell: a value they name, or the id of a changed record."""
    field = [step for step in reference[FROM] if isinstance(step, str)][-1]
    values = [o.fields[name] for o in outcomes for name in (parameter, field) if name in o.fields]
    changed = [o for o in outcomes if isinstance(o, Changed)]
    keys = [o.key for o in changed if given[o.table][o.key].get(field) == o.key]
    return next(iter([*values, *(keys[::-1] if parameter.startswith("to_") else keys)]), None)


def _guess(parameter: str, schema: Mapping[str, Any], given: State, rng: Rng) -> Json:
    """A value for a parameter, by its name: one that a record has, or a plain one of its type."""
    tables = [table for table in given.values() if isinstance(table, dict)]
    rows = [row for table in tables for row in table.values() if isinstance(row, dict)]
    names = [parameter, re.sub(r"^(from|to|new|min|max)_", "", parameter)]
    seen = [row[name] for row in rows for name in names if row.get(name) is not None]
    types = json.dumps(schema)
    if schema.get("type") == "array":
        return [_guess(parameter.removesuffix("s"), schema.get("items", {}), given, rng)]
    if seen and '"boolean"' not in types:
        return pick(rng, seen)
    if parameter.endswith(("date", "_on", "since")):
        return later(given["today"], int(rng.integers(-5, 20)))
    plain = {'"integer"': int(rng.integers(1, 9)), '"number"': float(rng.integers(1, 90)), '"boolean"': True}
    return next((value for kind, value in plain.items() if kind in types), "a note")


def _bend(
    arguments: dict[str, Any], parameters: Mapping[str, Any], given: State, rng: Rng, intent: str
) -> str:
    """Bend one argument to what is not allowed, or to its edge; the thought says which."""
    for name in shuffled(rng, list(arguments)):
        value, old = arguments[name], given.get("today", "2025-01-01")
        if name.endswith("_id"):
            guess = _guess(name, parameters.get(name, {}), given, rng)
            arguments[name] = "NONE-999" if intent == "negative" and rng.random() < 0.25 else guess
        elif is_number(value) and intent == "negative":
            arguments[name] = type(value)(pick(rng, [-3, 0, 100_000]))
        elif is_number(value):
            arguments[name] = type(value)(pick(rng, [1, 0, 2, *_bounds(str(parameters.get(name)))]))
        elif isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            edge = [old, later(value, 1), later(value, -1)]
            arguments[name] = pick(
                rng, ["yesterday", later(old, -400), later(value, 400)] if intent == "negative" else edge
            )
        elif isinstance(value, str):
            arguments[name] = pick(rng, ["", "  ", "nonsense"]) if intent == "negative" else value
        else:
            continue
        return f"{intent}: {name} is {arguments[name]!r}."
    return f"{intent}: the same once more."


def _bounds(text: str) -> list[int]:
    return [int(n) + by for n in re.findall(r"\b\d{1,4}\b", text) for by in (0, 1)]
