"""Queries that count: only those without whose answer the witness's writes would be guesses."""

import copy
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.error import ParameterError
from envscaler.schema import Check, Scenario
from envscaler.world.proving.queries import Query, counting_queries, told_in
from tests import library
from tests.library import ITEMS, MAY_CHANGE, STATE, TASK, WITNESS

SKELETON = library.skeleton()


def scenario(witness: list[dict[str, Any]] = WITNESS, task: str = TASK) -> Scenario:
    checks = [Check(item=item, kind=kind, source=source) for item, (kind, source) in ITEMS.items()]
    return Scenario(
        skeleton_id=SKELETON.id,
        initial_state=STATE,
        task=task,
        checks=checks,
        may_change=MAY_CHANGE,
        witness=witness,
    )


def rows(witness: list[dict[str, Any]] = WITNESS, task: str = TASK) -> dict[int, Query]:
    return {row.call: row for row in counting_queries(SKELETON, scenario(witness, task))}


def literal(place: int, **arguments: Any) -> dict[str, Any]:
    return {"tool": WITNESS[place]["tool"], "arguments": {**WITNESS[place]["arguments"], **arguments}}


def test_a_look_up_counts_whose_value_a_later_call_is_given() -> None:
    found = rows()
    assert list(found) == [0, 1, 3, 4]
    assert found[1].counts and found[1].how == "feeds" and found[1].value == "L-1"
    assert "call 2 (return_book)" in found[1].failure and "L-1" in found[1].change
    assert found[0].counts and found[0].value == "M-2" and found[3].counts and found[3].value == "M-1"


def test_what_an_earlier_reply_told_does_not_count_as_fed() -> None:
    """The list of loans has told the book's id before; what counts is how many copies there are."""
    book = rows()[4]
    assert book.how == "decides" and book.value == 1 and "call 5 (lend_book)" in book.failure


def test_a_second_look_at_the_same_does_not_count() -> None:
    again = [*WITNESS, WITNESS[0], WITNESS[4]]
    found = rows(again)
    assert not found[6].counts and not found[7].counts and found[1].counts


def test_a_look_up_that_comes_after_its_use_does_not_count() -> None:
    listed = {"tool": "list_loans", "arguments": {"member_id": "M-2"}}
    back, lend = literal(2, loan_id="L-1"), literal(5, book_id="B-1", member_id="M-1")
    assert not any(row.counts for row in rows([back, listed, lend]).values())
    assert not any(row.counts for row in rows([back, lend, listed]).values())
    assert rows([listed, back, lend])[0].value == "L-1"


def test_a_check_that_names_an_id_makes_no_look_up_count() -> None:
    """The guard names L-2; that it is called so matters to no call."""
    listed = {"tool": "list_loans", "arguments": {"member_id": "M-2"}}
    calls = [literal(2, loan_id="L-1"), literal(5, book_id="B-1", member_id="M-1")]
    assert not any(row.counts for row in rows([listed, *calls], f"{TASK} L-1, B-1").values())


def test_what_the_task_tells_does_not_count() -> None:
    told = rows(task=TASK + " Tom Aske is M-2, and the loan is l-1.")
    assert not told[0].counts and told[1].value != "L-1" and told[3].counts


def test_a_look_at_something_else_does_not_count() -> None:
    stray = [
        {"tool": "get_member", "arguments": {"member_id": "M-3"}},
        *[copy.deepcopy(call) for call in WITNESS],
    ]
    for call in stray[1:]:
        for value in call["arguments"].values():
            if isinstance(value, dict):
                value["$from"][0] += 1
    found = rows(stray)
    assert not found[0].counts and found[0] == Query(0, "get_member", False)
    assert found[1].counts and found[2].counts


def test_a_look_up_that_only_leads_to_the_next_does_not_count() -> None:
    """Where unknown ids are answered by an empty list, guessing the loan would do without knowing the member."""
    lax = library.METHODS["list_loans"].replace("if member_id not in self.members:", "if not member_id:")
    skeleton = library.skeleton(list_loans=lax)
    found = {row.call: row for row in counting_queries(skeleton, scenario().replace(skeleton_id=skeleton.id))}
    assert not found[0].counts and found[1].counts


def test_a_number_out_of_a_record_counts_when_it_is_handed_on() -> None:
    """The day of the old loan becomes the day of the new one."""
    item, source = list(ITEMS)[1], list(ITEMS.values())[1][1]
    lend = literal(5, due={"$from": [1, "data", 0, "due"]}, book_id="B-1")
    new = source.replace("== '2025-04-15'", "== initial_state['loans']['L-1']['due']")
    checks = [Check(item=i, kind=k, source=new if i == item else s) for i, (k, s) in ITEMS.items()]
    given = scenario([*WITNESS[:5], lend]).replace(checks=checks)
    found = {row.call: row for row in counting_queries(SKELETON, given)}
    assert found[1].counts
    without_id = given.replace(task=f"{TASK} It is L-1, B-1.")
    fed = {row.call: row for row in counting_queries(SKELETON, without_id)}[1]
    assert fed.counts and fed.how == "feeds" and fed.value == "2025-03-01" and "reward" in fed.failure
    in_words = given.replace(task=f"{TASK} It is L-1, B-1, due on 1 March 2025.")
    assert {row.call: row for row in counting_queries(SKELETON, in_words)}[1].value != "2025-03-01"


@pytest.mark.parametrize(
    "witness",
    [[], WITNESS[:3], [literal(2, loan_id="L-9")], [WITNESS[0]]],
    ids=["none", "half", "refused", "changes nothing"],
)
def test_only_a_witness_that_earns_one_can_be_asked(witness: list[dict[str, Any]]) -> None:
    with pytest.raises(ParameterError, match="witness earns 1"):
        rows(witness)


def test_the_same_scenario_gives_the_same_rows() -> None:
    assert rows() == rows()


@given(st.dates(), st.integers(-(10**6), 10**6), st.floats(0, 10**6).map(lambda x: round(x, 2)))
def test_a_text_tells_dates_in_words_and_numbers_in_other_digits(day: Any, whole: int, price: float) -> None:
    months = [date(2025, month, 1).strftime("%B") for month in range(1, 13)]
    assert told_in(day.isoformat(), f"on {day.day} {months[day.month - 1]} {day.year}.")
    assert told_in(day.isoformat(), f"on {months[day.month - 1]} {day.day}, {day.year}.")
    assert told_in(whole, f"take {whole:,}, please") and told_in(float(whole), f"take {whole} of them")
    assert told_in(price, f"it costs {price:.2f}.") and not told_in(price + 1, f"it costs {price:.2f}.")


@pytest.mark.parametrize("text", ["B-11", "AB-1", "b-12 and B-10"])
def test_an_id_inside_another_is_not_told(text: str) -> None:
    assert not told_in("B-1", text) and told_in("B-1", f"{text}, b-1!")
