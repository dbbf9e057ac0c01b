"""Loans: things lent out until a due day, renewed, returned, and kept for whoever waits for them.

A domain chooses whether its things are single pieces or come in copies, whether one loan may take several of them,
and whether there are a queue, fees for late return, a condition that forbids lending, or a limit on the value lent.
"""

from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any, ClassVar

from pydantic import model_validator

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
    attribute,
    call,
    found,
    key_of,
    named,
    only,
    own,
    pick,
    shuffled,
)
from envscaler.model.builtin.phrase import Slots


class Kind(Part):
    """The attribute that sorts the things and decides how long they are lent."""

    name: str
    """`medium`"""
    about: str
    """What it means."""
    choices: dict[str, int]
    """Kind → days of a loan."""


class Maker(Part):
    """Whom or what a thing comes from."""

    name: str
    """`author`"""
    about: str
    """What it means."""


class Stock(Part):
    """How many of a thing are at hand, where they are not single pieces."""

    name: str
    """`copies_on_shelf`"""
    about: str
    """What it means."""
    range: tuple[int, int] = (0, 3)
    """Least and greatest number in a new state."""


class Quantity(Part):
    """How many one loan may take, where it is not just one."""

    name: str
    """`packets`"""
    back: str
    """`packets_returned`"""
    most: int
    """Most that one loan takes."""


class Condition(Part):
    """The state a thing is in."""

    name: str
    """`condition`"""
    about: str
    """What it means."""
    choices: list[str]
    """From the best to the worst; the last one forbids lending."""


class Value(Part):
    """What a thing is worth, where the value that one borrower may have is limited."""

    name: str
    """`insured_value`"""
    about: str
    """What it means."""
    range: tuple[int, int]
    """Least and greatest value, in hundreds."""
    most: int
    """Most that one borrower may have in all."""
    currency: str = "EUR"
    """Unit of money."""


class Fee(Part):
    """What a late return costs."""

    daily: float
    """For one day."""
    most: float
    """For one loan."""
    block: float
    """A borrower who owes this much or more is lent nothing."""
    currency: str = "EUR"
    """Unit of money."""


class LoanSettings(Settings):
    """A lending world's words and numbers."""

    item: str
    """`book`"""
    item_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of the things' ids."""
    person: str = "person"
    """Who borrows: a registry's noun."""
    label: str = "title"
    """Name of the attribute a thing is called by."""
    maker: Maker
    """Whom or what it comes from."""
    kind: Kind
    """What sorts the things."""
    catalogue: dict[str, list[str]]
    """Kind → `label / maker` of the things there are."""
    arrivals: list[str]
    """`kind / label / maker` of things that may be added."""
    loan: str = "loan"
    """`loan`"""
    loan_prefix: str = "LN"
    """Prefix of the loans' ids."""
    lend: str = "lend"
    """Verb for lending."""
    max_open: int = 4
    """Most open loans a borrower may have."""
    max_renewals: int = 2
    """How often a loan may be renewed."""
    stock: Stock | None = None
    """Number at hand; None for single pieces."""
    quantity: Quantity | None = None
    """Number one loan takes; None for one."""
    hold: str | None = None
    """Word for waiting in the queue, e.g. `hold`; None where there is no queue."""
    hold_prefix: str = "HD"
    """Prefix of its ids."""
    pickup_days: int = 7
    """Days for which a thing is kept for the first in the queue."""
    condition: Condition | None = None
    """The state a thing is in."""
    value: Value | None = None
    """What a thing is worth."""
    fee: Fee | None = None
    """What a late return costs."""

    @model_validator(mode="after")
    def _fits(self) -> "LoanSettings":
        if set(self.catalogue) != set(self.kind.choices):
            raise ValueError("expected a catalogue for every kind")
        if self.quantity and (self.stock is None or self.hold):
            raise ValueError("expected stock and no queue where a loan takes a quantity")
        return self


