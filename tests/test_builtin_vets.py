"""The veterinary practice: what is given to an animal fits its species, its weight and its state."""

from collections.abc import Iterator

import numpy as np
import pytest
from builtin import skeleton_of
from pydantic import ValidationError

from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.pattern import Goal
from envscaler.model.builtin.patterns.animals import AnimalsSettings, course
from envscaler.model.builtin.patterns.appointments import AppointmentSettings
from envscaler.model.builtin.patterns.booking import later, length
from envscaler.world.environment import Environment

WORLD = "vet_clinic"


def states(count: int) -> Iterator[tuple[dict, np.random.Generator]]:
    for rng in map(np.random.default_rng, range(count)):
        yield world_of(WORLD).state(rng), rng


def goal_of(name: str) -> Goal:
    return next(goal for goal in world_of(WORLD).goals if type(goal).__name__ == name)


def opened(state: dict) -> Environment:
    environment = Environment(skeleton_of(WORLD), state, max_steps=10_000)
    environment.reset(seed=0)
    return environment


def settings(pattern: str) -> dict:
    return next(part for part in domains()[WORLD].parts if part["pattern"] == pattern)


def test_all_that_is_on_record_fits_the_species() -> None:
    for state, _ in states(60):
        for visit in state["visits"].values():
            kind = state["animals"][visit["animal_id"]]["species"]
            assert kind in state["treatments"][visit["treatment_id"]]["species"]
        vaccines = {row["name"]: row["species"] for row in state["vaccines"].values()}
        medicines = {row["name"]: row["dose"] for row in state["medicines"].values()}
        for animal in state["animals"].values():
            assert all(animal["species"] in vaccines[name] for name in animal["boosters"])
            assert all(animal["species"] in medicines[name] for name in animal["medication"])


def test_every_species_can_be_seen_and_no_animal_is_found_under_the_name_of_another() -> None:
    for state, _ in states(10):
        kinds = {row["species"] for row in state["animals"].values()}
        for kind in kinds:
            departments = {
                row["department"] for row in state["treatments"].values() if kind in row["species"]
            }
            assert departments & {row["department"] for row in state["vets"].values()}
    called = [name.lower() for one in settings("animals")["species"].values() for name in one["names"]]
    assert not [(one, two) for one in called for two in called if one in two and one is not two]


@pytest.mark.parametrize("name", ["BookFirst", "BookAt", "Vaccinate", "VaccinateOverdue", "Dispense"])
def test_nothing_is_asked_for_that_does_not_fit(name: str) -> None:
    goal, posed = goal_of(name), 0
    tables = {"service": "treatments", "vaccine": "vaccines", "medicine": "medicines"}
    for state, rng in states(40):
        try:
            slots = goal.draw(state, rng)
            outcomes = goal.outcome(slots, state) if slots else []
        except LookupError:
            continue
        for outcome in outcomes:
            if outcome.table == "medicines":
                continue
            posed += 1
            animal = state["animals"][getattr(outcome, "key", outcome.fields.get("animal_id"))]
            slot = next(slot for slot in tables if slot in slots)
            given = next(row for row in state[tables[slot]].values() if row["name"] == slots[slot])
            assert animal["species"] in given.get("species", given.get("dose"))
            assert name == "Dispense" or animal["status"] == "active"
    assert posed > 15


@pytest.mark.parametrize(
    ("tool", "table"),
    [("book_visit", "treatments"), ("vaccinate_animal", "vaccines"), ("dispense_medicine", "medicines")],
)
def test_a_misfit_is_refused_in_a_sentence_and_that_is_told_before(tool: str, table: str) -> None:
    told = " ".join(world_of(WORLD).tools[tool].source.split('"""')[1].split())
    assert "its species" in told or "of which species the animal has to be" in told
    state, _ = next(states(1))
    refused = 0
    with opened(state) as environment:
        before = environment.state
        for animal in state["animals"].values():
            for key, row in state[table].items():
                if animal["status"] != "active" or animal["species"] in row.get("species", row.get("dose")):
                    continue
                arguments = {"animal_id": animal["animal_id"], f"{table[:-1]}_id": key}
                if tool == "dispense_medicine":
                    arguments["days"] = 3
                if tool == "book_visit":
                    vets = state["vets"].values()
                    able = [v for v in vets if v["department"] == row["department"] and v["takes_bookings"]]
                    arguments |= {"vet_id": able[0]["vet_id"], "day": "2025-03-12", "start_time": "12:00"}
                reply = environment.call(tool, arguments)
                assert not reply["success"]
                assert f"is not for a {animal['species']}; it is for: " in reply["error"]
                refused += 1
        assert environment.state == before and refused > 10


