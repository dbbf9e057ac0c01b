"""An episode ends as it should whatever agent, user, environment and checks do, and a failure is never a nought."""

import json
import threading
from typing import ClassVar

import library
import numpy as np
import pytest

from envscaler import episode
from envscaler.acting.finishing import FINISH
from envscaler.acting.messages import as_action, dialogue_of, writable
from envscaler.agent import PromptAgent, ToolAgent
from envscaler.episode import roll_out, system_message
from envscaler.error import BudgetSpent, CacheMiss, CheckError, EnvironmentLost, ModelError, ParameterError
from envscaler.model.request import Reply
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Call, Check, Outcome, Rollout, Rule, Scenario, Skeleton, Tool, Usage
from envscaler.scripted import CarelessAgent, IdleAgent, RandomAgent, WitnessAgent
from envscaler.show.stats import rollout_frame
from envscaler.store import read_records, write_records
from envscaler.world.environment import Environment

SKELETON = Skeleton(
    theme_id="",
    title="Tickets",
    summary="A ticket desk.",
    class_name="Desk",
    source="class Desk: ...",
    state=[],
    rules=[Rule(text="A closed ticket stays closed.")],
    tools=[Tool(name="close", description="Close.", parameters={"type": "object"}, mutates=True)],
)
SCENARIO = Scenario(
    skeleton_id=SKELETON.id,
    task="Close T-1 and then T-2, quietly.",
    initial_state={"open": ["T-1", "T-2"]},
    checks=[Check(item="Is T-1 closed?", source="def check_func(final_state): return True")],
    witness=[Call(tool="close", arguments={"id": "T-1"}), Call(tool="close", arguments={"id": "T-2"})],
)
TOOLS = [
    {
        "type": "function",
        "function": {"name": "close", "description": "Close.", "parameters": {"type": "object"}},
    }
]


class Desk:
    """The environment's contract in forty lines: tickets can be closed, and a test can break it at will."""

    broken: ClassVar[dict[str, Exception]] = {}
    outcome: ClassVar[bool | None] = True

    def __init__(self, skeleton, scenario, *, seed, max_steps, conversation):
        self.scenario, self.max_steps, self.conversation = scenario, max_steps, conversation
        self.tools, self.diff, self.steps, self.over = TOOLS, {}, 0, False
        self.state = json.loads(json.dumps(scenario.initial_state))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over = True

    def break_at(self, place):
        if place in self.broken:
            raise self.broken[place]

    def reset(self, *, seed):
        self.break_at("reset")
        return self.scenario.task, {}

    def step(self, action):
        assert not self.over, "stepped after the end"
        self.steps += 1
        self.break_at(f"step {self.steps}")
        replies = [
            {"role": "tool", "tool_call_id": c["id"], "content": json.dumps(self.run(c["function"]))}
            for c in action.get("tool_calls") or ()
        ]
        terminated = not action.get("tool_calls") and not self.conversation
        truncated = not terminated and self.steps >= self.max_steps
        return replies, 0.0, terminated, truncated, self.graded() if terminated or truncated else {}

    def run(self, function):
        try:
            self.state["open"].remove(json.loads(function["arguments"])["id"])
        except (ValueError, KeyError, TypeError):
            return {"success": False, "error": f"Expected close(id), got {function['name']}."}
        return {"success": True}

    def finish(self):
        return [], 1.0, True, False, self.graded()

    def graded(self):
        self.break_at("grade")
        self.over = True
        passed = "T-1" not in self.state["open"] if self.outcome else self.outcome
        return {"outcomes": [Outcome(item="goal", kind="goal", passed=passed)], "final_state": self.state}


@pytest.fixture(autouse=True)
def desk(monkeypatch):
    monkeypatch.setattr(episode, "Environment", Desk)
    monkeypatch.setattr(Desk, "broken", {})
    monkeypatch.setattr(Desk, "outcome", True)
    return Desk


class Says:
    """An agent that returns the given things in order, the last one for ever."""

    name = "says"

    def __init__(self, *things):
        self.things, self.seen = things, []

    def act(self, messages, tools, *, seed):
        self.seen.append(json.loads(json.dumps(messages)))
        return self.things[min(len(self.seen), len(self.things)) - 1]


