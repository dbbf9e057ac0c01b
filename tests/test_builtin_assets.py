"""What the sentences of the pattern assets mean, in every world that follows it."""

import numpy as np
import pytest

from envscaler.model.builtin.build import World, world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.pattern import ANY_TEXT, Goal
from envscaler.model.builtin.patterns.booking import later

WORLDS = sorted(
    name for name, domain in domains().items() if any(p["pattern"] == "assets" for p in domain.parts)
)
every_world = pytest.mark.parametrize("name", WORLDS)


def goal_of(world: World, kind: str) -> Goal:
    return next(goal for goal in world.goals if type(goal).__name__ == kind)


@every_world
def test_what_is_due_first_is_so_among_those_with_a_service_planned_as_well(name: str) -> None:
    """No sentence says to pass over one that has a service planned; where that is due first, nothing is asked."""
    goal = goal_of(world_of(name), "PlanService")
    v, asked = goal.v, set()
    for seed in range(20):
        state = world_of(name).state(np.random.default_rng(seed))
        planned = {t[f"{v.a.id}_id"] for t in state[v.t.ids].values() if t["status"] == "planned"}
        for kind in v.kinds:
            rows = [a for a in state[v.a.ids].values() if a[v.kind] == kind and a["status"] != v.s.retired]
            first = [a[f"{v.a.id}_id"] for a in rows if a[v.last] == min(a[v.last] for a in rows)]
            slots = {"kind": kind, "day": later(state["today"], 5)}
            try:
                (new,) = goal.outcome(slots, state)
            except LookupError:
                assert len(first) != 1 or first[0] in planned
                asked.add(False)
            else:
                assert first == [new.fields[f"{v.a.id}_id"]] and first[0] not in planned
                asked.add(True)
    assert asked == {True, False}


@every_world
def test_the_checklist_asks_for_a_given_note_only_where_one_is_given(name: str) -> None:
    world = world_of(name)
    rng = np.random.default_rng(0)
    state = world.state(rng)
    goal = goal_of(world, "Fix")
    slots = goal.draw(state, rng)
    assert slots and goal.outcome(slots, state)[0].item.endswith("with that note?")
    assert goal.outcome({**slots, "note": ANY_TEXT}, state)[0].item.endswith("with a note?")
