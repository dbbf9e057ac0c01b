"""How fast environments run: prints one JSON object a line, `{"bench", "metric", "value", "unit"}`.

    python tests/bench/runtime.py

Steps go through `Environment.step` with isolation, tracking and diffs; a step is one call. Episodes are whole: fork,
seal, load, 30 steps, grading of eight checks in a second worker.
"""

import json
import os
import statistics
import time
from collections.abc import Callable

from envscaler.schema import Check, Scenario, Skeleton
from envscaler.world.environment import Environment
from envscaler.world.sandbox import isolation_in_use, start_worker
from envscaler.world.source import read_tools

SOURCE = '''
class Store:
    """A store of parts."""

    def __init__(self, initial_state: dict | None = None):
        self.parts: dict[str, dict] = {}
        self.orders: dict[str, dict] = {}

    def get_part(self, part_id: str) -> dict:
        """Look up a part.

        Args:
            part_id: The part.
        """
        if part_id not in self.parts:
            return {"success": False, "error": "No such part."}
        return {"success": True, "data": self.parts[part_id]}

    def move_part(self, part_id: str, shelf: str) -> dict:
        """Put a part on another shelf.

        Args:
            part_id: The part.
            shelf: Where it goes.
        """
        if part_id not in self.parts:
            return {"success": False, "error": "No such part."}
        self.parts[part_id]["shelf"] = shelf
        return {"success": True, "message": "Moved.", "data": self.parts[part_id]}
'''


def report(metric: str, value: float, unit: str) -> None:
    """Print one line."""
    print(
        json.dumps({"bench": "runtime", "metric": metric, "value": round(value, 4), "unit": unit}), flush=True
    )


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


def message(tool: str, **arguments: str) -> dict:
    """An assistant message with one call."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }


READ, WRITE = message("get_part", part_id="P-1"), message("move_part", part_id="P-1", shelf="B")
AWAY, DONE = message("move_part", part_id="P-1", shelf="C"), {"role": "assistant", "content": "Done."}


def best(work: Callable[[], int], rounds: int = 5) -> float:
    """Most units a second over some rounds; the machine is shared, so the best says most about the code."""
    rates = []
    for _ in range(rounds):
        begun = time.perf_counter()
        rates.append(work() / (time.perf_counter() - begun))
    return max(rates)


def steps(size: int) -> float:
    """Isolated steps a second: four reads, then a write there or back."""
    skeleton, scenario = world(size)
    with Environment(skeleton, scenario, max_steps=10**9) as environment:
        environment.reset()

        def work() -> int:
            for place in range(200):
                environment.step(READ if place % 5 else (WRITE if place % 2 else AWAY))
            return 200

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


def main() -> None:
    """Run every bench."""
    begun = time.perf_counter()
    sealed = isolation_in_use() == "sealed"
    report("first start", 1000 * (time.perf_counter() - begun), "ms")
    report("sealed", float(sealed), "yes=1")
    report("cores", float(os.cpu_count() or 1), "cores")
    report("worker start", workers(), "ms")
    for size in (10_000, 100_000, 1_000_000):
        report(f"steps at {size // 1000} kB", steps(size), "steps/s")
    report("episodes of 30 steps at 100 kB", episode(100_000), "episodes/s")
    skeleton, scenario = world(100_000)
    with Environment(skeleton, scenario) as environment:
        environment.reset()
        report(
            "snapshots at 100 kB",
            best(lambda: len([environment.snapshot() for _ in range(50)])),
            "snapshots/s",
        )


if __name__ == "__main__":
    main()
