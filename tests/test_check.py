"""Grading: broken is never false, checks share nothing, bystanders stay, the three rewards."""

import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import STATE, rule

from envscaler.error import ParameterError
from envscaler.schema import Check, Outcome, Rule
from envscaler.world.check import (
    Grader,
    all_broken_invariants,
    broken_invariants,
    bystanders,
    grade,
    grade_all,
    reward,
    survivors,
)
from envscaler.world.sandbox import Worker


def check(body, kind="goal"):
    return Check(item=body[:20], source=f"def check_func(final_state):\n    {body}", kind=kind)


def passed(*checks, final=None, **options):
    outcomes = grade(list(checks), STATE, STATE if final is None else final, **options)
    assert outcomes[-1].item == "bystanders"
    return [outcome.passed for outcome in outcomes[:-1]]


def test_true_and_false():
    assert passed(check("return True"), check("return final_state['books']['B-1']['copies'] == 9")) == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    "body",
    [
        "return 1",
        "return None",
        "pass",
        "return 'yes'",
        "return final_state['nope']",
        "raise SystemExit",
        "while True: pass",
        "import os",
        "return (",
        "return check_func(final_state)",
        "().__class__.__base__.__subclasses__()[140].__init__.__globals__['sys'].exit()",
    ],
)
def test_what_breaks_is_none_and_spoils_no_other_check(body):
    one, two = check("return True"), check("return False")
    assert passed(one, check(body), two, timeout=0.5) == [True, None, False]


def test_no_function_at_all_is_broken_and_helpers_are_fine():
    assert passed(Check(item="x", source="x = 1")) == [None]
    helped = "def helper(s): return True\ndef check_func(final_state): return helper(final_state)\ndef after(): pass"
    named = "def check_it(final_state):\n    return True"
    assert passed(Check(item="x", source=helped), Check(item="x", source=named)) == [True, True]


def test_checks_share_no_state():
    spoil = check("final_state['books'].clear(); initial_state['books'].clear(); return True")
    look = check("return len(final_state['books']) == 2 and len(initial_state['books']) == 2")
    leave = Check(
        item="x",
        source="import json\njson.mine = 1\nglobals_ = 1\ndef check_func(final_state):\n    return True",
    )
    find = Check(
        item="x",
        source="import json\ndef check_func(final_state):\n"
        "    return not hasattr(json, 'mine') and 'globals_' not in globals()",
    )
    assert passed(spoil, look, leave, find, look) == [True] * 5


def test_a_check_cannot_forge_another_one():
    forge = check("__builtins__['any'] = lambda *a: True; return True")
    assert passed(forge, check("return any([])")) == [True, False]


def test_a_check_that_hangs_on_one_state_answers_on_the_others():
    hang = check("\n    while final_state['n'] == 1: pass\n    return final_state['n'] == 2")
    graded = grade_all([hang], {"n": 0}, [{"n": n} for n in (0, 1, 2)], ["n"], timeout=0.5)
    assert [outcomes[0].passed for outcomes in graded] == [False, None, True]


def test_many_states_and_none():
    states = [{"n": n} for n in range(150)]
    graded = grade_all([check("return final_state['n'] % 2 == 0")], {"n": 0}, states, ["n"])
    assert [outcomes[0].passed for outcomes in graded] == [n % 2 == 0 for n in range(150)]
    assert grade_all([check("return True")], {}, []) == []
    assert [o.item for o in grade([], {}, {})] == ["bystanders"]


TABLES = {"t": {"a": {"x": 1}, "b": {"x": 25}}, "log": [1], "n": 0}


