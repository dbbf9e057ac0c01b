"""Which episodes are played: all of them or a balanced, seeded share, and none is lost."""

from collections import Counter

import library
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler import rollouts
from envscaler.acting.finishing import FINISH
from envscaler.agent import ToolAgent
from envscaler.error import BudgetSpent, ParameterError, SourceError
from envscaler.model.scripted import ScriptedModel
from envscaler.rollouts import plan_rollouts, roll_out_all, spread
from envscaler.schema import Call, Check, Rollout, Scenario, Skeleton
from envscaler.scripted import IdleAgent, RandomAgent, WitnessAgent

AGENTS = [IdleAgent(f"agent-{i}") for i in range(4)]


def scenarios_in(*sizes):
    return [
        Scenario(skeleton_id=f"k{e}", initial_state={"n": s}, task=f"{e}-{s}", checks=[])
        for e, size in enumerate(sizes)
        for s in range(size)
    ]


def skeletons_for(scenarios):
    """Skeletons, and the scenarios moved into them."""
    worlds = {}
    for name in sorted({s.skeleton_id for s in scenarios}):
        worlds[name] = Skeleton(
            theme_id="", title=name, summary="", class_name="X", source=name, state=[], rules=[], tools=[]
        )
    return list(worlds.values()), [s.replace(skeleton_id=worlds[s.skeleton_id].id) for s in scenarios]


@pytest.fixture
def played(monkeypatch):
    """Episodes that are over at once, and the arguments they were played with."""
    seen = []

    def play(skeleton, scenario, agent, **settings):
        seen.append((skeleton, scenario, agent, settings))
        if scenario.task == "0-0" and settings.get("seed") == 13:
            raise SourceError("Line 3 is no Python.")
        return Rollout(
            scenario_id=scenario.id,
            agent=agent.name,
            conversation=settings["conversation"],
            messages=[],
            trajectory=[],
            final_state={},
            outcomes=[],
            ending="finished",
        )

    monkeypatch.setattr(rollouts, "roll_out", play)
    monkeypatch.setattr(rollouts, "default_user", lambda seed: ScriptedModel([]))
    return seen


def test_without_a_number_every_combination_is_played(played):
    skeletons, scenarios = skeletons_for(scenarios_in(2, 1))
    made = roll_out_all(skeletons, scenarios, AGENTS, conversation="both", progress=False, seed=4)
    assert len(made) == 3 * 4 * 2 and made.failures == []
    assert len({(r.scenario_id, r.agent, r.conversation) for r in made}) == 24
    assert all(skeleton.id == scenario.skeleton_id for skeleton, scenario, _, _ in played)
    assert {settings["seed"] for *_, settings in played} == {4}


@pytest.mark.parametrize(
    ("conversation", "modes"), [(False, {False}), (True, {True}), ("both", {False, True})]
)
def test_modes(played, conversation, modes):
    skeletons, scenarios = skeletons_for(scenarios_in(2))
    made = roll_out_all(skeletons, scenarios, IdleAgent(), conversation=conversation, progress=False)
    assert {r.conversation for r in made} == modes


def test_a_scenario_without_its_skeleton_is_a_failure_and_the_others_go_on(played):
    skeletons, scenarios = skeletons_for(scenarios_in(2, 1))
    made = roll_out_all(skeletons[:1], scenarios, IdleAgent(), progress=False)
    assert len(made) == 2
    assert [(f.parent_id, f.error) for f in made.failures] == [(scenarios[2].id, "ParameterError")]


def test_an_episode_that_cannot_begin_is_a_failure_and_the_others_go_on(played):
    skeletons, scenarios = skeletons_for(scenarios_in(2))
    made = roll_out_all(skeletons, scenarios, IdleAgent(), seed=13, progress=False)
    assert len(made) == 1 and made.failures[0].error == "SourceError"
    assert made.failures[0].parent_id == scenarios[0].id


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.integers(1, 4),
    st.sampled_from([(False,), (False, True)]),
    st.integers(1, 150),
    st.integers(0, 5),
)
@settings(max_examples=80, deadline=None)
def test_a_share_is_balanced(sizes, agents, modes, n, seed):
    scenarios = scenarios_in(*sizes)
    plans = plan_rollouts(scenarios, AGENTS[:agents], modes, n=n, seed=seed)
    cells = agents * len(modes)
    assert len(plans) == min(n, len(scenarios) * cells)
    assert len({(p.id, p.agent.name, p.conversation) for p in plans}) == len(plans)
    per_cell = Counter((p.agent.name, p.conversation) for p in plans)
    if len(plans) >= cells:
        assert len(per_cell) == cells and max(per_cell.values()) - min(per_cell.values()) <= 1
    # All but one scenario are played by everybody, in every mode.
    per_scenario = Counter(p.id for p in plans)
    assert sum(count < cells for count in per_scenario.values()) <= 1
    # No environment is visited again before each of the others that still has scenarios.
    visits = Counter(p.scenario.skeleton_id for p in {p.id: p for p in plans}.values())
    for e, size in enumerate(sizes):
        assert visits[f"k{e}"] >= min(size, max(visits.values()) - 1)


def test_the_share_is_seeded():
    scenarios = scenarios_in(9, 9, 9)
    choose = lambda seed: {p.id for p in plan_rollouts(scenarios, AGENTS, n=24, seed=seed)}  # noqa: E731
    assert choose(1) == choose(1) and choose(1) != choose(2) and len(choose(1)) == 6


