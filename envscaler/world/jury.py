"""Running check functions and invariants: a sealed worker that holds values and is asked to run functions on them.

Functions are generated code, each run with names and copies of its own. One that raises or returns no bool is
answered with None and why; one that hangs ends the worker, and is found by running the functions apart, then the
values apart. What is asked and what an answer means is `check`'s business.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from envscaler.schema import Json
from envscaler.world.change import identical
from envscaler.world.sandbox import Isolation, Worker, WorkerLost, start_worker

TIMEOUT = 2.0
"""Seconds a check may take."""
MOST_HUNG = 3
"""Values on which a function may hang before it is taken to hang on those that are left too."""
LARGEST = 4 * 2**20
"""Bytes of values that go to a worker at a time, unless one value alone is larger."""
_GLOBALS = {"check_func": {"initial_state": "initial"}, "invariant": {}}
"""Held values that a function of each kind finds as globals."""


class Jury:
    """A worker that holds some values and is asked to run functions on them; it outlives none of its questions."""

    def __init__(
        self, values: dict[str, Json], runs: list[list[str]], *, timeout: float, isolation: Isolation
    ) -> None:
        """
        Args:
            values: what it holds.
            runs: the names of values that a function is given, a list each time it is run.
            timeout: seconds a function may take.
            isolation: where functions run.
        """
        self._values, self._runs = values, runs
        self._timeout, self._isolation = timeout, isolation
        self._worker: Worker | None = None

    def __enter__(self) -> "Jury":
        return self

    def __exit__(self, *_: object) -> None:
        if self._worker is not None:
            self._worker.close()

    def hold(self, values: dict[str, Json], runs: list[list[str]]) -> None:
        """Go over to other values and runs."""
        self._values, self._runs = values, runs
        if self._worker is not None and self._worker.alive:
            try:
                self._hand_over(self._worker)
            except WorkerLost:
                self._worker = None

    def ask(self, entry: str, sources: list[str]) -> list[list[dict[str, Any]]]:
        """`{"passed": bool | None, "note": str}` for each source, a function named `entry`, and each run."""
        try:
            # Together they are given what one may take: checks take far less, and one that hangs is found apart.
            return self._judge(entry, sources, self._runs)
        except WorkerLost:
            return [self._of_one(entry, source) for source in sources]

    def _of_one(self, entry: str, source: str) -> list[dict[str, Any]]:
        try:
            return self._judge(entry, [source], self._runs)[0]
        except WorkerLost as lost:
            # One state may have hung a check that is fine on the others.
            return self._one_by_one(entry, source, str(lost))

    def _one_by_one(self, entry: str, source: str, said: str) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = []
        hung = 0
        for run in self._runs:
            try:
                if len(self._runs) == 1 or hung >= MOST_HUNG:
                    raise WorkerLost("time", said)
                answers += self._judge(entry, [source], [run])[0]
            except WorkerLost as lost:
                hung += 1
                said = str(lost)
                answers.append({"passed": None, "note": f"did not finish: {lost}"})
        return answers

    def _judge(self, entry: str, sources: list[str], runs: list[list[str]]) -> list[list[dict[str, Any]]]:
        if not sources:
            return []
        fields = {"sources": sources, "entry": entry, "runs": runs, "globals": _GLOBALS[entry]}
        worker = self._ready()
        answer = worker.ask("judge", timeout=self._timeout, **fields)
        if not answer["ok"]:
            worker.close()  # what it holds may be spoilt
        columns = _must(answer).get("answers")
        if not isinstance(columns, list) or [len(c) for c in columns if isinstance(c, list)] != [
            len(runs)
        ] * len(sources):
            raise WorkerLost("crash", "the worker answered for another number of states")
        return [[_clean(one) for one in column] for column in columns]

    def _ready(self) -> Worker:
        if self._worker is None or not self._worker.alive:
            self._worker = start_worker(self._isolation)
            self._hand_over(self._worker)
        return self._worker

    def _hand_over(self, worker: Worker) -> None:
        """Send the values, so many at a time as a message may hold; of states alike the differences only."""
        for message in _messages(self._values):
            _must(worker.ask("hold", timeout=30.0, **message))


def held_once(runs: Iterable[Sequence[Json]]) -> tuple[dict[str, Json], list[list[str]]]:
    """The values of some runs under names, and the runs by these names; one that comes again is held once."""
    names: dict[int, str] = {}
    values: dict[str, Json] = {}
    told = []
    for run in runs:
        told.append([names.setdefault(id(value), str(len(names))) for value in run])
        values |= zip(told[-1], run, strict=True)  # held, so that no other value gets its id
    return values, told


def _messages(values: dict[str, Json]) -> Iterator[dict[str, Any]]:
    """The values whole, or as what differs from the first of them."""
    like = next((name for name, value in values.items() if isinstance(value, dict)), "")
    message: dict[str, Any] = {"values": {}, "changes": {}}
    size = 0
    for name, value in values.items():
        change = None if name == like else _differences(values.get(like), value)
        written = msgspec.json.encode(value if change is None else {"like": like, **change})
        if size and size + len(written) > LARGEST:
            yield message
            message, size = {"values": {}, "changes": {}}, 0
        message["values" if change is None else "changes"][name] = msgspec.Raw(written)
        size += len(written)
    if size:
        yield message


def _differences(base: Json, value: Json) -> dict[str, Any] | None:
    """What a state has other than another one, tables and rows; None where they are no states, or share little."""
    if not isinstance(base, dict) or not isinstance(value, dict):
        return None
    whole: dict[str, Json] = {}
    rows: dict[str, Json] = {}
    for name, table in value.items():
        if name in base and table is base[name]:
            continue
        told = _rows(base.get(name), table)
        if told is None:
            if name not in base or not identical(table, base[name]):
                whole[name] = table
        elif told["set"] or told["gone"]:
            rows[name] = told
    if len(whole) == len(value):
        return None
    return {"set": whole, "rows": rows, "gone": [name for name in base if name not in value]}


def _rows(base: Json, table: Json) -> dict[str, Any] | None:
    """The rows in which a table differs from another one; None where they do not make it again in its order."""
    if not isinstance(base, dict) or not isinstance(table, dict):
        return None
    if not all(type(key) is str for part in (base, table) for key in part):
        return None  # as text they are other keys
    if list(table) == list(base):
        return {"set": {k: v for k, v in table.items() if not identical(v, base[k])}, "gone": []}
    gone = [key for key in base if key not in table]
    if [key for key in base if key in table] + [key for key in table if key not in base] != list(table):
        return None
    changed = {k: v for k, v in table.items() if k not in base or not identical(v, base[k])}
    return {"set": changed, "gone": gone}


def _must(answer: dict[str, Any]) -> dict[str, Any]:
    if not answer["ok"]:
        raise WorkerLost("crash", f"the check broke its worker: {str(answer.get('error'))[:200]}")
    return answer


def _clean(answer: Any) -> dict[str, Any]:
    passed = answer.get("passed") if isinstance(answer, dict) else None
    note = str(answer.get("note", ""))[:500] if isinstance(answer, dict) else "no answer"
    return {"passed": passed if isinstance(passed, bool) else None, "note": note}
