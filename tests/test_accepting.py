"""Accepting: what settles the evidence and spoils nothing that was right stays; whatever else comes out differently."""

import library
import pytest
from library import METHODS, STATE, author
from test_doubting import DEAF, RAISES, STRICT

from envscaler.auditing.accepting import Acceptance, changed_outcome, passed_probes, users_of
from envscaler.auditing.repair import with_methods
from envscaler.scenarios import build_scenarios
from envscaler.schema import Audit, Call, Check, Finding, Probe, Scenario, Skeleton
from envscaler.world.certificate import certify
from envscaler.world.environment import Environment

RETURN, LEND = METHODS["return_book"], METHODS["lend_book"]
_BODY = "    if loan_id not in"
REFUSES = f'{RETURN.partition(_BODY)[0]}    return {{"success": False, "error": "The desk is closed."}}\n'
SAYS_SO = REFUSES.replace(
    '"success": False, "error": "The desk is closed."', '"success": True, "message": "Returned.", "data": {}'
)
"""return_book that says it did, whatever it is given, and does nothing."""
CLEARS = RETURN.replace('    self.loans[loan_id]["out"] = False\n', "    self.loans.clear()\n").replace(
    "dict(self.loans[loan_id])", "{}"
)
LOSES = RETURN.replace(
    '    return {"success": True', "    self.members['M-3']['name'] = ''\n    return {\"success\": True"
)
"""return_book that is right, and spoils another table."""
LOSES_ELSEWHERE = LOSES.replace("    self.members", "    if loan_id == 'L-2':\n        self.members")
"""The same, but not where the scenario looks."""
ONLY_THIS = RETURN.replace('not self.loans[loan_id]["out"]', 'loan_id != "L-1"')
"""return_book that does what the scenario asks for, and refuses everybody else."""
LEFT_OPEN = LEND.replace('    if not self.members[member_id]["active"]:', "    if False:")
"""lend_book that lends to everybody."""


def findings(**methods: str) -> list[Finding]:
    """What a scenario in a library with these methods says against them."""
    made = build_scenarios([library.skeleton(**methods)], author(), n=1, progress=False)
    return made.failures[0].findings


@pytest.fixture(scope="module")
def deaf() -> list[Finding]:
    return [finding for finding in findings(return_book=DEAF) if finding.where == "return_book"]


@pytest.fixture(scope="module")
def raising() -> list[Finding]:
    return [finding for finding in findings(return_book=RAISES) if finding.kind == "tool-fault"]


def probes(world: Skeleton, *calls: tuple[str, dict]) -> Audit:
    """An audit of these calls, all of which passed."""
    rows = []
    with Environment(world, STATE) as environment:
        environment.reset()
        for tool, arguments in calls:
            reply = environment.call(tool, arguments)
            told = {"tool": tool, "arguments": arguments, "reply": reply, "diff": environment.diff}
            rows.append(Probe(intent="positive", verdict="pass", **told))
    return Audit(skeleton_id=world.id, initial_state=STATE, probes=rows)


def ruling(
    world: Skeleton, against: list[Finding], audit: Audit | None = None, **methods: str
) -> tuple[bool, str]:
    """Whether these methods are accepted in a world, and why not."""
    acceptance = Acceptance(world, audit=audit)
    settled, why = acceptance.accept(with_methods(world, methods), list(methods), acceptance.open(against))
    assert bool(settled) is not bool(why) and (acceptance.now is world) is not bool(settled)
    return bool(settled), why


def test_a_scenario_that_is_certified_with_it_speaks_for_a_version(deaf: list[Finding]) -> None:
    assert ruling(library.skeleton(return_book=DEAF), deaf, return_book=RETURN) == (True, "")


@pytest.mark.parametrize("method", [REFUSES, SAYS_SO, CLEARS, LOSES, DEAF.replace("open loan", "loan")])
def test_a_version_with_which_it_is_not_certified_is_not_accepted(deaf: list[Finding], method: str) -> None:
    accepted, why = ruling(library.skeleton(return_book=DEAF), deaf, return_book=method)
    assert not accepted and "scenario it stands in the way of still does" in why


