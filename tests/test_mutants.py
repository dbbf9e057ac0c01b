"""Mutants of states and of calls: one thing wrong, out of the state's own values, the same for the same seed."""

import random
from collections import Counter

import library
import pytest
import worlds
from hypothesis import example, given, settings
from hypothesis import strategies as st

from envscaler.schema import Call
from envscaler.world.change import copied, diff, same
from envscaler.world.environment import Environment
from envscaler.world.mutants.calls import call_mutants, doubled, dropped, mistakes
from envscaler.world.mutants.states import state_mutants
from envscaler.world.mutants.values import fresh_key, near
from envscaler.world.proving.shape import Leaf, Shape
from envscaler.world.witness import Branches, play

BEFORE = {
    "clients": {
        f"C-{n}": {
            "client_id": f"C-{n}",
            "name": f"Name {n}",
            "status": "open" if n % 2 else "shut",
            "vip": False,
        }
        for n in range(1, 7)
    },
    "loans": {
        f"L-{n}": {"loan_id": f"L-{n}", "client_id": f"C-{n}", "due": "2025-01-01", "days": 14, "tags": ["a"]}
        for n in range(1, 5)
    },
    "rooms": [{"id": "R1", "free": True}, {"id": "R2", "free": False}],
    "counter": 4,
}


def after() -> dict:
    state = copied(BEFORE)
    state["clients"]["C-2"].update(status="open", vip=True)
    state["loans"]["L-5"] = {
        "loan_id": "L-5",
        "client_id": "C-2",
        "due": "2025-06-16",
        "days": 28,
        "tags": ["a", "b"],
    }
    del state["loans"]["L-1"]
    state["rooms"][1]["free"] = True
    state["counter"] = 5
    return state


AFTER = after()


# States


def test_each_is_wrong_in_one_thing_and_none_comes_twice() -> None:
    made = list(state_mutants(BEFORE, AFTER, most=500))
    assert len(made) > 30 and len({(m.place, m.what) for m in made}) == len(made)
    for mutant in made:
        wrong = diff(AFTER, mutant.state)
        two = mutant.kind == "values swapped" or isinstance(AFTER[mutant.place.table], list)
        assert 1 <= len(wrong) <= 2 and (two or len(wrong) == 1), mutant


def test_nothing_given_is_changed() -> None:
    before, end = copied(BEFORE), copied(AFTER)
    list(state_mutants(BEFORE, AFTER, most=500))
    assert same(before, BEFORE) and same(end, AFTER)


def test_every_change_is_falsified_first_and_the_rest_is_spread() -> None:
    made = list(state_mutants(BEFORE, AFTER, most=48))
    first = {str(m.place) for m in made[:12]}
    assert {
        "clients/C-2.status",
        "clients/C-2.vip",
        "loans/L-1",
        "loans/L-5",
        "rooms/1.free",
        "counter",
    } <= first
    kinds = Counter(m.kind for m in made)
    assert len(kinds) >= 12 and 30 <= len(made) <= 48
    wanted = "change undone,record missing,record back,record doubled,values swapped,points elsewhere,other choice,"
    wanted += "other field changed,bystander changed,bystander missing,row added"
    assert set(wanted.split(",")) <= set(kinds)


def test_few_are_asked_for_but_every_change_is_falsified() -> None:
    made = list(state_mutants(BEFORE, AFTER, most=1))
    assert {str(m.place) for m in made} >= {
        "clients/C-2.status",
        "clients/C-2.vip",
        "loans/L-5.due",
        "counter",
    }
    assert all(m.done for m in made)


def test_values_come_from_the_state() -> None:
    made = list(state_mutants(BEFORE, AFTER, most=500))
    states = {m.state["loans"]["L-5"]["client_id"] for m in made if m.kind == "points elsewhere"}
    assert states and states <= set(BEFORE["clients"]) - {"C-2"}
    shifted = {m.state["loans"]["L-5"]["due"] for m in made if m.kind == "date shifted"}
    assert shifted <= {"2025-06-15", "2025-06-17"} and shifted
    [doubled_] = [m for m in made if m.kind == "record doubled"]
    assert doubled_.state["loans"]["L-6"]["loan_id"] == "L-6"


