"""Who acts in an episode: agents that ask a model, one for each way a server can be asked.

An agent is anything with a `name` and one method `act(messages, tools, *, seed)` that returns one assistant
message in OpenAI form (text, or `tool_calls` whose arguments are a JSON string); it must be a pure function
of what it is shown, so that the model's cache can stand in for it. `ToolAgent` uses a server's own function
calling, `SchemaAgent` chooses by a JSON schema that the server enforces, `PromptAgent` writes its calls as text.
Agents that ask no model are in `scripted`, the user they talk to in `acting.user`.

This module neither runs the loop (`episode`) nor validates a call: the environment answers a malformed one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

from envscaler.acting.choosing import choice_as_text, choice_schema, read_choice
from envscaler.acting.messages import calls_so_far
from envscaler.acting.wording import Said, as_text, parse_calls
from envscaler.model.ask import chat
from envscaler.model.request import Message, Model, Reply
from envscaler.scripted import function_of, tool_call

TEMPERATURE = 0.7
"""Of agents and users (PAPER 5)."""


@runtime_checkable
class Agent(Protocol):
    """Whoever chooses actions.

    An agent that has a method `prepared(scenario, seed) -> Agent` instead is told the scenario first: an
    instrument. Optional attributes: `step` names the prompt file of its system message, `model` and `sampling` (a
    dict) stand in the origin of its rollouts. What its code raises fails the episode, with the cause `agent`.
    """

    name: str

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Choose the next action; one with a `finish_reason` of "length" and no call was cut short.

        Args:
            messages: the exchange so far in OpenAI form, the system message first.
            tools: the tools' schemas in OpenAI form.
            seed: seed of every random choice.
        """
        ...


@dataclass(frozen=True)
class _ModelAgent:
    """An agent that is a model; how it is asked is its kind's.

    Args:
        model: who is asked.
        name: what the agent is called; default the model's name, and how it is asked.
        settings: sampling settings, as the server names them.
        step: the prompt file of its system message.
        temperature: of its sampling; None leaves it to the server. A server that refuses one is asked without.
    """

    model: Model
    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    step: str = ""
    temperature: float | None = TEMPERATURE

    way: ClassVar[str] = ""
    home: ClassVar[str] = "rollouts/act"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or f"{self.model.name}{self.way}")
        object.__setattr__(self, "step", self.step or self.home)

    @property
    def sampling(self) -> dict[str, Any]:
        """Every setting that goes with a request."""
        warm = {} if self.temperature is None else {"temperature": self.temperature}
        return {**warm, **self.settings}

    def _ask(self, messages: Sequence[Message], seed: int, **asked: Any) -> Reply:
        return chat(self.model, self.step, messages, sample=seed, settings=self.sampling, **asked)


@dataclass(frozen=True)
class ToolAgent(_ModelAgent):
    """An agent that is a model with function calling."""

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Ask the model for the next message."""
        shown = [{k: v for k, v in message.items() if k != "reasoning_content"} for message in messages]
        reply = self._ask(shown, seed, tools=[dict(tool) for tool in tools])
        message = _message(Said(reply.text, "", ()), reply, messages)
        return {**message, "tool_calls": [dict(c) for c in reply.tool_calls]} if reply.tool_calls else message


@dataclass(frozen=True)
class SchemaAgent(_ModelAgent):
    """An agent that is a model whose server enforces a JSON schema, but knows no function calling.

    It chooses one of the tools, or words, at each message. Where the server enforces no schema either, the same
    answer is asked for as a JSON object, or in words.
    """

    way: ClassVar[str] = " (schema)"
    home: ClassVar[str] = "rollouts/act_schema"

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Ask the model for its choice."""
        reply = self._ask(as_text(messages, choice_as_text), seed, schema=choice_schema(tools))
        said = read_choice(reply.text, tools)
        # A choice that could be read is whole, whatever came behind it.
        whole = said.text != reply.text.strip()
        return _message(said, replace(reply, finish="stop") if whole else reply, messages)


@dataclass(frozen=True)
class PromptAgent(_ModelAgent):
    """An agent that is a model without function calling: tools stand in the prompt, calls in the text."""

    way: ClassVar[str] = " (prompt)"
    home: ClassVar[str] = "rollouts/act_text"

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Ask the model for the next message and read the calls out of its text."""
        reply = self._ask(as_text(messages), seed)
        names = {function_of(tool)["name"] for tool in tools}
        return _message(parse_calls(reply.text, names), reply, messages)


def _message(said: Said, reply: Reply, messages: Sequence[Message]) -> Message:
    """What was read out of a text as a message in OpenAI form; its calls are numbered on."""
    message: Message = {"role": "assistant", "content": said.text or None, "usage": reply.usage}
    message["finish_reason"] = reply.finish
    if said.calls:
        earlier = calls_so_far(messages)
        message["tool_calls"] = [tool_call(earlier + i, *call) for i, call in enumerate(said.calls)]
    reasoning = "\n".join(filter(None, (reply.reasoning, said.reasoning)))
    return {**message, "reasoning_content": reasoning} if reasoning else message
