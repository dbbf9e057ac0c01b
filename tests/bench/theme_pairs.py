"""Pairs of themes for readers to label: draws them, prints a blind sheet, takes the answers in.

    python tests/bench/theme_pairs.py draw                  themes and pairs, without labels, into --out
    python tests/bench/theme_pairs.py sheet a               the pairs as text, shuffled, for the first reader
    python tests/bench/theme_pairs.py take a ANSWERS        their answers; b and settled likewise
    python tests/bench/theme_pairs.py agreement             how far a and b agree

The pool is what the built-in model infers from the project's own requests under two seeds, the published environments
and the themes that a real model worked on. Of each bin of cosine the same number of pairs is drawn, as evenly as there
are pairs from three kinds: with a theme that the stand-in did not write, of two of its domains, of one of them.
Each pair `stands_for` as many of the pool as its kind has in its bin. Published texts and the real model's are not
written: their hash is. The draw is of the library as it is; today's gives other pairs than those that were labelled.

A sheet shows texts only, the sides as chance has it; a, b and settled have other orders. An answer is a line `N s` or
`N o` (same, other), with `?` behind it where a fair reader could say otherwise.
"""

import argparse
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import envscaler as es
from envscaler.model.builtin.domain import ranking
from envscaler.release import env_id, read_environments
from envscaler.schema import Theme
from envscaler.show.agreement import compare_labels
from envscaler.themes import PAPER_RANDOM_STATE

ROOT = Path(__file__).resolve().parents[2]
RELEASE = Path(os.environ.get("ENVSCALER_RELEASE", ROOT.parent / "shared" / "release"))
REPLIES = RELEASE.parent / "replies" / "weak_model.json"
SEED, POOL_SEEDS = 20261130, (0, 1)
PAIRS, LOWEST, HIGHEST, WIDTH = 300, 0.40, 0.95, 0.05
MOST_OF_A_THEME = 5
"""Pairs that one text of the stand-in is in at most, so that none weighs much."""
MOST_OF_ONE_WORLD = 3
"""Pairs within one domain in a bin at most."""
KS = (10, 20, 25, 30, 35, 40, 50, 60, 80, 100, 150, 200)
ORDERS = {"a": 1, "b": 2, "settled": 3}


def text_hash(text: str) -> str:
    """What a text is known by where it is not written."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def pool() -> dict[str, dict[str, Any]]:
    """Every theme once, by the hash of its text."""
    rows = [("published", env_id(s), s.title, s.summary) for s in read_environments(RELEASE)]
    real = json.loads(REPLIES.read_text(encoding="utf-8"))
    rows += [("real", f"weak_model_{n}", row["title"], row["summary"]) for n, row in enumerate(real)]
    for seed in POOL_SEEDS:
        model = es.connect("builtin", seed=seed)
        tasks = es.judge_tasks(es.load_tasks(), model, progress=False)
        for theme in es.infer_themes(tasks, model, seed=seed, progress=False):
            rows.append(("stand-in", ranking(theme.example)[0][1].name, theme.title, theme.summary))
    named = [dict(zip(("source", "name", "title", "summary"), row, strict=True)) for row in rows]
    return {text_hash(text_of(row)): row for row in named}


def text_of(row: dict[str, Any]) -> str:
    """The text as it is encoded; `Theme.text` says which."""
    bare = {"usefulness": 7, "modelability": 7, "task_ids": []}
    return Theme(title=row["title"], summary=row["summary"], **bare).text


def kind_of(left: dict[str, Any], right: dict[str, Any]) -> str:
    """Which of the three kinds of pair this is."""
    if {left["source"], right["source"]} != {"stand-in"}:
        return "other writers"
    return "one domain" if left["name"] == right["name"] else "two domains"


def draw(out: Path) -> None:
    """Draw the pairs and write both files."""
    rng = np.random.default_rng(SEED)
    themes = pool()
    hashes, rows = list(themes), list(themes.values())
    vectors = es.connect_encoder().encode([text_of(row) for row in rows])
    cosines = vectors @ vectors.T
    left, right = np.triu_indices(len(rows), 1)
    chance = rng.permutation(len(left))
    bins: dict[int, dict[str, list[tuple[int, int]]]] = {}
    for i, j in zip(left[chance].tolist(), right[chance].tolist(), strict=True):
        if LOWEST <= cosines[i, j] < HIGHEST:
            place = int((cosines[i, j] - LOWEST) / WIDTH + 1e-6)
            bins.setdefault(place, {}).setdefault(kind_of(rows[i], rows[j]), []).append((i, j))
    count, used, pairs = round((HIGHEST - LOWEST) / WIDTH), Counter[int](), []
    # From the top: there the pairs are few, and what is missing is made up for below.
    for done, place in enumerate(reversed(range(count))):
        share = round((PAIRS - len(pairs)) / (count - done))
        chosen = _of_bin(bins.get(place, {}), share, used, rows)
        told = {kind: len(those) for kind, those in sorted(bins.get(place, {}).items())}
        print(f"{LOWEST + place * WIDTH:.2f} {len(chosen)} drawn of {told}", Counter(k for k, *_ in chosen))
        of_kind = Counter(kind for kind, *_ in chosen)
        pairs += [(i, j, len(bins[place][kind]) / of_kind[kind]) for kind, i, j in chosen]
    write(
        out / "labels_themes.jsonl",
        _theme_rows({n for i, j, _ in pairs for n in (i, j)}, hashes, rows, vectors),
    )
    write(
        out / "labels_pairs.jsonl",
        (
            {"left": hashes[i], "right": hashes[j], "cosine": round(float(cosines[i, j]), 4),
             "stands_for": round(weight, 2)}
            for i, j, weight in pairs
        ),
    )  # fmt: skip


def _of_bin(
    kinds: dict[str, list[tuple[int, int]]], share: int, used: Counter[int], rows: list[dict[str, Any]]
) -> list[tuple[str, int, int]]:
    """So many pairs, the kinds in turn; a kind that has no more leaves its turn to the others."""
    waiting = {kind: list(pairs) for kind, pairs in kinds.items()}
    within, chosen = Counter[str](), []
    while len(chosen) < share and any(waiting.values()):
        for kind in ("other writers", "two domains", "one domain"):
            while waiting.get(kind) and len(chosen) < share:
                i, j = waiting[kind].pop()
                world = rows[i]["name"] if kind == "one domain" else ""
                often = any(used[n] >= MOST_OF_A_THEME and rows[n]["source"] == "stand-in" for n in (i, j))
                if not often and within[world] < MOST_OF_ONE_WORLD:
                    used.update((i, j))
                    within.update([world] if world else [])
                    chosen.append((kind, i, j))
                    break
    return chosen


def _theme_rows(
    places: set[int], hashes: list[str], rows: list[dict[str, Any]], vectors: np.ndarray
) -> Iterable[dict[str, Any]]:
    """The themes of the pairs, with their clusters at each k; only the stand-in's have a text."""
    from sklearn.cluster import KMeans

    order = sorted(places, key=lambda n: (rows[n]["source"], rows[n]["name"], hashes[n]))
    fitted = {k: KMeans(n_clusters=k, random_state=PAPER_RANDOM_STATE, n_init="auto").fit(vectors[order]).labels_
              for k in KS if k < len(order)}  # fmt: skip
    for at, n in enumerate(order):
        row = rows[n]
        text = {"title": row["title"], "summary": row["summary"]} if row["source"] == "stand-in" else {}
        clusters = {str(k): int(labels[at]) for k, labels in fitted.items()}
        yield {"hash": hashes[n], "source": row["source"], "name": row["name"], **text, "clusters": clusters}


