"""Who acts in an episode, and who talks to them: agents that ask a model, and the user simulator.

An agent is anything with a `name` and one method `act(messages, tools, *, seed)` that returns one assistant
message in OpenAI form (text, or `tool_calls` whose arguments are a JSON string); it must be a pure function
of what it is shown, so that the model's cache can stand in for it. `ToolAgent` uses a server's own function
calling, `PromptAgent` writes its calls as text. The user simulator holds the task and never sees a tool message.
Agents that ask no model are in `scripted`.

This module neither runs the loop (`episode`) nor validates a call: the environment answers a malformed one.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import Field

from envscaler.error import ReplyError
from envscaler.model.ask import ask, chat
from envscaler.model.request import Message, Model, Reply, Request
from envscaler.schema import Json, Part, Usage
from envscaler.scripted import UNREADABLE, tool_call


@runtime_checkable
class Agent(Protocol):
    """Whoever chooses actions.

    An agent that has a method `prepared(scenario, seed) -> Agent` instead is told the scenario first: an
    instrument. An optional attribute `step` names the prompt file of its system message.
    """

    name: str

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Choose the next action.

        Args:
            messages: the exchange so far in OpenAI form, the system message first.
            tools: the tools' schemas in OpenAI form.
            seed: seed of every random choice.
        """
        ...


@dataclass(frozen=True)
class ToolAgent:
    """An agent that is a model with function calling."""

    model: Model
    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    step: str = "rollouts/act"

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.model.name)

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Ask the model for the next message."""
        shown = [{k: v for k, v in message.items() if k != "reasoning_content"} for message in messages]
        reply = chat(
            self.model,
            self.step,
            shown,
            [dict(tool) for tool in tools],
            sample=seed,
            settings=dict(self.settings),
        )
        message: Message = {"role": "assistant", "content": reply.text or None, "usage": reply.usage}
        if reply.tool_calls:
            message["tool_calls"] = [dict(call) for call in reply.tool_calls]
        return _with_reasoning(message, reply.reasoning)


@dataclass(frozen=True)
class PromptAgent:
    """An agent that is a model without function calling: tools stand in the prompt, calls in the text."""

    model: Model
    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    step: str = "rollouts/act_text"

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", f"{self.model.name} (prompt)")

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Ask the model for the next message and read the calls out of its text."""
        reply = chat(self.model, self.step, as_text(messages), (), sample=seed, settings=dict(self.settings))
        said = parse_calls(reply.text)
        message: Message = {"role": "assistant", "content": said.text or None, "usage": reply.usage}
        if said.calls:
            earlier = sum(len(m.get("tool_calls") or ()) for m in messages)
            message["tool_calls"] = [tool_call(earlier + i, *call) for i, call in enumerate(said.calls)]
        return _with_reasoning(message, "\n".join(filter(None, (reply.reasoning, said.reasoning))))


def _with_reasoning(message: Message, reasoning: str) -> Message:
    return {**message, "reasoning_content": reasoning} if reasoning else message


# Calls as text


@dataclass(frozen=True)
class Said:
    """What a text says: to the user, to itself, and to the tools."""

    text: str
    reasoning: str
    calls: tuple[tuple[str, str], ...]
    """(name, arguments as a JSON text); where the JSON is malformed, what can be made out of it."""


_MARK = re.compile(r"<think>|</think>|<tool_call>")
_CLOSE = re.compile(r"\s*</tool_call>")
_FENCE = re.compile(r"\s*(?:```(?:json)?)?\s*")


