"""What a state tells of itself: leaves, columns, own ids, references; and going into it without spoiling it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.world.change import copied, same
from envscaler.world.proving.shape import (
    Leaf,
    Shape,
    leaves,
    value_at,
    with_record,
    with_value,
    without_record,
)

STATE = {
    "clients": {
        "C-1": {"client_id": "C-1", "name": "Ada", "tags": ["a", "b"], "status": "open"},
        "C-2": {"client_id": "C-2", "name": "Bo", "tags": [], "status": "shut"},
        "C-3": {"client_id": "C-3", "name": "Cy", "tags": ["b"], "status": "open"},
        "C-4": {"client_id": "C-4", "name": "Di", "tags": ["b"], "status": "open"},
    },
    "orders": [
        {"order_id": 11, "client_id": "C-1", "lines": [{"n": 1}, {"n": 2}]},
        {"order_id": 12, "client_id": "C-2", "lines": []},
    ],
    "notes": {"7": {"order": 11, "text": "é"}},
    "counter": 3,
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
STATES = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


def test_own_ids_and_references_are_found() -> None:
    shape = Shape(STATE)
    assert shape.own_ids == {"clients": ("client_id",), "orders": ("order_id",)}
    assert shape.keys["orders"] == ["11", "12"] and shape.lists == {"orders"}
    assert shape.points_at == {("orders", ("client_id",)): "clients", ("notes", ("order",)): "orders"}


def test_columns_count_values_and_a_choice_is_told_from_a_name() -> None:
    shape = Shape(STATE)
    assert (
        shape.columns["clients", ("tags", "*")] == ["a", "b"] and shape.counts["clients", ("tags", "*")] == 4
    )
    assert shape.is_choice(Leaf("clients", "C-1", ("status",)))
    assert not shape.is_choice(Leaf("clients", "C-1", ("name",)))
    assert shape.others(Leaf("clients", "C-1", ("name",)), "Ada") == ["Bo", "Cy", "Di"]


def test_a_number_and_a_truth_value_are_two_values() -> None:
    shape = Shape({"t": {"a": {"x": 1}, "b": {"x": True}, "c": {"x": 1.0}}})
    assert [type(value) for value in shape.columns["t", ("x",)]] == [int, bool, float]


@pytest.mark.parametrize(
    "state", [{}, {"t": {}}, {"t": []}, {"t": None, "n": 1}, {"t": {"a": None}}, {"t": [[[]]]}]
)
def test_little_states_have_a_shape(state: dict) -> None:
    Shape(state)


def test_a_deep_state_ends_in_one_leaf() -> None:
    deep: dict = {}
    for _ in range(50):
        deep = {"x": deep}
    [(way, value)] = list(leaves(deep))
    assert len(way) == 8 and isinstance(value, dict)


@given(STATES)
def test_every_leaf_is_found_again_and_replaced_without_a_trace(state: dict) -> None:
    before = copied(state)
    for table, value in state.items():
        keys = (
            [None]
            if not isinstance(value, dict | list)
            else list(value if isinstance(value, dict) else range(len(value)))
        )
        for key in keys:
            record = Leaf(table, None if key is None else str(key))
            for way, leaf_value in leaves(value_at(state, record)):
                leaf = Leaf(record.table, record.key, way)
                assert same(value_at(state, leaf), leaf_value)
                other = with_value(state, leaf, "another value")
                assert value_at(other, leaf) == "another value" and same(state, before)
                assert same(with_value(other, leaf, leaf_value), before)


def test_records_come_and_go_in_tables_and_lists() -> None:
    less = without_record(STATE, "orders", "0")
    assert [order["order_id"] for order in less["orders"]] == [12] and len(STATE["orders"]) == 2
    assert list(without_record(STATE, "clients", "C-2")["clients"]) == ["C-1", "C-3", "C-4"]
    assert with_record(STATE, "clients", "C-9", {})["clients"]["C-9"] == {}
    assert with_record(STATE, "orders", "2", {"order_id": 13})["orders"][-1] == {"order_id": 13}


def test_a_leaf_names_itself() -> None:
    assert str(Leaf("a/b", "k~", ("x", 0))) == "a~1b/k~0.x.0" and str(Leaf("n", None)) == "n"
