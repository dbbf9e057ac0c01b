"""Agents that ask a model, calls written as text, and a user simulator that keeps its secrets."""

import json

import jsonschema
import library
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import completion, loopback_server, refusal  # noqa: F401

from envscaler.acting.choosing import choice_as_text, choice_schema, read_choice
from envscaler.acting.user import UserSimulator, as_typed, without_thoughts
from envscaler.acting.wording import as_text, parse_calls
from envscaler.agent import Agent, PromptAgent, SchemaAgent, ToolAgent
from envscaler.episode import roll_out
from envscaler.error import ModelError, ReplyError
from envscaler.model.connect import connect
from envscaler.model.request import Metered, Reply
from envscaler.model.scripted import ScriptedModel
from envscaler.model.strict import strict_schema
from envscaler.schema import Usage
from envscaler.scripted import IdleAgent, RandomAgent
from envscaler.world.action import UNREADABLE

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
    "agent",
    [
        RandomAgent(),
        IdleAgent(),
        *(kind(ScriptedModel([])) for kind in (ToolAgent, SchemaAgent, PromptAgent)),
    ],
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


# Calls without marks

LOOK = '{"name": "look", "arguments": {"id": 1}}'
NAMES = {"look", "list_all"}


@pytest.mark.parametrize(
    ("text", "calls", "spoken"),
    [
        (f"```json\n{LOOK}\n```", [("look", '{"id": 1}')], ""),
        (f"```tool_call\n{LOOK}\n```", [("look", '{"id": 1}')], ""),
        (f"```\n{LOOK}\n```", [("look", '{"id": 1}')], ""),
        (f"```json\n{LOOK}```", [("look", '{"id": 1}')], ""),
        (f"Let me look.\n\n```json\n{LOOK}\n```\n", [("look", '{"id": 1}')], "Let me look."),
        (f"```json\n{LOOK}\n```\nand\n```json\n{LOOK}\n```", [("look", '{"id": 1}')] * 2, "and"),
        (LOOK, [("look", '{"id": 1}')], ""),
        (f"  {LOOK}\n", [("look", '{"id": 1}')], ""),
        (f"{LOOK}\n{LOOK}", [("look", '{"id": 1}')] * 2, ""),
        (f"[{LOOK}, {LOOK}]", [("look", '{"id": 1}')] * 2, ""),
        (f'{{"tool_calls": [{LOOK}]}}', [("look", '{"id": 1}')], ""),
        (f'{{"id": "x", "type": "function", "function": {LOOK}}}', [("look", '{"id": 1}')], ""),
        ('{"name": "look", "parameters": {"id": 1}}', [("look", '{"id": 1}')], ""),
        ('{"name": "look", "arguments": "{\\"id\\": 1}"}', [("look", '{"id": 1}')], ""),
        ('{"name": "list_all"}', [("list_all", "{}")], ""),
        (f"<|python_tag|>{LOOK}", [("look", '{"id": 1}')], ""),
        (f"[TOOL_CALLS] [{LOOK}]", [("look", '{"id": 1}')], ""),
        (f"<think>{LOOK}</think>{LOOK}", [("look", '{"id": 1}')], ""),
        # The name of a tool that there is not: nobody says that to a user.
        ('{"name": "watch", "arguments": {}}', [("watch", "{}")], ""),
        # Malformed, and plainly meant as a call: the environment tells what is wrong.
        ('{"name": "look", "arguments": {"id": T-1}}', [("look", '{"id": T-1}}')], ""),
        ('```json\n{"name": "look", "arguments": {"id": 1}\n```', [("look", '{"id": 1}')], ""),
        # Marks come first: what else stands there was said.
        (
            f"<tool_call>{LOOK}</tool_call>\n```json\n{LOOK}\n```",
            [("look", '{"id": 1}')],
            f"```json\n{LOOK}\n```",
        ),
    ],
)
def test_calls_without_marks_are_calls_where_they_are_of_declared_tools(text, calls, spoken):
    said = parse_calls(text, NAMES)
    assert (list(said.calls), said.text) == (calls, spoken)


