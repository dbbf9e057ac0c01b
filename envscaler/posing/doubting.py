"""Doubting: what a scenario that cannot be certified shows of the tools of its skeleton.

What execution alone shows (a tool raised, hung, broke a rule) is an error. A tool is only in doubt, a warning, where
the authors of the task, its checks and its calls keep expecting of it what it does not do: one of them is wrong, and
nobody can see from outside which. A rule whose invariant cannot say whether it holds is doubted itself. Every finding
holds the call, its reply, what it changed and the state it was made in, so that it can be made again, and the whole
scenario it stood in the way of, so that another version can be asked for that. Scenarios never mend a tool:
`auditing.repair` takes it to its author.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from envscaler.error import EnvironmentLost, ParameterError
from envscaler.posing.drafting import Draft
from envscaler.posing.solving import where_told
from envscaler.posing.vetting import refusal
from envscaler.record import canonical, references
from envscaler.schema import Call, Check, Finding, Json, Outcome, Scenario, Severity
from envscaler.world.change import Diff, State, same, unescaped
from envscaler.world.check import BYSTANDERS, all_broken_invariants, grade
from envscaler.world.environment import Environment
from envscaler.world.proving.shape import leaves
from envscaler.world.witness import Played, resolve, succeeded

IN_DOUBT = "tool-in-doubt"
MOST_DOUBTS = 6
"""Tools that one contradiction puts in doubt at most."""
_OF_SCENARIO = frozenset({"skeleton_id", "initial_state", "task", "checks", "may_change", "witness"})


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
    scenario: Scenario | None = None
    """What the draft is with these calls; None while it lacks a check."""
    seed: int = 0
    """Of the environment."""

    @property
    def played(self) -> Played:
        """The same in the form of a play."""
        return Played(self.replies, self.calls, self.diffs, self.refused)


def evidence_of(draft: Draft, calls: Sequence[Call]) -> Evidence:
    """Make the calls of a draft, and write down what happens."""
    found = Evidence(seed=draft.seed, scenario=draft.scenario(calls) if draft.has("check") else None)
    with Environment(draft.skeleton, draft.state, seed=draft.seed) as environment:
        environment.reset(seed=draft.seed)
        found.states.append(environment.state)
        try:
            for written in calls:
                _make(environment, written, found)
        except EnvironmentLost as lost:
            found.faults.append((len(found.replies), str(lost)))
    if made := found.scenario:
        found.outcomes = grade(made.checks, found.states[0], found.states[-1], made.may_change)
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


def unmet_in_words(outcomes: Sequence[Outcome]) -> str:
    """What is wrong after the calls, in words that fit the author of calls, check and checklist alike."""
    lines = []
    for outcome in outcomes:
        if not outcome.passed and outcome.item == BYSTANDERS:
            lines.append(f"They also changed what may_change does not name: {outcome.note}")
        elif not outcome.passed:
            says = "nothing" if outcome.passed is None else outcome.passed
            said = f"the {outcome.kind} {outcome.item!r} says {says}. {outcome.note}".strip()
            lines.append(f"After calls that were meant to solve the task, {said}")
    return "\n".join(lines)


def faulty_tools(draft: Draft, found: Evidence) -> list[Finding]:
    """What execution alone shows: tools that raised, hung or broke a rule, and rules that cannot say (a warning)."""
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
    dumb: dict[str, Finding] = {}
    for place, breaches in enumerate(all_broken_invariants(draft.skeleton.rules, changes)):
        for breach in breaches:
            if breach.kind == "invariant":
                findings.append(_finding("invariant", "error", found, place, breach.message))
            elif breach.message not in dumb:
                # That a rule cannot say is no fault of the tool that was called.
                told = (breach.kind, breach.severity, found, place, breach.message)
                dumb[breach.message] = _finding(*told, where=breach.where)
    return [*findings, *dumb.values()]


def unsteady_tools(found: Evidence, again: Evidence) -> list[Finding]:
    """The first call whose reply or change is another one when everything is played again: an error."""
    for place, (one, other) in enumerate(zip(found.replies, again.replies, strict=False)):
        if not same(one, other) or not same(found.diffs[place], again.diffs[place]):
            message = f"{found.calls[place].tool} does not do the same when the same calls are made again."
            return [_finding("nondeterministic", "error", found, place, message)]
    return []


def doubtful_tools(draft: Draft, written: Sequence[Call], found: Evidence) -> list[Finding]:
    """The tools that a contradiction concerns which none of the authors gives up, likeliest first; warnings.

    Args:
        draft: with its checks.
        written: the calls as their author wrote them, with references.
        found: how they went.
    """
    places = list(dict.fromkeys(_contradictions(draft, written, found)))
    refused = found.refused is not None
    why = refusal(written, found.played) if refused else unmet_in_words(found.outcomes)
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
        yield from _touching(found.refused, draft, found)
        yield from _feeding(found.refused, written, found)
        # What was changed before may have led here too, the latest first.
        for place in reversed(range(found.refused)):
            if found.diffs[place]:
                yield place
                yield from _feeding(place, written, found)
        return
    for outcome in found.outcomes:
        if outcome.passed:
            continue
        check = draft.checks.get(outcome.item)
        near = concerned(check, draft, found) if check else _straying(outcome, found)
        yield from near
        for place in near:
            yield from _feeding(place, written, found)


def concerned(check: Check, draft: Draft, found: Evidence) -> list[int]:
    """Calls of tools that change something, which name or changed a record the check names, or its table."""
    named = literals(check)
    near, far = [], []
    for place, call in enumerate(found.calls):
        paths = [tuple(map(unescaped, where.partition("/")[::2])) for where in found.diffs[place]]
        if not paths and not _is_to_change(place, draft, found):
            continue
        if _texts(call.arguments) & named or {key for _, key in paths} & named:
            near.append(place)
        elif {table for table, _ in paths} & named:
            far.append(place)
    return near or far


def _is_to_change(place: int, draft: Draft, found: Evidence) -> bool:
    """Whether a call is of a tool that changes things by its code, or says by its reply that it did."""
    tool, reply = draft.skeleton.tool(found.calls[place].tool), found.replies[place]
    return (tool is not None and tool.mutates) or (isinstance(reply, dict) and "message" in reply)


def literals(check: Check) -> set[str]:
    """The texts that a check's code names."""
    return {text for text in re.findall(r"['\"]([^'\"\n]+)['\"]", check.source) if len(text) > 1}


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


def _touching(place: int, draft: Draft, found: Evidence) -> Iterator[int]:
    """Earlier calls that changed a record which this one names, or that were to change something and did not."""
    named = _texts(found.calls[place].arguments)
    for earlier in range(place):
        changed = found.diffs[earlier]
        idle = _is_to_change(earlier, draft, found) and not changed
        if idle or any(unescaped(where.partition("/")[2]) in named for where in changed):
            yield earlier


def _texts(value: Json) -> set[str]:
    return {part for _, part in leaves(value) if isinstance(part, str)}


def _finding(
    kind: str, severity: Severity, found: Evidence, place: int, message: str, where: str = ""
) -> Finding:
    call = found.calls[place]
    evidence: dict[str, Json] = {
        "call": {"tool": call.tool, "arguments": call.arguments},
        "reply": found.replies[place],
        "diff": found.diffs[place],
        "before": found.states[place],
        "seed": found.seed,
    }
    if found.scenario:
        evidence["scenario"] = found.scenario.model_dump(mode="json", include=set(_OF_SCENARIO))
    return Finding(kind=kind, severity=severity, where=where or call.tool, message=message, evidence=evidence)
