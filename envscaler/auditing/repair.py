"""Repair: how a tool goes back to its author, and what decides whether the new one stays.

    evidence → author → does it load, same name, same parameters → is it better → skeleton with the new tool

The author sees the tool, its class, the rules and the evidence, whatever gathered it: probes of an audit, findings
of the referee, or a scenario that the tool stood in the way of. Only tools are rewritten, and a tool that comes back
as it was stays as it was. In an audit better is what fails less and spoils nothing; beyond it `accepting` decides.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from envscaler import syntax
from envscaler.auditing.accepting import Acceptance, changed_outcome, check_evidence, shape, users_of
from envscaler.auditing.probing import Bench, Trial
from envscaler.elsewhere import elsewhere
from envscaler.error import EnvironmentLost, PartRefused, ReplyError, SourceError
from envscaler.given import at_least, many
from envscaler.model.reply import Code
from envscaler.model.request import Model
from envscaler.model.revise import ask_usable
from envscaler.model.revise import told as given_back
from envscaler.parallel import run_all, several
from envscaler.record import as_dict
from envscaler.schema import Audit, Failure, Finding, Probe, Scenario, Skeleton, canonical
from envscaler.skeletons import prove_it_loads
from envscaler.store import Records
from envscaler.world.joining import replace_method
from envscaler.world.outline import method_in, method_problem, signature
from envscaler.world.referee import check_environment
from envscaler.world.source import parse_class, read_tools
from envscaler.world.witness import succeeded

_EVIDENCE = 4
"""Failing probes of a tool that its author is shown."""


def rewrite_tool(
    skeleton: Skeleton,
    tool: str,
    evidence: Sequence[Probe | Finding],
    model: Model,
    *,
    sample: int = 0,
    feedback: str = "",
) -> str:
    """Another version of a tool by its author; "" when there is none that can be used, or it is the same.

    Args:
        skeleton: the class the tool is a method of.
        tool: its name.
        evidence: what shows the fault.
        model: the author.
        sample: index of the sample.
        feedback: why the version before was not accepted, where there was one.
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
            feedback=feedback,
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
        new = with_methods(skeleton, {tool: method})
        if _rest(new, tool) != _rest(skeleton, tool) or _sets_methods(skeleton, method):
            return (
                f"Nothing but {tool} may change: what it imports is imported inside it, and other tools stay."
            )
        prove_it_loads(new)
    except (SourceError, EnvironmentLost) as error:
        return str(error)
    return ""


def _rest(skeleton: Skeleton, tool: str) -> str:
    """What a source says but for one method."""
    tree = syntax.parse(skeleton.source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == skeleton.class_name:
            node.body = [part for part in node.body if getattr(part, "name", "") != tool]
    return ast.dump(tree)


def _sets_methods(skeleton: Skeleton, method: str) -> bool:
    """Whether a method puts something in the place of another one when it is called."""
    names = parse_class(skeleton.source, skeleton.class_name).methods
    return any(
        isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and node.attr in names
        for node in ast.walk(syntax.parse(method))
    )


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
    kept, anew, found_now = _better(bench, written, trials, found)
    if not kept:
        return None
    mended = _swap(bench, kept)
    if len(kept) < len(written):
        found_now = _referee(mended)
    touched = kept.keys() | users_of(mended.skeleton, kept)
    stay = [trial for trial in trials if trial.probe.tool not in touched]
    fresh = mended.roll(len(trials) - len(stay) - len(anew), touched)
    return mended, [*stay, *anew, *fresh], found_now


def _referee(bench: Bench) -> list[Finding]:
    return elsewhere(check_environment, bench.skeleton, bench.state, seed=bench.seed)


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
) -> tuple[dict[str, str], list[Trial], list[Finding]]:
    """The rewritten tools that fail less than before, their failing probes as they come out now, and what the
    referee finds with all that were rewritten.

    What counts is the probes that failed, made again, what the referee found, and the probes that passed and come
    out otherwise now. A checker may have been wrong about one of them; but where a tool succeeded, it must still.
    """
    if not written:
        return {}, [], found
    attempt = _swap(bench, written)
    before = [trial for trial in trials if trial.probe.tool in written and trial.probe.verdict == "fail"]
    now = attempt.again(before)
    bench.asked, bench.skipped = attempt.asked, attempt.skipped
    found_now = _referee(attempt)
    passed = [trial for trial in trials if trial.probe.tool in written and trial.probe.verdict == "pass"]
    spoilt = _spoilt(attempt, passed, now)
    was, became = _faults(before, found), _faults(now, found_now)
    became.update(trial.probe.tool for trial in spoilt)
    kept_up = [trial for trial in passed if not any(trial is other for other in spoilt)]
    useless = _succeeding(passed) - _succeeding([*kept_up, *now])
    kept = {t: method for t, method in written.items() if became[t] < was[t] and t not in useless}
    return kept, [trial for trial in now if trial.probe.tool in kept], found_now


def _faults(trials: Iterable[Trial], found: Iterable[Finding]) -> Counter[str]:
    failing = Counter(trial.probe.tool for trial in trials if trial.probe.verdict == "fail")
    return failing + Counter(finding.where for finding in found if finding.severity == "error")


