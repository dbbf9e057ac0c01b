"""Forms out of JSON schemas: every kind of value, what may be left out, slips in words, and schemas of any shape."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.error import ParameterError
from envscaler.schema import canonical
from envscaler.show.fields import ListControl
from envscaler.show.form import AS_JSON, LEFT_OUT, MOST_DEPTH, Field, Form, kinds

ADDRESS = {"type": "object", "properties": {"street": {"type": "string"}, "number": {"type": "integer"}}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "copies": {"type": "integer"},
        "price": {"type": "number"},
        "lent": {"type": "boolean"},
        "medium": {"type": "string", "enum": ["book", "film"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "shelf": {"type": ["string", "null"]},
        "due": {"type": "string", "nullable": True},
        "tags": {"type": "array", "items": {"type": "string"}},
        "address": ADDRESS,
        "free": {"type": "object", "additionalProperties": True},
    },
    "required": ["name", "copies"],
}
FULL = {
    "name": "Emma", "copies": 2, "price": 2.5, "lent": True, "medium": "film", "note": None, "shelf": "C1",
    "due": None, "tags": ["a", "b"], "address": {"street": "Hill", "number": 3}, "free": {"any": [1, {"x": None}]},
}  # fmt: skip


def names(schema: Any) -> list[str]:
    return [name for name, _ in kinds(schema)]


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "string"}, ["text"]),
        ({"type": "integer"}, ["whole number"]),
        ({"type": "number"}, ["number"]),
        ({"type": "boolean"}, ["true or false"]),
        ({"enum": [1, "a", None]}, ["one of"]),
        ({"const": 3}, ["one of"]),
        ({"type": ["integer", "null"]}, ["whole number", "null"]),
        ({"type": "string", "nullable": True}, ["text", "null"]),
        ({"type": "string", "enum": ["a"], "nullable": True}, ["one of", "null"]),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            ["text", "whole number", "null"],
        ),
        ({"anyOf": [{"type": "string"}, {"type": "string", "format": "date"}]}, ["text"]),
        ({"type": "array", "items": {"type": "number"}}, ["list"]),
        ({"type": "array"}, []),
        (ADDRESS, ["object"]),
        ({"type": "object"}, []),
        ({"oneOf": [ADDRESS, ADDRESS]}, ["object", "object 2"]),
        ({"$ref": "#/$defs/node"}, []),
        ({"type": "nonsense"}, []),
        (True, []),
        (None, []),
    ],
)
def test_a_schema_offers_its_kinds_and_json_always(schema: Any, found: list[str]) -> None:
    assert names(schema) == [*found, AS_JSON]


def test_what_is_filled_in_is_read() -> None:
    form = Form(SCHEMA)
    form.write(FULL)
    assert form.read() == FULL
    assert form.fields["tags"].kind.value == "list" and form.fields["note"].kind.value == "null"


def test_what_may_be_left_out_is_until_somebody_types_into_it() -> None:
    form = Form(SCHEMA)
    form.fields["name"].control.widget.value = "Emma"
    form.fields["copies"].control.widget.value = " 2 "
    assert form.read() == {"name": "Emma", "copies": 2}
    assert LEFT_OUT not in form.fields["name"].kind.options
    form.fields["price"].control.widget.value = "3"
    assert form.read() == {"name": "Emma", "copies": 2, "price": 3}
    form.write({"name": "Dune", "copies": 1})
    assert form.read() == {"name": "Dune", "copies": 1}


@pytest.mark.parametrize(
    ("schema", "typed", "said"),
    [
        ({"type": "integer"}, "three", "whole number like 3, got 'three'"),
        ({"type": "integer"}, "", "whole number like 3, got ''"),
        ({"type": "integer"}, "1.5", "whole number"),
        ({"type": "integer"}, "9" * 5000, "whole number"),
        ({"type": "number"}, "1,5", "a number like 2.5"),
        ({"type": "number"}, "inf", "JSON can hold"),
        ({"type": "number"}, "nan", "JSON can hold"),
        ({}, "{'a': 1}", "line 1, column 2"),
        ({}, "[1,\n oops]", "line 2, column 2"),
        ({}, "NaN", "no number"),
        ({}, "[" * 100_000, "Expected JSON"),
        ({}, "", "Expected JSON"),
    ],
)
def test_a_slip_is_said_in_words_at_its_place(schema: Any, typed: str, said: str) -> None:
    form = Form({"type": "object", "properties": {"x": schema, "y": schema}, "required": ["x", "y"]})
    form.fields["x"].control.widget.value = typed
    form.fields["y"].control.widget.value = typed
    with pytest.raises(ParameterError, match=said) as caught:
        form.read()
    assert "x: " in str(caught.value) and "y: " in str(caught.value) and len(str(caught.value)) < 700
    assert all("✗" in form.fields[name]._wrong.value for name in "xy")


@pytest.mark.parametrize("typed", ["1", "-2", "2.5", "1e3", "+4"])
def test_numbers_come_as_they_are_typed(typed: str) -> None:
    field = Field("x", {"type": "number"}, required=True)
    field.control.widget.value = typed
    assert field.read() == float(typed)


def test_any_argument_can_be_sent_wrong_on_purpose() -> None:
    field = Field("copies", {"type": "integer"}, required=True)
    field.kind.value = AS_JSON
    field.control.widget.value = '"many"'
    assert field.read() == "many"


def test_a_list_grows_and_shrinks() -> None:
    field = Field("tags", {"type": "array", "items": ADDRESS}, required=True)
    control = field.control
    assert isinstance(control, ListControl) and field.read() == []
    control.add.click()
    control.add.click()
    control.items[1].write({"street": "Hill"})
    assert field.read() == [{}, {"street": "Hill"}]
    control.remove(control.items[0])
    assert field.read() == [{"street": "Hill"}]
    for _ in range(99):
        control.extend()
    with pytest.raises(ParameterError, match="as JSON"):
        control.extend()


def test_what_no_control_can_hold_is_written_as_json() -> None:
    form = Form(SCHEMA)
    odd = {
        "name": "two\nlines",
        "copies": 1.5,
        "lent": 1,
        "medium": "radio",
        "tags": "none",
        "address": {"city": "X"},
    }
    form.write(odd)
    assert form.read() == odd
    assert form.fields["name"].kind.value == AS_JSON == form.fields["address"].kind.value


def test_true_is_not_one() -> None:
    form = Form({"properties": {"x": {"enum": [1, True, "1"]}}, "required": ["x"]})
    for value in (True, 1, "1"):
        form.write({"x": value})
        assert form.read() == {"x": value} and type(form.read()["x"]) is type(value)


def test_arguments_that_the_form_has_not_are_refused() -> None:
    with pytest.raises(ParameterError, match="got colour"):
        Form(SCHEMA).write({"name": "x", "colour": "red"})
    with pytest.raises(ParameterError, match="an object"):
        Form(SCHEMA).write([1])


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object", "properties": {}, "required": []}, {"type": "object"}]
)
def test_a_tool_without_arguments_has_an_empty_form(schema: dict) -> None:
    assert Form(schema).read() == {}


@pytest.mark.parametrize(
    "schema", [True, None, 3, "x", [], {"properties": 3}, {"properties": {str(i): {} for i in range(999)}}]
)
def test_a_schema_without_readable_fields_is_one_json_object(schema: Any) -> None:
    form = Form(schema)
    assert form.read() == {}
    form.write({"a": 1})
    assert form.read() == {"a": 1}
    form._whole.widget.value = "[1]"
    with pytest.raises(ParameterError, match="one JSON object"):
        form.read()


def test_a_schema_that_goes_on_for_ever_ends() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["child"] = schema
    schema["properties"]["children"] = {"type": "array", "items": schema}
    form, depth = Form(schema), 0
    while "child" in form.fields and (name := form.fields["child"].kind.options[1]) != AS_JSON:
        form.fields["child"].kind.value = name
        form, depth = form.fields["child"].control, depth + 1
    assert depth == MOST_DEPTH
    wide: Any = {"type": "string"}
    for _ in range(30):
        wide = {"anyOf": [wide] * 12}
    assert names(wide) == [AS_JSON]


TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
LEAF = st.sampled_from(
    [{"type": kind} for kind in ("string", "integer", "number", "boolean", "null", "object", "odd")]
)
WORDS = (
    "type",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "enum",
    "const",
    "nullable",
    "required",
    "description",
)
HOSTILE = st.recursive(
    LEAF | VALUE,
    lambda inner: (
        st.dictionaries(st.sampled_from(WORDS), inner | st.lists(inner, max_size=3), max_size=4)
        | st.builds(lambda p: {"type": "object", "properties": p}, st.dictionaries(TEXT, inner, max_size=3))
        | st.builds(lambda i: {"type": "array", "items": i}, inner)
    ),
    max_leaves=12,
)


@given(HOSTILE, VALUE)
def test_no_schema_and_no_value_breaks_a_form(schema: Any, value: Any) -> None:
    form = Form(schema)
    try:
        form.read()
    except ParameterError as error:
        assert str(error)
    field = Field("x", schema, required=False)
    assert field.left_out
    field.write(value)
    assert not field.left_out and canonical(field.read()) == canonical(value)
