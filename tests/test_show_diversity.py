"""Diversity: near and far environments told by their cosines, what is there twice found, labels of the map apart."""

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from envscaler.error import EnvscalerError
from envscaler.schema import Scenario, Skeleton, Theme, Tool
from envscaler.show import diversity
from envscaler.show.diversity import ApiClass
from envscaler.show.theme_map import MOST_LABELS, draw_theme_map, theme_table

BODIES = ("return {x}", "return [{x} for _ in {x}]", "del {x}")


class WordEncoder:
    """Counts words: texts of the same words are the same, of no common word at right angles (but for chance)."""

    name = "words"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), 4096), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(":", " ").split():
                row[zlib.crc32(word.encode()) % 4096] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def world(title: str, *tools: str, body: str = BODIES[0]) -> Skeleton:
    methods = "".join(f"\n    def {n}(self, a_{n}):\n        {body.format(x=f'a_{n}')}\n" for n in tools)
    made = [Tool(name=n, description=n.replace("_", " "), parameters={}, mutates=False) for n in tools]
    return Skeleton(theme_id="", title=title, summary=title, class_name="World", state=[], rules=[], tools=made,
                    source=f"class World:\n    def __init__(self):\n        pass\n{methods}")  # fmt: skip


def scenario(home: Skeleton, task: str) -> Scenario:
    return Scenario(skeleton_id=home.id, initial_state={}, task=task, checks=[])


WORLDS = [world("hotel", "book_room", "list_rooms"), world("inn", "book_room", "find_guest"),
          world("farm", "feed_cow", "milk_cow", body=BODIES[1])]  # fmt: skip
CLASSES = [
    ApiClass("Rooms", "hotel: hotel", ("book room", "list rooms")),
    ApiClass("Sums", "sums: sums", ("add",)),
]
THEME = Theme(title="hotel", summary="", usefulness=8, modelability=8, task_ids=["t"])


def said(figure: Figure) -> str:
    return " | ".join(text.get_text().replace("\n", " ") for text in figure.findobj(Text))


def test_the_benchmarks_eight_classes_come_with_the_checkout(tmp_path: Path) -> None:
    classes = diversity.benchmark_classes()
    assert [c.name for c in classes] == ["GorillaFileSystem", "MathAPI", "MessageAPI", "TwitterAPI", "TicketAPI",
                                         "TradingBot", "TravelAPI", "VehicleControlAPI"]  # fmt: skip
    for one in classes:
        assert ": " in one.text and len(one.tools) >= 9
        assert all(said.endswith(".") for said in one.tools) and len(set(one.tools)) == len(one.tools)
    for content in (
        "- a",
        "{benchmark: B, classes: {A: 3}}",
        "{benchmark: B, classes: {A: {title: t, summary: s}}}",
        "{benchmark: B, classes: {A: {title: t, summary: s, tools: [x]}}}",
        "{benchmark: B, classes: {A: {title: t, summary: s, tools: {x: 3}}}}",
        "{benchmark: B, classes: {on: {title: t, summary: s, tools: {x: y}}}}",
        "{benchmark: B, classes: {}}",
        "{classes: {A: {title: t, summary: s, tools: {x: y}}}}",
        "{",
        "",
    ):
        (tmp_path / "classes.yaml").write_text(content)
        with pytest.raises(EnvscalerError, match="Expected a benchmark and names of classes"):
            diversity.benchmark_classes(tmp_path / "classes.yaml")


def test_an_environment_is_as_similar_to_a_class_as_its_theme_and_tools_are() -> None:
    frame = diversity.similarity_to(WORLDS, WordEncoder(), CLASSES)
    assert list(frame["title"]) == ["hotel", "inn", "farm"]
    hotel, inn, farm = frame.to_dict("records")
    assert (
        hotel["nearest"] == "Rooms" and hotel["max"] == pytest.approx(1) and farm["max"] == pytest.approx(0)
    )
    # Half of what tells the inn is its theme, which is another; of the other half about half is the same.
    assert 0.2 < inn["max"] < 0.5 and inn["mean"] == pytest.approx((inn["Rooms"] + inn["Sums"]) / 2)
    assert [row["half"] for row in (hotel, inn, farm)] == ["most similar", "most similar", "least similar"]


