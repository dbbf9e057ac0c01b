"""What each line of a certificate needs to be proved, from outcomes made by hand."""

import pytest

from envscaler.schema import Outcome
from envscaler.world.proving.otherwise import FAMILIES
from envscaler.world.proving.proofs import (
    MUST_KILL,
    SAID,
    Ended,
    Tried,
    always_answer,
    freed_guarded,
    goals_needed,
    guards_broken,
    idle_guards,
    killed,
    leave_one_out,
    pays_nothing,
    solved_otherwise,
    solves,
)
from envscaler.world.proving.unasked import UNASKED
from envscaler.world.witness import Played

ITEMS = [("a", "goal"), ("b", "goal"), ("g", "guard"), ("bystanders", "guard")]


def tried(answers: str, kind: str = "k", what: str = "w", *, reachable: bool = True) -> Tried:
    """Outcomes of two goals, a guard and the guard for bystanders: `+` yes, `-` no, `?` broken."""
    passed = {"+": True, "-": False, "?": None}
    outcomes = [Outcome(item=i, kind=k, passed=passed[a]) for (i, k), a in zip(ITEMS, answers, strict=True)]
    return Tried(kind, what, outcomes, reachable)


def test_a_survivor_within_reach_fails_and_one_out_of_reach_lowers_the_share() -> None:
    dead = [tried("-+++")] * 9
    assert killed(dead).status == "proved" and killed(dead).figure == 1.0
    far = killed([*dead, tried("++++", "k", "far", reachable=False)])
    assert far.status == "proved" and far.figure == 0.9 and "[k] far" in far.detail
    near = killed([*dead, tried("++++", "k", "near")])
    assert near.status == "failed" and near.figure == 0.9 and "[k] near" in near.detail


def test_too_few_killed_fails_whoever_could_bring_them_about() -> None:
    alive, dead = tried("++++", reachable=False), tried("-+++")
    assert killed([alive] * 5 + [dead] * 5).status == "proved" and MUST_KILL == 0.5
    assert killed([alive] * 6 + [dead] * 5).status == "failed"
    assert killed([]).status == "failed"


def test_of_many_survivors_those_within_reach_are_named() -> None:
    many = [tried("++++", what=f"far {n}", reachable=False) for n in range(9)] + [tried("++++", what="near")]
    detail = killed(many).detail
    assert "near" in detail and detail.count("[k]") == SAID and "and 5 more" in detail


def test_a_check_that_broke_kills_nothing_but_does_not_pay() -> None:
    assert tried("?+++").kill is None and not tried("?+++").survives
    broken = tried("?-++").kill
    assert broken is not None and broken.killers == ["b"]
    alive = tried("++++").kill
    assert alive is not None and alive.killers == []


@pytest.mark.parametrize(
    ("answers", "needed"),
    [
        (["-+++", "+-++"], {"a", "b"}),
        (["-+++", "--++"], {"a"}),
        (["--++"], set()),
        (["-+-+", "+-+-", "--++"], set()),  # a guard says no: nothing would be paid anyway
    ],
)
def test_a_goal_is_needed_where_it_alone_says_no(answers: list[str], needed: set[str]) -> None:
    line = goals_needed([tried(answer) for answer in answers])
    assert line.status == ("proved" if needed == {"a", "b"} else "failed")
    assert line.figure == len(needed) / 2
    for item in {"a", "b"} - needed:
        assert f"{item} says no to no mutant" in line.detail


def test_guards_are_broken_or_named() -> None:
    some = [tried("-+++"), tried("-+-+")]
    assert idle_guards(some) == ["bystanders"] and guards_broken(some).figure == 0.5
    assert guards_broken(some).detail == "bystanders is broken by no mutant"
    assert guards_broken([*some, tried("+++-")]).status == "proved"


def test_a_freed_table_is_guarded_or_its_records_are_named() -> None:
    assert (freed_guarded([]).status, freed_guarded([]).figure) == ("proved", None)
    assert freed_guarded([tried("++-+"), tried("-+++")]).figure == 1.0
    line = freed_guarded([tried("++-+"), tried("++++", "k", "t/a.x", reachable=False)])
    assert (line.status, line.figure) == ("failed", 0.5) and "[k] t/a.x" in line.detail


def test_a_call_besides_that_survives_is_told_of_whether_it_fails_or_not() -> None:
    dead = [tried("-+++")] * 3
    spared = killed([*dead, tried("++++", UNASKED, "t()", reachable=False)])
    assert (
        spared.status == "proved"
        and f"[{UNASKED}] t()" in spared.detail
        and "1 by a call more" in spared.detail
    )
    assert killed([*dead, tried("++++", UNASKED, "t()")]).status == "failed"


def test_why_there_is_no_reward_is_told() -> None:
    guards = tried("??++").outcomes[2:]
    for line in (pays_nothing("n", guards), solves("s", Ended(Played([], [], [], None), {}), guards)):
        assert "there is no goal" in line.detail and "broke" not in line.detail
    assert "a check broke" in pays_nothing("n", tried("?+++").outcomes).detail


def test_a_family_with_nothing_to_try_stands_against_nobody() -> None:
    family = FAMILIES[0]
    lines = solved_otherwise(
        [tried("++++", family), tried("+-++", family, "this way")], {"later clock": "why"}
    )
    assert [line.name for line in lines] == [f"solved otherwise: {name}" for name in FAMILIES]
    assert (lines[0].status, lines[0].figure) == ("failed", 0.5) and "this way: b" in lines[0].detail
    assert all(line.status == "proved" and line.figure is None for line in lines[1:])
    assert next(line for line in lines if "clock" in line.name).detail == "Nothing to try: why."


def test_the_rest() -> None:
    assert leave_one_out([], []).status == "failed"
    assert leave_one_out(["x", "y"], ["y"]).figure == 0.5 and leave_one_out(["x"], []).status == "proved"
    assert pays_nothing("n", tried("--++").outcomes).status == "proved"
    assert "a" in pays_nothing("n", tried("+-++").outcomes).detail
    assert "broke" in pays_nothing("n", tried("?-++").outcomes).detail
    assert solves("s", Ended(None, {}, "lost"), []).detail == "lost"
    answers = always_answer({"one": tried("+?++").outcomes, "two": tried("+?++").outcomes})
    assert answers.figure == 1 and answers.detail == "b (one: )"
