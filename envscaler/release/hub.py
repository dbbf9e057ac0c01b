"""Published data by the name of its data set on the Hugging Face hub: `owner/name`, or one file of it.

A file is named `hf://datasets/owner/name/file.json`, as `fsspec` names it; a data set may be named so too, and then
nothing here is looked for. Without that, only what can be nothing but `owner/name` is asked of the hub: a path that
exists is taken first, and one that looks like a mistyped path is never asked about, for its name is nobody else's
business. Needs `huggingface_hub` (in the extra `hub`) and a network, or a copy in the hub's own cache. This module only
finds and fetches the file; what is in it is `rows`' business.
"""

import importlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

from envscaler.error import StoreError
from envscaler.release.rows import ENDINGS

_SCHEME = "hf://datasets/"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FILES = (*ENDINGS, ".gz", ".zip", ".csv", ".txt", ".py")
_OURS = frozenset({"data", "build", "figures", "notebooks", "tests"})
"""Where a project has its files; somebody who is in another folder means those."""
_PREFERRED = "_metadata.json"
"""How the file is called that a data set is about, where it holds several."""


def local(path: Path | str) -> Path:
    """The path itself, or the fetched file of the data set of that name.

    Raises:
        StoreError: there is neither, or it cannot be had; the message says what to do about it.
    """
    if not isinstance(path, str):
        return Path(path)
    if path.startswith(_SCHEME):
        owner, name, file = [*path.removeprefix(_SCHEME).split("/", 2), "", ""][:3]
        if not _NAME.fullmatch(f"{owner}/{name}"):
            raise StoreError(f"Expected {_SCHEME}owner/name, or a file of it, got {path!r}.")
        return _fetched(f"{owner}/{name}", file)
    if not _NAME.fullmatch(path) or path.endswith(_FILES) or Path(path).exists():
        return Path(path)
    if (near := _like_here(path.partition("/")[0])) is not None:
        raise StoreError(
            f"Expected a file or folder at {path!r}; there is none, and it looks like one in {near}. "
            f"A data set of that name on the Hugging Face hub is {_SCHEME}{path}."
        )
    return _fetched(path)


def _like_here(first: str) -> str | None:
    """What of this folder the first part of a path may mean, mistyped by a letter."""

    def apart(name: str) -> int:
        one, other = Counter(first.casefold()), Counter(name.casefold())
        return max((one - other).total(), (other - one).total())

    return next(
        (
            name
            for name in sorted({*(p.name for p in Path().iterdir()), *_OURS}, key=apart)
            if apart(name) < 2
        ),
        None,
    )


def _fetched(wanted: str, file: str = "") -> Path:
    try:
        hub: Any = importlib.import_module("huggingface_hub")
    except ImportError:
        raise StoreError(
            f"Expected a file or folder at {wanted!r}; there is none. To read a data set of that name from the "
            "Hugging Face hub: pip install 'envscaler[hub]'."
        ) from None
    try:
        file = file or _chosen(wanted, hub.list_repo_files(wanted, repo_type="dataset"))
        return Path(hub.hf_hub_download(wanted, file, repo_type="dataset"))
    except StoreError:
        raise
    # The hub's errors come from several libraries below it; each means that there is no file to read.
    except Exception as error:
        answered = getattr(error, "response", None) is not None
        if not file and not answered and (kept := _kept(hub, wanted)):
            return kept
        why = " ".join(str(error).split()).partition(". ")[0][:200]
        raise StoreError(
            f"Expected a file or folder at {wanted!r}, or a data set of that name on the Hugging Face hub, but neither "
            f"can be had ({type(error).__name__}: {why.rstrip('.')})."
        ) from error


def _kept(hub: Any, wanted: str) -> Path | None:
    """The file of a data set that was fetched before, for want of a network."""
    try:
        folder = Path(hub.snapshot_download(wanted, repo_type="dataset", local_files_only=True))
    except (OSError, ValueError):
        return None
    return folder / _chosen(wanted, [str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()])


def _chosen(wanted: str, files: list[str]) -> str:
    data = [name for name in files if name.endswith(ENDINGS)]
    preferred = [name for name in data if name.endswith(_PREFERRED)] or data
    if len(preferred) != 1:
        raise StoreError(
            f"Expected one data file in the data set {wanted}, got {', '.join(preferred) or 'none'}. "
            f"Name it: {_SCHEME}{wanted}/FILE."
        )
    return preferred[0]
