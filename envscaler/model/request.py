"""What is asked of a model and what comes back, in no provider's own words.

`ask` makes a `Request` of a prompt file; a `Model` turns it into a `Reply`; `reply` parses that. The
request's `key` names its content, never who is asked where or with which key, so a cache can be carried to
another machine. This module sends nothing and parses nothing.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np

from envscaler.schema import Json, Usage, canonical

Message = dict[str, Any]
"""One chat message in OpenAI form."""


@dataclass(frozen=True)
class Request:
    """One question to a model."""

    step: str
    """The prompt file it was rendered from, e.g. `tasks/judge`."""
    messages: tuple[Message, ...]
    """The chat so far, in OpenAI form."""
    schema: Mapping[str, Any] | None = None
    """JSON schema of a structured answer; None asks for plain text."""
    tools: tuple[dict[str, Any], ...] = ()
    """The tools an agent may call, in OpenAI form."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Temperature, max_tokens, seed, …, as the server names them."""
    sample: int = 0
    """Which of several answers to the same prompt this one is."""

    def key(self, model_name: str) -> str:
        """Sha256 of the content and the model's name: what the cache files the reply under."""
        content = {
            "model": model_name,
            "step": self.step,
            "messages": list(self.messages),
            "schema": dict(self.schema) if self.schema is not None else None,
            "tools": list(self.tools),
            "settings": dict(self.settings),
            "sample": self.sample,
        }
        return _hash_of(content).hexdigest()

    @property
    def characters(self) -> int:
        """How much is asked, tools and schema included."""
        spoken = sum(len(m["content"]) for m in self.messages if isinstance(m.get("content"), str))
        called = [m["tool_calls"] for m in self.messages if m.get("tool_calls")]
        rest = [called, self.schema, self.tools]
        return spoken + (len(json.dumps(rest, ensure_ascii=False, default=str)) if any(rest) else 0)

    def with_messages(self, *messages: Message) -> Self:
        """The same request with further messages at its end."""
        return replace(self, messages=(*self.messages, *messages))


def _hash_of(content: Json) -> "hashlib._Hash":
    # A message can hold half a surrogate pair that some server sent; it still needs a key.
    return hashlib.sha256(canonical(content).encode("utf-8", "surrogatepass"))


def generator_of(content: Json) -> np.random.Generator:
    """Chance that depends on a content and on nothing else, for models that choose their replies by lot."""
    return np.random.default_rng(list(_hash_of(content).digest()))


@dataclass(frozen=True)
class Reply:
    """What a model returned."""

    text: str
    """The answer, without the model's thinking."""
    reasoning: str = ""
    """The model's thinking, where the server or a `<think>` block tells it."""
    tool_calls: tuple[dict[str, Any], ...] = ()
    """Tool calls in OpenAI form; `arguments` is the JSON string as it came."""
    usage: Usage = field(default_factory=Usage)
    """What it cost; all zero when it came out of a cache."""
    finish: str = "stop"
    """Why the model ended: `stop`, `length`, `tool_calls`, …"""

    @property
    def characters(self) -> int:
        """How much the model wrote, thinking and calls included."""
        return len(self.text) + len(self.reasoning) + sum(len(json.dumps(call)) for call in self.tool_calls)


class Model(Protocol):
    """Whoever answers requests."""

    @property
    def name(self) -> str:
        """The name that records and the cache carry."""

    @property
    def workers(self) -> int:
        """How many threads may ask at once."""

    def answer(self, request: Request) -> Reply:
        """Answer one request; raises `ModelError` when that cannot be done."""


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
        return self.model.workers

    @property
    def prompts(self) -> Mapping[str, Any]:
        """The prompts that a recorded model brings along, by step."""
        return getattr(self.model, "prompts", {})

    def answer(self, request: Request) -> Reply:
        """Answer, and add up what it cost."""
        reply = self.model.answer(request)
        self.usage += reply.usage
        return reply


class Encoder(Protocol):
    """Whoever makes vectors of texts."""

    @property
    def name(self) -> str:
        """The name that figures carry."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """One row a text, float32, each of length 1."""
