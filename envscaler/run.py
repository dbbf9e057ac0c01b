"""One run of the series: which model, at which scale, from which seed; where its records and figures lie.

A notebook opens a run, reads the records of the stage before it, and writes its own. This module decides nothing
about records and starts nothing (`series` runs the notebooks).
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from envscaler import project, schema
from envscaler.error import ParameterError, StoreError
from envscaler.model.budget import Ledger, check_budget
from envscaler.store import Records, read_records, write_records

R = TypeVar("R", bound=Records[Any])

_KINDS: dict[str, type[schema.Record]] = {
    "tasks": schema.Task,
    "themes": schema.Theme,
    "skeletons": schema.Skeleton,
    "audits": schema.Audit,
    "scenarios": schema.Scenario,
    "rollouts": schema.Rollout,
    "worlds": schema.Skeleton,
}
_NOTEBOOKS = {stage: f"{number:02d}_{stage}" for number, stage in enumerate(project.STAGES, start=1)}
_NOTEBOOKS["worlds"] = _NOTEBOOKS["scenarios"]


@dataclass(frozen=True)
class Run:
    """A named run; see `open_run`."""

    model: str
    """Name of the model."""
    scale: project.Scale
    """How much it makes."""
    seed: int
    """Seed of every random choice."""
    name: str
    """The file name of its records, without the ending."""
    budget_usd: float | None = None
    """Dollars that all of its notebooks together may spend on models; None for no limit."""

    @cached_property
    def ledger(self) -> Ledger:
        """What the run has paid for, over all its notebooks; hand it to `connect` of each of its models."""
        return Ledger(project.build_dir() / "accounts" / f"{self.name}.jsonl", budget_usd=self.budget_usd)

    @property
    def stamp(self) -> str:
        """What every figure and table carries: model, scale and seed, and the run where it has a name of its own."""
        usual = self.name == project.run_name(self.model, self.scale.name)
        named = "" if usual else f" · run {self.name}"
        return f"model {self.model} · scale {self.scale.name} · seed {self.seed}{named}"

    def path(self, stage: str) -> Path:
        """The file of one stage; `worlds` are the skeletons that the scenarios play in, mended ones included."""
        if stage == "worlds":
            return self.path("scenarios").with_suffix(".worlds.jsonl")
        return project.stage_path(stage, self.name, self.scale.name)

    def read(self, stage: str) -> Records[Any]:
        """The records of a stage.

        Raises:
            StoreError: the stage has not been run yet or made nothing, or none of its rows can be read.
        """
        if not self.path(stage).exists():
            raise StoreError(
                f"Expected the {stage} of run {self.name!r} at {self.path(stage)}, but there is no such file. "
                f"Run notebook {_NOTEBOOKS[stage]} with the same model, scale and run first."
            )
        return self.some(read_records(self.path(stage), _KINDS[stage], stage=stage))

    def some(self, records: R) -> R:
        """The same records, if there are any: what follows would break on none, and say less well why.

        Raises:
            StoreError: there are none; the first failure tells why.
        """
        if records:
            return records
        failures = getattr(records, "failures", [])
        first = f" The first of {len(failures)} failures: {failures[0].message}" if failures else ""
        raise StoreError(f"Expected at least one record to go on with in run {self.name!r}, got none.{first}")

    def write(self, stage: str, records: Records[Any]) -> Path:
        """Write the records of a stage, atomically, and its failures beside them."""
        return write_records(records, self.path(stage))

    def save_figure(self, figure: Any, name: str, table: pd.DataFrame) -> Path:
        """Write a figure as PNG and PDF with the table behind it as CSV; returns the path of the PNG."""
        from envscaler.figures import save_figure  # matplotlib is heavy, and most notebooks draw late

        return save_figure(
            figure, name, folder=project.figures_dir(self.scale.name), table=table, stamp=self.stamp
        )


def open_run(
    model: str = "builtin",
    scale: str = "default",
    seed: int = 0,
    run: str = "",
    budget_usd: float | None = None,
) -> Run:
    """Open a run; `run` is its name, by default model and scale, e.g. `builtin-default`.

    Args:
        model: who answers.
        scale: smoke, default or paper.
        seed: of every random choice.
        run: its name.
        budget_usd: dollars that its `ledger` lets all models spend together; None for no limit.

    Raises:
        ParameterError: no such model name, scale or name of a run, the seed is not a whole number from 0 to 2³¹ - 1, or
            the budget is no amount.
    """
    project.check_seed(seed)
    check_budget(budget_usd)
    if not isinstance(model, str) or not model.strip():
        raise ParameterError(f"Expected 'builtin' or a model's name, got {model!r}.")
    sized = project.get_scale(scale)
    name = run or project.run_name(model, scale)
    project.check_run_name(name)
    return Run(model=model, scale=sized, seed=int(seed), name=name, budget_usd=budget_usd)
