"""Who answers, by name: the one place that knows the built-in model from the others.

A stage is handed what is made here and cannot tell the difference. How a server is spoken to is `client`'s,
what is remembered `cache`'s, how texts become vectors `embedding`'s.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from envscaler.error import ParameterError
from envscaler.model.budget import Ledger
from envscaler.model.cache import CachedModel, Mode
from envscaler.model.client import OpenAIModel
from envscaler.model.embedding import connect_encoder
from envscaler.model.scripted import RecordedModel
from envscaler.model.server import DEADLINE
from envscaler.project import replies_path

__all__ = ["builtin_sources", "connect", "connect_encoder"]


def connect(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    cache: Mode | None = None,
    seed: int = 0,
    fault_rate: float = 0.15,
    workers: int = 8,
    timeout: float = 300.0,
    budget_usd: float | None = None,
    prices: Mapping[str, Any] | None = None,
    ledger: Ledger | None = None,
) -> CachedModel | RecordedModel:
    """A model by its name: `builtin`, one of any server that speaks OpenAI's chat form, or a recorded one.

    Args:
        name: `builtin` for the stand-in that needs no network, `recorded:NAME` for the replies of that
            model in `data/replies/` (`CachedModel.record`), asked as it was then, else what the server calls the
            model.
        base_url: the server, e.g. `http://localhost:8000/v1`; default `OPENAI_BASE_URL`, else OpenAI's.
        api_key: the key; default `OPENAI_API_KEY`. It is never written anywhere.
        cache: `read_write` re-asks nothing it knows (the default), `replay_only` asks nothing at all,
            `refresh` asks everything again, `off` remembers nothing (the default for `builtin`, which is free).
        seed: of the built-in model's choices; for others it is sent as `seed` unless it is 0; a recording has its own.
        fault_rate: how often the built-in model errs on purpose; without meaning for others.
        workers: threads that may ask a server at once.
        timeout: seconds to wait for one answer; a machine of one's own may take an hour over a long one.
        budget_usd: dollars after which no call is made any more (`BudgetSpent`).
        prices: what models cost, e.g. `{"my-model": (0.2, 0.6)}`, dollars a million tokens of input and output; default
            `data/prices.yaml` over the table of the library.
        ledger: one that other models share, e.g. that of a run, which has prices and a budget of its own.

    Raises:
        ParameterError: a server for `builtin`, which needs none; or both a ledger and what would make another one.
        ModelError: neither a key nor a server is given for a model that needs one.
    """
    if base_url and (name == "builtin" or name.startswith("recorded:")):
        raise ParameterError(
            f"Expected the name of a model at {base_url}, got {name!r}, which needs no server."
        )
    if ledger is not None and (budget_usd is not None or prices is not None):
        raise ParameterError("Expected budget_usd and prices, or a ledger that has them, got both.")
    chosen = {"seed": seed} if seed else None
    ledger = ledger or Ledger(prices=prices, budget_usd=budget_usd)
    if name == "builtin":
        # Imported here because it is large and often not wanted.
        from envscaler.model.builtin import BuiltinModel

        mode: Mode = cache or "off"
        # What it answers hangs on both, so where it is remembered, both belong to what was asked.
        choices = {"seed": seed, "fault_rate": fault_rate} if mode != "off" else None
        return CachedModel(
            BuiltinModel(seed=seed, fault_rate=fault_rate), mode=mode, settings=choices, ledger=ledger
        )
    if name.startswith("recorded:"):
        recorded = name.removeprefix("recorded:")
        return RecordedModel(replies_path(recorded), settings=chosen, ledger=ledger)
    offline = cache == "replay_only"
    # All attempts at a request together have a limit of their own, which may not cut the one that was asked for.
    deadline = max(DEADLINE, timeout)
    model = OpenAIModel(
        name,
        base_url=base_url,
        api_key=api_key,
        workers=workers,
        timeout=timeout,
        deadline=deadline,
        offline=offline,
    )
    return CachedModel(model, mode=cache or "read_write", settings=chosen, ledger=ledger)


def builtin_sources() -> Iterator[str]:
    """All code that the built-in model can write, which is trusted where generated code cannot be sealed off."""
    # Imported here because it is large and often not wanted.
    from envscaler.model.builtin.sources import sources

    return sources()
