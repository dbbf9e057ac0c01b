"""Hostile code in a worker: each test is one thing it must not do to us.

Run: python -m pytest tests/test_world_sandbox.py -q
"""

import gc
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from worlds import skeleton, tool

from envscaler.error import EnvironmentLost, ResetNeeded, SandboxError, SourceError
from envscaler.world.environment import Environment
from envscaler.world.sandbox import WorkerLost, channel, isolation_in_use, pool, start_worker
from envscaler.world.sandbox.allowed import ALLOWED, HIDDEN

SEALED = isolation_in_use() == "sealed"
sealed = pytest.mark.skipif(not SEALED, reason="no seal on this machine")
# The way past the import list that any determined code knows.
ESCAPE = (
    "os = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__"
)


def outcome(body: str, **options):
    """What the tool's reply says, and the state after it and one more call."""
    with Environment(
        tool(body), {"things": {"a": 1}}, timeout=options.pop("timeout", 1.0), **options
    ) as world:
        world.reset()
        reply = world.call("run")
        assert world.call("count")["data"] == 1, "the environment is unusable after it"
        return reply, world.state, world.faults


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "self.n = 5\nwhile True: pass",
        "return sorted(range(10**9))",
        "import re\nreturn re.match('(a+)+$', 'a' * 40 + 'b')",
        "return str(9 ** 9 ** 9)",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()",
        "try:\n    while True: pass\nfinally:\n    while True: pass",
    ],
)
def test_what_never_ends_is_ended_and_undone(body):
    begun = time.monotonic()
    reply, state, _ = outcome(body, timeout=0.5)
    assert reply["success"] is False and "nothing was changed" in reply["error"]
    assert state == {"things": {"a": 1}, "n": 1}
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    "body",
    [
        "self.n = 9\nself.things.clear()\nraise ValueError('no')",
        "self.n = 9\nraise SystemExit(3)",
        "self.n = 9\nraise KeyboardInterrupt",
        "self.n = 9\nraise BaseException('x' * 10**6)",
        "self.things['b'] = 2\nreturn self.run()",
        "self.extra = 5\ndel self.things\n1/0",
        "self.n = object()\nreturn {}",
        "self.things['b'] = float('nan')\nreturn {}",
        "self.things['b'] = '\\ud800'\nreturn {}",
        "self.things['b'] = self.things\nreturn {}",
        "self.n = 9\nreturn {'data': object()}",
        "self.n = 9\nreturn {'data': float('inf')}",
        "self.n = 9\nreturn 'x' * (9 * 2**20)",
        "self.n = 9\nd = []\nfor _ in range(100000):\n    d = [d]\nreturn d",
        "self.n = 9\nreturn (i for i in range(3))",
        "self.n = 9\nimport os",
        "self.n = 9\nopen('/etc/hostname')",
        "self.n = 9\nclass E(Exception):\n    def __str__(self):\n        raise RuntimeError\nraise E()",
        "self.n = 9\nx = [0] * 10**10\nreturn {}",
    ],
)
def test_what_raises_is_undone_and_reported(body):
    reply, state, _ = outcome(body)
    assert (
        reply["success"] is False and "nothing was changed" in reply["error"] and len(reply["error"]) < 1500
    )
    assert state == {"things": {"a": 1}, "n": 1}


def test_a_crash_is_undone():
    escape = f"{ESCAPE}\nself.n = 9\nos['_exit'](0)"
    reply, state, _ = outcome(escape)
    assert "crashed" in reply["error"] and state["n"] == 1


@sealed
@pytest.mark.parametrize(
    "deed",
    [
        "os['open']('/etc/passwd', 0)",
        "os['open']('{path}', 65)",
        "os['listdir']('/')",
        "os['fork']()",
        "[os['fork']() for _ in range(1000)]",
        "os['kill'](os['getppid'](), 9)",
        "os['execv']('/bin/true', ['true'])",
        "os['popen']('touch {path}').read() or 1 / 0",
        "os['sys'].modules['socket'].socket()",
        "os['sys'].modules['_thread'].start_new_thread(print, ())",
        "os['truncate']('{path}', 1)",
        "os['sys'].modules['resource'].setrlimit(4, (1, 1))",
    ],
)
def test_the_seal_holds_against_code_that_got_out_of_python(deed, tmp_path):
    path = tmp_path / "touched"
    reply, _, _ = outcome(
        f"{ESCAPE}\n{deed.format(path=path)}\nreturn {{'success': True}}", isolation="sealed"
    )
    assert reply["success"] is False, "it was done"
    assert not path.exists()


