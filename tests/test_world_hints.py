"""What checks mention is read off their code, whatever the code looks like.

Run: python -m pytest tests/test_world_hints.py -q
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.schema import Check
from envscaler.searching.hints import Hints, hints_of, quoted


def hints(body: str) -> Hints:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return hints_of(Check(item="?", source=f"def check_func(final_state):\n{lines}"))


def test_pairs_keys_and_tables_of_a_plain_check() -> None:
    found = hints(
        'loan = final_state.get("loans", {}).get("L-1")\n'
        "if not loan:\n    return False\n"
        'return loan["status"] == "renewed" and loan.get("weeks") == 2 + 1'
    )
    assert found.pairs == [("status", "renewed"), ("weeks", 3)]
    assert found.keys == [("loans", "L-1")] and found.states == {"loans"}


def test_values_that_stand_in_variables() -> None:
    found = hints(
        'key, table = 1, 2\nwho = "U-7"\nrows = final_state["loans"]\nrow = rows["L-2"]\nstatus = row.get("status")\n'
        'return row.get("user_id") == who and status.lower() == "open".lower()'
    )
    assert ("user_id", "U-7") in found.pairs and ("status", "open") in found.pairs
    assert found.keys == [("loans", "L-2")]


def test_unequal_and_loops_and_choices() -> None:
    found = hints(
        'for row in final_state["loans"].values():\n    if row["weeks"] != 4:\n        return False\n'
        '    if row["state"] not in ["open", "late"]:\n        return False\nreturn True'
    )
    assert set(found.pairs) >= {("weeks", 4), ("state", "open"), ("state", "late")}


def test_texts_that_are_looked_for() -> None:
    found = hints(
        'note = final_state["loans"]["L-1"].get("note", "")\nwords = ["kind", "quick"]\n'
        'return all(w.lower() in note.lower() for w in words) and note.startswith("Dear")'
    )
    assert set(found.parts) >= {("note", "kind"), ("note", "quick"), ("note", "Dear")}


def test_parts_of_a_text() -> None:
    found = hints(
        'contact = final_state["people"]["P"]["contact"].split(", ")\n'
        'phone = contact[1]\nreturn phone == "555" and contact[0] == "a@b.c"'
    )
    assert set(found.parts) >= {("contact", "555"), ("contact", "a@b.c")}
    assert all(value not in ("555", "a@b.c") for _, value in found.pairs)


@pytest.mark.parametrize(
    "source", ["", "def", "x = 1", "def f(:", "\x00", "return 1", "def check_func(s): return (" * 90]
)
def test_a_source_of_any_kind_gives_hints_or_none(source: str) -> None:
    assert isinstance(hints_of(Check(item="?", source=source)), Hints)


def test_values_are_as_a_state_would_hold_them() -> None:
    found = hints(
        'return final_state["a"]["f"] == {1: "x", "b": (2,)} and final_state["a"]["g"] in {"n", "m"}'
    )
    assert ("f", {"1": "x", "b": [2]}) in found.pairs
    assert ("g", "m") in found.pairs and ("g", "n") in found.pairs


@pytest.mark.parametrize(
    "sum_", [f"{10**400} / 3", f"{10**400} + 0.5", "1e200 * 1e200", f"{10**9} * {10**9}"]
)
def test_a_sum_of_huge_numbers_is_no_value_and_no_fault(sum_: str) -> None:
    found = hints(f'return final_state["a"]["f"] == {sum_} or final_state["a"]["g"] == 7')
    assert ("g", 7) in found.pairs


@given(st.text(max_size=200))
def test_any_text_gives_hints_or_none(source: str) -> None:
    found = hints_of(Check(item="?", source=source))
    assert isinstance(found.pairs, list) and isinstance(found.texts, frozenset)


def test_what_a_task_puts_into_quotes() -> None:
    assert quoted("Call it “Dune”, not \"Emma\" or 'Ada'; Ada's own.") == ["Dune", "Emma", "Ada"]
    assert quoted("") == []
