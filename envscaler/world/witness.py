"""Playing a witness: the tool calls that solve a task, with values that are only known while it runs.

An argument may be `{"$from": [i, path…]}`: a value out of the i-th call's reply, looked up at execution, so
that a witness holds for generated ids too. `Branches` goes back to any moment of a play and on from there in
another way, in one environment. This module executes and reports; it does not grade (`check`) or judge
(`certificate`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from envscaler.error import EnvironmentLost, ParameterError
from envscaler.record import FROM, map_references, references
from envscaler.schema import Call, Json
from envscaler.world.change import Diff, State, copied, diff, same, unescaped
from envscaler.world.environment import Environment, Snapshot
from envscaler.world.proving.shape import leaves

MOST_LOST = 4
"""Calls of branches that may hang or crash before no more branches are tried: each costs a time-out."""


@dataclass(frozen=True)
class Played:
    """What happened when a witness was played."""

    replies: list[Json]
    """One reply a call."""
    calls: list[Call]
    """The calls with their references resolved; as written where one could not be."""
    diffs: list[Diff]
    """What each call changed."""
    refused: int | None
    """Place of the first call that did not succeed; None when all did."""
    lost: int = 0
    """Calls that hung or crashed."""


def resolve(call: Call, replies: Sequence[Json]) -> Call:
    """The call with every reference replaced by the value it stands for.

    Raises:
        ParameterError: a reference leads nowhere.
    """
    put = partial(follow, replies=replies)
    return _with_arguments(call, {k: map_references(v, put) for k, v in call.arguments.items()})


def _with_arguments(call: Call, arguments: dict[str, Json]) -> Call:
    return Call(tool=call.tool, arguments=arguments, free=call.free)


def _is_way(way: Json) -> bool:
    return isinstance(way, list) and bool(way) and type(way[0]) is int


def follow(way: Json, replies: Sequence[Json]) -> Json:
    """The value a reference stands for; raises `ParameterError` when it leads nowhere."""
    if not _is_way(way):
        raise ParameterError(f"Expected {FROM} to be [number of a call, path…], got {way!r}.")
    at: Any = replies
    for place, step in enumerate(way):
        try:
            inside = at[step] if isinstance(at, dict) or (isinstance(step, int) and step >= 0) else None
        except (KeyError, IndexError, TypeError):
            inside = None
        if inside is None:
            raise ParameterError(f"The reference {way!r} leads nowhere at step {place} ({step!r}).")
        at = inside
    return copied(at)


def renumbered(call: Call, place_of: Callable[[int], int | None]) -> Call:
    """The call with its references to other calls counted anew.

    Args:
        call: as written.
        place_of: where the call of a number stands now; None where it is no longer made, and then the reference
            becomes a value that no record has.
    """

    def put(way: Json) -> Json:
        if not _is_way(way):
            return {FROM: way}
        place = place_of(way[0])
        return f"missing result of call {way[0]}" if place is None else {FROM: [place, *way[1:]]}

    return _with_arguments(call, {k: map_references(v, put) for k, v in call.arguments.items()})


def play(environment: Environment, witness: Sequence[Call], known: Sequence[Json] = ()) -> Played:
    """Make the calls of a witness in order, whatever they reply.

    Args:
        environment: where.
        witness: the calls.
        known: replies to calls made before, which references count from; they stay in the replies.
    """
    replies: list[Json] = list(known)
    calls: list[Call] = []
    diffs: list[Diff] = []
    refused: int | None = None
    lost = 0
    while len(calls) < len(witness):
        told = _told(witness[len(calls) :], replies)
        asked = [(call.tool, call.arguments) for call, wrong in told if not wrong]
        made = iter(environment.calls(asked))
        for call, wrong in told:
            reply, changed, hung = _unresolved(wrong) if wrong else next(made)
            if not succeeded(reply):
                refused = len(replies) if refused is None else refused
                lost += hung
            replies.append(reply)
            calls.append(call)
            diffs.append(changed)
    return Played(replies, calls, diffs, refused, lost)


def _told(witness: Sequence[Call], replies: Sequence[Json]) -> list[tuple[Call, str]]:
    """The next calls, resolved, and why one could not be; up to the first that refers to a reply of another of them."""
    told: list[tuple[Call, str]] = []
    for call in witness:
        ways = references(list(call.arguments.values()))
        if any(_is_way(way) and len(replies) <= way[0] < len(replies) + len(told) for way in ways):
            return told
        try:
            told.append((resolve(call, replies), ""))
        except ParameterError as error:
            told.append((call, str(error)))
    return told


def _unresolved(why: str) -> tuple[Json, Diff, bool]:
    return {"success": False, "error": why}, {}, False


def succeeded(reply: Json) -> bool:
    """Whether a reply says that its call was done."""
    return not isinstance(reply, dict) or reply.get("success") is not False


@dataclass(frozen=True)
class Branch:
    """How a play went on in another way."""

    replies: list[Json]
    """One reply a call, those before the branch included."""
    refused: int | None
    """Place of the first call after the branch that did not succeed; None when all did."""
    final: State
    """The state at the end."""
    calls: list[Call]
    """The calls from the branch on, with their references resolved."""


def _bound(call: Call) -> dict[str, Json]:
    """The arguments of a call that the task does not leave free."""
    return {name: value for name, value in call.arguments.items() if name not in call.free}


class Branches:
    """A play of a witness in an environment, and its moments, to go on from in another way.

    All states are views: they share their records, so that they are compared in no time, and are only to be read.
    """

    def __init__(self, environment: Environment, witness: Sequence[Call]) -> None:
        """Play the witness.

        Args:
            environment: where; it stays at the caller's hands, and is to be left alone meanwhile.
            witness: the calls.

        Raises:
            EnvironmentLost: the witness itself hangs or crashes it.
        """
        self.environment, self.witness = environment, list(witness)
        self.moments: list[Snapshot] = [environment.snapshot(near=True)]
        self.states: list[State] = [environment.view]
        replies: list[Json] = []
        played: list[Played] = []
        for call in self.witness:
            played.append(play(environment, [call], replies))
            replies = played[-1].replies
            self.moments.append(environment.snapshot(near=True))
            self.states.append(environment.view if played[-1].diffs[0] else self.states[-1])
        refused = [one.refused for one in played if one.refused is not None]
        calls, diffs = [one.calls[0] for one in played], [one.diffs[0] for one in played]
        self.played = Played(replies, calls, diffs, refused[0] if refused else None)
        self.lost = 0

    @property
    def final(self) -> State:
        """The state in which the witness ended."""
        return self.states[-1]

    @property
    def given_up(self) -> bool:
        """Whether no more branches are tried, for calls hung or crashed again and again."""
        return self.lost >= MOST_LOST

    def chosen_keys(self) -> set[str]:
        """Keys of added records that the adding call chose (as they are, as a slug or in parts) by what is not free."""
        found: set[str] = set()
        for call, changed in zip(self.played.calls, self.played.diffs, strict=True):
            said = {
                str(v) for name, a in call.arguments.items() if name not in call.free for _, v in leaves(a)
            }
            added = {
                unescaped(where.partition("/")[2]) for where, change in changed.items() if "added" in change
            }
            slugs = {_slug(text) for text in said}
            found |= {
                key
                for key in added
                if key in said or _slug(key) in slugs or (len(parts := _parts(key)) > 1 and parts <= said)
            }
        return found

    def go_to(self, place: int) -> Environment:
        """The environment as it was before a call of the witness."""
        self.environment.restore(self.moments[place])
        return self.environment

    def go_on(self, place: int, calls: Sequence[Call], *, astray: bool = False) -> Branch | None:
        """Play other calls than the witness has from `place` on; None where too many calls hung or crashed.

        Args:
            place: the first call that differs.
            calls: what is called from there on; references count from the witness's beginning.
            astray: whether the first of them is a wrong one, and nothing is to be played if it goes no other way:
                if it is refused, which is as if it were left out, or does what the right one does.
        """
        if self.given_up:
            return None
        try:
            environment, known = self.go_to(place), self.played.replies[:place]
            alone = 1 if astray else 0
            first = play(environment, calls[:alone], known)
            self.lost += first.lost
            if astray and (first.refused is not None or self._as_it_went(place, first, environment.view)):
                return None
            played = play(environment, calls[alone:], first.replies)
            self.lost += played.lost
            refused = played.refused if first.refused is None else first.refused
            return Branch(played.replies, refused, environment.view, [*first.calls, *played.calls])
        except EnvironmentLost:
            self.lost = MOST_LOST
            return None

    def differs_freely(self, place: int, branch: Branch) -> bool:
        """Whether after a call of the witness was exchanged all changes are as in the witness, free arguments apart.

        Then it was a choice that the task leaves open, though it was made in a call of its own, such as a look-up.
        """
        later = range(place + 1, len(self.witness))
        if len(branch.calls) != len(later) + 1 or self.played.diffs[place]:
            return False
        pairs = [(self.played.calls[n], branch.calls[n - place]) for n in later if self.played.diffs[n]]
        return all(same(_bound(mine), _bound(theirs)) for mine, theirs in pairs)

    def _as_it_went(self, place: int, first: Played, state: State) -> bool:
        """Whether another call did what the witness's call of that place does."""
        return same(first.replies[place], self.played.replies[place]) and not diff(
            self.states[place + 1], state
        )


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", text.strip()).casefold()


def _parts(key: str) -> set[str]:
    """What a key is put together of: `S3:C2` of a student and a course."""
    return {part for part in re.split(r"[^\w-]+", key) if part}
