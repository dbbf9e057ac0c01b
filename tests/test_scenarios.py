"""Scenarios: what is returned is proved; every part that a model gets wrong is located, sent back, or refused."""

import json

import library
import pytest
from library import ITEMS, MAY_CHANGE, STATE, TASK, WITNESS, asked, author, fenced

from envscaler.error import PartRefused
from envscaler.model.connect import connect
from envscaler.scenarios import build_scenario, build_scenarios
from envscaler.schema import Task
from envscaler.skeletons import build_skeleton
from envscaler.themes import infer_theme
from envscaler.world.check import grade
from envscaler.world.environment import Environment
from envscaler.world.witness import play

FIRST = next(iter(ITEMS))


def checklist(
    may_change: list[str] = MAY_CHANGE, kinds: dict[str, str] | None = None, texts: list[str] | None = None
) -> str:
    items = [{"item": t, "kind": (kinds or {}).get(t, ITEMS[t][0])} for t in texts or ITEMS]
    return json.dumps({"items": items, "may_change": may_change})


def witness(*calls: dict) -> str:
    return json.dumps({"calls": list(calls)})


def test_a_scenario_is_proved_by_execution() -> None:
    skeleton = library.skeleton()
    scenario = build_scenario(skeleton, author())
    assert scenario.skeleton_id == skeleton.id and scenario.task == TASK and scenario.initial_state == STATE
    assert scenario.certificate is not None and scenario.certificate.valid and scenario.extra == {}
    with Environment(skeleton, STATE) as environment:
        environment.reset(seed=0)
        assert play(environment, scenario.witness).refused is None
        final = environment.state
    assert all(o.passed for o in grade(scenario.checks, STATE, final, scenario.may_change))
    assert not any(
        o.passed for o in grade(scenario.checks, STATE, STATE, scenario.may_change) if o.kind == "goal"
    )


CHECK_SLIPS = {
    "raises": ("def check_func(final_state):\n    return final_state['loans']['L-1']['closed'] is True", ""),
    "always true": ("def check_func(final_state):\n    return True", "True"),
    "not a bool": ("def check_func(final_state):\n    return final_state.get('loans')", "True or False"),
    "raises on damage": (
        "def check_func(final_state):\n    return final_state['loans']['L-1'].get('out') is False",
        "damaged",
    ),
    "another name": ("def check(final_state):\n    return False", ""),
}


@pytest.mark.parametrize("slip", CHECK_SLIPS)
def test_a_check_that_cannot_be_trusted_goes_back_with_the_fault(slip: str) -> None:
    source, word = CHECK_SLIPS[slip]
    model = author({"scenarios/check": [fenced(source)]})
    assert build_scenario(library.skeleton(), model).certificate.valid
    again = [b for b in asked(model, "scenarios/check") if b["feedback"]]
    assert [b["item"] for b in again] == [FIRST] and word in again[0]["feedback"]


def test_a_guard_that_is_broken_at_reset_goes_back() -> None:
    def slip(b: dict[str, str], _: object) -> str | None:
        return (
            fenced("def check_func(final_state):\n    return False")
            if b["kind"] == "guard" and not b["feedback"]
            else None
        )

    model = author({"scenarios/check": slip})
    assert build_scenario(library.skeleton(), model).certificate.valid
    assert any("guard" in b["feedback"] for b in asked(model, "scenarios/check"))


def test_a_check_that_stays_vacuous_is_refused_and_located() -> None:
    def slip(b: dict[str, str], _: object) -> str | None:
        return fenced("def check_func(final_state):\n    return True") if b["item"] == FIRST else None

    model = author({"scenarios/check": slip})
    with pytest.raises(PartRefused, match=r"scenarios/check.*L-1 of Emma"):
        build_scenario(library.skeleton(), model)
    told = [b["feedback"] for b in asked(model, "scenarios/check") if b["item"] == FIRST]
    assert (
        len(told) == len(set(told)) == 3
    )  # asked for anew each time, and not of a memory of the answer before