@pytest.mark.parametrize(
    "text",
    [
        "All done.",
        'The ticket is {"id": "T-1", "state": "closed"}.',
        '```json\n{"id": "T-1", "state": "closed"}\n```',
        '{"id": "T-1", "name": "Ann"}',
        '```json\n{"name": "Ann", "arguments": ["for", "against"]}\n```',
        f"I called {LOOK} and it failed.",
        f"I called `{LOOK}` before.",
        'Her record:\n```json\n{"name": "look", "colour": "red"}\n```',
        'Her record:\n```json\n{"name": "look"}\n```',
        'The tool:\n```json\n{"name": "watch", "arguments": {}}\n```',
        f'Both:\n```json\n[{LOOK}, {{"id": 4}}]\n```',
        '["look", "list_all"]',
        '{"name": "watch"}',
        "{'name': 'Ann'}",
        "```python\nlook(id=1)\n```",
        '{"name": 5, "arguments": {}}',
        "[]",
        "{",
    ],
)
def test_json_that_is_no_call_is_what_the_agent_says(text):
    said = parse_calls(text, NAMES)
    assert said.calls == () and said.text == text.strip()


@pytest.mark.parametrize("text", [LOOK, f"```json\n{LOOK}\n```"])
def test_without_declared_tools_only_marks_make_a_call(text):
    assert parse_calls(text).calls == ()


@given(st.text(alphabet='`{}[]":, name arguments look json\n\\', max_size=150))
def test_no_text_breaks_the_reader_of_unmarked_calls(text):
    said = parse_calls(text, NAMES)
    assert all(isinstance(part, str) for pair in said.calls for part in pair)


def test_a_prompt_agent_reads_fenced_calls_of_the_tools_it_was_given():
    model = ScriptedModel([f"On it.\n```json\n{LOOK}\n```", f"```json\n{LOOK}\n```"])
    message = PromptAgent(model).act(MESSAGES, TOOLS, seed=0)
    assert message["content"] == "On it." and message["tool_calls"][0]["function"]["name"] == "look"
    assert "tool_calls" not in PromptAgent(model).act(MESSAGES, [], seed=0)


# A choice by schema


def tool(name, properties=None, required=(), **more):
    parameters = {"type": "object", "properties": properties or {}, "required": list(required), **more}
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": parameters}}


TEXT, WHOLE = {"type": "string", "description": "Some text."}, {"type": "integer", "minimum": 1}
OFFERED = [
    tool("look", {"id": TEXT, "depth": WHOLE, "note": {**TEXT, "nullable": True}}, ["id", "note"]),
    tool("list_all"),
    tool("save", {"record": {"type": "object"}}, ["record"]),
    tool("tag", {"tags": {"type": "array", "items": TEXT}, "place": {
        "type": "object", "properties": {"row": WHOLE, "seat": WHOLE}, "required": ["row"]}}, ["tags"]),
    tool("pick", {"kind": {"type": "string", "enum": ["a", "b"]}, "ref": {"$ref": "#/$defs/x"}}, ["kind"]),
    tool("open_ended", {"id": TEXT}, ["id"], additionalProperties=True),
]  # fmt: skip


def chosen(**action):
    return json.dumps({"thought": "hm", "action": action})


def read(text, tools=OFFERED):
    said = read_choice(text, tools)
    return [(name, json.loads(arguments)) for name, arguments in said.calls], said.text


