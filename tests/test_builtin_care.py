"""Rules of the patterns appointments, prescriptions and records that no single world would break."""

import re
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.patterns.appointments import AppointmentSettings, clock, minutes
from envscaler.model.builtin.phrase import Phrase

CARE = {
    "appointments": ["clinic", "hair_salon", "counselling_practice", "vet_clinic", "blood_donation"],
    "prescriptions": ["dispensary", "vaccination_clinic", "lab_tests"],
    "records": ["health_diary", "fitness_tracker"],
}


@given(st.integers(0, 24 * 60 - 1))
def test_times_and_minutes_are_the_same_thing(since_midnight: int) -> None:
    assert minutes(clock(since_midnight)) == since_midnight


@given(st.integers(0, 10**6), st.integers(0, 2))
def test_a_number_is_read_back_as_it_was_said(whole: int, digits: int) -> None:
    value = whole / 10**digits
    phrase = Phrase("The value was {value:number}.")
    assert phrase.match(phrase.fill({"value": value})) == {"value": value}


@pytest.mark.parametrize("wrong", [{"hours": [("08:05", "12:00")]}, {"slot": 7}])
def test_hours_and_durations_lie_on_the_slots(wrong: dict) -> None:
    settings = next(part for part in domains()["clinic"].parts if part["pattern"] == "appointments")
    AppointmentSettings.model_validate(settings)
    with pytest.raises(ValidationError, match="full"):
        AppointmentSettings.model_validate({**settings, **wrong})


@pytest.mark.parametrize("name", CARE["appointments"])
def test_every_booked_appointment_is_on_a_day_its_practitioner_works(name: str) -> None:
    world = world_of(name)
    v = world.parts[1].v
    for seed in range(10):
        state = world.state(np.random.default_rng(seed))
        for row in state[v.b.ids].values():
            who = state[v.r.ids][row[f"{v.r.id}_id"]]
            assert date.fromisoformat(row["day"]).strftime("%A") in who["works_on"]
            assert who["opens"] <= row["start_time"] < row["end_time"] <= who["closes"]


@pytest.mark.parametrize("name", CARE["appointments"])
def test_what_a_tool_refuses_for_is_told_and_the_times_it_suggests_are_allowed(name: str) -> None:
    world = world_of(name)
    refusing = [tool for tool in world.tools.values() if "takes no bookings" in tool.source]
    assert {tool.name.split("_")[0] for tool in refusing} >= {"book", "move"}
    for tool in refusing:
        assert "takes bookings" in " ".join(tool.source.split('"""')[1].split()), tool.name
    suggested = [
        at for tool in world.tools.values() for at in re.findall(r"e\.g\. (\d\d:\d\d)\.", tool.source)
    ]
    assert suggested and not any(minutes(at) % world.parts[1].v.s.slot for at in suggested)


@pytest.mark.parametrize("name", CARE["prescriptions"])
def test_some_batches_have_expired_and_every_article_has_a_usable_one(name: str) -> None:
    world = world_of(name)
    v = world.parts[1].v
    expired = 0
    for seed in range(10):
        state = world.state(np.random.default_rng(seed))
        rows = list(state[v.c.ids].values())
        expired += sum(row["expires_on"] < state["today"] for row in rows)
        usable = {row[f"{v.i.id}_id"] for row in rows if row["expires_on"] >= state["today"]}
        assert usable == set(state[v.i.ids])
    assert expired > 10


@pytest.mark.parametrize("name", CARE["records"])
def test_entries_need_attention_exactly_outside_the_usual_range(name: str) -> None:
    world = world_of(name)
    v = world.parts[1].v
    seen = set()
    for seed in range(10):
        state = world.state(np.random.default_rng(seed))
        for row in state[v.e.ids].values():
            kind = state[v.m.ids][row[f"{v.m.id}_id"]]
            assert row["attention"] == (not kind["usual_min"] <= row["value"] <= kind["usual_max"])
            seen.add(row["attention"])
    assert seen == {True, False}
