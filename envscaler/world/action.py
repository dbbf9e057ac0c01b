"""Reading an action: one assistant message in OpenAI form, or whatever an agent sent in its place.

Everything that can be wrong with a message becomes a problem in words beside the call it concerns, for the
agent to mend. Nothing is raised, and nothing runs here.
"""

from dataclasses import dataclass
from typing import Any

from envscaler.schema import Json
from envscaler.world.arguments import shown

UNREADABLE = "unreadable_call"
"""The name of a call that names no tool: servers refuse an empty one when it is sent back to them."""
_FORM = 'expected an assistant message {"role": "assistant", "content": text or null, "tool_calls": [...]}'
_CALL = 'expected a tool call {"id": text, "type": "function", "function": {"name": text, "arguments": JSON text}}'


@dataclass(frozen=True)
class AskedCall:
    """One call an agent asked for."""

    id: str
    """Its id, for the observation to name."""
    name: str
    """The tool it names."""
    arguments: Json
    """Its arguments as they came: JSON text or an object."""
    problem: str = ""
    """Why it is no call at all, in a sentence; empty when it is one."""


@dataclass(frozen=True)
class Message:
    """What an action comes to."""

    calls: tuple[AskedCall, ...]
    """The calls in order; one with a problem where the message itself is malformed."""
    says_done: bool
    """Whether it is a well-formed message without calls."""


def read_action(action: Json) -> Message:
    """The calls of an action; of text alone there are none."""
    if isinstance(action, str):
        return Message((), True)
    if hasattr(action, "model_dump"):
        action = action.model_dump()
    if not isinstance(action, dict):
        return _malformed(f"{_FORM}, got {shown(action)}.")
    if action.get("role", "assistant") != "assistant":
        return _malformed(f"{_FORM}, got one of the role {shown(action['role'])}.")
    if "content" not in action and "tool_calls" not in action:
        return _malformed(f"{_FORM}, got one with neither content nor tool_calls.")
    content, calls = action.get("content"), action.get("tool_calls")
    if content is not None and not isinstance(content, str | list):
        return _malformed(f"{_FORM}, got the content {shown(content)}.")
    if calls is not None and not isinstance(calls, list | tuple):
        return _malformed(f"{_FORM}, got the tool_calls {shown(calls)}.")
    return Message(tuple(_call(call) for call in calls or ()), not calls)


def _malformed(problem: str) -> Message:
    return Message((AskedCall("", "", {}, f"The action cannot be read: {problem}"),), False)


def _call(call: Any) -> AskedCall:
    if not isinstance(call, dict):
        return AskedCall("", "", {}, f"This tool call cannot be read: {_CALL}, got {shown(call)}.")
    given = call.get("id")
    name_of = given if isinstance(given, str) else ""
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return AskedCall(name_of, "", {}, f"This tool call cannot be read: {_CALL}, got {shown(call)}.")
    return AskedCall(name_of, function["name"], function.get("arguments"))
