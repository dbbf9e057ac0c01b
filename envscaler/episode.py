"""One episode: agent, user simulator and environment, from reset to the end, as a `Rollout`.

Without a conversation the first user message is the whole task, and the agent's first words without a tool
call end the episode, or its call of `finish` where that was asked for. In a conversation a simulated user holds
the task, answers every such message, and ends it. The agent's slips are observations and end nothing, a message that
is empty or cut short among them; but after three of those in a row the episode is cut off and graded as it stands,
with the cause `agent`. What the model, the user, the sandbox, a check or the agent's own code does wrong is written
down as a failure, with `reward` None: it is never a reward of 0. Many episodes at once are `rollouts`' business.
"""

import copy
import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from envscaler.acting.finishing import FINISH, answered, finished
from envscaler.acting.messages import as_action, calls_so_far, dialogue_of, writable
from envscaler.acting.slips import MOST_SLIPS, slipped
from envscaler.acting.user import UserSimulator
from envscaler.agent import TEMPERATURE, Agent
from envscaler.error import (
    BudgetSpent,
    CheckError,
    EnvironmentLost,
    EnvscalerError,
    ModelError,
    ParameterError,
    ReplyError,
    SandboxError,
)
from envscaler.given import at_least
from envscaler.model import prompt
from envscaler.model.ask import origin
from envscaler.model.connect import connect
from envscaler.model.request import Message, Metered, Model
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
)
from envscaler.scripted import function_of
from envscaler.world.environment import Environment

log = logging.getLogger(__name__)
T = TypeVar("T")

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
    finish: bool = False,
    user_temperature: float | None = TEMPERATURE,
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
        finish: whether the agent is offered a tool `finish` that ends its work; not in a conversation, which the
            user ends.
        user_temperature: of the user's sampling; None leaves it to the server.

    Raises:
        ParameterError: the scenario is another skeleton's, no step is allowed, or the world has a tool `finish`.
        BudgetSpent: the next call might cost more than is left of the budget.
    """
    if scenario.skeleton_id != skeleton.id:
        raise ParameterError(
            f"Expected a scenario of skeleton {skeleton.id}, got {scenario.id} of {scenario.skeleton_id}. "
            "Hand over the skeleton it was made for (after an audit that is the repaired one)."
        )
    limit = MAX_STEPS[conversation] if max_steps is None else at_least(max_steps, 1, "max_steps")
    offers = finish and not conversation
    if offers and skeleton.tool(FINISH.name) is not None:
        raise ParameterError(f"Expected a world without a tool {FINISH.name!r}, got one; leave finish=False.")
    meter = Metered(user or default_user(seed)) if conversation else None
    episode = _Episode(skeleton, scenario, agent, meter, seed, offers, user_temperature)
    episode.play(limit)
    return episode.rollout()


def default_user(seed: int) -> Model:
    """The built-in model as a user, without its wilful errors: they would be put down to the agent."""
    return connect("builtin", seed=seed, fault_rate=0.0)


class _AgentBroke(Exception):
    """The agent's own code raised; its cause says what."""


class _UserBroke(Exception):
    """The simulated user gave no usable turn; its cause says why."""


