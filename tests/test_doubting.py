"""Doubting: what a scenario shows of the tools: errors by execution alone, warnings where nobody gives in."""

import json

import library
import pytest
from library import GREEDY, ITEMS, METHODS, STATE, TASK, author, fenced

from envscaler.posing.doubting import IN_DOUBT, doubtful_tools, evidence_of, faulty_tools, unsteady_tools
from envscaler.posing.drafting import Draft
from envscaler.scenarios import build_scenario, build_scenarios
from envscaler.schema import Call, Finding, Rule, Scenario
from envscaler.world.certificate import certify
from envscaler.world.environment import Environment

_, SECOND, _ = ITEMS
RAISES = METHODS["return_book"].replace("    if loan_id", "    self.nothing[loan_id]\n    if loan_id")
DEAF = METHODS["return_book"].replace('    self.loans[loan_id]["out"] = False\n', "")
"""return_book that says it did, and did not."""
STRICT = METHODS["lend_book"].replace(
    'not self.members[member_id]["active"]', 'self.members[member_id]["active"]'
)
"""lend_book that refuses those who may borrow."""
BLIND = METHODS["list_loans"].replace('if x["member_id"] == member_id and x["out"]', "")
"""list_loans of everybody."""


def failing(**methods: str) -> list[Finding]:
    """The findings of a scenario in a library with these methods."""
    made = build_scenarios([library.skeleton(**methods)], author(), n=1, progress=False)
    assert not made
    return made.failures[0].findings


def wheres(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(finding.kind, finding.severity, finding.where) for finding in findings]


def test_a_tool_that_raises_is_an_error() -> None:
    assert wheres(failing(return_book=RAISES))[0] == ("tool-fault", "error", "return_book")


def test_a_tool_that_breaks_a_rule_is_an_error() -> None:
    double = {"book_id": "B-1", "member_id": "M-1", "due": "2025-04-15"}
    draft = Draft(library.skeleton(lend_book=GREEDY), author())
    draft.complete()
    found = evidence_of(draft, [Call(tool="lend_book", arguments=double)])
    [finding] = faulty_tools(draft, found)
    assert (finding.kind, finding.severity, finding.where) == ("invariant", "error", "lend_book")
    assert finding.evidence["call"]["arguments"] == double and finding.evidence["before"] == STATE


def test_a_tool_that_does_not_do_what_it_says_is_in_doubt() -> None:
    findings = failing(return_book=DEAF)
    assert wheres(findings)[:2] == [(IN_DOUBT, "warning", "lend_book"), (IN_DOUBT, "warning", "return_book")]
    assert "No copy of B-1 is left" in findings[1].message, "the refusal that it led to"


def test_a_tool_that_leaves_a_goal_open_is_in_doubt() -> None:
    late = METHODS["lend_book"].replace('"due": due,', '"due": "2025-12-31",')
    findings = failing(lend_book=late)
    assert wheres(findings)[0] == (IN_DOUBT, "warning", "lend_book") and SECOND in findings[0].message
    assert "return_book" not in {finding.where for finding in findings}, "its goal was reached"


def test_a_tool_that_refuses_what_it_must_do_is_in_doubt_and_so_are_those_that_led_to_it() -> None:
    findings = failing(lend_book=STRICT)
    assert wheres(findings)[0] == (IN_DOUBT, "warning", "lend_book")
    assert "may not borrow" in findings[0].message
    assert {"find_book", "find_member"} <= {finding.where for finding in findings}


def test_a_look_up_that_leads_astray_is_in_doubt() -> None:
    first = {**STATE["loans"]}
    state = {**STATE, "loans": {"L-3": first["L-3"], "L-1": first["L-1"], "L-2": first["L-2"]}}
    model = author({"scenarios/state": json.dumps(state)})
    made = build_scenarios([library.skeleton(list_loans=BLIND)], model, n=1, progress=False)
    assert not made and "list_loans" in {finding.where for finding in made.failures[0].findings}


