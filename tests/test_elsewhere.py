"""Work that is handed to other processes: the same results, and no trouble when something ends too soon."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from envscaler.elsewhere import MANY, elsewhere, stage_of
from envscaler.error import ParameterError
from envscaler.given import at_least
from envscaler.model.builtin import BuiltinModel
from envscaler.parallel import run_all
from envscaler.scenarios import build_scenarios
from envscaler.schema import Scenario, Skeleton, Task
from envscaler.skeletons import build_skeleton
from envscaler.themes import infer_theme
from envscaler.world.certificate import certify

BUILTIN = BuiltinModel(fault_rate=0)

needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor: all is done here")


@pytest.fixture(scope="module")
def world() -> Skeleton:
    return build_skeleton(infer_theme(Task(text="Order a margherita pizza to take away."), BUILTIN), BUILTIN)


def _pids(things: int) -> set[int]:
    with stage_of(things):
        return {elsewhere(os.getpid) for _ in range(4)}


@needs_two
def test_many_things_are_done_elsewhere_and_few_here() -> None:
    assert os.getpid() not in _pids(MANY)
    assert _pids(MANY - 1) == {os.getpid()}
    assert elsewhere(os.getpid) == os.getpid()


@needs_two
def test_errors_come_back_as_they_are() -> None:
    with stage_of(MANY), pytest.raises(ParameterError, match="things"):
        elsewhere(at_least, 0, 1, "things")


@needs_two
def test_what_counts_of_the_environment_is_as_it_is_here_now(monkeypatch: pytest.MonkeyPatch) -> None:
    with stage_of(MANY):
        assert elsewhere(os.getenv, "ENVSCALER_ISOLATION", "none") == os.getenv("ENVSCALER_ISOLATION", "none")
        monkeypatch.setenv("ENVSCALER_ISOLATION", "process")
        assert elsewhere(os.getenv, "ENVSCALER_ISOLATION") == "process"


@needs_two
def test_a_helper_that_is_killed_costs_time_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    with stage_of(MANY):
        os.kill(elsewhere(os.getpid), signal.SIGKILL)
        answers = [elsewhere(abs, -number) for number in range(20)]
    assert answers == list(range(20))


def test_certificates_made_elsewhere_have_the_same_bytes(world: Skeleton) -> None:
    made = build_scenarios([world], BUILTIN, n=MANY, progress=False)
    assert not made.failures
    again = [scenario.replace(certificate=certify(world, scenario)) for scenario in made[:3]]
    assert [s.model_dump_json() for s in again] == [s.model_dump_json() for s in made[:3]]


def test_a_stage_that_is_many_is_known_to_its_threads_only() -> None:
    def seen(scenario: Scenario) -> Scenario:
        return scenario.replace(task=str(elsewhere(os.getpid) == os.getpid()))

    blank = [Scenario(skeleton_id="x", task=str(n), initial_state={}, checks=[]) for n in range(MANY)]
    told = {s.task for s in run_all(seen, blank, stage="pids", progress=False)}
    assert told == {str(len(os.sched_getaffinity(0)) < 2)}
    assert elsewhere(os.getpid) == os.getpid()


@needs_two
def test_helpers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    # Without a guard of its main part: the helpers must not run it again.
    script = tmp_path / "caller.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, sys, time
            from envscaler.elsewhere import MANY, elsewhere, stage_of
            with stage_of(MANY):
                print(elsewhere(os.getpid), flush=True)
            time.sleep(60)
            """
        )
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdout is not None
        helper = int(caller.stdout.readline())
        caller.kill()
        assert caller.stdout.read() == ""
    until = time.monotonic() + 20
    while Path(f"/proc/{helper}/stat").exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not Path(f"/proc/{helper}/stat").exists()


@needs_two
def test_nothing_is_said_at_the_end() -> None:
    code = "import os; from envscaler.elsewhere import *; s = stage_of(MANY); s.__enter__(); print(elsewhere(abs, -3))"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert (ended.stdout, ended.stderr) == ("3\n", "")


USE = """
import os
from envscaler.elsewhere import MANY, elsewhere, stage_of

def use():
    with stage_of(MANY):
        return elsewhere(os.getpid) != os.getpid()
"""


def _ran(tmp_path: Path, script: str) -> tuple[str, str]:
    (tmp_path / "using.py").write_text(USE)
    (tmp_path / "caller.py").write_text(textwrap.dedent(script))
    ended = subprocess.run(
        [sys.executable, "caller.py"], cwd=tmp_path, capture_output=True, text=True, timeout=90, check=True
    )
    return ended.stdout, ended.stderr


@needs_two
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_in_a_process_that_multiprocessing_started(tmp_path: Path, how: str) -> None:
    # A daemonic one, as those of a pool are, may start none; another one must not wait for its helpers to be idle.
    said = _ran(
        tmp_path,
        f"""
        import multiprocessing
        from using import use
        if __name__ == "__main__":
            start = multiprocessing.get_context({how!r})
            with start.Pool(1) as pool:
                print(pool.apply(use))
            process = start.Process(target=use)
            process.start()
            process.join(30)
            print(process.exitcode)
            process.kill()
        """,
    )
    assert said == ("False\n0\n", "")


@needs_two
def test_a_forked_child_has_helpers_of_its_own_and_ends_in_silence(tmp_path: Path) -> None:
    said = _ran(
        tmp_path,
        """
        import os, sys
        from envscaler.elsewhere import _helpers
        from using import use
        print(use(), flush=True)
        _helpers._lock.acquire()
        if os.fork() == 0:
            print(use(), flush=True)
            sys.exit()
        _helpers._lock.release()
        print(os.wait()[1], use())
        """,
    )
    assert said == ("True\nTrue\n0 True\n", "")


@needs_two
def test_ctrl_c_while_helpers_start_ends_all_of_them(tmp_path: Path) -> None:
    script = tmp_path / "caller.py"
    script.write_text(
        textwrap.dedent(
            """
            import threading, time
            from envscaler.elsewhere import MANY, elsewhere, stage_of
            def use():
                with stage_of(MANY):
                    elsewhere(abs, -1)
            thread = threading.Thread(target=use)
            thread.start()
            print("begun", flush=True)
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            thread.join()
            """
        )
    )
    for seconds in (0.5, 0.8):
        with subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as caller:
            assert caller.stdout is not None
            caller.stdout.readline()
            time.sleep(seconds)
            os.killpg(caller.pid, signal.SIGINT)
            try:
                assert caller.communicate(timeout=30)[0] == "interrupted\n"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(caller.pid, signal.SIGKILL)


def test_a_helper_whose_caller_is_gone_before_it_is_ready_ends_at_once() -> None:
    code = "import os; from envscaler.elsewhere import _prepared; _prepared(-1); import time; time.sleep(60)"
    assert subprocess.run([sys.executable, "-c", code], timeout=30, check=False).returncode == 1