@sealed
def test_os_system_comes_to_nothing(tmp_path):
    path = tmp_path / "touched"
    outcome(f"{ESCAPE}\nos['system']('touch {path}')\nreturn {{'success': True}}", isolation="sealed")
    assert not path.exists()


@sealed
def test_a_worker_has_no_descriptor_but_its_own(tmp_path):
    with (tmp_path / "mine").open("w") as mine:
        os.set_inheritable(mine.fileno(), True)
        body = (
            f"{ESCAPE}\nheld = []\nfor fd in range(64):\n    try:\n"
            f"        os['lseek'](fd, 0, 1)\n        held.append(fd)\n"
            "    except OSError as e:\n        if e.errno != 9: held.append(fd)\nreturn {'success': True, 'data': held}"
        )
        reply, _, _ = outcome(body)
    assert len(reply["data"]) == 4, "0-2 on the null device and the channel"


def test_the_environment_of_the_user_is_not_there(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    reply, _, _ = outcome(f"{ESCAPE}\nreturn {{'success': True, 'data': dict(os['environ'])}}")
    assert "hunter2" not in json.dumps(reply)


@pytest.mark.parametrize(
    "frame",
    [
        "(99).to_bytes(4, 'big') + b'{' * 99",
        "(2**32 - 1).to_bytes(4, 'big')",
        "(2).to_bytes(4, 'big') + b'{}'",
        "(6).to_bytes(4, 'big') + b'[1, 2]'",
        '(33).to_bytes(4, \'big\') + b\'{"id":2,"ok":true,"reply":"forge"}\'',
    ],
)
def test_forged_frames_end_the_worker_and_not_us(frame):
    body = f"{ESCAPE}\n[os['write'](fd, {frame}) for fd in range(3, 8) if 1]\nreturn {{'success': True}}"
    with Environment(tool(body.replace(" if 1", "")), {}, timeout=1.0) as world:
        world.reset()
        try:
            world.call("run")
            world.call("count")
        except EnvironmentLost:
            return
        assert world.state["n"] in (0, 1)


def test_the_third_loss_is_the_last():
    with Environment(tool("while True: pass"), {}, timeout=0.2) as world:
        world.reset()
        world.call("run")
        world.call("run")
        with pytest.raises(EnvironmentLost, match="3 times"):
            world.call("run")
        with pytest.raises(ResetNeeded):
            world.call("count")
        world.reset()
        assert world.call("count")["data"] == 1


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass\nclass World:\n    def run(self): return 1",
        "import os\nclass World:\n    def run(self): return 1",
        "class World:\n    def __init__(self): raise SystemExit\n    def run(self): return 1",
        "class World:\n    def __init__(self, a, b): pass\n    def run(self): return 1",
        "class World:\n    def __init__(self): self.x = object()\n    def run(self): return 1",
        "class World:\n    def run(self): return 1\nWorld = 5",
    ],
)
def test_a_class_that_cannot_be_loaded_is_a_source_error(source, monkeypatch):
    monkeypatch.setattr("envscaler.world.live._LOADING", 0.5)
    with (
        Environment(skeleton(source), {}, timeout=0.5) as world,
        pytest.raises(SourceError, match="World could not"),
    ):
        world.reset()


def test_an_unknown_isolation_is_refused():
    with pytest.raises(SandboxError, match="auto, sealed or process"):
        start_worker("none")


def test_where_there_is_no_seal_auto_warns_once_and_sealed_refuses(monkeypatch, caplog):
    monkeypatch.setattr(pool, "_pool", pool._Pool())
    monkeypatch.setattr(pool.seal, "available", lambda: False)
    for _ in range(2):
        start_worker("auto").close()
    assert sum("time-limited, not sealed" in record.message for record in caplog.records) == 1
    with pytest.raises(SandboxError, match="cannot be sealed"):
        start_worker("sealed")
    pool._pool.close()