@dataclass
class _Episode:
    """An episode as it unfolds; its `Rollout` is made at the end."""

    skeleton: Skeleton
    scenario: Scenario
    agent: Agent
    meter: Metered | None
    seed: int
    finish: bool = False
    user_temperature: float | None = None
    messages: list[Message] = field(default_factory=list)
    trajectory: list[Step] = field(default_factory=list)
    state: dict[str, Json] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    ending: Ending = "truncated"
    cause: str = ""
    error: str = ""
    slips: int = 0
    """Messages in a row that said and did nothing."""
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
        try:
            self._converse(environment, str(observation))
        except _AgentBroke as broke:
            self._fail("agent", broke.__cause__, _place(broke.__cause__))
        except _UserBroke as broke:
            self._fail("user", broke.__cause__)
        except ModelError as error:
            self._fail("model", error)
        except CheckError as error:
            self.cause = "check"
            self.outcomes = [Outcome(item="grading", kind="guard", passed=None, note=str(error))]
        else:
            return
        self.state = environment.state

    def _converse(self, environment: Environment, task: str) -> None:
        player = self._guarded(self._prepared)
        tools = [dict(tool) for tool in environment.tools] + ([FINISH.function] if self.finish else [])
        step, model = getattr(self.agent, "step", "rollouts/act"), getattr(self.agent, "model", None)
        self.messages.append(system_message(self.skeleton, tools, step, model))
        opening = self._ask_user()[0] if self.meter else task
        self.messages.append({"role": "user", "content": opening})
        while not self._turn(player, environment, tools):
            pass

    def _prepared(self) -> Agent:
        prepared = getattr(self.agent, "prepared", None)
        return prepared(self.scenario, self.seed) if prepared else self.agent

    def _guarded(self, act: Callable[[], T]) -> T:
        """What the agent's code returns; what it raises is the agent's failure, but for what the library raises."""
        try:
            return act()
        except (EnvscalerError, BudgetSpent):
            raise
        except Exception as error:  # an agent is anybody's code
            log.warning("The agent %s raised %r %s.", self.agent.name, error, _place(error))
            raise _AgentBroke from error

    def _turn(self, player: Agent, environment: Environment, tools: list[dict[str, Any]]) -> bool:
        """One action and what comes of it; whether the episode is over."""

        def act() -> tuple[Message, Usage]:
            said = player.act(copy.deepcopy(self.messages), copy.deepcopy(tools), seed=self.seed)
            action, usage = as_action(said, calls_so_far(self.messages))
            return writable(action), usage

        action, usage = self._guarded(act)
        self.usage += usage
        self.messages.append(action)
        speaks = not action.get("tool_calls")
        made, ours, over = finished(action) if self.finish else (action, {}, False)
        if (speaks and not self.meter) or over:
            self.ending = "finished"
        said_nothing = slipped(action)
        self.slips = self.slips + 1 if said_nothing else 0
        observation, _, terminated, truncated, info = environment.step(_sent(made))
        self.faults += [{"step": len(self.trajectory), **fault} for fault in info.get("faults", ())]
        told = answered(action, observation, {**ours, **said_nothing})
        replies = writable(told) if isinstance(told, list) else []
        self.messages.extend(replies)
        self.trajectory.append(Step(action=action, observation=replies, diff=writable(environment.diff)))
        given_up = self.slips >= MOST_SLIPS
        self.cause = "agent" if given_up else ""
        if (over or given_up) and not truncated:
            *_, info = environment.finish()
        if terminated or truncated or over or given_up:
            return self._end("finished" if terminated or over else "truncated", info)
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
        user = UserSimulator(self.meter, self.scenario.task, self.seed, self.user_temperature)
        try:
            turn = user.speak(dialogue_of(self.messages))
        except ReplyError as error:
            raise _UserBroke from error
        return writable(turn.message), turn.done

    def _end(self, ending: Ending, info: Mapping[str, Any]) -> bool:
        self.ending = ending
        self.outcomes = [Outcome.model_validate(outcome) for outcome in info.get("outcomes", [])]
        self.state = info["final_state"]
        if any(outcome.passed is None for outcome in self.outcomes):
            self.cause = "check"
        return True

    def _fail(self, cause: str, error: BaseException | None, place: str = "") -> None:
        self.ending, self.cause, self.outcomes = "failed", cause, []
        self.error = f"{type(error).__name__}: {error} {place}".rstrip()

    def rollout(self) -> Rollout:
        """The record."""
        offered = [FINISH.function] if self.finish else []
        extra: dict[str, Json] = {"error": self.error, "faults": self.faults, "offered": offered}
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
            extra=writable({k: v for k, v in extra.items() if v}),
            origin=self._origin(),
        )

    def _origin(self) -> Origin:
        model = getattr(self.agent, "model", None)
        steps = [getattr(self.agent, "step", "rollouts/act"), *(["rollouts/user"] if self.meter else [])]
        settings: dict[str, Any] = dict(getattr(self.agent, "sampling", {}))
        if self.meter:
            settings["user"] = self.meter.name
        # A scripted agent is its own model: it has a name, and that is all an origin asks for.
        return origin(cast(Model, model or self.agent), *steps, seed=self.seed, settings=settings)


# Messages


def system_message(
    skeleton: Skeleton,
    tools: Iterable[Mapping[str, Any]],
    step: str = "rollouts/act",
    model: Model | None = None,
) -> Message:
    """What an agent is told of the world: its summary and rules, and the tools where the step has them.

    A `model` that was recorded brings the prompt along with which it was told so.
    """
    asked = prompt.for_model(model, step)
    variables: dict[str, Any] = {
        "summary": skeleton.summary,
        "rules": "\n".join(f"- {rule.text}" for rule in skeleton.rules),
    }
    if "tools" in asked.variables:
        variables["tools"] = [function_of(tool) for tool in tools]
    return dict(prompt.fill(asked, variables)[0])


def _place(error: BaseException | None) -> str:
    """Where an exception comes from, without the machine's folders."""
    frames = traceback.extract_tb(error.__traceback__) if error else []
    return f"(in {frames[-1].name}, line {frames[-1].lineno})" if frames else ""


def _sent(action: Message) -> Message:
    """The action as the environment gets it: thoughts stay with the agent."""
    return {key: value for key, value in action.items() if key != "reasoning_content"}
