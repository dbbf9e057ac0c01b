"""The detection matrix: which layer of an audit notices which kind of planted fault, as a table and as a picture.

Made of the rows of `auditing.calibration`, as a frame. Faults that execution can show stand apart from those that only
a judge can see, and what is told of untouched originals stands below, for a layer that cries always detects everything.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from envscaler.error import ParameterError
from envscaler.given import a_frame, many
from envscaler.schema import Record
from envscaler.show.canvas import INK, axes_for, in_house_style, say
from envscaler.show.stats import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOGETHER: Mapping[str, tuple[str, ...]] = {
    "referee": ("referee",),
    "invariants": ("invariants",),
    "referee + invariants": ("referee", "invariants"),
    "judge": ("judge",),
    "all": ("referee", "invariants", "judge"),
}
"""Columns: layers alone and together."""
BY_EXECUTION, BY_JUDGE, ORIGINALS = "execution can show it", "only a judge can", "untouched originals"
ALL_KINDS = "all kinds"
_SIGHTED = "skeleton_id mutant kind by_execution tool layer told new needed usage".split()  # noqa: SIM905


def sighting_frame(sightings: pd.DataFrame | Iterable[Record]) -> pd.DataFrame:
    """The rows of `calibrate_audits` as a frame.

    Raises:
        ParameterError: there are none, or they are something else.
    """
    frame = sightings if isinstance(sightings, pd.DataFrame) else pd.DataFrame(
        [record.model_dump(mode="json") for record in many(sightings, Record)]
    )  # fmt: skip
    if frame.empty:
        raise ParameterError("Expected sightings as `calibrate_audits` makes them, got none.")
    return a_frame(frame, _SIGHTED, "`calibrate_audits`")


def detection_table(sightings: pd.DataFrame | Iterable[Record], *, plain: bool = False) -> pd.DataFrame:
    """Detected mutants by kind and layer: one row each, with Wilson's interval.

    A kind whose mutants differ in who can see them has a row in both groups. `needed` is the median number of the
    judge's probe that was the first to fail, where one did.

    Args:
        sightings: rows of `calibrate_audits`.
        plain: whether anything told at the tool counts, also what is told of the original as well.
    """
    frame = sighting_frame(sightings)
    frame = frame[frame["kind"] != ""]
    frame = frame.assign(
        group=frame["by_execution"].map({True: BY_EXECUTION, False: BY_JUDGE}),
        hit=frame["told" if plain else "new"],
    )
    rows = []
    for group in (BY_EXECUTION, BY_JUDGE):
        part = frame[frame["group"] == group]
        kinds = list(dict.fromkeys(part["kind"]))
        for kind in [*kinds, ALL_KINDS] if kinds else []:
            some = part if kind == ALL_KINDS else part[part["kind"] == kind]
            rows += _shares(some, {"group": group, "kind": kind}, ["skeleton_id", "mutant"])
    return pd.DataFrame(rows, columns=_COLUMNS)


_COLUMNS = ["group", "kind", "layer", "n", "detected", "share", "low", "high", "needed"]


def false_alarm_table(sightings: pd.DataFrame | Iterable[Record]) -> pd.DataFrame:
    """What is told of untouched originals by layer: the share of their tools, and of environments with anything."""
    frame = sighting_frame(sightings)
    frame = frame[frame["kind"] == ""].assign(hit=lambda rows: rows["told"])
    tools = frame[frame["tool"] != ""]
    both = [
        (tools, "tools", ["skeleton_id", "tool"]),
        (frame, "environments", ["skeleton_id"]),
    ]
    rows = [
        row for part, name, unit in both for row in _shares(part, {"group": ORIGINALS, "kind": name}, unit)
    ]
    return pd.DataFrame(rows, columns=_COLUMNS).drop(columns="needed")


def _shares(frame: pd.DataFrame, head: dict[str, str], unit: list[str]) -> list[dict[str, Any]]:
    """A row for each layer and union of layers that has looked at something."""
    rows = []
    for name, layers in TOGETHER.items():
        some = frame[frame["layer"].isin(layers)]
        if set(some["layer"]) != set(layers):
            continue
        # Together counts only where all of them have looked.
        looked = some.groupby(unit)["layer"].nunique() == len(layers)
        hits = some.groupby(unit)["hit"].any()[looked]
        low, high = wilson(int(hits.sum()), len(hits))
        needed = some["needed"].where(some["hit"]).median() if layers == ("judge",) else None
        rows.append(
            {
                **head, "layer": name, "n": len(hits), "detected": int(hits.sum()),
                "share": float(hits.mean()) if len(hits) else float("nan"), "low": low, "high": high,
                "needed": needed,
            }
        )  # fmt: skip
    return rows


def cost_table(sightings: pd.DataFrame | Iterable[Record]) -> pd.DataFrame:
    """What it costs to look at one environment with each layer: calls, tokens, seconds.

    The referee's calls are the invariants' as well, so the time of both stands with the referee.
    """
    frame = sighting_frame(sightings)
    frame = frame[(frame["kind"] == "") & (frame["layer"] != "invariants")]
    tokens = frame["usage"].map(lambda used: used["input_tokens"] + used["output_tokens"])
    frame = frame.assign(tokens=tokens, requests=frame["usage"].map(lambda used: used["calls"]))
    rows = []
    for layer, part in frame.groupby("layer", sort=False):
        each = part.groupby("skeleton_id")
        once = layer == "referee"  # one look at the environment has a row for each tool
        sums = each[["calls", "requests", "tokens", "seconds"]].agg("first" if once else "sum")
        rows.append({"layer": layer, "environments": len(sums), **sums.mean().to_dict()})
    return pd.DataFrame(rows)


@in_house_style
def draw_detection(sightings: pd.DataFrame | Iterable[Record], ax: "Axes | None" = None) -> "Figure":
    """Draw the shares of detected mutants, kinds against layers, with the false alarms below."""
    found, alarms = detection_table(sightings), false_alarm_table(sightings)
    layers = [name for name in TOGETHER if name in set(found["layer"])]
    lines = _lines(found, alarms)
    figure, (axes,) = axes_for(ax, (2.6 + 1.25 * len(layers), 0.9 + 0.34 * (lines[-1][0] + 1)))
    table = pd.concat([found, alarms])
    for height, group, kind in lines:
        for row in table[(table["group"] == group) & (table["kind"] == kind)].to_dict("records"):
            if row["layer"] in layers:
                _cell(axes, layers.index(row["layer"]), height, row, alarm=group == ORIGINALS)
    _frame(axes, lines, layers, table)
    note = "share detected, or told of without reason, with its 95 % interval; in brackets how many were looked at"
    say(axes, _finding(found, alarms), note, room=30)
    return figure


def _lines(found: pd.DataFrame, alarms: pd.DataFrame) -> list[tuple[float, str, str]]:
    """Height, group and kind of each line, a gap before each group for its name."""
    lines, height = [], 0.0
    for table in (found, alarms):
        for group, part in table.groupby("group", sort=False):
            height += 1.25
            for kind in dict.fromkeys(part["kind"]):
                lines.append((height, str(group), str(kind)))
                height += 1
    return lines


def _cell(axes: "Axes", place: int, height: float, row: Mapping[Any, Any], *, alarm: bool) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    full = to_rgb("#d55e00" if alarm else "#0072b2")
    # The square root of a false alarm's share, so that one in a hundred is seen; shares of detection as they are.
    # Never so dark that small dark figures cannot be read on it.
    strength = 0.62 * (row["share"] ** 0.5 if alarm else row["share"])
    colour = tuple(1 - strength * (1 - part) for part in full)
    axes.add_patch(Rectangle((place - 0.48, height - 0.46), 0.96, 0.92, facecolor=colour, linewidth=0))
    axes.text(place - 0.06, height, f"{row['share']:.0%}", ha="right", va="center", color=INK, fontsize=9.5)
    between = f"{100 * row['low']:.0f}–{100 * row['high']:.0f}"
    axes.text(place - 0.02, height, between, ha="left", va="center", color=INK, fontsize=7)


def _frame(axes: "Axes", lines: list[tuple[float, str, str]], layers: list[str], table: pd.DataFrame) -> None:
    counts = table.groupby(["group", "kind"])["n"].max()
    axes.set_yticks(
        [height for height, _, _ in lines],
        [f"{kind}  ({counts[group, kind]})" for _, group, kind in lines],
    )
    for label, (_, _, kind) in zip(axes.get_yticklabels(), lines, strict=True):
        label.set_fontweight("bold" if kind == ALL_KINDS else "normal")
    for height, group in {group: (height, group) for height, group, _ in reversed(lines)}.values():
        axes.text(-0.48, height - 0.82, group, fontweight="bold", fontsize=9, va="center", color=INK)
    axes.set_xticks(range(len(layers)), [layer.replace(" + ", " +\n") for layer in layers])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set(xlim=(-0.5, len(layers) - 0.5), ylim=(lines[-1][0] + 0.55, 0.1))
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _finding(found: pd.DataFrame, alarms: pd.DataFrame) -> str:
    """What the figure shows, in a sentence."""
    product = "referee + invariants"
    seen = found[
        (found["group"] == BY_EXECUTION) & (found["kind"] == ALL_KINDS) & (found["layer"] == product)
    ]
    wrong = alarms[(alarms["kind"] == "tools") & (alarms["layer"] == product)]
    if seen.empty or wrong.empty:
        return "Which layer notices which fault"
    return (
        f"Referee and invariants notice {seen['share'].iloc[0]:.0%} of the faults that execution can show, and "
        f"complain of {wrong['share'].iloc[0]:.1%} of the untouched tools"
    )
