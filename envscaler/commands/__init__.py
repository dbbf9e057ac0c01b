"""The commands of `python -m envscaler`, a module each; `__main__` puts them together and reports how it ended.

A command's module has `add(commands)`, which describes its command line, and what that names as `do`: it takes the
parsed command line and returns a `Report`. The work is the library's; nothing here decides anything.
"""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from envscaler.error import StoreError
from envscaler.record import Record
from envscaler.schema import Failure
from envscaler.store import Records

R = TypeVar("R", bound=Record)
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""Where a command adds itself."""
Report = tuple[dict[str, Any], bool]
"""What the last line says, and whether all went well."""
MOST_TOLD = 10
"""Failures that are told one by one, beside files that could not be read."""


def readable(read: Callable[[], Records[R]], path: str) -> Records[R]:
    """What can be read there; where it is damaged files that keep all from being read, a failure for each of them.

    Raises:
        StoreError: there is nothing to read for another reason.
    """
    from envscaler.release import DamagedFile, damaged_files, failure

    try:
        return read()
    except StoreError:
        damaged = damaged_files(path) if Path(path).exists() else []
        if not damaged:
            raise
        return Records([], [failure(str(file), DamagedFile(why)) for file, why in damaged])


def each_once(failures: Iterable[Failure]) -> list[Failure]:
    """The failures, each once: a file that several kinds of rows were looked for in fails for each of them."""
    return list({(one.parent_id, one.message): one for one in failures}.values())


def tell(failures: list[Failure]) -> dict[str, str]:
    """Say on stderr what failed, every file that could not be read among it; return those files with why."""
    unread: dict[str, str] = {}
    others = []
    for one in failures:
        if one.error == "DamagedFile":
            file = one.parent_id if Path(one.parent_id).exists() else one.parent_id.rpartition(":")[0]
            unread.setdefault(file, one.message)
        else:
            others.append(one)
    lines = [f"{file}: {why}" for file, why in unread.items()]
    lines += [f"{one.parent_id}: {one.message}" for one in others[:MOST_TOLD]]
    if len(others) > MOST_TOLD:
        lines.append(f"… and {len(others) - MOST_TOLD:,} more that could not be done")
    sys.stderr.writelines(f"envscaler: {line}\n" for line in lines)
    return unread
