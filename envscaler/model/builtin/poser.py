"""The stand-in as author of scenarios: its answers to the steps `scenarios/*` and to `audits/initial_state`.

A task is an opening and three to six sentences, each a sub-task drawn so that the state allows it and no
two concern the same record. Checklist, checks and witness are made from the state and the sentences of the
task, which are read back: nothing is remembered from one step to the next. The stand-in executes nothing;
that the witness works is proved elsewhere.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from envscaler.error import NothingFits
from envscaler.model.builtin.author import fenced
from envscaler.model.builtin.build import World
from envscaler.model.builtin.checks import (
    brought_about,
    check_source,
    guard_item,
    guard_source,
    may_change,
    touched,
)
from envscaler.model.builtin.domain import draw_wording
from envscaler.model.builtin.pattern import NOT_THERE, Added, Goal, Outcome, Rng, State, pick, shuffled
from envscaler.model.builtin.phrase import Slots
from envscaler.model.builtin.recall import need, read, world_with
from envscaler.record import FROM, map_references, references

Blocks = Mapping[str, str]
Drawn = tuple[Goal, Slots, list[Outcome]]

LEAST_CALLS, LEAST_WRITES, LEAST_LOOK_UPS, LEAST_WORDS, MOST_GOALS = 8, 3, 3, 52, 6
TRIES = 12
OPENINGS = (
    "{Hello|Hi|Good morning}, I have a {short|small} list of things that need to be {done|taken care of} today.",
    "{Hi|Hello}, could you {help me with|look after} a few {things|matters} in our records, please.",
    "I need {some help|a hand} with the following {matters|points}, please do all of them.",
)
LEADS = ("", "", "", "Then ", "Also, ", "After that, ", "Next, ", "Besides, ")


def state(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """Rows for every table of the world."""
    words = f"{need(blocks, 'title')}. {need(blocks, 'summary')}"
    return world_with(words, need(blocks, "class_source") + need(blocks, "entities")).state(rng)


def task(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """A task of several sub-tasks that this state allows."""
    world = world_with(need(blocks, "summary"), need(blocks, "entities") + need(blocks, "tools"))
    return {"task": pose(world, read(blocks, "state"), rng)}


def pose(world: World, given: State, rng: Rng) -> str:
    """A task of this world in this state; raises `NothingFits` when none is found."""
    for _ in range(TRIES):
        drawn = _draw(world, given, rng)
        text = _compose(world, drawn, rng) if drawn else ""
        if text and [(goal, slots) for goal, slots, _ in world.read(text)] == [(g, s) for g, s, _ in drawn]:
            return text
    raise NothingFits(f"The built-in model found no task in this state of {world.domain.name}.")


def checklist(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """A question for every demand of the task, guards against additions, and what may change."""
    items, marks = _graded(blocks)
    return {"items": [{"item": i, "kind": kind} for i, (kind, _) in items.items()], "may_change": marks}


def check(blocks: Blocks, rng: Rng, fault_rate: float) -> str:
    """The check function of one of those questions."""
    items, _ = _graded(blocks)
    wanted = need(blocks, "item").strip()
    if wanted not in items:
        raise NothingFits(f"The built-in model would not ask {wanted!r} of this task.")
    return fenced(items[wanted][1])


def witness(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """The calls that do what the sentences of the task say."""
    world = world_with(need(blocks, "summary"), need(blocks, "tools") + need(blocks, "state"))
    goals = [(goal, slots) for goal, slots, _ in world.read(need(blocks, "task"))]
    if not goals:
        raise NothingFits("The built-in model understands no sentence of this task.")
    return {"calls": joined_plan(goals)}


def joined_plan(goals: list[tuple[Goal, Slots]]) -> list[dict[str, Any]]:
    """The plans of several goals after one another, their references counted on."""
    calls: list[dict[str, Any]] = []
    for goal, slots in goals:
        first = len(calls)
        calls += [_shifted(call, first) for call in goal.plan(slots)]
    return calls


def _shifted(call: dict[str, Any], by: int) -> dict[str, Any]:
    shifted: dict[str, Any] = map_references(call, lambda way: {FROM: [way[0] + by, *way[1:]]})
    return shifted


def _graded(blocks: Blocks) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Question → kind and check source, and what may change, from the state and the task as it reads."""
    world = world_with(need(blocks, "summary"), need(blocks, "state"))
    given = read(blocks, "state")
    outcomes: list[Outcome] = []
    for goal, slots, sentence in world.read(need(blocks, "task")):
        try:
            outcomes += goal.outcome(slots, given)
        except NOT_THERE as error:
            raise NothingFits(f"The built-in model sees no way to do {sentence!r}: {error}.") from error
    if not outcomes:
        raise NothingFits("The built-in model understands no sentence of this task.")
    alike = Counter(check_source(outcome) for outcome in outcomes)
    items = {o.item: ("goal", check_source(o, alike[check_source(o)])) for o in outcomes}
    rows = Counter(outcome.table for outcome in outcomes if isinstance(outcome, Added))
    items |= {guard_item(table, n): ("guard", guard_source(table, n)) for table, n in rows.items()}
    return items, may_change(outcomes)


