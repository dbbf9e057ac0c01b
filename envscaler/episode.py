"""One episode: agent, user simulator and environment, from reset to the end, as a `Rollout`.

Without a conversation the first user message is the whole task and the agent's first message without a tool
call ends the episode. In a conversation a simulated user holds the task, answers every such message, and ends
it. The agent's slips are the environment's to answer; what the model, the sandbox or a check does wrong is
written down as a failure, with `reward` None: it is never a reward of 0. Many episodes at once are
`rollouts`' business.
"""

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from envscaler.agent import Agent, Metered, UserSimulator, without_thoughts
from envscaler.error import CheckError, EnvironmentLost, ModelError, ParameterError, SandboxError
from envscaler.model import prompt
from envscaler.model.ask import origin
from envscaler.model.connect import connect
from envscaler.model.request import Message, Model
from envscaler.model.wire import whole
from envscaler.schema import (
    Ending,
    Json,
    Origin,
    Outcome,
    Rollout,
    Scenario,
    Skeleton,
    Step,
    Usage,
    canonical,
)
from envscaler.scripted import UNREADABLE, function_of, tool_call
from envscaler.world.environment import Environment

MAX_STEPS = {False: 30, True: 40}
"""Actions at most, without and with a conversation (PAPER 5)."""


def roll_out(
    skeleton: Skeleton,
    scenario: Scenario,
    agent: Agent,
    *,
    conversation: bool = False,
    user: Model | None = None,
    seed: int = 0,
    max_steps: int | None = None,
) -> Rollout:
    """Play one episode.

    Args:
        skeleton: the world.
        scenario: its state, task and checks.
        agent: who acts; one that has `prepared` is told the scenario first.
        conversation: whether a simulated user holds the task and reveals it piece by piece.
        user: the model behind the user; default the built-in one.
        seed: of the environment, the agent and the user.
        max_steps: actions at most; default 30, in a conversation 40.
    """
    if scenario.skeleton_id != skeleton.id:
        raise ParameterError(
            f"Expected a scenario of skeleton {skeleton.id}, got {scenario.id} of {scenario.skeleton_id}. "
            "Hand over the skeleton it was made for (after an audit that is the repaired one)."
        )
    limit = MAX_STEPS[conversation] if max_steps is None else max_steps
    if limit < 1:
        raise ParameterError(f"Expected at least one step, got max_steps={limit}.")
    player = agent.prepared(scenario, seed) if hasattr(agent, "prepared") else agent
    meter = Metered(user or default_user(seed)) if conversation else None
    episode = _Episode(skeleton, scenario, player, meter, seed)
    episode.play(limit)
    return episode.rollout()


def default_user(seed: int) -> Model:
    """The built-in model as a user, without its wilful errors: they would be put down to the agent."""
    return connect("builtin", seed=seed, fault_rate=0.0)


