"""The audit under audit: what each layer says of planted faults and of untouched originals, on the village library."""

import json
from pathlib import Path

import library
import pytest

from envscaler.auditing.calibration import Sighting, calibrate_audits
from envscaler.error import ParameterError, StoreError
from envscaler.model.prompt import blocks
from envscaler.model.request import Request
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Usage
from envscaler.store import Records
from envscaler.world.mutants import sources
from envscaler.world.mutants.sources import KINDS

WORLD = library.skeleton()
STATES = {WORLD.id: library.STATE}
QUICK = {"states": STATES, "calls": 250, "progress": False, "workers": 1}
KIND = ["change on failure", "wrong field updated", "rule not enforced"]


def judge(says: object) -> ScriptedModel:
    """A model that judges; `says` is a verdict, or makes one of what it is shown."""

    def answer(request: Request) -> str:
        shown = blocks(request.messages)
        if request.step == "audits/probe":
            due = json.loads(shown["suggestion"])
            asked = {
                "get_member": {"member_id": "M-1"},
                "find_member": {"name": "Ida Berg"},
                "find_book": {"title": "Kim"},
            }
            given = {"return_book": {"loan_id": "L-1"}, "list_loans": {"member_id": "M-2"}, **asked}
            made = given.get(due["tool"], {"book_id": "B-2", "member_id": "M-1", "due": "2025-04-01"})
            return json.dumps({"thought": "", **due, "arguments": made})
        verdict = says(shown) if callable(says) else says
        return json.dumps(
            {"analysis": "Seen.", "verdict": verdict, "reason": "" if verdict == "pass" else "Bad."}
        )

    return ScriptedModel(answer, name="judge")


def honest(shown: dict[str, str]) -> str:
    """Fails what changed something although it refused."""
    return (
        "fail" if '"success": false' in shown["reply"].lower() and shown["diff"] not in ("{}", "") else "pass"
    )


@pytest.fixture(scope="module")
def measured() -> Records[Sighting]:
    return calibrate_audits(
        [WORLD], judge(honest), kinds=KIND, per_kind=2, rounds=4, tester="chance", **QUICK
    )


def of(rows: Records[Sighting], layer: str, kind: str) -> list[Sighting]:
    return [row for row in rows if row.layer == layer and row.kind == kind]


def test_every_layer_has_a_row_for_each_mutant_and_each_tool_of_the_original(
    measured: Records[Sighting],
) -> None:
    mutants = {row.mutant for row in measured if row.mutant}
    assert len(mutants) >= 4
    for layer in ("referee", "invariants", "judge"):
        rows = [row for row in measured if row.layer == layer]
        assert {row.mutant for row in rows if row.mutant} == mutants
        assert {row.tool for row in rows if not row.mutant} - {""} == {tool.name for tool in WORLD.tools}
    assert measured.failures == []


def test_the_referee_notices_what_execution_shows_and_is_silent_on_the_original(
    measured: Records[Sighting],
) -> None:
    assert all(
        row.new and row.by_execution and row.said for row in of(measured, "referee", "change on failure")
    )
    assert not any(row.told or row.new for row in measured if row.kind == "" and row.layer != "judge")


def test_an_invariant_notices_a_rule_not_enforced_and_the_referee_alone_does_not(
    measured: Records[Sighting],
) -> None:
    broken = [row for row in of(measured, "invariants", "rule not enforced") if row.by_execution]
    assert broken and all(row.new and "Broken rule" in row.said for row in broken)
    alone = [row for row in of(measured, "referee", "rule not enforced") if row.by_execution]
    assert not any(row.new for row in alone)


def test_the_judge_is_shown_the_mutant_and_says_which_probe_it_needed(measured: Records[Sighting]) -> None:
    seen = [row for row in of(measured, "judge", "change on failure") if row.new]
    assert seen and all(row.needed and 1 <= row.needed <= row.calls for row in seen)
    assert not any(row.told for row in of(measured, "judge", "wrong field updated"))
    assert all(row.needed is None for row in measured if row.layer != "judge")


def test_a_judge_that_always_fails_detects_nothing_and_cries_always() -> None:
    rows = calibrate_audits([WORLD], judge("fail"), kinds=KIND[:1], rounds=2, tester="chance", **QUICK)
    said = [row for row in rows if row.layer == "judge"]
    assert all(row.told for row in said) and not any(row.new for row in said)


def test_the_model_tests_where_it_is_asked_to_and_its_tokens_are_counted() -> None:
    model = judge("pass")
    rows = calibrate_audits([WORLD], model, kinds=KIND[:1], rounds=2, tester="model", **QUICK)
    steps = {request.step for request in model.requests}
    assert steps == {"audits/probe", "audits/judge"}
    said = [row for row in rows if row.layer == "judge"]
    assert sum((row.usage for row in said), Usage()).calls == len(model.requests)


def test_the_judge_is_given_as_many_probes_as_were_asked_for_also_more_than_an_audit_makes() -> None:
    rows = calibrate_audits([WORLD], judge("pass"), kinds=KIND[:1], rounds=13, tester="chance", **QUICK)
    judged = [row for row in rows if row.layer == "judge"]
    assert judged and {row.calls for row in judged} == {13}


