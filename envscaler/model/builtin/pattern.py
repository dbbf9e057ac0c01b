"""What a pattern is: a way of keeping books (bookings, stock, a ledger, …) that many worlds share.

A pattern is one file `patterns/<name>.py` that ends in `PATTERN = TheClass`. It gives:

1. `Settings`: what a domain may choose (nouns, verbs, numbers, features, data); unknown settings are an error.
2. `vocabulary`: the names its templates use, e.g. `r` for the noun of the resource.
3. `tables` and `RULES`: every attribute, and rules in words with the body of an invariant.
4. `HELPERS`, `READS`, `WRITES`: Python source of the methods as jinja templates. `<<name>>` is a value, a line
   that begins with `%%` is a statement. A method's first docstring line is its purpose; whether it mutates is
   told by the string it stands in. Some lines have a short form, spelt out before rendering: `need r` (look the
   record of noun `r` up by its id, or refuse), `refuse if <condition> :: <message>` (the condition may be left
   out), `done <data> :: <message>`; a message with `{…}` is an f-string. Lines that get too long are folded.
   Every world has `self._next_id(table, prefix)`, and `self._is_date(text)` where something calls it.
5. `generate`: rows of its tables for a new state; the tables of earlier parts are filled.
6. `GOALS`: sub-tasks a user may have.

`patterns/_brief.py` has short forms for the calls of a plan and the attributes of a table.

A `Goal` is written once and serves the whole of a scenario: `draw` chooses slots in a state, `phrases` say
them, `plan` gives the calls from the slots alone (look-ups first, `{"$from": …}` for what they find), and
`outcome` says from slots and state what must have changed; item, check and `may_change` follow from that. An
outcome of a new row names every field its tool sets but ids (`v.blanks` has the domain's own attributes as they
are in a new row), for what no check looks at may be wrong. `in_own_words` makes of a goal one that leaves a text to
whoever does it. Goals of one task never share a record, and ask for the same in any order: the poser sees to it.

This module holds no pattern and renders nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from envscaler.model.builtin.phrase import Phrase, Slots
from envscaler.record import FROM
from envscaler.schema import Attribute, Entity

State = dict[str, Any]
Rng = np.random.Generator
NOT_THERE = (LookupError, ValueError, TypeError)
"""What a goal raises where a state lacks what it counts on: none to choose from, too few, a number not set yet."""


class Noun:
    """A word for a thing and the names that code makes of it."""

    def __init__(self, one: str, many: str | None = None) -> None:
        self.one = one
        """`blood unit`"""
        self.many = many or plural(one)
        """`blood units`"""
        self.id = re.sub(r"\W+", "_", one).lower()
        """`blood_unit`"""
        self.ids = re.sub(r"\W+", "_", self.many).lower()
        """`blood_units`, also the name of its table"""
        self.type = "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+", one))
        """`BloodUnit`"""
        self.a = f"{'an' if one[0] in 'aeio' else 'a'} {one}"
        """`a blood unit`"""
        self.cap = one[:1].upper() + one[1:]
        """`Blood unit`"""

    def __str__(self) -> str:
        return self.one


def plural(word: str) -> str:
    """The regular English plural."""
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(s|x|ch|sh|z)$", word) else "s")


class Part(BaseModel):
    """A piece of a domain's settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Extra(Part):
    """An attribute of a domain's own, beside those of the pattern."""

    name: str
    """Its name in the record."""
    type: Literal["str", "int", "float", "bool"]
    """Its type."""
    about: str
    """What it means, e.g. `floor the room is on`."""
    choices: list[Any] = []
    """Its values, where they are few."""
    range: tuple[float, float] | None = None
    """Its least and greatest value, where it is a number."""
    filter: bool = False
    """Whether the tool that lists the records can filter by it."""
    editable: bool = False
    """Whether a tool changes it; needs `choices`."""

    @model_validator(mode="after")
    def _has_values(self) -> "Extra":
        if (self.type == "str" and not self.choices) or (
            self.type in ("int", "float") and not (self.range or self.choices)
        ):
            raise ValueError(f"{self.name}: expected choices (str) or a range (int, float)")
        if self.editable and not self.choices:
            raise ValueError(f"{self.name}: expected choices, since it is editable")
        return self

    @property
    def listed(self) -> str:
        """Its choices in words: `none, silver or gold`."""
        return either(self.choices)

    @property
    def words(self) -> str:
        """Its name in words: `loyalty level`."""
        return self.name.replace("_", " ")

    @property
    def blank(self) -> Any:
        """What a new record holds when nobody gives a value."""
        if self.choices and self.type != "str":
            return self.choices[0]
        return {"str": "", "int": 0, "float": 0.0, "bool": False}[self.type]

    def draw(self, rng: Rng) -> Any:
        """A value."""
        if self.choices:
            return self.choices[int(rng.integers(len(self.choices)))]
        if self.type == "bool":
            return bool(rng.integers(2))
        low, high = self.range or (0, 1)
        if self.type == "int":
            return int(rng.integers(int(low), int(high) + 1))
        return round(float(rng.uniform(low, high)), 1)


