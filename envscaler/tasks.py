"""Stage 1: ordinary requests come in, and each is judged: does it presuppose a world with a state?

    requests (JSONL, JSON, CSV) → Task → Task with `stateful` and `reason`

`load_tasks` reads the project's own requests or any file of requests, a bad row becoming a `Failure` that
names file and line. The text clean-up of the paper's collecting step is on offer as named steps; nothing but
exact repetition is dropped unless asked for. `judge_task` puts the paper's four criteria to a model. This
module does not name the world (`themes` does), and it never writes to the file it reads.
"""

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from envscaler.error import ParameterError, StoreError
from envscaler.given import a_path, at_least
from envscaler.model.ask import ask, origin
from envscaler.model.request import Model
from envscaler.parallel import run_all
from envscaler.project import check_seed, published_labels_path, seed_tasks_path
from envscaler.schema import Failure, Part, Task
from envscaler.store import Records, read_rows, sentence

TEXT_FIELDS = ("text", "task", "query", "request", "instruction", "question")
"""Where the request may stand in a row; the first that is there counts."""
SOURCE_FIELDS = ("source", "task_from")
"""Where its source may stand; otherwise the file's name is the source."""
CleanUp = Literal["user_turn", "english", "modality", "noise"]
PAPER_CLEAN_UP: tuple[CleanUp, ...] = ("user_turn", "english", "modality", "noise")
"""The steps of the paper's collection (PAPER 2.2, step 0), in its order; exact repetition is dropped
always."""

_OTHER_MEDIA = ("image", "photo", "picture", "video", "audio", "sound", "speech", "clip")
_NOISE = ("Role definition:", "USD", "ETH", "Bitcoin", "Ethereum", "@", ".com", "http:", "https:")
_TURN_ENDS = ("\nGenerate API Request: ", "\nAPI-Request: ", "TIME: ", "\nAI: ")
_LABELS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Judgement(Part):
    """What a model answers to `tasks/judge`."""

    reason: str
    """Why."""
    stateful: bool
    """Whether the request presupposes a world with a state."""


def load_tasks(
    path: str | Path | None = None,
    *,
    limit: int | None = None,
    seed: int = 0,
    clean_up: Sequence[CleanUp] = (),
) -> Records[Task]:
    """Read requests; what cannot be used is listed in `.failures` with file, line and reason.

    Args:
        path: a JSON Lines, JSON or CSV file; without it, the requests written for this project. A row is a
            string, or an object with the request in one of `TEXT_FIELDS`.
        limit: how many to draw at random; they stay in file order. None for all.
        seed: seed of the draw.
        clean_up: steps of `PAPER_CLEAN_UP` to apply: `user_turn` cuts the first user turn out of an API-Bank
            dialogue; `english`, `modality` and `noise` drop texts that are not ASCII, speak of pictures or
            sound, or hold addresses and currency codes.

    Raises:
        StoreError: the file is missing or unreadable, or no row of it could be used.
        ParameterError: `limit` or `seed` is no whole number that will do, a clean-up step is unknown, or `path` is
            none.
    """
    if not isinstance(path, str | os.PathLike | None):
        raise ParameterError(f"Expected the path of a file or None for the project's own, got {path!r:.60}.")
    file = Path(path) if path is not None else seed_tasks_path()
    steps = _steps(clean_up)
    limit = None if limit is None else at_least(limit, 1, "limit")
    check_seed(seed)
    tasks: Records[Task] = Records()
    seen: dict[str, str] = {}
    for place, row, problem in read_rows(file):
        taken = (
            _failure(place, "StoreError", problem) if problem else _take(place, row, file.stem, steps, seen)
        )
        (tasks if isinstance(taken, Task) else tasks.failures).append(taken)  # type: ignore[arg-type]
    if not tasks:
        first = f" First: {tasks.failures[0].message}" if tasks.failures else ""
        raise StoreError(f"Expected requests in {file}, but no row of it can be used.{first}")
    return _draw(tasks, limit, seed)


def add_labels(tasks: Records[Task], path: str | Path | None = None) -> Records[Task]:
    """The same tasks with the labels of published requests, which are kept by hash and not by text.

    A label that a task brings itself stays. `data/tasks/LABELS.md` says how those of the project were given.

    Args:
        tasks: what `load_tasks` read.
        path: rows of `hash` (first 16 hex digits of the sha256 of the text) and `stateful`; default the project's.

    Raises:
        StoreError: the file is missing or unreadable.
    """
    rows = (
        row
        for _, row, problem in read_rows(published_labels_path() if path is None else a_path(path))
        if not problem
    )
    known = {
        str(row["hash"]): row["stateful"]
        for row in rows
        if isinstance(row, dict) and "hash" in row and isinstance(row.get("stateful"), bool)
    }

    def labelled(task: Task) -> Task:
        label = known.get(hashlib.sha256(task.text.encode()).hexdigest()[:16])
        return task if task.label is not None or label is None else task.replace(label=label)

    return Records(map(labelled, tasks), tasks.failures)


