"""The last stage: records become figures, and figures become files.

The pictures of the whole series are drawn here: the funnel, the environments beside the paper's, the rollouts.
Those of single stages are in `show.plots`, the map in `show.theme_map`, the published results in `show.paper`; all
of them can be imported from this module. Every `draw_…` takes records or the frame that `show.stats` makes of them,
returns a figure and shows nothing; its title is a sentence about the data it was given. No statistics are
computed here.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from envscaler.error import ParameterError
from envscaler.given import a_frame, one
from envscaler.schema import Rollout, Scenario, Skeleton
from envscaler.show.canvas import (
    INK,
    OURS,
    PAPER,
    THIRD,
    axes_for,
    caption,
    count_axis,
    in_house_style,
    percent_axis,
    save_figure,
    say,
    says_nothing,
)
from envscaler.show.diversity import draw_benchmark_similarity, draw_diversity
from envscaler.show.paper import (
    PUBLISHED,
    draw_main_results,
    main_results,
    paper_facts,
    paper_items,
    sample_facts,
)
from envscaler.show.plots import (
    draw_certificate,
    draw_dedup_curve,
    draw_kill_matrix,
    draw_probe_matrix,
    draw_similarities,
    kill_table,
    probe_table,
    proof_table,
)
from envscaler.show.stats import (
    WinRates,
    environment_frame,
    funnel,
    histogram_match,
    intervals,
    rollout_frame,
)
from envscaler.show.theme_map import draw_theme_map, theme_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "PUBLISHED",
    "corpus_table",
    "draw_benchmark_similarity",
    "draw_certificate",
    "draw_corpus",
    "draw_dedup_curve",
    "draw_diversity",
    "draw_funnel",
    "draw_kill_matrix",
    "draw_main_results",
    "draw_outcomes",
    "draw_probe_matrix",
    "draw_similarities",
    "draw_theme_map",
    "draw_win_rates",
    "kill_table",
    "main_results",
    "outcome_table",
    "paper_facts",
    "paper_items",
    "probe_table",
    "proof_table",
    "sample_facts",
    "save_figure",
    "theme_table",
]

PANELS = {
    "query_tools": ("query_tools", "query tools"),
    "state_change_tools": ("state_change_tools", "state-change tools"),
    "attributes": ("state_attributes", "state attributes"),
    "scenarios": ("scenarios", "scenarios"),
}
"""Column of `environment_frame` → block of `paper_facts` and `sample_facts`, and what a panel counts."""
_PALE = "#f5d699"
MODE_LOOKS = {"non-conversation": (OURS, "o", "Non-Conv"), "conversation": (PAPER, "s", "Conv")}


# The funnel


@in_house_style
def draw_funnel(counts: Mapping[str, Any] | pd.DataFrame, ax: "Axes | None" = None) -> "Figure":
    """Draw the counts a stage as bars under each other, each with its share of the one before.

    Args:
        counts: stage → number or records, or a frame with `stage` and `count`.
        ax: axes to draw on.

    Raises:
        ParameterError: there is no stage.
    """
    table = counts if isinstance(counts, pd.DataFrame) else funnel(counts)
    if a_frame(table, ["stage", "count"], "`funnel`").empty:
        raise ParameterError("Expected counts of at least one stage, got none.")
    names, numbers = [str(name) for name in table["stage"]], table["count"].to_numpy()
    figure, (axes,) = axes_for(ax, (8, 1.5 + 0.42 * len(names)))
    wide = numbers.max() > 200 * max(numbers.min(), 1)
    axes.barh(range(len(names)), numbers, color=OURS, height=0.66)
    if wide:
        axes.set_xscale("symlog", linthresh=1)
    for place, number in enumerate(numbers):
        before = numbers[place - 1] if place else 0
        share = f"  {number / before:.0%} of {names[place - 1]}" if 0 < number <= before else ""
        axes.annotate(
            f"{number:,}{share}",
            (number, place),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.4, -0.6), xlim=(0, numbers.max() * (30 if wide else 1.45) or 1), xticks=[])
    axes.grid(False)
    axes.spines["bottom"].set_visible(False)
    say(
        axes,
        f"{numbers[0]:,} {names[0]} lead to {numbers[-1]:,} {names[-1]}",
        "The bars' scale is logarithmic." if wide else "",
    )
    return figure


# The environments beside the paper's


def corpus_table(
    environments: pd.DataFrame | Iterable[Skeleton], scenarios: Iterable[Scenario] = ()
) -> pd.DataFrame:
    """What `draw_corpus` draws: all three series on the paper's bins, one row a bin, `panel` says of what."""
    frame = _environments(environments, scenarios)
    facts, sample = paper_facts(), sample_facts()
    parts = [
        histogram_match(_counted(frame, column), facts[block], sample.get(block)).assign(panel=column)
        for column, (block, _) in PANELS.items()
    ]
    return pd.concat(parts, ignore_index=True)


