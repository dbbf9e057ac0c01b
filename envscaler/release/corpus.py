"""A corpus as others get it: a folder with train and test, our records and the published form of them, and a card.

    README.md            the data set card, which the Hugging Face hub and `datasets.load_dataset` understand
    train/, test/        environments.jsonl, scenarios.jsonl, rollouts.jsonl: our records, a line each
    train/published/ …   env_metadata.json, rl_scenarios.json, trajectories.json: the same as EnvScaler publishes them
    failures.jsonl       what was left out, and why; not there where nothing was

`split` divides and `card` describes it. Nothing is executed here, and nothing is sent anywhere.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from envscaler.error import ParameterError, StoreError
from envscaler.given import a_path, at_least, many
from envscaler.model.request import Encoder
from envscaler.project import check_seed
from envscaler.release import Guards, card, write_sample
from envscaler.release.card import About
from envscaler.release.split import SPLITS, Split, divide, first_of_each, followers, left_out, once
from envscaler.schema import Failure, Rollout, Scenario, Skeleton, Task, Theme
from envscaler.store import Records, read_records, write_records, write_text

_LEFT_OUT = "failures.jsonl"
_HELD = {*(f"{name}.jsonl" for name in card.NAMES), "published", *card.PUBLISHED.values()}
_HELD |= {card.FILE, _LEFT_OUT, *SPLITS}
"""What may lie in the folder of a corpus that is written anew, and in its folders."""


@dataclass(frozen=True)
class Corpus:
    """What was written."""

    folder: Path
    """Where."""
    splits: dict[str, Split]
    """`train` and, where there is one, `test`."""
    failures: list[Failure]
    """What was left out, and why."""

    def frame(self) -> pd.DataFrame:
        """One row a split: how many environments, tools, scenarios, checks and rollouts it has."""
        return pd.DataFrame([{"split": name, **split.counts} for name, split in self.splits.items()])


def save_corpus(
    folder: str | Path,
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    *,
    rollouts: Iterable[Rollout] = (),
    themes: Iterable[Theme] = (),
    tasks: Iterable[Task] = (),
    test_share: float = 0.2,
    seed: int = 0,
    encoder: Encoder | None = None,
    certified: bool = True,
    environments: int | None = None,
    at_most: int | None = None,
    guards: Guards = "within",
    licence: str = "mit",
    title: str = "Executable tool environments",
    stamp: str = "",
) -> Corpus:
    """Write a corpus; a folder that holds one is replaced whole, so a fault leaves the old one or the new one.

    Only a process that is killed between two renames leaves none, and the old one beside it as `.<name>.…/old`.

    The same records, share and seed give the same bytes, whatever order the records come in. Left out, with a failure
    each, are scenarios whose environment is not there, scenarios without a valid certificate, and rollouts whose
    scenario is not there.

    Args:
        folder: where to; there is nothing there yet, or a corpus.
        skeletons: the environments.
        scenarios: the scenarios in them.
        rollouts: episodes in those, all of them; `pick_trajectories` chooses.
        themes: the themes behind the environments, and
        tasks: the requests behind those: neither is written, but the card says where the requests come from.
        test_share: share of the environments that are the test's; with 0 there is no test.
        seed: of the division.
        encoder: with one, environments of nearly the same meaning stay on one side as well: of use where several runs
            come together, for the themes of one run were merged by it already.
        certified: whether scenarios must have a valid certificate.
        environments: so many environments at most, and
        at_most: so many scenarios of each and rollouts of each of those, in the order of their ids, scenarios that were
            played first; None for all.
        guards: where guards go in the published form, see `write_scenarios`; `within` makes the published mean of the
            check functions our reward.
        licence: under which it is given, as the hub writes it.
        title: of the card.
        stamp: model, scale and seed of the run, as `Run.stamp` says them.

    Raises:
        ParameterError: a number is out of range, or all environments are one world and cannot be divided.
        StoreError: there is something else in the folder, or it cannot be written, or there are no environments.
    """
    folder, share = a_path(folder).absolute(), test_share
    check_seed(seed)
    if not isinstance(share, int | float) or not 0 <= share < 1:
        raise ParameterError(f"Expected a share of the test from 0 to below 1, got {share!r}.")
    for bound, what in ((environments, "environments"), (at_most, "scenarios an environment")):
        if bound is not None:
            at_least(bound, 1, what)
    _refuse_others(folder)
    worlds = once(many(skeletons, Skeleton))
    if not worlds:
        raise StoreError(f"Expected at least one environment for a corpus at {folder}, got none.")
    posed, played, failures = _whole(worlds, many(scenarios, Scenario), many(rollouts, Rollout), certified)
    worlds = worlds[:environments]
    posed = first_of_each(followers(posed, worlds), at_most, {rollout.scenario_id for rollout in played})
    played = first_of_each(followers(played, posed), at_most)
    splits = divide(worlds, posed, played, test_share=share, seed=seed, encoder=encoder)
    behind = card.requests_behind(worlds, many(themes, Theme), many(tasks, Task))
    about = About(
        title, licence, stamp, share, seed, encoder.name if encoder else "", certified, behind, failures
    )
    _replace(folder, splits, about, guards)
    return Corpus(folder, splits, failures)


def load_corpus(folder: str | Path, split: str = "train") -> Split:
    """Read one side of a corpus; what it has no file of is empty, and rows that do not fit are failures of their kind.

    The published form is read by `envscaler.release`: `read_environments(folder / split / "published")` and so on.

    Raises:
        ParameterError: there is no such split.
        StoreError: there is no corpus, or one without that split, or a file that cannot be read.
    """
    if split not in SPLITS:
        raise ParameterError(f"Expected a split out of {', '.join(SPLITS)}, got {split!r}.")
    here = a_path(folder) / split
    if not (here / f"{card.NAMES[0]}.jsonl").is_file():
        raise StoreError(f"Expected a corpus at {folder} with environments in {split}/, but there are none.")
    return Split(*(_read(here / f"{name}.jsonl", kind) for name, kind in card.KINDS.items()))


def _read(path: Path, kind: type) -> Records:
    return read_records(path, kind, stage="corpus") if path.exists() else Records()


def _whole(
    worlds: list[Skeleton], scenarios: list[Scenario], rollouts: list[Rollout], certified: bool
) -> tuple[list[Scenario], list[Rollout], list[Failure]]:
    """Scenarios and rollouts, each once, all of whose parents are there; and a failure for each of the others."""
    here = {skeleton.id for skeleton in worlds}
    posed, strays = left_out(
        scenarios, lambda s: s.skeleton_id in here, "NoEnvironment",
        "whose environment {parent} is among those given, got one without; add the skeleton it plays in.",
    )  # fmt: skip
    posed, doubtful = left_out(
        posed, lambda s: not certified or (s.certificate is not None and s.certificate.valid), "NotCertified",
        "with a valid certificate, got one without; certify it, or keep such with certified=False.",
    )  # fmt: skip
    kept = {scenario.id for scenario in posed}
    played, lost = left_out(
        rollouts, lambda r: r.scenario_id in kept, "NoScenario",
        "whose scenario {parent} is in the corpus, got one without; add the scenario, or see why it was left out.",
    )  # fmt: skip
    return once(posed), once(played), once([*strays, *doubtful, *lost])


def _refuse_others(folder: Path) -> None:
    """Refuse to replace what is no corpus.

    Raises:
        StoreError: there is something else.
    """
    try:
        inner = (path for side in SPLITS for path in (folder / side).rglob("*"))
        held = {path.name for path in (*folder.iterdir(), *inner)} if folder.exists() else set()
        ours = not held or (held <= _HELD and card.MARK in (folder / card.FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"Expected a folder for a corpus at {folder}, but {error}.") from error
    if not ours:
        raise StoreError(
            f"Expected an empty folder or a corpus at {folder}, but it holds "
            f"{', '.join(sorted(held - _HELD or held)[:6])}. "
            "Choose another folder, or move that away."
        )


def _replace(folder: Path, splits: dict[str, Split], about: About, guards: Guards) -> None:
    """Write everything beside the folder, then put it in its place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
            new, old = Path(beside) / "new", Path(beside) / "old"
            _write(new, splits, about, guards)
            try:
                if folder.exists():
                    folder.rename(old)
                new.rename(folder)
            finally:
                if old.exists() and not folder.exists():
                    old.rename(folder)
    except OSError as error:
        raise StoreError(
            f"Expected to write a corpus to {folder}, but {error.strerror or error}. Choose another folder."
        ) from error


def _write(folder: Path, splits: dict[str, Split], about: About, guards: Guards) -> None:
    for name, split in splits.items():
        here = folder / name
        for kind, records in split.records.items():
            if records:  # a loader stumbles over an empty file
                write_records(list(records), here / f"{kind}.jsonl")
        write_sample(here / "published", split.skeletons, split.scenarios, split.rollouts, guards=guards)
    if about.failures:
        write_records(about.failures, folder / _LEFT_OUT)
    write_text(folder / card.FILE, card.card(splits, about))
