"""Flights: passengers on a booking, their coupons for flights, check-in and boarding, delays and missed connections."""

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
    either,
    key_of,
    named,
    only,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

MEALS = ("standard", "vegetarian", "vegan", "gluten free", "child")
ACTIVE = ("booked", "checked_in", "boarded")
KINDS = {"window": "AF", "aisle": "CD", "middle": "BE"}
Row = dict[str, Any]


class Fare(Part):
    """What a price buys."""

    cabin: str
    """economy or business."""
    factor: float
    """What the base price of a flight is multiplied by."""
    change_fee: float
    """What a change of flight costs, besides the difference in price."""
    returns: str
    """What is given back for it before check-in: nothing, a voucher or money."""


class FlightsSettings(Settings):
    """An airline's network, fares and rules."""

    code: str
    """Letters that its flight numbers begin with."""
    hub: str
    """Where passengers connect."""
    cities: list[str]
    """Four other cities; the first two fly to the hub in the morning, the others are reached from there."""
    fares: dict[str, Fare]
    """Name of the fare → what it is; the cheapest first, business last."""
    cabins: dict[str, tuple[int, int, str]] = {"business": (1, 2, "ACDF"), "economy": (3, 7, "ABCDEF")}
    """Cabin → first row, last row, letters."""
    connection: int = 45
    """Minutes a connection takes at least."""
    bag_fee: float = 35.0
    """Price of a bag."""


# What tools do, for the outcomes of goals


def seats_of(v: SimpleNamespace, cabin: str) -> list[str]:
    """Every seat of a cabin, front to back."""
    first, last, letters = v.s.cabins[cabin]
    return [f"{row}{letter}" for row in range(first, last + 1) for letter in letters]


def on_board(state: State, flight: str) -> list[Row]:
    """The coupons that stand for a place on a flight."""
    return [c for c in state["coupons"].values() if c["flight_id"] == flight and c["status"] in ACTIVE]


def cabin_of(state: State, coupon: Row) -> str:
    """Where the coupon's fare seats."""
    return str(state["fares"][coupon["fare_id"]]["cabin"])


def free_seats(v: SimpleNamespace, state: State, flight: str, cabin: str) -> list[str]:
    """Seats nobody has."""
    taken = {c["seat"] for c in on_board(state, flight)}
    return [seat for seat in seats_of(v, cabin) if seat not in taken]


def room(v: SimpleNamespace, state: State, flight: str, cabin: str) -> int:
    """Places that can still be sold."""
    sold = sum(cabin_of(state, c) == cabin for c in on_board(state, flight))
    return len(seats_of(v, cabin)) - sold


def clock(text: str) -> int:
    """Minutes since midnight."""
    return 60 * int(text[:2]) + int(text[3:])


def side_by_side(free: list[str], count: int, cabin: str) -> list[str]:
    """The frontmost seats next to each other on one side of the aisle, else the frontmost ones."""
    line = "AC DF" if cabin == "business" else "ABC DEF"
    for first in free:
        row, at = first[:-1], line.index(first[-1])
        block = [f"{row}{letter}" for letter in line[at : at + count]]
        if len(block) == count and all(seat in free for seat in block):
            return block
    return free[:count]


def misses(v: SimpleNamespace, state: State, flight: Row) -> list[tuple[Row, Row]]:
    """Onward coupons that cannot be reached from a flight, each with the flight it is for."""
    found = []
    for coupon in on_board(state, flight["flight_id"]):
        for other in state["coupons"].values():
            onward = state["flights"][other["flight_id"]]
            same = other["passenger_id"] == coupon["passenger_id"] and onward["day"] == flight["day"]
            follows = onward["origin"] == flight["destination"] and onward["departs"] > flight["arrives"]
            arrival = clock(flight["arrives"]) + flight["delay"] + v.s.connection
            late = clock(onward["departs"]) + onward["delay"] < arrival
            if same and follows and late and other["status"] in ("booked", "checked_in"):
                found.append((other, onward))
    return found


# Goals


class Desk(Goal):
    """What goals share: a passenger by name, a flight by number and day."""

    def flight(self, slots: Slots, state: State) -> Row:
        """The flight a sentence names."""
        rows = [f for f in state["flights"].values() if f["status"] == "scheduled"]
        return dict(only([f for f in rows if (f["number"], f["day"]) == (slots["number"], slots["day"])]))

    def coupon(self, slots: Slots, state: State) -> Row:
        """The coupon of that passenger for that flight."""
        key, flight = named(state, self.v.p, slots["name"])["passenger_id"], self.flight(slots, state)
        return dict(only([c for c in on_board(state, flight["flight_id"]) if c["passenger_id"] == key]))

    def some(self, state: State, rng: Rng, statuses: tuple[str, ...], days: int = 99) -> Slots | None:
        """A passenger, number and day for which there is a coupon of this status."""
        for coupon in shuffled(rng, [c for c in state["coupons"].values() if c["status"] in statuses]):
            flight = state["flights"][coupon["flight_id"]]
            if flight["status"] == "scheduled" and flight["day"] <= later(state["today"], days):
                name = state["passengers"][coupon["passenger_id"]]["name"]
                return {"name": name, "number": flight["number"], "day": flight["day"]}
        return None

    def change(self, coupon: Row, item: str, *also: str, **fields: Any) -> Changed:
        """The coupon has these values; its passenger is concerned."""
        return Changed("coupons", coupon["coupon_id"], fields, item, (coupon["passenger_id"], *also))

    def paid(self, coupon: Row, by: float, state: State) -> Changed:
        """The booking of a coupon comes to so much more."""
        booking = state["bookings"][state["passengers"][coupon["passenger_id"]]["booking_id"]]
        total = round(booking["paid"] + by, 2)
        item = f"Does booking {booking['booking_id']} come to {total:.2f} EUR now?"
        return Changed("bookings", booking["booking_id"], {"paid": total}, item)


FIND = (
    "find_passengers name",
    "find_flights number day",
    "list_coupons passenger_id<0 flight_id<1",
)


class CheckIn(Desk):
    """The frontmost seat of a kind."""

    phrases = (
        "Please check {name:name} in for flight {number:name} on {day:date} and give out the {kind:name} seat that is "
        "furthest to the front, of two in a row the one with the earlier letter.",
        "{name:name} wants to check in for {number:name} on {day:date} and asks for the frontmost {kind:name} seat; "
        "where a row has two, take the one with the earlier letter.",
    )
    needs = ("find_passengers", "find_flights", "list_coupons", "show_seat_map", "check_in")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng, ("booked",), 1)
        return slots and {**slots, "kind": any_of(rng, ["window", "aisle"])}

    def plan(self, slots: Slots) -> list[Row]:
        seat = f"check_in coupon_id<2 seat<3/{slots['kind']}/0"
        return steps(slots, *FIND, "show_seat_map flight_id<1 cabin<2/0/cabin", seat)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        coupon, flight = self.coupon(slots, state), self.flight(slots, state)
        free = free_seats(self.v, state, flight["flight_id"], cabin_of(state, coupon))
        kind = [seat for seat in free if seat[-1] in KINDS.get(slots["kind"], "")]
        if coupon["status"] != "booked" or not kind or flight["day"] > later(state["today"], 1):
            raise LookupError("there is no check-in")
        item = f"Has {slots['name']} been checked in for {slots['number']} with seat {kind[0]}?"
        return [self.change(coupon, item, status="checked_in", seat=kind[0])]


