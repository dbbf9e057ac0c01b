"""The published sample under our runtime: the referee's findings by kind, and the recorded episodes replayed.

    python tests/bench/release.py

One JSON object a line. `environments` counts those a kind was found in; where no state was published, one is made up
from the record types, and its findings are counted apart, for an invented record may break a rule of its world.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import published

from envscaler.world.referee import check_environment
from envscaler.world.replay import replay

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "release"


def report(metric: str, value: float | None, unit: str, **more: Any) -> None:
    """Print one line."""
    print(
        json.dumps({"bench": "release", "metric": metric, "value": value, "unit": unit, **more}), flush=True
    )


def referee(folder: Path) -> None:
    """Findings by kind, with our schemas and with the published ones."""
    states = published.states(folder)
    for label, declared in (("our schemas", False), ("published schemas", True)):
        for given in (True, False):
            findings, environments, examples = Counter[str](), Counter[str](), dict[str, str]()
            chosen = {
                k: s
                for k, s in published.skeletons(folder, declared=declared).items()
                if (k in states) is given
            }
            for key, skeleton in chosen.items():
                found = check_environment(skeleton, states.get(key) or published.invented(skeleton))
                findings.update(f"{f.severity} {f.kind}" for f in found)
                environments.update({f"{f.severity} {f.kind}" for f in found})
                for f in found:
                    examples.setdefault(f"{f.severity} {f.kind}", f"{key}: {f.message}"[:200])
            state = "published state" if given else "invented state"
            for kind, number in findings.most_common():
                told = {"environments": environments[kind], "of": len(chosen), "example": examples[kind]}
                report(f"{kind} ({label}, {state})", number, "findings", **told)


def episodes(folder: Path) -> None:
    """Each recorded episode, replayed."""
    skeletons, total = published.skeletons(folder), Counter[str]()
    for key, row, calls, reward in published.episodes(folder):
        made = skeletons[key]
        again = replay(made, published.scenario(row, made), calls, reward="paper")
        total += again.counts
        told = {"recorded": reward, "calls": len(calls), **again.counts}
        report(f"replay {row['task_id']}", again.reward, "reward", **told)
    for kind, number in total.items():
        report(f"replayed calls: {kind}", number, "calls")


def main() -> None:
    """Both tables."""
    folder = Path(os.environ.get("ENVSCALER_RELEASE", DEFAULT))
    if not folder.is_dir():
        report("published sample", None, f"absent at {folder}; set ENVSCALER_RELEASE")
        return
    referee(folder)
    episodes(folder)


if __name__ == "__main__":
    main()
