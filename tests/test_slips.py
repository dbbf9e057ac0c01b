"""An empty message, or one that was cut short, ends nothing and reaches no user; three in a row end the episode."""

import json
from typing import Any

import library
import pytest
from loopback import Loopback, completion, loopback_server  # noqa: F401

import envscaler as es
from envscaler.acting.messages import as_action, dialogue_of
from envscaler.acting.slips import MOST_SLIPS, slipped
from envscaler.model.request import Reply
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Rollout, Usage
from envscaler.show.stats import rollout_frame
from envscaler.world.action import UNREADABLE

WORLD, POSED = library.skeleton(), library.scenario()
EMPTY: dict[str, Any] = {
    "nothing": "",
    "white space": " \n\t",
    "null": {"content": None},
    "no parts": {"content": [], "tool_calls": None},
    "no calls": {"content": "", "tool_calls": []},
    "a thought": {"content": None, "reasoning_content": "What now?"},
    "a thought in the text": "<think>What now?</think>\n",
    "a thought that never closes": "<think>What now?",
}
CUT: dict[str, Any] = {
    "words": {"content": "First I look up the mem", "finish_reason": "length"},
    "a thought": {"content": "", "reasoning_content": "What n", "finish_reason": "length"},
}
MODES = [False, True]


class Says:
    """An agent that says these things in order, the last one for ever."""

    name = "says"

    def __init__(self, *things: Any) -> None:
        self.things, self.seen = things, []

    def act(self, messages: Any, tools: Any, *, seed: int) -> Any:
        self.seen.append(messages)
        return self.things[min(len(self.seen), len(self.things)) - 1]


