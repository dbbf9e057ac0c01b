"""Habits of a state: what all its records had in common at reset, and no call should undo.

Records lie under their own ids; columns that pointed at a table still do; fields keep their types and do not
appear or vanish; quantities do not become negative; lists of ids hold none twice; lists that mirror a column and
numbers that count a table still do. All of it is learned from the initial state, so two or three records that
agree by chance may teach too much: what is weakly founded is not learned.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from envscaler.schema import Json, Severity
from envscaler.world.change import Diff, State, records, unescaped
from envscaler.world.proving.shape import Column, Path, Shape, leaves, pattern
from envscaler.world.trials.trying import kind_of

Breach = tuple[str, Severity, str]
"""Kind, severity and message."""
_ENOUGH = 3
"""Records that have to agree before a habit is one."""
_NEVER_NEGATIVE = re.compile(
    r"quantity|stock|price|cost|fee|amount|count|capacity|seats|hours|minutes|duration|weight|age$|total|units|size"
)


class Habits:
    """What was learned from one state.

    Args:
        state: the state at reset.
        source: the class; a field it names may appear.
    """

    def __init__(self, state: State, source: str) -> None:
        self._shape, self._source = Shape(state), source
        self._rows = {name: _dict_rows(value) for name, value in state.items()}
        self._types = {c: {kind_of(v) for v in vs if v is not None} for c, vs in self._shape.columns.items()}
        self._always = {name: _in_all(rows) for name, rows in self._rows.items()}
        self._some = {name: {f for row in rows.values() for f in row} for name, rows in self._rows.items()}
        self._points = {
            column: table
            for column, table in self._shape.points_at.items()
            if len([v for v in self._shape.columns[column] if v not in (None, "")]) >= 2
        }
        self._mirrors = list(self._learn_mirrors(state))
        self._counters = list(self._learn_counters(state))

    def breaches(self, before: State, after: State, diff: Diff) -> Iterator[Breach]:
        """The habits that one change broke."""
        for where, change in diff.items():
            name, slash, key = where.partition("/")
            table, key = unescaped(name), unescaped(key)
            if not slash:
                yield from self._attribute(table, before, after)
            elif "removed" in change:
                yield from self._orphans(table, key, before, after)
            else:
                yield from self._record(table, key, before, after)
        yield from self._relations(before, after)

    def _attribute(self, name: str, before: State, after: State) -> Iterator[Breach]:
        if (
            name not in before
            and f"self.{name}:" not in self._source
            and f"self.{name} =" not in self._source
        ):
            yield "new-attribute", "warning", f"adds {name} to the state, which no other code has."
        elif name in before and before[name] is not None and name in after:
            was, now = _rough(before[name]), _rough(after[name])
            if was != now and after[name] is not None:
                yield "type-changed", "warning", f"makes {name}, a {was}, a {now}."

    # One record

    def _record(self, table: str, key: str, before: State, after: State) -> Iterator[Breach]:
        row, old = _at(after, table, key), _at(before, table, key)
        if not isinstance(row, dict):
            if len(self._rows.get(table, {})) >= _ENOUGH:
                yield (
                    "type-changed",
                    "warning",
                    f"puts a {kind_of(row)} into {table}, whose records are objects.",
                )
            return
        own = self._shape.own_ids.get(table)
        was_own = old.get(own[0]) if own and isinstance(old, dict) else None
        astray = own and own[0] in row and str(row[own[0]]) != key and row[own[0]] != was_own
        if own and astray and isinstance(after.get(table), dict):
            # Where another field bears the key, the state at reset may have been keyed by the wrong one.
            severity: Severity = "note" if key in map(str, row.values()) else "error"
            yield "key-differs", severity, f"puts a record with the {own[0]} {row[own[0]]!r} under {key!r}."
        yield from self._fields(table, key, row, old)
        was = dict(leaves(old)) if isinstance(old, dict) else {}
        for way, value in leaves(row):
            if way not in was or was[way] != value or type(was[way]) is not type(value):
                yield from self._value((table, pattern(way)), value, was.get(way), after)
        yield from self._twice(table, key, row, old)

    def _fields(self, table: str, key: str, row: dict[str, Any], old: Json) -> Iterator[Breach]:
        if len(self._rows.get(table, {})) < _ENOUGH:
            return
        missing = self._always[table] - row.keys()
        if missing and (not isinstance(old, dict) or missing & old.keys()):
            yield "field-missing", "warning", f"leaves {key} of {table} without {', '.join(sorted(missing))}."
        appeared = row.keys() - self._some[table] - (old.keys() if isinstance(old, dict) else set())
        unknown = [
            f for f in sorted(appeared) if not re.search(rf"^\s+{re.escape(f)}\s*:", self._source, re.M)
        ]
        if unknown and isinstance(old, dict):
            yield (
                "new-field",
                "warning",
                f"adds {', '.join(unknown)} to {key} of {table}; no record has that.",
            )

    def _value(self, column: Column, value: Json, old: Json, after: State) -> Iterator[Breach]:
        field = ".".join(map(str, column[1]))
        if isinstance(value, dict | list):
            return
        target = self._points.get(column)
        if target and value not in (None, "") and str(value) not in _keys(after.get(target)):
            yield (
                "dangling",
                "error",
                f"puts {value!r} into {field} of {column[0]}; there is none in {target}.",
            )
        types = self._types.get(column, set())
        if types and value is not None and not types & _wide(kind_of(value)):
            known = " or ".join(sorted(types))
            yield (
                "type-changed",
                "warning",
                f"makes {field} of {column[0]} a {kind_of(value)}; it was {known}.",
            )
        if isinstance(value, int | float) and value < 0 and not isinstance(value, bool):
            known_values = [v for v in self._shape.columns.get(column, []) if isinstance(v, int | float)]
            plain = self._shape.counts.get(column, 0) >= _ENOUGH and known_values and min(known_values) >= 0
            if plain and not (isinstance(old, int | float) and old < 0) and _NEVER_NEGATIVE.search(field):
                yield "negative", "warning", f"makes {field} of {column[0]} {value}; none was negative."

    def _twice(self, table: str, key: str, row: dict[str, Any], old: Json) -> Iterator[Breach]:
        for field, value in row.items():
            if not isinstance(value, list) or (table, (field, "*")) not in self._points:
                continue
            was = old.get(field) if isinstance(old, dict) else None
            double = [v for v, n in Counter(map(str, value)).items() if n > 1]
            if double and value != was and not (isinstance(was, list) and len(set(map(str, was))) < len(was)):
                yield "listed-twice", "warning", f"lists {double[0]} twice in {field} of {key}."

    def _orphans(self, table: str, key: str, before: State, after: State) -> Iterator[Breach]:
        for column, target in self._points.items():
            if target != table:
                continue
            for name, row in _dict_rows(after.get(column[0])).items():
                if any(pattern(w) == column[1] and str(v) == key for w, v in leaves(row)):
                    field = ".".join(map(str, column[1]))
                    yield (
                        "orphan",
                        "note",
                        f"removes {key} from {table}, which {field} of {name} still names.",
                    )
                    return

    # Relations between tables

    def _learn_mirrors(self, state: State) -> Iterator[tuple[str, Path, str, str]]:
        """Lists that hold the ids of all records that point back: (table, way to the list, other table, its field)."""
        back = {(c[0], str(c[1][0]), t) for c, t in self._points.items() if len(c[1]) == 1}
        for (table, way), other in self._points.items():
            if way[-1:] != ("*",) or len(way) > 2:
                continue
            for child, field, parent in back:
                if child == other and (parent == table or len(way) == 1):
                    mirror = table, way[:-1], child, field
                    if _pairs(state, *mirror)[0] and not _unmatched(state, *mirror):
                        yield mirror

    def _learn_counters(self, state: State) -> Iterator[tuple[str, str, str, str]]:
        """Numbers that count the records that point at theirs, or the entries of a list beside them."""
        for table, rows in self._rows.items():
            numbers = [f for f in self._always[table] if all(type(r[f]) is int for r in rows.values())]
            for field in numbers:
                if len(rows) < _ENOUGH or len({row[field] for row in rows.values()}) < 2:
                    continue
                for child, way, parent in [(c[0], c[1], t) for c, t in self._points.items()]:
                    counter = table, field, child, str(way[0])
                    if parent == table and len(way) == 1 and child != table and not _off(state, *counter):
                        yield counter
                for beside in self._always[table]:
                    if all(isinstance(r[beside], list) and len(r[beside]) == r[field] for r in rows.values()):
                        yield table, field, "", beside

    def _relations(self, before: State, after: State) -> Iterator[Breach]:
        for mirror in self._mirrors:
            new = _unmatched(after, *mirror) - _unmatched(before, *mirror)
            if new:
                key, part = sorted(new)[0]
                where = ".".join([mirror[0], *map(str, mirror[1])])
                message = f"lets {where} and {mirror[3]} of {mirror[2]} disagree about {part} of {key}."
                yield "index-differs", "error", message
        for counter in self._counters:
            new_off = _off(after, *counter) - _off(before, *counter)
            if new_off:
                what = counter[2] or counter[3]
                message = f"lets {counter[1]} of {sorted(new_off)[0]} differ from the number of {what}."
                yield "count-differs", "error", message


def _rough(value: Json) -> str:
    kind = kind_of(value)
    return "number" if kind == "integer" else kind


def _wide(kind: str) -> set[str]:
    return {"integer", "number"} if kind in ("integer", "number") else {kind}


def _dict_rows(value: Json) -> dict[str, dict[str, Any]]:
    return {key: row for key, row in (records(value) or {}).items() if isinstance(row, dict)}


def _in_all(rows: dict[str, dict[str, Any]]) -> set[str]:
    sets = [set(row) for row in rows.values()]
    return set.intersection(*sets) if sets else set()


def _at(state: State, table: str, key: str) -> Json:
    return (records(state.get(table)) or {}).get(key)


def _keys(table: Json) -> set[str]:
    return set(records(table) or {})


def _pairs(
    state: State, table: str, way: Path, child: str, field: str
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """(parent, child) as the lists have it, and as the children have it."""
    listed = set()
    for key, row in (records(state.get(table)) or {}).items():
        value = row.get(way[0]) if way and isinstance(row, dict) else row
        listed |= {(key, str(part)) for part in value} if isinstance(value, list) else set()
    rows = _dict_rows(state.get(child))
    back = {(str(row[field]), key) for key, row in rows.items() if row.get(field) not in (None, "")}
    return listed, back


def _unmatched(state: State, table: str, way: Path, child: str, field: str) -> set[tuple[str, str]]:
    listed, back = _pairs(state, table, way, child, field)
    return listed ^ back


def _off(state: State, table: str, field: str, child: str, other: str) -> set[str]:
    """Records whose number is not the count."""
    rows = _dict_rows(state.get(table))
    if not child:
        return {
            k for k, r in rows.items() if isinstance(r.get(other), list) and r.get(field) != len(r[other])
        }
    counts = Counter(str(row.get(other)) for row in _dict_rows(state.get(child)).values())
    return {key for key, row in rows.items() if row.get(field) != counts[key]}
