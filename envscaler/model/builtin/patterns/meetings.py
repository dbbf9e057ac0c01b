"""Meetings: who is free when, rooms with seats and screens, answers, other times proposed, and who gives way."""

from collections.abc import Sequence
from datetime import date
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
    call,
    either,
    found,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]
Span = tuple[str, str]


class MeetingSettings(Settings):
    """The teams, rooms and subjects of an office."""

    teams: list[str]
    """Teams people are in."""
    rooms: dict[str, tuple[int, int, str]]
    """Name of a room → seats, floor and screen: `working`, `broken` or `none`."""
    subjects: list[str]
    """Titles of meetings; none is part of another."""
    opens: str = "08:00"
    """Earliest time of a meeting."""
    closes: str = "18:00"
    """Latest time of a meeting."""


def minutes(time: str) -> int:
    """`09:30` → 570."""
    return int(time[:2]) * 60 + int(time[3:])


def clock(number: int) -> str:
    """570 → `09:30`."""
    return f"{number // 60:02d}:{number % 60:02d}"


def clash(spans: Sequence[Span], start: str, end: str) -> bool:
    """Whether one of the spans lies on this one."""
    return any(first < end and start < last for first, last in spans)


def workday(day: str) -> bool:
    """Whether it is a Monday to Friday."""
    return date.fromisoformat(day).weekday() < 5


class MeetingGoal(Goal):
    """What goals about meetings share."""

    def person(self, name: str, state: State) -> str:
        """The id of the colleague of that name."""
        return str(named(state, Noun("colleague"), name)["colleague_id"])

    def meeting(self, slots: Slots, state: State) -> Row:
        """The one planned meeting of that title."""
        rows = state["meetings"].values()
        return only([row for row in rows if row["title"] == slots["title"] and row["status"] == "planned"])

    def some(self, state: State, rng: Rng) -> Row:
        """A planned meeting of which there is one by that title."""
        rows = [row for row in state["meetings"].values() if row["status"] == "planned"]
        titles = [row["title"] for row in rows]
        return pick(rng, [row for row in rows if titles.count(row["title"]) == 1])

    def answers(self, meeting: str, state: State) -> list[Row]:
        """The invitations to a meeting."""
        return [row for row in state["invitations"].values() if row["meeting_id"] == meeting]

    def coming(self, meeting: str, state: State) -> int:
        """How many have not declined."""
        return sum(row["answer"] != "declined" for row in self.answers(meeting, state))

    def busy(self, person: str, day: str, state: State, ignore: str = "") -> list[Span]:
        """What somebody has accepted or blocked on a day."""
        accepted = [
            state["meetings"][row["meeting_id"]]
            for row in state["invitations"].values()
            if row["colleague_id"] == person and row["answer"] == "accepted" and row["meeting_id"] != ignore
        ]
        blocked = [row for row in state["focus_blocks"].values() if row["colleague_id"] == person]
        planned = [row for row in accepted if row["status"] == "planned"]
        return [(row["start"], row["end"]) for row in [*planned, *blocked] if row["day"] == day]

    def free(self, room: str, day: str, start: str, end: str, state: State, ignore: str = "") -> bool:
        """Whether a room is free."""
        rows = [row for key, row in state["meetings"].items() if row["room_id"] == room and key != ignore]
        return not clash([(row["start"], row["end"]) for row in rows if row["day"] == day], start, end)

    def rooms(self, day: str, span: Span, seats: int, state: State, screen: bool = False) -> list[str]:
        """The free rooms that fit, the smallest first."""
        rows = [
            row
            for key, row in state["rooms"].items()
            if row["seats"] >= seats
            and (row["screen"] == "working" or not screen)
            and self.free(key, day, *span, state)
        ]
        return [row["room_id"] for row in sorted(rows, key=lambda row: (row["seats"], row["name"]))]

    def day(self, state: State, rng: Rng) -> str:
        """A working day ahead."""
        return later(state["today"], int(rng.choice([1, 2, 3, 4, 7, 8, 9, 10])))

    def change(self, row: Row, item: str, **fields: Any) -> Changed:
        """The meeting has these values."""
        return Changed("meetings", row["meeting_id"], fields, item)

    def moved(self, row: Row, day: str, start: str, state: State, taken: str = "") -> list[Outcome]:
        """It is at another time, with its room if that is free; all but organiser and `taken` are asked anew."""
        end = clock(minutes(start) + minutes(row["end"]) - minutes(row["start"]))
        key, s = row["meeting_id"], self.v.s
        same = (day, start) == (row["day"], row["start"])
        if same or not workday(day) or day <= state["today"] or not s.opens <= start < end <= s.closes:
            raise LookupError("it cannot be moved there")
        if clash(self.busy(row["organiser_id"], day, state, key), start, end):
            raise LookupError("the organiser is not free")
        room = row["room_id"]
        if room and not self.free(room, day, start, end, state, key):
            room = None
        if room and state["rooms"][room]["seats"] < len(self.answers(key, state)):
            room = None
        item = f"Is {row['title']} on {day} from {start} to {end} now?"
        wanted: list[Outcome] = [self.change(row, item, day=day, start=start, end=end, room_id=room)]
        for one in self.answers(key, state):
            answer = "accepted" if one["colleague_id"] in (row["organiser_id"], taken) else "open"
            if one["answer"] != answer:
                who = state["colleagues"][one["colleague_id"]]["name"]
                item = f"Is the answer of {who} to {row['title']} {answer}?"
                wanted.append(Changed("invitations", one["invitation_id"], {"answer": answer}, item))
        return wanted

    def lapsed(self, row: Row, state: State, but: str = "") -> list[Outcome]:
        """Its open proposals, all but one, are void."""
        return [
            Changed(
                "proposals", key, {"status": "lapsed"}, f"Has the proposal {key} for {row['title']} lapsed?"
            )
            for key, one in state["proposals"].items()
            if one["meeting_id"] == row["meeting_id"] and one["status"] == "open" and key != but
        ]


class Plan(MeetingGoal):
    """A meeting at the first time when three people are free, in the smallest room."""

    phrases = (
        "Find the earliest {length:int} minutes from {first:date} to {last:date} when {one:name} and {two:name} are "
        "both free and plan the meeting {title:name} for these two then, organised by the former, in the smallest "
        "free room that seats two.",
        "Between {first:date} and {last:date}, what is the first gap of {length:int} minutes that {one:name} and "
        "{two:name} share? Please plan {title:name} for then in the smallest free room, with the first of the two as "
        "the organiser and the other invited.",
    )
    needs = ("find_colleagues", "find_common_slots", "rank_rooms", "plan_meeting")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one, two = (row["name"] for row in shuffled(rng, list(state["colleagues"].values()))[:2])
        first = self.day(state, rng)
        used = {row["title"] for row in state["meetings"].values()}
        title = pick(rng, [one for one in self.v.s.subjects if one not in used])
        span = {"first": first, "last": later(first, int(rng.integers(1, 4)))}
        return {"one": one, "two": two, "title": title, "length": pick(rng, [30, 60, 90]), **span}

    def plan(self, slots: Slots) -> list[Row]:
        both = [found(0, 0, "colleague_id"), found(1, 0, "colleague_id")]
        days = {"first_day": slots["first"], "last_day": slots["last"], "minutes": slots["length"]}
        when = {name: found(2, 0, name) for name in ("day", "start", "end")}
        return [
            *steps(slots, "find_colleagues name=one", "find_colleagues name=two"),
            call("find_common_slots", colleague_ids=both, **days),
            call("rank_rooms", **when, people=2),
            call(
                "plan_meeting",
                title=slots["title"],
                organiser_id=both[0],
                guest_ids=both[1:],
                room_id=found(3, 0, "room_id"),
                **when,
            ),
        ]

    def gap(
        self, people: list[str], first: str, last: str, length: int, state: State
    ) -> tuple[str, str, str]:
        """The first day and span at which all are free."""
        rows = [state["colleagues"][key] for key in people]
        opens, closes = max(row["works_from"] for row in rows), min(row["works_until"] for row in rows)
        for n in range((date.fromisoformat(last) - date.fromisoformat(first)).days + 1):
            day = later(first, n)
            spans = [span for key in people for span in self.busy(key, day, state)]
            for begin in range(minutes(opens), minutes(closes) - length + 1, 30):
                start, end = clock(begin), clock(begin + length)
                if workday(day) and not clash(spans, start, end):
                    return day, start, end
        raise LookupError("there is no such gap")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        people = [self.person(slots[name], state) for name in ("one", "two")]
        day, start, end = self.gap(people, slots["first"], slots["last"], slots["length"], state)
        rooms = self.rooms(day, (start, end), 2, state)
        if not rooms or any(row["title"] == slots["title"] for row in state["meetings"].values()):
            raise LookupError("there is no room, or such a meeting already")
        fields = {"title": slots["title"], "organiser_id": people[0], "room_id": rooms[0], "day": day}
        fields |= {
            "start": start,
            "end": end,
            "priority": 2,
            "bumped_by_id": None,
            "private": False,
            "repeats_id": None,
        }
        item = f"Has {slots['title']} been planned for {day} from {start} to {end} in the smallest room?"
        mark = tuple(f"{who} {day}" for who in people)
        return [
            Added("meetings", {**fields, "status": "planned"}, item, mark),
            *(
                Added("invitations", {"colleague_id": who, "answer": answer}, said)
                for who, answer, said in (
                    (people[0], "accepted", f"Is {slots['one']} down as coming to {slots['title']}?"),
                    (people[1], "open", f"Has {slots['two']} been invited to {slots['title']}?"),
                )
            ),
        ]


