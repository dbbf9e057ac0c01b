"""Run the notebooks headless with papermill, one after the other, and sum up what they made.

The executed copies and their HTML go to `build/`; the sources in `notebooks/` are never written. A notebook that
fails stops the series: the ones after it would read what it should have written. What the notebooks do is theirs;
this module only finds, checks, runs and counts them.
"""

import json
import logging
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from envscaler import project
from envscaler.error import EnvscalerError, ParameterError, StoreError
from envscaler.run import Run
from envscaler.store import write_bytes, write_text


class NotebookError(EnvscalerError):
    """A cell of a notebook raised; the message names notebook, cell and error, and where the executed copy lies."""


def find_notebooks(only: Sequence[str] = ()) -> list[Path]:
    """The notebooks in order, or those whose name begins with one of `only`, e.g. `02`.

    Raises:
        ParameterError: no notebook begins so.
        StoreError: there are no notebooks here.
    """
    folder = project.root() / "notebooks"
    notebooks = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not notebooks:
        raise StoreError(
            f"Expected notebooks like 00_tour.ipynb in {folder}, but there are none. Run this in a checkout of the "
            "project, or set ENVSCALER_HOME to one."
        )
    for prefix in only:
        if not prefix or not any(n.name.startswith(prefix) for n in notebooks):
            names = ", ".join(n.stem for n in notebooks)
            raise ParameterError(f"Expected --only to name notebooks out of {names}, got {prefix!r}.")
    return [n for n in notebooks if not only or n.name.startswith(tuple(only))]


def known_parameters(notebook: Path) -> dict[str, str]:
    """Name → default (as source text) of the parameters a notebook takes."""
    import papermill
    from nbformat import ValidationError
    from nbformat.reader import NotJSONError

    try:
        entries = papermill.inspect_notebook(str(notebook))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, NotJSONError, ValidationError) as error:
        raise StoreError(
            f"Expected a notebook at {notebook}, but it cannot be read: {_ended(str(error), 200)}"
        ) from error
    return {name: entry["default"] for name, entry in entries.items()}


def check_parameters(notebooks: Sequence[Path], parameters: dict[str, Any]) -> None:
    """Refuse a parameter that none of the notebooks takes (papermill itself would only warn) or can hold.

    Raises:
        ParameterError: naming the parameter, and those that are known or why its value will not do.
    """
    known = {name for notebook in notebooks for name in known_parameters(notebook)}
    for name, value in parameters.items():
        if name not in known:
            raise ParameterError(
                f"Expected a notebook parameter out of {', '.join(sorted(known))}, got {name!r}."
            )
        try:
            json.dumps(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise ParameterError(
                f"Expected a value of {name} that a notebook can hold: text, number, list or dict, "
                f"got {value!r:.60} ({error})."
            ) from error


def run_series(
    notebooks: Sequence[Path], run: Run, parameters: dict[str, Any] | None = None, *, progress: bool = True
) -> dict[str, Any]:
    """Execute notebooks in order; return what was made (see `summary`).

    Args:
        notebooks: as `find_notebooks` gives them.
        run: model, scale, seed and name that every notebook gets.
        parameters: further notebook parameters, e.g. `{"merge_at": 0.8}`.
        progress: whether to show a bar a notebook, counting its cells.

    Raises:
        ParameterError: a parameter that none of them takes.
        NotebookError: a cell raised.
        StoreError: `build/` cannot be written.
    """
    given = {
        "model": run.model,
        "scale": run.scale.name,
        "seed": run.seed,
        "run": run.name,
        **(parameters or {}),
    }
    check_parameters(notebooks, given)
    seconds: dict[str, float] = {}
    for notebook in tqdm(notebooks, desc="series", disable=not progress, unit="notebook"):
        started = time.perf_counter()
        known = known_parameters(notebook)
        execute(notebook, {k: v for k, v in given.items() if k in known}, progress=progress)
        seconds[notebook.stem] = round(time.perf_counter() - started, 1)
    return summary(run, seconds)


def execute(notebook: Path, parameters: dict[str, Any], *, progress: bool = True) -> Path:
    """Execute one notebook; its executed copy and an HTML of it go to `build/notebooks/`. Returns the copy's path.

    Raises:
        NotebookError: a cell raised or the kernel died; the copy is then kept as `<name>.failed.ipynb`.
        StoreError: `build/` cannot be written.
    """
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    done = project.build_dir() / "notebooks" / notebook.name
    failed = done.with_suffix(".failed.ipynb")
    _make_folder(done.parent)
    # Aside until it is whole: a kill leaves nothing half-made, and two runs at once do not write one file.
    with tempfile.TemporaryDirectory(prefix="envscaler-", ignore_cleanup_errors=True) as scratch:
        running = Path(scratch) / notebook.name
        try:
            with _quiet("papermill", "traitlets"), _home():
                papermill.execute_notebook(
                    str(notebook), str(running), parameters, kernel_name="python3", cwd=str(notebook.parent),
                    progress_bar={"desc": notebook.stem, "leave": False} if progress else False,
                    extra_arguments=["--IPKernelApp.log_level=50"],  # what a cell raises is told; its kernel is quiet
                )  # fmt: skip
        except PapermillExecutionError as error:
            said = f"cell {error.cell_index} raised {error.ename}: {_ended(error.evalue)}"
        except DeadKernelError as error:
            said = f"its kernel died; was it short of memory? {_ended(str(error))}"
        except OSError as error:
            raise _unwritable(Path(scratch), error) from error
        else:
            write_bytes(done, running.read_bytes())
            write_text(done.with_suffix(".html"), _html(done))
            failed.unlink(missing_ok=True)
            return done
        write_bytes(failed, running.read_bytes())
    raise NotebookError(f"Expected {notebook.name} to run through, but {said} The executed copy is {failed}.")


def _ended(words: str, limit: int = 1000) -> str:
    """The words of an error as one sentence with a full stop, however long and many-lined they came."""
    line = " ".join(words.split())
    line = line if len(line) <= limit else f"{line[:limit]}…"
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"Expected to write to {folder}, but {error.strerror or error}. Set ENVSCALER_HOME to a folder you may "
        "write to that holds notebooks/ and data/."
    )


