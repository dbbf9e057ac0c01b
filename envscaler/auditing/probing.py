"""Probing: the rounds of an audit. One version of a skeleton lies on the bench, and calls are made and
judged.

    which tool is due → tester chooses a call → call → invariants → checker → trial

The state rolls on from call to call; a call that broke a rule is undone, so that one fault does not spoil the
probes after it. The tester is shown what a caller of the tools knows, the checker the code as well. A tester or
checker that answers nonsense costs its round, which is skipped and counted. What becomes of the trials is the
business of `audits`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jsonschema import Draft202012Validator

from envscaler.auditing.starting import broken_rules
from envscaler.error import EnvironmentLost, PartRefused, ReplyError
from envscaler.model.ask import ask
from envscaler.model.request import Model
from envscaler.model.revise import ask_usable
from envscaler.schema import Finding, Intent, Json, Part, Probe, Skeleton, Tool, Verdict, canonical
from envscaler.skeletons import tools_to_show
from envscaler.world.check import broken_invariants
from envscaler.world.environment import Environment
from envscaler.world.source import parse_class

INTENTS: tuple[Intent, ...] = ("positive", "boundary", "negative")
PER_TOOL = 10
"""Probes a tool gets at most, unless more are asked for."""


class Choice(Part):
    """The call a tester chose."""

    thought: str
    """Why this one."""
    tool: str
    """The tool to call."""
    intent: Intent
    """What it ought to show."""
    arguments: dict[str, Json]
    """Its arguments."""


class Judgement(Part):
    """What a checker says of one call."""

    analysis: str
    """What it saw."""
    verdict: Verdict
    """pass, warning or fail."""
    reason: str
    """What is wrong; empty for a pass."""


@dataclass(frozen=True)
class Trial:
    """A probe with what is needed to make it again."""

    probe: Probe
    """The call and the verdict."""
    before: dict[str, Json]
    """The state it was made in."""
    findings: tuple[Finding, ...] = ()
    """What execution alone shows: the rules it broke, that the tool raised or hung."""


class Bench:
    """One version of a skeleton, and who tries it.

    Args:
        skeleton: the version.
        state: where the first call of a roll is made.
        model: tester and checker.
        seed: of the environment, the balancing and the samples.
        loose: texts of rules that are not held against a tool, because the initial state breaks them already.
        asked: rounds made before, so that no sample is asked for twice.
        per_tool: probes a tool gets at most in one roll; rounds that find no place are not made.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        state: dict[str, Json],
        model: Model,
        seed: int,
        *,
        loose: frozenset[str] = frozenset(),
        asked: int = 0,
        per_tool: int = PER_TOOL,
    ) -> None:
        self.skeleton, self.state, self.model, self.seed = skeleton, state, model, seed
        self.loose, self.asked, self.skipped, self.per_tool = loose, asked, 0, per_tool
        self._code = parse_class(skeleton.source, skeleton.class_name)
        self._rules = [rule for rule in skeleton.rules if rule.invariant and rule.text not in loose]
        self._schemas = {tool.name: Draft202012Validator(tool.parameters) for tool in skeleton.tools}

    def method(self, tool: str) -> str:
        """The source of one tool."""
        return self._code.methods[tool].source

    def roll(self, rounds: int, tools: Iterable[str] | None = None) -> list[Trial]:
        """Make probes; the state rolls on from one to the next.

        Args:
            rounds: how many, as far as `per_tool` leaves room for them.
            tools: the tools to try; None for all.
        """
        wanted = None if tools is None else set(tools)
        tried = [t for t in self.skeleton.tools if wanted is None or t.name in wanted]
        plan = Plan(tried, self.seed + self.asked, self.per_tool)
        trials: list[Trial] = []
        with _Place(self.skeleton, self.state, self.seed) as place:
            for _ in range(min(rounds, len(tried) * self.per_tool)):
                choice = self._choose(plan, place.environment.state, trials)
                trial = self._try(place, choice) if choice else None
                self.asked += 1
                if trial:
                    trials.append(trial)
                else:
                    self.skipped += 1
        return trials

    def again(self, trials: Iterable[Trial]) -> list[Trial]:
        """Make the calls of these trials once more, each in the state it was made in."""
        made: list[Trial] = []
        for old in trials:
            choice = Choice(
                thought="", tool=old.probe.tool, intent=old.probe.intent, arguments=old.probe.arguments
            )
            with _Place(self.skeleton, old.before, self.seed) as place:
                trial = self._try(place, choice)
            self.asked += 1
            if trial:
                made.append(trial)
            else:
                self.skipped += 1
        return made

    def verdict(self, probe: Probe, before: dict[str, Json], after: dict[str, Json]) -> tuple[Verdict, str]:
        """Verdict and reason of a call that somebody else made: a rule it broke, else what the checker says.

        Raises:
            ReplyError: the checker said nothing usable.
        """
        call = {"tool": probe.tool, "arguments": probe.arguments, "reply": probe.reply}
        broken = self._broken(before, after, call, probe.diff)
        choice = Choice(thought="", tool=probe.tool, intent=probe.intent, arguments=probe.arguments)
        judgement = self._judge(choice, before, after, probe.diff, probe.reply)
        if judgement is None:
            raise ReplyError(
                f"Expected a verdict on {probe.tool} from {self.model.name}, got nothing usable."
            )
        made = _probe(choice, probe.reply, probe.diff, judgement, broken)
        return made.verdict, made.reason

    def _sample(self) -> int:
        return self.seed * 10_000 + self.asked

    def _choose(self, plan: "Plan", state: dict[str, Json], trials: list[Trial]) -> Choice | None:
        probes = [trial.probe for trial in trials]
        variables = {
            "summary": self.skeleton.summary,
            "tools": tools_to_show(self.skeleton),
            "state": state,
            "counts": _table(counts_by_tool(probes, [tool.name for tool in self.skeleton.tools])),
            "suggestion": plan.suggest(probes),
        }
        try:
            return ask_usable(
                self.model,
                "audits/probe",
                variables,
                Choice,
                lambda choice: self._choice_problem(choice, plan),
                sample=self._sample(),
                tries=2,
                parses=2,
            )
        except (PartRefused, ReplyError):
            return None

    def _choice_problem(self, choice: Choice, plan: "Plan") -> str:
        if choice.tool not in self._schemas:
            return f"There is no tool {choice.tool!r}."
        if choice.tool not in plan.open:
            return f"{choice.tool} has been tried often enough; choose {', '.join(sorted(plan.open))}."
        wrong = next(iter(self._schemas[choice.tool].iter_errors(choice.arguments)), None)
        return f"The arguments do not have the types of the schema: {wrong.message}" if wrong else ""

    def _try(self, place: "_Place", choice: Choice) -> Trial | None:
        """Make one call and have it judged; None when the checker had nothing usable to say."""
        environment, before, mark = place.environment, place.environment.state, place.environment.snapshot()
        try:
            reply = environment.call(choice.tool, choice.arguments)
        except EnvironmentLost as error:
            place.reopen(before)
            return _fault(choice, None, before, str(error))
        after, diff = environment.state, environment.diff
        call = {"tool": choice.tool, "arguments": choice.arguments, "reply": reply}
        if environment.faults:
            return _fault(choice, reply, before, canonical(environment.faults))
        broken = self._broken(before, after, call, diff)
        if broken:
            environment.restore(mark)
        judgement = self._judge(choice, before, after, diff, reply)
        return Trial(_probe(choice, reply, diff, judgement, broken), before, broken) if judgement else None

    def _broken(
        self, before: dict[str, Json], after: dict[str, Json], call: dict[str, Json], diff: dict[str, Json]
    ) -> tuple[Finding, ...]:
        """The rules that a call broke, with the call as evidence; an invariant that cannot say is no proof."""
        # Where nothing changed, only a rule that looks at the call itself can be broken (its first mention of
        # `call` is the parameter).
        rules = self._rules if diff else [r for r in self._rules if (r.invariant or "").count("call") > 1]
        found = broken_invariants(rules, before, after, call)
        told = {"where": call["tool"], "evidence": {"call": call, "diff": diff}}
        return tuple(finding.model_copy(update=told) for finding in found if finding.kind == "invariant")

    def _judge(self, choice: Choice, before: Json, after: Json, diff: Json, reply: Json) -> Judgement | None:
        variables = {
            "summary": self.skeleton.summary,
            "rules": [rule.text for rule in self.skeleton.rules],
            "class_source": self._code.head,
            "tool_source": self.method(choice.tool),
            "call": {"tool": choice.tool, "arguments": choice.arguments, "intent": choice.intent},
            "before": before,
            "after": after,
            "diff": diff,
            "reply": reply,
        }
        try:
            return ask(self.model, "audits/judge", variables, Judgement, sample=self._sample(), tries=2)
        except ReplyError:
            return None


