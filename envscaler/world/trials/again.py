"""The same again: calls that are repeated come out the same, here, in another process, and with another seed.

A reply may hang on the state, the arguments, the clock and the seed, and on the seed only for ids it makes up. What
else it hangs on no snapshot holds, and nobody could replay the episode.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from envscaler.error import EnvironmentLost, SourceError
from envscaler.schema import Call, Finding, Json, Skeleton
from envscaler.world.change import Diff, State, same
from envscaler.world.environment import Environment
from envscaler.world.trials.exploring import Seen
from envscaler.world.trials.finding import finding

REPLAYED = 60
"""Calls that are made again to see whether they give the same."""
_SEEDS = 10
"""Other seeds that are tried, for a chance may strike rarely."""
_EACH = 5
"""Calls of a tool that are tried with another seed, and on a fresh object."""
_MADE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\b\w*[0-9a-fA-F]{6,}\w*\b|\b[A-Z][\w-]*-\w{4,}\b|\b\d{4,}\b"
)
"""Times, and ids and long numbers as programs make them up."""


class Again:
    """Makes calls again.

    Args:
        skeleton: the class.
        state: the state at reset, as it was given.
        seed: of the environment.
        options: of `Environment`.
    """

    def __init__(self, skeleton: Skeleton, state: State, seed: int, options: dict[str, Any]) -> None:
        self._skeleton, self._state, self._seed, self._options = skeleton, state, seed, options

    def repeat(self, calls: Sequence[Call]) -> Iterator[Finding]:
        """The calls in a fresh worker, and with a restore after every few of them."""
        calls = calls[:REPLAYED]
        plain, pausing = self._run(calls, every=0), self._run(calls, every=5)
        difference = self._difference(calls, plain, pausing)
        again = self._difference(calls, plain, self._run(calls, every=0))
        if again is not None:
            yield finding("not-repeatable", "error", again[0], f"{again[0]} differs in a replay.", **again[1])
        elif difference is not None:
            message = f"{difference[0]} differs after a restore: it keeps state where no snapshot sees it."
            yield finding("restore-loses", "error", difference[0], message, **difference[1])

    def _run(self, calls: Sequence[Call], *, every: int) -> tuple[list[Json], State]:
        with Environment(self._skeleton, self._state, seed=self._seed, **self._options) as environment:
            environment.reset()
            replies = []
            for place, call in enumerate(calls):
                if every and place % every == every - 1:
                    environment.restore(environment.snapshot())
                replies.append(environment.call(call.tool, call.arguments))
            return replies, environment.state

    def _difference(
        self, calls: Sequence[Call], one: tuple[list[Json], State], other: tuple[list[Json], State]
    ) -> tuple[str, dict[str, Json]] | None:
        for call, first, second in zip(calls, one[0], other[0], strict=False):
            if not same(first, second):
                return call.tool, {"call": call.model_dump(mode="json"), "first": first, "second": second}
        return None if same(one[1], other[1]) else (self._skeleton.class_name, {})

    def by_chance(self, seen: Sequence[Seen]) -> Iterator[Finding]:
        """Calls made at reset, tried with other seeds, one or two of each tool with each."""
        by_tool: dict[str, list[Seen]] = defaultdict(list)
        for one in _few_each(seen, lambda s: s.done):
            by_tool[one.call.tool].append(one)
        for turn in range(_SEEDS if by_tool else 0):
            chosen = [calls[(turn + n) % len(calls)] for calls in by_tool.values() for n in range(2)]
            seed = self._seed + 101 * (turn + 1)
            with Environment(self._skeleton, self._state, seed=seed, **self._options) as environment:
                environment.reset()
                if not same(environment.state, chosen[0].before):
                    return
                yield from self._differing(environment, chosen)

    def _differing(self, environment: Environment, chosen: Sequence[Seen]) -> Iterator[Finding]:
        for one in chosen:
            reply, changed, _ = environment.attempt(one.call.tool, one.call.arguments)
            if _text(reply, changed) != _text(one.reply, one.diff):
                message = f"{one.call.tool} does or says something else with another seed."
                told = {**one.told, "other reply": reply, "other diff": changed}
                yield finding("by-chance", "error", one.call.tool, message, **told)

    def on_fresh(self, played: Environment, seen: Sequence[Seen], made: Sequence[Call]) -> Iterator[Finding]:
        """Calls tried on an object that has come a long way, and on a fresh one in the same state.

        Those that were made are among them, for it may remember what it was asked.
        """
        few = _few_each(reversed(seen), lambda s: not s.raised and not s.lost)
        different = {str(call): call for call in [*made, *(one.call for one in few)]}
        chosen = list(different.values())
        state = played.state
        try:
            with Environment(self._skeleton, state, seed=self._seed, **self._options) as fresh:
                fresh.reset()
                fresh._live.calls, fresh._live.slept = played._live.calls, played._live.slept
                if not same(fresh.state, state):
                    return
                yield from self._compare(played, fresh, chosen)
        except (SourceError, EnvironmentLost):
            return

    def _compare(self, played: Environment, fresh: Environment, chosen: Sequence[Call]) -> Iterator[Finding]:
        for call in chosen:
            first, second = (e.attempt(call.tool, call.arguments) for e in (played, fresh))
            if not same(first[0], second[0]) or not same(first[1], second[1]):
                message = f"{call.tool} answers otherwise on a fresh object in the same state: it hangs on the past."
                told = {"call": call.model_dump(mode="json"), "played": first[0], "fresh": second[0]}
                yield finding("hidden-state", "error", call.tool, message, **told)


def _few_each(seen: Any, wanted: Callable[[Seen], bool]) -> list[Seen]:
    """A few different calls of each tool."""
    found: dict[str, dict[str, Seen]] = {}
    for one in seen:
        known = found.setdefault(one.call.tool, {})
        if wanted(one) and len(known) < _EACH:
            known.setdefault(str(one.call.arguments), one)
    return [one for known in found.values() for one in known.values()]


def _text(reply: Json, changed: Diff) -> str:
    """What a call said and did, without the ids it made up."""
    text = json.dumps([reply, changed], sort_keys=True, ensure_ascii=False)
    new = [where.partition("/")[2] for where, change in changed.items() if "added" in change and "/" in where]
    for key in sorted(filter(None, new), key=len, reverse=True):
        text = text.replace(key, "#")
    return _MADE.sub("#", text)
