"""Locating: which part of a scenario a failed trial speaks against, and which tools of its skeleton.

A part is never blamed without evidence, and mostly more than one can be at fault: whether a goal stays open because
the calls are wrong or the check is, cannot be seen from outside. So the suspects are named in the order of their
likelihood, each with what its author has to be told, and they take their turns. What execution alone shows of a tool
(it raised, hung, broke a rule) is an error; a tool is only in doubt, a warning, where the authors of the task, its
checks and its calls keep expecting of it what it does not do. Nothing is written or mended here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from envscaler.drafting import Draft, PartName, Stuck
from envscaler.error import EnvironmentLost, ParameterError
from envscaler.record import canonical, references
from envscaler.schema import Call, Certificate, Check, Finding, Json, Outcome, Proof
from envscaler.solving import where_told
from envscaler.vetting import refusal, shown
from envscaler.world.change import Diff, State, unescaped
from envscaler.world.check import BYSTANDERS, all_broken_invariants, grade
from envscaler.world.environment import Environment
from envscaler.world.witness import Played, resolve, succeeded

IN_DOUBT = "tool-in-doubt"
MOST_DOUBTS = 4
"""Tools that one contradiction puts in doubt at most."""


@dataclass(frozen=True)
class Suspect:
    """A part that may be at fault."""

    part: PartName
    """Which."""
    why: str
    """What its author has to know."""
    items: tuple[str, ...] = ()
    """The questions whose checks are meant, where it is the checks."""


@dataclass
class Evidence:
    """The calls of a draft as they went, and what the checks say at the end."""

    calls: list[Call] = field(default_factory=list)
    """As they were made."""
    replies: list[Json] = field(default_factory=list)
    """One a call."""
    diffs: list[Diff] = field(default_factory=list)
    """What each changed."""
    states: list[State] = field(default_factory=list)
    """The state before each call, and the last one after it."""
    faults: list[tuple[int, str]] = field(default_factory=list)
    """Calls that raised, hung or crashed, with what the environment says."""
    refused: int | None = None
    """The first call that did not succeed."""
    outcomes: list[Outcome] = field(default_factory=list)
    """What the checks say of the last state."""

    @property
    def played(self) -> Played:
        """The same in the form of a play."""
        return Played(self.replies, self.calls, self.diffs, self.refused)


def evidence_of(draft: Draft, calls: Sequence[Call]) -> Evidence:
    """Make the calls of a draft, and write down what happens."""
    found = Evidence()
    with Environment(draft.skeleton, draft.state, seed=draft.seed) as environment:
        environment.reset(seed=draft.seed)
        found.states.append(environment.state)
        try:
            for written in calls:
                _make(environment, written, found)
        except EnvironmentLost as lost:
            found.faults.append((len(found.replies), str(lost)))
    if draft.checklist and draft.checks:
        may_change = draft.checklist.may_change
        found.outcomes = grade(list(draft.checks.values()), found.states[0], found.states[-1], may_change)
    return found


def _make(environment: Environment, written: Call, found: Evidence) -> None:
    place = len(found.replies)
    try:
        call = resolve(written, found.replies)
    except ParameterError as error:
        call, reply, changed = written, {"success": False, "error": str(error)}, {}
    else:
        reply = environment.call(call.tool, call.arguments)
        changed = environment.diff
        found.faults += [(place, canonical(fault)) for fault in environment.faults]
    found.calls.append(call)
    found.replies.append(reply)
    found.diffs.append(changed)
    found.states.append(environment.state)
    if found.refused is None and not succeeded(reply):
        found.refused = place


# Suspects


def behind(stuck: Stuck) -> list[Suspect]:
    """Who may be at fault when a part cannot be had: the parts that it is made from, the nearest first."""
    what = {
        "task": "No task could be had for these data that will do.",
        "checklist": "No checklist could be had for this task that will do.",
        "check": "No function could be had that answers this question. Perhaps no state can show it.",
        "witness": "No calls could be had that do this task. Perhaps it names what is not there, or asks for what the "
        "tools or the rules do not allow.",
    }
    parts: dict[PartName, tuple[PartName, ...]] = {
        "task": ("state",),
        "checklist": ("task",),
        "check": ("checklist", "task"),
        "witness": ("task", "state"),
    }
    return [Suspect(part, f"{what[stuck.part]} {stuck.why}") for part in parts.get(stuck.part, ())]


def suspects(draft: Draft, certificate: Certificate, found: Evidence) -> list[Suspect]:
    """Who may be at fault when the whole is not certified; empty where no part of the scenario can be."""
    failed = {proof.name: proof for proof in certificate.proofs if proof.status != "proved"}
    for names, accuse in _ACCUSERS:
        proofs = [proof for name, proof in failed.items() if name in names]
        if proofs and (blamed := accuse(draft, proofs, found)):
            return blamed
    rest = [proof for name, proof in failed.items() if name not in _BLAMELESS]
    return _of_checks(draft, rest, found) if rest else []


def _of_state(draft: Draft, proofs: Sequence[Proof], found: Evidence) -> list[Suspect]:
    return [Suspect("state", _said(proofs))]


def _of_survival(draft: Draft, proofs: Sequence[Proof], found: Evidence) -> list[Suspect]:
    return [Suspect("checklist", _said(proofs)), Suspect("state", _said(proofs))]


def _of_checks(draft: Draft, proofs: Sequence[Proof], found: Evidence) -> list[Suspect]:
    """The checks a trial names, then the list they are on."""
    items = _named(draft, proofs)
    blamed = [Suspect("check", _said(proofs), items)] if items else []
    return [*blamed, Suspect("checklist", _said(proofs))]


def _of_witness(draft: Draft, proofs: Sequence[Proof], found: Evidence) -> list[Suspect]:
    """Calls that are refused, leave a goal open or touch what they must not: the calls, then who asked for them."""
    if found.refused is not None:
        why = refusal(draft.witness, found.played)
        return [Suspect("witness", why), Suspect("task", _as_played(draft, why))]
    unmet = [o for o in found.outcomes if not o.passed and o.item != BYSTANDERS]
    strays = [o for o in found.outcomes if not o.passed and o.item == BYSTANDERS]
    why = _unmet(unmet, strays)
    if unmet:
        items = tuple(outcome.item for outcome in unmet)
        checks = Suspect("check", _as_played(draft, why), items)
        return [Suspect("witness", why), checks, Suspect("task", _as_played(draft, why))]
    if strays:
        return [Suspect("witness", why), Suspect("checklist", _as_played(draft, why))]
    return []


def _of_seeds(draft: Draft, proofs: Sequence[Proof], found: Evidence) -> list[Suspect]:
    """Another seed means other generated ids and times: calls or checks that hold on to those of one seed."""
    why = f"{_said(proofs)} Generated ids and times differ from run to run: refer to them, never write them out."
    calls = Suspect("witness", why)
    items = _named(draft, proofs)
    return [Suspect("check", why, items), calls] if items else [calls, Suspect("task", why)]


def _of_needless(draft: Draft, proofs: Sequence[Proof], found: Evidence) -> list[Suspect]:
    why = f"{_said(proofs)} Either the task does not ask for that call, or no question of the checklist does."
    return [Suspect("witness", why), Suspect("checklist", why)]


_REPLAYS = ("witness replayed",)
_BLAMELESS = ("rules hold along the witness", "witness replayed again")
"""What only the skeleton can be blamed for."""
_ACCUSERS: tuple[tuple[tuple[str, ...], Callable[[Draft, Sequence[Proof], Evidence], list[Suspect]]], ...] = (
    (("loads",), _of_state),
    (("something must survive",), _of_survival),
    (
        (
            "has a goal",
            "nothing done",
            "goals open, guards whole at reset",
            "database wiped",
            "garbage written",
            "checks always answer",
        ),
        _of_checks,
    ),
    (("witness replayed",), _of_witness),
    (("witness with another seed",), _of_seeds),
    (("leave one out",), _of_needless),
)
"""Trials in the order in which they are looked into, for what fails early makes the later ones fail."""


def _named(draft: Draft, proofs: Iterable[Proof]) -> tuple[str, ...]:
    """The questions that trials name."""
    text = _said(proofs)
    return tuple(item for item in draft.checks if item in text)


def _said(proofs: Iterable[Proof]) -> str:
    return "\n".join(f"{proof.name}: {proof.detail}" for proof in proofs)


def _unmet(checks: Sequence[Outcome], strays: Sequence[Outcome]) -> str:
    """What is wrong after the witness, in words that fit the author of calls, check and checklist alike."""
    lines = [
        f"After calls that were meant to solve the task, the {outcome.kind} {outcome.item!r} says "
        f"{'nothing' if outcome.passed is None else outcome.passed}. {outcome.note}".strip()
        for outcome in checks
    ]
    lines += [f"They also changed what may_change does not name: {outcome.note}" for outcome in strays]
    return "\n".join(lines)


def _as_played(draft: Draft, why: str) -> str:
    """The evidence with the calls: their author was told, and stays by them."""
    calls = "\n".join(f"{number}. {shown(call)}" for number, call in enumerate(draft.witness))
    return f"{why}\nThe calls were:\n{calls}"


# Tools


def faulty_tools(draft: Draft, found: Evidence) -> list[Finding]:
    """What execution alone shows of the tools that were called: raised, hung, or a rule broken. Errors, all of them."""
    findings = [
        _finding(
            "tool-fault",
            "error",
            found,
            place,
            f"{found.calls[place].tool} failed instead of replying: {what}",
        )
        for place, what in found.faults
        if place < len(found.calls)
    ]
    changes = [
        (
            found.states[place],
            found.states[place + 1],
            {**call.model_dump(mode="json"), "reply": found.replies[place]},
        )
        for place, call in enumerate(found.calls)
    ]
    broken = all_broken_invariants(draft.skeleton.rules, changes)
    for place, breaches in enumerate(broken):
        findings += [
            _finding("invariant", "error", found, place, breach.message)
            for breach in breaches
            if breach.kind == "invariant"
        ]
    return findings


def doubtful_tools(draft: Draft, written: Sequence[Call], found: Evidence) -> list[Finding]:
    """The tools that a contradiction concerns which none of the authors gives up, likeliest first; warnings.

    Args:
        draft: with its checks.
        written: the calls as their author wrote them, with references.
        found: how they went.
    """
    places = list(dict.fromkeys(_contradictions(draft, written, found)))
    why = refusal(written, found.played) if found.refused is not None else _unmet(
        [o for o in found.outcomes if not o.passed and o.item != BYSTANDERS],
        [o for o in found.outcomes if not o.passed and o.item == BYSTANDERS],
    )  # fmt: skip
    known = {tool.name for tool in draft.skeleton.tools}
    findings: dict[str, Finding] = {}
    for place in places:
        tool = found.calls[place].tool
        if tool in known and tool not in findings:
            message = f"Either {tool} does not do what it says, or it is misunderstood. {why}"
            findings[tool] = _finding(IN_DOUBT, "warning", found, place, message)
    return list(findings.values())[:MOST_DOUBTS]


def _contradictions(draft: Draft, written: Sequence[Call], found: Evidence) -> Iterator[int]:
    """The calls that a refusal, an open goal or a stray change goes back to."""
    if found.refused is not None:
        yield found.refused
        yield from _feeding(found.refused, written, found)
        yield from _touching(found.refused, found)
        return
    for outcome in found.outcomes:
        if outcome.passed:
            continue
        check = draft.checks.get(outcome.item)
        concerned = _concerned(check, draft, found) if check else _straying(outcome, found)
        yield from concerned
        for place in concerned:
            yield from _feeding(place, written, found)


def _concerned(check: Check, draft: Draft, found: Evidence) -> list[int]:
    """Calls of tools that change something, which name or changed a record the check names, or its table."""
    writes = {tool.name for tool in draft.skeleton.tools if tool.mutates}
    named = {text for text in re.findall(r"['\"]([^'\"\n]+)['\"]", check.source) if len(text) > 1}
    near, far = [], []
    for place, call in enumerate(found.calls):
        paths = [tuple(map(unescaped, where.partition("/")[::2])) for where in found.diffs[place]]
        if call.tool not in writes and not paths:
            continue
        if set(_texts(call.arguments)) & named or {key for _, key in paths} & named:
            near.append(place)
        elif {table for table, _ in paths} & named:
            far.append(place)
    return near or far


def _straying(outcome: Outcome, found: Evidence) -> list[int]:
    return [
        place for place, changed in enumerate(found.diffs) if any(where in outcome.note for where in changed)
    ]


def _feeding(place: int, written: Sequence[Call], found: Evidence) -> Iterator[int]:
    """Earlier calls whose replies a call's arguments were taken from, by reference or, as it seems, by hand."""
    sources = [way[0] for way in references(written[place].arguments) if isinstance(way, list) and way]
    sources += [
        told
        for value in _texts(written[place].arguments)
        if (told := where_told(value, found.replies[:place])) is not None
    ]
    for source in sources:
        if isinstance(source, int) and 0 <= source < place:
            yield source
            yield from _feeding(source, written, found)


def _touching(place: int, found: Evidence) -> Iterator[int]:
    """Earlier calls that changed a record which this one names."""
    named = set(_texts(found.calls[place].arguments))
    for earlier in range(place):
        if any(unescaped(where.partition("/")[2]) in named for where in found.diffs[earlier]):
            yield earlier


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _finding(kind: str, severity: str, found: Evidence, place: int, message: str) -> Finding:
    call = found.calls[place]
    evidence: dict[str, Json] = {
        "call": {"tool": call.tool, "arguments": call.arguments},
        "reply": found.replies[place],
        "diff": found.diffs[place],
        "before": found.states[place],
    }
    return Finding(kind=kind, severity=severity, where=call.tool, message=message, evidence=evidence)  # type: ignore[arg-type]
