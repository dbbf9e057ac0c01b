"""Many episodes at once, some of whose workers are killed while they run; for `runtime.py` and the tests."""

import gc
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from worlds import message, scenario, skeleton

from envscaler.error import EnvscalerError
from envscaler.world.environment import Environment
from envscaler.world.sandbox import pool, start_worker

READ = message(("get_book", '{"book_id": "B-1"}'))
LEND = message(("lend", '{"book_id": "B-1", "member": 7}'))
DONE = {"role": "assistant", "content": "Done."}


class Crowd:
    """Episodes that take turns, step by step, all of them alive from the first to the last."""

    def __init__(self, *, episodes: int, steps: int, kills: int, threads: int) -> None:
        self._world, self._scenario = skeleton(), scenario()
        self._size, self._steps, self._kills, self._threads = episodes, steps, kills, threads
        self._told: Counter[str] = Counter()
        self._errors: list[str] = []
        self._lock = threading.Lock()

    def run(self) -> dict[str, Any]:
        """Run them; what became of them, and what was left behind."""
        start_worker().close()
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            return self._run()

    def _run(self) -> dict[str, Any]:
        before, begun = _settled({"processes": 0}), time.perf_counter()
        episodes = [Environment(self._world, self._scenario, seed=n, timeout=10.0) for n in range(self._size)]
        shares = [episodes[n :: self._threads] for n in range(self._threads)]
        self._each(self._reset, shares)
        chance = random.Random(1)
        victims = Counter(chance.randrange(self._steps) for _ in range(self._kills))
        for place in range(self._steps):
            for world in chance.sample([w for w in episodes if w._live.warm], victims[place]):
                self._kill(world)
            self._each(lambda share, place=place: self._step(share, place), shares)
            if place == self._steps // 2:
                peak, most = _memory(), len(_workers())
        self._each(self._finish, shares)
        passed = time.perf_counter() - begun
        del episodes, shares
        gc.collect()
        after = _settled(before)
        left = {f"{name} left": max(0, after[name] - before[name]) for name in before}
        facts = {"errors": self._errors, "peak MB": peak, "most workers": most, "seconds": passed}
        names = ("finished", "paid", "killed", "reported")
        return {**{name: self._told[name] for name in names}, **facts, **left}

    def _each(self, work: Any, shares: list[list[Environment]]) -> None:
        threads = [threading.Thread(target=self._guarded, args=(work, share)) for share in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _guarded(self, work: Any, share: list[Environment]) -> None:
        try:
            work(share)
        except EnvscalerError as error:
            self._errors.append(repr(error))

    def _note(self, name: str, number: int = 1) -> None:
        with self._lock:
            self._told[name] += number

    def _reset(self, share: list[Environment]) -> None:
        for world in share:
            world.reset()
            world.call("get_book", {"book_id": "B-1"})

    def _step(self, share: list[Environment], place: int) -> None:
        for world in share:
            # The last step is the one that matters; an agent that is told of a crash tries again.
            action = LEND if place == self._steps - 1 else READ
            for _ in range(2):
                faults = world.step(action)[4]["faults"]
                self._note("reported", len(faults))
                if not faults:
                    break

    def _finish(self, share: list[Environment]) -> None:
        for world in share:
            reward = world.step(DONE)[1]
            self._note("finished")
            self._note("paid", int(reward == 1.0))
            world.close()

    def _kill(self, world: Environment) -> None:
        os.kill(world._live._worker._channel._pid, signal.SIGKILL)  # type: ignore[union-attr]
        self._note("killed")


def _workers() -> list[int]:
    """Processes that the zygote has forked and that run."""
    if pool._pool.zygote is None:
        return []
    parent, found = str(pool._pool.zygote._process.pid), []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, of = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if of == parent and state != "Z":
            found.append(int(path.parent.name))
    return found


def _memory() -> float:
    """MB that the workers take, what they share with one another counted once."""
    total = 0
    for pid in _workers():
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / 1000


def _left() -> dict[str, int]:
    files = len(list(Path(tempfile.gettempdir()).iterdir()))
    return {"processes": len(_workers()), "descriptors": len(os.listdir("/proc/self/fd")), "files": files}  # noqa: PTH208


def _settled(before: dict[str, int]) -> dict[str, int]:
    """What is there once everything has had time to end."""
    deadline = time.monotonic() + 10
    while any((now := _left())[name] > before[name] for name in before) and time.monotonic() < deadline:
        time.sleep(0.05)
    return now
