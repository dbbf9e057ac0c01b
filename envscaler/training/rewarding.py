"""A reward for trainers that reinforce: completed episodes are played again and graded by the scenarios' checks.

What a trainer's own tools replied is not believed. The environment and its checks are those of any episode, and so
is the rule that what breaks here is never a reward of 0. Nothing is generated here.
"""

import logging
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from envscaler.acting.finishing import FINISH, finished
from envscaler.acting.messages import as_action, calls_so_far
from envscaler.acting.wording import parse_calls
from envscaler.error import CheckError, EnvironmentLost, ParameterError, SandboxError, SourceError
from envscaler.given import many
from envscaler.model.request import Message
from envscaler.schema import Scenario, Skeleton
from envscaler.scripted import tool_call
from envscaler.world import check
from envscaler.world.check import RewardMode
from envscaler.world.environment import Environment

log = logging.getLogger(__name__)


def reward_function(
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    *,
    reward: RewardMode = "default",
    seed: int = 0,
    workers: int = 8,
) -> "RewardFunction":
    """A reward for trainers such as TRL's `GRPOTrainer`, from the scenarios' own checks.

        dataset = Dataset.from_list([{"prompt": [{"role": "user", "content": s.task}], "scenario_id": s.id} …])
        trainer = GRPOTrainer(model, reward_funcs=es.reward_function(skeletons, scenarios), train_dataset=dataset, …)

    Args:
        skeletons: the worlds.
        scenarios: what is played; named by the column `scenario_id`.
        reward: how it is paid; see `check.reward`.
        seed: of times, ids and draws; it must be that of the environments in which the completions were made, for a
            call may name an id that an earlier one has drawn. A column `seed` takes its place.
        workers: episodes at once.

    Raises:
        ParameterError: no such reward, or a scenario whose skeleton is not given.
    """
    return RewardFunction(skeletons, scenarios, reward=reward, seed=seed, workers=workers)


class RewardFunction:
    """What `reward_function` returns. It can be pickled, and called from any thread."""

    def __init__(
        self,
        skeletons: Iterable[Skeleton],
        scenarios: Iterable[Scenario],
        *,
        reward: RewardMode,
        seed: int,
        workers: int,
    ) -> None:
        check.reward([], reward)  # refuses one that is not known
        self.__name__ = "envscaler_reward"  # trainers log under it
        worlds = {skeleton.id: skeleton for skeleton in many(skeletons, Skeleton)}
        self._reward, self._seed, self._workers = reward, seed, workers
        self._known: dict[str, tuple[Skeleton, Scenario]] = {}
        for scenario in many(scenarios, Scenario):
            if scenario.skeleton_id not in worlds:
                raise ParameterError(
                    f"Expected the skeleton {scenario.skeleton_id} of scenario {scenario.id} among the "
                    f"{len(worlds)} given."
                )
            self._known[scenario.id] = worlds[scenario.skeleton_id], scenario

    def __call__(
        self,
        prompts: Sequence[Any] | None = None,
        completions: Sequence[Any] = (),
        *,
        scenario_id: Sequence[str] = (),
        seed: Sequence[int] | None = None,
        **_: Any,
    ) -> list[float | None]:
        """Execute each completion's calls in a fresh environment of its scenario, and grade the state it leaves.

        Tool replies within a completion are not believed: what counts is what the calls do here. An agent's slip is
        answered as in any episode and costs what it costs. Where the environment or a check broke the reward is None,
        which trainers leave out, and a warning says so.

        Args:
            prompts: not read; the scenarios hold the tasks.
            completions: what was generated: messages of an episode (in OpenAI form, calls also as `<tool_call>` in
                the text), or its text.
            scenario_id: the scenario of each completion, a column of the trainer's data set.
            seed: the seed of each; default that of the function.
            _: further columns and whatever else a trainer hands over.

        Raises:
            ParameterError: an unknown scenario, a column of another length, or a completion that is neither text nor
                messages.
        """
        seeds = [self._seed] * len(completions) if seed is None else list(seed)
        if not len(completions) == len(scenario_id) == len(seeds):
            raise ParameterError(
                f"Expected a scenario_id (and a seed, if any) for each of {len(completions)} completions, got "
                f"{len(scenario_id)} (and {len(seeds)}). The data set needs a column `scenario_id`."
            )
        if unknown := [name for name in scenario_id if name not in self._known]:
            raise ParameterError(
                f"Expected ids of the {len(self._known)} scenarios given, got {unknown[0]!r} and {len(unknown) - 1} "
                "more."
            )
        with ThreadPoolExecutor(max(1, min(self._workers, len(completions))), "reward") as pool:
            return list(pool.map(self._graded, completions, scenario_id, seeds))

    def _graded(self, completion: Any, scenario_id: str, seed: int) -> float | None:
        skeleton, scenario = self._known[scenario_id]
        actions, talks = actions_of(completion, [*(tool.name for tool in skeleton.tools), FINISH.name])
        ends = skeleton.tool(FINISH.name) is None
        # One that ends with a call was cut off, as the paper's reward wants to know; any other has come to its end.
        steps = len(actions) + (not actions[-1].get("tool_calls") or (ends and finished(actions[-1])[2]))
        options: dict[str, Any] = {
            "seed": seed,
            "max_steps": steps,
            "conversation": talks,
            "reward": self._reward,
        }
        try:
            with Environment(skeleton, scenario, **options) as environment:
                environment.reset()
                for action in actions:
                    made, _, over = finished(action) if ends else (action, {}, False)
                    _, earned, terminated, truncated, _ = environment.step(made)
                    if terminated or truncated:
                        return earned
                    if over:
                        break
                return environment.finish()[1]
        except (EnvironmentLost, SandboxError, SourceError, CheckError) as error:
            log.warning("No reward for an episode of scenario %s: %s", scenario_id, error)
            return None


