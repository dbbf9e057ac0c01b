"""What answering costs: calls and tokens, counted per step and model.

Every model that `connect` makes has a `ledger`; `model.ledger.frame()` shows it. It counts what reached the
model apart from what the cache answered, and the user simulator and the judges like everybody else. It does
not know prices and stops nobody.
"""

import threading
from collections import defaultdict
from dataclasses import dataclass, field

import pandas as pd

from envscaler.schema import Usage

_COLUMNS = ["step", "model", "calls", "cached", "input_tokens", "output_tokens"]


@dataclass
class Ledger:
    """A count that many threads may add to."""

    _entries: dict[tuple[str, str], Usage] = field(default_factory=lambda: defaultdict(Usage))
    _cached: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, step: str, model: str, usage: Usage) -> None:
        """Count one reply of a model."""
        with self._lock:
            self._entries[step, model] += usage

    def add_cached(self, step: str, model: str) -> None:
        """Count one reply that the cache gave."""
        with self._lock:
            self._cached[step, model] += 1

    @property
    def total(self) -> Usage:
        """Everything that reached a model."""
        with self._lock:
            return sum(self._entries.values(), Usage())

    def frame(self) -> pd.DataFrame:
        """One row a step and model, sorted."""
        with self._lock:
            keys = sorted({*self._entries, *self._cached})
            rows = [(*key, self._entries.get(key, Usage()), self._cached.get(key, 0)) for key in keys]
        return pd.DataFrame(
            [(s, m, u.calls, cached, u.input_tokens, u.output_tokens) for s, m, u, cached in rows],
            columns=_COLUMNS,
        )

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False)
