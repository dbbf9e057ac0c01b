"""How long certifying the whole release takes: the sample repeated to its size, every copy another one.

Run: python tests/bench/certify.py [--calls N] [--share 1.0]

Copies differ in a string of their source, of their state and of their task, so that no id is there twice and nothing
is found in a cache. There is none to switch off in the library: the file of rows is a new one.
"""

import argparse
import itertools
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from envscaler import release
from envscaler.certifying.examine import CALLS, Options
from envscaler.certifying.many import certify_all
from envscaler.schema import Scenario, Skeleton
from envscaler.world.sandbox import pool, start_worker

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "release"
ENVIRONMENTS, SCENARIOS, CHECKS = 191, 2550, 40_231
"""The size of the published release."""


def report(metric: str, value: Any, unit: str, **told: Any) -> None:
    print(
        json.dumps({"bench": "certify", "metric": metric, "value": value, "unit": unit, **told}), flush=True
    )


def environments(sample: list[Skeleton], count: int) -> list[Skeleton]:
    """Copies of the sample's environments, each with a comment of its own in its source."""
    return [
        one.model_copy(
            update={
                "source": f"{one.source}\n# copy {n}\n",
                "extra": {"env_id": f"{release.env_id(one)}-{n}"},
            }
        )
        for n, one in zip(range(count), itertools.cycle(sample), strict=False)
    ]


def scenarios(sample: list[Scenario], known: dict[str, list[Skeleton]], count: int) -> list[Scenario]:
    """Copies of the sample's scenarios, spread over the copies of their environments, with other tasks and states."""
    made = []
    for n, one in zip(range(count), itertools.cycle(sample), strict=False):
        homes = known[one.skeleton_id]
        home = homes[n // len(sample) % len(homes)]
        state = {**one.initial_state, "copy": n}
        told = {"skeleton_id": home.id, "task": f"{one.task}\n({n})", "initial_state": state}
        made.append(one.model_copy(update={**told, "extra": {"task_id": f"{release.task_id(one)}-{n}"}}))
    return made


def spent() -> tuple[float, float]:
    """CPU seconds of this process, and of the children that have ended."""
    own, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime, theirs.ru_utime + theirs.ru_stime


def main() -> None:
    """One run at full size, or at a share of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=CALLS, help="calls of the referee")
    parser.add_argument("--share", type=float, default=1.0, help="of the full size")
    parser.add_argument("--workers", type=int, default=0)
    parsed = parser.parse_args()
    folder = Path(os.environ.get("ENVSCALER_RELEASE", DEFAULT))
    if not folder.is_dir():
        report("published sample", None, f"absent at {folder}; set ENVSCALER_RELEASE")
        return
    sample = release.read_environments(folder)
    posed = release.read_scenarios(folder / "rl_scenarios.json", sample)
    copies = environments(list(sample), round(ENVIRONMENTS * parsed.share))
    known: dict[str, list[Skeleton]] = {}
    for one, copy in zip(itertools.cycle(sample), copies, strict=False):
        known.setdefault(one.id, []).append(copy)
    fitting = [one for one in posed if one.skeleton_id in known]
    many = scenarios(fitting, known, round(SCENARIOS * parsed.share))
    assert len({one.id for one in copies}) == len(copies) and len({one.id for one in many}) == len(many)
    start_worker().close()
    options = Options(calls=parsed.calls)
    with tempfile.TemporaryDirectory() as out:
        begun, used = time.perf_counter(), spent()
        certified = certify_all(
            copies,
            many,
            out=Path(out) / "rows.jsonl",
            options=options,
            workers=parsed.workers or None,
            progress=sys.stderr.isatty(),
        )
        seconds = time.perf_counter() - begun
        pool._pool.close()  # what the sandboxed processes used is known when they have ended
    totals = certified.totals
    size = {name: totals[name] for name in ("environments", "scenarios", "checks", "failures")}
    report("whole release", round(seconds, 1), "s", cores=os.cpu_count(), load=os.getloadavg()[0], **size)
    own, sandboxed = (after - before for after, before in zip(spent(), used, strict=True))
    report("processor time of this process", round(own, 1), "s")
    report("processor time of the sandboxed ones", round(sandboxed, 1), "s")
    report("checks a second", round(totals["checks"] / seconds), "1/s", of_the_release=CHECKS)


if __name__ == "__main__":
    main()
