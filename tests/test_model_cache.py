"""The memory of replies: nothing answered is asked twice, whatever dies in between."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from loopback import completion, loopback_server  # noqa: F401

from envscaler.error import CacheMiss, ModelError, ParameterError, StoreError
from envscaler.model.cache import CachedModel, Memory, ReplyCache, cache_path
from envscaler.model.connect import connect
from envscaler.model.request import Reply, Request
from envscaler.model.scripted import RecordedModel, ScriptedModel
from envscaler.schema import Usage


def request(text: str = "hello", **fields) -> Request:
    return Request("tasks/judge", ({"role": "user", "content": text},), **fields)


def echo(asked: Request) -> Reply:
    return Reply(asked.messages[-1]["content"], usage=Usage(calls=1, input_tokens=2, output_tokens=3))


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "cache" / "m.sqlite"


def test_a_reply_comes_back_whole_and_costs_nothing_the_second_time(path):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    first = Reply("té\ud83d", "why", (call,), Usage(calls=1, input_tokens=5), "tool_calls")
    inner = ScriptedModel([first])
    model = CachedModel(inner, path=path)
    assert model.answer(request()) == first
    again = CachedModel(ScriptedModel([]), path=path).answer(request())
    assert (again.text, again.reasoning, again.tool_calls, again.finish) == (
        "té\ud83d",
        "why",
        (call,),
        "tool_calls",
    )
    assert again.usage == Usage()


@pytest.mark.parametrize(
    "other",
    [
        request("hello!"),
        request(sample=1),
        request(settings={"temperature": 1}),
        request(schema={"type": "object"}),
        request(tools=({"name": "f"},)),
        Request("tasks/other", request().messages),
    ],
)
def test_whatever_is_asked_otherwise_is_another_request(other):
    assert other.key("m") != request().key("m")


def test_the_key_knows_the_model_and_not_the_order_of_settings():
    one, two = request(settings={"a": 1, "b": 2}), request(settings={"b": 2, "a": 1})
    assert one.key("m") == two.key("m") != one.key("n")
    assert len(one.key("m")) == 64


def test_the_seed_of_a_model_is_part_of_what_is_asked(path):
    inner = ScriptedModel(["a", "b"])
    said = [
        CachedModel(inner, path=path, settings={"seed": s} if s else None).answer(request()).text
        for s in (0, 1, 0)
    ]
    assert said == ["a", "b", "a"]
    assert inner.requests[1].settings == {"seed": 1}


def test_a_model_that_tells_no_usage_is_counted_all_the_same(path):
    model = CachedModel(ScriptedModel([Reply("a")]), path=path)
    assert model.answer(request()).usage == Usage(calls=1)
    assert model.ledger.total.calls == 1


def test_the_modes(path):
    inner = ScriptedModel(["old", "new", "newer"])
    with pytest.raises(CacheMiss, match=r"tasks/judge.*read_write"):
        CachedModel(inner, mode="replay_only", path=path).answer(request())
    assert not path.exists()
    said = [
        CachedModel(inner, mode=mode, path=path).answer(request()).text
        for mode in ("off", "refresh", "refresh")
    ]
    assert said == ["old", "new", "newer"]
    assert CachedModel(inner, mode="replay_only", path=path).answer(request()).text == "newer"
    with pytest.raises(ParameterError, match="read_write"):
        CachedModel(inner, mode="sometimes", path=path)


def test_an_error_is_not_remembered(path):
    model = CachedModel(ScriptedModel([ModelError("busy"), "fine"]), path=path)
    with pytest.raises(ModelError, match="busy"):
        model.answer(request())
    assert model.answer(request()).text == "fine"


def test_the_same_request_in_flight_is_asked_once(path):
    release, entered = threading.Event(), threading.Event()

    def slow(asked: Request) -> Reply:
        entered.set()
        assert release.wait(5)
        return echo(asked)

    model, said = CachedModel(ScriptedModel(slow), path=path), []
    threads = [threading.Thread(target=lambda: said.append(model.answer(request()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert entered.wait(5)
    time.sleep(0.05)
    release.set()
    for thread in threads:
        thread.join()
    assert [reply.text for reply in said] == ["hello"] * 8
    assert len(model.inner.requests) == 1 and sum(reply.usage.calls for reply in said) == 1
    row = model.ledger.frame().iloc[0]
    assert (row["calls"], row["cached"], row["input_tokens"]) == (1, 7, 2)


def test_an_error_in_flight_reaches_all_who_wait_and_frees_the_request(path):
    release = threading.Event()
    failures: list[Exception] = []

    def fail(asked: Request) -> Reply:
        release.wait(5)
        raise ModelError("down")

    model = CachedModel(ScriptedModel(fail), path=path)

    def work() -> None:
        try:
            model.answer(request())
        except ModelError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    release.set()
    for thread in threads:
        thread.join(5)
    assert len(failures) == 4
    model.inner._function = echo
    assert model.answer(request()).text == "hello"


def test_many_threads_and_two_processes_worth_of_connections(path):
    caches = [ReplyCache(path), ReplyCache(path)]

    def work(start: int) -> None:
        for i in range(start, start + 25):
            caches[i % 2].put(f"k{i}", "s", Reply(str(i)))
            assert caches[(i + 1) % 2].get(f"k{i}").text == str(i)

    threads = [threading.Thread(target=work, args=(25 * t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(caches[0]) == 100


@pytest.mark.parametrize(
    "content",
    [b"this is no database, and longer than a header of one" * 20, b"SQLite format 3\x00" + b"\xff" * 4096],
)
def test_a_file_that_is_no_cache_is_told(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"m\.sqlite.*Move the file away"):
        CachedModel(ScriptedModel(["a"]), path=path).answer(request())
    assert path.read_bytes() == content


@pytest.mark.parametrize("value", [b"{", b"[]", b"{}", b"\xff"])
def test_a_row_that_is_no_reply_is_told(path, value):
    Memory(path).put([(request().key("scripted"), "s", value)])
    with pytest.raises(StoreError, match="Move the file away"):
        CachedModel(ScriptedModel(["a"]), path=path).answer(request())


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        CachedModel(ScriptedModel(["a"]), path=tmp_path / "file" / "m.sqlite").answer(request())


def test_a_new_cache_may_be_opened_by_many_at_once(tmp_path):
    failures: list[Exception] = []

    def work(memory: Memory, barrier: threading.Barrier) -> None:
        barrier.wait()
        try:
            memory.put([(str(id(memory)), "s", b"x")])
        except StoreError as error:
            failures.append(error)

    for i in range(20):
        barrier, memories = threading.Barrier(6), [Memory(tmp_path / f"{i}.sqlite") for _ in range(6)]
        threads = [threading.Thread(target=work, args=(memory, barrier)) for memory in memories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures and len(memories[0].rows()) == 6


def test_a_cache_that_another_process_holds_is_told_as_such(path):
    Memory(path).put([("a", "s", b"x")])
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    memory = Memory(path)
    assert memory.get(["a"]) == {"a": b"x"}
    memory._connection.execute("PRAGMA busy_timeout=50")
    with pytest.raises(StoreError, match="Another process holds it"):
        memory.put([("b", "s", b"y")])


def test_rows_are_put_all_or_none(path):
    memory = Memory(path)
    with pytest.raises(StoreError):
        memory.put([("a", "s", b"1"), ("b", "s", None)])
    assert memory.rows() == []
    memory.put([("c", "s", b"2")])
    assert sqlite3.connect(path).execute("SELECT COUNT(*) FROM memory").fetchone() == (1,)


def test_an_export_can_be_played_again_and_holds_no_secret(path, tmp_path, loopback):
    model = connect("m", base_url=loopback.url, api_key="sk-secret-key")
    model.cache = ReplyCache(path)
    said = model.answer(request()).text
    exported = model.cache.export(tmp_path / "replies.jsonl")
    recorded = RecordedModel(exported, "m")
    assert recorded.answer(request()).text == said
    with pytest.raises(CacheMiss, match="tasks/judge"):
        recorded.answer(request("other"))
    with pytest.raises(CacheMiss):
        RecordedModel(exported, "n").answer(request())
    for content in (exported.read_bytes(), path.read_bytes(), path.with_name("m.sqlite-wal").read_bytes()):
        assert b"sk-secret" not in content and b"127.0.0.1" not in content
    (tmp_path / "bad.jsonl").write_text('{"key": "k"}\n')
    with pytest.raises(StoreError, match=r"bad\.jsonl"):
        RecordedModel(tmp_path / "bad.jsonl", "m")


def test_the_default_file_lies_under_build(home):
    assert cache_path("org/model:7b") == home / "build" / "cache" / "org-model-7b.sqlite"


def test_replay_needs_no_key(home, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = connect("gpt-4.1", cache="replay_only")
    model.check()
    with pytest.raises(CacheMiss):
        model.answer(request())
    assert not (home / "build").exists()


WORK = """
import sys
from concurrent.futures import ThreadPoolExecutor
from envscaler.model.connect import connect
from envscaler.model.request import Request
model = connect("m", base_url=sys.argv[1], timeout=10)
ask = lambda i: model.answer(Request("tasks/judge", ({"role": "user", "content": f"question {i}"},))).text
with ThreadPoolExecutor(4) as pool:
    for text in pool.map(ask, range(60)):
        print(text, flush=True)
"""


def test_after_a_kill_nothing_that_was_answered_is_asked_again(loopback, home):
    lock, answered = threading.Lock(), Counter()

    def slowly(seen):
        time.sleep(0.02)
        with lock:
            answered[seen.last] += 1
        return completion(f"answer to {seen.last}")

    loopback.otherwise = slowly
    command = [sys.executable, "-c", WORK, loopback.url]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    shown = [first.stdout.readline().strip() for _ in range(25)]
    first.send_signal(signal.SIGKILL)
    shown += [line.strip() for line in first.stdout.read().splitlines()]
    assert first.wait() == -signal.SIGKILL and len(shown) < 60
    time.sleep(0.3)  # what is in flight at the server ends there

    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert second.stdout.splitlines() == [f"answer to question {i}" for i in range(60)]
    assert set(answered) == {f"question {i}" for i in range(60)}
    # Whatever had been returned was on disk; only the four in flight may have been asked again.
    assert all(answered[text.removeprefix("answer to ")] == 1 for text in shown)
    assert sum(answered.values()) <= 64

    third = subprocess.run(command, capture_output=True, text=True, check=True)
    assert third.stdout == second.stdout and sum(answered.values()) <= 64
    assert json.dumps(third.stderr) == '""'
