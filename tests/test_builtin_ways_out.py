"""No state of these worlds is one that nothing leads out of, and what is asked for has one right end.

Worlds of the patterns rehearsals, lines, batches and casks.
"""

from functools import cache

import numpy as np
import pytest

from envscaler.model.builtin import BuiltinModel
from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.pattern import Goal
from envscaler.schema import Skeleton, Theme
from envscaler.skeletons import build_skeleton
from envscaler.world.environment import Environment

MODEL = BuiltinModel(fault_rate=0)


@cache
def skeleton_of(name: str) -> Skeleton:
    rng = np.random.default_rng(7)
    title, summary = domains()[name].word_title(rng), domains()[name].word_summary(rng)
    theme = Theme(
        title=title, summary=summary, usefulness=8, modelability=8, task_ids=["t"], example="Please help me."
    )
    return build_skeleton(theme, MODEL)


def goal_of(world: str, name: str) -> Goal:
    return next(goal for goal in world_of(world).goals if type(goal).__name__ == name)


def state_of(world: str, seed: int = 3) -> dict:
    return world_of(world).state(np.random.default_rng(seed))


def play(name: str, state: dict, *calls: tuple[str, dict]) -> tuple[list[dict], dict]:
    """The replies to these calls, and the state after them."""
    with Environment(skeleton_of(name), state) as environment:
        environment.reset(seed=0)
        replies = [environment.call(tool, arguments) for tool, arguments in calls]
        return replies, environment.state


def test_a_faulty_cue_is_made_ready_again_without_its_note() -> None:
    cue = {"cue_id": "CUE-001"}
    mended = ("flag_cue", {**cue, "faulty": False})
    replies, after = play(
        "rehearsal_plan",
        {**(state := state_of("rehearsal_plan")), "cues": _all_ready(state)},
        mended,
        ("flag_cue", cue),
        ("flag_cue", {**cue, "note": "too late"}),
        ("flag_cue", {**cue, "note": "mended", "faulty": False}),
        mended,
    )
    assert [reply["success"] for reply in replies] == [False, False, True, False, True]
    assert (after["cues"]["CUE-001"]["status"], after["cues"]["CUE-001"]["note"]) == ("ready", "")


def _all_ready(state: dict) -> dict:
    return {key: {**row, "status": "ready", "note": ""} for key, row in state["cues"].items()}


def test_every_hall_has_a_place_for_all_who_are_called() -> None:
    small = 0
    for seed in range(20):
        state = state_of("rehearsal_plan", seed)
        for row in state["rehearsals"].values():
            called = sum(call["rehearsal_id"] == row["rehearsal_id"] for call in state["calls"].values())
            assert row["least"] < called <= state["halls"][row["hall_id"]]["places"]
            small += sum(hall["places"] < called for hall in state["halls"].values())
    assert small > 20


def test_nights_are_not_swapped_into_a_hall_that_is_too_small() -> None:
    state = state_of("rehearsal_plan")
    one, two = list(state["rehearsals"].values())[:2]
    one["day"], two["day"], one["hall_id"], two["hall_id"] = "2025-04-01", "2025-04-02", "HAL-001", "HAL-002"
    state["halls"]["HAL-001"]["places"], state["halls"]["HAL-002"]["places"] = 10, 3
    swap = ("swap_nights", {"first_id": one["rehearsal_id"], "other_id": two["rehearsal_id"]})
    assert play("rehearsal_plan", state, swap)[0][0]["error"].endswith(f"too small for the {one['section']}.")
    slots = {"one": one["section"], "first": one["day"], "two": two["section"], "second": two["day"]}
    with pytest.raises(LookupError, match="too small"):
        goal_of("rehearsal_plan", "Swap").outcome(slots, state)


def test_whoever_has_a_piano_is_not_moved_to_one() -> None:
    state = state_of("rehearsal_plan")
    goal, row = goal_of("rehearsal_plan", "Piano"), next(iter(state["rehearsals"].values()))
    slots = {"section": row["section"], "day": row["day"]}
    state["halls"] |= {
        "HAL-006": {**state["halls"]["HAL-001"], "hall_id": "HAL-006", "places": 99, "piano": True}
    }
    for here in (False, True):
        state["halls"][row["hall_id"]]["piano"] = here
        if here:
            with pytest.raises(LookupError, match="piano"):
                goal.outcome(slots, state)
        else:
            assert len(goal.outcome(slots, state)) == 1


