"""What nobody asked for: one more call after the witness, on something else or on the same, that its tool accepts.

The arguments are drawn as for any trial (`trials.trying`), out of the state in which the witness ends. A call is kept
when it succeeds and changes a record that the witness let be. What it does to a bystander costs the reward. What it
does to something that `may_change` frees costs it only where a check looks there: rows added to a table that the
task adds to are told of and no fault, but where a whole table is freed its rows are the checks' to guard, and
`freed_tables` says which those are. A call on what the witness made or touched (`afterwards`: an undo, a second
transfer, a rebate) changes what the witness fixed, and is a wrong solution whatever `may_change` frees.

This module grades nothing (`certificate` does).
"""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from envscaler.error import EnvironmentLost
from envscaler.record import is_number
from envscaler.schema import Call, Json, Skeleton, Tool
from envscaler.world.change import Diff, State, escaped, records, unescaped
from envscaler.world.mutants.calls import mistakes
from envscaler.world.mutants.states import in_turn
from envscaler.world.mutants.values import short
from envscaler.world.proving.alike import COUNTER, Alike
from envscaler.world.proving.otherwise import values_about
from envscaler.world.proving.shape import Leaf, leaves
from envscaler.world.trials.trying import Hand, Values
from envscaler.world.witness import Branches, succeeded

UNASKED = "unasked change"
"""The kind of mutant that these are."""
AFTERWARDS = "change afterwards"
"""The kind of those on what the witness made or touched."""
MOST, TRIES = 3, 12
"""Calls that are kept at most, each of another tool, and calls that are tried for them."""


@dataclass(frozen=True)
class Unasked:
    """One call more than the task asks for."""

    call: Call
    """The call, after the last one of the witness."""
    state: State
    """The state after it."""
    elsewhere: Diff
    """What it changed where the witness changed nothing."""

    @property
    def what(self) -> str:
        """The call, in words."""
        given = ", ".join(f"{name}={short(value)}" for name, value in self.call.arguments.items())
        return f"{self.call.tool}({given}) at the end"

    def spoils(self, tables: Collection[str]) -> bool:
        """Whether it changed or took away a record of one of these tables."""
        return any(
            unescaped(where.partition("/")[0]) in tables and "added" not in change
            for where, change in self.elsewhere.items()
        )


def freed_tables(initial: State, may_change: Collection[str]) -> list[str]:
    """Tables that are free as a whole, so that the library's guard does not guard the records that they held.

    A table of nothing but numbers that is named like a counter is one.
    """
    tables = {name: records(value) for name, value in initial.items() if escaped(name) in may_change}
    return [
        name
        for name, held in tables.items()
        if held and not (COUNTER.search(name) and all(map(is_number, held.values())))
    ]


def unasked_calls(skeleton: Skeleton, branches: Branches, seed: int = 0) -> Iterator[Unasked]:
    """Calls after the last one of the witness that succeed and change something else.

    Args:
        skeleton: the world.
        branches: the witness, played and accepted.
        seed: of every choice.
    """
    if branches.given_up:
        return
    chance = random.Random(f"unasked {seed}")
    values = Values(branches.final)
    hands = [Hand(tool, values, chance) for tool in skeleton.tools if tool.mutates]
    chance.shuffle(hands)
    asked, found = _Asked(branches), 0
    try:
        environment = branches.go_to(len(branches.witness))
        for _ in range(TRIES if hands else 0):
            hand = hands.pop(0)
            call = Call(tool=hand.tool.name, arguments=hand.fresh())
            reply, changed, state = environment.attempt(call.tool, call.arguments)
            if environment.hung:
                return  # a time-out each, for something that need not be there
            elsewhere = asked.elsewhere(call, changed) if succeeded(reply) else {}
            if elsewhere:
                found += 1
                yield Unasked(call, state, elsewhere)
            else:
                hands.append(hand)
            if found == MOST or not hands:
                return
    except EnvironmentLost:
        return


