"""Mutants of a state: what the solution left behind, with one thing in it made wrong.

Two states are given, before and after; what differs between them is what was done. The mutants falsify that first
(a value near the right one, another choice of its column, a reference to another record, the change undone, a
record missing or doubled) and then do what nobody asked for (a neighbour changed or removed, a row added). What a
value may be mistaken for comes from the state's own types and relations (`shape`); no world is known here.

The same seed makes the same mutants. They share what they do not change, so nobody may write into them. Whether
one is told from the solution, and whether it must be, is `certificate`'s business.
"""

import math
import random
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from envscaler.record import canonical, is_number
from envscaler.schema import Json
from envscaler.world.change import Diff, State, diff, records, same, unescaped
from envscaler.world.mutants.values import Wrong, alike_first, fresh_key, near, shifted, short
from envscaler.world.proving.shape import (
    Leaf,
    Path,
    Shape,
    leaves,
    lists,
    value_at,
    value_or_none,
    with_record,
    with_value,
    without_record,
)

MOST = 48
"""Mutants of one state, unless more are asked for."""
FEWEST = 24
"""Where there are fewer than these, things are made wrong in a second and third way."""
BYSTANDERS = 2
"""Records of a table that are tried as bystanders, those that the checks name apart."""
FREED = ("row of a freed table changed", "row of a freed table missing")
"""Mutants of records that were there, stayed as they were, and would be changed without any guard's noticing it."""
_ROWS, _FIELDS = 3, 12
"""Records of a freed table that are tried, and fields of the first of them; of the others it is one each."""
T = TypeVar("T")


@dataclass(frozen=True)
class StateMutant:
    """A state with one thing made wrong."""

    kind: str
    """How it was made wrong, e.g. `number off by one`."""
    what: str
    """What was made wrong, as `table/key.field: old → new`."""
    state: State
    """All of it; parts are shared with the state it was made from."""
    place: Leaf
    """Where; without a path it is the record as a whole."""
    done: bool
    """Whether it falsifies what was done; otherwise it does something that nobody asked for."""


def state_mutants(
    before: State,
    after: State,
    *,
    seed: int = 0,
    most: int = MOST,
    loose: Callable[[Leaf], bool] = lambda leaf: False,
    named: str = "",
    freed: Collection[str] = (),
    shape: Shape | None = None,
) -> Iterator[StateMutant]:
    """Mutants of `after`, those of what was done first; never `after` itself, and none twice.

    Args:
        before: the state in the beginning.
        after: the state at the end, which is right.
        seed: of every choice.
        most: how many at most; every change is falsified once at least, however many there are.
        loose: leaves that may have any value, such as generated ids and times.
        named: text, e.g. of checks, that names records of bystanders to be tried first.
        freed: tables in which all may change as far as the library's guard goes; of each some records that stayed
            as they were are changed and taken away, whatever `most` says.
        shape: that of `after`, where it is known.
    """
    maker = _Maker(before, after, random.Random(f"states {seed}"), loose, named, shape or Shape(after))
    seen: set[tuple[Leaf, str]] = set()
    yield from _new(maker.freed(freed), seen, math.inf)
    apart = len(seen)
    yield from _new(maker.first(), seen, math.inf)
    yield from _new(maker.more(), seen, apart + most)
    yield from _new(maker.rest(), seen, apart + min(most, FEWEST))


def _new(mutants: Iterator[StateMutant], seen: set[tuple[Leaf, str]], enough: float) -> Iterator[StateMutant]:
    """Those that were not seen yet, until there are enough."""
    for mutant in mutants:
        if len(seen) >= enough:
            return
        mark = mutant.place, mutant.what.partition(" → ")[2] or mutant.what
        if mark not in seen:
            seen.add(mark)
            yield mutant


