"""A corpus as others get it: a folder with train and test, our records and the published form of them, and a card.

    README.md            the data set card, which the Hugging Face hub and `datasets.load_dataset` understand
    train/, test/        environments.jsonl, scenarios.jsonl, rollouts.jsonl: our records, a line each
    train/published/ …   env_metadata.json, rl_scenarios.json, trajectories.json: the same as EnvScaler publishes them
    failures.jsonl       what was left out, and why; not there where nothing was

`split` divides and `card` describes it. Nothing is executed here, and nothing is sent anywhere.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from envscaler.error import EnvscalerError, ParameterError, StoreError
from envscaler.given import a_path, at_least, many
from envscaler.model.request import Encoder
from envscaler.project import check_seed
from envscaler.release import card, env_id, episodes, shapes, write_sample
from envscaler.release.card import About
from envscaler.release.exact import Shape, row_of
from envscaler.release.split import SPLITS, C, Split, divide, first_of_each, followers, left_out, once, parent
from envscaler.schema import Failure, Record, Rollout, Scenario, Skeleton, Task, Theme
from envscaler.store import Records, read_records, write_records, write_text

_LEFT_OUT = "failures.jsonl"
_INNER = ["", "/published", *(f"/{name}.jsonl" for name in card.NAMES)]
_INNER += [f"/published/{name}" for name in card.PUBLISHED.values()]
_HELD = {card.FILE, _LEFT_OUT, *(side + name for side in SPLITS for name in _INNER)}
"""What may lie in the folder of a corpus that is written anew."""


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
    licence: str = "mit",
    title: str = "Executable tool environments",
    stamp: str = "",
) -> Corpus:
    """Write a corpus; a folder that holds one is replaced whole, so a fault leaves the old one or the new one.

    Only a process that is killed between two renames leaves none, and the old one beside it as `.corpus-…/old`.

    The same records, share and seed give the same bytes, whatever order the records come in. Left out, with a failure
    each, are records that cannot be written in both forms and read back equal, an environment whose published name
    another has, scenarios whose environment is not there or that have no valid certificate, and rollouts whose scenario
    is not there. The published form has the guards `within`, so that its mean of the check functions is our reward;
    `release.write_sample` writes it otherwise.

    Args:
        folder: where to; there is nothing there yet, or a corpus. It is not the one you are in.
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
        licence: under which it is given, as the hub writes it.
        title: of the card.
        stamp: model, scale and seed of the run, as `Run.stamp` says them.

    Raises:
        ParameterError: a number is out of range, or all environments are one world and cannot be divided.
        StoreError: there is something else in the folder, or it cannot be written, or there are no environments that
            can.
    """
    share = test_share
    check_seed(seed)
    if not isinstance(share, int | float) or not 0 <= share < 1:
        raise ParameterError(f"Expected a share of the test from 0 to below 1, got {share!r}.")
    for bound, what in ((environments, "environments"), (at_most, "scenarios an environment")):
        if bound is not None:
            at_least(bound, 1, what)
    folder = _place(a_path(folder))
    whole, failures = _whole(
        many(skeletons, Skeleton), many(scenarios, Scenario), many(rollouts, Rollout), certified
    )
    worlds = whole.skeletons[:environments]
    if not worlds:
        why = next((f" The first: {one.message}" for one in failures if one.error == "Unwritable"), "")
        raise StoreError(
            f"Expected at least one environment that can be written to a corpus at {folder}, got none.{why}"
        )
    rather = {rollout.scenario_id for rollout in whole.rollouts}
    posed = first_of_each(followers(whole.scenarios, worlds), at_most, rather)
    played = first_of_each(followers(whole.rollouts, posed), at_most)
    splits = divide(worlds, posed, played, test_share=share, seed=int(seed), encoder=encoder)
    behind = card.requests_behind(worlds, many(themes, Theme), many(tasks, Task))
    about = About(
        title, licence, stamp, share, seed, encoder.name if encoder else "", certified, behind, failures, whole,
    )  # fmt: skip
    _replace(folder, splits, about)
    return Corpus(folder, splits, failures)


def load_corpus(folder: str | Path, split: str = "train") -> Split:
    """Read one side of a corpus; what it has no file of is empty.

    Rows that do not fit are failures of their kind, and so are those whose environment or scenario is not there, as
    after an edit: an edited row has another id. Certificates are read as they stand; `certify` makes them anew.

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
    worlds, scenarios, rollouts = (_read(here / f"{name}.jsonl", kind) for name, kind in card.KINDS.items())
    posed, strays = _followers(scenarios, worlds, "environment")
    played, lost = _followers(rollouts, posed, "scenario")
    return Split(
        worlds, Records(posed, scenarios.failures + strays), Records(played, rollouts.failures + lost)
    )


