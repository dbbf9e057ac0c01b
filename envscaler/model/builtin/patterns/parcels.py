"""Parcels: a pantry that packs parcels for households out of donated batches, by size and diet, at several sites."""

from datetime import date
from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin import names
from envscaler.model.builtin.pattern import (
    Added,
    Changed,
    Noun,
    Outcome,
    Rng,
    RuleText,
    State,
    call,
    either,
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

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class ParcelsSettings(StockSettings):
    """A pantry's words and numbers."""

    sites: list[str]
    """Where parcels are given out."""
    diets: dict[str, list[str]]
    """Diet → what it rules out."""
    rations: dict[str, int]
    """Food group → people that one pack is for."""
    failures: list[str]
    """Why all in a unit is lost."""


class TakeInDonation(TakeIn):
    """A donation arrives at a site."""

    phrases = (
        "{origin:name} has brought {quantity:int} packs of {good:name}, best before {until:date}; take them in at "
        "the {site:name}, into the <<b>> there in which the least room is left over.",
        "Please take in {quantity:int} packs of {good:name} given by {origin:name}, best before {until:date}, at the "
        "{site:name}, and use the <<b>> with the least room that takes them all.",
    )


class ThrowAway(WriteOff):
    """A batch is thrown away."""

    phrases = (
        'Please throw away the available <<l>> of {good:name} that expires first; the reason is "{loss:text}".',
        "The available <<l>> of {good:name} with the nearest best-before date has to be written off, the reason being "
        '"{loss:text}".',
    )
    needs = ("find_<<g.ids>>", "list_<<l.ids>>", "write_off_<<l.id>>")


class HomeGoal(StockGoal):
    """What goals about households and their parcels share."""

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
        """The next day on which a household comes, perhaps today if it has not been there."""
        days = WEEKDAYS.index(home["pick_up_day"]) - date.fromisoformat(state["today"]).weekday()
        return later(state["today"], days % 7 or 7 * (home["last_parcel_on"] == state["today"]))

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
        lot = self.soonest(lots)
        if self.free(lot, state) < slots["quantity"] or lot["quantity"] == slots["quantity"]:
            raise LookupError("there is not so much to send")
        bin_ = self.snug(state, good["zone"], slots["quantity"], slots["other"])
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


class Parcels(Stock):
    """A pantry."""

    Settings = ParcelsSettings
    home = True
    GOALS: ClassVar = (
        TakeInDonation, Quarantine, QuarantineInOwnWords, Recount, ThrowAway, Pack, HandOut,
        Missed, Swap, Resize, SignUp, SendPart, ClearUnit,
    )  # fmt: skip

    def vocabulary(self, s: ParcelsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        diets = ", ".join(f'"{diet}": {tuple(out)!r}' for diet, out in s.diets.items())
        return {
            **super().vocabulary(s, shared),
            "sitelist": either(s.sites),
            "groups": list(s.rations),
            "diets": list(s.diets),
            "diet_code": diets.replace("'", '"'),
            "ration_code": ", ".join(f'"{group}": {people}' for group, people in s.rations.items()),
            "weekdays": WEEKDAYS,
        }

    def own(self, v: SimpleNamespace) -> dict[str, str]:
        return {
            "about": "A household that is signed up for parcels.",
            "b": f"""
                site: str = where it stands: {v.sitelist}
                working: bool = False after it has failed
            """,
            "g": f"""
                food_group: str = {either(v.groups)}
                contains: str = what some diets rule out, or nothing
            """,
            "k": f"""
                people: int = how many people eat of the parcel
                diet: str = {either(v.diets)}
                site: str = where it picks up its parcels
                pick_up_day: str = day of the week on which it comes
                last_parcel_on: str = date of its latest parcel as YYYY-MM-DD, or empty
            """,
            "t": f"""
                pick_up_on: str = date of the parcel, as YYYY-MM-DD
                {v.kid}: str = the {v.k} it is for
            """,
            "e": "note: str = why, or for whose parcel",
        }

    RULES = (
        *_stock.RULES,
        RuleText(
            "No parcel includes what the diet of its household rules out.",
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
            rank=2,
        ),
    )

    HELPERS = (
        _stock.HELPERS
        + '''
    def _pick_up(self, <<kid>>: str) -> str:
        """Return the next date on which a household comes, today only if it has not had a parcel today."""
        days, household = [<<quoted(weekdays)>>], self.<<k.ids>>[<<kid>>]
        today = date.fromisoformat(self.today)
        ahead = (days.index(household["pick_up_day"]) - today.weekday()) % 7
        if ahead == 0 and household["last_parcel_on"] == self.today:
            ahead = 7
        return (today + timedelta(days=ahead)).isoformat()

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
'''
    )

    READS = (
        _stock.READS
        + '''
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
'''
    )

    WRITES = (
        _stock.WRITES
        + '''
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
'''
    )

    def _fill(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
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


PATTERN = Parcels
