"""What goes over the wire to a server in OpenAI's chat form, and what comes back.

Pure functions on JSON: `client` does the sending. Servers differ in what they leave out or add, so nothing
that comes back is taken for granted: usage, ids and finish reasons may be missing, thinking stands in one
of three places.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from envscaler.error import ModelError
from envscaler.model.reply import split_thinking
from envscaler.model.request import Message, Reply, Request
from envscaler.model.strict import strict_schema
from envscaler.schema import Usage

_RENAMED = {"max_tokens": "max_completion_tokens"}
"""Settings that newer models know by another name."""


def body_of(model: str, request: Request, rung: str, refused: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The JSON body of a chat completion.

    Args:
        model: what the server calls it.
        request: what is asked.
        rung: `json_schema`, `json_object` or `words`: how a structured answer is asked for.
        refused: settings the model is known to refuse; left out, or sent by their other name.
    """
    messages = [_whole(message) for message in request.messages]
    body: dict[str, Any] = {"model": model, **_settings(request, refused)}
    if request.tools:
        body["tools"] = [
            t if t.get("type") == "function" else {"type": "function", "function": t} for t in request.tools
        ]
    if request.schema is not None:
        if rung == "json_schema":
            body["response_format"] = {"type": "json_schema", "json_schema": _named_schema(request)}
        else:
            messages = _with_words(messages, request.schema, fenced=rung == "words")
        if rung == "json_object":
            body["response_format"] = {"type": "json_object"}
    return {**body, "messages": messages}


def _settings(request: Request, refused: frozenset[str]) -> dict[str, Any]:
    settings = {
        _RENAMED.get(name, "") if name in refused else name: value for name, value in request.settings.items()
    }
    settings.pop("", None)
    if isinstance(settings.get("seed"), int):
        # A server that honours the seed would answer every sample alike.
        settings["seed"] += request.sample
    return settings


def _named_schema(request: Request) -> dict[str, Any]:
    strict = strict_schema(request.schema or {})
    name = re.sub(r"\W", "_", request.step)[:60] or "answer"
    return {"name": name, "schema": strict or dict(request.schema or {}), "strict": strict is not None}


def _with_words(messages: list[Message], schema: Mapping[str, Any], *, fenced: bool) -> list[Message]:
    form = "in one ```json block" if fenced else "as one JSON object"
    wish = f"Give the answer {form} that follows this JSON schema, and nothing else:\n\n{json.dumps(schema)}"
    if not schema.get("properties"):
        wish = f"Give the answer {form}, and nothing else."
    *before, last = messages
    if last["role"] != "user":
        return [*messages, {"role": "user", "content": wish}]
    return [*before, {**last, "content": f"{last['content']}\n\n{wish}"}]


def _whole(message: Message) -> Message:
    content = message.get("content")
    return {**message, "content": whole(content)} if isinstance(content, str) else message


def whole(text: str) -> str:
    """The text with half surrogate pairs replaced, which no encoding can carry."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def reply_of(content: bytes, where: str) -> Reply:
    """The reply in a server's answer.

    Raises:
        ModelError: the answer is none in OpenAI's chat form.
    """
    try:
        answer = json.loads(content)
        choice = answer["choices"][0]
        message = choice["message"]
        text, thinking = split_thinking(_text(message.get("content") or message.get("refusal")))
        calls = tuple(_tool_call(call, i) for i, call in enumerate(message.get("tool_calls") or ()))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        start = content[:200].decode(errors="replace")
        fault = ModelError(f"{where}: expected a chat completion, got {start!r}; does base_url end in /v1?")
        # It may have been paid for all the same.
        fault.usage = usage_of(content)
        raise fault from error
    told = _text(message.get("reasoning_content") or message.get("reasoning"))
    return Reply(
        text=whole(text),
        reasoning=whole("\n\n".join(part for part in (told, thinking) if part)),
        tool_calls=calls,
        usage=_usage(answer.get("usage")),
        finish=str(choice.get("finish_reason") or "stop"),
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _tool_call(call: Any, place: int) -> dict[str, Any]:
    """A tool call in OpenAI form, whatever was left out; the arguments stay the text the model wrote."""
    call = call if isinstance(call, dict) else {}
    function = call.get("function") if isinstance(call.get("function"), dict) else {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments)
    named = {"name": str(function.get("name") or ""), "arguments": whole(arguments)}
    return {"id": str(call.get("id") or f"call_{place}"), "type": "function", "function": named}


def _read(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _usage(usage: Any) -> Usage:
    told = usage if isinstance(usage, dict) else {}
    counts = (told.get("prompt_tokens"), told.get("completion_tokens"))
    tokens = [count if type(count) is int and count > 0 else 0 for count in counts]
    return Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1])


def usage_of(content: bytes) -> Usage:
    """One call, and the tokens that a server's answer tells; none where it tells none, or is no answer."""
    return _usage(_read(content).get("usage"))


def vectors_of(content: bytes, n: int, where: str) -> np.ndarray:
    """The vectors in an embeddings answer, in the order of the texts.

    Raises:
        ModelError: the answer does not hold `n` vectors of one length.
    """
    try:
        answer = json.loads(content)
        data = sorted(answer["data"], key=lambda item: item["index"])
        rows = np.array([item["embedding"] for item in data], np.float32)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        start = content[:200].decode(errors="replace")
        raise ModelError(f"{where}: expected embeddings, got {start!r}.") from error
    if rows.ndim != 2 or len(rows) != n or not np.isfinite(rows).all():
        raise ModelError(
            f"{where}: expected {n} vectors of finite numbers, got an array of shape {rows.shape}."
        )
    return rows


def model_names(content: bytes) -> list[str]:
    """The first names in a server's list of models; none when it is no such list."""
    try:
        return sorted(str(model["id"]) for model in json.loads(content)["data"])[:20]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def seconds(milliseconds: str | None, retry_after: str | None) -> float | None:
    """What the headers `retry-after-ms` and `retry-after` (seconds or a date) ask for, in seconds."""
    try:
        if milliseconds:
            return max(0.0, float(milliseconds) / 1000)
        return max(0.0, float(retry_after)) if retry_after else None
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(retry_after or "") - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
