"""A real model, for real: SmolLM2-135M on this machine judges, infers and acts, and what it gets wrong is a row.

It is far too weak for the work. What it answers is nobody's concern here; that nothing is lost, asked twice or
counted wrongly is. `make smollm` installs it; where it is absent these tests are skipped.
"""

import json
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from smollm import CONTEXT, LONGEST, NAME, smollm_server

from envscaler.agent import PromptAgent, SchemaAgent
from envscaler.model.connect import connect
from envscaler.model.server import Server
from envscaler.project import replies_path
from envscaler.rollouts import roll_out_all
from envscaler.scenarios import build_scenario
from envscaler.schema import Failure, Rollout, Scenario, Skeleton, Task, Theme, Usage
from envscaler.skeletons import build_skeleton
from envscaler.store import Records
from envscaler.tasks import judge_tasks
from envscaler.themes import infer_theme, infer_themes
from envscaler.world.certificate import certify

ORDER = Task(text="Order a margherita pizza to take away.")
TASKS = [
    ORDER,
    Task(text="Cancel my dentist appointment on Friday."),
    Task(text="What is the capital of France?"),
    Task(text="too long " * CONTEXT),
]
PLAYED: tuple[tuple[type[SchemaAgent | PromptAgent], int], ...] = (
    (SchemaAgent, 3),
    (SchemaAgent, 1),
    (PromptAgent, 1),
)
"""Agents and their steps at most; each has a seed of its own."""


def small_world() -> tuple[Skeleton, Scenario]:
    """A built-in environment with no more tools than its scenario needs, certified as it is played."""
    builtin = connect("builtin", fault_rate=0)
    whole = build_skeleton(infer_theme(ORDER, builtin), builtin)
    scenario = build_scenario(whole, builtin, seed=2)
    needed = {call.tool for call in scenario.witness}
    world = whole.replace(tools=[tool for tool in whole.tools if tool.name in needed])
    scenario = scenario.replace(skeleton_id=world.id)
    certificate = certify(world, scenario)
    assert certificate.valid, certificate.reasons
    return world, scenario.replace(certificate=certificate)


@dataclass
class Results:
    """What a run of all stages made."""

    judged: Records[Task]
    themes: Records[Theme]
    rollouts: list[Rollout]
    failures: list[Failure]
    usage: Usage
    """By the account."""

    @property
    def rows(self) -> list[Any]:
        """All records and failures, as a file would have them but for what they cost."""
        free = [episode.replace(usage=Usage()) for episode in self.rollouts]
        failed = [*self.themes.failures, *self.failures]
        # Why an unanswered question was not answered is told in the words of whoever was asked.
        unheard = [(row.parent_id, row.stage) for row in self.judged.failures]
        return [row.model_dump_json() for row in [*self.judged, *self.themes, *free, *failed]] + sorted(
            unheard
        )


def run(model: Any, world: Skeleton, scenario: Scenario) -> Results:
    judged = judge_tasks(TASKS, model, progress=False)
    themes = infer_themes([task.replace(stateful=True) for task in TASKS[:2]], model, progress=False)
    rollouts: list[Rollout] = []
    failures: list[Failure] = []
    for seed, (agent, steps) in enumerate(PLAYED):
        played = roll_out_all(
            [world], [scenario], agent(model), max_steps=steps, seed=seed, workers=1, progress=False
        )
        rollouts += played
        failures += played.failures
    return Results(judged, themes, rollouts, failures, model.ledger.total)