def test_a_seal_that_leaks_is_not_used(monkeypatch):
    fresh = pool._Pool()
    monkeypatch.setattr(pool, "_pool", fresh)
    monkeypatch.setattr(fresh, "_try_seal", lambda: "in a sealed worker one can still read a file")
    assert isolation_in_use() == "process"


def test_without_fork_every_worker_is_an_interpreter(monkeypatch):
    monkeypatch.setattr(pool, "_forks", lambda: False)
    reply, state, _ = outcome("while True: pass", timeout=0.5, isolation="process")
    assert "did not answer" in reply["error"] and state["n"] == 1
    reply, _, _ = outcome("raise SystemExit", isolation="process")
    assert "SystemExit" in reply["error"]


def test_a_dead_zygote_is_replaced_and_its_environments_go_on():
    with Environment(tool("return {'success': True}"), {"things": {"a": 1}}) as world:
        world.reset()
        world.call("count")
        pool._pool.zygote._process.kill()
        pool._pool.zygote._process.wait()
        time.sleep(0.1)
        assert "crashed" in world.call("count")["error"]
        assert world.call("count")["data"] == 2


def test_many_threads_share_the_zygote():
    replies, errors = [], []

    def work(number):
        try:
            for _ in range(3):
                with Environment(tool("return {'success': True}"), {"n": number}) as world:
                    world.reset()
                    replies.append(world.call("count")["data"] == number + 1)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test shows it
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors and replies == [True] * 36


def _descriptors():
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc")
def test_nothing_is_left_open():
    def episode(close):
        world = Environment(tool("while True: pass"), {}, timeout=0.1)
        world.reset()
        world.call("run")
        world.call("count")
        if close:
            world.close()

    episode(True)
    before = _descriptors()
    for place in range(6):
        episode(place % 2 == 0)
    assert _descriptors() <= before


@pytest.mark.skipif(not Path("/proc").exists(), reason="no /proc")
@pytest.mark.parametrize("ending", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_no_process_outlives_ours(ending, tmp_path):
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from worlds import skeleton, tool
from envscaler.world.environment import Environment
from envscaler.world.sandbox import pool
world = Environment(tool("while True: pass"), {{}})
world.reset(); world.call("count")
print(pool._pool.zygote._process.pid, world._live._worker._channel._pid, flush=True)
{ending}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    deadline = time.monotonic() + 10
    while any(_runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(_runs(pid) for pid in pids)


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_of_ours_gets_its_own_zygote():
    start_worker().close()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        reply = b"no"
        try:
            reply = b"ok" if outcome("return {'success': True}")[0]["success"] else b"no"
        finally:
            os.write(writing, reply)
            pool._pool.close()
            os._exit(0)
    os.close(writing)
    assert os.read(reading, 2) == b"ok"
    os.close(reading)
    os.waitpid(child, 0)
    assert outcome("return {'success': True}")[0]["success"]


def test_an_interrupt_leaves_no_stale_answer(monkeypatch):
    with Environment(tool("while True: pass"), {}, timeout=5.0) as world:
        world.reset()
        monkeypatch.setattr(channel._Deadline, "left", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            world.call("count")
        monkeypatch.undo()
        assert world.call("count")["data"] == 1


def test_a_request_that_is_too_large_is_our_error():
    with pytest.raises(SandboxError, match="at most"):
        start_worker().ask("hold", timeout=1.0, values={"x": "x" * (9 * 2**20)})


def test_a_closed_worker_says_so():
    worker = start_worker()
    worker.close()
    worker.close()
    with pytest.raises(WorkerLost):
        worker.ask("hold", timeout=1.0, values={})


def test_works_under_a_running_event_loop():
    import asyncio

    async def cell():
        return outcome("return {'success': True}")[0]

    assert asyncio.run(cell())["success"]


def test_the_lists_do_not_overlap_and_are_real():
    import builtins
    import importlib

    assert not ALLOWED & {
        "os",
        "sys",
        "subprocess",
        "socket",
        "ctypes",
        "builtins",
        "importlib",
        "inspect",
        "gc",
    }
    assert all(importlib.import_module(name) for name in ALLOWED)
    assert all(hasattr(builtins, name) for name in HIDDEN - {"exit", "help", "quit"})
