"""Looking for a witness: is there a way to solve a scenario that comes without one?

Recorded episodes come first, then the agents one gives, then a search that reads the checks: it proposes calls
(`world.proposing`), tries them without making them, grades the states they lead to, makes the ones that bring
a check about, and goes back where that led nowhere. Every witness is played again from the beginning, shortened,
and certified. `not found within budget` is no proof that a scenario cannot be solved.

The search sees the state and the answers. It is an instrument, not an agent, and its witnesses say nothing on
how hard a scenario is. Scenarios without `may_change`, as published ones are, are solved when every check holds
(the published rule); the records their witness touches are then what the task may change.
"""

import heapq
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from envscaler.agent import Agent
from envscaler.episode import roll_out
from envscaler.error import EnvironmentLost, ParameterError
from envscaler.record import canonical, read_loosely
from envscaler.schema import Call, Certificate, Rollout, Scenario, Skeleton
from envscaler.world.certificate import certify
from envscaler.world.change import Diff, State, path, records, unescaped
from envscaler.world.check import BYSTANDERS, grade_all
from envscaler.world.environment import Environment, Snapshot
from envscaler.world.hints import Hints
from envscaler.world.proposing import Proposer
from envscaler.world.referring import with_references
from envscaler.world.witness import play, succeeded

BUDGET = 20_000
"""Tool calls that a search may try."""
_EACH = (24, 60, 150)
"""Calls of one tool for one check: at first, and where that led nowhere."""
_SPREADS = 400
"""Calls to every record of a group that are tried where single calls lead nowhere."""
_OPEN = 6
"""Ways that are kept to come back to."""
Passed = tuple[bool | None, ...]


@dataclass(frozen=True)
class Search:
    """What came of looking for a witness."""

    result: Literal["solved", "not found within budget"]
    """Whether there is a witness; the second is no proof that there is none."""
    witness: list[Call]
    """Calls that solve the scenario, shortened; empty where none was found."""
    found_by: str
    """`search`, `recorded`, or the name of the agent."""
    calls: int
    """Tool calls tried."""
    states: int
    """Different states graded."""
    best: float
    """The largest share of checks that held at once."""
    seen_true: list[bool]
    """For each check, whether it held in any state met."""
    may_change: list[str] = field(default_factory=list)
    """What the witness touches, where the scenario does not say what may be touched."""
    certificate: Certificate | None = None
    """The certificate of the scenario with its witness."""

    @property
    def solved(self) -> bool:
        """Whether there is a witness."""
        return self.result == "solved"


def search_witness(
    skeleton: Skeleton,
    scenario: Scenario,
    *,
    budget: int = BUDGET,
    agents: Sequence[Agent] = (),
    recorded: Iterable[Sequence[Call] | Rollout] = (),
    seed: int = 0,
) -> Search:
    """Look for calls that solve a scenario.

    Args:
        skeleton: the world it plays in.
        scenario: its initial state, task and checks; a witness it has counts as recorded.
        budget: tool calls that may be tried.
        agents: agents to let try first.
        recorded: calls or rollouts of earlier episodes.
        seed: of the environment and the agents.

    Raises:
        SourceError: the class cannot be loaded with the initial state.
    """
    if budget < 1:
        raise ParameterError(f"Expected a budget of at least one call, got {budget}.")
    with _Search(skeleton, scenario, budget, seed) as search:
        known = [*([scenario.witness] if scenario.witness else []), *recorded]
        for one in known:
            if search.tries(calls_of(one) if isinstance(one, Rollout) else list(one)):
                return search.found("recorded")
        for agent in agents:
            rollout = roll_out(skeleton, scenario, agent, seed=seed)
            if search.tries(calls_of(rollout)):
                return search.found(agent.name)
        return search.found("search") if search.look() else search.not_found()


def calls_of(rollout: Rollout) -> list[Call]:
    """The tool calls of an episode, in order."""
    found = []
    for step in rollout.trajectory:
        for call in step.action.get("tool_calls") or []:
            arguments = read_loosely(call["function"].get("arguments"))
            if isinstance(arguments, dict):
                found.append(Call(tool=str(call["function"].get("name")), arguments=arguments))
    return found


def with_witness(scenario: Scenario, search: Search) -> Scenario:
    """The scenario with the witness that was found, its certificate, and what the witness may touch."""
    known = {"may_change": scenario.may_change or search.may_change, "witness": search.witness}
    return scenario.model_copy(update={**known, "certificate": search.certificate})


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


