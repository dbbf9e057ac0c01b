"""Initial states that do not fit their class.

Run: python -m pytest tests/test_world_fitting.py -q
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import LOANS, STATE, skeleton

from envscaler import release as published_data
from envscaler.certifying.fitting import expected, misfits


def kinds(**changes: object) -> dict[str, str]:
    return {f.kind: f.where for f in misfits(skeleton(), {**STATE, **changes})}


def test_a_state_that_fits() -> None:
    assert misfits(skeleton(), STATE) == [] and misfits(skeleton(), {}) == []


@pytest.mark.parametrize(
    ("changes", "kind", "where"),
    [
        ({"shelves": {}}, "state-unknown-table", "shelves"),
        ({"books": {"B": {"book_id": "B", "title": "x"}}}, "state-missing-field", "books.copies"),
        (
            {"books": {"B": {"book_id": "B", "title": "x", "copies": 1, "colour": "red"}}},
            "state-unknown-field",
            "books.colour",
        ),
        ({"books": {"B": {"book_id": "B", "title": 5, "copies": 1}}}, "state-wrong-type", "books.title"),
        (
            {"books": {"B": {"book_id": "B", "title": "x", "copies": True}}},
            "state-wrong-type",
            "books.copies",
        ),
        ({"books": {"B": 5}}, "state-no-record", "books"),
        ({"books": []}, "state-wrong-type", "books"),
    ],
)
def test_each_misfit_is_named(changes: dict, kind: str, where: str) -> None:
    assert kinds(**changes) == {kind: where}


def test_a_fault_of_many_records_is_told_once_with_their_number() -> None:
    rows = {f"B-{n}": {"book_id": f"B-{n}", "title": "x"} for n in range(30)}
    (found,) = misfits(skeleton(), {"books": rows})
    assert "30 of 30" in found.message and len(found.evidence["records"]) == 5


def test_a_class_without_annotations_expects_nothing() -> None:
    plain = "class World:\n    def __init__(self, c):\n        self.a = {}\n\n    def run(self):\n        return {}\n"
    assert expected(plain, "World") == {"a": {}}
    assert misfits(skeleton(plain), {"a": {"x": 5}}) == []
    assert expected(LOANS, "Library").keys() == {"books", "loans", "members", "counter"}


def test_a_source_that_is_none_is_said_elsewhere() -> None:
    broken = skeleton().model_copy(update={"source": "class ("})
    assert misfits(broken, STATE) == []


@given(st.dictionaries(st.sampled_from(["books", "loans", "members", "counter", "x"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=3), part, max_size=3), max_leaves=8,
), max_size=4))  # fmt: skip
def test_any_state_is_judged(state: dict) -> None:
    assert all(f.message and f.kind.startswith("state-") for f in misfits(skeleton(), state))


@pytest.mark.release
def test_the_published_states_fit_but_for_a_few(release) -> None:
    skeletons = published_data.read_environments(release)
    worlds = skeletons.by_id()
    found = [
        f.kind
        for made in published_data.read_scenarios(release / "rl_scenarios.json", skeletons)
        for f in misfits(worlds[made.skeleton_id], made.initial_state)
    ]
    assert found == ["state-unknown-field"] * 6, "a table that a tool sets up when it is first needed is known"
