"""Listings: homes for sale, who is shown them and with whose keys, and the offers until one is sold."""

from datetime import date
from itertools import pairwise
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
    in_own_words,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

FUNDS = ("cash", "mortgage agreed", "none shown")
LIVE = ("booked", "keys_out")
Row = dict[str, Any]


class ListingSettings(Settings):
    """An agency's numbers and data."""

    streets: dict[str, list[str]]
    """District → its streets; every home stands in a street of its own."""
    kinds: dict[str, tuple[int, int]]
    """Kind of home → fewest and most bedrooms."""
    slots: list[str]
    """Times of day at which viewings begin."""
    commission: float = 1.5
    """Share of the price that the agency earns, in percent."""
    feedback: list[str]
    """What buyers say after a viewing."""


class Sale(Goal):
    """What goals about homes share: a sentence names a home by its street and number."""

    def home(self, slots: Slots, state: State, status: str = "for_sale") -> Row:
        """The home a sentence names, which has that status."""
        rows = state["homes"].values()
        return only([h for h in rows if h["address"] == slots["address"] and h["status"] == status])

    def any(self, state: State, rng: Rng, status: str = "for_sale") -> Slots:
        """Some home of that status."""
        rows = [h["address"] for h in state["homes"].values() if h["status"] == status]
        return {"address": any_of(rng, rows)}

    def offers(self, home: Row, state: State, status: str = "open") -> list[Row]:
        """Its offers of a status, the highest first."""
        rows = [
            o for o in state["offers"].values() if (o["home_id"], o["status"]) == (home["home_id"], status)
        ]
        return sorted(rows, key=lambda o: -o["amount"])


