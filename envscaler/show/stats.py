"""The numbers behind the figures: frames, intervals, win rates, histograms.

Pure functions of records and data frames, vectorised, seeded, without a picture (`figures` draws) and without
a verdict. Two things are kept in sight everywhere. Rollouts of one environment are alike, so intervals
resample environments first and scenarios second. A reward that is None (the infrastructure or a check failed)
is never a 0 and never dropped in silence: means leave it out and the column `missing` counts it.
"""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from envscaler.error import ParameterError
from envscaler.given import a_frame, at_least, many, told, whole
from envscaler.project import check_seed
from envscaler.schema import Rollout, Scenario, Skeleton

MODES = {False: "non-conversation", True: "conversation"}
MEASURES = ("reward", "solved", "steps")
_CELLS_AT_ONCE = 2_000_000
_ROLLOUT_COLUMNS = [
    "agent", "mode", "scenario_id", "skeleton_id", "seed", "reward", "solved", "steps", "calls",
    "refused", "faults", "user_turns", "ending", "cause", "model_calls", "tokens",
]  # fmt: skip
_MADE_BY = "`rollout_frame`"
_ENDS = (0.025, 0.975)
"""Between these lies what an interval covers, here and in all figures."""


def rollout_frame(rollouts: Iterable[Rollout], scenarios: Iterable[Scenario]) -> pd.DataFrame:
    """One row a rollout: who, where, in which mode, reward, solved, steps, calls, ending, cost.

    `refused` counts calls that were answered with an error, `faults` those on which the environment itself broke.
    `reward` and `solved` are NaN where the reward is None; `skeleton_id` is empty where the scenario is not given.
    """
    homes = {scenario.id: scenario.skeleton_id for scenario in many(scenarios, Scenario)}
    rows = [_rollout_row(rollout, homes.get(rollout.scenario_id, "")) for rollout in many(rollouts, Rollout)]
    return pd.DataFrame(rows, columns=_ROLLOUT_COLUMNS).astype({"reward": float, "solved": float})


def _rollout_row(rollout: Rollout, skeleton_id: str) -> dict[str, Any]:
    reward = rollout.reward
    said = rollout.messages
    return {
        "agent": rollout.agent,
        "mode": MODES[rollout.conversation],
        "scenario_id": rollout.scenario_id,
        "skeleton_id": skeleton_id,
        "seed": rollout.seed,
        "reward": np.nan if reward is None else reward,
        "solved": np.nan if reward is None else float(reward == 1.0),
        "steps": rollout.steps,
        "calls": sum(len(message.get("tool_calls") or ()) for message in said),
        "refused": sum(m.get("role") == "tool" and _refused(str(m.get("content"))) for m in said),
        "faults": len(rollout.extra.get("faults") or ()),
        "user_turns": sum(message.get("role") == "user" for message in said),
        "ending": rollout.ending,
        "cause": rollout.cause,
        "model_calls": rollout.usage.calls,
        "tokens": rollout.usage.input_tokens + rollout.usage.output_tokens,
    }


def _refused(content: str) -> bool:
    return '"success":false' in content[:200].replace(" ", "").lower()


def environment_frame(skeletons: Iterable[Skeleton], scenarios: Iterable[Scenario] = ()) -> pd.DataFrame:
    """One row an environment: its tools, attributes, rules, entities and scenarios, counted."""
    homes = [scenario.skeleton_id for scenario in many(scenarios, Scenario)]
    posed = pd.Series(homes, dtype=object).value_counts()
    rows = [
        {
            "skeleton_id": skeleton.id,
            "title": skeleton.title,
            "query_tools": sum(not tool.mutates for tool in skeleton.tools),
            "state_change_tools": sum(tool.mutates for tool in skeleton.tools),
            "tools": len(skeleton.tools),
            "attributes": skeleton.attributes,
            "rules": len(skeleton.rules),
            "entities": len(skeleton.state),
            "scenarios": int(posed.get(skeleton.id, 0)),
        }
        for skeleton in many(skeletons, Skeleton)
    ]
    counts = ["query_tools", "state_change_tools", "tools", "attributes", "rules", "entities", "scenarios"]
    return pd.DataFrame(rows, columns=["skeleton_id", "title", *counts])


