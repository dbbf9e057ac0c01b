"""Auctions: lots in sales, bids that are left for them and executed against each other, and who is owed what."""

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

Row = dict[str, Any]


class AuctionSettings(Settings):
    """A saleroom's numbers and data."""

    sales: list[str]
    """What sales are called; four are held."""
    lots: dict[str, list[str]]
    """Category → titles of lots, none of them part of another."""
    steps: list[tuple[int, int]] = [(100, 5), (500, 10), (1000, 50), (5000, 100)]
    """Up to which price bids rise by how much, in EUR; beyond the last by `top_step`."""
    top_step: int = 500
    """Step beyond the last of `steps`."""
    withdrawal_fee: int = 5
    """What a consignor owes for a lot that is withdrawn, in percent of its low estimate."""
    cut: int = 20
    """By how many percent the reserve is cut when a lot that was passed comes up again."""
    conditions: list[str]
    """What condition reports say."""


class Lot(Goal):
    """What goals about lots share: a sentence names a lot by its title."""

    status: ClassVar[str] = "catalogued"

    def step(self, price: int) -> int:
        """How much the next bid is above a price."""
        return next((step for top, step in self.v.s.steps if price < top), self.v.s.top_step)

    def lot(self, slots: Slots, state: State) -> Row:
        """The lot a sentence names."""
        rows = state["lots"].values()
        return only([row for row in rows if row["title"] == slots["lot"] and row["status"] == self.status])

    def bids(self, lot: Row, state: State) -> list[Row]:
        """The bids that stand on a lot, the leading one first."""
        rows = [
            b for b in state["bids"].values() if (b["lot_id"], b["status"]) == (lot["lot_id"], "standing")
        ]
        return sorted(rows, key=lambda b: (-b["limit"], b["left_on"], b["bid_id"]))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state["lots"].values() if row["status"] == self.status]
        return {"lot": any_of(rng, rows)["title"]}

    def any(self, table: str, state: State, rng: Rng) -> Row:
        """Some row of a table."""
        row: Row = any_of(rng, list(state[table].values()))
        return row