def shuffled(pairs: list[dict[str, Any]], who: str) -> list[tuple[int, bool]]:
    """The order of a sheet: the place of each pair in the file, and whether its sides are swapped."""
    rng = np.random.default_rng(SEED + ORDERS[who])
    order = rng.permutation(len(pairs)).tolist()
    return list(zip(order, (rng.random(len(pairs)) < 0.5).tolist(), strict=True))


def sheet(out: Path, who: str) -> None:
    """Print the pairs as a reader sees them; the settling reader sees those that differ or are unsure."""
    themes, pairs = pool(), read(out / "labels_pairs.jsonl")
    for number, (place, swapped) in enumerate(shuffled(pairs, who), 1):
        pair = pairs[place]
        if who == "settled" and pair["a"] == pair["b"] and pair["sure"]:
            continue
        sides = [pair["right"], pair["left"]] if swapped else [pair["left"], pair["right"]]
        print(f"{number}\n" + "\n".join(f"  - {' '.join(text_of(themes[side]).split())}" for side in sides))


def take(out: Path, who: str, answers: Path) -> None:
    """Write a reader's answers to the pairs."""
    pairs = read(out / "labels_pairs.jsonl")
    order = shuffled(pairs, who)
    found = re.findall(r"^(\d+) ([so])(\??)$", answers.read_text(encoding="utf-8"), re.MULTILINE)
    said = {int(number): (letter == "s", mark == "") for number, letter, mark in found}
    for number, (same, sure) in said.items():
        pair = pairs[order[number - 1][0]]
        pair["same" if who == "settled" else who] = same
        pair["sure"] = pair.get("sure", True) and sure and who != "settled"
    if who == "settled":
        for pair in pairs:
            pair.setdefault("same", pair["a"])
    if who != "settled" and len(said) != len(pairs):
        raise SystemExit(f"Expected {len(pairs)} answers, got {len(said)}.")
    write(out / "labels_pairs.jsonl", pairs)


def agreement(out: Path) -> None:
    """Print how far the two readers agree, over all pairs and by kind of writer."""
    pairs = read(out / "labels_pairs.jsonl")
    sources = {row["hash"]: row["source"] for row in read(out / "labels_themes.jsonl")}
    ours = [{sources[p["left"]], sources[p["right"]]} == {"stand-in"} for p in pairs]
    for name, some in (
        ("all", pairs),
        ("stand-in", [p for p, own in zip(pairs, ours, strict=True) if own]),
        ("other writers", [p for p, own in zip(pairs, ours, strict=True) if not own]),
    ):
        found = compare_labels([p["a"] for p in some], [p["b"] for p in some])
        print(f"{name}: {found.n} pairs, agreement {found.accuracy:.3f}, kappa {found.kappa:.3f}")
        print(found.confusion)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Do what the command line asks for."""
    line = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    line.add_argument("what", choices=["draw", "sheet", "take", "agreement"])
    line.add_argument("who", nargs="?", choices=list(ORDERS))
    line.add_argument("answers", nargs="?", type=Path)
    line.add_argument("--out", type=Path, default=ROOT / "build" / "theme_pairs")
    options = line.parse_args()
    if options.what == "draw":
        draw(options.out)
    elif options.what == "sheet":
        sheet(options.out, options.who)
    elif options.what == "take":
        take(options.out, options.who, options.answers)
    else:
        agreement(options.out)


if __name__ == "__main__":
    main()