class CheckInParty(Desk):
    """Everybody of a booking."""

    phrases = (
        "Please check in everybody on the booking of {name:name} for flight {number:name} on {day:date}, side by side "
        "if there is room.",
        "{name:name} would like to check in the whole party for {number:name} on {day:date}, in seats next to each "
        "other.",
    )
    needs = ("find_passengers", "find_flights", "check_in_party")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng, ("booked",), 1)

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, *FIND[:2], "check_in_party booking_id<0 flight_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        flight, booking = self.flight(slots, state), named(state, self.v.p, slots["name"])["booking_id"]
        party = [c for c in on_board(state, flight["flight_id"]) if c["status"] == "booked"]
        party = [c for c in party if state["passengers"][c["passenger_id"]]["booking_id"] == booking]
        cabins = {cabin_of(state, c) for c in party}
        if len(cabins) != 1 or flight["day"] > later(state["today"], 1):
            raise LookupError("there is nobody to check in together")
        cabin = cabins.pop()
        free = free_seats(self.v, state, flight["flight_id"], cabin)
        told: list[Outcome] = []
        for coupon, seat in zip(party, side_by_side(free, len(party), cabin), strict=True):
            who = state["passengers"][coupon["passenger_id"]]["name"]
            item = f"Has {who} been checked in for {slots['number']} with seat {seat}?"
            told.append(self.change(coupon, item, booking, status="checked_in", seat=seat))
        return told


class Board(Desk):
    """One passenger goes through the gate."""

    phrases = (
        "{name:name} is at the gate for flight {number:name} on {day:date}, please board this passenger.",
        "Please let {name:name} board flight {number:name} on {day:date}.",
    )
    needs = ("find_passengers", "find_flights", "list_coupons", "board_passenger")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng, ("checked_in",), 0)

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, *FIND, "board_passenger coupon_id<2")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        coupon = self.coupon(slots, state)
        if coupon["status"] != "checked_in" or slots["day"] != state["today"]:
            raise LookupError("it is not time to board")
        item = f"Has {slots['name']} boarded {slots['number']}?"
        return [self.change(coupon, item, coupon["flight_id"], status="boarded")]


class OtherFlight(Desk):
    """Another flight on the same route."""

    phrases = (
        "{name:name} is booked on {number:name} on {day:date} and wants the last flight of {other:date} on the same "
        "route, so change the flight.",
        "Please move {name:name} from {number:name} on {day:date} to the last flight of that route on {other:date}.",
    )
    needs = ("find_passengers", "find_flights", "list_coupons", "change_flight")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng, ("booked",))
        days = sorted({f["day"] for f in state["flights"].values() if f["day"] > state["today"]})
        return slots and {**slots, "other": any_of(rng, days)}

    def plan(self, slots: Slots) -> list[Row]:
        there = "find_flights origin<1 destination<1 day=other latest_first=True"
        return steps(slots, *FIND, there, "change_flight coupon_id<2 flight_id<3")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, coupon, old = self.v, self.coupon(slots, state), self.flight(slots, state)
        way = (old["origin"], old["destination"], slots["other"], "scheduled")
        rows = state["flights"].values()
        rows = [f for f in rows if (f["origin"], f["destination"], f["day"], f["status"]) == way]
        new = max(rows, key=lambda f: f["departs"], default=old)
        others = [c for c in state["coupons"].values() if c["passenger_id"] == coupon["passenger_id"]]
        others = [
            c for c in others if c["status"] in ACTIVE and c is not state["coupons"][coupon["coupon_id"]]
        ]
        fare, clash = (
            state["fares"][coupon["fare_id"]],
            [state["flights"][c["flight_id"]] for c in others],
        )
        if any(f["day"] == new["day"] for f in clash) or coupon["status"] != "booked":
            raise LookupError("it cannot be changed")
        if new["flight_id"] == old["flight_id"] or room(v, state, new["flight_id"], fare["cabin"]) < 1:
            raise LookupError("there is no other flight")
        price = max(coupon["price"], round(new["base_price"] * fare["factor"], 2))
        fields = {"flight_id": new["flight_id"], "price": price}
        fees = round(coupon["fees"] + fare["change_fee"], 2)
        item = (
            f"Has {slots['name']} been moved from {slots['number']} to {new['number']} on {slots['other']}?"
        )
        more = price - coupon["price"] + fare["change_fee"]
        return [
            self.change(coupon, item, **fields, fees=fees),
            *([self.paid(coupon, more, state)] if more else []),
        ]


class DelayAndRebook(Desk):
    """A flight is late, and whoever misses the next one is moved."""

    phrases = (
        "Flight {number:name} on {day:date} is {minutes:int} minutes late, so enter the delay and rebook everybody who "
        "misses a connection because of it.",
        "Please enter a delay of {minutes:int} minutes for {number:name} on {day:date}, and put all who miss their "
        "onward flight on the next one.",
    )
    needs = ("find_flights", "delay_flight", "rebook_missed")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        hub = [f for f in state["flights"].values() if f["destination"] == self.v.s.hub]
        flight = any_of(rng, [f for f in hub if f["status"] == "scheduled"])
        minutes = {"minutes": 5 * int(rng.integers(12, 30))}
        return {"number": flight["number"], "day": flight["day"], **minutes}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots, "find_flights number day", "delay_flight flight_id<0 minutes", "rebook_missed flight_id<0"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, flight = self.v, {**self.flight(slots, state), "delay": slots["minutes"]}
        missed = misses(v, state, flight)
        arrival = clock(flight["arrives"]) + flight["delay"] + v.s.connection
        item = f"Is flight {slots['number']} on {slots['day']} entered as {slots['minutes']} minutes late?"
        told: list[Outcome] = [Changed("flights", flight["flight_id"], {"delay": slots["minutes"]}, item)]
        placed: dict[str, int] = {}
        for coupon, onward in missed:
            way = (onward["origin"], onward["destination"], "scheduled")
            rows = state["flights"].values()
            rows = [f for f in rows if (f["origin"], f["destination"], f["status"]) == way]
            rows = [
                f for f in rows if f["day"] == onward["day"] and f["delay"] + clock(f["departs"]) >= arrival
            ]
            cabin = cabin_of(state, coupon)
            rows = [f for f in rows if room(v, state, f["flight_id"], cabin) > placed.get(f["flight_id"], 0)]
            if not rows:
                raise LookupError("there is no later flight")
            new = min(rows, key=lambda f: clock(f["departs"]) + f["delay"])
            placed[new["flight_id"]] = placed.get(new["flight_id"], 0) + 1
            who = state["passengers"][coupon["passenger_id"]]["name"]
            item = f"Has {who}, who misses {onward['number']}, been put on {new['number']} that day?"
            also = (flight["flight_id"], onward["flight_id"])
            told.append(
                self.change(coupon, item, *also, flight_id=new["flight_id"], status="booked", seat="")
            )
        if not missed or flight["delay"] == state["flights"][flight["flight_id"]]["delay"]:
            raise LookupError("nobody misses anything")
        return told