class LeaveBid(Lot):
    """A bid of somebody who is not going to be in the room."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The bidder {name:name} leaves an absentee bid of up to {most:int} EUR on the {lot:name}.",
        "Please enter a commission bid for {name:name} on the {lot:name}, with a limit of {most:int} EUR.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_bidders", "find_lots", "leave_bid")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, name = super().draw(state, rng) or {}, self.any("bidders", state, rng)["name"]
        most = self.lot(slots, state)["low_estimate"]
        return {**slots, "name": name, "most": most + self.step(most) * int(rng.integers(0, 4))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots, "find_bidders name", "find_lots title=lot", "leave_bid lot_id<1 bidder_id<0 limit=most"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.entered(slots, self.lot(slots, state), slots["most"], state)

    def entered(self, slots: Slots, lot: Row, most: int, state: State) -> list[Outcome]:
        """The bidder has a bid up to so much on the lot."""
        bidder = named(state, self.v.b, slots["name"])
        mine = [
            b
            for b in state["bids"].values()
            if (b["bidder_id"], b["status"]) == (bidder["bidder_id"], "standing")
        ]
        bound = sum(b["limit"] for b in mine) + most > bidder["credit"]
        if bound or most % self.step(most) or any(b["lot_id"] == lot["lot_id"] for b in mine):
            raise LookupError("the bid is refused")
        fields = {"lot_id": lot["lot_id"], "bidder_id": bidder["bidder_id"], "limit": most}
        item = f"Has a bid of {slots['name']} on the {slots['lot']} of up to {most} EUR been entered?"
        return [Added("bids", {**fields, "left_on": state["today"], "status": "standing"}, item)]


class BidToLead(LeaveBid):
    """A bid that is just high enough to lead and to meet the reserve."""

    phrases = (
        "The bidder {name:name} wants to lead on the {lot:name} and meet its reserve: leave the lowest bid that does.",
        "Find out what it takes to lead on the {lot:name} and meet the reserve, and bid just that for {name:name}.",
    )
    needs = ("find_bidders", "find_lots", "preview_hammer", "leave_bid")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {name: slots[name] for name in ("name", "lot")}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_bidders name",
            "find_lots title=lot",
            "preview_hammer lot_id<1",
            "leave_bid lot_id<1 bidder_id<0 limit<2/to_lead",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        lot = self.lot(slots, state)
        limits = [b["limit"] for b in self.bids(lot, state)][:1]
        return self.entered(slots, lot, max(lot["reserve"], *(m + self.step(m) for m in limits), 0), state)


class RaiseBid(Lot):
    """A bid that stands is raised."""

    phrases = (
        "The absentee bid of {name:name} on the {lot:name} goes up to {most:int} EUR.",
        "Please raise the bid that {name:name} left on the {lot:name} to a limit of {most:int} EUR.",
    )
    needs = ("find_lots", "list_bids", "raise_bid")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        bid = any_of(rng, [b for b in state["bids"].values() if b["status"] == "standing"])
        most = bid["limit"]
        for _ in range(int(rng.integers(1, 5))):
            most += self.step(most)
        name, lot = state["bidders"][bid["bidder_id"]]["name"], state["lots"][bid["lot_id"]]["title"]
        return {"name": name, "lot": lot, "most": most}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots, "find_lots title=lot", "list_bids lot_id<0 bidder=name", "raise_bid bid_id<1 limit=most"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        lot, bidder = self.lot(slots, state), named(state, self.v.b, slots["name"])
        bid = only([b for b in self.bids(lot, state) if b["bidder_id"] == bidder["bidder_id"]])
        mine = [b for b in state["bids"].values() if b["bidder_id"] == bidder["bidder_id"]]
        bound = sum(b["limit"] for b in mine if b["status"] == "standing")
        if not bid["limit"] < slots["most"] <= bid["limit"] + bidder["credit"] - bound:
            raise LookupError("it cannot be raised so far")
        item = f"Has the bid of {slots['name']} on the {slots['lot']} been raised to {slots['most']}?"
        return [
            Changed(
                "bids", bid["bid_id"], {"limit": slots["most"]}, item, (bidder["bidder_id"], lot["lot_id"])
            )
        ]


class Withdraw(Lot):
    """A lot is taken out of its sale, which ends the bids on it."""

    phrases = (
        "The consignor wants the {lot:name} back, so withdraw it from the sale.",
        "Please withdraw the {lot:name}, and charge the fee that is due for it.",
    )
    needs = ("find_lots", "withdraw_lot")
    weight = 0.6

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_lots title=lot", "withdraw_lot lot_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        lot = self.lot(slots, state)
        fee = round(lot["low_estimate"] * self.v.s.withdrawal_fee / 100, 2)
        item = f"Is the {slots['lot']} withdrawn and the fee for it charged?"
        fields = {"status": "withdrawn", "consignor_due": -fee}
        ended = {b["bid_id"]: {"status": "cancelled"} for b in self.bids(lot, state)}
        return [Changed("lots", lot["lot_id"], fields, item), *bids_changed(ended, slots["lot"])]


class Hammer(Lot):
    """The bids left on a lot of today are executed."""

    phrases = (
        "Nobody in the room bids for the {lot:name}, so execute the bids that were left and bring down the hammer.",
        "The {lot:name} is up now and there are only absentee bids, please sell it by these.",
    )
    needs = ("find_lots", "hammer_lot")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        today = {key for key, sale in state["sales"].items() if sale["day"] == state["today"]}
        rows = [r for r in state["lots"].values() if r["sale_id"] in today and r["status"] == self.status]
        return {"lot": any_of(rng, rows)["title"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_lots title=lot", "hammer_lot lot_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        lot, title = self.lot(slots, state), slots["lot"]
        bids = self.bids(lot, state)
        if not bids:
            raise LookupError("nobody has left a bid")
        fields, ended = knocked_down(self, state, lot, bids)
        item = f"Has the {title} been {fields['status']} as the bids left on it demand?"
        return [Changed("lots", lot["lot_id"], fields, item), *bids_changed(ended, title)]


class ReserveToBid(Lot):
    """The reserve comes down to the highest bid."""

    phrases = (
        "The consignor of the {lot:name} agrees to let it go, so bring the reserve down to the highest bid left on it.",
        "Please lower the reserve of the {lot:name} to whatever the best absentee bid is.",
    )
    needs = ("find_lots", "list_bids", "change_reserve")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state["lots"].values() if row["status"] == self.status]
        low = [r for r in rows if (bids := self.bids(r, state)) and bids[0]["limit"] < r["reserve"]]
        return {"lot": any_of(rng, low)["title"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots, "find_lots title=lot", "list_bids lot_id<0", "change_reserve lot_id<0 reserve<1/0/limit"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        lot = self.lot(slots, state)
        best = max((b["limit"] for b in self.bids(lot, state)), default=lot["reserve"])
        if best >= lot["reserve"]:
            raise LookupError("the reserve is met")
        item = f"Is the reserve of the {slots['lot']} now {best}, the highest bid on it?"
        return [Changed("lots", lot["lot_id"], {"reserve": best}, item)]


class Inspect(Lot):
    """A condition report."""

    phrases = (
        'I have looked at the {lot:name}, please put "{said:text}" into its condition report.',
        'The condition report of the {lot:name} should read "{said:text}".',
    )
    needs = ("find_lots", "report_condition")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "said": pick(rng, self.v.s.conditions)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_lots title=lot", "report_condition lot_id<0 condition=said")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        lot = self.lot(slots, state)
        if lot["condition"] == slots["said"]:
            raise LookupError("it says so already")
        item = f"Does the condition report of the {slots['lot']} say what was seen?"
        return [Changed("lots", lot["lot_id"], {"condition": slots["said"]}, item)]


InspectInOwnWords = in_own_words(
    Inspect,
    "said",
    "The {lot:name} has no faults that I can see, so write a condition report of it in a few words.",
    "Please write the condition report of the {lot:name} in your own words: I found nothing wrong with it.",
)


class Reoffer(Lot):
    """A lot that was passed comes up again."""

    status = "passed"
    phrases = (
        "The {lot:name} was passed, so let it come up again in the sale {sale:name} with the usual cut of the reserve.",
        "The {lot:name} found no buyer the last time, so please offer it again in the sale {sale:name}.",
    )
    needs = ("find_lots", "find_sales", "reoffer_lot")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        ahead = [row["title"] for row in state["sales"].values() if row["day"] > state["today"]]
        slots = super().draw(state, rng)
        return slots and {**slots, "sale": any_of(rng, ahead)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_lots title=lot", "find_sales title=sale", "reoffer_lot lot_id<0 sale_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        lot, sale = self.lot(slots, state), sale_of(slots, state)
        cut = lot["reserve"] * (100 - self.v.s.cut) // 100
        fields = {"sale_id": sale["sale_id"], "number": next_number(sale, state), "status": "catalogued"}
        item = f"Is the {slots['lot']} in the sale {slots['sale']} now, with a lower reserve?"
        return [
            Changed(
                "lots",
                lot["lot_id"],
                {**fields, "reserve": max(cut - cut % self.step(cut), self.step(0))},
                item,
            )
        ]


class Consign(Lot):
    """A new lot."""

    phrases = (
        '{name:name} consigns a new lot, "{lot:text}", to the sale {sale:name}: category {kind:name}, '
        "estimate {low:int} to {high:int} EUR, reserve {reserve:int} EUR.",
        'Please catalogue "{lot:text}" for {name:name} in the sale {sale:name}, category {kind:name}, estimated at '
        "{low:int} to {high:int} EUR with a reserve of {reserve:int} EUR.",
    )
    needs = ("find_consignors", "find_sales", "consign_lot")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        kind, there = pick(rng, list(self.v.s.lots)), {row["title"] for row in state["lots"].values()}
        fresh = [title for title in self.v.s.lots[kind] if title not in there]
        ahead = [row["title"] for row in state["sales"].values() if row["day"] > state["today"]]
        low = 100 * int(rng.integers(1, 10))
        prices = {"low": low, "high": low + 100 * int(rng.integers(1, 4)), "reserve": low - 50}
        name = self.any("consignors", state, rng)["name"]
        return {"name": name, "lot": any_of(rng, fresh), "kind": kind, "sale": any_of(rng, ahead), **prices}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_consignors name",
            "find_sales title=sale",
            "consign_lot consignor_id<0 sale_id<1 title=lot category=kind low_estimate=low high_estimate=high reserve",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        sale, consignor = sale_of(slots, state), named(state, self.v.c, slots["name"])["consignor_id"]
        fields = {"sale_id": sale["sale_id"], "consignor_id": consignor, "number": next_number(sale, state)}
        fields |= {"title": slots["lot"], "category": slots["kind"], "reserve": slots["reserve"]}
        fields |= {"low_estimate": slots["low"], "high_estimate": slots["high"], **BLANK}
        return [Added("lots", fields, f"Has the {slots['lot']} of {slots['name']} been catalogued?")]


class Collect(Lot):
    """A buyer pays for everything bought in a sale."""

    phrases = (
        "The buyer {name:name} has paid for everything bought in the sale {sale:name}, please enter the payment.",
        "Please take the payment of {name:name} for all that was knocked down to that bidder in the sale {sale:name}.",
    )
    needs = ("find_bidders", "find_sales", "take_payment")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        lot = any_of(
            rng, [row for row in state["lots"].values() if row["status"] == "sold" and not row["paid"]]
        )
        sale = state["sales"][lot["sale_id"]]["title"]
        return {"name": state["bidders"][lot["buyer_id"]]["name"], "sale": sale}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots, "find_bidders name", "find_sales title=sale", "take_payment bidder_id<0 sale_id<1"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        pair = (sale_of(slots, state)["sale_id"], named(state, self.v.b, slots["name"])["bidder_id"])
        rows = [r for r in state["lots"].values() if (r["sale_id"], r["buyer_id"]) == pair and not r["paid"]]
        if not rows:
            raise LookupError("there is nothing to pay")
        return [
            Changed(
                "lots",
                r["lot_id"],
                {"paid": True},
                f"Is the {r['title']} marked as paid?",
                (r["consignor_id"],),
            )
            for r in rows
        ]


class PayOut(Lot):
    """A consignor gets what is due from a sale."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Please settle with {name:name} what is due from the sale {sale:name}.",
        "The consignor {name:name} is waiting for the money from the sale {sale:name}, so settle that account.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_consignors", "find_sales", "settle_consignor")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        lot = any_of(rng, [row for row in state["lots"].values() if row["paid"] and not row["settled"]])
        sale = state["sales"][lot["sale_id"]]["title"]
        return {"name": state["consignors"][lot["consignor_id"]]["name"], "sale": sale}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_consignors name",
            "find_sales title=sale",
            "settle_consignor consignor_id<0 sale_id<1",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.settled(sale_of(slots, state), named(state, self.v.c, slots["name"]), state)

    def due(self, sale: Row, consignor: str, state: State) -> list[Row]:
        """Lots of a consignor in a sale that are to be settled."""
        rows = [
            r
            for r in state["lots"].values()
            if (r["sale_id"], r["consignor_id"]) == (sale["sale_id"], consignor)
        ]
        return [r for r in rows if not r["settled"] and (r["paid"] or r["status"] == "withdrawn")]

    def settled(self, sale: Row, consignor: Row, state: State) -> list[Outcome]:
        """The lots are settled and a settlement says so."""
        rows, name = self.due(sale, consignor["consignor_id"], state), consignor["name"]
        amount = round(sum(row["consignor_due"] for row in rows), 2)
        if amount <= 0:
            raise LookupError("nothing is due")
        fields = {"consignor_id": consignor["consignor_id"], "sale_id": sale["sale_id"], "lots": len(rows)}
        item = f"Has {name} been paid what is due from the sale {sale['title']}?"
        return [
            Added("settlements", {**fields, "amount": amount, "made_on": state["today"]}, item),
            *(
                Changed("lots", row["lot_id"], {"settled": True}, f"Is the {row['title']} of {name} settled?")
                for row in rows
            ),
        ]


