"""Scenarios: an initial state, a task in it, checks of the outcome, and a witness that proves it can be done.

    state → task → checklist → a check an item → witness → certificate

A model writes every part; each is tried as soon as it is there. A state must load and keep the rules; a
check must say no (goal) or yes (guard) at reset and never break; a witness must be played without a
refusal. What is wrong goes back to the author of that part, a bounded number of times. Only a scenario
whose certificate is valid is returned: its witness, executed, earns 1, and doing nothing earns 0. Another
becomes a failure that names the part.

This module never mends code of a skeleton, and never marks a check as something its author did not declare.
"""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any, Literal, TypeVar

from envscaler.error import EnvscalerError, PartRefused
from envscaler.model.ask import ask, origin
from envscaler.model.reply import Code
from envscaler.model.request import Model
from envscaler.model.revise import TRIES, ask_usable
from envscaler.parallel import run_all, several
from envscaler.schema import (
    Call,
    Certificate,
    Check,
    Failure,
    Json,
    Outcome,
    Part,
    Scenario,
    Skeleton,
    canonical,
)
from envscaler.skeletons import tools_to_show
from envscaler.starting import ask_state, start_problem
from envscaler.store import Records
from envscaler.world.certificate import certify, garbage, wiped
from envscaler.world.change import unescaped
from envscaler.world.check import grade, grade_all
from envscaler.world.environment import Environment
from envscaler.world.witness import Played, play

T = TypeVar("T")

STEPS = ("state", "task", "checklist", "check", "witness")
FEWEST_WORDS = 50
REVISIONS = 4
"""How often a scenario that is complete but not certified is taken up again."""


class TaskText(Part):
    """What the user wants."""

    task: str
    """In the user's words."""


class Item(Part):
    """One question of the checklist."""

    item: str
    """The question."""
    kind: Literal["goal", "guard"]
    """Whether it is to be brought about, or not to be broken."""


class Checklist(Part):
    """How the outcome is graded."""

    items: list[Item]
    """The questions."""
    may_change: list[str]
    """What doing the task may touch."""


class Witness(Part):
    """Calls that solve the task."""

    calls: list[Call]
    """In order."""


def build_scenario(
    skeleton: Skeleton, model: Model, *, sample: int = 0, seed: int = 0, taken: Collection[str] = ()
) -> Scenario:
    """Write one scenario of a skeleton, and prove it.

    Args:
        skeleton: the world it plays in.
        model: who writes.
        sample: which of the scenarios of this skeleton; another sample is another scenario.
        seed: of the environment that proves it; also another set of samples.
        taken: tasks that there are already.

    Raises:
        PartRefused: a part stayed unusable, or the whole uncertified; the message names the part.
        ReplyError: the model did not answer in the form asked for.
    """
    draft = _Draft(skeleton, model, sample, seed, frozenset(map(_plain, taken)))
    draft.write()
    for revision in range(REVISIONS + 1):
        scenario = draft.scenario()
        certificate = certify(skeleton, scenario, seed=seed)
        if certificate.valid:
            return scenario.replace(certificate=certificate)
        if revision < REVISIONS:
            draft.revise(certificate, revision)
    raise PartRefused(f"scenarios/certificate: {' '.join(certificate.reasons)} (revised {REVISIONS} times)")


def build_scenarios(
    skeletons: Iterable[Skeleton], model: Model, *, n: int = 10, seed: int = 0, progress: bool = True
) -> Records[Scenario]:
    """Write `n` scenarios of each skeleton, in parallel; no two of one skeleton have the same task.

    Args:
        skeletons: the worlds.
        model: who writes.
        n: scenarios a skeleton.
        seed: of the environments and the samples.
        progress: whether to show a bar.
    """
    jobs = [(skeleton, sample) for skeleton in several(skeletons) for sample in range(n)]

    def build(job: tuple[Skeleton, int]) -> Scenario:
        return build_scenario(job[0], model, sample=job[1], seed=seed)

    made = run_all(
        build, jobs, stage="scenarios", name=lambda job: job[0].id, workers=model.workers, progress=progress
    )
    return _without_doubles(made, {skeleton.id: skeleton for skeleton, _ in jobs}, model, n, seed)


def _without_doubles(
    made: Records[Scenario], skeletons: dict[str, Skeleton], model: Model, n: int, seed: int
) -> Records[Scenario]:
    """The same scenarios; one whose task another has already is written anew with samples of its own."""
    kept: Records[Scenario] = Records(failures=made.failures)
    tasks: dict[str, list[str]] = {key: [] for key in skeletons}
    for number, scenario in enumerate(made):
        mine = tasks[scenario.skeleton_id]
        if _plain(scenario.task) in map(_plain, mine):
            skeleton = skeletons[scenario.skeleton_id]
            try:
                scenario = build_scenario(skeleton, model, sample=n + number, seed=seed, taken=mine)
            except EnvscalerError as error:
                kept.failures.append(_failure(skeleton, error))
                continue
        mine.append(scenario.task)
        kept.append(scenario)
    return kept


