"""Stock: goods in lots with best-before dates and the places of limited room they lie in.

What `bins` (a warehouse) and `parcels` (a pantry) share: `home` is true in a pantry. This module is no pattern.
"""

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
from envscaler.model.builtin.patterns._brief import form
from envscaler.model.builtin.patterns._snippets import MACROS
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

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


class StockSettings(Settings):
    """A store's words and numbers."""

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
    faults: list[str]
    """Why a lot is put into quarantine."""
    differences: list[str]
    """Why a recount differs."""
    losses: list[str]
    """Why a lot is thrown away."""


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
        least = min(self.room(x, state) for x in bins)
        return dict(only([x for x in bins if self.room(x, state) == least]))

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
        return self.soonest(self.lots(state, named(state, self.v.g, slots["good"])[self.v.gid]))

    def soonest(self, lots: list[Row]) -> Row:
        """The one of these lots that expires first; two of one day are a draw."""
        days = [x["best_before"] for x in lots]
        return dict(only([x for x in lots if x["best_before"] == min(days)]))

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
        "Of {good:name}, the available <<l>> that expires first has been counted: it holds {counted:int} "
        '<<"packs" if home else "units">>, with the reason "{why:text}", so correct it.',
        'Please correct the quantity to {counted:int} <<"packs" if home else "units">> for the available <<l>> of '
        '{good:name} with the nearest best-before date; "{why:text}" explains the difference.',
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
        'Please write off the available <<l>> of {good:name} that expires first because of "{loss:text}", approved '
        "by {name:name}.",
        "{name:name} approves that the available <<l>> of {good:name} with the nearest best-before date is written "
        'off: "{loss:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = (
        "find_<<g.ids>>",
        "list_<<l.ids>>",
        "find_<<k.ids>>",
        "write_off_<<l.id>>",
    )

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


# Templates

RULES = (
    RuleText(
        "<<b.a|capitalize>> holds at most as many units as its capacity.",
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
        "Nothing is <<'reserved' if home else 'picked'>> whose best-before date is earlier than the day it leaves.",
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
)

HELPERS = '''
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
'''

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
'''
)


def _begun(noun: Noun) -> str:
    return noun.a[:1].upper() + noun.a[1:]


class Stock(Pattern):
    """Goods in lots, and the bins they lie in."""

    IMPORTS = ("from datetime import date, timedelta",)
    home: ClassVar[bool]
    """Whether parcels for households are packed, and not orders picked."""

    def vocabulary(self, s: Any, shared: dict[str, Noun]) -> dict[str, Any]:
        nouns = {
            "b": Noun(s.bin),
            "g": Noun(s.good),
            "l": Noun(s.lot),
            "e": Noun(s.entry),
            "k": Noun("household" if self.home else "worker"),
            "t": Noun("parcel line" if self.home else "pick"),
        }
        lines = (
            ("reserved", "held", "given", "dropped") if self.home else ("open", "held", "picked", "cancelled")
        )
        return {
            **nouns,
            **{f"{letter}id": f"{noun.id}_id" for letter, noun in nouns.items()},
            "home": self.home,
            "cold": s.zones[-1],
            "waiting": lines[:2],
            "statuses": ("available", "quarantined", "empty", "discarded"),
            "line_statuses": lines,
            "zonelist": either(s.zones),
        }

    def own(self, v: SimpleNamespace) -> dict[str, str]:
        """The attributes that only one of the worlds has: letter of the noun → lines of its form."""
        raise NotImplementedError

    def tables(self, v: SimpleNamespace) -> list[Table]:
        own, s = {letter: text.strip() for letter, text in self.own(v).items()}, v.s
        kinds = "sent or given" if v.home else "or picked"
        return [
            form(v.b, f"{_begun(v.b)} of limited room.", f"""
                {v.bid}: str = unique id, e.g. {s.bin_prefix}-001
                zone: str = {v.zonelist}
                capacity: int = units that fit in
                {own["b"]}
            """),
            form(v.g, f"{_begun(v.g)} that is kept in stock.", f"""
                {v.gid}: str = unique id, e.g. {s.good_prefix}-001
                name: str = what it is called
                zone: str = where it must lie: {v.zonelist}
                {own["g"]}
            """),
            form(v.l, f"{_begun(v.l)}: what came in together and expires together.", f"""
                {v.lid}: str = unique id, e.g. {s.lot_prefix}-001
                {v.gid}: str = the {v.g}
                {v.bid}: str = the {v.b} it lies in
                quantity: int = units left
                best_before: str = date, as YYYY-MM-DD
                origin: str = who it came from
                status: str = {either(v.statuses)}
                note: str = why it is quarantined or discarded, otherwise empty
            """),
            form(v.k, own["about"], f"""
                {v.kid}: str = unique id, e.g. {v.k.id[:2].upper()}-001
                name: str = full name
                {own["k"]}
            """),
            form(v.t, f"{_begun(v.t)}: how much of {v.l.a} is for whom.", f"""
                {v.tid}: str = unique id, e.g. {v.t.id[:2].upper()}-001
                {v.lid}: str = the {v.l} it comes from
                quantity: int = units
                status: str = {either(v.line_statuses)}
                {own["t"]}
            """),
            form(v.e, f"A change of the quantity of {v.l.a}.", f"""
                {v.eid}: str = unique id, e.g. {v.e.id[:2].upper()}-001
                {v.lid}: str = the {v.l}
                kind: str = received, recounted, discarded, {kinds}
                change: int = units, below 0 for what left
                {own["e"]}
                made_on: str = date, as YYYY-MM-DD
            """),
        ]  # fmt: skip

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        for n, good in enumerate(v.s.goods):
            key = key_of(v.s.good_prefix, n + 1)
            row = {v.gid: key, "name": good.name, "zone": good.zone}
            if v.home:
                row |= {"food_group": good.group, "contains": good.contains}
            else:
                row |= {"number": good.number, "min_stock": good.minimum}
            state[v.g.ids][key] = row
        self._fill(v, state, rng)
        for lot in state[v.l.ids].values():
            lot.update(status=lot["status"] if lot["quantity"] else "empty")
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

    def _fill(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        """The bins, lots, people and lines of one of the worlds."""
        raise NotImplementedError
