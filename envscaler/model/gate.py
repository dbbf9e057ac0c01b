"""How much a server is asked at once: as much as is wanted, until it says that it is busy; then less, and more again.

A server that is busy for one thread is busy for all of them: when it asks to wait, all wait, and fewer go on together
afterwards. Every answer widens the gate a little. What is asked, and what is asked again, is `server`'s to know.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_CUT = 0.7
"""What is left of the width when a server is busy."""


class Gate:
    """A gate that many threads go through; open until the first `busy`."""

    def __init__(self) -> None:
        self._width = float("inf")
        self._inside = 0
        self._shut_until = 0.0
        self._cut_at = 0.0
        self._changed = threading.Condition()

    @property
    def width(self) -> float:
        """How many may be inside at once."""
        return self._width

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Wait for a place, and hold it."""
        entered = self._enter()
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify()
        self._well(entered)

    def _enter(self) -> float:
        with self._changed:
            while True:
                now = time.monotonic()
                shut = self._shut_until - now
                if shut <= 0 and (self._inside < self._width or not self._inside):
                    self._inside += 1
                    return now
                self._changed.wait(shut if shut > 0 else None)

    def busy(self, seconds: float) -> None:
        """The server was asked too much, and wants to be left alone for so many seconds (0 where it does not say)."""
        with self._changed:
            now = time.monotonic()
            # Those who were inside together hear the same thing; it is one cut, not one a thread.
            if now >= self._cut_at:
                self._width = max(1.0, min(self._width, self._inside + 1.0) * _CUT)
                self._cut_at = now + max(seconds, 1.0)
            self._shut_until = max(self._shut_until, now + seconds)

    def _well(self, entered: float) -> None:
        with self._changed:
            # An answer to what was asked before the cut says nothing of the width since.
            if self._width != float("inf") and entered >= self._shut_until:
                self._width += 1 / self._width
                self._changed.notify()
