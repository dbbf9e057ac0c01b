"""Reading and writing records: JSON Lines, one record a line, written atomically.

`Records` is what every plural function returns: a list of what succeeded, with the failures beside it. A row that
cannot be read becomes a `Failure` that names file and line, and the good rows go on. This module knows no stage.
"""

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pydantic import ValidationError

from envscaler.error import StoreError
from envscaler.given import a_path, many
from envscaler.schema import Failure, Record

R = TypeVar("R", bound=Record)


class Records(list[R]):
    """A list of records that succeeded, with `failures` for those that did not."""

    def __init__(self, records: Iterable[R] = (), failures: Iterable[Failure] = ()) -> None:
        super().__init__(records)
        self.failures: list[Failure] = list(failures)

    def frame(self) -> pd.DataFrame:
        """One row a record, one column a field, `id` first."""
        return pd.DataFrame([record.model_dump(mode="json") for record in self])

    def by_id(self) -> dict[str, R]:
        """The records under their ids."""
        return {record.id: record for record in self}

    def __repr__(self) -> str:
        # A list's own would write every record out, and a notebook keeps that text beside the table.
        kind = type(self[0]).__name__ if self else "record"
        return f"<{len(self):,} × {kind}, {len(self.failures):,} failures>"

    def _repr_html_(self) -> str:
        kind = type(self[0]).__name__ if self else "record"
        head = f"<b>{len(self):,} × {kind}</b>, {len(self.failures):,} failures"
        if not self:
            return head
        frame = pd.DataFrame([_preview(record) for record in self[:5]]).fillna("")
        table = frame.to_html(index=False, border=0, justify="left")
        # A notebook's own style sheet sets cells flush right, which is for numbers.
        return head + re.sub(r"<(t[dh])>", r"<\1 style='text-align:left;vertical-align:top'>", table)


def _preview(record: Record) -> dict[str, str]:
    shown = {}
    for name, value in record.model_dump(mode="json", exclude={"origin", "source"}).items():
        if isinstance(value, str | int | float | bool):
            shown[name] = str(value) if len(str(value)) <= 80 else f"{str(value)[:79]}…"
        elif isinstance(value, list | dict) and value:
            shown[name] = f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
    return shown


