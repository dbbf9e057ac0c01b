"""The statistics are right where the truth is known, seeded, fast, and never lose a missing reward."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from envscaler.error import ParameterError
from envscaler.schema import Attribute, Entity, Outcome, Rollout, Rule, Scenario, Skeleton, Step, Tool
from envscaler.show.agreement import compare_labels
from envscaler.show.stats import (
    environment_frame,
    funnel,
    histogram_match,
    intervals,
    rollout_frame,
    summary_frame,
    wilson,
    win_rates,
)
from envscaler.store import Records


def simulated(
    rng, *, environments=24, scenarios=10, agents=("a",), mode="non-conversation", mean=0.6, spread=0.15
):
    """Rewards whose true mean is `mean`, alike within an environment."""
    rows = []
    for e in range(environments):
        level = np.clip(rng.normal(mean, spread), 0, 1)
        for s in range(scenarios):
            for agent in agents:
                reward = float(rng.random() < level)
                rows.append((agent, mode, f"s{e}-{s}", f"e{e}", reward, reward, 5 + 3 * reward))
    columns = ["agent", "mode", "scenario_id", "skeleton_id", "reward", "solved", "steps"]
    return pd.DataFrame(rows, columns=columns)


def rollout(scenario_id="s", agent="a", passed=(True,), ending="finished", **fields):
    outcomes = [Outcome(item=f"goal {i}", kind="goal", passed=p) for i, p in enumerate(passed)]
    return Rollout(
        scenario_id=scenario_id,
        agent=agent,
        **{
            "conversation": False,
            "messages": [],
            "trajectory": [Step(action={}, observation=[])],
            "final_state": {},
            "outcomes": [] if ending == "failed" else outcomes,
            "ending": ending,
            **fields,
        },
    )


# Frames


def test_a_missing_reward_is_nan_and_not_nought():
    rollouts = [
        rollout(passed=(True, False)),
        rollout(ending="failed", cause="model"),
        rollout(passed=(None, True), cause="check"),
    ]
    frame = rollout_frame(rollouts, [Scenario(skeleton_id="k", initial_state={}, task="t", checks=[])])
    assert frame["reward"].tolist()[0] == 0.5
    assert frame["reward"].isna().tolist() == [False, True, True]
    assert frame["solved"].isna().tolist() == [False, True, True]
    assert intervals(frame, measures=["reward"]).iloc[0][["mean", "missing", "rollouts"]].tolist() == [
        0.5,
        2,
        3,
    ]


def test_a_rollout_is_put_into_its_environment_and_its_calls_are_counted():
    scenario = Scenario(skeleton_id="k", initial_state={}, task="t", checks=[])
    messages = [
        {"role": "user", "content": "t"},
        {"role": "assistant", "content": None, "tool_calls": [{}, {}]},
        {"role": "tool", "content": '{"success": false, "error": "no"}'},
        {"role": "tool", "content": '{"success": true, "data": "\\"success\\": false"}'},
    ]
    row = rollout_frame([rollout(scenario.id, messages=messages)], [scenario]).iloc[0]
    assert (row["skeleton_id"], row["calls"], row["refused"], row["user_turns"]) == ("k", 2, 1, 1)


def test_frames_of_nothing_have_their_columns():
    assert "reward" in rollout_frame([], []).columns
    assert "rules" in environment_frame([]).columns
    assert list(intervals(rollout_frame([], []))["mean"]) == []


def skeleton(name, reads, writes):
    tools = [Tool(name=f"t{i}", parameters={}, mutates=i >= reads) for i in range(reads + writes)]
    state = [Entity(name="thing", attributes=[Attribute(name="id"), Attribute(name="size")])] * 2
    return Skeleton(
        theme_id="", title=name, summary="", class_name="X", source=f"# {name}", state=state,
        rules=[Rule(text="r")], tools=tools,
    )  # fmt: skip


def test_environments_are_counted():
    one, two = skeleton("one", 3, 2), skeleton("two", 1, 1)
    scenario = Scenario(skeleton_id=one.id, initial_state={}, task="t", checks=[])
    frame = environment_frame([one, two], [scenario, scenario]).set_index("title")
    assert frame.loc["one", ["query_tools", "state_change_tools", "tools"]].tolist() == [3, 2, 5]
    assert frame.loc["one", ["attributes", "rules", "entities", "scenarios"]].tolist() == [4, 1, 2, 2]
    assert frame.loc["two", "scenarios"] == 0
    assert summary_frame(frame).loc["tools", ["mean", "median", "min", "max"]].tolist() == [3.5, 3.5, 2, 5]


def test_a_funnel_has_shares_and_failures():
    records = Records([rollout()], [])
    frame = funnel({"asked": 8, "nothing": 0, "made": records})
    assert frame["count"].tolist() == [8, 0, 1]
    assert frame["of_first"].tolist() == [1, 0, 0.125]
    assert frame["of_previous"].iloc[1] == 0
    assert np.isnan(frame["of_previous"].iloc[2])  # nothing can be a share of nothing


# Intervals


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    rows = [
        intervals(simulated(rng), measures=["reward"], resamples=300, seed=trial).iloc[0]
        for trial in range(200)
    ]
    assert sum(row["low"] <= 0.6 <= row["high"] for row in rows) >= 188
    # Covering is easy for one that is wide: it may be half as wide again as the spread of the means, not more.
    width = np.mean([row["high"] - row["low"] for row in rows])
    assert 0.9 < width / (2 * 1.96 * np.std([row["mean"] for row in rows])) < 1.5


def test_alike_scenarios_widen_the_interval():
    """Ten copies of one scenario an environment tell no more than one."""
    rng = np.random.default_rng(1)
    frame = simulated(rng, scenarios=1)
    copies = pd.concat([frame.assign(scenario_id=frame["scenario_id"] + f"/{i}") for i in range(10)])
    width = {
        name: float((row := intervals(f, measures=["reward"]).iloc[0])["high"] - row["low"])
        for name, f in (("once", frame), ("copied", copies))
    }
    assert width["copied"] == pytest.approx(width["once"], rel=0.25)
    naive = 2 * 1.96 * copies["reward"].std() / np.sqrt(len(copies))
    assert width["copied"] > 2 * naive


def test_environments_of_unequal_size_are_resampled_within_their_bounds():
    frame = pd.concat([simulated(np.random.default_rng(2), environments=1, scenarios=9)] * 1)
    lone = frame.iloc[:1].assign(skeleton_id="lone", scenario_id="lone", reward=1.0)
    row = intervals(pd.concat([frame.assign(reward=1.0), lone]), measures=["reward"]).iloc[0]
    assert (row["low"], row["mean"], row["high"]) == (1, 1, 1)  # an undrawn cell would pull it below 1


def test_intervals_are_seeded_and_hold_the_mean():
    frame = simulated(np.random.default_rng(3), agents=("a", "b"))
    first, again, other = (intervals(frame, seed=s) for s in (5, 5, 6))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
    assert (first["low"] <= first["mean"]).all() and (first["mean"] <= first["high"]).all()
    assert len(first) == 2 * 3


def test_all_missing_gives_nan_and_not_an_error():
    frame = simulated(np.random.default_rng(4)).assign(reward=np.nan)
    row = intervals(frame, measures=["reward"]).iloc[0]
    assert np.isnan([row["mean"], row["low"], row["high"]]).all() and row["missing"] == len(frame)


def test_a_thousand_resamples_of_six_hundred_rollouts_take_under_two_seconds():
    rng = np.random.default_rng(5)
    agents = tuple("abcde")
    frame = pd.concat(
        [simulated(rng, scenarios=3, agents=agents, mode=m) for m in ("conversation", "non-conversation")]
    )
    frame = frame.iloc[:600]
    start = time.perf_counter()
    intervals(frame)
    win_rates(frame, mode="conversation")
    assert time.perf_counter() - start < 2


# Win rates

rewards = st.lists(
    st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=30
)


def frame_of(table, mode="non-conversation"):
    rows = [
        (a, mode, f"s{i}", "e", r) for i, row in enumerate(table) for a, r in zip("abc", row, strict=True)
    ]
    return pd.DataFrame(rows, columns=["agent", "mode", "scenario_id", "skeleton_id", "reward"])


@given(rewards)
@settings(max_examples=40, deadline=None)
def test_the_matrix_and_its_transpose_sum_to_one(table):
    rates = win_rates(frame_of(table), resamples=20)
    matrix = rates.matrix.to_numpy()
    np.testing.assert_allclose(matrix + matrix.T, 1)
    np.testing.assert_allclose(np.diag(matrix), 0.5)
    # Wins are handed out, not made: the mean over agents is a half.
    assert rates.table["win_rate"].mean() == pytest.approx(0.5)
    assert (
        (rates.table["low"] <= rates.table["win_rate"]) & (rates.table["win_rate"] <= rates.table["high"])
    ).all()


def test_wins_and_ties_count_as_the_paper_says():
    rates = win_rates(frame_of([[1, 0.5, 0], [1, 1, 0], [0.1 + 0.2, 0.3, 0.3]]))
    assert rates.matrix.loc["a", "b"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert rates.matrix.loc["a", "c"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert rates.table["agent"].tolist() == ["a", "b", "c"]


def test_only_scenarios_all_agents_have_a_reward_in_are_compared():
    frame = frame_of([[1, 0, 0], [np.nan, 1, 1], [1, 0, 0]])
    rates = win_rates(frame.drop(index=frame.index[-1]))
    assert rates.scenario_ids == ("s0",) and rates.left_out == 2


def test_the_sample_is_seeded_and_the_same_for_all():
    frame = frame_of(np.random.default_rng(0).random((80, 3)).tolist())
    first, again, other = (win_rates(frame, 50, seed=s).scenario_ids for s in (1, 1, 2))
    assert len(first) == 50 and first == again and set(first) != set(other)


def test_modes_are_compared_within_themselves():
    apart = pd.concat([frame_of([[1, 0, 0]]), frame_of([[0, 1, 1]], mode="conversation")])
    assert win_rates(apart).matrix.loc["a", "b"] == 0.5
    assert win_rates(apart, mode="conversation").matrix.loc["a", "b"] == 0


def test_nothing_to_compare_is_said():
    with pytest.raises(ParameterError, match="two agents"):
        win_rates(frame_of([[1, 0, 0]]).query("agent == 'a'"))
    with pytest.raises(ParameterError, match="0 such scenarios of 1"):
        win_rates(frame_of([[1, np.nan, 0]]))


# Agreement


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60))
@settings(max_examples=60, deadline=None)
def test_kappa_is_cohens(pairs):
    labels, judged = map(list, zip(*pairs, strict=True))
    found = compare_labels(labels, judged, resamples=50)
    assert found.accuracy == pytest.approx(np.mean(np.equal(labels, judged)))
    assert found.confusion.to_numpy().sum() == len(pairs)
    if len({*labels, *judged}) > 1:
        assert found.kappa == pytest.approx(cohen_kappa_score(labels, judged))
    else:
        assert np.isnan(found.kappa)


def test_agreement_counts_what_is_missing():
    found = compare_labels([True, True, False, None], [True, False, False, True])
    assert (found.n, found.missing) == (3, 1)
    assert found.confusion.loc[True, False] == 1
    assert found.frame()["n"].tolist() == [3, 3]
    low, high = found.kappa_interval
    assert low <= found.kappa <= high


def test_agreement_refuses_what_cannot_be_compared():
    with pytest.raises(ParameterError, match="3 and 2"):
        compare_labels([1, 2, 3], [1, 2])
    with pytest.raises(ParameterError, match="none among 1"):
        compare_labels([None], [True])


def test_perfect_agreement_still_has_an_interval():
    assert wilson(150, 150) == (pytest.approx(0.975, abs=0.001), 1.0)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(75, 150)[0] == pytest.approx(0.421, abs=0.001)


# Histograms

PAPER = {"counts_by_value": {"5": 2, "6": 0, "7": 6}}


def test_values_fall_on_the_papers_bins():
    frame = histogram_match([5, 7, 7, 7], PAPER)
    assert frame["middle"].tolist() == [5, 6, 7]
    assert frame["paper"].tolist() == [2, 0, 6] and frame["ours"].tolist() == [1, 0, 3]
    assert frame["our_share"].tolist() == frame["paper_share"].tolist()


@given(st.lists(st.integers(0, 90), max_size=40))
@settings(deadline=None)
def test_no_value_is_lost_beyond_the_papers_bins(values):
    sample = {"counts_by_value": {"1": 2, "99": 1}}
    for paper in (PAPER, {"edges": [4.5, 6.5, 8.5], "counts": [3, 4]}):
        frame = histogram_match(values, paper, sample)
        assert frame["ours"].sum() == len(values) and frame["sample"].sum() == 3
        assert frame["paper"].sum() in (7, 8)
        assert frame["paper_share"].sum() == pytest.approx(1)


def test_a_histogram_without_bins_is_refused():
    with pytest.raises(ParameterError, match="counts_by_value"):
        histogram_match([1], {"edges": [1, 2], "counts": [1, 2]})
