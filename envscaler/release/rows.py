"""The rows of published files, one at a time: JSON (a list, or a dict by key), JSON Lines, the same gzipped, parquet.

A file of 700 MB is read with no more of it in memory than a row or two. Rows are parsed by Python's own `json`, and
what cannot be is told with its place while the good rows go on: a faulty line of JSON Lines costs that line, a fault in
the middle of a JSON list or of what was compressed costs what comes after it (`DamagedFile`). A general streaming
parser was tried in its stead: it gave back lone surrogates as `?` and gave up a whole file for one NaN or one long
integer, all three of which `json` writes.

This module does not know what a row means but for its kind (`kind_of`), and fetches nothing (`hub` does).
"""

import gzip
import importlib
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TextIO

from envscaler.error import StoreError

Kind = Literal["environments", "scenarios", "trajectories"]


class DamagedFile(StoreError):
    """A file cannot be read, or not to its end."""


Placed = tuple[str, Any, StoreError | None]
"""`file:place`, the row, and what is wrong with it; None where nothing is."""

ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz", ".parquet")
CHUNK = 1 << 20
"""Characters read at a time."""
MOST_ROW = 1 << 28
"""Characters of one row at most; a longer one is taken for a fault of the file."""
_PUBLISHED: dict[Kind, frozenset[str]] = {
    "environments": frozenset({"env_class_code"}),
    "scenarios": frozenset({"init_config", "task"}),
    "trajectories": frozenset({"task_info", "messages"}),
}
"""Fields that tell the kind of a published row."""
_OURS: dict[Kind, frozenset[str]] = {
    "environments": frozenset({"theme_id", "class_name", "source"}),
    "scenarios": frozenset({"skeleton_id", "initial_state", "task"}),
    "trajectories": frozenset({"scenario_id", "messages", "trajectory"}),
}
"""Fields that tell the kind of a record of ours."""
_FIELDS = {
    "task_info",
    "traj_type",
    "env_id",
    "tools",
    "messages",
    "init_config",
    "trajectory",
    "user_messages",
}
"""Names by which a lone object is known for a row rather than a dict of rows."""
_SPACE = re.compile(r"\s*")


def kind_of(row: Any) -> Kind | None:
    """What a row is, as far as its field names tell."""
    names = set(row) if isinstance(row, dict) else set()
    return next((k for k in _PUBLISHED if _PUBLISHED[k] <= names or _OURS[k] <= names), None)


def is_ours(row: Any) -> bool:
    """Whether a row is a record of ours rather than a published one."""
    return isinstance(row, dict) and any(telling <= row.keys() for telling in _OURS.values())


def files_of(path: Path, kind: Kind) -> tuple[list[Path], list[tuple[Path, str]]]:
    """The file itself, or the files of a folder whose first row is of that kind; and those that no row can be read of.

    Raises:
        StoreError: the folder holds neither; the message has what it holds.
    """
    path = Path(path)
    if not path.is_dir():
        return [path], []
    found = [(p, *_first(p)) for p in _held(path)]
    fitting = [p for p, known, _ in found if known == kind]
    damaged = [(p, why) for p, _, why in found if why]
    if not fitting and not damaged:
        names = ", ".join(p.name for p, *_ in found[:8]) or f"no file that ends in {', '.join(ENDINGS)}"
        raise StoreError(f"Expected a file of {kind} in {path}, but it holds {names}. Name the file itself.")
    return fitting, damaged


def damaged_files(path: Path | str) -> list[tuple[Path, str]]:
    """The file, or the files of a folder, of which not one row can be read, each with the first reason."""
    path = Path(path)
    held = _held(path) if path.is_dir() else [path]
    return [(p, why) for p in held if (why := _first(p)[1])]


def _held(folder: Path) -> list[Path]:
    files = sorted(p for p in folder.iterdir() if p.is_file())
    return [p for p in files if p.name.endswith(ENDINGS) and not p.name.startswith(".")]


def _first(path: Path) -> tuple[Kind | None, str]:
    """The kind of the first row that can be read, and why none can, where that is so."""
    why = ""
    try:
        for _, row, problem in read_rows(path):
            if problem is None:
                return kind_of(row), ""
            why = why or str(problem)
        return None, why or ("" if path.stat().st_size else "It is empty.")
    except (OSError, StoreError) as error:
        return None, str(error)


