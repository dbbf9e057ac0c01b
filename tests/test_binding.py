"""Rules that bind: an invariant must say no to something, and to nothing that is real."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.schema import Call, Rule, Scenario, Skeleton
from envscaler.world.proving.binding import Binding, Edit, binding_findings, binding_rules
from tests import library
from tests.library import STATE


def with_rules(*invariants: str | None, **methods: str) -> Skeleton:
    rules = [Rule(text=f"Rule {n}.", invariant=body and _source(body)) for n, body in enumerate(invariants)]
    return library.skeleton(**methods).replace(rules=rules)


def _source(body: str) -> str:
    return f"def invariant(before, after, call):\n    {body}\n"


def one(body: str | None, **methods: str) -> Binding:
    (row,) = binding_rules(with_rules(body, **methods), STATE)
    return row


def test_the_rules_of_the_library_bind_and_hold_in_play() -> None:
    rows = binding_rules(library.skeleton(), STATE)
    assert [row.rule for row in rows] == library.RULES
    assert all(row.binds and row.has_invariant and row.where and not row.fault for row in rows)
    assert binding_findings(library.skeleton(), STATE) == []


@pytest.mark.parametrize(
    "body",
    [
        # on the state
        "return all(l['loan_id'] == k for k, l in after['loans'].items())",
        "return all(l['due'] < '2100' for l in after['loans'].values())",
        "return len({m['name'] for m in after['members'].values()}) == len(after['members'])",
        "return after['next_loan'] > 0",
        "return all(b['copies'] < 100 for b in after['books'].values())",
        "return set(after['loans']) >= {'L-1', 'L-2', 'L-3'}",
        "return all(l['out'] in (True, False) for l in after['loans'].values())",
        # on the change
        "return before['books'] == after['books']",
        "return all(l['out'] or not after['loans'][k]['out'] for k, l in before['loans'].items()"
        " if k in after['loans'])",
        "return all(after['members'].get(l['member_id'], {}).get('active') for k, l in after['loans'].items()"
        " if k not in before['loans'])",
        # on the call
        "return not call or call['tool'] != 'get_member' or before == after",
        "return not call or call['tool'] != 'return_book' or call['reply']['success'] == (before != after)",
        "return before == after or call is None or call['arguments'] != {}",
    ],
)
def test_a_rule_that_forbids_something_is_broken_by_something(body: str) -> None:
    row = one(body)
    assert row.binds and not row.fault, row


@pytest.mark.parametrize("body", ["return True", "return 'loans' in after or True", "return len(after) >= 0"])
def test_a_rule_that_forbids_nothing_is_found(body: str) -> None:
    row = one(body)
    assert row.has_invariant and not row.binds and not row.fault
    (finding,) = binding_findings(with_rules(body), STATE)
    assert (
        finding.kind == "rule-never-broken" and finding.severity == "warning" and "Rule 0." in finding.message
    )


def test_a_rule_that_says_no_to_what_is_real_is_found() -> None:
    row = one("return not after['loans']")
    assert row.fault == "says no" and row.binds
    (finding,) = binding_findings(with_rules("return not after['loans']"), STATE)
    assert finding.kind == "rule-broken-in-play" and "the initial state" in finding.message


def test_a_rule_that_a_tool_does_not_keep_is_found_with_the_call() -> None:
    witness = [
        Call(tool="lend_book", arguments={"book_id": "B-1", "member_id": "M-1", "due": "2025-04-15"}),
    ]
    greedy = library.skeleton(lend_book=library.GREEDY)
    scenario = Scenario(skeleton_id=greedy.id, initial_state=STATE, task="t", checks=[], witness=witness)
    found = binding_findings(greedy, scenario)
    assert [f.kind for f in found] == ["rule-broken-in-play"]
    assert library.RULES[0] in found[0].message and "lend_book" in found[0].message


@pytest.mark.parametrize(
    "body",
    ["return after['no such table']", "return 1", "return None", "raise ValueError('no')", "import os"],
)
def test_a_rule_that_cannot_say_is_found_once(body: str) -> None:
    assert one(body).fault == "cannot say"
    assert [f.kind for f in binding_findings(with_rules(body), STATE)] == ["rule-cannot-say"]


def test_a_rule_that_hangs_does_not_keep_the_others_from_answering() -> None:
    skeleton = with_rules("return [0 for _ in iter(int, 1)] == []", "return after['next_loan'] > 0")
    hung, sound = binding_rules(skeleton, STATE, timeout=0.3)
    assert hung.fault == "cannot say" and not hung.binds
    assert sound.binds and not sound.fault


def test_a_rule_in_words_only_is_told_and_is_no_finding() -> None:
    assert not one(None).has_invariant and not one(None).binds
    assert binding_findings(with_rules(None), STATE) == []
    assert binding_rules(with_rules(), STATE) == []


def test_rules_of_which_one_is_part_of_the_other_are_not_mixed_up() -> None:
    rules = [Rule(text="A rule.", invariant=_source("return True"))]
    rules.append(Rule(text="Not A rule.", invariant=_source("return after['next_loan'] > 0")))
    never, binds = binding_rules(library.skeleton().replace(rules=rules), STATE)
    assert not never.binds and binds.binds


@pytest.mark.parametrize("first", [0, 1])
def test_rules_of_the_same_words_are_told_apart(first: int) -> None:
    bodies = [
        "return True",
        "return after['next_loan'] > 0",
        "return after['none']",
        "return not after['loans']",
    ]
    bodies = bodies[first:] + bodies[:first]
    rules = [Rule(text="It is as it should be.", invariant=_source(body)) for body in bodies]
    world = library.skeleton().replace(rules=rules)
    rows = binding_rules(world, STATE)
    assert [(row.skeleton_id, row.place) for row in rows] == [(world.id, place) for place in range(4)]
    said = {body: (row.binds, row.fault) for body, row in zip(bodies, rows, strict=True)}
    assert said["return True"] == (False, "")
    assert said["return after['next_loan'] > 0"] == (True, "")
    assert said["return after['none']"] == (False, "cannot say")
    assert said["return not after['loans']"] == (True, "says no")
    kinds = {(f.kind, f.evidence["place"]) for f in binding_findings(world, STATE)}
    assert kinds == {
        ("rule-never-broken", bodies.index("return True")),
        ("rule-cannot-say", bodies.index("return after['none']")),
        ("rule-broken-in-play", bodies.index("return not after['loans']")),
    }


def test_rules_of_the_same_words_in_two_worlds_are_told_apart() -> None:
    worlds = [
        library.skeleton().replace(rules=[Rule(text="It is as it should be.", invariant=_source(body))])
        for body in ("return True", "return after['next_loan'] > 0")
    ]
    rows = {(row.skeleton_id, row.place): row for world in worlds for row in binding_rules(world, STATE)}
    assert [rows[world.id, 0].binds for world in worlds] == [False, True]


def test_the_same_seed_finds_the_same() -> None:
    assert binding_rules(library.skeleton(), STATE, seed=3) == binding_rules(
        library.skeleton(), STATE, seed=3
    )


def test_the_state_that_was_given_is_left_alone() -> None:
    state = copy.deepcopy(STATE)
    binding_rules(library.skeleton(), state)
    assert state == STATE


@given(
    st.sampled_from(
        [("members", "M-1", "name"), ("loans", "L-2", ""), ("books", "", "copies"), ("next_loan", "", "")]
    ),
    st.one_of(st.none(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2)),
    st.integers(0, 2),
)
def test_an_edit_touches_what_it_names_and_nothing_else(
    place: tuple[str, str, str], value: object, copies: int
) -> None:
    state = copy.deepcopy(STATE)
    table, key, field = place
    after = Edit("kind", table, key, field, value, copies).on(state)
    assert state == STATE
    assert {name: after[name] for name in after if name != table} == {
        n: v for n, v in STATE.items() if n != table
    }
    rows = after[table]
    if table == "next_loan":
        assert rows == value
    elif copies:
        each = 1 if key else len(STATE[table])
        assert len(rows) == len(STATE[table]) + copies * each and STATE[table].items() <= rows.items()
    elif field:
        changed = {k for k in STATE[table] if rows[k] != STATE[table][k]}
        assert rows.keys() == STATE[table].keys() and changed <= ({key} if key else set(STATE[table]))
    else:
        assert rows == {k: v for k, v in STATE[table].items() if k != key}


def test_an_empty_state_is_no_trouble() -> None:
    rows = binding_rules(library.skeleton(), {})
    assert [row.fault for row in rows] == ["", ""]
