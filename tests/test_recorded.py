"""A real model's run, played again out of its recording: the same records and failures, with no server to ask.

What came of it is in the recording's own account (`about["run"]`), written when it was made; `data/replies/README.md`
tells it. Where the run was cut for want of time, the recording ends, and a replay says so: `CacheMiss`. Its prompts are
its own, so that a prompt that is changed tomorrow changes nothing here.
"""

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import envscaler as es
from envscaler.agent import SchemaAgent
from envscaler.model import prompt
from envscaler.model.connect import connect
from envscaler.model.request import Model
from envscaler.model.scripted import RecordedModel
from envscaler.project import replies_path
from envscaler.schema import Rollout, Scenario, Skeleton, Task, Theme
from envscaler.store import Records, read_records

NAMES = ["qwen2.5-coder-1.5b", "smollm2-135m"]
RECORDING = replies_path(NAMES[0])
BESIDE = RECORDING.with_suffix("")
STEPS = 8
"""Actions at most of its episodes."""


def the_recording(name: str = NAMES[0]) -> RecordedModel:
    model = connect(f"recorded:{name}")
    assert isinstance(model, RecordedModel)
    return model


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home in which every prompt is another one than today's, and than the recording's."""
    monkeypatch.setenv("ENVSCALER_HOME", str(tmp_path))
    for step in prompt.steps():
        own = tmp_path / "prompts" / f"{step}.md"
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(prompt.written(prompt.load(step)) + "\nOne more sentence.\n")
    yield tmp_path


def read(name: str, kind: Any) -> Records[Any]:
    made: Records[Any] = read_records(BESIDE / f"{name}.jsonl", kind)
    assert made and not made.failures
    return made


def ran(name: str = NAMES[0]) -> dict[str, Any]:
    run = the_recording(name).about["run"]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is_and_is_no_more_than_that(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        model = the_recording(name)
    assert model.name == name and len(model)
    assert model.changed == sorted(model.prompts) and "other prompts than today's" in caplog.text
    assert {"model", "licence", "quantisation", "date", "served by", "sampling", "run"} <= set(model.about)
    text = replies_path(name).read_text()
    assert len(text) < 4_000_000 and not re.search(r"/(?:root|home|tmp|work)/|127\.0\.0\.1|localhost", text)


def test_its_themes_are_inferred_again() -> None:
    themes = read("themes", Theme)
    own = [theme for theme in themes if theme.origin]
    tasks = [Task(text=theme.example, stateful=True) for theme in own]
    model = the_recording()
    made = es.infer_themes(tasks, model, progress=False)
    assert made == own and not made.failures and len(own) == 3
    assert [theme.origin for theme in made] == [theme.origin for theme in own], (
        "asked with the prompt of then"
    )
    assert model.ledger.total.calls == 0


@pytest.mark.parametrize("number", range(6))
def test_every_theme_comes_to_the_end_it_came_to(number: int) -> None:
    theme = read("themes", Theme)[number]
    assert came_to(theme, the_recording()) == ran()["themes"][theme.id]


def came_to(theme: Theme, model: Model) -> dict[str, Any]:
    """What becomes of a theme, stage by stage: what was kept, and why the rest was not."""
    told: dict[str, Any] = {"title": theme.title}
    built = es.build_skeletons([theme], model, seed=1, progress=False)
    told["skeleton"] = [f"built with {len(s.tools)} tools" for s in built] + reasons(built)
    if not built:
        return told
    audits = es.audit_skeletons(built, model, rounds=20, repairs=0, seed=1, progress=False)
    kept = es.passing(built, audits)
    told["audit"] = [
        f"{a.pass_rate:.2f} pass, {a.not_fail_rate:.2f} do not fail, {'mended' if a.repaired else 'not mended'}"
        for a in audits
    ] + reasons(audits, kept)
    if kept:
        posed = es.build_scenarios(kept, model, n=3, seed=1, progress=False)
        told["scenarios"] = [f"certified {scenario.id}" for scenario in posed] + reasons(posed)
    return told


def reasons(*made: Records[Any]) -> list[str]:
    return [f"{failure.error}: {failure.message}" for records in made for failure in records.failures]


@pytest.mark.parametrize("name", NAMES)
def test_every_episode_is_played_again_to_its_reward(name: str) -> None:
    assert ran(name)["episodes"]
    for told in ran(name)["episodes"]:
        play(told, SchemaAgent(the_recording(name)))


def play(told: dict[str, Any], agent: SchemaAgent) -> None:
    scenario = read("scenarios", Scenario).by_id()[told["scenario"]]
    made = es.roll_out_all(
        read("worlds", Skeleton), [scenario], agent, seed=told["seed"], max_steps=STEPS, progress=False
    )
    assert not made.failures and len(made) == 1
    assert outcome(made[0]) == told, json.dumps(outcome(made[0]))


def outcome(episode: Rollout) -> dict[str, Any]:
    return {
        "scenario": episode.scenario_id,
        "seed": episode.seed,
        "ending": episode.ending,
        "cause": episode.cause,
        "reward": episode.reward,
        "steps": len(episode.trajectory),
    }
