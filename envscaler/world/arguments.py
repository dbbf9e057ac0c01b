"""Whether a tool call's arguments fit the tool's schema, said so that an agent can mend them.

Arguments come as a JSON text or as a dict; what does not fit is told with the argument's name, what was
expected and what came. `True` is no integer, `2.0` is taken for the integer 2, and `nullable` (see
`annotations`) admits null. Nothing is raised for an agent's slip, and nothing here runs a tool.
"""

import difflib
import functools
import itertools
import json
import marshal
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from envscaler.record import as_dict
from envscaler.schema import Json, Tool
from envscaler.world.schemas import sound_schema

_SHOWN = 120
"""Characters of a wrong value that are shown."""
_MOST = 1_000_000
"""Characters that the arguments of one call may have."""
_REMEMBERED = 1_000
"""Sound arguments that a tool's checker remembers, and bytes of one: calls are made again and again."""


class ArgumentsOf:
    """Checks the arguments of one tool; made once an environment."""

    def __init__(self, tool: Tool) -> None:
        schema = sound_schema(tool.parameters)
        plain = tool.model_copy(update={"parameters": schema})
        self._properties, self._required = plain.properties, plain.required
        self._open = bool(schema.get("additionalProperties"))
        whole = _compiled(json.dumps(schema))
        parts = as_dict(as_dict(whole.schema).get("properties"))
        self._validators = {name: whole.evolve(schema=part) for name, part in parts.items()}
        self._sound: set[bytes] = set()

    def read(self, arguments: Json) -> tuple[dict[str, Any], str]:
        """The arguments as a dict, and what is wrong with them in sentences; "" when nothing is."""
        given, wrong = _as_dict(arguments)
        if wrong:
            return {}, f"{wrong} {self._wanted()}"
        known = _packed(given)
        if known in self._sound:
            return self._taken(given), ""
        problems = [self._unknown(name) for name in given if name not in self._properties and not self._open]
        problems += [self._missing(name) for name in self._required if name not in given]
        for name, value in given.items():
            if (validator := self._validators.get(name)) is not None:
                problems += [_mistyped(name, error) for error in _faults(validator, value)]
        if problems:
            return given, " ".join(problems)
        if len(self._sound) < _REMEMBERED and 0 < len(known) < _REMEMBERED:
            self._sound.add(known)
        return self._taken(given), ""

    def _taken(self, given: dict[str, Any]) -> dict[str, Any]:
        return {name: _whole(value, self._properties.get(name)) for name, value in given.items()}

    def _unknown(self, name: str) -> str:
        near = nearest(name, self._properties)
        hint = f"did you mean {near}?" if near else self._wanted()
        return f"There is no argument {shown(name)}; {hint}"

    def _missing(self, name: str) -> str:
        part = self._properties.get(name) or {}
        told = f": {part['description']}" if isinstance(part, dict) and part.get("description") else ""
        return f"The argument {name!r} is missing; expected {expected(part)}{told.rstrip('.')}."

    def _wanted(self) -> str:
        if not self._properties:
            return "this tool takes no arguments."
        optional = [name for name in self._properties if name not in self._required]
        parts = [
            f"{name} ({expected(self._properties[name])})"
            for name in self._required
            if name in self._properties
        ]
        parts += [f"{name} ({expected(self._properties[name])}, optional)" for name in optional]
        return f"the arguments are {', '.join(parts)}."


def nearest(name: str, names: Mapping[str, Any] | Sequence[str]) -> str:
    """The names most like `name`, joined by "or"; "" when none is like it."""
    found = difflib.get_close_matches(str(name)[:100], list(names), n=3, cutoff=0.5)
    return " or ".join(repr(match) for match in found)


def shown(value: Json) -> str:
    """A value for a message, cut short."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"


def expected(schema: Any) -> str:
    """A schema in a few words."""
    if not isinstance(schema, dict):
        return "a value"
    if isinstance(schema.get("anyOf"), list):
        return " or ".join(expected(_readable(part)) for part in schema["anyOf"])
    kind = schema.get("type", "value")
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        words = f"one of {', '.join(map(str, schema['enum'][:12]))}"
    if kind == "array" and isinstance(schema.get("items"), dict) and "type" in schema["items"]:
        words = f"array of {expected(schema['items'])}"
    return f"{words} or null" if schema.get("nullable") else words


def _packed(given: dict[str, Any]) -> bytes:
    """Bytes that only arguments of the same content and types have (a tuple is no list); empty where there are none."""
    try:
        return marshal.dumps(given, 2)
    except ValueError:
        return b""


def _as_dict(arguments: Json) -> tuple[dict[str, Any], str]:
    if arguments is None or arguments == "":
        return {}, ""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            return {}, f"The arguments are not valid JSON ({str(error)[:_SHOWN]}): {shown(arguments)};"
    if not isinstance(arguments, dict):
        return {}, f"The arguments must be one JSON object, got {shown(arguments)};"
    if (problem := not_json(arguments)) is not None:
        return {}, f"The arguments cannot be taken: {problem};"
    return arguments, ""


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def not_json(value: Json) -> str | None:
    """Why a value cannot travel as JSON text, or None."""
    try:
        length = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)[:_SHOWN]
    return f"they are too large, {length:,} bytes where {_MOST:,} are allowed" if length > _MOST else None


def _mistyped(name: str, error: jsonschema.ValidationError) -> str:
    path = "".join(f"[{part!r}]" for part in error.absolute_path)
    came = f"{shown(error.instance)} ({_kind(error.instance)})"
    if error.validator in ("type", "enum", "anyOf"):
        return f"The argument {name}{path} must be {expected(_readable(error.schema))}, got {came}."
    return f"The argument {name}{path} does not fit: {error.message[:200]}."


def _readable(schema: Any) -> Any:
    return {k: v for k, v in schema.items() if k != "nullable"} if isinstance(schema, dict) else schema


def _kind(value: Json) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


def _faults(validator: Validator, value: Json) -> list[jsonschema.ValidationError]:
    try:
        return list(itertools.islice(validator.iter_errors(value), 3))
    except (Unresolvable, RecursionError, ValueError, ArithmeticError):
        return []  # a schema that refers to what is not there, or to itself, says nothing of the value


@functools.lru_cache(maxsize=4096)
def _compiled(schema: str) -> Validator:
    # With a registry of its own, for by default a reference to a URL would be fetched.
    return jsonschema.Draft202012Validator(_standard(json.loads(schema)), registry=Registry())


def _standard(schema: Any) -> Any:
    """The schema with `nullable` in the words of JSON Schema."""
    if isinstance(schema, list):
        return [_standard(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _standard(value) if key != "enum" else value for key, value in schema.items()}
    if made.get("nullable") is not True:
        return made
    if "anyOf" in made:
        made["anyOf"] = [*made["anyOf"], {"type": "null"}]
    if isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    if isinstance(made.get("enum"), list):
        made["enum"] = [*made["enum"], None]
    return made


def _whole(value: Json, schema: Any) -> Json:
    if not isinstance(schema, dict):
        return value
    if schema.get("type") == "integer" and isinstance(value, float) and math.isfinite(value):
        return int(value)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_whole(item, schema["items"]) for item in value]
    return value
