"""What a caller hands over, checked where it comes in: a slip is told in a sentence, not by what breaks on it later.

Each function returns what it was given, in the form that is worked with, or raises `ParameterError`. What a value
means is not known here.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from envscaler.error import ParameterError
from envscaler.record import Part

T = TypeVar("T")


def one(given: Any, kind: type[T]) -> T:
    """The record, if it is one of that kind."""
    if isinstance(given, kind):
        return given
    raise ParameterError(f"Expected a {kind.__name__}, got {told(given)}.")


def many(given: Any, kind: type[T]) -> list[T]:
    """Records of one kind as a list; one alone is a list of one."""
    if isinstance(given, kind):
        return [given]
    # A record or a dict could be gone through as well, and gives its fields or its keys.
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping | Part):
        raise ParameterError(f"Expected one {kind.__name__} or a list of them, got {told(given)}.")
    found = list(given)
    for place, thing in enumerate(found):
        if not isinstance(thing, kind):
            raise ParameterError(
                f"Expected one {kind.__name__} or a list of them, got {told(thing)} at place {place}."
            )
    return found


def a_path(given: Any) -> Path:
    """A file or folder, given as a text or anything that is a path."""
    if isinstance(given, str | os.PathLike) and isinstance(name := os.fspath(given), str):
        return Path(name)
    raise ParameterError(f"Expected the path of a file or folder as a text or a Path, got {told(given)}.")


def place_in(given: Any, what: str, count: int) -> int:
    """A place among so many, from 0."""
    if whole(given) and 0 <= given < count:
        return int(given)
    there = f" from 0 to {count - 1}" if count else ", but there is none"
    raise ParameterError(f"Expected {what}{there}, got {told(given)}.")


def at_least(given: Any, least: int, what: str) -> int:
    """A whole number that is not too small."""
    if whole(given) and given >= least:
        return int(given)
    raise ParameterError(f"Expected {what} as a whole number of at least {least}, got {told(given)}.")


def a_frame(given: Any, columns: Sequence[str], made_by: str) -> pd.DataFrame:
    """A data frame that has these columns."""
    if not isinstance(given, pd.DataFrame):
        raise ParameterError(f"Expected a data frame as {made_by} makes it, got {told(given)}.")
    if missing := [str(name) for name in columns if name not in given]:
        raise ParameterError(
            f"Expected a data frame as {made_by} makes it, but there is no column {', '.join(missing)}."
        )
    return given


def whole(given: Any) -> bool:
    """Whether it is a whole number; to Python `True` is one, here it is none."""
    return isinstance(given, Integral) and not isinstance(given, bool)


def told(given: Any) -> str:
    """What came, for a message: a short value as it is written, else what it is."""
    if isinstance(given, int) and abs(given) >= 10**50:
        return "a number of more than 50 digits"  # Python may refuse to write it out
    if given is None or isinstance(given, int | float):
        return repr(given)
    if isinstance(given, str):
        return f"the text {given[:60]!r}{'…' if len(given) > 60 else ''}"
    size = f" of {len(given)}" if isinstance(given, list | tuple | set | dict) else ""
    return f"{_article(type(given).__name__)}{size}"


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
