"""Certifying many environments and scenarios at once: in parallel, resumable, summed up.

    environments, scenarios (and recorded episodes) → a row each → totals, table, report

The file of rows is the checkpoint: what it holds is not done again, a run that was cut short goes on where it
stopped, and a torn last line is mended. A row belongs to its content and to how thoroughly one looked, so other
options make other rows. What one row says is `certifying.examine`'s business, how it is shown `show.report`'s.
"""

import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import ValidationError

from envscaler import __version__
from envscaler.certifying.examine import CANNOT_HOLD, Options, Recorded, examine_environment, examine_scenario
from envscaler.certifying.rows import EnvironmentReport, ScenarioReport
from envscaler.elsewhere import elsewhere
from envscaler.error import StoreError
from envscaler.given import a_path
from envscaler.parallel import run_all
from envscaler.record import digest
from envscaler.schema import Failure, Finding, Json, Scenario, Skeleton
from envscaler.store import Records, write_text

Report = EnvironmentReport | ScenarioReport
_KINDS: dict[str, type[EnvironmentReport] | type[ScenarioReport]] = {
    "environment": EnvironmentReport,
    "scenario": ScenarioReport,
}
_BEGINS = re.compile(rb'\{"id":"[0-9a-f]{12}","kind":"(?:environment|scenario)"')
"""How a row begins, by which a first one that was torn is known."""
BROKEN = frozenset({"always-broken", "sometimes-broken"})
"""Findings that say that a check raised or gave no bool."""


@dataclass(frozen=True)
class Certified:
    """What was found, all together."""

    environments: list[EnvironmentReport]
    """A row for each environment, in the order they were given."""
    scenarios: list[ScenarioReport]
    """A row for each scenario, in the order they were given."""
    failures: list[Failure] = field(default_factory=list)
    """What could not be read or examined, and why."""
    missing: int = 0
    """Rows that are not there because the run was interrupted."""

    @property
    def complete(self) -> bool:
        """Whether everything could be examined."""
        return not self.failures and not self.missing

    @property
    def findings(self) -> list[tuple[Report, Finding]]:
        """Every finding with the row it stands in."""
        rows: Sequence[Report] = [*self.environments, *self.scenarios]
        return [(row, finding) for row in rows for finding in row.findings]

    @property
    def errors(self) -> int:
        """Findings that make a thing unusable."""
        return sum(finding.severity == "error" for _, finding in self.findings)

    @property
    def totals(self) -> dict[str, Any]:
        """The figures, by name; shares are left to the reader, who is given both numbers."""
        return {**_of_scenarios(self.scenarios), **_of_environments(self.environments), **self._of_both()}

    def _of_both(self) -> dict[str, Any]:
        kinds = Counter(f.kind for _, f in self.findings)
        used = {(row.skeleton_id, call.tool) for row in self.scenarios for call in row.witness}
        never = {(row.skeleton_id, tool) for row in self.environments for tool in row.never_succeeded}
        severities = Counter(f.severity for _, f in self.findings)
        return {
            "tools_that_never_succeeded": len(never - used),
            "findings": dict(sorted(kinds.items())),
            "errors": severities["error"],
            "warnings": severities["warning"],
            "notes": severities["note"],
            "failures": len(self.failures),
            "missing": self.missing,
        }


