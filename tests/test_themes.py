"""Themes are inferred from stateful tasks only, filtered, merged without chaining, and picked in two ways."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler import themes as stage
from envscaler.error import NothingFits, ParameterError, ReplyError
from envscaler.model.request import Request
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Task, Theme
from envscaler.themes import (
    MergedThemes,
    compare_picks,
    infer_theme,
    infer_themes,
    merge_themes,
    pick_themes,
)


class CircleEncoder:
    """Puts a text at the angle of the number in it: `World at 30` and `World at 50` are 20 degrees apart."""

    def __init__(self, name: str = "circle") -> None:
        self.name = name
        self.texts: list[str] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        self.texts += texts
        angles = np.radians([float(text.split("at ")[1].split(":")[0]) for text in texts])
        return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


def theme(angle: float, *task_ids: str, modelability: int = 9, usefulness: int = 9, **fields: str) -> Theme:
    made = {"title": f"World at {angle:g}", "summary": "A world.", **fields}
    return Theme(
        usefulness=usefulness, modelability=modelability, task_ids=list(task_ids) or [f"t{angle:g}"], **made
    )


def titles(themes: list[Theme]) -> list[str]:
    return [theme.title.removeprefix("World at ") for theme in themes]


def reply(**changes: object) -> str:
    said = {
        "reason": "A loan.",
        "fits": True,
        "title": "Lending  desk ",
        "summary": "It lends.\n",
        "usefulness": 8,
    }
    return json.dumps({**said, "modelability": 9, **changes})


# infer


def test_a_theme_carries_its_task() -> None:
    task = Task(text="Renew my loan.", stateful=True)
    made = infer_theme(task, ScriptedModel([reply()]))
    assert (made.title, made.summary, made.usefulness, made.modelability) == (
        "Lending desk",
        "It lends.",
        8,
        9,
    )
    assert (made.task_ids, made.example) == ([task.id], "Renew my loan.")
    assert made.origin is not None
    assert made.origin.prompt


def test_a_model_may_say_that_nothing_fits() -> None:
    said = reply(fits=False, title="", summary="", usefulness=1, modelability=1, reason="It is a riddle.")
    with pytest.raises(NothingFits, match="a riddle"):
        infer_theme(Task(text="A riddle."), ScriptedModel([said]))


@pytest.mark.parametrize(
    "wrong", [{"title": " "}, {"summary": ""}, {"usefulness": 11}, {"modelability": 0}, {"mood": 1}]
)
def test_an_answer_out_of_form_is_asked_again_and_then_an_error(wrong: dict[str, object]) -> None:
    model = ScriptedModel([reply(**wrong), reply()])
    assert infer_theme(Task(text="Renew my loan."), model).title == "Lending desk"
    with pytest.raises(ReplyError):
        infer_theme(Task(text="Renew my loan."), ScriptedModel([reply(**wrong)] * 3))


def test_only_stateful_tasks_are_asked_about_and_what_does_not_fit_is_counted() -> None:
    def answer(request: Request) -> str:
        return reply(fits=False, reason="No.") if "riddle" in str(request.messages) else reply()

    asked = [("Renew my loan.", True), ("What is a loan?", False), ("A riddle.", True), ("Not judged.", None)]
    tasks = [Task(text=text, stateful=stateful) for text, stateful in asked]
    made = infer_themes(tasks, ScriptedModel(answer), progress=False)
    assert [theme.task_ids for theme in made] == [[tasks[0].id]]
    assert [(f.error, f.parent_id, f.message) for f in made.failures] == [("NothingFits", tasks[2].id, "No.")]


# merge


def test_weak_themes_go_and_scores_are_configurable() -> None:
    given_themes = [
        theme(0),
        theme(40, usefulness=6),
        theme(80, modelability=6),
        theme(120, usefulness=7, modelability=7),
    ]
    assert titles(merge_themes(given_themes, CircleEncoder())) == ["0", "120"]
    assert len(merge_themes(given_themes, CircleEncoder(), min_score=6, threshold=0.9)) == 4
    assert len(merge_themes(given_themes, CircleEncoder(), min_score=10)) == 0


def test_of_equal_titles_the_best_stands_for_all_their_tasks() -> None:
    same = [
        theme(0, "a", "b", usefulness=10, modelability=8, summary="useful"),
        theme(0, "c", usefulness=8, modelability=9, summary="modelable"),
        theme(0, "a", "d", usefulness=9, modelability=9, title="WORLD at 0", summary="both"),
    ]
    (kept,) = merge_themes(same, CircleEncoder(), threshold=1.0)
    assert kept.summary == "both"
    assert kept.task_ids == ["a", "d", "c", "b"]


def test_merging_unites_tasks_and_does_not_chain() -> None:
    merged = merge_themes([theme(angle) for angle in (0, 20, 40, 60, 80)], CircleEncoder(), threshold=0.9)
    assert titles(merged) == ["0", "40", "80"]
    assert [kept.task_ids for kept in merged] == [["t0", "t20"], ["t40", "t60"], ["t80"]]
    assert merged.counts == {"inferred": 5, "well_scored": 5, "distinct": 5, "merged": 3}
    assert merged.duplicate_ratio == pytest.approx(0.4)


def test_the_better_theme_stands_whatever_the_order() -> None:
    for order in ([theme(0), theme(10, modelability=10)], [theme(10, modelability=10), theme(0)]):
        assert titles(merge_themes(order, CircleEncoder(), threshold=0.9)) == ["10"]


def test_the_threshold_moves_without_encoding_again() -> None:
    encoder = CircleEncoder()
    merged = merge_themes([theme(angle) for angle in (0, 20, 40, 60, 80)], encoder, threshold=0.9)
    seen = len(encoder.texts)
    assert titles(merged.rethreshold(0.99)) == ["0", "20", "40", "60", "80"]
    assert titles(merged.rethreshold(0.7)) == ["0", "60"]
    assert titles(merged.rethreshold(0.1)) == ["0"]
    assert titles(merged.rethreshold(0.7).rethreshold(0.9)) == titles(merged)
    assert list(merged.sweep([0.7, 0.9, 0.99])["themes"]) == [2, 3, 5]
    assert len(encoder.texts) == seen == 5


def test_similarities_are_kept_and_can_be_read() -> None:
    merged = merge_themes([theme(angle) for angle in (0, 20, 45, 130)], CircleEncoder(), threshold=0.9)
    pairs = merged.pairs
    assert list(pairs["similarity"]) == sorted(pairs["similarity"], reverse=True)
    assert pairs["similarity"].iloc[0] == pytest.approx(np.cos(np.radians(20)), abs=1e-5)
    assert set(pairs.loc[pairs["merged"], "right"]) == {"World at 20"}
    assert pairs["similarity"].min() >= stage.FLOOR - 1e-6
    assert len(pairs) == 3


def test_the_least_similar_mergers_come_first() -> None:
    merged = merge_themes([theme(angle) for angle in (0, 5, 20, 90, 100)], CircleEncoder(), threshold=0.9)
    doubtful = merged.least_similar(2)
    assert list(doubtful["merged"]) == ["World at 20", "World at 100"]
    assert list(doubtful["kept"]) == ["World at 0", "World at 90"]
    assert doubtful["similarity"].is_monotonic_increasing
    assert len(merged.least_similar(99)) == 3


def test_so_many_pairs_that_they_are_not_kept_still_merge(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [theme(angle / 10) for angle in range(300)]
    merged = merge_themes(many, CircleEncoder(), threshold=0.99)
    monkeypatch.setattr(stage, "MOST_PAIRS", 100)
    sparing = merge_themes(many, CircleEncoder(), threshold=0.99)
    assert sparing.floor > 0.99
    assert len(sparing.pairs) < 1_000
    assert titles(sparing) == titles(merged)
    assert len(sparing.least_similar(3)) == 3


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01, float("nan")])
def test_a_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(ParameterError, match="threshold"):
        merge_themes([theme(0)], CircleEncoder(), threshold=threshold)
    with pytest.raises(ParameterError, match="threshold"):
        merge_themes([theme(0)], CircleEncoder()).rethreshold(threshold)


def test_a_score_out_of_range_is_refused() -> None:
    with pytest.raises(ParameterError, match="min_score"):
        merge_themes([theme(0)], CircleEncoder(), min_score=0)


def test_nothing_merges_to_nothing() -> None:
    merged = merge_themes([], CircleEncoder())
    assert (len(merged), merged.duplicate_ratio, len(merged.pairs), len(merged.least_similar())) == (
        0,
        0.0,
        0,
        0,
    )
    assert len(pick_themes(merged, CircleEncoder(), n=3)) == 0


@given(st.lists(st.integers(0, 179), min_size=1, max_size=30), st.sampled_from([0.6, 0.9, 0.99]))
@settings(max_examples=40, deadline=None)
def test_no_task_is_lost_and_none_is_doubled(angles: list[int], threshold: float) -> None:
    given_themes = [theme(angle, f"task {place}") for place, angle in enumerate(angles)]
    merged = merge_themes(given_themes, CircleEncoder(), threshold=threshold)
    kept = [task for one in merged for task in one.task_ids]
    assert sorted(kept) == sorted(f"task {place}" for place in range(len(angles)))


# pick


def test_kmeans_spreads_and_takes_the_theme_nearest_each_centre() -> None:
    themes = [theme(angle) for angle in (0, 1, 2, 80, 81, 82, 83, 84)]
    assert titles(pick_themes(themes, CircleEncoder(), n=2)) == ["1", "82"]


def test_merged_takes_what_most_tasks_ask_for() -> None:
    themes = [theme(0, "a"), theme(1, "b", "c"), theme(2, "d"), theme(80, "e", "f", "g")]
    assert titles(pick_themes(themes, CircleEncoder(), n=3, by="merged")) == ["80", "1", "0"]


@pytest.mark.parametrize("by", ["kmeans", "merged"])
@pytest.mark.parametrize("n", [None, 3, 99])
def test_all_are_picked_when_there_are_no_more(by: str, n: int | None) -> None:
    themes = [theme(angle) for angle in (40, 0, 80)]
    assert titles(pick_themes(themes, CircleEncoder(), n=n, by=by)) == ["40", "0", "80"]  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_picks_are_different_themes_even_among_copies() -> None:
    themes = [theme(0, f"t{place}") for place in range(6)]
    for by in ("kmeans", "merged"):
        picked = pick_themes(themes, CircleEncoder(), n=3, by=by)
        assert len({id(one) for one in picked}) == len(picked)
        assert 1 <= len(picked) <= 3


def test_merged_themes_are_not_encoded_again_unless_by_another_encoder() -> None:
    encoder, other = CircleEncoder(), CircleEncoder("other")
    merged = merge_themes([theme(angle) for angle in (0, 50, 100, 150)], encoder)
    pick_themes(merged, encoder, n=2)
    pick_themes(merged, other, n=2)
    assert len(encoder.texts) == len(other.texts) == 4


@pytest.mark.parametrize(
    ("n", "by", "said"), [(0, "kmeans", "n as"), (True, "kmeans", "n as"), (2, "best", "best")]
)
def test_a_senseless_pick_is_refused(n: int, by: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        pick_themes([theme(0), theme(9), theme(60)], CircleEncoder(), n=n, by=by)  # type: ignore[arg-type]


def test_both_ways_are_compared() -> None:
    themes = [theme(0, "a", "b", "c"), theme(1, "d", "e"), theme(2, "f"), theme(80, "g")]
    compared = compare_picks(themes, CircleEncoder(), n=2, near=0.9).set_index("by")
    assert list(compared.index) == ["kmeans", "merged"]
    assert compared.loc["kmeans", "coverage"] == 1.0
    assert compared.loc["merged", "coverage"] == 0.75
    assert compared.loc["merged", "support"] == pytest.approx(5 / 7)
    assert compared.loc["merged", "task_coverage"] == pytest.approx(6 / 7)
    assert compared.loc["kmeans", "mean_nearest"] > compared.loc["merged", "mean_nearest"]
    assert compared.loc["merged", "closest_picks"] > compared.loc["kmeans", "closest_picks"]


def test_the_funnel_counts_every_step() -> None:
    tasks = [Task(text=f"Request {i}.", stateful=True) for i in range(4)]
    replies = [reply(title=f"World at {angle}") for angle in (0, 5, 90)] + [reply(fits=False)]
    merged = merge_themes(infer_themes(tasks, ScriptedModel(replies), progress=False), CircleEncoder())
    assert isinstance(merged, MergedThemes)
    assert merged.counts == {"inferred": 3, "well_scored": 3, "distinct": 3, "merged": 2}
    assert len(merged.failures) == 1


class _Wrong:
    name = "wrong"

    def __init__(self, vectors: object) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str]) -> object:
        return self.vectors


@pytest.mark.parametrize("vectors", [None, [], np.ones((1, 4)), np.ones(2), np.full((2, 4), np.nan)])
def test_an_encoder_that_gives_no_vector_for_each_theme_is_named(vectors: object) -> None:
    themes = [
        Theme(title=title, summary="s", usefulness=8, modelability=8, task_ids=[])
        for title in ("Hotel", "Clinic")
    ]
    with pytest.raises(ParameterError, match="Expected"):
        merge_themes(themes, _Wrong(vectors))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["abc", None, [], float("nan"), 2])
def test_scores_and_seeds_of_the_wrong_kind_are_refused_in_words(value: object) -> None:
    for name in ("threshold", "min_score"):
        if (name, value) != ("min_score", 2):
            with pytest.raises(ParameterError, match=name):
                merge_themes([], _Wrong(None), **{name: value})  # type: ignore[arg-type]
    if value != 2:
        with pytest.raises(ParameterError, match="seed"):
            pick_themes([], _Wrong(None), n=1, seed=value)  # type: ignore[arg-type]
