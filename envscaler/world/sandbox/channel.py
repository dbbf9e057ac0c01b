"""Asking a worker and reading its answer: frames over a pair of sockets, or over two pipes.

Answers are size-limited, strictly parsed, and matched to their request; a worker that is late, dies, or
breaks a rule is ended and reported as `WorkerLost`. Nothing that comes back is ever unpickled or executed.
Who starts workers is `pool`.
"""

import contextlib
import select
import socket
import struct
import subprocess
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Literal, Protocol

import msgspec

from envscaler.error import SandboxError
from envscaler.world.sandbox.interpreter import start_interpreter, wait_for

LIMIT = 8 * 2**20
"""Bytes that one frame may have."""


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
        self._rule: Callable[[str], None] | None = None
        # A forgotten worker hangs up without taking a lock: collection may happen anywhere.
        self._hang_up = weakref.finalize(self, channel.close)

    def allowing(self, rule: Callable[[str], None] | None) -> "Worker":
        """This worker, which from now on asks `rule` about every source before it sends it."""
        self._rule = rule
        return self

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._alive

    def ask(self, do: str, *, timeout: float, **fields: Any) -> dict[str, Any]:
        """Send one request and wait for its answer.

        Raises:
            WorkerLost: it gave none, in time and in form; it is ended.
            SandboxError: the request itself is too large to send, or its source may not run here.
        """
        if self._rule is not None:
            for source in [*fields.get("sources", []), *([fields["source"]] if "source" in fields else [])]:
                self._rule(source)
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
        return msgspec.json.encode(message)
    except (TypeError, ValueError, RecursionError) as error:
        raise SandboxError(f"Expected values that JSON can hold, got one that it cannot: {error}.") from None


class SocketChannel:
    """A forked worker at the other end of a pair of sockets."""

    def __init__(self, end: socket.socket, pid: int, kill: Callable[[int], None]) -> None:
        self._socket, self._pid, self._kill = end, pid, kill
        # `select` knows no descriptor above 1,023.
        self._early = select.poll()
        self._early.register(end, select.POLLIN)
        # Linux's id of another process's CPU clock.
        self._clock = (~pid << 3) | 2

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """Send one frame and wait for the body of the answer."""
        deadline = _Deadline(timeout, self._clock)
        try:
            if self._early.poll(0):
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
        self._kill(self._pid)

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


class PipeChannel:
    """An interpreter of its own at the other end of two pipes, for systems without fork."""

    def __init__(self) -> None:
        self._process = start_interpreter("alone", "", stdin=subprocess.PIPE, stdout=subprocess.PIPE)

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
        wait_for(self._process)
