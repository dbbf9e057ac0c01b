"""Grading: check functions run on a final state, the guard for bystanders, and the reward made of the outcomes.

Checks are generated code: they run in a fresh sealed worker, never in the one an environment ran in, each
with its own names and its own copies of both states, so that no check sees or spoils another one's work. What
that does not cover: a check that breaks out of Python into its worker could forge those that come after it, so
whoever trusts the checks' author that little has them graded `apart`, each in a worker of its own. A
check that raises, hangs or returns something other than a bool is `passed=None`: broken, never false.

`may_change` names what a task may touch: `table` (or a scalar) all of it, `table/key` that record, `table/+`
rows added, as to a log; keys are escaped as in `change`. Everything else is a bystander and must be as it was. In a
table that is named as a whole nothing is, not even where a solution only adds to it: then the checks have to guard
the records that were there, and the certificate sees to it that they do. This module does not decide whether a
scenario is worth keeping (`certificate` does).
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, TypeVar

import msgspec

from envscaler.error import ParameterError
from envscaler.schema import Call, Check, Finding, Json, Outcome, Rule, reward_of
from envscaler.world.change import State, diff, escaped, path, records, unescaped
from envscaler.world.jury import TIMEOUT as TIMEOUT
from envscaler.world.jury import Jury as Jury
from envscaler.world.jury import held_once
from envscaler.world.sandbox import Isolation

RewardMode = Literal["default", "strict", "paper"]
BYSTANDERS = "bystanders"
"""The item of the guard that the library adds to every grading."""
Change = tuple[State | None, State, Mapping[str, Json] | Call | None]
"""State before, state after, and the call between: `{"tool", "arguments", "reply"}`."""
T = TypeVar("T")


def grade(
    checks: Sequence[Check],
    initial_state: State,
    final_state: State,
    may_change: Sequence[str] = (),
    *,
    timeout: float = TIMEOUT,
    isolation: Isolation = "auto",
    apart: bool = False,
) -> list[Outcome]:
    """One outcome a check, in order, and the `bystanders` guard at the end.

    Args:
        checks: what to ask of the final state.
        initial_state: the state at reset; checks may read it as the global `initial_state`.
        final_state: the state at the end.
        may_change: what the task may touch.
        timeout: seconds a check may take.
        isolation: where checks run.
        apart: whether each check gets a worker of its own.
    """
    options: dict[str, Any] = {"timeout": timeout, "isolation": isolation, "apart": apart}
    return grade_all(checks, initial_state, [final_state], may_change, **options)[0]


def grade_all(
    checks: Sequence[Check],
    initial_state: State,
    final_states: Sequence[State],
    may_change: Sequence[str] = (),
    *,
    timeout: float = TIMEOUT,
    isolation: Isolation = "auto",
    apart: bool = False,
) -> list[list[Outcome]]:
    """`grade` for many final states of one initial state, in one worker."""
    options: dict[str, Any] = {"timeout": timeout, "isolation": isolation}
    if not apart:
        with Grader(checks, initial_state, may_change, **options) as grader:
            return grader.grade(final_states)
    columns = []
    for check in checks:
        with Grader([check], initial_state, may_change, **options) as grader:
            columns.append([outcomes[0] for outcomes in grader.grade(final_states)])
    return [
        [*(column[place] for column in columns), bystanders(initial_state, final, may_change)]
        for place, final in enumerate(final_states)
    ]


class Grader:
    """Grades the final states of one scenario as they come, all in one sealed worker."""

    def __init__(
        self,
        checks: Sequence[Check],
        initial_state: State,
        may_change: Sequence[str] = (),
        *,
        timeout: float = TIMEOUT,
        isolation: Isolation = "auto",
    ) -> None:
        """
        Args:
            checks: what to ask of each final state.
            initial_state: the state at reset.
            may_change: what the task may touch.
            timeout: seconds a check may take.
            isolation: where checks run.
        """
        self._checks, self._initial, self._may_change = list(checks), initial_state, may_change
        self._jury = Jury({}, [], timeout=timeout, isolation=isolation)
        self._asked = any("initial_state" in check.source for check in checks)
        self._sources = [check.source for check in checks]

    def __enter__(self) -> "Grader":
        return self

    def __exit__(self, *_: object) -> None:
        self._jury.__exit__()

    def grade(self, final_states: Sequence[State]) -> list[list[Outcome]]:
        """One outcome a check and the `bystanders` guard, for each final state."""
        return [
            outcomes for batch in _batches(final_states, self._initial) for outcomes in self._of_batch(batch)
        ]

    def _of_batch(self, finals: Sequence[State]) -> list[list[Outcome]]:
        values: dict[str, Json] = {str(place): final for place, final in enumerate(finals)}
        if self._asked:
            values["initial"] = self._initial
        self._jury.hold(values, [[str(place)] for place in range(len(finals))])
        columns = self._jury.ask("check_func", self._sources)
        return [
            [
                *(
                    _outcome(check, column[place])
                    for check, column in zip(self._checks, columns, strict=True)
                ),
                bystanders(self._initial, final, self._may_change),
            ]
            for place, final in enumerate(finals)
        ]

    def broken_invariants(self, rules: Sequence[Rule], changes: Sequence[Change]) -> list[list[Finding]]:
        """`all_broken_invariants` in the same worker."""
        return _all_broken(self._jury, rules, changes)


def _batches(states: Sequence[T], example: State) -> Iterator[Sequence[T]]:
    """What goes to one worker at a time: fewer of larger states, for its memory is limited."""
    size = len(msgspec.json.encode(example)) if len(states) > 1 else 1
    most = max(1, min(256, 16 * 2**20 // max(1, size)))
    return (states[start : start + most] for start in range(0, len(states), most))


def _outcome(check: Check, answer: dict[str, Any]) -> Outcome:
    return Outcome(item=check.item, kind=check.kind, passed=answer["passed"], note=answer["note"])


# Bystanders


def bystanders(initial: State, final: State, may_change: Sequence[str]) -> Outcome:
    """The guard that nothing but what the task may touch has changed.

    Numbers that are equal count as unchanged here (25 and 25.0), for a tool may well read one and write the other.
    """
    allowed = frozenset(may_change)
    # Tables that may change as a whole are mostly those that did, and comparing them would take the longest.
    guarded = [{name: v for name, v in s.items() if escaped(name) not in allowed} for s in (initial, final)]
    changed = {where for where, change in diff(*guarded).items() if not _allowed(where, change, allowed)}
    touched = sorted(where for where in changed if not _loosely(_at(initial, where), _at(final, where)))
    note = f"changed though no part of the task: {', '.join(touched[:5])}" if touched else ""
    if len(touched) > 5:
        note += f" and {len(touched) - 5} more"
    return Outcome(item=BYSTANDERS, kind="guard", passed=not touched, note=note)


def _allowed(where: str, change: Any, allowed: frozenset[str]) -> bool:
    return where in allowed or (
        "added" in change and "/" in where and f"{where.partition('/')[0]}/+" in allowed
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
    changes: Sequence[Change],
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
    with Jury({}, [], timeout=timeout, isolation=isolation) as jury:
        return _all_broken(jury, rules, changes)


def _all_broken(jury: Jury, rules: Sequence[Rule], changes: Sequence[Change]) -> list[list[Finding]]:
    judged = [rule for rule in rules if rule.invariant]
    if not judged or not changes:
        return [[] for _ in changes]
    found: list[list[Finding]] = []
    for batch in _batches(changes, changes[0][1]):
        # Where one change ends another one mostly begins.
        jury.hold(*held_once((before, after, _told(call)) for before, after, call in batch))
        columns = jury.ask("invariant", [rule.invariant or "" for rule in judged])
        found += [_breaches(judged, [column[place] for column in columns]) for place in range(len(batch))]
    return found


def _told(call: Mapping[str, Json] | Call | None) -> Json:
    return call.model_dump(mode="json") if isinstance(call, Call) else call and dict(call)


def _breaches(rules: Sequence[Rule], answers: Sequence[dict[str, Any]]) -> list[Finding]:
    return [_breach(rule, a) for rule, a in zip(rules, answers, strict=True) if a["passed"] is not True]


def _breach(rule: Rule, answer: dict[str, Any]) -> Finding:
    if answer["passed"] is False:
        return Finding(kind="invariant", severity="error", where="rules", message=f"Broken rule: {rule.text}")
    return Finding(
        kind="invariant-broken",
        severity="warning",
        where="rules",
        message=f"The invariant of the rule “{rule.text}” cannot be evaluated: {answer['note']}",
    )