class Reprice(Sale):
    """Another asking price, which leaves an entry."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The sellers of {address:name} now ask {price:int} EUR, so please change the asking price.",
        "Please set the asking price of the home at {address:name} to {price:int} EUR.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_homes", "change_asking_price")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.any(state, rng)
        price = self.home(slots, state)["asking_price"]
        return {**slots, "price": price + 1000 * pick(rng, [-15, -12, -8, -5, 6, 9])}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_homes address", "change_asking_price home_id<0 new_price=price")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.priced(self.home(slots, state), slots["price"], state)

    def priced(self, home: Row, price: int, state: State) -> list[Outcome]:
        """The home has that asking price, and an entry says so."""
        old, key = home["asking_price"], home["home_id"]
        if price == old or self.offers(home, state):
            raise LookupError("the price is not to be changed")
        entry = {"home_id": key, "old_price": old, "new_price": price, "changed_on": state["today"]}
        item = f"Is the asking price of {home['address']} now {price}?"
        kept = f"Has the change of the asking price of {home['address']} been entered?"
        return [Changed("homes", key, {"asking_price": price}, item), Added("price_changes", entry, kept)]


class TakeBackPrice(Reprice):
    """The asking price that was there before the latest change."""

    phrases = (
        "The latest change of the asking price of {address:name} was a mistake, so put the price before it back.",
        "Please go back to the asking price that {address:name} had before it was last changed.",
    )
    needs = ("find_homes", "trace_price", "change_asking_price")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.any(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_homes address",
            "trace_price home_id<0",
            "change_asking_price home_id<0 new_price<1/changes/0/old_price",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home = self.home(slots, state)
        entries = [c for c in state["price_changes"].values() if c["home_id"] == home["home_id"]]
        last = max(entries, key=lambda c: (c["changed_on"], c.get("price_change_id", "")), default=None)
        if last is None:
            raise LookupError("the price was never changed")
        return self.priced(home, last["old_price"], state)


class SaveSearch(Sale):
    """What a buyer looks for."""

    phrases = (
        "The buyer {name:name} now looks in {district:name} for {beds:int} bedrooms or more up to {most:int} EUR.",
        "Save a new search for {name:name}: {district:name}, at least {beds:int} bedrooms, up to {most:int} EUR.",
    )
    needs = ("find_buyers", "save_search")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        wanted = {"district": pick(rng, list(self.v.s.streets)), "beds": int(rng.integers(2, 5))}
        name = pick(rng, list(state["buyers"].values()))["name"]
        return {"name": name, **wanted, "most": 5000 * int(rng.integers(45, 90))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_buyers name", "save_search buyer_id<0 district bedrooms=beds limit=most")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        fields = {"search_district": slots["district"], "search_bedrooms": slots["beds"]}
        item = f"Has the new search of {slots['name']} been saved?"
        key = named(state, self.v.b, slots["name"])["buyer_id"]
        return [Changed("buyers", key, {**fields, "search_limit": slots["most"]}, item)]


BOOK = ("list_free_slots home_id<0 day", "book_viewing home_id<0 buyer_id<1 day slot<2/free/0")
"""The end of a plan that books a viewing."""


class Show(Sale):
    """A buyer is shown a home in the first slot that is free."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The buyer {name:name} would like to see {address:name} on {day:date}; book the earliest free slot.",
        "Please book the first free slot on {day:date} for {name:name} to be shown {address:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_homes", "find_buyers", "list_free_slots", "book_viewing")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = pick(rng, list(state["buyers"].values()))["name"]
        return {"name": name, **self.any(state, rng), **self.day(state, rng)}

    def day(self, state: State, rng: Rng) -> Slots:
        """A day ahead."""
        return {"day": later(state["today"], int(rng.integers(1, 5)))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_homes address", "find_buyers name", *BOOK)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.shown(slots, self.home(slots, state), named(state, self.v.b, slots["name"]), state)

    def shown(self, slots: Slots, home: Row, buyer: Row, state: State) -> list[Outcome]:
        """The buyer has a viewing of the home in the first free slot."""
        free, who = free_slots(self.v.s.slots, state, home, slots["day"]), buyer["buyer_id"]
        mine = [w for w in state["viewings"].values() if w["buyer_id"] == who and w["status"] in LIVE]
        if not free or any(w["home_id"] == home["home_id"] or w["day"] == slots["day"] for w in mine):
            raise LookupError("it cannot be booked")
        fields = {"home_id": home["home_id"], "buyer_id": who, "agent_id": home["agent_id"]}
        fields |= {"day": slots["day"], "slot": free[0], "status": "booked", "feedback": ""}
        item = f"Has {buyer['name']} a viewing of {home['address']} on {slots['day']} at {free[0]}?"
        return [Added("viewings", fields, item)]


class InviteBest(Show):
    """The buyer whose search a home meets best is shown it."""

    phrases = (
        "Find the buyer whose saved search fits {address:name} best and book the first free slot on {day:date}.",
        "Our buyer who is the best match for {address:name} should see it in the first free slot on {day:date}.",
    )
    needs = ("find_homes", "match_buyers", "list_free_slots", "book_viewing")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {**self.any(state, rng), **self.day(state, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_homes address", "match_buyers home_id<0", *BOOK)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home = self.home(slots, state)
        fit = [b for b in state["buyers"].values() if fits(b, home)]
        fit.sort(
            key=lambda b: (FUNDS.index(b["funds"]), home["asking_price"] - b["search_limit"], b["buyer_id"])
        )
        alike = [
            b for b in fit if (b["funds"], b["search_limit"]) == (fit[0]["funds"], fit[0]["search_limit"])
        ]
        return self.shown(slots, home, only(alike), state)


class CallOff(Sale):
    """A viewing is called off."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The buyer {name:name} is no longer interested in {address:name}, so cancel that viewing.",
        "Please call off the viewing of {address:name} that is booked for {name:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_homes", "list_viewings", "cancel_viewing")
    tool: ClassVar[str] = "cancel_viewing"
    more: ClassVar[str] = ""
    status: ClassVar[str] = "booked"

    def wanted(self, viewing: Row, state: State) -> bool:
        """Whether it is one of those that a sentence may mean."""
        return bool(viewing["status"] == self.status)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        viewing = any_of(rng, [w for w in state["viewings"].values() if self.wanted(w, state)])
        home, buyer = state["homes"][viewing["home_id"]], state["buyers"][viewing["buyer_id"]]
        return {"name": buyer["name"], "address": home["address"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            {**slots, "status": self.status},
            "find_homes address",
            "list_viewings home_id<0 buyer=name status",
            f"{self.tool} viewing_id<1{self.more}",
        )

    def viewing(self, slots: Slots, state: State) -> Row:
        """The viewing that a sentence names."""
        buyer = named(state, self.v.b, slots["name"])["buyer_id"]
        rows = [
            w for w in state["viewings"].values() if w["buyer_id"] == buyer and w["status"] == self.status
        ]
        row = only([w for w in rows if state["homes"][w["home_id"]]["address"] == slots["address"]])
        return only([row] if self.wanted(row, state) else [])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        viewing = self.viewing(slots, state)
        item = f"Has the viewing of {slots['address']} with {slots['name']} been cancelled?"
        return [
            Changed("viewings", viewing["viewing_id"], {"status": "cancelled"}, item, (viewing["home_id"],))
        ]


class HandOut(CallOff):
    """The keys go out for a viewing of today."""

    phrases = (
        "The agent is leaving to show {address:name} to {name:name} today, so hand out the keys.",
        "Please give out the keys for today's viewing of {address:name} with {name:name}.",
    )
    needs = ("find_homes", "list_viewings", "hand_out_keys")
    tool = "hand_out_keys"

    def wanted(self, viewing: Row, state: State) -> bool:
        out = {home["keys_with_id"] for home in state["homes"].values()}
        ready = viewing["day"] == state["today"] and viewing["agent_id"] not in out
        return (
            super().wanted(viewing, state)
            and ready
            and state["homes"][viewing["home_id"]]["keys_with_id"] is None
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        viewing = self.viewing(slots, state)
        item = f"Are the keys of {slots['address']} with the agent who shows it?"
        noted = f"Is the viewing of {slots['address']} with {slots['name']} noted as having the keys out?"
        return [
            Changed("viewings", viewing["viewing_id"], {"status": "keys_out"}, noted, (viewing["agent_id"],)),
            Changed("homes", viewing["home_id"], {"keys_with_id": viewing["agent_id"]}, item),
        ]


class Report(CallOff):
    """A viewing took place and the keys are back."""

    phrases = (
        'The viewing of {address:name} with {name:name} is over and the keys are back; the buyer said "{said:text}".',
        'Take the keys of {address:name} back and record what {name:name} said after seeing it: "{said:text}".',
    )
    needs = ("find_homes", "list_viewings", "record_viewing")
    tool, status, more = "record_viewing", "keys_out", " feedback=said"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "said": pick(rng, self.v.s.feedback)}

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        viewing = self.viewing(slots, state)
        item = f"Has the viewing of {slots['address']} with {slots['name']} been recorded with the feedback?"
        fields = {"status": "held", "feedback": slots["said"]}
        back = f"Are the keys of {slots['address']} back in the office?"
        return [
            Changed("viewings", viewing["viewing_id"], fields, item),
            Changed("homes", viewing["home_id"], {"keys_with_id": None}, back),
        ]


ReportInOwnWords = in_own_words(
    Report,
    "said",
    "The viewing of {address:name} with {name:name} is over; take the keys back and note politely that it went well.",
    "{name:name} has seen {address:name} and was pleased, so take the keys back and put that in a few polite words.",
)


class Offer(Sale):
    """A first offer."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Record an offer of {amount:int} EUR from {name:name} for {address:name}, valid until {until:date}.",
        "The buyer {name:name} offers {amount:int} EUR for {address:name} and stands by it until {until:date}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_homes", "find_buyers", "make_offer")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, name = self.any(state, rng), pick(rng, list(state["buyers"].values()))["name"]
        amount = round(self.home(slots, state)["asking_price"] * float(rng.uniform(0.88, 0.99)) / 500) * 500
        return {
            **slots,
            "name": name,
            "amount": amount,
            "until": later(state["today"], int(rng.integers(5, 21))),
        }

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_homes address",
            "find_buyers name",
            "make_offer home_id<0 buyer_id<1 amount valid_until=until",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home, buyer = self.home(slots, state), named(state, self.v.b, slots["name"])["buyer_id"]
        if any(o["buyer_id"] == buyer for o in self.offers(home, state)):
            raise LookupError("there is an open offer already")
        fields = {
            "amount": slots["amount"],
            "valid_until": slots["until"],
            "reply_to_id": None,
            "side": "buyer",
        }
        item = f"Has the offer of {slots['name']} for {slots['address']} been recorded?"
        return [self.added({**fields, "home_id": home["home_id"], "buyer_id": buyer}, state, item)]

    def added(self, fields: Row, state: State, item: str) -> Added:
        """A new open offer made today."""
        return Added("offers", {**fields, "made_on": state["today"], "status": "open"}, item)


class MeetHalfWay(Offer):
    """An offer is answered with the middle of what both sides last said."""

    phrases = (
        "In the talks about {address:name} with {name:name}, counter the open offer half way, valid till {until:date}.",
        "{name:name} and the sellers of {address:name} split the difference: counter half way until {until:date}.",
    )
    needs = ("find_homes", "find_buyers", "trace_negotiation", "counter_offer")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        offer = any_of(rng, [o for o in state["offers"].values() if o["status"] == "open"])
        slots = {"address": state["homes"][offer["home_id"]]["address"], "until": later(state["today"], 14)}
        return {**slots, "name": state["buyers"][offer["buyer_id"]]["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_homes address",
            "find_buyers name",
            "trace_negotiation home_id<0 buyer_id<1",
            "counter_offer offer_id<2/last_offer_id amount<2/middle valid_until=until",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home, buyer = self.home(slots, state), named(state, self.v.b, slots["name"])["buyer_id"]
        offer = only([o for o in self.offers(home, state) if o["buyer_id"] == buyer])
        before = state["offers"].get(offer["reply_to_id"])
        other = before["amount"] if before else home["asking_price"]
        low, middle, high = sorted([offer["amount"], other, (offer["amount"] + other) // 2])
        if not low < middle < high:
            raise LookupError("there is no middle")
        fields = {"home_id": home["home_id"], "buyer_id": buyer, "reply_to_id": offer["offer_id"]}
        side = "seller" if offer["side"] == "buyer" else "buyer"
        fields |= {"side": side, "amount": middle, "valid_until": slots["until"]}
        item = f"Has the open offer in the talks with {slots['name']} about {slots['address']} been"
        return [
            Changed("offers", offer["offer_id"], {"status": "countered"}, f"{item} marked as countered?"),
            self.added(fields, state, f"{item} answered with the middle?"),
        ]


class AcceptHighest(Sale):
    """The highest offer is accepted, and whatever else is open for the home ends."""

    phrases = (
        "The sellers of {address:name} take the highest open offer, so accept it.",
        "Please accept the best of the open offers for {address:name}, with all that follows from it.",
    )
    needs = ("find_homes", "list_offers", "accept_offer")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [o for o in state["offers"].values() if (o["status"], o["side"]) == ("open", "buyer")]
        offer = any_of(rng, rows)
        return {"address": state["homes"][offer["home_id"]]["address"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            {**slots, "status": "open"},
            "find_homes address",
            "list_offers home_id<0 status",
            "accept_offer offer_id<1",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home, where = self.home(slots, state), slots["address"]
        best, rest = (offers := self.offers(home, state))[0], offers[1:]
        if best["side"] != "buyer" or any(o["amount"] == best["amount"] for o in rest):
            raise LookupError("two offers are the highest, or the sellers' own is")
        ahead = [
            w
            for w in state["viewings"].values()
            if (w["home_id"], w["status"]) == (home["home_id"], "booked")
        ]
        return [
            Changed("homes", home["home_id"], {"status": "under_offer"}, f"Is {where} under offer now?"),
            Changed(
                "offers",
                best["offer_id"],
                {"status": "accepted"},
                f"Is the highest offer for {where} accepted?",
            ),
            *(
                Changed(
                    "offers", o["offer_id"], {"status": "declined"}, f"Is offer {o['offer_id']} declined?"
                )
                for o in rest
            ),
            *(
                Changed("viewings", key, {"status": "cancelled"}, f"Is viewing {key} of {where} cancelled?")
                for key in (w["viewing_id"] for w in ahead)
            ),
        ]


class Complete(Sale):
    """The contract is signed."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The contract for {address:name} has been signed, so please complete the sale.",
        "Please close the sale of {address:name}, the notary has confirmed it.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_homes", "complete_sale")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.any(state, rng, "under_offer")

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_homes address", "complete_sale home_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home = self.home(slots, state, "under_offer")
        price = only(self.offers(home, state, "accepted"))["amount"]
        fields = {"status": "sold", "sale_price": price}
        fields["commission"] = round(price * self.v.s.commission / 100, 2)
        item = f"Is {slots['address']} sold at the accepted price, with the commission worked out?"
        return [Changed("homes", home["home_id"], fields, item)]


class FallThrough(Complete):
    """The buyer steps back before the contract."""

    phrases = (
        "The sale of {address:name} has fallen through, so put the home up for sale again.",
        "The buyer of {address:name} has backed out before the contract; please enter that the sale fell through.",
    )
    needs = ("find_homes", "break_off_sale")

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_homes address", "break_off_sale home_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home = self.home(slots, state, "under_offer")
        offer = only(self.offers(home, state, "accepted"))["offer_id"]
        item = f"Is the accepted offer for {slots['address']} marked as fallen through?"
        again = f"Is {slots['address']} for sale again?"
        return [
            Changed("offers", offer, {"status": "fallen_through"}, item),
            Changed("homes", home["home_id"], {"status": "for_sale"}, again),
        ]


def fits(buyer: Row, home: Row) -> bool:
    """Whether a home meets a buyer's saved search."""
    place = buyer["search_district"] == home["district"]
    dear = home["asking_price"] > buyer["search_limit"]
    return bool(place and not dear and home["bedrooms"] >= buyer["search_bedrooms"])


def free_slots(slots: list[str], state: State, home: Row, day: str) -> list[str]:
    """Slots of a day at which neither the home nor its agent is taken; none on a Sunday."""
    live = [w for w in state["viewings"].values() if w["status"] in LIVE and w["day"] == day]
    mine = [w for w in live if w["home_id"] == home["home_id"] or w["agent_id"] == home["agent_id"]]
    busy = {w["slot"] for w in mine}
    return [] if date.fromisoformat(day).weekday() == 6 else [slot for slot in slots if slot not in busy]


TABLES: dict[str, tuple[str, str, str]] = {
    "agent": (
        "AGT",
        "An agent of the office, who looks after homes and shows them.",
        """
        name: str = full name
        phone: str = telephone number
        """,
    ),
    "buyer": (
        "BUY",
        "Somebody who wants to buy, with a saved search.",
        """
        name: str = full name
        phone: str = telephone number
        funds: str = how a purchase would be paid: cash, mortgage agreed or none shown
        search_district: str = district of the saved search
        search_bedrooms: int = fewest bedrooms of the saved search
        search_limit: int = most the home may cost, in EUR
        """,
    ),
    "home": (
        "HOM",
        "A home that is for sale or was sold.",
        """
        address: str = street and number
        district: str = part of the town
        kind: str = kind of home
        bedrooms: int = number of bedrooms
        agent_id: str = the agent in charge
        asking_price: int = what the sellers ask, in EUR
        keys_with_id: str | None = the agent who has the keys; None while they are in the office
        listed_on: str = date, as YYYY-MM-DD
        status: str = for_sale, under_offer (sold subject to contract) or sold
        sale_price: int = price it was sold at in EUR, 0 before
        commission: float = what the agency earned with it in EUR, 0 before
        """,
    ),
    "price change": (
        "PRC",
        "An entry that an asking price was changed.",
        """
        home_id: str = the home
        old_price: int = asking price before, in EUR
        new_price: int = asking price after, in EUR
        changed_on: str = date, as YYYY-MM-DD
        """,
    ),
    "viewing": (
        "VIE",
        "A buyer is shown a home.",
        """
        home_id: str = the home
        buyer_id: str = the buyer
        agent_id: str = the agent who shows it
        day: str = date, as YYYY-MM-DD
        slot: str = time it begins, as HH:MM
        status: str = booked, keys_out (the agent has left with the keys), held or cancelled
        feedback: str = what the buyer said; empty until it was held
        """,
    ),
    "offer": (
        "OFR",
        "What a buyer offers for a home, or what the sellers or the buyer answer.",
        """
        home_id: str = the home
        buyer_id: str = the buyer
        reply_to_id: str | None = the offer it answers; None for a first one
        side: str = who makes it: buyer or seller
        amount: int = EUR
        made_on: str = date, as YYYY-MM-DD
        valid_until: str = last day it can be accepted, as YYYY-MM-DD
        status: str = open, countered, accepted, declined or fallen_through
        """,
    ),
}


class Listings(Pattern):
    """Homes for sale with viewings, keys and chains of offers."""

    Settings = ListingSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        Reprice, TakeBackPrice, SaveSearch, Show, InviteBest, CallOff, HandOut, Report, ReportInOwnWords, Offer,
        MeetHalfWay, AcceptHighest, Complete, FallThrough,
    )  # fmt: skip

    def vocabulary(self, s: ListingSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        letters = {"buyer": "b", "home": "h", "viewing": "w", "offer": "o"}
        nouns = {letter: Noun(word) for word, letter in letters.items()}
        return {**nouns, "districts": list(s.streets), "slots": s.slots}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(
                Noun(word), about, f"{Noun(word).id}_id: str = unique id, e.g. {prefix}-001\n{fields.strip()}"
            )
            for word, (prefix, about, fields) in TABLES.items()
        ]

    RULES = (
        RuleText(
            "Every change of an asking price leaves an entry with the price before and the price after.",
            """
            moved = sorted((str(o.get("home_id")), o.get("asking_price"), n.get("asking_price"))
                           for o, n in changed("homes", "asking_price"))
            fields = ("home_id", "old_price", "new_price")
            return moved == sorted(tuple(row.get(field) for field in fields) for row in added("price_changes"))
            """,
        ),
        RuleText(
            "Viewings to come do not overlap: an agent and a home are in one viewing at a time.",
            """
            live = [r for r in rows(after, "viewings").values() if r.get("status") in ("booked", "keys_out")]
            for field in ("agent_id", "home_id"):
                marks = [(str(r.get(field)), str(r.get("day")), str(r.get("slot"))) for r in live]
                if len(marks) != len(set(marks)):
                    return False
            out = [str(r.get("agent_id")) for r in live if r.get("status") == "keys_out"]
            return len(out) == len(set(out))
            """,
        ),
        RuleText(
            "Nobody is authorised to have the keys of a home but its agent in charge, during a viewing.",
            """
            out = {(r.get("home_id"), r.get("agent_id")) for r in rows(after, "viewings").values()
                   if r.get("status") == "keys_out"}
            held = {(key, r.get("keys_with_id")) for key, r in rows(after, "homes").items() if r.get("keys_with_id")}
            return out == held and all(
                r.get("keys_with_id") in (None, r.get("agent_id")) for r in rows(after, "homes").values()
            )
            """,
        ),
        RuleText(
            "A home goes from for sale to under offer and from there to sold or back; a sold one stays so.",
            """
            ways = {("for_sale", "under_offer"), ("under_offer", "for_sale"), ("under_offer", "sold")}
            return all((o.get("status"), n.get("status")) in ways for o, n in changed("homes", "status"))
            """,
        ),
        RuleText(
            "A home has an accepted offer exactly when it is under offer or sold, and then only one.",
            """
            counts = {}
            for row in rows(after, "offers").values():
                if row.get("status") == "accepted":
                    counts[row.get("home_id")] = counts.get(row.get("home_id"), 0) + 1
            return all(
                counts.get(key, 0) == (row.get("status") != "for_sale") for key, row in rows(after, "homes").items()
            )
            """,
        ),
        RuleText(
            "The commission of a sold home is calculated as <<s.commission>> percent of the accepted offer.",
            """
            sold = {key: row for key, row in rows(after, "homes").items() if row.get("status") == "sold"}
            for row in rows(after, "offers").values():
                home = sold.get(row.get("home_id")) if row.get("status") == "accepted" else None
                if home is not None:
                    due = round((row.get("amount") or 0) * <<s.commission>> / 100, 2)
                    if home.get("sale_price") != row.get("amount") or abs((home.get("commission") or 0) - due) > 0.005:
                        return False
            return True
            """,
        ),
        RuleText(
            "In a chain of counter-offers each amount lies between the two before it.",
            """
            offers = rows(after, "offers")
            for row in offers.values():
                last, amount = offers.get(row.get("reply_to_id")), row.get("amount") or 0
                if last is not None:
                    first, said = offers.get(last.get("reply_to_id")), last.get("amount") or 0
                    rises = row.get("side") == "seller"
                    if (amount <= said) if rises else (amount >= said):
                        return False
                    far = first and (first.get("amount") or 0)
                    if first and ((amount >= far) if rises else (amount <= far)):
                        return False
            return True
            """,
        ),
        RuleText(
            "A counter-offer belongs to the same home and buyer as the offer it answers and is made by the other side.",
            """
            offers = rows(after, "offers")
            for row in offers.values():
                last = offers.get(row.get("reply_to_id"))
                if last is not None and (
                    (row.get("home_id"), row.get("buyer_id")) != (last.get("home_id"), last.get("buyer_id"))
                    or row.get("side") == last.get("side")
                    or last.get("status") != "countered"
                ):
                    return False
            return True
            """,
        ),
    )

    HELPERS = '''
    def _busy(self, agent_id: str, home_id: str, day: str) -> set[str]:
        """Return the slots of a day that are taken for an agent or for a home."""
        return {
            viewing["slot"]
            for viewing in self.viewings.values()
            if viewing["status"] in ("booked", "keys_out")
            and viewing["day"] == day
            and (viewing["agent_id"] == agent_id or viewing["home_id"] == home_id)
        }

    @staticmethod
    def _weekday(text: str) -> int | None:
        """Tell the day of the week, 0 for Monday; None when the text is no date as YYYY-MM-DD."""
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return None
        return day.weekday() if day.isoformat() == text else None

    @staticmethod
    def _fits(buyer: dict, home: dict) -> bool:
        """Tell whether a home meets the saved search of a buyer."""
        return (
            home["district"] == buyer["search_district"]
            and home["bedrooms"] >= buyer["search_bedrooms"]
            and home["asking_price"] <= buyer["search_limit"]
        )

    def _chain(self, offer: dict | None) -> list[dict]:
        """Return the offers that led to one, the first of them in front."""
        chain: list[dict] = []
        while offer is not None:
            chain.insert(0, offer)
            offer = self.offers.get(offer["reply_to_id"])
        return chain

    def _add_offer(self, home_id: str, buyer_id: str, last: dict | None, amount: int, valid_until: str) -> dict:
        """Write an offer, which answers the last one if there is one."""
        offer: Offer = {
            "offer_id": self._next_id(self.offers, "OFR"),
            "home_id": home_id,
            "buyer_id": buyer_id,
            "reply_to_id": last["offer_id"] if last else None,
            "side": "seller" if last and last["side"] == "buyer" else "buyer",
            "amount": amount,
            "made_on": self.today,
            "valid_until": valid_until,
            "status": "open",
        }
        self.offers[offer["offer_id"]] = offer
        return dict(offer)

    def _sale_of(self, home_id: str) -> dict | None:
        """Return the accepted offer of a home, None when there is none."""
        accepted = (o for o in self.offers.values() if o["home_id"] == home_id and o["status"] == "accepted")
        return next(accepted, None)
'''

    READS = '''
def find_homes(self, address: str) -> dict:
    """Find homes by their address, also sold ones.

    Args:
        address: Street and number or a part of it, e.g. Larch Avenue.

    Returns:
        The matching homes, each with the days since it was listed as `days_listed`; an empty list when there are none.
    """
    wanted, today = " ".join(address.lower().split()), date.fromisoformat(self.today)
    matches = [
        {**home, "days_listed": (today - date.fromisoformat(home["listed_on"])).days}
        for home in self.homes.values()
        if wanted and wanted in home["address"].lower()
    ]
    return {"success": True, "data": sorted(matches, key=lambda home: home["address"])}

def find_buyers(self, name: str) -> dict:
    """Find buyers by name.

    Args:
        name: Full name or a part of it.

    Returns:
        The matching buyers with their saved searches and the number of their open offers.
    """
    matches = []
    for buyer in sorted(self.buyers.values(), key=lambda buyer: buyer["name"]):
        if name.strip() and name.strip().lower() in buyer["name"].lower():
            mine = [o for o in self.offers.values() if o["buyer_id"] == buyer["buyer_id"] and o["status"] == "open"]
            matches.append({**buyer, "open_offers": len(mine)})
    return {"success": True, "data": matches}

def list_free_slots(self, home_id: str, day: str) -> dict:
    """List the times of a day at which a home can be shown by its agent; there are none on Sundays.

    Args:
        home_id: Id of the home, e.g. HOM-001.
        day: The day, as YYYY-MM-DD.

    Returns:
        The `free` times, the earliest first, or an error.
    """
    need h
    weekday = self._weekday(day)
    refuse if weekday is None :: {day!r} is not a date as YYYY-MM-DD.
    busy = self._busy(home["agent_id"], home_id, day)
    free = [slot for slot in (<<quoted(slots)>>) if weekday != 6 and slot not in busy]
    return {"success": True, "data": {"home_id": home_id, "day": day, "free": free}}

def list_viewings(self, home_id: str, buyer: str = "", status: str | None = None) -> dict:
    """List the viewings of a home in the order of day and time.

    Args:
        home_id: Id of the home.
        buyer: Only those of buyers whose name contains this. Leave out for all.
        status: Only those that are booked, keys_out, held or cancelled. Leave out for all.

    Returns:
        The viewings, each with who it is `seen_by` and `shown_by`, or an error.
    """
    refuse if home_id not in self.homes :: There is no home with the id {home_id!r}.
    if status not in (None, "booked", "keys_out", "held", "cancelled"):
        refuse :: There is no status {status!r}.
    selected = []
    for viewing in self.viewings.values():
        who = self.buyers[viewing["buyer_id"]]["name"]
        if viewing["home_id"] == home_id and buyer.lower() in who.lower() and status in (None, viewing["status"]):
            selected.append({**viewing, "seen_by": who, "shown_by": self.agents[viewing["agent_id"]]["name"]})
    return {"success": True, "data": sorted(selected, key=lambda viewing: (viewing["day"], viewing["slot"]))}

def trace_price(self, home_id: str) -> dict:
    """Trace the asking price of a home back to the day it was listed.

    Args:
        home_id: Id of the home.

    Returns:
        The `changes`, the latest first, the price it was `listed_at`, and the whole change `in_percent`.
    """
    need h
    changes = [dict(entry) for entry in self.price_changes.values() if entry["home_id"] == home_id]
    changes.sort(key=lambda entry: (entry["changed_on"], entry["price_change_id"]), reverse=True)
    first = changes[-1]["old_price"] if changes else home["asking_price"]
    percent = round(100 * (home["asking_price"] / first - 1), 1)
    return {"success": True, "data": {"changes": changes, "listed_at": first, "in_percent": percent}}

def list_offers(self, home_id: str, status: str | None = None) -> dict:
    """List the offers for a home, the highest first and of equal ones that of the buyer with the surest money.

    Args:
        home_id: Id of the home.
        status: Only those that are open, countered, accepted, declined or fallen_through. Leave out for all.

    Returns:
        The offers, each with the name and the funds of its buyer and whether it has `lapsed`, or an error.
    """
    refuse if home_id not in self.homes :: There is no home with the id {home_id!r}.
    if status not in (None, "open", "countered", "accepted", "declined", "fallen_through"):
        refuse :: There is no status {status!r}.
    selected = []
    for offer in self.offers.values():
        if offer["home_id"] == home_id and status in (None, offer["status"]):
            buyer = self.buyers[offer["buyer_id"]]
            lapsed = offer["status"] == "open" and offer["valid_until"] < self.today
            selected.append({**offer, "name": buyer["name"], "funds": buyer["funds"], "lapsed": lapsed})
    order = ("cash", "mortgage agreed", "none shown")
    return {"success": True, "data": sorted(selected, key=lambda o: (-o["amount"], order.index(o["funds"])))}

def trace_negotiation(self, home_id: str, buyer_id: str) -> dict:
    """Trace the latest talks with a buyer about a home, from the first offer to the last counter-offer.

    Args:
        home_id: Id of the home.
        buyer_id: Id of the buyer.

    Returns:
        The chain of `offers`, the `gap` between what both sides said last (at first the asking price), the
        `middle` of the two in whole EUR and the `last_offer_id`, or an error when there were no offers.
    """
    need h
    refuse if buyer_id not in self.buyers :: There is no buyer with the id {buyer_id!r}.
    made = [o for o in self.offers.values() if o["home_id"] == home_id and o["buyer_id"] == buyer_id]
    refuse if not made :: There are no offers of {buyer_id} for {home_id}.
    chain = self._chain(max(made, key=lambda offer: offer["offer_id"]))
    last = chain[-1]["amount"]
    other = chain[-2]["amount"] if len(chain) > 1 else home["asking_price"]
    said = {"gap": abs(other - last), "middle": (other + last) // 2, "last_offer_id": chain[-1]["offer_id"]}
    return {"success": True, "data": {"offers": [dict(offer) for offer in chain], **said}}

def match_buyers(self, home_id: str) -> dict:
    """Match a home with the saved searches of all buyers, the best match first.

    Args:
        home_id: Id of the home.

    Returns:
        The buyers it suits, those with cash in front, then those with a mortgage agreed; among them those who
        can go furthest beyond the asking price, each with this `margin` in EUR; or an error.
    """
    need h
    order = {"cash": 0, "mortgage agreed": 1, "none shown": 2}
    suited = [
        {**buyer, "margin": buyer["search_limit"] - home["asking_price"]}
        for buyer in self.buyers.values()
        if self._fits(buyer, home)
    ]
    suited.sort(key=lambda buyer: (order[buyer["funds"]], -buyer["margin"], buyer["buyer_id"]))
    return {"success": True, "data": suited}
'''

    WRITES = '''
<% macro whole(what, low, high) %>
    refuse if not <<low>> <= <<what>> <= <<high>> :: {<<what>>} EUR is out of all proportion here.
<%- endmacro %>
<% macro ahead() %>
    weekday = self._weekday(valid_until)
    refuse if weekday is None or valid_until < self.today :: {valid_until!r} is no day from today on.
<%- endmacro %>
def save_search(self, buyer_id: str, district: str, bedrooms: int, limit: int) -> dict:
    """Save what a buyer looks for, in place of the search saved before.

    Args:
        buyer_id: Id of the buyer, e.g. BUY-001.
        district: The district: <<districts|join(", ")>>.
        bedrooms: Fewest bedrooms, 1 to 9.
        limit: Most it may cost, in EUR, at least 10000.

    Returns:
        The buyer with the new search, or an error.
    """
    need b
    refuse if district not in (<<quoted(districts)>>) :: There is no district {district!r}.
    refuse if not 1 <= bedrooms <= 9 or limit < 10_000 :: No home is like that.
    wanted = {"search_district": district, "search_bedrooms": bedrooms, "search_limit": limit}
    refuse if all(buyer[field] == value for field, value in wanted.items()) :: This search is saved already.
    buyer.update(wanted)
    done dict(buyer) :: The search of {buyer['name']} is saved.

def change_asking_price(self, home_id: str, new_price: int) -> dict:
    """Change the asking price of a home that is for sale and has no open offers; an entry is kept of it.

    Args:
        home_id: Id of the home.
        new_price: The new price in EUR: another one than before, and at least half and at most twice as much.

    Returns:
        The home, or an error.
    """
    need h
    old = home["asking_price"]
    refuse if home["status"] != "for_sale" :: {home['address']} is {home['status'].replace('_', ' ')}.
    refuse if new_price == old :: That is the asking price already.
<<whole("new_price", "old / 2", "old * 2")>>
    if any(offer["home_id"] == home_id and offer["status"] == "open" for offer in self.offers.values()):
        refuse :: There are open offers for {home['address']}.
    key = self._next_id(self.price_changes, "PRC")
    self.price_changes[key] = {
        "price_change_id": key,
        "home_id": home_id,
        "old_price": old,
        "new_price": new_price,
        "changed_on": self.today,
    }
    home["asking_price"] = new_price
    done dict(home) :: The asking price of {home['address']} is now {new_price} EUR, {new_price - old:+d}.

def book_viewing(self, home_id: str, buyer_id: str, day: str, slot: str) -> dict:
    """Book a viewing of a home that is for sale, with its agent in charge.

    Args:
        home_id: Id of the home.
        buyer_id: Id of the buyer, who has no other viewing of it to come and none on that day.
        day: A day from today on but not a Sunday, as YYYY-MM-DD.
        slot: Time it begins: <<slots|join(", ")>>; free for home and agent.

    Returns:
        The viewing, or an error.
    """
    need h
    need b
    refuse if home["status"] != "for_sale" :: {home['address']} is {home['status'].replace('_', ' ')}.
    refuse if self._weekday(day) in (None, 6) or day < self.today :: There are no viewings on {day!r}.
    refuse if slot not in (<<quoted(slots)>>) :: There is no slot {slot!r}.
    refuse if slot in self._busy(home["agent_id"], home_id, day) :: {day} at {slot} is taken.
    for other in self.viewings.values():
        if other["buyer_id"] == buyer_id and other["status"] in ("booked", "keys_out"):
            refuse if other["home_id"] == home_id :: {buyer['name']} has a viewing of it on {other['day']}.
            refuse if other["day"] == day :: {buyer['name']} has a viewing at {other['slot']} that day.
    viewing: Viewing = {
        "viewing_id": self._next_id(self.viewings, "VIE"),
        "home_id": home_id,
        "buyer_id": buyer_id,
        "agent_id": home["agent_id"],
        "day": day,
        "slot": slot,
        "status": "booked",
        "feedback": "",
    }
    self.viewings[viewing["viewing_id"]] = viewing
    done dict(viewing) :: {buyer['name']} will be shown {home['address']} on {day} at {slot}.

def cancel_viewing(self, viewing_id: str) -> dict:
    """Cancel a viewing, which makes its slot free.

    Args:
        viewing_id: Id of the viewing, which must be booked.

    Returns:
        The viewing, or an error.
    """
    need w
    refuse if viewing["status"] != "booked" :: Viewing {viewing_id} is {viewing['status'].replace('_', ' ')}.
    viewing["status"] = "cancelled"
    done dict(viewing) :: Viewing {viewing_id} is cancelled.

def hand_out_keys(self, viewing_id: str) -> dict:
    """Hand the keys of a home to the agent who leaves to show it.

    Args:
        viewing_id: Id of a viewing of today, which must be booked; its agent is not out with other keys.

    Returns:
        The viewing, whose keys are out, or an error.
    """
    need w
    home = self.homes[viewing["home_id"]]
    refuse if viewing["status"] != "booked" :: Viewing {viewing_id} is {viewing['status'].replace('_', ' ')}.
    refuse if viewing["day"] != self.today :: Viewing {viewing_id} is on {viewing['day']}, not today.
    refuse if home["keys_with_id"] :: The keys of {home['address']} are out already.
    agent = self.agents[viewing["agent_id"]]
    for other in self.homes.values():
        refuse if other["keys_with_id"] == agent["agent_id"] :: {agent['name']} is out to show {other['address']}.
    home["keys_with_id"], viewing["status"] = viewing["agent_id"], "keys_out"
    done dict(viewing) :: The keys of {home['address']} are with {agent['name']}.

def record_viewing(self, viewing_id: str, feedback: str) -> dict:
    """Record that a viewing was held and that the keys are back in the office.

    Args:
        viewing_id: Id of a viewing that has the keys out.
        feedback: What the buyer said.

    Returns:
        The viewing, or an error.
    """
    need w
    refuse if viewing["status"] != "keys_out" :: Viewing {viewing_id} does not have the keys out.
    refuse if not feedback.strip() :: The feedback is empty.
    self.homes[viewing["home_id"]]["keys_with_id"] = None
    viewing.update(status="held", feedback=feedback.strip())
    done dict(viewing) :: Viewing {viewing_id} is recorded.

def make_offer(self, home_id: str, buyer_id: str, amount: int, valid_until: str) -> dict:
    """Record the first offer of a buyer for a home.

    Args:
        home_id: Id of the home, which is for sale.
        buyer_id: Id of the buyer, who has no open offer for it.
        amount: EUR, from half the asking price to twice as much.
        valid_until: Last day it can be accepted, not in the past, as YYYY-MM-DD.

    Returns:
        The offer, or an error.
    """
    need h
    refuse if buyer_id not in self.buyers :: There is no buyer with the id {buyer_id!r}.
    refuse if home["status"] != "for_sale" :: {home['address']} is {home['status'].replace('_', ' ')}.
<<whole("amount", 'home["asking_price"] / 2', 'home["asking_price"] * 2')>>
<<ahead()>>
    for other in self.offers.values():
        if (other["home_id"], other["buyer_id"], other["status"]) == (home_id, buyer_id, "open"):
            refuse :: Offer {other['offer_id']} is still open; counter it or accept it.
    offer = self._add_offer(home_id, buyer_id, None, amount, valid_until)
    done offer :: {amount} EUR are offered for {home['address']}.

def counter_offer(self, offer_id: str, amount: int, valid_until: str) -> dict:
    """Answer an open offer with another amount: the sellers answer the buyer and the buyer the sellers.

    Args:
        offer_id: Id of the offer, which must be open.
        amount: EUR, between the offer and what this side said before (the sellers: the asking price).
        valid_until: Last day it can be accepted, not in the past, as YYYY-MM-DD.

    Returns:
        The offer `answered` and the `counter` to it, or an error.
    """
    need o
    refuse if offer["status"] != "open" :: Offer {offer_id} is {offer['status'].replace('_', ' ')}.
    chain = self._chain(offer)
    ends = [offer["amount"], chain[-2]["amount"] if len(chain) > 1 else self.homes[offer["home_id"]]["asking_price"]]
    refuse if not min(ends) < amount < max(ends) :: It has to be between {min(ends)} and {max(ends)} EUR.
<<ahead()>>
    offer["status"] = "countered"
    answer = self._add_offer(offer["home_id"], offer["buyer_id"], offer, amount, valid_until)
    done {"answered": dict(offer), "counter": answer} :: Offer {offer_id} is answered with {amount} EUR.

def accept_offer(self, offer_id: str) -> dict:
    """Accept an offer: the home is then under offer, its other open offers are declined, its booked viewings cancelled.

    Args:
        offer_id: Id of the offer, which must be open and has not lapsed.

    Returns:
        The offer as `accepted`, and the ids of the offers `declined` and the viewings `cancelled`, or an error.
    """
    need o
    refuse if offer["status"] != "open" :: Offer {offer_id} is {offer['status'].replace('_', ' ')}.
    refuse if offer["valid_until"] < self.today :: Offer {offer_id} lapsed on {offer['valid_until']}.
    home = self.homes[offer["home_id"]]
    home["status"], offer["status"] = "under_offer", "accepted"
    ended: dict[str, list] = {"declined": [], "cancelled": []}
    for table, old, new in ((self.offers, "open", "declined"), (self.viewings, "booked", "cancelled")):
        for key, row in table.items():
            if row["home_id"] == home["home_id"] and row["status"] == old:
                row["status"] = new
                ended[new].append(key)
    done {"accepted": dict(offer), **ended} :: {home['address']} is sold subject to contract.

def break_off_sale(self, home_id: str) -> dict:
    """Enter that a sale fell through before the contract; the home is for sale again.

    Args:
        home_id: Id of the home, which must be under offer.

    Returns:
        The `home` and the `offer` that fell through, or an error.
    """
    need h
    refuse if home["status"] != "under_offer" :: {home['address']} is {home['status'].replace('_', ' ')}.
    sale = self._sale_of(home_id)
    refuse if sale is None :: There is no accepted offer.
    home["status"], sale["status"] = "for_sale", "fallen_through"
    done {"home": dict(home), "offer": dict(sale)} :: {home['address']} is for sale again.

def complete_sale(self, home_id: str) -> dict:
    """Complete a sale once the contract is signed, and work out the commission of <<s.commission>> percent.

    Args:
        home_id: Id of the home, which must be under offer, with its keys in the office.

    Returns:
        The sold home with its price and the commission, or an error.
    """
    need h
    sale = self._sale_of(home_id)
    if home["status"] != "under_offer" or sale is None:
        refuse :: {home['address']} is {home['status'].replace('_', ' ')}.
    refuse if home["keys_with_id"] :: The keys of {home['address']} are still out.
    commission = round(sale["amount"] * <<s.commission>> / 100, 2)
    home.update(status="sold", sale_price=sale["amount"], commission=commission)
    done dict(home) :: {home['address']} is sold; the commission is {commission} EUR.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]

        def add(word: str, **fields: Any) -> Row:
            noun = Noun(word)
            key = key_of(TABLES[word][0], len(state[noun.ids]) + 1)
            state[noun.ids][key] = {f"{noun.id}_id": key, **fields}
            return dict(state[noun.ids][key])

        def some(low: int, high: int) -> int:
            return int(rng.integers(low, high + 1))

        people = names.people(rng, 13)
        for name in people[:4]:
            add("agent", name=name, phone=names.phone(rng))
        streets = shuffled(rng, [(d, street) for d, there in s.streets.items() for street in there])[:10]
        statuses = shuffled(rng, ["for_sale"] * 7 + ["under_offer"] * 2 + ["sold"])
        for n, ((district, street), status) in enumerate(zip(streets, statuses, strict=True)):
            kind = pick(rng, list(s.kinds))
            beds = some(*s.kinds[kind])
            price = 1000 * (95 + 62 * beds + some(0, 70))
            first = price + 1000 * some(5, 25)
            listed = some(60, 200)
            home = add(
                "home", address=f"{some(2, 48)} {street}", district=district, kind=kind, bedrooms=beds,
                agent_id=key_of("AGT", n % 4 + 1 if n < 8 else some(1, 3)), asking_price=price, keys_with_id=None,
                listed_on=later(today, -listed), status=status, sale_price=0, commission=0.0,
            )  # fmt: skip
            if rng.random() < 0.6:
                steps = [first, price] if rng.random() < 0.5 else [first, price + 1000 * some(1, 4), price]
                for k, (old, new) in enumerate(pairwise(steps)):
                    day = later(today, -listed + 20 + 15 * k + some(0, 9))
                    add("price change", home_id=home["home_id"], old_price=old, new_price=new, changed_on=day)
        homes = list(state["homes"].values())
        for name in people[4:]:
            like = pick(rng, homes)
            add(
                "buyer", name=name, phone=names.phone(rng), funds=pick(rng, FUNDS), search_district=like["district"],
                search_bedrooms=max(1, like["bedrooms"] - some(0, 1)),
                search_limit=5000 * (like["asking_price"] // 5000 + some(1, 14)),
            )  # fmt: skip
        self._offers(s.commission, state, rng, add, some)
        self._viewings(v, state, rng, add)

    def _offers(self, percent: float, state: State, rng: Rng, add: Any, some: Any) -> None:
        buyers, today = list(state["buyers"]), state["today"]
        for home in state["homes"].values():
            asked, who = home["asking_price"], shuffled(rng, buyers)
            rivals = 1 if home["status"] != "for_sale" else some(0, 2) if len(state["offers"]) < 14 else 0
            for n in range(rivals + (home["status"] != "for_sale")):
                low, ago, last = asked - 1000 * some(12, 30) + 500 * n, some(6, 20), None
                amounts = [low, asked - 1000 * some(1, 3), low + 1000 * some(4, 7)][: 1 if n else some(1, 3)]
                for k, amount in enumerate(amounts):
                    end = "countered" if k < len(amounts) - 1 else "open"
                    if end == "open" and home["status"] != "for_sale":
                        end = "declined" if n else "accepted"
                    last = add(
                        "offer", home_id=home["home_id"], buyer_id=who[n], reply_to_id=last and last["offer_id"],
                        side="seller" if k % 2 else "buyer", amount=amount, made_on=later(today, 2 * k - ago),
                        valid_until=later(today, some(3, 12)), status=end,
                    )  # fmt: skip
                if home["status"] == "sold" and n == 0 and last:
                    commission = round(last["amount"] * percent / 100, 2)
                    home.update(sale_price=last["amount"], commission=commission)

    def _viewings(self, v: SimpleNamespace, state: State, rng: Rng, add: Any) -> None:
        today, homes = state["today"], [h for h in state["homes"].values() if h["status"] == "for_sale"]
        pairs = [(h, b) for h in homes for b in state["buyers"]]
        plan = [("keys_out", 0)] * 2 + [("booked", 0)] * 3 + [("booked", n) for n in (1, 1, 2, 3, 4)]
        plan += [("held", -n) for n in (2, 5, 7)] + [("cancelled", 1)]
        for home, buyer in shuffled(rng, pairs):
            if not plan:
                break
            status, day = plan[0][0], later(today, plan[0][1])
            free = free_slots(v.s.slots, state, home, day)
            out = {h["keys_with_id"] for h in homes}
            mine = [w for w in state["viewings"].values() if w["buyer_id"] == buyer and w["status"] in LIVE]
            again = status in LIVE and any(w["day"] == day or w["home_id"] == home["home_id"] for w in mine)
            if not free or again or (status == "keys_out" and home["agent_id"] in out):
                continue
            plan.pop(0)
            slot = free[0] if status == "keys_out" else pick(rng, free)
            add(
                "viewing", home_id=home["home_id"], buyer_id=buyer, agent_id=home["agent_id"], day=day, slot=slot,
                status=status, feedback=pick(rng, v.s.feedback) if status == "held" else "",
            )  # fmt: skip
            home["keys_with_id"] = home["agent_id"] if status == "keys_out" else home["keys_with_id"]


PATTERN = Listings
