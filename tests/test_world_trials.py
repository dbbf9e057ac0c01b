"""Trials of the referee: one shop in good order, and each of its faults found where it is, as what it is."""

import random
from functools import cache

import pytest
from worlds import skeleton

from envscaler.schema import Rule, Skeleton
from envscaler.world.environment import Environment
from envscaler.world.reading import read_code
from envscaler.world.referee import Findings, check_environment
from envscaler.world.trials.exploring import Explorer
from envscaler.world.trials.habits import Habits
from envscaler.world.trials.trying import Values, related

SHOP = '''
from typing import TypedDict


class Item(TypedDict):
    item_id: str
    name: str
    price: float
    stock: int


class Shop:
    """A shop."""

    def __init__(self, initial_state: dict | None = None) -> None:
        self.items: dict[str, Item] = {}
        self.customers: dict = {}
        self.orders: dict = {}
        for name, value in (initial_state or {}).items():
            setattr(self, name, value)

    def get_item(self, item_id: str) -> dict:
        """Show an item.

        Returns:
            The item, or an error for an unknown id.
        """
        item = self.items.get(item_id)
        if item is None:
            return {"success": False, "error": "There is no such item."}
        return {"success": True, "data": dict(item)}

    def list_items(self, most: float | None = None) -> dict:
        """List the items, up to a price."""
        found = [dict(item) for item in self.items.values() if most is None or item["price"] <= most]
        return {"success": True, "data": found, "count": len(found)}

    def list_orders(self, customer_id: str) -> dict:
        """List the orders of a customer."""
        if customer_id not in self.customers:
            return {"success": False, "error": "There is no such customer."}
        orders = [dict(order) for order in self.orders.values() if order["customer_id"] == customer_id]
        return {"success": True, "data": orders}

    def add_item(self, item_id: str, name: str, price: float) -> dict:
        """Add an item under a new id; its name must not be that of another item."""
        if item_id in self.items:
            return {"success": False, "error": "This id is taken."}
        if any(item["name"] == name for item in self.items.values()):
            return {"success": False, "error": "This name is taken."}
        if price < 0 or not item_id.strip():
            return {"success": False, "error": "An item needs an id and a price."}
        self.items[item_id] = {"item_id": item_id, "name": name, "price": price, "stock": 0}
        return {"success": True, "data": dict(self.items[item_id])}

    def set_price(self, item_id: str, price: float) -> dict:
        """Set the price of an item."""
        item = self.items.get(item_id)
        if item is None:
            return {"success": False, "error": "There is no such item."}
        if price < 0:
            return {"success": False, "error": "A price is not negative."}
        item["price"] = price
        return {"success": True, "message": "The price is set."}

    def rename_customer(self, customer_id: str, name: str) -> dict:
        """Give a customer another name."""
        customer = self.customers.get(customer_id)
        if customer is None:
            return {"success": False, "error": "There is no such customer."}
        customer["name"] = name
        return {"success": True, "data": dict(customer)}

    def place_order(self, customer_id: str, item_id: str, quantity: int) -> dict:
        """Order an item."""
        if customer_id not in self.customers:
            return {"success": False, "error": "There is no such customer."}
        if item_id not in self.items:
            return {"success": False, "error": "There is no such item."}
        if quantity < 1 or quantity > self.items[item_id]["stock"]:
            return {"success": False, "error": "So many are not there."}
        order_id = f"O-{len(self.orders) + 1}"
        order = {"order_id": order_id, "customer_id": customer_id, "item_id": item_id, "quantity": quantity}
        self.orders[order_id] = order
        self.items[item_id]["stock"] -= quantity
        self.customers[customer_id]["order_ids"].append(order_id)
        return {"success": True, "data": dict(order)}
'''
STATE = {
    "items": {
        f"I-{n}": {"item_id": f"I-{n}", "name": name, "price": 2.5 * n, "stock": 10 * n}
        for n, name in enumerate(("tea", "rye bread", "honey", "salt"), 1)
    },
    "customers": {
        "C-1": {"customer_id": "C-1", "name": "Ada", "city": "Ulm", "order_ids": ["O-1", "O-3"]},
        "C-2": {"customer_id": "C-2", "name": "Ben", "city": "Graz", "order_ids": ["O-2"]},
        "C-3": {"customer_id": "C-3", "name": "Cem", "city": "Bern", "order_ids": []},
    },
    "orders": {
        f"O-{n}": {"order_id": f"O-{n}", "customer_id": c, "item_id": i, "quantity": n}
        for n, c, i in ((1, "C-1", "I-1"), (2, "C-2", "I-2"), (3, "C-1", "I-4"))
    },
}
NEVER_OUT = Rule(
    text="There is no negative stock.",
    invariant="def invariant(before, after, call):\n    return all(i['stock'] >= 0 for i in after['items'].values())\n",
)