@pytest.mark.parametrize(
    ("method", "call", "word"),
    [
        (ONLY_THIS, {"loan_id": "L-2"}, "no open loan"),
        (LOSES_ELSEWHERE, {"loan_id": "L-2"}, "rows changed in members"),
    ],
)
def test_what_passed_in_the_audit_must_come_out_alike(
    deaf: list[Finding], method: str, call: dict, word: str
) -> None:
    world = library.skeleton(return_book=DEAF)
    audit = probes(library.skeleton(), ("get_member", {"member_id": "M-1"}), ("return_book", call))
    # Probes of the version that is there now, which succeeded, though they changed nothing.
    now = probes(world, ("get_member", {"member_id": "M-1"}), ("return_book", call))
    assert audit.probes[1].diff and not now.probes[1].diff
    accepted, why = ruling(world, deaf, now, return_book=method)
    assert not accepted and "L-2" in why and word in why
    assert ruling(world, deaf, now, return_book=RETURN) == (True, ""), "it may do what it only said"
    assert ruling(world, deaf, return_book=method)[0], "nobody knows of that call"


def test_what_was_refused_rightly_stays_refused() -> None:
    """A scenario asks for what must not be, and the author of a tool that is right gives in."""
    asked = {"book_id": "B-2", "member_id": "M-3", "due": "2025-04-15"}
    source = next(source for item, (_, source) in library.ITEMS.items() if "added" in item)
    check = Check(item="Lent?", source=source.replace("'B-1'", "'B-2'").replace("'M-1'", "'M-3'"))
    lend = [Call(tool="lend_book", arguments=asked)]
    wrong = library.scenario(checks=[check], may_change=["loans/+", "next_loan"], witness=lend)
    evidence = {"call": {"tool": "lend_book", "arguments": asked}, "before": STATE, "reply": None, "diff": {}}
    evidence["scenario"] = wrong.model_dump(mode="json")
    doubt = Finding(
        kind="tool-in-doubt", severity="warning", where="lend_book", message="Either …", evidence=evidence
    )
    world = library.skeleton()
    assert ruling(world, [doubt], lend_book=LEFT_OPEN)[0], "where nothing else is known, the scenario decides"
    accepted, why = ruling(world, [doubt], probes(world, ("lend_book", asked)), lend_book=LEFT_OPEN)
    assert not accepted and "was refused before, and rightly" in why


def test_a_scenario_that_was_certified_must_stay_so(deaf: list[Finding]) -> None:
    world = library.skeleton(return_book=DEAF)
    asked = {"book_id": "B-3", "member_id": "M-2", "due": "2025-04-15"}
    source = next(source for item, (_, source) in library.ITEMS.items() if "added" in item)
    check = Check(item="Lent?", source=source.replace("'B-1'", "'B-3'").replace("'M-1'", "'M-2'"))
    calls = [Call(tool="return_book", arguments={"loan_id": "L-3"}), Call(tool="lend_book", arguments=asked)]
    closed = Check(
        item="Closed?",
        source="def check_func(final_state):\n"
        "    loan = (final_state.get('loans') or {}).get('L-3')\n"
        "    return isinstance(loan, dict) and loan.get('out') is False\n",
    )
    may_change = ["loans/L-3", "loans/+", "next_loan"]
    other = library.scenario(checks=[check, closed], may_change=may_change, witness=calls)
    valid = other.replace(certificate=certify(library.skeleton(), other))
    assert valid.certificate.valid

    def accepted(scenario: Scenario) -> tuple[bool, str]:
        acceptance = Acceptance(world, [scenario])
        attempt = with_methods(world, {"return_book": ONLY_THIS})
        settled, why = acceptance.accept(attempt, ["return_book"], acceptance.open(deaf))
        return bool(settled), why

    spoilt, why = accepted(valid)
    assert not spoilt and "certified is so no more" in why
    assert accepted(other)[0], "without a certificate it says nothing"


