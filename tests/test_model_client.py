"""The client against a server that is busy, old, odd, mistyped or gone."""

import json
import logging
import pickle
import threading
import time
import traceback

import pytest
from loopback import DROP, Loopback, Seen, completion, loopback_server, refusal  # noqa: F401
from pydantic import BaseModel, Field

from envscaler.error import ModelError
from envscaler.model.client import OpenAIModel
from envscaler.model.connect import connect
from envscaler.model.reply import JsonObject, schema_of
from envscaler.model.request import Request
from envscaler.schema import Usage

KEY = "very-secret-0123456789"


class Judged(BaseModel):
    reason: str
    score: int = Field(ge=1, le=10)


class Free(BaseModel):
    arguments: dict


def ask(text: str = "hello", **fields) -> Request:
    return Request(
        "tasks/judge", ({"role": "system", "content": "s"}, {"role": "user", "content": text}), **fields
    )


def connected(server: Loopback, **more) -> OpenAIModel:
    return OpenAIModel("m", base_url=server.url, **{"api_key": KEY, "timeout": 5, **more})


def test_plain_text_and_usage(loopback):
    reply = connected(loopback).answer(ask(settings={"temperature": 0.5, "top_k": 3, "max_tokens": 9}))
    assert (reply.text, reply.finish, reply.usage) == (
        "yes",
        "stop",
        Usage(calls=1, input_tokens=7, output_tokens=3),
    )
    body = loopback.seen[0].body
    assert body["model"] == "m" and body["messages"][1]["content"] == "hello"
    # A setting the client's own signature does not know goes out all the same.
    assert (body["temperature"], body["top_k"], body["max_tokens"]) == (0.5, 3, 9)
    assert "response_format" not in body and "seed" not in body
    assert loopback.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_each_sample_gets_its_own_seed(loopback):
    model = connected(loopback)
    for sample in (0, 3):
        model.answer(ask(settings={"seed": 40}, sample=sample))
    assert [seen.body["seed"] for seen in loopback.seen] == [40, 43]


def test_a_schema_that_can_be_strict_is_sent_strict(loopback):
    connected(loopback).answer(ask(schema=schema_of(Judged)))
    sent = loopback.seen[0].body["response_format"]
    assert sent["type"] == "json_schema" and sent["json_schema"]["strict"] is True
    schema = sent["json_schema"]["schema"]
    assert schema["required"] == ["reason", "score"] and schema["additionalProperties"] is False
    assert loopback.seen[0].last == "hello"


def test_a_schema_with_a_free_form_part_is_not_strict(loopback):
    connected(loopback).answer(ask(schema=schema_of(Free)))
    sent = loopback.seen[0].body["response_format"]["json_schema"]
    assert sent["strict"] is False and sent["schema"] == schema_of(Free)


def test_a_free_form_object_asks_for_any_json_object(loopback):
    connected(loopback).answer(ask(schema=schema_of(JsonObject)))
    body = loopback.seen[0].body
    # OpenAI wants the word JSON in the messages then.
    assert body["response_format"] == {"type": "json_object"} and "JSON" in loopback.seen[0].last


def test_the_ladder_is_climbed_down_once_and_remembered(loopback):
    def old(seen: Seen):
        kind = seen.body.get("response_format", {}).get("type")
        return (
            refusal(400, f"response_format {kind} is not supported")
            if kind
            else completion('```json\n{"a": 1}\n```')
        )

    loopback.otherwise = old
    model = connected(loopback)
    for _ in range(2):
        assert "{" in model.answer(ask(schema=schema_of(Judged))).text
    kinds = [seen.body.get("response_format", {}).get("type") for seen in loopback.seen]
    assert kinds == ["json_schema", "json_object", None, None]
    assert '"score"' in loopback.seen[-1].last and "```json" in loopback.seen[-1].last
    # Plain questions are not told to answer in JSON.
    model.answer(ask())
    assert loopback.seen[-1].last == "hello"


def test_a_free_form_question_does_not_push_the_others_down(loopback):
    model = connected(loopback)
    model.answer(ask(schema=schema_of(JsonObject)))
    model.answer(ask(schema=schema_of(Judged)))
    assert [seen.body["response_format"]["type"] for seen in loopback.seen] == ["json_object", "json_schema"]


def test_a_request_that_is_bad_in_every_form_is_told_with_the_first_reason_and_remembers_nothing(loopback):
    loopback.answers = [refusal(400, "context too long"), refusal(400, "second"), refusal(422, "third")]
    model = connected(loopback)
    with pytest.raises(ModelError, match="context too long"):
        model.answer(ask(schema=schema_of(Judged)))
    model.answer(ask(schema=schema_of(Judged)))
    assert loopback.seen[-1].body["response_format"]["type"] == "json_schema"


