"""Agents side by side: who ended an episode, pass@k and pass^k, paired tests, and what makes a scenario hard.

It goes on from the frame of `stats.rollout_frame` and, like `stats`, gives no verdict. A reward that is None is in no
mean and no test here, and a column says how many there were. Intervals are those of `stats.intervals`: environments
are resampled first and scenarios within them second, because what is said is meant for other environments too, and two
scenarios of one environment are not independent. Win rates are in `stats`.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import f as fisher
from scipy.stats import permutation_test

from envscaler.error import ParameterError
from envscaler.given import a_frame, at_least, many
from envscaler.schema import Scenario, Skeleton
from envscaler.show.canvas import (
    INK,
    OURS,
    PAPER,
    QUIET,
    THIRD,
    axes_for,
    caption,
    in_house_style,
    says_nothing,
)
from envscaler.show.stats import check_settings, intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDS = {
    "finished": "by the agent",
    "stopped": "by the user",
    "truncated": "by the limit",
    "environment": "lost: environment",
    "model": "lost: model",
    "check": "lost: check",
}
"""How an episode ended, or by what its reward was lost, and the column of `ending_table` that counts it."""
FACTORS = {
    "witness": "calls of the witness",
    "changes": "calls of it that change something",
    "goals": "goals to bring about",
    "tools": "tools to choose from",
}
"""Columns of `hardness_frame` that may make a scenario hard, in words."""
_MADE_BY = "`rollout_frame`"


# Endings

_ENOUGH = 5
"""Scenarios that a bin must have for a sentence to speak of it."""


def ending_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Who ended the episodes of each agent and mode, and what took the reward of those that have none.

    Every episode is counted once: with a reward under who ended it (the agent, the user, the limit of steps), without
    one under what was lost (`environment`, `model`, `check`, or another cause that was written down; `nothing to
    grade` where none was). `missing` sums the latter up. `refused` and `faults` are means an episode: calls that were
    the agent's slips, and the environment's own faults.
    """
    a_frame(frame, ["agent", "mode", "reward", "ending", "cause", "refused", "faults"], _MADE_BY)
    lost = frame["reward"].isna()
    causes = frame["cause"].where(frame["cause"] != "", "nothing to grade")
    how = frame["ending"].where(~lost, causes).map(lambda name: ENDS.get(name, f"lost: {name}"))
    groups = [frame["agent"], frame["mode"]]
    table = pd.crosstab(groups, how)
    known = [name for name in ENDS.values() if name in table]
    table = table[[*known, *(name for name in table if name not in known)]]
    table.columns.name = None
    slips = frame[["refused", "faults"]].groupby(groups).mean()
    return table.assign(missing=lost.groupby(groups).sum(), **slips).reset_index()


# Several rollouts of one scenario


def pass_at_k(n: int, solved: int, k: int) -> float:
    """The chance that at least one of k rollouts solves it, estimated without bias: 1 - C(n-c, k) / C(n, k).

    Args:
        n: rollouts that were played.
        solved: how many of them solved it.
        k: rollouts to draw; NaN where fewer were played.
    """
    _check_counts(n, solved, k)
    return 1 - comb(n - solved, k) / comb(n, k) if n >= k else np.nan


def pass_hat_k(n: int, solved: int, k: int) -> float:
    """The chance that all of k rollouts solve it, pass^k, estimated without bias: C(c, k) / C(n, k)."""
    _check_counts(n, solved, k)
    return comb(solved, k) / comb(n, k) if n >= k else np.nan


def _check_counts(n: int, solved: int, k: int) -> None:
    at_least(k, 1, "the number of rollouts to draw")
    if at_least(solved, 0, "how many solved it") > at_least(n, 0, "the number of rollouts"):
        raise ParameterError(f"Expected at most all {n} rollouts to have solved it, got {solved}.")


