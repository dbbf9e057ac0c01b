"""Arguments held against the state: what became of what a caller said.

A value ends in the field that bears its argument's name, not in another one, and not times a hundred; an id that is
taken is refused, and a new record is not put in the place of one that nobody named; an id that nobody bears is not
acted upon. A tool is judged by all its calls together, for one call proves little. What values an argument should have
is not known here.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from envscaler.record import is_number
from envscaler.schema import Finding, Json, Skeleton
from envscaler.world.change import State, records, same, unescaped
from envscaler.world.proving.shape import Column, Shape
from envscaler.world.reading import read_code
from envscaler.world.source import parse_class
from envscaler.world.trials.exploring import Seen
from envscaler.world.trials.finding import finding
from envscaler.world.trials.trying import Values, is_id, means

_REPLACES = re.compile(
    "update|upsert|set_|put_|save|edit|modify|record|assign|log_|store|sync|replace|import|rate_"
)
_MAY_REPLACE = re.compile(
    r"overwr|replac|upsert|or update|if (it |one )?(already )?exists,? (it is|its|the)", re.I
)
_MAKES = re.compile(
    r"(create|add|register|new|open|book|place|submit|issue|post|schedule|send|file|log|record|enrol|order|insert"
    r"|make|start|request|report|write|draft|publish|launch|plan|reserve|hire|store)(?![a-z])"
)
"""What the name of a tool that adds a record begins with."""
_SAYS_UNKNOWN = re.compile(
    r"not found|does not exist|doesn't exist|unknown|must exist|no such|non-?existent|must refer|must be valid"
    r"|exists? in|invalid \w*_?id",
    re.I,
)


@dataclass
class _Way:
    """What became of one argument in one field."""

    hits: int = 0
    misses: list[tuple[Json, Json, Seen]] = field(default_factory=list)
    elsewhere: list[set[str]] = field(default_factory=list)


_SAYS_UNIQUE = re.compile(
    r"unique|already (exist|in use|taken|used|registered)|duplicate|that of another|belongs? to another|no two",
    re.I,
)

_SAYS_MORE = re.compile(r"unique (identifier|id)\b|\bsame\b|\btarget\b", re.I)
"""What a sentence on something else, or on more than one field, says."""


class Inputs:
    """Collects calls; says at the end what they show."""

    def __init__(self, skeleton: Skeleton, state: State) -> None:
        self._tools = {tool.name: tool for tool in skeleton.tools}
        self._methods = parse_class(skeleton.source, skeleton.class_name).methods
        self._docs = {n: m.doc for n, m in self._methods.items()}
        self._values, self._code = Values(state), read_code(skeleton)
        shape = Shape(state)
        self._own = {(table, str(way[0])) for table, way in shape.own_ids.items() if len(way) == 1}
        self._ways: dict[tuple[str, str, str, str], _Way] = defaultdict(_Way)
        self._creates: dict[tuple[str, str, str], Seen] = {}
        self._overwrites: dict[tuple[str, str, str], Seen] = {}
        self._displaced: dict[tuple[str, str], tuple[str, Seen]] = {}
        self._adds: set[tuple[str, str]] = set()
        self._source = skeleton.source
        self._unknown: dict[tuple[str, str], list[Seen]] = defaultdict(list)
        self._known: set[tuple[str, str]] = set()
        self._doubled: dict[tuple[str, str, str, str], Seen] = {}
        self._distinct: dict[str, set[str]] = defaultdict(set)
        for column in shape.columns:
            if self._is_distinct(shape, column):
                self._distinct[column[0]].add(str(column[1][0]))

    def note(self, seen: Seen) -> None:
        """Take note of one call."""
        self._note_ids(seen)
        if seen.done and seen.diff:
            self._note_keys(seen)
            self._note_ways(seen)

    def at_the_end(self) -> Iterator[Finding]:
        """What all calls together show."""
        yield from self._lost_ways()
        for (tool, argument, table, name), seen in self._doubled.items():
            value = seen.call.arguments[argument]
            message = (
                f"{tool} takes the {argument} {value!r}, which is the {name} of another of {table} already."
            )
            yield finding("duplicate-value", "warning", tool, message, **seen.told)
        for (tool, argument, table), seen in self._overwrites.items():
            if (tool, argument, table) in self._creates and not _REPLACES.search(tool):
                sure = not _MAY_REPLACE.search(self._docs.get(tool, ""))
                key = seen.call.arguments[argument]
                message = f"{tool} was given the {argument} {key!r}, which is in {table} already, and wrote over it."
                yield finding("duplicate-id", "error" if sure else "note", tool, message, **seen.told)
        for (tool, table), (key, seen) in self._displaced.items():
            adds = (tool, table) in self._adds
            if _MAY_REPLACE.search(self._docs.get(tool, "")) or not (adds or self._makes(tool, table)):
                continue
            message = f"{tool} wrote a new record over {key} of {table}, which the call does not name."
            yield finding("displaced", "error" if adds else "warning", tool, message, **seen.told)
        yield from self._accepted()

    # Ids

    def _is_distinct(self, shape: Shape, column: Column) -> bool:
        """Whether no two records share a value of a text column that is not their own id."""
        values, count = shape.columns[column], shape.counts[column]
        plain = len(column[1]) == 1 and (column[0], str(column[1][0])) not in self._own
        return (
            plain and count == len(values) >= 3 and all(isinstance(value, str) and value for value in values)
        )

    def _note_doubles(self, seen: Seen, table: str, key: str, row: dict[str, Any]) -> None:
        """A value that is another record's already, where the tool's description says that this must not be."""
        doc = self._docs.get(seen.call.tool, "").splitlines()
        for argument, value in seen.call.arguments.items():
            for name in self._distinct.get(table, ()):
                if row.get(name) != value or not (name == argument or means(argument, name)):
                    continue
                words = rf"\b({re.escape(name)}|{re.escape(argument)}|{re.escape(name.replace('_', ' '))})\b"
                told = [line for line in doc if _SAYS_UNIQUE.search(line) and not _SAYS_MORE.search(line)]
                says = not is_id(name) and any(re.search(words, line, re.I) for line in told)
                rows = records(seen.before.get(table)) or {}
                if says and any(
                    isinstance(r, dict) and r.get(name) == value for k, r in rows.items() if k != key
                ):
                    self._doubled.setdefault((seen.call.tool, argument, table, name), seen)

    def _note_keys(self, seen: Seen) -> None:
        """Which argument names the record a tool makes, and whether a record that was there was written over."""
        for where, change in seen.diff.items():
            name, slash, key = where.partition("/")
            table, key = unescaped(name), unescaped(key)
            row = (records(seen.after.get(table)) or {}).get(key)
            if slash and isinstance(row, dict):
                self._note_doubles(seen, table, key, row)
                if "added" in change:
                    self._adds.add((seen.call.tool, table))
                elif self._displaces(seen, name, table, key, row):
                    self._displaced.setdefault((seen.call.tool, table), (key, seen))
            for argument, value in seen.call.arguments.items() if slash else ():
                if value != key:
                    continue
                if "added" in change:
                    self._creates.setdefault((seen.call.tool, argument, table), seen)
                elif isinstance(change.get("changed"), dict):
                    self._overwrites.setdefault((seen.call.tool, argument, table), seen)

    def _displaces(self, seen: Seen, name: str, table: str, key: str, row: dict[str, Any]) -> bool:
        """Whether a call put a record in the place of the only one it touched in a table, and nothing names that one:
        not the call, not the state, as one who is logged in is named there, and not the code.
        """
        if sum(where.startswith(f"{name}/") for where in seen.diff) > 1 or key in _pointers(seen.before):
            return False
        if f'"{key}"' in self._source or f"'{key}'" in self._source:
            return False
        return _displaces(seen.call.arguments, key, (records(seen.before.get(table)) or {}).get(key), row)

    def _makes(self, tool: str, table: str) -> bool:
        """Whether a tool should add to a table though it never did: it is called so, and puts whole records there."""
        code = self._methods[tool].source if tool in self._methods else ""
        puts = re.search(rf"self\.{re.escape(table)}\[[^\n]*\] *(:[^=\n]*)?= *[^=]", code)
        return bool(_MAKES.match(tool) and puts)

    def _note_ids(self, seen: Seen) -> None:
        required = self._tools[seen.call.tool].parameters.get("required") or []
        for argument, value in seen.call.arguments.items():
            looked_up = self._looked_up(seen.call.tool, argument)
            if not isinstance(value, str) or not (is_id(argument) or looked_up) or argument not in required:
                continue
            if not any(value in (records(table) or {}) for table in seen.before.values()):
                made = any(w.endswith(f"/{value}") and "added" in c for w, c in seen.diff.items())
                if seen.done and not made and value not in self._values.texts and not self._asks(seen):
                    self._unknown[seen.call.tool, argument].append(seen)
            elif seen.done:
                self._known.add((seen.call.tool, argument))

    def _looked_up(self, tool: str, argument: str) -> set[str]:
        code = self._code.get(tool)
        return code.tables.get(argument, set()) if code else set()

    def _asks(self, seen: Seen) -> bool:
        return _asks(seen, self._docs.get(seen.call.tool, ""))

    def _accepted(self) -> Iterator[Finding]:
        for (tool, argument), calls in self._unknown.items():
            acted = [seen for seen in calls if seen.diff]
            says = _SAYS_UNKNOWN.search(self._docs.get(tool, ""))
            tables = sorted(self._looked_up(tool, argument))
            sure = (tool, argument) in self._known or (acted and tables)
            if sure and (acted or (says and is_id(argument))):
                seen = (acted or calls)[0]
                value = seen.call.arguments[argument]
                what = "acted" if acted else "reported success"
                message = f"{tool} {what} for the {argument} {value!r}, which nothing in the state bears."
                yield finding(
                    "unknown-accepted", "warning" if says or tables else "note", tool, message, **seen.told
                )

    # Values

    def _note_ways(self, seen: Seen) -> None:
        for where, change in seen.diff.items():
            name, slash, key = where.partition("/")
            table, row = unescaped(name), (records(seen.after.get(unescaped(name))) or {}).get(unescaped(key))
            if not slash or not isinstance(row, dict) or "removed" in change:
                continue
            old = (records(seen.before.get(table)) or {}).get(unescaped(key))
            old = old if isinstance(old, dict) else {}
            for argument, value in seen.call.arguments.items():
                if value in (None, "", [], 0) or isinstance(value, dict) or value == unescaped(key):
                    continue
                exact = [argument] if argument in row else []
                for f in exact or [f for f in row if means(argument, f)]:
                    # What the field held before may say which records are meant, as the old name in a renaming does.
                    if (is_id(argument) and (table, f) in self._own) or same(value, old.get(f)):
                        continue
                    self._note_way(self._ways[seen.call.tool, argument, table, f], f, value, old, row, seen)

    def _note_way(
        self, way: _Way, name: str, value: Json, old: dict[str, Any], row: dict[str, Any], seen: Seen
    ) -> None:
        if _reached(value, row.get(name), old.get(name)):
            # What was there before does not show that it would get there.
            way.hits += not same(row.get(name), old.get(name))
            return
        way.misses.append((value, row.get(name), seen))
        way.elsewhere.append(
            {g for g in row if g != name and _plain(value, row[g]) and not _plain(value, old.get(g))}
        )

    def _lost_ways(self) -> Iterator[Finding]:
        arrived = {(tool, argument) for (tool, argument, _, _), way in self._ways.items() if way.hits}
        for (tool, argument, table, name), way in self._ways.items():
            given = {str(value) for value, _, _ in way.misses}
            if (tool, argument) in arrived or len(given) < 2:
                continue
            # `hours` may mean `hours_spent` where `estimated_hours` was thought of.
            close = argument in (name, f"new_{name}", f"updated_{name}")
            others = set.intersection(*way.elsewhere)
            value, stored, seen = way.misses[0]
            if others:
                message = (
                    f"{tool} writes its {argument} into {sorted(others)[0]} of {table}, and not into {name}."
                )
                yield finding("argument-elsewhere", "error" if close else "note", tool, message, **seen.told)
            elif (factor := _factor(way.misses)) is not None:
                message = f"{tool} writes {factor:g} times its {argument} into {name} of {table}."
                yield finding("argument-scaled", "error" if close else "note", tool, message, **seen.told)
            elif len(given) >= 3:
                message = f"{tool} was given the {argument} {value!r}, but {name} of {table} is {stored!r}."
                yield finding("argument-lost", "warning" if close else "note", tool, message, **seen.told)


def _displaces(arguments: dict[str, Json], key: str, old: Json, row: dict[str, Any]) -> bool:
    """Whether a record took the place of another: what the call says of it was said otherwise before, and nothing that
    stayed was named by the call. A free place that is filled in was empty before.
    """
    given = {name: value for name, value in arguments.items() if value not in (None, "", [], {})}
    if not isinstance(old, dict) or any(_in_key(value, key) for value in given.values()):
        return False
    told = [name for name, value in given.items() if name in row and same(row[name], value)]
    stayed = {name for name in row if name in old and same(row[name], old[name])}
    texts = {_folded(value) for value in given.values() if isinstance(value, str)}
    named = any(isinstance(row[name], str) and _folded(row[name]) in texts for name in stayed)
    filled = any(old.get(name) in (None, "", [], {}) for name in told)
    sure = any(_plain(given[name], row[name]) for name in told)
    return sure and not named and not filled and not stayed & set(told)


def _in_key(value: Json, key: str) -> bool:
    """Whether a key is made of a value, as `u1/f2` is of a user and a film."""
    if isinstance(value, str):
        plain = re.sub(r"\W+", "", value.casefold())
        return bool(plain) and (value == key or plain in re.split(r"[\W_]+", key.casefold()) or (
            len(plain) > 1 and plain in re.sub(r"\W+", "", key.casefold())))  # fmt: skip
    return not isinstance(value, list | dict) and str(value) in re.split(r"[\W_]+", key)


def _folded(text: str) -> str:
    return text.strip().casefold()


def _pointers(state: State) -> set[str]:
    """The texts that lie in a state by themselves or as an id in a part that is no table, such as a session's."""
    found = {value for value in state.values() if isinstance(value, str)}
    for part in state.values():
        inner = part.items() if isinstance(part, dict) else ()
        found |= {value for name, value in inner if isinstance(value, str) and is_id(name)}
    return found


