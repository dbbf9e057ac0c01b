"""Examining one environment or scenario: what is found is in the record, and what cannot be loaded is a row too.

Run: python -m pytest tests/test_examining.py -q
"""

import pytest
from worlds import LOANS, STATE, scenario, skeleton

from envscaler.certifying.examine import Options, chances, examine_environment, examine_scenario
from envscaler.certifying.surveying import survey
from envscaler.schema import Call, Check

QUICK = Options(calls=60)
VACUOUS = Check(
    item="Is Dune there?", source="def check_func(final_state):\n    return 'B-1' in final_state['books']"
)


def test_an_environment_is_counted_and_judged() -> None:
    row = examine_environment(skeleton(), STATE, name="env_1", options=QUICK)
    assert (row.name, row.class_name, row.tools, row.parameters) == ("env_1", "Library", 4, 6)
    assert row.described == 6 and row.refused == {
        "OpenAI": 0,
        "Gemini": 0,
        "Anthropic": 0,
        "vLLM": 0,
        "any": 0,
    }
    assert row.chances == ["datetime.now", "random.randint", "uuid.uuid4"]
    assert row.replies > 0 and 0 < row.aliased <= row.replies


def test_a_class_that_cannot_be_loaded_is_a_row_with_the_reason() -> None:
    broken = skeleton(LOANS.replace("self.counter = 0", "self.counter = 1 / 0"))
    row = examine_environment(broken, STATE, options=QUICK)
    assert any(f.kind == "no-load" and "ZeroDivisionError" in f.message for f in row.findings)
    made = examine_scenario(broken, scenario(broken), options=QUICK)
    assert [p.status for p in made.certificate.proofs] == ["failed"] and made.paid == {}


def test_a_tool_that_cannot_succeed_is_noticed() -> None:
    never = """        return {"success": False, "error": "No."}\n"""
    source = LOANS.replace(
        "        loan = self.loans.pop(loan_id)\n", f"{never}        loan = self.loans.pop(loan_id)\n"
    )
    assert set(survey(skeleton(source), STATE).never) == {"take_back"}
    assert survey(skeleton(), STATE).never == {}


def test_chances_are_read_off_the_code() -> None:
    assert chances("import uuid\nfrom uuid import uuid4\nuuid4()\nx.datetime.now()\nself.date.today()") == [
        "date.today", "datetime.now", "uuid.uuid4",
    ]  # fmt: skip
    assert chances("now()\ndatetime(2020, 1, 1)\n") == chances("def") == []


def test_a_scenario_that_pays_for_nothing() -> None:
    made = scenario(checks=[*scenario().checks, VACUOUS], witness=[], may_change=[])
    row = examine_scenario(skeleton(), made, name="task_1", environment="env_1", options=QUICK)
    assert row.vacuous == ["Is Dune there?"] and row.checks == 2
    assert row.paid["nothing"].paper == row.paid["nothing"].default == 0.5
    assert row.paid["nothing"].strict == 0.0
    assert row.paid["wiped"].default == 0.0, "wiping is no bystander's fate"
    assert "vacuous" in {f.kind for f in row.findings}
    assert {p.status for p in row.certificate.proofs if "witness" in p.name} == {"unproved"}
    assert row.searched is None and row.witness == []


def test_a_broken_check_is_none_and_never_zero() -> None:
    broken = Check(item="?", source="def check_func(final_state):\n    return 1 / 0")
    row = examine_scenario(skeleton(), scenario(checks=[broken, *scenario().checks]), options=QUICK)
    assert row.paid["nothing"].default is None and row.paid["nothing"].paper == 0.0


def test_a_witness_is_looked_for_where_it_is_asked_for_and_makes_sense() -> None:
    made = scenario(witness=[], may_change=[])
    row = examine_scenario(skeleton(), made, options=Options(search=2000))
    assert row.searched is not None and row.searched.result == "solved" and row.searched.found_by == "search"
    assert row.witness and row.certificate.resolved
    recorded = [[(Call(tool="lend", arguments={"book_id": "B-1", "member": 7}), None)]]
    row = examine_scenario(skeleton(), made, recorded=recorded)
    assert row.searched is not None and row.searched.found_by == "recorded"
    never = Check(
        item="?", source="def check_func(final_state):\n    return final_state['nowhere']['x'] == 1"
    )
    row = examine_scenario(
        skeleton(), made.model_copy(update={"checks": [never]}), options=Options(search=2000)
    )
    assert row.searched is None, "nobody looks for what cannot be"


def test_a_scenario_with_its_own_witness_is_certified_with_it() -> None:
    row = examine_scenario(skeleton(), scenario(), options=QUICK)
    assert len(row.witness) == 2
    assert {p.name: p.status for p in row.certificate.proofs}["witness replayed"] == "proved"


@pytest.mark.parametrize("checks", [[], [Check(item="?", source="")]])
def test_scenarios_without_checks_to_speak_of(checks: list) -> None:
    row = examine_scenario(skeleton(), scenario(checks=checks, witness=[]), options=QUICK)
    assert row.checks == len(checks) and not row.certificate.valid
