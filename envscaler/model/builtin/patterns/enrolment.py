"""Enrolment: courses or classes with a limited number of places, who takes part, and who waits for a place.

A domain chooses how taking part ends (a mark, a presence, a number of sessions), and whether courses require others,
cost a fee, or count towards a limit of points.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any, ClassVar

from pydantic import model_validator

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
    key_of,
    named,
    only,
    own,
    pick,
    shuffled,
)
from envscaler.model.builtin.phrase import Slots

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Subject(Part):
    """The attribute that sorts the courses, and tells who may teach them."""

    name: str
    """`department`"""
    about: str
    """What it means."""


class Load(Part):
    """Points of a course, where the sum that one person may take is limited."""

    name: str
    """`credits`"""
    about: str
    """What it means."""
    choices: list[int]
    """Its values."""
    most: int
    """Most that one person may take at a time."""


class Fee(Part):
    """What a course costs."""

    about: str
    """What it means."""
    range: tuple[int, int]
    """Least and greatest fee."""
    currency: str = "EUR"
    """Unit of money."""


class Mark(Part):
    """A mark, with which taking part ends."""

    name: str
    """`grade`"""
    low: int
    """Lowest mark."""
    high: int
    """Highest mark."""
    passing: int
    """Lowest mark that passes."""


class Sessions(Part):
    """Attended sessions of a weekly course, of which enough are needed for a certificate."""

    name: str
    """`sessions_attended`"""
    total: int
    """How many there are."""
    needed: int
    """How many are needed."""


class EnrolmentSettings(Settings):
    """A teaching world's words and numbers; one of `mark`, `no_shows` and `sessions` is given."""

    course: str
    """`course`"""
    course_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of the courses' ids."""
    person: str = "person"
    """Who takes part: a registry's noun."""
    enrolment: str = "enrolment"
    """`enrolment`"""
    enrolment_prefix: str
    """Prefix of the enrolments' ids."""
    teacher: str
    """`lecturer`"""
    teacher_prefix: str
    """Prefix of the teachers' ids."""
    enrol: str
    """Name of the tool that enrols, e.g. `enrol_student`."""
    enrol_verb: str = "enrol"
    """Verb for enrolling; it takes `in`."""
    withdraw: str = "withdraw"
    """Verb for leaving."""
    withdrawn: str = "withdrawn"
    """The status that results."""
    subject: Subject
    """What sorts the courses."""
    catalogue: dict[str, list[str]]
    """Subject → titles."""
    new_titles: dict[str, list[str]]
    """Subject → titles of courses that may be added."""
    weekly: bool = True
    """Whether a course meets every week; otherwise only once."""
    times: list[str]
    """Times at which courses begin."""
    span: tuple[int, int]
    """First and last day on which courses begin, counted from today."""
    places: tuple[int, int] = (3, 5)
    """Least and greatest number of places."""
    max_open: int = 4
    """Most courses a person may take or wait for at a time."""
    max_teaching: int = 4
    """Most courses of one teacher."""
    withdraw_days: int = 1
    """Days before the beginning up to which one may leave."""
    load: Load | None = None
    """Points of a course."""
    requires: bool = False
    """Whether a course may require another one."""
    fee: Fee | None = None
    """What a course costs."""
    mark: Mark | None = None
    """A mark, with which taking part ends."""
    no_shows: int = 0
    """Taking part ends with a presence or an absence; so many absences bar a person."""
    sessions: Sessions | None = None
    """Attended sessions, enough of which end it."""
    asks: str | None = None
    """An extra of persons and courses, its choices in rising order: who has less cannot take a course of more."""
    rest: str = ""
    """The weekday on which no course begins."""

    @model_validator(mode="after")
    def _fits(self) -> "EnrolmentSettings":
        if [bool(self.mark), bool(self.no_shows), bool(self.sessions)].count(True) != 1:
            raise ValueError("expected just one of mark, no_shows and sessions")
        if self.sessions and not self.weekly:
            raise ValueError("expected weekly courses, whose sessions can be counted")
        if set(self.catalogue) != set(self.new_titles):
            raise ValueError("expected new_titles for every subject of the catalogue")
        return self


def later(day: str, days: int) -> str:
    """The date so many days later."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def meetings(first: str, total: int, until: str) -> list[str]:
    """The days on which a weekly course has met, up to and with a day."""
    return [day for day in (later(first, 7 * n) for n in range(total)) if day <= until]


LIVE = ("enrolled", "waiting")
QUEUES = "waiting lists"
"""Mark of a goal that changes or compares waiting lists."""


class Campus:
    """What may be asked of a state: the rules of this pattern, for goals and for new rows."""

    def __init__(self, v: SimpleNamespace, state: State) -> None:
        self.v = v
        self.state = state
        self.person_id, self.course_id = f"{v.p.id}_id", f"{v.c.id}_id"
        self.enrolment_id, self.teacher_id = f"{v.e.id}_id", f"{v.t.id}_id"
        self.courses: dict[str, Any] = state[v.c.ids]
        self.enrolments: dict[str, Any] = state[v.e.ids]

    def rows(self, *statuses: str, **fields: Any) -> list[dict[str, Any]]:
        """Enrolments of these statuses with these values, in the order in which they were made."""
        rows = [
            row
            for row in self.enrolments.values()
            if (not statuses or row["status"] in statuses) and all(row[k] == v for k, v in fields.items())
        ]
        return sorted(rows, key=lambda row: (row["requested_on"], row[self.enrolment_id]))

    def free(self, course: str) -> int:
        """Places that nobody has."""
        taken = self.rows(*self.v.holding, **{self.course_id: course})
        return int(self.courses[course]["places"]) - len(taken)

    def clash(self, one: str, other: str) -> bool:
        """Whether two courses meet at the same time."""
        a, b = self.courses[one], self.courses[other]
        day = "weekday" if self.v.s.weekly else "starts_on"
        return one != other and a[day] == b[day] and a["time"] == b["time"]

    def below(self, person: str, course: str) -> bool:
        """Whether somebody has not got as far as a course asks for."""
        name, steps = self.v.s.asks, self.v.steps
        has, asked = self.state[self.v.p.ids][person].get(name), self.courses[course].get(name)
        return bool(name) and steps.index(has) < steps.index(asked)

    def obstacle(self, person: str, course: str, ignore: str = "") -> str:
        """Why somebody may not take a course or wait for it; empty when nothing speaks against it."""
        s, row = self.v.s, self.courses[course]
        mine = [e for e in self.rows(**{self.person_id: person}) if e[self.enrolment_id] != ignore]
        live = [e[self.course_id] for e in mine if e["status"] in LIVE]
        points = sum(self.courses[c][s.load.name] for c in [*live, course]) if s.load else 0
        missed = sum(e["status"] == "missed" for e in mine)
        passed = [e[self.course_id] for e in mine if e["status"] == self.v.done]
        reasons = {
            "not active": self.state[self.v.p.ids][person]["status"] != "active",
            "not open": not row["is_open"] or row["starts_on"] < self.state["today"],
            "there already": any(e[self.course_id] == course and e["status"] != s.withdrawn for e in mine),
            "below": self.below(person, course),
            "too many": len(live) >= s.max_open or bool(s.load and points > s.load.most),
            "clash": any(self.clash(course, c) for c in live),
            "missed": bool(s.no_shows and missed >= s.no_shows),
            "required": bool(s.requires and row[self.v.requires] and row[self.v.requires] not in passed),
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def teachers(self, subject: str, course: str) -> list[tuple[int, str]]:
        """Who could take over a course, with the number of their courses, the least busy first."""
        found_ = []
        for key, row in self.state[self.v.t.ids].items():
            own_ = [c for c, r in self.courses.items() if r[self.teacher_id] == key]
            fits = row[self.v.k.name] == subject and not row["on_leave"]
            if fits:
                found_.append((len(own_), key))
        return sorted(found_)

    def may_teach(self, teacher: str, course: str) -> bool:
        """Whether a teacher has time for a course."""
        own_ = [c for c, r in self.courses.items() if r[self.teacher_id] == teacher]
        busy = len(own_) >= self.v.s.max_teaching
        return not busy and not any(self.clash(course, c) for c in own_) and course not in own_

    def days_left(self, course: str) -> int:
        """Days until a course begins."""
        start = date.fromisoformat(self.courses[course]["starts_on"])
        return (start - date.fromisoformat(self.state["today"])).days


class CourseGoal(Goal):
    """What goals about courses look up."""

    def course(self, slots: Slots, state: State, name: str = "title") -> str:
        """Id of the course a sentence names."""
        rows = state[self.v.c.ids]
        return str(only([key for key, row in rows.items() if row["title"] == slots[name]]))

    def find_both(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find person and course."""
        v = self.v
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.c.ids}", text=slots["title"]),
        ]

    def both(self) -> dict[str, Any]:
        """Arguments with the ids out of their replies."""
        p, c = f"{self.v.p.id}_id", f"{self.v.c.id}_id"
        return {p: found(0, 0, p), c: found(1, 0, c)}

    def look_up(self, slots: Slots, status: str = "enrolled") -> list[dict[str, Any]]:
        """The calls that find an enrolment of this status."""
        return [*self.find_both(slots), call(f"list_{self.v.e.ids}", **self.both(), status=status)]

    def id(self) -> dict[str, Any]:
        """Argument with the enrolment's id."""
        return {f"{self.v.e.id}_id": found(2, 0, f"{self.v.e.id}_id")}

    def pairs(self, state: State, *statuses: str) -> Iterator[tuple[dict[str, Any], Slots]]:
        """Enrolments of these statuses, each with the name and the title that tell it."""
        campus = Campus(self.v, state)
        for row in campus.rows(*statuses):
            name = state[self.v.p.ids][row[campus.person_id]]["name"]
            yield row, {"name": name, "title": campus.courses[row[campus.course_id]]["title"]}

    def enrolment(self, slots: Slots, state: State, status: str = "enrolled") -> dict[str, Any]:
        """The enrolment of this status that a sentence is about."""
        campus = Campus(self.v, state)
        person = named(state, self.v.p, slots["name"])[campus.person_id]
        keys = {campus.person_id: person, campus.course_id: self.course(slots, state)}
        return dict(only(campus.rows(status, **keys)))

    def change(
        self, row: dict[str, Any], item: str, also: tuple[str, ...] = (), **fields: Any
    ) -> list[Outcome]:
        """The enrolment has these values; its person and its course are concerned."""
        concerned = (row[f"{self.v.p.id}_id"], row[f"{self.v.c.id}_id"], *also)
        return [Changed(self.v.e.ids, row[f"{self.v.e.id}_id"], fields, item, concerned)]

    def promoted(self, state: State, course: str, places: int) -> list[Outcome]:
        """Those who wait longest get the places that become free."""
        v, campus = self.v, Campus(self.v, state)
        outcomes: list[Outcome] = []
        for row in campus.rows("waiting", **{campus.course_id: course})[: max(0, places)]:
            name = state[v.p.ids][row[campus.person_id]]["name"]
            due = {"fee_due": campus.courses[course]["fee"]} if v.s.fee else {}
            item = f"Has {name}, who was waiting, got a place in '{campus.courses[course]['title']}'?"
            outcomes += self.change(row, item, (QUEUES,), status="enrolled", **due)
        return outcomes


