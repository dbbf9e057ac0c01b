"""Scripted agents are pure functions of what they see, and each is as skilled as it says."""

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.error import ParameterError
from envscaler.schema import Call, Scenario
from envscaler.scripted import CarelessAgent, IdleAgent, RandomAgent, WitnessAgent

TASK = "Book room R-2 for Ada Lovelace, two nights from 2025-03-04, then send her the invoice."
SCENARIO = Scenario(
    skeleton_id="k",
    task=TASK,
    initial_state={"rooms": {"R-1": {}, "R-2": {}, "R-3": {}}, "nights": 3},
    checks=[],
    witness=[
        Call(tool="find_guest", arguments={"name": "Ada Lovelace"}),
        Call(
            tool="book",
            arguments={"guest_id": {"$from": [0, "data", 0, "id"]}, "room_id": "R-2", "nights": 2},
        ),
        Call(tool="invoice", arguments={"booking": {"id": {"$from": [1, "data", "id"]}}, "tags": ["R-2"]}),
        Call(tool="close_day", arguments={}),
    ],
)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book",
            "parameters": {
                "type": "object",
                "properties": {
                    "guest_id": {"type": "string"},
                    "nights": {"type": "integer", "minimum": 1, "maximum": 14},
                    "board": {"type": "string", "enum": ["none", "half", "full"]},
                    "price": {"type": "number"},
                    "late": {"type": "boolean"},
                    "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "extras": {"type": "array", "items": {"type": ["string", "null"]}},
                    "address": {
                        "type": "object",
                        "properties": {"street": {"type": "string"}, "floor": {"type": "integer"}},
                        "required": ["street"],
                    },
                },
                "required": ["guest_id", "nights", "board", "price", "late", "note", "extras", "address"],
                "additionalProperties": False,
            },
        },
    }
]


def calls_of(message):
    return [
        (c["function"]["name"], json.loads(c["function"]["arguments"]))
        for c in message.get("tool_calls") or ()
    ]


def answered(agent, replies, messages=None, seed=0, tools=(), limit=60):
    """Play an agent against a table of replies by tool name; returns its calls and the messages."""
    messages = messages or [{"role": "system", "content": ""}, {"role": "user", "content": TASK}]
    made = []
    for _ in range(limit):
        message = agent.act(messages, list(tools), seed=seed)
        assert message == agent.act(messages, list(tools), seed=seed)  # pure
        messages = [*messages, message]
        if not message.get("tool_calls"):
            return made, messages
        for call, (name, arguments) in zip(message["tool_calls"], calls_of(message), strict=True):
            made.append((name, arguments))
            reply = replies.get(name, {"success": True})
            content = reply if isinstance(reply, str) else json.dumps(reply)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    raise AssertionError("never stopped")


REPLIES = {
    "find_guest": {"success": True, "data": [{"id": "G-7", "name": "Ada Lovelace"}]},
    "book": {"success": True, "message": "booked", "data": {"id": "B-1"}},
}


def test_the_witness_fills_in_what_earlier_replies_said():
    made, _ = answered(WitnessAgent().prepared(SCENARIO, 0), REPLIES)
    assert made == [
        ("find_guest", {"name": "Ada Lovelace"}),
        ("book", {"guest_id": "G-7", "room_id": "R-2", "nights": 2}),
        ("invoice", {"booking": {"id": "B-1"}, "tags": ["R-2"]}),
        ("close_day", {}),
    ]


@pytest.mark.parametrize("reply", ["not JSON", '"text"', "null", "[]", '{"success": false, "error": "no"}'])
def test_a_reply_without_the_value_does_not_stop_the_witness(reply):
    made, _ = answered(WitnessAgent().prepared(SCENARIO, 0), {**REPLIES, "find_guest": reply})
    assert len(made) == 4 and made[1][1]["guest_id"] == "unknown"


def test_a_long_witness_stays_below_the_step_limit_and_waits_for_what_it_needs():
    witness = [Call(tool="book", arguments={})]
    for place in range(69):
        witness.append(
            Call(tool="book", arguments={"after": {"$from": [place, "data", "id"]}} if place % 2 else {})
        )
    scenario = SCENARIO.replace(witness=witness)
    made, messages = answered(WitnessAgent().prepared(scenario, 0), REPLIES)
    assert len(made) == 70 and all(a.get("after", "B-1") == "B-1" for _, a in made)
    assert sum(m["role"] == "assistant" for m in messages) <= 41


def test_without_a_witness_there_is_nothing_to_do():
    made, messages = answered(WitnessAgent().prepared(SCENARIO.replace(witness=[]), 0), {})
    assert made == [] and messages[-1]["content"]


def test_in_a_conversation_the_witness_does_a_share_after_each_message_and_all_in_the_end():
    player = WitnessAgent().prepared(SCENARIO, 0)
    messages = [{"role": "system", "content": ""}, {"role": "user", "content": "Hello, I need a room."}]
    done = []
    for text in (
        "It is R-2 for Ada Lovelace.",
        "Two nights from 2025-03-04.",
        "Then send the invoice.",
        "Thanks.",
    ):
        made, messages = answered(player, REPLIES, messages)
        done.append(len(made))
        messages = [*messages, {"role": "user", "content": text}]
    assert sum(done) == 4 and done[0] in (1, 2)


