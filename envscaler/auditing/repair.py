"""Repair: how a tool goes back to its author, and what decides whether the new one stays.

    evidence → author → does it load, same name, same parameters → does it fail less → skeleton with the new tool

The author sees the tool, its class, the rules and the evidence, whatever gathered it: probes of an audit, findings
of the referee, or a scenario that the tool stood in the way of. Only tools are rewritten, and nothing here says
whether the evidence is right: a tool that comes back as it was stays as it was.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from envscaler.auditing.probing import Bench, Trial
from envscaler.error import EnvironmentLost, ParameterError, PartRefused, ReplyError, SourceError
from envscaler.model.reply import Code
from envscaler.model.request import Model
from envscaler.model.revise import ask_usable
from envscaler.parallel import run_all, several
from envscaler.record import as_dict
from envscaler.schema import Failure, Finding, Json, Probe, Skeleton, canonical
from envscaler.skeletons import prove_it_loads
from envscaler.store import Records
from envscaler.world.environment import Environment
from envscaler.world.joining import replace_method
from envscaler.world.outline import method_in, method_problem, signature
from envscaler.world.referee import check_environment
from envscaler.world.source import parse_class, read_tools

_EVIDENCE = 4
"""Failing probes of a tool that its author is shown."""


def rewrite_tool(
    skeleton: Skeleton, tool: str, evidence: Sequence[Probe | Finding], model: Model, *, sample: int = 0
) -> str:
    """Another version of a tool by its author; "" when there is none that can be used, or it is the same.

    Args:
        skeleton: the class the tool is a method of.
        tool: its name.
        evidence: what shows the fault.
        model: the author.
        sample: index of the sample.
    """
    code = parse_class(skeleton.source, skeleton.class_name)
    old = code.methods[tool].source
    variables = {
        "summary": skeleton.summary,
        "rules": [rule.text for rule in skeleton.rules],
        "class_source": code.head,
        "tool_source": old,
        "evidence": list(evidence),
    }
    try:
        new = ask_usable(
            model,
            "audits/repair",
            variables,
            Code,
            lambda method: _repair_problem(skeleton, tool, old, method),
            sample=sample,
        )
    except (PartRefused, ReplyError):
        return ""
    written = method_in(new, tool, skeleton.source)
    return "" if written.strip() == old.strip() else written


def _repair_problem(skeleton: Skeleton, tool: str, old: str, method: str) -> str:
    method = method_in(method, tool, skeleton.source)
    if problem := method_problem(method, tool):
        return problem
    if signature(method) != signature(old):
        return f"The parameters of {tool} must stay ({signature(old)})."
    try:
        prove_it_loads(with_methods(skeleton, {tool: method}))
    except (SourceError, EnvironmentLost) as error:
        return str(error)
    return ""


def with_methods(skeleton: Skeleton, methods: Mapping[str, str]) -> Skeleton:
    """The skeleton with other methods in the place of those of the same names."""
    source = skeleton.source
    for method in methods.values():
        source = replace_method(source, skeleton.class_name, method)
    return skeleton.replace(source=source, tools=read_tools(source, skeleton.class_name))


# One round in an audit


def mend(
    bench: Bench, trials: list[Trial], found: list[Finding]
) -> tuple[Bench, list[Trial], list[Finding]] | None:
    """One round: failing tools are rewritten; those that fail less stay, probed anew. None for none."""
    failing = _failing(bench.skeleton, trials, found)
    written = {tool: method for tool in failing if (method := _rewritten(bench, tool, trials, found))}
    kept, anew = _better(bench, written, trials, found)
    if not kept:
        return None
    mended = _swap(bench, kept)
    touched = _touched(mended, kept)
    stay = [trial for trial in trials if trial.probe.tool not in touched]
    fresh = mended.roll(len(trials) - len(stay) - len(anew), touched)
    return mended, [*stay, *anew, *fresh], check_environment(mended.skeleton, mended.state, seed=mended.seed)


def _failing(skeleton: Skeleton, trials: list[Trial], found: list[Finding]) -> list[str]:
    bad = {trial.probe.tool for trial in trials if trial.probe.verdict == "fail"}
    bad |= {finding.where for finding in found if finding.severity == "error"}
    return [tool.name for tool in skeleton.tools if tool.name in bad]


def _rewritten(bench: Bench, tool: str, trials: list[Trial], found: list[Finding]) -> str:
    shown = [t.probe for t in trials if t.probe.tool == tool and t.probe.verdict == "fail"][:_EVIDENCE]
    evidence: list[Probe | Finding] = [*shown, *(finding for finding in found if finding.where == tool)]
    return rewrite_tool(bench.skeleton, tool, evidence, bench.model, sample=bench.seed)


def _better(
    bench: Bench, written: dict[str, str], trials: list[Trial], found: list[Finding]
) -> tuple[dict[str, str], list[Trial]]:
    """The rewritten tools that fail less than before, and their failing probes as they come out now.

    What counts is the probes that failed, made again, and what the referee found.
    """
    if not written:
        return {}, []
    attempt = _swap(bench, written)
    before = [trial for trial in trials if trial.probe.tool in written and trial.probe.verdict == "fail"]
    now = attempt.again(before)
    bench.asked, bench.skipped = attempt.asked, attempt.skipped
    found_now = check_environment(attempt.skeleton, bench.state, seed=bench.seed)
    was, became = _faults(before, found), _faults(now, found_now)
    kept = {tool: method for tool, method in written.items() if became[tool] < was[tool]}
    return kept, [trial for trial in now if trial.probe.tool in kept]


def _faults(trials: Iterable[Trial], found: Iterable[Finding]) -> Counter[str]:
    failing = Counter(trial.probe.tool for trial in trials if trial.probe.verdict == "fail")
    return failing + Counter(finding.where for finding in found if finding.severity == "error")


def _touched(bench: Bench, changed: Iterable[str]) -> set[str]:
    """Changed tools, and those whose code calls one: what was seen of them no longer counts."""
    names = set(changed)
    calls = re.compile(rf"self\.({'|'.join(map(re.escape, names))})\(")
    return names | {tool.name for tool in bench.skeleton.tools if calls.search(bench.method(tool.name))}


def _swap(bench: Bench, methods: dict[str, str]) -> Bench:
    skeleton = with_methods(bench.skeleton, methods)
    swapped = Bench(skeleton, bench.state, bench.model, bench.seed, loose=bench.loose, asked=bench.asked)
    swapped.skipped = bench.skipped
    return swapped


# Beyond an audit: tools that scenarios speak against


def mend_skeletons(
    skeletons: Iterable[Skeleton],
    failures: Iterable[Failure],
    model: Model,
    *,
    tries: int = 2,
    seed: int = 0,
    progress: bool = True,
) -> Records[Skeleton]:
    """Take the tools that failures have findings against to their author; the skeletons, mended where it helps.

    A new tool stays only when the class loads, the call that speaks against the old one comes out differently, and
    the referee finds no more errors than before. A skeleton with none is returned as it was. What was mended stands
    in `extra["mended"]`: the id of the skeleton before, and by tool what was told against it.

    Args:
        skeletons: the worlds.
        failures: with findings; those of `build_scenarios`, for instance.
        model: the author.
        tries: how often a tool is asked for until it comes back changed.
        seed: of the environment and the samples.
        progress: whether to show a bar.
    """
    against: dict[str, dict[str, list[Finding]]] = {}
    for failure in failures:
        for finding in failure.findings:
            against.setdefault(failure.parent_id, {}).setdefault(finding.where, []).append(finding)
    worlds = several(skeletons)
    new: dict[str, Skeleton] = {}

    def mend_one(skeleton: Skeleton) -> Skeleton:
        new[skeleton.id] = _mended(skeleton, against[skeleton.id], model, tries, seed)
        return new[skeleton.id]

    spoken_of = [skeleton for skeleton in worlds if skeleton.id in against]
    made = run_all(mend_one, spoken_of, stage="mending", workers=model.workers, progress=progress)
    return Records([new.get(skeleton.id, skeleton) for skeleton in worlds], made.failures)


def _mended(
    skeleton: Skeleton, against: Mapping[str, list[Finding]], model: Model, tries: int, seed: int
) -> Skeleton:
    mended, told = skeleton, {}
    for tool, findings in against.items():
        if skeleton.tool(tool) is None:
            continue
        for number in range(tries):
            sample = seed * 10_000 + number
            method = rewrite_tool(
                mended, tool, [_shown(f) for f in findings[:_EVIDENCE]], model, sample=sample
            )
            attempt = with_methods(mended, {tool: method}) if method else None
            if attempt and _helps(attempt, mended, findings, seed):
                mended, told[tool] = attempt, [finding.message for finding in findings[:_EVIDENCE]]
                break
    if mended is skeleton:
        return skeleton
    # Mended once more, it is still made from the first one.
    before = skeleton.extra.get("mended", {"from": skeleton.id, "tools": {}})
    tools = {**before["tools"], **told}
    return mended.replace(extra={**skeleton.extra, "mended": {"from": before["from"], "tools": tools}})


def _helps(attempt: Skeleton, before: Skeleton, findings: Sequence[Finding], seed: int) -> bool:
    """Whether one of the calls that speak against a tool comes out differently, and the referee finds no more."""
    if all(_outcome(attempt, finding, seed) == _outcome(before, finding, seed) for finding in findings):
        return False
    state = findings[0].evidence.get("before")
    was, now = (_errors(check_environment(one, state, seed=seed)) for one in (before, attempt))
    return now <= was


def _outcome(skeleton: Skeleton, finding: Finding, seed: int) -> Json:
    """Reply, change and faults of the call that a finding tells of, made again."""
    call = finding.evidence.get("call") or {}
    try:
        with Environment(skeleton, finding.evidence.get("before"), seed=seed) as environment:
            environment.reset(seed=seed)
            reply = environment.call(call.get("tool", finding.where), call.get("arguments", {}))
            return [reply, environment.diff, [fault["kind"] for fault in environment.faults]]
    except (SourceError, EnvironmentLost, ParameterError) as error:
        return str(error)


def _errors(found: Iterable[Finding]) -> int:
    return sum(finding.severity == "error" for finding in found)


def _shown(finding: Finding) -> Finding:
    """The finding with the records the call speaks of in the place of the whole state."""
    before = as_dict(finding.evidence.get("before"))
    spoken = canonical([finding.evidence.get("call"), finding.evidence.get("reply")])
    rows = {
        f"{table}/{key}": row
        for table, records in before.items()
        if isinstance(records, dict)
        for key, row in records.items()
        if canonical(key) in spoken
    }
    evidence = {name: value for name, value in finding.evidence.items() if name != "before"}
    return finding.model_copy(update={"evidence": {**evidence, "records before": rows}})
