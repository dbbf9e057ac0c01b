"""The search itself: calls that the checks suggest are tried, and those that bring a check about are made.

    propose calls → try them without making them → grade the states they lead to → make the best → again

Where no single call helps, the same call is made for every record of a group, or the one that comes nearest to what
some check wants; and the search goes back where that led nowhere. It needs no model, and it sees the state and the
answers: no agent may be shown any of this. What becomes of a witness is `searching.search`'s business.
"""

import heapq
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from envscaler.error import EnvironmentLost
from envscaler.record import canonical
from envscaler.schema import Call, Scenario, Skeleton
from envscaler.searching.hints import Hints
from envscaler.searching.proposing import Proposer
from envscaler.world.change import Diff, State, records, unescaped
from envscaler.world.check import BYSTANDERS, grade_all
from envscaler.world.environment import Environment, Snapshot
from envscaler.world.witness import play, succeeded

_EACH = (24, 60, 150)
"""Calls of one tool for one check: at first, and where that led nowhere."""
_SPREADS = 400
"""Calls to every record of a group that are tried where single calls lead nowhere."""
_REORDERED = 80
"""Orders of calls that are tried where one call undoes what another needs."""
_BRINGERS = 3
"""Calls that are remembered for having brought a check about."""
_OPEN = 6
"""Ways that are kept to come back to."""
Passed = tuple[bool | None, ...]
"""What each check says of a state; where the scenario says what may change, the guard for bystanders last."""


@dataclass(order=True)
class _Way:
    """Calls made so far, and where they lead; ways with more checks passed come first."""

    rank: tuple[float, float, int]
    order: int
    calls: list[Call] = field(compare=False)
    moment: Snapshot = field(compare=False)
    state: State = field(compare=False)
    passed: Passed = field(compare=False)


@dataclass
class _Child:
    """One call that could be made, and the state it leads to."""

    calls: list[Call]
    state: State
    changed: frozenset[str]
    records: frozenset[str] = frozenset()
    passed: Passed = ()


