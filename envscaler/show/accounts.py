"""What a run costs: by stage and role, for each thing that was kept, and beforehand.

    Ledger.frame → account_table, cost_table, draw_accounts
    sizes of an earlier run (data/sizes.csv) → estimate

Money that went into what was dropped is in the price of what was kept. An estimate goes by the lengths of prompts and
answers of the built-in model, whose answers are short and mostly usable: a model that thinks aloud writes several
times as much.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from envscaler.error import ParameterError, StoreError
from envscaler.given import one
from envscaler.model.budget import Ledger
from envscaler.project import Scale, get_scale, sizes_path
from envscaler.schema import Usage
from envscaler.show.canvas import OURS, PAPER, QUIET, THIRD, axes_for, in_house_style, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {
    "author": OURS, "tester": PAPER, "judge": THIRD, "user simulator": "#cc79a7", "agent": "#56b4e9", "encoder": QUIET,
}  # fmt: skip
_SUMS = ["calls", "cached", "input_tokens", "output_tokens", "untold", "usd"]
PAPER_ENVIRONMENTS = 191
"""Environments that the paper kept (section 4)."""
_PARTS = {"environment": ("skeletons", "audits"), "scenario": ("scenarios",), "rollout": ("rollouts",)}
"""Stages whose money goes into one of these; what comes before is for the whole run."""


def account_table(ledger: Ledger) -> pd.DataFrame:
    """Calls, tokens and dollars by stage, role and model, and of all together; NaN dollars where there is no price."""
    frame = ledger.frame()
    rows = frame.groupby(["stage", "role", "model"], sort=False)[_SUMS].sum(min_count=1).reset_index()
    total = {name: frame[name].sum() if len(frame) else 0 for name in _SUMS}
    return pd.concat(
        [rows, pd.DataFrame([{"stage": "all", "role": "", "model": "", **total}])], ignore_index=True
    )


def cost_table(ledger: Ledger, kept: Mapping[str, int]) -> pd.DataFrame:
    """What one kept environment, one certified scenario and one rollout cost, all that was dropped included.

    Args:
        ledger: of the whole run.
        kept: how many there are in the end, by `environment`, `scenario` and `rollout`.

    Raises:
        ParameterError: something else was counted, or a count is negative.
    """
    if unknown := [name for name, n in kept.items() if name not in _PARTS or n < 0]:
        raise ParameterError(
            f"Expected counts ≥ 0 of {', '.join(_PARTS)}, got {unknown[0]!r}: {kept[unknown[0]]}."
        )
    frame, rows = ledger.frame(), []
    for name, stages in _PARTS.items():
        own, n = frame[frame["stage"].isin(stages)], kept.get(name, 0)
        told = {
            "calls": own["calls"].sum(),
            "tokens": own[["input_tokens", "output_tokens"]].to_numpy().sum(),
        }
        each = {
            k: v / n if n else float("nan") for k, v in {**told, "usd": own["usd"].sum(skipna=False)}.items()
        }
        rows.append({"one": name, "kept": n, **each})
    return pd.DataFrame(rows)


@in_house_style
def draw_accounts(ledger: Ledger, ax: "Axes | None" = None) -> "Figure":
    """Tokens by stage, coloured by who asked."""
    frame = one(ledger, Ledger).frame()
    frame["tokens"] = (frame["input_tokens"] + frame["output_tokens"]) / 1e6
    wide = frame.pivot_table(
        index="stage", columns="role", values="tokens", aggfunc="sum", sort=False
    ).fillna(0.0)
    figure, (axes,) = axes_for(ax, (7.0, 0.6 + 0.42 * max(len(wide), 3)))
    left = pd.Series(0.0, index=wide.index)
    for role in [r for r in _COLOURS if r in wide]:
        axes.barh(wide.index, wide[role], left=left, color=_COLOURS[role], label=role, height=0.62)
        left += wide[role]
    for place, (stage, total) in enumerate(left.items()):
        usd = frame.loc[frame["stage"] == stage, "usd"].sum(skipna=False)
        told = f" {total:.3g} M" if usd != usd else f" {total:.3g} M, {usd:,.2f} USD"
        axes.annotate(told, (total, place), va="center", fontsize=8, color="#555555")
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, max(left.max() * 1.3, 1e-6) if len(left) else 1)
    axes.set_xlabel("million tokens, read and written")
    if len(wide):
        axes.legend(
            loc="lower right", bbox_to_anchor=(1, 1), ncols=len(wide.columns), fontsize=8, borderaxespad=0.2
        )
    most = left.idxmax() if len(left) and left.max() > 0 else None
    share = left.max() / left.sum() if most else 0
    untold = int(frame["untold"].sum())
    say(
        axes,
        f"{share:.0%} of the tokens go into {most}" if most else "Nothing was asked yet",
        f"tokens of {untold:,} of {int(frame['calls'].sum()):,} calls reckoned from characters"
        if untold
        else "",
        room=16,
    )
    return figure


def estimate(
    scale: str | Scale,
    model: str,
    *,
    prices: Mapping[str, Any] | None = None,
    environments: int = PAPER_ENVIRONMENTS,
) -> pd.DataFrame:
    """About how many calls, tokens and dollars a run will take, by step.

    Args:
        scale: a scale or its name.
        model: who will be asked; without a price the dollars are NaN.
        prices: as `connect` takes them.
        environments: how many to reckon with where the scale has no limit.

    Raises:
        StoreError: the sizes that come with the project cannot be read.
        ParameterError: there is no such scale.
    """
    size = get_scale(scale) if isinstance(scale, str) else scale
    try:
        sizes = pd.read_csv(sizes_path(), comment="#")
        measured = dict(zip(sizes["step"], sizes.to_dict("records"), strict=True))
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"{sizes_path()}: expected a table of sizes by step, got: {error}") from error
    price = Ledger(prices=prices).price(model)
    rows = []
    for step, known in measured.items():
        calls = round(
            known["calls"] * _units(size, known["unit"], known["units"], environments) / known["units"]
        )
        usage = Usage(
            calls=calls,
            input_tokens=round(known["input_tokens"] * calls / known["calls"]),
            output_tokens=round(known["output_tokens"] * calls / known["calls"]),
        )
        rows.append({"step": step, **usage.model_dump(), "usd": price.of(usage) if price else float("nan")})
    return pd.DataFrame(rows)


def _units(scale: Scale, unit: str, measured: int, environments: int) -> int:
    """How many of its units a scale has; as many as were measured where it has no limit."""
    worlds = scale.environments or environments
    counts = {
        "requests": scale.tasks or measured, "environments": worlds, "probes": worlds * scale.probes,
        "scenarios": worlds * scale.scenarios, "rollouts": scale.rollouts,
    }  # fmt: skip
    return counts[unit]
