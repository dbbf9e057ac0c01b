"""Audits: balanced probes, verdicts, broken rules, repair that has to help, and nonsense that costs one round."""

import json
from itertools import pairwise

import library
import pytest
from library import GREEDY, METHODS, STATE, asked, author, fenced

from envscaler.auditing.probing import counts_by_tool
from envscaler.audits import against_truth, audit_skeleton, audit_skeletons, passing
from envscaler.error import ParameterError, PartRefused
from envscaler.model.connect import connect
from envscaler.schema import Audit, Probe, Task
from envscaler.skeletons import build_skeleton
from envscaler.themes import infer_theme


def judge_fails(*tools: str) -> object:
    """A checker that fails these tools."""

    def slip(b: dict[str, str], _: object) -> str | None:
        if json.loads(b["call"])["tool"] in tools:
            return json.dumps({"analysis": "", "verdict": "fail", "reason": "It is wrong."})
        return None

    return slip


def test_a_good_skeleton_passes_with_probes_balanced_over_tools_and_intents() -> None:
    skeleton = library.skeleton()
    audit = audit_skeleton(skeleton, author(), rounds=18)
    counts = counts_by_tool(audit.probes, [tool.name for tool in skeleton.tools])
    assert audit.skeleton_id == skeleton.id and audit.initial_state == STATE and audit.repaired is None
    assert (counts["total"] == 3).all() and (counts[["positive", "boundary", "negative"]] == 1).all(axis=None)
    assert audit.not_fail_rate == audit.pass_rate == 1.0
    assert not [f for f in audit.findings if f.severity == "error"]


def test_negative_probes_reach_the_tool() -> None:
    audit = audit_skeleton(library.skeleton(), author(), rounds=18)
    probe = next(p for p in audit.probes if p.tool == "get_member" and p.intent == "negative")
    assert probe.reply == {"success": False, "error": "There is no member 'M-99'."} and not probe.diff


def test_the_state_rolls_on() -> None:
    model = author()
    audit_skeleton(library.skeleton(), model, rounds=18)
    seen = [json.loads(b["state"]) for b in asked(model, "audits/probe")]
    assert seen[0] == STATE and seen[-1] != STATE
    before_and_after = [
        (json.loads(b["before"]), json.loads(b["after"])) for b in asked(model, "audits/judge")
    ]
    assert all(one[1] == two[0] for one, two in pairwise(before_and_after))


def test_no_tool_is_tried_too_often_however_many_the_rounds() -> None:
    def stubborn(b: dict[str, str], _: object) -> str:
        return json.dumps(
            {"thought": "", "tool": "get_member", "intent": "positive", "arguments": {"member_id": "M-1"}}
        )

    audit = audit_skeleton(library.skeleton(), author({"audits/probe": stubborn}), rounds=14)
    assert len(audit.probes) == 10
    [skips] = [f for f in audit.findings if f.kind == "probes-skipped"]
    assert skips.evidence == {"skipped": 4}
    assert len(audit_skeleton(library.skeleton(), author({"audits/probe": stubborn}), rounds=72).probes) == 10


@pytest.mark.parametrize(
    "nonsense",
    [
        "I am not sure.",
        json.dumps({"thought": "", "tool": "burn_book", "intent": "positive", "arguments": {}}),
        json.dumps(
            {"thought": "", "tool": "get_member", "intent": "positive", "arguments": {"member_id": 7}}
        ),
        json.dumps(
            {"thought": "", "tool": "get_member", "intent": "wild", "arguments": {"member_id": "M-1"}}
        ),
    ],
)
def test_nonsense_of_the_tester_is_asked_again_then_skipped_and_counted(nonsense: str) -> None:
    once = author({"audits/probe": [nonsense]})
    assert len(audit_skeleton(library.skeleton(), once, rounds=6).probes) == 6
    always = author({"audits/probe": nonsense})
    audit = audit_skeleton(library.skeleton(), always, rounds=6)
    assert audit.probes == [] and audit.not_fail_rate == 0.0
    assert next(f for f in audit.findings if f.kind == "probes-skipped").evidence == {"skipped": 6}
    assert len(always.requests) <= 1 + 6 * 2


def test_nonsense_of_the_checker_is_skipped_and_counted() -> None:
    audit = audit_skeleton(library.skeleton(), author({"audits/judge": ["Fine!", "Fine!"]}), rounds=6)
    assert len(audit.probes) == 5
    assert any(f.kind == "probes-skipped" for f in audit.findings)


