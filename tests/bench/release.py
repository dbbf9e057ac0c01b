"""The published sample under our runtime: findings, episodes replayed, rows there and back, a large file streamed.

    python tests/bench/release.py [referee] [replay] [rows] [stream]

One JSON object a line. `environments` counts those a kind was found in; where no state was published, one is made up
from the record types, and its findings are counted apart, for an invented record may break a rule of its world. The
large file is the recorded episodes over and over, each with a name of its own; seconds are of the process, not of the
clock.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import published

from envscaler import release
from envscaler.release import episodes, replaying, shapes
from envscaler.release.exact import record_of, row_of
from envscaler.release.rows import read_rows
from envscaler.world.change import same
from envscaler.world.referee import check_environment

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


def replays(folder: Path) -> None:
    """The recorded episodes, replayed."""
    skeletons = release.read_environments(folder)
    posed = release.read_scenarios(folder, skeletons)
    read = release.read_trajectories(folder, skeletons, posed)
    summary = replaying.replay_summary(replaying.replay_all(read, skeletons, posed, progress=False))
    for name in ("trajectories", "calls", "observations_same", "rewards", "rewards_same", "failures"):
        report(f"replay: {name.replace('_', ' ')}", summary[name], "number")
    for kind, number in summary["classes"].items():
        report(f"replay: {kind}", number, "calls")


def there_and_back(folder: Path) -> None:
    """Rows of the sample that are written as they were read."""
    skeletons = release.read_environments(folder / "env_metadata.json")
    shapes_of = {
        "env_metadata": shapes.environments(),
        "rl_scenarios": shapes.scenarios(skeletons),
        "trajectory_scenarios": shapes.scenarios(skeletons),
        "trajectories": episodes.trajectories(),
    }
    for name, shape in shapes_of.items():
        table = [row for _, row, _ in read_rows(folder / f"{name}.json")]
        started = time.process_time()
        equal = sum(same(row_of(record_of(row, shape), shape), row) for row in table)
        seconds = round(time.process_time() - started, 2)
        report(f"rows of {name} that come back", equal, "rows", of=len(table), cpu_seconds=seconds)


def stream(folder: Path, megabytes: int = 100) -> None:
    """A file of about 100 MB read as records, in a process of its own, for its memory."""
    table = [row for _, row, _ in read_rows(folder / "trajectories.json")]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "large.json"
        with path.open("w") as file:
            file.write("[")
            for number in itertools.count():
                row = table[number % len(table)]
                info = {**row["task_info"], "task_id": f"episode-{number}"}
                file.write((",\n" if number else "") + json.dumps({**row, "task_info": info}))
                if file.tell() > megabytes * 1e6:
                    break
            file.write("]")
        size = path.stat().st_size / 1e6
        done = subprocess.run(
            [sys.executable, "-c", STREAM, path], capture_output=True, text=True, check=True
        )
    read, seconds, before, after = json.loads(done.stdout)
    report("streamed file", round(size, 1), "MB", rows=read)
    report("streaming: CPU", round(seconds, 1), "s", megabytes_a_second=round(size / seconds, 1))
    report(
        "streaming: peak memory", round(after / 1024, 1), "MB", after_the_first_row=round(before / 1024, 1)
    )


STREAM = """
import json, resource, sys, time
from envscaler import release
list(release.iter_trajectories(sys.argv[1]).__next__().messages)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, started = peak(), time.process_time()
read = sum(not hasattr(made, "error") for made in release.iter_trajectories(sys.argv[1]))
print(json.dumps([read, time.process_time() - started, before, peak()]))
"""
PARTS = {"referee": referee, "replay": replays, "rows": there_and_back, "stream": stream}


def main() -> None:
    """The parts that were asked for, or all."""
    folder = Path(os.environ.get("ENVSCALER_RELEASE", DEFAULT))
    if not folder.is_dir():
        report("published sample", None, f"absent at {folder}; set ENVSCALER_RELEASE")
        return
    for name in sys.argv[1:] or PARTS:
        PARTS[name](folder)


if __name__ == "__main__":
    main()