def look(name: str = "Ida Berg") -> dict[str, Any]:
    function = {"name": "find_member", "arguments": json.dumps({"name": name})}
    return {"content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def user(*turns: str) -> ScriptedModel:
    """A user that says these things and leaves with the last."""
    said = [{"thought": "", "message": text, "done": text == turns[-1]} for text in turns]
    return ScriptedModel([json.dumps(turn) for turn in said])


def play(agent: Any, talks: bool, **options: Any) -> tuple[Rollout, ScriptedModel]:
    talk = user("Hello.", "Bye.")
    return es.roll_out(WORLD, POSED, agent, conversation=talks, user=talk, **options), talk


def worked() -> list[Any]:
    """The messages of an agent that does all that is asked for, without the words at the end."""
    return [m for m in es.roll_out(WORLD, POSED, es.WitnessAgent()).messages if m.get("tool_calls")]


def told(rollout: Rollout) -> list[Any]:
    return [json.loads(m["content"]) for m in rollout.messages if m["role"] == "tool"]


@pytest.mark.parametrize("talks", MODES)
@pytest.mark.parametrize(
    ("thing", "why"),
    [*((thing, "was empty") for thing in EMPTY.values()), *((thing, "was cut short") for thing in CUT.values())],
    ids=[*EMPTY, *(f"{name}, cut" for name in CUT)],
)  # fmt: skip
def test_it_is_told_so_and_the_episode_goes_on(thing: Any, why: str, talks: bool) -> None:
    agent = Says(thing, look(), "Found.")
    rollout, talk = play(agent, talks)
    assert (rollout.ending, rollout.cause, rollout.steps) == ("stopped" if talks else "finished", "", 3)
    wrong, right = told(rollout)
    assert wrong["success"] is False and why in wrong["error"] and right["success"] is True
    assert agent.seen[1][-1]["role"] == "tool", "the agent was told"
    # Nobody answered it: the user has heard nothing yet.
    assert len(talk.requests) == (2 if talks else 0)
    assert [turn["content"] for turn in dialogue_of(rollout.messages)][1:2] == ["Found."]
    assert rollout_frame([rollout], [POSED])["refused"].tolist() == [1]
    assert Rollout.model_validate_json(rollout.model_dump_json()).id == rollout.id


def test_what_was_said_and_thought_by_then_is_in_the_record() -> None:
    rollout, _ = play(Says({**CUT["words"], "reasoning_content": "hm"}, "Found."), False)
    said = rollout.messages[2]
    assert said["content"] == "First I look up the mem" and said["reasoning_content"] == "hm"
    assert "finish_reason" not in said and said["tool_calls"][0]["function"]["name"] == UNREADABLE
    assert rollout.trajectory[0].observation == [rollout.messages[3]]


@pytest.mark.parametrize("talks", MODES)
@pytest.mark.parametrize("thing", ["", CUT["words"]])
def test_three_in_a_row_end_the_episode_by_the_agent_and_the_state_is_graded(thing: Any, talks: bool) -> None:
    agent = Says(look(), thing)
    rollout, _ = play(agent, talks)
    assert (rollout.ending, rollout.cause, rollout.steps) == ("truncated", "agent", 1 + MOST_SLIPS)
    assert rollout.reward == 0.0 and rollout.outcomes and len(agent.seen) == 1 + MOST_SLIPS
    # What it did before counts: the reward is of the state, as at any limit.
    paid, _ = play(Says(*worked(), thing), talks)
    assert (paid.ending, paid.cause, paid.reward) == ("truncated", "agent", 1.0)


def test_one_between_two_calls_is_none_in_a_row() -> None:
    rollout, _ = play(Says("", "", look(), "", "", look("Tom"), "Found."), False)
    assert (rollout.ending, rollout.cause, rollout.steps) == ("finished", "", 7)


def test_the_limit_of_steps_holds() -> None:
    rollout, _ = play(Says(""), False, max_steps=2)
    assert (rollout.ending, rollout.cause, rollout.reward, rollout.steps) == ("truncated", "", 0.0, 2)
    rollout, _ = play(Says(""), False, max_steps=MOST_SLIPS)
    assert (rollout.ending, rollout.cause, rollout.reward) == ("truncated", "agent", 0.0)


def test_an_agent_that_is_offered_finish_can_still_call_it() -> None:
    ends = {"tool_calls": [{"id": "c", "function": {"name": "finish", "arguments": '{"report": "x"}'}}]}
    rollout, _ = play(Says("", ends), False, finish=True)
    assert (rollout.ending, rollout.cause, rollout.steps) == ("finished", "", 2)


def test_whole_calls_are_made_whatever_ended_the_message() -> None:
    rollout, _ = play(Says({**look(), "finish_reason": "length"}, "Found."), False)
    assert [reply["success"] for reply in told(rollout)] == [True]
    assert not slipped(as_action(look(), 0)[0]) and not slipped({"content": "x"})


def test_nothing_of_it_is_learnt_and_nobody_else_is_blamed() -> None:
    some = [play(Says(*things), False)[0] for things in (("", look(), look(), "Found."), (look(), ""))]
    picked = es.pick_trajectories(some, reward=None)
    assert [failure.error for failure in picked.failures] == ["format", "format"]


def test_a_completion_of_a_trainer_goes_on_after_it_too() -> None:
    pay = es.reward_function([WORLD], [POSED])
    calls, silence = worked(), {"role": "assistant", "content": ""}
    done = {"role": "assistant", "content": "Done."}
    episodes = [[*calls, done], [calls[0], silence, *calls[1:], done], [silence]]
    assert pay(completions=episodes, scenario_id=[POSED.id] * 3) == [1.0, 1.0, 0.0]


# Models


def native(name: str) -> dict[str, Any]:
    return completion(None, finish="tool_calls", tool_calls=look(name)["tool_calls"])


def chosen(name: str) -> dict[str, Any]:
    action = {"tool": "find_member", "arguments": {"name": name}}
    return completion(json.dumps({"thought": "", "action": action}))


def written(name: str) -> dict[str, Any]:
    call = {"name": "find_member", "arguments": {"name": name}}
    return completion(f"<tool_call>\n{json.dumps(call)}\n</tool_call>")


KINDS: dict[str, Any] = {
    "tools": (es.ToolAgent, native, "Found."),
    "schema": (es.SchemaAgent, chosen, '{"thought": "", "action": {"say": "Found."}}'),
    "prompt": (es.PromptAgent, written, "Found."),
}
SERVED: dict[str, Any] = {
    "empty": (completion(""), "was empty"),
    "null": (completion(None, usage=None), "was empty"),
    "only a thought": (completion("<think>I should look"), "was empty"),
    "a thought apart": (completion(None, reasoning_content="I should look"), "was empty"),
    "words cut short": (completion("First I look up the mem", finish="length"), "was cut short"),
    "a thought cut short": (completion("<think>I should lo", finish="length"), "was cut short"),
    "nothing, by length": (completion("", finish="length"), "was cut short"),
}


@pytest.mark.parametrize("talks", MODES)
@pytest.mark.parametrize(("served", "why"), SERVED.values(), ids=SERVED)
@pytest.mark.parametrize("kind", KINDS)
def test_a_models_slip_is_told_to_it_whatever_kind_of_agent_it_is(
    loopback: Loopback, kind: str, served: Any, why: str, talks: bool
) -> None:
    agent, call, words = KINDS[kind]
    loopback.answers = [served, call("Ida Berg"), completion(words)]
    rollout, _ = play(agent(es.connect("m", base_url=loopback.url, cache="off")), talks)
    assert (rollout.ending, rollout.cause, rollout.steps) == ("stopped" if talks else "finished", "", 3)
    assert why in told(rollout)[0]["error"] and told(rollout)[1]["success"]
    assert why in json.dumps(loopback.seen[1].body["messages"][-1]), "it was told"
    assert rollout.messages[-2 if talks else -1]["content"] == "Found."


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_has_nothing_to_say_is_asked_three_times_and_never_from_memory(
    loopback: Loopback, home: Any, kind: str
) -> None:
    loopback.otherwise = lambda seen: completion("")
    rollout, _ = play(KINDS[kind][0](es.connect("m", base_url=loopback.url)), False)
    assert (rollout.ending, rollout.cause, rollout.reward) == ("truncated", "agent", 0.0)
    assert len(loopback.seen) == MOST_SLIPS and rollout.usage.calls == MOST_SLIPS


def test_a_choice_that_is_whole_is_no_slip_whatever_came_behind_it() -> None:
    """Servers that enforce a schema may let a model add white space until its length is used up."""
    whole = Reply(f"{KINDS['schema'][2]}{' ' * 50}", finish="length", usage=Usage(calls=1))
    rollout, _ = play(es.SchemaAgent(ScriptedModel([whole])), False)
    assert (rollout.ending, rollout.cause, rollout.steps) == ("finished", "", 1)