def line_with(state: dict, *bills: tuple[float, str], **fields: object) -> dict:
    """The first active line, with just these open invoices and fields."""
    line = next(row for row in state["lines"].values() if row["status"] == "active")
    line |= {"ends_on": "", **fields}
    state["invoices"] = {key: row for key, row in state["invoices"].items() if row["status"] == "paid"}
    for n, (amount, due) in enumerate(bills, start=901):
        row = {
            "invoice_id": f"INV-{n}",
            "line_id": line["line_id"],
            "amount": amount,
            "issued_on": "2025-02-01",
        }
        state["invoices"][f"INV-{n}"] = {**row, "due_on": due, "reason": "a bill", "status": "open"}
    return dict(line)


def test_a_credit_is_paid_out_once_nothing_else_is_to_be_paid() -> None:
    state = state_of("mobile_operator")
    line = line_with(state, (-4.5, "2025-02-15"), (20.0, "2025-03-20"))
    pay = [("pay_invoice", {"invoice_id": f"INV-{n}"}) for n in (901, 902, 901)]
    replies, after = play("mobile_operator", state, ("list_invoices", {"line_id": line["line_id"]}), *pay)
    assert [reply["success"] for reply in replies] == [True, False, True, True]
    assert {row["days_overdue"] for row in replies[0]["data"]} == {0}
    assert after["invoices"]["INV-901"]["status"] == "paid"


def test_an_open_credit_is_often_there_to_be_paid_out() -> None:
    goal, posed = goal_of("mobile_operator", "PayOut"), 0
    for seed in range(10):
        state, rng = state_of("mobile_operator", seed), np.random.default_rng(seed)
        slots = goal.draw(state, rng)
        posed += slots is not None and len(goal.outcome(slots, state)) == 1
    assert posed >= 8


def test_a_line_has_ended_once_its_last_day_has_passed() -> None:
    state = state_of("mobile_operator")
    for ends, status in (("2025-03-10", "active"), ("2025-03-09", "ended")):
        line = line_with(state, ends_on=ends)
        replies, _ = play(
            "mobile_operator",
            state,
            ("find_line", {"number": line["number"]}),
            ("list_lines", {"customer_id": line["customer_id"], "status": status}),
            ("book_pass", {"line_id": line["line_id"], "kind": "data"}),
        )
        assert replies[0]["data"][0]["status"] == status
        assert line["line_id"] in [row["line_id"] for row in replies[1]["data"]]
        assert replies[2]["success"] == (status == "active")
    with pytest.raises(LookupError):
        goal_of("mobile_operator", "PortOut").outcome(
            {"number": line["number"], "provider": "Nordtel"}, state
        )


def test_of_two_lines_overdue_for_as_long_neither_is_to_be_suspended() -> None:
    state, goal = state_of("mobile_operator"), goal_of("mobile_operator", "Suspend")
    line_with(state, (20.0, "2025-02-01"))
    assert goal.outcome({}, state)[0].fields["status"] == "suspended"
    other = [row for row in state["lines"].values() if row["status"] == "active"][1]
    other["ends_on"] = ""
    bill = {**state["invoices"]["INV-901"], "invoice_id": "INV-902", "line_id": other["line_id"]}
    state["invoices"]["INV-902"] = bill
    with pytest.raises(LookupError):
        goal.outcome({}, state)


def test_of_two_tariffs_that_cost_the_same_neither_is_the_best() -> None:
    state, goal = state_of("mobile_operator"), goal_of("mobile_operator", "ChangeToBest")
    line = line_with(state, tariff_id="TAR-005")
    state["lines"][line["line_id"]]["data_used_gb"] = 4.5  # 14 GB a month: 19.99 on two tariffs
    with pytest.raises(LookupError):
        goal.outcome({"number": line["number"]}, state)


@pytest.mark.parametrize("said", [90, 90.0])
def test_a_reading_is_noted_alike_with_and_without_a_decimal_point(said: float) -> None:
    state, goal = state_of("distillery"), goal_of("distillery", "Pass")
    run = next(row for row in state["runs"].values() if (row["step"], row["status"]) == ("mashed", "good"))
    recipe = state["mash_bills"][run["mash_bill_id"]]["name"]
    wanted = goal.outcome({"recipe": recipe, "step": "mashed", "reading": 90.0}, state)[0]
    _, after = play("distillery", state, ("pass_run", {"run_id": run["run_id"], "reading": said}))
    assert after["runs"][run["run_id"]]["note"] == wanted.fields["note"] == "gravity of the wort 90 degrees"