@pytest.mark.parametrize(
    ("method", "accepted"),
    [(RETURN, True), (SAYS_SO, False), (CLEARS, False), (LOSES, False), (REFUSES, False)],
)
def test_a_fault_that_execution_shows_is_gone_only_where_nothing_else_is_wrong(
    raising: list[Finding], method: str, accepted: bool
) -> None:
    world = library.skeleton(return_book=RAISES)
    assert raising and ruling(world, raising, return_book=method)[0] is accepted
    bare = [
        f.model_copy(update={"evidence": {k: v for k, v in f.evidence.items() if k != "scenario"}})
        for f in raising
    ]
    # Without the scenario nobody knows what the call may touch: it may be refused, by a tool that does something.
    assert not ruling(world, bare, return_book=method)[0]
    cautious = RETURN.replace(
        'not self.loans[loan_id]["out"]', 'loan_id == "L-1" or not self.loans[loan_id]["out"]'
    )
    assert ruling(world, bare, return_book=cautious)[0]


def test_a_rule_that_a_tool_broke_may_be_kept_by_refusing() -> None:
    double = {"book_id": "B-1", "member_id": "M-1", "due": "2025-04-15"}
    world = library.skeleton(lend_book=library.GREEDY)
    with Environment(world, STATE) as environment:
        environment.reset()
        reply = environment.call("lend_book", double)
        evidence = {
            "call": {"tool": "lend_book", "arguments": double},
            "before": STATE,
            "reply": reply,
            "diff": environment.diff,
        }
    broken = Finding(
        kind="invariant", severity="error", where="lend_book", message="Broken.", evidence=evidence
    )
    assert ruling(world, [broken], lend_book=LEND) == (True, "")
    never = f'{LEND.partition("    if book_id")[0]}    return {{"success": False, "error": "No."}}\n'
    accepted, why = ruling(world, [broken], lend_book=never)
    assert not accepted and "succeeds at nothing" in why


def test_findings_that_a_version_settles_already_are_not_open(deaf: list[Finding]) -> None:
    assert Acceptance(library.skeleton(return_book=DEAF)).open(deaf) == deaf
    assert Acceptance(library.skeleton()).open(deaf) == []
    bare = Finding(kind="tool-in-doubt", severity="warning", where="return_book", message="Somebody says so.")
    assert Acceptance(library.skeleton()).open([bare]) == [], "nothing could ever settle it"


def test_probes_are_found_again_in_the_state_they_were_made_in() -> None:
    world = library.skeleton()
    audit = probes(world, ("return_book", {"loan_id": "L-1"}), ("return_book", {"loan_id": "L-1"}))
    again = Audit(
        skeleton_id=world.id, initial_state=STATE, probes=[*audit.probes, audit.probes[0], audit.probes[1]]
    )
    found = passed_probes(world, again)
    assert [state["loans"]["L-1"]["out"] for state, _ in found] == [True, False, True, False], (
        "begun anew once"
    )
    failed = [probe.model_copy(update={"verdict": "fail"}) for probe in audit.probes[:1]]
    assert len(passed_probes(world, again.replace(probes=[*failed, audit.probes[1]]))) == 1
    elsewhere = [audit.probes[0].model_copy(update={"reply": {"success": True, "data": "else"}})]
    assert passed_probes(world, again.replace(probes=elsewhere)) == []


def test_what_changes_of_an_outcome_is_said() -> None:
    [(before, probe)] = passed_probes(
        library.skeleton(), probes(library.skeleton(), ("return_book", {"loan_id": "L-1"}))
    )
    said = {
        "succeeded before": REFUSES,
        "changes nothing": SAYS_SO,
        "rows removed in loans": CLEARS,
        "rows changed in members": LOSES,
        "now it replies": RAISES,
        "": RETURN,
    }
    for word, method in said.items():
        why = changed_outcome(library.skeleton(return_book=method), before, probe)
        assert word in why and bool(why) is bool(word), (word, why)
    assert not changed_outcome(library.skeleton(return_book=LOSES), before, probe, {("members", "changed")})


def test_tools_that_call_a_tool_are_concerned_too() -> None:
    renew = LEND.replace("def lend_book", "def renew_book").replace(
        "    if book_id not in", "    return self.lend_book(book_id, member_id, due)\n    if book_id not in"
    )
    assert users_of(library.skeleton(renew_book=renew), {"lend_book"}) == {"renew_book"}
    assert STRICT and users_of(library.skeleton(), {"lend_book"}) == set()