@pytest.mark.parametrize(
    ("final", "may_change", "holds"),
    [
        (TABLES, [], True),
        ({**TABLES, "n": 1}, [], False),
        ({**TABLES, "n": 1}, ["n"], True),
        ({**TABLES, "t": {"a": {"x": 1}}}, [], False),
        ({**TABLES, "t": {"a": {"x": 1}}}, ["t/b"], True),
        ({**TABLES, "t": {"a": {"x": 1}}}, ["t/+"], False),
        ({**TABLES, "t": {"a": {"x": 2}, "b": {"x": 25}}}, ["t/b"], False),
        ({**TABLES, "t": {"a": {"x": 2}, "b": {"x": 25}}}, ["t"], True),
        ({**TABLES, "t": {**TABLES["t"], "c": {}}}, [], False),
        ({**TABLES, "t": {**TABLES["t"], "c": {}}}, ["t/+"], True),
        ({**TABLES, "t": {**TABLES["t"], "c": {}}}, ["t/c"], True),
        ({**TABLES, "log": [1, 2]}, ["log/+"], True),
        ({**TABLES, "log": [2, 1]}, ["log/+"], False),
        ({**TABLES, "new": 1}, [], False),
        ({k: v for k, v in TABLES.items() if k != "n"}, [], False),
        ({**TABLES, "t": {"a": {"x": 1}, "b": {"x": 25.0}}}, [], True),
        ({**TABLES, "t": {"a": {"x": True}, "b": {"x": 25}}}, [], False),
        ({**TABLES, "t": {"a": {"x": 1, "y": None}, "b": {"x": 25}}}, [], False),
        ({**TABLES, "nothing": None}, [], False),
        ({}, ["t", "log", "n"], True),
    ],
)
def test_bystanders(final, may_change, holds):
    outcome = bystanders(TABLES, final, may_change)
    assert outcome.passed is holds and outcome.kind == "guard" and bool(outcome.note) is not holds


def test_keys_with_slashes_are_one_record():
    initial, final = {"t": {"a/b": 1, "c": 2}}, {"t": {"a/b": 5, "c": 2}}
    assert bystanders(initial, final, ["t/a~1b"]).passed and not bystanders(initial, final, ["t/a"]).passed


def test_survivors():
    assert (
        survivors(TABLES, []) == 4
        and survivors(TABLES, ["t/a", "n"]) == 2
        and survivors(TABLES, ["t", "log", "n"]) == 0
    )
    assert survivors(TABLES, ["t/+"]) == 4 and survivors({}, []) == 0


def outcomes(*pairs):
    return [Outcome(item="x", kind=kind, passed=value) for kind, value in pairs]


@pytest.mark.parametrize(
    ("made", "default", "strict"),
    [
        ([("goal", True), ("goal", False)], 0.5, 0.0),
        ([("goal", True), ("guard", True)], 1.0, 1.0),
        ([("goal", True), ("guard", False)], 0.0, 0.0),
        ([("goal", True), ("guard", None)], None, None),
        ([("goal", None), ("goal", True)], None, None),
        ([("guard", True)], None, None),
        ([], None, None),
    ],
)
def test_rewards_of_ours(made, default, strict):
    assert reward(outcomes(*made)) == default and reward(outcomes(*made), "strict") == strict


def test_the_published_reward():
    graded = [
        *outcomes(("goal", True), ("goal", None), ("guard", False)),
        Outcome(item="bystanders", kind="guard", passed=False),
    ]
    assert reward(graded, "paper") == 0.3333 and reward([], "paper") is None
    with pytest.raises(ParameterError):
        reward(graded, "best")


@given(st.lists(st.tuples(st.sampled_from(["goal", "guard"]), st.booleans()), min_size=1))
def test_rewards_lie_between_0_and_1_and_strict_is_never_more(made):
    paid, strict = reward(outcomes(*made)), reward(outcomes(*made), "strict")
    assert (paid is None) == (strict is None)
    assert paid is None or (0 <= strict <= paid <= 1)


