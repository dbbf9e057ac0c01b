"""Published data by the name of its data set on the Hugging Face hub: `owner/name`, or `owner/name/file.json`.

Needs `huggingface_hub` (in the extra `hub`) and a network, or a copy in the hub's own cache. A path that exists here is
always taken first. This module only finds and fetches the file; what is in it is `rows`' business.
"""

import importlib
import re
from pathlib import Path
from typing import Any

from envscaler.error import StoreError
from envscaler.release.rows import ENDINGS

_NAME = re.compile(r"[\w.-]+/[\w.-]+(/[\w./-]+)?")
_PREFERRED = "_metadata.json"
"""How the file is called that a data set is about, where it holds several."""


def local(path: Path | str) -> Path:
    """The path itself where it exists or can only be one, else the fetched file of the data set of that name.

    Raises:
        StoreError: there is neither; the message says what to install where that is what is missing.
    """
    here, name = Path(path), str(path)
    if here.exists() or (name.endswith(ENDINGS) and name.count("/") < 2) or not _NAME.fullmatch(name):
        return here
    if here.is_absolute() or name.startswith((".", "~")) or Path(here.parts[0]).is_dir():
        return here  # mistyped, more likely than a data set whose owner is called like a folder here
    return _fetched(*name.split("/", 2))


def _fetched(owner: str, name: str, file: str = "") -> Path:
    wanted = f"{owner}/{name}"
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
        why = " ".join(str(error).split())[:200]
        raise StoreError(
            f"Expected a file or folder at {wanted!r}, or a data set of that name on the Hugging Face hub, but neither "
            f"can be had ({type(error).__name__}: {why})."
        ) from error


def _chosen(wanted: str, files: list[str]) -> str:
    data = [name for name in files if name.endswith(ENDINGS)]
    preferred = [name for name in data if name.endswith(_PREFERRED)] or data
    if len(preferred) != 1:
        raise StoreError(
            f"Expected one data file in the data set {wanted}, got {', '.join(preferred) or 'none'}. "
            f"Name it: {wanted}/FILE."
        )
    return preferred[0]
