"""Wrong values: nearly right ones of the same kind, other texts, keys that are free, and how a value is told of.

Nothing here looks at a state; what a value may be mistaken for in one is found by `states` and `calls`.
"""

import random
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import takewhile
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TypeVar

from envscaler.record import canonical
from envscaler.schema import Json

Wrong = tuple[str, Json]
"""How a value is wrong, and the value."""
T = TypeVar("T")


def near(value: Json, chance: random.Random) -> list[Wrong]:
    """Values that are nearly right, of the same kind."""
    if isinstance(value, bool):
        return [("flag flipped", not value)]
    if isinstance(value, int | float):
        return [*_beside_number(value, chance.choice((1, -1))), ("number near", _about(value))]
    if isinstance(value, str) and (other := shifted(value, chance.choice((1, -1)))):
        return [("date shifted", other), *(("time shifted", moved) for moved in _same_day(value))]
    if isinstance(value, str):
        return [("text altered", _altered(value))]
    if isinstance(value, list):
        return [("entry missing", value[:-1]), ("entry doubled", [*value, value[-1]])] if value else []
    return [("value emptied", None)]


def _beside_number(value: float, first: int) -> list[Wrong]:
    """One more and one less; of a number with decimals a little more and a little less too."""
    steps = [("number off by one", value + first), ("number off by one", value - first)]
    if isinstance(value, int):
        return steps
    little = [("number off a little", round(value + sign * _LITTLE, 6)) for sign in (first, -first)]
    return [steps[0], little[0], steps[1], little[1]]


_LITTLE = 0.02
"""A step that a check sees which takes numbers for equal up to a cent."""


def _about(value: float) -> float:
    if isinstance(value, int):
        return value + max(2, abs(value) // 10)
    return round(value * 1.1 + 0.1, 2)


def shifted(text: str, days: int) -> str:
    """A date, or a time of day, that is another one; empty where the text is none."""
    return _moved(text, timedelta(days=days), timedelta(hours=days))


def _same_day(text: str) -> Iterator[str]:
    """A time that is another one of the same day, in the same form: by minutes, and by hours; none for a mere date."""
    found = _CLOCK.search(text)
    if found:
        minutes, hours = (15 if int(found[2]) < 45 else -15), (2 if int(found[1]) < 21 else -2)
        for by in (timedelta(minutes=minutes), timedelta(hours=hours)):
            if moved := _moved(text, by, by):
                yield moved


def _moved(text: str, by: timedelta, clock: timedelta) -> str:
    """A date moved by so much, or a time of day; empty where the text is none, or none is left."""
    for form in _FORMS:
        try:
            return (datetime.strptime(text, form) + (clock if form == "%H:%M" else by)).strftime(form)
        except (ValueError, OverflowError):
            continue
    try:
        return (datetime.fromisoformat(text) + by).isoformat() if _DATED.match(text) else ""
    except (ValueError, OverflowError):
        return ""


_FORMS = (
    "%Y-%m-%d",
    *(f"%Y-%m-%d{between}%H:%M{seconds}" for between in " T" for seconds in ("", ":%S")),
    "%H:%M",
)
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}T")
_CLOCK = re.compile(r"(?:^|[T ])(\d\d):(\d\d)")


def _altered(text: str) -> str:
    """A text that says something else: another last digit, a word less, or another word."""
    if numerals := list(re.finditer(r"[0-9]", text)):
        place = numerals[-1].start()
        return f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"
    words = text.split()
    if len(words) > 2:
        return " ".join(words[:-1])
    return f"{words[0]} Other" if len(words) == 2 else f"{text[:-2]}xy" if len(text) > 3 else f"{text}xy"


def alike_first(value: Json, others: list[T]) -> list[T]:
    """The others, the one first that begins and ends most like the value: the likeliest to pass for it."""
    if len(others) < 2:
        return others
    first = max(others, key=lambda other: _shared(str(value), str(other)))
    return [first, *(other for other in others if other is not first)]


def _shared(one: str, other: str) -> int:
    """Characters that two texts have in common at the beginning and at the end."""
    return _begun_alike(one, other) + _begun_alike(one[::-1], other[::-1])


def _begun_alike(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


# Other texts


def other_texts(text: str, named: Iterable[str] = ()) -> Iterator[Wrong]:
    """Texts made from this one, each alike in as much as can be but for one thing; those with the least changed first.

    Space around a text says nothing, nor does the case of an e-mail address, so none differs in that alone.

    Args:
        text: what is right.
        named: texts that are looked for, so that a letter outside of them is changed as well.
    """
    letters = [place for place, letter in enumerate(text) if letter.isalnum()]
    if letters:
        unseen = [place for place in letters if not _is_in(place, parts_named(text, named))] or letters
        for place in dict.fromkeys((letters[-1], unseen[len(unseen) // 2], letters[0])):
            yield "text with another letter", f"{text[:place]}{_beside(text[place])}{text[place + 1 :]}"
    yield from in_another_case(text)
    yield from (("text with a word more", longer) for longer in longer_texts(text))
    words = text.split()
    if len(words) > 1 and words[0] != words[-1]:
        yield "text with words swapped", " ".join([words[-1], *words[1:-1], words[0]])
    yield "text cut short", " ".join(words[:-1]) if len(words) > 1 else text[:-1]
    yield "text emptied", ""


def in_another_case(text: str) -> Iterator[Wrong]:
    """The text with small letters for capitals and capitals for small ones."""
    if text.swapcase() != text and "@" not in text:
        yield "text in another case", text.swapcase()


def longer_texts(text: str) -> Iterator[str]:
    """The text with a word after it, and with one before it."""
    yield f"{text} too"
    yield f"not {text}"


def parts_named(text: str, named: Iterable[str]) -> list[tuple[int, int]]:
    """Where a text holds one of some other texts without being it: from where to where."""
    whole = text.lower()
    return [
        (found.start(), found.end())
        for part in named
        if len(part) > 1 and part.lower() != whole
        for found in re.finditer(re.escape(part.lower()), whole)
    ]


def _is_in(place: int, parts: Iterable[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in parts)


def _beside(letter: str) -> str:
    """A letter or digit of the same kind that is another one."""
    kind = next((kind for kind in _KINDS if letter in kind), "")
    if kind:
        return kind[(kind.index(letter) + 1) % len(kind)]
    return "x" if letter.islower() else "X" if letter.isupper() else chr(ord(letter) ^ 1)


_KINDS = (ascii_lowercase, ascii_uppercase, digits)


def fresh_key(keys: Collection[str]) -> str:
    """A key such as these that is none of them."""
    numbers = [found for key in keys if (found := re.search(r"([0-9]{1,15})\Z", key))]
    if not numbers:
        return f"{next(iter(keys))}-2" if f"{next(iter(keys))}-2" not in keys else f"{max(keys)}-2"
    last = max(numbers, key=lambda found: int(found[1]))
    return f"{last.string[: last.start()]}{int(last[1]) + 1:0{len(last[1])}d}"


def short(value: Json) -> str:
    """A value as it is told of."""
    text = canonical(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def shown_apart(one: str, other: str) -> str:
    """Two texts as they are told of, from shortly before the place in which they differ."""
    start = max(0, _begun_alike(one, other) - 20) if len(one) > 40 else 0
    ahead = "…" if start else ""
    return f"{short(ahead + one[start:])} → {short(ahead + other[start:])}"