def test_settings_a_model_refuses_are_left_out_or_renamed_and_remembered(loopback):
    def picky(seen: Seen):
        if "max_tokens" in seen.body:
            return refusal(
                400, "Unsupported parameter: 'max_tokens' is not supported, use 'max_completion_tokens'."
            )
        if "temperature" in seen.body:
            return refusal(400, "Unsupported value", param="temperature", code="unsupported_value")
        return completion("fine")

    loopback.otherwise = picky
    model = connected(loopback)
    for _ in range(2):
        assert model.answer(ask(settings={"max_tokens": 9, "temperature": 0.1})).text == "fine"
    assert len(loopback.seen) == 4
    assert loopback.seen[-1].body["max_completion_tokens"] == 9


def test_tool_calls_come_back_in_openai_form_whatever_is_missing(loopback):
    calls = [
        {"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a": "ü"'}},
        {"function": {"name": "g", "arguments": {"b": 2}}},
        {"id": None, "function": {"name": None, "arguments": None}},
        None,
    ]
    loopback.answers = [completion(None, finish="tool_calls", tool_calls=calls)]
    tool = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    reply = connected(loopback).answer(ask(tools=(tool, {"type": "function", "function": tool})))
    assert loopback.seen[0].body["tools"] == [{"type": "function", "function": tool}] * 2
    assert reply.text == "" and reply.finish == "tool_calls"
    named = [
        (c["id"], c["type"], c["function"]["name"], c["function"]["arguments"]) for c in reply.tool_calls
    ]
    assert named == [
        ("x", "function", "f", '{"a": "ü"'),
        ("call_1", "function", "g", '{"b": 2}'),
        ("call_2", "function", "", "{}"),
        ("call_3", "function", "", "{}"),
    ]


@pytest.mark.parametrize(
    ("message", "text", "thought"),
    [
        ({"content": "a", "reasoning_content": "r"}, "a", "r"),
        ({"content": "a", "reasoning": "r"}, "a", "r"),
        ({"content": "<think>r</think>\na"}, "a", "r"),
        ({"content": "r\n</think>\n\na"}, "a", "r"),
        ({"content": "<think>r and on and"}, "", "r and on and"),
        ({"content": "say <think>so</think>"}, "say <think>so</think>", ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
        ({"content": None, "refusal": "I will not."}, "I will not.", ""),
    ],
)
def test_thinking_is_kept_apart_from_the_answer(loopback, message, text, thought):
    loopback.answers = [completion(None, **message)]
    reply = connected(loopback).answer(ask())
    assert (reply.text, reply.reasoning) == (text, thought)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": None}, "x", {"prompt_tokens": -1, "completion_tokens": 2.5}]
)
def test_missing_usage_counts_the_call_and_no_tokens(loopback, usage):
    loopback.answers = [completion("a", usage=usage, finish=None)]
    reply = connected(loopback).answer(ask())
    assert (reply.usage, reply.finish) == (Usage(calls=1), "stop")


def test_half_a_character_is_replaced_on_both_ways(loopback):
    loopback.answers = [completion("a\ud83db")]
    reply = connected(loopback).answer(ask("x\ud83d"))
    reply.text.encode()
    assert loopback.seen[0].last == "x\ufffd" and reply.text == "a\ufffdb"


def test_a_busy_server_is_waited_for_as_long_as_it_asks(loopback):
    loopback.answers = [refusal(429, "slow down", {"retry-after": "1"}), refusal(500, "oops"), DROP]
    begun = time.monotonic()
    assert connected(loopback).answer(ask()).text == "yes"
    assert time.monotonic() - begun >= 1
    assert len(loopback.seen) == 4


@pytest.mark.parametrize(
    ("answer", "times"),
    [
        (refusal(503, "down", {"retry-after-ms": "1"}), 3),
        (refusal(429, "come back tomorrow", {"retry-after": "86400"}), 1),
        (refusal(429, "pay first", code="insufficient_quota"), 1),
        (refusal(403, "no"), 1),
        (refusal(400, "bad"), 1),
    ],
)
def test_trying_again_is_bounded_and_only_where_it_may_help(loopback, answer, times):
    loopback.otherwise = lambda seen: answer
    begun = time.monotonic()
    with pytest.raises(ModelError, match=answer[2]["error"]["message"]):
        connected(loopback, attempts=3).answer(ask())
    assert len(loopback.seen) == times and time.monotonic() - begun < 5


def test_a_server_that_hangs_is_given_up(loopback):
    loopback.otherwise = lambda seen: time.sleep(1) or completion("late")
    with pytest.raises(ModelError, match=r"no answer within 0\.2 s"):
        connected(loopback, timeout=0.2, attempts=2).answer(ask())


@pytest.mark.parametrize(("timeout", "deadline"), [(30.0, 900.0), (36_000.0, 36_000.0)])
def test_who_waits_longer_for_an_answer_is_not_cut_by_the_limit_of_all_attempts(timeout, deadline):
    """On two cores one answer can take half an hour."""
    inner = connect("m", base_url="http://127.0.0.1:9/v1", timeout=timeout).inner
    assert isinstance(inner, OpenAIModel)
    assert (inner.server.timeout, inner.server.deadline) == (timeout, deadline)


def test_a_server_that_is_not_there_is_told_soon_and_with_its_url():
    begun = time.monotonic()
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached"):
        OpenAIModel("m", base_url="http://127.0.0.1:9/v1").answer(ask())
    assert time.monotonic() - begun < 5


def test_an_unknown_model_is_told_with_those_that_are_known(loopback):
    loopback.otherwise = lambda seen: refusal(404, "model 'm' not found")
    loopback.models = {"data": [{"id": "qwen"}, {"id": "llama"}]}
    with pytest.raises(ModelError, match=r"The server has: llama, qwen\."):
        connected(loopback).check()


@pytest.mark.parametrize("models", [None, {"data": None}, b"<html>"])
def test_an_unknown_model_on_a_server_that_tells_nothing(loopback, models):
    loopback.otherwise = lambda seen: refusal(404, "nope")
    loopback.models = models
    with pytest.raises(ModelError, match="not known there"):
        connected(loopback).answer(ask())


@pytest.mark.parametrize(
    "answer", [b"<html>a proxy</html>", {}, {"choices": []}, {"error": "x"}, [], {"choices": [{}]}]
)
def test_an_answer_that_is_no_completion_is_told(loopback, answer):
    loopback.answers = [answer]
    with pytest.raises(ModelError, match="expected a chat completion"):
        connected(loopback).answer(ask())


def test_no_key_and_no_server_says_what_to_set(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError, match=r"OPENAI_API_KEY.*base_url.*builtin"):
        OpenAIModel("gpt-4.1")


def test_a_server_of_ones_own_needs_no_key(loopback):
    assert connected(loopback, api_key=None).answer(ask()).text == "yes"


def test_the_key_is_in_no_error_log_repr_or_pickle(loopback, caplog):
    caplog.set_level(logging.DEBUG)
    loopback.otherwise = lambda seen: refusal(401, f"Incorrect API key provided: {KEY} or sk-other***1234")
    url = loopback.url.replace("http://", "http://user:pass-word@")
    model = OpenAIModel("m", base_url=url, api_key=KEY)
    with pytest.raises(ModelError, match="refuses the key") as caught:
        model.answer(ask())
    shown = "".join(traceback.format_exception(caught.value)) + repr(model) + repr(model.server) + caplog.text
    for secret in (KEY, "pass-word", "sk-other"):
        assert secret not in shown
    with pytest.raises(TypeError):
        pickle.dumps(model)


def test_a_login_in_the_url_goes_into_the_header(loopback):
    OpenAIModel("m", base_url=loopback.url.replace("http://", "http://us%40er:pw@")).answer(ask())
    assert loopback.seen[0].headers["authorization"] == "Basic dXNAZXI6cHc="


def test_many_threads_share_one_model(loopback):
    loopback.otherwise = lambda seen: completion(seen.last)
    model, said = connected(loopback), {}

    def work(i: int) -> None:
        said[i] = model.answer(ask(str(i))).text

    threads = [threading.Thread(target=work, args=(i,)) for i in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {i: str(i) for i in range(24)}
    assert json.dumps(sorted(int(seen.last) for seen in loopback.seen)) == json.dumps(list(range(24)))


@pytest.mark.parametrize(
    "url", ["http://[::1", "localhost:8000", "ftp://localhost/v1", "http://", "http://a:99999/v1"]
)
def test_a_base_url_that_is_none_is_told_at_once(url: str) -> None:
    with pytest.raises(ModelError, match="base_url"):
        OpenAIModel("m", base_url=url)


@pytest.mark.parametrize("key", ["cl\u00e9", "a\nb"])
def test_a_key_that_no_header_can_hold_is_told_and_not_shown(key: str) -> None:
    with pytest.raises(ModelError, match="key") as told:
        OpenAIModel("m", base_url="http://localhost:1/v1", api_key=key)
    assert key not in str(told.value)