def parse_calls(text: str) -> Said:
    """Read `<tool_call>{"name": …, "arguments": …}</tool_call>` out of a text, and its `<think>` part.

    Marks inside a JSON string are part of the string. A call that is no JSON is kept as it stands, so that
    the environment can answer it with what is wrong.
    """
    spoken: list[str] = []
    thought: list[str] = []
    calls: list[tuple[str, str]] = []
    here = 0
    while mark := _MARK.search(text, here):
        spoken.append(text[here : mark.start()])
        if mark[0] == "<think>":
            inner, _, _ = text[mark.end() :].partition("</think>")
            thought.append(inner)
            here = min(len(text), mark.end() + len(inner) + len("</think>"))
        elif mark[0] == "</think>":
            # A template has opened the thinking before the text began: all before it was thought, calls
            # included.
            thought.append(text[: mark.start()])
            spoken, calls, here = [], [], mark.end()
        else:
            found, here = _calls_from(text, mark.end())
            calls.extend(found)
    spoken.append(text[here:])
    return Said("".join(spoken).strip(), "\n".join(t.strip() for t in thought), tuple(calls))


def _calls_from(text: str, start: int) -> tuple[list[tuple[str, str]], int]:
    """The calls of one mark, and where the text goes on after it."""
    calls: list[tuple[str, str]] = []
    here = _skip(_FENCE, text, start)
    while here < len(text) and text[here] in "{[":
        try:
            value, here = json.JSONDecoder().raw_decode(text, here)
        except (ValueError, RecursionError):
            break
        calls.extend(_call_of(item) for item in (value if isinstance(value, list) else [value]))
        here = _skip(_FENCE, text, here)
    if calls and (close := _CLOSE.match(text, here)):
        return calls, close.end()
    if calls and (here >= len(text) or text.startswith("<tool_call>", here)):
        return calls, here
    end = re.compile(r"</?tool_call>").search(text, here)
    body = text[here : end.start() if end else len(text)]
    after = len(text) if end is None else end.end() if end[0] == "</tool_call>" else end.start()
    return [*calls, _broken_call(body)], after


def _skip(pattern: re.Pattern[str], text: str, here: int) -> int:
    found = pattern.match(text, here)
    return found.end() if found else here


def _call_of(value: Json) -> tuple[str, str]:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return UNREADABLE, json.dumps(value, ensure_ascii=False)
    arguments = value.get("arguments", value.get("parameters", {}))
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return value["name"], text


def _broken_call(body: str) -> tuple[str, str]:
    name = re.search(r'"name"\s*:\s*"([^"\\]*)"', body)
    arguments = re.search(r'"arguments"\s*:\s*(.*)\Z', body, re.DOTALL)
    return (name[1] if name else "") or UNREADABLE, (arguments[1] if arguments else body).strip()


def as_text(messages: Sequence[Message]) -> list[Message]:
    """The exchange for a model without function calling: calls and tool replies written out as text."""
    written: list[Message] = []
    for message in messages:
        if message["role"] == "tool":
            reply = f"<tool_response>\n{_unmarked(message.get('content'))}\n</tool_response>"
            if written and written[-1].get("replies"):
                written[-1]["content"] += f"\n{reply}"
            else:
                written.append({"role": "user", "content": reply, "replies": True})
        elif message["role"] == "assistant":
            written.append({"role": "assistant", "content": _written(message)})
        else:
            written.append({"role": message["role"], "content": message.get("content") or ""})
    return [{"role": m["role"], "content": m["content"]} for m in written]


def _written(message: Message) -> str:
    parts = [message["content"]] if message.get("content") else []
    for call in message.get("tool_calls") or ():
        name = json.dumps(call["function"]["name"], ensure_ascii=False)
        parts.append(
            f'<tool_call>\n{{"name": {name}, "arguments": {call["function"]["arguments"]}}}\n</tool_call>'
        )
    return "\n".join(parts)


def _unmarked(content: Any) -> str:
    # `\/` is the same character to a JSON reader, and keeps a reply from closing its own mark.
    return str(content or "").replace("</tool_response>", "<\\/tool_response>")


# The user


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


@dataclass
class Metered:
    """A model that counts what it costs; `ask` gives back answers without their price."""

    model: Model
    usage: Usage = field(default_factory=Usage)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def workers(self) -> int:
        """As many as the model's."""
        return getattr(self.model, "workers", 1)

    def answer(self, request: Request) -> Reply:
        """Answer, and add up what it cost."""
        reply = self.model.answer(request)
        self.usage += reply.usage
        return reply
