"""JSON as models write it: one text that means one value, read strictly, else leniently and still to the letter.

Lenient means: single, curly and triple quotes, `True` and `None`, comments, unquoted keys and words, a comma too many
or missing at a line's end, quotes inside a string that nobody escaped, doubled braces. What cannot be read that way
is refused with its line: an ellipsis, `true or false`, `2 apples`, a key that stands twice, a text that was cut off.
Nothing is completed and nothing left out. Finding the text in a reply is `reply`'s.
"""

import json
import re
from typing import Any

from envscaler.error import ReplyError

MAX_DEPTH = 100
"""Deeper JSON is refused: no record could be written with it."""

_SPACE = re.compile(r"(?:[\s\ufeff\u200b]|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d][\w-]*")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_NO_WORDS = {"nan", "inf", "infinity", "undefined"}
_COMMA, _COLON = re.compile("[,，]"), re.compile("[:：]")
_CLOSING = {'"': '"', "'": "'", "“": '”"', "„": '“”"', "‟": '”"', "‘": "’'"}
"""Opening quote → what may close it."""
_AFTER_KEY = re.compile(r"\s*[:：]")
_AFTER_TEXT = re.compile(r'[^\S\n]*(?:[,，}\]\n]|\Z|//|/\*|#|\+\s*["\']|"[^"\n]*"\s*:)')
_APOSTROPHE, _OPENING = re.compile(r"\w\w"), re.compile(r"\W\S")
"""What stands around a quote that is a letter of its string, and around one that opens a word in it."""
_JOINED = re.compile(r"\s*\+\s*(?=[\"'])")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "", **{c: c for c in "\"'\\/"}}
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def read_json(text: str) -> Any:
    """One JSON value of a text that means one.

    Raises:
        ReplyError: it is not JSON, was cut off, or holds NaN, infinities, a key twice or half a character.
    """
    try:
        # Not strict: a line break inside a string is meant as one.
        value = json.loads(text, object_pairs_hook=_without_twins, strict=False)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError:
        value = _Reader(text).whole()
    _refuse_unjson(value)
    return value


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise _twice(next(name for name in names if names.count(name) > 1))
    return made


def _twice(name: str) -> ReplyError:
    return ReplyError(f"Expected each key once in an object, got {name!r} twice.")


def _too_deep() -> ReplyError:
    return ReplyError(f"Expected at most {MAX_DEPTH} objects and lists in each other, got more.")


def _refuse_unjson(value: Any) -> None:
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ReplyError(f"Expected whole characters, got half a surrogate pair ({error.reason}).") from error
    except ValueError as error:
        raise ReplyError(f"Expected finite numbers, got what JSON has no form for ({error}).") from error
    except RecursionError as error:
        raise _too_deep() from error
    _refuse_depth(value)


def _refuse_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    if level:
        raise _too_deep()


class _Reader:
    """A text, and how far it has been read."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def whole(self) -> Any:
        """The one value that the text is."""
        value = self.value(0)
        self.space()
        if self.at < len(self.text):
            raise self.wrong("nothing more")
        return value

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _too_deep()
        self.space()
        here = self.text[self.at : self.at + 1]
        if here == "{":
            return self.object(depth)
        if here == "[":
            return self.list(depth)
        if here in _CLOSING:
            return self.string(_AFTER_TEXT)
        if number := self.take(_NUMBER):
            return json.loads(number)
        if not (word := self.take(_WORD)):
            raise self.wrong("a value")
        if word.lower() in _NO_WORDS:
            raise ReplyError(f"Expected finite numbers and values that JSON has, got {word}.")
        return _WORDS.get(word.lower(), word)

    def list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while not self.ends("]"):
            found.append(self.value(depth + 1))
            self.separate("]")
        return found

    def object(self, depth: int) -> Any:
        made: dict[str, Any] = {}
        self.at += 1
        self.space()
        if self.text.startswith("{", self.at):
            # Doubled, as templates write them.
            inner = self.value(depth + 1)
            if not self.ends("}"):
                raise self.wrong("'}'")
            return inner
        while not self.ends("}"):
            key = self.key()
            self.space()
            if not self.take(_COLON):
                raise self.wrong("':'")
            if key in made:
                raise _twice(key)
            made[key] = self.value(depth + 1)
            self.separate("}")
        return made

    def key(self) -> str:
        if self.text[self.at : self.at + 1] in _CLOSING:
            return self.string(_AFTER_KEY)
        if key := self.take(_WORD) or self.take(_NUMBER):
            return key
        raise self.wrong("a key")

    def string(self, after: re.Pattern[str]) -> str:
        """A string; a quote ends it only where what follows can follow one."""
        opening, start = self.text[self.at], self.at + 1
        if self.text.startswith(opening * 3, self.at) and opening in "\"'":
            inner = re.compile(r"(?:\\.|.)*?(?=%s)" % (opening * 3), re.DOTALL).match(self.text, start + 2)
            if not inner:
                raise self.cut_off()
            self.at = inner.end() + 3
            return _unescape(inner[0])
        inside = 0
        for mark in re.compile(rf"\\.|[{_CLOSING[opening]}]", re.DOTALL).finditer(self.text, start):
            if mark[0][0] == "\\":
                continue
            if inside % 2 == 0 and after.match(self.text, mark.end()):
                self.at = mark.end()
                text = _unescape(self.text[start : mark.start()])
                return text + (self.string(after) if self.take(_JOINED) else "")
            around = self.text[mark.start() - 1] + self.text[mark.end() : mark.end() + 1]
            if opening == "'" and _APOSTROPHE.match(around):
                continue
            if opening == "'" or (inside % 2 == 0 and not _OPENING.match(around)):
                self.at = mark.start()
                raise self.wrong("a comma or the end behind the string, or quotes in it escaped,")
            inside += 1
        raise self.cut_off()

    def separate(self, close: str) -> None:
        """Go past the comma after an item; it may be missing at a line's end, and before the end."""
        before = self.at
        self.space()
        if self.take(_COMMA) or self.text.startswith(close, self.at):
            return
        if "\n" not in self.text[before : self.at] and not _AFTER_TEXT.match(self.text, before):
            raise self.wrong(f"',' or '{close}'")

    def ends(self, close: str) -> bool:
        self.space()
        if self.at >= len(self.text):
            raise self.cut_off()
        found = self.text.startswith(close, self.at)
        self.at += found
        return found

    def space(self) -> None:
        self.take(_SPACE)

    def take(self, pattern: re.Pattern[str]) -> str:
        """What the pattern finds here, gone past; "" for nothing."""
        found = pattern.match(self.text, self.at)
        if not found:
            return ""
        self.at = found.end()
        return found[0]

    def cut_off(self) -> ReplyError:
        return ReplyError("Expected JSON that ends in its last '}', got one that does not.")

    def wrong(self, expected: str) -> ReplyError:
        if self.at >= len(self.text):
            return self.cut_off()
        before = self.text[: self.at]
        place = f"line {before.count(chr(10)) + 1}, column {self.at - before.rfind(chr(10))}"
        near = self.text[max(0, self.at - 20) : self.at + 20]
        return ReplyError(
            f"Expected JSON with {expected} at {place}, got {self.text[self.at : self.at + 20]!r} (in {near!r})."
        )


def _unescape(raw: str) -> str:
    text = _ESCAPE.sub(_unescaped, raw) if "\\" in raw else raw
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2] or escape[3]:
        return chr(min(int(code, 16), 0x10FFFF))
    # One that there is not was meant as it stands: a path, a regular expression.
    return _ESCAPED.get(escape[4], escape[0])