def either(values: Sequence[Any]) -> str:
    """`a, b or c`."""
    words = [str(value) for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


class Settings(Part):
    """What a domain chooses of a pattern; each pattern extends it."""

    pattern: str
    """Name of the pattern."""
    without: list[str] = []
    """Tools this world does not have; goals that need them are left out too."""
    extras: list[Extra] = []
    """Attributes of the domain's own."""


@dataclass(frozen=True)
class RuleText:
    """One rule in words with its invariant, both templates."""

    text: str
    source: str
    """Body of `def invariant(before, after, call)`; the helpers of `INVARIANT_HELP` are there."""
    when: str = "true"
    """A jinja condition on the vocabulary under which the world has this rule."""
    rank: int = 1
    """A world lists at most eight rules; those of the highest rank are left to the docstrings of the tools."""


@dataclass(frozen=True)
class Changed:
    """A goal's demand: this record has these values now, and its other fields are as they were."""

    table: str
    key: str
    fields: Mapping[str, Any]
    item: str
    """The question, beginning with Has or Is."""
    also: tuple[str, ...] = ()
    """Further ids or marks another goal of the same task may not concern, e.g. the room of a moved booking."""


@dataclass(frozen=True)
class Added:
    """A goal's demand: exactly one new record of this table has these values."""

    table: str
    fields: Mapping[str, Any]
    item: str
    """The question, beginning with Has."""
    also: tuple[str, ...] = ()
    """As in `Changed`."""


Outcome = Changed | Added


class _AnyText(str):
    """Stands for a text that the task leaves open: equal to every text that says something."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and bool(other.strip())

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return "..."


ANY_TEXT = _AnyText("in any words")
"""As a slot, and in the demands made of it: whoever does the sub-task chooses the words."""
_SAID = "As agreed on the phone today."
"""What a plan says where the words are free."""


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """One planned call; an argument that is `ANY_TEXT` is left open by the task."""
    free = [name for name, value in arguments.items() if value is ANY_TEXT]
    planned = {"tool": tool, "arguments": {**arguments, **dict.fromkeys(free, _SAID)}}
    return {**planned, "free": free} if free else planned


def found(index: int, *path: str | int) -> dict[str, Any]:
    """The value at `path` in the data of the reply to call `index` of the same plan."""
    return {FROM: [index, "data", *path]}


class Goal:
    """One kind of sub-task; see the module's docstring."""

    phrases: ClassVar[tuple[str, ...]]
    """Wordings, templates of phrases; all have the same slots."""
    needs: ClassVar[tuple[str, ...]]
    """Names of the tools in its plan, templates."""
    when: ClassVar[str] = "true"
    """A jinja condition on the vocabulary under which the world has this goal."""
    weight: ClassVar[float] = 1.0
    """How readily it is drawn; below 1 for what needs no thought."""

    def __init__(self, v: SimpleNamespace, said: Sequence[Phrase]) -> None:
        self.v = v
        """The vocabulary of its part."""
        self.said = tuple(said)
        """Its phrases, rendered."""

    def draw(self, state: State, rng: Rng) -> Slots | None:
        """Slots of a sub-task that this state allows, or None."""
        raise NotImplementedError

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that do it, from the slots alone."""
        raise NotImplementedError

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        """What must have changed; raises `LookupError` when the state does not allow the sub-task."""
        raise NotImplementedError


def in_own_words(goal: type[Goal], slot: str, *phrases: str) -> type[Goal]:
    """The same sub-task with one text left to whoever does it; the phrases do without its slot."""

    class InOwnWords(goal):  # type: ignore[valid-type, misc]
        def draw(self, state: State, rng: Rng) -> Slots | None:
            slots = super().draw(state, rng)
            return slots and {name: value for name, value in slots.items() if name != slot}

        def plan(self, slots: Slots) -> list[dict[str, Any]]:
            return super().plan({**slots, slot: ANY_TEXT})

        def outcome(self, slots: Slots, state: State) -> list[Outcome]:
            outcomes = super().outcome({**slots, slot: ANY_TEXT}, state)
            # Goals quote the text in their questions; nobody said these words.
            return [replace(o, item=re.sub(f"(['\"]){ANY_TEXT}\\1", ANY_TEXT, o.item)) for o in outcomes]

    name = f"{goal.__name__}{InOwnWords.__name__}"
    return type(name, (InOwnWords,), {"__doc__": goal.__doc__, "phrases": phrases, "weight": 0.5})


@dataclass
class Table:
    """A table of the state, as the templates and the generators see it."""

    noun: Noun
    about: str
    attributes: list[Attribute] = field(default_factory=list)

    @property
    def entity(self) -> Entity:
        """The record form."""
        return Entity(
            name=self.noun.type, table=self.noun.ids, description=self.about, attributes=self.attributes
        )


def attribute(name: str, type_: str, about: str) -> Attribute:
    """One attribute of an entity."""
    return Attribute(name=name, type=type_, description=about)


def own(extras: Sequence[Extra]) -> list[Attribute]:
    """The attributes that a domain adds."""
    return [
        attribute(x.name, x.type, x.about + (f": {x.listed}" if x.choices and len(x.choices) <= 5 else ""))
        for x in extras
    ]


class Pattern:
    """A way of keeping books that many worlds share; see the module's docstring."""

    Settings: ClassVar[type[Settings]] = Settings
    IMPORTS: ClassVar[tuple[str, ...]] = ()
    HELPERS: ClassVar[str] = ""
    READS: ClassVar[str] = ""
    WRITES: ClassVar[str] = ""
    RULES: ClassVar[tuple[RuleText, ...]] = ()
    GOALS: ClassVar[tuple[type[Goal], ...]] = ()

    def vocabulary(self, s: Any, shared: dict[str, Noun]) -> dict[str, Any]:
        """Names for the templates; nouns other parts may refer to are put into `shared` under their own word."""
        raise NotImplementedError

    def tables(self, v: SimpleNamespace) -> list[Table]:
        """The tables it keeps."""
        raise NotImplementedError

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        """Fill its tables; the tables of earlier parts and `state["today"]` are there."""
        raise NotImplementedError


# Small helpers for draw, outcome and generate


def pick(rng: Rng, values: Sequence[Any]) -> Any:
    """One of the values, as it is (numpy would make a str_ or an int64 of it); raises `LookupError` for none."""
    if len(values) == 0:
        raise LookupError("there is none")
    return values[int(rng.integers(len(values)))]


def shuffled(rng: Rng, values: Sequence[Any]) -> list[Any]:
    """The values in a random order."""
    return [values[i] for i in rng.permutation(len(values))]


def only(values: Sequence[Any]) -> Any:
    """The one value there is; raises `LookupError` for none or several."""
    if len(values) != 1:
        raise LookupError(f"expected exactly one match, came {len(values)}")
    return values[0]


def key_of(prefix: str, number: int) -> str:
    """The id of the n-th record: `RM-003`."""
    return f"{prefix}-{number:03d}"


def named(state: State, noun: Noun, name: str) -> dict[str, Any]:
    """The one record of that name."""
    return only([row for row in state[noun.ids].values() if row["name"] == name])