def test_the_schema_is_one_that_strict_mode_takes_whatever_the_tools_are():
    schema = choice_schema(OFFERED)
    strict = strict_schema(schema)
    assert strict is not None and strict["required"] == ["thought", "action"]
    # Strict mode wants every property required: nothing is left that it would have to add.
    assert strict == schema or json.dumps(strict).count('"required"') == json.dumps(schema).count(
        '"required"'
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    assert len(schema["properties"]["action"]["anyOf"]) == len(OFFERED) + 1


@pytest.mark.parametrize(
    ("action", "fits"),
    [
        ({"say": "Hello."}, True),
        ({"tool": "list_all"}, True),
        ({"tool": "look", "arguments": {"id": "T-1", "depth": 2, "note": "n"}}, True),
        ({"tool": "look", "arguments": {"id": "T-1", "depth": None, "note": None}}, True),
        ({"tool": "save", "arguments": '{"record": {"a": 1}}'}, True),
        ({"tool": "open_ended", "arguments": '{"id": "x", "more": 1}'}, True),
        ({"tool": "tag", "arguments": {"tags": ["a"], "place": {"row": 1, "seat": None}}}, True),
        ({"tool": "pick", "arguments": '{"kind": "a"}'}, True),
        ({"tool": "watch"}, False),
        ({"tool": "look", "arguments": {"id": "T-1"}}, False),
        ({"tool": "look", "arguments": {"id": 1, "depth": 2, "note": "n"}}, False),
        ({"tool": "list_all", "say": "x"}, False),
    ],
)
def test_what_the_schema_admits_is_a_choice(action, fits):
    validator = jsonschema.Draft202012Validator(choice_schema(OFFERED))
    assert validator.is_valid({"thought": "", "action": action}) is fits


@pytest.mark.parametrize(
    ("text", "calls", "spoken"),
    [
        (chosen(say="Hello."), [], "Hello."),
        (chosen(tool="list_all"), [("list_all", {})], ""),
        (chosen(tool="look", arguments={"id": "T-1", "depth": 2}), [("look", {"id": "T-1", "depth": 2})], ""),
        # Null stands for left out, but where the tool itself takes null.
        (chosen(tool="look", arguments={"id": "a", "depth": None, "note": None}),
         [("look", {"id": "a", "note": None})], ""),
        (chosen(tool="tag", arguments={"tags": ["a"], "place": {"row": 1, "seat": None}}),
         [("tag", {"tags": ["a"], "place": {"row": 1}})], ""),
        # What is required and null stays, for the environment to speak of; so does what there is not.
        (chosen(tool="look", arguments={"id": None, "x": None}), [("look", {"id": None, "x": None})], ""),
        (chosen(tool="save", arguments='{"record": {"a": null}}'), [("save", {"record": {"a": None}})], ""),
        (chosen(tool="watch", arguments={"a": None}), [("watch", {"a": None})], ""),
        # As servers answer that enforce nothing.
        (f"```json\n{chosen(tool='list_all')}\n```", [("list_all", {})], ""),
        ('{"action": {"tool": "list_all"}}', [("list_all", {})], ""),
        ('{"tool": "list_all", "arguments": {}}', [("list_all", {})], ""),
        ('{"action": {"name": "list_all"}}', [("list_all", {})], ""),
        ('{"action": "All done."}', [], "All done."),
        ("{'action': {'say': 'All done.',},}", [], "All done."),
        ("All done.", [], "All done."),
    ],
)  # fmt: skip
def test_choices_of_many_shapes(text, calls, spoken):
    assert read(text) == (calls, spoken)


@pytest.mark.parametrize(
    "text", ["{", '{"action": 5}', '{"action": {"say": 5}}', '{"thought": "hm"}', '{"a" "b"}']
)
def test_a_choice_that_cannot_be_read_is_a_call_of_no_tool(text):
    assert [name for name, _ in read_choice(text, OFFERED).calls] == [UNREADABLE]


json_objects = st.dictionaries(st.text(max_size=5), json_values, max_size=3)


@given(st.sampled_from(["look", "list_all", "watch"]), json_objects)
def test_a_choice_written_down_is_the_choice_read(name, arguments):
    message = {"tool_calls": [{"function": {"name": name, "arguments": json.dumps(arguments)}}]}
    said = read_choice(choice_as_text(message), [])
    assert [(n, json.loads(a)) for n, a in said.calls] == [(name, arguments)]
    assert read_choice(choice_as_text({"content": "Hello."}), []).text == "Hello."


def test_a_schema_agent_sends_the_schema_and_the_exchange_as_choices():
    model = ScriptedModel([chosen(tool="look", arguments={"id": "T-2", "depth": None})])
    agent = SchemaAgent(model)
    message = agent.act(MESSAGES, OFFERED, seed=3)
    assert agent.name == "scripted (schema)" and agent.step == "rollouts/act_schema"
    assert message["tool_calls"][0]["id"] == "call_2" and message["reasoning_content"] == "hm"
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"id": "T-2"}
    request = model.requests[0]
    assert request.schema == choice_schema(OFFERED) and request.tools == () and request.sample == 3
    told = [m["content"] for m in request.messages]
    assert [json.loads(line) for line in told[2].splitlines()] == [
        {"action": {"tool": "look", "arguments": {"id": "T-1"}}},
        {"action": {"tool": "look", "arguments": "{oops"}},
    ]
    assert told[3].count("<tool_response>") == 2 and "let me look" not in str(told)


