"""Figures of published data: what is drawn is what was found."""

import pytest

from envscaler.certifying.many import Certified
from envscaler.certifying.rows import EnvironmentReport, Paid, ScenarioReport
from envscaler.schema import Certificate, Finding, Proof
from envscaler.show.published import (
    draw_findings,
    draw_idle_rewards,
    draw_rewards_without,
    finding_table,
    idle_table,
)

CERTIFICATE = Certificate(proofs=[Proof(name="nothing done", status="failed")])


def found(*idle: float, kinds: tuple[tuple[str, str], ...] = ()) -> Certified:
    findings = [Finding(kind=kind, severity=severity, message=f"{kind} here") for kind, severity in kinds]  # type: ignore[arg-type]
    world = EnvironmentReport(
        skeleton_id="a", name="env_1", title="A world", class_name="World", tools=2, parameters=3, described=0,
        refused={"any": 0}, long_descriptions=0, chances=[], findings=findings,
    )  # fmt: skip
    scenarios = [
        ScenarioReport(
            scenario_id=f"s{n}", skeleton_id="a", name=f"task_{n}", environment="env_1", task="Do it.", checks=4,
            vacuous=["Is it?"] if reward else [], paid={"nothing": Paid(paper=reward, default=reward, strict=0.0)},
            certificate=CERTIFICATE,
        )
        for n, reward in enumerate(idle)
    ]  # fmt: skip
    return Certified(environments=[world], scenarios=scenarios)


def test_what_earns_nothing_is_told_from_what_is_paid() -> None:
    one = found(0.0, 0.25, 0.25, 1.0)
    (axes,) = draw_idle_rewards(one).axes
    assert axes.get_title(loc="left") == "Doing nothing is paid in 3 of 4 scenarios"
    assert sum(patch.get_height() for patch in axes.patches) == 4
    assert list(idle_table(one)["idle reward"]) == [0.0, 0.25, 0.25, 1.0]


def test_the_worst_kinds_of_finding_stand_first() -> None:
    kinds = (("alias", "note"), ("raises", "error"), ("alias", "note"), ("no-effect", "warning"))
    table = finding_table(found(0.0, kinds=kinds))
    assert list(table["kind"]) == ["raises", "no-effect", "alias"]
    assert list(table["found"]) == [1, 1, 2]
    assert list(table["records"]) == [1, 1, 1]
    (axes,) = draw_findings(found(0.0, kinds=kinds)).axes
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["error", "warning", "note"]
    colours = {patch.get_facecolor() for patch in legend.get_patches()}
    assert len(colours) == 3, "a severity is told by its colour"


def test_counts_are_whole_however_few() -> None:
    one = found(0.25, kinds=(("raises", "error"),))
    for axis in (draw_findings(one).axes[0].xaxis, draw_idle_rewards(one).axes[0].yaxis):
        axis.axes.figure.draw_without_rendering()
        assert all(float(tick).is_integer() for tick in axis.get_ticklocs())
        assert {"0", "1"} <= {label.get_text() for label in axis.get_ticklabels()}


@pytest.mark.parametrize("draw", [draw_idle_rewards, draw_findings])
def test_nothing_found_is_said(draw) -> None:
    assert draw(Certified(environments=[], scenarios=[])).axes[0].texts


def test_episodes_that_lose_by_vacuous_checks_are_counted() -> None:
    import pandas as pd

    table = pd.DataFrame({"episode": ["a", "b"], "as graded": [0.5, 1.0], "without": [0.25, 1.0]})
    (axes,) = draw_rewards_without(table).axes
    assert axes.get_title(loc="left").startswith("1 of 2 episodes")
    assert {line.get_label() for line in axes.lines} >= {"as graded", "without vacuous checks"}
    assert draw_rewards_without(table.iloc[:0]).axes[0].texts