def close(ticket, number=0):
    arguments = json.dumps({"id": ticket})
    function = {"name": "close", "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": function}]}


DONE = {"role": "assistant", "content": "Done."}


def user(*turns):
    """A user that says these things; a pair is (message, done)."""
    turns = [turn if isinstance(turn, tuple) else (turn, False) for turn in turns]
    texts = [json.dumps({"thought": "SECRET", "message": m, "done": d}) for m, d in turns]
    return ScriptedModel([Reply(text, usage=Usage(calls=1, input_tokens=10)) for text in texts])


# Without a conversation


def test_the_witness_is_paid_and_the_record_is_whole():
    rollout = roll_out(SKELETON, SCENARIO, WitnessAgent(), seed=5)
    assert (rollout.ending, rollout.reward, rollout.solved, rollout.cause) == ("finished", 1.0, True, "")
    assert (rollout.steps, rollout.seed, rollout.agent, rollout.scenario_id) == (3, 5, "witness", SCENARIO.id)
    assert [m["role"] for m in rollout.messages] == [
        "system",
        "user",
        *["assistant", "tool"] * 2,
        "assistant",
    ]
    assert rollout.messages[1]["content"] == SCENARIO.task
    assert rollout.final_state == {"open": []}
    assert SCENARIO.initial_state == {"open": ["T-1", "T-2"]}
    assert rollout.trajectory[0].observation == [rollout.messages[3]]
    assert rollout.origin.model == "witness" and rollout.origin.prompt
    json.dumps(rollout.model_dump(mode="json"))


def test_the_same_episode_has_the_same_id():
    assert roll_out(SKELETON, SCENARIO, WitnessAgent()).id == roll_out(SKELETON, SCENARIO, WitnessAgent()).id


def test_the_agent_sees_neither_checks_nor_state_nor_witness():
    agent = Says(close("T-1"), DONE)
    roll_out(SKELETON, SCENARIO, agent)
    assert "closed?" not in json.dumps(agent.seen) and "check_func" not in json.dumps(agent.seen)
    assert "A closed ticket stays closed." in agent.seen[0][0]["content"]


def test_an_agent_cannot_rewrite_the_exchange():
    class Vandal(Says):
        def act(self, messages, tools, *, seed):
            answer = super().act(messages, tools, seed=seed)
            messages.clear()
            tools.clear()
            return answer

    rollout = roll_out(SKELETON, SCENARIO, Vandal(close("T-1"), DONE))
    assert rollout.reward == 1 and len(rollout.messages) == 5


@pytest.mark.parametrize(
    "thing",
    [
        None,
        7,
        [],
        {},
        {"content": 5},
        {"role": "user", "content": "x"},
        float("nan"),
        object(),
        {"tool_calls": 5},
        {"tool_calls": [None]},
        {"tool_calls": [{}]},
        {"tool_calls": [{"function": {}}]},
        {"tool_calls": [{"function": {"name": None, "arguments": "{}"}}]},
        {"tool_calls": [{"function": {"name": "close"}}]},
        {"tool_calls": [{"function": {"name": "close", "arguments": "not JSON"}}]},
        {"tool_calls": [{"function": {"name": "close", "arguments": [1, {2}]}}]},
        {"tool_calls": [{"id": 9, "function": "close"}]},
        {"tool_calls": {"function": {"name": "close", "arguments": "{}"}}},
    ],
)
def test_a_slip_is_an_observation_and_never_an_end(thing):
    agent = Says(thing, close("T-1"), DONE)
    rollout = roll_out(SKELETON, SCENARIO, agent)
    assert rollout.reward == 1 and rollout.ending == "finished" and rollout.steps == 3
    assert agent.seen[1][-1]["role"] == "tool" and "Expected" in agent.seen[1][-1]["content"]
    json.dumps(rollout.model_dump(mode="json"))


@pytest.mark.parametrize(
    "message", ["text", {"content": "text"}, {"content": [{"text": "text"}], "tool_calls": None}]
)
def test_words_without_a_call_end_the_episode(message):
    rollout = roll_out(SKELETON, SCENARIO, Says(message))
    assert (rollout.ending, rollout.reward, rollout.steps) == ("finished", 0.0, 1)
    assert rollout.messages[-1]["role"] == "assistant"


