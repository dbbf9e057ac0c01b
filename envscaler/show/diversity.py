"""How different environments are from each other and from a benchmark's classes, and which tasks are there twice.

An environment is placed by what it is about and what it can do: the unit mean of the embedding of its theme (`title:
summary`) and of the mean embedding of its tools' descriptions. One text of both would be cut off by the encoder, which
reads 256 tokens. Which encoder and which aggregation the paper used for its Fig. 7 (left) is not known (PAPER 7.3).

Cosines say what texts say, not what code does; `bodies` looks at code. Nothing is trained here.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import yaml
from pydantic import Field, ValidationError

from envscaler.dedup import similar_pairs, unit_rows
from envscaler.error import ParameterError, StoreError
from envscaler.given import a_frame, a_path, at_least, many
from envscaler.model.request import Encoder
from envscaler.project import benchmark_path, check_seed
from envscaler.schema import Part, Scenario, Skeleton
from envscaler.show.canvas import (
    INK,
    OURS,
    PAPER,
    QUIET,
    THIRD,
    axes_for,
    count_axis,
    in_house_style,
    say,
    says_nothing,
)
from envscaler.show.depth import depth_frame
from envscaler.show.stats import quantiles
from envscaler.store import read_text, sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = ("skeleton_id", "title", "nearest", "max", "mean", "half")
HALVES = {"most similar": OURS, "least similar": PAPER}
VOCABULARY = {
    "tools": ("tools in all", QUIET),
    "names": ("distinct names", OURS),
    "words": ("distinct words in names", PAPER),
    "bodies": ("distinct bodies", THIRD),
}


class ApiClass(NamedTuple):
    """One class of a benchmark, as a theme with tools."""

    name: str
    """What the benchmark calls it."""
    text: str
    """`title: summary`, as of a theme."""
    tools: tuple[str, ...]
    """What its tools do, a sentence each."""
    benchmark: str = ""
    """Whose class it is."""


class _Class(Part):
    title: str
    summary: str
    tools: dict[str, str]


class _Benchmark(Part):
    benchmark: str
    classes: dict[str, _Class] = Field(min_length=1)


def benchmark_classes(path: str | Path | None = None) -> list[ApiClass]:
    """The eight API classes of BFCL-v3 multi-turn in our own words, or those of another such file.

    Raises:
        StoreError: the file cannot be read, or does not name its `benchmark` and `classes` with `title`, `summary` and
            `tools`.
    """
    place = benchmark_path() if path is None else a_path(path)
    try:
        found = _Benchmark.model_validate(yaml.safe_load(read_text(place)))
    except (yaml.YAMLError, ValidationError, RecursionError) as error:
        why = sentence(error) if isinstance(error, ValidationError) else " ".join(str(error).split())
        raise StoreError(
            f"Expected a benchmark and names of classes with title, summary and tools in {place}, but {why:.200} "
            "Restore the file."
        ) from error
    return [
        ApiClass(name, f"{said.title}: {said.summary}", tuple(said.tools.values()), found.benchmark)
        for name, said in found.classes.items()
    ]


# Environments in the space of the encoder


def environment_vectors(skeletons: Iterable[Skeleton], encoder: Encoder) -> np.ndarray:
    """One unit row an environment: half its theme, half its tools (n × d)."""
    given = many(skeletons, Skeleton)
    texts = [f"{skeleton.title}: {skeleton.summary}" for skeleton in given]
    return _vectors(texts, [[t.description or t.name for t in s.tools] for s in given], encoder)


def _vectors(texts: Sequence[str], tools: Sequence[Sequence[str]], encoder: Encoder) -> np.ndarray:
    rows = unit_rows(encoder.encode([*texts, *(tool for some in tools for tool in some)]))
    sums = np.zeros((len(texts), rows.shape[1]))
    np.add.at(sums, np.repeat(np.arange(len(texts)), list(map(len, tools))), rows[len(texts) :])
    return unit_rows(rows[: len(texts)] + unit_rows(sums))


def similarity_to(
    skeletons: Iterable[Skeleton], encoder: Encoder, classes: Sequence[ApiClass] | None = None
) -> pd.DataFrame:
    """How similar each environment is to the classes of a benchmark (the paper's Fig. 7, left), most similar first.

    One row an environment: `skeleton_id`, `title`, the class it is `nearest` to, `max` and `mean` of its cosines to
    all of them, the `half` it falls in, and a column a class with the cosine. Halves are split at the median of `max`;
    equals go by id, and of an odd number one more is in the most similar half. `attrs["benchmark"]` names whose classes
    they are.

    Args:
        skeletons: the environments.
        encoder: what `connect_encoder` gives.
        classes: the benchmark's; default the eight of BFCL multi-turn.

    Raises:
        ParameterError: there is no environment or no class, or two classes or a column have one name.
    """
    given = many(skeletons, Skeleton)
    others = many(benchmark_classes() if classes is None else classes, ApiClass)
    if not given or not others:
        raise ParameterError(
            f"Expected environments and classes to compare, got {len(given)} and {len(others)}."
        )
    names = [one.name for one in others]
    if len({*names, *_COLUMNS}) < len(names) + len(_COLUMNS):
        raise ParameterError(
            f"Expected classes of different names, none of them {', '.join(_COLUMNS)}, got {', '.join(names)}."
        )
    theirs = _vectors([c.text for c in others], [c.tools for c in others], encoder)
    cosines = pd.DataFrame(environment_vectors(given, encoder) @ theirs.T, columns=names)
    frame = pd.DataFrame(
        {
            "skeleton_id": [skeleton.id for skeleton in given],
            "title": [skeleton.title for skeleton in given],
            "nearest": cosines.idxmax(axis=1),
            "max": cosines.max(axis=1),
            "mean": cosines.mean(axis=1),
        }
    ).join(cosines)
    frame = frame.sort_values(["max", "skeleton_id"], ascending=[False, True], ignore_index=True)
    most, least = HALVES
    frame.insert(5, "half", np.where(frame.index < (len(frame) + 1) // 2, most, least))
    frame.attrs["benchmark"] = " and ".join(dict.fromkeys(c.benchmark for c in others if c.benchmark))
    return frame


@in_house_style
def draw_benchmark_similarity(frame: pd.DataFrame, ax: "Axes | None" = None) -> "Figure":
    """Draw each environment as a dot at its cosine to the class it is nearest to, a row a class, coloured by half.

    Args:
        frame: as `similarity_to` makes it.
        ax: axes to draw on.
    """
    a_frame(frame, ["title", "nearest", "max", "half"], "`similarity_to`")
    counts = (
        frame["nearest"].value_counts().reindex(frame.columns[6:], fill_value=0).sort_values(kind="stable")
    )
    figure, (axes,) = axes_for(ax, (9.5, 1.6 + 0.55 * len(counts)))
    if frame.empty:
        says_nothing(axes, "There are no environments.")
        return figure
    width = float(np.ptp(frame["max"])) or 0.1
    for height, name in enumerate(counts.index):
        rows = frame[frame["nearest"] == name]
        if rows.empty:
            continue
        colours = [HALVES[half] for half in rows["half"]]
        axes.scatter(rows["max"], height + _swarm(rows["max"].to_numpy(), width / 70), s=24, c=colours,
                     edgecolors="white", linewidths=0.5)  # fmt: skip
        title = str(rows["title"].iloc[0])
        axes.annotate(title if len(title) < 47 else f"{title[:45]} …", (rows["max"].iloc[0], height), (8, 0),
                      textcoords="offset points", va="center", fontsize=7.6, color="#555555",
                      bbox={"facecolor": "white", "linewidth": 0, "pad": 1})  # fmt: skip
    ends = frame.groupby("half")["max"].agg(["min", "max", "mean"]).reindex(list(HALVES))
    if len(frame) > 1:
        axes.axvline(
            (ends["min"].iloc[0] + ends["max"].iloc[1]) / 2, color=INK, linewidth=1, linestyle=(0, (3, 2))
        )
    axes.set_yticks(range(len(counts)), [f"{name}  ({n:,})" for name, n in counts.items()])
    axes.set(ylim=(-0.6, len(counts) - 0.4), xlabel="cosine to the nearest class",
             xlim=(frame["max"].min() - 0.05 * width, frame["max"].max() + 0.55 * width))  # fmt: skip
    axes.grid(True, axis="x")
    axes.grid(False, axis="y")
    for half in frame["half"].unique():
        axes.scatter([], [], s=24, c=HALVES[half], label=f"{half} half, mean {ends['mean'][half]:.2f}")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.1)
    say(
        axes,
        f"No environment is nearer than {frame['max'].max():.2f} to a class of "
        f"{frame.attrs.get('benchmark') or 'the benchmark'}; "
        f"{counts.index[-1]} is nearest to {counts.iloc[-1]:,} of {len(frame):,}",
        "In brackets: environments nearest to the class; its most similar one is named. Dashed: the median split.",
        room=16,
    )
    return figure


def _swarm(values: np.ndarray, width: float) -> np.ndarray:
    """Offsets up and down from the row, so that dots within one width of each other do not lie on one another."""
    place = pd.Series(np.floor(values / width)).groupby(np.floor(values / width)).cumcount().to_numpy()
    step = min(0.13, 0.4 / max(1, (place.max() + 1) // 2))
    return np.where(place % 2, 1, -1) * ((place + 1) // 2) * step


# Diversity against the number of environments


def diversity_frame(
    skeletons: Iterable[Skeleton], encoder: Encoder, *, draws: int = 50, seed: int = 0
) -> pd.DataFrame:
    """How diversity goes with the number of environments: nested subsets, each order of the environments one draw.

    One row a size and measure, with `mean`, `low` and `high` (95 % of the draws; at the full size all are the same):

    - `nearest`: mean cosine of an environment to the nearest other one; NaN for one alone.
    - `tools`, `names`, `words`: tools in all, distinct names among them, distinct words in these.
    - `bodies`: distinct bodies of tools, as `show.depth` tells them: what renaming cannot make new.

    Args:
        skeletons: the environments.
        encoder: what `connect_encoder` gives.
        draws: how many orders are drawn.
        seed: of the orders.

    Raises:
        ParameterError: there is no environment, or a number is none that will do.
    """
    given = many(skeletons, Skeleton)
    if not given:
        raise ParameterError("Expected at least one environment, got none.")
    check_seed(seed)
    rng, count = np.random.default_rng(seed), len(given)
    vectors = environment_vectors(given, encoder)
    cosines = vectors @ vectors.T - 2 * np.eye(count)
    frame = depth_frame(given)
    bodies = {skeleton.id: frame.loc[frame["skeleton_id"] == skeleton.id, "body"] for skeleton in given}
    sets = {
        "names": [{tool.name for tool in skeleton.tools} for skeleton in given],
        "words": [tool_words(skeleton) for skeleton in given],
        "bodies": [set(bodies[skeleton.id]) for skeleton in given],
    }
    sizes = sorted({*np.geomspace(1, count, 10).round().astype(int).tolist(), max(1, count // 2)})
    drawn = []
    for order in (rng.permutation(count) for _ in range(at_least(draws, 1, "draws"))):
        for size in sizes:
            some = order[:size]
            near = cosines[np.ix_(some, some)].max(axis=1).mean() if size > 1 else np.nan
            found = {"nearest": near, "tools": sum(len(given[i].tools) for i in some)}
            found |= {name: len(set().union(*(of[i] for i in some))) for name, of in sets.items()}
            drawn += [(size, measure, value) for measure, value in found.items()]
    grouped = pd.DataFrame(drawn, columns=["environments", "measure", "value"]).groupby(
        ["measure", "environments"], sort=False
    )["value"]
    rows = [(*key, np.mean(values), *quantiles(values.to_numpy(float)), draws) for key, values in grouped]
    frame = pd.DataFrame(rows, columns=["measure", "environments", "mean", "low", "high", "draws"])
    return frame.sort_values(["measure", "environments"], ignore_index=True)


def tool_words(skeleton: Skeleton) -> set[str]:
    """The words that the names of an environment's tools are made of."""
    return {word for tool in skeleton.tools for word in tool.name.lower().split("_") if word}


@in_house_style
def draw_diversity(frame: pd.DataFrame, ax: "Sequence[Axes] | None" = None) -> "Figure":
    """Draw the nearest neighbour's cosine and the vocabulary of tools against the number of environments.

    Args:
        frame: as `diversity_frame` makes it.
        ax: two axes to draw on.
    """
    a_frame(frame, ["measure", "environments", "mean", "low", "high"], "`diversity_frame`")
    of = {name: rows.set_index("environments") for name, rows in frame.groupby("measure")}
    figure, (left, right) = axes_for(ax, (11, 4.6), columns=2)
    if frame.empty:
        for axes in (left, right):
            says_nothing(axes, "There are no environments.")
        return figure
    near, count = of["nearest"].dropna(), int(frame["environments"].max())
    _curve(left, near, OURS, "")
    left.set(ylabel="mean cosine to the nearest other one")
    say(
        left,
        f"The nearest other environment lies at {near['mean'].iloc[0]:.2f} among {near.index[0]}, "
        f"at {near['mean'].iloc[-1]:.2f} among {count}"
        if len(near)
        else "One environment has no neighbour",
        "Band: 95 % of the orders in which environments are added.",
    )
    for name, (label, colour) in VOCABULARY.items():
        _curve(right, of[name], colour, label)
    right.set(ylabel="count", ylim=(0, None))
    right.legend(loc="upper left")  # what is counted grows: the corner is free
    count_axis(right, "y")
    last = {name: int(rows["mean"].iloc[-1]) for name, rows in of.items() if name != "nearest"}
    half = max(1, count // 2)
    say(
        right,
        f"{last['tools']:,} tools have {last['names']:,} names, of {last['words']:,} words, "
        f"and {last['bodies']:,} bodies",
        "Body: a tool's code but for names, texts and numbers; "
        f"{of['bodies']['mean'][half]:,.0f} of them in {half:,} of {count:,} environments, in the mean.",
    )
    for axes in (left, right):
        axes.set_xlabel("environments")
        count_axis(axes, "x")
    return figure


def _curve(axes: "Axes", rows: pd.DataFrame, colour: str, label: str) -> None:
    axes.fill_between(rows.index, rows["low"], rows["high"], color=colour, alpha=0.2, linewidth=0)
    axes.plot(rows.index, rows["mean"], color=colour, marker="o", markersize=3.5, label=label or None)


# What is there twice


def tool_overlap(skeletons: Iterable[Skeleton]) -> pd.DataFrame:
    """How much of their tools each two environments share, the most alike first.

    One row a pair: `left` and `right` (titles), the Jaccard index of their sets of tool `names` and of the `words` in
    these, and how many names they have in common (`shared`).
    """
    given = many(skeletons, Skeleton)
    known = [({tool.name for tool in skeleton.tools}, tool_words(skeleton)) for skeleton in given]
    rows = [
        (given[i].title, given[j].title, *(_jaccard(*pair) for pair in zip(known[i], known[j], strict=True)),
         len(known[i][0] & known[j][0]))
        for i, j in combinations(range(len(given)), 2)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["left", "right", "names", "words", "shared"])
    return frame.sort_values(["names", "words"], ascending=False, kind="stable", ignore_index=True)


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def duplicate_tasks(scenarios: Iterable[Scenario], encoder: Encoder, threshold: float = 0.95) -> pd.DataFrame:
    """Pairs of scenarios whose tasks say nearly the same, most alike first.

    One row a pair: `left` and `right` (ids), `skeleton_id` of the left one, `within` (both of one environment?),
    `cosine`, and both texts. Every two are compared, of more than 8,000 tasks very nearly all (`dedup`).

    Args:
        scenarios: the corpus.
        encoder: what `connect_encoder` gives.
        threshold: least cosine of a pair, above 0 and at most 1.

    Raises:
        ParameterError: the threshold is out of range.
    """
    given = many(scenarios, Scenario)
    found = similar_pairs(encoder.encode([s.task for s in given]), threshold)
    rows = [
        (one.id, other.id, one.skeleton_id, one.skeleton_id == other.skeleton_id, score, one.task, other.task)
        for one, other, score in ((given[i], given[j], float(s)) for i, j, s in zip(*found, strict=True))
    ]
    columns = ["left", "right", "skeleton_id", "within", "cosine", "task", "other_task"]
    return pd.DataFrame(rows, columns=columns).sort_values(
        "cosine", ascending=False, kind="stable", ignore_index=True
    )
