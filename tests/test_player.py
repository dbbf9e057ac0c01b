"""The episode player: steps, lights, choices; failures, broken checks and missing records are shown as they are."""

from pathlib import Path
from typing import Any

import pytest
import worlds
from IPython.core.formatters import DisplayFormatter

from envscaler.episode import roll_out
from envscaler.error import ParameterError
from envscaler.release import read_environments, read_scenarios, read_trajectories
from envscaler.release.episodes import recorded_reward
from envscaler.schema import Check, Outcome, Rollout, Scenario, Step
from envscaler.scripted import IdleAgent, WitnessAgent
from envscaler.show import player as module
from envscaler.show.player import EpisodePlayer
from envscaler.world.check import reward

WORLD = worlds.skeleton()
COUNTED = "def check_func(final_state):\n    return final_state['counter'] == 1"


def scenario_of(**changes: Any) -> Scenario:
    checks = [*worlds.scenario().checks, Check(item="Was one lent?", source=COUNTED, kind="guard")]
    return worlds.scenario(WORLD, **{"checks": checks, **changes})


def played(agent: Any = None, scenario: Scenario | None = None) -> Rollout:
    return roll_out(WORLD, scenario or scenario_of(), agent or WitnessAgent(), seed=1)


@pytest.fixture
def player() -> EpisodePlayer:
    return EpisodePlayer([played(), played(IdleAgent())], [scenario_of()], [WORLD])


def passed(player: EpisodePlayer) -> list[list[bool | None]]:
    return [[outcome.passed for outcome in step] for step in player.lights_of(player.episode.value).outcomes]


def test_every_step_has_its_lights(player: EpisodePlayer) -> None:
    assert passed(player) == [
        [False, False, True],
        [False, False, True],
        [True, True, True],
        [True, True, True],
    ]
    assert list(player.lights["reward"]) == [0.0, 0.0, 1.0, 1.0] and player.lights.shape == (4, 4)
    assert player.count == 4 and player.place == 0 and "Lend Dune to Ada." in player.html()
    player.press("n")
    assert "get_member" in player.html() and "Step 1 of 3" in player.html()
    player.press("End")
    assert player.place == 3 and "Outcomes" in player.html() and "reward 1.00" in player.html()
    player.press("Home")
    assert player.place == 0


