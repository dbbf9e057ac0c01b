"""Rules of the patterns booking, tickets and ledger that no single world would break."""

from typing import Any

import numpy as np
import pytest

from envscaler.model.builtin.__main__ import source
from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.pattern import Goal


def worlds(pattern: str, setting: str = "pattern") -> list[str]:
    """Names of the worlds that have a part of this pattern with that setting."""
    parts = [(name, part) for name, domain in domains().items() for part in domain.parts]
    return [name for name, part in parts if part["pattern"] == pattern and setting in part]


def goal_of(name: str, kind: str) -> Goal:
    """One goal of a world."""
    return next(goal for goal in world_of(name).goals if type(goal).__name__ == kind)


def system_of(name: str, state: dict[str, Any]) -> Any:
    """The class of a world, as it is written, on a state."""
    space: dict[str, Any] = {"__name__": name}
    exec(source(name), space)
    return space[domains()[name].class_name](state)


@pytest.mark.parametrize("name", worlds("tickets", "place"))
def test_a_sentence_says_that_a_new_ticket_names_no_place_where_it_could(name: str) -> None:
    goal = goal_of(name, "OpenTicket")
    assert all(f"without naming {goal.v.r.a}" in phrase.template for phrase in goal.said)
    state = world_of(name).state(np.random.default_rng(0))
    slots = goal.draw(state, np.random.default_rng(0))
    assert slots is not None
    assert goal.outcome(slots, state)[0].fields[f"{goal.v.r.id}_id"] is None


@pytest.mark.parametrize("name", worlds("booking"))
def test_of_two_that_are_cheapest_none_is_booked(name: str) -> None:
    goal, rng = goal_of(name, "BookCheapest"), np.random.default_rng(0)
    v, told = goal.v, 0
    for _ in range(40):
        state = world_of(name).state(rng)
        slots = goal.draw(state, rng)
        assert slots is not None
        try:
            room = goal.outcome(slots, state)[0].fields[f"{v.r.id}_id"]
        except LookupError:
            continue
        told += 1
        twin = {**state[v.r.ids][room], f"{v.r.id}_id": "TWIN-001"}
        with pytest.raises(LookupError):
            goal.outcome(slots, {**state, v.r.ids: {**state[v.r.ids], "TWIN-001": twin}})
    assert told > 3


@pytest.mark.parametrize("name", worlds("booking"))
def test_what_would_change_nothing_is_refused(name: str) -> None:
    world = world_of(name)
    v = next(part.v for part in world.parts if part.v.s.pattern == "booking")
    state = world.state(np.random.default_rng(1))
    system = system_of(name, state)
    if f"change_{v.b.id}_dates" in world.tools:
        key, row = next((k, b) for k, b in state[v.b.ids].items() if b["status"] == v.s.booked)
        assert not getattr(system, f"change_{v.b.id}_dates")(key, row[v.start], row[v.end])["success"]
    if f"set_{v.r.id}_rate" in world.tools:
        key, row = next(iter(state[v.r.ids].items()))
        for rate in (row[v.s.rate], 0.001):
            assert not getattr(system, f"set_{v.r.id}_rate")(key, rate)["success"]
    if f"list_{v.b.ids}_on" in world.tools:
        replies = [getattr(system, f"list_{v.b.ids}_on")(day) for day in ("2025-03-10", "20250310", "soon")]
        assert [reply["success"] for reply in replies] == [True, False, False]
    assert getattr(system, v.b.ids) == state[v.b.ids] and getattr(system, v.r.ids) == state[v.r.ids]


@pytest.mark.parametrize("name", worlds("ledger"))
def test_less_than_a_cent_does_not_move(name: str) -> None:
    world = world_of(name)
    v = next(part.v for part in world.parts if part.v.s.pattern == "ledger")
    state = world.state(np.random.default_rng(1))
    system = system_of(name, state)
    one, two = [key for key, row in state[v.a.ids].items() if row["status"] == "open"][:2]
    for reply in (
        getattr(system, v.s.top_up)(one, 0.004),
        getattr(system, v.s.take_out)(one, 0.004),
        system.transfer(one, two, 0.004),
    ):
        assert not reply["success"] and "above 0" in reply["error"]
    assert getattr(system, v.e.ids) == state[v.e.ids] and getattr(system, v.a.ids) == state[v.a.ids]


@pytest.mark.parametrize("name", worlds("ledger"))
def test_all_that_an_account_allows_can_be_taken_and_not_a_cent_more(name: str) -> None:
    world = world_of(name)
    v = next(part.v for part in world.parts if part.v.s.pattern == "ledger")
    kind = max(v.k.choices, key=v.k.choices.get)
    state = world.state(np.random.default_rng(1))
    key = next(iter(state[v.a.ids]))
    account = {**state[v.a.ids][key], v.k.name: kind, v.s.floor: float(v.k.choices[kind]), "status": "open"}
    system = system_of(name, state)
    for cents in range(10_000, 13_000, 7):
        row = {**account, "balance": cents / 100}
        limit = round(cents / 100 + row[v.s.floor], 2)
        for amount, allowed in ((round(limit + 0.01, 2), False), (limit, True)):
            getattr(system, v.a.ids)[key] = dict(row)
            assert getattr(system, v.s.take_out)(key, amount)["success"] is allowed
