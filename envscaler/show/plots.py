"""Pictures of single stages: what merged (02), what probes say (04), what is proved (05).

Each function takes records or the small frame it draws, and returns the figure; the `…_table` beside it is the table
behind the picture. The pictures of the whole series are in `figures`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd

from envscaler.given import a_frame, many
from envscaler.schema import Audit, Kill, Scenario, Skeleton, Verdict
from envscaler.show.canvas import (
    BAD,
    DOUBTFUL,
    GOOD,
    INK,
    OURS,
    PAPER,
    QUIET,
    axes_for,
    count_axis,
    in_house_style,
    say,
    says_nothing,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VERDICT_COLOURS = {"pass": GOOD, "warning": DOUBTFUL, "fail": BAD}
STATUS_COLOURS = {"proved": GOOD, "unproved": DOUBTFUL, "failed": BAD}
MOST_ROWS = 24


# Merging themes


@in_house_style
def draw_dedup_curve(
    sweep: pd.DataFrame, ax: "Axes | None" = None, *, threshold: float | None = None
) -> "Figure":
    """Draw how many themes stand at each merging threshold.

    Args:
        sweep: `threshold` and `themes` (or `kept`), as `MergedThemes.sweep` makes it.
        ax: axes to draw on.
        threshold: the one that was chosen.
    """
    name = "themes" if "themes" in a_frame(sweep, ["threshold"], "`MergedThemes.sweep`") else "kept"
    left = a_frame(sweep, [name], "`MergedThemes.sweep`")[name]
    figure, (axes,) = axes_for(ax, (7, 4))
    if sweep.empty:
        says_nothing(axes, "No threshold was tried.")
        return figure
    axes.plot(sweep["threshold"], left, marker="o", markersize=4, color=OURS)
    axes.set(
        xlabel="least cosine similarity of two themes that merge", ylabel="themes that stand", ylim=(0, None)
    )
    count_axis(axes, "y")
    if threshold is None:
        say(axes, f"From {left.min():,} to {left.max():,} themes stand, as the threshold goes")
        return figure
    stands = float(
        np.interp(threshold, *sweep.assign(n=left).sort_values("threshold")[["threshold", "n"]].to_numpy().T)
    )
    axes.axvline(threshold, color=PAPER, linewidth=1.5)
    axes.plot([threshold], [stands], "o", color=PAPER)
    say(
        axes,
        f"At {threshold:.2f}, {stands:,.0f} of {left.max():,} themes stand",
        "The line marks the threshold in use.",
    )
    return figure


@in_house_style
def draw_similarities(pairs: pd.DataFrame, threshold: float, ax: "Axes | None" = None) -> "Figure":
    """Draw how similar the pairs of themes are, and where the threshold cuts.

    Args:
        pairs: a row a pair, column `similarity`.
        threshold: the one in use.
        ax: axes to draw on.
    """
    figure, (axes,) = axes_for(ax, (7, 4))
    values = a_frame(pairs, ["similarity"], "`MergedThemes.pairs`")["similarity"].to_numpy(dtype=float)
    if not len(values):
        says_nothing(axes, "No two themes are similar enough to be listed.")
        return figure
    # Bins are counted from the threshold, so that none lies on both sides of it; rounding must not move a pair.
    width = 0.02
    bins, counts = np.unique(np.floor((values - threshold) / width + 1e-9), return_counts=True)
    colours = [OURS if place >= 0 else "#c9c9c9" for place in bins]
    left = threshold + width * bins
    axes.bar(left, counts, width=width, align="edge", color=colours, edgecolor="white", linewidth=0.5)
    axes.axvline(threshold, color=PAPER, linewidth=1.5)
    axes.set(xlabel="cosine similarity of two themes", ylabel="pairs")
    count_axis(axes, "y")
    reaching = values[values >= threshold - 1e-9]
    say(
        axes,
        f"{len(reaching):,} of {len(values):,} listed pairs reach the threshold of {threshold:.2f}",
        f"The least similar of them: {reaching.min():.3f}. Grey pairs do not merge."
        if len(reaching)
        else "Grey pairs do not merge.",
    )
    return figure


# Audits


def probe_table(audits: Audit | Iterable[Audit], skeletons: Iterable[Skeleton] = ()) -> pd.DataFrame:
    """Probes a verdict: one row a tool of one audit, or an environment of many, most failed first.

    Args:
        audits: one or many.
        skeletons: give the environments' titles.
    """
    given = many(audits, Audit)
    by = "tool" if len(given) == 1 else "environment"
    titles = {skeleton.id: skeleton.title for skeleton in many(skeletons, Skeleton)}
    rows = [
        {
            by: p.tool if by == "tool" else titles.get(audit.skeleton_id, audit.skeleton_id),
            "verdict": p.verdict,
        }
        for audit in given
        for p in audit.probes
    ]
    verdicts = list(get_args(Verdict))
    if not rows:
        return pd.DataFrame(columns=[by, *verdicts])
    frame = pd.DataFrame(rows)
    counts = pd.crosstab(frame[by], frame["verdict"]).reindex(columns=verdicts, fill_value=0)
    order = (counts["fail"] / counts.sum(axis=1)).sort_values(ascending=False, kind="stable").index
    return counts.loc[order].reset_index().rename_axis(columns=None)


@in_house_style
def draw_probe_matrix(
    audits: Audit | Iterable[Audit] | pd.DataFrame,
    ax: "Axes | None" = None,
    *,
    skeletons: Iterable[Skeleton] = (),
) -> "Figure":
    """Draw verdicts against tools (of one audit) or environments (of many): counts, shaded by their share of a row.

    Args:
        audits: records, or what `probe_table` made of them.
        ax: axes to draw on.
        skeletons: give the environments' titles.
    """
    table = audits if isinstance(audits, pd.DataFrame) else probe_table(audits, skeletons)
    a_frame(table, list(VERDICT_COLOURS), "`probe_table`")
    shown, what = table.head(MOST_ROWS), str(table.columns[0])
    figure, (axes,) = axes_for(ax, (6.2, 1.5 + 0.27 * max(len(shown), 3)))
    if table.empty:
        says_nothing(axes, "There are no probes.")
        return figure
    counts = shown[list(VERDICT_COLOURS)].to_numpy()
    _shaded(axes, counts, [str(name) for name in shown[what]])
    total = table[list(VERDICT_COLOURS)].to_numpy().sum(axis=0)
    failed = int((table["fail"] > 0).sum())
    left = f" The {MOST_ROWS} with the most failures are shown." if len(table) > MOST_ROWS else ""
    say(
        axes,
        f"{total[2]:,} of {total.sum():,} probes fail, in {failed} of {len(table)} {what}s",
        f"Shade: share of a row.{left}",
        room=16,
    )
    return figure


def _shaded(axes: "Axes", counts: np.ndarray, names: Sequence[str]) -> None:
    from matplotlib.colors import to_rgb

    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    full = np.array([to_rgb(colour) for colour in VERDICT_COLOURS.values()])
    # From white to the verdict's colour; never quite full, so that dark numbers stay readable.
    axes.imshow(1 - (1 - full) * (share * 0.8)[..., None], aspect="auto")
    for (row, column), count in np.ndenumerate(counts):
        axes.text(
            column, row, f"{count:,}" if count else "·", ha="center", va="center", fontsize=8.5, color=INK
        )
    axes.set_xticks(range(len(VERDICT_COLOURS)), list(VERDICT_COLOURS))
    axes.set_yticks(range(len(names)), [name if len(name) <= 38 else f"{name[:37]}…" for name in names])
    axes.xaxis.tick_top()
    axes.grid(False)
    axes.spines[:].set_visible(False)


# Certificates


def proof_table(scenarios: Iterable[Scenario]) -> pd.DataFrame:
    """One row a scenario and trial of its certificate: status, figure, detail."""
    rows = [
        (scenario.id, proof.name, proof.status, proof.figure, proof.detail)
        for scenario in many(scenarios, Scenario)
        if scenario.certificate
        for proof in scenario.certificate.proofs
    ]
    return pd.DataFrame(rows, columns=["scenario_id", "trial", "status", "figure", "detail"])


@in_house_style
def draw_certificate(scenarios: Iterable[Scenario], ax: "Axes | None" = None) -> "Figure":
    """Draw what is proved: a row a trial, a column a scenario, and how many scenarios each trial proves."""
    given = many(scenarios, Scenario)
    table = proof_table(given)
    figure, (axes,) = axes_for(ax, (9, 1.7 + 0.34 * max(table["trial"].nunique(), 2)))
    if table.empty:
        says_nothing(axes, "No scenario has a certificate.")
        return figure
    order = list(STATUS_COLOURS)
    codes = table.assign(code=table["status"].map(order.index)).pivot_table(
        index="trial", columns="scenario_id", values="code", aggfunc="max", sort=False
    )
    idle = table["detail"].str.startswith("Nothing to try") & (table["status"] == "proved")
    _statuses(axes, codes, Counter(table[idle]["trial"].tolist()))
    certified = [s.certificate for s in given if s.certificate]
    valid = sum(certificate.valid for certificate in certified)
    without = len(given) - len(certified)
    say(
        axes,
        f"{valid:,} of {len(certified):,} certificates prove all they tried{_weakest(table)}",
        "A column is a scenario; the number is how many scenarios a trial proves."
        + (f" {without:,} scenarios were not certified." if without else ""),
        room=20,
    )
    return figure


def _weakest(table: pd.DataFrame) -> str:
    against = table[table["status"] != "proved"]["trial"].value_counts()
    return f"; most often missing: {against.index[0]} ({against.iloc[0]:,})" if len(against) else ""


def _tried(proved: int, idle: int) -> str:
    """How many of the proved there was something to try for, where not for all."""
    return f" ({proved - idle:,} tried)" if idle else ""


def _statuses(axes: "Axes", codes: pd.DataFrame, idle: Counter[str]) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    axes.imshow(
        codes.to_numpy(),
        aspect="auto",
        cmap=ListedColormap(list(STATUS_COLOURS.values())),
        vmin=0,
        vmax=2,
        interpolation="none",
    )
    if codes.shape[1] <= 80:
        axes.set_xticks(np.arange(codes.shape[1] + 1) - 0.5, minor=True)
        axes.grid(True, which="minor", axis="x", color="white", linewidth=1.2)
    axes.set_yticks(range(len(codes)), list(codes.index))
    axes.set_yticks(np.arange(len(codes) + 1) - 0.5, minor=True)
    axes.grid(True, which="minor", axis="y", color="white", linewidth=2)
    axes.grid(False, which="major")
    axes.tick_params(which="minor", length=0)
    axes.set_xticks([])
    axes.spines[:].set_visible(False)
    for row, proved in enumerate((codes == 0).sum(axis=1)):
        axes.text(
            codes.shape[1] - 0.3,
            row,
            f"{proved:,} of {codes.iloc[row].notna().sum():,}" + _tried(proved, idle[codes.index[row]]),
            va="center",
            fontsize=8.5,
            color=QUIET,
        )
    handles = [Patch(color=colour, label=status) for status, colour in STATUS_COLOURS.items()]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2)


# Mutants

BY_WHOM = ("goals", "guards", "bystanders")
"""Who tells a mutant from the solution: the author's goals, the author's guards, the guard that the library adds."""


def kill_table(scenarios: Iterable[Scenario]) -> pd.DataFrame:
    """One row a kind of mutant: how many were made and killed, and by whom.

    `killed`, `goals`, `guards` and `bystanders` are shares of the mutants (a mutant may have several killers); `mean`
    and `minimum` are of the shares killed in each scenario that has the kind.
    """
    rows = [
        {"kind": kill.kind, "scenario": number, "killed": bool(kill.killers), **_by_whom(scenario, kill)}
        for number, scenario in enumerate(many(scenarios, Scenario))
        for kill in (scenario.certificate.kills if scenario.certificate else [])
    ]
    columns = ["kind", "scenarios", "mutants", "killed", "mean", "minimum", *BY_WHOM]
    if not rows:
        return pd.DataFrame(columns=columns)
    frame = pd.DataFrame(rows)
    kinds = frame.groupby("kind")
    each = frame.groupby(["kind", "scenario"])["killed"].mean().groupby("kind")
    parts = {
        "scenarios": kinds["scenario"].nunique(),
        "mutants": kinds.size(),
        "mean": each.mean(),
        "minimum": each.min(),
        **{name: kinds[name].mean() for name in ("killed", *BY_WHOM)},
    }
    table = pd.DataFrame(parts).reset_index()
    return table.sort_values("kind", key=lambda k: k.map(_kind_order))[columns].reset_index(drop=True)


def _kind_order(kind: str) -> tuple[bool, str]:
    return not kind.startswith(("call", "argument")), kind


def _by_whom(scenario: Scenario, kill: Kill) -> dict[str, bool]:
    kinds = {check.item: f"{check.kind}s" for check in scenario.checks}
    found = {kinds.get(item, "bystanders") for item in kill.killers}
    return {whom: whom in found for whom in BY_WHOM}


@in_house_style
def draw_kill_matrix(scenarios: Iterable[Scenario], ax: "Axes | None" = None) -> "Figure":
    """Draw which kinds of mutants are told from the solution, and by whom: a row a kind, shares in the cells."""
    table = kill_table(scenarios)
    figure, (axes,) = axes_for(ax, (8.2, 1.9 + 0.27 * max(len(table), 3)))
    if table.empty:
        says_nothing(axes, "No certificate has mutants.")
        return figure
    shares = table[["killed", "minimum", *BY_WHOM]].to_numpy(dtype=float)
    _shares(
        axes, shares, [f"{kind} ({n:,})" for kind, n in zip(table["kind"], table["mutants"], strict=True)]
    )
    names = ["killed", "least in\na scenario", "by goals", "by guards", "by the guard\nfor bystanders"]
    axes.set_xticks(range(len(names)), names)
    # Mutants of calls stand above the line, mutants of states below it.
    calls = sum(_kind_order(kind)[0] is False for kind in table["kind"])
    axes.axhline(calls - 0.5, color=INK, linewidth=1.0)
    axes.axvline(1.5, color=INK, linewidth=1.0)
    made = int(table["mutants"].sum())
    killed = float((table["killed"] * table["mutants"]).sum()) / made
    worst = min(table.to_dict("records"), key=lambda row: float(row["killed"]))
    least = f"; least often: {worst['kind']} ({_percent(float(worst['killed']))})" if killed < 1 else ""
    say(
        axes,
        f"{_percent(killed)} of {made:,} mutants are told from the solution{least}",
        "Above the line the solution's calls were made wrong, below it the state it leaves. "
        "A mutant may be told by several; in brackets: how many were made.",
        room=32,
    )
    return figure


def _percent(share: float) -> str:
    """A share in percent, never rounded up to all."""
    return "100 %" if share == 1 else f"{min(share, 0.999):.1%}".replace("%", " %")


def _shares(axes: "Axes", shares: np.ndarray, names: Sequence[str]) -> None:
    from matplotlib.colors import to_rgb

    blue, lacking = np.array(to_rgb(OURS)), np.array(to_rgb(BAD))
    shades = 1 - (1 - blue) * (shares * 0.6)[..., None]
    # In the first two columns what lacks is the news.
    shades[:, :2] = 1 - (1 - lacking) * ((1 - shares[:, :2]) * 0.9)[..., None]
    axes.imshow(shades, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        text = "·" if share == 0 and column > 1 else f"{int(share * 100 + 1e-9)} %"
        axes.text(column, row, text, ha="center", va="center", fontsize=8.5, color=INK)
    axes.set_yticks(range(len(names)), names)
    axes.xaxis.tick_top()
    axes.grid(False)
    axes.spines[:].set_visible(False)