def test_fifty_calls_in_a_message_are_one_step_and_all_are_answered():
    many = {"tool_calls": [{"id": "same", "function": {"name": "close", "arguments": '{"id": "T-1"}'}}] * 50}
    rollout = roll_out(SKELETON, SCENARIO, Says(many, DONE))
    asked = [call["id"] for call in rollout.messages[2]["tool_calls"]]
    assert len(set(asked)) == 50 and rollout.steps == 2
    assert [m["tool_call_id"] for m in rollout.messages if m["role"] == "tool"] == asked


def test_arguments_as_an_object_are_written_as_json():
    call = {"function": {"name": "close", "arguments": {"id": "T-1"}}}
    rollout = roll_out(SKELETON, SCENARIO, Says({"tool_calls": [call]}, DONE))
    assert rollout.messages[2]["tool_calls"][0]["function"]["arguments"] == '{"id": "T-1"}'
    assert rollout.reward == 1


@pytest.mark.parametrize(("conversation", "limit"), [(False, 30), (True, 40)])
def test_who_never_stops_is_stopped(conversation, limit):
    rollout = roll_out(
        SKELETON, SCENARIO, Says(close("T-9")), conversation=conversation, user=user("Close T-1.")
    )
    assert (rollout.ending, rollout.steps, rollout.reward) == ("truncated", limit, 0.0)


def test_parts_and_thoughts_are_kept_apart():
    said = {
        "content": [{"type": "text", "text": "a"}, {"text": "b"}, 3],
        "reasoning_content": "hm",
        "refusal": None,
    }
    message, usage = as_action(said, 0)
    assert message == {"role": "assistant", "content": "ab3", "reasoning_content": "hm"} and usage == Usage()


@pytest.mark.parametrize("half", ["\ud800", "a\udc00", "\ud83d"])
def test_half_a_surrogate_pair_can_be_written_down(half, tmp_path):
    spelt = {"tool_calls": [{"function": {"name": "close", "arguments": json.dumps({"id": half})}}]}
    broken = {"tool_calls": [{"function": {"name": half, "arguments": half}}]}
    rollout = roll_out(SKELETON, SCENARIO, Says(spelt, broken, {"content": half}))
    assert rollout.ending == "finished" and rollout.id
    write_records([rollout], tmp_path / "r.jsonl")
    assert read_records(tmp_path / "r.jsonl", Rollout)[0].id == rollout.id


def test_a_whole_surrogate_pair_becomes_its_character():
    assert writable({"a": ["\ud83d\ude00", "\ud83d"]}) == {"a": ["😀", "\ufffd"]}


# Failures


@pytest.mark.parametrize("place", ["reset", "step 1", "step 2", "grade"])
def test_a_lost_environment_is_a_failure_without_a_reward(desk, place):
    desk.broken = {place: EnvironmentLost("It hung three times.")}
    rollout = roll_out(SKELETON, SCENARIO, WitnessAgent())
    assert (rollout.ending, rollout.cause, rollout.reward, rollout.solved) == (
        "failed",
        "environment",
        None,
        False,
    )
    assert rollout.outcomes == [] and "hung" in rollout.extra["error"]
    assert len(rollout.messages) >= {"reset": 0, "step 1": 3, "step 2": 5, "grade": 7}[place]


@pytest.mark.parametrize("error", [ModelError("down"), CacheMiss("not recorded")])
def test_a_models_failure_keeps_what_was_said(error):
    model = ScriptedModel(
        [Reply("", tool_calls=(close("T-1")["tool_calls"][0],), usage=Usage(calls=1)), error]
    )
    rollout = roll_out(SKELETON, SCENARIO, ToolAgent(model))
    assert (rollout.ending, rollout.cause, rollout.reward) == ("failed", "model", None)
    assert rollout.steps == 1 and rollout.usage.calls == 1 and rollout.final_state == {"open": ["T-2"]}


def test_a_broken_check_is_no_nought(desk):
    desk.outcome = None
    rollout = roll_out(SKELETON, SCENARIO, WitnessAgent())
    assert (rollout.ending, rollout.cause, rollout.reward) == ("finished", "check", None)


