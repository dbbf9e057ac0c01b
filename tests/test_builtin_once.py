"""What loans and records do not ask for: what can rightly be done in a second way."""

import numpy as np
import pytest

from envscaler.model.builtin.build import World, world_of
from envscaler.model.builtin.pattern import Goal
from envscaler.model.builtin.patterns.booking import later


def goal_of(world: World, name: str) -> Goal:
    return next(goal for goal in world.goals if type(goal).__name__ == name)


def test_a_copy_that_is_kept_for_a_reader_is_collected_and_not_lent_from_the_shelf() -> None:
    world = world_of("public_library")
    state = world.state(np.random.default_rng(0))
    hold = next(row for row in state["holds"].values() if row["status"] == "ready")
    reader, title = state["readers"][hold["reader_id"]], state["titles"][hold["title_id"]]
    state["loans"], title["copies_on_shelf"] = {}, 2
    slots, lend = {"name": reader["name"], "title": title["name"]}, goal_of(world, "Lend")
    with pytest.raises(LookupError, match="is kept for"):
        lend.outcome(slots, state)
    hold["status"] = "cancelled"
    assert len(lend.outcome(slots, state)) == 2


@pytest.mark.parametrize("name", ["health_diary", "fitness_tracker"])
def test_a_value_is_entered_for_a_day_that_has_none(name: str) -> None:
    world = world_of(name)
    v, state = world.parts[1].v, world.state(np.random.default_rng(0))
    today, entries = state["today"], state[v.e.ids]
    row = next(row for row in entries.values() if state[v.p.ids][row[f"{v.p.id}_id"]]["status"] == "active")
    state[v.e.ids] = {row[f"{v.e.id}_id"]: {**row, "day": later(today, -2)}}
    slots = {
        "name": state[v.p.ids][row[f"{v.p.id}_id"]]["name"],
        "measure": state[v.m.ids][row[f"{v.m.id}_id"]]["name"],
        "value": row["value"],
    }
    for goal, good, bad in (("LogValue", -3, -2), ("LogAgain", -1, -2), ("LogAgain", 0, -3)):
        assert goal_of(world, goal).outcome({**slots, "day": later(today, good)}, state)
        with pytest.raises(LookupError):
            goal_of(world, goal).outcome({**slots, "day": later(today, bad)}, state)
