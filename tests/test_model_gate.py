"""The gate before a server: open until it is busy, shut while it asks for that, narrower afterwards, never stuck."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from loopback import Loopback, completion, loopback_server, refusal  # noqa: F401

from envscaler.error import ModelError
from envscaler.model.client import OpenAIModel
from envscaler.model.gate import Gate
from envscaler.model.request import Request


def ask(model: OpenAIModel, n: int = 0) -> str:
    return model.answer(Request("s", ({"role": "user", "content": f"question {n}"},))).text


def test_a_gate_is_open_until_the_server_is_busy() -> None:
    gate = Gate()
    inside = threading.Barrier(50, timeout=10)

    def enter(_: int) -> None:
        with gate.passing():
            inside.wait()

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(enter, range(50)))
    assert gate.width == float("inf")


def test_one_busy_answer_is_one_cut_and_answers_widen_the_gate_again() -> None:
    gate = Gate()
    with gate.passing(), gate.passing(), gate.passing(), gate.passing():
        gate.busy(0.05)
        gate.busy(0.05)
    narrow = gate.width
    assert 1 <= narrow < 4
    for _ in range(30):
        with gate.passing():
            pass
    assert gate.width > narrow + 2


def test_while_it_is_shut_nobody_goes_through_and_afterwards_no_more_than_its_width() -> None:
    gate, most, now = Gate(), 0, 0
    lock = threading.Lock()
    with gate.passing(), gate.passing():
        gate.busy(0.2)
    begun = time.monotonic()
    first: list[float] = []

    def enter(_: int) -> None:
        nonlocal most, now
        with gate.passing():
            first.append(time.monotonic() - begun)
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.01)
            with lock:
                now -= 1

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(enter, range(16)))
    assert min(first) >= 0.19 and most <= 7, (
        "two were inside when it was cut; each answer widens it by less than one"
    )


def test_an_error_inside_gives_the_place_back() -> None:
    gate = Gate()
    with gate.passing():
        gate.busy(0)
    for _ in range(5):
        with pytest.raises(ZeroDivisionError), gate.passing():
            1 / 0  # noqa: B018
    with gate.passing():
        pass


def test_a_busy_server_gets_every_call_in_the_end_and_fewer_at_once(loopback: Loopback) -> None:
    inside, lock = [0, 0], threading.Lock()

    def crowded(seen: object) -> object:
        """Refuses whoever comes while three are inside."""
        with lock:
            inside[0] += 1
            full = inside[0] > 3
            inside[1] += full
        time.sleep(0.02)
        with lock:
            inside[0] -= 1
        return refusal(429, "slow down", {"retry-after-ms": "50"}) if full else completion("yes")

    loopback.otherwise = crowded
    model = OpenAIModel("m", base_url=loopback.url, workers=16)
    model.server.attempts = 50
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda n: ask(model, n), range(80))) == {"yes"}
    assert model.server.gate.width < 16
    assert inside[1] < 80, f"{inside[1]} refusals for 80 calls: nothing was learned of the first ones"


def test_a_deadline_ends_all_attempts_together(loopback: Loopback) -> None:
    loopback.otherwise = lambda seen: refusal(503, "later", {"retry-after": "1"})
    model = OpenAIModel("m", base_url=loopback.url, deadline=1.5)
    begun = time.monotonic()
    with pytest.raises(ModelError, match="later"):
        ask(model)
    assert time.monotonic() - begun < 3
    assert 1 <= len(loopback.seen) <= 2
