"""Appointments: services that practitioners give at a time of day, within their hours and never two at once."""

from collections.abc import Iterator
from datetime import date
from itertools import chain
from types import SimpleNamespace
from typing import Any, ClassVar

from pydantic import model_validator

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
from envscaler.model.builtin.patterns.booking import later, length
from envscaler.model.builtin.phrase import Slots

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MOST_ROWS = 30
"""A state has no more appointments than this."""


class Field(Part):
    """What sorts practitioners and services: a practitioner gives the services of one field."""

    name: str
    """`specialty`"""
    about: str
    """What it means."""
    services: dict[str, dict[str, tuple[int, float]]]
    """Field → service → its minutes (a multiple of the slot) and its fee."""


class Restricted(Part):
    """Services that only people with a certain mark in their record may have."""

    name: str
    """`needs_referral`"""
    about: str
    """What it means."""
    flag: str
    """The boolean extra of the registry that is asked for."""
    services: list[str]
    """Which they are."""


class Suited(Part):
    """Services that each are for some kinds of those who come."""

    name: str
    """`species`"""
    about: str
    """What it means."""
    flag: str
    """The attribute of whoever comes that must be one of them."""
    services: dict[str, list[str]]
    """Service → the values it is for."""


class AppointmentSettings(Settings):
    """A practice's words and numbers."""

    practitioner: str
    """`doctor`"""
    practitioner_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of the practitioners' ids."""
    title: str = ""
    """Stands before the names of practitioners, e.g. `Dr`."""
    service: str
    """`treatment`"""
    service_many: str | None = None
    """Its plural where it is not regular."""
    service_prefix: str
    """Prefix of the services' ids."""
    field: Field
    """What sorts them."""
    appointment: str = "appointment"
    """`appointment`"""
    appointment_prefix: str
    """Prefix of the appointments' ids."""
    person: str = "person"
    """Who comes: a registry's noun."""
    fee: str = "fee"
    """Name of what a service costs."""
    paid_out: bool = False
    """Whether that is paid to whoever comes."""
    currency: str = "EUR"
    """Unit of money."""
    arrive: str = "check_in"
    """Verb for somebody's arrival."""
    arrived: str = "arrived"
    """The status that results."""
    finished: str = "completed"
    """The status of an appointment that has taken place."""
    slot: int = 15
    """Appointments begin every so many minutes."""
    hours: list[tuple[str, str]] = [
        ("08:00", "14:00"), ("08:30", "15:30"), ("09:00", "16:00"), ("10:00", "17:00"), ("11:00", "18:30"),
    ]  # fmt: skip
    """When practitioners begin and stop."""
    open_days: int = 5
    """How many days of the week there are appointments, from Monday."""
    horizon: int = 60
    """How many days ahead appointments are made."""
    max_open: int = 2
    """Most booked appointments a person may have."""
    cancel_days: int = 1
    """A cancellation is late when fewer than this many days are left."""
    cancel_share: float = 0.0
    """Share of the fee that a late cancellation costs."""
    missed_share: float = 1.0
    """Share of the fee that stays due when somebody does not come."""
    restricted: Restricted | None = None
    """Services that are not for everybody."""
    suited: Suited | None = None
    """Which services are for which of those who come, where not all are for everybody."""
    speaker: str = ""
    """Who speaks for those who come and cannot speak, e.g. `owner`."""
    staff: int = 2
    """Practitioners of each field."""

    @model_validator(mode="after")
    def _begins_on_slots(self) -> "AppointmentSettings":
        takes = [pair[0] for of in self.field.services.values() for pair in of.values()]
        ends = [minutes(clock) for pair in self.hours for clock in pair]
        if any(value % self.slot for value in takes + ends):
            raise ValueError(f"hours and durations: expected full {self.slot} minutes")
        offered = {name for of in self.field.services.values() for name in of}
        if self.suited and set(self.suited.services) != offered:
            raise ValueError("suited: expected whom each service is for")
        return self


def minutes(clock: str) -> int:
    """Minutes since midnight."""
    return int(clock[:2]) * 60 + int(clock[3:])


def clock(since_midnight: int) -> str:
    """The time so many minutes after midnight."""
    return f"{since_midnight // 60:02d}:{since_midnight % 60:02d}"


def weekday(day: str) -> str:
    """The weekday of a date."""
    return WEEKDAYS[date.fromisoformat(day).weekday()]


def allowed(v: SimpleNamespace, person: dict[str, Any], service: dict[str, Any]) -> bool:
    """Whether a service is one that this person may have at all."""
    marked, suited = v.s.restricted, v.s.suited
    cleared = marked is None or not service[marked.name] or person[marked.flag]
    return bool(cleared) and (suited is None or person[suited.flag] in service[suited.name])


def meets(row: dict[str, Any], day: str, start: str, end: str) -> bool:
    """Whether an appointment that stands takes some of a span of that day."""
    stands = row["status"] not in ("cancelled", "missed")
    return stands and row["day"] == day and row["start_time"] < end and start < row["end_time"]


def free_times(
    v: SimpleNamespace, state: State, who: dict[str, Any], day: str, long: int, ignore: str = ""
) -> list[str]:
    """When on a day a practitioner is free for so many minutes."""
    if not who["takes_bookings"] or weekday(day) not in who["works_on"]:
        return []
    key = f"{v.r.id}_id"
    rows = [b for k, b in state[v.b.ids].items() if b[key] == who[key] and b["day"] == day and k != ignore]
    first, last = minutes(who["opens"]), minutes(who["closes"]) - long
    return [
        clock(at)
        for at in range(first, last + 1, v.s.slot)
        if not any(meets(b, day, clock(at), clock(at + long)) for b in rows)
    ]


def first_free(
    v: SimpleNamespace, state: State, staff: list[dict[str, Any]], since: str, long: int, ignore: str = ""
) -> tuple[dict[str, Any], str, str]:
    """The practitioner, day and time of the first free slot; raises `LookupError` when two are equally early."""
    for ahead in range(v.s.horizon + 1):
        day = later(since, ahead)
        if day > later(state["today"], v.s.horizon):
            break
        times = [(free_times(v, state, who, day, long, ignore), who) for who in staff]
        first = min((slots[0] for slots, _ in times if slots), default=None)
        if first is not None:
            return only([who for slots, who in times if slots and slots[0] == first]), day, first
    raise LookupError("nobody is free")


class AppointmentGoal(Goal):
    """What goals about appointments share."""

    def person(self, slots: Slots, state: State) -> dict[str, Any]:
        """The record of the person a sentence names."""
        return named(state, self.v.p, slots["name"])

    def able(self, state: State, service: dict[str, Any]) -> list[dict[str, Any]]:
        """The practitioners who give a service."""
        field = self.v.f.name
        return [who for who in state[self.v.r.ids].values() if who[field] == service[field]]

    def may_come(self, state: State, person: dict[str, Any], service: dict[str, Any]) -> bool:
        """Whether a person may book this service now."""
        v = self.v
        key = f"{v.p.id}_id"
        booked = [b for b in state[v.b.ids].values() if b[key] == person[key] and b["status"] == "booked"]
        return person["status"] == "active" and len(booked) < v.s.max_open and allowed(v, person, service)

    def wish(self, state: State, rng: Rng) -> tuple[dict[str, Any], dict[str, Any]]:
        """A person and a service that this person may book now; raises `LookupError` when there is none."""
        people, services = (list(state[noun.ids].values()) for noun in (self.v.p, self.v.t))
        service = pick(rng, services)
        for person in shuffled(rng, people):
            if self.may_come(state, person, service):
                return person, service
        raise LookupError(f"nobody may have {service['name']}")

    def elsewhere(self, state: State, person: str, day: str, start: str, end: str, ignore: str = "") -> bool:
        """Whether the person has another appointment at that time."""
        rows = state[self.v.b.ids].items()
        return any(
            b[f"{self.v.p.id}_id"] == person and k != ignore and meets(b, day, start, end) for k, b in rows
        )

    def added(
        self, slots: Slots, state: State, service: dict[str, Any], who: dict[str, Any], day: str, start: str
    ) -> list[Outcome]:
        """There is one new appointment; everybody who gives the service is concerned."""
        v, person = self.v, self.person(slots, state)
        end = clock(minutes(start) + service["minutes"])
        if not self.may_come(state, person, service):
            raise LookupError(f"{slots['name']} cannot have {service['name']}")
        if self.elsewhere(state, person[f"{v.p.id}_id"], day, start, end):
            raise LookupError(f"{slots['name']} is elsewhere at that time")
        fields = {
            f"{v.p.id}_id": person[f"{v.p.id}_id"],
            f"{v.r.id}_id": who[f"{v.r.id}_id"],
            f"{v.t.id}_id": service[f"{v.t.id}_id"],
            "day": day,
            "start_time": start,
            "end_time": end,
            v.s.fee: service[v.s.fee],
            "status": "booked",
        }
        item = (
            f"Has {v.b.a} for {service['name']} been booked for {slots['name']} "
            f"with {who['name']} on {day} at {start}?"
        )
        return [Added(v.b.ids, fields, item, tuple(w[f"{v.r.id}_id"] for w in self.able(state, service)))]

    def day_ahead(self, state: State, rng: Rng) -> str:
        """A day on which there may be appointments."""
        day = later(state["today"], int(rng.integers(1, 15)))
        while date.fromisoformat(day).weekday() >= self.v.s.open_days:
            day = later(day, 1)
        return day