def test_by_chance_the_model_is_asked_for_verdicts_only_and_sees_no_invariant_break() -> None:
    model = judge("pass")
    rows = calibrate_audits([WORLD], model, kinds=["rule not enforced"], rounds=3, tester="chance", **QUICK)
    assert {request.step for request in model.requests} == {"audits/judge"}
    # A tool may break down under the call; no rule may be what fails it.
    assert not any("rule" in row.said.lower() for row in rows if row.layer == "judge")


def test_same_seed_same_rows_but_for_the_time() -> None:
    one, other = (calibrate_audits([WORLD], kinds=KIND[:2], **QUICK) for _ in "ab")
    assert [row.id for row in one] == [row.id for row in other]
    assert [row.said for row in one] == [row.said for row in other]


def test_what_lies_in_the_folder_is_not_done_again_unless_the_settings_are_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = calibrate_audits([WORLD], kinds=KIND[:1], folder=tmp_path, **QUICK)
    assert len(list(tmp_path.iterdir())) == 1
    planted = []
    monkeypatch.setattr(
        "envscaler.auditing.calibration.mutants_of", lambda *a, **k: planted.append(a) or sources.Mutants()
    )
    again = calibrate_audits([WORLD], kinds=KIND[:1], folder=tmp_path, **QUICK)
    assert [row.id for row in again] == [row.id for row in first] and not planted
    calibrate_audits([WORLD], kinds=KIND[:1], folder=tmp_path, seed=1, **QUICK)
    assert len(planted) == 1


def test_without_a_model_the_layers_that_need_one_are_left_out() -> None:
    rows = calibrate_audits([WORLD], kinds=KIND[:1], **QUICK)
    assert {row.layer for row in rows} == {"referee", "invariants"}


def test_a_model_that_cannot_be_asked_is_a_failure_and_the_rest_goes_on() -> None:
    rows = calibrate_audits([WORLD], ScriptedModel([], name="mute"), kinds=KIND[:1], **QUICK)
    assert {row.layer for row in rows} == {"referee", "invariants"}
    assert [failure.error for failure in rows.failures] == ["ModelError"]


def test_a_state_is_asked_for_where_there_is_none() -> None:
    model = library.author()
    rows = calibrate_audits([WORLD], model, kinds=KIND[:1], rounds=1, **{**QUICK, "states": {}})
    assert library.asked(model, "audits/initial_state") and rows
    neither = calibrate_audits([WORLD], None, kinds=KIND[:1], **{**QUICK, "states": {}})
    assert [f.error for f in neither.failures] == ["ParameterError"] and not neither


WRONG = [
    {"kinds": ["typo"]}, {"kinds": "typo"}, {"kinds": 3}, {"kinds": [3]}, {"per_kind": 0}, {"per_kind": 1.5},
    {"rounds": 0}, {"rounds": True}, {"calls": 0}, {"calls": "9"}, {"tester": "zzz"}, {"tester": None}, {"seed": -1},
    {"seed": "x"}, {"workers": 0}, {"folder": 3}, {"folder": b"a"}, {"states": [library.STATE]}, {"states": {"a": 3}},
    {"model": "gpt-4.1"},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="Expected"):
        calibrate_audits([WORLD], **{**QUICK, **wrong})


@pytest.mark.parametrize("odd", [None, 3, "text", [3], library.scenario()])
def test_what_is_no_environment_is_told(odd: object) -> None:
    with pytest.raises(ParameterError, match="Expected one Skeleton or a list of them"):
        calibrate_audits(odd, **QUICK)  # type: ignore[arg-type]


def test_one_environment_one_kind_and_a_folder_by_its_name_will_do(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "rows"
    rows = calibrate_audits(WORLD, kinds=KIND[0], folder=str(folder), **QUICK)
    assert {row.kind for row in rows} == {"", KIND[0]} and [p.stem for p in folder.iterdir()] == [WORLD.id]


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "rows", "a\0b"):
        with pytest.raises(StoreError, match="Expected a folder to keep rows in"):
            calibrate_audits([WORLD], judge(honest), folder=folder, **QUICK)


def test_rows_from_which_the_judge_is_missing_are_made_again(tmp_path: Path) -> None:
    given = {"kinds": KIND[:1], "rounds": 1, "tester": "chance", "folder": tmp_path, **QUICK}
    assert calibrate_audits([WORLD], ScriptedModel([], name="judge"), **given).failures
    again = calibrate_audits([WORLD], judge(honest), **given)
    assert not again.failures and {"referee", "invariants", "judge"} == {row.layer for row in again}


def test_all_kinds_are_planted_unless_some_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        "envscaler.auditing.calibration.mutants_of",
        lambda _, kinds, *a, **k: asked.append(kinds) or sources.Mutants(),
    )
    calibrate_audits([WORLD], **QUICK)
    assert asked == [tuple(KINDS)]