def test_what_is_only_strange_is_no_reason_to_refuse_at_the_last_try() -> None:
    """Two faults, then code that looks at a field nobody knows, and is right all the same."""
    right = ITEMS[FIRST][1]
    odd = right.replace("is False", "is False and loan.get('colour') is None")
    slips = [
        "def check_func(final_state):\n    return True",
        "def check_func(final_state):\n    return final_state['nothing']",
        odd,
    ]
    told = 0

    def slip(b: dict[str, str], _: object) -> str | None:
        nonlocal told
        if b["item"] != FIRST:
            return None
        told += 1
        return fenced(slips[min(told, len(slips)) - 1])

    model = author({"scenarios/check": slip})
    scenario = build_scenario(library.skeleton(), model)
    assert scenario.certificate.valid and "colour" in scenario.checks[0].source and told == 3


WITNESS_SLIPS = {
    "refused call": (witness(*WITNESS[3:]), "was refused"),
    "unknown tool": (witness({"tool": "burn_book", "arguments": {}}), "burn_book"),
    "wrong argument name": (witness({"tool": "get_member", "arguments": {"id": "M-1"}}), "get_member"),
    "wrong id": (witness({"tool": "return_book", "arguments": {"loan_id": "L-77"}}), "L-77"),
    "reference to nowhere": (
        witness({"tool": "return_book", "arguments": {"loan_id": {"$from": [5, "data", "loan_id"]}}}),
        "",
    ),
    "reference to a missing field": (
        witness(
            WITNESS[0], {"tool": "list_loans", "arguments": {"member_id": {"$from": [0, "data", 7, "nope"]}}}
        ),
        "",
    ),
    "changes nothing": (witness(WITNESS[0]), "change nothing"),
    "no calls": (witness(), "no calls"),
}


@pytest.mark.parametrize("slip", WITNESS_SLIPS)
def test_a_witness_that_is_refused_goes_back_with_the_refusal(slip: str) -> None:
    reply, word = WITNESS_SLIPS[slip]
    model = author({"scenarios/witness": [reply]})
    assert build_scenario(library.skeleton(), model).certificate.valid
    first, again = asked(model, "scenarios/witness")
    assert not first["feedback"] and again["feedback"] and word in again["feedback"]


def test_a_witness_that_does_half_is_told_what_is_open() -> None:
    model = author({"scenarios/witness": [witness(*WITNESS[:3])]})
    scenario = build_scenario(library.skeleton(), model)
    assert scenario.certificate.valid and len(scenario.witness) == len(WITNESS)
    assert "Ida Berg" in asked(model, "scenarios/witness")[1]["feedback"]


def test_an_over_strict_check_is_found_after_the_witness_was_confirmed() -> None:
    strict = ITEMS[FIRST][1].replace("is False", "is False and loan.get('due') == '2025-03-02'")
    model = author({"scenarios/check": [fenced(strict)]})
    assert build_scenario(library.skeleton(), model).certificate.valid
    assert any("meant to solve" in b["feedback"] for b in asked(model, "scenarios/check"))


def test_a_change_that_may_change_does_not_name_is_found() -> None:
    model = author({"scenarios/checklist": [checklist(["loans/L-1"])]})
    scenario = build_scenario(library.skeleton(), model)
    assert scenario.certificate.valid and scenario.may_change == MAY_CHANGE
    assert "may_change" in asked(model, "scenarios/checklist")[1]["feedback"]
    assert len(asked(model, "scenarios/check")) == len(ITEMS), (
        "checks of questions that stay are not asked for again"
    )


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (checklist(kinds=dict.fromkeys(ITEMS, "guard")), "no goal"),
        (checklist(texts=[FIRST, FIRST]), "twice"),
        (checklist(["shelves/+"]), "shelves"),
        (checklist(["loans/L-77"]), "L-77"),
        (json.dumps({"items": [], "may_change": []}), "no goal"),
    ],
)
def test_a_bad_checklist_goes_back(reply: str, word: str) -> None:
    model = author({"scenarios/checklist": [reply]})
    assert build_scenario(library.skeleton(), model).certificate.valid
    assert word in asked(model, "scenarios/checklist")[1]["feedback"]


