"""Repair: a tool goes back to its author with the evidence, and another one stays only where it helps."""

import json

import library
import pytest
from library import GREEDY, METHODS, STATE, asked, author, fenced
from test_accepting import CLEARS, LOSES, ONLY_THIS, REFUSES, SAYS_SO, probes
from test_doubting import DEAF, STRICT

from envscaler.auditing.repair import mend_skeletons, rewrite_tool, with_methods
from envscaler.error import ModelError, ParameterError
from envscaler.scenarios import build_scenarios
from envscaler.schema import Failure, Finding, Skeleton
from envscaler.store import Records


def broken(**methods: str) -> tuple[Skeleton, Records]:
    """A library with these methods, and what became of a scenario in it."""
    skeleton = library.skeleton(**methods)
    return skeleton, build_scenarios([skeleton], author(), n=1, progress=False)


def test_a_tool_that_scenarios_speak_against_is_mended_by_its_author() -> None:
    skeleton, made = broken(return_book=DEAF)
    model = author()
    [mended] = mend_skeletons([skeleton], made.failures, model)
    assert mended.id == library.skeleton().id != skeleton.id
    assert mended.extra["mended"]["from"] == skeleton.id
    assert list(mended.extra["mended"]["tools"]) == ["return_book"], "the others came back as they were"
    asked_for = [b["tool_source"].split("def ")[1].split("(")[0] for b in asked(model, "audits/repair")]
    assert asked_for == ["lend_book", "return_book"], "once the scenario is had, nobody else is asked"


def test_the_author_sees_call_reply_and_the_records_it_speaks_of_but_not_the_whole_state() -> None:
    skeleton, made = broken(return_book=DEAF)
    model = author()
    mend_skeletons([skeleton], made.failures, model)
    told = [b["evidence"] for b in asked(model, "audits/repair") if "def return_book" in b["tool_source"]]
    [evidence] = json.loads(told[0])
    assert evidence["evidence"]["call"] == {"tool": "return_book", "arguments": {"loan_id": "L-1"}}
    assert evidence["evidence"]["diff"] == {}
    assert evidence["evidence"].keys() == {"call", "reply", "diff", "records before"}
    assert evidence["evidence"]["records before"]["loans/L-1"] == STATE["loans"]["L-1"]
    assert "members/M-3" not in evidence["evidence"]["records before"]


def test_a_skeleton_nobody_speaks_against_stays_as_it_was() -> None:
    skeleton, made = broken(lend_book=STRICT)
    other = library.skeleton()
    model = author()
    first, second = mend_skeletons([other, skeleton], made.failures, model)
    assert first is other and second.id == other.id
    assert mend_skeletons([other], [], model) == [other]


def test_an_author_who_leaves_the_tool_as_it_is_is_asked_again_and_then_believed() -> None:
    skeleton, made = broken(return_book=DEAF)
    same = lambda b, _: fenced(b["tool_source"])  # noqa: E731
    model = author({"audits/repair": same})
    [kept] = mend_skeletons([skeleton], made.failures, model, tries=2)
    assert kept is skeleton
    tools = len({finding.where for finding in made.failures[0].findings})
    assert tools > 2, "they are all asked, for the scenario is never had"
    assert len(asked(model, "audits/repair")) == 2 * tools
    assert len({request.sample for request in model.requests}) == 2


def test_a_skeleton_that_is_given_twice_is_mended_once() -> None:
    skeleton, made = broken(return_book=DEAF)
    once, twice = author(), author()
    [mended] = mend_skeletons([skeleton], made.failures, once)
    assert mend_skeletons([skeleton, skeleton], made.failures[0], twice) == [mended, mended]
    assert len(once.requests) == len(twice.requests)