_REPLIES = re.compile(r"<tool_response>.*?(?:</tool_response>|\Z)", re.DOTALL)
"""The environment's part of an episode that is one text."""


def actions_of(completion: Any, names: Collection[str] = ()) -> tuple[list[Message], bool]:
    """The assistant messages of a completion in OpenAI form, at least one, and whether a user speaks in it.

    Args:
        completion: text or messages.
        names: the declared tools; see `parse_calls`.

    Raises:
        ParameterError: it is neither text nor messages.
    """
    if isinstance(completion, str):
        turns = [_said(turn, names) for turn in _REPLIES.split(completion)]
        # Between two replies, and after the last one of an episode that was cut off, nobody has spoken.
        said, talks = [turn for turn in turns[:-1] if turn.get("tool_calls")], False
        if turns[-1]["content"] or turns[-1].get("tool_calls") or not said:
            said.append(turns[-1])
    elif isinstance(completion, Sequence) and all(isinstance(message, Mapping) for message in completion):
        said = [
            _with_calls(message, names)
            for message in completion
            if message.get("role", "assistant") == "assistant"
        ]
        talks = any(message.get("role") == "user" for message in completion)
    else:
        raise ParameterError(f"Expected a completion that is text or messages, got {completion!r:.100}.")
    messages: list[Message] = []
    for message in said or [{"role": "assistant", "content": ""}]:
        messages.append(as_action(message, calls_so_far(messages))[0])
    return messages, talks


def _with_calls(message: Mapping[str, Any], names: Collection[str]) -> Message:
    content = message.get("content")
    return (
        dict(message) if message.get("tool_calls") or not isinstance(content, str) else _said(content, names)
    )


def _said(text: str, names: Collection[str]) -> Message:
    said = parse_calls(text, names)
    message: Message = {"role": "assistant", "content": said.text}
    return (
        {**message, "tool_calls": [tool_call(i, *call) for i, call in enumerate(said.calls)]}
        if said.calls
        else message
    )
