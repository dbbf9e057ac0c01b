"""The live object behind an environment: a worker that holds it, and a mirror of its state on this side.

The mirror is brought up to date after every call, so that the state can be read, compared and given to
another worker at any time: when one is lost, when a snapshot is restored, when an episode is forked. Who is
told what of it, and when it is too much, is `environment`'s business.

However many objects there are, a bounded number of them has a worker (`MOST_WARM`): beyond that, one that is
idle loses its own for a while.
"""

import functools
import itertools
import os
import random
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.error import EnvironmentLost, SandboxError, SourceError
from envscaler.record import as_dict
from envscaler.schema import Json, Skeleton
from envscaler.world.change import Diff, State, apply, shared
from envscaler.world.sandbox import Isolation, Worker, WorkerLost, start_worker
from envscaler.world.source import parse_class
from envscaler.world.tree import packed_code

_LOADING = 10.0
"""Seconds that loading a class may take."""


def _most_warm() -> int:
    """As many workers as a quarter of the memory and half of the file descriptors have room for."""
    try:
        import resource

        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except (ImportError, AttributeError, ValueError, OSError):
        return 64
    return max(8, min(memory // 4 // (6 * 2**20), files // 2 if files > 0 else memory))


MOST_WARM = _most_warm()
"""Objects that may have a worker at a time."""
_warm: "weakref.WeakSet[Live]" = weakref.WeakSet()
_warm_lock = threading.Lock()
_chance = random.Random(0)
_marks = itertools.count(1)
"""One count for all objects, for a snapshot of one may be restored in another."""


def _forget() -> None:
    """In a forked child of ours: another thread may have held the lock, and will never let go of it there."""
    global _warm_lock
    _warm_lock = threading.Lock()
    _warm.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _make_room() -> None:
    """Take the worker from idle objects while there are too many; by lot, for all of them may take turns."""
    with _warm_lock:
        warm = [live for live in _warm if live.warm]
    while len(warm) >= MOST_WARM:
        if not warm.pop(_chance.randrange(len(warm))).rest():
            return


def _nothing() -> None:
    """Stands for a worker that is gone."""


@dataclass(frozen=True)
class Snapshot:
    """All there is to an episode at one moment, to return to or to fork from."""

    state: bytes | State
    """The state, packed, so that nobody can change it; of a near one a view."""
    seed: int
    """Seed of times, ids and draws."""
    calls: int
    """Calls that reached a tool."""
    slept: float
    """Virtual seconds slept."""
    steps: int
    """Actions taken."""
    ended: bool
    """Whether the episode is over."""
    losses: int = 0
    """Hangs and crashes so far."""
    mark: int = 0
    """The worker's number for it; 0 where it took no note."""


class ToolRaised(Exception):
    """A tool raised; it was undone. The message has the type and the message of its error."""

    def __init__(self, told: Any) -> None:
        # The worker may say anything.
        told = told if isinstance(told, dict) else {}
        super().__init__(f"{told.get('type', 'Error')}: {told.get('message', '')}"[:400])
        self.line = told["line"] if isinstance(told.get("line"), int) else None


@functools.lru_cache(maxsize=256)
def _key_types(source: str, class_name: str) -> dict[str, list[str]]:
    # Episodes of one class begin by the hundred, and parsing it takes as long as ten of their steps.
    return parse_class(source, class_name).key_types


class Live:
    """One object of a skeleton's class, in a worker that is replaced whenever need be."""

    def __init__(
        self, skeleton: Skeleton, *, seed: int, start: float, timeout: float, isolation: Isolation
    ) -> None:
        self._skeleton = skeleton
        self._timeout, self._isolation = timeout, isolation
        self._key_types = _key_types(skeleton.source, skeleton.class_name)
        self._worker: Worker | None = None
        self._busy = threading.RLock()
        self._marked: dict[int, weakref.ref[Worker]] = {}
        self._back: dict[str, int] = {}  # the moment the worker is to go back to before it does anything else
        self.state: State = {}
        self.seed, self.start = seed, start
        self.calls = 0
        self.slept = 0.0

    def load(self, state: State) -> None:
        """Begin anew with a state.

        Raises:
            SourceError: the class cannot be loaded with it.
        """
        self.go_to(state)
        with self._busy:
            self._worker, own = self._loaded(state)
        # What the class made of the state, where that differs from what it was given.
        self.state = shared({**state, **own})

    def go_to(self, state: State, *, calls: int = 0, slept: float = 0.0) -> None:
        """Stand at another moment; a worker is loaded when the next call needs one."""
        self.drop()
        self.state, self.calls, self.slept = state, calls, slept

    def mark(self) -> int:
        """A number for this moment, by which `rewind` finds it as long as the worker lives."""
        with self._busy:
            worker, number = self._ready(), next(_marks)
            try:
                if not worker.ask("mark", timeout=_LOADING, mark=number, **self._taken_back())["ok"]:
                    self.drop()
            except WorkerLost:
                self.drop()
            self._marked[number] = weakref.ref(worker)
            return number

    def rewind(self, state: State, *, calls: int, slept: float, mark: int) -> None:
        """As `go_to`, in the same process, where that took note of the moment: a hundredth of the cost."""
        with self._busy:
            worker = self._worker
            if worker is None or not worker.alive or self._marked.get(mark, _nothing)() is not worker:
                self.go_to(state, calls=calls, slept=slept)
                return
            self.state, self.calls, self.slept = state, calls, slept
            self._back = {"rewind": mark}

    def _taken_back(self) -> dict[str, int]:
        """What tells the worker to go back first, once."""
        back, self._back = self._back, {}
        return back

    def drop(self) -> None:
        """End the worker; the state stays."""
        with self._busy:
            if self._worker is not None:
                self._worker.close()
            self._worker, self._back = None, {}

    @property
    def warm(self) -> bool:
        """Whether there is a worker."""
        return self._worker is not None

    def rest(self) -> bool:
        """`drop`, unless another thread is in the middle of a call; whether it was done."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            self.drop()
        finally:
            self._busy.release()
        return True

    def call(self, tool: str, arguments: dict[str, Json]) -> tuple[Json, Diff]:
        """Run a tool; return its reply and what it changed.

        Raises:
            ToolRaised: it raised and was undone.
            WorkerLost: it hung or crashed; the state is as before.
            EnvironmentLost: the state cannot be restored.
        """
        with self._busy:
            reply, changed, slept = _read_patch(self.state, self._done("call", tool, arguments))
            self.slept = max(self.slept, slept)
            return reply, changed

    def run(
        self, calls: Sequence[tuple[str, dict[str, Json]]]
    ) -> tuple[list[tuple[Json, Diff]], ToolRaised | None]:
        """`call` for several in one exchange, in the time of one, up to the first that raises.

        Returns:
            Replies and changes of those that did not raise, and what the next one raised; None where all were made,
            or their replies are too much to be told at once: then none was made.

        Raises:
            WorkerLost: one hung or crashed; none of them was made.
            SandboxError: their arguments are too much to be sent at once; none of them was made.
            EnvironmentLost: the state cannot be restored.
        """
        told = [{"tool": tool, "arguments": arguments} for tool, arguments in calls]
        with self._busy:
            answer = self._asked("calls", calls=told)
            if not answer["ok"]:
                self.drop()  # too much to tell at once: it stands elsewhere than this side knows
                return [], None
            done, after = answer.get("done"), as_dict(answer.get("after"))
            if not isinstance(done, list) or len(done) + bool(after) > len(calls):
                raise EnvironmentLost("The environment's worker answered for other calls than were made.")
            made = []
            for one in done:
                reply, changed, slept = _read_patch(self.state, one)
                self.calls, self.slept = self.calls + 1, max(self.slept, slept)
                made.append((reply, changed))
            if not after:
                return made, None
            self.calls += 1
            if after.get("recycle"):
                self.drop()
            return made, ToolRaised(after.get("raised"))

    def watch(self, tool: str, arguments: dict[str, Json]) -> tuple[Json, Diff, State, set[int], list[Json]]:
        """`attempt`, and the lines it ran and `[type, line]` of each error that was raised in it.

        Raises:
            ToolRaised: it raised.
            WorkerLost: it hung or crashed.
            EnvironmentLost: the state cannot be restored.
        """
        with self._busy:
            answer = self._done("watch", tool, arguments)
            state = shared(self.state)
            reply, changed, _ = _read_patch(state, answer)
            return reply, changed, state, set(answer["lines"]), answer["errors"]

    def attempt(self, tool: str, arguments: dict[str, Json]) -> tuple[Json, Diff, State]:
        """What a call would reply, change, and leave as the state; the state stays as it is.

        Raises:
            ToolRaised: it raised.
            WorkerLost: it hung or crashed.
            EnvironmentLost: the state cannot be restored.
        """
        with self._busy:
            answer = self._done("attempt", tool, arguments)
            state = shared(self.state)
            return *_read_patch(state, answer)[:2], state

    def _done(self, do: str, tool: str, arguments: dict[str, Json]) -> dict[str, Any]:
        """The worker's answer to a call that did not raise."""
        answer = self._ask(do, tool, arguments)
        self.calls += do == "call"
        if answer["ok"]:
            return answer
        if answer.get("recycle"):
            self.drop()
        raise ToolRaised(answer.get("error"))

    def _ask(self, do: str, tool: str, arguments: dict[str, Json]) -> dict[str, Any]:
        try:
            return self._asked(do, tool=tool, arguments=arguments)
        except WorkerLost:
            self.calls += do == "call"
            raise

    def _asked(self, do: str, **fields: Any) -> dict[str, Any]:
        position = {"seed": self.seed, "call": self.calls, "slept": self.slept, "start": self.start}
        worker, back = self._ready(), self._taken_back()
        try:
            return worker.ask(do, timeout=self._timeout, **fields, **position, **back)
        except (WorkerLost, SandboxError):
            self.drop()  # one that was not asked was not taken back either
            raise

    def observe(self, tool: str, arguments: dict[str, Json]) -> dict[str, Any]:
        """What a call would do besides replying (see `sandbox.observe`); the state stays as it is.

        Raises:
            WorkerLost: it hung or crashed.
        """
        with self._busy:
            answer = self._ask("observe", tool, arguments)
        facts = answer.get("facts")
        return facts if isinstance(facts, dict) else {"error": answer.get("error")}

    def _ready(self) -> Worker:
        if self._worker is None or not self._worker.alive:
            self._back = {}  # a new one begins at the moment to go back to
            try:
                self._worker, state = self._loaded(self.state)
            except SourceError as error:
                raise EnvironmentLost(f"The state could not be restored: {error}") from None
            # What `__init__` adds of itself is in the mirror already, unless a tool had taken it away.
            for name in state:
                self.state.setdefault(name, state[name])
        return self._worker

    def _loaded(self, state: State) -> tuple[Worker, State]:
        skeleton = self._skeleton
        _make_room()
        worker = start_worker(self._isolation)
        with _warm_lock:
            _warm.add(self)
        try:
            answer = worker.ask(
                "load",
                timeout=max(_LOADING, self._timeout),
                source=skeleton.source,
                code=packed_code(skeleton.source),
                class_name=skeleton.class_name,
                state=state,
                key_types=self._key_types,
                tools=[tool.name for tool in skeleton.tools],
                seed=self.seed,
                start=self.start,
            )
        except WorkerLost as lost:
            raise SourceError(f"{skeleton.class_name} could not be loaded: {lost}.") from None
        if not answer["ok"] or not isinstance(answer.get("state"), dict):
            worker.close()
            raised = ToolRaised(answer.get("error"))
            raise SourceError(f"{skeleton.class_name} could not be loaded: line {raised.line}: {raised}.")
        return worker, answer["state"]


def _read_patch(state: State, answer: dict[str, Any]) -> tuple[Json, Diff, float]:
    """Reply, diff and slept seconds of an answer, whose changes are made in the state."""
    try:
        return answer["reply"], apply(state, answer["patch"]), float(answer["slept"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # Only a worker that was tampered with says such things, and the mirror may be half changed.
        raise EnvironmentLost(f"The environment's worker reported an impossible change: {error!r}.") from None