def test_the_odd_ones_are_not_always_the_same_agents():
    left_out = set()
    for seed in range(20):
        plans = plan_rollouts(scenarios_in(5), AGENTS, n=5, seed=seed)
        left_out.add(Counter(p.agent.name for p in plans).most_common(1)[0][0])
    assert len(left_out) > 1


def test_spreading_visits_each_environment_first():
    order = spread(scenarios_in(5, 1, 3), np.random.default_rng(0))
    assert {s.skeleton_id for s in order[:3]} == {"k0", "k1", "k2"}
    assert {s.skeleton_id for s in order[3:5]} == {"k0", "k2"}


def test_nothing_to_play_is_nothing(played):
    assert roll_out_all([], [], IdleAgent(), progress=False) == []
    assert plan_rollouts([], AGENTS, n=3) == []


@pytest.mark.parametrize("agents", [[], [IdleAgent(), IdleAgent()], [RandomAgent("x"), IdleAgent("x")]])
def test_agents_without_names_of_their_own_are_refused(agents):
    with pytest.raises(ParameterError, match="names that differ"):
        roll_out_all([], [], agents, progress=False)


def test_a_number_below_one_is_refused():
    with pytest.raises(ParameterError, match="n as a whole number"):
        plan_rollouts(scenarios_in(1), AGENTS, n=0)


def test_workers_are_what_the_models_allow(played, monkeypatch):
    asked = []
    monkeypatch.setattr(
        rollouts, "run_all", lambda *a, workers, **k: asked.append(workers) or rollouts.Records()
    )
    model = ScriptedModel([], workers=16)
    for agents in (IdleAgent(), [IdleAgent(), ToolAgent(model)]):
        roll_out_all([], [], agents)
    roll_out_all([], [], IdleAgent(), conversation=True, user=model)
    roll_out_all([], [], IdleAgent(), workers=3)
    assert asked == [2, 16, 16, 3]


class Broken:
    """An agent whose own code raises."""

    name = "broken"

    def __init__(self, error):
        self.error = error

    def act(self, messages, tools, *, seed):
        raise self.error


def test_an_agent_that_raises_costs_its_own_episodes_and_no_others():
    agents = [Broken(KeyError("x")), WitnessAgent()]
    made = roll_out_all([library.skeleton()], [library.scenario()], agents, progress=False)
    assert [(r.agent, r.ending, r.cause, r.reward) for r in made] == [
        ("broken", "failed", "agent", None),
        ("witness", "finished", "", 1.0),
    ]
    assert made.failures == [] and made[0].extra["error"].startswith("KeyError: 'x' (in act, line ")


def test_an_interrupt_inside_an_agent_keeps_what_is_done(caplog):
    scenarios = [library.scenario(task=f"{library.TASK} ({n})") for n in range(3)]
    agents = [WitnessAgent(), Broken(KeyboardInterrupt())]
    made = roll_out_all([library.skeleton()], scenarios, agents, workers=1, progress=False)
    assert [r.agent for r in made] == ["witness"] and "interrupted" in caplog.text


def test_a_spent_budget_ends_the_run_and_is_no_agents_fault():
    with pytest.raises(BudgetSpent):
        roll_out_all([library.skeleton()], [library.scenario()], Broken(BudgetSpent("no")), progress=False)


def test_finish_and_the_users_temperature_are_handed_on(played):
    skeletons, scenarios = skeletons_for(scenarios_in(1))
    roll_out_all(skeletons, scenarios, IdleAgent(), finish=True, user_temperature=0.2, progress=False)
    assert {k: played[0][3][k] for k in ("finish", "user_temperature")} == {
        "finish": True,
        "user_temperature": 0.2,
    }
    roll_out_all(skeletons, scenarios, IdleAgent(), progress=False)
    assert (played[1][3]["finish"], played[1][3]["user_temperature"]) == (False, 0.7)


def test_a_world_with_a_finish_of_its_own_is_a_failure_row_where_finish_is_asked_for():
    world = library.skeleton()
    world = world.replace(tools=[*world.tools, FINISH])
    posed = library.scenario(skeleton_id=world.id)
    made = roll_out_all([world], [posed], IdleAgent(), finish=True, progress=False)
    assert made == [] and [(f.error, f.parent_id) for f in made.failures] == [("ParameterError", posed.id)]


def test_real_episodes_go_in_parallel_and_none_is_lost():
    shelf = Scenario(
        skeleton_id=library.skeleton().id,
        initial_state=library.STATE,
        task=library.TASK,
        checks=[Check(item=item, kind=kind, source=source) for item, (kind, source) in library.ITEMS.items()],
        may_change=library.MAY_CHANGE,
        witness=[Call.model_validate(call) for call in library.WITNESS],
    )
    scenarios = [shelf.replace(task=f"{library.TASK} ({i})") for i in range(12)]
    agents = [WitnessAgent(), IdleAgent()]
    made = roll_out_all([library.skeleton()], scenarios, agents, workers=4, progress=False)
    assert [r.reward for r in made] == [1.0, 0.0] * 12
    again = roll_out_all([library.skeleton()], scenarios, agents, workers=1, progress=False)
    assert [r.id for r in made] == [r.id for r in again]
