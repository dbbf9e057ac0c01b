"""The memory of replies, which is also the checkpoint: what was answered once is not asked again.

    CachedModel → ReplyCache (SQLite) → on a miss: the model behind it

A reply is filed under the sha256 of its request and committed before it is returned, so a run that is
killed loses at most what was in flight, and the next run asks only for that. Keys and URLs of servers are
in no key and no row. This module does not judge replies: a bad one is remembered like a good one, and
`refresh` asks for another.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, get_args

from tenacity import retry, retry_if_exception, stop_after_delay, wait_random

from envscaler.error import CacheMiss, ModelError, ParameterError, StoreError
from envscaler.model import prompt
from envscaler.model.budget import Ledger
from envscaler.model.request import Model, Reply, Request
from envscaler.project import build_dir, replies_path, run_name
from envscaler.schema import Json, Usage
from envscaler.store import write_text

Mode = Literal["read_write", "replay_only", "refresh", "off"]


def cache_path(model_name: str) -> Path:
    """Where the replies of a model are remembered."""
    return build_dir() / "cache" / f"{run_name(model_name, 'cache').removesuffix('-cache')}.sqlite"


def reply_to_json(reply: Reply) -> dict[str, Any]:
    """The reply as JSON can hold it."""
    return {**asdict(reply), "usage": reply.usage.model_dump(), "tool_calls": list(reply.tool_calls)}


def reply_from_json(content: dict[str, Any]) -> Reply:
    """The reply a JSON content holds; its usage is none, because it costs nothing now."""
    return Reply(
        text=content["text"],
        reasoning=content.get("reasoning", ""),
        tool_calls=tuple(content.get("tool_calls", ())),
        finish=content.get("finish", "stop"),
    )


class Memory:
    """Bytes by key in one SQLite file, safe to use from many threads and several processes.

    Args:
        path: the file; made with its folder when something is first put in.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """What is remembered of the keys.

        Raises:
            StoreError: the file is there and is not such a memory.
        """
        if not self:
            return {}
        found: dict[str, bytes] = {}
        with self._open() as connection:
            for key in keys:
                row = connection.execute("SELECT value FROM memory WHERE key = ?", (key,)).fetchone()
                if row:
                    found[key] = bytes(row[0])
        return found

    def put(self, rows: Sequence[tuple[str, str, bytes]]) -> None:
        """Remember (key, label, value) rows, all or none; when this returns, they are on disk.

        Raises:
            StoreError: the file cannot be written or is not such a memory.
        """
        with self._open() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO memory VALUES (?, ?, ?)", rows)

    def rows(self) -> list[tuple[str, str, bytes]]:
        """Everything, in the order of the keys.

        Raises:
            StoreError: the file is there and is not such a memory.
        """
        if not self:
            return []
        with self._open() as connection:
            return connection.execute("SELECT key, label, value FROM memory ORDER BY key").fetchall()

    def __bool__(self) -> bool:
        return self._connection is not None or self.path.exists()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection, with the lock held and every error told in the library's words."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = _connected(self.path)
                yield self._connection
            except (sqlite3.Error, OSError, TypeError) as error:
                raise _unusable(self.path, error) from error


def _busy(error: BaseException) -> bool:
    return (
        isinstance(error, sqlite3.Error)
        and getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
    )


# Turning a new file to WAL does not wait for another process that does the same; everything later does.
@retry(retry=retry_if_exception(_busy), wait=wait_random(0.01, 0.1), stop=stop_after_delay(30), reraise=True)
def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        # In WAL mode this survives a killed process; only a power cut can take the last replies.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS memory (key TEXT PRIMARY KEY, label TEXT, value BLOB NOT NULL)"
        )
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _unusable(path: Path, error: Exception) -> StoreError:
    if _busy(error):
        return StoreError(
            f"{path}: expected the cache to be free within 30 s, got: {error}. Another process holds it."
        )
    return StoreError(
        f"{path}: expected a cache that can be read and written, got: {error}. Move the file away to begin "
        "a new one; what it held is then asked again."
    )


class ReplyCache:
    """The replies of a model, remembered by the request's key.

    Args:
        path: the file; made with its folder when the first reply is put in.
    """

    def __init__(self, path: Path) -> None:
        self.memory = Memory(path)

    def get(self, key: str) -> Reply | None:
        """The reply under a key, if there is one.

        Raises:
            StoreError: the file is there and is not a cache.
        """
        value = self.memory.get([key]).get(key)
        return None if value is None else self._read(value)

    def put(self, key: str, step: str, reply: Reply) -> None:
        """File a reply; when this returns, it is on disk.

        Raises:
            StoreError: the file cannot be written or is not a cache.
        """
        self.memory.put([(key, step, json.dumps(reply_to_json(reply)).encode())])

    def export(
        self,
        path: Path,
        model: str = "",
        *,
        settings: Mapping[str, Any] | None = None,
        about: Mapping[str, Json] | None = None,
    ) -> Path:
        """Write every reply to a JSON Lines file that `RecordedModel` reads, in the order of the keys.

        Its first line has what they were asked with, a copy of the prompts among it: those in force now.

        Args:
            path: the file.
            model: whose replies they are; their keys were made with that name.
            settings: what was added to every request.
            about: what else a reader wants to know, e.g. date, licence and quantisation.

        Raises:
            StoreError: the cache cannot be read or the file not be written.
        """
        kept = self.memory.rows()
        asked = {step for _, step, _ in kept} & set(prompt.steps())
        texts = {step: prompt.written(prompt.load(step)) for step in asked}
        head = {
            "model": model,
            "settings": dict(settings or {}),
            "about": dict(about or {}),
            "prompts": texts,
        }
        rows = [
            {"key": key, "model": model, "step": step, "reply": reply_to_json(self._read(value))}
            for key, step, value in kept
        ]
        lines = [json.dumps(row, sort_keys=True) for row in [{"recording": head}, *rows]]
        return write_text(path, "".join(f"{line}\n" for line in lines))

    def __len__(self) -> int:
        return len(self.memory.rows())

    def _read(self, value: bytes) -> Reply:
        try:
            return reply_from_json(json.loads(value))
        except (ValueError, KeyError, TypeError) as error:
            raise _unusable(self.memory.path, error) from error


