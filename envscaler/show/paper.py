"""The paper's numbers: read, recomputed, redrawn, and a list of what of it can be made again here.

The numbers lie in `data/paper.json`, a `source` in every block, carried over from the published text and figures.
What is drawn from them is captioned as published; nothing here is a result of this project.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from envscaler import project
from envscaler.error import StoreError
from envscaler.show.canvas import OURS, QUIET, THIRD, axes_for, caption, in_house_style, say
from envscaler.store import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PUBLISHED = "published numbers (arXiv 2601.05808), not ours"
NEW, REDRAWN, NOT_HERE = "reproduced from new data", "redrawn from published numbers", "not reproducible here"
STAGE_COLOURS = {"": QUIET, "base": "#9ecae1", "SFT": OURS, "SFT&RL": THIRD}


def paper_facts() -> dict[str, Any]:
    """The blocks of `data/paper.json`.

    Raises:
        StoreError: the file is missing or is not JSON.
    """
    return _facts(project.paper_path())


def sample_facts() -> dict[str, Any]:
    """The blocks of `data/published.json`: the 31 published environments, recomputed.

    Raises:
        StoreError: the file is missing or is not JSON.
    """
    return _facts(project.sample_path())


def _facts(path: Path) -> dict[str, Any]:
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise StoreError(
            f"Expected JSON in {path}, but {error}. Restore the file from the repository."
        ) from error


# The main results, Fig. 6 and Table 4


def main_results() -> pd.DataFrame:
    """The paper's main table, a row a model and benchmark: printed overall, recomputed overall, gain over the base.

    `differs` says where the printed overall is not the mean of the printed columns, also when rounding is allowed for.
    """
    block = paper_facts()["main_results"]
    rows = []
    for name, scores in block["rows"].items():
        by_column = dict(zip(block["columns"], scores, strict=True))
        base, _, stage = name.partition("+")
        for benchmark, (*parts, overall) in block["groups"].items():
            mean = sum(by_column[part] for part in parts) / len(parts)
            rows.append((name, base, stage, benchmark, by_column[overall], mean))
    table = pd.DataFrame(rows, columns=["model", "base", "stage", "benchmark", "printed", "recomputed"])
    # Two decimals are printed: up to half a unit of the last one is rounding.
    table["differs"] = (table["printed"] - table["recomputed"]).abs() > 0.005 + 1e-9
    trained = table.groupby("base")["stage"].transform("nunique") > 1
    table.loc[trained & (table["stage"] == ""), "stage"] = "base"
    bases = table[table["stage"] == "base"].set_index(["base", "benchmark"])["recomputed"]
    known = pd.Series(list(zip(table["base"], table["benchmark"], strict=True))).map(bases.to_dict())
    table["gain"] = (table["recomputed"] - known).where(table["stage"].isin(["SFT", "SFT&RL"]))
    return table


@in_house_style
def draw_main_results(ax: "Axes | Sequence[Axes] | None" = None) -> "Figure":
    """Redraw the paper's main results from its published numbers, every overall mean recomputed."""
    table = main_results()
    benchmarks = list(dict.fromkeys(table["benchmark"]))
    figure, panels = axes_for(ax, (12, 6), columns=len(benchmarks))
    for place, (axes, benchmark) in enumerate(zip(panels, benchmarks, strict=True)):
        _results_panel(axes, table[table["benchmark"] == benchmark], named=place == 0)
    if ax is None:
        figure.set_label(PUBLISHED)
        caption(
            figure,
            f"Published numbers, overall means recomputed; in brackets the gain over the untrained model"
            f"{_where_differs(table)}",
        )
    return figure


def _results_panel(axes: "Axes", rows: pd.DataFrame, *, named: bool) -> None:
    heights = _rows_with_gaps(rows["stage"])
    axes.barh(
        heights, rows["recomputed"], color=[STAGE_COLOURS[stage] for stage in rows["stage"]], height=0.78
    )
    for height, row in zip(heights, rows.to_dict("records"), strict=True):
        gain = "" if pd.isna(row["gain"]) else f"  ({row['gain']:+.1f})"
        axes.text(
            row["recomputed"] + 1,
            height,
            f"{row['recomputed']:.1f}{'*' if row['differs'] else ''}{gain}",
            va="center",
            fontsize=8,
        )
    axes.set(
        ylim=(max(heights) + 0.7, -0.7), xlim=(0, rows["recomputed"].max() * 1.32), xlabel="overall score"
    )
    names = [m if s in ("", "base") else f"+ {s}" for m, s in zip(rows["base"], rows["stage"], strict=True)]
    axes.set_yticks(heights, names if named else [""] * len(heights))
    axes.grid(False)
    gains = rows.groupby("stage")["gain"].mean()
    say(axes, f"SFT adds {gains['SFT']:.1f} points, with RL {gains['SFT&RL']:.1f}", rows["benchmark"].iloc[0])


