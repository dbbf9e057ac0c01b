"""Arguments to try: they fit their schemas whatever the state, belong together, and come to the edges."""

import os
import random
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from envscaler.schema import Tool
from envscaler.world.arguments import ArgumentsOf
from envscaler.world.trials.trying import Hand, Values, is_dated, kinds_of, means, named_in, shifted

ROOT = Path(__file__).resolve().parents[1]
STATE = {
    "today": "2025-03-10",
    "rooms": {f"R-{n}": {"room_id": f"R-{n}", "beds": n, "wing": "north"} for n in range(1, 4)},
    "stays": {
        f"S-{n}": {
            "stay_id": f"S-{n}",
            "room_id": f"R-{n}",
            "guest": "Ada",
            "from_day": "2025-03-12",
            "note": "",
        }
        for n in range(1, 4)
    },
}
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"},
            {"type": "string", "enum": ["a", "b"]}, {"type": "integer", "minimum": 2, "maximum": 5},
            {"type": "object"},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda s: {"type": "array", "items": s}, inner),
        st.builds(lambda s: {"type": "object", "properties": {"x": s}}, inner),
    ),
    max_leaves=3,
)  # fmt: skip
NAMES = st.sampled_from(["room_id", "stay_ids", "guest", "from_day", "until", "note", "data", "count"])


def tool_of(properties: dict, required: list[str]) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": required}
    return Tool(name="try_it", parameters=parameters, mutates=True)


@given(st.dictionaries(NAMES, SCHEMAS, max_size=4), st.integers(0, 1000))
def test_what_is_drawn_is_an_object_of_declared_arguments_with_all_that_are_required(
    properties: dict, seed: int
) -> None:
    required = sorted(properties)[:2]
    hand = Hand(tool_of(properties, required), Values(STATE), random.Random(seed))
    for made in (hand.fresh(), hand.near(hand.fresh()), *hand.neighbours(hand.fresh())):
        assert set(required) <= made.keys() <= properties.keys()


def test_most_of_what_is_drawn_fits_its_schema() -> None:
    tool = tool_of(
        {"room_id": {"type": "string"}, "beds": {"type": "integer"}, "note": {"type": "string"}}, ["room_id"]
    )
    hand, reader = Hand(tool, Values(STATE), random.Random(0)), ArgumentsOf(tool)
    assert all(not reader.read(hand.fresh())[1] for _ in range(100))


def test_arguments_of_one_call_belong_together() -> None:
    tool = tool_of({"stay_id": {"type": "string"}, "room_id": {"type": "string"}}, ["stay_id", "room_id"])
    hand = Hand(tool, Values(STATE), random.Random(0))
    drawn = [(made["stay_id"], made["room_id"]) for made in (hand.fresh() for _ in range(300))]
    known = [(stay, room) for stay, room in drawn if stay in STATE["stays"] and room in STATE["rooms"]]
    together = sum(STATE["stays"][stay]["room_id"] == room for stay, room in known)
    assert len(known) > 150 and together > len(known) / 2, "a third would be chance"


def test_edges_are_visited_one_after_another() -> None:
    described = {"type": "integer", "description": "How many, 2 to 7."}
    hand = Hand(tool_of({"count": described}, ["count"]), Values(STATE), random.Random(0))
    tried = {made["count"] for made in hand.neighbours({"count": 3})}
    assert {0, -1, 1} <= tried
    assert {made["count"] for _ in range(300) for made in [hand.near({"count": 3})]} >= {1, 2, 7, 8, 3}


def test_the_same_chance_draws_the_same() -> None:
    tool = tool_of({"room_id": {"type": "string"}, "from_day": {"type": "string"}}, ["room_id"])
    one, two = (Hand(tool, Values(STATE), random.Random(5)) for _ in range(2))
    assert [one.fresh() for _ in range(20)] == [two.fresh() for _ in range(20)]


def test_dates_of_a_call_begin_about_today() -> None:
    tool = tool_of({"from_day": {"type": "string"}, "until": {"type": "string"}}, ["from_day", "until"])
    hand = Hand(tool, Values(STATE), random.Random(0))
    spans = [hand.fresh() for _ in range(200)]
    later = [
        s
        for s in spans
        if shifted(s["from_day"], 1) and s["from_day"] < s["until"] and s["from_day"] >= "2025-03-10"
    ]
    assert len(later) > 30


def test_small_words() -> None:
    assert named_in({"description": "1 to 9, 'low' or 'high'; red, green or blue"})[:2] == [1, 9]
    assert {"low", "high", "red", "blue"} <= set(
        named_in({"description": "'low', 'high'; red, green or blue"})
    )
    assert shifted("2025-02-28T10:00", 1) == "2025-03-01T10:00" and shifted("soon", 1) == "soon"
    assert means("new_status", "status") and means("type", "item_type") and not means("room_id", "id_card")
    assert is_dated("starts_on") and is_dated("end_date") and not is_dated("status")
    assert kinds_of({"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}]}) == {
        "string",
        "integer",
        "null",
    }


EXPLORED = """
import sys
sys.path.insert(0, "tests")
from worlds import LOANS, STATE, skeleton
from envscaler.record import digest
from envscaler.searching.proposing import Proposer
from envscaler.schema import Check
from envscaler.world.environment import Environment
from envscaler.world.trials.exploring import Explorer
check = "if book_id not in self.books or member not in self.members:"
other = 'if book_id < note != "z" or note in ("a", "b", "c", "d") or book_id in ("e", "f", "g", "h"):'
source = LOANS.replace(check, f'{other}\\n            return {{"success": False}}\\n        {check}')
world = skeleton(source.replace("note: str | None = None", 'note: str = ""'))
with Environment(world, STATE) as environment:
    environment.reset()
    explorer = Explorer(world, environment, 0, 200)
    explorer.explore()
calls = [seen.call.model_dump(mode="json") for seen in explorer.seen]
proposer = Proposer(world, [Check(item="x", source=world.source)], "Lend Dune to Ada.", STATE)
proposed = [call.model_dump(mode="json") for call in proposer.calls(world.tool("lend"), STATE, 0, 50)]
print(len(calls), digest(calls), digest(proposed))
"""


def test_the_same_calls_are_tried_whatever_order_sets_are_in() -> None:
    """A process orders its sets by its own hash seed, and no call may depend on it."""
    told = set()
    for seed in "012":
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", EXPLORED], capture_output=True, text=True, env=env, cwd=ROOT
        )
        assert done.returncode == 0, done.stderr
        told.add(done.stdout)
    assert len(told) == 1 and int(told.pop().split()[0]) > 100