def test_the_same_seed_makes_the_same_and_another_others() -> None:
    told = [[(m.kind, m.what) for m in state_mutants(BEFORE, AFTER, seed=seed)] for seed in (0, 0, 1)]
    assert told[0] == told[1] != told[2]


def test_loose_leaves_and_own_ids_are_let_be() -> None:
    made = list(state_mutants(BEFORE, AFTER, most=500, loose=lambda leaf: leaf.path == ("due",)))
    assert not any(
        m.place.path in (("due",), ("loan_id",), ("client_id",)) and m.place.table == "clients" for m in made
    )
    assert not any(m.place.path == ("due",) for m in made)
    assert not any(m.place.path == ("loan_id",) for m in made)


def test_bystanders_that_the_checks_name_come_first() -> None:
    made = list(state_mutants(BEFORE, AFTER, most=48, named="final_state['clients']['C-6']['vip']"))
    assert any(m.kind == "bystander changed" and m.place.key == "C-6" for m in made)
    assert any(m.kind == "bystander missing" and m.place.key == "C-6" for m in made)


@pytest.mark.parametrize(
    ("before", "end"),
    [
        ({}, {}),
        ({"t": {}}, {"t": {}}),
        ({"t": {}}, {"t": {"a": {}}}),
        ({"t": {"a": 1}}, {"t": {}}),
        ({"n": 1}, {"n": 2}),
        ({"n": 1}, {"m": 1}),
        ({"t": [1, 2]}, {"t": [1, 2, 3]}),
        ({"t": None}, {"t": {"ключ": {"имя": "Ж", "x": [[], {}]}}}),
        ({"t": {"1": {"n": 1}}}, {"t": {"1": {"n": 1}, "2": {"n": 2, "m": {"deep": [{"er": None}]}}}}),
        ({"t": {"a": "text"}}, {"t": ["now", "a", "list"]}),
    ],
)
def test_odd_states_have_mutants_or_none_but_no_errors(before: dict, end: dict) -> None:
    made = list(state_mutants(before, end, most=200))
    assert not any(same(m.state, end) for m in made)
    assert same(before, end) or made


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.sampled_from(["a", "b", "2025-01-01", "x y z", ""]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "id", "b"]), inner, max_size=3)
    ),
    max_leaves=8,
)
STATES = st.dictionaries(st.sampled_from(["t", "u", "v"]), VALUES, max_size=3)


def test_a_number_is_led_to_keys_that_are_numbers_only() -> None:
    end = {"t": {"1": {"to": 2}, "2": {"to": 1}, "x": {"to": 1}}, "u": {"a": False, "id": {"a": "a"}}}
    made = list(state_mutants({"t": {}}, end, most=200))
    led = [m.what.partition(" → ")[2] for m in made if m.kind == "points elsewhere" and m.place.table == "t"]
    assert led and all(value.isdecimal() for value in led)


@given(STATES, STATES, st.integers(0, 3))
@example({"t": {"a": {"a": None}}}, {"t": {"a": {"a": [None]}}}, 0)
@example({"t": {"a": {"a": 5}}}, {"t": {"a": {"a": [None]}}}, 0)
@settings(max_examples=150, deadline=None)
def test_no_mutant_is_the_right_state(before: dict, end: dict, seed: int) -> None:
    kept = copied(end)
    for mutant in state_mutants(before, end, seed=seed, most=60):
        assert not same(mutant.state, end), mutant
        assert mutant.kind and mutant.what
    assert same(kept, end)


def test_a_large_state_has_its_mutants_in_time() -> None:
    large = {"t": {f"K-{n}": {"id": f"K-{n}", "x": n, "text": "word " * 20} for n in range(5_000)}}
    end = {"t": {**large["t"], "K-7": {**large["t"]["K-7"], "x": 9}}}
    assert len(list(state_mutants(large, end))) >= 20


@pytest.mark.parametrize(
    ("value", "kind"),
    [(3, "number"), (2.5, "number"), (True, "flag"), ("2025-02-28", "date"), ("09:30", "date"), ("555-12", "text"),
     ("fixed on site", "text"), ("x", "text"), ("2025-06-02T09:00:01", "date"), ("", "text"), ("9999-12-31", "")],
)  # fmt: skip
def test_near_values_are_of_the_same_kind_and_differ(value: object, kind: str) -> None:
    for how, other in near(value, random.Random(0)):
        kinds = ("date", "time") if kind == "date" else kind
        assert how.startswith(kinds) and type(other) is type(value) and other != value


