"""Which rows of a matrix of embeddings are near-duplicates, and which of them to keep.

It serves `themes` and knows nothing of texts: `similar_pairs` finds the pairs of rows whose cosine reaches a
threshold, `stars` merges rows along such pairs. Up to `EXACT_ROWS` rows every pair is looked at, in blocks.
Above that, rows are sorted into cells of about `CELL_ROWS` rows around spherical k-means centres, and a row
is compared with its nearest cells only. How many cells are *probed* is not a guess: it is calibrated, for the
data and the threshold at hand, on a sample of true pairs and of made-up pairs that lie exactly at the
threshold. The work then grows about linearly with the number of rows, as long as the number of pairs does.

It does not encode, and it does not promise every pair above `EXACT_ROWS`: `tests/bench/dedup.py` measures
recall. Low thresholds need many probes and fall back towards comparing all with all. No index library is
used: a graph index such as pynndescent (which umap brings along) answers another question, the k nearest and
not all above a threshold, and took longer: on 100,000 clustered rows and one core 12 s and 1.3 GB after 35 s
of compiling, against 3.5 s and 0.65 GB here.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from envscaler.error import ParameterError

EXACT_ROWS = 8_000
"""Up to so many rows all pairs are compared: about a second, and recall is 1 by construction."""
CELL_ROWS = 256
"""Rows a cell aims at: large enough for fast matrix products, small enough to save most of them."""
MISSED = 0.002
"""Share of the calibration pairs that the probes may miss."""
SAMPLE = 1_000
"""Rows the probes are calibrated on."""
BLOCK = 2_048
"""Rows in one matrix product; a block of the exact search holds BLOCK × rows floats."""


class Pairs(NamedTuple):
    """Pairs of rows with their cosine: three arrays of one length, `i < j`, sorted by `(i, j)`."""

    i: np.ndarray
    j: np.ndarray
    score: np.ndarray

    def above(self, threshold: float) -> "Pairs":
        """Those whose cosine reaches the threshold."""
        kept = self.score >= threshold
        return Pairs(self.i[kept], self.j[kept], self.score[kept])


def similar_pairs(vectors: np.ndarray, threshold: float, *, seed: int = 0) -> Pairs:
    """All pairs of rows whose cosine is at least `threshold` (above `EXACT_ROWS` rows: very nearly all).

    Args:
        vectors: one row an item; rows are normalised here, and a row of zeros is similar to nothing.
        threshold: the least cosine, above 0 and at most 1.
        seed: seed of the cells and of the calibration; the same input gives the same pairs.

    Raises:
        ParameterError: `vectors` is no finite matrix, or `threshold` is out of range.
    """
    rows = unit_rows(vectors)
    if not 0.0 < threshold <= 1.0:
        raise ParameterError(f"Expected a threshold above 0 and at most 1, got {threshold!r}.")
    # A row and its exact copy have cosine 1 up to rounding in float32.
    least = min(threshold, 1.0 - 1e-6)
    if len(rows) <= EXACT_ROWS:
        return exact_pairs(rows, least)
    return cell_pairs(rows, least, np.random.default_rng(seed))


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """The rows as float32 of length 1; a row of zeros stays.

    Raises:
        ParameterError: not a matrix, or one with NaN or infinity in it.
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.ndim != 2:
        raise ParameterError(f"Expected a matrix with one row an item, got an array of shape {rows.shape}.")
    if not np.isfinite(rows).all():
        raise ParameterError(
            "Expected finite numbers in every row, got NaN or infinity. Look at what the encoder returns."
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def stars(order: np.ndarray, pairs: Pairs, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Merge rows along their pairs, best first: `(kept_by, score)`, one entry a row.

    The rows are visited in `order`. A row joins the most similar row that was already *kept* and reaches the
    threshold, otherwise it is kept itself (`kept_by` is then its own number and the score 1). So every merged
    row is near the very row that stands for it. Single linkage would chain instead: a ~ b ~ c ~ … puts rows
    together that have nothing in common.

    Args:
        order: the row numbers, best first.
        pairs: the pairs found, at `threshold` or below.
        threshold: the least cosine for merging.
    """
    near = pairs.above(threshold)
    count = len(order)
    left, right = np.concatenate([near.i, near.j]), np.concatenate([near.j, near.i])
    score = np.concatenate([near.score, near.score])
    # Nearest first within a row, lower number first among equals, so that the result is one and the same.
    by_row = np.lexsort((right, -score, left))
    right, score = right[by_row], score[by_row]
    starts = np.searchsorted(left[by_row], np.arange(count + 1))
    kept, kept_by, similarity = np.zeros(count, bool), np.arange(count), np.ones(count, np.float32)
    for row in order:
        neighbours = right[starts[row] : starts[row + 1]]
        standing = np.flatnonzero(kept[neighbours])
        if len(standing):
            kept_by[row], similarity[row] = neighbours[standing[0]], score[starts[row] + standing[0]]
        else:
            kept[row] = True
    return kept_by, similarity


def leaders(vectors: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """What `stars` gives for rows that stand best first, without any pairs: each row meets the kept ones.

    For data so dense that their pairs would fill the memory: the work grows with rows times kept rows, and
    where everything is near something, few rows are kept.
    """
    rows = unit_rows(vectors)
    kept, kept_by, similarity = np.empty(0, np.int64), np.arange(len(rows)), np.ones(len(rows), np.float32)
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        by, score = _nearest_of(part, rows, kept)
        inner, fresh, count = part @ part.T, np.empty(len(part), np.int64), 0
        for place in range(len(part)):
            near = inner[place, fresh[:count]]
            if count and near.max() > score[place]:
                by[place], score[place] = start + fresh[near.argmax()], near.max()
            if score[place] >= threshold:
                kept_by[start + place], similarity[start + place] = by[place], min(score[place], 1.0)
            else:
                fresh[count], count = place, count + 1
        kept = np.concatenate([kept, start + fresh[:count]])
    return kept_by, similarity


def _nearest_of(part: np.ndarray, rows: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row of `part` the most similar of the kept rows, and how similar; -1 while none is kept."""
    by, score = np.full(len(part), -1, np.int64), np.full(len(part), -1.0, np.float32)
    for some in _parts(kept, 4 * BLOCK):
        products = part @ rows[some].T
        nearest = products.argmax(axis=1)
        better = products.max(axis=1) > score
        by[better], score[better] = some[nearest[better]], products.max(axis=1)[better]
    return by, score


def most_similar_pairs(
    vectors: np.ndarray, lowest: float, most: int, *, seed: int = 0
) -> tuple[Pairs, float]:
    """All pairs above a floor, and that floor: `lowest`, or higher where that would give many more than
    `most` pairs.

    The floor comes from a sample of rows against all. It may lie above 1: then there are no pairs but of
    copies.
    """
    rows = unit_rows(vectors)
    sample = np.random.default_rng(seed).permutation(len(rows))[:SAMPLE]
    scores = np.concatenate(
        [np.empty(0, np.float32), *(_at_least(rows[some] @ rows.T, lowest) for some in _parts(sample, 128))]
    )
    # Each sampled row meets itself once, and each pair is met from both ends.
    allowed = int(2 * most * len(sample) / max(1, len(rows))) + len(sample)
    floor = lowest
    if len(scores) > allowed:
        floor = float(np.partition(scores, len(scores) - allowed)[len(scores) - allowed])
        if (scores >= floor).sum() > 2 * allowed:
            floor = float(np.nextafter(floor, 2))
    if floor > 1 - 1e-6:
        return _tidy([], len(rows)), 1 + 1e-6
    return similar_pairs(rows, floor, seed=seed), floor


def _at_least(products: np.ndarray, least: float) -> np.ndarray:
    return products[products >= least]


def _parts(things: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (things[start : start + size] for start in range(0, len(things), size))


def _tidy(found: list[Pairs], count: int) -> Pairs:
    """One set of pairs out of many that may overlap: `i < j`, each once, sorted."""
    if not found:
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    i, j, score = (np.concatenate(column) for column in zip(*found, strict=True))
    key = np.minimum(i, j).astype(np.int64) * count + np.maximum(i, j)
    key, first = np.unique(key, return_index=True)
    return Pairs(key // count, key % count, np.minimum(score[first], 1.0).astype(np.float32))


def exact_pairs(rows: np.ndarray, threshold: float) -> Pairs:
    """The pairs among unit rows, every two rows compared."""
    found = []
    for start in range(0, len(rows), BLOCK):
        products = rows[start : start + BLOCK] @ rows[start:].T
        i, j = np.nonzero(products >= threshold)
        later = j > i
        i, j = i[later], j[later]
        found.append(Pairs(i + start, j + start, products[i, j]))
    return _tidy(found, len(rows))


def cell_pairs(rows: np.ndarray, threshold: float, rng: np.random.Generator) -> Pairs:
    """The pairs among unit rows, each row compared with the cells it probes."""
    centres = _centres(rows, max(2, len(rows) // CELL_ROWS), rng)
    probes = _calibrate(rows, centres, threshold, rng)
    nearest = np.concatenate([_nearest(part, centres, probes) for part in _parts(rows, BLOCK)])
    visitors = np.argsort(nearest.ravel(), kind="stable")
    starts = np.searchsorted(nearest.ravel()[visitors], np.arange(len(centres) + 1))
    found: list[Pairs] = []
    for cell in range(len(centres)):
        visiting = visitors[starts[cell] : starts[cell + 1]]
        members = visiting[visiting % probes == 0] // probes
        found.extend(_meet(rows, np.sort(visiting // probes), members, threshold))
    return _tidy(found, len(rows))


def _meet(rows: np.ndarray, visiting: np.ndarray, members: np.ndarray, threshold: float) -> Iterator[Pairs]:
    """The pairs between the members of a cell and all rows that probe it."""
    if len(members):
        home = rows[members].T
        for part in _parts(visiting, BLOCK):
            products = rows[part] @ home
            i, j = np.nonzero(products >= threshold)
            left, right = part[i], members[j]
            other = left != right
            yield Pairs(left[other], right[other], products[i, j][other])


def _nearest(rows: np.ndarray, centres: np.ndarray, probes: int) -> np.ndarray:
    """The nearest cells of each row; its own, the nearest, stands first."""
    products = rows @ centres.T
    own = products.argmax(axis=1)
    if probes == 1:
        return own[:, None].astype(np.int32)
    products[np.arange(len(rows)), own] = -np.inf
    others = np.argpartition(-products, probes - 2, axis=1)[:, : probes - 1]
    return np.column_stack([own, others]).astype(np.int32)


def _centres(rows: np.ndarray, count: int, rng: np.random.Generator, rounds: int = 6) -> np.ndarray:
    """Spherical k-means on a sample of 40 rows a cell; empty cells keep their centre."""
    sample = rows[np.sort(rng.permutation(len(rows))[: 40 * count])]
    centres = sample[rng.permutation(len(sample))[:count]]
    for _ in range(rounds):
        own = np.concatenate([(part @ centres.T).argmax(axis=1) for part in _parts(sample, BLOCK)])
        order = np.argsort(own, kind="stable")
        filled, starts = np.unique(own[order], return_index=True)
        centres = centres.copy()
        centres[filled] = unit_rows(np.add.reduceat(sample[order], starts, axis=0))
    return centres


def _calibrate(rows: np.ndarray, centres: np.ndarray, threshold: float, rng: np.random.Generator) -> int:
    """How many cells a row must probe so that all but `MISSED` of the calibration pairs meet.

    A pair meets when either row probes the other's own cell. True pairs are taken from a sample of rows
    against all; where duplicates are rare there are too few of those, so each sampled row also gets a made-up
    partner at exactly the threshold, moved towards another random row, i.e. in a direction in which these
    data do vary.
    """
    sample = rows[rng.permutation(len(rows))[:SAMPLE]]
    towards = rows[rng.integers(len(rows), size=len(sample))]
    aside = unit_rows(towards - (towards * sample).sum(axis=1, keepdims=True) * sample)
    made_up = np.float32(threshold) * sample + np.float32((1 - threshold**2) ** 0.5) * aside
    needed = [_ranks(sample, made_up, centres)]
    for part in _parts(sample, 256):
        products = part @ rows.T
        i, j = np.nonzero((products >= threshold) & (products < 1 - 1e-6))
        few = rng.permutation(len(i))[: 4 * SAMPLE]
        needed.append(_ranks(part[i[few]], rows[j[few]], centres))
    true = np.concatenate(needed[1:])
    probes = max(_quantile(needed[0]), _quantile(true))
    return min(len(centres), probes)


def _quantile(ranks: np.ndarray) -> int:
    return int(np.quantile(ranks, 1 - MISSED, method="higher")) if len(ranks) else 1


def _ranks(left: np.ndarray, right: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """How many cells must be probed for each pair to meet: the better of the two sides' ranks."""
    to_left, to_right = left @ centres.T, right @ centres.T
    row = np.arange(len(left))
    at_right = (to_left > to_left[row, to_right.argmax(axis=1)][:, None]).sum(axis=1)
    at_left = (to_right > to_right[row, to_left.argmax(axis=1)][:, None]).sum(axis=1)
    return np.minimum(at_left, at_right) + 1
