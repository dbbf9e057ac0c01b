"""Calls that find out whether a mutant differs from its original: seeded, from live states, most of them of one tool.

Arguments come from one record where several belong together, and from the values that the code compares them with.
They are drawn in another way than the referee's, lest only such faults count as the referee would find. What they do
not reach is not known to differ.
"""

import ast
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from envscaler.error import EnvironmentLost, SourceError
from envscaler.record import is_number
from envscaler.schema import Call, Json, Skeleton, Tool
from envscaler.world.change import State, records, same
from envscaler.world.check import all_broken_invariants
from envscaler.world.environment import Environment
from envscaler.world.mutants.kinds import Difference
from envscaler.world.tree import find_class, functions, parse_tree
from envscaler.world.trials.trying import Values, arguments, is_id

RUNS, LENGTH = 8, 50
"""Runs from the initial state, and calls in each; three in five are calls of the tool that is looked at."""
_LOOK_AGAIN = 5
"""Calls after which the values to choose from are read off the state anew."""


@dataclass(frozen=True)
class Seen:
    """What a call was seen to do."""

    reply: Json
    """The reply."""
    diff: dict[str, Json]
    """What it changed."""
    raised: bool
    """Whether it raised, hung or crashed."""


@dataclass(frozen=True)
class Run:
    """Calls from the initial state on, and what the original did with them."""

    seed: int
    """Seed of the environment."""
    calls: list[Call]
    """The calls."""
    seen: list[Seen]
    """What each of them did."""


class Exercise:
    """One environment's calls and what the original does with them, kept for all mutants of a tool."""

    def __init__(self, skeleton: Skeleton, state: Mapping[str, Json], seed: int = 0) -> None:
        self.skeleton, self.state, self.seed = skeleton, dict(state), seed
        self._constants = _compared(skeleton)
        self._runs: dict[str, list[Run]] = {}
        self._broken: dict[str, set[str]] = {}

    def runs(self, tool: str) -> list[Run]:
        """The calls made to look at a tool, with what the original did."""
        if tool not in self._runs:
            self._runs[tool] = [self._run(tool, number) for number in range(RUNS)]
        return self._runs[tool]

    def difference(
        self, mutant: Skeleton, tool: str, proof: Callable[[Difference], bool]
    ) -> Difference | None:
        """The first call at which a mutant of a tool differs in a way that counts; None if there is none."""
        for run in self.runs(tool):
            for call, expected, got in zip(run.calls, run.seen, self._again(mutant, run), strict=False):
                if _alike(expected, got):
                    continue
                found = Difference(call, expected.reply, expected.diff, got.reply, got.diff, got.raised)
                if proof(found):
                    return found
                if not same(expected.diff, got.diff):
                    break  # the states have gone apart: what differs later may be due to this call
        return None

    def breaks_a_rule(self, mutant: Skeleton, tool: str) -> bool:
        """Whether a call of a mutant breaks an invariant that the original keeps in the same runs."""
        if not any(rule.invariant for rule in self.skeleton.rules):
            return False
        if tool not in self._broken:
            self._broken[tool] = self._rules_broken(self.skeleton, tool)
        return bool(self._rules_broken(mutant, tool) - self._broken[tool])

    def _rules_broken(self, skeleton: Skeleton, tool: str) -> set[str]:
        changes: list[tuple[State | None, State, dict[str, Json]]] = []
        for run in self.runs(tool):
            before: State = {}
            for call, seen, after in self._states(skeleton, run):
                if call.tool == tool and seen.diff:
                    changes.append((before, after, {**call.model_dump(mode="json"), "reply": seen.reply}))
                before = after
        found = all_broken_invariants(self.skeleton.rules, changes)
        return {f.message for findings in found for f in findings if f.kind == "invariant"}

    # Runs

    def _run(self, tool: str, number: int) -> Run:
        chance = random.Random(f"{self.seed} {tool} {number}")
        others = [other for other in self.skeleton.tools if other.name != tool]
        aimed = [other for other in self.skeleton.tools if other.name == tool]
        run, state, values = Run(self.seed + number, [], []), dict[str, Json](), Values({})
        with Environment(self.skeleton, self.state, seed=run.seed) as environment:
            environment.reset()
            for place in range(LENGTH):
                if place % _LOOK_AGAIN == 0:
                    state = environment.state
                    values = Values(state)
                chosen = chance.choice(aimed if chance.random() < 0.6 or not others else others)
                call = Call(tool=chosen.name, arguments=self._arguments(chosen, state, values, chance))
                run.calls.append(call)
                run.seen.append(_seen(environment, call))
        return run

    def _again(self, skeleton: Skeleton, run: Run) -> Iterator[Seen]:
        """What another version of the class does with the same calls, until it does not load or is given up."""
        return (seen for _, seen, _ in self._states(skeleton, run, states=False))

    def _states(
        self, skeleton: Skeleton, run: Run, *, states: bool = True
    ) -> Iterator[tuple[Call, Seen, State]]:
        try:
            with Environment(skeleton, self.state, seed=run.seed) as environment:
                environment.reset()
                for call in run.calls:
                    seen = _seen(environment, call)
                    yield call, seen, environment.state if states else {}
        except (SourceError, EnvironmentLost):
            return

    # Arguments

    def _arguments(self, tool: Tool, state: State, values: Values, chance: random.Random) -> dict[str, Json]:
        given = arguments(tool, values, chance)
        if chance.random() < 0.75:
            given |= _of_one_record(given, state, values, chance)
        schemas = tool.properties
        for name, value in given.items():
            known = self._constants.get((tool.name, name), [])
            kind = schemas[name].get("type") if isinstance(schemas.get(name), dict) else None
            if known and kind == "string" and not is_id(name) and chance.random() < 0.6:
                given[name] = chance.choice(known)
            elif kind in ("integer", "number") and not isinstance(value, bool) and chance.random() < 0.5:
                given[name] = _number(values, name, chance, whole=kind == "integer")
        return given