def test_the_call_can_be_made_again_from_the_evidence() -> None:
    skeleton = library.skeleton(return_book=DEAF)
    finding = failing(return_book=DEAF)[1]
    call = finding.evidence["call"]
    with Environment(skeleton, finding.evidence["before"]) as environment:
        environment.reset()
        assert environment.call(call["tool"], call["arguments"]) == finding.evidence["reply"]
        assert environment.diff == finding.evidence["diff"] == {}


def test_nothing_is_said_against_tools_of_a_scenario_that_is_proved_at_once() -> None:
    scenario = build_scenario(library.skeleton(), author())
    assert "doubts" not in scenario.origin.settings and "revisions" not in scenario.origin.settings


def test_a_scenario_that_was_had_by_another_task_keeps_its_doubts() -> None:
    def task(b: dict[str, str], _: object) -> str:
        kept = TASK.replace("please take it back for him and", "please")
        return json.dumps({"task": kept if b["feedback"] else TASK})

    def checklist(b: dict[str, str], _: object) -> str | None:
        if "take it back" in b["task"]:
            return None
        item = "Has a loan of Kim to Ida Berg been added?"
        return json.dumps({"items": [{"item": item, "kind": "goal"}], "may_change": ["loans/+", "next_loan"]})

    source = ITEMS[SECOND][1].replace("'B-1'", "'B-2'")
    lend = {"tool": "lend_book", "arguments": {"book_id": "B-2", "member_id": "M-1", "due": "2025-04-15"}}
    slips = {
        "scenarios/task": task,
        "scenarios/checklist": checklist,
        "scenarios/check": lambda b, _: fenced(source) if "Kim to Ida" in b["item"] else None,
        "scenarios/witness": lambda b, _: (
            None if "take it back" in b["task"] else json.dumps({"calls": [lend]})
        ),
    }
    scenario = build_scenario(library.skeleton(return_book=DEAF), author(slips))
    assert scenario.certificate.valid and len(scenario.witness) == 1
    doubts = [Finding.model_validate(doubt) for doubt in scenario.origin.settings["doubts"]]
    assert (IN_DOUBT, "warning", "return_book") in wheres(doubts)


def test_a_tool_that_is_not_the_same_twice_is_an_error() -> None:
    draft = Draft(library.skeleton(), author())
    draft.complete()
    one, other = (evidence_of(draft, draft.witness) for _ in range(2))
    assert unsteady_tools(one, other) == []
    other.replies[2] = {"success": True, "data": "something else"}
    assert wheres(unsteady_tools(one, other)) == [("nondeterministic", "error", "return_book")]


def test_a_rule_that_cannot_say_is_doubted_itself_and_no_tool_for_it() -> None:
    # Of a state alone it says yes, so that a scenario can begin.
    mute = "def invariant(before, after, call):\n    return call is None or after['shelves'] == {}\n"
    rules = [*library.skeleton().rules, Rule(text="Shelves are empty.", invariant=mute)]
    world = library.skeleton().replace(rules=rules)
    made = build_scenarios([world], author(), n=1, progress=False)
    [failure] = made.failures
    [finding] = failure.findings
    assert (finding.kind, finding.severity, finding.where) == ("invariant-broken", "warning", "rules")
    assert "Shelves are empty." in finding.message and finding.evidence["call"]["tool"] == "find_member"


def test_the_scenario_that_a_tool_stands_in_the_way_of_can_be_tried_again_from_the_evidence() -> None:
    for finding in failing(return_book=DEAF):
        scenario = Scenario.model_validate(finding.evidence["scenario"])
        assert not certify(library.skeleton(return_book=DEAF), scenario, seed=finding.evidence["seed"]).valid
        assert certify(library.skeleton(), scenario, seed=finding.evidence["seed"]).valid


@pytest.mark.parametrize("calls", [[], [Call(tool="burn_book", arguments={})]])
def test_calls_of_no_tool_put_none_in_doubt(calls: list[Call]) -> None:
    draft = Draft(library.skeleton(), author())
    draft.complete()
    found = evidence_of(draft, calls)
    assert not [f for f in doubtful_tools(draft, calls, found) if f.where == "burn_book"]
    assert faulty_tools(draft, found) == []
