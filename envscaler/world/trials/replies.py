"""Replies held against the state: what a call says must be what it did, and a refusal or a read does nothing.

A part of a reply is taken for a record when it bears a record's own id and most of its fields; then the fields that
both have must agree with the state after the call. Whether the state is right is not asked here.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from envscaler.record import as_dict, is_number
from envscaler.schema import Finding, Json, Severity, Skeleton
from envscaler.world.change import State, same, unescaped
from envscaler.world.proving.shape import Shape
from envscaler.world.trials.exploring import Seen
from envscaler.world.trials.finding import finding

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")
_COUNTS = ("count", "total", "total_count", "total_results", "number_of_results", "num_results")
_MAY_BE_IDLE = re.compile(
    r"recalc|recompute|refresh|correct|sync|validat|verif|check|ensure|clean|purge|expire|process|bulk|import"
)
_UNDOES = re.compile(r"remove|delete|clear|cancel|unassign|revoke|reset|release|untag|detach|prune")
"""Names of writes that have nothing to do where what they take away is not there."""
_SAYS_IDLE = re.compile(r"\b(no|nothing|not|none|already|unchanged|without|skipp\w*|same|0)\b", re.I)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SAYS_MOST = re.compile(r"highest|lowest|largest|smallest|at (least|most)|minimum|maximum", re.I)
_DEEPEST = 4
_FEW = 3
"""Calls that were done without effect before it is held against a write."""


class Replies:
    """Judges calls one by one, and tools by all of their calls at the end."""

    def __init__(self, skeleton: Skeleton, state: State) -> None:
        self._tools = {tool.name: tool for tool in skeleton.tools}
        self._own = {table: str(way[0]) for table, way in Shape(state).own_ids.items() if len(way) == 1}
        self._idle: dict[str, list[Seen]] = defaultdict(list)
        self._effective: set[str] = set()

    def judge(self, seen: Seen) -> Iterator[Finding]:
        """What is wrong with one call."""
        name, tool = seen.call.tool, self._tools[seen.call.tool]

        def fault(kind: str, severity: Severity, message: str, **more: Json) -> Finding:
            return finding(kind, severity, name, f"{name} {message}", **seen.told, **more)

        if seen.lost or seen.raised:
            kind = "lost" if seen.lost else "not-json" if seen.raised.startswith("NotJson") else "raises"
            what = f"raised: {seen.raised}" if seen.raised else f"was lost: {seen.lost}"
            yield fault(kind, "error", f"{what}.")
            return
        if seen.diff and not tool.mutates:
            yield fault("read-writes", "error", "is a read and changed the state.")
        if seen.diff and not seen.done:
            yield fault("refused-writes", "error", "refused and changed the state all the same.")
        if _ADDRESS.search(str(seen.reply)):
            message = "replies with an address in memory, which is another one every time."
            yield fault("not-repeatable", "error", message)
        if not (isinstance(seen.reply, dict) and isinstance(seen.reply.get("success"), bool)):
            message = f'should reply {{"success": true or false, …}}, got {str(seen.reply)[:100]}.'
            yield fault("reply-form", "warning", message)
        elif seen.done:
            for message in self._lies(seen):
                yield fault("reply-differs", "error", message)
            for message in _miscounted(seen.reply):
                yield fault("miscounted", "warning", message)
        if seen.done and tool.mutates:
            self._idle[name].append(seen)
            self._effective |= {name} if seen.diff else set()

    def _lies(self, seen: Seen) -> Iterator[str]:
        for part, row, own in self._shown(seen.reply, seen.after):
            wrong = sorted(f for f in part.keys() & row.keys() if not _alike(part[f], row[f]))
            if wrong:
                f = wrong[0]
                yield f"replies that {f} of {part[own]} is {part[f]!r}; in the state it is {row[f]!r}."

    def _shown(
        self, value: Json, state: State, depth: int = 0
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any], str]]:
        """Parts of a reply that show a record, with the record and the name of its id."""
        if depth > _DEEPEST or not isinstance(value, dict | list):
            return
        shown: dict[str, Any] = value if isinstance(value, dict) else {}
        row: dict[str, Any] = {}
        for table, own in self._own.items() if shown else ():
            found = _row(state, table, shown.get(own))
            if found and _is_copy(shown, found, own) and _alone(state, table, own, shown[own]):
                row = found
                yield shown, row, own
        # What lies in a field of the record belongs to it and is no record of its own.
        inner = [v for k, v in shown.items() if k not in row] if isinstance(value, dict) else value
        for part in inner:
            yield from self._shown(part, state, depth + 1)

    def idle(self, batch: Sequence[Seen]) -> Iterator[Finding]:
        """Writes of one state that were done, as they say, and did nothing; with one other value they do something."""
        writes = [s for s in batch if s.done and self._tools[s.call.tool].mutates]
        for seen in writes:
            name = seen.call.tool
            if seen.diff or _UNDOES.search(name) or _MAY_BE_IDLE.search(name) or self._says_idle(seen):
                continue
            most = bool(_SAYS_MOST.search(self._tools[name].description))
            acted = (s for s in writes if s.call.tool == name and s.diff)
            found = next(filter(None, (_other_value(seen, other, most) for other in acted)), None)
            if found:
                argument, value, other = found
                message = f"{name} reports success with the {argument} {value!r} and does nothing; with {other!r} not."
                yield finding("idle-success", "warning", name, message, **seen.told)

    def _says_idle(self, seen: Seen) -> bool:
        """Whether a reply admits that nothing was done: in words, or by a count of none or an empty list.

        What the fields of a record that is shown hold is no such word.
        """
        reply = as_dict(seen.reply)
        rows = [row for table in seen.after.values() for row in as_dict(table).values()]
        records = [part for part, _, _ in self._shown(reply, seen.after)]
        parts = [part for part in (reply, reply.get("data")) if isinstance(part, dict)]
        return reply.get("data") == [] or any(
            value == [] or (value == 0 and not isinstance(value, bool)) or _SAYS_IDLE.search(str(value))
            for part in parts if part not in records and part not in rows
            for value in part.values() if not isinstance(value, dict) and value is not None
        )  # fmt: skip

    def at_the_end(self) -> Iterator[Finding]:
        """Writes that were done, as they say, and never changed anything."""
        for name, idle in self._idle.items():
            different = {str(seen.call.arguments) for seen in idle}
            if name in self._effective or len(different) < _FEW:
                continue
            # Making right what is right, and taking out of a list what is not in it, rightly changes nothing.
            listed = all(any(isinstance(v, list) for v in seen.call.arguments.values()) for seen in idle)
            severity: Severity = "note" if listed or _MAY_BE_IDLE.search(name) else "warning"
            message = f"{name} is a write, reported success {len(idle)} times, and never changed anything."
            yield finding("no-effect", severity, name, message, **idle[0].told)


def _other_value(idle: Seen, acted: Seen, most: bool) -> tuple[str, Json, Json] | None:
    """The one argument in which two calls differ, where its value is nothing that the state holds already.

    Another record may hold already what a call would make it hold, and so may the same one. With the value that does
    something it must be what is stored, or the record that changes: where it only says which records are meant, there
    may be none. `most`: the tool says that it stores only what is more, or less, than what there is.
    """
    one, other = idle.call.arguments, acted.call.arguments
    apart = [name for name in one if name in other and not same(one[name], other[name])]
    if one.keys() != other.keys() or len(apart) != 1:
        return None
    value = one[apart[0]]
    if isinstance(value, bool | list | dict) or value in (None, 0) or not str(value).strip():
        return None
    if str(value).strip().casefold() in _texts(acted.before):
        return None
    works = other[apart[0]]
    if sum(same(works, given) for given in other.values()) > 1:
        return None
    for where, change in acted.diff.items():
        fields = list(_changes(change))
        # A record that held the value in a field may be meant for that.
        bears = unescaped(where.partition("/")[2]) == str(works) and not any(
            same(works, was) for was, _ in fields
        )
        if bears or any(
            _stores(works, *field) and not _kept_up(value, works, field[0], most) for field in fields
        ):
            return apart[0], value, works
    return None


def _changes(change: dict[str, Any]) -> Iterator[tuple[Json, Json]]:
    """What fields of a record held before and hold now."""
    changed = change.get("changed")
    if isinstance(changed, dict):
        yield from (tuple(pair) for pair in changed.values())
    elif isinstance(changed, list):
        yield tuple(changed)  # a value that is in no record
    yield from ((None, value) for value in as_dict(change.get("added")).values())


def _stores(value: Json, was: Json, now: Json) -> bool:
    """Whether a value came into a field: as it is, added to what was there, or into its list."""
    if isinstance(now, list | dict):
        return str(value).strip().casefold() in _texts(now) - _texts(was)
    if is_number(value) and is_number(now) and is_number(was):
        return any(abs(now - one) <= 0.01 for one in (value, was + value, was - value))
    return str(value).strip().casefold() == str(now).strip().casefold()


def _kept_up(value: Json, works: Json, was: Json, most: bool) -> bool:
    """Whether a field held more than one value and less than the other, so that only the most may count."""
    days = all(isinstance(one, str) and _DAY.match(one) for one in (value, works, was))
    if not days and not all(map(is_number, (value, works, was))):
        return False
    between = value <= was < works or works < was <= value
    return between and (most or days or value > 0)


def _texts(value: Json) -> set[str]:
    if isinstance(value, dict | list):
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        return set[str]().union(*map(_texts, parts))
    return {str(value).strip().casefold()}


def _dicts(value: Json, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _dicts(part, depth + 1)


def _row(state: State, table: str, key: Json) -> dict[str, Any] | None:
    rows = state.get(table)
    found = rows.get(str(key)) if isinstance(rows, dict) and isinstance(key, str | int) else None
    return found if isinstance(found, dict) else None


def _alone(state: State, table: str, own: str, key: Json) -> bool:
    """Whether the record under a key is the only one that bears it."""
    rows = as_dict(state.get(table)).items()
    bearers = [name for name, row in rows if isinstance(row, dict) and row.get(own) == key]
    return bearers == [str(key)]


def _is_copy(part: dict[str, Any], row: dict[str, Any], own: str) -> bool:
    """Whether a part of a reply shows this row: it has most of its fields."""
    common = len((part.keys() & row.keys()) - {own})
    return common >= 2 and common >= 0.7 * (len(row) - 1)


def _alike(one: Json, other: Json) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) < 0.006
    return same(one, other) or (isinstance(one, list) and isinstance(other, list) and one != other and (
        sorted(map(str, one)) == sorted(map(str, other))))  # fmt: skip


def _miscounted(reply: Json) -> Iterator[str]:
    """Counts that stand beside one list and are not its length."""
    for part in _dicts(reply):
        lists = [value for value in part.values() if isinstance(value, list)]
        for name in _COUNTS:
            count = part.get(name)
            if len(lists) == 1 and type(count) is int and count != len(lists[0]):
                yield f"replies with {name} {count} beside {len(lists[0])} entries."
