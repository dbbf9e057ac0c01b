"""Lines: telephone numbers on SIM cards and tariffs, what they use, what they owe, and how they come and leave."""

from calendar import monthrange
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
    Pattern,
    Rng,
    RuleText,
    Settings,
    State,
    Table,
    in_own_words,
    key_of,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import form, steps
from envscaler.model.builtin.patterns._snippets import MACROS
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

STATUSES = ("active", "blocked", "suspended", "ported", "ended")
KINDS = ("plastic", "eSIM")
Row = dict[str, Any]


class LinesSettings(Settings):
    """The price list of an operator."""

    tariffs: dict[str, tuple[float, int, int, int]]
    """Tariff → price a month, data a month and of it abroad in GB, days of notice."""
    passes: dict[str, tuple[int, float, int]]
    """Kind of pass (`data`, `roaming`) → GB, price, days it is valid."""
    extra_gb: float
    """Price of a GB beyond the tariff."""
    sim_fee: float
    """Price of another SIM card."""
    reconnect_fee: float
    """Price of being reconnected after a suspension."""
    patience: int = 14
    """Days an invoice may be overdue before a line is suspended."""
    most_lines: int = 5
    """Lines that a customer may have."""
    providers: list[str]
    """Where numbers go."""
    losses: list[str]
    """Why lines are blocked."""


def ended(line: Row, state: State) -> bool:
    """Whether the last day of a line has passed; one that was ported out is never told as ended."""
    return bool(line["status"] != "ported" and "" < line["ends_on"] < state["today"])


def digits(number: str) -> str:
    """What counts of a telephone number."""
    return "".join(sign for sign in number if sign.isdigit())


class LineGoal(Goal):
    """What goals about lines share; a sentence names a line by its number."""

    status: ClassVar[str] = "active"

    def line(self, slots: Slots, state: State) -> Row:
        """The line of the number, of the goal's status."""
        rows = [x for x in state["lines"].values() if x["number"] == slots["number"]]
        return only([x for x in rows if x["status"] == self.status and not ended(x, state)])

    def lines(self, state: State) -> list[Row]:
        """Lines of the goal's status."""
        rows = state["lines"].values()
        return [x for x in rows if x["status"] == self.status and not ended(x, state)]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.lines(state)
        return {"number": pick(rng, rows)["number"]} if rows else None

    def bills(self, line: Row, state: State) -> list[Row]:
        """Open invoices of a line, the one due first in front."""
        rows = [
            x for x in state["invoices"].values() if x["line_id"] == line["line_id"] and x["status"] == "open"
        ]
        return sorted(rows, key=lambda x: (x["due_on"], x["invoice_id"]))

    def owed(self, line: Row, state: State) -> float:
        """What is open of a line."""
        return round(sum(x["amount"] for x in self.bills(line, state)), 2)

    def changed(self, line: Row, item: str, **fields: Any) -> Changed:
        """A line has these values."""
        return Changed("lines", line["line_id"], fields, item, (line["customer_id"],))

    def billed(self, line: Row | None, amount: float, reason: str, state: State) -> Added:
        """An invoice has been written, for a line that is there or the new one."""
        key = {"line_id": line["line_id"]} if line else {}
        dates = {"issued_on": state["today"], "due_on": later(state["today"], 14)}
        status = "open" if round(amount, 2) else "paid"
        fields = {**key, **dates, "amount": round(amount, 2), "reason": reason, "status": status}
        number = line["number"] if line else "the new line"
        return Added(
            "invoices", fields, f"Has an invoice of {amount:.2f} for {number} been written ({reason})?"
        )

    def sim(self, state: State, kind: str) -> Row:
        """The first SIM card of a kind in stock."""
        rows = [x for x in state["sim_cards"].values() if x["kind"] == kind and x["status"] == "stock"]
        if not rows:
            raise LookupError("there is none in stock")
        return min(rows, key=lambda x: x["sim_card_id"])

    def taken(self, card: Row) -> Changed:
        """A SIM card is in use."""
        return Changed(
            "sim_cards", card["sim_card_id"], {"status": "in_use"}, f"Is SIM card {card['serial']} in use?"
        )

    def dead(self, line: Row, state: State) -> Changed:
        """The SIM card of a line works no more."""
        card = state["sim_cards"][line["sim_card_id"]]
        return Changed(
            "sim_cards", line["sim_card_id"], {"status": "dead"}, f"Is SIM card {card['serial']} dead?"
        )

    def kept(self, customer_id: str, state: State) -> int:
        """How many lines a customer has that have neither left nor ended."""
        rows = [x for x in state["lines"].values() if x["customer_id"] == customer_id]
        return sum(x["status"] != "ported" and not ended(x, state) for x in rows)

    def rest(self, state: State) -> float:
        """The share of the month that is left after today."""
        today = date.fromisoformat(state["today"])
        days = monthrange(today.year, today.month)[1]
        return (days - today.day) / days

    def enough(self, state: State, data: int) -> Row:
        """The cheapest tariff with at least so much data."""
        rows = [x for x in state["tariffs"].values() if x["data_gb"] >= data]
        if not rows:
            raise LookupError("no tariff has so much")
        return min(rows, key=lambda x: (x["monthly_price"], x["tariff_id"]))

    def booked(self, line: Row, kind: str, state: State) -> list[Outcome]:
        """A pass has been booked and billed."""
        gb, price, days = self.v.s.passes[kind]
        fields = {"line_id": line["line_id"], "kind": kind, "gb": gb, "price": price}
        item = f"Has a {kind} pass been booked for {line['number']}?"
        until = {"valid_until": later(state["today"], days)}
        return [Added("data_passes", fields | until, item), self.billed(line, price, f"{kind} pass", state)]


class BookPass(LineGoal):
    """More data."""

    phrases = (
        "The line {number:token} has run out of data, please book a data pass for it.",
        "Please book a data pass for {number:token}.",
    )
    needs = ("find_line", "book_pass")
    weight = 0.7

    def plan(self, slots: Slots) -> list[Row]:
        return steps({**slots, "data": "data"}, "find_line number", "book_pass line_id<0 kind=data")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.booked(self.line(slots, state), "data", state)


class Travel(LineGoal):
    """Ready for abroad."""

    phrases = (
        "The owner of {number:token} is going abroad: allow roaming on the line and book a roaming pass.",
        "Please make {number:token} ready for a trip, with roaming allowed and a roaming pass.",
    )
    needs = ("find_line", "set_roaming", "book_pass")

    def lines(self, state: State) -> list[Row]:
        return [x for x in super().lines(state) if not x["roaming"]]

    def plan(self, slots: Slots) -> list[Row]:
        allow = "set_roaming line_id<0 allowed=True"
        return steps({**slots, "kind": "roaming"}, "find_line number", allow, "book_pass line_id<0 kind")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line = self.line(slots, state)
        if line["roaming"]:
            raise LookupError("roaming is allowed")
        item = f"Is roaming allowed on {slots['number']}?"
        return [self.changed(line, item, roaming=True), *self.booked(line, "roaming", state)]


