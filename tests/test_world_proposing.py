"""Calls that may bring a check about: the likeliest first, such as the schema admits, and names that may mean the same.

Run: python -m pytest tests/test_world_proposing.py -q
"""

import itertools

import pytest
from worlds import STATE, skeleton

from envscaler.schema import Check, Tool
from envscaler.searching.naming import distance, joined, keys_of, nearest, plain, tables_of, tokens, values_of
from envscaler.searching.proposing import Proposer, cheapest
from envscaler.world.arguments import ArgumentsOf

WORLD = skeleton()
INITIAL = {**STATE, "loans": {}, "counter": 0}


def check(body: str) -> Check:
    return Check(item="?", source=f"def check_func(final_state):\n    return {body}")


def proposer(*bodies: str, task: str = "", state: dict = INITIAL) -> Proposer:
    return Proposer(WORLD, [check(body) for body in bodies], task, state)


def test_the_values_of_the_check_come_first() -> None:
    body = "any(l['book_id'] == 'B-2' and l['member'] == 7 for l in final_state['loans'].values())"
    calls = [call for call in proposer(body).propose(INITIAL, 0, 10) if call.tool == "lend"]
    assert calls[0].arguments == {"book_id": "B-2", "member": 7}
    assert 1 < len(calls) <= 10 and len({str(call.arguments) for call in calls}) == len(calls)


def test_only_tools_that_write_are_proposed_and_only_whole_calls() -> None:
    calls = list(proposer("final_state['counter'] == 3").propose(INITIAL, 0, 8))
    assert {call.tool for call in calls} <= {"lend", "take_back"}
    for call in calls:
        required = WORLD.tool(call.tool).parameters["required"]
        assert set(required) <= call.arguments.keys()
    readers = {tool.name: ArgumentsOf(tool) for tool in WORLD.tools}
    assert all(not readers[c.tool].read(c.arguments)[1] for c in calls), "each fits its schema"


def test_a_check_of_the_same_thing_lends_its_values() -> None:
    first = "final_state['loans'].get('L', {}).get('book_id') == 'B-2'"
    other = "final_state['loans'].get('L', {}).get('member') == 7"
    calls = [call for call in proposer(first, other).propose(INITIAL, 0, 6) if call.tool == "lend"]
    assert calls[0].arguments == {"book_id": "B-2", "member": 7}


def test_records_made_on_the_way_are_candidates() -> None:
    state = {**INITIAL, "loans": {"L-9": {"loan_id": "L-9", "book_id": "B-1", "member": 7}}}
    calls = [call.arguments for call in proposer("not final_state['loans']").propose(state, 0, 10)]
    assert {"loan_id": "L-9"} in calls


def test_the_same_call_for_every_record_of_a_group() -> None:
    rows = {f"L-{n}": {"loan_id": f"L-{n}", "member": 7 + n % 2} for n in range(4)}
    state = {**INITIAL, "loans": rows}
    plans = list(proposer("not final_state['loans']", state=state).spread(state, 0, 2))
    groups = {
        tuple(call.arguments["loan_id"] for call in plan) for plan in plans if plan[0].tool == "take_back"
    }
    assert groups == {("L-0", "L-1", "L-2", "L-3"), ("L-0", "L-2"), ("L-1", "L-3")}


def test_schemas_of_any_kind_get_arguments_or_none() -> None:
    odd = {
        "a": {},
        "b": {"type": ["integer", "null"]},
        "c": 5,
        "d": {"anyOf": [{"type": "boolean"}]},
        "e": {"type": "object"},
    }
    tool = Tool(
        name="odd", parameters={"type": "object", "properties": odd, "required": list(odd)}, mutates=True
    )
    world = WORLD.model_copy(update={"tools": [tool]})
    body = "final_state['books']['B-1']['copies'] == 4"
    calls = list(Proposer(world, [check(body)], "", INITIAL).propose(INITIAL, 0, 5))
    assert calls and all(call.arguments.keys() == odd.keys() for call in calls)


def test_combinations_come_in_the_order_of_their_cost() -> None:
    choices = [[(0.0, "a"), (1.0, "b"), (5.0, "c")], [(0.0, 1), (0.5, 2)], [(0.0, None)]]
    cost = {"a": 0.0, "b": 1.0, "c": 5.0, 1: 0.0, 2: 0.5, None: 0.0}
    found = list(cheapest(choices, 100))
    sums = [sum(cost[part] for part in picked) for picked in found]
    assert sums == sorted(sums) and len(found) == 6
    every = itertools.product("abc", (1, 2), (None,))
    assert {tuple(p) for p in found} == set(every)
    assert len(list(cheapest(choices, 2))) == 2


@pytest.mark.parametrize(
    ("argument", "field", "near"),
    [
        ("status", "status", 0.0),
        ("new_status", "status", 0.0),
        ("moderation_status", "status", 0.4),
        ("user_id", "username", None),
        ("user_id", "user_id", 0.0),
        ("entries", "entry", 0.2),
        ("title", "copies", None),
    ],
)
def test_names_that_may_mean_the_same(argument: str, field: str, near: float | None) -> None:
    assert distance(argument, field) == near


def test_what_a_state_offers_under_a_name() -> None:
    assert (
        tokens("surgeryWaitlist_entries") == {"surgery", "waitlist", "entry"}
        and plain("new_title") == "title"
    )
    assert tables_of("book_id", INITIAL) == ["books"] and tables_of("x", INITIAL) == []
    assert values_of(INITIAL, "new_title") == ["Dune", "Emma"]
    assert ("members", "7") in keys_of(INITIAL)
    assert nearest("title", INITIAL["books"]["B-1"]) == "title" and nearest("x", {}) is None
    assert ("book_id.title", "Dune") in joined(INITIAL, {"book_id": "B-1"})


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": 5},
        {"properties": {"a": 5}},
        {"properties": {"a": {"type": 5}}},
        {"properties": {"a": {"anyOf": None}}},
        {"properties": {"a": {"enum": 5}}},
        {"properties": {"a": {"type": "string"}}, "required": 5},
        {"properties": {"a": {"type": "object", "properties": 5}}},
        {"properties": {"a": {"type": "object", "properties": {"b": {}}, "required": 5}}},
    ],
)
def test_schemas_of_others_that_are_none_raise_nothing(parameters: dict) -> None:
    tools = [tool.model_copy(update={"parameters": parameters, "mutates": True}) for tool in WORLD.tools]
    made = Proposer(WORLD.replace(tools=tools), [check("final_state['counter'] == 3")], "", INITIAL)
    for call in [*made.propose(INITIAL, 0, 5), *itertools.chain(*made.spread(INITIAL, 0, 2))]:
        assert call.arguments.keys() <= {"a"}
