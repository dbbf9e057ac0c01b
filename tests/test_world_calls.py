"""Several calls at once: as if each were made by itself, whatever goes wrong among them."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.error import EnvironmentLost
from envscaler.schema import Call, Skeleton, Tool
from envscaler.world.arguments import ArgumentsOf
from envscaler.world.environment import Environment
from envscaler.world.source import read_tools
from envscaler.world.tree import packed_code
from envscaler.world.witness import Branches, play

SOURCE = '''
import random, time

class Counter:
    """Counts."""

    def __init__(self):
        self.total = 0
        self.seen = {}
        self.drawn = []

    def add(self, amount: int) -> dict:
        """Add an amount.

        Args:
            amount: how much.
        """
        self.total += amount
        self.seen[f"N{len(self.seen)}"] = {"amount": amount, "at": time.time()}
        return {"success": True, "id": f"N{len(self.seen) - 1}", "total": self.total}

    def draw(self) -> dict:
        """Draw a number."""
        self.drawn.append(random.randrange(1000))
        return {"success": True, "number": self.drawn[-1]}

    def drop(self, id: str) -> dict:
        """Drop one.

        Args:
            id: which.
        """
        del self.seen[id]
        return {"success": True}

    def rest(self, seconds: float) -> dict:
        """Wait.

        Args:
            seconds: how long.
        """
        time.sleep(seconds)
        return {"success": True, "now": time.time()}

    def half(self, amount: int) -> dict:
        """Change something, then fail.

        Args:
            amount: how much.
        """
        self.total += amount
        raise RuntimeError("half done")

    def spin(self) -> dict:
        """Never come back."""
        while True:
            self.total += 1
'''

TELLER = '''
class Teller:
    """Tells."""

    def __init__(self):
        self.told = 0

    def tell(self, size: int) -> str:
        """Tell.

        Args:
            size: how much.
        """
        self.told += 1
        return "x" * size
'''


def a_world(name: str, source: str) -> Skeleton:
    fields = {"class_name": name, "source": source, "tools": read_tools(source, name)}
    return Skeleton(theme_id="", title=name, summary="A world.", state=[], rules=[], **fields)


@pytest.fixture(scope="module")
def counter() -> Skeleton:
    return a_world("Counter", SOURCE)


some_call = st.one_of(
    st.builds(lambda n: ("add", {"amount": n}), st.integers(-5, 5)),
    st.just(("draw", {})),
    st.builds(lambda n: ("drop", {"id": f"N{n}"}), st.integers(0, 4)),
    st.builds(lambda s: ("rest", {"seconds": s}), st.floats(0, 9e4, allow_nan=False)),
    st.builds(lambda n: ("half", {"amount": n}), st.integers(1, 3)),
    st.sampled_from([("add", {"amount": "much"}), ("nothing", {}), ("add", "{"), ("add", {})]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(some_call, max_size=12))
def test_at_once_is_one_by_one(counter: Skeleton, calls: list) -> None:
    with Environment(counter) as together, Environment(counter) as alone:
        at_once = together.calls(calls)
        one_by_one = [(alone.call(*call), alone.diff, alone.hung) for call in calls]
        assert at_once == one_by_one
        assert together.state == alone.state
        assert together.call("draw") == alone.call("draw")  # chance and clock stand where they stood
        assert together.call("rest", {"seconds": 1.0}) == alone.call("rest", {"seconds": 1.0})


def test_one_that_hangs_is_found_and_the_others_are_made(counter: Skeleton) -> None:
    calls = [("add", {"amount": 1}), ("spin", {}), ("add", {"amount": 2}), ("add", {"amount": 3})]
    with Environment(counter, timeout=0.3) as environment:
        made = environment.calls(calls)
        assert [hung for _, _, hung in made] == [False, True, False, False]
        assert environment.state["total"] == 6


def test_too_many_that_hang_lose_the_environment(counter: Skeleton) -> None:
    with Environment(counter, timeout=0.2) as environment, pytest.raises(EnvironmentLost):
        environment.calls([("add", {"amount": 1})] + 4 * [("spin", {})])


def test_replies_too_large_to_come_together_come_one_by_one() -> None:
    with Environment(a_world("Teller", TELLER)) as environment:
        made = environment.calls([("tell", {"size": 3 * 2**20})] * 4)
        assert [len(reply) for reply, _, _ in made] == [3 * 2**20] * 4
        assert environment.state["told"] == 4


def test_after_going_back_the_first_call_is_made_from_there(counter: Skeleton) -> None:
    with Environment(counter) as environment:
        environment.call("add", {"amount": 1})
        moment = environment.snapshot(near=True)
        first = [environment.call("draw"), environment.call("add", {"amount": 5})]
        for _ in range(2):
            environment.restore(moment)
            assert environment.state["total"] == 1
            assert [
                reply for reply, _, _ in environment.calls([("draw", {}), ("add", {"amount": 5})])
            ] == first
        environment.restore(moment)
        reply, _, state = environment.attempt("add", {"amount": 2})
        assert (reply["total"], state["total"], environment.state["total"]) == (3, 3, 1)
        environment.restore(moment)
        again = environment.snapshot(near=True)  # a moment taken right after going back
        environment.call("add", {"amount": 9})
        environment.restore(again)
        assert environment.call("add", {"amount": 1})["total"] == 2


def test_references_to_calls_made_together_wait_for_their_replies(counter: Skeleton) -> None:
    witness = [
        Call(tool="add", arguments={"amount": 2}),
        Call(tool="add", arguments={"amount": {"$from": [0, "total"]}}),
        Call(tool="drop", arguments={"id": {"$from": [1, "id"]}}),
        Call(tool="add", arguments={"amount": {"$from": [9, "total"]}}),
        Call(tool="add", arguments={"amount": {"$from": [1, "nothing"]}}),
        Call(tool="draw", arguments={}),
    ]
    with Environment(counter) as environment:
        played = play(environment, witness)
        assert [call.arguments for call in played.calls[:3]] == [{"amount": 2}, {"amount": 2}, {"id": "N1"}]
        assert played.refused == 3
        assert "leads nowhere" in played.replies[3]["error"] and "leads nowhere" in played.replies[4]["error"]
        assert environment.state["total"] == 4 and list(environment.state["seen"]) == ["N0"]
    with Environment(counter) as environment:
        branches = Branches(environment, witness[:3])
        branch = branches.go_on(1, [Call(tool="add", arguments={"amount": 7}), witness[2]])
        assert branch is not None and branch.final["total"] == 9 and branch.refused is None


HIDDEN = '''
import itertools

class Hidden:
    """Has an attribute that is not followed."""

    def __init__(self):
        self._ids = itertools.count(1)
        self.rows = {}

    def add(self, text: str, fail: bool = False) -> dict:
        """Add one.

        Args:
            text: what.
            fail: whether to fail.
        """
        key = f"R{next(self._ids)}"
        self.rows[key] = {"length": len(text)}
        if fail:
            raise ValueError(text)
        return {"success": True, "id": key}
'''


def test_one_that_raises_is_run_once() -> None:
    calls = [("add", {"text": "a"}), ("add", {"text": "b", "fail": True}), ("add", {"text": "c"})]
    with Environment(a_world("Hidden", HIDDEN)) as together, Environment(a_world("Hidden", HIDDEN)) as alone:
        assert together.calls(calls) == [(alone.call(*call), alone.diff, alone.hung) for call in calls]
        assert together.state == alone.state and list(alone.state["rows"]) == ["R1", "R3"]


def test_what_is_seen_afterwards_is_of_the_last_call(counter: Skeleton) -> None:
    bad, good = ("half", {"amount": 1}), ("add", {"amount": 1})
    with Environment(counter) as together, Environment(counter) as alone:
        for calls in ([good, good], [bad, good, good], [good, good, bad], [good, ("add", "{")], [bad, bad]):
            together.calls(calls)
            for call in calls:
                alone.call(*call)
            assert (together.diff, together.faults, together.hung) == (alone.diff, alone.faults, alone.hung)


def test_arguments_too_large_to_be_sent_together_are_sent_one_by_one() -> None:
    source = TELLER.replace("size: int", "size: str").replace('"x" * size', "str(len(size))")
    with Environment(a_world("Teller", source)) as environment:
        moment = environment.snapshot(near=True)
        environment.call("tell", {"size": ""})
        environment.restore(moment)
        made = environment.calls([("tell", {"size": "x" * 990_000})] * 9)
        assert [reply for reply, _, _ in made] == ["990000"] * 9
        assert environment.state["told"] == 9


def test_a_worker_that_is_gone_after_going_back_is_replaced_by_one_that_stands_there(
    counter: Skeleton,
) -> None:
    with Environment(counter) as environment:
        environment.call("add", {"amount": 1})
        moment = environment.snapshot(near=True)
        environment.call("add", {"amount": 5})
        environment.restore(moment)
        worker = environment._live._worker
        assert worker is not None
        worker.kill()
        assert environment.call("add", {"amount": 2})["total"] == 3
        assert environment.faults == []


def test_arguments_that_only_look_alike_as_text_are_judged_by_themselves() -> None:
    parameters = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}
    reader = ArgumentsOf(Tool(name="t", description="T.", parameters=parameters, mutates=False))
    wrong = reader.read({"rows": (1, 2)})[1]
    assert wrong and reader.read({"rows": [1, 2]})[1] == ""
    assert reader.read({"rows": (1, 2)})[1] == wrong
    assert reader.read({"rows": [True]})[1] and reader.read({"rows": [1.0]}) == ({"rows": [1]}, "")


def test_a_reference_in_an_argument_named_like_one_is_waited_for() -> None:
    said = {"$from": [{"$from": [0, "id"]}]}
    witness = [Call(tool="add", arguments={"text": "a"}), Call(tool="add", arguments=said)]
    with Environment(a_world("Hidden", HIDDEN)) as environment:
        assert play(environment, witness).calls[1].arguments == {"$from": ["R1"]}


def test_code_that_grows_when_compiled_is_not_compiled_here() -> None:
    levels = range(16)
    bomb = (
        "".join(f"{' ' * n}try:\n{' ' * n} pass\n{' ' * n}finally:\n" for n in levels) + " " * 16 + "pass\n"
    )
    assert packed_code(bomb) == "" and packed_code("x = 1") != ""
    assert [packed_code(source) for source in ("return 1", "await x", "x = (", "a\0b", "\ud800 = 1")] == [
        ""
    ] * 5


def test_doubtful_code_prints_nothing() -> None:
    doubtful = "x = 1 is 1\nassert (x, 1)\n1if x else 2"
    code = f"from envscaler.world.tree import packed_code; assert packed_code({doubtful!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
