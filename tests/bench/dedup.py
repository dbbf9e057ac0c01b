"""Time, memory, recall and growth of the near-duplicate search on made-up embeddings of 384 dimensions.

    python tests/bench/dedup.py [rows ...]        default: 1000 10000 100000

One JSON object a line. Each size runs in a process of its own, so that its peak memory is its own. Three
kinds of data:

- `clustered`: 50 topics, in them groups of about 20 rows, rows at 0.90 to 0.99 of their group's centre, so
that pairs lie
  on both sides of every threshold;
- `graded`: as many groups of two rows as fit, at a cosine within 0.03 of the threshold, inside 50 topics;
- `scattered`: the same pairs without topics, the worst case for cells: nothing is near anything but its twin.

Recall is the share of the pairs of the exact search that the search by cells finds.
"""

import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from envscaler import dedup

SIZES = (1_000, 10_000, 100_000)
THRESHOLDS = (0.7, 0.8, 0.85, 0.9, 0.95)
DIMENSIONS = 384


def directions(rng: np.random.Generator, count: int) -> np.ndarray:
    return dedup.unit_rows(rng.standard_normal((count, DIMENSIONS), dtype=np.float32))


def beside(rng: np.random.Generator, rows: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """For each row another one at the given cosine, in a random direction."""
    aside = directions(rng, len(rows))
    aside = dedup.unit_rows(aside - (aside * rows).sum(axis=1, keepdims=True) * rows)
    cosines = cosines.astype(np.float32)[:, None]
    return cosines * rows + np.sqrt(1 - cosines**2) * aside


def in_topics(rng: np.random.Generator, count: int) -> np.ndarray:
    """Rows that share about half their direction with one of 50 topics."""
    topics = directions(rng, 50)
    return beside(rng, topics[rng.integers(50, size=count)], rng.uniform(0.5, 0.75, size=count))


def clustered(count: int, threshold: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    groups = in_topics(rng, max(1, count // 20))
    rows = groups[rng.integers(len(groups), size=count)]
    return beside(rng, rows, rng.choice([0.90, 0.93, 0.95, 0.97, 0.99], size=count))


def graded(count: int, threshold: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return twins(rng, in_topics(rng, count // 2), threshold)


def scattered(count: int, threshold: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return twins(rng, directions(rng, count // 2), threshold)


def twins(rng: np.random.Generator, rows: np.ndarray, threshold: float) -> np.ndarray:
    cosines = rng.uniform(threshold - 0.03, min(0.999, threshold + 0.03), size=len(rows))
    both = np.concatenate([rows, beside(rng, rows, cosines)])
    return both[rng.permutation(len(both))]


KINDS: dict[str, Callable[..., np.ndarray]] = {
    "clustered": clustered,
    "graded": graded,
    "scattered": scattered,
}


def tell(metric: str, value: float, unit: str, **facts: object) -> None:
    line = {"bench": "dedup", "metric": metric, "value": round(value, 4), "unit": unit, **facts}
    print(json.dumps(line), flush=True)


def one_size(kind: str, count: int, threshold: float = 0.85) -> dict[str, float]:
    """Time and memory of one search; to be run in a process of its own."""
    rows = KINDS[kind](count, threshold)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    pairs = dedup.similar_pairs(rows, threshold)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "peak_mb": peak / 1024, "before_mb": before / 1024, "pairs": len(pairs.i)}


def measure_sizes(kind: str, sizes: tuple[int, ...]) -> None:
    seconds = {}
    for count in sizes:
        run = subprocess.run(
            [sys.executable, __file__, "--one", kind, str(count)], capture_output=True, text=True, check=True
        )
        found = json.loads(run.stdout)
        seconds[count] = found["seconds"]
        facts = {"kind": kind, "rows": count, "pairs": found["pairs"]}
        tell("seconds", found["seconds"], "s", **facts)
        tell("peak_memory", found["peak_mb"], "MB", **facts)
    if len(sizes) > 1:
        least, most = sizes[-2:]
        growth = math.log(seconds[most] / seconds[least]) / math.log(most / least)
        tell("growth_exponent", growth, "", kind=kind, rows=[least, most])


def measure_recall(kind: str, count: int, threshold: float) -> None:
    rows = dedup.unit_rows(KINDS[kind](count, threshold))
    exact = dedup.exact_pairs(rows, threshold)
    found = dedup.cell_pairs(rows, threshold, np.random.default_rng(0))
    both = np.intersect1d(exact.i * count + exact.j, found.i * count + found.j)
    recall = len(both) / len(exact.i) if len(exact.i) else 1.0
    tell("recall", recall, "share", kind=kind, rows=count, threshold=threshold, pairs=len(exact.i))


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--one"]:
        print(json.dumps(one_size(arguments[1], int(arguments[2]))))
        return
    sizes = tuple(map(int, arguments)) or SIZES
    for kind in KINDS:
        measure_sizes(kind, sizes)
    for kind in KINDS:
        for threshold in THRESHOLDS:
            measure_recall(kind, min(10_000, max(sizes)), threshold)


if __name__ == "__main__":
    main(sys.argv[1:])