def test_halves_do_not_hang_on_the_order_and_equals_go_by_id() -> None:
    equal = [world(f"w{i}", "feed_cow") for i in range(6)]
    frames = [diversity.similarity_to(some, WordEncoder(), CLASSES) for some in (equal, equal[::-1])]
    pd.testing.assert_frame_equal(*frames)
    assert list(frames[0]["skeleton_id"]) == sorted(s.id for s in equal)
    assert list(frames[0]["half"]) == ["most similar"] * 3 + ["least similar"] * 3


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_figure_of_a_benchmark_says_how_near_it_is(count: int) -> None:
    frame = diversity.similarity_to(WORLDS[:count], WordEncoder(), CLASSES)
    figure = diversity.draw_benchmark_similarity(frame)
    assert "No environment is nearer than 1.00" in said(figure) and "hotel" in said(figure)
    assert ("least similar half, mean" in said(figure)) == (count > 1) and "nan" not in said(figure)
    ticks = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert ticks == ["Sums  (0)", f"Rooms  ({count})"]
    assert "a class of the benchmark;" in said(figure)
    named = [one._replace(benchmark="Toy bench") for one in CLASSES]
    frame = diversity.similarity_to(WORLDS[:count], WordEncoder(), named)
    assert "a class of Toy bench;" in said(diversity.draw_benchmark_similarity(frame))
    assert {one.benchmark for one in diversity.benchmark_classes()} == {"BFCL multi-turn"}
    drawn = [x for dots in figure.axes[0].collections for x, _ in np.asarray(dots.get_offsets())]
    assert sorted(drawn) == pytest.approx(sorted(frame["max"]))


def test_a_dollar_in_a_title_is_no_formula() -> None:
    priced = world("Loans from $5^{ to $900", "lend")
    figure = diversity.draw_benchmark_similarity(diversity.similarity_to([priced], WordEncoder(), CLASSES))
    figure.canvas.draw()
    assert priced.title in said(figure)


def test_dots_of_one_place_are_drawn_beside_each_other() -> None:
    offsets = diversity._swarm(np.repeat([0.5, 0.9], [40, 1]), 0.01)
    assert len(set(offsets[:40])) == 40 and np.abs(offsets).max() <= 0.45 and offsets[40] == 0


def test_diversity_counts_what_is_distinct_in_nested_subsets() -> None:
    frame = diversity.diversity_frame(WORLDS, WordEncoder(), draws=30)
    at = frame.set_index(["measure", "environments"])
    whole = {name: at.loc[(name, 3), "mean"] for name in ("tools", "names", "words", "bodies")}
    # book, room, list, rooms, find, guest, feed, cow, milk; two bodies, whatever the names are
    assert whole == {"tools": 6, "names": 5, "words": 9, "bodies": 2}
    assert (at["low"] <= at["mean"]).sum() == at["mean"].notna().sum() and np.isnan(
        at.loc[("nearest", 1), "mean"]
    )
    assert at.loc[("names", 3), "low"] == at.loc[("names", 3), "high"]
    for measure, rows in frame[frame["measure"] != "nearest"].groupby("measure"):
        assert rows["mean"].is_monotonic_increasing, measure
    assert at.loc[("nearest", 2), "mean"] < at.loc[("nearest", 3), "mean"]
    pd.testing.assert_frame_equal(frame, diversity.diversity_frame(WORLDS, WordEncoder(), draws=30))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_figure_of_diversity_tells_the_counts(count: int) -> None:
    figure = diversity.draw_diversity(diversity.diversity_frame(WORLDS[:count], WordEncoder(), draws=3))
    assert f"{2 * count} tools have" in said(figure)
    assert ("no neighbour" in said(figure)) == (count == 1)


def test_bodies_that_nobody_can_read_are_no_share_of_anything() -> None:
    unread = [world(title, "go").replace(source="return (") for title in ("one", "two")]
    figure = diversity.draw_diversity(diversity.diversity_frame(unread, WordEncoder(), draws=2))
    assert (
        "and 0 bodies" in said(figure) and "nan" not in said(figure) and "0 of them in 1 of 2" in said(figure)
    )


