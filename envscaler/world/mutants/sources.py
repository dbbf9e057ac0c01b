"""Faults planted in good environments: one method edited, so that an audit can be asked whether it notices.

The operators (`operators_…`) rest on what Python methods have in common: guards that refuse, writes into the state,
replies with a `success`. They know no environment, and they are others than those by which the built-in model errs.
Every mutant is proved by running: the same calls from the same states, of which at least one comes out differently in
a way of its kind; where none does within the budget the mutant is dropped as equivalent, and counted. That a mutant
differs says nothing about who can tell that it is wrong: that is the kind's `shown`, or a rule that it breaks.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from envscaler.error import ParameterError, SourceError
from envscaler.schema import Json, Skeleton
from envscaler.world.mutants import operators_checks as operators_checks
from envscaler.world.mutants import operators_effects as operators_effects
from envscaler.world.mutants import operators_records as operators_records
from envscaler.world.mutants.exercise import Exercise
from envscaler.world.mutants.kinds import KINDS, Difference, Kind
from envscaler.world.mutants.method import Change, Method, World, edited
from envscaler.world.tree import parse_tree

TRIES = 8
"""Places that are tried for one mutant of a kind before it is given up."""


@dataclass(frozen=True)
class Planted:
    """An environment with one fault in it."""

    skeleton: Skeleton
    """The mutant; its tools are declared as in the original, reads as reads."""
    kind: str
    """The kind of fault."""
    tool: str
    """The tool whose method has it."""
    told: str
    """The fault in words."""
    difference: Difference | None = None
    """A call that shows it; None where it was planted without running."""
    breaks_a_rule: bool = False
    """Whether an invariant of the environment was seen to be broken by it."""

    @property
    def by_execution(self) -> bool:
        """Whether execution can show it to somebody who does not know what is meant."""
        shown = KINDS[self.kind].shown
        return shown == "execution" or (shown == "rule" and self.breaks_a_rule)


class Mutants(list[Planted]):
    """Mutants of one environment, and what came of the other attempts."""

    def __init__(self) -> None:
        super().__init__()
        self.equivalent: Counter[str] = Counter()
        """Attempts a kind that no call told from the original."""
        self.no_place: Counter[str] = Counter()
        """Kinds that no method of the environment has a place for."""


def plant(skeleton: Skeleton, kind: str, rng: random.Random) -> Planted | None:
    """One mutant of a kind, whether it differs or not; None where the environment has no place for it.

    Raises:
        ParameterError: there is no such kind.
    """
    return next(_attempts(skeleton, _kind(kind), rng), None)


def mutants_of(
    skeleton: Skeleton,
    kinds: Iterable[str] | None = None,
    per_kind: int = 1,
    seed: int = 0,
    *,
    state: Mapping[str, Json] | None = None,
) -> Mutants:
    """Mutants of an environment, each proved to differ by running.

    Args:
        skeleton: a good environment.
        kinds: the kinds; None for all.
        per_kind: mutants of each kind at most.
        seed: of places and calls.
        state: where the calls begin; an empty one shows little.
    """
    exercise, made = Exercise(skeleton, state or {}, seed), Mutants()
    for name in KINDS if kinds is None else kinds:
        rng = random.Random(f"{seed} {name} {skeleton.title}")
        found, tried = 0, 0
        for attempt in _attempts(skeleton, _kind(name), rng):
            if found == per_kind or tried == TRIES * per_kind:
                break
            tried += 1
            proved = _proved(attempt, exercise)
            if proved is None:
                made.equivalent[name] += 1
            else:
                found += 1
                made.append(proved)
        made.no_place[name] += tried == 0
    made.no_place = +made.no_place
    return made


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise ParameterError(f"Expected a kind out of {', '.join(KINDS)}, got {name!r}.")
    return KINDS[name]


def _attempts(skeleton: Skeleton, kind: Kind, rng: random.Random) -> Iterator[Planted]:
    """Mutants of a kind in a random order, as many tools as there are before one gets a second."""
    world = World(skeleton.source, skeleton.class_name)
    waiting = []
    for tool in skeleton.tools:
        if tool.name in world.functions:
            changes = list(kind.operator(Method(world, tool)))
            rng.shuffle(changes)
            waiting.append((tool.name, changes))
    rng.shuffle(waiting)
    while waiting := [(tool, changes) for tool, changes in waiting if changes]:
        for name, changes in waiting:
            planted = _planted(skeleton, kind.name, name, changes.pop())
            if planted is not None:
                yield planted


def _planted(skeleton: Skeleton, kind: str, tool: str, change: Change) -> Planted | None:
    source = edited(skeleton.source, change.edits)
    try:
        parse_tree(source)
    except SourceError:
        return None
    if source == skeleton.source:
        return None
    return Planted(skeleton.replace(source=source), kind, tool, change.told)


def _proved(planted: Planted, exercise: Exercise) -> Planted | None:
    difference = exercise.difference(planted.skeleton, planted.tool, KINDS[planted.kind].proof)
    if difference is None:
        return None
    rule = KINDS[planted.kind].shown == "rule" and exercise.breaks_a_rule(planted.skeleton, planted.tool)
    return Planted(planted.skeleton, planted.kind, planted.tool, planted.told, difference, rule)
