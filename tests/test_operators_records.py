"""Faults of records and units: each where it fits, proved by running, of its kind and of no other."""

import random

import held_out
import library
import pytest
import worlds

from envscaler.schema import Skeleton
from envscaler.world.mutants.sources import KINDS, Mutants, Planted, mutants_of, plant
from envscaler.world.witness import succeeded

SHOP = '''
class Shop:
    """Sells items by weight."""

    def __init__(self, initial_state: dict | None = None) -> None:
        self.items: dict[str, dict] = {}
        self.shelves: dict[str, dict] = {}
        for name, value in (initial_state or {}).items():
            setattr(self, name, value)

    def _next_id(self, table: dict) -> str:
        return f"S-{len(table) + 1}"

    def get_item(self, item_id: str) -> dict:
        """Show an item."""
        if item_id not in self.items:
            return {"success": False, "error": "No such item."}
        return {"success": True, "data": dict(self.items[item_id])}

    def add_item(self, item_id: str, shelf_id: str, price: float) -> dict:
        """Add an item to a shelf."""
        if item_id in self.items:
            return {"success": False, "error": "That id is in use."}
        if shelf_id not in self.shelves:
            return {"success": False, "error": "No such shelf."}
        self.items[item_id] = {"item_id": item_id, "shelf_id": shelf_id, "price": price}
        self.shelves[shelf_id]["item_ids"].append(item_id)
        return {"success": True, "message": "Added."}

    def add_shelf(self, room: str) -> dict:
        """Add a shelf."""
        shelf = {"shelf_id": self._next_id(self.shelves), "room": room, "item_ids": []}
        self.shelves[shelf["shelf_id"]] = shelf
        return {"success": True, "data": dict(shelf)}

    def drop_item(self, item_id: str) -> dict:
        """Take an item out of the shop."""
        item = self.items.get(item_id)
        if item is None:
            return {"success": False, "error": "No such item."}
        self.shelves[item["shelf_id"]]["item_ids"].remove(item_id)
        del self.items[item_id]
        return {"success": True, "message": "Gone."}
'''
STATE = {
    "items": {
        f"I-{n}": {"item_id": f"I-{n}", "shelf_id": f"S-{n % 2 + 1}", "price": 2.5 * n} for n in range(1, 6)
    },
    "shelves": {
        "S-1": {"shelf_id": "S-1", "room": "hall", "item_ids": ["I-2", "I-4"]},
        "S-2": {"shelf_id": "S-2", "room": "yard", "item_ids": ["I-1", "I-3", "I-5"]},
    },
}


@pytest.fixture(scope="module")
def shop() -> Skeleton:
    return worlds.skeleton(SHOP, "Shop")


@pytest.fixture(scope="module")
def planted(shop: Skeleton) -> Mutants:
    return mutants_of(shop, sorted(held_out.KINDS), 6, state=STATE)


def of(planted: Mutants, kind: str) -> list[Planted]:
    return [m for m in planted if m.kind == kind]


def test_they_are_registered_and_all_of_them_fit_a_shop(planted: Mutants) -> None:
    assert KINDS.keys() >= held_out.KINDS and len(KINDS) >= 12
    assert {m.kind for m in planted} == held_out.KINDS


def test_an_entry_is_left_behind_or_missing_in_the_shelf(planted: Mutants) -> None:
    found = of(planted, "stale index")
    assert {m.tool for m in found} == {"add_item", "drop_item"}
    for mutant in found:
        assert mutant.difference
        assert not any(where.startswith("shelves") for where in mutant.difference.diff)
        assert any(where.startswith("items") for where in mutant.difference.diff)


def test_a_swallowed_error_reports_success_and_does_nothing(planted: Mutants) -> None:
    for mutant in of(planted, "swallowed error"):
        seen = mutant.difference
        assert seen and succeeded(seen.reply) and not succeeded(seen.expected) and not seen.diff
    assert "get_item" in {m.tool for m in of(planted, "swallowed error")}


def test_a_doubled_id_overwrites_a_record(planted: Mutants) -> None:
    found = of(planted, "duplicate id accepted")
    assert {m.tool for m in found} == {"add_item", "add_shelf"}
    for mutant in found:
        assert mutant.difference and any("changed" in change for change in mutant.difference.diff.values())


def test_a_price_in_cents_is_a_hundred_times_too_high(planted: Mutants) -> None:
    mutant = of(planted, "wrong unit")[0]
    seen = mutant.difference
    assert mutant.tool == "add_item" and "100" in mutant.told and seen
    (was,), (now,) = (
        [c["added"]["price"] for c in d.values() if "added" in c] for d in (seen.expected_diff, seen.diff)
    )
    assert now == pytest.approx(100 * was)


def test_who_can_see_them() -> None:
    shown = {name: KINDS[name].shown for name in held_out.KINDS}
    assert shown == {
        "swallowed error": "execution",
        "duplicate id accepted": "execution",
        "stale index": "rule",
        "wrong unit": "judge",
    }


def test_a_library_without_quantities_has_no_place_for_a_wrong_unit() -> None:
    assert plant(library.skeleton(), "wrong unit", random.Random(0)) is None
