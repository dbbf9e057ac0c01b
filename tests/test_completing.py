"""Completing: faults of tools go back to their author, and in the end every scenario there should be is certified."""

import json

import library
import pytest
from library import TASK, asked, author, fenced
from test_doubting import BLIND, DEAF

from envscaler.audits import audit_skeleton, passing
from envscaler.error import ModelError, ParameterError
from envscaler.model.connect import connect
from envscaler.posing import completing
from envscaler.posing.completing import (
    complete_scenarios,
    findings_against,
    revision_table,
    revisions_of,
    yield_table,
)
from envscaler.scenarios import build_scenarios
from envscaler.schema import Task
from envscaler.skeletons import build_skeleton
from envscaler.store import Records, read_records, write_records
from envscaler.themes import infer_theme
from envscaler.world.certificate import certify


def numbered(slips: dict | None = None) -> object:
    """An author whose tasks differ from sample to sample."""

    def task(b: dict[str, str], request: object) -> str:
        return json.dumps({"task": f"{TASK} Thank you, number {request.sample}."})  # type: ignore[attr-defined]

    return author({"scenarios/task": task, **(slips or {})})


def test_a_broken_tool_is_mended_and_its_scenarios_are_had() -> None:
    good, bad = library.skeleton(), library.skeleton(return_book=DEAF)
    model = numbered()
    made = build_scenarios([bad], model, n=2, progress=False)
    assert not made and len(made.failures) == 2
    done = complete_scenarios([bad], made, model, n=2, progress=False)
    assert [skeleton.id for skeleton in done.skeletons] == [good.id]
    assert len(done.scenarios) == 2 and not done.scenarios.failures
    for scenario in done.scenarios:
        assert scenario.skeleton_id == good.id and scenario.certificate.valid
        assert certify(done.skeletons[0], scenario).valid
    audit = audit_skeleton(bad, author(), rounds=3, repairs=0)
    [amended] = done.audits([audit])
    assert amended.repaired == done.skeletons[0] and passing([bad], [amended], threshold=0) == done.skeletons
    assert {f.where for f in amended.findings if f.kind == "found-by-scenarios"} == {"return_book"}
    assert done.audits([audit_skeleton(good, author(), rounds=3)])[0].repaired is None
    frame = done.frame()
    assert frame["certified"].tolist() == [0, 2] and frame["tools mended"].tolist() == [0, 1]
    assert frame["yield"].tolist() == [0.0, 1.0]


def test_where_nothing_is_missing_and_nothing_in_doubt_nothing_is_asked() -> None:
    skeleton, model = library.skeleton(), numbered()
    made = build_scenarios([skeleton], model, n=2, progress=False)
    before = len(model.requests)
    done = complete_scenarios([skeleton], made, model, n=2, progress=False)
    assert done.skeletons == [skeleton] and done.scenarios == made and len(model.requests) == before
    assert len(done.frame()) == 1


def test_an_author_who_stays_by_the_broken_tool_ends_in_failures() -> None:
    skeleton = library.skeleton(return_book=DEAF)
    model = numbered({"audits/repair": lambda b, _: fenced(b["tool_source"])})
    made = build_scenarios([skeleton], model, n=1, progress=False)
    done = complete_scenarios([skeleton], made, model, n=1, rounds=2, progress=False)
    assert done.skeletons == [skeleton] and not done.scenarios
    [failure] = done.scenarios.failures
    assert "return_book" in {finding.where for finding in failure.findings}
    assert done.frame()["certified"].tolist() == [0, 0, 0]


def test_a_mended_skeleton_that_carries_fewer_scenarios_is_given_up(monkeypatch) -> None:
    skeleton, worse = library.skeleton(), library.skeleton(return_book=DEAF)
    made = build_scenarios([skeleton], numbered(), n=2, progress=False)
    doubt = build_scenarios([worse], numbered(), n=1, progress=False).failures[0]
    made.failures.append(doubt.model_copy(update={"parent_id": skeleton.id}))
    monkeypatch.setattr(completing, "mend_skeletons", lambda *given, **named: Records([worse]))
    done = complete_scenarios([skeleton], made, numbered(), n=2, rounds=1, progress=False)
    assert done.skeletons == [skeleton] and [s.id for s in done.scenarios] == [s.id for s in made]