def test_an_episode_is_graded_once_and_all_its_steps_at_once(
    player: EpisodePlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    grade_all = module.grade_all
    monkeypatch.setattr(module, "grade_all", lambda c, i, s, m: asked.append(len(s)) or grade_all(c, i, s, m))
    again = EpisodePlayer([played()], [scenario_of()], [WORLD])
    for _ in range(5):
        again.next()
    again.refresh()
    assert asked == [2]  # two states that differ, in four columns


def test_episodes_are_chosen_by_agent_and_result(player: EpisodePlayer) -> None:
    player.agent.value = "idle"
    assert player.episode.value == 1 and player.rollout is not None and player.rollout.agent == "idle"
    assert "reward 0.00" in player.html()
    player.result.value = "solved"
    assert (
        player.rollout is None
        and player.count == 0
        and "Nothing fits" in player.html()
        and player.lights.empty
    )
    player.agent.value = "all"
    assert player.episode.value == 0
    assert "Lend Dune" in player.episode.options[0][0] and "solved, witness" in player.episode.options[0][0]


def test_episodes_are_chosen_by_environment() -> None:
    other = WORLD.replace(title="Other")
    there = scenario_of(skeleton_id=other.id)
    player = EpisodePlayer(
        [played(), played().replace(scenario_id=there.id)], [scenario_of(), there], [WORLD, other]
    )
    assert [label for label, _ in player.environment.options] == ["all", "Library", "Other"]
    player.environment.value = other.id
    assert player.episode.value == 1 and len(player.episode.options) == 1


def test_of_many_episodes_some_are_listed_and_all_can_be_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LISTED", 5)
    player = EpisodePlayer([played(), played(IdleAgent())] * 10, [scenario_of()], [WORLD])
    assert len(player.episode.options) == 5 and player._listed.value.startswith("5 of 20")
    for number in (19, 0, 7):
        player.play(number)
        assert set(player._lights) <= {0, 7, 19}  # no other one was graded on the way
        assert player.episode.value == number and len(player.episode.options) == 5
        assert player.rollout is not None and player.rollout.agent == ("idle" if number % 2 else "witness")
    player.agent.value = "idle"
    assert player._listed.value.startswith("5 of 10")
    player.play(2)
    assert player.agent.value == "all" and player.episode.value == 2
    for wrong in (-1, 20):
        for act in (player.play, player.lights_of):
            with pytest.raises(ParameterError, match="episode from 0 to 19"):
                act(wrong)


def test_a_failed_episode_shows_its_steps_and_no_reward() -> None:
    rollout = played()
    failed = rollout.replace(
        ending="failed", cause="environment", outcomes=[], final_state={}, extra={"error": "It hung."}
    )
    player = EpisodePlayer([failed], [scenario_of()], [WORLD])
    assert (
        passed(player)[2] == [True, True, True] and "no reward" in player.html() and "failed" in player.html()
    )
    player.go(3)
    assert "It hung." in player.html() and "reward 0" not in player.html()
    player.result.value = "no reward"
    assert player.count == 4


def test_a_broken_check_is_a_light_of_its_own() -> None:
    broken = Check(
        item="Broken?", source="def check_func(final_state):\n    return 1 / final_state['counter'] > 0"
    )
    scenario = scenario_of(checks=[broken])
    player = EpisodePlayer([played(scenario=scenario)], [scenario], [WORLD])
    assert passed(player) == [[None, True], [None, True], [True, True], [True, True]]
    assert ">?</span>" in player.html() and "division by zero" in player.html()


def test_without_scenario_or_world_there_is_less_to_see_and_no_error() -> None:
    rollout = played()
    player = EpisodePlayer([rollout])
    assert player.lights.empty and "was not given" in player.html() and player.count == 4
    # The class adds tables that the scenario's state has not; without the class the checks break at first.
    half = EpisodePlayer([rollout], [scenario_of()])
    assert len(half.lights) == 4 and passed(half)[-1] == [True, True, True]
    none = EpisodePlayer([])
    assert none.count == 0 and none.rollout is None and none.lights.empty and "Nothing fits" in none.html()
    for act in (none.play, none.lights_of, none.go):
        with pytest.raises(ParameterError, match="there is none"):
            act(0)


def test_the_last_column_is_what_was_recorded() -> None:
    rollout = played()
    other = rollout.replace(outcomes=[o.model_copy(update={"passed": False}) for o in rollout.outcomes])
    player = EpisodePlayer([other], [scenario_of()], [WORLD])
    assert passed(player)[-1] == [False, False, False] and "something else of the last state" in player.html()
    strange = rollout.replace(outcomes=[Outcome(item="else", kind="goal", passed=True)])
    assert "Other checks were recorded" in EpisodePlayer([strange], [scenario_of()], [WORLD]).html()
    published = rollout.replace(outcomes=rollout.outcomes[:-1])
    player = EpisodePlayer([published], [scenario_of()], [WORLD])
    assert passed(player)[-1] == [True, True, True] and "recorded" not in player.html()


def test_what_an_episode_of_somebody_else_changed_is_worked_out() -> None:
    rollout = played()
    steps = [step.model_copy(update={"diff": {}}) for step in rollout.trajectory]
    foreign = rollout.replace(trajectory=steps, final_state={}, outcomes=[], extra={"total_reward": 0.5})
    scenario = scenario_of(may_change=[])
    player = EpisodePlayer([foreign.replace(scenario_id=scenario.id)], [scenario], [WORLD])
    player.go(2)
    assert "loans/" in player.html() and "es-add" in player.html() and "recorded: 0.5" in player.html()
    # Nobody declared what the task may touch, so there is no guard for the rest.
    assert "bystanders" not in player.html() and passed(player)[2] == [True, True]


def test_a_conversation_shows_who_said_what() -> None:
    rollout = played()
    talk = [
        Step(action={"role": "assistant", "content": "Which book?"}, observation="Dune."),
        *rollout.trajectory,
    ]
    player = EpisodePlayer([rollout.replace(trajectory=talk, conversation=True)], [scenario_of()], [WORLD])
    player.next()
    assert "Which book?" in player.html() and "Dune." in player.html() and len(passed(player)) == 5


def test_hostile_texts_stay_text() -> None:
    evil = "<script>alert(1)</script>\0\u202e" + "x" * 30_000
    scenario = scenario_of(task=evil, checks=[Check(item=evil, source=evil)])
    action = {
        "role": evil,
        "content": evil,
        "tool_calls": [{"function": {"name": evil, "arguments": evil}}, 3, None],
    }
    rollout = Rollout(
        scenario_id=scenario.id, agent=evil, conversation=False, messages=[{"role": "user", "content": evil}, {}],
        trajectory=[Step(action=action, observation=[evil, {"content": evil}, 1], diff={evil: evil})], final_state={},
        outcomes=[Outcome(item=evil, kind="goal", passed=None, note=evil)], ending="truncated", cause=evil,
    )  # fmt: skip
    player = EpisodePlayer([rollout], [scenario], [WORLD])
    for _ in range(2):
        assert "<script" not in player.html() and "\0" not in player.html() and len(player.html()) < 400_000
        player.next()
    assert "<script" not in player._repr_html_()


def test_an_episode_without_a_step_is_shown() -> None:
    empty = played(IdleAgent()).replace(trajectory=[])
    player = EpisodePlayer([empty], [scenario_of()], [WORLD])
    assert player.count == 1 and "took no step" in player.html() and len(player.lights) == 1


def test_a_notebook_gets_the_widget_and_its_static_form(player: EpisodePlayer) -> None:
    shown, _ = DisplayFormatter().format(player)
    assert {"application/vnd.jupyter.widget-view+json", "text/html"} <= set(shown)
    assert "step 1: get_member</summary>" in shown["text/html"] and "step 3: " in shown["text/html"]


@pytest.mark.release
def test_the_last_lights_of_published_episodes_pay_what_was_paid(release: Path) -> None:
    """Their states are nowhere recorded: the calls are made again, with today's ids in the place of those of then."""
    worlds_of = read_environments(release / "env_metadata.json")
    scenarios = read_scenarios(release / "trajectory_scenarios.json", worlds_of)
    player = EpisodePlayer(
        read_trajectories(release / "trajectories.json", worlds_of, scenarios), scenarios, worlds_of
    )
    assert len(player._rollouts) == 10
    for place, rollout in enumerate(player._rollouts):
        lights = player.lights_of(place)
        assert len(lights.outcomes) == rollout.steps + 1 and "No final state" in lights.remark
        assert reward(lights.outcomes[-1], "paper") == pytest.approx(recorded_reward(rollout), abs=1e-4)
