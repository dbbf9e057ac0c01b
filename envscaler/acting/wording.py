"""Calls written as text, and read out of it: for models without function calling.

Marks of Qwen and Hermes (`<tool_call>…</tool_call>`) are what the prompt asks for. Without any, a block of JSON that
is a call of a declared tool is taken for one, and so is a message that is nothing but calls. JSON that is no call is
what the agent says.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.model.request import Message
from envscaler.schema import Json
from envscaler.world.action import UNREADABLE


@dataclass(frozen=True)
class Said:
    """What a text says: to the user, to itself, and to the tools."""

    text: str
    reasoning: str
    calls: tuple[tuple[str, str], ...]
    """(name, arguments as a JSON text); where the JSON is malformed, what can be made out of it."""


_MARK = re.compile(r"<think>|</think>|<tool_call>")
_CLOSE = re.compile(r"\s*</tool_call>")
_FENCE = re.compile(r"\s*(?:```(?:json)?)?\s*")
_BLOCK = re.compile(
    r"^[ \t]*```[ \t]*(?P<word>json|tool_calls?|function_calls?|)[ \t]*\n(?P<body>.*?)(?:```[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\A(?:<\|python_tag\|>|\[TOOL_CALLS\])\s*")
"""What stands before calls where a template of Llama or Mistral shows through."""
_KEYS = {"id", "type", "name", "arguments", "parameters"}


def parse_calls(text: str, names: Collection[str] = ()) -> Said:
    """Read `<tool_call>{"name": …, "arguments": …}</tool_call>` out of a text, and its `<think>` part.

    Marks inside a JSON string are part of the string. A call that is no JSON is kept as it stands, so that
    the environment can answer it with what is wrong.

    Args:
        text: what the model wrote.
        names: the declared tools; where there are some, JSON without marks may be a call as well.
    """
    said = _marked_calls(text)
    return said if said.calls or not names else _unmarked_calls(said, names)


def _marked_calls(text: str) -> Said:
    spoken: list[str] = []
    thought: list[str] = []
    calls: list[tuple[str, str]] = []
    here = 0
    while mark := _MARK.search(text, here):
        spoken.append(text[here : mark.start()])
        if mark[0] == "<think>":
            inner, _, _ = text[mark.end() :].partition("</think>")
            thought.append(inner)
            here = min(len(text), mark.end() + len(inner) + len("</think>"))
        elif mark[0] == "</think>":
            # A template has opened the thinking before the text began: all before it was thought, calls
            # included.
            thought.append(text[: mark.start()])
            spoken, calls, here = [], [], mark.end()
        else:
            found, here = _calls_from(text, mark.end())
            calls.extend(found)
    spoken.append(text[here:])
    return Said("".join(spoken).strip(), "\n".join(t.strip() for t in thought), tuple(calls))


def _calls_from(text: str, start: int) -> tuple[list[tuple[str, str]], int]:
    """The calls of one mark, and where the text goes on after it."""
    calls: list[tuple[str, str]] = []
    here = _skip(_FENCE, text, start)
    while here < len(text) and text[here] in "{[":
        try:
            value, here = json.JSONDecoder().raw_decode(text, here)
        except (ValueError, RecursionError):
            break
        calls.extend(_call_of(item) for item in (value if isinstance(value, list) else [value]))
        here = _skip(_FENCE, text, here)
    if calls and (close := _CLOSE.match(text, here)):
        return calls, close.end()
    if calls and (here >= len(text) or text.startswith("<tool_call>", here)):
        return calls, here
    end = re.compile(r"</?tool_call>").search(text, here)
    body = text[here : end.start() if end else len(text)]
    after = len(text) if end is None else end.end() if end[0] == "</tool_call>" else end.start()
    return [*calls, broken_call(body)], after


def _unmarked_calls(said: Said, names: Collection[str]) -> Said:
    """Calls in blocks of JSON, or as the whole text."""
    text = _TEMPLATE.sub("", said.text)
    if calls := _calls_of(text, names, alone=True):
        return Said("", said.reasoning, tuple(calls))
    found: list[tuple[str, str]] = []

    def taken(block: re.Match[str]) -> str:
        alone = (bool(block["word"]) and block["word"].lower() != "json") or block[0].strip() == text.strip()
        calls = _calls_of(block["body"], names, alone)
        found.extend(calls)
        return "" if calls else block[0]

    left = _BLOCK.sub(taken, text)
    return Said(left.strip(), said.reasoning, tuple(found)) if found else said


def _calls_of(text: str, names: Collection[str], alone: bool) -> list[tuple[str, str]]:
    """The calls that a text of JSON is; none unless it is nothing but calls.

    Args:
        text: the text.
        names: the declared tools.
        alone: whether it can hardly be anything else: then a tool may be unknown, and lack its arguments.
    """
    if not text.lstrip().startswith(("{", "[")):
        return []
    try:
        values = [call for value in _json_values(text) for call in _flat(value)]
    except (ValueError, RecursionError):
        named = re.match(r'[\s{\[]*"name"\s*:\s*"([^"\\]*)"\s*,\s*"(?:arguments|parameters)"', text)
        return [broken_call(text.strip())] if named and named[1] in names else []
    if not all(_is_call(value, names, alone) for value in values):
        return []
    return [_call_of(value) for value in values]


def _json_values(text: str) -> Iterator[Json]:
    here = _skip(_FENCE, text, 0)
    while here < len(text):
        value, here = json.JSONDecoder().raw_decode(text, here)
        yield value
        here = _skip(_FENCE, text, here)


def _flat(value: Json) -> list[Json]:
    """The calls in a list of them, and in OpenAI's form."""
    if isinstance(value, dict) and set(value) == {"tool_calls"}:
        value = value["tool_calls"]
    values = value if isinstance(value, list) else [value]
    return [
        v["function"] if isinstance(v, dict) and isinstance(v.get("function"), dict) else v for v in values
    ]