@pytest.mark.parametrize("kind", [ToolAgent, SchemaAgent, PromptAgent])
def test_every_setting_of_an_agent_is_a_parameter(kind):
    def asked(**given):
        model = ScriptedModel(["Done."])
        kind(model, **given).act(MESSAGES, TOOLS, seed=0)
        return model.requests[0]

    assert asked().settings == {"temperature": 0.7}
    assert asked(temperature=None).settings == {}
    assert asked(temperature=0.1, settings={"top_p": 0.9}).settings == {"temperature": 0.1, "top_p": 0.9}
    assert asked(settings={"temperature": 0.3}).settings == {"temperature": 0.3}
    assert asked(step="rollouts/act").step == "rollouts/act"
    assert kind(ScriptedModel([]), "me").name == "me"


# On a server


@pytest.fixture
def shelf(monkeypatch):
    """Plays the library's scenario against a server that gives some answers, and tells what came of it."""

    def play(loopback, agent, *answers, **given):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback-key")
        loopback.answers = list(answers)
        loopback.otherwise = completion("I give up.")
        model = connect("m", base_url=loopback.url, cache="off")
        return roll_out(library.skeleton(), library.scenario(), agent(model), **given)

    return play


def native(*calls, text=None, **more):
    entries = [
        {"id": f"c{i}", "type": "function", "function": {"name": n, "arguments": a}}
        for i, (n, a) in enumerate(calls)
    ]
    return completion(text, finish="tool_calls", tool_calls=entries, **more)


def told(rollout):
    return [json.loads(m["content"]) for m in rollout.messages if m["role"] == "tool"]


FIND, EMMA = ("find_member", '{"name": "Ida Berg"}'), ("find_book", '{"title": "Emma"}')


def test_native_calling_several_calls_a_message_text_beside_them_and_thoughts(loopback, shelf):
    answers = [
        native(FIND, EMMA, text="Let me look.", reasoning_content="two look-ups"),
        completion("Found both."),
    ]
    rollout = shelf(loopback, ToolAgent, *answers)
    assert (rollout.ending, rollout.steps, rollout.usage.calls) == ("finished", 2, 2)
    assert all(reply["success"] for reply in told(rollout)) and len(told(rollout)) == 2
    said = rollout.messages[2]
    assert said["content"] == "Let me look." and said["reasoning_content"] == "two look-ups"
    sent = loopback.seen[1].body
    assert [m["role"] for m in sent["messages"]] == ["system", "user", "assistant", "tool", "tool"]
    assert [m["tool_call_id"] for m in sent["messages"][3:]] == [
        c["id"] for c in sent["messages"][2]["tool_calls"]
    ]
    assert "two look-ups" not in json.dumps(sent) and sent["temperature"] == 0.7
    assert {t["function"]["name"] for t in sent["tools"]} == {t.name for t in library.skeleton().tools}


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (("find_member", '{"name": "Ida'), "JSON"),
        (("find_member", ""), "name"),
        (("find_member", "[]"), "object"),
        (("find_member", "null"), "name"),
        (("find_member", '{"nme": "Ida Berg"}'), "did you mean"),
        (("find_member", '{"name": 5}'), "name"),
        (("find_members", '{"name": "Ida Berg"}'), "Did you mean"),
        (("__init__", "{}"), "no tool"),
        (("", "{}"), "expected the name of a tool"),
        (("finish", '{"report": "x"}'), "no tool"),
    ],
)
def test_a_native_call_that_is_wrong_is_told_so_and_the_next_one_counts(loopback, shelf, call, why):
    rollout = shelf(loopback, ToolAgent, native(call), native(FIND), completion("Found."))
    wrong, right = told(rollout)
    assert wrong["success"] is False and why in wrong["error"] and right["success"]
    assert (rollout.ending, rollout.cause, rollout.steps) == ("finished", "", 3)
    # Servers refuse a call without a name when it comes back to them.
    assert all(
        c["function"]["name"] for m in loopback.seen[-1].body["messages"] for c in m.get("tool_calls") or ()
    )


def test_arguments_as_an_object_and_calls_without_ids_are_read(loopback, shelf):
    bare = completion(
        None, tool_calls=[{"function": {"name": "find_member", "arguments": {"name": "Ida Berg"}}}] * 2
    )
    rollout = shelf(loopback, ToolAgent, bare, completion("Found."))
    assert [reply["success"] for reply in told(rollout)] == [True, True]
    assert len({call["id"] for call in rollout.messages[2]["tool_calls"]}) == 2


