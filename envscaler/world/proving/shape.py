"""The shape of a state, read from the state itself: its leaves, its columns, and which column points at which table.

A *leaf* is a value inside a record (or an attribute of its own) under its path. A *column* is all leaves of a table
that have the same path, positions in lists not counted. A column *points at* a table when every value in it is a
key of that table. Nothing here knows a world, an entity or a schema, so it serves published states as well.

It reads and copies; what is made of it (`mutants.states`, `alike`) is decided elsewhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from envscaler.schema import Json
from envscaler.world.change import State, path, records

Path = tuple[str | int, ...]
Column = tuple[str, Path]
"""A table and a path in which `*` stands for every position of a list."""
DEEPEST = 8
"""How deep inside a record leaves are looked for; what lies deeper is one leaf."""
SAMPLED = 300
"""Records of a table that are read for its columns."""


@dataclass(frozen=True)
class Leaf:
    """Where a value stands."""

    table: str
    """The attribute of the state."""
    key: str | None
    """The record in it; None for an attribute that is no table."""
    path: Path = ()
    """The way inside the record."""

    @property
    def column(self) -> Column:
        """The column it belongs to."""
        return self.table, pattern(self.path)

    def __str__(self) -> str:
        where = path(self.table, self.key) if self.key is not None else self.table
        return ".".join([where, *map(str, self.path)])


def pattern(way: Path) -> Path:
    """A path with `*` for positions in lists."""
    return tuple("*" if isinstance(step, int) else step for step in way)


def leaves(value: Json, at: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Every value that holds no other, and empty lists and objects, with their paths."""
    if not isinstance(value, dict | list) or not value or len(at) >= DEEPEST:
        yield at, value
        return
    for step, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(part, (*at, step))


def lists(value: Json, at: Path = ()) -> Iterator[tuple[Path, list[Json]]]:
    """Every list inside a record, with its path."""
    if not isinstance(value, dict | list) or len(at) >= DEEPEST:
        return
    if isinstance(value, list) and at:
        yield at, value
    for step, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield from lists(part, (*at, step))


def value_at(state: State, leaf: Leaf) -> Json:
    """The value of a leaf; raises `LookupError` where there is none."""
    at: Any = state[leaf.table]
    if leaf.key is not None:
        at = at[int(leaf.key)] if isinstance(at, list) else at[leaf.key]
    for step in leaf.path:
        at = at[step]
    return at


def value_or_none(state: State, leaf: Leaf) -> Json:
    """The value of a leaf; None where there is none."""
    try:
        return value_at(state, leaf)
    except (LookupError, TypeError, ValueError):
        return None


def with_value(state: State, leaf: Leaf, value: Json) -> State:
    """The state with another value there; only what lies on the way is copied, the rest is shared."""
    way: list[str | int] = [leaf.table]
    if leaf.key is not None:
        way.append(int(leaf.key) if isinstance(state[leaf.table], list) else leaf.key)
    return _put(state, [*way, *leaf.path], value)


def _put(holder: Any, way: list[str | int], value: Json) -> Any:
    if not way:
        return value
    copy = dict(holder) if isinstance(holder, dict) else list(holder)
    step: Any = way[0]
    copy[step] = _put(holder[step], way[1:], value)
    return copy


def without_record(state: State, table: str, key: str) -> State:
    """The state less one record."""
    held = state[table]
    if isinstance(held, list):
        return {**state, table: [record for place, record in enumerate(held) if str(place) != key]}
    return {**state, table: {name: record for name, record in held.items() if name != key}}


def with_record(state: State, table: str, key: str, record: Json) -> State:
    """The state with a record under a new key; at the end of a table that is a list."""
    held = state[table]
    return {**state, table: [*held, record] if isinstance(held, list) else {**held, key: record}}