def test_a_user_who_speaks_in_other_words_gets_it_all_by_the_fourth_message():
    player = WitnessAgent().prepared(SCENARIO, 0)
    messages = [{"role": "system", "content": ""}]
    total = 0
    for _ in range(4):
        made, messages = answered(player, REPLIES, [*messages, {"role": "user", "content": "¿Puede?"}])
        total += len(made)
    assert total == 4


def test_rate_nought_is_the_witness_and_names_tell_rates_apart():
    careful, witness = CarelessAgent(0.0), WitnessAgent()
    assert (
        answered(careful.prepared(SCENARIO, 3), REPLIES)[0]
        == answered(witness.prepared(SCENARIO, 3), REPLIES)[0]
    )
    assert CarelessAgent(0.25).name != CarelessAgent(0.5).name
    for rate in (-0.1, 1.1, float("nan")):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            CarelessAgent(rate)


def test_every_kind_of_slip_happens_and_is_what_it_says():
    kinds, right = set(), answered(WitnessAgent().prepared(SCENARIO, 0), REPLIES)[0]
    for seed in range(200):
        player = CarelessAgent(0.3).prepared(SCENARIO, seed)
        made, _ = answered(player, REPLIES)
        assert len(made) == len(player.moves)
        for move, (name, arguments) in zip(player.moves, made, strict=True):
            correct = dict(right[move.call][1])
            kinds.add(move.slip)
            assert name == right[move.call][0]
            if move.slip == "argument":
                assert set(arguments) - set(correct) == {"remark"}
            elif move.slip in ("value", "entity"):
                assert set(arguments) == set(correct)
                assert all(type(arguments[k]) is type(v) for k, v in correct.items())
        skipped = {0, 1, 2, 3} - {m.call for m in player.moves}
        kinds.add("skipped" if skipped else None)
    assert kinds == {None, "argument", "value", "entity", "repeat", "skipped"}


def test_a_wrong_entity_is_another_one_of_the_same_table():
    wrong = set()
    for seed in range(300):
        player = CarelessAgent(0.9).prepared(SCENARIO, seed)
        for move, (name, arguments) in zip(player.moves, answered(player, REPLIES)[0], strict=True):
            if move.slip == "entity" and name == "book":
                wrong.add(arguments["room_id"])
    assert wrong == {"R-1", "R-3"}


def test_an_unknown_argument_is_followed_by_the_right_call():
    for seed in range(100):
        moves = CarelessAgent(0.5).prepared(SCENARIO, seed).moves
        for place, move in enumerate(moves):
            if move.slip == "argument":
                assert moves[place + 1].call == move.call and moves[place + 1].slip is None


def test_a_higher_rate_slips_wherever_a_lower_one_does():
    def clean(rate, seed):
        moves = CarelessAgent(rate).prepared(SCENARIO, seed).moves
        return {m.call for m in moves if m.slip is None} if all(m.slip is None for m in moves) else set()

    rates = (0.1, 0.3, 0.6, 0.9)
    flawless = [sum(len(clean(rate, seed)) == 4 for seed in range(300)) for rate in rates]
    assert flawless == sorted(flawless, reverse=True) and flawless[0] > 2 * flawless[-1]


def test_slips_differ_between_seeds_and_between_scenarios():
    other = SCENARIO.replace(task="another")
    moves = {CarelessAgent(0.5).prepared(s, seed).moves for s in (SCENARIO, other) for seed in range(10)}
    assert len(moves) > 10


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_random_calls_fit_the_schema(seed):
    messages = [{"role": "system", "content": ""}, {"role": "user", "content": "for G-12, please"}]
    message = RandomAgent().act(messages, TOOLS, seed=seed)
    for name, arguments in calls_of(message):
        assert name == "book"
        jsonschema.validate(arguments, TOOLS[0]["function"]["parameters"])


def test_the_random_agent_uses_ids_it_has_seen_and_ends():
    replies = {"book": {"success": True, "data": {"guest_id": "G-99"}}}
    ids, lengths = set(), set()
    for seed in range(30):
        made, _ = answered(RandomAgent(), replies, seed=seed, tools=TOOLS, limit=300)
        ids |= {arguments["guest_id"] for _, arguments in made[1:]}
        lengths.add(len(made))
    assert ids == {"G-99"} and len(lengths) > 5


@pytest.mark.parametrize("agent", [RandomAgent(), IdleAgent()])
def test_without_tools_an_agent_speaks(agent):
    message = agent.act([{"role": "user", "content": TASK}], [], seed=0)
    assert message["content"] and not message.get("tool_calls")


def test_the_idle_agent_never_calls():
    assert answered(IdleAgent(), {}, tools=TOOLS)[0] == []