def _draw(world: World, given: State, rng: Rng) -> list[Drawn]:
    """Sub-tasks that concern different records and together make enough calls; empty when there are too few."""
    drawn: list[Drawn] = []
    used: set[str] = set()
    for goal in [*shuffled(rng, world.goals), *shuffled(rng, world.goals), *shuffled(rng, world.goals)]:
        again = any(type(other) is type(goal) for other, _, _ in drawn)
        if rng.random() > goal.weight * (0.5 if again else 1):
            continue
        one = _try(goal, given, rng)
        if one is None or touched(one[2]) & used:
            continue
        if not _in_any_order([*drawn, one], given):
            continue
        drawn.append(one)
        used |= touched(one[2])
        if len(drawn) >= 3 and _enough(world, drawn):
            return drawn
        if len(drawn) == MOST_GOALS:
            break
    return []


def _in_any_order(drawn: list[Drawn], given: State) -> bool:
    """Whether each sub-task asks for the same when the others have been done before it."""
    for one in drawn:
        others = [outcome for other in drawn if other is not one for outcome in other[2]]
        goal, slots, wanted = one
        try:
            if others and goal.outcome(slots, brought_about(others, given)) != wanted:
                return False
        except NOT_THERE:
            return False
    return True


def _try(goal: Goal, given: State, rng: Rng) -> Drawn | None:
    for _ in range(4):
        try:
            slots = goal.draw(given, rng)
            if slots is not None:
                return goal, slots, goal.outcome(slots, given)
        except NOT_THERE:
            continue
    return None


def _enough(world: World, drawn: list[Drawn]) -> bool:
    calls = joined_plan([(goal, slots) for goal, slots, _ in drawn])
    writes = sum(world.tools[call["tool"]].mutates for call in calls)
    used = {way[0] for way in references(calls)}
    words = sum(len(goal.said[0].fill(slots).split()) for goal, slots, _ in drawn)
    looked = sum(not world.tools[calls[i]["tool"]].mutates for i in used)
    return (
        len(calls) >= LEAST_CALLS
        and writes >= LEAST_WRITES
        and looked >= LEAST_LOOK_UPS
        and words >= LEAST_WORDS
    )


def _compose(world: World, drawn: list[Drawn], rng: Rng) -> str:
    sentences = [draw_wording(pick(rng, world.domain.openings or OPENINGS), rng)]
    for number, (goal, slots, _) in enumerate(drawn):
        phrase = pick(rng, goal.said)
        try:
            said = phrase.fill(slots)
        except ValueError:
            return ""
        lead = pick(rng, LEADS) if number else ""
        plain = phrase.template[0] != "{" and not phrase.template.startswith("I ")
        sentences.append(lead + (said[0].lower() + said[1:] if lead and plain else said))
    return " ".join(sentences)
