"""What answering costs: calls, tokens and money, counted per step and model, and held to a budget.

    reply → Ledger.add → frame, a line in the account's file → spent → Ledger.admit → the next call, or BudgetSpent

Every model that `connect` makes has a `ledger`; several models, and several notebooks one after the other, may share
one. It counts what reached a model apart from what the cache answered, and the user simulator and the judges like
everybody else. Prices are the user's to set (`prices.yaml`): the library asks nobody for them. What tables and figures
are made of it is `show.accounts`'s.
"""

import codecs
import json
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from envscaler.error import BudgetSpent, ParameterError, StoreError
from envscaler.project import PACKAGE, root
from envscaler.record import is_number
from envscaler.schema import Usage
from envscaler.store import append_line

_COLUMNS = [
    "stage",
    "role",
    "step",
    "model",
    "calls",
    "cached",
    "input_tokens",
    "output_tokens",
    "untold",
    "usd",
]
_ROLES = {
    "tasks/judge": "judge", "audits/judge": "judge", "audits/probe": "tester", "audits/initial_state": "tester",
    "rollouts/user": "user simulator", "check": "author",
}  # fmt: skip
"""Who asks in a step; whoever asks in another one is an author, in `rollouts/` an agent, for vectors an encoder."""
EMBED = "embed"
"""What asks for vectors is called, after the stage they are for: `themes/embed`; it has no prompt."""
CHARACTERS = 4
"""Characters taken for a token where a server tells no usage."""
_MOST = 10**12
"""Tokens and dollars beyond which a number is a mistake."""
_UNSEEN = 2000
"""Output tokens that the first call of a step must at least have money for; it is made alone."""
_LONGER = 2
"""How many times as long as the longest answer of its step so far the next one may be."""


def role_of(step: str) -> str:
    """Who asks in a step: author, tester, judge, user simulator, agent or encoder."""
    if step.endswith(f"/{EMBED}"):
        return "encoder"
    return _ROLES.get(step, "agent" if step.startswith("rollouts/") else "author")