def shop(old: str = "", new: str = "") -> Skeleton:
    """The shop, with a piece of its code put in the place of another."""
    assert not old or SHOP.count(old) == 1, SHOP.count(old)
    # Tools are declared as in good order: a read stays a read, whatever its code does.
    return skeleton(SHOP).replace(source=SHOP.replace(old, new) if old else SHOP, rules=[NEVER_OUT])


@cache
def found(old: str = "", new: str = "") -> Findings:
    """What the referee says."""
    return check_environment(shop(old, new), STATE, calls=500)


def test_a_shop_in_good_order_is_left_in_peace() -> None:
    assert [f for f in found() if f.severity != "note"] == []


FAULTS = {
    "reply-differs": (
        'customer["name"] = name\n        return {"success": True, "data": dict(customer)}',
        'shown = dict(customer)\n        customer["name"] = name\n        return {"success": True, "data": shown}',
        "rename_customer",
    ),
    "no-effect": ('item["price"] = price', 'dict(item)["price"] = price', "set_price"),
    "miscounted": ('"count": len(found)', '"count": len(self.items) + 1', "list_items"),
    "duplicate-id": ("if item_id in self.items:", "if False:", "add_item"),
    "duplicate-value": ('if any(item["name"] == name for item in self.items.values()):', "if False:", "add_item"),
    "displaced": ('f"O-{len(self.orders) + 1}"', "max(self.orders)", "place_order"),
    "idle-success": (
        '{"success": False, "error": "A price is not negative."}',
        '{"success": True, "message": "Done."}',
        "set_price",
    ),
    "refused-writes": (
        'if price < 0:\n            return {"success": False, "error": "A price is not negative."}',
        'item["price"] = price\n        if price < 0:\n            return {"success": False, "error": "Negative."}',
        "set_price",
    ),
    "read-writes": (
        'return {"success": True, "data": orders}',
        'self.customers[customer_id]["city"] = "seen"\n        return {"success": True, "data": orders}',
        "list_orders",
    ),
    "raises": (
        'item = self.items.get(item_id)\n        if item is None:\n            return {"success": False, "error": '
        '"There is no such item."}\n        return {"success": True, "data": dict(item)}',
        'return {"success": True, "data": dict(self.items[item_id])}',
        "get_item",
    ),
    "dangling": ('"item_id": item_id, "quantity"', '"item_id": item_id + "-1", "quantity"', "place_order"),
    "unknown-accepted": (
        'if item is None:\n            return {"success": False, "error": "There is no such item."}\n        return '
        '{"success": True, "data": dict(item)}',
        'return {"success": True, "data": dict(item or {})}',
        "get_item",
    ),
    "index-differs": ('self.customers[customer_id]["order_ids"].append(order_id)', "pass", "place_order"),
    "swallowed": (
        'self.items[item_id]["stock"] -= quantity',
        'try:\n            self.items[item_id]["reserved"] += quantity\n        except Exception:\n            pass',
        "place_order",
    ),
    "argument-elsewhere": ('customer["name"] = name', 'customer["city"] = name', "rename_customer"),
    "argument-scaled": ('item["price"] = price', 'item["price"] = price * 100', "set_price"),
    "argument-lost": (
        '"name": name, "price"', '"name": "item", "price"', "add_item",
    ),
    "negative": (
        'if price < 0:\n            return {"success": False, "error": "A price is not negative."}\n',
        "pass\n", "set_price",
    ),
    "type-changed": ('item["price"] = price', 'item["price"] = str(price)', "set_price"),
    "key-differs": (
        '"item_id": item_id, "name": name', '"item_id": item_id.upper() + "!", "name": name', "add_item",
    ),
    "field-missing": ('"price": price, "stock": 0}', '"price": price}', "add_item"),
    "new-field": ('customer["name"] = name', 'customer["nmae"] = customer["name"] = name', "rename_customer"),
    "new-attribute": (
        'customer["name"] = name', 'customer["name"] = name\n        setattr(self, "last", name)', "rename_customer",
    ),
    "invariant": ('or quantity > self.items[item_id]["stock"]', "or quantity > 50", "place_order"),
    "by-chance": (
        'return {"success": True, "data": orders}',
        'import random\n        return {"success": True, "data": orders[: random.randint(0, 2)]}',
        "list_orders",
    ),
    "by-address": (
        'return {"success": True, "data": orders}',
        'return {"success": True, "data": sorted(orders, key=id)}',
        "list_orders",
    ),
    "hidden-state": (
        "found = [dict(item) for item in self.items.values() if most is None or item[\"price\"] <= most]",
        'if not hasattr(self, "_all"):\n            self._all = [dict(item) for item in self.items.values()]\n'
        '        found = [item for item in self._all if most is None or item["price"] <= most]',
        "list_items",
    ),
    "shared-state": (
        'return {"success": True, "data": orders}',
        'Shop.seen = getattr(Shop, "seen", 0) + 1\n        return {"success": True, "data": orders}',
        "list_orders",
    ),
    "reply-form": ('return {"success": True, "message": "The price is set."}', "return None", "set_price"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_is_found_where_it_is(kind: str) -> None:
    old, new, tool = FAULTS[kind]
    told = {(f.kind, f.where) for f in found(old, new) if f.severity != "note"}
    assert (kind, tool) in told, told
    blamed = {where for _, where in told} - {tool}
    assert not blamed or kind in ("hidden-state", "shared-state"), (
        f"others are blamed for it: {sorted(blamed)}"
    )


def test_findings_show_a_call_that_can_be_made_again() -> None:
    old, new, tool = FAULTS["refused-writes"]
    [one] = [f for f in found(old, new) if f.kind == "refused-writes"]
    with Environment(shop(old, new), STATE) as environment:
        environment.reset()
        reply = environment.call(one.evidence["call"]["tool"], one.evidence["call"]["arguments"])
        assert reply["success"] is False and environment.diff and one.where == tool


def test_the_same_seed_finds_the_same_and_the_budget_is_kept() -> None:
    one, two = (check_environment(shop(), STATE, seed=3, calls=120) for _ in range(2))
    assert [f.model_dump() for f in one] == [f.model_dump() for f in two]
    with Environment(shop(), STATE) as environment:
        environment.reset()
        explorer = Explorer(shop(), environment, 0, 200)
        explorer.explore()
        assert 150 <= len(explorer.seen) <= 200 and explorer.made


def test_exploring_reaches_every_branch_of_the_shop() -> None:
    with Environment(shop(), STATE) as environment:
        environment.reset()
        explorer = Explorer(shop(), environment, 0, 500)
        explorer.explore()
    assert {tool.name: explorer.reached(tool.name) for tool in shop().tools} == {
        tool.name: 1.0 for tool in shop().tools
    }


def test_what_the_code_says_of_arguments() -> None:
    code = read_code(shop())
    assert code["place_order"].tables == {
        "self": set(), "customer_id": {"customers"}, "item_id": {"items"}, "quantity": set(),
    }  # fmt: skip
    assert code["list_orders"].own == {"customer_id": {"customers"}}


def test_records_that_go_together() -> None:
    around = related(Values(STATE), "orders", "O-2", random.Random(0))
    assert (
        around["customers key"] == ["C-2"] and around["items key"] == ["I-2"] and around["city"] == ["Graz"]
    )


def test_habits_of_a_state_that_is_left_alone_are_never_broken() -> None:
    habits = Habits(STATE, SHOP)
    changed = {**STATE, "items": {**STATE["items"], "I-1": {**STATE["items"]["I-1"], "stock": 3}}}
    diff = {"items/I-1": {"changed": {"stock": [10, 3]}}}
    assert list(habits.breaches(STATE, STATE, {})) == list(habits.breaches(STATE, changed, diff)) == []


def test_a_call_can_be_watched_without_being_made() -> None:
    quiet = 'try:\n            {}["x"]\n        except KeyError:\n            pass\n        customer["name"] = name'
    with Environment(shop('customer["name"] = name', quiet), STATE) as environment:
        environment.reset()
        before = environment.state
        arguments = {"customer_id": "C-1", "name": "Eve"}
        reply, changed, after, lines, errors = environment._live.watch("rename_customer", arguments)
        assert reply["success"] and changed == {"customers/C-1": {"changed": {"name": ["Ada", "Eve"]}}}
        assert after["customers"]["C-1"]["name"] == "Eve" and environment.state == before
        [[kind, line]] = errors
        assert kind == "KeyError" and line in lines
        refused = environment._live.watch("rename_customer", {"customer_id": "C-9", "name": "Eve"})
        assert len(refused[3]) < len(lines) and refused[4] == []
