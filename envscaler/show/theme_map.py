"""The map of themes (the paper's Fig. 4a): embeddings laid out in the plane, some of them named.

`lay_out` gives places, `spread` chooses whom to name, `draw_theme_map` draws. Places on such a map say who is near
whom and nothing else: axes have no unit. The paper's own lay-out is t-SNE by all signs; ours is UMAP.
"""

import textwrap
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from envscaler.error import ParameterError
from envscaler.given import many
from envscaler.schema import Theme
from envscaler.show.canvas import INK, QUIET, axes_for, in_house_style, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

SEED = 42
EXACT_ABOVE = 300
"""From so many rows on, neighbours are computed here, exactly; below, UMAP does so itself."""
FEWEST_FOR_UMAP = 5
LABEL_LETTERS, MOST_LABELS = 24, 30


def lay_out(vectors: np.ndarray) -> tuple[np.ndarray, str]:
    """Places in the plane for rows of vectors, and how they were found.

    UMAP on cosine distances; with fewer than five rows there are no neighbourhoods to keep, and the first two
    principal components are taken instead. The same rows give the same places.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    if len(rows) < FEWEST_FOR_UMAP:
        return _principal(rows), f"PCA, because UMAP needs more than {len(rows)} themes"
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
            n_neighbors=neighbours,
            min_dist=0.35,
            metric="cosine",
            init=start,
            random_state=SEED,
            n_jobs=1,
            precomputed_knn=known,
        )
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
    if not themes or vectors.ndim != 2 or len(themes) != len(vectors) or not vectors.size:
        raise ParameterError(
            f"Expected at least one theme and a vector for each, got {len(themes)} themes and vectors of shape "
            f"{vectors.shape}."
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
    figure, (axes,) = axes_for(ax, (9.5, 7.2))
    _dots(axes, frame)
    named = spread(frame[["x", "y"]].to_numpy(), MOST_LABELS)
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
    sizes = 26 + 14 * np.sqrt(np.maximum(frame["tasks"].to_numpy(), 1) - 1)
    axes.scatter(frame["x"], frame["y"], s=sizes, c=colours, alpha=0.75, edgecolors="white", linewidths=0.6)
    axes.margins(0.12)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.spines[:].set_color("#cccccc")


def place_labels(axes: "Axes", frame: pd.DataFrame, named: Sequence[int]) -> "list[Text]":
    """Write the titles of the rows `named` beside their dots, none over another; what finds no place is left out."""
    from adjustText import adjust_text
    from matplotlib.patheffects import withStroke

    x, y = frame["x"].to_numpy(), frame["y"].to_numpy()
    halo = [
        withStroke(linewidth=2, foreground="white")
    ]  # a leader that passes behind a label must not strike it out
    texts = [
        axes.text(
            x[i],
            y[i],
            _label(frame["title"].iloc[i]),
            fontsize=7.6,
            color=INK,
            linespacing=1.0,
            path_effects=halo,
        )
        for i in named
    ]
    # Rounds, not seconds, end the search: a slow machine must place labels as a fast one does.
    adjust_text(
        texts,
        x=x,
        y=y,
        target_x=x[list(named)],
        target_y=y[list(named)],
        ax=axes,
        expand=(1.12, 1.35),
        iter_lim=400,
        min_arrow_len=3,
    )
    kept = _without_overlap(texts, axes)
    for text, i in zip(texts, named, strict=True):
        if text in kept:
            _leader(axes, text, (x[i], y[i]))
        else:
            text.remove()
    return kept


def _label(title: str) -> str:
    lines = textwrap.wrap(title, LABEL_LETTERS)
    return "\n".join(lines if len(lines) <= 2 else [lines[0], f"{lines[1]} …"])


def _without_overlap(texts: "Sequence[Text]", axes: "Axes") -> "list[Text]":
    frame = axes.get_window_extent()
    kept: list[Text] = []
    boxes: list[Bbox] = []
    for text in texts:
        box = text.get_window_extent()
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        if inside and not any(box.overlaps(other) for other in boxes):
            kept.append(text)
            boxes.append(box)
    return kept


def _leader(axes: "Axes", text: "Text", dot: tuple[float, float]) -> None:
    box = text.get_window_extent()
    spot = axes.transData.transform(dot)
    edge = np.clip(spot, (box.x0, box.y0), (box.x1, box.y1))
    if np.linalg.norm(edge - spot) < 6 * axes.figure.dpi / 72:
        return
    (x0, y0), (x1, y1) = axes.transData.inverted().transform([edge, spot])
    axes.plot([x0, x1], [y0, y1], color=QUIET, linewidth=0.6, zorder=0.5, scalex=False, scaley=False)