def pass_table(
    frame: pd.DataFrame,
    ks: Sequence[int] = (1, 2, 4),
    **settings: Any,
) -> pd.DataFrame:
    """pass@k and pass^k of each agent and mode: the means over scenarios of `pass_at_k` and `pass_hat_k`.

    A rollout solves a scenario when its reward is 1. One without a reward is no rollout of it, neither solved nor
    unsolved, and counted in `missing`. A scenario with fewer than k rollouts left says nothing about k: it is left out
    of that row and counted in `short`. Where every scenario is, the estimates are NaN. Rollouts must differ by their
    seed; a deterministic agent played twice is played once.

    Args:
        frame: as `rollout_frame` makes it.
        ks: how many rollouts to draw.
        settings: of `stats.intervals`.
    """
    if not ks:
        raise ParameterError("Expected numbers of rollouts to draw, got none.")
    by = ["agent", "mode"]
    a_frame(frame, [*by, "skeleton_id", "scenario_id", "solved"], _MADE_BY)
    where = [*by, "skeleton_id", "scenario_id"]
    cells = frame.groupby(where)["solved"].agg(["count", "sum", "size"]).reset_index()
    cells = cells.assign(missing=cells["size"] - cells["count"], reward=0.0)
    parts = []
    for k in ks:
        drawn = [(n, int(c), k) for n, c in zip(cells["count"], cells["sum"], strict=True)]
        estimates = {
            f"pass@{k}": [pass_at_k(*d) for d in drawn],
            f"pass^{k}": [pass_hat_k(*d) for d in drawn],
        }
        told = cells.assign(short=cells["count"] < k, **estimates)
        counts = told.groupby(by)[["short", "size", "missing"]].sum().reset_index()
        means = intervals(told, measures=tuple(estimates), **settings).drop(columns=["rollouts", "missing"])
        parts.append(means.merge(counts, on=by).assign(k=k))
    table = pd.concat(parts, ignore_index=True).rename(columns={"size": "rollouts"})
    table["scenarios"] -= table["short"]
    counted = ["scenarios", "short", "rollouts", "missing"]
    return table[[*by, "measure", "k", "mean", "low", "high", *counted]]


# Two agents on the same scenarios


