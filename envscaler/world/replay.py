"""Replaying a recorded episode, ours or anybody's: the same calls again, each reply held against the recorded one.

Every call falls into one class. `equal`: the same reply after parsing. `generated`: equal but for ids and times
that are made anew each time; what they were recorded as is from then on read as what they are now, in
arguments and in keys. `validated`: our schemas refuse what was let through then. `undone`: the tool raised,
and ours puts back what it had half changed. `follows`: differs after one of the last two, which may be why.
`different`: none of these, which wants an explanation. Nothing is judged beyond that.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from envscaler.schema import Call, Json, Scenario, Skeleton
from envscaler.world.change import same
from envscaler.world.environment import Environment

Class = Literal["equal", "generated", "validated", "undone", "follows", "different"]
_MADE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\b\w*[0-9a-fA-F]{6,}\w*\b"
)
"""Times, UUIDs, and words with six hex digits or more in a row."""
_EPOCH = (1.4e9, 2.2e9)
"""Numbers between these are taken for seconds since 1970 when both sides of a difference lie there."""


@dataclass(frozen=True)
class Replayed:
    """One call, then and now."""

    call: Call
    """As it was made now."""
    recorded: Json
    """The recorded reply, parsed."""
    reply: Json
    """The reply now."""
    kind: Class
    """How they compare."""


@dataclass(frozen=True)
class Replay:
    """A replayed episode."""

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
    renamed: dict[str, str] = {}
    made: list[Replayed] = []
    with Environment(skeleton, scenario, **{"max_steps": 10**6, **options}) as environment:
        environment.reset()
        for written, text in recorded:
            call = Call(tool=written.tool, arguments=_renamed(written.arguments, renamed))
            reply, then = environment.call(call.tool, call.arguments), parsed(text)
            kind = _compare(then, reply, renamed, environment.faults)
            follows = kind == "different" and any(c.kind in ("validated", "undone") for c in made)
            made.append(Replayed(call, then, reply, "follows" if follows else kind))
        return Replay(made, environment.finish()[1])


def parsed(text: Json) -> Json:
    """A recorded reply: JSON, the `repr` of a Python value, or just text."""
    if not isinstance(text, str):
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            return json.loads(json.dumps(read(text)))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return text


def _compare(then: Json, now: Json, renamed: dict[str, str], faults: Sequence[Json]) -> Class:
    if same(then, now):
        return "equal"
    if faults:
        return "undone"
    fresh: dict[str, str] = {}
    if _alike(_renamed(then, renamed), now, fresh):
        renamed.update(fresh)
        return "generated"
    refused = isinstance(now, dict) and now.get("success") is False
    return "validated" if refused and _ours(str(now.get("error"))) else "different"


def _ours(error: str) -> bool:
    """Whether a refusal is the validation's, not the tool's."""
    return bool(
        re.match(r"There is no tool|\w+: The (argument|arguments|parameter)|\w+: There is no argument", error)
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
        fresh.update(zip(old, new, strict=False))
        return len(old) == len(new) > 0 and _MADE.sub("#", then) == _MADE.sub("#", now)
    numbers = [v for v in (then, now) if isinstance(v, int | float) and _EPOCH[0] < v < _EPOCH[1]]
    return len(numbers) == 2


def _renamed(value: Json, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {_renamed(key, names): _renamed(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, names) for part in value]
    return _MADE.sub(lambda found: names.get(found[0], found[0]), value) if isinstance(value, str) else value