class Seeker:
    """One search, with its environment, its budget, and what it has seen.

    Args:
        skeleton: the world it plays in.
        scenario: its initial state, task and checks.
        budget: tool calls that may be tried.
        seed: of the environment.
    """

    def __init__(self, skeleton: Skeleton, scenario: Scenario, budget: int, seed: int) -> None:
        self._skeleton, self._scenario, self._seed = skeleton, scenario, seed
        self._environment = Environment(skeleton, scenario, seed=seed)
        self.left = self.budget = budget
        self.initial: State = {}
        self._checks = scenario.checks
        self.guarded = bool(scenario.may_change)
        self.seen: dict[str, Passed] = {}
        self.true = [False] * len(self._checks)
        self.best = 0.0
        self._hung: set[str] = set()
        self._order = itertools.count()
        self._bringers: dict[int, list[list[Call]]] = {}
        self.witness: list[Call] = []

    def __enter__(self) -> Self:
        self._environment.reset()
        self.initial, self._start = self._environment.initial_state, self._environment.snapshot()
        self.proposer = Proposer(self._skeleton, self._checks, self._scenario.task, self.initial)
        return self

    def __exit__(self, *_: object) -> None:
        self._environment.close()

    @property
    def never_together(self) -> list[tuple[int, int]]:
        """Checks that held somewhere and failed in the best state met, each with one that never held beside it."""
        count = len(self._checks)
        best = max(self.seen.values(), key=_share, default=())
        lost = [n for n in range(count) if self.true[n] and best and best[n] is not True]
        return [
            (one, other)
            for one in lost
            for other in range(count)
            if best[other] is True
            and not any(passed[one] is True and passed[other] is True for passed in self.seen.values())
        ]

    # Known calls

    def tries(self, calls: list[Call]) -> bool:
        """Whether these calls, made from the beginning, solve the scenario."""
        final = self.final(calls)
        if final is None:
            return False
        passed = self._grade([final], range(len(self._checks)))[0]
        self._note(final, passed)
        if self._solved(passed):
            self.witness = calls
        return self._solved(passed)

    def final(self, calls: list[Call]) -> State | None:
        """The state after these calls from the beginning; None where the environment is lost."""
        self._environment.restore(self._start)
        self.left -= len(calls)
        try:
            play(self._environment, calls)
        except EnvironmentLost:
            return None
        return self._environment.state

    def shortened(self, calls: list[Call]) -> list[Call]:
        """The calls without those that are not needed."""
        for place in reversed(range(len(calls))):
            fewer = [*calls[:place], *calls[place + 1 :]]
            if self.tries(fewer):
                calls = fewer
        return calls

    # Grading

    def _grade(self, states: Sequence[State], which: Iterable[int]) -> list[Passed]:
        """What the checks of these numbers say; the guard for bystanders last."""
        checks = [self._checks[number] for number in which]
        graded = grade_all(checks, self.initial, states, self._scenario.may_change)
        return [tuple(o.passed for o in row if o.item != BYSTANDERS or self.guarded) for row in graded]

    def _solved(self, passed: Passed) -> bool:
        return bool(passed) and all(one is True for one in passed)

    def _note(self, state: State, passed: Passed) -> None:
        self.seen[canonical(state)] = passed
        self.best = max(self.best, _share(passed))
        for number in range(len(self._checks)):
            self.true[number] = self.true[number] or passed[number] is True

    def _graded(self, way: _Way, children: list[_Child]) -> list[_Child]:
        """The children with what the checks say, asking only those that look at what has changed."""
        groups: dict[tuple[int, ...], list[_Child]] = {}
        for child in children:
            asked = tuple(n for n, h in enumerate(self.proposer.hints) if self._looks(h, child.changed))
            groups.setdefault(asked, []).append(child)
        for asked, group in groups.items():
            for child, said in zip(group, self._grade([c.state for c in group], asked), strict=True):
                passed = list(way.passed)
                for number, one in zip(asked, said, strict=False):
                    passed[number] = one
                if self.guarded:
                    passed[-1] = said[-1]
                child.passed = tuple(passed)
                self._note(child.state, child.passed)
                self._remember(way, child)
        return children

    def _remember(self, way: _Way, child: _Child) -> None:
        for number in range(len(self._checks)):
            if child.passed[number] is True and way.passed[number] is not True:
                known = self._bringers.setdefault(number, [])
                if len(known) < _BRINGERS and child.calls not in known:
                    known.append(child.calls)

    def _looks(self, hints: Hints, changed: frozenset[str]) -> bool:
        known = hints.states & self.initial.keys()
        return not known or bool(known & changed)

    # Search

    def look(self) -> bool:
        """Go on until the scenario is solved or the budget is used up."""
        self._environment.restore(self._start)
        first = self._way([], self._grade([self.initial], range(len(self._checks)))[0])
        self._note(first.state, first.passed)
        return self._solved(first.passed) or any(self._from(first, most) for most in _EACH)

    def _from(self, first: _Way, most: int) -> bool:
        """The best way first, until one solves the scenario or none is left."""
        ways, been = [first], set[str]()
        while ways and self.left > 0:
            way = heapq.heappop(ways)
            further = self._advance(way, most)
            if self._solved(further.passed):
                self.witness = further.calls
                return True
            for other in [further] if further is not way else self._detours(way):
                if (name := canonical(other.state)) not in been:
                    been.add(name)
                    heapq.heappush(ways, other)
            ways = heapq.nsmallest(_OPEN * 2, ways)
        return False

    def _way(self, calls: list[Call], passed: Passed) -> _Way:
        state = self._environment.state
        rank = (-_share(passed), -self._nearness(state, passed), len(calls))
        return _Way(rank, next(self._order), calls, self._environment.snapshot(), state, passed)

    def _advance(self, way: _Way, most: int) -> _Way:
        """Make calls as long as single ones bring checks about; the way itself where none does."""
        children = self._graded(way, self._children(way, self._proposals(way, most)))
        better = [child for child in children if self._gain(way, child) > 0]
        self._rest = [child for child in children if self._gain(way, child) == 0]
        while better:
            best = max(better, key=lambda child: (self._gain(way, child), -len(child.calls[0].arguments)))
            self._environment.restore(way.moment)
            for call in best.calls:
                self._environment.call(call.tool, call.arguments)
            way = self._way([*way.calls, *best.calls], best.passed)
            again = self._children(way, [child.calls[0] for child in better if child is not best])
            better = [child for child in self._graded(way, again) if self._gain(way, child) > 0]
        return way

    def _proposals(self, way: _Way, most: int) -> list[Call]:
        found: dict[str, Call] = {}
        for number, passed in enumerate(way.passed[: len(self._checks)]):
            if passed is not True:
                for call in self.proposer.propose(way.state, number, most):
                    found.setdefault(canonical(call.model_dump(mode="json")), call)
        return list(found.values())

    def _children(self, way: _Way, calls: Iterable[Call]) -> list[_Child]:
        """The different states that single calls lead to."""
        self._environment.restore(way.moment)
        found: dict[str, _Child] = {}
        for call in calls:
            if self.left <= 0:
                break
            if call.tool in self._hung:
                continue
            self.left -= 1
            reply, diff, state = self._environment.attempt(call.tool, call.arguments)
            if self._environment.hung:
                self._hung.add(call.tool)
            if diff and succeeded(reply):
                found.setdefault(canonical(diff), _Child([call], state, _tables(diff), _records(diff)))
        return list(found.values())

    def _gain(self, way: _Way, child: _Child) -> float:
        """Checks won less checks lost; a bystander that was touched outweighs everything."""
        if self.guarded and child.passed[-1] is not True:
            return -1.0
        return sum(c is True for c in child.passed) - sum(c is True for c in way.passed)

    # Where single calls lead nowhere

    def _detours(self, way: _Way) -> list[_Way]:
        """Calls to every record of a group, and the calls that come nearest to what some check wants."""
        if (other := self._reordered(way)) is not None:
            return [other]
        spread = self._graded(way, self._spread(way))
        better = [child for child in spread if self._gain(way, child) > 0]
        if better:
            best = max(better, key=lambda child: (self._gain(way, child), -len(child.calls)))
            return [self._follow(way, best)]
        near = self._nearness(way.state, way.passed)
        failing = [h for h, one in zip(self.proposer.hints, way.passed, strict=False) if one is not True]
        wanted = frozenset[str]().union(*(hints.texts for hints in failing))
        # What comes nearer goes first; then what touches a record that a failing check names, as a step on the way.
        told = [
            (near - self._nearness(child.state, way.passed), -len(child.records & wanted), place)
            for place, child in enumerate(self._rest)
        ]
        promising = [place for nearer, touching, place in sorted(told) if nearer < 0 or touching < 0]
        return [self._follow(way, self._rest[place]) for place in promising[:_OPEN]]

    def _reordered(self, way: _Way) -> _Way | None:
        """The calls with one put in earlier that brought a failing check about when it was made elsewhere."""
        plans = [
            [*way.calls[:place], *calls, *way.calls[place:]]
            for number in self._failing(way)
            for calls in self._bringers.get(number, [])
            for place in range(len(way.calls))
        ]
        made = [(p, s) for p in plans[:_REORDERED] if self.left > 0 and (s := self.final(p)) is not None]
        graded = self._grade([state for _, state in made], range(len(self._checks))) if made else []
        best = max(range(len(made)), key=lambda n: _share(graded[n]), default=None)
        if best is None or _share(graded[best]) <= _share(way.passed):
            return None
        self._note(made[best][1], graded[best])
        self.final(made[best][0])
        return self._way(made[best][0], graded[best])

    def _failing(self, way: _Way) -> list[int]:
        return [n for n, passed in enumerate(way.passed[: len(self._checks)]) if passed is not True]

    def _follow(self, way: _Way, child: _Child) -> _Way:
        self._environment.restore(way.moment)
        for call in child.calls:
            self._environment.call(call.tool, call.arguments)
        return self._way([*way.calls, *child.calls], child.passed)

    def _spread(self, way: _Way) -> list[_Child]:
        plans: dict[str, list[Call]] = {}
        for number in self._failing(way):
            for calls in self.proposer.spread(way.state, number, 2):
                plans.setdefault(canonical([c.model_dump(mode="json") for c in calls]), calls)
        found: dict[str, _Child] = {}
        for calls in list(plans.values())[:_SPREADS]:
            if self.left <= 0:
                break
            if (child := self._made(way, calls)) is not None:
                found.setdefault(canonical(child.state), child)
        return list(found.values())

    def _made(self, way: _Way, calls: list[Call]) -> _Child | None:
        """The calls one after the other, without those that are refused."""
        self._environment.restore(way.moment)
        done, changed = [], set[str]()
        for call in calls:
            self.left -= 1
            try:
                reply = self._environment.call(call.tool, call.arguments)
            except EnvironmentLost:
                return None
            if succeeded(reply) and self._environment.diff:
                done.append(call)
                changed |= _tables(self._environment.diff)
            elif not done:
                # A group whose first record refuses seldom is the right one.
                return None
        return _Child(done, self._environment.state, frozenset(changed)) if len(done) > 1 else None

    def _nearness(self, state: State, passed: Passed) -> float:
        """How much of what the failing checks want stands in one record each."""
        failing = [h for h, one in zip(self.proposer.hints, passed, strict=False) if one is not True]
        return sum(_met(hints, state) for hints in failing)


def _share(passed: Passed) -> float:
    return sum(one is True for one in passed) / len(passed) if passed else 0.0


def _met(hints: Hints, state: State) -> float:
    pairs = [(name, value) for name, value in hints.pairs if value is not None]
    if not pairs:
        return 0.0
    most = 0
    for name, table in state.items():
        if hints.states and name not in hints.states:
            continue
        for record in (records(table) or {}).values():
            if isinstance(record, dict):
                most = max(most, sum(f in record and record[f] == v for f, v in pairs))
    return most / len(pairs)


def _tables(diff: Diff) -> frozenset[str]:
    return frozenset(unescaped(where.partition("/")[0]) for where in diff)


def _records(diff: Diff) -> frozenset[str]:
    return frozenset(unescaped(where.partition("/")[2]) for where in diff)