def afterwards(skeleton: Skeleton, branches: Branches, alike: Alike, seed: int = 0) -> Iterator[Unasked]:
    """Calls after the last one of the witness that succeed and change a record which it made or touched.

    Args:
        skeleton: the world.
        branches: the witness, played and accepted.
        alike: says which values may be any, such as times.
        seed: of every choice.
    """
    if branches.given_up:
        return
    asked, found = _Asked(branches), 0
    try:
        environment = branches.go_to(len(branches.witness))
        for call in islice(_on_the_same(skeleton, branches, alike, seed), TRIES):
            reply, changed, state = environment.attempt(call.tool, call.arguments)
            if environment.hung:
                return
            touched = asked.again(changed, alike) if succeeded(reply) else {}
            if touched:
                found += 1
                yield Unasked(call, state, touched)
            if found == MOST:
                return
    except EnvironmentLost:
        return


def _on_the_same(skeleton: Skeleton, branches: Branches, alike: Alike, seed: int) -> Iterator[Call]:
    """Calls about what the changes of the witness were about: of each tool one, those for what was last done first."""
    chance, played = random.Random(f"afterwards {seed}"), branches.played
    values = Values(branches.final)
    places = [place for place, changed in enumerate(played.diffs) if changed][::-1]
    made = [call.model_dump(include={"tool", "arguments"}) for call in played.calls]

    def about(tool: Tool, place: int) -> Iterator[Call]:
        pool, drawn = values_about(played, place), Hand(tool, values, chance).fresh()
        if not set(tool.required) & pool.keys():
            return
        arguments = {name: pool.get(name, drawn.get(name)) for name in tool.required}
        if {"tool": tool.name, "arguments": arguments} not in made:
            yield Call(tool=tool.name, arguments=arguments)
            return
        # The same call again, with one thing in it another: an amount sooner than whom or what it is about.
        for name in sorted(arguments, key=lambda name: str(arguments[name]).casefold() in values.ids)[:2]:
            for _, other in mistakes(tool.parameters, (name,), arguments[name], alike.shape, chance)[:1]:
                yield Call(tool=tool.name, arguments={**arguments, name: other})

    tools = [tool for tool in skeleton.tools if tool.mutates]
    chance.shuffle(tools)
    yield from in_turn([about(tool, place) for place in places for tool in tools])


class _Asked:
    """What a witness did, and on what."""

    def __init__(self, branches: Branches) -> None:
        self._touched = {where for changed in branches.played.diffs for where in changed}
        self._keys = {key for value in branches.final.values() for key in records(value) or ()}
        self._meant = {key for call in branches.played.calls for key in self._named(call)}

    def _named(self, call: Call) -> set[str]:
        """The keys of records that a call names."""
        return {v for _, v in leaves(call.arguments) if isinstance(v, str) and v in self._keys}

    def again(self, changed: Diff, alike: Alike) -> Diff:
        """What was changed of records that the witness made or changed, but for values that may be any."""
        return {
            where: change
            for where, change in changed.items()
            if "/" in where and where in self._touched and not _is_loosely(where, change, alike)
        }

    def elsewhere(self, call: Call, changed: Diff) -> Diff:
        """What a call changed of records that were let be; nothing where it is all about what the witness is about."""
        named = self._named(call)
        if named and named <= self._meant:
            return {}
        return {w: change for w, change in changed.items() if "/" in w and w not in self._touched}


def _is_loosely(where: str, change: dict[str, Json], alike: Alike) -> bool:
    """Whether all that changed in a record are values that may be any."""
    name, _, key = where.partition("/")
    fields = change.get("changed")
    if not isinstance(fields, dict):
        return False
    return all(
        alike.is_loose(Leaf(unescaped(name), unescaped(key), (field, *way)))
        for field, pair in fields.items()
        for way, _ in leaves(pair[1])
    )