def test_invariants():
    never_less = rule("def invariant(before, after, call):\n    return after['n'] >= before['n']")
    named = rule(
        "def invariant(before, after, call):\n    return call is None or call['reply']['success']", "Replies."
    )
    raises = rule("def invariant(before, after, call):\n    return after['nope']", "Raises.")
    hangs = rule("def invariant(before, after, call):\n    while True: pass", "Hangs.")
    assert broken_invariants([never_less, named], {"n": 1}, {"n": 2}, None) == []
    broken = broken_invariants([never_less, raises, hangs, rule(None)], {"n": 1}, {"n": 0}, None, timeout=0.3)
    assert [(f.kind, f.severity) for f in broken] == [("invariant", "error")] + [
        ("invariant-broken", "warning")
    ] * 2
    call = {"tool": "t", "arguments": {}, "reply": {"success": False}}
    many = all_broken_invariants(
        [never_less, named], [({"n": 0}, {"n": 0}, call), ({"n": 1}, {"n": 0}, None)]
    )
    assert [[f.message for f in found] for found in many] == [
        ["Broken rule: Replies."],
        ["Broken rule: A rule."],
    ]
    assert broken_invariants([], {}, {}) == []


def test_a_grader_goes_over_many_states_in_one_worker_and_keeps_none_of_them():
    remembers = Check(
        item="x",
        source="import json\ndef check_func(final_state):\n    final_state['n'] = 9\n"
        "    initial_state['n'] = 9\n    return hasattr(json, 'mine')",
    )
    same_as = check("return final_state['n'] == initial_state['n']")
    with Grader([remembers, same_as], {"n": 0, "t": {"a": {}}}, ["n"]) as grader:
        first = grader.grade([{"n": 0, "t": {"a": {}}}, {"n": 1, "t": {"a": {}}}])
        again = grader.grade([{"n": 0, "t": {"a": {}}}])
        broken = grader.broken_invariants(
            [rule("def invariant(before, after, call):\n    return after['n'] >= before['n']")],
            [({"n": 1}, {"n": 0}, None), ({"n": 0}, {"n": 1}, {"tool": "t"})],
        )
    assert [[o.passed for o in outcomes] for outcomes in first] == [[False, True, True], [False, False, True]]
    assert [o.passed for o in again[0]] == [False, True, True]
    assert [len(findings) for findings in broken] == [1, 0]


def test_states_that_share_tables_are_graded_as_if_they_did_not():
    base = {"a": {"k": {"x": 1}}, "b": {"k": {"x": 1}}, "c": [1]}
    states = [base, {**base, "a": {"k": {"x": 2}}}, {"a": base["a"]}, {**base, "d": True}, {}]
    spoil = check("final_state.get('b', {}).clear(); final_state.get('c', []).append(2); return True")
    look = check("return final_state == " + repr(base))
    names = check("return sorted(final_state) == ['a', 'b', 'c']")
    graded = grade_all([spoil, look, spoil, names, look], base, states, ["a", "b", "c", "d"])
    assert [[o.passed for o in outcomes[:5]] for outcomes in graded] == [
        [True, True, True, True, True],
        [True, False, True, True, False],
        [True, False, True, False, False],
        [True, False, True, False, False],
        [True, False, True, False, False],
    ]


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcd"), st.dictionaries(st.sampled_from("xy"), st.integers(0, 2))),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=25, deadline=None)
def test_grading_many_is_grading_each(states):
    checks = [
        check("return sum(len(t) for t in final_state.values()) > 2"),
        check("return 'a' in final_state"),
    ]
    many = grade_all(checks, states[0], states, ["a", "b", "c", "d"])
    assert many == [grade(checks, states[0], state, ["a", "b", "c", "d"]) for state in states]


def test_a_check_that_hangs_on_every_state_is_given_up_after_a_few(monkeypatch):
    hang = check("\n    while True: pass")
    fine = check("return True")
    counted = Counter()
    asking = Worker.ask

    def ask(self, do, **fields):
        counted[do] += 1
        return asking(self, do, **fields)

    monkeypatch.setattr(Worker, "ask", ask)
    graded = grade_all([hang, fine], {"n": 0}, [{"n": n} for n in range(60)], ["n"], timeout=0.2)
    assert all([o.passed for o in outcomes] == [None, True, True] for outcomes in graded)
    assert "did not finish" in graded[59][0].note
    assert counted["judge"] < 15


