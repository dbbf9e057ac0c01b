"""Take-away: dishes that run out, orders from the counter through the kitchen to the door, riders and zones.

An evening is told in times of day: who does something says when, and no clock runs in the world.
"""

from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin import names
from envscaler.model.builtin.pattern import (
    Added,
    Changed,
    Goal,
    Noun,
    Outcome,
    Part,
    Pattern,
    Rng,
    RuleText,
    Settings,
    State,
    Table,
    call,
    either,
    found,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns.appointments import clock, minutes
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]
DISH, ORDER, ZONE, RIDER = Noun("dish", "dishes"), Noun("order"), Noun("zone"), Noun("rider")
HERE = ("waiting", "cooking", "ready")
"""Stages of an order that has not left the shop."""
OPEN = (*HERE, "on the road")
MODES = ("delivery", "collection")
STAGES = (*OPEN, "delivered", "collected", "cancelled")


class Area(Part):
    """A zone that riders go to."""

    fee: float
    """What a delivery there costs."""
    minutes: int
    """How long the ride takes."""
    streets: list[str]
    """Streets that lie in it."""


class TakeawaySettings(Settings):
    """A take-away's menu, zones and riders.

    Who orders is in a registry of an earlier part, with the extras `address` and `zone` and one for the allergy.
    """

    dishes: dict[str, dict[str, tuple[float, list[str]]]]
    """Course → dish → usual price and the allergens in it."""
    many: dict[str, int]
    """Course → how many of its dishes are on the menu."""
    allergens: list[str]
    """What dishes may contain."""
    allergy: str = "allergy"
    """The registry's extra that says which of them somebody must not have; `none` for none."""
    zones: dict[str, Area]
    """Zone → fee, ride and streets."""
    vehicles: dict[str, int]
    """Vehicle → portions its bag holds, no two alike; there is a rider for each."""
    free_from: float = 40.0
    """Value of the dishes from which a delivery costs nothing."""
    kitchen: int = 20
    """Minutes the kitchen asks for."""
    most: int = 10
    """Most portions of one dish in an order."""
    portions: tuple[int, int] = (3, 20)
    """Least and greatest number of portions of a dish that is not sold out."""
    opens: str = "17:00"
    """When the first orders are taken."""
    closes: str = "22:30"
    """When the last are."""


# What tools do, for the outcomes of goals


def goods(lines: list[Row]) -> float:
    """Value of the dishes of an order."""
    return round(float(sum(line["quantity"] * line["unit_price"] for line in lines)), 2)


def bill(v: SimpleNamespace, state: State, zone: str, lines: list[Row]) -> Row:
    """Fee and total of an order; a collection has no zone."""
    free = not zone or goods(lines) >= v.s.free_from
    fee = 0.0 if free else named(state, ZONE, zone)["fee"]
    return {"delivery_fee": fee, "total": round(goods(lines) + fee, 2)}


def after(time: str, more: int) -> str:
    """The time so many minutes later; raises `LookupError` when that is another day."""
    if not 0 <= minutes(time) + more < 1440:
        raise LookupError("it is another day")
    return clock(minutes(time) + more)


def ride(state: State, zone: str) -> int:
    """Minutes to a zone; none for a collection."""
    return int(named(state, ZONE, zone)["minutes"]) if zone else 0


def line(dish: Row, quantity: int) -> Row:
    """A line of an order."""
    return {"dish_id": dish["dish_id"], "quantity": quantity, "unit_price": dish["price"]}


def home(v: SimpleNamespace, rng: Rng) -> Row:
    """An address and its zone."""
    zone = pick(rng, list(v.s.zones))
    return {"address": f"{int(rng.integers(1, 90))} {pick(rng, v.s.zones[zone].streets)}", "zone": zone}


def portions(orders: list[Row]) -> int:
    """Portions in these orders together."""
    return sum(one["quantity"] for order in orders for one in order["lines"])


def now(state: State) -> int:
    """Minutes since midnight when the last thing was written down today."""
    today = [row for row in state["orders"].values() if row["placed_on"] == state["today"]]
    times = [row[name] for row in today for name in ("placed_at", "out_at", "done_at") if row[name]]
    if not times:
        raise LookupError("nothing happened today")
    return max(map(minutes, times))


# Goals


class Evening(Goal):
    """What goals share: a guest by name, the one order of a guest, and what time it may be."""

    def at(self, state: State, rng: Rng) -> str:
        """A time soon after all that is written down."""
        return after(clock(now(state)), int(rng.integers(1, 10)))

    def arrival(self, order: Row, state: State, rng: Rng) -> str:
        """A time at which an order that is on the road can be there."""
        return max(self.at(state, rng), after(order["out_at"], ride(state, order["zone"]) - 2))

    def guest(self, slots: Slots, state: State) -> Row:
        """Who is named."""
        return named(state, self.v.p, slots["name"])

    def orders(self, state: State, *stages: str, **fields: Any) -> list[Row]:
        """The orders in these stages that have these values."""
        rows = [row for row in state["orders"].values() if row["stage"] in stages]
        return [row for row in rows if all(row[name] == value for name, value in fields.items())]

    def order(self, slots: Slots, state: State, *stages: str, **fields: Any) -> Row:
        """The one such order of the guest who is named."""
        key = f"{self.v.p.id}_id"
        return dict(only(self.orders(state, *stages, **{key: self.guest(slots, state)[key]}, **fields)))

    def name(self, order: Row, state: State) -> str:
        """Whose order it is."""
        return str(state[self.v.p.ids][order[f"{self.v.p.id}_id"]]["name"])

    def someone(self, state: State, rng: Rng, *stages: str, **fields: Any) -> str:
        """The name of a guest with such an order."""
        return self.name(any_of(rng, self.orders(state, *stages, **fields)), state)

    def change(self, order: Row, item: str, *also: str, **fields: Any) -> Changed:
        """The order has these values; whose it is, is concerned."""
        return Changed("orders", order["order_id"], fields, item, (order[f"{self.v.p.id}_id"], *also))

    def taken(self, dish: Row, quantity: int, item: str) -> Changed:
        """So many portions fewer can be made of the dish."""
        return Changed("dishes", dish["dish_id"], {"portions": dish["portions"] - quantity}, item)

    def can_have(self, guest: Row, dish: Row, quantity: int) -> None:
        """Raise `LookupError` where the guest cannot get so much of the dish."""
        if guest[self.v.s.allergy] in dish["contains"] or not 1 <= quantity <= self.v.s.most:
            raise LookupError(f"{guest['name']} cannot have {dish['name']}")
        if quantity > dish["portions"]:
            raise LookupError(f"too little is left of {dish['name']}")

    def steps(self, slots: Slots, *calls: str) -> list[Row]:
        """A plan that begins with the look-up of the guest."""
        return steps(slots, f"find_{self.v.p.ids} name", *calls)