class CloseFlight(Desk):
    """Whoever is not on board stays behind."""

    phrases = (
        "Boarding of {number:name} on {day:date} is over; close the flight, and whoever is not on board has missed it.",
        "Please close flight {number:name} on {day:date}, without those who did not come to the gate.",
    )
    needs = ("find_flights", "close_flight")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng, ("boarded",), 0)
        return slots and {"number": slots["number"], "day": slots["day"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_flights number day", "close_flight flight_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        flight = self.flight(slots, state)
        rows = on_board(state, flight["flight_id"])
        if not any(c["status"] == "boarded" for c in rows) or slots["day"] != state["today"]:
            raise LookupError("nobody is on board")
        item = f"Has flight {slots['number']} on {slots['day']} been closed?"
        told: list[Outcome] = [Changed("flights", flight["flight_id"], {"status": "closed"}, item)]
        for coupon in [c for c in rows if c["status"] != "boarded"]:
            who = state["passengers"][coupon["passenger_id"]]["name"]
            item = f"Is {who} recorded as having missed {slots['number']}?"
            told.append(self.change(coupon, item, flight["flight_id"], status="missed", seat=""))
        return told


class OrderMeal(Desk):
    """A special meal."""

    phrases = (
        "{name:name} wants the {meal:name} meal on board, please order it.",
        "Please order the {meal:name} meal for passenger {name:name}.",
    )
    needs = ("find_passengers", "order_meal")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng, ("booked",))
        return slots and {"name": slots["name"], "meal": any_of(rng, MEALS[1:4])}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_passengers name", "order_meal passenger_id<0 meal")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        who = named(state, self.v.p, slots["name"])
        rows = [c for c in state["coupons"].values() if c["passenger_id"] == who["passenger_id"]]
        days = [state["flights"][c["flight_id"]]["day"] for c in rows if c["status"] in ACTIVE]
        if not days or min(days) <= state["today"] or who["meal"] == slots["meal"]:
            raise LookupError("it is too late to order")
        item = f"Has the {slots['meal']} meal been ordered for {slots['name']}?"
        return [Changed("passengers", who["passenger_id"], {"meal": slots["meal"]}, item)]


class CorrectName(Desk):
    """A slip of the pen."""

    phrases = (
        "The name of passenger {name:name} is misspelt; it has to be {right:name}.",
        "On the ticket it says {name:name}, but the passport says {right:name}, so correct the name.",
    )
    needs = ("find_passengers", "correct_name")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng, ("booked",))
        if not slots:
            return None
        at = int(rng.integers(2, len(slots["name"].split()[-1])))
        given, family = slots["name"].rsplit(" ", 1)
        return {
            "name": slots["name"],
            "right": f"{given} {family[:at]}{any_of(rng, list('aeilnrst'))}{family[at:]}",
        }

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_passengers name", "correct_name passenger_id<0 name=right")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        who = named(state, self.v.p, slots["name"])["passenger_id"]
        rows = [c for c in state["coupons"].values() if c["passenger_id"] == who]
        if any(c["status"] not in ("booked", "refunded") for c in rows):
            raise LookupError("the passenger has checked in")
        item = f"Is the name of the passenger now spelt {slots['right']}?"
        return [Changed("passengers", who, {"name": slots["right"]}, item)]


class AddBag(Desk):
    """One more bag."""

    phrases = (
        "{name:name} takes one more bag on flight {number:name} on {day:date}, please add and charge it.",
        "Please add a bag for {name:name} on {number:name} on {day:date}.",
    )
    needs = ("find_passengers", "find_flights", "list_coupons", "add_bag")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng, ("booked", "checked_in"))

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, *FIND, "add_bag coupon_id<2")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        coupon, fee = self.coupon(slots, state), self.v.s.bag_fee
        if coupon["status"] not in ("booked", "checked_in") or coupon["bags"] >= 3:
            raise LookupError("no bag can be added")
        fields = {"bags": coupon["bags"] + 1, "fees": round(coupon["fees"] + fee, 2)}
        item = f"Has {slots['name']} one more bag on {slots['number']} on {slots['day']}?"
        return [self.change(coupon, item, **fields), self.paid(coupon, fee, state)]


class Upgrade(Desk):
    """Into the front cabin."""

    phrases = (
        "{name:name} would like to fly business on {number:name} on {day:date}; upgrade the coupon.",
        "Please upgrade {name:name} to business on flight {number:name} on {day:date} and charge the difference.",
    )
    needs = ("find_passengers", "find_flights", "list_coupons", "upgrade_coupon")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng, ("booked",))

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, *FIND, "upgrade_coupon coupon_id<2")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        coupon, flight = self.coupon(slots, state), self.flight(slots, state)
        fare = list(state["fares"].values())[-1]
        if coupon["status"] != "booked" or cabin_of(state, coupon) == "business":
            raise LookupError("it cannot be upgraded")
        if room(self.v, state, flight["flight_id"], "business") < 1:
            raise LookupError("business is full")
        price = round(flight["base_price"] * fare["factor"], 2)
        item = f"Has {slots['name']} been upgraded to business on {slots['number']} on {slots['day']}?"
        fields = {"fare_id": fare["fare_id"], "price": price}
        return [self.change(coupon, item, **fields), self.paid(coupon, price - coupon["price"], state)]


