"""How well merging finds the same worlds: precision and recall on pairs of themes that were read and labelled.

    load_theme_pairs → merge_curve, kmeans_curve → merge_table, draw_merge_curve, choose_threshold

The pairs come with the checkout (`data/themes/LABELS.md` says how they were drawn, by what rules they were labelled,
and what they cannot tell). Cosines, labels and clusters are stored, so nothing is encoded here and no text is needed.

Intervals resample worlds and not pairs, for the pairs of one world are alike. This module does not merge (`themes`
does); `themes.THRESHOLD` is what `choose_threshold` says.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from envscaler.error import ParameterError, StoreError
from envscaler.given import a_frame, a_path
from envscaler.project import labelled_pairs_path, labelled_themes_path
from envscaler.show.canvas import OURS, PAPER, QUIET, THIRD, axes_for, in_house_style, percent_axis, say
from envscaler.show.stats import check_settings, quantiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THRESHOLDS = tuple(np.round(np.arange(0.4, 0.9001, 0.025), 3).tolist())
"""Where the curve is computed; below 0.4 no pair was drawn."""
ROUND = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
"""Among these a threshold is chosen; finer steps are finer than 300 pairs can tell."""
COUNTING = ("drawn", "pool")
_COLUMNS = ["cosine", "same", "sure", "stands_for", "left_world", "right_world", "together"]
_MEASURES = ("precision", "recall", "f1")

Counting = Literal["drawn", "pool"]


class _Resampled(NamedTuple):
    """What each pair weighs: in the sample itself (row 0) and in each resample of worlds."""

    weights: np.ndarray
    same: np.ndarray


def load_theme_pairs(
    pairs: str | Path | None = None, themes: str | Path | None = None, *, only_sure: bool = False
) -> pd.DataFrame:
    """The labelled pairs, one row each: `cosine`, `same` (one world?), `sure`, and the readings `a` and `b`.

    `stands_for` says how many pairs of the pool a pair was drawn for, `left_world` and `right_world` name domain or
    environment, `others` whether one of the two was not written by the stand-in, and `together` holds the numbers of
    clusters at which k-means put both into one.

    Args:
        pairs: the file of pairs; default: the one that comes with the checkout.
        themes: the file of their themes; likewise.
        only_sure: leave out the pairs of which a fair reader could say otherwise.

    Raises:
        StoreError: a file cannot be read, or a pair names a theme that is not there.
    """
    rows = _lines(labelled_pairs_path() if pairs is None else a_path(pairs))
    known = {row["hash"]: row for row in _lines(labelled_themes_path() if themes is None else a_path(themes))}
    try:
        made = [_pair(row, known[row["left"]], known[row["right"]]) for row in rows]
    except (KeyError, TypeError) as error:
        raise StoreError(
            f"Expected labelled pairs of known themes, got one without {error}. Restore both files."
        ) from error
    frame = pd.DataFrame(made)
    return frame[frame["sure"]].reset_index(drop=True) if only_sure and len(frame) else frame


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: expected JSON lines, got: {error}. Restore the file.") from error


def _pair(row: dict[str, Any], left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    one, other = left["clusters"], right["clusters"]
    return {
        **{name: row[name] for name in ("left", "right", "cosine", "stands_for", "a", "b", "same", "sure")},
        "left_world": left["name"],
        "right_world": right["name"],
        "others": {left["source"], right["source"]} != {"stand-in"},
        "together": tuple(int(k) for k in one if one[k] == other[k]),
        "ks": tuple(int(k) for k in one),
    }


def merge_curve(
    pairs: pd.DataFrame,
    thresholds: Iterable[float] = THRESHOLDS,
    *,
    counting: Counting = "drawn",
    resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Precision, recall and F1 of "the same world from this cosine on", a row a threshold, with 95 % intervals.

    `merged` pairs reach the threshold. `behind` is by how much F1 is behind the best of the table, and `as_good`
    whether that could be chance: whether 0 lies in the interval of the difference, both taken in the same resample.

    Args:
        pairs: as `load_theme_pairs` gives them.
        thresholds: least cosines.
        counting: `drawn` counts each pair once; `pool` as many as it stands for, which is what all pairs of the pool
            above cosine 0.4 would give.
        resamples: how often worlds are resampled.
        seed: of the resampling.

    Raises:
        ParameterError: there is no pair, or a setting is none that will do.
    """
    drawn = _resample(pairs, counting, resamples, seed)
    values = [float(value) for value in thresholds]
    if not values or not all(0 < value <= 1 for value in values):
        raise ParameterError(f"Expected thresholds above 0 and at most 1, got {values!r:.80}.")
    chosen = pairs["cosine"].to_numpy(dtype=float)[:, None] >= np.array(values) - 1e-9
    return _table("threshold", values, chosen, drawn)


