"""Solving: the calls of an episode that earned everything, with references for what only a reply told."""

import json
from collections.abc import Sequence
from typing import Any

import library
import pytest
from library import ITEMS, MAY_CHANGE, STATE, TASK, WITNESS, asked, author

from envscaler.episode import roll_out
from envscaler.error import PartRefused
from envscaler.posing.solving import solve, where_told, witness_of
from envscaler.scenarios import build_scenario
from envscaler.schema import Call, Check, Scenario
from envscaler.scripted import IdleAgent, WitnessAgent, act_on, replies_of, say
from envscaler.world.certificate import certify

SKELETON = library.skeleton()
SCENARIO = Scenario(
    skeleton_id=SKELETON.id,
    initial_state=STATE,
    task=TASK,
    checks=[Check(item=t, source=s, kind=k) for t, (k, s) in ITEMS.items()],
    may_change=MAY_CHANGE,
)
LITERAL = [
    ("find_member", {"name": "Tom Aske"}),
    ("get_member", {"member_id": "M-99"}),
    ("list_loans", {"member_id": "M-2"}),
    ("return_book", {"loan_id": "L-1"}),
    ("find_member", {"name": "Ida Berg"}),
    ("find_book", {"title": "Emma"}),
    ("lend_book", {"book_id": "B-1", "member_id": "M-1", "due": "2025-04-15"}),
]


class Doer:
    """Makes these calls, one a message, with plain values, as a model would."""

    def __init__(self, calls: Sequence[tuple[str, dict[str, Any]]], name: str = "doer") -> None:
        self.calls, self.name = calls, name

    def act(self, messages: Sequence[dict[str, Any]], tools: Sequence[Any], *, seed: int) -> dict[str, Any]:
        done = len(replies_of(messages))
        return act_on([self.calls[done]], first=done) if done < len(self.calls) else say("Done.")


def test_an_episode_becomes_a_witness_with_references() -> None:
    witness = solve(SKELETON, SCENARIO, Doer(LITERAL))
    assert [call.tool for call in witness] == [tool for tool, _ in LITERAL if tool != "get_member"]
    assert witness[1].arguments == {"member_id": {"$from": [0, "data", 0, "member_id"]}}
    assert witness[2].arguments == {"loan_id": {"$from": [1, "data", 0, "loan_id"]}}
    # The member's id was told by the call before, the book's by the list of loans already; the date is the task's.
    assert witness[5].arguments["due"] == "2025-04-15"
    assert witness[5].arguments["member_id"] == {"$from": [3, "data", 0, "member_id"]}
    assert witness[5].arguments["book_id"] == {"$from": [1, "data", 0, "book_id"]}
    assert certify(SKELETON, SCENARIO.replace(witness=witness)).valid


def test_the_witness_agent_gives_back_its_witness() -> None:
    played = SCENARIO.replace(witness=[Call(**call) for call in WITNESS])
    rollout = roll_out(SKELETON, played, WitnessAgent())
    assert rollout.solved
    again = played.replace(witness=witness_of(rollout, TASK))
    assert certify(SKELETON, again).valid
    assert [call.tool for call in again.witness] == [call["tool"] for call in WITNESS]


def test_an_episode_that_does_not_earn_everything_is_no_witness() -> None:
    assert solve(SKELETON, SCENARIO, IdleAgent()) == []
    assert solve(SKELETON, SCENARIO, Doer(LITERAL[:4])) == []


def test_values_of_the_task_and_values_alike_by_chance_stay_as_they_are() -> None:
    calls = [("find_book", {"title": "Kim"}), ("return_book", {"loan_id": "L-1"})]
    rollout = roll_out(SKELETON, SCENARIO, Doer(calls))
    kim, back = witness_of(rollout, "Return L-1, please.")
    assert kim.arguments == {"title": "Kim"} and back.arguments == {"loan_id": "L-1"}
    assert where_told(2, [{"copies": 2}]) is None and where_told(True, [{"out": True}]) is None
    assert where_told(12.5, [{}, {"price": 12.5}]) == 1 and where_told("12.5", [{"price": 12.5}]) is None


def test_an_id_that_only_begins_like_one_in_the_task_is_still_a_reference() -> None:
    rollout = roll_out(SKELETON, SCENARIO, Doer([*LITERAL[:1], ("get_member", {"member_id": "M-2"})]))
    assert witness_of(rollout, "It is about M-27.")[1].arguments == {
        "member_id": {"$from": [0, "data", 0, "member_id"]}
    }
    assert witness_of(rollout, "It is about M-2.")[1].arguments == {"member_id": "M-2"}


def half(*calls: dict[str, Any]) -> str:
    return json.dumps({"calls": list(calls)})


def test_a_solver_steps_in_where_the_calls_of_the_author_fail() -> None:
    model = author({"scenarios/witness": half({"tool": "burn_book", "arguments": {}})})
    with pytest.raises(PartRefused, match="scenarios/witness"):
        build_scenario(SKELETON, model)
    model = author({"scenarios/witness": half({"tool": "burn_book", "arguments": {}})})
    scenario = build_scenario(SKELETON, model, solver=Doer(LITERAL))
    assert scenario.certificate.valid and len(scenario.witness) == len(LITERAL) - 1
    assert len(asked(model, "scenarios/witness")) == 3


def test_a_solver_steps_in_where_they_do_half_of_it() -> None:
    model = author({"scenarios/witness": half(*WITNESS[:3])})
    scenario = build_scenario(SKELETON, model, solver=Doer(LITERAL))
    assert scenario.certificate.valid and len(asked(model, "scenarios/witness")) == 1


def test_a_solver_can_come_first() -> None:
    model = author()
    scenario = build_scenario(SKELETON, model, solver=Doer(LITERAL), solver_first=True)
    assert scenario.certificate.valid and not asked(model, "scenarios/witness")
    model = author()
    assert build_scenario(SKELETON, model, solver=IdleAgent(), solver_first=True).certificate.valid
    assert len(asked(model, "scenarios/witness")) == 1
