"""An action as a choice by JSON schema: one of the tools, or something to say.

For servers that enforce a schema but parse no tool calls. The schema is one that OpenAI's strict mode takes: every
parameter is required there, so one that may be left out may be null instead, and is left out again when the choice is
read. Arguments that strict mode has no form for are chosen as JSON text, which a tool call's arguments are anyway.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from envscaler.acting.wording import Said, broken_call
from envscaler.error import ReplyError
from envscaler.model.mending import read_json
from envscaler.model.reply import JsonObject, parse
from envscaler.model.request import Message, Reply
from envscaler.model.strict import strict_schema
from envscaler.record import as_dict
from envscaler.schema import Json
from envscaler.scripted import function_of
from envscaler.world.action import UNREADABLE

_THOUGHT = "What is known, what is open, what to do next; nobody else reads it."
_WORDS = "What the user is told."


def choice_schema(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The schema of an action: a thought, and a call of one of the tools or words."""
    choices = [_call_schema(function_of(tool)) for tool in tools]
    action = {"anyOf": [*choices, _object({"say": {"type": "string", "description": _WORDS}})]}
    return _object({"thought": {"type": "string", "description": _THOUGHT}, "action": action})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _call_schema(function: Mapping[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {"tool": {"type": "string", "enum": [function["name"]]}}
    parameters = as_dict(function.get("parameters"))
    if parameters.get("properties"):
        named["arguments"] = _arguments_schema(parameters)
    return _object(named)


def _arguments_schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter required, or null where it may be left out; as text where strict mode has no form for it."""
    optional = set(parameters["properties"]) - set(parameters.get("required", ()))
    properties = {n: _plain(part, n in optional) for n, part in parameters["properties"].items()}
    made = _object(properties)
    # A reference would point into the tool's own schema.
    if "$ref" in json.dumps(made) or strict_schema(made) is None or parameters.get("additionalProperties"):
        return {"type": "string", "description": "The arguments: one JSON object, written as text."}
    return made


def _plain(schema: Any, optional: bool) -> Any:
    """A part of a tool's schema with null as a type of its own, which it is for OpenAI."""
    if not isinstance(schema, dict):
        return schema
    inner = {key: value for key, value in schema.items() if key != "nullable"}
    if isinstance(inner.get("properties"), dict):
        asked = set(inner.get("required", ()))
        inner["properties"] = {n: _plain(part, n not in asked) for n, part in inner["properties"].items()}
        inner["required"] = list(inner["properties"])
    if "items" in inner:
        inner["items"] = _plain(inner["items"], False)
    if "anyOf" in inner:
        inner["anyOf"] = [_plain(part, False) for part in inner["anyOf"]]
    if not (optional or schema.get("nullable")):
        return inner
    about = {"description": inner.pop("description")} if "description" in inner else {}
    return {"anyOf": [inner, {"type": "null"}], **about}


def read_choice(text: str, tools: Sequence[Mapping[str, Any]]) -> Said:
    """The choice in a text; a text without JSON is words, and what cannot be read a call of what it names."""
    try:
        answer = parse(Reply(text), JsonObject)
    except ReplyError:
        spoken = "{" not in text
        return Said(text.strip(), "", ()) if spoken else Said("", "", (broken_call(text.strip(), "tool"),))
    thought, action = str(answer.get("thought") or ""), answer.get("action", answer)
    action = {"say": action} if isinstance(action, str) else action
    name = action.get("tool", action.get("name")) if isinstance(action, dict) else None
    if isinstance(name, str):
        return Said(str(action.get("say") or ""), thought, ((name, _arguments(action, name, tools)),))
    if isinstance(action, dict) and isinstance(action.get("say"), str):
        return Said(action["say"].strip(), thought, ())
    return Said("", thought, ((UNREADABLE, json.dumps(action, ensure_ascii=False)),))


def _arguments(action: Mapping[str, Any], name: str, tools: Sequence[Mapping[str, Any]]) -> str:
    given = action.get("arguments") or {}
    if isinstance(given, str):
        return given
    schema = next((as_dict(f.get("parameters")) for f in map(function_of, tools) if f["name"] == name), {})
    return json.dumps(_without_nulls(given, schema), ensure_ascii=False)


def _without_nulls(value: Json, schema: Any) -> Json:
    """A value without the nulls that stand for what was left out."""
    parts = as_dict(schema)
    if isinstance(value, list):
        return [_without_nulls(item, parts.get("items")) for item in value]
    if not isinstance(value, dict):
        return value
    properties, required = as_dict(parts.get("properties")), parts.get("required", ())
    return {
        key: _without_nulls(inner, properties.get(key))
        for key, inner in value.items()
        if inner is not None or key in required or key not in properties or _admits_null(properties[key])
    }


def _admits_null(schema: Any) -> bool:
    parts = as_dict(schema)
    kinds = parts.get("type")
    return bool(parts.get("nullable")) or kinds == "null" or (isinstance(kinds, list) and "null" in kinds)


def choice_as_text(message: Message) -> str:
    """A message of the assistant as the choice it was."""
    calls = message.get("tool_calls") or ()
    actions: list[dict[str, Json]] = [{"say": message["content"]}] if message.get("content") else []
    if calls or not actions:
        actions = [
            {"tool": c["function"]["name"], "arguments": _shown(c["function"]["arguments"])} for c in calls
        ]
    return "\n".join(json.dumps({"action": action}, ensure_ascii=False) for action in actions)


def _shown(arguments: str) -> Json:
    try:
        return read_json(arguments)
    except ReplyError:
        return arguments
