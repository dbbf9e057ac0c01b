"""Shipments: what senders hand in, the stations it passes, the couriers who bring it, and every step on its way."""

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

STATUSES = ("accepted", "in_transit", "waiting", "out_for_delivery", "delivered", "returned", "cancelled")


class Service(Part):
    """What holds for a kind of transport."""

    days: int
    """Days until it is due."""
    base: float
    """Price of the piece."""
    per_kg: float
    """Price of a kilogram."""
    max_kg: int
    """Greatest weight."""


class ShipmentSettings(Settings):
    """A carrier's words and numbers."""

    item: str
    """`parcel`"""
    prefix: str
    """Prefix of the items' ids."""
    code: str = "tracking_code"
    """Name of the number people know it by."""
    code_prefix: str
    """What such numbers begin with."""
    person: str = "person"
    """Who sends: a registry's noun."""
    recipient: str = "recipient"
    """Name of who gets it."""
    recipients: list[str] = []
    """Names of those who get something, where they are no people."""
    station: str
    """`depot`"""
    station_prefix: str
    """Prefix of the stations' ids."""
    stations: list[str]
    """Names of the stations, at least four."""
    courier: str
    """`courier`"""
    courier_prefix: str
    """Prefix of the couriers' ids."""
    max_load: int = 60
    """Kilograms a courier takes at a time."""
    service: str = "service"
    """Name of the kind of transport."""
    services: dict[str, Service]
    """Kind of transport → what holds for it."""
    currency: str = "EUR"
    """Unit of money."""
    weights: tuple[int, int] = (1, 18)
    """Least and greatest weight of the data."""
    step: str = "scan"
    """An entry in the trace: `scan`."""
    step_prefix: str = "SC"
    """Prefix of the entries' ids."""
    register_verb: str = "register"
    """Verb for taking one in."""
    max_attempts: int = 3
    """After so many failed deliveries it is sent back."""
    failures: list[str]
    """Why a delivery fails."""


class ItemGoal(Goal):
    """A goal about one item that is called by its code."""

    statuses: ClassVar[tuple[str, ...]] = ()

    def some(self, state: State, rng: Rng) -> list[dict[str, Any]]:
        """Items of the goal's statuses in a random order."""
        return shuffled(rng, [i for i in state[self.v.i.ids].values() if i["status"] in self.statuses])

    def item(self, slots: Slots, state: State) -> dict[str, Any]:
        """The item a sentence is about."""
        item = only([i for i in state[self.v.i.ids].values() if i[self.v.code] == slots["code"]])
        if item["status"] not in self.statuses:
            raise LookupError(f"it is {item['status']}")
        return item

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.some(state, rng)
        return {"code": rows[0][self.v.code]} if rows else None

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it; the last one's first row is the item."""
        return [call(f"find_{self.v.i.ids}", **{self.v.code: slots["code"]})]

    def id(self, calls: list[dict[str, Any]]) -> dict[str, Any]:
        """Argument with the item's id, when those calls found it."""
        return {f"{self.v.i.id}_id": found(len(calls) - 1, 0, f"{self.v.i.id}_id")}

    def station(self, slots: Slots, state: State) -> str:
        """The id of the station a sentence names."""
        return str(named(state, self.v.l, slots["place"])[f"{self.v.l.id}_id"])

    def change(
        self, item: dict[str, Any], what: str, text: str, state: State, **fields: Any
    ) -> list[Outcome]:
        """The item has these values and its trace an entry more."""
        v, key, place = self.v, f"{self.v.i.id}_id", f"{self.v.l.id}_id"
        at = fields.get(place, item[place])
        step = {key: item[key], place: at, "what": what, "happened_on": state["today"]}
        also = (item[f"{v.p.id}_id"], f"at {item[place]}")
        return [
            Changed(v.i.ids, item[key], fields, text, also),
            Added(v.e.ids, step, f"Has {v.e.a} '{what}' been written for {v.i} {item[v.code]}?", (at,)),
        ]


class SenderGoal(ItemGoal):
    """A goal about the one item of a status that somebody has sent."""

    def item(self, slots: Slots, state: State) -> dict[str, Any]:
        key = f"{self.v.p.id}_id"
        person = named(state, self.v.p, slots["name"])[key]
        rows = [i for i in state[self.v.i.ids].values() if i[key] == person]
        return only([i for i in rows if i["status"] == self.statuses[0]])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.some(state, rng)
        return {"name": state[self.v.p.ids][rows[0][f"{self.v.p.id}_id"]]["name"]} if rows else None

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.i.ids}", **{key: found(0, 0, key)}, status=self.statuses[0]),
        ]


