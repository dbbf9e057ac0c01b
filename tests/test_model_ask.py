"""One question, asked until the answer can be used, a bounded number of times."""

import subprocess
import sys
import types

import pytest
from loopback import completion, loopback_server, refusal  # noqa: F401
from pydantic import BaseModel, ConfigDict

import envscaler
from envscaler.error import ModelError, PromptError, ReplyError
from envscaler.model import prompt
from envscaler.model.ask import ask, chat, origin
from envscaler.model.connect import connect
from envscaler.model.reply import Code, JsonObject
from envscaler.model.request import Reply
from envscaler.model.scripted import ScriptedModel


class Judged(BaseModel):
    model_config = ConfigDict(extra="forbid")
    reason: str
    stateful: bool


GOOD = '{"reason": "r", "stateful": true}'
TASK = {"request": "Cancel my booking."}


def test_one_question_one_answer():
    model = ScriptedModel([GOOD])
    assert ask(model, "tasks/judge", TASK, Judged, sample=2, settings={"temperature": 0}) == Judged(
        reason="r", stateful=True
    )
    (request,) = model.requests
    assert (request.step, request.sample, request.settings) == ("tasks/judge", 2, {"temperature": 0})
    assert request.messages == prompt.render("tasks/judge", TASK)
    assert request.schema == Judged.model_json_schema()


def test_a_bad_reply_is_shown_with_its_error_and_only_the_last_one():
    model = ScriptedModel(["first nonsense", '{"reason": "r", "stateful": "perhaps"}', GOOD])
    assert ask(model, "tasks/judge", TASK, Judged).stateful
    first, second, third = (request.messages for request in model.requests)
    assert second[: len(first)] == third[: len(first)] == first
    assert second[-2] == {"role": "assistant", "content": "first nonsense"}
    assert "first nonsense" in second[-1]["content"] and second[-1]["role"] == "user"
    assert len(third) == len(first) + 2 and "perhaps" in third[-1]["content"]
    # What the built-in model reads does not change.
    assert prompt.blocks(third) == TASK


@pytest.mark.parametrize("tries", [1, 2, 5])
def test_tries_are_bounded_and_the_last_error_is_told(tries):
    model = ScriptedModel(lambda request: f"nonsense {len(model.requests)}")
    with pytest.raises(ReplyError, match=rf"tasks/judge.*in {tries} tries.*nonsense {tries}"):
        ask(model, "tasks/judge", TASK, Judged, tries=tries)
    assert len(model.requests) == tries


def test_a_giant_bad_reply_is_shown_in_part():
    model = ScriptedModel(["x" * 500_000, GOOD])
    ask(model, "tasks/judge", TASK, Judged)
    assert sum(len(message["content"]) for message in model.requests[1].messages) < 20_000


@pytest.mark.parametrize(("finish", "shown"), [("stop", 8_000), ("length", 1_000)])
def test_what_is_shown_of_a_reply_holds_no_word_of_ours(finish, shown):
    """A weak model copies what it is shown: a mark in it came back as code, and what runs on runs on again."""
    model = ScriptedModel([Reply("x" * 20_000, finish=finish), GOOD])
    ask(model, "tasks/judge", TASK, Judged)
    said, wish = model.requests[1].messages[-2:]
    assert said["content"] == "x" * shown and f"first {shown} characters" in wish["content"]


def test_an_empty_reply_is_shown_as_such():
    model = ScriptedModel([Reply("", finish="length"), GOOD])
    ask(model, "tasks/judge", TASK, Judged)
    assert model.requests[1].messages[-2]["content"] == "(no text)"
    assert "cut off" in model.requests[1].messages[-1]["content"]


def test_other_errors_are_not_asked_again():
    with pytest.raises(ModelError, match="down"):
        ask(ScriptedModel([ModelError("down"), GOOD]), "tasks/judge", TASK, Judged)
    for step, variables in (("tasks/judge", {}), ("tasks/none", TASK)):
        model = ScriptedModel([GOOD])
        with pytest.raises(PromptError):
            ask(model, step, variables, Judged)
        assert not model.requests


def test_code_and_free_form_answers():
    assert (
        ask(ScriptedModel(["```python\ndef f():\n    pass\n```"]), "tasks/judge", TASK, Code)
        == "def f():\n    pass\n"
    )
    model = ScriptedModel(['{"a": {"b": [1]}}'])
    assert ask(model, "tasks/judge", TASK, JsonObject) == {"a": {"b": [1]}}
    assert model.requests[0].schema == {"type": "object"}


