"""Catching: how many of the mistakes that a model's author makes are noticed before a scenario is certified.

A model that writes well is made to err once a scenario (`model.mistaken`), and the scenario is built as any other.
A mistake is `missed` when the scenario is certified with it; otherwise it was `repaired`, by the part it is in or by
one that part is made from, or the scenario was `refused`. What is measured is this library's own care, on mistakes
that are known; how often a real model makes which of them is not said here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from envscaler.error import ParameterError
from envscaler.model.connect import connect
from envscaler.model.mistaken import MistakenModel, Plot
from envscaler.model.mistakes import CHECK, CHECKLIST, KINDS, TASK, WITNESS, Spoil
from envscaler.model.request import Model
from envscaler.parallel import run_all, several
from envscaler.record import read_loosely
from envscaler.scenarios import build_samples
from envscaler.schema import Failure, Origin, Record, Scenario, Skeleton
from envscaler.store import Records

SAMPLES = 40
"""Scenarios that are begun at most until one offers a place for the mistake."""


class Attempt(Record):
    """One seeded mistake, and what became of it."""

    kind: str
    """The kind of mistake."""
    skeleton_id: str
    """The world."""
    sample: int
    """Which scenario of it."""
    step: str
    """The step whose reply was spoiled."""
    planted: bool
    """Whether a spoiled reply was given; where none could be, the attempt counts for nothing."""
    outcome: Literal["repaired", "refused", "missed", "failed", "unplanted"]
    """`failed` means that the scenario was lost to something else than a part that was refused."""
    located: str = ""
    """The part that was asked for again last, or that stayed unusable."""
    revisions: tuple[str, ...] = ()
    """Every part that was asked for again, in order."""
    why: str = ""
    """What its author was told first."""
    spoiled: str = ""
    """The spoiled reply."""
    scenario_id: str = ""
    """The scenario, where one was certified."""
    origin: Origin | None = None
    """How it was made."""

    @property
    def caught(self) -> bool:
        """Whether no scenario was certified with the mistake in it."""
        return self.outcome in ("repaired", "refused")

    @property
    def located_right(self) -> bool:
        """Whether the part that was spoiled was among those that were asked for again."""
        return self.step.partition("/")[2] in self.revisions


def try_mistakes(
    skeletons: Iterable[Skeleton],
    model: Model | None = None,
    *,
    kinds: Mapping[str, Spoil] | Sequence[str] | None = None,
    n: int = 20,
    seed: int = 0,
    stubborn: bool = False,
    progress: bool = True,
) -> Records[Attempt]:
    """Seed mistakes in the making of scenarios, and see what becomes of them.

    Args:
        skeletons: the worlds; the mistakes are spread over them.
        model: who writes well otherwise; default the built-in model without faults.
        kinds: which kinds, by name or new ones; default all that are registered.
        n: mistakes of each kind.
        seed: of the mistakes and the scenarios.
        stubborn: whether the author repeats its mistake however often it is told.
        progress: whether to show a bar.
    """
    worlds = several(skeletons)
    if not worlds or n < 1:
        raise ParameterError(f"Expected at least one skeleton and n ≥ 1, got {len(worlds)} and {n}.")
    author = model or connect("builtin", fault_rate=0.0)
    jobs = [_Job(kind, spoil, number) for kind, spoil in _chosen(kinds).items() for number in range(n)]

    def attempt(job: _Job) -> Attempt:
        made = Attempt(
            kind=job.kind, skeleton_id="", sample=0, step=job.spoil.step, planted=False, outcome="unplanted"
        )
        for turn in range(SAMPLES):
            skeleton = worlds[(job.number + turn) % len(worlds)]
            sample = job.number // len(worlds) + turn * n
            made = _attempt(job, skeleton, sample, author, seed, stubborn)
            if made.planted:
                break
        return made

    return run_all(
        attempt, jobs, stage="mistakes", name=lambda job: job.kind, workers=author.workers, progress=progress
    )


@dataclass(frozen=True)
class _Job:
    kind: str
    spoil: Spoil
    number: int


def _chosen(kinds: Mapping[str, Spoil] | Sequence[str] | None) -> Mapping[str, Spoil]:
    if isinstance(kinds, Mapping):
        return kinds
    names = list(KINDS) if kinds is None else [kinds] if isinstance(kinds, str) else list(kinds)
    if unknown := [name for name in names if name not in KINDS]:
        raise ParameterError(f"Expected kinds of mistakes among {', '.join(KINDS)}, got {unknown[0]!r}.")
    return {name: KINDS[name] for name in names}


def _attempt(job: _Job, skeleton: Skeleton, sample: int, author: Model, seed: int, stubborn: bool) -> Attempt:
    model = MistakenModel(author, job.spoil, seed=seed + job.number, stubborn=stubborn)
    made = build_samples([(skeleton, sample)], model, again_from=sample, seed=seed, progress=False)
    result: Scenario | Failure = made[0] if made else made.failures[0]
    plot = model.plots.get(seed * 10_000 + sample, Plot())
    told = list(result.origin.settings.get("revisions", [])) if result.origin else []
    revisions = tuple(str(row["part"]) for row in told)
    stuck = result.message.partition(":")[0].removeprefix("scenarios/") if isinstance(result, Failure) else ""
    return Attempt(
        kind=job.kind,
        skeleton_id=skeleton.id,
        sample=sample,
        step=job.spoil.step,
        planted=bool(plot.spoiled),
        outcome=_outcome(result, plot, job.spoil.step),
        located=(stuck if stuck in _PARTS else "") or (revisions[-1] if revisions else ""),
        revisions=revisions,
        why=str(told[0]["why"]) if told else "",
        spoiled=plot.spoiled[-1] if plot.spoiled else "",
        scenario_id=result.id if isinstance(result, Scenario) else "",
        origin=result.origin,
    )


_PARTS = ("state", "task", "checklist", "check", "witness")


def _outcome(
    result: Scenario | Failure, plot: Plot, step: str
) -> Literal["repaired", "refused", "missed", "failed", "unplanted"]:
    if not plot.spoiled:
        return "unplanted"
    if isinstance(result, Failure):
        return "refused" if result.error == "PartRefused" else "failed"
    return "missed" if any(holds(result, step, spoiled) for spoiled in plot.spoiled) else "repaired"


def holds(scenario: Scenario, step: str, spoiled: str) -> bool:
    """Whether a scenario still has a spoiled reply in it."""
    if step == CHECK:
        return any(check.source.strip() == spoiled.strip() for check in scenario.checks)
    answer = read_loosely(spoiled)
    if not isinstance(answer, dict):
        return False
    if step == TASK:
        return scenario.task.strip() == str(answer.get("task", "")).strip()
    if step == CHECKLIST:
        asked = [(check.item, check.kind) for check in scenario.checks]
        wanted = [(item["item"], item["kind"]) for item in answer["items"]]
        return asked == wanted and scenario.may_change == answer["may_change"]
    if step == WITNESS:
        calls = [call.model_dump(include={"tool", "arguments"}) for call in scenario.witness]
        return calls == [{"tool": c.get("tool"), "arguments": c.get("arguments")} for c in answer["calls"]]
    return scenario.initial_state == answer


def mistake_table(attempts: Iterable[Attempt]) -> pd.DataFrame:
    """One row a kind: planted, caught, and how; the share that was caught, and located in the part it was in."""
    rows = []
    planted = [attempt for attempt in attempts if attempt.planted]
    for kind in dict.fromkeys(attempt.kind for attempt in planted):
        mine = [attempt for attempt in planted if attempt.kind == kind]
        row: dict[str, object] = {"kind": kind, "planted": len(mine)}
        row |= {
            name: sum(a.outcome == name for a in mine) for name in ("repaired", "refused", "missed", "failed")
        }
        row["caught"] = sum(a.caught for a in mine) / len(mine)
        row["located"] = sum(a.located_right for a in mine) / len(mine)
        rows.append(row)
    return pd.DataFrame(rows)
