"""Grading a stored rollout again: by another reward, or by checks that were mended since; nothing is played again.

The final state is in the rollout. The state at reset has what the class adds of itself to the scenario's, so the
class is loaded once; no tool is called. For the single outcomes there are `check.grade` and `check.reward`.
"""

from typing import Any

from envscaler.error import ParameterError
from envscaler.schema import Rollout, Scenario, Skeleton
from envscaler.world.check import RewardMode, grade, reward
from envscaler.world.environment import Environment


def regrade(
    rollout: Rollout, skeleton: Skeleton, scenario: Scenario, *, mode: RewardMode = "default", **options: Any
) -> float | None:
    """What a stored rollout earns by the checks of a scenario, and by any reward.

    Args:
        rollout: what was played.
        skeleton: the world it was played in.
        scenario: gives the checks and what may change; its state must be the one that was played in.
        mode: as in `check.reward`; `strict` runs each check in a worker of its own.
        options: of `grade`, e.g. `timeout` and `isolation`.

    Returns:
        None where the infrastructure failed, there is nothing to pay for, or (but for `paper`) a check broke.

    Raises:
        ParameterError: the skeleton is not the one of the scenario, or the rollout has no final state.
    """
    if scenario.skeleton_id != skeleton.id:
        raise ParameterError(
            f"Expected the skeleton {scenario.skeleton_id} of the scenario, got {skeleton.id}."
        )
    if rollout.ending == "failed":
        return None
    if mode == "paper" and rollout.ending == "truncated":
        return 0.0
    with Environment(skeleton, scenario, seed=rollout.seed) as environment:
        initial = environment.initial_state
    if initial and not rollout.final_state:
        raise ParameterError(
            "Expected an episode that has its final state, got one without, as episodes of others are; replay it."
        )
    final, may_change = rollout.final_state, scenario.may_change
    return reward(grade(scenario.checks, initial, final, may_change, apart=mode == "strict", **options), mode)
