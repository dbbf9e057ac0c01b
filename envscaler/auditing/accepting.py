"""Accepting: whether another version of a tool is a better one, decided by execution.

To come out differently is no merit: so does a tool that always refuses, one that clears a table, and one that does
nothing and says that it did. A version is accepted when all of this holds, the cheapest looked at first:

* **It settles what speaks against the one before.** With it the scenario that the old one stood in the way of is
  certified, with the very calls and checks that failed: nothing less says that the task can be done, and pays for
  nothing else. Only a fault that execution shows by itself (a tool that raised, a rule that was broken) is settled
  without, for the scenario may have asked for what must not be: the call is then refused, or it changes something,
  and nothing but what the task may touch.
* **What was right is so still.** Calls that passed in the audit come out alike: what was refused is, what succeeded
  does, what changed something changes something, in no other way than before but where the scenario just certified
  shows that it belongs to the tool's work. Certified scenarios that use the tool are certified anew, and the referee
  finds no more errors.
* **It does something.** A tool that succeeds at nothing breaks no rule.

Versions of several tools are judged together as one: a scenario may meet two faults. Nobody's word counts for any of
it, and nothing is said about calls that nobody made.
"""

import random
import re
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, field

from envscaler.elsewhere import elsewhere
from envscaler.error import EnvironmentLost, ParameterError, SourceError
from envscaler.given import told
from envscaler.record import canonical, digest
from envscaler.schema import Audit, Certificate, Finding, Json, Probe, Scenario, Skeleton
from envscaler.world.certificate import certify
from envscaler.world.change import Diff, State, same
from envscaler.world.check import broken_invariants, bystanders
from envscaler.world.environment import Environment
from envscaler.world.referee import check_environment
from envscaler.world.source import parse_class
from envscaler.world.trials.trying import Hand, Values
from envscaler.world.witness import play, succeeded

_CALLS = 40
"""Calls at random by which a tool may show that it does something."""
Shape = Set[tuple[str, str]]
"""Tables, and whether rows were added, removed or changed."""


