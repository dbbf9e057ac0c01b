"""Mutants of a witness: its calls, with one thing in them made wrong, such as an agent gets wrong.

A call is left out or made twice, made on another entity (another key of the same table, another value of the
same column), with a near value, with another choice, with a list that has an entry more, less or twice, without an
argument it may lack, or with one more that nobody asked for. What an argument may be mistaken for comes from the
state and from the tool's schema. Arguments that the task leaves free are right whatever they hold, so they are let
be, whether they are given or not. First come the calls that changed something, then the look-ups that led to them: a
wrong person looked up is a wrong person served.

This module makes lists of calls and executes none; whether one leads to another state is seen by playing it.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.record import references
from envscaler.schema import Call, Json, Skeleton
from envscaler.world.change import copied
from envscaler.world.mutants.states import in_turn
from envscaler.world.mutants.values import Wrong, alike_first, near, short
from envscaler.world.proving.shape import Path, Shape, leaves, lists
from envscaler.world.trials.trying import kind_of, kinds_of, means
from envscaler.world.witness import Played, renumbered

MOST = 20
"""Mutants besides those that leave out or double a call, unless more are asked for."""
MORE = 8
"""Mutants that give an argument more, of all calls together, one of each argument first."""
ARGUMENT_MORE = "argument more"
"""The kind of those."""
_LEFT_OUT: Any = object()
_ORDER = re.compile(
    r"\bin (?:\w+ ){0,3}order\b(?! to)|\bre-?order|\bsequence|\brearrang|\bsort(?:ed)?\b|\brank"
    r"|\bfirst\b.*\b(?:then|second|last)\b",
    re.IGNORECASE | re.DOTALL,
)
"""How a task speaks of an order."""


@dataclass(frozen=True)
class CallMutant:
    """A witness with one thing made wrong."""

    kind: str
    """How it was made wrong, e.g. `call dropped`."""
    what: str
    """The call, and what is wrong with it."""
    place: int
    """Up to here it is the witness."""
    calls: list[Call]
    """What is called from there on; references count as in the whole."""
    wrong: bool = False
    """Whether the first of these is made wrong, so that if it is refused it might as well be left out."""


def dropped(witness: Sequence[Call], place: int) -> CallMutant:
    """The witness less one call; references to its reply become values that no record has."""
    rest = [
        renumbered(call, lambda n: None if n == place else n - (n > place)) for call in witness[place + 1 :]
    ]
    return CallMutant("call dropped", named(witness, place), place, rest)


def doubled(witness: Sequence[Call], place: int) -> CallMutant:
    """The witness with one call made twice."""
    rest = [renumbered(call, lambda n: n + (n > place)) for call in witness[place + 1 :]]
    return CallMutant("call doubled", named(witness, place), place + 1, [witness[place], *rest])


def call_mutants(
    skeleton: Skeleton,
    witness: Sequence[Call],
    played: Played,
    shape: Shape,
    *,
    seed: int = 0,
    most: int = MOST,
    task: str = "",
) -> Iterator[CallMutant]:
    """Mutants of a witness: every change left out and doubled, then wrong arguments in turn.

    Args:
        skeleton: the world, for what its tools admit.
        witness: the calls as written.
        played: how they went.
        shape: of the state they are played in.
        seed: of every choice.
        most: how many with wrong arguments at most.
        task: what was asked for; where it speaks of an order, the entries of a list come in another one too.
    """
    writes = [place for place, changed in enumerate(played.diffs) if changed]
    for place in writes:
        yield dropped(witness, place)
    for place in writes:
        yield doubled(witness, place)
    maker = _Maker(
        skeleton, witness, played, shape, random.Random(f"calls {seed}"), bool(_ORDER.search(task))
    )
    used = {way[0] for call in witness for way in references(call.arguments) if isinstance(way, list) and way}
    reads = [place for place in range(len(witness)) if place not in writes and place in used]
    yield from maker.wrong(writes, most)
    yield from maker.wrong(reads, most // 2)
    yield from maker.more(writes)


class _Maker:
    """Wrong arguments for the calls of one witness."""

    def __init__(
        self,
        skeleton: Skeleton,
        witness: Sequence[Call],
        played: Played,
        shape: Shape,
        chance: random.Random,
        ordered: bool,
    ) -> None:
        self._witness, self._played, self._shape, self._chance = witness, played, shape, chance
        self._ordered = ordered
        self._schemas = {tool.name: tool.parameters for tool in skeleton.tools}

    def wrong(self, places: Sequence[int], most: int) -> Iterator[CallMutant]:
        """One wrong argument of each call, then another one of each, …"""
        streams = in_turn([self._of_call(place) for place in places])
        yield from (mutant for mutant, _ in zip(streams, range(most), strict=False))

    def _of_call(self, place: int) -> Iterator[CallMutant]:
        call, made = self._witness[place], self._played.calls[place]
        given = [
            (way, value) for way, value in leaves(made.arguments) if way and str(way[0]) not in call.free
        ]
        listed = [(way, held) for way, held in lists(made.arguments) if held and str(way[0]) not in call.free]
        streams = [self._of_leaf(place, way, value) for way, value in given]
        yield from in_turn([*streams, *(self._of_list(place, way, held) for way, held in listed)])

    def _of_list(self, place: int, way: Path, held: list[Json]) -> Iterator[CallMutant]:
        """A list with an entry more, less or (if no text) twice; in another order where the task speaks of one."""
        options: list[Wrong] = [("entry missing", held[:-1])]
        if not isinstance(held[0], str):
            # A name said twice may well be the same set; an item of an order, or an amount, is there twice.
            options.append(("entry doubled", [*held, held[0]]))
        if not isinstance(held[-1], dict | list):
            last = mistakes(self._schema(place), (*way, len(held) - 1), held[-1], self._shape, self._chance)
            options[:0] = [("entry more", [*held, other]) for _, other in last if other not in held][:1]
        if self._ordered and held[::-1] != held:
            options.insert(0, ("entries in another order", held[::-1]))
        for kind, wrong in options:
            yield self._wrongly(place, way, kind, wrong, f"{short(held)} → {short(wrong)}")

    def _of_leaf(self, place: int, way: Path, value: Json) -> Iterator[CallMutant]:
        options = mistakes(self._schema(place), way, value, self._shape, self._chance)
        if len(way) == 1 and way[0] not in self._schema(place).get("required", []):
            options.append(("argument left out", _LEFT_OUT))
        for kind, wrong in options:
            shown = "left out" if wrong is _LEFT_OUT else f"{short(value)} → {short(wrong)}"
            yield self._wrongly(place, way, kind, wrong, shown)

    def _wrongly(self, place: int, way: Path, kind: str, wrong: Json, shown: str) -> CallMutant:
        what = f"{named(self._witness, place)}.{'.'.join(map(str, way))}: {shown}"
        right = self._witness[place], self._played.calls[place]
        calls = [exchanged(*right, way, wrong), *self._witness[place + 1 :]]
        return CallMutant(kind, what, place, calls, wrong=True)

    def more(self, places: Sequence[int]) -> Iterator[CallMutant]:
        """An argument that a call may have and does not give, with a value that somebody else might have meant."""
        streams = [
            self._added(place, name, schema)
            for place in places
            for name, schema in (self._schema(place).get("properties") or {}).items()
            if name not in self._witness[place].arguments and name not in self._witness[place].free
        ]
        yield from (mutant for mutant, _ in zip(in_turn(streams), range(MORE), strict=False))

    def _added(self, place: int, name: str, schema: Any) -> Iterator[CallMutant]:
        call = self._witness[place]
        for value in self._likely(name, schema, choices_of(self._schema(place), (name,)))[:2]:
            more = Call(tool=call.tool, arguments={**call.arguments, name: value}, free=call.free)
            what = f"{named(self._witness, place)}.{name}: not given → {short(value)}"
            yield CallMutant(ARGUMENT_MORE, what, place, [more, *self._witness[place + 1 :]], wrong=True)

    def _likely(self, name: str, schema: Any, choices: list[Json]) -> list[Json]:
        """Values that such an argument may have: its choices, those of fields that it is named after, or an example."""
        if choices:
            return _shuffled(choices, self._chance)
        kinds = kinds_of(schema) - {"null"}
        if "boolean" in kinds and len(kinds) == 1:
            return [True, False]
        held = [
            value
            for (_, way), values in self._shape.columns.items()
            if way and isinstance(way[-1], str) and (way[-1] == name or means(name, way[-1]))
            for value in values
            if not kinds or kind_of(value) in kinds or (kind_of(value) == "integer" and "number" in kinds)
        ]
        texts = ["something else"] if not kinds or "string" in kinds else []
        numbers = [7] if kinds & {"integer", "number"} else []
        return [*_shuffled(list(dict.fromkeys(held)), self._chance)[:1], *texts, *numbers]

    def _schema(self, place: int) -> dict[str, Any]:
        return self._schemas.get(self._witness[place].tool, {})


def exchanged(call: Call, made: Call, way: Path, wrong: Json) -> Call:
    """A call with another value in one place, or without an argument.

    Args:
        call: as written.
        made: with its references resolved.
        way: the argument's name, and the path to a part of it.
        wrong: what is put there.
    """
    arguments = dict(call.arguments)
    if wrong is _LEFT_OUT:
        del arguments[str(way[0])]
        return Call(tool=call.tool, arguments=arguments)
    # Of the argument that is wrong the values are those it had; the others go on referring to replies.
    holder: dict[str, Any] = {str(way[0]): copied(made.arguments[str(way[0])])}
    at: Any = holder
    for step in way[:-1]:
        at = at[step]
    at[way[-1]] = wrong
    return Call(tool=call.tool, arguments={**arguments, **holder})


def mistakes(schema: Any, way: Path, value: Json, shape: Shape, chance: random.Random) -> list[Wrong]:
    """What an argument may be mistaken for, the most likely first.

    Args:
        schema: the tool's parameters.
        way: the argument's name, and the path to a part of it.
        value: what is right.
        shape: of the state.
        chance: for the choice among many.
    """
    choices = [choice for choice in choices_of(schema, way) if choice != value]
    if choices:
        return [("call with another choice", choice) for choice in _shuffled(choices, chance)[:2]]
    if entities := _entities(way, value, shape, chance):
        return [("call on another entity", other) for other in entities[:2]]
    if isinstance(value, bool):
        return [("call with another choice", not value)]
    others = _of_column(way, value, shape, chance)
    kind = "call with another choice" if isinstance(value, str) else "call with another value"
    close = [("call with a near value", wrong) for _, wrong in near(value, chance)]
    return [*close, *((kind, other) for other in others[:1])]


def _entities(way: Path, value: Json, shape: Shape, chance: random.Random) -> list[Json]:
    """Other keys of the table that the value is a key of, or other names of a column that it is a name in."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return []
    for keys in shape.keys.values():
        # A number may equal a key by chance; then the argument is at least named after an id.
        if str(value) in keys and (isinstance(value, str) or str(way[0]).endswith(("id", "ids", "number"))):
            others: list[Json] = alike_first(value, _shuffled([k for k in keys if k != str(value)], chance))
            return [int(key) for key in others if key.isdecimal()] if isinstance(value, int) else others
    if not isinstance(value, str):
        return []
    for column, values in shape.columns.items():
        unlike = len(values) == shape.counts[column] and column[1][-1:] == way[-1:]
        if unlike and value in values:
            names = [other for other in values if isinstance(other, str) and other != value]
            return alike_first(value, _shuffled(names, chance))
    return []


