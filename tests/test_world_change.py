"""Diffs are exact, their keys are never ambiguous, and patches keep the mirror equal to the state."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.world.change import apply, copied, diff, escaped, same, unescaped
from envscaler.world.sandbox.track import NotJson, Tracker, encode


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ({"t": {"a": 1}}, {"t": {"a": 1}}, {}),
        ({"t": {"a": 1}}, {"t": {"a": True}}, {"t/a": {"changed": [1, True]}}),
        ({"n": 1}, {"n": 1.0}, {"n": {"changed": [1, 1.0]}}),
        ({"t": {}}, {"t": {"a": {"x": 1}}}, {"t/a": {"added": {"x": 1}}}),
        ({"t": {"a": {"x": 1}}}, {"t": {}}, {"t/a": {"removed": {"x": 1}}}),
        ({"t": {"a": {"x": 1, "y": 2}}}, {"t": {"a": {"x": 1, "y": 3}}}, {"t/a": {"changed": {"y": [2, 3]}}}),
        (
            {"t": {"a": {"x": 1}}},
            {"t": {"a": {"z": 1}}},
            {"t/a": {"changed": {"x": [1, None], "z": [None, 1]}}},
        ),
        ({"l": [1]}, {"l": [1, 2]}, {"l/1": {"added": 2}}),
        ({"t": {"a/b~c": 1}}, {"t": {}}, {"t/a~1b~0c": {"removed": 1}}),
        ({"t": {"added": 1}}, {"t": {"added": 2}}, {"t/added": {"changed": [1, 2]}}),
        ({}, {"n": 1}, {"n": {"added": 1}}),
        ({"n": 1}, {}, {"n": {"removed": 1}}),
        ({"t": {}}, {"t": 5}, {"t": {"changed": [{}, 5]}}),
        ({"t": {"a": {"x": 1, "y": 2}}}, {"t": {"a": {"y": 2, "x": 1}}}, {}),
    ],
)
def test_grammar(before, after, wanted):
    found = diff(before, after)
    assert found == wanted and encode(found) == encode(wanted)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 2.5])
    | st.sampled_from(["", "a", "é/~"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "/", "~1"]), inner, max_size=3)
    ),
    max_leaves=6,
)
states = st.dictionaries(st.sampled_from(["t", "u", "n"]), values, max_size=3)


@given(states, states)
def test_a_diff_is_empty_exactly_when_the_states_are_the_same(one, other):
    assert (diff(one, other) == {}) == same(one, other)
    assert same(one, copied(one)) and diff(one, one) == {}


class Thing:
    pass


@given(states, st.lists(states, max_size=4))
def test_patches_keep_the_mirror_equal_and_rollback_restores(first, later):
    import json

    thing = Thing()
    vars(thing).update(copy.deepcopy(first))
    tracker, mirror = Tracker(thing, frozenset()), copied(first)
    for state in later:
        before = copied(mirror)
        vars(thing).clear()
        vars(thing).update(copy.deepcopy(state))
        patch = json.loads(tracker.patch())
        tracker.roll_back()
        assert same(tracker.state(), before)
        vars(thing).clear()
        vars(thing).update(copy.deepcopy(state))
        assert json.loads(tracker.patch()) == patch
        tracker.commit()
        tracker.settle()
        assert same(apply(mirror, patch), diff(before, state))
        assert same(mirror, state)
        for name, table in state.items():
            if isinstance(table, dict):
                assert list(mirror[name]) == list(table), "the order of records is kept"


def test_a_change_far_down_is_seen_though_nothing_else_tells():
    thing = Thing()
    thing.t = {"a": {"x": [{"y": 1}]}}
    tracker = Tracker(thing, frozenset())
    assert tracker.patch() == b"{}"
    thing.t["a"]["x"][0]["y"] = True
    assert b'"y":true' in tracker.patch()


@pytest.mark.parametrize("value", [{1, object}, object(), float("nan"), {(1, 2): 3}, "\ud800", b"x", 1j])
def test_what_json_cannot_hold_is_named(value):
    thing = Thing()
    thing.bad = value
    with pytest.raises(NotJson, match="attribute bad"):
        Tracker(thing, frozenset()).json({})


def test_sets_and_subclasses_are_taken_as_what_they_hold():
    import collections

    thing = Thing()
    thing.s, thing.d, thing.o = {"b", "a"}, collections.defaultdict(list, a=[1]), collections.OrderedDict(a=1)
    tracker = Tracker(thing, frozenset())
    assert tracker.json({}) == b'{"s":["a","b"],"d":{"a":[1]},"o":{"a":1}}'
    thing.d["b"].append(2)
    thing.s.add("c")
    assert tracker.patch() == b'{"set":{"s":["a","b","c"]},"records":{"d":{"set":{"b":[2]},"drop":[]}}}'


@given(st.text())
def test_escaping_is_reversible(key):
    assert unescaped(escaped(key)) == key and "/" not in escaped(key)
