"""The stand-in in an episode: as the acting agent (`rollouts/act`, `act_schema`, `act_text`) and as the user
(`rollouts/user`).

The agent reads what the user has said so far for sentences it understands, plans their calls, and takes ids
and other values out of the replies it got. What it did is read from the chat each time; it keeps no memory.
A look-up that comes back empty or refused leaves the calls that need it undone, and it says so. The user
reveals its task sentence by sentence.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from envscaler.model.builtin.build import World
from envscaler.model.builtin.pattern import Goal, Rng
from envscaler.model.builtin.phrase import Slots
from envscaler.model.builtin.poser import joined_plan
from envscaler.model.builtin.recall import need, read, world_with
from envscaler.record import map_references, read_loosely

Message = Mapping[str, Any]

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_CHOICE = re.compile(r'^\{"action": \{"tool": ', re.MULTILINE)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")


class Turn(NamedTuple):
    """What the agent does next: one call, or what it says."""

    call: dict[str, Any] | None
    text: str


def act(blocks: Mapping[str, str], messages: Sequence[Message], tools: Sequence[Message], rng: Rng) -> Turn:
    """The next turn of an agent with function calling."""
    names = " ".join(str(tool.get("function", tool).get("name")) for tool in tools)
    return _next(_world(blocks, names), messages, _replies(messages))


def act_schema(blocks: Mapping[str, str], messages: Sequence[Message], rng: Rng) -> str:
    """The next turn of an agent that answers by a schema of its tools."""
    turn = _text_turn(blocks, messages, _CHOICE)
    call = turn.call and {"tool": turn.call["name"], "arguments": turn.call["arguments"]}
    thought = "A planned call is open." if call else "There is nothing left to call."
    return json.dumps({"thought": thought, "action": call or {"say": turn.text}}, ensure_ascii=False)


def _text_turn(blocks: Mapping[str, str], messages: Sequence[Message], called: re.Pattern[str]) -> Turn:
    world = _world(blocks, need(blocks, "tools"))
    said = [m for m in messages if not _is_response(m)]
    asked = sum(len(called.findall(_text(m))) for m in messages[1:] if m.get("role") == "assistant")
    replies = [read_loosely(r) for m in messages if _is_response(m) for r in _RESPONSE.findall(_text(m))]
    return _next(world, said, replies[:asked])


def act_text(blocks: Mapping[str, str], messages: Sequence[Message], rng: Rng) -> str:
    """The next turn of an agent that writes its calls as text."""
    turn = _text_turn(blocks, messages, _CALL)
    return (
        f"<tool_call>\n{json.dumps(turn.call, ensure_ascii=False)}\n</tool_call>" if turn.call else turn.text
    )


def user(blocks: Mapping[str, str], rng: Rng, fault_rate: float) -> dict[str, Any]:
    """The user's next message: the next sentences of the task that were not said yet."""
    sentences = _SENTENCE.split(need(blocks, "task").strip())
    dialogue = read(blocks, "dialogue")
    said = "\n".join(str(turn.get("content", "")) for turn in dialogue if turn.get("role") == "user")
    left = [sentence for sentence in sentences if sentence not in said]
    if not left:
        return {
            "thought": "All has been said and answered.",
            "message": "Thank you, that was all.",
            "done": True,
        }
    first = 2 if not dialogue else 1
    thought = f"{len(sentences) - len(left)} of {len(sentences)} sentences were said."
    return {"thought": thought, "message": " ".join(left[:first]), "done": False}


def _world(blocks: Mapping[str, str], names: str) -> World:
    from_rules = need(blocks, "rules")
    return world_with(f"{need(blocks, 'summary')} {from_rules}", names)


def _next(world: World, messages: Sequence[Message], replies: list[Any]) -> Turn:
    wishes = "\n".join(_text(m) for m in messages if m.get("role") == "user")
    goals: list[tuple[Goal, Slots]] = []
    for goal, slots, _ in world.read(wishes):
        if (goal, slots) not in goals:
            goals.append((goal, slots))
    if not goals:
        return Turn(None, "I am sorry, I do not see in this what I should do. What exactly is to be changed?")
    return _follow(joined_plan(goals), replies)


def _follow(plan: list[dict[str, Any]], replies: list[Any]) -> Turn:
    """The first planned call that was not made yet, references filled in; those that cannot be are passed over."""
    made: list[Any] = []
    waiting = list(replies)
    for call in plan:
        try:
            arguments = map_references(call["arguments"], lambda way: reduce(getitem, way, made))
        except (LookupError, TypeError):
            made.append(None)
            continue
        if not waiting:
            return Turn({"name": call["tool"], "arguments": arguments}, "")
        made.append(waiting.pop(0))
    return Turn(None, _report(made))


def _report(made: list[Any]) -> str:
    done = [r["message"] for r in made if isinstance(r, dict) and r.get("success") and "message" in r]
    refused = [str(r.get("error")) for r in made if isinstance(r, dict) and r.get("success") is False]
    lines = [*(f"- {text}" for text in done), *(f"- This was refused: {text}" for text in refused)]
    if None in made:
        lines.append("- Some of it could not be done, because a look-up found nothing.")
    return "\n".join(["This is what I did:", *lines, "Is there anything else?"])


def _replies(messages: Sequence[Message]) -> list[Any]:
    return [read_loosely(_text(message)) for message in messages if message.get("role") == "tool"]


def _is_response(message: Message) -> bool:
    return message.get("role") == "user" and _text(message).lstrip().startswith("<tool_response>")


def _text(message: Message) -> str:
    return str(message.get("content") or "")
