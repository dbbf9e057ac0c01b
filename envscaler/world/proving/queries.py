"""Queries that count: look-ups of a witness without which its writes would be guesses.

A read counts when its reply holds a value that neither the task nor an earlier reply tells, which a later call is
given (`feeds`) or on which it depends whether the later calls are accepted (`decides`); and that is tried, not read
off: the value is changed in the initial state, the calls are made again with the values they had, and now one is
refused or, where the value is handed on, the reward is less than 1.

What a reader would find worth looking up is not asked here, and a look-up whose value only leads to the next
look-up does not count when guessing the latter's result would do as well.
"""

import random
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any, Literal

from envscaler.error import EnvironmentLost, ParameterError, SourceError
from envscaler.record import FROM, map_references
from envscaler.schema import Call, Json, Scenario, Skeleton, reward_of
from envscaler.world.change import State, records, same, unescaped
from envscaler.world.check import grade
from envscaler.world.environment import Environment
from envscaler.world.mutants.values import fresh_key, near
from envscaler.world.proving.shape import Leaf, Path, Shape, leaves, with_value
from envscaler.world.witness import follow, play

_CHANGES, _VALUES = 6, 8
"""Ways a value is changed, and values of a reply that are tried."""
_KEY = "(key)"
"""Last step of a path that leads to the key of a record, not to a value in it."""
Told = tuple[Path, Json]
"""Where a reply says something, and what."""


@dataclass(frozen=True)
class Query:
    """One read of a witness."""

    call: int
    """Its place in the witness."""
    tool: str
    """The tool."""
    counts: bool
    """Whether the witness fails when what it says is changed."""
    how: Literal["feeds", "decides", ""] = ""
    """Whether the value is given to a later call, or only decides whether the later calls are accepted."""
    value: Json = None
    """The value that was changed."""
    change: str = ""
    """What was changed in the initial state."""
    failure: str = ""
    """How the witness failed then."""


def counting_queries(skeleton: Skeleton, scenario: Scenario, *, seed: int = 0, **options: Any) -> list[Query]:
    """One row a read of the witness.

    Args:
        skeleton: the world.
        scenario: with a witness.
        seed: of the environment.
        options: of `Environment`: `timeout` and `isolation`.

    Raises:
        ParameterError: there is no witness, or it does not earn 1.
    """
    trial = _Trial(skeleton, scenario, seed, options)
    return [trial.query(place) for place in trial.reads]


class _Trial:
    """A scenario whose witness is played over and over, in initial states that differ in one value."""

    def __init__(self, skeleton: Skeleton, scenario: Scenario, seed: int, options: dict[str, Any]) -> None:
        self._skeleton, self._scenario, self._seed, self._options = skeleton, scenario, seed, options
        with self._environment(scenario.initial_state) as environment:
            environment.reset()
            self._initial = environment.initial_state
            self._shape = Shape(self._initial)
            self._played = play(environment, scenario.witness)
            paid = self._paid(self._initial, environment.state)
        if not scenario.witness or self._played.refused is not None or paid != 1.0:
            raise ParameterError(
                "Expected a scenario whose witness earns 1; certify it to see what is wrong."
            )
        writes = {tool.name for tool in skeleton.tools if tool.mutates}
        calls = self._played.calls
        self.reads = [place for place, call in enumerate(calls) if call.tool not in writes]
        self._calls = [self._guessed(call) for call in scenario.witness]

    def _guessed(self, call: Call) -> Call:
        """The call with what it has of reads as it was; ids that a write makes are its own and stay references."""

        def put(way: Json) -> Json:
            return follow(way, self._played.replies) if way[0] in self.reads else {FROM: way}

        arguments = {name: map_references(value, put) for name, value in call.arguments.items()}
        return Call(tool=call.tool, arguments=arguments)

    def _environment(self, state: State) -> Environment:
        return Environment(self._skeleton, state, seed=self._seed, **self._options)

    def _paid(self, initial: State, final: State) -> float | None:
        options = {k: v for k, v in self._options.items() if k in ("timeout", "isolation")}
        scenario = self._scenario
        return reward_of(grade(scenario.checks, initial, final, scenario.may_change, **options))

    def query(self, place: int) -> Query:
        """Whether the read at this place counts."""
        tool = self._played.calls[place].tool
        untold = list(self._untold(place))
        given = [part for call in self._played.calls[place + 1 :] for part in _parts(call.arguments)]
        concerned = {str(part) for part in given} | self._changed_after(place)
        feeding = [leaf for leaf in untold if any(same(leaf[1], part) for part in given)]
        for path, value in feeding[:_VALUES]:
            for change, state in _renamings(self._initial, self._shape, value):
                if failure := self._failure(state, place, path, value, graded=False):
                    return Query(place, tool, True, "feeds", value, change, failure)
            for change, state in islice(_changes(self._initial, self._shape, path, value), _CHANGES):
                if failure := self._failure(state, place, path, value, graded=True):
                    return Query(place, tool, True, "feeds", value, change, failure)
        for path, value in [leaf for leaf in untold if leaf not in feeding][:_VALUES]:
            for change, state in islice(
                _changes(self._initial, self._shape, path, value, concerned), _CHANGES
            ):
                if failure := self._failure(state, place, path, value, graded=False):
                    return Query(place, tool, True, "decides", value, change, failure)
        return Query(place, tool, False)

    def _changed_after(self, place: int) -> set[str]:
        """Keys of the records that later calls change."""
        names = {where for changed in self._played.diffs[place + 1 :] for where in changed}
        return {unescaped(where.partition("/")[2]) for where in names}

    def _untold(self, place: int) -> Iterator[Told]:
        """Values of a reply that stand neither in the task nor in an earlier reply, each once."""
        told = [part for reply in self._played.replies[:place] for part in _parts(reply)]
        for path, value in _leaves(self._played.replies[place]):
            known = value is None or isinstance(value, bool) or path[-1:] in (("success",), ("message",))
            if (
                not known
                and not any(same(value, t) for t in told)
                and not told_in(value, self._scenario.task)
            ):
                told.append(value)
                yield path, value

    def _failure(self, state: State, place: int, path: Path, value: Json, *, graded: bool) -> str:
        """How the same calls fail in this initial state; empty when they do not, or when it shows nothing.

        A check may name an id, or a sum made with a value of the initial state, and fail because that is changed
        while the calls are as right as before. So the reward is asked only where the value is handed on.
        """
        calls = self._calls
        try:
            with self._environment(state) as environment:
                environment.reset()
                initial = environment.initial_state
                before = play(environment, calls[: place + 1])
                if before.refused is not None or same(_at(before.replies[place], path), value):
                    return ""
                after = play(environment, calls[place + 1 :], before.replies)
                final = environment.state
        except (EnvironmentLost, SourceError):
            return ""
        if after.refused is not None:
            return f"call {after.refused} ({calls[after.refused].tool}) is refused"
        paid = self._paid(initial, final) if graded else 1.0
        return "" if paid == 1.0 else f"the reward is {paid}"


