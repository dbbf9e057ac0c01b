"""Booking: things that are lent or let for a span of days to one person at a time (rooms, cars, halls, equipment)."""

from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any, ClassVar

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
    """The attribute that sorts the resources into kinds."""

    name: str
    """`room_type`"""
    about: str
    """What it means."""
    choices: dict[str, tuple[float, float]]
    """Kind → least and greatest rate."""


class Label(Part):
    """The attribute people call a resource by."""

    name: str
    """`room_number`"""
    about: str
    """What it means."""
    choices: list[str]
    """Labels in use, at least ten."""


class Capacity(Part):
    """How many a resource serves, where that matters."""

    name: str
    """`sleeps`"""
    about: str
    """What it means."""
    by_kind: dict[str, tuple[int, int]]
    """Kind → least and greatest capacity."""
    party: str = "guests"
    """Parameter for how many come."""


class BookingSettings(Settings):
    """A booking world's words and numbers."""

    resource: str
    """`room`"""
    resource_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of the resources' ids."""
    person: str = "person"
    """Who books: a registry's noun."""
    booking: str
    """`stay`"""
    booking_prefix: str
    """Prefix of the bookings' ids."""
    book: str = "book"
    """Verb for booking."""
    booked: str = "booked"
    """The status that results, and its participle."""
    kind: Kind
    """What sorts the resources."""
    label: Label
    """What they are called by."""
    capacity: Capacity | None = None
    """How many they serve."""
    rate: str
    """Name of the price per unit, e.g. `nightly_rate`."""
    currency: str = "EUR"
    """Unit of money."""
    unit: str = "day"
    """What is counted: `night` or `day`."""
    start: str = "start_date"
    """Name of the first day."""
    end: str = "end_date"
    """Name of the day it ends, which is free again."""
    begin: str
    """Verb for its beginning, e.g. `check_in`."""
    begun: str
    """The status that results."""
    finish: str
    """Verb for its end."""
    finished: str
    """The status that results."""
    max_units: int = 14
    """Longest booking."""
    max_open: int = 2
    """Most open bookings a person may have."""
    cancel_fee: float = 0.0
    """Share of the price that a late cancellation costs."""
    cancel_days: int = 1
    """A cancellation is late when fewer than this many days are left."""
    count: tuple[int, int] = (8, 10)
    """How many resources there are."""


class OneBooking(Goal):
    """A goal about the one booking of a status that somebody has."""

    status = "booked"

    def rows(self, state: State, status: str | None = None) -> list[dict[str, Any]]:
        """The bookings of the goal's status."""
        return [b for b in state[self.v.b.ids].values() if b["status"] == (status or self.of(self.status))]

    def of(self, status: str) -> str:
        """The world's own word for a status."""
        return {"booked": self.v.s.booked, "begun": self.v.s.begun}[status]

    def candidates(self, state: State, rng: Rng) -> list[tuple[dict[str, Any], str]]:
        """Bookings with the name of the person, who has just this one of the status."""
        key = f"{self.v.p.id}_id"
        rows = self.rows(state)
        alone = [b for b in rows if sum(c[key] == b[key] for c in rows) == 1]
        return shuffled(rng, [(b, state[self.v.p.ids][b[key]]["name"]) for b in alone])

    def booking(self, slots: Slots, state: State) -> dict[str, Any]:
        """The booking a sentence is about."""
        person = named(state, self.v.p, slots["name"])[f"{self.v.p.id}_id"]
        return only([b for b in self.rows(state) if b[f"{self.v.p.id}_id"] == person])

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        key = f"{self.v.p.id}_id"
        return [
            call(f"find_{self.v.p.ids}", name=slots["name"]),
            call(f"list_{self.v.b.ids}", **{key: found(0, 0, key), "status": self.of(self.status)}),
        ]

    def id(self) -> dict[str, Any]:
        """Argument with the booking's id."""
        return {f"{self.v.b.id}_id": found(1, 0, f"{self.v.b.id}_id")}

    def change(self, booking: dict[str, Any], state: State, item: str, **fields: Any) -> list[Outcome]:
        """The booking has these values; its person, its resource and that kind are concerned."""
        resource = state[self.v.r.ids][booking[f"{self.v.r.id}_id"]]
        also = (resource[f"{self.v.r.id}_id"], booking[f"{self.v.p.id}_id"], resource[self.v.k.name])
        return [Changed(self.v.b.ids, booking[f"{self.v.b.id}_id"], fields, item, also)]


def free(v: SimpleNamespace, state: State, key: str, start: str, end: str, ignore: str = "") -> bool:
    """Whether a resource is free from `start` up to `end`."""
    return not any(
        b[f"{v.r.id}_id"] == key
        and b["status"] != "cancelled"
        and b[f"{v.b.id}_id"] != ignore
        and b[v.start] < end
        and start < b[v.end]
        for b in state[v.b.ids].values()
    )