def read_rows(path: Path) -> Iterator[Placed]:
    """The rows of one file, as they are read.

    Raises:
        StoreError: there is no such file, or nothing to read one of its kind with.
    """
    path, number = Path(path), 0
    try:
        for placed in _rows(path):
            yield placed
            number += 1
    except FileNotFoundError:
        raise StoreError(f"Expected a file at {path}, but there is none.") from None
    # EOFError, zlib: what was compressed is cut short or broken. pyarrow's own errors are OSError and ValueError.
    except (OSError, EOFError, ValueError, zlib.error) as error:
        what = "a parquet file" if path.suffix == ".parquet" else "UTF-8 text"
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        after = f"after {number:,} rows " if number else ""
        yield str(path), None, DamagedFile(f"Expected to read {what} {after}in {path}, but {why}.")


def _rows(path: Path) -> Iterator[Placed]:
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
        return
    with _opened(path) as file:
        yield from _text_rows(path, file)


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        if not path.stat().st_size:
            raise EOFError("it is empty")
        return gzip.open(path, "rt", encoding="utf-8-sig")
    return path.open(encoding="utf-8-sig")


def _text_rows(path: Path, file: TextIO) -> Iterator[Placed]:
    text = _Text(file)
    lines = ".json" not in path.suffixes
    match text.peek():
        case "" if lines:
            return
        case "[":
            yield from _listed(path, text)
        case "{" if not lines:
            yield from _keyed(path, text)
        case _ if lines:
            yield from _lined(path, text)
        case other:
            got = repr(other) if other else "nothing"
            yield f"{path}:1", None, DamagedFile(f"Expected JSON that begins with [ or {{, got {got}.")


