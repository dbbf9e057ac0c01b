"""The short forms of patterns: what a text of a call and a line of a table stand for."""

import numpy as np
import pytest

from envscaler.model.builtin.pattern import ANY_TEXT, Noun, call, found
from envscaler.model.builtin.patterns._brief import any_of, form, steps


def test_a_step_names_slots_replies_and_truth_values() -> None:
    plan = steps(
        {"name": "Ida Berg", "title": "Essay", "why": ANY_TEXT},
        "find_people name",
        "find_work text=title late=True",
        "excuse person_id<0 work_id<1/2/work_id reason=why",
    )
    assert plan == [
        call("find_people", name="Ida Berg"),
        call("find_work", text="Essay", late=True),
        call(
            "excuse",
            person_id=found(0, 0, "person_id"),
            work_id=found(1, 2, "work_id"),
            reason=ANY_TEXT,
        ),
    ]
    assert plan[2]["free"] == ["reason"]
    with pytest.raises(KeyError):
        steps({}, "find_people name")


def test_nothing_is_drawn_of_nothing() -> None:
    assert any_of(np.random.default_rng(0), ["a"]) == "a"
    with pytest.raises(LookupError):
        any_of(np.random.default_rng(0), [])


def test_a_form_tells_each_attribute_on_its_line() -> None:
    table = form(Noun("mark"), "A mark.", """
        mark_id: str = unique id
        points: int | None = points, None = not marked""")  # fmt: skip
    assert [(a.name, a.type, a.description) for a in table.attributes] == [
        ("mark_id", "str", "unique id"),
        ("points", "int | None", "points, None = not marked"),
    ]
    assert (table.noun.ids, table.about) == ("marks", "A mark.")