def _failure(skeleton: Skeleton, error: Exception) -> Failure:
    return Failure(stage="scenarios", parent_id=skeleton.id, error=type(error).__name__, message=str(error))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


class _Draft:
    """A scenario in the making: its parts, and how each is asked for."""

    def __init__(
        self, skeleton: Skeleton, model: Model, sample: int, seed: int, taken: frozenset[str]
    ) -> None:
        self.skeleton, self.model, self.seed, self.taken = skeleton, model, seed, taken
        self.sample = seed * 10_000 + sample
        self.state: dict[str, Json] = {}
        self.task = ""
        self.checklist = Checklist(items=[], may_change=[])
        self.checks: dict[str, Check] = {}
        self.witness: list[Call] = []

    def scenario(self) -> Scenario:
        """The record, without a certificate."""
        return Scenario(
            skeleton_id=self.skeleton.id,
            initial_state=self.state,
            task=self.task,
            checks=[self.checks[item.item] for item in self.checklist.items],
            may_change=self.checklist.may_change,
            witness=self.witness,
            origin=origin(self.model, *(f"scenarios/{step}" for step in STEPS), seed=self.seed),
        )

    def write(self) -> None:
        """All parts, in order."""
        problem = partial(start_problem, self.skeleton)
        self.state = ask_state(
            self.skeleton, self.model, "scenarios/state", sample=self.sample, problem=problem
        )
        variables = {**self._about("summary", "tools", "rules", "state"), "entities": self.skeleton.state}
        self.task = self._ask("task", variables, TaskText, self._task_problem).task
        self.write_checklist()
        self.write_checks({})
        self.write_witness()

    def write_checklist(self, feedback: str = "") -> None:
        """The questions and what may change; checks of questions that are asked no more are dropped."""
        variables = self._about("summary", "state", "task")
        self.checklist = self._ask("checklist", variables, Checklist, self._checklist_problem, feedback)
        wanted = {(item.item, item.kind) for item in self.checklist.items}
        self.checks = {text: check for text, check in self.checks.items() if (text, check.kind) in wanted}

    def write_checks(self, faults: dict[str, str]) -> None:
        """A function for each question that has none, and for those with faults, until all will do."""
        todo = {item.item: faults.get(item.item, "") for item in self.checklist.items}
        todo = {text: fault for text, fault in todo.items() if fault or text not in self.checks}
        for _ in range(TRIES):
            for item in self.checklist.items:
                if item.item in todo:
                    self.checks[item.item] = self._write_check(item, todo[item.item])
            todo = self._check_problems()
            if not todo:
                return
        text, fault = next(iter(todo.items()))
        raise PartRefused(f"scenarios/check: {text!r}: {fault} (asked {TRIES} times)")

    def write_witness(self, feedback: str = "") -> None:
        """Calls that are all accepted."""
        variables = self._about("summary", "tools", "rules", "state", "task")
        self.witness = self._ask("witness", variables, Witness, self._witness_problem, feedback).calls

    def revise(self, certificate: Certificate, revision: int) -> None:
        """Find the part that stands against the certificate, and have it written anew.

        Whether a goal that is still open is the witness's fault or its check's, cannot be seen from
        outside: they take turns, and so do witness and checklist where something else changed, or where a
        change earned nothing.
        """
        with self._environment() as environment:
            played = play(environment, self.witness)
            outcomes = grade(
                list(self.checks.values()), self.state, environment.state, self.checklist.may_change
            )
        open_goals = [o for o in outcomes if not o.passed and o.item in self.checks]
        strays = [o for o in outcomes if not o.passed and o.item not in self.checks]
        if played.refused is not None:
            self.write_witness(_refusal(self.witness, played))
        elif revision % 2 == 0:
            self.write_witness(_unmet(open_goals, strays) or " ".join(certificate.reasons))
        elif open_goals:
            self.write_checks({outcome.item: _unmet([outcome], []) for outcome in open_goals})
        else:
            self.write_checklist(_unmet([], strays) or " ".join(certificate.reasons))
            self.write_checks({})

    def _about(self, *names: str) -> dict[str, Any]:
        everything = {
            "summary": self.skeleton.summary,
            "tools": tools_to_show(self.skeleton),
            "rules": [rule.text for rule in self.skeleton.rules],
            "state": self.state,
            "task": self.task,
        }
        return {name: everything[name] for name in names}

    def _ask(
        self,
        step: str,
        variables: dict[str, Any],
        answer: type[T],
        problem: Callable[[T], str],
        feedback: str = "",
    ) -> T:
        return ask_usable(
            self.model, f"scenarios/{step}", variables, answer, problem, sample=self.sample, feedback=feedback
        )

    def _environment(self) -> Environment:
        environment = Environment(self.skeleton, self.state, seed=self.seed)
        environment.reset(seed=self.seed)
        return environment

    def _task_problem(self, answer: TaskText) -> str:
        words = len(answer.task.split())
        if words < FEWEST_WORDS:
            return f"The task has {words} words; it needs at least {FEWEST_WORDS}, with several sub-tasks."
        return (
            "There is a task with the same words already; pose another."
            if _plain(answer.task) in self.taken
            else ""
        )

    def _checklist_problem(self, answer: Checklist) -> str:
        if not any(item.kind == "goal" for item in answer.items):
            return "There is no goal: at least one item must be something the task wants brought about."
        texts = [item.item for item in answer.items]
        if double := [text for text in texts if texts.count(text) > 1]:
            return f"The item {double[0]!r} stands there twice."
        tables = {entity.table for entity in self.skeleton.state} | set(self.state)
        for entry in answer.may_change:
            name, _, key = map(unescaped, entry.partition("/"))
            if name not in tables:
                return f"may_change names {entry!r}, but the data has no {name!r}."
            table = self.state.get(name)
            if key and key != "+" and isinstance(table, dict) and key not in table:
                return f"may_change names {entry!r}, but {name} holds no {key!r}; new records are '{name}/+'."
        return ""

    def _write_check(self, item: Item, fault: str) -> Check:
        variables = {
            **self._about("summary", "state", "task"),
            "item": item.item,
            "kind": item.kind,
            "feedback": fault,
        }
        source = ask(self.model, "scenarios/check", variables, Code, sample=self.sample)
        return Check(item=item.item, source=source, kind=item.kind)

    def _check_problems(self) -> dict[str, str]:
        """By question: checks that break on some state, or say at reset what they may only say at the end."""
        checks = [self.checks[item.item] for item in self.checklist.items]
        states: list[dict[str, Json]] = [
            self.state,
            {},
            wiped(self.state),
            garbage(self.state),
            _rubble(self.state),
        ]
        graded = grade_all(checks, self.state, states, self.checklist.may_change)
        problems: dict[str, str] = {}
        for number, check in enumerate(checks):
            if problem := _check_problem(check, [outcomes[number] for outcomes in graded]):
                problems[check.item] = problem
        return problems

    def _witness_problem(self, answer: Witness) -> str:
        if not answer.calls:
            return "There are no calls."
        with self._environment() as environment:
            played = play(environment, answer.calls)
        if played.refused is not None:
            return _refusal(answer.calls, played)
        return "" if any(played.diffs) else "The calls change nothing, so they solve nothing."


