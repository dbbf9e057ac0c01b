"""Published EnvScaler data, read and written: environments, scenarios, recorded episodes ↔ our records.

`read_…` gives `Records` whose failures name file and row; `iter_…` gives the same one at a time, for files larger than
memory. A path is a file (JSON, JSON Lines, either gzipped, parquet), a folder, or the name of a data set on the Hugging
Face hub. `write_…` gives the published form back: what was read is written as it came, and what only our records have
stands in a field of its own that other tools pass over (see `exact`). Rows that are records of ours, as `store` writes
them, are read for what they are.

Nothing is executed, judged or mended here: `certify` says what is wrong with published data, `world.replay` plays an
episode again.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from envscaler.error import StoreError
from envscaler.release import episodes, shapes
from envscaler.release.episodes import Form as Form
from envscaler.release.episodes import recorded_calls as recorded_calls
from envscaler.release.episodes import recorded_reward as recorded_reward
from envscaler.release.exact import RowError, Shape, made, record_of, row_of
from envscaler.release.foreign import bystanders_source as bystanders_source
from envscaler.release.hub import local
from envscaler.release.rows import DamagedFile as DamagedFile
from envscaler.release.rows import Kind, files_of, is_ours, read_rows
from envscaler.release.rows import damaged_files as damaged_files
from envscaler.release.shapes import Guards as Guards
from envscaler.release.shapes import env_id as env_id
from envscaler.release.shapes import task_id as task_id
from envscaler.schema import Failure, Rollout, Scenario, Skeleton
from envscaler.store import Records, write_text

R = TypeVar("R", Skeleton, Scenario, Rollout)
STAGE = "release"
"""The stage of the failures."""


# Reading


def read_environments(path: Path | str) -> Records[Skeleton]:
    """Read published environments.

    The published name is `extra["env_id"]`; rules come without invariants, for nobody wrote any.

    Raises:
        StoreError: there is nothing to read, or not one row could be read.
    """
    return _all("environments", path, iter_environments(path))


def read_scenarios(path: Path | str, skeletons: Iterable[Skeleton] = ()) -> Records[Scenario]:
    """Read published scenarios; those without check functions come with no checks.

    The published name is `extra["task_id"]`. All checks are goals, and `may_change` is empty: nobody declared either,
    so they are to be graded by the reward `paper`, or after somebody has.

    Args:
        path: a file, a folder, or the name of a data set.
        skeletons: the environments they play in; one of another environment is a failure. Without any, `skeleton_id`
            is the published `env_id`.

    Raises:
        StoreError: there is nothing to read, or not one row could be read.
    """
    return _all("scenarios", path, iter_scenarios(path, skeletons))


def read_trajectories(
    path: Path | str, skeletons: Iterable[Skeleton] = (), scenarios: Iterable[Scenario] = ()
) -> Records[Rollout]:
    """Read recorded episodes; the recorded reward is `recorded_reward(rollout)`, and there are no outcomes.

    Args:
        path: a file, a folder, or the name of a data set.
        skeletons: the environments they were played in.
        scenarios: the scenarios that were played; of one that is not among them, `scenario_id` is the published
            `task_id`.

    Raises:
        StoreError: there is nothing to read, or not one row could be read.
    """
    return _all("trajectories", path, iter_trajectories(path, skeletons, scenarios))


def iter_environments(path: Path | str) -> Iterator[Skeleton | Failure]:
    """`read_environments`, one at a time. An environment that is there twice is given once."""
    seen: dict[str, str] = {}
    for place, one in _each("environments", path, shapes.environments()):
        if isinstance(one, Failure):
            yield one
        elif (name := env_id(one)) not in seen:
            seen[name] = one.id
            yield one
        elif seen[name] != one.id:
            yield failure(place, RowError(f"env_id: {name!r} is there twice; the first is kept."))


def iter_scenarios(path: Path | str, skeletons: Iterable[Skeleton] = ()) -> Iterator[Scenario | Failure]:
    """`read_scenarios`, one at a time."""
    yield from (one for _, one in _each("scenarios", path, shapes.scenarios(skeletons)))


def iter_trajectories(
    path: Path | str, skeletons: Iterable[Skeleton] = (), scenarios: Iterable[Scenario] = ()
) -> Iterator[Rollout | Failure]:
    """`read_trajectories`, one at a time."""
    shape = episodes.trajectories(skeletons, scenarios)
    yield from (one for _, one in _each("trajectories", path, shape))


def _each(kind: Kind, path: Path | str, shape: Shape[R]) -> Iterator[tuple[str, R | Failure]]:
    """The records of a path with their places."""
    here = local(path)
    fitting, damaged = files_of(here, kind)
    for file, why in damaged:
        yield str(file), failure(str(file), DamagedFile(why))
    for file in fitting:
        for place, row, problem in read_rows(file):
            if problem is not None:
                yield place, failure(place, problem)
                continue
            try:
                yield place, _record(place.removeprefix(f"{file}:"), row, shape)
            except RowError as error:
                yield place, failure(place, error)


def _record(key: str, row: object, shape: Shape[R]) -> R:
    if not isinstance(row, dict):
        raise RowError(f"Expected an object, got {row!r:.60}.")
    if is_ours(row):
        return made(shape, row)
    if shape.name and shape.name not in row and not key.startswith("[") and not key.isdigit():
        row = {shape.name: key, **row}  # in a dict of rows the name may be the key alone
    return record_of(row, shape)


def failure(place: str, error: Exception) -> Failure:
    """What could not be read, and where."""
    kind = type(error).__name__ if isinstance(error, StoreError) else "StoreError"
    return Failure(stage=STAGE, parent_id=place, error=kind, message=str(error))


def _all(kind: Kind, path: Path | str, each: Iterator[R | Failure]) -> Records[R]:
    records: Records[R] = Records()
    for one in each:
        if isinstance(one, Failure):
            records.failures.append(one)
        else:
            records.append(one)
    if records.failures and not records:
        raise StoreError(
            f"Expected {kind} in {path}, but none can be read. First: {records.failures[0].message}"
        )
    return records


# Writing


def write_environments(skeletons: Iterable[Skeleton], path: Path | str, *, keyed: bool = True) -> Path:
    """Write environments in the published form.

    Args:
        skeletons: what to write.
        path: `.jsonl` for one a line, else one JSON file.
        keyed: whether the JSON file is a dict by `env_id`, which the published tools want, or a list.

    Raises:
        StoreError: it cannot be written.
    """
    rows = [row_of(skeleton, shapes.environments()) for skeleton in skeletons]
    return _write(rows, path, "env_id" if keyed else "")


def write_scenarios(
    scenarios: Iterable[Scenario],
    path: Path | str,
    skeletons: Iterable[Skeleton],
    *,
    guards: Guards = "apart",
) -> Path:
    """Write scenarios in the published form.

    Args:
        scenarios: what to write.
        path: `.jsonl` for one a line, else one JSON file.
        skeletons: the environments they play in.
        guards: where guards, `bystanders` among them, go for graders that take the mean of all check functions: `apart`
            writes the goals alone; `added` each guard as one more check, which pays an agent for doing nothing;
            `within` lets every goal ask the guards too, so that the published mean is our reward. Reading it back
            gives our checks whichever it was.

    Raises:
        StoreError: it cannot be written.
        ParameterError: a skeleton is missing, or there is no such way.
        CheckError: with `within`, a check that does not parse.
    """
    shape = shapes.scenarios(skeletons, guards)
    return _write([row_of(scenario, shape) for scenario in scenarios], path)


def write_trajectories(
    rollouts: Iterable[Rollout],
    path: Path | str,
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    *,
    form: Form = "result",
) -> Path:
    """Write episodes in a published form.

    Args:
        rollouts: what to write.
        path: `.jsonl` for one a line, else one JSON file.
        skeletons: the environments they were played in.
        scenarios: the scenarios that were played.
        form: `result`, as the published tools record an episode, or `training`, as the published training data has it:
            messages and tools as text, one call a message, `reasoning_content` everywhere.

    Raises:
        StoreError: it cannot be written.
        ParameterError: there is no such form.
    """
    shape = episodes.trajectories(skeletons, scenarios, form)
    return _write([row_of(rollout, shape) for rollout in rollouts], path)


def write_sample(
    folder: Path | str,
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    rollouts: Iterable[Rollout] = (),
    *,
    guards: Guards = "apart",
) -> Path:
    """Write a folder in the published form: `env_metadata.json`, `rl_scenarios.json`, `trajectories.json`.

    Raises:
        StoreError: it cannot be written.
        ParameterError: a skeleton is missing.
    """
    folder, worlds, posed = Path(folder), list(skeletons), list(scenarios)
    write_environments(worlds, folder / "env_metadata.json")
    write_scenarios(posed, folder / "rl_scenarios.json", worlds, guards=guards)
    if played := list(rollouts):
        write_trajectories(played, folder / "trajectories.json", worlds, posed)
    return folder


def _write(rows: list[dict], path: Path | str, key: str = "") -> Path:
    path = Path(path)
    try:
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
    except (ValueError, RecursionError) as error:
        raise StoreError(f"Expected records that JSON can hold to write to {path}, but {error}.") from error
    if path.suffix == ".jsonl":
        return write_text(path, "".join(f"{line}\n" for line in lines))
    if key:
        lines = [
            f"{json.dumps(row[key], ensure_ascii=False)}: {line}"
            for row, line in zip(rows, lines, strict=True)
        ]
    start, end = "{}" if key else "[]"
    return write_text(path, start + "\n" + ",\n".join(lines) + ("\n" if lines else "") + end + "\n")
