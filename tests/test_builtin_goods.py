"""Rules of the patterns orders, prescriptions and shipments that no single world would break."""

from collections.abc import Iterator

import numpy as np
import pytest
from builtin import skeleton_of

from envscaler.model.builtin.build import World, world_of
from envscaler.model.builtin.pattern import Goal
from envscaler.world.environment import Environment

ORDERS = ["blood_bank", "pharmacy", "online_shop"]
PRESCRIPTIONS = ["dispensary", "vaccination_clinic", "lab_tests"]
INTOLERANT = ["dispensary", "vaccination_clinic"]


def goal_of(world: World, name: str) -> Goal:
    return next(goal for goal in world.goals if type(goal).__name__ == name)


def states(world: World, count: int) -> Iterator[tuple[dict, np.random.Generator]]:
    for rng in map(np.random.default_rng, range(count)):
        yield world.state(rng), rng


@pytest.mark.parametrize("name", ORDERS)
def test_the_scarcest_article_is_the_scarcest_of_all_not_of_those_below_their_level(name: str) -> None:
    world = world_of(name)
    v, goal = world.parts[1].v, goal_of(world_of(name), "RestockScarcest")
    posed = passed_over = 0
    for state, _ in states(world, 40):
        for category in v.categories:
            rows = [row for row in state[v.i.ids].values() if row[v.c.name] == category]
            least = min(row["stock"] for row in rows)
            scarcest = [row for row in rows if row["stock"] == least]
            try:
                (change,) = goal.outcome({"category": category, "n": 5}, state)
            except LookupError:
                passed_over += any(row["stock"] < row[v.s.reorder] for row in rows)
                assert len(scarcest) > 1 or least >= scarcest[0][v.s.reorder]
            else:
                posed += 1
                assert [row[f"{v.i.id}_id"] for row in scarcest] == [change.key]
    assert posed > 20 and passed_over > 0


@pytest.mark.parametrize("name", ORDERS)
def test_there_are_articles_of_every_category(name: str) -> None:
    world = world_of(name)
    v = world.parts[1].v
    for state, _ in states(world, 5):
        assert {row[v.c.name] for row in state[v.i.ids].values()} == set(v.categories)


@pytest.mark.parametrize("name", PRESCRIPTIONS)
def test_nothing_is_given_where_two_batches_would_do_as_well(name: str) -> None:
    world = world_of(name)
    v, goal = world.parts[1].v, goal_of(world, "Dispense")
    state, slots, outcomes = next(
        (state, slots, goal.outcome(slots, state))
        for state, rng in states(world, 20)
        if (slots := goal.draw(state, rng)) is not None
    )
    batch = next(outcome.key for outcome in outcomes if outcome.table == v.c.ids)
    twin = {**state[v.c.ids][batch], f"{v.c.id}_id": "another"}
    with pytest.raises(LookupError):
        goal.outcome(slots, {**state, v.c.ids: {**state[v.c.ids], "another": twin}})


@pytest.mark.parametrize("name", PRESCRIPTIONS)
def test_what_is_for_a_single_time_is_told_where_it_is_written_and_renewed(name: str) -> None:
    world = world_of(name)
    v = world.parts[1].v
    for tool in (f"{v.s.write}_{v.x.id}", f"renew_{v.x.id}"):
        told = " ".join(world.tools[tool].source.split('"""')[1].split())
        assert f"here {v.strictwords}" in told, tool


@pytest.mark.parametrize("name", INTOLERANT)
def test_nobody_is_given_what_stands_in_the_record_since(name: str) -> None:
    world = world_of(name)
    v = world.parts[1].v
    state = world.state(np.random.default_rng(7))
    for row in state[v.x.ids].values():
        group = state[v.i.ids][row[f"{v.i.id}_id"]][v.g.name]
        state[v.p.ids][row[f"{v.p.id}_id"]][v.s.intolerance] = group
    refused = set()
    with Environment(skeleton_of(name), state, max_steps=10_000) as environment:
        environment.reset(seed=0)
        before = environment.state
        for key, row in state[v.x.ids].items():
            group = state[v.i.ids][row[f"{v.i.id}_id"]][v.g.name]
            if state[v.p.ids][row[f"{v.p.id}_id"]][v.s.intolerance] != group:
                continue
            for batch in state[v.c.ids]:
                given = environment.call(
                    f"{v.s.dispense}_{v.x.id}", {f"{v.x.id}_id": key, f"{v.c.id}_id": batch}
                )
                refused |= {"given"} if "must not get" in given["error"] else set()
            again = environment.call(f"renew_{v.x.id}", {f"{v.x.id}_id": key, "times": 1})
            refused |= {"renewed"} if "must not get" in again["error"] else set()
        assert environment.state == before
    assert refused == {"given", "renewed"}


def test_names_of_hotels_are_told_as_they_are_entered() -> None:
    """Whoever leaves an article out would have entered another name."""
    for name in ("delayed_luggage", "freight_forwarding"):
        recipients = world_of(name).parts[1].v.s.recipients
        assert recipients and not [one for one in recipients if one.lower().startswith(("the ", "a ", "an "))]