class CachedModel:
    """A model with a memory and a ledger; the same request from two threads at once is asked once.

    Args:
        inner: the model that is asked on a miss.
        mode: see `connect`.
        path: the cache's file; by default the model's own under `build/cache`.
        settings: added to every request that does not set them itself.
        ledger: who counts; default one of its own.
    """

    def __init__(
        self,
        inner: Model,
        *,
        mode: Mode = "read_write",
        path: Path | None = None,
        settings: Mapping[str, Any] | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        if mode not in get_args(Mode):
            raise ParameterError(f"Expected a cache mode out of {', '.join(get_args(Mode))}, got {mode!r}.")
        self.inner, self.mode, self.ledger = inner, mode, ledger or Ledger()
        self.settings = dict(settings or {})
        self.cache = ReplyCache(path or cache_path(inner.name))
        self._flying: dict[str, Future[Reply]] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model behind the cache."""
        return self.inner.name

    @property
    def workers(self) -> int:
        """How many threads may ask at once."""
        return self.inner.workers

    def __repr__(self) -> str:
        return f"CachedModel({self.inner!r}, mode={self.mode!r})"

    def record(self, path: Path | None = None, about: Mapping[str, Json] | None = None) -> Path:
        """Write what the cache holds as a recording; `connect("recorded:…")` with the model's name plays it.

        Args:
            path: the file; default the model's own in `data/replies/`.
            about: see `ReplyCache.export`.

        Raises:
            StoreError: the cache cannot be read or the file not be written.
        """
        path = path or replies_path(self.name)
        return self.cache.export(path, self.name, settings=self.settings, about=about)

    def check(self) -> None:
        """See whether the model behind can be asked, where it will be and has a way to tell.

        Raises:
            ModelError: it cannot.
        """
        look = getattr(self.inner, "check", None)
        if look is not None and self.mode != "replay_only":
            look()

    def answer(self, request: Request) -> Reply:
        """The reply that is remembered, else a new one.

        Raises:
            CacheMiss: the mode is `replay_only` and nothing is remembered.
            ModelError: the model behind could not be asked.
            BudgetSpent: asking it might cost more than is left.
            StoreError: the cache's file cannot be used.
        """
        request = replace(request, settings={**self.settings, **request.settings})
        if self.mode == "off":
            return self._ask(request)
        key = request.key(self.name)
        with self._lock:
            leader = key not in self._flying
            flight = self._flying.setdefault(key, Future())
        if leader:
            return self._lead(request, key, flight)
        reply = replace(flight.result(), usage=Usage())
        self.ledger.add_cached(request.step, self.name)
        return reply

    def _lead(self, request: Request, key: str, flight: "Future[Reply]") -> Reply:
        try:
            reply = self._find_or_ask(request, key)
        except BaseException as error:
            flight.set_exception(error)
            raise
        else:
            flight.set_result(reply)
            return reply
        finally:
            with self._lock:
                del self._flying[key]

    def _find_or_ask(self, request: Request, key: str) -> Reply:
        found = self.cache.get(key) if self.mode != "refresh" else None
        if found is not None:
            self.ledger.add_cached(request.step, self.name)
            return found
        if self.mode == "replay_only":
            raise CacheMiss(
                f"The cache {self.cache.memory.path.name} holds no reply of {self.name} to this request of "
                f"{request.step!r} (key {key[:12]}); run it once with cache='read_write' to record one."
            )
        return self._ask(request, key)

    def _ask(self, request: Request, key: str = "") -> Reply:
        """Ask the model behind, within the budget; the reply is on disk before anybody counts it."""
        asked, most = request.characters, request.settings.get("max_tokens")
        with self.ledger.admit(
            request.step, self.name, asked, most if isinstance(most, int) and most else None
        ):
            try:
                reply = self.inner.answer(request)
            except ModelError as error:
                if error.usage is not None and (error.usage.input_tokens or error.usage.output_tokens):
                    self.ledger.add(request.step, self.name, error.usage)
                raise
            if key:
                self.cache.put(key, request.step, reply)
            if not reply.usage.calls:
                # It reached a model, even where that has nothing to say of tokens.
                reply = replace(reply, usage=reply.usage + Usage(calls=1))
            self.ledger.add(request.step, self.name, reply.usage, (asked, reply.characters))
        return reply
