"""Arguments to try a tool with: such as its schema admits, out of the state where one fits, and such as tempt it.

Nothing is known of the world. An argument is filled from the fields and tables that bear its name, from what
the tool's description and code name beside it, and from the edges of both. Arguments of one call are made to
belong together: they are drawn around one record and those it refers to. `exploring` and `referee` use it.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from envscaler.record import is_number
from envscaler.schema import Json, Tool
from envscaler.world.change import State

ODD_TEXTS = ("", "unknown-1", "é\n\"'")
WRONG: tuple[Json, ...] = (None, [], {}, "", -1, 1.5, True)
"""Values of every kind, of which a schema admits some."""
_PLAIN: tuple[Json, ...] = ("", " ", "unknown-1", 0, -1, 1, [], True, False)
"""Edges that are tried wherever they are some."""
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?!\d)")
_NUMBER = re.compile(r"(?<![\w.-])-?\d{1,6}(?:\.\d+)?(?![\w-])")
_FAR = 10**12
"""Numbers are drawn up to it, for JSON text may name one that is too large for any."""
_SHIFTS = (0, 0, 1, -1, 2, 3, 7, -7, 14, 30, -30, 90, 400)
"""Days by which a known date is moved."""


class Values:
    """The values of a state: by the field they stand in, ids apart from all other texts."""

    def __init__(self, state: State) -> None:
        self.texts: list[str] = []
        self.by_field: dict[str, list[Json]] = defaultdict(list)
        self.tables: dict[str, dict[str, Json]] = {k: v for k, v in state.items() if isinstance(v, dict)}
        self.keys: dict[str, list[str]] = {name: list(table) for name, table in self.tables.items()}
        self.ids: set[str] = {key.casefold() for keys in self.keys.values() for key in keys}
        self.others: set[str] = set()
        self._like: dict[str, list[Json]] = {}
        self._read(state, "")
        self.days = sorted({text for text in self.texts if _DAY.match(text)})
        self.today = [v for v in state.values() if isinstance(v, str) and _DAY.match(v)]

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
        if argument not in self._like:
            keys = [key for table in self.tables_like(argument) for key in self.keys[table]]
            fields = [argument, *(f for f in self.by_field if f != argument and means(argument, f))]
            values = [value for field in fields for value in self.by_field.get(field, [])]
            self._like[argument] = [*values, *keys]
        return self._like[argument]

    def tables_like(self, argument: str) -> list[str]:
        """Tables that an argument named after an id may well look up."""
        stem = argument.removesuffix("_ids").removesuffix("_id")
        return [name for name in self.keys if is_id(argument) and _akin(stem, name)]


def is_id(name: str) -> bool:
    """Whether a field or argument is named after an id."""
    return name in ("id", "_id", "uuid") or name.endswith(("_id", "_ids"))


def _akin(stem: str, table: str) -> bool:
    return len(stem) > 2 and stem.casefold()[:-1] in table.casefold()


def means(argument: str, field: str) -> bool:
    """Whether a field may be what an argument is called after: `new_status` and `status`, `type` and `item_type`."""
    if len(field) < 3 or is_id(argument) != is_id(field):
        return False
    return argument.endswith(f"_{field}") or field.endswith(f"_{argument}") or argument == f"{field}s"


# Around one record


def related(values: Values, table: str, key: str, chance: random.Random) -> dict[str, list[Json]]:
    """The values by field of one record, of those it refers to, and of one in each table that refers to it."""
    found: dict[str, list[Json]] = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    _gather(values, table, key, found, seen)
    for name, rows in values.tables.items():
        back = [
            k
            for k, row in rows.items()
            if isinstance(row, dict) and key in row.values() and (name, k) not in seen
        ]
        if back:
            _gather(values, name, chance.choice(back), found, seen)
    return found


def _gather(
    values: Values, table: str, key: str, found: dict[str, list[Json]], seen: set[tuple[str, str]]
) -> None:
    if (table, key) in seen or len(seen) > 12:
        return
    seen.add((table, key))
    row = values.tables[table].get(key)
    found[f"{table} key"].append(key)
    for field, value in row.items() if isinstance(row, dict) else ():
        found[field] += value if isinstance(value, list) else [value]
        for part in value if isinstance(value, list) else [value]:
            for other, rows in values.tables.items() if isinstance(part, str) else ():
                if other != table and part in rows:
                    _gather(values, other, part, found, seen)


# Arguments


class Hand:
    """Draws arguments for one tool.

    Args:
        tool: the tool.
        values: what there is in the state.
        chance: the source of chance.
        named: values that the tool's code compares with or names, by argument, `""` for all.
        tables: tables that the code looks an argument up in.
        focus: table and key of a record that calls should dwell on, so that they come to its limits.
    """

    def __init__(
        self,
        tool: Tool,
        values: Values,
        chance: random.Random,
        named: Mapping[str, list[Json]] | None = None,
        tables: Mapping[str, Iterable[str]] | None = None,
        focus: tuple[str, str] | None = None,
    ) -> None:
        self.tool, self.values, self.chance = tool, values, chance
        self._named, self._looked_up = named or {}, tables or {}
        self._properties: dict[str, Any] = dict(tool.parameters.get("properties") or {})
        self._required = set(tool.parameters.get("required") or [])
        self._day, self._focus = "", focus

    def fresh(self) -> dict[str, Json]:
        """Arguments that belong together, mostly such as a caller would give."""
        around, self._day = self._around(), self._first_day()
        share = self.chance.choice((0.2, 0.5, 0.9))
        chosen = [n for n in self._properties if n in self._required or self.chance.random() < share]
        return {name: self._value(name, around, bold=0.12) for name in chosen}

    def neighbours(self, arguments: dict[str, Json]) -> Iterator[dict[str, Json]]:
        """The arguments with one of them left out or at an edge, for each argument and some of its edges."""
        for name, schema in self._properties.items():
            if name in arguments and name not in self._required:
                yield {k: v for k, v in arguments.items() if k != name}
            edges = list(self._edges(name, schema, arguments.get(name)))
            now = arguments.get(name)
            plain = [e for e in _PLAIN if e in edges and e != now]
            for edge in [*plain, *self.chance.sample(edges, min(3, len(edges)))]:
                yield {**arguments, name: edge}

    def near(self, arguments: dict[str, Json]) -> dict[str, Json]:
        """The arguments with one or two of them changed, left out or added."""
        if not self._properties:
            return dict(arguments)
        made = dict(arguments)
        for _ in range(1 + (self.chance.random() < 0.3)):
            name = self.chance.choice(list(self._properties))
            if name in made and name not in self._required and self.chance.random() < 0.3:
                del made[name]
            else:
                # A strange id ends a call early, so what lies behind is seen more often without.
                bold = 0.15 if self._tables(name) else 0.5
                made[name] = self._value(name, self._around(), bold, old=made.get(name))
        return made

    def _tables(self, name: str) -> list[str]:
        """Tables that an argument may be a key of, by the code where that says so, else by its name."""
        looked_up = [t for t in sorted(self._looked_up.get(name, ())) if self.values.keys.get(t)]
        return looked_up or [t for t in self.values.tables_like(name) if self.values.keys[t]]

    def _around(self) -> dict[str, list[Json]]:
        """What goes with a record that an argument may mean; empty at times, for strangers meet too."""
        tables = [
            t for name in self._properties for t in self.values.tables_like(name) if self.values.keys[t]
        ]
        tables = tables or [t for t, keys in self.values.keys.items() if keys]
        if not tables or self.chance.random() < 0.15:
            return {}
        if self._focus and self._focus[0] in tables and self.chance.random() < 0.4:
            return related(self.values, *self._focus, self.chance)
        table = self.chance.choice(tables)
        return related(self.values, table, self.chance.choice(self.values.keys[table]), self.chance)

    def _value(self, name: str, around: dict[str, list[Json]], bold: float, old: Json = None) -> Json:
        schema = self._properties[name]
        if "mail" in name and self.chance.random() < 0.25:
            return f"new.person{self.chance.randrange(10_000)}@example.org"
        if self._day and self._is_day(name, schema) and self.chance.random() < 0.5:
            # The next date of a call lies some days after the one before.
            day, self._day = self._day, shifted(self._day, self.chance.choice((0, 1, 2, 3, 7)))
            return day
        if self.chance.random() < bold and (edges := list(self._edges(name, schema, old))):
            return self.chance.choice(edges)
        if not (
            isinstance(schema, dict) and (schema.get("enum") or schema.get("type") in ("array", "object"))
        ):
            pools = (
                (self._beside(name, schema, around), 0.6),
                (_fitting(self._meant(name), schema), 0.6),
                (_fitting(self._named_for(name, schema), schema), 0.6),
            )
            for pool, share in pools:
                if pool and self.chance.random() < share:
                    return self.chance.choice(pool)
        return example(schema, self.values, self.chance, name)

    def _first_day(self) -> str:
        """Where the dates of a call begin: today or soon, where the state says what day it is."""
        days = self.values.today or self.values.days
        return (
            shifted(self.chance.choice(days), self.chance.choice((0, 0, 1, 2, 5, 10, 40, -3))) if days else ""
        )

    def _is_day(self, name: str, schema: Any) -> bool:
        """Whether an argument is a day, by its name and by what fields of its name hold."""
        held = [v for v in self.values.like(name)[:5] if isinstance(v, str)]
        return "string" in kinds_of(schema) and is_dated(name) and (not held or any(map(_DAY.match, held)))

    def _named_for(self, name: str, schema: Any) -> list[Json]:
        """What code and description name for an argument; for an id that would be noise."""
        return [] if self._tables(name) else [*self._named.get(name, []), *named_in(schema)]

    def _meant(self, name: str) -> list[Json]:
        keys = [
            key for table in sorted(self._looked_up.get(name, ())) for key in self.values.keys.get(table, [])
        ]
        return keys if keys and self.chance.random() < 0.9 else self.values.like(name)

    def _beside(self, name: str, schema: Any, around: dict[str, list[Json]]) -> list[Json]:
        if not around:
            return []
        keys = [key for table in self._tables(name) for key in around.get(f"{table} key", [])]
        fields = [value for field, found in around.items() if means(name, field) for value in found]
        return _fitting(keys or around.get(name, []) or fields, schema)

    def _edges(self, name: str, schema: Any, old: Json) -> Iterator[Json]:
        """Values at the edge of what an argument may be, and beyond it."""
        kinds = kinds_of(schema)
        kinds = {"string"} if len(kinds - {"null"}) >= 4 else kinds  # it may be anything
        known = [*self._named_for(name, schema), *self._named.get("", [])]
        if kinds & {"integer", "number"}:
            numbers = [v for v in [*known, *self.values.like(name), old] if is_number(v)]
            edges = [0, 1, -1, 1000000, *(n + d for n in numbers for d in (-1, 0, 1))]
            edges += [] if "integer" in kinds else [0.5, -0.5, 1.25, *(n + 0.01 for n in numbers)]
            yield from (int(e) if "integer" in kinds else e for e in edges)
        if "string" in kinds:
            days = [v for v in [old, *self.values.like(name)] if isinstance(v, str) and _DAY.match(v)]
            for day in (days or self.values.days)[:8] if days or is_dated(name) else []:
                yield shifted(day, self.chance.choice(_SHIFTS))
            yield from (v for v in known if isinstance(v, str))
            yield from ("", " ", "unknown-1", f"new {name} {self.chance.randrange(100)}")
        if "boolean" in kinds:
            yield from (True, False)
        if "array" in kinds and isinstance(old, list):
            yield from ([], [*old, *old[:1]], old[1:])


def kinds_of(schema: Any) -> set[str]:
    """The JSON types that a schema names."""
    if not isinstance(schema, dict):
        return set()
    if "anyOf" in schema:
        return set().union(*map(kinds_of, schema["anyOf"]))
    kind = schema.get("type") or []
    return {kind} if isinstance(kind, str) else set(kind)


def _fitting(pool: Sequence[Json], schema: Any) -> list[Json]:
    """The values of a pool that a schema's types admit."""
    kinds = kinds_of(schema)
    return [value for value in pool if not kinds or kind_of(value) in kinds or (
        kind_of(value) == "integer" and "number" in kinds)]  # fmt: skip