def _seen(environment: Environment, call: Call) -> Seen:
    reply = environment.call(call.tool, call.arguments)
    return Seen(reply, environment.diff, bool(environment.faults))


def _alike(one: Seen, other: Seen) -> bool:
    return one.raised is other.raised and same(one.reply, other.reply) and same(one.diff, other.diff)


def _of_one_record(
    given: dict[str, Json], state: State, values: Values, chance: random.Random
) -> dict[str, Json]:
    """Values for several arguments that one record holds together, its own key among them."""
    ids = [name for name in given if is_id(name)]
    tables = [t for name in ids for t in values.tables_like(name)] or [
        name for name in state if records(state[name])
    ]
    rows = records(state.get(chance.choice(tables))) if tables else None
    if not rows:
        return {}
    key = chance.choice(list(rows))
    row = rows[key] if isinstance(rows[key], dict) else {}
    found: dict[str, Json] = {name: row[name] for name in given if isinstance(row, dict) and name in row}
    for name in ids:
        if name not in found and any(
            state.get(t) is not None and key in values.keys[t] for t in values.tables_like(name)
        ):
            found[name] = key
    return {name: value for name, value in found.items() if value is not None}


def _number(values: Values, name: str, chance: random.Random, *, whole: bool) -> float:
    """A number of the state, or near one: of the field of this name where there is one."""
    near = [v for v in values.by_field.get(name, []) if is_number(v)]
    pool = near or [v for field in values.by_field.values() for v in field if is_number(v)] or [10]
    number = chance.choice(pool) + chance.choice((-1, 0, 0, 1))
    return int(number) if whole else number


def _compared(skeleton: Skeleton) -> dict[tuple[str, str], list[str]]:
    """The texts that the code of each tool compares an argument with, directly or in a container."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for function in functions(find_class(parse_tree(skeleton.source), skeleton.class_name)):
        bound = {
            part.targets[0].id: part.value
            for part in ast.walk(function)
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
        }
        for node in ast.walk(function):
            if not isinstance(node, ast.Compare):
                continue
            sides = [node.left, *node.comparators]
            sides += [bound[s.id] for s in sides if isinstance(s, ast.Name) and s.id in bound]
            parts = [part for side in sides for part in ast.walk(side)]
            texts = [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
            for name in {p.id for p in parts if isinstance(p, ast.Name)}:
                found[function.name, name] += [
                    text for text in texts if text not in found[function.name, name]
                ]
    return found
