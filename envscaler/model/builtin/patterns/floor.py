"""Floor: tables that can be joined, who has booked and who sits at them, what the kitchen is to send, who pays what."""

from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin import names
from envscaler.model.builtin.pattern import (
    Added,
    Changed,
    Goal,
    Noun,
    Outcome,
    Pattern,
    Rng,
    RuleText,
    Settings,
    State,
    Table,
    attribute,
    call,
    either,
    found,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns.appointments import clock, minutes
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

TABLE, GUEST, RESERVATION, DISH, TICKET, CHECK = map(
    Noun, ("table", "guest", "reservation", "dish", "ticket", "check")
)
METHODS = ("cash", "card", "voucher")
OPENS, LAST = "12:00", "21:30"
Row = dict[str, Any]


class FloorSettings(Settings):
    """A restaurant's numbers and data."""

    sitting: int = 120
    """Minutes a party has its table."""
    grace: int = 15
    """Minutes after which a party that has not come is a no-show."""
    deposit: float = 10.0
    """What a guest with two no-shows pays ahead, a head."""
    kitchen_share: int = 25
    """Per cent of the tips that go to the kitchen."""
    areas: dict[str, list[int]]
    """Area → seats of its tables; the first and second can be joined, the third and fourth, and so on."""
    waiters: list[str]
    """One for each area."""
    dishes: dict[str, dict[str, tuple[float, str]]]
    """Course → dish → price and the allergen in it, or `none`."""
    complaints: list[str]
    """Why a dish comes back."""


# The floor, as goals and generator read it


def held(row: Row) -> list[str]:
    """The tables of a reservation."""
    return [key for key in (row["table_id"], row["second_table_id"]) if key]


def is_free(
    state: State, day: str, start: str, table: str, sitting: int, ignore: tuple[str, ...] = ()
) -> bool:
    """Whether nobody else has the table then."""
    return not any(
        row["day"] == day
        and row["status"] in ("booked", "seated")
        and table in held(row)
        and key not in ignore
        and abs(minutes(row["start"]) - minutes(start)) < sitting
        for key, row in state["reservations"].items()
    )


def places(state: State, day: str, start: str, party: int, area: str, sitting: int) -> list[tuple[Any, ...]]:
    """Spare seats, table and joined table for every place that is free then, the tightest first."""
    fits = []
    for key, table in state["tables"].items():
        if table["area"] != area or not is_free(state, day, start, key, sitting):
            continue
        other = state["tables"].get(table["joins_table_id"] or "")
        if table["seats"] >= party:
            fits.append((table["seats"] - party, key, None))
        elif (
            other
            and key < other["table_id"]
            and other["seats"] < party
            and is_free(state, day, start, other["table_id"], sitting)
        ):
            fits.append((table["seats"] + other["seats"] - party, key, other["table_id"]))
    fits = [fit for fit in fits if fit[0] >= 0]
    return sorted(fits, key=lambda fit: (fit[0], fit[2] is not None, fit[1]))


def lines_of(state: State, reservation: str, course: str | None = None) -> int:
    """What a party has to pay for what it kept of a course or of all, in cents."""
    return sum(
        round(row["price"] * 100) * row["quantity"]
        for row in state["tickets"].values()
        if row["reservation_id"] == reservation
        and row["status"] != "sent_back"
        and course in (None, state["dishes"][row["dish_id"]]["course"])
    )


class FloorGoal(Goal):
    """What goals about parties share."""

    status: ClassVar[str] = "booked"
    """What the reservation has to be."""

    def one(self, slots: Slots, state: State, who: str = "name", status: str = "") -> Row:
        """The reservation of the guest a sentence names."""
        guest = named(state, GUEST, slots[who])["guest_id"]
        wanted = (guest, status or self.status)
        rows = state["reservations"].values()
        return dict(only([row for row in rows if (row["guest_id"], row["status"]) == wanted]))

    def guest_of(self, row: Row, state: State) -> str:
        """The name it is booked under."""
        return str(state["guests"][row["guest_id"]]["name"])

    def some(self, state: State, rng: Rng, today: bool = True, bill: bool | None = None) -> Row | None:
        """A reservation of the status; with `bill`, one whose checks are written or not."""
        billed = {check["reservation_id"] for check in state["checks"].values()}
        rows = [
            row
            for key, row in state["reservations"].items()
            if row["status"] == self.status
            and (row["day"] == state["today"]) >= today
            and bill in (None, key in billed)
        ]
        return pick(rng, rows) if rows else None

    def find(self, slots: Slots, who: str = "name", status: str = "") -> Row:
        """The call that finds it."""
        return call("find_reservations", name=slots[who], status=status or self.status)

    def change(self, row: Row, item: str, **fields: Any) -> Changed:
        """The reservation has these values; its tables are concerned."""
        also = (row["guest_id"], *held(row))
        return Changed("reservations", row["reservation_id"], fields, item, also)

    @property
    def id(self) -> Row:
        """The reservation's id out of the first reply."""
        return {"reservation_id": found(0, 0, "reservation_id")}


class Reserve(FloorGoal):
    """The tightest place of an area that is free."""

    phrases = (
        "{name:name} would like a table for {party:int} on {day:date} at {start:time}: book the place in "
        "the {area:name} that leaves the fewest seats empty.",
        "Please reserve for {name:name}, {party:int} people on {day:date} at {start:time}, at whatever "
        "place in the {area:name} fits most tightly.",
    )
    needs = ("find_guests", "suggest_tables", "take_reservation")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        start = clock(minutes("18:00") + 15 * int(rng.integers(0, 14)))
        day = later(state["today"], int(rng.integers(1, 9)))
        given = {"party": int(rng.integers(2, 9)), "area": pick(rng, list(self.v.s.areas))}
        return {
            "name": pick(rng, list(state["guests"].values()))["name"],
            "day": day,
            "start": start,
            **given,
        }

    def plan(self, slots: Slots) -> list[Row]:
        when = {name: slots[name] for name in ("day", "start", "party")}
        place = {name: found(1, 0, name) for name in ("table_id", "second_table_id")}
        return [
            call("find_guests", name=slots["name"]),
            call("suggest_tables", **when, area=slots["area"]),
            call("take_reservation", guest_id=found(0, 0, "guest_id"), **when, **place),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        guest, when = named(state, GUEST, slots["name"]), (slots["day"], slots["start"])
        fits = places(state, *when, slots["party"], slots["area"], self.v.s.sitting)
        _, table, other = only([fit for fit in fits if fit[0] == fits[0][0]])
        if not OPENS <= slots["start"] <= LAST or not 1 <= slots["party"] <= 12:
            raise LookupError("the house is closed then")
        fields = {
            "guest_id": guest["guest_id"],
            "day": slots["day"],
            "start": slots["start"],
            "party": slots["party"],
            "table_id": table,
            "second_table_id": other,
            "deposit": self.v.s.deposit * slots["party"] if guest["no_shows"] >= 2 else 0.0,
            "seated_at": "",
            "status": "booked",
        }
        item = (
            f"Has the tightest place in the {slots['area']} been booked for {slots['name']} on "
            f"{slots['day']} at {slots['start']}?"
        )
        return [Added("reservations", fields, item)]


class Resize(FloorGoal):
    """More people, so that the neighbouring table is joined; or fewer."""

    phrases = (
        "There will be {party:int} people in the party of {name:name} now: please change the booking, "
        "and join "
        "the next table or give it back as that requires.",
        "{name:name} rang to say that they come as {party:int}; please see that the booking has the room "
        "for it.",
    )
    needs = ("find_reservations", "resize_party")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng, today=False)
        return row and {"name": self.guest_of(row, state), "party": int(rng.integers(2, 11))}

    def plan(self, slots: Slots) -> list[Row]:
        return [self.find(slots), call("resize_party", **self.id, party=slots["party"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, party = self.one(slots, state), slots["party"]
        table = state["tables"][row["table_id"]]
        second, when = None, (row["day"], row["start"])
        if table["seats"] < party:
            other = state["tables"].get(table["joins_table_id"] or "")
            if other is None or table["seats"] + other["seats"] < party:
                raise LookupError("there are not enough seats")
            second, ignore = other["table_id"], (row["reservation_id"],)
            if not is_free(state, *when, second, self.v.s.sitting, ignore):
                raise LookupError("the next table is taken")
        if party == row["party"]:
            raise LookupError("it is as many already")
        head = self.v.s.deposit if state["guests"][row["guest_id"]]["no_shows"] >= 2 else 0.0
        fields = {"party": party, "second_table_id": second, "deposit": head * party}
        return [
            self.change(row, f"Has the booking of {slots['name']} been changed to {party} people?", **fields)
        ]


class Swap(FloorGoal):
    """Two parties change tables."""

    phrases = (
        "The parties of {name:name} and {other:name}, both booked for this evening, should have each "
        "other's tables.",
        "Please swap the tables that {name:name} and {other:name} have booked for today.",
    )
    needs = ("find_reservations", "swap_tables")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one, two = self.some(state, rng), self.some(state, rng)
        return one and two and {"name": self.guest_of(one, state), "other": self.guest_of(two, state)}

    def plan(self, slots: Slots) -> list[Row]:
        other = {"other_reservation_id": found(1, 0, "reservation_id")}
        return [self.find(slots), self.find(slots, "other"), call("swap_tables", **self.id, **other)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, two = self.one(slots, state), self.one(slots, state, "other")
        ignore = (one["reservation_id"], two["reservation_id"])
        if ignore[0] == ignore[1] or one["day"] != two["day"] or one["table_id"] == two["table_id"]:
            raise LookupError("there is nothing to swap")
        outcomes: list[Outcome] = []
        for row, given in ((one, two), (two, one)):
            seats = sum(state["tables"][key]["seats"] for key in held(given))
            when = (row["day"], row["start"])
            free = all(is_free(state, *when, key, self.v.s.sitting, ignore) for key in held(given))
            if seats < row["party"] or not free:
                raise LookupError("they do not fit")
            item = f"Is {self.guest_of(row, state)} booked at the table of {self.guest_of(given, state)}?"
            outcomes.append(self.change(row, item, **{k: given[k] for k in ("table_id", "second_table_id")}))
        return outcomes


class Seat(FloorGoal):
    """A party has come."""

    phrases = (
        "The party of {name:name} arrived at {at:time}, please seat them.",
        "{name:name} and company came in at {at:time} and can be shown to their table.",
    )
    needs = ("find_reservations", "seat_party")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        return row and {
            "name": self.guest_of(row, state),
            "at": clock(minutes(row["start"]) + int(rng.integers(14))),
        }

    def plan(self, slots: Slots) -> list[Row]:
        return [self.find(slots), call("seat_party", **self.id, at=slots["at"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.one(slots, state)
        sat = [
            r
            for r in state["reservations"].values()
            if r["status"] == "seated" and set(held(r)) & set(held(row))
        ]
        if sat or row["day"] != state["today"] or minutes(slots["at"]) < minutes(row["start"]) - 30:
            raise LookupError("they cannot be seated yet")
        item = f"Is the party of {slots['name']} seated since {slots['at']}?"
        return [self.change(row, item, status="seated", seated_at=slots["at"])]


class NoShow(FloorGoal):
    """A party has not come, and the guest is remembered for it."""

    phrases = (
        "It is {at:time} and nobody has come for {name:name}, so record the no-show.",
        "The party of {name:name} had not turned up by {at:time}; please put them down as a no-show.",
    )
    needs = ("find_reservations", "mark_no_show")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        late = clock(minutes(row["start"]) + self.v.s.grace + int(rng.integers(1, 40))) if row else ""
        return row and {"name": self.guest_of(row, state), "at": late}

    def plan(self, slots: Slots) -> list[Row]:
        return [self.find(slots), call("mark_no_show", **self.id, at=slots["at"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.one(slots, state)
        if row["day"] != state["today"] or minutes(slots["at"]) < minutes(row["start"]) + self.v.s.grace:
            raise LookupError("it is too early")
        times = state["guests"][row["guest_id"]]["no_shows"] + 1
        item = f"Is the booking of {slots['name']} recorded as a no-show?"
        again = f"Has the number of no-shows of {slots['name']} gone up to {times}?"
        return [
            self.change(row, item, status="no_show"),
            Changed("guests", row["guest_id"], {"no_shows": times}, again),
        ]


class Order(FloorGoal):
    """A dish for a party."""

    status = "seated"
    phrases = (
        "At {at:time} the party of {name:name} ordered {dish:name}, {quantity:int} of them, so please "
        "send that in.",
        "Please send in {quantity:int} x {dish:name} for {name:name}, ordered at {at:time}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_reservations", "find_dishes", "send_order")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row, dish = self.some(state, rng, bill=False), pick(rng, list(state["dishes"].values()))
        given = {"at": clock(minutes("20:00") + int(rng.integers(30))), "quantity": int(rng.integers(1, 4))}
        return row and {"name": self.guest_of(row, state), "dish": dish["name"], **given}

    def plan(self, slots: Slots) -> list[Row]:
        given = {"quantity": slots["quantity"], "at": slots["at"]}
        return [
            self.find(slots),
            call("find_dishes", name=slots["dish"]),
            call("send_order", **self.id, dish_id=found(1, 0, "dish_id"), **given),
        ]

    def sent(self, row: Row, dish: Row, quantity: int, at: str, state: State) -> list[Outcome]:
        """The kitchen has a ticket, and the dish so many portions less."""
        allergy = state["guests"][row["guest_id"]]["allergy"]
        billed = any(c["reservation_id"] == row["reservation_id"] for c in state["checks"].values())
        if dish["portions"] < quantity or dish["allergen"] == allergy != "none" or billed:
            raise LookupError("it cannot be ordered")
        fields = {
            "reservation_id": row["reservation_id"],
            "dish_id": dish["dish_id"],
            "quantity": quantity,
            "price": dish["price"],
            "sent_at": at,
            "status": "waiting",
            "note": "",
        }
        left, who = dish["portions"] - quantity, self.guest_of(row, state)
        return [
            Added("tickets", fields, f"Has the kitchen a ticket for {quantity} x {dish['name']} for {who}?"),
            Changed(
                "dishes", dish["dish_id"], {"portions": left}, f"Are {left} portions of {dish['name']} left?"
            ),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, dish = self.one(slots, state), named(state, DISH, slots["dish"])
        return self.sent(row, dish, slots["quantity"], slots["at"], state)


class OrderSuitable(Order):
    """The cheapest dish of a course that suits a party, for everybody in it."""

    phrases = (
        "The party of {name:name} asked at {at:time} for the cheapest of the {course:name} that suits "
        "them and is left for all, one for each person.",
        "Please order for {name:name} at {at:time} whichever of the {course:name} is cheapest, suits the "
        "guest's allergy and is there for everybody, a portion a head.",
    )
    needs = ("find_reservations", "suitable_dishes", "send_order")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {
            "name": slots["name"],
            "at": slots["at"],
            "course": pick(rng, list(self.v.s.dishes)),
        }

    def plan(self, slots: Slots) -> list[Row]:
        given = {"dish_id": found(1, 0, "dish_id"), "quantity": found(0, 0, "party"), "at": slots["at"]}
        return [
            self.find(slots),
            call("suitable_dishes", **self.id, course=slots["course"]),
            call("send_order", **self.id, **given),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.one(slots, state)
        allergy = state["guests"][row["guest_id"]]["allergy"]
        fits = [
            (dish["price"], key)
            for key, dish in state["dishes"].items()
            if dish["course"] == slots["course"]
            and dish["portions"] >= row["party"]
            and (allergy == "none" or dish["allergen"] != allergy)
        ]
        if not fits or [price for price, _ in fits].count(min(fits)[0]) > 1:
            raise LookupError("no dish is the cheapest")
        return self.sent(row, state["dishes"][min(fits)[1]], row["party"], slots["at"], state)


class Serve(FloorGoal):
    """All of a course that waits for a party."""

    status = "seated"
    phrases = (
        "All the {course:name} that {name:name} was waiting for are on the table now.",
        "Please mark the {course:name} of the party of {name:name} as served, all of them.",
    )
    needs = ("find_reservations", "serve_course")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        return row and {"name": self.guest_of(row, state), "course": pick(rng, list(self.v.s.dishes))}

    def plan(self, slots: Slots) -> list[Row]:
        return [self.find(slots), call("serve_course", **self.id, course=slots["course"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.one(slots, state)
        due = [
            ticket
            for ticket in state["tickets"].values()
            if (ticket["reservation_id"], ticket["status"]) == (row["reservation_id"], "waiting")
            and state["dishes"][ticket["dish_id"]]["course"] == slots["course"]
        ]
        if not due:
            raise LookupError("nothing waits")
        also = (row["reservation_id"],)
        return [
            Changed(
                "tickets",
                ticket["ticket_id"],
                {"status": "served"},
                f"Is {state['dishes'][ticket['dish_id']]['name']} for {slots['name']} served?",
                also,
            )
            for ticket in due
        ]


class SendBack(Order):
    """A dish comes back, off the bill, and is made again."""

    phrases = (
        'At {at:time} {name:name} returned the {dish:name} ("{reason:text}"), so take it off the bill and '
        "let the kitchen make it again.",
        'Please send back the {dish:name} that was served to {name:name}; the reason is "{reason:text}", '
        "and a fresh one is wanted at {at:time}.",
    )
    needs = ("find_reservations", "find_dishes", "send_back")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        served = [
            row["dish_id"]
            for row in state["tickets"].values()
            if slots
            and row["status"] == "served"
            and row["reservation_id"] == self.one(slots, state)["reservation_id"]
        ]
        if not slots or not served:
            return None
        dish = state["dishes"][pick(rng, served)]["name"]
        return {
            "name": slots["name"],
            "dish": dish,
            "at": slots["at"],
            "reason": pick(rng, self.v.s.complaints),
        }

    def plan(self, slots: Slots) -> list[Row]:
        given = {"reason": slots["reason"], "at": slots["at"], "make_again": True}
        return [
            self.find(slots),
            call("find_dishes", name=slots["dish"]),
            call("send_back", **self.id, dish_id=found(1, 0, "dish_id"), **given),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, dish = self.one(slots, state), named(state, DISH, slots["dish"])
        wanted = (row["reservation_id"], dish["dish_id"], "served")
        rows = state["tickets"].values()
        ticket = only([t for t in rows if (t["reservation_id"], t["dish_id"], t["status"]) == wanted])
        item = f"Has the {slots['dish']} of {slots['name']} been sent back with that reason?"
        back = {"status": "sent_back", "note": slots["reason"]}
        return [
            Changed("tickets", ticket["ticket_id"], back, item),
            *self.sent(row, dish, ticket["quantity"], slots["at"], state),
        ]


class Recount(FloorGoal):
    """The kitchen says how much of a dish there is."""

    phrases = (
        "The kitchen counted again and has {portions:int} portions of {dish:name}, so set that on the menu.",
        "Of {dish:name} there are {portions:int} portions after the delivery, please correct the number.",
    )
    needs = ("find_dishes", "set_portions")
    weight = 0.4

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {
            "dish": pick(rng, list(state["dishes"].values()))["name"],
            "portions": int(rng.integers(3, 40)),
        }

    def plan(self, slots: Slots) -> list[Row]:
        given = {"dish_id": found(0, 0, "dish_id"), "portions": slots["portions"]}
        return [call("find_dishes", name=slots["dish"]), call("set_portions", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        dish, portions = named(state, DISH, slots["dish"]), slots["portions"]
        if dish["portions"] == portions:
            raise LookupError("it is so already")
        item = f"Are {portions} portions of {slots['dish']} on the menu?"
        return [Changed("dishes", dish["dish_id"], {"portions": portions}, item)]


class Split(FloorGoal):
    """One bill in several checks."""

    status = "seated"
    phrases: ClassVar[tuple[str, ...]] = (
        "The party of {name:name} wants the bill split evenly in {ways:int}.",
        "Please make {ways:int} equal checks of the bill of {name:name}.",
    )
    needs = ("find_reservations", "split_bill")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng, bill=False)
        return row and {"name": self.guest_of(row, state), "ways": int(rng.integers(2, 4))}

    def plan(self, slots: Slots) -> list[Row]:
        own = {"first_pays": slots["course"]} if "course" in slots else {}
        return [self.find(slots), call("split_bill", **self.id, ways=slots["ways"], **own)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, ways = self.one(slots, state), slots["ways"]
        key = row["reservation_id"]
        tickets = [t for t in state["tickets"].values() if t["reservation_id"] == key]
        own = lines_of(state, key, slots["course"]) if "course" in slots else 0
        shared = lines_of(state, key) - own - round(row["deposit"] * 100)
        billed = any(check["reservation_id"] == key for check in state["checks"].values())
        if (
            any(t["status"] == "waiting" for t in tickets)
            or shared < ways
            or billed
            or ("course" in slots and not own)
        ):
            raise LookupError("it cannot be split yet")
        rest = {"reservation_id": key, "tip": 0.0, "method": "", "status": "open"}
        cents = [shared // ways + (shared % ways + own if n == 0 else 0) for n in range(ways)]
        # Equal checks are one question, which then asks for as many.
        item = (
            f"Has the bill of {slots['name']} been split in {ways}, with as many checks of {{:.2f}} as "
            "that gives?"
        )
        return [
            Added("checks", {**rest, "amount": amount / 100}, item.format(amount / 100)) for amount in cents
        ]


class SplitUnevenly(Split):
    """The same, with a course on the first check only."""

    phrases = (
        "{name:name} wants to split the bill {ways:int} ways, but all the {course:name} go on the first "
        "check.",
        "Please write {ways:int} checks for the party of {name:name}: the first one pays all the "
        "{course:name}, the rest is shared evenly.",
    )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "course": pick(rng, list(self.v.s.dishes))}


class Pay(FloorGoal):
    """The last check of a party, who then leaves."""

    status = "seated"
    phrases: ClassVar[tuple[str, ...]] = (
        "The check that {name:name} still had open was paid by {method:name}, with a tip of {tip:money}.",
        "Please enter that the party of {name:name} paid its last check by {method:name} and left a tip "
        "of {tip:money}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_reservations", "get_bill", "pay_check")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng, bill=True)
        given = {"method": pick(rng, METHODS), "tip": int(rng.integers(4, 30)) / 2}
        return row and {"name": self.guest_of(row, state), **given}

    def plan(self, slots: Slots) -> list[Row]:
        check = {"check_id": found(1, "open_checks", 0, "check_id")}
        given = {"method": slots["method"], "tip": slots["tip"]}
        return [self.find(slots), call("get_bill", **self.id), call("pay_check", **check, **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, checks = self.one(slots, state, status="seated"), state["checks"].values()
        check = only(
            [c for c in checks if (c["reservation_id"], c["status"]) == (row["reservation_id"], "open")]
        )
        if slots["method"] not in METHODS:
            raise LookupError("nobody pays so")
        paid = {"status": "paid", "method": slots["method"], "tip": slots["tip"]}
        item = (
            f"Has the open check of {slots['name']} been paid by {slots['method']} with a tip of "
            f"{slots['tip']:.2f}?"
        )
        return [
            Changed("checks", check["check_id"], paid, item),
            self.change(row, f"Has the party of {slots['name']} left?", status="left"),
        ]


class PayAndSeat(Pay):
    """The table of a party that pays is given to the next one."""

    phrases = (
        "{name:name} paid the last open check by {method:name} with a tip of {tip:money}; once that is "
        "entered, seat the party of {next:name} there at {at:time}.",
        "As soon as the last check of {name:name} is settled ({method:name}, tip {tip:money}), show "
        "{next:name} to that table, at {at:time}.",
    )
    needs = ("find_reservations", "get_bill", "pay_check", "seat_party")
    weight = 1.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, rows = super().draw(state, rng), state["reservations"].values()
        wanted = held(self.one(slots, state, status="seated")) if slots else []
        nexts = [
            r for r in rows if (r["status"], r["day"]) == ("booked", state["today"]) and held(r) == wanted
        ]
        if not slots or not nexts:
            return None
        row = pick(rng, nexts)
        at = clock(minutes(row["start"]) + int(rng.integers(14)))
        return {**slots, "next": self.guest_of(row, state), "at": at}

    def plan(self, slots: Slots) -> list[Row]:
        seat = call("seat_party", reservation_id=found(3, 0, "reservation_id"), at=slots["at"])
        return [*super().plan(slots), self.find(slots, "next", "booked"), seat]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.one(slots, state, "next", "booked")
        leaving = self.one(slots, state, status="seated")
        if held(row) != held(leaving) or minutes(slots["at"]) < minutes(row["start"]) - 30:
            raise LookupError("it is not that table")
        item = f"Is the party of {slots['next']} seated since {slots['at']}?"
        return [
            *super().outcome(slots, state),
            self.change(row, item, status="seated", seated_at=slots["at"]),
        ]


class Floor(Pattern):
    """A restaurant's evening."""

    Settings = FloorSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        Reserve, Resize, Swap, Seat, NoShow, Order, OrderSuitable, Serve, SendBack, Recount, Split,
        SplitUnevenly, Pay, PayAndSeat,
    )  # fmt: skip

    def vocabulary(self, s: FloorSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        return {
            "t": TABLE, "g": GUEST, "r": RESERVATION, "d": DISH, "c": CHECK, "areas": list(s.areas),
            "arealist": either(list(s.areas)), "courses": list(s.dishes), "courselist": either(list(s.dishes)),
            "methods": METHODS, "methodlist": either(METHODS), "opens": OPENS, "last": LAST,
        }  # fmt: skip

    def tables(self, v: SimpleNamespace) -> list[Table]:
        def table(noun: Noun, about: str, *fields: tuple[str, str, str]) -> Table:
            return Table(noun, about, [attribute(*field) for field in fields])

        return [
            table(
                TABLE, "A table of the restaurant.", ("table_id", "str", "unique id, e.g. TBL-001"),
                ("number", "int", "number on the table"), ("area", "str", v.arealist),
                ("seats", "int", "how many it seats"),
                ("joins_table_id", "str | None", "the neighbouring table it can be joined with, or None"),
                ("waiter", "str", "who waits on it"),
            ),
            table(
                GUEST, "Somebody who books.", ("guest_id", "str", "unique id, e.g. GST-001"),
                ("name", "str", "full name"), ("phone", "str", "telephone number"),
                ("allergy", "str", "what the guest must not be served, or none"),
                ("no_shows", "int", "how often the guest booked and did not come"),
            ),
            table(
                RESERVATION, "A party that is expected, sits at its table or was here.",
                ("reservation_id", "str", "unique id, e.g. RSV-001"), ("guest_id", "str", "the guest who booked"),
                ("day", "str", "date, as YYYY-MM-DD"), ("start", "str", "time, as HH:MM"),
                ("party", "int", "number of people"), ("table_id", "str", "the table"),
                ("second_table_id", "str | None", "the table joined to it, or None"),
                ("deposit", "float", "paid ahead, taken off the bill"),
                ("seated_at", "str", "when the party sat down, as HH:MM, empty before"),
                ("status", "str", "booked, seated, left, no_show or cancelled"),
            ),
            table(
                DISH, "A dish or a drink on the menu.", ("dish_id", "str", "unique id, e.g. DSH-001"),
                ("name", "str", "name on the menu"), ("course", "str", v.courselist),
                ("price", "float", "for one portion"), ("allergen", "str", "the allergen in it, or none"),
                ("portions", "int", "portions left today, 0 when it is off the menu"),
            ),
            table(
                TICKET, "What the kitchen or the bar is to make for a party.",
                ("ticket_id", "str", "unique id, e.g. TKT-001"), ("reservation_id", "str", "the party"),
                ("dish_id", "str", "the dish"), ("quantity", "int", "portions"),
                ("price", "float", "for one portion, when it was ordered"),
                ("sent_at", "str", "when it was sent in, as HH:MM"),
                ("status", "str", "waiting, served or sent_back"),
                ("note", "str", "why it was sent back, otherwise empty"),
            ),
            table(
                CHECK, "A part of a party's bill that one person pays.", ("check_id", "str", "unique id, e.g. CHK-001"),
                ("reservation_id", "str", "the party"), ("amount", "float", "to pay, without the tip"),
                ("tip", "float", "given on top"), ("method", "str", f"{v.methodlist}, empty before it is paid"),
                ("status", "str", "open or paid"),
            ),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "Two parties booked or seated on one day have the same table only <<s.sitting>> minutes or "
            "more apart.",
            """
            def start(row):
                hours, _, minutes = str(row.get("start")).partition(":")
                return int(hours) * 60 + int(minutes) if hours.isdigit() and minutes.isdigit() else -9999

            held = [
                (str(row.get(name)), str(row.get("day")), start(row))
                for row in rows(after, "reservations").values()
                for name in ("table_id", "second_table_id")
                if row.get(name) and row.get("status") in ("booked", "seated")
            ]
            return not any(
                one[:2] == two[:2] and abs(one[2] - two[2]) < <<s.sitting>>
                for place, one in enumerate(held)
                for two in held[:place]
            )
            """,
        ),
        RuleText(
            "A party sits at one table or at two neighbours joined, and is at most as many people as "
            "these seat.",
            """
            tables = rows(after, "tables")
            for row in rows(after, "reservations").values():
                first, second = tables.get(str(row.get("table_id"))), tables.get(str(row.get("second_table_id")))
                if first is None or (second and first.get("joins_table_id") != second.get("table_id")):
                    return False
                if (row.get("party") or 0) > (first.get("seats") or 0) + ((second or {}).get("seats") or 0):
                    return False
            return True
            """,
        ),
        RuleText(
            "The checks of a party make up the total of its tickets that were not sent back, less its "
            "deposit.",
            """
            due, asked = {}, {}
            for row in rows(after, "tickets").values():
                if row.get("status") != "sent_back":
                    key = str(row.get("reservation_id"))
                    due[key] = due.get(key, 0) + (row.get("price") or 0) * (row.get("quantity") or 0)
            for row in rows(after, "checks").values():
                key = str(row.get("reservation_id"))
                asked[key] = asked.get(key, 0) + (row.get("amount") or 0)
            paid = {key: row.get("deposit") or 0 for key, row in rows(after, "reservations").items()}
            return all(abs(asked[key] - due.get(key, 0) + paid.get(key, 0)) < 0.01 for key in asked)
            """,
        ),
        RuleText(
            "Each portion sent to the kitchen brings what is left of the dish down by one, and never "
            "below 0.",
            """
            sent = {}
            for row in added("tickets"):
                key = str(row.get("dish_id"))
                sent[key] = sent.get(key, 0) + (row.get("quantity") or 0)
            old, new = rows(before, "dishes"), rows(after, "dishes")
            if any((row.get("portions") or 0) < 0 for row in new.values()):
                return False
            return all(
                (old[key].get("portions") or 0) - count == new[key].get("portions")
                for key, count in sent.items()
                if key in old and key in new
            )
            """,
        ),
        RuleText(
            "A reservation goes from booked to seated and from seated to left, or from booked to no-show "
            "or cancelled.",
            """
            ways = {"booked": ("seated", "no_show", "cancelled"), "seated": ("left",)}
            return all(
                new.get("status") in ways.get(str(old.get("status")), ())
                for old, new in changed("reservations", "status")
            )
            """,
        ),
        RuleText(
            "Every no-show leaves a mark with the guest, whose number of no-shows goes up by one.",
            """
            missed = {}
            for _, new in changed("reservations", "status"):
                if new.get("status") == "no_show":
                    key = str(new.get("guest_id"))
                    missed[key] = missed.get(key, 0) + 1
            marked = {
                str(new.get("guest_id")): (new.get("no_shows") or 0) - (old.get("no_shows") or 0)
                for old, new in changed("guests", "no_shows")
            }
            return missed == marked
            """,
        ),
        RuleText(
            "A guest with two no-shows or more is authorised to book only with a deposit of "
            "<<'%.2f'|format(s.deposit)>> a head.",
            """
            guests = rows(after, "guests")
            for row in added("reservations"):
                often = (guests.get(str(row.get("guest_id"))) or {}).get("no_shows") or 0
                if row.get("deposit") != (<<s.deposit>> * (row.get("party") or 0) if often >= 2 else 0):
                    return False
            return True
            """,
        ),
        RuleText(
            "No dish is sent to a party whose guest must not have the allergen in it.",
            """
            guests, parties, dishes = rows(after, "guests"), rows(after, "reservations"), rows(after, "dishes")
            for row in added("tickets"):
                party = parties.get(str(row.get("reservation_id"))) or {}
                allergy = (guests.get(str(party.get("guest_id"))) or {}).get("allergy")
                allergen = (dishes.get(str(row.get("dish_id"))) or {}).get("allergen")
                if allergy == allergen and allergy not in (None, "none"):
                    return False
            return True
            """,
        ),
    )  # fmt: skip

    HELPERS = '''
    @staticmethod
    def _minutes(clock: str) -> int | None:
        """Return the minutes since midnight of a time as HH:MM, None when it is none."""
        hours, _, minutes = clock.partition(":")
        if len(clock) != 5 or not (hours.isdigit() and minutes.isdigit()):
            return None
        return int(hours) * 60 + int(minutes) if int(hours) < 24 and int(minutes) < 60 else None

    def _holder(self, table_id: str, day: str, start: str, ignore: tuple = ()) -> dict | None:
        """Return the party that has a table at a time, None when it is free."""
        for reservation in self.reservations.values():
            apart = abs(self._minutes(reservation["start"]) - self._minutes(start))
            if (
                reservation["day"] == day
                and apart < <<s.sitting>>
                and reservation["status"] in ("booked", "seated")
                and table_id in (reservation["table_id"], reservation["second_table_id"])
                and reservation["reservation_id"] not in ignore
            ):
                return reservation
        return None

    def _opening_fault(self, day: str, start: str) -> str:
        """Say why nobody can come at a time, empty when somebody can."""
        if not self._is_date(day) or day < self.today:
            return f"{day!r} is not a date from today on."
        if self._minutes(start) is None or not "<<opens>>" <= start <= "<<last>>":
            return f"Parties come from <<opens>> to <<last>>, not at {start!r}."
        return ""

    def _cents(self, reservation_id: str, course: str | None = None) -> int:
        """Add up what a party kept of a course, or of all, in cents."""
        return sum(
            round(ticket["price"] * 100) * ticket["quantity"]
            for ticket in self.tickets.values()
            if ticket["reservation_id"] == reservation_id
            and ticket["status"] != "sent_back"
            and course in (None, self.dishes[ticket["dish_id"]]["course"])
        )

    def _checks_of(self, reservation_id: str) -> list[dict]:
        """Return the checks that were written for a party."""
        return [check for check in self.checks.values() if check["reservation_id"] == reservation_id]

    def _send(self, reservation_id: str, dish: dict, quantity: int, at: str) -> dict:
        """Write a ticket and take its portions off."""
        ticket: Ticket = {
            "ticket_id": self._next_id(self.tickets, "TKT"),
            "reservation_id": reservation_id,
            "dish_id": dish["dish_id"],
            "quantity": quantity,
            "price": dish["price"],
            "sent_at": at,
            "status": "waiting",
            "note": "",
        }
        dish["portions"] -= quantity
        self.tickets[ticket["ticket_id"]] = ticket
        return ticket
'''

    READS = '''
def find_guests(self, name: str) -> dict:
    """Find guests by name, with how often they were here and how much they paid.

    Args:
        name: Full name or a part of it; upper and lower case are the same.

    Returns:
        The guests sorted by name, each with `visits` and `spent`; an empty list when nobody matches.
    """
    refuse if not name.strip() :: The name to look for is empty.
    matches = []
    for guest in self.guests.values():
        if name.strip().lower() in guest["name"].lower():
            visits = [
                key
                for key, row in self.reservations.items()
                if row["guest_id"] == guest["guest_id"] and row["status"] == "left"
            ]
            spent = sum(check["amount"] for key in visits for check in self._checks_of(key))
            matches.append({**guest, "visits": len(visits), "spent": round(spent, 2)})
    return {"success": True, "data": sorted(matches, key=lambda row: row["name"])}

def find_reservations(self, name: str, status: str | None = None) -> dict:
    """Find reservations by the name of the guest who booked.

    Args:
        name: Full name of the guest or a part of it; upper and lower case are the same.
        status: Only this status: booked, seated, left, no_show or cancelled. Leave out for all.

    Returns:
        The reservations with the name of the guest and the numbers of the tables, the earliest first.
    """
    refuse if not name.strip() :: The name to look for is empty.
    statuses = ("booked", "seated", "left", "no_show", "cancelled")
    refuse if status is not None and status not in statuses :: There is no status {status!r}.
    matches = []
    for reservation in self.reservations.values():
        booked_by = self.guests[reservation["guest_id"]]["name"]
        if name.strip().lower() in booked_by.lower() and status in (None, reservation["status"]):
            held = (reservation["table_id"], reservation["second_table_id"])
            numbers = [self.tables[key]["number"] for key in held if key is not None]
            matches.append({**reservation, "name": booked_by, "table_numbers": numbers})
    return {"success": True, "data": sorted(matches, key=lambda row: (row["day"], row["start"]))}

def suggest_tables(self, day: str, start: str, party: int, area: str | None = None) -> dict:
    """Suggest free tables, or two neighbours that are large enough only together, the tightest fit first.

    Args:
        day: Date, as YYYY-MM-DD, not in the past.
        start: When the party comes, as HH:MM, from <<opens>> to <<last>>.
        party: Number of people, 1 to 12.
        area: Only tables in this area: <<arealist>>. Leave out for all.

    Returns:
        The places as `table_id` and `second_table_id` (empty for a single table) with the seats to `spare`.
    """
    fault = self._opening_fault(day, start)
    if fault:
        return {"success": False, "error": fault}
    refuse if not 1 <= party <= 12 :: A party has 1 to 12 people, not {party}.
    refuse if area is not None and area not in (<<quoted(areas)>>) :: There is no area {area!r}.
    free = {key: row for key, row in self.tables.items() if self._holder(key, day, start) is None}
    places = []
    for key, row in free.items():
        other = free.get(row["joins_table_id"] or "")
        both = row["seats"] + (other["seats"] if other is not None else 0)
        if area not in (None, row["area"]):
            continue
        if row["seats"] >= party:
            places.append({"table_id": key, "second_table_id": "", "spare": row["seats"] - party})
        elif other is not None and key < other["table_id"] and other["seats"] < party <= both:
            places.append({"table_id": key, "second_table_id": other["table_id"], "spare": both - party})
    places.sort(key=lambda place: (place["spare"], place["second_table_id"] != "", place["table_id"]))
    return {"success": True, "data": places}

def show_floor(self, at: str) -> dict:
    """Show for each area which tables are occupied today and which of the others are wanted within the hour.

    Args:
        at: Time of day, as HH:MM.

    Returns:
        By area: the numbers of the tables that are `occupied`, `wanted_soon` and `free`.
    """
    now = self._minutes(at)
    refuse if now is None :: {at!r} is not a time as HH:MM.
    floor = {area: {"occupied": [], "wanted_soon": [], "free": []} for area in (<<quoted(areas)>>)}
    for table in self.tables.values():
        state = "free"
        for reservation in self.reservations.values():
            if table["table_id"] not in (reservation["table_id"], reservation["second_table_id"]):
                continue
            away = self._minutes(reservation["start"]) - now
            if reservation["status"] == "seated":
                state = "occupied"
            elif (reservation["status"], reservation["day"], state) == ("booked", self.today, "free"):
                state = "wanted_soon" if 0 <= away <= 60 else state
        floor[table["area"]][state].append(table["number"])
    return {"success": True, "data": floor}

def find_dishes(self, name: str) -> dict:
    """Find dishes by name, with the number of portions that parties are waiting for.

    Args:
        name: Name on the menu or a part of it; upper and lower case are the same.

    Returns:
        The dishes, the shortest name first, each with the portions that are `awaited`.
    """
    wanted = name.strip().casefold()
    refuse if not wanted :: The name to look for is empty.
    awaited = dict.fromkeys(self.dishes, 0)
    for ticket in self.tickets.values():
        if ticket["status"] == "waiting":
            awaited[ticket["dish_id"]] += ticket["quantity"]
    matches = [
        {**dish, "awaited": awaited[key]}
        for key, dish in self.dishes.items()
        if wanted in dish["name"].casefold()
    ]
    return {"success": True, "data": sorted(matches, key=lambda dish: (len(dish["name"]), dish["name"]))}

def suitable_dishes(self, reservation_id: str, course: str) -> dict:
    """List what everybody of a party could have of a course: free of the guest's allergen, and enough of it left.

    Args:
        reservation_id: Id of the reservation.
        course: The course: <<courselist>>.

    Returns:
        The dishes, the cheapest first, each with what it would cost `for_all`.
    """
    need r
    refuse if course not in (<<quoted(courses)>>) :: There is no course {course!r}.
    allergy = self.guests[reservation["guest_id"]]["allergy"]
    dishes = [
        {**dish, "for_all": round(dish["price"] * reservation["party"], 2)}
        for dish in self.dishes.values()
        if dish["course"] == course
        and dish["portions"] >= reservation["party"]
        and (allergy == "none" or dish["allergen"] != allergy)
    ]
    return {"success": True, "data": sorted(dishes, key=lambda dish: (dish["price"], dish["dish_id"]))}

def list_overdue_tickets(self, at: str, minutes: int = 20) -> dict:
    """List what has been waiting in the kitchen for longer than some minutes, the longest first.

    Args:
        at: Time of day, as HH:MM.
        minutes: Only what has been waiting for more minutes than these; at least 0.

    Returns:
        The tickets with the name of the dish and the minutes they have `waited`.
    """
    now = self._minutes(at)
    refuse if now is None or minutes < 0 :: Expected a time as HH:MM and minutes from 0 on.
    late = [
        {**ticket, "dish": self.dishes[ticket["dish_id"]]["name"], "waited": now - self._minutes(ticket["sent_at"])}
        for ticket in self.tickets.values()
        if ticket["status"] == "waiting"
    ]
    late = [ticket for ticket in late if ticket["waited"] > minutes]
    return {"success": True, "data": sorted(late, key=lambda ticket: -ticket["waited"])}

def get_bill(self, reservation_id: str) -> dict:
    """Show what a party has to pay, line by line, and which of its checks are open.

    Args:
        reservation_id: Id of the reservation.

    Returns:
        The lines, their total, the deposit, what is due after it, and the open checks.
    """
    need r
    lines = [
        {"dish": self.dishes[row["dish_id"]]["name"], "quantity": row["quantity"], "price": row["price"]}
        for row in self.tickets.values()
        if row["reservation_id"] == reservation_id and row["status"] != "sent_back"
    ]
    cents = self._cents(reservation_id)
    still_open = [dict(row) for row in self._checks_of(reservation_id) if row["status"] == "open"]
    data = {
        "lines": lines,
        "total": cents / 100,
        "less_deposit": reservation["deposit"],
        "due": max(0, cents - round(reservation["deposit"] * 100)) / 100,
        "open_checks": still_open,
    }
    return {"success": True, "data": data}

def count_covers(self, day: str) -> dict:
    """Count the people expected or served on a day, by the hour they come, and how full the house is.

    Args:
        day: Date, as YYYY-MM-DD.

    Returns:
        The people by hour, their sum, and the fullest hour in per cent of all seats.
    """
    refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    hours: dict[str, int] = {}
    for reservation in self.reservations.values():
        if reservation["day"] == day and reservation["status"] not in ("no_show", "cancelled"):
            hour = reservation["start"][:2] + ":00"
            hours[hour] = hours.get(hour, 0) + reservation["party"]
    seats = sum(table["seats"] for table in self.tables.values())
    fullest = round(100 * max(hours.values(), default=0) / max(seats, 1), 1)
    data = {"by_hour": dict(sorted(hours.items())), "people": sum(hours.values()), "fullest_per_cent": fullest}
    return {"success": True, "data": data}

def share_tips(self, day: str) -> dict:
    """Work out who gets what of the tips of a day.

    The kitchen gets <<s.kitchen_share>> per cent, the waiters the rest, each from his or her own tables.

    Args:
        day: Date, as YYYY-MM-DD.

    Returns:
        The share of the kitchen, and by name those of the waiters.
    """
    refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    kitchen, waiters = 0.0, dict.fromkeys(sorted({row["waiter"] for row in self.tables.values()}), 0.0)
    for check in self.checks.values():
        reservation = self.reservations[check["reservation_id"]]
        if reservation["day"] == day:
            part = check["tip"] * <<s.kitchen_share>> / 100
            kitchen += part
            waiters[self.tables[reservation["table_id"]]["waiter"]] += check["tip"] - part
    shares = {name: round(amount, 2) for name, amount in waiters.items()}
    return {"success": True, "data": {"kitchen": round(kitchen, 2), "waiters": shares}}
'''

    WRITES = '''
<% macro be(status) %>
    if reservation["status"] != "<<status>>":
        refuse :: Reservation {reservation_id} is {reservation['status']}, not <<status>>.
<%- endmacro %>
<% macro at_time() %>
    refuse if self._minutes(at) is None :: {at!r} is not a time as HH:MM.
<%- endmacro %>
def take_reservation(
    self,
    guest_id: str,
    day: str,
    start: str,
    party: int,
    table_id: str,
    second_table_id: str | None = None,
) -> dict:
    """Book a table, or two neighbours joined, for a party; guests with two no-shows pay a deposit.

    Args:
        guest_id: Id of the guest who books.
        day: Date, as YYYY-MM-DD, not in the past.
        start: When the party comes, as HH:MM, from <<opens>> to <<last>>.
        party: Number of people, 1 to 12, for whom there are seats.
        table_id: Id of a table that is free for <<s.sitting>> minutes before and after.
        second_table_id: Id of the neighbour to join to it. Leave out or empty where one table is enough.

    Returns:
        The new reservation, or an error.
    """
    need g
    need t
    fault = self._opening_fault(day, start)
    if fault:
        return {"success": False, "error": fault}
    second_table_id = second_table_id or None
    if second_table_id is not None and second_table_id != table["joins_table_id"]:
        refuse :: Table {table['number']} cannot be joined with {second_table_id!r}.
    places = [self.tables[key] for key in (table_id, second_table_id) if key is not None]
    seats = sum(place["seats"] for place in places)
    refuse if not 1 <= party <= min(12, seats) :: There are {seats} seats, and a party has 1 to 12 people.
    for place in places:
        refuse if self._holder(place["table_id"], day, start) :: Table {place['number']} is taken on {day} at {start}.
    reservation: Reservation = {
        "reservation_id": self._next_id(self.reservations, "RSV"),
        "guest_id": guest_id,
        "day": day,
        "start": start,
        "party": party,
        "table_id": table_id,
        "second_table_id": second_table_id,
        "deposit": <<s.deposit>> * party if guest["no_shows"] >= 2 else 0.0,
        "seated_at": "",
        "status": "booked",
    }
    self.reservations[reservation["reservation_id"]] = reservation
    done dict(reservation) :: Booked for {guest['name']} on {day} at {start}.

def resize_party(self, reservation_id: str, party: int) -> dict:
    """Change how many people come: the next table is joined where it is needed, and given back where it is not.

    Args:
        reservation_id: Id of the reservation, which must be booked.
        party: New number of people, 1 to 12.

    Returns:
        The changed reservation, with a deposit for the new number where one is due, or an error.
    """
    need r
<<be("booked")>>
    refuse if not 1 <= party <= 12 or party == reservation["party"] :: {party} is not another number from 1 to 12.
    table = self.tables[reservation["table_id"]]
    second = None
    if party > table["seats"]:
        second = self.tables.get(table["joins_table_id"] or "")
        if second is None or party > table["seats"] + second["seats"]:
            refuse :: Table {table['number']} does not seat {party}, and joining it does not help.
        if self._holder(second["table_id"], reservation["day"], reservation["start"], (reservation_id,)):
            refuse :: Table {second['number']}, which would have to be joined, is taken.
    often = self.guests[reservation["guest_id"]]["no_shows"] >= 2
    reservation["party"] = party
    reservation["second_table_id"] = second["table_id"] if second else None
    reservation["deposit"] = <<s.deposit>> * party if often else 0.0
    done dict(reservation) :: Reservation {reservation_id} is for {party} people now.

def swap_tables(self, reservation_id: str, other_reservation_id: str) -> dict:
    """Let two parties of one day change tables.

    Args:
        reservation_id: Id of a reservation, which must be booked.
        other_reservation_id: Id of another reservation of that day, which must be booked.

    Returns:
        Both reservations, or an error when a table is too small or not free for its new party.
    """
    need r
    other = self.reservations.get(other_reservation_id)
    refuse if other is None :: There is no reservation with the id {other_reservation_id!r}.
    pair = (reservation_id, other_reservation_id)
    refuse if reservation["table_id"] == other["table_id"] :: They have the same table.
    for coming, leaving in ((reservation, other), (other, reservation)):
        refuse if coming["status"] != "booked" :: Reservation {coming['reservation_id']} is {coming['status']}.
        refuse if coming["day"] != leaving["day"] :: They are not booked for the same day.
        keys = [key for key in (leaving["table_id"], leaving["second_table_id"]) if key is not None]
        if sum(self.tables[key]["seats"] for key in keys) < coming["party"]:
            refuse :: The other table is too small for {coming['party']} people.
        if any(self._holder(key, coming["day"], coming["start"], pair) for key in keys):
            refuse :: A third party has the table at {coming['start']}.
    places = [(row["table_id"], row["second_table_id"]) for row in (other, reservation)]
    for row, (first, second) in zip((reservation, other), places, strict=True):
        row.update(table_id=first, second_table_id=second)
    done {"reservations": [dict(reservation), dict(other)]} :: The two parties have changed tables.

def cancel_reservation(self, reservation_id: str) -> dict:
    """Cancel a reservation; the deposit is paid back unless it is for today.

    Args:
        reservation_id: Id of the reservation, which must be booked.

    Returns:
        The cancelled reservation with the deposit that is kept, or an error.
    """
    need r
<<be("booked")>>
    reservation["status"] = "cancelled"
    if reservation["day"] > self.today:
        reservation["deposit"] = 0.0
    done dict(reservation) :: Reservation {reservation_id} is cancelled.

def seat_party(self, reservation_id: str, at: str) -> dict:
    """Seat a party that has come.

    Args:
        reservation_id: Id of the reservation, which must be booked, for today.
        at: When the party came, as HH:MM, half an hour early at most; nobody sits at the table any more.

    Returns:
        The reservation, which is seated, or an error.
    """
    need r
<<be("booked")>>
<<at_time()>>
    early = self._minutes(reservation["start"]) - self._minutes(at)
    if reservation["day"] != self.today or early > 30:
        refuse :: They are expected on {reservation['day']} at {reservation['start']}.
    wanted = {reservation["table_id"], reservation["second_table_id"]} - {None}
    for row in self.reservations.values():
        if row["status"] == "seated" and wanted & {row["table_id"], row["second_table_id"]}:
            refuse :: The party of {self.guests[row['guest_id']]['name']} still sits there.
    reservation.update(status="seated", seated_at=at)
    done dict(reservation) :: Reservation {reservation_id} is seated.

def mark_no_show(self, reservation_id: str, at: str) -> dict:
    """Record that a party has not come; its table is free, and the guest's no-shows are one more.

    Args:
        reservation_id: Id of the reservation, which must be booked, for today.
        at: Time of day, as HH:MM, <<s.grace>> minutes or more after the party was expected.

    Returns:
        The reservation, or an error.
    """
    need r
<<be("booked")>>
<<at_time()>>
    late = self._minutes(at) - self._minutes(reservation["start"])
    refuse if reservation["day"] != self.today or late < <<s.grace>> :: It is too early to give them up.
    reservation["status"] = "no_show"
    self.guests[reservation["guest_id"]]["no_shows"] += 1
    done dict(reservation) :: Reservation {reservation_id} is a no-show.

def send_order(self, reservation_id: str, dish_id: str, quantity: int, at: str) -> dict:
    """Send a ticket for a dish to the kitchen.

    Args:
        reservation_id: Id of the reservation, which must be seated and have no checks yet.
        dish_id: Id of the dish, without the allergen that the guest must not have.
        quantity: Portions, at least 1 and no more than are left.
        at: Time of day, as HH:MM.

    Returns:
        The ticket, or an error.
    """
    need r
    need d
<<be("seated")>>
<<at_time()>>
    refuse if self._checks_of(reservation_id) :: The bill of {reservation_id} is written already.
    refuse if not 1 <= quantity <= dish["portions"] :: {dish['portions']} portions of {dish['name']} are left.
    allergy = self.guests[reservation["guest_id"]]["allergy"]
    refuse if allergy == dish["allergen"] != "none" :: There is {allergy} in {dish['name']}.
    ticket = self._send(reservation_id, dish, quantity, at)
    done dict(ticket) :: {quantity} x {dish['name']} sent to the kitchen.

def serve_course(self, reservation_id: str, course: str) -> dict:
    """Mark all that a party is waiting for of a course as served.

    Args:
        reservation_id: Id of the reservation, which must be seated.
        course: The course: <<courselist>>.

    Returns:
        The tickets that are served, or an error when nothing was waiting.
    """
    need r
<<be("seated")>>
    refuse if course not in (<<quoted(courses)>>) :: There is no course {course!r}.
    waiting = [
        ticket
        for ticket in self.tickets.values()
        if (ticket["reservation_id"], ticket["status"]) == (reservation_id, "waiting")
        and self.dishes[ticket["dish_id"]]["course"] == course
    ]
    refuse if not waiting :: Nothing of the {course} is waiting for {reservation_id}.
    for ticket in waiting:
        ticket["status"] = "served"
    done {"tickets": [dict(ticket) for ticket in waiting]} :: {len(waiting)} tickets served.

def send_back(self, reservation_id: str, dish_id: str, reason: str, at: str, make_again: bool = True) -> dict:
    """Take a dish that was served back and off the bill.

    Args:
        reservation_id: Id of the reservation, which must be seated and have no checks yet.
        dish_id: Id of the dish, which was served to the party.
        reason: What was wrong with it, in a few words.
        at: Time of day, as HH:MM.
        make_again: Whether the kitchen makes as many portions again.

    Returns:
        The ticket that was sent back and the new one (None without), or an error.
    """
    need r
    need d
<<be("seated")>>
<<at_time()>>
    refuse if not reason.strip() :: A reason is required.
    refuse if self._checks_of(reservation_id) :: The bill of {reservation_id} is written already.
    wanted = (reservation_id, dish_id, "served")
    served = [
        row
        for row in self.tickets.values()
        if (row["reservation_id"], row["dish_id"], row["status"]) == wanted
    ]
    refuse if not served :: No {dish['name']} was served to {reservation_id}.
    ticket = served[-1]
    if make_again and ticket["quantity"] > dish["portions"]:
        refuse :: {dish['portions']} portions of {dish['name']} are left.
    ticket.update(status="sent_back", note=reason.strip())
    fresh = dict(self._send(reservation_id, dish, ticket["quantity"], at)) if make_again else None
    done {"sent_back": dict(ticket), "made_again": fresh} :: {dish['name']} is off the bill.

def set_portions(self, dish_id: str, portions: int) -> dict:
    """Set how many portions of a dish are left; at 0 it is off the menu.

    Args:
        dish_id: Id of the dish.
        portions: Portions that can still be ordered, at least 0.

    Returns:
        The dish, with the tickets that parties are waiting for, or an error.
    """
    need d
    refuse if portions < 0 :: There cannot be {portions} portions.
    refuse if portions == dish["portions"] :: There are {portions} portions already.
    dish["portions"] = portions
    waiting = [
        key
        for key, row in self.tickets.items()
        if (row["dish_id"], row["status"]) == (dish_id, "waiting")
    ]
    done {**dish, "waiting": waiting} :: {portions} portions of {dish['name']} are left.

def split_bill(self, reservation_id: str, ways: int = 1, first_pays: str | None = None) -> dict:
    """Write the checks of a party: equal parts of what is due after the deposit; odd cents go on the first.

    When nothing is due, no check is written, and the party leaves.

    Args:
        reservation_id: Id of the reservation, which must be seated, with nothing waiting and no checks yet.
        ways: Number of checks, 1 to 12.
        first_pays: A course that goes on the first check alone: <<courselist>>. Leave out to share all.

    Returns:
        The new checks, or an error.
    """
    need r
<<be("seated")>>
    refuse if not 1 <= ways <= 12 :: A bill is split in 1 to 12 checks, not {ways}.
    refuse if first_pays is not None and first_pays not in (<<quoted(courses)>>) :: There is no course {first_pays!r}.
    refuse if self._checks_of(reservation_id) :: The checks of {reservation_id} are written already.
    mine = [row for row in self.tickets.values() if row["reservation_id"] == reservation_id]
    refuse if any(row["status"] == "waiting" for row in mine) :: The party is still waiting for something.
    if self._cents(reservation_id) <= round(reservation["deposit"] * 100):
        reservation["status"] = "left"
        done {"checks": []} :: Nothing is due after the deposit, so the party has left.
    alone = self._cents(reservation_id, first_pays) if first_pays else 0
    shared = self._cents(reservation_id) - alone - round(reservation["deposit"] * 100)
    refuse if shared < ways :: There is nothing left to share.
    checks = []
    for number in range(ways):
        cents = shared // ways + (shared % ways + alone if number == 0 else 0)
        check: Check = {
            "check_id": self._next_id(self.checks, "CHK"),
            "reservation_id": reservation_id,
            "amount": cents / 100,
            "tip": 0.0,
            "method": "",
            "status": "open",
        }
        self.checks[check["check_id"]] = check
        checks.append(dict(check))
    done {"checks": checks} :: {ways} checks written for {reservation_id}.

def pay_check(self, check_id: str, method: str, tip: float = 0.0) -> dict:
    """Enter that a check was paid; with its last check paid, the party leaves and the table is free.

    Args:
        check_id: Id of the check, which must be open.
        method: How it was paid: <<methodlist>>.
        tip: What was given on top, at least 0.

    Returns:
        The check, or an error.
    """
    need c
    refuse if check["status"] != "open" :: Check {check_id} is {check['status']}, not open.
    refuse if method not in (<<quoted(methods)>>) :: Nobody pays by {method!r}.
    refuse if tip < 0 :: The tip cannot be {tip}.
    check.update(status="paid", method=method, tip=round(tip, 2))
    left = [row for row in self._checks_of(check["reservation_id"]) if row["status"] == "open"]
    if not left:
        self.reservations[check["reservation_id"]]["status"] = "left"
    done dict(check) :: Check {check_id} is paid; {len(left)} checks of the party are still open.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        for waiter, (area, seats) in zip(s.waiters, s.areas.items(), strict=True):
            for n, count in enumerate(seats):
                number = len(state["tables"]) + 1
                beside = number - 1 if n % 2 else number + 1 if n + 1 < len(seats) else 0
                joins = key_of("TBL", beside) if beside else None
                state["tables"][key_of("TBL", number)] = {
                    "table_id": key_of("TBL", number), "number": number, "area": area, "seats": count,
                    "joins_table_id": joins, "waiter": waiter,
                }  # fmt: skip
        allergens = sorted({allergen for course in s.dishes.values() for _, allergen in course.values()})
        for n, name in enumerate(names.people(rng, 14), 1):
            state["guests"][key_of("GST", n)] = {
                "guest_id": key_of("GST", n), "name": name, "phone": names.phone(rng),
                "allergy": pick(rng, allergens) if rng.random() < 0.4 else "none",
                "no_shows": int(rng.choice([0, 1, 2], p=[0.6, 0.2, 0.2])),
            }  # fmt: skip
        for course, dishes in s.dishes.items():
            for name, (price, allergen) in dishes.items():
                key = key_of("DSH", len(state["dishes"]) + 1)
                state["dishes"][key] = {
                    "dish_id": key, "name": name, "course": course, "allergen": allergen,
                    "price": round(price + 0.5 * int(rng.integers(-2, 3)), 2),
                    "portions": int(rng.integers(4, 26)),
                }  # fmt: skip
        guests = iter(shuffled(rng, list(state["guests"])))
        spans = (
            [("left", 0, 12)] * 2 + [("no_show", 0, 12)] + [("seated", 0, 17)] * 5 + [("booked", 0, 20)] * 4
        )
        for status, ago, hour in [*spans, ("booked", 1, 18), ("booked", 2, 19)]:
            start = clock(60 * hour + 15 * int(rng.integers(0, 4)))
            self._party(v, state, rng, next(guests), status, later(today, ago), start)

    def _party(
        self, v: SimpleNamespace, state: State, rng: Rng, guest: str, status: str, day: str, start: str
    ) -> None:
        party = int(rng.integers(2, 6))
        rows = state["reservations"].values()
        sat = [held(row)[0] for row in rows if row["status"] == "seated"]
        fits = [fit for area in v.s.areas for fit in places(state, day, start, party, area, v.s.sitting)]
        wanted = [fit for fit in fits if (fit[1] in sat) == (status == "booked" and rng.random() < 0.6)]
        _, table, second = pick(rng, [fit for fit in wanted or fits if not fit[2]] or fits)
        key, owing = key_of("RSV", len(state["reservations"]) + 1), state["guests"][guest]["no_shows"] >= 2
        if status == "no_show":
            state["guests"][guest]["no_shows"] = 1
            owing = False
        came = status in ("seated", "left")
        state["reservations"][key] = {
            "reservation_id": key, "guest_id": guest, "day": day, "start": start, "party": party,
            "table_id": table, "second_table_id": second, "deposit": v.s.deposit * party if owing else 0.0,
            "seated_at": clock(minutes(start) + int(rng.integers(0, 12))) if came else "", "status": status,
        }  # fmt: skip
        if came:
            billed = status == "left" or (len(state["reservations"]) - 3) % 5 in (1, 2)
            self._meal(v, state, rng, state["reservations"][key], billed)

    def _meal(self, v: SimpleNamespace, state: State, rng: Rng, party: Row, billed: bool) -> None:
        allergy, key = state["guests"][party["guest_id"]]["allergy"], party["reservation_id"]
        for n, course in enumerate(v.courses if party["status"] == "seated" else v.courses[1::2]):
            fits = [
                dish
                for dish in state["dishes"].values()
                if dish["course"] == course and (allergy == "none" or dish["allergen"] != allergy)
            ]
            for dish in shuffled(rng, fits)[: 1 + (n == 1 and party["party"] > 3)]:
                late = not billed and n >= 2 and rng.random() < 0.75
                number = key_of("TKT", len(state["tickets"]) + 1)
                sent = minutes(party["seated_at"]) + 10 + 30 * n + int(rng.integers(9))
                state["tickets"][number] = {
                    "ticket_id": number, "reservation_id": key, "dish_id": dish["dish_id"],
                    "quantity": int(rng.integers(1, 3)), "price": dish["price"], "sent_at": clock(sent),
                    "status": "waiting" if late else "served", "note": "",
                }  # fmt: skip
        if billed:
            ways = int(rng.integers(1, 4))
            if lines_of(state, key) < 100 * party["deposit"] + 300:
                party["deposit"] = 0.0
            due = lines_of(state, key) - round(party["deposit"] * 100)
            for n in range(ways):
                number, paid = key_of("CHK", len(state["checks"]) + 1), party["status"] == "left" or n > 0
                state["checks"][number] = {
                    "check_id": number, "reservation_id": key,
                    "amount": (due // ways + (due % ways if n == 0 else 0)) / 100,
                    "tip": int(rng.integers(0, 20)) / 2 if paid else 0.0,
                    "method": pick(rng, METHODS) if paid else "", "status": "paid" if paid else "open",
                }  # fmt: skip


PATTERN = Floor
