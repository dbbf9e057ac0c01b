"""Models that answer from a script or a recording: for tests, and for showing a run again without a server.

`ScriptedModel` gives replies in order or out of a function; `RecordedModel` finds them by the request's key
in a file that `ReplyCache.export` wrote. Neither thinks, and neither touches the network.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from envscaler.error import CacheMiss, ModelError, PromptError, StoreError
from envscaler.model import prompt
from envscaler.model.budget import Ledger
from envscaler.model.cache import reply_from_json
from envscaler.model.request import Reply, Request
from envscaler.schema import Json, Usage
from envscaler.store import read_text

log = logging.getLogger(__name__)
Script = Iterable[str | Reply | Exception] | Callable[[Request], str | Reply]


class ScriptedModel:
    """Gives the replies of a script, one a call, or what a function makes of the request.

    An exception in the script is raised when its turn comes.

    Args:
        script: the replies, or the function that makes them.
        name: the name the model goes by.
        workers: threads that may ask at once.
    """

    def __init__(self, script: Script, *, name: str = "scripted", workers: int = 1) -> None:
        self.name, self.workers, self.ledger = name, workers, Ledger()
        self.requests: list[Request] = []
        self._function = script if callable(script) else None
        self._replies = iter(() if callable(script) else tuple(script))
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Reply:
        """The next reply of the script.

        Raises:
            ModelError: the script is at its end.
        """
        with self._lock:
            self.requests.append(request)
            said = next(self._replies, None) if self._function is None else None
        if self._function is not None:
            said = self._function(request)
        if said is None:
            raise ModelError(
                f"{self.name}: the script has no reply left for call {len(self.requests)} ({request.step})."
            )
        if isinstance(said, Exception):
            raise said
        reply = said if isinstance(said, Reply) else Reply(said, usage=Usage(calls=1))
        self.ledger.add(request.step, self.name, reply.usage)
        return reply


class RecordedModel:
    """Answers out of a recording (`data/replies/*.jsonl`): a request it does not hold is a `CacheMiss`.

    It is asked with the prompts that the recording brings along (`prompts`); where today's differ, `changed` names
    them, and a warning says so.

    Args:
        path: the file that `ReplyCache.export` wrote.
        name: the model that was recorded, whose name is part of the requests' keys; default the one the file names.
        settings: added to every request that does not set them itself; default those it was recorded with.
        ledger: who counts; default one of its own.

    Raises:
        StoreError: there is no such file, or it is no recording.
    """

    def __init__(
        self,
        path: Path,
        name: str = "",
        *,
        settings: Mapping[str, Any] | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.workers, self.ledger, self._path = 8, ledger or Ledger(), path
        try:
            rows = [json.loads(line) for line in read_text(path).splitlines() if line.strip()]
            head = rows.pop(0)["recording"] if rows and "recording" in rows[0] else {}
            self._replies = {row["key"]: reply_from_json(row["reply"]) for row in rows}
            self.name = name or next((row["model"] for row in [head, *rows] if row.get("model")), path.stem)
            self.prompts = {step: prompt.parse(step, text) for step, text in head.get("prompts", {}).items()}
            self.about: dict[str, Json] = dict(head.get("about", {}))
            self._settings = dict(head.get("settings", {}) if settings is None else settings)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, PromptError) as error:
            raise StoreError(
                f"{path}: expected a recording with 'key' and 'reply' in each row ({error})."
            ) from error
        self.changed = sorted(step for step, own in self.prompts.items() if _today(step) != own.digest)
        """The steps whose prompt of today is another than the recording's own, which it is asked with."""
        if self.changed:
            log.warning(
                "%s was recorded with other prompts than today's for %s; it is asked with its own.",
                self.name,
                ", ".join(self.changed),
            )

    def __len__(self) -> int:
        return len(self._replies)

    def check(self) -> None:
        """Nothing can be wrong with it that was not said when it was made."""

    def answer(self, request: Request) -> Reply:
        """The recorded reply.

        Raises:
            CacheMiss: the recording holds none to this request.
        """
        request = replace(request, settings={**self._settings, **request.settings})
        found = self._replies.get(request.key(self.name))
        if found is None:
            raise CacheMiss(
                f"{self._path.name} holds no reply of {self.name} to this request of {request.step!r}: the prompt, its "
                "inputs or the settings are others than when it was recorded; run it against the model and export its "
                "cache again."
            )
        self.ledger.add_cached(request.step, self.name)
        return found


def _today(step: str) -> str:
    """The digest of today's prompt; "" where there is none any more."""
    try:
        return prompt.load(step).digest
    except PromptError:
        return ""
