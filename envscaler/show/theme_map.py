"""The map of themes (the paper's Fig. 4a): embeddings laid out in the plane, some of them named.

`lay_out` gives places, `spread` chooses whom to name, `draw_theme_map` draws. Places on such a map say who is near
whom and nothing else: axes have no unit. The paper's own lay-out is t-SNE by all signs; ours is UMAP.
"""

import itertools
import textwrap
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from envscaler.error import ParameterError
from envscaler.given import a_frame, many
from envscaler.schema import Theme
from envscaler.show.canvas import INK, QUIET, axes_for, in_house_style, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

SEED = 42
EXACT_ABOVE = 300
"""From so many rows on, neighbours are computed here, exactly; below, UMAP does so itself."""
FEWEST_FOR_UMAP = 5
LABEL_LETTERS, MOST_LABELS = 24, 30
ANGLES = (0, 180, 90, 270, 30, 150, 330, 210, 60, 120, 300, 240)
REACHES = (1, 5, 10, 16, 24, 34, 48, 66, 90)
"""Where a label is tried: directions from its dot in degrees, best first, at each distance in points."""


def lay_out(vectors: np.ndarray) -> tuple[np.ndarray, str]:
    """Places in the plane for rows of vectors, and how they were found.

    UMAP on cosine distances; with fewer than five different rows there are no neighbourhoods to keep, and the first two
    principal components are taken instead. The same rows give the same places.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    if (unlike := len(np.unique(rows, axis=0))) < FEWEST_FOR_UMAP:
        return _principal(rows), f"PCA, because UMAP needs more than {unlike} themes"
    return _umap(rows), "UMAP of cosine distances"


def _umap(rows: np.ndarray) -> np.ndarray:
    from umap import UMAP

    neighbours = min(15, len(rows) - 1)
    known = (None, None, None) if len(rows) < EXACT_ABOVE else (*_neighbours(rows, neighbours), None)
    # Spectral starts fail on graphs that are small or fall apart; principal components do not.
    start = "spectral" if len(rows) >= 30 else "pca"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="umap")
        warnings.filterwarnings("ignore", module="sklearn")
        mapper = UMAP(
            n_neighbors=neighbours, min_dist=0.35, metric="cosine", init=start, random_state=SEED, n_jobs=1,
            precomputed_knn=known,
        )  # fmt: skip
        return np.asarray(mapper.fit_transform(rows), dtype=float)


def _neighbours(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.neighbors import NearestNeighbors

    finder = NearestNeighbors(n_neighbors=count, metric="cosine", algorithm="brute").fit(rows)
    distances, places = finder.kneighbors(rows)
    return places, distances


def _principal(rows: np.ndarray) -> np.ndarray:
    centred = rows - rows.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(rows), 2))
    kept = min(2, len(s))
    # The sign of a component is free; fixing it makes the map the same everywhere.
    sign = np.sign(u[np.abs(u[:, :kept]).argmax(axis=0), np.arange(kept)])
    places[:, :kept] = u[:, :kept] * s[:kept] * np.where(sign == 0, 1, sign)
    return places


def spread(places: np.ndarray, count: int) -> list[int]:
    """Rows that are far from each other: the one nearest the middle, then always the farthest from those chosen."""
    if not len(places) or count < 1:
        return []
    first = int(np.linalg.norm(places - places.mean(axis=0), axis=1).argmin())
    chosen = [first]
    far = np.linalg.norm(places - places[first], axis=1)
    far[first] = -1.0
    while len(chosen) < min(count, len(places)):
        chosen.append(int(far.argmax()))
        far = np.minimum(far, np.linalg.norm(places - places[chosen[-1]], axis=1))
        far[chosen] = -1.0
    return chosen


def theme_table(themes: Sequence[Theme], vectors: np.ndarray) -> pd.DataFrame:
    """What the map shows: one row a theme with x, y, cluster and number of tasks; `attrs["how"]` names the lay-out.

    Raises:
        ParameterError: there is no theme, or not one vector a theme.
    """
    themes, vectors = many(themes, Theme), np.asarray(vectors)
    finite = np.issubdtype(vectors.dtype, np.number) and np.isfinite(vectors).all()
    if not themes or vectors.ndim != 2 or len(themes) != len(vectors) or not vectors.size or not finite:
        raise ParameterError(
            f"Expected at least one theme and a vector of finite numbers for each, got {len(themes)} themes and "
            f"{'vectors' if finite else 'others'} of shape {vectors.shape}."
        )
    places, how = lay_out(vectors)
    frame = pd.DataFrame(
        {
            "theme_id": [theme.id for theme in themes],
            "title": [theme.title for theme in themes],
            "x": places[:, 0],
            "y": places[:, 1],
            "cluster": _clusters(vectors),
            "tasks": [len(theme.task_ids) for theme in themes],
        }
    )
    frame.attrs["how"] = how
    return frame


def _clusters(vectors: np.ndarray) -> np.ndarray:
    from sklearn.cluster import KMeans

    distinct = len(np.unique(vectors, axis=0))
    wanted = min(max(1, min(8, round(len(vectors) / 6))), distinct)
    return KMeans(n_clusters=wanted, random_state=SEED, n_init=10).fit_predict(vectors)


@in_house_style
def draw_theme_map(
    themes: Sequence[Theme],
    vectors: np.ndarray,
    ax: "Axes | None" = None,
    *,
    table: pd.DataFrame | None = None,
) -> "Figure":
    """Draw themes as dots, near ones together, coloured by k-means cluster, as large as they have tasks.

    Some are named, which are far from each other; a label that finds no free place is left out.

    Args:
        themes: what to draw.
        vectors: their embeddings, a row each.
        ax: axes to draw on.
        table: what `theme_table` returned, to save laying out again.
    """
    frame = theme_table(themes, vectors) if table is None else table
    a_frame(frame, ["title", "x", "y", "cluster", "tasks"], "`theme_table`")
    figure, (axes,) = axes_for(ax, (9.5, 7.2))
    _dots(axes, frame)
    named = spread(frame[["x", "y"]].to_numpy(), 4 * MOST_LABELS)
    say(
        axes,
        _finding(frame),
        f"{frame.attrs.get('how', '')}. Colour: k-means cluster; area: tasks behind a theme."
        + (f" Named: up to {MOST_LABELS} themes far from each other." if len(frame) > MOST_LABELS else ""),
    )
    figure.draw_without_rendering()
    # Labels are placed for the lay-out as it is now; constrained layout must not move the axes under them.
    if ax is None:
        figure.set_layout_engine("none")
    place_labels(axes, frame, named)
    return figure


def _finding(frame: pd.DataFrame) -> str:
    count, clusters = len(frame), frame["cluster"].nunique()
    if clusters < 2:
        return f"{count} {'theme' if count == 1 else 'themes'}, too few to fall into groups"
    largest = int(frame["cluster"].value_counts().iloc[0])
    return f"{count:,} themes fall into {clusters} groups; the largest holds {largest / count:.0%} of them"


def _dots(axes: "Axes", frame: pd.DataFrame) -> None:
    from matplotlib import rcParams

    cycle = rcParams["axes.prop_cycle"].by_key()["color"]
    colours = [cycle[cluster % len(cycle)] for cluster in frame["cluster"]]
    axes.scatter(
        frame["x"], frame["y"], s=_areas(frame), c=colours, alpha=0.75, edgecolors="white", linewidths=0.6
    )
    axes.margins(0.12)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.spines[:].set_color("#cccccc")


def _areas(frame: pd.DataFrame) -> np.ndarray:
    """Areas of the dots in square points."""
    return 26 + 14 * np.sqrt(np.maximum(frame["tasks"].to_numpy(), 1) - 1)


def place_labels(axes: "Axes", frame: pd.DataFrame, named: Sequence[int]) -> "list[Text]":
    """Write the titles of the first `MOST_LABELS` rows of `named` that find a free place near their dot.

    A label lies inside the axes and over no dot, label or leader; what finds no such place is left out. Places are
    tried in one order and not searched for as long as there is time: a slow machine labels as a fast one does.
    """
    points, back = axes.figure.dpi / 72, axes.transData.inverted().transform
    spots = axes.transData.transform(frame[["x", "y"]].to_numpy())
    radii = (np.sqrt(_areas(frame)) / 2 + 1) * points
    taken = np.hstack([spots - radii[:, None], spots + radii[:, None]])
    kept: list[Text] = []
    for i in named:
        text = axes.text(0, 0, _label(frame["title"].iloc[i]), fontsize=7.6, color=INK, linespacing=1.0)
        text.set(ha="center", va="center", position=back(spots[i]))
        half = np.asarray(text.get_window_extent().size) / 2 + 1.5 * points
        free = _free_place(spots[i], float(radii[i]), half, taken, i, np.asarray(axes.bbox.extents), points)
        if free is None:
            text.remove()
            continue
        side, centre, leader = free
        text.set(position=back(centre), multialignment=("center", "left", "right")[side])
        taken = np.vstack([taken, [*(centre - half), *(centre + half)], np.hstack([leader, leader])])
        kept.append(text)
        if np.linalg.norm(leader[0] - spots[i]) > radii[i] + 4 * points:
            line = back([leader[0], spots[i]]).T
            axes.plot(*line, color=QUIET, linewidth=0.6, zorder=0.5, scalex=False, scaley=False)
        if len(kept) == MOST_LABELS:
            break
    return kept


def _free_place(
    spot: np.ndarray,
    radius: float,
    half: np.ndarray,
    taken: np.ndarray,
    own: int,
    frame: np.ndarray,
    points: float,
) -> tuple[int, np.ndarray, np.ndarray] | None:
    """Where a box of that half size is free, all in pixels: its side of the dot, its centre, its leader."""
    others = np.delete(taken, own, axis=0)
    for reach, angle in itertools.product(REACHES, np.deg2rad(ANGLES)):
        away = np.array([np.cos(angle), np.sin(angle)]).round(6)
        centre = spot + away * (radius + reach * points) + np.sign(away) * half
        box = np.hstack([centre - half, centre + half])[None]
        leader = np.linspace(np.clip(spot, box[0, :2], box[0, 2:]), spot, 24)
        leader = leader[np.linalg.norm(leader - spot, axis=1) >= radius]
        inside = (frame[:2] < box[0, :2]).all() and (box[0, 2:] < frame[2:]).all()
        if inside and not _meet(box, taken) and not _meet(np.hstack([leader, leader]), others):
            return int(np.sign(away[0])), centre, leader
    return None


def _meet(boxes: np.ndarray, others: np.ndarray) -> bool:
    """Whether any of these boxes, rows of x0, y0, x1, y1, overlaps any of the others."""
    low, high = boxes[:, None, :2] <= others[:, 2:], others[:, :2] <= boxes[:, None, 2:]
    return bool((low & high).all(axis=2).any())


def _label(title: str) -> str:
    lines = textwrap.wrap(title, LABEL_LETTERS)
    return "\n".join(lines if len(lines) <= 2 else [lines[0], f"{lines[1]} …"])
