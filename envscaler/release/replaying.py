"""Recorded episodes re-executed: the calls of each in our sandbox, and its reward by the rule it was paid by.

    trajectories + environments + scenarios → `replay_all` → a `Replay` each → `replay_table`, `replay_summary`

How two replies compare is `world.replay`'s to say. An episode whose environment or scenario is not there, or whose
environment is lost, is a failure and never a difference.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import pandas as pd
from tqdm.auto import tqdm

from envscaler.error import StoreError
from envscaler.parallel import run_all
from envscaler.release.episodes import recorded_calls, recorded_reward
from envscaler.release.shapes import env_id, task_id
from envscaler.schema import Failure, Json, Rollout, Scenario, Skeleton
from envscaler.store import Records
from envscaler.world.replay import CLASSES, Replay, replay

DIFFERENT = tuple(kind for kind in CLASSES if kind != "same")
_BATCH = 64
"""Episodes held at a time."""


class Replayed(Replay):
    """A replayed episode beside what was recorded."""

    env_id: str
    """Published name of its environment."""
    task_id: str
    """Published name of its scenario."""
    recorded_reward: float | None
    """None where none was recorded."""

    @property
    def reward_same(self) -> bool | None:
        """Whether it is paid as it was; None where nothing was recorded or is to be paid."""
        if self.recorded_reward is None or self.reward is None:
            return None if self.recorded_reward is None else False
        return abs(self.reward - self.recorded_reward) < 1e-4

    @property
    def explained(self) -> bool:
        """Whether every difference has an explanation and the reward is the same."""
        return self.reward_same is not False and not self.counts["real"]


def replay_all(
    trajectories: Iterable[Rollout | Failure],
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    *,
    workers: int = 2,
    progress: bool = True,
) -> Records[Replayed]:
    """Replay recorded episodes, a bounded number of them in memory at a time.

    What is kept of a call that is the same is that it is; both replies are kept of those that are not.

    Args:
        trajectories: as `iter_trajectories` gives them; failures among them are passed on.
        skeletons: their environments.
        scenarios: their scenarios, matched by id.
        workers: sandboxes at once.
        progress: whether to show a bar.

    Raises:
        KeyboardInterrupt: it was interrupted.
    """
    worlds, posed = {s.id: s for s in skeletons}, {s.id: s for s in scenarios}

    def one(rollout: Rollout) -> Replayed:
        again = replay_episode(rollout, worlds, posed)
        nothing = {"recorded": None, "reply": None}
        calls = [c.model_copy(update=nothing) if c.kind == "same" else c for c in again.calls]
        return again.model_copy(update={"calls": calls})

    done: Records[Replayed] = Records()
    with tqdm(desc="replay", unit="episode", disable=not progress, leave=False) as bar:
        for batch in _batches(trajectories):
            done.failures += [failure for failure in batch if isinstance(failure, Failure)]
            some = [rollout for rollout in batch if isinstance(rollout, Rollout)]
            made = run_all(
                one, some, stage="replay", name=lambda r: r.scenario_id, workers=workers, progress=False
            )
            if len(made) + len(made.failures) < len(some):
                raise KeyboardInterrupt
            done.extend(made)
            done.failures += made.failures
            bar.update(len(batch))
    return done


def _batches(things: Iterable[Rollout | Failure]) -> Iterator[list[Rollout | Failure]]:
    rest = iter(things)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def replay_episode(
    rollout: Rollout, skeletons: dict[str, Skeleton], scenarios: dict[str, Scenario]
) -> Replayed:
    """Replay one recorded episode.

    Raises:
        StoreError: its scenario or environment is not there.
        EnvironmentLost: the environment crashed or hung too often.
    """
    scenario = scenarios.get(rollout.scenario_id)
    skeleton = skeletons.get(scenario.skeleton_id) if scenario else None
    if scenario is None or skeleton is None:
        missing = "scenario" if scenario is None else "environment"
        raise StoreError(
            f"Expected the {missing} of the episode {rollout.scenario_id}, but it is not among those given. "
            f"Name the file that has it: --{missing}s FILE."
        )
    # What has outcomes was graded by us, and our guards are none of the published rule.
    rule = "default" if rollout.outcomes else "paper"
    again = replay(skeleton, scenario, recorded_calls(rollout), reward=rule)
    # The published rule pays at the end only: nothing when an episode was cut off or a tool raised.
    ended = rollout.ending in ("finished", "stopped") or rule == "default"
    return Replayed(
        scenario_id=scenario.id,
        calls=again.calls,
        reward=again.reward if ended or again.reward is None else 0.0,
        env_id=env_id(skeleton),
        task_id=task_id(scenario),
        recorded_reward=recorded_reward(rollout),
    )


def replay_table(replays: Sequence[Replayed], *, by: str = "task_id") -> pd.DataFrame:
    """Calls of each class and rewards then and now, one row an episode, or an environment with `by="env_id"`."""
    rows = [
        {
            "env_id": r.env_id,
            "task_id": r.task_id,
            "calls": len(r.calls),
            **{kind: r.counts[kind] for kind in CLASSES},
            "recorded": r.recorded_reward,
            "reward": r.reward,
        }
        for r in replays
    ]
    frame = pd.DataFrame(rows, columns=["env_id", "task_id", "calls", *CLASSES, "recorded", "reward"])
    if by == "task_id":
        return frame.set_index("task_id").drop(columns="env_id")
    sums = frame.groupby("env_id")[["calls", *CLASSES]].sum()
    means = frame.groupby("env_id")[["recorded", "reward"]].mean()
    sums.insert(0, "episodes", frame.groupby("env_id").size())
    return sums.join(means)


def replay_summary(replays: Records[Replayed]) -> dict[str, Json]:
    """The counts: trajectories, calls, what was the same, and the classes of what was not."""
    kinds = sum((r.counts for r in replays), Counter())
    rewards = [r.reward_same for r in replays if r.reward_same is not None]
    return {
        "trajectories": len(replays),
        "calls": sum(kinds.values()),
        "observations_same": kinds["same"],
        "rewards": len(rewards),
        "rewards_same": sum(rewards),
        "classes": {kind: kinds[kind] for kind in DIFFERENT},
        "failures": len(replays.failures),
    }


def differences(replays: Records[Replayed]) -> Iterator[dict[str, Json]]:
    """What is not the same: each call, each reward, and each episode that could not be replayed."""
    for r in replays:
        where = {"env_id": r.env_id, "task_id": r.task_id}
        for number, call in enumerate(r.calls):
            if call.kind != "same":
                made = {"tool": call.call.tool, "arguments": call.call.arguments}
                seen = {"recorded": call.recorded, "reply": call.reply}
                yield {**where, "class": call.kind, "number": number, **made, **seen}
        if r.reward_same is False:
            yield {**where, "class": "reward", "recorded": r.recorded_reward, "reply": r.reward}
    for failure in replays.failures:
        yield {"class": "failure", **failure.model_dump(mode="json")}


def vacuous_table(
    trajectories: Iterable[Rollout],
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    vacuous: Mapping[str, Collection[str]],
) -> pd.DataFrame:
    """What recorded episodes earn by the published rule, with all checks and without vacuous ones; one row an episode.

    Args:
        trajectories: recorded episodes; those whose scenario or environment is not there are passed over.
        skeletons: their environments.
        scenarios: their scenarios, matched by id.
        vacuous: items of a scenario's checks that hold before anything is done, by the scenario's id.
    """
    worlds, posed = {s.id: s for s in skeletons}, {s.id: s for s in scenarios}
    rows = []
    for rollout in trajectories:
        scenario = posed.get(rollout.scenario_id)
        skeleton = worlds.get(scenario.skeleton_id) if scenario else None
        if scenario is None or skeleton is None:
            continue
        idle = vacuous.get(scenario.id, ())
        left = scenario.replace(checks=[check for check in scenario.checks if check.item not in idle])
        calls = recorded_calls(rollout)
        paid = [replay(skeleton, one, calls, reward="paper").reward for one in (scenario, left)]
        rows.append((task_id(scenario), rollout.agent, len(scenario.checks), len(idle), *paid))
    columns = ["episode", "agent", "checks", "vacuous", "as graded", "without"]
    return pd.DataFrame(rows, columns=columns).astype({"as graded": float, "without": float})