class Acceptance:
    """What the tools of one skeleton do rightly, and the version that is accepted so far; see the module.

    Args:
        skeleton: as it is.
        scenarios: certified ones of it.
        audit: its probes; None where there was none.
        seed: of what is tried, where a scenario does not name its own.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        scenarios: Iterable[Scenario] = (),
        audit: Audit | None = None,
        seed: int = 0,
    ) -> None:
        self.now = skeleton
        self._first, self._audit, self._seed = skeleton, audit, seed
        self._certified = [s for s in scenarios if s.certificate and s.certificate.valid]
        self._certificates: dict[tuple[str, str, int], Certificate] = {}
        self._errors: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
        self._probes: list[tuple[State, Probe]] | None = None

    def open(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those that some version could settle, and that the one there is now does not."""
        return [f for f in findings if _can_be_settled(f) and not self._settles(self.now, f)]

    def settled(self, attempt: Skeleton, findings: Iterable[Finding]) -> list[Finding]:
        """Those that another version settles."""
        return [finding for finding in findings if self._settles(attempt, finding)]

    def accept(
        self, attempt: Skeleton, tools: Collection[str], findings: Sequence[Finding]
    ) -> tuple[list[Finding], str]:
        """What a version settles, which is the one there is from now on; or nothing, and why it is not accepted.

        Args:
            attempt: the version.
            tools: those that are written anew in it.
            findings: open ones against them.
        """
        settled = self.settled(attempt, findings)
        why = self._undone(attempt, set(tools), settled) if settled else self._unsettled(attempt, findings)
        if why:
            return [], why
        self.now = attempt
        return settled, ""

    # What speaks against the version before

    def _settles(self, skeleton: Skeleton, finding: Finding) -> bool:
        scenario = scenario_of(finding)
        if scenario and self._certify(skeleton, scenario, _seed_of(finding)).valid:
            return True
        return finding.severity == "error" and self._is_gone(skeleton, finding, scenario)

    def _certify(self, skeleton: Skeleton, scenario: Scenario, seed: Json) -> Certificate:
        seed = seed if isinstance(seed, int) else self._seed
        key = (skeleton.id, scenario.id, seed)
        if key not in self._certificates:
            self._certificates[key] = elsewhere(certify, skeleton, scenario, seed=seed)
        return self._certificates[key]

    def _is_gone(self, skeleton: Skeleton, finding: Finding, scenario: Scenario | None) -> bool:
        """Whether a call that raised or broke a rule does so no more, and does nothing that it should not do."""
        before, call = finding.evidence.get("before"), finding.evidence["call"]
        if finding.kind not in ("tool-fault", "invariant") or not isinstance(before, dict):
            return False
        came = _call(skeleton, before, call["tool"], call["arguments"], self._seed)
        if came.fault:
            return False
        broken = broken_invariants(skeleton.rules, before, came.after, {**call, "reply": came.reply})
        if any(breach.kind == "invariant" for breach in broken):
            return False
        if not succeeded(came.reply):
            return not came.diff
        tool = self._first.tool(finding.where)
        if tool and tool.mutates and not came.diff:
            return False
        if scenario:
            return bool(bystanders(scenario.initial_state, came.after, scenario.may_change).passed)
        return shape(came.diff) <= shape(finding.evidence.get("diff") or {})

    def _unsettled(self, attempt: Skeleton, findings: Sequence[Finding]) -> str:
        scenario = scenario_of(findings[0]) if findings else None
        if scenario is None:
            return "The call that shows the fault shows it still."
        certificate = self._certify(attempt, scenario, _seed_of(findings[0]))
        return " ".join(["The scenario it stands in the way of still does.", *certificate.reasons[:2]])

    # What was right

    def _undone(self, attempt: Skeleton, tools: set[str], settled: Sequence[Finding]) -> str:
        """What a version spoils that was right before, or ""."""
        concerned = tools | users_of(attempt, tools)
        shown = [s for f in settled if (s := scenario_of(f)) and self._certify(attempt, s, _seed_of(f)).valid]
        work = work_of(attempt, shown, concerned, self._seed)
        probes = [(state, probe) for state, probe in self._passed() if probe.tool in concerned]
        for before, probe in probes:
            if why := changed_outcome(attempt, before, probe, work, seed=self._seed):
                return why
        using = [s for s in self._certified if concerned & {call.tool for call in s.witness}]
        succeeding = {call.tool for s in [*shown, *using] for call in s.witness}
        succeeding |= {probe.tool for _, probe in probes if succeeded(probe.reply)}
        state = settled[0].evidence.get("before")
        for tool in sorted(tools - succeeding):
            if not _succeeds(attempt, tool, state, self._seed):
                return f"{tool} succeeds at nothing that was tried."
        return self._worse(attempt, concerned, state) or self._no_more_certified(attempt, using)

    def _worse(self, attempt: Skeleton, tools: Collection[str], state: Json) -> str:
        """An error of the tools that the referee did not find before, or one more than there were."""
        was, now = self._referee(self.now, state), self._referee(attempt, state)
        new = [message for key, message in now.items() if key not in was and key[1] in tools]
        new += list(now.values())[-1:] if len(now) > len(was) else []
        return f"It gets more wrong than before: {new[0]}" if new else ""

    def _no_more_certified(self, attempt: Skeleton, scenarios: Iterable[Scenario]) -> str:
        for scenario in scenarios:
            certificate = self._certify(attempt, scenario, scenario.origin and scenario.origin.seed)
            if not certificate.valid:
                return f"A scenario that was certified is so no more. {certificate.reasons[0]}"
        return ""

    def _passed(self) -> list[tuple[State, Probe]]:
        if self._probes is None:
            self._probes = passed_probes(self._first, self._audit) if self._audit else []
        return self._probes

    def _referee(self, skeleton: Skeleton, state: Json) -> dict[tuple[str, str], str]:
        """The errors that the referee finds, in words, by kind and place."""
        key = (skeleton.id, digest(state))
        if key not in self._errors:
            found = elsewhere(check_environment, skeleton, state, seed=self._seed)
            self._errors[key] = {(f.kind, f.where): f.message for f in found if f.severity == "error"}
        return self._errors[key]


def _can_be_settled(finding: Finding) -> bool:
    """Whether a finding holds what it takes to try another version: a doubt, the scenario; an error, the call."""
    return "call" in finding.evidence and (finding.severity == "error" or "scenario" in finding.evidence)


def check_evidence(finding: Finding) -> None:
    """Raise `ParameterError` for evidence that no call, state or scenario can be read out of."""
    call, before = finding.evidence.get("call", {}), finding.evidence.get("before", {})
    of = f"the finding {finding.kind} against {finding.where}"
    whole = (
        isinstance(call, dict)
        and isinstance(call.get("tool"), str)
        and isinstance(call.get("arguments"), dict)
    )
    if "call" in finding.evidence and not whole:
        raise ParameterError(
            f"Expected the call of {of} as a tool and its arguments, got {canonical(call)[:60]}."
        )
    if not isinstance(before, dict | None):
        raise ParameterError(f"Expected the state before in {of} as a dict, got {told(before)}.")
    try:
        scenario_of(finding)
    except ValueError:
        held = told(finding.evidence["scenario"])
        raise ParameterError(f"Expected the scenario in {of} with all its fields, got {held}.") from None


def _seed_of(finding: Finding) -> Json:
    return finding.evidence.get("seed")


