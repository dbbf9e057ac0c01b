"""Small parts of the wire: strict schemas, waiting times, vectors."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, Field

from envscaler.error import ModelError
from envscaler.model.strict import strict_schema
from envscaler.model.wire import model_names, reply_of, seconds, usage_of, vectors_of


class Inner(BaseModel):
    name: str = Field(min_length=1, description="a name")
    kind: Literal["a", "b"] = "a"


class Outer(BaseModel):
    items: list[Inner]
    one: Inner | None = Field(default=None, description="beside a reference")
    source: str | None = None
    score: int = Field(ge=1, le=10)


def objects(schema: Any) -> list[dict]:
    if isinstance(schema, list):
        return [found for part in schema for found in objects(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "object" else []
    return own + [found for part in schema.values() for found in objects(part)]


def test_a_strict_schema_requires_everything_and_allows_nothing_else():
    strict = strict_schema(Outer.model_json_schema())
    assert len(objects(strict)) == 2
    for part in objects(strict):
        assert part["additionalProperties"] is False and part["required"] == list(part["properties"])
    text = json.dumps(strict)
    assert '"default"' not in text and "minLength" not in text and '"minimum": 1' in text
    # What was allowed to be null still is.
    assert {"type": "null"} in strict["properties"]["source"]["anyOf"]


class FreeDict(BaseModel):
    arguments: dict[str, Any]


class AnyValue(BaseModel):
    value: Any


class BareList(BaseModel):
    values: list


class Pair(BaseModel):
    pair: tuple[int, str]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


@pytest.mark.parametrize("answer", [FreeDict, AnyValue, BareList, Pair, Open])
def test_what_strict_mode_cannot_say_has_no_strict_schema(answer):
    assert strict_schema(answer.model_json_schema()) is None


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "array"}, {"oneOf": []}])
def test_free_schemas_have_no_strict_form(schema):
    assert strict_schema(schema) is None


def test_the_given_schema_is_left_alone():
    schema = Outer.model_json_schema()
    before = json.dumps(schema)
    strict_schema(schema)
    assert json.dumps(schema) == before


@pytest.mark.parametrize(
    ("milliseconds", "after", "expected"),
    [
        (None, None, None),
        ("250", "9", 0.25),
        (None, "1.5", 1.5),
        (None, "-3", 0),
        (None, "soon", None),
        ("soon", "2", None),
        (None, "Wed, 21 Oct 2015 07:28:00 GMT", 0),
    ],
)
def test_waiting_times(milliseconds, after, expected):
    assert seconds(milliseconds, after) == expected


def test_a_waiting_time_may_be_a_date():
    assert 50 < seconds(None, format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)) <= 60


def test_model_names_of_whatever_comes():
    assert model_names(b'{"data": [{"id": "b"}, {"id": "a"}]}') == ["a", "b"]
    for content in (b"", b"[]", b'{"data": [1]}', b'{"data": null}', b"\xff"):
        assert model_names(content) == []


def test_vectors_come_in_the_order_of_the_texts():
    content = json.dumps(
        {"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [1, 0]}]}
    ).encode()
    rows, usage = vectors_of(content, 2, "u"), usage_of(content)
    assert np.array_equal(rows, [[1, 0], [0, 2]]) and usage.calls == 1


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"data": []},
        {"data": [{"index": 0, "embedding": [1, None]}]},
        {"data": [{"index": 0, "embedding": "AAA="}]},
        {"data": [{"index": 0, "embedding": [1]}] * 2},
        {"data": [{"index": 0, "embedding": [float("nan")]}]},
    ],
)
def test_an_answer_without_the_vectors_is_told(answer):
    with pytest.raises(ModelError, match="u: expected"):
        vectors_of(json.dumps(answer).encode(), 1, "u")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"<html>",
        b"[" * 100_000,
        b'{"choices": [{"message": {"content": "x", "tool_calls": 5}}]}',
    ],
)
def test_whatever_a_server_sends_is_a_model_error(content: bytes) -> None:
    with pytest.raises(ModelError, match="chat completion"):
        reply_of(content, "here")
    with pytest.raises(ModelError, match="embeddings"):
        vectors_of(content, 1, "here")
    assert model_names(content) == []
