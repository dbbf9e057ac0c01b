"""Tickets: requests that people raise, the staff who work through them, and the way from open to resolved."""

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
    found,
    in_own_words,
    key_of,
    named,
    only,
    own,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

PRIORITIES = ("low", "normal", "high", "urgent")


class Skill(Part):
    """The attribute that decides who may work on a ticket."""

    name: str
    """`department`"""
    about: str
    """What it means."""
    choices: list[str]
    """Its values."""


class TicketSettings(Settings):
    """A service desk's words and numbers."""

    ticket: str
    """`request`"""
    prefix: str
    """Prefix of the tickets' ids."""
    person: str = "person"
    """Who raises them: a registry's noun."""
    worker: str
    """`technician`"""
    worker_many: str | None = None
    """Its plural where it is not regular."""
    worker_prefix: str
    """Prefix of the workers' ids."""
    place: str | None = None
    """Noun of what a ticket may concern, of an earlier part, e.g. `room`."""
    skill: Skill
    """What decides who may work on it."""
    subjects: dict[str, list[str]]
    """Skill → what tickets are about."""
    notes: list[str] = ["fixed on site", "settled by phone", "part was replaced", "explained and agreed"]
    """How tickets are resolved."""
    max_active: int = 3
    """Most tickets a worker may have at a time."""
    raise_verb: str = "open"
    """Verb for raising one."""


class TicketGoal(Goal):
    """A goal about the one ticket of a status somebody has raised."""

    status = "open"

    def candidates(self, state: State, rng: Rng) -> list[tuple[dict[str, Any], str]]:
        """Tickets of the status whose raiser has just this one, with the name."""
        key = f"{self.v.p.id}_id"
        rows = [t for t in state[self.v.t.ids].values() if t["status"] == self.status]
        alone = [t for t in rows if sum(other[key] == t[key] for other in rows) == 1]
        return shuffled(rng, [(t, state[self.v.p.ids][t[key]]["name"]) for t in alone])

    def ticket(self, slots: Slots, state: State) -> dict[str, Any]:
        """The ticket a sentence is about."""
        key = f"{self.v.p.id}_id"
        person = named(state, self.v.p, slots["name"])[key]
        rows = state[self.v.t.ids].values()
        return only([t for t in rows if t[key] == person and t["status"] == self.status])

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        key = f"{self.v.p.id}_id"
        return [
            call(f"find_{self.v.p.ids}", name=slots["name"]),
            call(f"list_{self.v.t.ids}", **{key: found(0, 0, key), "status": self.status}),
        ]

    def id(self, index: int = 1) -> dict[str, Any]:
        """Argument with the ticket's id."""
        return {f"{self.v.t.id}_id": found(index, 0, f"{self.v.t.id}_id")}

    def change(self, ticket: dict[str, Any], item: str, **fields: Any) -> list[Outcome]:
        """The ticket has these values; its raiser and its skill are concerned."""
        also = (ticket[f"{self.v.p.id}_id"], ticket[self.v.k.name])
        return [Changed(self.v.t.ids, ticket[f"{self.v.t.id}_id"], fields, item, also)]

    def load(self, state: State, worker: str) -> int:
        """How many tickets a worker has."""
        key = f"{self.v.w.id}_id"
        return sum(t[key] == worker and t["status"] == "assigned" for t in state[self.v.t.ids].values())


