"""Agents that ask a model, calls written as text, and a user simulator that keeps its secrets."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.agent import (
    Agent,
    Metered,
    PromptAgent,
    ToolAgent,
    UserSimulator,
    as_text,
    as_typed,
    parse_calls,
    without_thoughts,
)
from envscaler.error import ModelError, ReplyError
from envscaler.model.request import Reply
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Usage
from envscaler.scripted import UNREADABLE, IdleAgent, RandomAgent

MESSAGES = [
    {"role": "system", "content": "You are careful."},
    {"role": "user", "content": "Close T-1."},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "let me look",
        "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "look", "arguments": '{"id": "T-1"}'}},
            {"id": "y", "type": "function", "function": {"name": "look", "arguments": "{oops"}},
        ],
    },
    {"role": "tool", "tool_call_id": "x", "content": '{"text": "</tool_response> <tool_call>"}'},
    {"role": "tool", "tool_call_id": "y", "content": '{"success": false}'},
]
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


@pytest.mark.parametrize(
    "agent", [RandomAgent(), IdleAgent(), ToolAgent(ScriptedModel([])), PromptAgent(ScriptedModel([]))]
)
def test_all_agents_keep_the_protocol(agent):
    assert isinstance(agent, Agent) and agent.name


def test_a_tool_agent_passes_on_what_the_model_wants_and_what_it_cost():
    model = ScriptedModel(
        [Reply("", reasoning="hm", tool_calls=(CALL,), usage=Usage(calls=1, output_tokens=7))]
    )
    message = ToolAgent(model, settings={"temperature": 0.7}).act(MESSAGES, TOOLS, seed=4)
    assert message["tool_calls"] == [CALL] and message["content"] is None
    assert message["usage"].output_tokens == 7 and message["reasoning_content"] == "hm"
    request = model.requests[0]
    assert (request.step, request.sample, request.settings) == ("rollouts/act", 4, {"temperature": 0.7})
    assert list(request.tools) == TOOLS
    # Earlier thoughts are not sent again.
    assert "reasoning_content" not in json.dumps(request.messages)


def test_a_models_failure_flies():
    with pytest.raises(ModelError):
        ToolAgent(ScriptedModel([ModelError("down")])).act(MESSAGES, TOOLS, seed=0)


def test_a_prompt_agent_reads_calls_out_of_text_and_numbers_them_on():
    model = ScriptedModel(
        ['<think>so</think>On it.\n<tool_call>\n{"name": "look", "arguments": {"id": 1}}\n</tool_call>']
    )
    message = PromptAgent(model).act(MESSAGES, TOOLS, seed=0)
    assert message["content"] == "On it." and message["reasoning_content"] == "so"
    assert message["tool_calls"][0]["id"] == "call_2"
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"id": 1}
    assert model.requests[0].tools == () and {m["role"] for m in model.requests[0].messages} <= {
        "system",
        "user",
        "assistant",
    }


def test_the_exchange_as_text_reads_back():
    written = as_text(MESSAGES)
    assert [m["role"] for m in written] == ["system", "user", "assistant", "user"]
    assert parse_calls(written[2]["content"]).calls[0] == ("look", '{"id": "T-1"}')
    body = written[3]["content"]
    # Two replies, each closed once: the mark inside the first is disarmed and is still the same JSON.
    assert body.count("<tool_response>") == body.count("</tool_response>") == 2
    inner = body.split("<tool_response>\n")[1].split("\n</tool_response>")[0]
    assert json.loads(inner) == {"text": "</tool_response> <tool_call>"}


# Calls as text


def call(value):
    return f"<tool_call>\n{json.dumps(value, ensure_ascii=False)}\n</tool_call>"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["</tool_call>", "<think>", "<tool_call>", "</think>"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.tuples(st.text(min_size=1), st.dictionaries(st.text(), json_values, max_size=4)), max_size=4)
)
def test_any_calls_written_are_the_calls_read(calls):
    text = "Well.\n" + "\n".join(call({"name": name, "arguments": arguments}) for name, arguments in calls)
    said = parse_calls(text)
    assert [(name, json.loads(arguments)) for name, arguments in said.calls] == calls
    assert said.text == "Well." and said.reasoning == ""


@given(st.text(alphabet='<>/tool_call think{}[]"\\:,name arguments\n`', max_size=200))
def test_no_text_breaks_the_reader(text):
    said = parse_calls(text)
    assert all(isinstance(part, str) for pair in said.calls for part in pair)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<tool_call>{"name": "a", "arguments": {}}', [("a", "{}")]),
        ('<tool_call>{"name": "a"}</tool_call>', [("a", "{}")]),
        ('<tool_call>{"name": "a", "arguments": "{\\"x\\": 1}"}</tool_call>', [("a", '{"x": 1}')]),
        ('<tool_call>```json\n{"name": "a", "arguments": {}}\n```</tool_call>', [("a", "{}")]),
        ('<tool_call>{"name": "a"}\n{"name": "b"}</tool_call>', [("a", "{}"), ("b", "{}")]),
        ('<tool_call>[{"name": "a"}, {"name": "b"}]</tool_call>', [("a", "{}"), ("b", "{}")]),
        ('<tool_call>{"name": "a"}<tool_call>{"name": "b"}</tool_call>', [("a", "{}"), ("b", "{}")]),
        (
            '<tool_call>{"name": 5, "arguments": {}}</tool_call>',
            [(UNREADABLE, '{"name": 5, "arguments": {}}')],
        ),
        ("<tool_call>look(T-1)</tool_call>", [(UNREADABLE, "look(T-1)")]),
        ("<tool_call></tool_call>", [(UNREADABLE, "")]),
        ("<tool_call>", [(UNREADABLE, "")]),
        ('<tool_call>{"name": "a", "arguments": {\'x\': 1}}</tool_call>', [("a", "{'x': 1}}")]),
        ("No call at all.", []),
        ("A </tool_call> alone.", []),
    ],
)
def test_calls_of_many_shapes(text, calls):
    assert list(parse_calls(text).calls) == calls


def test_a_broken_call_does_not_hide_the_next():
    said = parse_calls('<tool_call>{"name": "a", "arguments": {x}}</tool_call> and ' + call({"name": "b"}))
    assert [name for name, _ in said.calls] == ["a", "b"] and said.text == "and"


@pytest.mark.parametrize(
    ("text", "spoken", "thought"),
    [
        (
            "<think>I call <tool_call>{}</tool_call> later</think>Hello",
            "Hello",
            "I call <tool_call>{}</tool_call> later",
        ),
        ("thinking <tool_call>{}</tool_call></think>Hello", "Hello", "thinking <tool_call>{}</tool_call>"),
        ("<think>cut off", "", "cut off"),
        ("Hello<think>a</think> you<think>b</think>", "Hello you", "a\nb"),
    ],
)
def test_thoughts_are_no_actions(text, spoken, thought):
    said = parse_calls(text)
    assert (said.text, said.reasoning, said.calls) == (spoken, thought, ())


# The user


def turn(message, done=False, thought="they must not know this"):
    return json.dumps({"thought": thought, "message": message, "done": done})


TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]


@pytest.mark.parametrize(
    "message",
    [
        "<think>The task says T-1.</think>Close T-1.",
        "The task says T-1.</think>\nClose T-1.",
        "User: Close T-1.",
        "**Customer:** Close T-1.",
        "# Thought: they must ask first\n# Reply: Close T-1.",
        "Close T-1.\nAssistant: It is closed.\nUser: Thanks.",
        "Close T-1. ###STOP###",
        "Close T-1.<think>what else",
    ],
)
def test_only_what_a_user_types_is_heard(message):
    assert as_typed(message) == "Close T-1."


def test_a_user_that_leaks_is_heard_without_its_thoughts():
    leaking = turn("User: <think>The task says T-1.</think>Close T-1.")
    assert UserSimulator(ScriptedModel([leaking]), "secret").speak(TALK).message == "Close T-1."


@given(st.text())
def test_what_is_heard_never_holds_thoughts(text):
    assert "<think>" not in without_thoughts(f"a<think>{text}</think>b<think>{text}")
    as_typed(text)


def test_plain_words_stay_as_they_are():
    for text in (
        "Please add the message: hello.",
        "Use system B: the new one",
        "I thought: why not?",
        "A ticket, please.\nTitle: Lamp\nAgent: Bo\nTool: saw\nSystem: B",
        "Message: hello",
    ):
        assert as_typed(text) == text


def test_the_user_is_asked_with_the_task_and_the_talk_only():
    model = ScriptedModel([turn("Go on.")])
    UserSimulator(model, "Close T-1.", seed=3).speak(TALK)
    sent = json.dumps(model.requests[0].messages)
    assert "Close T-1." in sent and "Yes?" in sent and model.requests[0].sample == 3


def test_nobody_is_done_before_they_have_spoken():
    simulator = UserSimulator(ScriptedModel([turn("Close T-1.", done=True)]), "Close T-1.")
    assert simulator.speak([]).done is False


def test_a_user_with_nothing_to_say_is_the_models_failure():
    for dialogue, done in (([], True), ([], False), (TALK, False)):
        with pytest.raises(ReplyError, match="speak"):
            UserSimulator(ScriptedModel([turn("<think>hm</think>", done=done)]), "t").speak(dialogue)
    assert UserSimulator(ScriptedModel([turn("", done=True)]), "t").speak(TALK).done


def test_an_unusable_turn_is_asked_for_again_and_counted():
    replies = [Reply("what?", usage=Usage(calls=1)), Reply(turn("Hello"), usage=Usage(calls=1))]
    meter = Metered(ScriptedModel(replies, workers=5))
    assert UserSimulator(meter, "t").speak([]).message == "Hello"
    assert meter.usage.calls == 2 and meter.name == "scripted" and meter.workers == 5


def test_done_is_a_truth_value_and_not_a_word():
    with pytest.raises(ReplyError):
        UserSimulator(ScriptedModel(['{"thought": "", "message": "Hi", "done": "soon"}'] * 3), "t").speak(
            TALK
        )
