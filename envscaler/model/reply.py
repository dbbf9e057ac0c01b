"""Replies made into answers: the only place that parses what a model wrote.

    Reply.text → candidates → JSON or Python → validated answer

Models wrap answers in fences and prose, leave commas trailing, write `True` for `true`. That is mended.
What is never done is to guess: a reply that was cut off, a number that is not finite, a key that stands
twice, a repair that would drop a word of what was written, or a value the answer class refuses is a
`ReplyError`, whose message is written for the model that has to answer again.
"""

import ast
import json
import re
import textwrap
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from envscaler import syntax
from envscaler.error import ReplyError
from envscaler.model.mending import read_json
from envscaler.model.request import Reply

T = TypeVar("T")

MAX_CHARACTERS = 1_000_000
"""A longer reply is refused unread: nothing that is asked for here is as long."""

MAX_CANDIDATES = 100
"""So many JSON values of one reply are looked at, the last ones."""

_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n`]*\n"
    r"(?P<body>.*?)(?:(?P<close>^[ \t]*(?P=mark)[`~]*[ \t]*$)|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FENCE_REMAINS = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+#.-]*[ \t]*$|\A\s*(?:python|py|json)[ \t]*$", re.MULTILINE
)
_MARK = re.compile(r'\\.|["{}]', re.DOTALL)
_TYPOGRAPHY = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "\u00a0": " ", "\ufeff": "", "\u200b": ""}
)
"""What word processors and web pages make of plain characters."""
_ESCAPED = re.compile(r'"?\s*[{\[](?:\s|\\n)*\\"')
_FENCE_END = re.compile(r"`{3,}[ \t]*$", re.MULTILINE)
_CODE_LINE = re.compile(r"^[ \t]*(?:import |from \S+ import |class \w|def \w|async def \w|@\w)", re.MULTILINE)


class Code(str):
    """Python source that parses, without fence or prose; as an answer class it asks for a Python block."""

    __slots__ = ()


class JsonObject(dict[str, Any]):
    """A free-form JSON object; as an answer class it asks for one."""


def schema_of(answer: type[Any]) -> dict[str, Any] | None:
    """The JSON schema of an answer class; None where plain text is asked for."""
    if issubclass(answer, BaseModel):
        return answer.model_json_schema()
    return {"type": "object"} if issubclass(answer, JsonObject) else None


def parse(reply: Reply, answer: type[T]) -> T:
    """Make an answer of a reply.

    Args:
        reply: what the model returned.
        answer: a pydantic class, `Code`, `JsonObject` or `str`.

    Raises:
        ReplyError: it cannot be made; the message tells the model what is wrong.
    """
    text = split_thinking(reply.text)[0]
    if not text.strip():
        raise ReplyError(f"Expected an answer, got an empty reply ({_why_empty(reply)}).")
    if len(text) > MAX_CHARACTERS:
        raise ReplyError(f"Expected at most {MAX_CHARACTERS:,} characters, got {len(text):,}.")
    cut = _cut_off(reply)
    try:
        if cut and _is_open(text, answer):
            raise ReplyError("Expected a whole answer, got one that does not end.")
        return _parser(answer)(text)
    except ReplyError as error:
        if cut:
            raise ReplyError(f"{error} ({cut})") from error
        raise


def _cut_off(reply: Reply) -> str:
    return (
        "the reply was cut off at its length limit; answer more briefly" if reply.finish == "length" else ""
    )


def _why_empty(reply: Reply) -> str:
    if cut := _cut_off(reply):
        return cut
    thought = reply.reasoning or split_thinking(reply.text)[1]
    return "all of it is thinking; end that and write the answer after it" if thought else "no text at all"


def _is_open(text: str, answer: type[Any]) -> bool:
    """Whether a reply that was cut off ends inside its answer, even where what is there can be read."""
    if issubclass(answer, Code):
        # Half a method parses as well as a whole one; only a fence says that it was written to its end.
        return not any(m["close"] for m in _FENCE.finditer(text))
    if issubclass(answer, BaseModel | JsonObject):
        last = next(iter(deque(_spans(text), maxlen=1)), "{}")
        return all(depth for _, depth in _depths(last))
    return True