def test_tools_that_two_environments_share_are_told() -> None:
    overlap = diversity.tool_overlap(WORLDS)
    assert len(overlap) == 3 and list(overlap.iloc[0][["left", "right", "shared"]]) == ["hotel", "inn", 1]
    assert overlap["names"].iloc[0] == pytest.approx(1 / 3) and overlap["words"].iloc[0] == pytest.approx(
        2 / 6
    )
    assert diversity.tool_overlap(WORLDS[:1]).empty


def test_tasks_that_are_there_twice_are_found_within_and_across(monkeypatch: pytest.MonkeyPatch) -> None:
    hotel, inn, _ = WORLDS
    posed = [scenario(hotel, "book a room for Ann"), scenario(hotel, "Book a room for Ann"),
             scenario(inn, "for Ann book a room"), scenario(inn, "milk the cow")]  # fmt: skip
    monkeypatch.setattr("envscaler.dedup.BLOCK", 2)  # pairs that lie in different blocks
    for threshold in (0.95, 1.0):
        pairs = diversity.duplicate_tasks(posed, WordEncoder(), threshold)
        assert len(pairs) == 3 and int(pairs["within"].sum()) == 1
    assert set(pairs[pairs["within"]].iloc[0][["left", "right"]]) == {posed[0].id, posed[1].id}
    assert list(pairs.columns) == list(diversity.duplicate_tasks([posed[3]], WordEncoder()).columns)


def test_what_cannot_be_compared_is_told() -> None:
    for slip in (
        lambda: diversity.similarity_to([], WordEncoder(), CLASSES),
        lambda: diversity.similarity_to(WORLDS, WordEncoder(), []),
        lambda: diversity.similarity_to(WORLDS, WordEncoder(), [CLASSES[0]] * 2),
        lambda: diversity.similarity_to(WORLDS, WordEncoder(), [CLASSES[0]._replace(name="max")]),
        lambda: theme_table([THEME] * 2, np.full((2, 3), np.nan)),
        lambda: draw_theme_map([THEME], np.ones((1, 3)), table=pd.DataFrame({"x": [0.0]})),
        lambda: diversity.diversity_frame([], WordEncoder()),
        lambda: diversity.diversity_frame(WORLDS, WordEncoder(), draws=0),
        lambda: diversity.duplicate_tasks([], WordEncoder(), 1.5),
        lambda: diversity.draw_diversity(pd.DataFrame({"measure": []})),
    ):
        with pytest.raises(EnvscalerError, match="Expected"):
            slip()


# The map


def test_themes_that_are_all_the_same_have_places() -> None:
    table = theme_table([THEME] * 6, np.ones((6, 4)))
    assert np.isfinite(table[["x", "y"]]).all(axis=None) and "PCA" in table.attrs["how"]


@pytest.mark.parametrize(("count", "seed"), [(64, 0), (64, 1), (191, 0), (191, 1), (191, 2)])
def test_labels_of_a_large_map_cover_neither_each_other_nor_a_dot(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, 2)) * 4
    places = centres[rng.integers(0, 12, count)] + rng.normal(size=(count, 2)) * 0.8
    themes = [Theme(title=f"Family-run insurance claims of company number {i}", summary="", usefulness=8,
                    modelability=8, task_ids=["t"] * int(rng.integers(1, 9))) for i in range(count)]  # fmt: skip
    table = pd.DataFrame({"title": [t.title for t in themes], "x": places[:, 0], "y": places[:, 1],
                          "cluster": 0, "tasks": [len(t.task_ids) for t in themes]})  # fmt: skip
    figure = draw_theme_map(themes, np.zeros((count, 2)), table=table)
    [axes] = figure.axes
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in axes.texts if t.get_text().startswith("Family-run")]
    assert 24 <= len(boxes) <= MOST_LABELS
    assert not [1 for i, box in enumerate(boxes) for other in boxes[:i] if box.overlaps(other)]
    radii = np.sqrt(axes.collections[0].get_sizes()) / 2 * figure.dpi / 72
    for spot, radius in zip(axes.transData.transform(places), radii, strict=True):
        for box in boxes:
            nearest = np.clip(spot, box.min, box.max)
            assert np.linalg.norm(nearest - spot) >= radius - 0.5