@pytest.mark.parametrize("value", [3, 2.5, 0.03, -50.0])
def test_numbers_go_both_ways_and_those_with_decimals_by_a_little(value: float) -> None:
    for seed in range(4):
        steps = [round(other - value, 6) for _, other in near(value, random.Random(seed))]
        assert {1, -1} <= set(steps)
        assert isinstance(value, int) or {0.02, -0.02} <= set(steps)


@pytest.mark.parametrize(
    ("value", "moved"),
    [
        ("2025-04-15 10:00", {"2025-04-15 10:15", "2025-04-15 12:00"}),
        ("2025-04-15 23:50:30", {"2025-04-15 23:35:30", "2025-04-15 21:50:30"}),
        ("2025-04-15T10:00", {"2025-04-15T10:15", "2025-04-15T12:00"}),
        ("16:00", {"16:15", "18:00"}),
        ("2025-04-15T10:00:00+02:00", {"2025-04-15T10:15:00+02:00", "2025-04-15T12:00:00+02:00"}),
        ("2025-04-15", set()),
    ],
)
def test_times_move_within_their_day_in_their_own_form(value: str, moved: set[str]) -> None:
    made = near(value, random.Random(0))
    assert {other for how, other in made if how == "time shifted"} == moved
    assert [how for how, _ in made].count("date shifted") == 1


@pytest.mark.parametrize(
    ("keys", "fresh"),
    [
        (["A-1", "A-9"], "A-10"),
        (["7", "12"], "13"),
        (["x"], "x-2"),
        (["x", "x-2"], "x-3"),
        (["R009"], "R010"),
    ],
)
def test_a_fresh_key_is_such_as_the_others(keys: list[str], fresh: str) -> None:
    assert fresh_key(keys) == fresh and fresh not in keys


# Calls


WORLD = library.skeleton()


def calls(witness: list[Call] | None = None, **options: int) -> list:
    written = witness or [Call(**call) for call in library.WITNESS]
    with Environment(WORLD, library.STATE) as environment:
        played = play(environment, written)
    return list(call_mutants(WORLD, written, played, Shape(library.STATE), **options))


def test_changes_are_left_out_and_doubled_first() -> None:
    made = calls()
    assert [(m.kind, m.what) for m in made[:4]] == [
        ("call dropped", "call 2 (return_book)"),
        ("call dropped", "call 5 (lend_book)"),
        ("call doubled", "call 2 (return_book)"),
        ("call doubled", "call 5 (lend_book)"),
    ]


def test_arguments_are_mistaken_for_what_the_state_holds() -> None:
    wrong = calls()[4:]
    shown = {m.kind: [] for m in wrong}
    for mutant in wrong:
        shown[mutant.kind].append(mutant)
    entities = [m.calls[0].arguments for m in shown["call on another entity"]]
    assert any(a.get("member_id") in ("M-2", "M-3") for a in entities)
    assert any(a.get("name") in ("Tom Aske", "Lou Vik", "Ida Berg") for a in entities)
    assert any(
        m.calls[0].arguments.get("due") in ("2025-04-14", "2025-04-16")
        for m in shown["call with a near value"]
    )
    assert all(m.calls[0].arguments != library.WITNESS[m.place]["arguments"] for m in wrong)


def test_a_wrong_argument_leaves_the_others_as_they_were_written() -> None:
    [due] = [m for m in calls() if m.what.startswith("call 5") and "near" in m.kind][:1]
    assert due.calls[0].arguments["book_id"] == {"$from": [4, "data", 0, "book_id"]} and due.place == 5


def test_free_arguments_are_never_wrong() -> None:
    witness = [Call(**call) for call in library.WITNESS]
    free = [*witness[:5], Call(**library.WITNESS[5], free=["due"])]
    assert any(".due" in m.what for m in calls(witness)) and not any(".due" in m.what for m in calls(free))