@dataclass(frozen=True)
class Price:
    """What a model costs, in US dollars a million tokens."""

    input: float
    """Of what it reads."""
    output: float
    """Of what it writes, thinking included."""

    def of(self, usage: Usage) -> float:
        """Dollars of so many tokens."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1e6


def read_prices(path: Path | None = None) -> dict[str, Price]:
    """The price table: the one that comes with the library, with the lines of a file of one's own over it.

    Args:
        path: the file; default `data/prices.yaml` in the project folder, where there is one.

    Raises:
        StoreError: a file is no price table; the message has the model.
    """
    own = path or root() / "data" / "prices.yaml"
    prices = _prices_in(PACKAGE / "model" / "prices.yaml")
    return {**prices, **_prices_in(own)} if path or own.exists() else prices


def _prices_in(path: Path) -> dict[str, Price]:
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return {str(name): as_price(str(name), price) for name, price in rows.items()}
    except (OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError, ParameterError) as error:
        raise StoreError(f"{path}: expected lines like `name: [2.0, 8.0]`, got: {error}") from error


def as_price(name: str, price: Any) -> Price:
    """A price out of a `Price` or the two numbers of one.

    Raises:
        ParameterError: it is neither, or a number is negative.
    """
    numbers = (price.input, price.output) if isinstance(price, Price) else price
    if not isinstance(numbers, list | tuple) or len(numbers) != 2 or not all(map(_is_amount, numbers)):
        raise ParameterError(
            f"Expected the price of {name!r} as dollars a million tokens (input, output), got {price!r:.80}."
        )
    return Price(float(numbers[0]), float(numbers[1]))


def _read_line(line: bytes) -> dict[str, Any] | None:
    """One line of an account; None where it is none."""
    try:
        row = json.loads(line)
        tokens = {name: row[name] for name in ("calls", "input_tokens", "output_tokens")}
        sound = all(type(n) is int and 0 <= n <= _MOST for n in tokens.values())
        if not sound or not all(isinstance(row[name], str) for name in ("step", "model")):
            return None
        return {**row, "usage": Usage(**tokens), "untold": row["untold"] is True, "by": row.get("by")}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_amount(value: Any) -> bool:
    return is_number(value) and 0 <= value < _MOST


def check_budget(budget_usd: Any) -> None:
    """Refuse what is no budget.

    Raises:
        ParameterError: it is neither dollars ≥ 0 nor None.
    """
    if budget_usd is not None and not _is_amount(budget_usd):
        raise ParameterError(f"Expected dollars ≥ 0 as budget_usd, or None, got {budget_usd!r:.60}.")


@dataclass
class _Entry:
    usage: Usage = field(default_factory=Usage)
    cached: int = 0
    untold: int = 0
    most: int = 0
    """The most output tokens of one call."""

    def add(self, usage: Usage, untold: bool) -> None:
        self.usage += usage
        self.untold += untold
        self.most = max(self.most, usage.output_tokens)


class Ledger:
    """A count that many threads may add to.

    Args:
        path: a JSON Lines file that keeps what was paid for, a line a call, so that a run which is killed and begun
            again goes on counting; None keeps nothing. Free models leave no line.
        prices: what models cost, over the table of `read_prices`.
        budget_usd: dollars after which no call is made any more, what the file holds already included.

    Raises:
        ParameterError: a price or the budget is no such number.
        StoreError: the price table cannot be read.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        prices: Mapping[str, Any] | None = None,
        budget_usd: float | None = None,
    ) -> None:
        check_budget(budget_usd)
        self.path, self.budget_usd = path, budget_usd
        self.prices = read_prices() | {name: as_price(name, p) for name, p in (prices or {}).items()}
        self._entries: dict[tuple[str, str], _Entry] = defaultdict(_Entry)
        self._flying, self._in_flight = 0.0, 0
        self._read_to, self._by = 0, uuid.uuid4().hex[:8]
        self._here = threading.local()
        self._lock = threading.Lock()
        self._landed = threading.Condition(self._lock)
        self._read()

    def __repr__(self) -> str:
        budget = "" if self.budget_usd is None else f" of {self.budget_usd:g}"
        return f"Ledger({self.total.calls} calls, {self.spent:.4f}{budget} USD)"

    # Counting

    def add(self, step: str, model: str, usage: Usage, characters: tuple[int, int] = (0, 0)) -> None:
        """Count one reply of a model.

        Args:
            step: the prompt file it answered.
            model: its name.
            usage: what the server told; where it tells no tokens, they are reckoned from the characters.
            characters: of what was asked and answered.
        """
        untold = not (usage.input_tokens > 0 or usage.output_tokens > 0)
        if untold:
            tokens = [-(-n // CHARACTERS) for n in characters]
            usage = Usage(calls=usage.calls, input_tokens=tokens[0], output_tokens=tokens[1])
        # What a server says that no model can have read or written would open the budget.
        usage = Usage(**{name: min(max(n, 0), _MOST) for name, n in usage.model_dump().items()})
        with self._lock:
            self._entries[step, model].add(usage, untold)
            if self.path and self.price(model) != Price(0, 0):
                self._write(step, model, usage, untold)

    def add_cached(self, step: str, model: str) -> None:
        """Count one reply that the cache gave."""
        with self._lock:
            self._entries[step, model].cached += 1

    def _write(self, step: str, model: str, usage: Usage, untold: bool) -> None:
        assert self.path is not None
        row = {"step": step, "model": model, **usage.model_dump(), "untold": untold, "by": self._by}
        append_line(self.path, json.dumps(row))

    def _read(self) -> None:
        """Count what others have written to the file since; a line that a kill cut short was one call, and is lost."""
        if self.path is None or not self.path.exists() or self.path.stat().st_size == self._read_to:
            return
        try:
            with self.path.open("rb") as file:
                file.seek(self._read_to)
                content = file.read()
        except OSError as error:
            raise StoreError(f"{self.path}: expected an account, got: {error}.") from error
        whole = content.rfind(b"\n") + 1
        self._read_to += whole
        for line in content[:whole].removeprefix(codecs.BOM_UTF8).splitlines():
            if (row := _read_line(line)) and row["by"] != self._by:
                self._entries[row["step"], row["model"]].add(row["usage"], row["untold"])

    # Money

    def price(self, model: str) -> Price | None:
        """What a model costs; a dated name costs what the plain one does; None where the table has neither."""
        plain = (
            name for name in sorted(self.prices, key=len, reverse=True) if model.startswith(f"{name}-20")
        )
        return self.prices.get(model) or self.prices.get(next(plain, ""))

    @property
    def spent(self) -> float:
        """Dollars so far, of the models that have a price."""
        with self._lock:
            return self._spent()

    def _spent(self) -> float:
        return sum(
            price.of(entry.usage)
            for (_, model), entry in self._entries.items()
            if (price := self.price(model))
        )

    @contextmanager
    def admit(self, step: str, model: str, characters: int, most: int | None = None) -> Iterator[None]:
        """Keep money back for one call while it is made.

        Where requests say `max_tokens` the budget is never passed. Else the first call of a step is made alone, and the
        others are taken to be at most twice as long as the longest so far: only a longer one can pass it, by itself.

        Args:
            step: the prompt file.
            model: who is asked.
            characters: of what is asked.
            most: output tokens at most, where the request says so (0: none are written); else the most this step
                has cost.

        Raises:
            BudgetSpent: it might cost more than is left.
            ParameterError: there is a budget, and the model has no price.
        """
        # A model that asks another one of the same account in the midst of a call is covered by that call.
        if self.budget_usd is None or getattr(self._here, "inside", False):
            yield
            return
        kept = self._reserve(step, model, characters, most, self.budget_usd)
        self._here.inside = True
        try:
            yield
        finally:
            self._here.inside = False
            with self._landed:
                self._in_flight -= 1
                # A sum of floats need not come back to nothing by itself.
                self._flying = self._flying - kept if self._in_flight else 0.0
                self._landed.notify_all()

    def _reserve(self, step: str, model: str, characters: int, most: int | None, budget: float) -> float:
        """Keep back what a call may cost: where nobody knows it yet, all there is."""
        with self._landed:
            while True:
                self._read()
                kept, known = self._cost(step, model, characters, most)
                spent = self._spent()
                # What is kept back for calls in flight is mostly more than they cost: wait for them before giving up.
                if not self._in_flight or (known and spent + self._flying + kept <= budget):
                    break
                self._landed.wait()
            if kept and spent + kept > budget:
                raise BudgetSpent(
                    f"Expected the next call ({step}, about {kept:.4f} USD) to fit the budget of {budget:g} USD, of "
                    f"which {spent:.4f} are spent. What was answered is remembered: pass a higher budget_usd to go on "
                    "from here."
                )
            kept = kept if known else budget - spent
            self._flying += kept
            self._in_flight += 1
            return kept

    def _cost(self, step: str, model: str, characters: int, most: int | None) -> tuple[float, bool]:
        """What a call may cost, and whether anything says how long its answer can be."""
        price = self.price(model)
        if price is None:
            raise ParameterError(
                f"Expected a price of {model!r} to hold a budget, got none; add a line like `{model}: [2.0, 8.0]` to "
                "data/prices.yaml, dollars a million tokens of input and output, or pass prices= with the budget."
            )
        seen = _LONGER * max(
            (e.most for (s, m), e in self._entries.items() if (s, m) == (step, model)), default=0
        )
        most = most if type(most) is int and most >= 0 else None
        written = (seen or _UNSEEN) if most is None else most
        kept = price.of(Usage(input_tokens=characters // 3, output_tokens=written))
        return kept, most is not None or bool(seen) or not kept

    # What there is

    @property
    def total(self) -> Usage:
        """Everything that reached a model."""
        with self._lock:
            return sum((entry.usage for entry in self._entries.values()), Usage())

    def frame(self) -> pd.DataFrame:
        """One row a step and model, sorted; `untold` calls had their tokens reckoned from characters."""
        with self._lock:
            entries = {key: replace(entry) for key, entry in sorted(self._entries.items())}
        rows = []
        for (step, model), entry in entries.items():
            price, usage = self.price(model), entry.usage
            rows.append(
                (step.partition("/")[0], role_of(step), step, model, usage.calls, entry.cached, usage.input_tokens,
                 usage.output_tokens, entry.untold, price.of(usage) if price else float("nan"))
            )  # fmt: skip
        return pd.DataFrame(rows, columns=_COLUMNS)

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False)