class Shape:
    """What a state's tables hold, and how they refer to each other."""

    def __init__(self, state: State) -> None:
        """
        Args:
            state: the state to read; it is not kept.
        """
        self.keys: dict[str, list[str]] = {}
        """The records of each table: keys, or for a list the ids that its records bear."""
        self.columns: dict[Column, list[Json]] = {}
        """The different values of each column, in the order they were met."""
        self.counts: dict[Column, int] = {}
        """How many values each column has in all."""
        self.lists = {table for table, value in state.items() if isinstance(value, list)}
        """Tables whose records stand in a list."""
        self.own_ids: dict[str, Path] = {}
        """The column of each table that bears the record's own key."""
        seen: dict[Column, set[tuple[type, Json]]] = {}
        for table, value in state.items():
            self._read(table, value, seen)
        self.points_at: dict[Column, str] = dict(self._relations())
        """The table that a column points at."""

    def _read(self, table: str, value: Json, seen: dict[Column, set[tuple[type, Json]]]) -> None:
        held = records(value)
        if held is None:
            return
        sample = dict(zip(held, [held[key] for key in list(held)[:SAMPLED]], strict=False))
        self._note_own_id(table, value, held, sample)
        for record in sample.values():
            for way, leaf in leaves(record):
                if isinstance(leaf, dict | list):
                    continue
                column = table, pattern(way)
                self.counts[column] = self.counts.get(column, 0) + 1
                mark, known = (type(leaf), leaf), seen.setdefault(column, set())
                if mark not in known:
                    known.add(mark)
                    self.columns.setdefault(column, []).append(leaf)

    def _note_own_id(self, table: str, value: Json, held: dict[str, Json], sample: dict[str, Json]) -> None:
        rows = [(key, record) for key, record in sample.items() if isinstance(record, dict)]
        self.keys[table] = list(held) if isinstance(value, dict) else []
        if not rows or len(rows) < len(sample):
            return
        for name in rows[0][1]:
            if isinstance(value, dict):
                if all(name in r and _is_key(r[name]) and str(r[name]) == key for key, r in rows):
                    self.own_ids[table] = (name,)
                    return
            elif name == "id" or name.endswith(("_id", "Id")):
                ids = [str(record.get(name)) for record in held.values() if isinstance(record, dict)]
                if all(_is_key(r.get(name)) for _, r in rows) and len(set(ids)) == len(held):
                    self.own_ids[table], self.keys[table] = (name,), ids
                    return

    def _relations(self) -> Iterator[tuple[Column, str]]:
        known = {table: frozenset(keys) for table, keys in self.keys.items() if keys}
        for column, values in self.columns.items():
            there = [value for value in values if value is not None and value != ""]
            if not there or not all(_is_key(value) for value in there):
                continue
            if self.own_ids.get(column[0]) == column[1]:
                continue
            tables = [t for t, keys in known.items() if all(str(value) in keys for value in there)]
            if tables:
                yield column, max(tables, key=lambda table: _akin(column[1], table))

    def is_own_id(self, leaf: Leaf) -> bool:
        """Whether a leaf bears the key of its own record."""
        return self.own_ids.get(leaf.table) == leaf.path

    def others(self, leaf: Leaf, value: Json) -> list[Json]:
        """Other values of its column, of the same kind."""
        return [v for v in self.columns.get(leaf.column, []) if v != value and type(v) is type(value)]

    def is_choice(self, leaf: Leaf) -> bool:
        """Whether its column looks like a choice among a few: values come again and again."""
        values = self.columns.get(leaf.column, [])
        return len(values) <= 12 and self.counts.get(leaf.column, 0) >= 2 * len(values)


def _is_key(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _akin(way: Path, table: str) -> int:
    """How much a column's name has of a table's name."""
    name = str(next((step for step in reversed(way) if step != "*"), "")).casefold()
    stem, table = name.removesuffix("s").removesuffix("_id").removesuffix("id"), table.casefold()
    common = 0
    while common < min(len(stem), len(table)) and stem[common] == table[common]:
        common += 1
    return common