def test_look_ups_that_lead_nowhere_are_let_be() -> None:
    idle = Call(tool="find_book", arguments={"title": "Kim"})
    assert not any("call 6" in m.what for m in calls([*(Call(**c) for c in library.WITNESS), idle]))


def test_calls_made_wrong_are_the_same_for_the_same_seed() -> None:
    told = [[(m.kind, m.what) for m in calls(seed=seed)] for seed in (0, 0, 1)]
    assert told[0] == told[1] != told[2]


def test_references_follow_when_a_call_is_left_out_or_doubled() -> None:
    witness = [
        Call(tool="a", arguments={}),
        Call(tool="b", arguments={"x": {"$from": [0, "n"]}}),
        Call(tool="c", arguments={"x": {"$from": [1, "n"]}, "y": [{"z": {"$from": [0]}}]}),
    ]
    less = dropped(witness, 1)
    assert less.place == 1 and less.calls[0].arguments == {
        "x": "missing result of call 1",
        "y": [{"z": {"$from": [0]}}],
    }
    more = doubled(witness, 0)
    assert more.place == 1 and [call.tool for call in more.calls] == ["a", "b", "c"]
    assert more.calls[1].arguments["x"] == {"$from": [0, "n"]}
    assert more.calls[2].arguments["x"] == {"$from": [2, "n"]}


def test_choices_of_the_schema_and_optional_arguments() -> None:
    import random

    schema = {
        "properties": {"role": {"anyOf": [{"enum": ["a", "b", None], "type": "string"}, {"type": "null"}]}}
    }
    assert mistakes(schema, ("role",), "a", Shape({}), random.Random(0)) == [
        ("call with another choice", "b")
    ]
    witness = [Call(tool="lend", arguments={"book_id": "B-1", "member": 7, "note": "x"})]
    world = worlds.skeleton()
    with Environment(world, worlds.STATE) as environment:
        played = play(environment, witness)
    made = list(call_mutants(world, witness, played, Shape(worlds.STATE)))
    assert [m.kind for m in made if m.what.endswith("left out")] == ["argument left out"]
    assert all(isinstance(m.calls[0].arguments["member"], int) for m in made if m.wrong)


# Branches


def branches(environment: Environment) -> Branches:
    return Branches(environment, [Call(**call) for call in library.WITNESS])


def test_a_branch_goes_on_as_a_fresh_play_would() -> None:
    witness = [Call(**call) for call in library.WITNESS]
    with Environment(WORLD, library.STATE) as environment:
        made = branches(environment)
        assert made.played.refused is None and made.final["loans"]["L-4"]["member_id"] == "M-1"
        whole = made.go_on(0, witness)
        assert (
            whole is not None and same(whole.final, made.final) and same(whole.replies, made.played.replies)
        )
        less = made.go_on(5, [])
        assert (
            less is not None
            and "L-4" not in less.final["loans"]
            and less.final["loans"]["L-1"]["out"] is False
        )
        again = made.go_on(0, witness)
        assert again is not None and same(again.final, made.final)


def test_what_goes_astray_in_no_other_way_is_not_played() -> None:
    with Environment(WORLD, library.STATE) as environment:
        made = branches(environment)
        refused = [Call(tool="return_book", arguments={"loan_id": "L-99"})]
        same_way = [Call(tool="find_member", arguments={"name": "ida berg"}), *made.witness[4:]]
        assert made.go_on(2, refused, astray=True) is None and made.go_on(2, refused) is not None
        assert made.go_on(3, same_way, astray=True) is None


def test_when_calls_hang_again_and_again_no_more_branches_are_tried() -> None:
    world = worlds.tool("while True: pass")
    with Environment(world, {"things": {}, "n": 0}, timeout=0.2) as environment:
        made = Branches(environment, [Call(tool="count", arguments={})])
        hanging = [Call(tool="run", arguments={})]
        assert [made.go_on(0, hanging) is None for _ in range(6)] == [False] * 4 + [True] * 2
        lost = Branches(environment, [Call(tool="count", arguments={})])
        assert lost.go_on(1, hanging * 3) is None and lost.go_on(0, []) is None
    assert made.final["n"] == 1 and Leaf("n", None).column == ("n", ())
