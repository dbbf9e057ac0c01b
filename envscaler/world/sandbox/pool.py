"""Starting workers, from the user's process.

One zygote process serves the whole Python process: it is started by executing a fresh interpreter and forks a
worker in about two milliseconds. Where there is no fork, each worker is an interpreter of its own. Any thread
may start a worker; one worker belongs to one thread at a time. This module knows neither environments nor
checks, and starts nothing at import.
"""

import atexit
import contextlib
import json
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal

import envscaler.world.sandbox.seal as seal
from envscaler.error import SandboxError
from envscaler.world.sandbox.channel import PipeChannel, SocketChannel, Worker, WorkerLost
from envscaler.world.sandbox.interpreter import start_interpreter, wait_for
from envscaler.world.sandbox.trust import is_known

log = logging.getLogger(__name__)

Isolation = Literal["auto", "sealed", "process"]
"""`sealed` refuses where the seal does not hold; `process` does without it; `auto` is sealed, and where that cannot
be, it is a process for code of the built-in library only (see `trust`). `ENVSCALER_ISOLATION` says what `auto` is."""

STARTING = 30.0
"""Seconds that starting a process may take on a busy machine."""


class Zygote:
    """The process that forks workers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._broken = False
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = start_interpreter("zygote", str(theirs.fileno()), pass_fds=(theirs.fileno(),))
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
        return Worker(SocketChannel(ours, answer["pid"], self.end), sealed)

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
        if self._owner != os.getpid():
            return False
        with self._lock:  # while a command runs, it only looks broken
            return not self._broken and self._process.poll() is None

    def close(self) -> None:
        """End it, and with it every worker."""
        self._control.close()
        if self._owner == os.getpid():
            wait_for(self._process)


class _Pool:
    """What this Python process has running: one zygote, and what is known of the seal."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.zygote: Zygote | None = None
        self.refusal: str | None = None
        self.tested = False
        self._said = self._registered = False
        self._of_parent: Zygote | None = None

    def forked(self, *, sealed: bool) -> Worker:
        with self.lock:
            if self.zygote is None or not self.zygote.usable():
                if self.zygote is not None:
                    self.zygote.close()
                self._register()
                self.zygote = Zygote()
            zygote = self.zygote
        return zygote.spawn(sealed=sealed)

    def _register(self) -> None:
        if not self._registered:
            self._registered = True
            atexit.register(self.close)
            os.register_at_fork(after_in_child=self.forget)

    def test_seal(self) -> str:
        """Why the seal does not hold on this machine, in words; empty when it holds."""
        with self.lock:
            if not self.tested:
                self.refusal, self.tested = self._try_seal(), True
            return self.refusal or ""

    def _try_seal(self) -> str:
        if not seal.available():
            return "the seal is made for Linux on x86-64 and aarch64"
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

    def say_unsealed(self, refusal: str) -> None:
        """Say it once."""
        if not self._said:
            self._said = True
            log.warning("Generated code runs time-limited, not sealed: %s.", refusal or "as asked for")

    def close(self) -> None:
        with self.lock:
            if self.zygote is not None:
                self.zygote.close()
            self.zygote = None

    def forget(self) -> None:
        """In a forked child of ours: what runs belongs to the parent, and its locks may be held for ever."""
        self._of_parent = self.zygote
        self.lock, self.zygote = threading.RLock(), None


_pool = _Pool()


def start_worker(isolation: Isolation = "auto") -> Worker:
    """A fresh worker.

    Raises:
        SandboxError: none can be started, or `sealed` was asked for where the seal does not hold.
    """
    wanted = _wanted(isolation)
    refusal = "" if wanted == "process" else _pool.test_seal()
    if refusal and wanted == "sealed":
        raise SandboxError(f"Generated code cannot be sealed here: {refusal}. {_WAYS}")
    sealed = wanted != "process" and not refusal
    if not sealed:
        _pool.say_unsealed(refusal)
    rule = _only_known(refusal) if wanted == "auto" and refusal else None
    if _forks():
        return _pool.forked(sealed=sealed).allowing(rule)
    return Worker(PipeChannel(), sealed=False).allowing(rule)


def isolation_in_use() -> Literal["sealed", "process"]:
    """What `auto` comes to on this machine."""
    return "process" if _wanted("auto") == "process" or _pool.test_seal() else "sealed"


def _wanted(isolation: str) -> str:
    wanted = os.environ.get("ENVSCALER_ISOLATION", "auto") if isolation == "auto" else isolation
    if wanted not in ("auto", "sealed", "process"):
        raise SandboxError(f"Expected an isolation of auto, sealed or process, got {wanted!r}.")
    return wanted


_WAYS = (
    "Run it on x86-64 Linux (a container or WSL will do), or, if you trust the code, pass isolation='process' or set "
    "ENVSCALER_ISOLATION=process: it is then time-limited, not sealed."
)


def _only_known(refusal: str) -> Callable[[str], None]:
    """The rule of a worker that nobody sealed and nobody asked for by name."""

    def refuse_unknown(source: str) -> None:
        if not is_known(source):
            raise SandboxError(
                f"This code is not of the built-in library and cannot be sealed here: {refusal}. {_WAYS}"
            )

    return refuse_unknown


def _forks() -> bool:
    return sys.platform == "linux" and hasattr(os, "fork")
