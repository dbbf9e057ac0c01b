"""Schemas that somebody else wrote: whatever a tool says for its parameters is examined, told, and never raised."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from worlds import scenario, skeleton

from envscaler.certifying.examine import Options, examine_environment
from envscaler.certifying.many import certify_all
from envscaler.certifying.providers import described, lint_schemas
from envscaler.schema import Check, Skeleton, Tool
from envscaler.searching.proposing import Proposer
from envscaler.world.arguments import ArgumentsOf, expected
from envscaler.world.referee import check_environment
from envscaler.world.schemas import problems, sound, sound_schema
from envscaler.world.trials.schemas import admitted, check_tools
from envscaler.world.trials.trying import Hand, Values, arguments, wrong

WORDS = [
    "type", "properties", "required", "items", "anyOf", "oneOf", "allOf", "not", "enum", "const", "nullable",
    "additionalProperties", "minimum", "maximum", "multipleOf", "pattern", "patternProperties", "format", "minItems",
    "uniqueItems", "description", "default", "$ref", "$defs", "$id", "$dynamicRef", "prefixItems", "if", "book_id",
    "member", "note",
]  # fmt: skip
TEXTS = st.sampled_from(
    ["string", "integer", "array", "object", "null", "#", "#/properties/note", "x", "(", "http://[", ""]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS | st.text(max_size=3),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from(WORDS), part, max_size=4),
    max_leaves=15,
)
SCHEMAS = st.dictionaries(st.sampled_from(WORDS), JSON, max_size=5)
ARGUMENTS = st.dictionaries(st.sampled_from(["book_id", "member", "note", "x"]), SCHEMAS | JSON, max_size=3)
PARAMETERS = SCHEMAS | st.builds(lambda inner, rest: {**rest, "properties": inner}, ARGUMENTS, SCHEMAS)
"""Anything at all in the places where a schema says something."""
MALFORMED = [
    {"properties": 5}, {"properties": ["a"]}, {"properties": None}, {"properties": {"note": 5}}, {"required": "x"},
    {"required": 5}, {"required": ["note", 3]}, {"type": ["a", 3]}, {"type": 7}, {"anyOf": 5}, {"anyOf": []},
    {"properties": {"note": {"anyOf": "string"}}}, {"properties": {"note": {"enum": "red"}}},
    {"properties": {"note": {"minimum": "a", "type": "integer"}}}, {"properties": {"note": {"pattern": "("}}},
    {"properties": {"note": {"$ref": "#/properties/note"}}}, {"$ref": "#"}, {"$ref": "#/nowhere"},
    {"properties": {"default": {"$ref": "#/properties/default"}}},
    {"default": {"$ref": "#/default"}, "properties": {"note": {"$ref": "#/default"}}},
    {"properties": {"type": {"type": "string"}, "note": {"$ref": "#/properties"}}},
    {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "properties": {"note": {"$ref": "#/$defs/a"}}},
]  # fmt: skip


def tool_with(parameters: dict[str, Any]) -> Tool:
    return Tool(name="lend", parameters=parameters, mutates=True)


def world_with(parameters: dict[str, Any]) -> Skeleton:
    """The library, of which one tool says this."""
    world = skeleton()
    tools = [
        tool.model_copy(update={"parameters": parameters}) if tool.name == "lend" else tool
        for tool in world.tools
    ]
    return world.replace(tools=tools)


@pytest.mark.parametrize("parameters", MALFORMED, ids=str)
def test_what_is_no_schema_is_a_finding(parameters: dict[str, Any]) -> None:
    told = [f for f in check_tools(world_with(parameters)) if f.kind == "schema-malformed"]
    assert len(told) == 1 and told[0].where == "lend" and "parameters" in told[0].message
    assert problems(sound_schema(parameters)) == [], "what is left is a schema"


@pytest.mark.parametrize(
    "parameters",
    [
        {}, {"type": "object", "properties": {"next": {"$ref": "#"}, "note": True}, "additionalProperties": False},
        {"$defs": {"a": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/a"}, "$ref": {"type": "string"}}},
        {"properties": {"a": {"default": {"$ref": "nowhere"}, "nullable": True}}},
    ],
)  # fmt: skip
def test_a_schema_stays_as_it_is(parameters: dict[str, Any]) -> None:
    assert problems(parameters) == [] and sound_schema(parameters) == parameters
    world = world_with(parameters)
    assert sound(world) is world


def test_only_what_is_wrong_is_left_out() -> None:
    parameters = {
        "type": "object",
        "required": ["book_id", "book_id", 3],
        "properties": {"book_id": {"type": "string", "minLength": "x"}, "note": 5},
    }
    left = {
        "type": "object",
        "required": ["book_id"],
        "properties": {"book_id": {"type": "string"}, "note": {}},
    }
    assert sound_schema(parameters) == left
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"items": deep}
    assert problems(deep) == ["parameters: nested too deeply"]


@settings(max_examples=150, deadline=None)
@given(PARAMETERS, st.integers(0, 99))
def test_whatever_a_schema_says_can_be_read(parameters: dict[str, Any], seed: int) -> None:
    """Everything that the examinations do with a schema, without a worker."""
    world, state = world_with(parameters), scenario().initial_state
    assert problems(sound_schema(parameters)) == []
    list(check_tools(world))
    lint_schemas(world.tools)
    assert 0 <= described(tool_with(parameters))[0] <= described(tool_with(parameters))[1]
    tool, chance = sound(world).tool("lend"), random.Random(seed)
    assert tool is not None
    hand, reader = Hand(tool, Values(state), chance), ArgumentsOf(tool_with(parameters))
    for given_ in [hand.fresh(), hand.near(hand.fresh()), arguments(tool, Values(state), chance)]:
        for one in [given_, *hand.neighbours(given_), *(odd for _, odd in wrong(tool, given_))]:
            assert isinstance(reader.read(one)[1], str)
    for part in tool.properties.values():
        assert admitted(part) is not None and isinstance(expected(part), str)
    proposer = Proposer(
        sound(world), [Check(item="x", source=scenario().checks[0].source)], "Lend it.", state
    )
    assert all(call.tool == "lend" for call in proposer.calls(tool, state, 0, 20))


def test_what_was_published_as_no_object_is_a_finding_too() -> None:
    world = skeleton()
    tools = [
        {**tool.function, "function": {**tool.function["function"], "parameters": [1]}}
        for tool in world.tools
    ]
    told = examine_environment(world_with({}).model_copy(update={"extra": {"tools": tools[:1]}})).findings
    assert [(f.where, "[1]" in f.message) for f in told if f.kind == "schema-malformed"] == [
        (world.tools[0].name, True)
    ]


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(PARAMETERS)
def test_whatever_a_schema_says_is_examined(parameters: dict[str, Any]) -> None:
    """The whole of it, in sealed workers; a failure would be one that was raised."""
    world = world_with(parameters)
    posed = scenario(world)
    assert all(f.kind != "lost" for f in check_environment(world, posed.initial_state, calls=15))
    certified = certify_all([world], [posed], options=Options(calls=15), workers=1, progress=False)
    assert certified.complete and len(certified.scenarios) == 1
    malformed = [f for _, f in certified.findings if f.kind == "schema-malformed"]
    assert bool(malformed) == bool(problems(parameters))