def _rubble(state: dict[str, Json]) -> dict[str, Json]:
    """The same tables with records that are none."""
    return {name: {"?": None, "!": [0]} if isinstance(value, dict) else None for name, value in state.items()}


def _check_problem(check: Check, outcomes: list[Outcome]) -> str:
    """Outcomes are of the state at reset, then of damaged ones, where a check need only answer.

    A goal may well be true where all is gone ("Has the loan been deleted?"): the guard for bystanders sees to that.
    """
    for outcome in outcomes:
        if outcome.passed is None:
            return f"It must return True or False on any state, also an empty or damaged one. {outcome.note}"
    if check.kind == "guard" and not outcomes[0].passed:
        return "It is a guard, which must hold before anything is done, but it says False then."
    if check.kind == "goal" and outcomes[0].passed:
        return "It is a goal, which is not reached before anything is done, but it says True then."
    return ""


def _refusal(calls: list[Call], played: Played) -> str:
    number = played.refused
    assert number is not None
    call = calls[number]
    reply = played.replies[number] if number < len(played.replies) else None
    return f"Call {number}, {call.tool}({canonical(call.arguments)}), was refused: {canonical(reply)}"


def _unmet(checks: list[Outcome], strays: list[Outcome]) -> str:
    """What is wrong after the witness, in words that fit the author of calls, check and checklist alike."""
    lines = [
        f"After calls that were meant to solve the task, the {outcome.kind} {outcome.item!r} says "
        f"{'nothing' if outcome.passed is None else outcome.passed}. {outcome.note}".strip()
        for outcome in checks
    ]
    lines += [f"They also changed what may_change does not name: {outcome.note}" for outcome in strays]
    return "\n".join(lines)
