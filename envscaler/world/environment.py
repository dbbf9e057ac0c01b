"""An environment: a skeleton with a state, behind `reset` and `step`, its code running in a process of its own.

Gymnasium's words: `reset(seed=…) -> (observation, info)`, `step(action) -> (observation, reward, terminated,
truncated, info)`. An action is one assistant message; the calls in it run in order; a step is one action. An
agent's slip (an unknown tool, a wrong argument, broken JSON, no message at all) is an observation it can mend
and never an end. A tool that raises is undone and reported as the environment's fault. A hang or crash is
undone in a new worker; the third one raises `EnvironmentLost`. The reward is 0.0 until the end, and None,
never 0, where a check broke.

The worker holds the live object; this side holds a mirror of its state as JSON, brought up to date after
every call (see `change` for the diff's grammar). The agent sees replies only: neither checks nor witness nor
the state beyond its tools. This module knows no user and no model; `episode` does.
"""

import json
import logging
import marshal
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Self

from envscaler.error import EnvironmentLost, ParameterError, ResetNeeded, SandboxError
from envscaler.schema import Json, Outcome, Scenario, Skeleton
from envscaler.world import clock
from envscaler.world.action import UNREADABLE, read_action
from envscaler.world.arguments import ArgumentsOf, nearest, shown
from envscaler.world.change import Diff, State, copied, diff, shared, through_json
from envscaler.world.check import RewardMode, grade, reward
from envscaler.world.live import Live, Snapshot, ToolRaised
from envscaler.world.sandbox import Isolation, WorkerLost

log = logging.getLogger(__name__)

StepResult = tuple[Json, float | None, bool, bool, dict[str, Any]]
MOST_LOSSES = 3
"""Hangs and crashes of one episode after which it is given up."""


