"""Agents side by side: estimates equal what counting by hand gives, and nothing that is missing is hidden."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.error import ParameterError
from envscaler.schema import Call, Check, Scenario, Skeleton, Tool
from envscaler.show.comparing import (
    FACTORS,
    draw_hardness,
    ending_table,
    environment_share,
    hardness_frame,
    hardness_table,
    pass_at_k,
    pass_hat_k,
    pass_table,
    permutation_table,
)


def frame(*rows, **columns):
    """Rows of (agent, scenario, reward); a scenario `e0-1` plays in the environment `e0`."""
    made = pd.DataFrame(rows, columns=["agent", "scenario_id", "reward"]).astype({"reward": float})
    solved = made["reward"].where(made["reward"].isna(), made["reward"] == 1.0).astype(float)
    made = made.assign(
        mode="non-conversation", skeleton_id=made["scenario_id"].str.split("-").str[0], solved=solved,
        seed=0, ending="finished", cause="", refused=0, faults=0,
    )  # fmt: skip
    return made.assign(**columns)


# Endings


def test_every_episode_ends_under_one_heading_and_what_is_lost_is_told_apart():
    ends = [
        ("finished", "", 1.0), ("stopped", "", 0.0), ("truncated", "", 0.5), ("failed", "environment", None),
        ("failed", "model", None), ("finished", "check", None), ("failed", "user", None), ("finished", "", None),
    ]  # fmt: skip
    rows = frame(*(("a", f"e-{i}", reward) for i, (_, _, reward) in enumerate(ends)))
    rows = rows.assign(ending=[e for e, _, _ in ends], cause=[c for _, c, _ in ends], refused=1)
    [row] = ending_table(rows).to_dict("records")
    counted = {k: v for k, v in row.items() if k.startswith(("by", "lost"))}
    assert set(counted.values()) == {1} and len(counted) == len(ends)
    assert row["missing"] == sum(v for k, v in counted.items() if k.startswith("lost")) == 5
    assert row["refused"] == 1 and row["faults"] == 0


def test_nothing_played_is_an_empty_table():
    assert ending_table(frame()).empty


# Several rollouts


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_both_estimates_are_the_mean_over_all_draws_of_k(results, k):
    n, solved = len(results), sum(results)
    if k > n:
        assert np.isnan(pass_at_k(n, solved, k)) and np.isnan(pass_hat_k(n, solved, k))
        return
    draws = list(combinations(results, k))
    assert pass_at_k(n, solved, k) == pytest.approx(np.mean([any(draw) for draw in draws]))
    assert pass_hat_k(n, solved, k) == pytest.approx(np.mean([all(draw) for draw in draws]))


def test_estimates_from_few_rollouts_are_right_on_average():
    rng, p, k = np.random.default_rng(0), 0.6, 3
    counts = rng.binomial(5, p, size=20_000)
    assert np.mean([pass_at_k(5, c, k) for c in counts]) == pytest.approx(1 - (1 - p) ** k, abs=0.01)
    assert np.mean([pass_hat_k(5, c, k) for c in counts]) == pytest.approx(p**k, abs=0.01)


def test_the_table_leaves_out_what_is_too_short_and_counts_what_is_missing():
    rewards = {"e0-0": [1, 1, 0, 0], "e0-1": [1, None, 1], "e1-0": [0.5, None, None], "e1-1": [None]}
    rows = frame(*(("a", s, r) for s, found in rewards.items() for r in found))
    table = pass_table(rows, (1, 2, 4)).set_index("measure")
    assert table.loc["pass@1", "mean"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert table.loc["pass@2", "mean"] == pytest.approx((pass_at_k(4, 2, 2) + 1) / 2)
    assert table.loc["pass^2", "mean"] == pytest.approx((pass_hat_k(4, 2, 2) + 1) / 2)
    assert table["short"].to_dict() == {
        "pass@1": 1, "pass^1": 1, "pass@2": 2, "pass^2": 2, "pass@4": 3, "pass^4": 3,
    }  # fmt: skip
    assert (table["scenarios"] + table["short"] == 4).all()
    assert (table["rollouts"] == 11).all() and (table["missing"] == 4).all()
    assert (table["low"] <= table["mean"]).all() and (table["mean"] <= table["high"]).all()


def test_pass_at_k_where_no_scenario_was_played_so_often_is_unknown():
    table = pass_table(frame(("a", "e0-0", 1.0), ("b", "e0-0", 0.0)), (2,))
    assert table["mean"].isna().all() and (table["scenarios"] == 0).all() and (table["short"] == 1).all()


@pytest.mark.parametrize("ks", [(), (0,), (1, -2), (1.5,)])
def test_numbers_to_draw_are_one_or_more(ks):
    with pytest.raises(ParameterError, match="rollouts to draw"):
        pass_table(frame(("a", "e0-0", 1.0)), ks)


def test_no_more_rollouts_solve_it_than_were_played():
    for estimate in (pass_at_k, pass_hat_k):
        with pytest.raises(ParameterError, match="at most all 2"):
            estimate(2, 3, 1)


ODD = [None, 3, "frame", [], {"agent": ["a"]}, pd.DataFrame({"a": [1]})]


@pytest.mark.parametrize("given", ODD, ids=str)
@pytest.mark.parametrize(
    "function",
    [
        ending_table, pass_table, permutation_table, hardness_table, environment_share, draw_hardness,
        lambda frame: hardness_frame(frame, [], []),
    ],
)  # fmt: skip
def test_what_is_no_frame_of_rollouts_is_refused_in_a_sentence(function, given):
    with pytest.raises(ParameterError, match="Expected a data frame as"):
        function(given)


@pytest.mark.parametrize("settings", [{"unit": "agent"}, {"resamples": 0}, {"seed": -1}])
def test_settings_that_will_not_do_are_refused(settings):
    with pytest.raises(ParameterError):
        permutation_table(frame(("a", "e0-0", 1.0), ("b", "e0-0", 0.0)), **settings)


# Two agents


def test_the_exact_test_counts_every_way_to_flip_the_signs():
    rng = np.random.default_rng(1)
    ours, theirs = rng.random(9), rng.random(9)
    rows = frame(
        *(("a", f"e{i}-0", r) for i, r in enumerate(ours)),
        *(("b", f"e{i}-0", r) for i, r in enumerate(theirs)),
    )
    [row] = permutation_table(rows).to_dict("records")
    difference = ours - theirs
    flipped = [abs(np.mean(difference * signs)) for signs in product((1, -1), repeat=9)]
    expected = np.mean(np.array(flipped) >= abs(difference.mean()) - 1e-12)
    assert row["p_value"] == pytest.approx(expected) and row["method"] == "exact"
    assert row["difference"] == pytest.approx(difference.mean()) and row["pairs"] == 9


def agents(rng, gap, *, environments=6, scenarios=5):
    rows = []
    for e, s in product(range(environments), range(scenarios)):
        level = rng.random()
        rows += [
            ("a", f"e{e}-{s}", level),
            ("b", f"e{e}-{s}", np.clip(level - gap + rng.normal(0, 0.05), 0, 1)),
        ]
    return frame(*rows)


def test_many_pairs_are_drawn_by_seed_and_a_true_gap_is_found():
    rows = agents(np.random.default_rng(0), 0.2)
    table = permutation_table(rows, seed=3)
    assert table["method"].tolist() == ["Monte Carlo"] and table["p_value"][0] < 0.01
    pd.testing.assert_frame_equal(table, permutation_table(rows, seed=3))
    assert table["low"][0] > 0


def test_equal_agents_are_told_apart_no_more_often_than_by_chance():
    rng = np.random.default_rng(5)
    found = [
        permutation_table(agents(rng, 0.0, environments=3, scenarios=3))["p_value"][0] for _ in range(120)
    ]
    assert np.mean(np.array(found) < 0.05) < 0.12
    same = frame(*((agent, f"e-{i}", 0.5) for agent in "ab" for i in range(4)))
    assert permutation_table(same)["p_value"].tolist() == [1.0]


def test_missing_rewards_leave_a_pair_out_and_are_counted():
    rows = frame(
        ("a", "e0-0", 1.0), ("b", "e0-0", 0.0), ("a", "e0-1", None), ("b", "e0-1", 0.0), ("a", "e1-0", 1.0),
        ("b", "e1-0", 0.5), ("a", "e1-1", 1.0),
    )  # fmt: skip
    [row] = permutation_table(rows).to_dict("records")
    assert (row["pairs"], row["missing"]) == (2, 1) and row["difference"] == 0.75


def test_pairs_may_be_environments():
    [row] = permutation_table(agents(np.random.default_rng(0), 0.2), unit="skeleton_id").to_dict("records")
    assert row["pairs"] == 6 and row["method"] == "exact" and row["p_value"] == pytest.approx(2 / 2**6)


def test_one_pair_is_no_test_and_one_agent_no_comparison():
    [row] = permutation_table(frame(("a", "e0-0", 1.0), ("b", "e0-0", 0.0))).to_dict("records")
    assert np.isnan(row["p_value"]) and np.isnan(row["p_holm"]) and row["method"] == "too few pairs"
    for rows in (frame(("a", "e0-0", 1.0)), frame(("a", "e0-0", 1.0), ("b", "e0-1", 1.0)), frame()):
        with pytest.raises(ParameterError, match="same scenarios"):
            permutation_table(rows)


def test_the_more_tests_the_more_is_asked_of_each():
    rng = np.random.default_rng(2)
    rows = frame(
        *((agent, f"e{i}-0", rng.random() + 0.3 * n) for n, agent in enumerate("abcd") for i in range(8))
    )
    table = permutation_table(rows).sort_values("p_value")
    assert len(table) == 6
    assert table["p_holm"].iloc[0] == pytest.approx(min(1, 6 * table["p_value"].iloc[0]))
    assert (table["p_holm"] >= table["p_value"]).all() and table["p_holm"].is_monotonic_increasing


# What makes a scenario hard


def world(title, writes):
    tools = [Tool(name=f"t{i}", parameters={}, mutates=i < writes) for i in range(4)]
    fields = {"theme_id": "", "summary": "", "class_name": "X", "state": [], "rules": []}
    return Skeleton(title=title, source=f"# {title}", tools=tools, **fields)


def posed(skeleton, calls, goals=1):
    checks = [Check(item=f"goal {i}", source="") for i in range(goals)]
    checks.append(Check(item="guard", source="", kind="guard"))
    witness = [Call(tool=f"t{i % 4}", arguments={}) for i in range(calls)]
    return Scenario(
        skeleton_id=skeleton.id, initial_state={}, task=f"{calls}", checks=checks, witness=witness
    )


def test_a_scenario_has_what_may_make_it_hard():
    one, two = world("one", 2), world("two", 0)
    scenarios = [posed(one, 5, goals=3), posed(two, 4)]
    played = frame(*(("a", s.id, 1.0) for s in scenarios)).assign(skeleton_id=[one.id, two.id])
    told = hardness_frame(played, scenarios, [one, two]).set_index("environment")
    assert told.loc["one", list(FACTORS)].tolist() == [5, 3, 3, 4]
    assert told.loc["two", list(FACTORS)].tolist() == [4, 0, 1, 4]


def test_longer_tasks_are_found_to_be_harder_and_others_are_not():
    rng, worlds = np.random.default_rng(0), [world(f"w{i}", 2) for i in range(6)]
    scenarios = [posed(w, calls, goals=int(rng.integers(1, 4))) for w in worlds for calls in range(3, 15)]
    rows = frame(*((a, s.id, float(rng.random() < 1 - len(s.witness) / 20)) for a in "ab" for s in scenarios))
    homes = {s.id: s.skeleton_id for s in scenarios}
    told = hardness_frame(rows.assign(skeleton_id=rows["scenario_id"].map(homes)), scenarios, worlds)
    table = hardness_table(told)
    length = table[(table["factor"] == FACTORS["witness"]) & (table["agent"] == "a")]
    assert length["range"].tolist() == ["3-6", "7-10", "11-14"] and length["scenarios"].tolist() == [
        24,
        24,
        24,
    ]
    assert length["mean"].iloc[0] > length["mean"].iloc[-1] + 0.15
    assert (length["low"] <= length["mean"]).all() and (length["high"] >= length["mean"]).all()
    assert set(table[table["factor"] == FACTORS["tools"]]["range"]) == {"4"}
    figure = draw_hardness(table)
    assert [axes.get_xlabel() for axes in figure.axes] == list(FACTORS.values())
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"a", "b"}
    assert figure.get_suptitle().startswith("Rewards fall most with more calls of")


def test_bins_stand_in_their_order_also_where_an_agent_lacks_one():
    worlds = [world("w", 2)]
    scenarios = [posed(worlds[0], calls) for calls in (2, 9, 20)]
    rows = [("a", scenarios[0].id, 1.0), ("a", scenarios[2].id, 0.0), ("b", scenarios[1].id, 0.5)]
    table = hardness_table(hardness_frame(frame(*rows), scenarios, worlds))
    ticks = [label.get_text() for label in draw_hardness(table).axes[0].get_xticklabels()]
    assert ticks == ["2", "9", "20"]


def test_hardness_of_nothing_is_an_empty_picture():
    table = hardness_table(hardness_frame(frame(), [], []))
    assert table.empty and draw_hardness(table).axes


@pytest.mark.parametrize(("spread", "low", "high"), [(0.0, 0.0, 0.05), (1.0, 0.9, 1.0), (0.1, 0.35, 0.65)])
def test_the_share_of_environments_is_what_was_put_in(spread, low, high):
    rng, noise = np.random.default_rng(4), 0.1 if spread < 1 else 0.05
    rows = []
    for e in range(60):
        level = rng.normal(0.5, spread)
        rows += [("a", f"e{e}-{s}", level + rng.normal(0, noise)) for s in range(10)]
    share, least, most = environment_share(frame(*rows))
    assert low <= share <= high and least <= share <= most


def test_few_environments_leave_much_open_and_the_interval_covers_the_truth_as_often_as_it_says():
    rng, truth, found = np.random.default_rng(7), 0.5, []
    for _ in range(200):
        levels = rng.normal(0, 1, 4)
        rows = [("a", f"e{e}-{s}", levels[e] + rng.normal(0, 1)) for e in range(4) for s in range(6)]
        found.append(environment_share(frame(*rows)))
    covered = np.mean([low <= truth <= high for _, low, high in found])
    assert 0.9 < covered <= 1.0 and np.mean([high - low for _, low, high in found]) > 0.5


@pytest.mark.parametrize("rows", [[], [("a", "e0-0", 1.0)], [("a", f"e{i % 2}-{i}", 1.0) for i in range(6)]])
def test_the_share_is_unknown_where_nothing_varies_or_is_repeated(rows):
    assert np.isnan(environment_share(frame(*rows))).all()
