"""Calls that may bring a check about: every tool that writes, with arguments out of hints, state and task.

For one check that does not hold yet, the arguments of each tool get candidates with a cost each: values that
the check compares a field of that name with are cheapest, those of checks that speak of the same things come
next, then what the record has already, then whatever the state holds. The cheapest combinations are proposed
first. Nothing is called here (`searching.search` does), and what comes out is a guess each.
"""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from envscaler.record import as_dict, canonical
from envscaler.schema import Call, Check, Json, Skeleton, Tool
from envscaler.searching.hints import Hints, hints_of, quoted
from envscaler.searching.naming import (
    distance,
    joined,
    keys_of,
    nearest,
    plain,
    tables,
    tables_of,
    tokens,
    values_of,
)
from envscaler.world.change import State, records
from envscaler.world.trials.trying import is_id

MOST_VALUES = 7
"""Candidates of one argument that are combined."""
MOST_GROUPS = 24
"""Groups of records of one table that are tried."""
MOST_OF_A_GROUP = 12
"""Records of a group."""
_OMITTED: Any = object()
_KEPT: Any = object()
_HERE: Any = object()
_TIMES = frozenset({"date", "time", "timestamp", "start", "end", "at"})
Costed = tuple[float, Json]


class Proposer:
    """Proposes calls for the checks of one scenario."""

    def __init__(self, skeleton: Skeleton, checks: Sequence[Check], task: str, initial: State) -> None:
        self.hints = [hints_of(check) for check in checks]
        self._tools = [tool for tool in skeleton.tools if tool.mutates]
        self._initial = initial
        rows = [r for _, t in tables(initial) for r in t.values() if isinstance(r, dict)]
        self._fields = frozenset(name for row in rows for name in row)
        self._initial_keys = {key for _, key in keys_of(initial)}
        self._task, self._quoted = task, quoted(task)
        self._subjects = [
            frozenset([*map(canonical, h.pairs), *(f"{table}/{key}" for table, key in h.keys)])
            for h in self.hints
        ]
        self._near = [[self._apart(i, j) for j in range(len(checks))] for i in range(len(checks))]

    def _apart(self, one: int, other: int) -> float:
        """How little two checks have to do with each other, from 0."""
        if one == other:
            return 0.0
        shared = self._subjects[one] & self._subjects[other]
        ids = self.hints[one].texts & self.hints[other].texts & self._initial_keys
        return 0.25 + 1.0 / (1 + len(shared) + len(ids)) * 0.5 + min(0.5, 0.03 * abs(one - other))

    def propose(self, state: State, focus: int, most: int) -> Iterator[Call]:
        """Calls that may bring the check of that number about, the likeliest of each tool first.

        Args:
            state: where the calls would be made.
            focus: number of the check.
            most: calls of one tool at most.
        """
        hints = self.hints[focus]
        subject = frozenset().union(*map(tokens, [*hints.states, *(name for name, _ in hints.pairs)]))
        for tool in self._tools:
            of_tool = tokens(tool.name).union(*map(tokens, tool.properties))
            yield from self.calls(tool, state, focus, most if of_tool & subject else most // 4)

    def calls(self, tool: Tool, state: State, focus: int, most: int) -> Iterator[Call]:
        """Calls of one tool for the check of that number, the likeliest first."""
        required = set(tool.required)
        properties = tool.properties
        choices = [
            self._choices(name, schema, state, focus, needed=name in required)
            for name, schema in properties.items()
        ]
        if not any(map(is_id, properties)):  # nothing names a record whose fields could be kept
            choices = [[one for one in costed if one[1] is not _KEPT] for costed in choices]
        made: set[str] = set()
        for picked in cheapest(choices, 4 * most) if all(choices) else ():
            arguments = _settled(dict(zip(properties, picked, strict=True)), state)
            name = canonical(arguments)
            if required <= arguments.keys() and name not in made and len(made) < most:
                made.add(name)
                yield Call(tool=tool.name, arguments=arguments)

    def spread(self, state: State, focus: int, most: int) -> Iterator[list[Call]]:
        """The same call for each record of a group: checks often ask of every record of a kind at once."""
        for tool in self._tools:
            properties = tool.properties
            required = set(tool.required)
            which = next((n for n in properties if is_id(n) and tables_of(n, state)), None)
            if which is None:
                continue
            choices = [
                [(0.0, _HERE)] if n == which else self._choices(n, s, state, focus, needed=n in required)
                for n, s in properties.items()
            ]
            groups = [g for table in tables_of(which, state) for g in self._groups(state, table, focus)]
            for picked in cheapest(choices, most) if all(choices) else ():
                given = dict(zip(properties, picked, strict=True))
                for group in groups:
                    yield [
                        Call(tool=tool.name, arguments=_settled({**given, which: key}, state))
                        for key in group
                    ]

    def _groups(self, state: State, table: str, focus: int) -> list[list[str]]:
        """Keys of a table that belong together: all, those the check's values fit, and those alike in one field,
        their own or of the record that an id of theirs names."""
        rows = {k: r for k, r in (records(state[table]) or {}).items() if isinstance(r, dict)}
        wanted = [(name, value) for name, value in self.hints[focus].pairs if name in self._fields]
        fitting = [
            key
            for key, row in rows.items()
            if wanted and all(row[name] == value for name, value in wanted if name in row)
        ]
        by_value: dict[tuple[str, str], list[str]] = {}
        for key, row in rows.items():
            for name, value in [*row.items(), *joined(state, row)]:
                if isinstance(value, str | bool | int):
                    by_value.setdefault((name, canonical(value)), []).append(key)
        groups = [fitting, list(rows), *by_value.values()]
        kept = {tuple(group): None for group in groups if 1 < len(group) <= MOST_OF_A_GROUP}
        return [list(group) for group in kept][:MOST_GROUPS]

    def reads(self, skeleton: Skeleton, state: State, most: int) -> Iterator[Call]:
        """Calls of the tools that only read, with arguments out of the state."""
        for tool in skeleton.tools:
            if not tool.mutates and self.hints:
                yield from self.calls(tool, state, len(self.hints) - 1, most)

    # Candidates

    def _choices(self, name: str, schema: Any, state: State, focus: int, *, needed: bool) -> list[Costed]:
        kind = _kind(schema)
        found = [*self._hinted(name, kind, focus), *self._from_state(name, state, focus)]
        if kind in ("integer", "number"):
            # Keys are texts in JSON; what looks them up may well take numbers.
            found += [(cost, int(key)) for cost, key in found if isinstance(key, str) and key.isdecimal()]
        if kind == "boolean":
            found += [(1.0, True), (1.1, False)]
        found += [(0.8, value) for value in _enum(schema)]
        if kind in ("object", "array", "any"):
            found += self._composed(name, schema, state, focus)
        # An id is seldom any text that happens to be there.
        surplus = 0.6 if is_id(name) else 0.0
        found += [(1.3 + surplus, value) for value in self.hints[focus].values if "\n" not in str(value)]
        found += [(1.6 + surplus, text) for text in self._quoted if kind in ("string", "any")]
        found = [pair for pair in found if _fits(pair[1], kind)]
        if kind in ("string", "any") and tokens(name) & _TIMES:
            found += [(1.25, "2025-01-01"), (1.35, "2025-01-01T10:00:00")]
        if is_id(name) and needed:
            found.append((1.45, "X-1"))
        if needed and len(found) < 3:
            found += [(3.0, value) for value in _FALLBACK.get(kind, ["x"])]
        return _best([*found, (0.45 + surplus, _KEPT), *([] if needed else [(0.35, _OMITTED)])])

    def _hinted(self, name: str, kind: str, focus: int) -> Iterator[Costed]:
        for number, hints in enumerate(self.hints):
            apart = self._near[focus][number]
            if is_id(name):
                # The key of a record that is still to be made.
                yield from ((apart + 0.1, key) for table, key in hints.keys if tokens(name) & tokens(table))
            for field, value in hints.pairs:
                if (far := distance(name, field)) is not None:
                    yield apart + far, value
            if kind not in ("string", "any"):
                continue
            for field, texts in self._wanted(hints).items():
                far = distance(name, field) if field else 0.7
                if far is None or is_id(name):
                    continue
                yield apart + far + 0.1, ". ".join(texts)
                yield apart + far + 0.2, _Appended(" ".join(texts))
                after = self._wanted(self.hints[number + 1]) if number + 1 < len(self.hints) else {}
                for more in after.values():
                    # What two checks in a row look for may be parts of one text.
                    yield apart + far + 0.3, ", ".join([*texts, *more])
                    yield apart + far + 0.4, ". ".join([*texts, *more])

    def _wanted(self, hints: Hints) -> dict[str, list[str]]:
        wanted: dict[str, list[str]] = {}
        for field, text in hints.parts:
            if field not in self._initial and text not in wanted.setdefault(field, []):
                wanted[field].append(text)
        return wanted

    def _from_state(self, name: str, state: State, focus: int) -> Iterator[Costed]:
        """Keys of tables that an id may mean, and values that stand in fields of that name."""
        hints = self.hints[focus]
        rank = itertools.count()
        for table, key in keys_of(state):
            if not is_id(name) and not tokens(name) & tokens(table):
                continue
            akin = bool(tokens(name) & tokens(table)) or name in ("_id", "id")
            cost = 0.0 if akin else 0.5
            if key in hints.texts:
                yield cost + 0.05, key
            elif (near := self._matches(records(state[table]) or {}, key, hints)) > 0:
                yield cost + (0.5 if key in self._initial_keys else 0.3) / near, key
            elif key not in self._initial_keys:
                yield cost + 0.5, key
            elif any(key in other.texts for other in self.hints):
                yield cost + 0.7 + 0.01 * next(rank), key
            else:
                yield cost + (0.9 if key in self._task else 1.4 if akin else 2.2) + 0.02 * next(rank), key
        for value in values_of(state, name)[:4]:
            yield 2.0, value

    def _matches(self, table: dict[str, Json], key: str, hints: Hints) -> int:
        record = table.get(key)
        if not isinstance(record, dict):
            return 0
        return sum(name in record and record[name] == value for name, value in hints.pairs)

    def _composed(self, name: str, schema: Any, state: State, focus: int) -> Iterator[Costed]:
        """Objects out of pairs, and lists out of values, that the check and its neighbours name."""
        hints = self.hints[focus]
        near = sorted(range(len(self.hints)), key=lambda j: self._near[focus][j])
        if _kind(schema) != "array":
            own = {f: v for f, v in hints.pairs if v is not None and f not in self._fields}
            own = own or {field: value for field, value in hints.pairs if value is not None}
            yield 0.3, own
            yield 0.25, _Merged(own)
            for field, value in own.items():
                yield 0.5, {field: value}
            wide = dict(own)
            for number in near[1:12]:
                if self._subjects[number] & self._subjects[focus]:
                    more = {f: v for f, v in self.hints[number].pairs if f not in self._fields}
                    wide |= {f: v for f, v in more.items() if f not in wide and v is not None}
            yield 0.4, wide
            if parts := as_dict(as_dict(schema).get("properties")):
                required = schema.get("required")
                needed = required if isinstance(required, list) else []
                inner = {
                    k: self._choices(k, s, state, focus, needed=k in needed)[:1] for k, s in parts.items()
                }
                yield 0.2, {k: c[0][1] for k, c in inner.items() if c and c[0][1] not in (_OMITTED, _KEPT)}
            return
        keys = {key for _, key in keys_of(state)}
        ids = [value for value in hints.values if isinstance(value, str) and value in keys]
        if ids:
            yield 0.4, list(dict.fromkeys(ids))
            yield from ((0.6, [one]) for one in dict.fromkeys(ids))
        texts = [text for field, text in hints.parts if field and distance(name, field) is not None]
        if texts:
            yield 0.2, _Added(texts)
            yield 0.3, texts
        pairs = [value for field, value in hints.pairs if distance(name.removesuffix("s"), field) is not None]
        yield from ((0.3, [value]) for value in pairs if not isinstance(value, list))
        yield 2.0, []


class _Appended(str):
    """A text to be put after what a field holds already."""


class _Merged(dict[str, Json]):
    """Fields to be put over those that an object has already."""


class _Added(list[Json]):
    """Values to be put after those that a list has already."""


_FALLBACK: dict[str, list[Json]] = {
    "string": ["X-1", "2025-01-01", "2025-01-01T10:00:00"],
    "integer": [1, 0, 2],
    "number": [1, 0, 2],
    "any": ["X-1", 1],
    "array": [[]],
    "object": [{}],
}


def cheapest(choices: Sequence[Sequence[Costed]], most: int) -> Iterator[list[Json]]:
    """Combinations of one candidate each, in the order of their summed cost."""
    begin = (0,) * len(choices)
    queue = [(sum(c[0][0] for c in choices), begin)]
    seen = {begin}
    for _ in range(most):
        if not queue:
            return
        _, places = heapq.heappop(queue)
        yield [c[p][1] for c, p in zip(choices, places, strict=True)]
        for which, place in enumerate(places):
            after = (*places[:which], place + 1, *places[which + 1 :])
            if place + 1 < len(choices[which]) and after not in seen:
                seen.add(after)
                heapq.heappush(queue, (sum(c[p][0] for c, p in zip(choices, after, strict=True)), after))


def _best(found: list[Costed]) -> list[Costed]:
    """The cheapest candidates, each value once."""
    least: dict[str, Costed] = {}
    for cost, value in sorted(found, key=lambda pair: pair[0]):
        name = (
            "kept"
            if value is _KEPT
            else "omitted"
            if value is _OMITTED
            else f"{type(value)}{canonical(value)}"
        )
        least.setdefault(name, (cost, value))
    return list(least.values())[:MOST_VALUES]


def _settled(arguments: dict[str, Json], state: State) -> dict[str, Json]:
    """The arguments with what a field is to keep looked up in the record that the other arguments name."""
    named = [value for value in arguments.values() if isinstance(value, str)]
    record: dict[str, Json] = {}
    for _, table in tables(state):
        for key in named:
            if isinstance(table.get(key), dict):
                record = {**table[key], **record}
    settled: dict[str, Json] = {}
    for name, value in arguments.items():
        bare = plain(name)
        if value is _KEPT:
            if (kept := nearest(bare, record)) is not None:
                settled[name] = record[kept]
        elif isinstance(value, _Appended):
            settled[name] = f"{record.get(bare) or ''}{value}"
        elif isinstance(value, _Merged):
            settled[name] = {**_or(record.get(bare), dict), **value}
        elif isinstance(value, _Added):
            had = _or(record.get(bare), list)
            settled[name] = [*had, *(one for one in value if one not in had)]
        elif value is not _OMITTED:
            settled[name] = value
    return settled


def _or(value: Json, kind: type[Any]) -> Any:
    return value if isinstance(value, kind) else kind()


def _enum(schema: Any) -> list[Json]:
    choices = as_dict(schema).get("enum")
    return choices if isinstance(choices, list) else []


def _kind(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), None)
    if kind is None and isinstance(schema, dict) and schema.get("anyOf"):
        kinds = {_kind(part) for part in schema["anyOf"]} - {"null"}
        kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind in ("string", "integer", "number", "boolean", "array", "object") else "any"


def _fits(value: Json, kind: str) -> bool:
    if kind == "any":
        return True
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    kinds: dict[str, Any] = {"string": str, "number": int | float, "array": list, "object": dict}
    return isinstance(value, kinds[kind])
