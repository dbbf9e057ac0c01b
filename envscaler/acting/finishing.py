"""The tool `finish`, with which an agent can be asked to end its work: no world has it, the episode does.

It is declared to the agent beside the world's tools and answered here; the environment never hears of it. Calls
that come before it in a message are made, those that come after it are not.
"""

import copy
import json
from typing import Any

from envscaler.model.request import Message
from envscaler.schema import Json, Tool
from envscaler.world.arguments import ArgumentsOf

FINISH = Tool(
    name="finish",
    description="End the work. Call it once all that was asked for is done, or has been found to be impossible; "
    "nothing can be done afterwards.",
    parameters={
        "type": "object",
        "properties": {
            "report": {
                "type": "string",
                "description": "What was done, with the ids and values that matter, and what could not be done.",
            }
        },
        "required": ["report"],
        "additionalProperties": False,
    },
    mutates=False,
)
_ENDED = {"success": True, "message": "The work is over."}
_LATE = {"success": False, "error": "The work is over; this call was not made."}


def finished(action: Message) -> tuple[Message, dict[str, Json], bool]:
    """An action without what comes after a valid `finish`, the replies that are not the world's, and whether it ends.

    Returns:
        the action as the environment gets it (a `finish` in it is an unknown tool there, and counts as a step);
        by id of a call the reply that is given in the place of the environment's; whether the work is over.
    """
    calls: list[dict[str, Any]] = action.get("tool_calls") or []
    replies: dict[str, Json] = {}
    for place, call in enumerate(calls):
        if call["function"]["name"] != FINISH.name:
            continue
        _, wrong = ArgumentsOf(FINISH).read(call["function"]["arguments"])
        if not wrong:
            late = {other["id"]: _LATE for other in calls[place + 1 :]}
            made = {**action, "tool_calls": calls[: place + 1]}
            return made, {**replies, call["id"]: _ENDED, **late}, True
        replies[call["id"]] = {"success": False, "error": f"{FINISH.name}: {wrong}"}
    return action, replies, False


def answered(action: Message, observation: Json, replies: dict[str, Json]) -> Json:
    """What the agent is told: the environment's replies, ours in the place of some, in the order of the calls."""
    if not replies or not isinstance(observation, list):
        return observation
    told = {message["tool_call_id"]: message for message in copy.deepcopy(observation)}
    for call_id, reply in replies.items():
        told[call_id] = {
            "role": "tool",
            "tool_call_id": call_id,
            "content": json.dumps(reply, ensure_ascii=False),
        }
    return [told[call["id"]] for call in action["tool_calls"]]
