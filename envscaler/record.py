"""What a record is: frozen, strict, and named by its content. The records themselves are in `schema`.

`Part` is a piece of a record; `Record` is what goes to disk and has an `id`; `Origin` and `Usage` say how one was
made and what that cost. This module knows no stage.
"""

import hashlib
import html
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, SerializationInfo, model_serializer, model_validator
from pydantic.functional_serializers import SerializerFunctionWrapHandler
from pydantic_core import PydanticSerializationError

Json = Any
"""Anything that JSON can hold."""

FROM = "$from"
"""The only key of a reference: `{"$from": [i, path…]}` stands for a value of the i-th call's reply."""


def canonical(content: Json) -> str:
    """The one JSON text of a content: sorted keys, no spaces, so that equal contents have equal texts."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(content: Json) -> str:
    """First 12 hex digits of the sha256 of the canonical JSON of `content`."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()[:12]


def read_loosely(text: Any) -> Json:
    """What a text holds where it is JSON, else the text as it is."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text


def is_number(value: Json) -> bool:
    """Whether a value is a number; to Python `True` is one, to JSON it is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_dict(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one: for what others wrote and may be anything."""
    return value if isinstance(value, dict) else {}


def map_references(value: Json, put: Callable[[Json], Json]) -> Json:
    """The value with `put([i, path…])` in the place of each reference, however deep; nothing else is touched."""
    if isinstance(value, dict):
        if value.keys() == {FROM}:
            return put(value[FROM])
        return {key: map_references(part, put) for key, part in value.items()}
    return [map_references(part, put) for part in value] if isinstance(value, list) else value


def references(value: Json) -> list[Json]:
    """What each reference in the value holds: `[i, path…]`."""
    found: list[Json] = []
    map_references(value, found.append)
    return found


def bounded(count: int, *, least: int = 0, **more: Any) -> Any:
    """A list whose end a server that enforces schemas is to bring about; any other is read all the same.

    Without a bound nothing but the server's limit ends the answer of a model that runs on.

    Args:
        count: entries, well above what a prompt asks for.
        least: entries without which the answer would be refused anyway.
        more: what else pydantic's `Field` takes, e.g. a default.
    """
    return Field(
        json_schema_extra={"minItems": least, "maxItems": count} if least else {"maxItems": count}, **more
    )


class Part(BaseModel):
    """A piece of a record: frozen, nothing unknown in it, no id of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Record(Part):
    """Something that goes to disk and has an id."""

    outside_id: ClassVar[frozenset[str]] = frozenset({"origin", "extra"})

    @model_validator(mode="before")
    @classmethod
    def _drop_written_id(cls, data: Any) -> Any:
        # Files carry the id for joins; it is made anew from the content, so an edited row gets a new one.
        return (
            {k: v for k, v in data.items() if k != "id"} if isinstance(data, dict) and "id" in data else data
        )

    @model_serializer(mode="wrap")
    def _write_id(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        content = handler(self)
        if info.exclude or info.include:  # a part of the record, which is still the same record
            return {"id": self.id, **content}
        # A record within is named by its id, which leaves out how that one was made.
        named = {k: v["id"] if isinstance(getattr(self, k, None), Record) else v for k, v in content.items()}
        kept = {k: v for k, v in named.items() if k not in self.outside_id}
        return {"id": digest(kept), **content}

    def model_dump(self, *args: Any, **options: Any) -> dict[str, Any]:
        """As pydantic's, and Ctrl-C stops it."""
        with _interruptible():
            return super().model_dump(*args, **options)

    def model_dump_json(self, *args: Any, **options: Any) -> str:
        """As pydantic's, and Ctrl-C stops it."""
        with _interruptible():
            return super().model_dump_json(*args, **options)

    @cached_property
    def id(self) -> str:
        """First 12 hex digits of the sha256 of the content; reckoned once, for a record does not change."""
        return str(self.model_dump(mode="json")["id"])

    def model_copy(self, *args: Any, **options: Any) -> Self:
        """As pydantic's, and what is changed has another id."""
        copied = super().model_copy(*args, **options)
        copied.__dict__.pop("id", None)
        return copied

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed and everything validated again."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate({**fields, **changes})

    def _repr_html_(self) -> str:
        rows = ((k, v) for k, v in self.model_dump(mode="json").items() if v not in (None, {}, [], ""))
        cells = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{html.escape(k)}</th>"
            f"<td style='text-align:left;white-space:pre-wrap'>{html.escape(_short(v))}</td></tr>"
            for k, v in rows
        )
        return (
            f"<table><caption style='text-align:left'><b>{type(self).__name__}</b></caption>{cells}</table>"
        )


@contextmanager
def _interruptible() -> Iterator[None]:
    # Pydantic makes an error of the interrupt of a serializer, and who reads rows would take it for a bad row.
    try:
        yield
    except PydanticSerializationError as error:
        if ": KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from error
        raise


def _short(value: Json, limit: int = 600) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text):,} characters)"


class Usage(Part):
    """What answering cost."""

    calls: int = 0
    """Requests that reached the model; replies out of the cache count 0."""
    input_tokens: int = 0
    """Tokens read."""
    output_tokens: int = 0
    """Tokens written."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


class Origin(Part):
    """How a record was made."""

    model: str
    """Name of the model that answered."""
    settings: dict[str, Json] = {}
    """Settings of the call, e.g. temperature."""
    prompt: str = ""
    """First 12 hex digits of the sha256 of the prompt file(s)."""
    seed: int | None = None
    """Seed of every random choice."""
    version: str = ""
    """Version of this library."""
