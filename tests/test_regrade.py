"""A stored rollout is graded again: by any reward, by mended checks, without playing it."""

import pytest
import worlds

from envscaler import regrade
from envscaler.episode import roll_out
from envscaler.error import ParameterError
from envscaler.schema import Check
from envscaler.scripted import IdleAgent, WitnessAgent

WORLD, SCENARIO = worlds.skeleton(), worlds.scenario()
SPLIT = [*SCENARIO.checks, Check(item="Never?", source="def check_func(final_state):\n    return False")]


def test_the_reward_is_that_of_the_episode() -> None:
    played = roll_out(WORLD, SCENARIO, WitnessAgent())
    idle = roll_out(WORLD, SCENARIO, IdleAgent())
    assert (played.reward, idle.reward) == (1.0, 0.0)
    assert regrade(played, WORLD, SCENARIO) == 1.0 and regrade(idle, WORLD, SCENARIO) == 0.0
    assert (
        regrade(played, WORLD, SCENARIO, mode="strict")
        == regrade(played, WORLD, SCENARIO, mode="paper")
        == 1.0
    )


def test_other_checks_and_other_rewards() -> None:
    played = roll_out(WORLD, SCENARIO, WitnessAgent())
    other = SCENARIO.replace(checks=SPLIT)
    modes = {mode: regrade(played, WORLD, other, mode=mode) for mode in ("default", "strict", "paper")}
    assert modes == {"default": 0.5, "strict": 0.0, "paper": 0.5}
    broken = SCENARIO.replace(
        checks=[*SCENARIO.checks, Check(item="?", source="def check_func(s):\n    return s['x']")]
    )
    assert regrade(played, WORLD, broken) is None and regrade(played, WORLD, broken, mode="paper") == 0.5


def test_what_was_cut_off_or_failed() -> None:
    played = roll_out(WORLD, SCENARIO, WitnessAgent())
    cut = played.replace(ending="truncated")
    assert regrade(cut, WORLD, SCENARIO) == 1.0 and regrade(cut, WORLD, SCENARIO, mode="paper") == 0.0
    assert regrade(played.replace(ending="failed", cause="model"), WORLD, SCENARIO) is None


def test_another_world_is_refused() -> None:
    played = roll_out(WORLD, SCENARIO, WitnessAgent())
    with pytest.raises(ParameterError, match="skeleton"):
        regrade(played, worlds.tool("return 1"), SCENARIO)


@pytest.mark.parametrize("mode", ["default", "strict", "paper"])
def test_an_episode_without_its_final_state_is_refused_and_not_paid_0(mode: str) -> None:
    recorded = roll_out(WORLD, SCENARIO, WitnessAgent()).replace(final_state={})
    with pytest.raises(ParameterError, match="replay it"):
        regrade(recorded, WORLD, SCENARIO, mode=mode)