def test_a_broken_rule_is_a_finding_and_a_fail_whatever_the_checker_says() -> None:
    skeleton = library.skeleton(lend_book=GREEDY)
    audit = audit_skeleton(skeleton, author(), rounds=18, repairs=0)
    failed = [p for p in audit.probes if p.verdict == "fail"]
    assert {p.tool for p in failed} == {"lend_book"}
    assert any(library.RULES[0] in f"{f.where} {f.message}" for f in audit.findings)
    # The call is undone, so that the probes after it begin in a state that keeps the rules.
    assert len(failed) == 1 or all(p.arguments != failed[0].arguments for p in failed[1:])


def test_a_failing_tool_is_repaired_with_its_evidence_and_probed_anew() -> None:
    skeleton = library.skeleton(lend_book=GREEDY)
    model = author()
    audit = audit_skeleton(skeleton, model, rounds=18)
    assert audit.repaired is not None and audit.repaired.source == library.skeleton().source
    assert audit.skeleton_id == skeleton.id != audit.repaired.id
    assert len(audit.probes) == 18 and audit.not_fail_rate == 1.0
    [repair] = asked(model, "audits/repair")
    assert "def lend_book" in repair["tool_source"] and json.loads(repair["evidence"])[0]["verdict"] == "fail"
    assert passing([skeleton], [audit])[0].id == audit.repaired.id


def test_a_repair_that_does_not_help_is_not_kept() -> None:
    worse = fenced(GREEDY.replace("Lent.", "Lent again."))
    model = author({"audits/repair": worse})
    audit = audit_skeleton(library.skeleton(lend_book=GREEDY), model, rounds=18)
    assert audit.repaired is None and any(p.verdict == "fail" for p in audit.probes)
    assert len(asked(model, "audits/repair")) <= 2


def test_a_repair_that_refuses_everything_is_not_kept_though_no_checker_minds() -> None:
    head = METHODS["lend_book"].partition("    if book_id")[0]
    never = f'{head}    return {{"success": False, "error": "The desk is closed."}}\n'
    model = author({"audits/repair": fenced(never)})
    audit = audit_skeleton(library.skeleton(lend_book=GREEDY), model, rounds=18)
    assert asked(model, "audits/repair") and audit.repaired is None


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        (
            METHODS["lend_book"]
            .replace("due: str)", "due: str, force: bool)")
            .replace("Args:", "Args:\n        force: x"),
            "stay",
        ),
        (METHODS["lend_book"].replace("def lend_book", "def lend"), "must be called"),
    ],
)
def test_a_repair_that_changes_the_interface_goes_back(fault: str, word: str) -> None:
    model = author({"audits/repair": [fenced(fault)]})
    audit = audit_skeleton(library.skeleton(lend_book=GREEDY), model, rounds=18)
    assert word in asked(model, "audits/repair")[1]["feedback"] and audit.repaired is not None


def test_repairs_are_bounded_and_reasons_are_told() -> None:
    model = author({"audits/judge": judge_fails("get_member", "find_member", "find_book")})
    audit = audit_skeleton(library.skeleton(), model, rounds=18)
    assert audit.not_fail_rate == 0.5
    assert any(f.kind == "below-threshold" for f in audit.findings)
    skeleton = library.skeleton()
    dropped = passing([skeleton], [audit])
    assert (
        not dropped
        and "50%" in dropped.failures[0].message
        and "get_member 3×" in dropped.failures[0].message
    )


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ({}, "empty"),
        ({"shelves": {"S": {}}}, "shelves"),
        ({**STATE, "books": {"B-1": {"book_id": "B-9", "title": "", "copies": 1}}}, "own id"),
        ({**STATE, "books": {"B-1": {"book_id": "B-1", "title": ""}}}, "copies"),
        ({**STATE, "books": [1]}, ""),
        ({**STATE, "members": {}}, ""),
    ],
)
def test_a_state_that_will_not_do_goes_back(state: dict, word: str) -> None:
    model = author({"audits/initial_state": [json.dumps(state)]})
    audit = audit_skeleton(library.skeleton(), model, rounds=1)
    assert audit.initial_state == STATE
    assert word in asked(model, "audits/initial_state")[1]["feedback"] != ""


