"""Bins: a warehouse that picks orders out of lots: pick lists shared among workers, write-offs by supervisors."""

from types import SimpleNamespace
from typing import ClassVar

from envscaler.model.builtin import names
from envscaler.model.builtin.pattern import (
    Added,
    Changed,
    Outcome,
    Rng,
    RuleText,
    State,
    call,
    found,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns import _stock
from envscaler.model.builtin.patterns._stock import (
    Quarantine,
    QuarantineInOwnWords,
    Recount,
    Row,
    Stock,
    StockGoal,
    StockSettings,
    TakeIn,
    WriteOff,
)
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots


class BinsSettings(StockSettings):
    """A warehouse's words and numbers."""

    clients: list[str]
    """Customers."""


class MoveLot(Recount):
    """A lot goes into another bin."""

    phrases = (
        "The {good:name} in <<b>> {label:token} should move to the other <<b>> of its zone that has the least room "
        "but takes all of it.",
        "Please move the <<l>> of {good:name} out of <<b>> {label:token} into the other <<b>> where it leaves the "
        "least room.",
    )
    needs = ("find_<<g.ids>>", "list_<<l.ids>>", "find_room", "move_<<l.id>>")

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
            worker = only([x for x in fit if loads[x[v.kid]] == min(loads[y[v.kid]] for y in fit)])
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
        one = only([x for x in rows if x["quantity"] == max(y["quantity"] for y in rows)])
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
        least = min(self.load(state, x[v.kid]) for x in hands)
        other = only([x for x in hands if self.load(state, x[v.kid]) == least])
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


class Bins(Stock):
    """A warehouse."""

    Settings = BinsSettings
    home = False
    GOALS: ClassVar = (
        TakeIn, Quarantine, QuarantineInOwnWords, Recount, WriteOff, MoveLot,
        PlanPicks, SplitList, ConfirmPick, HandOver, CancelList,
    )  # fmt: skip

    def own(self, v: SimpleNamespace) -> dict[str, str]:
        return {
            "about": "Somebody who works in the warehouse.",
            "b": "label: str = label on the shelf, e.g. A-04, unique",
            "g": """
                number: str = article number
                min_stock: int = free stock below which it is to be ordered
            """,
            "k": f"""
                role: str = picker or supervisor
                cold_training: bool = whether they may work in the {v.cold} zone
                on_duty: bool = whether they are at work today
            """,
            "t": f"""
                pick_list: int = number of the pick list it is on
                customer: str = who ordered
                ship_on: str = date of shipping, as YYYY-MM-DD
                {v.kid}: str | None = who fetches it; None before it is given to somebody
            """,
            "e": f"""
                note: str = why, or the number of the pick list
                {v.kid}: str | None = the supervisor who approved a write-off, otherwise None
            """,
        }

    RULES = (
        *_stock.RULES,
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
        ),
        RuleText(
            "Only workers with cold training are authorised to pick in the <<cold>> zone.",
            """
            lots, bins, staff = rows(after, "<<l.ids>>"), rows(after, "<<b.ids>>"), rows(after, "<<k.ids>>")
            for row in rows(after, "<<t.ids>>").values():
                worker, lot = staff.get(str(row.get("<<kid>>"))), lots.get(str(row.get("<<lid>>"))) or {}
                if worker and row.get("status") == "open" and not worker.get("cold_training"):
                    if (bins.get(str(lot.get("<<bid>>"))) or {}).get("zone") == "<<cold>>":
                        return False
            return True
            """,
        ),
    )

    HELPERS = (
        _stock.HELPERS
        + '''
    def _load(self, <<kid>>: str) -> int:
        """Return how many units a worker has still to pick."""
        mine = [pick for pick in self.<<t.ids>>.values() if pick["<<kid>>"] == <<kid>>]
        return sum(pick["quantity"] for pick in mine if pick["status"] == "open")

    def _may_fetch(self, <<kid>>: str, <<lid>>: str) -> bool:
        """Tell whether a worker may go where <<l.a>> lies."""
        zone = self.<<b.ids>>[self.<<l.ids>>[<<lid>>]["<<bid>>"]]["zone"]
        return zone != "<<cold>>" or self.<<k.ids>>[<<kid>>]["cold_training"]
'''
    )

    READS = (
        _stock.READS
        + '''
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
    refuse if ship_on is not None and not self._is_date(ship_on) :: {ship_on!r} is not a date as YYYY-MM-DD.
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
        lasting = [one for one in self._in_order(<<gid>>) if one["best_before"] >= self.today]
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
'''
    )

    WRITES = (
        _stock.WRITES
        + '''
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
'''
    )

    def _fill(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, goal, today = v.s, OrderGoal(v, []), state["today"]
        for zone, count in zip(s.zones, (5, 4, 4), strict=True):
            sizes = shuffled(rng, (40, 60, 80, 100, 120))
            for n in range(count):
                key = key_of(s.bin_prefix, len(state[v.b.ids]) + 1)
                label = f"{zone[0].upper()}-{n + 1:02d}"
                state[v.b.ids][key] = {v.bid: key, "label": label, "zone": zone, "capacity": sizes[n]}
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
                    worker = pick(rng, hands)[v.kid] if n > 0 else None
                    order = {"pick_list": number + n, "customer": client, "ship_on": day}
                    line = {**order, v.lid: lot[v.lid], "quantity": take, v.kid: worker}
                    self._line(v, state, **line, status="picked" if n == 3 else "open")
                    if n == 3:
                        self._entry(v, state, lot[v.lid], "picked", -take, f"pick list {number + n}", 0)


PATTERN = Bins
