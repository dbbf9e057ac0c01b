"""Work that computes, in other processes of ours: threads of one process hold one another up (GIL).

A stage with many things to do (`parallel.run_all`) has its threads hand such work over: a certificate, the
examination of a published scenario. For a few things the processes would not have started before all is done, so
those stay here; the results are the same either way. The processes start at the first use, import the library and
nothing of the caller's script, wait idle for a while, and end with this process.
"""

import atexit
import gc
import logging
import multiprocessing
import multiprocessing.process
import multiprocessing.util
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")

MANY = 16
"""Things that a stage must have for its work to be handed over."""
IDLE = 300
"""Seconds that a process waits for more to do before it ends."""
_WATCHED = ("ENVSCALER_ISOLATION", "ENVSCALER_HOME")
"""What the other processes must find as it is here now, and not as it was when they started."""
_stage = threading.local()


@contextmanager
def stage_of(things: int) -> Iterator[None]:
    """Within a stage's thread: whether there is enough to do for other processes is decided by how many things."""
    before = getattr(_stage, "many", False)
    _stage.many = things >= MANY
    try:
        yield
    finally:
        _stage.many = before


def elsewhere(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """What a function of this library returns or raises; run in another process where a stage has many things to do.

    Args:
        function: one that can be imported by its name, and leaves nothing behind here.
        arguments: what can be pickled, as records can.
        named: more of it.
    """
    if not getattr(_stage, "many", False) or _processors() < 2 or not _may_ask():
        return function(*arguments, **named)
    here = {name: os.environ[name] for name in _WATCHED if name in os.environ}
    try:
        promised = _helpers.submit(_there, here, function, arguments, named)
    except (RuntimeError, OSError, ImportError) as error:
        log.warning("No process can be asked for help (%s); its work is done here.", error)
        return function(*arguments, **named)
    from loky.process_executor import BrokenProcessPool, ShutdownExecutorError

    try:
        return promised.result()
    except (BrokenProcessPool, ShutdownExecutorError) as error:
        log.warning("A process that was to help has ended (%s); its work is done here.", error)
        return function(*arguments, **named)


def _may_ask() -> bool:
    """Whether there may be processes of ours: a daemonic one may have none, and one that is ending starts no more."""
    return not multiprocessing.current_process().daemon and threading.main_thread().is_alive()


class _Helpers:
    """The processes of this one: one for each processor, for all its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: Any = None
        self._of_parent: list[Any] = []

    def submit(self, *what: Any) -> Any:
        """The future of a call; in a new pool where the last has lost a process."""
        from loky import ProcessPoolExecutor

        with self._lock:
            if self._pool is None or self._pool._flags.broken:
                with _not_interrupted():  # it starts a process too, and lets signals in again itself
                    self._pool = ProcessPoolExecutor(
                        _processors(), timeout=IDLE, initializer=_prepared, initargs=(os.getpid(),)
                    )
                # A process that `multiprocessing` started waits at its end for those that it started.
                multiprocessing.util.Finalize(None, self.close, exitpriority=100)
            with _not_interrupted():
                return self._pool.submit(*what)

    def close(self) -> None:
        """End them; what they are doing is not wanted any more."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=True)

    def forget(self) -> None:
        """In a forked child: the processes are the parent's, and the lock may be held by a thread that is not here."""
        if self._pool is not None:
            self._of_parent.append(self._pool)  # kept, for its end would be told to the parent's processes
            multiprocessing.process._children.difference_update(self._pool._processes.values())  # type: ignore[attr-defined]
        self._lock, self._pool = threading.Lock(), None


_helpers = _Helpers()
atexit.register(_helpers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.forget)


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Ctrl-C waits meanwhile: half a pool cannot be ended. (What is started may let it in again before `_prepared`.)"""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepared(parent: int) -> None:
    # Ctrl-C is for the process that asked; it waits for nobody here.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # What is imported stays, and what is made here is freed at once, or was never in a circle.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process soon after the one that asked was killed, and could not say so."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _there(here: dict[str, str], function: Callable[..., T], arguments: Any, named: dict[str, Any]) -> T:
    for name in _WATCHED:
        os.environ.pop(name, None)
    os.environ |= here
    return function(*arguments, **named)