def _spoilt(attempt: Bench, passed: Iterable[Trial], now: Iterable[Trial]) -> list[Trial]:
    """The trials that passed and come out otherwise; what those change that pass now is their tools' work."""
    work: dict[str, set[tuple[str, str]]] = {}
    for trial in now:
        if trial.probe.verdict == "pass":
            work.setdefault(trial.probe.tool, set()).update(shape(trial.probe.diff))
    return [
        trial
        for trial in passed
        if changed_outcome(
            attempt.skeleton, trial.before, trial.probe, work.get(trial.probe.tool, set()), seed=attempt.seed
        )
    ]


def _succeeding(trials: Iterable[Trial]) -> set[str]:
    return {t.probe.tool for t in trials if t.probe.verdict != "fail" and succeeded(t.probe.reply)}


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
    scenarios: Iterable[Scenario] = (),
    audits: Iterable[Audit] = (),
    tries: int = 2,
    seed: int = 0,
    progress: bool = True,
) -> Records[Skeleton]:
    """Take the tools that failures have findings against to their author; the skeletons, mended where it helps.

    A new tool stays only when it is accepted by execution (`auditing.accepting` says by what, and why); one that is
    not goes back once more with the reason. Tools that are right only together are accepted together. A skeleton
    with none is returned as it was. What was mended stands in `extra["mended"]`: the id of the skeleton before, and
    by tool what was told against it.

    Args:
        skeletons: the worlds.
        failures: with findings; those of `build_scenarios`, for instance.
        model: the author.
        scenarios: certified ones of these worlds, which must stay certified.
        audits: of these worlds; their probes that passed must come out alike.
        tries: how often a tool is asked for until it is accepted.
        seed: of the environment and the samples.
        progress: whether to show a bar.
    """
    against: dict[str, dict[str, list[Finding]]] = {}
    tries = at_least(tries, 1, "tries")
    for failure in many(failures, Failure):
        for finding in failure.findings:
            check_evidence(finding)
            against.setdefault(failure.parent_id, {}).setdefault(finding.where, []).append(finding)
    worlds = many(several(skeletons), Skeleton)
    certified: dict[str, list[Scenario]] = {}
    for scenario in many(scenarios, Scenario):
        certified.setdefault(scenario.skeleton_id, []).append(scenario)
    audited = {
        audit.repaired.id if audit.repaired else audit.skeleton_id: audit for audit in many(audits, Audit)
    }
    new: dict[str, Skeleton] = {}

    def mend_one(skeleton: Skeleton) -> Skeleton:
        audit = audited.get(skeleton.id) or audited.get(skeleton.extra.get("mended", {}).get("from", ""))
        acceptance = Acceptance(skeleton, certified.get(skeleton.id, ()), audit, seed)
        new[skeleton.id] = _mended(skeleton, against[skeleton.id], model, acceptance, tries, seed)
        return new[skeleton.id]

    spoken_of = {skeleton.id: skeleton for skeleton in worlds if skeleton.id in against}.values()
    made = run_all(mend_one, spoken_of, stage="mending", workers=model.workers, progress=progress)
    return Records([new.get(skeleton.id, skeleton) for skeleton in worlds], made.failures)


def _mended(
    skeleton: Skeleton,
    against: Mapping[str, list[Finding]],
    model: Model,
    acceptance: Acceptance,
    tries: int,
    seed: int,
) -> Skeleton:
    told: dict[str, list[str]] = {}
    why: dict[str, str] = {}
    for number in range(tries):
        written: dict[str, str] = {}
        for tool, findings in against.items():
            open_ones = acceptance.open(findings)
            if tool in told or skeleton.tool(tool) is None or not open_ones:
                continue
            method = rewrite_tool(
                acceptance.now,
                tool,
                [_shown(finding) for finding in open_ones[:_EVIDENCE]],
                model,
                sample=seed * 10_000 + number,
                feedback=why.get(tool, ""),
            )
            if method:
                attempt = with_methods(acceptance.now, {tool: method})
                settled, refused = acceptance.accept(attempt, [tool], open_ones)
                if settled:
                    told[tool] = [finding.message for finding in settled]
                else:
                    written[tool], why[tool] = method, given_back(refused, method)
        told |= _together(acceptance, written, against)
    if not told:
        return skeleton
    # Mended once more, it is still made from the first one.
    before = skeleton.extra.get("mended", {"from": skeleton.id, "tools": {}})
    tools = {**before["tools"], **told}
    return acceptance.now.replace(
        extra={**skeleton.extra, "mended": {"from": before["from"], "tools": tools}}
    )


def _together(
    acceptance: Acceptance, written: dict[str, str], against: Mapping[str, list[Finding]]
) -> dict[str, list[str]]:
    """The fewest of some versions that settle together what none settles alone: by tool, what was told against it."""

    def attempt(methods: Mapping[str, str]) -> Skeleton:
        return with_methods(acceptance.now, methods)

    findings = acceptance.open(finding for tool in written for finding in against[tool])
    if len(written) < 2 or not acceptance.settled(attempt(written), findings):
        return {}
    for tool in list(written):
        fewer = {name: method for name, method in written.items() if name != tool}
        if acceptance.settled(attempt(fewer), findings):
            written = fewer
    settled, _ = acceptance.accept(attempt(written), list(written), findings)
    return {tool: [f.message for f in settled if f.where == tool] for tool in written} if settled else {}


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
    evidence = {name: value for name, value in finding.evidence.items() if name in ("call", "reply", "diff")}
    return finding.model_copy(update={"evidence": {**evidence, "records before": rows}})