class _Search:
    """One search, with its environment, its budget, and what it has seen."""

    def __init__(self, skeleton: Skeleton, scenario: Scenario, budget: int, seed: int) -> None:
        self._skeleton, self._scenario, self._seed = skeleton, scenario, seed
        self._environment = Environment(skeleton, scenario, seed=seed)
        self._left = self._budget = budget
        self._initial: State = {}
        self._checks = scenario.checks
        self._guarded = bool(scenario.may_change)
        self._seen: dict[str, Passed] = {}
        self._true = [False] * len(self._checks)
        self._best = 0.0
        self._hung: set[str] = set()
        self._order = itertools.count()
        self._witness: list[Call] = []

    def __enter__(self) -> "_Search":
        self._environment.reset()
        self._initial, self._start = self._environment.initial_state, self._environment.snapshot()
        self._proposer = Proposer(self._skeleton, self._checks, self._scenario.task, self._initial)
        return self

    def __exit__(self, *_: object) -> None:
        self._environment.close()

    # Known calls

    def tries(self, calls: list[Call]) -> bool:
        """Whether these calls, made from the beginning, solve the scenario."""
        final = self._final(calls)
        if final is None or not self._solved(self._grade([final], range(len(self._checks)))[0]):
            return False
        self._witness = calls
        return True

    def _final(self, calls: list[Call]) -> State | None:
        self._environment.restore(self._start)
        self._left -= len(calls)
        try:
            play(self._environment, calls)
        except EnvironmentLost:
            return None
        return self._environment.state

    # Results

    def found(self, by: str) -> Search:
        """What was found, shortened, with its references, and certified."""
        witness = self._shortened(self._witness)
        told = with_references(self._skeleton, self._scenario, witness, self._proposer, self._seed)
        final = self._final(told)
        if final is None or not self._solved(self._grade([final], range(len(self._checks)))[0]):
            told, final = witness, self._final(witness)
        touched = [] if self._guarded else touched_by(self._initial, final or {})
        made = self._scenario.model_copy(
            update={"witness": told, "may_change": self._scenario.may_change or touched}
        )
        certificate = certify(self._skeleton, made, seed=self._seed)
        return self._result("solved", told, by, touched, certificate)

    def not_found(self) -> Search:
        """How far it came."""
        return self._result("not found within budget", [], "", [], None)

    def _result(
        self,
        result: Literal["solved", "not found within budget"],
        witness: list[Call],
        by: str,
        touched: list[str],
        certificate: Certificate | None,
    ) -> Search:
        tried = self._budget - self._left
        told = (tried, len(self._seen), round(self._best, 4), list(self._true))
        return Search(result, witness, by, *told, touched, certificate)

    def _shortened(self, calls: list[Call]) -> list[Call]:
        """The calls without those that are not needed."""
        for place in reversed(range(len(calls))):
            fewer = [*calls[:place], *calls[place + 1 :]]
            final = self._final(fewer)
            if final is not None and self._solved(self._grade([final], range(len(self._checks)))[0]):
                calls = fewer
        return calls

    # Grading

    def _grade(self, states: Sequence[State], which: Iterable[int]) -> list[Passed]:
        """What the checks of these numbers say; the guard for bystanders last."""
        checks = [self._checks[number] for number in which]
        graded = grade_all(checks, self._initial, states, self._scenario.may_change)
        return [tuple(o.passed for o in row if o.item != BYSTANDERS or self._guarded) for row in graded]

    def _solved(self, passed: Passed) -> bool:
        return bool(passed) and all(one is True for one in passed)

    def _note(self, state: State, passed: Passed) -> None:
        self._seen[canonical(state)] = passed
        self._best = max(self._best, _share(passed))
        for number in range(len(self._checks)):
            self._true[number] = self._true[number] or passed[number] is True

    def _graded(self, way: _Way, children: list[_Child]) -> list[_Child]:
        """The children with what the checks say, asking only those that look at what has changed."""
        groups: dict[tuple[int, ...], list[_Child]] = {}
        for child in children:
            asked = tuple(n for n, h in enumerate(self._proposer.hints) if self._looks(h, child.changed))
            groups.setdefault(asked, []).append(child)
        for asked, group in groups.items():
            for child, said in zip(group, self._grade([c.state for c in group], asked), strict=True):
                passed = list(way.passed)
                for number, one in zip(asked, said, strict=False):
                    passed[number] = one
                if self._guarded:
                    passed[-1] = said[-1]
                child.passed = tuple(passed)
                self._note(child.state, child.passed)
        return children

    def _looks(self, hints: Hints, changed: frozenset[str]) -> bool:
        known = hints.states & self._initial.keys()
        return not known or bool(known & changed)

    # Search

    def look(self) -> bool:
        """Go on until the scenario is solved or the budget is used up."""
        self._environment.restore(self._start)
        first = self._way([], self._grade([self._initial], range(len(self._checks)))[0])
        self._note(first.state, first.passed)
        return self._solved(first.passed) or any(self._from(first, most) for most in _EACH)

    def _from(self, first: _Way, most: int) -> bool:
        """The best way first, until one solves the scenario or none is left."""
        ways, been = [first], set[str]()
        while ways and self._left > 0:
            way = heapq.heappop(ways)
            further = self._advance(way, most)
            if self._solved(further.passed):
                self._witness = further.calls
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
                for call in self._proposer.propose(way.state, number, most):
                    found.setdefault(canonical(call.model_dump(mode="json")), call)
        return list(found.values())

    def _children(self, way: _Way, calls: Iterable[Call]) -> list[_Child]:
        """The different states that single calls lead to."""
        self._environment.restore(way.moment)
        found: dict[str, _Child] = {}
        for call in calls:
            if self._left <= 0:
                break
            if call.tool in self._hung:
                continue
            self._left -= 1
            reply, diff, state = self._environment.attempt(call.tool, call.arguments)
            if any(fault["kind"] != "raised" for fault in self._environment.faults):
                self._hung.add(call.tool)
            if diff and succeeded(reply):
                found.setdefault(canonical(diff), _Child([call], state, _tables(diff), _records(diff)))
        return list(found.values())

    def _gain(self, way: _Way, child: _Child) -> float:
        """Checks won less checks lost; a bystander that was touched outweighs everything."""
        if self._guarded and child.passed[-1] is not True:
            return -1.0
        return sum(c is True for c in child.passed) - sum(c is True for c in way.passed)

    # Where single calls lead nowhere

    def _detours(self, way: _Way) -> list[_Way]:
        """Calls to every record of a group, and the calls that come nearest to what some check wants."""
        spread = self._graded(way, self._spread(way))
        better = [child for child in spread if self._gain(way, child) > 0]
        if better:
            best = max(better, key=lambda child: (self._gain(way, child), -len(child.calls)))
            return [self._follow(way, best)]
        near = self._nearness(way.state, way.passed)
        failing = [h for h, one in zip(self._proposer.hints, way.passed, strict=False) if one is not True]
        wanted = frozenset[str]().union(*(hints.texts for hints in failing))
        # What comes nearer goes first; then what touches a record that a failing check names, as a step on the way.
        told = [
            (near - self._nearness(child.state, way.passed), -len(child.records & wanted), place)
            for place, child in enumerate(self._rest)
        ]
        promising = [place for nearer, touching, place in sorted(told) if nearer < 0 or touching < 0]
        return [self._follow(way, self._rest[place]) for place in promising[:_OPEN]]

    def _follow(self, way: _Way, child: _Child) -> _Way:
        self._environment.restore(way.moment)
        for call in child.calls:
            self._environment.call(call.tool, call.arguments)
        return self._way([*way.calls, *child.calls], child.passed)

    def _spread(self, way: _Way) -> list[_Child]:
        failing = [n for n, passed in enumerate(way.passed[: len(self._checks)]) if passed is not True]
        plans: dict[str, list[Call]] = {}
        for number in failing:
            for calls in self._proposer.spread(way.state, number, 2):
                plans.setdefault(canonical([c.model_dump(mode="json") for c in calls]), calls)
        found: dict[str, _Child] = {}
        for calls in list(plans.values())[:_SPREADS]:
            if self._left <= 0:
                break
            if (child := self._made(way, calls)) is not None:
                found.setdefault(canonical(child.state), child)
        return list(found.values())

    def _made(self, way: _Way, calls: list[Call]) -> _Child | None:
        """The calls one after the other, without those that are refused."""
        self._environment.restore(way.moment)
        done, changed = [], set[str]()
        for call in calls:
            self._left -= 1
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
        failing = [h for h, one in zip(self._proposer.hints, passed, strict=False) if one is not True]
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


def touched_by(initial: State, final: State) -> list[str]:
    """What a solution touches, as `may_change` names it: records, rows added, and whole attributes."""
    found: list[str] = []
    for name in sorted({*initial, *final}):
        before, after = initial.get(name), final.get(name)
        if before == after:
            continue
        if not isinstance(before, dict) or not isinstance(after, dict):
            found.append(path(name, "").removesuffix("/"))
            continue
        found += [path(name, key) for key in before if key not in after or before[key] != after[key]]
        found += [path(name, "") + "+"] if after.keys() - before.keys() else []
    return found