def test_a_state_that_never_loads_is_a_failure() -> None:
    model = author({"audits/initial_state": json.dumps({"shelves": {}})})
    with pytest.raises(PartRefused, match="shelves"):
        audit_skeleton(library.skeleton(), model, rounds=1)
    [failure] = audit_skeletons([library.skeleton()], model, rounds=1, progress=False).failures
    assert failure.stage == "audits" and failure.parent_id == library.skeleton().id
    assert len(model.requests) <= 12


def test_a_rule_no_state_keeps_is_doubted_and_not_held_against_tools() -> None:
    broken = {**STATE, "books": {**STATE["books"], "B-1": {**STATE["books"]["B-1"], "copies": 0}}}
    audit = audit_skeleton(library.skeleton(), author({"audits/initial_state": json.dumps(broken)}), rounds=6)
    assert any(f.kind == "rule-broken-at-start" for f in audit.findings)
    assert all(p.verdict == "pass" for p in audit.probes)


def test_a_tool_that_raises_or_hangs_does_not_end_the_audit() -> None:
    raising = METHODS["find_book"].replace("    return {", "    x = 1 // 0\n    return {")
    audit = audit_skeleton(library.skeleton(find_book=raising), author(), rounds=12, repairs=0)
    assert len(audit.probes) == 12
    assert any(f.severity == "error" and f.where == "find_book" for f in audit.findings)
    assert all(p.verdict == "fail" for p in audit.probes if p.tool == "find_book")


def probe(tool: str, verdict: str) -> Probe:
    return Probe(tool=tool, arguments={}, intent="positive", verdict=verdict)


def test_passing_by_either_metric_at_the_threshold() -> None:
    skeleton = library.skeleton()
    verdicts = ["pass"] * 15 + ["warning"] * 2 + ["fail"] * 3
    audit = Audit(skeleton_id=skeleton.id, probes=[probe("a", v) for v in verdicts])
    assert passing([skeleton], [audit], threshold=0.85) == [skeleton]
    assert not passing([skeleton], [audit], threshold=0.86)
    assert not passing([skeleton], [audit], metric="pass")
    assert passing([skeleton], [audit], threshold=0.75, metric="pass")
    assert "not audited" in passing([skeleton], []).failures[0].message
    with pytest.raises(ParameterError, match="metric"):
        passing([skeleton], [audit], metric="mean")


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="rounds"):
        audit_skeleton(library.skeleton(), author(), rounds=0)


def test_the_counts_table() -> None:
    table = counts_by_tool([probe("b", "pass"), probe("b", "fail")], ["a", "b"])
    assert list(table.columns) == ["total", "positive", "boundary", "negative", "pass", "warning", "fail"]
    assert table.loc["b"].tolist() == [2, 2, 0, 0, 1, 0, 1] and table.loc["a"].sum() == 0


def test_the_built_in_path_seeded_faults_are_found_and_repaired() -> None:
    clean, sloppy = connect("builtin", fault_rate=0), connect("builtin", fault_rate=0.6)
    theme = infer_theme(Task(text="Please book a double room in our hotel.", stateful=True), clean)
    whole = audit_skeleton(build_skeleton(theme, clean), clean, rounds=60)
    assert whole.not_fail_rate == 1.0 and not [f for f in whole.findings if f.severity == "error"]
    faulty = build_skeleton(theme, sloppy)
    before = audit_skeleton(faulty, sloppy, rounds=60, repairs=0)
    after = audit_skeleton(faulty, sloppy, rounds=60)
    assert before.not_fail_rate < 1.0 and after.repaired is not None
    assert after.not_fail_rate > before.not_fail_rate and len(after.probes) >= 55


def test_every_tool_is_held_against_its_true_form() -> None:
    true, faulty = library.skeleton(), library.skeleton(lend_book=GREEDY)

    def fate(audit: Audit) -> dict[str, str]:
        return against_truth([true], [faulty], [audit]).set_index("tool")["fate"].to_dict()

    bare = Audit(skeleton_id=faulty.id)
    failing = [
        Probe(tool=t, arguments={}, intent="positive", verdict="fail") for t in ("lend_book", "find_book")
    ]
    sound = dict.fromkeys(METHODS, "sound")
    assert fate(bare) == {**sound, "lend_book": "unseen"}
    assert fate(bare.replace(probes=failing)) == {**sound, "lend_book": "seen", "find_book": "false alarm"}
    assert fate(bare.replace(repaired=true)) == {**sound, "lend_book": "repaired"}
    assert against_truth([], [faulty], [bare]).empty