@in_house_style
def draw_corpus(
    environments: pd.DataFrame | Iterable[Skeleton],
    scenarios: Iterable[Scenario] = (),
    ax: "Sequence[Axes] | None" = None,
) -> "Figure":
    """Draw tools, attributes and scenarios an environment: the paper's, the published sample's, ours (Fig. 4 b-e).

    The sample's are recomputed from 31 published environments (`data/published.json`); its scenarios are an excerpt
    and no distribution.

    Args:
        environments: skeletons, or the frame that `environment_frame` makes of them.
        scenarios: those posed in the skeletons.
        ax: four axes to draw on.
    """
    frame = _environments(environments, scenarios)
    facts, sample = paper_facts(), sample_facts()
    figure, panels = axes_for(ax, (11, 8.4), rows=2, columns=2)
    for axes, (column, (block, what)) in zip(panels, PANELS.items(), strict=True):
        _corpus_panel(axes, _counted(frame, column), facts[block], sample.get(block), what)
    if ax is None:
        caption(
            figure,
            "Share of environments. Lines are means: solid the paper's (Fig. 4 b-e), dotted the sample's, dashed ours",
        )
    return figure


def _environments(
    environments: pd.DataFrame | Iterable[Skeleton], scenarios: Iterable[Scenario]
) -> pd.DataFrame:
    return (
        environments if isinstance(environments, pd.DataFrame) else environment_frame(environments, scenarios)
    )


def _counted(frame: pd.DataFrame, column: str) -> pd.Series:
    values = frame[column] if column in frame else pd.Series(dtype=float)
    # Environments without any scenario at all: none were posed, which is no distribution of scenarios.
    return values.iloc[:0] if column == "scenarios" and not values.any() else values


def _corpus_panel(
    axes: "Axes", ours: pd.Series, paper: Mapping[str, Any], sample: Mapping[str, Any] | None, what: str
) -> None:
    bins = histogram_match(ours, paper, sample)
    width = (bins["right"] - bins["left"]).iloc[0]

    def series(name: str, place: str, values: Any, line: Any, **look: Any) -> None:
        label = f"{name}, {values['environments']:,}: mean {values['mean']:.2f}, median {values['median']:g}"
        axes.bar(bins["middle"], bins[f"{place}_share"], label=label, **look)
        axes.axvline(values["mean"], color=look["edgecolor"], linewidth=1.6, linestyle=line)

    # Told apart without colour as well: a wide pale bar behind, a hatched one, a narrow dark one in front.
    series("paper", "paper", paper, "-", width=width * 0.96, color=_PALE, edgecolor="#b87700", linewidth=0)
    if sample:
        look = {"width": width * 0.66, "color": "none", "edgecolor": THIRD, "hatch": "////", "linewidth": 1.1}
        series("published sample, recomputed", "sample", sample, ":", **look)
    say_of_ours = f"No {what} of ours to count; paper {paper['mean']:.1f} an environment"
    if len(ours):
        counted = {"environments": len(ours), "mean": ours.mean(), "median": ours.median()}
        series("ours", "our", counted, "--", width=width * 0.32, color=OURS, edgecolor="#00263d", linewidth=0)
        say_of_ours = f"{ours.mean():.1f} {what} an environment; paper {paper['mean']:.1f}"
        say_of_ours += f", sample {sample['mean']:.1f}" if sample else ""
    percent_axis(axes)
    count_axis(axes, "x")
    axes.set(xlabel=f"{what} an environment", ylabel="environments")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1, ncols=1, labelspacing=0.25)
    note = "" if sample else "No series of the published sample: its scenarios are an excerpt."
    say(axes, say_of_ours[0].upper() + say_of_ours[1:], note, room=16 + 14 * (bool(len(ours)) + bool(sample)))


