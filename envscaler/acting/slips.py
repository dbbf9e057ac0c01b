"""Messages that are neither an act nor an answer: empty ones, and those that the limit of their length cut short.

Servers and small models make them, and nobody means them. So they end nothing, and no user hears them: such a message
becomes a call of no tool whose arguments say what it was, and the agent is told. After `MOST_SLIPS` in a row the
episode is cut off, with the cause `agent`, and graded as it stands.
"""

from collections.abc import Mapping
from typing import Any

from envscaler.acting.user import without_thoughts
from envscaler.model.request import Message
from envscaler.schema import Json
from envscaler.scripted import tool_call
from envscaler.world.action import UNREADABLE

MOST_SLIPS = 3
"""In a row; who says nothing three times has nothing to say."""
_TOLD = {
    '{"message": "empty"}': "The message was empty: it called no tool and said nothing. Call a tool, or say what "
    "there is to say.",
    '{"message": "cut short"}': "The message was cut short by the limit of its length, so nobody got it. Call a tool, "
    "or say it in fewer words.",
}
"""What a call in the place of such a message has as arguments, and what the agent is told."""
_EMPTY, _CUT = _TOLD


def with_slip(message: Message, finish: Any, calls: int) -> Message:
    """The message, with a call of no tool where it reached nobody.

    Args:
        message: what the assistant said, in OpenAI form.
        finish: why its model ended, as servers call it; None where nobody says.
        calls: number of tool calls made before.
    """
    if message.get("tool_calls"):
        return message
    cut = finish == "length"
    if not cut and without_thoughts(message.get("content") or ""):
        return message
    return {**message, "tool_calls": [tool_call(calls, UNREADABLE, _CUT if cut else _EMPTY)]}


def slipped(action: Mapping[str, Any]) -> dict[str, Json]:
    """By id of a call that stands for such a message, what the agent is told; nothing where it is none."""
    functions = {call["id"]: call["function"] for call in action.get("tool_calls") or ()}
    slips = {
        name: f["arguments"]
        for name, f in functions.items()
        if f["name"] == UNREADABLE and f["arguments"] in _TOLD
    }
    return {name: {"success": False, "error": _TOLD[slip]} for name, slip in slips.items()}