def later(day: str, days: int) -> str:
    """The date so many days later."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def length(start: str, end: str) -> int:
    """Days from one date to another."""
    return (date.fromisoformat(end) - date.fromisoformat(start)).days


class BookCheapest(Goal):
    """Book the cheapest free resource of a kind."""

    phrases = (
        "Please <<s.book>> the cheapest <<r>> of the <<kindword>> {kind:name} that is free from {start:date} to "
        "{end:date} for <<p>> {name:name}<<said_party>>.",
        "The <<p>> {name:name} wants <<r.a>> from {start:date} to {end:date}<<said_party>>, and it should be the "
        "cheapest free one of the <<kindword>> {kind:name}.",
        "For {name:name}, one of our <<p.many>>, I need the least expensive <<r>> of the <<kindword>> {kind:name}"
        " that nobody has from {start:date} to {end:date}<<said_party>>.",
    )
    needs = ("find_<<p.ids>>", "find_free_<<r.ids>>", "<<s.book>>_<<r.id>>")

    def fitting(self, slots: Slots, state: State) -> list[dict[str, Any]]:
        """The resources that would do, cheapest first."""
        v = self.v
        cap = v.s.capacity
        rooms = [
            room
            for key, room in state[v.r.ids].items()
            if room[v.k.name] == slots["kind"]
            and room["in_service"]
            and (cap is None or room[cap.name] >= slots["party"])
            and free(v, state, key, slots["start"], slots["end"])
        ]
        return sorted(rooms, key=lambda room: (room[v.s.rate], room[f"{v.r.id}_id"]))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        start = later(state["today"], int(rng.integers(3, 30)))
        person = pick(rng, list(state[v.p.ids].values()))
        slots = {
            "name": person["name"],
            "kind": pick(rng, list(v.k.choices)),
            "start": start,
            "end": later(start, int(rng.integers(1, min(v.s.max_units, 6) + 1))),
        }
        if v.s.capacity:
            slots["party"] = int(rng.integers(1, v.s.capacity.by_kind[slots["kind"]][0] + 1))
        return slots

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        when = {v.start: slots["start"], v.end: slots["end"]}
        party = {v.s.capacity.party: slots["party"]} if v.s.capacity else {}
        ids = {f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"), f"{v.r.id}_id": found(1, 0, f"{v.r.id}_id")}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_free_{v.r.ids}", **when, **{v.k.name: slots["kind"]}, **party),
            call(f"{v.s.book}_{v.r.id}", **ids, **when, **party),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        person = named(state, v.p, slots["name"])
        key = f"{v.p.id}_id"
        open_ = [
            b
            for b in state[v.b.ids].values()
            if b[key] == person[key] and b["status"] in (v.s.booked, v.s.begun)
        ]
        rooms = self.fitting(slots, state)
        if person["status"] != "active" or len(open_) >= v.s.max_open or not rooms:
            raise LookupError(f"{slots['name']} cannot get {v.r.a}")
        room = only([room for room in rooms if room[v.s.rate] == rooms[0][v.s.rate]])
        fields = {
            key: person[key],
            f"{v.r.id}_id": room[f"{v.r.id}_id"],
            v.start: slots["start"],
            v.end: slots["end"],
            "price": round(room[v.s.rate] * length(slots["start"], slots["end"]), 2),
            "status": v.s.booked,
        }
        if v.s.capacity:
            fields[v.s.capacity.party] = slots["party"]
        item = (
            f"Has {v.b.a} for {slots['name']} been added in the cheapest free {slots['kind']} {v.r} "
            f"from {slots['start']} to {slots['end']}?"
        )
        return [Added(v.b.ids, fields, item, (slots["kind"],))]


class Move(OneBooking):
    """Move a booking to other days."""

    phrases = (
        "Please move the upcoming <<b>> of <<p>> {name:name} so that it runs from {start:date} to {end:date}.",
        "The upcoming <<b>> of <<p>> {name:name} has to be changed to the time from {start:date} to {end:date}, "
        "with the <<r>> as it is.",
        "{name:name} has to shift the <<b>> that is <<s.booked>> under that name; the new dates are {start:date} to "
        "{end:date}.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "change_<<b.id>>_dates")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for booking, name in self.candidates(state, rng):
            start = later(booking[self.v.start], int(rng.integers(1, 12)))
            end = later(start, int(rng.integers(1, min(self.v.s.max_units, 6) + 1)))
            slots = {"name": name, "start": start, "end": end}
            key = booking[f"{self.v.r.id}_id"]
            if free(self.v, state, key, start, end, booking[f"{self.v.b.id}_id"]) and start > state["today"]:
                return slots
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        when = {self.v.start: slots["start"], self.v.end: slots["end"]}
        return [*self.look_up(slots), call(f"change_{self.v.b.id}_dates", **self.id(), **when)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        booking = self.booking(slots, state)
        room = booking[f"{v.r.id}_id"]
        if not free(v, state, room, slots["start"], slots["end"], booking[f"{v.b.id}_id"]):
            raise LookupError(f"{v.r} {room} is taken")
        price = round(state[v.r.ids][room][v.s.rate] * length(slots["start"], slots["end"]), 2)
        item = f"Has the {v.b} of {slots['name']} been moved to {slots['start']} until {slots['end']}?"
        fields = {v.start: slots["start"], v.end: slots["end"], "price": price}
        return self.change(booking, state, item, **fields)


class Extend(OneBooking):
    """Make a running booking longer."""

    status = "begun"
    phrases = (
        "The <<p>> {name:name}, whose <<b>> is running at the moment, wants to keep the <<r>> until {end:date}.",
        "Please extend the current <<b>> of <<p>> {name:name} until {end:date}.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "change_<<b.id>>_dates")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        for booking, name in self.candidates(state, rng):
            end = later(booking[v.end], int(rng.integers(1, 4)))
            fits = free(v, state, booking[f"{v.r.id}_id"], booking[v.end], end, booking[f"{v.b.id}_id"])
            if fits and length(booking[v.start], end) <= v.s.max_units:
                return {"name": name, "end": end}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        when = {self.v.start: found(1, 0, self.v.start), self.v.end: slots["end"]}
        return [*self.look_up(slots), call(f"change_{self.v.b.id}_dates", **self.id(), **when)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        booking = self.booking(slots, state)
        rate = state[v.r.ids][booking[f"{v.r.id}_id"]][v.s.rate]
        price = round(rate * length(booking[v.start], slots["end"]), 2)
        item = f"Has the current {v.b} of {slots['name']} been extended until {slots['end']}?"
        return self.change(booking, state, item, **{v.end: slots["end"], "price": price})


class Cancel(OneBooking):
    """Cancel a booking."""

    phrases = (
        "The <<p>> {name:name} will not come after all, so cancel the <<b>> that is still <<s.booked>>.",
        "Please cancel the upcoming <<b>> of <<p>> {name:name}.",
        "{name:name} called to say that the upcoming <<b>> should be cancelled.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "cancel_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"cancel_{self.v.b.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        booking = self.booking(slots, state)
        late = length(state["today"], booking[v.start]) < v.s.cancel_days
        price = round(booking["price"] * v.s.cancel_fee, 2) if late else 0.0
        item = f"Has the upcoming {v.b} of {slots['name']} been cancelled?"
        return self.change(booking, state, item, status="cancelled", price=price)


class Begin(OneBooking):
    """Begin a booking that starts today."""

    phrases = (
        "The <<p>> {name:name} has just arrived for the <<b>> that begins today, so <<beginwords>> that <<b>>.",
        "Please <<beginwords>> the <<b>> of <<p>> {name:name}, which is due today.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "<<s.begin>>_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [
            name for booking, name in self.candidates(state, rng) if booking[self.v.start] == state["today"]
        ]
        return {"name": rows[0]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"{self.v.s.begin}_{self.v.b.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        booking = self.booking(slots, state)
        if booking[self.v.start] != state["today"]:
            raise LookupError(f"the {self.v.b} does not begin today")
        item = f"Is the {self.v.b} of {slots['name']} now {self.v.begunwords}?"
        return self.change(booking, state, item, status=self.v.s.begun)


class Finish(OneBooking):
    """End a running booking."""

    status = "begun"
    phrases = (
        "The <<p>> {name:name} is done, so please <<finishwords>> the <<b>> that is running.",
        "Please <<finishwords>> the running <<b>> of <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "<<s.finish>>_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"{self.v.s.finish}_{self.v.b.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Is the {self.v.b} of {slots['name']} now {self.v.finishedwords}?"
        return self.change(self.booking(slots, state), state, item, status=self.v.s.finished)


class OneResource(Goal):
    """A goal about a resource called by its label."""

    def resource(self, slots: Slots, state: State) -> dict[str, Any]:
        """The resource a sentence is about."""
        label = self.v.s.label.name
        return only([r for r in state[self.v.r.ids].values() if r[label] == slots["label"]])

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The call that finds it."""
        return [call(f"list_{self.v.r.ids}", **{self.v.s.label.name: slots["label"]})]

    def id(self) -> dict[str, Any]:
        """Argument with its id."""
        return {f"{self.v.r.id}_id": found(0, 0, f"{self.v.r.id}_id")}

    def change(self, row: dict[str, Any], item: str, **fields: Any) -> list[Outcome]:
        """The resource has these values."""
        return [Changed(self.v.r.ids, row[f"{self.v.r.id}_id"], fields, item, (row[self.v.k.name],))]


