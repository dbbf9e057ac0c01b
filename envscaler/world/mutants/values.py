"""Wrong values: nearly right ones of the same kind, keys that are free, and how a value is told of.

Nothing here looks at a state; what a value may be mistaken for in one is found by `states` and `calls`.
"""

import random
import re
from collections.abc import Collection
from datetime import datetime, timedelta

from envscaler.record import canonical
from envscaler.schema import Json

Wrong = tuple[str, Json]
"""How a value is wrong, and the value."""


def near(value: Json, chance: random.Random) -> list[Wrong]:
    """Values that are nearly right, of the same kind."""
    if isinstance(value, bool):
        return [("flag flipped", not value)]
    if isinstance(value, int | float):
        one = chance.choice((1, -1))
        return [("number off by one", value + one), ("number near", _about(value))]
    if isinstance(value, str) and (other := shifted(value, chance.choice((1, -1)))):
        return [("date shifted", other)]
    if isinstance(value, str):
        return [("text altered", _altered(value))]
    if isinstance(value, list):
        return [("entry missing", value[:-1]), ("entry doubled", [*value, value[-1]])] if value else []
    return [("value emptied", None)]


def _about(value: float) -> float:
    if isinstance(value, int):
        return value + max(2, abs(value) // 10)
    return round(value * 1.1 + 0.1, 2)


def shifted(text: str, days: int) -> str:
    """A date, or a time of day, that is another one; empty where the text is none."""
    for form, step in _FORMS:
        try:
            moment = datetime.strptime(text, form)
            return (
                moment + timedelta(days=days) if step == "day" else moment + timedelta(hours=days)
            ).strftime(form)
        except (ValueError, OverflowError):
            continue
    try:
        return (datetime.fromisoformat(text) + timedelta(days=days)).isoformat() if _DATED.match(text) else ""
    except (ValueError, OverflowError):
        return ""


_FORMS = (("%Y-%m-%d", "day"), ("%Y-%m-%d %H:%M", "day"), ("%Y-%m-%d %H:%M:%S", "day"), ("%H:%M", "hour"))
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}T")


def _altered(text: str) -> str:
    """A text that says something else: another last digit, a word less, or another word."""
    if digits := list(re.finditer(r"[0-9]", text)):
        place = digits[-1].start()
        return f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"
    words = text.split()
    if len(words) > 2:
        return " ".join(words[:-1])
    return f"{words[0]} Other" if len(words) == 2 else f"{text[:-2]}xy" if len(text) > 3 else f"{text}xy"


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