def write_text(path: Path, text: str) -> Path:
    """Write a text atomically: a crash leaves the old file or the new one, never half of it.

    Raises:
        StoreError: the folder cannot be made or written to.
    """
    try:
        return write_bytes(path, text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise StoreError(f"Expected whole characters to write to {path}, but {error}.") from error


def write_bytes(path: Path, content: bytes) -> Path:
    """Write bytes atomically; see `write_text`."""
    path = a_path(path)
    temporary = None
    try:
        refuse_no_file(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        why = getattr(error, "strerror", None) or error
        raise StoreError(
            f"Expected to write {path}, but {why}. Choose a folder you may write to, "
            "e.g. by setting ENVSCALER_HOME."
        ) from error
    finally:
        # Also when interrupted; there is nothing left of it when it has replaced the file.
        if temporary:
            Path(temporary).unlink(missing_ok=True)
    return path


def append_line(path: Path, line: str, *, sync: bool = False) -> None:
    """Add a line at the end in one write; what a failed write leaves is taken away again.

    Args:
        path: the file; made with its folder where there is none.
        line: without its end.
        sync: whether it must be on the disk when this returns, whatever becomes of the machine.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            file.seek(max(before - 1, 0))
            # A line that a crash left unfinished must not swallow this one.
            content = (b"\n" if file.read(1) not in (b"", b"\n") else b"") + f"{line}\n".encode()
            if file.write(content) != len(content):
                file.truncate(before)
                raise OSError("the disk is full")
            if sync:
                os.fsync(file.fileno())
    except (OSError, ValueError) as error:  # ValueError: a path with a null character, or half a character
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"Expected to add a line to {path}, but {why}. Choose another file.") from error


def refuse_no_file(path: Path) -> None:
    """Refuse a device, a pipe or a folder: reading one may never end, and replacing one would do away with it.

    Raises:
        OSError: what lies there is no file, or cannot be looked at.
    """
    if path.exists() and not path.is_file():
        raise OSError(f"what lies there is {'a folder' if path.is_dir() else 'no file'}")


def write_records(records: Iterable[Record], path: str | Path) -> Path:
    """Write records as JSON Lines, and the failures of a `Records` beside them as `<name>.failures.jsonl`.

    Raises:
        StoreError: the folder cannot be made or written to.
    """
    path = a_path(path)
    write_text(path, "".join(record.model_dump_json() + "\n" for record in many(records, Record)))
    failures = getattr(records, "failures", [])
    beside = path.with_suffix(".failures.jsonl")
    if failures:
        write_text(beside, "".join(failure.model_dump_json() + "\n" for failure in failures))
    elif beside.is_file():
        beside.unlink(missing_ok=True)
    return path


def read_records(path: str | Path, kind: type[R], *, stage: str = "store") -> Records[R]:
    """Read records of one kind; rows that do not fit become failures that name file and line.

    Raises:
        StoreError: the file is missing or unreadable, or not one of its rows could be read.
    """
    records: list[R] = []
    failures: list[Failure] = []
    for place, row, problem in read_rows(path):
        if problem is None:
            try:
                record = kind.model_validate(row)
                record.id  # noqa: B018  A row that has no id cannot be written again either.
                records.append(record)
                continue
            except ValidationError as error:
                problem = f"Expected a {kind.__name__}: {sentence(error)}"
            except (ValueError, RecursionError) as error:
                problem = f"Expected a {kind.__name__} that can be written again: {error}."
        failures.append(Failure(stage=stage, parent_id=place, error="StoreError", message=problem))
    if failures and not records:
        raise StoreError(
            f"Expected rows of {kind.__name__} in {path}, but none can be read. First: {failures[0].message}"
        )
    return Records(records, failures)


def sentence(error: ValidationError) -> str:
    """The first fault of a record in one sentence: where, what, and how many more there are."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the row"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{where}: {first['msg']}{more}."


def read_rows(path: str | Path) -> Iterator[tuple[str, Any, str | None]]:
    """Yield (`file:line`, row, problem) of a JSON Lines, JSON or CSV file; `problem` is None where the row can be read.

    A JSON file may hold a list of rows, or a dict of rows by key (the key is then the place).

    Raises:
        StoreError: the file is missing or unreadable, or a JSON file is malformed as a whole.
    """
    path = a_path(path)
    text = read_text(path)
    if path.suffix.lower() == ".csv":
        yield from _csv_rows(path, text)
    elif path.suffix.lower() == ".json":
        yield from _json_rows(path, text)
    else:
        yield from _jsonl_rows(path, text)


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file.

    Raises:
        StoreError: the file is missing, unreadable or not UTF-8.
    """
    path = a_path(path)
    try:
        refuse_no_file(path)
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise StoreError(f"Expected a file at {path}, but there is none.") from None
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with a null character
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"Expected to read {path} as UTF-8 text, but {why}.") from error


def _jsonl_rows(path: Path, text: str) -> Iterator[tuple[str, Any, str | None]]:
    # Split at "\n" only: JSON strings may hold the other characters that str.splitlines takes for line ends.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                yield place, json.loads(line), None
            except (ValueError, RecursionError) as error:  # ValueError: no JSON, or a number of 5,000 digits
                yield place, None, f"Expected a JSON object on this line, got {line[:60]!r} ({error})."


def _json_rows(path: Path, text: str) -> Iterator[tuple[str, Any, str | None]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"Expected JSON in {path}, but {error}. For one JSON object a line, name it .jsonl."
        ) from error
    if isinstance(content, dict):
        yield from ((f"{path}:{key}", row, None) for key, row in content.items())
    elif isinstance(content, list):
        yield from ((f"{path}:[{number}]", row, None) for number, row in enumerate(content))
    else:
        raise StoreError(f"Expected a list or a dict of rows in {path}, got {type(content).__name__}.")


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, Any, str | None]]:
    # No text of a cell is longer than the file; the reader's own limit is for files that are streamed.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            place = f"{path}:{reader.line_num}"
            columns = len(reader.fieldnames or [])
            whole = None not in row and None not in row.values()
            problem = f"Expected {columns} columns as the header line has, got more or fewer."
            yield place, row, None if whole else problem
    except csv.Error as error:
        yield f"{path}:{reader.line_num}", None, f"Expected CSV, but {error}; what follows is not read."
