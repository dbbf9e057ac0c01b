"""Starting, asking and ending workers, from the user's process.

One zygote process serves the whole Python process: it is started by executing a fresh interpreter (never by
forking this one, which may hold threads, a CUDA context or a notebook's event loop) and forks a worker in
about two milliseconds. Where there is no fork, each worker is an interpreter of its own. Any thread may start
a worker; one worker belongs to one thread at a time. Answers are size-limited, strictly parsed, and matched
to their request; a worker that breaks a rule is killed.

This module knows neither environments nor checks, and starts nothing at import.
"""

import atexit
import contextlib
import json
import logging
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from envscaler.error import SandboxError
from envscaler.world.sandbox import seal

log = logging.getLogger(__name__)

Isolation = Literal["auto", "sealed", "process"]
"""`sealed` refuses where the seal does not hold, `process` does without it, `auto` takes the best there is."""

LIMIT = 8 * 2**20
"""Bytes that one frame may have."""
STARTING = 30.0
"""Seconds that starting an interpreter may take on a busy machine."""

# The packages are named without running their __init__ files, which would load pandas into every worker.
_BOOT = """
import sys, types
root, what, argument = sys.argv[1:]
for name in ("envscaler", "envscaler.world", "envscaler.world.sandbox"):
    sys.modules[name] = package = types.ModuleType(name)
    package.__path__ = [root + "/" + name.replace(".", "/")]
from envscaler.world.sandbox import worker
worker.zygote(int(argument)) if what == "zygote" else worker.alone()
"""
_ROOT = Path(__file__).resolve().parents[3]