def _parser(answer: type[Any]) -> Callable[[str], Any]:
    if issubclass(answer, BaseModel):
        return lambda text: _structured(text, answer)
    if issubclass(answer, JsonObject):
        return lambda text: JsonObject(_longest_object(text))
    return parse_code if issubclass(answer, Code) else lambda text: answer(text.strip())


def split_thinking(text: str) -> tuple[str, str]:
    """Part a text into (answer, thinking): `<think>…</think>`, also without its beginning or its end."""
    thoughts: list[str] = []

    def keep(match: re.Match[str]) -> str:
        thoughts.append(match[1].strip())
        return ""

    # Only at the beginning is the tag the model's own; further down it may be part of the answer.
    text = re.sub(r"\A\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", keep, text, flags=re.DOTALL)
    # Some chat templates open the block themselves, so that only its end is in the reply.
    if not thoughts and not _is_json(text):
        text = re.sub(r"\A((?:(?!<think).)*?)</think(?:ing)?>", keep, text, flags=re.DOTALL)
    return text.strip("\n") if thoughts else text, "\n\n".join(thoughts)


def _is_json(text: str) -> bool:
    """Whether a text is JSON as a whole; a tag in it is part of a string."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# JSON


def _structured(text: str, answer: type[BaseModel]) -> BaseModel:
    """The last candidate that the class takes: where a model corrects itself, the correction comes last."""
    refusal: ReplyError | None = None
    for value in reversed(_values(text)):
        for meant in _unwrapped(value):
            try:
                return answer.model_validate(meant)
            except ValidationError as error:
                refusal = refusal or ReplyError(_sentence(error, answer))
    raise refusal or ReplyError("Expected one JSON object, got none.")


def _unwrapped(value: Any) -> Iterator[Any]:
    """The value, and the one object it wraps: in a list, under one name, as the arguments of a call."""
    yield value
    if isinstance(value, list) and len(value) == 1:
        yield value[0]
    elif isinstance(value, dict) and (len(value) == 1 or set(value) == {"name", "arguments"}):
        yield value.get("arguments", next(iter(value.values())))


def _sentence(error: ValidationError, answer: type[BaseModel]) -> str:
    faults = [
        f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {fault['msg']} (got {_brief(fault['input'])})"
        for fault in error.errors(include_url=False)[:5]
    ]
    return f"Expected a JSON object with {', '.join(answer.model_fields)}; {'; '.join(faults)}."


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}…"


def _longest_object(text: str) -> dict[str, Any]:
    values = [v[0] if isinstance(v, list) and len(v) == 1 else v for v in _values(text)]
    objects = [value for value in values if isinstance(value, dict)]
    if not objects:
        raise ReplyError("Expected one JSON object, got a JSON value that is none.")
    return max(objects, key=lambda value: len(json.dumps(value)))


def _values(text: str) -> list[Any]:
    """The JSON values a reply may mean, in the order they stand."""
    values, refusal = [], None
    for candidate in _json_texts(text):
        try:
            values.append(read_json(candidate))
        except ReplyError as error:
            refusal = refusal or error
    if not values:
        raise refusal or ReplyError(
            f"Expected one JSON object, got text without one: {_brief(text.strip())}."
        )
    return values


def _json_texts(text: str) -> Iterator[str]:
    whole = _unquoted(text.strip())
    # One value, or one that never closes; with two, repair would keep or merge what it likes.
    if (whole[:1] == "{" and _closing(whole, 0) == len(whole)) or (whole[:1] == "[" and whole[-1:] == "]"):
        yield whole
        return
    fenced = [found for m in _FENCE.finditer(whole) for found in _in_fence(m["body"].strip())]
    # The last ones: where a model corrects itself the correction is there, and garbage may hold any number.
    yield from deque(fenced or _spans(whole), maxlen=MAX_CANDIDATES)


def _unquoted(text: str) -> str:
    """The JSON in a text that is JSON written as a JSON string, with its quotes or without; else the text."""
    if not _ESCAPED.match(text):
        return text
    try:
        value = json.loads(text if text[0] == '"' else f'"{text}"', strict=False)
    except ValueError:
        return text
    return value.strip() if isinstance(value, str) else text


def _in_fence(body: str) -> Iterator[str]:
    if body[:1] == "[":
        yield body[: body.rfind("]") + 1]
    elif body[:1] == "{":
        yield from _spans(body)


def _spans(text: str) -> Iterator[str]:
    """The outermost `{…}` of a text, strings respected; one that never closes goes to the end."""
    start = text.find("{")
    while start >= 0:
        end = _closing(text, start)
        yield text[start:end]
        start = text.find("{", end)


def _closing(text: str, start: int) -> int:
    """Where the object that begins at `start` ends; the text's end when it never does."""
    return next((place + 1 for place, depth in _depths(text, start) if depth == 0), len(text))