def _of_column(way: Path, value: Json, shape: Shape, chance: random.Random) -> list[Json]:
    """Other values of fields that bear the argument's name."""
    name = next((step for step in reversed(way) if isinstance(step, str)), "")
    found = [
        other
        for column, values in shape.columns.items()
        if column[1] and column[1][-1] == name
        for other in values
        if other != value and type(other) is type(value)
    ]
    return _shuffled(list(dict.fromkeys(found)), chance)


def _shuffled(things: list[Any], chance: random.Random) -> list[Any]:
    mixed = list(things)
    chance.shuffle(mixed)
    return mixed


def named(witness: Sequence[Call], place: int) -> str:
    """A call of a witness, in words."""
    return f"call {place} ({witness[place].tool})"


def choices_of(schema: Any, way: Path) -> list[Json]:
    """The choices that a tool's schema gives for a part of its arguments."""
    at = schema
    for step in way:
        at = at.get("items" if isinstance(step, int) else "properties") if isinstance(at, dict) else None
        at = at.get(step) if isinstance(step, str) and isinstance(at, dict) else at
        if isinstance(at, dict) and isinstance(at.get("anyOf"), list):
            at = next((o for o in at["anyOf"] if isinstance(o, dict) and o.get("type") != "null"), at)
    choices = at.get("enum") if isinstance(at, dict) else None
    return [choice for choice in choices if choice is not None] if isinstance(choices, list) else []
