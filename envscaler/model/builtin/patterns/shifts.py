"""Shifts: places to be filled on days at sites, who is qualified and free for them, and swaps between two people."""

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
    either,
    found,
    key_of,
    named,
    only,
    own,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._snippets import MACROS
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots


class Skill(Part):
    """The attribute that decides who may do a shift; people have it as an attribute of their registry."""

    name: str
    """`qualification`"""
    about: str
    """What it means for a shift."""
    choices: list[str]
    """Its values, those of the registry."""


class ShiftSettings(Settings):
    """A roster's words and numbers."""

    person: str = "person"
    """Who does the shifts: a registry's noun."""
    skill: Skill
    """What they must be qualified for."""
    site: str
    """`ward`"""
    said_site: str | None = None
    """What stands before its name in a sentence; None for `the` and the noun."""
    site_prefix: str
    """Prefix of the sites' ids."""
    sites: list[str]
    """Names of the sites, at least four."""
    shift: str = "shift"
    """`shift`"""
    shift_prefix: str = "SH"
    """Prefix of the shifts' ids."""
    part: str = "day_part"
    """Name of the part of the day."""
    parts: dict[str, str]
    """Part of the day → its hours, e.g. `06:00-14:00`."""
    duty: str = "duty"
    """One person's part in a shift: `duty`."""
    duty_prefix: str = "DU"
    """Prefix of the duties' ids."""
    swap: str = "swap"
    """`swap`"""
    swap_prefix: str = "SW"
    """Prefix of the swaps' ids."""
    max_upcoming: int = 5
    """Most duties somebody may have ahead."""


class RosterGoal(Goal):
    """What goals about shifts and duties share."""

    def key(self, noun: Noun, row: dict[str, Any]) -> str:
        """The id of a record."""
        return str(row[f"{noun.id}_id"])

    def shift_of(self, duty: dict[str, Any], state: State) -> dict[str, Any]:
        """The shift a duty belongs to."""
        shift: dict[str, Any] = state[self.v.h.ids][duty[f"{self.v.h.id}_id"]]
        return shift

    def duties(self, state: State, **wanted: str) -> list[dict[str, Any]]:
        """The assigned duties with these values, of the duty or of its shift."""
        rows = [d for d in state[self.v.d.ids].values() if d["status"] == "assigned"]
        return [d for d in rows if all({**self.shift_of(d, state), **d}[k] == w for k, w in wanted.items())]

    def ahead(self, state: State, person: str) -> int:
        """How many duties somebody has from today on."""
        rows = self.duties(state, **{f"{self.v.p.id}_id": person})
        return sum(self.shift_of(d, state)["held_on"] >= state["today"] for d in rows)

    def marks(self, shift: dict[str, Any]) -> tuple[str, ...]:
        """What else changes with a duty of this shift: who has least to do, and which shifts have places."""
        skill = shift[self.v.skill]
        return (self.key(self.v.h, shift), f"load {skill}", f"open {skill}")

    def fits(self, person: dict[str, Any], shift: dict[str, Any], state: State) -> bool:
        """Whether somebody may do a shift."""
        v, key = self.v, self.key(self.v.p, person)
        busy = self.duties(state, **{f"{v.p.id}_id": key, "held_on": shift["held_on"]})
        active = person["status"] == "active" and person[v.skill] == shift[v.skill]
        return active and not busy and self.ahead(state, key) < v.s.max_upcoming

    def free_places(self, shift: dict[str, Any], state: State) -> int:
        """How many places a shift has left."""
        key = f"{self.v.h.id}_id"
        return int(shift["places"]) - len(self.duties(state, **{key: shift[key]}))

    def assigned(self, shift: dict[str, Any], person: dict[str, Any], item: str, *also: str) -> list[Outcome]:
        """A new duty."""
        v = self.v
        ids = {f"{v.h.id}_id": self.key(v.h, shift), f"{v.p.id}_id": self.key(v.p, person)}
        return [Added(v.d.ids, {**ids, "status": "assigned"}, item, (*self.marks(shift), *also))]


class ShiftGoal(RosterGoal):
    """A goal about a shift that is told by site, day and part of the day."""

    def shift(self, slots: Slots, state: State) -> dict[str, Any]:
        """The shift a sentence is about."""
        v = self.v
        site = self.key(v.l, named(state, v.l, slots["site"]))
        wanted = {f"{v.l.id}_id": site, "held_on": slots["day"], v.part: slots["part"], "status": "planned"}
        return only([h for h in state[v.h.ids].values() if all(h[k] == w for k, w in wanted.items())])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        rows = [
            h for h in state[v.h.ids].values() if h["status"] == "planned" and h["held_on"] > state["today"]
        ]
        return self.told(pick(rng, rows), state) if rows else None

    def told(self, shift: dict[str, Any], state: State) -> Slots:
        """The slots that tell a shift."""
        site = state[self.v.l.ids][shift[f"{self.v.l.id}_id"]]["name"]
        return {"site": site, "day": shift["held_on"], "part": shift[self.v.part]}

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        v, key = self.v, f"{self.v.l.id}_id"
        wanted = {key: found(0, 0, key), "held_on": slots["day"], v.part: slots["part"], "status": "planned"}
        return [call(f"list_{v.l.ids}", name=slots["site"]), call(f"list_{v.h.ids}", **wanted)]

    def id(self) -> dict[str, Any]:
        """Argument with the shift's id."""
        return {f"{self.v.h.id}_id": found(1, 0, f"{self.v.h.id}_id")}

    def which(self, slots: Slots) -> str:
        """The shift in words."""
        return f"{slots['part']} {self.v.h} at {slots['site']} on {slots['day']}"


