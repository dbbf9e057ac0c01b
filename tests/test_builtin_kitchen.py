"""The take-away world: an evening in times of day, and what kitchen, riders, zones and allergies rule out."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from builtin import skeleton_of

from envscaler.error import NothingFits
from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.pattern import Goal, State
from envscaler.model.builtin.patterns.appointments import minutes
from envscaler.model.builtin.patterns.takeaway import HERE, OPEN, goods, now, portions
from envscaler.model.builtin.poser import pose
from envscaler.world.environment import Environment

WORLD = world_of("food_delivery")
V = WORLD.parts[1].v


def states(count: int) -> Iterator[tuple[State, np.random.Generator]]:
    for rng in map(np.random.default_rng, range(count)):
        yield WORLD.state(rng), rng


def goal_of(name: str) -> Goal:
    return next(goal for goal in WORLD.goals if type(goal).__name__ == name)


def orders(state: State, *stages: str, **fields: str) -> list[dict]:
    rows = [row for row in state["orders"].values() if row["stage"] in stages]
    return [row for row in rows if all(row[name] == value for name, value in fields.items())]


def test_open_orders_are_of_the_last_hour_and_finished_ones_may_be_older() -> None:
    for state, _ in states(60):
        for order in orders(state, *OPEN):
            assert order["placed_on"] == state["today"]
            assert 0 <= now(state) - minutes(order["placed_at"]) < 60
            assert now(state) - minutes(order["promised_at"]) < 20
        assert {row["placed_on"] for row in state["orders"].values()} == {state["today"], "2025-03-09"}
        for order in state["orders"].values():
            times = [order[name] for name in ("placed_at", "out_at", "done_at") if order[name]]
            assert times == sorted(times) and times[0] >= V.s.opens
            assert bool(order["done_at"]) == (order["stage"] in ("delivered", "collected"))


def test_guests_riders_and_zones_go_with_the_orders() -> None:
    for state, _ in states(60):
        closed = {row["name"] for row in state["zones"].values() if not row["is_open"]}
        assert not [row for row in orders(state, *OPEN) if row["zone"] in closed]
        today = [row["guest_id"] for row in state["orders"].values() if row["placed_on"] == state["today"]]
        assert max(Counter(today).values()) == 1
        for order in state["orders"].values():
            guest = state["guests"][order["guest_id"]]
            assert order["zone"] == (guest["zone"] if order["mode"] == "delivery" else "")
            contents = {a for one in order["lines"] for a in state["dishes"][one["dish_id"]]["contains"]}
            assert guest["allergy"] not in contents
            assert (order["rider_id"] is not None) == (order["stage"] in ("on the road", "delivered"))
        for guest in state["guests"].values():
            assert any(guest["address"].endswith(street) for street in V.s.zones[guest["zone"]].streets)
        for key, rider in state["riders"].items():
            bag = orders(state, "on the road", rider_id=key)
            assert (rider["status"] == "out") == bool(bag) and portions(bag) <= rider["holds"]


def test_tasks_speak_of_times_after_all_that_is_written_down() -> None:
    told = 0
    for state, rng in states(30):
        for _, slots, _ in WORLD.read(pose(WORLD, state, rng)):
            if "at" in slots:
                told += 1
                assert now(state) < minutes(slots["at"]) <= now(state) + 25
    assert told > 20


def test_nobody_is_posed_to_order_what_is_sold_out_or_makes_them_ill() -> None:
    for state, rng in states(40):
        for name in ("Place", "PlaceSafe", "AddDish"):
            try:
                slots = goal_of(name).draw(state, rng)
                outcomes = goal_of(name).outcome(slots, state) if slots else []
            except LookupError:
                continue
            guest = next(
                (row for row in state["guests"].values() if slots and row["name"] == slots["name"]), None
            )
            for dish in [state["dishes"][o.key] for o in outcomes if o.table == "dishes"]:
                assert guest and guest["allergy"] not in dish["contains"]
                assert guest["status"] == "active" and dish["portions"] >= slots["n"]


def test_minding_the_allergy_often_makes_another_dish_the_right_one() -> None:
    goal, told = goal_of("PlaceSafe"), []
    for state, rng in states(60):
        try:
            if not (slots := goal.draw(state, rng)):
                continue
            outcomes = goal.outcome(slots, state)
        except LookupError:
            continue
        for wanted in [o.key for o in outcomes if o.table == "dishes"]:
            rows = [row for row in state["dishes"].values() if row["course"] == slots["course"]]
            enough = [row for row in rows if row["portions"] >= slots["n"]]
            told.append(min(enough, key=lambda row: row["price"])["dish_id"] != wanted)
    assert sum(told) > len(told) / 4 > 0


def test_nobody_is_told_a_time_that_has_passed() -> None:
    goal, told = goal_of("PostponeLatest"), 0
    for state, rng in states(60):
        try:
            if not (slots := goal.draw(state, rng)):
                continue
            outcomes = goal.outcome(slots, state)
        except LookupError:
            continue
        for outcome in outcomes:
            told += 1
            assert outcome.fields["promised_at"] > slots["at"]
    assert told > 10


def test_the_fee_falls_away_at_the_very_value() -> None:
    lines = [{"quantity": 3, "unit_price": 11.7}, {"quantity": 1, "unit_price": 4.9}]
    assert sum(one["quantity"] * one["unit_price"] for one in lines) < 40 == goods(lines)


def test_a_new_order_is_refused_for_an_allergy_a_sold_out_dish_and_a_closed_zone() -> None:
    state = WORLD.state(np.random.default_rng(1))
    guest = next(row for row in state["guests"].values() if row["status"] == "active")
    guest["allergy"] = "gluten"
    safe = next(
        row for row in state["dishes"].values() if "gluten" not in row["contains"] and row["portions"]
    )
    pizza = next(row for row in state["dishes"].values() if "gluten" in row["contains"] and row["portions"])
    gone = {**safe, "dish_id": "DSH-099", "name": "Gone", "portions": 0}
    state["dishes"]["DSH-099"] = gone
    zone = next(row for row in state["zones"].values() if row["name"] == guest["zone"])
    zone["is_open"] = False
    with Environment(skeleton_of("food_delivery"), state, max_steps=100) as environment:
        environment.reset(seed=0)

        def place(dish: dict, mode: str, at: str = "20:00") -> str:
            given = {"guest_id": guest["guest_id"], "dish_id": dish["dish_id"], "quantity": 1}
            return str(environment.call("place_order", {**given, "mode": mode, "at": at}).get("error", ""))

        assert "contains gluten" in place(pizza, "collection")
        assert "Only 0 portions" in place(gone, "collection")
        assert "closed" in place(safe, "delivery")
        assert "Orders are taken" in place(safe, "collection", "11:00")
        assert environment.state == state
        assert not place(safe, "collection")


def test_a_rider_goes_to_one_zone_with_what_the_bag_holds_and_is_back_with_an_empty_one() -> None:
    state = WORLD.state(np.random.default_rng(2))
    key, rider = next((k, row) for k, row in state["riders"].items() if row["status"] == "in")
    one, two = orders(state, "ready", mode="delivery")
    other = next(row for row in orders(state, *HERE, mode="delivery") if row not in (one, two))
    other.update(stage="ready", zone="hills" if one["zone"] != "hills" else "harbour")
    rider["holds"] = portions([one, two])
    out = next(k for k, row in state["riders"].items() if row["status"] == "out")
    with Environment(skeleton_of("food_delivery"), state, max_steps=100) as environment:
        environment.reset(seed=0)

        def send(*chosen: dict, at: str = "21:30") -> str:
            given = {"rider_id": key, "order_ids": [row["order_id"] for row in chosen], "at": at}
            return str(environment.call("send_rider", given).get("error", ""))

        assert "different zones" in send(one, other)
        assert "once" in send(one, one)
        assert "placed later" in send(one, at="17:00")
        assert "placed later" in send(one, at="²²:00")
        assert "on the road" in environment.call("return_rider", {"rider_id": out})["error"]
        assert environment.state == state
        assert not send(one, two)
        assert "not in the shop" in send(other)


@pytest.mark.parametrize("rows", ["orders", "riders", "dishes"])
def test_a_night_without_any_of_it_gives_no_task_and_no_error(rows: str) -> None:
    state = {**WORLD.state(np.random.default_rng(0)), rows: {}}
    for seed in range(5):
        try:
            text = pose(WORLD, state, np.random.default_rng(seed))
        except NothingFits:
            continue
        assert WORLD.read(text)