def test_checks_that_cannot_be_graded_are_no_nought(desk):
    desk.broken = {"grade": CheckError("It returned a list.")}
    rollout = roll_out(SKELETON, SCENARIO, WitnessAgent())
    assert (rollout.ending, rollout.cause, rollout.reward) == ("finished", "check", None)
    assert rollout.outcomes[0].note == "It returned a list." and rollout.final_state == {"open": []}


class Buggy(Says):
    """An agent whose own code raises at its second action, or before its first."""

    def __init__(self, error, early=False):
        super().__init__(close("T-1"))
        self.error, self.early = error, early

    def prepared(self, scenario, seed):
        if self.early:
            raise self.error
        return self

    def act(self, messages, tools, *, seed):
        if self.seen:
            raise self.error
        return super().act(messages, tools, seed=seed)


@pytest.mark.parametrize("error", [KeyError("x"), ZeroDivisionError(), ValueError("half \ud800")])
def test_a_bug_in_an_agent_is_the_agents_failure_and_not_hidden(error, caplog):
    rollout = roll_out(SKELETON, SCENARIO, Buggy(error))
    assert (rollout.ending, rollout.cause, rollout.reward) == ("failed", "agent", None)
    assert rollout.steps == 1 and rollout.final_state == {"open": ["T-2"]}, "what it did before is kept"
    assert (
        rollout.extra["error"].startswith(type(error).__name__) and "in act, line" in rollout.extra["error"]
    )
    assert "/" not in rollout.extra["error"] and "says raised" in caplog.text
    rollout.model_dump_json()
    early = roll_out(SKELETON, SCENARIO, Buggy(error, early=True))
    assert (early.ending, early.cause, early.messages) == ("failed", "agent", [])


class Unreadable(dict):
    def get(self, *_):
        raise RuntimeError("no")


def test_a_message_that_raises_when_it_is_read_is_the_agents_failure_too():
    rollout = roll_out(SKELETON, SCENARIO, Says(Unreadable(content="x")))
    assert (rollout.ending, rollout.cause) == ("failed", "agent")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BudgetSpent("no"), ParameterError("no")])
def test_interrupts_and_the_librarys_own_errors_fly_out_of_an_agent(error):
    with pytest.raises(type(error)):
        roll_out(SKELETON, SCENARIO, Buggy(error))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ParameterError, match="repaired"):
        roll_out(SKELETON.replace(title="other"), SCENARIO, WitnessAgent())
    with pytest.raises(ParameterError, match="max_steps as a whole number"):
        roll_out(SKELETON, SCENARIO, WitnessAgent(), max_steps=0)


# The tool `finish`


def calls(*named):
    entries = [{"id": f"c{i}", "function": {"name": n, "arguments": a}} for i, (n, a) in enumerate(named)]
    return {"role": "assistant", "content": None, "tool_calls": entries}


END = ("finish", '{"report": "T-1 is closed."}')
T1, T2 = ("close", '{"id": "T-1"}'), ("close", '{"id": "T-2"}')


def test_an_agent_that_is_offered_finish_ends_with_it():
    agent = Says(calls(T1), calls(END))
    rollout = roll_out(SKELETON, SCENARIO, agent, finish=True)
    assert (rollout.ending, rollout.reward, rollout.steps) == ("finished", 1.0, 2)
    assert [m["role"] for m in rollout.messages] == ["system", "user", *["assistant", "tool"] * 2]
    assert rollout.messages[-1]["tool_call_id"] == "c0" and "over" in rollout.messages[-1]["content"]
    assert rollout.trajectory[-1].observation == [rollout.messages[-1]]
    assert [tool["function"]["name"] for tool in rollout.extra["offered"]] == ["finish"]
    assert Rollout.model_validate(rollout.model_dump(mode="json")) == rollout


def test_calls_before_finish_are_made_and_those_after_it_are_not():
    rollout = roll_out(SKELETON, SCENARIO, Says(calls(T1, END, T2)), finish=True)
    assert (rollout.reward, rollout.steps, rollout.final_state) == (1.0, 1, {"open": ["T-2"]})
    told = [json.loads(m["content"]) for m in rollout.messages[3:]]
    assert [reply["success"] for reply in told] == [True, True, False] and "not made" in told[2]["error"]