def permutation_table(
    frame: pd.DataFrame,
    *,
    measure: str = "reward",
    unit: Literal["scenario_id", "skeleton_id"] = "scenario_id",
    resamples: int = 9_999,
    seed: int = 0,
) -> pd.DataFrame:
    """Every pair of agents in each mode: the mean difference on the scenarios that both have played, and its p value.

    A pair is one scenario, each agent's rollouts of it averaged; where one of the two has no reward the pair is left
    out and counted in `missing`. The test asks how often a difference as large comes about when the two are
    interchangeable in every pair (two-sided, signs of pairs flipped): exact where there are no more than `resamples`
    ways to flip them, else by seeded Monte Carlo, as `method` says. `p_holm` is corrected for the number of tests
    in the table. The interval resamples environments, the test by scenario does not: it speaks of these scenarios.
    With `unit="skeleton_id"` a pair is an environment, and the test speaks of environments.

    Args:
        frame: as `rollout_frame` makes it.
        measure: the column to compare.
        unit: what makes a pair.
        resamples: permutations at most, and resamples of the intervals' bootstrap, a tenth of it.
        seed: of both.
    """
    check_settings(resamples, seed)
    a_frame(frame, ["mode", "skeleton_id", "scenario_id", "agent", measure], _MADE_BY)
    if unit not in ("scenario_id", "skeleton_id"):
        raise ParameterError(f"Expected the unit scenario_id or skeleton_id, got {unit!r}.")
    pairs = _differences(frame, measure)
    by = ("mode", "agent", "other")
    table = intervals(pairs, measures=("difference",), by=by, resamples=max(1000, resamples // 10), seed=seed)
    tests = [_tested(group, unit, resamples, seed) for _, group in pairs.groupby(list(by), sort=True)]
    columns = ["pairs", "p_value", "method"]
    table = pd.concat([table, pd.DataFrame(tests, columns=columns)], axis=1).assign(measure=measure)
    table["p_holm"] = _holm(table["p_value"].to_numpy(dtype=float))
    return table[
        [*by, "measure", "mean", "low", "high", "pairs", "missing", "p_value", "p_holm", "method"]
    ].rename(columns={"mean": "difference"})


def _differences(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    """One row a mode, pair of agents and scenario played by both; the difference is NaN where a value is missing."""
    played = frame.groupby(["mode", "skeleton_id", "scenario_id", "agent"])[measure].mean().reset_index()
    parts = []
    for agent, other in combinations(sorted(played["agent"].unique()), 2):
        ours, theirs = (played[played["agent"] == name].drop(columns="agent") for name in (agent, other))
        both = ours.merge(theirs, on=["mode", "skeleton_id", "scenario_id"], suffixes=("", "_other"))
        both["difference"] = both[measure] - both[f"{measure}_other"]
        parts.append(both.assign(agent=agent, other=other, reward=both["difference"]))
    if not parts or not sum(map(len, parts)):
        raise ParameterError(
            f"Expected two agents that played the same scenarios, got {played['agent'].nunique()} agents and "
            f"{played['scenario_id'].nunique()} scenarios. Play every scenario with all agents."
        )
    return pd.concat(parts, ignore_index=True)


def _tested(group: pd.DataFrame, unit: str, resamples: int, seed: int) -> tuple[int, float, str]:
    known = group.dropna(subset="difference").groupby(unit)["difference"].mean().to_numpy()
    if len(known) < 2:
        return len(known), np.nan, "too few pairs"
    test = permutation_test(
        (known, np.zeros_like(known)),
        lambda one, other, axis: np.mean(one - other, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    return len(known), float(test.pvalue), "exact" if 2 ** len(known) <= resamples else "Monte Carlo"


def _holm(values: np.ndarray) -> np.ndarray:
    """Holm's correction: holds the chance of any false finding among the tests below the level."""
    order = np.argsort(values)
    known = int((~np.isnan(values)).sum())
    corrected = np.full_like(values, np.nan)
    first = order[:known]
    corrected[first] = np.minimum(1, np.maximum.accumulate(values[first] * np.arange(known, 0, -1)))
    return corrected


# What makes a scenario hard


def hardness_frame(
    frame: pd.DataFrame, scenarios: Iterable[Scenario], skeletons: Iterable[Skeleton]
) -> pd.DataFrame:
    """The frame of rollouts with what may make each scenario hard (`FACTORS`) and its environment's title."""
    a_frame(frame, ["scenario_id"], _MADE_BY)
    worlds = {skeleton.id: skeleton for skeleton in many(skeletons, Skeleton)}
    known = [(s, worlds[s.skeleton_id]) for s in many(scenarios, Scenario) if s.skeleton_id in worlds]
    rows = [{"scenario_id": scenario.id, **_factors(scenario, world)} for scenario, world in known]
    return frame.merge(pd.DataFrame(rows, columns=["scenario_id", *FACTORS, "environment"]), on="scenario_id")


def _factors(scenario: Scenario, world: Skeleton) -> dict[str, Any]:
    writes = {tool.name for tool in world.tools if tool.mutates}
    return {
        "witness": len(scenario.witness),
        "changes": sum(call.tool in writes for call in scenario.witness),
        "goals": sum(check.kind == "goal" for check in scenario.checks),
        "tools": len(world.tools),
        "environment": world.title,
    }


def hardness_table(frame: pd.DataFrame, **settings: Any) -> pd.DataFrame:
    """Mean reward with an interval, a row an agent, factor and bin; bins hold about equally many scenarios.

    A factor has at most three bins, and fewer where its values do not differ enough.

    Args:
        frame: as `hardness_frame` makes it.
        settings: of `stats.intervals`.
    """
    a_frame(frame, ["agent", "scenario_id", *FACTORS], "`hardness_frame`")
    parts = []
    for factor, words in FACTORS.items():
        values = frame.groupby("scenario_id")[factor].first()
        cut = pd.qcut(values, min(3, max(values.nunique(), 1)), labels=False, duplicates="drop").fillna(0)
        ranges = values.groupby(cut).agg(["min", "max"])
        names = {b: f"{lo}" if lo == hi else f"{lo}-{hi}" for b, lo, hi in ranges.itertuples()}
        place = frame["scenario_id"].map(cut)
        told = frame.assign(bin=place, range=place.map(names))
        means = intervals(told, measures=("reward",), by=("agent", "bin", "range"), **settings)
        parts.append(means.assign(factor=words))
    counted = ["scenarios", "environments", "rollouts", "missing"]
    columns = ["agent", "factor", "bin", "range", "mean", "low", "high", *counted]
    return pd.concat(parts, ignore_index=True)[columns]


def environment_share(frame: pd.DataFrame) -> tuple[float, float, float]:
    """How much of the variance between scenarios lies between environments (0 none, 1 all of it), with an interval.

    The intraclass correlation of scenarios' mean rewards by one-way analysis of variance, below 0 set to 0, and
    Searle's interval at 95 %, which is exact for normal values and equally many scenarios an environment and else an
    approximation. NaN where no two environments have two scenarios, or all rewards are equal.
    """
    a_frame(frame, ["skeleton_id", "scenario_id", "reward"], _MADE_BY)
    cells = frame.groupby(["skeleton_id", "scenario_id"])["reward"].mean().dropna()
    groups = [group.to_numpy() for _, group in cells.groupby(level=0) if len(group) > 1]
    sizes, total = np.array([len(group) for group in groups]), sum(map(len, groups))
    if len(groups) < 2 or np.ptp(np.concatenate(groups)) < 1e-9:
        return np.nan, np.nan, np.nan
    means = np.array([group.mean() for group in groups])
    off = np.concatenate(groups) - np.repeat(means, sizes)
    degrees = len(groups) - 1, total - len(groups)
    within = max((off**2).sum() / degrees[1], 1e-12)
    ratio = (sizes * (means - (sizes * means).sum() / total) ** 2).sum() / degrees[0] / within
    size = (total - (sizes**2).sum() / total) / degrees[0]
    bounds = ratio / fisher.ppf(0.975, *degrees), ratio * fisher.ppf(0.975, *degrees[::-1])
    ratios = np.array([ratio, *bounds])
    found, low, high = np.clip((ratios - 1) / (ratios + size - 1), 0, 1)
    return float(found), float(low), float(high)


@in_house_style
def draw_hardness(table: pd.DataFrame, ax: "Sequence[Axes] | None" = None) -> "Figure":
    """Draw mean reward along each factor, a line an agent, with intervals.

    Args:
        table: as `hardness_table` makes it.
        ax: as many axes as the table has factors, or one where it is empty.
    """
    a_frame(table, ["agent", "factor", "bin", "range", "mean", "low", "high"], "`hardness_table`")
    factors = list(dict.fromkeys(table["factor"]))
    figure, panels = axes_for(ax, (2.9 * max(1, len(factors)), 3.4), columns=max(1, len(factors)))
    if not factors:
        says_nothing(panels[0], "There are no rollouts.")
        return figure
    for axes, factor in zip(panels, factors, strict=True):
        rows = table[table["factor"] == factor]
        _hardness_panel(axes, rows, list(dict.fromkeys(table["agent"])))
        axes.set(xlabel=factor, ylim=(-0.05, 1.05))
    panels[0].set_ylabel("mean reward")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=table["agent"].nunique()
    )
    scenarios = int(table[table["factor"] == factors[0]].groupby("agent")["scenarios"].sum().max())
    told = f"{_finding(table)}; {scenarios} scenarios; intervals resample environments"
    if ax is None:
        caption(figure, told)
    return figure


def _hardness_panel(axes: "Axes", rows: pd.DataFrame, agents: Sequence[str]) -> None:
    ranges = list(dict.fromkeys(rows.sort_values("bin")["range"]))
    for number, agent in enumerate(agents):
        own = rows[rows["agent"] == agent].set_index("range").reindex(ranges)
        places = np.arange(len(ranges)) + 0.08 * (number - (len(agents) - 1) / 2)
        reach = np.abs(own[["low", "high"]].to_numpy().T - own["mean"].to_numpy())
        colour = (OURS, PAPER, THIRD, QUIET, INK)[number % 5]
        axes.errorbar(places, own["mean"], reach, marker="o", capsize=2.5, color=colour, label=agent)
    axes.set_xticks(range(len(ranges)), ranges)
    axes.set_xlim(-0.5, len(ranges) - 0.5)


def _finding(table: pd.DataFrame) -> str:
    """The factor along which rewards fall most, from its first bin to its last of some size, over all agents."""
    means = table[table["scenarios"] >= _ENOUGH].groupby(["factor", "bin"], sort=True)["mean"].mean().dropna()
    ends = {str(factor): (float(m.iloc[0]), float(m.iloc[-1])) for factor, m in means.groupby(level=0)}
    worst, (first, last) = max(ends.items(), key=lambda e: e[1][0] - e[1][1], default=("", (0.0, 0.0)))
    if first - last < 0.005:
        return "Rewards fall with none of these"
    return f"Rewards fall most with more {worst}, from {first:.2f} to {last:.2f}"
