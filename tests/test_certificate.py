"""Witnesses and certificates: what a scenario's fault is, the certificate names."""

import pytest
from worlds import STATE, rule, scenario, skeleton

from envscaler.error import ParameterError
from envscaler.record import map_references, references
from envscaler.schema import Call, Check
from envscaler.world.certificate import certify, garbage, wiped
from envscaler.world.environment import Environment
from envscaler.world.witness import play, resolve, succeeded


def goal(body, kind="goal"):
    return Check(item=body, source=f"def check_func(final_state):\n    return {body}", kind=kind)


def failed(made, world=None):
    return {proof.name for proof in certify(world or skeleton(), made).proofs if proof.status != "proved"}


def test_a_sound_scenario_is_certified():
    certificate = certify(skeleton(), scenario())
    assert certificate.valid, certificate.reasons
    assert len(certificate.proofs) >= 11


GOAL = scenario().checks[0]


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        (
            {"checks": []},
            {"has a goal", "nothing done", "database wiped", "garbage written", "witness replayed"},
        ),
        ({"checks": [goal("True")]}, {"nothing done", "goals open, guards whole at reset", "leave one out"}),
        (
            {"checks": [GOAL, goal("len(final_state['loans']) == 5", "guard")]},
            {"goals open, guards whole at reset", "witness replayed"},
        ),
        (
            {"checks": [GOAL, goal("final_state['books']['B-1']['copies'] == 1")]},
            {"checks always answer", "database wiped"},
        ),
        ({"may_change": ["books", "members", "loans", "counter"]}, {"something must survive"}),
        ({"may_change": []}, {"witness replayed", "witness with another seed"}),
        (
            {"witness": []},
            {"witness replayed", "witness replayed again", "witness with another seed", "leave one out"},
        ),
        ({"witness": [Call(tool="nope", arguments={})]}, {"witness replayed", "leave one out"}),
        ({"witness": scenario().witness + scenario().witness[1:]}, {"leave one out"}),
        (
            {"witness": [Call(tool="get_book", arguments={"book_id": "B-1"})]},
            {"witness replayed", "leave one out"},
        ),
        ({"initial_state": {**STATE, "books": {}}}, {"witness replayed"}),
    ],
)
def test_every_fault_has_its_line(changes, names):
    found = failed(scenario(**changes))
    assert names <= found, found


def test_a_world_that_does_not_load_is_said_so():
    broken = skeleton(
        "class Library:\n    def __init__(self):\n        raise ValueError\n    def run(self): pass"
    )
    assert [p.name for p in certify(broken, scenario()).proofs] == ["loads"]


def test_rules_are_watched_along_the_witness():
    good = skeleton(
        rules=[
            rule(
                "def invariant(before, after, call):\n    return all(b['copies'] >= 0 for b in after['books'].values())"
            )
        ]
    )
    bad = skeleton(rules=[rule("def invariant(before, after, call):\n    return after['counter'] == 0")])
    assert "rules hold along the witness" not in failed(scenario(), good)
    assert "rules hold along the witness" in failed(scenario(), bad)


def test_wiped_and_garbage():
    state = {"t": {"a": {"x": 1, "y": "b", "z": True}}, "l": [1], "n": 3}
    assert wiped(state) == {"t": {}, "l": [], "n": 3}
    spoilt = garbage(state)
    assert spoilt["t"]["a"]["x"] != 1 and spoilt["t"]["a"]["y"] != "b" and spoilt["t"]["a"]["z"] is False
    assert state["t"]["a"]["x"] == 1


def test_references_are_resolved():
    replies = [{"data": [{"id": "A"}]}, {"n": 0}]
    call = Call(
        tool="t",
        arguments={
            "a": {"$from": [0, "data", 0, "id"]},
            "b": [{"c": {"$from": [1, "n"]}}],
            "d": {"$from": [1]},
        },
    )
    assert resolve(call, replies).arguments == {"a": "A", "b": [{"c": 0}], "d": {"n": 0}}


@pytest.mark.parametrize(
    "way", [[], [5], [0, "nope"], [0, "data", 9], [-1], "x", [True, "n"], [0, "data", "0"], [0, "data", -1]]
)
def test_a_reference_that_leads_nowhere_is_told(way):
    with pytest.raises(ParameterError):
        resolve(Call(tool="t", arguments={"a": {"$from": way}}), [{"data": [1]}, {"n": 0}])


def test_only_an_object_of_the_one_key_is_a_reference():
    value = {"a": [{"$from": [0, "n"]}], "b": {"$from": [1], "more": {"$from": [2]}}, "c": "$from"}
    assert references(value) == [[0, "n"], [2]]
    assert map_references(value, len) == {"a": [2], "b": {"$from": [1], "more": 1}, "c": "$from"}


def test_play_goes_on_after_a_refusal():
    witness = [
        Call(tool="lend", arguments={"book_id": "B-9", "member": 7}),
        Call(tool="take_back", arguments={"loan_id": {"$from": [0, "data", "loan_id"]}}),
        Call(tool="lend", arguments={"book_id": "B-2", "member": 7}),
        Call(tool="take_back", arguments={"loan_id": {"$from": [2, "data", "loan_id"]}}),
    ]
    with Environment(skeleton(), scenario()) as world:
        played = play(world, witness)
    assert played.refused == 0 and [succeeded(reply) for reply in played.replies] == [
        False,
        False,
        True,
        True,
    ]
    assert played.diffs[0] == {} and played.diffs[1] == {} and played.diffs[2]
    assert played.calls[3].arguments["loan_id"].startswith("L-")
