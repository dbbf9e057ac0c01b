"""States rebuilt: diffs undo nothing and lose nothing, and where they do not lead to the end, steps are made again."""

from typing import Any

import pytest
import worlds
from hypothesis import given
from hypothesis import strategies as st

from envscaler.episode import roll_out
from envscaler.error import ParameterError
from envscaler.schema import Rollout, Scenario, Step
from envscaler.scripted import RandomAgent, WitnessAgent
from envscaler.world.change import diff, same
from envscaler.world.environment import Environment
from envscaler.world.retrace import patched, retrace

KEYS = st.text(st.characters(codec="utf-8"), max_size=3) | st.sampled_from(["a/b", "~1", "a", "0", ""])
SCALAR = st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=2)
RECORD = st.dictionaries(KEYS, SCALAR | st.lists(SCALAR, max_size=2), max_size=3) | SCALAR
TABLE = st.dictionaries(KEYS, RECORD, max_size=4) | st.lists(RECORD, max_size=4) | SCALAR
STATE = st.dictionaries(KEYS, TABLE, max_size=4)


@given(STATE, STATE)
def test_a_state_and_a_diff_make_the_next_state(before: dict, after: dict) -> None:
    """But for fields that went away: a diff has null for them as for those that became null."""
    kept = dict(before)
    made = patched(before, diff(before, after))
    assert same(before, kept) and same(_with(made, after), after)


def _with(made: Any, wanted: Any) -> Any:
    """What was made, without nulls where nothing is wanted."""
    if isinstance(made, dict) and isinstance(wanted, dict):
        return {k: _with(v, wanted.get(k)) for k, v in made.items() if v is not None or k in wanted}
    return [_with(v, w) for v, w in zip(made, wanted, strict=True)] if isinstance(made, list) else made


@pytest.mark.parametrize(
    "change",
    [
        {"books/B-9": {"removed": {}}},
        {"books/B-9": {"changed": {"title": [1, 2]}}},
        {"books/B-1": {"changed": {"title": [1]}}},
        {"films/F-1": {"added": {}}},
        {"counter/x": {"added": 1}},
        {"books/B-1": None},
        {"log/x": {"added": 1}},
    ],
)
def test_a_change_that_does_not_fit_is_refused(change: dict) -> None:
    with pytest.raises(ParameterError, match="does not fit the state"):
        patched({**worlds.STATE, "counter": 1, "log": []}, change)


def episode(agent: Any = None, conversation: bool = False) -> tuple[Rollout, Scenario]:
    world = worlds.skeleton()
    scenario = worlds.scenario(world)
    return roll_out(world, scenario, agent or WitnessAgent(), seed=3, conversation=conversation), scenario


@pytest.mark.parametrize("agent", [WitnessAgent(), RandomAgent()])
def test_both_ways_lead_through_the_same_states(agent: Any) -> None:
    rollout, scenario = episode(agent)
    recorded = retrace(rollout, scenario, worlds.skeleton())
    assert (recorded.way, recorded.certain, len(recorded.states)) == ("diffs", True, rollout.steps + 1)
    blind = rollout.replace(trajectory=[s.model_copy(update={"diff": {}}) for s in rollout.trajectory])
    made = retrace(blind, scenario, worlds.skeleton())
    if any(step.diff for step in rollout.trajectory):
        assert made.way == "replay"
    assert made.certain and all(map(same, made.states, recorded.states))
    assert same(made.states[-1], rollout.final_state)
    with Environment(worlds.skeleton(), scenario, seed=3) as environment:
        assert same(made.states[0], environment.initial_state)


def test_without_the_world_the_diffs_have_to_do() -> None:
    rollout, scenario = episode()
    whole = scenario.replace(initial_state={**scenario.initial_state, "loans": {}, "counter": 0})
    assert retrace(rollout, whole).certain
    blind = rollout.replace(trajectory=[s.model_copy(update={"diff": {}}) for s in rollout.trajectory])
    unsure = retrace(blind, whole)
    assert not unsure.certain and same(unsure.states[-1], rollout.final_state)
    assert len(unsure.states) == rollout.steps + 1


@pytest.mark.parametrize("broken", [{"nowhere/1": {"removed": 1}}, {"books/B-1": "nonsense"}])
def test_a_broken_record_is_uncertain_and_no_error(broken: dict) -> None:
    rollout, scenario = episode()
    steps = [s.model_copy(update={"diff": broken}) for s in rollout.trajectory]
    assert retrace(rollout.replace(trajectory=steps), scenario, worlds.skeleton()).way == "replay"
    alone = retrace(rollout.replace(trajectory=steps), scenario)
    assert not alone.certain and len(alone.states) == rollout.steps + 1
    other = retrace(rollout.replace(trajectory=steps, final_state={"x": 1}), scenario, worlds.skeleton())
    assert not other.certain and other.states[-1] == {"x": 1}


def test_a_failed_episode_has_the_states_it_came_through() -> None:
    rollout, scenario = episode()
    failed = rollout.replace(
        ending="failed", cause="environment", final_state=scenario.initial_state, outcomes=[]
    )
    trace = retrace(failed, scenario, worlds.skeleton())
    assert (trace.way, trace.certain) == ("diffs", None) and not same(trace.states[-1], trace.states[0])


def test_an_episode_of_somebody_else_is_made_again() -> None:
    """It has neither diffs nor a final state, only what was called."""
    rollout, scenario = episode()
    steps = [s.model_copy(update={"diff": {}}) for s in rollout.trajectory]
    trace = retrace(rollout.replace(trajectory=steps, final_state={}), scenario, worlds.skeleton())
    assert (trace.way, trace.certain) == ("replay", None) and same(trace.states[-1], rollout.final_state)


def test_an_episode_of_no_step_has_one_state() -> None:
    rollout, scenario = episode()
    empty = rollout.replace(trajectory=[], final_state={"other": 1})
    assert len(retrace(empty, scenario, worlds.skeleton()).states) == 1


def test_actions_of_any_form_are_made_again() -> None:
    rollout, scenario = episode()
    odd = [Step(action={"role": "user", "tool_calls": "x"}, observation=None), *rollout.trajectory]
    assert len(retrace(rollout.replace(trajectory=odd), scenario, worlds.skeleton()).states) == len(odd) + 1