class Enrol(CourseGoal):
    """A place in a course."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<p>> {name:name} wants to take part in the <<c>> "{title:text}", please <<s.enrol_verb>> that <<p>>.',
        'Please <<s.enrol_verb>> <<p>> {name:name} in the <<c>> "{title:text}", where there are places left.',
        'There should still be room in the <<c>> "{title:text}" for <<p>> {name:name}, so make that <<e>>.',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "find_<<c.ids>>", "<<s.enrol>>")
    full = False

    def draw(self, state: State, rng: Rng) -> Slots | None:
        campus = Campus(self.v, state)
        for course in shuffled(rng, list(campus.courses)):
            if (campus.free(course) <= 0) != self.full:
                continue
            people = [p for p in state[self.v.p.ids] if not campus.obstacle(p, course)]
            if people:
                name = state[self.v.p.ids][pick(rng, people)]["name"]
                return {"name": name, "title": campus.courses[course]["title"]}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.find_both(slots), call(self.v.s.enrol, **self.both())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        course = self.course(slots, state)
        if (Campus(self.v, state).free(course) <= 0) != self.full:
            raise LookupError(f"{slots['title']} is otherwise")
        return self.enrolled(slots, state, course)

    def enrolled(self, slots: Slots, state: State, course: str) -> list[Outcome]:
        """The new enrolment."""
        v, campus = self.v, Campus(self.v, state)
        person = named(state, v.p, slots["name"])[campus.person_id]
        if reason := campus.obstacle(person, course):
            raise LookupError(reason)
        row, full = campus.courses[course], campus.free(course) <= 0
        fields = {
            campus.person_id: person,
            campus.course_id: course,
            "requested_on": state["today"],
            **({"fee_due": 0.0 if full else row["fee"]} if v.s.fee else {}),
            **({v.s.mark.name: None} if v.s.mark else {}),
            **({v.s.sessions.name: 0, "last_session_on": None} if v.s.sessions else {}),
            "status": "waiting" if full else "enrolled",
        }
        item = f"Has {slots['name']} {'joined the waiting list of' if full else 'got a place in'} '{row['title']}'?"
        return [Added(v.e.ids, fields, item, (row[v.k.name], *([QUEUES] if full else [])))]


class JoinWaiting(Enrol):
    """A place in the waiting list of a full course."""

    phrases = (
        'The <<c>> "{title:text}" is full, but <<p>> {name:name} would like to go on its waiting list.',
        'Please put <<p>> {name:name} on the waiting list of the <<c>> "{title:text}".',
    )
    full = True


class EnrolSoonest(Enrol):
    """A place in the next course of a subject that has one."""

    phrases = (
        "The <<p>> {name:name} wants a place in the next <<c>> of the <<subjectwords>> {subject:name} that is open and "
        "not full.",
        "Please <<s.enrol_verb>> <<p>> {name:name} in the next <<c>> of the <<subjectwords>> {subject:name} that is "
        "open and still has places.",
    )

    def soonest(self, slots: Slots, state: State) -> str:
        """The course that is meant."""
        campus = Campus(self.v, state)
        rows = [
            (row["starts_on"], row["time"], key)
            for key, row in campus.courses.items()
            if row[self.v.k.name] == slots["subject"] and campus.free(key) > 0
            if row["is_open"] and row["starts_on"] >= state["today"]
        ]
        first = min(rows, default=("", "", ""))
        if first[0] == state["today"]:
            raise LookupError("it may have begun by the clock, which nobody tells")
        return only([key for start, time, key in rows if (start, time) == first[:2]])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        campus = Campus(self.v, state)
        for subject in shuffled(rng, self.v.subjects):
            try:
                course = self.soonest({"subject": subject}, state)
            except LookupError:
                continue
            people = [p for p in state[self.v.p.ids] if not campus.obstacle(p, course)]
            if people:
                return {"name": state[self.v.p.ids][pick(rng, people)]["name"], "subject": subject}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        which = {v.k.name: slots["subject"], "with_places": True}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.c.ids}", **which),
            call(v.s.enrol, **self.both()),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.enrolled(slots, state, self.soonest(slots, state))


class Withdraw(CourseGoal):
    """Leave a course; whoever waits longest gets the place."""

    phrases = (
        'The <<p>> {name:name} cannot come to the <<c>> "{title:text}" after all, so please <<s.withdraw>> the <<e>>.',
        'Please <<s.withdraw>> the <<e>> of <<p>> {name:name} in the <<c>> "{title:text}".',
        '{name:name} is giving up the place in the <<c>> "{title:text}", please <<s.withdraw>> that <<e>>.',
    )
    needs = ("find_<<p.ids>>", "find_<<c.ids>>", "list_<<e.ids>>", "<<s.withdraw>>_<<e.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        campus, s = Campus(self.v, state), self.v.s
        rows = [
            slots
            for row, slots in self.pairs(state, "enrolled")
            if campus.days_left(row[campus.course_id]) >= s.withdraw_days
        ]
        return pick(rng, rows) if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"{self.v.s.withdraw}_{self.v.e.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        campus, row = Campus(self.v, state), self.enrolment(slots, state)
        course = row[campus.course_id]
        if campus.days_left(course) < self.v.s.withdraw_days:
            raise LookupError("it is too late")
        due = {"fee_due": 0.0} if self.v.s.fee else {}
        item = f"Has the {self.v.e} of {slots['name']} in '{slots['title']}' been {self.v.s.withdrawn}?"
        also = (campus.courses[course][self.v.k.name],)
        left = self.change(row, item, also, status=self.v.s.withdrawn, **due)
        return [*left, *self.promoted(state, course, campus.free(course) + 1)]


class Switch(CourseGoal):
    """Change to another course that has places."""

    phrases = (
        'The <<p>> {name:name} wants to change from the <<c>> "{title:text}" to "{other:text}", where places are left.',
        'Please move <<p>> {name:name} from the <<c>> "{title:text}" into the <<c>> "{other:text}".',
    )
    needs = ("find_<<p.ids>>", "find_<<c.ids>>", "list_<<e.ids>>", "switch_<<c.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        campus = Campus(self.v, state)
        for row, slots in shuffled(rng, list(self.pairs(state, "enrolled"))):
            others = [c for c in campus.courses if self.fits(campus, row, c)]
            if others:
                return {**slots, "other": campus.courses[pick(rng, others)]["title"]}
        return None

    def fits(self, campus: Campus, row: dict[str, Any], other: str) -> bool:
        """Whether somebody may change to another course."""
        ignore = row[campus.enrolment_id]
        return (
            campus.days_left(row[campus.course_id]) >= self.v.s.withdraw_days
            and campus.free(other) > 0
            and not campus.rows("waiting", **{campus.course_id: other})
            and other != row[campus.course_id]
            and not campus.obstacle(row[campus.person_id], other, ignore)
        )

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.c.id}_id"
        return [
            *self.look_up(slots),
            call(f"find_{v.c.ids}", text=slots["other"]),
            call(f"switch_{v.c.id}", **self.id(), **{f"to_{key}": found(3, 0, key)}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        campus, row = Campus(self.v, state), self.enrolment(slots, state)
        course, other = row[campus.course_id], self.course(slots, state, "other")
        if not self.fits(campus, row, other):
            raise LookupError("the change is not allowed")
        due = {}
        if self.v.s.fee:
            more = campus.courses[other]["fee"] - campus.courses[course]["fee"]
            due = {"fee_due": round(max(0.0, row["fee_due"] + more), 2)}
        item = f"Has {slots['name']} been moved from '{slots['title']}' to '{slots['other']}'?"
        also = (campus.courses[course][self.v.k.name], campus.courses[other][self.v.k.name])
        moved = self.change(row, item, also, **{campus.course_id: other}, **due)
        return [*moved, *self.promoted(state, course, campus.free(course) + 1)]


class Begun(CourseGoal):
    """A goal about taking part in a course that has begun."""

    def rows(self, state: State) -> list[tuple[dict[str, Any], Slots]]:
        """Those who take part in a course that has begun."""
        key = f"{self.v.c.id}_id"
        return [
            (row, slots)
            for row, slots in self.pairs(state, "enrolled")
            if state[self.v.c.ids][row[key]]["starts_on"] <= state["today"]
        ]

    def begun(self, slots: Slots, state: State) -> dict[str, Any]:
        """The enrolment of a sentence; raises `LookupError` when its course has not begun."""
        row = self.enrolment(slots, state)
        if state[self.v.c.ids][row[f"{self.v.c.id}_id"]]["starts_on"] > state["today"]:
            raise LookupError("it has not begun")
        return row


class RecordMark(Begun):
    """A mark, which ends it."""

    phrases = (
        'Please record the <<markwords>> {mark:int} for <<p>> {name:name} in the <<c>> "{title:text}".',
        'The <<p>> {name:name} finished the <<c>> "{title:text}" with the <<markwords>> {mark:int}; please enter it.',
        'In the <<c>> "{title:text}", <<p>> {name:name} reached the <<markwords>> {mark:int}, so please record that.',
    )
    needs = ("find_<<p.ids>>", "find_<<c.ids>>", "list_<<e.ids>>", "record_<<s.mark.name>>")
    when = "s.mark is not none"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows, mark = self.rows(state), self.v.s.mark
        return (
            {
                **pick(rng, rows)[1],
                "mark": int(rng.integers(mark.low + (mark.high - mark.low) // 4, mark.high + 1)),
            }
            if rows
            else None
        )

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        name = self.v.s.mark.name
        return [*self.look_up(slots), call(f"record_{name}", **self.id(), **{name: slots["mark"]})]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        mark, row = self.v.s.mark, self.begun(slots, state)
        if not mark.low <= slots["mark"] <= mark.high:
            raise LookupError("there is no such mark")
        status = "passed" if slots["mark"] >= mark.passing else "failed"
        item = f"Has the {self.v.markwords} {slots['mark']} of {slots['name']} been recorded in '{slots['title']}'?"
        return self.change(row, item, status=status, **{mark.name: slots["mark"]})


class RecordPresence(Begun):
    """A presence, which ends it."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<p>> {name:name} took part in the <<c>> "{title:text}", so please record the attendance.',
        'Please record that <<p>> {name:name} attended the <<c>> "{title:text}".',
        'According to the list, {name:name} was present in the <<c>> "{title:text}", please enter that.',
    )
    needs = ("find_<<p.ids>>", "find_<<c.ids>>", "list_<<e.ids>>", "record_attendance")
    when = "s.no_shows > 0"
    present = True

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.rows(state)
        return pick(rng, rows)[1] if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call("record_attendance", **self.id(), present=self.present)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        status = "attended" if self.present else "missed"
        item = f"Has the {self.v.e} of {slots['name']} in '{slots['title']}' been recorded as {status}?"
        return self.change(self.begun(slots, state), item, status=status)


