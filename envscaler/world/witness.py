"""Playing a witness: the tool calls that solve a task, with values that are only known while it runs.

An argument may be `{"$from": [i, path…]}`: a value out of the i-th call's reply, looked up at execution, so
that a witness holds for generated ids too. This module executes and reports; it does not grade (`check`) or
judge (`certificate`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from envscaler.error import ParameterError
from envscaler.record import FROM, map_references
from envscaler.schema import Call, Json
from envscaler.world.change import Diff, copied
from envscaler.world.environment import Environment


@dataclass(frozen=True)
class Played:
    """What happened when a witness was played."""

    replies: list[Json]
    """One reply a call."""
    calls: list[Call]
    """The calls with their references resolved; as written where one could not be."""
    diffs: list[Diff]
    """What each call changed."""
    refused: int | None
    """Place of the first call that did not succeed; None when all did."""


def resolve(call: Call, replies: Sequence[Json]) -> Call:
    """The call with every reference replaced by the value it stands for.

    Raises:
        ParameterError: a reference leads nowhere.
    """
    put = partial(follow, replies=replies)
    return Call(tool=call.tool, arguments={k: map_references(v, put) for k, v in call.arguments.items()})


def follow(way: Json, replies: Sequence[Json]) -> Json:
    """The value a reference stands for; raises `ParameterError` when it leads nowhere."""
    if not isinstance(way, list) or not way or isinstance(way[0], bool) or not isinstance(way[0], int):
        raise ParameterError(f"Expected {FROM} to be [number of a call, path…], got {way!r}.")
    at: Any = replies
    for place, step in enumerate(way):
        try:
            inside = at[step] if isinstance(at, dict) or (isinstance(step, int) and step >= 0) else None
        except (KeyError, IndexError, TypeError):
            inside = None
        if inside is None:
            raise ParameterError(f"The reference {way!r} leads nowhere at step {place} ({step!r}).")
        at = inside
    return copied(at)


def play(environment: Environment, witness: Sequence[Call]) -> Played:
    """Make the calls of a witness in order, whatever they reply."""
    replies: list[Json] = []
    calls: list[Call] = []
    diffs: list[Diff] = []
    refused: int | None = None
    for place, written in enumerate(witness):
        try:
            call = resolve(written, replies)
            reply = environment.call(call.tool, call.arguments)
            changed = environment.diff
        except ParameterError as error:
            call, reply, changed = written, {"success": False, "error": str(error)}, {}
        replies.append(reply)
        calls.append(call)
        diffs.append(changed)
        if refused is None and not succeeded(reply):
            refused = place
    return Played(replies, calls, diffs, refused)


def succeeded(reply: Json) -> bool:
    """Whether a reply says that its call was done."""
    return not isinstance(reply, dict) or reply.get("success") is not False
