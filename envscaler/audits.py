"""Audits: every tool of a skeleton is tried out, and what fails is mended once or twice.

    skeleton → initial state → referee → probes (tester → call → invariants → checker) → repairs → audit

Layers, cheapest first: the referee proves the contract by execution, invariants are checked after every
call, and a checking model judges reply and change. A testing model picks the calls; this module says which
tool and intent are due. A tool that failed goes back to its author with the evidence, and the new one stays
only when it fails less.

How good the checker is, is not said here; whether an environment is kept is the caller's word (`passing`).
"""

import ast
import textwrap
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Literal

import pandas as pd

from envscaler import syntax
from envscaler.auditing.probing import Bench
from envscaler.auditing.repair import mend
from envscaler.auditing.starting import ask_state, broken_rules, loading_problem, start_problem
from envscaler.elsewhere import elsewhere
from envscaler.error import ParameterError, PartRefused
from envscaler.model.ask import origin
from envscaler.model.request import Model
from envscaler.model.revise import TRIES
from envscaler.parallel import run_all
from envscaler.schema import Audit, Failure, Finding, Json, Skeleton
from envscaler.store import Records
from envscaler.world.proving.binding import binding_findings
from envscaler.world.referee import check_environment
from envscaler.world.source import parse_class

STEPS = ("initial_state", "probe", "judge", "repair")


def audit_skeleton(
    skeleton: Skeleton,
    model: Model,
    *,
    rounds: int = 100,
    repairs: int = 2,
    threshold: float = 0.85,
    seed: int = 0,
) -> Audit:
    """Try out the tools of one skeleton, and mend those that fail.

    Args:
        skeleton: what to audit.
        model: tester, checker and author of repairs.
        rounds: probes to make.
        repairs: how often failing tools go back to their author at most; 0 for none.
        threshold: a lower share of probes that do not fail is a finding `below-threshold`.
        seed: of the environment, the balancing, and the samples asked for.

    Raises:
        PartRefused: no initial state could be had that loads.
        SourceError: the skeleton does not load.
    """
    if rounds < 1 or repairs < 0:
        raise ParameterError(f"Expected rounds ≥ 1 and repairs ≥ 0, got {rounds} and {repairs}.")
    state, doubts = _initial_state(skeleton, model, seed)
    loose = frozenset(r.text for r in skeleton.rules if any(r.text in doubt.message for doubt in doubts))
    bench = Bench(skeleton, state, model, seed, loose=loose)
    found: list[Finding] = elsewhere(check_environment, skeleton, state, seed=seed)
    trials = bench.roll(rounds)
    for _ in range(repairs):
        mended = mend(bench, trials, found)
        if mended is None:
            break
        bench, trials, found = mended
    audit = Audit(
        skeleton_id=skeleton.id,
        initial_state=state,
        findings=[
            *doubts,
            *found,
            *(finding for trial in trials for finding in trial.findings),
            *_loose_rules(bench.skeleton, state, seed),
            *_skips(bench),
        ],
        probes=[trial.probe for trial in trials],
        repaired=None if bench.skeleton is skeleton else bench.skeleton,
        origin=origin(model, *(f"audits/{step}" for step in STEPS), seed=seed),
    )
    return audit.replace(findings=[*audit.findings, *_below(audit, threshold)])


def audit_skeletons(
    skeletons: Iterable[Skeleton],
    model: Model,
    *,
    rounds: int = 100,
    repairs: int = 2,
    threshold: float = 0.85,
    seed: int = 0,
    progress: bool = True,
) -> Records[Audit]:
    """Audit many skeletons; see `audit_skeleton`."""

    def audit(skeleton: Skeleton) -> Audit:
        return audit_skeleton(skeleton, model, rounds=rounds, repairs=repairs, threshold=threshold, seed=seed)

    return run_all(audit, skeletons, stage="audits", workers=model.workers, progress=progress)


def passing(
    skeletons: Iterable[Skeleton],
    audits: Iterable[Audit],
    *,
    threshold: float = 0.85,
    metric: Literal["not_fail", "pass"] = "not_fail",
) -> Records[Skeleton]:
    """The skeletons to go on with, in their repaired version where there is one; the others become failures.

    Args:
        skeletons: what was audited.
        audits: their audits; a skeleton without one is not kept.
        threshold: the lowest share of probes that is enough.
        metric: which share: probes that do not fail (the paper's), or probes that pass.
    """
    if metric not in ("not_fail", "pass"):
        raise ParameterError(f"Expected the metric 'not_fail' or 'pass', got {metric!r}.")
    by_id = {audit.skeleton_id: audit for audit in audits}
    kept: Records[Skeleton] = Records()
    for skeleton in skeletons:
        audit = by_id.get(skeleton.id)
        if audit is not None and _share(audit, metric) >= threshold:
            kept.append(audit.repaired or skeleton)
        else:
            why = "it was not audited" if audit is None else _why(audit, metric, threshold)
            message = f"Expected {skeleton.title!r} to pass its audit, but {why}."
            kept.failures.append(
                Failure(stage="audits", parent_id=skeleton.id, error="AuditFailed", message=message)
            )
    return kept