@pytest.mark.parametrize("arguments", ["{}", "{oops", "[]", '{"report": 5}', '{"report": "x", "more": 1}'])
def test_a_malformed_finish_is_a_slip_and_no_end(arguments):
    agent = Says(calls(("finish", arguments), T1), calls(END))
    rollout = roll_out(SKELETON, SCENARIO, agent, finish=True)
    assert (rollout.ending, rollout.reward, rollout.steps) == ("finished", 1.0, 2)
    assert (
        "finish: " in agent.seen[1][-2]["content"] and "There is no tool" not in agent.seen[1][-2]["content"]
    )


def test_finish_with_the_last_step_is_an_end_and_no_truncation():
    rollout = roll_out(SKELETON, SCENARIO, Says(calls(T1, END)), finish=True, max_steps=1)
    assert (rollout.ending, rollout.reward) == ("finished", 1.0)


def test_an_agent_that_is_offered_finish_may_still_end_with_words():
    rollout = roll_out(SKELETON, SCENARIO, Says(calls(T1), DONE), finish=True)
    assert (rollout.ending, rollout.reward, rollout.steps) == ("finished", 1.0, 2)


@pytest.mark.parametrize("conversation", [False, True])
def test_where_it_is_not_offered_finish_is_an_unknown_tool(conversation):
    agent = Says(calls(END), DONE)
    rollout = roll_out(
        SKELETON,
        SCENARIO,
        agent,
        finish=conversation,  # a conversation is ended by its user, also where it was asked for
        conversation=conversation,
        user=user("Close T-1.", ("Bye.", True)),
    )
    assert "offered" not in rollout.extra and rollout.steps == 2
    assert "Expected close(id), got finish" in agent.seen[1][-1]["content"]


def test_a_world_that_has_a_finish_of_its_own_keeps_it():
    world = SKELETON.replace(tools=[*SKELETON.tools, FINISH])
    scenario = SCENARIO.replace(skeleton_id=world.id)
    with pytest.raises(ParameterError, match="finish=False"):
        roll_out(world, scenario, Says(DONE), finish=True)
    assert roll_out(world, scenario, Says(DONE)).ending == "finished"


# Conversation


