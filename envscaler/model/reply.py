"""Replies made into answers: the only place that parses what a model wrote.

    Reply.text → candidates → JSON or Python → validated answer

Models wrap answers in fences and prose, leave commas trailing, write `True` for `true`. That is mended.
What is never done is to guess: a reply that was cut off, a number that is not finite, a key that stands
twice, or a value the answer class refuses is a `ReplyError`, whose message is written for the model that
has to answer again. Garbage that repair can turn into *something* still has to pass the answer class.
"""

import ast
import json
import re
import textwrap
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

from envscaler import syntax
from envscaler.error import ReplyError
from envscaler.model.request import Reply

T = TypeVar("T")

MAX_CHARACTERS = 1_000_000
"""A longer reply is refused unread: nothing that is asked for here is as long."""

MAX_CANDIDATES = 100
"""So many JSON values of one reply are looked at, the last ones."""
MAX_DEPTH = 100
"""Deeper JSON is refused: no record could be written with it."""

_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n`]*\n"
    r"(?P<body>.*?)(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FENCE_REMAINS = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+#.-]*[ \t]*$|\A\s*(?:python|py|json)[ \t]*$", re.MULTILINE
)
_NO_NUMBER = re.compile(r"[:\[,]\s*[-+]?(?:NaN|Infinity|inf)\s*[,}\]]", re.IGNORECASE)
_MARK = re.compile(r'\\.|["{}]', re.DOTALL)
_NEST = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_CODE_LINE = re.compile(r"^[ \t]*(?:import |from \S+ import |class \w|def \w|async def \w|@\w)", re.MULTILINE)
_TYPOGRAPHY = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "\u00a0": " "})


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
        raise ReplyError(f"Expected an answer, got an empty reply ({_cut_off(reply) or 'no text at all'}).")
    if len(text) > MAX_CHARACTERS:
        raise ReplyError(f"Expected at most {MAX_CHARACTERS:,} characters, got {len(text):,}.")
    try:
        return _parser(answer)(text)
    except ReplyError as error:
        if cut := _cut_off(reply):
            raise ReplyError(f"{error} ({cut})") from error
        raise


def _cut_off(reply: Reply) -> str:
    return (
        "the reply was cut off at its length limit; answer more briefly" if reply.finish == "length" else ""
    )


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
    if not thoughts:
        text = re.sub(r"\A((?:(?!<think).)*?)</think(?:ing)?>", keep, text, flags=re.DOTALL)
    return text.strip("\n") if thoughts else text, "\n\n".join(thoughts)


# JSON


def _structured(text: str, answer: type[BaseModel]) -> BaseModel:
    """The last candidate that the class takes: where a model corrects itself, the correction comes last."""
    refusal: ReplyError | None = None
    for value in reversed(_values(text)):
        try:
            return answer.model_validate(value)
        except ValidationError as error:
            refusal = refusal or ReplyError(_sentence(error, answer))
    raise refusal or ReplyError("Expected one JSON object, got none.")


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
    objects = [value for value in _values(text) if isinstance(value, dict)]
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
    whole = text.strip()
    # One value, or one that never closes; with two, repair would keep or merge what it likes.
    if (whole[:1] == "{" and _closing(whole, 0) == len(whole)) or (whole[:1] == "[" and whole[-1:] == "]"):
        yield whole
        return
    fenced = [m["body"].strip() for m in _FENCE.finditer(text) if m["body"].strip()[:1] in ("{", "[")]
    # The last ones: where a model corrects itself the correction is there, and garbage may hold any number.
    yield from deque(fenced or _spans(text), maxlen=MAX_CANDIDATES)


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


def _depths(text: str, start: int = 0, marks: re.Pattern[str] = _MARK) -> Iterator[tuple[int, int]]:
    """Each brace (and bracket, where `marks` has them) outside double quotes, with the depth behind it."""
    depth, quoted = 0, False
    for mark in marks.finditer(text, start):
        if mark[0] == '"':
            quoted = not quoted
        elif not quoted and mark[0] in "{}[]":
            depth += 1 if mark[0] in "{[" else -1
            yield mark.start(), depth


def read_json(text: str) -> Any:
    """One JSON value of a text that means one: strictly, else repaired.

    Raises:
        ReplyError: it is not JSON, was cut off, or holds NaN, infinities, a key twice or half a character.
    """
    try:
        value = json.loads(text, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        value = _repair(text, error)
    _refuse_unjson(value)
    return value


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise ReplyError(f"Expected each key once in an object, got {twin!r} twice.")
    return made


def _repair(text: str, error: Exception) -> Any:
    # Repair closes what is open, so a reply that was cut off would pass for a whole one.
    depth = next((depth for _, depth in deque(_depths(text), maxlen=1)), 0)
    if text.rstrip()[-1:] not in ("}", "]") or depth > 0 or isinstance(error, RecursionError):
        raise ReplyError(
            f"Expected JSON that ends in its last '}}', got one that does not ({error})."
        ) from error
    if unfit := _NO_NUMBER.search(text):
        # Repair would make a text of it.
        raise ReplyError(f"Expected finite numbers, got {unfit[0]!r}.") from error
    for tried in (text, text.translate(_TYPOGRAPHY)):
        try:
            value = json_repair.loads(tried, skip_json_loads=True)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list) and value:
            return value
    raise ReplyError(f"Expected JSON, got text that is none ({error}).") from error


def _refuse_unjson(value: Any) -> None:
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError as error:
        raise ReplyError(f"Expected whole characters, got half a surrogate pair ({error.reason}).") from error
    except (ValueError, RecursionError) as error:
        raise ReplyError(
            f"Expected finite numbers and plain nesting, got what JSON has no form for ({error})."
        ) from error
    if max((depth for _, depth in _depths(text, marks=_NEST)), default=0) > MAX_DEPTH:
        raise ReplyError(f"Expected at most {MAX_DEPTH} objects and lists in each other, got more.")


# Python


def parse_code(text: str) -> Code:
    """The Python source in a reply: the longest fenced block that parses, else the text itself without prose.

    Raises:
        ReplyError: nothing parses, or nothing in it is a function or class; the message has the line.
    """
    text = text.replace("\r\n", "\n")
    fenced = sorted((m["body"] for m in _FENCE.finditer(text)), key=len, reverse=True)
    refusal: ReplyError | None = None
    for candidate in [*fenced, *_unfenced(text)]:
        try:
            return _checked(candidate)
        except ReplyError as error:
            refusal = refusal or error
    raise refusal or ReplyError("Expected one ```python block, got none.")


def _unfenced(text: str) -> Iterator[str]:
    text = _FENCE_REMAINS.sub("", text)
    yield text
    if starts := [line.start() for line in _CODE_LINE.finditer(text)]:
        code, last = text[starts[0] :], starts[-1] - starts[0]
        yield code
        # Prose after the code: from one of the first unindented lines after which no code comes.
        unindented = re.compile(r"^[A-Za-z*#-]", re.MULTILINE).finditer(code, last + 1)
        yield from (code[: line.start()] for line in islice(unindented, 10))


def _checked(candidate: str) -> Code:
    source = textwrap.dedent(candidate).strip("\n").rstrip() + "\n"
    try:
        tree = syntax.parse(source)
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise ReplyError(
            f"Expected Python that parses, got line {error.lineno}: {error.msg}: {line!r}."
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ReplyError(f"Expected Python that parses, got source that does not ({error}).") from error
    if not any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in tree.body):
        raise ReplyError("Expected Python with a function or a class, got statements only.")
    return Code(source)
