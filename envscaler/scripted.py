"""Agents that follow a script: instruments of known skill, to measure environments and rewards with.

The witness plays the calls that solve the scenario, the careless one the same calls with seeded slips, the
random one valid calls at random, the idle one nothing. They ask no model, so whatever spread their rewards
show is the environment's and the checks' doing. Each is a pure function of the messages it is shown; the
first two have to be `prepared` with the scenario, whose witness no real agent may see. Nothing here is a
result about an agent.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from envscaler.error import ParameterError
from envscaler.model.request import Message
from envscaler.record import map_references, references
from envscaler.schema import Json, Scenario, digest, read_loosely
from envscaler.world.witness import follow

Slip = Literal["skip", "value", "entity", "argument", "repeat", "stop"]
SLIPS: tuple[Slip, ...] = ("skip", "value", "entity", "argument", "repeat", "stop")

DONE = "Everything you asked for is done."
PART_DONE = "That part is done. What else can I do for you?"
ACTIONS_AT_MOST = 20
"""A script longer than this puts several calls into one message, so that it stays below the step limits."""


@dataclass(frozen=True)
class Move:
    """One call of a script: which call of the witness, and with which slip."""

    call: int
    slip: Slip | None = None


@dataclass(frozen=True)
class IdleAgent:
    """Says that all is done and does nothing; a reward that pays it is broken."""

    name: str = "idle"

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Claim to be done."""
        return say(DONE)


@dataclass(frozen=True)
class WitnessAgent:
    """Plays the scenario's witness; where the certificate is valid it earns 1."""

    name: str = "witness"

    def prepared(self, scenario: Scenario, seed: int) -> "Player":
        """The agent that plays this scenario."""
        return Player(self.name, scenario, tuple(Move(i) for i in range(len(scenario.witness))), seed)


@dataclass(frozen=True)
class CarelessAgent:
    """Plays the witness, but slips at each call with probability `rate`; all kinds of slips are as likely.

    It skips the call, gives a wrong value of the right type, takes another entity, adds an argument that does
    not exist and then corrects itself, makes the call twice, or stops for good.
    """

    rate: float
    name: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ParameterError(f"Expected a rate between 0 and 1, got {self.rate!r}.")
        if not self.name:
            object.__setattr__(self, "name", f"careless-{self.rate:g}")

    def prepared(self, scenario: Scenario, seed: int) -> "Player":
        """The agent that plays this scenario, its slips drawn from `seed` and the scenario's id."""
        rng = np.random.default_rng([seed, int(scenario.id, 16)])
        return Player(self.name, scenario, tuple(_slipping(len(scenario.witness), self.rate, rng)), seed)


def _slipping(calls: int, rate: float, rng: np.random.Generator) -> Iterator[Move]:
    for call in range(calls):
        # Both numbers are drawn at every call, so that a higher rate slips wherever a lower one does.
        chance, kind = rng.random(), SLIPS[rng.integers(len(SLIPS))]
        slip = kind if chance < rate else None
        if slip == "stop":
            return
        if slip in ("argument", "value", "entity"):
            yield Move(call, slip)
        if slip in (None, "argument", "repeat"):
            yield Move(call)
        if slip == "repeat":
            yield Move(call, "repeat")


