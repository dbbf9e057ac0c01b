"""Arguments to try a tool with: such as its schema admits, out of the state where one fits, and such as it does not.

Nothing is known of the world: an argument is filled from the fields and tables that bear its name. `referee`
uses it.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from envscaler.schema import Call, Json, Skeleton, Tool
from envscaler.world.change import State

ODD_TEXTS = ("", "unknown-1", "é\n\"'")
WRONG: tuple[Json, ...] = (None, [], {}, "", -1, 1.5, True)
"""Values of every kind, of which a schema admits some."""


class Values:
    """The values of a state: by the field they stand in, ids apart from all other texts."""

    def __init__(self, state: State) -> None:
        self.texts: list[str] = []
        self.by_field: dict[str, list[Json]] = defaultdict(list)
        self.keys: dict[str, list[str]] = {
            name: list(value) for name, value in state.items() if isinstance(value, dict)
        }
        self.ids: set[str] = {key.casefold() for keys in self.keys.values() for key in keys}
        self.others: set[str] = set()
        self._read(state, "")

    def _read(self, value: Json, field: str) -> None:
        if isinstance(value, dict):
            for key, part in value.items():
                self._read(part, key)
        elif isinstance(value, list):
            for part in value:
                self._read(part, field.removesuffix("s"))
        else:
            self.by_field[field].append(value)
            if isinstance(value, str):
                self.texts.append(value)
                (self.ids if is_id(field) else self.others).add(value.casefold())

    def like(self, argument: str) -> list[Json]:
        """Values that an argument of this name may well mean."""
        keys = [key for table in self.tables_like(argument) for key in self.keys[table]]
        return [*self.by_field.get(argument, []), *keys]

    def tables_like(self, argument: str) -> list[str]:
        """Tables that an argument named after an id may well look up."""
        stem = argument.removesuffix("_ids").removesuffix("_id")
        return [name for name in self.keys if is_id(argument) and _akin(stem, name)]


def is_id(name: str) -> bool:
    """Whether a field or argument is named after an id."""
    return name in ("id", "_id", "uuid") or name.endswith(("_id", "_ids"))


def _akin(stem: str, table: str) -> bool:
    return len(stem) > 2 and stem.casefold()[:-1] in table.casefold()


def calls(skeleton: Skeleton, values: Values, seed: int, rounds: int) -> Iterator[Call]:
    """Calls of every tool with arguments its schema admits, in a shuffled order."""
    chance = random.Random(seed)
    tools = [tool for tool in skeleton.tools for _ in range(rounds)]
    chance.shuffle(tools)
    for tool in tools:
        yield Call(tool=tool.name, arguments=arguments(tool, values, chance))


def arguments(tool: Tool, values: Values, chance: random.Random) -> dict[str, Json]:
    """Arguments that the tool's schema admits."""
    required = tool.parameters.get("required") or []
    properties = tool.parameters.get("properties") or {}
    chosen = {n: s for n, s in properties.items() if n in required or chance.random() < 0.5}
    return {name: example(schema, values, chance, name) for name, schema in chosen.items()}


def example(schema: Any, values: Values, chance: random.Random, name: str = "", depth: int = 0) -> Json:
    """A value that a schema admits, out of the state where one fits."""
    if not isinstance(schema, dict) or depth > 4:
        return "x"
    if schema.get("enum"):
        return chance.choice(schema["enum"])
    if schema.get("anyOf"):
        return example(chance.choice(schema["anyOf"]), values, chance, name, depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "array":
        inner = name.removesuffix("s")
        return [
            example(schema.get("items"), values, chance, inner, depth + 1) for _ in range(chance.randrange(3))
        ]
    if kind == "object":
        parts = schema.get("properties") or {}
        return {key: example(part, values, chance, key, depth + 1) for key, part in parts.items()}
    return _scalar(str(kind), schema, values, chance, name)


def _scalar(kind: str, schema: dict[str, Any], values: Values, chance: random.Random, name: str) -> Json:
    if kind == "boolean":
        return chance.random() < 0.5
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", -1), schema.get("maximum", 9)
        number = chance.randint(int(low), max(int(low), int(high)))
        return float(number) + 0.5 if kind == "number" and chance.random() < 0.3 else number
    meant = [value for value in values.like(name) if isinstance(value, str)]
    for pool, share in ((meant, 0.8), (values.texts, 0.5)):
        if pool and chance.random() < share:
            return chance.choice(pool)
    return chance.choice(ODD_TEXTS)


def wrong(tool: Tool, given: dict[str, Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    """The arguments with one of another type than it should have, for each argument and type."""
    for name in tool.parameters.get("properties") or {}:
        for value in WRONG:
            if type(value) is not type(given.get(name)):
                yield name, {**given, name: value}
