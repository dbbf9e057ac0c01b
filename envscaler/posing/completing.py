"""Completing: scenarios whose skeleton is at fault are had all the same, once its author has mended the tools.

    scenarios → findings against tools → mended skeletons → certified anew, and written anew where one is missing

The evidence is what the scenarios ran into: findings of those that failed, and doubts of those that were had by
another task. A mended skeleton is another one, so its scenarios are certified against it and carry its id; one that
is not valid any more is written anew. A mended skeleton that carries fewer scenarios than the old one did is given
up. Every round is counted, so that the yield before and after can be told, and nothing is lost: what cannot be gone
on with is a failure.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from envscaler.auditing.repair import mend_skeletons
from envscaler.elsewhere import elsewhere
from envscaler.given import at_least, many
from envscaler.model.request import Model
from envscaler.parallel import run_all, several
from envscaler.posing.drafting import PARTS
from envscaler.scenarios import build_samples
from envscaler.schema import Audit, Failure, Finding, Json, Origin, Scenario, Skeleton
from envscaler.store import Records
from envscaler.world.certificate import certify

ROUND = 1_000
"""Samples of a skeleton that a round may ask for; those of the next round are numbered from the next thousand."""


@dataclass
class Completed:
    """What there is in the end; see `complete_scenarios`."""

    skeletons: Records[Skeleton]
    """The worlds, mended ones in the place of those they were made from."""
    scenarios: Records[Scenario]
    """Their scenarios, with the failures of what is missing still."""
    rounds: list[dict[str, Json]] = field(default_factory=list)
    """What each round did."""

    def audits(self, audits: Iterable[Audit]) -> Records[Audit]:
        """The audits with the mended skeletons as their repaired ones, and what the scenarios found as findings.

        What a mended tool was mended for is a note; what stands against a tool or a rule still stands there as it is.
        The probes stay those of the version that was audited.
        """
        worlds = {one.extra.get("mended", {}).get("from", one.id): one for one in self.skeletons}
        against = findings_against(self.scenarios)
        return Records(_amended(audit, worlds, against) for audit in audits)

    def count(self, n: int, doubtful: int, mended: int) -> None:
        """Write down what there is after a round."""
        had = Counter(scenario.skeleton_id for scenario in self.scenarios)
        wanted, certified = n * len(self.skeletons), sum(min(n, had[one.id]) for one in self.skeletons)
        figures = {"wanted": wanted, "certified": certified, "yield": certified / wanted if wanted else 0.0}
        tools = {"tools in doubt": doubtful, "tools mended": mended}
        self.rounds.append({"round": len(self.rounds), **figures, **tools})

    def frame(self) -> pd.DataFrame:
        """One row a round: scenarios wanted and certified, tools in doubt and mended."""
        return pd.DataFrame(self.rounds)


def complete_scenarios(
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    model: Model,
    *,
    n: int = 10,
    audits: Iterable[Audit] = (),
    rounds: int = 3,
    seed: int = 0,
    progress: bool = True,
) -> Completed:
    """Mend the tools that scenarios speak against, and write the scenarios that are missing.

    Args:
        skeletons: the worlds.
        scenarios: what `build_scenarios` made of them, with its failures. One of another skeleton, or without a valid
            certificate, becomes a failure; one that is given twice counts once.
        model: author of tools and scenarios.
        n: scenarios wanted of each skeleton.
        audits: of the skeletons; what passed in them must come out alike when a tool is mended.
        rounds: how often at most; it ends as soon as nothing is missing and no tool is in doubt.
        seed: as in `build_scenarios`.
        progress: whether to show a bar.
    """
    n, rounds = at_least(n, 1, "n"), at_least(rounds, 0, "rounds")
    audited = many(audits, Audit)
    failures = many(getattr(scenarios, "failures", []), Failure)
    done = _begun(many(several(skeletons), Skeleton), many(scenarios, Scenario), failures)
    done.count(n, 0, 0)
    for number in range(1, rounds + 1):
        had = Counter(scenario.skeleton_id for scenario in done.scenarios)
        short = {one.id for one in done.skeletons if n > had[one.id]}
        # A tool whose scenarios were had all the same is taken to its author once; it may well be right.
        to_ask = short if number > 1 else {one.id for one in done.skeletons}
        against = [failure for failure in findings_against(done.scenarios) if failure.parent_id in to_ask]
        if not short and not against:
            break
        before = sum(len(mended_tools(one)) for one in done.skeletons)
        options: dict[str, Any] = {"scenarios": done.scenarios, "audits": audited, "progress": progress}
        mended = mend_skeletons(done.skeletons, against, model, seed=seed + number, **options)
        done.skeletons.failures += mended.failures
        _go_on(done, _apart(done.skeletons, mended), model, n, seed, number, progress)
        tools = {(failure.parent_id, finding.where) for failure in against for finding in failure.findings}
        done.count(n, len(tools), sum(len(mended_tools(one)) for one in done.skeletons) - before)
    return done


def _begun(
    skeletons: Sequence[Skeleton], scenarios: Sequence[Scenario], failures: Sequence[Failure]
) -> Completed:
    """What there is at first; a scenario that cannot be gone on with is a failure."""
    there = {skeleton.id: skeleton for skeleton in skeletons}
    mine: list[Scenario] = []
    strays: list[Failure] = []
    for scenario in {one.id: one for one in scenarios}.values():
        at, origin, has = scenario.skeleton_id, scenario.origin, scenario.certificate
        if at not in there:
            message = (
                f"Expected the skeleton {at} of the scenario {scenario.id} among those given, "
                "got none; give it, or leave the scenario out."
            )
            kind, parent = "NoSkeleton", at
        elif not (has and has.valid):
            message = (
                f"Expected the scenario {scenario.id} with a valid certificate, got "
                f"{'one that is not' if has else 'none'}; `certify` it, or leave it out."
            )
            kind, parent = "NotCertified", scenario.id
        else:
            mine.append(scenario)
            continue
        strays.append(
            Failure(stage="scenarios", parent_id=parent, error=kind, message=message, origin=origin)
        )
    return Completed(Records(there.values()), Records(mine, [*failures, *strays]))


def _apart(worlds: Sequence[Skeleton], mended: Sequence[Skeleton]) -> list[Skeleton]:
    """The mended worlds; one that would be the same as another one now stays as it was, for its scenarios' sake."""
    taken = {one.id for one in worlds}
    kept: list[Skeleton] = []
    for old, new in zip(worlds, mended, strict=True):
        kept.append(old if new.id in taken else new)
        taken.add(new.id)
    return kept


