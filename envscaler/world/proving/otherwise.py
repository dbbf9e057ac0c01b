"""A task solved otherwise: plays that do what the witness does, in another way, and must be paid as it is.

Each family is shown right by execution before anybody grades it. Calls in another order must all be accepted and
lead to an alike state; so must a change that was made, taken back by a tool found for it, and made again. Look-ups
and refused calls in between change nothing. Ids other than those generated are put into the final state, with all
references to them. Arguments that the task leaves free get other values that their tools accept.

What could not be shown right is not tried. This module grades nothing (`certificate` does).
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.record import is_number, references
from envscaler.schema import Call, Json, Skeleton
from envscaler.world.change import State
from envscaler.world.mutants.calls import mistakes, named
from envscaler.world.mutants.texts import is_wording
from envscaler.world.mutants.values import longer_texts
from envscaler.world.proving.alike import Alike
from envscaler.world.proving.shape import leaves
from envscaler.world.witness import Branch, Branches, Played, renumbered, succeeded

FAMILIES = (
    "calls reordered",
    "reads inserted",
    "refused calls inserted",
    "done and undone",
    "other ids",
    "later clock",
    "free arguments",
)
MOST = 3
"""Plays of one family."""
TRIED = 6
"""Tools that are tried for taking a change back."""


@dataclass(frozen=True)
class Otherwise:
    """The task, solved in another way."""

    family: str
    """One of `FAMILIES`."""
    what: str
    """In which other way."""
    final: State
    """The state at the end."""


def free_values(
    skeleton: Skeleton, branches: Branches, alike: Alike, seed: int = 0, asked: Sequence[str] = ()
) -> Iterator[Otherwise]:
    """Other values of the arguments that the task leaves free, such as their tools accept: one by one, then all.

    One alone does not show a check that insists on a word which another free argument has as well. But where it is
    the wording of a text that is free, words that are asked for are kept in the others: a note that something is
    fragile says so in whatever way.

    Args:
        skeleton: the world.
        branches: the witness, played and accepted.
        alike: says which columns there are.
        seed: of every choice.
        asked: texts that the task says and a check quotes.
    """
    chance = random.Random(f"free {seed}")
    accepted: dict[int, dict[str, Json]] = {}
    names = {*alike.shape.keys, *(str(step) for _, way in alike.shape.columns for step in way)}
    words = [text for text in asked if text not in names and len(text.strip()) > 2]
    for place, call in enumerate(branches.witness):
        for name in call.free:
            if name not in call.arguments:
                continue
            right = branches.played.calls[place].arguments[name]
            tool = skeleton.tool(call.tool)
            schema = tool.parameters if tool else {}
            others = [value for _, value in mistakes(schema, (name,), right, alike.shape, chance)]
            if isinstance(right, str) and is_wording(right, (name,), schema, alike.shape):
                others = _holding(words, right, others)
            for value in others[:MOST]:
                other = Call(tool=call.tool, arguments={**call.arguments, name: value}, free=call.free)
                branch = branches.go_on(place, [other, *branches.witness[place + 1 :]])
                if branch is not None and branch.refused is None:
                    accepted.setdefault(place, {}).setdefault(name, value)
                    what = f"{named(branches.witness, place)}.{name}: {value!r:.60}"
                    yield Otherwise("free arguments", what, branch.final)
    if sum(map(len, accepted.values())) > 1:
        calls = [
            Call(tool=call.tool, arguments={**call.arguments, **accepted.get(place, {})}, free=call.free)
            for place, call in enumerate(branches.witness)
        ]
        branch = branches.go_on(min(accepted), calls[min(accepted) :])
        if branch is not None and branch.refused is None:
            yield Otherwise("free arguments", "all of them at once", branch.final)


def held_to(task: str, witness: Sequence[Call]) -> tuple[list[Call], list[str]]:
    """A witness without the marks of free arguments whose value the task names, and which those are.

    What a task says in so many words it does not leave open, whatever the author marked.

    Args:
        task: its text.
        witness: the calls as written.
    """
    held, told = [], list[str]()
    for place, call in enumerate(witness):
        named_ = [name for name in call.free if is_said(call.arguments.get(name), task)]
        told += [f"{named(witness, place)}.{name}" for name in named_]
        free = [name for name in call.free if name not in named_]
        held.append(Call(tool=call.tool, arguments=call.arguments, free=free) if named_ else call)
    return held, told


def is_said(value: Json, task: str) -> bool:
    """Whether a text says a value as a word, or words, of its own; of a list or an object, each part of it.

    What it says as a bound (`4 at most`) or as an example it leaves open.
    """
    parts = [part for _, part in leaves(value)]
    return not references(value) and all(
        not isinstance(part, bool)
        and (is_number(part) or (isinstance(part, str) and len(part.strip()) > 1))
        and any(not _is_bound(task, found) for found in _word(part).finditer(task))
        for part in parts
    )


def _word(value: Json) -> re.Pattern[str]:
    text = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()
    return re.compile(rf"(?<![\w.]){re.escape(text)}(?!\w|[.,]\d)", re.IGNORECASE)


def _is_bound(task: str, found: re.Match[str]) -> bool:
    """Whether what was found is said as a bound or an example."""
    return bool(_BOUND_BEFORE.search(task[: found.start()]) or _BOUND_AFTER.match(task[found.end() :]))


_BOUND_BEFORE = re.compile(
    r"\b(?:at least|at most|up to|(?:no|not) (?:more|less|fewer|later|earlier) than|not (?:before|after)|between"
    r"|around|about|roughly|such as|for example|e\.g\.|,? say),? (?:the |a |an )?\W?$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r"\W{0,2}(?:\w+ )?(?:at the (?:latest|earliest)|at (?:most|least)|or (?:more|less|later|earlier|sooner|so|similar"
    r"|another|other))\b",
    re.IGNORECASE,
)


def _holding(words: Sequence[str], right: str, others: list[Json]) -> list[Json]:
    """Of a text with something in it that is asked for, longer ones and those of the others that hold it too."""
    held = [text.lower() for text in words if text.lower() in right.lower()]
    if not held:
        return others
    keep = [value for value in others if isinstance(value, str) and all(t in value.lower() for t in held)]
    return [*longer_texts(right), *keep]


class Ways:
    """The other ways to solve a task that can be found from one play of its witness."""

    def __init__(self, skeleton: Skeleton, branches: Branches, alike: Alike, seed: int = 0) -> None:
        """
        Args:
            skeleton: the world.
            branches: the witness, played and accepted.
            alike: says which final states count as the same.
            seed: of every choice.
        """
        self._skeleton, self._branches, self._alike = skeleton, branches, alike
        self._witness, self._played = branches.witness, branches.played
        self._mark = alike.mark(branches.final)
        self._chance = random.Random(f"otherwise {seed}")
        self._writes = [place for place, changed in enumerate(self._played.diffs) if changed]

    def all(self) -> Iterator[Otherwise]:
        """One after another; those with another clock or with free values apart, they come from other plays."""
        yield from self.reordered()
        yield from self.with_reads()
        yield from self.with_refusals()
        yield from self.undone()
        yield from self.other_ids()

    # Another order

    def reordered(self) -> Iterator[Otherwise]:
        """The calls in other orders that are accepted and lead to an alike state."""
        found, tried = 0, {tuple(range(len(self._witness)))}
        for number, order in enumerate(self._orders()):
            if found >= MOST or (found and number >= MOST):
                return
            if tuple(order) in tried:
                continue
            tried.add(tuple(order))
            branch = self._in_order(order)
            if branch is not None and branch.refused is None and self._alike.mark(branch.final) == self._mark:
                found += 1
                yield Otherwise("calls reordered", f"in the order {', '.join(map(str, order))}", branch.final)

    def _orders(self) -> Iterator[list[int]]:
        """Orders in which no call comes before one that it refers to: the last first, by lot, one change earlier."""
        yield self._sorted(lambda ready: max(ready))
        for _ in range(MOST - 1):
            yield self._sorted(self._chance.choice)
        for one, other in zip(self._writes, self._writes[1:], strict=False):
            early = self._needed(other)
            ahead = [n for n in range(one) if n not in early]
            moved = [n for n in sorted(early) if n not in ahead]
            yield [*ahead, *moved, *(n for n in range(one, len(self._witness)) if n not in early)]

    def _sources(self, place: int) -> set[int]:
        ways = references(self._witness[place].arguments)
        return {way[0] for way in ways if isinstance(way, list) and way and isinstance(way[0], int)}

    def _needed(self, place: int) -> set[int]:
        """A call and all that it refers to."""
        found, todo = set[int](), [place]
        while todo:
            at = todo.pop()
            if at not in found:
                found.add(at)
                todo += self._sources(at)
        return found

    def _sorted(self, pick: Any) -> list[int]:
        left, order = list(range(len(self._witness))), list[int]()
        while left:
            ready = [place for place in left if self._sources(place) <= set(order)]
            if not ready:
                return [*order, *left]
            order.append(pick(ready))
            left.remove(order[-1])
        return order

    def _in_order(self, order: Sequence[int]) -> Branch | None:
        now = {old: new for new, old in enumerate(order)}
        start = next((new for new, old in enumerate(order) if new != old), len(order))
        calls = [renumbered(self._witness[old], now.get) for old in order[start:]]
        return self._branches.go_on(start, calls)

    # Calls in between

    def with_reads(self) -> Iterator[Otherwise]:
        """A look-up after each change: those of the witness again, else those that need no argument."""
        seen = [n for n, diff in enumerate(self._played.diffs) if not diff]
        reads = [(n, self._played.calls[n]) for n in seen] or [
            (-1, Call(tool=tool.name, arguments={}))
            for tool in self._skeleton.tools
            if not tool.mutates and not tool.required
        ]
        extra = []
        for place in self._writes:
            known = [call for n, call in reads if n < place]
            if known:
                extra.append((place + 1, self._chance.choice(known)))
        yield from self._with("reads inserted", extra)

    def with_refusals(self) -> Iterator[Otherwise]:
        """Calls that are refused, before the change that they look like: on things that are not there."""
        extra = [(place, wrong) for place in self._writes[:MOST] if (wrong := self._hopeless(place))]
        if not extra:
            return
        branch = self._branches.go_on(extra[0][0], self._woven(extra))
        if branch is None:
            return
        at = [place + number for number, (place, _) in enumerate(extra)]
        refused = [e for e, n in zip(extra, at, strict=True) if not succeeded(branch.replies[n])]
        yield from self._with("refused calls inserted", refused)

    def _hopeless(self, place: int) -> Call | None:
        call = self._played.calls[place]
        name = next((name for name, value in call.arguments.items() if isinstance(value, str)), None)
        if name is None:
            return None
        return Call(tool=call.tool, arguments={**call.arguments, name: "no-such-thing-0"})

    def _with(self, family: str, extra: list[tuple[int, Call]]) -> Iterator[Otherwise]:
        """The witness with more calls, each before the call of its place."""
        if not extra:
            return
        branch = self._branches.go_on(extra[0][0], self._woven(extra))
        if branch is None:
            return
        added = {place + number for number, (place, _) in enumerate(extra)}
        mine = [r for n, r in enumerate(branch.replies) if n not in added]
        if all(map(succeeded, mine)):
            calls = ", ".join(f"{call.tool} before call {place}" for place, call in extra[:MOST])
            yield Otherwise(family, f"{calls}{' …' if len(extra) > MOST else ''}", branch.final)

    def _woven(self, extra: list[tuple[int, Call]]) -> list[Call]:
        """What is called from the first of these places on, each of the calls before the call of its place."""

        def now(n: int) -> int:
            return n + sum(place <= n for place, _ in extra)

        woven: list[Call] = []
        for place in range(extra[0][0], len(self._witness) + 1):
            woven += [call for where, call in extra if where == place]
            woven += [renumbered(call, now) for call in self._witness[place : place + 1]]
        return woven

    # Done and undone

    def undone(self) -> Iterator[Otherwise]:
        """A change made, taken back, and made again."""
        found = 0
        for place in self._writes[:TRIED]:
            back = self._inverse(place) if found < MOST - 1 else None
            if back is None:
                continue
            branch = self._branches.go_on(place + 1, [back, *self._again(place)])
            if (
                branch
                and branch.refused is None
                and self._alike.mark(self._counted(branch.final)) == self._mark
            ):
                found += 1
                what = f"{named(self._witness, place)}, {back.tool}, and again"
                yield Otherwise("done and undone", what, branch.final)

    def _again(self, place: int) -> list[Call]:
        """The calls from a place on, after that call and one more were made already."""
        later = [
            renumbered(call, lambda n: n + 2 if n >= place else n) for call in self._witness[place + 1 :]
        ]
        return [self._witness[place], *later]

    def _counted(self, final: State) -> State:
        """The state with its counters as the witness left them: a change made twice counts twice."""
        right = self._branches.final
        return {**final, **{n: right[n] for n, v in final.items() if is_number(v) and n in right}}

    def _inverse(self, place: int) -> Call | None:
        """A call that takes a change back; found by trying tools on its own arguments, reply and old values."""
        candidates = list(self._candidates(place))[:TRIED]
        if not candidates:
            return None
        environment = self._branches.go_to(place + 1)
        before = self._branches.states[place]
        for call in candidates:
            reply, _, state = environment.attempt(call.tool, call.arguments)
            if environment.hung:
                return None  # a time-out each, for something that need not be there
            if succeeded(reply) and self._alike.is_back(before, state):
                return call
        return None

    def _candidates(self, place: int) -> Iterator[Call]:
        pool = values_about(self._played, place)
        made = self._played.calls[place]
        tools = [tool for tool in self._skeleton.tools if tool.mutates]

        def likeness(tool: Any) -> tuple[bool, int, str]:
            shared = len(set(tool.properties) & set(made.arguments))
            return tool.name != made.tool, -shared, tool.name

        for tool in sorted(tools, key=likeness):
            names = list(tool.properties)
            needed = tool.required
            arguments = {name: pool[name] for name in names if name in pool}
            if names and all(name in arguments for name in needed) and arguments != made.arguments:
                yield Call(tool=tool.name, arguments=arguments)

    # Other ids

    def other_ids(self) -> Iterator[Otherwise]:
        """The final state with other ids in the place of those generated."""
        names = self._alike.generated(self._branches.final)
        if names:
            renamed = self._alike.renamed(self._branches.final, names)
            shown = ", ".join(f"{old} → {new}" for old, new in list(names.items())[:MOST])
            yield Otherwise("other ids", shown, renamed)


def values_about(played: Played, place: int) -> dict[str, Json]:
    """Values by the names of arguments: of a call's reply, of the call itself, and what its changes replaced."""
    pool: dict[str, Json] = {}
    for way, value in leaves(played.replies[place]):
        if way and isinstance(way[-1], str) and not isinstance(value, dict | list):
            pool.setdefault(way[-1], value)
    pool |= played.calls[place].arguments
    for change in played.diffs[place].values():
        if isinstance(change.get("changed"), dict):
            pool |= {field: old for field, (old, _) in change["changed"].items() if old is not None}
    return pool
