"""A domain: one world the built-in model knows, as `domains/<name>.yaml` writes it, and how it is recognised.

A domain holds words, not code: how requests and themes talk about the world, and which patterns it is
composed of with which vocabulary, attributes, numbers and data. Adding one is adding a file:

    name: hotel                     # the file's name
    class_name: HotelFrontDesk      # the class that is written
    about: What the module docstring says first, one or two sentences.
    titles: ["{Hotel|Guesthouse} {reservations|front desk}", …]     # {a|b} is a choice; 4 wordings or more
    summary: [[sentence, sentence, sentence], [...], [...]]          # one sentence of each slot is drawn
    words: {hotel: 3, check in: 2, room: 1}                          # how it is recognised; see `ranking`
    usefulness: 9
    modelability: 9
    parts:                                                           # each: a pattern and its settings
      - pattern: registry
        person: guest
      - pattern: booking
        resource: room

Which settings a pattern takes is told by the `Settings` class in its file `patterns/<pattern>.py`. Run
`python -m envscaler.model.builtin hotel` for what is wrong with a domain and for the code it gives.

This module does not write environments (`build` does) and does not answer anything.
"""

import re
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

FOLDER = Path(__file__).parent / "domains"
ENOUGH = 3.0
"""Least score at which a text is taken to be about a domain."""

_CHOICE = re.compile(r"\{([^{}]*\|[^{}]*)\}")
_TOKEN = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"\b(?:[a-z]{1,3}-){0,2}[a-z]*\d[a-z0-9]*(?:-[a-z]*\d[a-z0-9]*)*\b")
_FILLERS = {"a", "an", "any", "her", "his", "its", "my", "our", "the", "their", "your"}


class Domain(BaseModel):
    """One world, in words."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    """The file's name without `.yaml`."""
    class_name: str = Field(pattern=r"^[A-Z][A-Za-z]+$")
    """Name of the class."""
    about: str = Field(min_length=40)
    """One or two sentences that open the module docstring."""
    titles: list[str] = Field(min_length=1)
    """Wordings of the title; `{a|b}` is a choice, and all of them together give at least four."""
    summary: list[list[str]] = Field(min_length=2)
    """Alternatives for each sentence of the summary."""
    words: dict[str, float]
    """Word or phrase of up to three words, in the singular → weight: 3 decides alone, 1 hints, -1 speaks against.

    `0` stands for any number or code (`order 0` meets `order TK-9917`), and a phrase also meets the same words with
    an article or a possessive between them (`cancel order` meets `cancel my order`).
    """
    usefulness: int = Field(ge=1, le=10)
    """How useful an environment of this kind is."""
    modelability: int = Field(ge=1, le=10)
    """How well one class can stand for it."""
    parts: list[dict[str, Any]] = Field(min_length=1)
    """The patterns it is composed of: `pattern` and that pattern's settings."""
    openings: list[str] = []
    """How a user of this world begins a message; `{a|b}` is a choice."""
    today: str = Field(default="2025-03-10", pattern=r"^\d{4}-\d\d-\d\d$")
    """The date the world's data lie around."""

    @field_validator("titles")
    @classmethod
    def _worded_in_several_ways(cls, titles: list[str]) -> list[str]:
        if sum(len(wordings(title)) for title in titles) < 4:
            raise ValueError("expected at least 4 wordings of the title; add titles or {a|b} choices")
        return titles

    @field_validator("summary")
    @classmethod
    def _three_of_each(cls, summary: list[list[str]]) -> list[list[str]]:
        if any(len(slot) < 3 for slot in summary):
            raise ValueError("expected at least 3 alternative sentences in each slot of the summary")
        return summary

    def word_title(self, rng: np.random.Generator) -> str:
        """A title, worded anew."""
        title = draw_wording(str(rng.choice(self.titles)), rng)
        return title[:1].upper() + title[1:]

    def word_summary(self, rng: np.random.Generator) -> str:
        """A summary, worded anew: one sentence of each slot."""
        return " ".join(draw_wording(str(rng.choice(slot)), rng) for slot in self.summary)

    def score(self, text: str) -> float:
        """How much a text sounds like this world: the weights of the words that occur, each once."""
        return _near(self, _terms(text)).score


def wordings(text: str) -> list[str]:
    """Every text that the `{a|b}` choices of `text` give."""
    pieces = _CHOICE.split(text)
    options = [[piece] if i % 2 == 0 else piece.split("|") for i, piece in enumerate(pieces)]
    return ["".join(choice) for choice in product(*options)]


def draw_wording(text: str, rng: np.random.Generator) -> str:
    """One of the texts that the `{a|b}` choices of `text` give."""
    return _CHOICE.sub(lambda found: str(rng.choice(found[1].split("|"))), text)


@cache
def domains() -> dict[str, Domain]:
    """Every domain by name, in the order of names."""
    return {path.stem: read_domain(path) for path in sorted(FOLDER.glob("*.yaml"))}


def read_domain(path: Path) -> Domain:
    """The domain of one file; raises `ValueError` with what is wrong."""
    domain = Domain.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    if domain.name != path.stem:
        raise ValueError(f"{path.name}: expected name: {path.stem}, came name: {domain.name}")
    return domain


def ranking(text: str) -> list[tuple[float, Domain]]:
    """Every domain with its score for the text, the nearest first.

    Of equal scores, the one that more words speak for comes first, then the order of names decides.
    """
    terms = _terms(text)
    nears = [_near(domain, terms) for domain in domains().values()]
    nears.sort(key=lambda near: (-near.score, -near.words, near.domain.name))
    return [(near.score, near.domain) for near in nears]


class _Near(NamedTuple):
    score: float
    words: int
    """How many words speak for the domain."""
    domain: Domain


def _near(domain: Domain, terms: frozenset[str]) -> _Near:
    weights = [weight for word, weight in _stemmed(domain.name) if word in terms]
    # Rounded, so that 0.1 + 0.2 ties with 0.3.
    return _Near(round(sum(weights), 6), sum(weight > 0 for weight in weights), domain)


@cache
def _stemmed(name: str) -> tuple[tuple[str, float], ...]:
    words = domains()[name].words
    return tuple({" ".join(_stems(w)): float(v) for w, v in words.items()}.items())


def _terms(text: str) -> frozenset[str]:
    """The stems of a text, and their pairs and triples, with and without the fillers between them."""
    stems = _stems(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    told = [stem for stem in stems if stem not in _FILLERS]
    runs = (zip(*(line[i:] for i in range(n)), strict=False) for line in (stems, told) for n in (1, 2, 3))
    return frozenset(" ".join(run) for group in runs for run in group)


def _stems(text: str) -> list[str]:
    return [_stem(token) for token in _TOKEN.findall(_NUMBER.sub("0", text.lower()))]


def _stem(word: str) -> str:
    """The word without the plainest English endings, enough to let `booked a room` meet `booking rooms`."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("ings", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word