def _is_call(value: Json, names: Collection[str], alone: bool) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or set(value) - _KEYS:
        return False
    arguments = value.get("arguments", value.get("parameters"))
    if value["name"] in names:
        return alone or arguments is not None
    return alone and isinstance(arguments, dict)


def _skip(pattern: re.Pattern[str], text: str, here: int) -> int:
    found = pattern.match(text, here)
    return found.end() if found else here


def _call_of(value: Json) -> tuple[str, str]:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return UNREADABLE, json.dumps(value, ensure_ascii=False)
    arguments = value.get("arguments", value.get("parameters", {}))
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return value["name"], text


def broken_call(body: str, key: str = "name") -> tuple[str, str]:
    """A call in a text that is no JSON: the tool it names under a key, and its arguments as they stand."""
    name = re.search(rf'"{key}"\s*:\s*"([^"\\]*)"', body)
    arguments = re.search(r'"arguments"\s*:\s*(\S.*)\Z', body, re.DOTALL)
    return (name[1] if name else "") or UNREADABLE, (arguments[1] if arguments else body).strip()


def as_text(messages: Sequence[Message], write: Callable[[Message], str] | None = None) -> list[Message]:
    """The exchange for a model without function calling: calls and tool replies written out as text.

    Args:
        messages: the exchange in OpenAI form.
        write: how a message of the assistant is written; default with its calls in marks.
    """
    write = write or _written
    written: list[Message] = []
    for message in messages:
        if message["role"] == "tool":
            reply = f"<tool_response>\n{_unmarked(message.get('content'))}\n</tool_response>"
            if written and written[-1].get("replies"):
                written[-1]["content"] += f"\n{reply}"
            else:
                written.append({"role": "user", "content": reply, "replies": True})
        elif message["role"] == "assistant":
            written.append({"role": "assistant", "content": write(message)})
        else:
            written.append({"role": message["role"], "content": message.get("content") or ""})
    return [{"role": m["role"], "content": m["content"]} for m in written]


def _written(message: Message) -> str:
    parts = [message["content"]] if message.get("content") else []
    for call in message.get("tool_calls") or ():
        name = json.dumps(call["function"]["name"], ensure_ascii=False)
        parts.append(
            f'<tool_call>\n{{"name": {name}, "arguments": {call["function"]["arguments"]}}}\n</tool_call>'
        )
    return "\n".join(parts)


def _unmarked(content: Any) -> str:
    # `\/` is the same character to a JSON reader, and keeps a reply from closing its own mark.
    return str(content or "").replace("</tool_response>", "<\\/tool_response>")