def _read(path: Path, kind: type[Record]) -> Records[Any]:
    return read_records(path, kind, stage="corpus") if path.exists() else Records()


def _whole(
    skeletons: list[Skeleton], scenarios: list[Scenario], rollouts: list[Rollout], certified: bool
) -> tuple[Split, list[Failure]]:
    """The records that can be written and all of whose parents can, each once; and a failure for each of the others."""
    fit, unfit = left_out(skeletons, _fault(shapes.environments()), "Unwritable")
    names: dict[str, str] = {}
    worlds, taken = left_out(
        once(fit), lambda s: (names.setdefault(env_id(s), s.id) != s.id) * f"whose published name {env_id(s)!r:.80} no "
        "other has, got a second; change its `extra`.", "NameTaken",
    )  # fmt: skip
    posed, strays = _followers(scenarios, worlds, "environment")
    posed, doubtful = left_out(
        posed, lambda s: bool(certified and not (s.certificate and s.certificate.valid))
        * "with a valid certificate, got one without; certify it, or keep such with certified=False.", "NotCertified",
    )  # fmt: skip
    posed, unfit_too = left_out(posed, _fault(shapes.scenarios(worlds, "within")), "Unwritable")
    posed = once(posed)
    played, lost = _followers(rollouts, posed, "scenario")
    played, unfit_as_well = left_out(played, _fault(episodes.trajectories(worlds, posed)), "Unwritable")
    kept = {scenario.id for scenario in posed}  # one that is there twice may be certified once
    doubtful = [failure for failure in doubtful if failure.parent_id not in kept]
    failures = once([*unfit, *taken, *strays, *doubtful, *unfit_too, *lost, *unfit_as_well])
    return Split(Records(worlds), Records(posed), Records(once(played))), failures


def _followers(records: Iterable[C], parents: Iterable[Record], kind: str) -> tuple[list[C], list[Failure]]:
    """The records whose parent, of that kind, is there, and a failure for each of the others."""
    here = {one.id for one in parents}
    return left_out(
        records, lambda r: (parent(r) not in here) * f"whose {kind} {parent(r)} is in the corpus, got one without; add "
        f"the {kind}, or see why it was left out.", f"No{kind.title()}",
    )  # fmt: skip


def _fault(shape: Shape[Any]) -> Callable[[Any], str]:
    """What keeps a record from being written in both forms and read back equal; nothing where it can be."""

    def fault(record: Any) -> str:
        try:
            json.dumps(row_of(record, shape), allow_nan=False)
            again = type(record).model_validate(json.loads(record.model_dump_json()))
            why = "" if again == record else "it would be read back otherwise, as values that are no JSON are"
        except (ValueError, TypeError, RecursionError, EnvscalerError) as error:
            why = str(error)
        return why and f"that can be written and read back, but {why.rstrip('.')}. Mend it."

    return fault


def _place(folder: Path) -> Path:
    """The folder itself, where a link leads to it.

    Raises:
        StoreError: there is something else than a corpus, or it cannot be looked at.
    """
    try:
        place = folder.resolve()
        within = Path.cwd().is_relative_to(place)
        names = [path.name for path in place.iterdir()] if place.exists() else []
        inner = (path.relative_to(place).as_posix() for path in place.rglob("*")) if names else iter(())
        others = list(islice((name for name in inner if name not in _HELD), 6))
        if names and not others and card.MARK not in (place / card.FILE).read_text(encoding="utf-8"):
            others = names[:6]
    except (OSError, ValueError, RuntimeError) as error:
        raise StoreError(f"Expected a folder for a corpus at {folder}, but {error}.") from error
    if within or others:
        why = "you are in it" if within else f"it holds {', '.join(sorted(others))}"
        raise StoreError(
            f"Expected an empty folder or a corpus at {place}, but {why}. Choose another folder"
            + (", or move that away." if others else ".")
        )
    return place


def _replace(folder: Path, splits: dict[str, Split], about: About) -> None:
    """Write everything beside the folder, then put it in its place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as at_end:
            beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".corpus-"))
            for _ in range(2):  # again where Ctrl-C stops the first
                at_end.callback(shutil.rmtree, beside, ignore_errors=True)
            new, old = beside / "new", beside / "old"
            _write(new, splits, about)
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


def _write(folder: Path, splits: dict[str, Split], about: About) -> None:
    for name, split in splits.items():
        here = folder / name
        for kind, records in split.records.items():
            if records:  # a loader stumbles over an empty file
                write_records(list(records), here / f"{kind}.jsonl")
        write_sample(here / "published", split.skeletons, split.scenarios, split.rollouts, guards="within")
    if about.failures:
        write_records(about.failures, folder / _LEFT_OUT)
    write_text(folder / card.FILE, card.card(splits, about))
