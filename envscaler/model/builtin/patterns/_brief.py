"""Short forms that patterns of a single world are written in: a draw, the calls of a plan, the form of a table.

This module is no pattern.
"""

from collections.abc import Sequence
from typing import Any

from envscaler.model.builtin.pattern import Noun, Rng, Table, attribute, call, found, pick
from envscaler.model.builtin.phrase import Slots


def any_of(rng: Rng, values: Sequence[Any]) -> Any:
    """One of the values; raises `LookupError` for none."""
    if not values:
        raise LookupError("there is none")
    return pick(rng, values)


def steps(slots: Slots, *calls: str) -> list[dict[str, Any]]:
    """The calls of a plan, a text each: the tool, then its arguments.

    `points` is the slot of that name, `name=title` the slot `title`, `overdue=True` a truth value, `student_id<0`
    that field of the first row in the reply to call 0, and `to_id<1/2/row_id` the value at a path in reply 1.
    """
    return [_step(slots, *one.split()) for one in calls]


def _step(slots: Slots, tool: str, *words: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for word in words:
        if "<" in word:
            name, _, way = word.partition("<")
            index, *path = [int(one) if one.isdigit() else one for one in way.split("/")]
            arguments[name] = found(int(index), *(path or (0, name)))
        else:
            name, _, slot = word.partition("=")
            arguments[name] = slot == "True" if slot in ("True", "False") else slots[slot or name]
    return call(tool, **arguments)


def form(noun: Noun, about: str, attributes: str) -> Table:
    """A table whose attributes are told a line each: `points: int | None = points, None until it is marked`."""
    told = (line.strip().partition(" = ") for line in attributes.strip().splitlines())
    parts = ((*head.split(": ", 1), text) for head, _, text in told)
    return Table(noun, about, [attribute(*part) for part in parts])