class _Text:
    """A file's text, of which only what is still needed is held."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._held, self._at, self._done = file, "", 0, False
        self.cut = False
        """Whether the line that was taken last has no end."""
        self.line = 1
        """The line that is being read."""

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            # Found in place: what is held is long, and a copy of it for every row would take its square.
            self._skip(_SPACE.match(self._held, self._at).end())  # type: ignore[union-attr]
            if self._at < len(self._held) or self._done:
                return self._held[self._at : self._at + 1]
            self._fill(CHUNK)

    def take(self, expected: str) -> bool:
        """Step over the next character if it is that one."""
        if self.peek() != expected:
            return False
        self._skip(self._at + 1)
        return True

    def value(self, decoder: json.JSONDecoder, *, stay: bool = False) -> Any:
        """The next JSON value.

        Args:
            decoder: who parses.
            stay: whether to look at it only.

        Raises:
            ValueError: it is none, or longer than a row may be.
        """
        self.peek()
        step = CHUNK
        while True:
            try:
                value, end = decoder.raw_decode(self._held, self._at)
                if end < len(self._held) or self._done:
                    if not stay:
                        self._skip(end)
                    return value
            except json.JSONDecodeError as error:
                # More text mends only what broke off at the end of this.
                inside = error.pos < len(self._held) - 16 and not error.msg.startswith("Unterminated")
                if self._done or inside or len(self._held) - self._at > MOST_ROW:
                    raise
            self._fill(step)
            step *= 2

    def rest_of_line(self) -> str | None:
        """The next line without its end; None after the last."""
        searched, step = self._at, CHUNK
        while (end := self._held.find("\n", searched)) < 0 and not self._done:
            searched = len(self._held) - self._at
            if searched > MOST_ROW:
                raise ValueError(f"line {self.line} is longer than {MOST_ROW:,} characters")
            self._fill(step)
            step *= 2
        stop = end if end >= 0 else len(self._held)
        line = self._held[self._at : stop]
        if end < 0 and not line:
            return None
        self.cut = end < 0
        self._skip(stop + (not self.cut))
        return line

    def line_of(self, error: ValueError) -> int:
        """The line of the file that a fault of the held text is in."""
        return self.line + self._held.count("\n", self._at, max(self._at, getattr(error, "pos", self._at)))

    def _skip(self, to: int) -> None:
        self.line += self._held.count("\n", self._at, to)
        self._at = to

    def _fill(self, size: int) -> None:
        more = self._file.read(size)
        self._held, self._at = self._held[self._at :] + more, 0
        self._done = not more


def _decoder(odd: list[str]) -> json.JSONDecoder:
    """A decoder that notes the words NaN and Infinity, which are no JSON, and reads on."""
    return json.JSONDecoder(parse_constant=lambda word: odd.append(word))


def _checked(place: str, row: Any, odd: list[str]) -> Placed:
    told = f"Expected JSON, got the number {odd[0]}, which has no JSON form." if odd else ""
    problem = StoreError(told) if told else None
    odd.clear()
    return place, None if problem else row, problem


def _broken(path: Path, text: _Text, place: str, error: ValueError | RecursionError) -> Placed:
    line = text.line_of(error) if isinstance(error, ValueError) else text.line
    why = str(error).partition(": line ")[0]
    why = why[:1].lower() + why[1:]
    told = f"Expected JSON at line {line}, but {why}; what follows is not read."
    return f"{path}:{place}", None, DamagedFile(told)


def _listed(path: Path, text: _Text) -> Iterator[Placed]:
    odd: list[str] = []
    decoder, number = _decoder(odd), 0
    text.take("[")
    while not text.take("]"):
        try:
            if number and not text.take(","):
                raise ValueError("a comma or ] is missing")
            row = text.value(decoder)
        except (ValueError, RecursionError) as error:
            yield _broken(path, text, f"[{number}]", error)
            return
        yield _checked(f"{path}:[{number}]", row, odd)
        number += 1


def _keyed(path: Path, text: _Text) -> Iterator[Placed]:
    """A dict of rows by key; or one row, or several one after the other, whatever the file is called."""
    odd: list[str] = []
    decoder, first, key = _decoder(odd), True, "{"
    text.take("{")
    while not text.take("}"):
        try:
            if not first and not text.take(","):
                raise ValueError("a comma or } is missing")
            key = str(text.value(decoder))
            if not text.take(":"):
                raise ValueError("a colon is missing")
            if first and (key in _FIELDS or not _may_be_row(text.value(decoder, stay=True))):
                yield from _loose(path, text, key, decoder, odd)
                return
            row = text.value(decoder)
        except (ValueError, RecursionError) as error:
            yield _broken(path, text, key, error)
            return
        first = False
        yield _checked(f"{path}:{key}", row, odd)


def _may_be_row(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, str) and value.lstrip().startswith("{"))


def _loose(path: Path, text: _Text, key: str, decoder: json.JSONDecoder, odd: list[str]) -> Iterator[Placed]:
    """Rows that follow one another; of the first, the first key has been read."""
    number = 1
    try:
        row: Any = {key: text.value(decoder)}
        while text.take(","):
            name = str(text.value(decoder))
            if not text.take(":"):
                raise ValueError("a colon is missing")
            row[name] = text.value(decoder)
        if not text.take("}"):
            raise ValueError("a comma or } is missing")
        yield _checked(f"{path}:{number}", row, odd)
        while text.peek():
            number += 1
            yield _checked(f"{path}:{number}", text.value(decoder), odd)
    except (ValueError, RecursionError) as error:
        yield _broken(path, text, str(number), error)


def _lined(path: Path, text: _Text) -> Iterator[Placed]:
    odd: list[str] = []
    decoder = _decoder(odd)
    number = text.line
    while (line := text.rest_of_line()) is not None:
        place, number = f"{path}:{number}", text.line
        if line.strip():
            try:
                yield _checked(place, decoder.decode(line), odd)
            except (ValueError, RecursionError) as error:
                odd.clear()
                told = f"Expected a JSON object on this line, got {line[:60]!r} ({error})."
                yield place, None, DamagedFile(told) if text.cut else StoreError(told)


def _parquet_rows(path: Path) -> Iterator[Placed]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise StoreError(f"Expected pyarrow to read {path}; pip install 'envscaler[hub]'.") from None
    number = 0
    for batch in parquet.ParquetFile(path).iter_batches(batch_size=64):
        for row in batch.to_pylist():
            yield f"{path}:[{number}]", row, None
            number += 1
