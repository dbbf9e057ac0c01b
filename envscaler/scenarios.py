"""Scenarios: an initial state, a task in it, checks of the outcome, and a witness that proves it can be done.

    draft → certificate → valid: done
      ↑         ↓ not valid: locate → the part at fault goes back to its author, with the evidence
      └─────────┘

A model writes every part (`posing.drafting`). Only a scenario whose certificate is valid is returned: its witness,
executed, earns 1, and doing nothing earns 0. Whatever stands against one is located (`posing.locating`), and that
part is asked for again, at most `REVISIONS` times. What stays uncertified becomes a failure that names the part and
brings the findings against the skeleton's tools with it.

This module never mends code of a skeleton, and never marks a check as something its author did not declare.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from envscaler.agent import Agent
from envscaler.elsewhere import elsewhere
from envscaler.error import EnvscalerError, PartRefused
from envscaler.model.request import Model
from envscaler.parallel import run_all, several
from envscaler.posing.doubting import Evidence, doubtful_tools, evidence_of, faulty_tools, unsteady_tools
from envscaler.posing.drafting import Draft, Solver, Stuck
from envscaler.posing.locating import Suspect, behind, suspects
from envscaler.posing.vetting import changing_checks, plain
from envscaler.schema import Certificate, Finding, Scenario, Skeleton
from envscaler.store import Records
from envscaler.world.certificate import certify

REVISIONS = 6
"""How often a scenario that is not certified is taken up again."""


def build_scenario(
    skeleton: Skeleton,
    model: Model,
    *,
    sample: int = 0,
    seed: int = 0,
    taken: Collection[str] = (),
    solver: Agent | None = None,
    solver_first: bool = False,
) -> Scenario:
    """Write one scenario of a skeleton, and prove it.

    Args:
        skeleton: the world it plays in.
        model: who writes.
        sample: which of the scenarios of this skeleton; another sample is another scenario.
        seed: of the environment that proves it; also another set of samples.
        taken: tasks that there are already.
        solver: an agent whose episodes may serve as a witness where the model's own calls do not.
        solver_first: whether the solver plays before the model is asked for calls.

    Raises:
        PartRefused: a part stayed unusable, or the whole uncertified; the message names the part.
        ReplyError: the model did not answer in the form asked for.
    """
    draft = Draft(skeleton, model, sample, seed, taken, Solver(solver, solver_first) if solver else None)
    return _prove(draft)


def build_scenarios(
    skeletons: Iterable[Skeleton],
    model: Model,
    *,
    n: int = 10,
    seed: int = 0,
    solver: Agent | None = None,
    progress: bool = True,
) -> Records[Scenario]:
    """Write `n` scenarios of each skeleton, in parallel; no two of one skeleton have the same task.

    Args:
        skeletons: the worlds.
        model: who writes.
        n: scenarios a skeleton.
        seed: of the environments and the samples.
        solver: an agent whose episodes may serve as a witness where the model's own calls do not.
        progress: whether to show a bar.
    """
    jobs = [(skeleton, sample) for skeleton in several(skeletons) for sample in range(n)]
    return build_samples(jobs, model, again_from=n, seed=seed, solver=solver, progress=progress)


def build_samples(
    jobs: Collection[tuple[Skeleton, int]],
    model: Model,
    *,
    again_from: int,
    seed: int = 0,
    taken: Mapping[str, Collection[str]] | None = None,
    solver: Agent | None = None,
    progress: bool = True,
) -> Records[Scenario]:
    """Write these samples of these skeletons; see `build_scenarios`.

    Args:
        jobs: skeleton and number of the sample.
        model: who writes.
        again_from: samples from here on are for those whose task another one has already.
        seed: of the environments and the samples.
        taken: tasks that there are already, by id of the skeleton.
        solver: see `build_scenario`.
        progress: whether to show a bar.
    """
    there = {skeleton.id: list((taken or {}).get(skeleton.id, ())) for skeleton, _ in jobs}
    player = Solver(solver) if solver else None

    def build(job: tuple[Skeleton, int]) -> list[Scenario]:
        draft = Draft(job[0], model, job[1], seed, there[job[0].id], player)
        try:
            return [_prove(draft)]
        except EnvscalerError as error:
            return Records(failures=[draft.failure(error)])

    made = run_all(
        build, jobs, stage="scenarios", name=lambda job: job[0].id, workers=model.workers, progress=progress
    )
    skeletons = {skeleton.id: skeleton for skeleton, _ in jobs}
    return _without_doubles(made, there, lambda key, number: build((skeletons[key], again_from + number)))


def _without_doubles(
    made: Records[Scenario], there: dict[str, list[str]], anew: Callable[[str, int], list[Scenario]]
) -> Records[Scenario]:
    """The same scenarios; one whose task another has already is written anew with samples of its own."""
    kept: Records[Scenario] = Records(failures=made.failures)
    count: Counter[str] = Counter()
    for scenario in made:
        mine = there[scenario.skeleton_id]
        number = count[scenario.skeleton_id]
        count[scenario.skeleton_id] += 1
        alike = plain(scenario.task) in map(plain, mine)
        instead = anew(scenario.skeleton_id, number) if alike else [scenario]
        mine += [other.task for other in instead]
        kept += instead
        kept.failures += getattr(instead, "failures", [])
    return kept


@dataclass(frozen=True)
class _Trial:
    """What became of a draft when it was completed and certified."""

    certified: Scenario | None = None
    why: str = ""
    blamed: Sequence[Suspect] = ()
    found: Evidence | None = None
    stuck: bool = False
    """Whether a part could not be had, though its author was told why."""


def _prove(draft: Draft) -> Scenario:
    """Complete a draft and certify it; what speaks against it goes back, the suspects taking their turns."""
    told: Counter[str] = Counter()
    why = ""
    for revision in range(REVISIONS + 1):
        trial = _try(draft)
        if trial.certified:
            return trial.certified
        # An author who gives the same again says nothing new: what it was told stays the reason.
        why = why if draft.insisting and why else trial.why
        suspect = min(trial.blamed, key=lambda one: told[one.part], default=None)
        last = suspect is None or revision == REVISIONS
        if trial.found:
            _doubt(draft, trial.found, everyone_told=last or trial.stuck or told["witness"] > 0)
        if last or suspect is None:
            break
        told[suspect.part] += 1
        draft.take_back(suspect.part, suspect.why, suspect.items)
    parts = ", ".join(dict.fromkeys(revision.part for revision in draft.revisions)) or "nothing"
    raise PartRefused(f"{why} (asked for again {len(draft.revisions)} times: {parts})")


def _try(draft: Draft) -> _Trial:
    try:
        scenario = draft.complete()
    except Stuck as stuck:
        found = evidence_of(draft, draft.proposed) if stuck.part == "witness" else None
        return _Trial(why=str(stuck), blamed=behind(stuck), found=found, stuck=True)
    certificate = elsewhere(certify, draft.skeleton, scenario, seed=draft.seed)
    if not certificate.valid:
        found = evidence_of(draft, draft.witness)
        why = f"scenarios/certificate: {_standing_against(certificate)}"
        return _Trial(why=why, blamed=suspects(draft, certificate, found), found=found)
    if changing := changing_checks(scenario.checks, draft.state, lambda: [draft.final]):
        why = " ".join(f"{item!r}: {fault}" for item, fault in changing.items())
        return _Trial(why=f"scenarios/check: {why}", blamed=[Suspect("check", why, tuple(changing))])
    return _Trial(certified=scenario.replace(certificate=certificate))


def _standing_against(certificate: Certificate) -> str:
    """The lines that failed; what could not be tried for want of them says nothing more."""
    failed = [f"{proof.name}: {proof.detail}" for proof in certificate.proofs if proof.status == "failed"]
    return " ".join(failed or certificate.reasons)


def _doubt(draft: Draft, found: Evidence, *, everyone_told: bool) -> None:
    """Write down what speaks against tools: what execution shows, and once the authors were told, what they expect."""
    findings = faulty_tools(draft, found)
    if everyone_told and not _errors(findings):
        findings += unsteady_tools(found, evidence_of(draft, draft.witness or draft.proposed))
    if everyone_told and not _errors(findings):
        findings += doubtful_tools(draft, draft.witness or draft.proposed, found)
    known = {(doubt.kind, doubt.where) for doubt in draft.doubts}
    draft.doubts += [finding for finding in findings if (finding.kind, finding.where) not in known]


def _errors(findings: Iterable[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)