class PayOutMost(PayOut):
    """The consignor to whom a sale owes most is paid."""

    phrases = (
        "Look who is owed most from the sale {sale:name} and settle with that consignor.",
        "Please settle the largest of the payouts that are due from the sale {sale:name}.",
    )
    needs = ("find_sales", "list_payouts", "settle_consignor")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {"sale": slots["sale"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_sales title=sale",
            "list_payouts sale_id<0",
            "settle_consignor consignor_id<1 sale_id<0",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        sale = sale_of(slots, state)
        sums = {
            key: round(sum(row["consignor_due"] for row in self.due(sale, key, state)), 2)
            for key in state["consignors"]
        }
        key = max(sums, key=lambda key: (sums[key], key))
        if sum(amount == sums[key] for amount in sums.values()) > 1:
            raise LookupError("two are owed the same")
        return self.settled(sale, state["consignors"][key], state)


BLANK: Row = {
    "condition": "", "status": "catalogued", "hammer_price": 0, "buyer_id": None, "buyer_due": 0.0,
    "consignor_due": 0.0, "paid": False, "settled": False,
}  # fmt: skip
"""What a lot holds until something happens to it."""


def sale_of(slots: Slots, state: State) -> Row:
    """The sale a sentence names."""
    sale: Row = only([row for row in state["sales"].values() if row["title"] == slots["sale"]])
    return sale


def next_number(sale: Row, state: State) -> int:
    """The number of the next lot of a sale."""
    return 1 + max(
        (r["number"] for r in state["lots"].values() if r["sale_id"] == sale["sale_id"]), default=0
    )


def bids_changed(ended: dict[str, Row], title: str) -> list[Outcome]:
    """The bids on a lot have these values."""
    return [
        Changed("bids", key, fields, f"Is bid {key} on the {title} {fields['status']}?")
        for key, fields in ended.items()
    ]


def knocked_down(goal: Lot, state: State, lot: Row, bids: list[Row]) -> tuple[Row, dict[str, Row]]:
    """What becomes of a lot, and of the bids on it, when they are executed against each other."""
    if not bids:
        return {"status": "passed"}, {}
    first, *rest = bids
    ended = {b["bid_id"]: {"status": "lost"} for b in bids}
    if first["limit"] < lot["reserve"]:
        return {"status": "passed"}, ended
    second = rest[0]["limit"] if rest else 0
    price = min(first["limit"], max(lot["reserve"], second + goal.step(second)))
    ended[first["bid_id"]] = {"status": "won"}
    return sold(state, lot, first["bidder_id"], price), ended


def sold(state: State, lot: Row, buyer: str, price: int) -> Row:
    """What a lot holds that was knocked down for a price."""
    premium = state["sales"][lot["sale_id"]]["premium"]
    commission = state["consignors"][lot["consignor_id"]]["commission"]
    due = {"buyer_due": price * (100 + premium) / 100, "consignor_due": price * (100 - commission) / 100}
    return {
        "status": "sold",
        "hammer_price": price,
        "buyer_id": buyer,
        **{k: round(x, 2) for k, x in due.items()},
    }


TABLES: dict[str, tuple[str, str, str]] = {
    "consignor": (
        "CON",
        "Somebody who gives things to be sold.",
        """
        name: str = full name
        phone: str = telephone number
        commission: int = percent of the hammer price that the house keeps
        """,
    ),
    "bidder": (
        "BID",
        "Somebody who is registered to bid.",
        """
        name: str = full name
        paddle: int = number on the paddle
        credit: int = most that the standing bids may come to together, in EUR
        """,
    ),
    "sale": (
        "SAL",
        "A sale, which is held on one day.",
        """
        title: str = what it is called
        day: str = date, as YYYY-MM-DD
        premium: int = buyer's premium, in percent of the hammer price
        """,
    ),
    "lot": (
        "LOT",
        "A thing that is offered in a sale.",
        """
        sale_id: str = the sale
        number: int = number in the catalogue of the sale
        title: str = what it is
        category: str = department of the house
        consignor_id: str = the consignor
        low_estimate: int = EUR
        high_estimate: int = EUR
        reserve: int = least it is sold for, in EUR; known to the house and the consignor alone
        condition: str = condition report, empty before there is one
        status: str = catalogued, sold, passed (no bid met the reserve) or withdrawn
        hammer_price: int = EUR, 0 unless sold
        buyer_id: str | None = the bidder who bought it
        buyer_due: float = hammer price and buyer's premium in EUR, 0 unless sold
        consignor_due: float = hammer price less commission in EUR; below 0 for a withdrawal fee
        paid: bool = whether the buyer has paid
        settled: bool = whether the house has settled it with the consignor
        """,
    ),
    "bid": (
        "ABS",
        "An absentee bid: what the house may bid on behalf of a bidder.",
        """
        lot_id: str = the lot
        bidder_id: str = the bidder
        limit: int = most the house may bid, in EUR
        left_on: str = date, as YYYY-MM-DD; of equal limits the earlier one leads
        status: str = standing, won, lost or cancelled
        """,
    ),
    "settlement": (
        "SET",
        "A payment to a consignor for lots of one sale.",
        """
        consignor_id: str = the consignor
        sale_id: str = the sale
        lots: int = number of lots
        amount: float = EUR
        made_on: str = date, as YYYY-MM-DD
        """,
    ),
}


class Auctions(Pattern):
    """Sales with lots, absentee bids and settlements."""

    Settings = AuctionSettings
    GOALS: ClassVar = (
        LeaveBid, BidToLead, RaiseBid, Withdraw, Hammer, ReserveToBid, Inspect, InspectInOwnWords, Reoffer, Consign,
        Collect, PayOut, PayOutMost,
    )  # fmt: skip

    def vocabulary(self, s: AuctionSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        nouns = {"c": "consignor", "b": "bidder", "a": "sale", "l": "lot", "d": "bid"}
        return {**{letter: Noun(word) for letter, word in nouns.items()}, "categories": list(s.lots)}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(
                Noun(word), about, f"{Noun(word).id}_id: str = unique id, e.g. {prefix}-001\n{fields.strip()}"
            )
            for word, (prefix, about, fields) in TABLES.items()
        ]

    RULES = (
        RuleText(
            "What a buyer owes for a sold lot is calculated: the hammer price and the buyer's premium of the sale.",
            """
            for row in rows(after, "lots").values():
                premium = (rows(after, "sales").get(str(row.get("sale_id"))) or {}).get("premium") or 0
                due = (row.get("hammer_price") or 0) * (100 + premium) / 100
                if abs((row.get("buyer_due") or 0) - due) > 0.011:
                    return False
            return True
            """,
        ),
        RuleText(
            "What was paid to a consignor for a sale is the sum of what is due for the settled lots.",
            """
            sums = {}
            for table, field, sign in (("settlements", "amount", 1), ("lots", "consignor_due", -1)):
                for row in rows(after, table).values():
                    if table == "settlements" or row.get("settled"):
                        pair = (row.get("consignor_id"), row.get("sale_id"))
                        sums[pair] = sums.get(pair, 0) + sign * (row.get(field) or 0)
            return all(abs(rest) < 0.02 for rest in sums.values())
            """,
        ),
        RuleText(
            "A lot is sold for at least its reserve, and the reserve is at most the low estimate.",
            """
            for row in rows(after, "lots").values():
                reserve = row.get("reserve") or 0
                if row.get("status") == "sold" and (row.get("hammer_price") or 0) < reserve:
                    return False
                if reserve > (row.get("low_estimate") or 0):
                    return False
            return True
            """,
        ),
        RuleText(
            "No two lots of a sale have the same number.",
            """
            marks = [(str(r.get("sale_id")), str(r.get("number"))) for r in rows(after, "lots").values()]
            return len(marks) == len(set(marks))
            """,
        ),
        RuleText(
            "A bidder is authorised for standing bids up to the credit of that bidder, all of them taken together.",
            """
            bound = {}
            for row in rows(after, "bids").values():
                if row.get("status") == "standing":
                    key = str(row.get("bidder_id"))
                    bound[key] = bound.get(key, 0) + (row.get("limit") or 0)
            return all(
                bound.get(key, 0) <= (row.get("credit") or 0) for key, row in rows(after, "bidders").items()
            )
            """,
        ),
        RuleText(
            "No lot is sold or passed earlier than the day of its sale.",
            """
            for row in rows(after, "lots").values():
                if row.get("status") in ("sold", "passed"):
                    sale = rows(after, "sales").get(str(row.get("sale_id"))) or {}
                    if str(sale.get("day")) > str(after.get("today")):
                        return False
            return True
            """,
        ),
        RuleText(
            "A lot that is sold or withdrawn stays so; one that was passed may come up again.",
            """
            return all(o.get("status") in ("catalogued", "passed") for o, _ in changed("lots", "status"))
            """,
        ),
        RuleText(
            "A lot names a buyer exactly when it is sold, and bids stand on lots only while they are catalogued.",
            """
            lots = rows(after, "lots")
            if any(bool(row.get("buyer_id")) != (row.get("status") == "sold") for row in lots.values()):
                return False
            return all(
                (lots.get(str(row.get("lot_id"))) or {}).get("status") == "catalogued"
                for row in rows(after, "bids").values()
                if row.get("status") == "standing"
            )
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _step(price: int) -> int:
        """Return how much the next bid is above a price."""
        for top, step in (<<s.steps|join(", ")>>):
            if price < top:
                return step
        return <<s.top_step>>

    def _standing(self, lot_id: str) -> list[dict]:
        """Return the bids that stand on a lot, the leading one first: the highest, of equal ones the earliest."""
        bids = [bid for bid in self.bids.values() if bid["lot_id"] == lot_id and bid["status"] == "standing"]
        return sorted(bids, key=lambda bid: (-bid["limit"], bid["left_on"], bid["bid_id"]))

    def _execute(self, lot: dict) -> int:
        """Return the price at which the leading bid gets a lot: one step above the next one; 0 below the reserve."""
        first, second = ([bid["limit"] for bid in self._standing(lot["lot_id"])] + [0, 0])[:2]
        if first < lot["reserve"]:
            return 0
        return min(first, max(lot["reserve"], second + self._step(second)))

    def _bound(self, bidder_id: str) -> int:
        """Return what the standing bids of a bidder come to together."""
        mine = (bid for bid in self.bids.values() if bid["bidder_id"] == bidder_id)
        return sum(bid["limit"] for bid in mine if bid["status"] == "standing")

    def _next_number(self, sale_id: str) -> int:
        """Return the number of the next lot of a sale."""
        return 1 + max((lot["number"] for lot in self.lots.values() if lot["sale_id"] == sale_id), default=0)

    def _payable(self, consignor_id: str, sale_id: str) -> list[dict]:
        """Return the lots to be settled with a consignor: paid by their buyers, or withdrawn."""
        return [
            lot
            for lot in self.lots.values()
            if (lot["consignor_id"], lot["sale_id"], lot["settled"]) == (consignor_id, sale_id, False)
            and (lot["paid"] or lot["status"] == "withdrawn")
        ]
'''

    READS = '''
def find_sales(self, title: str) -> dict:
    """Find sales by title, with how far each has come.

    Args:
        title: The title or a part of it.

    Returns:
        The matching sales in the order of their days, each with its number of `lots` and of lots `sold`, and the
        sum of the hammer prices as `turnover`.
    """
    wanted, matches = title.strip().lower(), []
    for sale in self.sales.values():
        if wanted and wanted in sale["title"].lower():
            lots = [lot for lot in self.lots.values() if lot["sale_id"] == sale["sale_id"]]
            prices = [lot["hammer_price"] for lot in lots if lot["status"] == "sold"]
            matches.append({**sale, "lots": len(lots), "sold": len(prices), "turnover": sum(prices)})
    return {"success": True, "data": sorted(matches, key=lambda sale: sale["day"])}

def find_lots(self, title: str) -> dict:
    """Find lots by title in all sales.

    Args:
        title: The title or a part of it, e.g. bracket clock.

    Returns:
        The matching lots, those of the latest sale first.
    """
    wanted = title.strip().lower()
    matches = [dict(lot) for lot in self.lots.values() if wanted and wanted in lot["title"].lower()]
    matches.sort(key=lambda lot: lot["number"])
    matches.sort(key=lambda lot: self.sales[lot["sale_id"]]["day"], reverse=True)
    return {"success": True, "data": matches}

def find_bidders(self, name: str) -> dict:
    """Find registered bidders by name.

    Args:
        name: Full name or a part of it.

    Returns:
        The matching bidders, each with what is `free` of the credit and what is `unpaid`, in EUR.
    """
    matches = []
    for key, bidder in self.bidders.items():
        if name.strip() and name.strip().lower() in bidder["name"].lower():
            unpaid = sum(lot["buyer_due"] for lot in self.lots.values() if lot["buyer_id"] == key and not lot["paid"])
            free = bidder["credit"] - self._bound(key)
            matches.append({**bidder, "free": free, "unpaid": round(unpaid, 2)})
    return {"success": True, "data": sorted(matches, key=lambda bidder: bidder["paddle"])}

def find_consignors(self, name: str) -> dict:
    """Find consignors by name, with what they may expect.

    Args:
        name: Full name or a part of it.

    Returns:
        The matching consignors, each with the `lots` to come and the sum of their low estimates less commission
        as `expected`, in EUR.
    """
    matches = []
    for consignor in self.consignors.values():
        if name.strip() and name.strip().lower() in consignor["name"].lower():
            mine = (lot for lot in self.lots.values() if lot["consignor_id"] == consignor["consignor_id"])
            lows = [lot["low_estimate"] for lot in mine if lot["status"] == "catalogued"]
            expected = round(sum(lows) * (100 - consignor["commission"]) / 100, 2)
            matches.append({**consignor, "lots": len(lows), "expected": expected})
    return {"success": True, "data": sorted(matches, key=lambda consignor: consignor["name"])}

def list_bids(self, lot_id: str, bidder: str = "") -> dict:
    """List the bids that stand on a lot, the leading one first.

    Args:
        lot_id: Id of the lot, e.g. LOT-001.
        bidder: Only those of bidders whose name contains this. Leave out for all.

    Returns:
        The bids, each with the name of its bidder, or an error.
    """
    refuse if lot_id not in self.lots :: There is no lot with the id {lot_id!r}.
    told = [{**bid, "name": self.bidders[bid["bidder_id"]]["name"]} for bid in self._standing(lot_id)]
    return {"success": True, "data": [bid for bid in told if bidder.strip().lower() in bid["name"].lower()]}

def preview_hammer(self, lot_id: str) -> dict:
    """Work out what the bids left on a lot would come to, without selling it.

    Args:
        lot_id: Id of the lot, which must be catalogued.

    Returns:
        The hammer `price` (0 when the reserve is not met), the id of the `leading` bid if there is one, and as
        `to_lead` the limit that a new bid would need to lead and meet the reserve, or an error.
    """
    need l
    refuse if lot["status"] != "catalogued" :: The {lot['title']} is {lot['status']}.
    bids = self._standing(lot_id)
    to_lead = max([lot["reserve"]] + [bid["limit"] + self._step(bid["limit"]) for bid in bids[:1]])
    leading = bids[0]["bid_id"] if bids else None
    data = {"lot_id": lot_id, "price": self._execute(lot), "leading": leading, "to_lead": to_lead}
    return {"success": True, "data": data}

def list_steps(self, price: int, count: int = 5) -> dict:
    """List the next bids above a price, by the steps of the house.

    Args:
        price: Where to begin, in EUR, at least 0.
        count: How many bids, 1 to 20.

    Returns:
        The next `bids` in EUR, or an error.
    """
    refuse if price < 0 or not 1 <= count <= 20 :: The price or the count is out of range.
    bids = [price - price % self._step(price)]
    while len(bids) <= count:
        bids.append(bids[-1] + self._step(bids[-1]))
    return {"success": True, "data": {"bids": bids[1:]}}

def list_payouts(self, sale_id: str) -> dict:
    """List what is still to be paid to the consignors of a sale, the largest payout first.

    Args:
        sale_id: Id of the sale.

    Returns:
        Each consignor whose lots are to be settled, with the `titles` and the sum `due` in EUR, or an error.
    """
    refuse if sale_id not in self.sales :: There is no sale with the id {sale_id!r}.
    payouts = []
    for key, consignor in self.consignors.items():
        lots = self._payable(key, sale_id)
        if lots:
            due = round(sum(lot["consignor_due"] for lot in lots), 2)
            titles = [lot["title"] for lot in lots]
            payouts.append({"consignor_id": key, "name": consignor["name"], "titles": titles, "due": due})
    return {"success": True, "data": sorted(payouts, key=lambda payout: -payout["due"])}
'''

    WRITES = '''
<% macro catalogued() %>
    refuse if lot["status"] != "catalogued" :: The {lot['title']} is {lot['status']}.
<%- endmacro %>
<% macro on_step(price) %>
    if <<price>> <= 0 or <<price>> % self._step(<<price>>):
        refuse :: {<<price>>} EUR is no bid; the step there is {self._step(<<price>>)} EUR.
<%- endmacro %>
def consign_lot(
    self,
    consignor_id: str,
    sale_id: str,
    title: str,
    category: str,
    low_estimate: int,
    high_estimate: int,
    reserve: int,
) -> dict:
    """Catalogue a new lot for a sale to come; it gets the next number.

    Args:
        consignor_id: Id of the consignor, e.g. CON-001.
        sale_id: Id of the sale, which is after today.
        title: What it is, in a few words.
        category: The department: <<categories|join(", ")>>.
        low_estimate: EUR, above 0.
        high_estimate: EUR, more than the low estimate.
        reserve: Least it is sold for, in EUR: a price on the steps, no more than the low estimate.

    Returns:
        The lot, or an error.
    """
    refuse if consignor_id not in self.consignors :: There is no consignor with the id {consignor_id!r}.
    need a
    refuse if sale["day"] <= self.today :: The sale {sale['title']} is on {sale['day']}.
    refuse if not title.strip() :: The title is empty.
    refuse if category not in (<<quoted(categories)>>) :: There is no category {category!r}.
    refuse if not 0 < low_estimate < high_estimate :: {low_estimate} to {high_estimate} is no estimate.
<<on_step("reserve")>>
    refuse if reserve > low_estimate :: The reserve is above the low estimate.
    lot: Lot = {
        "lot_id": self._next_id(self.lots, "LOT"),
        "sale_id": sale_id,
        "number": self._next_number(sale_id),
        "title": title.strip(),
        "category": category,
        "consignor_id": consignor_id,
        "low_estimate": low_estimate,
        "high_estimate": high_estimate,
        "reserve": reserve,
        "condition": "",
        "status": "catalogued",
        "hammer_price": 0,
        "buyer_id": None,
        "buyer_due": 0.0,
        "consignor_due": 0.0,
        "paid": False,
        "settled": False,
    }
    self.lots[lot["lot_id"]] = lot
    done dict(lot) :: The {lot['title']} is number {lot['number']} of the sale {sale['title']}.

def report_condition(self, lot_id: str, condition: str) -> dict:
    """Write the condition report of a lot, in place of an earlier one.

    Args:
        lot_id: Id of the lot, which must be catalogued.
        condition: What was seen; another text than before.

    Returns:
        The lot, or an error.
    """
    need l
<<catalogued()>>
    refuse if condition.strip() in ("", lot["condition"]) :: The report has to say something new.
    lot["condition"] = condition.strip()
    done dict(lot) :: The condition report of the {lot['title']} is written.

def change_reserve(self, lot_id: str, reserve: int) -> dict:
    """Change the reserve of a lot.

    Args:
        lot_id: Id of the lot, which must be catalogued.
        reserve: EUR: a price on the steps, other than before and no more than the low estimate.

    Returns:
        The lot, or an error.
    """
    need l
<<catalogued()>>
<<on_step("reserve")>>
    refuse if reserve > lot["low_estimate"] :: It is above the low estimate of {lot['low_estimate']} EUR.
    refuse if reserve == lot["reserve"] :: That is the reserve already.
    lot["reserve"] = reserve
    done dict(lot) :: The reserve of the {lot['title']} is {reserve} EUR.

def withdraw_lot(self, lot_id: str) -> dict:
    """Withdraw a lot: its bids are cancelled, its consignor owes <<s.withdrawal_fee>> percent of the low estimate.

    Args:
        lot_id: Id of the lot, which must be catalogued.

    Returns:
        The `lot` and the ids of the bids `cancelled`, or an error.
    """
    need l
<<catalogued()>>
    cancelled = self._standing(lot_id)
    for bid in cancelled:
        bid["status"] = "cancelled"
    fee = round(lot["low_estimate"] * <<s.withdrawal_fee>> / 100, 2)
    lot.update(status="withdrawn", consignor_due=-fee)
    done {"lot": dict(lot), "cancelled": [bid["bid_id"] for bid in cancelled]} :: The {lot['title']} is withdrawn.

def reoffer_lot(self, lot_id: str, sale_id: str) -> dict:
    """Offer a passed lot in a later sale, its reserve cut by <<s.cut>> percent and rounded down to a step.

    Args:
        lot_id: Id of the lot, which must be passed.
        sale_id: Id of the sale, which is after today.

    Returns:
        The lot with its new number and reserve, which is at least the first step, or an error.
    """
    need l
    need a
    refuse if lot["status"] != "passed" :: The {lot['title']} is {lot['status']}, not passed.
    refuse if sale["day"] <= self.today :: The sale {sale['title']} is on {sale['day']}.
    reserve = lot["reserve"] * (100 - <<s.cut>>) // 100
    reserve = max(reserve - reserve % self._step(reserve), self._step(0))
    lot.update(sale_id=sale_id, number=self._next_number(sale_id), reserve=reserve, status="catalogued")
    done dict(lot) :: The {lot['title']} is number {lot['number']} of the sale {sale['title']}.

def leave_bid(self, lot_id: str, bidder_id: str, limit: int) -> dict:
    """Enter an absentee bid, which the house executes when the lot comes up.

    Args:
        lot_id: Id of the lot, which must be catalogued.
        bidder_id: Id of the bidder, who has no bid on the lot yet.
        limit: Most the house may bid, in EUR: a price on the steps, within what is free of the credit.

    Returns:
        The bid, or an error.
    """
    need l
    need b
<<catalogued()>>
<<on_step("limit")>>
    if any(bid["bidder_id"] == bidder_id for bid in self._standing(lot_id)):
        refuse :: {bidder['name']} has a bid on the {lot['title']} already; raise it.
    free = bidder["credit"] - self._bound(bidder_id)
    refuse if limit > free :: Only {free} EUR are free of the credit of {bidder['name']}.
    bid: Bid = {
        "bid_id": self._next_id(self.bids, "ABS"),
        "lot_id": lot_id,
        "bidder_id": bidder_id,
        "limit": limit,
        "left_on": self.today,
        "status": "standing",
    }
    self.bids[bid["bid_id"]] = bid
    done dict(bid) :: {bidder['name']} bids up to {limit} EUR for the {lot['title']}.

def raise_bid(self, bid_id: str, limit: int) -> dict:
    """Raise the limit of an absentee bid; it keeps the day on which it was left.

    Args:
        bid_id: Id of the bid, which must be standing.
        limit: New limit in EUR: a price on the steps, higher than before, within what is free of the credit.

    Returns:
        The bid, or an error.
    """
    need d
    refuse if bid["status"] != "standing" :: Bid {bid_id} is {bid['status']}.
<<on_step("limit")>>
    refuse if limit <= bid["limit"] :: Bid {bid_id} goes up to {bid['limit']} EUR already.
    free = self.bidders[bid["bidder_id"]]["credit"] - self._bound(bid["bidder_id"])
    refuse if limit - bid["limit"] > free :: Only {free} EUR are free of the credit.
    bid["limit"] = limit
    done dict(bid) :: Bid {bid_id} goes up to {limit} EUR.

def hammer_lot(self, lot_id: str) -> dict:
    """Bring down the hammer on a lot of today's sale: the bids left on it are executed against each other.

    The leading bid gets it one step above the next one, for no less than the reserve; otherwise, as without any
    bid, it is passed.

    Args:
        lot_id: Id of the lot, which must be catalogued.

    Returns:
        The `lot`, sold or passed, and what became of the `bids` by id, or an error.
    """
    need l
<<catalogued()>>
    sale, bids = self.sales[lot["sale_id"]], self._standing(lot_id)
    refuse if sale["day"] != self.today :: The sale {sale['title']} is on {sale['day']}.
    price = self._execute(lot)
    for place, bid in enumerate(bids):
        bid["status"] = "won" if price and place == 0 else "lost"
    lot["status"] = "sold" if price else "passed"
    if price:
        kept = 100 - self.consignors[lot["consignor_id"]]["commission"]
        lot["hammer_price"], lot["buyer_id"] = price, bids[0]["bidder_id"]
        lot["buyer_due"] = round(price * (100 + sale["premium"]) / 100, 2)
        lot["consignor_due"] = round(price * kept / 100, 2)
    data = {"lot": dict(lot), "bids": {bid["bid_id"]: bid["status"] for bid in bids}}
    done data :: The {lot['title']} is {lot['status']}.

def take_payment(self, bidder_id: str, sale_id: str) -> dict:
    """Enter that a buyer has paid for everything bought in a sale.

    Args:
        bidder_id: Id of the bidder, who owes something for the sale.
        sale_id: Id of the sale.

    Returns:
        The ids of the `lots` and the sum `received` in EUR, or an error.
    """
    need b
    need a
    owed = [
        lot
        for lot in self.lots.values()
        if (lot["sale_id"], lot["buyer_id"], lot["paid"]) == (sale_id, bidder_id, False)
    ]
    refuse if not owed :: {bidder['name']} owes nothing for the sale {sale['title']}.
    for lot in owed:
        lot["paid"] = True
    received = round(sum(lot["buyer_due"] for lot in owed), 2)
    done {"lots": [lot["lot_id"] for lot in owed], "received": received} :: {bidder['name']} paid {received} EUR.

def settle_consignor(self, consignor_id: str, sale_id: str) -> dict:
    """Pay a consignor what is due from a sale: for lots whose buyers have paid, less fees for withdrawn ones.

    Args:
        consignor_id: Id of the consignor.
        sale_id: Id of the sale, from which something above 0 is due.

    Returns:
        The `settlement` and the ids of the settled `lots`, or an error.
    """
    need c
    refuse if sale_id not in self.sales :: There is no sale with the id {sale_id!r}.
    lots = self._payable(consignor_id, sale_id)
    amount = round(sum(lot["consignor_due"] for lot in lots), 2)
    refuse if amount <= 0 :: Nothing is due to {consignor['name']} from this sale.
    for lot in lots:
        lot["settled"] = True
    settlement: Settlement = {
        "settlement_id": self._next_id(self.settlements, "SET"),
        "consignor_id": consignor_id,
        "sale_id": sale_id,
        "lots": len(lots),
        "amount": amount,
        "made_on": self.today,
    }
    self.settlements[settlement["settlement_id"]] = settlement
    data = {"settlement": dict(settlement), "lots": [lot["lot_id"] for lot in lots]}
    done data :: {consignor['name']} is paid {amount} EUR.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today, helper = v.s, state["today"], Lot(v, [])

        def add(word: str, **fields: Any) -> Row:
            key = key_of(TABLES[word][0], len(state[f"{word}s"]) + 1)
            row: Row = {f"{word}_id": key, **fields}
            state[f"{word}s"][key] = row
            return row

        def on_step(price: float) -> int:
            return int(price) - int(price) % helper.step(int(price))

        people = names.people(rng, 14)
        for name in people[:5]:
            add("consignor", name=name, phone=names.phone(rng), commission=pick(rng, [10, 12, 15]))
        for n, name in enumerate(people[5:]):
            add("bidder", name=name, paddle=101 + 7 * n, credit=1000 * int(rng.integers(4, 15)))
        away = (-int(rng.integers(60, 80)), -int(rng.integers(15, 30)), 0, 14, 34)
        for title, days in zip(shuffled(rng, s.sales)[:5], away, strict=True):
            add("sale", title=title, day=later(today, days), premium=pick(rng, [20, 22, 24]))
        titles = shuffled(rng, [(kind, title) for kind, there in s.lots.items() for title in there])
        plan = [(1, "settled")] * 3 + [
            (2, end) for end in shuffled(rng, ["sold"] * 5 + ["passed"] * 3 + ["withdrawn"])
        ]
        plan += [(sale, "catalogued") for sale, many in ((3, 7), (4, 3), (5, 3)) for _ in range(many)]
        owners = shuffled(rng, list(state["consignors"]))
        for n, ((place, status), (kind, title)) in enumerate(zip(plan, titles, strict=False)):
            low, sale = 20 * int(rng.integers(4, 60)), key_of("SAL", place)
            lot = add(
                "lot", sale_id=sale, number=next_number(state["sales"][sale], state), title=title, category=kind,
                consignor_id=owners[n] if status == "settled" else pick(rng, owners), low_estimate=low,
                high_estimate=low + 20 * int(rng.integers(2, 15)), reserve=on_step(low * float(rng.uniform(0.6, 1))),
                **BLANK,
            )  # fmt: skip
            lot["condition"] = pick(rng, ["", *s.conditions])
            if status == "settled":
                price = on_step(low * float(rng.uniform(1, 1.6)))
                lot |= {
                    **sold(state, lot, pick(rng, list(state["bidders"])), price),
                    "paid": True,
                    "settled": True,
                }
                paid = {"consignor_id": owners[n], "sale_id": sale, "lots": 1, "amount": lot["consignor_due"]}
                add("settlement", **paid, made_on=later(today, -int(rng.integers(40, 55))))
            elif status == "withdrawn":
                lot |= {"status": status, "consignor_due": -round(low * s.withdrawal_fee / 100, 2)}
            else:
                self._bidding(state, rng, add, on_step, helper, lot, status)

    def _bidding(
        self, state: State, rng: Rng, add: Any, on_step: Any, goal: Lot, lot: Row, status: str
    ) -> None:
        """The bids left on a lot, and what became of them in a sale that is over."""
        low, bidders = lot["low_estimate"], shuffled(rng, list(state["bidders"]))
        day = min(state["sales"][lot["sale_id"]]["day"], state["today"])
        spans: dict[str, list[tuple[float, float]]] = {"passed": [(0.4, 0.59)], "sold": [(1, 1.4)]}
        span = pick(rng, spans.get(status, [(0.62, 1.4), (0.4, 0.7)]))
        for bidder in bidders[: int(rng.integers(1, 4)) if len(state["bids"]) < 27 else 1]:
            limit, mine = on_step(low * float(rng.uniform(*span))), list(state["bids"].values())
            bound = sum(b["limit"] for b in mine if (b["bidder_id"], b["status"]) == (bidder, "standing"))
            if bound + limit <= state["bidders"][bidder]["credit"] and len(mine) < 30:
                left = {"left_on": later(day, -int(rng.integers(1, 9))), "status": "standing"}
                add("bid", lot_id=lot["lot_id"], bidder_id=bidder, limit=limit, **left)
        if status != "catalogued":
            fields, ended = knocked_down(goal, state, lot, goal.bids(lot, state))
            lot |= fields
            lot["paid"] = lot["status"] == "sold" and bool(rng.random() < 0.6)
            for key, end in ended.items():
                state["bids"][key] |= end


PATTERN = Auctions
