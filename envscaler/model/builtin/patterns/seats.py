"""Seats: performances in a house with numbered seats in areas of price, held, sold, swapped and given back."""

from datetime import date
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

RATES = {"full": 1.0, "reduced": 0.6, "subscriber": 0.0}
VALID = ("held", "issued", "admitted")
LOOK = ("find_patrons name", "list_performances title day")
"""Calls that find somebody and a performance, then the one ticket, or the subscription of somebody."""
MINE = (*LOOK, "list_tickets patron_id<0 performance_id<1 status=issued")
OWN = ("find_patrons name", "list_subscriptions patron_id<0 series")
Row = dict[str, Any]


class Area(Part):
    """A part of the house in which all places cost the same."""

    rows: int
    """Rows of seats, front to back; standing room is one row without numbers."""
    width: int
    """Places in a row."""
    price: float
    """Price of a place before the factor of a performance."""
    numbered: bool = True
    """Whether places have numbers."""


class SeatsSettings(Settings):
    """A house's areas, plays and rules; the dearest area first, standing room last."""

    areas: dict[str, Area]
    """Name of the area → its size and price."""
    series: dict[str, list[str]]
    """Subscription series → titles played in it, two each."""
    times: list[str]
    """When performances begin."""
    reasons: list[str]
    """Why performances are cancelled."""
    full_days: int = 10
    """Money is given back in full until so many days before."""
    half_days: int = 3
    """Half of it until so many days before, nothing later."""
    house_days: int = 8
    """House seats may be released from so many days before."""


def do(slots: Slots, *calls: str) -> list[Row]:
    """The calls of a plan; `status=issued` is meant as it stands."""
    return steps({"issued": "issued", **slots}, *calls)


# What tools do, for the outcomes of goals


def occupied(state: State, performance: Row, area: Row) -> set[str]:
    """Seats of an area that nobody can buy."""
    key = performance["performance_id"]
    kept = performance["house_seats"] if area["area_id"] == next(iter(state["areas"])) else []
    subscribed = [
        s["seat"]
        for s in state["subscriptions"].values()
        if (s["series"], s["area_id"]) == (performance["series"], area["area_id"]) and key not in s["skips"]
    ]
    sold = [t["seat"] for t in valid(state, performance) if t["area_id"] == area["area_id"]]
    return {*kept, *subscribed, *sold}


def valid(state: State, performance: Row) -> list[Row]:
    """Tickets that stand for a place at a performance."""
    key = performance["performance_id"]
    return [t for t in state["tickets"].values() if t["performance_id"] == key and t["status"] in VALID]


def best_blocks(state: State, performance: Row, area: Row, count: int) -> list[list[str]]:
    """Free seats side by side, the best first."""
    taken, width = occupied(state, performance, area), area["width"]
    ranked = []
    for row in range(area["rows"]):
        for first in range(1, width - count + 2):
            seats = [f"{chr(65 + row)}{n}" for n in range(first, first + count)]
            if not taken.intersection(seats):
                ranked.append((row, abs(2 * first + count - 2 - width), first, seats))
    return [seats for *_, seats in sorted(ranked)]


def price_of(performance: Row, area: Row, rate: str) -> float:
    """What a place costs."""
    return round(float(area["price"] * performance["factor"] * RATES[rate]), 2)


# Goals


class House(Goal):
    """What goals share: somebody, and a performance named by title and day."""

    def performance(self, slots: Slots, state: State, day: str = "day") -> Row:
        """The performance a sentence names."""
        rows = [r for r in state["performances"].values() if r["status"] == "on sale"]
        return only([r for r in rows if (r["title"], r["day"]) == (slots["title"], slots[day])])

    def patron(self, slots: Slots, state: State, name: str = "name") -> str:
        """The id of the person a sentence names."""
        return str(named(state, self.v.p, slots[name])["patron_id"])

    def mine(self, slots: Slots, state: State, status: str = "issued") -> list[Row]:
        """The tickets of that person at that performance."""
        patron = self.patron(slots, state)
        rows = valid(state, self.performance(slots, state))
        return [t for t in rows if t["patron_id"] == patron and t["status"] == status]

    def some(self, state: State, rng: Rng, status: str = "issued", ahead: int = 1) -> Slots | None:
        """A person, title and day for which there is a ticket of this status."""
        for ticket in shuffled(rng, [t for t in state["tickets"].values() if t["status"] == status]):
            show = state["performances"][ticket["performance_id"]]
            if show["status"] == "on sale" and (show["day"] > state["today"]) == bool(ahead):
                name = state["patrons"][ticket["patron_id"]]["name"]
                return {"name": name, "title": show["title"], "day": show["day"]}
        return None

    def show(self, state: State, rng: Rng) -> Row:
        """A performance ahead."""
        rows = [r for r in state["performances"].values() if r["status"] == "on sale"]
        return dict(any_of(rng, [r for r in rows if r["day"] > state["today"]]))

    def change(self, ticket: Row, item: str, **fields: Any) -> Changed:
        """The ticket has these values; who has it and what it is for are concerned."""
        return Changed("tickets", ticket["ticket_id"], fields, item, (ticket["patron_id"],))

    def new(self, show: Row, area: Row, seat: str, rate: str, patron: str, item: str, **fields: Any) -> Added:
        """A ticket is there."""
        given = {"performance_id": show["performance_id"], "area_id": area["area_id"], "seat": seat}
        price = {"rate": rate, "price": price_of(show, area, rate), "held_until": ""}
        return Added("tickets", {**given, "patron_id": patron, **price, "status": "issued", **fields}, item)

    def credit(self, patron: str, amount: float, state: State, item: str) -> Added:
        """A voucher is there."""
        days = {"issued_on": state["today"], "expires_on": later(state["today"], 365)}
        return Added("vouchers", {"patron_id": patron, "worth": amount, "left": amount, **days}, item)


