"""Messages of an episode: whatever an agent returned made one, and what user and assistant said to each other."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from envscaler.acting.slips import with_slip
from envscaler.acting.user import without_thoughts
from envscaler.model.request import Message
from envscaler.model.wire import whole
from envscaler.schema import Json, Usage, canonical
from envscaler.scripted import tool_call
from envscaler.world.action import UNREADABLE


def dialogue_of(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What user and assistant said to each other: no system message, tool call, tool reply or thought."""
    spoken = []
    for message in messages:
        content = message.get("content")
        if message["role"] == "user":
            spoken.append({"role": "user", "content": str(content)})
        elif message["role"] == "assistant" and not message.get("tool_calls"):
            spoken.append({"role": "assistant", "content": without_thoughts(str(content or ""))})
    return spoken


def calls_so_far(messages: Iterable[Mapping[str, Any]]) -> int:
    """How many tool calls the assistant has made."""
    return sum(len(message.get("tool_calls") or ()) for message in messages)


def as_action(said: Any, calls: int) -> tuple[Message, Usage]:
    """Whatever an agent returned, as an assistant message in OpenAI form, and what it cost.

    Something that is no message becomes a call of no tool, so that the environment tells the agent what is
    wrong; and so does one that says and does nothing (see `slips`).

    Args:
        said: what `act` returned.
        calls: number of tool calls made before, for the ids of calls that have none.
    """
    said = (
        said.model_dump()
        if hasattr(said, "model_dump")
        else {"content": said}
        if isinstance(said, str)
        else said
    )
    if not _is_message(said):
        call = tool_call(calls, UNREADABLE, _shown(said))
        return {"role": "assistant", "content": None, "tool_calls": [call]}, Usage()
    message: Message = {"role": "assistant", "content": _text(said.get("content"))}
    if isinstance(reasoning := said.get("reasoning_content"), str) and reasoning:
        message["reasoning_content"] = reasoning
    if raw := said.get("tool_calls"):
        entries = list(raw) if isinstance(raw, list | tuple) else [raw]
        message["tool_calls"] = _unique(
            [_as_call(entry, calls + i) for i, entry in enumerate(entries)], calls
        )
    usage = said.get("usage")
    message = with_slip(message, said.get("finish_reason"), calls)
    return message, usage if isinstance(usage, Usage) else Usage()


def _is_message(said: Any) -> bool:
    return (
        isinstance(said, Mapping)
        and said.get("role", "assistant") == "assistant"
        and ("content" in said or "tool_calls" in said)
        and isinstance(said.get("content"), str | list | None)
    )


def _as_call(entry: Any, number: int) -> dict[str, Any]:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    if not isinstance(function, Mapping):
        return tool_call(number, UNREADABLE, _shown(entry))
    name, arguments = function.get("name"), function.get("arguments")
    text = arguments if isinstance(arguments, str) else "{}" if arguments is None else _shown(arguments)
    call = tool_call(number, name if isinstance(name, str) and name else UNREADABLE, text)
    return {**call, "id": entry["id"]} if isinstance(entry.get("id"), str) and entry["id"] else call


def _unique(entries: list[dict[str, Any]], calls: int) -> list[dict[str, Any]]:
    """Calls with an id each, as replies are matched to them by it."""
    ids = [entry["id"] for entry in entries]
    if len(set(ids)) == len(ids):
        return entries
    return [{**entry, "id": f"call_{calls + i}"} for i, entry in enumerate(entries)]


def _text(content: str | list[Any] | None) -> str | None:
    if content is None or isinstance(content, str):
        return content
    # The form in parts, of which only text can be said.
    return "".join(str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in content)


def _shown(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def writable(value: Json) -> Json:
    """The value with every lone half of a surrogate pair replaced: JSON can spell one, UTF-8 files cannot hold it."""
    try:
        canonical(value).encode()
    except UnicodeEncodeError:
        return json.loads(whole(canonical(value)))
    return value
