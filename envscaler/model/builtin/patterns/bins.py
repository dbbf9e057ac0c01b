"""Bins: goods in lots with best-before dates, the places of limited room they lie in, and who they leave for.

`serves` decides between two worlds: a warehouse that picks orders (pick lists shared among workers, supervisors who
approve write-offs), and a pantry that packs parcels for households (rations by size and diet, several sites).
"""

from datetime import date
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

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
    in_own_words,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._snippets import IS_DATE, MACROS
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Row = dict[str, Any]


class Good(Part):
    """One kind of thing that is stored."""

    name: str
    """Its name; no name is part of another."""
    zone: str
    """Where it must lie."""
    number: str = ""
    """Article number, in a warehouse."""
    minimum: int = 0
    """Free stock below which it is to be ordered, in a warehouse."""
    group: str = ""
    """Food group, in a pantry."""
    contains: str = "nothing"
    """What keeps it from some diets, in a pantry."""


class BinsSettings(Settings):
    """A store's words and numbers."""

    serves: Literal["orders", "households"]
    """Who the goods leave for."""
    bin: str
    """`bin`"""
    bin_prefix: str
    """Prefix of ids of bins."""
    good: str
    """`article`"""
    good_prefix: str
    """Prefix of ids of goods."""
    lot: str
    """`lot`"""
    lot_prefix: str
    """Prefix of ids of lots."""
    receive: str
    """Verb for taking a lot in."""
    entry: str
    """`stock entry`"""
    goods: list[Good]
    """What is stored."""
    zones: list[str]
    """Climates, e.g. ambient, chilled, frozen; only the last needs training."""
    origins: list[str]
    """Suppliers or donors."""
    clients: list[str] = []
    """Customers, in a warehouse."""
    sites: list[str] = []
    """Where parcels are given out, in a pantry."""
    diets: dict[str, list[str]] = {}
    """Diet → what it rules out, in a pantry."""
    rations: dict[str, int] = {}
    """Food group → people that one pack is for, in a pantry."""
    faults: list[str]
    """Why a lot is put into quarantine."""
    differences: list[str]
    """Why a recount differs."""
    losses: list[str]
    """Why a lot is thrown away."""
    failures: list[str] = []
    """Why all in a unit is lost, in a pantry."""


class StockGoal(Goal):
    """What goals about lots share."""

    def lots(self, state: State, good: str, **fields: Any) -> list[Row]:
        """Available lots of a good, the one that expires first in front."""
        v = self.v
        rows = [x for x in state[v.l.ids].values() if x[v.gid] == good and x["status"] == "available"]
        rows = [x for x in rows if all(x[name] == value for name, value in fields.items())]
        return sorted(rows, key=lambda x: (x["best_before"], x[v.lid]))

    def reserved(self, lot: Row, state: State) -> int:
        """How much of a lot is promised."""
        lines = [x for x in state[self.v.t.ids].values() if x[self.v.lid] == lot[self.v.lid]]
        return sum(x["quantity"] for x in lines if x["status"] in self.v.waiting)

    def free(self, lot: Row, state: State) -> int:
        """How much of a lot is not promised."""
        return int(lot["quantity"]) - self.reserved(lot, state)

    def room(self, bin_: Row, state: State) -> int:
        """How much more a bin takes."""
        rows = [x for x in state[self.v.l.ids].values() if x[self.v.bid] == bin_[self.v.bid]]
        return int(bin_["capacity"]) - sum(x["quantity"] for x in rows)

    def snug(self, state: State, zone: str, quantity: int, site: str = "") -> Row:
        """The bin of a zone with the least room that still takes so much."""
        bins = [x for x in state[self.v.b.ids].values() if x["zone"] == zone and x.get("working", True)]
        bins = [x for x in bins if site in ("", x.get("site")) and self.room(x, state) >= quantity]
        if not bins:
            raise LookupError("there is no room")
        return min(bins, key=lambda x: (self.room(x, state), x[self.v.bid]))

    def entry(self, state: State, lot: Row | None, kind: str, change: int, note: str, **more: Any) -> Added:
        """A stock entry has been written."""
        v, fields = self.v, {"kind": kind, "change": change, "note": note, "made_on": state["today"]}
        name = lot[v.lid] if lot else "the new " + v.l.one
        if lot:
            fields[v.lid] = lot[v.lid]
        worker = {} if v.home else {v.kid: more.get("worker")}
        item = f"Has {v.e.a} of {change} for {name} been written ({kind})?"
        return Added(v.e.ids, {**fields, **worker}, item)

    def zone_mark(self, zone: str, site: str = "") -> tuple[str, ...]:
        """Tasks that use room of one zone get into each other's way."""
        return (f"room {zone} {site}",)

    def stocked(self, state: State, rng: Rng) -> Row | None:
        """A good of which there are lots."""
        rows = [x for x in state[self.v.g.ids].values() if self.lots(state, x[self.v.gid])]
        return pick(rng, rows) if rows else None

    def first(self, slots: Slots, state: State) -> Row:
        """The available lot of the named good that expires first."""
        lots = self.lots(state, named(state, self.v.g, slots["good"])[self.v.gid])
        if not lots:
            raise LookupError(f"there is no {slots['good']}")
        return lots[0]

    def find_first(self, slots: Slots, before: int = 0) -> list[Row]:
        """The calls that find it, as data 0 of the second."""
        v = self.v
        return [
            call(f"find_{v.g.ids}", name=slots["good"]),
            call(f"list_{v.l.ids}", **{v.gid: found(before, 0, v.gid)}, status="available"),
        ]


