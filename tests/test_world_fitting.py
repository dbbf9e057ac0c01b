"""Initial states that do not fit their class.

Run: python -m pytest tests/test_world_fitting.py -q
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import LOANS, STATE, skeleton

from envscaler import release as published_data
from envscaler.certifying.fitting import clipped, expected, misfits
from envscaler.schema import Attribute, Entity


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


def described(*names: str) -> dict[str, str]:
    """What is said of the names of a book's attributes."""
    attributes = [Attribute(name=name) for name in names]
    entities = [Entity(name="Book", attributes=attributes), Entity(name="Shelf", attributes=attributes[:1])]
    found = clipped(skeleton(state=entities))
    assert all(f.severity == "note" for f in found) and len(found) < 2
    return found[0].evidence["names"] if found else {}


def test_names_that_lost_letters_are_told_with_what_they_are_called() -> None:
    whole = ("book_id", "title", "copies")
    assert described(*whole) == {} and clipped(skeleton()) == []
    stripped = [", ".join(whole).strip("- Attributes: ") for whole in (whole, whole[::-1], whole[1:])]  # noqa: B005
    assert stripped == ["ook_id, title, cop", "copies, title, book_id", "le, cop"]
    assert described("ook_id", "title", "cop") == {"Book.ook_id": "book_id", "Book.cop": "copies"}
    assert described("le", "copies") == {"Book.le": "title"}
    assert described("pies", "title") == {}, "nothing but the letters that were stripped is taken for lost"
    assert described("id", "title", "copies") == {}, "a name of its own is none that lost letters"
    assert described() == {} and described("x", "y") == {}
    assert clipped(skeleton().replace(source="class (")) == []


@pytest.mark.release
def test_the_published_names_that_lost_letters(release) -> None:
    found = [f for made in published_data.read_environments(release) for f in clipped(made)]
    names = {name: field for f in found for name, field in f.evidence["names"].items()}
    assert len(found) == 29 and names["Room.oom_id"] == "room_id" and names["Room.amen"] == "amenities"


@pytest.mark.release
def test_the_published_states_fit_but_for_a_few(release) -> None:
    skeletons = published_data.read_environments(release)
    worlds = skeletons.by_id()
    found = [
        f.kind
        for made in published_data.read_scenarios(release / "rl_scenarios.json", skeletons)
        for f in misfits(worlds[made.skeleton_id], made.initial_state)
    ]
    assert found == ["state-unknown-field"] * 6, (
        "a table that a tool sets up when it is first needed is known"
    )
