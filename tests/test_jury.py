"""What a jury holds: values whole or as differences, in messages that fit, over the loss of its worker."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.world import jury as module
from envscaler.world.change import same
from envscaler.world.jury import Jury, held_once
from envscaler.world.sandbox.worker import Worker

SEES = "def check_func(final_state):\n    return final_state == {state!r}"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
STATES = st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3)


def put_together(values: dict) -> dict:
    """What a worker makes of the messages."""
    worker = Worker()
    for message in module._messages(values):
        worker.answer({"id": 1, "do": "hold", **msgspec.json.decode(msgspec.json.encode(message))})
    return worker._held


@given(st.lists(STATES | VALUES, max_size=6))
@settings(max_examples=100, deadline=None)
def test_what_is_sent_as_differences_is_put_together_again(states: list) -> None:
    values = {str(number): state for number, state in enumerate(states)}
    assert same(put_together(values), values)


def test_tables_that_are_equal_are_sent_once() -> None:
    table = {f"k{n}": {"x": n} for n in range(200)}
    values = {"0": {"big": table, "n": 0}, "1": {"big": dict(table), "n": 1}, "2": {"big": table}}
    [message] = module._messages(values)
    assert list(message["values"]) == ["0"] and all(
        len(bytes(raw)) < 80 for raw in message["changes"].values()
    )


def test_messages_are_split_where_they_would_grow_too_large(monkeypatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 100)
    states = [{"t": {"x": n, "text": "y" * 40}} for n in range(9)]
    values = {str(number): state for number, state in enumerate(states)}
    assert len(list(module._messages(values))) > 3 and same(put_together(values), values)
    with Jury(values, [[name] for name in values], timeout=2.0, isolation="auto") as jury:
        [column] = jury.ask("check_func", [SEES.format(state=states[4])])
    assert [answer["passed"] for answer in column] == [number == 4 for number in range(9)]


def test_other_values_are_held_after_a_worker_was_lost() -> None:
    hang = "def check_func(final_state):\n    while final_state: pass\n    return True"
    with Jury({"x": {"n": 1}}, [["x"]], timeout=0.3, isolation="auto") as jury:
        assert jury.ask("check_func", [hang])[0][0]["passed"] is None
        jury.hold({"x": {}, "y": {"n": 2}}, [["x"], ["y"]])
        assert [a["passed"] for a in jury.ask("check_func", [SEES.format(state={"n": 2})])[0]] == [
            False,
            True,
        ]
        assert jury.ask("check_func", [hang])[0][0]["passed"] is True
        assert jury.ask("check_func", []) == []


def test_a_value_that_comes_again_is_held_once_and_one_that_is_made_on_the_way_is_kept() -> None:
    state = {"things": {}}
    values, runs = held_once((state, {**state, "n": n}, {"n": n}) for n in range(50))
    assert [[values[name] for name in run] for run in runs] == [
        [state, {"things": {}, "n": n}, {"n": n}] for n in range(50)
    ]
    assert len({run[0] for run in runs}) == 1 and len(values) == 101