class TakeIn(StockGoal):
    """A lot arrives."""

    phrases: ClassVar[tuple[str, ...]] = (
        "{quantity:int} units of {good:name} have come from {origin:name}, best before {until:date}; put them into "
        "the <<b>> of the right zone that has the least room but still takes them all.",
        "Please take in {quantity:int} units of {good:name} from {origin:name}, best before {until:date}, and choose "
        "the <<b>> in which the least room is left over.",
    )
    needs = ("find_<<g.ids>>", "find_room", "<<s.receive>>_<<l.id>>")
    when = "not home"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        good, quantity = pick(rng, list(state[self.v.g.ids].values())), int(rng.integers(4, 25))
        until = later(state["today"], int(rng.integers(20, 200)))
        origin = pick(rng, self.v.s.origins)
        slots = {"quantity": quantity, "good": good["name"], "origin": origin, "until": until}
        return {**slots, "site": pick(rng, self.v.s.sites)} if self.v.home else slots

    def plan(self, slots: Slots) -> list[Row]:
        v, site = self.v, {"site": slots["site"]} if self.v.home else {}
        wanted = {"zone": found(0, 0, "zone"), "quantity": slots["quantity"], **site}
        ids = {v.gid: found(0, 0, v.gid), v.bid: found(1, 0, v.bid)}
        given = {
            "quantity": slots["quantity"],
            "best_before": slots["until"],
            "origin": slots["origin"],
        }
        return [
            call(f"find_{v.g.ids}", name=slots["good"]),
            call("find_room", **wanted),
            call(f"{v.s.receive}_{v.l.id}", **ids, **given),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, good = self.v, named(state, self.v.g, slots["good"])
        site = slots.get("site", "")
        bin_ = self.snug(state, good["zone"], slots["quantity"], site)
        fields = {
            v.gid: good[v.gid],
            v.bid: bin_[v.bid],
            "quantity": slots["quantity"],
            "best_before": slots["until"],
            "origin": slots["origin"],
            "status": "available",
            "note": "",
        }
        item = f"Have {slots['quantity']} of {slots['good']} been taken in, into {bin_[v.bid]}?"
        note = f"from {slots['origin']}"
        return [
            Added(v.l.ids, fields, item, self.zone_mark(good["zone"], site)),
            self.entry(state, None, "received", slots["quantity"], note),
        ]


class TakeInDonation(TakeIn):
    """A donation arrives at a site."""

    phrases = (
        "{origin:name} has brought {quantity:int} packs of {good:name}, best before {until:date}; take them in at "
        "the {site:name}, where the least room is left over.",
        "Please take in {quantity:int} packs of {good:name} given by {origin:name}, best before {until:date}, at the "
        "{site:name}, and use the <<b>> with the least room that takes them all.",
    )
    when = "home"


class Quarantine(StockGoal):
    """Nothing of a lot may leave; what is promised of it waits."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<l>> of {good:name} that expires first must not leave, so put it into quarantine for "{fault:text}".',
        'Please quarantine the <<l>> of {good:name} with the nearest best-before date; the reason is "{fault:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<g.ids>>", "list_<<l.ids>>", "quarantine_<<l.id>>")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        good = self.stocked(state, rng)
        return good and {"good": good["name"], "fault": pick(rng, self.v.s.faults)}

    def plan(self, slots: Slots) -> list[Row]:
        ids = {self.v.lid: found(1, 0, self.v.lid)}
        act = call(f"quarantine_{self.v.l.id}", **ids, reason=slots["fault"])
        return [*self.find_first(slots), act]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, lot = self.v, self.first(slots, state)
        what = f"the {v.l} of {slots['good']} that expires first"
        fields = {"status": "quarantined", "note": slots["fault"]}
        held = [x for x in state[v.t.ids].values() if x[v.lid] == lot[v.lid] and x["status"] == v.waiting[0]]
        return [
            Changed(v.l.ids, lot[v.lid], fields, f"Is {what} in quarantine, with the reason?", (lot[v.gid],)),
            *(
                Changed(
                    v.t.ids, x[v.tid], {"status": "held"}, f"Is {v.t} {x[v.tid]} held?", (x[v.kid] or "",)
                )
                for x in held
            ),
        ]


QuarantineInOwnWords = in_own_words(
    Quarantine,
    "fault",
    "The <<l>> of {good:name} that expires first has to go into quarantine; say why in your own words.",
    "Please put the <<l>> of {good:name} with the nearest best-before date into quarantine, the reason in any words.",
)


class Recount(StockGoal):
    """A lot is counted and corrected."""

    phrases = (
        "Of {good:name}, the <<l>> that expires first has been counted: it holds {counted:int}, with the reason "
        '"{why:text}", so correct it.',
        'Please correct the <<l>> of {good:name} with the nearest best-before date to {counted:int}; "{why:text}" '
        "explains the difference.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<g.ids>>", "list_<<l.ids>>", "recount_<<l.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        good = self.stocked(state, rng)
        if good is None:
            return None
        lot = self.lots(state, good[self.v.gid])[0]
        counted = int(lot["quantity"]) - int(rng.integers(1, 5))
        return {"good": good["name"], "counted": counted, "why": pick(rng, self.v.s.differences)}

    def plan(self, slots: Slots) -> list[Row]:
        ids = {self.v.lid: found(1, 0, self.v.lid)}
        given = {"counted": slots["counted"], "reason": slots["why"]}
        return [*self.find_first(slots), call(f"recount_{self.v.l.id}", **ids, **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, lot = self.v, self.first(slots, state)
        change = slots["counted"] - lot["quantity"]
        if change == 0 or slots["counted"] < max(1, self.reserved(lot, state)):
            raise LookupError("it cannot be so")
        item = f"Has the {v.l} of {slots['good']} that expires first been corrected to {slots['counted']}?"
        also = (lot[v.gid], *self.zone_mark(*self.where(lot, state)))
        return [
            Changed(v.l.ids, lot[v.lid], {"quantity": slots["counted"]}, item, also),
            self.entry(state, lot, "recounted", change, slots["why"]),
        ]

    def where(self, lot: Row, state: State) -> tuple[str, str]:
        """Zone and site of a lot."""
        bin_ = state[self.v.b.ids][lot[self.v.bid]]
        return bin_["zone"], bin_.get("site", "")


class WriteOff(Recount):
    """A lot is thrown away, approved by a supervisor where there are any."""

    phrases = (
        'Please write off the <<l>> of {good:name} that expires first because of "{loss:text}", approved by '
        "{name:name}.",
        "{name:name} approves that the <<l>> of {good:name} with the nearest best-before date is written off: "
        '"{loss:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = (
        "find_<<g.ids>>",
        "list_<<l.ids>>",
        "find_<<k.ids>>",
        "write_off_<<l.id>>",
    )
    when = "not home"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        good = self.stocked(state, rng)
        slots = good and {"good": good["name"], "loss": pick(rng, self.v.s.losses)}
        if self.v.home or not slots:
            return slots
        bosses = [x for x in state[self.v.k.ids].values() if x["role"] == "supervisor" and x["on_duty"]]
        return {**slots, "name": pick(rng, bosses)["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        v, calls = self.v, self.find_first(slots)
        ids = {v.lid: found(1, 0, v.lid)}
        if not v.home:
            calls.append(call(f"find_{v.k.ids}", name=slots["name"]))
            ids[v.kid] = found(2, 0, v.kid)
        return [*calls, call(f"write_off_{v.l.id}", **ids, reason=slots["loss"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, lot = self.v, self.first(slots, state)
        boss = None if v.home else named(state, v.k, slots["name"])[v.kid]
        if self.reserved(lot, state):
            raise LookupError("some of it is promised")
        item = f"Has the {v.l} of {slots['good']} that expires first been written off?"
        fields = {"quantity": 0, "status": "discarded", "note": slots["loss"]}
        also = (lot[v.gid], *self.zone_mark(*self.where(lot, state)))
        return [
            Changed(v.l.ids, lot[v.lid], fields, item, also),
            self.entry(state, lot, "discarded", -lot["quantity"], slots["loss"], worker=boss),
        ]


class ThrowAway(WriteOff):
    """A batch is thrown away."""

    phrases = (
        'Please throw away the <<l>> of {good:name} that expires first; the reason is "{loss:text}".',
        "The <<l>> of {good:name} with the nearest best-before date has to be written off, the reason being "
        '"{loss:text}".',
    )
    needs = ("find_<<g.ids>>", "list_<<l.ids>>", "write_off_<<l.id>>")
    when = "home"


# Orders


class MoveLot(Recount):
    """A lot goes into another bin."""

    phrases = (
        "The {good:name} in <<b>> {label:token} should move to the other <<b>> of its zone that has the least room "
        "but takes all of it.",
        "Please move the <<l>> of {good:name} out of <<b>> {label:token} into the other <<b>> where it leaves the "
        "least room.",
    )
    needs = ("find_<<g.ids>>", "list_<<l.ids>>", "find_room", "move_<<l.id>>")
    when = "not home"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        good = self.stocked(state, rng)
        if good is None:
            return None
        lot = pick(rng, self.lots(state, good[self.v.gid]))
        return {"good": good["name"], "label": state[self.v.b.ids][lot[self.v.bid]]["label"]}

    def plan(self, slots: Slots) -> list[Row]:
        v = self.v
        ids = {v.lid: found(1, 0, v.lid), v.bid: found(2, 0, v.bid)}
        lots = {v.gid: found(0, 0, v.gid), "label": slots["label"], "status": "available"}
        room = {"zone": found(0, 0, "zone"), "quantity": found(1, 0, "quantity")}
        return [
            call(f"find_{v.g.ids}", name=slots["good"]),
            call(f"list_{v.l.ids}", **lots),
            call("find_room", **room, except_label=slots["label"]),
            call(f"move_{v.l.id}", **ids),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        old = only([x for x in state[v.b.ids].values() if x["label"] == slots["label"]])
        lot = only(self.lots(state, named(state, v.g, slots["good"])[v.gid], **{v.bid: old[v.bid]}))
        others = {**state, v.b.ids: {k: x for k, x in state[v.b.ids].items() if x is not old}}
        new = self.snug(others, old["zone"], lot["quantity"])
        item = f"Has the {slots['good']} of {v.b} {slots['label']} been moved to {new['label']}?"
        also = (lot[v.gid], *self.zone_mark(old["zone"]))
        return [Changed(v.l.ids, lot[v.lid], {v.bid: new[v.bid]}, item, also)]


class OrderGoal(StockGoal):
    """What goals about pick lists and workers share."""

    when = "not home"

    def load(self, state: State, worker: str) -> int:
        """Units somebody has still to pick."""
        rows = [x for x in state[self.v.t.ids].values() if x[self.v.kid] == worker]
        return sum(x["quantity"] for x in rows if x["status"] == "open")

    def picks(self, state: State, number: int) -> list[Row]:
        """Open picks of a list, the largest first."""
        rows = [x for x in state[self.v.t.ids].values() if x["pick_list"] == number and x["status"] == "open"]
        return sorted(rows, key=lambda x: (-x["quantity"], x[self.v.tid]))

    def numbers(self, state: State) -> list[int]:
        """Numbers of the lists of which something is open."""
        return sorted({x["pick_list"] for x in state[self.v.t.ids].values() if x["status"] == "open"})

    def fit(self, worker: Row, lot_id: str, state: State) -> bool:
        """Whether somebody may fetch from where a lot lies."""
        zone = state[self.v.b.ids][state[self.v.l.ids][lot_id][self.v.bid]]["zone"]
        return bool(worker["on_duty"] and (zone != self.v.cold or worker["cold_training"]))

    def given(self, one: Row, worker: Row, *also: str) -> Changed:
        """A pick is somebody's."""
        item = f"Has {self.v.t} {one[self.v.tid]} been given to {worker['name']}?"
        fields = {self.v.kid: worker[self.v.kid]}
        return Changed(self.v.t.ids, one[self.v.tid], fields, item, (one[self.v.lid], *also))

    def shares(self, state: State, good: str, quantity: int, day: str) -> list[tuple[Row, int]]:
        """Lots and how much of each to take, first expiring first."""
        left, parts = quantity, []
        for lot in self.lots(state, good):
            take = min(left, self.free(lot, state)) if lot["best_before"] >= day else 0
            if take > 0:
                parts.append((lot, take))
                left -= take
        if left:
            raise LookupError("there is too little")
        return parts


class PlanPicks(OrderGoal):
    """An order line becomes picks."""

    phrases = (
        "{client:name} orders {quantity:int} units of {good:name} to be shipped on {day:date}, so plan the picks.",
        "Please plan picks of {quantity:int} units of {good:name} for {client:name}, shipping on {day:date}.",
    )
    needs = ("find_<<g.ids>>", "plan_<<t.ids>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        good = self.stocked(state, rng)
        day = later(state["today"], int(rng.integers(1, 7)))
        client = pick(rng, self.v.s.clients)
        return good and {
            "client": client,
            "quantity": int(rng.integers(6, 40)),
            "good": good["name"],
            "day": day,
        }

    def plan(self, slots: Slots) -> list[Row]:
        v = self.v
        line = {v.gid: found(0, 0, v.gid), "quantity": slots["quantity"]}
        order = {"customer": slots["client"], "ship_on": slots["day"]}
        return [call(f"find_{v.g.ids}", name=slots["good"]), call(f"plan_{v.t.ids}", **order, **line)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, rows = self.v, state[self.v.t.ids].values()
        good = named(state, v.g, slots["good"])[v.gid]
        order = {"customer": slots["client"], "ship_on": slots["day"]}
        same = [x for x in rows if x["status"] == "open" and all(x[n] == y for n, y in order.items())]
        number = min((x["pick_list"] for x in same), default=max(x["pick_list"] for x in rows) + 1)
        fresh = {**order, "pick_list": number, v.kid: None, "status": "open"}
        return [
            Added(
                v.t.ids,
                {**fresh, v.lid: lot[v.lid], "quantity": take},
                f"Has {v.t.a} of {take} from {lot[v.lid]} been planned for {slots['client']}?",
                (good, f"list {number}"),
            )
            for lot, take in self.shares(state, good, slots["quantity"], slots["day"])
        ]


class SplitList(OrderGoal):
    """A pick list is shared by two."""

    phrases = (
        "Please split pick list {number:int} between {one:name} and {two:name} so that both have about as much to do.",
        "Pick list {number:int} is to be shared evenly by {one:name} and {two:name}.",
    )
    needs = ("find_<<k.ids>>", "split_pick_list")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        hands = [x["name"] for x in state[self.v.k.ids].values() if x["on_duty"]]
        one, two = shuffled(rng, hands)[:2]
        lists = [n for n in self.numbers(state) if len(self.picks(state, n)) > 1]
        return {"number": pick(rng, lists), "one": one, "two": two} if lists else None

    def plan(self, slots: Slots) -> list[Row]:
        key = self.v.kid
        ids = {f"first_{key}": found(0, 0, key), f"second_{key}": found(1, 0, key)}
        return [
            call(f"find_{self.v.k.ids}", name=slots["one"]),
            call(f"find_{self.v.k.ids}", name=slots["two"]),
            call("split_pick_list", pick_list=slots["number"], **ids),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, picks = self.v, self.picks(state, slots["number"])
        pair = [named(state, v.k, slots[n]) for n in ("one", "two")]
        mine = {x[v.tid] for x in picks}
        rest = {**state, v.t.ids: {k: x for k, x in state[v.t.ids].items() if k not in mine}}
        loads = {x[v.kid]: self.load(rest, x[v.kid]) for x in pair}
        also, changes = (*loads, f"list {slots['number']}"), []
        for one in picks:
            fit = [x for x in pair if self.fit(x, one[v.lid], state)]
            if not fit:
                raise LookupError("neither may do it")
            worker = min(fit, key=lambda x: loads[x[v.kid]])
            loads[worker[v.kid]] += one["quantity"]
            if one[v.kid] != worker[v.kid]:
                changes.append(self.given(one, worker, *also))
        if len(picks) < 2 or not changes:
            raise LookupError("there is nothing to share")
        return [*changes]


class ConfirmPick(OrderGoal):
    """Somebody has fetched the largest of their picks."""

    phrases = (
        "{name:name} has fetched the largest of the <<t.many>> still open for them, so confirm it.",
        "Please confirm the largest open <<t>> of {name:name}, it is in the crate.",
    )
    needs = ("find_<<k.ids>>", "list_<<t.ids>>", "confirm_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        busy = [x for x in state[self.v.k.ids].values() if self.load(state, x[self.v.kid])]
        return {"name": pick(rng, busy)["name"]} if busy else None

    def plan(self, slots: Slots) -> list[Row]:
        v = self.v
        return [
            call(f"find_{v.k.ids}", name=slots["name"]),
            call(f"list_{v.t.ids}", **{v.kid: found(0, 0, v.kid)}, status="open"),
            call(f"confirm_{v.t.id}", **{v.tid: found(1, 0, v.tid)}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, worker = self.v, named(state, self.v.k, slots["name"])
        rows = [x for x in state[v.t.ids].values() if x[v.kid] == worker[v.kid] and x["status"] == "open"]
        if not rows:
            raise LookupError("there is nothing to confirm")
        one = min(rows, key=lambda x: (-x["quantity"], x[v.tid]))
        lot = state[v.l.ids][one[v.lid]]
        left = lot["quantity"] - one["quantity"]
        fields = {"quantity": left, "status": "available" if left else "empty"}
        also = (worker[v.kid], f"list {one['pick_list']}")
        zone = self.zone_mark(state[v.b.ids][lot[v.bid]]["zone"])
        who = f"the largest open {v.t} of {slots['name']}"
        note = f"pick list {one['pick_list']}"
        return [
            Changed(v.t.ids, one[v.tid], {"status": "picked"}, f"Is {who} recorded as picked?", also),
            Changed(v.l.ids, lot[v.lid], fields, f"Has {who} been taken off its {v.l}?", (lot[v.gid], *zone)),
            self.entry(state, lot, "picked", -one["quantity"], note),
        ]


class HandOver(ConfirmPick):
    """Somebody's open picks go to whoever has least to do."""

    phrases = (
        "{name:name} has to leave early, so give all their open <<t.many>> to whoever on duty has the least to pick.",
        "Please hand the open <<t.many>> of {name:name} over to the <<k>> on duty with the least still to pick.",
    )
    needs = ("find_<<k.ids>>", "compare_workloads", "hand_over_<<t.ids>>")

    def plan(self, slots: Slots) -> list[Row]:
        key = self.v.kid
        ids = {f"from_{key}": found(0, 0, key), f"to_{key}": found(1, 0, key)}
        return [
            call(f"find_{self.v.k.ids}", name=slots["name"]),
            call("compare_workloads"),
            call(f"hand_over_{self.v.t.ids}", **ids),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, worker = self.v, named(state, self.v.k, slots["name"])
        hands = [x for x in state[v.k.ids].values() if x["on_duty"]]
        other = min(hands, key=lambda x: (self.load(state, x[v.kid]), x[v.kid]))
        rows = [x for x in state[v.t.ids].values() if x[v.kid] == worker[v.kid] and x["status"] == "open"]
        if not rows or other is worker or not all(self.fit(other, x[v.lid], state) for x in rows):
            raise LookupError("it cannot be handed over")
        return [self.given(x, other, worker[v.kid], "least busy", f"list {x['pick_list']}") for x in rows]


class CancelList(OrderGoal):
    """What a customer no longer wants is not picked."""

    phrases = (
        "{client:name} has withdrawn its order that ships on {day:date}, so cancel what is still open of that pick "
        "list.",
        "Please cancel the open pick list for {client:name} with shipping on {day:date}.",
    )
    needs = ("list_<<t.ids>>", "cancel_pick_list")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [x for x in state[self.v.t.ids].values() if x["status"] == "open"]
        one = pick(rng, rows) if rows else None
        return one and {"client": one["customer"], "day": one["ship_on"]}

    def plan(self, slots: Slots) -> list[Row]:
        wanted = {"customer": slots["client"], "ship_on": slots["day"], "status": "open"}
        return [
            call(f"list_{self.v.t.ids}", **wanted),
            call("cancel_pick_list", pick_list=found(0, 0, "pick_list")),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, rows = self.v, state[self.v.t.ids].values()
        mine = [x for x in rows if (x["customer"], x["ship_on"]) == (slots["client"], slots["day"])]
        number = only(sorted({x["pick_list"] for x in mine if x["status"] == "open"}))
        return [
            Changed(
                v.t.ids,
                x[v.tid],
                {"status": "cancelled"},
                f"Has {v.t} {x[v.tid]} for {slots['client']} been cancelled?",
                (x[v.lid], x[v.kid] or "", f"list {number}"),
            )
            for x in rows
            if x["pick_list"] == number and x["status"] in v.waiting
        ]


# Households


class HomeGoal(StockGoal):
    """What goals about households and their parcels share."""

    when: ClassVar[str] = "home"
    ready: ClassVar[bool] = True
    """Whether it is about households for whom a parcel is packed."""

    def lines(self, home: Row, state: State) -> list[Row]:
        """What is packed for a household."""
        v = self.v
        rows = [x for x in state[v.t.ids].values() if x[v.kid] == home[v.kid]]
        return [x for x in rows if x["status"] in v.waiting]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [x for x in state[self.v.k.ids].values() if bool(self.lines(x, state)) == self.ready]
        return {"name": pick(rng, rows)["name"]} if rows else None

    def plan(self, slots: Slots) -> list[Row]:
        tool = self.needs[-1].replace("<<k.id>>", self.v.k.id)
        return [self.find(slots), call(tool, **{self.v.kid: found(0, 0, self.v.kid)})]

    def find(self, slots: Slots) -> Row:
        """The call that finds the household."""
        return call(f"find_{self.v.k.ids}", name=slots["name"])

    def allowed(self, home: Row, good: Row) -> bool:
        """Whether the diet of a household allows a food."""
        return good["contains"] not in self.v.s.diets[home["diet"]]

    def at(self, lot: Row, state: State) -> str:
        """The site of a batch."""
        return str(state[self.v.b.ids][lot[self.v.bid]]["site"])

    def parcel(self, home: Row, state: State) -> list[tuple[Row, int]]:
        """What is to be packed for a household: a batch of each food group and how much of it."""
        v, day, parts = self.v, self.pick_up(home, state), []
        for group, per in v.s.rations.items():
            packs = -(-home["people"] // per)
            rows = [x for good in state[v.g.ids].values() for x in self.lots(state, good[v.gid])
                    if good["food_group"] == group and self.allowed(home, good)]  # fmt: skip
            rows = [x for x in rows if self.at(x, state) == home["site"] and x["best_before"] >= day]
            rows = [x for x in rows if self.free(x, state) >= packs]
            if not rows:
                raise LookupError(f"there is too little of {group}")
            parts.append((min(rows, key=lambda x: (x["best_before"], x[v.lid])), packs))
        return parts

    def pick_up(self, home: Row, state: State) -> str:
        """The next day on which a household comes, perhaps today."""
        days = WEEKDAYS.index(home["pick_up_day"]) - date.fromisoformat(state["today"]).weekday()
        return later(state["today"], days % 7)

    def marked(self, one: Row, status: str, item: str, home: Row) -> Changed:
        """A parcel line has a status."""
        return Changed(self.v.t.ids, one[self.v.tid], {"status": status}, item, (home[self.v.kid],))


class Pack(HomeGoal):
    """A parcel is packed."""

    phrases = (
        "Please pack the next parcel of the household of {name:name}, by its size and diet.",
        "The household of {name:name} needs its next parcel packed.",
    )
    needs = ("find_<<k.ids>>", "pack_parcel")
    ready = False

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, home = self.v, named(state, self.v.k, slots["name"])
        day, last = self.pick_up(home, state), home["last_parcel_on"]
        if self.lines(home, state) or (last and later(last, 7) > day):
            raise LookupError("it has had its parcel")
        fresh = {v.kid: home[v.kid], "pick_up_on": day, "status": "reserved"}
        return [
            Added(
                v.t.ids,
                {**fresh, v.lid: lot[v.lid], "quantity": packs},
                f"Are {packs} packs of {lot[v.lid]} reserved for {slots['name']}?",
                (lot[v.gid],),
            )
            for lot, packs in self.parcel(home, state)
        ]


class HandOut(HomeGoal):
    """A parcel is given out."""

    phrases = (
        "The household of {name:name} is here for today's parcel, please record that it has been handed out.",
        "{name:name} has just picked up the parcel that was packed, so hand it out in the records.",
    )
    needs = ("find_<<k.ids>>", "hand_out_parcel")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, home = self.v, named(state, self.v.k, slots["name"])
        lines, today = self.lines(home, state), state["today"]
        if not lines or any((x["pick_up_on"], x["status"]) != (today, "reserved") for x in lines):
            raise LookupError("no parcel is due today")
        item = f"Does the household of {slots['name']} have today as the day of its latest parcel?"
        wanted: list[Outcome] = [Changed(v.k.ids, home[v.kid], {"last_parcel_on": today}, item)]
        for x in lines:
            lot = state[v.l.ids][x[v.lid]]
            left = lot["quantity"] - x["quantity"]
            fields = {"quantity": left, "status": "available" if left else "empty"}
            told = f"Have {x['quantity']} been taken off {x[v.lid]} for {slots['name']}?"
            wanted += [
                self.marked(x, "given", f"Has {v.t} {x[v.tid]} of {slots['name']} been given?", home),
                Changed(v.l.ids, x[v.lid], fields, told, (lot[v.gid],)),
                self.entry(state, lot, "given", -x["quantity"], f"parcel of {slots['name']}"),
            ]
        return wanted


class Missed(HomeGoal):
    """A parcel is not wanted; its food is free again."""

    phrases = (
        "The household of {name:name} cannot come this time, so unpack its parcel.",
        "Please unpack the parcel of {name:name}, who is away.",
    )
    needs = ("find_<<k.ids>>", "unpack_parcel")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home = named(state, self.v.k, slots["name"])
        lines = self.lines(home, state)
        if not lines:
            raise LookupError("nothing is packed")
        return [
            self.marked(
                x, "dropped", f"Has {self.v.t} {x[self.v.tid]} of {slots['name']} been dropped?", home
            )
            for x in lines
        ]


class Swap(HomeGoal):
    """One food in a parcel is replaced."""

    phrases = (
        "In the parcel of {name:name}, please put {good:name} of the same site in place of what is packed from the "
        "group {group:name}.",
        "The household of {name:name} would like {good:name} from its own site instead of the {group:name} that are "
        "packed for it.",
    )
    needs = ("find_<<k.ids>>", "list_<<t.ids>>", "find_<<g.ids>>", "list_<<l.ids>>", "swap_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, group = super().draw(state, rng), pick(rng, list(self.v.s.rations))
        goods = [x for x in state[self.v.g.ids].values() if x["food_group"] == group]
        return slots and {**slots, "good": pick(rng, goods)["name"], "group": group}

    def plan(self, slots: Slots) -> list[Row]:
        v = self.v
        lots = {v.gid: found(2, 0, v.gid), "site": found(0, 0, "site"), "status": "available"}
        ids = {v.tid: found(1, 0, v.tid), v.lid: found(3, 0, v.lid)}
        lines = {v.kid: found(0, 0, v.kid), "food_group": slots["group"], "status": "reserved"}
        return [
            self.find(slots),
            call(f"list_{v.t.ids}", **lines),
            call(f"find_{v.g.ids}", name=slots["good"]),
            call(f"list_{v.l.ids}", **lots),
            call(f"swap_{v.t.id}", **ids),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, home = self.v, named(state, self.v.k, slots["name"])
        good = named(state, v.g, slots["good"])
        groups = {k: state[v.g.ids][x[v.gid]]["food_group"] for k, x in state[v.l.ids].items()}
        one = only([x for x in self.lines(home, state) if groups[x[v.lid]] == slots["group"]])
        lots = [x for x in self.lots(state, good[v.gid]) if self.at(x, state) == home["site"]]
        if one["status"] != "reserved" or not lots or not self.allowed(home, good):
            raise LookupError("it cannot be replaced")
        lot, old = lots[0], state[v.l.ids][one[v.lid]]
        lasts = lot["best_before"] >= one["pick_up_on"] and self.free(lot, state) >= one["quantity"]
        if lot is old or not lasts or good["food_group"] != slots["group"]:
            raise LookupError("it cannot be replaced by that")
        item = f"Has the {slots['group']} of {slots['name']} been replaced by {slots['good']}?"
        also = (home[v.kid], old[v.lid], old[v.gid], lot[v.gid])
        return [Changed(v.t.ids, one[v.tid], {v.lid: lot[v.lid]}, item, also)]


class Resize(HomeGoal):
    """A household has grown or shrunk."""

    phrases = (
        "The household of {name:name} now has {people:int} people, please note that before the next parcel.",
        "Please change the size of the household of {name:name} to {people:int} people.",
    )
    needs = ("find_<<k.ids>>", "update_<<k.id>>")
    ready = False

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "people": int(rng.integers(2, 8))}

    def plan(self, slots: Slots) -> list[Row]:
        calls = super().plan(slots)
        calls[-1]["arguments"]["people"] = slots["people"]
        return calls

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        home = named(state, self.v.k, slots["name"])
        if home["people"] == slots["people"] or self.lines(home, state):
            raise LookupError("it has that size")
        item = f"Is the household of {slots['name']} recorded with {slots['people']} people?"
        return [Changed(self.v.k.ids, home[self.v.kid], {"people": slots["people"]}, item)]


class SignUp(HomeGoal):
    """A new household."""

    phrases = (
        "Please sign up the household of {name:name}: {people:int} people, diet {diet:name}, coming to the {site:name} "
        "every {day:name}.",
        "There is a new household to sign up, {name:name} with {people:int} people and the diet {diet:name}; the "
        "{site:name} on {day:name} suits them.",
    )
    needs = ("sign_up_<<k.id>>",)
    weight = 0.4

    def draw(self, state: State, rng: Rng) -> Slots | None:
        taken = frozenset(x["name"] for x in state[self.v.k.ids].values())
        chosen = {"diet": pick(rng, list(self.v.s.diets)), "site": pick(rng, self.v.s.sites)}
        size = int(rng.integers(2, 8))
        return {
            "name": names.people(rng, 1, taken)[0],
            "people": size,
            **chosen,
            "day": pick(rng, WEEKDAYS[:5]),
        }

    def plan(self, slots: Slots) -> list[Row]:
        given = {**{k: x for k, x in slots.items() if k != "day"}, "pick_up_day": slots["day"]}
        return [call(f"sign_up_{self.v.k.id}", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if any(x["name"] == slots["name"] for x in state[self.v.k.ids].values()):
            raise LookupError("it is signed up")
        given = {k: x for k, x in slots.items() if k != "day"}
        fields = {**given, "pick_up_day": slots["day"], "last_parcel_on": ""}
        return [Added(self.v.k.ids, fields, f"Has the household of {slots['name']} been signed up so?")]


class SendPart(Recount):
    """Part of a batch goes to another site."""

    phrases = (
        "Please send {quantity:int} packs of {good:name} from the {site:name} to the {other:name}, out of the <<l>> "
        "there that expires first and into the <<b>> with the least room that takes them.",
        "The {other:name} needs {quantity:int} packs of {good:name}; send them from the {site:name}, first the <<l>> "
        "that expires soonest, into the <<b>> where they leave the least room.",
    )
    needs = ("find_<<g.ids>>", "list_<<l.ids>>", "find_room", "send_to_site")
    when = "home"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        good, (one, two) = self.stocked(state, rng), shuffled(rng, self.v.s.sites)[:2]
        return good and {
            "quantity": int(rng.integers(2, 9)),
            "good": good["name"],
            "site": one,
            "other": two,
        }

    def plan(self, slots: Slots) -> list[Row]:
        v = self.v
        lots = {v.gid: found(0, 0, v.gid), "site": slots["site"], "status": "available"}
        room = {"zone": found(0, 0, "zone"), "quantity": slots["quantity"], "site": slots["other"]}
        ids = {v.lid: found(1, 0, v.lid), v.bid: found(2, 0, v.bid)}
        return [
            call(f"find_{v.g.ids}", name=slots["good"]),
            call(f"list_{v.l.ids}", **lots),
            call("find_room", **room),
            call("send_to_site", **ids, quantity=slots["quantity"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, good = self.v, named(state, self.v.g, slots["good"])
        lots = [x for x in self.lots(state, good[v.gid]) if self.where(x, state)[1] == slots["site"]]
        if (
            not lots
            or self.free(lots[0], state) < slots["quantity"]
            or lots[0]["quantity"] == slots["quantity"]
        ):
            raise LookupError("there is not so much to send")
        lot, bin_ = lots[0], self.snug(state, good["zone"], slots["quantity"], slots["other"])
        kept = {n: lot[n] for n in (v.gid, "best_before", "origin", "status", "note")}
        also = (*self.zone_mark(good["zone"], slots["site"]), *self.zone_mark(good["zone"], slots["other"]))
        what = f"{slots['quantity']} packs of {slots['good']}"
        left = {"quantity": lot["quantity"] - slots["quantity"]}
        return [
            Changed(v.l.ids, lot[v.lid], left, f"Have {what} left the {slots['site']}?", (lot[v.gid],)),
            Added(
                v.l.ids,
                {**kept, v.bid: bin_[v.bid], "quantity": slots["quantity"]},
                f"Are {what} at the {slots['other']} now?",
                also,
            ),
            self.entry(state, lot, "sent", -slots["quantity"], f"to the {slots['other']}"),
            self.entry(state, None, "received", slots["quantity"], f"from the {slots['site']}"),
        ]


class ClearUnit(HomeGoal):
    """A freezer or fridge failed: what is in it is waste, also where it was packed for somebody."""

    phrases = (
        'The <<b>> for {zone:name} food at the {site:name} has failed, so clear it as waste, noting "{loss:text}".',
        'At the {site:name} everything {zone:name} is lost; please clear that <<b>>, noting "{loss:text}".',
    )
    needs = ("check_storage", "clear_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        zone, site = pick(rng, self.v.s.zones[1:]), pick(rng, self.v.s.sites)
        return {"zone": zone, "site": site, "loss": pick(rng, self.v.s.failures)}

    def plan(self, slots: Slots) -> list[Row]:
        v = self.v
        return [
            call("check_storage", site=slots["site"], zone=slots["zone"]),
            call(f"clear_{v.b.id}", **{v.bid: found(0, 0, v.bid)}, reason=slots["loss"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, wanted = self.v, dict[str, Any](zone=slots["zone"], site=slots["site"], working=True)
        bin_ = only([x for x in state[v.b.ids].values() if all(x[n] == y for n, y in wanted.items())])
        lots = [x for x in state[v.l.ids].values() if x[v.bid] == bin_[v.bid] and x["quantity"]]
        lost = {x[v.lid] for x in lots}
        lines = [x for x in state[v.t.ids].values() if x[v.lid] in lost and x["status"] in v.waiting]
        if not lots:
            raise LookupError("it is empty")
        what = f"the {v.b} for {slots['zone']} food at the {slots['site']}"
        also = self.zone_mark(slots["zone"], slots["site"])
        fields = {"quantity": 0, "status": "discarded", "note": slots["loss"]}
        found_: list[Outcome] = [
            Changed(v.b.ids, bin_[v.bid], {"working": False}, f"Is {what} marked as not working?", also)
        ]
        for x in lots:
            item = f"Has {x[v.lid]} been written off with {what}?"
            found_ += [
                Changed(v.l.ids, x[v.lid], fields, item, (x[v.gid],)),
                self.entry(state, x, "discarded", -x["quantity"], slots["loss"]),
            ]
        homes = state[v.k.ids]
        return [
            *found_,
            *(
                self.marked(x, "dropped", f"Has {v.t} {x[v.tid]} been dropped with {what}?", homes[x[v.kid]])
                for x in lines
            ),
        ]


class Bins(Pattern):
    """Goods in lots, and the bins they lie in."""

    Settings = BinsSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        TakeIn, TakeInDonation, Quarantine, QuarantineInOwnWords, Recount, WriteOff, ThrowAway, MoveLot, PlanPicks,
        SplitList, ConfirmPick, HandOver, CancelList, Pack, HandOut, Missed, Swap, Resize, SignUp, SendPart, ClearUnit,
    )  # fmt: skip

    def vocabulary(self, s: BinsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        home = s.serves == "households"
        nouns = {
            "b": Noun(s.bin),
            "g": Noun(s.good),
            "l": Noun(s.lot),
            "e": Noun(s.entry),
            "k": Noun("household" if home else "worker"),
            "t": Noun("parcel line" if home else "pick"),
        }
        return {
            **nouns,
            **{f"{letter}id": f"{noun.id}_id" for letter, noun in nouns.items()},
            "home": home,
            "cold": s.zones[-1],
            "waiting": ("reserved", "held") if home else ("open", "held"),
            "statuses": ("available", "quarantined", "empty", "discarded"),
            "line_statuses": ("reserved", "held", "given", "dropped")
            if home
            else ("open", "held", "picked", "cancelled"),
            "zonelist": either(s.zones),
            "sitelist": either(s.sites) if home else "",
            "groups": list(s.rations),
            "diet_code": ", ".join(f'"{k}": {tuple(x)!r}' for k, x in s.diets.items()).replace("'", '"'),
            "ration_code": ", ".join(f'"{k}": {n}' for k, n in s.rations.items()),
            "diets": list(s.diets),
            "weekdays": WEEKDAYS,
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, b, g, lot, k, t, e = v.s, v.b, v.g, v.l, v.k, v.t, v.e
        if v.home:
            place = [attribute("site", "str", f"where it stands: {v.sitelist}")]
            kind = [
                attribute("food_group", "str", either(v.groups)),
                attribute("contains", "str", "what some diets rule out, or nothing"),
            ]
            works = [attribute("working", "bool", "False after it has failed")]
            people = [
                attribute("people", "int", "how many people eat of the parcel"),
                attribute("diet", "str", either(v.diets)),
                attribute("site", "str", "where it picks up its parcels"),
                attribute("pick_up_day", "str", "day of the week on which it comes"),
                attribute("last_parcel_on", "str", "date of its latest parcel as YYYY-MM-DD, or empty"),
            ]
            line = [attribute("pick_up_on", "str", "date of the parcel, as YYYY-MM-DD")]
            who = [attribute(v.kid, "str", f"the {k} it is for")]
        else:
            place = [attribute("label", "str", "label on the shelf, e.g. A-04, unique")]
            kind = [
                attribute("number", "str", "article number"),
                attribute("min_stock", "int", "free stock below which it is to be ordered"),
            ]
            works = []
            people = [
                attribute("role", "str", "picker or supervisor"),
                attribute("cold_training", "bool", f"whether they may work in the {v.cold} zone"),
                attribute("on_duty", "bool", "whether they are at work today"),
            ]
            line = [
                attribute("pick_list", "int", "number of the pick list it is on"),
                attribute("customer", "str", "who ordered"),
                attribute("ship_on", "str", "date of shipping, as YYYY-MM-DD"),
            ]
            who = [attribute(v.kid, "str | None", "who fetches it; None before it is given to somebody")]
        approved = [attribute(v.kid, "str | None", "the supervisor who approved a write-off, otherwise None")]
        return [
            Table(
                b,
                f"{b.a[:1].upper()}{b.a[1:]} of limited room.",
                [
                    attribute(v.bid, "str", f"unique id, e.g. {s.bin_prefix}-001"),
                    *place,
                    attribute("zone", "str", v.zonelist),
                    attribute("capacity", "int", "units that fit in"),
                    *works,
                ],
            ),
            Table(
                g,
                f"{g.a[:1].upper()}{g.a[1:]} that is kept in stock.",
                [
                    attribute(v.gid, "str", f"unique id, e.g. {s.good_prefix}-001"),
                    attribute("name", "str", "what it is called"),
                    attribute("zone", "str", f"where it must lie: {v.zonelist}"),
                    *kind,
                ],
            ),
            Table(
                lot,
                f"{lot.a[:1].upper()}{lot.a[1:]}: what came in together and expires together.",
                [
                    attribute(v.lid, "str", f"unique id, e.g. {s.lot_prefix}-001"),
                    attribute(v.gid, "str", f"the {g}"),
                    attribute(v.bid, "str", f"the {b} it lies in"),
                    attribute("quantity", "int", "units left"),
                    attribute("best_before", "str", "date, as YYYY-MM-DD"),
                    attribute("origin", "str", "who it came from"),
                    attribute("status", "str", either(v.statuses)),
                    attribute("note", "str", "why it is quarantined or discarded, otherwise empty"),
                ],
            ),
            Table(
                k,
                "A household that is signed up for parcels."
                if v.home
                else "Somebody who works in the warehouse.",
                [
                    attribute(v.kid, "str", f"unique id, e.g. {v.k.id[:2].upper()}-001"),
                    attribute("name", "str", "full name"),
                    *people,
                ],
            ),
            Table(
                t,
                f"{t.a[:1].upper()}{t.a[1:]}: how much of {lot.a} is for whom.",
                [
                    attribute(v.tid, "str", f"unique id, e.g. {v.t.id[:2].upper()}-001"),
                    *line,
                    attribute(v.lid, "str", f"the {lot} it comes from"),
                    attribute("quantity", "int", "units"),
                    *who,
                    attribute("status", "str", either(v.line_statuses)),
                ],
            ),
            Table(
                e,
                f"A change of the quantity of {lot.a}.",
                [
                    attribute(v.eid, "str", f"unique id, e.g. {v.e.id[:2].upper()}-001"),
                    attribute(v.lid, "str", f"the {lot}"),
                    attribute(
                        "kind",
                        "str",
                        "received, recounted, discarded" + (", sent or given" if v.home else " or picked"),
                    ),
                    attribute("change", "int", "units, below 0 for what left"),
                    attribute("note", "str", "why, or for whom"),
                    attribute("made_on", "str", "date, as YYYY-MM-DD"),
                    *([] if v.home else approved),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "What lies in <<b.a>> never takes more room than the <<b>> has.",
            """
            taken = {}
            for row in rows(after, "<<l.ids>>").values():
                taken[row.get("<<bid>>")] = taken.get(row.get("<<bid>>"), 0) + (row.get("quantity") or 0)
            return all(taken.get(key, 0) <= (row.get("capacity") or 0) for key, row in rows(after, "<<b.ids>>").items())
            """,
        ),
        RuleText(
            "The quantity of <<l.a>> is the sum of its <<e.many>>.",
            """
            total = {}
            for row in rows(after, "<<e.ids>>").values():
                total[row.get("<<lid>>")] = total.get(row.get("<<lid>>"), 0) + (row.get("change") or 0)
            return all(row.get("quantity") == total.get(key, 0) for key, row in rows(after, "<<l.ids>>").items())
            """,
        ),
        RuleText(
            "Every change of a quantity leaves <<e.a>> dated that day.",
            """
            booked = {}
            for row in added("<<e.ids>>"):
                if row.get("made_on") == after.get("today"):
                    booked[row.get("<<lid>>")] = booked.get(row.get("<<lid>>"), 0) + (row.get("change") or 0)
            for old, new in changed("<<l.ids>>", "quantity"):
                if (new.get("quantity") or 0) - (old.get("quantity") or 0) != booked.get(new.get("<<lid>>"), 0):
                    return False
            return True
            """,
        ),
        RuleText(
            "Nothing is <<'reserved for' if home else 'picked for'>> a day after its best-before date.",
            """
            lots = rows(after, "<<l.ids>>")
            for row in rows(after, "<<t.ids>>").values():
                if row.get("status") in (<<quoted(line_statuses[:3])>>):
                    lot = lots.get(str(row.get("<<lid>>"))) or {}
                    if str(row.get("<<'pick_up_on' if home else 'ship_on'>>")) > str(lot.get("best_before")):
                        return False
            return True
            """,
        ),
        RuleText(
            "<<t.a|capitalize>> that is <<line_statuses[2]>> or <<line_statuses[3]>> stays so.",
            """
            return all(old.get("status") in (<<quoted(waiting)>>) for old, new in changed("<<t.ids>>", "status"))
            """,
        ),
        RuleText(
            "<<l.a|capitalize>> in quarantine has a note that says why, and no <<t>> of it can be <<waiting[0]>>.",
            """
            shut = {key for key, row in rows(after, "<<l.ids>>").items() if row.get("status") == "quarantined"}
            if not all(rows(after, "<<l.ids>>")[key].get("note") for key in shut):
                return False
            lines = rows(after, "<<t.ids>>").values()
            return not any(row.get("<<lid>>") in shut and row.get("status") == "<<waiting[0]>>" for row in lines)
            """,
            rank=2,
        ),
        RuleText(
            "Every <<l>> lies in the zone that its <<g>> needs.",
            """
            goods, bins = rows(after, "<<g.ids>>"), rows(after, "<<b.ids>>")
            for row in rows(after, "<<l.ids>>").values():
                good, place = goods.get(str(row.get("<<gid>>"))) or {}, bins.get(str(row.get("<<bid>>"))) or {}
                if good.get("zone") != place.get("zone"):
                    return False
            return True
            """,
            rank=3,
        ),
        RuleText(
            "Only a supervisor has the permission to write <<l.a>> off.",
            """
            staff = rows(after, "<<k.ids>>")
            return all(
                (staff.get(str(row.get("<<kid>>"))) or {}).get("role") == "supervisor"
                for row in rows(after, "<<e.ids>>").values()
                if row.get("kind") == "discarded"
            )
            """,
            when="not home",
        ),
        RuleText(
            "Whoever picks in the <<cold>> zone is trained for it.",
            """
            lots, bins, staff = rows(after, "<<l.ids>>"), rows(after, "<<b.ids>>"), rows(after, "<<k.ids>>")
            for row in rows(after, "<<t.ids>>").values():
                worker, lot = staff.get(str(row.get("<<kid>>"))), lots.get(str(row.get("<<lid>>"))) or {}
                if worker and row.get("status") == "open" and not worker.get("cold_training"):
                    if (bins.get(str(lot.get("<<bid>>"))) or {}).get("zone") == "<<cold>>":
                        return False
            return True
            """,
            when="not home",
        ),
        RuleText(
            "No parcel holds what the diet of its household rules out.",
            """
            ruled_out = {<<diet_code>>}
            homes, lots, goods = rows(after, "<<k.ids>>"), rows(after, "<<l.ids>>"), rows(after, "<<g.ids>>")
            for row in rows(after, "<<t.ids>>").values():
                if row.get("status") == "reserved":
                    good = goods.get(str((lots.get(str(row.get("<<lid>>"))) or {}).get("<<gid>>"))) or {}
                    diet = (homes.get(str(row.get("<<kid>>"))) or {}).get("diet")
                    if good.get("contains") in ruled_out.get(str(diet), ()):
                        return False
            return True
            """,
            when="home",
        ),
        RuleText(
            "A parcel is packed at the site that belongs to its household.",
            """
            homes, lots, bins = rows(after, "<<k.ids>>"), rows(after, "<<l.ids>>"), rows(after, "<<b.ids>>")
            for row in rows(after, "<<t.ids>>").values():
                if row.get("status") == "reserved":
                    place = bins.get(str((lots.get(str(row.get("<<lid>>"))) or {}).get("<<bid>>"))) or {}
                    if place.get("site") != (homes.get(str(row.get("<<kid>>"))) or {}).get("site"):
                        return False
            return True
            """,
            when="home",
            rank=2,
        ),
    )

    HELPERS = (
        IS_DATE
        + '''
    def _promised(self, <<lid>>: str) -> int:
        """Return how many units of <<l.a>> wait for whoever they are meant for."""
        lines = [line for line in self.<<t.ids>>.values() if line["<<lid>>"] == <<lid>>]
        return sum(line["quantity"] for line in lines if line["status"] in (<<quoted(waiting)>>))

    def _free(self, <<lid>>: str) -> int:
        """Return how many units of <<l.a>> are promised to nobody."""
        return self.<<l.ids>>[<<lid>>]["quantity"] - self._promised(<<lid>>)

    def _room(self, <<bid>>: str) -> int:
        """Return how many more units fit into <<b.a>>."""
        inside = (<<l.id>>["quantity"] for <<l.id>> in self.<<l.ids>>.values() if <<l.id>>["<<bid>>"] == <<bid>>)
        return self.<<b.ids>>[<<bid>>]["capacity"] - sum(inside)

    def _in_order(self, <<gid>>: str) -> list[dict]:
        """Return the available <<l.many>> of <<g.a>>, the one that expires first in front."""
        usable = [
            <<l.id>>
            for <<l.id>> in self.<<l.ids>>.values()
            if <<l.id>>["<<gid>>"] == <<gid>> and <<l.id>>["status"] == "available"
        ]
        return sorted(usable, key=lambda <<l.id>>: (<<l.id>>["best_before"], <<l.id>>["<<lid>>"]))

%% if home
    def _book(self, <<lid>>: str, kind: str, change: int, note: str) -> None:
%% else
    def _book(self, <<lid>>: str, kind: str, change: int, note: str, <<kid>>: str | None = None) -> None:
%% endif
        """Change the quantity of <<l.a>> and write it down; what is used up is empty."""
        <<l.id>> = self.<<l.ids>>[<<lid>>]
        <<l.id>>["quantity"] += change
        if <<l.id>>["quantity"] == 0 and <<l.id>>["status"] == "available":
            <<l.id>>["status"] = "empty"
        <<e.id>>: <<e.type>> = {
            "<<eid>>": self._next_id(self.<<e.ids>>, "<<e.id[:2]|upper>>"),
            "<<lid>>": <<lid>>,
            "kind": kind,
            "change": change,
            "note": note,
            "made_on": self.today,
%% if not home
            "<<kid>>": <<kid>>,
%% endif
        }
        self.<<e.ids>>[<<e.id>>["<<eid>>"]] = <<e.id>>

%% if home
    def _pick_up(self, <<kid>>: str) -> str:
        """Return the next date, perhaps today, on which a household comes."""
        days = [<<quoted(weekdays)>>]
        today = date.fromisoformat(self.today)
        ahead = days.index(self.<<k.ids>>[<<kid>>]["pick_up_day"]) - today.weekday()
        return (today + timedelta(days=ahead % 7)).isoformat()

    def _suits(self, <<kid>>: str, <<lid>>: str) -> bool:
        """Tell whether <<l.a>> lies at the site of a household and its diet allows it."""
        ruled_out = {<<diet_code>>}
        household, <<l.id>> = self.<<k.ids>>[<<kid>>], self.<<l.ids>>[<<lid>>]
        there = self.<<b.ids>>[<<l.id>>["<<bid>>"]]["site"] == household["site"]
        contains = self.<<g.ids>>[<<l.id>>["<<gid>>"]]["contains"]
        return there and contains not in ruled_out[household["diet"]]

    def _packed(self, <<kid>>: str) -> list[dict]:
        """Return what is packed for a household and has not been given out."""
        mine = [line for line in self.<<t.ids>>.values() if line["<<kid>>"] == <<kid>>]
        return [line for line in mine if line["status"] in (<<quoted(waiting)>>)]

    def _choose(self, <<kid>>: str) -> tuple[list[dict], list[str]]:
        """Choose <<l.a>> and a number of packs of each food group for a household; what is short comes second."""
        rations, day, people = {<<ration_code>>}, self._pick_up(<<kid>>), self.<<k.ids>>[<<kid>>]["people"]
        chosen, short = [], []
        for group, share in rations.items():
            packs = (people + share - 1) // share
            fit = [
                <<l.id>>
                for <<gid>>, <<g.id>> in self.<<g.ids>>.items()
                if <<g.id>>["food_group"] == group
                for <<l.id>> in self._in_order(<<gid>>)
                if <<l.id>>["best_before"] >= day
                and self._free(<<l.id>>["<<lid>>"]) >= packs
                and self._suits(<<kid>>, <<l.id>>["<<lid>>"])
            ]
            if fit:
                first = min(fit, key=lambda <<l.id>>: (<<l.id>>["best_before"], <<l.id>>["<<lid>>"]))
                name = self.<<g.ids>>[first["<<gid>>"]]["name"]
                chosen.append({"<<lid>>": first["<<lid>>"], "food": name, "packs": packs, "food_group": group})
            else:
                short.append(group)
        return chosen, short
%% else
    def _load(self, <<kid>>: str) -> int:
        """Return how many units a worker has still to pick."""
        mine = [pick for pick in self.<<t.ids>>.values() if pick["<<kid>>"] == <<kid>>]
        return sum(pick["quantity"] for pick in mine if pick["status"] == "open")

    def _may_fetch(self, <<kid>>: str, <<lid>>: str) -> bool:
        """Tell whether a worker may go where <<l.a>> lies."""
        zone = self.<<b.ids>>[self.<<l.ids>>[<<lid>>]["<<bid>>"]]["zone"]
        return zone != "<<cold>>" or self.<<k.ids>>[<<kid>>]["cold_training"]
%% endif
'''
    )

    READS = (
        MACROS
        + '''
def find_<<g.ids>>(self, name: str) -> dict:
    """Find <<g.many>> by name<<"" if home else " or number">>, with what is in stock and what of it is promised.

    Args:
        name: The name<<"" if home else " or article number">> or a part of it; upper and lower case are the same.

    Returns:
        The <<g.many>> by name, each with `in_stock`, `promised` and `free` units of its available <<l.many>>.
    """
    wanted, matches = name.strip().casefold(), []
    refuse if not wanted :: The name to look for is empty.
    for <<gid>>, <<g.id>> in self.<<g.ids>>.items():
        if wanted in <<g.id>>["name"].casefold()<<"" if home else ' or wanted in ' ~ g.id ~ '["number"].casefold()'>>:
            lots = self._in_order(<<gid>>)
            stock = sum(<<l.id>>["quantity"] for <<l.id>> in lots)
            promised = sum(self._promised(<<l.id>>["<<lid>>"]) for <<l.id>> in lots)
            matches.append({**<<g.id>>, "in_stock": stock, "promised": promised, "free": stock - promised})
    return {"success": True, "data": sorted(matches, key=lambda match: match["name"])}

def list_<<l.ids>>(
    self,
    <<gid>>: str | None = None,
    <<"site" if home else "label">>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<l.many>>, those that expire first in front.

    Args:
        <<gid>>: Only those of this <<g>>. Leave out for all.
%% if home
        site: Only those at this site: <<sitelist>>. Leave out for all.
%% else
        label: Only those in the <<b>> with this label. Leave out for all.
%% endif
        status: Only this status: <<statuses|join(", ")>>. Leave out for all.

    Returns:
        The <<l.many>>, each with the `free` units and the <<"site it is at" if home else "label of its " ~ b>>.
    """
<<one_of("status", "status", statuses)>>
%% if home
<<one_of("site", "site", s.sites)>>
%% endif
    selected = []
    for <<lid>>, <<l.id>> in self.<<l.ids>>.items():
        where = self.<<b.ids>>[<<l.id>>["<<bid>>"]]["<<"site" if home else "label">>"]
        if <<gid>> not in (None, <<l.id>>["<<gid>>"]) or <<"site" if home else "label">> not in (None, where):
            continue
        if status in (None, <<l.id>>["status"]):
            selected.append({**<<l.id>>, "free": self._free(<<lid>>), "<<"site" if home else "label">>": where})
    selected.sort(key=lambda entry: (entry["best_before"], entry["<<lid>>"]))
    return {"success": True, "data": selected}

%% if home
def find_room(self, zone: str, quantity: int, site: str | None = None) -> dict:
%% else
def find_room(self, zone: str, quantity: int, except_label: str | None = None) -> dict:
%% endif
    """Find <<b.many>> into which so much fits, the one with the least room in front.

    Args:
        zone: The zone: <<zonelist>>.
        quantity: Units that must fit in; at least 1.
%% if home
        site: Only at this site: <<sitelist>>. Leave out for all.
%% else
        except_label: Label of <<b.a>> that does not come into question. Leave out when all do.
%% endif

    Returns:
        The <<b.many>>, each with its `room`; an empty list when none has so much.
    """
    refuse if zone not in (<<quoted(s.zones)>>) :: There is no zone {zone!r}.
    refuse if quantity < 1 :: The quantity must be at least 1.
%% if home
<<one_of("site", "site", s.sites)>>
    places = [place for place in self.<<b.ids>>.values() if place["working"] and site in (None, place["site"])]
%% else
    places = [place for place in self.<<b.ids>>.values() if place["label"] != except_label]
%% endif
    fit = [
        {**place, "room": self._room(place["<<bid>>"])}
        for place in places
        if place["zone"] == zone and self._room(place["<<bid>>"]) >= quantity
    ]
    return {"success": True, "data": sorted(fit, key=lambda place: (place["room"], place["<<bid>>"]))}

def trace_<<l.id>>(self, <<lid>>: str) -> dict:
    """Tell the whole story of <<l.a>>: every change of its quantity, and who it went or will go to.

    Args:
        <<lid>>: Id of the <<l>>.

    Returns:
        Its `entries` by date, and `recipients` with the units of each, or an error.
    """
<<known(l)>>
    entries = [dict(entry) for entry in self.<<e.ids>>.values() if entry["<<lid>>"] == <<lid>>]
    recipients: dict[str, int] = {}
    for line in self.<<t.ids>>.values():
        if line["<<lid>>"] == <<lid>> and line["status"] != "<<line_statuses[3]>>":
            name = <<'self.' ~ k.ids ~ '[line["' ~ kid ~ '"]]["name"]' if home else 'line["customer"]'>>
            recipients[name] = recipients.get(name, 0) + line["quantity"]
    entries.sort(key=lambda entry: (entry["made_on"], entry["<<eid>>"]))
    return {"success": True, "data": {"entries": entries, "recipients": recipients}}

%% if home
def find_<<k.ids>>(self, name: str) -> dict:
    """Find signed-up <<k.many>> by the name they go under.

    Args:
        name: The name or a part of it.

    Returns:
        The <<k.many>>, each with the date of its `next_pick_up` and whether its parcel is `packed`.
    """
    refuse if not name.strip() :: The name to look for is empty.
    matches = [
        {**household, "next_pick_up": self._pick_up(<<kid>>), "packed": bool(self._packed(<<kid>>))}
        for <<kid>>, household in self.<<k.ids>>.items()
        if name.strip().lower() in household["name"].lower()
    ]
    return {"success": True, "data": sorted(matches, key=lambda household: household["name"])}

def list_pick_ups(self, day: str, site: str | None = None) -> dict:
    """List who comes for a parcel on a day of the coming week, those without a packed parcel in front.

    Args:
        day: The date, as YYYY-MM-DD.
        site: Only at this site: <<sitelist>>. Leave out for all.

    Returns:
        The <<k.many>>, each with whether its parcel is `packed`.
    """
    refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
<<one_of("site", "site", s.sites)>>
    coming = [
        {**household, "packed": bool(self._packed(<<kid>>))}
        for <<kid>>, household in self.<<k.ids>>.items()
        if self._pick_up(<<kid>>) == day and site in (None, household["site"])
    ]
    return {"success": True, "data": sorted(coming, key=lambda entry: (entry["packed"], entry["name"]))}

def list_<<t.ids>>(
    self, <<kid>>: str, food_group: str | None = None, status: str | None = None
) -> dict:
    """List what is or was in the parcels of a household, the latest parcel first.

    Args:
        <<kid>>: Id of the household.
        food_group: Only this food group: <<groups|join(", ")>>. Leave out for all.
        status: Only this status: <<line_statuses|join(", ")>>. Leave out for all.

    Returns:
        The <<t.many>>, each with the `food` and its group, or an error.
    """
    refuse if <<kid>> not in self.<<k.ids>> :: There is no household with the id {<<kid>>!r}.
<<one_of("food_group", "food group", groups)>>
<<one_of("status", "status", line_statuses)>>
    lines = []
    for line in self.<<t.ids>>.values():
        food = self.<<g.ids>>[self.<<l.ids>>[line["<<lid>>"]]["<<gid>>"]]
        if line["<<kid>>"] != <<kid>> or status not in (None, line["status"]):
            continue
        if food_group in (None, food["food_group"]):
            lines.append({**line, "food": food["name"], "food_group": food["food_group"]})
    lines.sort(key=lambda line: line["<<tid>>"])
    return {"success": True, "data": sorted(lines, key=lambda line: line["pick_up_on"], reverse=True)}

def preview_parcel(self, <<kid>>: str) -> dict:
    """Show what would be packed for a household now, without packing it.

    Args:
        <<kid>>: Id of the household.

    Returns:
        The `pick_up` date, what would be `chosen` of each food group, and the groups that are `short`, or an error.
    """
    refuse if <<kid>> not in self.<<k.ids>> :: There is no household with the id {<<kid>>!r}.
    chosen, short = self._choose(<<kid>>)
    return {"success": True, "data": {"pick_up": self._pick_up(<<kid>>), "chosen": chosen, "short": short}}

def forecast_stock(self, day: str, site: str) -> dict:
    """Compare what the households of a site that come on a day need with what is free there and lasts until then.

    Args:
        day: The date, within the coming week, as YYYY-MM-DD.
        site: The site: <<sitelist>>.

    Returns:
        For each food group the packs that are `needed` for parcels not packed yet, `there`, and `missing`.
    """
    refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    refuse if site not in (<<quoted(s.sites)>>) :: There is no site {site!r}.
    rows = []
    for group, share in {<<ration_code>>}.items():
        needed = sum(
            (household["people"] + share - 1) // share
            for <<kid>>, household in self.<<k.ids>>.items()
            if household["site"] == site and self._pick_up(<<kid>>) == day and not self._packed(<<kid>>)
        )
        there = sum(
            self._free(<<lid>>)
            for <<lid>>, <<l.id>> in self.<<l.ids>>.items()
            if <<l.id>>["status"] == "available" and <<l.id>>["best_before"] >= day
            and self.<<b.ids>>[<<l.id>>["<<bid>>"]]["site"] == site
            and self.<<g.ids>>[<<l.id>>["<<gid>>"]]["food_group"] == group
        )
        rows.append({"food_group": group, "needed": needed, "there": there, "missing": max(0, needed - there)})
    return {"success": True, "data": sorted(rows, key=lambda row: -row["missing"])}

def check_storage(self, site: str, zone: str | None = None) -> dict:
    """Show the working <<b.many>> of a site with what is in them.

    Args:
        site: The site: <<sitelist>>.
        zone: Only this zone: <<zonelist>>. Leave out for all.

    Returns:
        The <<b.many>>, each with its `room` and its `contents`: packs by name of the food.
    """
    refuse if site not in (<<quoted(s.sites)>>) :: There is no site {site!r}.
<<one_of("zone", "zone", s.zones)>>
    units = []
    for <<bid>>, unit in self.<<b.ids>>.items():
        if unit["site"] != site or not unit["working"] or zone not in (None, unit["zone"]):
            continue
        contents: dict[str, int] = {}
        for <<l.id>> in self.<<l.ids>>.values():
            if <<l.id>>["<<bid>>"] == <<bid>> and <<l.id>>["quantity"] > 0:
                food = self.<<g.ids>>[<<l.id>>["<<gid>>"]]["name"]
                contents[food] = contents.get(food, 0) + <<l.id>>["quantity"]
        units.append({**unit, "room": self._room(<<bid>>), "contents": contents})
    return {"success": True, "data": units}

def rank_donors(self, since: str) -> dict:
    """Rank donors by what came from them since a day, with what ended as waste.

    Args:
        since: First day that counts, as YYYY-MM-DD.

    Returns:
        The donors with packs `received` and `wasted`, most received first.
    """
    refuse if not self._is_date(since) :: {since!r} is not a date as YYYY-MM-DD.
    totals: dict[str, dict] = {}
    for entry in self.<<e.ids>>.values():
        donor = self.<<l.ids>>[entry["<<lid>>"]]["origin"]
        if entry["made_on"] >= since and entry["kind"] in ("received", "discarded", "sent"):
            row = totals.setdefault(donor, {"donor": donor, "received": 0, "wasted": 0})
            if entry["kind"] == "discarded":
                row["wasted"] -= entry["change"]
            else:  # what is sent comes in again at the other site
                row["received"] += entry["change"]
    return {"success": True, "data": sorted(totals.values(), key=lambda row: (-row["received"], row["donor"]))}
%% else
def list_expiring_<<l.ids>>(self, within_days: int) -> dict:
    """List the available <<l.many>> that expire soon or have expired, with where they lie.

    Args:
        within_days: How many days from today are looked at; at least 0.

    Returns:
        The <<l.many>> with `days_left`, below 0 for what has expired, the most urgent first.
    """
    refuse if within_days < 0 :: The number of days must be at least 0.
    today, urgent = date.fromisoformat(self.today), []
    for <<l.id>> in self.<<l.ids>>.values():
        days_left = (date.fromisoformat(<<l.id>>["best_before"]) - today).days
        if <<l.id>>["status"] == "available" and days_left <= within_days:
            label = self.<<b.ids>>[<<l.id>>["<<bid>>"]]["label"]
            urgent.append({**<<l.id>>, "days_left": days_left, "label": label})
    return {"success": True, "data": sorted(urgent, key=lambda one: (one["days_left"], one["<<lid>>"]))}

def list_<<t.ids>>(
    self,
    pick_list: int | None = None,
    customer: str | None = None,
    ship_on: str | None = None,
    <<kid>>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<t.many>>, the largest first, with where to fetch them.

    Args:
        pick_list: Only those of the pick list with this number. Leave out for all.
        customer: Only those for this customer. Leave out for all.
        ship_on: Only those to be shipped on this date, as YYYY-MM-DD. Leave out for all.
        <<kid>>: Only those given to this worker. Leave out for all.
        status: Only this status: <<line_statuses|join(", ")>>. Leave out for all.

    Returns:
        The <<t.many>>, each with the <<g>> and the label of the <<b>>.
    """
<<one_of("status", "status", line_statuses)>>
    wanted = {"pick_list": pick_list, "customer": customer, "ship_on": ship_on, "<<kid>>": <<kid>>, "status": status}
    selected = []
    for pick in self.<<t.ids>>.values():
        if all(value in (None, pick[name]) for name, value in wanted.items()):
            <<l.id>> = self.<<l.ids>>[pick["<<lid>>"]]
            label = self.<<b.ids>>[<<l.id>>["<<bid>>"]]["label"]
            selected.append({**pick, "<<g.id>>": self.<<g.ids>>[<<l.id>>["<<gid>>"]]["name"], "label": label})
    return {"success": True, "data": sorted(selected, key=lambda pick: (-pick["quantity"], pick["<<tid>>"]))}

def find_<<k.ids>>(self, name: str) -> dict:
    """Find people of the warehouse by name.

    Args:
        name: The name or a part of it.

    Returns:
        The <<k.many>> by name, each with the units they have `still_to_pick`.
    """
    refuse if not name.strip() :: The name to look for is empty.
    matches = []
    for <<kid>>, worker in sorted(self.<<k.ids>>.items(), key=lambda pair: pair[1]["name"]):
        if name.strip().lower() in worker["name"].lower():
            matches.append({**worker, "still_to_pick": self._load(<<kid>>)})
    return {"success": True, "data": matches}

def compare_workloads(self) -> dict:
    """Show who on duty has how much to pick, those with the least in front.

    Returns:
        The <<k.many>> on duty, each with the units and the number of <<t.many>> still open.
    """
    board = []
    for <<kid>>, worker in self.<<k.ids>>.items():
        if worker["on_duty"]:
            mine = [pick for pick in self.<<t.ids>>.values() if (pick["<<kid>>"], pick["status"]) == (<<kid>>, "open")]
            units = sum(pick["quantity"] for pick in mine)
            board.append({"<<kid>>": <<kid>>, "name": worker["name"], "units": units, "open_picks": len(mine)})
    return {"success": True, "data": sorted(board, key=lambda row: (row["units"], row["<<kid>>"]))}

def list_shortages(self) -> dict:
    """List <<g.many>> of which less is free than their minimum, with how much to order.

    Returns:
        The <<g.many>> with the `free` units and those `to_order` to have twice the minimum, the scarcest first.
    """
    short = []
    for <<gid>>, <<g.id>> in self.<<g.ids>>.items():
        lasting = [one for one in self._in_order(<<gid>>) if one["best_before"] > self.today]
        free = sum(self._free(one["<<lid>>"]) for one in lasting)
        if free < <<g.id>>["min_stock"]:
            short.append({**<<g.id>>, "free": free, "to_order": 2 * <<g.id>>["min_stock"] - free})
    return {"success": True, "data": sorted(short, key=lambda row: row["free"] / row["min_stock"])}

def survey_zones(self) -> dict:
    """Sum up how full the zones are.

    Returns:
        For each zone its <<b.many>>, how many of them are empty, the units stored and the share of room used.
    """
    zones = []
    for zone in (<<quoted(s.zones)>>):
        places = {key: place["capacity"] for key, place in self.<<b.ids>>.items() if place["zone"] == zone}
        stored = {key: capacity - self._room(key) for key, capacity in places.items()}
        used = round(sum(stored.values()) / max(1, sum(places.values())), 3)
        row = {"zone": zone, "<<b.ids>>": len(places), "empty": sum(not units for units in stored.values())}
        zones.append({**row, "stored": sum(stored.values()), "used": used})
    return {"success": True, "data": zones}
%% endif
'''
    )

    WRITES = (
        MACROS
        + '''
def <<s.receive>>_<<l.id>>(
    self, <<gid>>: str, <<bid>>: str, quantity: int, best_before: str, origin: str
) -> dict:
    """Take in a new <<l>> and put it away.

    Args:
        <<gid>>: Id of the <<g>>.
        <<bid>>: Id of the <<b>> it is put into: of the zone the <<g>> needs, and with enough room.
        quantity: Units; at least 1.
        best_before: Best-before date as YYYY-MM-DD, after today.
        origin: Who it comes from.

    Returns:
        The new <<l>>, which is available at once, or an error.
    """
<<known(g)>>
<<known(b)>>
    refuse if quantity < 1 :: The quantity must be at least 1.
    refuse if not origin.strip() :: It must be said where it comes from.
    refuse if not self._is_date(best_before) or best_before <= self.today :: {best_before!r} is no date after today.
    refuse if <<b.id>>["zone"] != <<g.id>>["zone"] :: {<<g.id>>['name']} must lie in the {<<g.id>>['zone']} zone.
%% if home
    refuse if not <<b.id>>["working"] :: The <<b>> is not working.
%% endif
    refuse if quantity > self._room(<<bid>>) :: There is room for {self._room(<<bid>>)} only.
    <<l.id>>: <<l.type>> = {
        "<<lid>>": self._next_id(self.<<l.ids>>, "<<s.lot_prefix>>"),
        "<<gid>>": <<gid>>,
        "<<bid>>": <<bid>>,
        "quantity": 0,
        "best_before": best_before,
        "origin": origin.strip(),
        "status": "available",
        "note": "",
    }
    self.<<l.ids>>[<<l.id>>["<<lid>>"]] = <<l.id>>
    self._book(<<l.id>>["<<lid>>"], "received", quantity, f"from {origin.strip()}")
    done dict(<<l.id>>) :: {quantity} of {<<g.id>>['name']} taken in.

def quarantine_<<l.id>>(self, <<lid>>: str, reason: str) -> dict:
    """Put <<l.a>> into quarantine: nothing of it may leave, and every <<t>> of it that is <<waiting[0]>> is held.

    Args:
        <<lid>>: Id of the <<l>>, which must be available.
        reason: Why, in a few words; kept as its note.

    Returns:
        The <<l>> and the ids of the <<t.many>> that are held, or an error.
    """
<<known(l)>>
    refuse if not reason.strip() :: A reason is required.
    refuse if <<l.id>>["status"] != "available" :: <<l.cap>> {<<lid>>} is {<<l.id>>['status']}.
    <<l.id>>["status"] = "quarantined"
    <<l.id>>["note"] = reason.strip()
    held = []
    for key, line in self.<<t.ids>>.items():
        if line["<<lid>>"] == <<lid>> and line["status"] == "<<waiting[0]>>":
            line["status"] = "held"
            held.append(key)
    data = {"<<l.id>>": dict(<<l.id>>), "held": held}
    done data :: <<l.cap>> {<<lid>>} is in quarantine, {len(held)} <<t.many>> held.

def release_<<l.id>>(self, <<lid>>: str) -> dict:
    """Let <<l.a>> out of quarantine; what was held of it is <<waiting[0]>> again.

    Args:
        <<lid>>: Id of the <<l>>, which must be quarantined.

    Returns:
        The <<l>> and the ids of the <<t.many>> that go on, or an error.
    """
<<known(l)>>
    refuse if <<l.id>>["status"] != "quarantined" :: <<l.cap>> {<<lid>>} is {<<l.id>>['status']}.
    freed = [x for x in self.<<t.ids>>.values() if x["<<lid>>"] == <<lid>> and x["status"] == "held"]
    for line in freed:
        line["status"] = "<<waiting[0]>>"
    <<l.id>>.update(status="available", note="")
    data = {"<<l.id>>": dict(<<l.id>>), "freed": [line["<<tid>>"] for line in freed]}
    done data :: <<l.cap>> {<<lid>>} is available again.

def recount_<<l.id>>(self, <<lid>>: str, counted: int, reason: str) -> dict:
    """Correct the quantity of <<l.a>> to what was counted, and write down the difference.

    Args:
        <<lid>>: Id of the <<l>>, which is available or quarantined.
        counted: Units that were counted: at least 1, no fewer than are promised, and no more than there is room for.
        reason: What explains the difference.

    Returns:
        The corrected <<l>>, or an error.
    """
<<known(l)>>
    refuse if not reason.strip() :: A reason is required.
    refuse if <<l.id>>["status"] not in ("available", "quarantined") :: <<l.cap>> {<<lid>>} is {<<l.id>>['status']}.
    difference = counted - <<l.id>>["quantity"]
    refuse if difference == 0 :: <<l.cap>> {<<lid>>} holds {counted} already.
    least = max(1, self._promised(<<lid>>))
    refuse if counted < least :: It cannot hold less than {least}.
    refuse if difference > self._room(<<l.id>>["<<bid>>"]) :: There is no room for so much.
    self._book(<<lid>>, "recounted", difference, reason.strip())
    done dict(<<l.id>>) :: <<l.cap>> {<<lid>>} corrected by {difference}.

%% if home
def write_off_<<l.id>>(self, <<lid>>: str, reason: str) -> dict:
%% else
def write_off_<<l.id>>(self, <<lid>>: str, <<kid>>: str, reason: str) -> dict:
%% endif
    """Throw all of <<l.a>> away, of which nothing may be promised.

    Args:
        <<lid>>: Id of the <<l>>, which is available or quarantined.
%% if not home
        <<kid>>: Id of the supervisor who approves it and is on duty.
%% endif
        reason: Why, in a few words; kept as its note.

    Returns:
        The discarded <<l>>, or an error.
    """
<<known(l)>>
    refuse if not reason.strip() :: A reason is required.
    refuse if <<l.id>>["status"] not in ("available", "quarantined") :: <<l.cap>> {<<lid>>} is {<<l.id>>['status']}.
    refuse if self._promised(<<lid>>) > 0 :: {self._promised(<<lid>>)} units of it are promised.
%% if not home
<<known(k)>>
    refuse if <<k.id>>["role"] != "supervisor" :: {<<k.id>>['name']} is no supervisor.
    refuse if not <<k.id>>["on_duty"] :: {<<k.id>>['name']} is not on duty.
%% endif
    <<l.id>>["status"] = "discarded"
    <<l.id>>["note"] = reason.strip()
%% if home
    self._book(<<lid>>, "discarded", -<<l.id>>["quantity"], reason.strip())
%% else
    self._book(<<lid>>, "discarded", -<<l.id>>["quantity"], reason.strip(), <<kid>>)
%% endif
    done dict(<<l.id>>) :: <<l.cap>> {<<lid>>} written off.

%% if home
def sign_up_<<k.id>>(self, name: str, people: int, diet: str, site: str, pick_up_day: str) -> dict:
    """Sign up a household for a parcel every week.

    Args:
        name: Name it goes under; not that of another household.
        people: How many people eat of the parcel, 1 to 12.
        diet: The diet: <<diets|join(", ")>>.
        site: Where it picks up: <<sitelist>>.
        pick_up_day: Day of the week, Monday to Friday.

    Returns:
        The new household, or an error.
    """
    refuse if not name.strip() :: A name is required.
    if name.strip().lower() in (household["name"].lower() for household in self.<<k.ids>>.values()):
        refuse :: There is a household {name.strip()} already.
    refuse if not 1 <= people <= 12 :: A household has 1 to 12 people.
    refuse if diet not in (<<quoted(diets)>>) :: There is no diet {diet!r}.
    refuse if site not in (<<quoted(s.sites)>>) :: There is no site {site!r}.
    refuse if pick_up_day not in (<<quoted(weekdays[:5])>>) :: Parcels are picked up from Monday to Friday.
    household: Household = {
        "<<kid>>": self._next_id(self.<<k.ids>>, "<<k.id[:2]|upper>>"),
        "name": name.strip(),
        "people": people,
        "diet": diet,
        "site": site,
        "pick_up_day": pick_up_day,
        "last_parcel_on": "",
    }
    self.<<k.ids>>[household["<<kid>>"]] = household
    done dict(household) :: The household of {name.strip()} comes every {pick_up_day}.

def update_<<k.id>>(self, <<kid>>: str, people: int | None = None, diet: str | None = None) -> dict:
    """Change the size or diet of a household for which no parcel is packed.

    Args:
        <<kid>>: Id of the household.
        people: How many people eat of the parcel now, 1 to 12. Leave out to keep it.
        diet: The new diet: <<diets|join(", ")>>. Leave out to keep it.

    Returns:
        The changed household, or an error.
    """
<<known(k)>>
    refuse if people is not None and not 1 <= people <= 12 :: A household has 1 to 12 people.
<<one_of("diet", "diet", diets)>>
    fresh = {name: value for name, value in (("people", people), ("diet", diet)) if value is not None}
    refuse if all(household[name] == value for name, value in fresh.items()) :: There is nothing to change.
    refuse if self._packed(<<kid>>) :: Its parcel is packed; unpack it first.
    household.update(fresh)
    done dict(household) :: The household of {household['name']} is up to date.

def pack_parcel(self, <<kid>>: str) -> dict:
    """Reserve the next parcel of a household: of each food group the batch that expires first and suits its diet.

    Args:
        <<kid>>: Id of a household without a packed parcel, whose latest one is 7 days or more before the next pick-up.

    Returns:
        The new <<t.many>>, or an error when a food group is short.
    """
<<known(k)>>
    refuse if self._packed(<<kid>>) :: The parcel of {household['name']} is packed.
    day, latest = self._pick_up(<<kid>>), household["last_parcel_on"]
    if latest and date.fromisoformat(day) - date.fromisoformat(latest) < timedelta(days=7):
        refuse :: {household['name']} had a parcel on {latest}.
    chosen, short = self._choose(<<kid>>)
    refuse if short :: There is too little of {', '.join(short)}.
    packed = []
    for part in chosen:
        line: <<t.type>> = {
            "<<tid>>": self._next_id(self.<<t.ids>>, "<<t.id[:2]|upper>>"),
            "pick_up_on": day,
            "<<lid>>": part["<<lid>>"],
            "quantity": part["packs"],
            "<<kid>>": <<kid>>,
            "status": "reserved",
        }
        self.<<t.ids>>[line["<<tid>>"]] = line
        packed.append(dict(line))
    done packed :: The parcel of {household['name']} for {day} is packed.

def hand_out_parcel(self, <<kid>>: str) -> dict:
    """Give a household its parcel of today; what is in it leaves the stock.

    Args:
        <<kid>>: Id of a household whose parcel is packed for today, with nothing of it held.

    Returns:
        The household and the <<t.many>> given, or an error.
    """
<<known(k)>>
    lines = self._packed(<<kid>>)
    refuse if not lines :: No parcel is packed for {household['name']}.
    refuse if any(line["pick_up_on"] != self.today for line in lines) :: It is for {lines[0]['pick_up_on']}.
    refuse if any(line["status"] == "held" for line in lines) :: A part of it is held; swap that first.
    for line in lines:
        line["status"] = "given"
        self._book(line["<<lid>>"], "given", -line["quantity"], f"parcel of {household['name']}")
    household["last_parcel_on"] = self.today
    data = {"household": dict(household), "given": [dict(line) for line in lines]}
    done data :: {household['name']} has got a parcel of {len(lines)} foods.

def unpack_parcel(self, <<kid>>: str) -> dict:
    """Unpack the parcel of a household that does not come; its food is free again.

    Args:
        <<kid>>: Id of a household whose parcel is packed.

    Returns:
        The <<t.many>> that were dropped, or an error.
    """
<<known(k)>>
    dropped = self._packed(<<kid>>)
    refuse if not dropped :: No parcel is packed for {household['name']}.
    for line in dropped:
        line["status"] = "dropped"
    done [dict(line) for line in dropped] :: The parcel of {household['name']} is unpacked.

def swap_<<t.id>>(self, <<tid>>: str, <<lid>>: str) -> dict:
    """Take one food of a packed parcel out of another batch, of the same group, site and within the diet.

    Args:
        <<tid>>: Id of the <<t>>, which is reserved or held.
        <<lid>>: Id of the available batch to take as much from; it must last until the pick-up.

    Returns:
        The changed <<t>>, which is reserved, or an error.
    """
<<known(t)>>
<<known(l)>>
    line, old = <<t.id>>, self.<<l.ids>>[<<t.id>>["<<lid>>"]]
    refuse if line["status"] not in ("reserved", "held") :: <<t.cap>> {<<tid>>} is {line['status']}.
    refuse if <<l.id>> is old or <<l.id>>["status"] != "available" :: <<l.cap>> {<<lid>>} does not come into question.
    groups = {self.<<g.ids>>[one["<<gid>>"]]["food_group"] for one in (old, <<l.id>>)}
    refuse if len(groups) > 1 :: It is of another food group.
    refuse if not self._suits(line["<<kid>>"], <<lid>>) :: It is not at that site, or the diet rules it out.
    refuse if <<l.id>>["best_before"] < line["pick_up_on"] :: It does not last until {line['pick_up_on']}.
    refuse if self._free(<<lid>>) < line["quantity"] :: Only {self._free(<<lid>>)} of it are free.
    line.update(<<lid>>=<<lid>>, status="reserved")
    done dict(line) :: <<t.cap>> {<<tid>>} now comes from {<<lid>>}.

def send_to_site(self, <<lid>>: str, <<bid>>: str, quantity: int) -> dict:
    """Send a part of <<l.a>> to another site, where it is <<l.a>> of its own.

    Args:
        <<lid>>: Id of an available <<l>>.
        <<bid>>: Id of a working <<b>> of the same zone at another site, with room.
        quantity: Packs to send: at least 1, fewer than there are and no more than are free.

    Returns:
        Both <<l.many>>, or an error.
    """
<<known(l)>>
<<known(b)>>
    here = self.<<b.ids>>[<<l.id>>["<<bid>>"]]
    refuse if <<l.id>>["status"] != "available" :: <<l.cap>> {<<lid>>} is {<<l.id>>['status']}.
    refuse if here["site"] == <<b.id>>["site"] :: It is at the {here['site']} already.
    refuse if here["zone"] != <<b.id>>["zone"] or not <<b.id>>["working"] :: It cannot be kept in {<<bid>>}.
    refuse if quantity < 1 or quantity > self._free(<<lid>>) :: 1 to {self._free(<<lid>>)} packs can be sent.
    refuse if quantity == <<l.id>>["quantity"] :: Some of it must stay.
    refuse if quantity > self._room(<<bid>>) :: There is room for {self._room(<<bid>>)} only.
    part: <<l.type>> = {
        **<<l.id>>, "<<lid>>": self._next_id(self.<<l.ids>>, "<<s.lot_prefix>>"), "<<bid>>": <<bid>>, "quantity": 0
    }
    self.<<l.ids>>[part["<<lid>>"]] = part
    self._book(<<lid>>, "sent", -quantity, f"to the {<<b.id>>['site']}")
    self._book(part["<<lid>>"], "received", quantity, f"from the {here['site']}")
    data = {"kept": dict(<<l.id>>), "sent": dict(part)}
    done data :: {quantity} packs sent to the {<<b.id>>['site']}.

def clear_<<b.id>>(self, <<bid>>: str, reason: str) -> dict:
    """Clear <<b.a>> that has failed: all in it is waste, also where it was packed for somebody.

    Args:
        <<bid>>: Id of a working <<b>> in which something is.
        reason: What happened.

    Returns:
        The <<b>>, the <<l.many>> lost and the <<t.many>> dropped for it, or an error.
    """
<<known(b)>>
    refuse if not reason.strip() :: A reason is required.
    refuse if not <<b.id>>["working"] :: <<b.cap>> {<<bid>>} has been cleared.
    lost = [one for one in self.<<l.ids>>.values() if one["<<bid>>"] == <<bid>> and one["quantity"] > 0]
    refuse if not lost :: <<b.cap>> {<<bid>>} is empty.
    dropped = []
    for <<l.id>> in lost:
        for line in self.<<t.ids>>.values():
            if line["<<lid>>"] == <<l.id>>["<<lid>>"] and line["status"] in (<<quoted(waiting)>>):
                line["status"] = "dropped"
                dropped.append(dict(line))
        <<l.id>>.update(status="discarded", note=reason.strip())
        self._book(<<l.id>>["<<lid>>"], "discarded", -<<l.id>>["quantity"], reason.strip())
    <<b.id>>["working"] = False
    data = {"<<b.id>>": dict(<<b.id>>), "lost": [dict(<<l.id>>) for <<l.id>> in lost], "dropped": dropped}
    done data :: {len(lost)} <<l.many>> are waste, {len(dropped)} <<t.many>> dropped.
%% else
def move_<<l.id>>(self, <<lid>>: str, <<bid>>: str) -> dict:
    """Move all of <<l.a>> into another <<b>> of its zone.

    Args:
        <<lid>>: Id of <<l.a>> of which something is left.
        <<bid>>: Id of another <<b>> of the same zone, with room for all of it.

    Returns:
        The moved <<l>>, or an error.
    """
<<known(l)>>
<<known(b)>>
    old = self.<<b.ids>>[<<l.id>>["<<bid>>"]]
    refuse if <<l.id>>["quantity"] == 0 :: Nothing is left of {<<lid>>}.
    refuse if old is <<b.id>> :: It lies in {old['label']} already.
    refuse if old["zone"] != <<b.id>>["zone"] :: {<<b.id>>['label']} is not in the {old['zone']} zone.
    refuse if <<l.id>>["quantity"] > self._room(<<bid>>) :: {<<b.id>>['label']} has room for {self._room(<<bid>>)} only.
    <<l.id>>["<<bid>>"] = <<bid>>
    done dict(<<l.id>>) :: <<l.cap>> {<<lid>>} moved from {old['label']} to {<<b.id>>['label']}.

def plan_<<t.ids>>(self, customer: str, ship_on: str, <<gid>>: str, quantity: int) -> dict:
    """Plan what to pick for an order, first expiring first, from as many <<l.many>> as it takes.

    It joins the open pick list of that customer and day; when there is none, a new one gets the next number.

    Args:
        customer: Who ordered.
        ship_on: Date of shipping as YYYY-MM-DD, not in the past; what is picked must last until then.
        <<gid>>: Id of the <<g>>.
        quantity: Units ordered; at least 1 and no more than are free.

    Returns:
        The new <<t.many>>, open and given to nobody, or an error.
    """
<<known(g)>>
    refuse if not customer.strip() :: The customer is missing.
    refuse if not self._is_date(ship_on) or ship_on < self.today :: {ship_on!r} is no date from today on.
    refuse if quantity < 1 :: The quantity must be at least 1.
    order = (customer.strip(), ship_on, "open")
    others = [x for x in self.<<t.ids>>.values() if (x["customer"], x["ship_on"], x["status"]) == order]
    highest = max((x["pick_list"] for x in self.<<t.ids>>.values()), default=0)
    number = min((x["pick_list"] for x in others), default=highest + 1)
    left, shares = quantity, []
    for <<l.id>> in self._in_order(<<gid>>):
        share = min(left, self._free(<<l.id>>["<<lid>>"]))
        if <<l.id>>["best_before"] >= ship_on and share > 0:
            shares.append((<<l.id>>["<<lid>>"], share))
            left -= share
    refuse if left > 0 :: {left} units are missing for {ship_on}.
    planned = []
    for <<lid>>, share in shares:
        pick: <<t.type>> = {
            "<<tid>>": self._next_id(self.<<t.ids>>, "<<t.id[:2]|upper>>"),
            "pick_list": number,
            "customer": customer.strip(),
            "ship_on": ship_on,
            "<<lid>>": <<lid>>,
            "quantity": share,
            "<<kid>>": None,
            "status": "open",
        }
        self.<<t.ids>>[pick["<<tid>>"]] = pick
        planned.append(dict(pick))
    done planned :: Pick list {number} has {len(planned)} more <<t.many>>.

def split_pick_list(self, pick_list: int, first_<<kid>>: str, second_<<kid>>: str) -> dict:
    """Share the open <<t.many>> of a pick list between two people, the largest first, each to who has less to pick.

    Args:
        pick_list: Number of the pick list, with two open <<t.many>> or more.
        first_<<kid>>: Id of a worker on duty, who gets the larger one when both have as much to pick.
        second_<<kid>>: Id of another worker on duty.

    Returns:
        The <<t.many>> of the list as they are shared, or an error.
    """
    pair = (first_<<kid>>, second_<<kid>>)
    for key in pair:
        refuse if key not in self.<<k.ids>> :: There is no worker with the id {key!r}.
        refuse if not self.<<k.ids>>[key]["on_duty"] :: {self.<<k.ids>>[key]['name']} is not on duty.
    refuse if pair[0] == pair[1] :: It takes two people.
    picks = [x for x in self.<<t.ids>>.values() if x["pick_list"] == pick_list and x["status"] == "open"]
    refuse if len(picks) < 2 :: Pick list {pick_list} has {len(picks)} open <<t.many>>.
    loads = {key: self._load(key) - sum(x["quantity"] for x in picks if x["<<kid>>"] == key) for key in pair}
    shared = {}
    for pick in sorted(picks, key=lambda x: (-x["quantity"], x["<<tid>>"])):
        fit = [key for key in pair if self._may_fetch(key, pick["<<lid>>"])]
        refuse if not fit :: Neither is trained for the <<cold>> zone.
        key = min(fit, key=lambda one: loads[one])
        loads[key] += pick["quantity"]
        shared[pick["<<tid>>"]] = key
    refuse if all(pick["<<kid>>"] == shared[pick["<<tid>>"]] for pick in picks) :: It is shared so already.
    for pick in picks:
        pick["<<kid>>"] = shared[pick["<<tid>>"]]
    done [dict(pick) for pick in picks] :: Pick list {pick_list} is shared.

def confirm_<<t.id>>(self, <<tid>>: str) -> dict:
    """Confirm that a <<t>> has been fetched; it leaves the stock.

    Args:
        <<tid>>: Id of the <<t>>, which must be open and given to somebody.

    Returns:
        The <<t>> and its <<l>>, or an error.
    """
<<known(t)>>
    refuse if <<t.id>>["status"] != "open" :: <<t.cap>> {<<tid>>} is {<<t.id>>['status']}.
    refuse if <<t.id>>["<<kid>>"] is None :: <<t.cap>> {<<tid>>} is given to nobody.
    <<t.id>>["status"] = "picked"
    self._book(<<t.id>>["<<lid>>"], "picked", -<<t.id>>["quantity"], f"pick list {<<t.id>>['pick_list']}")
    data = {"<<t.id>>": dict(<<t.id>>), "<<l.id>>": dict(self.<<l.ids>>[<<t.id>>["<<lid>>"]])}
    done data :: {<<t.id>>['quantity']} units picked for {<<t.id>>['customer']}.

def hand_over_<<t.ids>>(self, from_<<kid>>: str, to_<<kid>>: str) -> dict:
    """Give all open <<t.many>> of one worker to another.

    Args:
        from_<<kid>>: Id of the worker who has open <<t.many>>.
        to_<<kid>>: Id of another worker, on duty and trained for wherever they lie.

    Returns:
        The <<t.many>> handed over, or an error.
    """
    for key in (from_<<kid>>, to_<<kid>>):
        refuse if key not in self.<<k.ids>> :: There is no worker with the id {key!r}.
    refuse if from_<<kid>> == to_<<kid>> :: It is the same person.
    refuse if not self.<<k.ids>>[to_<<kid>>]["on_duty"] :: {self.<<k.ids>>[to_<<kid>>]['name']} is not on duty.
    mine = [x for x in self.<<t.ids>>.values() if x["<<kid>>"] == from_<<kid>> and x["status"] == "open"]
    refuse if not mine :: There is nothing to hand over.
    if not all(self._may_fetch(to_<<kid>>, x["<<lid>>"]) for x in mine):
        refuse :: {self.<<k.ids>>[to_<<kid>>]['name']} is not trained for the <<cold>> zone.
    for pick in mine:
        pick["<<kid>>"] = to_<<kid>>
    done [dict(pick) for pick in mine] :: {len(mine)} <<t.many>> handed over.

def cancel_pick_list(self, pick_list: int) -> dict:
    """Cancel what has not been picked of a pick list; the units are free again.

    Args:
        pick_list: Number of the pick list, with something open or held.

    Returns:
        The cancelled <<t.many>>, or an error.
    """
    rest = [x for x in self.<<t.ids>>.values() if x["pick_list"] == pick_list and x["status"] in ("open", "held")]
    refuse if not rest :: Nothing is open on pick list {pick_list}.
    for pick in rest:
        pick["status"] = "cancelled"
    done [dict(pick) for pick in rest] :: {len(rest)} <<t.many>> of pick list {pick_list} cancelled.
%% endif
'''
    )

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        for n, good in enumerate(v.s.goods):
            key = key_of(v.s.good_prefix, n + 1)
            row = {v.gid: key, "name": good.name, "zone": good.zone}
            if v.home:
                row |= {"food_group": good.group, "contains": good.contains}
            else:
                row |= {"number": good.number, "min_stock": good.minimum}
            state[v.g.ids][key] = row
        (self._fill_pantry if v.home else self._fill_warehouse)(v, state, rng)
        for lot in shuffled(rng, [x for x in state[v.l.ids].values() if x["quantity"]])[:2]:
            lot.update(status="quarantined", note=pick(rng, v.s.faults))
            for line in state[v.t.ids].values():
                if line[v.lid] == lot[v.lid] and line["status"] == v.waiting[0]:
                    line["status"] = "held"

    def _lot(self, v: SimpleNamespace, state: State, rng: Rng, good: Row, bin_: str, quantity: int) -> None:
        """A lot that came in some time ago, some of them counted since."""
        key, today = key_of(v.s.lot_prefix, len(state[v.l.ids]) + 1), state["today"]
        since, origin = int(rng.integers(6, 60)), pick(rng, v.s.origins)
        row = {v.lid: key, v.gid: good[v.gid], v.bid: bin_, "quantity": 0}
        lasting = later(today, int(rng.integers(9, 120)))
        state[v.l.ids][key] = {
            **row,
            "best_before": lasting,
            "origin": origin,
            "status": "available",
            "note": "",
        }
        self._entry(v, state, key, "received", quantity, f"from {origin}", -since)
        if rng.random() < 0.12:
            why = pick(rng, v.s.differences)
            self._entry(v, state, key, "recounted", -int(rng.integers(1, 4)), why, -since // 2)

    def _entry(
        self, v: SimpleNamespace, state: State, lot: str, kind: str, change: int, note: str, day: int
    ) -> None:
        """A change of a lot's quantity, so many days from today."""
        key = key_of(v.e.id[:2].upper(), len(state[v.e.ids]) + 1)
        row = {v.eid: key, v.lid: lot, "kind": kind, "change": change, "note": note}
        made = {"made_on": later(state["today"], day)}
        state[v.e.ids][key] = {**row, **made, **({} if v.home else {v.kid: None})}
        state[v.l.ids][lot]["quantity"] += change

    def _line(self, v: SimpleNamespace, state: State, **fields: Any) -> None:
        """A pick or parcel line."""
        key = key_of(v.t.id[:2].upper(), len(state[v.t.ids]) + 1)
        state[v.t.ids][key] = {v.tid: key, **fields}

    def _fill_warehouse(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, goal, today = v.s, OrderGoal(v, []), state["today"]
        for zone, count in zip(s.zones, (5, 4, 4), strict=True):
            for n in range(count):
                key = key_of(s.bin_prefix, len(state[v.b.ids]) + 1)
                label = f"{zone[0].upper()}-{n + 1:02d}"
                capacity = pick(rng, (40, 60, 80, 120))
                state[v.b.ids][key] = {v.bid: key, "label": label, "zone": zone, "capacity": capacity}
        for good in [*state[v.g.ids].values()] * 2:
            quantity = int(rng.integers(9, 31))
            bins = [x for x in state[v.b.ids].values() if x["zone"] == good["zone"]]
            fit = [x for x in bins if goal.room(x, state) >= quantity]
            if fit:
                self._lot(v, state, rng, good, pick(rng, fit)[v.bid], quantity)
        cold = shuffled(rng, [True, True, True, False, False])
        for n, name in enumerate(names.people(rng, 7)):
            key = key_of(v.k.id[:2].upper(), n + 1)
            role = "supervisor" if n in (1, 4) else "picker"
            trained = role == "supervisor" or cold.pop()
            state[v.k.ids][key] = {
                v.kid: key,
                "name": name,
                "role": role,
                "cold_training": trained,
                "on_duty": n != 5,
            }
        number = int(rng.integers(310, 890))
        for n, client in enumerate(shuffled(rng, s.clients)[:5]):
            day = later(today, n % 3 + 1) if n != 3 else today
            for good in shuffled(rng, list(state[v.g.ids].values()))[:3]:
                try:
                    parts = goal.shares(state, good[v.gid], int(rng.integers(4, 19)), day)
                except LookupError:
                    continue
                for lot, take in parts:
                    hands = [x for x in state[v.k.ids].values() if goal.fit(x, lot[v.lid], state)]
                    worker = pick(rng, hands)[v.kid] if n > 1 else None
                    order = {"pick_list": number + n, "customer": client, "ship_on": day}
                    line = {**order, v.lid: lot[v.lid], "quantity": take, v.kid: worker}
                    self._line(v, state, **line, status="picked" if n == 3 else "open")
                    if n == 3:
                        self._entry(v, state, lot[v.lid], "picked", -take, f"pick list {number + n}", 0)
        self._empty(v, state)

    def _fill_pantry(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, goal, today = v.s, HomeGoal(v, []), state["today"]
        for site in s.sites:
            for zone in [s.zones[0], *s.zones]:
                key = key_of(s.bin_prefix, len(state[v.b.ids]) + 1)
                state[v.b.ids][key] = {
                    v.bid: key,
                    "site": site,
                    "zone": zone,
                    "capacity": 0,
                    "working": True,
                }
        for site in s.sites:
            for good in state[v.g.ids].values():
                units = [x for x in state[v.b.ids].values() if (x["site"], x["zone"]) == (site, good["zone"])]
                self._lot(v, state, rng, good, pick(rng, units)[v.bid], int(rng.integers(14, 48)))
        for unit in state[v.b.ids].values():
            used = -goal.room(unit, state)
            unit["capacity"] = (used // 10 + int(rng.integers(3, 9))) * 10
        monday = WEEKDAYS[date.fromisoformat(today).weekday()]
        days = [monday, monday, monday, *shuffled(rng, [*WEEKDAYS[1:5], monday, *WEEKDAYS[2:4]])]
        for n, name in enumerate(names.people(rng, 9)):
            key = key_of(v.k.id[:2].upper(), n + 1)
            size, diet = int(rng.integers(1, 7)), pick(rng, v.diets)
            home = {v.kid: key, "name": name, "people": size, "diet": diet, "site": s.sites[n % len(s.sites)]}
            state[v.k.ids][key] = home | {"pick_up_day": days[n], "last_parcel_on": ""}
            home = state[v.k.ids][key]
            try:
                parts = goal.parcel(home, state)
            except LookupError:
                continue
            day, given = goal.pick_up(home, state), n >= 7
            for lot, packs in parts if n < 4 or given else ():
                on = later(day, -7) if given else day
                status = "given" if given else "reserved"
                line = {"pick_up_on": on, v.lid: lot[v.lid], "quantity": packs, v.kid: key}
                self._line(v, state, **line, status=status)
                if given:
                    ago = (date.fromisoformat(on) - date.fromisoformat(today)).days
                    self._entry(v, state, lot[v.lid], "given", -packs, f"parcel of {name}", ago)
                    home["last_parcel_on"] = on
        self._empty(v, state)

    def _empty(self, v: SimpleNamespace, state: State) -> None:
        """What is used up is called so."""
        for lot in state[v.l.ids].values():
            if lot["quantity"] == 0:
                lot["status"] = "empty"


PATTERN = Bins
