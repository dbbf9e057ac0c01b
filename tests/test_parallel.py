"""Many at once: in order, failures beside the results, bugs not hidden, an interrupt keeps what is done."""

import asyncio
import threading
import time

import pytest

from envscaler.error import ParameterError, ReplyError
from envscaler.parallel import run_all
from envscaler.schema import Task


def test_results_keep_the_order_of_the_things() -> None:
    def slow_first(n: int) -> Task:
        time.sleep(0.05 if n == 0 else 0)
        return Task(text=str(n))

    made = run_all(slow_first, range(20), stage="tasks", workers=5, progress=False)
    assert [t.text for t in made] == [str(n) for n in range(20)]


def test_an_expected_error_becomes_a_row_and_the_others_go_on() -> None:
    def odd_only(n: int) -> Task:
        if n % 2 == 0:
            raise ReplyError(f"Expected an odd number, got {n}.")
        return Task(text=str(n))

    made = run_all(odd_only, range(4), stage="tasks", workers=2, progress=False)
    assert [t.text for t in made] == ["1", "3"]
    assert [(f.parent_id, f.error) for f in made.failures] == [("0", "ReplyError"), ("2", "ReplyError")]


def test_a_bug_is_not_a_failure_row() -> None:
    with pytest.raises(ZeroDivisionError):
        run_all(lambda n: Task(text=str(1 / n)), [1, 0], stage="tasks", progress=False)


def test_a_function_may_make_several() -> None:
    made = run_all(
        lambda n: [Task(text=f"{n}{i}") for i in range(n)], [0, 1, 2], stage="tasks", progress=False
    )
    assert [t.text for t in made] == ["10", "20", "21"]


def test_it_runs_where_an_event_loop_runs() -> None:
    async def cell() -> int:
        return len(run_all(lambda n: Task(text=str(n)), range(3), stage="tasks", progress=False))

    assert asyncio.run(cell()) == 3


def test_an_interrupt_keeps_what_is_done_and_stops_the_rest(caplog: pytest.LogCaptureFixture) -> None:
    started: list[int] = []
    lock = threading.Lock()

    def work(n: int) -> Task:
        with lock:
            started.append(n)
        if n == 3:
            time.sleep(0.1)
            raise KeyboardInterrupt
        time.sleep(0.01)
        return Task(text=str(n))

    made = run_all(work, range(1000), stage="tasks", workers=2, progress=False)
    assert 1 <= len(made) < 1000
    assert len(started) < 900
    assert "interrupted" in caplog.text


def test_one_record_is_not_a_list_of_its_fields() -> None:
    with pytest.raises(ParameterError, match="put it in a list"):
        run_all(lambda thing: thing, Task(text="x"), stage="tasks", progress=False)  # type: ignore[arg-type]


def test_nothing_to_do() -> None:
    assert run_all(lambda n: Task(text="x"), [], stage="tasks", progress=False) == []
