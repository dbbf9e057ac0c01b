"""Solving: an agent's episode becomes a witness.

The calls of an episode that earned everything solve the task; they become a witness when those that were refused are
left out and values that came out of an earlier reply are written as references to it, so that it holds for other
generated ids too. How an episode goes is `episode`'s, whether the witness is proof is the certificate's. Nothing is
searched here beyond what the agent does.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from envscaler.agent import Agent
from envscaler.episode import roll_out
from envscaler.record import FROM, Json, canonical, read_loosely
from envscaler.schema import Call, Rollout, Scenario, Skeleton
from envscaler.world.witness import succeeded

TRIES = 2
"""Episodes an agent gets to solve a task."""
_LEAST_TEXT, _LEAST_NUMBER = 2, 10
"""Shorter texts and smaller numbers are alike by chance: they are no sign that one came from the other."""


def solve(skeleton: Skeleton, scenario: Scenario, agent: Agent, *, seed: int = 0) -> list[Call]:
    """Calls of an agent's episode that earned everything; empty when none of the episodes did.

    Args:
        skeleton: the world.
        scenario: the task with its checks; a witness is not needed.
        agent: who plays.
        seed: of the first; each has its own.
    """
    for number in range(TRIES):
        rollout = roll_out(skeleton, scenario, agent, seed=seed + number)
        if rollout.solved:
            return witness_of(rollout, scenario.task)
    return []


def witness_of(rollout: Rollout, task: str) -> list[Call]:
    """The calls of an episode that were accepted, with references for values that only a reply told.

    Args:
        rollout: the episode.
        task: what the agent was told; values that stand in it stay as they are.
    """
    kept = [(tool, arguments, reply) for tool, arguments, reply in calls_of(rollout) if succeeded(reply)]
    told: list[Json] = []
    witness: list[Call] = []
    for tool, arguments, reply in kept:
        known = f"{task}\n{canonical([call.arguments for call in witness])}"
        witness.append(
            Call(tool=tool, arguments={k: _referring(v, told, known) for k, v in arguments.items()})
        )
        told.append(reply)
    return witness


def calls_of(rollout: Rollout) -> Iterator[tuple[str, dict[str, Json], Json]]:
    """Tool, arguments and reply of each call of an episode; calls whose arguments cannot be read are left out."""
    replies = {m.get("tool_call_id"): m.get("content") for m in rollout.messages if m["role"] == "tool"}
    for message in rollout.messages:
        for call in message.get("tool_calls") or ():
            arguments = _read(call["function"]["arguments"])
            if isinstance(arguments, dict) and call["id"] in replies:
                yield call["function"]["name"], arguments, read_loosely(replies[call["id"]])


def _read(arguments: Any) -> Json:
    try:
        return json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError:
        return None


def _referring(value: Json, replies: Sequence[Json], known: str) -> Json:
    """The value, or a reference to where it was first told."""
    if isinstance(value, dict):
        return {key: _referring(part, replies, known) for key, part in value.items()}
    if isinstance(value, list):
        return [_referring(part, replies, known) for part in value]
    if re.search(rf"(?<![\w-]){re.escape(str(value))}(?![\w-])", known):
        return value
    number = where_told(value, replies)
    return value if number is None else {FROM: [number, *(_way_to(value, replies[number]) or [])]}


def where_told(value: Json, replies: Sequence[Json]) -> int | None:
    """The first reply that has this value in it, where the value is so much its own that this means something."""
    if not _telling(value):
        return None
    return next((number for number, reply in enumerate(replies) if _way_to(value, reply) is not None), None)


def _telling(value: Json) -> bool:
    """Whether a value is so much its own that to find it again means something."""
    if isinstance(value, str):
        return len(value) >= _LEAST_TEXT
    return not isinstance(value, bool) and isinstance(value, int | float) and abs(value) >= _LEAST_NUMBER


def _way_to(value: Json, inside: Json) -> list[str | int] | None:
    if type(inside) is type(value) and inside == value:
        return []
    parts: Any = (
        inside.items() if isinstance(inside, dict) else enumerate(inside) if isinstance(inside, list) else ()
    )
    for step, part in parts:
        if (way := _way_to(value, part)) is not None:
            return [step, *way]
    return None
