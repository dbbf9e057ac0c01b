"""How fast environments run: prints one JSON object a line, `{"bench", "metric", "value", "unit"}`.

    python tests/bench/runtime.py           everything, about three minutes
    python tests/bench/runtime.py quick     without growth and the crowd

The environment has twenty tools. Steps go through `Environment.step` with isolation, tracking and diffs; a step
is one message with one call, four reads to a write, unless said otherwise. Episodes are whole: fork, seal, load,
thirty steps, grading of eight checks in a second worker. `aim` is what the project promised itself.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from crowd import Crowd, _memory

from envscaler.schema import Check, Scenario, Skeleton
from envscaler.world.environment import Environment
from envscaler.world.sandbox import isolation_in_use, start_worker
from envscaler.world.source import read_tools

TOOLS = '''
    def get_part{n}(self, part_id: str) -> dict:
        """Look up a part.

        Args:
            part_id: The part.
        """
        if part_id not in self.parts:
            return {{"success": False, "error": "No such part."}}
        return {{"success": True, "data": self.parts[part_id]}}

    def move_parts{n}(self, shelf: str, part_id: str = "P-1", count: int = 1) -> dict:
        """Put parts on another shelf.

        Args:
            shelf: Where they go.
            part_id: The first part.
            count: How many parts, from that one on.
        """
        if part_id not in self.parts:
            return {{"success": False, "error": "No such part."}}
        for key in [part_id] if count == 1 else list(self.parts)[:count]:
            self.parts[key]["shelf"] = shelf
        return {{"success": True, "message": "Moved.", "data": self.parts[part_id]}}
'''
SOURCE = '''
class Store:
    """A store of parts."""

    def __init__(self, initial_state: dict | None = None):
        self.parts: dict[str, dict] = {}
        self.orders: dict[str, dict] = {}
''' + "".join(TOOLS.format(n=n or "") for n in range(10))


def report(metric: str, value: float, unit: str, aim: float | None = None) -> None:
    """Print one line."""
    line = {"bench": "runtime", "metric": metric, "value": round(value, 4), "unit": unit}
    print(json.dumps({**line, "aim": aim} if aim is not None else line), flush=True)


def world(size: int) -> tuple[Skeleton, Scenario]:
    """A skeleton and a scenario whose state has about `size` bytes of JSON."""
    state: dict[str, dict[str, dict]] = {"parts": {}, "orders": {}}
    number = 0
    while len(json.dumps(state)) < size:
        for _ in range(max(1, size // 4000)):
            record = {
                "id": f"P-{number}",
                "name": f"part number {number}",
                "shelf": "A",
                "stock": number,
                "price": 1.5,
            }
            state["parts" if number % 2 else "orders"][f"P-{number}"] = {**record, "tags": ["spare", "metal"]}
            number += 1
    tools = read_tools(SOURCE, "Store")
    skeleton = Skeleton(
        theme_id="",
        title="Store",
        summary="",
        class_name="Store",
        source=SOURCE,
        state=[],
        rules=[],
        tools=tools,
    )
    check = "def check_func(final_state):\n    return final_state['parts']['P-1']['shelf'] == 'B'"
    checks = [Check(item=f"Has the part been moved ({i})?", source=check) for i in range(8)]
    return skeleton, Scenario(
        skeleton_id=skeleton.id, initial_state=state, task="Move it.", checks=checks, may_change=["parts/P-1"]
    )


def message(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """An assistant message with these calls."""
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


GET, HERE, THERE = (
    ("get_part", {"part_id": "P-1"}),
    ("move_parts", {"part_id": "P-1", "shelf": "B"}),
    ("move_parts", {"part_id": "P-1", "shelf": "C"}),
)
READ, WRITE, AWAY = message(GET), message(HERE), message(THERE)
DONE = {"role": "assistant", "content": "Done."}


def best(work: Callable[[], int], rounds: int = 5) -> float:
    """Most units a second over some rounds; the machine is shared, so the best says most about the code."""
    rates = []
    for _ in range(rounds):
        begun = time.perf_counter()
        rates.append(work() / (time.perf_counter() - begun))
    return max(rates)


def mixed(environment: Environment, count: int) -> int:
    """Four reads, then a write there or back."""
    for place in range(count):
        environment.step(READ if place % 5 else (WRITE if place % 2 else AWAY))
    return count


def steps(size: int, actions: list[dict[str, Any]] | None = None, count: int = 200) -> float:
    """Steps a second: mixed ones, or the given ones in turn."""
    skeleton, scenario = world(size)
    with Environment(skeleton, scenario, max_steps=10**9) as environment:
        environment.reset()

        def work() -> int:
            if actions is None:
                return mixed(environment, count)
            for place in range(count):
                environment.step(actions[place % len(actions)])
            return count

        return best(work)


def batched(size: int) -> float:
    """Calls a second when a message has ten."""
    rate = steps(
        size, [message(*[HERE, GET, GET, GET, GET] * 2), message(*[THERE, GET, GET, GET, GET] * 2)], 40
    )
    return 10 * rate


def in_process(size: int) -> float:
    """Calls a second of the bare class in this process: no isolation, no diff; the source is our own."""
    names: dict[str, Any] = {}
    exec(compile(SOURCE, "store", "exec"), names)
    store = names["Store"]()
    vars(store).update(json.loads(json.dumps(world(size)[1].initial_state)))

    def work() -> int:
        for place in range(2000):
            store.get_part("P-1") if place % 5 else store.move_parts("BC"[place % 2], "P-1")
        return 2000

    return best(work)


def episode(size: int) -> float:
    """Whole graded episodes of 30 steps a second."""
    skeleton, scenario = world(size)

    def work() -> int:
        with Environment(skeleton, scenario, max_steps=40) as environment:
            environment.reset()
            for place in range(29):
                environment.step(READ if place % 3 else WRITE)
            reward = environment.step(DONE)[1]
            assert reward == 1.0, reward
        return 1

    work()
    return best(work, rounds=15)


def workers() -> float:
    """Milliseconds to fork and seal a worker and have it answer once, the median."""
    times = []
    for _ in range(30):
        begun = time.perf_counter()
        worker = start_worker()
        worker.ask("hold", timeout=5.0, values={"x": 1})
        times.append(1000 * (time.perf_counter() - begun))
        worker.close()
    return statistics.median(times)


def moments(size: int) -> None:
    """Resets, snapshots, restores and forks, in milliseconds each; a restore and a fork are used once."""
    skeleton, scenario = world(size)
    label = f"at {size // 1000} kB"
    with Environment(skeleton, scenario, max_steps=10**9) as environment:
        environment.reset()
        environment.step(WRITE)
        moment = environment.snapshot()

        def restore() -> int:
            environment.restore(moment)
            environment.step(READ)
            return 1

        def fork() -> int:
            with environment.fork() as other:
                other.step(READ)
            return 1

        def reset() -> int:
            environment.reset()
            environment.step(READ)
            return 1

        for name, work in (("reset", reset), ("restore", restore), ("fork", fork)):
            report(f"{name} and a step {label}", 1000 / best(work, 15), "ms")
        report(
            f"snapshot {label}", 1000 / best(lambda: len([environment.snapshot() for _ in range(20)])), "ms"
        )


def hundred() -> float:
    """MB that the workers of 100 live episodes of 100 kB take."""
    skeleton, scenario = world(100_000)
    episodes = [Environment(skeleton, scenario) for _ in range(100)]
    try:
        for environment in episodes:
            environment.reset()
            environment.step(WRITE)
        return _memory()
    finally:
        for environment in episodes:
            environment.close()


def growth() -> None:
    """What a step costs as the state grows, and as the change grows."""
    for size in (10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000):
        for name, actions in (("read", [READ]), ("write", [WRITE, AWAY])):
            report(f"{name} step at {size // 1000} kB", 1000 / steps(size, actions, 60), "ms")
    for count in (1, 10, 100, 1000):
        actions = [message(("move_parts", {"shelf": shelf, "count": count})) for shelf in "BC"]
        report(f"step that changes {count} records at 1000 kB", 1000 / steps(1_000_000, actions, 20), "ms")


def crowd() -> None:
    """1,000 episodes at once, 20 of whose workers are killed."""
    told = Crowd(episodes=1000, steps=10, kills=20, threads=2).run()
    for name, value in told.items():
        unit = {"peak MB": "MB", "seconds": "s"}.get(name, "count")
        report(f"crowd of 1000: {name}", len(value) if isinstance(value, list) else value, unit)


def main() -> None:
    """Run every bench."""
    begun = time.perf_counter()
    sealed = isolation_in_use() == "sealed"
    report("first start", 1000 * (time.perf_counter() - begun), "ms")
    report("sealed", float(sealed), "yes=1")
    report("cores", float(os.cpu_count() or 1), "cores")
    report("load of the machine", os.getloadavg()[0], "processes")
    report("worker start", workers(), "ms", aim=10)
    for size, aim in ((10_000, 5000), (100_000, 2500), (1_000_000, 250)):
        report(f"steps at {size // 1000} kB", steps(size), "steps/s", aim=aim)
        report(f"calls at {size // 1000} kB, ten a message", batched(size), "calls/s")
        report(f"calls in process at {size // 1000} kB, no diff", in_process(size), "calls/s")
    report("episodes of 30 steps at 100 kB", episode(100_000), "episodes/s", aim=30)
    for size in (10_000, 100_000, 1_000_000):
        moments(size)
    report("memory of 100 live episodes at 100 kB", hundred(), "MB", aim=500)
    if "quick" not in sys.argv[1:]:
        growth()
        crowd()


if __name__ == "__main__":
    main()
