"""Replaying a recorded episode, ours or anybody's: the same calls again, each reply held against the recorded one.

Every call falls into one class. `same`: the same reply after parsing. `id` and `time`: the same but for ids, or only
times, that are made anew each time; what they were recorded as is from then on read as what they are now, in
arguments and in keys. `order`: the same but for the order of a list, as where a set was listed. `validation`: our
schemas refuse what was let through then. `undone`: the tool raised, and ours puts back what it had half changed.
`follows`: differs after one of the last two, which may be why. `real`: none of these, which wants an explanation.
Nothing is judged beyond that.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, get_args

from envscaler import syntax
from envscaler.schema import Call, Json, Part, Record, Scenario, Skeleton, canonical
from envscaler.world.change import same
from envscaler.world.environment import Environment

Class = Literal["same", "id", "time", "order", "validation", "undone", "follows", "real"]
CLASSES: tuple[Class, ...] = get_args(Class)
_TIME = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"
_MADE = re.compile(_TIME + r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\b\w*[0-9a-fA-F]{6,}\w*\b")
"""Times, UUIDs, and words with six hex digits or more in a row."""
_TIMES = re.compile(_TIME)
_EPOCH = (1.4e9, 2.2e9)
"""Numbers between these are taken for seconds since 1970 when both sides of a difference lie there."""


class Replayed(Part):
    """One call, then and now."""

    call: Call
    """As it was made now."""
    recorded: Json
    """The recorded reply, parsed."""
    reply: Json
    """The reply now."""
    kind: Class
    """How they compare."""


class Replay(Record):
    """A replayed episode."""

    scenario_id: str
    """Where it was played."""
    calls: list[Replayed]
    """One entry a call."""
    reward: float | None
    """The reward now, by the rule the environment was given."""

    @property
    def counts(self) -> Counter[str]:
        """How many calls of each class."""
        return Counter(call.kind for call in self.calls)


def replay(
    skeleton: Skeleton, scenario: Scenario, recorded: Sequence[tuple[Call, Json]], **options: Any
) -> Replay:
    """Make the recorded calls again.

    Args:
        skeleton: the world.
        scenario: where the episode was played.
        recorded: each call with the reply that was recorded for it, as text or parsed.
        options: of `Environment`, e.g. `reward="paper"`.
    """
    with Environment(skeleton, scenario, **{"max_steps": 10**6, **options}) as environment:
        environment.reset()
        made = list(made_again(environment, recorded))
        return Replay(scenario_id=scenario.id, calls=made, reward=environment.finish()[1])


def made_again(environment: Environment, recorded: Iterable[tuple[Call, Json]]) -> Iterator[Replayed]:
    """Make recorded calls one by one in an environment that stands where they began."""
    renamed: dict[str, str] = {}
    doubtful = False
    for written, text in recorded:
        call = Call(tool=written.tool, arguments=_renamed(written.arguments, renamed))
        reply, then = environment.call(call.tool, call.arguments), parsed(text)
        kind = _compare(then, reply, renamed, environment.faults)
        if kind == "real" and doubtful:
            kind = "follows"
        doubtful = doubtful or kind in ("validation", "undone")
        yield Replayed(call=call, recorded=then, reply=reply, kind=kind)


def parsed(text: Json) -> Json:
    """What a text holds where it is JSON or the `repr` of a Python value, else the value as it came."""
    if not isinstance(text, str):
        return text
    for read in (json.loads, _literal):
        try:
            # There and back: a literal may hold tuples and keys that are no text.
            return json.loads(json.dumps(read(text), allow_nan=False))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return text


def _literal(text: str) -> Json:
    return ast.literal_eval(syntax.parse(text.strip(), "eval"))


def _compare(then: Json, now: Json, renamed: dict[str, str], faults: Sequence[Json]) -> Class:
    if same(then, now):
        return "same"
    if faults:
        return "undone"
    meant = _renamed(then, renamed)
    fresh: dict[str, str] = {}
    if _alike(meant, now, fresh):
        renamed.update(fresh)
        differing: dict[str, str] = {}
        _alike(then, now, differing)  # an id that an earlier call made is none that is fresh
        return "time" if all(map(_TIMES.fullmatch, differing)) else "id"
    if same(_sorted(meant), _sorted(now)):
        return "order"
    refused = isinstance(now, dict) and now.get("success") is False
    return "validation" if refused and _ours(str(now.get("error"))) else "real"


def _sorted(value: Json) -> Json:
    """The value with its lists in one order."""
    if isinstance(value, dict):
        return {key: _sorted(part) for key, part in value.items()}
    return sorted(map(_sorted, value), key=canonical) if isinstance(value, list) else value


def _ours(error: str) -> bool:
    """Whether a refusal is the validation's, not the tool's."""
    return bool(
        re.match(
            r"There is no tool|This tool call cannot|\w+: The (arguments?|parameter)|\w+: There is no argument",
            error,
        )
    )


def _alike(then: Json, now: Json, fresh: dict[str, str]) -> bool:
    """Whether two values differ in generated ids and times only; `fresh` gets what became what."""
    if isinstance(then, dict) and isinstance(now, dict):
        if len(then) != len(now):
            return False
        pairs = zip(then.items(), now.items(), strict=True)
        return all(_alike(k, m, fresh) and _alike(v, w, fresh) for (k, v), (m, w) in pairs)
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(_alike(v, w, fresh) for v, w in zip(then, now, strict=True))
    if same(then, now):
        return True
    if isinstance(then, str) and isinstance(now, str):
        old, new = _MADE.findall(then), _MADE.findall(now)
        fresh.update((was, made) for was, made in zip(old, new, strict=False) if was != made)
        return len(old) == len(new) > 0 and _MADE.sub("#", then) == _MADE.sub("#", now)
    numbers = [v for v in (then, now) if isinstance(v, int | float) and _EPOCH[0] < v < _EPOCH[1]]
    return len(numbers) == 2


def _renamed(value: Json, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {_renamed(key, names): _renamed(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, names) for part in value]
    return _MADE.sub(lambda found: names.get(found[0], found[0]), value) if isinstance(value, str) else value