def judge_by(
    model: Model, *, seed: int = 0
) -> Callable[[Skeleton, Probe, dict[str, Json], dict[str, Json]], tuple[Verdict, str]]:
    """Who judges probes that are made again, as the inspector takes one: the rules, then a model as checker.

    Args:
        model: the checker.
        seed: of the samples.

    Returns:
        Verdict and reason of a probe, given the skeleton it ran in and the states before and after it.
    """

    def judge(
        skeleton: Skeleton, probe: Probe, before: dict[str, Json], after: dict[str, Json]
    ) -> tuple[Verdict, str]:
        # A rule that was broken before the call is not the call's fault.
        loose = frozenset(rule.text for rule in skeleton.rules if broken_rules([rule], before))
        return Bench(skeleton, before, model, seed, loose=loose).verdict(probe, before, after)

    return judge


class _Place:
    """An environment that is opened anew when a tool took it down."""

    def __init__(self, skeleton: Skeleton, state: dict[str, Json], seed: int) -> None:
        self._skeleton, self._seed = skeleton, seed
        self.environment = self._open(state)

    def _open(self, state: dict[str, Json]) -> Environment:
        environment = Environment(self._skeleton, state, seed=self._seed)
        environment.reset(seed=self._seed)
        return environment

    def reopen(self, state: dict[str, Json]) -> None:
        self.environment.close()
        self.environment = self._open(state)

    def __enter__(self) -> "_Place":
        return self

    def __exit__(self, *_: object) -> None:
        self.environment.close()