def _depths(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Each brace outside double quotes, with the depth behind it."""
    depth, quoted = 0, False
    for mark in _MARK.finditer(text, start):
        if mark[0] == '"':
            quoted = not quoted
        elif not quoted and mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
            yield mark.start(), depth


# Python


def parse_code(text: str) -> Code:
    """The Python source in a reply: the longest fenced block that parses, else the text itself without prose.

    Raises:
        ReplyError: nothing parses, or nothing in it is a function or class; the message has the line.
    """
    text = text.replace("\r\n", "\n")
    if (wrapped := _one_string(text)) is not None:
        return parse_code(wrapped)
    fenced = sorted((m["body"] for m in _FENCE.finditer(text)), key=len, reverse=True)
    refusal: ReplyError | None = None
    for candidate in [*fenced, *_unfenced(text)]:
        try:
            return _checked(candidate)
        except ReplyError as error:
            refusal = refusal or error
    raise refusal or ReplyError("Expected one ```python block, got none.")


def _one_string(text: str) -> str | None:
    """The text in a JSON string, or in an object with nothing else in it; None for any other text."""
    body = "".join(m["body"] for m in _FENCE.finditer(text)) or text
    if body.lstrip()[:1] not in ("{", '"'):
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, str) else None


def _unfenced(text: str) -> Iterator[str]:
    text = _FENCE_REMAINS.sub("", text)
    yield text
    text = _FENCE_END.sub("", text)
    yield text
    if starts := [line.start() for line in _CODE_LINE.finditer(text)]:
        code, last = text[starts[0] :], starts[-1] - starts[0]
        yield code
        # Prose after the code: from one of the first unindented lines after which no code comes.
        unindented = re.compile(r"^(?:[^\W\d_]|[*#<-])", re.MULTILINE).finditer(code, last + 1)
        yield from (code[: line.start()] for line in islice(unindented, 10))


def _checked(candidate: str) -> Code:
    source = textwrap.dedent(_FENCE_REMAINS.sub("", candidate)).strip("\n").rstrip() + "\n"
    try:
        tree = _parsed(source)
    except ReplyError as refusal:
        plain = source.translate(_TYPOGRAPHY)
        if plain == source:
            raise
        try:
            source, tree = plain, _parsed(plain)
        except ReplyError:
            raise refusal from None
    if not any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in tree.body):
        raise ReplyError("Expected Python with a function or a class, got statements only.")
    if isinstance(first := tree.body[0], ast.Expr) and isinstance(first.value, ast.Name):
        # A bare word: the remains of a fence or of prose.
        return _checked("\n".join(source.splitlines()[first.lineno :]))
    return Code(source)


def _parsed(source: str) -> ast.Module:
    try:
        return syntax.parse(source)
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise ReplyError(
            f"Expected Python that parses, got line {error.lineno}: {error.msg}: {line!r}."
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ReplyError(f"Expected Python that parses, got source that does not ({error}).") from error
