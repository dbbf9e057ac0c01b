"""Seeded mistakes: how many are caught, and located in the part they are in; a JSON object a line.

    python tests/bench/mistakes.py                               10 kinds × 20 in 10 worlds, minutes on one core
    python tests/bench/mistakes.py --seed 23                     others
    python tests/bench/mistakes.py --stubborn                    by an author who repeats them whatever it is told
    python tests/bench/mistakes.py --kinds "unsolvable task"     of some kinds only

The worlds are the built-in model's, written without faults, so that a mistake is all there is to find. `located`
means that the part with the mistake in it was asked for again. What slips through is printed whole, one a line:
enough to make it again.
"""

import argparse
import json
import time
from collections.abc import Iterable

from corpus import themes

import envscaler as es
from envscaler.model.builtin import BuiltinModel
from envscaler.model.builtin.domain import domains
from envscaler.posing.catching import Attempt


def tell(metric: str, value: float, unit: str) -> None:
    """Print one line."""
    line = {"bench": "mistakes", "metric": metric, "value": round(float(value), 4), "unit": unit}
    print(json.dumps(line), flush=True)


def of_kinds(attempts: Iterable[Attempt]) -> None:
    """Figures of each kind, and of all."""
    table = es.mistake_table(attempts)
    for row in table.to_dict("records"):
        for name in ("planted", "repaired", "refused", "missed", "failed"):
            tell(f"{name}: {row['kind']}", row[name], "mistakes")
        tell(f"caught: {row['kind']}", row["caught"], "share")
        tell(f"located: {row['kind']}", row["located"], "share")
    planted = max(1, int(table["planted"].sum()))
    for name in ("planted", "repaired", "refused", "missed", "failed"):
        tell(f"mistakes {name}", table[name].sum(), "mistakes")
    for name in ("caught", "located"):
        tell(f"mistakes {name}", (table[name] * table["planted"]).sum() / planted, "share")


def slips(attempts: Iterable[Attempt]) -> None:
    """Each mistake that a scenario was certified with, that was lost otherwise, or located in another part only."""
    for attempt in attempts:
        if attempt.planted and not (attempt.caught and attempt.located_right):
            fields = ("kind", "outcome", "skeleton_id", "sample", "revisions", "why", "spoiled")
            told = {name: getattr(attempt, name) for name in fields}
            line = {"bench": "mistakes", "metric": f"slip: {attempt.kind}", "value": 1, "unit": "mistakes"}
            print(json.dumps({**line, "slip": told}, ensure_ascii=False), flush=True)


def main() -> None:
    """Plant them and print what became of them."""
    parser = argparse.ArgumentParser(description="How many seeded mistakes are caught.")
    parser.add_argument("--worlds", type=int, default=10, help="the first so many domains by name")
    parser.add_argument("-n", type=int, default=20, help="mistakes of each kind")
    parser.add_argument("--kinds", nargs="*", help="default: all that are registered")
    parser.add_argument("--stubborn", action="store_true", help="the author repeats its mistake")
    parser.add_argument("--seed", type=int, default=0, help="of every random choice")
    arguments = parser.parse_args()
    made = themes(sorted(domains())[: arguments.worlds], arguments.seed)
    worlds = es.build_skeletons(made, BuiltinModel(fault_rate=0.0), progress=False)
    options = {"n": arguments.n, "seed": arguments.seed, "stubborn": arguments.stubborn, "progress": False}
    began = time.perf_counter()
    attempts = es.try_mistakes(worlds, kinds=arguments.kinds, **options)
    of_kinds(attempts)
    slips(attempts)
    tell("seconds", time.perf_counter() - began, "s")


if __name__ == "__main__":
    main()