def scenario_of(finding: Finding) -> Scenario | None:
    """The scenario that a tool stood in the way of, where the finding holds it."""
    held = finding.evidence.get("scenario")
    return Scenario.model_validate(held) if held else None


def users_of(skeleton: Skeleton, tools: Collection[str]) -> set[str]:
    """Tools whose code calls one of these."""
    methods = parse_class(skeleton.source, skeleton.class_name).methods
    calls = re.compile(rf"self\.({'|'.join(map(re.escape, tools))})\(")
    return {tool.name for tool in skeleton.tools if calls.search(methods[tool.name].source)}


# Calls that were right


def passed_probes(skeleton: Skeleton, audit: Audit) -> list[tuple[State, Probe]]:
    """Probes that passed, each with the state it was made in, as far as they come out as they were written down.

    The probes of an audit roll on from one to the next, or begin anew where a repair came between; one that comes
    out otherwise was made somewhere else, and is no evidence.
    """
    found: list[tuple[State, Probe]] = []
    seed = (audit.origin and audit.origin.seed) or 0
    try:
        with Environment(skeleton, audit.initial_state, seed=seed) as environment:
            environment.reset()
            start = environment.snapshot(near=True)
            for probe in audit.probes:
                before = environment.view
                if not _comes_out(environment, probe):
                    environment.restore(start)
                    before = environment.view
                    if not _comes_out(environment, probe):
                        continue
                if probe.verdict == "pass":
                    found.append((before, probe))
    except (SourceError, EnvironmentLost, ParameterError):
        return found
    return found


def _comes_out(environment: Environment, probe: Probe) -> bool:
    reply = environment.call(probe.tool, probe.arguments)
    return same(reply, probe.reply) and same(environment.diff, probe.diff)


def changed_outcome(
    skeleton: Skeleton, before: State, probe: Probe, work: Shape = frozenset(), *, seed: int = 0
) -> str:
    """What of a probe that passed is so no more, or "": refused or not, something changed or not, and where.

    Args:
        skeleton: with another version of the tool.
        before: the state it was made in.
        probe: the probe.
        work: what is known to belong to the tool's work besides.
        seed: of the environment.
    """
    call, was = f"{probe.tool}({canonical(probe.arguments)})", succeeded(probe.reply)
    came = _call(skeleton, before, probe.tool, probe.arguments, seed)
    if came.fault or succeeded(came.reply) is not was:
        said = "succeeded" if was else "was refused"
        return f"{call} {said} before, and rightly; now it replies {came.fault or canonical(came.reply)}"
    if probe.diff and not came.diff:
        return f"{call} changed {', '.join(probe.diff)} before, and rightly; now it changes nothing."
    stray = sorted(shape(came.diff) - shape(probe.diff) - work)
    return f"{call} now has also rows {stray[0][1]} in {stray[0][0]}." if stray else ""


@dataclass(frozen=True)
class _Came:
    """What came of a call."""

    reply: Json = None
    diff: Diff = field(default_factory=dict)
    after: State = field(default_factory=dict)
    fault: str = ""


def _call(skeleton: Skeleton, before: State, tool: str, arguments: Json, seed: int) -> _Came:
    """A call that is made in a state of its own."""
    try:
        with Environment(skeleton, before, seed=seed) as environment:
            environment.reset()
            reply = environment.call(tool, arguments)
            faults = canonical(environment.faults) if environment.faults else ""
            return _Came(reply, environment.diff, environment.state, faults)
    except (SourceError, EnvironmentLost, ParameterError) as error:
        return _Came(fault=str(error))


def shape(changed: Diff) -> set[tuple[str, str]]:
    """In which tables rows were added, removed or changed."""
    return {(where.partition("/")[0], how) for where, change in changed.items() for how in change}


def work_of(skeleton: Skeleton, scenarios: Iterable[Scenario], tools: Collection[str], seed: int) -> Shape:
    """What tools change in scenarios that are certified."""
    work: set[tuple[str, str]] = set()
    for scenario in scenarios:
        with Environment(skeleton, scenario, seed=seed) as environment:
            environment.reset()
            played = play(environment, scenario.witness)
        for call, changed in zip(played.calls, played.diffs, strict=True):
            work |= shape(changed) if call.tool in tools else set()
    return work


def _succeeds(skeleton: Skeleton, tool: str, state: Json, seed: int) -> bool:
    """Whether a tool succeeds at one of some calls at random."""
    described = skeleton.tool(tool)
    assert described is not None
    with Environment(skeleton, state, seed=seed) as environment:
        environment.reset()
        hand = Hand(described, Values(environment.state), random.Random(seed))
        for _ in range(_CALLS):
            reply, _, _ = environment.attempt(tool, hand.fresh())
            if succeeded(reply) or environment.hung:
                return not environment.hung
    return False
