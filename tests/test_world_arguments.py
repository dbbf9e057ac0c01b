"""Arguments that do not fit are told so that an agent can mend them; whatever comes, nothing is raised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.schema import Tool
from envscaler.world.arguments import ArgumentsOf, nearest


def reader(required=("name",), closed=False, **properties):
    properties = properties or {"name": {"type": "string", "description": "Who."}}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [r for r in required if r in properties],
    }
    return ArgumentsOf(
        Tool(
            name="t",
            parameters={**schema, **({"additionalProperties": True} if closed else {})},
            mutates=False,
        )
    )


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 3),
        ({"type": "integer"}, 3.0),
        ({"type": "number"}, 3),
        ({"type": "string", "nullable": True}, None),
        ({"type": ["string", "null"]}, None),
        ({"type": "string", "enum": ["a"], "nullable": True}, None),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}], "nullable": True}, None),
        ({"type": "array", "items": {"type": "string", "nullable": True}}, ["a", None]),
        ({"type": "nonsense"}, 3),
        ({}, object),
    ],
)
def test_what_fits(schema, value):
    value = 1 if value is object else value
    assert reader((), x=schema).read({"x": value}) == ({"x": value}, "")


def test_a_whole_float_becomes_an_integer():
    given_, _ = reader((), x={"type": "array", "items": {"type": "integer"}}).read({"x": [2.0]})
    assert type(given_["x"][0]) is int


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "integer"}, True, "must be integer, got true (boolean)"),
        ({"type": "integer"}, "3", 'must be integer, got "3" (string)'),
        ({"type": "integer"}, 3.5, "got 3.5 (number)"),
        ({"type": "number"}, False, "got false (boolean)"),
        ({"type": "string"}, ["a"], "must be string"),
        ({"type": "string"}, None, "got null"),
        ({"type": "string", "enum": ["a", "b"]}, "c", "one of a, b"),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], "x[1] must be string"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, 9, "does not fit"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {}, "does not fit"),
    ],
)
def test_what_does_not_fit_is_told(schema, value, said):
    assert said in reader((), x=schema).read({"x": value})[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"name": ', "not valid JSON"),
        ("[1]", "must be one JSON object"),
        (5, "must be one JSON object"),
        ('{"name": NaN}', "NaN is no JSON number"),
        ({"name": "a", "nmae": 1}, "did you mean 'name'"),
        ({}, "'name' is missing; expected string: Who"),
        ({"name": "\ud800"}, "cannot be taken"),
        ("[" * 100_000, "not valid JSON"),
        ('{"name": ' * 50_000, "not valid JSON"),
    ],
)
def test_slips(arguments, said):
    _, wrong = reader().read(arguments)
    assert said in wrong and len(wrong) < 700


def test_unknown_arguments_pass_only_where_the_schema_is_open():
    assert reader(closed=True).read({"name": "a", "more": 1})[1] == ""
    assert "no argument" in reader().read({"name": "a", "more": 1})[1]


@pytest.mark.parametrize("nothing", [None, "", "{}", {}])
def test_no_arguments_may_be_said_in_any_way(nothing):
    assert reader((), name={"type": "string"}).read(nothing) == ({}, "")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(json_values | st.text())
def test_nothing_is_ever_raised(arguments):
    given_, wrong = reader().read(arguments)
    assert isinstance(given_, dict) and isinstance(wrong, str)


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "#/definitions/nowhere"},
        {"$ref": "#/properties/name"},
        {"$ref": "http://["},
        {"pattern": "("},
        {"multipleOf": 0},
        {"$ref": "https://example.org/schema.json"},
        {"anyOf": None},
        {"anyOf": [1]},
        {"enum": 5},
        {"type": 7},
        {"minimum": "a"},
        "no schema",
    ],
)
def test_a_schema_that_is_none_or_leads_nowhere_raises_nothing_and_fetches_nothing(part, monkeypatch):
    fetched = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *given, **_: fetched.append(given))
    tool = reader(name=part)
    assert tool.read({"name": 1}) == ({"name": 1}, "")
    assert "'name' is missing" in tool.read({})[1]
    assert "There is no argument" in tool.read({"name": 1, "other": 1})[1]
    assert not fetched


def test_a_reference_is_to_the_whole_schema():
    tool = reader((), name={"$ref": "#/properties/other"}, other={"type": "integer"}, all={"$ref": "#"})
    assert "must be integer" in tool.read({"name": "x"})[1]
    assert "must be integer" in tool.read({"all": {"name": "x"}})[1]
    assert tool.read({"all": {"all": {"name": 1}}})[1] == ""


@pytest.mark.parametrize(
    "schema", [{"properties": 5}, {"properties": ["a"]}, {"required": 5}, {"properties": None}]
)
def test_parameters_that_are_no_schema_admit_no_argument(schema):
    tool = ArgumentsOf(Tool(name="t", parameters=schema, mutates=False))
    assert tool.read({}) == ({}, "") and "this tool takes no arguments" in tool.read({"name": 1})[1]


def test_parts_that_a_schema_shares_are_looked_up():
    schema = {
        "properties": {"day": {"$ref": "#/$defs/Day"}},
        "$defs": {"Day": {"type": "string", "nullable": True}},
    }
    tool = ArgumentsOf(Tool(name="t", parameters=schema, mutates=False))
    assert tool.read({"day": None})[1] == "" and "day must be string" in tool.read({"day": 3})[1]


def test_nearest_names():
    assert nearest("get_bok", ["get_book", "lend"]) == "'get_book'" and nearest("zzz", ["a"]) == ""
