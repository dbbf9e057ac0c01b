"""Attendance: children in groups with enough carers, who came, who may collect them, and who waits for a place."""

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
    either,
    in_own_words,
    key_of,
    named,
    only,
    pick,
    shuffled,
)  # fmt: skip
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]


class AttendanceSettings(Settings):
    """What a day care calls its groups, and what happens there."""

    groups: dict[str, int]
    """Name → children one carer may look after."""
    rooms: list[str]
    """A room for each group."""
    relations: dict[str, list[str]]
    """Who may collect a child → given names; the first two are the parents."""
    allergens: list[str]
    """What children are allergic to."""
    absences: list[str]
    """Why children stay away."""
    illnesses: list[str]
    """Why children are sent home."""
    incidents: dict[str, list[str]]
    """Kind → what happened; `illness` is kept for children sent home."""


class CareGoal(Goal):
    """What goals of a day care share."""

    def child(self, slots: Slots, state: State) -> Row:
        """The child a sentence names."""
        return named(state, self.v.child, slots["name"])

    def entry(self, child: Row, state: State, status: str) -> Row:
        """Today's entry of a child, which has this status."""
        wanted = {"child_id": child["child_id"], "day": state["today"], "status": status}
        rows = state["day_entries"].values()
        return dict(only([e for e in rows if all(e[k] == w for k, w in wanted.items())]))

    def room(self, group: Row, state: State) -> list[Row]:
        """The groups in the room of a group, the one whose room it is first."""
        host = group["hosted_by_id"] or group["playgroup_id"]
        guests = [g for g in state["playgroups"].values() if g["hosted_by_id"] == host]
        return [state["playgroups"][host], *guests]

    def spare(self, groups: list[Row], state: State) -> int:
        """How many more children the carers of these groups may look after in one room."""
        keys = [g["playgroup_id"] for g in groups]
        here = [e["child_id"] for e in state["day_entries"].values() if e["status"] == "present"]
        present = sum(state["children"][c]["playgroup_id"] in keys for c in here)
        return int(sum(g["carers"] for g in groups) * min(g["children_per_carer"] for g in groups) - present)

    def changed(self, entry: Row, item: str, state: State, **fields: Any) -> Changed:
        """Today's entry has these values; its child and its room are concerned."""
        group = state["playgroups"][state["children"][entry["child_id"]]["playgroup_id"]]
        also = (entry["child_id"], f"room {self.room(group, state)[0]['playgroup_id']}")
        return Changed("day_entries", entry["day_entry_id"], fields, item, also)

    def anyone(self, state: State, rng: Rng, status: str = "") -> Row:
        """A child, with this status today."""
        rows = [e for e in state["day_entries"].values() if e["day"] == state["today"]]
        rows = [e for e in rows if status in ("", e["status"])]
        if not rows:
            raise LookupError(f"nobody is {status}")
        return dict(state["children"][any_of(rng, rows)["child_id"]])


class CheckIn(CareGoal):
    """Two children arrive together."""

    phrases = (
        "{name:name} and {other:name} were brought in together at {at:time}, please check both children in.",
        "Please check {name:name} and {other:name} in, who arrived together at {at:time}.",
    )
    needs = ("find_children", "check_in")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one, two = (self.anyone(state, rng, "expected")["name"] for _ in range(2))
        at = f"{9 + int(rng.integers(2)):02d}:{5 * int(rng.integers(2, 12)):02d}"
        return {"name": one, "other": two, "at": at} if one != two else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        both = ("find_children name", "find_children name=other")
        each = (f"check_in child_id<{n}/0/child_id arrived_at=at" for n in (0, 1))
        return steps(slots, *both, *each)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        children = [named(state, self.v.child, slots[which]) for which in ("name", "other")]
        groups = [state["playgroups"][c["playgroup_id"]] for c in children]
        rooms = [self.room(group, state) for group in groups]
        if any(self.spare(room, state) < sum(room[0] is other[0] for other in rooms) for room in rooms):
            raise LookupError("the room is full")
        item, arrived = "Has {} been checked in at {}?", {"status": "present", "arrived_at": slots["at"]}
        return [
            self.changed(
                self.entry(c, state, "expected"), item.format(c["name"], slots["at"]), state, **arrived
            )
            for c in children
        ]


class Collect(CareGoal):
    """A child is collected by somebody on its list."""

    phrases: ClassVar[tuple[str, ...]] = (
        "{name:name} was collected at {at:time} by the {relation:name}, so please check the child out.",
        "Please check {name:name} out: the {relation:name} came at {at:time}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_children", "list_pickup_people", "check_out")
    act: ClassVar[str] = "check_out child_id<0 pickup_person_id<1 left_at=at"

    def person(self, slots: Slots, state: State) -> Row:
        """Who is on the list of the child with this relation, and may collect it."""
        key, rows = self.child(slots, state)["child_id"], state["pickup_people"].values()
        rows = [p for p in rows if p["child_id"] == key and not p["withdrawn"]]
        return dict(only([p for p in rows if p["relation"] == slots["relation"]]))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        child = self.anyone(state, rng, "present")
        rows = [p for p in state["pickup_people"].values() if p["child_id"] == child["child_id"]]
        at = f"{15 + int(rng.integers(3))}:{5 * int(rng.integers(2, 12)):02d}"
        return {"name": child["name"], "relation": any_of(rng, rows)["relation"], "at": at}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_children name", "list_pickup_people child_id<0 relation", self.act)

    def out(self, slots: Slots, state: State, item: str, **more: Any) -> Changed:
        """Today's entry says who collected the child."""
        entry, person = self.entry(self.child(slots, state), state, "present"), self.person(slots, state)
        more |= {"pickup_person_id": person["pickup_person_id"], "left_at": slots["at"]}
        return self.changed(entry, item, state, status="collected", **more)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has {slots['name']} been checked out with the {slots['relation']} at {slots['at']}?"
        return [self.out(slots, state, item)]


class SendHome(Collect):
    """An ill child is collected early, which is an incident."""

    phrases = (
        '{name:name} is ill with "{what:text}", so please send the child home: the {relation:name} comes at {at:time}.',
        'Please send {name:name} home because of "{what:text}"; the {relation:name} is here at {at:time}.',
    )
    needs = ("find_children", "list_pickup_people", "send_home")
    act = "send_home child_id<0 pickup_person_id<1 left_at=at what"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        at = f"{11 + int(rng.integers(3))}:{5 * int(rng.integers(2, 12)):02d}"
        return slots and {**slots, "at": at, "what": any_of(rng, self.v.s.illnesses)}

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has {slots['name']} been sent home with the {slots['relation']} at {slots['at']}?"
        fields = {"child_id": self.child(slots, state)["child_id"], "kind": "illness", "what": slots["what"]}
        fields |= {"day": state["today"], "at": slots["at"], "told_at": slots["at"]}
        logged = f"Is the illness of {slots['name']} in the incident log, with {slots['what']}?"
        return [
            self.out(slots, state, item, note=f"sent home: {slots['what']}"),
            Added("incidents", fields, logged),
        ]


