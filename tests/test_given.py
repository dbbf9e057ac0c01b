"""What is handed in: right things come through, anything else is told in a sentence, wherever people hand in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import worlds
from hypothesis import given as for_all
from hypothesis import strategies as st

import envscaler as es
from envscaler import figures, given
from envscaler.error import ParameterError
from envscaler.schema import Audit, Call, Check, Outcome, Probe, Rollout, Scenario, Skeleton, Step, Task
from envscaler.show import agreement, detection, plots, published, stats, view
from envscaler.show.labels import Label

WORLD = worlds.skeleton()
SCENARIO = worlds.scenario(WORLD)
PROBE = Probe(tool="lend", arguments={}, intent="positive", verdict="pass")
AUDIT = Audit(skeleton_id=WORLD.id, initial_state=worlds.STATE, probes=[PROBE])
OUTCOME = Outcome(item="Done?", kind="goal", passed=True)
STEP = Step(action={"role": "assistant", "content": "Hello"}, observation="Hello.")
ROLLOUT = Rollout(
    scenario_id=SCENARIO.id, agent="me", conversation=False, messages=[], trajectory=[STEP],
    final_state=worlds.STATE, outcomes=[OUTCOME], ending="finished",
)  # fmt: skip
LABEL = Label(
    audit_id=AUDIT.id, skeleton_id=WORLD.id, environment="Library", probe=0, tool="lend", intent="positive",
    verdict="pass", label="pass",
)  # fmt: skip
TASK = Task(text="Lend me a book.")
ODD: list[Any] = [
    None, 3, True, float("nan"), float("inf"), 10**5000, "text", "\ud800", b"x", {"a": 1}, [None], ["text"], [[]],
    object(), TASK, [TASK], pd.DataFrame({"a": [1]}), np.zeros(3), np.zeros((2, 2)), lambda: None,
]  # fmt: skip
"""What nobody wants anywhere below, but where a text or a number is asked for."""
SHOWN: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "audits to inspect": (lambda x: es.AuditInspector([WORLD], x).html(), AUDIT),
    "skeletons to inspect": (lambda x: es.AuditInspector(x, [AUDIT]).html(), WORLD),
    "rollouts to play": (lambda x: es.EpisodePlayer(x).html(), ROLLOUT),
    "scenarios to play": (lambda x: es.EpisodePlayer([ROLLOUT], x).html(), SCENARIO),
    "skeletons to play": (lambda x: es.EpisodePlayer([ROLLOUT], [SCENARIO], x).html(), WORLD),
    "labels": (es.agreement, LABEL),
    "audits of labels": (lambda x: es.agreement([LABEL], x), AUDIT),
    "rollouts to count": (lambda x: stats.rollout_frame(x, []), ROLLOUT),
    "scenarios to count": (lambda x: stats.rollout_frame([ROLLOUT], x), SCENARIO),
    "environments to count": (stats.environment_frame, WORLD),
    "scenarios of environments": (lambda x: stats.environment_frame([WORLD], x), SCENARIO),
    "probes to count": (plots.probe_table, AUDIT),
    "proofs": (plots.proof_table, SCENARIO),
    "kills": (plots.kill_table, SCENARIO),
    "certificate": (figures.draw_certificate, SCENARIO),
    "kill matrix": (figures.draw_kill_matrix, SCENARIO),
    "outcomes": (view.outcomes_html, OUTCOME),
    "checks": (view.checks_html, Check(item="Done?", source="")),
    "calls to make": (lambda x: playing().replay(x), Call(tool="get_book", arguments={"book_id": "B-1"})),
}
"""Where one record or many are taken, with one that is right."""
ONE: dict[str, Callable[[Any], Any]] = {
    "rollout card": es.rollout_card,
    "rollout head": view.rollout_head,
    "scenario card": es.scenario_card,
    "world of a scenario": lambda x: es.scenario_card(SCENARIO, (x,) if x is None else x),
    "probe": view.probe_html,
    "step": view.step_html,
    "witness": view.witness_html,
    "world to play in": es.Playground,
    "win rates": figures.draw_win_rates,
    "report": lambda x: es.write_report(x, "never.html"),
    "idle rewards": published.draw_idle_rewards,
    "findings": published.draw_findings,
    "rewards without": published.draw_rewards_without,
    "sightings": detection.draw_detection,
    "alarms": detection.false_alarm_table,
    "costs": detection.cost_table,
    "dedup curve": figures.draw_dedup_curve,
    "similarities": lambda x: figures.draw_similarities(x, 0.8),
    "theme map": lambda x: figures.draw_theme_map(x, np.zeros((1, 3))),
    "intervals": stats.intervals,
    "wins": stats.win_rates,
    "a published histogram": lambda x: stats.histogram_match([1], x),
    "a step to go to": lambda x: playing().rewind("no" if whole_and_small(x) else x),
    "a folder for figures": lambda x: saved(folder=3 if isinstance(x, str) else x),
    "a figure to save": lambda x: saved(figure=x),
    "a judge": lambda x: es.AuditInspector([WORLD], [AUDIT], judge=3 if x is None or callable(x) else x),
    "a note": lambda x: es.AuditInspector([WORLD], [AUDIT]).mark(
        "pass", 3 if isinstance(x, str | None) else x
    ),
    "a verdict": es.AuditInspector([WORLD], [AUDIT]).mark,
    "a label file": lambda x: es.AuditInspector([WORLD], [AUDIT], 3 if isinstance(x, str | None) else x),
}
"""Where one thing is taken."""


def whole_and_small(x: Any) -> bool:
    return given.whole(x) and x == 0


def playing() -> Any:
    return es.Playground(WORLD, SCENARIO)


def saved(**changes: Any) -> Any:
    fields = {
        "figure": figures.draw_funnel({"asked": 1}),
        "folder": "never",
        "name": "x",
        "table": pd.DataFrame(),
    }
    return es.save_figure(**{**fields, "stamp": "", **changes})


@pytest.mark.parametrize("where", SHOWN)
def test_one_record_is_taken_for_a_list_of_it(where: str) -> None:
    take, right = SHOWN[where]
    for handed in (right, [right], (right,), iter([right])):
        take(handed)


@pytest.mark.parametrize("where", SHOWN)
def test_what_is_no_such_record_is_told(where: str) -> None:
    take, _ = SHOWN[where]
    for odd in ODD:
        if odd is None and where == "audits of labels":
            continue  # there it means the verdicts beside the labels
        with pytest.raises(ParameterError, match=r"^Expected") as told:
            take(odd)
        assert len(str(told.value)) < 300, odd


@pytest.mark.parametrize("where", ONE)
def test_what_is_no_such_thing_is_told(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for odd in ODD:
        with pytest.raises(ParameterError, match=r"^Expected") as told:
            ONE[where](odd)
        assert len(str(told.value)) < 1000, odd
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("resamples", [0, -1, 1.5, True, None, "9"])
def test_numbers_to_resample_with_are_looked_at_first(resamples: Any) -> None:
    frame = stats.rollout_frame([ROLLOUT, ROLLOUT.replace(agent="you")], [SCENARIO])
    for act in (stats.intervals, stats.win_rates):
        with pytest.raises(ParameterError, match="resamples"):
            act(frame, resamples=resamples)
        with pytest.raises(ParameterError, match="seed"):
            act(frame, seed=resamples if resamples != 0 else -1)
    with pytest.raises(ParameterError, match="resamples"):
        agreement.compare_labels([1, 0], [1, 1], resamples=resamples)


COUNTS: dict[str, Callable[[Any], object]] = {
    "themes to pick": lambda n: es.pick_themes([], None, n=n),
    "tasks to load": lambda n: es.load_tasks(limit=n),
    "rollouts to play": lambda n: es.roll_out_all([WORLD], [SCENARIO], es.IdleAgent(), n=n),
    "steps of an episode": lambda n: es.roll_out(WORLD, SCENARIO, es.IdleAgent(), max_steps=n),
    "calls of a search": lambda n: es.search_witness(WORLD, SCENARIO, budget=n),
}


@pytest.mark.parametrize("odd", [0, -1, 1.5, True, "9", float("nan"), [3]])
@pytest.mark.parametrize("what", COUNTS)
def test_what_is_counted_is_a_whole_number_of_at_least_one(what: str, odd: Any) -> None:
    with pytest.raises(ParameterError, match="as a whole number of at least 1"):
        COUNTS[what](odd)


@pytest.mark.parametrize("odd", [None, 3, "t", b"t", {"a": 1}, [[1]], [WORLD], WORLD, np.zeros((1, 2))])
def test_labels_to_compare_are_lists_of_plain_values(odd: Any) -> None:
    for pair in ((odd, ["a"]), (["a"], odd)):
        with pytest.raises(ParameterError, match=r"Expected .*judgements"):
            agreement.compare_labels(*pair)


def test_without_their_scenarios_rollouts_are_counted_all_the_same() -> None:
    frame = stats.rollout_frame([ROLLOUT], [])
    assert list(frame["skeleton_id"]) == [""] and stats.intervals(frame)["mean"].notna().all()


class Elsewhere:
    """A path of somebody else's making."""

    def __init__(self, name: object) -> None:
        self.name = name

    def __fspath__(self) -> Any:
        return self.name


def test_a_path_is_a_text_or_whatever_is_a_path() -> None:
    for right in ("a/b", Path("a/b"), Elsewhere("a/b")):
        assert given.a_path(right) == Path("a/b")
    for odd in (None, 3, b"a", Elsewhere(b"a"), ["a"]):
        with pytest.raises(ParameterError, match="path of a file or folder"):
            given.a_path(odd)


@for_all(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_a_place_is_a_whole_number_below_the_count(odd: Any) -> None:
    for count in (0, 3):
        if isinstance(odd, int) and not isinstance(odd, bool) and 0 <= odd < count:
            assert given.place_in(odd, "a place", count) == odd
        else:
            with pytest.raises(ParameterError, match="a place from 0 to 2" if count else "there is none"):
                given.place_in(odd, "a place", count)
    assert given.place_in(np.int64(2), "a place", 3) == 2


def test_a_record_of_another_kind_is_named_with_its_place() -> None:
    with pytest.raises(ParameterError, match="Skeleton or a list of them, got a Scenario at place 1"):
        given.many([WORLD, SCENARIO], Skeleton)
    with pytest.raises(ParameterError, match="one Scenario or a list of them, got a Skeleton"):
        given.many(WORLD, Scenario)