# The rollouts


def outcome_table(
    rollouts: pd.DataFrame | Iterable[Rollout], scenarios: Iterable[Scenario] = (), **settings: Any
) -> pd.DataFrame:
    """What `draw_outcomes` draws: mean reward and steps an agent and mode, with intervals (see `stats.intervals`)."""
    frame = rollouts if isinstance(rollouts, pd.DataFrame) else rollout_frame(rollouts, scenarios)
    return frame if "measure" in frame else intervals(frame, measures=("reward", "steps"), **settings)


@in_house_style
def draw_outcomes(
    rollouts: pd.DataFrame | Iterable[Rollout],
    scenarios: Iterable[Scenario] = (),
    ax: "Sequence[Axes] | None" = None,
) -> "Figure":
    """Draw mean reward and mean steps of every agent, Non-Conv and Conv, with 95 % intervals (Fig. 5).

    Args:
        rollouts: records, the frame of `rollout_frame`, or what `outcome_table` made of it.
        scenarios: those that were played; with them, intervals also resample environments.
        ax: two axes to draw on.
    """
    table = outcome_table(rollouts, scenarios)
    figure, panels = axes_for(
        ax, (11, 1.9 + 0.5 * max(2, table["agent"].nunique() if len(table) else 0)), columns=2
    )
    if table.empty:
        for axes in panels:
            says_nothing(axes, "There are no rollouts.")
        return figure
    rewards = table[table["measure"] == "reward"].groupby("agent")["mean"].mean()
    agents = list(rewards.sort_values(ascending=False, na_position="last", kind="stable").index)
    for axes, measure in zip(panels, ("reward", "steps"), strict=True):
        _outcome_panel(axes, table[table["measure"] == measure], measure, agents)
    panels[1].set_yticklabels([])
    return figure


def _outcome_panel(axes: "Axes", rows: pd.DataFrame, measure: str, agents: Sequence[str]) -> None:
    modes = [mode for mode in MODE_LOOKS if mode in set(rows["mode"])]
    if measure == "steps":
        paper = paper_facts()["discrimination"]
        band = f"paper's agents: {paper['steps_low']}–{paper['steps_high']}"
        axes.axvspan(paper["steps_low"], paper["steps_high"], color="#eeeeee", label=band, zorder=0)
    for place, mode in enumerate(modes):
        colour, marker, label = MODE_LOOKS[mode]
        part = rows[rows["mode"] == mode]
        heights = [agents.index(agent) + 0.26 * (place - (len(modes) - 1) / 2) for agent in part["agent"]]
        reach = np.maximum([part["mean"] - part["low"], part["high"] - part["mean"]], 0)
        axes.errorbar(
            part["mean"],
            heights,
            xerr=reach,
            fmt=marker,
            color=colour,
            markersize=5.5,
            capsize=3,
            label=label if measure == "steps" else f"{label}, {part['rollouts'].sum():,} rollouts",
        )
        for height, row in zip(heights, part.to_dict("records"), strict=True):
            if np.isnan(row["high"]):
                continue
            axes.annotate(
                f"{row['mean']:.2f}" if measure == "reward" else f"{row['mean']:.1f}",
                (row["high"], height),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=INK,
            )
    axes.set_yticks(range(len(agents)), agents)
    most = np.nanmax([*rows["high"], 1.0])
    axes.set(
        ylim=(len(agents) - 0.4, -0.6), xlim=(-0.03 * most, most * 1.14), xlabel=f"mean {measure} an episode"
    )
    axes.grid(True, axis="x")
    axes.grid(False, axis="y")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.1, columnspacing=1.2)
    say(axes, _outcome_finding(rows, measure), _outcome_note(rows, measure), room=15)


