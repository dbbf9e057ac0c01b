"""Sentences with slots that can be filled and read back.

A sub-task of a task is one phrase, e.g. `Please move the stay of {guest:name} to {start:date}.` The author
of a task fills it; the checklist, the checks, the witness and the acting agent read the slots out of the
text again. They share nothing but that text, so a task that was changed on the way is understood as it now
reads, or not at all.

Slot types: `text` (no sentence end, no quotes), `name` (no comma either), `token` (no spaces, e.g. an e-mail
address), `int`, `money` (two decimals), `number` (36.6), `date` (1 May 2025 ↔ 2025-05-01), `time` (09:30).

This module knows no domain, and does not choose among phrases.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

Slots = dict[str, Any]

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def _say_date(value: str) -> str:
    day = date.fromisoformat(value)
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _read_date(text: str) -> str:
    day, month, year = text.split()
    return date(int(year), MONTHS.index(month) + 1, int(day)).isoformat()


class SlotType(NamedTuple):
    """How a kind of value is written in a sentence, found in it and read back."""

    pattern: str
    say: Callable[[Any], str]
    read: Callable[[str], Any]


TYPES: dict[str, SlotType] = {
    "text": SlotType(r'(?:(?![.?!](?:\s|$))[^"\n])+?', str, str),
    "name": SlotType(r'(?:(?![.?!](?:\s|$))[^",;:\n])+?', str, str),
    "token": SlotType(r'[^\s,;"]+?', str, str),
    "int": SlotType(r"\d+", lambda value: str(int(value)), int),
    "money": SlotType(r"\d+\.\d\d", lambda value: f"{value:.2f}", float),
    "number": SlotType(r"\d+(?:\.\d+)?", lambda value: f"{value:.10g}", float),
    "date": SlotType(rf"\d{{1,2}} (?:{'|'.join(MONTHS)}) \d{{4}}", _say_date, _read_date),
    "time": SlotType(r"\d\d:\d\d", str, str),
}

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")


@dataclass(frozen=True)
class Phrase:
    """One sentence with typed slots; it ends in `.`, `?` or `!`."""

    template: str

    def __post_init__(self) -> None:
        unknown = [kind for _, kind in self._slots if kind not in TYPES]
        if unknown or self.template[-1:] not in (".", "?", "!"):
            raise ValueError(f"expected known slot types and a sentence end, came {self.template!r}")
        if len({name for name, _ in self._slots}) != len(self._slots):
            raise ValueError(f"expected each slot once, came {self.template!r}")

    @cached_property
    def _slots(self) -> list[tuple[str, str]]:
        return [(found[1], found[2] or "text") for found in _SLOT.finditer(self.template)]

    @property
    def names(self) -> frozenset[str]:
        """Names of the slots."""
        return frozenset(name for name, _ in self._slots)

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """What finds the sentence in a text; its first letter may be of either case."""
        pieces, at = [], 0
        for found in _SLOT.finditer(self.template):
            pieces.append(re.escape(self.template[at : found.start()]))
            pieces.append(f"(?P<{found[1]}>{TYPES[found[2] or 'text'].pattern})")
            at = found.end()
        pieces.append(re.escape(self.template[at:]))
        if not self.template.startswith("{"):
            first = re.escape(self.template[0])
            pieces[0] = f"(?i:{first})" + pieces[0][len(first) :]
        return re.compile(r"(?<!\S)" + "".join(pieces) + r"(?!\S)")

    def fill(self, slots: Mapping[str, Any]) -> str:
        """The sentence with these values; raises `ValueError` when it could not be read back to them."""
        kinds = dict(self._slots)
        text = _SLOT.sub(lambda found: TYPES[kinds[found[1]]].say(slots[found[1]]), self.template)
        wanted = {name: slots[name] for name in kinds}
        if self.match(text) != wanted:
            raise ValueError(f"{text!r} does not read back to {wanted!r}")
        return text

    def match(self, text: str) -> Slots | None:
        """The values of the slots when the whole text is this sentence, else None."""
        found = self.regex.fullmatch(text)
        return self._read(found) if found else None

    def find(self, text: str) -> Iterable[tuple[int, int, Slots]]:
        """Where the sentence stands in a text, and with which values."""
        for found in self.regex.finditer(text):
            slots = self._read(found)
            if slots is not None:
                yield found.start(), found.end(), slots

    def _read(self, found: re.Match[str]) -> Slots | None:
        try:
            return {name: TYPES[kind].read(found[name]) for name, kind in self._slots}
        except ValueError:  # 31 February
            return None


Owner = TypeVar("Owner")


def read_back(text: str, phrases: Iterable[tuple[Owner, Phrase]]) -> list[tuple[Owner, Slots, str]]:
    """Every phrase that stands in a text, in order, as (owner, slots, sentence); of overlapping ones the longest."""
    hits = [
        (start, -end, -len(_SLOT.sub("", phrase.template)), i, owner, slots)
        for i, (owner, phrase) in enumerate(phrases)
        for start, end, slots in phrase.find(text)
    ]
    kept: list[tuple[Owner, Slots, str]] = []
    reached = 0
    for start, minus_end, _, _, owner, slots in sorted(hits, key=lambda hit: hit[:4]):
        if start >= reached:
            kept.append((owner, slots, text[start:-minus_end]))
            reached = -minus_end
    return kept
