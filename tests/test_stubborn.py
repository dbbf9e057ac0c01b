"""A model that never complies, in every stage: a failure row with its reason, after a bounded number of calls.

Its bad replies are remembered like good ones, so a failure costs nothing a second time; who wants other replies asks
for them, for the failed records alone.
"""

from collections import Counter

import library
import pytest
from library import GOOD, THEME, author

import envscaler as es
from envscaler.error import ReplyError
from envscaler.model.ask import ask
from envscaler.model.cache import CachedModel
from envscaler.model.request import Reply
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Task
from envscaler.scripted import IdleAgent
from envscaler.tasks import Judgement

GARBAGE = {
    "prose": "As an AI, I cannot do that.",
    "nothing": "",
    "an empty object": "{}",
    "another object": '{"reason": null, "names": []}',
    "a list": "[1, 2, 3]",
    "a brace": "{",
    "a stub": "```python\ndef x():\n    pass\n```",
    "a thought": "<think>Let me see",
    "a megabyte": '{"a": "' + "x" * 1_000_000 + '"}',
}
TASKS = [Task(text="Cancel my booking B-1.", stateful=True), Task(text="Lend Emma to me.", stateful=True)]
WORLD, POSED = library.skeleton(), library.scenario()

STAGES = {
    "judge_tasks": (lambda model: es.judge_tasks(TASKS, model, progress=False), 6),
    "infer_themes": (lambda model: es.infer_themes(TASKS, model, progress=False), 6),
    "build_skeletons": (lambda model: es.build_skeletons([THEME], model, progress=False), 3),
    "audit_skeletons": (lambda model: es.audit_skeletons([WORLD], model, rounds=6, progress=False), 6),
    "build_scenarios": (lambda model: es.build_scenarios([WORLD], model, n=3, progress=False), 9),
}
"""Stage → how it is run, and how many calls it makes at most."""


def never(text):
    return ScriptedModel(lambda request: text, workers=2)


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_ends_in_failure_rows_after_a_few_calls(stage, text):
    run, most = STAGES[stage]
    model = never(text)
    made = run(model)
    assert made == [] and len(made.failures) >= 1
    assert all(
        failure.error in ("ReplyError", "PartRefused") and failure.message for failure in made.failures
    )
    assert 3 <= len(model.requests) <= most


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE)
def test_a_user_that_never_complies_ends_its_episode_as_the_users_failure(text):
    user = never(text)
    made = es.roll_out_all([WORLD], [POSED], IdleAgent(), conversation=True, user=user, progress=False)
    assert [(r.ending, r.cause, r.reward) for r in made] == [("failed", "user", None)]
    assert "rollouts/user" in made[0].extra["error"] and len(user.requests) == 3


def test_a_user_that_stops_to_comply_keeps_what_was_said():
    good = '{"thought": "", "message": "Hello.", "done": false}'
    user = ScriptedModel([good, *["no"] * 3])
    made = es.roll_out_all([WORLD], [POSED], IdleAgent(), conversation=True, user=user, progress=False)
    assert (made[0].cause, made[0].steps, [m["role"] for m in made[0].messages]) == (
        "user",
        1,
        ["system", "user", "assistant"],
    )


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("kind", [es.ToolAgent, es.SchemaAgent, es.PromptAgent])
def test_an_agent_that_never_complies_ends_within_its_steps(kind, text):
    model = never(text)
    [rollout] = es.roll_out_all([WORLD], [POSED], kind(model), max_steps=5, progress=False)
    assert rollout.ending in ("finished", "truncated") and rollout.reward == 0 and len(model.requests) <= 5


# One step alone

RUNS = {
    "skeletons": lambda model: es.build_skeletons([THEME], model, progress=False),
    "audits": lambda model: es.passing([WORLD], es.audit_skeletons([WORLD], model, rounds=6, progress=False)),
    "scenarios": lambda model: es.build_scenarios([WORLD], model, n=1, progress=False),
}
MOST = {"skeletons/write_tool": 18, "skeletons/write_invariant": 6, "audits/probe": 12, "audits/judge": 12}
"""Calls of a step at most, where it is made several times; else `3 x 3`: three replies to each of three tries."""
SPARED = ("skeletons/write_invariant", "audits/repair")
"""Steps whose part is left out: a rule goes without its function, a tool stays as it was."""


@pytest.mark.parametrize("text", [GARBAGE["prose"], GARBAGE["an empty object"], GARBAGE["a stub"]])
@pytest.mark.parametrize("step", GOOD)
def test_a_single_step_that_is_never_answered_is_a_failure_and_no_loop(step, text):
    model = author({step: text})
    made = RUNS[step.split("/")[0]](model)
    asked = Counter(request.step for request in model.requests)
    # A check that parses and does not do is asked for anew with its whole scenario, a few times.
    most = 60 if step == "scenarios/check" and "def" in text else MOST.get(step, 9)
    assert asked[step] <= most
    if step in SPARED:
        assert len(made) == 1
    else:
        assert made == [] and made.failures and made.failures[0].message


# What is remembered of a failure


def flaky(good):
    """A model that answers `no` until it is told to do better, and the calls it got."""
    state = {"good": False, "calls": 0}

    def answer(request):
        state["calls"] += 1
        return Reply(good(request) if state["good"] else "no")

    return ScriptedModel(answer, name="flaky"), state


def test_a_failure_costs_nothing_again_and_is_asked_anew_alone_when_that_is_wanted(tmp_path):
    inner, state = flaky(lambda request: '{"reason": "r", "stateful": true}')

    def judged(tasks, mode):
        return es.judge_tasks(
            tasks, CachedModel(inner, mode=mode, path=tmp_path / "c.sqlite"), progress=False
        )

    state["good"] = True
    assert len(judged(TASKS[:1], "read_write")) == 1 and state["calls"] == 1
    state["good"] = False
    first = judged(TASKS, "read_write")
    assert (len(first), len(first.failures), state["calls"]) == (1, 1, 4)
    # The same run again: the same records, the same failures, and not one call.
    again = judged(TASKS, "read_write")
    assert [f.id for f in again.failures] == [f.id for f in first.failures] and state["calls"] == 4
    # The model has been mended: what failed is asked anew, and nothing else.
    state["good"] = True
    failed = {failure.parent_id for failure in again.failures}
    anew = judged([task for task in TASKS if task.id in failed], "refresh")
    assert len(anew) == 1 and state["calls"] == 5
    # From then on the whole run has it, again without a call.
    whole = judged(TASKS, "read_write")
    assert (len(whole), whole.failures, state["calls"]) == (2, [], 5)


def test_a_model_that_repeats_itself_is_asked_as_often_as_any_other(tmp_path):
    """Were the second correction the first one again, the memory would answer in the model's place."""
    inner, state = flaky(lambda request: "")
    model = CachedModel(inner, path=tmp_path / "c.sqlite")
    for _ in range(2):
        with pytest.raises(ReplyError):
            ask(model, "tasks/judge", {"request": "x"}, Judgement)
        assert state["calls"] == 3
    assert len({request.key("flaky") for request in inner.requests}) == 3


def test_more_tries_go_on_where_fewer_gave_up(tmp_path):
    inner, state = flaky(lambda request: '{"reason": "r", "stateful": true}')
    model = CachedModel(inner, path=tmp_path / "c.sqlite")
    with pytest.raises(ReplyError, match="in 3 tries"):
        ask(model, "tasks/judge", {"request": "x"}, Judgement)
    state["good"] = True
    assert ask(model, "tasks/judge", {"request": "x"}, Judgement, tries=4).stateful and state["calls"] == 4