def test_a_short_task_goes_back_and_stays_out_when_it_stays_short() -> None:
    short = json.dumps({"task": "Lend Emma to Ida."})
    model = author({"scenarios/task": [short]})
    assert len(build_scenario(library.skeleton(), model).task.split()) >= 50
    assert "4 words" in asked(model, "scenarios/task")[1]["feedback"]
    with pytest.raises(PartRefused, match=r"scenarios/task.*at least 50"):
        build_scenario(library.skeleton(), author({"scenarios/task": short}))


@pytest.mark.parametrize("state", [{}, {"x": 1}, {**STATE, "members": {}}])
def test_a_state_that_does_not_load_or_breaks_a_rule_goes_back(state: dict) -> None:
    model = author({"scenarios/state": [json.dumps(state)]})
    assert build_scenario(library.skeleton(), model).initial_state == STATE
    assert asked(model, "scenarios/state")[1]["feedback"]


def test_an_unsolvable_task_is_a_failure_with_the_reason() -> None:
    never = fenced("def check_func(final_state):\n    return final_state.get('never') is True")

    def slip(b: dict[str, str], _: object) -> str | None:
        return never if b["item"] == FIRST else None

    model = author({"scenarios/check": slip})
    made = build_scenarios([library.skeleton()], model, n=1, progress=False)
    [failure] = made.failures
    assert not made and failure.stage == "scenarios" and failure.parent_id == library.skeleton().id
    assert failure.error == "PartRefused" and "certificate" in failure.message
    parts = dict.fromkeys(row["part"] for row in failure.origin.settings["revisions"])
    assert failure.message.endswith(f"times: {', '.join(parts)})") and "check" in parts, "the parts at fault"
    assert len(model.requests) < 40, "bounded"


def test_no_two_tasks_of_a_skeleton_are_alike() -> None:
    def slip(b: dict[str, str], request: object) -> str | None:
        # Sample 1 says the same as sample 0; the one asked for instead says something else.
        return (
            json.dumps({"task": f"{TASK} Thank you, number {request.sample}."})
            if request.sample >= 3
            else None
        )

    model = author({"scenarios/task": slip})
    made = build_scenarios([library.skeleton()], model, n=3, progress=False)
    assert len(made) == 3 and len({scenario.task for scenario in made}) == 3 and not made.failures
    stubborn = build_scenarios([library.skeleton()], author(), n=2, progress=False)
    assert len(stubborn) == 1 and "same words" in stubborn.failures[0].message


def test_samples_are_asked_for_by_number() -> None:
    model = author()
    build_scenario(library.skeleton(), model, sample=7)
    assert {request.sample for request in model.requests} == {7}


def test_a_write_that_earns_nothing_goes_back() -> None:
    extra = {"tool": "lend_book", "arguments": {"book_id": "B-2", "member_id": "M-1", "due": "2025-04-15"}}
    model = author({"scenarios/witness": [witness(*WITNESS, extra)]})
    assert len(build_scenario(library.skeleton(), model).witness) == len(WITNESS)
    assert "without call 6" in asked(model, "scenarios/witness")[1]["feedback"]


def test_a_demand_nobody_checks_sends_the_checklist_back() -> None:
    model = author({"scenarios/checklist": [checklist(texts=list(ITEMS)[::2])]})
    scenario = build_scenario(library.skeleton(), model)
    assert len(scenario.checks) == len(ITEMS) and len(asked(model, "scenarios/check")) == len(ITEMS)


def test_the_built_in_path_is_certified() -> None:
    model = connect("builtin", fault_rate=0)
    theme = infer_theme(Task(text="Please book a double room in our hotel.", stateful=True), model)
    made = build_scenarios([build_skeleton(theme, model)], model, n=4, progress=False)
    assert len(made) == 4 and not made.failures
    assert all(scenario.certificate and scenario.certificate.valid for scenario in made)
    assert len({scenario.task for scenario in made}) == len({str(s.initial_state) for s in made}) == 4
