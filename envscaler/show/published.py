"""What was found of published data, drawn: what doing nothing earns, findings by kind, rewards without vacuous checks.

Made of the rows of `certifying.many` and of replays; the report in HTML is `report`'s. Nothing is examined here.
"""

from typing import TYPE_CHECKING

import pandas as pd

from envscaler.certifying.many import Certified, paid_for
from envscaler.given import a_frame, one
from envscaler.show.canvas import INK, axes_for, count_axis, in_house_style, percent_axis, say, says_nothing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEVERITIES = {"error": "#b2182b", "warning": "#e08214", "note": "#8da0b3"}
"""Darker is worse; told apart without colours as well."""


def idle_table(certified: Certified) -> pd.DataFrame:
    """One row a scenario: its checks, those that hold at reset, and what doing nothing earns by the published rule."""
    rows = [
        (row.name, row.environment, row.checks, len(row.vacuous), paid_for(row, "nothing"))
        for row in one(certified, Certified).scenarios
    ]
    columns = ["scenario", "environment", "checks", "vacuous", "idle reward"]
    return pd.DataFrame(rows, columns=columns).astype({"idle reward": float})


@in_house_style
def draw_idle_rewards(certified: Certified, ax: "Axes | None" = None) -> "Figure":
    """Draw a histogram of what an agent earns that does nothing, over the scenarios."""
    paid = idle_table(certified)["idle reward"].dropna()
    figure, (axes,) = axes_for(ax, (7.6, 3.9))
    if paid.empty:
        says_nothing(axes, "There are no scenarios with checks.")
        return figure
    tenths = [tenth / 10 for tenth in range(11)]
    nothing = int((paid == 0).sum())
    axes.hist(
        paid[paid > 0], bins=tenths, color=SEVERITIES["error"], edgecolor="white", label="paid for nothing"
    )
    # What earns nothing stands apart: the bin that begins at 0 would hide it.
    axes.bar(-0.06, nothing, width=0.08, color=SEVERITIES["note"], label="earns 0, as it should")
    axes.set_xticks([-0.06, *tenths], ["0", *(f"≤{tenth:.1f}" if tenth else "" for tenth in tenths)])
    axes.set(xlabel="reward of an agent that does nothing (published rule)", ylabel="scenarios")
    count_axis(axes, "y")
    axes.legend(loc="upper right")
    vacuous, checks = idle_table(certified)[["vacuous", "checks"]].sum()
    say(
        axes,
        f"Doing nothing is paid in {len(paid) - nothing} of {len(paid)} scenarios",
        f"By the published rule, which pays guards too. {vacuous:,} of {checks:,} checks are goals that hold already.",
    )
    return figure


def finding_table(certified: Certified) -> pd.DataFrame:
    """One row a kind of finding: its severity, how often it was found, in how many environments or scenarios."""
    rows = [
        (f.kind, f.severity, row.kind, row.name, f.message) for row, f in one(certified, Certified).findings
    ]
    frame = pd.DataFrame(rows, columns=["kind", "severity", "of", "name", "for example"])
    kinds = frame.groupby(["severity", "kind", "of"], sort=False)
    table = kinds.agg(
        found=("name", "size"), records=("name", "nunique"), example=("for example", "first")
    ).reset_index()
    rank = table["severity"].map({name: place for place, name in enumerate(SEVERITIES)})
    order = pd.DataFrame({"rank": rank, "found": -table["found"], "kind": table["kind"]}).sort_values(
        ["rank", "found", "kind"]
    )
    return table.loc[order.index].reset_index(drop=True)


@in_house_style
def draw_findings(certified: Certified, ax: "Axes | None" = None) -> "Figure":
    """Draw in how many environments or scenarios each kind of finding was seen, the worst kinds on top."""
    table = finding_table(certified)
    figure, (axes,) = axes_for(ax, (8.2, 1.8 + 0.25 * max(len(table), 3)))
    if table.empty:
        says_nothing(axes, "Nothing was found.")
        return figure
    names = [f"{kind} ({of}s)" for kind, of in zip(table["kind"], table["of"], strict=True)]
    places = range(len(table))[::-1]
    axes.barh(places, table["records"], color=[SEVERITIES[s] for s in table["severity"]])
    for place, records, times in zip(places, table["records"], table["found"], strict=True):
        axes.annotate(
            f"{records:,}" + (f" ({times:,} times)" if times != records else ""),
            (records, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8, color=INK,
        )  # fmt: skip
    axes.set_yticks(places, names)
    axes.set(xlabel="environments or scenarios in which it was found", ylim=(-0.7, len(table) - 0.3))
    axes.margins(x=0.18)
    count_axis(axes, "x")
    present = [severity for severity in SEVERITIES if severity in set(table["severity"])]
    axes.legend([axes.barh(0, 0, color=SEVERITIES[s]) for s in present], present, loc="lower right")
    counts = table["severity"].value_counts()
    kinds = [f"{counts[severity]} of {severity}" for severity in present]
    say(axes, f"Findings are of {len(table)} kinds: {', '.join(kinds)}")
    return figure


@in_house_style
def draw_rewards_without(table: pd.DataFrame, ax: "Axes | None" = None) -> "Figure":
    """Draw what episodes earn as graded, and without the checks that held before anything was done.

    Args:
        table: as `release.replaying.vacuous_table` makes it.
        ax: where to draw.
    """
    a_frame(table, ["episode", "as graded", "without"], "`vacuous_table`")
    figure, (axes,) = axes_for(ax, (7.6, 3.9))
    if table.empty:
        says_nothing(axes, "There are no recorded episodes.")
        return figure
    rows = table.sort_values("as graded").reset_index(drop=True)
    axes.vlines(rows.index, rows["without"], rows["as graded"], color="#b9c2cb", linewidth=2)
    axes.plot(rows.index, rows["as graded"], "o", color=INK, label="as graded")
    axes.plot(rows.index, rows["without"], "D", color=SEVERITIES["error"], label="without vacuous checks")
    axes.set_xticks(rows.index, rows["episode"], rotation=35, ha="right", fontsize=7)
    axes.set(ylabel="reward (published rule)", ylim=(-0.04, 1.04))
    percent_axis(axes)
    axes.legend(loc="lower right")
    lost = (rows["as graded"] - rows["without"]).clip(lower=0)
    say(
        axes,
        f"{int((lost > 0.0005).sum())} of {len(rows)} episodes were paid for checks that nothing had to be done for",
        f"Mean reward {rows['as graded'].mean():.2f} as graded, {rows['without'].mean():.2f} without them.",
    )
    return figure