class BookFirst(AppointmentGoal):
    """Book the first free slot for a service, with whoever has it."""

    phrases = (
        "Please book the earliest possible <<b>> for the <<t>> {service:name} on or after {day:date} for <<p>> "
        "{name:name}, no matter with which <<r>>.",
        "<<asker>> {name:name} would like the <<t>> {service:name} as soon as possible from {day:date} on, so "
        "book the first free slot of any <<r>>.",
        "Find out which <<r>> can offer the <<t>> {service:name} first, counting from {day:date}, and book "
        "that slot for <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "find_<<t.ids>>", "find_free_slots", "book_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person, service = self.wish(state, rng)
        return {"name": person["name"], "service": service["name"], "day": self.day_ahead(state, rng)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        service = {f"{v.t.id}_id": found(1, 0, f"{v.t.id}_id")}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.t.ids}", name=slots["service"]),
            call("find_free_slots", **service, from_day=slots["day"]),
            call(
                f"book_{v.b.id}",
                **{
                    f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"),
                    f"{v.r.id}_id": found(2, 0, f"{v.r.id}_id"),
                    **service,
                    "day": found(2, 0, "day"),
                    "start_time": found(2, 0, "start_time"),
                },
            ),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        service = named(state, self.v.t, slots["service"])
        who, day, start = first_free(
            self.v, state, self.able(state, service), slots["day"], service["minutes"]
        )
        return self.added(slots, state, service, who, day, start)


class BookAt(AppointmentGoal):
    """Book a service with somebody at a time that was asked for."""

    phrases = (
        "Please book the <<t>> {service:name} with {who:name} for <<p>> {name:name} on {day:date} at {start:time}.",
        "<<asker>> {name:name} has agreed with {who:name} on {service:name} on {day:date} at {start:time}, so please "
        "book that <<b>>.",
        "For {name:name}, who is one of our <<p.many>>, I need the <<t>> {service:name} with {who:name} on "
        "{day:date}, starting at {start:time}.",
    )
    needs = ("find_<<p.ids>>", "find_<<r.ids>>", "find_<<t.ids>>", "book_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person, service = self.wish(state, rng)
        for who in shuffled(rng, self.able(state, service)):
            for _ in range(4):
                day = self.day_ahead(state, rng)
                times = free_times(self.v, state, who, day, service["minutes"])
                slots = {"name": person["name"], "service": service["name"], "who": who["name"], "day": day}
                if times:
                    return {**slots, "start": pick(rng, times)}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        keys = {f"{n.id}_id": found(i, 0, f"{n.id}_id") for i, n in enumerate((v.p, v.r, v.t))}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.r.ids}", name=slots["who"]),
            call(f"find_{v.t.ids}", name=slots["service"]),
            call(f"book_{v.b.id}", **keys, day=slots["day"], start_time=slots["start"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        service, who = named(state, self.v.t, slots["service"]), named(state, self.v.r, slots["who"])
        times = free_times(self.v, state, who, slots["day"], service["minutes"])
        if who not in self.able(state, service) or slots["start"] not in times:
            raise LookupError(f"{slots['who']} cannot take {slots['service']} then")
        return self.added(slots, state, service, who, slots["day"], slots["start"])


class OneAppointment(AppointmentGoal):
    """A goal about the one appointment of a status that somebody has."""

    status = "booked"

    def of(self) -> str:
        """The world's own word for the status."""
        return str(self.v.s.arrived if self.status == "arrived" else self.status)

    def rows(self, state: State) -> list[dict[str, Any]]:
        """The appointments of the status."""
        return [b for b in state[self.v.b.ids].values() if b["status"] == self.of()]

    def candidates(self, state: State, rng: Rng) -> list[tuple[dict[str, Any], str]]:
        """Appointments with the name of the person, who has just this one of the status."""
        key = f"{self.v.p.id}_id"
        rows = self.rows(state)
        alone = [b for b in rows if sum(c[key] == b[key] for c in rows) == 1]
        return shuffled(rng, [(b, state[self.v.p.ids][b[key]]["name"]) for b in alone])

    def appointment(self, slots: Slots, state: State) -> dict[str, Any]:
        """The appointment a sentence is about."""
        key = f"{self.v.p.id}_id"
        person = self.person(slots, state)[key]
        return only([b for b in self.rows(state) if b[key] == person])

    def service(self, row: dict[str, Any], state: State) -> dict[str, Any]:
        """The service of an appointment."""
        return dict(state[self.v.t.ids][row[f"{self.v.t.id}_id"]])

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        key = f"{self.v.p.id}_id"
        return [
            call(f"find_{self.v.p.ids}", name=slots["name"]),
            call(f"list_{self.v.b.ids}", **{key: found(0, 0, key), "status": self.of()}),
        ]

    def id(self) -> dict[str, Any]:
        """Argument with the appointment's id."""
        return {f"{self.v.b.id}_id": found(1, 0, f"{self.v.b.id}_id")}

    def change(
        self, row: dict[str, Any], item: str, also: tuple[str, ...] = (), **fields: Any
    ) -> list[Outcome]:
        """The appointment has these values; its person, practitioner and service are concerned."""
        keys = tuple(row[f"{noun.id}_id"] for noun in (self.v.p, self.v.r, self.v.t))
        return [Changed(self.v.b.ids, row[f"{self.v.b.id}_id"], fields, item, (*keys, *also))]

    def span(self, row: dict[str, Any], state: State, day: str, start: str) -> dict[str, Any]:
        """The fields of an appointment moved to a day and time."""
        end = clock(minutes(start) + minutes(row["end_time"]) - minutes(row["start_time"]))
        person = row[f"{self.v.p.id}_id"]
        if self.elsewhere(state, person, day, start, end, row[f"{self.v.b.id}_id"]):
            raise LookupError(f"{person} is elsewhere at that time")
        return {"day": day, "start_time": start, "end_time": end}


def long(row: dict[str, Any]) -> int:
    """The minutes an appointment takes."""
    return minutes(row["end_time"]) - minutes(row["start_time"])


class MoveFirst(OneAppointment):
    """Move an appointment to the first free slot of the same practitioner from a day on."""

    phrases = (
        "<<asker>> {name:name} cannot make the booked <<b>>, so move it to the first free slot of the same "
        "<<r>> on or after {day:date}.",
        "Please move the booked <<b>> of <<p>> {name:name} to the earliest slot that the same <<r>> has free from "
        "{day:date} on.",
        "<<voice>>{name:name} has to postpone the booked <<b>>; take whatever the same <<r>> has free first, counting "
        "from {day:date}.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "find_free_slots", "move_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row, name in self.candidates(state, rng):
            if row["day"] > state["today"]:
                return {"name": name, "day": later(row["day"], int(rng.integers(1, 9)))}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        keys = {f"{noun.id}_id": found(1, 0, f"{noun.id}_id") for noun in (self.v.t, self.v.r)}
        return [
            *self.look_up(slots),
            call("find_free_slots", **keys, from_day=slots["day"]),
            call(
                f"move_{self.v.b.id}",
                **self.id(),
                day=found(2, 0, "day"),
                start_time=found(2, 0, "start_time"),
            ),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.appointment(slots, state)
        who = state[self.v.r.ids][row[f"{self.v.r.id}_id"]]
        key = row[f"{self.v.b.id}_id"]
        _, day, start = first_free(self.v, state, [who], slots["day"], long(row))
        if row["day"] <= state["today"] or row["day"] == day:
            raise LookupError(f"{key} cannot be moved like that")
        item = f"Has the booked {self.v.b} of {slots['name']} been moved to {day} at {start}?"
        return self.change(row, item, **self.span(row, state, day, start))


class MoveTo(OneAppointment):
    """Move an appointment to a time that was asked for."""

    phrases = (
        "Please move the booked <<b>> of <<p>> {name:name} to {day:date} at {start:time}, with the same <<r>>.",
        "<<asker>> {name:name} asks to have the booked <<b>> on {day:date} at {start:time} instead.",
        "<<voice>>{name:name} called: the <<b>> that is booked should now take place on {day:date} at {start:time}.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "move_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row, name in self.candidates(state, rng):
            who = state[self.v.r.ids][row[f"{self.v.r.id}_id"]]
            day = self.day_ahead(state, rng)
            times = free_times(self.v, state, who, day, long(row), row[f"{self.v.b.id}_id"])
            times = [at for at in times if (day, at) != (row["day"], row["start_time"])]
            if times and row["day"] > state["today"]:
                return {"name": name, "day": day, "start": pick(rng, times)}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        when = {"day": slots["day"], "start_time": slots["start"]}
        return [*self.look_up(slots), call(f"move_{self.v.b.id}", **self.id(), **when)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.appointment(slots, state)
        who = state[self.v.r.ids][row[f"{self.v.r.id}_id"]]
        times = free_times(self.v, state, who, slots["day"], long(row), row[f"{self.v.b.id}_id"])
        same = (slots["day"], slots["start"]) == (row["day"], row["start_time"])
        if same or slots["start"] not in times or row["day"] <= state["today"]:
            raise LookupError("that time is not free")
        item = (
            f"Has the booked {self.v.b} of {slots['name']} been moved to {slots['day']} at {slots['start']}?"
        )
        return self.change(row, item, **self.span(row, state, slots["day"], slots["start"]))


class Reassign(OneAppointment):
    """Somebody else takes an appointment over at the same time."""

    phrases = (
        "{who:name} takes over the booked <<b>> of <<p>> {name:name}, day and time stay as they are.",
        "Please give the booked <<b>> of <<p>> {name:name} to {who:name} without changing the time.",
        "<<asker>> {name:name} would rather see {who:name}, so change the <<r>> of the booked <<b>>.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "find_<<r.ids>>", "reassign_<<b.id>>")

    def fits(self, row: dict[str, Any], who: dict[str, Any], state: State) -> bool:
        """Whether somebody could take the appointment over."""
        able = who[self.v.f.name] == self.service(row, state)[self.v.f.name]
        key = f"{self.v.r.id}_id"
        times = free_times(self.v, state, who, row["day"], long(row))
        on_grid = row["start_time"] in times
        return able and who[key] != row[key] and on_grid and row["day"] > state["today"]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row, name in self.candidates(state, rng):
            able = [who for who in state[self.v.r.ids].values() if self.fits(row, who, state)]
            if able:
                return {"name": name, "who": pick(rng, able)["name"]}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        to = {f"{self.v.r.id}_id": found(2, 0, f"{self.v.r.id}_id")}
        return [
            *self.look_up(slots),
            call(f"find_{self.v.r.ids}", name=slots["who"]),
            call(f"reassign_{self.v.b.id}", **self.id(), **to),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, who = self.appointment(slots, state), named(state, self.v.r, slots["who"])
        if not self.fits(row, who, state):
            raise LookupError(f"{slots['who']} cannot take it over")
        key = who[f"{self.v.r.id}_id"]
        item = f"Has {slots['who']} taken over the booked {self.v.b} of {slots['name']}?"
        return self.change(row, item, (key,), **{f"{self.v.r.id}_id": key})


class Cancel(OneAppointment):
    """Cancel an appointment."""

    phrases = (
        "Please cancel the booked <<b>> of <<p>> {name:name}.",
        "<<asker>> {name:name} can no longer come to the booked <<b>>, which should therefore be cancelled.",
        "<<voice>>{name:name} called off the <<b>> that is still booked, so please cancel it.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "cancel_<<b.id>>")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"cancel_{self.v.b.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, s = self.appointment(slots, state), self.v.s
        late = length(state["today"], row["day"]) < s.cancel_days
        due = round(row[s.fee] * s.cancel_share, 2) if late else 0.0
        item = f"Has the booked {self.v.b} of {slots['name']} been cancelled?"
        return self.change(row, item, (), **{"status": "cancelled", s.fee: due})


class CancelNext(AppointmentGoal):
    """Cancel the next appointment that a practitioner has after today."""

    phrases = (
        "{who:name} has to drop the very next <<b>> in the calendar after today, so please cancel that one.",
        "Please cancel whichever booked <<b>> comes first for {who:name} after today.",
        "Look up which booked <<b>> {who:name} has first after today and cancel it.",
    )
    needs = ("find_<<r.ids>>", "list_<<b.ids>>", "cancel_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"who": pick(rng, list(state[self.v.r.ids].values()))["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = f"{self.v.r.id}_id"
        which = {key: found(0, 0, key), "status": "booked", "upcoming": True}
        return [
            call(f"find_{self.v.r.ids}", name=slots["who"]),
            call(f"list_{self.v.b.ids}", **which),
            call(f"cancel_{self.v.b.id}", **{f"{self.v.b.id}_id": found(1, 0, f"{self.v.b.id}_id")}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, s = self.v, self.v.s
        who = named(state, v.r, slots["who"])[f"{v.r.id}_id"]
        rows = [
            b
            for b in state[v.b.ids].values()
            if b[f"{v.r.id}_id"] == who and b["status"] == "booked" and b["day"] > state["today"]
        ]
        if not rows:
            raise LookupError(f"{slots['who']} has nothing booked")
        row = min(rows, key=lambda b: (b["day"], b["start_time"]))
        late = length(state["today"], row["day"]) < s.cancel_days
        due = round(row[s.fee] * s.cancel_share, 2) if late else 0.0
        keys = tuple(row[f"{noun.id}_id"] for noun in (v.p, v.r, v.t))
        item = f"Has the next booked {v.b} of {slots['who']} been cancelled?"
        fields = {"status": "cancelled", s.fee: due}
        return [Changed(v.b.ids, row[f"{v.b.id}_id"], fields, item, keys)]


class Arrive(OneAppointment):
    """Somebody has come for an appointment of today."""

    phrases = (
        "The <<p>> {name:name} has just arrived for today's <<b>>, please record that.",
        "The <<p>> {name:name} is here, so today's <<b>> can be marked as <<arrivedwords>>.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "<<s.arrive>>_<<b.id>>")

    def rows(self, state: State) -> list[dict[str, Any]]:
        """Those of today; a list that is in the order of days shows them first."""
        return [b for b in super().rows(state) if b["day"] == state["today"]]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"{self.v.s.arrive}_{self.v.b.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.appointment(slots, state)
        item = f"Is today's {self.v.b} of {slots['name']} marked as {self.v.s.arrived.replace('_', ' ')}?"
        return self.change(row, item, status=self.v.s.arrived)


class Finish(OneAppointment):
    """An appointment is over."""

    status = "arrived"
    phrases = (
        "The <<b>> of <<p>> {name:name}, so far <<arrivedwords>>, is over, so please complete it.",
        "Please complete the <<b>> of <<p>> {name:name}, which is under way at the moment.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "complete_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"complete_{self.v.b.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the {self.v.b} of {slots['name']} been completed?"
        return self.change(self.appointment(slots, state), item, status=self.v.s.finished)


class Miss(Arrive):
    """Somebody did not come today."""

    phrases = (
        "The <<p>> {name:name} never showed up for today's <<b>>, so mark it as missed.",
        "Please record that <<p>> {name:name} missed the <<b>> of today.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "mark_<<b.id>>_missed")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"mark_{self.v.b.id}_missed", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, s = self.appointment(slots, state), self.v.s
        due = round(row[s.fee] * s.missed_share, 2)
        item = f"Is today's {self.v.b} of {slots['name']} marked as missed?"
        return self.change(row, item, (), **{"status": "missed", s.fee: due})


class SetFee(Goal):
    """A new fee for the dearest service of a field."""

    phrases = (
        "The <<most_expensive>> <<t>> of the <<fieldword>> {field:name} shall <<cost>> {fee:money} <<s.currency>> "
        "from now on.",
        "Please change the <<feewords>> of the <<dearest>> <<t>> in the <<fieldword>> {field:name} to {fee:money} "
        "<<s.currency>>.",
    )
    needs = ("list_<<t.ids>>", "set_<<t.id>>_<<s.fee>>")
    weight = 0.6

    def service(self, slots: Slots, state: State) -> dict[str, Any]:
        """The dearest service of the field."""
        rows = [t for t in state[self.v.t.ids].values() if t[self.v.f.name] == slots["field"]]
        most = max((t[self.v.s.fee] for t in rows), default=0)
        return only([t for t in rows if t[self.v.s.fee] == most])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots: Slots = {"field": pick(rng, self.v.fields)}
        fee = self.service(slots, state)[self.v.s.fee]
        return {**slots, "fee": round(fee * float(rng.choice([0.75, 0.9, 1.1, 1.2])), 1)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        key = {f"{v.t.id}_id": found(0, 0, f"{v.t.id}_id"), v.s.fee: slots["fee"]}
        return [
            call(f"list_{v.t.ids}", **{v.f.name: slots["field"]}),
            call(f"set_{v.t.id}_{v.s.fee}", **key),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.service(slots, state)
        if slots["fee"] <= 0 or row[self.v.s.fee] == slots["fee"]:
            raise LookupError("that is no new fee")
        item = (
            f"Has the {self.v.dearest} {self.v.t} of {slots['field']} been given the new {self.v.feewords}?"
        )
        return [
            Changed(
                self.v.t.ids, row[f"{self.v.t.id}_id"], {self.v.s.fee: slots["fee"]}, item, (slots["field"],)
            )
        ]


class SetHours(Goal):
    """New hours of a practitioner."""

    phrases = (
        "From now on {who:name} works from {opens:time} to {closes:time}, please enter these hours.",
        "Please set the working hours of {who:name} to {opens:time} until {closes:time}.",
    )
    needs = ("find_<<r.ids>>", "set_<<r.id>>_hours")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        who = pick(rng, list(state[self.v.r.ids].values()))
        opens = minutes(who["opens"]) + self.v.s.slot * int(rng.integers(-3, 2))
        closes = minutes(who["closes"]) + self.v.s.slot * int(rng.integers(-1, 4))
        return {"who": who["name"], "opens": clock(opens), "closes": clock(closes)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        hours = {"opens": slots["opens"], "closes": slots["closes"]}
        key = {f"{self.v.r.id}_id": found(0, 0, f"{self.v.r.id}_id")}
        return [
            call(f"find_{self.v.r.ids}", name=slots["who"]),
            call(f"set_{self.v.r.id}_hours", **key, **hours),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        who = named(state, v.r, slots["who"])
        hours = {"opens": slots["opens"], "closes": slots["closes"]}
        rows = [
            b
            for b in state[v.b.ids].values()
            if b[f"{v.r.id}_id"] == who[f"{v.r.id}_id"] and b["status"] == "booked"
        ]
        outside = any(b["start_time"] < hours["opens"] or b["end_time"] > hours["closes"] for b in rows)
        on_grid = not any(minutes(at) % v.s.slot for at in hours.values())
        if outside or not on_grid or (who["opens"], who["closes"]) == tuple(hours.values()):
            raise LookupError("these hours are not possible")
        item = f"Has {slots['who']} been given the hours from {slots['opens']} to {slots['closes']}?"
        return [Changed(v.r.ids, who[f"{v.r.id}_id"], hours, item)]


class StopBookings(Goal):
    """A practitioner takes no more bookings, or takes them again."""

    phrases = (
        "{who:name} will be away, so no new <<b.many>> may be booked there until further notice.",
        "Please stop taking new bookings for {who:name}; what is booked already stays.",
    )
    needs = ("find_<<r.ids>>", "set_<<r.id>>_bookings")
    weight = 0.5
    wanted = False

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [who for who in state[self.v.r.ids].values() if who["takes_bookings"] != self.wanted]
        return {"who": pick(rng, rows)["name"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.r.id}_id": found(0, 0, f"{self.v.r.id}_id")}
        return [
            call(f"find_{self.v.r.ids}", name=slots["who"]),
            call(f"set_{self.v.r.id}_bookings", **key, takes_bookings=self.wanted),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        who = named(state, self.v.r, slots["who"])
        if who["takes_bookings"] == self.wanted:
            raise LookupError(f"{slots['who']} does so already")
        said = "open for new bookings again" if self.wanted else "closed for new bookings"
        key = who[f"{self.v.r.id}_id"]
        return [Changed(self.v.r.ids, key, {"takes_bookings": self.wanted}, f"Is {slots['who']} {said}?")]


class TakeBookings(StopBookings):
    """A practitioner who is back takes bookings again."""

    phrases = (
        "{who:name} is back, so new <<b.many>> can be booked there again.",
        "Please open the calendar of {who:name} for new bookings again.",
    )
    wanted = True


class Appointments(Pattern):
    """Services given at a time of day."""

    Settings = AppointmentSettings
    IMPORTS = ("from datetime import date, time, timedelta",)
    GOALS: ClassVar = (
        BookFirst, BookAt, MoveFirst, MoveTo, Reassign, Cancel, CancelNext, Arrive, Finish, Miss, SetFee, SetHours,
        StopBookings, TakeBookings,
    )  # fmt: skip

    def vocabulary(self, s: AppointmentSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        r, t = Noun(s.practitioner, s.practitioner_many), Noun(s.service, s.service_many)
        b = Noun(s.appointment)
        shared.update({s.practitioner: r, s.service: t, s.appointment: b})
        return {
            "r": r,
            "t": t,
            "b": b,
            "p": shared[s.person],
            "f": s.field,
            "fields": list(s.field.services),
            "fieldword": s.field.name.replace("_", " "),
            "feewords": s.fee.replace("_", " "),
            "cost": "pay" if s.paid_out else "cost",
            "dearest": "best paid" if s.paid_out else "dearest",
            "most_expensive": "best paid" if s.paid_out else "most expensive",
            "late": f"Fewer than {s.cancel_days} {'days' if s.cancel_days > 1 else 'day'} ahead",
            "few": f"fewer than {s.max_open}" if s.max_open > 1 else "no",
            "most": b.many if s.max_open > 1 else b.one,
            "arrivewords": s.arrive.replace("_", " "),
            "arrivedwords": s.arrived.replace("_", " "),
            "finishedwords": s.finished.replace("_", " "),
            "only_for": s.restricted,
            "suited": s.suited,
            "asker": f"The {s.speaker} of" if s.speaker else f"The {shared[s.person]}",
            "voice": f"The {s.speaker} of " if s.speaker else "",
            "that": "which" if s.speaker else "who",
            "kinds": list(dict.fromkeys(chain(*s.suited.services.values()))) if s.suited else [],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, r, t, b, p = v.s, v.r, v.t, v.b, v.p
        only_for = [attribute(s.restricted.name, "bool", s.restricted.about)] if s.restricted else []
        if s.suited:
            only_for.append(attribute(s.suited.name, "list[str]", s.suited.about))
        sorts = attribute(s.field.name, "str", f"{s.field.about}: {', '.join(v.fields)}")
        return [
            Table(
                r,
                f"{r.a[:1].upper()}{r.a[1:]} with weekly hours.",
                [
                    attribute(f"{r.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                    attribute("name", "str", "full name"),
                    sorts,
                    attribute("works_on", "list[str]", 'weekdays with hours, e.g. ["Monday", "Thursday"]'),
                    attribute("opens", "str", "first time of a working day, as HH:MM"),
                    attribute("closes", "str", f"time by which the last {b} has ended, as HH:MM"),
                    *own(s.extras),
                    attribute("takes_bookings", "bool", f"whether new {b.many} can be made"),
                ],
            ),
            Table(
                t,
                f"{t.a[:1].upper()}{t.a[1:]} on offer.",
                [
                    attribute(f"{t.id}_id", "str", f"unique id, e.g. {s.service_prefix}-001"),
                    attribute("name", "str", "name, unique"),
                    sorts,
                    attribute("minutes", "int", f"how long it takes, a multiple of {s.slot}"),
                    attribute(s.fee, "float", f"what it {v.cost}s in {s.currency}, above 0"),
                    *only_for,
                ],
            ),
            Table(
                b,
                f"{b.a[:1].upper()}{b.a[1:]}: one {t} for one {p} with one {r}.",
                [
                    attribute(f"{b.id}_id", "str", f"unique id, e.g. {s.appointment_prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p} {v.that} comes"),
                    attribute(f"{r.id}_id", "str", f"the {r} who is seen"),
                    attribute(f"{t.id}_id", "str", f"the {t}"),
                    attribute("day", "str", "date, as YYYY-MM-DD"),
                    attribute("start_time", "str", "when it begins, as HH:MM"),
                    attribute("end_time", "str", "when it ends, as HH:MM"),
                    attribute(
                        s.fee,
                        "float",
                        f"what is due in {s.currency}; once cancelled or missed, what stays due",
                    ),
                    attribute("status", "str", f"booked, {s.arrived}, {s.finished}, missed or cancelled"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "<<r.a[:1]|upper>><<r.a[1:]>> never has two <<b.many>> at the same time; cancelled and missed ones "
            "do not count.",
            """
            spans = {}
            for row in rows(after, "<<b.ids>>").values():
                start, end = row.get("start_time"), row.get("end_time")
                if row.get("status") not in ("cancelled", "missed") and isinstance(start, str) and isinstance(end, str):
                    key = (str(row.get("<<r.id>>_id")), str(row.get("day")))
                    spans.setdefault(key, []).append((start, end))
            ordered = [sorted(group) for group in spans.values()]
            return all(one[1] <= two[0] for group in ordered for one, two in zip(group, group[1:]))
            """,
        ),
        RuleText(
            "<<b.a[:1]|upper>><<b.a[1:]>> that is booked lies within the hours and on a working day of its <<r>>.",
            """
            from datetime import date

            names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
            staff = rows(after, "<<r.ids>>")
            for row in rows(after, "<<b.ids>>").values():
                who = staff.get(str(row.get("<<r.id>>_id")))
                if row.get("status") != "booked" or who is None:
                    continue
                try:
                    weekday = names[date.fromisoformat(row["day"]).weekday()]
                    inside = who["opens"] <= row["start_time"] < row["end_time"] <= who["closes"]
                except (KeyError, TypeError, ValueError):
                    continue
                if not inside or weekday not in (who.get("works_on") or []):
                    return False
            return True
            """,
        ),
        RuleText(
            "<<p.a[:1]|upper>><<p.a[1:]>> has at most <<s.max_open>> booked <<most>>, and is never expected at "
            "two at the same time.",
            """
            counts, spans = {}, {}
            for row in rows(after, "<<b.ids>>").values():
                start, end = row.get("start_time"), row.get("end_time")
                if row.get("status") == "booked" and isinstance(start, str) and isinstance(end, str):
                    person = str(row.get("<<p.id>>_id"))
                    counts[person] = counts.get(person, 0) + 1
                    spans.setdefault((person, str(row.get("day"))), []).append((start, end))
            apart = all(
                one[1] <= two[0] for group in map(sorted, spans.values()) for one, two in zip(group, group[1:])
            )
            return apart and all(count <= <<s.max_open>> for count in counts.values())
            """,
        ),
        RuleText(
            "<<b.a[:1]|upper>><<b.a[1:]>> takes as long as its <<t>>, which must be of the <<fieldword>> of the <<r>>.",
            """
            def clock(text):
                return int(text[:2]) * 60 + int(text[3:])

            staff, services = rows(after, "<<r.ids>>"), rows(after, "<<t.ids>>")
            for row in rows(after, "<<b.ids>>").values():
                who = staff.get(str(row.get("<<r.id>>_id")))
                service = services.get(str(row.get("<<t.id>>_id")))
                if who is None or service is None:
                    continue
                try:
                    long = clock(row["end_time"]) - clock(row["start_time"])
                except (KeyError, TypeError, ValueError):
                    continue
                if who.get("<<f.name>>") != service.get("<<f.name>>") or long != service.get("minutes"):
                    return False
            return True
            """,
        ),
        RuleText(
            "<<b.a[:1]|upper>><<b.a[1:]>> goes from booked to <<arrivedwords>> to <<finishedwords>>, or from "
            "booked to missed or cancelled, and never back.",
            """
            steps = (("booked", "<<s.arrived>>"), ("<<s.arrived>>", "<<s.finished>>"), ("booked", "missed"),
                     ("booked", "cancelled"))
            return all((old.get("status"), new.get("status")) in steps for old, new in changed("<<b.ids>>", "status"))
            """,
        ),
        RuleText(
            "A new <<b>> is made from tomorrow up to <<s.horizon>> days ahead, for <<p.a>> <<that>> is active and with "
            "<<r.a>> who takes bookings.",
            """
            from datetime import date

            people, staff = rows(before, "<<p.ids>>"), rows(before, "<<r.ids>>")
            for row in added("<<b.ids>>"):
                try:
                    ahead = (date.fromisoformat(row["day"]) - date.fromisoformat(before["today"])).days
                except (KeyError, TypeError, ValueError):
                    return False
                active = people.get(str(row.get("<<p.id>>_id")), {}).get("status") == "active"
                takes = staff.get(str(row.get("<<r.id>>_id")), {}).get("takes_bookings") is True
                if not (1 <= ahead <= <<s.horizon>> and active and takes):
                    return False
            return True
            """,
            rank=2,
        ),
        RuleText(
            "Where <<only_for.about.removeprefix('whether ')>>, <<t.a>> is only booked for <<p.a>> whose record has "
            "<<only_for.flag>> set.",
            """
            people, services = rows(before, "<<p.ids>>"), rows(before, "<<t.ids>>")
            return not any(
                services.get(str(row.get("<<t.id>>_id")), {}).get("<<only_for.name>>") is True
                and people.get(str(row.get("<<p.id>>_id")), {}).get("<<only_for.flag>>") is not True
                for row in added("<<b.ids>>")
            )
            """,
            when="only_for is not none",
            rank=2,
        ),
        RuleText(
            "<<t.a[:1]|upper>><<t.a[1:]>> is only booked for <<p.a>> of a <<suited.flag>> that it is meant for.",
            """
            people, services = rows(before, "<<p.ids>>"), rows(before, "<<t.ids>>")
            return all(
                people.get(str(row.get("<<p.id>>_id")), {}).get("<<suited.flag>>")
                in (services.get(str(row.get("<<t.id>>_id")), {}).get("<<suited.name>>") or ())
                for row in added("<<b.ids>>")
            )
            """,
            when="suited is not none",
            rank=0,
        ),
        RuleText(
            "Cancelling <<b.a>> fewer than <<s.cancel_days>> days ahead costs <<(s.cancel_share * 100)|int>> % "
            "of its <<feewords>>, and nothing before that.",
            """
            from datetime import date

            for old, new in changed("<<b.ids>>", "status"):
                if new.get("status") != "cancelled":
                    continue
                try:
                    left = (date.fromisoformat(old["day"]) - date.fromisoformat(before["today"])).days
                    due = round(old["<<s.fee>>"] * <<s.cancel_share>>, 2) if left < <<s.cancel_days>> else 0.0
                except (KeyError, TypeError, ValueError):
                    continue
                if new.get("<<s.fee>>") != due:
                    return False
            return True
            """,
            when="s.cancel_share > 0",
            rank=2,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _is_day(day: str) -> bool:
        """Tell whether a text is a date written as YYYY-MM-DD."""
        try:
            return date.fromisoformat(day).isoformat() == day
        except ValueError:
            return False

    @staticmethod
    def _minutes(clock: str) -> int | None:
        """Return the minutes from midnight to a time such as `"09:30"`, None when it is no such time."""
        try:
            moment = time.fromisoformat(clock)
        except ValueError:
            return None
        return moment.hour * 60 + moment.minute if moment.strftime("%H:%M") == clock else None

    @staticmethod
    def _clock(minutes: int) -> str:
        """Return the time so many minutes after midnight, e.g. `"09:30"`."""
        return f"{minutes // 60:02d}:{minutes % 60:02d}"

    @staticmethod
    def _weekday(day: str) -> str:
        """Return the weekday of a date, e.g. `"Monday"`."""
        names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
        return names[date.fromisoformat(day).weekday()]

    def _in_the_way(self, key: str, value: str, day: str, start: str, end: str, ignore: str = "") -> str | None:
        """Return the id of a standing <<b>> of somebody that takes some of the span, or None."""
        for <<b.id>> in self.<<b.ids>>.values():
            if (
                <<b.id>>[key] == value
                and <<b.id>>["<<b.id>>_id"] != ignore
                and <<b.id>>["status"] not in ("cancelled", "missed")
                and <<b.id>>["day"] == day
                and <<b.id>>["start_time"] < end
                and start < <<b.id>>["end_time"]
            ):
                return <<b.id>>["<<b.id>>_id"]
        return None

    def _obstacle(self, <<r.id>>: <<r.type>>, day: str, start: int, length: int, ignore: str = "") -> str:
        """Tell in a sentence why <<r.a>> cannot take a span of a day; empty when nothing is in the way."""
        end = start + length
        if self._weekday(day) not in <<r.id>>["works_on"]:
            return f"{<<r.id>>['name']} does not work on {self._weekday(day)}s."
        if self._clock(start) < <<r.id>>["opens"] or self._clock(end) > <<r.id>>["closes"]:
            return f"{<<r.id>>['name']} works from {<<r.id>>['opens']} to {<<r.id>>['closes']}."
        taken = self._in_the_way(
            "<<r.id>>_id", <<r.id>>["<<r.id>>_id"], day, self._clock(start), self._clock(end), ignore
        )
        return f"{<<r.id>>['name']} has {taken} at that time." if taken else ""

    def _free_times(self, <<r.id>>: <<r.type>>, day: str, length: int) -> list[str]:
        """Return when on a day <<r.a>> could begin something of this many minutes."""
        first, last = self._minutes(<<r.id>>["opens"]), self._minutes(<<r.id>>["closes"])
        if not <<r.id>>["takes_bookings"] or first is None or last is None:
            return []
        starts = range(first, last - length + 1, <<s.slot>>)
        return [self._clock(start) for start in starts if not self._obstacle(<<r.id>>, day, start, length)]
'''

    READS = '''
def list_<<r.ids>>(self, <<f.name>>: str | None = None, weekday: str | None = None) -> dict:
    """List the <<r.many>>, optionally narrowed down.

    Args:
        <<f.name>>: Only those of this <<fieldword>>: <<fields|join(", ")>>. Leave out for all.
        weekday: Only those who work on this day of the week, e.g. Monday. Leave out for all.

    Returns:
        The <<r.many>> with their hours, sorted by name, whether they take bookings or not.
    """
    if <<f.name>> is not None and <<f.name>> not in (<<quoted(fields)>>):
        return {"success": False, "error": f"There is no <<fieldword>> {<<f.name>>!r}."}
    selected = [
        dict(<<r.id>>)
        for <<r.id>> in self.<<r.ids>>.values()
        if <<f.name>> in (None, <<r.id>>["<<f.name>>"])
        and (weekday is None or weekday.strip().capitalize() in <<r.id>>["works_on"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda <<r.id>>: <<r.id>>["name"])}

def find_<<r.ids>>(self, name: str) -> dict:
    """Find <<r.many>> by name.

    Args:
        name: Full name or a part of it; upper and lower case are the same.

    Returns:
        The matching <<r.many>> sorted by name; an empty list when nobody matches.
    """
    wanted = name.strip().lower()
    if not wanted:
        return {"success": False, "error": "The name to look for is empty."}
    matches = [dict(<<r.id>>) for <<r.id>> in self.<<r.ids>>.values() if wanted in <<r.id>>["name"].lower()]
    return {"success": True, "data": sorted(matches, key=lambda <<r.id>>: <<r.id>>["name"])}

def get_<<r.id>>_day(self, <<r.id>>_id: str, day: str) -> dict:
    """Show what <<r.a>> has on a day, cancelled and missed <<b.many>> left out.

    Args:
        <<r.id>>_id: Id of the <<r>>, e.g. <<s.prefix>>-001.
        day: The date, as YYYY-MM-DD.

    Returns:
        Whether the <<r>> works on that day, and the <<b.many>> in the order of their times, or an error.
    """
    <<r.id>> = self.<<r.ids>>.get(<<r.id>>_id)
    if <<r.id>> is None:
        return {"success": False, "error": f"There is no <<r>> with the id {<<r.id>>_id!r}."}
    if not self._is_day(day):
        return {"success": False, "error": f"{day!r} is not a date like {self.today}."}
    planned = [
        dict(<<b.id>>)
        for <<b.id>> in self.<<b.ids>>.values()
        if <<b.id>>["<<r.id>>_id"] == <<r.id>>_id
        and <<b.id>>["day"] == day
        and <<b.id>>["status"] not in ("cancelled", "missed")
    ]
    planned.sort(key=lambda <<b.id>>: <<b.id>>["start_time"])
    works = self._weekday(day) in <<r.id>>["works_on"]
    return {"success": True, "data": {"day": day, "works": works, "<<b.ids>>": planned}}

%% if suited is none
def list_<<t.ids>>(self, <<f.name>>: str | None = None) -> dict:
%% else
def list_<<t.ids>>(self, <<f.name>>: str | None = None, <<suited.flag>>: str | None = None) -> dict:
%% endif
    """List the <<t.many>> on offer, the <<most_expensive>> first.

    Args:
        <<f.name>>: Only those of this <<fieldword>>: <<fields|join(", ")>>. Leave out for all.
%% if suited is not none
        <<suited.flag>>: Only those meant for this <<suited.flag>>: <<kinds|join(", ")>>. Leave out for all.
%% endif

    Returns:
        The <<t.many>> with duration and <<feewords>>, sorted by <<feewords>> from the highest to the lowest.
    """
    if <<f.name>> is not None and <<f.name>> not in (<<quoted(fields)>>):
        return {"success": False, "error": f"There is no <<fieldword>> {<<f.name>>!r}."}
%% if suited is none
    selected = [dict(<<t.id>>) for <<t.id>> in self.<<t.ids>>.values() if <<f.name>> in (None, <<t.id>>["<<f.name>>"])]
%% else
    if <<suited.flag>> is not None and <<suited.flag>> not in (<<quoted(kinds)>>):
        return {"success": False, "error": f"No <<t>> is meant for the <<suited.flag>> {<<suited.flag>>!r}."}
    selected = [
        dict(<<t.id>>)
        for <<t.id>> in self.<<t.ids>>.values()
        if <<f.name>> in (None, <<t.id>>["<<f.name>>"]) and <<suited.flag>> in (None, *<<t.id>>["<<suited.name>>"])
    ]
%% endif
    selected.sort(key=lambda <<t.id>>: (-<<t.id>>["<<s.fee>>"], <<t.id>>["<<t.id>>_id"]))
    return {"success": True, "data": selected}

def find_<<t.ids>>(self, name: str) -> dict:
    """Find <<t.many>> by name; one that is called exactly so comes first.

    Args:
        name: Name or a part of it; upper and lower case are the same.

    Returns:
        The matching <<t.many>>; an empty list when there are none.
    """
    wanted = name.strip().lower()
    if not wanted:
        return {"success": False, "error": "The name to look for is empty."}
    matches = [dict(<<t.id>>) for <<t.id>> in self.<<t.ids>>.values() if wanted in <<t.id>>["name"].lower()]
    matches.sort(key=lambda <<t.id>>: (<<t.id>>["name"].lower() != wanted, <<t.id>>["name"]))
    return {"success": True, "data": matches}

def find_free_slots(self, <<t.id>>_id: str, from_day: str, <<r.id>>_id: str | None = None) -> dict:
    """Find the first free slots for <<t.a>>, from a day on and with any <<r>> or one of them.

    Args:
        <<t.id>>_id: Id of the <<t>>; its <<fieldword>> decides which <<r.many>> come into question.
        from_day: First day to look at, as YYYY-MM-DD; only those after today, up to <<s.horizon>> days ahead, count.
        <<r.id>>_id: Only slots of this <<r>>. Leave out for all who give the <<t>>.

    Returns:
        Up to ten slots of <<r.many>> who take bookings, each with day and start time, the earliest first; equally
        early ones by the id of the <<r>>.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if not self._is_day(from_day):
        return {"success": False, "error": f"{from_day!r} is not a date like {self.today}."}
    if <<r.id>>_id is not None and <<r.id>>_id not in self.<<r.ids>>:
        return {"success": False, "error": f"There is no <<r>> with the id {<<r.id>>_id!r}."}
    able = [
        <<r.id>>
        for key, <<r.id>> in sorted(self.<<r.ids>>.items())
        if <<r.id>>["<<f.name>>"] == <<t.id>>["<<f.name>>"] and <<r.id>>_id in (None, key)
    ]
    slots = []
    for ahead in range(1, <<s.horizon>> + 1):
        day = (date.fromisoformat(self.today) + timedelta(days=ahead)).isoformat()
        if day < from_day:
            continue
        starts = [
            (start, <<r.id>>)
            for <<r.id>> in able
            for start in self._free_times(<<r.id>>, day, <<t.id>>["minutes"])
        ]
        for start, <<r.id>> in sorted(starts, key=lambda pair: (pair[0], pair[1]["<<r.id>>_id"])):
            slots.append(
                {"<<r.id>>_id": <<r.id>>["<<r.id>>_id"], "name": <<r.id>>["name"], "day": day, "start_time": start}
            )
        if len(slots) >= 10:
            break
    return {"success": True, "data": slots[:10]}

def list_<<b.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<r.id>>_id: str | None = None,
    status: str | None = None,
    upcoming: bool = False,
) -> dict:
    """List <<b.many>> in the order of day and time.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<r.id>>_id: Only those of this <<r>>. Leave out for all.
        status: Only those that are booked, <<s.arrived>>, <<s.finished>>, missed or cancelled. Leave out for all.
        upcoming: True for only those after today.

    Returns:
        The matching <<b.many>>; an empty list when there are none.
    """
    if status not in (None, "booked", "<<s.arrived>>", "<<s.finished>>", "missed", "cancelled"):
        return {"success": False, "error": f"There is no status {status!r}."}
    selected = [
        dict(<<b.id>>)
        for <<b.id>> in self.<<b.ids>>.values()
        if <<p.id>>_id in (None, <<b.id>>["<<p.id>>_id"])
        and <<r.id>>_id in (None, <<b.id>>["<<r.id>>_id"])
        and status in (None, <<b.id>>["status"])
        and (not upcoming or <<b.id>>["day"] > self.today)
    ]
    selected.sort(key=lambda <<b.id>>: (<<b.id>>["day"], <<b.id>>["start_time"], <<b.id>>["<<b.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<b.id>>(self, <<b.id>>_id: str) -> dict:
    """Show one <<b>> with the names of the <<p>>, the <<r>> and the <<t>>.

    Args:
        <<b.id>>_id: Id of the <<b>>, e.g. <<s.appointment_prefix>>-001.

    Returns:
        The <<b>>, or an error for an unknown id.
    """
    <<b.id>> = self.<<b.ids>>.get(<<b.id>>_id)
    if <<b.id>> is None:
        return {"success": False, "error": f"There is no <<b>> with the id {<<b.id>>_id!r}."}
    names = {
        "<<p.id>>_name": self.<<p.ids>>.get(<<b.id>>["<<p.id>>_id"], {}).get("name"),
        "<<r.id>>_name": self.<<r.ids>>.get(<<b.id>>["<<r.id>>_id"], {}).get("name"),
        "<<t.id>>_name": self.<<t.ids>>.get(<<b.id>>["<<t.id>>_id"], {}).get("name"),
    }
    return {"success": True, "data": {**<<b.id>>, **names}}
'''

    WRITES = '''
def book_<<b.id>>(
    self, <<p.id>>_id: str, <<r.id>>_id: str, <<t.id>>_id: str, day: str, start_time: str
) -> dict:
    """Book <<t.a>> with <<r.a>> for <<p.a>>.

    Args:
        <<p.id>>_id: Id of the <<p>>, <<that>> must be active and have <<few>> booked <<most>>.
        <<r.id>>_id: Id of the <<r>>, who takes bookings and is of the <<fieldword>> of the <<t>>.
%% if suited is none
        <<t.id>>_id: Id of the <<t>>, which says how long it takes and what it <<cost>>s.
%% else
        <<t.id>>_id: Id of the <<t>>, which says how long it takes, what it <<cost>>s, and of which <<suited.flag>> the
            <<p>> has to be.
%% endif
        day: Date, as YYYY-MM-DD; after today and at most <<s.horizon>> days ahead.
        start_time: When it begins, as HH:MM, on a full <<s.slot>> minutes and within the hours of the <<r>>.

    Returns:
        The new <<b>>, or an error.
    """
    <<p.id>> = self.<<p.ids>>.get(<<p.id>>_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    <<r.id>> = self.<<r.ids>>.get(<<r.id>>_id)
    if <<r.id>> is None:
        return {"success": False, "error": f"There is no <<r>> with the id {<<r.id>>_id!r}."}
    if not <<r.id>>["takes_bookings"]:
        return {"success": False, "error": f"{<<r.id>>['name']} takes no bookings at present."}
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if <<t.id>>["<<f.name>>"] != <<r.id>>["<<f.name>>"]:
        return {"success": False, "error": f"{<<t.id>>['name']} is not given by {<<r.id>>['name']}."}
%% if only_for is not none
    if <<t.id>>["<<only_for.name>>"] and not <<p.id>>["<<only_for.flag>>"]:
        return {"success": False, "error": f"{<<t.id>>['name']} is only for <<p.a>> who has <<only_for.flag>> set."}
%% endif
%% if suited is not none
    if <<p.id>>["<<suited.flag>>"] not in <<t.id>>["<<suited.name>>"]:
        kind, meant = <<p.id>>["<<suited.flag>>"], ", ".join(<<t.id>>["<<suited.name>>"])
        refuse :: {<<t.id>>['name']} is not for a {kind}; it is for: {meant}.
%% endif
    if not self._is_day(day):
        return {"success": False, "error": f"{day!r} is not a date like {self.today}."}
    ahead = (date.fromisoformat(day) - date.fromisoformat(self.today)).days
    if not 1 <= ahead <= <<s.horizon>>:
        return {"success": False, "error": f"{day} does not lie 1 to <<s.horizon>> days after today, {self.today}."}
    start = self._minutes(start_time)
    if start is None or start % <<s.slot>>:
        return {"success": False, "error": f"{start_time!r} is not a time on a full <<s.slot>> minutes, e.g. 09:00."}
    obstacle = self._obstacle(<<r.id>>, day, start, <<t.id>>["minutes"])
    if obstacle:
        return {"success": False, "error": obstacle}
    end_time = self._clock(start + <<t.id>>["minutes"])
    elsewhere = self._in_the_way("<<p.id>>_id", <<p.id>>_id, day, start_time, end_time)
    if elsewhere:
        return {"success": False, "error": f"{<<p.id>>['name']} has {elsewhere} at that time."}
    booked = [
        <<b.id>>
        for <<b.id>> in self.<<b.ids>>.values()
        if <<b.id>>["<<p.id>>_id"] == <<p.id>>_id and <<b.id>>["status"] == "booked"
    ]
    if len(booked) >= <<s.max_open>>:
        return {"success": False, "error": f"{<<p.id>>['name']} has <<s.max_open>> booked <<most>> already."}
    <<b.id>>: <<b.type>> = {
        "<<b.id>>_id": self._next_id(self.<<b.ids>>, "<<s.appointment_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<r.id>>_id": <<r.id>>_id,
        "<<t.id>>_id": <<t.id>>_id,
        "day": day,
        "start_time": start_time,
        "end_time": end_time,
        "<<s.fee>>": <<t.id>>["<<s.fee>>"],
        "status": "booked",
    }
    self.<<b.ids>>[<<b.id>>["<<b.id>>_id"]] = <<b.id>>
    return {
        "success": True,
        "message": f"<<b.cap>> {<<b.id>>['<<b.id>>_id']} booked for {<<p.id>>['name']}.",
        "data": dict(<<b.id>>),
    }

def move_<<b.id>>(self, <<b.id>>_id: str, day: str, start_time: str) -> dict:
    """Move a booked <<b>> to another day or time with the same <<r>>; the <<feewords>> stays.

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be booked, not for today, and with <<r.a>> who takes bookings.
        day: New date, as YYYY-MM-DD; after today and at most <<s.horizon>> days ahead.
        start_time: New beginning, as HH:MM, on a full <<s.slot>> minutes and within the hours of the <<r>>.

    Returns:
        The moved <<b>>, or an error.
    """
    <<b.id>> = self.<<b.ids>>.get(<<b.id>>_id)
    if <<b.id>> is None:
        return {"success": False, "error": f"There is no <<b>> with the id {<<b.id>>_id!r}."}
    if <<b.id>>["status"] != "booked":
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']}, not booked."}
    if <<b.id>>["day"] <= self.today:
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is for {<<b.id>>['day']} and cannot be moved now."}
    if not self._is_day(day):
        return {"success": False, "error": f"{day!r} is not a date like {self.today}."}
    ahead = (date.fromisoformat(day) - date.fromisoformat(self.today)).days
    if not 1 <= ahead <= <<s.horizon>>:
        return {"success": False, "error": f"{day} does not lie 1 to <<s.horizon>> days after today, {self.today}."}
    start = self._minutes(start_time)
    if start is None or start % <<s.slot>>:
        return {"success": False, "error": f"{start_time!r} is not a time on a full <<s.slot>> minutes, e.g. 09:00."}
    if (day, start_time) == (<<b.id>>["day"], <<b.id>>["start_time"]):
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is at that time already."}
    <<r.id>> = self.<<r.ids>>[<<b.id>>["<<r.id>>_id"]]
    if not <<r.id>>["takes_bookings"]:
        return {"success": False, "error": f"{<<r.id>>['name']} takes no bookings at present."}
    length = self.<<t.ids>>[<<b.id>>["<<t.id>>_id"]]["minutes"]
    obstacle = self._obstacle(<<r.id>>, day, start, length, ignore=<<b.id>>_id)
    if obstacle:
        return {"success": False, "error": obstacle}
    end_time = self._clock(start + length)
    elsewhere = self._in_the_way("<<p.id>>_id", <<b.id>>["<<p.id>>_id"], day, start_time, end_time, <<b.id>>_id)
    if elsewhere:
        return {"success": False, "error": f"The <<p>> has {elsewhere} at that time."}
    <<b.id>>["day"] = day
    <<b.id>>["start_time"] = start_time
    <<b.id>>["end_time"] = end_time
    return {
        "success": True,
        "message": f"<<b.cap>> {<<b.id>>_id} moved to {day} at {start_time}.",
        "data": dict(<<b.id>>),
    }

def reassign_<<b.id>>(self, <<b.id>>_id: str, <<r.id>>_id: str) -> dict:
    """Give a booked <<b>> to another <<r>>; day, time and <<feewords>> stay.

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be booked and not for today.
        <<r.id>>_id: Id of the <<r>> who takes it over, who takes bookings and is of the same <<fieldword>>.

    Returns:
        The changed <<b>>, or an error.
    """
    <<b.id>> = self.<<b.ids>>.get(<<b.id>>_id)
    if <<b.id>> is None:
        return {"success": False, "error": f"There is no <<b>> with the id {<<b.id>>_id!r}."}
    if <<b.id>>["status"] != "booked" or <<b.id>>["day"] <= self.today:
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is not a booked one that lies ahead."}
    <<r.id>> = self.<<r.ids>>.get(<<r.id>>_id)
    if <<r.id>> is None:
        return {"success": False, "error": f"There is no <<r>> with the id {<<r.id>>_id!r}."}
    if <<r.id>>_id == <<b.id>>["<<r.id>>_id"]:
        return {"success": False, "error": f"{<<r.id>>['name']} has this <<b>> already."}
    if not <<r.id>>["takes_bookings"]:
        return {"success": False, "error": f"{<<r.id>>['name']} takes no bookings at present."}
    <<t.id>> = self.<<t.ids>>[<<b.id>>["<<t.id>>_id"]]
    if <<t.id>>["<<f.name>>"] != <<r.id>>["<<f.name>>"]:
        return {"success": False, "error": f"{<<t.id>>['name']} is not given by {<<r.id>>['name']}."}
    start = self._minutes(<<b.id>>["start_time"]) or 0
    obstacle = self._obstacle(<<r.id>>, <<b.id>>["day"], start, <<t.id>>["minutes"])
    if obstacle:
        return {"success": False, "error": obstacle}
    <<b.id>>["<<r.id>>_id"] = <<r.id>>_id
    return {
        "success": True,
        "message": f"{<<r.id>>['name']} takes over <<b>> {<<b.id>>_id}.",
        "data": dict(<<b.id>>),
    }

def cancel_<<b.id>>(self, <<b.id>>_id: str) -> dict:
    """Cancel a booked <<b>>.
%% if s.cancel_share > 0

    <<late>>, <<(s.cancel_share * 100)|int>> % of the <<feewords>> stays due, otherwise nothing.
%% else

    Nothing of the <<feewords>> stays due.
%% endif

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be booked.

    Returns:
        The cancelled <<b>> with what stays due, or an error.
    """
    <<b.id>> = self.<<b.ids>>.get(<<b.id>>_id)
    if <<b.id>> is None:
        return {"success": False, "error": f"There is no <<b>> with the id {<<b.id>>_id!r}."}
    if <<b.id>>["status"] != "booked":
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']}, not booked."}
%% if s.cancel_share > 0
    days_left = (date.fromisoformat(<<b.id>>["day"]) - date.fromisoformat(self.today)).days
    late = days_left < <<s.cancel_days>>
    <<b.id>>["<<s.fee>>"] = round(<<b.id>>["<<s.fee>>"] * <<s.cancel_share>>, 2) if late else 0.0
%% else
    <<b.id>>["<<s.fee>>"] = 0.0
%% endif
    <<b.id>>["status"] = "cancelled"
    return {"success": True, "message": f"<<b.cap>> {<<b.id>>_id} cancelled.", "data": dict(<<b.id>>)}

def <<s.arrive>>_<<b.id>>(self, <<b.id>>_id: str) -> dict:
    """Record that the <<p>> has come for <<b.a>> of today.

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be booked, for today.

    Returns:
        The <<b>>, now <<arrivedwords>>, or an error.
    """
    <<b.id>> = self.<<b.ids>>.get(<<b.id>>_id)
    if <<b.id>> is None:
        return {"success": False, "error": f"There is no <<b>> with the id {<<b.id>>_id!r}."}
    if <<b.id>>["status"] != "booked":
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']}, not booked."}
    if <<b.id>>["day"] != self.today:
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is on {<<b.id>>['day']}, not today."}
    <<b.id>>["status"] = "<<s.arrived>>"
    return {"success": True, "message": f"<<b.cap>> {<<b.id>>_id} is <<arrivedwords>>.", "data": dict(<<b.id>>)}

def complete_<<b.id>>(self, <<b.id>>_id: str) -> dict:
    """Record that <<b.a>> has taken place.

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be <<arrivedwords>>.

    Returns:
        The <<b>>, now <<finishedwords>>, or an error.
    """
    <<b.id>> = self.<<b.ids>>.get(<<b.id>>_id)
    if <<b.id>> is None:
        return {"success": False, "error": f"There is no <<b>> with the id {<<b.id>>_id!r}."}
    if <<b.id>>["status"] != "<<s.arrived>>":
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']}, not <<arrivedwords>>."}
    <<b.id>>["status"] = "<<s.finished>>"
    return {"success": True, "message": f"<<b.cap>> {<<b.id>>_id} is <<finishedwords>>.", "data": dict(<<b.id>>)}

def mark_<<b.id>>_missed(self, <<b.id>>_id: str) -> dict:
    """Record that the <<p>> did not come; <<(s.missed_share * 100)|int>> % of the <<feewords>> stays due.

    Args:
        <<b.id>>_id: Id of the <<b>>; it must be booked, for today or an earlier day.

    Returns:
        The missed <<b>> with what stays due, or an error.
    """
    <<b.id>> = self.<<b.ids>>.get(<<b.id>>_id)
    if <<b.id>> is None:
        return {"success": False, "error": f"There is no <<b>> with the id {<<b.id>>_id!r}."}
    if <<b.id>>["status"] != "booked":
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']}, not booked."}
    if <<b.id>>["day"] > self.today:
        return {"success": False, "error": f"<<b.cap>> {<<b.id>>_id} is not due before {<<b.id>>['day']}."}
    <<b.id>>["<<s.fee>>"] = round(<<b.id>>["<<s.fee>>"] * <<s.missed_share>>, 2)
    <<b.id>>["status"] = "missed"
    return {"success": True, "message": f"<<b.cap>> {<<b.id>>_id} marked as missed.", "data": dict(<<b.id>>)}

def set_<<t.id>>_<<s.fee>>(self, <<t.id>>_id: str, <<s.fee>>: float) -> dict:
    """Change what <<t.a>> <<cost>>s; <<b.many>> already booked keep their <<feewords>>.

    Args:
        <<t.id>>_id: Id of the <<t>>.
        <<s.fee>>: New <<feewords>> in <<s.currency>>, above 0.

    Returns:
        The changed <<t>>, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if round(<<s.fee>>, 2) <= 0:
        return {"success": False, "error": f"The <<feewords>> has to be above 0, not {<<s.fee>>}."}
    if round(<<s.fee>>, 2) == <<t.id>>["<<s.fee>>"]:
        return {"success": False, "error": f"{<<t.id>>['name']} <<cost>>s that already."}
    <<t.id>>["<<s.fee>>"] = round(<<s.fee>>, 2)
    return {"success": True, "message": f"{<<t.id>>['name']} has a new <<feewords>>.", "data": dict(<<t.id>>)}

def set_<<r.id>>_hours(self, <<r.id>>_id: str, opens: str, closes: str) -> dict:
    """Change the hours of <<r.a>>; whatever is booked has to lie within the new ones.

    Args:
        <<r.id>>_id: Id of the <<r>>.
        opens: First time of a working day, as HH:MM, on a full <<s.slot>> minutes.
        closes: Time by which the last <<b>> has ended, as HH:MM, on a full <<s.slot>> minutes.

    Returns:
        The changed <<r>>, or an error.
    """
    <<r.id>> = self.<<r.ids>>.get(<<r.id>>_id)
    if <<r.id>> is None:
        return {"success": False, "error": f"There is no <<r>> with the id {<<r.id>>_id!r}."}
    first, last = self._minutes(opens), self._minutes(closes)
    if first is None or last is None or first % <<s.slot>> or last % <<s.slot>>:
        return {"success": False, "error": f"{opens!r} and {closes!r} are not both times on a full <<s.slot>> minutes."}
    if first >= last:
        return {"success": False, "error": f"{opens} does not lie before {closes}."}
    if (opens, closes) == (<<r.id>>["opens"], <<r.id>>["closes"]):
        return {"success": False, "error": f"{<<r.id>>['name']} has these hours already."}
    for <<b.id>> in self.<<b.ids>>.values():
        if <<b.id>>["<<r.id>>_id"] == <<r.id>>_id and <<b.id>>["status"] == "booked":
            if <<b.id>>["start_time"] < opens or <<b.id>>["end_time"] > closes:
                return {"success": False, "error": f"<<b.cap>> {<<b.id>>['<<b.id>>_id']} lies outside these hours."}
    <<r.id>>["opens"] = opens
    <<r.id>>["closes"] = closes
    return {"success": True, "message": f"{<<r.id>>['name']} has new hours.", "data": dict(<<r.id>>)}

def set_<<r.id>>_bookings(self, <<r.id>>_id: str, takes_bookings: bool) -> dict:
    """Stop or allow new bookings with <<r.a>>; what is booked already stays.

    Args:
        <<r.id>>_id: Id of the <<r>>.
        takes_bookings: True to allow new bookings, False to stop them.

    Returns:
        The changed <<r>>, or an error.
    """
    <<r.id>> = self.<<r.ids>>.get(<<r.id>>_id)
    if <<r.id>> is None:
        return {"success": False, "error": f"There is no <<r>> with the id {<<r.id>>_id!r}."}
    if <<r.id>>["takes_bookings"] == takes_bookings:
        state = "allowed" if takes_bookings else "stopped"
        return {"success": False, "error": f"New bookings with {<<r.id>>['name']} are already {state}."}
    <<r.id>>["takes_bookings"] = takes_bookings
    return {"success": True, "message": f"Bookings with {<<r.id>>['name']} changed.", "data": dict(<<r.id>>)}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        self._staff(v, state, rng)
        self._services(v, state)
        for key in shuffled(rng, list(state[v.r.ids])):
            for days in (-6, -2, 0, 0, *(int(n) for n in rng.integers(1, 12, size=3))):
                self._appointment(v, state, rng, key, later(state["today"], days))
        if rng.random() < 0.5:
            state[v.r.ids][pick(rng, list(state[v.r.ids]))]["takes_bookings"] = False

    def _staff(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        taken = frozenset(row["name"] for row in state[v.p.ids].values())
        hours = shuffled(rng, s.hours)
        today = weekday(state["today"])
        for i, name in enumerate(names.people(rng, s.staff * len(v.fields), taken)):
            key = key_of(s.prefix, i + 1)
            days = shuffled(rng, WEEKDAYS[: s.open_days])[: int(rng.integers(3, s.open_days + 1))]
            opens, closes = hours[i % len(hours)]
            state[v.r.ids][key] = {
                f"{v.r.id}_id": key,
                "name": f"{s.title} {name}".strip(),
                s.field.name: v.fields[i % len(v.fields)],
                "works_on": [day for day in WEEKDAYS if day in days or (day == today and i % 2 == 0)],
                "opens": opens,
                "closes": closes,
                **{x.name: x.draw(rng) for x in s.extras},
                "takes_bookings": True,
            }

    def _services(self, v: SimpleNamespace, state: State) -> None:
        s = v.s
        every = [(field, name, *rest) for field, of in s.field.services.items() for name, rest in of.items()]
        for i, (field, name, takes, fee) in enumerate(every):
            key = key_of(s.service_prefix, i + 1)
            only_for: dict[str, Any] = {}
            if s.restricted:
                only_for[s.restricted.name] = name in s.restricted.services
            if s.suited:
                only_for[s.suited.name] = s.suited.services[name]
            state[v.t.ids][key] = {
                f"{v.t.id}_id": key,
                "name": name,
                s.field.name: field,
                "minutes": takes,
                s.fee: float(fee),
                **only_for,
            }

    def _appointment(self, v: SimpleNamespace, state: State, rng: Rng, who: str, day: str) -> None:
        s, today = v.s, state["today"]
        services = [
            t for t in state[v.t.ids].values() if t[s.field.name] == state[v.r.ids][who][s.field.name]
        ]
        service = pick(rng, services)
        times = free_times(v, state, state[v.r.ids][who], day, service["minutes"])
        if not times or len(state[v.b.ids]) == MOST_ROWS:
            return
        at = pick(rng, times[: max(4, len(times) // 3)])
        until = clock(minutes(at) + service["minutes"])
        person = next(self._people(v, state, rng, service, day, at, until), None)
        if person is None:
            return
        past = [s.finished, s.finished, "missed", "cancelled"]
        status = pick(
            rng, past if day < today else ["booked", "booked", s.arrived] if day == today else ["booked"]
        )
        shares = {"cancelled": 0.0, "missed": s.missed_share}
        key = key_of(s.appointment_prefix, len(state[v.b.ids]) + 1)
        state[v.b.ids][key] = {
            f"{v.b.id}_id": key,
            f"{v.p.id}_id": person,
            f"{v.r.id}_id": who,
            f"{v.t.id}_id": service[f"{v.t.id}_id"],
            "day": day,
            "start_time": at,
            "end_time": until,
            s.fee: round(service[s.fee] * shares.get(status, 1.0), 2),
            "status": status,
        }

    def _people(
        self,
        v: SimpleNamespace,
        state: State,
        rng: Rng,
        service: dict[str, Any],
        day: str,
        at: str,
        until: str,
    ) -> Iterator[str]:
        """Those who could come then, the ones with nothing booked before the others."""
        key = f"{v.p.id}_id"
        rows = list(state[v.b.ids].values())
        for most in range(v.s.max_open):
            for person in shuffled(rng, sorted(state[v.p.ids])[:-3]):  # some have nothing booked
                row = state[v.p.ids][person]
                booked = sum(b[key] == person and b["status"] in ("booked", v.s.arrived) for b in rows)
                busy = any(b[key] == person and meets(b, day, at, until) for b in rows)
                if row["status"] == "active" and booked <= most and allowed(v, row, service) and not busy:
                    yield person


PATTERN = Appointments
