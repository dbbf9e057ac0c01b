"""A full live run, rehearsed at small size: no crash, no lost row, the built-in run's records where nothing struck."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback import DROP, Seen, completion
from rehearsing import SEED_BASE, STAGES, Fallible, Size, openings, rehearse, step_of
from spoiling import SHAPES, spoilt

from envscaler.model import prompt
from envscaler.model.reply import JsonObject, parse
from envscaler.model.request import Reply
from envscaler.model.wire import reply_of


class WordEncoder:
    """Vectors by the words of a text: enough to tell worlds apart, and loaded at once."""

    name = "words"

    def encode(self, texts: Any) -> np.ndarray:
        rows = np.zeros((len(texts), 128), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[hashlib.sha256(word.encode()).digest()[0] % 128] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_a_live_run_loses_nothing_and_makes_what_the_built_in_run_makes(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    size = Size(environments=2, scenarios=1, rollouts=8, requests=10, rounds=2)
    run = rehearse(size, WordEncoder(), fault_rate=0.05)
    rows = {row["stage"]: row for row in run.funnel()}
    assert list(rows) == list(STAGES)
    for stage, row in rows.items():
        assert row["lost"] == 0, stage
        assert row["out"], f"{stage} made nothing: {run.live[stage].failures}"
        # Trouble of the network is asked away: it may cost a record, but never change one.
        assert not row.get("clean, differs") and not row.get("network, differs"), row
        assert not row.get("clean, failed"), row
    assert sum(row.get("clean, same", 0) for row in rows.values())
    assert run.replies()["same"] > 50 and not run.replies()["differs"]
    assert any(what.startswith("error") for what in run.server.counts)
    assert sum(": " in what for what in run.server.counts) > 5, "hardly a hostile reply"


def body_of(step: str, text: str = "Please move my booking to Friday.") -> dict[str, Any]:
    variables = dict.fromkeys(prompt.load(step).variables, text)
    return {"messages": list(prompt.render(step, variables)), "seed": SEED_BASE}


@pytest.mark.parametrize("step", prompt.steps())
def test_a_step_is_known_by_its_messages(step: str) -> None:
    assert step_of(body_of(step)["messages"], openings()) == step


def test_what_is_no_step_is_no_step() -> None:
    assert step_of([{"role": "user", "content": "Answer with the one word: yes"}], openings()) == ""


def test_the_lot_hangs_on_content_and_attempt_alone() -> None:
    def answers(order: list[int]) -> dict[tuple[int, int], Any]:
        server = Fallible(hang_seconds=0.0, hostile=0.3, errors=0.2, hangs=0.1, seed=3)
        told: dict[tuple[int, int], Any] = {}
        for number in order:
            attempt = sum(n == number for n, _ in told)
            body = body_of("tasks/judge", f"Please move booking {number}.")
            told[number, attempt] = server.respond(Seen("/v1/chat/completions", {}, body))
        assert server.counts
        return told

    forward = [*range(20), *range(20)]
    first = answers(forward)
    assert first == answers(forward[::-1])
    assert any(answer is DROP or isinstance(answer, tuple) for answer in first.values())


GOOD = {
    "json": Reply('{"reason": "it keeps loans", "count": 2, "stateful": true}'),
    "code": Reply('```python\ndef count(self, n: int) -> dict:\n    """Count."""\n    return {"n": n}\n```'),
    "words": Reply('<tool_call>\n{"name": "look", "arguments": {"id": "B-1", "all": true}}\n</tool_call>'),
    "call": Reply(
        "",
        tool_calls=(
            {"id": "call_0", "type": "function", "function": {"name": "look", "arguments": '{"id": "B-1"}'}},
        ),
    ),
}


@pytest.mark.parametrize(("kind", "shape"), [(kind, shape) for kind in SHAPES for shape in SHAPES[kind]])
def test_a_shape_differs_from_the_good_answer_and_is_still_a_completion(kind: str, shape: str) -> None:
    made = spoilt(kind, shape, GOOD[kind])
    good = completion(
        GOOD[kind].text or None, finish=GOOD[kind].finish, tool_calls=list(GOOD[kind].tool_calls)
    )
    assert made["choices"] != good["choices"]
    assert isinstance(reply_of(json.dumps(made).encode(), "here"), Reply)


@pytest.mark.parametrize(
    "shape", ["fence", "prose around", "comma at the end", "literals of Python", "curly quotes"]
)
def test_a_mended_shape_gives_the_good_answer(shape: str) -> None:
    read = reply_of(json.dumps(spoilt("json", shape, GOOD["json"])).encode(), "here")
    assert parse(read, JsonObject) == json.loads(GOOD["json"].text)