class Move(MeetingGoal):
    """Another day at the same time."""

    weight: ClassVar[float] = 0.6
    phrases: ClassVar[tuple[str, ...]] = (
        "Please move {title:name} to {day:date} at {start:time}, keeping everybody who is invited.",
        "The meeting {title:name} has to take place on {day:date} from {start:time} instead, with the same people.",
    )
    needs: ClassVar[tuple[str, ...]] = ("search_meetings", "move_meeting")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        start = clock(60 * 8 + 30 * int(rng.integers(2, 16)))
        return {"title": self.some(state, rng)["title"], "day": self.day(state, rng), "start": start}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "search_meetings text=title", "move_meeting meeting_id<0 day start")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.meeting(slots, state)
        return [*self.moved(row, slots["day"], slots["start"], state), *self.lapsed(row, state)]


class Screen(MeetingGoal):
    """The smallest free room with a working screen."""

    phrases: ClassVar[tuple[str, ...]] = (
        "There will be slides at {title:name}, so put it into the smallest free room with a working screen that has "
        "{seats:int} seats or more.",
        "Please give {title:name} another room: the smallest one free at that time with at least {seats:int} seats and "
        "a screen that works.",
    )
    needs: ClassVar[tuple[str, ...]] = ("search_meetings", "rank_rooms", "change_room")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        return {
            "title": row["title"],
            "seats": self.coming(row["meeting_id"], state) + int(rng.integers(1, 4)),
        }

    def plan(self, slots: Slots) -> list[Row]:
        when = {name: found(0, 0, name) for name in ("day", "start", "end")}
        return [
            *steps(slots, "search_meetings text=title"),
            call("rank_rooms", **when, people=slots["seats"], with_screen=True),
            call("change_room", meeting_id=found(0, 0, "meeting_id"), room_id=found(1, 0, "room_id")),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.meeting(slots, state)
        rooms = self.rooms(row["day"], (row["start"], row["end"]), slots["seats"], state, screen=True)
        if not rooms or slots["seats"] < self.coming(row["meeting_id"], state):
            raise LookupError("there is no such room")
        name = state["rooms"][rooms[0]]["name"]
        return [self.change(row, f"Is {slots['title']} in {name} now?", room_id=rooms[0], bumped_by_id=None)]


class Bump(MeetingGoal):
    """A meeting of higher priority takes the room of another."""

    phrases = (
        "It is important that {title:name} gets the room {room:name}, so whoever holds it then has to make way.",
        "Please bump the meeting that has the room {room:name} at the time of {title:name}, which is to be held there.",
    )
    needs = ("search_meetings", "check_room", "bump_meeting")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        held = [other for other in state["meetings"].values() if self.holds(other, row)]
        return (
            {"title": row["title"], "room": state["rooms"][pick(rng, held)["room_id"]]["name"]}
            if held
            else None
        )

    def holds(self, other: Row, row: Row) -> bool:
        """Whether another meeting has a room at the time of this one."""
        at_that_time = other["day"] == row["day"] and clash(
            [(other["start"], other["end"])], row["start"], row["end"]
        )
        return bool(other is not row and other["room_id"] and at_that_time)

    def plan(self, slots: Slots) -> list[Row]:
        return [
            *steps(slots, "search_meetings text=title"),
            call("check_room", room=slots["room"], day=found(0, 0, "day"), time=found(0, 0, "start")),
            call("bump_meeting", meeting_id=found(0, 0, "meeting_id"), room_id=found(1, "room_id")),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, room = self.meeting(slots, state), named(state, Noun("room"), slots["room"])
        others = [one for one in state["meetings"].values() if self.holds(one, row)]
        other = only([one for one in others if one["room_id"] == room["room_id"]])
        if other["priority"] >= row["priority"] or room["seats"] < self.coming(row["meeting_id"], state):
            raise LookupError("it does not make way")
        left = {**state["meetings"], row["meeting_id"]: {**row, "room_id": room["room_id"]}}
        span, seats = (other["start"], other["end"]), self.coming(other["meeting_id"], state)
        free = self.rooms(other["day"], span, seats, {**state, "meetings": left})
        where = state["rooms"][free[0]]["name"] if free else "no room"
        mine = {"room_id": room["room_id"], "bumped_by_id": None}
        theirs = {"room_id": free[0] if free else None, "bumped_by_id": row["meeting_id"]}
        return [
            self.change(row, f"Is {slots['title']} in {slots['room']} now?", **mine),
            self.change(other, f"Is {other['title']} in {where} instead?", **theirs),
        ]


class Answer(MeetingGoal):
    """Somebody accepts."""

    weight: ClassVar[float] = 0.7
    phrases: ClassVar[tuple[str, ...]] = (
        "Please tell the organiser of {title:name} that {name:name} accepts.",
        "The answer of {name:name} to the invitation to {title:name} is yes, please enter that.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_colleagues", "search_meetings", "answer_invitation")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        title = self.some(state, rng)["title"]
        meeting = self.meeting({"title": title}, state)["meeting_id"]
        rows = [row for row in self.answers(meeting, state) if row["answer"] != "accepted"]
        return (
            {"title": title, "name": state["colleagues"][pick(rng, rows)["colleague_id"]]["name"]}
            if rows
            else None
        )

    def plan(self, slots: Slots) -> list[Row]:
        calls = steps(slots, "find_colleagues name", "search_meetings text=title")
        ids = {"colleague_id": found(0, 0, "colleague_id"), "meeting_id": found(1, 0, "meeting_id")}
        return [*calls, call("answer_invitation", **ids, answer="accepted")]

    def invitation(self, slots: Slots, state: State) -> tuple[Row, Row]:
        """The meeting and the invitation of the named colleague, who does not organise it."""
        row, who = self.meeting(slots, state), self.person(slots["name"], state)
        if who == row["organiser_id"]:
            raise LookupError("that is the organiser")
        return row, only(
            [one for one in self.answers(row["meeting_id"], state) if one["colleague_id"] == who]
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, one = self.invitation(slots, state)
        busy = self.busy(one["colleague_id"], row["day"], state)
        seats = state["rooms"][row["room_id"]]["seats"] if row["room_id"] else 99
        full = one["answer"] == "declined" and self.coming(row["meeting_id"], state) >= seats
        if one["answer"] == "accepted" or full or clash(busy, row["start"], row["end"]):
            raise LookupError("it cannot be accepted")
        item = f"Has {slots['name']} accepted {slots['title']}?"
        mark = (row["meeting_id"], f"{one['colleague_id']} {row['day']}")
        return [Changed("invitations", one["invitation_id"], {"answer": "accepted"}, item, mark)]


class Propose(Answer):
    """Somebody cannot come and says when it would suit."""

    weight = 1.0
    phrases = (
        "{name:name} cannot make {title:name} and would rather have it on {day:date} at {start:time}, so please "
        "propose that.",
        "Please propose {day:date} at {start:time} as another time for {title:name} on behalf of {name:name}.",
    )
    needs = ("find_colleagues", "search_meetings", "propose_time")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        start = clock(60 * 9 + 30 * int(rng.integers(0, 14)))
        return slots and {**slots, "day": self.day(state, rng), "start": start}

    def plan(self, slots: Slots) -> list[Row]:
        last = "propose_time meeting_id<1 colleague_id<0 day start"
        return steps(slots, "find_colleagues name", "search_meetings text=title", last)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, one = self.invitation(slots, state)
        day, start, s = slots["day"], slots["start"], self.v.s
        end = clock(minutes(start) + minutes(row["end"]) - minutes(row["start"]))
        busy = self.busy(one["colleague_id"], day, state, row["meeting_id"])
        same = (day, start) == (row["day"], row["start"])
        if same or not workday(day) or day <= state["today"] or end > s.closes or clash(busy, start, end):
            raise LookupError("it cannot be proposed")
        fields = {
            "meeting_id": row["meeting_id"],
            "colleague_id": one["colleague_id"],
            "day": day,
            "start": start,
        }
        open_ones = [
            key
            for key, old in state["proposals"].items()
            if old["status"] == "open" and all(old[k] == fields[k] for k in ("meeting_id", "colleague_id"))
        ]
        if open_ones:
            raise LookupError("there is a proposal already")
        item = f"Has {slots['name']} proposed {day} at {start} for {slots['title']}?"
        wanted: list[Outcome] = [Added("proposals", {**fields, "status": "open"}, item)]
        if one["answer"] != "declined":
            said = f"Is {slots['name']} down as not coming to {slots['title']} as it is?"
            wanted.append(Changed("invitations", one["invitation_id"], {"answer": "declined"}, said))
        return wanted


class TakeProposal(MeetingGoal):
    """The proposal that suits most of the invited."""

    phrases = (
        "Several times were proposed for {title:name}: accept the one at which most of those invited are free.",
        "Please settle the proposals for {title:name} and take the time that suits most of the people invited.",
    )
    needs = ("search_meetings", "list_proposals", "accept_proposal")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row["meeting_id"] for row in state["proposals"].values() if row["status"] == "open"]
        several = [key for key in rows if rows.count(key) > 1]
        return {"title": state["meetings"][pick(rng, several)]["title"]} if several else None

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "search_meetings text=title",
            "list_proposals meeting_id<0",
            "accept_proposal proposal_id<1",
        )

    def suits(self, one: Row, row: Row, state: State) -> int:
        """How many of the invited are free at the proposed time."""
        key, length = row["meeting_id"], minutes(row["end"]) - minutes(row["start"])
        end = clock(minutes(one["start"]) + length)
        people = [answer["colleague_id"] for answer in self.answers(key, state)]
        return sum(not clash(self.busy(who, one["day"], state, key), one["start"], end) for who in people)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.meeting(slots, state)
        rows = [one for one in state["proposals"].values() if one["meeting_id"] == row["meeting_id"]]
        counts = {one["proposal_id"]: self.suits(one, row, state) for one in rows if one["status"] == "open"}
        first = state["proposals"][only([k for k, n in counts.items() if n == max(counts.values())])]
        who = first["colleague_id"]
        end = clock(minutes(first["start"]) + minutes(row["end"]) - minutes(row["start"]))
        if clash(self.busy(who, first["day"], state, row["meeting_id"]), first["start"], end):
            raise LookupError("whoever proposed it is not free any more")
        item = f"Is the best proposal for {slots['title']} accepted?"
        return [
            Changed("proposals", first["proposal_id"], {"status": "accepted"}, item),
            *self.moved(row, first["day"], first["start"], state, taken=who),
            *self.lapsed(row, state, but=first["proposal_id"]),
        ]


class InviteAll(MeetingGoal):
    """Invite somebody to all open meetings of one organiser that last so long."""

    phrases = (
        "Add {name:name} to all {length:int} minute meetings that {organiser:name} organises, but not to the private "
        "ones.",
        "Please invite {name:name} to every meeting of {length:int} minutes organised by {organiser:name}, leaving out "
        "those that are private.",
    )
    needs = ("find_colleagues", "invite_to_all")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row, name = self.some(state, rng), pick(rng, list(state["colleagues"].values()))["name"]
        length = minutes(row["end"]) - minutes(row["start"])
        return {"name": name, "organiser": state["colleagues"][row["organiser_id"]]["name"], "length": length}

    def plan(self, slots: Slots) -> list[Row]:
        last = "invite_to_all colleague_id<0 organiser_id<1/0/colleague_id minutes=length"
        return steps(slots, "find_colleagues name", "find_colleagues name=organiser", last)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        who, organiser = self.person(slots["name"], state), self.person(slots["organiser"], state)
        wanted: list[Outcome] = []
        for key, row in state["meetings"].items():
            fits = minutes(row["end"]) - minutes(row["start"]) == slots["length"] and not row["private"]
            seats = state["rooms"][row["room_id"]]["seats"] if row["room_id"] else 99
            there = any(one["colleague_id"] == who for one in self.answers(key, state))
            fits &= row["organiser_id"] == organiser and row["status"] == "planned" and not there
            if fits and self.coming(key, state) < seats:
                fields = {"meeting_id": key, "colleague_id": who, "answer": "open"}
                item = f"Has {slots['name']} been invited to {row['title']} on {row['day']}?"
                wanted.append(Added("invitations", fields, item))
        if not wanted or who == organiser:
            raise LookupError("there is nothing to invite to")
        return wanted


class Focus(MeetingGoal):
    """Time without meetings; what is not answered yet is declined."""

    weight: ClassVar[float] = 0.6
    phrases = (
        "{name:name} needs time to concentrate on {day:date} from {start:time} to {end:time}, so block it.",
        "Please keep {day:date} from {start:time} until {end:time} free of meetings for {name:name}.",
    )
    needs = ("find_colleagues", "block_focus")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one = pick(rng, list(state["invitations"].values()))
        row = state["meetings"][one["meeting_id"]]
        start = row["start"]
        end = clock(minutes(start) + 60 * int(rng.integers(1, 4)))
        return {
            "name": state["colleagues"][one["colleague_id"]]["name"],
            "day": row["day"],
            "start": start,
            "end": end,
        }

    def plan(self, slots: Slots) -> list[Row]:
        calls = steps(slots, "find_colleagues name")
        return [*calls, *steps(slots, "block_focus colleague_id<0 day start end")]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        who, day, start, end = self.person(slots["name"], state), slots["day"], slots["start"], slots["end"]
        if end > self.v.s.closes or day <= state["today"] or clash(self.busy(who, day, state), start, end):
            raise LookupError("it cannot be blocked")
        fields = {"colleague_id": who, "day": day, "start": start, "end": end}
        item = f"Is {day} from {start} to {end} blocked for {slots['name']}?"
        wanted: list[Outcome] = [Added("focus_blocks", fields, item, (f"{who} {day}",))]
        for key, one in state["invitations"].items():
            row = state["meetings"][one["meeting_id"]]
            at_that_time = row["day"] == day and clash([(row["start"], row["end"])], start, end)
            if (
                one["colleague_id"] == who
                and one["answer"] == "open"
                and row["status"] == "planned"
                and at_that_time
            ):
                item = f"Has {slots['name']} declined {row['title']}?"
                wanted.append(Changed("invitations", key, {"answer": "declined"}, item, (row["meeting_id"],)))
        return wanted


class EndEarly(MeetingGoal):
    """A meeting ends sooner, and its room is free from then on."""

    weight: ClassVar[float] = 0.4
    phrases = (
        "The meeting {title:name} will be over by {end:time}, so let others have the room from then on.",
        "Please shorten {title:name} so that it ends at {end:time}.",
    )
    needs = ("search_meetings", "end_early")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        return {"title": row["title"], "end": clock(minutes(row["end"]) - 30)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "search_meetings text=title", "end_early meeting_id<0 end")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.meeting(slots, state)
        if not row["start"] < slots["end"] < row["end"]:
            raise LookupError("it does not end sooner")
        return [self.change(row, f"Does {slots['title']} end at {slots['end']}?", end=slots["end"])]


class CancelSeries(MeetingGoal):
    """A meeting and all that repeat it."""

    weight: ClassVar[float] = 0.5
    phrases = (
        "Please call {title:name} off, with every repetition that is still planned.",
        "{title:name} will not take place any more, so cancel it and whatever repeats it.",
    )
    needs = ("search_meetings", "cancel_series")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state["meetings"].values() if row["status"] == "planned"]
        repeated = [row for row in rows if row["repeats_id"]]
        return {"title": pick(rng, repeated or rows)["title"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "search_meetings text=title", "cancel_series meeting_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = [row for row in state["meetings"].values() if row["title"] == slots["title"]]
        wanted: list[Outcome] = []
        for row in (row for row in rows if row["status"] == "planned"):
            item = f"Is {row['title']} on {row['day']} cancelled and its room free?"
            wanted += [self.change(row, item, status="cancelled", room_id=None), *self.lapsed(row, state)]
        if not wanted:
            raise LookupError("there is nothing to cancel")
        return wanted


class Repeat(MeetingGoal):
    """Once more, a week later."""

    weight: ClassVar[float] = 0.6
    phrases = (
        "Please repeat {title:name} one week later at the same time with the same people.",
        "We need {title:name} again a week after it, same time, everybody invited who is invited now.",
    )
    needs = ("search_meetings", "repeat_meeting")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"title": self.some(state, rng)["title"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "search_meetings text=title", "repeat_meeting repeats_id<0/0/meeting_id")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.meeting(slots, state)
        day, first = later(row["day"], 7), row["repeats_id"] or row["meeting_id"]
        if row["repeats_id"] or clash(self.busy(row["organiser_id"], day, state), row["start"], row["end"]):
            raise LookupError("the organiser is not free")
        room = row["room_id"]
        if room and not self.free(room, day, row["start"], row["end"], state):
            room = None
        if room and state["rooms"][room]["seats"] < len(self.answers(row["meeting_id"], state)):
            room = None
        fields = {
            name: row[name] for name in ("title", "organiser_id", "start", "end", "priority", "private")
        }
        fields |= {
            "day": day,
            "room_id": room,
            "repeats_id": first,
            "status": "planned",
            "bumped_by_id": None,
        }
        item = f"Is there {slots['title']} once more on {day} at {row['start']}?"
        wanted: list[Outcome] = [Added("meetings", fields, item, (row["meeting_id"],))]
        for one in self.answers(row["meeting_id"], state):
            who = one["colleague_id"]
            answer = "accepted" if who == row["organiser_id"] else "open"
            said = (
                f"Is the answer of {state['colleagues'][who]['name']} to {slots['title']} on {day} {answer}?"
            )
            wanted.append(Added("invitations", {"colleague_id": who, "answer": answer}, said))
        return wanted


class Meetings(Pattern):
    """Meetings of colleagues in rooms."""

    Settings = MeetingSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Plan, Move, Screen, Bump, Answer, Propose, TakeProposal, InviteAll, Focus, EndEarly, CancelSeries, Repeat,
    )  # fmt: skip

    def vocabulary(self, s: MeetingSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        shared["colleague"] = Noun("colleague")
        nouns = {name: Noun(name) for name in ("meeting", "proposal")}
        return {**nouns, "teamlist": either(s.teams)}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(
                Noun("colleague"),
                "Somebody in the office.",
                f"""
                colleague_id: str = unique id, e.g. COL-001
                name: str = full name
                team: str = {v.teamlist}
                works_from: str = start of the working day, as HH:MM
                works_until: str = end of the working day, as HH:MM
                """,
            ),
            form(
                Noun("room"),
                "A meeting room.",
                """
                room_id: str = unique id, e.g. ROM-001
                name: str = name on the door
                floor: int = floor it is on
                seats: int = seats at the table
                screen: str = working, broken or none
                """,
            ),
            form(
                Noun("meeting"),
                "A meeting, in a room or without one.",
                """
                meeting_id: str = unique id, e.g. MTG-001
                title: str = what it is about
                organiser_id: str = the colleague who calls it
                room_id: str | None = its room, None for a call or when it has none
                day: str = date, as YYYY-MM-DD
                start: str = time, as HH:MM
                end: str = time, as HH:MM
                priority: int = 1 to 3; a higher one may take the room of a lower one
                bumped_by_id: str | None = the meeting that took its last room, None where none did
                private: bool = whether others are kept out of it
                repeats_id: str | None = the meeting it repeats, None for a first one
                status: str = planned or cancelled
                """,
            ),
            form(
                Noun("invitation"),
                "That somebody is asked to a meeting.",
                """
                invitation_id: str = unique id, e.g. INV-001
                meeting_id: str = the meeting
                colleague_id: str = who is asked
                answer: str = open, accepted or declined
                """,
            ),
            form(
                Noun("proposal"),
                "Another time for a meeting.",
                """
                proposal_id: str = unique id, e.g. PRP-001
                meeting_id: str = the meeting
                colleague_id: str = who proposes it
                day: str = date, as YYYY-MM-DD
                start: str = time, as HH:MM; the meeting stays as long as it is
                status: str = open, accepted or lapsed
                """,
            ),
            form(
                Noun("focus block"),
                "Time in which somebody is in no meeting.",
                """
                focus_block_id: str = unique id, e.g. FOC-001
                colleague_id: str = whose time it is
                day: str = date, as YYYY-MM-DD
                start: str = time, as HH:MM
                end: str = time, as HH:MM
                """,
            ),
        ]

    RULES = (
        RuleText(
            "Two planned meetings in one room do not overlap.",
            """
            held = [row for row in rows(after, "meetings").values() if row.get("room_id")]
            for one in held:
                for two in held:
                    same = one is not two and one["room_id"] == two["room_id"] and one.get("day") == two.get("day")
                    if same and str(one.get("start")) <= str(two.get("start")) < str(one.get("end")):
                        return False
            return True
            """,
        ),
        RuleText(
            "The meetings somebody has accepted and their focus blocks do not overlap.",
            """
            meetings, taken = rows(after, "meetings"), []
            for row in rows(after, "invitations").values():
                meeting = meetings.get(str(row.get("meeting_id"))) or {}
                if row.get("answer") == "accepted" and meeting.get("status") == "planned":
                    taken.append((row.get("colleague_id"), meeting))
            taken += [(row.get("colleague_id"), row) for row in rows(after, "focus_blocks").values()]
            spans = sorted((str(who), str(x.get("day")), str(x.get("start")), str(x.get("end"))) for who, x in taken)
            return all(one[:2] != two[:2] or one[3] <= two[2] for one, two in zip(spans, spans[1:]))
            """,
        ),
        RuleText(
            "A room has at least as many seats as the meeting has people who did not decline.",
            """
            coming = {}
            for row in rows(after, "invitations").values():
                if row.get("answer") != "declined":
                    coming[row.get("meeting_id")] = coming.get(row.get("meeting_id"), 0) + 1
            rooms = rows(after, "rooms")
            return all(
                coming.get(key, 0) <= (rooms.get(str(row["room_id"])) or {}).get("seats", 0)
                for key, row in rows(after, "meetings").items()
                if row.get("room_id")
            )
            """,
        ),
        RuleText(
            "Whoever organises a meeting is invited to it and has accepted; nobody is invited twice.",
            """
            answers = {}
            for row in rows(after, "invitations").values():
                pair = (row.get("meeting_id"), row.get("colleague_id"))
                if pair in answers:
                    return False
                answers[pair] = row.get("answer")
            return all(
                answers.get((key, row.get("organiser_id"))) == "accepted"
                for key, row in rows(after, "meetings").items()
            )
            """,
        ),
        RuleText(
            "When a meeting is moved, the answers are open again: only the organiser, and whoever proposed that time, "
            "stay accepted.",
            """
            proposed = {
                (row.get("meeting_id"), row.get("colleague_id"))
                for row in rows(after, "proposals").values()
                if row.get("status") == "accepted"
            }
            moved = [*changed("meetings", "day"), *changed("meetings", "start")]
            for _, new in moved:
                for row in rows(after, "invitations").values():
                    pair = (new.get("meeting_id"), row.get("colleague_id"))
                    if row.get("meeting_id") == pair[0] and row.get("answer") != "open":
                        if pair[1] != new.get("organiser_id") and pair not in proposed:
                            return False
            return True
            """,
        ),
        RuleText(
            "Only a meeting of higher priority is authorised to take the room of another one.",
            """
            meetings = rows(after, "meetings")
            for row in meetings.values():
                if row.get("bumped_by_id") is not None:
                    other = meetings.get(str(row["bumped_by_id"])) or {}
                    if not (other.get("priority") or 0) > (row.get("priority") or 0):
                        return False
            return True
            """,
        ),
        RuleText(
            "An accepted proposal sets the time of its meeting, and no other proposal for that meeting stays open.",
            """
            meetings = rows(after, "meetings")
            for old, new in changed("proposals", "status"):
                meeting = meetings.get(str(new.get("meeting_id"))) or {}
                if new.get("status") == "accepted":
                    if (meeting.get("day"), meeting.get("start")) != (new.get("day"), new.get("start")):
                        return False
                    for row in rows(after, "proposals").values():
                        if row.get("meeting_id") == new.get("meeting_id") and row.get("status") == "open":
                            return False
            return True
            """,
        ),
        RuleText(
            "A cancelled meeting is never planned again, holds no room and has no open proposal.",
            """
            if any(old.get("status") == "cancelled" for old, _ in changed("meetings", "status")):
                return False
            off = {key for key, row in rows(after, "meetings").items() if row.get("status") == "cancelled"}
            if any(row.get("room_id") for key, row in rows(after, "meetings").items() if key in off):
                return False
            asked = {row.get("meeting_id") for row in rows(after, "proposals").values() if row.get("status") == "open"}
            return not off & asked
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _minutes(time: str) -> int:
        """Read `09:30` as 570; -1 for what is no time."""
        hours, colon, rest = time.partition(":")
        if len(time) != 5 or not colon or not (hours + rest).isdecimal():
            return -1
        return int(hours) * 60 + int(rest) if int(hours) < 24 and int(rest) < 60 else -1

    @staticmethod
    def _time(minutes: int) -> str:
        """Write 570 as `09:30`."""
        return f"{minutes // 60:02d}:{minutes % 60:02d}"

    def _length(self, meeting: dict) -> int:
        """Return how many minutes a meeting lasts."""
        return self._minutes(meeting["end"]) - self._minutes(meeting["start"])

    def _wrong(self, day: str, start: str, end: str) -> str | None:
        """Say what is wrong with a time that is to be planned; None for a working day and office hours ahead."""
        try:
            read = date.fromisoformat(day)
        except ValueError:
            return f"{day!r} is not a date as YYYY-MM-DD."
        if read.isoformat() != day or read.weekday() > 4 or day <= self.today:
            return f"{day!r} is not a working day after today."
        if min(self._minutes(start), self._minutes(end)) < 0 or not "<<s.opens>>" <= start < end <= "<<s.closes>>":
            return f"From {start} to {end} is no time between <<s.opens>> and <<s.closes>>."
        return None

    def _busy(self, colleague_id: str, day: str, ignore: str = "") -> list[tuple[str, str]]:
        """Return the spans of a day that somebody has accepted or blocked, one meeting left out."""
        spans = [
            (block["start"], block["end"])
            for block in self.focus_blocks.values()
            if block["colleague_id"] == colleague_id and block["day"] == day
        ]
        for invitation in self.invitations.values():
            if invitation["colleague_id"] == colleague_id and invitation["answer"] == "accepted":
                meeting = self.meetings[invitation["meeting_id"]]
                stands = meeting["status"] == "planned" and meeting["meeting_id"] != ignore
                if stands and meeting["day"] == day:
                    spans.append((meeting["start"], meeting["end"]))
        return sorted(spans)

    @staticmethod
    def _clash(spans: list[tuple[str, str]], start: str, end: str) -> bool:
        """Tell whether one of the spans lies on the given one."""
        return any(first < end and start < last for first, last in spans)

    def _holders(self, room_id: str, day: str, start: str, end: str, ignore: str = "") -> list[dict]:
        """Return the meetings in a room at a time, one left out."""
        return [
            meeting
            for key, meeting in self.meetings.items()
            if meeting["room_id"] == room_id
            and meeting["day"] == day
            and key != ignore
            and self._clash([(meeting["start"], meeting["end"])], start, end)
        ]

    def _coming(self, meeting_id: str) -> int:
        """Count those who have not declined."""
        asked = [row["answer"] for row in self.invitations.values() if row["meeting_id"] == meeting_id]
        return len(asked) - asked.count("declined")

    def _fitting(self, day: str, start: str, end: str, seats: int) -> list[dict]:
        """Return the free rooms with that many seats, the smallest first."""
        fits = [room for room in self.rooms.values() if room["seats"] >= seats]
        free = [room for room in fits if not self._holders(room["room_id"], day, start, end)]
        return sorted(free, key=lambda room: (room["seats"], room["name"]))

    def _invite(self, meeting_id: str, colleague_id: str, answer: str) -> None:
        """Write an invitation."""
        invitation_id = self._next_id(self.invitations, "INV")
        self.invitations[invitation_id] = {
            "invitation_id": invitation_id,
            "meeting_id": meeting_id,
            "colleague_id": colleague_id,
            "answer": answer,
        }

    def _lapse(self, meeting_id: str) -> list[str]:
        """Make the open proposals for a meeting void; return their ids."""
        lapsed = []
        for key, proposal in self.proposals.items():
            if proposal["meeting_id"] == meeting_id and proposal["status"] == "open":
                proposal["status"] = "lapsed"
                lapsed.append(key)
        return lapsed

    def _shift(self, meeting: dict, day: str, start: str, end: str, proposer_id: str = "") -> dict:
        """Put a meeting at another time: its room stays if it is free and large enough, all are asked anew.

        Returns:
            The meeting with the ids of the invitations `asked_again` and of the proposals that `lapsed`.
        """
        meeting_id, room_id, asked, people = meeting["meeting_id"], meeting["room_id"], [], 0
        meeting.update(day=day, start=start, end=end)
        for key, invitation in self.invitations.items():
            if invitation["meeting_id"] == meeting_id:
                sure = invitation["colleague_id"] in (meeting["organiser_id"], proposer_id)
                invitation["answer"] = "accepted" if sure else "open"
                people += 1
                if not sure:
                    asked.append(key)
        taken = room_id and self._holders(room_id, day, start, end, meeting_id)
        if taken or (room_id and self.rooms[room_id]["seats"] < people):
            meeting["room_id"] = None
        return {**meeting, "asked_again": asked, "lapsed": self._lapse(meeting_id)}
'''

    READS = '''
def find_colleagues(self, name: str | None = None, team: str | None = None) -> dict:
    """Find people by name, by team or both.

    Args:
        name: Full name or a part of it. Leave out for all names.
        team: The team: <<teamlist>>. Leave out for all teams.

    Returns:
        The people with their working hours and the number of `unanswered` invitations to planned meetings, sorted by
        name.
    """
    refuse if name is None and team is None :: Give a name or a team.
    refuse if team is not None and team not in (<<quoted(s.teams)>>) :: There is no team {team!r}.
    part = (name or "").casefold()
    waiting = [
        row["colleague_id"]
        for row in self.invitations.values()
        if row["answer"] == "open" and self.meetings[row["meeting_id"]]["status"] == "planned"
    ]
    hits = []
    for key, colleague in self.colleagues.items():
        if part in colleague["name"].casefold() and team in (None, colleague["team"]):
            hits.append((colleague["name"], {**colleague, "unanswered": waiting.count(key)}))
    return {"success": True, "data": [row for _, row in sorted(hits, key=lambda hit: hit[0])]}

def show_day(self, colleague_id: str, day: str) -> dict:
    """Show what somebody has on a day, and the gaps in between.

    Args:
        colleague_id: Id of the colleague, e.g. COL-001.
        day: The day, as YYYY-MM-DD.

    Returns:
        `entries` in the order of time, each accepted, open or focus, and `gaps` of the working day, or an error.
    """
    colleague = self.colleagues.get(colleague_id)
    refuse if colleague is None :: There is no colleague {colleague_id!r}.
    refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    entries: list[dict] = []
    for row in self.focus_blocks.values():
        if (row["colleague_id"], row["day"]) == (colleague_id, day):
            entries.append({"start": row["start"], "end": row["end"], "what": "focus", "answer": "focus"})
    for row in self.invitations.values():
        meeting = self.meetings[row["meeting_id"]]
        if row["colleague_id"] == colleague_id and row["answer"] != "declined" and meeting["day"] == day:
            if meeting["status"] == "planned":
                times = {"start": meeting["start"], "end": meeting["end"]}
                entries.append({**times, "what": meeting["title"], "answer": row["answer"]})
    gaps: list[dict] = []
    at = colleague["works_from"]
    for start, end in [*self._busy(colleague_id, day), (colleague["works_until"], "24:00")]:
        stop = min(start, colleague["works_until"])
        if at < stop:
            gaps.append({"start": at, "end": stop})
        at = max(at, end)
    data = {"entries": sorted(entries, key=lambda row: (row["start"], row["what"])), "gaps": gaps}
    return {"success": True, "data": data}

def find_common_slots(self, colleague_ids: list[str], first_day: str, last_day: str, minutes: int) -> dict:
    """Find times at which several people are free, within the working hours of all of them.

    Args:
        colleague_ids: Ids of the people, at least one.
        first_day: First day to look at, after today, as YYYY-MM-DD.
        last_day: Last day, at most four weeks later, as YYYY-MM-DD.
        minutes: How long it has to be: 15 to 240.

    Returns:
        Up to six times that begin on the hour or half hour, the earliest first, each with `day`, `start` and `end`.
    """
    unknown = [key for key in colleague_ids if key not in self.colleagues]
    refuse if unknown or not colleague_ids :: There are no colleagues {', '.join(unknown) or 'given'}.
    try:
        day, last = date.fromisoformat(first_day), date.fromisoformat(last_day)
    except ValueError:
        return {"success": False, "error": "The days must be dates as YYYY-MM-DD."}
    refuse if not 0 <= (last - day).days <= 28 or first_day <= self.today :: That is no span of up to four weeks ahead.
    refuse if not 15 <= minutes <= 240 :: {minutes} minutes are not 15 to 240.
    people = [self.colleagues[key] for key in colleague_ids]
    opens = max(self._minutes(row["works_from"]) for row in people)
    closes = min(self._minutes(row["works_until"]) for row in people)
    slots: list[dict] = []
    while day <= last and len(slots) < 6:
        spans = [span for key in colleague_ids for span in self._busy(key, day.isoformat())]
        for begin in range(opens, closes - minutes + 1, 30) if day.weekday() < 5 else ():
            start, end = self._time(begin), self._time(begin + minutes)
            if len(slots) < 6 and not self._clash(spans, start, end):
                slots.append({"day": day.isoformat(), "start": start, "end": end})
        day += timedelta(days=1)
    return {"success": True, "data": slots}

def rank_rooms(self, day: str, start: str, end: str, people: int, with_screen: bool = False) -> dict:
    """List the rooms that are free at a time and large enough, the smallest first.

    Args:
        day: The day, after today, as YYYY-MM-DD.
        start: From when, as HH:MM.
        end: Until when, as HH:MM.
        people: How many have to find a seat, at least 1.
        with_screen: True for rooms with a working screen only.

    Returns:
        The rooms, each with the seats that stay `empty`; an empty list when there is none.
    """
    wrong = self._wrong(day, start, end)
    if wrong:
        return {"success": False, "error": wrong}
    refuse if people < 1 :: At least one person needs a seat.
    fitting = self._fitting(day, start, end, people)
    if with_screen:
        fitting = [room for room in fitting if room["screen"] == "working"]
    data = [{**room, "empty": room["seats"] - people} for room in fitting]
    return {"success": True, "data": data}

def check_room(self, room: str, day: str, time: str) -> dict:
    """Say who has a room at a time, and until when it is free otherwise.

    Args:
        room: Name of the room, as on the door.
        day: The day, as YYYY-MM-DD.
        time: The time, as HH:MM.

    Returns:
        The room with `meeting` (title, people, priority, end) or None, and `free_until`, the next start or None.
    """
    matches = [row for row in self.rooms.values() if row["name"].lower() == room.strip().lower()]
    refuse if not matches :: There is no room {room!r}.
    refuse if self._minutes(time) < 0 :: {time!r} is not a time as HH:MM.
    that_day = [row for row in self.meetings.values() if (row["room_id"], row["day"]) == (matches[0]["room_id"], day)]
    now = [row for row in that_day if row["start"] <= time < row["end"]]
    starts = sorted(row["start"] for row in that_day if row["start"] > time)
    meeting = None
    if now:
        meeting = {field: now[0][field] for field in ("meeting_id", "title", "priority", "end")}
        meeting["people"] = self._coming(now[0]["meeting_id"])
    free_until = None if now or not starts else starts[0]
    return {"success": True, "data": {**matches[0], "meeting": meeting, "free_until": free_until}}

def search_meetings(
    self,
    text: str | None = None,
    organiser_id: str | None = None,
    from_day: str | None = None,
    to_day: str | None = None,
) -> dict:
    """Search planned meetings, the earliest first.

    Args:
        text: A part of the title. Leave out for all.
        organiser_id: Only those of this organiser. Leave out for all.
        from_day: Not before this day, as YYYY-MM-DD. Leave out for no limit.
        to_day: Not after this day, as YYYY-MM-DD. Leave out for no limit.

    Returns:
        The meetings with the number of people `coming` and their length in `minutes`.
    """
    for day in (from_day, to_day):
        refuse if day is not None and not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    part, hits = (text or "").lower(), []
    for key, meeting in self.meetings.items():
        if meeting["status"] != "planned" or organiser_id not in (None, meeting["organiser_id"]):
            continue
        if part in meeting["title"].lower() and (from_day or "") <= meeting["day"] <= (to_day or "9999"):
            length = self._length(meeting)
            hits.append({**meeting, "coming": self._coming(key), "minutes": length})
    return {"success": True, "data": sorted(hits, key=lambda row: (row["day"], row["start"], row["meeting_id"]))}

def list_answers(self, meeting_id: str) -> dict:
    """Say who accepted a meeting, who declined and who has not answered, and whether those are free then.

    Args:
        meeting_id: Id of the meeting, e.g. MTG-001.

    Returns:
        Names under `accepted`, `declined` and `open`, and under `clashes` those who did not answer and are not free.
    """
    need meeting
    said: dict[str, list[str]] = {"accepted": [], "declined": [], "open": [], "clashes": []}
    for invitation in self.invitations.values():
        if invitation["meeting_id"] == meeting_id:
            name = self.colleagues[invitation["colleague_id"]]["name"]
            said[invitation["answer"]].append(name)
            busy = self._busy(invitation["colleague_id"], meeting["day"], meeting_id)
            if invitation["answer"] == "open" and self._clash(busy, meeting["start"], meeting["end"]):
                said["clashes"].append(name)
    return {"success": True, "data": {key: sorted(people) for key, people in said.items()}}

def list_proposals(self, meeting_id: str) -> dict:
    """Rank the times that were proposed for a meeting and are still open by how many of the invited are free then.

    Args:
        meeting_id: Id of the meeting.

    Returns:
        The open proposals with `free`, the number of people, most first, and `room_free`, whether the room is.
    """
    need meeting
    length = self._length(meeting)
    asked = [row["colleague_id"] for row in self.invitations.values() if row["meeting_id"] == meeting_id]
    ranked = []
    for proposal in self.proposals.values():
        if proposal["meeting_id"] == meeting_id and proposal["status"] == "open":
            day, start = proposal["day"], proposal["start"]
            end = self._time(self._minutes(start) + length)
            free = sum(not self._clash(self._busy(key, day, meeting_id), start, end) for key in asked)
            room_id = meeting["room_id"]
            room_free = bool(room_id) and not self._holders(room_id, day, start, end, meeting_id)
            ranked.append({**proposal, "end": end, "free": free, "room_free": room_free})
    ranked.sort(key=lambda row: (-row["free"], row["day"], row["start"], row["proposal_id"]))
    return {"success": True, "data": ranked}

def sum_meeting_hours(self, from_day: str, to_day: str, team: str | None = None) -> dict:
    """Add up how long each colleague sits in meetings they accepted.

    Args:
        from_day: First day, as YYYY-MM-DD.
        to_day: Last day, as YYYY-MM-DD.
        team: Only this team: <<teamlist>>. Leave out for all.

    Returns:
        People with their `hours` and the number of `meetings`, those with most hours first.
    """
    refuse if team not in (None, <<quoted(s.teams)>>) :: There is no team {team!r}.
    for day in (from_day, to_day):
        refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    refuse if from_day > to_day :: {from_day} is after {to_day}.
    sums = {key: [0, 0] for key, row in self.colleagues.items() if team in (None, row["team"])}
    for row in self.invitations.values():
        meeting = self.meetings[row["meeting_id"]]
        if row["colleague_id"] in sums and row["answer"] == "accepted" and meeting["status"] == "planned":
            if from_day <= meeting["day"] <= to_day:
                sums[row["colleague_id"]][0] += self._length(meeting)
                sums[row["colleague_id"]][1] += 1
    order = sorted(sums, key=lambda key: (-sums[key][0], key))
    data = [
        {"name": self.colleagues[key]["name"], "hours": sums[key][0] / 60, "meetings": sums[key][1]} for key in order
    ]
    return {"success": True, "data": data}
'''

    WRITES = '''
<% macro planned() %>
    need meeting
    refuse if meeting["status"] != "planned" :: {meeting['title']} is cancelled.
<%- endmacro %>
def plan_meeting(
    self,
    title: str,
    organiser_id: str,
    guest_ids: list[str],
    day: str,
    start: str,
    end: str,
    room_id: str | None = None,
    priority: int = 2,
) -> dict:
    """Plan a meeting and invite people to it.

    Args:
        title: What it is about.
        organiser_id: Id of the colleague who calls it and is free then.
        guest_ids: Ids of the other colleagues who are invited, at least one, each once.
        day: A working day after today, as YYYY-MM-DD.
        start: From when, as HH:MM, not before <<s.opens>>.
        end: Until when, as HH:MM, not after <<s.closes>>.
        room_id: Id of a free room with a seat for everybody. Leave out for a call.
        priority: 1 to 3.

    Returns:
        The new meeting, or an error.
    """
    people = [organiser_id, *guest_ids]
    unknown = [key for key in people if key not in self.colleagues]
    refuse if unknown :: There is no colleague {unknown[0]!r}.
    refuse if len(people) < 2 or len(set(people)) < len(people) :: Invite others, and each of them once.
    refuse if not title.strip() or priority not in (1, 2, 3) :: It needs a title and a priority of 1 to 3.
    wrong = self._wrong(day, start, end)
    if wrong:
        return {"success": False, "error": wrong}
    refuse if self._clash(self._busy(organiser_id, day), start, end) :: The organiser is not free then.
    if room_id is not None:
        fitting = [room["room_id"] for room in self._fitting(day, start, end, len(people))]
        refuse if room_id not in fitting :: {room_id!r} is no room that is free and seats {len(people)}.
    meeting_id = self._next_id(self.meetings, "MTG")
    self.meetings[meeting_id] = {
        "meeting_id": meeting_id,
        "title": title.strip(),
        "organiser_id": organiser_id,
        "room_id": room_id,
        "day": day,
        "start": start,
        "end": end,
        "priority": priority,
        "bumped_by_id": None,
        "private": False,
        "repeats_id": None,
        "status": "planned",
    }
    for key in people:
        self._invite(meeting_id, key, "accepted" if key == organiser_id else "open")
    done dict(self.meetings[meeting_id]) :: {title.strip()} is planned for {day}.

def move_meeting(self, meeting_id: str, day: str, start: str) -> dict:
    """Move a meeting, as long as it is; its room stays if it is free and large enough, and all are asked again.

    Args:
        meeting_id: Id of the meeting, which must be planned.
        day: A working day after today on which the organiser is free then, as YYYY-MM-DD.
        start: From when, as HH:MM.

    Returns:
        The moved meeting, without a room where the old one does not do, with the ids of the invitations that are
        `asked_again` and of the proposals that `lapsed`; or an error.
    """
<<planned()>>
    refuse if (day, start) == (meeting["day"], meeting["start"]) :: That is when it takes place already.
    length = self._length(meeting)
    end = self._time(self._minutes(start) + length)
    wrong = self._wrong(day, start, end)
    if wrong:
        return {"success": False, "error": wrong}
    busy = self._busy(meeting["organiser_id"], day, meeting_id)
    refuse if self._clash(busy, start, end) :: The organiser is not free then.
    done self._shift(meeting, day, start, end) :: {meeting['title']} is on {day} at {start}.

def change_room(self, meeting_id: str, room_id: str | None = None) -> dict:
    """Put a meeting into another room, or give its room back.

    Args:
        meeting_id: Id of the meeting, which must be planned.
        room_id: Id of a room that is free then and has a seat for everybody. Leave out to give the room back.

    Returns:
        The meeting with its new room, or an error.
    """
<<planned()>>
    refuse if room_id == meeting["room_id"] :: Nothing would change.
    if room_id is not None:
        fitting = self._fitting(meeting["day"], meeting["start"], meeting["end"], self._coming(meeting_id))
        free = [room["room_id"] for room in fitting]
        refuse if room_id not in free :: {room_id!r} is taken or too small; there are {', '.join(free) or 'none'}.
    meeting.update(room_id=room_id, bumped_by_id=None)
    done dict(meeting) :: {meeting['title']} is in {room_id or 'no room'}.

def bump_meeting(self, meeting_id: str, room_id: str) -> dict:
    """Give a meeting the room of another one of lower priority, which goes to the smallest free room that fits.

    Args:
        meeting_id: Id of the meeting that needs the room.
        room_id: Id of the room, which is large enough and held by one meeting of lower priority at that time.

    Returns:
        The meeting, and under `bumped` the other one, which has no room where none is free; or an error.
    """
<<planned()>>
    room = self.rooms.get(room_id)
    refuse if room is None or room["seats"] < self._coming(meeting_id) :: {room_id!r} is no room that is large enough.
    holders = self._holders(room_id, meeting["day"], meeting["start"], meeting["end"], meeting_id)
    refuse if len(holders) != 1 :: {len(holders)} meetings hold the room at that time, not one.
    other = holders[0]
    refuse if other["priority"] >= meeting["priority"] :: {other['title']} is of no lower priority.
    meeting.update(room_id=room_id, bumped_by_id=None)
    others = self._fitting(other["day"], other["start"], other["end"], self._coming(other["meeting_id"]))
    other.update(room_id=others[0]["room_id"] if others else None, bumped_by_id=meeting_id)
    data = {**meeting, "bumped": dict(other)}
    done data :: {other['title']} makes way for {meeting['title']}.

def end_early(self, meeting_id: str, end: str) -> dict:
    """Let a meeting end sooner, so that its room is free from then on.

    Args:
        meeting_id: Id of the meeting, which must be planned.
        end: The new end, as HH:MM: after its start and before its end.

    Returns:
        The shortened meeting, or an error.
    """
<<planned()>>
    if self._minutes(end) < 0 or not meeting["start"] < end < meeting["end"]:
        refuse :: {end!r} is not a time between {meeting['start']} and {meeting['end']}.
    meeting["end"] = end
    done dict(meeting) :: {meeting['title']} ends at {end}.

def invite_to_all(self, colleague_id: str, organiser_id: str, minutes: int) -> dict:
    """Invite somebody to all planned meetings of one organiser that last so long; private and full ones are left out.

    Args:
        colleague_id: Id of who is to be invited.
        organiser_id: Id of another colleague, who organises the meetings.
        minutes: How long the meetings last.

    Returns:
        The titles under `invited`, and under `full` those whose room has no seat left; an error when there are none.
    """
    for key in (colleague_id, organiser_id):
        refuse if key not in self.colleagues :: There is no colleague {key!r}.
    refuse if colleague_id == organiser_id :: Organisers are in their meetings already.
    asked = {row["meeting_id"] for row in self.invitations.values() if row["colleague_id"] == colleague_id}
    invited, full = [], []
    for key, meeting in self.meetings.items():
        open_to_all = meeting["status"] == "planned" and not meeting["private"]
        if meeting["organiser_id"] != organiser_id or not open_to_all:
            continue
        if self._length(meeting) == minutes and key not in asked:
            room = self.rooms.get(meeting["room_id"] or "")
            left = room is None or self._coming(key) < room["seats"]
            (invited if left else full).append(key)
    refuse if not invited :: There is no such meeting with a seat to which {colleague_id} is not invited.
    for key in invited:
        self._invite(key, colleague_id, "open")
    titles = {
        "invited": [self.meetings[key]["title"] for key in invited],
        "full": [self.meetings[key]["title"] for key in full],
    }
    done titles :: Invited to {len(invited)} meetings.

def answer_invitation(self, meeting_id: str, colleague_id: str, answer: str) -> dict:
    """Accept a meeting for somebody, or decline it.

    Args:
        meeting_id: Id of the meeting, which must be planned.
        colleague_id: Id of somebody who is invited and does not organise it; to accept, they must be free.
        answer: Either accepted or declined.

    Returns:
        The answered invitation, or an error.
    """
<<planned()>>
    refuse if answer not in ("accepted", "declined") :: The answer is accepted or declined, not {answer!r}.
    refuse if colleague_id == meeting["organiser_id"] :: The organiser cannot stay away; cancel the meeting.
    pair = (meeting_id, colleague_id)
    mine = [row for row in self.invitations.values() if (row["meeting_id"], row["colleague_id"]) == pair]
    refuse if not mine :: {colleague_id!r} is not invited.
    refuse if mine[0]["answer"] == answer :: That is the answer already.
    if answer == "accepted":
        busy = self._busy(colleague_id, meeting["day"])
        refuse if self._clash(busy, meeting["start"], meeting["end"]) :: {colleague_id} is not free then.
        room = self.rooms.get(meeting["room_id"] or "")
        if room and mine[0]["answer"] == "declined" and self._coming(meeting_id) >= room["seats"]:
            refuse :: {room['name']} has no seat left.
    mine[0]["answer"] = answer
    done dict(mine[0]) :: The answer to {meeting['title']} is {answer}.

def propose_time(self, meeting_id: str, colleague_id: str, day: str, start: str) -> dict:
    """Decline a meeting and propose another time for it.

    Args:
        meeting_id: Id of the meeting, which must be planned.
        colleague_id: Id of somebody who is invited, does not organise it and has no open proposal for it.
        day: A working day after today on which they are free then, as YYYY-MM-DD.
        start: From when, as HH:MM; the meeting stays as long as it is.

    Returns:
        The new proposal with the id of the declined invitation, or an error.
    """
<<planned()>>
    refuse if colleague_id == meeting["organiser_id"] :: The organiser can move the meeting.
    pair = (meeting_id, colleague_id)
    mine = [row for row in self.invitations.values() if (row["meeting_id"], row["colleague_id"]) == pair]
    refuse if not mine :: {colleague_id!r} is not invited.
    for row in self.proposals.values():
        if (row["meeting_id"], row["colleague_id"], row["status"]) == (*pair, "open"):
            refuse :: Proposal {row['proposal_id']} is still open.
    refuse if (day, start) == (meeting["day"], meeting["start"]) :: That is when it takes place already.
    end = self._time(self._minutes(start) + self._length(meeting))
    wrong = self._wrong(day, start, end)
    if wrong:
        return {"success": False, "error": wrong}
    refuse if self._clash(self._busy(colleague_id, day, meeting_id), start, end) :: {colleague_id} is not free then.
    mine[0]["answer"] = "declined"
    proposal_id = self._next_id(self.proposals, "PRP")
    self.proposals[proposal_id] = {
        "proposal_id": proposal_id,
        "meeting_id": meeting_id,
        "colleague_id": colleague_id,
        "day": day,
        "start": start,
        "status": "open",
    }
    data = {**self.proposals[proposal_id], "invitation_id": mine[0]["invitation_id"]}
    done data :: {day} at {start} proposed for {meeting['title']}.

def accept_proposal(self, proposal_id: str) -> dict:
    """Move a meeting to a proposed time; who proposed it has accepted, other proposals for it lapse.

    Args:
        proposal_id: Id of an open proposal for a time ahead at which organiser and proposer are free.

    Returns:
        The moved meeting, without a room where the old one does not do, with the ids of the invitations that are
        `asked_again` and of the proposals that `lapsed`; or an error.
    """
    need proposal
    refuse if proposal["status"] != "open" :: The proposal is {proposal['status']}.
    meeting, day, start = self.meetings[proposal["meeting_id"]], proposal["day"], proposal["start"]
    end = self._time(self._minutes(start) + self._length(meeting))
    wrong = self._wrong(day, start, end)
    if wrong:
        return {"success": False, "error": wrong}
    for key in (meeting["organiser_id"], proposal["colleague_id"]):
        busy = self._busy(key, day, meeting["meeting_id"])
        refuse if self._clash(busy, start, end) :: {self.colleagues[key]['name']} is not free then.
    proposal["status"] = "accepted"
    data = {**self._shift(meeting, day, start, end, proposal["colleague_id"]), "accepted": proposal_id}
    done data :: {meeting['title']} is on {day} at {start}.

def block_focus(self, colleague_id: str, day: str, start: str, end: str) -> dict:
    """Keep time free of meetings for somebody; invitations for it that are not answered yet are declined.

    Args:
        colleague_id: Id of the colleague, who has accepted nothing then.
        day: A working day after today, as YYYY-MM-DD.
        start: From when, as HH:MM.
        end: Until when, as HH:MM.

    Returns:
        The focus block with what is `declined`, titles by the id of the invitation, or an error.
    """
    refuse if colleague_id not in self.colleagues :: There is no colleague {colleague_id!r}.
    wrong = self._wrong(day, start, end)
    if wrong:
        return {"success": False, "error": wrong}
    refuse if self._clash(self._busy(colleague_id, day), start, end) :: Something is accepted or blocked then.
    declined = {}
    for key, row in self.invitations.items():
        meeting = self.meetings[row["meeting_id"]]
        if (row["colleague_id"], row["answer"]) != (colleague_id, "open") or meeting["status"] == "cancelled":
            continue
        if meeting["day"] == day and self._clash([(meeting["start"], meeting["end"])], start, end):
            row["answer"] = "declined"
            declined[key] = meeting["title"]
    focus_block_id = self._next_id(self.focus_blocks, "FOC")
    self.focus_blocks[focus_block_id] = {
        "focus_block_id": focus_block_id,
        "colleague_id": colleague_id,
        "day": day,
        "start": start,
        "end": end,
    }
    data = {**self.focus_blocks[focus_block_id], "declined": declined}
    done data :: {day} from {start} to {end} is blocked.

def cancel_series(self, meeting_id: str) -> dict:
    """Cancel a meeting with all planned ones of the same series; their rooms are free and their proposals lapse.

    Args:
        meeting_id: Id of any meeting of the series, or of a single one, that is planned.

    Returns:
        The day of each meeting that is `cancelled`, by its id, and the ids of proposals that `lapsed`; or an error.
    """
<<planned()>>
    first = meeting["repeats_id"] or meeting_id
    days, lapsed = {}, []
    for key, row in self.meetings.items():
        if first in (key, row["repeats_id"]) and row["status"] == "planned":
            row.update(status="cancelled", room_id=None)
            lapsed += self._lapse(key)
            days[key] = row["day"]
    done {"cancelled": days, "lapsed": lapsed} :: {meeting['title']} is off on {', '.join(days.values())}.

def repeat_meeting(self, repeats_id: str) -> dict:
    """Plan a meeting once more a week later with the same people; the room is kept if it is free and large enough.

    Args:
        repeats_id: Id of a planned meeting that repeats no other one; its organiser is free a week later.

    Returns:
        The new meeting, or an error.
    """
    meeting = self.meetings.get(repeats_id)
    refuse if meeting is None or meeting["status"] != "planned" :: {repeats_id!r} is no planned meeting.
    refuse if meeting["repeats_id"] :: {meeting['title']} repeats {meeting['repeats_id']} itself.
    day = (date.fromisoformat(meeting["day"]) + timedelta(days=7)).isoformat()
    start, end, room_id = meeting["start"], meeting["end"], meeting["room_id"]
    refuse if day <= self.today :: {day} is over.
    refuse if self._clash(self._busy(meeting["organiser_id"], day), start, end) :: The organiser is not free on {day}.
    people = [row["colleague_id"] for row in self.invitations.values() if row["meeting_id"] == repeats_id]
    if room_id and (self._holders(room_id, day, start, end) or self.rooms[room_id]["seats"] < len(people)):
        room_id = None
    new_id = self._next_id(self.meetings, "MTG")
    new = {"meeting_id": new_id, "day": day, "room_id": room_id, "bumped_by_id": None, "repeats_id": repeats_id}
    copied = {**meeting, **new}
    self.meetings[new_id] = copied
    for key in people:
        self._invite(new_id, key, "accepted" if key == meeting["organiser_id"] else "open")
    done dict(copied) :: {meeting['title']} takes place on {day} as well.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, goal = v.s, MeetingGoal(v, [])
        for n, name in enumerate(names.people(rng, 9), start=1):
            state["colleagues"][key_of("COL", n)] = {
                "colleague_id": key_of("COL", n),
                "name": name,
                "team": s.teams[n % len(s.teams)],
                "works_from": pick(rng, ["08:00", "08:30", "09:00"]),
                "works_until": pick(rng, ["16:00", "17:00", "17:30"]),
            }
        for n, name in enumerate(shuffled(rng, list(s.rooms))[:6], start=1):
            seats, floor, screen = s.rooms[name]
            row = {
                "room_id": key_of("ROM", n),
                "name": name,
                "floor": floor,
                "seats": seats,
                "screen": screen,
            }
            state["rooms"][key_of("ROM", n)] = row
        titles = shuffled(rng, s.subjects)[:9]
        for n, title in enumerate(titles):
            day = later(state["today"], int(rng.choice([1, 1, 2, 2, 3, 4, 7])))
            self._meeting(goal, state, rng, title, day, cancelled=n == 0)
        first = state["meetings"][key_of("MTG", 3)]
        self._meeting(goal, state, rng, first["title"], later(first["day"], 7), first=first)
        rows = [
            row for row in state["meetings"].values() if row["status"] == "planned" and not row["repeats_id"]
        ]
        for low in rows:
            above = [
                row["meeting_id"]
                for row in rows
                if row["priority"] > low["priority"]
                and row["room_id"]
                and row["day"] == low["day"]
                and clash([(row["start"], row["end"])], low["start"], low["end"])
            ]
            low["bumped_by_id"] = pick(rng, above) if above and rng.random() < 0.3 else None
        for row in shuffled(rng, rows)[:3]:
            for one in goal.answers(row["meeting_id"], state)[1:]:
                one["answer"] = "declined"
                self._propose(goal, state, rng, row, one["colleague_id"])
        for person in shuffled(rng, list(state["colleagues"]))[:5]:
            day, start = goal.day(state, rng), pick(rng, ["09:00", "13:00", "14:00"])
            end = clock(minutes(start) + pick(rng, [60, 120]))
            if not clash(goal.busy(person, day, state), start, end):
                self._block(state, person, day, start, end)
        for person in list(state["colleagues"])[:3]:
            # Three at least: on a day on which there are no meetings.
            if len(state["focus_blocks"]) < 3:
                self._block(state, person, later(state["today"], 18), "09:00", "11:00")

    def _block(self, state: State, person: str, day: str, start: str, end: str) -> None:
        key = key_of("FOC", len(state["focus_blocks"]) + 1)
        row = {"focus_block_id": key, "colleague_id": person, "day": day, "start": start, "end": end}
        state["focus_blocks"][key] = row

    def _meeting(
        self,
        goal: MeetingGoal,
        state: State,
        rng: Rng,
        title: str,
        day: str,
        cancelled: bool = False,
        first: Row | None = None,
    ) -> None:
        """A meeting of three, at a time when its organiser is free; many lie at the same hours."""
        length = 30 * int(rng.integers(1, 4))
        while True:
            people = shuffled(rng, list(state["colleagues"]))[: 3 if first is None else 2]
            start = pick(rng, ["09:00", "09:30", "10:00", "10:00", "10:30", "14:00", "14:30", "15:00"])
            end = clock(minutes(start) + length)
            if first:
                people[0], start, end = first["organiser_id"], first["start"], first["end"]
                people = list(dict.fromkeys(people))
            if not clash(goal.busy(people[0], day, state), start, end):
                break
            if first:
                return
        key = key_of("MTG", len(state["meetings"]) + 1)
        rooms = goal.rooms(day, (start, end), len(people), state)
        state["meetings"][key] = {
            "meeting_id": key,
            "title": title,
            "organiser_id": people[0],
            "room_id": pick(rng, rooms[:2]) if rooms and not cancelled and rng.random() < 0.85 else None,
            "day": day,
            "start": start,
            "end": end,
            "priority": int(rng.integers(1, 4)),
            "bumped_by_id": None,
            "private": bool(rng.random() < 0.2) if first is None else first["private"],
            "repeats_id": first and first["meeting_id"],
            "status": "cancelled" if cancelled else "planned",
        }
        for n, person in enumerate(people):
            busy = clash(goal.busy(person, day, state), start, end)
            answer = "accepted" if n == 0 else pick(rng, ["open" if busy else "accepted", "open", "declined"])
            number = key_of("INV", len(state["invitations"]) + 1)
            row = {"invitation_id": number, "meeting_id": key, "colleague_id": person, "answer": answer}
            state["invitations"][number] = row

    def _propose(self, goal: MeetingGoal, state: State, rng: Rng, row: Row, person: str) -> None:
        """Another time, at which whoever proposes it is free."""
        length = minutes(row["end"]) - minutes(row["start"])
        while True:
            day, start = goal.day(state, rng), clock(60 * 9 + 30 * int(rng.integers(0, 13)))
            busy = goal.busy(person, day, state, row["meeting_id"])
            if day != row["day"] and not clash(busy, start, clock(minutes(start) + length)):
                break
        key = key_of("PRP", len(state["proposals"]) + 1)
        fields = {"meeting_id": row["meeting_id"], "colleague_id": person, "day": day, "start": start}
        state["proposals"][key] = {"proposal_id": key, **fields, "status": "open"}


PATTERN = Meetings