def summary_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean, median, least and most of every column of numbers; one row a column."""
    numbers = a_frame(frame, (), "`environment_frame`").select_dtypes("number")
    columns: list[Any] = ["mean", "median", "min", "max"]
    return numbers.agg(columns).T if len(numbers.columns) else pd.DataFrame(columns=columns)


def funnel(stages: Mapping[str, int | Sized]) -> pd.DataFrame:
    """Counts a stage, in the order given, with the share of the stage before and of the first one.

    Args:
        stages: name → number, or records (whose `failures` are counted beside).

    Raises:
        ParameterError: a stage is neither.
    """
    if not isinstance(stages, Mapping):
        raise ParameterError(f"Expected the name of every stage with its number, got {told(stages)}.")
    counts = [_count(name, stage) for name, stage in stages.items()]
    failures = [len(getattr(stage, "failures", ())) for stage in stages.values()]
    frame = pd.DataFrame({"stage": list(stages), "count": counts, "failures": failures})
    frame["of_previous"] = frame["count"] / frame["count"].shift().replace(0, np.nan)
    frame["of_first"] = frame["count"] / (frame["count"].iloc[0] or np.nan) if len(frame) else []
    return frame


def _count(name: str, stage: Any) -> int:
    if whole(stage) and stage >= 0:
        return int(stage)
    if isinstance(stage, Sized) and not isinstance(stage, str | bytes):
        return len(stage)
    raise ParameterError(f"Expected a number or records for the stage {name}, got {told(stage)}.")


def check_settings(resamples: int, seed: int) -> None:
    """Refuse what nothing can be resampled with."""
    at_least(resamples, 1, "resamples")
    check_seed(seed)


def intervals(
    frame: pd.DataFrame,
    *,
    measures: Sequence[str] = MEASURES,
    by: Sequence[str] = ("agent", "mode"),
    resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Means with percentile intervals of the two-level bootstrap: environments, then scenarios within each.

    One row a group and measure, with `mean`, `low`, `high`, and what it rests on: `rollouts`, `missing`
    (reward None), `scenarios`, `environments`. Resampling both levels errs on the wide side: in simulations of
    24 × 10 scenarios a 95 % interval covers the truth in 99 % of the cases. Where all values are equal it has
    no width, which says that nothing varied and not that nothing is unknown.

    Args:
        frame: as `rollout_frame` makes it.
        measures: columns to average.
        by: columns that make a group.
        resamples: how often to resample.
        seed: of the resampling.

    Raises:
        ParameterError: the frame lacks a column, or a number is none that will do.
    """
    check_settings(resamples, seed)
    by, measures = _names(by), _names(measures)
    a_frame(frame, [*by, *measures, "reward", "scenario_id", "skeleton_id"], _MADE_BY)
    rows = []
    for key, group in frame.groupby(list(by), sort=True):
        names = dict(zip(by, key, strict=True))
        means = _resampled_means(group, measures, resamples, np.random.default_rng(seed))
        for measure, drawn in means.items():
            low, high = quantiles(drawn)
            bounds = {"mean": float(group[measure].mean()), "low": low, "high": high}
            rows.append({**names, "measure": measure, **bounds, **_basis(group)})
    basis = ["rollouts", "missing", "scenarios", "environments"]
    return pd.DataFrame(rows, columns=[*by, "measure", "mean", "low", "high", *basis])


def _names(given: Sequence[str]) -> list[str]:
    names = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"Expected names of columns, got {told(given)}.")
    return names


def quantiles(drawn: np.ndarray) -> tuple[float, float]:
    """The two ends between which 95 % of the drawn values lie; NaN where there are none."""
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return np.nan, np.nan
    low, high = np.quantile(known, _ENDS)
    return float(low), float(high)


def _basis(group: pd.DataFrame) -> dict[str, int]:
    return {
        "rollouts": len(group),
        "missing": int(group["reward"].isna().sum()),
        "scenarios": group["scenario_id"].nunique(),
        "environments": group["skeleton_id"].nunique(),
    }


