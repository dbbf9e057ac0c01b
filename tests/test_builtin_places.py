"""Worlds with places to be had, on classes and on days off: what their certificates cannot see."""

from typing import Any

import numpy as np
import pytest
from builtin import skeleton_of

from envscaler.model.builtin.build import world_of
from envscaler.world.check import broken_invariants
from envscaler.world.environment import Environment


def goal_of(name: str, kind: str) -> Any:
    return next(goal for goal in world_of(name).goals if type(goal).__name__ == kind)


@pytest.mark.parametrize("name", ["gym", "music_school", "university"])
def test_nobody_begins_with_two_classes_at_one_time(name: str) -> None:
    rules, world = skeleton_of(name).rules, world_of(name)
    for seed in range(120):
        state = world.state(np.random.default_rng(seed))
        assert [found.message for found in broken_invariants(rules, state, state, None)] == [], seed


def test_a_class_of_today_is_not_asked_for_as_the_next_one() -> None:
    """It may have begun by the clock."""
    goal, found = goal_of("gym", "EnrolSoonest"), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        state = world_of("gym").state(rng)
        slots = goal.draw(state, rng)
        if slots is not None:
            key = goal.soonest(slots, state)
            state["fitness_classes"][key]["starts_on"] = state["today"]
            with pytest.raises(LookupError):
                goal.soonest(slots, state)
            found += 1
    assert found


def test_moving_leave_to_its_own_days_is_neither_asked_for_nor_done() -> None:
    goal, found = goal_of("employee_leave", "Move"), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        state = world_of("employee_leave").state(rng)
        slots = goal.draw(state, rng)
        try:
            request = goal.request(slots, state)
        except LookupError:
            continue
        same = {"first": request["first_day"], "last": request["last_day"]}
        with pytest.raises(LookupError):
            goal.outcome({**slots, **same}, state)
        with Environment(skeleton_of("employee_leave"), state) as environment:
            environment.reset(seed=0)
            days = {name: request[name] for name in ("leave_request_id", "first_day", "last_day")}
            assert environment.call("move_leave_request", days)["success"] is False
        found += 1
    assert found


def test_pending_leave_is_never_more_than_is_left() -> None:
    for seed in range(120):
        state = world_of("employee_leave").state(np.random.default_rng(seed))
        for key, balance in state["leave_balances"].items():
            pending = [
                row["days"]
                for row in state["leave_requests"].values()
                if row["leave_balance_id"] == key and row["status"] == "pending"
            ]
            assert sum(pending) <= balance["entitled"] - balance["taken"], seed