def _outcome_finding(rows: pd.DataFrame, measure: str) -> str:
    means = rows.groupby("agent")["mean"].mean().dropna()
    if means.empty:
        return "No episode has a reward"
    high, low = means.max(), means.min()
    # The first of several that are equal is not named alone.
    most, least = ([str(a) for a in means.index[(means - m).abs() < 1e-9]] for m in (high, low))
    if high - low < 1e-9:
        who = "Every agent" if len(means) > 1 else most[0]
        return f"{who} earns {high:.2f}" if measure == "reward" else f"{who} takes {high:.1f} steps"

    def verb(agents: list[str], word: str) -> str:
        return f"{word}s" if len(agents) == 1 else word

    if measure == "steps":
        return f"{_named(least)} {verb(least, 'act')} least, {_named(most)} most"
    return f"{_named(most)} {verb(most, 'earn')} the most, {_named(least)} the least"


def _named(agents: Sequence[str]) -> str:
    return " and ".join(agents) if len(agents) < 3 else f"{len(agents)} agents"


def _outcome_note(rows: pd.DataFrame, measure: str) -> str:
    missing = int(rows["missing"].sum()) if measure == "reward" else 0
    left_out = f"; {missing:,} episodes without reward left out" if missing else ""
    return f"Whiskers: 95 % bootstrap intervals{left_out}."


@in_house_style
def draw_win_rates(rates: WinRates, ax: "Axes | None" = None) -> "Figure":
    """Draw how often the agent of a row earns more than that of a column, on the same sampled scenarios.

    Args:
        rates: what `stats.win_rates` returned.
        ax: axes to draw on.
    """
    agents = [str(agent) for agent in one(rates, WinRates).table["agent"]]
    matrix = rates.matrix.loc[agents, agents].to_numpy(dtype=float, copy=True)
    figure, (axes,) = axes_for(ax, (3.6 + 0.75 * len(agents), 2.2 + 0.55 * len(agents)))
    np.fill_diagonal(matrix, np.nan)
    axes.imshow(matrix, cmap="PuOr_r", vmin=0, vmax=1, aspect="auto")
    for (row, column), rate in np.ndenumerate(matrix):
        if row != column:
            colour = "white" if abs(rate - 0.5) > 0.3 else INK
            axes.text(column, row, f"{rate:.0%}", ha="center", va="center", fontsize=8.5, color=colour)
    axes.set_xticks(range(len(agents)), agents, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(
        range(len(agents)), [f"{a}  ({r:.0%})" for a, r in zip(agents, rates.table["win_rate"], strict=True)]
    )
    axes.set(xlabel="… than this agent", ylabel="This agent earns more …")
    axes.grid(False)
    axes.spines[:].set_visible(False)
    best = rates.table["win_rate"].max()
    top = [str(a) for a in rates.table.loc[rates.table["win_rate"] > best - 1e-9, "agent"]]
    wins = "wins most" if len(top) == 1 else "win equally often"
    count = len(rates.scenario_ids)
    left_out = f" Left out, not played by all: {rates.left_out:,}." if rates.left_out else ""
    say(
        axes,
        f"{_named(top)} {wins}: {best:.0%} of comparisons on {count} scenarios",
        f"n = {count} scenarios; ties count half; in brackets the mean over all others.{left_out}",
    )
    return figure