def in_turn(many: list[Iterator[T]]) -> Iterator[T]:
    """The first of each, then the second of each, …"""
    while many:
        left = []
        for one in many:
            mutant = next(one, None)
            if mutant is not None:
                yield mutant
                left.append(one)
        many = left


class _Maker:
    """The mutants of one pair of states."""

    def __init__(
        self,
        before: State,
        after: State,
        chance: random.Random,
        loose: Callable[[Leaf], bool],
        named: str,
        shape: Shape,
    ) -> None:
        self._before, self._after, self._chance, self._loose = before, after, chance, loose
        self._shape, self._named = shape, named
        self._diff: Diff = diff(before, after)
        self._old: dict[Leaf, Json] = {}
        self._whole, self._leaves = self._changed()
        self._wrongs = [self._wrong(leaf, done=True) for leaf in self._leaves]
        others, neighbours = self._others(), self._neighbourhood()
        self._beside = [self._wrong(leaf, done=False, kind="other field changed") for leaf in others]
        self._near = [
            self._wrong(leaf, done=False, kind="bystander changed")
            for record in neighbours
            for leaf in self._shuffled(self._leaves_of(record))[: 6 if self._is_named(record) else 1]
        ]
        self._swaps = [self._partners(leaf) for leaf in self._leaves if leaf.key is not None]
        self._gone = [self._missing(leaf) for leaf in neighbours if leaf.key is not None]

    def first(self) -> Iterator[StateMutant]:
        """Every change falsified once."""
        yield from self._records()
        yield from _firsts(self._wrongs)

    def more(self) -> Iterator[StateMutant]:
        """What was done made wrong in all ways, and once each thing that nobody asked for."""
        tables = sorted(self._tables(), key=lambda name: name not in self._touched())
        bystanders = [
            _firsts(self._near),
            iter(self._gone),
            (self._copy("row added", self._last(table)) for table in tables),
        ]
        yield from in_turn(
            [
                in_turn(self._wrongs),
                self._doubled(),
                _firsts(self._swaps),
                _firsts(self._beside),
                in_turn(bystanders),
            ]
        )

    def rest(self) -> Iterator[StateMutant]:
        """More of the same."""
        yield from in_turn([in_turn(self._swaps), in_turn(self._beside), in_turn(self._near)])

    def freed(self, tables: Collection[str]) -> Iterator[StateMutant]:
        """Records of freed tables that stayed as they were: changed and taken away."""
        for table in tables:
            for number, record in enumerate(self._shuffled(self._left_alone(table))[:_ROWS]):
                state = without_record(self._after, table, str(record.key))
                yield self._mutant(FREED[1], record, state, done=False)
                fields = self._shuffled(self._leaves_of(record))[: 1 if number else _FIELDS]
                yield from _firsts([self._wrong(leaf, done=False, kind=FREED[0]) for leaf in fields])

    def _left_alone(self, table: str) -> list[Leaf]:
        """Records that are as they were; in a list, where they may have moved, those like one that was there."""
        before, after = records(self._before.get(table)) or {}, records(self._after.get(table)) or {}
        if isinstance(self._after.get(table), list):
            held = set(map(canonical, before.values()))
            return [Leaf(table, place) for place, record in after.items() if canonical(record) in held]
        return [
            Leaf(table, key) for key, record in after.items() if key in before and same(before[key], record)
        ]

    # What was done

    def _changed(self) -> tuple[list[tuple[str, Leaf]], list[Leaf]]:
        """Records that came or went, and leaves whose value the change made."""
        whole: list[tuple[str, Leaf]] = []
        found: list[Leaf] = []
        for where, change in self._diff.items():
            name, slash, key = where.partition("/")
            leaf = Leaf(unescaped(name), unescaped(key) if slash else None)
            how = next(iter(change))
            if leaf.key is not None and how != "changed":
                whole.append((how, leaf))
            if how != "removed":
                found += self._differing(leaf)
        return whole, found

    def _differing(self, record: Leaf) -> list[Leaf]:
        """Leaves of a record, or attribute, that are not as before."""
        now, was = _parts(self._after, record), _parts(self._before, record)
        # A list that lost or gained an entry is one thing made wrong, besides its entries.
        length = {way: len(value) for way, value in was.items() if _is_list(value)}
        new = [
            way
            for way, value in now.items()
            if (len(value) != length.get(way, 0) if _is_list(value) else not _in(was, way, value))
        ]
        made = [Leaf(record.table, record.key, way) for way in new]
        self._old |= {leaf: was[leaf.path] for leaf in made if leaf.path in was}
        return [leaf for leaf in made if not self._free(leaf)]

    def _free(self, leaf: Leaf) -> bool:
        return self._shape.is_own_id(leaf) or self._loose(leaf)

    def _records(self) -> Iterator[StateMutant]:
        for how, leaf in self._whole:
            table, key = leaf.table, str(leaf.key)
            if how == "added":
                yield self._mutant("record missing", leaf, without_record(self._after, table, key), done=True)
            elif isinstance(self._after.get(table), dict | list):
                back = value_at(self._before, leaf)
                yield self._mutant("record back", leaf, with_record(self._after, table, key, back), done=True)

    def _doubled(self) -> Iterator[StateMutant]:
        for how, leaf in self._whole:
            if how == "added":
                yield self._copy("record doubled", leaf)

    def _copy(self, kind: str, leaf: Leaf) -> StateMutant:
        """A record once more, under a key that is free."""
        key = fresh_key(self._shape.keys.get(leaf.table) or [str(leaf.key)])
        record = value_at(self._after, leaf)
        own = self._shape.own_ids.get(leaf.table)
        if own and isinstance(record, dict):
            number = isinstance(record[own[0]], int)
            record = {**record, own[0]: int(key) if number and key.isdecimal() else key}
        state = with_record(self._after, leaf.table, key, record)
        place = Leaf(leaf.table, key)
        return StateMutant(kind, f"{place}, a copy of {leaf}", state, place, kind == "record doubled")

    def _partners(self, leaf: Leaf) -> Iterator[StateMutant]:
        """The value and that of the same field of another record, exchanged."""
        mine = value_at(self._after, leaf)
        for key in self._shuffled(records(self._after[leaf.table]) or {}):
            other = Leaf(leaf.table, key, leaf.path)
            theirs = value_or_none(self._after, other)
            if key != leaf.key and type(theirs) is type(mine) and theirs != mine:
                state = with_value(with_value(self._after, leaf, theirs), other, mine)
                yield StateMutant("values swapped", f"{leaf} with {other}", state, leaf, True)

    # What nobody asked for

    def _others(self) -> list[Leaf]:
        """Other fields of the records that were changed."""
        touched = {(leaf.table, leaf.key) for leaf in self._leaves if leaf.key is not None}
        records_ = [Leaf(*record) for record in sorted(touched, key=str)]
        return [leaf for record in records_ for leaf in self._leaves_of(record, besides=self._leaves)]

    def _touched(self) -> set[str]:
        return {unescaped(where.partition("/")[0]) for where in self._diff}

    def _tables(self) -> list[str]:
        return [name for name, value in self._after.items() if isinstance(value, dict | list) and value]

    def _neighbourhood(self) -> list[Leaf]:
        """Untouched records, of tables that changed first, and untouched attributes."""
        touched = self._touched()
        tables = sorted(self._tables(), key=lambda name: name not in touched)
        alone = [Leaf(n, None) for n, v in self._after.items() if records(v) is None and n not in touched]
        return [
            *(leaf for table in tables for leaf in self._neighbours(table)),
            *(leaf for leaf in alone if not self._loose(leaf)),
        ]

    def _neighbours(self, table: str) -> list[Leaf]:
        """Untouched records of a table: those that the checks name, then some by lot."""
        held = [key for key in records(self._after[table]) or {} if f"{Leaf(table, key)}" not in self._diff]
        named = [key for key in held if len(key) > 1 and key in self._named]
        others = self._shuffled(key for key in held if key not in named)
        return [Leaf(table, key) for key in [*named, *others[:BYSTANDERS]]]

    def _is_named(self, record: Leaf) -> bool:
        return record.key is not None and len(record.key) > 1 and record.key in self._named

    def _missing(self, leaf: Leaf) -> StateMutant:
        state = without_record(self._after, leaf.table, str(leaf.key))
        return self._mutant("bystander missing", leaf, state, done=False)

    def _last(self, table: str) -> Leaf:
        return Leaf(table, list(records(self._after[table]) or {})[-1])

    def _leaves_of(self, record: Leaf, besides: Collection[Leaf] = ()) -> list[Leaf]:
        value = value_at(self._after, record)
        found = [Leaf(record.table, record.key, way) for way, _ in leaves(value)]
        return [leaf for leaf in found if leaf not in besides and not self._free(leaf)]

    # One leaf

    def _wrong(self, leaf: Leaf, *, done: bool, kind: str = "") -> Iterator[StateMutant]:
        """The leaf with one wrong value after another."""
        now = value_at(self._after, leaf)
        options = [*self._undone(leaf), *self._values(leaf, now)]
        for how, value in options:
            if not _equal(value, now):
                shown = f"{leaf}: {short(now)} → {short(value)}"
                yield StateMutant(kind or how, shown, with_value(self._after, leaf, value), leaf, done)

    def _undone(self, leaf: Leaf) -> list[Wrong]:
        return [("change undone", self._old[leaf])] if leaf in self._old else []

    def _values(self, leaf: Leaf, now: Json) -> list[Wrong]:
        others = self._shuffled(self._shape.others(leaf, now))
        target = self._shape.points_at.get(leaf.column)
        if target and isinstance(now, str | int) and not isinstance(now, bool):
            number = isinstance(now, int)
            held = (k for k in self._shape.keys[target] if k != str(now) and (k.isdecimal() or not number))
            keys = alike_first(now, self._shuffled(held))
            return [("points elsewhere", int(k) if number else k) for k in keys[:2]]
        if now is None:
            known = [value for value in self._shape.columns.get(leaf.column, []) if value is not None]
            return [("value filled in", self._shuffled(known)[0] if known else "unknown")]
        if self._shape.is_choice(leaf) and others and not isinstance(now, bool):
            close = [] if isinstance(now, str) and not shifted(now, 1) else near(now, self._chance)
            first, *more = [("other choice", value) for value in others[:2]]
            return [first, *close, *more]
        return [*near(now, self._chance), *(("other value of the column", v) for v in others[:1])]

    def _mutant(self, kind: str, leaf: Leaf, state: State, *, done: bool) -> StateMutant:
        return StateMutant(kind, str(leaf), state, leaf, done)

    def _shuffled(self, things: Iterable[T]) -> list[T]:
        mixed = list(things)
        self._chance.shuffle(mixed)
        return mixed


def _firsts(many: list[Iterator[StateMutant]]) -> Iterator[StateMutant]:
    """The first that is left of each."""
    return (mutant for one in many if (mutant := next(one, None)) is not None)


def _parts(state: State, record: Leaf) -> dict[Path, Json]:
    """The leaves of a record and the lists in it; none where there is no record."""
    value = value_or_none(state, record)
    return {**dict(lists(value)), **dict(leaves(value))} if value is not None else {}


def _in(was: dict[Path, Json], way: Path, value: Json) -> bool:
    return way in was and _equal(was[way], value)


def _equal(one: Json, other: Json) -> bool:
    """Whether two values are the same, 25 and 25.0 too."""
    return bool(one == other) if is_number(one) and is_number(other) else same(one, other)


def _is_list(value: Json) -> bool:
    return isinstance(value, list) and value != []