class Assign(TicketGoal):
    """Give an open ticket to whoever is least busy."""

    phrases = (
        "The open <<t>> of <<p>> {name:name} goes to whichever <<w>> on duty for its <<skillword>> has least to do.",
        "Please assign the open <<t>> of <<p>> {name:name} to the least busy <<w>> who is on duty and covers that "
        "<<skillword>>.",
    )
    needs = ("find_<<p.ids>>", "list_<<t.ids>>", "list_<<w.ids>>", "assign_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        skill = {v.k.name: found(1, 0, v.k.name), "on_duty": True}
        worker = {f"{v.w.id}_id": found(2, 0, f"{v.w.id}_id")}
        return [
            *self.look_up(slots),
            call(f"list_{v.w.ids}", **skill),
            call(f"assign_{v.t.id}", **self.id(), **worker),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        ticket = self.ticket(slots, state)
        rows = [w for w in state[v.w.ids].values() if w["on_duty"] and w[v.k.name] == ticket[v.k.name]]
        loads = {w[f"{v.w.id}_id"]: self.load(state, w[f"{v.w.id}_id"]) for w in rows}
        worker = only([key for key, load in loads.items() if load == min(loads.values())])
        if loads[worker] >= v.s.max_active:
            raise LookupError(f"every {v.w} is busy")
        item = f"Has the open {v.t} of {slots['name']} been assigned to the least busy {v.w} for it?"
        return self.change(ticket, item, status="assigned", **{f"{v.w.id}_id": worker})


class Resolve(TicketGoal):
    """Resolve a ticket that was being worked on."""

    status = "assigned"
    phrases = (
        'The <<t>> of <<p>> {name:name} that is being worked on is done, resolve it with the note "{note:text}".',
        'Please resolve the assigned <<t>> of <<p>> {name:name}; the note should read "{note:text}".',
    )
    needs = ("find_<<p.ids>>", "list_<<t.ids>>", "resolve_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1], "note": pick(rng, self.v.s.notes)} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"resolve_{self.v.t.id}", **self.id(), note=slots["note"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        ticket = self.ticket(slots, state)
        item = (
            f"Has the assigned {self.v.t} of {slots['name']} been resolved with the note '{slots['note']}'?"
        )
        return self.change(ticket, item, status="resolved", resolution=slots["note"])


ResolveInOwnWords = in_own_words(
    Resolve,
    "note",
    "The <<t>> of <<p>> {name:name} that is being worked on is done; resolve it and note in your own words how.",
    "Please resolve the assigned <<t>> of <<p>> {name:name} with a short note, which I leave to you.",
)


class Reopen(TicketGoal):
    """Open a resolved ticket again."""

    status = "resolved"
    phrases = (
        "The <<t>> of <<p>> {name:name} that was resolved is not settled after all, so reopen it.",
        "Please reopen the resolved <<t>> of <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<t.ids>>", "reopen_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"reopen_{self.v.t.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        ticket = self.ticket(slots, state)
        item = f"Is the {self.v.t} of {slots['name']} open again?"
        return self.change(ticket, item, status="open", resolution="", **{f"{self.v.w.id}_id": None})


class SetPriority(TicketGoal):
    """Another priority."""

    phrases = (
        "The open <<t>> of <<p>> {name:name} should get the priority {priority:name}.",
        "Please change the priority of the open <<t>> of <<p>> {name:name} to {priority:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "list_<<t.ids>>", "set_<<t.id>>_priority")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        if not rows:
            return None
        others = [p for p in PRIORITIES if p != rows[0][0]["priority"]]
        return {"name": rows[0][1], "priority": pick(rng, others)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        tool = f"set_{self.v.t.id}_priority"
        return [*self.look_up(slots), call(tool, **self.id(), priority=slots["priority"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        ticket = self.ticket(slots, state)
        if ticket["priority"] == slots["priority"] or slots["priority"] not in PRIORITIES:
            raise LookupError("the priority cannot be set so")
        item = f"Has the priority of the open {self.v.t} of {slots['name']} been set to {slots['priority']}?"
        return self.change(ticket, item, priority=slots["priority"])


class RaiseOldest(SetPriority):
    """Another priority for the oldest open ticket of a skill."""

    phrases = (
        "Whichever open <<t>> for {skill:name} has waited longest should get the priority {priority:name}.",
        "Set the priority of the oldest open <<t>> for {skill:name} to {priority:name}, please.",
    )
    needs = ("list_<<t.ids>>", "set_<<t.id>>_priority")

    def ticket(self, slots: Slots, state: State) -> dict[str, Any]:
        v = self.v
        rows = [t for t in state[v.t.ids].values() if t["status"] == "open" and t[v.k.name] == slots["skill"]]
        first = min((t["opened_on"] for t in rows), default="")
        return only([t for t in rows if t["opened_on"] == first])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"skill": pick(rng, self.v.k.choices), "priority": pick(rng, PRIORITIES)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        look_up = call(f"list_{v.t.ids}", **{v.k.name: slots["skill"], "status": "open"})
        return [look_up, call(f"set_{v.t.id}_priority", **self.id(0), priority=slots["priority"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        ticket = self.ticket(slots, state)
        if ticket["priority"] == slots["priority"]:
            raise LookupError("it has that priority already")
        item = f"Has the priority of the oldest open {self.v.t} for {slots['skill']} been set to {slots['priority']}?"
        return self.change(ticket, item, priority=slots["priority"])


class OpenTicket(TicketGoal):
    """A new ticket."""

    phrases = (
        "Please <<s.raise_verb>> <<t.a>> for <<p>> {name:name} with the <<skillword>> {skill:name}, the subject "
        '"{subject:text}" and the priority {priority:name}<<said_place>>.',
        'There is a new <<t>> to record for <<p>> {name:name}: the subject is "{subject:text}", the <<skillword>> '
        "{skill:name} and the priority {priority:name}<<said_place>>.",
    )
    needs = ("find_<<p.ids>>", "<<s.raise_verb>>_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        skill = pick(rng, self.v.k.choices)
        person = pick(rng, list(state[self.v.p.ids].values()))
        subject = pick(rng, self.v.s.subjects[skill])
        return {"name": person["name"], "skill": skill, "subject": subject, "priority": pick(rng, PRIORITIES)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        given = {v.k.name: slots["skill"], "subject": slots["subject"], "priority": slots["priority"]}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"{v.s.raise_verb}_{v.t.id}", **{key: found(0, 0, key)}, **given),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        person = named(state, v.p, slots["name"])
        if slots["skill"] not in v.k.choices or slots["priority"] not in PRIORITIES:
            raise LookupError("no such ticket can be opened")
        place = {f"{v.r.id}_id": None} if v.r else {}
        fields = {
            f"{v.p.id}_id": person[f"{v.p.id}_id"],
            **place,
            v.k.name: slots["skill"],
            "subject": slots["subject"],
            "priority": slots["priority"],
            f"{v.w.id}_id": None,
            "opened_on": state["today"],
            "status": "open",
            "resolution": "",
        }
        item = f"Has {v.t.a} '{slots['subject']}' been opened for {slots['name']}?"
        return [Added(v.t.ids, fields, item, (slots["skill"],))]


class Tickets(Pattern):
    """Requests and who works on them."""

    Settings = TicketSettings
    GOALS: ClassVar = (Assign, Resolve, ResolveInOwnWords, Reopen, SetPriority, RaiseOldest, OpenTicket)

    def vocabulary(self, s: TicketSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        if set(s.subjects) != set(s.skill.choices):
            raise ValueError("expected subjects for every choice of skill")
        t, w = Noun(s.ticket), Noun(s.worker, s.worker_many)
        shared[s.ticket] = t
        return {
            "t": t,
            "w": w,
            "p": shared[s.person],
            "r": shared[s.place] if s.place else None,
            "said_place": f", without naming {shared[s.place].a}" if s.place else "",
            "k": s.skill,
            "skillword": s.skill.name.replace("_", " "),
            "listed": ", ".join(s.skill.choices),
            "filters": [x for x in s.extras if x.filter],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, t, w, p = v.s, v.t, v.w, v.p
        place = [attribute(f"{v.r.id}_id", "str | None", f"the {v.r} it concerns, if any")] if v.r else []
        return [
            Table(
                w,
                f"{w.a[:1].upper()}{w.a[1:]} who works on {t.many}.",
                [
                    attribute(f"{w.id}_id", "str", f"unique id, e.g. {s.worker_prefix}-001"),
                    attribute("name", "str", "full name"),
                    attribute(v.k.name, "str", f"{v.k.about}: {v.listed}"),
                    attribute("on_duty", "bool", f"whether new {t.many} can be assigned"),
                ],
            ),
            Table(
                t,
                f"{t.a[:1].upper()}{t.a[1:]} that {p.a} has raised.",
                [
                    attribute(f"{t.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p} who raised it"),
                    *place,
                    attribute(v.k.name, "str", f"{v.k.about}: {v.listed}"),
                    attribute("subject", "str", "what it is about, in a few words"),
                    attribute("priority", "str", "low, normal, high or urgent"),
                    attribute(f"{w.id}_id", "str | None", f"the {w} it is assigned to; None while open"),
                    attribute("opened_on", "str", "date, as YYYY-MM-DD"),
                    *own(s.extras),
                    attribute("status", "str", "open, assigned or resolved"),
                    attribute("resolution", "str", "how it was resolved; empty before"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "<<t.a[:1]|upper>><<t.a[1:]>> is assigned only to <<w.a>> of its own <<skillword>>.",
            """
            staff = rows(after, "<<w.ids>>")
            for row in rows(after, "<<t.ids>>").values():
                worker = staff.get(str(row.get("<<w.id>>_id")))
                if worker is not None and worker.get("<<k.name>>") != row.get("<<k.name>>"):
                    return False
            return True
            """,
        ),
        RuleText(
            "<<w.a[:1]|upper>><<w.a[1:]>> has at most <<s.max_active>> assigned <<t.many>> at a time.",
            """
            counts = {}
            for row in rows(after, "<<t.ids>>").values():
                if row.get("status") == "assigned":
                    worker = str(row.get("<<w.id>>_id"))
                    counts[worker] = counts.get(worker, 0) + 1
            return all(count <= <<s.max_active>> for count in counts.values())
            """,
        ),
        RuleText(
            "A resolved <<t>> has a note on how it was resolved, and no other <<t>> has one.",
            """
            for row in rows(after, "<<t.ids>>").values():
                if (row.get("status") == "resolved") != bool(row.get("resolution")):
                    return False
            return True
            """,
        ),
        RuleText(
            "An assigned <<t>> names <<w.a>> and an open one names nobody.",
            """
            for row in rows(after, "<<t.ids>>").values():
                if row.get("status") == "open" and row.get("<<w.id>>_id") is not None:
                    return False
                if row.get("status") == "assigned" and row.get("<<w.id>>_id") is None:
                    return False
            return True
            """,
            rank=3,
        ),
    )

    HELPERS = '''
    def _<<w.id>>_load(self, <<w.id>>_id: str) -> int:
        """Count the <<t.many>> that <<w.a>> is working on."""
        return sum(
            <<t.id>>["status"] == "assigned" and <<t.id>>["<<w.id>>_id"] == <<w.id>>_id
            for <<t.id>> in self.<<t.ids>>.values()
        )
'''

    READS = '''
def list_<<t.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<k.name>>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<t.many>>, the oldest first.

    Args:
        <<p.id>>_id: Only those raised by this <<p>>. Leave out for all.
        <<k.name>>: Only those of this <<skillword>>: <<listed>>. Leave out for all.
        status: Only those that are open, assigned or resolved. Leave out for all.

    Returns:
        The matching <<t.many>>; an empty list when there are none.
    """
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(k.choices)>>):
        refuse :: There is no <<skillword>> {<<k.name>>!r}.
    refuse if status not in (None, "open", "assigned", "resolved") :: There is no status {status!r}.
    selected = [
        dict(<<t.id>>)
        for <<t.id>> in self.<<t.ids>>.values()
        if <<p.id>>_id in (None, <<t.id>>["<<p.id>>_id"])
        and <<k.name>> in (None, <<t.id>>["<<k.name>>"])
        and status in (None, <<t.id>>["status"])
    ]
    selected.sort(key=lambda <<t.id>>: (<<t.id>>["opened_on"], <<t.id>>["<<t.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Show one <<t>>.

    Args:
        <<t.id>>_id: Id of the <<t>>, e.g. <<s.prefix>>-001.

    Returns:
        The <<t>>, or an error for an unknown id.
    """
    need t
    return {"success": True, "data": dict(<<t.id>>)}

def count_<<t.ids>>(self, since: str | None = None) -> dict:
    """Count the <<t.many>> of each <<skillword>> by status.

    Args:
        since: Only those opened on or after this date, as YYYY-MM-DD. Leave out for all.

    Returns:
        For each <<skillword>> the number of open, assigned and resolved <<t.many>>.
    """
    refuse if since is not None and not self._is_date(since) :: {since!r} is not a date as YYYY-MM-DD.
    counts = {name: {"open": 0, "assigned": 0, "resolved": 0} for name in (<<quoted(k.choices)>>)}
    for <<t.id>> in self.<<t.ids>>.values():
        if since is None or <<t.id>>["opened_on"] >= since:
            counts[<<t.id>>["<<k.name>>"]][<<t.id>>["status"]] += 1
    return {"success": True, "data": counts}

def list_<<w.ids>>(self, <<k.name>>: str | None = None, on_duty: bool | None = None) -> dict:
    """List the <<w.many>> with the number of <<t.many>> each is working on, the least busy first.

    Args:
        <<k.name>>: Only those of this <<skillword>>: <<listed>>. Leave out for all.
        on_duty: True for only those on duty, False for only those who are not. Leave out for all.

    Returns:
        The <<w.many>>, each with `active_<<t.ids>>`.
    """
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(k.choices)>>):
        refuse :: There is no <<skillword>> {<<k.name>>!r}.
    selected = [
        {**<<w.id>>, "active_<<t.ids>>": self._<<w.id>>_load(<<w.id>>["<<w.id>>_id"])}
        for <<w.id>> in self.<<w.ids>>.values()
        if <<k.name>> in (None, <<w.id>>["<<k.name>>"]) and on_duty in (None, <<w.id>>["on_duty"])
    ]
    selected.sort(key=lambda <<w.id>>: (<<w.id>>["active_<<t.ids>>"], <<w.id>>["<<w.id>>_id"]))
    return {"success": True, "data": selected}
'''

    WRITES = '''
def <<s.raise_verb>>_<<t.id>>(
    self,
    <<p.id>>_id: str,
    <<k.name>>: str,
    subject: str,
    priority: str = "normal",
%% if r is not none
    <<r.id>>_id: str | None = None,
%% endif
) -> dict:
    """<<s.raise_verb|capitalize>> a new <<t>> that <<p.a>> has raised.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        <<k.name>>: The <<skillword>>: <<listed>>.
        subject: What it is about, in a few words.
        priority: low, normal, high or urgent.
%% if r is not none
        <<r.id>>_id: Id of the <<r>> it concerns. Leave out when it concerns none.
%% endif

    Returns:
        The new <<t>>, which is open, or an error.
    """
    refuse if <<p.id>>_id not in self.<<p.ids>> :: There is no <<p>> with the id {<<p.id>>_id!r}.
    refuse if <<k.name>> not in (<<quoted(k.choices)>>) :: There is no <<skillword>> {<<k.name>>!r}.
    refuse if not subject.strip() :: The subject is empty.
    refuse if priority not in ("low", "normal", "high", "urgent") :: There is no priority {priority!r}.
%% if r is not none
    if <<r.id>>_id is not None and <<r.id>>_id not in self.<<r.ids>>:
        refuse :: There is no <<r>> with the id {<<r.id>>_id!r}.
%% endif
    <<t.id>>: <<t.type>> = {
        "<<t.id>>_id": self._next_id(self.<<t.ids>>, "<<s.prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
%% if r is not none
        "<<r.id>>_id": <<r.id>>_id,
%% endif
        "<<k.name>>": <<k.name>>,
        "subject": subject.strip(),
        "priority": priority,
        "<<w.id>>_id": None,
        "opened_on": self.today,
%% for x in extras
        "<<x.name>>": <<blank(x)>>,
%% endfor
        "status": "open",
        "resolution": "",
    }
    self.<<t.ids>>[<<t.id>>["<<t.id>>_id"]] = <<t.id>>
    done dict(<<t.id>>) :: <<t.cap>> {<<t.id>>['<<t.id>>_id']} opened.

def assign_<<t.id>>(self, <<t.id>>_id: str, <<w.id>>_id: str) -> dict:
    """Assign <<t.a>> to <<w.a>>, or hand it on to another one.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must not be resolved.
        <<w.id>>_id: Id of the <<w>>, who must be on duty, cover the <<skillword>> and have fewer than <<s.max_active>>
            assigned <<t.many>>.

    Returns:
        The assigned <<t>>, or an error.
    """
    need t
    need w
    refuse if <<t.id>>["status"] == "resolved" :: <<t.cap>> {<<t.id>>_id} is resolved.
    refuse if <<t.id>>["<<w.id>>_id"] == <<w.id>>_id :: {<<w.id>>['name']} has {<<t.id>>_id} already.
    refuse if not <<w.id>>["on_duty"] :: {<<w.id>>['name']} is not on duty.
    if <<w.id>>["<<k.name>>"] != <<t.id>>["<<k.name>>"]:
        refuse :: {<<w.id>>['name']} does not cover {<<t.id>>['<<k.name>>']}.
    if self._<<w.id>>_load(<<w.id>>_id) >= <<s.max_active>>:
        refuse :: {<<w.id>>['name']} has <<s.max_active>> <<t.many>> already.
    <<t.id>>["<<w.id>>_id"] = <<w.id>>_id
    <<t.id>>["status"] = "assigned"
    done dict(<<t.id>>) :: <<t.cap>> {<<t.id>>_id} assigned to {<<w.id>>['name']}.

def set_<<t.id>>_priority(self, <<t.id>>_id: str, priority: str) -> dict:
    """Change the priority of <<t.a>> that is not resolved.

    Args:
        <<t.id>>_id: Id of the <<t>>.
        priority: low, normal, high or urgent; another one than before.

    Returns:
        The changed <<t>>, or an error.
    """
    need t
    refuse if <<t.id>>["status"] == "resolved" :: <<t.cap>> {<<t.id>>_id} is resolved.
    refuse if priority not in ("low", "normal", "high", "urgent") :: There is no priority {priority!r}.
    refuse if priority == <<t.id>>["priority"] :: The priority of {<<t.id>>_id} is {priority} already.
    <<t.id>>["priority"] = priority
    done dict(<<t.id>>) :: <<t.cap>> {<<t.id>>_id} is now {priority}.

def resolve_<<t.id>>(self, <<t.id>>_id: str, note: str) -> dict:
    """Resolve <<t.a>> that somebody is working on.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be assigned.
        note: How it was resolved, in a few words.

    Returns:
        The resolved <<t>>, or an error.
    """
    need t
    refuse if <<t.id>>["status"] != "assigned" :: <<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not assigned.
    refuse if not note.strip() :: A note on how it was resolved is required.
    <<t.id>>["status"] = "resolved"
    <<t.id>>["resolution"] = note.strip()
    done dict(<<t.id>>) :: <<t.cap>> {<<t.id>>_id} is resolved.

def reopen_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Open a resolved <<t>> again; its note and its <<w>> are taken off.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be resolved.

    Returns:
        The <<t>>, open again, or an error.
    """
    need t
    refuse if <<t.id>>["status"] != "resolved" :: <<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not resolved.
    <<t.id>>["status"] = "open"
    <<t.id>>["<<w.id>>_id"] = None
    <<t.id>>["resolution"] = ""
    done dict(<<t.id>>) :: <<t.cap>> {<<t.id>>_id} is open again.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        taken = frozenset(row["name"] for row in state[v.p.ids].values())
        for n, name in enumerate(names.people(rng, 3 * len(v.k.choices), taken)):
            key = key_of(s.worker_prefix, n + 1)
            skill = v.k.choices[n % len(v.k.choices)]
            on_duty = n < 2 * len(v.k.choices) or rng.random() < 0.3
            state[v.w.ids][key] = {
                f"{v.w.id}_id": key,
                "name": name,
                v.k.name: skill,
                "on_duty": bool(on_duty),
            }
        statuses = shuffled(rng, ["open"] * 5 + ["assigned"] * 4 + ["resolved"] * 3)
        people = shuffled(rng, list(state[v.p.ids])) * 2
        days = sorted(int(d) for d in rng.choice(30, size=len(statuses), replace=False))
        for n, (status, ago) in enumerate(zip(statuses, reversed(days), strict=True)):
            self._ticket(v, state, rng, people[n], status, later(state["today"], -ago - 1))

    def _ticket(self, v: SimpleNamespace, state: State, rng: Rng, person: str, status: str, day: str) -> None:
        s = v.s
        key = key_of(s.prefix, len(state[v.t.ids]) + 1)
        skill = pick(rng, v.k.choices)
        staff = [k for k, w in state[v.w.ids].items() if w[v.k.name] == skill and w["on_duty"]]
        loads = {w: sum(t[f"{v.w.id}_id"] == w for t in state[v.t.ids].values()) for w in staff}
        able = [w for w, load in loads.items() if load < s.max_active - 1]
        if status != "open" and not able:
            status = "open"
        place = {f"{v.r.id}_id": pick(rng, [*state[v.r.ids], None])} if v.r else {}
        state[v.t.ids][key] = {
            f"{v.t.id}_id": key,
            f"{v.p.id}_id": person,
            **place,
            v.k.name: skill,
            "subject": pick(rng, s.subjects[skill]),
            "priority": pick(rng, PRIORITIES),
            f"{v.w.id}_id": None if status == "open" else pick(rng, able),
            "opened_on": day,
            **{x.name: x.draw(rng) for x in s.extras},
            "status": status,
            "resolution": pick(rng, s.notes) if status == "resolved" else "",
        }


PATTERN = Tickets