def test_a_malformed_answer_of_a_server_then_a_good_one(loopback, home):
    loopback.answers = [
        completion("Sure, it is stateful!"),
        completion(f"<think>hm</think>```json\n{GOOD}\n```"),
    ]
    model = connect("m", base_url=loopback.url)
    assert ask(model, "tasks/judge", TASK, Judged).stateful
    assert [message["role"] for message in loopback.seen[1].body["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    # Both are remembered: the second run asks nothing.
    again = connect("m", base_url="http://127.0.0.1:9/v1", cache="replay_only")
    assert ask(again, "tasks/judge", TASK, Judged).stateful and len(loopback.seen) == 2
    row = model.ledger.frame().iloc[0]
    assert (row["step"], row["model"], row["calls"], row["input_tokens"]) == ("tasks/judge", "m", 2, 14)
    assert again.ledger.frame().iloc[0]["cached"] == 2 and again.ledger.total.calls == 0


def test_one_turn_of_an_agent():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
    model = ScriptedModel([Reply("", tool_calls=(call,))])
    tool = {"name": "f", "description": "", "parameters": {}}
    reply = chat(
        model,
        "rollouts/act",
        [{"role": "user", "content": "go"}],
        [tool],
        sample=1,
        settings={"temperature": 1},
    )
    assert reply.tool_calls == (call,)
    assert model.requests[0].tools == (tool,) and model.requests[0].schema is None


def test_the_origin_names_model_prompts_seed_and_version():
    model = ScriptedModel([], name="who")
    made = origin(model, "tasks/judge", seed=3, settings={"temperature": 0})
    assert (made.model, made.seed, made.settings, made.version) == (
        "who",
        3,
        {"temperature": 0},
        envscaler.__version__,
    )
    both = origin(model, "tasks/judge", "themes/infer")
    assert len({made.prompt, both.prompt, origin(model).prompt}) == 3
    with pytest.raises(PromptError):
        origin(model, "tasks/none")


def test_connect_says_what_is_missing(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError, match=r"OPENAI_API_KEY.*base_url.*connect\('builtin'\)"):
        connect("some-model")


def test_check_tells_before_the_work_begins(loopback, home):
    connect("m", base_url=loopback.url).check()
    assert len(loopback.seen) == 1
    loopback.otherwise = lambda seen: refusal(401, "no")
    with pytest.raises(ModelError, match="refuses the key"):
        connect("m", base_url=loopback.url).check()


def test_the_seed_is_sent_unless_it_is_zero(loopback, home):
    for seed in (0, 5):
        chat(
            connect("m", base_url=loopback.url, seed=seed),
            "rollouts/act",
            [{"role": "user", "content": "go"}],
        )
    assert [seen.body.get("seed") for seen in loopback.seen] == [None, 5]


def test_importing_the_wing_is_light():
    code = (
        "import sys, envscaler.model.ask, envscaler.model.connect\n"
        "heavy = {'torch', 'openai', 'sentence_transformers', 'transformers', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_builtin_model_is_not_remembered_unless_asked_and_then_by_seed_and_fault_rate(home, monkeypatch):
    made = []

    class Builtin(ScriptedModel):
        def __init__(self, seed: int, fault_rate: float) -> None:
            super().__init__(lambda request: f"{seed} {fault_rate}", name="builtin", workers=2)
            made.append((seed, fault_rate))

    module = types.ModuleType("envscaler.model.builtin")
    module.BuiltinModel = Builtin
    monkeypatch.setitem(sys.modules, "envscaler.model.builtin", module)
    model = connect("builtin")
    model.check()
    assert (model.name, model.workers, model.mode, made) == ("builtin", 2, "off", [(0, 0.15)])
    messages = [{"role": "user", "content": "go"}]
    said = [
        chat(
            connect("builtin", seed=seed, fault_rate=rate, cache="read_write"), "rollouts/act", messages
        ).text
        for seed, rate in [(0, 0.1), (1, 0.1), (0, 0.2), (0, 0.1)]
    ]
    assert said == ["0 0.1", "1 0.1", "0 0.2", "0 0.1"]