@dataclass
class Live:
    """A run against the server, and what the server said."""

    world: Skeleton
    scenario: Scenario
    results: Results
    answers: list[dict[str, Any]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    written: int = 0
    """Tokens, by the server's own meter."""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with smollm_server() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVSCALER_HOME", str(tmp_path_factory.mktemp("live")))
        answers: list[dict[str, Any]] = []
        bodies: list[str] = []
        send = Server.chat

        def heard(self: Server, body: dict[str, Any]) -> bytes:
            bodies.append(json.dumps(body, sort_keys=True))
            content = send(self, body)
            answers.append(json.loads(content))
            return content

        patch.setattr(Server, "chat", heard)
        world, scenario = small_world()
        results = run(asked_at(url), world, scenario)
        meter = urllib.request.urlopen(url.replace("/v1", "/metrics")).read().decode()
        written = re.search(r"^llamacpp:tokens_predicted_total (\d+)", meter, re.MULTILINE)
        assert written
        yield Live(world, scenario, results, answers, bodies, int(written[1]))


def asked_at(url: str) -> Any:
    return connect(NAME, base_url=url, workers=1, seed=1)


def test_what_goes_in_comes_out_as_a_record_or_as_a_failure(live: Live) -> None:
    judged, themes = live.results.judged, live.results.themes
    assert len(judged) + len(judged.failures) == len(TASKS)
    assert {task.id for task in judged} | {row.parent_id for row in judged.failures} == {t.id for t in TASKS}
    assert all(task.stateful is not None and task.reason for task in judged)
    assert len(themes) + len(themes.failures) == 2
    assert all(theme.title and 1 <= theme.usefulness <= 10 for theme in themes)
    assert all(row.error and row.message for row in [*judged.failures, *themes.failures])


def test_what_is_longer_than_its_context_is_a_failure_in_the_servers_words(live: Live) -> None:
    row = live.results.judged.failures[-1]
    assert (row.parent_id, row.error) == (TASKS[-1].id, "ModelError") and "context" in row.message


def test_every_episode_is_played_to_an_ending_and_graded(live: Live) -> None:
    assert not live.results.failures
    for rollout, (_, steps) in zip(live.results.rollouts, PLAYED, strict=True):
        assert rollout.ending in ("finished", "truncated"), rollout.extra
        assert rollout.cause in ("", "agent"), "it may have nothing to say, or never come to an end"
        assert rollout.reward is not None and 0 <= rollout.reward <= 1
        assert 1 <= len(rollout.trajectory) <= steps
        assert rollout.outcomes and rollout.origin and rollout.origin.model == NAME


def test_the_server_enforced_the_schema_and_the_limits(live: Live) -> None:
    kinds = [json.loads(body).get("response_format", {}).get("type") for body in live.bodies]
    # What is too long is tried in every form; the rest stays on the first rung.
    assert kinds.count("json_object") == 1 and kinds.count("json_schema") > len(TASKS)
    for said in live.answers:
        assert said["usage"]["completion_tokens"] <= LONGEST


def test_usage_is_what_the_server_says_it_is(live: Live) -> None:
    told = [said["usage"] for said in live.answers]
    usage = live.results.usage
    assert usage.calls == len(told)
    assert usage.input_tokens == sum(tokens["prompt_tokens"] for tokens in told)
    assert usage.output_tokens == sum(tokens["completion_tokens"] for tokens in told) == live.written
    played = sum((rollout.usage for rollout in live.results.rollouts), Usage())
    assert 0 < played.output_tokens < usage.output_tokens and played.calls >= 3


def test_nothing_answered_is_asked_again(live: Live) -> None:
    first = len(live.bodies)
    assert len(set(live.bodies)) == first
    # Nobody listens there: what was refused, and that alone, is tried again, and fails.
    again = run(asked_at("http://127.0.0.1:9/v1"), live.world, live.scenario)
    assert all(TASKS[-1].text[:60] in body for body in live.bodies[first:]) and len(live.bodies) > first
    assert again.usage == Usage()
    assert again.rows == live.results.rows


def test_the_exported_recording_gives_the_same_records_without_a_server(live: Live) -> None:
    asked_at("http://127.0.0.1:9/v1").cache.export(replies_path("weak"), NAME)
    again = run(connect("recorded:weak", seed=1), live.world, live.scenario)
    assert again.usage == Usage()
    assert again.rows == live.results.rows
