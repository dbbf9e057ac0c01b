"""Labelled pairs of themes: the files that come with the project, the curves by hand, the threshold they give."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest

from envscaler import project, themes
from envscaler.error import ParameterError, StoreError
from envscaler.model.embedding import connect_encoder
from envscaler.release import env_id, read_environments
from envscaler.show.agreement import compare_labels
from envscaler.show.theme_pairs import (
    ROUND,
    choose_threshold,
    draw_merge_curve,
    kmeans_curve,
    load_theme_pairs,
    merge_curve,
    merge_table,
)

ROOT = Path(__file__).resolve().parents[1]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


PAIRS, THEMES = rows(project.labelled_pairs_path()), rows(project.labelled_themes_path())
BY_HASH = {row["hash"]: row for row in THEMES}


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def text_of(row: dict[str, Any]) -> str:
    return themes.Theme(
        title=row["title"], summary=row["summary"], usefulness=7, modelability=7, task_ids=[]
    ).text


# The files


def test_there_are_300_pairs_evenly_by_cosine_and_each_once() -> None:
    assert len({frozenset((row["left"], row["right"])) for row in PAIRS}) == len(PAIRS) == 300
    bins = Counter(int(row["cosine"] / 0.05 + 1e-9) for row in PAIRS)
    assert sorted(bins) == list(range(8, 19)) and set(bins.values()) == {27, 28}


def test_a_pair_holds_no_text_and_what_the_readers_differ_in_is_unsure() -> None:
    for row in PAIRS:
        assert list(row) == ["left", "right", "cosine", "stands_for", "a", "b", "same", "sure"]
        assert all(
            re.fullmatch(r"[0-9a-f]{16}", row[side]) and row[side] in BY_HASH for side in ("left", "right")
        )
        assert all(type(row[name]) is bool for name in ("a", "b", "same", "sure"))
        assert row["stands_for"] >= 1 and (row["same"] == row["a"] == row["b"] or not row["sure"])


def test_only_the_stand_ins_themes_have_a_text_and_it_is_the_one_that_was_read() -> None:
    assert Counter(row["source"] for row in THEMES) == {"stand-in": 283, "published": 19, "real": 3}
    for row in THEMES:
        named = ["title", "summary"] if row["source"] == "stand-in" else []
        assert list(row) == ["hash", "source", "name", *named, "clusters"]
        assert not named or text_hash(text_of(row)) == row["hash"]


def test_cosines_are_those_of_the_encoder() -> None:
    own = [row for row in PAIRS if all("title" in BY_HASH[row[side]] for side in ("left", "right"))][::15]
    left, right = (
        connect_encoder(cache=False).encode([text_of(BY_HASH[row[side]]) for row in own])
        for side in ("left", "right")
    )
    assert (left * right).sum(axis=1) == pytest.approx([row["cosine"] for row in own], abs=2e-3)


@pytest.mark.release
def test_published_themes_are_those_of_the_sample_and_none_is_copied(release: Path) -> None:
    published = {env_id(s): f"{s.title}: {s.summary}" for s in read_environments(release)}
    for row in THEMES:
        if row["source"] == "published":
            assert text_hash(published[row["name"]]) == row["hash"]
    written = project.labelled_themes_path().read_text(encoding="utf-8")
    assert not [text for text in published.values() if text.partition(": ")[2][:60] in written]


def test_the_account_of_the_labels_is_theirs() -> None:
    told = " ".join((ROOT / "data" / "themes" / "LABELS.md").read_text(encoding="utf-8").split())
    found = compare_labels([row["a"] for row in PAIRS], [row["b"] for row in PAIRS])
    agree = round(found.accuracy * found.n)
    assert f"{agree} of 300 agree (Cohen's kappa {found.kappa:.3f})" in told
    same, sure = (sum(row[name] for row in PAIRS) for name in ("same", "sure"))
    assert f"{same} pairs are one world, {300 - same} are two" in told
    assert f"{300 - sure} pairs are `sure: false`" in told
    frame = load_theme_pairs()
    own = frame[~frame["others"]]
    like = ((own["left_world"] == own["right_world"]) == own["same"]).sum()
    assert f"of the {len(own)} pairs of two stand-in themes the labels agree with them on {like}" in told


# The curves


def pair(cosine: float, same: bool, worlds: str, weight: float = 1.0, together: tuple[int, ...] = ()) -> dict:
    left, right = worlds
    return {
        "left": left, "right": right, "cosine": cosine, "same": same, "sure": True, "a": same, "b": same,
        "stands_for": weight, "left_world": left, "right_world": right, "others": False, "together": together,
        "ks": (2, 3),
    }  # fmt: skip


FOUR = pd.DataFrame(
    [
        pair(0.9, True, "aa", 1, (2, 3)),
        pair(0.8, False, "ab", 1, (2,)),
        pair(0.7, True, "bb", 4, (2,)),
        pair(0.5, False, "cd", 8),
    ]
)


def test_precision_and_recall_are_counted_from_a_threshold_on() -> None:
    curve = merge_curve(FOUR, [0.5, 0.7, 0.8, 0.9, 0.95]).set_index("threshold")
    assert curve["merged"].tolist() == [4, 3, 2, 1, 0]
    assert curve["precision"].tolist()[:4] == pytest.approx([1 / 2, 2 / 3, 1 / 2, 1])
    assert np.isnan(curve.loc[0.95, "precision"])
    assert curve["recall"].tolist() == pytest.approx([1, 1, 1 / 2, 1 / 2, 0])
    assert curve["f1"].tolist() == pytest.approx([2 / 3, 4 / 5, 1 / 2, 2 / 3, 0])
    assert curve["behind"].tolist() == pytest.approx([4 / 5 - f1 for f1 in curve["f1"]])


def test_pairs_may_weigh_what_they_stand_for() -> None:
    curve = merge_curve(FOUR, [0.7, 0.9], counting="pool")
    assert curve["precision"].tolist() == pytest.approx([5 / 6, 1])
    assert curve["recall"].tolist() == pytest.approx([1, 1 / 5])


def test_clusters_are_counted_in_the_same_way() -> None:
    curve = kmeans_curve(FOUR).set_index("k")
    assert curve.loc[2, ["merged", "precision", "recall"]].tolist() == pytest.approx([3, 2 / 3, 1])
    assert curve.loc[3, ["merged", "precision", "recall"]].tolist() == pytest.approx([1, 1, 1 / 2])


def test_the_table_of_the_picture_has_both_curves() -> None:
    table = merge_table(FOUR)
    assert table.loc[table["by"] == "clusters", "value"].tolist() == [2, 3]
    assert table.loc[table["by"] == "threshold", "f1"].tolist() == merge_curve(FOUR)["f1"].tolist()
    assert list(table.columns[:2]) == ["by", "value"] and not table["value"].isna().any()


def test_intervals_hold_the_value_and_resample_worlds_not_pairs() -> None:
    alike = pd.DataFrame([pair(0.8, True, "aa")] * 60 + [pair(0.8, False, "bc")] * 60)
    apart = pd.DataFrame([{**pair(0.8, n < 60, "xx"), "left_world": n, "right_world": n} for n in range(120)])
    wide, narrow = (merge_curve(frame, [0.8]).iloc[0] for frame in (alike, apart))
    for row in (wide, narrow):
        assert row["precision"] == 0.5 and row["precision_low"] <= 0.5 <= row["precision_high"]
    # Sixty pairs of one world say as much as one.
    assert (wide["precision_low"], wide["precision_high"]) == (0, 1)
    assert narrow["precision_low"] > 0.3 and narrow["precision_high"] < 0.7
    assert merge_curve(apart, [0.8], seed=3).equals(merge_curve(apart, [0.8], seed=3))


def test_as_good_as_the_best_is_what_chance_could_make_best() -> None:
    curve = merge_curve(load_theme_pairs()).set_index("threshold")
    best = curve["f1"].idxmax()
    assert curve.loc[best, "behind"] == 0 and curve.loc[best, "as_good"]
    assert curve.loc[0.7, "as_good"] and not curve.loc[0.75, "as_good"] and not curve.loc[0.4, "as_good"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: merge_curve(FOUR.iloc[:0]), "pairs of themes, got none"),
        (lambda: merge_curve(FOUR, [0.0]), "thresholds above 0"),
        (lambda: merge_curve(FOUR, []), "thresholds above 0"),
        (lambda: merge_curve(FOUR, counting="twice"), "drawn, pool"),  # type: ignore[arg-type]
        (lambda: merge_curve(FOUR, resamples=0), "resamples"),
        (lambda: merge_curve(FOUR.drop(columns="stands_for")), "load_theme_pairs"),
        (lambda: kmeans_curve(FOUR.iloc[:0]), "got none"),
    ],
)
def test_what_gives_no_curve_is_refused_in_words(make: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make()


def test_damaged_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Restore"):
        load_theme_pairs(tmp_path / "none.jsonl")
    (tmp_path / "half.jsonl").write_text('{"left": ', encoding="utf-8")
    with pytest.raises(StoreError, match="JSON lines"):
        load_theme_pairs(tmp_path / "half.jsonl")
    (tmp_path / "lost.jsonl").write_text(json.dumps({**PAIRS[0], "left": "0" * 16}), encoding="utf-8")
    with pytest.raises(StoreError, match="000"):
        load_theme_pairs(tmp_path / "lost.jsonl")


# The threshold


def test_the_default_threshold_is_the_one_the_pairs_choose() -> None:
    assert (
        themes.THRESHOLD
        == choose_threshold(load_theme_pairs())
        == choose_threshold(load_theme_pairs(), seed=7)
    )
    # Not because of the pairs that could be read either way.
    sure = load_theme_pairs(only_sure=True)
    assert len(sure) == sum(row["sure"] for row in PAIRS) and choose_threshold(sure) == themes.THRESHOLD
    assert choose_threshold(pd.DataFrame([pair(0.95, False, "ab")])) is None


def test_the_notebook_starts_from_it_and_the_docstring_has_its_figures() -> None:
    notebook = nbformat.read(ROOT / "notebooks" / "02_themes.ipynb", as_version=4)
    assert f"merge_at = {themes.THRESHOLD} " in notebook.cells[1].source
    curve = merge_curve(load_theme_pairs(), ROUND).set_index("threshold")
    said = " ".join(Path(themes.__file__).read_text(encoding="utf-8").split())
    at = {value: curve.loc[value, ["precision", "recall"]] * 100 for value in (0.65, 0.7, 0.75)}
    assert (
        f"{at[0.7]['precision']:.0f} % of the pairs that merge are one world, {at[0.7]['recall']:.0f} % of"
        in said
    )
    assert f"at 0.75 all and {at[0.75]['recall']:.0f} %" in said and at[0.75]["precision"] == 100
    assert f"at 0.65 {at[0.65]['precision']:.0f} % and {at[0.65]['recall']:.0f} %" in said


def test_the_picture_says_what_the_threshold_does_and_shows_both_ways() -> None:
    figure = draw_merge_curve(load_theme_pairs(), 0.7)
    left, right = figure.axes
    title = left.get_title(loc="left").replace("\n", " ")
    assert title == "From 0.7 on, 99 % of the merged pairs are one world, 71 % of those of one world merge"
    assert (
        right.get_title(loc="left")
        .replace("\n", " ")
        .startswith("k-means on the same themes: F1 0.91 at 30 clusters")
    )
    assert figure.get_label() == "300 labelled pairs of themes · all-MiniLM-L6-v2 · seed 0"
    curve = merge_curve(load_theme_pairs())
    for line, measure in zip(left.lines, ("precision", "recall", "f1"), strict=False):
        assert line.get_ydata() == pytest.approx(curve[measure].to_numpy(), nan_ok=True)