def test_an_author_who_believes_evidence_against_a_tool_that_is_right_is_not_asked() -> None:
    skeleton = library.skeleton()
    made = build_scenarios([skeleton], numbered(), n=2, progress=False)
    doubt = build_scenarios([library.skeleton(return_book=DEAF)], numbered(), n=1, progress=False).failures[0]
    made.failures.append(doubt.model_copy(update={"parent_id": skeleton.id}))
    model = numbered()
    done = complete_scenarios([skeleton], made, model, n=2, rounds=1, progress=False)
    assert not asked(model, "audits/repair"), "in this world the scenario is certified"
    assert done.skeletons == [skeleton] and [s.id for s in done.scenarios] == [s.id for s in made]


def test_a_scenario_whose_skeleton_is_not_given_is_a_failure_and_not_lost() -> None:
    here, elsewhere = library.skeleton(), library.skeleton(list_loans=BLIND)
    made = build_scenarios([here, elsewhere], numbered(), n=1, progress=False)
    assert len(made) == 2
    far = build_scenarios([library.skeleton(return_book=DEAF)], numbered(), n=1, progress=False).failures
    for n in (1, 2):
        done = complete_scenarios([here], Records(made, far), numbered(), n=n, progress=False)
        assert {scenario.skeleton_id for scenario in done.scenarios} == {here.id}
        assert len(done.scenarios) == n and done.frame()["yield"].tolist()[-1] == 1.0
        kept, [stray] = done.scenarios.failures[:1], done.scenarios.failures[1:]
        assert kept == far and stray.parent_id == elsewhere.id
        assert made[1].id in stray.message and elsewhere.id in stray.message and stray.stage == "scenarios"
    assert complete_scenarios([], made, numbered(), n=1, progress=False).frame()["yield"].tolist() == [0.0]


def test_only_a_certified_scenario_counts_and_only_once() -> None:
    world = library.skeleton()
    made = build_scenarios([world], numbered(), n=2, progress=False)
    twice = complete_scenarios([world], [*made, *made], numbered(), n=3, rounds=0, progress=False)
    assert [s.id for s in twice.scenarios] == [s.id for s in made], "a plain list will do"
    assert twice.frame()["certified"].tolist() == [2]
    first, *rest = made[1].certificate.proofs
    failed = [first.model_copy(update={"status": "failed"}), *rest]
    invalid = made[1].certificate.model_copy(update={"proofs": failed})
    for certificate in (None, invalid):
        bare = made[1].replace(certificate=certificate)
        done = complete_scenarios([world], [made[0], bare], numbered(), n=1, progress=False)
        assert done.scenarios == made[:1] and done.frame()["certified"].tolist() == [1]
        [failure] = done.scenarios.failures
        assert failure.error == "NotCertified" and failure.parent_id == bare.id
    assert len(complete_scenarios([world], [], numbered(), n=1, progress=False).scenarios) == 1
    assert not complete_scenarios([], [], numbered(), progress=False).scenarios


@pytest.mark.parametrize(
    "odd",
    [{"n": -1}, {"n": 0}, {"n": "2"}, {"rounds": -1}, {"scenarios": None}, {"scenarios": ["x"]},
     {"skeletons": [None]}, {"audits": None}],
)  # fmt: skip
def test_what_cannot_be_completed_is_refused_in_a_sentence(odd: dict) -> None:
    given = {"skeletons": [library.skeleton()], "scenarios": [], "model": numbered(), **odd}
    with pytest.raises(ParameterError, match=r"^Expected "):
        complete_scenarios(**given, progress=False)


def test_worlds_that_would_become_the_same_stay_apart() -> None:
    good, bad = library.skeleton(), library.skeleton(return_book=DEAF)
    made = build_scenarios([good, bad], numbered(), n=1, progress=False)
    done = complete_scenarios([good, bad, bad], made, numbered(), n=1, rounds=1, progress=False)
    assert done.skeletons == [good, bad] and [s.skeleton_id for s in done.scenarios] == [good.id]
    assert {failure.parent_id for failure in done.scenarios.failures} == {bad.id}


