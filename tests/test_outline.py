"""Outline: entities and rules are read off the text of a class, and a wrong state is seen without running anything."""

import library
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library import METHODS, STATE

from envscaler.certifying.fitting import expected
from envscaler.error import SourceError
from envscaler.world.outline import (
    attributes,
    method_problem,
    read_docstring,
    read_entities,
    signature,
    state_problem,
)
from envscaler.world.source import read_tools

SOURCE = '''
from typing import Dict, List, NotRequired, TypedDict


class Base(TypedDict):
    room_id: str  # unique # and stable


class Room(Base, total=False):
    """A room.

    More.
    """

    note: str


class Other(TypedDict):
    x: NotRequired[int]


class Inn:
    """An inn
    by the sea.

    Rules:
    1. A room has
       one guest.
    * Breakfast ends at ten.

    Notes: none.
    """

    def __init__(self, initial_state: dict = None):
        self.rooms: Dict[str, "Room"] = {}
        self.others: List[Other] = []
        self.log: list[str] = []
        self.counts: dict[str, int] = {}
        self._cache: dict[str, Room] = {}
        self.today: str = ""
'''


def test_entities_of_a_hand_written_class() -> None:
    entities = {entity.name: entity for entity in read_entities(SOURCE, "Inn")}
    assert {name: entity.table for name, entity in entities.items()} == {
        "Base": "", "Room": "rooms", "Other": "others", "log": "log", "counts": "counts",
    }  # fmt: skip
    room = entities["Room"]
    assert [(a.name, a.type) for a in room.attributes] == [("room_id", "str"), ("note", "NotRequired[str]")]
    assert room.attributes[0].description == "unique # and stable" and room.description == "A room."
    assert entities["log"].attributes == []


def test_summary_and_rules_of_a_docstring() -> None:
    assert read_docstring(SOURCE, "Inn") == (
        "An inn by the sea.",
        ["A room has one guest.", "Breakfast ends at ten."],
    )
    assert read_docstring("class A:\n    pass", "A") == ("", [])


def test_an_absent_class_is_said() -> None:
    with pytest.raises(SourceError, match="class B"):
        read_entities("class A:\n    pass", "B")


@pytest.mark.parametrize("name", METHODS)
def test_a_good_method_has_no_problem(name: str) -> None:
    assert method_problem(METHODS[name], name) == ""


def test_a_hash_in_a_type_is_no_comment() -> None:
    record = 'class R(TypedDict):\n    k: Literal["#"]  # ünï\n'
    source = f"{record}\n\nclass A:\n    def __init__(self):\n        self.t: dict[str, R] = {{}}\n"
    [entity] = read_entities(source, "A")
    assert entity.attributes[0].description == "ünï" and entity.attributes[0].type == "Literal['#']"


def test_a_signature_is_compared_by_its_meaning() -> None:
    assert signature("def a(self, x: int=1) -> dict: ...") == signature(
        "def a(self,\n  x: int = 1):\n    return {}"
    )
    assert signature("def a(self, x: int = 1): ...") != signature("def a(self, x: int = 2): ...")


def with_book(**changes: object) -> dict:
    return {**STATE, "books": {"B-1": {**STATE["books"]["B-1"], **changes}}}


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ({}, "empty"),
        ({"books": {}, "next_loan": 3}, "empty"),
        ({"shelves": {"a": {}}}, "no attribute 'shelves'"),
        ({"books": {"B-1": None}}, "books/B-1 must be a record"),
        ({"books": {"B-1": {}}}, "lacks the attribute book_id"),
        (with_book(book_id="B-2"), "own id"),
        ({**STATE, "books": "none"}, "books must be an object"),
    ],
)
def test_a_wrong_state_is_seen(state: dict, word: str) -> None:
    assert word in state_problem(library.skeleton(), state)


def test_a_good_state_and_an_empty_table_will_do() -> None:
    assert state_problem(library.skeleton(), STATE) == ""
    assert state_problem(library.skeleton(), {**STATE, "loans": {}}) == ""


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*STATE, "x"]), json_values))
def test_no_state_is_too_strange_to_be_judged(state: dict) -> None:
    assert isinstance(state_problem(library.skeleton(), state), str)


@given(st.text(max_size=60))
def test_no_text_is_too_strange_to_be_a_bad_method(text: str) -> None:
    assert method_problem(text, "get_book") != "" and method_problem(text + "\0", "get_book") != ""


TANGLED = {
    "its own base": "class A(A): x: int",
    "each other's base": "class A(B): x: int\nclass B(A): y: int",
    "a base many times over": "class A0: x: int\n"
    + "\n".join(f"class A{n}(A{n - 1}, A{n - 1}): y{n}: int" for n in range(1, 40))
    + "\nclass A(A39): z: int",
    "a long line of bases": "class B0(TypedDict): x: int\n"
    + "\n".join(f"class B{n}(B{n - 1}): y{n}: int" for n in range(1, 350))
    + "\nclass A(B349): z: int",
}


@pytest.mark.parametrize("kind", TANGLED)
def test_types_that_are_no_types_are_read_at_once(kind: str) -> None:
    """No text of somebody's makes its reader run for ever, or out of stack."""
    source = (
        f"{TANGLED[kind]}\n\n\nclass W:\n    def __init__(self):\n        self.t: dict[str, A] = {{}}\n\n"
        '    def go(self, a: A) -> dict:\n        """Go."""\n        return {}\n'
    )
    (tool,) = read_tools(source, "W")
    assert "x" in tool.properties["a"]["properties"]
    assert any(entity.table == "t" for entity in read_entities(source, "W"))


def test_a_field_is_needed_as_the_type_says_that_declares_it() -> None:
    """`total=False` is said of a type's own fields; what a base needs is needed in what is made of it."""
    source = (
        "class Base(TypedDict):\n    a: int\n\n\nclass Some(Base, total=False):\n    b: int\n\n\n"
        "class All(Some):\n    c: int\n    a: str\n\n\n"
        "class W:\n    def __init__(self):\n        self.t: dict[str, All] = {}\n"
    )
    row = expected(source, "W")["t"]["additionalProperties"]
    (entity,) = [e for e in read_entities(source, "W") if e.name == "All"]
    assert sorted(row["required"]) == ["a", "c"] and list(row["properties"]) == ["a", "b", "c"]
    assert [(a.name, a.type) for a in entity.attributes] == [
        ("a", "str"),
        ("b", "NotRequired[int]"),
        ("c", "int"),
    ]


def test_attributes_are_those_that_the_code_sets_anywhere() -> None:
    source = (
        "class W:\n    def __init__(self):\n        self.a, self.b = {}, {}\n        self.c: dict[str, int] = {}\n"
        "        self.c = {}\n\n    def later(self):\n        self.d = self.e\n"
    )
    found = attributes(source, "W")
    assert found.keys() == {"a", "b", "c", "d"} and found["c"] is not None and found["a"] is None