class RecordAbsence(RecordPresence):
    """An absence, which ends it."""

    phrases = (
        'The <<p>> {name:name} did not turn up for the <<c>> "{title:text}", so please record the absence.',
        'Please put down that <<p>> {name:name} missed the <<c>> "{title:text}".',
    )
    present = False


class RecordSession(Begun):
    """One more attended session, of a day on which the course met."""

    phrases = (
        'The <<p>> {name:name} was at the session of the <<c>> "{title:text}" on {day:date}, please count it.',
        'Please count the session of {day:date} as attended for <<p>> {name:name} in the <<c>> "{title:text}".',
    )
    needs = ("find_<<p.ids>>", "find_<<c.ids>>", "list_<<e.ids>>", "record_session")
    when = "s.sessions is not none"

    def uncounted(self, row: dict[str, Any], state: State) -> list[str]:
        """Days on which the course has met since the last session counted for somebody."""
        first = state[self.v.c.ids][row[f"{self.v.c.id}_id"]]["starts_on"]
        days = meetings(first, self.v.s.sessions.total, state["today"])
        return [day for day in days if day > (row["last_session_on"] or "")]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        # Today's session may lie ahead by the clock, which nobody tells.
        past = {**state, "today": later(state["today"], -1)}
        rows = [(slots, days) for row, slots in self.rows(state) if (days := self.uncounted(row, past))]
        slots, days = pick(rng, rows)
        return {**slots, "day": days[-1]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call("record_session", **self.id(), day=slots["day"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, sessions = self.begun(slots, state), self.v.s.sessions
        if slots["day"] not in self.uncounted(row, state):
            raise LookupError("there was no such session, or it was counted")
        item = f"Has the session of {slots['day']} been counted for {slots['name']} in '{slots['title']}'?"
        more = {sessions.name: row[sessions.name] + 1, "last_session_on": slots["day"]}
        return self.change(row, item, **more)


class Certify(Begun):
    """A certificate for enough sessions."""

    phrases = (
        'The <<p>> {name:name} came often enough to the <<c>> "{title:text}", so please issue the certificate.',
        'Please issue the certificate of <<p>> {name:name} for the <<c>> "{title:text}".',
    )
    needs = ("find_<<p.ids>>", "find_<<c.ids>>", "list_<<e.ids>>", "issue_certificate")
    when = "s.sessions is not none"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [slots for row, slots in self.rows(state) if self.earned(row)]
        return pick(rng, rows) if rows else None

    def earned(self, row: dict[str, Any]) -> bool:
        """Whether somebody came often enough and owes nothing."""
        owes = bool(self.v.s.fee) and row["fee_due"] > 0
        return row[self.v.s.sessions.name] >= self.v.s.sessions.needed and not owes

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call("issue_certificate", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.begun(slots, state)
        if not self.earned(row):
            raise LookupError("it is not earned")
        item = f"Is the {self.v.e} of {slots['name']} in '{slots['title']}' completed?"
        return self.change(row, item, status="completed")


class SetPlaces(CourseGoal):
    """Another number of places; those who wait move up."""

    phrases: ClassVar[tuple[str, ...]] = (
        'We have a larger room for the <<c>> "{title:text}", so please raise its places to {places:int}.',
        'Please change the number of places in the <<c>> "{title:text}" to {places:int}.',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<c.ids>>", "set_<<c.id>>_places")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state[self.v.c.ids].values() if row["starts_on"] > state["today"]]
        if not rows:
            return None
        row = pick(rng, rows)
        return {"title": row["title"], "places": row["places"] + int(rng.integers(1, 4))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.c.id}_id"
        given = {key: found(0, 0, key), "places": slots["places"]}
        return [call(f"find_{v.c.ids}", text=slots["title"]), call(f"set_{v.c.id}_places", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.widened(self.course(slots, state), slots, state)

    def widened(self, course: str, slots: Slots, state: State) -> list[Outcome]:
        """The course has more places, and so many of those who wait get one."""
        campus = Campus(self.v, state)
        row = campus.courses[course]
        taken = row["places"] - campus.free(course)
        if slots["places"] == row["places"] or slots["places"] < max(1, taken):
            raise LookupError("the places cannot be set so")
        item = f"Has the number of places in '{row['title']}' been set to {slots['places']}?"
        also = (row[self.v.k.name],)
        set_ = Changed(self.v.c.ids, course, {"places": slots["places"]}, item, also)
        return [set_, *self.promoted(state, course, slots["places"] - taken)]


class RelieveLongest(SetPlaces):
    """More places where most people wait."""

    phrases = (
        "The <<c>> with the longest waiting list at present gets a bigger room and should have {places:int} places.",
        "Find out for which <<c>> most <<p.many>> are waiting and set its places to {places:int}.",
    )
    needs = ("list_waiting_lists", "set_<<c.id>>_places")

    def longest(self, state: State) -> str:
        """The course with the longest waiting list."""
        campus = Campus(self.v, state)
        counts = {c: len(campus.rows("waiting", **{campus.course_id: c})) for c in campus.courses}
        most = max(counts.values())
        return only([c for c, count in counts.items() if count == most and count])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        places = state[self.v.c.ids][self.longest(state)]["places"]
        return {"places": places + int(rng.integers(1, 4))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = f"{self.v.c.id}_id"
        given = {key: found(0, 0, key), "places": slots["places"]}
        return [call("list_waiting_lists"), call(f"set_{self.v.c.id}_places", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        first, *more = self.widened(self.longest(state), slots, state)
        item = f"Has the {self.v.c} with the longest waiting list been given {slots['places']} places?"
        assert isinstance(first, Changed)
        return [Changed(first.table, first.key, first.fields, item, (*first.also, QUEUES)), *more]


class AssignTeacher(CourseGoal):
    """Another teacher, whoever has the least to teach."""

    phrases = (
        'The <<c>> "{title:text}" goes to whichever <<t>> for its <<subjectwords>> has the fewest <<c.many>> so far.',
        'Please give the <<c>> "{title:text}" to the least busy <<t>> of its <<subjectwords>> who is not on leave.',
    )
    needs = ("find_<<c.ids>>", "list_<<t.ids>>", "assign_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        titles = [row["title"] for row in state[self.v.c.ids].values() if row["starts_on"] > state["today"]]
        for title in shuffled(rng, titles):
            try:
                self.least(self.course({"title": title}, state), state)
            except LookupError:
                continue
            return {"title": title}
        return None

    def least(self, course: str, state: State) -> str:
        """The teacher who is meant."""
        campus = Campus(self.v, state)
        rows = campus.teachers(campus.courses[course][self.v.k.name], course)
        teacher = only([key for count, key in rows if count == rows[0][0]])
        if not campus.may_teach(teacher, course):
            raise LookupError("nobody has time")
        return str(teacher)

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, c, t = self.v, f"{self.v.c.id}_id", f"{self.v.t.id}_id"
        who = {v.k.name: found(0, 0, v.k.name), "on_leave": False}
        return [
            call(f"find_{v.c.ids}", text=slots["title"]),
            call(f"list_{v.t.ids}", **who),
            call(f"assign_{v.t.id}", **{c: found(0, 0, c), t: found(1, 0, t)}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        course = self.course(slots, state)
        item = f"Has '{slots['title']}' been given to the {self.v.t} with the fewest {self.v.c.many}?"
        also = (state[self.v.c.ids][course][self.v.k.name],)
        fields = {f"{self.v.t.id}_id": self.least(course, state)}
        return [Changed(self.v.c.ids, course, fields, item, also)]


class OpenCourse(CourseGoal):
    """A new course."""

    phrases = (
        'There is a new <<c>> to plan: "{title:text}", <<subjectwords>> {subject:name}, <<said_from>> {start:date} at '
        "{time:time}, with {places:int} places<<said_new>>.",
        'Please add the <<c>> "{title:text}" of the <<subjectwords>> {subject:name}, <<said_on>> {start:date} at '
        "{time:time} with {places:int} places<<said_new>>.",
    )
    needs = ("add_<<c.id>>",)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        s = self.v.s
        subject = pick(rng, self.v.subjects)
        slots = {
            "title": pick(rng, s.new_titles[subject]),
            "subject": subject,
            "start": later(state["today"], int(rng.integers(10, 60))),
            "time": pick(rng, s.times),
            "places": int(rng.integers(s.places[0], s.places[1] + 4)),
        }
        if s.load:
            slots["points"] = pick(rng, s.load.choices)
        if s.fee:
            slots["fee"] = float(int(rng.integers(*s.fee.range)) // 5 * 5)
        return slots

    def fields(self, slots: Slots) -> dict[str, Any]:
        """What the new record says."""
        s = self.v.s
        return {
            "title": slots["title"],
            s.subject.name: slots["subject"],
            "starts_on": slots["start"],
            "time": slots["time"],
            "places": slots["places"],
            **({s.load.name: slots["points"]} if s.load else {}),
            **({"fee": slots["fee"]} if s.fee else {}),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [call(f"add_{self.v.c.id}", **self.fields(slots))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        titles = [row["title"].lower() for row in state[self.v.c.ids].values()]
        if slots["title"].lower() in titles or slots["subject"] not in self.v.subjects:
            raise LookupError("it cannot be added")
        if slots["start"] <= state["today"] or not slots["places"]:
            raise LookupError("it cannot be planned so")
        item = f"Has the {self.v.c} '{slots['title']}' been added with the given details?"
        fields = {**self.fields(slots), f"{self.v.t.id}_id": None, **self.v.blanks, "is_open": True}
        if self.v.s.weekly:
            fields["weekday"] = DAYS[date.fromisoformat(slots["start"]).weekday()]
        if self.v.s.requires:
            fields[self.v.requires] = None
        return [Added(self.v.c.ids, fields, item, (slots["title"], slots["subject"]))]


class CloseCourse(CourseGoal):
    """No further enrolments."""

    phrases = (
        'Nobody else can join the <<c>> "{title:text}", so please close it for new <<e.many>>.',
        'Please close the <<c>> "{title:text}" for further <<e.many>>.',
    )
    needs = ("find_<<c.ids>>", "set_<<c.id>>_open")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state[self.v.c.ids].values() if row["is_open"]]
        return {"title": pick(rng, rows)["title"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.c.id}_id"
        closed = call(f"set_{v.c.id}_open", **{key: found(0, 0, key)}, is_open=False)
        return [call(f"find_{v.c.ids}", text=slots["title"]), closed]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        course = self.course(slots, state)
        row = state[self.v.c.ids][course]
        if not row["is_open"]:
            raise LookupError("it is closed already")
        item = f"Is the {self.v.c} '{slots['title']}' closed for new {self.v.e.many}?"
        return [Changed(self.v.c.ids, course, {"is_open": False}, item, (row[self.v.k.name],))]


class PayFee(CourseGoal):
    """Pay on the highest fee that somebody owes."""

    phrases = (
        "The <<p>> {name:name} has paid {amount:money} <<s.fee.currency>> towards the highest <<c>> fee still due.",
        "Please book {amount:money} <<s.fee.currency>> from <<p>> {name:name} against the largest unpaid <<c>> fee.",
    )
    needs = ("find_<<p.ids>>", "list_unpaid_fees", "pay_<<c.id>>_fee")
    when = "s.fee is not none"

    def owing(self, slots: Slots, state: State) -> dict[str, Any]:
        """The enrolment with the highest fee that somebody owes."""
        campus = Campus(self.v, state)
        person = named(state, self.v.p, slots["name"])[campus.person_id]
        rows = [row for row in campus.rows(**{campus.person_id: person}) if row["fee_due"] > 0]
        most = max((row["fee_due"] for row in rows), default=0)
        return dict(only([row for row in rows if row["fee_due"] == most]))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        key = f"{self.v.p.id}_id"
        owing = [row[key] for row in state[self.v.e.ids].values() if row["fee_due"] > 0]
        if not owing:
            return None
        name = state[self.v.p.ids][pick(rng, owing)]["name"]
        due = self.owing({"name": name}, state)["fee_due"]
        return {"name": name, "amount": due if rng.random() < 0.5 else round(due / 2, 2)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, p, e = self.v, f"{self.v.p.id}_id", f"{self.v.e.id}_id"
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call("list_unpaid_fees", **{p: found(0, 0, p)}),
            call(f"pay_{v.c.id}_fee", **{e: found(1, 0, e)}, amount=slots["amount"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.owing(slots, state)
        if not 0 < slots["amount"] <= row["fee_due"]:
            raise LookupError("that is not what is due")
        item = f"Has a payment of {slots['amount']} by {slots['name']} been booked on the highest fee?"
        return self.change(row, item, fee_due=round(row["fee_due"] - slots["amount"], 2))


class Enrolment(Pattern):
    """Courses with places, and who takes part."""

    Settings = EnrolmentSettings
    IMPORTS = ("from datetime import date", "import re")
    GOALS: ClassVar = (
        Enrol, JoinWaiting, EnrolSoonest, Withdraw, Switch, RecordMark, RecordPresence, RecordAbsence,
        RecordSession, Certify,
        SetPlaces, RelieveLongest, AssignTeacher, OpenCourse, CloseCourse, PayFee,
    )  # fmt: skip

    def vocabulary(self, s: EnrolmentSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        c, e, t = Noun(s.course, s.course_many), Noun(s.enrolment), Noun(s.teacher)
        shared[s.course] = c
        shared[s.teacher] = t
        shared[s.enrolment] = e
        done = "passed" if s.mark else "attended" if s.no_shows else "completed"
        over = ["passed", "failed"] if s.mark else ["attended", "missed"] if s.no_shows else ["completed"]
        points = f", {s.load.name.replace('_', ' ')} {{points:int}}" if s.load else ""
        fee = f", for {{fee:money}} {s.fee.currency}" if s.fee else ""
        return {
            "c": c,
            "e": e,
            "t": t,
            "p": shared[s.person],
            "k": s.subject,
            "subjects": list(s.catalogue),
            "subjectwords": s.subject.name.replace("_", " "),
            "markwords": s.mark.name.replace("_", " ") if s.mark else "",
            "loadwords": s.load.name.replace("_", " ") if s.load else "",
            "requires": f"required_{c.id}_id",
            "done": done,
            "over": over,
            "holding": ("enrolled", *over),
            "statuses": ["enrolled", "waiting", s.withdrawn, *over],
            "day": "weekday" if s.weekly else "starts_on",
            "said_new": points + fee,
            "notice": "a day" if s.withdraw_days == 1 else f"{s.withdraw_days} days",
            "said_from": "from" if s.weekly else "on",
            "said_on": "starting on" if s.weekly else "on",
            "filters": [x for x in s.extras if x.filter],
            "asked": f", of no higher {s.asks} than the {shared[s.person]}'s own" if s.asks else "",
            "steps": next((x.choices for x in s.extras if x.name == s.asks), []),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, c, t = v.s, v.c, v.t
        weekday = [attribute("weekday", "str", "day of the week on which it meets")] if s.weekly else []
        load = [attribute(s.load.name, "int", s.load.about)] if s.load else []
        fee = [attribute("fee", "float", f"{s.fee.about}, in {s.fee.currency}")] if s.fee else []
        required = [attribute(v.requires, "str | None", f"the {c} one has to have passed before, or None")]
        teacher = Table(
            t,
            f"{t.a[:1].upper()}{t.a[1:]}.",
            [
                attribute(f"{t.id}_id", "str", f"unique id, e.g. {s.teacher_prefix}-001"),
                attribute("name", "str", "full name"),
                attribute(v.k.name, "str", f"{v.k.about}: {', '.join(v.subjects)}"),
                attribute("on_leave", "bool", f"whether the {t} is away and takes no new {c.many}"),
            ],
        )
        course = Table(
            c,
            f"{c.a[:1].upper()}{c.a[1:]} with a limited number of places.",
            [
                attribute(f"{c.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                attribute("title", "str", "what it is called, unique"),
                attribute(v.k.name, "str", f"{v.k.about}: {', '.join(v.subjects)}"),
                attribute(f"{t.id}_id", "str | None", f"the {t} who gives it, None while there is none"),
                attribute(
                    "starts_on", "str", "first day, as YYYY-MM-DD" if s.weekly else "its day, as YYYY-MM-DD"
                ),
                *weekday,
                attribute("time", "str", "when it begins, as HH:MM"),
                attribute("places", "int", "how many can take part, at least 1"),
                *load,
                *fee,
                *(required if s.requires else []),
                *own(s.extras),
                attribute("is_open", "bool", f"whether it takes new {v.e.many}"),
            ],
        )
        return [teacher, course, self._enrolment_table(v)]

    def _enrolment_table(self, v: SimpleNamespace) -> Table:
        s, c, p, e = v.s, v.c, v.p, v.e
        ending = []
        if s.mark:
            about = f"{s.mark.low} to {s.mark.high}, {s.mark.passing} and more passes; None before"
            ending = [attribute(s.mark.name, "int | None", about)]
        if s.sessions:
            last = "day of the last session that was counted, as YYYY-MM-DD, or None"
            ending = [
                attribute(s.sessions.name, "int", f"sessions attended, 0 to {s.sessions.total}"),
                attribute("last_session_on", "str | None", last),
            ]
        fee = (
            [attribute("fee_due", "float", f"what is still to be paid in {s.fee.currency}")] if s.fee else []
        )
        return Table(
            e,
            f"{e.a[:1].upper()}{e.a[1:]}: one {p} in one {c}, or waiting for a place in it.",
            [
                attribute(f"{e.id}_id", "str", f"unique id, e.g. {s.enrolment_prefix}-001"),
                attribute(f"{p.id}_id", "str", f"the {p}"),
                attribute(f"{c.id}_id", "str", f"the {c}"),
                attribute("requested_on", "str", "day it was asked for, as YYYY-MM-DD"),
                *ending,
                *fee,
                attribute("status", "str", f"{', '.join(v.statuses[:-1])} or {v.statuses[-1]}"),
            ],
        )

    RULES = (
        RuleText(
            "Nobody is enrolled in <<c.a>> beyond its places; whoever comes later waits.",
            """
            taken = {}
            for row in rows(after, "<<e.ids>>").values():
                if row.get("status") in (<<quoted(holding)>>):
                    course = str(row.get("<<c.id>>_id"))
                    taken[course] = taken.get(course, 0) + 1
            courses = rows(after, "<<c.ids>>")
            return all(
                not isinstance(courses.get(course, {}).get("places"), int) or count <= courses[course]["places"]
                for course, count in taken.items()
            )
            """,
        ),
        RuleText(
            "A place that becomes free goes at once to whoever has waited longest.",
            """
            courses, entries = rows(after, "<<c.ids>>"), rows(after, "<<e.ids>>")
            for key, course in courses.items():
                mine = [row for row in entries.values() if row.get("<<c.id>>_id") == key]
                waiting = [str(row.get("requested_on")) for row in mine if row.get("status") == "waiting"]
                taken = sum(row.get("status") in (<<quoted(holding)>>) for row in mine)
                if waiting and isinstance(course.get("places"), int) and taken < course["places"]:
                    return False
                moved = [new for old, new in changed("<<e.ids>>", "status") if old.get("status") == "waiting"]
                for row in moved:
                    if row.get("<<c.id>>_id") == key and row.get("status") == "enrolled" and waiting:
                        if str(row.get("requested_on")) > min(waiting):
                            return False
            return True
            """,
        ),
        RuleText(
            "<<p.a[:1]|upper>><<p.a[1:]>> takes or waits for at most <<s.max_open>> <<c.many>> at a time, and never "
            "for two that meet at the same time.",
            """
            courses, live = rows(after, "<<c.ids>>"), {}
            for row in rows(after, "<<e.ids>>").values():
                if row.get("status") in ("enrolled", "waiting"):
                    course = courses.get(str(row.get("<<c.id>>_id")), {})
                    slot = (str(course.get("<<day>>")), str(course.get("time")))
                    live.setdefault(str(row.get("<<p.id>>_id")), []).append(slot)
            return all(len(slots) <= <<s.max_open>> and len(slots) == len(set(slots)) for slots in live.values())
            """,
        ),
        RuleText(
            "What one <<p>> takes or waits for adds up to at most <<s.load.most>> <<loadwords>>.",
            """
            courses, sums = rows(after, "<<c.ids>>"), {}
            for row in rows(after, "<<e.ids>>").values():
                points = courses.get(str(row.get("<<c.id>>_id")), {}).get("<<s.load.name>>")
                if row.get("status") in ("enrolled", "waiting") and isinstance(points, int):
                    person = str(row.get("<<p.id>>_id"))
                    sums[person] = sums.get(person, 0) + points
            return all(total <= <<s.load.most>> for total in sums.values())
            """,
            when="s.load is not none",
        ),
        RuleText(
            "<<c.a[:1]|upper>><<c.a[1:]>> that requires another one only takes <<p.many>> who have passed that.",
            """
            courses, entries = rows(before, "<<c.ids>>"), rows(before, "<<e.ids>>").values()
            for new in added("<<e.ids>>"):
                required = courses.get(str(new.get("<<c.id>>_id")), {}).get("<<requires>>")
                had = [
                    row
                    for row in entries
                    if row.get("<<p.id>>_id") == new.get("<<p.id>>_id") and row.get("status") == "<<done>>"
                ]
                if required and all(row.get("<<c.id>>_id") != required for row in had):
                    return False
            return True
            """,
            when="s.requires",
        ),
        RuleText(
            "<<e.many[:1]|upper>><<e.many[1:]>> are made until the day <<c.a>> begins, while it is open; a place "
            "can be given up until <<notice>> before.",
            """
            from datetime import date

            courses, today = rows(before, "<<c.ids>>"), str(before.get("today"))
            for new in added("<<e.ids>>"):
                course = courses.get(str(new.get("<<c.id>>_id")), {})
                if str(course.get("starts_on")) < today or course.get("is_open") is not True:
                    return False
            for old, new in changed("<<e.ids>>", "status"):
                course = courses.get(str(old.get("<<c.id>>_id")), {})
                if (old.get("status"), new.get("status")) == ("enrolled", "<<s.withdrawn>>"):
                    try:
                        left = (date.fromisoformat(course["starts_on"]) - date.fromisoformat(today)).days
                    except (KeyError, TypeError, ValueError):
                        continue
                    if left < <<s.withdraw_days>>:
                        return False
            return True
            """,
        ),
        RuleText(
            "A <<markwords>> of <<s.mark.passing>> or more passes and any other fails; it is given once, after the "
            "<<c>> has begun.",
            """
            for old, new in changed("<<e.ids>>", "<<s.mark.name>>"):
                mark = new.get("<<s.mark.name>>")
                if old.get("<<s.mark.name>>") is not None or not isinstance(mark, int):
                    return False
                if new.get("status") != ("passed" if mark >= <<s.mark.passing>> else "failed"):
                    return False
            return True
            """,
            when="s.mark is not none",
        ),
        RuleText(
            "Whoever has missed <<s.no_shows>> <<c.many>> cannot get into another one, unless they wait for it "
            "already.",
            """
            missed = {}
            for row in rows(before, "<<e.ids>>").values():
                if row.get("status") == "missed":
                    person = str(row.get("<<p.id>>_id"))
                    missed[person] = missed.get(person, 0) + 1
            return all(missed.get(str(row.get("<<p.id>>_id")), 0) < <<s.no_shows>> for row in added("<<e.ids>>"))
            """,
            when="s.no_shows > 0",
        ),
        RuleText(
            "A certificate needs <<s.sessions.needed>> of <<s.sessions.total>> sessions and a fee that is paid; only "
            "sessions that have taken place are counted, one a week from the first day on.",
            """
            from datetime import date

            courses, today = rows(after, "<<c.ids>>"), str(after.get("today"))
            for row in rows(after, "<<e.ids>>").values():
                attended, last = row.get("<<s.sessions.name>>"), row.get("last_session_on")
                try:
                    first = date.fromisoformat(courses[str(row.get("<<c.id>>_id"))]["starts_on"])
                    days = -7 if last is None else (date.fromisoformat(last) - first).days
                except (KeyError, TypeError, ValueError):
                    continue
                held = days // 7 + 1
                if days % 7 or not isinstance(attended, int) or not 0 <= held <= <<s.sessions.total>>:
                    return False
                if not (held > 0) <= attended <= held or str(last or "") > today:
                    return False
            for old, new in changed("<<e.ids>>", "status"):
                attended = new.get("<<s.sessions.name>>")
                enough = isinstance(attended, int) and attended >= <<s.sessions.needed>>
                if new.get("status") == "completed" and (not enough or new.get("fee_due", 0) > 0):
                    return False
            return True
            """,
            when="s.sessions is not none",
            rank=0,
        ),
        RuleText(
            "No <<p>> newly takes or waits for <<c.a>> of a higher <<s.asks>> than the <<p>>'s own.",
            """
            steps = [<<quoted(steps)>>]
            people, courses = rows(before, "<<p.ids>>"), rows(before, "<<c.ids>>")
            for row in [*added("<<e.ids>>"), *(new for _, new in changed("<<e.ids>>", "<<c.id>>_id"))]:
                has = people.get(str(row.get("<<p.id>>_id")), {}).get("<<s.asks>>")
                asked = courses.get(str(row.get("<<c.id>>_id")), {}).get("<<s.asks>>")
                if has in steps and asked in steps and steps.index(has) < steps.index(asked):
                    return False
            return True
            """,
            when="s.asks is not none",
            rank=0,
        ),
        RuleText(
            "<<t.a[:1]|upper>><<t.a[1:]>> gives at most <<s.max_teaching>> <<c.many>>, all in the <<t>>'s own "
            "<<subjectwords>>, and never two at the same time.",
            """
            teachers, slots = rows(after, "<<t.ids>>"), {}
            for course in rows(after, "<<c.ids>>").values():
                teacher = teachers.get(str(course.get("<<t.id>>_id")))
                if teacher is None:
                    continue
                if teacher.get("<<k.name>>") != course.get("<<k.name>>"):
                    return False
                slot = (str(course.get("<<day>>")), str(course.get("time")))
                slots.setdefault(str(course.get("<<t.id>>_id")), []).append(slot)
            return all(len(own) <= <<s.max_teaching>> and len(own) == len(set(own)) for own in slots.values())
            """,
            rank=2,
        ),
        RuleText(
            "What is due is never below 0, and waiting costs nothing.",
            """
            for row in rows(after, "<<e.ids>>").values():
                due = row.get("fee_due")
                if isinstance(due, (int, float)) and (due < 0 or (row.get("status") == "waiting" and due > 0)):
                    return False
            return True
            """,
            when="s.fee is not none",
            rank=2,
        ),
    )

    HELPERS = '''
    def _taken(self, <<c.id>>_id: str) -> int:
        """Return how many places of a <<c>> are taken."""
        return sum(
            <<e.id>>["<<c.id>>_id"] == <<c.id>>_id and <<e.id>>["status"] not in ("waiting", "<<s.withdrawn>>")
            for <<e.id>> in self.<<e.ids>>.values()
        )

    def _waiting(self, <<c.id>>_id: str) -> list[<<e.type>>]:
        """Return who waits for a place in a <<c>>, the longest wait first."""
        waiting = [
            <<e.id>>
            for <<e.id>> in self.<<e.ids>>.values()
            if <<e.id>>["<<c.id>>_id"] == <<c.id>>_id and <<e.id>>["status"] == "waiting"
        ]
        return sorted(waiting, key=lambda <<e.id>>: (<<e.id>>["requested_on"], <<e.id>>["<<e.id>>_id"]))

    def _move_up(self, <<c.id>>_id: str) -> list[str]:
        """Give free places to those who have waited longest and return the ids of their <<e.many>>."""
        free = self.<<c.ids>>[<<c.id>>_id]["places"] - self._taken(<<c.id>>_id)
        moved = self._waiting(<<c.id>>_id)[: max(0, free)]
        for <<e.id>> in moved:
            <<e.id>>["status"] = "enrolled"
%% if s.fee
            <<e.id>>["fee_due"] = self.<<c.ids>>[<<c.id>>_id]["fee"]
%% endif
        return [<<e.id>>["<<e.id>>_id"] for <<e.id>> in moved]

    def _clash(self, one: <<c.type>>, other: <<c.type>>) -> bool:
        """Tell whether two <<c.many>> meet at the same time."""
        return (one["<<day>>"], one["time"]) == (other["<<day>>"], other["time"])

    def _obstacle(self, <<p.id>>_id: str, <<c.id>>_id: str, ignore: str = "") -> str | None:
        """Return why <<p.a>> may not take <<c.a>> or wait for it; `ignore` is <<e.a>> that does not count."""
        <<p.id>>, <<c.id>> = self.<<p.ids>>[<<p.id>>_id], self.<<c.ids>>[<<c.id>>_id]
        mine = [
            <<e.id>>
            for <<e.id>> in self.<<e.ids>>.values()
            if <<e.id>>["<<p.id>>_id"] == <<p.id>>_id and <<e.id>>["<<e.id>>_id"] != ignore
        ]
        live = [
            self.<<c.ids>>[<<e.id>>["<<c.id>>_id"]]
            for <<e.id>> in mine
            if <<e.id>>["status"] in ("enrolled", "waiting")
        ]
        if <<p.id>>["status"] != "active":
            return f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."
        if not <<c.id>>["is_open"]:
            return f"{<<c.id>>['title']} does not take new <<e.many>>."
        if <<c.id>>["starts_on"] < self.today:
            return f"{<<c.id>>['title']} began on {<<c.id>>['starts_on']}."
%% if s.asks
        steps = (<<quoted(steps)>>)
        if steps.index(<<p.id>>["<<s.asks>>"]) < steps.index(<<c.id>>["<<s.asks>>"]):
            return f"{<<c.id>>['title']} is <<s.asks>> {<<c.id>>['<<s.asks>>']}, too high for {<<p.id>>['name']}."
%% endif
        if any(entry["<<c.id>>_id"] == <<c.id>>_id and entry["status"] != "<<s.withdrawn>>" for entry in mine):
            return f"{<<p.id>>['name']} has <<e.a>> for {<<c.id>>['title']} already."
        if len(live) >= <<s.max_open>>:
            return f"{<<p.id>>['name']} takes or waits for <<s.max_open>> <<c.many>> already."
%% if s.load
        if sum(other["<<s.load.name>>"] for other in live) + <<c.id>>["<<s.load.name>>"] > <<s.load.most>>:
            return f"{<<p.id>>['name']} would have more than <<s.load.most>> <<loadwords>>."
%% endif
        if any(self._clash(<<c.id>>, other) for other in live):
            return f"{<<p.id>>['name']} has another <<c>> at the time of {<<c.id>>['title']}."
%% if s.no_shows
        if sum(entry["status"] == "missed" for entry in mine) >= <<s.no_shows>>:
            return f"{<<p.id>>['name']} has missed <<s.no_shows>> <<c.many>>."
%% endif
%% if s.requires
        passed = [entry["<<c.id>>_id"] for entry in mine if entry["status"] == "<<done>>"]
        if <<c.id>>["<<requires>>"] is not None and <<c.id>>["<<requires>>"] not in passed:
            required = self.<<c.ids>>[<<c.id>>["<<requires>>"]]["title"]
            return f"{<<p.id>>['name']} has not passed {required}, which is required."
%% endif
        return None
'''

    READS = '''
def find_<<c.ids>>(
    self,
    text: str | None = None,
    <<k.name>>: str | None = None,
%% for x in filters
    <<x.name>>: <<x.type>> | None = None,
%% endfor
    with_places: bool = False,
) -> dict:
    """Search the <<c.many>>, those that begin first in front.

    Args:
        text: A part of the title; upper and lower case are the same. Leave out for all.
        <<k.name>>: Only this <<subjectwords>>: <<subjects|join(", ")>>. Leave out for all.
%% for x in filters
        <<x.name>>: Only <<"of exactly this " ~ x.name ~ ": " ~ steps|join(", ") if x.name == s.asks
            else "those with this value: " ~ x.about>>. Leave out for all.
%% endfor
        with_places: True for only those that are open, begin today or later and have places left.

    Returns:
        The matching <<c.many>> sorted by their first day and time; an empty list when nothing matches.
    """
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(subjects)>>):
        refuse :: There is no <<subjectwords>> {<<k.name>>!r}.
%% if s.asks
    refuse if <<s.asks>> is not None and <<s.asks>> not in (<<quoted(steps)>>) :: There is no <<s.asks>> {<<s.asks>>!r}.
%% endif
    wanted = (text or "").strip().lower()
    matches = [
        dict(<<c.id>>)
        for <<c.id>> in self.<<c.ids>>.values()
        if wanted in <<c.id>>["title"].lower()
        and <<k.name>> in (None, <<c.id>>["<<k.name>>"])
%% for x in filters
        and <<x.name>> in (None, <<c.id>>["<<x.name>>"])
%% endfor
    ]
    if with_places:
        matches = [
            entry
            for entry in matches
            if entry["is_open"]
            and entry["starts_on"] >= self.today
            and self._taken(entry["<<c.id>>_id"]) < entry["places"]
        ]
    matches.sort(key=lambda entry: (entry["starts_on"], entry["time"], entry["<<c.id>>_id"]))
    return {"success": True, "data": matches}

def get_<<c.id>>(self, <<c.id>>_id: str) -> dict:
    """Show one <<c>> with its free places and its waiting list.

    Args:
        <<c.id>>_id: Id of the <<c>>, e.g. <<s.prefix>>-001.

    Returns:
        The <<c>>, the number of free places and the <<e.many>> that wait in their order, or an error.
    """
    need c
    return {
        "success": True,
        "data": {
            **<<c.id>>,
            "free_places": <<c.id>>["places"] - self._taken(<<c.id>>_id),
            "waiting_list": [<<e.id>>["<<e.id>>_id"] for <<e.id>> in self._waiting(<<c.id>>_id)],
        },
    }

def list_waiting_lists(self) -> dict:
    """List the <<c.many>> for which somebody waits, the longest waiting list first.

    Returns:
        Id and title of each such <<c>> with the number of <<p.many>> who wait.
    """
    counts = [
        {"<<c.id>>_id": key, "title": <<c.id>>["title"], "waiting": len(self._waiting(key))}
        for key, <<c.id>> in self.<<c.ids>>.items()
    ]
    counts = [entry for entry in counts if entry["waiting"] > 0]
    return {"success": True, "data": sorted(counts, key=lambda entry: (-entry["waiting"], entry["<<c.id>>_id"]))}

def list_<<e.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<c.id>>_id: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<e.many>> in the order in which they were asked for.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<c.id>>_id: Only those in this <<c>>. Leave out for all.
        status: Only this status: <<statuses|join(", ")>>. Leave out for all.

    Returns:
        The matching <<e.many>>; an empty list when there are none.
    """
    refuse if status is not None and status not in (<<quoted(statuses)>>) :: There is no status {status!r}.
    selected = [
        dict(<<e.id>>)
        for <<e.id>> in self.<<e.ids>>.values()
        if <<p.id>>_id in (None, <<e.id>>["<<p.id>>_id"])
        and <<c.id>>_id in (None, <<e.id>>["<<c.id>>_id"])
        and status in (None, <<e.id>>["status"])
    ]
    selected.sort(key=lambda <<e.id>>: (<<e.id>>["requested_on"], <<e.id>>["<<e.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<e.id>>(self, <<e.id>>_id: str) -> dict:
    """Show one <<e>>.

    Args:
        <<e.id>>_id: Id of the <<e>>, e.g. <<s.enrolment_prefix>>-001.

    Returns:
        The <<e>>, or an error for an unknown id.
    """
    need e
    return {"success": True, "data": dict(<<e.id>>)}

def get_<<p.id>>_timetable(self, <<p.id>>_id: str) -> dict:
    """Show what <<p.a>> takes and waits for, in the order of the first days.

    Args:
        <<p.id>>_id: Id of the <<p>>.

    Returns:
        The <<c.many>> taken and waited for<<" and the sum of " ~ loadwords if s.load else "">>, or an error.
    """
    refuse if <<p.id>>_id not in self.<<p.ids>> :: There is no <<p>> with the id {<<p.id>>_id!r}.
    live = {
        <<e.id>>["<<c.id>>_id"]: <<e.id>>["status"]
        for <<e.id>> in self.<<e.ids>>.values()
        if <<e.id>>["<<p.id>>_id"] == <<p.id>>_id and <<e.id>>["status"] in ("enrolled", "waiting")
    }
    <<c.ids>> = sorted((self.<<c.ids>>[key] for key in live), key=lambda entry: (entry["starts_on"], entry["time"]))
    timetable = {
        "<<p.id>>_id": <<p.id>>_id,
        "enrolled": [dict(entry) for entry in <<c.ids>> if live[entry["<<c.id>>_id"]] == "enrolled"],
        "waiting": [dict(entry) for entry in <<c.ids>> if live[entry["<<c.id>>_id"]] == "waiting"],
%% if s.load
        "<<s.load.name>>": sum(entry["<<s.load.name>>"] for entry in <<c.ids>>),
%% endif
    }
    return {"success": True, "data": timetable}

def list_<<t.ids>>(self, <<k.name>>: str | None = None, on_leave: bool | None = None) -> dict:
    """List the <<t.many>> with the number of <<c.many>> each gives, the least busy first.

    Args:
        <<k.name>>: Only this <<subjectwords>>: <<subjects|join(", ")>>. Leave out for all.
        on_leave: True for only those on leave, False for only those who are there. Leave out for all.

    Returns:
        The <<t.many>>, each with `<<c.ids>>_given`.
    """
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(subjects)>>):
        refuse :: There is no <<subjectwords>> {<<k.name>>!r}.
    selected = [
        {
            **<<t.id>>,
            "<<c.ids>>_given": sum(entry["<<t.id>>_id"] == key for entry in self.<<c.ids>>.values()),
        }
        for key, <<t.id>> in self.<<t.ids>>.items()
        if <<k.name>> in (None, <<t.id>>["<<k.name>>"])
        and on_leave in (None, <<t.id>>["on_leave"])
    ]
    selected.sort(key=lambda entry: (entry["<<c.ids>>_given"], entry["<<t.id>>_id"]))
    return {"success": True, "data": selected}
%% if s.fee

def list_unpaid_fees(self, <<p.id>>_id: str | None = None) -> dict:
    """List the <<e.many>> on which a fee is still due, the highest first.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.

    Returns:
        The <<e.many>> with an unpaid fee; an empty list when nothing is due.
    """
    owing = [
        dict(<<e.id>>)
        for <<e.id>> in self.<<e.ids>>.values()
        if <<e.id>>["fee_due"] > 0 and <<p.id>>_id in (None, <<e.id>>["<<p.id>>_id"])
    ]
    return {"success": True, "data": sorted(owing, key=lambda entry: (-entry["fee_due"], entry["<<e.id>>_id"]))}
%% endif
'''

    WRITES = '''
def <<s.enrol>>(self, <<p.id>>_id: str, <<c.id>>_id: str) -> dict:
%% if s.fee
    """Give <<p.a>> a place in <<c.a>>, whose fee is then due, or one on its waiting list when it is full.
%% else
    """Give <<p.a>> a place in <<c.a>>, or one on its waiting list when it is full.
%% endif

    Args:
        <<p.id>>_id: Id of the <<p>>, active and with fewer than <<s.max_open>> <<c.many>> taken or waited for.
        <<c.id>>_id: Id of the <<c>>, which has to be open and begin today or later<<asked>>.

    Returns:
        The new <<e>>, enrolled or waiting, or an error.
    """
    refuse if <<p.id>>_id not in self.<<p.ids>> :: There is no <<p>> with the id {<<p.id>>_id!r}.
    need c
    obstacle = self._obstacle(<<p.id>>_id, <<c.id>>_id)
    if obstacle is not None:
        return {"success": False, "error": obstacle}
    is_full = self._taken(<<c.id>>_id) >= <<c.id>>["places"]
    <<e.id>>: <<e.type>> = {
        "<<e.id>>_id": self._next_id(self.<<e.ids>>, "<<s.enrolment_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<c.id>>_id": <<c.id>>_id,
        "requested_on": self.today,
%% if s.mark
        "<<s.mark.name>>": None,
%% elif s.sessions
        "<<s.sessions.name>>": 0,
        "last_session_on": None,
%% endif
%% if s.fee
        "fee_due": 0.0 if is_full else <<c.id>>["fee"],
%% endif
        "status": "waiting" if is_full else "enrolled",
    }
    self.<<e.ids>>[<<e.id>>["<<e.id>>_id"]] = <<e.id>>
    result = "is on the waiting list of" if is_full else "has a place in"
    return {
        "success": True,
        "message": f"{self.<<p.ids>>[<<p.id>>_id]['name']} {result} {<<c.id>>['title']}.",
        "data": dict(<<e.id>>),
    }

def <<s.withdraw>>_<<e.id>>(self, <<e.id>>_id: str) -> dict:
%% if s.fee
    """<<s.withdraw|capitalize>> <<e.a>>; nothing is due any more, and the place goes to whoever has waited longest.
%% else
    """<<s.withdraw|capitalize>> <<e.a>>; the place goes to whoever has waited longest.
%% endif

    Args:
        <<e.id>>_id: Id of the <<e>>, enrolled or waiting; a place can be given up until <<notice>> before.

    Returns:
        The <<e>> and the ids of those who moved up, or an error.
    """
    need e
    refuse if <<e.id>>["status"] not in ("enrolled", "waiting") :: <<e.cap>> {<<e.id>>_id} is {<<e.id>>['status']}.
    <<c.id>> = self.<<c.ids>>[<<e.id>>["<<c.id>>_id"]]
    days_left = (date.fromisoformat(<<c.id>>["starts_on"]) - date.fromisoformat(self.today)).days
    if <<e.id>>["status"] == "enrolled" and days_left < <<s.withdraw_days>>:
        return {"success": False, "error": f"It is too late: {<<c.id>>['title']} begins on {<<c.id>>['starts_on']}."}
    <<e.id>>["status"] = "<<s.withdrawn>>"
%% if s.fee
    <<e.id>>["fee_due"] = 0.0
%% endif
    moved_up = self._move_up(<<e.id>>["<<c.id>>_id"])
    return {
        "success": True,
        "message": f"<<e.cap>> {<<e.id>>_id} <<s.withdrawn>>.",
        "data": {**<<e.id>>, "moved_up": moved_up},
    }

def switch_<<c.id>>(self, <<e.id>>_id: str, to_<<c.id>>_id: str) -> dict:
    """Move <<e.a>> to another <<c>> that has a free place; the old place goes to whoever has waited longest.
%% if s.fee

    What is due changes by the difference of the two fees, but never falls below 0.
%% endif

    Args:
        <<e.id>>_id: Id of the <<e>>, which must be enrolled; possible up to <<notice>> before.
        to_<<c.id>>_id: Id of the other <<c>>, which has to be open, begin today or later and not be full<<asked>>.

    Returns:
        The <<e>> in its new <<c>> and the ids of those who moved up, or an error.
    """
    need e
    other = self.<<c.ids>>.get(to_<<c.id>>_id)
    refuse if other is None :: There is no <<c>> with the id {to_<<c.id>>_id!r}.
    refuse if <<e.id>>["status"] != "enrolled" :: <<e.cap>> {<<e.id>>_id} is {<<e.id>>['status']}, not enrolled.
    old = self.<<c.ids>>[<<e.id>>["<<c.id>>_id"]]
    refuse if old is other :: <<e.cap>> {<<e.id>>_id} is in {other['title']} already.
    if (date.fromisoformat(old["starts_on"]) - date.fromisoformat(self.today)).days < <<s.withdraw_days>>:
        return {"success": False, "error": f"It is too late: {old['title']} begins on {old['starts_on']}."}
    obstacle = self._obstacle(<<e.id>>["<<p.id>>_id"], to_<<c.id>>_id, ignore=<<e.id>>_id)
    if obstacle is not None:
        return {"success": False, "error": obstacle}
    refuse if self._taken(to_<<c.id>>_id) >= other["places"] :: {other['title']} is full.
    <<e.id>>["<<c.id>>_id"] = to_<<c.id>>_id
%% if s.fee
    <<e.id>>["fee_due"] = round(max(0.0, <<e.id>>["fee_due"] + other["fee"] - old["fee"]), 2)
%% endif
    moved_up = self._move_up(old["<<c.id>>_id"])
    return {
        "success": True,
        "message": f"<<e.cap>> {<<e.id>>_id} moved to {other['title']}.",
        "data": {**<<e.id>>, "moved_up": moved_up},
    }
%% if s.mark

def record_<<s.mark.name>>(self, <<e.id>>_id: str, <<s.mark.name>>: int) -> dict:
    """Record the <<markwords>> with which <<p.a>> finished <<c.a>>.

    Args:
        <<e.id>>_id: Id of the <<e>>, which must be enrolled in <<c.a>> that began today or earlier.
        <<s.mark.name>>: <<s.mark.low>> to <<s.mark.high>>; <<s.mark.passing>> and more passes.

    Returns:
        The <<e>>, now passed or failed, or an error.
    """
    need e
    refuse if <<e.id>>["status"] != "enrolled" :: <<e.cap>> {<<e.id>>_id} is {<<e.id>>['status']}, not enrolled.
    <<c.id>> = self.<<c.ids>>[<<e.id>>["<<c.id>>_id"]]
    refuse if <<c.id>>["starts_on"] > self.today :: {<<c.id>>['title']} has not begun.
    if not <<s.mark.low>> <= <<s.mark.name>> <= <<s.mark.high>>:
        return {
            "success": False,
            "error": f"The <<markwords>> is <<s.mark.low>> to <<s.mark.high>>, not {<<s.mark.name>>}.",
        }
    <<e.id>>["<<s.mark.name>>"] = <<s.mark.name>>
    <<e.id>>["status"] = "passed" if <<s.mark.name>> >= <<s.mark.passing>> else "failed"
    return {"success": True, "message": f"<<e.cap>> {<<e.id>>_id} is {<<e.id>>['status']}.", "data": dict(<<e.id>>)}
%% elif s.no_shows

def record_attendance(self, <<e.id>>_id: str, present: bool) -> dict:
    """Record whether <<p.a>> turned up for <<c.a>>; <<s.no_shows>> missed ones bar from further ones.

    Args:
        <<e.id>>_id: Id of the <<e>>, which must be enrolled; its day is today or past.
        present: True for attended, False for missed.

    Returns:
        The <<e>>, now attended or missed, or an error.
    """
    need e
    refuse if <<e.id>>["status"] != "enrolled" :: <<e.cap>> {<<e.id>>_id} is {<<e.id>>['status']}, not enrolled.
    <<c.id>> = self.<<c.ids>>[<<e.id>>["<<c.id>>_id"]]
    refuse if <<c.id>>["starts_on"] > self.today :: {<<c.id>>['title']} is only on {<<c.id>>['starts_on']}.
    <<e.id>>["status"] = "attended" if present else "missed"
    return {"success": True, "message": f"<<e.cap>> {<<e.id>>_id} is {<<e.id>>['status']}.", "data": dict(<<e.id>>)}
%% else

def record_session(self, <<e.id>>_id: str, day: str) -> dict:
    """Count one more attended session; those of one <<e>> are counted in the order of their days.

    Args:
        <<e.id>>_id: Id of the <<e>>, which must be enrolled in <<c.a>> that began today or earlier.
        day: Day of the session, as YYYY-MM-DD: one of the <<s.sessions.total>> weekly ones, today or earlier, and
            after the last one counted.

    Returns:
        The <<e>> with its sessions, or an error.
    """
    need e
    refuse if <<e.id>>["status"] != "enrolled" :: <<e.cap>> {<<e.id>>_id} is {<<e.id>>['status']}, not enrolled.
    <<c.id>> = self.<<c.ids>>[<<e.id>>["<<c.id>>_id"]]
    try:
        day = date.fromisoformat(day).isoformat()
    except ValueError:
        refuse :: {day!r} is not a date like {self.today}.
    passed = (date.fromisoformat(day) - date.fromisoformat(<<c.id>>["starts_on"])).days
    refuse if passed % 7 or not 0 <= passed // 7 < <<s.sessions.total>> :: {<<c.id>>['title']} has no session on {day}.
    refuse if day > self.today :: The session of {day} is still to come.
    last = <<e.id>>["last_session_on"]
    refuse if last is not None and day <= last :: Sessions are counted up to {last} already.
    <<e.id>>["<<s.sessions.name>>"] += 1
    <<e.id>>["last_session_on"] = day
    done dict(<<e.id>>) :: The session of {day} is counted for {<<e.id>>_id}.

def issue_certificate(self, <<e.id>>_id: str) -> dict:
    """Issue the certificate that completes <<e.a>>.

    Args:
        <<e.id>>_id: Id of the <<e>>, enrolled, with at least <<s.sessions.needed>> sessions and nothing due.

    Returns:
        The completed <<e>>, or an error.
    """
    need e
    refuse if <<e.id>>["status"] != "enrolled" :: <<e.cap>> {<<e.id>>_id} is {<<e.id>>['status']}, not enrolled.
    refuse if <<e.id>>["<<s.sessions.name>>"] < <<s.sessions.needed>> :: <<s.sessions.needed>> sessions are needed.
%% if s.fee
    refuse if <<e.id>>["fee_due"] > 0 :: {<<e.id>>['fee_due']:.2f} <<s.fee.currency>> are still due.
%% endif
    <<e.id>>["status"] = "completed"
    return {"success": True, "message": f"<<e.cap>> {<<e.id>>_id} is completed.", "data": dict(<<e.id>>)}
%% endif
%% if s.fee

def pay_<<c.id>>_fee(self, <<e.id>>_id: str, amount: float) -> dict:
    """Take a payment on the fee of <<e.a>>.

    Args:
        <<e.id>>_id: Id of the <<e>> on which a fee is due.
        amount: What is paid in <<s.fee.currency>>, above 0 and no more than is due.

    Returns:
        The <<e>> with what is still due, or an error.
    """
    need e
    refuse if round(amount, 2) <= 0 :: The payment has to be above 0, not {amount}.
    refuse if amount > <<e.id>>["fee_due"] :: Only {<<e.id>>['fee_due']:.2f} <<s.fee.currency>> are due.
    <<e.id>>["fee_due"] = round(<<e.id>>["fee_due"] - amount, 2)
    return {"success": True, "message": f"{amount:.2f} <<s.fee.currency>> paid.", "data": dict(<<e.id>>)}
%% endif

def set_<<c.id>>_places(self, <<c.id>>_id: str, places: int) -> dict:
    """Change the number of places of <<c.a>>; with more of them, those who have waited longest move up.

    Args:
        <<c.id>>_id: Id of the <<c>>.
        places: New number, at least 1 and no fewer than are taken.

    Returns:
        The changed <<c>> and the ids of those who moved up, or an error.
    """
    need c
    refuse if places < 1 :: There has to be at least 1 place, not {places}.
    refuse if places == <<c.id>>["places"] :: {<<c.id>>['title']} has {places} places already.
    taken = self._taken(<<c.id>>_id)
    refuse if places < taken :: {taken} places of {<<c.id>>['title']} are taken.
    <<c.id>>["places"] = places
    moved_up = self._move_up(<<c.id>>_id)
    return {
        "success": True,
        "message": f"{<<c.id>>['title']} has {places} places now.",
        "data": {**<<c.id>>, "moved_up": moved_up},
    }

def assign_<<t.id>>(self, <<c.id>>_id: str, <<t.id>>_id: str) -> dict:
    """Give <<c.a>> to <<t.a>>.

    Args:
        <<c.id>>_id: Id of the <<c>>.
        <<t.id>>_id: Id of the <<t>>, of the same <<subjectwords>>, not on leave, free then, with fewer than
            <<s.max_teaching>> <<c.many>>.

    Returns:
        The changed <<c>>, or an error.
    """
    need c
    need t
    refuse if <<c.id>>["<<t.id>>_id"] == <<t.id>>_id :: {<<t.id>>['name']} gives {<<c.id>>['title']} already.
    if <<t.id>>["<<k.name>>"] != <<c.id>>["<<k.name>>"]:
        return {"success": False, "error": f"{<<t.id>>['name']} does not teach {<<c.id>>['<<k.name>>']}."}
    refuse if <<t.id>>["on_leave"] :: {<<t.id>>['name']} is on leave.
    given = [entry for entry in self.<<c.ids>>.values() if entry["<<t.id>>_id"] == <<t.id>>_id]
    refuse if len(given) >= <<s.max_teaching>> :: {<<t.id>>['name']} gives <<s.max_teaching>> <<c.many>> already.
    if any(self._clash(<<c.id>>, entry) for entry in given):
        return {"success": False, "error": f"{<<t.id>>['name']} gives another <<c>> at that time."}
    <<c.id>>["<<t.id>>_id"] = <<t.id>>_id
    return {"success": True, "message": f"{<<t.id>>['name']} gives {<<c.id>>['title']}.", "data": dict(<<c.id>>)}

def set_<<c.id>>_open(self, <<c.id>>_id: str, is_open: bool) -> dict:
    """Close <<c.a>> for new <<e.many>> or open it again; those who have a place keep it.

    Args:
        <<c.id>>_id: Id of the <<c>>.
        is_open: False to close it, True to open it again.

    Returns:
        The changed <<c>>, or an error.
    """
    need c
    refuse if <<c.id>>["is_open"] == is_open :: {<<c.id>>['title']} is {'open' if is_open else 'closed'} already.
    <<c.id>>["is_open"] = is_open
    state = "open" if is_open else "closed"
    return {"success": True, "message": f"{<<c.id>>['title']} is {state} for new <<e.many>>.", "data": dict(<<c.id>>)}

def add_<<c.id>>(
    self,
    title: str,
    <<k.name>>: str,
    starts_on: str,
    time: str,
    places: int,
%% if s.load
    <<s.load.name>>: int,
%% endif
%% if s.fee
    fee: float,
%% endif
) -> dict:
    """Plan a new <<c>>; who gives it is settled later.

    Args:
        title: What it is called; no other <<c>> may have this title.
        <<k.name>>: One of <<subjects|join(", ")>>.
        starts_on: <<"First day" if s.weekly else "Day on which it takes place">>, as YYYY-MM-DD, after today.
        time: When it begins, as HH:MM.
        places: How many can take part, at least 1.
%% if s.load
        <<s.load.name>>: One of <<s.load.choices|join(", ")>>.
%% endif
%% if s.fee
        fee: What it costs in <<s.fee.currency>>, at least 0.
%% endif

    Returns:
        The new <<c>>, which is open, or an error.
    """
    refuse if not title.strip() :: A title is required.
    if any(entry["title"].lower() == title.strip().lower() for entry in self.<<c.ids>>.values()):
        return {"success": False, "error": f"There is <<c.a>> {title.strip()} already."}
    refuse if <<k.name>> not in (<<quoted(subjects)>>) :: There is no <<subjectwords>> {<<k.name>>!r}.
    try:
        first_day = date.fromisoformat(starts_on)
    except ValueError:
        return {"success": False, "error": f"{starts_on!r} is not a date like {self.today}."}
    if first_day.isoformat() <= self.today:
        return {"success": False, "error": f"It has to begin after today, {self.today}, not on {starts_on}."}
    refuse if not re.fullmatch(r"([01]\\d|2[0-3]):[0-5]\\d", time) :: {time!r} is not a time like 09:30.
    refuse if places < 1 :: There has to be at least 1 place, not {places}.
%% if s.load
    if <<s.load.name>> not in (<<quoted(s.load.choices)>>):
        return {
            "success": False,
            "error": f"A <<c>> has <<s.load.choices|join(", ")>> <<loadwords>>, not {<<s.load.name>>}.",
        }
%% endif
%% if s.fee
    refuse if fee < 0 :: The fee cannot be below 0, but is {fee}.
%% endif
    <<c.id>>: <<c.type>> = {
        "<<c.id>>_id": self._next_id(self.<<c.ids>>, "<<s.prefix>>"),
        "title": title.strip(),
        "<<k.name>>": <<k.name>>,
        "<<t.id>>_id": None,
        "starts_on": first_day.isoformat(),
%% if s.weekly
        "weekday": first_day.strftime("%A"),
%% endif
        "time": time,
        "places": places,
%% if s.load
        "<<s.load.name>>": <<s.load.name>>,
%% endif
%% if s.fee
        "fee": round(fee, 2),
%% endif
%% if s.requires
        "<<requires>>": None,
%% endif
%% for x in extras
        "<<x.name>>": <<blank(x)>>,
%% endfor
        "is_open": True,
    }
    self.<<c.ids>>[<<c.id>>["<<c.id>>_id"]] = <<c.id>>
    return {"success": True, "message": f"{title.strip()} planned.", "data": dict(<<c.id>>)}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        self._teachers(v, state, rng)
        self._courses(v, state, rng)
        if v.s.requires:
            self._requirements(v, state, rng)
        full = shuffled(rng, [c for c, r in state[v.c.ids].items() if r["starts_on"] > state["today"]])[:3]
        for course in shuffled(rng, list(state[v.c.ids])):
            self._members(v, state, rng, course, course in full)

    def _teachers(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        taken = frozenset(row["name"] for row in state[v.p.ids].values())
        each = 3 if len(v.subjects) < 4 else 2
        for n, name in enumerate(names.people(rng, each * len(v.subjects), taken)):
            key = key_of(v.s.teacher_prefix, n + 1)
            state[v.t.ids][key] = {
                f"{v.t.id}_id": key,
                "name": name,
                v.k.name: v.subjects[n % len(v.subjects)],
                "on_leave": bool(n >= 2 * len(v.subjects) and rng.random() < 0.5),
            }

    def _courses(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        each = 4 if len(v.subjects) < 4 else 3
        low, high = s.span
        titles = [(k, title) for k in v.subjects for title in shuffled(rng, s.catalogue[k])[:each]]
        for n, (subject, title) in enumerate(shuffled(rng, titles)):
            key = key_of(s.prefix, n + 1)
            ahead = rng.random() < 0.7
            start = later(state["today"], int(rng.integers(1, high + 1) if ahead else rng.integers(low, 1)))
            if DAYS[date.fromisoformat(start).weekday()] == s.rest:
                start = later(start, 1)
            weekday = {"weekday": DAYS[date.fromisoformat(start).weekday()]} if s.weekly else {}
            state[v.c.ids][key] = {
                f"{v.c.id}_id": key,
                "title": title,
                v.k.name: subject,
                f"{v.t.id}_id": None,
                "starts_on": start,
                **weekday,
                "time": pick(rng, s.times),
                "places": int(rng.integers(s.places[0], s.places[1] + 1)),
                **({s.load.name: pick(rng, s.load.choices)} if s.load else {}),
                **({"fee": float(int(rng.integers(*s.fee.range)) // 5 * 5)} if s.fee else {}),
                **({v.requires: None} if s.requires else {}),
                **{x.name: x.draw(rng) for x in s.extras},
                "is_open": bool(not ahead or rng.random() < 0.9),
            }
            campus = Campus(v, state)
            able = [t for _, t in campus.teachers(subject, key) if campus.may_teach(t, key)]
            given = rng.random() < 0.85 or bool(s.sessions and start <= state["today"]) if able else False
            state[v.c.ids][key][f"{v.t.id}_id"] = pick(rng, able) if given else None

    def _requirements(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        """Some courses to come require one of their subject that has begun."""
        today = state["today"]
        for row in state[v.c.ids].values():
            earlier = [
                key
                for key, other in state[v.c.ids].items()
                if other[v.k.name] == row[v.k.name] and other["starts_on"] <= today
            ]
            if row["starts_on"] > today and earlier and rng.random() < 0.5:
                row[v.requires] = pick(rng, earlier)

    def _members(self, v: SimpleNamespace, state: State, rng: Rng, course: str, full: bool) -> None:
        """Fill a course, or put a few into it; a full one has people who wait."""
        row = state[v.c.ids][course]
        begun, is_open = row["starts_on"] <= state["today"], row["is_open"]
        # As it was when they enrolled: before it began, and open.
        campus = Campus(v, {**state, "today": min(row["starts_on"], state["today"])})
        row["is_open"] = True
        wanted = row["places"] + int(rng.integers(1, 4)) if full else int(rng.integers(1, row["places"]))
        day = later(min(row["starts_on"], state["today"]), -int(rng.integers(8, 15)))
        for person in shuffled(rng, list(state[v.p.ids])):
            if wanted and len(campus.enrolments) < 28 and not campus.obstacle(person, course):
                status = "enrolled" if campus.free(course) > 0 else "waiting"
                self._entry(v, state, rng, person, course, day, status, begun)
                day = later(day, int(rng.integers(1, 3)))
                wanted -= 1
        row["is_open"] = is_open

    def _entry(
        self,
        v: SimpleNamespace,
        state: State,
        rng: Rng,
        person: str,
        course: str,
        day: str,
        status: str,
        begun: bool,
    ) -> None:
        s = v.s
        ending: dict[str, Any] = {s.mark.name: None} if s.mark else {}
        if s.sessions:
            ending = self._attended(v, state, rng, course)
        fee = state[v.c.ids][course]["fee"] if s.fee else 0.0
        due = fee if status == "enrolled" and rng.random() < (0.2 if begun else 0.6) else 0.0
        if s.sessions and ending[s.sessions.name] >= s.sessions.needed and not due and rng.random() < 0.3:
            status = v.done
        if begun and not s.sessions and rng.random() < 0.5:
            status = pick(rng, v.over)
            if s.mark:
                top, bottom = (
                    (s.mark.high, s.mark.passing) if status == "passed" else (s.mark.passing - 1, s.mark.low)
                )
                ending = {s.mark.name: int(rng.integers(bottom, top + 1))}
        key = key_of(s.enrolment_prefix, len(state[v.e.ids]) + 1)
        state[v.e.ids][key] = {
            f"{v.e.id}_id": key,
            f"{v.p.id}_id": person,
            f"{v.c.id}_id": course,
            "requested_on": min(day, state["today"]),
            **ending,
            **({"fee_due": due} if s.fee else {}),
            "status": status,
        }

    def _attended(self, v: SimpleNamespace, state: State, rng: Rng, course: str) -> dict[str, Any]:
        """Most of the sessions there were before today; the latest may not have been counted yet."""
        sessions, first = v.s.sessions, state[v.c.ids][course]["starts_on"]
        held = meetings(first, sessions.total, later(state["today"], -1))
        counted = held[:-1] if rng.random() < 0.4 else held
        days = [day for day in counted if rng.random() < 0.88]
        return {sessions.name: len(days), "last_session_on": days[-1] if days else None}


PATTERN = Enrolment