class SetRate(OneResource):
    """A new rate."""

    phrases = (
        "From now on <<r>> {label:name} costs {rate:money} <<s.currency>> a <<unit>>, please enter that rate.",
        "Please set the rate of <<r>> {label:name} to {rate:money} <<s.currency>> per <<unit>>.",
    )
    needs = ("list_<<r.ids>>", "set_<<r.id>>_rate")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = pick(rng, list(state[self.v.r.ids].values()))
        change = int(rng.choice([-12, -8, -5, 6, 9, 14]))
        rate = round(row[self.v.s.rate] + change, 2)
        return {"label": row[self.v.s.label.name], "rate": rate} if rate > 0 else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [
            *self.look_up(slots),
            call(f"set_{self.v.r.id}_rate", **self.id(), **{self.v.s.rate: slots["rate"]}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the rate of {self.v.r} {slots['label']} been set to {slots['rate']}?"
        return self.change(self.resource(slots, state), item, **{self.v.s.rate: slots["rate"]})


class RaiseCheapest(OneResource):
    """A new rate for whatever is cheapest of a kind."""

    phrases = (
        "Whichever <<r>> of the <<kindword>> {kind:name} has the lowest rate at present should cost {rate:money} "
        "<<s.currency>> per <<unit>> from now on.",
        "Find the cheapest <<r>> of the <<kindword>> {kind:name} and change its rate to {rate:money} <<s.currency>> "
        "a <<unit>>.",
    )
    needs = ("list_<<r.ids>>", "set_<<r.id>>_rate")

    def resource(self, slots: Slots, state: State) -> dict[str, Any]:
        v = self.v
        rows = [row for row in state[v.r.ids].values() if row[v.k.name] == slots["kind"]]
        least = min((row[v.s.rate] for row in rows), default=0)
        return only([row for row in rows if row[v.s.rate] == least])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots: Slots = {"kind": pick(rng, list(self.v.k.choices))}
        try:
            row = self.resource(slots, state)
        except LookupError:
            return None
        return {**slots, "rate": round(row[self.v.s.rate] + int(rng.integers(3, 20)), 2)}

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        return [call(f"list_{self.v.r.ids}", **{self.v.k.name: slots["kind"]})]

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [
            *self.look_up(slots),
            call(f"set_{self.v.r.id}_rate", **self.id(), **{self.v.s.rate: slots["rate"]}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the cheapest {slots['kind']} {self.v.r} been given the rate {slots['rate']}?"
        return self.change(self.resource(slots, state), item, **{self.v.s.rate: slots["rate"]})


class Withdraw(OneResource):
    """Take a resource out of service."""

    phrases = (
        "The <<r>> {label:name} is out of order, so please take it out of service.",
        "Please take <<r>> {label:name} out of service, it must not be given to anybody for now.",
    )
    needs = ("list_<<r.ids>>", "set_<<r.id>>_service")
    wanted = False

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        held = {b[f"{v.r.id}_id"] for b in state[v.b.ids].values() if b["status"] in (v.s.booked, v.s.begun)}
        rows = [
            r
            for k, r in state[v.r.ids].items()
            if r["in_service"] != self.wanted and (self.wanted or k not in held)
        ]
        return {"label": pick(rng, rows)[v.s.label.name]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"set_{self.v.r.id}_service", **self.id(), in_service=self.wanted)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.resource(slots, state)
        if row["in_service"] == self.wanted:
            raise LookupError(f"{self.v.r} {slots['label']} is so already")
        said = "back in service" if self.wanted else "out of service"
        return self.change(row, f"Is {self.v.r} {slots['label']} {said}?", in_service=self.wanted)


class PutBack(Withdraw):
    """Put a resource back into service."""

    phrases = (
        "The <<r>> {label:name} works again and goes back into service.",
        "Please put <<r>> {label:name} back into service.",
    )
    wanted = True


class Booking(Pattern):
    """Resources booked for spans of days."""

    Settings = BookingSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        BookCheapest, Move, Extend, Cancel, Begin, Finish, SetRate, RaiseCheapest, Withdraw, PutBack,
    )  # fmt: skip

    def vocabulary(self, s: BookingSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        r, b = Noun(s.resource, s.resource_many), Noun(s.booking)
        shared[s.resource] = r
        shared[s.booking] = b
        return {
            "r": r,
            "b": b,
            "p": shared[s.person],
            "k": s.kind,
            "kindword": s.kind.name.replace("_", " ").removeprefix(r.one + " "),
            "ratewords": s.rate.replace("_", " "),
            "kinds": list(s.kind.choices),
            "label": s.label,
            "labelwords": s.label.name.replace("_", " "),
            "cap": s.capacity,
            "unit": Noun(s.unit),
            "start": s.start,
            "end": s.end,
            "startwords": s.start.replace("_", " "),
            "endwords": s.end.replace("_", " "),
            "party_words": s.capacity.party.replace("_", " ") if s.capacity else "",
            "said_party": " (party of {party:int})" if s.capacity else "",
            "beginwords": s.begin.replace("_", " "),
            "begunwords": s.begun.replace("_", " "),
            "finishwords": s.finish.replace("_", " "),
            "finishedwords": s.finished.replace("_", " "),
            "filters": [x for x in s.extras if x.filter],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, r, b, p = v.s, v.r, v.b, v.p
        capacity = [attribute(s.capacity.name, "int", s.capacity.about)] if s.capacity else []
        party = [attribute(s.capacity.party, "int", "how many come, at least 1")] if s.capacity else []
        left = "the fee" if s.cancel_fee > 0 else "0"
        resource = Table(
            r,
            f"{r.a[:1].upper()}{r.a[1:]} that can be {s.booked}.",
            [
                attribute(f"{r.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                attribute(s.label.name, "str", f"{s.label.about}, unique"),
                attribute(s.kind.name, "str", f"{s.kind.about}: {', '.join(v.kinds)}"),
                *capacity,
                attribute(s.rate, "float", f"price of one {s.unit} in {s.currency}, above 0"),
                *own(s.extras),
                attribute("in_service", "bool", f"whether it can be {s.booked} at all"),
            ],
        )
        booking = Table(
            b,
            f"{b.a[:1].upper()}{b.a[1:]}: one {r} for one {p} over some {v.unit.many}.",
            [
                attribute(f"{b.id}_id", "str", f"unique id, e.g. {s.booking_prefix}-001"),
                attribute(f"{p.id}_id", "str", f"the {p} it is for"),
                attribute(f"{r.id}_id", "str", f"the {r} it takes"),
                attribute(s.start, "str", "first day, as YYYY-MM-DD"),
                attribute(s.end, "str", f"day it ends, as YYYY-MM-DD; the {r} is free again on that day"),
                *party,
                attribute("price", "float", f"what it costs in {s.currency}; after a cancellation {left}"),
                attribute("status", "str", f"{s.booked}, {s.begun}, {s.finished} or cancelled"),
            ],
        )
        return [resource, booking]

    RULES = (
        RuleText(
            "A <<r>> is never given to two <<b.many>> for the same <<unit>>; cancelled ones do not count.",
            """
            live = [b for b in rows(after, "<<b.ids>>").values() if b.get("status") != "cancelled"]
            spans = {}
            for b in live:
                start, end = b.get("<<start>>"), b.get("<<end>>")
                if isinstance(start, str) and isinstance(end, str):
                    spans.setdefault(str(b.get("<<r.id>>_id")), []).append((start, end))
            ordered = [sorted(group) for group in spans.values()]
            return all(one[1] <= two[0] for group in ordered for one, two in zip(group, group[1:]))
            """,
        ),
        RuleText(
            "A <<b>> lasts at least one <<unit>> and at most <<s.max_units>> <<unit.many>>.",
            """
            from datetime import date

            for b in rows(after, "<<b.ids>>").values():
                try:
                    span = (date.fromisoformat(b["<<end>>"]) - date.fromisoformat(b["<<start>>"])).days
                except (KeyError, TypeError, ValueError):
                    continue
                if not 1 <= span <= <<s.max_units>>:
                    return False
            return True
            """,
        ),
        RuleText(
            "<<p.a[:1]|upper>><<p.a[1:]>> has at most <<s.max_open>> <<b.many>> that are <<s.booked>> or "
            "<<begunwords>>.",
            """
            counts = {}
            for b in rows(after, "<<b.ids>>").values():
                if b.get("status") in ("<<s.booked>>", "<<s.begun>>"):
                    person = str(b.get("<<p.id>>_id"))
                    counts[person] = counts.get(person, 0) + 1
            return all(count <= <<s.max_open>> for count in counts.values())
            """,
        ),
        RuleText(
            "A <<b>> goes from <<s.booked>> to <<begunwords>> to <<finishedwords>>, or from <<s.booked>> to cancelled, "
            "and never back.",
            """
            steps = (("<<s.booked>>", "<<s.begun>>"), ("<<s.begun>>", "<<s.finished>>"), ("<<s.booked>>", "cancelled"))
            return all((old.get("status"), new.get("status")) in steps for old, new in changed("<<b.ids>>", "status"))
            """,
        ),
        RuleText(
            "A <<b>> is never made for more <<party_words>> than the <<r>> allows.",
            """
            rooms = rows(after, "<<r.ids>>")
            for b in rows(after, "<<b.ids>>").values():
                most = rooms.get(str(b.get("<<r.id>>_id")), {}).get("<<cap.name>>")
                many = b.get("<<cap.party>>")
                known = isinstance(most, int) and isinstance(many, int)
                if known and b.get("status") == "<<s.booked>>" and many > most:
                    return False
            return True
            """,
            when="cap is not none",
            rank=2,
        ),
        RuleText(
            "A new <<b>> is only made for <<p.a>> who is active and in <<r.a>> that is in service.",
            """
            people, rooms = rows(before, "<<p.ids>>"), rows(before, "<<r.ids>>")
            return all(
                people.get(str(b.get("<<p.id>>_id")), {}).get("status") == "active"
                and rooms.get(str(b.get("<<r.id>>_id")), {}).get("in_service") is True
                for b in added("<<b.ids>>")
            )
            """,
            rank=2,
        ),
        RuleText(
            "Cancelling a <<b>> fewer than <<s.cancel_days>> days before it begins costs "
            "<<(s.cancel_fee * 100)|int>> % of its price, and nothing before that.",
            """
            from datetime import date

            for old, new in changed("<<b.ids>>", "status"):
                if new.get("status") != "cancelled":
                    continue
                try:
                    left = (date.fromisoformat(old["<<start>>"]) - date.fromisoformat(before["today"])).days
                    fee = round(old["price"] * <<s.cancel_fee>>, 2) if left < <<s.cancel_days>> else 0.0
                except (KeyError, TypeError, ValueError):
                    continue
                if new.get("price") != fee:
                    return False
            return True
            """,
            when="s.cancel_fee > 0",
            rank=2,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _<<unit.ids>>(<<start>>: str, <<end>>: str) -> int | None:
        """Return how many <<unit.many>> lie between two dates, None when they are no dates or in the wrong order."""
        try:
            first, last = date.fromisoformat(<<start>>), date.fromisoformat(<<end>>)
        except ValueError:
            return None
        if (first.isoformat(), last.isoformat()) != (<<start>>, <<end>>) or first >= last:
            return None
        return (last - first).days

    def _<<r.id>>_is_free(self, <<r.id>>_id: str, <<start>>: str, <<end>>: str, ignore: str = "") -> bool:
        """Tell whether no <<b>> other than `ignore` holds the <<r>> on any <<unit>> of the span."""
        return not any(
            <<b.id>>["<<r.id>>_id"] == <<r.id>>_id
            and <<b.id>>["status"] != "cancelled"
            and <<b.id>>["<<b.id>>_id"] != ignore
            and <<b.id>>["<<start>>"] < <<end>>
            and <<start>> < <<b.id>>["<<end>>"]
            for <<b.id>> in self.<<b.ids>>.values()
        )
'''

    READS = '''
def list_<<r.ids>>(
    self,
    <<k.name>>: str | None = None,
    <<label.name>>: str | None = None,
%% for x in filters
    <<x.name>>: <<x.type>> | None = None,
%% endfor
) -> dict:
    """List the <<r.many>>, optionally narrowed down, the cheapest first.

    Args:
        <<k.name>>: Only this <<kindword>>: <<kinds|join(", ")>>. Leave out for all.
        <<label.name>>: Only the <<r>> with this <<labelwords>>. Leave out for all.
%% for x in filters
        <<x.name>>: Only those with this value: <<x.about>>. Leave out for all.
%% endfor

    Returns:
        The <<r.many>> sorted by <<ratewords>>, whether in service or not.
    """
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(kinds)>>):
        refuse :: There is no <<kindword>> {<<k.name>>!r}.
    selected = [
        dict(<<r.id>>)
        for <<r.id>> in self.<<r.ids>>.values()
        if <<k.name>> in (None, <<r.id>>["<<k.name>>"])
        and <<label.name>> in (None, <<r.id>>["<<label.name>>"])
%% for x in filters
        and <<x.name>> in (None, <<r.id>>["<<x.name>>"])
%% endfor
    ]
    selected.sort(key=lambda <<r.id>>: (<<r.id>>["<<s.rate>>"], <<r.id>>["<<r.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<r.id>>(self, <<r.id>>_id: str) -> dict:
    """Show one <<r>> together with the <<b.many>> that are still to come or running.

    Args:
        <<r.id>>_id: Id of the <<r>>, e.g. <<s.prefix>>-001.

    Returns:
        The <<r>> with its open <<b.many>> in order of their first day, or an error for an unknown id.
    """
    need r
    ahead = [
        dict(<<b.id>>)
        for <<b.id>> in self.<<b.ids>>.values()
        if <<b.id>>["<<r.id>>_id"] == <<r.id>>_id and <<b.id>>["status"] in ("<<s.booked>>", "<<s.begun>>")
    ]
    ahead.sort(key=lambda <<b.id>>: <<b.id>>["<<start>>"])
    return {"success": True, "data": {**<<r.id>>, "open_<<b.ids>>": ahead}}

def find_free_<<r.ids>>(
    self,
    <<start>>: str,
    <<end>>: str,
    <<k.name>>: str | None = None,
%% if cap is not none
    <<cap.party>>: int = 1,
%% endif
) -> dict:
    """Find the <<r.many>> that are in service and free for a span of <<unit.many>>, the cheapest first.

    Args:
        <<start>>: First day, as YYYY-MM-DD.
        <<end>>: Day on which it ends and the <<r>> is free again, as YYYY-MM-DD; later than the first.
        <<k.name>>: Only this <<kindword>>: <<kinds|join(", ")>>. Leave out for all.
%% if cap is not none
        <<cap.party>>: How many come, at least 1.
%% endif

    Returns:
        The free <<r.many>> sorted by <<ratewords>>; an empty list when everything is taken.
    """
    <<unit.ids>> = self._<<unit.ids>>(<<start>>, <<end>>)
    refuse if <<unit.ids>> is None :: {<<start>>!r} to {<<end>>!r} is not a span of days.
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(kinds)>>):
        refuse :: There is no <<kindword>> {<<k.name>>!r}.
%% if cap is not none
    refuse if <<cap.party>> < 1 :: At least 1 has to come, not {<<cap.party>>}.
%% endif
    free = [
        dict(<<r.id>>)
        for <<r.id>> in self.<<r.ids>>.values()
        if <<r.id>>["in_service"]
        and <<k.name>> in (None, <<r.id>>["<<k.name>>"])
%% if cap is not none
        and <<r.id>>["<<cap.name>>"] >= <<cap.party>>
%% endif
        and self._<<r.id>>_is_free(<<r.id>>["<<r.id>>_id"], <<start>>, <<end>>)
    ]
    free.sort(key=lambda <<r.id>>: (<<r.id>>["<<s.rate>>"], <<r.id>>["<<r.id>>_id"]))
    return {"success": True, "data": free}

def list_<<b.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<r.id>>_id: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<b.many>> in the order of their first day.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<r.id>>_id: Only those of this <<r>>. Leave out for all.
        status: Only those that are <<s.booked>>, <<s.begun>>, <<s.finished>> or cancelled. Leave out for all.

    Returns:
        The matching <<b.many>>; an empty list when there are none.
    """
    if status not in (None, "<<s.booked>>", "<<s.begun>>", "<<s.finished>>", "cancelled"):
        refuse :: There is no status {status!r}.
    selected = [
        dict(<<b.id>>)
        for <<b.id>> in self.<<b.ids>>.values()
        if <<p.id>>_id in (None, <<b.id>>["<<p.id>>_id"])
        and <<r.id>>_id in (None, <<b.id>>["<<r.id>>_id"])
        and status in (None, <<b.id>>["status"])
    ]
    selected.sort(key=lambda <<b.id>>: (<<b.id>>["<<start>>"], <<b.id>>["<<b.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<b.id>>(self, <<b.id>>_id: str) -> dict:
    """Show one <<b>>.

    Args:
        <<b.id>>_id: Id of the <<b>>, e.g. <<s.booking_prefix>>-001.

    Returns:
        The <<b>>, or an error for an unknown id.
    """
    need b
    return {"success": True, "data": dict(<<b.id>>)}

def list_<<b.ids>>_on(self, day: str) -> dict:
    """List the <<b.many>> that take <<r.a>> on a given day; cancelled ones and those that end on it are left out.

    Args:
        day: The day, as YYYY-MM-DD.

    Returns:
        The <<b.many>> sorted by the id of the <<r>>, or an error when the day cannot be read.
    """
    try:
        known = date.fromisoformat(day).isoformat() == day
    except ValueError:
        known = False
    refuse if not known :: {day!r} is not a date like {self.today}.
    taken = [
        dict(<<b.id>>)
        for <<b.id>> in self.<<b.ids>>.values()
        if <<b.id>>["status"] != "cancelled" and <<b.id>>["<<start>>"] <= day < <<b.id>>["<<end>>"]
    ]
    return {"success": True, "data": sorted(taken, key=lambda <<b.id>>: <<b.id>>["<<r.id>>_id"])}

def quote_<<b.id>>(self, <<r.id>>_id: str, <<start>>: str, <<end>>: str) -> dict:
    """Work out what <<b.a>> would cost, without making it.

    Args:
        <<r.id>>_id: Id of the <<r>>.
        <<start>>: First day, as YYYY-MM-DD.
        <<end>>: Day on which it ends, as YYYY-MM-DD.

    Returns:
        The number of <<unit.many>>, the price in <<s.currency>> and whether the <<r>> is free, or an error.
    """
    need r
    <<unit.ids>> = self._<<unit.ids>>(<<start>>, <<end>>)
    refuse if <<unit.ids>> is None :: {<<start>>!r} to {<<end>>!r} is not a span of days.
    quote = {
        "<<unit.ids>>": <<unit.ids>>,
        "price": round(<<r.id>>["<<s.rate>>"] * <<unit.ids>>, 2),
        "free": <<r.id>>["in_service"] and self._<<r.id>>_is_free(<<r.id>>_id, <<start>>, <<end>>),
    }
    return {"success": True, "data": quote}
'''

    WRITES = '''
def <<s.book>>_<<r.id>>(
    self,
    <<p.id>>_id: str,
    <<r.id>>_id: str,
    <<start>>: str,
    <<end>>: str,
%% if cap is not none
    <<cap.party>>: int = 1,
%% endif
) -> dict:
    """<<s.book|capitalize>> a <<r>> for <<p.a>>.

    Args:
        <<p.id>>_id: Id of the <<p>>, who must be active and have fewer than <<s.max_open>> open <<b.many>>.
        <<r.id>>_id: Id of the <<r>>, which must be in service and free.
        <<start>>: First day, as YYYY-MM-DD; not in the past.
        <<end>>: Day on which it ends, as YYYY-MM-DD; at most <<s.max_units>> <<unit.many>> after the first.
%% if cap is not none
        <<cap.party>>: How many come, at least 1 and no more than the <<r>> allows.
%% endif

    Returns:
        The new <<b>> with its price, or an error.
    """
    need p
    refuse if <<p.id>>["status"] != "active" :: {<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}.
    need r
    refuse if not <<r.id>>["in_service"] :: {<<r.id>>_id} is out of service.
    <<unit.ids>> = self._<<unit.ids>>(<<start>>, <<end>>)
    refuse if <<unit.ids>> is None :: {<<start>>!r} to {<<end>>!r} is not a span of days.
    refuse if <<start>> < self.today :: {<<start>>} is in the past; today is {self.today}.
    if <<unit.ids>> > <<s.max_units>>:
        refuse :: {<<unit.ids>>} <<unit.many>> are too long; <<s.max_units>> are allowed.
%% if cap is not none
    if not 1 <= <<cap.party>> <= <<r.id>>["<<cap.name>>"]:
        refuse :: {<<r.id>>_id} takes 1 to {<<r.id>>['<<cap.name>>']}, not {<<cap.party>>}.
%% endif
    if not self._<<r.id>>_is_free(<<r.id>>_id, <<start>>, <<end>>):
        refuse :: {<<r.id>>_id} is taken between {<<start>>} and {<<end>>}.
    open_<<b.ids>> = [
        <<b.id>>
        for <<b.id>> in self.<<b.ids>>.values()
        if <<b.id>>["<<p.id>>_id"] == <<p.id>>_id and <<b.id>>["status"] in ("<<s.booked>>", "<<s.begun>>")
    ]
    refuse if len(open_<<b.ids>>) >= <<s.max_open>> :: {<<p.id>>['name']} has <<s.max_open>> open <<b.many>> already.
    <<b.id>>: <<b.type>> = {
        "<<b.id>>_id": self._next_id(self.<<b.ids>>, "<<s.booking_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<r.id>>_id": <<r.id>>_id,
        "<<start>>": <<start>>,
        "<<end>>": <<end>>,
%% if cap is not none
        "<<cap.party>>": <<cap.party>>,
%% endif
        "price": round(<<r.id>>["<<s.rate>>"] * <<unit.ids>>, 2),
        "status": "<<s.booked>>",
    }
    self.<<b.ids>>[<<b.id>>["<<b.id>>_id"]] = <<b.id>>
    done dict(<<b.id>>) :: <<b.cap>> {<<b.id>>['<<b.id>>_id']} made for {<<p.id>>['name']}.

def change_<<b.id>>_dates(self, <<b.id>>_id: str, <<start>>: str, <<end>>: str) -> dict:
    """Move <<b.a>> to other days in the same <<r>>, at the present rate.

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be <<s.booked>>, or <<begunwords>> when only the end changes.
        <<start>>: New first day, as YYYY-MM-DD; not in the past unless it stays as it is.
        <<end>>: New day on which it ends, as YYYY-MM-DD; after today and at most <<s.max_units>> <<unit.many>> after
            the first. One of the two dates has to be another than before.

    Returns:
        The changed <<b>> with its new price, or an error.
    """
    need b
    if <<b.id>>["status"] not in ("<<s.booked>>", "<<s.begun>>"):
        refuse :: A <<b>> that is {<<b.id>>['status']} cannot be moved.
    <<unit.ids>> = self._<<unit.ids>>(<<start>>, <<end>>)
    refuse if <<unit.ids>> is None :: {<<start>>!r} to {<<end>>!r} is not a span of days.
    if (<<start>>, <<end>>) == (<<b.id>>["<<start>>"], <<b.id>>["<<end>>"]):
        refuse :: <<b.cap>> {<<b.id>>_id} has these dates already.
    if <<b.id>>["status"] == "<<s.begun>>" and <<start>> != <<b.id>>["<<start>>"]:
        refuse :: The <<b>> has begun; only its end can change.
    if <<start>> != <<b.id>>["<<start>>"] and <<start>> < self.today:
        refuse :: {<<start>>} is in the past; today is {self.today}.
    refuse if <<end>> <= self.today :: The new end {<<end>>} has to lie after today, {self.today}.
    if <<unit.ids>> > <<s.max_units>>:
        refuse :: {<<unit.ids>>} <<unit.many>> are too long; <<s.max_units>> are allowed.
    if not self._<<r.id>>_is_free(<<b.id>>["<<r.id>>_id"], <<start>>, <<end>>, ignore=<<b.id>>_id):
        refuse :: The <<r>> is taken between {<<start>>} and {<<end>>}.
    rate = self.<<r.ids>>[<<b.id>>["<<r.id>>_id"]]["<<s.rate>>"]
    <<b.id>>["<<start>>"] = <<start>>
    <<b.id>>["<<end>>"] = <<end>>
    <<b.id>>["price"] = round(rate * <<unit.ids>>, 2)
    done dict(<<b.id>>) :: <<b.cap>> {<<b.id>>_id} moved.

def cancel_<<b.id>>(self, <<b.id>>_id: str) -> dict:
    """Cancel <<b.a>> that has not begun.
%% if s.cancel_fee > 0

    Fewer than <<s.cancel_days>> days before it begins, <<(s.cancel_fee * 100)|int>> % of the price stay due as a fee.
%% endif

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be <<s.booked>>.

    Returns:
%% if s.cancel_fee > 0
        The cancelled <<b>>, its price being the fee that stays due, or an error.
%% else
        The cancelled <<b>>, which costs nothing, or an error.
%% endif
    """
    need b
    refuse if <<b.id>>["status"] != "<<s.booked>>" :: A <<b>> that is {<<b.id>>['status']} cannot be cancelled.
%% if s.cancel_fee > 0
    days_left = (date.fromisoformat(<<b.id>>["<<start>>"]) - date.fromisoformat(self.today)).days
    fee = round(<<b.id>>["price"] * <<s.cancel_fee>>, 2) if days_left < <<s.cancel_days>> else 0.0
    <<b.id>>["price"] = fee
%% else
    <<b.id>>["price"] = 0.0
%% endif
    <<b.id>>["status"] = "cancelled"
    done dict(<<b.id>>) :: <<b.cap>> {<<b.id>>_id} cancelled.

def <<s.begin>>_<<b.id>>(self, <<b.id>>_id: str) -> dict:
    """<<beginwords|capitalize>> <<b.a>> whose first day is today.

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be <<s.booked>>.

    Returns:
        The <<b>>, now <<begunwords>>, or an error.
    """
    need b
    if <<b.id>>["status"] != "<<s.booked>>":
        refuse :: <<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']}, not <<s.booked>>.
    if <<b.id>>["<<start>>"] != self.today:
        refuse :: <<b.cap>> {<<b.id>>_id} begins on {<<b.id>>['<<start>>']}, not today.
    <<b.id>>["status"] = "<<s.begun>>"
    done dict(<<b.id>>) :: <<b.cap>> {<<b.id>>_id} is <<begunwords>>.

def <<s.finish>>_<<b.id>>(self, <<b.id>>_id: str) -> dict:
    """<<finishwords|capitalize>> <<b.a>> that is running; its price and its dates stay as agreed.

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be <<begunwords>>.

    Returns:
        The <<b>>, now <<finishedwords>>, or an error.
    """
    need b
    if <<b.id>>["status"] != "<<s.begun>>":
        refuse :: <<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']}, not <<begunwords>>.
    <<b.id>>["status"] = "<<s.finished>>"
    done dict(<<b.id>>) :: <<b.cap>> {<<b.id>>_id} is <<finishedwords>>.

def set_<<r.id>>_rate(self, <<r.id>>_id: str, <<s.rate>>: float) -> dict:
    """Change the <<ratewords>> of <<r.a>>; <<b.many>> already made keep their price.

    Args:
        <<r.id>>_id: Id of the <<r>>.
        <<s.rate>>: New price of one <<unit>> in <<s.currency>>, above 0; another one than before.

    Returns:
        The changed <<r>>, or an error.
    """
    need r
    rate = round(<<s.rate>>, 2)
    refuse if rate <= 0 :: The <<ratewords>> has to be above 0, not {<<s.rate>>}.
    refuse if rate == <<r.id>>["<<s.rate>>"] :: The <<ratewords>> is {rate} already.
    <<r.id>>["<<s.rate>>"] = rate
    done dict(<<r.id>>) :: <<r.cap>> {<<r.id>>_id} has a new rate.

def set_<<r.id>>_service(self, <<r.id>>_id: str, in_service: bool) -> dict:
    """Take <<r.a>> out of service or put it back.

    Args:
        <<r.id>>_id: Id of the <<r>>; nobody may hold or have <<s.booked>> it when it is taken out.
        in_service: True to put it back into service, False to take it out.

    Returns:
        The changed <<r>>, or an error.
    """
    need r
    if <<r.id>>["in_service"] == in_service:
        state = "in service" if in_service else "out of service"
        return {"success": False, "error": f"{<<r.id>>_id} is already {state}."}
    held = any(
        <<b.id>>["<<r.id>>_id"] == <<r.id>>_id and <<b.id>>["status"] in ("<<s.booked>>", "<<s.begun>>")
        for <<b.id>> in self.<<b.ids>>.values()
    )
    refuse if held and not in_service :: {<<r.id>>_id} still has open <<b.many>>.
    <<r.id>>["in_service"] = in_service
    done dict(<<r.id>>) :: <<r.cap>> {<<r.id>>_id} changed.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        self._resources(v, state, rng)
        for key in state[v.r.ids]:
            self._bookings(v, state, rng, key)
        held = {b[f"{v.r.id}_id"] for b in state[v.b.ids].values() if b["status"] in (v.s.booked, v.s.begun)}
        idle = [key for key in state[v.r.ids] if key not in held]
        for key in idle[:1]:
            state[v.r.ids][key]["in_service"] = False

    def _resources(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        count = int(rng.integers(s.count[0], s.count[1] + 1))
        for i, label in enumerate(shuffled(rng, s.label.choices)[:count]):
            kind = v.kinds[i % len(v.kinds)]
            key = key_of(s.prefix, i + 1)
            low, high = s.kind.choices[kind]
            size = {s.capacity.name: int(rng.integers(s.capacity.by_kind[kind][0], s.capacity.by_kind[kind][1] + 1))} \
                if s.capacity else {}  # fmt: skip
            state[v.r.ids][key] = {
                f"{v.r.id}_id": key,
                s.label.name: label,
                s.kind.name: kind,
                **size,
                s.rate: float(round(rng.uniform(low, high) * 2) / 2),
                **{x.name: x.draw(rng) for x in s.extras},
                "in_service": True,
            }

    def _bookings(self, v: SimpleNamespace, state: State, rng: Rng, resource: str) -> None:
        s, today = v.s, state["today"]
        if rng.random() < 0.2:
            return
        at = later(today, -int(rng.choice([0, 2, 3, 6])))
        for _ in range(2):
            end = later(at, int(rng.integers(2, min(s.max_units, 6) + 1)))
            status = s.finished if end <= today else s.begun if at < today else s.booked
            person = self._somebody(v, state, rng)
            if person is None:
                return
            row = state[v.r.ids][resource]
            key = key_of(s.booking_prefix, len(state[v.b.ids]) + 1)
            party = {s.capacity.party: int(rng.integers(1, row[s.capacity.name] + 1))} if s.capacity else {}
            state[v.b.ids][key] = {
                f"{v.b.id}_id": key,
                f"{v.p.id}_id": person,
                f"{v.r.id}_id": resource,
                s.start: at,
                s.end: end,
                **party,
                "price": round(row[s.rate] * length(at, end), 2),
                "status": status,
            }
            at = later(end, int(rng.integers(3, 15)))

    def _somebody(self, v: SimpleNamespace, state: State, rng: Rng) -> str | None:
        def open_(key: str) -> int:
            rows = state[v.b.ids].values()
            return sum(b[f"{v.p.id}_id"] == key and b["status"] in (v.s.booked, v.s.begun) for b in rows)

        free_ones = [
            k for k, p in state[v.p.ids].items() if open_(k) < v.s.max_open and p["status"] == "active"
        ]
        none_yet = [key for key in free_ones if not open_(key)]
        return pick(rng, none_yet or free_ones) if free_ones else None


PATTERN = Booking