class HoldTogether(House):
    """The best seats side by side."""

    phrases = (
        "Please hold the best {count:int} seats together in the {area:name} at {title:name} on {day:date} "
        "for {name:name}, at the {rate:name} rate.",
        "{name:name} wants {count:int} seats side by side for {title:name} on {day:date}, so hold the best there are "
        "in the {area:name} at the {rate:name} rate.",
    )
    needs = ("find_patrons", "list_performances", "find_seats_together", "hold_seats")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        show, area = self.show(state, rng), any_of(rng, [n for n, a in self.v.s.areas.items() if a.numbered])
        given = {"title": show["title"], "day": show["day"], "area": area, "count": int(rng.integers(2, 4))}
        return {
            **given,
            "name": any_of(rng, list(state["patrons"].values()))["name"],
            "rate": any_of(rng, ["full", "reduced"]),
        }

    def plan(self, slots: Slots) -> list[Row]:
        return do(
            slots,
            *LOOK,
            "find_seats_together performance_id<1 area count",
            "hold_seats patron_id<0 performance_id<1 area seats<2 rate",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        show, patron = self.performance(slots, state), self.patron(slots, state)
        area = named(state, self.v.a, slots["area"])
        until = min(later(state["today"], 7), show["day"])
        if not (blocks := best_blocks(state, show, area, slots["count"])):
            raise LookupError("there are not so many seats together")
        where = f"of the {slots['area']} at {slots['title']} on {slots['day']}"
        return [
            self.new(
                show,
                area,
                seat,
                slots["rate"],
                patron,
                f"Has seat {seat} {where} been held for {slots['name']}?",
                held_until=until,
                status="held",
            )
            for seat in blocks[0]
        ]


class Standing(House):
    """Places without numbers."""

    phrases = (
        "Please sell {name:name} {count:int} standing places for {title:name} on {day:date}.",
        "{name:name} takes {count:int} places to stand at {title:name} on {day:date}, so sell them at the full rate.",
    )
    needs = ("find_patrons", "list_performances", "sell_standing")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        show, who = self.show(state, rng), any_of(rng, list(state["patrons"].values()))["name"]
        return {
            "title": show["title"],
            "day": show["day"],
            "name": who,
            "count": int(rng.integers(2, 5)),
        }

    def plan(self, slots: Slots) -> list[Row]:
        return do(slots, *LOOK, "sell_standing patron_id<0 performance_id<1 count")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        show, patron = self.performance(slots, state), self.patron(slots, state)
        area = list(state["areas"].values())[-1]
        sold = sum(t["area_id"] == area["area_id"] for t in valid(state, show))
        if sold + slots["count"] > area["width"]:
            raise LookupError("there is no room to stand")
        item = (
            f"Has {slots['name']} got {slots['count']} standing places at {slots['title']} on {slots['day']}?"
        )
        return [self.new(show, area, "", "full", patron, item)] * int(slots["count"])


class PayHeld(House):
    """What somebody has on hold is paid for."""

    phrases: ClassVar[tuple[str, ...]] = (
        "{name:name} has just paid at the counter for everything on hold in that name for {title:name} on "
        "{day:date}, so issue the tickets.",
        "Please issue the tickets that {name:name} has on hold for {title:name} on {day:date}; the money is here.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_patrons", "list_performances", "issue_tickets")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng, "held")

    def plan(self, slots: Slots) -> list[Row]:
        return do(slots, *LOOK, "issue_tickets patron_id<0 performance_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        held = [t for t in self.mine(slots, state, "held") if t["held_until"] >= state["today"]]
        if not held:
            raise LookupError("nothing is held")
        item = f"of {slots['name']} for {slots['title']} on {slots['day']} been issued?"
        return [
            self.change(t, f"Has ticket {t['ticket_id']} {item}", status="issued", held_until="")
            for t in held
        ]


class DropHeld(PayHeld):
    """What somebody has on hold is not wanted any more."""

    phrases = (
        "{name:name} does not need what is on hold in that name for {title:name} on {day:date}, please put it back "
        "on sale.",
        "Please release all seats held for {name:name} at {title:name} on {day:date}.",
    )
    needs = ("find_patrons", "list_performances", "release_holds")
    weight = 0.6

    def plan(self, slots: Slots) -> list[Row]:
        return do(slots, *LOOK, "release_holds patron_id<0 performance_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"held for {slots['name']} at {slots['title']} on {slots['day']} been released?"
        return [
            self.change(t, f"Has ticket {t['ticket_id']} {item}", status="released", held_until="")
            for t in self.mine(slots, state, "held")
        ]


class PayWithVoucher(PayHeld):
    """Paid with the credit that runs out first."""

    phrases = (
        "{name:name} pays for the seats on hold in that name for {title:name} on {day:date} with the voucher that "
        "runs out first, so issue the tickets.",
        "Please issue what {name:name} has on hold for {title:name} on {day:date} and take as much as you can from "
        "the voucher that expires soonest.",
    )
    needs = ("find_patrons", "list_performances", "list_vouchers", "issue_tickets")

    def plan(self, slots: Slots) -> list[Row]:
        return do(
            slots,
            *LOOK,
            "list_vouchers patron_id<0",
            "issue_tickets patron_id<0 performance_id<1 voucher_id<2",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        patron, today = self.patron(slots, state), state["today"]
        purse = [v for v in state["vouchers"].values() if v["patron_id"] == patron and v["left"] > 0]
        purse = [v for v in purse if v["expires_on"] >= today]
        if not purse:
            raise LookupError("there is no voucher")
        first = min(purse, key=lambda v: (v["expires_on"], v["voucher_id"]))
        due = sum(t["price"] for t in self.mine(slots, state, "held") if t["held_until"] >= today)
        left = round(first["left"] - min(first["left"], due), 2)
        item = f"Is {left:.2f} left on the voucher of {slots['name']} that runs out first?"
        used = Changed("vouchers", first["voucher_id"], {"left": left}, item, (patron,))
        return [*super().outcome(slots, state), used]


class OneTicket(House):
    """The one ticket that somebody has for a performance."""

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng)

    def ticket(self, slots: Slots, state: State) -> Row:
        """That ticket."""
        return dict(only(self.mine(slots, state)))


class Exchange(OneTicket):
    """Another evening of the same title."""

    phrases = (
        "{name:name} cannot come to {title:name} on {day:date}; please exchange the ticket for the evening of "
        "{other:date}.",
        "Please change the ticket of {name:name} for {title:name} from {day:date} to {other:date}.",
    )
    needs = ("find_patrons", "list_performances", "list_tickets", "exchange_ticket")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng)
        same = [r["day"] for r in state["performances"].values() if slots and r["title"] == slots["title"]]
        others = [day for day in same if slots and day > state["today"] and day != slots["day"]]
        return {**slots, "other": any_of(rng, others)} if slots and others else None

    def plan(self, slots: Slots) -> list[Row]:
        return do(
            slots, *MINE, "list_performances title day=other", "exchange_ticket ticket_id<2 performance_id<3"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        ticket, show = self.ticket(slots, state), self.performance(slots, state, "other")
        area = state["areas"][ticket["area_id"]]
        blocks = best_blocks(state, show, area, 1)
        if not area["numbered"] or not blocks:
            raise LookupError("no seat is free")
        seat = ticket["seat"] if [ticket["seat"]] in blocks else blocks[0][0]
        price = price_of(show, area, ticket["rate"])
        fields = {"performance_id": show["performance_id"], "seat": seat, "price": price}
        item = f"Has the ticket of {slots['name']} been exchanged for seat {seat} on {slots['other']}?"
        return [self.change(ticket, item, **fields)]


class Upgrade(OneTicket):
    """A better area."""

    phrases = (
        "{name:name} would rather sit in the {area:name} at {title:name} on {day:date}, so upgrade the ticket.",
        "Please upgrade the ticket that {name:name} has for {title:name} on {day:date} to the {area:name}.",
    )
    needs = ("find_patrons", "list_performances", "list_tickets", "upgrade_ticket")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng)
        return slots and {**slots, "area": any_of(rng, list(self.v.s.areas)[:2])}

    def plan(self, slots: Slots) -> list[Row]:
        return do(slots, *MINE, "upgrade_ticket ticket_id<2 area")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        ticket, show = self.ticket(slots, state), self.performance(slots, state)
        area, old = named(state, self.v.a, slots["area"]), state["areas"][ticket["area_id"]]
        blocks = best_blocks(state, show, area, 1)
        if area["price"] <= old["price"] or not blocks or ticket["rate"] == "subscriber":
            raise LookupError("it is no upgrade")
        price = price_of(show, area, ticket["rate"])
        item = f"Has the ticket of {slots['name']} become one for seat {blocks[0][0]} of the {slots['area']}?"
        return [self.change(ticket, item, area_id=area["area_id"], seat=blocks[0][0], price=price)]


class Transfer(OneTicket):
    """Somebody else goes."""

    phrases = (
        "{name:name} gives the ticket for {title:name} on {day:date} to {friend:name}, please put it in that name.",
        "Please transfer the ticket for {title:name} on {day:date} from {name:name} to {friend:name}.",
    )
    needs = ("find_patrons", "list_performances", "list_tickets", "transfer_ticket")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng)
        friends = [p["name"] for p in state["patrons"].values() if slots and p["name"] != slots["name"]]
        return slots and {**slots, "friend": any_of(rng, friends)}

    def plan(self, slots: Slots) -> list[Row]:
        return do(slots, *MINE, "find_patrons name=friend", "transfer_ticket ticket_id<2 patron_id<3")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        ticket, friend = self.ticket(slots, state), self.patron(slots, state, "friend")
        if ticket["rate"] == "subscriber" or friend == ticket["patron_id"]:
            raise LookupError("it cannot be handed on")
        item = f"Is the ticket of {slots['name']} for {slots['title']} in the name of {slots['friend']} now?"
        return [self.change(ticket, item, patron_id=friend)]