def test_the_user_opens_answers_and_ends():
    agent = Says(close("T-1"), {"content": "T-1 is closed.", "reasoning_content": "PRIVATE"}, DONE)
    model = user("Close T-1.", "And T-2?", ("Bye.", True))
    rollout = roll_out(SKELETON, SCENARIO, agent, conversation=True, user=model)
    assert (rollout.ending, rollout.reward, rollout.steps) == ("stopped", 1.0, 3)
    assert [m["role"] for m in rollout.messages[1:]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert [step.observation for step in rollout.trajectory[1:]] == ["And T-2?", "Bye."]
    assert rollout.usage == Usage(calls=3, input_tokens=30)
    assert rollout.origin.settings["user"] == "scripted"


def test_the_task_is_the_users_alone_and_the_tools_the_agents():
    agent = Says(close("T-1"), DONE)
    model = user("<think>T-2 later</think>User: Close T-1.", ("", True))
    rollout = roll_out(SKELETON, SCENARIO, agent, conversation=True, user=model)
    heard = json.dumps(agent.seen)
    assert "quietly" not in heard and "SECRET" not in heard and "later" not in heard and "User:" not in heard
    assert rollout.messages[1]["content"] == "Close T-1."
    for request in model.requests:
        sent = json.dumps(request.messages)
        assert (
            "tool" not in {m["role"] for m in request.messages} and "success" not in sent and "c0" not in sent
        )


def test_a_user_who_never_stops_is_stopped():
    model = ScriptedModel(lambda _: json.dumps({"thought": "", "message": "More.", "done": False}))
    rollout = roll_out(SKELETON, SCENARIO, Says(DONE), conversation=True, user=model)
    assert (rollout.ending, rollout.steps, rollout.reward) == ("truncated", 40, 0.0)


def test_a_user_who_is_done_at_once_is_not_believed():
    model = user(("Close T-1.", True), ("Thanks.", True))
    rollout = roll_out(SKELETON, SCENARIO, Says(close("T-1"), DONE), conversation=True, user=model)
    assert (rollout.ending, rollout.reward, rollout.steps) == ("stopped", 1.0, 2)


@pytest.mark.parametrize("turns", [[("", True)], [("Close T-1.", False), ("<think>hm</think>", False)]])
def test_a_user_who_fails_is_not_the_agents_fault(turns):
    rollout = roll_out(SKELETON, SCENARIO, Says(DONE), conversation=True, user=user(*turns))
    assert (rollout.ending, rollout.cause, rollout.reward) == ("failed", "user", None)


def test_a_user_whose_model_is_down_is_the_models_failure():
    talk = ScriptedModel([ModelError("down")])
    rollout = roll_out(SKELETON, SCENARIO, Says(DONE), conversation=True, user=talk)
    assert (rollout.ending, rollout.cause, rollout.reward) == ("failed", "model", None)


def test_the_witness_finishes_a_conversation():
    model = user("Close T-1 please.", "And then T-2, quietly.", ("Bye.", True))
    rollout = roll_out(SKELETON, SCENARIO, WitnessAgent(), conversation=True, user=model)
    assert (rollout.ending, rollout.reward, rollout.final_state) == ("stopped", 1.0, {"open": []})


def test_checks_that_break_at_the_end_of_a_conversation_do_not_hide_who_ended_it(desk):
    desk.broken = {"grade": CheckError("no")}
    rollout = roll_out(SKELETON, SCENARIO, Says(DONE), conversation=True, user=user("Hi", ("Bye", True)))
    assert (rollout.ending, rollout.cause, rollout.reward) == ("stopped", "check", None)


# Models as agents


def test_a_prompt_agent_plays_and_gets_tools_in_its_prompt():
    model = ScriptedModel(['<tool_call>{"name": "close", "arguments": {"id": "T-1"}}</tool_call>', "Done."])
    rollout = roll_out(SKELETON, SCENARIO, PromptAgent(model))
    assert rollout.reward == 1 and rollout.agent == "scripted (prompt)"
    assert '"close"' in rollout.messages[0]["content"] and rollout.usage.calls == 2
    assert rollout.origin.model == "scripted"


def test_malformed_text_calls_reach_the_environment():
    broken = '<tool_call>{"name": "close", "arguments": {"id": T-1}}</tool_call>'
    model = ScriptedModel(
        [broken, '<tool_call>{"name": "close", "arguments": {"id": "T-1"}}</tool_call>', "Done."]
    )
    rollout = roll_out(SKELETON, SCENARIO, PromptAgent(model))
    assert rollout.reward == 1 and rollout.steps == 3
    assert rollout.messages[2]["tool_calls"][0]["function"]["arguments"] == '{"id": T-1}}'


def test_thoughts_are_recorded_and_go_no_further():
    model = ScriptedModel([Reply("Done.", reasoning="PRIVATE")] * 2)
    talk = user("Hi", ("Bye", True))
    rollout = roll_out(SKELETON, SCENARIO, ToolAgent(model), conversation=True, user=talk)
    assert rollout.messages[2]["reasoning_content"] == "PRIVATE"
    assert "PRIVATE" not in json.dumps([r.messages for r in talk.requests])


def test_the_dialogue_is_what_was_said():
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {**close("T-1"), "content": "let me see"},
        {"role": "tool", "content": "t"},
        {"role": "assistant", "content": "<think>x</think>a"},
    ]
    assert dialogue_of(messages) == [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]


def test_system_messages_hold_what_their_prompts_name():
    assert "<tools>" not in system_message(SKELETON, TOOLS)["content"]
    text = system_message(SKELETON, TOOLS, "rollouts/act_text")
    assert text["role"] == "system" and '"name": "close"' in text["content"]


# In the real environment

SHELF = Scenario(
    skeleton_id=library.skeleton().id,
    initial_state=library.STATE,
    task=library.TASK,
    checks=[Check(item=item, kind=kind, source=source) for item, (kind, source) in library.ITEMS.items()],
    may_change=library.MAY_CHANGE,
    witness=[Call.model_validate(call) for call in library.WITNESS],
)


