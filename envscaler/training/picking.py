"""Which episodes are worth imitating: the paper's filters, what broke told apart, and the reward.

Nothing is dropped in silence: whatever is left out is a failure that names its filter. Nothing is written here.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from envscaler.given import many
from envscaler.model.request import Message
from envscaler.schema import Failure, Json, Rollout
from envscaler.show.stats import funnel
from envscaler.store import Records
from envscaler.world.action import UNREADABLE

TURNS = {False: (3, 29), True: (5, 39)}
"""Least and most assistant messages, without and with a conversation (PAPER 6.1)."""
FILTERS = ("infrastructure", "format", "turns", "ending", "reward")
"""What an episode is left out for, in the order asked."""


def pick_trajectories(
    rollouts: Iterable[Rollout],
    *,
    reward: float | None = 1.0,
    turns: Mapping[bool, tuple[int, int]] = TURNS,
    reasoning: bool = False,
) -> Records[Rollout]:
    """The episodes worth imitating; a failure for each other one, its `error` the first of `FILTERS` that it fell to.

    1. infrastructure: the model, the environment or a check broke; says nothing about the agent.
    2. format: every assistant message has calls that can be read or something to say, and no mark of a thought or a
       call is left in its text.
    3. turns: the number of assistant messages is within bounds.
    4. ending: the agent finished or the user stopped; nobody cut it off.
    5. reward: it earned enough. The paper has no such filter.

    Args:
        rollouts: what was played.
        reward: the least to have earned; None keeps whatever was earned, also nothing, and what was not graded.
        turns: least and most assistant messages, without (False) and with a conversation (True).
        reasoning: whether every assistant message must have its thought, as the paper's thinking teacher's had.
    """
    kept: Records[Rollout] = Records()
    for rollout in many(rollouts, Rollout):
        objections = _objections(rollout, reward, turns[rollout.conversation], reasoning)
        first = next(((name, why) for name, why in zip(FILTERS, objections, strict=True) if why), None)
        if first is None:
            kept.append(rollout)
        else:
            kept.failures.append(left_out(rollout, *first))
    return kept


def filter_funnel(picked: Records[Rollout]) -> pd.DataFrame:
    """How many episodes each filter of `pick_trajectories` has left, in order, with shares (see `stats.funnel`)."""
    fallen = [failure.error for failure in picked.failures]
    left = len(picked) + len(fallen)
    counts = {"rollouts": left}
    for name in FILTERS:
        counts[name] = left = left - fallen.count(name)
    return funnel(counts)


def _objections(
    rollout: Rollout, least: float | None, bounds: tuple[int, int], reasoning: bool
) -> Iterator[str]:
    """What each of `FILTERS` has against it, in words; empty where it has nothing."""
    broke = rollout.cause or ("model or environment" if rollout.ending == "failed" else "")
    # An agent that said nothing again and again disturbed nobody; it falls to its format.
    broke = "" if (broke, rollout.ending) == ("agent", "truncated") else broke
    yield f"Expected an episode that was not disturbed, but this broke: {broke}." if broke else ""
    said = [message for message in rollout.messages if message.get("role") == "assistant"]
    faults = ((number, _malformed(message, reasoning)) for number, message in enumerate(said, start=1))
    yield next((f"Assistant message {number} {why}." for number, why in faults if why), "")
    low, high = bounds
    within = low <= len(said) <= high
    yield "" if within else f"Expected {low} to {high} assistant messages, got {len(said)}."
    ended = rollout.ending in ("finished", "stopped")
    yield "" if ended else f"Expected an end by agent or user, got {rollout.ending!r}."
    earned = rollout.reward
    enough = least is None or (earned is not None and earned >= least - 1e-9)
    yield "" if enough else f"Expected a reward of {least:g} or more, got {earned}."


def _malformed(message: Message, reasoning: bool) -> str:
    calls, text = message.get("tool_calls") or [], str(message.get("content") or "")
    if any(read_call(call) is None for call in calls):
        return "has a call that cannot be read"
    if mark := re.search(r"</?think>|</?tool_call>", text):
        return f"has the mark {mark[0]} left in its text"
    if not calls and not text.strip():
        return "says and does nothing"
    return "has no thought" if reasoning and not message.get("reasoning_content") else ""


def read_call(call: Any) -> tuple[str, dict[str, Json]] | None:
    """Name and arguments of a call; None where it is not one that can be read."""
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or name in ("", UNREADABLE):
        return None
    arguments = function.get("arguments")
    try:
        value = json.loads(arguments, parse_constant=_refused) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return None
    return (name, value) if isinstance(value, dict) else None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON.")


def left_out(rollout: Rollout, error: str, message: str) -> Failure:
    """The row that stands for an episode that was left out."""
    return Failure(stage="training", parent_id=rollout.id, error=error, message=message)