def kmeans_curve(
    pairs: pd.DataFrame, *, counting: Counting = "drawn", resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """The same table for "the same world if k-means puts both into one cluster", a row a number of clusters `k`.

    The clusters are those of the themes that occur in the pairs, as the paper makes them, and were stored; leaving
    pairs out does not change them.

    Raises:
        ParameterError: as `merge_curve`.
    """
    drawn = _resample(pairs, counting, resamples, seed)
    ks = sorted(a_frame(pairs, ["ks"], "`load_theme_pairs`")["ks"].iloc[0])
    chosen = np.array([[k in together for k in ks] for together in pairs["together"]])
    return _table("k", ks, chosen, drawn)


def merge_table(pairs: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """What the picture shows: both curves below each other, `by` threshold or clusters, at its `value`."""
    curves = {
        "threshold": merge_curve(pairs, seed=seed).rename(columns={"threshold": "value"}),
        "clusters": kmeans_curve(pairs, seed=seed).rename(columns={"k": "value"}),
    }
    return pd.concat([curve.assign(by=by) for by, curve in curves.items()], ignore_index=True)[
        ["by", *curves["clusters"].columns]
    ]


def choose_threshold(pairs: pd.DataFrame, precision: float = 0.9, *, seed: int = 0) -> float | None:
    """The lowest of the `ROUND` thresholds that merges little in error and is as good as any; None where there is none.

    Where merging errs, a world is lost; where it misses, one is built twice. So precision comes first: the lower end of
    its interval must reach `precision`. Then F1 must be as good as the best.

    Args:
        pairs: as `load_theme_pairs` gives them.
        precision: least share of merged pairs that are one world, at the lower end of the 95 % interval.
        seed: of the resampling.
    """
    curve = merge_curve(pairs, ROUND, seed=seed)
    good = curve[curve["as_good"] & (curve["precision_low"] >= precision)]
    return float(good["threshold"].iloc[0]) if len(good) else None


def _resample(pairs: pd.DataFrame, counting: str, resamples: int, seed: int) -> _Resampled:
    """Weights of the pairs where worlds are drawn with replacement.

    A pair of two worlds comes as often as both were drawn, multiplied; a pair within one as often as that one.
    """
    check_settings(resamples, seed)
    a_frame(pairs, _COLUMNS, "`load_theme_pairs`")
    if counting not in COUNTING:
        raise ParameterError(f"Expected counting out of {', '.join(COUNTING)}, got {counting!r:.40}.")
    if pairs.empty:
        raise ParameterError("Expected labelled pairs of themes, got none.")
    places, worlds = pd.factorize(pd.concat([pairs["left_world"], pairs["right_world"]], ignore_index=True))
    left, right = places[: len(pairs)], places[len(pairs) :]
    share = np.full(len(worlds), 1 / len(worlds))
    often = np.random.default_rng(seed).multinomial(len(worlds), share, size=resamples)
    often = np.vstack([np.ones(len(worlds), dtype=often.dtype), often])
    weights = np.where(left == right, often[:, left], often[:, left] * often[:, right]).astype(float)
    if counting == "pool":
        weights *= pairs["stands_for"].to_numpy(dtype=float)
    return _Resampled(weights, pairs["same"].to_numpy(dtype=float))


def _table(name: str, values: Sequence[float], chosen: np.ndarray, drawn: _Resampled) -> pd.DataFrame:
    """A row a value; `chosen` says in its column which pairs count as one world there."""
    hits = drawn.weights * drawn.same @ chosen
    found, wanted = drawn.weights @ chosen, (drawn.weights @ drawn.same)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        measured = {"precision": hits / found, "recall": hits / wanted, "f1": 2 * hits / (found + wanted)}
    f1 = np.nan_to_num(measured["f1"])
    best = int(f1[0].argmax())
    behind = f1[:, [best]] - f1
    columns: dict[str, Any] = {name: list(values), "merged": chosen.sum(axis=0)}
    for measure in _MEASURES:
        columns[measure] = measured[measure][0]
        ends = [quantiles(column) for column in measured[measure][1:].T]
        columns[f"{measure}_low"], columns[f"{measure}_high"] = zip(*ends, strict=True)
    columns["behind"] = behind[0]
    columns["as_good"] = [quantiles(column)[0] <= 1e-9 for column in behind[1:].T]
    return pd.DataFrame(columns)


@in_house_style
def draw_merge_curve(
    pairs: pd.DataFrame, threshold: float, ax: "Sequence[Axes] | None" = None, *, seed: int = 0
) -> "Figure":
    """Draw precision, recall and F1 by threshold, and by the number of clusters of k-means, with their intervals.

    Args:
        pairs: as `load_theme_pairs` gives them.
        threshold: the one in use.
        ax: two axes to draw on.
        seed: of the resampling.
    """
    figure, (left, right) = axes_for(ax, (11, 4.6), columns=2)
    curve, clusters = merge_curve(pairs, seed=seed), kmeans_curve(pairs, seed=seed)
    [used] = merge_curve(pairs, [threshold], seed=seed).to_dict("records")
    best = max(curve.to_dict("records"), key=lambda row: row["f1"])
    rows = clusters.to_dict("records")
    most = max(rows, key=lambda row: row["f1"])
    off = next((row for row in rows if row["k"] >= 2 * most["k"]), rows[-1])
    _lines_of(left, curve, "threshold")
    left.axvline(threshold, color=QUIET, linewidth=1.4, linestyle="--", zorder=1)
    left.set(xlabel="cosine from which two themes are one world", ylabel="share of pairs", ylim=(0, 1.03))
    right.set(xlabel="clusters of k-means", ylim=(0, 1.03), xscale="log")
    _lines_of(right, clusters, "k")
    _whole_ticks(right, clusters["k"])
    for axes in (left, right):
        percent_axis(axes)
    left.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2)
    say(
        left,
        f"From {threshold:g} on, {used['precision']:.0%} of the merged pairs are one world, {used['recall']:.0%} of "
        "those of one world merge".replace("%", " %"),
        f"{len(pairs)} labelled pairs, drawn evenly by cosine; dashed: the threshold in use. Best F1: "
        f"{best['f1']:.2f} at {best['threshold']:g}. Bands: 95 %, worlds resampled.",
        room=18,
    )
    themes, worlds = (len(set(pairs[f"left{of}"]) | set(pairs[f"right{of}"])) for of in ("", "_world"))
    say(
        right,
        f"k-means on the same themes: F1 {most['f1']:.2f} at {most['k']:.0f} clusters, {off['f1']:.2f} at "
        f"{off['k']:.0f}; their number must be known",
        f"{themes} themes of {worlds} domains and environments. In one cluster: one world.",
        room=18,
    )
    figure.set_label(f"{len(pairs)} labelled pairs of themes · all-MiniLM-L6-v2 · seed {seed}")
    return figure


_COLOURS = {"precision": OURS, "recall": PAPER, "f1": THIRD}


def _lines_of(axes: "Axes", table: pd.DataFrame, by: str) -> None:
    for measure, colour in _COLOURS.items():
        name = "F1" if measure == "f1" else measure
        axes.plot(table[by], table[measure], color=colour, label=name, marker="o", markersize=3, zorder=3)
        axes.fill_between(
            table[by],
            table[f"{measure}_low"],
            table[f"{measure}_high"],
            color=colour,
            alpha=0.15,
            linewidth=0,
        )


def _whole_ticks(axes: "Axes", ks: pd.Series) -> None:
    from matplotlib.ticker import NullLocator

    shown = [int(k) for k in ks if k in (10, 20, 30, 50, 100, 200)]
    axes.set_xticks(shown, [str(k) for k in shown])
    axes.xaxis.set_minor_locator(NullLocator())