def test_an_author_who_cannot_be_reached_is_a_failure_beside_the_skeletons() -> None:
    def lost(b: dict[str, str], _: object) -> str:
        raise ModelError("The server is gone.")

    bad = library.skeleton(return_book=DEAF)
    model = numbered({"audits/repair": lost})
    made = build_scenarios([bad], model, n=1, progress=False)
    done = complete_scenarios([bad], made, model, n=1, rounds=1, progress=False)
    [failure] = done.skeletons.failures
    assert failure.stage == "mending" and "gone" in failure.message and done.skeletons == [bad]


def test_what_still_stands_against_a_world_goes_back_to_its_audit() -> None:
    bad = library.skeleton(return_book=DEAF)
    model = numbered({"audits/repair": lambda b, _: fenced(b["tool_source"])})
    made = build_scenarios([bad], model, n=2, progress=False)
    done = complete_scenarios([bad], made, model, n=2, rounds=1, progress=False)
    audit = audit_skeleton(bad, author(), rounds=3, repairs=0)
    [amended] = done.audits([audit])
    assert amended.repaired is None and amended.probes == audit.probes
    new = [(f.kind, f.where) for f in amended.findings if f not in audit.findings]
    assert ("tool-in-doubt", "return_book") in new and len(new) == len(set(new)), "each once"


def test_missing_scenarios_are_written_with_other_samples_also_where_no_tool_is_in_doubt() -> None:
    skeleton = library.skeleton()

    def short(b: dict[str, str], request: object) -> str:
        sample = request.sample  # type: ignore[attr-defined]
        return json.dumps({"task": "Too short." if sample == 1 else f"{TASK} Thank you, number {sample}."})

    model = author({"scenarios/task": short})
    made = build_scenarios([skeleton], model, n=2, progress=False)
    assert len(made) == 1
    done = complete_scenarios([skeleton], made, model, n=2, progress=False)
    assert len(done.scenarios) == 2 and done.scenarios[0] == made[0] and not done.scenarios.failures
    assert len({scenario.task for scenario in done.scenarios}) == 2


def test_revisions_and_yields_are_told_and_survive_the_disk(tmp_path) -> None:
    calls = json.dumps({"calls": library.WITNESS[:3]})
    made = build_scenarios(
        [library.skeleton()], numbered({"scenarios/witness": [calls]}), n=2, progress=False
    )
    made.failures += build_scenarios(
        [library.skeleton(return_book=DEAF)], numbered(), n=1, progress=False
    ).failures
    write_records(made, tmp_path / "s.jsonl")
    read = read_records(tmp_path / "s.jsonl", type(made[0]))
    assert read == made
    table = yield_table(made)
    assert table["revisions"].tolist() == ["0", "1", "refused"] and table["scenarios"].tolist() == [1, 1, 1]
    assert table["yield so far"].round(2).tolist() == [0.33, 0.67, 0.67]
    parts = revision_table(made).set_index("part")
    assert parts.loc["witness", "certified"] == 1 and parts.loc["task", "refused"] >= 1
    assert [row["part"] for row in revisions_of(made[0])] == ["witness"] and revisions_of(made[1]) == []
    assert len(findings_against(made)) == 1


def test_the_built_in_path_is_complete_with_faults_and_without() -> None:
    for rate in (0.0, 0.15):
        model = connect("builtin", fault_rate=rate)
        theme = infer_theme(Task(text="Track the parcels of our depot.", stateful=True), model)
        skeleton = build_skeleton(theme, model)
        made = build_scenarios([skeleton], model, n=3, progress=False)
        done = complete_scenarios([skeleton], made, model, n=3, progress=False)
        assert len(done.scenarios) == 3 and not done.scenarios.failures
        assert rate or len(made) == 3
        assert {s.skeleton_id for s in done.scenarios} == {s.id for s in done.skeletons}