class Plan:
    """Which tool and intent are due: the tool suggested least, with the intent least suggested for it, then at all."""

    def __init__(self, tools: Sequence[Tool], seed: int, per_tool: int = PER_TOOL) -> None:
        # A shuffled order, so that reads and writes alternate and no tool is always the first.
        order = np.random.default_rng(seed).permutation(len(tools))
        self.tools = [tools[place] for place in order]
        self._per_tool = per_tool
        self.open = {tool.name for tool in tools}
        self._made: Counter[tuple[str, str]] = Counter()

    def suggest(self, probes: Sequence[Probe]) -> dict[str, str]:
        """The tool and intent that are due after these probes."""
        total = Counter(probe.tool for probe in probes)
        self.open = {tool.name for tool in self.tools if total[tool.name] < self._per_tool}
        due = min((t for t in self.tools if t.name in self.open), key=lambda t: self._turns(t.name))
        # Without parameters there is nothing to be at the edge of, and nothing to refuse.
        intents = INTENTS if due.parameters.get("properties") else INTENTS[:1]
        # Fewest for the tool, then fewest of all: an audit too short for three turns a tool still has all intents.
        intent = min(intents, key=lambda name: (self._made[due.name, name], self._of_all(name)))
        self._made[due.name, intent] += 1
        return {"tool": due.name, "intent": intent}

    def _turns(self, tool: str) -> int:
        return sum(self._made[tool, intent] for intent in INTENTS)

    def _of_all(self, intent: str) -> int:
        return sum(made for (_, name), made in self._made.items() if name == intent)


def _fault(choice: Choice, reply: Json, before: dict[str, Json], what: str) -> Trial:
    """A trial whose tool raised, hung or crashed; there is nothing left for a checker to judge."""
    message = f"{choice.tool} failed instead of replying: {what}"
    evidence = {"arguments": choice.arguments, "intent": choice.intent}
    finding = Finding(
        kind="tool-fault", severity="error", where=choice.tool, message=message, evidence=evidence
    )
    judgement = Judgement(analysis="", verdict="fail", reason="")
    return Trial(_probe(choice, reply, {}, judgement, [finding]), before, (finding,))


def counts_by_tool(probes: Sequence[Probe], tools: Iterable[str] = ()) -> pd.DataFrame:
    """The table tool | total | positive | boundary | negative | pass | warning | fail, a row a tool.

    Args:
        probes: the probes of an audit.
        tools: tools that get a row also without probes, first and in this order.
    """
    columns = ("total", *INTENTS, "pass", "warning", "fail")
    names = list(dict.fromkeys([*tools, *(probe.tool for probe in probes)]))
    count = Counter((p.tool, column) for p in probes for column in ("total", p.intent, p.verdict))
    rows = [[count[name, column] for column in columns] for name in names]
    return pd.DataFrame(rows, index=pd.Index(names, name="tool"), columns=list(columns))


def _table(counts: pd.DataFrame) -> str:
    """The counts as lines of text, the way the tester reads them."""
    head = "Tool | " + " | ".join(counts.columns)
    return "\n".join([head, *(f"{row[0]} | " + " | ".join(map(str, row[1:])) for row in counts.itertuples())])


def _probe(
    choice: Choice, reply: Json, diff: Json, judgement: Judgement, findings: Sequence[Finding]
) -> Probe:
    """The record; what execution found makes it a fail, whatever the checker says."""
    reasons = [judgement.reason, *(finding.message for finding in findings)]
    return Probe(
        tool=choice.tool,
        arguments=choice.arguments,
        intent=choice.intent,
        reply=reply,
        diff=diff,
        verdict="fail" if findings else judgement.verdict,
        reason=" ".join(reason for reason in reasons if reason),
    )
