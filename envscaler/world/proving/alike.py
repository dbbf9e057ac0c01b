"""Whether two final states of one scenario are alike: equal up to generated ids, times and what the task leaves open.

A record that the episode added is known by what it holds and by who refers to it, not by its key: keys, and the
references to them, are replaced by a name made of the record's content. *Loose* leaves are those that differ between
plays of the same calls with another seed, at a later time, or with another value of a free argument: that is
found by execution (`loosen`), not by looking for what resembles a time. A number with the name of a counter that
rose by as many as records were added counts ids, and is as loose as they are.

It compares what was changed, so unchanged tables cost next to nothing. It runs nothing.
"""

import hashlib
import re
from collections.abc import Collection, Iterator

import msgspec

from envscaler.record import canonical, is_number
from envscaler.schema import Json
from envscaler.world.change import Diff, State, diff, records, same, unescaped
from envscaler.world.proving.shape import Leaf, Path, Shape, leaves, pattern, value_at, with_value

ANY = "*"
"""Stands for every record of a table."""
NEW = "+"
"""Stands for every record that was added to a table."""
_MARK = "\ue000→"
"""Goes before a name that stands for an id, so that no text has it by itself."""
COUNTER = re.compile(r"id(?![a-z])|count|seq|next|last|serial|num|index", re.IGNORECASE)
"""Names that counters of ids go by: an amount may rise by as many as records were added, and means something."""
_ROUNDS = 3
"""How far references are followed to tell one added record from another."""
Place = tuple[str, str | None, Path]