def test_native_calling_ends_with_finish_where_it_is_asked_for(loopback, shelf):
    rollout = shelf(loopback, ToolAgent, native(FIND, ("finish", '{"report": "x"}')), finish=True)
    assert (rollout.ending, rollout.steps, len(loopback.seen)) == ("finished", 1, 1)
    assert loopback.seen[0].body["tools"][-1]["function"]["name"] == "finish"


def lowered(*refused):
    """Answers of a server that refuses some forms of structured output, and of one that plays on."""

    def answer(seen):
        form = seen.body.get("response_format", {}).get("type", "words")
        if form in refused:
            return refusal(400, f"response_format {form} is not supported")
        replies = sum("<tool_response>" in str(m["content"]) for m in seen.body["messages"][1:])
        action = (
            {"tool": "find_member", "arguments": {"name": "Ida Berg"}} if not replies else {"say": "Found."}
        )
        text = json.dumps({"thought": "t", "action": action})
        return completion(f"Sure:\n```json\n{text}\n```" if form == "words" else text)

    return answer


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ((), "json_schema"),
        (("json_schema",), "json_object"),
        (("json_schema", "json_object"), "words"),
    ],
)
def test_a_schema_agent_survives_whatever_a_server_enforces(loopback, shelf, refused, left):
    answers = [lowered(*refused)] * (2 + len(refused))
    rollout = shelf(loopback, SchemaAgent, *answers)
    assert (rollout.ending, rollout.steps, rollout.usage.calls) == ("finished", 2, 2)
    assert told(rollout)[0]["success"] and rollout.messages[-1]["content"] == "Found."
    assert rollout.messages[2]["reasoning_content"] == "t"
    last = loopback.seen[-1].body
    assert last.get("response_format", {}).get("type", "words") == left and "tools" not in last
    if left == "json_schema":
        assert last["response_format"]["json_schema"]["strict"] is True
    else:
        assert '"find_member"' in last["messages"][-1]["content"], "the schema is told in words"


CUT = chosen(tool="find_member", arguments={"name": 'Ida "tool": "lend" Berg, and so on and on'})


@pytest.mark.parametrize("left", range(1, len(CUT), 7))
def test_a_choice_that_is_cut_short_is_no_call_and_is_told_what_is_wrong_with_it(loopback, shelf, left):
    rollout = shelf(loopback, SchemaAgent, completion(CUT[:left], finish="length"))
    [call] = rollout.messages[2]["tool_calls"]
    named = "find_member" in CUT[:left]
    assert call["function"]["name"] == ("find_member" if named else UNREADABLE)
    error = told(rollout)[0]["error"]
    assert error.startswith("find_member: " if named else "This tool call cannot be read") and "JSON" in error


def test_a_prompt_agent_on_a_server_gets_neither_tools_nor_a_schema(loopback, shelf):
    call = json.dumps({"name": "find_member", "arguments": {"name": "Ida Berg"}})
    rollout = shelf(
        loopback, PromptAgent, completion(f"<think>x</think>```json\n{call}\n```"), completion("Found.")
    )
    assert (rollout.steps, told(rollout)[0]["success"]) == (2, True)
    assert not {"tools", "response_format"} & set(loopback.seen[0].body)
    assert '"find_member"' in loopback.seen[0].body["messages"][0]["content"]


@pytest.mark.parametrize("kind", [ToolAgent, SchemaAgent, PromptAgent])
def test_a_server_that_knows_no_temperature_is_asked_without(loopback, shelf, kind):
    no = refusal(400, "Unsupported value: 'temperature' does not support 0.7", param="temperature")
    rollout = shelf(loopback, kind, no, completion("Done."))
    assert rollout.ending == "finished" and "temperature" not in loopback.seen[-1].body


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
    model = ScriptedModel([turn("Go on.")] * 2)
    UserSimulator(model, "Close T-1.", seed=3).speak(TALK)
    sent = json.dumps(model.requests[0].messages)
    assert "Close T-1." in sent and "Yes?" in sent and model.requests[0].sample == 3
    assert model.requests[0].settings == {}
    UserSimulator(model, "Close T-1.", temperature=0.7).speak(TALK)
    assert model.requests[1].settings == {"temperature": 0.7}


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
