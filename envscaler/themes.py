"""Stage 2: from tasks to the worlds they presuppose: infer a theme a task, drop the weak, merge the alike, pick.

    Task (stateful) → Theme → themes worth building → one theme a world → the themes that are built

`infer_themes` asks a model which world a task presupposes. `merge_themes` keeps the themes whose usefulness
and modelability suffice, drops repeated titles, and merges themes whose embeddings are near: it returns
`MergedThemes`, which keeps vectors and similarities, so that the threshold moves without encoding again.
`pick_themes` chooses among what is left: the theme nearest each k-means centre, as the paper does, or the
best supported ones.

The similarity search itself is in `dedup`, drawing in `figures`. No class is written here (`skeletons` does).
"""

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from envscaler.dedup import EXACT_ROWS, Pairs, leaders, most_similar_pairs, stars
from envscaler.error import NothingFits, ParameterError
from envscaler.given import at_least
from envscaler.model.ask import ask, origin
from envscaler.model.request import Encoder, Model
from envscaler.parallel import run_all
from envscaler.project import check_seed
from envscaler.schema import Failure, Part, Task, Theme
from envscaler.store import Records

MIN_SCORE = 7
"""Least usefulness and modelability of a theme that is kept (PAPER 2.2, step 3)."""
THRESHOLD = 0.7
"""Cosine at which two themes count as one. The paper has no such step and so no value. Chosen on 300 labelled pairs
with all-MiniLM-L6-v2 (`show.theme_pairs`): 99 % of the pairs that merge are one world, 71 % of those of one world
merge; at 0.75 all and 57 %, at 0.65 93 % and 80 %. Another encoder has other cosines: `least_similar` shows what it
just merges."""
FLOOR = 0.5
"""Similarities below this are not kept: such themes share no more than being about software."""
MARGIN = 0.1
"""How far below the threshold similarities are kept where there are too many themes to compare all with all."""
MOST_PAIRS = 2_000_000
"""About how many similarities are kept (24 MB); with more, the floor rises."""
PAPER_RANDOM_STATE = 42
"""`random_state` of the paper's KMeans (PAPER 2.2, step 3); `seed` is added to it."""

Picking = Literal["kmeans", "merged"]


class Inferred(Part):
    """What a model answers to `themes/infer`."""

    reason: str
    """Why this world, or why none."""
    fits: bool
    """Whether the request presupposes a world."""
    title: str
    """Its name."""
    summary: str
    """What it holds and how it changes."""
    usefulness: int = Field(ge=1, le=10)
    """How useful an environment of this kind would be."""
    modelability: int = Field(ge=1, le=10)
    """How well one class can stand for it."""

    @model_validator(mode="after")
    def _named_if_it_fits(self) -> Self:
        if self.fits and not (self.title.strip() and self.summary.strip()):
            raise ValueError("expected a title and a summary where fits is true")
        return self


def infer_theme(task: Task, model: Model, *, seed: int | None = None) -> Theme:
    """The world a task presupposes, with the model's scores (PAPER 2.2, step 2).

    Raises:
        NothingFits: the model says that no world fits, and why.
        ModelError: the model cannot be reached or does not answer in form.
    """
    inferred = ask(model, "themes/infer", {"request": task.text}, Inferred)
    if not inferred.fits:
        raise NothingFits(inferred.reason)
    return Theme(
        title=" ".join(inferred.title.split()),
        summary=inferred.summary.strip(),
        usefulness=inferred.usefulness,
        modelability=inferred.modelability,
        task_ids=[task.id],
        example=task.text,
        origin=origin(model, "themes/infer", seed=seed),
    )


def infer_themes(
    tasks: Sequence[Task], model: Model, *, seed: int | None = None, progress: bool = True
) -> Records[Theme]:
    """One theme for each task that was judged stateful, in order; `.failures` has a row where nothing fits."""
    return run_all(
        partial(infer_theme, model=model, seed=seed),
        [task for task in tasks if task.stateful],
        stage="themes",
        workers=model.workers,
        progress=progress,
    )