class Refund(OneTicket):
    """Given back for credit or for money."""

    phrases = (
        "{name:name} gives back the ticket for {title:name} on {day:date} and takes {what:name} for it.",
        "Please take the ticket of {name:name} for {title:name} on {day:date} back against {what:name}.",
    )
    needs = ("find_patrons", "list_performances", "list_tickets", "refund_ticket")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng)
        return slots and {**slots, "what": any_of(rng, ["a voucher", "a voucher", "money"])}

    def plan(self, slots: Slots) -> list[Row]:
        credit = {"credit": slots["what"] == "a voucher"}
        return do({**slots, **credit}, *MINE, "refund_ticket ticket_id<2 as_credit=credit")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        ticket = self.ticket(slots, state)
        ahead = (date.fromisoformat(slots["day"]) - date.fromisoformat(state["today"])).days
        money = slots["what"] == "money"
        if not ticket["price"] or slots["what"] not in ("a voucher", "money"):
            raise LookupError("nothing was paid")
        if money and ahead < self.v.s.half_days:
            raise LookupError("it is too late for money")
        item = f"Has {slots['name']} given back the ticket for {slots['title']} on {slots['day']} for {slots['what']}?"
        back: list[Outcome] = [self.change(ticket, item, status="refunded" if money else "credited")]
        if not money:
            worth = f"Has {slots['name']} got a voucher over {ticket['price']:.2f}?"
            back.append(self.credit(ticket["patron_id"], ticket["price"], state, worth))
        return back