def kind_of(value: Json) -> str:
    """The JSON type of a value, whole numbers apart."""
    if isinstance(value, bool):
        return "boolean"
    names = {int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def named_in(schema: Any) -> list[Json]:
    """Numbers, quoted words and the members of lists that a description names."""
    text = str(schema.get("description", "")) if isinstance(schema, dict) else ""
    numbers = [float(n) if "." in n else int(n) for n in _NUMBER.findall(text)]
    quoted = re.findall(r"['\"“`]([^'\"”`]{1,40})['\"”`]", text)
    listed = [
        w for words in _LIST.findall(text) for w in re.split(r",\s*(?:or\s+|and\s+)?|\s+(?:or|and)\s+", words)
    ]
    return [*numbers, *quoted, *(word for word in listed if word)]


_LIST = re.compile(r"\b(\w+(?:, \w+)*,? (?:or|and) \w+|\w+(?:, \w+){2,})\b")


def shifted(text: str, days: int) -> str:
    """A text that begins with a day, that many days later; as it is where that is no day."""
    try:
        moved = date.fromisoformat(text[:10]) + timedelta(days=days)
    except (ValueError, OverflowError):
        return text
    return moved.isoformat() + text[10:]


def is_dated(name: str) -> bool:
    """Whether an argument is named after a day or a time."""
    return bool(
        re.search(
            r"date|day|time|until|deadline|start|begin|_on$|_at$|_end$|^end|^from|^to$|_from$|_to$", name
        )
    )


# One value


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
    if len(kinds_of(schema) - {"null"}) >= 4:
        schema = {"type": "string"}  # it may be anything, and an object would tempt nobody
    if schema.get("anyOf"):
        return example(chance.choice(schema["anyOf"]), values, chance, name, depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "array":
        inner, items = name.removesuffix("s"), schema.get("items")
        return [example(items, values, chance, inner, depth + 1) for _ in range(chance.randrange(3))]
    if kind == "object":
        parts = schema.get("properties") or {}
        made = {key: example(part, values, chance, key, depth + 1) for key, part in parts.items()}
        return made or _some_fields(values, chance, name)
    return _scalar(str(kind), schema, values, chance, name)


def _some_fields(values: Values, chance: random.Random, name: str) -> dict[str, Json]:
    """An object that nothing is said of: a record, or some of its fields, for that is what most of them are."""
    stem = name.removesuffix("s").removesuffix("_data").removesuffix("_info").removeprefix("new_")
    tables = [t for t, rows in values.tables.items() if any(isinstance(r, dict) for r in rows.values())]
    alike = [t for t in tables if _akin(stem, t)] or tables
    if not alike or chance.random() < 0.1:
        return {}
    rows = [row for row in values.tables[chance.choice(alike)].values() if isinstance(row, dict)]
    names = list(chance.choice(rows))
    fields = names if chance.random() < 0.4 else chance.sample(names, min(len(names), chance.randint(1, 3)))
    return {f: chance.choice([row.get(f) for row in rows]) for f in fields}


def _scalar(kind: str, schema: dict[str, Any], values: Values, chance: random.Random, name: str) -> Json:
    if kind == "boolean":
        return chance.random() < 0.5
    if kind in ("integer", "number"):
        low, high = (
            max(-_FAR, min(_FAR, schema.get(word, n))) for word, n in (("minimum", -1), ("maximum", 9))
        )
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
