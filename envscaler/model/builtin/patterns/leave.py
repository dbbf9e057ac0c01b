"""Leave: the days off people are entitled to, the requests that draw on them, and how many may be away at once."""

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
    either,
    found,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._snippets import MACROS
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

STATUSES = ("pending", "approved", "rejected", "cancelled")


class Team(Part):
    """The attribute of people of whom only some may be away at a time; their registry has it."""

    name: str
    """`department`"""
    choices: list[str]
    """Its values, those of the registry."""


class LeaveSettings(Settings):
    """A leave office's words and numbers."""

    person: str = "person"
    """Who takes leave: a registry's noun."""
    team: Team
    """Who may not all be away at once."""
    kinds: dict[str, tuple[int, int]]
    """Kind of leave → least and greatest days somebody is entitled to; days pass from one kind to another."""
    balance: str = "balance"
    """What somebody is entitled to: `balance`."""
    balance_prefix: str = "BAL"
    """Prefix of the balances' ids."""
    request: str = "request"
    """`request`"""
    request_prefix: str = "REQ"
    """Prefix of the requests' ids."""
    adjustment: str = "adjustment"
    """A change of what somebody is entitled to."""
    adjustment_prefix: str = "ADJ"
    """Prefix of the adjustments' ids."""
    max_absent: int = 3
    """Most people of a team away on one day."""
    max_days: int = 15
    """Longest request in working days."""
    reasons: list[str]
    """Why days are added."""
    refusals: list[str]
    """Why requests are rejected."""


def working_days(first: str, last: str) -> int:
    """Days from Monday to Friday between two dates, both counted."""
    start, span = date.fromisoformat(first), (date.fromisoformat(last) - date.fromisoformat(first)).days
    return sum((start + timedelta(days=n)).weekday() < 5 for n in range(span + 1))


class LeaveGoal(Goal):
    """What goals about balances and requests share."""

    def person(self, slots: Slots, state: State) -> str:
        """The id of the person a sentence names."""
        return str(named(state, self.v.p, slots["name"])[f"{self.v.p.id}_id"])

    def balance(self, person: str, kind: str, state: State) -> dict[str, Any]:
        """What somebody has of a kind."""
        rows = state[self.v.b.ids].values()
        return only([b for b in rows if b[f"{self.v.p.id}_id"] == person and b["kind"] == kind])

    def left(self, balance: dict[str, Any]) -> int:
        """Days that are not taken."""
        return int(balance["entitled"] - balance["taken"])

    def clear(self, person: str, first: str, last: str, state: State, ignore: str = "") -> bool:
        """Whether somebody has nothing pending or approved on these days."""
        v = self.v
        return not any(
            r[f"{v.p.id}_id"] == person
            and r["status"] in ("pending", "approved")
            and r[f"{v.r.id}_id"] != ignore
            and r["first_day"] <= last
            and first <= r["last_day"]
            for r in state[v.r.ids].values()
        )

    def crowded(self, request: dict[str, Any], state: State) -> bool:
        """Whether too many of the team are away on one of the days."""
        v, key = self.v, f"{self.v.p.id}_id"
        team = state[v.p.ids][request[key]][v.team]
        rows = [
            r
            for r in state[v.r.ids].values()
            if r["status"] == "approved" and state[v.p.ids][r[key]][v.team] == team
        ]
        days = [later(request["first_day"], n) for n in range(40)]
        days = [day for day in days if day <= request["last_day"]]
        return any(
            sum(r["first_day"] <= day <= r["last_day"] for r in rows) >= v.s.max_absent for day in days
        )

    def find(self, slots: Slots) -> dict[str, Any]:
        """The call that finds the person."""
        return call(f"find_{self.v.p.ids}", name=slots["name"])

    def span(self, state: State, rng: Rng) -> Slots:
        """Some days ahead that begin and end on a working day."""
        first = later(state["today"], 7 * int(rng.integers(2, 12)) + int(rng.integers(0, 3)))
        return {"first": first, "last": later(first, int(rng.integers(0, 3)) + 7 * int(rng.integers(0, 2)))}


