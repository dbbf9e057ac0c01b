"""The near-duplicate search finds what an exhaustive search finds, and merging does not chain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler import dedup
from envscaler.dedup import (
    Pairs,
    cell_pairs,
    exact_pairs,
    leaders,
    most_similar_pairs,
    similar_pairs,
    stars,
    unit_rows,
)
from envscaler.error import ParameterError


def noisy_groups(rows: int, groups: int, noise: float, seed: int = 0, size: int = 64) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = unit_rows(rng.standard_normal((groups, size)))
    return unit_rows(
        centres[rng.integers(groups, size=rows)] + noise / size**0.5 * rng.standard_normal((rows, size))
    )


def by_hand(vectors: np.ndarray, threshold: float) -> set[tuple[int, int]]:
    rows = unit_rows(vectors).astype(float)
    return {
        (i, j)
        for i in range(len(rows))
        for j in range(i + 1, len(rows))
        if rows[i] @ rows[j] >= threshold - 1e-6
    }


def as_set(pairs: Pairs) -> set[tuple[int, int]]:
    return set(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True))


def test_finds_the_pairs_of_an_exhaustive_search() -> None:
    vectors = noisy_groups(200, 20, 0.5)
    found = similar_pairs(vectors, 0.8)
    assert as_set(found) == by_hand(vectors, 0.8)
    assert found.score == pytest.approx(
        (unit_rows(vectors)[found.i] * unit_rows(vectors)[found.j]).sum(axis=1), abs=1e-5
    )


def test_pairs_are_sorted_and_each_comes_once() -> None:
    i, j, _ = similar_pairs(noisy_groups(300, 10, 0.4), 0.7)
    keys = i * 300 + j
    assert (i < j).all()
    assert (np.diff(keys) > 0).all()


@pytest.mark.parametrize("threshold", [0.8, 0.85, 0.9])
@pytest.mark.parametrize("groups", [40, 3_000])
def test_cells_miss_less_than_one_pair_in_a_hundred(threshold: float, groups: int) -> None:
    rows = noisy_groups(6_000, groups, 0.42)
    exact, found = exact_pairs(rows, threshold), cell_pairs(rows, threshold, np.random.default_rng(0))
    assert len(exact.i) > 100
    assert as_set(found) <= as_set(exact)
    assert len(found.i) >= 0.99 * len(exact.i)


def test_cells_compare_fewer_rows_than_all_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    meet = dedup._meet

    def counted(rows: np.ndarray, visiting: np.ndarray, members: np.ndarray, threshold: float) -> object:
        compared.append(len(visiting) * len(members))
        return meet(rows, visiting, members, threshold)

    monkeypatch.setattr(dedup, "_meet", counted)
    rows = noisy_groups(6_000, 40, 0.3)
    cell_pairs(rows, 0.9, np.random.default_rng(0))
    assert sum(compared) < 0.25 * len(rows) ** 2


def test_large_inputs_take_the_cells_and_stay_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedup, "EXACT_ROWS", 1_000)
    rows = noisy_groups(2_500, 300, 0.4)
    first, second = similar_pairs(rows, 0.85, seed=3), similar_pairs(rows, 0.85, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_zeros_are_similar_to_nothing_and_copies_to_each_other() -> None:
    vectors = np.array([[0, 0], [3, 4], [0, 0], [0.3, 0.4], [4, -3]], dtype=float)
    found = similar_pairs(vectors, 1.0)
    assert as_set(found) == {(1, 3)}
    assert found.score.max() <= 1.0


@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows_give_no_pairs(rows: int) -> None:
    assert len(similar_pairs(np.ones((rows, 3)), 0.5).i) == 0
    assert len(most_similar_pairs(np.ones((rows, 3)), 0.5, 10)[0].i) == 0
    assert len(leaders(np.ones((rows, 3)), 0.5)[0]) == rows


@pytest.mark.parametrize(
    ("vectors", "threshold", "said"),
    [
        (np.ones(3), 0.5, "one row an item"),
        (np.array([[np.nan, 1.0]]), 0.5, "NaN"),
        (np.array([[np.inf, 1.0]]), 0.5, "infinity"),
        (np.ones((2, 2)), 0.0, "threshold"),
        (np.ones((2, 2)), 1.5, "threshold"),
        (np.ones((2, 2)), float("nan"), "threshold"),
    ],
)
def test_wrong_input_is_refused_in_a_sentence(vectors: np.ndarray, threshold: float, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        similar_pairs(vectors, threshold)


def on_a_circle(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def test_merging_does_not_chain() -> None:
    # Each is 20° from the next, cosine 0.94; single linkage would make one group of all.
    vectors = on_a_circle(0, 20, 40, 60, 80)
    kept_by, score = stars(np.arange(5), similar_pairs(vectors, 0.9), 0.9)
    assert kept_by.tolist() == [0, 0, 2, 2, 4]
    assert score[1] == pytest.approx(np.cos(np.radians(20)))


def test_a_row_joins_the_most_similar_kept_row_not_the_first() -> None:
    kept_by, _ = stars(np.arange(3), similar_pairs(on_a_circle(0, 30, 20), 0.9), 0.9)
    assert kept_by.tolist() == [0, 1, 1]


def test_the_order_decides_who_stands() -> None:
    kept_by, _ = stars(np.array([1, 0, 2]), similar_pairs(on_a_circle(0, 10, 20), 0.98), 0.98)
    assert kept_by.tolist() == [1, 1, 1]


@given(st.integers(0, 10_000), st.sampled_from([0.6, 0.8, 0.9]))
@settings(max_examples=30, deadline=None)
def test_whoever_is_merged_is_near_a_kept_row_and_kept_rows_are_apart(seed: int, threshold: float) -> None:
    vectors = noisy_groups(60, 12, 0.6, seed=seed)
    pairs = similar_pairs(vectors, 0.5)
    kept_by, score = stars(np.arange(60), pairs, threshold)
    cosines = vectors @ vectors.T
    merged = np.flatnonzero(kept_by != np.arange(60))
    kept = np.flatnonzero(kept_by == np.arange(60))
    assert (kept_by[kept_by] == kept_by).all()
    assert (cosines[merged, kept_by[merged]] >= threshold - 1e-5).all()
    assert score[merged] == pytest.approx(cosines[merged, kept_by[merged]], abs=1e-5)
    assert (cosines[np.ix_(kept, kept)][np.triu_indices(len(kept), 1)] < threshold + 1e-5).all()


@given(st.integers(0, 10_000), st.sampled_from([0.6, 0.8, 0.9]))
@settings(max_examples=30, deadline=None)
def test_leaders_and_stars_agree(seed: int, threshold: float) -> None:
    vectors = noisy_groups(80, 10, 0.6, seed=seed)
    by_pairs, _ = stars(np.arange(80), similar_pairs(vectors, threshold), threshold)
    assert np.array_equal(leaders(vectors, threshold)[0], by_pairs)


def test_leaders_go_on_over_the_edge_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedup, "BLOCK", 7)
    vectors = noisy_groups(60, 6, 0.4)
    by_pairs, _ = stars(np.arange(60), similar_pairs(vectors, 0.8), 0.8)
    assert np.array_equal(leaders(vectors, 0.8)[0], by_pairs)


def test_the_floor_rises_when_there_would_be_too_many_pairs() -> None:
    vectors = noisy_groups(2_000, 4, 0.4)
    few, floor = most_similar_pairs(vectors, 0.5, 10_000)
    assert 0.5 < floor < 1.0
    assert 5_000 < len(few.i) < 20_000
    assert most_similar_pairs(vectors, 0.5, 10_000_000)[1] == 0.5


def test_copies_upon_copies_do_not_fill_the_memory() -> None:
    pairs, floor = most_similar_pairs(np.ones((3_000, 4)), 0.5, 1_000)
    assert len(pairs.i) == 0
    assert floor > 1