class Alike:
    """Comparison of the final states of one scenario, which all began in the same state."""

    def __init__(self, initial: State, final: State, given: Collection[str] = ()) -> None:
        """
        Args:
            initial: the state in the beginning.
            final: a state at the end, from which relations between tables are learnt.
            given: keys of added records that a call chose, so that they are not generated.
        """
        # A key that some table had before was taken from there: a wallet goes by its member's id.
        known = {key for value in initial.values() for key in records(value) or () if not key.isdecimal()}
        self._initial, self._given = initial, frozenset(given) | known
        self.shape = Shape(final)
        self._loose: set[Place] = {(name, None, ()) for name in _counters(initial, final)}

    def _changes(self, final: State) -> "_Changes":
        return _Changes(diff(self._initial, final), self.shape, self._given)

    def is_loose(self, leaf: Leaf) -> bool:
        """Whether the leaf may have any value."""
        if not self._loose:
            return False
        key = NEW if leaf.key is not None and not self._is_old(leaf) else leaf.key
        way = pattern(leaf.path)
        return not self._loose.isdisjoint({(leaf.table, key, way), (leaf.table, ANY, way)})

    def _is_old(self, leaf: Leaf) -> bool:
        try:
            value_at(self._initial, Leaf(leaf.table, leaf.key))
        except (LookupError, TypeError, ValueError):
            return False
        return True

    def loosen(self, one: State, other: State, *, everywhere: bool = True) -> None:
        """Take for loose what differs between two plays of the same calls.

        Args:
            one: a final state.
            other: another one.
            everywhere: whether in all records of a table, as for times; else in that record, as for free values.
        """
        first, second = self._by_turn(one), self._by_turn(other)
        for where in first.keys() & second.keys():
            (table, key, turn), mine, theirs = where, first[where], second[where]
            place = ANY if everywhere and (key, turn) != (None, None) else key if turn is None else NEW
            for way in mine.keys() | theirs.keys():
                # What only one of them has was changed by that one alone.
                if way not in mine or way not in theirs or not same(mine[way], theirs[way]):
                    self._loose.add((table, place, pattern(way)))

    def _by_turn(self, final: State) -> dict[tuple[str, str | None, int | None], dict[Path, Json]]:
        """The leaves of each record that changed: under its key, or for one that was added under its turn."""
        found = self._changes(final)
        turns = {key: f"turn {number}" for number, key in enumerate(found.ids)}
        told: dict[tuple[str, str | None, int | None], dict[Path, Json]] = {}
        for number, (how, record, content) in enumerate(found.records):
            if how == "removed":
                continue
            where = (record.table, None, number) if how == "added" else (record.table, record.key, None)
            told[where] = {
                way: found.renamed(value, Leaf(record.table, None, way), turns)
                for way, value in leaves(content)
                if (record.table, way) not in found.own
            }
        return told

    def mark(self, final: State) -> str:
        """A text that alike states have in common, and no others."""
        found = self._changes(final)
        names = self._names(found)
        told = [
            [
                how,
                record.table,
                None if how == "added" and found.id_of(record, content) in names else record.key,
                self._told(found, record, content, names),
            ]
            for how, record, content in found.records
        ]
        return _text(sorted(map(_text, told)))

    def is_back(self, before: State, after: State) -> bool:
        """Whether a state is as an earlier one was, but for loose leaves and counters."""
        for how, record, content in _records(diff(before, after)):
            if how != "changed" or (record.key is None and not is_number(content)):
                return False
            here = (Leaf(record.table, record.key, way) for way, _ in leaves(content))
            if record.key is not None and not all(map(self.is_loose, here)):
                return False
        return True

    def generated(self, final: State) -> dict[str, str]:
        """The ids that the episode generated, each with another one that it might have been."""
        ids = self._changes(final).ids
        taken = {key for value in final.values() if isinstance(value, dict) for key in value} | set(ids)
        nameless = self.shape.lists - self.shape.own_ids.keys()
        return {
            key: other
            for key, table in ids.items()
            if table not in nameless and (other := _other_id(key)) not in taken
        }

    def renamed(self, final: State, names: dict[str, str]) -> State:
        """A final state with ids replaced, and all that refers to them."""
        found = self._changes(final)
        made = dict(final)
        for how, record, _ in found.records:
            if how == "removed" or (how == "added" and record.key is None):
                continue
            place = Leaf(record.table, record.key)
            made = with_value(made, place, found.replaced_in(value_at(final, place), place, names))
        for table, value in made.items():
            if isinstance(value, dict) and not names.keys().isdisjoint(value):
                mine = {key for key in value if found.ids.get(key) == table}
                made[table] = {names.get(k, k) if k in mine else k: record for k, record in value.items()}
        return made

    def _told(self, found: "_Changes", record: Leaf, content: Json, names: dict[str, str]) -> Json:
        """The leaves of a record, with ids by their names and loose values left out."""
        return [
            [list(way), self._value(found, Leaf(record.table, record.key, way), value, names)]
            for way, value in sorted(leaves(content), key=str)
        ]

    def _value(self, found: "_Changes", leaf: Leaf, value: Json, names: dict[str, str]) -> Json:
        renamed = found.renamed(
            int(value) if isinstance(value, float) and value.is_integer() else value, leaf, names
        )
        return "~" if value is not None and self.is_loose(leaf) else renamed

    def _names(self, found: "_Changes") -> dict[str, str]:
        """For each generated id a name made of its record, of what that refers to, and of what refers to it."""
        names = {key: f"new in {table}" for key, table in found.ids.items()}
        if len(set(names.values())) == len(names):
            return names  # one a table: there is nothing to tell apart
        for _ in range(_ROUNDS):
            about: dict[str, list[str]] = {key: [] for key in names}
            for how, record, content in found.records:
                mine = found.id_of(record)
                told = self._told(found, record, content, names)
                if how == "added" and mine in about:
                    about[mine].append(_text(told))
                known = [record.table, names.get(mine, "") if how == "added" else record.key]
                for way, key in found.mentions(record, content):
                    if key != mine:
                        about[key].append(_text(["from", *known, list(way)]))
            names = {key: _short([found.ids[key], sorted(said)]) for key, said in about.items()}
        return names


def _text(content: Json) -> str:
    """A text that equal contents have in common; `canonical`, much faster where it can be."""
    try:
        return msgspec.json.encode(content, order="sorted").decode()
    except (TypeError, ValueError, OverflowError):
        return canonical(content)


def _short(content: Json) -> str:
    return hashlib.sha256(_text(content).encode("utf-8", "surrogatepass")).hexdigest()[:12]