def test_apart_gives_the_same_outcomes():
    checks = [
        check("return True"),
        check("return final_state['nope']"),
        check("return final_state['n'] == 1"),
    ]
    states = [{"n": 0}, {"n": 1}]
    assert grade_all(checks, states[0], states, apart=True) == grade_all(checks, states[0], states)


def test_checks_that_write_into_states_that_share_rows_spoil_none_of_them() -> None:
    rows = {f"R{n}": {"n": n, "tags": ["b", "a"]} for n in range(6)}
    first = {"rows": rows, "note": "x"}
    states = [first, {"rows": {**rows, "R1": {"n": 9, "tags": []}}, "note": "x"}, {**first, "note": "y"}]
    bodies = [
        "final_state['rows']['R0']['tags'].sort(); return True",
        "final_state['rows'].pop('R5'); initial_state['rows'].clear(); return True",
        "row = final_state['rows']['R2']; row['n'] = float(row['n']); return True",
        "a, b = final_state['rows'], initial_state['rows']; return len(a) == 6 == len(b)",
        "a = final_state['rows']; return a['R0']['tags'] == ['b', 'a'] and type(a['R2']['n']) is int",
    ]
    checks = [check(body) for body in bodies]
    for order in (checks, checks[::-1]):
        for outcomes in grade_all(order, first, states, ["rows", "note"]):
            assert [outcome.passed for outcome in outcomes] == [True] * 6


def test_checks_that_let_what_is_shared_grow_do_not_fail_for_it() -> None:
    first = {"rows": {f"R{n}": {"n": n, "tags": [1]} for n in range(3)}, "note": 0}
    states = [first, *({**first, "note": n} for n in range(1, 40))]
    doubling = "for _ in range(3):\n        tags += tags\n    return True"
    growing = f"def check_func(final_state):\n    tags = final_state['rows']['R0']['tags']\n    {doubling}"
    late = growing.replace("for _", "if final_state['note']: tags += [0] * 3 * 10**6\n    for _")
    reading = "def check_func(final_state):\n    return final_state['rows']['R0']['tags'] == [1]"
    for sources in ([growing, reading], [late, reading]):
        checks = [Check(item=f"Has {n}?", kind="goal", source=source) for n, source in enumerate(sources)]
        told = [
            [outcome.passed for outcome in outcomes]
            for outcomes in grade_all(checks, first, states, ["note"])
        ]
        assert [outcomes[1] for outcomes in told] == [True] * 40
        assert sources[0] is late or [outcomes[0] for outcomes in told] == [True] * 40


def test_a_table_with_keys_that_are_no_text_is_held_as_it_is() -> None:
    source = "def invariant(before, after, call):\n    return list(after['rows']) == ['1']"
    two, one = {"rows": {1: {}, 2: {}}}, {"rows": {1: {}}}
    changes = [(two, one, None), (one, {"rows": {"1": {}}}, None)]
    assert all_broken_invariants([Rule(text="One.", invariant=source)], changes) == [[], []]


def test_states_that_lost_most_of_a_large_table_are_held_in_no_time() -> None:
    rows = {f"K{n}": {"n": n} for n in range(20_000)}
    source = "def check_func(final_state):\n    return len(final_state['rows']) in (20_000, 10_000, 0)"
    states = [{"rows": rows, "n": 0}, {"rows": {}, "n": 0}, {"rows": dict(list(rows.items())[::2]), "n": 0}]
    began = time.monotonic()
    told = grade_all([Check(item="Has?", kind="goal", source=source)], states[0], states, ["rows"])
    assert all(outcome.passed for outcomes in told for outcome in outcomes)
    assert time.monotonic() - began < 4
