"""Kill a pipeline at random moments, begin it again each time, and count what was asked twice and what came out.

Run: python tests/bench/kills.py [--calls 2000] [--kills 10] [--in-flight 16]

The pipeline judges tasks with a model on a server that keeps a list of what it was asked. SIGKILL, as the kernel or a
scheduler would do it; the cache on disk is all that is left of a run.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from loopback import Loopback, Seen, completion, serve

PIPELINE = """
import sys
import envscaler as es
url, calls, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
tasks = [es.Task(text=f"Please move appointment {n} to Friday.", source="test") for n in range(calls)]
model = es.connect("m", base_url=url, workers=workers)
run = es.open_run("m", "smoke")
run.write("tasks", es.judge_tasks(tasks, model, progress=False))
"""


def kill_and_resume(calls: int, kills: int, in_flight: int, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Run the pipeline once in peace and once with kills; what was asked, and whether the files are the same."""
    loopback = Loopback()
    loopback.otherwise = _judge
    server = serve(loopback)
    try:
        calm, begun = _start(loopback.url, folder / "calm", calls, in_flight), time.monotonic()
        calm.wait()
        seconds = time.monotonic() - begun
        asked_in_peace = len(loopback.seen)
        loopback.seen.clear()
        chance, struck, begun = random.Random(seed), 0, time.monotonic()
        while True:
            process = _start(loopback.url, folder / "killed", calls, in_flight)
            before = len(loopback.seen)
            if struck == kills:
                process.wait()
                break
            # At a moment of the work itself: after so many further calls, and somewhere between two of them.
            due = before + chance.randrange(1, max(2, 2 * (calls - before) // (kills - struck + 1)))
            while len(loopback.seen) < due and process.poll() is None:
                time.sleep(chance.random() * 0.02)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                struck += 1
            process.wait()
        asked = Counter(seen.last for seen in loopback.seen)
        return {
            "in peace": asked_in_peace, "asked": sum(asked.values()), "distinct": len(asked),
            "twice": sum(n - 1 for n in asked.values()), "kills": struck,
            "same": _files(folder / "calm") == _files(folder / "killed"),
            "files": sorted(_files(folder / "calm")), "seconds in peace": seconds, "seconds": time.monotonic() - begun,
        }  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()


def _judge(seen: Seen) -> Any:
    time.sleep(0.01)
    return completion(
        json.dumps({"reason": f"It says {len(seen.last)} letters.", "stateful": len(seen.last) % 2 == 0})
    )


def _start(url: str, home: Path, calls: int, in_flight: int) -> "subprocess.Popen[bytes]":
    home.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "ENVSCALER_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-c", PIPELINE, url, str(calls), str(in_flight)], env=environment
    )


def _files(home: Path) -> dict[str, bytes]:
    """The files of the run; the cache and the account are no results."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted((home / "build" / "data").rglob("*.jsonl"))
    }


def main() -> None:
    """Kill, begin again, tell."""
    line = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    line.add_argument("--calls", type=int, default=2000)
    line.add_argument("--kills", type=int, default=10)
    line.add_argument("--in-flight", type=int, default=16)
    line.add_argument("--seed", type=int, default=0)
    options = line.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        told = kill_and_resume(options.calls, options.kills, options.in_flight, Path(folder), options.seed)
    for metric, value in told.items():
        print(
            json.dumps({"bench": "kills", "metric": metric, "value": value, "unit": "", **vars(options)}),
            flush=True,
        )


if __name__ == "__main__":
    main()