class Plan(ShiftGoal):
    """A new shift."""

    phrases = (
        "Please plan <<parta>> {part:name} <<h>> at <<lsaid>> {site:name} on {day:date} with {places:int} places and "
        "the <<skillwords>> {skill:name}.",
        "We need another <<h>> at <<lsaid>> {site:name}: {part:name}, {day:date}, {places:int} places, <<skillwords>> "
        "{skill:name}.",
    )
    needs = ("list_<<l.ids>>", "plan_<<h.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        return {
            "site": pick(rng, v.s.sites),
            "day": later(state["today"], int(rng.integers(1, 25))),
            "part": pick(rng, list(v.s.parts)),
            "skill": pick(rng, v.s.skill.choices),
            "places": int(rng.integers(2, 6)),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.l.id}_id"
        given = {"held_on": slots["day"], v.part: slots["part"], v.skill: slots["skill"]}
        return [
            call(f"list_{v.l.ids}", name=slots["site"]),
            call(f"plan_{v.h.id}", **{key: found(0, 0, key)}, **given, places=slots["places"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        site = self.key(v.l, named(state, v.l, slots["site"]))
        place = {f"{v.l.id}_id": site, "held_on": slots["day"], v.part: slots["part"]}
        rows = [h for h in state[v.h.ids].values() if h["status"] == "planned"]
        if slots["day"] <= state["today"] or any(all(h[k] == w for k, w in place.items()) for h in rows):
            raise LookupError("it cannot be planned")
        fields = {**place, v.skill: slots["skill"], "places": slots["places"], "status": "planned"}
        item = f"Has the {self.which(slots)} been planned with {slots['places']} places for {slots['skill']}?"
        return [Added(v.h.ids, fields, item, (f"open {slots['skill']}",))]


class Fill(ShiftGoal):
    """Fill a place with whoever is free and has least ahead."""

    phrases = (
        "The {part:name} <<h>> at <<lsaid>> {site:name} on {day:date} still has a place: assign the <<p>> who is free "
        "for it and has the fewest <<d.many>> ahead.",
        "Please fill a place of the {part:name} <<h>> on {day:date} at <<lsaid>> {site:name} with the free <<p>> who "
        "has the fewest <<d.many>> ahead.",
    )
    needs = ("list_<<l.ids>>", "list_<<h.ids>>", "list_free_<<p.ids>>", "assign_<<p.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        free = call(f"list_free_{v.p.ids}", **self.id())
        return [*self.look_up(slots), free, call(f"assign_{v.p.id}", **self.id(), **{key: found(2, 0, key)})]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, shift = self.v, self.shift(slots, state)
        if self.free_places(shift, state) < 1:
            raise LookupError("it is full")
        free = [p for p in state[v.p.ids].values() if self.fits(p, shift, state)]
        loads = [self.ahead(state, self.key(v.p, p)) for p in free]
        person = only([p for p, load in zip(free, loads, strict=True) if load == min(loads)])
        away = [k for k, p in state[v.p.ids].items() if p["status"] != "active"]
        item = f"Has the free {v.p} with the fewest {v.d.many} been assigned to the {self.which(slots)}?"
        return self.assigned(shift, person, item, *away)


class SetPlaces(ShiftGoal):
    """Another number of places."""

    phrases = (
        "The {part:name} <<h>> at <<lsaid>> {site:name} on {day:date} needs {places:int} places from now on.",
        "Please change the {part:name} <<h>> on {day:date} at <<lsaid>> {site:name} to {places:int} places.",
    )
    needs = ("list_<<l.ids>>", "list_<<h.ids>>", "set_<<h.id>>_places")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "places": int(rng.integers(2, 8))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        tool = f"set_{self.v.h.id}_places"
        return [*self.look_up(slots), call(tool, **self.id(), places=slots["places"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, shift = self.v, self.shift(slots, state)
        taken = shift["places"] - self.free_places(shift, state)
        if slots["places"] == shift["places"] or slots["places"] < taken:
            raise LookupError("it cannot have so many")
        item = f"Has the {self.which(slots)} been given {slots['places']} places?"
        also = (f"open {shift[v.skill]}",)
        return [Changed(v.h.ids, self.key(v.h, shift), {"places": slots["places"]}, item, also)]


class CancelShift(ShiftGoal):
    """Cancel a shift and release everybody on it."""

    weight = 0.7
    phrases = (
        "The {part:name} <<h>> at <<lsaid>> {site:name} on {day:date} will not take place, so please cancel it.",
        "Please cancel the {part:name} <<h>> on {day:date} at <<lsaid>> {site:name}; whoever is on it is released.",
    )
    needs = ("list_<<l.ids>>", "list_<<h.ids>>", "cancel_<<h.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"cancel_{self.v.h.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, shift = self.v, self.shift(slots, state)
        key = self.key(v.h, shift)
        item = f"Has the {self.which(slots)} been cancelled?"
        outcomes: list[Outcome] = [
            Changed(v.h.ids, key, {"status": "cancelled"}, item, self.marks(shift)),
        ]
        for duty in self.duties(state, **{f"{v.h.id}_id": key}):
            name = state[v.p.ids][duty[f"{v.p.id}_id"]]["name"]
            released = f"Has {name} been released from the cancelled {v.h}?"
            also = (duty[f"{v.p.id}_id"],)
            outcomes.append(Changed(v.d.ids, self.key(v.d, duty), {"status": "withdrawn"}, released, also))
            if any(w[f"{v.d.id}_id"] == self.key(v.d, duty) for w in state[v.w.ids].values()):
                raise LookupError("somebody on it wants to swap")
        return outcomes


class SignUp(RosterGoal):
    """Somebody takes the next open shift for their qualification."""

    phrases = (
        "The <<p>> {name:name} has time to spare, so assign them to the earliest <<h>> that needs their <<skillwords>> "
        "and still has a place.",
        "Please put <<p>> {name:name} on the next <<h>> with a free place that fits the <<skillwords>> on record.",
    )
    needs = ("find_<<p.ids>>", "list_open_<<h.ids>>", "assign_<<p.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"name": pick(rng, list(state[self.v.p.ids].values()))["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.h.id}_id"
        ids = {key: found(1, 0, key), f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id")}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_open_{v.h.ids}", **{v.skill: found(0, 0, v.skill)}),
            call(f"assign_{v.p.id}", **ids),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        person = named(state, v.p, slots["name"])
        rows = [
            h for h in state[v.h.ids].values() if h["status"] == "planned" and h["held_on"] > state["today"]
        ]
        rows = [h for h in rows if h[v.skill] == person[v.skill] and self.free_places(h, state) > 0]
        first = min((h["held_on"] for h in rows), default="")
        shift = only([h for h in rows if h["held_on"] == first])
        if not self.fits(person, shift, state):
            raise LookupError(f"{slots['name']} cannot do it")
        return self.assigned(
            shift, person, f"Has {slots['name']} been assigned to the earliest open {v.h} that fits?"
        )


class DutyGoal(RosterGoal):
    """A goal about the duty somebody has on a day."""

    past = False

    def duty(self, slots: Slots, state: State) -> dict[str, Any]:
        """The duty a sentence is about."""
        person = self.key(self.v.p, named(state, self.v.p, slots["name"]))
        return only(self.duties(state, **{f"{self.v.p.id}_id": person, "held_on": slots["day"]}))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        rows = [
            d
            for d in self.duties(state)
            if (self.shift_of(d, state)["held_on"] < state["today"]) == self.past
        ]
        rows = [d for d in rows if not self.asked(d, state)]
        if not rows:
            return None
        duty = pick(rng, rows)
        name = state[v.p.ids][duty[f"{v.p.id}_id"]]["name"]
        return {"name": name, "day": self.shift_of(duty, state)["held_on"]}

    def asked(self, duty: dict[str, Any], state: State) -> bool:
        """Whether a swap was requested for it."""
        v, key = self.v, f"{self.v.d.id}_id"
        return any(w[key] == duty[key] and w["status"] == "requested" for w in state[v.w.ids].values())

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        v, key = self.v, f"{self.v.p.id}_id"
        wanted = {key: found(0, 0, key), "held_on": slots["day"], "status": "assigned"}
        return [call(f"find_{v.p.ids}", name=slots["name"]), call(f"list_{v.d.ids}", **wanted)]

    def id(self) -> dict[str, Any]:
        """Argument with the duty's id."""
        return {f"{self.v.d.id}_id": found(1, 0, f"{self.v.d.id}_id")}

    def change(self, duty: dict[str, Any], state: State, item: str, **fields: Any) -> list[Outcome]:
        """The duty has these values."""
        also = (*self.marks(self.shift_of(duty, state)), duty[f"{self.v.p.id}_id"])
        return [Changed(self.v.d.ids, self.key(self.v.d, duty), fields, item, also)]


class Withdraw(DutyGoal):
    """Somebody cannot come."""

    phrases = (
        "The <<p>> {name:name} cannot come on {day:date}, so please withdraw the <<d>> of that day.",
        "Please withdraw the <<d>> that <<p>> {name:name} has on {day:date}.",
        "{name:name} has called in sick for {day:date}; please withdraw the <<d>> of that day.",
    )
    needs = ("find_<<p.ids>>", "list_<<d.ids>>", "withdraw_<<d.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"withdraw_{self.v.d.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        duty = self.duty(slots, state)
        if self.shift_of(duty, state)["held_on"] < state["today"] or self.asked(duty, state):
            raise LookupError("it cannot be withdrawn")
        item = f"Has the {self.v.d} of {slots['name']} on {slots['day']} been withdrawn?"
        return self.change(duty, state, item, status="withdrawn")


class Attend(DutyGoal):
    """Somebody was there."""

    past = True
    weight = 0.8
    phrases = (
        "The <<p>> {name:name} turned up for the <<d>> of {day:date}, please record the attendance.",
        "Please record that <<p>> {name:name} was there for the <<d>> on {day:date}.",
    )
    needs = ("find_<<p.ids>>", "list_<<d.ids>>", "record_attendance")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call("record_attendance", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        duty = self.duty(slots, state)
        if self.shift_of(duty, state)["held_on"] > state["today"]:
            raise LookupError("it is still to come")
        item = f"Has the attendance of {slots['name']} on {slots['day']} been recorded?"
        key, also = self.key(self.v.d, duty), (duty[f"{self.v.p.id}_id"],)
        return [Changed(self.v.d.ids, key, {"status": "attended"}, item, also)]


class RequestSwap(DutyGoal):
    """Somebody asks another to take over."""

    phrases = (
        "The <<p>> {name:name} would like {other:name} to take over the <<d>> on {day:date}, so enter a <<w>> request.",
        "Please request <<w.a>>: {other:name} takes the <<d>> that <<p>> {name:name} has on {day:date}.",
    )
    needs = ("find_<<p.ids>>", "list_<<d.ids>>", "request_<<w.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        if slots is None:
            return None
        shift = self.shift_of(self.duty(slots, state), state)
        free = [p["name"] for p in state[self.v.p.ids].values() if self.fits(p, shift, state)]
        return {**slots, "other": pick(rng, free)} if free else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        other = {f"to_{v.p.id}_id": found(2, 0, f"{v.p.id}_id")}
        find = call(f"find_{v.p.ids}", name=slots["other"])
        return [*self.look_up(slots), find, call(f"request_{v.w.id}", **self.id(), **other)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, duty = self.v, self.duty(slots, state)
        shift, other = self.shift_of(duty, state), named(state, v.p, slots["other"])
        if self.asked(duty, state) or shift["held_on"] < state["today"] or not self.fits(other, shift, state):
            raise LookupError("they cannot swap")
        ids = {f"{v.d.id}_id": self.key(v.d, duty), f"to_{v.p.id}_id": self.key(v.p, other)}
        item = f"Has {v.w.a} been requested so that {slots['other']} takes over from {slots['name']}?"
        also = (duty[f"{v.p.id}_id"], self.key(v.h, shift))
        return [Added(v.w.ids, {**ids, "status": "requested"}, item, also)]


class Approve(RosterGoal):
    """A swap that somebody requested is approved."""

    phrases = (
        "The <<w>> that <<p>> {name:name} has requested is fine, please approve it.",
        "Please approve the open <<w>> request of <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<w.ids>>", "approve_<<w.id>>")
    verb = "approve"

    def swap(self, slots: Slots, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        """The swap a sentence is about and the duty it concerns."""
        v = self.v
        person = self.key(v.p, named(state, v.p, slots["name"]))
        rows = [w for w in state[v.w.ids].values() if w["status"] == "requested"]
        pairs = [(w, state[v.d.ids][w[f"{v.d.id}_id"]]) for w in rows]
        return only([(w, d) for w, d in pairs if d[f"{v.p.id}_id"] == person])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        rows = [w for w in state[v.w.ids].values() if w["status"] == "requested"]
        if not rows:
            return None
        duty = state[v.d.ids][pick(rng, rows)[f"{v.d.id}_id"]]
        return {"name": state[v.p.ids][duty[f"{v.p.id}_id"]]["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.w.ids}", **{key: found(0, 0, key)}, status="requested"),
            call(f"{self.verb}_{v.w.id}", **{f"{v.w.id}_id": found(1, 0, f"{v.w.id}_id")}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        swap, duty = self.swap(slots, state)
        to = swap[f"to_{v.p.id}_id"]
        other, shift = state[v.p.ids][to], self.shift_of(duty, state)
        if not self.fits(other, shift, state):
            raise LookupError(f"{other['name']} cannot take it")
        item = f"Has the {v.w} that {slots['name']} requested been approved?"
        moved = f"Has the {v.d} of {slots['name']} passed to {other['name']}?"
        also = (*self.marks(shift), duty[f"{v.p.id}_id"], to)
        return [
            Changed(v.w.ids, self.key(v.w, swap), {"status": "approved"}, item),
            Changed(v.d.ids, self.key(v.d, duty), {f"{v.p.id}_id": to}, moved, also),
        ]


class Decline(Approve):
    """It is declined."""

    phrases = (
        "The <<w>> that <<p>> {name:name} has requested is not possible, so decline it.",
        "Please decline the open <<w>> request of <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<w.ids>>", "decline_<<w.id>>")
    verb = "decline"

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        swap, duty = self.swap(slots, state)
        item = f"Has the {v.w} that {slots['name']} requested been declined?"
        also = (self.key(v.d, duty), duty[f"{v.p.id}_id"])
        return [Changed(v.w.ids, self.key(v.w, swap), {"status": "declined"}, item, also)]


class Shifts(Pattern):
    """A roster of shifts."""

    Settings = ShiftSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        Plan, Fill, SetPlaces, CancelShift, SignUp, Withdraw, Attend, RequestSwap, Approve, Decline,
    )  # fmt: skip

    def vocabulary(self, s: ShiftSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        parts = list(s.parts)
        return {
            "p": shared[s.person],
            "l": Noun(s.site),
            "h": Noun(s.shift),
            "d": Noun(s.duty),
            "w": Noun(s.swap),
            "lsaid": s.said_site or f"the {s.site}",
            "part": s.part,
            "partwords": s.part.replace("_", " "),
            "parts": parts,
            "parta": "an" if parts[0][0] in "aeiou" and all(x[0] in "aeiou" for x in parts) else "the",
            "partlist": either(parts),
            "hourlist": either([f"{name} ({hours})" for name, hours in s.parts.items()]),
            "skill": s.skill.name,
            "skillwords": s.skill.name.replace("_", " "),
            "skills": s.skill.choices,
            "skilllist": either(s.skill.choices),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, p, l, h, d, w = v.s, v.p, v.l, v.h, v.d, v.w  # noqa: E741
        return [
            Table(
                l,
                f"{l.a[:1].upper()}{l.a[1:]} where {h.many} are held.",
                [
                    attribute(f"{l.id}_id", "str", f"unique id, e.g. {s.site_prefix}-001"),
                    attribute("name", "str", "name"),
                    *own(s.extras),
                ],
            ),
            Table(
                h,
                f"{h.a[:1].upper()}{h.a[1:]} at a {l} on a day.",
                [
                    attribute(f"{h.id}_id", "str", f"unique id, e.g. {s.shift_prefix}-001"),
                    attribute(f"{l.id}_id", "str", f"the {l} it is at"),
                    attribute("held_on", "str", "date, as YYYY-MM-DD"),
                    attribute(v.part, "str", f"part of the day: {v.hourlist}"),
                    attribute(v.skill, "str", f"{s.skill.about}: {v.skilllist}"),
                    attribute("places", "int", f"how many {p.many} it takes"),
                    attribute("status", "str", "planned or cancelled"),
                ],
            ),
            Table(
                d,
                f"{d.a[:1].upper()}{d.a[1:]}: one {p} on one {h}.",
                [
                    attribute(f"{d.id}_id", "str", f"unique id, e.g. {s.duty_prefix}-001"),
                    attribute(f"{h.id}_id", "str", f"the {h}"),
                    attribute(f"{p.id}_id", "str", f"the {p} who does it"),
                    attribute("status", "str", "assigned, attended or withdrawn"),
                ],
            ),
            Table(
                w,
                f"{w.a[:1].upper()}{w.a[1:]} request: somebody else takes over a {d}.",
                [
                    attribute(f"{w.id}_id", "str", f"unique id, e.g. {s.swap_prefix}-001"),
                    attribute(f"{d.id}_id", "str", f"the {d} that changes hands"),
                    attribute(f"to_{p.id}_id", "str", f"the {p} who takes it over"),
                    attribute("status", "str", "requested, approved or declined"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "No <<h>> has more <<d.many>> than places.",
            """
            taken = {}
            for row in rows(after, "<<d.ids>>").values():
                if row.get("status") in ("assigned", "attended"):
                    key = str(row.get("<<h.id>>_id"))
                    taken[key] = taken.get(key, 0) + 1
            return all(taken.get(key, 0) <= (row.get("places") or 0) for key, row in rows(after, "<<h.ids>>").items())
            """,
        ),
        RuleText(
            "Whoever is assigned to <<h.a>> has the <<skillwords>> it needs.",
            """
            people, all_shifts = rows(after, "<<p.ids>>"), rows(after, "<<h.ids>>")
            for row in rows(after, "<<d.ids>>").values():
                person = people.get(str(row.get("<<p.id>>_id"))) or {}
                shift = all_shifts.get(str(row.get("<<h.id>>_id"))) or {}
                if row.get("status") == "assigned" and person.get("<<skill>>") != shift.get("<<skill>>"):
                    return False
            return True
            """,
        ),
        RuleText(
            "Nobody has two <<d.many>> on one day.",
            """
            all_shifts, seen = rows(after, "<<h.ids>>"), set()
            for row in rows(after, "<<d.ids>>").values():
                if row.get("status") == "assigned":
                    shift = all_shifts.get(str(row.get("<<h.id>>_id"))) or {}
                    pair = (row.get("<<p.id>>_id"), shift.get("held_on"))
                    if pair in seen:
                        return False
                    seen.add(pair)
            return True
            """,
        ),
        RuleText(
            "Nobody has more than <<s.max_upcoming>> <<d.many>> ahead.",
            """
            all_shifts, today, ahead = rows(after, "<<h.ids>>"), after.get("today") or "", {}
            for row in rows(after, "<<d.ids>>").values():
                shift = all_shifts.get(str(row.get("<<h.id>>_id"))) or {}
                if row.get("status") == "assigned" and str(shift.get("held_on") or "") >= today:
                    key = str(row.get("<<p.id>>_id"))
                    ahead[key] = ahead.get(key, 0) + 1
            return all(count <= <<s.max_upcoming>> for count in ahead.values())
            """,
        ),
        RuleText(
            "Nobody is assigned to a cancelled <<h>>.",
            """
            all_shifts = rows(after, "<<h.ids>>")
            for row in rows(after, "<<d.ids>>").values():
                shift = all_shifts.get(str(row.get("<<h.id>>_id"))) or {}
                if row.get("status") == "assigned" and shift.get("status") == "cancelled":
                    return False
            return True
            """,
            rank=2,
        ),
        RuleText(
            "At most one <<w>> is requested for <<d.a>> at a time.",
            """
            asked = [row.get("<<d.id>>_id") for row in rows(after, "<<w.ids>>").values()
                     if row.get("status") == "requested"]
            return len(asked) == len(set(asked))
            """,
            rank=2,
        ),
        RuleText(
            "A <<l>> has only one planned <<h>> for each day and <<partwords>>.",
            """
            spots = [(row.get("<<l.id>>_id"), row.get("held_on"), row.get("<<part>>"))
                     for row in rows(after, "<<h.ids>>").values() if row.get("status") == "planned"]
            return len(spots) == len(set(spots))
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    def _on_<<h.id>>(self, <<h.id>>_id: str) -> list[dict]:
        """Return the <<d.many>> of <<h.a>> that were not withdrawn."""
        return [
            <<d.id>>
            for <<d.id>> in self.<<d.ids>>.values()
            if <<d.id>>["<<h.id>>_id"] == <<h.id>>_id and <<d.id>>["status"] != "withdrawn"
        ]

    def _assigned_days(self, <<p.id>>_id: str) -> list[str]:
        """Return the days on which <<p.a>> has <<d.a>>."""
        return [
            self.<<h.ids>>[<<d.id>>["<<h.id>>_id"]]["held_on"]
            for <<d.id>> in self.<<d.ids>>.values()
            if <<d.id>>["<<p.id>>_id"] == <<p.id>>_id and <<d.id>>["status"] == "assigned"
        ]

    def _ahead(self, <<p.id>>_id: str) -> int:
        """Count the <<d.many>> that <<p.a>> has from today on."""
        return sum(day >= self.today for day in self._assigned_days(<<p.id>>_id))

    def _obstacle(self, <<p.id>>: dict, <<h.id>>: dict) -> str:
        """Tell why <<p.a>> cannot do <<h.a>>; empty when nothing stands in the way."""
        if <<p.id>>["status"] != "active":
            return f"{<<p.id>>['name']} is {<<p.id>>['status']}."
        if <<p.id>>["<<skill>>"] != <<h.id>>["<<skill>>"]:
            return f"{<<p.id>>['name']} does not have the <<skillwords>> {<<h.id>>['<<skill>>']}."
        if <<h.id>>["held_on"] in self._assigned_days(<<p.id>>["<<p.id>>_id"]):
            return f"{<<p.id>>['name']} has <<d.a>> on {<<h.id>>['held_on']} already."
        if self._ahead(<<p.id>>["<<p.id>>_id"]) >= <<s.max_upcoming>>:
            return f"{<<p.id>>['name']} has <<s.max_upcoming>> <<d.many>> ahead already."
        return ""

    def _requested_<<w.id>>(self, <<d.id>>_id: str) -> dict | None:
        """Return the open <<w>> request for <<d.a>>, None when there is none."""
        for <<w.id>> in self.<<w.ids>>.values():
            if <<w.id>>["<<d.id>>_id"] == <<d.id>>_id and <<w.id>>["status"] == "requested":
                return <<w.id>>
        return None
'''

    READS = (
        MACROS
        + '''
def list_<<l.ids>>(self, name: str | None = None) -> dict:
    """List the <<l.many>>.

    Args:
        name: Only those with this in their name; upper and lower case are the same. Leave out for all.

    Returns:
        The <<l.many>> sorted by id; an empty list when there are none.
    """
    selected = [
        dict(entry)
        for entry in self.<<l.ids>>.values()
        if name is None or name.strip().lower() in entry["name"].lower()
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: entry["<<l.id>>_id"])}

def list_<<h.ids>>(
    self,
    <<l.id>>_id: str | None = None,
    held_on: str | None = None,
    <<part>>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<h.many>> with their free places, the earliest first.

    Args:
        <<l.id>>_id: Only those at this <<l>>. Leave out for all.
        held_on: Only those on this date, as YYYY-MM-DD. Leave out for all.
        <<part>>: Only this <<partwords>>: <<partlist>>. Leave out for all.
        status: Only this status: planned or cancelled. Leave out for all.

    Returns:
        The matching <<h.many>>, each with `free_places`; an empty list when there are none.
    """
<<one_of(part, partwords, parts)>>
<<one_of("status", "status", ["planned", "cancelled"])>>
    refuse if held_on is not None and not self._is_date(held_on) :: {held_on!r} is not a date as YYYY-MM-DD.
    selected = [
        {**entry, "free_places": entry["places"] - len(self._on_<<h.id>>(key))}
        for key, entry in self.<<h.ids>>.items()
        if <<l.id>>_id in (None, entry["<<l.id>>_id"])
        and held_on in (None, entry["held_on"])
        and <<part>> in (None, entry["<<part>>"])
        and status in (None, entry["status"])
    ]
    selected.sort(key=lambda entry: (entry["held_on"], entry["<<h.id>>_id"]))
    return {"success": True, "data": selected}

<<getter(h, s.shift_prefix)>>

def list_open_<<h.ids>>(self, <<skill>>: str | None = None) -> dict:
    """List the <<h.many>> after today that have a free place, the earliest first.

    Args:
        <<skill>>: Only those that need this <<skillwords>>: <<skilllist>>. Leave out for all.

    Returns:
        The <<h.many>>, each with `free_places`; an empty list when there are none.
    """
<<one_of(skill, skillwords, skills)>>
    selected = [
        {**entry, "free_places": entry["places"] - len(self._on_<<h.id>>(key))}
        for key, entry in self.<<h.ids>>.items()
        if entry["status"] == "planned"
        and entry["held_on"] > self.today
        and len(self._on_<<h.id>>(key)) < entry["places"]
        and <<skill>> in (None, entry["<<skill>>"])
    ]
    selected.sort(key=lambda entry: (entry["held_on"], entry["<<h.id>>_id"]))
    return {"success": True, "data": selected}

def list_free_<<p.ids>>(self, <<h.id>>_id: str) -> dict:
    """List the <<p.many>> who could do <<h.a>>, the one with the fewest <<d.many>> ahead first.

    Args:
        <<h.id>>_id: Id of the <<h>>.

    Returns:
        The active <<p.many>> with the right <<skillwords>> who are free that day and have fewer than <<s.max_upcoming>>
        <<d.many>> from today on, each with that number as `ahead`.
    """
    need h
    selected = [
        {**entry, "ahead": self._ahead(key)}
        for key, entry in self.<<p.ids>>.items()
        if not self._obstacle(entry, <<h.id>>)
    ]
    selected.sort(key=lambda entry: (entry["ahead"], entry["<<p.id>>_id"]))
    return {"success": True, "data": selected}

def list_<<d.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<h.id>>_id: str | None = None,
    held_on: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<d.many>>, the earliest first.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<h.id>>_id: Only those on this <<h>>. Leave out for all.
        held_on: Only those on this date, as YYYY-MM-DD. Leave out for all.
        status: Only this status: assigned, attended or withdrawn. Leave out for all.

    Returns:
        The matching <<d.many>>, each with the day it is `held_on`; an empty list when there are none.
    """
<<one_of("status", "status", ["assigned", "attended", "withdrawn"])>>
    refuse if held_on is not None and not self._is_date(held_on) :: {held_on!r} is not a date as YYYY-MM-DD.
    selected = []
    for entry in self.<<d.ids>>.values():
        day = self.<<h.ids>>[entry["<<h.id>>_id"]]["held_on"]
        if (
            <<p.id>>_id in (None, entry["<<p.id>>_id"])
            and <<h.id>>_id in (None, entry["<<h.id>>_id"])
            and held_on in (None, day)
            and status in (None, entry["status"])
        ):
            selected.append({**entry, "held_on": day})
    selected.sort(key=lambda entry: (entry["held_on"], entry["<<d.id>>_id"]))
    return {"success": True, "data": selected}

def list_<<w.ids>>(self, <<p.id>>_id: str | None = None, status: str | None = None) -> dict:
    """List <<w>> requests, the oldest first.

    Args:
        <<p.id>>_id: Only those for <<d.many>> of this <<p>>. Leave out for all.
        status: Only this status: requested, approved or declined. Leave out for all.

    Returns:
        The matching requests; an empty list when there are none.
    """
<<one_of("status", "status", ["requested", "approved", "declined"])>>
    selected = [
        dict(entry)
        for entry in self.<<w.ids>>.values()
        if <<p.id>>_id in (None, self.<<d.ids>>[entry["<<d.id>>_id"]]["<<p.id>>_id"])
        and status in (None, entry["status"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: entry["<<w.id>>_id"])}
'''
    )

    WRITES = (
        MACROS
        + '''
<% macro to_come() %>
    refuse if <<h.id>>["status"] != "planned" :: <<h.cap>> {<<h.id>>['<<h.id>>_id']} is cancelled.
    refuse if <<h.id>>["held_on"] < self.today :: <<h.cap>> {<<h.id>>['<<h.id>>_id']} is over.
<%- endmacro %>
<% macro requested() %>
    refuse if <<w.id>>["status"] != "requested" :: <<w.cap>> {<<w.id>>_id} is {<<w.id>>['status']}, not requested.
<%- endmacro %>
def plan_<<h.id>>(
    self, <<l.id>>_id: str, held_on: str, <<part>>: str, <<skill>>: str, places: int
) -> dict:
    """Plan a new <<h>> at <<l.a>>.

    Args:
        <<l.id>>_id: Id of the <<l>>, which has none yet for that day and <<partwords>>.
        held_on: Date after today, as YYYY-MM-DD.
        <<part>>: The <<partwords>>: <<partlist>>.
        <<skill>>: What it needs: <<skilllist>>.
        places: How many <<p.many>> it takes: at least 1 and at most 20.

    Returns:
        The planned <<h>>, or an error.
    """
    refuse if <<l.id>>_id not in self.<<l.ids>> :: There is no <<l>> with the id {<<l.id>>_id!r}.
    refuse if not self._is_date(held_on) or held_on <= self.today :: {held_on!r} is not a date after today.
    refuse if <<part>> not in (<<quoted(parts)>>) :: There is no <<partwords>> {<<part>>!r}.
    refuse if <<skill>> not in (<<quoted(skills)>>) :: There is no <<skillwords>> {<<skill>>!r}.
    refuse if places < 1 or places > 20 :: The number of places must be 1 to 20.
    wanted = (<<l.id>>_id, held_on, <<part>>, "planned")
    for entry in self.<<h.ids>>.values():
        spot = (entry["<<l.id>>_id"], entry["held_on"], entry["<<part>>"], entry["status"])
        refuse if spot == wanted :: {entry['<<h.id>>_id']} is planned for that time already.
    <<h.id>>: <<h.type>> = {
        "<<h.id>>_id": self._next_id(self.<<h.ids>>, "<<s.shift_prefix>>"),
        "<<l.id>>_id": <<l.id>>_id,
        "held_on": held_on,
        "<<part>>": <<part>>,
        "<<skill>>": <<skill>>,
        "places": places,
        "status": "planned",
    }
    self.<<h.ids>>[<<h.id>>["<<h.id>>_id"]] = <<h.id>>
<<done(h, "planned")>>

def set_<<h.id>>_places(self, <<h.id>>_id: str, places: int) -> dict:
    """Change how many <<p.many>> <<h.a>> takes.

    Args:
        <<h.id>>_id: Id of the <<h>>, which must be planned and not over.
        places: Another number: at least 1 and at most 20, and enough for those who are on it.

    Returns:
        The changed <<h>>, or an error.
    """
    need h
<<to_come()>>
    refuse if places < 1 or places > 20 :: The number of places must be 1 to 20.
    refuse if places == <<h.id>>["places"] :: It has {places} places already.
    taken = len(self._on_<<h.id>>(<<h.id>>_id))
    refuse if places < taken :: {taken} <<d.many>> are assigned.
    <<h.id>>["places"] = places
<<done(h, "changed")>>

def cancel_<<h.id>>(self, <<h.id>>_id: str) -> dict:
    """Cancel <<h.a>>; its <<d.many>> are withdrawn and open <<w>> requests for them declined.

    Args:
        <<h.id>>_id: Id of the <<h>>, which must be planned and not over.

    Returns:
        The cancelled <<h>> with the ids of everything `released` by that, or an error.
    """
    need h
<<to_come()>>
    <<h.id>>["status"] = "cancelled"
    released = []
    for <<d.id>> in self._on_<<h.id>>(<<h.id>>_id):
        <<d.id>>["status"] = "withdrawn"
        released.append(<<d.id>>["<<d.id>>_id"])
        <<w.id>> = self._requested_<<w.id>>(<<d.id>>["<<d.id>>_id"])
        if <<w.id>> is not None:
            <<w.id>>["status"] = "declined"
            released.append(<<w.id>>["<<w.id>>_id"])
    data = {**<<h.id>>, "released": released}
    return {"success": True, "message": f"<<h.cap>> {<<h.id>>_id} cancelled.", "data": data}

def assign_<<p.id>>(self, <<h.id>>_id: str, <<p.id>>_id: str) -> dict:
    """Assign <<p.a>> to a free place of <<h.a>>.

    Args:
        <<h.id>>_id: Id of the <<h>>, which must be planned, not over, and have a free place.
        <<p.id>>_id: Id of the <<p>>: active, qualified, free that day, with fewer than <<s.max_upcoming>> ahead.

    Returns:
        The new <<d>>, or an error.
    """
    need h
    need p
<<to_come()>>
    refuse if len(self._on_<<h.id>>(<<h.id>>_id)) >= <<h.id>>["places"] :: <<h.cap>> {<<h.id>>_id} is full.
    obstacle = self._obstacle(<<p.id>>, <<h.id>>)
    refuse if obstacle :: {obstacle}
    <<d.id>>: <<d.type>> = {
        "<<d.id>>_id": self._next_id(self.<<d.ids>>, "<<s.duty_prefix>>"),
        "<<h.id>>_id": <<h.id>>_id,
        "<<p.id>>_id": <<p.id>>_id,
        "status": "assigned",
    }
    self.<<d.ids>>[<<d.id>>["<<d.id>>_id"]] = <<d.id>>
<<done(d, "assigned")>>

def withdraw_<<d.id>>(self, <<d.id>>_id: str) -> dict:
    """Take somebody off <<h.a>> that is not over.

    Args:
        <<d.id>>_id: Id of the <<d>>, which must be assigned, with no open <<w>> request.

    Returns:
        The withdrawn <<d>>, or an error.
    """
    need d
    refuse if <<d.id>>["status"] != "assigned" :: <<d.cap>> {<<d.id>>_id} is {<<d.id>>['status']}, not assigned.
    <<h.id>> = self.<<h.ids>>[<<d.id>>["<<h.id>>_id"]]
<<to_come()>>
    refuse if self._requested_<<w.id>>(<<d.id>>_id) is not None :: <<w.a[:1]|upper>><<w.a[1:]>> is requested for it.
    <<d.id>>["status"] = "withdrawn"
<<done(d, "withdrawn")>>

def record_attendance(self, <<d.id>>_id: str) -> dict:
    """Record that somebody was there for <<d.a>>.

    Args:
        <<d.id>>_id: Id of the <<d>>, which must be assigned and not lie in the future.

    Returns:
        The attended <<d>>, or an error.
    """
    need d
    refuse if <<d.id>>["status"] != "assigned" :: <<d.cap>> {<<d.id>>_id} is {<<d.id>>['status']}, not assigned.
    day = self.<<h.ids>>[<<d.id>>["<<h.id>>_id"]]["held_on"]
    refuse if day > self.today :: <<d.cap>> {<<d.id>>_id} is not before {day}.
    <<d.id>>["status"] = "attended"
<<done(d, "attended")>>

def request_<<w.id>>(self, <<d.id>>_id: str, to_<<p.id>>_id: str) -> dict:
    """Request that somebody else takes over <<d.a>>.

    Args:
        <<d.id>>_id: Id of the <<d>>, which must be assigned, not over, with no open <<w>> request.
        to_<<p.id>>_id: Id of the <<p>> who takes it over and could be assigned to the <<h>>.

    Returns:
        The new <<w>> request, or an error.
    """
    need d
    <<p.id>> = self.<<p.ids>>.get(to_<<p.id>>_id)
    refuse if <<p.id>> is None :: There is no <<p>> with the id {to_<<p.id>>_id!r}.
    refuse if <<d.id>>["status"] != "assigned" :: <<d.cap>> {<<d.id>>_id} is {<<d.id>>['status']}, not assigned.
    <<h.id>> = self.<<h.ids>>[<<d.id>>["<<h.id>>_id"]]
<<to_come()>>
    refuse if self._requested_<<w.id>>(<<d.id>>_id) is not None :: <<w.a[:1]|upper>><<w.a[1:]>> is requested already.
    obstacle = self._obstacle(<<p.id>>, <<h.id>>)
    refuse if obstacle :: {obstacle}
    <<w.id>>: <<w.type>> = {
        "<<w.id>>_id": self._next_id(self.<<w.ids>>, "<<s.swap_prefix>>"),
        "<<d.id>>_id": <<d.id>>_id,
        "to_<<p.id>>_id": to_<<p.id>>_id,
        "status": "requested",
    }
    self.<<w.ids>>[<<w.id>>["<<w.id>>_id"]] = <<w.id>>
<<done(w, "requested")>>

def approve_<<w.id>>(self, <<w.id>>_id: str) -> dict:
    """Approve a requested <<w>>: the <<d>> passes to the other <<p>>.

    Args:
        <<w.id>>_id: Id of the request, which must be requested; the other <<p>> must still be free.

    Returns:
        The approved request, or an error.
    """
    need w
<<requested()>>
    <<d.id>> = self.<<d.ids>>[<<w.id>>["<<d.id>>_id"]]
    <<h.id>> = self.<<h.ids>>[<<d.id>>["<<h.id>>_id"]]
<<to_come()>>
    obstacle = self._obstacle(self.<<p.ids>>[<<w.id>>["to_<<p.id>>_id"]], <<h.id>>)
    refuse if obstacle :: {obstacle}
    <<d.id>>["<<p.id>>_id"] = <<w.id>>["to_<<p.id>>_id"]
    <<w.id>>["status"] = "approved"
<<done(w, "approved")>>

def decline_<<w.id>>(self, <<w.id>>_id: str) -> dict:
    """Decline a requested <<w>>: everything stays as it is.

    Args:
        <<w.id>>_id: Id of the request, which must be requested.

    Returns:
        The declined request, or an error.
    """
    need w
<<requested()>>
    <<w.id>>["status"] = "declined"
<<done(w, "declined")>>
'''
    )

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, site = v.s, f"{v.l.id}_id"
        for n, name in enumerate(s.sites):
            key = key_of(s.site_prefix, n + 1)
            state[v.l.ids][key] = {site: key, "name": name, **{x.name: x.draw(rng) for x in s.extras}}
        for n, person in enumerate(shuffled(rng, list(state[v.p.ids].values()))):
            person[v.skill] = v.skills[n % len(v.skills)]
        days = sorted(int(day) for day in rng.choice(range(-6, 16), size=13, replace=False) if day != 0)
        for day in days:
            key = key_of(s.shift_prefix, len(state[v.h.ids]) + 1)
            state[v.h.ids][key] = {
                f"{v.h.id}_id": key,
                site: pick(rng, list(state[v.l.ids])),
                "held_on": later(state["today"], day),
                v.part: pick(rng, v.parts),
                v.skill: v.skills[len(state[v.h.ids]) % len(v.skills)],
                "places": int(rng.integers(2, 4)),
                "status": "cancelled" if rng.random() < 0.05 else "planned",
            }
        for shift in state[v.h.ids].values():
            self._duties(v, state, rng, shift)
        self._swaps(v, state, rng)

    def _duties(self, v: SimpleNamespace, state: State, rng: Rng, shift: dict[str, Any]) -> None:
        able = [
            k for k, p in state[v.p.ids].items() if p["status"] == "active" and p[v.skill] == shift[v.skill]
        ]
        over = shift["held_on"] < state["today"]
        for person in shuffled(rng, able)[: int(rng.integers(0, 3))] if shift["status"] == "planned" else []:
            mine = [d for d in state[v.d.ids].values() if d[f"{v.p.id}_id"] == person]
            if len(mine) < v.s.max_upcoming - 1:
                key = key_of(v.s.duty_prefix, len(state[v.d.ids]) + 1)
                state[v.d.ids][key] = {
                    f"{v.d.id}_id": key,
                    f"{v.h.id}_id": shift[f"{v.h.id}_id"],
                    f"{v.p.id}_id": person,
                    "status": "attended" if over and rng.random() < 0.4 else "assigned",
                }

    def _swaps(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        duties = shuffled(rng, list(state[v.d.ids].values()))
        duties.sort(key=lambda d: state[v.h.ids][d[f"{v.h.id}_id"]]["held_on"] <= state["today"])
        for n, duty in enumerate(duties[:6]):
            shift = state[v.h.ids][duty[f"{v.h.id}_id"]]
            others = [
                k for k, p in state[v.p.ids].items()
                if p["status"] == "active" and p[v.skill] == shift[v.skill] and k != duty[f"{v.p.id}_id"]
            ]  # fmt: skip
            if others:
                key = key_of(v.s.swap_prefix, len(state[v.w.ids]) + 1)
                ahead = shift["held_on"] > state["today"] and duty["status"] == "assigned"
                state[v.w.ids][key] = {
                    f"{v.w.id}_id": key,
                    f"{v.d.id}_id": duty[f"{v.d.id}_id"],
                    f"to_{v.p.id}_id": pick(rng, others),
                    "status": "requested" if ahead and n < 3 else "declined",
                }


PATTERN = Shifts
