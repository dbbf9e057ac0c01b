"""The published sample under our runtime: findings, episodes replayed, rows there and back, a large file streamed.

    python tests/bench/release.py [referee] [replay] [rows] [stream] [large]

One JSON object a line. `environments` counts those a kind was found in; where no state was published, one is made up
from the record types, and its findings are counted apart, for an invented record may break a rule of its world. The
large file (100 MB; 700 MB only where `large` is asked for) is the recorded episodes over and over, each with a name of
its own, so that no scenario is there to replay one in: what is measured is the reading.
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


def enlarged(folder: Path, path: Path, megabytes: int) -> int:
    """Write the recorded episodes over and over, each with a name of its own and paid in full; how many there are."""
    table = [row for _, row, _ in read_rows(folder / "trajectories.json")]
    with path.open("w") as file:
        file.write("[")
        for number in itertools.count():
            row = table[number % len(table)]
            info = {**row["task_info"], "task_id": f"episode-{number}"}
            told = json.dumps({**row, "task_info": info, "total_reward": 1.0})
            file.write((",\n" if number else "") + told)
            if file.tell() > megabytes * 1e6:
                break
        file.write("]")
    return number + 1


def measured(*line: str | Path) -> tuple[str, float, float]:
    """The last line that a process of this Python prints, its seconds of computing, and its peak memory in MB."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([sys.executable, *map(str, line)], stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # it has been waited for
        out.seek(0)
        lines = out.read().splitlines()
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    return (lines or [""])[-1], usage.ru_utime + usage.ru_stime, peak


def stream(folder: Path, megabytes: int = 100) -> None:
    """A file of so many MB read as records, by `replay` and by `certify`, each in a process of its own."""
    named = ("--environments", folder / "env_metadata.json", "--no-progress")
    scenarios = folder / "trajectory_scenarios.json"
    with tempfile.TemporaryDirectory() as scratch:
        large = Path(scratch) / "large.json"
        rows = enlarged(folder, large, megabytes)
        size = large.stat().st_size / 1e6
        report("streamed file", round(size, 1), "MB", rows=rows)
        out = ("--out", Path(scratch) / "rows.jsonl", "--calls", "1")
        ways: dict[str, tuple[str | Path, ...]] = {
            "one row": ("-c", STREAM, large, "1"),
            "iter_trajectories": ("-c", STREAM, large),
            "replay": ("-m", "envscaler", "replay", large, "--scenarios", scenarios, *named),
            "certify": ("-m", "envscaler", "certify", scenarios, "--trajectories", large, *named, *out),
        }
        least = 0.0
        for name, line in ways.items():
            last, seconds, peak = measured(*line)
            told, least = json.loads(last), least or peak
            read = told if isinstance(told, int) else told.get("failures") or told["scenarios"]
            more = {"of_file_beyond_one_row": round((peak - least) / size, 3), "rows": read}
            report(f"streaming, {name}: peak memory", round(peak, 1), "MB", **more)
            report(
                f"streaming, {name}: CPU", round(seconds, 1), "s", megabytes_a_second=round(size / seconds, 1)
            )


def large(folder: Path) -> None:
    """`stream` with a file as large as the largest that was published."""
    stream(folder, 700)


STREAM = """
import itertools, sys
from envscaler import release
most = int(sys.argv[2]) if len(sys.argv) > 2 else None
print(sum(not hasattr(made, "error") for made in itertools.islice(release.iter_trajectories(sys.argv[1]), most)))
"""
PARTS = {"referee": referee, "replay": replays, "rows": there_and_back, "stream": stream, "large": large}


def main() -> None:
    """The parts that were asked for, or all."""
    folder = Path(os.environ.get("ENVSCALER_RELEASE", DEFAULT))
    if not folder.is_dir():
        report("published sample", None, f"absent at {folder}; set ENVSCALER_RELEASE")
        return
    for name in sys.argv[1:] or [name for name in PARTS if name != "large"]:
        PARTS[name](folder)


if __name__ == "__main__":
    main()