def _resampled_means(
    group: pd.DataFrame, measures: Sequence[str], resamples: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Mean of each measure in each resample; all measures are drawn together."""
    cells = group.groupby(["skeleton_id", "scenario_id"], sort=True)
    sums, counts = cells[list(measures)].sum(), cells[list(measures)].count()
    environment = pd.factorize(sums.index.get_level_values(0))[0]
    sizes = np.bincount(environment)
    place = np.arange(len(environment)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # One row an environment, one column a scenario of it; the rows' ends are never drawn.
    table = np.zeros((2, len(measures), len(sizes), sizes.max()))
    table[0][:, environment, place] = sums.to_numpy().T
    table[1][:, environment, place] = counts.to_numpy().T
    parts, step = [], max(1, _CELLS_AT_ONCE // (table.size or 1))
    for start in range(0, resamples, step):
        parts.append(_resample(table, sizes, min(step, resamples - start), rng))
    total, number = np.concatenate(parts, axis=-1)
    means = np.divide(total, number, out=np.full_like(total, np.nan), where=number > 0)
    return dict(zip(measures, means, strict=True))


def _resample(table: np.ndarray, sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Sums and counts of `n` resamples: environments with replacement, then as many scenarios as each has."""
    chosen = rng.integers(len(sizes), size=(n, len(sizes)))
    width = table.shape[-1]
    size = sizes[chosen][..., None]
    scenario = (rng.random((n, len(sizes), width)) * size).astype(np.intp)
    counted = np.arange(width) < size
    drawn = table[:, :, chosen[..., None], scenario]
    return np.where(counted, drawn, 0.0).sum(axis=(-1, -2))


@dataclass(frozen=True)
class WinRates:
    """How often each agent earns more than each other one, on the same scenarios."""

    matrix: pd.DataFrame
    """Row against column: mean of 1 for a higher reward, 0.5 for an equal one, 0 for a lower one."""
    table: pd.DataFrame
    """Per agent: its mean win rate over the others, with an interval, and its mean reward."""
    scenario_ids: tuple[str, ...]
    """The scenarios that were compared on."""
    left_out: int
    """Scenarios not played by all agents, or in which a reward is None."""


def win_rates(
    frame: pd.DataFrame,
    n: int | None = 50,
    *,
    mode: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> WinRates:
    """Pairwise win rates on sampled scenarios, the same ones for all agents (PAPER 5).

    Args:
        frame: as `rollout_frame` makes it.
        n: scenarios to sample; None, or more than there are, takes all.
        mode: `conversation` or `non-conversation`; None compares within each mode and averages.
        resamples: how often scenarios are resampled for the intervals.
        seed: of sampling and resampling.

    Raises:
        ParameterError: fewer than two agents, or no scenario that all of them have a reward in.
    """
    check_settings(resamples, seed)
    if n is not None:
        at_least(n, 1, "scenarios to sample")
    a_frame(frame, ["mode", "agent", "scenario_id", "reward"], _MADE_BY)
    if not (mode is None or (isinstance(mode, str) and mode in MODES.values())):
        raise ParameterError(
            f"Expected a mode out of {', '.join(MODES.values())}, or None, got {told(mode)}."
        )
    played = frame if mode is None else frame[frame["mode"] == mode]
    cells = played.pivot_table(
        index="scenario_id", columns=["mode", "agent"], values="reward", aggfunc="mean", dropna=False
    )
    complete = cells.dropna()
    agents = sorted(played["agent"].unique())
    if len(agents) < 2 or complete.empty:
        raise ParameterError(
            f"Expected at least two agents with rewards in the same scenarios, got {len(agents)} agents and "
            f"{len(complete)} such scenarios of {len(cells)}. Play every scenario with all agents."
        )
    chosen = np.random.default_rng(seed).permutation(len(complete))[:n]
    sample = complete.iloc[np.sort(chosen)]
    rewards = np.stack([sample[m][agents].to_numpy() for m in sample.columns.unique("mode")])
    wins = _wins(rewards).mean(axis=0)
    return WinRates(
        pd.DataFrame(wins.mean(axis=0), index=agents, columns=agents),
        _win_table(agents, wins, rewards.mean(axis=(0, 1)), resamples, seed),
        tuple(map(str, sample.index)),
        len(cells) - len(complete),
    )


def _wins(rewards: np.ndarray) -> np.ndarray:
    """(…, scenarios, agents) → (…, scenarios, agents, agents); rewards equal but for rounding are equal."""
    difference = rewards[..., :, None] - rewards[..., None, :]
    return np.where(np.abs(difference) < 1e-9, 0.5, (difference > 0).astype(float))


def _win_table(
    agents: Sequence[str], wins: np.ndarray, reward: np.ndarray, resamples: int, seed: int
) -> pd.DataFrame:
    # The diagonal holds 0.5 and is no opponent.
    against = (wins.sum(axis=-1) - 0.5) / (len(agents) - 1)
    draws = np.random.default_rng(seed).integers(len(against), size=(resamples, len(against)))
    low, high = np.quantile(against[draws].mean(axis=1), _ENDS, axis=0)
    table = pd.DataFrame({"agent": agents, "win_rate": against.mean(axis=0), "low": low, "high": high})
    table = table.assign(reward=reward, scenarios=len(against))
    return table.sort_values("win_rate", ascending=False, ignore_index=True)


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion at 95 %; never without width, also at 0 and 1.

    Raises:
        ParameterError: there are more successes than there can be.
    """
    if at_least(successes, 0, "successes") > at_least(n, 0, "n"):
        raise ParameterError(f"Expected at most {n} successes, got {successes}.")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(_ENDS[1])
    p = successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return float(max(0.0, middle - half)), float(min(1.0, middle + half))


def histogram_match(
    values: Iterable[float], paper: Mapping[str, Any], sample: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Our values, and those of the published sample, on the paper's bins, side by side, in counts and shares.

    Bins of the same width are added at either end where a value needs them, so that every one is counted.

    Args:
        values: ours.
        paper: one histogram of the published facts: `counts_by_value`, or `edges` and `counts`.
        sample: one of the published sample, `counts_by_value`; None where it has none.

    Raises:
        ParameterError: the values are no numbers, or the histogram is none.
    """
    edges, counts = _paper_bins(paper)
    ours = _finite(values)
    theirs = np.array(
        [int(v) for v, n in ((sample or {}).get("counts_by_value") or {}).items() for _ in range(n)]
    )
    width, both = edges[1] - edges[0], np.concatenate([ours, theirs])
    if len(both):
        below = max(0, int(np.ceil((edges[0] - both.min()) / width)))
        above = max(0, int(np.floor((both.max() - edges[-1]) / width)) + 1)
        edges = edges[0] - below * width + width * np.arange(len(counts) + below + above + 1)
        counts = np.pad(counts, (below, above))
    (found, _), (published, _) = np.histogram(ours, bins=edges), np.histogram(theirs, bins=edges)
    return pd.DataFrame(
        {
            "left": edges[:-1],
            "right": edges[1:],
            "middle": (edges[:-1] + edges[1:]) / 2,
            "paper": counts,
            "sample": published,
            "ours": found,
            "paper_share": counts / counts.sum(),
            "sample_share": published / max(1, len(theirs)),
            "our_share": found / max(1, len(ours)),
        }
    )


def _finite(values: Iterable[float]) -> np.ndarray:
    try:
        found = np.asarray(list(values), dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(f"Expected a list of numbers, got {told(values)}.") from None
    if found.ndim != 1 or not np.isfinite(found).all():
        raise ParameterError("Expected finite numbers, got some that are not.")
    return found


def _paper_bins(paper: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(paper, Mapping):
        raise ParameterError(f"Expected a histogram of the published facts, got {told(paper)}.")
    if "counts_by_value" in paper:
        by_value = {int(value): count for value, count in paper["counts_by_value"].items()}
        low, high = min(by_value), max(by_value)
        return np.arange(low, high + 2) - 0.5, np.array([by_value.get(v, 0) for v in range(low, high + 1)])
    if "edges" in paper and "counts" in paper and len(paper["edges"]) == len(paper["counts"]) + 1:
        return np.asarray(paper["edges"], dtype=float), np.asarray(paper["counts"])
    raise ParameterError(
        f"Expected `counts_by_value`, or `edges` and `counts`, got {', '.join(map(str, paper))}."
    )