def judge_task(task: Task, model: Model, *, seed: int | None = None) -> Task:
    """The task with `stateful` and `reason` set by the model (PAPER 2.2, step 1).

    Raises:
        ModelError: the model cannot be reached or does not answer in form.
    """
    judgement = ask(model, "tasks/judge", {"request": task.text}, Judgement)
    return task.replace(
        stateful=judgement.stateful, reason=judgement.reason, origin=origin(model, "tasks/judge", seed=seed)
    )


def judge_tasks(
    tasks: Sequence[Task], model: Model, *, seed: int | None = None, progress: bool = True
) -> Records[Task]:
    """All tasks with `stateful` and `reason` set, in order; those that could not be judged are in `.failures`."""
    judged = run_all(
        partial(judge_task, model=model, seed=seed),
        tasks,
        stage="tasks",
        workers=model.workers,
        progress=progress,
    )
    return Records(judged, [*getattr(tasks, "failures", []), *judged.failures])


def _draw(tasks: Records[Task], limit: int | None, seed: int) -> Records[Task]:
    if limit is None or limit >= len(tasks):
        return tasks
    drawn = np.sort(np.random.default_rng(seed).permutation(len(tasks))[:limit])
    return Records((tasks[place] for place in drawn), tasks.failures)


class _Unusable(Exception):
    """Why a row gives no task; never leaves this module."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error = error


def _failure(place: str, error: str, message: str) -> Failure:
    return Failure(stage="tasks", parent_id=place, error=error, message=message)


def _take(
    place: str, row: Any, default_source: str, steps: list["_Step"], seen: dict[str, str]
) -> Task | Failure:
    try:
        task = _read(row, default_source)
        text = task.text
        for step in steps:
            text = step(text)
        if first := seen.get(text):
            raise _Unusable("Duplicate", f"The same request stands at {first} already.")
    except _Unusable as unusable:
        return _failure(place, unusable.error, str(unusable))
    seen[text] = place
    return task if text == task.text else task.replace(text=text)


def _read(row: Any, default_source: str) -> Task:
    fields = {"text": row} if isinstance(row, str) else row
    if not isinstance(fields, dict):
        raise _Unusable(
            "StoreError", f"Expected a request or an object with one, got {type(row).__name__}: {row!r:.60}."
        )
    name = next((name for name in TEXT_FIELDS if fields.get(name) is not None), None)
    if name is None:
        raise _Unusable(
            "StoreError",
            f"Expected a request under one of {', '.join(TEXT_FIELDS)}, got {list(fields)!r:.120}.",
        )
    text = fields[name]
    if not isinstance(text, str) or not text.strip():
        raise _Unusable("StoreError", f"Expected a text under {name!r}, got {text!r:.60}.")
    source = next((str(fields[name]) for name in SOURCE_FIELDS if fields.get(name)), default_source)
    try:
        return Task(text=text.strip(), source=source, label=_label(fields.get("label")))
    except ValidationError as error:
        raise _Unusable("StoreError", f"Expected a request, but {sentence(error)}") from error


def _label(value: Any) -> bool | None:
    if value is None or value == "":
        return None
    label = _LABELS.get(str(value).strip().lower())
    if label is None:
        raise _Unusable(
            "StoreError", f"Expected a label out of {', '.join(_LABELS)}, or none, got {value!r:.60}."
        )
    return label


# The paper's clean-up. Each step gives the text back, changed or not, or says why it is dropped.

_Step = Callable[[str], str]


def _steps(names: Sequence[str]) -> list[_Step]:
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    unknown = [name for name in names if name not in PAPER_CLEAN_UP] if listed else [names]
    if unknown:
        raise ParameterError(
            f"Expected a list of clean-up steps out of {', '.join(_CLEAN_UPS)}, got {unknown!r}."
        )
    return [_CLEAN_UPS[name] for name in PAPER_CLEAN_UP if name in names]


def _user_turn(text: str) -> str:
    if "User:" in text:
        text = text.split("User:", 1)[1]
        for end in _TURN_ENDS:
            text = text.split(end, 1)[0]
    if not (text := text.strip()):
        raise _Unusable("Filtered", "user_turn: the user says nothing in this dialogue.")
    return text


def _english(text: str) -> str:
    # ASCII letters, digits, punctuation and white space, as the paper's full-string expression has it.
    if stranger := re.search(r"[^\x20-\x7e\s]", text):
        raise _Unusable("Filtered", f"english: it holds the character {stranger.group()!r}.")
    return text


def _modality(text: str) -> str:
    if word := next((word for word in _OTHER_MEDIA if word in text.lower()), None):
        raise _Unusable("Filtered", f"modality: it speaks of {word!r}, and the worlds are textual.")
    return text


def _noise(text: str) -> str:
    if mark := next((mark for mark in _NOISE if mark in text), None):
        raise _Unusable("Filtered", f"noise: it holds {mark!r}.")
    return text


_CLEAN_UPS: dict[str, _Step] = {
    "user_turn": _user_turn,
    "english": _english,
    "modality": _modality,
    "noise": _noise,
}