@pytest.mark.parametrize(
    "odd", [{"failures": None}, {"failures": ["x"]}, {"skeletons": [None]}, {"skeletons": ["x"]}, {"tries": 0},
            {"scenarios": None}, {"audits": [None]}],
)  # fmt: skip
def test_what_cannot_be_mended_is_refused_in_a_sentence(odd: dict) -> None:
    given = {"skeletons": [library.skeleton()], "failures": [], "model": author(), **odd}
    with pytest.raises(ParameterError, match=r"^Expected "):
        mend_skeletons(**given)


@pytest.mark.parametrize(
    "odd", [{"call": "x"}, {"call": {"tool": 3}}, {"call": None}, {"before": [1]},
            {"scenario": {"a": 1}}, {"scenario": "x"}],
)  # fmt: skip
def test_evidence_that_nothing_can_be_read_out_of_is_refused_in_a_sentence(odd: dict) -> None:
    skeleton, made = broken(return_book=DEAF)
    [failure] = made.failures
    spoilt = [f.model_copy(update={"evidence": {**f.evidence, **odd}}) for f in failure.findings]
    with pytest.raises(ParameterError, match=r"^Expected .* against lend_book"):
        mend_skeletons([skeleton], [failure.model_copy(update={"findings": spoilt})], author())


STUBBORN = {
    "always refuses": REFUSES,
    "says it did": SAYS_SO,
    "clears the table": CLEARS,
    "is right and spoils another table": LOSES,
    "the old one in other words": DEAF.replace("Close an open loan.", "Close a loan that is open."),
    "the old one": DEAF,
    "worse for the referee": METHODS["return_book"].replace(
        "    if loan_id", "    self.next_loan += 1\n    if loan_id"
    ),
    "another tool instead": METHODS["lend_book"],
    "another tool when it is called": METHODS["return_book"].replace(
        "    if loan_id", "    type(self).lend_book = type(self).get_member\n    if loan_id"
    ),
    "another meaning of what others call": f"from copy import copy as deepcopy\n{METHODS['return_book'].lstrip()}",
}


@pytest.mark.parametrize("how", STUBBORN)
def test_an_author_who_stays_by_a_version_that_is_no_better_is_not_believed(how: str) -> None:
    skeleton, made = broken(return_book=DEAF)

    def slip(b: dict[str, str], _: object) -> str:
        return fenced(STUBBORN[how] if "def return_book" in b["tool_source"] else b["tool_source"])

    model = author({"audits/repair": slip})
    [kept] = mend_skeletons([skeleton], made.failures, model, progress=False)
    assert kept is skeleton
    told = [b["feedback"] for b in asked(model, "audits/repair") if "def return_book" in b["tool_source"]]
    assert len(told) > 1 and (any(told) or how == "the old one"), "told why, before it is asked again"


def test_of_an_answer_with_another_tool_in_it_only_the_one_asked_for_is_taken() -> None:
    skeleton, made = broken(return_book=DEAF)
    both = METHODS["return_book"] + METHODS["lend_book"].replace("member_id][", "book_id][")

    def slip(b: dict[str, str], _: object) -> str:
        return fenced(both if "def return_book" in b["tool_source"] else b["tool_source"])

    [mended] = mend_skeletons([skeleton], made.failures, author({"audits/repair": slip}), progress=False)
    assert mended.id == library.skeleton().id


def test_a_version_that_is_not_accepted_goes_back_with_the_reason_and_the_next_one_may_be() -> None:
    skeleton, made = broken(return_book=DEAF)
    slips = iter([CLEARS])

    def slip(b: dict[str, str], _: object) -> str | None:
        return fenced(next(slips, METHODS["return_book"])) if "def return_book" in b["tool_source"] else None

    model = author({"audits/repair": slip})
    [mended] = mend_skeletons([skeleton], made.failures, model, progress=False)
    assert mended.id == library.skeleton().id
    told = [b["feedback"] for b in asked(model, "audits/repair") if "def return_book" in b["tool_source"]]
    assert told[0] == "" and "still does" in told[1] and "self.loans.clear()" in told[1]