def test_a_medicine_is_dispensed_by_a_weight_that_is_not_old() -> None:
    state, _ = next(states(1))
    for row in state["medicines"].values():
        row["left_ml"] = 4000.0
    given = old = 0
    with opened(state) as environment:
        for key, animal in state["animals"].items():
            for which, medicine in state["medicines"].items():
                if animal["species"] not in medicine["dose"] or animal["medication"].get(medicine["name"]):
                    continue
                left = environment.state["medicines"][which]["left_ml"]
                arguments = {"animal_id": key, "medicine_id": which, "days": 5}
                reply = environment.call("dispense_medicine", arguments)
                if length(environment.state["animals"][key]["weighed_on"], state["today"]) > 60:
                    assert reply["error"].startswith(f"Weigh {animal['name']} first")
                    weighed = {"animal_id": key, "weight": animal["weight"]}
                    assert environment.call("weigh_animal", weighed)["success"]
                    reply = environment.call("dispense_medicine", arguments)
                    old += 1
                needed = course(animal, medicine, 5)
                after = environment.state
                assert reply["data"]["ml"] == needed
                assert after["medicines"][which]["left_ml"] == round(left - needed, 2)
                until = after["animals"][key]["medication"][medicine["name"]]
                assert until == later(state["today"], 4)
                given += 1
    assert given > 30 and old > 2


def test_the_booster_overdue_the_longest_is_the_first_one_listed() -> None:
    goal, posed = goal_of("VaccinateOverdue"), 0
    for state, rng in states(30):
        try:
            slots = goal.draw(state, rng)
            (change,) = goal.outcome(slots, state) if slots else (None,)
        except LookupError:
            continue
        if change is None:
            continue
        posed += 1
        vaccine = next(key for key, row in state["vaccines"].items() if row["name"] == slots["vaccine"])
        with opened(state) as environment:
            asked = {"vaccine_id": vaccine, "species": slots["species"]}
            listed = environment.call("list_due_vaccinations", asked)["data"]
        assert listed[0]["animal_id"] == change.key and listed[0]["due_on"] < state["today"]
        assert not [entry for entry in listed[1:] if entry["due_on"] == listed[0]["due_on"]]
    assert posed > 10


def test_a_quarantine_keeps_from_vaccinations_and_new_visits_until_it_ends() -> None:
    state, _ = next(states(1))
    rows = [row for row in state["animals"].values() if row["status"] == "quarantined"]
    assert {row["quarantine_until"] <= state["today"] for row in rows} == {True, False}
    assert not [
        visit
        for visit in state["visits"].values()
        if visit["status"] == "booked" and state["animals"][visit["animal_id"]] in rows
    ]
    with opened(state) as environment:
        for row in rows:
            key = {"animal_id": row["animal_id"]}
            for which, vaccine in state["vaccines"].items():
                if row["species"] in vaccine["species"]:
                    reply = environment.call("vaccinate_animal", {**key, "vaccine_id": which})
                    assert "is quarantined: " in reply["error"]
            when = {"day": "2025-03-12", "start_time": "12:00"}
            booked = environment.call(
                "book_visit", {**key, "vet_id": "VET-001", "treatment_id": "TR-001", **when}
            )
            assert "is quarantined: " in booked["error"]
            released = environment.call("release_animal", key)
            assert released["success"] == (row["quarantine_until"] <= state["today"])


def test_what_rounds_to_nothing_is_neither_weighed_nor_delivered_nor_dispensed() -> None:
    state, _ = next(states(1))
    key = next(key for key, row in state["animals"].items() if row["species"] == "cat")
    state["animals"][key] |= {"weight": 0.01, "weighed_on": state["today"], "medication": {}}
    new = {"name": "Nobody", "species": "cat", "owner": "Ada Nowhere", "phone": "555-000-0000"}
    calls = {
        "weigh_animal": {"animal_id": key, "weight": 0.004},
        "register_animal": {**new, "weight": 0.004},
        "restock_medicine": {"medicine_id": "MED-001", "ml": 0.004},
        "dispense_medicine": {"animal_id": key, "medicine_id": "MED-001", "days": 1},
    }
    with opened(state) as environment:
        before = environment.state
        for tool, arguments in calls.items():
            reply = environment.call(tool, arguments)
            assert not reply["success"] and "0.01" in reply["error"], tool
        assert environment.state == before


def test_treatments_are_listed_for_the_species_that_there_are() -> None:
    state, _ = next(states(1))
    with opened(state) as environment:
        for species in settings("animals")["species"]:
            listed = environment.call("list_treatments", {"species": species})["data"]
            assert listed and all(species in row["species"] for row in listed)
        assert "hamster" in environment.call("list_treatments", {"species": "hamster"})["error"]


def test_animals_do_not_telephone() -> None:
    said = [phrase.template for goal in world_of(WORLD).goals for phrase in goal.said]
    for words in ("called:", "called off", "would like", "would rather", "asks to have", "has agreed"):
        spoken = [text for text in said if words in text]
        assert spoken and all("owner of {name:name}" in text for text in spoken), words


def test_settings_that_do_not_fit_together_are_an_error() -> None:
    practice, visits = settings("animals"), settings("appointments")
    vaccine = {"species": ["hamster"], "days": 365}
    with pytest.raises(ValidationError, match="hamster"):
        AnimalsSettings.model_validate({**practice, "vaccines": {"rabies": vaccine}})
    some = {"Hernia repair": ["dog"]}
    with pytest.raises(ValidationError, match="whom each service is for"):
        AppointmentSettings.model_validate({**visits, "suited": {**visits["suited"], "services": some}})