@dataclass
class _Episode:
    """An episode as it unfolds; its `Rollout` is made at the end."""

    skeleton: Skeleton
    scenario: Scenario
    agent: Agent
    meter: Metered | None
    seed: int
    messages: list[Message] = field(default_factory=list)
    trajectory: list[Step] = field(default_factory=list)
    state: dict[str, Json] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    ending: Ending = "truncated"
    cause: str = ""
    error: str = ""
    faults: list[dict[str, Json]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    def play(self, limit: int) -> None:
        """Go from reset to the end, whatever ends it."""
        self.state = copy.deepcopy(self.scenario.initial_state)
        try:
            with Environment(
                self.skeleton,
                self.scenario,
                seed=self.seed,
                max_steps=limit,
                conversation=self.meter is not None,
            ) as environment:
                self._play(environment)
        except (EnvironmentLost, SandboxError) as error:
            self._fail("environment", error)

    def _play(self, environment: Environment) -> None:
        observation, _ = environment.reset(seed=self.seed)
        tools = [dict(tool) for tool in environment.tools]
        self.messages.append(
            system_message(self.skeleton, tools, getattr(self.agent, "step", "rollouts/act"))
        )
        try:
            opening = self._ask_user()[0] if self.meter else str(observation)
            self.messages.append({"role": "user", "content": opening})
            while not self._turn(environment, tools):
                pass
        except ModelError as error:
            self._fail("model", error)
            self.state = environment.state
        except CheckError as error:
            self.cause = "check"
            self.outcomes = [Outcome(item="grading", kind="guard", passed=None, note=str(error))]
            self.state = environment.state

    def _turn(self, environment: Environment, tools: list[dict[str, Any]]) -> bool:
        """One action and what comes of it; whether the episode is over."""
        said = self.agent.act(copy.deepcopy(self.messages), copy.deepcopy(tools), seed=self.seed)
        action, usage = as_action(said, calls_so_far(self.messages))
        action = writable(action)
        self.usage += usage
        self.messages.append(action)
        speaks = not action.get("tool_calls")
        if speaks and not self.meter:
            self.ending = "finished"
        observation, _, terminated, truncated, info = environment.step(_sent(action))
        self.faults += [{"step": len(self.trajectory), **fault} for fault in info.get("faults", ())]
        replies = writable(observation) if isinstance(observation, list) else []
        self.messages.extend(replies)
        self.trajectory.append(Step(action=action, observation=replies, diff=writable(environment.diff)))
        if terminated or truncated:
            return self._end("finished" if terminated else "truncated", info)
        return self._listen(environment) if speaks else False

    def _listen(self, environment: Environment) -> bool:
        """Let the user answer a message that called no tool; whether they left."""
        self.ending = "stopped"
        message, done = self._ask_user()
        if message:
            self.messages.append({"role": "user", "content": message})
            self.trajectory[-1] = self.trajectory[-1].model_copy(update={"observation": message})
        if not done:
            self.ending = "truncated"
            return False
        *_, info = environment.finish()
        return self._end("stopped", info)

    def _ask_user(self) -> tuple[str, bool]:
        assert self.meter is not None
        turn = UserSimulator(self.meter, self.scenario.task, self.seed).speak(dialogue_of(self.messages))
        return writable(turn.message), turn.done

    def _end(self, ending: Ending, info: Mapping[str, Any]) -> bool:
        self.ending = ending
        self.outcomes = [Outcome.model_validate(outcome) for outcome in info.get("outcomes", [])]
        self.state = info["final_state"]
        if any(outcome.passed is None for outcome in self.outcomes):
            self.cause = "check"
        return True

    def _fail(self, cause: str, error: Exception) -> None:
        self.ending, self.cause, self.outcomes = "failed", cause, []
        self.error = f"{type(error).__name__}: {error}"

    def rollout(self) -> Rollout:
        """The record."""
        return Rollout(
            scenario_id=self.scenario.id,
            agent=self.agent.name,
            conversation=self.meter is not None,
            seed=self.seed,
            messages=self.messages,
            trajectory=self.trajectory,
            final_state=writable(self.state),
            outcomes=self.outcomes,
            ending=self.ending,
            cause=self.cause,
            usage=self.usage + (self.meter.usage if self.meter else Usage()),
            extra=writable({k: v for k, v in (("error", self.error), ("faults", self.faults)) if v}),
            origin=self._origin(),
        )

    def _origin(self) -> Origin:
        model = getattr(self.agent, "model", None)
        steps = [getattr(self.agent, "step", "rollouts/act"), *(["rollouts/user"] if self.meter else [])]
        settings: dict[str, Any] = dict(getattr(self.agent, "settings", {}))
        if self.meter:
            settings["user"] = self.meter.name
        # A scripted agent is its own model: it has a name, and that is all an origin asks for.
        return origin(cast(Model, model or self.agent), *steps, seed=self.seed, settings=settings)


# Messages


def system_message(
    skeleton: Skeleton, tools: Iterable[Mapping[str, Any]], step: str = "rollouts/act"
) -> Message:
    """What an agent is told of the world: its summary and rules, and the tools where the step has them."""
    variables: dict[str, Any] = {
        "summary": skeleton.summary,
        "rules": "\n".join(f"- {rule.text}" for rule in skeleton.rules),
    }
    if "tools" in prompt.load(step).variables:
        variables["tools"] = [function_of(tool) for tool in tools]
    return dict(prompt.render(step, variables)[0])


def dialogue_of(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What user and assistant said to each other: no system message, tool call, tool reply or thought."""
    spoken = []
    for message in messages:
        content = message.get("content")
        if message["role"] == "user":
            spoken.append({"role": "user", "content": str(content)})
        elif message["role"] == "assistant" and not message.get("tool_calls"):
            spoken.append({"role": "assistant", "content": without_thoughts(str(content or ""))})
    return spoken


def calls_so_far(messages: Iterable[Mapping[str, Any]]) -> int:
    """How many tool calls the assistant has made."""
    return sum(len(message.get("tool_calls") or ()) for message in messages)


def as_action(said: Any, calls: int) -> tuple[Message, Usage]:
    """Whatever an agent returned, as an assistant message in OpenAI form, and what it cost.

    Something that is no message becomes a call of no tool, so that the environment tells the agent what is
    wrong.

    Args:
        said: what `act` returned.
        calls: number of tool calls made before, for the ids of calls that have none.
    """
    said = (
        said.model_dump()
        if hasattr(said, "model_dump")
        else {"content": said}
        if isinstance(said, str)
        else said
    )
    if not _is_message(said):
        call = tool_call(calls, UNREADABLE, _shown(said))
        return {"role": "assistant", "content": None, "tool_calls": [call]}, Usage()
    message: Message = {"role": "assistant", "content": _text(said.get("content"))}
    if isinstance(reasoning := said.get("reasoning_content"), str) and reasoning:
        message["reasoning_content"] = reasoning
    if raw := said.get("tool_calls"):
        entries = list(raw) if isinstance(raw, list | tuple) else [raw]
        message["tool_calls"] = _unique(
            [_as_call(entry, calls + i) for i, entry in enumerate(entries)], calls
        )
    usage = said.get("usage")
    return message, usage if isinstance(usage, Usage) else Usage()


def _is_message(said: Any) -> bool:
    return (
        isinstance(said, Mapping)
        and said.get("role", "assistant") == "assistant"
        and ("content" in said or "tool_calls" in said)
        and isinstance(said.get("content"), str | list | None)
    )


def _as_call(entry: Any, number: int) -> dict[str, Any]:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    if not isinstance(function, Mapping):
        return tool_call(number, UNREADABLE, _shown(entry))
    name, arguments = function.get("name"), function.get("arguments")
    text = arguments if isinstance(arguments, str) else "{}" if arguments is None else _shown(arguments)
    call = tool_call(number, name if isinstance(name, str) and name else UNREADABLE, text)
    return {**call, "id": entry["id"]} if isinstance(entry.get("id"), str) and entry["id"] else call


def _unique(entries: list[dict[str, Any]], calls: int) -> list[dict[str, Any]]:
    """Calls with an id each, as replies are matched to them by it."""
    ids = [entry["id"] for entry in entries]
    if len(set(ids)) == len(ids):
        return entries
    return [{**entry, "id": f"call_{calls + i}"} for i, entry in enumerate(entries)]


def _text(content: str | list[Any] | None) -> str | None:
    if content is None or isinstance(content, str):
        return content
    # The form in parts, of which only text can be said.
    return "".join(str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in content)


def _shown(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def writable(value: Json) -> Json:
    """The value with every lone half of a surrogate pair replaced: JSON can spell one, UTF-8 files cannot hold it."""
    try:
        canonical(value).encode()
    except UnicodeEncodeError:
        return json.loads(whole(canonical(value)))
    return value


def _sent(action: Message) -> Message:
    """The action as the environment gets it: thoughts stay with the agent."""
    return {key: value for key, value in action.items() if key != "reasoning_content"}
