"""Final states that are alike: generated ids, times and free values are passed over, and nothing else is."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.world.change import copied, same
from envscaler.world.proving.alike import Alike
from envscaler.world.proving.shape import Leaf

INITIAL = {
    "loans": {"L-1": {"loan_id": "L-1", "book": "B-1", "at": "2025-01-01"}},
    "books": {
        "B-1": {"title": "Emma", "lent": 1, "last": "L-1"},
        "B-2": {"title": "Kim", "lent": 0, "last": None},
    },
    "log": [],
    "counter": 1,
}


def final(*ids: str, at: str = "2025-06-02", last: str | None = None, title: str = "Emma") -> dict:
    """Two loans were made, of B-2 and of B-1, the last of which B-1 knows."""
    state = copied(INITIAL)
    for number, (key, book) in enumerate(zip(ids, ("B-2", "B-1"), strict=False)):
        state["loans"][key] = {"loan_id": key, "book": book, "at": f"{at}T0{number}"}
        state["log"].append(f"made {key}")
    state["books"]["B-1"]["last"] = last or ids[-1]
    state["books"]["B-1"]["title"] = title
    state["counter"] = 1 + len(ids)
    return state


BASE = final("L-2", "L-3")


def alike(other: dict, *plays: dict) -> bool:
    made = Alike(INITIAL, BASE)
    for play in plays:
        made.loosen(BASE, play)
    return made.mark(BASE) == made.mark(other)


def test_other_ids_are_alike_when_all_references_follow() -> None:
    assert alike(final("L-7", "L-9"))
    assert alike(final("L-3", "L-2"))
    assert not alike(final("L-7", "L-9", last="L-7"))
    assert not alike(final("L-7", "L-9", last="L-1"))


def test_what_is_not_an_id_must_be_equal() -> None:
    assert not alike(final("L-2", "L-3", title="Kim"))
    assert not alike(final("L-2"))
    assert not alike(INITIAL)
    assert not alike({**BASE, "price": 9})
    assert not alike({name: value for name, value in BASE.items() if name != "log"})


def test_times_are_passed_over_once_a_later_play_showed_them() -> None:
    later = final("L-2", "L-3", at="2026-01-01")
    assert not alike(later) and alike(later, later) and alike(final("L-7", "L-9", at="1999-12-31"), later)
    assert not alike(final("L-2", "L-3", at="2026-01-01", title="Kim"), later)


def test_a_time_that_is_missing_is_not_a_time() -> None:
    later, without = final("L-2", "L-3", at="2026-01-01"), final("L-2", "L-3")
    without["loans"]["L-3"]["at"] = None
    assert not alike(without, later)


def test_free_values_are_loose_where_they_stand_and_nowhere_else() -> None:
    right = final("L-2", "L-3", title="Kim")
    made = Alike(INITIAL, right)
    made.loosen(right, final("L-2", "L-3", title="Ivanhoe"), everywhere=False)
    assert made.is_loose(Leaf("books", "B-1", ("title",))) and not made.is_loose(
        Leaf("books", "B-2", ("title",))
    )
    assert made.mark(final("L-2", "L-3", title="Anything")) == made.mark(right)


def test_a_counter_of_new_records_is_as_loose_as_their_ids() -> None:
    assert alike({**BASE, "counter": 9})
    initial, end = {**INITIAL, "budget": 10}, {**BASE, "budget": 5}
    made = Alike(initial, end)
    assert made.mark(end) == made.mark({**end, "counter": 7}) != made.mark({**end, "budget": 6})


def test_keys_that_look_like_a_sign_are_keys() -> None:
    initial = {"phones": {"+1": {"x": 1}, "+2": {"x": 1}}}
    made = Alike(initial, {"phones": {"+1": {"x": 2}, "+2": {"x": 1}}})
    made.loosen(
        {"phones": {"+1": {"x": 2}, "+2": {"x": 1}}},
        {"phones": {"+1": {"x": 3}, "+2": {"x": 1}}},
        everywhere=False,
    )
    assert made.is_loose(Leaf("phones", "+1", ("x",))) and not made.is_loose(Leaf("phones", "+2", ("x",)))


def test_numbers_are_ids_only_where_a_column_says_so() -> None:
    initial = {"members": {"7": {"number": 7, "age": 40}}, "fees": {"f": {"member": 7, "amount": 7}}}

    def grown(number: int, amount: int, member: int | None = None) -> dict:
        state = copied(initial)
        state["members"][str(number)] = {"number": number, "age": 8}
        state["fees"]["g"] = {"member": number if member is None else member, "amount": amount}
        return state

    made = Alike(initial, grown(8, 3))
    assert made.mark(grown(9, 3)) == made.mark(grown(8, 3))
    assert made.mark(grown(9, 4)) != made.mark(grown(8, 3)) != made.mark(grown(8, 3, member=7))


def test_back_to_what_was_but_for_counters_and_times() -> None:
    made = Alike(INITIAL, BASE)
    assert made.is_back(INITIAL, {**INITIAL, "counter": 5})
    assert not made.is_back(INITIAL, BASE) and not made.is_back(INITIAL, {**INITIAL, "log": ["x"]})


@given(st.integers(0, 10_000), st.integers(1, 999))
@settings(max_examples=30)
def test_renaming_is_undone_by_renaming_back(first: int, step: int) -> None:
    state = final(f"L-{first + 2}", f"L-{first + 2 + step}")
    made = Alike(INITIAL, state)
    names = made.generated(state)
    assert len(names) == 2
    renamed = made.renamed(state, names)
    assert not same(renamed, state) and made.mark(renamed) == made.mark(state)
    assert not any(re.search(rf"{key}(?![0-9])", str(renamed)) for key in names)
    assert same(made.renamed(renamed, {new: old for old, new in names.items()}), state)


def test_ids_that_a_call_chose_are_no_generated_ids() -> None:
    made = Alike(INITIAL, BASE, given=["L-2"])
    assert made.mark(final("L-2", "L-9")) == made.mark(BASE) != made.mark(final("L-7", "L-3"))
    assert list(made.generated(BASE)) == ["L-3"]


def test_a_whole_number_is_the_same_with_a_point() -> None:
    one, other = ({"t": {"a": {"x": x}}} for x in (25, 25.0))
    made = Alike({"t": {"a": {"x": 1}}}, one)
    assert made.mark(one) == made.mark(other) != made.mark({"t": {"a": {"x": 25.5}}})
    assert made.mark(one) != made.mark({"t": {"a": {"x": True}}})


def test_nothing_generated_nothing_renamed() -> None:
    changed = {**INITIAL, "counter": 2, "log": ["x"]}
    assert Alike(INITIAL, changed).generated(changed) == {}