class Environment:
    """A skeleton with a state, behind Gymnasium's `reset` and `step`; used by one thread at a time."""

    def __init__(
        self,
        skeleton: Skeleton,
        scenario_or_state: Scenario | Mapping[str, Json] | None = None,
        *,
        seed: int = 0,
        max_steps: int = 30,
        timeout: float = 2.0,
        isolation: Isolation = "auto",
        conversation: bool = False,
        reward: RewardMode = "default",
        start: float = clock.START,
    ) -> None:
        """Nothing runs before `reset` or the first use.

        Args:
            skeleton: the class and its tools.
            scenario_or_state: a scenario, or a bare state; None for the class's own empty state.
            seed: of times, ids and draws, until `reset` gives another one.
            max_steps: actions after which the episode is truncated.
            timeout: seconds a tool or a check may take.
            isolation: `sealed`, `process`, or `auto` for the best there is.
            conversation: whether a message without tool calls goes to a user instead of ending the episode.
            reward: how outcomes are paid; see `check.reward`.
            start: second (UTC, since 1970) at which the episode begins.
        """
        if max_steps < 1 or not timeout > 0:
            raise ParameterError(f"Expected max_steps and timeout above 0, got {max_steps} and {timeout}.")
        self._skeleton = skeleton
        self._scenario = scenario_or_state if isinstance(scenario_or_state, Scenario) else None
        self._given: State = _checked_state(scenario_or_state)
        self._live = Live(
            skeleton, seed=int(seed), start=float(start), timeout=float(timeout), isolation=isolation
        )
        self._max_steps, self._timeout, self._isolation = max_steps, float(timeout), isolation
        self._conversation, self._reward = conversation, reward
        self._tools = {tool.name: tool for tool in skeleton.tools}
        self._arguments: dict[str, ArgumentsOf] = {}
        self._initial: State | None = None
        self._begun = False
        self._diff: Diff = {}
        self._faults: list[dict[str, Json]] = []
        self._steps = self._losses = 0
        self._ended = False

    # Gymnasium's two verbs, and the end of a conversation

    def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode in a fresh worker; the observation is the task.

        Raises:
            SourceError: the class cannot be loaded with this state.
        """
        if seed is not None and int(seed) != self._live.seed:
            # `__init__` may draw too, so another seed can mean another beginning.
            self._live.seed, self._initial = int(seed), None
        self._steps = self._losses = 0
        self._ended, self._begun = False, False
        self._diff, self._faults = {}, []
        self._begin()
        return self._task, {"seed": self._live.seed, "max_steps": self._max_steps}

    def step(self, action: Json) -> StepResult:
        """Do one assistant message (OpenAI form) and say what came of it.

        Raises:
            ResetNeeded: before `reset`, or after the end.
            EnvironmentLost: the third hang or crash.
        """
        self._must_run()
        self._steps += 1
        self._diff, self._faults = {}, []
        message = read_action(action)
        # One call brings its own diff; those of several would have to be merged, so the states are compared.
        before = shared(self._live.state) if len(message.calls) > 1 else None
        observation = [
            {
                "role": "tool",
                "tool_call_id": c.id,
                "content": json.dumps(self._answer(c.name, c.arguments, c.problem), ensure_ascii=False),
            }
            for c in message.calls
        ]
        if before is not None:
            self._diff = self._shown(diff(before, self._live.state))
        terminated = message.says_done and not self._conversation
        truncated = not terminated and self._steps >= self._max_steps
        return self._result(observation, terminated=terminated, truncated=truncated)

    def finish(self) -> StepResult:
        """End the episode from outside, as when the user hangs up, and grade it."""
        self._must_run()
        self._diff, self._faults = {}, []
        return self._result([], terminated=True, truncated=False)

    def call(self, name: str, arguments: Json = None) -> Json:
        """Make one call outside the count of steps, as a notebook or a witness does; return its reply.

        Raises:
            ResetNeeded: after the end of the episode.
            EnvironmentLost: the third hang or crash.
        """
        self._begin()
        self._must_run()
        self._diff, self._faults = {}, []
        return self._answer(name, arguments, "")

    def calls(self, calls: Sequence[tuple[str, Json]]) -> list[tuple[Json, Diff, bool]]:
        """`call` for several in few exchanges: of each its reply, its changes, and whether it hung or crashed."""
        self._begin()
        self._must_run()
        made: list[tuple[Json, Diff, bool]] = []
        apart = False
        while len(made) < len(calls):
            read = ((name, *self._read(name, given)) for name, given in calls[len(made) :] if not apart)
            together = [(name, given) for name, given, wrong in takewhile(lambda one: not one[2], read)]
            try:
                done, raised = self._live.run(together) if len(together) > 1 else ([], None)
            except (WorkerLost, SandboxError):
                done, raised, apart = [], None, True  # by which of them is found one by one
            for reply, changed in done:
                self._diff, self._faults = self._shown(changed), []
                made.append((reply, self.diff, False))
            if raised or not done:
                self._diff, self._faults = {}, []
                name, given = calls[len(made)]
                reply = self._raised(name, raised) if raised else self._answer(name, given, "")
                made.append((reply, self.diff, self.hung))
        return made

    def attempt(self, name: str, arguments: Json = None) -> tuple[Json, Diff, State]:
        """What a call would reply, change and leave as the state, without making it; for whoever searches.

        It costs what a call costs, a restore fifty times as much. The parts of the state are shared and not to
        be changed. What hangs, crashes or raises is among the `faults`, and not counted as a loss.
        """
        self._begin()
        self._must_run()
        self._diff, self._faults = {}, []
        given, problem = self._read(name, arguments)
        if not problem:
            try:
                reply, changed, state = self._live.attempt(name, given)
                return reply, self._shown(changed), self._shown(state)
            except ToolRaised as raised:
                self._fault("raised", name, error=str(raised), line=raised.line)
                problem = str(raised)
            except WorkerLost as lost:
                problem = self._lost(name, lost)
        return _refusal(problem), {}, self.view

    # What can be seen

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools in OpenAI form, fresh copies."""
        return [copied(tool.function) for tool in self._tools.values()]

    @property
    def state(self) -> State:
        """The state, a fresh copy; private attributes are none of it, unless it was given with them."""
        self._begin()
        return copied(self._shown(self._live.state))

    @property
    def view(self) -> State:
        """The state for reading only, in no time: its records are shared with later views, and never to be changed."""
        self._begin()
        return shared(self._shown(self._live.state))

    @property
    def initial_state(self) -> State:
        """The state at reset, a fresh copy; it has what the class adds to the state it was given."""
        self._begin()
        return copied(self._shown(self._initial or {}))

    @property
    def diff(self) -> Diff:
        """What the last step or call changed, a fresh copy."""
        return copied(self._diff)

    @property
    def faults(self) -> list[dict[str, Json]]:
        """What went wrong in the environment, not in the agent, during the last step or call."""
        return copied(self._faults)

    @property
    def hung(self) -> bool:
        """Whether something hung or crashed, and not merely raised, during the last step or call."""
        return any(fault["kind"] != "raised" for fault in self._faults)

    def _shown(self, named: dict[str, Json]) -> dict[str, Json]:
        """A state or a diff without private attributes."""
        return {k: v for k, v in named.items() if k[:1] != "_" or k.partition("/")[0] in self._given}

    # Going back, and splitting

    def snapshot(self, *, near: bool = False) -> Snapshot:
        """This moment, to `restore` here or in a fork.

        Args:
            near: whether the worker takes note of it too: going back is then far cheaper, and in the same process.
        """
        self._begin()
        live, mark = self._live, self._live.mark() if near else 0
        state = shared(live.state) if near else marshal.dumps(live.state)
        return Snapshot(
            state, live.seed, live.calls, live.slept, self._steps, self._ended, self._losses, mark
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a moment; the episode goes on from there with the same times, ids and draws as before."""
        self._begin()
        live, state = self._live, snapshot.state
        state = marshal.loads(state) if isinstance(state, bytes) else shared(state)
        live.seed = snapshot.seed
        live.rewind(state, calls=snapshot.calls, slept=snapshot.slept, mark=snapshot.mark)
        self._steps, self._ended, self._losses = snapshot.steps, snapshot.ended, snapshot.losses
        self._diff, self._faults = {}, []

    def fork(self) -> "Environment":
        """An independent environment that stands where this one stands."""
        other = Environment(
            self._skeleton,
            self._scenario or self._given,
            seed=self._live.seed,
            max_steps=self._max_steps,
            timeout=self._timeout,
            isolation=self._isolation,
            conversation=self._conversation,
            reward=self._reward,
            start=self._live.start,
        )
        self._begin()
        other._initial, other._begun = self._initial, True
        other.restore(self.snapshot())
        return other

    def close(self) -> None:
        """End the worker; the state stays readable. Safe to call twice."""
        self._live.drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "not begun" if not self._begun else "ended" if self._ended else f"step {self._steps}"
        return f"<Environment {self._skeleton.class_name}: {len(self._tools)} tools, {where}>"

    # One call

    def _answer(self, name: str, arguments: Json, problem: str) -> Json:
        """The reply to one call, whatever it is."""
        given, wrong = ({}, problem) if problem else self._read(name, arguments)
        return _refusal(wrong) if wrong else self._run(name, given)

    def _read(self, name: str, arguments: Json) -> tuple[dict[str, Any], str]:
        """The arguments as the tool gets them, and what is wrong with the call."""
        if not isinstance(name, str) or name not in self._tools:
            return {}, self._names_none(name, arguments)
        if name not in self._arguments:
            self._arguments[name] = ArgumentsOf(self._tools[name])
        given, wrong = self._arguments[name].read(arguments)
        return given, f"{name}: {wrong}" if wrong else ""

    def _names_none(self, name: Json, arguments: Json) -> str:
        tools = f"The tools are {', '.join(self._tools)}."
        if name == UNREADABLE:
            wanted = "expected the name of a tool and its arguments, as whole and valid JSON"
            return f"This tool call cannot be read: {wanted}, got {shown(arguments)}. {tools}"
        near = nearest(name, list(self._tools)) if isinstance(name, str) else ""
        return f"There is no tool {_quoted(name)}. {f'Did you mean {near}?' if near else tools}"

    def _run(self, name: str, arguments: dict[str, Any]) -> Json:
        try:
            reply, changed = self._live.call(name, arguments)
        except ToolRaised as raised:
            return self._raised(name, raised)
        except WorkerLost as lost:
            return self._lose(name, lost)
        self._diff = self._shown(changed)
        return reply

    def _raised(self, name: str, raised: ToolRaised) -> Json:
        self._fault("raised", name, error=str(raised), line=raised.line)
        return _refusal(f"{name} failed inside the environment ({raised}); nothing was changed.")

    def _lose(self, name: str, lost: WorkerLost) -> Json:
        """The worker is gone; a new one will be given the state as it was before the call."""
        self._losses += 1
        self._lost(name, lost)
        log.info("%s.%s was lost: %s", self._skeleton.class_name, name, lost)
        if self._losses >= MOST_LOSSES:
            self._ended = True
            raise EnvironmentLost(
                f"{self._skeleton.class_name} hung or crashed {self._losses} times, last in {name} ({lost}); "
                "the episode is given up."
            )
        said = f"did not answer within {self._timeout:g} s" if lost.reason == "time" else "crashed"
        return _refusal(f"{name} {said} and was stopped; nothing was changed.")

    def _lost(self, name: str, lost: WorkerLost) -> str:
        self._fault("timed out" if lost.reason == "time" else "crashed", name, error=str(lost), line=None)
        return str(lost)

    def _fault(self, kind: str, tool: str, **told: Json) -> None:
        self._faults.append({"kind": kind, "tool": tool, **told})

    def _must_run(self) -> None:
        if not self._begun:
            raise ResetNeeded("Expected reset() before the first step.")
        if self._ended:
            raise ResetNeeded("The episode has ended; call reset() to begin another one.")

    def _begin(self) -> None:
        if self._begun:
            return
        if self._initial is None:
            self._live.load(self._given)
            self._initial = shared(self._live.state)
        else:
            self._live.go_to(shared(self._initial))
        self._begun = True

    # The end

    @property
    def _task(self) -> str:
        return self._scenario.task if self._scenario else ""

    def _result(self, observation: Json, *, terminated: bool, truncated: bool) -> StepResult:
        told = {"diff": self.diff, "faults": self.faults}
        info: dict[str, Any] = {"step": self._steps, "calls": self._live.calls, **told}
        if not (terminated or truncated):
            return observation, 0.0, False, False, info
        self._ended = True
        self._live.drop()
        outcomes = self._grade()
        info.update(outcomes=outcomes, final_state=self.state)
        return observation, self._pay(outcomes, truncated), terminated, truncated, info

    def _grade(self) -> list[Outcome]:
        if self._scenario is None:
            return []
        return grade(
            self._scenario.checks,
            self._shown(self._initial or {}),
            self._shown(self._live.state),
            self._scenario.may_change,
            timeout=self._timeout,
            isolation=self._isolation,
            apart=self._reward == "strict",
        )

    def _pay(self, outcomes: list[Outcome], truncated: bool) -> float | None:
        if self._scenario is None:
            return 0.0
        # The published rule pays nothing for an episode that was cut off.
        return 0.0 if self._reward == "paper" and truncated else reward(outcomes, self._reward)


def _checked_state(given: Scenario | Mapping[str, Json] | None) -> State:
    if given is not None and not isinstance(given, Scenario | Mapping):
        raise ParameterError(
            f"Expected a scenario or a state (a dict of tables), got {type(given).__name__}."
        )
    return through_json(given.initial_state if isinstance(given, Scenario) else dict(given or {}))


def _refusal(sentence: str) -> dict[str, Json]:
    return {"success": False, "error": sentence}


def _quoted(name: Json) -> str:
    return repr(name[:100]) if isinstance(name, str) else f"called {type(name).__name__}"
