"""Mutants of the texts that a witness gives: other words in the place of those that the task fixes.

A check that looks at a text's length, at how it begins, or for a word in it, takes other texts for the right one. So
each text that a change was given is exchanged for others made from itself (`values.other_texts`), wherever that call
wrote it down. That needs no execution as long as a check says no. Whether a tool would have taken a text that is paid
is seen by making the call, which goes with the state for that; and so is what became of a text that stands nowhere
as it was given.

Keys, dates and choices have mutants of their own, so of these keys are tried in another case only: `t` for the `T` of
a time is the same time. What the task leaves free is let be.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from envscaler.schema import Call, Json, Skeleton
from envscaler.world.change import Diff, State, unescaped
from envscaler.world.mutants.calls import CallMutant, choices_of, exchanged, named
from envscaler.world.mutants.states import in_turn
from envscaler.world.mutants.values import Wrong, in_another_case, other_texts, shifted, shown_apart
from envscaler.world.proving.shape import Leaf, Path, Shape, leaves, value_or_none, with_value
from envscaler.world.witness import Played

MOST = 40
"""Mutants of texts at most; of each text one comes first, then of each the next."""
_QUOTED = re.compile(r"""(["'])((?:(?!\1)[^\\\n]|\\.)+)\1""")


@dataclass(frozen=True)
class TextMutant:
    """A witness that gave another text."""

    call: CallMutant
    """The call that gives it, and those after it."""
    state: State | None
    """The final state with that text in it; None where the text stands nowhere as it was given."""


def text_mutants(
    skeleton: Skeleton,
    witness: Sequence[Call],
    played: Played,
    states: tuple[State, State],
    shape: Shape,
    *,
    loose: Callable[[Leaf], bool] = lambda leaf: False,
    sources: str = "",
) -> Iterator[TextMutant]:
    """Other texts in the place of each that a change was given and that the task does not leave free.

    Args:
        skeleton: the world, for what its tools admit.
        witness: the calls as written.
        played: how they went.
        states: before the first call, and at the end.
        shape: of the state before.
        loose: leaves that may have any value.
        sources: of checks, for the texts that they quote.
    """
    quoted = quoted_in(sources)
    streams = []
    for place, made in enumerate(played.calls):
        tool = skeleton.tool(made.tool)
        schema = tool.parameters if tool else {}
        for way, text in leaves(made.arguments) if played.diffs[place] else ():
            if not isinstance(text, str) or not way or str(way[0]) in made.free:
                continue
            written = [leaf for leaf in _written(text, played.diffs[place], states) if not loose(leaf)]
            given = _Given(witness, made, place, way, text)
            if is_wording(text, way, schema, shape):
                streams.append(given.exchanged(states[1], written, other_texts(text, quoted)))
            elif written and not choices_of(schema, way) and not shifted(text, 1):
                streams.append(given.exchanged(states[1], written, in_another_case(text)))
    yield from (mutant for mutant, _ in zip(in_turn(streams), range(MOST), strict=False))


def is_wording(text: str, way: Path, schema: Json, shape: Shape) -> bool:
    """Whether an argument is a text with words of its own: no key, date or choice."""
    if not text or shifted(text, 1):
        return False
    return not any(text in held for held in shape.keys.values()) and not choices_of(schema, way)


def quoted_in(source: str) -> list[str]:
    """The texts that a source quotes, each once."""
    return list(dict.fromkeys(found[1] for found in _QUOTED.findall(source)))


def _written(text: str, changed: Diff, states: tuple[State, State]) -> Iterator[Leaf]:
    """Where a change wrote a text down and it still stands at the end."""
    before, after = states
    for where in changed:
        name, slash, key = where.partition("/")
        record = Leaf(unescaped(name), unescaped(key) if slash else None)
        for way, value in leaves(value_or_none(after, record)):
            leaf = Leaf(record.table, record.key, way)
            if value == text and value_or_none(before, leaf) != text:
                yield leaf


@dataclass(frozen=True)
class _Given:
    """A text that a call of a witness was given."""

    witness: Sequence[Call]
    made: Call
    place: int
    way: Path
    text: str

    def exchanged(self, final: State, written: list[Leaf], others: Iterable[Wrong]) -> Iterator[TextMutant]:
        """Others in its place, each once."""
        seen: set[Json] = {self.text}
        for kind, other in others:
            if isinstance(other, str) and other not in seen:
                seen.add(other)
                state = final if written else None
                for leaf in written:
                    state = with_value(state or final, leaf, other)
                yield TextMutant(self._call(kind, other), state)

    def _call(self, kind: str, other: str) -> CallMutant:
        where = f"{named(self.witness, self.place)}.{'.'.join(map(str, self.way))}"
        what = f"{where}: {shown_apart(self.text, other)}"
        wrong = exchanged(self.witness[self.place], self.made, self.way, other)
        return CallMutant(kind, what, self.place, [wrong, *self.witness[self.place + 1 :]], wrong=True)