def mended_tools(skeleton: Skeleton) -> dict[str, list[str]]:
    """By tool that was mended after scenarios spoke against it: what they said."""
    tools: dict[str, list[str]] = skeleton.extra.get("mended", {}).get("tools", {})
    return tools


def _amended(audit: Audit, worlds: dict[str, Skeleton], against: Sequence[Failure]) -> Audit:
    skeleton = worlds.get(audit.repaired.id if audit.repaired else audit.skeleton_id)
    if skeleton is None:
        return audit
    told = mended_tools(skeleton)
    found = [
        Finding(kind="found-by-scenarios", severity="note", where=tool, message=message)
        for tool, messages in told.items()
        for message in messages
    ]
    for failure in against:
        found += failure.findings if failure.parent_id == skeleton.id else []
    once = {(finding.kind, finding.where, finding.message): finding for finding in reversed(found)}
    repaired = skeleton if told else audit.repaired
    return audit.replace(repaired=repaired, findings=[*audit.findings, *reversed(once.values())])


def findings_against(scenarios: Records[Scenario]) -> list[Failure]:
    """The failures with findings, and a row for each scenario that put a tool in doubt before it was had."""
    doubted = []
    for scenario in scenarios:
        doubts = scenario.origin.settings.get("doubts", []) if scenario.origin else []
        if doubts:
            findings = [Finding.model_validate(doubt) for doubt in doubts]
            message = f"Scenario {scenario.id} was had with another task only."
            doubted.append(
                Failure(
                    stage="scenarios",
                    parent_id=scenario.skeleton_id,
                    error="Doubt",
                    message=message,
                    findings=findings,
                )
            )
    return [*(failure for failure in scenarios.failures if failure.findings), *doubted]