@dataclass(frozen=True)
class Player:
    """An agent with a script for one scenario; how far it has come it reads off the messages."""

    name: str
    scenario: Scenario
    moves: tuple[Move, ...]
    seed: int = 0

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Make the next call or calls of the script, or report."""
        replies = replies_of(messages)
        here, until = len(replies), self._target(messages)
        stop = min(until, here + -(-len(self.moves) // ACTIONS_AT_MOST))
        calls: list[tuple[str, dict[str, Json]]] = []
        for place in range(here, stop):
            if place > here and self._waits(place, here):
                break
            calls.append(self._call(place, replies, tools))
        if calls:
            return act_on(calls, first=here)
        return say(DONE if here >= len(self.moves) else PART_DONE)

    def _target(self, messages: Sequence[Message]) -> int:
        """How many moves to have made by now: all of them, or in a conversation the share told so far."""
        told = [str(m.get("content") or "") for m in messages if m["role"] == "user"]
        if self.scenario.task in told:
            return len(self.moves)
        wanted = set(re.findall(r"\w+", self.scenario.task.lower()))
        covered = len(wanted & set(re.findall(r"\w+", " ".join(told).lower()))) / (len(wanted) or 1)
        # A user who puts things in other words never covers all of the task, so the turns count as well.
        share = 1.0 if covered >= 0.8 else max(covered, len(told) / 4)
        return min(len(self.moves), int(np.ceil(share * len(self.moves))))

    def _waits(self, place: int, here: int) -> bool:
        """Whether the move needs a reply of a call that would go into the same message."""
        waiting = {move.call for move in self.moves[here:place]}
        return bool(waiting & _sources(self.scenario.witness[self.moves[place].call].arguments))

    def _call(
        self, place: int, replies: Sequence[Json], tools: Sequence[Mapping[str, Any]]
    ) -> tuple[str, dict[str, Json]]:
        move = self.moves[place]
        call = self.scenario.witness[move.call]
        # What a refused or a second call brought back is not what later calls should build on.
        counted = (
            (m, r) for m, r in zip(self.moves, replies, strict=False) if m.slip not in ("argument", "repeat")
        )
        known = {move.call: reply for move, reply in counted}
        by_call = [known.get(i) for i in range(len(self.scenario.witness))]
        arguments = {name: _filled(value, by_call) for name, value in call.arguments.items()}
        rng = np.random.default_rng([self.seed, place, int(self.scenario.id, 16)])
        if move.slip == "argument":
            arguments["remark"] = "as discussed"
        elif move.slip in ("value", "entity"):
            properties = _parameters(tools, call.tool).get("properties", {})
            arguments = _spoilt(arguments, move.slip, properties, self.scenario.initial_state, rng)
        return call.tool, arguments


def _sources(value: Json) -> set[int]:
    """The indices of the calls whose replies a value is taken from."""
    ways = [way for way in references(value) if isinstance(way, list) and way]
    return {way[0] for way in ways if isinstance(way[0], int)}


def _filled(value: Json, replies: Sequence[Json]) -> Json:
    """A value with every reference followed; where a slip has spoilt the reply it becomes the word `unknown`."""

    def found(way: Json) -> Json:
        try:
            return follow(way, replies)
        except ParameterError:
            return "unknown"

    return map_references(value, found)


def _spoilt(
    arguments: dict[str, Json],
    slip: Slip,
    properties: Mapping[str, Any],
    state: Mapping[str, Json],
    rng: np.random.Generator,
) -> dict[str, Json]:
    """The arguments with one of them wrong: another entity, or another value of the same type.

    Where the call has none of the one kind the other is taken, and a call without arguments stays right.
    """
    entities: dict[str, list[Json]] = {}
    values: dict[str, list[Json]] = {}
    for name, value in arguments.items():
        if others := _other_keys(value, state):
            entities[name] = others
        elif others := _other_values(value, properties.get(name, {})):
            values[name] = others
    wrong = (entities or values) if slip == "entity" else (values or entities)
    if not wrong:
        return arguments
    name = sorted(wrong)[rng.integers(len(wrong))]
    return {**arguments, name: wrong[name][rng.integers(len(wrong[name]))]}


def _other_keys(value: Json, state: Mapping[str, Json]) -> list[Json]:
    if not isinstance(value, str):
        return []
    tables = (t for t in state.values() if isinstance(t, dict) and value in t)
    return sorted({key for table in tables for key in table} - {value})


def _other_values(value: Json, schema: Mapping[str, Any]) -> list[Json]:
    if "enum" in schema:
        return [other for other in schema["enum"] if other != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value + 2, max(1, value * 2)] if value != 1 else [2, 3]
    if isinstance(value, float):
        return [round(value + 1, 2), round(value * 2 + 1, 2)]
    if isinstance(value, str) and (date := re.fullmatch(r"(\d{4}-\d{2}-)(\d{2})(.*)", value, re.DOTALL)):
        day = int(date[2])
        return [f"{date[1]}{(day % 28) + 1:02d}{date[3]}", f"{date[1]}{((day + 6) % 28) + 1:02d}{date[3]}"]
    return [f"{value} too", value[:-1] or "other"] if isinstance(value, str) else []


@dataclass(frozen=True)
class RandomAgent:
    """Calls random tools with arguments that fit their schemas, and ends at random.

    Strings and ids are drawn from what earlier replies and the user said, so most of its calls reach the
    world's rules and not merely its input validation.
    """

    name: str = "random"
    end: float = field(default=0.1)
    """Probability of speaking instead of calling, at each message after the first."""

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Message:
        """Make one random call, or say that all is done."""
        rng = np.random.default_rng([seed, int(digest([len(messages), messages[-1:]]), 16)])
        replies = replies_of(messages)
        if not tools or (replies and rng.random() < self.end):
            return say(DONE)
        tool = function_of(tools[int(rng.integers(len(tools)))])
        arguments = _drawn(tool.get("parameters") or {}, "", _seen(messages, replies), rng)
        return act_on([(tool["name"], arguments if isinstance(arguments, dict) else {})], first=len(replies))


def _drawn(
    schema: Mapping[str, Any], name: str, seen: Mapping[str, list[Json]], rng: np.random.Generator
) -> Json:
    """A random value that fits a JSON schema."""
    if options := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return options[rng.integers(len(options))]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return _drawn(options[rng.integers(len(options))], name, seen, rng)
    kind = schema.get("type", "string")
    kind = kind[rng.integers(len(kind))] if isinstance(kind, list) else kind
    if kind == "object":
        return _drawn_object(schema, seen, rng)
    if kind == "array":
        return [_drawn(schema.get("items") or {}, name, seen, rng) for _ in range(rng.integers(1, 3))]
    if kind == "boolean":
        return bool(rng.integers(2))
    if kind == "null":
        return None
    return _drawn_scalar(kind, schema, name, seen, rng)


def _drawn_object(
    schema: Mapping[str, Any], seen: Mapping[str, list[Json]], rng: np.random.Generator
) -> dict[str, Json]:
    required = set(schema.get("required", ()))
    properties = schema.get("properties") or {}
    return {
        key: _drawn(inner, key, seen, rng)
        for key, inner in properties.items()
        if key in required or rng.random() < 0.5
    }


def _drawn_scalar(
    kind: str, schema: Mapping[str, Any], name: str, seen: Mapping[str, list[Json]], rng: np.random.Generator
) -> Json:
    if kind in ("integer", "number"):
        low = schema.get("minimum", 1)
        high = max(low, schema.get("maximum", low + 9))
        number = rng.uniform(low, high)
        return int(number) if kind == "integer" else round(float(number), 2)
    fitting = [v for key, values in seen.items() if _akin(key, name) for v in values]
    pool = fitting or seen.get("", []) or ["something"]
    return pool[rng.integers(len(pool))]


def _akin(key: str, name: str) -> bool:
    """Whether a value under `key` may serve for the parameter `name`: `guest_id` or `id` for `guest_id`."""
    return bool(key) and (key == name or key.endswith(f"_{name}") or name.endswith(f"_{key}"))


def _seen(messages: Sequence[Message], replies: Sequence[Json]) -> dict[str, list[Json]]:
    """Strings of earlier replies by the key they stood under, and under `""` ids and dates the user wrote."""
    seen: dict[str, list[Json]] = {}
    for key, value in _strings("", list(replies)):
        seen.setdefault(key, []).append(value)
    for message in messages:
        if message["role"] == "user":
            seen.setdefault("", []).extend(
                re.findall(r"\b[\w-]*\d[\w-]*\b", str(message.get("content") or ""))
            )
    return seen


def _strings(key: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and len(value) <= 80:
        yield key, value
    elif isinstance(value, dict):
        for inner_key, inner in value.items():
            yield from _strings(inner_key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(key, inner)


# The OpenAI form, read and written


def say(text: str) -> Message:
    """An assistant message that speaks."""
    return {"role": "assistant", "content": text}


def act_on(calls: Sequence[tuple[str, Mapping[str, Json]]], *, first: int) -> Message:
    """An assistant message that calls tools; `first` is the number of calls made before it."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            tool_call(first + place, name, json.dumps(arguments, ensure_ascii=False))
            for place, (name, arguments) in enumerate(calls)
        ],
    }


def tool_call(number: int, name: str, arguments: str) -> dict[str, Any]:
    """One entry of `tool_calls`; `arguments` is a JSON text, `number` how many calls there were before it."""
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def function_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The function part of a tool, whether or not it is wrapped in `{"type": "function"}`."""
    return tool.get("function", tool)


def _parameters(tools: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return next((function_of(t).get("parameters") or {} for t in tools if function_of(t)["name"] == name), {})


def replies_of(messages: Sequence[Message]) -> list[Json]:
    """The tool replies seen so far, in order, parsed where they are JSON."""
    return [read_loosely(message.get("content")) for message in messages if message["role"] == "tool"]
