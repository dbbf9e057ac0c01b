"""Grading: check functions run on a final state, the guard for bystanders, and the reward made of the outcomes.

Checks are generated code: they run in a fresh sealed worker, never in the one an environment ran in, each
with its own names and its own copies of both states, so that no check can see or spoil another one's work. A
check that raises, hangs or returns something other than a bool is `passed=None`: broken, never false.

`may_change` names what a task may touch: `table` (or a scalar) all of it, `table/key` that record, `table/+`
rows added; keys are escaped as in `change`. Everything else is a bystander and must be as it was. This module
does not decide whether a scenario is worth keeping (`certificate` does).
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal

from envscaler.error import ParameterError, SandboxError
from envscaler.schema import Call, Check, Finding, Json, Outcome, Rule, reward_of
from envscaler.world.change import State, diff, escaped, path, records, unescaped
from envscaler.world.sandbox import Isolation, Worker, WorkerLost, start_worker

RewardMode = Literal["default", "strict", "paper"]
BYSTANDERS = "bystanders"
"""The item of the guard that the library adds to every grading."""
TIMEOUT = 2.0
"""Seconds a check may take."""
_BATCH = 64
"""Final states that go to a worker at a time."""


def grade(
    checks: Sequence[Check],
    initial_state: State,
    final_state: State,
    may_change: Sequence[str] = (),
    *,
    timeout: float = TIMEOUT,
    isolation: Isolation = "auto",
) -> list[Outcome]:
    """One outcome a check, in order, and the `bystanders` guard at the end.

    Args:
        checks: what to ask of the final state.
        initial_state: the state at reset; checks may read it as the global `initial_state`.
        final_state: the state at the end.
        may_change: what the task may touch.
        timeout: seconds a check may take.
        isolation: where checks run.
    """
    return grade_all(checks, initial_state, [final_state], may_change, timeout=timeout, isolation=isolation)[
        0
    ]


def grade_all(
    checks: Sequence[Check],
    initial_state: State,
    final_states: Sequence[State],
    may_change: Sequence[str] = (),
    *,
    timeout: float = TIMEOUT,
    isolation: Isolation = "auto",
) -> list[list[Outcome]]:
    """`grade` for many final states of one initial state, in one worker."""
    graded: list[list[Outcome]] = []
    for start in range(0, len(final_states), _BATCH):
        batch = final_states[start : start + _BATCH]
        jury = Jury(initial_state, batch, timeout=timeout, isolation=isolation)
        with jury:
            columns = [jury.ask(check) for check in checks]
        for place, final in enumerate(batch):
            graded.append(
                [column[place] for column in columns] + [bystanders(initial_state, final, may_change)]
            )
    return graded


class Jury:
    """A worker that holds one initial and some final states and is asked one check after another."""

    def __init__(
        self,
        initial: State,
        finals: Sequence[State],
        *,
        timeout: float = TIMEOUT,
        isolation: Isolation = "auto",
    ) -> None:
        self._values: dict[str, Json] = {
            "initial": initial,
            **{str(i): final for i, final in enumerate(finals)},
        }
        self._runs = [[str(place)] for place in range(len(finals))]
        self._timeout, self._isolation = timeout, isolation
        self._worker: Worker | None = None

    def __enter__(self) -> "Jury":
        return self

    def __exit__(self, *_: object) -> None:
        if self._worker is not None:
            self._worker.close()

    def ask(self, check: Check) -> list[Outcome]:
        """What one check says of each final state."""
        try:
            answers = self._judge(check.source, self._runs)
        except WorkerLost as lost:
            answers = [self._alone(check.source, run, lost) for run in self._runs]
        return [
            Outcome(item=check.item, kind=check.kind, passed=a["passed"], note=a["note"]) for a in answers
        ]

    def _alone(self, source: str, run: list[str], lost: WorkerLost) -> dict[str, Any]:
        # One state may have hung a check that is fine on the others.
        if len(self._runs) == 1:
            return _broken(lost)
        try:
            return self._judge(source, [run])[0]
        except WorkerLost as again:
            return _broken(again)

    def _judge(self, source: str, runs: list[list[str]]) -> list[dict[str, Any]]:
        if self._worker is None or not self._worker.alive:
            self._worker = start_worker(self._isolation)
            for name, value in self._values.items():
                self._worker.ask("hold", timeout=30.0, values={name: value})
        return judged(
            self._worker, source, "check_func", runs, {"initial_state": "initial"}, timeout=self._timeout
        )


def judged(
    worker: Worker, source: str, entry: str, runs: list[list[str]], names: dict[str, str], *, timeout: float
) -> list[dict[str, Any]]:
    """Have a worker run one function on held values; `{"passed": bool | None, "note": str}` a run.

    Raises:
        WorkerLost: it hung or died.
    """
    answer = worker.ask("judge", timeout=timeout, source=source, entry=entry, runs=runs, globals=names)
    if not answer["ok"]:
        raise WorkerLost("crash", f"the check broke its worker: {answer['error'].get('message', '')}")
    answers = answer["answers"]
    if not isinstance(answers, list) or len(answers) != len(runs):
        raise WorkerLost("crash", "the worker answered for another number of states")
    return [_clean(one) for one in answers]


def _clean(answer: Any) -> dict[str, Any]:
    passed = answer.get("passed") if isinstance(answer, dict) else None
    note = str(answer.get("note", ""))[:500] if isinstance(answer, dict) else "no answer"
    return {"passed": passed if isinstance(passed, bool) else None, "note": note}


def _broken(lost: WorkerLost) -> dict[str, Any]:
    return {"passed": None, "note": f"did not finish: {lost}"}


# Bystanders


def bystanders(initial: State, final: State, may_change: Sequence[str]) -> Outcome:
    """The guard that nothing but what the task may touch has changed.

    Numbers that are equal count as unchanged here (25 and 25.0), for a tool may well read one and write the other.
    """
    allowed = frozenset(may_change)
    changed = {
        where for where, change in diff(initial, final).items() if not _allowed(where, change, allowed)
    }
    touched = sorted(where for where in changed if not _loosely(_at(initial, where), _at(final, where)))
    note = f"changed though no part of the task: {', '.join(touched[:5])}" if touched else ""
    if len(touched) > 5:
        note += f" and {len(touched) - 5} more"
    return Outcome(item=BYSTANDERS, kind="guard", passed=not touched, note=note)


def _allowed(where: str, change: Any, allowed: frozenset[str]) -> bool:
    table = where.partition("/")[0]
    return (
        table in allowed
        or where in allowed
        or ("added" in change and "/" in where and f"{table}/+" in allowed)
    )


_NOTHING: Any = object()
"""Stands for a record that is not there; equal to no value."""


def _at(state: State, where: str) -> Json:
    """The record or attribute that a diff names."""
    name, slash, key = where.partition("/")
    value = state.get(unescaped(name), _NOTHING)
    return (records(value) or {}).get(unescaped(key), _NOTHING) if slash else value


def _loosely(one: Json, other: Json) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if one is _NOTHING or other is _NOTHING:
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_loosely(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_loosely, one, other))
    return bool(one == other)


def survivors(initial: State, may_change: Sequence[str]) -> int:
    """How many initial records and scalars a task may not touch; at 0 the guard guards nothing."""
    allowed = frozenset(may_change)
    count = 0
    for name, value in initial.items():
        if escaped(name) in allowed:
            continue
        table = records(value)
        count += 1 if table is None else sum(path(name, key) not in allowed for key in table)
    return count


# Reward


def reward(outcomes: Sequence[Outcome], mode: RewardMode = "default") -> float | None:
    """The reward of some outcomes.

    Args:
        outcomes: as `grade` returns them.
        mode: `default`, the mean of the goals if every guard holds, else 0; `strict`, 1 if all pass, else 0;
            `paper`, the published rule: passed checks over all checks, broken ones counting 0, to four decimals.

    Returns:
        None where there is nothing to pay for, and in the modes of ours where a check broke.

    Raises:
        ParameterError: there is no such mode.
    """
    if mode == "default":
        return reward_of(list(outcomes))
    if mode == "strict":
        plain = reward_of(list(outcomes))
        return None if plain is None else float(plain == 1.0)
    if mode == "paper":
        checks = [outcome.passed is True for outcome in outcomes if outcome.item != BYSTANDERS]
        return round(fmean(checks), 4) if checks else None
    raise ParameterError(f"Expected a reward of default, strict or paper, got {mode!r}.")


# Invariants


def broken_invariants(
    rules: Sequence[Rule],
    before: State | None,
    after: State,
    call: Mapping[str, Json] | Call | None = None,
    **options: Any,
) -> list[Finding]:
    """The rules whose invariants do not hold over one change; one that raises is a warning, not a breach."""
    return all_broken_invariants(rules, [(before, after, call)], **options)[0]


def all_broken_invariants(
    rules: Sequence[Rule],
    changes: Sequence[tuple[State | None, State, Mapping[str, Json] | Call | None]],
    *,
    timeout: float = TIMEOUT,
    isolation: Isolation = "auto",
) -> list[list[Finding]]:
    """`broken_invariants` for many changes, in one worker.

    Args:
        rules: rules of a skeleton; those without an invariant are passed over.
        changes: `(before, after, call)` each, call being `{"tool", "arguments", "reply"}` or None.
        timeout: seconds an invariant may take on one change.
        isolation: where invariants run.
    """
    found: list[list[Finding]] = [[] for _ in changes]
    sources = [rule for rule in rules if rule.invariant]
    if not sources or not changes:
        return found
    worker: Worker | None = None
    try:
        for place, change in enumerate(changes):
            for rule in sources:
                if worker is None or not worker.alive:
                    worker = start_worker(isolation)
                    held = -1
                if held != place:
                    _hold_change(worker, change)
                    held = place
                finding = _breach(worker, rule, timeout)
                found[place] += [finding] if finding else []
    finally:
        if worker is not None:
            worker.close()
    return found


def _hold_change(
    worker: Worker, change: tuple[State | None, State, Mapping[str, Json] | Call | None]
) -> None:
    before, after, call = change
    told = (
        call.model_dump(mode="json") if isinstance(call, Call) else dict(call) if call is not None else None
    )
    for name, value in (("before", before), ("after", after), ("call", told)):
        try:
            worker.ask("hold", timeout=30.0, values={name: value})
        except WorkerLost as lost:
            raise SandboxError(f"A state could not be handed to a worker: {lost}.") from None


def _breach(worker: Worker, rule: Rule, timeout: float) -> Finding | None:
    source = rule.invariant or ""
    try:
        answer = judged(worker, source, "invariant", [["before", "after", "call"]], {}, timeout=timeout)[0]
    except WorkerLost as lost:
        answer = _broken(lost)
    if answer["passed"] is True:
        return None
    if answer["passed"] is False:
        return Finding(kind="invariant", severity="error", where="rules", message=f"Broken rule: {rule.text}")
    return Finding(
        kind="invariant-broken",
        severity="warning",
        where="rules",
        message=f"The invariant of the rule “{rule.text}” cannot be evaluated: {answer['note']}",
    )