def _asks(seen: Seen, doc: str) -> bool:
    """Whether a call answers a question with no, as one on whether something is there should."""
    data = seen.reply.get("data") if isinstance(seen.reply, dict) else None
    answers = list(data.values()) if isinstance(data, dict) else [data]
    nothing = data is None and ("None" in doc or "null" in doc)
    return not seen.diff and (nothing or any(answer is False for answer in answers))


def _plain(value: Json, stored: Json) -> bool:
    """Whether a value lies there as it is, and is one that lies nowhere by chance."""
    return same(value, stored) and value not in (0, 1, True, False, "")


def _reached(value: Json, stored: Json, old: Json) -> bool:
    """Whether a value may be said to have arrived in a field."""
    if isinstance(value, list):
        return isinstance(stored, list) and all(any(_reached(v, s, None) for s in stored) for v in value)
    if isinstance(stored, list):
        return any(_reached(value, part, None) for part in stored)
    if isinstance(stored, dict):
        return any(_reached(value, part, None) for part in stored.values())
    if is_number(value) and is_number(stored):
        near = [value, -value, *([old + value, old - value] if is_number(old) else [])]
        return any(abs(stored - one) <= 0.01 for one in near)
    one, other = str(value).strip().casefold(), str(stored).strip().casefold()
    return one == other or (len(one) > 2 and one in other) or (len(other) > 5 and other in one)


def _factor(misses: list[tuple[Json, Json, Seen]]) -> float | None:
    """By what all values were multiplied; None where there is no such number."""
    pairs = [(v, s) for v, s, _ in misses if isinstance(v, int | float) and isinstance(s, int | float) and v]
    if len(pairs) < 2 or len(pairs) < len([v for v, _, _ in misses if v]):
        return None
    factors = [s / v for v, s in pairs]
    return factors[0] if max(factors) - min(factors) < 0.005 * abs(factors[0]) and factors[0] else None