@pytest.fixture
def real(monkeypatch):
    monkeypatch.setattr(episode, "Environment", Environment)


def test_agents_earn_what_they_are_worth(real):
    def mean(agent):
        return np.mean([roll_out(library.skeleton(), SHELF, agent, seed=seed).reward for seed in range(12)])

    earned = [mean(agent) for agent in (WitnessAgent(), CarelessAgent(0.2), CarelessAgent(0.7), IdleAgent())]
    assert earned == sorted(earned, reverse=True) and earned[0] == 1 and earned[-1] == 0
    assert earned[0] > earned[1] > earned[2]
    assert mean(RandomAgent()) < 0.5


def test_the_witness_finishes_a_real_conversation(real):
    first, second = library.TASK.split(". ", 1)[0], library.TASK.split(". ", 1)[1]
    rollout = roll_out(
        library.skeleton(), SHELF, WitnessAgent(), conversation=True, user=user(first, second, ("Bye.", True))
    )
    assert (rollout.ending, rollout.reward) == ("stopped", 1.0)


def test_a_tool_that_hangs_for_ever_is_the_environments_failure(real):
    head, doc, _ = library.METHODS["find_member"].split('"""')
    hanging = f'{head}"""{doc}"""\n    while True:\n        pass\n'
    skeleton = library.skeleton(find_member=hanging)
    call = {"tool_calls": [{"function": {"name": "find_member", "arguments": '{"name": "Ida Berg"}'}}]}
    rollout = roll_out(skeleton, SHELF.replace(skeleton_id=skeleton.id), Says(call))
    assert (rollout.ending, rollout.cause, rollout.reward) == ("failed", "environment", None)
    assert rollout.steps == 2 and len(rollout.messages) == 7


def test_a_tool_that_raises_is_the_environments_fault_and_recorded_as_such(real):
    head, doc, _ = library.METHODS["find_member"].split('"""')
    skeleton = library.skeleton(find_member=f'{head}"""{doc}"""\n    return 1 / 0\n')
    scenario = SHELF.replace(skeleton_id=skeleton.id)
    call = {"tool_calls": [{"function": {"name": "find_member", "arguments": '{"name": "Ida Berg"}'}}]}
    rollout = roll_out(
        skeleton,
        scenario,
        Says("hm", call, call, "I give up."),
        conversation=True,
        user=user("Hi", "?", ("", True)),
    )
    assert [(fault["step"], fault["tool"]) for fault in rollout.extra["faults"]] == [
        (1, "find_member"),
        (2, "find_member"),
    ]
    assert rollout.ending == "stopped" and rollout_frame([rollout], [scenario])["faults"].tolist() == [2]


@pytest.mark.parametrize("body", ["1 / 0", "'yes'", "final_state.clear()"])
def test_a_real_check_that_breaks_is_no_nought(real, body):
    checks = [*SHELF.checks, Check(item="Broken?", source=f"def check_func(final_state):\n    return {body}")]
    rollout = roll_out(library.skeleton(), SHELF.replace(checks=checks), WitnessAgent())
    assert (rollout.ending, rollout.cause, rollout.reward) == ("finished", "check", None)


def test_hostile_arguments_do_no_harm(real):
    names = ["__init__", "__class__", "members", "", "find_member", "lend_book"]
    texts = [
        "",
        "{",
        "[]",
        "null",
        '{"name": "\\ud800"}',
        '{"name": null}',
        "[" * 5000,
        '{"a": 1e999}',
        "{}" * 9,
    ]
    many = [{"function": {"name": n, "arguments": t}} for n in names for t in texts]
    rollout = roll_out(library.skeleton(), SHELF, Says({"tool_calls": many}, "I give up."))
    assert (rollout.ending, rollout.reward) == ("finished", 0.0)
    assert rollout.final_state == SHELF.initial_state
    assert sum(m["role"] == "tool" for m in rollout.messages) == len(many)
    rollout.model_dump_json()


def test_episodes_do_not_share_anything():
    agent, results = WitnessAgent(), []
    threads = [
        threading.Thread(target=lambda: results.append(roll_out(SKELETON, SCENARIO, agent))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({rollout.id for rollout in results}) == 1 and len(results) == 8