def certify_all(
    skeletons: Sequence[Skeleton],
    scenarios: Sequence[Scenario] = (),
    *,
    recorded: Mapping[str, Sequence[Recorded]] | None = None,
    out: str | Path | None = None,
    options: Options | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Certified:
    """Examine every environment and every scenario.

    Args:
        skeletons: the environments.
        scenarios: scenarios in them; one whose environment is not among them is a failure.
        recorded: recorded episodes by the id of the scenario they solve.
        out: the file of rows; None for none. What it holds of this run is not done again, what it holds of others
            is dropped when this run is complete.
        options: how thoroughly to look.
        workers: threads at once; default two for each processor.
        progress: whether to show the bar.

    Raises:
        StoreError: `out` cannot be written, or is a file of something else.
    """
    jobs, failures = _jobs(skeletons, scenarios, recorded or {}, options or Options())
    jobs = list({job.key: job for job in jobs}.values())  # what is there twice, as in two files, is one row
    ledger = _Ledger(out)
    todo = {job.key: job for job in jobs if job.key not in ledger.rows}

    def work(job: _Job) -> Report:
        row = job.do().model_copy(update={"key": job.key})
        ledger.add(row)
        return row

    made: Records[Any] = run_all(
        work,
        todo.values(),
        stage="certify",
        name=lambda job: job.name,
        workers=workers or 2 * (os.cpu_count() or 1),
        progress=progress,
    )
    failures += made.failures
    rows = [ledger.rows[job.key] for job in jobs if job.key in ledger.rows]
    missing = max(0, len(jobs) - len(rows) - len(made.failures))
    if not missing:
        ledger.rewrite(rows)
    return Certified(
        environments=[row for row in rows if isinstance(row, EnvironmentReport)],
        scenarios=[row for row in rows if isinstance(row, ScenarioReport)],
        failures=failures,
        missing=missing,
    )


@dataclass(frozen=True)
class _Job:
    """One thing to examine."""

    key: str
    name: str
    do: Callable[[], Report]


def _jobs(
    skeletons: Sequence[Skeleton],
    scenarios: Sequence[Scenario],
    recorded: Mapping[str, Sequence[Recorded]],
    options: Options,
) -> tuple[list[_Job], list[Failure]]:
    how = {"version": __version__, "seed": options.seed, "calls": options.calls}
    by_id = {skeleton.id: skeleton for skeleton in skeletons}
    states: dict[str, dict[str, Json]] = {}
    for scenario in scenarios:
        states.setdefault(scenario.skeleton_id, scenario.initial_state)
    jobs = [_of_environment(skeleton, states.get(skeleton.id), how, options) for skeleton in skeletons]
    failures = []
    for scenario in scenarios:
        if scenario.skeleton_id in by_id:
            known = recorded.get(scenario.id, ())
            jobs.append(_of_scenario(by_id[scenario.skeleton_id], scenario, known, how, options))
        else:
            message = (
                f"Expected the environment {scenario.skeleton_id} of {named(scenario)} among those given."
            )
            failures.append(
                Failure(stage="certify", parent_id=named(scenario), error="ParameterError", message=message)
            )
    return jobs, failures


def named(record: Skeleton | Scenario) -> str:
    """The name that a record has in published data, else its id."""
    return str(record.extra.get("env_id" if isinstance(record, Skeleton) else "task_id") or record.id)


def _of_environment(
    skeleton: Skeleton, state: dict[str, Json] | None, how: dict[str, Any], options: Options
) -> _Job:
    name = named(skeleton)
    key = digest(["environment", skeleton.id, name, state, how])
    return _Job(
        key, name, partial(elsewhere, examine_environment, skeleton, state, name=name, options=options)
    )


def _of_scenario(
    skeleton: Skeleton,
    scenario: Scenario,
    recorded: Sequence[Recorded],
    how: dict[str, Any],
    options: Options,
) -> _Job:
    name, world = named(scenario), named(skeleton)
    played = [[call.model_dump(mode="json") for call, _ in episode] for episode in recorded]
    key = digest(["scenario", skeleton.id, scenario.id, name, played, options.search, how])

    more: dict[str, Any] = {"environment": world, "recorded": recorded, "options": options}
    return _Job(key, name, partial(elsewhere, examine_scenario, skeleton, scenario, name=name, **more))


class _Ledger:
    """The rows that are there, in memory and in a file that grows by whole lines."""

    def __init__(self, path: str | Path | None) -> None:
        self._path = None if path is None else a_path(path)
        self._lock = threading.Lock()
        self.rows: dict[str, Report] = {}
        if self._path is not None and self._path.exists():
            self._read(self._path)
        if self._path is not None:
            self._append(b"")

    def _read(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise StoreError(f"Expected to read {path}, but {error.strerror}.") from error
        whole, end, _ = content.rpartition(b"\n")
        lines = whole.split(b"\n") if end else []
        read = [row for line in lines if (row := _row(line)) is not None]
        torn = not end and _BEGINS.match(content)
        if content.strip() and not read and not torn:
            raise StoreError(
                f"Expected rows of certificates in {path}, got something else; name another file."
            )
        self.rows = {row.key: row for row in read}
        if content and not content.endswith(b"\n"):
            # The last line was torn when the run was cut short; what it was to say is found out again.
            write_text(path, (whole + end).decode())

    def add(self, row: Report) -> None:
        """Keep a row; in the file it is one write of one whole line."""
        with self._lock:
            self.rows[row.key] = row
            self._append(f"{row.model_dump_json()}\n".encode())

    def _append(self, line: bytes) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as file:
                file.write(line)
        except OSError as error:
            raise StoreError(f"Expected to write {self._path}, but {error.strerror}.") from error

    def rewrite(self, rows: Iterable[Report]) -> None:
        """The rows of this run alone, in its order: the same bytes for the same data, whoever was done first."""
        if self._path is not None:
            write_text(self._path, "".join(f"{row.model_dump_json()}\n" for row in rows))


def _row(line: bytes) -> Report | None:
    """The row in a line; None where it is none, e.g. of another version."""
    try:
        fields = json.loads(line)
        return _KINDS[fields["kind"]].model_validate(fields)
    except (ValueError, KeyError, TypeError, ValidationError, RecursionError):
        return None


# Sums


def _of_scenarios(rows: Sequence[ScenarioReport]) -> dict[str, Any]:
    nothing = [paid for row in rows if (paid := paid_for(row, "nothing")) is not None]
    return {
        "scenarios": len(rows),
        "checks": sum(row.checks for row in rows),
        "vacuous_checks": sum(len(row.vacuous) for row in rows),
        "scenarios_with_vacuous_checks": sum(bool(row.vacuous) for row in rows),
        "paid_for_nothing": sum(paid > 0 for paid in nothing),
        "mean_paid_for_nothing": round(fmean(nothing), 4) if nothing else None,
        "most_paid_for_nothing": max(nothing, default=None),
        "paid_for_nothing_by_our_rule": sum(
            (row.paid["nothing"].default or 0) > 0 for row in rows if row.paid
        ),
        "solved_by_doing_nothing": sum(row.paid["nothing"].strict == 1.0 for row in rows if row.paid),
        "paid_after_wipe": sum((paid_for(row, "wiped") or 0) > 0 for row in rows),
        "paid_for_garbage": sum((paid_for(row, "garbage") or 0) > 0 for row in rows),
        "checks_that_cannot_hold": sum(len(cannot_hold(row)) for row in rows),
        "scenarios_that_cannot_be_solved": sum(bool(cannot_hold(row)) for row in rows),
        "scenarios_with_contradictions": sum(_any(row, {"contradiction"}) for row in rows),
        "broken_checks": _checks(rows, BROKEN),
        "checks_that_read_initial_state": _checks(rows, {"reads-initial-state"}),
        "scenarios_with_helpers": sum(_any(row, {"helpers"}) for row in rows),
        "certificates_valid": sum(row.certificate.valid for row in rows),
        "searched": sum(row.searched is not None for row in rows),
        "solved": sum(row.searched is not None and row.searched.result == "solved" for row in rows),
        "with_witness": sum(bool(row.witness) for row in rows),
        "wrong_solutions_paid": sum(_failed(row, "mutants killed") for row in rows),
    }


def paid_for(row: ScenarioReport, idle: str) -> float | None:
    """What the published rule pays for a state that nobody brought about."""
    return row.paid[idle].paper if idle in row.paid else None


def cannot_hold(row: ScenarioReport) -> list[Finding]:
    """The findings that say that a check cannot hold, one a check."""
    found = {str(f.evidence.get("check")) + f.where: f for f in row.findings if f.kind in CANNOT_HOLD}
    return [finding for finding in found.values() if finding.severity == "error"]


def _failed(row: ScenarioReport, name: str) -> bool:
    return any(proof.name == name and proof.status == "failed" for proof in row.certificate.proofs)


def _any(row: Report, kinds: Iterable[str]) -> bool:
    return any(finding.kind in kinds for finding in row.findings)


def _checks(rows: Sequence[ScenarioReport], kinds: Iterable[str]) -> int:
    """Checks that have a finding of one of these kinds."""
    return sum(
        len({str(f.evidence.get("check")) + f.where for f in row.findings if f.kind in kinds}) for row in rows
    )


def _of_environments(rows: Sequence[EnvironmentReport]) -> dict[str, Any]:
    def with_kind(*kinds: str) -> int:
        return sum(_any(row, kinds) for row in rows)

    return {
        "environments": len(rows),
        "environments_with_errors": sum(any(f.severity == "error" for f in row.findings) for row in rows),
        "tools": sum(row.tools for row in rows),
        "tools_refused": sum(row.refused.get("any", 0) for row in rows),
        "tools_refused_by": dict(sum((Counter(row.refused) for row in rows), Counter[str]())),
        "parameters": sum(row.parameters for row in rows),
        "parameters_described": sum(row.described for row in rows),
        "long_descriptions": sum(row.long_descriptions for row in rows),
        "replies": sum(row.replies for row in rows),
        "replies_aliased": sum(row.aliased for row in rows),
        "environments_not_repeatable": with_kind("not-repeatable", "restore-loses"),
        "environments_that_draw": sum(bool(row.chances) for row in rows),
    }


def table(certified: Certified) -> list[tuple[str, str]]:
    """The totals in words: what, and how many of how many."""
    t = certified.totals
    rows = [
        ("environments examined", f"{t['environments']:,}"),
        ("… with an error", f"{t['environments_with_errors']:,} of {t['environments']:,}"),
        (
            "… whose code asks for clock, ids or chance",
            f"{t['environments_that_draw']:,} of {t['environments']:,}",
        ),
        ("tools a strict provider refuses", f"{t['tools_refused']:,} of {t['tools']:,}"),
        ("parameters with a description", f"{t['parameters_described']:,} of {t['parameters']:,}"),
        ("replies that hand out live state", f"{t['replies_aliased']:,} of {t['replies']:,}"),
        ("scenarios examined", f"{t['scenarios']:,}"),
        ("… that pay an agent for doing nothing", f"{t['paid_for_nothing']:,} of {t['scenarios']:,}"),
        ("… that pay after the database is wiped", f"{t['paid_after_wipe']:,} of {t['scenarios']:,}"),
        (
            "… with a check that cannot hold",
            f"{t['scenarios_that_cannot_be_solved']:,} of {t['scenarios']:,}",
        ),
        (
            "… with checks that contradict each other",
            f"{t['scenarios_with_contradictions']:,} of {t['scenarios']:,}",
        ),
        ("checks that hold before anything is done", f"{t['vacuous_checks']:,} of {t['checks']:,}"),
        ("checks that cannot hold", f"{t['checks_that_cannot_hold']:,} of {t['checks']:,}"),
        ("checks that broke", f"{t['broken_checks']:,} of {t['checks']:,}"),
        ("checks that read initial_state", f"{t['checks_that_read_initial_state']:,} of {t['checks']:,}"),
        ("scenarios with a witness", f"{t['with_witness']:,} of {t['scenarios']:,}"),
        ("… and pay a wrong solution in full", f"{t['wrong_solutions_paid']:,} of {t['with_witness']:,}"),
        ("certificates without a gap", f"{t['certificates_valid']:,} of {t['scenarios']:,}"),
    ]
    return [(words, figure) for words, figure in rows if figure != "0 of 0"]