def _rows_with_gaps(stages: pd.Series) -> list[float]:
    heights: list[float] = []
    height = 0.0
    for stage in stages:
        height += 0.6 if stage == "base" and heights else 0.0
        heights.append(height)
        height += 1
    return heights


def _where_differs(table: pd.DataFrame) -> str:
    rows = table[table["differs"]]
    said = [
        f"{r['model']}, {r['benchmark']}: printed {r['printed']:.2f}, recomputed {r['recomputed']:.3f}"
        for r in rows.to_dict("records")
    ]
    return f".  * {'; '.join(said)}" if said else ""


# What of the paper can be made again

_ITEMS = [
    ("Fig. 1", "Kinds of environment compared; overview of the method", NOT_HERE,
     "a drawing and the authors' judgement, no data behind it; the README describes our flow", ""),
    ("Fig. 2", "How skeletons are built: find themes, write classes, assess them", NEW,
     "the steps are run, and one environment is shown from request to audit", "notebooks 01-04"),
    ("Fig. 3", "How scenarios are made; how agent, environment and user interact", NEW,
     "the steps are run, and one scenario and one rollout are shown", "notebooks 05, 06"),
    ("Fig. 4a", "Map of the environments' themes", NEW,
     "our themes; UMAP of MiniLM embeddings instead of (by all signs) t-SNE of text-embedding-3-large",
     "draw_theme_map, notebooks 02, 07"),
    ("Fig. 4b", "Query tools an environment", NEW, "ours, the paper's and the published sample's",
     "draw_corpus, notebook 07"),
    ("Fig. 4c", "State-change tools an environment", NEW, "ours, the paper's and the published sample's",
     "draw_corpus, notebook 07"),
    ("Fig. 4d", "State categories an environment", NEW,
     "ours, the paper's and the published sample's; a category is taken to be one attribute of an entity",
     "draw_corpus, notebook 07"),
    ("Fig. 4e", "Scenarios an environment", NEW, "ours, with the published histogram behind",
     "draw_corpus, notebook 07"),
    ("Table 2", "Mean rules, state categories and tools an environment", NEW, "ours beside the published means",
     "stats.summary_frame, notebook 07"),
    ("Fig. 5", "Reward, steps and win rate of several agents on 50 sampled scenarios", NEW,
     "our agents on our scenarios; the paper's agents, bar heights and definition of the win rate are not known",
     "draw_outcomes, draw_win_rates, notebook 08"),
    ("Fig. 6 / Table 4", "Main results on three benchmarks", REDRAWN,
     "training three model sizes and running the benchmarks needs GPUs, data and paid models; "
     "the published table is redrawn with its means recomputed", "draw_main_results, notebook 08"),
    ("Table 6", "Training on conversations, on non-conversations, on both", REDRAWN,
     "needs training; three published overall scores are known, not their columns", "paper_facts, notebook 08"),
    ("Table 9", "Models without thinking mode", REDRAWN,
     "needs training; only the untrained row is known", "paper_facts, notebook 08"),
    ("Fig. 7 left", "Training on the environments most and least similar to the test", NOT_HERE,
     "needs training, and the scores are not known; the two halves are made, by similarity to the eight API classes",
     "similarity_to, draw_benchmark_similarity, notebook 07"),
    ("Fig. 7 right", "Scores against the number of training environments", NOT_HERE,
     "needs training; the curve's values are not known", ""),
    ("Direct RL", "Reinforcement learning without imitation first", NOT_HERE,
     "needs training; neither sizes nor values are known", ""),
    ("Cost", "Dollars an environment and a scenario", REDRAWN,
     "published totals only; a run with a paid model counts its own tokens", "paper_facts"),
    ("Quality", "Environments rated by a model on three axes", NOT_HERE,
     "needs the authors' judge and its instructions; our environments are judged by execution instead", "notebook 04"),
    ("Funnel", "Counts a stage, 266 built and 191 kept (text, no figure)", NEW,
     "ours, every stage counted; the paper's earlier stages are not known", "draw_funnel, notebook 07"),
    ("Reward sanity", "Checks a scenario, reward of doing nothing (measured by third parties)", NEW,
     "ours, by execution: doing nothing earns 0 in every certified scenario", "draw_certificate, notebook 05"),
]  # fmt: skip


def paper_items() -> pd.DataFrame:
    """Every figure and table of the paper: whether it is made again here, why (not), and where."""
    return pd.DataFrame(_ITEMS, columns=["item", "content", "status", "why", "where"])