class Ask(LeaveGoal):
    """A new request."""

    phrases = (
        "The <<p>> {name:name} wants to take {kind:name} from {first:date} to {last:date}, so please enter the <<r>>.",
        "Please enter a <<r>> for {kind:name} of <<p>> {name:name}: first day {first:date}, last day {last:date}.",
        "{name:name} has asked for {kind:name} between {first:date} and {last:date}; please enter that.",
    )
    needs = ("find_<<p.ids>>", "enter_<<r.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = pick(rng, list(state[self.v.p.ids].values()))["name"]
        return {"name": name, "kind": pick(rng, list(self.v.kinds)), **self.span(state, rng)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        days = {"first_day": slots["first"], "last_day": slots["last"]}
        return [
            self.find(slots),
            call(f"enter_{v.r.id}", **{key: found(0, 0, key)}, kind=slots["kind"], **days),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, key = self.v, f"{self.v.p.id}_id"
        person, days = self.person(slots, state), working_days(slots["first"], slots["last"])
        pending = [r for r in state[v.r.ids].values() if r[key] == person and r["status"] == "pending"]
        asked = sum(r["days"] for r in pending if r["kind"] == slots["kind"])
        fits = 0 < days <= min(v.s.max_days, self.left(self.balance(person, slots["kind"], state)) - asked)
        if state[v.p.ids][person]["status"] != "active" or not fits:
            raise LookupError("it cannot be asked for")
        if not self.clear(person, slots["first"], slots["last"], state):
            raise LookupError("something is entered for these days")
        fields = {key: person, "kind": slots["kind"], "first_day": slots["first"], "last_day": slots["last"]}
        when = f"from {slots['first']} to {slots['last']}"
        item = f"Has a {v.r} of {slots['name']} for {slots['kind']} {when} been entered?"
        kept = {f"{v.b.id}_id": self.balance(person, slots["kind"], state)[f"{v.b.id}_id"], "note": ""}
        fields |= {"days": days, "entered_on": state["today"], "status": "pending", **kept}
        return [Added(v.r.ids, fields, item)]


class Decide(LeaveGoal):
    """Approve the pending request of somebody."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The pending <<r>> of <<p>> {name:name} is fine, please approve it.",
        "Please approve the <<r>> that <<p>> {name:name} has pending.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "list_<<r.ids>>", "approve_<<r.id>>")
    status: ClassVar[str] = "pending"

    def request(self, slots: Slots, state: State) -> dict[str, Any]:
        """The request a sentence is about."""
        person, key = self.person(slots, state), f"{self.v.p.id}_id"
        rows = state[self.v.r.ids].values()
        return only([r for r in rows if r[key] == person and r["status"] == self.status])

    def some(self, state: State, rng: Rng) -> list[dict[str, Any]]:
        """Requests of the status, ahead, in a random order."""
        rows = [r for r in state[self.v.r.ids].values() if r["status"] == self.status]
        return shuffled(rng, [r for r in rows if r["first_day"] > state["today"]])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.some(state, rng)
        return {"name": state[self.v.p.ids][rows[0][f"{self.v.p.id}_id"]]["name"]} if rows else None

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it; it is the first in the last reply."""
        key = f"{self.v.p.id}_id"
        wanted = {key: found(0, 0, key), "status": self.status}
        return [self.find(slots), call(f"list_{self.v.r.ids}", **wanted)]

    def act(self, slots: Slots, verb: str, **given: Any) -> list[dict[str, Any]]:
        """Those calls and the one that changes it."""
        calls, key = self.look_up(slots), f"{self.v.r.id}_id"
        return [*calls, call(verb, **{key: found(len(calls) - 1, 0, key)}, **given)]

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return self.act(slots, f"approve_{self.v.r.id}")

    def change(self, request: dict[str, Any], state: State, item: str, **fields: Any) -> list[Outcome]:
        """The request has these values; its person, and who of the team is away, are concerned."""
        person = request[f"{self.v.p.id}_id"]
        team = state[self.v.p.ids][person][self.v.team]
        also = (person, f"away {team}", f"pending {team}")
        return [Changed(self.v.r.ids, request[f"{self.v.r.id}_id"], fields, item, also)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.approved(self.request(slots, state), state, f"pending {self.v.r} of {slots['name']}")

    def approved(self, request: dict[str, Any], state: State, which: str) -> list[Outcome]:
        """The request is approved and its days are taken."""
        v = self.v
        balance = self.balance(request[f"{v.p.id}_id"], request["kind"], state)
        if self.left(balance) < request["days"] or self.crowded(request, state):
            raise LookupError("it cannot be approved")
        taken = balance["taken"] + request["days"]
        item = f"Are the days of the {which} counted as taken?"
        return [
            *self.change(request, state, f"Has the {which} been approved?", status="approved"),
            Changed(v.b.ids, balance[f"{v.b.id}_id"], {"taken": taken}, item),
        ]


class ApproveOldest(Decide):
    """Approve the pending request of a team that was entered first."""

    phrases = (
        "Of the pending <<r.many>> of the <<teamwords>> {team:name}, please approve the one that was entered first.",
        "In the <<teamwords>> {team:name} the <<r>> that has been pending longest can be approved.",
    )
    needs = ("list_<<r.ids>>", "approve_<<r.id>>")

    def request(self, slots: Slots, state: State) -> dict[str, Any]:
        v = self.v
        rows = [r for r in state[v.r.ids].values() if r["status"] == self.status]
        rows = [r for r in rows if state[v.p.ids][r[f"{v.p.id}_id"]][v.team] == slots["team"]]
        first = min((r["entered_on"] for r in rows), default="")
        return only([r for r in rows if r["entered_on"] == first])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"team": pick(rng, self.v.s.team.choices)}

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        return [call(f"list_{self.v.r.ids}", **{self.v.team: slots["team"]}, status=self.status)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.approved(
            self.request(slots, state), state, f"{self.v.r} pending longest in {slots['team']}"
        )


class Reject(Decide):
    """Reject a pending request."""

    phrases = (
        'Please reject the pending <<r>> of <<p>> {name:name}, the reason is "{reason:text}".',
        'The pending <<r>> of <<p>> {name:name} has to be turned down: "{reason:text}".',
    )
    needs = ("find_<<p.ids>>", "list_<<r.ids>>", "reject_<<r.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "reason": pick(rng, self.v.s.refusals)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return self.act(slots, f"reject_{self.v.r.id}", reason=slots["reason"])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the pending {self.v.r} of {slots['name']} been rejected with that reason?"
        request = self.request(slots, state)
        return self.change(request, state, item, status="rejected", note=slots["reason"])


class Move(Decide):
    """Other days for a pending request."""

    phrases = (
        "The <<p>> {name:name} would rather be away from {first:date} to {last:date}, so change the pending <<r>>.",
        "Please move the pending <<r>> of <<p>> {name:name} to the days from {first:date} to {last:date}.",
    )
    needs = ("find_<<p.ids>>", "list_<<r.ids>>", "move_<<r.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, **self.span(state, rng)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return self.act(slots, f"move_{self.v.r.id}", first_day=slots["first"], last_day=slots["last"])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, request = self.v, self.request(slots, state)
        person, days = self.person(slots, state), working_days(slots["first"], slots["last"])
        left = self.left(self.balance(person, request["kind"], state))
        clear = self.clear(person, slots["first"], slots["last"], state, request[f"{v.r.id}_id"])
        same = (request["first_day"], request["last_day"]) == (slots["first"], slots["last"])
        if same or not clear or not 0 < days <= min(v.s.max_days, left):
            raise LookupError("it cannot be moved so")
        fields = {"first_day": slots["first"], "last_day": slots["last"], "days": days}
        item = (
            f"Has the pending {v.r} of {slots['name']} been moved to {slots['first']} until {slots['last']}?"
        )
        return self.change(request, state, item, **fields)


class Cancel(Decide):
    """Take an approved request back."""

    status = "approved"
    phrases = (
        "The plans of <<p>> {name:name} fell through, so cancel the approved <<r>> and give the days back.",
        "Please cancel the approved <<r>> of <<p>> {name:name}, which has not begun yet.",
    )
    needs = ("find_<<p.ids>>", "list_<<r.ids>>", "cancel_<<r.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return self.act(slots, f"cancel_{self.v.r.id}")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, request = self.v, self.request(slots, state)
        if request["first_day"] <= state["today"]:
            raise LookupError("it has begun")
        balance = self.balance(request[f"{v.p.id}_id"], request["kind"], state)
        item = f"Has the approved {v.r} of {slots['name']} been cancelled?"
        back = f"Has {slots['name']} got the days of the cancelled {v.r} back?"
        taken = balance["taken"] - request["days"]
        return [
            *self.change(request, state, item, status="cancelled"),
            Changed(v.b.ids, balance[f"{v.b.id}_id"], {"taken": taken}, back),
        ]


class Grant(LeaveGoal):
    """Days are added."""

    phrases = (
        'Please add {days:int} days to the {kind:name} of <<p>> {name:name}, with the reason "{reason:text}".',
        'The <<p>> {name:name} gets {days:int} more days of {kind:name}; the reason is "{reason:text}".',
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "adjust_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = pick(rng, list(state[self.v.p.ids].values()))["name"]
        given = {"days": int(rng.integers(2, 6)), "reason": pick(rng, self.v.s.reasons)}
        return {"name": name, "kind": pick(rng, list(self.v.kinds)), **given}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        balance = {f"{v.b.id}_id": found(1, 0, f"{v.b.id}_id")}
        return [
            self.find(slots),
            call(f"list_{v.b.ids}", **{key: found(0, 0, key)}, kind=slots["kind"]),
            call(f"adjust_{v.b.id}", **balance, days=slots["days"], reason=slots["reason"]),
        ]

    def adjusted(
        self, balance: dict[str, Any], days: int, reason: str, name: str, state: State
    ) -> list[Outcome]:
        """The balance has so many days more, and an adjustment says so."""
        v, key = self.v, f"{self.v.b.id}_id"
        item = f"Has the {balance['kind']} of {name} been changed by {days} days?"
        entry = {key: balance[key], "days": days, "reason": reason, "made_on": state["today"]}
        return [
            Changed(
                v.b.ids,
                balance[key],
                {"entitled": balance["entitled"] + days},
                item,
                (balance[f"{v.p.id}_id"],),
            ),
            Added(
                v.j.ids, entry, f"Has {v.j.a} of {days} days of {balance['kind']} been written for {name}?"
            ),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        balance = self.balance(self.person(slots, state), slots["kind"], state)
        return self.adjusted(balance, slots["days"], slots["reason"], slots["name"], state)


class Convert(Grant):
    """All that is left of one kind becomes another."""

    phrases = (
        "Please turn all {kind:name} that <<p>> {name:name} has left into {other:name}.",
        "The <<p>> {name:name} would like the whole rest of the {kind:name} to be moved to {other:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<b.ids>>", "convert_days")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        kind, other = shuffled(rng, list(self.v.kinds))[:2]
        return {"name": pick(rng, list(state[self.v.p.ids].values()))["name"], "kind": kind, "other": other}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key, balance = self.v, f"{self.v.p.id}_id", f"{self.v.b.id}_id"
        mine = {key: found(0, 0, key)}
        ends = {f"from_{balance}": found(1, 0, balance), f"to_{balance}": found(2, 0, balance)}
        return [
            self.find(slots),
            call(f"list_{v.b.ids}", **mine, kind=slots["kind"]),
            call(f"list_{v.b.ids}", **mine, kind=slots["other"]),
            call("convert_days", **ends, days=found(1, 0, "left")),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, person = self.v, self.person(slots, state)
        one, two = (self.balance(person, kind, state) for kind in (slots["kind"], slots["other"]))
        pending = [
            r for r in state[v.r.ids].values() if r[f"{v.p.id}_id"] == person and r["status"] == "pending"
        ]
        if one is two or self.left(one) < 1 or pending:
            raise LookupError("there is nothing to move")
        days = self.left(one)
        return [
            *self.adjusted(one, -days, f"converted to {slots['other']}", slots["name"], state),
            *self.adjusted(two, days, f"converted from {slots['kind']}", slots["name"], state),
        ]


class Leave(Pattern):
    """Days off, requests for them and balances."""

    Settings = LeaveSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (Ask, Decide, ApproveOldest, Reject, Move, Cancel, Grant, Convert)

    def vocabulary(self, s: LeaveSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        return {
            "p": shared[s.person],
            "b": Noun(s.balance),
            "r": Noun(s.request),
            "j": Noun(s.adjustment),
            "team": s.team.name,
            "teamwords": s.team.name.replace("_", " "),
            "teams": s.team.choices,
            "teamlist": either(s.team.choices),
            "kinds": list(s.kinds),
            "kindlist": either(list(s.kinds)),
            "statuses": STATUSES,
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, p, b, r, j = v.s, v.p, v.b, v.r, v.j
        return [
            Table(
                b,
                f"How many days of a kind {p.a} is entitled to and has taken.",
                [
                    attribute(f"{b.id}_id", "str", f"unique id, e.g. {s.balance_prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p}"),
                    attribute("kind", "str", f"kind of leave: {v.kindlist}"),
                    attribute("entitled", "int", "working days in this year"),
                    attribute("taken", "int", f"working days of approved {r.many}"),
                ],
            ),
            Table(
                r,
                f"{r.a[:1].upper()}{r.a[1:]} for days off.",
                [
                    attribute(f"{r.id}_id", "str", f"unique id, e.g. {s.request_prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p} who asks"),
                    attribute("kind", "str", f"kind of leave: {v.kindlist}"),
                    attribute(f"{b.id}_id", "str", f"the {b} it draws on"),
                    attribute("first_day", "str", "first day off, as YYYY-MM-DD"),
                    attribute("last_day", "str", "last day off, as YYYY-MM-DD"),
                    attribute("days", "int", "working days in it, Monday to Friday"),
                    attribute("entered_on", "str", "date, as YYYY-MM-DD"),
                    attribute("status", "str", either(STATUSES)),
                    attribute("note", "str", "why it was rejected, otherwise empty"),
                ],
            ),
            Table(
                j,
                f"{j.a[:1].upper()}{j.a[1:]} of what somebody is entitled to.",
                [
                    attribute(f"{j.id}_id", "str", f"unique id, e.g. {s.adjustment_prefix}-001"),
                    attribute(f"{b.id}_id", "str", f"the {b}"),
                    attribute("days", "int", "days added, below 0 for taken off"),
                    attribute("reason", "str", "why"),
                    attribute("made_on", "str", "date, as YYYY-MM-DD"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "Nobody takes more days of a kind than they are entitled to.",
            """
            return all(
                0 <= (row.get("taken") or 0) <= (row.get("entitled") or 0) for row in rows(after, "<<b.ids>>").values()
            )
            """,
        ),
        RuleText(
            "The days taken of a kind are those of the approved <<r.many>>.",
            """
            taken = {}
            for row in rows(after, "<<r.ids>>").values():
                if row.get("status") == "approved":
                    pair = (row.get("<<p.id>>_id"), row.get("kind"))
                    taken[pair] = taken.get(pair, 0) + (row.get("days") or 0)
            return all(
                row.get("taken") == taken.get((row.get("<<p.id>>_id"), row.get("kind")), 0)
                for row in rows(after, "<<b.ids>>").values()
            )
            """,
        ),
        RuleText(
            "Pending and approved <<r.many>> of one <<p>> do not overlap.",
            """
            kept = [row for row in rows(after, "<<r.ids>>").values() if row.get("status") in ("pending", "approved")]
            for one in kept:
                for two in kept:
                    same = one is not two and one.get("<<p.id>>_id") == two.get("<<p.id>>_id")
                    if same and str(one.get("first_day")) <= str(two.get("last_day")):
                        if str(two.get("first_day")) <= str(one.get("last_day")):
                            return False
            return True
            """,
        ),
        RuleText(
            "No more than <<s.max_absent>> of one <<teamwords>> are away on the same day.",
            """
            people = rows(after, "<<p.ids>>")
            kept = [row for row in rows(after, "<<r.ids>>").values() if row.get("status") == "approved"]
            for one in kept:
                team = (people.get(str(one.get("<<p.id>>_id"))) or {}).get("<<team>>")
                day = str(one.get("first_day"))
                away = [
                    row for row in kept
                    if (people.get(str(row.get("<<p.id>>_id"))) or {}).get("<<team>>") == team
                    and str(row.get("first_day")) <= day <= str(row.get("last_day"))
                ]
                if len(away) > <<s.max_absent>>:
                    return False
            return True
            """,
        ),
        RuleText(
            "Every change of what somebody is entitled to is written down as <<j.a>>.",
            """
            moved = {new.get("<<b.id>>_id"): new.get("entitled", 0) - old.get("entitled", 0)
                     for old, new in changed("<<b.ids>>", "entitled")}
            written = {}
            for row in added("<<j.ids>>"):
                key = row.get("<<b.id>>_id")
                written[key] = written.get(key, 0) + (row.get("days") or 0)
            return moved == written
            """,
        ),
        RuleText(
            "A rejected <<r>> has a note with the reason, and no other <<r>> has one.",
            """
            return all(
                (row.get("status") == "rejected") == bool(row.get("note")) for row in rows(after, "<<r.ids>>").values()
            )
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _working_days(first_day: str, last_day: str) -> int | None:
        """Count the days from Monday to Friday of a span; None when it is none or longer than a year."""
        try:
            first, last = date.fromisoformat(first_day), date.fromisoformat(last_day)
        except ValueError:
            return None
        span = (last - first).days
        if (first.isoformat(), last.isoformat()) != (first_day, last_day) or not 0 <= span <= 366:
            return None
        return sum((first.weekday() + n) % 7 < 5 for n in range(span + 1))

    def _<<b.id>>_of(self, <<p.id>>_id: str, kind: str) -> dict | None:
        """Return what <<p.a>> has of a kind of leave, None when there is nothing."""
        for <<b.id>> in self.<<b.ids>>.values():
            if <<b.id>>["<<p.id>>_id"] == <<p.id>>_id and <<b.id>>["kind"] == kind:
                return <<b.id>>
        return None

    def _pending_days(self, <<p.id>>_id: str, kind: str, ignore: str = "") -> int:
        """Count the days of a kind that <<p.a>> has asked for in other pending <<r.many>>."""
        return sum(
            <<r.id>>["days"]
            for <<r.id>> in self.<<r.ids>>.values()
            if <<r.id>>["<<p.id>>_id"] == <<p.id>>_id
            and <<r.id>>["kind"] == kind
            and <<r.id>>["status"] == "pending"
            and <<r.id>>["<<r.id>>_id"] != ignore
        )

    def _overlaps(self, <<p.id>>_id: str, first_day: str, last_day: str, ignore: str = "") -> bool:
        """Tell whether <<p.a>> has another pending or approved <<r>> on one of the days."""
        return any(
            <<r.id>>["<<p.id>>_id"] == <<p.id>>_id
            and <<r.id>>["status"] in ("pending", "approved")
            and <<r.id>>["<<r.id>>_id"] != ignore
            and <<r.id>>["first_day"] <= last_day
            and first_day <= <<r.id>>["last_day"]
            for <<r.id>> in self.<<r.ids>>.values()
        )

    def _away(self, <<team>>: str, day: str) -> list[dict]:
        """Return the approved <<r.many>> of a <<teamwords>> that cover a day."""
        return [
            <<r.id>>
            for <<r.id>> in self.<<r.ids>>.values()
            if <<r.id>>["status"] == "approved"
            and <<r.id>>["first_day"] <= day <= <<r.id>>["last_day"]
            and self.<<p.ids>>[<<r.id>>["<<p.id>>_id"]]["<<team>>"] == <<team>>
        ]

    def _adjust(self, <<b.id>>: dict, days: int, reason: str) -> None:
        """Change what somebody is entitled to and write it down."""
        <<b.id>>["entitled"] += days
        <<j.id>>: <<j.type>> = {
            "<<j.id>>_id": self._next_id(self.<<j.ids>>, "<<s.adjustment_prefix>>"),
            "<<b.id>>_id": <<b.id>>["<<b.id>>_id"],
            "days": days,
            "reason": reason,
            "made_on": self.today,
        }
        self.<<j.ids>>[<<j.id>>["<<j.id>>_id"]] = <<j.id>>
'''

    READS = (
        MACROS
        + '''
def list_<<b.ids>>(self, <<p.id>>_id: str | None = None, kind: str | None = None) -> dict:
    """List how many days people are entitled to, have taken and have left, those with most left first.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        kind: Only this kind of leave: <<kindlist>>. Leave out for all.

    Returns:
        The <<b.many>>, each with the days `left`.
    """
<<one_of("kind", "kind of leave", kinds)>>
    selected = [
        {**entry, "left": entry["entitled"] - entry["taken"]}
        for entry in self.<<b.ids>>.values()
        if <<p.id>>_id in (None, entry["<<p.id>>_id"])
        and kind in (None, entry["kind"])
    ]
    selected.sort(key=lambda entry: (-entry["left"], entry["<<b.id>>_id"]))
    return {"success": True, "data": selected}

def list_<<r.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<team>>: str | None = None,
    kind: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<r.many>>, the one entered first in front.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<team>>: Only those of people of this <<teamwords>>: <<teamlist>>. Leave out for all.
        kind: Only this kind of leave: <<kindlist>>. Leave out for all.
        status: Only this status: <<statuses|join(", ")>>. Leave out for all.

    Returns:
        The matching <<r.many>>; an empty list when there are none.
    """
<<one_of(team, teamwords, teams)>>
<<one_of("kind", "kind of leave", kinds)>>
<<one_of("status", "status", statuses)>>
    selected = [
        dict(entry)
        for entry in self.<<r.ids>>.values()
        if <<p.id>>_id in (None, entry["<<p.id>>_id"])
        and <<team>> in (None, self.<<p.ids>>[entry["<<p.id>>_id"]]["<<team>>"])
        and kind in (None, entry["kind"])
        and status in (None, entry["status"])
    ]
    selected.sort(key=lambda entry: (entry["entered_on"], entry["<<r.id>>_id"]))
    return {"success": True, "data": selected}

<<getter(r, s.request_prefix)>>

def list_absences(self, day: str, <<team>>: str | None = None) -> dict:
    """List who is away on a day.

    Args:
        day: The day, as YYYY-MM-DD.
        <<team>>: Only people of this <<teamwords>>: <<teamlist>>. Leave out for all.

    Returns:
        The approved <<r.many>> that cover the day, each with the `name` of the <<p>>.
    """
    refuse if self._working_days(day, day) is None :: {day!r} is not a date as YYYY-MM-DD.
<<one_of(team, teamwords, teams)>>
    wanted = (<<quoted(teams)>>) if <<team>> is None else (<<team>>,)
    selected = [
        {**entry, "name": self.<<p.ids>>[entry["<<p.id>>_id"]]["name"]}
        for one in wanted
        for entry in self._away(one, day)
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: entry["name"])}

def count_working_days(self, first_day: str, last_day: str) -> dict:
    """Count the days from Monday to Friday of a span, both ends counted.

    Args:
        first_day: First day, as YYYY-MM-DD.
        last_day: Last day, as YYYY-MM-DD; not before the first and within a year of it.

    Returns:
        The number of working days.
    """
    days = self._working_days(first_day, last_day)
    refuse if days is None :: From {first_day!r} to {last_day!r} is not a span of days.
    return {"success": True, "data": {"first_day": first_day, "last_day": last_day, "days": days}}

def list_<<j.ids>>(self, <<p.id>>_id: str) -> dict:
    """List how the days that <<p.a>> is entitled to were changed, the latest first.

    Args:
        <<p.id>>_id: Id of the <<p>>.

    Returns:
        The <<j.many>>; an empty list when there are none.
    """
    refuse if <<p.id>>_id not in self.<<p.ids>> :: There is no <<p>> with the id {<<p.id>>_id!r}.
    selected = [
        dict(entry)
        for entry in self.<<j.ids>>.values()
        if self.<<b.ids>>[entry["<<b.id>>_id"]]["<<p.id>>_id"] == <<p.id>>_id
    ]
    selected.sort(key=lambda entry: (entry["made_on"], entry["<<j.id>>_id"]), reverse=True)
    return {"success": True, "data": selected}
'''
    )

    WRITES = (
        MACROS
        + '''
<% macro pending() %>
    refuse if <<r.id>>["status"] != "pending" :: <<r.cap>> {<<r.id>>_id} is {<<r.id>>['status']}, not pending.
<%- endmacro %>
<% macro span() %>
    days = self._working_days(first_day, last_day)
    refuse if days is None :: From {first_day!r} to {last_day!r} is not a span of days.
    refuse if first_day <= self.today :: The first day must be after today.
    refuse if days < 1 or days > <<s.max_days>> :: The span must have 1 to <<s.max_days>> working days, not {days}.
<%- endmacro %>
def enter_<<r.id>>(self, <<p.id>>_id: str, kind: str, first_day: str, last_day: str) -> dict:
    """Enter a new <<r>> for days off.

    Args:
        <<p.id>>_id: Id of the <<p>>, who is active.
        kind: The kind of leave: <<kindlist>>.
        first_day: First day off, after today, as YYYY-MM-DD.
        last_day: Last day off, as YYYY-MM-DD. The days must come to 1 to <<s.max_days>> working days, no more than are
            left once pending <<r.many>> are counted.

    Returns:
        The new <<r>>, which is pending, or an error.
    """
    need p
    refuse if <<p.id>>["status"] != "active" :: {<<p.id>>['name']} is {<<p.id>>['status']}.
    refuse if kind not in (<<quoted(kinds)>>) :: There is no kind of leave {kind!r}.
<<span()>>
    refuse if self._overlaps(<<p.id>>_id, first_day, last_day) :: {<<p.id>>['name']} has <<r.a>> for these days already.
    <<b.id>> = self._<<b.id>>_of(<<p.id>>_id, kind)
    refuse if <<b.id>> is None :: {<<p.id>>['name']} is entitled to no {kind}.
    left = <<b.id>>["entitled"] - <<b.id>>["taken"] - self._pending_days(<<p.id>>_id, kind)
    refuse if days > left :: Only {max(0, left)} days of {kind} are left beyond what is pending.
    <<r.id>>: <<r.type>> = {
        "<<r.id>>_id": self._next_id(self.<<r.ids>>, "<<s.request_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "kind": kind,
        "<<b.id>>_id": <<b.id>>["<<b.id>>_id"],
        "first_day": first_day,
        "last_day": last_day,
        "days": days,
        "entered_on": self.today,
        "status": "pending",
        "note": "",
    }
    self.<<r.ids>>[<<r.id>>["<<r.id>>_id"]] = <<r.id>>
<<done(r, "entered")>>

def move_<<r.id>>(self, <<r.id>>_id: str, first_day: str, last_day: str) -> dict:
    """Move a pending <<r>> to other days.

    Args:
        <<r.id>>_id: Id of the <<r>>, which must be pending.
        first_day: New first day, after today, as YYYY-MM-DD.
        last_day: New last day, as YYYY-MM-DD. The days must come to 1 to <<s.max_days>> working days, no more than are
            left once other pending <<r.many>> are counted.

    Returns:
        The changed <<r>>, or an error.
    """
    need r
<<pending()>>
<<span()>>
    days_now = (<<r.id>>["first_day"], <<r.id>>["last_day"])
    refuse if days_now == (first_day, last_day) :: <<r.cap>> {<<r.id>>_id} is for these days already.
    <<p.id>>_id, kind = <<r.id>>["<<p.id>>_id"], <<r.id>>["kind"]
    refuse if self._overlaps(<<p.id>>_id, first_day, last_day, <<r.id>>_id) :: Another <<r>> covers these days.
    <<b.id>> = self.<<b.ids>>[<<r.id>>["<<b.id>>_id"]]
    left = <<b.id>>["entitled"] - <<b.id>>["taken"] - self._pending_days(<<p.id>>_id, kind, <<r.id>>_id)
    refuse if days > left :: Only {max(0, left)} days of {kind} are left beyond what is pending.
    <<r.id>>["first_day"] = first_day
    <<r.id>>["last_day"] = last_day
    <<r.id>>["days"] = days
<<done(r, "moved")>>

def approve_<<r.id>>(self, <<r.id>>_id: str) -> dict:
    """Approve a pending <<r>>, whose days are thereby taken.

    Args:
        <<r.id>>_id: Id of the <<r>>, which must be pending, with its days left and on each of them fewer than
            <<s.max_absent>> of the <<teamwords>> away.

    Returns:
        The approved <<r>>, or an error.
    """
    need r
<<pending()>>
    <<b.id>> = self.<<b.ids>>[<<r.id>>["<<b.id>>_id"]]
    left = <<b.id>>["entitled"] - <<b.id>>["taken"]
    refuse if <<r.id>>["days"] > left :: Only {left} days of {<<r.id>>['kind']} are left.
    <<team>> = self.<<p.ids>>[<<r.id>>["<<p.id>>_id"]]["<<team>>"]
    day = date.fromisoformat(<<r.id>>["first_day"])
    while day.isoformat() <= <<r.id>>["last_day"]:
        away = len(self._away(<<team>>, day.isoformat()))
        refuse if away >= <<s.max_absent>> :: {away} of {<<team>>} are away on {day} already.
        day += timedelta(days=1)
    <<r.id>>["status"] = "approved"
    <<b.id>>["taken"] += <<r.id>>["days"]
<<done(r, "approved")>>

def reject_<<r.id>>(self, <<r.id>>_id: str, reason: str) -> dict:
    """Reject a pending <<r>>.

    Args:
        <<r.id>>_id: Id of the <<r>>, which must be pending.
        reason: Why, in a few words; kept as its note.

    Returns:
        The rejected <<r>>, or an error.
    """
    need r
<<pending()>>
    refuse if not reason.strip() :: A reason is required.
    <<r.id>>["status"] = "rejected"
    <<r.id>>["note"] = reason.strip()
<<done(r, "rejected")>>

def cancel_<<r.id>>(self, <<r.id>>_id: str) -> dict:
    """Cancel <<r.a>> that has not begun; approved days are given back.

    Args:
        <<r.id>>_id: Id of the <<r>>, which must be pending or approved.

    Returns:
        The cancelled <<r>>, or an error.
    """
    need r
    refuse if <<r.id>>["status"] not in ("pending", "approved") :: <<r.cap>> {<<r.id>>_id} is {<<r.id>>['status']}.
    refuse if <<r.id>>["first_day"] <= self.today :: <<r.cap>> {<<r.id>>_id} has begun on {<<r.id>>['first_day']}.
    if <<r.id>>["status"] == "approved":
        self.<<b.ids>>[<<r.id>>["<<b.id>>_id"]]["taken"] -= <<r.id>>["days"]
    <<r.id>>["status"] = "cancelled"
<<done(r, "cancelled")>>

def adjust_<<b.id>>(self, <<b.id>>_id: str, days: int, reason: str) -> dict:
    """Add days to what somebody is entitled to, or take some off.

    Args:
        <<b.id>>_id: Id of the <<b>>.
        days: Days to add, below 0 to take off: not 0, at most 30, and never more off than are left.
        reason: Why, in a few words.

    Returns:
        The changed <<b>>, or an error.
    """
    need b
    refuse if days == 0 or abs(days) > 30 :: The number of days must be 1 to 30, or -30 to -1.
    refuse if not reason.strip() :: A reason is required.
    left = <<b.id>>["entitled"] - <<b.id>>["taken"]
    refuse if left + days < 0 :: Only {left} days are left.
    self._adjust(<<b.id>>, days, reason.strip())
<<done(b, "changed")>>

def convert_days(self, from_<<b.id>>_id: str, to_<<b.id>>_id: str, days: int) -> dict:
    """Turn days of one kind into days of another kind of the same <<p>>.

    Args:
        from_<<b.id>>_id: Id of the <<b>> the days are taken off.
        to_<<b.id>>_id: Id of another <<b>> of the same <<p>>, to which they are added.
        days: How many: at least 1 and no more than are left once pending <<r.many>> are counted.

    Returns:
        Both <<b.many>> after the change, or an error.
    """
    source, target = self.<<b.ids>>.get(from_<<b.id>>_id), self.<<b.ids>>.get(to_<<b.id>>_id)
    refuse if source is None :: There is no <<b>> with the id {from_<<b.id>>_id!r}.
    refuse if target is None :: There is no <<b>> with the id {to_<<b.id>>_id!r}.
    refuse if source is target :: It is the same <<b>>.
    refuse if source["<<p.id>>_id"] != target["<<p.id>>_id"] :: The <<b.many>> belong to two people.
    refuse if days < 1 :: The number of days must be at least 1.
    left = source["entitled"] - source["taken"] - self._pending_days(source["<<p.id>>_id"], source["kind"])
    refuse if days > left :: Only {max(0, left)} days of {source['kind']} are left beyond what is pending.
    self._adjust(source, -days, f"converted to {target['kind']}")
    self._adjust(target, days, f"converted from {source['kind']}")
    data = {"from": dict(source), "to": dict(target)}
    return {"success": True, "message": f"{days} days converted.", "data": data}
'''
    )

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, key = v.s, f"{v.p.id}_id"
        for n, person in enumerate(state[v.p.ids].values()):
            person[v.team] = v.teams[n % len(v.teams)]
            for kind in v.kinds:
                number = key_of(s.balance_prefix, len(state[v.b.ids]) + 1)
                entitled = int(rng.integers(s.kinds[kind][0], s.kinds[kind][1] + 1))
                row = {f"{v.b.id}_id": number, key: person[key], "kind": kind}
                state[v.b.ids][number] = {**row, "entitled": entitled, "taken": 0}
        statuses = shuffled(rng, ["pending"] * 6 + ["approved"] * 4 + ["rejected"] * 2)
        people = shuffled(rng, [k for k, row in state[v.p.ids].items() if row["status"] == "active"])
        days = sorted((int(d) for d in rng.choice(range(1, 40), size=12, replace=False)), reverse=True)
        for n, (status, ago) in enumerate(zip(statuses, days, strict=True)):
            self._request(v, state, rng, people[n % len(people)], status, later(state["today"], -ago))
        for _ in range(5):
            balance = pick(rng, list(state[v.b.ids].values()))
            number = key_of(s.adjustment_prefix, len(state[v.j.ids]) + 1)
            state[v.j.ids][number] = {
                f"{v.j.id}_id": number,
                f"{v.b.id}_id": balance[f"{v.b.id}_id"],
                "days": int(rng.integers(1, 4)),
                "reason": pick(rng, s.reasons),
                "made_on": later(state["today"], -int(rng.integers(3, 60))),
            }

    def _request(
        self, v: SimpleNamespace, state: State, rng: Rng, person: str, status: str, entered: str
    ) -> None:
        goal = LeaveGoal(v, [])
        span, kind = goal.span(state, rng), pick(rng, v.kinds)
        days = working_days(span["first"], span["last"])
        balance = goal.balance(person, kind, state)
        key = key_of(v.s.request_prefix, len(state[v.r.ids]) + 1)
        request = {
            f"{v.r.id}_id": key,
            f"{v.p.id}_id": person,
            "kind": kind,
            f"{v.b.id}_id": balance[f"{v.b.id}_id"],
            "first_day": span["first"],
            "last_day": span["last"],
            "days": days,
            "entered_on": entered,
            "status": status,
            "note": pick(rng, v.s.refusals) if status == "rejected" else "",
        }
        asked = sum(
            r["days"]
            for r in state[v.r.ids].values()
            if r["status"] == "pending" and r[f"{v.b.id}_id"] == balance[f"{v.b.id}_id"]
        )
        if days > goal.left(balance) - asked or not goal.clear(person, span["first"], span["last"], state):
            return
        if status == "approved" and goal.crowded(request, state):
            return
        if status == "approved":
            balance["taken"] += days
        state[v.r.ids][key] = request


PATTERN = Leave
