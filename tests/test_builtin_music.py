"""The world of a music school: sessions by the calendar, instruments by size, recitals by the clock."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

import numpy as np
from builtin import skeleton_of

from envscaler.model.builtin.build import world_of
from envscaler.world.environment import Environment

WORLD = world_of("music_school")
LEVELS = ("beginner", "intermediate", "advanced")
SIZES = ("1/2", "3/4", "7/8", "4/4")
LIMITS = {"advent matinee": 30, "evening recital": 45, "winter concert": 36}


def states(many: int) -> Iterator[dict[str, Any]]:
    for seed in range(many):
        yield WORLD.state(np.random.default_rng(seed))


def days_met(workshop: dict[str, Any], today: str) -> list[str]:
    first = date.fromisoformat(workshop["starts_on"])
    days = ((first + timedelta(weeks=week)).isoformat() for week in range(10))
    return [day for day in days if day <= today]


@contextmanager
def office(state: dict[str, Any]) -> Iterator[Environment]:
    with Environment(skeleton_of("music_school"), state) as environment:
        environment.reset(seed=0)
        yield environment


def refused(environment: Environment, tool: str, **arguments: Any) -> str:
    before, reply = environment.state, environment.call(tool, arguments)
    assert reply["success"] is False and environment.state == before
    return str(reply["error"])


def test_nobody_has_attended_more_sessions_than_there_were() -> None:
    counted = set()
    for state in states(120):
        for row in state["registrations"].values():
            met = days_met(state["workshops"][row["workshop_id"]], state["today"])
            assert row["sessions_attended"] <= len(met)
            last = row["last_session_on"]
            assert (last is None) == (row["sessions_attended"] == 0)
            assert last is None or row["sessions_attended"] <= met.index(last) + 1
            counted.add(row["sessions_attended"])
    assert counted >= set(range(10))


def test_workshops_are_given_and_taken_by_whom_they_suit() -> None:
    for state in states(120):
        for workshop in state["workshops"].values():
            assert workshop["weekday"] != "Sunday"
            assert workshop["teacher_id"] or workshop["starts_on"] > state["today"]
            assert (
                len(days_met(workshop, state["today"])) < 10 or days_met(workshop, "9")[-1] == state["today"]
            )
        for row in state["registrations"].values():
            pupil, workshop = state["pupils"][row["pupil_id"]], state["workshops"][row["workshop_id"]]
            assert LEVELS.index(pupil["level"]) >= LEVELS.index(workshop["level"])
            assert pupil["status"] == "active"
            assert row["requested_on"] <= min(workshop["starts_on"], state["today"])


def test_a_session_is_counted_for_a_day_on_which_there_was_one() -> None:
    state = next(
        state
        for state in states(50)
        if any(row["sessions_attended"] == 3 for row in state["registrations"].values())
    )
    row = next(row for row in state["registrations"].values() if row["sessions_attended"] == 3)
    workshop, key = state["workshops"][row["workshop_id"]], row["registration_id"]
    workshop["starts_on"] = (date.fromisoformat(state["today"]) - timedelta(days=30)).isoformat()
    met = days_met(workshop, state["today"])
    row["last_session_on"] = met[2]
    with office(state) as environment:
        for day, why in (
            (met[2], "counted up to"),
            (state["today"], "no session on"),
            (workshop["starts_on"].replace("20", "19", 1), "no session on"),
            (days_met(workshop, "9")[5], "still to come"),
            (met[2].replace("-", ""), "counted up to"),
            ("yesterday", "not a date"),
        ):
            assert why in refused(environment, "record_session", registration_id=key, day=day)
        reply = environment.call("record_session", {"registration_id": key, "day": met[-1]})
        assert reply["data"]["sessions_attended"] == 4 and reply["data"]["last_session_on"] == met[-1]


def test_a_pupil_gets_into_no_workshop_above_the_own_level() -> None:
    state = next(states(1))
    pupil = next(row for row in state["pupils"].values() if row["status"] == "active")
    pupil["level"], state["registrations"] = "beginner", {}
    ahead = [
        row for row in state["workshops"].values() if row["starts_on"] > state["today"] and row["is_open"]
    ]
    ahead[0]["level"], ahead[1]["level"] = "intermediate", "beginner"
    with office(state) as environment:
        ids = {"pupil_id": pupil["pupil_id"], "workshop_id": ahead[0]["workshop_id"]}
        assert "no level" in refused(environment, "find_workshops", level="Beginner")
        assert "too high" in refused(environment, "register_for_workshop", **ids)
        placed = environment.call("register_for_workshop", {**ids, "workshop_id": ahead[1]["workshop_id"]})
        assert placed["data"].keys() == next(states(1))["registrations"]["RG-001"].keys()
        other = {
            "registration_id": placed["data"]["registration_id"],
            "to_workshop_id": ahead[0]["workshop_id"],
        }
        if placed["data"]["status"] == "enrolled":
            refused(environment, "switch_workshop", **other)


def test_what_is_lent_fits_and_is_whole() -> None:
    for state in states(120):
        lent = [row for row in state["instruments"].values() if row["pupil_id"]]
        assert len(lent) == len({(row["pupil_id"], row["kind"]) for row in lent}) > 0
        for row in lent:
            pupil = state["pupils"][row["pupil_id"]]
            assert (row["size"], "active", "") == (pupil["instrument_size"], pupil["status"], row["damage"])
            assert row["made_in"] < int(row["lent_on"][:4]) and row["lent_on"] < state["today"]


def test_an_instrument_goes_out_in_the_size_that_was_measured_and_comes_back_with_its_damage() -> None:
    state = next(states(1))
    pupil = next(row for row in state["pupils"].values() if row["status"] == "active")
    pupil["instrument_size"] = "3/4"
    for row in state["instruments"].values():
        row.update(pupil_id=None, lent_on=None, due_on=None, damage="")
    cellos = [row for row in state["instruments"].values() if row["kind"] == "cello"]
    ids = {row["size"]: row["instrument_id"] for row in cellos}
    who, until = {"pupil_id": pupil["pupil_id"]}, {"due_on": "2026-02-01"}
    with office(state) as environment:
        small = {"instrument_id": ids["1/2"], **who}
        assert "needs size 3/4" in refused(environment, "lend_instrument", **small, **until)
        fitting = {"instrument_id": ids["3/4"], **who}
        for day in (state["today"], "2026-05-17", "soon"):
            refused(environment, "lend_instrument", **fitting, due_on=day)
        lent = environment.call("lend_instrument", {**fitting, "due_on": "20260201"})
        assert lent["data"]["due_on"] == until["due_on"]
        assert "not larger" in refused(environment, "measure_pupil", **who, instrument_size="1/2")
        assert environment.call("measure_pupil", {**who, "instrument_size": "4/4"})["success"]
        grown = {"instrument_id": ids["4/4"], **who}
        assert "another cello" in refused(environment, "lend_instrument", **grown, **until)
        back = {"instrument_id": ids["3/4"], "damage": "peg slips"}
        assert environment.call("return_instrument", back)["data"]["damage"] == "peg slips"
        assert environment.call("lend_instrument", {**grown, **until})["success"]
        found = environment.call("find_instruments", {"kind": "cello", "size": "3/4", "free": True})["data"]
        assert ids["3/4"] not in [row["instrument_id"] for row in found]


def test_recitals_keep_their_time_and_their_order() -> None:
    for state in states(120):
        for recital, most in LIMITS.items():
            rows = [row for row in state["performances"].values() if row["recital"] == recital]
            assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
            assert sum(row["minutes"] for row in rows) + 2 * (len(rows) - 1) <= most
            for row in rows:
                mine = [one for one in state["registrations"].values() if one["pupil_id"] == row["pupil_id"]]
                taken = [one["workshop_id"] for one in mine if one["status"] in ("enrolled", "completed")]
                assert row["instrument_family"] in {
                    state["workshops"][key]["instrument_family"] for key in taken
                }


def test_a_piece_is_added_where_it_fits_with_the_changeover_and_the_rest_moves_up() -> None:
    state = next(states(1))
    row = next(row for row in state["registrations"].values() if row["status"] == "enrolled")
    family = state["workshops"][row["workshop_id"]]["instrument_family"]
    others = [key for key in state["pupils"] if key != row["pupil_id"]][:2]
    state["performances"] = {
        f"PF-00{n}": {
            "performance_id": f"PF-00{n}", "recital": "advent matinee", "position": n, "pupil_id": other,
            "instrument_family": "voice", "piece": f"Song {n}", "minutes": 10,
        }
        for n, other in enumerate(others, 1)
    }  # fmt: skip
    piece = {"recital": "advent matinee", "pupil_id": row["pupil_id"], "piece": "Air in G"}
    with office(state) as environment:
        # 30 minutes less twice 10 and two changeovers of 2.
        mine = {**piece, "instrument_family": family}
        assert "6 minutes left" in refused(environment, "add_to_recital", **mine, minutes=7)
        assert "at least 1 minute" in refused(environment, "add_to_recital", **mine, minutes=0)
        assert environment.call("add_to_recital", {**mine, "minutes": 6})["data"]["position"] == 3
        assert "already" in refused(environment, "add_to_recital", **mine, minutes=1)
        assert environment.call("withdraw_performance", {"performance_id": "PF-001"})["success"]
        assert environment.call("move_performance", {"performance_id": "PF-003", "position": 1})["success"]
        rows = environment.state["performances"]
        assert [rows[f"PF-00{n}"]["position"] for n in (1, 2, 3)] == [None, 2, 1]
        refused(environment, "move_performance", performance_id="PF-001", position=1)


def test_nobody_is_asked_to_fall_back_in_level_or_in_size() -> None:
    asked = set()
    for seed, state in enumerate(states(60)):
        rng = np.random.default_rng(seed)
        for kind, field, steps in (("SetExtra", "level", LEVELS), ("Measure", "instrument_size", SIZES)):
            goal = next(goal for goal in WORLD.goals if type(goal).__name__ == kind)
            try:
                slots = goal.draw(state, rng)
            except LookupError:
                continue
            assert slots is not None
            pupil = next(row for row in state["pupils"].values() if row["name"] == slots["name"])
            new = slots["value"] if kind == "SetExtra" else slots["size"]
            assert steps.index(new) == steps.index(pupil[field]) + 1
            asked.add(kind)
    assert asked == {"SetExtra", "Measure"}