class TakeOff(Desk):
    """Somebody does not travel after all."""

    phrases = (
        "{name:name} is ill and cannot travel; take this passenger off the booking and give back what the fare allows.",
        "Please take {name:name} off the booking, for money or a voucher as the fare says.",
    )
    needs = ("find_passengers", "take_off_booking")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng, ("booked",))
        return slots and {"name": slots["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_passengers name", "take_off_booking passenger_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        who = named(state, self.v.p, slots["name"])
        rows = [c for c in state["coupons"].values() if c["passenger_id"] == who["passenger_id"]]
        rows = [c for c in rows if c["status"] != "refunded"]
        ways = {state["fares"][c["fare_id"]]["returns"] for c in rows}
        if not rows or any(c["status"] != "booked" for c in rows) or "nothing" in ways or len(ways) > 1:
            raise LookupError("nothing is given back")
        told: list[Outcome] = []
        for c in rows:
            number = state["flights"][c["flight_id"]]["number"]
            told.append(self.change(c, f"Is {slots['name']} off {number}?", status="refunded"))
        amount = round(sum(c["price"] + c["fees"] for c in rows), 2)
        told.append(self.paid(rows[0], -amount, state))
        if ways == {"a voucher"}:
            item = f"Has a voucher over {amount:.2f} EUR been written for {slots['name']}?"
            fields = {"passenger_id": who["passenger_id"], "worth": amount, "left": amount}
            told.append(Added("vouchers", {**fields, "expires_on": later(state["today"], 365)}, item))
        return told


class Book(Desk):
    """Two people on the first flight of a day, paid with a voucher as far as it goes."""

    phrases = (
        "Please book {first:name} and {second:name} at the {fare:name} fare on the first flight from {origin:name} to "
        "{destination:name} on {day:date}, contact {email:token}, and use the voucher of {name:name} for it.",
        "{name:name} has a voucher to spend: book {first:name} and {second:name} from {origin:name} to "
        "{destination:name} on the earliest flight of {day:date}, {fare:name} fare, contact {email:token}.",
    )
    needs = ("find_passengers", "list_vouchers", "find_flights", "book_flight")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        owners = [v["passenger_id"] for v in state["vouchers"].values() if v["left"] > 0]
        taken = frozenset(row["name"] for row in state["passengers"].values())
        flight = any_of(rng, [f for f in state["flights"].values() if f["day"] > state["today"]])
        first, second = names.people(rng, 2, taken)
        return {
            **{"first": first, "second": second, "email": names.email(first)},
            **{field: flight[field] for field in ("origin", "destination", "day")},
            "fare": any_of(rng, [n for n, f in self.v.s.fares.items() if f.cabin == "economy"]),
            "name": state["passengers"][any_of(rng, owners)]["name"],
        }

    def plan(self, slots: Slots) -> list[Row]:
        people = {**slots, "names": [slots["first"], slots["second"]]}
        return steps(
            people,
            "find_passengers name",
            "list_vouchers passenger_id<0",
            "find_flights origin destination day",
            "book_flight flight_id<2 fare names email voucher_id<1",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, owner = self.v, named(state, self.v.p, slots["name"])["passenger_id"]
        way = (slots["origin"], slots["destination"], slots["day"], "scheduled")
        rows = state["flights"].values()
        rows = [f for f in rows if (f["origin"], f["destination"], f["day"], f["status"]) == way]
        purse = [o for o in state["vouchers"].values() if o["passenger_id"] == owner and o["left"] > 0]
        purse = [o for o in purse if o["expires_on"] >= state["today"]]
        fare = named(state, v.r, slots["fare"])
        flight = min(rows, key=lambda f: f["departs"], default=None)
        if flight is None or not purse or room(v, state, flight["flight_id"], fare["cabin"]) < 2:
            raise LookupError("it cannot be booked")
        voucher, price = (
            min(purse, key=lambda o: o["expires_on"]),
            round(flight["base_price"] * fare["factor"], 2),
        )
        left = round(voucher["left"] - min(voucher["left"], 2 * price), 2)
        trip = f"{slots['origin']} to {slots['destination']} on {slots['day']}"
        told: list[Outcome] = [
            Changed(
                "vouchers",
                voucher["voucher_id"],
                {"left": left},
                f"Is {left:.2f} EUR left on that voucher?",
                (owner,),
            ),
            Added(
                "bookings",
                {"email": slots["email"], "paid": round(2 * price, 2)},
                f"Has a booking with the contact {slots['email']} been made?",
            ),
        ]
        for name in (slots["first"], slots["second"]):
            fields = {"name": name, "kind": "adult", "meal": "standard"}
            told.append(Added("passengers", fields, f"Is {name} a passenger of the new booking?"))
        fields = {"flight_id": flight["flight_id"], "fare_id": fare["fare_id"], "price": price, "fees": 0.0}
        coupon = Added(
            "coupons",
            {**fields, "bags": 0, "seat": "", "status": "booked"},
            f"Has each of the two a {slots['fare']} coupon from {trip}?",
        )
        return [*told, coupon, coupon]


class Flights(Pattern):
    """An airline's flights, bookings with passengers and coupons, fares and vouchers."""

    Settings = FlightsSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        CheckIn, CheckInParty, Board, OtherFlight, DelayAndRebook, CloseFlight, OrderMeal, CorrectName, AddBag, Upgrade,
        TakeOff, Book,
    )  # fmt: skip

    def vocabulary(self, s: FlightsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        nouns = dict(
            zip(
                "rfbpco",
                map(Noun, ["fare", "flight", "booking", "passenger", "coupon", "voucher"]),
                strict=True,
            )
        )
        lists = {"farelist": either(list(s.fares)), "meals": MEALS, "meallist": either(MEALS)}
        code = ", ".join(f'"{name}": ({a}, {b}, "{letters}")' for name, (a, b, letters) in s.cabins.items())
        sizes = ", ".join(f'"{name}": {(b - a + 1) * len(c)}' for name, (a, b, c) in s.cabins.items())
        return {**nouns, **lists, "cabins": list(s.cabins), "cabin_code": code, "size_code": sizes}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        def made(noun: Noun, about: str, fields: str) -> Table:
            key = f"{noun.id}_id: str = unique id, e.g. {noun.id[:3].upper()}-001"
            return form(noun, about, f"{key}\n{fields}")

        return [
            made(v.r, "What a price buys.", f"""name: str = {v.farelist}
                cabin: str = {either(v.cabins)}
                factor: float = what the base price of a flight is multiplied by
                change_fee: float = what a change of flight costs in EUR, besides the difference in price
                returns: str = what is given back before check-in: nothing, a voucher or money"""),
            made(v.f, "One flight on one day.", """number: str = flight number, the same every day
                origin: str = city it leaves
                destination: str = city it goes to
                day: str = date, as YYYY-MM-DD
                departs: str = planned time, as HH:MM
                arrives: str = planned time, as HH:MM
                delay: int = minutes it leaves and arrives late
                base_price: float = price in EUR that fares are multiples of
                status: str = scheduled or closed"""),
            made(v.b, "People who travel together.", """email: str = email address of the contact
                paid: float = prices and fees of all coupons that were not given back, in EUR"""),
            made(v.p, "A passenger of a booking.", f"""booking_id: str = the booking
                name: str = name as in the passport
                kind: str = adult, or minor for a child under 12
                meal: str = {v.meallist}"""),
            made(v.c, "A passenger's place on a flight.", """passenger_id: str = who flies
                flight_id: str = the flight
                fare_id: str = the fare it was bought at
                price: float = what was paid for it in EUR
                fees: float = what was paid for changes and bags in EUR
                bags: int = bags that are checked, at most 3
                seat: str = seat, e.g. 12C; empty before check-in
                status: str = booked, checked_in, boarded, missed or refunded"""),
            made(v.o, "Credit of a passenger.", """passenger_id: str = whose it is
                worth: float = what it was issued for in EUR
                left: float = what is left of it in EUR
                expires_on: str = last day it can be used, as YYYY-MM-DD"""),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "No two passengers have the same seat on a flight.",
            """
            seats = [(row.get("flight_id"), row.get("seat")) for row in rows(after, "coupons").values()
                     if row.get("seat")]
            return len(seats) == len(set(seats))
            """,
        ),
        RuleText(
            "Exactly those who are checked in or on board have a seat, and it is in the cabin of their fare.",
            """
            cabins = {<<cabin_code>>}
            fares = rows(after, "fares")
            for row in rows(after, "coupons").values():
                seat = str(row.get("seat") or "")
                if bool(seat) != (row.get("status") in ("checked_in", "boarded")):
                    return False
                cabin = (fares.get(str(row.get("fare_id"))) or {}).get("cabin")
                if seat and cabin in cabins:
                    first, last, letters = cabins[cabin]
                    if not seat[:-1].isdigit() or not first <= int(seat[:-1]) <= last or seat[-1] not in letters:
                        return False
            return True
            """,
        ),
        RuleText(
            "What a booking comes to is the sum of the prices and fees of its passengers' coupons without those given "
            "back.",
            """
            people, sums = rows(after, "passengers"), {}
            for row in rows(after, "coupons").values():
                if row.get("status") != "refunded":
                    booking = (people.get(str(row.get("passenger_id"))) or {}).get("booking_id")
                    sums[booking] = sums.get(booking, 0) + (row.get("price") or 0) + (row.get("fees") or 0)
            return all(
                abs((row.get("paid") or 0) - sums.get(key, 0)) < 0.02 for key, row in rows(after, "bookings").items()
            )
            """,
        ),
        RuleText(
            "Nobody is on two flights at the same time.",
            """
            flights, trips = rows(after, "flights"), {}
            for row in rows(after, "coupons").values():
                flight = flights.get(str(row.get("flight_id")))
                if flight and row.get("status") in ("booked", "checked_in", "boarded"):
                    span = (flight.get("day"), str(flight.get("departs")), str(flight.get("arrives")))
                    trips.setdefault(row.get("passenger_id"), []).append(span)
            for spans in trips.values():
                for i, one in enumerate(spans):
                    for two in spans[:i]:
                        if one[0] == two[0] and one[1] < two[2] and two[1] < one[2]:
                            return False
            return True
            """,
        ),
        RuleText(
            "Check-in opens the day before the flight: nobody is checked in earlier, and nobody boards before the day.",
            """
            today = str(after.get("today"))
            flights = rows(after, "flights")
            for old, new in changed("coupons", "status"):
                day = str((flights.get(str(new.get("flight_id"))) or {}).get("day"))
                if new.get("status") == "checked_in" and day[:8] == today[:8] and int(day[8:]) > int(today[8:]) + 1:
                    return False
                if new.get("status") in ("boarded", "missed") and day != today:
                    return False
            return True
            """,
        ),
        RuleText(
            "Once a flight is closed it stays closed, and its coupons stay as they are.",
            """
            shut = [key for key, row in rows(before, "flights").items() if row.get("status") == "closed"]
            new, old = rows(after, "coupons"), rows(before, "coupons")
            if any(rows(after, "flights").get(key, {}).get("status") != "closed" for key in shut):
                return False
            return all(new.get(key) == row for key, row in old.items() if row.get("flight_id") in shut)
            """,
        ),
        RuleText(
            "A flight never has more passengers in a cabin than the cabin has seats.",
            """
            sizes, counts = {<<size_code>>}, {}
            fares = rows(after, "fares")
            for row in rows(after, "coupons").values():
                if row.get("status") in ("booked", "checked_in", "boarded"):
                    pair = (row.get("flight_id"), (fares.get(str(row.get("fare_id"))) or {}).get("cabin"))
                    counts[pair] = counts.get(pair, 0) + 1
            return all(count <= sizes.get(cabin, count) for (_, cabin), count in counts.items())
            """,
        ),
        RuleText(
            "Whatever is taken back at a fare that returns a voucher leaves a voucher of that worth.",
            """
            fares, owed = rows(after, "fares"), 0
            for old, new in changed("coupons", "status"):
                if new.get("status") == "refunded":
                    if (fares.get(str(new.get("fare_id"))) or {}).get("returns") == "a voucher":
                        owed += (new.get("price") or 0) + (new.get("fees") or 0)
            return abs(owed - sum(row.get("worth") or 0 for row in added("vouchers"))) < 0.02
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _seats(cabin: str) -> list[str]:
        """Return the seats of a cabin, front to back."""
        first, last, letters = {<<cabin_code>>}[cabin]
        return [f"{row}{letter}" for row in range(first, last + 1) for letter in letters]

    @staticmethod
    def _clock(time: str, late: int = 0) -> int:
        """Return a time of day, some minutes later, in minutes since midnight."""
        return 60 * int(time[:2]) + int(time[3:]) + late

    def _cabin(self, coupon: dict) -> str:
        """Return the cabin that a coupon's fare is for."""
        return self.fares[coupon["fare_id"]]["cabin"]

    def _travelling(self, flight_id: str) -> list[dict]:
        """Return the coupons that stand for a place on a flight."""
        return [
            coupon
            for coupon in self.coupons.values()
            if coupon["flight_id"] == flight_id and coupon["status"] in ("booked", "checked_in", "boarded")
        ]

    def _room(self, flight_id: str, cabin: str) -> int:
        """Return how many places can still be sold in a cabin."""
        return len(self._seats(cabin)) - sum(self._cabin(c) == cabin for c in self._travelling(flight_id))

    def _free(self, flight_id: str, cabin: str) -> list[str]:
        """Return the seats of a cabin that nobody has, front to back."""
        taken = {coupon["seat"] for coupon in self._travelling(flight_id)}
        return [seat for seat in self._seats(cabin) if seat not in taken]

    def _clash(self, coupon: dict, flight: dict) -> bool:
        """Tell whether the passenger is on another flight on the day of this one."""
        return any(
            other["passenger_id"] == coupon["passenger_id"]
            and other["coupon_id"] != coupon["coupon_id"]
            and other["status"] in ("booked", "checked_in", "boarded")
            and self.flights[other["flight_id"]]["day"] == flight["day"]
            for other in self.coupons.values()
        )

    def _missed(self, flight: dict) -> list[dict]:
        """Return the onward coupons that cannot be reached any more from a flight."""
        missed = []
        arrival = self._clock(flight["arrives"], flight["delay"] + <<s.connection>>)
        here = [coupon["passenger_id"] for coupon in self._travelling(flight["flight_id"])]
        for coupon in self.coupons.values():
            onward = self.flights[coupon["flight_id"]]
            follows = onward["origin"] == flight["destination"] and onward["departs"] > flight["arrives"]
            if coupon["passenger_id"] in here and coupon["status"] in ("booked", "checked_in"):
                if follows and onward["day"] == flight["day"]:
                    if self._clock(onward["departs"], onward["delay"]) < arrival:
                        missed.append(coupon)
        return missed

    def _add_up(self, passenger_id: str) -> dict:
        """Add up what the booking of a passenger comes to and return it."""
        booking = self.bookings[self.passengers[passenger_id]["booking_id"]]
        booking["paid"] = round(
            sum(
                coupon["price"] + coupon["fees"]
                for coupon in self.coupons.values()
                if coupon["status"] != "refunded"
                and self.passengers[coupon["passenger_id"]]["booking_id"] == booking["booking_id"]
            ),
            2,
        )
        return booking

    def _not_open(self, flight: dict) -> str:
        """Tell why nobody can check in for a flight; empty when check-in is open."""
        if flight["status"] == "closed":
            return f"Flight {flight['number']} is closed."
        opens = (date.fromisoformat(self.today) + timedelta(days=1)).isoformat()
        return "" if self.today <= flight["day"] <= opens else "Check-in opens the day before the flight."
'''

    READS = '''
def find_passengers(self, name: str) -> dict:
    """Find passengers by name, with the email address of their booking and the number of people on it.

    Args:
        name: Name as in the passport, or a part of it.

    Returns:
        The matching passengers, by name.
    """
    refuse if not name.strip() :: The name is empty.
    people = []
    for passenger in self.passengers.values():
        if name.strip().casefold() in passenger["name"].casefold():
            party = [p for p in self.passengers.values() if p["booking_id"] == passenger["booking_id"]]
            email = self.bookings[passenger["booking_id"]]["email"]
            people.append({**passenger, "email": email, "party": len(party)})
    return {"success": True, "data": sorted(people, key=lambda person: person["name"])}

def find_flights(
    self,
    number: str | None = None,
    origin: str | None = None,
    destination: str | None = None,
    day: str | None = None,
    latest_first: bool = False,
) -> dict:
    """Find flights that are not closed, from today on, with the places left.

    Args:
        number: Flight number, e.g. <<s.code>> 101. Leave out for all.
        origin: City it leaves. Leave out for all.
        destination: City it goes to. Leave out for all.
        day: Only this day, as YYYY-MM-DD. Leave out for all.
        latest_first: True for the last flight first; otherwise the first one comes first.

    Returns:
        The flights by day and time, each with the places left in `economy` and `business`.
    """
    refuse if day is not None and not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    wanted = {"number": number, "origin": origin, "destination": destination, "day": day}
    flights = []
    for key, flight in self.flights.items():
        if flight["status"] == "closed" or flight["day"] < self.today:
            continue
        if all(value is None or flight[field] == value for field, value in wanted.items()):
            flights.append({**flight, **{cabin: self._room(key, cabin) for cabin in ("economy", "business")}})
    flights.sort(key=lambda flight: (flight["day"], flight["departs"], flight["number"]), reverse=latest_first)
    return {"success": True, "data": flights}

def find_connections(self, origin: str, destination: str, day: str) -> dict:
    """Find ways to get somewhere with one change of aircraft, as delays stand.

    Args:
        origin: City to leave.
        destination: City to go to.
        day: Date, as YYYY-MM-DD.

    Returns:
        Pairs of flights with at least <<s.connection>> minutes between them, each with the `wait` in minutes and the
        economy places left on the `fuller` of the two, the earliest arrival first.
    """
    refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    today = [flight for flight in self.flights.values() if flight["day"] == day and flight["status"] != "closed"]
    ways = []
    for first in today:
        for second in today:
            if (first["origin"], second["destination"]) != (origin, destination):
                continue
            if first["destination"] != second["origin"]:
                continue
            wait = self._clock(second["departs"], second["delay"]) - self._clock(first["arrives"], first["delay"])
            if wait >= <<s.connection>>:
                fuller = min(self._room(leg["flight_id"], "economy") for leg in (first, second))
                ways.append({"first": dict(first), "second": dict(second), "wait": wait, "fuller": fuller})
    ways.sort(key=lambda way: (self._clock(way["second"]["arrives"], way["second"]["delay"]), way["wait"]))
    return {"success": True, "data": ways}

def list_coupons(self, passenger_id: str | None = None, flight_id: str | None = None) -> dict:
    """List coupons that were not given back, in the order in which they are flown.

    Args:
        passenger_id: Only those of this passenger. Leave out for all.
        flight_id: Only those for this flight. Leave out for all.

    Returns:
        The coupons, each with the flight's `number`, `day` and time, and the `cabin`.
    """
    listed = []
    for coupon in self.coupons.values():
        mine = passenger_id in (None, coupon["passenger_id"]) and flight_id in (None, coupon["flight_id"])
        if mine and coupon["status"] != "refunded":
            flight = self.flights[coupon["flight_id"]]
            trip = {"number": flight["number"], "day": flight["day"], "departs": flight["departs"]}
            listed.append({**coupon, **trip, "cabin": self._cabin(coupon)})
    listed.sort(key=lambda coupon: (coupon["day"], coupon["departs"], coupon["coupon_id"]))
    return {"success": True, "data": listed}

def show_seat_map(self, flight_id: str, cabin: str) -> dict:
    """Show the free seats of a cabin, by where they are.

    Args:
        flight_id: Id of the flight.
        cabin: economy or business.

    Returns:
        The free `window`, `aisle` and `middle` seats, front to back.
    """
    need f
    refuse if cabin not in ("economy", "business") :: There is no cabin {cabin!r}.
    places: dict[str, list[str]] = {"window": [], "aisle": [], "middle": []}
    for seat in self._free(flight["flight_id"], cabin):
        places["window" if seat[-1] in "AF" else "aisle" if seat[-1] in "CD" else "middle"].append(seat)
    return {"success": True, "data": places}

def list_not_boarded(self, flight_id: str) -> dict:
    """List who still has to come to the gate of a flight, minors who travel alone first.

    Args:
        flight_id: Id of the flight.

    Returns:
        Name, seat and status of each, and whether it is a minor `alone`: one with no adult on the booking.
    """
    need f
    adults = {p["booking_id"] for p in self.passengers.values() if p["kind"] == "adult"}
    waited_for = []
    for coupon in self._travelling(flight["flight_id"]):
        person = self.passengers[coupon["passenger_id"]]
        line = {"passenger_id": person["passenger_id"], "name": person["name"], "seat": coupon["seat"]}
        line |= {"status": coupon["status"], "alone": person["booking_id"] not in adults}
        if coupon["status"] != "boarded":
            waited_for.append(line)
    waited_for.sort(key=lambda line: (not line["alone"], line["name"]))
    return {"success": True, "data": waited_for}

def list_missed_connections(self, day: str | None = None) -> dict:
    """List passengers who cannot reach their onward flight, as delays stand.

    Args:
        day: Only flights of this day, as YYYY-MM-DD. Leave out for all.

    Returns:
        For each the `passenger`, the number of the flight that is `late` and of the one that is `missed`.
    """
    refuse if day is not None and not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    lines = []
    for flight in self.flights.values():
        if flight["status"] == "scheduled" and day in (None, flight["day"]):
            for coupon in self._missed(flight):
                person = self.passengers[coupon["passenger_id"]]
                missed = self.flights[coupon["flight_id"]]
                line = {"coupon_id": coupon["coupon_id"], "passenger": person["name"], "day": flight["day"]}
                lines.append({**line, "late": flight["number"], "missed": missed["number"]})
    return {"success": True, "data": sorted(lines, key=lambda line: (line["day"], line["passenger"]))}

def count_meals(self, flight_id: str) -> dict:
    """Count the meals that the kitchen loads for a flight.

    Args:
        flight_id: Id of the flight.

    Returns:
        For economy and business the number of each meal.
    """
    need f
    trays = {cabin: dict.fromkeys((<<quoted(meals)>>), 0) for cabin in ("economy", "business")}
    for coupon in self._travelling(flight["flight_id"]):
        trays[self._cabin(coupon)][self.passengers[coupon["passenger_id"]]["meal"]] += 1
    return {"success": True, "data": trays}

def list_vouchers(self, passenger_id: str) -> dict:
    """List the vouchers of a passenger that are good for something, the one that expires first in front.

    Args:
        passenger_id: Id of the passenger.

    Returns:
        The vouchers with what is left on each.
    """
    need p
    good = [v for v in self.vouchers.values() if v["left"] > 0 and v["expires_on"] >= self.today]
    mine = [dict(voucher) for voucher in good if voucher["passenger_id"] == passenger["passenger_id"]]
    return {"success": True, "data": sorted(mine, key=lambda voucher: (voucher["expires_on"], voucher["left"]))}
'''

    WRITES = '''
def book_flight(
    self, flight_id: str, fare: str, names: list[str], email: str, voucher_id: str | None = None
) -> dict:
    """Book adults who travel together on a flight.

    Args:
        flight_id: Id of a flight that is not closed, from today on.
        fare: <<farelist>>.
        names: One to four names as in the passports.
        email: Email address of the contact.
        voucher_id: Id of a voucher from which as much as possible is paid. Leave out for none.

    Returns:
        The `booking` and its `coupons`, what comes `from_voucher` and what is left `to_pay`, or an error.
    """
    need f
    bought = next((row for row in self.fares.values() if row["name"] == fare), None)
    refuse if bought is None :: There is no fare {fare!r}.
    refuse if flight["status"] == "closed" or flight["day"] < self.today :: Flight {flight['number']} has left.
    refuse if not 1 <= len(names) <= 4 or not all(name.strip() for name in names) :: Give one to four names.
    refuse if "@" not in email.strip("@") :: {email!r} is not an email address.
    left = self._room(flight_id, bought["cabin"])
    refuse if left < len(names) :: Only {left} places are left in {bought['cabin']}.
    price, from_voucher = round(flight["base_price"] * bought["factor"], 2), 0.0
    if voucher_id is not None:
        need o
        refuse if voucher["expires_on"] < self.today :: Voucher {voucher_id} has expired.
        from_voucher = round(min(voucher["left"], price * len(names)), 2)
        voucher["left"] = round(voucher["left"] - from_voucher, 2)
    booking: Booking = {"booking_id": self._next_id(self.bookings, "BOO"), "email": email, "paid": 0.0}
    self.bookings[booking["booking_id"]] = booking
    coupons = []
    for name in names:
        key, number = self._next_id(self.passengers, "PAS"), self._next_id(self.coupons, "COU")
        passenger: Passenger = {"passenger_id": key, "booking_id": booking["booking_id"], "name": name.strip()}
        self.passengers[key] = {**passenger, "kind": "adult", "meal": "standard"}
        coupon: Coupon = {"coupon_id": number, "passenger_id": key, "flight_id": flight_id, "price": price}
        coupon |= {"fare_id": bought["fare_id"], "fees": 0.0, "bags": 0, "seat": "", "status": "booked"}
        self.coupons[number] = coupon
        coupons.append(dict(coupon))
        self._add_up(key)
    bill = {"from_voucher": from_voucher, "to_pay": round(booking["paid"] - from_voucher, 2)}
    data = {"booking": dict(booking), "coupons": coupons, **bill}
    return {"success": True, "message": f"{len(names)} booked on {flight['number']}.", "data": data}

def check_in(self, coupon_id: str, seat: str) -> dict:
    """Check one passenger in with a certain seat.

    Args:
        coupon_id: Id of a booked coupon for a flight of today or tomorrow.
        seat: A free seat in the cabin of the fare, e.g. 4A.

    Returns:
        The coupon, checked in, or an error.
    """
    need c
    flight, cabin = self.flights[coupon["flight_id"]], self._cabin(coupon)
    refuse if coupon["status"] != "booked" :: Coupon {coupon_id} is {coupon['status']}.
    if obstacle := self._not_open(flight):
        return {"success": False, "error": obstacle}
    refuse if seat not in self._seats(cabin) :: There is no seat {seat!r} in {cabin}.
    refuse if seat not in self._free(flight["flight_id"], cabin) :: Seat {seat} is taken.
    coupon["seat"], coupon["status"] = seat, "checked_in"
    done dict(coupon) :: Checked in for {flight['number']}, seat {seat}.

def check_in_party(self, booking_id: str, flight_id: str) -> dict:
    """Check in everybody on a booking who is not checked in yet, next to each other if there is room.

    Args:
        booking_id: Id of the booking.
        flight_id: Id of a flight of today or tomorrow.

    Returns:
        The coupons with their seats: the frontmost ones side by side, else the frontmost ones; or an error.
    """
    need b
    need f
    if obstacle := self._not_open(flight):
        return {"success": False, "error": obstacle}
    party = [
        coupon
        for coupon in self._travelling(flight_id)
        if coupon["status"] == "booked" and self.passengers[coupon["passenger_id"]]["booking_id"] == booking_id
    ]
    refuse if not party :: Nobody on booking {booking['booking_id']} has to check in for this flight.
    cabins = {self._cabin(coupon) for coupon in party}
    refuse if len(cabins) > 1 :: They are booked in two cabins; check them in one by one.
    cabin = cabins.pop()
    free, line = self._free(flight_id, cabin), "AC DF" if cabin == "business" else "ABC DEF"
    seats = free[: len(party)]
    for first in free:
        start = line.index(first[-1])
        block = [first[:-1] + letter for letter in line[start : start + len(party)]]
        if len(block) == len(party) and all(seat in free for seat in block):
            seats = block
            break
    for coupon, seat in zip(party, seats, strict=True):
        coupon["seat"], coupon["status"] = seat, "checked_in"
    done [dict(coupon) for coupon in party] :: {len(party)} checked in: {', '.join(seats)}.

def board_passenger(self, coupon_id: str) -> dict:
    """Let a passenger through the gate.

    Args:
        coupon_id: Id of a coupon that is checked in, for a flight of today that is not closed.

    Returns:
        The coupon, and how many are still `awaited` on the flight, or an error.
    """
    need c
    flight = self.flights[coupon["flight_id"]]
    refuse if coupon["status"] != "checked_in" :: Coupon {coupon_id} is {coupon['status']}, not checked in.
    refuse if flight["day"] != self.today or flight["status"] == "closed" :: {flight['number']} is not boarding.
    coupon["status"] = "boarded"
    awaited = sum(other["status"] != "boarded" for other in self._travelling(flight["flight_id"]))
    done {**coupon, "awaited": awaited} :: Boarded, seat {coupon['seat']}.

def change_flight(self, coupon_id: str, flight_id: str) -> dict:
    """Move a booked coupon to another flight of the same route, for the fee of its fare and what that costs more.

    Args:
        coupon_id: Id of a booked coupon whose flight is still ahead.
        flight_id: Id of another flight between the same cities, on a day the passenger has no other flight.

    Returns:
        The coupon with its new price and fees; a cheaper flight brings nothing back. Or an error.
    """
    need c
    need f
    old, fare = self.flights[coupon["flight_id"]], self.fares[coupon["fare_id"]]
    refuse if coupon["status"] != "booked" :: Coupon {coupon_id} is {coupon['status']}, not booked.
    gone = [row["number"] for row in (old, flight) if row["status"] == "closed" or row["day"] < self.today]
    refuse if gone :: Flight {gone[0]} has left.
    refuse if old is flight :: The coupon is for this flight already.
    if (old["origin"], old["destination"]) != (flight["origin"], flight["destination"]):
        refuse :: {flight['number']} does not go from {old['origin']} to {old['destination']}.
    refuse if self._clash(coupon, flight) :: The passenger has another flight on {flight['day']}.
    refuse if self._room(flight_id, fare["cabin"]) < 1 :: {fare['cabin'].capitalize()} is full on {flight['number']}.
    coupon["flight_id"] = flight_id
    coupon["fees"] = round(coupon["fees"] + fare["change_fee"], 2)
    coupon["price"] = max(coupon["price"], round(flight["base_price"] * fare["factor"], 2))
    self._add_up(coupon["passenger_id"])
    done dict(coupon) :: Moved to {flight['number']} on {flight['day']}.

def delay_flight(self, flight_id: str, minutes: int) -> dict:
    """Enter by how much a flight is late; who misses a connection is told, but not moved.

    Args:
        flight_id: Id of a flight that is not closed.
        minutes: Delay in minutes, 0 to 600; it replaces the one entered before.

    Returns:
        The flight and the ids of the coupons whose flight is `missed` now, or an error.
    """
    need f
    refuse if flight["status"] == "closed" :: Flight {flight['number']} is closed.
    refuse if not 0 <= minutes <= 600 :: The delay is between 0 and 600 minutes, not {minutes}.
    refuse if minutes == flight["delay"] :: Flight {flight['number']} is entered as {minutes} minutes late already.
    flight["delay"] = minutes
    data = {**flight, "missed": [coupon["coupon_id"] for coupon in self._missed(flight)]}
    return {"success": True, "message": f"{flight['number']} is {minutes} minutes late.", "data": data}

def rebook_missed(self, flight_id: str) -> dict:
    """Put everybody who misses a connection because of a flight on the next one that can be reached, free of charge.

    Args:
        flight_id: Id of the late flight.

    Returns:
        The coupons that were `moved`, booked without a seat, and ids of those `left`, for whom that day has no room.
    """
    need f
    moved, left = [], []
    arrival = self._clock(flight["arrives"], flight["delay"] + <<s.connection>>)
    for coupon in self._missed(flight):
        lost = self.flights[coupon["flight_id"]]
        later = [
            other
            for other in self.flights.values()
            if all(other[field] == lost[field] for field in ("origin", "destination", "day"))
            and other["status"] == "scheduled"
            and self._clock(other["departs"], other["delay"]) >= arrival
            and self._room(other["flight_id"], self._cabin(coupon)) > 0
        ]
        if not later:
            left.append(coupon["coupon_id"])
            continue
        coupon["flight_id"] = min(later, key=lambda other: self._clock(other["departs"], other["delay"]))["flight_id"]
        coupon["seat"], coupon["status"] = "", "booked"
        moved.append(dict(coupon))
    refuse if not moved :: Nobody on flight {flight['number']} can be moved.
    done {"moved": moved, "left": left} :: {len(moved)} moved, {len(left)} left.

def order_meal(self, passenger_id: str, meal: str) -> dict:
    """Order a meal for all flights of a passenger, until the day before the first one.

    Args:
        passenger_id: Id of the passenger.
        meal: <<meallist>>.

    Returns:
        The passenger, or an error.
    """
    need p
    refuse if meal not in (<<quoted(meals)>>) :: There is no meal {meal!r}.
    refuse if passenger["meal"] == meal :: The {meal} meal is ordered already.
    days = [
        self.flights[coupon["flight_id"]]["day"]
        for coupon in self.coupons.values()
        if coupon["passenger_id"] == passenger_id and coupon["status"] in ("booked", "checked_in", "boarded")
    ]
    refuse if not days or min(days) <= self.today :: Meals are ordered until the day before the first flight.
    passenger["meal"] = meal
    done dict(passenger) :: {passenger['name']} gets the {meal} meal.

def correct_name(self, passenger_id: str, name: str) -> dict:
    """Correct a misspelt name; it cannot become somebody else's.

    Args:
        passenger_id: Id of a passenger who has not checked in for any flight.
        name: Name as in the passport; at most 3 letters put in, left out or replaced.

    Returns:
        The passenger, or an error.
    """
    need p
    states = [c["status"] for c in self.coupons.values() if c["passenger_id"] == passenger_id]
    refuse if any(state not in ("booked", "refunded") for state in states) :: The passenger has checked in already.
    old, new = passenger["name"], name.strip()
    refuse if not new or new == old or len(new) > 60 :: Give another spelling of {old}.
    row = list(range(len(new) + 1))
    for i, letter in enumerate(old, 1):
        above, row[0] = row[0], i
        for j, other in enumerate(new, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (letter != other))
    refuse if row[-1] > 3 :: {row[-1]} letters differ; at most 3 can be corrected.
    passenger["name"] = new
    done dict(passenger) :: {old} is now {new}.

def add_bag(self, coupon_id: str) -> dict:
    """Add a checked bag to a coupon for <<s.bag_fee>> EUR.

    Args:
        coupon_id: Id of a coupon that is booked or checked in, with fewer than 3 bags.

    Returns:
        The coupon, or an error.
    """
    need c
    flight = self.flights[coupon["flight_id"]]
    refuse if coupon["status"] not in ("booked", "checked_in") :: Coupon {coupon_id} is {coupon['status']}.
    refuse if flight["day"] < self.today or flight["status"] == "closed" :: Flight {flight['number']} has left.
    refuse if coupon["bags"] >= 3 :: There are 3 bags on it already.
    coupon["bags"] += 1
    coupon["fees"] = round(coupon["fees"] + <<s.bag_fee>>, 2)
    self._add_up(coupon["passenger_id"])
    done dict(coupon) :: Bag {coupon['bags']} added.

def upgrade_coupon(self, coupon_id: str) -> dict:
    """Turn a booked coupon of economy into one of business, for the difference in price.

    Args:
        coupon_id: Id of a booked coupon in economy.

    Returns:
        The coupon with its new price and the `difference`, or an error.
    """
    need c
    flight = self.flights[coupon["flight_id"]]
    refuse if coupon["status"] != "booked" :: Coupon {coupon_id} is {coupon['status']}, not booked.
    refuse if self._cabin(coupon) == "business" :: Coupon {coupon_id} is in business already.
    refuse if flight["status"] == "closed" or flight["day"] < self.today :: Flight {flight['number']} has left.
    refuse if self._room(flight["flight_id"], "business") < 1 :: Business is full on {flight['number']}.
    best = next(row for row in self.fares.values() if row["cabin"] == "business")
    price = round(flight["base_price"] * best["factor"], 2)
    difference = round(price - coupon["price"], 2)
    coupon["fare_id"], coupon["price"] = best["fare_id"], price
    self._add_up(coupon["passenger_id"])
    done {**coupon, "difference": difference} :: Upgraded on {flight['number']}.

def take_off_booking(self, passenger_id: str) -> dict:
    """Take a passenger off all flights before check-in and give back what the fare allows.

    Args:
        passenger_id: Id of a passenger all of whose coupons are booked, at fares that return the same.

    Returns:
        The `coupons` that were given back, the `amount`, and whether it comes as a voucher or money, or an error.
    """
    need p
    coupons = [
        coupon
        for coupon in self.coupons.values()
        if coupon["passenger_id"] == passenger_id and coupon["status"] != "refunded"
    ]
    refuse if not coupons :: {passenger['name']} is on no flight.
    for coupon in coupons:
        over = self.flights[coupon["flight_id"]]["day"] < self.today
        refuse if over or coupon["status"] != "booked" :: It is too late for coupon {coupon['coupon_id']}.
    ways = {self.fares[coupon["fare_id"]]["returns"] for coupon in coupons}
    refuse if len(ways) > 1 or "nothing" in ways :: The fare does not allow it: it returns {' or '.join(sorted(ways))}.
    amount, way = round(sum(coupon["price"] + coupon["fees"] for coupon in coupons), 2), ways.pop()
    for coupon in coupons:
        coupon["status"] = "refunded"
    booking = self._add_up(passenger_id)
    if way == "a voucher":
        key, last = self._next_id(self.vouchers, "VOU"), date.fromisoformat(self.today) + timedelta(days=365)
        voucher: Voucher = {"voucher_id": key, "passenger_id": passenger_id, "worth": amount, "left": amount}
        self.vouchers[key] = {**voucher, "expires_on": last.isoformat()}
    data = {"coupons": [c["coupon_id"] for c in coupons], "amount": amount, "way": way, "booking": dict(booking)}
    return {"success": True, "message": f"{amount:.2f} EUR come back as {way}.", "data": data}

def close_flight(self, flight_id: str) -> dict:
    """Close a flight of today once boarding is over; who is not on board has missed it and loses the seat.

    Args:
        flight_id: Id of a flight of today on which somebody is on board.

    Returns:
        The flight, the number on `board` and the ids of the coupons that `missed` it, or an error.
    """
    need f
    refuse if flight["status"] == "closed" or flight["day"] != self.today :: {flight['number']} is not boarding.
    coupons = self._travelling(flight_id)
    missed = [coupon for coupon in coupons if coupon["status"] != "boarded"]
    refuse if len(missed) == len(coupons) :: Nobody is on board {flight['number']}.
    for coupon in missed:
        coupon["status"], coupon["seat"] = "missed", ""
    flight["status"] = "closed"
    data = {**flight, "board": len(coupons) - len(missed), "missed": [coupon["coupon_id"] for coupon in missed]}
    return {"success": True, "message": f"Flight {flight['number']} is closed.", "data": data}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        for n, (name, fare) in enumerate(s.fares.items()):
            key = key_of("FAR", n + 1)
            state["fares"][key] = {"fare_id": key, "name": name, **fare.model_dump()}
        one, two, three, four = shuffled(rng, s.cities)
        lines = [
            (one, s.hub, 400, 125), (two, s.hub, 450, 110), (s.hub, three, 600, 135), (s.hub, three, 1035, 135),
            (s.hub, four, 660, 150), (s.hub, four, 1090, 150),
        ]  # fmt: skip
        first = 100 * int(rng.integers(1, 9)) + int(rng.integers(1, 30))
        plan = [
            (f"{s.code} {first + 2 * n}", way, start + 5 * int(rng.integers(5)), length, int(rng.integers(8, 26)) * 5)
            for n, (*way, start, length) in enumerate(lines)
        ]  # fmt: skip
        for day in (0, 1, 2 + int(rng.integers(1, 6))):
            for number, (origin, destination), start, length, base in plan:
                key = key_of("FLI", len(state["flights"]) + 1)
                state["flights"][key] = {
                    "flight_id": key,
                    "number": number,
                    "origin": origin,
                    "destination": destination,
                    "day": later(today, day),
                    "departs": f"{start // 60:02d}:{start % 60:02d}",
                    "arrives": f"{(start + length) // 60:02d}:{(start + length) % 60:02d}",
                    "delay": any_of(rng, [0, 0, 0, 10, 20]),
                    "base_price": float(base + 10 * day),
                    "status": "scheduled",
                }
        self._bookings(v, state, rng)
        for n, passenger in enumerate(shuffled(rng, list(state["passengers"]))[:5]):
            key, worth = key_of("VOU", n + 1), float(rng.integers(4, 20) * 10)
            state["vouchers"][key] = {
                "voucher_id": key,
                "passenger_id": passenger,
                "worth": worth,
                "left": any_of(rng, [worth, round(worth / 4, 2)]),
                "expires_on": later(today, int(rng.integers(10, 300))),
            }

    def _bookings(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        fares, everybody = list(state["fares"]), iter(names.people(rng, 24))
        days = sorted({f["day"] for f in state["flights"].values()})
        for n, size in enumerate(shuffled(rng, [1, 1, 1, 2, 2, 2, 3, 1, 1])):
            key, day = key_of("BOO", n + 1), days[n % 3]
            legs = [f for f in state["flights"].values() if f["day"] == day]
            inward, onward = any_of(rng, legs[:2]), any_of(rng, legs[2:])
            connects = clock(onward["departs"]) + onward["delay"] - clock(inward["arrives"]) - inward["delay"]
            trip = (
                [inward, onward]
                if n % 2 == 0 and connects >= v.s.connection
                else [any_of(rng, [inward, onward])]
            )
            fare = any_of(rng, [*fares[:-1], *fares[:-1], fares[-1]])
            state["bookings"][key] = {"booking_id": key, "email": "", "paid": 0.0}
            for m in range(size):
                name, who = next(everybody), key_of("PAS", len(state["passengers"]) + 1)
                minor = m == 2 or (n == 4 and size == 1)
                state["passengers"][who] = {
                    **{"passenger_id": who, "booking_id": key, "name": name},
                    **{
                        "kind": "minor" if minor else "adult",
                        "meal": "child" if minor else any_of(rng, MEALS[:3]),
                    },
                }
                state["bookings"][key]["email"] = state["bookings"][key]["email"] or names.email(name)
                for flight in trip:
                    self._coupon(v, state, rng, who, flight, fare, first=flight is trip[0])

    def _coupon(
        self, v: SimpleNamespace, state: State, rng: Rng, who: str, flight: Row, fare: str, *, first: bool
    ) -> None:
        key, bags = key_of("COU", len(state["coupons"]) + 1), int(rng.integers(0, 3))
        near = flight["day"] <= later(state["today"], 1)
        today = ["boarded", "boarded"] if first and flight["day"] == state["today"] else ["booked"]
        status = any_of(rng, ["booked", "checked_in", *today]) if near else "booked"
        free = free_seats(v, state, flight["flight_id"], state["fares"][fare]["cabin"])
        price = round(flight["base_price"] * state["fares"][fare]["factor"], 2)
        state["coupons"][key] = {
            "coupon_id": key,
            "passenger_id": who,
            "flight_id": flight["flight_id"],
            "fare_id": fare,
            "price": price,
            "fees": bags * v.s.bag_fee,
            "bags": bags,
            "seat": "" if status == "booked" else any_of(rng, free[:9]),
            "status": status,
        }
        booking = state["bookings"][state["passengers"][who]["booking_id"]]
        booking["paid"] = round(booking["paid"] + price + bags * v.s.bag_fee, 2)


PATTERN = Flights