class WorkerLost(Exception):
    """A worker did not answer in time, died, or broke the protocol; it is gone."""

    def __init__(self, reason: Literal["time", "crash"], message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Channel(Protocol):
    """How bytes get to a worker and back."""

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """Send one frame and wait for the body of the answer."""

    def kill(self) -> None:
        """End the worker at once, whatever it is doing."""

    def close(self) -> None:
        """Hang up; an idle worker ends by itself."""


class Worker:
    """One process for one environment or one list of checks."""

    def __init__(self, channel: Channel, sealed: bool) -> None:
        self._channel = channel
        self._count = 0
        self._alive = True
        self.sealed = sealed
        # A forgotten worker hangs up without taking a lock: collection may happen anywhere.
        self._hang_up = weakref.finalize(self, channel.close)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._alive

    def ask(self, do: str, *, timeout: float, **fields: Any) -> dict[str, Any]:
        """Send one request and wait for its answer.

        Raises:
            WorkerLost: it gave none, in time and in form; it is ended.
            SandboxError: the request itself is too large to send.
        """
        if not self._alive:
            raise WorkerLost("crash", "the worker has ended")
        self._count += 1
        body = _encode({"id": self._count, "do": do, **fields})
        if len(body) > LIMIT:
            raise SandboxError(
                f"Expected a request of at most {LIMIT:,} bytes, got {len(body):,}; use a smaller state."
            )
        try:
            answer = self._channel.exchange(struct.pack("!I", len(body)) + body, timeout)
            return self._read(answer)
        except BaseException:
            # Also on Ctrl-C: an answer that nobody waited for would be taken for the next one.
            self.kill()
            raise

    def _read(self, body: bytes) -> dict[str, Any]:
        try:
            answer = msgspec.json.decode(body, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            raise WorkerLost("crash", f"the worker's answer is not JSON: {error}") from None
        if answer.get("id") != self._count or not isinstance(answer.get("ok"), bool):
            raise WorkerLost("crash", "the worker answered something that was not asked")
        return answer

    def kill(self) -> None:
        """End it at once."""
        if self._alive:
            self._alive = False
            self._channel.kill()

    def close(self) -> None:
        """End it; safe to call twice."""
        self._alive = False
        self._hang_up()


def _encode(message: dict[str, Any]) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise SandboxError(f"Expected values that JSON can hold, got one that it cannot: {error}.") from None


class SocketChannel:
    """A forked worker at the other end of a pair of sockets."""

    def __init__(self, end: socket.socket, pid: int, zygote: "Zygote") -> None:
        self._socket, self._pid, self._zygote = end, pid, zygote
        # Linux's id of another process's CPU clock.
        self._clock = (~pid << 3) | 2

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """Send one frame and wait for the body of the answer."""
        deadline = _Deadline(timeout, self._clock)
        try:
            if select.select([self._socket], [], [], 0)[0]:
                raise WorkerLost("crash", "the worker spoke without being asked, or has ended")
            self._socket.settimeout(timeout + 5.0)
            self._socket.sendall(frame)
            (length,) = struct.unpack("!I", self._receive(4, deadline))
            if length > LIMIT:
                raise WorkerLost("crash", f"the worker announced {length:,} bytes; {LIMIT:,} are allowed")
            return self._receive(length, deadline)
        except OSError as error:
            raise WorkerLost("crash", f"the worker has ended: {error}") from None

    def _receive(self, length: int, deadline: "_Deadline") -> bytes:
        parts: list[bytes] = []
        while length:
            self._socket.settimeout(deadline.left())
            try:
                part = self._socket.recv(min(length, 1 << 20))
            except TimeoutError:
                continue
            if not part:
                raise WorkerLost("crash", "the worker has ended")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def kill(self) -> None:
        """End the worker at once."""
        self._socket.close()
        self._zygote.end(self._pid)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


class _Deadline:
    """Seconds of the wall clock; more of them while a busy machine keeps the worker from computing."""

    def __init__(self, timeout: float, clock: int) -> None:
        self._timeout, self._clock = timeout, clock
        self._begun, self._spent = time.monotonic(), _spent(clock)

    def left(self) -> float:
        passed = time.monotonic() - self._begun
        if passed < self._timeout:
            return self._timeout - passed
        starved = _spent(self._clock) - self._spent < self._timeout / 2
        if starved and passed < 5 * self._timeout:
            return self._timeout / 4
        raise WorkerLost("time", f"no answer within {self._timeout:g} s")


def _spent(clock: int) -> float:
    try:
        return time.clock_gettime(clock)
    except OSError:
        return float("inf")


class Zygote:
    """The process that forks workers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._broken = False
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = _interpreter("zygote", str(theirs.fileno()), pass_fds=(theirs.fileno(),))
        finally:
            theirs.close()
        self._command(None)

    def spawn(self, *, sealed: bool) -> Worker:
        """Fork a worker."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                with self._lock:
                    answer = self._command({"do": "spawn", "sealed": sealed}, theirs.fileno())
                if "pid" not in answer:
                    raise SandboxError(f"Expected a worker process, got: {answer.get('error')}.")
            except BaseException:
                ours.close()
                raise
        return Worker(SocketChannel(ours, answer["pid"], self), sealed)

    def end(self, pid: int) -> None:
        """Kill a worker; nothing happens when the zygote, and so the worker, has ended already."""
        if os.getpid() != self._owner:
            return
        with self._lock, contextlib.suppress(SandboxError):
            self._command({"do": "end", "pid": pid})

    def _command(self, message: dict[str, Any] | None, *descriptors: int) -> dict[str, Any]:
        # Taken as broken until the answer is there: an interrupted command would leave its answer to the next one.
        broken, self._broken = self._broken, True
        if broken:
            raise SandboxError("The sandbox's parent process was interrupted.")
        try:
            self._control.settimeout(STARTING)
            if message is not None:
                socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)
            answer = self._control.recv(4096)
        except OSError as error:
            raise SandboxError(f"The sandbox's parent process does not answer: {error}.") from None
        if not answer:
            raise SandboxError("The sandbox's parent process has ended.")
        self._broken = False
        return json.loads(answer)

    def usable(self) -> bool:
        """Whether it belongs to this process and runs."""
        return self._owner == os.getpid() and not self._broken and self._process.poll() is None

    def close(self) -> None:
        """End it, and with it every worker."""
        self._control.close()
        if self._owner == os.getpid():
            _wait(self._process)


class PipeChannel:
    """An interpreter of its own at the other end of two pipes, for systems without fork."""

    def __init__(self) -> None:
        self._process = _interpreter("alone", "", stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """Send one frame and wait for the body of the answer; a timer ends a worker that is late."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(timeout, stop)
        timer.daemon = True
        timer.start()
        try:
            return self._talk(frame)
        except (OSError, ValueError, WorkerLost) as error:
            reason: Literal["time", "crash"] = "time" if late.is_set() else "crash"
            said = f"no answer within {timeout:g} s" if late.is_set() else f"the worker has ended: {error}"
            raise WorkerLost(reason, said) from None
        finally:
            timer.cancel()

    def _talk(self, frame: bytes) -> bytes:
        inlet, outlet = self._process.stdin, self._process.stdout
        assert inlet is not None and outlet is not None
        inlet.write(frame)
        inlet.flush()
        head = outlet.read(4)
        length = struct.unpack("!I", head)[0] if len(head) == 4 else LIMIT + 1
        body = outlet.read(length) if length <= LIMIT else b""
        if length > LIMIT or len(body) != length:
            raise WorkerLost("crash", "the answer broke off or is too long")
        return body

    def kill(self) -> None:
        """End the worker at once."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """Hang up."""
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError, ValueError):
                if pipe is not None:
                    pipe.close()
        _wait(self._process)


def _interpreter(what: str, argument: str, **options: Any) -> "subprocess.Popen[bytes]":
    if not sys.executable:
        raise SandboxError(
            "Expected a Python interpreter to run generated code in, but sys.executable is empty."
        )
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    kept = {
        k: os.environ[k] for k in ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if k in os.environ
    }
    environment = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", **kept}
    command = [sys.executable, "-s", "-P", "-S", "-B", "-c", _BOOT, str(_ROOT), what, argument]
    try:
        # A session of its own: Ctrl-C in a terminal goes to the user's process alone.
        return subprocess.Popen(
            command, env=environment, cwd=_ROOT.anchor, start_new_session=True, **(streams | options)
        )
    except OSError as error:
        raise SandboxError(f"A separate Python process could not be started: {error}.") from None


def _wait(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(2.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class _Pool:
    """What this Python process has running: one zygote, and what is known of the seal."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.zygote: Zygote | None = None
        self.refusal: str | None = None
        self.tested = False

    def forked(self, *, sealed: bool) -> Worker:
        with self.lock:
            if self.zygote is None or not self.zygote.usable():
                if self.zygote is not None:
                    self.zygote.close()
                self.zygote = Zygote()
            zygote = self.zygote
        return zygote.spawn(sealed=sealed)

    def test_seal(self) -> str:
        """Why the seal does not hold on this machine, in words; empty when it holds."""
        with self.lock:
            if not self.tested:
                self.refusal, self.tested = self._try_seal(), True
                if self.refusal:
                    log.warning("Generated code runs time-limited, not sealed: %s.", self.refusal)
            return self.refusal or ""

    def _try_seal(self) -> str:
        if not seal.available():
            return "the seal is made for x86-64 Linux"
        try:
            worker = self.forked(sealed=True)
        except SandboxError as error:
            return f"no worker could be sealed ({error})"
        try:
            leaks = worker.ask("test", timeout=10.0).get("leaks", ["everything"])
        except WorkerLost as lost:
            return f"the kernel refuses the seal, or a sealed worker broke out of it ({lost})"
        finally:
            worker.close()
        return f"in a sealed worker one can still {', '.join(leaks)}" if leaks else ""

    def close(self) -> None:
        with self.lock:
            if self.zygote is not None:
                self.zygote.close()
            self.zygote = None


_pool = _Pool()
atexit.register(_pool.close)


def start_worker(isolation: Isolation = "auto") -> Worker:
    """A fresh worker.

    Raises:
        SandboxError: none can be started, or `sealed` was asked for where the seal does not hold.
    """
    if isolation not in ("auto", "sealed", "process"):
        raise SandboxError(f"Expected an isolation of auto, sealed or process, got {isolation!r}.")
    refusal = "" if isolation == "process" else _pool.test_seal()
    if refusal and isolation == "sealed":
        raise SandboxError(
            f"Generated code cannot be sealed here: {refusal}. Pass isolation='process' if you trust it."
        )
    sealed = isolation != "process" and not refusal
    return _pool.forked(sealed=sealed) if _forks() else Worker(PipeChannel(), sealed=False)


def isolation_in_use(isolation: Isolation = "auto") -> Literal["sealed", "process"]:
    """What `isolation` comes to on this machine."""
    return "process" if isolation == "process" or _pool.test_seal() else "sealed"


def _forks() -> bool:
    return sys.platform == "linux" and hasattr(os, "fork")
