"""Repair: how a tool goes back to its author, and what decides whether the new one stays.

    evidence → author → does it load, same name, same parameters → does it fail less → skeleton with the new tool

The author sees the tool, its class, the rules and the evidence, whatever gathered it: probes of an audit, findings
of the referee, or a scenario that the tool stood in the way of. Only tools are rewritten, and nothing here says
whether the evidence is right: a tool that comes back as it was stays as it was.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from envscaler.error import EnvironmentLost, PartRefused, ReplyError, SourceError
from envscaler.model.reply import Code
from envscaler.model.request import Model
from envscaler.model.revise import ask_usable
from envscaler.probing import Bench, Trial
from envscaler.schema import Finding, Probe, Skeleton
from envscaler.skeletons import prove_it_loads
from envscaler.world.joining import replace_method
from envscaler.world.outline import method_problem, signature
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
    return "" if new.strip() == old.strip() else new


def _repair_problem(skeleton: Skeleton, tool: str, old: str, method: str) -> str:
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
