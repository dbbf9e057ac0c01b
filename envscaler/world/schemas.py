"""Tool schemas that somebody else wrote, made such as everything here can read; what is no schema is told.

What the metaschema of JSON Schema refuses is left out, and so is a reference that leads nowhere or round in a circle;
all else stays. An argument whose schema is none may be anything. Nothing is fetched, and nothing here says what an
agent or a provider makes of a schema (`arguments`, `certifying.providers` do).
"""

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from envscaler.schema import Json, Skeleton

_FORMATS = FormatChecker(())
_FORMATS.checks("regex", (re.error, OverflowError, RecursionError))(
    lambda text: not isinstance(text, str) or re.compile(text) is not None
)
_META = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=_FORMATS)
_ANY_SCHEMA = ["object", "boolean"]
"""What the metaschema says of a place where a schema must stand."""
_DEEPEST = 50
"""Levels of a schema; checking a deeper one would take more of Python's stack than there is."""
_REFERENCES = ("$ref", "$dynamicRef")
_NAMES = ("$id", "$schema")
"""Words by which a schema, or a part of one, would be another document with rules of its own."""
_DATA = frozenset({"enum", "const", "default", "examples"})
"""Words under which stands data, whatever it looks like."""
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Words under which stand schemas by names that mean nothing."""
Path = tuple[str | int, ...]


def sound(skeleton: Skeleton) -> Skeleton:
    """The skeleton with its tools' schemas such as can be read; itself where they all can."""
    if not any(problems(tool.parameters) for tool in skeleton.tools):
        return skeleton
    tools = [tool.model_copy(update={"parameters": sound_schema(tool.parameters)}) for tool in skeleton.tools]
    return skeleton.model_copy(update={"tools": tools})


def sound_schema(schema: dict[str, Json]) -> dict[str, Any]:
    """The schema without what is none; not to be changed, for it is kept."""
    return _mended(json.dumps(schema))[0]


def problems(schema: dict[str, Json]) -> list[str]:
    """What of a schema is none, each with its place."""
    return list(_mended(json.dumps(schema))[1])


@functools.lru_cache(maxsize=4096)
def _mended(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    # Checking a schema takes longer than a call, and every episode of a skeleton has the same ones.
    schema, told = json.loads(text), list[str]()
    if any(len(path) > _DEEPEST for path, _ in _objects(schema)):
        return {}, ("parameters: nested too deeply",)
    for _, part in _objects(schema):
        for word in _NAMES:
            if isinstance(part.get(word), str):
                del part[word]
    # What stands in the place of a part that was none may be none either, e.g. a list that is now empty.
    while errors := {tuple(error.absolute_path): error for error in _META.iter_errors(schema)}:
        for path, error in reversed(errors.items()):
            told.append(f"{_place(path)}: {error.message[:160]}")
            _put_right(schema, path, error)
    return schema, (*told, *_drop_references(schema))


def _place(path: Path) -> str:
    return ".".join(["parameters", *map(str, path)])


def _objects(value: Any, path: Path = (), *, named: bool = False) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every object of a schema that is no data, with its place; in one with schemas by name every word is a name."""
    if isinstance(value, dict):
        yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        if named or key not in _DATA:
            yield from _objects(part, (*path, key), named=not named and key in _BY_NAME)


def _put_right(schema: Any, path: Path, error: ValidationError) -> None:
    """Leave out the part of a schema that is wrong; where a schema must stand, one that says nothing is put."""
    *way, last = path
    holder, given = schema, error.instance
    try:
        for step in way:
            holder = holder[step]
        if error.validator == "type" and error.validator_value == _ANY_SCHEMA:
            holder[last] = {}
        elif error.validator == "uniqueItems" and isinstance(given, list):
            holder[last] = [one for place, one in enumerate(given) if one not in given[:place]]
        else:
            del holder[last]
    except (KeyError, IndexError, TypeError):
        pass  # it went with what it stood in


# References


def _drop_references(schema: dict[str, Any]) -> Iterator[str]:
    """Leave out references that lead nowhere, or round in a circle."""
    resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()

    def led_to(reference: Json) -> Any:
        try:
            return resolver.lookup(reference).contents
        except (Unresolvable, ValueError):
            return None

    def at_once(part: dict[str, Any]) -> Iterator[Any]:
        """What a value is held against as a whole when it is held against this."""
        yield from (led_to(part[word]) for word in _REFERENCES if word in part)
        yield from (part[word] for word in ("not", "if", "then", "else") if word in part)
        for word in ("allOf", "anyOf", "oneOf"):
            yield from part.get(word, ())
        yield from part.get("dependentSchemas", {}).values()

    def astray(part: dict[str, Any], reference: str) -> str:
        led = led_to(reference)
        if not isinstance(led, bool) and not (id(led) in known and _META.is_valid(led)):
            return "refers to nothing that is there"
        seen, waiting = set[int](), [led]
        while waiting:
            one = waiting.pop()
            if one is part:
                return "refers to itself"
            if isinstance(one, dict) and id(one) not in seen:
                seen.add(id(one))
                waiting += at_once(one)
        return ""

    objects = list(_objects(schema))
    known = {id(part) for _, part in objects}
    for path, part in objects:
        for word in _REFERENCES:
            if isinstance(part.get(word), str) and (why := astray(part, part[word])):
                yield f"{_place((*path, word))}: {part.pop(word)!r:.80} {why}"