class StayAway(CareGoal):
    """A child stays away on two days that are still to come."""

    phrases = (
        'Please enter that {name:name} will be absent on {day:date} and {other:date}, the reason is "{reason:text}".',
        '{name:name} will not come on {day:date} nor on {other:date}: please enter both absences with "{reason:text}".',
    )
    needs = ("find_children", "report_absence")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        first = later(state["today"], int(rng.integers(1, 4)) + 7 * int(rng.integers(0, 3)))
        days = {"day": first, "other": later(first, 1)}
        return {"name": self.anyone(state, rng)["name"], **days, "reason": any_of(rng, self.v.s.absences)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        each = (f"report_absence child_id<0 day={day} reason" for day in ("day", "other"))
        return steps(slots, "find_children name", *each)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key, days = self.child(slots, state)["child_id"], (slots["day"], slots["other"])
        if any(e["child_id"] == key and e["day"] in days for e in state["day_entries"].values()):
            raise LookupError("something is entered for these days")
        fields = {"child_id": key, "status": "absent", "meal": "none", "note": slots["reason"]}
        fields |= {"arrived_at": "", "left_at": "", "pickup_person_id": None}
        item = f"Has the absence of {slots['name']} on {{}} been entered with that reason?"
        return [Added("day_entries", {**fields, "day": day}, item.format(day)) for day in days]


class Authorise(CareGoal):
    """Somebody more who may collect a child."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Please put {person:name}, {relation:name} of {name:name}, on the list of those who may collect the child.",
        "From now on {name:name} may also be collected by the {relation:name}, {person:name}; please add that.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_children", "add_pickup_person")

    def somebody(self, state: State, rng: Rng, relations: list[str]) -> Slots:
        """A new person with one of these relations."""
        relation, known = any_of(rng, relations), frozenset(c["name"] for c in state["children"].values())
        family = names.people(rng, 1, known)[0].split()[-1]
        return {"person": f"{any_of(rng, self.v.s.relations[relation])} {family}", "relation": relation}

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {
            "name": self.anyone(state, rng)["name"],
            **self.somebody(state, rng, self.v.relations[2:]),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_children name", "add_pickup_person child_id<0 name=person relation")

    def listed(self, slots: Slots, state: State, child: str) -> Added:
        """Somebody is on the list."""
        item = f"Has {slots['person']} been put on the list of those who may collect {slots['name']}?"
        fields = {"name": slots["person"], "relation": slots["relation"], "withdrawn": False}
        return Added("pickup_people", {"child_id": child, **fields, "added_on": state["today"]}, item)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key, rows = self.child(slots, state)["child_id"], state["pickup_people"].values()
        rows = [p for p in rows if p["child_id"] == key and not p["withdrawn"]]
        if any(p["relation"] == slots["relation"] for p in rows):
            raise LookupError("there is one already")
        return [self.listed(slots, state, key)]


class Replace(Authorise):
    """Somebody may collect a child no longer, and somebody else takes the place."""

    phrases = (
        "The {old:name} of {name:name} may not collect the child any more: please withdraw the permission and give it "
        "to the {relation:name}, {person:name}, instead.",
        "Please take the {old:name} of {name:name} off the list of those who may collect the child and put "
        "{person:name}, the {relation:name}, on it.",
    )
    needs = ("find_children", "list_pickup_people", "withdraw_pickup_person", "add_pickup_person")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [p for p in state["pickup_people"].values() if not p["withdrawn"]]
        row = any_of(rng, rows)
        name = state["children"][row["child_id"]]["name"]
        return {"name": name, "old": row["relation"], **self.somebody(state, rng, self.v.relations[2:])}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        look = ("find_children name", "list_pickup_people child_id<0 relation=old")
        add = "add_pickup_person child_id<0 name=person relation"
        return steps(slots, *look, add, "withdraw_pickup_person pickup_person_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        added = super().outcome(slots, state)
        key, rows = self.child(slots, state)["child_id"], state["pickup_people"].values()
        rows = [p for p in rows if p["child_id"] == key and not p["withdrawn"]]
        person = only([p for p in rows if p["relation"] == slots["old"]])
        item = f"Is the {slots['old']} of {slots['name']} withdrawn from those who may collect the child?"
        return [
            Changed("pickup_people", person["pickup_person_id"], {"withdrawn": True}, item, (key,)),
            *added,
        ]


class Allergy(CareGoal):
    """A new allergy, which may change today's meal."""

    phrases = (
        "{name:name} is allergic to {allergen:name} according to the doctor, please add that to the record.",
        "Please note a new allergy of {name:name}: {allergen:name}.",
    )
    needs = ("find_children", "add_allergy")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"name": self.anyone(state, rng)["name"], "allergen": any_of(rng, self.v.s.allergens)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_children name", "add_allergy child_id<0 allergen")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        child, allergen = self.child(slots, state), slots["allergen"]
        if allergen in child["allergies"]:
            raise LookupError("it is known")
        item = f"Has the allergy of {slots['name']} to {allergen} been added?"
        key, allergies = child["child_id"], sorted([*child["allergies"], allergen])
        outcomes: list[Outcome] = [Changed("children", key, {"allergies": allergies}, item)]
        meals = [e for e in state["day_entries"].values() if e["child_id"] == key and e["meal"] == "standard"]
        for entry in (e for e in meals if e["status"] != "collected"):
            item = f"Is the meal of {slots['name']} on {entry['day']} a special one now?"
            outcomes.append(Changed("day_entries", entry["day_entry_id"], {"meal": "special"}, item))
        return outcomes


class LogIncident(CareGoal):
    """Something happened to a child."""

    phrases = (
        'Please log an incident for {name:name} at {at:time}, a {kind:name}: "{what:text}".',
        'At {at:time} there was a {kind:name}, "{what:text}"; please put it into the incident log for {name:name}.',
    )
    needs = ("find_children", "log_incident")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        kind = any_of(rng, list(self.v.s.incidents))
        at = f"{10 + int(rng.integers(4))}:{int(rng.integers(10, 60))}"
        name = self.anyone(state, rng, "present")["name"]
        return {"name": name, "kind": kind, "what": any_of(rng, self.v.s.incidents[kind]), "at": at}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_children name", "log_incident child_id<0 kind what at")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        entry = self.entry(self.child(slots, state), state, "present")
        if slots["at"] < entry["arrived_at"] or slots["kind"] not in self.v.s.incidents:
            raise LookupError("it was not here")
        fields = {"child_id": entry["child_id"], "kind": slots["kind"], "what": slots["what"], "told_at": ""}
        item = f"Has the {slots['kind']} of {slots['name']} been logged with what happened?"
        return [Added("incidents", {**fields, "day": state["today"], "at": slots["at"]}, item)]


LogInOwnWords = in_own_words(
    LogIncident,
    "what",
    "Please log an incident for {name:name} at {at:time}, a {kind:name}, described in your own words.",
    "At {at:time} there was a {kind:name}; log it for {name:name} and word what happened as you like.",
)


class TellParents(CareGoal):
    """The parents have been told of an incident."""

    phrases = (
        "The parents of {name:name} were told at {at:time} of today's incident, please enter that.",
        "I spoke with the parents of {name:name} at {at:time} about what happened today; mark the incident as told.",
    )
    needs = ("find_children", "list_incidents", "tell_parents")

    def untold(self, state: State) -> list[Row]:
        """Today's incidents that parents do not know of."""
        return [i for i in state["incidents"].values() if not i["told_at"] and i["day"] == state["today"]]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = any_of(rng, self.untold(state))
        name = state["children"][row["child_id"]]["name"]
        return {"name": name, "at": f"{16 + int(rng.integers(2))}:{int(rng.integers(10, 60))}"}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        untold = "list_incidents child_id<0 untold_only=True"
        return steps(slots, "find_children name", untold, "tell_parents incident_id<1 told_at=at")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key = self.child(slots, state)["child_id"]
        row = only([i for i in self.untold(state) if i["child_id"] == key])
        item = f"Is it entered that the parents of {slots['name']} were told at {slots['at']}?"
        return [Changed("incidents", row["incident_id"], {"told_at": slots["at"]}, item, (key,))]


class Merge(CareGoal):
    """A group goes for the day to wherever most carers are to spare."""

    phrases = (
        "Please merge the {group:name} for today with whichever group would have the most room left.",
        "The {group:name} cannot use their room today: look for the host that leaves the most room and merge them.",
    )
    needs = ("find_groups", "find_hosts", "merge_groups")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"group": any_of(rng, list(state["playgroups"].values()))["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        merge = "merge_groups playgroup_id<0 host_id<1"
        return steps(slots, "find_groups name=group", "find_hosts playgroup_id<0", merge)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        group = named(state, self.v.playgroup, slots["group"])
        others = [g for g in state["playgroups"].values() if g is not group and not g["hosted_by_id"]]
        spare = {g["playgroup_id"]: self.spare([group, *self.room(g, state)], state) for g in others}
        if group["hosted_by_id"] or len(self.room(group, state)) > 1 or max(spare.values()) < 0:
            raise LookupError("it cannot be merged")
        host = only([key for key, most in spare.items() if most == max(spare.values())])
        also = ("hosts", *(f"room {key}" for key in state["playgroups"]))
        item = f"Has the group {slots['group']} been merged with the host that has the most room left?"
        return [Changed("playgroups", group["playgroup_id"], {"hosted_by_id": host}, item, also)]


class Lend(CareGoal):
    """A carer goes from one group to another."""

    phrases = (
        "Please move one carer from the {group:name} to the {other:name} for today.",
        "The {other:name} need one more carer today, so please take one from the {group:name}.",
    )
    needs = ("find_groups", "move_carer")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one, two = shuffled(rng, list(state["playgroups"].values()))[:2]
        return {"group": one["name"], "other": two["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        ends = "from_playgroup_id<0/0/playgroup_id to_playgroup_id<1/0/playgroup_id"
        return steps(slots, "find_groups name=group", "find_groups name=other", f"move_carer {ends}")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, two = (named(state, self.v.playgroup, slots[which]) for which in ("group", "other"))
        room = self.room(one, state)
        fewer = [{**g, "carers": g["carers"] - (g is one)} for g in room]
        if one is two or one["carers"] < 2 or (two not in room and self.spare(fewer, state) < 0):
            raise LookupError("nobody can be spared")
        item = "Has the number of carers with the {} become {}?"
        also = ("hosts", *(f"room {self.room(g, state)[0]['playgroup_id']}" for g in (one, two)))
        return [
            Changed("playgroups", g["playgroup_id"], {"carers": n}, item.format(g["name"], n), also)
            for g, n in ((one, one["carers"] - 1), (two, two["carers"] + 1))
        ]


class Offer(CareGoal):
    """A free place is offered to whoever is first on the waiting list."""

    phrases = (
        "There is a free place with the {group:name}, please offer it to whoever comes first on their waiting list.",
        "Please see who is at the top of the waiting list of the {group:name} and offer that child the free place.",
    )
    needs = ("find_groups", "list_place_requests", "offer_place")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"group": any_of(rng, list(state["playgroups"].values()))["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        waiting = "list_place_requests playgroup_id<0 waiting_only=True"
        return steps(slots, "find_groups name=group", waiting, "offer_place place_request_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        group = named(state, self.v.playgroup, slots["group"])
        key = group["playgroup_id"]
        rows = [r for r in state["place_requests"].values() if r["playgroup_id"] == key]
        waiting = [r for r in rows if r["status"] == "waiting"]
        taken = sum(c["playgroup_id"] == key for c in state["children"].values())
        if len(waiting) < 2 or taken + sum(r["status"] == "offered" for r in rows) >= group["places"]:
            raise LookupError("nothing can be offered")
        first = min(waiting, key=lambda r: (r["sibling_id"] is None, r["asked_on"], r["place_request_id"]))
        item = f"Has the first child on the waiting list of the {slots['group']} been offered the place?"
        also = (f"places {key}",)
        return [Changed("place_requests", first["place_request_id"], {"status": "offered"}, item, also)]


class Accept(CareGoal):
    """An offered place is taken, and the child comes onto the roll."""

    phrases = (
        "The family of {name:name} accepts the place that was offered, please enroll the child.",
        "{name:name} was offered a place and the parents say yes, so please enter their answer.",
    )
    needs = ("list_place_requests", "answer_offer")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [r["name"] for r in state["place_requests"].values() if r["status"] == "offered"]
        return {"name": any_of(rng, rows)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        answer = "answer_offer place_request_id<0 accepted=True"
        return steps(slots, "list_place_requests name", answer)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = named(state, self.v.place_request, slots["name"])
        if row["status"] != "offered":
            raise LookupError("no place is offered")
        also, item = (
            (f"places {row['playgroup_id']}",),
            f"Has the offered place been accepted for {row['name']}?",
        )
        fields = {"name": row["name"], "playgroup_id": row["playgroup_id"], "allergies": []}
        fields |= {"parent_phone": row["phone"], "joined_on": state["today"]}
        return [
            Changed("place_requests", row["place_request_id"], {"status": "accepted"}, item, also),
            Added("children", fields, f"Has {row['name']} been enrolled in the group of the place?"),
        ]


class Attendance(Pattern):
    """Children, who is here, who collects them and who waits for a place."""

    Settings = AttendanceSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        CheckIn, Collect, SendHome, StayAway, Authorise, Replace, Allergy, LogIncident, LogInOwnWords, TellParents,
        Merge, Lend, Offer, Accept,
    )  # fmt: skip

    def vocabulary(self, s: AttendanceSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        many = {"child": "children", "pickup person": "pickup people"}
        words = (*many, "day entry", "playgroup", "incident", "place request")
        nouns = {noun.id: noun for noun in (Noun(one, many.get(one)) for one in words)}
        told = {"relations": list(s.relations), "relationlist": either(list(s.relations))}
        return {**nouns, **told, "kinds": list(s.incidents), "kindlist": either(list(s.incidents))}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(v.playgroup, "A group of children with its carers of today.", """
                playgroup_id: str = unique id, e.g. GRP-001
                name: str = what it is called, e.g. Ladybirds
                room: str = its own room
                places: int = most children it has
                carers: int = carers at work today
                children_per_carer: int = most children one carer looks after
                hosted_by_id: str | None = the group in whose room it is today, None in its own"""),
            form(v.child, "A child on the roll.", """
                child_id: str = unique id, e.g. CHD-001
                name: str = full name
                playgroup_id: str = the group
                allergies: list[str] = what it must not eat, in alphabetical order
                parent_phone: str = where a parent is reached
                joined_on: str = date, as YYYY-MM-DD"""),
            form(v.pickup_person, "Somebody who may collect a child.", f"""
                pickup_person_id: str = unique id, e.g. PUP-001
                child_id: str = the child
                name: str = full name
                relation: str = {v.relationlist}
                withdrawn: bool = whether the permission was withdrawn
                added_on: str = date, as YYYY-MM-DD"""),
            form(v.day_entry, "One child's day.", """
                day_entry_id: str = unique id, e.g. DAY-001
                child_id: str = the child
                day: str = date, as YYYY-MM-DD
                status: str = expected, present, collected or absent
                meal: str = standard, special or none
                arrived_at: str = time as HH:MM, empty before
                left_at: str = time as HH:MM, empty before
                pickup_person_id: str | None = who collected the child
                note: str = why it is absent or was sent home, otherwise empty"""),
            form(v.incident, "An entry of the incident log.", f"""
                incident_id: str = unique id, e.g. INC-001
                child_id: str = the child
                kind: str = {either([*v.kinds, "illness"])}
                what: str = what happened
                day: str = date, as YYYY-MM-DD
                at: str = time as HH:MM
                told_at: str = when the parents were told, as HH:MM; empty before"""),
            form(v.place_request, "A child that waits for a place.", """
                place_request_id: str = unique id, e.g. PLR-001
                name: str = full name of the child
                playgroup_id: str = the group it would join
                phone: str = where a parent is reached
                sibling_id: str | None = brother or sister on the roll
                asked_on: str = date, as YYYY-MM-DD
                status: str = waiting, offered, accepted or declined"""),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "No room has more children present than its carers may look after; groups merged for the day share a "
            "room, their carers and the stricter limit.",
            """
            groups, children = rows(after, "playgroups"), rows(after, "children")
            days = rows(after, "day_entries").values()
            present = [row.get("child_id") for row in days if row.get("status") == "present"]
            for key in groups:
                room = [g for k, g in groups.items() if key in (k, g.get("hosted_by_id"))]
                if groups[key].get("hosted_by_id"):
                    continue
                ids = [g.get("playgroup_id") for g in room]
                here = sum((children.get(str(c)) or {}).get("playgroup_id") in ids for c in present)
                carers = sum(g.get("carers") or 0 for g in room)
                if here > carers * min(g.get("children_per_carer") or 0 for g in room):
                    return False
            return True
            """,
        ),
        RuleText(
            "A child is collected only by a person with permission: one who is on the list of that child and not "
            "withdrawn.",
            """
            people = rows(before, "pickup_people")
            for _, new in changed("day_entries", "pickup_person_id"):
                person = people.get(str(new.get("pickup_person_id"))) or {}
                if person.get("child_id") != new.get("child_id") or person.get("withdrawn"):
                    return False
            return all(bool(r.get("pickup_person_id")) == (r.get("status") == "collected")
                       for r in rows(after, "day_entries").values())
            """,
        ),
        RuleText(
            "No child leaves earlier than it arrived.",
            """
            for row in rows(after, "day_entries").values():
                if row.get("left_at") and not "" < str(row.get("arrived_at")) <= str(row["left_at"]):
                    return False
            return True
            """,
        ),
        RuleText(
            "No two day entries are for the same child and day.",
            """
            days = [(row.get("child_id"), row.get("day")) for row in rows(after, "day_entries").values()]
            return len(days) == len(set(days))
            """,
        ),
        RuleText(
            "The meal of a child who is expected or present is determined by its allergies: special with any, "
            "standard without; a child who is absent has none.",
            """
            children = rows(after, "children")
            for row in rows(after, "day_entries").values():
                allergic = (children.get(str(row.get("child_id"))) or {}).get("allergies")
                due = "none" if row.get("status") == "absent" else "special" if allergic else "standard"
                if row.get("status") != "collected" and row.get("meal") != due:
                    return False
            return True
            """,
        ),
        RuleText(
            "A child's day goes from expected to present to collected, or from expected to absent, and never back.",
            """
            steps = {("expected", "present"), ("present", "collected"), ("expected", "absent")}
            return all((old.get("status"), new.get("status")) in steps for old, new in changed("day_entries", "status"))
            """,
        ),
        RuleText(
            "Every child who is sent home leaves an entry in the incident log.",
            """
            logged = {row.get("child_id") for row in added("incidents") if row.get("kind") == "illness"}
            sent = [new for _, new in changed("day_entries", "note") if str(new.get("note")).startswith("sent home")]
            return all(row.get("child_id") in logged for row in sent)
            """,
        ),
        RuleText(
            "The children of a group and the places offered in it are together at most as many as its places.",
            """
            for key, group in rows(after, "playgroups").items():
                taken = sum(row.get("playgroup_id") == key for row in rows(after, "children").values())
                for row in rows(after, "place_requests").values():
                    taken += row.get("playgroup_id") == key and row.get("status") == "offered"
                if taken > (group.get("places") or 0):
                    return False
            return True
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _is_open(text: str) -> bool:
        """Tell whether the text is a time as HH:MM at which the house is open, 07:00 to 18:00."""
        hours, _, minutes = text.partition(":")
        shaped = len(text) == 5 and (hours + minutes).isdigit() and len(hours) == 2
        return shaped and minutes < "60" and "07:00" <= text <= "18:00"

    def _today(self, child_id: str) -> dict | None:
        """Return today's entry of a child, None when there is none."""
        days = (entry for entry in self.day_entries.values() if entry["child_id"] == child_id)
        return next((entry for entry in days if entry["day"] == self.today), None)

    def _room(self, playgroup: dict) -> list[dict]:
        """Return the groups that are in the room of a group today, the host first."""
        host = playgroup["hosted_by_id"] or playgroup["playgroup_id"]
        guests = [other for other in self.playgroups.values() if other["hosted_by_id"] == host]
        return [self.playgroups[host], *guests]

    def _spare(self, playgroups: list[dict]) -> int:
        """Count how many more children these groups could look after together in one room."""
        keys = {playgroup["playgroup_id"] for playgroup in playgroups}
        present = sum(
            entry["status"] == "present" and self.children[entry["child_id"]]["playgroup_id"] in keys
            for entry in self.day_entries.values()
        )
        limit = min(playgroup["children_per_carer"] for playgroup in playgroups)
        return limit * sum(playgroup["carers"] for playgroup in playgroups) - present

    def _order(self, playgroup_id: str | None) -> list[dict]:
        """Return who waits for a place: brothers and sisters first, then whoever asked first."""
        waiting = [
            request
            for request in self.place_requests.values()
            if request["status"] == "waiting" and playgroup_id in (None, request["playgroup_id"])
        ]
        return sorted(waiting, key=lambda one: (one["sibling_id"] is None, one["asked_on"], one["place_request_id"]))

    def _free_places(self, playgroup_id: str) -> int:
        """Count the places of a group that nobody has and nobody was offered."""
        taken = sum(child["playgroup_id"] == playgroup_id for child in self.children.values())
        for request in self.place_requests.values():
            if request["playgroup_id"] == playgroup_id and request["status"] == "offered":
                taken += 1
        return self.playgroups[playgroup_id]["places"] - taken

    def _log(self, child_id: str, kind: str, what: str, at: str, told_at: str = "") -> dict:
        """Add an entry of today to the incident log."""
        incident: Incident = {
            "incident_id": self._next_id(self.incidents, "INC"),
            "child_id": child_id,
            "kind": kind,
            "what": what,
            "day": self.today,
            "at": at,
            "told_at": told_at,
        }
        self.incidents[incident["incident_id"]] = incident
        return incident

    def _may_collect(self, child_id: str, pickup_person_id: str) -> bool:
        """Tell whether somebody is on the list of a child and not withdrawn."""
        person = self.pickup_people.get(pickup_person_id)
        return person is not None and person["child_id"] == child_id and not person["withdrawn"]
'''

    READS = '''
def find_children(self, name: str) -> dict:
    """Find children on the roll by name.

    Args:
        name: Full name or a part of it; upper and lower case are the same.

    Returns:
        The matching children by name, each with the name of the `group` and the `status` of today.
    """
    wanted = name.strip().lower()
    refuse if not wanted :: The name to look for is empty.
    told = []
    for child in sorted(self.children.values(), key=lambda one: one["name"]):
        if wanted in child["name"].lower():
            entry, group = self._today(child["child_id"]), self.playgroups[child["playgroup_id"]]
            status = entry["status"] if entry else "not expected"
            told.append({**deepcopy(child), "group": group["name"], "status": status})
    return {"success": True, "data": told}

def find_groups(self, name: str | None = None) -> dict:
    """Find groups by name, with their free places and how many more children their room could take just now.

    Args:
        name: Name of the group or a part of it. Leave out for all.

    Returns:
        The groups, each with `free_places` and `spare`.
    """
    refuse if name is not None and not name.strip() :: The name to look for is empty.
    wanted = (name or "").strip().lower()
    groups = [one for one in self.playgroups.values() if wanted in one["name"].lower()]
    numbers = [(self._free_places(one["playgroup_id"]), self._spare(self._room(one))) for one in groups]
    told = [
        {**one, "free_places": free, "spare": spare}
        for one, (free, spare) in zip(groups, numbers, strict=True)
    ]
    return {"success": True, "data": told}

def list_day(self, day: str | None = None, status: str | None = None, playgroup_id: str | None = None) -> dict:
    """List the children's day, sorted by name.

    Args:
        day: The day, as YYYY-MM-DD. Leave out for today.
        status: Only expected, present, collected or absent. Leave out for all.
        playgroup_id: Only this group. Leave out for all.

    Returns:
        The entries of that day, each with the `name` of the child.
    """
    day = self.today if day is None else day
    refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    if status not in (None, "expected", "present", "collected", "absent"):
        refuse :: There is no status {status!r}.
    told = []
    for entry in self.day_entries.values():
        child = self.children[entry["child_id"]]
        if entry["day"] == day and status in (None, entry["status"]):
            if playgroup_id in (None, child["playgroup_id"]):
                told.append({"name": child["name"], **entry})
    return {"success": True, "data": sorted(told, key=lambda entry: entry["name"])}

def list_pickup_people(self, child_id: str, relation: str | None = None) -> dict:
    """List who may collect a child; those whose permission was withdrawn are left out.

    Args:
        child_id: Id of the child.
        relation: Only this one: <<relationlist>>. Leave out for all.

    Returns:
        The people by name; an empty list when nobody of that relation may.
    """
    need child
    refuse if relation not in (None, <<quoted(relations)>>) :: There is no relation {relation!r}.
    may = filter(lambda key: self._may_collect(child_id, key), self.pickup_people)
    people = [dict(self.pickup_people[key]) for key in may]
    if relation is not None:
        people = [person for person in people if person["relation"] == relation]
    return {"success": True, "data": sorted(people, key=lambda person: person["name"])}

def plan_meals(self) -> dict:
    """Plan today's meals: how many of each kind go to which room, and what must not be in the special ones.

    Returns:
        A line for each room in use with the numbers of `standard` and `special` meals and the `allergens`.
    """
    lines = {}
    for key, child in self.children.items():
        entry = self._today(key)
        if entry is None or entry["status"] not in ("expected", "present"):
            continue
        host = self._room(self.playgroups[child["playgroup_id"]])[0]
        line = lines.setdefault(host["room"], {"standard": 0, "special": 0, "allergens": []})
        line[entry["meal"]] += 1
        line["allergens"] = sorted({*line["allergens"], *child["allergies"]})
    return {"success": True, "data": [{"room": room, **lines[room]} for room in sorted(lines)]}

def list_incidents(self, child_id: str | None = None, untold_only: bool = False) -> dict:
    """List the incident log, the latest first.

    Args:
        child_id: Only incidents of this child. Leave out for all.
        untold_only: Whether to show only those the parents have not been told of.

    Returns:
        The incidents; an empty list when there are none.
    """
    log = sorted(self.incidents.values(), key=lambda one: (one["day"], one["at"]), reverse=True)
    if child_id is not None:
        refuse if child_id not in self.children :: There is no child with the id {child_id!r}.
        log = [one for one in log if one["child_id"] == child_id]
    shown = [dict(one) for one in log if not (untold_only and one["told_at"])]
    return {"success": True, "data": shown}

def find_hosts(self, playgroup_id: str) -> dict:
    """Find the groups that could take in a group for the day, the one with the most room left first.

    Args:
        playgroup_id: Id of the group that needs a room; it is not merged with another one.

    Returns:
        The possible hosts, each with how many more children the room could take `after` the merger.
    """
    need playgroup
    refuse if len(self._room(playgroup)) > 1 :: {playgroup['name']} are merged with another group.
    hosts = []
    for key, host in self.playgroups.items():
        if key != playgroup_id and host["hosted_by_id"] is None:
            after = self._spare([playgroup, *self._room(host)])
            if after >= 0:
                hosts.append({"host_id": key, "name": host["name"], "room": host["room"], "after": after})
    return {"success": True, "data": sorted(hosts, key=lambda host: (-host["after"], host["host_id"]))}

def list_place_requests(
    self, name: str | None = None, playgroup_id: str | None = None, waiting_only: bool = False
) -> dict:
    """List who wants a place: those who wait in the order in which places are offered, then the others.

    Args:
        name: Name of the child or a part of it. Leave out for all.
        playgroup_id: Only requests for this group. Leave out for all.
        waiting_only: Whether to leave out all who do not wait any more.

    Returns:
        The requests; brothers and sisters of children on the roll come first, then whoever asked first.
    """
    refuse if name is not None and not name.strip() :: The name to look for is empty.
    ranked = self._order(playgroup_id)
    if not waiting_only:
        others = [one for one in self.place_requests.values() if one["status"] != "waiting"]
        ranked += [one for one in others if playgroup_id in (None, one["playgroup_id"])]
    wanted = (name or "").strip().lower()
    matches = [dict(one) for one in ranked if wanted in one["name"].lower()]
    return {"success": True, "data": matches}
'''

    WRITES = '''
<% macro here(status, at) %>
    need child
    entry = self._today(child_id)
    if entry is None or entry["status"] != "<<status>>":
        refuse :: {child['name']} is not <<status>> today.
    refuse if not self._is_open(<<at>>) :: {<<at>>!r} is not a time from 07:00 to 18:00.
<%- endmacro %>
<% macro leaves() %>
<<here("present", "left_at")>>
    refuse if left_at < entry["arrived_at"] :: {child['name']} came at {entry['arrived_at']}, after {left_at}.
    if not self._may_collect(child_id, pickup_person_id):
        refuse :: {pickup_person_id!r} is nobody who may collect {child['name']}.
<%- endmacro %>
def check_in(self, child_id: str, arrived_at: str) -> dict:
    """Check a child in for today.

    Args:
        child_id: Id of the child, who is expected today and for whom the room has enough carers.
        arrived_at: Time of arrival as HH:MM, from 07:00 to 18:00.

    Returns:
        The entry of the day, or an error.
    """
<<here("expected", "arrived_at")>>
    room = self._room(self.playgroups[child["playgroup_id"]])
    refuse if self._spare(room) < 1 :: The carers with the {room[0]['name']} have as many children as they may.
    entry["status"] = "present"
    entry["arrived_at"] = arrived_at
    done dict(entry) :: {child['name']} is here since {arrived_at}.

def check_out(self, child_id: str, pickup_person_id: str, left_at: str) -> dict:
    """Check a child out with the person who collects it.

    Args:
        child_id: Id of the child, who is present.
        pickup_person_id: Id of who collects the child: somebody on its list and not withdrawn.
        left_at: Time as HH:MM, not before the child arrived.

    Returns:
        The entry of the day, or an error.
    """
<<leaves()>>
    entry.update(status="collected", left_at=left_at, pickup_person_id=pickup_person_id)
    done dict(entry) :: {child['name']} was collected by {self.pickup_people[pickup_person_id]['name']}.

def send_home(self, child_id: str, pickup_person_id: str, left_at: str, what: str) -> dict:
    """Send an ill child home with the person who collects it; it goes into the incident log as told.

    Args:
        child_id: Id of the child, who is present.
        pickup_person_id: Id of who collects the child: somebody on its list and not withdrawn.
        left_at: Time as HH:MM, not before the child arrived.
        what: What the child has, in a few words.

    Returns:
        The entry of the day and the incident, or an error.
    """
<<leaves()>>
    refuse if not what.strip() :: Say what the child has.
    entry.update(status="collected", left_at=left_at, pickup_person_id=pickup_person_id)
    entry["note"] = f"sent home: {what.strip()}"
    incident = self._log(child_id, "illness", what.strip(), left_at, left_at)
    data = {"day_entry": dict(entry), "incident": dict(incident)}
    done data :: {child['name']} was sent home at {left_at}.

def report_absence(self, child_id: str, day: str, reason: str) -> dict:
    """Enter that a child stays away on a day.

    Args:
        child_id: Id of the child, who is not here yet on that day.
        day: Today or a later day from Monday to Friday, as YYYY-MM-DD.
        reason: Why, in a few words.

    Returns:
        The entry of that day, without a meal, or an error.
    """
    need child
    refuse if not self._is_date(day) or day < self.today :: {day!r} is not a day from today on.
    refuse if date.fromisoformat(day).weekday() > 4 :: The house is closed on {day}.
    refuse if not reason.strip() :: A reason is required.
    known = [one for one in self.day_entries.values() if (one["child_id"], one["day"]) == (child_id, day)]
    if known and known[0]["status"] != "expected":
        refuse :: {child['name']} is {known[0]['status']} on {day}.
    entry: DayEntry = {
        "day_entry_id": known[0]["day_entry_id"] if known else self._next_id(self.day_entries, "DAY"),
        "child_id": child_id,
        "day": day,
        "status": "absent",
        "meal": "none",
        "arrived_at": "",
        "left_at": "",
        "pickup_person_id": None,
        "note": reason.strip(),
    }
    self.day_entries[entry["day_entry_id"]] = entry
    done dict(entry) :: {child['name']} is absent on {day}.

def add_pickup_person(self, child_id: str, name: str, relation: str) -> dict:
    """Put somebody on the list of those who may collect a child.

    Args:
        child_id: Id of the child.
        name: Full name of the person.
        relation: <<relationlist>>; only one of each per child.

    Returns:
        The new person, who may collect the child at once, or an error.
    """
    need child
    refuse if not name.strip() :: A name is required.
    refuse if relation not in (<<quoted(relations)>>) :: There is no relation {relation!r}.
    for other in self.pickup_people.values():
        if (other["child_id"], other["relation"], other["withdrawn"]) == (child_id, relation, False):
            refuse :: The {relation} of {child['name']} is on the list already.
    person: PickupPerson = {
        "pickup_person_id": self._next_id(self.pickup_people, "PUP"),
        "child_id": child_id,
        "name": name.strip(),
        "relation": relation,
        "withdrawn": False,
        "added_on": self.today,
    }
    self.pickup_people[person["pickup_person_id"]] = person
    done dict(person) :: {name.strip()} may collect {child['name']} now.

def withdraw_pickup_person(self, pickup_person_id: str) -> dict:
    """Withdraw the permission to collect a child; somebody else must be left who may.

    Args:
        pickup_person_id: Id of the person, whose permission was not withdrawn before.

    Returns:
        The person, or an error.
    """
    need pickup_person
    refuse if pickup_person["withdrawn"] :: The permission of {pickup_person['name']} was withdrawn before.
    child_id = pickup_person["child_id"]
    left = [key for key in self.pickup_people if self._may_collect(child_id, key)]
    refuse if left == [pickup_person_id] :: Nobody else may collect {self.children[child_id]['name']}.
    pickup_person["withdrawn"] = True
    done dict(pickup_person) :: {pickup_person['name']} may not collect the child any more.

def add_allergy(self, child_id: str, allergen: str) -> dict:
    """Add an allergy to a child's record; meals from today on become special ones.

    Args:
        child_id: Id of the child.
        allergen: What the child must not eat: <<s.allergens|join(", ")>>.

    Returns:
        The child and the days whose meal is a special one, or an error.
    """
    need child
    refuse if allergen not in (<<quoted(s.allergens)>>) :: {allergen!r} is not among the allergens we know.
    refuse if allergen in child["allergies"] :: The allergy to {allergen} is known.
    child["allergies"] = sorted([*child["allergies"], allergen])
    ahead = [
        entry
        for entry in self.day_entries.values()
        if entry["child_id"] == child_id and entry["status"] in ("expected", "present")
    ]
    for entry in ahead:
        entry["meal"] = "special"
    data = {"child": deepcopy(child), "day_entries": [dict(entry) for entry in ahead]}
    done data :: {child['name']} must not eat {allergen}.

def log_incident(self, child_id: str, kind: str, what: str, at: str) -> dict:
    """Log something that happened today to a child who is present.

    Args:
        child_id: Id of the child.
        kind: <<kindlist>>.
        what: What happened, in a few words.
        at: Time as HH:MM, not before the child arrived.

    Returns:
        The new entry of the log, of which the parents have not been told, or an error.
    """
<<here("present", "at")>>
    refuse if at < entry["arrived_at"] :: {child['name']} came at {entry['arrived_at']}, after {at}.
    refuse if kind not in (<<quoted(kinds)>>) :: There is no kind {kind!r} of incident.
    refuse if not what.strip() :: Say what happened.
    incident = self._log(child_id, kind, what.strip(), at)
    done dict(incident) :: Incident {incident['incident_id']} is in the log.

def tell_parents(self, incident_id: str, told_at: str) -> dict:
    """Enter when the parents were told of an incident of today.

    Args:
        incident_id: Id of the incident, of which they were not told before.
        told_at: Time as HH:MM, from 07:00 to 18:00 and not before it happened.

    Returns:
        The incident, or an error.
    """
    need incident
    refuse if incident["told_at"] :: The parents were told at {incident['told_at']}.
    refuse if incident["day"] != self.today :: {incident_id} is not of today but of {incident['day']}.
    if not self._is_open(told_at) or told_at < incident["at"]:
        refuse :: {told_at!r} is no time from {incident['at']} to 18:00.
    incident["told_at"] = told_at
    done dict(incident) :: The parents know of {incident_id}.

def merge_groups(self, playgroup_id: str, host_id: str) -> dict:
    """Move a group with its carers into the room of another group for the day.

    Args:
        playgroup_id: Id of the group that moves; it is not merged with another one.
        host_id: Id of the group that takes it in, in its own room and with enough carers for all together.

    Returns:
        The group that moved and how many more children the room could take, or an error.
    """
    need playgroup
    host = self.playgroups.get(host_id)
    refuse if host is None or host is playgroup :: {host_id!r} is not another group.
    refuse if len(self._room(playgroup)) > 1 :: {playgroup['name']} are merged with another group.
    refuse if host["hosted_by_id"] is not None :: {host['name']} are not in their own room.
    spare = self._spare([playgroup, *self._room(host)])
    refuse if spare < 0 :: The room of {host['name']} would be over its limit by {-spare}.
    playgroup["hosted_by_id"] = host_id
    done {**playgroup, "spare": spare} :: {playgroup['name']} are with {host['name']} today.

def move_carer(self, from_playgroup_id: str, to_playgroup_id: str) -> dict:
    """Let one carer work with another group today.

    Args:
        from_playgroup_id: Id of the group that gives one of its at least two carers and can do without.
        to_playgroup_id: Id of another group.

    Returns:
        Both groups after the change, or an error.
    """
    ends = [self.playgroups.get(key) for key in (from_playgroup_id, to_playgroup_id)]
    refuse if None in ends or ends[0] is ends[1] :: Give the ids of two groups.
    source, target = ends
    refuse if source["carers"] < 2 :: {source['name']} have only one carer.
    if target not in self._room(source):
        limit = min(one["children_per_carer"] for one in self._room(source))
        refuse if self._spare(self._room(source)) < limit :: {source['name']} cannot do without.
    source["carers"] -= 1
    target["carers"] += 1
    done [dict(one) for one in ends] :: {target['name']} have {target['carers']} carers today.

def offer_place(self, place_request_id: str) -> dict:
    """Offer a free place to the child who comes first on the waiting list of its group.

    Args:
        place_request_id: Id of the request; brothers and sisters come first, then whoever asked first.

    Returns:
        The request, or an error.
    """
    need place_request
    if place_request["status"] != "waiting":
        refuse :: {place_request['name']} is not waiting: {place_request['status']}.
    key = place_request["playgroup_id"]
    refuse if self._free_places(key) < 1 :: {self.playgroups[key]['name']} have no free place.
    first = self._order(key)[0]
    refuse if first is not place_request :: {first['name']} comes first.
    place_request["status"] = "offered"
    done dict(place_request) :: The place is offered to {place_request['name']}.

def answer_offer(self, place_request_id: str, accepted: bool) -> dict:
    """Enter what a family says to the place they were offered.

    Args:
        place_request_id: Id of the request, which was offered a place.
        accepted: Whether they take it; the child is on the roll at once.

    Returns:
        The request and the child (None when they decline), or an error.
    """
    need place_request
    refuse if place_request["status"] != "offered" :: {place_request['name']} was not offered a place.
    child = None
    place_request["status"] = "accepted" if accepted else "declined"
    if accepted:
        child: Child = {
            "child_id": self._next_id(self.children, "CHD"),
            "name": place_request["name"],
            "playgroup_id": place_request["playgroup_id"],
            "allergies": [],
            "parent_phone": place_request["phone"],
            "joined_on": self.today,
        }
        self.children[child["child_id"]] = child
    data = {"place_request": dict(place_request), "child": deepcopy(child)}
    done data :: The place is {place_request['status']} for {place_request['name']}.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today, people = v.s, state["today"], names.people(rng, 34)
        for n, (name, limit) in enumerate(s.groups.items()):
            key, carers = key_of("GRP", n + 1), 1 + int(limit < 5) + int(rng.random() < 0.5)
            row = {"playgroup_id": key, "name": name, "room": s.rooms[n], "hosted_by_id": None}
            state["playgroups"][key] = {**row, "carers": carers, "children_per_carer": limit, "places": 0}
            for _ in range(int(rng.integers(4, 6))):
                self._child(v, state, rng, people.pop(), key)
        # Two groups share a room today.
        goal, guest = CareGoal(v, []), pick(rng, list(state["playgroups"].values()))
        host = pick(rng, [g for g in state["playgroups"].values() if g is not guest])
        if goal.spare([guest, host], state) >= 0:
            guest["hosted_by_id"] = host["playgroup_id"]
        for key, group in state["playgroups"].items():
            children = [c for c in state["children"].values() if c["playgroup_id"] == key]
            offered = int(rng.integers(0, 2)) if len(people) > 6 else 0
            group["places"] = len(children) + offered + int(rng.integers(0, 2))
            for n in range(offered + int(rng.integers(1, 3))):
                status, brother = "offered" if n < offered else "waiting", pick(rng, children)
                number, sibling = key_of("PLR", len(state["place_requests"]) + 1), rng.random() < 0.3
                name = f"{pick(rng, names.GIVEN)} {brother['name'].split()[-1]}" if sibling else people.pop()
                row = {"place_request_id": number, "name": name, "playgroup_id": key, "status": status}
                row |= {"phone": brother["parent_phone"] if sibling else names.phone(rng)}
                row |= {"sibling_id": brother["child_id"] if sibling else None}
                asked = later(today, -int(rng.integers(20, 300)))
                state["place_requests"][number] = {**row, "asked_on": asked}
        ill, *here = shuffled(rng, [e for e in state["day_entries"].values() if e["status"] == "present"])
        what = pick(rng, s.illnesses)
        mine = [k for k, p in state["pickup_people"].items() if p["child_id"] == ill["child_id"]]
        ill |= {"status": "collected", "left_at": "09:40", "pickup_person_id": pick(rng, mine)}
        ill["note"] = f"sent home: {what}"
        row = {"incident_id": "INC-001", "child_id": ill["child_id"], "kind": "illness", "what": what}
        state["incidents"]["INC-001"] = {**row, "day": today, "at": "09:40", "told_at": "09:40"}
        for n, entry in enumerate(here[:4]):
            number, kind = key_of("INC", n + 2), pick(rng, list(s.incidents))
            row = {"incident_id": number, "child_id": entry["child_id"], "kind": kind}
            day, at = (today, "10:20") if n < 3 else (later(today, -3), "14:45")
            row |= {"what": pick(rng, s.incidents[kind]), "day": day, "at": at}
            state["incidents"][number] = {**row, "told_at": "" if n < 2 else later_time(at)}

    def _child(self, v: SimpleNamespace, state: State, rng: Rng, name: str, group: str) -> None:
        """A child with those who may collect it, and its day."""
        key, today = key_of("CHD", len(state["children"]) + 1), state["today"]
        allergies = sorted(shuffled(rng, v.s.allergens)[: int(rng.choice([0, 0, 0, 1, 2]))])
        row = {"child_id": key, "name": name, "playgroup_id": group, "allergies": allergies}
        row |= {"parent_phone": names.phone(rng), "joined_on": later(today, -int(rng.integers(30, 700)))}
        state["children"][key] = row
        few = len(state["pickup_people"]) - len(state["children"]) < 8
        second = [pick(rng, v.relations[2:])] if rng.random() < 0.45 and few else []
        for relation in [pick(rng, v.relations[:2]), *second]:
            number, family = key_of("PUP", len(state["pickup_people"]) + 1), name.split()[-1]
            person: Row = {
                "pickup_person_id": number,
                "child_id": key,
                "relation": relation,
                "withdrawn": False,
            }
            person["name"] = f"{pick(rng, v.s.relations[relation])} {family}"
            person["added_on"] = row["joined_on"]
            state["pickup_people"][number] = person
        goal, chance = CareGoal(v, []), rng.random()
        full = goal.spare([state["playgroups"][group]], state) < 1
        status = "absent" if chance < 0.1 else "expected" if chance < 0.35 or full else "present"
        status = "collected" if chance > 0.93 and not full else status
        came = status in ("present", "collected")
        meal = "none" if status == "absent" else "special" if allergies else "standard"
        number = key_of("DAY", len(state["day_entries"]) + 1)
        entry = {"day_entry_id": number, "child_id": key, "day": today, "status": status, "meal": meal}
        entry |= {
            "arrived_at": f"{7 + int(rng.integers(2)):02d}:{5 * int(rng.integers(2, 12)):02d}" if came else ""
        }
        gone = status == "collected"
        entry |= {
            "left_at": "09:50" if gone else "",
            "note": pick(rng, v.s.absences) if status == "absent" else "",
        }
        entry |= {"pickup_person_id": list(state["pickup_people"])[-1] if gone else None}
        state["day_entries"][number] = entry


def later_time(at: str) -> str:
    """Half an hour later or a little less."""
    return f"{at[:2]}:{min(59, int(at[3:]) + 30):02d}"


PATTERN = Attendance