class Register(Goal):
    """Take in something new."""

    phrases = (
        "The <<p>> {name:name} sends <<i.a>> of {weight:int} kg by {service:name} from the <<l>> {start:name} to "
        "{whom:name} at the <<l>> {place:name}, please take it in.",
        "Please <<s.register_verb>> <<i.a>> of {weight:int} kg that <<p>> {name:name} sends to {whom:name}: from the "
        "<<l>> {start:name}, to the <<l>> {place:name}, by {service:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<l.ids>>", "<<s.register_verb>>_<<i.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        ends = shuffled(rng, list(state[v.l.ids].values()))
        people = frozenset(row["name"] for row in state[v.p.ids].values())
        service = pick(rng, list(v.services))
        return {
            "name": pick(rng, list(state[v.p.ids].values()))["name"],
            "weight": int(rng.integers(v.s.weights[0], min(v.s.weights[1], v.services[service].max_kg) + 1)),
            "service": service,
            "start": ends[0]["name"],
            "place": ends[1]["name"],
            "whom": pick(rng, v.s.recipients) if v.s.recipients else names.people(rng, 1, people)[0],
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key, place = self.v, f"{self.v.p.id}_id", f"{self.v.l.id}_id"
        given = {
            key: found(0, 0, key),
            v.recipient: slots["whom"],
            f"from_{place}": found(1, 0, place),
            f"to_{place}": found(2, 0, place),
            v.service: slots["service"],
            "weight_kg": slots["weight"],
        }
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.l.ids}", name=slots["start"]),
            call(f"list_{v.l.ids}", name=slots["place"]),
            call(f"{v.s.register_verb}_{v.i.id}", **given),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, place = self.v, f"{self.v.l.id}_id"
        person = named(state, v.p, slots["name"])
        start, end = named(state, v.l, slots["start"]), named(state, v.l, slots["place"])
        terms = v.services[slots["service"]]
        if person["status"] != "active" or not (start["is_open"] and end["is_open"]) or start is end:
            raise LookupError("it cannot be taken in")
        fields = {
            f"{v.p.id}_id": person[f"{v.p.id}_id"],
            v.recipient: slots["whom"],
            v.service: slots["service"],
            "weight_kg": slots["weight"],
            "fee": round(terms.base + terms.per_kg * slots["weight"], 2),
            place: start[place],
            f"to_{place}": end[place],
            f"{v.w.id}_id": None,
            "attempts": 0,
            "sent_on": state["today"],
            "due_on": later(state["today"], terms.days),
            "signed_by": "",
            "note": "",
            **v.blanks,
            "status": "accepted",
        }
        text = (
            f"Has {v.i.a} of {slots['weight']} kg by {slots['service']} from {slots['name']} been taken in?"
        )
        step = {place: start[place], "what": "accepted", "happened_on": state["today"]}
        return [
            Added(v.i.ids, fields, text, (f"at {start[place]}",)),
            Added(v.e.ids, step, f"Has {v.e.a} at {slots['start']} been written for the new {v.i}?"),
        ]


class Forward(ItemGoal):
    """Send an item on to where it is addressed."""

    statuses = ("accepted", "waiting")
    phrases = (
        "The <<i>> {code:token} should now leave for the <<l>> it is addressed to, so forward it there.",
        "Please look up the <<i>> {code:token} and forward it to its destination <<l>>.",
    )
    needs = ("find_<<i.ids>>", "forward_<<i.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        calls, place = self.look_up(slots), f"{self.v.l.id}_id"
        target = {place: found(0, 0, f"to_{place}")}
        return [*calls, call(f"forward_{self.v.i.id}", **self.id(calls), **target)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        place = f"{self.v.l.id}_id"
        item = self.item(slots, state)
        target = item[f"to_{place}"]
        if item[place] == target or not state[self.v.l.ids][target]["is_open"]:
            raise LookupError("it cannot be forwarded")
        text = f"Is {self.v.i} {item[self.v.code]} in transit to its destination?"
        return self.change(item, "forwarded", text, state, status="in_transit", **{place: target})


class Receive(ItemGoal):
    """An item has arrived."""

    statuses = ("in_transit",)
    weight = 0.7
    phrases = (
        "The <<i>> {code:token} has come in, so please record its arrival.",
        "Please book the <<i>> {code:token} in, it was in transit and has arrived.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<i.ids>>", "receive_<<i.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        calls = self.look_up(slots)
        return [*calls, call(f"receive_{self.v.i.id}", **self.id(calls))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = self.item(slots, state)
        text = f"Is {self.v.i} {item[self.v.code]} waiting at the {self.v.l} it was sent to?"
        return self.change(item, "arrived", text, state, status="waiting")


class ReceiveFirst(Receive):
    """The item in transit that is due first has arrived."""

    weight = 1.0
    phrases = (
        "Of all <<i.many>> in transit to the <<l>> {place:name}, the one due first is in, so record its arrival.",
        "The <<l>> {place:name} reports that the most urgent of the <<i.many>> in transit to it, the one due first, "
        "has arrived; please record that.",
    )
    needs = ("list_<<l.ids>>", "list_<<i.ids>>", "receive_<<i.id>>")

    def item(self, slots: Slots, state: State) -> dict[str, Any]:
        place = self.station(slots, state)
        rows = [i for i in state[self.v.i.ids].values() if i[f"{self.v.l.id}_id"] == place]
        rows = [i for i in rows if i["status"] == self.statuses[0]]
        first = min((i["due_on"] for i in rows), default="")
        return only([i for i in rows if i["due_on"] == first])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.some(state, rng)
        return {"place": state[self.v.l.ids][rows[0][f"{self.v.l.id}_id"]]["name"]} if rows else None

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        place = f"{self.v.l.id}_id"
        there = {place: found(0, 0, place), "status": self.statuses[0]}
        return [call(f"list_{self.v.l.ids}", name=slots["place"]), call(f"list_{self.v.i.ids}", **there)]


class HandOut(ItemGoal):
    """Give an item to whoever carries least."""

    statuses = ("waiting",)
    phrases = (
        "The <<i>> {code:token} is ready for delivery: give it to the <<w>> on duty at its <<l>> with the lightest "
        "load.",
        "Please send out the <<i>> {code:token} with whichever <<w>> on duty at its <<l>> has the lightest load.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<i.ids>>", "list_<<w.ids>>", "hand_out_<<i.id>>")

    def load(self, state: State, courier: str) -> float:
        """The kilograms a courier carries."""
        key = f"{self.v.w.id}_id"
        return sum(
            i["weight_kg"]
            for i in state[self.v.i.ids].values()
            if i[key] == courier and i["status"] == "out_for_delivery"
        )

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, calls, place = self.v, self.look_up(slots), f"{self.v.l.id}_id"
        there = {place: found(len(calls) - 1, 0, place), "on_duty": True}
        courier = {f"{v.w.id}_id": found(len(calls), 0, f"{v.w.id}_id")}
        hand_out = call(f"hand_out_{v.i.id}", **self.id(calls), **courier)
        return [*calls, call(f"list_{v.w.ids}", **there), hand_out]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, place = self.v, f"{self.v.l.id}_id"
        item = self.item(slots, state)
        rows = [w for w in state[v.w.ids].values() if w["on_duty"] and w[place] == item[place]]
        loads = {w[f"{v.w.id}_id"]: self.load(state, w[f"{v.w.id}_id"]) for w in rows}
        courier = only([k for k, load in loads.items() if load == min(loads.values())])
        if item[place] != item[f"to_{place}"] or loads[courier] + item["weight_kg"] > v.s.max_load:
            raise LookupError("it cannot go out")
        text = f"Is {v.i} {item[v.code]} out with the {v.w} of its {v.l} who carried least?"
        fields = {"status": "out_for_delivery", f"{v.w.id}_id": courier}
        return self.change(item, "handed_out", text, state, **fields)


class HandOutFirst(HandOut):
    """Give the item due first at a station to whoever carries least."""

    phrases = (
        "Of the <<i.many>> waiting at the <<l>> {place:name}, the one due first goes out with the <<w>> on duty there "
        "who has the lightest load.",
        "At the <<l>> {place:name}, please hand the waiting <<i>> with the earliest due date to the <<w>> on duty who "
        "carries the least.",
    )
    needs: ClassVar[tuple[str, ...]] = (
        "list_<<l.ids>>", "list_<<i.ids>>", "list_<<w.ids>>", "hand_out_<<i.id>>",
    )  # fmt: skip
    item = ReceiveFirst.item
    draw = ReceiveFirst.draw
    look_up = ReceiveFirst.look_up


class Deliver(ItemGoal):
    """An item was delivered."""

    statuses = ("out_for_delivery",)
    phrases = (
        "The <<i>> {code:token} has been delivered and {who:name} signed for it.",
        "Please mark the <<i>> {code:token} as delivered, signed for by {who:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<i.ids>>", "deliver_<<i.id>>")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "who": names.people(rng, 1)[0]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        calls = self.look_up(slots)
        return [*calls, call(f"deliver_{self.v.i.id}", **self.id(calls), signed_by=slots["who"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = self.item(slots, state)
        text = f"Has {self.v.i} {item[self.v.code]} been delivered, signed for by {slots['who']}?"
        fields = {"status": "delivered", "signed_by": slots["who"], f"{self.v.w.id}_id": None}
        return self.change(item, "delivered", text, state, **fields)


class DeliverFor(SenderGoal, Deliver):
    """The item somebody has sent was delivered."""

    weight = 1.0
    phrases = (
        "The <<i>> of <<p>> {name:name} that was out for delivery has been signed for by {who:name}, so record that.",
        "Please record that {who:name} signed for the <<i>> which <<p>> {name:name} has out for delivery.",
    )
    needs = ("find_<<p.ids>>", "list_<<i.ids>>", "deliver_<<i.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = SenderGoal.draw(self, state, rng)
        return slots and {**slots, "who": names.people(rng, 1)[0]}


class Fail(Deliver):
    """A delivery did not succeed."""

    phrases = (
        'The <<w>> could not deliver the <<i>> {code:token}, please record the failed attempt: "{reason:text}".',
        'Please note a failed delivery of the <<i>> {code:token} with the reason "{reason:text}".',
    )
    needs = ("find_<<i.ids>>", "fail_<<i.id>>_delivery")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {"code": slots["code"], "reason": pick(rng, self.v.s.failures)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        calls = self.look_up(slots)
        return [*calls, call(f"fail_{self.v.i.id}_delivery", **self.id(calls), reason=slots["reason"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = self.item(slots, state)
        attempts = item["attempts"] + 1
        fields = {
            "attempts": attempts,
            "status": "returned" if attempts >= self.v.s.max_attempts else "waiting",
            f"{self.v.w.id}_id": None,
            "note": slots["reason"],
        }
        text = f"Has the failed delivery of {self.v.i} {item[self.v.code]} been recorded with its reason?"
        return self.change(item, fields["status"], text, state, **fields)


class Redirect(ItemGoal):
    """Another destination."""

    statuses = ("accepted", "in_transit", "waiting")
    phrases = (
        "The <<i>> {code:token} has to go to the <<l>> {place:name} instead, please redirect it.",
        "Please change the destination of the <<i>> {code:token} to the <<l>> {place:name}.",
    )
    needs = ("find_<<i.ids>>", "list_<<l.ids>>", "redirect_<<i.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "place": pick(rng, self.v.s.stations)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        calls, place = self.look_up(slots), f"{self.v.l.id}_id"
        target = {f"to_{place}": found(1, 0, place)}
        find_place = call(f"list_{self.v.l.ids}", name=slots["place"])
        return [*calls, find_place, call(f"redirect_{self.v.i.id}", **self.id(calls), **target)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        place = f"{self.v.l.id}_id"
        item, target = self.item(slots, state), self.station(slots, state)
        if item[f"to_{place}"] == target or not state[self.v.l.ids][target]["is_open"]:
            raise LookupError("it cannot be redirected there")
        text = f"Has {self.v.i} {item[self.v.code]} been redirected to {slots['place']}?"
        return self.change(item, "redirected", text, state, **{f"to_{place}": target})


class ChangeService(SenderGoal):
    """Another kind of transport for what was just taken in."""

    statuses = ("accepted",)
    phrases = (
        "The <<i>> that <<p>> {name:name} has just handed in should go by {service:name} instead.",
        "Please change the accepted <<i>> of <<p>> {name:name} to {service:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<i.ids>>", "change_<<i.id>>_<<service>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "service": pick(rng, list(self.v.services))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        calls = self.look_up(slots)
        tool = f"change_{self.v.i.id}_{self.v.service}"
        return [*calls, call(tool, **self.id(calls), **{self.v.service: slots["service"]})]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        item, terms = self.item(slots, state), v.services[slots["service"]]
        if item[v.service] == slots["service"] or item["weight_kg"] > terms.max_kg:
            raise LookupError("it cannot go so")
        fee = round(terms.base + terms.per_kg * item["weight_kg"], 2)
        fields = {v.service: slots["service"], "fee": fee, "due_on": later(item["sent_on"], terms.days)}
        text = f"Has the accepted {v.i} of {slots['name']} been changed to {slots['service']}?"
        return self.change(item, "changed", text, state, **fields)


class Cancel(SenderGoal):
    """Cancel what was just taken in."""

    statuses = ("accepted",)
    phrases = (
        "The <<p>> {name:name} wants the <<i>> back that was only accepted so far, so cancel it.",
        "Please cancel the accepted <<i>> of <<p>> {name:name}, it should not go out.",
    )
    needs = ("find_<<p.ids>>", "list_<<i.ids>>", "cancel_<<i.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        calls = self.look_up(slots)
        return [*calls, call(f"cancel_{self.v.i.id}", **self.id(calls))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        text = f"Has the accepted {self.v.i} of {slots['name']} been cancelled?"
        return self.change(self.item(slots, state), "cancelled", text, state, status="cancelled", fee=0.0)


class Shipments(Pattern):
    """Things on their way from station to station."""

    Settings = ShipmentSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Register, Forward, Receive, ReceiveFirst, HandOut, HandOutFirst, Deliver, DeliverFor, Fail, Redirect,
        ChangeService, Cancel,
    )  # fmt: skip

    def vocabulary(self, s: ShipmentSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        i = Noun(s.item)
        shared[s.item] = i
        return {
            "i": i,
            "p": shared[s.person],
            "l": Noun(s.station),
            "w": Noun(s.courier),
            "e": Noun(s.step),
            "code": s.code,
            "codewords": s.code.replace("_", " "),
            "recipient": s.recipient,
            "service": s.service,
            "services": s.services,
            "kinds": list(s.services),
            "kindlist": either(list(s.services)),
            "statuses": STATUSES,
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, i, place = v.s, v.i, f"{v.l.id}_id"
        return [
            Table(
                v.l,
                f"{v.l.a[:1].upper()}{v.l.a[1:]} that {i.many} pass.",
                [
                    attribute(place, "str", f"unique id, e.g. {s.station_prefix}-001"),
                    attribute("name", "str", "name"),
                    attribute("is_open", "bool", f"whether {i.many} may be sent there"),
                ],
            ),
            Table(
                v.w,
                f"{v.w.a[:1].upper()}{v.w.a[1:]}, who brings {i.many} to the door.",
                [
                    attribute(f"{v.w.id}_id", "str", f"unique id, e.g. {s.courier_prefix}-001"),
                    attribute("name", "str", "full name"),
                    attribute(place, "str", f"the {v.l} they start from"),
                    attribute("on_duty", "bool", "whether they work today"),
                ],
            ),
            Table(
                i,
                f"{i.a[:1].upper()}{i.a[1:]} and where it is.",
                [
                    attribute(f"{i.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                    attribute(v.code, "str", f"number it is known by, e.g. {s.code_prefix}40001"),
                    attribute(f"{v.p.id}_id", "str", f"the {v.p} who sends it"),
                    attribute(v.recipient, "str", "who gets it"),
                    attribute(v.service, "str", f"how it is sent: {v.kindlist}"),
                    attribute("weight_kg", "int", "weight in kilograms"),
                    attribute("fee", "float", f"price in {s.currency}"),
                    attribute(
                        place, "str", f"the {v.l} it is at; while in transit, the one it is on the way to"
                    ),
                    attribute(f"to_{place}", "str", f"the {v.l} it is addressed to"),
                    attribute(f"{v.w.id}_id", "str | None", f"the {v.w} who has it while out for delivery"),
                    attribute("attempts", "int", "failed deliveries"),
                    attribute("sent_on", "str", "date it was taken in, as YYYY-MM-DD"),
                    attribute("due_on", "str", "date it should be delivered by, as YYYY-MM-DD"),
                    attribute("signed_by", "str", "who signed for it, empty before"),
                    attribute("note", "str", "why the last delivery failed, otherwise empty"),
                    *own(s.extras),
                    attribute("status", "str", either(STATUSES)),
                ],
            ),
            Table(
                v.e,
                f"{v.e.a[:1].upper()}{v.e.a[1:]}: one step of {i.a}.",
                [
                    attribute(f"{v.e.id}_id", "str", f"unique id, e.g. {s.step_prefix}-001"),
                    attribute(f"{i.id}_id", "str", f"the {i}"),
                    attribute(place, "str", f"the {v.l} it happened at or leads to"),
                    attribute("what", "str", "what happened, e.g. accepted, forwarded, arrived"),
                    attribute("happened_on", "str", "date, as YYYY-MM-DD"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "No <<w>> carries more than <<s.max_load>> kg at a time.",
            """
            loads = {}
            for row in rows(after, "<<i.ids>>").values():
                if row.get("status") == "out_for_delivery":
                    key = str(row.get("<<w.id>>_id"))
                    loads[key] = loads.get(key, 0) + (row.get("weight_kg") or 0)
            return all(load <= <<s.max_load>> for load in loads.values())
            """,
        ),
        RuleText(
            "<<i.a[:1]|upper>><<i.a[1:]>> that is out for delivery is with <<w.a>> of the <<l>> it is addressed to, "
            "and any other <<i>> is with nobody.",
            """
            staff = rows(after, "<<w.ids>>")
            for row in rows(after, "<<i.ids>>").values():
                courier = staff.get(str(row.get("<<w.id>>_id")))
                if (row.get("status") == "out_for_delivery") != (courier is not None):
                    return False
                if courier is not None and courier.get("<<l.id>>_id") != row.get("to_<<l.id>>_id"):
                    return False
            return True
            """,
        ),
        RuleText(
            "<<i.a[:1]|upper>><<i.a[1:]>> is delivered exactly when somebody has signed for it.",
            """
            return all(
                (row.get("status") == "delivered") == bool(row.get("signed_by"))
                for row in rows(after, "<<i.ids>>").values()
            )
            """,
        ),
        RuleText(
            "After <<s.max_attempts>> failed deliveries <<i.a>> is returned.",
            """
            for row in rows(after, "<<i.ids>>").values():
                if (row.get("attempts") or 0) >= <<s.max_attempts>> and row.get("status") != "returned":
                    return False
            return True
            """,
        ),
        RuleText(
            "Delivered, returned and cancelled <<i.many>> stay as they are.",
            """
            old, new = rows(before, "<<i.ids>>"), rows(after, "<<i.ids>>")
            final = ("delivered", "returned", "cancelled")
            return all(new.get(key) == row for key, row in old.items() if row.get("status") in final)
            """,
            rank=2,
        ),
        RuleText(
            "No two <<i.many>> have the same <<codewords>>.",
            """
            codes = [row.get("<<code>>") for row in rows(after, "<<i.ids>>").values()]
            return len(codes) == len(set(codes))
            """,
            rank=2,
        ),
        RuleText(
            "Everything that happens to <<i.a>> leaves <<e.a>> in its trace.",
            """
            watched = ("status", "<<l.id>>_id", "to_<<l.id>>_id", "<<service>>")
            moved = {new.get("<<i.id>>_id") for name in watched for _, new in changed("<<i.ids>>", name)}
            return moved <= {row.get("<<i.id>>_id") for row in added("<<e.ids>>")}
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _terms(<<service>>: str) -> tuple[int, float, float, int] | None:
        """Return days until due, base price, price per kg and greatest weight; None for an unknown <<service>>."""
        return {
%% for name, t in services.items()
            "<<name>>": (<<t.days>>, <<t.base>>, <<t.per_kg>>, <<t.max_kg>>),
%% endfor
        }.get(<<service>>)

    def _load(self, <<w.id>>_id: str) -> int:
        """Return the kilograms that <<w.a>> carries at the moment."""
        return sum(
            <<i.id>>["weight_kg"]
            for <<i.id>> in self.<<i.ids>>.values()
            if <<i.id>>["<<w.id>>_id"] == <<w.id>>_id and <<i.id>>["status"] == "out_for_delivery"
        )

    def _trace(self, <<i.id>>: dict, what: str) -> None:
        """Add <<e.a>> for what has just happened to <<i.a>>."""
        <<e.id>>: <<e.type>> = {
            "<<e.id>>_id": self._next_id(self.<<e.ids>>, "<<s.step_prefix>>"),
            "<<i.id>>_id": <<i.id>>["<<i.id>>_id"],
            "<<l.id>>_id": <<i.id>>["<<l.id>>_id"],
            "what": what,
            "happened_on": self.today,
        }
        self.<<e.ids>>[<<e.id>>["<<e.id>>_id"]] = <<e.id>>
'''

    READS = (
        MACROS
        + '''
def find_<<i.ids>>(self, <<code>>: str) -> dict:
    """Find <<i.many>> by <<codewords>>.

    Args:
        <<code>>: The <<codewords>> or a part of it.

    Returns:
        The matching <<i.many>> sorted by <<codewords>>; an empty list when there are none.
    """
    wanted = <<code>>.strip().upper()
    if not wanted:
        return {"success": False, "error": "The <<codewords>> to look for is empty."}
    matches = [dict(<<i.id>>) for <<i.id>> in self.<<i.ids>>.values() if wanted in <<i.id>>["<<code>>"]]
    return {"success": True, "data": sorted(matches, key=lambda <<i.id>>: <<i.id>>["<<code>>"])}

<<getter(i, s.prefix)>>

def list_<<i.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<l.id>>_id: str | None = None,
    <<service>>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<i.many>>, the one due first in front.

    Args:
        <<p.id>>_id: Only those that this <<p>> sends. Leave out for all.
        <<l.id>>_id: Only those at this <<l>> or on the way to it. Leave out for all.
        <<service>>: Only those sent by <<kindlist>>. Leave out for all.
        status: Only this status: <<statuses|join(", ")>>. Leave out for all.

    Returns:
        The matching <<i.many>>; an empty list when there are none.
    """
<<one_of(service, service, kinds)>>
<<one_of("status", "status", statuses)>>
    selected = [
        dict(<<i.id>>)
        for <<i.id>> in self.<<i.ids>>.values()
        if <<p.id>>_id in (None, <<i.id>>["<<p.id>>_id"])
        and <<l.id>>_id in (None, <<i.id>>["<<l.id>>_id"])
        and <<service>> in (None, <<i.id>>["<<service>>"])
        and status in (None, <<i.id>>["status"])
    ]
    selected.sort(key=lambda <<i.id>>: (<<i.id>>["due_on"], <<i.id>>["<<i.id>>_id"]))
    return {"success": True, "data": selected}

def list_overdue_<<i.ids>>(self) -> dict:
    """List the <<i.many>> that should have been delivered before today, the longest overdue first.

    Returns:
        The <<i.many>> on their way whose due date has passed; an empty list when there are none.
    """
    selected = [
        dict(<<i.id>>)
        for <<i.id>> in self.<<i.ids>>.values()
        if <<i.id>>["due_on"] < self.today and <<i.id>>["status"] not in ("delivered", "returned", "cancelled")
    ]
    selected.sort(key=lambda <<i.id>>: (<<i.id>>["due_on"], <<i.id>>["<<i.id>>_id"]))
    return {"success": True, "data": selected}

def trace_<<i.id>>(self, <<i.id>>_id: str) -> dict:
    """Show every step of <<i.a>> so far, the latest first.

    Args:
        <<i.id>>_id: Id of the <<i>>.

    Returns:
        Its <<e.many>>.
    """
    if <<i.id>>_id not in self.<<i.ids>>:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
    selected = [dict(<<e.id>>) for <<e.id>> in self.<<e.ids>>.values() if <<e.id>>["<<i.id>>_id"] == <<i.id>>_id]
    selected.sort(key=lambda <<e.id>>: <<e.id>>["<<e.id>>_id"], reverse=True)
    return {"success": True, "data": selected}

def list_<<l.ids>>(self, name: str | None = None) -> dict:
    """List the <<l.many>>.

    Args:
        name: Only those with this in their name; upper and lower case are the same. Leave out for all.

    Returns:
        The <<l.many>> sorted by id, each with the number of <<i.many>> `waiting` there.
    """
    waiting = [<<i.id>>["<<l.id>>_id"] for <<i.id>> in self.<<i.ids>>.values() if <<i.id>>["status"] == "waiting"]
    selected = [
        {**<<l.id>>, "waiting": waiting.count(key)}
        for key, <<l.id>> in self.<<l.ids>>.items()
        if name is None or name.strip().lower() in <<l.id>>["name"].lower()
    ]
    return {"success": True, "data": sorted(selected, key=lambda <<l.id>>: <<l.id>>["<<l.id>>_id"])}

def list_<<w.ids>>(self, <<l.id>>_id: str | None = None, on_duty: bool | None = None) -> dict:
    """List the <<w.many>> with the weight each carries, the one with the lightest load first.

    Args:
        <<l.id>>_id: Only those of this <<l>>. Leave out for all.
        on_duty: True for only those on duty, False for only those who are not. Leave out for all.

    Returns:
        The <<w.many>>, each with `load_kg`.
    """
    selected = [
        {**<<w.id>>, "load_kg": self._load(key)}
        for key, <<w.id>> in self.<<w.ids>>.items()
        if <<l.id>>_id in (None, <<w.id>>["<<l.id>>_id"])
        and on_duty in (None, <<w.id>>["on_duty"])
    ]
    selected.sort(key=lambda <<w.id>>: (<<w.id>>["load_kg"], <<w.id>>["<<w.id>>_id"]))
    return {"success": True, "data": selected}

def quote_<<i.id>>(self, <<service>>: str, weight_kg: int) -> dict:
    """Work out what sending <<i.a>> would cost, without taking anything in.

    Args:
        <<service>>: How it would be sent: <<kindlist>>.
        weight_kg: Weight in kilograms, at least 1.

    Returns:
        The fee in <<s.currency>> and the date it would be due.
    """
    terms = self._terms(<<service>>)
    if terms is None:
        return {"success": False, "error": f"There is no <<service>> {<<service>>!r}."}
    days, base, per_kg, max_kg = terms
    if weight_kg < 1 or weight_kg > max_kg:
        return {"success": False, "error": f"The weight must be 1 to {max_kg} kg by {<<service>>}."}
    due = date.fromisoformat(self.today) + timedelta(days=days)
    return {"success": True, "data": {"fee": round(base + per_kg * weight_kg, 2), "due_on": due.isoformat()}}
'''
    )

    WRITES = (
        MACROS
        + '''
<% macro must_be(statuses) %>
    if <<i.id>>["status"] not in (<<quoted(statuses)>>):
        return {"success": False, "error": f"<<i.cap>> {<<i.id>>_id} is {<<i.id>>['status'].replace('_', ' ')}."}
<%- endmacro %>
def <<s.register_verb>>_<<i.id>>(
    self,
    <<p.id>>_id: str,
    <<recipient>>: str,
    from_<<l.id>>_id: str,
    to_<<l.id>>_id: str,
    <<service>>: str,
    weight_kg: int,
) -> dict:
    """Take in a new <<i>> that <<p.a>> sends.

    Args:
        <<p.id>>_id: Id of the <<p>>, who is active.
        <<recipient>>: Name of who gets it.
        from_<<l.id>>_id: Id of the open <<l>> where it is handed in.
        to_<<l.id>>_id: Id of another open <<l>>, to which it is addressed.
        <<service>>: How it is sent: <<kindlist>>.
        weight_kg: Weight in kilograms, at least 1 and no more than the <<service>> allows.

    Returns:
        The new <<i>> with its <<codewords>> and fee, or an error.
    """
<<known(p)>>
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}."}
    if not <<recipient>>.strip():
        return {"success": False, "error": "The name of the <<recipient>> is empty."}
    for <<l.id>>_id in (from_<<l.id>>_id, to_<<l.id>>_id):
        if <<l.id>>_id not in self.<<l.ids>>:
            return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
        if not self.<<l.ids>>[<<l.id>>_id]["is_open"]:
            return {"success": False, "error": f"{self.<<l.ids>>[<<l.id>>_id]['name']} is closed."}
    if from_<<l.id>>_id == to_<<l.id>>_id:
        return {"success": False, "error": "The <<i>> is addressed to the <<l>> where it is handed in."}
    terms = self._terms(<<service>>)
    if terms is None:
        return {"success": False, "error": f"There is no <<service>> {<<service>>!r}."}
    days, base, per_kg, max_kg = terms
    if weight_kg < 1 or weight_kg > max_kg:
        return {"success": False, "error": f"The weight must be 1 to {max_kg} kg by {<<service>>}."}
    due = date.fromisoformat(self.today) + timedelta(days=days)
    codes = [int(row["<<code>>"].removeprefix("<<s.code_prefix>>")) for row in self.<<i.ids>>.values()]
    <<i.id>>: <<i.type>> = {
        "<<i.id>>_id": self._next_id(self.<<i.ids>>, "<<s.prefix>>"),
        "<<code>>": f"<<s.code_prefix>>{max(codes, default=40000) + 1}",
        "<<p.id>>_id": <<p.id>>_id,
        "<<recipient>>": <<recipient>>.strip(),
        "<<service>>": <<service>>,
        "weight_kg": weight_kg,
        "fee": round(base + per_kg * weight_kg, 2),
        "<<l.id>>_id": from_<<l.id>>_id,
        "to_<<l.id>>_id": to_<<l.id>>_id,
        "<<w.id>>_id": None,
        "attempts": 0,
        "sent_on": self.today,
        "due_on": due.isoformat(),
        "signed_by": "",
        "note": "",
%% for x in extras
        "<<x.name>>": <<blank(x)>>,
%% endfor
        "status": "accepted",
    }
    self.<<i.ids>>[<<i.id>>["<<i.id>>_id"]] = <<i.id>>
    self._trace(<<i.id>>, "accepted")
<<done(i, "accepted")>>

def change_<<i.id>>_<<service>>(self, <<i.id>>_id: str, <<service>>: str) -> dict:
    """Send <<i.a>> that was only accepted so far in another way; fee and due date follow.

    Args:
        <<i.id>>_id: Id of the <<i>>, which must be accepted.
        <<service>>: How it is sent from now on: <<kindlist>>.

    Returns:
        The changed <<i>>, or an error.
    """
<<known(i)>>
<<must_be(["accepted"])>>
    terms = self._terms(<<service>>)
    if terms is None:
        return {"success": False, "error": f"There is no <<service>> {<<service>>!r}."}
    if <<service>> == <<i.id>>["<<service>>"]:
        return {"success": False, "error": f"It goes by {<<service>>} already."}
    days, base, per_kg, max_kg = terms
    if <<i.id>>["weight_kg"] > max_kg:
        return {"success": False, "error": f"It is too heavy: {<<service>>} takes up to {max_kg} kg."}
    <<i.id>>["<<service>>"] = <<service>>
    <<i.id>>["fee"] = round(base + per_kg * <<i.id>>["weight_kg"], 2)
    due = date.fromisoformat(<<i.id>>["sent_on"]) + timedelta(days=days)
    <<i.id>>["due_on"] = due.isoformat()
    self._trace(<<i.id>>, "changed")
<<done(i, "changed")>>

def forward_<<i.id>>(self, <<i.id>>_id: str, <<l.id>>_id: str) -> dict:
    """Send <<i.a>> on to another <<l>>.

    Args:
        <<i.id>>_id: Id of the <<i>>, which must be accepted or waiting.
        <<l.id>>_id: Id of the open <<l>> it goes to next.

    Returns:
        The <<i>>, now in transit, or an error.
    """
<<known(i)>>
<<known(l)>>
<<must_be(["accepted", "waiting"])>>
    if <<i.id>>["<<l.id>>_id"] == <<l.id>>_id:
        return {"success": False, "error": f"<<i.cap>> {<<i.id>>_id} is at {<<l.id>>['name']} already."}
    if not <<l.id>>["is_open"]:
        return {"success": False, "error": f"{<<l.id>>['name']} is closed."}
    <<i.id>>["<<l.id>>_id"] = <<l.id>>_id
    <<i.id>>["status"] = "in_transit"
    self._trace(<<i.id>>, "forwarded")
<<done(i, "forwarded")>>

def receive_<<i.id>>(self, <<i.id>>_id: str) -> dict:
    """Record that <<i.a>> has arrived at the <<l>> it was on the way to.

    Args:
        <<i.id>>_id: Id of the <<i>>, which must be in transit.

    Returns:
        The <<i>>, now waiting there, or an error.
    """
<<known(i)>>
<<must_be(["in_transit"])>>
    <<i.id>>["status"] = "waiting"
    self._trace(<<i.id>>, "arrived")
<<done(i, "received")>>

def redirect_<<i.id>>(self, <<i.id>>_id: str, to_<<l.id>>_id: str) -> dict:
    """Address <<i.a>> to another <<l>>.

    Args:
        <<i.id>>_id: Id of the <<i>>, which must be accepted, in transit or waiting.
        to_<<l.id>>_id: Id of the open <<l>> it is addressed to from now on.

    Returns:
        The changed <<i>>, or an error.
    """
<<known(i)>>
<<must_be(["accepted", "in_transit", "waiting"])>>
    <<l.id>> = self.<<l.ids>>.get(to_<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {to_<<l.id>>_id!r}."}
    if <<i.id>>["to_<<l.id>>_id"] == to_<<l.id>>_id:
        return {"success": False, "error": f"It is addressed to {<<l.id>>['name']} already."}
    if not <<l.id>>["is_open"]:
        return {"success": False, "error": f"{<<l.id>>['name']} is closed."}
    <<i.id>>["to_<<l.id>>_id"] = to_<<l.id>>_id
    self._trace(<<i.id>>, "redirected")
<<done(i, "redirected")>>

def hand_out_<<i.id>>(self, <<i.id>>_id: str, <<w.id>>_id: str) -> dict:
    """Give <<i.a>> to <<w.a>> for delivery.

    Args:
        <<i.id>>_id: Id of the <<i>>, which must be waiting at the <<l>> it is addressed to.
        <<w.id>>_id: Id of the <<w>>: of that <<l>>, on duty, and with no more than <<s.max_load>> kg then.

    Returns:
        The <<i>>, now out for delivery, or an error.
    """
<<known(i)>>
<<known(w)>>
<<must_be(["waiting"])>>
    if <<i.id>>["<<l.id>>_id"] != <<i.id>>["to_<<l.id>>_id"]:
        return {"success": False, "error": f"<<i.cap>> {<<i.id>>_id} is not where it is addressed to."}
    if not <<w.id>>["on_duty"]:
        return {"success": False, "error": f"{<<w.id>>['name']} is not on duty."}
    if <<w.id>>["<<l.id>>_id"] != <<i.id>>["<<l.id>>_id"]:
        return {"success": False, "error": f"{<<w.id>>['name']} starts from another <<l>>."}
    if self._load(<<w.id>>_id) + <<i.id>>["weight_kg"] > <<s.max_load>>:
        return {"success": False, "error": f"{<<w.id>>['name']} would carry more than <<s.max_load>> kg."}
    <<i.id>>["<<w.id>>_id"] = <<w.id>>_id
    <<i.id>>["status"] = "out_for_delivery"
    self._trace(<<i.id>>, "handed_out")
<<done(i, "is out for delivery")>>

def deliver_<<i.id>>(self, <<i.id>>_id: str, signed_by: str) -> dict:
    """Record that <<i.a>> was delivered.

    Args:
        <<i.id>>_id: Id of the <<i>>, which must be out for delivery.
        signed_by: Name of who signed for it.

    Returns:
        The delivered <<i>>, or an error.
    """
<<known(i)>>
<<must_be(["out_for_delivery"])>>
    if not signed_by.strip():
        return {"success": False, "error": "The name of who signed for it is required."}
    <<i.id>>["status"] = "delivered"
    <<i.id>>["signed_by"] = signed_by.strip()
    <<i.id>>["<<w.id>>_id"] = None
    self._trace(<<i.id>>, "delivered")
<<done(i, "delivered")>>

def fail_<<i.id>>_delivery(self, <<i.id>>_id: str, reason: str) -> dict:
    """Record a failed delivery; after <<s.max_attempts>> of them the <<i>> is returned, before that it waits.

    Args:
        <<i.id>>_id: Id of the <<i>>, which must be out for delivery.
        reason: Why it failed, in a few words; kept as its note.

    Returns:
        The <<i>>, now waiting or returned, or an error.
    """
<<known(i)>>
<<must_be(["out_for_delivery"])>>
    if not reason.strip():
        return {"success": False, "error": "A reason is required."}
    <<i.id>>["attempts"] += 1
    <<i.id>>["status"] = "returned" if <<i.id>>["attempts"] >= <<s.max_attempts>> else "waiting"
    <<i.id>>["<<w.id>>_id"] = None
    <<i.id>>["note"] = reason.strip()
    self._trace(<<i.id>>, <<i.id>>["status"])
<<done(i, "could not be delivered")>>

def cancel_<<i.id>>(self, <<i.id>>_id: str) -> dict:
    """Cancel <<i.a>> that was only accepted so far; nothing is charged.

    Args:
        <<i.id>>_id: Id of the <<i>>, which must be accepted.

    Returns:
        The cancelled <<i>>, or an error.
    """
<<known(i)>>
<<must_be(["accepted"])>>
    <<i.id>>["status"] = "cancelled"
    <<i.id>>["fee"] = 0.0
    self._trace(<<i.id>>, "cancelled")
<<done(i, "cancelled")>>

def set_<<l.id>>_open(self, <<l.id>>_id: str, is_open: bool) -> dict:
    """Close <<l.a>> for anything new, or open it again.

    Args:
        <<l.id>>_id: Id of the <<l>>.
        is_open: False to close it, True to open it.

    Returns:
        The changed <<l>>, or an error.
    """
<<known(l)>>
    if <<l.id>>["is_open"] == is_open:
        return {"success": False, "error": f"{<<l.id>>['name']} is {'open' if is_open else 'closed'} already."}
    <<l.id>>["is_open"] = is_open
<<done(l, "changed")>>

def set_<<w.id>>_duty(self, <<w.id>>_id: str, on_duty: bool) -> dict:
    """Put <<w.a>> who carries nothing on duty, or take them off.

    Args:
        <<w.id>>_id: Id of the <<w>>.
        on_duty: True for on duty, False for off duty.

    Returns:
        The changed <<w>>, or an error.
    """
<<known(w)>>
    if <<w.id>>["on_duty"] == on_duty:
        return {"success": False, "error": f"{<<w.id>>['name']} is {'on' if on_duty else 'off'} duty already."}
    if self._load(<<w.id>>_id) > 0:
        return {"success": False, "error": f"{<<w.id>>['name']} is out with {self._load(<<w.id>>_id)} kg."}
    <<w.id>>["on_duty"] = on_duty
<<done(w, "changed")>>
'''
    )

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, place = v.s, f"{v.l.id}_id"
        closed = int(rng.integers(len(s.stations)))
        for n, name in enumerate(s.stations):
            key = key_of(s.station_prefix, n + 1)
            state[v.l.ids][key] = {place: key, "name": name, "is_open": n != closed}
        taken = frozenset(row["name"] for row in state[v.p.ids].values())
        people = names.people(rng, 2 * len(s.stations) + 12, taken)
        for n, name in enumerate(people[: 2 * len(s.stations)]):
            key = key_of(s.courier_prefix, n + 1)
            home = key_of(s.station_prefix, n % len(s.stations) + 1)
            state[v.w.ids][key] = {
                f"{v.w.id}_id": key,
                "name": name,
                place: home,
                "on_duty": rng.random() < 0.85,
            }
        statuses = (
            ["accepted"] * 4 + ["in_transit"] * 3 + ["waiting"] * 4 + ["out_for_delivery"] * 3 + ["delivered"]
        )
        senders = shuffled(rng, list(state[v.p.ids])) * 3
        for n, status in enumerate(shuffled(rng, statuses)):
            whom = pick(rng, s.recipients) if s.recipients else people[-1 - n % 12]
            self._item(v, state, rng, senders[n], status, whom)

    def _item(self, v: SimpleNamespace, state: State, rng: Rng, sender: str, status: str, whom: str) -> None:
        s, place = v.s, f"{v.l.id}_id"
        key = key_of(s.prefix, len(state[v.i.ids]) + 1)
        here, there = shuffled(rng, list(state[v.l.ids]))[:2]
        able = [
            k for k, w in state[v.w.ids].items()
            if w[place] == there and w["on_duty"] and not any(i[f"{v.w.id}_id"] == k for i in state[v.i.ids].values())
        ]  # fmt: skip
        if status == "out_for_delivery" and not able:
            status = "waiting"
        kind = pick(rng, v.kinds)
        terms = v.services[kind]
        weight = int(rng.integers(s.weights[0], min(s.weights[1], terms.max_kg) + 1))
        sent = later(state["today"], -int(rng.integers(0, 2) if status == "accepted" else rng.integers(1, 6)))
        number = 40000 + 37 * len(state[v.i.ids]) + int(rng.integers(1, 37))
        state[v.i.ids][key] = {
            f"{v.i.id}_id": key,
            v.code: f"{s.code_prefix}{number}",
            f"{v.p.id}_id": sender,
            v.recipient: whom,
            v.service: kind,
            "weight_kg": weight,
            "fee": round(terms.base + terms.per_kg * weight, 2),
            place: here if status == "accepted" else there,
            f"to_{place}": there,
            f"{v.w.id}_id": pick(rng, able) if status == "out_for_delivery" else None,
            "attempts": int(rng.integers(0, 2)) if status in ("waiting", "out_for_delivery") else 0,
            "sent_on": sent,
            "due_on": later(sent, terms.days),
            "signed_by": whom if status == "delivered" else "",
            "note": "",
            **{x.name: x.draw(rng) for x in s.extras},
            "status": status,
        }
        if state[v.i.ids][key]["attempts"]:
            state[v.i.ids][key]["note"] = pick(rng, s.failures)
        last = {"in_transit": "forwarded", "waiting": "arrived", "out_for_delivery": "handed_out"}
        for at, what, day in ((here, "accepted", sent), (there, last.get(status, status), state["today"])):
            if what != "accepted" or at == here:
                entry = key_of(s.step_prefix, len(state[v.e.ids]) + 1)
                row = {
                    f"{v.e.id}_id": entry,
                    f"{v.i.id}_id": key,
                    place: at,
                    "what": what,
                    "happened_on": day,
                }
                state[v.e.ids][entry] = row


PATTERN = Shipments