class Place(Evening):
    """Somebody orders a dish by its name."""

    phrases: ClassVar[tuple[str, ...]] = (
        "At {at:time} the <<p>> {name:name} rang and ordered {n:int} x {dish:name} for {mode:name}, please enter that.",
        "Please enter an order of {n:int} x {dish:name} for {mode:name}, which the <<p>> {name:name} "
        "placed at {at:time}.",
        "{name:name}, one of our <<p.many>>, wants {n:int} x {dish:name} for {mode:name}, so enter the order with "
        "{at:time} as its time.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "find_dishes", "place_order")
    weight = 1.2

    def caller(self, state: State, rng: Rng) -> Slots:
        """Who orders, when and how it gets to them: somebody who has not ordered today."""
        key = f"{self.v.p.id}_id"
        had = {row[key] for row in state["orders"].values() if row["placed_on"] == state["today"]}
        guests = [row for row in state[self.v.p.ids].values() if row[key] not in had]
        mode = pick(rng, ["delivery", "delivery", "collection"])
        return {"name": any_of(rng, guests)["name"], "at": self.at(state, rng), "mode": mode}

    def draw(self, state: State, rng: Rng) -> Slots | None:
        dish = any_of(rng, [row for row in state["dishes"].values() if row["portions"]])
        n = int(rng.integers(1, min(4, dish["portions"]) + 1))
        return {**self.caller(state, rng), "dish": dish["name"], "n": n}

    def plan(self, slots: Slots) -> list[Row]:
        place = f"place_order {self.v.p.id}_id<0 dish_id<1 quantity=n mode at"
        return self.steps(slots, "find_dishes name=dish", place)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.placed(slots, state, named(state, DISH, slots["dish"]))

    def placed(self, slots: Slots, state: State, dish: Row) -> list[Outcome]:
        """A new order of one dish."""
        v, guest, n = self.v, self.guest(slots, state), slots["n"]
        self.can_have(guest, dish, n)
        zone = {"delivery": guest["zone"], "collection": ""}[slots["mode"]]
        if guest["status"] != "active" or not v.s.opens <= slots["at"] <= v.s.closes:
            raise LookupError("nothing is taken of them now")
        if zone and not named(state, ZONE, zone)["is_open"]:
            raise LookupError(f"nobody rides to {zone}")
        key, lines = f"{v.p.id}_id", [line(dish, n)]
        fields = {
            key: guest[key], "mode": slots["mode"], "zone": zone, "lines": lines, **bill(v, state, zone, lines),
            "placed_on": state["today"], "placed_at": slots["at"],
            "promised_at": after(slots["at"], v.s.kitchen + ride(state, zone)),
            "stage": "waiting", "rider_id": None, "out_at": "", "done_at": "",
        }  # fmt: skip
        made = f"Has an order of {n} x {dish['name']} for {slots['mode']} been entered for {slots['name']}?"
        fewer = f"Has what is left of {dish['name']} gone down by {n} with the new order of {slots['name']}?"
        return [Added("orders", fields, made), self.taken(dish, n, fewer)]


class PlaceSafe(Place):
    """Somebody with an allergy orders the cheapest dish of a course that is safe."""

    phrases = (
        "Please enter the order that the <<p>> {name:name} placed at {at:time}, for {mode:name}: {n:int} portions of "
        "the cheapest {course:name} that suits the allergy on record and of which we can still make that many.",
        "At {at:time} the <<p>> {name:name} asked for {n:int} portions, for {mode:name}, of whichever {course:name} is "
        "cheapest among those that suit the allergy on record and of which we have enough.",
    )
    needs = ("find_<<p.ids>>", "list_dishes", "place_order")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, n = self.caller(state, rng), int(rng.integers(2, 5))
        allergy = self.guest(slots, state)[self.v.s.allergy]
        if allergy == "none":
            return None
        courses = list(self.v.s.dishes)
        tempting = [course for course in courses if self.tempts(state, course, allergy, n)]
        return {**slots, "course": pick(rng, tempting or courses), "n": n}

    def tempts(self, state: State, course: str, allergy: str, n: int) -> bool:
        """Whether the cheapest dish of which there is enough is unsafe, while another is safe."""
        rows = [row for row in state["dishes"].values() if row["course"] == course and row["portions"] >= n]
        unsafe = [allergy in row["contains"] for row in sorted(rows, key=lambda row: float(row["price"]))]
        return unsafe[:1] == [True] and not all(unsafe)

    def plan(self, slots: Slots) -> list[Row]:
        suits = f"list_dishes course without<0/0/{self.v.s.allergy} min_portions=n"
        place = f"place_order {self.v.p.id}_id<0 dish_id<1 quantity=n mode at"
        return self.steps(slots, suits, place)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        allergy = self.guest(slots, state)[self.v.s.allergy]
        if allergy == "none":
            raise LookupError("there is nothing to mind")
        rows = [row for row in state["dishes"].values() if row["course"] == slots["course"]]
        fit = [row for row in rows if allergy not in row["contains"] and row["portions"] >= slots["n"]]
        least = min((row["price"] for row in fit), default=0)
        return self.placed(slots, state, only([row for row in fit if row["price"] == least]))


class AddDish(Evening):
    """A dish more, while the kitchen has not begun."""

    phrases = (
        "Please add {n:int} x {dish:name} to the order of the <<p>> {name:name} that the kitchen has not begun yet.",
        "The <<p>> {name:name} would like {n:int} x {dish:name} with the order that is still waiting.",
    )
    needs = ("find_<<p.ids>>", "list_orders", "find_dishes", "add_to_order")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        dish = any_of(rng, [row for row in state["dishes"].values() if row["portions"]])
        n = int(rng.integers(1, min(3, dish["portions"]) + 1))
        return {"name": self.someone(state, rng, "waiting"), "dish": dish["name"], "n": n}

    def plan(self, slots: Slots) -> list[Row]:
        mine = f"list_orders {self.v.p.id}_id<0 stage=stage"
        add = "add_to_order order_id<1 dish_id<2 quantity=n"
        return self.steps({**slots, "stage": "waiting"}, mine, "find_dishes name=dish", add)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        order, dish = self.order(slots, state, "waiting"), named(state, DISH, slots["dish"])
        self.can_have(self.guest(slots, state), dish, slots["n"])
        if dish["dish_id"] in {one["dish_id"] for one in order["lines"]}:
            raise LookupError(f"{dish['name']} is in the order")
        lines = [*order["lines"], line(dish, slots["n"])]
        item = f"Has {slots['n']} x {dish['name']} been added to the waiting order of {slots['name']}?"
        fewer = f"Has what is left of {dish['name']} gone down by {slots['n']} for {slots['name']}?"
        new = self.change(order, item, lines=lines, **bill(self.v, state, order["zone"], lines))
        return [new, self.taken(dish, slots["n"], fewer)]


class Cancel(Evening):
    """An order that the kitchen has not begun is cancelled."""

    phrases = (
        "The <<p>> {name:name} has changed plans, so cancel the order, which the kitchen has not begun.",
        "Please cancel the order of the <<p>> {name:name} that is still waiting.",
    )
    needs = ("find_<<p.ids>>", "list_orders", "cancel_order")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"name": self.someone(state, rng, "waiting")}

    def plan(self, slots: Slots) -> list[Row]:
        mine = f"list_orders {self.v.p.id}_id<0 stage=stage"
        return self.steps({**slots, "stage": "waiting"}, mine, "cancel_order order_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        order = self.order(slots, state, "waiting")
        item = f"Has the waiting order of {slots['name']} been cancelled?"
        outcomes: list[Outcome] = [self.change(order, item, stage="cancelled")]
        for one in order["lines"]:
            dish = state["dishes"][one["dish_id"]]
            back = f"Has {slots['name']}'s share of {dish['name']}, {one['quantity']}, been given back?"
            outcomes.append(self.taken(dish, -one["quantity"], back))
        return outcomes


class StartNext(Evening):
    """The kitchen begins what is promised first."""

    phrases = (
        "The kitchen has its hands free, so let it begin the waiting order that is promised earliest.",
        "Of the orders that are waiting, please start the one with the earliest promised time.",
    )
    needs = ("list_orders", "start_order")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {}

    def plan(self, slots: Slots) -> list[Row]:
        return steps({"stage": "waiting"}, "list_orders stage", "start_order order_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = self.orders(state, "waiting")
        first = min((row["promised_at"] for row in rows), default="")
        item = "Has the kitchen begun the waiting order that was promised earliest?"
        return [
            self.change(only([row for row in rows if row["promised_at"] == first]), item, stage="cooking")
        ]


class Ready(Evening):
    """An order is packed."""

    phrases = (
        "The kitchen has packed the order of the <<p>> {name:name}, so it is ready.",
        "Please mark the order that is cooking for the <<p>> {name:name} as ready.",
    )
    needs = ("find_<<p.ids>>", "list_orders", "mark_order_ready")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"name": self.someone(state, rng, "cooking")}

    def plan(self, slots: Slots) -> list[Row]:
        mine = f"list_orders {self.v.p.id}_id<0 stage=stage"
        return self.steps({**slots, "stage": "cooking"}, mine, "mark_order_ready order_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the order of {slots['name']} been marked as ready?"
        return [self.change(self.order(slots, state, "cooking"), item, stage="ready")]


class Collect(Evening):
    """Somebody comes for an order."""

    phrases = (
        "The <<p>> {name:name} came in at {at:time} and took the order along.",
        "Please record that the <<p>> {name:name} collected the order at {at:time}.",
    )
    needs = ("find_<<p.ids>>", "list_orders", "collect_order")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = self.someone(state, rng, "ready", mode="collection")
        return {"name": name, "at": self.at(state, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        mine = f"list_orders {self.v.p.id}_id<0 stage=stage"
        return self.steps({**slots, "stage": "ready"}, mine, "collect_order order_id<1 at")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        order = self.order(slots, state, "ready", mode="collection")
        item = f"Has the order of {slots['name']} been recorded as collected at {slots['at']}?"
        return [self.change(order, item, stage="collected", done_at=slots["at"])]


class Deliver(Evening):
    """An order is at the door."""

    phrases = (
        "The order of the <<p>> {name:name} was handed over at the door at {at:time}.",
        "Please record that what was on the road to the <<p>> {name:name} was delivered at {at:time}.",
    )
    needs = ("find_<<p.ids>>", "list_orders", "deliver_order")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        order = any_of(rng, self.orders(state, "on the road"))
        return {"name": self.name(order, state), "at": self.arrival(order, state, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        mine = f"list_orders {self.v.p.id}_id<0 stage=stage"
        return self.steps({**slots, "stage": "on the road"}, mine, "deliver_order order_id<1 at")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        order = self.order(slots, state, "on the road")
        item = f"Has the order of {slots['name']} been recorded as delivered at {slots['at']}?"
        return [self.change(order, item, order["rider_id"], stage="delivered", done_at=slots["at"])]


class Send(Evening):
    """A rider leaves with the order of one guest."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The rider {rider:name} leaves at {at:time} with the order that is ready for the <<p>> {name:name}.",
        "Please send the rider {rider:name} off at {at:time} with the delivery for the <<p>> {name:name}, which is "
        "ready.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "list_orders", "list_riders", "send_rider")
    weight = 1.2

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rider = any_of(rng, [row for row in state["riders"].values() if row["status"] == "in"])
        name = self.someone(state, rng, "ready", mode="delivery")
        return {"rider": rider["name"], "name": name, "at": self.at(state, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        mine = f"list_orders {self.v.p.id}_id<0 stage=stage"
        look = self.steps({**slots, "stage": "ready"}, mine, "list_riders name=rider")
        return [*look, self.off(2, [found(1, 0, "order_id")], slots["at"])]

    def off(self, riders: int, orders: list[Row], at: str) -> Row:
        """The call that sends the first rider of a reply off."""
        return call("send_rider", rider_id=found(riders, 0, "rider_id"), order_ids=orders, at=at)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        order = self.order(slots, state, "ready", mode="delivery")
        return self.sent(named(state, RIDER, slots["rider"]), [order], slots["at"], state)

    def sent(self, rider: Row, orders: list[Row], at: str, state: State) -> list[Outcome]:
        """The orders are on the road, and the rider is out."""
        if rider["status"] != "in" or portions(orders) > rider["holds"]:
            raise LookupError(f"{rider['name']} cannot take them")
        outcomes: list[Outcome] = []
        for order in orders:
            item = f"Is the order of {self.name(order, state)} on the road with {rider['name']} since {at}?"
            fields = {"stage": "on the road", "rider_id": rider["rider_id"], "out_at": at}
            outcomes.append(self.change(order, item, **fields))
        return [
            *outcomes,
            Changed("riders", rider["rider_id"], {"status": "out"}, f"Is {rider['name']} out?"),
        ]


class SendBoth(Send):
    """One ride for two orders of a zone."""

    phrases = (
        "Both orders that are ready for the zone {zone:name} go out together at {at:time}, with the rider in the shop "
        "whose bag holds most.",
        "Of the riders in the shop, please send the one with the largest bag off at {at:time} with the two orders that "
        "are ready for the zone {zone:name}.",
    )
    needs = ("list_riders", "list_orders", "send_rider")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        zones = [row["zone"] for row in self.orders(state, "ready", mode="delivery")]
        twice = sorted({zone for zone in zones if zones.count(zone) == 2})
        return {"zone": any_of(rng, twice), "at": self.at(state, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        look = steps(
            {**slots, "in": "in", "stage": "ready"}, "list_riders status=in", "list_orders zone stage"
        )
        return [*look, self.off(0, [found(1, 0, "order_id"), found(1, 1, "order_id")], slots["at"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, two = self.orders(state, "ready", zone=slots["zone"])
        free = [row for row in state["riders"].values() if row["status"] == "in"]
        most = max((row["holds"] for row in free), default=0)
        return self.sent(only([row for row in free if row["holds"] == most]), [one, two], slots["at"], state)


class Back(Evening):
    """A rider has handed over the last order and is back."""

    phrases = (
        "The rider {rider:name} handed over the order in the bag at {at:time} and is back in the shop, so record both.",
        "Please record that the rider {rider:name}, who had one order left in the bag, delivered it at {at:time} and "
        "is in the shop again.",
    )
    needs = ("list_riders", "list_orders", "deliver_order", "return_rider")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        order = any_of(rng, self.orders(state, "on the road"))
        rider = state["riders"][order["rider_id"]]["name"]
        return {"rider": rider, "at": self.arrival(order, state, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            {**slots, "stage": "on the road"}, "list_riders name=rider", "list_orders rider_id<0 stage",
            "deliver_order order_id<1 at", "return_rider rider_id<0",
        )  # fmt: skip

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rider = named(state, RIDER, slots["rider"])
        order = only(self.orders(state, "on the road", rider_id=rider["rider_id"]))
        item = f"Has what {slots['rider']} had on the road been recorded as delivered at {slots['at']}?"
        back = f"Is {slots['rider']} in the shop again?"
        given = self.change(order, item, stage="delivered", done_at=slots["at"])
        return [given, Changed("riders", rider["rider_id"], {"status": "in"}, back)]


class ToCollection(Evening):
    """Somebody comes after all."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The <<p>> {name:name} is in the neighbourhood and will collect the order that was to be delivered.",
        "Please make a collection of the delivery for the <<p>> {name:name}, which has not left yet.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "list_orders", "switch_order")
    mode = "collection"
    old = "delivery"
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"name": self.someone(state, rng, *HERE, mode=self.old)}

    def plan(self, slots: Slots) -> list[Row]:
        mine = f"list_orders {self.v.p.id}_id<0 mode=old open_only=True"
        both = {**slots, "mode": self.mode, "old": self.old}
        return self.steps(both, mine, "switch_order order_id<1 mode")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        order = self.order(slots, state, *HERE, mode=self.old)
        zone = "" if self.mode == "collection" else self.guest(slots, state)["zone"]
        if zone and not named(state, ZONE, zone)["is_open"]:
            raise LookupError(f"nobody rides to {zone}")
        promised = after(order["promised_at"], ride(state, zone) - ride(state, order["zone"]))
        fields = {"mode": self.mode, "zone": zone, "promised_at": promised}
        item = f"Has the order of {slots['name']} been switched to {self.mode}?"
        return [self.change(order, item, **fields, **bill(self.v, state, zone, order["lines"]))]


class ToDelivery(ToCollection):
    """Somebody cannot come."""

    phrases = (
        "The <<p>> {name:name} cannot come for the order and would like it delivered instead.",
        "Please make a delivery of the collection for the <<p>> {name:name}, who cannot leave the house.",
    )
    mode = "delivery"
    old = "collection"


class Postpone(Evening):
    """An order will be later than promised."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The order of the <<p>> {name:name} will be {n:int} minutes later than promised, so put its time back.",
        "Please put the promised time of the open order of the <<p>> {name:name} back by {n:int} minutes.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "list_orders", "postpone_order")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"name": self.someone(state, rng, *OPEN), "n": 5 * int(rng.integers(1, 6))}

    def plan(self, slots: Slots) -> list[Row]:
        mine = f"list_orders {self.v.p.id}_id<0 open_only=True"
        return self.steps(slots, mine, "postpone_order order_id<1 minutes=n")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.later(self.order(slots, state, *OPEN), slots["n"], state)

    def later(self, order: Row, more: int, state: State) -> list[Outcome]:
        """The order is promised later."""
        promised = after(order["promised_at"], more)
        item = f"Is the order of {self.name(order, state)} promised for {promised}?"
        return [self.change(order, item, promised_at=promised)]


class PostponeLatest(Postpone):
    """The guest who has been waiting too long is told a new time."""

    phrases = (
        "Of the orders that are late at {at:time}, the most overdue one needs {n:int} minutes more, so put its "
        "promised time back by that.",
        "Look up which orders are overdue at {at:time} and put the promised time of the most overdue one back by "
        "{n:int} minutes.",
    )
    needs = ("list_late_orders", "postpone_order")
    weight = 1.0

    def draw(self, state: State, rng: Rng) -> Slots | None:
        at, more = self.at(state, rng), 5 * int(rng.integers(3, 8))
        told = min((row["promised_at"] for row in self.orders(state, *OPEN)), default=at)
        # Nobody is told a time that has passed.
        return {"at": at, "n": more} if after(told, more) > at else None

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_late_orders at", "postpone_order order_id<0 minutes=n")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        late = [row for row in self.orders(state, *OPEN) if row["promised_at"] < slots["at"]]
        first = min((row["promised_at"] for row in late), default="")
        return self.later(only([row for row in late if row["promised_at"] == first]), slots["n"], state)


class SoldOut(Evening):
    """A dish has run out."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The kitchen has run out of {dish:name}, so mark the dish as sold out.",
        "Please take {dish:name} off for tonight, as it is sold out.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_dishes", "mark_sold_out")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"dish": any_of(rng, self.scarce(state, 1))["name"]}

    def scarce(self, state: State, least: int) -> list[Row]:
        """The dishes of which fewest can still be made, but so many at least."""
        rows = [row for row in state["dishes"].values() if row["portions"] >= least]
        return sorted(rows, key=lambda row: row["portions"])[:5]

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_dishes name=dish", "mark_sold_out dish_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        dish = named(state, DISH, slots["dish"])
        if not dish["portions"]:
            raise LookupError("it is sold out")
        return [self.taken(dish, dish["portions"], f"Is {slots['dish']} sold out?")]


class More(SoldOut):
    """More can be made of a dish."""

    phrases = (
        "The kitchen can make {n:int} more portions of {dish:name} tonight, please add them.",
        "Please add {n:int} portions to what we can still make of {dish:name}.",
    )
    needs = ("find_dishes", "add_portions")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"dish": any_of(rng, self.scarce(state, 0))["name"], "n": int(rng.integers(3, 13))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_dishes name=dish", "add_portions dish_id<0 portions=n")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Can {slots['n']} more portions of {slots['dish']} be made?"
        return [self.taken(named(state, DISH, slots["dish"]), -slots["n"], item)]


class CloseZone(Evening):
    """Nobody rides to a zone for now."""

    phrases: ClassVar[tuple[str, ...]] = (
        "We are behind with the rides to the zone {zone:name}, so take no new deliveries there tonight.",
        "Please close the zone {zone:name} to new deliveries.",
    )
    needs: ClassVar[tuple[str, ...]] = ("list_zones", "set_zone_open")
    weight = 0.5
    opens = False

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state["zones"].values() if row["is_open"] != self.opens]
        return {"zone": any_of(rng, rows)["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_zones name=zone", f"set_zone_open zone_id<0 is_open={self.opens}")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        zone, word = named(state, ZONE, slots["zone"]), "open" if self.opens else "closed"
        if zone["is_open"] == self.opens:
            raise LookupError(f"it is {word}")
        item = f"Is the zone {slots['zone']} {word} to new deliveries?"
        return [Changed("zones", zone["zone_id"], {"is_open": self.opens}, item)]


class OpenZone(CloseZone):
    """Riders go to a zone again."""

    phrases = (
        "The riders can get to the zone {zone:name} again, so open it.",
        "Please open the zone {zone:name} to new deliveries again.",
    )
    opens = True


class Move(Evening):
    """A guest lives elsewhere."""

    phrases = (
        "The <<p>> {name:name} has moved to {address:name} in the zone {zone:name}, please enter that.",
        "Please change the address of the <<p>> {name:name} to {address:name}, which is in the zone {zone:name}.",
    )
    needs = ("find_<<p.ids>>", "move_<<p.id>>")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        waits = {row[f"{self.v.p.id}_id"] for row in self.orders(state, *OPEN)}
        guests = [
            row for key, row in state[self.v.p.ids].items() if key not in waits and row["status"] == "active"
        ]
        return {"name": any_of(rng, guests)["name"], **home(self.v, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        return self.steps(slots, f"move_{self.v.p.id} {self.v.p.id}_id<0 address zone")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        guest, new = self.guest(slots, state), {name: slots[name] for name in ("address", "zone")}
        if guest["address"] == new["address"] or new["zone"] not in self.v.s.zones:
            raise LookupError("it stays as it is")
        item = f"Has {slots['name']} the address {new['address']} in the zone {new['zone']}?"
        return [Changed(self.v.p.ids, guest[f"{self.v.p.id}_id"], new, item)]


class Takeaway(Pattern):
    """The evening of a take-away."""

    Settings = TakeawaySettings
    GOALS: ClassVar = (
        Place, PlaceSafe, AddDish, Cancel, StartNext, Ready, Collect, Deliver, Send, SendBoth, Back, ToCollection,
        ToDelivery, Postpone, PostponeLatest, SoldOut, More, CloseZone, OpenZone, Move,
    )  # fmt: skip

    def vocabulary(self, s: TakeawaySettings, shared: dict[str, Noun]) -> dict[str, Any]:
        return {
            "p": shared["person"], "d": DISH, "o": ORDER, "z": ZONE, "r": RIDER,
            "courses": list(s.dishes), "courselist": either(list(s.dishes)), "allergenlist": either(s.allergens),
            "zonelist": either(list(s.zones)), "stages": list(STAGES), "here": list(HERE), "open": list(OPEN),
            "fee_from": f"{s.free_from:.2f}",
        }  # fmt: skip

    def tables(self, v: SimpleNamespace) -> list[Table]:
        p = v.p
        return [
            form(DISH, "A dish on tonight's menu.", f"""
                dish_id: str = unique id, e.g. DSH-001
                name: str = name, unique
                course: str = {v.courselist}
                price: float = price of a portion in EUR
                contains: list[str] = allergens in it, of {", ".join(v.s.allergens)}
                portions: int = portions that can still be made tonight, 0 when it is sold out
            """),
            form(ZONE, "A part of town that riders go to.", """
                zone_id: str = unique id, e.g. ZON-001
                name: str = name, unique
                fee: float = what a delivery there costs in EUR
                minutes: int = minutes the ride takes
                is_open: bool = whether new deliveries there are taken
            """),
            form(RIDER, "Somebody who takes orders to the door.", """
                rider_id: str = unique id, e.g. RID-001
                name: str = full name
                vehicle: str = what they ride
                holds: int = portions that go into their bag
                status: str = in when they are in the shop, else out
            """),
            form(ORDER, f"What {p.a} has ordered.", f"""
                order_id: str = unique id, e.g. ORD-001
                {p.id}_id: str = the {p} it is for
                mode: str = delivery or collection
                zone: str = name of the zone it is delivered to, empty for a collection
                lines: list[dict] = each with dish_id, quantity and unit_price
                delivery_fee: float = fee in EUR, 0 for a collection
                total: float = value of the lines and the fee in EUR
                placed_on: str = date, as YYYY-MM-DD
                placed_at: str = time it was placed, as HH:MM
                promised_at: str = time the {p} was told, as HH:MM
                stage: str = {either(STAGES)}
                rider_id: str | None = the rider who took it, None before and for a collection
                out_at: str = time it left with the rider, as HH:MM, empty before
                done_at: str = time it was delivered or collected, as HH:MM, empty before
            """),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "What can still be made of a dish is never below 0, and a cancelled order gives back what it held.",
            """
            old, new = rows(before, "dishes"), rows(after, "dishes")
            if any((row.get("portions") or 0) < 0 for row in new.values()):
                return False
            for was, now in changed("orders", "stage"):
                for line in (was.get("lines") or []) if now.get("stage") == "cancelled" else []:
                    key = str(line.get("dish_id"))
                    had, has = old.get(key, {}).get("portions"), new.get(key, {}).get("portions")
                    if isinstance(had, int) and isinstance(has, int) and has - had != line.get("quantity"):
                        return False
            return True
            """,
        ),
        RuleText(
            "The total of an order is the value of its lines plus the fee of its zone, which falls away from "
            "<<fee_from>> EUR on and for a collection.",
            """
            fees = {row.get("name"): row.get("fee") for row in rows(after, "zones").values()}
            for row in rows(after, "orders").values():
                try:
                    goods = round(sum(line["quantity"] * line["unit_price"] for line in row["lines"]), 2)
                    free = row["mode"] == "collection" or goods >= <<s.free_from>>
                    fee = 0.0 if free else fees[row["zone"]]
                    if abs(row["delivery_fee"] - fee) > 0.005 or abs(row["total"] - goods - fee) > 0.011:
                        return False
                except (KeyError, TypeError):
                    continue
            return True
            """,
        ),
        RuleText(
            "No order gets a dish with what the <<p>> is allergic to, more than <<s.most>> portions of a dish, or two "
            "lines with the same dish.",
            """
            people, dishes = rows(after, "<<p.ids>>"), rows(after, "dishes")
            for row in added("orders") + [new for _, new in changed("orders", "lines")]:
                lines = [line for line in row.get("lines") or [] if isinstance(line, dict)]
                ids = [str(line.get("dish_id")) for line in lines]
                counts = [line.get("quantity") for line in lines]
                if len(set(ids)) < len(ids) or not all(n in range(1, <<s.most + 1>>) for n in counts):
                    return False
                allergy = people.get(str(row.get("<<p.id>>_id")), {}).get("<<s.allergy>>")
                if any(allergy in (dishes.get(key, {}).get("contains") or []) for key in ids):
                    return False
            return True
            """,
        ),
        RuleText(
            "An order is waiting, then cooking, then ready; a delivery is then on the road and delivered, a collection "
            "collected; only what is waiting can be cancelled.",
            """
            steps = {
                "waiting": ("cooking", "cancelled"),
                "cooking": ("ready",),
                "ready": ("on the road", "collected"),
                "on the road": ("delivered",),
            }
            for old, new in changed("orders", "stage"):
                stage = new.get("stage")
                mode = {"on the road": "delivery", "collected": "collection"}.get(stage, new.get("mode"))
                if stage not in steps.get(old.get("stage"), ()) or new.get("mode") != mode:
                    return False
            return all(row.get("stage") == "waiting" for row in added("orders"))
            """,
        ),
        RuleText(
            "What is on the road is with a rider who is out; what one rider has goes to one zone and is no more than "
            "the bag holds.",
            """
            riders, bags = rows(after, "riders"), {}
            for row in rows(after, "orders").values():
                if row.get("stage") == "on the road":
                    bags.setdefault(str(row.get("rider_id")), []).append(row)
            for key, bag in bags.items():
                rider = riders.get(key, {})
                lines = [line for row in bag for line in row.get("lines") or [] if isinstance(line, dict)]
                if rider.get("status") != "out" or len({row.get("zone") for row in bag}) > 1:
                    return False
                if sum(line.get("quantity") or 0 for line in lines) > (rider.get("holds") or 0):
                    return False
            return True
            """,
        ),
        RuleText(
            "An order is promised no earlier than <<s.kitchen>> minutes after it was placed, plus the ride for a "
            "delivery.",
            """
            def clock(text):
                hours, _, minutes = str(text).partition(":")
                return int(hours) * 60 + int(minutes) if hours.isdigit() and minutes.isdigit() else 0

            rides = {row.get("name"): row.get("minutes") for row in rows(after, "zones").values()}
            for row in rows(after, "orders").values():
                least = <<s.kitchen>> + ((rides.get(row.get("zone")) or 0) if row.get("mode") == "delivery" else 0)
                if clock(row.get("promised_at")) - clock(row.get("placed_at")) < least:
                    return False
            return True
            """,
        ),
        RuleText(
            "Only <<p.many>> on record as active get a new order, and only zones that are open a new delivery.",
            """
            people = rows(before, "<<p.ids>>")
            taken = {row.get("name") for row in rows(before, "zones").values() if row.get("is_open") is True}
            for row in added("orders"):
                if people.get(str(row.get("<<p.id>>_id")), {}).get("status") != "active":
                    return False
                if row.get("mode") == "delivery" and row.get("zone") not in taken:
                    return False
            return True
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _minutes(clock: str) -> int | None:
        """Return the minutes since midnight of a time as HH:MM, None when it is none."""
        parts = clock.split(":") if clock.isascii() else []
        if [len(part) for part in parts] != [2, 2] or not all(part.isdigit() for part in parts):
            return None
        hours, minutes = map(int, parts)
        return 60 * hours + minutes if hours < 24 and minutes < 60 else None

    def _later(self, clock: str, more: int) -> str:
        """Return the time so many minutes after a time of day."""
        total = self._minutes(clock) + more
        return f"{total // 60:02d}:{total % 60:02d}"

    def _zone_called(self, name: str) -> dict | None:
        """Return the zone of that name, None when there is none, as for a collection."""
        return next((zone for zone in self.zones.values() if zone["name"] == name), None)

    def _obstacle(self, <<p.id>>: dict, dish: dict, quantity: int) -> str:
        """Return why <<p.a>> cannot have so many portions of a dish; an empty text when nothing is in the way."""
        if <<p.id>>["<<s.allergy>>"] in dish["contains"]:
            return f"{dish['name']} contains {<<p.id>>['<<s.allergy>>']}, which {<<p.id>>['name']} must not have."
        if not 1 <= quantity <= <<s.most>>:
            return f"An order is for 1 to <<s.most>> portions of a dish, not {quantity}."
        if quantity > dish["portions"]:
            return f"Only {dish['portions']} portions of {dish['name']} can still be made."
        return ""

    def _set_total(self, order: Order) -> None:
        """Work out the fee and the total of an order from its lines and its zone."""
        goods = round(sum(line["quantity"] * line["unit_price"] for line in order["lines"]), 2)
        zone = self._zone_called(order["zone"])
        order["delivery_fee"] = 0.0 if zone is None or goods >= <<s.free_from>> else zone["fee"]
        order["total"] = round(goods + order["delivery_fee"], 2)
'''

    READS = '''
def find_dishes(self, name: str) -> dict:
    """Find dishes by name.

    Args:
        name: Name or a part of it; upper and lower case are the same.

    Returns:
        The matching dishes sorted by name; an empty list when none matches.
    """
    wanted = name.strip().lower()
    refuse if not wanted :: The name to look for is empty.
    matches = [deepcopy(dish) for dish in self.dishes.values() if wanted in dish["name"].lower()]
    return {"success": True, "data": sorted(matches, key=lambda dish: dish["name"])}

def list_dishes(self, course: str | None = None, without: str | None = None, min_portions: int = 0) -> dict:
    """List dishes of the menu, the cheapest first.

    Args:
        course: Only this course: <<courselist>>. Leave out for all.
        without: Only those that do not contain this allergen: <<allergenlist>>. Leave out for all.
        min_portions: Only those of which at least this many portions can still be made.

    Returns:
        The matching dishes sorted by price.
    """
    refuse if course not in (None, <<quoted(courses)>>) :: There is no course {course!r}.
    refuse if without not in (None, <<quoted(s.allergens)>>) :: There is no allergen {without!r}.
    refuse if min_portions < 0 :: The least number of portions cannot be negative, as {min_portions} is.
    selected = [
        deepcopy(dish)
        for dish in self.dishes.values()
        if course in (None, dish["course"])
        and without not in dish["contains"]
        and dish["portions"] >= min_portions
    ]
    return {"success": True, "data": sorted(selected, key=lambda dish: (dish["price"], dish["dish_id"]))}

def list_zones(self, name: str | None = None) -> dict:
    """List the zones that riders go to, the nearest first.

    Args:
        name: Only the zone of this name; upper and lower case are the same. Leave out for all.

    Returns:
        The zones, each with the number of `open_orders` that are to be delivered there.
    """
    selected = []
    for zone in self.zones.values():
        if name is None or zone["name"].lower() == name.strip().lower():
            there = [order for order in self.orders.values() if order["zone"] == zone["name"]]
            count = sum(order["stage"] in (<<quoted(open)>>) for order in there)
            selected.append({**zone, "open_orders": count})
    return {"success": True, "data": sorted(selected, key=lambda zone: (zone["minutes"], zone["zone_id"]))}

def list_riders(self, name: str | None = None, status: str | None = None) -> dict:
    """List the riders, the one with the largest bag first.

    Args:
        name: Only those with this name, or a part of it; upper and lower case are the same. Leave out for all.
        status: Only those who are "in", which is in the shop, or "out". Leave out for all.

    Returns:
        The matching riders; an empty list when there are none.
    """
    refuse if status not in (None, "in", "out") :: A rider is in or out, not {status!r}.
    selected = [
        dict(rider)
        for rider in self.riders.values()
        if (name or "").strip().lower() in rider["name"].lower() and status in (None, rider["status"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda rider: (-rider["holds"], rider["rider_id"]))}

def list_orders(
    self,
    <<p.id>>_id: str | None = None,
    rider_id: str | None = None,
    zone: str | None = None,
    mode: str | None = None,
    stage: str | None = None,
    open_only: bool = False,
) -> dict:
    """List orders, the one that is promised first at the head.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        rider_id: Only those that this rider took. Leave out for all.
        zone: Only deliveries to the zone of this name; upper and lower case are the same. Leave out for all.
        mode: Only those for "delivery" or for "collection". Leave out for all.
        stage: Only those that are <<stages|join(", ")>>. Leave out for all.
        open_only: Whether to leave out what is delivered, collected or cancelled.

    Returns:
        The matching orders; an empty list when there are none.
    """
    refuse if mode not in (None, "delivery", "collection") :: An order is for delivery or collection, not {mode!r}.
    refuse if stage not in (None, <<quoted(stages)>>) :: There is no stage {stage!r}.
    selected = [
        deepcopy(order)
        for order in self.orders.values()
        if <<p.id>>_id in (None, order["<<p.id>>_id"])
        and rider_id in (None, order["rider_id"])
        and (zone is None or zone.strip().lower() == order["zone"].lower())
        and mode in (None, order["mode"])
        and stage in (None, order["stage"])
        and (not open_only or order["stage"] in (<<quoted(open)>>))
    ]
    selected.sort(key=lambda order: (order["placed_on"], order["promised_at"], order["order_id"]))
    return {"success": True, "data": selected}

def list_late_orders(self, at: str) -> dict:
    """List the open orders whose promised time has passed, the most overdue first.

    Args:
        at: Time of day, as HH:MM.

    Returns:
        The orders, each with the minutes it is `late`; an empty list when everything is on time.
    """
    time = self._minutes(at)
    refuse if time is None :: {at!r} is not a time as HH:MM.
    late = [
        {**deepcopy(order), "late": time - self._minutes(order["promised_at"])}
        for order in self.orders.values()
        if order["stage"] in (<<quoted(open)>>) and order["promised_at"] < at
    ]
    return {"success": True, "data": sorted(late, key=lambda order: (-order["late"], order["order_id"]))}

def count_to_make(self) -> dict:
    """Count what the kitchen still has to make: the portions in orders that are waiting or cooking.

    Returns:
        By name of the dish the portions that are `waiting` and `cooking`.
    """
    counts: dict[str, dict] = {}
    for order in self.orders.values():
        for line in order["lines"] if order["stage"] in ("waiting", "cooking") else []:
            name = self.dishes[line["dish_id"]]["name"]
            entry = counts.setdefault(name, {"waiting": 0, "cooking": 0})
            entry[order["stage"]] += line["quantity"]
    return {"success": True, "data": dict(sorted(counts.items()))}
'''

    WRITES = '''
def place_order(self, <<p.id>>_id: str, dish_id: str, quantity: int, mode: str, at: str) -> dict:
    """Enter a new order of one dish, promised <<s.kitchen>> minutes and the ride later; more can be added to it.

    Args:
        <<p.id>>_id: Id of the <<p>>, who must be active and not be allergic to the dish.
        dish_id: Id of the dish.
        quantity: Number of portions, 1 to <<s.most>> and no more than can still be made.
        mode: "delivery", to the zone of the <<p>>, which must be open, or "collection".
        at: Time of day at which it was placed, as HH:MM, between <<s.opens>> and <<s.closes>>.

    Returns:
        The new order with its total and the promised time, or an error.
    """
    need p
    refuse if <<p.id>>["status"] != "active" :: {<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}.
    need d
    refuse if mode not in ("delivery", "collection") :: An order is for delivery or collection, not {mode!r}.
    if self._minutes(at) is None or not "<<s.opens>>" <= at <= "<<s.closes>>":
        refuse :: Orders are taken from <<s.opens>> to <<s.closes>>, not at {at!r}.
    zone = self._zone_called(<<p.id>>["zone"]) if mode == "delivery" else None
    refuse if zone and not zone["is_open"] :: The zone {zone['name']} is closed to new deliveries.
    obstacle = self._obstacle(<<p.id>>, dish, quantity)
    if obstacle:
        return {"success": False, "error": obstacle}
    order: Order = {
        "order_id": self._next_id(self.orders, "ORD"),
        "<<p.id>>_id": <<p.id>>_id,
        "mode": mode,
        "zone": zone["name"] if zone else "",
        "lines": [{"dish_id": dish_id, "quantity": quantity, "unit_price": dish["price"]}],
        "delivery_fee": 0.0,
        "total": 0.0,
        "placed_on": self.today,
        "placed_at": at,
        "promised_at": self._later(at, <<s.kitchen>> + (zone["minutes"] if zone else 0)),
        "stage": "waiting",
        "rider_id": None,
        "out_at": "",
        "done_at": "",
    }
    self._set_total(order)
    dish["portions"] -= quantity
    self.orders[order["order_id"]] = order
    done deepcopy(order) :: Order {order['order_id']} is promised for {order['promised_at']}.

def add_to_order(self, order_id: str, dish_id: str, quantity: int) -> dict:
    """Add a dish to an order that the kitchen has not begun; the promised time stays.

    Args:
        order_id: Id of the order; it must be waiting.
        dish_id: Id of the dish, which the order does not hold yet and the <<p>> is not allergic to.
        quantity: Number of portions, 1 to <<s.most>> and no more than can still be made.

    Returns:
        The order with its new total, or an error.
    """
    need o
    refuse if order["stage"] != "waiting" :: Order {order_id} is {order['stage']} and cannot be added to.
    need d
    if any(line["dish_id"] == dish_id for line in order["lines"]):
        refuse :: Order {order_id} holds {dish['name']} already.
    obstacle = self._obstacle(self.<<p.ids>>[order["<<p.id>>_id"]], dish, quantity)
    if obstacle:
        return {"success": False, "error": obstacle}
    dish["portions"] -= quantity
    order["lines"].append({"dish_id": dish_id, "quantity": quantity, "unit_price": dish["price"]})
    self._set_total(order)
    done deepcopy(order) :: {quantity} x {dish['name']} added to {order_id}.

def cancel_order(self, order_id: str) -> dict:
    """Cancel an order that the kitchen has not begun; its portions can be sold again.

    Args:
        order_id: Id of the order; it must be waiting.

    Returns:
        The cancelled order, or an error.
    """
    need o
    refuse if order["stage"] != "waiting" :: Order {order_id} is {order['stage']} and cannot be cancelled.
    for line in order["lines"]:
        self.dishes[line["dish_id"]]["portions"] += line["quantity"]
    order["stage"] = "cancelled"
    done deepcopy(order) :: Order {order_id} is cancelled.

def start_order(self, order_id: str) -> dict:
    """Let the kitchen begin an order.

    Args:
        order_id: Id of the order; it must be waiting.

    Returns:
        The order, now cooking, or an error.
    """
    need o
    refuse if order["stage"] != "waiting" :: Order {order_id} is {order['stage']}, not waiting.
    order["stage"] = "cooking"
    done deepcopy(order) :: The kitchen is at order {order_id}.

def mark_order_ready(self, order_id: str) -> dict:
    """Record that an order is cooked and packed.

    Args:
        order_id: Id of the order; it must be cooking.

    Returns:
        The order, now ready, or an error.
    """
    need o
    refuse if order["stage"] != "cooking" :: Order {order_id} is {order['stage']}, not cooking.
    order["stage"] = "ready"
    done deepcopy(order) :: Order {order_id} is ready for {order['mode']}.

def send_rider(self, rider_id: str, order_ids: list[str], at: str) -> dict:
    """Send a rider off with one or more deliveries to the same zone.

    Args:
        rider_id: Id of the rider, who must be in the shop.
        order_ids: Ids of the orders: deliveries that are ready, to one zone, no more portions than the bag holds.
        at: Time of day, as HH:MM, not before the orders were placed.

    Returns:
        The rider, now out, and the orders, now on the road, or an error.
    """
    need r
    refuse if rider["status"] != "in" :: {rider['name']} is not in the shop.
    refuse if not order_ids or len(set(order_ids)) < len(order_ids) :: Give the id of each order once.
    unknown = [key for key in order_ids if key not in self.orders]
    refuse if unknown :: There is no order with the id {unknown[0]!r}.
    bag = [self.orders[key] for key in order_ids]
    for order in bag:
        if (order["stage"], order["mode"]) != ("ready", "delivery"):
            refuse :: {order['order_id']} is {order['stage']} and for {order['mode']}.
    refuse if len({order["zone"] for order in bag}) > 1 :: The orders are for different zones.
    portions = sum(line["quantity"] for order in bag for line in order["lines"])
    refuse if portions > rider["holds"] :: The bag holds {rider['holds']} portions, not {portions}.
    if self._minutes(at) is None or at < max(order["placed_at"] for order in bag):
        refuse :: {at!r} is not a time as HH:MM, or the orders were placed later.
    for order in bag:
        order.update(stage="on the road", rider_id=rider_id, out_at=at)
    rider["status"] = "out"
    data = {"rider": dict(rider), "orders": deepcopy(bag)}
    done data :: {rider['name']} is on the road to the zone {bag[0]['zone']}.

def deliver_order(self, order_id: str, at: str) -> dict:
    """Record that an order was handed over at the door; its rider is out until told to be back.

    Args:
        order_id: Id of the order; it must be on the road.
        at: Time of day, as HH:MM, not before it left.

    Returns:
        The order, now delivered, or an error.
    """
    need o
    refuse if order["stage"] != "on the road" :: Order {order_id} is {order['stage']}, not on the road.
    if self._minutes(at) is None or at < order["out_at"]:
        refuse :: {at!r} is not a time as HH:MM from {order['out_at']} on, when it left.
    order.update(stage="delivered", done_at=at)
    done deepcopy(order) :: Order {order_id} is delivered.

def collect_order(self, order_id: str, at: str) -> dict:
    """Record that somebody came for an order.

    Args:
        order_id: Id of the order; it must be ready and for collection.
        at: Time of day, as HH:MM, not before it was placed.

    Returns:
        The order, now collected, or an error.
    """
    need o
    if (order["stage"], order["mode"]) != ("ready", "collection"):
        refuse :: Order {order_id} is {order['stage']} and for {order['mode']}.
    if self._minutes(at) is None or at < order["placed_at"]:
        refuse :: {at!r} is not a time as HH:MM from {order['placed_at']} on, when it was placed.
    order.update(stage="collected", done_at=at)
    done deepcopy(order) :: Order {order_id} is collected.

def return_rider(self, rider_id: str) -> dict:
    """Record that a rider is in the shop again.

    Args:
        rider_id: Id of the rider, who must be out and have nothing left on the road.

    Returns:
        The rider, now in, or an error.
    """
    need r
    refuse if rider["status"] != "out" :: {rider['name']} is in the shop.
    for order in self.orders.values():
        if order["stage"] == "on the road" and order["rider_id"] == rider_id:
            refuse :: {rider['name']} still has order {order['order_id']} on the road.
    rider["status"] = "in"
    done dict(rider) :: {rider['name']} is in the shop again.

def switch_order(self, order_id: str, mode: str) -> dict:
    """Make a collection of a delivery, or the other way round; fee and promised time follow.

    Args:
        order_id: Id of the order, which has not left the shop.
        mode: "collection", or "delivery" to the zone of the <<p>>, which must be open.

    Returns:
        The order with its new total and the promised time, or an error.
    """
    need o
    refuse if mode not in ("delivery", "collection") :: An order is for delivery or collection, not {mode!r}.
    refuse if order["stage"] not in (<<quoted(here)>>) :: Order {order_id} is {order['stage']}.
    refuse if order["mode"] == mode :: Order {order_id} is for {mode} already.
    old = self._zone_called(order["zone"])
    new = self._zone_called(self.<<p.ids>>[order["<<p.id>>_id"]]["zone"]) if mode == "delivery" else None
    refuse if new and not new["is_open"] :: The zone {new['name']} is closed to new deliveries.
    more = (new["minutes"] if new else 0) - (old["minutes"] if old else 0)
    if self._minutes(order["promised_at"]) + more >= 1440:
        refuse :: It would not be there before midnight.
    order.update(mode=mode, zone=new["name"] if new else "")
    order["promised_at"] = self._later(order["promised_at"], more)
    self._set_total(order)
    done deepcopy(order) :: Order {order_id} is for {mode} at {order['promised_at']} now.

def postpone_order(self, order_id: str, minutes: int) -> dict:
    """Put the promised time of an open order back.

    Args:
        order_id: Id of the order, which is not delivered, collected or cancelled.
        minutes: By how much later it is promised, 1 to 60; before midnight.

    Returns:
        The order with the new promised time, or an error.
    """
    need o
    refuse if order["stage"] not in (<<quoted(open)>>) :: Order {order_id} is {order['stage']}.
    refuse if not 1 <= minutes <= 60 :: An order is put back by 1 to 60 minutes, not {minutes}.
    refuse if self._minutes(order["promised_at"]) + minutes >= 1440 :: That is past midnight.
    order["promised_at"] = self._later(order["promised_at"], minutes)
    done deepcopy(order) :: Order {order_id} is promised for {order['promised_at']} now.

def mark_sold_out(self, dish_id: str) -> dict:
    """Record that nothing is left of a dish; only portions that are added or given back can be ordered then.

    Args:
        dish_id: Id of the dish, which is not sold out.

    Returns:
        The dish, or an error.
    """
    need d
    refuse if dish["portions"] == 0 :: {dish['name']} is sold out already.
    dish["portions"] = 0
    done deepcopy(dish) :: {dish['name']} is sold out.

def add_portions(self, dish_id: str, portions: int) -> dict:
    """Add to what can still be made of a dish tonight.

    Args:
        dish_id: Id of the dish.
        portions: How many more, 1 to 50.

    Returns:
        The dish, or an error.
    """
    need d
    refuse if not 1 <= portions <= 50 :: 1 to 50 portions can be added, not {portions}.
    dish["portions"] += portions
    done deepcopy(dish) :: {dish['portions']} portions of {dish['name']} can be made.

def move_<<p.id>>(self, <<p.id>>_id: str, address: str, zone: str) -> dict:
    """Change where <<p.a>> lives; open deliveries keep the zone that they were ordered for.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        address: Street and number.
        zone: Name of the zone it lies in: <<zonelist>>.

    Returns:
        The changed record, or an error.
    """
    need p
    refuse if not address.strip() :: The address is empty.
    refuse if self._zone_called(zone) is None :: There is no zone {zone!r}.
    if (<<p.id>>["address"], <<p.id>>["zone"]) == (address.strip(), zone):
        refuse :: {<<p.id>>['name']} lives there already.
    <<p.id>>.update(address=address.strip(), zone=zone)
    done dict(<<p.id>>) :: {<<p.id>>['name']} lives in the zone {zone} now.

def set_zone_open(self, zone_id: str, is_open: bool) -> dict:
    """Open a zone to new deliveries or close it; what has been ordered is still taken there.

    Args:
        zone_id: Id of the zone.
        is_open: Whether new deliveries there are taken.

    Returns:
        The zone, or an error.
    """
    need z
    refuse if zone["is_open"] == is_open :: Nothing changes for the zone {zone['name']}.
    zone["is_open"] = is_open
    done dict(zone) :: The zone {zone['name']} is {'open' if is_open else 'closed'} now.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        self._menu(v, state, rng)
        closed = pick(rng, [*v.s.zones, *[None] * len(v.s.zones)])
        for n, (name, area) in enumerate(v.s.zones.items(), 1):
            key = key_of("ZON", n)
            state["zones"][key] = {
                "zone_id": key,
                "name": name,
                "fee": area.fee,
                "minutes": area.minutes,
                "is_open": name != closed,
            }
        taken = frozenset(row["name"] for row in state[v.p.ids].values())
        vehicles = shuffled(rng, list(v.s.vehicles.items()))
        for n, (name, (vehicle, holds)) in enumerate(
            zip(names.people(rng, len(vehicles), taken), vehicles, strict=True)
        ):
            key = key_of("RID", n + 1)
            state["riders"][key] = {
                "rider_id": key, "name": name, "vehicle": vehicle, "holds": holds, "status": "in",
            }  # fmt: skip
        for guest in state[v.p.ids].values():  # most people may have everything
            guest.update(home(v, rng))
            if rng.random() < 0.5:
                guest[v.s.allergy] = "none"
        Book(v, state, rng).fill(closed)

    def _menu(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        chosen = [
            (course, name)
            for course, dishes in v.s.dishes.items()
            for name in shuffled(rng, list(dishes))[: v.s.many[course]]
        ]
        gone = set(rng.choice(len(chosen), size=2, replace=False).tolist())
        for n, (course, name) in enumerate(chosen):
            price, contains = v.s.dishes[course][name]
            key = key_of("DSH", n + 1)
            state["dishes"][key] = {
                "dish_id": key, "name": name, "course": course,
                "price": round(price * float(rng.uniform(0.93, 1.07)), 1), "contains": list(contains),
                "portions": 0 if n in gone else int(rng.integers(v.s.portions[0], v.s.portions[1] + 1)),
            }  # fmt: skip


class Book:
    """The orders of an evening that has been going on for two or three hours, and some of the day before."""

    def __init__(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        self.v, self.state, self.rng = v, state, rng
        self.now = minutes(v.s.opens) + int(rng.integers(135, 230))
        self.free = shuffled(rng, [row for row in state[v.p.ids].values() if row["status"] == "active"])
        """Who has not ordered today, of those who may."""
        self.rows: list[Row] = []

    def fill(self, closed: str | None) -> None:
        """Write the orders down, those placed first with the lowest ids; no delivery goes to the closed zone."""
        self._pair(closed)
        riders = shuffled(self.rng, list(self.state["riders"].values()))
        for rider in riders[: self._between((1, 3))]:
            rider["status"] = "out"
            self._road(self._next("delivery", closed), rider)
        self._open("ready", (18, 35), "collection", closed)
        for stage, ago in (("cooking", (9, 18)), ("waiting", (1, 9))):
            self._open(stage, ago, "delivery", closed)
            self._open(stage, ago, "collection", closed)
        self._open("waiting", (1, 9), pick(self.rng, MODES), closed)
        for stage, mode in (("delivered", "delivery"), ("collected", "collection")):
            self._finished(self._next(mode, closed), stage, mode, self.state["today"])
        yesterday = later(self.state["today"], -1)
        guests = shuffled(self.rng, list(self.state[self.v.p.ids].values()))
        ends = [("delivered", "delivery"), ("collected", "collection"), ("cancelled", pick(self.rng, MODES))]
        for guest, (stage, mode) in zip(guests, ends, strict=False):
            self._finished(guest, stage, mode, yesterday)
        self.rows.sort(key=lambda row: (row["placed_on"], row["placed_at"]))
        for n, row in enumerate(self.rows, 1):
            self.state["orders"][key_of("ORD", n)] = {"order_id": key_of("ORD", n), **row}

    def _next(self, mode: str, closed: str | None) -> Row:
        """Somebody who has not ordered yet; those whom no rider gets to collect."""
        if mode == "delivery":
            guest = next(row for row in self.free if row["zone"] != closed)
        else:
            guest = next((row for row in self.free if row["zone"] == closed), self.free[0])
        self.free.remove(guest)
        return guest

    def _between(self, span: tuple[int, int]) -> int:
        return int(self.rng.integers(*span))

    def _pair(self, closed: str | None) -> None:
        """Two deliveries to one zone that are ready, where two guests live in one."""
        zones = [row["zone"] for row in self.free]
        for zone in shuffled(self.rng, [z for z in self.v.s.zones if z != closed and zones.count(z) > 1])[:1]:
            for guest in [row for row in self.free if row["zone"] == zone][:2]:
                self.free.remove(guest)
                self._write(guest, "ready", "delivery", self.now - self._between((22, 40)))

    def _open(self, stage: str, ago: tuple[int, int], mode: str, closed: str | None) -> None:
        """An order that has not left."""
        self._write(self._next(mode, closed), stage, mode, self.now - self._between(ago))

    def _road(self, guest: Row, rider: Row) -> None:
        """An order on its way."""
        way = ride(self.state, guest["zone"])
        out = self.now - self._between((max(2, way - 6), way + 4))
        told = {"rider_id": rider["rider_id"], "out_at": clock(out)}
        self._write(guest, "on the road", "delivery", out - self._between((16, 30)), **told)

    def _finished(self, guest: Row, stage: str, mode: str, day: str) -> None:
        """An order of some time ago."""
        placed = self.now - self._between((90, 130))
        told: Row = {}
        if stage == "delivered":
            out = placed + self._between((16, 28))
            rider = pick(self.rng, list(self.state["riders"].values()))
            done = out + ride(self.state, guest["zone"]) + self._between((-2, 5))
            told = {"rider_id": rider["rider_id"], "out_at": clock(out), "done_at": clock(done)}
        elif stage == "collected":
            told = {"done_at": clock(placed + self.v.s.kitchen + self._between((0, 16)))}
        self._write(guest, stage, mode, placed, day, **told)

    def _write(self, guest: Row, stage: str, mode: str, placed: int, day: str = "", **told: Any) -> None:
        """Put an order down."""
        v, zone = self.v, guest["zone"] if mode == "delivery" else ""
        lines = self._lines(guest)
        key = f"{v.p.id}_id"
        self.rows.append({
            key: guest[key], "mode": mode, "zone": zone, "lines": lines, **bill(v, self.state, zone, lines),
            "placed_on": day or self.state["today"], "placed_at": clock(placed),
            "promised_at": clock(placed + v.s.kitchen + ride(self.state, zone)),
            "stage": stage, "rider_id": None, "out_at": "", "done_at": "", **told,
        })  # fmt: skip

    def _lines(self, guest: Row) -> list[Row]:
        """One to three dishes that the guest may have."""
        allergy = guest[self.v.s.allergy]
        fit = [row for row in self.state["dishes"].values() if allergy not in row["contains"]]
        chosen = shuffled(self.rng, fit)[: self._between((1, 4))]
        return [line(dish, self._between((1, 3))) for dish in chosen]


PATTERN = Takeaway