class _Changes:
    """What a play changed, record by record, and the ids it generated."""

    def __init__(self, changed: Diff, shape: Shape, given: frozenset[str]) -> None:
        self._shape = shape
        self.own = {(table, way) for table, way in shape.own_ids.items()}
        self.records: list[tuple[str, Leaf, Json]] = list(_records(changed))
        self.ids: dict[str, str] = {}
        for how, record, content in self.records:
            key = self.id_of(record, content)
            if how == "added" and record.key is not None and key not in given:
                self.ids.setdefault(key, record.table)

    def id_of(self, record: Leaf, content: Json = None) -> str:
        """What others call the record; one of a table that is a list goes by an id of its own, if it has any."""
        own = self._shape.own_ids.get(record.table)
        if record.table not in self._shape.lists or not own:
            return str(record.key)
        held = content or next((held for _, other, held in self.records if other == record), None)
        return str(held.get(own[0])) if isinstance(held, dict) else str(record.key)

    def renamed(self, value: Json, leaf: Leaf, names: dict[str, str]) -> Json:
        """The value with generated ids by their names; within longer texts too, where an id is no mere number."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            return value
        text = str(value)
        if text in names:
            return f"{_MARK}{names[text]}" if self._refers(text, leaf) else value
        if isinstance(value, str):
            for key, name in names.items():
                if key in value and len(key) > 2 and not key.isdecimal():
                    parts = re.split(rf"(?<![\w-]){re.escape(key)}(?![\w-])", value)
                    value = f"{_MARK}{name}".join(parts)
        return value

    def replaced_in(self, value: Json, leaf: Leaf, names: dict[str, str]) -> Json:
        """A value with other ids in it, however deep."""
        if isinstance(value, dict | list):
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            parts = {
                step: self.replaced_in(part, Leaf(leaf.table, leaf.key, (*leaf.path, step)), names)
                for step, part in inside
            }
            return parts if isinstance(value, dict) else list(parts.values())
        return self.replaced(value, leaf, names)

    def replaced(self, value: Json, leaf: Leaf, names: dict[str, str]) -> Json:
        """The value with other ids in it; a number stays a number."""
        if isinstance(value, int) and not isinstance(value, bool):
            new = names.get(str(value), "")
            return int(new) if new.isdecimal() and self._refers(str(value), leaf) else value
        text = self.renamed(value, leaf, names)
        return text.replace(_MARK, "") if isinstance(text, str) else text

    def _refers(self, text: str, leaf: Leaf) -> bool:
        """Whether a value that equals a generated id is that id: a number only in a column of ids."""
        if len(text) > 2 and not text.isdecimal():
            return True
        table = self.ids[text]
        mine = leaf.table == table and (leaf.table, leaf.path) in self.own
        return mine or self._shape.points_at.get(leaf.column) == table

    def mentions(self, record: Leaf, content: Json) -> Iterator[tuple[Path, str]]:
        """The generated ids in a record, each with its place."""
        for way, value in leaves(content):
            known = isinstance(value, str | int) and not isinstance(value, bool) and str(value) in self.ids
            if known and self._refers(str(value), Leaf(record.table, record.key, way)):
                yield way, str(value)


def _counters(initial: State, final: State) -> Iterator[str]:
    """Attributes that count the records that are added."""
    sizes = [
        len(value) - len(records(initial.get(name)) or ())
        for name, value in final.items()
        if isinstance(value, dict | list)
    ]
    for name, value in final.items():
        before = initial.get(name, 0)
        if (
            COUNTER.search(name)
            and is_number(value)
            and is_number(before)
            and value - before > 0
            and value - before in sizes
        ):
            yield name


def _other_id(key: str) -> str:
    """Another id of the same form."""
    found = re.search(r"[0-9]{1,15}\Z", key)
    if not found:
        return f"{key}-r"
    return f"{key[: found.start()]}{int(found[0]) + 1000:0{len(found[0])}d}"


def _records(changed: Diff) -> Iterator[tuple[str, Leaf, Json]]:
    """How each record changed, which it is, and what it holds now; of a changed one what has changed."""
    for where, change in changed.items():
        name, slash, key = where.partition("/")
        record = Leaf(unescaped(name), unescaped(key) if slash else None)
        how, content = next(iter(change.items()))
        if how == "changed" and isinstance(content, dict):
            yield how, record, {field: pair[1] for field, pair in content.items()}
        elif how == "changed":
            yield how, record, content[1]
        else:
            yield how, record, content