class MergedThemes(Records[Theme]):
    """The themes that stand after merging, best first, with what was merged and how near it was.

    Each theme stands for itself and for those that merged into it: `task_ids` is the union of theirs.
    """

    def __init__(
        self,
        distinct: Sequence[Theme],
        vectors: np.ndarray,
        pairs: Pairs,
        *,
        threshold: float,
        floor: float,
        counts: dict[str, int],
        encoder: str = "",
        failures: Iterable[Failure] = (),
    ) -> None:
        self.distinct = list(distinct)
        """The themes before merging: well scored, each title once, best first."""
        self.vectors, self.similarities = vectors, pairs
        self.threshold, self.floor, self.encoder = threshold, floor, encoder
        if threshold >= floor:
            self.kept_by, self.similarity = stars(np.arange(len(self.distinct)), pairs, threshold)
        else:
            self.kept_by, self.similarity = leaders(vectors, threshold)
        self.counts = {**counts, "merged": int((self.kept_by == np.arange(len(self.distinct))).sum())}
        """How many themes came, how many were `well_scored`, `distinct` by title, and left when `merged`."""
        super().__init__(_unite(self.distinct, self.kept_by), failures)

    @property
    def kept(self) -> np.ndarray:
        """Row numbers, in `distinct` and `vectors`, of the themes that stand."""
        return np.flatnonzero(self.kept_by == np.arange(len(self.distinct)))

    @property
    def duplicate_ratio(self) -> float:
        """Share of the distinct titles that merged into another one; 0.0 without themes."""
        return 1 - len(self) / len(self.distinct) if self.distinct else 0.0

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every two distinct themes with a similarity of at least `floor`, the most similar first."""
        i, j, score = self.similarities
        titles = np.array([theme.title for theme in self.distinct], dtype=object)
        together = self.kept_by[i] == self.kept_by[j]
        frame = pd.DataFrame(
            {"similarity": score, "left": titles[i], "right": titles[j], "merged": together, "i": i, "j": j}
        )
        return frame.sort_values("similarity", ascending=False, kind="stable", ignore_index=True)

    def rethreshold(self, threshold: float) -> "MergedThemes":
        """The same themes merged at another threshold, without encoding again."""
        _check_threshold(threshold)
        return MergedThemes(
            self.distinct,
            self.vectors,
            self.similarities,
            threshold=threshold,
            floor=self.floor,
            counts=self.counts,
            encoder=self.encoder,
            failures=self.failures,
        )

    def least_similar(self, n: int = 10) -> pd.DataFrame:
        """The n mergers that the threshold only just allowed: read them to judge it."""
        merged = np.flatnonzero(self.kept_by != np.arange(len(self.distinct)))
        doubtful = merged[np.argsort(self.similarity[merged], kind="stable")[:n]]
        rows = [
            (self.similarity[row], self.distinct[self.kept_by[row]], self.distinct[row]) for row in doubtful
        ]
        return pd.DataFrame(
            [
                (float(score), kept.title, gone.title, kept.summary, gone.summary)
                for score, kept, gone in rows
            ],
            columns=["similarity", "kept", "merged", "kept_summary", "merged_summary"],
        )

    def sweep(self, thresholds: Iterable[float]) -> pd.DataFrame:
        """How many themes stand at each threshold, and the share that merged."""
        runs = [self.rethreshold(threshold) for threshold in thresholds]
        return pd.DataFrame(
            [(run.threshold, len(run), run.duplicate_ratio) for run in runs],
            columns=["threshold", "themes", "duplicate_ratio"],
        )


def merge_themes(
    themes: Sequence[Theme], encoder: Encoder, *, threshold: float = THRESHOLD, min_score: int = MIN_SCORE
) -> MergedThemes:
    """Drop weakly scored themes, then repeated titles, then merge those whose embeddings are near.

    Best first means: by modelability, then usefulness (the paper's order among equal titles), then the number
    of tasks. A theme joins the most similar better one at `threshold` or above; see `dedup.stars` for why
    this does not chain. Themes are encoded once, as `Theme.text`.

    Raises:
        ParameterError: `threshold` is not above 0 and at most 1, or `min_score` is not in 1-10.
    """
    _check_threshold(threshold)
    if not isinstance(min_score, int | float | np.number) or not 1 <= min_score <= 10:
        raise ParameterError(f"Expected a min_score in 1-10, got {min_score!r}.")
    scored = [theme for theme in themes if min(theme.usefulness, theme.modelability) >= min_score]
    distinct = _distinct_titles(scored)
    vectors = _encode(distinct, encoder)
    lowest = FLOOR if len(distinct) <= EXACT_ROWS else max(FLOOR, threshold - MARGIN)
    pairs, floor = most_similar_pairs(vectors, lowest, MOST_PAIRS)
    return MergedThemes(
        distinct,
        vectors,
        pairs,
        threshold=threshold,
        floor=floor,
        counts={"inferred": len(themes), "well_scored": len(scored), "distinct": len(distinct)},
        encoder=encoder.name,
        failures=getattr(themes, "failures", []),
    )


def pick_themes(
    themes: Sequence[Theme], encoder: Encoder, *, n: int | None = None, by: Picking = "kmeans", seed: int = 0
) -> Records[Theme]:
    """Choose n themes; all of them when there are no more than that or `n` is None.

    Args:
        themes: usually what `merge_themes` gave; its vectors are then used again.
        encoder: encodes themes that have no vectors yet.
        n: how many to choose; k-means finds fewer where themes coincide.
        by: `kmeans` takes the theme nearest each of n centres, as the paper does: it spreads over all worlds.
            `merged` takes those that most tasks ask for, the order of the merged themes deciding among
            equals.
        seed: added to the paper's `random_state` of k-means.

    Raises:
        ParameterError: `n` is not positive, `by` is unknown, or `seed` is no whole number that will do.
    """
    n = None if n is None else at_least(n, 1, "n")
    if by not in ("kmeans", "merged"):
        raise ParameterError(f"Expected by='kmeans' or by='merged', got {by!r}.")
    check_seed(seed)
    if n is None or n >= len(themes):
        chosen: Iterable[int] = range(len(themes))
    elif by == "kmeans":
        chosen = _nearest_centres(_vectors(themes, encoder), n, PAPER_RANDOM_STATE + seed)
    else:
        chosen = sorted(range(len(themes)), key=lambda place: (-len(themes[place].task_ids), place))[:n]
    return Records((themes[place] for place in chosen), getattr(themes, "failures", []))


def compare_picks(
    themes: Sequence[Theme], encoder: Encoder, *, n: int, seed: int = 0, near: float = 0.6
) -> pd.DataFrame:
    """Both ways of picking n themes, side by side: one row a way.

    `mean_nearest` is the mean similarity of all themes to their nearest pick, `coverage` the share of themes
    with a pick at cosine `near` or more, `task_coverage` the same weighted by tasks, `support` the share of
    tasks that the picks themselves stand for, and `closest_picks` the highest similarity between two picks.
    """
    vectors = _vectors(themes, encoder)
    places = {id(theme): place for place, theme in enumerate(themes)}
    weights = np.array([len(theme.task_ids) for theme in themes], dtype=float)
    rows = []
    for by in ("kmeans", "merged"):
        picked = [places[id(theme)] for theme in pick_themes(themes, encoder, n=n, by=by, seed=seed)]
        rows.append({"by": by, "picks": len(picked), **_coverage(vectors, weights, picked, near)})
    return pd.DataFrame(rows)


def _coverage(vectors: np.ndarray, weights: np.ndarray, picked: list[int], near: float) -> dict[str, float]:
    if not picked:
        return {}
    nearest = (vectors @ vectors[picked].T).max(axis=1)
    between = vectors[picked] @ vectors[picked].T
    return {
        "mean_nearest": float(nearest.mean()),
        "coverage": float((nearest >= near).mean()),
        "task_coverage": float(np.average(nearest >= near, weights=weights)) if weights.any() else 0.0,
        "support": float(weights[picked].sum() / weights.sum()) if weights.any() else 0.0,
        "closest_picks": float(np.max(between[np.triu_indices(len(picked), 1)], initial=0.0)),
    }


def _nearest_centres(vectors: np.ndarray, n: int, random_state: int) -> list[int]:
    """The row nearest each centre, among the rows of that cluster, so that the picks are n different rows."""
    from sklearn.cluster import KMeans

    fitted = KMeans(n_clusters=n, random_state=random_state, n_init="auto").fit(vectors)
    apart = np.linalg.norm(vectors - fitted.cluster_centers_[fitted.labels_], axis=1)
    clusters = (np.flatnonzero(fitted.labels_ == cluster) for cluster in range(n))
    return sorted(int(rows[apart[rows].argmin()]) for rows in clusters if len(rows))


def _check_threshold(threshold: float) -> None:
    if not isinstance(threshold, int | float | np.number) or not 0.0 < threshold <= 1.0:
        raise ParameterError(f"Expected a threshold above 0 and at most 1, got {threshold!r}.")


def _distinct_titles(themes: Iterable[Theme]) -> list[Theme]:
    """Each title once, upper and lower case alike, the best theme standing for all; best first."""
    by_title: dict[str, list[Theme]] = {}
    for theme in sorted(themes, key=_worst_last):
        by_title.setdefault(theme.title.casefold(), []).append(theme)
    return sorted((_with_tasks(group) for group in by_title.values()), key=_worst_last)


def _worst_last(theme: Theme) -> tuple[int, int, int]:
    return (-theme.modelability, -theme.usefulness, -len(theme.task_ids))


def _with_tasks(group: Sequence[Theme]) -> Theme:
    """The first theme of a group with the tasks of all of them."""
    if len(group) == 1:
        return group[0]
    return group[0].replace(task_ids=list(dict.fromkeys(task for theme in group for task in theme.task_ids)))


def _unite(distinct: Sequence[Theme], kept_by: np.ndarray) -> list[Theme]:
    groups: dict[int, list[Theme]] = {}
    for row, kept in enumerate(kept_by.tolist()):
        # A better theme stands before those that merge into it, so it comes first in its group.
        groups.setdefault(kept, []).append(distinct[row])
    return [_with_tasks(group) for group in groups.values()]


def _vectors(themes: Sequence[Theme], encoder: Encoder) -> np.ndarray:
    known = isinstance(themes, MergedThemes) and themes.encoder == encoder.name
    if isinstance(themes, MergedThemes) and known and len(themes.kept) == len(themes):
        return themes.vectors[themes.kept]
    return _encode(themes, encoder)


def _encode(themes: Sequence[Theme], encoder: Encoder) -> np.ndarray:
    if not themes:
        return np.zeros((0, 1), np.float32)
    vectors = np.asarray(encoder.encode([theme.text for theme in themes]))
    if vectors.ndim != 2 or len(vectors) != len(themes):
        raise ParameterError(
            f"Expected a matrix with one row for each of {len(themes)} themes from the encoder {encoder.name}, got an "
            f"array of shape {vectors.shape}."
        )
    return vectors