def _initial_state(skeleton: Skeleton, model: Model, seed: int) -> tuple[dict[str, Json], list[Finding]]:
    """A state that loads, and the rules it breaks even so: a rule no author can keep is itself in doubt."""
    step = "audits/initial_state"
    try:
        return ask_state(skeleton, model, step, sample=seed, problem=partial(start_problem, skeleton)), []
    except PartRefused:
        mild = partial(loading_problem, skeleton)
        state = ask_state(skeleton, model, step, sample=seed + TRIES, problem=mild)
    doubts = broken_rules(skeleton.rules, state)
    return state, [doubt.model_copy(update={"kind": "rule-broken-at-start"}) for doubt in doubts]


# What the numbers say


def _loose_rules(skeleton: Skeleton, state: dict[str, Json], seed: int) -> list[Finding]:
    """Rules that forbid nothing or cannot say; those that are broken in play the referee tells, with the call."""
    found = binding_findings(skeleton, state, seed=seed)
    return [finding for finding in found if finding.kind != "rule-broken-in-play"]


def _skips(bench: Bench) -> list[Finding]:
    if not bench.skipped:
        return []
    message = (
        f"{bench.skipped} rounds were skipped: tester or checker gave nothing usable, also when asked again."
    )
    return [
        Finding(kind="probes-skipped", severity="note", message=message, evidence={"skipped": bench.skipped})
    ]


def _share(audit: Audit, metric: str) -> float:
    return audit.not_fail_rate if metric == "not_fail" else audit.pass_rate


def _why(audit: Audit, metric: str, threshold: float) -> str:
    failing = Counter(probe.tool for probe in audit.probes if probe.verdict == "fail")
    worst = ", ".join(f"{tool} {count}×" for tool, count in failing.most_common(3)) or "none"
    name = {"not_fail": "of its probes do not fail", "pass": "of its probes pass"}[metric]
    return f"{_share(audit, metric):.0%} {name} (needed {threshold:.0%}; failing: {worst})"


def _below(audit: Audit, threshold: float) -> list[Finding]:
    if audit.not_fail_rate >= threshold:
        return []
    message = f"Only {_why(audit, 'not_fail', threshold)}."
    return [Finding(kind="below-threshold", severity="error", message=message)]


def against_truth(
    truth: Iterable[Skeleton], skeletons: Iterable[Skeleton], audits: Iterable[Audit]
) -> pd.DataFrame:
    """What an audit made of every tool whose faultless form is known: one row a tool.

    `fate` is `sound` or `false alarm` where nothing was planted, and `repaired`, `seen` (told, not mended) or
    `unseen` where the method differs from the true one; `planted` and `told` are the two halves of it.

    Args:
        truth: the same worlds as their author writes them without faults, e.g. the built-in model at `fault_rate=0`.
        skeletons: the worlds that were audited.
        audits: their audits.
    """
    worlds = {skeleton.id: skeleton for skeleton in skeletons}
    true = {skeleton.theme_id: _methods(skeleton) for skeleton in truth}
    rows = []
    for audit in audits:
        world = worlds[audit.skeleton_id]
        was, now, right = _methods(world), _methods(audit.repaired or world), true.get(world.theme_id, {})
        failed = {p.tool for p in audit.probes if p.verdict == "fail"}
        failed |= {f.where for f in audit.findings if f.severity == "error"}
        for tool in (t.name for t in world.tools if t.name in right):
            planted, told = was[tool] != right[tool], tool in failed or was[tool] != now.get(tool)
            mended = now.get(tool) == right[tool]
            fate = ("repaired" if mended else "seen" if told else "unseen") if planted else ""
            fate = fate or ("false alarm" if told else "sound")
            rows.append({"world": world.title, "tool": tool, "planted": planted, "told": told, "fate": fate})
    return pd.DataFrame(rows, columns=["world", "tool", "planted", "told", "fate"])


def _methods(skeleton: Skeleton) -> dict[str, str]:
    methods = parse_class(skeleton.source, skeleton.class_name).methods
    return {name: ast.unparse(syntax.parse(textwrap.dedent(m.source))) for name, m in methods.items()}