def _go_on(
    done: Completed, mended: Sequence[Skeleton], model: Model, n: int, seed: int, number: int, progress: bool
) -> None:
    """Certify anew, write what is missing, and keep of each world the version that carries more scenarios."""
    before: dict[str, list[Scenario]] = {one.id: [] for one in done.skeletons}
    for scenario in done.scenarios:
        before[scenario.skeleton_id].append(scenario)
    new_of = {old.id: new for old, new in zip(done.skeletons, mended, strict=True)}
    carried = _carried(before, new_of, seed, model.workers, progress)
    jobs = [(new_of[key], number * ROUND + place) for key in before for place in range(n - len(carried[key]))]
    taken = {new_of[key].id: [s.task for s in carried[key]] for key in carried}
    made = build_samples(
        jobs, model, again_from=number * ROUND + n, seed=seed, taken=taken, progress=progress
    )
    _settle(done, new_of, before, carried, made)


def _carried(
    before: dict[str, list[Scenario]], new_of: dict[str, Skeleton], seed: int, workers: int, progress: bool
) -> dict[str, list[Scenario]]:
    """The scenarios that are valid in the version of their world that there is now."""
    changed = [s for key, mine in before.items() if new_of[key].id != key for s in mine]

    def again(scenario: Scenario) -> list[Scenario]:
        skeleton = new_of[scenario.skeleton_id]
        moved = scenario.replace(skeleton_id=skeleton.id, certificate=None, origin=_settled(scenario.origin))
        certificate = elsewhere(certify, skeleton, moved, seed=seed)
        return [moved.replace(certificate=certificate)] if certificate.valid else []

    moved = run_all(again, changed, stage="certify again", workers=workers, progress=progress)
    carried = {key: list(mine) if new_of[key].id == key else [] for key, mine in before.items()}
    old_of = {new.id: key for key, new in new_of.items()}
    for scenario in moved:
        carried[old_of[scenario.skeleton_id]].append(scenario)
    return carried


def _settled(origin: Origin | None) -> Origin | None:
    """The origin without the doubts: the tools have been to their author since."""
    settings = {name: value for name, value in origin.settings.items() if name != "doubts"} if origin else {}
    return origin and origin.model_copy(update={"settings": settings})


def _settle(
    done: Completed,
    new_of: dict[str, Skeleton],
    before: dict[str, list[Scenario]],
    carried: dict[str, list[Scenario]],
    made: Records[Scenario],
) -> None:
    """Put the better version of each world, and its scenarios, in the place of the other."""
    added = Counter(scenario.skeleton_id for scenario in made)
    skeletons: list[Skeleton] = []
    scenarios: list[Scenario] = []
    failures = [f for f in done.scenarios.failures if f.parent_id not in new_of]
    for old in done.skeletons:
        new = new_of[old.id]
        better = new.id == old.id or len(carried[old.id]) + added[new.id] >= len(before[old.id])
        skeletons.append(new if better else old)
        if better:
            scenarios += [*carried[old.id], *(s for s in made if s.skeleton_id == new.id)]
            failures += [f for f in made.failures if f.parent_id == new.id]
        else:
            scenarios += before[old.id]
            failures += [f for f in done.scenarios.failures if f.parent_id == old.id]
    done.skeletons, done.scenarios = Records(skeletons, done.skeletons.failures), Records(scenarios, failures)


# What the numbers say


def yield_table(scenarios: Records[Scenario]) -> pd.DataFrame:
    """How many scenarios needed how many revisions: one row a number, and one for those that were refused."""
    counts = Counter(len(revisions_of(scenario)) for scenario in scenarios)
    rows = [{"revisions": str(number), "scenarios": counts[number]} for number in sorted(counts)]
    rows.append({"revisions": "refused", "scenarios": len(scenarios.failures)})
    table = pd.DataFrame(rows, columns=["revisions", "scenarios"])
    total = max(1, int(table["scenarios"].sum()))
    # Refused ones are in no yield, whatever number of revisions is allowed.
    running = table["scenarios"].where(table["revisions"] != "refused", 0).cumsum()
    return table.assign(**{"yield so far": running / total})


def revision_table(scenarios: Records[Scenario]) -> pd.DataFrame:
    """How often each part was asked for again, in scenarios that were certified and in those that were refused."""
    made = Counter(row["part"] for scenario in scenarios for row in revisions_of(scenario))
    lost = Counter(row["part"] for failure in scenarios.failures for row in revisions_of(failure))
    rows = [{"part": part, "certified": made[part], "refused": lost[part]} for part in PARTS]
    return pd.DataFrame(rows)


def revisions_of(made: Scenario | Failure) -> list[dict[str, Json]]:
    """Which parts were asked for again, and what their authors were told, in order."""
    return list(made.origin.settings.get("revisions", [])) if made.origin else []