def later(day: str, days: int) -> str:
    """The date so many days later."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def days_between(start: str, end: str) -> int:
    """Days from one date to another."""
    return (date.fromisoformat(end) - date.fromisoformat(start)).days


class LoanGoal(Goal):
    """What goals about loans look up and ask of a state."""

    @property
    def person_id(self) -> str:
        """Name of the borrower's key."""
        return f"{self.v.p.id}_id"

    @property
    def item_id(self) -> str:
        """Name of the thing's key."""
        return f"{self.v.i.id}_id"

    @property
    def loan_id(self) -> str:
        """Name of the loan's key."""
        return f"{self.v.l.id}_id"

    def item(self, slots: Slots, state: State) -> dict[str, Any]:
        """The thing a sentence names."""
        label = self.v.s.label
        return only([row for row in state[self.v.i.ids].values() if row[label] == slots["title"]])

    def loans(self, state: State, **fields: Any) -> list[dict[str, Any]]:
        """The loans with these values."""
        rows = state[self.v.l.ids].values()
        return [row for row in rows if all(row[name] == value for name, value in fields.items())]

    def waiting(self, state: State, item: str) -> list[dict[str, Any]]:
        """Who waits for a thing, the first in the queue first."""
        if self.v.h is None:
            return []
        rows = [h for h in state[self.v.h.ids].values() if h[self.item_id] == item]
        rows = [h for h in rows if h["status"] == "waiting"]
        return sorted(rows, key=lambda h: (h["placed_on"], h[f"{self.v.h.id}_id"]))

    def free(self, state: State, item: dict[str, Any]) -> int:
        """How many of a thing can be lent to anybody."""
        key = item[self.item_id]
        if self.v.s.stock:
            return int(item[self.v.s.stock.name])
        holds = state[self.v.h.ids].values() if self.v.h else ()
        kept = any(h[self.item_id] == key and h["status"] == "ready" for h in holds)
        return int(not kept and not self.loans(state, status="open", **{self.item_id: key}))

    def refusal(self, state: State, person: dict[str, Any], item: dict[str, Any]) -> str:
        """Why a thing cannot be lent to somebody, apart from its being away; empty when it can."""
        s = self.v.s
        mine = self.loans(state, **{self.person_id: person[self.person_id]})
        open_ = [row for row in mine if row["status"] == "open"]
        things = state[self.v.i.ids]
        if person["status"] != "active" or len(open_) >= s.max_open:
            return "the borrower may not have more"
        if any(row["due_on"] < state["today"] for row in open_):
            return "something is overdue"
        if any(row[self.item_id] == item[self.item_id] for row in open_):
            return "the borrower has it already"
        if s.fee and sum(row["fee_due"] for row in mine) >= s.fee.block:
            return "fees are due"
        if s.condition and item[s.condition.name] == s.condition.choices[-1]:
            return "it is not fit for lending"
        lent = sum(things[row[self.item_id]][s.value.name] for row in open_) if s.value else 0
        return "too much value" if s.value and lent + item[s.value.name] > s.value.most else ""

    def new_loan(self, state: State, person: str, item: dict[str, Any], many: int = 1) -> dict[str, Any]:
        """The fields of a loan made today."""
        s = self.v.s
        return {
            self.person_id: person,
            self.item_id: item[self.item_id],
            **({s.quantity.name: many, s.quantity.back: 0} if s.quantity else {}),
            **({"fee_due": 0.0} if s.fee else {}),
            "lent_on": state["today"],
            "due_on": later(state["today"], s.kind.choices[item[s.kind.name]]),
            "renewals": 0,
            "returned_on": None,
            "status": "open",
        }

    def find_both(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find borrower and thing."""
        v = self.v
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.i.ids}", text=slots["title"]),
        ]

    def both(self) -> dict[str, Any]:
        """Arguments with the ids out of their replies."""
        return {self.person_id: found(0, 0, self.person_id), self.item_id: found(1, 0, self.item_id)}

    def single(self, state: State, rows: list[dict[str, Any]]) -> list[Slots]:
        """Name and title of rows that their borrower and thing tell."""
        people, things = state[self.v.p.ids], state[self.v.i.ids]
        pairs = [(row[self.person_id], row[self.item_id]) for row in rows]
        return [
            {"name": people[p]["name"], "title": things[i][self.v.s.label]}
            for p, i in pairs
            if pairs.count((p, i)) == 1
        ]


class Lend(LoanGoal):
    """Lend a thing that is there."""

    phrases = (
        'The <<p>> {name:name} would like to borrow<<said_many>> the <<i>> "{title:text}", please '
        '<<s.lend>> <<"them" if s.quantity else "it">>.',
        'Please <<s.lend>><<said_many>> the <<i>> "{title:text}" to <<p>> {name:name}.',
        '{name:name}, one of our <<p.many>>, is here for<<said_many>> the <<i>> "{title:text}", which should be put '
        "down as a new <<l>>.",
    )
    needs = ("find_<<p.ids>>", "find_<<i.ids>>", "<<s.lend>>_<<i.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        least = 2 if v.s.quantity else 1
        items = [row for row in state[v.i.ids].values() if self.free(state, row) >= least]
        for person in shuffled(rng, list(state[v.p.ids].values())):
            able = [row for row in items if not self.refusal(state, person, row)]
            if able:
                item = pick(rng, able)
                most = min(self.free(state, item), v.s.quantity.most) if v.s.quantity else 1
                many = {"many": int(rng.integers(least, most + 1))} if v.s.quantity else {}
                return {"name": person["name"], "title": item[v.s.label], **many}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        many = {v.s.quantity.name: slots["many"]} if v.s.quantity else {}
        return [*self.find_both(slots), call(f"{v.s.lend}_{v.i.id}", **self.both(), **many)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        person, item, many = named(state, v.p, slots["name"]), self.item(slots, state), slots.get("many", 1)
        refusal = self.refusal(state, person, item)
        # Kept for this borrower: that copy is collected, and the shelf stays as it is.
        kept = {self.person_id: person[self.person_id], self.item_id: item[self.item_id], "status": "ready"}
        if v.h and any(kept.items() <= h.items() for h in state[v.h.ids].values()):
            refusal = f"{slots['title']} is kept for {slots['name']}"
        if refusal or self.free(state, item) < many:
            raise LookupError(refusal or f"{slots['title']} is away")
        item_ = f"Has {v.l.a} of '{slots['title']}' been made for {slots['name']} today?"
        made = Added(v.l.ids, self.new_loan(state, person[self.person_id], item, many), item_)
        if not v.s.stock:
            return [made]
        left = {v.s.stock.name: item[v.s.stock.name] - many}
        question = f"Has {v.stockwords} of '{slots['title']}' gone down by {many}?"
        return [made, Changed(v.i.ids, item[self.item_id], left, question)]


class Return(LoanGoal):
    """Take a thing back."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<p>> {name:name} has brought back<<said_back>> the <<i>> "{title:text}".',
        'Please take back<<said_back>> the <<i>> "{title:text}" from <<p>> {name:name} and close that <<l>>.',
        '{name:name} returned<<said_back>> the <<i>> "{title:text}" this morning, so the <<l>> has to be closed.',
    )
    needs: ClassVar[tuple[str, ...]] = (
        "find_<<p.ids>>",
        "find_<<i.ids>>",
        "list_<<l.ids>>",
        "return_<<l.id>>",
    )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.single(state, self.loans(state, status="open"))
        if not rows:
            return None
        slots = pick(rng, rows)
        if not self.v.s.quantity:
            return slots
        taken = self.loan(slots, state)[self.v.s.quantity.name]
        return {**slots, "many": max(2, taken + int(rng.integers(0, 3)))}

    def loan(self, slots: Slots, state: State) -> dict[str, Any]:
        """The loan a sentence is about."""
        keys = {
            self.person_id: named(state, self.v.p, slots["name"])[self.person_id],
            self.item_id: self.item(slots, state)[self.item_id],
        }
        return only(self.loans(state, status="open", **keys))

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find the open loan."""
        return [*self.find_both(slots), call(f"list_{self.v.l.ids}", **self.both(), status="open")]

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        many = {self.v.s.quantity.back: slots["many"]} if self.v.s.quantity else {}
        loan = {self.loan_id: found(2, 0, self.loan_id)}
        return [*self.look_up(slots), call(f"return_{self.v.l.id}", **loan, **many)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        loan = self.loan(slots, state)
        return self.returned(
            loan, state, slots.get("many", 1), f"Is the {self.v.l} of {slots['name']} closed?"
        )

    def returned(self, loan: dict[str, Any], state: State, many: int, question: str) -> list[Outcome]:
        """What the return of a loan changes: the loan, and the shelf or the queue."""
        v, s = self.v, self.v.s
        item = state[v.i.ids][loan[self.item_id]]
        fields: dict[str, Any] = {"status": "returned", "returned_on": state["today"]}
        if s.quantity:
            if many < loan[s.quantity.name]:
                raise LookupError("too few come back")
            fields[s.quantity.back] = many
        if s.fee:
            days = max(0, days_between(loan["due_on"], state["today"]))
            fields["fee_due"] = round(min(days * s.fee.daily, s.fee.most), 2)
        also = (loan[self.person_id], loan[self.item_id])
        outcomes: list[Outcome] = [Changed(v.l.ids, loan[self.loan_id], fields, question, also)]
        queue = self.waiting(state, loan[self.item_id])
        if queue:
            first = queue[0]
            kept = {"status": "ready", "pickup_by": later(state["today"], s.pickup_days)}
            ask = f"Is '{item[s.label]}' now kept for the first {v.p} who waited for it?"
            key = first[f"{v.h.id}_id"]
            outcomes.append(Changed(v.h.ids, key, kept, ask, (first[self.person_id],)))
        elif s.stock:
            more = {s.stock.name: item[s.stock.name] + many}
            ask = f"Has {v.stockwords} of '{item[s.label]}' gone up by {many}?"
            outcomes.append(Changed(v.i.ids, item[self.item_id], more, ask))
        return outcomes


class ReturnMostOverdue(Return):
    """Take back what has been overdue longest."""

    phrases = (
        "The <<l>> that has been overdue longest has just come in, please close it.",
        "Please find the <<l>> that is the longest overdue and record its return.",
    )
    needs = ("list_overdue_<<l.ids>>", "return_<<l.id>>")
    when = "s.quantity is none"

    def loan(self, slots: Slots, state: State) -> dict[str, Any]:
        rows = [row for row in self.loans(state, status="open") if row["due_on"] < state["today"]]
        first = min((row["due_on"] for row in rows), default="")
        return only([row for row in rows if row["due_on"] == first])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        loan = {self.loan_id: found(0, 0, self.loan_id)}
        return [call(f"list_overdue_{self.v.l.ids}"), call(f"return_{self.v.l.id}", **loan)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.returned(self.loan(slots, state), state, 1, f"Is the longest overdue {self.v.l} closed?")


class Renew(Return):
    """Renew a loan of a thing nobody waits for."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<p>> {name:name} has not finished with the <<i>> "{title:text}" and asks for the <<l>> to be renewed.',
        'Please renew the <<l>> of the <<i>> "{title:text}" for <<p>> {name:name}.',
        'Could you extend the <<l>> of "{title:text}" that <<p>> {name:name} has at the moment?',
    )
    needs: ClassVar[tuple[str, ...]] = (
        "find_<<p.ids>>",
        "find_<<i.ids>>",
        "list_<<l.ids>>",
        "renew_<<l.id>>",
    )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in self.loans(state, status="open") if self.renewable(row, state)]
        told = self.single(state, rows)
        return pick(rng, told) if told else None

    def renewable(self, loan: dict[str, Any], state: State) -> bool:
        """Whether the rules let a loan be renewed."""
        person = state[self.v.p.ids][loan[self.person_id]]
        return (
            loan["due_on"] >= state["today"]
            and loan["renewals"] < self.v.s.max_renewals
            and person["status"] == "active"
            and not self.waiting(state, loan[self.item_id])
        )

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        loan = {self.loan_id: found(2, 0, self.loan_id)}
        return [*self.look_up(slots), call(f"renew_{self.v.l.id}", **loan)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        loan = self.loan(slots, state)
        return self.renewed(loan, state, f"Has the {self.v.l} of '{slots['title']}' been renewed?")

    def renewed(self, loan: dict[str, Any], state: State, question: str) -> list[Outcome]:
        """What the renewal of a loan changes."""
        if not self.renewable(loan, state):
            raise LookupError("the loan cannot be renewed")
        s = self.v.s
        days = s.kind.choices[state[self.v.i.ids][loan[self.item_id]][s.kind.name]]
        fields = {"due_on": later(loan["due_on"], days), "renewals": loan["renewals"] + 1}
        also = (loan[self.person_id], loan[self.item_id])
        return [Changed(self.v.l.ids, loan[self.loan_id], fields, question, also)]


class RenewNextDue(Renew):
    """Renew whichever loan of somebody is due first."""

    phrases = (
        "Of the <<i.many>> that <<p>> {name:name} has, please renew the one that is due back first.",
        "Renew the <<l>> of <<p>> {name:name} that falls due next, whichever it is.",
    )
    needs = ("find_<<p.ids>>", "list_<<l.ids>>", "renew_<<l.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.loans(state, status="open")
        holders = [row[self.person_id] for row in rows]
        several = [key for key in dict.fromkeys(holders) if holders.count(key) > 1]
        return {"name": state[self.v.p.ids][pick(rng, several)]["name"]} if several else None

    def loan(self, slots: Slots, state: State) -> dict[str, Any]:
        key = named(state, self.v.p, slots["name"])[self.person_id]
        rows = self.loans(state, status="open", **{self.person_id: key})
        first = min((row["due_on"] for row in rows), default="")
        return only([row for row in rows if row["due_on"] == first])

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        person = {self.person_id: found(0, 0, self.person_id)}
        return [
            call(f"find_{self.v.p.ids}", name=slots["name"]),
            call(f"list_{self.v.l.ids}", **person, status="open"),
            call(f"renew_{self.v.l.id}", **{self.loan_id: found(1, 0, self.loan_id)}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        question = f"Has the {self.v.l} of {slots['name']} that is due first been renewed?"
        return self.renewed(self.loan(slots, state), state, question)


class PlaceHold(LoanGoal):
    """Join the queue for a thing that is away."""

    phrases = (
        'The <<p>> {name:name} wants the <<i>> "{title:text}", which is not available, so please place '
        "<<h.a>> on it.",
        'Please put <<p>> {name:name} on the waiting list for the <<i>> "{title:text}" with a new <<h>>.',
        'As the <<i>> "{title:text}" is not available right now, place <<h.a>> on it for <<p>> {name:name}.',
    )
    needs = ("find_<<p.ids>>", "find_<<i.ids>>", "place_<<h.id>>")
    when = "h is not none"

    def fits(self, state: State, person: dict[str, Any], item: dict[str, Any]) -> bool:
        """Whether somebody may join the queue for a thing."""
        keys = {self.person_id: person[self.person_id], self.item_id: item[self.item_id]}
        queued = [
            h
            for h in state[self.v.h.ids].values()
            if all(h[name] == key for name, key in keys.items()) and h["status"] in ("waiting", "ready")
        ]
        had = self.loans(state, status="open", **keys)
        return person["status"] == "active" and not queued and not had and not self.free(state, item)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        items = [row for row in state[self.v.i.ids].values() if not self.free(state, row)]
        if not items:
            return None
        person, item = pick(rng, list(state[self.v.p.ids].values())), pick(rng, items)
        return {"name": person["name"], "title": item[self.v.s.label]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.find_both(slots), call(f"place_{self.v.h.id}", **self.both())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        person, item = named(state, self.v.p, slots["name"]), self.item(slots, state)
        if not self.fits(state, person, item):
            raise LookupError(f"{slots['name']} cannot wait for {slots['title']}")
        fields = {
            self.person_id: person[self.person_id],
            self.item_id: item[self.item_id],
            "placed_on": state["today"],
            "pickup_by": None,
            "status": "waiting",
        }
        question = f"Has {self.v.h.a} on '{slots['title']}' been placed for {slots['name']}?"
        return [Added(self.v.h.ids, fields, question)]


class CancelHold(LoanGoal):
    """Leave the queue."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<p>> {name:name} does not need the <<i>> "{title:text}" any more, so cancel the <<h>> that is waiting.',
        'Please cancel the waiting <<h>> of <<p>> {name:name} on the <<i>> "{title:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = (
        "find_<<p.ids>>",
        "find_<<i.ids>>",
        "list_<<h.ids>>",
        "cancel_<<h.id>>",
    )
    when = "h is not none"
    status = "waiting"

    def holds(self, state: State) -> list[dict[str, Any]]:
        """Places in the queue of the goal's status."""
        return [h for h in state[self.v.h.ids].values() if h["status"] == self.status]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        told = self.single(state, self.holds(state))
        return pick(rng, told) if told else None

    def hold(self, slots: Slots, state: State) -> dict[str, Any]:
        """The place in the queue that a sentence is about."""
        person = named(state, self.v.p, slots["name"])[self.person_id]
        item = self.item(slots, state)[self.item_id]
        rows = self.holds(state)
        return only([h for h in rows if h[self.person_id] == person and h[self.item_id] == item])

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.h.id}_id"
        return [
            *self.find_both(slots),
            call(f"list_{v.h.ids}", **self.both(), status=self.status),
            call(f"cancel_{v.h.id}", **{key: found(2, 0, key)}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        hold = self.hold(slots, state)
        question = f"Has the {self.v.h} of {slots['name']} on '{slots['title']}' been cancelled?"
        also = (hold[self.person_id], hold[self.item_id])
        fields = {"status": "cancelled", "pickup_by": None}
        return [Changed(self.v.h.ids, hold[f"{self.v.h.id}_id"], fields, question, also)]


class Collect(CancelHold):
    """Lend a thing to the person it is kept for."""

    phrases = (
        'The <<i>> "{title:text}" is kept ready for <<p>> {name:name} and is being collected now, so <<s.lend>> it.',
        '{name:name} has come for the <<i>> "{title:text}" that we keep ready under a <<h>>; please <<s.lend>> it.',
    )
    needs = ("find_<<p.ids>>", "find_<<i.ids>>", "<<s.lend>>_<<i.id>>")
    status = "ready"

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.find_both(slots), call(f"{self.v.s.lend}_{self.v.i.id}", **self.both())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        hold, person, item = (
            self.hold(slots, state),
            named(state, v.p, slots["name"]),
            self.item(slots, state),
        )
        if refusal := self.refusal(state, person, item):
            raise LookupError(refusal)
        made = f"Has {v.l.a} of '{slots['title']}' been made for {slots['name']} today?"
        done = f"Has the {v.h} of {slots['name']} on '{slots['title']}' been marked as collected?"
        return [
            Added(v.l.ids, self.new_loan(state, person[self.person_id], item), made),
            Changed(v.h.ids, hold[f"{v.h.id}_id"], {"status": "collected", "pickup_by": None}, done),
        ]


class PayFee(LoanGoal):
    """Pay on the highest fee that somebody owes."""

    phrases = (
        "The <<p>> {name:name} pays {amount:money} <<s.fee.currency>> towards the highest late fee still due.",
        "Please record a payment of {amount:money} <<s.fee.currency>> by <<p>> {name:name} on the largest unpaid "
        "late fee.",
    )
    needs = ("find_<<p.ids>>", "list_unpaid_fees", "pay_<<l.id>>_fee")
    when = "s.fee is not none"

    def loan(self, slots: Slots, state: State) -> dict[str, Any]:
        """The loan with the highest fee that somebody owes."""
        key = named(state, self.v.p, slots["name"])[self.person_id]
        rows = [row for row in self.loans(state, **{self.person_id: key}) if row["fee_due"] > 0]
        most = max((row["fee_due"] for row in rows), default=0)
        return only([row for row in rows if row["fee_due"] == most])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        owing = [row for row in self.loans(state) if row["fee_due"] > 0]
        if not owing:
            return None
        name = state[self.v.p.ids][pick(rng, owing)[self.person_id]]["name"]
        due = self.loan({"name": name}, state)["fee_due"]
        return {"name": name, "amount": due if rng.random() < 0.6 else round(due / 2, 2)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        person = {self.person_id: found(0, 0, self.person_id)}
        loan = {self.loan_id: found(1, 0, self.loan_id)}
        return [
            call(f"find_{self.v.p.ids}", name=slots["name"]),
            call("list_unpaid_fees", **person),
            call(f"pay_{self.v.l.id}_fee", **loan, amount=slots["amount"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        loan = self.loan(slots, state)
        if not 0 < slots["amount"] <= loan["fee_due"]:
            raise LookupError("that is not what is due")
        left = {"fee_due": round(loan["fee_due"] - slots["amount"], 2)}
        question = f"Has {slots['amount']} been paid on the highest fee of {slots['name']}?"
        return [Changed(self.v.l.ids, loan[self.loan_id], left, question, (loan[self.person_id],))]


class SetCondition(LoanGoal):
    """Record the state that a thing is in."""

    phrases = (
        'The <<conditionwords>> of the <<i>> "{title:text}" is now {value:name}, please record that.',
        'Please change the <<conditionwords>> of the <<i>> "{title:text}" to {value:name}.',
    )
    needs = ("find_<<i.ids>>", "set_<<i.id>>_<<s.condition.name>>")
    when = "s.condition is not none"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        item, condition = pick(rng, list(state[self.v.i.ids].values())), self.v.s.condition
        others = [c for c in condition.choices if c != item[condition.name]]
        return {"title": item[self.v.s.label], "value": pick(rng, others)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        name, v = self.v.s.condition.name, self.v
        given = {self.item_id: found(0, 0, self.item_id), name: slots["value"]}
        return [call(f"find_{v.i.ids}", text=slots["title"]), call(f"set_{v.i.id}_{name}", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item, condition = self.item(slots, state), self.v.s.condition
        if slots["value"] not in condition.choices or slots["value"] == item[condition.name]:
            raise LookupError(f"it cannot be set to {slots['value']}")
        question = f"Has the {self.v.conditionwords} of '{slots['title']}' been set to {slots['value']}?"
        return [Changed(self.v.i.ids, item[self.item_id], {condition.name: slots["value"]}, question)]


class AddItem(LoanGoal):
    """A new thing for the catalogue."""

    phrases = (
        'A new <<i>> has arrived: "{title:text}", <<makerwords>> {maker:name}, <<kindword>> {kind:name}<<said_new>>; '
        "please add it to the catalogue.",
        'Please add the <<i>> "{title:text}" to the catalogue, with the <<makerwords>> {maker:name} and the '
        "<<kindword>> {kind:name}<<said_new>>.",
    )
    needs = ("add_<<i.id>>",)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        s = self.v.s
        kind, title, maker = pick(rng, s.arrivals).split(" / ")
        slots = {"title": title, "maker": maker, "kind": kind}
        if s.stock:
            slots["many"] = int(rng.integers(1, max(s.stock.range) + 1))
        if s.value:
            slots["value"] = float(int(rng.integers(*s.value.range)) * 100)
        return slots

    def fields(self, slots: Slots) -> dict[str, Any]:
        """What the new record says."""
        s = self.v.s
        return {
            s.label: slots["title"],
            s.maker.name: slots["maker"],
            s.kind.name: slots["kind"],
            **({s.stock.name: slots["many"]} if s.stock else {}),
            **({s.value.name: slots["value"]} if s.value else {}),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [call(f"add_{self.v.i.id}", **self.fields(slots))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = state[self.v.i.ids].values()
        taken = any(row[self.v.s.label].lower() == slots["title"].lower() for row in rows)
        if taken or slots["kind"] not in self.v.kinds:
            raise LookupError("it cannot be added")
        question = f"Has the {self.v.i} '{slots['title']}' been added with the given details?"
        condition = self.v.s.condition
        fields = {**self.fields(slots), **({condition.name: condition.choices[0]} if condition else {})}
        return [Added(self.v.i.ids, {**fields, **self.v.blanks}, question, (slots["title"],))]


class Loans(Pattern):
    """Things lent until a due day."""

    Settings = LoanSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Lend, Return, ReturnMostOverdue, Renew, RenewNextDue, PlaceHold, CancelHold, Collect, PayFee, SetCondition,
        AddItem,
    )  # fmt: skip

    def vocabulary(self, s: LoanSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        i, l = Noun(s.item, s.item_many), Noun(s.loan)  # noqa: E741
        h = Noun(s.hold) if s.hold else None
        shared[s.item] = i
        shared[s.loan] = l
        unit = s.quantity.name.replace("_", " ") if s.quantity else ""
        new = f", {s.stock.name.replace('_', ' ')} {{many:int}}" if s.stock else ""
        worth = f", {s.value.name.replace('_', ' ')} {{value:money}} {s.value.currency}" if s.value else ""
        here, away = "can be lent to anybody right now", "cannot be lent right now"
        if s.condition:  # What is unfit is there, but not lent.
            here = f"is there{' and kept for nobody' if h else ''}, fit for lending or not"
            away = (
                f"is not there{' or kept for somebody' if h else ''}; the {s.condition.name} is not looked at"
            )
        return {
            "i": i,
            "l": l,
            "h": h,
            "p": shared[s.person],
            "k": s.kind,
            "kinds": list(s.kind.choices),
            "periods": ", ".join(f'"{kind}": {days}' for kind, days in s.kind.choices.items()),
            "kindword": s.kind.name.replace("_", " "),
            "times": {1: "once", 2: "twice"}.get(s.max_renewals, f"{s.max_renewals} times"),
            "makerwords": s.maker.name.replace("_", " "),
            "labelwords": s.label.replace("_", " "),
            "stockwords": f"the number of {s.stock.name.replace('_', ' ')}" if s.stock else "",
            "conditionwords": s.condition.name.replace("_", " ") if s.condition else "",
            "away": away,
            "here": here,
            "unfit": s.condition.choices[-1] if s.condition else "",
            "said_many": f" {{many:int}} {unit} of" if s.quantity else "",
            "said_back": f" {{many:int}} {unit} of" if s.quantity else "",
            "said_new": new + worth,
            "filters": [x for x in s.extras if x.filter],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, i = v.s, v.i
        item = Table(
            i,
            f"{i.a[:1].upper()}{i.a[1:]} that is lent.",
            [
                attribute(f"{i.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                attribute(s.label, "str", f"what the {i} is called, unique"),
                attribute(s.maker.name, "str", s.maker.about),
                attribute(s.kind.name, "str", f"{s.kind.about}: {', '.join(v.kinds)}"),
                *([attribute(s.stock.name, "int", s.stock.about)] if s.stock else []),
                *([attribute(s.value.name, "float", s.value.about)] if s.value else []),
                *(
                    [
                        attribute(
                            s.condition.name, "str", f"{s.condition.about}: {', '.join(s.condition.choices)}"
                        )
                    ]
                    if s.condition
                    else []
                ),
                *own(s.extras),
            ],
        )
        return [item, self._loan_table(v), *([self._hold_table(v)] if v.h else [])]

    def _loan_table(self, v: SimpleNamespace) -> Table:
        s, p, i, l = v.s, v.p, v.i, v.l  # noqa: E741
        taken = (
            [attribute(s.quantity.name, "int", f"how many were taken, 1 to {s.quantity.most}")]
            if s.quantity
            else []
        )
        back = (
            [attribute(s.quantity.back, "int", "how many came back, 0 while it is open")]
            if s.quantity
            else []
        )
        fee = (
            [attribute("fee_due", "float", f"late fee still due in {s.fee.currency}, 0 while it is open")]
            if s.fee
            else []
        )
        return Table(
            l,
            f"{l.a[:1].upper()}{l.a[1:]} of {i.a} to {p.a}.",
            [
                attribute(f"{l.id}_id", "str", f"unique id, e.g. {s.loan_prefix}-001"),
                attribute(f"{p.id}_id", "str", f"the {p} who has it"),
                attribute(f"{i.id}_id", "str", f"the {i} that is lent"),
                *taken,
                attribute("lent_on", "str", "day it was lent, as YYYY-MM-DD"),
                attribute("due_on", "str", "day it is due back, as YYYY-MM-DD"),
                attribute("renewals", "int", f"how often it was renewed, 0 to {s.max_renewals}"),
                attribute("returned_on", "str | None", "day it came back, None while it is open"),
                *back,
                *fee,
                attribute("status", "str", "open or returned"),
            ],
        )

    def _hold_table(self, v: SimpleNamespace) -> Table:
        s, p, i, h = v.s, v.p, v.i, v.h
        return Table(
            h,
            f"{h.a[:1].upper()}{h.a[1:]}: {p.a} who waits for {i.a}.",
            [
                attribute(f"{h.id}_id", "str", f"unique id, e.g. {s.hold_prefix}-001"),
                attribute(f"{p.id}_id", "str", f"the {p} who waits"),
                attribute(f"{i.id}_id", "str", f"the {i} waited for"),
                attribute("placed_on", "str", "day it was placed, as YYYY-MM-DD"),
                attribute("pickup_by", "str | None", "last day to collect it, None unless it is ready"),
                attribute("status", "str", "waiting, ready, collected or cancelled"),
            ],
        )

    RULES = (
        RuleText(
            "<<p.a[:1]|upper>><<p.a[1:]>> has at most <<s.max_open>> open <<l.many>> at a time.",
            """
            counts = {}
            for row in rows(after, "<<l.ids>>").values():
                if row.get("status") == "open":
                    person = str(row.get("<<p.id>>_id"))
                    counts[person] = counts.get(person, 0) + 1
            return all(count <= <<s.max_open>> for count in counts.values())
            """,
        ),
        RuleText(
            "<<l.a[:1]|upper>><<l.a[1:]>> is open until it is returned, and what was returned is never open again.",
            """
            for old, new in changed("<<l.ids>>", "status"):
                if (old.get("status"), new.get("status")) != ("open", "returned") or not new.get("returned_on"):
                    return False
            return True
            """,
        ),
        RuleText(
            "<<l.a[:1]|upper>><<l.a[1:]>> can be renewed <<times>>, but not when it is overdue"
            "<<' or somebody waits for the ' ~ i.one if h else ''>>.",
            """
            for old, new in changed("<<l.ids>>", "renewals"):
                if not isinstance(new.get("renewals"), int) or new["renewals"] > <<s.max_renewals>>:
                    return False
                if str(old.get("due_on")) < str(before.get("today")):
                    return False
            %% if h
                for hold in rows(before, "<<h.ids>>").values():
                    if hold.get("status") == "waiting" and hold.get("<<i.id>>_id") == new.get("<<i.id>>_id"):
                        return False
            %% endif
            return True
            """,
        ),
        RuleText(
            "Nothing is lent to <<p.a>> who is not active or has something overdue.",
            """
            people = rows(before, "<<p.ids>>")
            late = {
                str(row.get("<<p.id>>_id"))
                for row in rows(before, "<<l.ids>>").values()
                if row.get("status") == "open" and str(row.get("due_on")) < str(before.get("today"))
            }
            return all(
                people.get(str(row.get("<<p.id>>_id")), {}).get("status") == "active"
                and str(row.get("<<p.id>>_id")) not in late
                for row in added("<<l.ids>>")
            )
            """,
        ),
        RuleText(
            "The number of <<s.stock.name|replace('_', ' ')>> is never below 0.",
            """
            return all(
                not isinstance(row.get("<<s.stock.name>>"), int) or row["<<s.stock.name>>"] >= 0
                for row in rows(after, "<<i.ids>>").values()
            )
            """,
            when="s.stock is not none",
            rank=2,
        ),
        RuleText(
            "<<i.a[:1]|upper>><<i.a[1:]>> is with one <<p>> at a time.",
            """
            open_ = [row for row in rows(after, "<<l.ids>>").values() if row.get("status") == "open"]
            held = [str(row.get("<<i.id>>_id")) for row in open_]
            return len(held) == len(set(held))
            """,
            when="s.stock is none",
        ),
        RuleText(
            "A returned <<i>> is kept for whoever has waited longest, for <<s.pickup_days>> days.",
            """
            for old, new in changed("<<h.ids>>", "status"):
                if new.get("status") != "ready":
                    continue
                earlier = [
                    row
                    for row in rows(after, "<<h.ids>>").values()
                    if row.get("status") == "waiting"
                    and row.get("<<i.id>>_id") == new.get("<<i.id>>_id")
                    and str(row.get("placed_on")) < str(new.get("placed_on"))
                ]
                if earlier or not new.get("pickup_by"):
                    return False
            return True
            """,
            when="h is not none",
            rank=2,
        ),
        RuleText(
            "What one <<p>> has on <<l>> is worth at most <<s.value.most>> <<s.value.currency>> in all.",
            """
            things, lent = rows(after, "<<i.ids>>"), {}
            for row in rows(after, "<<l.ids>>").values():
                worth = things.get(str(row.get("<<i.id>>_id")), {}).get("<<s.value.name>>")
                if row.get("status") == "open" and isinstance(worth, (int, float)):
                    person = str(row.get("<<p.id>>_id"))
                    lent[person] = lent.get(person, 0) + worth
            return all(total <= <<s.value.most>> for total in lent.values())
            """,
            when="s.value is not none",
        ),
        RuleText(
            "<<i.a[:1]|upper>><<i.a[1:]>> whose <<conditionwords>> is <<unfit>> is not lent.",
            """
            things = rows(before, "<<i.ids>>")
            return all(
                things.get(str(row.get("<<i.id>>_id")), {}).get("<<s.condition.name>>") != "<<unfit>>"
                for row in added("<<l.ids>>")
            )
            """,
            when="s.condition is not none",
            rank=2,
        ),
        RuleText(
            "At least as many <<s.quantity.name>> come back as were taken, and one <<l>> takes at most "
            "<<s.quantity.most>>.",
            """
            for row in rows(after, "<<l.ids>>").values():
                taken, back = row.get("<<s.quantity.name>>"), row.get("<<s.quantity.back>>")
                if isinstance(taken, int) and not 1 <= taken <= <<s.quantity.most>>:
                    return False
                numbers = isinstance(taken, int) and isinstance(back, int)
                if row.get("status") == "returned" and numbers and back < taken:
                    return False
            return True
            """,
            when="s.quantity is not none",
        ),
        RuleText(
            "A late return costs <<'%.2f'|format(s.fee.daily)>> <<s.fee.currency>> for each day, "
            "at most <<'%.2f'|format(s.fee.most)>>; who owes <<'%.2f'|format(s.fee.block)>> or "
            "more is lent nothing.",
            """
            owed = {}
            for row in rows(before, "<<l.ids>>").values():
                if isinstance(row.get("fee_due"), (int, float)):
                    person = str(row.get("<<p.id>>_id"))
                    owed[person] = owed.get(person, 0) + row["fee_due"]
            for row in rows(after, "<<l.ids>>").values():
                due = row.get("fee_due")
                if isinstance(due, (int, float)) and not 0 <= due <= <<s.fee.most>>:
                    return False
            return all(owed.get(str(row.get("<<p.id>>_id")), 0) < <<s.fee.block>> for row in added("<<l.ids>>"))
            """,
            when="s.fee is not none",
        ),
    )

    HELPERS = '''
    @staticmethod
    def _later(day: str, days: int) -> str:
        """Return the date so many days after another one."""
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()

    @staticmethod
    def _<<l.id>>_days(<<k.name>>: str) -> int:
        """Return for how many days <<i.a>> of that <<kindword>> is lent."""
        return {<<periods>>}[<<k.name>>]

    def _open_<<l.ids>>(self, <<p.id>>_id: str) -> list[<<l.type>>]:
        """Return what <<p.a>> has borrowed and not returned."""
        return [
            <<l.id>>
            for <<l.id>> in self.<<l.ids>>.values()
            if <<l.id>>["<<p.id>>_id"] == <<p.id>>_id and <<l.id>>["status"] == "open"
        ]
%% if h

    def _queue(self, <<i.id>>_id: str) -> list[<<h.type>>]:
        """Return the <<h.many>> that wait for <<i.a>>, the longest wait first."""
        waiting = [
            <<h.id>>
            for <<h.id>> in self.<<h.ids>>.values()
            if <<h.id>>["<<i.id>>_id"] == <<i.id>>_id and <<h.id>>["status"] == "waiting"
        ]
        return sorted(waiting, key=lambda <<h.id>>: (<<h.id>>["placed_on"], <<h.id>>["<<h.id>>_id"]))

    def _release(self, <<i.id>>_id: str) -> str | None:
        """Keep <<i.a>> for whoever waits longest<<", else shelve it" if s.stock else "">>; return the <<h>> served."""
        queue = self._queue(<<i.id>>_id)
        if not queue:
%% if s.stock
            self.<<i.ids>>[<<i.id>>_id]["<<s.stock.name>>"] += 1
%% endif
            return None
        queue[0]["status"] = "ready"
        queue[0]["pickup_by"] = self._later(self.today, <<s.pickup_days>>)
        return queue[0]["<<h.id>>_id"]
%% endif

    def _is_available(self, <<i.id>>_id: str) -> bool:
        """Tell whether <<i.a>> <<here>>."""
%% if s.stock
        return self.<<i.ids>>[<<i.id>>_id]["<<s.stock.name>>"] > 0
%% else
        lent = any(
            <<l.id>>["<<i.id>>_id"] == <<i.id>>_id and <<l.id>>["status"] == "open"
            for <<l.id>> in self.<<l.ids>>.values()
        )
%% if h
        kept = any(
            <<h.id>>["<<i.id>>_id"] == <<i.id>>_id and <<h.id>>["status"] == "ready"
            for <<h.id>> in self.<<h.ids>>.values()
        )
        return not lent and not kept
%% else
        return not lent
%% endif
%% endif
'''

    READS = '''
def find_<<i.ids>>(
    self,
    text: str | None = None,
    <<k.name>>: str | None = None,
%% for x in filters
    <<x.name>>: <<x.type>> | None = None,
%% endfor
    available_only: bool = False,
) -> dict:
    """Search the catalogue for <<i.many>>.

    Args:
        text: A part of the <<labelwords>> or the <<makerwords>>; upper and lower case are the same. Leave out for all.
        <<k.name>>: Only this <<kindword>>: <<kinds|join(", ")>>. Leave out for all.
%% for x in filters
        <<x.name>>: Only those with this value: <<x.about>>. Leave out for all.
%% endfor
        available_only: True to leave out what <<away>>.

    Returns:
        The matching <<i.many>> sorted by <<labelwords>>; an empty list when nothing matches.
    """
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(kinds)>>):
        return {"success": False, "error": f"There is no <<kindword>> {<<k.name>>!r}."}
    wanted = (text or "").strip().lower()
    matches = [
        dict(<<i.id>>)
        for <<i.id>> in self.<<i.ids>>.values()
        if (wanted in <<i.id>>["<<s.label>>"].lower() or wanted in <<i.id>>["<<s.maker.name>>"].lower())
        and <<k.name>> in (None, <<i.id>>["<<k.name>>"])
%% for x in filters
        and <<x.name>> in (None, <<i.id>>["<<x.name>>"])
%% endfor
        and (not available_only or self._is_available(<<i.id>>["<<i.id>>_id"]))
    ]
    return {"success": True, "data": sorted(matches, key=lambda <<i.id>>: <<i.id>>["<<s.label>>"])}

def get_<<i.id>>(self, <<i.id>>_id: str) -> dict:
    """Show one <<i>> with who has it<<" and how many wait for it" if h else "">>.

    Args:
        <<i.id>>_id: Id of the <<i>>, e.g. <<s.prefix>>-001.

    Returns:
        The <<i>>, whether it is available, its open <<l.many>><<" and how many wait" if h else "">>, or an error.
    """
    <<i.id>> = self.<<i.ids>>.get(<<i.id>>_id)
    if <<i.id>> is None:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
    open_<<l.ids>> = [
        dict(<<l.id>>)
        for <<l.id>> in self.<<l.ids>>.values()
        if <<l.id>>["<<i.id>>_id"] == <<i.id>>_id and <<l.id>>["status"] == "open"
    ]
    return {
        "success": True,
        "data": {
            **<<i.id>>,
            "available": self._is_available(<<i.id>>_id),
            "open_<<l.ids>>": sorted(open_<<l.ids>>, key=lambda <<l.id>>: <<l.id>>["due_on"]),
%% if h
            "waiting": len(self._queue(<<i.id>>_id)),
%% endif
        },
    }

def list_<<l.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<i.id>>_id: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<l.many>> in the order in which they are due.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<i.id>>_id: Only those of this <<i>>. Leave out for all.
        status: Only those that are open or returned. Leave out for all.

    Returns:
        The matching <<l.many>>, what is due first in front; an empty list when there are none.
    """
    if status not in (None, "open", "returned"):
        return {"success": False, "error": f"The status is open or returned, not {status!r}."}
    selected = [
        dict(<<l.id>>)
        for <<l.id>> in self.<<l.ids>>.values()
        if <<p.id>>_id in (None, <<l.id>>["<<p.id>>_id"])
        and <<i.id>>_id in (None, <<l.id>>["<<i.id>>_id"])
        and status in (None, <<l.id>>["status"])
    ]
    selected.sort(key=lambda <<l.id>>: (<<l.id>>["due_on"], <<l.id>>["<<l.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<l.id>>(self, <<l.id>>_id: str) -> dict:
    """Show one <<l>>.

    Args:
        <<l.id>>_id: Id of the <<l>>, e.g. <<s.loan_prefix>>-001.

    Returns:
        The <<l>>, or an error for an unknown id.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    return {"success": True, "data": dict(<<l.id>>)}

def list_overdue_<<l.ids>>(self, min_days: int = 1) -> dict:
    """List the <<l.many>> that should have come back before today, the longest overdue first.

    Args:
        min_days: Only those that are overdue by this many days, at least 1.

    Returns:
        The overdue <<l.many>>, each with its `days_overdue`.
    """
    if min_days < 1:
        return {"success": False, "error": f"The number of days has to be at least 1, not {min_days}."}
    today = date.fromisoformat(self.today)
    overdue = [
        {**<<l.id>>, "days_overdue": (today - date.fromisoformat(<<l.id>>["due_on"])).days}
        for <<l.id>> in self.<<l.ids>>.values()
        if <<l.id>>["status"] == "open"
    ]
    overdue = [entry for entry in overdue if entry["days_overdue"] >= min_days]
    return {"success": True, "data": sorted(overdue, key=lambda entry: (entry["due_on"], entry["<<l.id>>_id"]))}

def get_<<p.id>>_account(self, <<p.id>>_id: str) -> dict:
    """Sum up what <<p.a>> has borrowed<<", waits for" if h else "">><<" and owes" if s.fee else "">>.

    Args:
        <<p.id>>_id: Id of the <<p>>.

    Returns:
        Numbers of open and overdue <<l.many>>, what the limit leaves, and so on; or an error for an unknown id.
    """
    if <<p.id>>_id not in self.<<p.ids>>:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    open_<<l.ids>> = self._open_<<l.ids>>(<<p.id>>_id)
    account = {
        "<<p.id>>_id": <<p.id>>_id,
        "open_<<l.ids>>": len(open_<<l.ids>>),
        "overdue_<<l.ids>>": sum(<<l.id>>["due_on"] < self.today for <<l.id>> in open_<<l.ids>>),
        "may_borrow": max(0, <<s.max_open>> - len(open_<<l.ids>>)),
%% if s.value
        "value_on_<<l.id>>": sum(
            self.<<i.ids>>[<<l.id>>["<<i.id>>_id"]]["<<s.value.name>>"] for <<l.id>> in open_<<l.ids>>
        ),
%% endif
%% if h
        "<<h.ids>>": sum(
            <<h.id>>["<<p.id>>_id"] == <<p.id>>_id and <<h.id>>["status"] in ("waiting", "ready")
            for <<h.id>> in self.<<h.ids>>.values()
        ),
%% endif
%% if s.fee
        "fees_due": round(
            sum(
                <<l.id>>["fee_due"]
                for <<l.id>> in self.<<l.ids>>.values()
                if <<l.id>>["<<p.id>>_id"] == <<p.id>>_id
            ),
            2,
        ),
%% endif
    }
    return {"success": True, "data": account}
%% if h

def list_<<h.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<i.id>>_id: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<h.many>> in the order in which they were placed.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<i.id>>_id: Only those on this <<i>>. Leave out for all.
        status: Only those that are waiting, ready, collected or cancelled. Leave out for all.

    Returns:
        The matching <<h.many>>, the longest wait first; an empty list when there are none.
    """
    if status not in (None, "waiting", "ready", "collected", "cancelled"):
        return {"success": False, "error": f"There is no status {status!r}."}
    selected = [
        dict(<<h.id>>)
        for <<h.id>> in self.<<h.ids>>.values()
        if <<p.id>>_id in (None, <<h.id>>["<<p.id>>_id"])
        and <<i.id>>_id in (None, <<h.id>>["<<i.id>>_id"])
        and status in (None, <<h.id>>["status"])
    ]
    selected.sort(key=lambda <<h.id>>: (<<h.id>>["placed_on"], <<h.id>>["<<h.id>>_id"]))
    return {"success": True, "data": selected}
%% endif
%% if s.fee

def list_unpaid_fees(self, <<p.id>>_id: str | None = None) -> dict:
    """List the <<l.many>> on which a late fee is still due, the highest fee first.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.

    Returns:
        The <<l.many>> with an unpaid fee; an empty list when nothing is due.
    """
    owing = [
        dict(<<l.id>>)
        for <<l.id>> in self.<<l.ids>>.values()
        if <<l.id>>["fee_due"] > 0 and <<p.id>>_id in (None, <<l.id>>["<<p.id>>_id"])
    ]
    return {"success": True, "data": sorted(owing, key=lambda entry: (-entry["fee_due"], entry["<<l.id>>_id"]))}
%% endif
'''

    WRITES = '''
def <<s.lend>>_<<i.id>>(
    self,
    <<p.id>>_id: str,
    <<i.id>>_id: str,
%% if s.quantity
    <<s.quantity.name>>: int = 1,
%% endif
) -> dict:
    """<<s.lend|capitalize>> <<i.a>> to <<p.a>> from today on, for as long as its <<kindword>> allows.
%% if h

    What is kept ready for <<p.a>> is lent to nobody else; the <<h>> is then marked as collected.
%% endif

    Args:
        <<p.id>>_id: Id of the <<p>>, active, with nothing overdue and fewer than <<s.max_open>> open <<l.many>>.
        <<i.id>>_id: Id of the <<i>>, which has to be available<<" or kept for this " ~ p.one if h else "">>
        <<-"; its " ~ conditionwords ~ " may not be " ~ unfit if s.condition else "">>.
%% if s.quantity
        <<s.quantity.name>>: How many to take, 1 to <<s.quantity.most>> and no more than there are.
%% endif

    Returns:
        The new <<l>> with the day it is due, or an error.
    """
    <<p.id>> = self.<<p.ids>>.get(<<p.id>>_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    <<i.id>> = self.<<i.ids>>.get(<<i.id>>_id)
    if <<i.id>> is None:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
%% if s.condition
    if <<i.id>>["<<s.condition.name>>"] == "<<unfit>>":
        return {"success": False, "error": f"{<<i.id>>['<<s.label>>']} is <<unfit>> and cannot be lent."}
%% endif
    held = self._open_<<l.ids>>(<<p.id>>_id)
    if any(<<l.id>>["<<i.id>>_id"] == <<i.id>>_id for <<l.id>> in held):
        return {"success": False, "error": f"{<<p.id>>['name']} has {<<i.id>>['<<s.label>>']} already."}
    if len(held) >= <<s.max_open>>:
        return {"success": False, "error": f"{<<p.id>>['name']} has <<s.max_open>> open <<l.many>> already."}
    if any(<<l.id>>["due_on"] < self.today for <<l.id>> in held):
        return {"success": False, "error": f"{<<p.id>>['name']} has an overdue <<l>>."}
%% if s.fee
    owed = sum(entry["fee_due"] for entry in self.<<l.ids>>.values() if entry["<<p.id>>_id"] == <<p.id>>_id)
    if owed >= <<s.fee.block>>:
        return {"success": False, "error": f"{<<p.id>>['name']} owes {owed:.2f} <<s.fee.currency>> in late fees."}
%% endif
%% if s.value
    value = sum(self.<<i.ids>>[entry["<<i.id>>_id"]]["<<s.value.name>>"] for entry in held)
    if value + <<i.id>>["<<s.value.name>>"] > <<s.value.most>>:
        return {
            "success": False,
            "error": f"{<<p.id>>['name']} may not hold more than <<s.value.most>> <<s.value.currency>>.",
        }
%% endif
%% if h
    ready = next(
        (
            <<h.id>>
            for <<h.id>> in self.<<h.ids>>.values()
            if (<<h.id>>["<<p.id>>_id"], <<h.id>>["<<i.id>>_id"]) == (<<p.id>>_id, <<i.id>>_id)
            and <<h.id>>["status"] == "ready"
        ),
        None,
    )
    if ready is None and not self._is_available(<<i.id>>_id):
        return {"success": False, "error": f"{<<i.id>>['<<s.label>>']} is not available."}
%% elif s.quantity
    if not 1 <= <<s.quantity.name>> <= <<s.quantity.most>>:
        return {
            "success": False,
            "error": f"One <<l>> takes 1 to <<s.quantity.most>> <<s.quantity.name>>, not {<<s.quantity.name>>}.",
        }
    if <<s.quantity.name>> > <<i.id>>["<<s.stock.name>>"]:
        return {"success": False, "error": f"There are only {<<i.id>>['<<s.stock.name>>']} <<s.quantity.name>> of it."}
%% else
    if not self._is_available(<<i.id>>_id):
        return {"success": False, "error": f"{<<i.id>>['<<s.label>>']} is not available."}
%% endif
    <<l.id>>: <<l.type>> = {
        "<<l.id>>_id": self._next_id(self.<<l.ids>>, "<<s.loan_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<i.id>>_id": <<i.id>>_id,
%% if s.quantity
        "<<s.quantity.name>>": <<s.quantity.name>>,
%% endif
        "lent_on": self.today,
        "due_on": self._later(self.today, self._<<l.id>>_days(<<i.id>>["<<k.name>>"])),
        "renewals": 0,
        "returned_on": None,
%% if s.quantity
        "<<s.quantity.back>>": 0,
%% endif
%% if s.fee
        "fee_due": 0.0,
%% endif
        "status": "open",
    }
    self.<<l.ids>>[<<l.id>>["<<l.id>>_id"]] = <<l.id>>
%% if h and s.stock
    if ready is None:
        <<i.id>>["<<s.stock.name>>"] -= 1
    else:
        ready["status"] = "collected"
        ready["pickup_by"] = None
%% elif h
    if ready is not None:
        ready["status"] = "collected"
        ready["pickup_by"] = None
%% elif s.quantity
    <<i.id>>["<<s.stock.name>>"] -= <<s.quantity.name>>
%% elif s.stock
    <<i.id>>["<<s.stock.name>>"] -= 1
%% endif
    return {
        "success": True,
        "message": f"{<<i.id>>['<<s.label>>']} lent to {<<p.id>>['name']} until {<<l.id>>['due_on']}.",
%% if h
        "data": {**<<l.id>>, "collected_<<h.id>>_id": ready["<<h.id>>_id"] if ready else None},
%% else
        "data": dict(<<l.id>>),
%% endif
    }

def return_<<l.id>>(self, <<l.id>>_id: str<<", " ~ s.quantity.back ~ ": int" if s.quantity else "">>) -> dict:
    """Take back what was lent and close the <<l>>.
%% if h

    The <<i>> is kept for <<s.pickup_days>> days for the first who waits for it
    <<-", or goes back on the shelf" if s.stock else "">>.
%% endif

    Args:
        <<l.id>>_id: Id of the <<l>>, which must be open.
%% if s.quantity
        <<s.quantity.back>>: How many come back; no fewer than were taken.
%% endif

    Returns:
        The closed <<l>><<" with its late fee" if s.fee else "">><<" and the next " ~ h.one if h else "">>, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    if <<l.id>>["status"] != "open":
        return {"success": False, "error": f"<<l.cap>> {<<l.id>>_id} was returned on {<<l.id>>['returned_on']}."}
%% if s.quantity
    if <<s.quantity.back>> < <<l.id>>["<<s.quantity.name>>"]:
        return {
            "success": False,
            "error": f"{<<l.id>>['<<s.quantity.name>>']} <<s.quantity.name>> were taken; no fewer may come back.",
        }
%% endif
%% if s.fee
    late = max(0, (date.fromisoformat(self.today) - date.fromisoformat(<<l.id>>["due_on"])).days)
    <<l.id>>["fee_due"] = round(min(late * <<s.fee.daily>>, <<s.fee.most>>), 2)
%% endif
    <<l.id>>["status"] = "returned"
    <<l.id>>["returned_on"] = self.today
%% if s.quantity
    <<l.id>>["<<s.quantity.back>>"] = <<s.quantity.back>>
    self.<<i.ids>>[<<l.id>>["<<i.id>>_id"]]["<<s.stock.name>>"] += <<s.quantity.back>>
%% elif h
    served = self._release(<<l.id>>["<<i.id>>_id"])
%% elif s.stock
    self.<<i.ids>>[<<l.id>>["<<i.id>>_id"]]["<<s.stock.name>>"] += 1
%% endif
    return {
        "success": True,
        "message": f"<<l.cap>> {<<l.id>>_id} closed.",
%% if h
        "data": {**<<l.id>>, "served_<<h.id>>_id": served},
%% else
        "data": dict(<<l.id>>),
%% endif
    }

def renew_<<l.id>>(self, <<l.id>>_id: str) -> dict:
    """Renew <<l.a>>: it is due as many days later as the <<kindword>> of the <<i>> allows.

    The <<p>> has to be active<<", and nobody may wait for the " ~ i.one if h else "">>.

    Args:
        <<l.id>>_id: Id of the <<l>>, which must be open and not overdue; at most renewed <<times>> in all.

    Returns:
        The <<l>> with its new due day, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    if <<l.id>>["status"] != "open":
        return {"success": False, "error": f"<<l.cap>> {<<l.id>>_id} was returned on {<<l.id>>['returned_on']}."}
    if <<l.id>>["due_on"] < self.today:
        return {"success": False, "error": f"<<l.cap>> {<<l.id>>_id} was due on {<<l.id>>['due_on']} and is overdue."}
    if <<l.id>>["renewals"] >= <<s.max_renewals>>:
        return {"success": False, "error": f"<<l.cap>> {<<l.id>>_id} was renewed <<times>> already."}
    <<p.id>> = self.<<p.ids>>[<<l.id>>["<<p.id>>_id"]]
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}."}
%% if h
    if self._queue(<<l.id>>["<<i.id>>_id"]):
        return {"success": False, "error": "It cannot be renewed, because somebody waits for it."}
%% endif
    <<i.id>> = self.<<i.ids>>[<<l.id>>["<<i.id>>_id"]]
    <<l.id>>["due_on"] = self._later(<<l.id>>["due_on"], self._<<l.id>>_days(<<i.id>>["<<k.name>>"]))
    <<l.id>>["renewals"] += 1
    return {
        "success": True,
        "message": f"<<l.cap>> {<<l.id>>_id} renewed until {<<l.id>>['due_on']}.",
        "data": dict(<<l.id>>),
    }
%% if h

def place_<<h.id>>(self, <<p.id>>_id: str, <<i.id>>_id: str) -> dict:
    """Put <<p.a>> at the end of the queue for <<i.a>> that is not available.

    Args:
        <<p.id>>_id: Id of the <<p>>, who must be active and have neither the <<i>> nor <<h.a>> on it.
        <<i.id>>_id: Id of the <<i>>.

    Returns:
        The new <<h>>, waiting, or an error.
    """
    <<p.id>> = self.<<p.ids>>.get(<<p.id>>_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    if <<i.id>>_id not in self.<<i.ids>>:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    if self._is_available(<<i.id>>_id):
        return {"success": False, "error": f"{<<i.id>>_id} is available; nobody has to wait for it."}
    if any(<<l.id>>["<<i.id>>_id"] == <<i.id>>_id for <<l.id>> in self._open_<<l.ids>>(<<p.id>>_id)):
        return {"success": False, "error": f"{<<p.id>>['name']} has it at the moment."}
    queued = any(
        (<<h.id>>["<<p.id>>_id"], <<h.id>>["<<i.id>>_id"]) == (<<p.id>>_id, <<i.id>>_id)
        and <<h.id>>["status"] in ("waiting", "ready")
        for <<h.id>> in self.<<h.ids>>.values()
    )
    if queued:
        return {"success": False, "error": f"{<<p.id>>['name']} has a <<h>> on it already."}
    <<h.id>>: <<h.type>> = {
        "<<h.id>>_id": self._next_id(self.<<h.ids>>, "<<s.hold_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<i.id>>_id": <<i.id>>_id,
        "placed_on": self.today,
        "pickup_by": None,
        "status": "waiting",
    }
    self.<<h.ids>>[<<h.id>>["<<h.id>>_id"]] = <<h.id>>
    return {"success": True, "message": f"<<h.cap>> {<<h.id>>['<<h.id>>_id']} placed.", "data": dict(<<h.id>>)}

def cancel_<<h.id>>(self, <<h.id>>_id: str) -> dict:
    """Cancel <<h.a>>; what was kept ready goes to the next who waits<<" or back on the shelf" if s.stock else "">>.

    Args:
        <<h.id>>_id: Id of the <<h>>, which must be waiting or ready.

    Returns:
        The cancelled <<h>> and the id of the one served next, or an error.
    """
    <<h.id>> = self.<<h.ids>>.get(<<h.id>>_id)
    if <<h.id>> is None:
        return {"success": False, "error": f"There is no <<h>> with the id {<<h.id>>_id!r}."}
    if <<h.id>>["status"] not in ("waiting", "ready"):
        return {"success": False, "error": f"<<h.cap>> {<<h.id>>_id} is {<<h.id>>['status']} already."}
    was_ready = <<h.id>>["status"] == "ready"
    <<h.id>>["status"] = "cancelled"
    <<h.id>>["pickup_by"] = None
    served = self._release(<<h.id>>["<<i.id>>_id"]) if was_ready else None
    return {
        "success": True,
        "message": f"<<h.cap>> {<<h.id>>_id} cancelled.",
        "data": {**<<h.id>>, "served_<<h.id>>_id": served},
    }
%% endif
%% if s.fee

def pay_<<l.id>>_fee(self, <<l.id>>_id: str, amount: float) -> dict:
    """Take a payment on the late fee of <<l.a>>.

    Args:
        <<l.id>>_id: Id of the <<l>> on which the fee is due.
        amount: What is paid in <<s.fee.currency>>, above 0 and no more than is due.

    Returns:
        The <<l>> with what is still due, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    if round(amount, 2) <= 0:
        return {"success": False, "error": f"The payment has to be above 0, not {amount}."}
    if amount > <<l.id>>["fee_due"]:
        return {"success": False, "error": f"Only {<<l.id>>['fee_due']:.2f} <<s.fee.currency>> are due."}
    <<l.id>>["fee_due"] = round(<<l.id>>["fee_due"] - amount, 2)
    return {"success": True, "message": f"{amount:.2f} <<s.fee.currency>> paid.", "data": dict(<<l.id>>)}
%% endif
%% if s.condition

def set_<<i.id>>_<<s.condition.name>>(self, <<i.id>>_id: str, <<s.condition.name>>: str) -> dict:
    """Record the <<conditionwords>> of <<i.a>>; what is <<unfit>> is not lent any more.

    Args:
        <<i.id>>_id: Id of the <<i>>.
        <<s.condition.name>>: One of <<s.condition.choices|join(", ")>>; another one than before.

    Returns:
        The changed <<i>>, or an error.
    """
    <<i.id>> = self.<<i.ids>>.get(<<i.id>>_id)
    if <<i.id>> is None:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
    if <<s.condition.name>> not in (<<quoted(s.condition.choices)>>):
        return {"success": False, "error": f"There is no <<conditionwords>> {<<s.condition.name>>!r}."}
    if <<i.id>>["<<s.condition.name>>"] == <<s.condition.name>>:
        return {"success": False, "error": f"The <<conditionwords>> is {<<s.condition.name>>} already."}
    <<i.id>>["<<s.condition.name>>"] = <<s.condition.name>>
    return {
        "success": True,
        "message": f"{<<i.id>>['<<s.label>>']} is now {<<s.condition.name>>}.",
        "data": dict(<<i.id>>),
    }
%% endif

def add_<<i.id>>(
    self,
    <<s.label>>: str,
    <<s.maker.name>>: str,
    <<k.name>>: str,
%% if s.stock
    <<s.stock.name>>: int,
%% endif
%% if s.value
    <<s.value.name>>: float,
%% endif
) -> dict:
    """Add a new <<i>> to the catalogue.

    Args:
        <<s.label>>: What it is called; no other <<i>> may have this <<labelwords>>.
        <<s.maker.name>>: <<s.maker.about[:1]|upper>><<s.maker.about[1:]>>.
        <<k.name>>: One of <<kinds|join(", ")>>.
%% if s.stock
        <<s.stock.name>>: <<s.stock.about[:1]|upper>><<s.stock.about[1:]>>, at least 1.
%% endif
%% if s.value
        <<s.value.name>>: <<s.value.about[:1]|upper>><<s.value.about[1:]>>, above 0.
%% endif

    Returns:
        The new <<i>>
        <<-", whose " ~ conditionwords ~ " is " ~ s.condition.choices[0] ~ "," if s.condition else ",">> or an error.
    """
    if not <<s.label>>.strip() or not <<s.maker.name>>.strip():
        return {"success": False, "error": "The <<labelwords>> and the <<makerwords>> are required."}
    if <<k.name>> not in (<<quoted(kinds)>>):
        return {"success": False, "error": f"There is no <<kindword>> {<<k.name>>!r}."}
    if any(entry["<<s.label>>"].lower() == <<s.label>>.strip().lower() for entry in self.<<i.ids>>.values()):
        return {"success": False, "error": f"{<<s.label>>.strip()} is in the catalogue already."}
%% if s.stock
    if <<s.stock.name>> < 1:
        return {"success": False, "error": f"At least 1 is needed, not {<<s.stock.name>>}."}
%% endif
%% if s.value
    if <<s.value.name>> <= 0:
        return {"success": False, "error": f"The value has to be above 0, not {<<s.value.name>>}."}
%% endif
    <<i.id>>: <<i.type>> = {
        "<<i.id>>_id": self._next_id(self.<<i.ids>>, "<<s.prefix>>"),
        "<<s.label>>": <<s.label>>.strip(),
        "<<s.maker.name>>": <<s.maker.name>>.strip(),
        "<<k.name>>": <<k.name>>,
%% if s.stock
        "<<s.stock.name>>": <<s.stock.name>>,
%% endif
%% if s.value
        "<<s.value.name>>": <<s.value.name>>,
%% endif
%% if s.condition
        "<<s.condition.name>>": "<<s.condition.choices[0]>>",
%% endif
%% for x in extras
        "<<x.name>>": <<blank(x)>>,
%% endfor
    }
    self.<<i.ids>>[<<i.id>>["<<i.id>>_id"]] = <<i.id>>
    return {"success": True, "message": f"{<<s.label>>.strip()} added.", "data": dict(<<i.id>>)}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        self._items(v, state, rng)
        for key in shuffled(rng, list(state[v.i.ids])):
            self._history(v, state, rng, key)
        if v.h:
            self._queues(v, state, rng)

    def _items(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        each = 4 if len(v.kinds) < 4 else 3
        for kind in v.kinds:
            for entry in shuffled(rng, s.catalogue[kind])[:each]:
                label, maker = entry.split(" / ")
                key = key_of(s.prefix, len(state[v.i.ids]) + 1)
                row = {f"{v.i.id}_id": key, s.label: label, s.maker.name: maker, s.kind.name: kind}
                if s.stock:
                    low, high = s.stock.range
                    row[s.stock.name] = int(rng.integers(low, high + 1)) if rng.random() < 0.7 else low
                if s.value:
                    row[s.value.name] = float(int(rng.integers(*s.value.range)) * 100)
                if s.condition:
                    worst = rng.random() < 0.1
                    row[s.condition.name] = (
                        s.condition.choices[-1] if worst else pick(rng, s.condition.choices[:-1])
                    )
                state[v.i.ids][key] = {**row, **{x.name: x.draw(rng) for x in s.extras}}

    def _history(self, v: SimpleNamespace, state: State, rng: Rng, item: str) -> None:
        """One or two loans of a thing; the last one may be open."""
        row = state[v.i.ids][item]
        days = v.s.kind.choices[row[v.s.kind.name]]
        if rng.random() < 0.35:
            self._loan(v, state, rng, item, -days - int(rng.integers(days // 2, days)), False)
        scarce = not v.s.stock or row[v.s.stock.name] == 0
        for _ in range(2 if v.s.stock and scarce else 1):
            if rng.random() < (0.4 if not v.s.stock else 0.75 if scarce else 0.4):
                late = rng.random() < 0.2
                ago = days + int(rng.integers(1, 12)) if late else int(rng.integers(1, max(2, days - 1)))
                self._loan(v, state, rng, item, -ago, True)

    def _loan(self, v: SimpleNamespace, state: State, rng: Rng, item: str, start: int, open_: bool) -> None:
        s, today = v.s, state["today"]
        person = self._borrower(v, state, rng, item) if open_ else pick(rng, list(state[v.p.ids]))
        if person is None:
            return
        key = key_of(s.loan_prefix, len(state[v.l.ids]) + 1)
        days = s.kind.choices[state[v.i.ids][item][s.kind.name]]
        renewals = 1 if s.max_renewals and rng.random() < 0.25 else 0
        lent = later(today, start - renewals * days)
        due = later(lent, (1 + renewals) * days)
        slack = int(rng.integers(0, 9)) - 4
        back = min(later(due, slack), later(today, -1))
        many = int(rng.integers(1, s.quantity.most + 1)) if s.quantity else 1
        owed = max(0, days_between(due, back)) * s.fee.daily if s.fee else 0.0
        state[v.l.ids][key] = {
            f"{v.l.id}_id": key,
            f"{v.p.id}_id": person,
            f"{v.i.id}_id": item,
            **({s.quantity.name: many} if s.quantity else {}),
            "lent_on": lent,
            "due_on": due,
            "renewals": renewals,
            "returned_on": None if open_ else back,
            **({s.quantity.back: 0 if open_ else many + int(rng.integers(0, 2))} if s.quantity else {}),
            **({"fee_due": 0.0 if open_ else round(min(owed, s.fee.most), 2)} if s.fee else {}),
            "status": "open" if open_ else "returned",
        }

    def _borrower(self, v: SimpleNamespace, state: State, rng: Rng, item: str) -> str | None:
        """Somebody who may have one more, rather one who has something already."""
        s, key = v.s, f"{v.p.id}_id"
        open_ = [row for row in state[v.l.ids].values() if row["status"] == "open"]
        able: list[str] = []
        for person, row in state[v.p.ids].items():
            mine = [state[v.i.ids][loan[f"{v.i.id}_id"]] for loan in open_ if loan[key] == person]
            value = sum(thing[s.value.name] for thing in mine) if s.value else 0
            more = state[v.i.ids][item][s.value.name] if s.value else 0
            fits = len(mine) < s.max_open - 1 and (not s.value or value + more <= s.value.most)
            has = any(thing[f"{v.i.id}_id"] == item for thing in mine)
            if fits and not has and row["status"] == "active":
                able += [person, person] if len(mine) == 1 else [person]
        return pick(rng, able) if able else None

    def _queues(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        """People who wait for what is away, and a thing that is kept for one of them."""
        s, item_id = v.s, f"{v.i.id}_id"
        held = [row[item_id] for row in state[v.l.ids].values() if row["status"] == "open"]
        away = [k for k, row in state[v.i.ids].items() if k in held and not (s.stock and row[s.stock.name])]
        for item in shuffled(rng, away)[:3]:
            for ago in sorted((int(d) for d in rng.choice(20, size=2, replace=False)), reverse=True):
                self._hold(v, state, rng, item, "waiting", later(state["today"], -ago - 1))
        idle = [k for k, row in state[v.i.ids].items() if k not in held]
        good = [k for k in idle if not s.condition or state[v.i.ids][k][s.condition.name] != v.unfit]
        for item in shuffled(rng, good)[:2]:
            self._hold(v, state, rng, item, "ready", later(state["today"], -int(rng.integers(4, 15))))

    def _hold(self, v: SimpleNamespace, state: State, rng: Rng, item: str, status: str, day: str) -> None:
        taken = {
            row[f"{v.p.id}_id"]
            for table in (v.l.ids, v.h.ids)
            for row in state[table].values()
            if row[f"{v.i.id}_id"] == item and row["status"] in ("open", "waiting", "ready")
        }
        people = [k for k, row in state[v.p.ids].items() if row["status"] == "active" and k not in taken]
        key = key_of(v.s.hold_prefix, len(state[v.h.ids]) + 1)
        pickup = later(state["today"], int(rng.integers(1, v.s.pickup_days)))
        state[v.h.ids][key] = {
            f"{v.h.id}_id": key,
            f"{v.p.id}_id": pick(rng, people),
            f"{v.i.id}_id": item,
            "placed_on": day,
            "pickup_by": pickup if status == "ready" else None,
            "status": status,
        }


PATTERN = Loans
