"""The user of a conversation: a model that holds the task and reveals it piece by piece.

It never sees a tool message, and what it thinks goes nowhere. What it does wrong nevertheless, `user_faults` finds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from envscaler.error import ReplyError
from envscaler.model.ask import ask
from envscaler.model.request import Model
from envscaler.schema import Part


class UserTurn(Part):
    """What the user simulator answers."""

    thought: str
    """What is settled, what is open, what to say next; nobody else reads it."""
    message: str
    """What the user types."""
    done: bool = Field(strict=True)
    """Whether the user leaves."""


@dataclass(frozen=True)
class UserSimulator:
    """The other speaker of a conversation: a model that holds the task and reveals it piece by piece."""

    model: Model
    task: str
    seed: int = 0
    temperature: float | None = None
    """Of its sampling; None leaves it to the server."""

    def speak(self, dialogue: Sequence[Mapping[str, str]]) -> UserTurn:
        """The user's next turn; the message is cleaned of everything a user does not type.

        Args:
            dialogue: what user and assistant said, as `{"role", "content"}`; empty at the opening.

        Raises:
            ReplyError: the user has nothing to say and yet does not leave, or leaves before anybody spoke.
        """
        turn = ask(
            self.model,
            "rollouts/user",
            {"task": self.task, "dialogue": list(dialogue)},
            UserTurn,
            sample=self.seed,
            settings={} if self.temperature is None else {"temperature": self.temperature},
        )
        message = as_typed(turn.message)
        if not message and not (turn.done and dialogue):
            raise ReplyError(
                f"Expected the user simulator {self.model.name!r} to speak, got {turn.message!r} with done="
                f"{turn.done} after {len(dialogue)} messages. Use a stronger model for the user."
            )
        # Nobody is done before they have said what they want.
        return UserTurn(thought=turn.thought, message=message, done=turn.done and bool(dialogue))


_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_SPEAKER = re.compile(r"\A[\s#*\[]*(?:user|customer|human|reply)[\]*]*\s*:[*\s]*", re.IGNORECASE)
_OTHER = re.compile(r"^[\s#*\[]*assistant[\]*]*\s*:", re.IGNORECASE | re.MULTILINE)
_THOUGHT_LINE = re.compile(
    r"\A[\s#*]*(?:thought|thinking)[*]*\s*:.*?(?=^[\s#*]*reply[*]*\s*:|\Z)", re.I | re.S | re.M
)


def without_thoughts(text: str) -> str:
    """A text without its `<think>` parts; of an unopened one everything up to its end is thought."""
    _, closed, after = text.rpartition("</think>") if "<think>" not in text else ("", "", "")
    return _THOUGHTS.sub("", after if closed else text).strip()


def as_typed(text: str) -> str:
    """What a user types, out of what a model wrote: no thoughts, no role, no one else's lines, no signals."""
    text = _THOUGHT_LINE.sub("", without_thoughts(text))
    text = _SPEAKER.sub("", text)
    if other := _OTHER.search(text):
        text = text[: other.start()]
    return text.replace("###STOP###", "").strip()
