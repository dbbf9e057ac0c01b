"""Timesheets: hours a week on projects with budgets, approved by leads, corrected with a reason and invoiced.

A week's sheet has a line for each project with the hours of Monday to Friday. Everything else follows from the lines:
the hours of the week and of the project, the flexitime balance once the week is approved, the amount of an invoice.
"""

from collections.abc import Sequence
from datetime import date
from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin import names
from envscaler.model.builtin.pattern import (
    ANY_TEXT,
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
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

DAYS = ("mon", "tue", "wed", "thu", "fri")
Row = dict[str, Any]


class TimesheetSettings(Settings):
    """The words, numbers and projects of an office that sells hours."""

    person: str = "consultant"
    """Who books hours."""
    prefix: str = "CON"
    """Prefix of their ids."""
    grades: dict[str, int]
    """Grade → what an hour costs the client."""
    projects: dict[str, str]
    """Name of a project → its client."""
    max_day: int = 10
    """Most hours a day."""
    due_days: int = 30
    """Days until an invoice is due."""
    currency: str = "euros"
    """What amounts are in."""
    reasons: list[str]
    """Why hours are corrected."""
    moves: list[str]
    """Why hours are moved to another project."""
    remarks: list[str]
    """Why weeks are sent back."""
    mistakes: list[str]
    """Why invoices are cancelled."""


def monday_of(day: str) -> str:
    """The Monday of the week of a date."""
    return later(day, -date.fromisoformat(day).weekday())


def weekday(day: str) -> str:
    """`mon` to `fri`; raises `LookupError` at the weekend."""
    number = date.fromisoformat(day).weekday()
    if number >= len(DAYS):
        raise LookupError(f"{day} is no working day")
    return DAYS[number]


def hours_of(line: Row) -> float:
    """The hours of a line."""
    return float(sum(line[day] for day in DAYS))


class TimeGoal(Goal):
    """What goals about hours share."""

    def person(self, slots: Slots, state: State) -> Row:
        """The consultant a sentence names."""
        return named(state, self.v.p, slots["name"])

    def project(self, name: str, state: State) -> Row:
        """The project of that name."""
        return only([row for row in state["projects"].values() if row["name"] == name])

    def sheet(self, slots: Slots, state: State, **wanted: Any) -> Row:
        """The one week of the consultant with these values."""
        key = f"{self.v.p.id}_id"
        wanted = {key: self.person(slots, state)[key], **wanted}
        return only(
            [
                row
                for row in state["timesheets"].values()
                if all(row[name] == value for name, value in wanted.items())
            ]
        )

    def lines(self, sheet: Row, state: State) -> list[Row]:
        """The lines of a week."""
        rows = state["time_entries"].values()
        return [row for row in rows if row["timesheet_id"] == sheet["timesheet_id"]]

    def line(self, slots: Slots, state: State) -> tuple[Row, Row]:
        """The week of a date that is not open and its line of the named project, not invoiced yet."""
        sheet = self.sheet(slots, state, monday=monday_of(slots["day"]))
        project = self.project(slots["project"], state)
        lines = self.lines(sheet, state)
        line = only([row for row in lines if row["project_id"] == project["project_id"]])
        if sheet["status"] == "open" or line["invoice_id"]:
            raise LookupError("it is not to be corrected")
        return sheet, line

    def some_line(self, state: State, rng: Rng) -> Slots:
        """Who, project and day of a line that may be corrected."""
        sheets = state["timesheets"]
        rows = [row for row in state["time_entries"].values() if not row["invoice_id"]]
        line = pick(rng, [row for row in rows if sheets[row["timesheet_id"]]["status"] != "open"])
        sheet = sheets[line["timesheet_id"]]
        return {
            "name": state[self.v.p.ids][sheet[f"{self.v.p.id}_id"]]["name"],
            "project": state["projects"][line["project_id"]]["name"],
            "day": later(sheet["monday"], int(rng.integers(5))),
        }

    def find(self, slots: Slots) -> Row:
        """The call that finds the consultant."""
        return call(f"find_{self.v.p.id}", name=slots["name"])

    def who(self, index: int = 0) -> Row:
        """The consultant's id out of that reply."""
        return {f"{self.v.p.id}_id": found(index, f"{self.v.p.id}_id")}

    def booked(self, project: Row, more: float) -> Changed:
        """The project has so many hours more; raises `LookupError` when its budget does not allow them."""
        hours = project["booked_hours"] + more
        if hours > project["budget_hours"]:
            raise LookupError("the budget does not allow it")
        item = f"Have the booked hours of {project['name']} become {hours:g}?"
        return Changed("projects", project["project_id"], {"booked_hours": hours}, item)

    def flex(self, sheet: Row, more: float, state: State) -> Changed:
        """The flexitime balance of the week's consultant has so many hours more."""
        person = state[self.v.p.ids][sheet[f"{self.v.p.id}_id"]]
        hours = person["flex_hours"] + more
        item = f"Has the flexitime balance of {person['name']} become {hours:g} hours?"
        return Changed(self.v.p.ids, person[f"{self.v.p.id}_id"], {"flex_hours": hours}, item)

    def over(self, sheet: Row, state: State) -> float:
        """Hours of a week beyond what its consultant owes."""
        return float(sheet["hours"] - state[self.v.p.ids][sheet[f"{self.v.p.id}_id"]]["weekly_hours"])

    def noted(self, line: Row, field: str, before: str, after: str, reason: str, state: State) -> Added:
        """A correction says what was changed and why."""
        fields = {"field": field, "before": before, "after": after, "reason": reason}
        fields |= {"time_entry_id": line["time_entry_id"], "made_on": state["today"]}
        return Added("corrections", fields, f"Has a correction from {before} to {after} been written down?")


class Book(TimeGoal):
    """Hours on a day of an open week."""

    phrases = (
        "Please book {hours:number} hours on {project:name} for <<p>> {name:name} on {day:date}, in place of "
        "whatever stands there.",
        "On {day:date} <<p>> {name:name} worked {hours:number} hours on {project:name}, so the week has to say that.",
    )
    needs = ("find_<<p.id>>", "find_projects", "book_hours")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        sheet = pick(rng, [row for row in state["timesheets"].values() if row["status"] == "open"])
        return {
            "name": state[self.v.p.ids][sheet[f"{self.v.p.id}_id"]]["name"],
            "project": pick(rng, list(state["projects"].values()))["name"],
            "day": later(sheet["monday"], int(rng.integers(5))),
            "hours": int(rng.integers(3, 17)) / 2,
        }

    def plan(self, slots: Slots) -> list[Row]:
        given = {"day": slots["day"], "hours": slots["hours"]}
        return [
            self.find(slots),
            call("find_projects", text=slots["project"]),
            call("book_hours", **self.who(), project_id=found(1, 0, "project_id"), **given),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        day, hours = weekday(slots["day"]), slots["hours"]
        sheet = self.sheet(slots, state, monday=monday_of(slots["day"]))
        project, lines = self.project(slots["project"], state), self.lines(sheet, state)
        mine = [row for row in lines if row["project_id"] == project["project_id"]]
        old = mine[0][day] if mine else 0.0
        total = sum(row[day] for row in lines) - old + hours
        if sheet["status"] != "open" or project["status"] != "open" or total > self.v.s.max_day:
            raise LookupError("it cannot be booked")
        if hours == old or slots["day"] > state["today"]:
            raise LookupError("there is nothing to book")
        item = f"Are {hours:g} hours of {slots['name']} on {slots['project']} booked for {slots['day']}?"
        links = {"timesheet_id": sheet["timesheet_id"], "project_id": project["project_id"]}
        blank = {"rate": self.person(slots, state)["hourly_rate"], "invoice_id": None}
        entry: Outcome = Added(
            "time_entries", {**links, **dict.fromkeys(DAYS, 0.0), day: hours, **blank}, item
        )
        if mine:
            entry = Changed("time_entries", mine[0]["time_entry_id"], {day: hours}, item)
        total = sheet["hours"] + hours - old
        week = f"Has that week of {slots['name']} {total:g} hours in all?"
        return [
            entry,
            Changed("timesheets", sheet["timesheet_id"], {"hours": total}, week),
            self.booked(project, hours - old),
        ]


class Correct(TimeGoal):
    """Other hours on a day of a week that was submitted, with a reason."""

    phrases = (
        "The hours of <<p>> {name:name} on {project:name} on {day:date} were entered wrongly and the week is already "
        'submitted: correct them to {hours:number}, with the reason "{reason:text}".',
        "Please correct the timesheet of {name:name}: on {day:date} it was {hours:number} hours on {project:name}, "
        'and the reason to give is "{reason:text}".',
    )
    needs = ("find_<<p.id>>", "find_projects", "list_time_entries", "correct_hours")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        hours = int(rng.integers(2, 16)) / 2
        return {**self.some_line(state, rng), "hours": hours, "reason": pick(rng, self.v.s.reasons)}

    def plan(self, slots: Slots) -> list[Row]:
        given = {name: slots[name] for name in ("day", "hours", "reason")}
        return [
            *self.look_up(slots),
            call("correct_hours", time_entry_id=found(2, 0, "time_entry_id"), **given),
        ]

    def look_up(self, slots: Slots) -> list[Row]:
        """The calls that find the line; it is the only one in the third reply."""
        return [
            self.find(slots),
            call("find_projects", text=slots["project"]),
            call("list_time_entries", **self.who(), project_id=found(1, 0, "project_id"), day=slots["day"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        sheet, line = self.line(slots, state)
        day, hours = weekday(slots["day"]), slots["hours"]
        more = hours - line[day]
        if not more or sum(row[day] for row in self.lines(sheet, state)) + more > self.v.s.max_day:
            raise LookupError("it cannot be corrected so")
        item = f"Has {slots['name']} {hours:g} hours on {slots['project']} on {slots['day']}?"
        week = f"Has that week of {slots['name']} {sheet['hours'] + more:g} hours in all?"
        return [
            Changed("time_entries", line["time_entry_id"], {day: hours}, item),
            Changed("timesheets", sheet["timesheet_id"], {"hours": sheet["hours"] + more}, week),
            self.booked(state["projects"][line["project_id"]], more),
            self.noted(line, day, f"{line[day]:g}", f"{hours:g}", slots["reason"], state),
            *([self.flex(sheet, more, state)] if sheet["status"] == "approved" else []),
        ]


CorrectInOwnWords = in_own_words(
    Correct,
    "reason",
    "The terminal was broken, so the hours of <<p>> {name:name} on {project:name} on {day:date} have to be corrected "
    "to {hours:number}; word the reason as you like.",
    "Please correct what {name:name} has on {project:name} on {day:date} to {hours:number} hours, and put the reason "
    "into your own words.",
)


class Rebook(Correct):
    """All hours of a line belong to another project."""

    phrases = (
        "What <<p>> {name:name} has on {project:name} in the week of {day:date} was really done for {other:name}, "
        'so rebook it there; the reason is "{reason:text}".',
        "Please move all hours that {name:name} put on {project:name} in the week of {day:date} over to {other:name}, "
        'reason "{reason:text}".',
    )
    needs = ("find_<<p.id>>", "find_projects", "list_time_entries", "rebook_time_entry")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        other = pick(rng, list(state["projects"].values()))["name"]
        return {**self.some_line(state, rng), "other": other, "reason": pick(rng, self.v.s.moves)}

    def plan(self, slots: Slots) -> list[Row]:
        target = {"project_id": found(3, 0, "project_id"), "reason": slots["reason"]}
        return [
            *self.look_up(slots),
            call("find_projects", text=slots["other"]),
            call("rebook_time_entry", time_entry_id=found(2, 0, "time_entry_id"), **target),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        weekday(slots["day"])
        sheet, line = self.line(slots, state)
        old, new = state["projects"][line["project_id"]], self.project(slots["other"], state)
        there = [row["project_id"] for row in self.lines(sheet, state)]
        if new["project_id"] in there or new["status"] != "open" or not hours_of(line):
            raise LookupError("it cannot be moved there")
        item = f"Are the hours of {slots['name']} booked on {new['name']} and no more on {old['name']}?"
        return [
            Changed("time_entries", line["time_entry_id"], {"project_id": new["project_id"]}, item),
            self.booked(old, -hours_of(line)),
            self.booked(new, hours_of(line)),
            self.noted(line, "project_id", old["project_id"], new["project_id"], slots["reason"], state),
        ]


class Submit(TimeGoal):
    """Hand a week in."""

    weight: ClassVar[float] = 0.5
    phrases: ClassVar[tuple[str, ...]] = (
        "The <<p>> {name:name} is done with the week that began on {monday:date}, so please submit it.",
        "Please hand in the week of {monday:date} for <<p>> {name:name}, nothing is missing in it.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.id>>", "list_timesheets", "submit_timesheet")
    status: ClassVar[str] = "open"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state["timesheets"].values() if row["status"] == self.status]
        sheet = pick(rng, rows)
        name = state[self.v.p.ids][sheet[f"{self.v.p.id}_id"]]["name"]
        return {"name": name, "monday": sheet["monday"]}

    def look_up(self, slots: Slots) -> list[Row]:
        """The calls that find the week; it is the only one in the second reply."""
        wanted = {"monday": slots["monday"], "status": self.status}
        return [self.find(slots), call("list_timesheets", **self.who(), **wanted)]

    def act(self, slots: Slots, tool: str, **given: Any) -> list[Row]:
        """Those calls and the one that changes it."""
        return [*self.look_up(slots), call(tool, timesheet_id=found(1, 0, "timesheet_id"), **given)]

    def plan(self, slots: Slots) -> list[Row]:
        return self.act(slots, "submit_timesheet")

    def mine(self, slots: Slots, state: State) -> Row:
        """The week a sentence is about."""
        return self.sheet(slots, state, monday=slots["monday"], status=self.status)

    def change(self, sheet: Row, item: str, **fields: Any) -> Changed:
        """The week has these values."""
        return Changed("timesheets", sheet["timesheet_id"], fields, item)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        sheet = self.mine(slots, state)
        if not sheet["hours"] or later(sheet["monday"], 4) > state["today"]:
            raise LookupError("it is not over or empty")
        item = f"Has the week of {slots['name']} from {slots['monday']} been submitted?"
        return [self.change(sheet, item, status="submitted", submitted_on=state["today"], remark="")]


class Return(Submit):
    """Send a submitted week back."""

    status = "submitted"
    phrases = (
        "The week of {monday:date} that <<p>> {name:name} submitted cannot stay like that, so send it back with the "
        'remark "{remark:text}".',
        'Please return the submitted week of {name:name} from {monday:date} and remark "{remark:text}".',
    )
    needs = ("find_<<p.id>>", "list_timesheets", "return_timesheet")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "remark": pick(rng, self.v.s.remarks)}

    def plan(self, slots: Slots) -> list[Row]:
        return self.act(slots, "return_timesheet", remark=slots["remark"])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Is the week of {slots['name']} from {slots['monday']} open again with that remark?"
        fields = {"status": "open", "submitted_on": None, "remark": slots["remark"]}
        return [self.change(self.mine(slots, state), item, **fields)]


class Approve(Submit):
    """The lead with most hours in it approves a submitted week."""

    weight = 1.0
    status = "submitted"
    phrases = (
        "The week of {monday:date} that <<p>> {name:name} submitted is fine; have it approved by the lead on whose "
        "projects most of its hours were spent.",
        "Please get the submitted week of {name:name} from {monday:date} approved by whichever lead has the most hours "
        "in it.",
    )
    needs = ("find_<<p.id>>", "list_timesheets", "list_approvers", "approve_timesheet")

    def plan(self, slots: Slots) -> list[Row]:
        sheet = found(1, 0, "timesheet_id")
        lead = found(2, 0, f"{self.v.p.id}_id")
        return [
            *self.look_up(slots),
            call("list_approvers", timesheet_id=sheet),
            call("approve_timesheet", timesheet_id=sheet, approver_id=lead),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        sheet = self.mine(slots, state)
        lead = first_lead(sheet[f"{self.v.p.id}_id"], self.lines(sheet, state), state)
        item = f"Has the week of {slots['name']} from {slots['monday']} been approved by the right lead?"
        return [
            self.change(sheet, item, status="approved", approver_id=lead),
            self.flex(sheet, self.over(sheet, state), state),
        ]


def first_lead(person: str, lines: Sequence[Row], state: State) -> str:
    """Who else leads most hours of these lines; raises `LookupError` when two share the first place."""
    hours: dict[str, float] = {}
    for line in lines:
        lead = state["projects"][line["project_id"]]["lead_id"]
        if lead != person and hours_of(line):
            hours[lead] = hours.get(lead, 0.0) + hours_of(line)
    most = max(hours.values(), default=0.0)
    return str(only([lead for lead, value in hours.items() if value == most]))


class Reopen(Return):
    """Take an approval back."""

    status = "approved"
    phrases = (
        "The approval of the week of {monday:date} of <<p>> {name:name} came too early, so reopen that week with the "
        'remark "{remark:text}".',
        'Please undo the approval of {name:name} for the week of {monday:date}, the remark is "{remark:text}".',
    )
    needs = ("find_<<p.id>>", "list_timesheets", "reopen_timesheet")

    def plan(self, slots: Slots) -> list[Row]:
        return self.act(slots, "reopen_timesheet", remark=slots["remark"])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        sheet = self.mine(slots, state)
        if any(line["invoice_id"] for line in self.lines(sheet, state)):
            raise LookupError("some of it is invoiced")
        item = f"Is the week of {slots['name']} from {slots['monday']} open again?"
        fields = {"status": "open", "submitted_on": None, "approver_id": None, "remark": slots["remark"]}
        return [self.change(sheet, item, **fields), self.flex(sheet, -self.over(sheet, state), state)]


class PayOut(TimeGoal):
    """All overtime of the one in a grade who has most."""

    weight: ClassVar[float] = 0.6
    phrases = (
        "Among the <<p.many>> of the grade {grade:name}, please pay out the whole flexitime balance of the one who has "
        "the highest.",
        "Whoever has the highest flexitime balance of grade {grade:name} gets all of it paid out.",
    )
    needs = ("list_flex_balances", "pay_out_overtime")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"grade": pick(rng, list(self.v.s.grades))}

    def plan(self, slots: Slots) -> list[Row]:
        first = {f"{self.v.p.id}_id": found(0, 0, f"{self.v.p.id}_id"), "hours": found(0, 0, "flex_hours")}
        return [call("list_flex_balances", grade=slots["grade"]), call("pay_out_overtime", **first)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = [row for row in state[self.v.p.ids].values() if row["grade"] == slots["grade"]]
        most = max((row["flex_hours"] for row in rows), default=0)
        person = only([row for row in rows if row["flex_hours"] == most])
        if most <= 0:
            raise LookupError("nobody has overtime")
        fields = {"flex_hours": 0.0, "paid_out": person["paid_out"] + most}
        item = f"Has {person['name']} been paid {most:g} hours?"
        return [Changed(self.v.p.ids, person[f"{self.v.p.id}_id"], fields, item, (f"flex {slots['grade']}",))]


class HandOver(TimeGoal):
    """Another lead for a project."""

    phrases = (
        "The <<p>> {name:name} takes {project:name} over as its lead from today, please change that.",
        "Please hand the lead of {project:name} over to <<p>> {name:name}.",
    )
    needs = ("find_<<p.id>>", "find_projects", "hand_over_project")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        people, projects = (list(state[table].values()) for table in (self.v.p.ids, "projects"))
        return {"name": pick(rng, people)["name"], "project": pick(rng, projects)["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        lead = {"lead_id": found(0, f"{self.v.p.id}_id")}
        return [
            self.find(slots),
            call("find_projects", text=slots["project"]),
            call("hand_over_project", project_id=found(1, 0, "project_id"), **lead),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        person, project = self.person(slots, state), self.project(slots["project"], state)
        key = person[f"{self.v.p.id}_id"]
        if project["lead_id"] == key or project["status"] != "open":
            raise LookupError("nothing changes")
        item = f"Is {slots['name']} the lead of {slots['project']}?"
        return [Changed("projects", project["project_id"], {"lead_id": key}, item)]


class Invoice(TimeGoal):
    """Bill all approved hours of a project."""

    weight: ClassVar[float] = 0.6
    phrases: ClassVar[tuple[str, ...]] = (
        "Please invoice everything on {project:name} that is approved and not billed yet.",
        "The client of {project:name} gets an invoice for all approved hours that were not invoiced so far.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_projects", "issue_invoice")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"project": pick(rng, list(state["projects"].values()))["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        first = call("find_projects", text=slots["project"])
        return [first, call("issue_invoice", project_id=found(0, 0, "project_id"))]

    def unbilled(self, project: Row, state: State) -> list[Row]:
        """The lines of the project that can be invoiced."""
        return [
            row
            for row in state["time_entries"].values()
            if row["project_id"] == project["project_id"]
            and not row["invoice_id"]
            and state["timesheets"][row["timesheet_id"]]["status"] == "approved"
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.billed(self.project(slots["project"], state), state)

    def billed(self, project: Row, state: State) -> list[Outcome]:
        """There is an invoice, and each of the lines is on it."""
        lines = self.unbilled(project, state)
        hours = sum(map(hours_of, lines))
        if not hours:
            raise LookupError("there is nothing to invoice")
        fields = {
            "project_id": project["project_id"],
            "hours": hours,
            "amount": sum(hours_of(row) * row["rate"] for row in lines),
            "issued_on": state["today"],
            "due_on": later(state["today"], self.v.s.due_days),
            "status": "sent",
            "note": "",
        }
        mark = {"invoice_id": ANY_TEXT}  # whichever number it gets
        item = f"Is there a new invoice over the {hours:g} hours of {project['name']}?"
        also = tuple(row["timesheet_id"] for row in lines)
        return [
            Added("invoices", fields, item, also),
            *(
                Changed("time_entries", key, mark, f"Is {key} on the new invoice of {project['name']}?")
                for key in (row["time_entry_id"] for row in lines)
            ),
        ]


class InvoiceLargest(Invoice):
    """Bill the project with most to bill."""

    weight: ClassVar[float] = 0.6
    phrases = (
        "Find the project whose approved, unbilled hours are worth most and invoice it.",
        "An invoice should go out today for whichever project has the largest unbilled amount.",
    )
    needs = ("list_unbilled_hours", "issue_invoice")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {}

    def plan(self, slots: Slots) -> list[Row]:
        return [call("list_unbilled_hours"), call("issue_invoice", project_id=found(0, 0, "project_id"))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        amounts = {
            key: sum(hours_of(row) * row["rate"] for row in self.unbilled(project, state))
            for key, project in state["projects"].items()
        }
        first = only([key for key, amount in amounts.items() if amount == max(amounts.values())])
        return self.billed(state["projects"][first], state)


class CancelInvoice(TimeGoal):
    """Take an unpaid invoice back; its lines can be billed again."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The invoice for {project:name} that is not paid yet has a mistake, so cancel it; as the reason put "
        '"{reason:text}".',
        'Please cancel the unpaid invoice of {project:name}, noting "{reason:text}", so that its hours can be billed '
        "again.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_projects", "list_invoices", "cancel_invoice")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state["invoices"].values() if row["status"] == "sent"]
        project = state["projects"][pick(rng, rows)["project_id"]] if rows else None
        return project and {"project": project["name"], "reason": pick(rng, self.v.s.mistakes)}

    def act(self, slots: Slots, tool: str, **given: Any) -> list[Row]:
        """The calls that find the invoice and the one that changes it."""
        return [
            call("find_projects", text=slots["project"]),
            call("list_invoices", project_id=found(0, 0, "project_id"), status="sent"),
            call(tool, invoice_id=found(1, 0, "invoice_id"), **given),
        ]

    def plan(self, slots: Slots) -> list[Row]:
        return self.act(slots, "cancel_invoice", reason=slots["reason"])

    def invoice(self, slots: Slots, state: State) -> Row:
        """The unpaid invoice of the project."""
        project = self.project(slots["project"], state)["project_id"]
        rows = state["invoices"].values()
        return only([row for row in rows if row["project_id"] == project and row["status"] == "sent"])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        invoice = self.invoice(slots, state)
        key, project = invoice["invoice_id"], slots["project"]
        lines = [row for row in state["time_entries"].values() if row["invoice_id"] == key]
        fields = {"status": "cancelled", "note": slots["reason"]}
        also = (invoice["project_id"], *(row["timesheet_id"] for row in lines))
        return [
            Changed("invoices", key, fields, f"Is the invoice of {project} cancelled with that note?", also),
            *(
                Changed("time_entries", row, {"invoice_id": None}, f"Can {row} be billed again?")
                for row in (line["time_entry_id"] for line in lines)
            ),
        ]


class Settle(CancelInvoice):
    """A client has paid."""

    weight = 0.5
    phrases = (
        "The client has paid the open invoice of {project:name}, so please mark it as paid.",
        "Money for the unpaid invoice of {project:name} has come in, which has to be entered.",
    )
    needs = ("find_projects", "list_invoices", "settle_invoice")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {"project": slots["project"]}

    def plan(self, slots: Slots) -> list[Row]:
        return self.act(slots, "settle_invoice")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        invoice = self.invoice(slots, state)
        item = f"Is the invoice of {slots['project']} paid?"
        also = (invoice["project_id"],)
        return [Changed("invoices", invoice["invoice_id"], {"status": "paid"}, item, also)]


class Timesheets(Pattern):
    """Weeks of hours on projects, their approval and their invoices."""

    Settings = TimesheetSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Book, Correct, CorrectInOwnWords, Rebook, Submit, Return, Approve, Reopen, PayOut, HandOver, Invoice,
        InvoiceLargest, CancelInvoice, Settle,
    )  # fmt: skip

    def vocabulary(self, s: TimesheetSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        shared[s.person] = p = Noun(s.person)
        return {"p": p, "grades": list(s.grades), "gradelist": either(list(s.grades))}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, p = v.s, v.p
        link, day = (f"{p.id}_id", "str"), "date, as YYYY-MM-DD"
        return [
            Table(
                p,
                f"{p.a.capitalize()} whose hours are sold.",
                [
                    attribute(*link, f"unique id, e.g. {s.prefix}-001"),
                    attribute("name", "str", "full name"),
                    attribute("grade", "str", v.gradelist),
                    attribute("weekly_hours", "int", "hours owed a week"),
                    attribute("hourly_rate", "int", f"what a client pays for an hour, in {s.currency}"),
                    attribute("carried_over", "float", "flexitime hours brought into this year"),
                    attribute("paid_out", "float", "flexitime hours that were paid in this year"),
                    attribute("flex_hours", "float", "flexitime balance in hours, below 0 for hours owed"),
                ],
            ),
            Table(
                Noun("project"),
                "A project for a client, with a budget in hours.",
                [
                    attribute("project_id", "str", "unique id, e.g. PRJ-001"),
                    attribute("name", "str", "name of the project"),
                    attribute("client", "str", "who pays for it"),
                    attribute("lead_id", "str", f"the {p} who leads it"),
                    attribute("budget_hours", "int", "hours the client has ordered"),
                    attribute("booked_hours", "float", "hours on all its time entries"),
                    attribute("status", "str", "open or closed"),
                ],
            ),
            Table(
                Noun("timesheet"),
                f"The week of one {p}.",
                [
                    attribute("timesheet_id", "str", "unique id, e.g. TSH-001"),
                    attribute(*link, f"the {p}"),
                    attribute("monday", "str", f"its first day: {day}"),
                    attribute("hours", "float", "hours on all its time entries"),
                    attribute("status", "str", "open, submitted or approved"),
                    attribute("submitted_on", "str | None", f"{day}; None while it is open"),
                    attribute("approver_id", "str | None", f"the {p} who approved it, None before"),
                    attribute("remark", "str", "why it was sent back or reopened, otherwise empty"),
                ],
            ),
            Table(
                Noun("time entry"),
                "A line of a timesheet: the hours on one project from Monday to Friday.",
                [
                    attribute("time_entry_id", "str", "unique id, e.g. ENT-001"),
                    attribute("timesheet_id", "str", "the week"),
                    attribute("project_id", "str", "the project"),
                    *(attribute(name, "float", "hours on that day") for name in DAYS),
                    attribute("rate", "int", f"{s.currency} for an hour, as agreed when it was first booked"),
                    attribute("invoice_id", "str | None", "the invoice it is on, None while it is on none"),
                ],
            ),
            Table(
                Noun("correction"),
                "A change of hours that were submitted.",
                [
                    attribute("correction_id", "str", "unique id, e.g. COR-001"),
                    attribute("time_entry_id", "str", "the line that was changed"),
                    attribute("field", "str", "what was changed: mon, tue, wed, thu, fri or project_id"),
                    attribute("before", "str", "old value, as a text"),
                    attribute("after", "str", "new value, as a text"),
                    attribute("reason", "str", "why"),
                    attribute("made_on", "str", day),
                ],
            ),
            Table(
                Noun("invoice"),
                "A bill over approved hours of one project.",
                [
                    attribute("invoice_id", "str", "unique id, e.g. INV-001"),
                    attribute("project_id", "str", "the project"),
                    attribute("hours", "float", "hours on its time entries"),
                    attribute("amount", "float", f"hours times rate of its time entries, in {s.currency}"),
                    attribute("issued_on", "str", day),
                    attribute("due_on", "str", day),
                    attribute("status", "str", "sent, paid or cancelled"),
                    attribute("note", "str", "why it was cancelled, otherwise empty"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "The hours of a timesheet and the booked hours of a project are the sum of their time entries.",
            """
            weeks, projects = {}, {}
            for row in rows(after, "time_entries").values():
                hours = sum(row.get(day) or 0 for day in ("mon", "tue", "wed", "thu", "fri"))
                weeks[row.get("timesheet_id")] = weeks.get(row.get("timesheet_id"), 0) + hours
                projects[row.get("project_id")] = projects.get(row.get("project_id"), 0) + hours
            return all(
                row.get("hours") == weeks.get(key, 0) for key, row in rows(after, "timesheets").items()
            ) and all(row.get("booked_hours") == projects.get(key, 0) for key, row in rows(after, "projects").items())
            """,
        ),
        RuleText(
            "No project has more hours booked than its budget allows.",
            """
            return all(
                (row.get("booked_hours") or 0) <= (row.get("budget_hours") or 0)
                for row in rows(after, "projects").values()
            )
            """,
        ),
        RuleText(
            "A <<p>> has one timesheet a week, on no day of which more than <<s.max_day>> hours are booked.",
            """
            weeks = [(row.get("<<p.id>>_id"), row.get("monday")) for row in rows(after, "timesheets").values()]
            days = {}
            for row in rows(after, "time_entries").values():
                for day in ("mon", "tue", "wed", "thu", "fri"):
                    key = (row.get("timesheet_id"), day)
                    days[key] = days.get(key, 0) + (row.get(day) or 0)
            return len(weeks) == len(set(weeks)) and all(hours <= <<s.max_day>> for hours in days.values())
            """,
        ),
        RuleText(
            "Only somebody who leads a project with hours in that week is authorised to approve a timesheet, and "
            "nobody may approve their own.",
            """
            for old, new in changed("timesheets", "status"):
                if new.get("status") == "approved":
                    leads = [
                        (rows(before, "projects").get(str(row.get("project_id"))) or {}).get("lead_id")
                        for row in rows(before, "time_entries").values()
                        if row.get("timesheet_id") == new.get("timesheet_id")
                        and any(row.get(day) for day in ("mon", "tue", "wed", "thu", "fri"))
                    ]
                    if new.get("approver_id") not in leads or new.get("approver_id") == new.get("<<p.id>>_id"):
                        return False
            return True
            """,
        ),
        RuleText(
            "A flexitime balance is the sum of what was carried over and the hours above or below the weekly duty of "
            "all approved timesheets, less what was paid out.",
            """
            people, over = rows(after, "<<p.ids>>"), {}
            for row in rows(after, "timesheets").values():
                key = row.get("<<p.id>>_id")
                if row.get("status") == "approved" and key in people:
                    more = (row.get("hours") or 0) - (people[key].get("weekly_hours") or 0)
                    over[key] = over.get(key, 0) + more
            return all(
                row.get("flex_hours") == (row.get("carried_over") or 0) + over.get(key, 0) - (row.get("paid_out") or 0)
                for key, row in people.items()
            )
            """,
        ),
        RuleText(
            "Every change of hours that are submitted or approved leaves a correction with its reason.",
            """
            noted = {row.get("time_entry_id") for row in added("corrections") if row.get("reason")}
            weeks = rows(before, "timesheets")
            for field in ("mon", "tue", "wed", "thu", "fri", "project_id"):
                for old, new in changed("time_entries", field):
                    week = weeks.get(str(old.get("timesheet_id"))) or {}
                    if week.get("status") != "open" and new.get("time_entry_id") not in noted:
                        return False
            return True
            """,
        ),
        RuleText(
            "Nothing is invoiced before its timesheet is approved, and what is on an invoice is of that project.",
            """
            weeks, invoices = rows(after, "timesheets"), rows(after, "invoices")
            for row in rows(after, "time_entries").values():
                if row.get("invoice_id") is not None:
                    week = weeks.get(str(row.get("timesheet_id"))) or {}
                    invoice = invoices.get(str(row.get("invoice_id"))) or {}
                    if week.get("status") != "approved" or invoice.get("project_id") != row.get("project_id"):
                        return False
            return True
            """,
        ),
        RuleText(
            "The amount of an invoice is calculated as hours times rate of its time entries, and none are "
            "left on one that is cancelled.",
            """
            sums = {}
            for row in rows(after, "time_entries").values():
                hours = sum(row.get(day) or 0 for day in ("mon", "tue", "wed", "thu", "fri"))
                key = row.get("invoice_id")
                sums[key] = sums.get(key, 0) + hours * (row.get("rate") or 0)
            return all(
                key not in sums if row.get("status") == "cancelled" else row.get("amount") == sums.get(key)
                for key, row in rows(after, "invoices").items()
            )
            """,
        ),
    )

    HELPERS = '''
    DAYS = ("mon", "tue", "wed", "thu", "fri")

    @staticmethod
    def _day(text: str) -> date | None:
        """Read a date written as YYYY-MM-DD; None when it is none."""
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return None
        return day if day.isoformat() == text else None

    def _hours(self, entry: dict) -> float:
        """Add up a line from Monday to Friday."""
        return sum(entry[day] for day in self.DAYS)

    def _entries(self, timesheet_id: str) -> list[dict]:
        """Return the lines of a week."""
        return [entry for entry in self.time_entries.values() if entry["timesheet_id"] == timesheet_id]

    def _over(self, timesheet: dict) -> float:
        """Return the hours of a week beyond the weekly duty, below 0 for less."""
        return timesheet["hours"] - self.<<p.ids>>[timesheet["<<p.id>>_id"]]["weekly_hours"]

    def _shift(self, entry: dict, day: str, hours: float) -> str | None:
        """Set the hours of one day of a line, with all that depends on them; return why not, if so."""
        timesheet = self.timesheets[entry["timesheet_id"]]
        project = self.projects[entry["project_id"]]
        more = hours - entry[day]
        others = sum(row[day] for row in self._entries(entry["timesheet_id"]) if row is not entry)
        if others + hours > <<s.max_day>>:
            return f"With {others} hours on other projects that day would have more than <<s.max_day>>."
        if project["booked_hours"] + more > project["budget_hours"]:
            return f"The budget of {project['name']} has only {project['budget_hours']} hours."
        entry[day] += more
        timesheet["hours"] += more
        project["booked_hours"] += more
        if timesheet["status"] == "approved":
            self.<<p.ids>>[timesheet["<<p.id>>_id"]]["flex_hours"] += more
        return None

    def _note(self, time_entry_id: str, field: str, before: str, after: str, reason: str) -> None:
        """Write a correction down."""
        correction_id = self._next_id(self.corrections, "COR")
        self.corrections[correction_id] = {
            "correction_id": correction_id,
            "time_entry_id": time_entry_id,
            "field": field,
            "before": before,
            "after": after,
            "reason": reason,
            "made_on": self.today,
        }

    def _leads(self, timesheet: dict) -> dict[str, float]:
        """Return the hours of a week by the lead of their project, its own <<p>> left out."""
        hours: dict[str, float] = {}
        for entry in self._entries(timesheet["timesheet_id"]):
            lead_id = self.projects[entry["project_id"]]["lead_id"]
            if lead_id != timesheet["<<p.id>>_id"] and self._hours(entry):
                hours[lead_id] = hours.get(lead_id, 0.0) + self._hours(entry)
        return hours

    def _unbilled(self, project_id: str) -> list[dict]:
        """Return the approved lines of a project that are on no invoice."""
        return [
            entry
            for entry in self.time_entries.values()
            if entry["project_id"] == project_id
            and entry["invoice_id"] is None
            and self.timesheets[entry["timesheet_id"]]["status"] == "approved"
        ]
'''

    READS = '''
def find_<<p.id>>(self, name: str) -> dict:
    """Find the one <<p>> of a name, with the projects that <<p>> leads.

    Args:
        name: Full name, or a part of it that only one <<p>> has; upper and lower case are the same.

    Returns:
        The record with `leads`, the names of the projects, or an error when nobody or several people match.
    """
    matches = [row for row in self.<<p.ids>>.values() if name.strip().lower() in row["name"].lower()]
    if not name.strip() or len(matches) != 1:
        people = ", ".join(row["name"] for row in matches) or "nobody"
        refuse :: {name!r} should be one <<p>>, but it is {people}.
    key = matches[0]["<<p.id>>_id"]
    leads = [project["name"] for project in self.projects.values() if project["lead_id"] == key]
    return {"success": True, "data": {**matches[0], "leads": leads}}

def list_flex_balances(self, grade: str | None = None) -> dict:
    """Rank people by their flexitime balance, and say what it will be once all that is submitted is approved.

    Args:
        grade: Only this grade: <<gradelist>>. Leave out for all.

    Returns:
        The people with `expected`, the highest balance first.
    """
    refuse if grade is not None and grade not in (<<quoted(grades)>>) :: There is no grade {grade!r}.
    expected = {key: row["flex_hours"] for key, row in self.<<p.ids>>.items()}
    for timesheet in self.timesheets.values():
        if timesheet["status"] == "submitted":
            expected[timesheet["<<p.id>>_id"]] += self._over(timesheet)
    ranked = sorted(self.<<p.ids>>.values(), key=lambda row: (-row["flex_hours"], row["name"]))
    data = [{**row, "expected": expected[row["<<p.id>>_id"]]} for row in ranked if grade in (None, row["grade"])]
    return {"success": True, "data": data}

def find_projects(self, text: str) -> dict:
    """Find projects by their name or their client.

    Args:
        text: A part of the name or of the client; upper and lower case are the same.

    Returns:
        The projects in the order of their names, each with the hours `left` of its budget.
    """
    wanted = text.strip().lower()
    refuse if not wanted :: Say a part of the name or of the client.
    hits = {row["name"]: row for row in self.projects.values() if wanted in f"{row['name']} | {row['client']}".lower()}
    data = [{**hits[name], "left": hits[name]["budget_hours"] - hits[name]["booked_hours"]} for name in sorted(hits)]
    return {"success": True, "data": data}

def forecast_project(self, project_id: str) -> dict:
    """Say how fast a project uses its budget and for how many whole weeks the rest lasts at that pace.

    Args:
        project_id: Id of the project, e.g. PRJ-001.

    Returns:
        The hours of each week by its Monday, their mean, the hours left and the `weeks_left`, None without any pace.
    """
    refuse if project_id not in self.projects :: There is no project {project_id!r}.
    weeks: dict[str, float] = {}
    for entry in self.time_entries.values():
        if entry["project_id"] == project_id:
            monday = self.timesheets[entry["timesheet_id"]]["monday"]
            weeks[monday] = weeks.get(monday, 0.0) + self._hours(entry)
    project = self.projects[project_id]
    left = project["budget_hours"] - project["booked_hours"]
    pace = round(sum(weeks.values()) / len(weeks), 2) if weeks else 0.0
    weeks_left = int(left // pace) if pace > 0 else None
    data = {"weeks": dict(sorted(weeks.items())), "pace": pace, "left": left, "weeks_left": weeks_left}
    return {"success": True, "data": data}

def list_timesheets(
    self, <<p.id>>_id: str | None = None, monday: str | None = None, status: str | None = None
) -> dict:
    """List timesheets, the latest week first.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        monday: Only the week that begins on this Monday, as YYYY-MM-DD. Leave out for all.
        status: Only this status: open, submitted or approved. Leave out for all.

    Returns:
        The matching timesheets, each with `over`, its hours above or below the weekly duty.
    """
    refuse if status not in (None, "open", "submitted", "approved") :: There is no status {status!r}.
    refuse if monday is not None and self._day(monday) is None :: {monday!r} is not a date as YYYY-MM-DD.
    wanted = {"<<p.id>>_id": <<p.id>>_id, "monday": monday, "status": status}
    wanted = {field: value for field, value in wanted.items() if value is not None}
    selected = [
        {**row, "over": self._over(row)}
        for key, row in sorted(self.timesheets.items())
        if all(row[field] == value for field, value in wanted.items())
    ]
    return {"success": True, "data": sorted(selected, key=lambda row: row["monday"], reverse=True)}

def show_timesheet(self, timesheet_id: str) -> dict:
    """Show a week as a grid: hours by project and day, totals of the days, and what was corrected.

    Args:
        timesheet_id: Id of the timesheet, e.g. TSH-001.

    Returns:
        The timesheet with `grid`, `day_totals`, `empty_days` and `corrections`, or an error for an unknown id.
    """
    refuse if timesheet_id not in self.timesheets :: There is no timesheet {timesheet_id!r}.
    entries = self._entries(timesheet_id)
    ids = {entry["time_entry_id"] for entry in entries}
    totals = {day: sum(entry[day] for entry in entries) for day in self.DAYS}
    data = {
        **self.timesheets[timesheet_id],
        "grid": {
            self.projects[entry["project_id"]]["name"]: {day: entry[day] for day in self.DAYS} for entry in entries
        },
        "day_totals": totals,
        "empty_days": [day for day, hours in totals.items() if hours == 0],
        "corrections": [dict(row) for row in self.corrections.values() if row["time_entry_id"] in ids],
    }
    return {"success": True, "data": data}

def list_approvers(self, timesheet_id: str) -> dict:
    """List who may approve a week: the leads of projects with hours in it, apart from whose week it is.

    Args:
        timesheet_id: Id of the timesheet.

    Returns:
        The leads with the `hours` on their projects in that week, most hours first, or an error for an unknown id.
    """
    timesheet = self.timesheets.get(timesheet_id)
    refuse if timesheet is None :: There is no timesheet {timesheet_id!r}.
    ranked = sorted(self._leads(timesheet).items(), key=lambda pair: (-pair[1], pair[0]))
    data = [
        {"<<p.id>>_id": key, "name": self.<<p.ids>>[key]["name"], "hours": hours} for key, hours in ranked
    ]
    return {"success": True, "data": data}

def list_time_entries(
    self,
    <<p.id>>_id: str | None = None,
    project_id: str | None = None,
    day: str | None = None,
) -> dict:
    """List the lines of timesheets, with whose week each is and its status.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        project_id: Only those on this project. Leave out for all.
        day: Only those of the week in which this date lies, as YYYY-MM-DD. Leave out for all.

    Returns:
        The lines in the order of their ids, each with `<<p.id>>_id`, `monday`, `status` and its `hours`.
    """
    monday = None
    if day is not None:
        read = self._day(day)
        refuse if read is None :: {day!r} is not a date as YYYY-MM-DD.
        monday = (read - timedelta(days=read.weekday())).isoformat()
    selected = []
    for key in sorted(self.time_entries):
        entry = self.time_entries[key]
        week = self.timesheets[entry["timesheet_id"]]
        if <<p.id>>_id not in (None, week["<<p.id>>_id"]) or monday not in (None, week["monday"]):
            continue
        if project_id in (None, entry["project_id"]):
            more = {field: week[field] for field in ("<<p.id>>_id", "monday", "status")}
            selected.append({**entry, **more, "hours": self._hours(entry)})
    return {"success": True, "data": selected}

def list_missing_timesheets(self, monday: str) -> dict:
    """List who has not handed in a week, with the hours that are missing to the weekly duty.

    Args:
        monday: The first day of the week, a Monday that is not after today, as YYYY-MM-DD.

    Returns:
        The people whose timesheet is open or was never begun, with the hours `missing`, sorted by name.
    """
    first = self._day(monday)
    refuse if first is None or first.weekday() != 0 :: {monday!r} is not a Monday as YYYY-MM-DD.
    refuse if monday > self.today :: The week of {monday} has not begun.
    weeks = {row["<<p.id>>_id"]: row for row in self.timesheets.values() if row["monday"] == monday}
    missing = []
    for key, person in self.<<p.ids>>.items():
        week = weeks.get(key, {"status": "never begun", "hours": 0.0})
        if week["status"] in ("open", "never begun"):
            less = max(person["weekly_hours"] - week["hours"], 0.0)
            missing.append({"<<p.id>>_id": key, "name": person["name"], "status": week["status"], "missing": less})
    return {"success": True, "data": sorted(missing, key=lambda row: row["name"])}

def list_unbilled_hours(self) -> dict:
    """Say for every project what approved hours are on no invoice yet, and what they are worth.

    Returns:
        Projects with `hours`, `amount` and the names of the `people`, the largest amount first.
    """
    found = []
    for project_id, project in self.projects.items():
        entries = self._unbilled(project_id)
        people = {self.timesheets[entry["timesheet_id"]]["<<p.id>>_id"] for entry in entries}
        amount = sum(self._hours(entry) * entry["rate"] for entry in entries)
        if amount > 0:
            found.append(
                {
                    "project_id": project_id,
                    "name": project["name"],
                    "hours": sum(map(self._hours, entries)),
                    "amount": amount,
                    "people": sorted(self.<<p.ids>>[key]["name"] for key in people),
                }
            )
    return {"success": True, "data": sorted(found, key=lambda row: (-row["amount"], row["project_id"]))}

def list_invoices(self, project_id: str | None = None, status: str | None = None) -> dict:
    """List invoices, the one that is due first in front.

    Args:
        project_id: Only those of this project. Leave out for all.
        status: Only this status: sent, paid or cancelled. Leave out for all.

    Returns:
        The invoices, each with the `client` and, where it is sent and not paid in time, the days `overdue`.
    """
    refuse if status not in (None, "sent", "paid", "cancelled") :: There is no status {status!r}.
    today, listed = date.fromisoformat(self.today), []
    for invoice in sorted(self.invoices.values(), key=lambda row: (row["due_on"], row["invoice_id"])):
        if project_id in (None, invoice["project_id"]) and status in (None, invoice["status"]):
            late = (today - date.fromisoformat(invoice["due_on"])).days if invoice["status"] == "sent" else 0
            client = self.projects[invoice["project_id"]]["client"]
            listed.append({**invoice, "client": client, "overdue": max(late, 0)})
    return {"success": True, "data": listed}
'''

    WRITES = '''
def book_hours(self, <<p.id>>_id: str, project_id: str, day: str, hours: float) -> dict:
    """Set the hours of a <<p>> on a project for one day of an open week, which is begun if there is none yet.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        project_id: Id of an open project whose budget allows the hours.
        day: A working day up to today, as YYYY-MM-DD.
        hours: Quarter hours as decimals, e.g. 6.25; they replace what stands there, and 0 takes it away.

    Returns:
        The timesheet with its new total, or an error.
    """
    need p
    project, read = self.projects.get(project_id), self._day(day)
    refuse if project is None or project["status"] != "open" :: {project_id!r} is no open project.
    refuse if read is None or read.weekday() > 4 or day > self.today :: {day!r} is no working day up to today.
    refuse if not 0 <= hours <= <<s.max_day>> or hours % 0.25 :: {hours} are not 0 to <<s.max_day>> hours in quarters.
    name, monday = self.DAYS[read.weekday()], (read - timedelta(days=read.weekday())).isoformat()
    mine = [row for row in self.timesheets.values() if row["<<p.id>>_id"] == <<p.id>>_id]
    weeks = [row for row in mine if row["monday"] == monday]
    refuse if weeks and weeks[0]["status"] != "open" :: That week is {weeks[0]['status']}; correct it instead.
    lines = [row for week in weeks for row in self._entries(week["timesheet_id"]) if row["project_id"] == project_id]
    refuse if hours == (lines[0][name] if lines else 0) :: That is what stands there already.
    timesheet_id = weeks[0]["timesheet_id"] if weeks else self._next_id(self.timesheets, "TSH")
    entry = lines[0] if lines else {
        "time_entry_id": self._next_id(self.time_entries, "ENT"),
        "timesheet_id": timesheet_id,
        "project_id": project_id,
        **dict.fromkeys(self.DAYS, 0.0),
        "rate": <<p.id>>["hourly_rate"],
        "invoice_id": None,
    }
    if not weeks:
        self.timesheets[timesheet_id] = {
            "timesheet_id": timesheet_id,
            "<<p.id>>_id": <<p.id>>_id,
            "monday": monday,
            "hours": 0.0,
            "status": "open",
            "submitted_on": None,
            "approver_id": None,
            "remark": "",
        }
    problem = self._shift(entry, name, float(hours))
    if problem:
        if not weeks:
            del self.timesheets[timesheet_id]
        return {"success": False, "error": problem}
    self.time_entries[entry["time_entry_id"]] = entry
    done dict(self.timesheets[timesheet_id]) :: {<<p.id>>['name']} has {hours} hours on {project['name']} on {day}.

def correct_hours(self, time_entry_id: str, day: str, hours: float, reason: str) -> dict:
    """Correct the hours of one day in a week that was submitted or approved; flexitime follows if it was approved.

    Args:
        time_entry_id: Id of the line, which must not be on an invoice.
        day: A working day of its week, as YYYY-MM-DD.
        hours: The right hours in quarters as decimals, e.g. 7.5.
        reason: Why, in a few words; kept with the correction.

    Returns:
        The corrected line, or an error.
    """
    entry, read = self.time_entries.get(time_entry_id), self._day(day)
    refuse if entry is None :: There is no time entry {time_entry_id!r}.
    timesheet = self.timesheets[entry["timesheet_id"]]
    refuse if timesheet["status"] == "open" :: The week is still open; book the hours instead.
    refuse if entry["invoice_id"] :: The line is on invoice {entry['invoice_id']}.
    refuse if not reason.strip() :: A reason is required.
    past = (read - date.fromisoformat(timesheet["monday"])).days if read else -1
    refuse if past not in range(5) :: {day!r} is no working day of the week from {timesheet['monday']}.
    refuse if not 0 <= hours <= <<s.max_day>> or hours % 0.25 :: {hours} are not 0 to <<s.max_day>> hours in quarters.
    name = self.DAYS[past]
    old = entry[name]
    refuse if hours == old :: That is what stands there already.
    problem = self._shift(entry, name, float(hours))
    if problem:
        return {"success": False, "error": problem}
    self._note(time_entry_id, name, f"{old:g}", f"{hours:g}", reason.strip())
    done dict(entry) :: {old:g} hours on {day} corrected to {hours:g}.

def rebook_time_entry(self, time_entry_id: str, project_id: str, reason: str) -> dict:
    """Move all hours of a line to another project; once submitted, that is written down as a correction.

    Args:
        time_entry_id: Id of the line, which must have hours and not be on an invoice.
        project_id: Id of an open project with enough budget on which that week has no line yet.
        reason: Why, in a few words.

    Returns:
        The line on its new project, or an error.
    """
    entry, target = self.time_entries.get(time_entry_id), self.projects.get(project_id)
    refuse if entry is None :: There is no time entry {time_entry_id!r}.
    refuse if target is None or target["status"] != "open" :: {project_id!r} is no open project.
    refuse if entry["invoice_id"] :: The line is on invoice {entry['invoice_id']}.
    refuse if not reason.strip() :: A reason is required.
    there = {row["project_id"] for row in self._entries(entry["timesheet_id"])}
    refuse if project_id in there :: That week has a line on {target['name']} already.
    hours = self._hours(entry)
    refuse if hours == 0 :: The line has no hours.
    refuse if target["booked_hours"] + hours > target["budget_hours"] :: {target['name']} has no {hours} hours left.
    source = self.projects[entry["project_id"]]
    source["booked_hours"] -= hours
    target["booked_hours"] += hours
    if self.timesheets[entry["timesheet_id"]]["status"] != "open":
        self._note(time_entry_id, "project_id", source["project_id"], project_id, reason.strip())
    entry["project_id"] = project_id
    done dict(entry) :: {hours} hours moved from {source['name']} to {target['name']}.

def submit_timesheet(self, timesheet_id: str) -> dict:
    """Hand in an open week that is over.

    Args:
        timesheet_id: Id of the timesheet, which must have hours and whose Friday is not after today.

    Returns:
        The submitted timesheet, or an error.
    """
    timesheet = self.timesheets.get(timesheet_id)
    refuse if timesheet is None :: There is no timesheet {timesheet_id!r}.
    refuse if timesheet["status"] != "open" :: The timesheet is {timesheet['status']}, not open.
    refuse if not timesheet["hours"] :: There are no hours in it.
    friday = date.fromisoformat(timesheet["monday"]) + timedelta(days=4)
    refuse if friday.isoformat() > self.today :: The week lasts until {friday}.
    timesheet.update(status="submitted", submitted_on=self.today, remark="")
    done dict(timesheet) :: Timesheet {timesheet_id} submitted with {timesheet['hours']} hours.

def return_timesheet(self, timesheet_id: str, remark: str) -> dict:
    """Send a submitted week back to whoever handed it in.

    Args:
        timesheet_id: Id of the timesheet, which must be submitted.
        remark: What is to be changed.

    Returns:
        The timesheet, open again, or an error.
    """
    timesheet = self.timesheets.get(timesheet_id)
    refuse if timesheet is None :: There is no timesheet {timesheet_id!r}.
    refuse if timesheet["status"] != "submitted" :: The timesheet is {timesheet['status']}, not submitted.
    refuse if not remark.strip() :: Say what is to be changed.
    timesheet.update(status="open", submitted_on=None, remark=remark.strip())
    done dict(timesheet) :: Timesheet {timesheet_id} sent back.

def approve_timesheet(self, timesheet_id: str, approver_id: str) -> dict:
    """Approve a submitted week; its hours above or below the weekly duty go to the flexitime balance.

    Args:
        timesheet_id: Id of the timesheet, which must be submitted.
        approver_id: Id of the <<p>> who approves: leads a project with hours in it, and it is not their own week.

    Returns:
        The approved timesheet with `flex_hours`, the new balance, or an error.
    """
    timesheet = self.timesheets.get(timesheet_id)
    refuse if timesheet is None :: There is no timesheet {timesheet_id!r}.
    refuse if timesheet["status"] != "submitted" :: The timesheet is {timesheet['status']}, not submitted.
    if approver_id not in self._leads(timesheet):
        refuse :: {approver_id!r} leads no project with hours in it, or it is their own week.
    owner = self.<<p.ids>>[timesheet["<<p.id>>_id"]]
    owner["flex_hours"] += self._over(timesheet)
    timesheet.update(status="approved", approver_id=approver_id)
    data = {**timesheet, "flex_hours": owner["flex_hours"]}
    done data :: Timesheet {timesheet_id} of {owner['name']} approved.

def reopen_timesheet(self, timesheet_id: str, remark: str) -> dict:
    """Take the approval of a week back, and with it what it brought to the flexitime balance.

    Args:
        timesheet_id: Id of the timesheet, which must be approved, with nothing in it invoiced.
        remark: Why it is reopened.

    Returns:
        The timesheet, open again, or an error.
    """
    timesheet = self.timesheets.get(timesheet_id)
    refuse if timesheet is None :: There is no timesheet {timesheet_id!r}.
    refuse if timesheet["status"] != "approved" :: The timesheet is {timesheet['status']}, not approved.
    refuse if not remark.strip() :: Say why it is reopened.
    billed = sorted({entry["invoice_id"] for entry in self._entries(timesheet_id) if entry["invoice_id"]})
    refuse if billed :: Hours of it are on {', '.join(billed)}; cancel that first.
    self.<<p.ids>>[timesheet["<<p.id>>_id"]]["flex_hours"] -= self._over(timesheet)
    timesheet.update(status="open", submitted_on=None, approver_id=None, remark=remark.strip())
    done dict(timesheet) :: Timesheet {timesheet_id} is open again.

def pay_out_overtime(self, <<p.id>>_id: str, hours: float) -> dict:
    """Pay overtime instead of keeping it as flexitime.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        hours: Quarter hours as decimals: above 0 and no more than the flexitime balance.

    Returns:
        The <<p>> with the new balance, or an error.
    """
    need p
    balance = <<p.id>>["flex_hours"]
    if not 0 < hours <= balance or hours % 0.25:
        refuse :: {hours} is not in quarters, or not above 0 and within the balance of {balance}.
    <<p.id>>["flex_hours"] -= hours
    <<p.id>>["paid_out"] += hours
    done dict(<<p.id>>) :: {hours} hours of {<<p.id>>['name']} will be paid.

def hand_over_project(self, project_id: str, lead_id: str) -> dict:
    """Give an open project another lead, who then approves the weeks with hours on it.

    Args:
        project_id: Id of the project.
        lead_id: Id of the <<p>> who takes it over, not the one who leads it now.

    Returns:
        The project with its new lead, or an error.
    """
    project, lead = self.projects.get(project_id), self.<<p.ids>>.get(lead_id)
    refuse if project is None or project["status"] != "open" :: {project_id!r} is no open project.
    refuse if lead is None :: There is no <<p>> {lead_id!r}.
    refuse if project["lead_id"] == lead_id :: {lead['name']} leads it already.
    project["lead_id"] = lead_id
    done dict(project) :: {lead['name']} now leads {project['name']}.

def issue_invoice(self, project_id: str) -> dict:
    """Bill all approved hours of a project that are on no invoice yet, each line at its own rate.

    Args:
        project_id: Id of the project.

    Returns:
        The new invoice, due in <<s.due_days>> days, with the ids of its `lines`, or an error.
    """
    project = self.projects.get(project_id)
    refuse if project is None :: There is no project {project_id!r}.
    entries = self._unbilled(project_id)
    hours = sum(map(self._hours, entries))
    refuse if not hours :: There are no approved hours to invoice on {project['name']}.
    invoice_id = self._next_id(self.invoices, "INV")
    due = date.fromisoformat(self.today) + timedelta(days=<<s.due_days>>)
    self.invoices[invoice_id] = {
        "invoice_id": invoice_id,
        "project_id": project_id,
        "hours": hours,
        "amount": float(sum(self._hours(entry) * entry["rate"] for entry in entries)),
        "issued_on": self.today,
        "due_on": due.isoformat(),
        "status": "sent",
        "note": "",
    }
    for entry in entries:
        entry["invoice_id"] = invoice_id
    data = {**self.invoices[invoice_id], "lines": [entry["time_entry_id"] for entry in entries]}
    done data :: Invoice {invoice_id} goes to {project['client']}.

def settle_invoice(self, invoice_id: str) -> dict:
    """Enter that the client has paid an invoice.

    Args:
        invoice_id: Id of the invoice, which must be sent.

    Returns:
        The paid invoice, or an error.
    """
    invoice = self.invoices.get(invoice_id)
    refuse if invoice is None :: There is no invoice {invoice_id!r}.
    refuse if invoice["status"] != "sent" :: The invoice is {invoice['status']}.
    invoice["status"] = "paid"
    done dict(invoice) :: Invoice {invoice_id} is paid.

def cancel_invoice(self, invoice_id: str, reason: str) -> dict:
    """Cancel an invoice that is not paid, so that its lines can be billed again.

    Args:
        invoice_id: Id of the invoice, which must be sent.
        reason: Why, in a few words; kept as its note.

    Returns:
        The cancelled invoice with the ids of the lines that are `free` again, or an error.
    """
    invoice = self.invoices.get(invoice_id)
    refuse if invoice is None :: There is no invoice {invoice_id!r}.
    refuse if invoice["status"] != "sent" :: The invoice is {invoice['status']}, not sent.
    refuse if not reason.strip() :: A reason is required.
    invoice.update(status="cancelled", note=reason.strip())
    free = [entry for entry in self.time_entries.values() if entry["invoice_id"] == invoice_id]
    for entry in free:
        entry["invoice_id"] = None
    data = {**invoice, "free": [entry["time_entry_id"] for entry in free]}
    done data :: Invoice {invoice_id} is cancelled.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, p = v.s, v.p
        for n, name in enumerate(names.people(rng, 7), start=1):
            grade = list(s.grades)[n % len(s.grades)]
            state[p.ids][key_of(s.prefix, n)] = {
                f"{p.id}_id": key_of(s.prefix, n),
                "name": name,
                "grade": grade,
                "weekly_hours": pick(rng, [40, 40, 36, 32, 24]),
                "hourly_rate": s.grades[grade],
                "carried_over": int(rng.integers(-12, 41)) / 2,
                "paid_out": pick(rng, [0.0, 0.0, 2.0, 3.5]),
                "flex_hours": 0.0,
            }
        people = list(state[p.ids])
        for n, name in enumerate(shuffled(rng, list(s.projects))[:7], start=1):
            state["projects"][key_of("PRJ", n)] = {
                "project_id": key_of("PRJ", n),
                "name": name,
                "client": s.projects[name],
                "lead_id": people[n % 4],
                "budget_hours": 0,
                "booked_hours": 0.0,
                "status": "open",
            }
        this = monday_of(state["today"])
        weeks = [(later(this, -14), "approved")] * 4 + [(later(this, -7), "submitted")] * 3
        weeks += [(later(this, -7), "approved")] * 2 + [
            (later(this, -7), "open"),
            (this, "open"),
            (this, "open"),
        ]
        order = shuffled(rng, people)
        for n, (monday, status) in enumerate([*weeks, (this, "open")]):
            self._week(v, state, rng, order[n % len(order)], monday, status)
        for row in state["projects"].values():
            row["budget_hours"] = int(row["booked_hours"]) + int(rng.integers(2, 30)) * 4
        for person in state[p.ids].values():
            mine = [r for r in state["timesheets"].values() if r[f"{p.id}_id"] == person[f"{p.id}_id"]]
            over = sum(r["hours"] - person["weekly_hours"] for r in mine if r["status"] == "approved")
            person["flex_hours"] = person["carried_over"] + over - person["paid_out"]
        self._invoices(v, state, rng)
        self._corrections(v, state, rng)

    def _week(
        self, v: SimpleNamespace, state: State, rng: Rng, person: str, monday: str, status: str
    ) -> None:
        """A week with two lines; one at least is on a project that somebody else leads."""
        projects = shuffled(rng, list(state["projects"]))
        foreign = next(key for key in projects if state["projects"][key]["lead_id"] != person)
        other = next(key for key in projects if key != foreign)
        duty, key = state[v.p.ids][person]["weekly_hours"], key_of("TSH", len(state["timesheets"]) + 1)
        days: dict[str, dict[str, float]] = {foreign: {}, other: {}}
        for n, day in enumerate(DAYS):
            done = later(monday, n) < state["today"]
            total = max(1.0, (round(duty * 4 / 5) + int(rng.integers(-3, 5))) / 4) if done else 0.0
            part = min(total, pick(rng, [0.0, 1.5, 3.0, total, total]))
            days[foreign][day], days[other][day] = (part, total - part) if n else (total, 0.0)
        if not sum(days[other].values()):
            days[other]["tue"], days[foreign]["tue"] = days[foreign]["tue"], 0.0
        sheet = {
            "timesheet_id": key,
            f"{v.p.id}_id": person,
            "monday": monday,
            "hours": 0.0,
            "status": status,
        }
        sent = None if status == "open" else later(monday, pick(rng, [4, 4, 7]))
        state["timesheets"][key] = {**sheet, "submitted_on": sent, "approver_id": None, "remark": ""}
        for project in (foreign, other):
            entry = key_of("ENT", len(state["time_entries"]) + 1)
            line = {"time_entry_id": entry, "timesheet_id": key, "project_id": project, **days[project]}
            rate = state[v.p.ids][person]["hourly_rate"]
            state["time_entries"][entry] = {**line, "rate": rate, "invoice_id": None}
            state["timesheets"][key]["hours"] += hours_of(line)
            state["projects"][project]["booked_hours"] += hours_of(line)
        if status == "approved":
            state["timesheets"][key]["approver_id"] = state["projects"][foreign]["lead_id"]

    def _invoices(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        """Most of what was approved a while ago is billed; some bills were cancelled."""
        oldest = min(row["monday"] for row in state["timesheets"].values())
        lines = [
            r
            for r in state["time_entries"].values()
            if state["timesheets"][r["timesheet_id"]]["monday"] == oldest
        ]
        projects = shuffled(rng, list(dict.fromkeys(row["project_id"] for row in lines)))
        for n, project in enumerate([*projects[:4], *shuffled(rng, list(state["projects"]))[:2]], start=1):
            cancelled = n > len(projects[:4])
            mine = [] if cancelled else [row for row in lines if row["project_id"] == project]
            hours, key = sum(map(hours_of, mine)), key_of("INV", n)
            issued = later(state["today"], -int(rng.integers(2, 6)))
            amount = sum(hours_of(row) * row["rate"] for row in mine)
            if cancelled:
                hours, amount = 30.0, 30.0 * pick(rng, list(v.s.grades.values()))
            state["invoices"][key] = {
                "invoice_id": key,
                "project_id": project,
                "hours": hours,
                "amount": float(amount),
                "issued_on": issued,
                "due_on": later(issued, v.s.due_days),
                "status": "cancelled" if cancelled else pick(rng, ["sent", "sent", "paid"]),
                "note": pick(rng, v.s.mistakes) if cancelled else "",
            }
            for row in mine:
                row["invoice_id"] = key

    def _corrections(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        """Some hours that are submitted were other hours at first."""
        sheets = state["timesheets"]
        lines = [r for r in state["time_entries"].values() if sheets[r["timesheet_id"]]["status"] != "open"]
        for n, line in enumerate(shuffled(rng, lines)[:4], start=1):
            day = pick(rng, [name for name in DAYS if line[name]])
            state["corrections"][key_of("COR", n)] = {
                "correction_id": key_of("COR", n),
                "time_entry_id": line["time_entry_id"],
                "field": day,
                "before": f"{line[day] + pick(rng, [0.5, 1.0, 1.5]):g}",
                "after": f"{line[day]:g}",
                "reason": pick(rng, v.s.reasons),
                "made_on": later(sheets[line["timesheet_id"]]["monday"], 7 + int(rng.integers(0, 3))),
            }


PATTERN = Timesheets
