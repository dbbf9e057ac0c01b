"""Drafting: a scenario in the making, its parts, and how each is asked for.

    state → task → checklist → a check an item → witness

A draft writes what is missing and vets it at once; a part can be taken back with what speaks against it, and what
depends on it goes with it. Every time a part has to be asked for again is a `Revision`, so that a yield before and
after repair can be told. The draft does not judge itself: `posing.locating` says which part is to blame.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from envscaler.agent import Agent
from envscaler.auditing.starting import ask_state, start_problem
from envscaler.error import PartRefused
from envscaler.model.ask import ask, origin
from envscaler.model.reply import Code
from envscaler.model.request import Model
from envscaler.model.revise import TRIES, ask_usable, sent_anew, told
from envscaler.posing.solving import solve
from envscaler.posing.vetting import (
    check_problems,
    checklist_problem,
    plain,
    strange_checks,
    task_problem,
    witness_problem,
)
from envscaler.schema import Call, Check, Failure, Finding, Json, Origin, Part, Scenario, Skeleton, bounded
from envscaler.skeletons import tools_to_show
from envscaler.world.environment import Environment
from envscaler.world.witness import Played, play

T = TypeVar("T")
PartName = Literal["state", "task", "checklist", "check", "witness"]
PARTS: tuple[PartName, ...] = ("state", "task", "checklist", "check", "witness")

_SAME_AGAIN = "This is what you wrote before, and it cannot stay as it is."


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

    items: list[Item] = bounded(16)
    """The questions."""
    may_change: list[str] = bounded(24)
    """What doing the task may touch."""


class Witness(Part):
    """Calls that solve the task."""

    calls: list[Call] = bounded(40)
    """In order."""


class Revision(Part):
    """One time that a part was asked for again."""

    part: PartName
    """Which part."""
    why: str
    """What its author was told."""


class Stuck(PartRefused):
    """A part stayed unusable, however often its author was told why."""

    def __init__(self, part: PartName, why: str, items: Sequence[str] = ()) -> None:
        super().__init__(f"scenarios/{part}: {why}")
        self.part, self.why, self.items = part, why, tuple(items)


@dataclass(frozen=True)
class Solver:
    """An agent whose episodes may serve as witnesses."""

    agent: Agent
    """Who plays."""
    first: bool = False
    """Whether it plays before the author of the scenario is asked for calls."""


class Draft:
    """A scenario in the making.

    Args:
        skeleton: the world it plays in.
        model: who writes.
        sample: which of the scenarios of this skeleton.
        seed: of the environment; also another set of samples.
        taken: tasks that there are already.
        solver: who plays where the author's own calls do not solve the task.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        model: Model,
        sample: int = 0,
        seed: int = 0,
        taken: Collection[str] = (),
        solver: Solver | None = None,
    ) -> None:
        self.skeleton, self.model, self.seed = skeleton, model, seed
        self.taken = {plain(task) for task in taken}
        self.sample = seed * 10_000 + sample
        self.state: dict[str, Json] = {}
        self.task = ""
        self.checklist: Checklist | None = None
        self.checks: dict[str, Check] = {}
        self.witness: list[Call] = []
        self.proposed: list[Call] = []
        """The calls that were tried last, also where they did not become the witness."""
        self.revisions: list[Revision] = []
        self.doubts: list[Finding] = []
        self._solver = solver
        self._feedback: dict[str, str] = {}
        self._warned: set[tuple[str, str]] = set()
        self._sent: dict[str, set[str]] = {}  # what each check's author was told
        self._given_up: dict[str, Json] = {}
        self._writers: dict[PartName, Callable[[], None]] = {
            "state": self._write_state,
            "task": self._write_task,
            "checklist": self._write_checklist,
            "check": self._write_checks,
            "witness": self._write_witness,
        }

    def complete(self) -> Scenario:
        """Write what is missing, part by part; the whole, without a certificate.

        Raises:
            Stuck: a part stayed unusable.
            ReplyError: the model did not answer in the form asked for.
        """
        for part in PARTS:
            if not self.has(part):
                self._writers[part]()
        return self.scenario(self.witness).replace(origin=self.origin())

    def scenario(self, witness: Sequence[Call] = ()) -> Scenario:
        """What there is, with these calls; the checks must be there."""
        assert self.checklist is not None
        return Scenario(
            skeleton_id=self.skeleton.id,
            initial_state=self.state,
            task=self.task,
            checks=[self.checks[item.item] for item in self.checklist.items],
            may_change=self.checklist.may_change,
            witness=list(witness),
        )

    def origin(self, *, refused: bool = False) -> Origin:
        """How it is being made: also which sample, what was asked for again, and which tools are in doubt.

        A failure has those among its findings.
        """
        settings: dict[str, Json] = {"sample": self.sample}
        if self.revisions:
            settings["revisions"] = [revision.model_dump() for revision in self.revisions]
        if self.doubts and not refused:
            settings["doubts"] = [finding.model_dump(mode="json") for finding in self.doubts]
        steps = (f"scenarios/{part}" for part in PARTS)
        return origin(self.model, *steps, seed=self.seed, settings=settings)

    def failure(self, error: Exception) -> Failure:
        """The row in the place of the scenario, with what speaks against the skeleton."""
        return Failure(
            stage="scenarios",
            parent_id=self.skeleton.id,
            error="PartRefused" if isinstance(error, PartRefused) else type(error).__name__,
            message=str(error),
            findings=self.doubts,
            origin=self.origin(refused=True),
        )

    def take_back(self, part: PartName, why: str, items: Sequence[str] = ()) -> None:
        """Drop a part (of the checks: those of these questions) and what depends on it; its author is told why."""
        self._again(part, why)
        if part == "check":
            for item in items:
                self._feedback[item] = told(why, self.checks.pop(item).source)
            return
        self._given_up[part] = self._written(part)
        self._feedback = {part: told(why, self._given_up[part])}
        later = PARTS[PARTS.index(part) :] if part in ("state", "task") else (part,)
        for name in later:
            self._drop(name)

    def play(self, calls: Sequence[Call] | None = None) -> Played:
        """The witness, or other calls, played from the start."""
        with Environment(self.skeleton, self.state, seed=self.seed) as environment:
            environment.reset(seed=self.seed)
            return play(environment, self.witness if calls is None else calls)

    @property
    def final(self) -> dict[str, Json]:
        """The state after the witness."""
        with Environment(self.skeleton, self.state, seed=self.seed) as environment:
            environment.reset(seed=self.seed)
            play(environment, self.witness)
            return environment.state

    def has(self, part: PartName) -> bool:
        """Whether a part is there; of the checks, all of them."""
        if part == "check":
            return self.checklist is not None and all(i.item in self.checks for i in self.checklist.items)
        return bool(
            {"state": self.state, "task": self.task, "checklist": self.checklist}.get(part, self.witness)
        )

    # The parts

    def _again(self, part: PartName, why: str) -> None:
        self.revisions.append(Revision(part=part, why=why))

    def _written(self, part: PartName) -> Any:
        written = {"state": self.state, "task": self.task, "checklist": self.checklist}
        return written.get(part, {"calls": [call.model_dump(mode="json") for call in self.witness]})

    def _drop(self, part: PartName) -> None:
        if part == "state":
            self.state = {}
        elif part == "task":
            self.task = ""
        elif part == "checklist":
            self.checklist = None
        elif part == "check":
            self.checks = {}
        else:
            self.witness = []

    def _ask(
        self, part: PartName, variables: dict[str, Any], answer: type[T], problem: Callable[[T], str]
    ) -> T:
        try:
            return ask_usable(
                self.model,
                f"scenarios/{part}",
                variables,
                answer,
                problem,
                sample=self.sample,
                feedback=self._feedback.pop(part, ""),
                again=partial(self._again, part),
            )
        except PartRefused as refused:
            raise Stuck(part, str(refused).removeprefix(f"scenarios/{part}: ")) from refused

    @property
    def insisting(self) -> bool:
        """Whether the last part that was asked for again came back as it was, whatever its author was told."""
        return bool(self.revisions) and self.revisions[-1].why == _SAME_AGAIN

    def _insists(self, part: PartName, said: Any) -> str:
        """Whether what others must be made from anew came back as it was."""
        same = part in self._given_up and said == self._given_up[part]
        return _SAME_AGAIN if same else ""

    def _about(self, *names: str) -> dict[str, Any]:
        everything = {
            "summary": self.skeleton.summary,
            "entities": self.skeleton.state,
            "tools": tools_to_show(self.skeleton),
            "rules": [rule.text for rule in self.skeleton.rules],
            "state": self.state,
            "task": self.task,
        }
        return {name: everything[name] for name in names}

    def _write_state(self) -> None:
        before = self.state
        try:
            self.state = ask_state(
                self.skeleton,
                self.model,
                "scenarios/state",
                sample=self.sample,
                problem=lambda said: self._insists("state", said) or start_problem(self.skeleton, said),
                feedback=self._feedback.pop("state", ""),
                again=partial(self._again, "state"),
            )
        except PartRefused as refused:
            self.state = before
            raise Stuck("state", str(refused).removeprefix("scenarios/state: ")) from refused

    def _write_task(self) -> None:
        variables = self._about("summary", "entities", "tools", "rules", "state")

        def problem(said: TaskText) -> str:
            return self._insists("task", said.task) or task_problem(said.task, self.taken)

        self.task = self._ask("task", variables, TaskText, problem).task

    def _write_checklist(self) -> None:
        """The questions and what may change; checks of questions that are asked no more are dropped."""

        def problem(said: Checklist) -> str:
            items = [(item.item, item.kind) for item in said.items]
            problem = checklist_problem(items, said.may_change, self.skeleton, self.state)
            return problem or self._insists("checklist", said)

        self.checklist = self._ask("checklist", self._about("summary", "state", "task"), Checklist, problem)
        wanted = {(item.item, item.kind) for item in self.checklist.items}
        self.checks = {text: check for text, check in self.checks.items() if (text, check.kind) in wanted}

    def _write_checks(self) -> None:
        """A function for each question that has none, until all will do."""
        assert self.checklist is not None
        problems: dict[str, str] = {}
        for tried in range(TRIES):
            for text, fault in problems.items():
                self._again("check", f"{text} {fault}")
                feedback = told(fault, self.checks.pop(text).source)
                self._feedback[text] = sent_anew(feedback, self._sent.setdefault(text, set()), tried)
            for item in self.checklist.items:
                if item.item not in self.checks:
                    self.checks[item.item] = self._write_check(item)
            checks = [self.checks[item.item] for item in self.checklist.items]
            problems = check_problems(checks, self.state, self.checklist.may_change)
            if tried + 1 < TRIES:
                # What is strange only is told while there is time to answer, and refused for by nobody.
                problems = self._once_told(checks) | problems
            if not problems:
                return
        text, fault = next(iter(problems.items()))
        raise Stuck("check", f"{text!r}: {fault} (asked {TRIES} times)", list(problems))

    def _once_told(self, checks: Sequence[Check]) -> dict[str, str]:
        """What is strange about checks and was not told before: an author who stays by it is believed."""
        strange = strange_checks(checks, self.skeleton, self.state, self.task)
        new = {item: fault for item, fault in strange.items() if (item, fault) not in self._warned}
        self._warned |= set(new.items())
        return new

    def _write_check(self, item: Item) -> Check:
        variables = {
            **self._about("summary", "state", "task"),
            "item": item.item,
            "kind": item.kind,
            "feedback": self._feedback.pop(item.item, ""),
        }
        source = ask(self.model, "scenarios/check", variables, Code, sample=self.sample)
        return Check(item=item.item, source=source, kind=item.kind)

    def _write_witness(self) -> None:
        """Calls that are all accepted: the author's own, or those of an episode that earned everything."""
        if self._solver and (self._solver.first or "witness" in self._feedback):
            self.witness = self._solved()
        if self.witness:
            return
        variables = self._about("summary", "tools", "rules", "state", "task")

        def problem(said: Witness) -> str:
            self.proposed = said.calls
            return witness_problem(said.calls, self.play(said.calls)) if said.calls else "There are no calls."

        try:
            self.witness = self._ask("witness", variables, Witness, problem).calls
        except Stuck:
            self.witness = self._solved() if self._solver and not self._solver.first else []
            if not self.witness:
                raise

    def _solved(self) -> list[Call]:
        assert self._solver is not None
        return solve(self.skeleton, self.scenario(), self._solver.agent, seed=self.seed)
