"""What providers refuse in tool schemas; our own schemas are refused by nobody.

Run: python -m pytest tests/test_world_providers.py -q
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import skeleton

from envscaler import release as published_data
from envscaler.certifying.providers import PROVIDERS, described, lint_schemas, refusals
from envscaler.schema import Tool


def tool(parameters: object = None, name: str = "run", description: str = "Run.") -> Tool:
    schema = {"type": "object", "properties": {}} if parameters is None else parameters
    return Tool(name=name, description=description, parameters=schema, mutates=False)


def one(schema: object, name: str = "x") -> Tool:
    return tool({"type": "object", "properties": {name: schema}})


@pytest.mark.parametrize(
    ("given_tool", "kind", "by"),
    [
        (one({"type": "array"}), "array-without-items", ("OpenAI", "Gemini")),
        (one({"type": "array", "items": {"type": "array"}}), "array-without-items", ("OpenAI", "Gemini")),
        (one({"type": ["string", "null"]}), "type-list", ("Gemini",)),
        (one({}), "no-type", ("Gemini",)),
        (one({"type": "any"}), "unknown-type", PROVIDERS),
        (one({"type": "integer", "enum": [1, 2]}), "enum-of-numbers", ("Gemini",)),
        (one({"$ref": "#/$defs/a"}), "reference", ("Gemini", "Anthropic")),
        (one({"type": "string", "const": "a"}), "unknown-word", ("Gemini",)),
        (one({"type": "array", "items": {"type": "string"}, "uniqueItems": True}), "no-grammar", ("vLLM",)),
        (one({"type": "string"}, name="a b"), "property-name", ("Anthropic",)),
        (tool(name="a b"), "name", ("OpenAI", "Gemini", "Anthropic")),
        (tool(description="x" * 1025), "long-description", ("OpenAI",)),
        (tool({"type": "string"}), "not-an-object", PROVIDERS),
        (tool({"type": "object", "anyOf": []}), "combined-at-top", ("OpenAI", "Anthropic")),
        (tool({"type": "object", "properties": {}, "required": ["y"]}), "required-unknown", ("Gemini",)),
    ],
)
def test_each_refusal_is_named_with_who_refuses(given_tool: Tool, kind: str, by: tuple) -> None:
    found = {r.kind: r.by for r in refusals([given_tool])}
    assert found == {kind: by}
    (finding,) = lint_schemas([given_tool])
    assert finding.kind == f"schema-{kind}" and finding.evidence["refused by"] == list(by)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a"]},
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "number"}}}},
        {"anyOf": [{"type": "string"}, {"type": "number"}]},
        {"type": "string", "nullable": True},
        {"type": "object", "additionalProperties": True},
    ],
)
def test_what_everybody_takes(schema: dict) -> None:
    assert refusals([one(schema)]) == []


def test_a_kind_is_told_once_a_tool_with_all_its_places() -> None:
    parameters = {"type": "object", "properties": {"a": {}, "b": {"type": "array", "items": {}}}}
    (finding,) = lint_schemas([tool(parameters)])
    assert finding.evidence["parts"] == ["parameters.a", "parameters.b.items"]


def test_descriptions_are_counted() -> None:
    schema = {"type": "object", "properties": {"a": {"description": "A."}, "b": {"description": " "}, "c": 5}}
    assert described(tool(schema)) == (1, 3) and described(tool({})) == (0, 0)


def test_our_own_schemas_are_refused_by_nobody() -> None:
    assert refusals(skeleton().tools) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "items", "properties", "anyOf", "required", "enum", "x"]),
            part,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from(["type", "properties", "required", "anyOf", "items"]), JSON, max_size=4)
)
def test_any_schema_is_judged(schema: dict) -> None:
    lint_schemas([tool(schema)])
    some, total = described(tool(schema))
    assert 0 <= some <= total


@pytest.mark.release
def test_the_published_schemas(release) -> None:
    """Of the larger sample that was measured before, 35 of 953 tools were refused for their types."""
    tools = [t for s in published_data.read_environments(release) for t in s.tools]
    found = refusals(tools)
    told = [described(t) for t in tools]
    assert (len(tools), sum(d for d, _ in told), sum(n for _, n in told)) == (588, 0, 988)
    kinds = {kind: sum(r.kind == kind for r in found) for kind in {r.kind for r in found}}
    assert kinds == {"type-list": 38, "no-type": 8, "long-description": 9}