class ChangeTariff(LineGoal):
    """The cheapest tariff with enough data."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The line {number:token} needs at least {data:int} GB a month, so change it to the cheapest tariff with that.",
        "Please move {number:token} to the cheapest tariff with {data:int} GB or more, billing the rest of the month.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_line", "list_tariffs", "change_tariff")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "data": pick(rng, [x["data_gb"] for x in state["tariffs"].values()]) - 1}

    def plan(self, slots: Slots) -> list[Row]:
        find = "list_tariffs min_data_gb=data"
        return steps(slots, "find_line number", find, "change_tariff line_id<0 tariff_id<1")

    def tariff(self, line: Row, slots: Slots, state: State) -> Row:
        """The tariff a sentence asks for."""
        return self.enough(state, slots["data"])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line = self.line(slots, state)
        new, old = self.tariff(line, slots, state), state["tariffs"][line["tariff_id"]]
        amount = round((new["monthly_price"] - old["monthly_price"]) * self.rest(state), 2)
        if new["tariff_id"] == old["tariff_id"] or line["ends_on"]:
            raise LookupError("there is nothing to change")
        item = f"Has {slots['number']} the tariff {new['name']}?"
        reason = f"change from {old['name']} to {new['name']}"
        return [
            self.changed(line, item, tariff_id=new["tariff_id"]),
            self.billed(line, amount, reason, state),
        ]


class ChangeToBest(ChangeTariff):
    """The tariff that is cheapest for how a line is used."""

    phrases = (
        "Please look at what {number:token} uses and change it to the tariff that would cost it least.",
        "The owner of {number:token} wants to pay less; change the line to the tariff that is cheapest for its use.",
    )
    needs = ("find_line", "recommend_tariff", "change_tariff")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return LineGoal.draw(self, state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots, "find_line number", "recommend_tariff line_id<0", "change_tariff line_id<0 tariff_id<1"
        )

    def tariff(self, line: Row, slots: Slots, state: State) -> Row:
        today = date.fromisoformat(state["today"])
        month = round(line["data_used_gb"] / today.day * monthrange(today.year, today.month)[1], 1)

        def cost(x: Row) -> float:
            more = max(0, month - x["data_gb"]) * self.v.s.extra_gb
            return float(round(x["monthly_price"] + more, 2))

        # Of two that cost the same, either would be right.
        least = min(map(cost, state["tariffs"].values()))
        return dict(only([x for x in state["tariffs"].values() if cost(x) == least]))


class Block(LineGoal):
    """Nobody can use a line that is lost."""

    phrases = (
        'Please block {number:token} at once, the reason is "{why:text}".',
        'The line {number:token} has to be blocked with the reason "{why:text}".',
    )
    needs = ("find_line", "block_line")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "why": pick(rng, self.v.s.losses)}

    def plan(self, slots: Slots) -> list[Row]:
        return [
            *steps(slots, "find_line number"),
            *steps({"reason": slots["why"]}, "block_line line_id<0 reason"),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Is {slots['number']} blocked, with the reason?"
        return [self.changed(self.line(slots, state), item, status="blocked", note=slots["why"])]


BlockInOwnWords = in_own_words(
    Block,
    "why",
    "The phone with {number:token} is gone, so block the line and put down why in your own words.",
    "Please block {number:token}, which was stolen on a train; word the reason as you like.",
)


class ReplaceSim(LineGoal):
    """Another SIM card for a blocked line."""

    status = "blocked"
    phrases = (
        "The owner of the blocked line {number:token} gets a new SIM card, the first of the kind {kind:name} in stock.",
        "Please replace the SIM card of {number:token}, which is blocked, by the first {kind:name} card in stock.",
    )
    needs = ("find_line", "list_free_sims", "replace_sim")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "kind": pick(rng, KINDS)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_line number", "list_free_sims kind", "replace_sim line_id<0 sim_card_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line, card = self.line(slots, state), self.sim(state, slots["kind"])
        item = f"Is {slots['number']} active again, on SIM card {card['serial']}?"
        fields = {"sim_card_id": card["sim_card_id"], "status": "active", "note": ""}
        return [
            self.changed(line, item, **fields),
            self.dead(line, state),
            self.taken(card),
            self.billed(line, self.v.s.sim_fee, f"SIM card {card['serial']}", state),
        ]


class Suspend(LineGoal):
    """Dunning: the line that has owed longest."""

    phrases = (
        "Of the active lines with overdue invoices, suspend the one that has been overdue longest.",
        "Please suspend the active line whose oldest invoice is overdue by the most days.",
    )
    needs = ("list_overdue", "suspend_line")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {}

    def plan(self, slots: Slots) -> list[Row]:
        return steps({"status": "active"}, "list_overdue line_status=status", "suspend_line line_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = [
            (bill["due_on"], x["line_id"])
            for x in self.lines(state)
            for bill in [bill for bill in self.bills(x, state) if bill["amount"] > 0][:1]
        ]
        due = min(rows, default=("9", ""))[0]
        if due >= later(state["today"], -self.v.s.patience):
            raise LookupError("none has been overdue for long")
        key = only([key for day, key in rows if day == due])
        line = state["lines"][key]
        note = f"owes {self.owed(line, state):.2f}"
        item = f"Is {line['number']}, overdue longest, suspended?"
        fields = {"status": "suspended", "roaming": False, "note": note}
        return [Changed("lines", key, fields, item, (line["customer_id"], "overdue"))]


class Reconnect(LineGoal):
    """A suspended line has paid."""

    status = "suspended"
    free: ClassVar[bool] = False
    phrases: ClassVar[tuple[str, ...]] = (
        "The owner of the suspended line {number:token} has paid its open invoice; record that and reconnect the line.",
        "The open invoice of {number:token} is paid; enter it and reconnect the suspended line with the usual fee.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_line", "list_invoices", "pay_invoice", "reconnect_line")

    def plan(self, slots: Slots) -> list[Row]:
        bills = "list_invoices line_id<0 status"
        again = f"reconnect_line line_id<0 waive_fee={self.free}"
        return steps(
            {**slots, "status": "open"}, "find_line number", bills, "pay_invoice invoice_id<1", again
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line = self.line(slots, state)
        bill, number = only(self.bills(line, state)), slots["number"]
        paid = Changed(
            "invoices", bill["invoice_id"], {"status": "paid"}, f"Is the open invoice of {number} paid?"
        )
        again = self.changed(line, f"Is {number} active again?", status="active", note="")
        fee = [] if self.free else [self.billed(line, self.v.s.reconnect_fee, "reconnection", state)]
        return [paid, again, *fee]


class ReconnectFree(Reconnect):
    """The same, with the fee waived."""

    free = True
    phrases = (
        "Reconnect the suspended line {number:token}, its open invoice was paid an hour ago, and waive the fee.",
        "Please enter the open invoice of {number:token} as paid and reconnect the suspended line free of charge.",
    )


class PayOldest(LineGoal):
    """A payment."""

    phrases = (
        "The invoice of {number:token} that was due first has been paid, please enter that.",
        "Please mark the open invoice of {number:token} with the earliest due date as paid.",
    )
    needs = ("find_line", "list_invoices", "pay_invoice")

    def lines(self, state: State) -> list[Row]:
        return [x for x in super().lines(state) if self.bills(x, state)]

    def plan(self, slots: Slots) -> list[Row]:
        bills = "list_invoices line_id<0 status"
        return steps({**slots, "status": "open"}, "find_line number", bills, "pay_invoice invoice_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line = self.line(slots, state)
        bills = self.bills(line, state)
        if not bills or bills[0]["amount"] <= 0:
            raise LookupError("nothing is to be paid")
        item = f"Is the invoice of {slots['number']} that was due first paid?"
        also = (line["line_id"], "overdue")
        return [Changed("invoices", bills[0]["invoice_id"], {"status": "paid"}, item, also)]


class PayOut(PayOldest):
    """A credit goes back to whoever has it."""

    weight = 0.7
    phrases = (
        "The open credit of {number:token} has been paid out to the owner, please enter that.",
        "Please enter that the credit still open on {number:token} has been paid out.",
    )

    def lines(self, state: State) -> list[Row]:
        return [x for x in super().lines(state) if self.owed(x, state) < 0]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line = self.line(slots, state)
        credit = only(self.bills(line, state))
        if credit["amount"] >= 0:
            raise LookupError("it is no credit")
        item = f"Is the open credit of {slots['number']} paid out?"
        return [Changed("invoices", credit["invoice_id"], {"status": "paid"}, item, (line["line_id"],))]


class PortOut(LineGoal):
    """A number leaves."""

    phrases = (
        "The number {number:token} moves to {provider:name}, please port it out.",
        "Please port {number:token} out to {provider:name}, nothing is owed on it.",
    )
    needs = ("find_line", "port_out")

    def lines(self, state: State) -> list[Row]:
        return [x for x in super().lines(state) if self.owed(x, state) <= 0]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "provider": pick(rng, self.v.s.providers)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_line number", "port_out line_id<0 provider")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line = self.line(slots, state)
        if self.owed(line, state) > 0:
            raise LookupError("something is owed")
        fields = {
            "status": "ported",
            "note": f"to {slots['provider']}",
            "sim_card_id": None,
            "roaming": False,
        }
        item = f"Is {slots['number']} ported out to {slots['provider']}?"
        return [self.changed(line, item, **fields, ends_on=state["today"]), self.dead(line, state)]


class PortIn(LineGoal):
    """A number comes from elsewhere."""

    phrases = (
        "{name:name} brings the number {number:token} from another operator: port it in on the cheapest tariff with at "
        "least {data:int} GB and the first {kind:name} card in stock.",
        "Please port in {number:token} for {name:name}, with the first {kind:name} card in stock and the cheapest "
        "tariff that has {data:int} GB or more.",
    )
    needs = ("find_customers", "list_tariffs", "list_free_sims", "port_in")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = pick(rng, [x["name"] for x in state["customers"].values() if x["verified"]])
        data = pick(rng, [x["data_gb"] for x in state["tariffs"].values()]) - 1
        return {"name": name, "number": names.phone(rng), "data": data, "kind": pick(rng, KINDS)}

    def plan(self, slots: Slots) -> list[Row]:
        ids = "customer_id<0 tariff_id<1 sim_card_id<2"
        find = ("find_customers name", "list_tariffs min_data_gb=data", "list_free_sims kind")
        return steps(slots, *find, f"port_in {ids} number")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        person = only([x for x in state["customers"].values() if x["name"] == slots["name"]])
        card, tariff = self.sim(state, slots["kind"]), self.enough(state, slots["data"])
        rows, key = state["lines"].values(), {"customer_id": person["customer_id"]}
        taken = any(digits(x["number"]) == digits(slots["number"]) for x in rows)
        many = self.kept(person["customer_id"], state) >= self.v.s.most_lines
        if taken or many or not person["verified"]:
            raise LookupError("it cannot be ported in")
        ids = {**key, "tariff_id": tariff["tariff_id"], "sim_card_id": card["sim_card_id"]}
        blank = {"status": "active", "data_used_gb": 0.0, "roaming": False, "note": "", "ends_on": ""}
        item = f"Has {slots['number']} been ported in for {slots['name']} on {tariff['name']}?"
        price = tariff["monthly_price"] * self.rest(state)
        return [
            Added("lines", {"number": slots["number"], **ids, **blank}, item),
            self.taken(card),
            self.billed(None, round(price, 2), f"first month of {tariff['name']}", state),
        ]


class Transfer(LineGoal):
    """A line gets another owner."""

    phrases = (
        "The line {number:token} shall belong to {name:name} from now on, please transfer it.",
        "Please transfer {number:token} to {name:name}, who is a customer already.",
    )
    needs = ("find_line", "find_customers", "transfer_line")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "name": pick(rng, list(state["customers"].values()))["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots, "find_line number", "find_customers name", "transfer_line line_id<0 customer_id<1"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line = self.line(slots, state)
        person = only([x for x in state["customers"].values() if x["name"] == slots["name"]])
        key = person["customer_id"]
        many = self.kept(key, state) >= self.v.s.most_lines
        if key == line["customer_id"] or many or not person["verified"]:
            raise LookupError("it cannot be transferred")
        if self.owed(line, state) > 0:
            raise LookupError("something is owed")
        return [self.changed(line, f"Does {slots['number']} belong to {slots['name']}?", customer_id=key)]


class Cancel(LineGoal):
    """A line ends after its notice."""

    phrases = (
        "The owner of {number:token} gives notice, please cancel the line for the earliest day its tariff allows.",
        "Please cancel {number:token} with the notice of its tariff.",
    )
    needs = ("find_line", "cancel_line")
    weight = 0.7

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_line number", "cancel_line line_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        line = self.line(slots, state)
        ends = later(state["today"], state["tariffs"][line["tariff_id"]]["notice_days"])
        if line["ends_on"]:
            raise LookupError("it is cancelled")
        return [self.changed(line, f"Does {slots['number']} end on {ends}?", ends_on=ends)]


class Lines(Pattern):
    """Telephone lines on SIM cards and tariffs."""

    Settings = LinesSettings
    IMPORTS = ("from calendar import monthrange", "from datetime import date, timedelta")
    GOALS: ClassVar = (
        BookPass, Travel, ChangeTariff, ChangeToBest, Block, BlockInOwnWords, ReplaceSim, Suspend, Reconnect,
        ReconnectFree, PayOldest, PayOut, PortOut, PortIn, Transfer, Cancel,
    )  # fmt: skip

    def vocabulary(self, s: LinesSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        table = ", ".join(f'"{kind}": {terms}' for kind, terms in s.passes.items())
        one = {name: Noun(name) for name in ("customer", "tariff", "line", "invoice")}
        return {
            **one,
            "card": Noun("SIM card"),
            "passes": table,
            "pass_kinds": list(s.passes),
            "statuses": STATUSES,
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(v.customer, "Somebody who has lines, or may have some.", """
                customer_id: str = unique id, e.g. CUS-001
                name: str = full name
                email: str = email address
                verified: bool = whether the identity has been verified with a document
            """),
            form(v.tariff, "A tariff, as in the price list.", """
                tariff_id: str = unique id, e.g. TAR-001
                name: str = what it is called
                monthly_price: float = euros a month
                data_gb: int = data a month in GB
                roaming_gb: int = how much of that may be used abroad
                notice_days: int = days from a cancellation until the line ends
            """),
            form(v.line, "A telephone number in somebody's name.", """
                line_id: str = unique id, e.g. LIN-001
                number: str = telephone number, unique
                customer_id: str = who it belongs to
                tariff_id: str = its tariff
                sim_card_id: str | None = the SIM card it works on, None after it was ported out
                status: str = active, blocked, suspended, ported, or ended once its last day has passed
                data_used_gb: float = data used in this month
                roaming: bool = whether it may be used abroad
                note: str = why it is not active, otherwise empty
                ends_on: str = last day as YYYY-MM-DD once it is cancelled or ported out, otherwise empty
            """),
            form(v.card, "A SIM card, of plastic or built in.", """
                sim_card_id: str = unique id, e.g. SIM-001
                serial: str = serial number
                kind: str = plastic or eSIM
                status: str = stock, in_use or dead
            """),
            form(v.invoice, "What is charged for a line, or credited.", """
                invoice_id: str = unique id, e.g. INV-001
                line_id: str = the line
                amount: float = euros, below 0 for a credit
                issued_on: str = date, as YYYY-MM-DD
                due_on: str = date, as YYYY-MM-DD
                reason: str = what for
                status: str = open or paid; a credit is paid once it has been paid out
            """),
            form(Noun("data pass"), "More data for a while.", """
                data_pass_id: str = unique id, e.g. PAS-001
                line_id: str = the line
                kind: str = data or roaming
                gb: int = how much
                price: float = euros
                valid_until: str = last day, as YYYY-MM-DD
            """),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "No two lines have the same number.",
            """
            texts = [str(row.get("number")) for row in rows(after, "lines").values()]
            numbers = ["".join(sign for sign in text if sign.isdigit()) for text in texts]
            return len(numbers) == len(set(numbers))
            """,
        ),
        RuleText(
            "A SIM card is in use exactly when it belongs to one line.",
            """
            held = [row.get("sim_card_id") for row in rows(after, "lines").values() if row.get("sim_card_id")]
            used = [key for key, row in rows(after, "sim_cards").items() if row.get("status") == "in_use"]
            return sorted(map(str, held)) == sorted(used)
            """,
        ),
        RuleText(
            "Every data pass leaves an invoice of its price.",
            """
            bills = [(row.get("line_id"), row.get("amount")) for row in added("invoices")]
            return all((row.get("line_id"), row.get("price")) in bills for row in added("data_passes"))
            """,
        ),
        RuleText(
            "Only a customer whose identity is verified has the permission to take a line over.",
            """
            people = rows(after, "customers")
            fresh = [new for old, new in changed("lines", "customer_id")] + added("lines")
            return all((people.get(str(row.get("customer_id"))) or {}).get("verified") is True for row in fresh)
            """,
        ),
        RuleText(
            "A change of tariff is calculated by the days left in the month and billed.",
            """
            from calendar import monthrange
            from datetime import date
            tariffs, today = rows(after, "tariffs"), str(after.get("today"))
            bills = [(row.get("line_id"), row.get("amount")) for row in added("invoices")]
            for old, new in changed("lines", "tariff_id"):
                one, two = (tariffs.get(str(row.get("tariff_id"))) for row in (old, new))
                if not one or not two:
                    return False
                day = date.fromisoformat(today)
                days = monthrange(day.year, day.month)[1]
                apart = ((two.get("monthly_price") or 0) - (one.get("monthly_price") or 0)) * (days - day.day) / days
                if not any(key == new.get("line_id") and abs((amount or 0) - apart) < 0.006 for key, amount in bills):
                    return False
            return True
            """,
        ),
        RuleText(
            "A line that is ported out, or whose last day has passed, is not changed any more.",
            """
            lines, today = rows(after, "lines"), str(before.get("today"))
            return all(
                lines.get(key) == row
                for key, row in rows(before, "lines").items()
                if row.get("status") == "ported" or "" < str(row.get("ends_on") or "") < today
            )
            """,
        ),
        RuleText(
            "A line has a note that says why exactly when it is blocked, suspended or ported out.",
            """
            lines = rows(after, "lines").values()
            return all((row.get("status") not in ("active", "ended")) == bool(row.get("note")) for row in lines)
            """,
        ),
        RuleText(
            "A line is suspended no earlier than <<s.patience>> days after an invoice of it was due.",
            """
            from datetime import date, timedelta
            latest = (date.fromisoformat(str(after.get("today"))) - timedelta(days=<<s.patience>>)).isoformat()
            late = {
                row.get("line_id")
                for row in rows(before, "invoices").values()
                if row.get("status") == "open" and str(row.get("due_on")) < latest
            }
            fresh = [new for old, new in changed("lines", "status") if new.get("status") == "suspended"]
            return all(row.get("line_id") in late for row in fresh)
            """,
        ),
    )

    HELPERS = '''
    def _digits(self, number: str) -> str:
        """Return what counts of a telephone number."""
        return "".join(sign for sign in number if sign.isdigit())

    def _open_invoices(self, line_id: str) -> list[dict]:
        """Return the open invoices of a line, the one due first in front."""
        mine = [bill for bill in self.invoices.values() if bill["line_id"] == line_id and bill["status"] == "open"]
        return sorted(mine, key=lambda bill: (bill["due_on"], bill["invoice_id"]))

    def _status(self, line: dict) -> str:
        """Return the status of a line, which is ended once its last day has passed."""
        over = line["status"] != "ported" and "" < line["ends_on"] < self.today
        return "ended" if over else line["status"]

    def _owed(self, line_id: str) -> float:
        """Return what is open of a line, credits taken off."""
        return round(sum(bill["amount"] for bill in self._open_invoices(line_id)), 2)

    def _bill(self, line_id: str, amount: float, reason: str) -> dict:
        """Write an invoice that is due in 14 days; one of 0.00 needs no payment."""
        bill: Invoice = {
            "invoice_id": self._next_id(self.invoices, "INV"),
            "line_id": line_id,
            "amount": round(amount, 2),
            "issued_on": self.today,
            "due_on": (date.fromisoformat(self.today) + timedelta(days=14)).isoformat(),
            "reason": reason,
            "status": "open" if round(amount, 2) else "paid",
        }
        self.invoices[bill["invoice_id"]] = bill
        return dict(bill)

    def _overdue(self, line_id: str) -> list[dict]:
        """Return what of a line should have been paid before today, the oldest first."""
        return [bill for bill in self._open_invoices(line_id) if bill["due_on"] < self.today and bill["amount"] > 0]

    def _month(self) -> tuple[int, int]:
        """Return how many days of the month have passed, today included, and how many it has."""
        today = date.fromisoformat(self.today)
        return today.day, monthrange(today.year, today.month)[1]

    def _change_price(self, line: dict, tariff: dict) -> float:
        """Return the difference to another tariff for the rest of the month."""
        passed, days = self._month()
        difference = tariff["monthly_price"] - self.tariffs[line["tariff_id"]]["monthly_price"]
        return round(difference * (days - passed) / days, 2)

    def _may_have_more(self, customer_id: str) -> bool:
        """Tell whether a customer is verified and has fewer than <<s.most_lines>> lines that have not ended."""
        mine = [line for line in self.lines.values() if line["customer_id"] == customer_id]
        kept = sum(self._status(line) not in ("ported", "ended") for line in mine)
        return self.customers[customer_id]["verified"] and kept < <<s.most_lines>>
'''

    READS = (
        MACROS
        + '''
def find_customers(self, name: str) -> dict:
    """Find customers by name, with their lines and what they owe.

    Args:
        name: The name or a part of it.

    Returns:
        The customers by name, each with the `numbers` of the lines and what is `owed` on all of them.
    """
    refuse if not name.strip() :: The name to look for is empty.
    matches = []
    for customer_id, customer in self.customers.items():
        if name.strip().lower() in customer["name"].lower():
            mine = [line for line in self.lines.values() if line["customer_id"] == customer_id]
            owed = round(sum(self._owed(line["line_id"]) for line in mine), 2)
            matches.append({**customer, "numbers": [line["number"] for line in mine], "owed": owed})
    return {"success": True, "data": sorted(matches, key=lambda customer: customer["name"])}

def find_line(self, number: str) -> dict:
    """Find lines by telephone number; only the digits count.

    Args:
        number: The number or its last digits.

    Returns:
        The lines that end so, each with the names of owner and tariff and what is `owed`, below 0 for a credit.
    """
    digits = self._digits(number)
    refuse if not digits :: {number!r} has no digits.
    matches = []
    for line_id, line in self.lines.items():
        if self._digits(line["number"]).endswith(digits):
            about: dict = {"owner": self.customers[line["customer_id"]]["name"], "owed": self._owed(line_id)}
            about |= {"tariff": self.tariffs[line["tariff_id"]]["name"], "status": self._status(line)}
            matches.append({**line, **about})
    return {"success": True, "data": matches}

def list_lines(self, customer_id: str, status: str | None = None) -> dict:
    """List the lines of a customer, those that use most data first.

    Args:
        customer_id: Id of the customer.
        status: Only this status: <<statuses|join(", ")>>. Leave out for all.

    Returns:
        The lines, or an error for an unknown id.
    """
    refuse if customer_id not in self.customers :: There is no customer with the id {customer_id!r}.
<<one_of("status", "status", statuses)>>
    lines = [line for line in self.lines.values() if line["customer_id"] == customer_id]
    mine = [{**line, "status": self._status(line)} for line in lines]
    mine.sort(key=lambda line: (-line["data_used_gb"], line["line_id"]))
    return {"success": True, "data": [line for line in mine if status in (None, line["status"])]}

def list_tariffs(self, min_data_gb: int = 0, max_price: float | None = None) -> dict:
    """List tariffs, the cheapest first.

    Args:
        min_data_gb: Least data a month in GB.
        max_price: Highest price a month in euros. Leave out for any.

    Returns:
        The tariffs, each with its `price_per_gb`.
    """
    fit = [
        {**tariff, "price_per_gb": round(tariff["monthly_price"] / tariff["data_gb"], 2)}
        for tariff in self.tariffs.values()
        if tariff["data_gb"] >= min_data_gb and (max_price is None or tariff["monthly_price"] <= max_price)
    ]
    return {"success": True, "data": sorted(fit, key=lambda tariff: (tariff["monthly_price"], tariff["tariff_id"]))}

def check_allowance(self, line_id: str) -> dict:
    """Tell how much data a line has left in this month, passes included, and what it uses beyond it.

    Args:
        line_id: Id of the line.

    Returns:
        `included`, `from_passes`, `used`, `left` and `beyond` in GB, and the data `abroad`, or an error.
    """
<<known(line)>>
    tariff = self.tariffs[line["tariff_id"]]
    extra = {"data": 0, "roaming": 0}
    for booked in self.data_passes.values():
        if booked["line_id"] == line_id and booked["valid_until"] >= self.today:
            extra[booked["kind"]] += booked["gb"]
    left = round(tariff["data_gb"] + extra["data"] - line["data_used_gb"], 1)
    allowance = {
        "included": tariff["data_gb"],
        "from_passes": extra["data"],
        "used": line["data_used_gb"],
        "left": max(0.0, left),
        "beyond": max(0.0, -left),
        "abroad": tariff["roaming_gb"] + extra["roaming"] if line["roaming"] else 0,
    }
    return {"success": True, "data": allowance}

def recommend_tariff(self, line_id: str) -> dict:
    """Rank tariffs by what the month would cost if the line goes on using as much; a GB beyond costs <<s.extra_gb>>.

    Args:
        line_id: Id of the line.

    Returns:
        The tariffs with the `month_gb` expected and the `cost` of it, the cheapest first, or an error.
    """
<<known(line)>>
    passed, days = self._month()
    month_gb, ranking = round(line["data_used_gb"] / passed * days, 1), []
    for tariff_id, tariff in self.tariffs.items():
        beyond = max(0, month_gb - tariff["data_gb"])
        cost = round(tariff["monthly_price"] + beyond * <<s.extra_gb>>, 2)
        ranking.append({"tariff_id": tariff_id, "name": tariff["name"], "month_gb": month_gb, "cost": cost})
    return {"success": True, "data": sorted(ranking, key=lambda row: (row["cost"], row["tariff_id"]))}

def quote_tariff_change(self, line_id: str, tariff_id: str) -> dict:
    """Tell what a change of tariff would be billed for the rest of the month, and when the line could end.

    Args:
        line_id: Id of the line.
        tariff_id: Id of the other tariff.

    Returns:
        The `amount`, below 0 for a credit, and the `earliest_end` under the new notice; or an error.
    """
<<known(line)>>
<<known(tariff)>>
    end = date.fromisoformat(self.today) + timedelta(days=tariff["notice_days"])
    quote = {"amount": self._change_price(line, tariff), "earliest_end": end.isoformat()}
    return {"success": True, "data": quote}

def list_invoices(self, line_id: str, status: str | None = None) -> dict:
    """List the invoices of a line, the one due first in front.

    Args:
        line_id: Id of the line.
        status: Only open or paid ones: open, paid. Leave out for all.

    Returns:
        The invoices, each with the `days_overdue`, 0 when it is not or is a credit; or an error.
    """
    refuse if line_id not in self.lines :: There is no line with the id {line_id!r}.
    refuse if status not in (None, "open", "paid") :: An invoice is open or paid, not {status!r}.
    today, listed = date.fromisoformat(self.today), []
    for bill in self.invoices.values():
        if bill["line_id"] == line_id and status in (None, bill["status"]):
            late = bill["status"] == "open" and bill["amount"] > 0
            days = (today - date.fromisoformat(bill["due_on"])).days if late else 0
            listed.append({**bill, "days_overdue": max(0, days)})
    return {"success": True, "data": sorted(listed, key=lambda bill: (bill["due_on"], bill["invoice_id"]))}

def list_overdue(self, line_status: str | None = None) -> dict:
    """List lines with overdue invoices, the one that has been overdue longest first.

    Args:
        line_status: Only lines of this status: <<statuses|join(", ")>>. Leave out for all.

    Returns:
        The lines with number, what is `owed`, the `days` of the oldest invoice, and whether it `may_be_suspended`.
    """
<<one_of("line_status", "status", statuses)>>
    late = []
    for line_id, line in self.lines.items():
        due = [bill["due_on"] for bill in self._overdue(line_id)]
        status = self._status(line)
        if due and line_status in (None, status):
            days = (date.fromisoformat(self.today) - date.fromisoformat(due[0])).days
            row = {"line_id": line_id, "number": line["number"], "owed": self._owed(line_id), "days": days}
            late.append({**row, "may_be_suspended": status == "active" and days > <<s.patience>>})
    return {"success": True, "data": sorted(late, key=lambda row: (-row["days"], row["line_id"]))}

def list_free_sims(self, kind: str | None = None) -> dict:
    """List SIM cards in stock.

    Args:
        kind: Only this kind: plastic, eSIM. Leave out for both.

    Returns:
        The SIM cards by id.
    """
    refuse if kind not in (None, "plastic", "eSIM") :: A SIM card is plastic or eSIM, not {kind!r}.
    stock = [card for card in self.sim_cards.values() if card["status"] == "stock"]
    free = [dict(card) for card in stock if kind in (None, card["kind"])]
    return {"success": True, "data": sorted(free, key=lambda card: card["sim_card_id"])}
'''
    )

    WRITES = (
        MACROS
        + '''
<% macro active() %>
    refuse if self._status(line) != "active" :: {line['number']} is {self._status(line)}.
<%- endmacro %>
<% macro stocked() %>
    card = self.sim_cards.get(sim_card_id)
    refuse if card is None :: There is no SIM card with the id {sim_card_id!r}.
    refuse if card["status"] != "stock" :: SIM card {card['serial']} is not in stock.
<%- endmacro %>
def change_tariff(self, line_id: str, tariff_id: str) -> dict:
    """Change the tariff of a line from today, and bill or credit the difference for the rest of the month.

    Args:
        line_id: Id of the line, which must be active and not cancelled.
        tariff_id: Id of another tariff.

    Returns:
        The line and the invoice, which is paid when it is 0; or an error.
    """
<<known(line)>>
<<known(tariff)>>
<<active()>>
    refuse if line["ends_on"] :: {line['number']} ends on {line['ends_on']}.
    old = self.tariffs[line["tariff_id"]]
    refuse if old is tariff :: {line['number']} has the tariff {tariff['name']} already.
    amount = self._change_price(line, tariff)
    line["tariff_id"] = tariff_id
    bill = self._bill(line_id, amount, f"change from {old['name']} to {tariff['name']}")
    done {"line": dict(line), "invoice": bill} :: {line['number']} has the tariff {tariff['name']} now.

def book_pass(self, line_id: str, kind: str) -> dict:
    """Book a pass with more data for a line, which is billed.

    Args:
        line_id: Id of the line, which must be active; for a roaming pass roaming must be allowed on it.
        kind: The kind of pass: <<pass_kinds|join(", ")>>.

    Returns:
        The pass and the invoice, or an error.
    """
<<known(line)>>
<<active()>>
    terms = {<<passes>>}
    refuse if kind not in terms :: There is no pass {kind!r}.
    refuse if kind == "roaming" and not line["roaming"] :: Roaming is not allowed on {line['number']}.
    gb, price, days = terms[kind]
    booked: DataPass = {
        "data_pass_id": self._next_id(self.data_passes, "PAS"),
        "line_id": line_id,
        "kind": kind,
        "gb": gb,
        "price": price,
        "valid_until": (date.fromisoformat(self.today) + timedelta(days=days)).isoformat(),
    }
    self.data_passes[booked["data_pass_id"]] = booked
    bill = self._bill(line_id, price, f"{kind} pass")
    done {"pass": dict(booked), "invoice": bill} :: {line['number']} has {gb} GB more for {days} days.

def set_roaming(self, line_id: str, allowed: bool) -> dict:
    """Allow or forbid the use of a line abroad.

    Args:
        line_id: Id of the line, which must be active.
        allowed: True to allow it, False to forbid it.

    Returns:
        The changed line, or an error.
    """
<<known(line)>>
<<active()>>
    word = "allowed" if allowed else "forbidden"
    refuse if line["roaming"] == allowed :: Roaming is {word} already.
    line["roaming"] = allowed
    done dict(line) :: Roaming is {word} on {line['number']}.

def block_line(self, line_id: str, reason: str) -> dict:
    """Block a line that was lost or is misused, until it gets another SIM card.

    Args:
        line_id: Id of the line, which must be active.
        reason: Why, in a few words; kept as its note.

    Returns:
        The blocked line, or an error.
    """
<<known(line)>>
<<active()>>
    refuse if not reason.strip() :: A reason is required.
    line["status"] = "blocked"
    line["note"] = reason.strip()
    done dict(line) :: {line['number']} is blocked.

def replace_sim(self, line_id: str, sim_card_id: str) -> dict:
    """Put a line on another SIM card; the old one is dead, a blocked line is active again, and the card is billed.

    Args:
        line_id: Id of the line, which is active or blocked.
        sim_card_id: Id of a SIM card in stock.

    Returns:
        The line, both SIM cards and the invoice, or an error.
    """
<<known(line)>>
<<stocked()>>
    refuse if self._status(line) not in ("active", "blocked") :: {line['number']} is {self._status(line)}.
    old = self.sim_cards[line["sim_card_id"]]
    old["status"] = "dead"
    card["status"] = "in_use"
    line.update(sim_card_id=sim_card_id, status="active", note="")
    bill = self._bill(line_id, <<s.sim_fee>>, f"SIM card {card['serial']}")
    data = {"line": dict(line), "old_card": dict(old), "new_card": dict(card), "invoice": bill}
    done data :: {line['number']} works on SIM card {card['serial']}.

def suspend_line(self, line_id: str) -> dict:
    """Suspend a line for debt, which also ends roaming.

    Args:
        line_id: Id of the line, which must be active, with an invoice overdue for more than <<s.patience>> days.

    Returns:
        The suspended line, or an error.
    """
<<known(line)>>
<<active()>>
    overdue = self._overdue(line_id)
    late = (date.fromisoformat(self.today) - date.fromisoformat(overdue[0]["due_on"])).days if overdue else 0
    refuse if late <= <<s.patience>> :: Nothing of {line['number']} is overdue for more than <<s.patience>> days.
    line.update(status="suspended", roaming=False, note=f"owes {self._owed(line_id):.2f}")
    done dict(line) :: {line['number']} is suspended, overdue for {late} days.

def pay_invoice(self, invoice_id: str) -> dict:
    """Record that an invoice has been paid, or that a credit has been paid out.

    Args:
        invoice_id: Id of the invoice, which must be open; a credit once nothing else of its line is to be paid.

    Returns:
        The paid invoice, or an error.
    """
<<known(invoice)>>
    refuse if invoice["status"] != "open" :: Invoice {invoice_id} is paid already.
    if invoice["amount"] < 0:
        for bill in self._open_invoices(invoice["line_id"]):
            refuse if bill["amount"] > 0 :: Invoice {bill['invoice_id']} has to be paid before a credit is paid out.
    invoice["status"] = "paid"
    done dict(invoice) :: {invoice['amount']:.2f} for {self.lines[invoice['line_id']]['number']} is settled.

def reconnect_line(self, line_id: str, waive_fee: bool = False) -> dict:
    """Reconnect a suspended line on which nothing is overdue any more; that costs <<s.reconnect_fee>>.

    Args:
        line_id: Id of the line, which must be suspended.
        waive_fee: True to write no invoice for it.

    Returns:
        The line and the invoice, None when it is waived; or an error.
    """
<<known(line)>>
    refuse if self._status(line) != "suspended" :: {line['number']} is {self._status(line)}.
    overdue = self._overdue(line_id)
    refuse if overdue :: Still overdue: {', '.join(bill['invoice_id'] for bill in overdue)}.
    line["status"] = "active"
    line["note"] = ""
    bill = None if waive_fee else self._bill(line_id, <<s.reconnect_fee>>, "reconnection")
    done {"line": dict(line), "invoice": bill} :: {line['number']} is connected again.

def cancel_line(self, line_id: str) -> dict:
    """Cancel a line for the earliest day that the notice of its tariff allows.

    Args:
        line_id: Id of the line, which must be active and not cancelled.

    Returns:
        The line with its last day, or an error.
    """
<<known(line)>>
<<active()>>
    refuse if line["ends_on"] :: {line['number']} ends on {line['ends_on']} already.
    notice = timedelta(days=self.tariffs[line["tariff_id"]]["notice_days"])
    line["ends_on"] = (date.fromisoformat(self.today) + notice).isoformat()
    done dict(line) :: {line['number']} ends on {line['ends_on']}.

def port_out(self, line_id: str, provider: str) -> dict:
    """Give a number to another operator today; its SIM card is dead from then on.

    Args:
        line_id: Id of the line, which must be active, with nothing owed.
        provider: The operator it goes to.

    Returns:
        The line and its dead SIM card, or an error.
    """
<<known(line)>>
<<active()>>
    refuse if not provider.strip() :: The operator is missing.
    refuse if self._owed(line_id) > 0 :: {self._owed(line_id):.2f} are owed on {line['number']}.
    card = self.sim_cards[line["sim_card_id"]]
    card["status"] = "dead"
    line.update(status="ported", note=f"to {provider.strip()}", sim_card_id=None, roaming=False, ends_on=self.today)
    done {"line": dict(line), "card": dict(card)} :: {line['number']} has been ported out to {provider.strip()}.

def port_in(self, customer_id: str, tariff_id: str, sim_card_id: str, number: str) -> dict:
    """Take over a number from another operator as a new line, and bill the rest of the month.

    Args:
        customer_id: Id of a verified customer with fewer than <<s.most_lines>> lines.
        tariff_id: Id of the tariff.
        sim_card_id: Id of a SIM card in stock.
        number: The telephone number, with at least 7 digits; no line has the same digits.

    Returns:
        The new line, its SIM card and the invoice, which is paid when it is 0; or an error.
    """
<<known(customer)>>
<<known(tariff)>>
<<stocked()>>
    digits = self._digits(number)
    refuse if len(digits) < 7 :: {number!r} is no telephone number.
    if any(self._digits(line["number"]) == digits for line in self.lines.values()):
        refuse :: {number} already belongs to a line.
    refuse if not self._may_have_more(customer_id) :: {customer['name']} is not verified or has too many lines.
    passed, days = self._month()
    line: Line = {
        "line_id": self._next_id(self.lines, "LIN"),
        "number": number.strip(),
        "customer_id": customer_id,
        "tariff_id": tariff_id,
        "sim_card_id": sim_card_id,
        "status": "active",
        "data_used_gb": 0.0,
        "roaming": False,
        "note": "",
        "ends_on": "",
    }
    self.lines[line["line_id"]] = line
    card["status"] = "in_use"
    price = tariff["monthly_price"] * (days - passed) / days
    bill = self._bill(line["line_id"], price, f"first month of {tariff['name']}")
    done {"line": dict(line), "card": dict(card), "invoice": bill} :: {number.strip()} works here now.

def transfer_line(self, line_id: str, customer_id: str) -> dict:
    """Give a line to another customer.

    Args:
        line_id: Id of the line, which must be active, with nothing owed.
        customer_id: Id of another customer, verified and with fewer than <<s.most_lines>> lines.

    Returns:
        The line with its new owner, or an error.
    """
<<known(line)>>
<<known(customer)>>
<<active()>>
    refuse if line["customer_id"] == customer_id :: It belongs to {customer['name']} already.
    refuse if self._owed(line_id) > 0 :: {self._owed(line_id):.2f} are owed on {line['number']}.
    refuse if not self._may_have_more(customer_id) :: {customer['name']} is not verified or has too many lines.
    line["customer_id"] = customer_id
    done dict(line) :: {line['number']} belongs to {customer['name']} now.
'''
    )

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        for n, (name, (price, data, abroad, notice)) in enumerate(s.tariffs.items()):
            row = {"tariff_id": key_of("TAR", n + 1), "name": name, "monthly_price": price, "data_gb": data}
            state["tariffs"][row["tariff_id"]] = {**row, "roaming_gb": abroad, "notice_days": notice}
        for n, name in enumerate(names.people(rng, 9)):
            row = {"customer_id": key_of("CUS", n + 1), "name": name, "email": names.email(name)}
            state["customers"][row["customer_id"]] = {**row, "verified": n not in (2, 6)}
        people, tariffs = shuffled(rng, list(state["customers"])), list(state["tariffs"].values())
        plan = ["active"] * 7 + ["blocked", "blocked", "suspended", "suspended", "ported"]
        for n, status in enumerate(shuffled(rng, plan)):
            key, tariff, active = key_of("LIN", n + 1), pick(rng, tariffs), status == "active"
            card = None if status == "ported" else self._card(state, rng, "in_use")
            leaving, over = "", False
            if active and n % 6 == 0:
                days, over = int(rng.integers(3, 25)), n == 6  # one that ends, and one that ended last month
                leaving = later(today, -10 - days if over else days)
            state["lines"][key] = {
                "line_id": key,
                "number": names.phone(rng),
                "customer_id": people[n % len(people)],
                "tariff_id": tariff["tariff_id"],
                "sim_card_id": card,
                "status": "ended" if over else status,
                "data_used_gb": round(
                    float(rng.uniform(0.2, 1.6)) * (0 if over else tariff["data_gb"]) / 3, 1
                ),
                "roaming": bool(active and rng.random() < 0.3 and not over),
                "note": self._note(s, rng, status),
                "ends_on": later(today, -9) if status == "ported" else leaving,
            }
            self._invoices(state, rng, state["lines"][key], tariff["monthly_price"])
        for status in ["stock"] * 6 + ["dead"] * 2:
            self._card(state, rng, status)
        for kind in (kind for kind in s.passes for _ in range(2)):
            lines = [x for x in state["lines"].values() if x["status"] == "active"]
            line = pick(rng, [x for x in lines if not ended(x, state)])
            row = {"data_pass_id": key_of("PAS", len(state["data_passes"]) + 1), "line_id": line["line_id"]}
            gb, price, days = s.passes[kind]
            until = later(today, int(rng.integers(-4, days)))
            line["roaming"] = line["roaming"] or kind == "roaming"
            self._billed(state, line, price, f"{kind} pass", later(until, -days), "paid")
            state["data_passes"][row["data_pass_id"]] = {
                **row,
                "kind": kind,
                "gb": gb,
                "price": price,
                "valid_until": until,
            }
        self._credit(state)

    def _credit(self, state: State) -> None:
        """An open credit for the first active line of which nothing else is open."""
        owing = {x["line_id"] for x in state["invoices"].values() if x["status"] == "open"}
        for line in state["lines"].values():
            if line["status"] == "active" and not line["ends_on"] and line["line_id"] not in owing:
                self._billed(state, line, -6.5, "credit for an outage", later(state["today"], -6), "open")
                return

    def _note(self, s: LinesSettings, rng: Rng, status: str) -> str:
        notes = {"active": "", "blocked": pick(rng, s.losses), "ported": f"to {pick(rng, s.providers)}"}
        return notes.get(status, "did not pay")

    def _card(self, state: State, rng: Rng, status: str) -> str:
        """Another SIM card."""
        key, kind = key_of("SIM", len(state["sim_cards"]) + 1), KINDS[len(state["sim_cards"]) % 2]
        serial = f"8949-{rng.integers(1000, 10000)}-{rng.integers(1000, 10000)}"
        state["sim_cards"][key] = {"sim_card_id": key, "serial": serial, "kind": kind, "status": status}
        return key

    def _billed(self, state: State, line: Row, amount: float, reason: str, day: str, status: str) -> None:
        """An invoice of that day."""
        key = key_of("INV", len(state["invoices"]) + 1)
        row = {"invoice_id": key, "line_id": line["line_id"], "amount": amount, "issued_on": day}
        state["invoices"][key] = {**row, "due_on": later(day, 14), "reason": reason, "status": status}

    def _invoices(self, state: State, rng: Rng, line: Row, price: float) -> None:
        """The last bill of a line, and what is still open of it."""
        today, chance = state["today"], rng.random()
        days = [-39] if line["status"] == "ported" or chance < 0.4 else [-39, int(rng.integers(-24, 10))]
        for ago in [-39, -int(rng.integers(16, 34))] if line["status"] == "suspended" else days:
            key, due = key_of("INV", len(state["invoices"]) + 1), later(today, ago)
            given_back = key == "INV-001"  # so that a credit was paid out before
            reason = "credit for bad reception" if given_back else "monthly bill"
            state["invoices"][key] = {
                "invoice_id": key,
                "line_id": line["line_id"],
                "amount": -4.5 if given_back else price,
                "issued_on": later(due, -14),
                "due_on": due,
                "reason": reason,
                "status": "paid" if ago == -39 else "open",
            }


PATTERN = Lines
