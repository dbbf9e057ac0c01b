"""Tasks of the built-in model: sub-tasks that do not get in each other's way, and words that are left open."""

from itertools import combinations

import numpy as np
import pytest

from envscaler.error import NothingFits
from envscaler.model.builtin.build import World, world_of
from envscaler.model.builtin.checks import brought_about, check_source
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.pattern import ANY_TEXT, Added, Changed, Goal, State, call
from envscaler.model.builtin.poser import Drawn, _in_any_order, joined_plan, pose
from envscaler.model.builtin.tester import _from_goal
from envscaler.schema import Check
from envscaler.world.check import grade

WORLDS = sorted(domains())[::5]


def drawn(world: World, state: State, rng: np.random.Generator) -> list[Drawn]:
    found = []
    for goal in world.goals:
        try:
            slots = goal.draw(state, rng)
            if slots is not None:
                found.append((goal, slots, goal.outcome(slots, state)))
        except LookupError:
            continue
    return found


@pytest.mark.parametrize("name", [*WORLDS, "consultancy_timesheets", "day_care", "survey_forms", "warehouse"])
def test_a_state_that_lacks_what_a_goal_counts_on_gives_no_arguments_and_no_error(name: str) -> None:
    world = world_of(name)
    full = world.state(np.random.default_rng(0))
    tables = [key for key, rows in full.items() if isinstance(rows, dict)]
    for table in tables:
        for left in (0, 1):
            state = {**full, table: dict([*full[table].items()][:left])}
            for tool in world.tools:
                _from_goal(world, tool, state, np.random.default_rng(0))
    bare = {key: {} if key in tables else value for key, value in full.items()}
    with pytest.raises(NothingFits):
        for seed in range(20):  # a sub-task that only adds needs nothing, but a task has several
            pose(world, {**bare}, np.random.default_rng(seed))


@pytest.mark.parametrize("name", WORLDS)
def test_sub_tasks_of_a_task_ask_for_the_same_in_any_order(name: str) -> None:
    world = world_of(name)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        state = world.state(rng)
        goals = [(goal, slots) for goal, slots, _ in world.read(pose(world, state, rng))]
        for goal, slots in goals:
            others = [o for g, s in goals if (g, s) != (goal, slots) for o in g.outcome(s, state)]
            assert goal.outcome(slots, brought_about(others, state)) == goal.outcome(slots, state)


def test_a_sub_task_that_changes_who_is_least_busy_is_told_from_others() -> None:
    """Whoever is recalled to work may be the one with the least to do."""
    world, told = world_of("event_planning"), set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        state = world.state(rng)
        for one, other in combinations(drawn(world, state, rng), 2):
            told.add(
                (type(one[0]).__name__, type(other[0]).__name__, _in_any_order([one, other], state)),
            )
    pairs = {frozenset(pair[:2]) for pair in told if not pair[2]}
    assert frozenset({"Reinstate", "AssignLeastBusy"}) in pairs
    assert len(pairs) < len({frozenset(pair[:2]) for pair in told}) / 2


def free_goals() -> list[tuple[str, Goal]]:
    found: dict[str, tuple[str, Goal]] = {}
    for name in sorted(domains()):
        for goal in world_of(name).goals:
            if type(goal).__name__.endswith("InOwnWords"):
                found.setdefault(type(goal).__name__, (name, goal))
    return list(found.values())


def test_several_patterns_leave_words_open() -> None:
    assert {type(goal).__name__ for _, goal in free_goals()} >= {
        "ResolveInOwnWords", "RejectInOwnWords", "FixInOwnWords", "SuspendInOwnWords", "ReviewInOwnWords",
        "SaveInOwnWords",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "goal"), free_goals(), ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_open_words_are_marked_free_and_any_will_do(name: str, goal: Goal) -> None:
    world = world_of(name)
    states = [(world.state(rng), rng) for rng in map(np.random.default_rng, range(60))]
    found = ((state, one) for state, rng in states for one in drawn(world, state, rng) if one[0] is goal)
    state, (_, slots, outcomes) = next(found)
    (last,) = [planned for planned in goal.plan(slots) if planned.get("free")]
    (argument,) = last["free"]
    assert last["arguments"][argument].strip() and argument not in slots
    assert all(world.read(phrase.fill(slots))[0][:2] == (goal, slots) for phrase in goal.said)
    outcome = next(o for o in outcomes if any(v is ANY_TEXT for v in o.fields.values()))
    (field,) = [name for name, value in outcome.fields.items() if value is ANY_TEXT]
    check = Check(item=outcome.item, source=check_source(outcome))
    for said, paid in (
        ("Broken in transit.", True),
        ("é\n'\"", True),
        ("  ", False),
        ("", False),
        (None, False),
    ):
        final = brought_about([outcome], state)
        key = (
            outcome.key
            if isinstance(outcome, Changed)
            else next(k for k in final[outcome.table] if "new-" in k)
        )
        final[outcome.table][key] = {**final[outcome.table][key], field: said}
        passed = grade([check], state, final, [outcome.table])[0].passed
        assert passed is paid, (said, passed)


def test_a_call_with_open_words_says_so_and_others_do_not() -> None:
    assert call("note_it", text=ANY_TEXT, n=1)["free"] == ["text"]
    assert "free" not in call("note_it", text="as told")


def test_plans_joined_keep_what_is_free() -> None:
    name, goal = free_goals()[0]
    rng = np.random.default_rng(0)
    world = world_of(name)
    slots = next(s for s in (goal.draw(world.state(rng), rng) for _ in range(50)) if s is not None)
    calls = joined_plan([(goal, slots), (goal, slots)])
    assert [bool(planned.get("free")) for planned in calls].count(True) == 2


def test_what_is_brought_about_is_what_was_demanded_and_the_state_is_left_alone() -> None:
    state = {"rows": {"a": {"id": "a", "n": 1, "m": 2}}}
    after = brought_about([Changed("rows", "a", {"n": 5}, "?"), Added("rows", {"n": 7}, "?")], state)
    assert after["rows"]["a"] == {"id": "a", "n": 5, "m": 2} and len(after["rows"]) == 2
    assert state == {"rows": {"a": {"id": "a", "n": 1, "m": 2}}}


def test_the_tester_fills_references_that_stand_in_a_list() -> None:
    world = world_of("office_calendar")
    asked = []
    for seed in range(20):
        state = world.state(np.random.default_rng(seed))
        arguments = _from_goal(world, "find_common_slots", state, np.random.default_rng(seed))
        asked += [key in state["colleagues"] for key in (arguments or {}).get("colleague_ids", [])]
    assert asked and all(asked)
