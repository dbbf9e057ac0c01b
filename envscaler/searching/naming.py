"""Names that may mean the same: arguments, fields and tables of a world that nobody explains.

`new_status` may mean the field `status`, `patient_id` the keys of `patients`. It is a matter of words in common, and
a guess each; `proposing` tries them out.
"""

import re
from collections.abc import Iterator

from envscaler.record import canonical
from envscaler.schema import Json
from envscaler.world.change import State
from envscaler.world.trials.trying import is_id

_PREFIXES = re.compile(r"^(new|updated?|target|final|requested|input|desired)_")
_DULL = frozenset({"id", "ids", "of", "for", "the", "is", "by"})


def plain(name: str) -> str:
    """A name without what says only that something is new."""
    return _PREFIXES.sub("", name)


def tokens(name: str) -> frozenset[str]:
    """The words of a name, in the singular and without those that say nothing."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    return frozenset(_singular(word) for word in words if word not in _DULL)


def _singular(word: str) -> str:
    return (
        f"{word[:-3]}y" if word.endswith("ies") else word if word.endswith("ss") else word.removesuffix("s")
    )


def distance(argument: str, name: str) -> float | None:
    """How far an argument's name is from a field's: 0 for the same, None where they have nothing in common."""
    one, other = plain(argument.lower()), name.lower()
    if one == other:
        return 0.0
    if is_id(one) != is_id(other):
        return None
    mine, theirs = tokens(one), tokens(other)
    if not mine & theirs:
        return None
    return 0.2 if mine == theirs else 0.4 if mine <= theirs or theirs <= mine else 0.9


def nearest(name: str, record: dict[str, Json]) -> str | None:
    """The record's field of that name, else the one whose name is nearest."""
    near = [(far, field) for field in record if (far := distance(name, field)) is not None]
    return min(near)[1] if near else None


def tables(state: State) -> Iterator[tuple[str, dict[str, Json]]]:
    """The tables of a state that have keys."""
    return ((name, value) for name, value in state.items() if isinstance(value, dict))


def keys_of(state: State) -> Iterator[tuple[str, str]]:
    """Every key with its table."""
    return ((name, key) for name, table in tables(state) for key in table)


def tables_of(name: str, state: State) -> list[str]:
    """Tables that an id may mean."""
    return [table for table, _ in tables(state) if tokens(name) & tokens(table)]


def joined(state: State, row: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    """The fields of the records that a record's ids name, as `user_id.status`."""
    for name, value in row.items():
        if is_id(name) and isinstance(value, str):
            for other, table in tables(state):
                if tokens(name) & tokens(other) and isinstance(table.get(value), dict):
                    yield from ((f"{name}.{field}", v) for field, v in table[value].items())


def values_of(state: State, name: str) -> list[Json]:
    """The different values that stand in fields of that name."""
    bare, found = plain(name), dict[str, Json]()
    for _, table in tables(state):
        for record in table.values():
            if isinstance(record, dict) and bare in record:
                found.setdefault(canonical(record[bare]), record[bare])
    return list(found.values())