def _at(reply: Json, path: Path) -> Json:
    """What a reply holds at a path; None where it has no such place."""
    for step in path[:-1] if path[-1:] == (_KEY,) else path:
        try:
            reply = reply[step]
        except (LookupError, TypeError):
            return None
    return path[-2] if path[-1:] == (_KEY,) and reply is not None else reply


# Values in replies, arguments and texts


def _leaves(value: Json, path: Path = ()) -> Iterator[Told]:
    """Every scalar with its path; keys of tables are values too."""
    if isinstance(value, dict):
        for key, part in value.items():
            if isinstance(part, dict):
                yield (*path, key, _KEY), key
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _leaves(part, (*path, place))
    else:
        yield path, value


def _parts(value: Json) -> list[Json]:
    return [part for _, part in _leaves(value)]


def _field(path: Path) -> str:
    """The last name in a path."""
    return next((step for step in reversed(path) if isinstance(step, str) and step != _KEY), "")


def told_in(value: Json, text: str) -> bool:
    """Whether a text tells a value: as it is, a number with other digits, a date in words."""
    if isinstance(value, int | float):
        return any(float(found.replace(",", "")) == value for found in _NUMBER.findall(text))
    words = [str(value), *_dates(str(value))]
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in words if word)


_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def _dates(text: str) -> list[str]:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return []
    month = day.strftime("%B")
    return [
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{day.day} {month}",
        f"{month} {day.day}",
    ]


# Changes of the initial state


def _is_key(shape: Shape, value: Json) -> bool:
    known = isinstance(value, str | int) and not isinstance(value, bool)
    return known and any(str(value) in keys for keys in shape.keys.values())


def _renamings(state: State, shape: Shape, value: Json) -> Iterator[tuple[str, State]]:
    """The initial state with another id in the place of this one, if it is one."""
    if _is_key(shape, value):
        new = fresh_key([key for keys in shape.keys.values() if str(value) in keys for key in keys])
        yield f"{value} is {new} everywhere", _renamed(state, str(value), new)


def _renamed(value: Json, old: str, new: str) -> Any:
    """The value with an id replaced wherever it stands, as a key or as a value."""
    if isinstance(value, dict):
        return {new if k == old else k: _renamed(v, old, new) for k, v in value.items()}
    if isinstance(value, list):
        return [_renamed(part, old, new) for part in value]
    if isinstance(value, str):
        return new if value == old else value
    return int(new) if type(value) is int and str(value) == old and new.isdecimal() else value


def _changes(
    state: State, shape: Shape, path: Path, value: Json, of: Collection[str] | None = None
) -> Iterator[tuple[str, State]]:
    """Initial states in which a field holds something else, those of the name in the reply first; not for ids.

    Args:
        state: the initial state.
        shape: its shape.
        path: where a reply says the value.
        value: what is to be changed.
        of: keys of the records whose fields are changed; None for any.
    """
    if _is_key(shape, value):
        return
    found = [
        Leaf(table, key, way)
        for table, held in state.items()
        for key, record in (records(held) or {}).items()
        if of is None or key in of
        for way, part in leaves(record)
        if same(part, value)
    ]
    for leaf in sorted(found, key=lambda leaf: _field(leaf.path) != _field(path)):
        close = [wrong for _, wrong in near(value, random.Random(str(leaf)))]
        nothing = [type(value)(0)] if isinstance(value, int | float) else []
        for new in [*close, *nothing, *shape.others(leaf, value)[:2]]:
            if not same(new, value):
                yield f"{leaf} is {new!r}", with_value(state, leaf, new)