class Admit(House):
    """Somebody comes in tonight."""

    phrases = (
        "{name:name} is at the door for {title:name} on {day:date}; let in everybody on the tickets in that name.",
        "Please admit {name:name} to {title:name} on {day:date} with all tickets in that name.",
    )
    needs = ("find_patrons", "list_performances", "admit_patron")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng, ahead=0)

    def plan(self, slots: Slots) -> list[Row]:
        return do(slots, *LOOK, "admit_patron patron_id<0 performance_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if slots["day"] != state["today"] or not (rows := self.mine(slots, state)):
            raise LookupError("nobody is to be let in")
        item = f"of {slots['name']} been used at the door of {slots['title']}?"
        return [self.change(t, f"Has ticket {t['ticket_id']} {item}", status="admitted") for t in rows]


class ReleaseHouse(House):
    """What was kept back goes on sale."""

    phrases = (
        "The house seats for {title:name} on {day:date} are not needed, please put all of them on sale.",
        "Please release every seat that the house kept back at {title:name} on {day:date}.",
    )
    needs = ("list_performances", "release_house_seats")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        show = self.show(state, rng)
        return {"title": show["title"], "day": show["day"]}

    def plan(self, slots: Slots) -> list[Row]:
        return do(slots, LOOK[1], "release_house_seats performance_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        show = self.performance(slots, state)
        if not show["house_seats"] or show["day"] > later(state["today"], self.v.s.house_days):
            raise LookupError("none may be released")
        item = f"Has the house released all its seats for {slots['title']} on {slots['day']}?"
        return [Changed("performances", show["performance_id"], {"house_seats": []}, item)]


class CancelWorst(House):
    """The performance of a series with the fewest places sold is called off."""

    phrases = (
        "Of the {series:name} performances ahead, cancel the one with the fewest places sold; the reason is "
        '"{reason:text}".',
        "Please call off whichever {series:name} performance ahead has sold the fewest places, and give "
        '"{reason:text}" as the reason.',
    )
    needs = ("report_sales", "cancel_performance")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"series": any_of(rng, list(self.v.s.series)), "reason": any_of(rng, self.v.s.reasons)}

    def plan(self, slots: Slots) -> list[Row]:
        return do(slots, "report_sales series", "cancel_performance performance_id<0 reason")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        shows = [r for r in state["performances"].values() if r["series"] == slots["series"]]
        shows = [r for r in shows if r["status"] == "on sale" and r["day"] > state["today"]]
        sold = {r["performance_id"]: sum(t["status"] == "issued" for t in valid(state, r)) for r in shows}
        show = only([r for r in shows if sold[r["performance_id"]] == min(sold.values())])
        key, rows = show["performance_id"], valid(state, show)
        if not rows:
            raise LookupError("nobody would notice")
        item = f"Has {show['title']} on {show['day']} been cancelled for that reason?"
        told: list[Outcome] = [
            Changed("performances", key, {"status": "cancelled", "note": slots["reason"]}, item)
        ]
        paid: dict[str, float] = {}
        for t in rows:
            status = "credited" if t["status"] == "issued" and t["price"] else "released"
            item = f"Has ticket {t['ticket_id']} for the cancelled {show['title']} been {status}?"
            told.append(self.change(t, item, status=status, held_until=""))
            paid[t["patron_id"]] = paid.get(t["patron_id"], 0) + t["price"] * (status == "credited")
        for patron, amount in paid.items():
            name, worth = state["patrons"][patron]["name"], round(amount, 2)
            item = f"Has {name} got a voucher over {worth:.2f} for the cancelled {show['title']}?"
            told += [self.credit(patron, worth, state, item)] if worth else []
        return told


class PassOn(House):
    """A subscription goes to somebody else."""

    phrases = (
        "The {series:name} subscription of {name:name} is to be carried on by {friend:name}.",
        "Please pass {name:name}'s {series:name} subscription on to {friend:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_patrons", "list_subscriptions", "pass_on_subscription")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = any_of(rng, list(state["subscriptions"].values()))
        owner = state["patrons"][row["patron_id"]]["name"]
        friends = [p["name"] for p in state["patrons"].values() if p["name"] != owner]
        return {"name": owner, "series": row["series"], "friend": any_of(rng, friends)}

    def subscription(self, slots: Slots, state: State) -> Row:
        """The subscription a sentence names."""
        mine = (self.patron(slots, state), slots["series"])
        rows = state["subscriptions"].values()
        return dict(only([s for s in rows if (s["patron_id"], s["series"]) == mine]))

    def plan(self, slots: Slots) -> list[Row]:
        return do(
            slots, *OWN, "find_patrons name=friend", "pass_on_subscription subscription_id<1 patron_id<2"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, friend = self.subscription(slots, state), self.patron(slots, state, "friend")
        others = [s for s in state["subscriptions"].values() if s["patron_id"] == friend]
        if any(s["series"] == slots["series"] for s in others):
            raise LookupError("the other has one already")
        item = f"Has the {slots['series']} subscription of {slots['name']} passed to {slots['friend']}?"
        owner = (row["patron_id"],)
        return [Changed("subscriptions", row["subscription_id"], {"patron_id": friend}, item, owner)]


class SwapEvening(PassOn):
    """A subscriber comes to something else instead."""

    phrases = (
        "{name:name}, who subscribes to the {series:name} series, wants to give up the evening of {day:date} and see "
        "{title:name} on {other:date} instead.",
        "Please swap an evening for {name:name}: out of the {series:name} subscription on {day:date}, into "
        "{title:name} on {other:date}.",
    )
    needs = ("find_patrons", "list_subscriptions", "list_performances", "swap_evening")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, today = super().draw(state, rng), state["today"]
        shows = [r for r in state["performances"].values() if r["status"] == "on sale" and r["day"] > today]
        own = [r for r in shows if slots and r["series"] == slots["series"]]
        others = [r for r in shows if slots and r["series"] != slots["series"]]
        if not slots or not own or not others:
            return None
        one, other = any_of(rng, own), any_of(rng, others)
        days = {"day": one["day"], "title": other["title"], "other": other["day"]}
        return {"name": slots["name"], "series": slots["series"], **days}

    def plan(self, slots: Slots) -> list[Row]:
        return do(
            slots,
            *OWN,
            "list_performances series day",
            "list_performances title day=other",
            "swap_evening subscription_id<1 from_performance_id<2/0/performance_id "
            "to_performance_id<3/0/performance_id",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, other = self.subscription(slots, state), self.performance(slots, state, "other")
        shows = [r for r in state["performances"].values() if r["status"] == "on sale"]
        one = only([r for r in shows if (r["series"], r["day"]) == (slots["series"], slots["day"])])
        area = state["areas"][row["area_id"]]
        blocks = best_blocks(state, other, area, 1)
        if not blocks or one["performance_id"] in row["skips"] or other["series"] == row["series"]:
            raise LookupError("it cannot be swapped")
        skips = {"skips": [*row["skips"], one["performance_id"]]}
        item = f"Has {slots['name']} given up the subscribed evening of {slots['day']}?"
        seat = f"Has {slots['name']} got seat {blocks[0][0]} for {slots['title']} on {slots['other']}?"
        return [
            Changed("subscriptions", row["subscription_id"], skips, item, (one["performance_id"],)),
            self.new(other, area, blocks[0][0], "subscriber", row["patron_id"], seat),
        ]


class Seats(Pattern):
    """A house with numbered seats, its performances, tickets, subscriptions and vouchers."""

    Settings = SeatsSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        HoldTogether, Standing, PayHeld, DropHeld, PayWithVoucher, Exchange, Upgrade, Transfer, Refund, Admit,
        ReleaseHouse, CancelWorst, PassOn, SwapEvening,
    )  # fmt: skip

    def vocabulary(self, s: SeatsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        words = ("performance", "area", "patron", "ticket", "subscription", "voucher")
        nouns = dict(zip("faptuo", map(Noun, words), strict=True))
        seated = [name for name, area in s.areas.items() if area.numbered]
        lists = {"areas": either(list(s.areas)), "seated": either(seated), "best": seated[0]}
        return {
            "nouns": list(nouns.values()),
            **nouns,
            **lists,
            "series": list(s.series),
            "serieslist": either(list(s.series)),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        ids = {noun.id: f"{noun.id}_id: str = unique id, e.g. {noun.id[:3].upper()}-001" for noun in v.nouns}
        return [
            form(v.p, "Somebody who comes to the theatre.", f"""{ids["patron"]}
                name: str = full name
                email: str = email address"""),
            form(v.a, "A part of the house in which all places cost the same.", f"""{ids["area"]}
                name: str = {v.areas}
                rows: int = rows of seats; row A is nearest to the stage
                width: int = places in a row, numbered from 1
                numbered: bool = whether places have numbers; standing room has none
                price: float = price of a place in EUR before the factor of the performance"""),
            form(v.f, "One evening or matinee of a title.", f"""{ids["performance"]}
                title: str = what is played
                series: str = subscription series it belongs to: {v.serieslist}
                day: str = date, as YYYY-MM-DD
                starts_at: str = time, as HH:MM
                factor: float = what the price of a place is multiplied by
                house_seats: list[str] = seats of the {v.best} kept back for the house
                status: str = on sale or cancelled
                note: str = why it was cancelled, otherwise empty"""),
            form(v.u, "The same seat at every performance of a series.", f"""{ids["subscription"]}
                patron_id: str = who subscribes
                series: str = the series: {v.serieslist}
                area_id: str = where the seat is
                seat: str = row and number, e.g. B4
                skips: list[str] = ids of performances that were given up for another evening"""),
            form(v.t, "A place at a performance, held or sold.", f"""{ids["ticket"]}
                performance_id: str = what it is for
                area_id: str = where the place is
                seat: str = row and number, e.g. B4; empty for a standing place
                patron_id: str = in whose name it is
                rate: str = {either(list(RATES))}
                price: float = price in EUR
                held_until: str = last day of a hold, as YYYY-MM-DD; empty when it is not held
                status: str = held, issued, admitted, released, refunded (in money) or credited (with a voucher)"""),
            form(v.o, "Credit of a patron.", f"""{ids["voucher"]}
                patron_id: str = whose it is
                worth: float = what it was issued for in EUR
                left: float = what is left of it in EUR
                issued_on: str = date, as YYYY-MM-DD
                expires_on: str = last day it can be used, as YYYY-MM-DD"""),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "No two tickets that are held, issued or admitted are for the same seat of a performance.",
            """
            seats = [(row.get("performance_id"), row.get("area_id"), row.get("seat"))
                     for row in rows(after, "tickets").values()
                     if row.get("status") in ("held", "issued", "admitted") and row.get("seat")]
            return len(seats) == len(set(seats))
            """,
        ),
        RuleText(
            "Nobody is sold a seat that is kept for the house or is a subscriber's, unless the subscriber gave up "
            "that evening.",
            """
            shows = rows(after, "performances")
            areas = rows(after, "areas")
            for row in rows(after, "tickets").values():
                key = row.get("performance_id")
                show = shows.get(str(key)) or {}
                area = areas.get(str(row.get("area_id"))) or {}
                if row.get("status") not in ("held", "issued", "admitted") or not row.get("seat"):
                    continue
                if area.get("name") == "<<best>>" and row["seat"] in (show.get("house_seats") or []):
                    return False
                for other in rows(after, "subscriptions").values():
                    same = (other.get("series"), other.get("area_id"), other.get("seat"))
                    if same == (show.get("series"), row.get("area_id"), row["seat"]):
                        if key not in (other.get("skips") or []):
                            return False
            return True
            """,
        ),
        RuleText(
            "The price of a ticket is calculated from its area, the factor of its performance and its rate: reduced is "
            "60 percent of full, and a subscriber pays nothing.",
            """
            shows, areas = rows(after, "performances"), rows(after, "areas")
            shares = {"full": 1.0, "reduced": 0.6, "subscriber": 0.0}
            for row in rows(after, "tickets").values():
                show, area = shows.get(str(row.get("performance_id"))), areas.get(str(row.get("area_id")))
                if show and area and row.get("status") in ("held", "issued", "admitted"):
                    due = area.get("price", 0) * show.get("factor", 0) * shares.get(row.get("rate"), 9)
                    if abs((row.get("price") or 0) - due) > 0.02:
                        return False
            return True
            """,
        ),
        RuleText(
            "A hold has a date at which it ends, no later than the day of the performance; nothing else has one.",
            """
            shows = rows(after, "performances")
            for row in rows(after, "tickets").values():
                until = str(row.get("held_until") or "")
                if bool(until) != (row.get("status") == "held"):
                    return False
                show = shows.get(str(row.get("performance_id"))) or {}
                if until > str(show.get("day", "9999")):
                    return False
            return True
            """,
        ),
        RuleText(
            "What is taken back for credit leaves its patron a voucher worth what was paid.",
            """
            owed = {}
            for old, new in changed("tickets", "status"):
                if new.get("status") == "credited":
                    owed[new.get("patron_id")] = owed.get(new.get("patron_id"), 0) + (old.get("price") or 0)
            for row in added("vouchers"):
                owed[row.get("patron_id")] = owed.get(row.get("patron_id"), 0) - (row.get("worth") or 0)
            return all(abs(amount) < 0.01 for amount in owed.values())
            """,
        ),
        RuleText(
            "A ticket that was used at the door or given back stays so.",
            """
            done = ("admitted", "released", "refunded", "credited")
            return not any(old.get("status") in done for old, new in changed("tickets", "status"))
            """,
        ),
        RuleText(
            "The places sold in standing room are never more than it holds.",
            """
            sold = {}
            for row in rows(after, "tickets").values():
                if row.get("status") in ("held", "issued", "admitted") and not row.get("seat"):
                    pair = (row.get("performance_id"), row.get("area_id"))
                    sold[pair] = sold.get(pair, 0) + 1
            areas = rows(after, "areas")
            return all(
                count <= (areas.get(str(area)) or {}).get("width", count) for (_, area), count in sold.items()
            )
            """,
        ),
        RuleText(
            "A voucher is left with at least nothing and at most what it was issued for.",
            """
            return all(
                0 <= (row.get("left") or 0) <= (row.get("worth") or 0) for row in rows(after, "vouchers").values()
            )
            """,
        ),
    )

    HELPERS = '''
    def _area(self, name: str) -> dict | None:
        """Return the part of the house with this name, None when there is none."""
        return next((area for area in self.areas.values() if area["name"] == name), None)

    def _sold(self, performance_id: str) -> list[dict]:
        """Return the tickets of a performance that stand for a place."""
        return [
            ticket
            for ticket in self.tickets.values()
            if ticket["performance_id"] == performance_id and ticket["status"] in ("held", "issued", "admitted")
        ]

    def _occupied(self, performance: dict, area: dict) -> dict[str, str]:
        """Return why seats of an area cannot be bought: each with house, subscriber or the status of its ticket."""
        taken = dict.fromkeys(performance["house_seats"], "house") if area["name"] == "<<best>>" else {}
        evening = (performance["series"], area["area_id"])
        for subscription in self.subscriptions.values():
            given_up = performance["performance_id"] in subscription["skips"]
            if (subscription["series"], subscription["area_id"]) == evening and not given_up:
                taken[subscription["seat"]] = "subscriber"
        for ticket in self._sold(performance["performance_id"]):
            if ticket["area_id"] == area["area_id"]:
                taken[ticket["seat"]] = ticket["status"]
        return taken

    def _blocks(self, performance: dict, area: dict, count: int) -> list[list[str]]:
        """Return free seats side by side, nearest to the stage first and in a row nearest to the middle."""
        taken, width = self._occupied(performance, area), area["width"]
        ranked = []
        for row in range(area["rows"] if area["numbered"] else 0):
            for first in range(1, width - count + 2):
                seats = [f"{chr(65 + row)}{number}" for number in range(first, first + count)]
                if not any(seat in taken for seat in seats):
                    ranked.append((row, abs(2 * first + count - 2 - width), first, seats))
        return [block[-1] for block in sorted(ranked)]

    def _price(self, performance: dict, area: dict, rate: str) -> float:
        """Return what a place costs in EUR."""
        share = {"full": 1.0, "reduced": 0.6, "subscriber": 0.0}[rate]
        return round(area["price"] * performance["factor"] * share, 2)

    def _ahead(self, performance: dict) -> int:
        """Return the days until a performance, below 0 when it is over."""
        return (date.fromisoformat(performance["day"]) - date.fromisoformat(self.today)).days

    def _closed(self, performance: dict | None) -> str:
        """Tell why there is nothing to sell for a performance; empty when there is."""
        if performance is None:
            return "There is no such performance."
        if performance["status"] == "cancelled":
            return f"{performance['title']} on {performance['day']} is cancelled."
        over = self._ahead(performance) < 0
        return f"{performance['title']} was on {performance['day']}." if over else ""

    def _write_ticket(self, performance: dict, area: dict, seat: str, patron_id: str, rate: str) -> dict:
        """Enter an issued ticket and return it."""
        ticket: Ticket = {
            "ticket_id": self._next_id(self.tickets, "TIC"),
            "performance_id": performance["performance_id"],
            "area_id": area["area_id"],
            "seat": seat,
            "patron_id": patron_id,
            "rate": rate,
            "price": self._price(performance, area, rate),
            "held_until": "",
            "status": "issued",
        }
        self.tickets[ticket["ticket_id"]] = ticket
        return ticket

    def _write_voucher(self, patron_id: str, worth: float) -> dict:
        """Enter a voucher that is good for a year and return it."""
        voucher: Voucher = {
            "voucher_id": self._next_id(self.vouchers, "VOU"),
            "patron_id": patron_id,
            "worth": round(worth, 2),
            "left": round(worth, 2),
            "issued_on": self.today,
            "expires_on": (date.fromisoformat(self.today) + timedelta(days=365)).isoformat(),
        }
        self.vouchers[voucher["voucher_id"]] = voucher
        return voucher
'''

    READS = '''
def find_patrons(self, name: str) -> dict:
    """Find patrons by a part of their name.

    Args:
        name: Any part of the name; upper and lower case are the same.

    Returns:
        The matching patrons sorted by name.
    """
    part = name.strip().lower()
    refuse if not part :: Say at least a part of the name.
    hits = [dict(patron) for patron in self.patrons.values() if part in patron["name"].lower()]
    return {"success": True, "data": sorted(hits, key=lambda patron: patron["name"])}

def list_performances(self, title: str | None = None, series: str | None = None, day: str | None = None) -> dict:
    """List the performances on sale from today on, the next one first.

    Args:
        title: Only this title, or a part of it. Leave out for all.
        series: Only this series: <<serieslist>>. Leave out for all.
        day: Only this day, as YYYY-MM-DD. Leave out for all.

    Returns:
        The performances with the number of days `ahead`.
    """
    refuse if series is not None and series not in (<<quoted(series)>>) :: There is no series {series!r}.
    refuse if day is not None and not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    programme = []
    for performance in self.performances.values():
        ahead = self._ahead(performance)
        if self._closed(performance) or series not in (None, performance["series"]):
            continue
        if day in (None, performance["day"]) and (title or "").lower() in performance["title"].lower():
            programme.append({**deepcopy(performance), "ahead": ahead})
    programme.sort(key=lambda show: (show["day"], show["starts_at"], show["performance_id"]))
    return {"success": True, "data": programme}

def show_house(self, performance_id: str) -> dict:
    """Show what is free and what is taken at a performance, area by area.

    Args:
        performance_id: Id of the performance.

    Returns:
        For each area its full price, the number of places `free`, and the `taken` seats with the reason: house,
        subscriber, held, issued or admitted.
    """
    need f
    plan = {}
    for area in self.areas.values():
        taken = self._occupied(performance, area) if area["numbered"] else {}
        standing = [t for t in self._sold(performance_id) if t["area_id"] == area["area_id"] and not t["seat"]]
        free = area["rows"] * area["width"] - len(taken) - len(standing)
        plan[area["name"]] = {"price": self._price(performance, area, "full"), "free": free, "taken": taken}
    return {"success": True, "data": plan}

def find_seats_together(self, performance_id: str, area: str, count: int) -> dict:
    """Find free seats side by side, the best ones first: near the stage, and in a row near the middle.

    Args:
        performance_id: Id of the performance.
        area: <<seated>>.
        count: How many seats, 1 to 6.

    Returns:
        Up to five blocks with their `seats` and the `price` of all at the full rate; empty when there are none.
    """
    need f
    part = self._area(area)
    refuse if part is None or not part["numbered"] :: There are no numbered seats in {area!r}.
    refuse if not 1 <= count <= 6 :: Between 1 and 6 seats can be looked for, not {count}.
    each = self._price(performance, part, "full")
    best = self._blocks(performance, part, count)[:5]
    return {"success": True, "data": [{"seats": seats, "price": round(each * count, 2)} for seats in best]}

def list_tickets(
    self, patron_id: str | None = None, performance_id: str | None = None, status: str | None = None
) -> dict:
    """List tickets, with the title, the day and the area they are for.

    Args:
        patron_id: Only those in the name of this patron. Leave out for all.
        performance_id: Only those for this performance. Leave out for all.
        status: Only held, issued, admitted, released, refunded or credited ones. Leave out for all.

    Returns:
        The tickets sorted by performance day, area and seat.
    """
    states = ("held", "issued", "admitted", "released", "refunded", "credited")
    refuse if status is not None and status not in states :: A ticket is never {status!r}.
    asked = {"patron_id": patron_id, "performance_id": performance_id, "status": status}
    wanted = {field: value for field, value in asked.items() if value is not None}
    listed = []
    for ticket in self.tickets.values():
        if all(ticket[field] == value for field, value in wanted.items()):
            show, area = self.performances[ticket["performance_id"]], self.areas[ticket["area_id"]]
            listed.append({**ticket, "title": show["title"], "day": show["day"], "area": area["name"]})
    listed.sort(key=lambda ticket: (ticket["day"], ticket["area"], ticket["seat"], ticket["ticket_id"]))
    return {"success": True, "data": listed}

def quote_refund(self, ticket_id: str) -> dict:
    """Tell what a ticket would bring if it were given back today.

    Args:
        ticket_id: Id of an issued ticket.

    Returns:
        `money`: all of the price until <<s.full_days>> days before, half of it until <<s.half_days>> days before, then
        nothing; and `credit`: all of the price until the day before.
    """
    need t
    refuse if ticket["status"] != "issued" :: Ticket {ticket_id} is {ticket['status']}, not issued.
    ahead = self._ahead(self.performances[ticket["performance_id"]])
    share = 1.0 if ahead >= <<s.full_days>> else 0.5 if ahead >= <<s.half_days>> else 0.0
    credit = ticket["price"] if ahead > 0 else 0.0
    return {"success": True, "data": {"money": round(ticket["price"] * share, 2), "credit": credit, "days": ahead}}

def list_subscriptions(self, patron_id: str | None = None, series: str | None = None) -> dict:
    """List subscriptions with the performances their seat is still kept for.

    Args:
        patron_id: Only those of this patron. Leave out for all.
        series: Only this series: <<serieslist>>. Leave out for all.

    Returns:
        The subscriptions by id, each with the `evenings` ahead.
    """
    refuse if series is not None and series not in (<<quoted(series)>>) :: There is no series {series!r}.
    kept = []
    for subscription in self.subscriptions.values():
        if patron_id in (None, subscription["patron_id"]) and series in (None, subscription["series"]):
            evenings = [
                show["day"]
                for show in self.performances.values()
                if show["series"] == subscription["series"]
                and not self._closed(show)
                and show["performance_id"] not in subscription["skips"]
            ]
            kept.append({**deepcopy(subscription), "evenings": sorted(evenings)})
    return {"success": True, "data": kept}

def list_vouchers(self, patron_id: str) -> dict:
    """List the vouchers a patron can still pay with, the one that expires first in front.

    Args:
        patron_id: Id of the patron.

    Returns:
        The vouchers that are neither used up nor expired.
    """
    need p
    purse = [
        dict(voucher)
        for voucher in self.vouchers.values()
        if voucher["patron_id"] == patron["patron_id"] and voucher["left"] > 0 and voucher["expires_on"] >= self.today
    ]
    return {"success": True, "data": sorted(purse, key=lambda entry: (entry["expires_on"], entry["voucher_id"]))}

def report_sales(self, series: str | None = None) -> dict:
    """Report how the performances ahead sell, the worst first.

    Args:
        series: Only this series: <<serieslist>>. Leave out for all.

    Returns:
        For each performance after today the places `sold` and `held`, the `takings` in EUR and the share of the house
        sold in percent, sorted by places sold.
    """
    refuse if series is not None and series not in (<<quoted(series)>>) :: There is no series {series!r}.
    house = sum(area["rows"] * area["width"] for area in self.areas.values())
    report = []
    for key, show in self.performances.items():
        over = self._ahead(show) < 1 or bool(self._closed(show))
        if over or series not in (None, show["series"]):
            continue
        paid = [ticket["price"] for ticket in self._sold(key) if ticket["status"] == "issued"]
        line = {"performance_id": key, "title": show["title"], "day": show["day"], "sold": len(paid)}
        line["held"] = len(self._sold(key)) - len(paid)
        line["takings"], line["percent"] = round(sum(paid), 2), round(100 * len(paid) / house, 1)
        report.append(line)
    return {"success": True, "data": sorted(report, key=lambda line: (line["sold"], line["day"], line["title"]))}
'''

    WRITES = '''
def hold_seats(
    self, patron_id: str, performance_id: str, area: str, seats: list[str], rate: str = "full"
) -> dict:
    """Hold seats for a patron for a week, or until the day of the performance if that is sooner.

    Args:
        patron_id: Id of the patron.
        performance_id: Id of the performance.
        area: <<seated>>.
        seats: One to six free seats of that area, e.g. ["B3", "B4"].
        rate: full or reduced.

    Returns:
        The held tickets, or an error.
    """
    need p
    performance, part = self.performances.get(performance_id), self._area(area)
    if obstacle := self._closed(performance):
        return {"success": False, "error": obstacle}
    refuse if part is None or not part["numbered"] :: There are no numbered seats in {area!r}.
    refuse if rate not in ("full", "reduced") :: The rate is full or reduced, not {rate!r}.
    refuse if not 1 <= len(seats) <= 6 or len(set(seats)) < len(seats) :: Name one to six different seats.
    free = [seat for block in self._blocks(performance, part, 1) for seat in block]
    refuse if not set(seats) <= set(free) :: Not free in the {area}: {', '.join(sorted(set(seats) - set(free)))}.
    week = (date.fromisoformat(self.today) + timedelta(days=7)).isoformat()
    held = [self._write_ticket(performance, part, seat, patron["patron_id"], rate) for seat in seats]
    for ticket in held:
        ticket["status"], ticket["held_until"] = "held", min(week, performance["day"])
    done [dict(ticket) for ticket in held] :: {len(held)} seats held for {patron['name']}.

def sell_standing(self, patron_id: str, performance_id: str, count: int, rate: str = "full") -> dict:
    """Sell standing places, which have no numbers and are not held.

    Args:
        patron_id: Id of the patron.
        performance_id: Id of the performance.
        count: How many, 1 to 4.
        rate: full or reduced.

    Returns:
        The issued tickets, or an error.
    """
    need p
    performance = self.performances.get(performance_id)
    if obstacle := self._closed(performance):
        return {"success": False, "error": obstacle}
    refuse if not 1 <= count <= 4 :: Between 1 and 4 standing places are sold at once, not {count}.
    refuse if rate not in ("full", "reduced") :: The rate is full or reduced, not {rate!r}.
    room = next(area for area in self.areas.values() if not area["numbered"])
    left = room["width"] - sum(ticket["area_id"] == room["area_id"] for ticket in self._sold(performance_id))
    refuse if count > left :: Only {left} places to stand are left.
    sold = [dict(self._write_ticket(performance, room, "", patron["patron_id"], rate)) for _ in range(count)]
    done sold :: {count} standing places sold to {patron['name']}.

def release_holds(self, performance_id: str, patron_id: str | None = None) -> dict:
    """Give held seats back to the sale: those of one patron, or all whose hold has run out.

    Args:
        performance_id: Id of the performance.
        patron_id: Id of a patron who does not want the seats any more. Leave out for holds that ended before today.

    Returns:
        The released tickets, or an error.
    """
    need f
    dropped = []
    for ticket in self._sold(performance["performance_id"]):
        over = patron_id is None and ticket["held_until"] < self.today
        if ticket["status"] == "held" and (over or ticket["patron_id"] == patron_id):
            ticket["status"], ticket["held_until"] = "released", ""
            dropped.append(dict(ticket))
    refuse if not dropped :: There is no such hold for {performance['title']} on {performance['day']}.
    done dropped :: {len(dropped)} seats are on sale again.

def issue_tickets(self, patron_id: str, performance_id: str, voucher_id: str | None = None) -> dict:
    """Issue all that a patron has on hold for a performance, once it is paid.

    Args:
        patron_id: Id of the patron.
        performance_id: Id of the performance.
        voucher_id: Id of a voucher of the patron from which as much as possible is taken. Leave out to pay with money.

    Returns:
        The issued `tickets`, what was taken `from_voucher` and what is left `to_pay`, or an error.
    """
    need f
    held = [
        ticket
        for ticket in self._sold(performance_id)
        if ticket["patron_id"] == patron_id and ticket["status"] == "held" and ticket["held_until"] >= self.today
    ]
    refuse if not held or performance["status"] != "on sale" :: Nothing is on hold in that name for this performance.
    due, credit = round(sum(ticket["price"] for ticket in held), 2), 0.0
    if voucher_id is not None:
        need o
        refuse if voucher["patron_id"] != patron_id :: Voucher {voucher_id} belongs to somebody else.
        refuse if voucher["expires_on"] < self.today :: Voucher {voucher_id} expired on {voucher['expires_on']}.
        credit = min(due, voucher["left"])
        voucher["left"] = round(voucher["left"] - credit, 2)
    for ticket in held:
        ticket["status"], ticket["held_until"] = "issued", ""
    data = {"tickets": [dict(ticket) for ticket in held], "from_voucher": credit, "to_pay": round(due - credit, 2)}
    return {"success": True, "message": f"{len(held)} tickets issued.", "data": data}

def exchange_ticket(self, ticket_id: str, performance_id: str) -> dict:
    """Exchange an issued ticket for another performance of the same title.

    Args:
        ticket_id: Id of a ticket for a performance after today.
        performance_id: Id of another performance of the title, after today. The seat stays the same if it is free
            there, otherwise it is the best one free in the same area.

    Returns:
        The ticket with its new price and the `difference` to pay, below 0 for money back, or an error.
    """
    need t
    need f
    old, area = self.performances[ticket["performance_id"]], self.areas[ticket["area_id"]]
    refuse if ticket["status"] != "issued" :: Ticket {ticket_id} is {ticket['status']}, not issued.
    refuse if performance is old or performance["title"] != old["title"] :: Choose another evening of {old['title']}.
    if self._closed(performance) or min(self._ahead(old), self._ahead(performance)) < 1:
        refuse :: Both evenings must be on sale and after today.
    seats = [seat for block in self._blocks(performance, area, 1) for seat in block]
    refuse if not seats :: There is no numbered seat free in the {area['name']} on {performance['day']}.
    before = ticket["price"]
    ticket["performance_id"] = performance_id
    ticket["seat"] = ticket["seat"] if ticket["seat"] in seats else seats[0]
    ticket["price"] = self._price(performance, area, ticket["rate"])
    data = {**ticket, "difference": round(ticket["price"] - before, 2)}
    return {"success": True, "message": f"Exchanged for {performance['day']}, seat {ticket['seat']}.", "data": data}

def upgrade_ticket(self, ticket_id: str, area: str) -> dict:
    """Move an issued ticket to the best free seat of a dearer area.

    Args:
        ticket_id: Id of an issued ticket for a performance that is still ahead; a subscriber's is not upgraded.
        area: <<seated>>; it must cost more than the present one.

    Returns:
        The ticket with its new seat and price and the `difference` to pay, or an error.
    """
    need t
    target, present = self._area(area), self.areas[ticket["area_id"]]
    performance = self.performances[ticket["performance_id"]]
    refuse if target is None :: There is no area called {area!r}.
    refuse if ticket["status"] != "issued" :: Ticket {ticket_id} is {ticket['status']}, not issued.
    refuse if ticket["rate"] == "subscriber" :: A ticket at the subscriber rate is not upgraded.
    if obstacle := self._closed(performance):
        return {"success": False, "error": obstacle}
    refuse if target["price"] <= present["price"] :: The {area} does not cost more than the {present['name']}.
    blocks = self._blocks(performance, target, 1)
    refuse if not blocks :: Nothing is free in the {area}.
    before, ticket["area_id"], ticket["seat"] = ticket["price"], target["area_id"], blocks[0][0]
    ticket["price"] = self._price(performance, target, ticket["rate"])
    data = {**ticket, "difference": round(ticket["price"] - before, 2)}
    return {"success": True, "message": f"Upgraded to the {area}, seat {ticket['seat']}.", "data": data}

def transfer_ticket(self, ticket_id: str, patron_id: str) -> dict:
    """Put an issued ticket in the name of another patron.

    Args:
        ticket_id: Id of an issued ticket for a performance that is still ahead; a subscriber's is not handed on.
        patron_id: Id of the patron who goes instead.

    Returns:
        The ticket in its new name, or an error.
    """
    need t
    need p
    show = self.performances[ticket["performance_id"]]
    refuse if ticket["status"] != "issued" or self._closed(show) :: Ticket {ticket_id} cannot be used any more.
    refuse if ticket["rate"] == "subscriber" :: A ticket at the subscriber rate is not handed on.
    refuse if ticket["patron_id"] == patron_id :: Ticket {ticket_id} is in that name already.
    ticket["patron_id"] = patron_id
    done dict(ticket) :: {patron['name']} now has the ticket for {show['title']} on {show['day']}.

def refund_ticket(self, ticket_id: str, as_credit: bool) -> dict:
    """Take an issued ticket back, for money or for a voucher.

    Args:
        ticket_id: Id of an issued ticket for a performance after today.
        as_credit: True for a voucher over the whole price, false for money: all until <<s.full_days>> days before, half
            until <<s.half_days>> days before.

    Returns:
        The ticket with the `amount` given back, or an error.
    """
    quote = self.quote_refund(ticket_id)
    if not quote["success"]:
        return quote
    ticket, amount = self.tickets[ticket_id], quote["data"]["credit" if as_credit else "money"]
    refuse if amount == 0 :: Nothing can be given back for ticket {ticket_id}.
    ticket["status"] = "credited" if as_credit else "refunded"
    if as_credit:
        self._write_voucher(ticket["patron_id"], amount)
    done {**ticket, "amount": amount} :: {amount:.2f} EUR given back for ticket {ticket_id}.

def admit_patron(self, patron_id: str, performance_id: str) -> dict:
    """Let a patron in today with all tickets that are issued in that name.

    Args:
        patron_id: Id of the patron.
        performance_id: Id of a performance of today.

    Returns:
        The tickets, which are used now, or an error.
    """
    need f
    refuse if performance["day"] != self.today :: {performance['title']} is on {performance['day']}, not today.
    used = []
    for ticket in self._sold(performance_id):
        if ticket["patron_id"] == patron_id and ticket["status"] == "issued":
            ticket["status"] = "admitted"
            used.append(dict(ticket))
    refuse if not used :: There is no issued ticket in that name.
    done used :: {len(used)} admitted.

def release_house_seats(self, performance_id: str, row: str | None = None) -> dict:
    """Put seats on sale that were kept back for the house.

    Args:
        performance_id: Id of a performance at most <<s.house_days>> days ahead.
        row: Only the seats of this row, e.g. A. Leave out for all.

    Returns:
        The performance with the house seats that remain and those `released`, or an error.
    """
    need f
    if obstacle := self._closed(performance):
        return {"success": False, "error": obstacle}
    ahead = self._ahead(performance)
    refuse if ahead > <<s.house_days>> :: House seats are released <<s.house_days>> days before, not {ahead}.
    released = [seat for seat in performance["house_seats"] if row in (None, seat[0])]
    refuse if not released :: There are no house seats to release.
    performance["house_seats"] = [seat for seat in performance["house_seats"] if seat not in released]
    data = {**performance, "house_seats": list(performance["house_seats"]), "released": released}
    return {"success": True, "message": f"{len(released)} house seats are on sale.", "data": data}

def cancel_performance(self, performance_id: str, reason: str) -> dict:
    """Call a performance off: what was not paid for is released, and each patron gets one voucher over all that was.

    Args:
        performance_id: Id of a performance after today.
        reason: Why, in a few words.

    Returns:
        Ids of the tickets that are `credited` and `released`, and the new `vouchers`, or an error.
    """
    need f
    refuse if not reason.strip() :: A reason is required.
    if obstacle := self._closed(performance):
        return {"success": False, "error": obstacle}
    refuse if self._ahead(performance) < 1 :: It is too late to call off a performance of today.
    paid: dict[str, float] = {}
    credited, released = [], []
    for ticket in self._sold(performance_id):
        bought = ticket["status"] == "issued" and ticket["price"] > 0
        (credited if bought else released).append(ticket["ticket_id"])
        if bought:
            paid[ticket["patron_id"]] = paid.get(ticket["patron_id"], 0.0) + ticket["price"]
        ticket["status"] = "credited" if bought else "released"
        ticket["held_until"] = ""
    vouchers = [dict(self._write_voucher(patron, paid[patron])) for patron in paid]
    performance["status"], performance["note"] = "cancelled", reason.strip()
    data = {"credited": credited, "released": released, "vouchers": vouchers}
    return {"success": True, "message": f"{performance['title']} on {performance['day']} is off.", "data": data}

def pass_on_subscription(self, subscription_id: str, patron_id: str) -> dict:
    """Let another patron carry on a subscription with the same seat.

    Args:
        subscription_id: Id of the subscription.
        patron_id: Id of a patron who does not subscribe to that series yet.

    Returns:
        The subscription in its new name, or an error.
    """
    need u
    need p
    series = subscription["series"]
    holders = [other["patron_id"] for other in self.subscriptions.values() if other["series"] == series]
    refuse if patron_id in holders :: {patron['name']} subscribes to the {series} series already.
    subscription["patron_id"] = patron_id
    data = {**subscription, "skips": list(subscription["skips"])}
    return {"success": True, "message": f"{patron['name']} carries on {subscription_id}.", "data": data}

def swap_evening(self, subscription_id: str, from_performance_id: str, to_performance_id: str) -> dict:
    """Let a subscriber give up one evening of the series and come to something else in exchange.

    Args:
        subscription_id: Id of the subscription.
        from_performance_id: Id of the performance that is given up, of that series and after today; its seat becomes
            free.
        to_performance_id: Id of a performance of another series, after today, for which the best free seat of the
            same area is issued at no charge.

    Returns:
        The new ticket, or an error.
    """
    need u
    given_up, other = self.performances.get(from_performance_id), self.performances.get(to_performance_id)
    area = self.areas[subscription["area_id"]]
    for evening in (given_up, other):
        refuse if self._closed(evening) or self._ahead(evening) < 1 :: Both evenings must be on sale and after today.
    refuse if given_up["series"] != subscription["series"] :: {given_up['title']} is not in this subscription.
    refuse if from_performance_id in subscription["skips"] :: That evening has been given up already.
    refuse if other["series"] == subscription["series"] :: {other['title']} is in the same series.
    blocks = self._blocks(other, area, 1)
    refuse if not blocks :: Nothing is free in the {area['name']} on {other['day']}.
    subscription["skips"] = [*subscription["skips"], from_performance_id]
    ticket = self._write_ticket(other, area, blocks[0][0], subscription["patron_id"], "subscriber")
    done dict(ticket) :: Swapped for {other['title']} on {other['day']}.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        for n, name in enumerate(names.people(rng, 9)):
            key = key_of("PAT", n + 1)
            state["patrons"][key] = {"patron_id": key, "name": name, "email": names.email(name)}
        for n, (name, area) in enumerate(s.areas.items()):
            key = key_of("ARE", n + 1)
            state["areas"][key] = {"area_id": key, "name": name, **area.model_dump()}
        days = [0, *sorted(int(d) for d in rng.choice(range(2, 25), size=7, replace=False))]
        plays = shuffled(rng, [(series, any_of(rng, titles)) for series, titles in s.series.items()])
        best = next(iter(s.areas.values()))
        kept = [f"{chr(64 + best.rows)}{n}" for n in range(1, best.width + 1)]
        for n, day in enumerate(days):
            series, title = plays[n % len(plays)]
            key, first = key_of("PER", n + 1), int(rng.integers(0, 3))
            state["performances"][key] = {
                "performance_id": key,
                "title": title,
                "series": series,
                "day": later(today, day),
                "starts_at": any_of(rng, s.times),
                "factor": any_of(rng, [0.8, 1.0, 1.0, 1.25]),
                "house_seats": kept[first : first + int(rng.integers(2, 4))],
                "status": "on sale",
                "note": "",
            }
        self._subscriptions(state, rng, list(s.series))
        self._tickets(state, rng)
        for n, patron in enumerate(shuffled(rng, list(state["patrons"]))[:6]):
            key, worth = key_of("VOU", n + 1), float(rng.integers(3, 13) * 10)
            ago = int(rng.integers(20, 360))
            state["vouchers"][key] = {
                "voucher_id": key,
                "patron_id": patron,
                "worth": worth,
                "left": any_of(rng, [worth, worth / 2]),
                "issued_on": later(today, -ago),
                "expires_on": later(today, 365 - ago),
            }

    def _subscriptions(self, state: State, rng: Rng, series: list[str]) -> None:
        seats = shuffled(rng, [f"{row}{n}" for row in "AB" for n in range(1, 6)])
        areas = [a["area_id"] for a in state["areas"].values() if a["numbered"] and a["rows"] > 1]
        for n, patron in enumerate(shuffled(rng, list(state["patrons"]))[:5]):
            key = key_of("SUB", n + 1)
            state["subscriptions"][key] = {
                "subscription_id": key,
                "patron_id": patron,
                "series": series[n % len(series)],
                "area_id": any_of(rng, areas),
                "seat": seats[n],
                "skips": [],
            }

    def _tickets(self, state: State, rng: Rng) -> None:
        shows, patrons = list(state["performances"].values()), list(state["patrons"])
        pairs = shuffled(rng, [(show, patron) for show in shows for patron in patrons])[:13]
        for n, (show, patron) in enumerate([*pairs, (shows[0], patrons[0]), (shows[0], patrons[1])]):
            if any(t["patron_id"] == patron for t in valid(state, show)):
                continue
            held = n % 3 == 0 and show["day"] > state["today"]
            area = any_of(rng, list(state["areas"].values())[: 3 if held else 4])
            blocks = best_blocks(state, show, area, 2) if area["numbered"] else [["", ""]]
            for seat in any_of(rng, blocks[:4])[: 2 if held else int(rng.integers(1, 3) > 1) + 1]:
                key, rate = key_of("TIC", len(state["tickets"]) + 1), any_of(rng, ["full", "full", "reduced"])
                until = min(later(state["today"], int(rng.integers(1, 6))), show["day"])
                state["tickets"][key] = {
                    "ticket_id": key,
                    "performance_id": show["performance_id"],
                    "area_id": area["area_id"],
                    "seat": seat,
                    "patron_id": patron,
                    "rate": rate,
                    "price": price_of(show, area, rate),
                    "held_until": until if held else "",
                    "status": "held" if held else "issued",
                }


PATTERN = Seats