def _html(notebook: Path) -> str:
    import nbformat
    from nbconvert import HTMLExporter

    content = nbformat.read(notebook, as_version=4)
    # A widget needs a kernel; without its stored state the exporter shows the static form that lies beside it.
    # A progress bar has no such form, and is of no use to a reader.
    content.metadata.pop("widgets", None)
    for cell in content.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_bar(output)]
    body, _ = HTMLExporter(embed_images=True).from_notebook_node(content)
    return body


def _is_bar(output: Any) -> bool:
    return "it/s]" in output.get("data", {}).get("text/plain", "") and "text/html" not in output["data"]


@contextmanager
def _quiet(*loggers: str) -> Iterator[None]:
    # papermill logs each step of its own; the bar says it better.
    levels = {name: logging.getLogger(name).level for name in loggers}
    try:
        for name in loggers:
            logging.getLogger(name).setLevel(logging.ERROR)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _home() -> Iterator[None]:
    # A kernel runs in notebooks/, where a relative ENVSCALER_HOME, or none, would mean another folder than here.
    before = os.environ.get("ENVSCALER_HOME")
    os.environ["ENVSCALER_HOME"] = str(project.root())
    try:
        yield
    finally:
        if before is None:
            del os.environ["ENVSCALER_HOME"]
        else:
            os.environ["ENVSCALER_HOME"] = before


def summary(run: Run, seconds: dict[str, float]) -> dict[str, Any]:
    """What a run made: seconds a notebook, records and failures a stage, the figures' names."""
    counts = {}
    for stage in project.STAGES:
        path = run.path(stage)
        failed = path.with_suffix(".failures.jsonl")
        if path.exists():
            counts[stage] = {"records": _lines(path), "failures": _lines(failed) if failed.exists() else 0}
    numbers = {name[:2] for name in seconds}
    drawn = sorted(p.stem for p in project.figures_dir(run.scale.name).glob("*.png"))
    return {
        "run": run.name,
        "model": run.model,
        "scale": run.scale.name,
        "seed": run.seed,
        "notebooks": list(seconds),
        "seconds": {**seconds, "total": round(sum(seconds.values()), 1)},
        "counts": counts,
        "figures": [name for name in drawn if name[:2] in numbers],
    }


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)