def test_two_faults_in_the_way_of_one_scenario_are_mended_together() -> None:
    late = METHODS["lend_book"].replace('"due": due,', '"due": "2025-12-31",')
    skeleton, made = broken(return_book=DEAF, lend_book=late)
    sloppy = METHODS["find_book"].replace("Find books", "Look for books")

    def slip(b: dict[str, str], _: object) -> str | None:
        return fenced(sloppy) if "def find_book" in b["tool_source"] else None

    [mended] = mend_skeletons([skeleton], made.failures, author({"audits/repair": slip}), progress=False)
    assert mended.id == library.skeleton().id, "what changes nothing is left as it was"
    assert set(mended.extra["mended"]["tools"]) == {"return_book", "lend_book"}


def test_what_is_known_to_be_right_is_held_against_a_new_version() -> None:
    skeleton, made = broken(return_book=DEAF)
    slips = {
        "audits/repair": lambda b, _: fenced(
            ONLY_THIS if "def return_book" in b["tool_source"] else b["tool_source"]
        )
    }
    audit = probes(skeleton, ("return_book", {"loan_id": "L-2"}))
    unknown = mend_skeletons([skeleton], made.failures, author(slips), progress=False)
    known = mend_skeletons([skeleton], made.failures, author(slips), audits=[audit], progress=False)
    assert known == [skeleton] != unknown


def test_an_author_who_cannot_be_reached_leaves_a_failure_and_the_skeleton() -> None:
    skeleton, made = broken(return_book=DEAF)

    def lost(b: dict[str, str], _: object) -> str:
        raise ModelError("The server is gone.")

    other = library.skeleton()
    kept = mend_skeletons([skeleton, other], made.failures, author({"audits/repair": lost}), progress=False)
    assert kept == [skeleton, other] and "gone" in kept.failures[0].message


def test_findings_against_what_is_no_tool_are_passed_over() -> None:
    skeleton = library.skeleton()
    finding = Finding(kind="invariant", severity="error", where="rules", message="Broken rule.")
    failure = Failure(
        stage="scenarios", parent_id=skeleton.id, error="PartRefused", message="", findings=[finding]
    )
    model = author()
    assert mend_skeletons([skeleton], [failure], model) == [skeleton] and not model.requests


def test_findings_without_evidence_do_no_harm() -> None:
    skeleton = library.skeleton(lend_book=GREEDY)
    finding = Finding(kind="invariant", severity="error", where="lend_book", message="Broken rule.")
    failure = Failure(
        stage="scenarios", parent_id=skeleton.id, error="PartRefused", message="", findings=[finding]
    )
    [kept] = mend_skeletons([skeleton], [failure], author())
    assert kept is skeleton, "nothing shows that the new one is better"


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (METHODS["return_book"].replace("loan_id", "loan"), "parameters"),
        (METHODS["find_book"], "return_book"),
        ("x = 1", ""),
    ],
)
def test_a_rewritten_tool_keeps_name_and_parameters(reply: str, word: str) -> None:
    model = author({"audits/repair": [fenced(reply)]})
    method = rewrite_tool(library.skeleton(return_book=DEAF), "return_book", [], model)
    assert method.strip() == METHODS["return_book"].strip()
    assert word in asked(model, "audits/repair")[1]["feedback"]


def test_an_author_who_never_gives_a_usable_tool_gives_none() -> None:
    model = author({"audits/repair": "No."})
    assert rewrite_tool(library.skeleton(), "return_book", [], model) == ""
    assert rewrite_tool(library.skeleton(), "return_book", [], author()) == "", "the same is none either"


def test_exchanged_methods_are_read_again() -> None:
    skeleton = with_methods(library.skeleton(return_book=DEAF), {"return_book": METHODS["return_book"]})
    assert skeleton.source == library.skeleton().source and skeleton.tool("return_book").mutates
