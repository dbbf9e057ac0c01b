"""Board: projects with milestones and tasks, who works on what, what has to be done before, and what it takes.

A domain chooses whether finished work is reviewed by somebody else, and whether what a task takes (hours, money) is
only counted or capped by what was planned.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any, ClassVar

from pydantic import model_validator

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

PRIORITIES = ("low", "normal", "high", "urgent")


class Area(Part):
    """What a task needs and a person is good at; the registry has an attribute of the same name."""

    name: str
    """`team`"""
    about: str
    """What it means."""


class Effort(Part):
    """What a task takes."""

    planned: str
    """`estimated_hours`"""
    spent: str
    """`hours_spent`"""
    unit: str
    """`hours`"""
    tool: str
    """`log_hours`"""
    parameter: str
    """`hours`"""
    verb: str
    """`worked` in `Ann has worked 3 hours on it`."""
    range: tuple[int, int]
    """Least and greatest plan."""
    most: int
    """Most that one entry may have."""
    capped: bool = False
    """Whether no more than planned may be spent."""


class BoardSettings(Settings):
    """A project world's words and numbers."""

    project: str
    """`project`"""
    project_prefix: str
    """Prefix of the projects' ids."""
    projects: list[str]
    """Names, at least six."""
    milestone: str = "milestone"
    """`milestone`"""
    milestone_prefix: str = "MS"
    """Prefix of the milestones' ids."""
    milestones: list[str]
    """Names in the order of time, at least four."""
    task: str = "task"
    """`task`"""
    task_prefix: str
    """Prefix of the tasks' ids."""
    tasks: dict[str, list[str]]
    """Area → titles, none a part of another."""
    new_tasks: dict[str, list[str]]
    """Area → titles of tasks that may be added."""
    person: str = "person"
    """Who works on them: a registry's noun."""
    area: Area
    """What a task needs and a person is good at."""
    effort: Effort
    """What a task takes."""
    review: bool = False
    """Whether finished work is reviewed."""
    max_active: int = 2
    """Most tasks that a person has in progress."""

    @model_validator(mode="after")
    def _fits(self) -> "BoardSettings":
        if set(self.tasks) != set(self.new_tasks):
            raise ValueError("expected new_tasks for every area of tasks")
        titles = [
            title.lower() for pool in (*self.tasks.values(), *self.new_tasks.values()) for title in pool
        ]
        if any(one != other and one in other for one in titles for other in titles):
            raise ValueError("expected no title of a task to be a part of another")
        return self


def later(day: str, days: int) -> str:
    """The date so many days later."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


class TaskGoal(Goal):
    """What goals about tasks look up and ask of a state."""

    @property
    def task_id(self) -> str:
        """Name of the task's key."""
        return f"{self.v.t.id}_id"

    @property
    def project_id(self) -> str:
        """Name of the project's key."""
        return f"{self.v.j.id}_id"

    @property
    def person_id(self) -> str:
        """Name of the person's key."""
        return f"{self.v.p.id}_id"

    @property
    def milestone_id(self) -> str:
        """Name of the milestone's key."""
        return f"{self.v.m.id}_id"

    def tasks(self, state: State, *statuses: str, **fields: Any) -> list[dict[str, Any]]:
        """Tasks of these statuses with these values, what is due first in front."""
        rows = [
            row
            for row in state[self.v.t.ids].values()
            if (not statuses or row["status"] in statuses) and all(row[k] == v for k, v in fields.items())
        ]
        return sorted(rows, key=lambda row: (row["due_on"], row[self.task_id]))

    def task(self, slots: Slots, state: State, name: str = "title") -> dict[str, Any]:
        """The task a sentence names."""
        return dict(only([row for row in state[self.v.t.ids].values() if row["title"] == slots[name]]))

    def by_title(self, slots: Slots, name: str = "title") -> dict[str, Any]:
        """The call that finds a task."""
        return call(f"list_{self.v.t.ids}", text=slots[name])

    def id(self, index: int = 0) -> dict[str, Any]:
        """Argument with the task's id."""
        return {self.task_id: found(index, 0, self.task_id)}

    def project(self, slots: Slots, state: State) -> str:
        """Id of the project a sentence names."""
        return str(named(state, self.v.j, slots["project"])[self.project_id])

    def blocked(self, row: dict[str, Any], state: State) -> bool:
        """Whether something has to be done before a task."""
        return any(state[self.v.t.ids][key]["status"] != "done" for key in row["depends_on"])

    def active(self, state: State, person: str) -> int:
        """How many tasks a person has in progress."""
        return len(self.tasks(state, "in_progress", assignee_id=person))

    def runs(self, row: dict[str, Any], state: State) -> bool:
        """Whether the task's project is running."""
        return bool(state[self.v.j.ids][row[self.project_id]]["status"] == "running")

    def change(
        self, row: dict[str, Any], state: State, item: str, also: tuple[str, ...] = (), **fields: Any
    ) -> list[Outcome]:
        """The task has these values; whoever works on it, and what is overdue, are concerned."""
        late = [f"overdue {row[self.project_id]}"] if row["due_on"] < state["today"] else []
        who = [row["assignee_id"]] if row["assignee_id"] else []
        return [Changed(self.v.t.ids, row[self.task_id], fields, item, (*also, *late, *who))]


class Start(TaskGoal):
    """Start a task that nothing holds up."""

    phrases: ClassVar[tuple[str, ...]] = (
        'Work on the <<t>> "{title:text}" begins today, so please set it to in progress.',
        'Please start the <<t>> "{title:text}", as everything it depends on is done.',
        'The <<t>> "{title:text}" is being tackled from today on, please mark it as started.',
    )
    needs: ClassVar[tuple[str, ...]] = ("list_<<t.ids>>", "start_<<t.id>>")

    def fits(self, row: dict[str, Any], state: State) -> bool:
        """Whether a task can start."""
        who = state[self.v.p.ids].get(row["assignee_id"])
        return bool(
            row["status"] == "open"
            and who
            and who["status"] == "active"
            and self.active(state, row["assignee_id"]) < self.v.s.max_active
            and not self.blocked(row, state)
            and self.runs(row, state)
        )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in self.tasks(state, "open") if self.fits(row, state)]
        return {"title": pick(rng, rows)["title"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [self.by_title(slots), call(f"start_{self.v.t.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.task(slots, state)
        if not self.fits(row, state):
            raise LookupError("it cannot start")
        item = f"Is the {self.v.t} '{slots['title']}' in progress?"
        return self.change(row, state, item, (row[self.project_id],), status="in_progress")


class Finish(TaskGoal):
    """Finish a task, or hand it in for review."""

    phrases = (
        'The <<t>> "{title:text}" is finished, so please <<finish>> it.',
        'Please <<finish>> the <<t>> "{title:text}", all the work on it has been done.',
        'I hear that "{title:text}" is finished at last, so <<finish>> that <<t>>.',
    )
    needs = ("list_<<t.ids>>", "<<finish_tool>>_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.tasks(state, "in_progress")
        return {"title": pick(rng, rows)["title"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [self.by_title(slots), call(f"{self.v.finish_tool}_{self.v.t.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.task(slots, state)
        if row["status"] != "in_progress":
            raise LookupError("it is not in progress")
        status = "in_review" if self.v.s.review else "done"
        item = f"Is the {self.v.t} '{slots['title']}' now {status.replace('_', ' ')}?"
        return self.change(row, state, item, (row[self.v.k.name],), status=status)


class Approve(TaskGoal):
    """A review with a good end."""

    phrases = (
        'The <<p>> {name:name} has reviewed the <<t>> "{title:text}" and is happy with it, please approve it.',
        'Please approve the <<t>> "{title:text}" with <<p>> {name:name} as the reviewer.',
    )
    needs = ("find_<<p.ids>>", "list_<<t.ids>>", "approve_<<t.id>>")
    when = "s.review"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.tasks(state, "in_review")
        if not rows:
            return None
        row = pick(rng, rows)
        people = [
            p for k, p in state[self.v.p.ids].items() if k != row["assignee_id"] and p["status"] == "active"
        ]
        return {"title": row["title"], "name": pick(rng, people)["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        who = {"reviewer_id": found(0, 0, self.person_id)}
        return [
            call(f"find_{self.v.p.ids}", name=slots["name"]),
            self.by_title(slots),
            call(f"approve_{self.v.t.id}", **self.id(1), **who),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, who = self.task(slots, state), named(state, self.v.p, slots["name"])
        if row["status"] != "in_review" or row["assignee_id"] == who[self.person_id]:
            raise LookupError("it cannot be approved so")
        if who["status"] != "active":
            raise LookupError("the reviewer is away")
        item = f"Has the {self.v.t} '{slots['title']}' been approved by {slots['name']}?"
        also = (row[self.v.k.name], who[self.person_id])
        return self.change(row, state, item, also, status="done", reviewer_id=who[self.person_id])


class SendBack(TaskGoal):
    """A review that asks for more work."""

    phrases = (
        'The review of the <<t>> "{title:text}" found problems, so please send it back.',
        'Please send the <<t>> "{title:text}" back from review, it needs some more work.',
    )
    needs = ("list_<<t.ids>>", "send_back_<<t.id>>")
    when = "s.review"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [r for r in self.tasks(state, "in_review") if self.fits(r, state)]
        return {"title": pick(rng, rows)["title"]} if rows else None

    def fits(self, row: dict[str, Any], state: State) -> bool:
        """Whether whoever worked on it can go on."""
        room = self.active(state, row["assignee_id"]) < self.v.s.max_active
        return room and state[self.v.p.ids][row["assignee_id"]]["status"] == "active"

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [self.by_title(slots), call(f"send_back_{self.v.t.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.task(slots, state)
        if row["status"] != "in_review" or not self.fits(row, state):
            raise LookupError("it cannot be sent back")
        item = f"Is the {self.v.t} '{slots['title']}' in progress again?"
        return self.change(row, state, item, status="in_progress")


class Assign(TaskGoal):
    """Give a task to somebody."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<p>> {name:name} will take over the <<t>> "{title:text}", please assign it.',
        'Please assign the <<t>> "{title:text}" to <<p>> {name:name}.',
        '"{title:text}" should go to {name:name} from the same <<areawords>>, so please assign that <<t>>.',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "list_<<t.ids>>", "assign_<<t.id>>")

    def able(self, row: dict[str, Any], state: State) -> list[str]:
        """Who may be given a task."""
        return [
            key
            for key, who in state[self.v.p.ids].items()
            if who["status"] == "active" and who[self.v.k.name] == row[self.v.k.name]
        ]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row in shuffled(rng, self.tasks(state, "open")):
            people = [key for key in self.able(row, state) if key != row["assignee_id"]]
            if people:
                return {"title": row["title"], "name": state[self.v.p.ids][pick(rng, people)]["name"]}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        who = {"assignee_id": found(0, 0, self.person_id)}
        return [
            call(f"find_{self.v.p.ids}", name=slots["name"]),
            self.by_title(slots),
            call(f"assign_{self.v.t.id}", **self.id(1), **who),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, who = self.task(slots, state), named(state, self.v.p, slots["name"])[self.person_id]
        item = f"Has the {self.v.t} '{slots['title']}' been assigned to {slots['name']}?"
        return self.assigned(row, who, state, item)

    def assigned(self, row: dict[str, Any], who: str, state: State, item: str) -> list[Outcome]:
        """Somebody else has the task."""
        if who not in self.able(row, state) or row["status"] != "open" or row["assignee_id"] == who:
            raise LookupError("it cannot be assigned so")
        return self.change(row, state, item, (row[self.v.k.name], who), assignee_id=who)


class AssignLeastBusy(Assign):
    """Give a task to whoever has the least to do."""

    phrases = (
        'Whoever has the fewest unfinished <<t.many>> in the right <<areawords>> should get the <<t>> "{title:text}".',
        'Please assign the <<t>> "{title:text}" to the least busy <<p>> of its <<areawords>>.',
    )
    needs = ("list_<<t.ids>>", "list_workload", "assign_<<t.id>>")

    def least(self, row: dict[str, Any], state: State) -> str:
        """Who is meant."""
        loads = {
            key: len(self.tasks(state, *self.v.unfinished, assignee_id=key)) for key in self.able(row, state)
        }
        return str(only([key for key, load in loads.items() if load == min(loads.values())]))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.tasks(state, "open", assignee_id=None)
        return {"title": pick(rng, rows)["title"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        who = {"assignee_id": found(1, 0, self.person_id)}
        return [
            self.by_title(slots),
            call("list_workload", **{v.k.name: found(0, 0, v.k.name)}),
            call(f"assign_{v.t.id}", **self.id(), **who),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.task(slots, state)
        if row["assignee_id"] is not None:
            raise LookupError("somebody has it")
        item = f"Has the {self.v.t} '{slots['title']}' been assigned to the least busy {self.v.p} for it?"
        return self.assigned(row, self.least(row, state), state, item)


class Create(TaskGoal):
    """A new task for the next milestone of a project."""

    phrases = (
        'The <<j>> {project:name} needs another <<t>> for its next open <<m>>: "{title:text}" for the <<areawords>> '
        "{area:name}, <<plannedwords>> {planned:int}, priority {priority:name}, due on {due:date}.",
        'Please add the <<t>> "{title:text}" to the next open <<m>> of the <<j>> {project:name}, for the <<areawords>> '
        "{area:name} with priority {priority:name} and <<plannedwords>> {planned:int}, due by {due:date}.",
    )
    needs = ("find_<<j.ids>>", "list_<<m.ids>>", "create_<<t.id>>")

    def next(self, project: str, state: State) -> dict[str, Any]:
        """The next open milestone of a project."""
        rows = [
            m for m in state[self.v.m.ids].values() if m[self.project_id] == project and m["status"] == "open"
        ]
        if not rows:
            raise LookupError("nothing is planned")
        return dict(min(rows, key=lambda m: (m["due_on"], m[self.milestone_id])))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        s = self.v.s
        key = pick(rng, list(state[self.v.j.ids]))
        until = self.next(key, state)["due_on"]
        days = (date.fromisoformat(until) - date.fromisoformat(state["today"])).days
        if days < 2:
            return None
        area = pick(rng, self.v.areas)
        return {
            "project": state[self.v.j.ids][key]["name"],
            "title": pick(rng, s.new_tasks[area]),
            "area": area,
            "planned": int(rng.integers(*s.effort.range)),
            "priority": pick(rng, PRIORITIES),
            "due": later(state["today"], int(rng.integers(1, days + 1))),
        }

    def given(self, slots: Slots) -> dict[str, Any]:
        """What the sentence says of the task."""
        return {
            "title": slots["title"],
            self.v.k.name: slots["area"],
            self.v.f.planned: slots["planned"],
            "priority": slots["priority"],
            "due_on": slots["due"],
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, j, m = self.v, self.project_id, self.milestone_id
        keys = {j: found(0, 0, j), m: found(1, 0, m)}
        return [
            call(f"find_{v.j.ids}", text=slots["project"]),
            call(f"list_{v.m.ids}", **{j: found(0, 0, j)}, status="open"),
            call(f"create_{v.t.id}", **keys, **self.given(slots)),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, project = self.v, self.project(slots, state)
        milestone = self.next(project, state)
        taken = any(row["title"].lower() == slots["title"].lower() for row in state[v.t.ids].values())
        if taken or slots["area"] not in v.areas or state[v.j.ids][project]["status"] != "running":
            raise LookupError("it cannot be added")
        if not state["today"] <= slots["due"] <= milestone["due_on"]:
            raise LookupError("it cannot be due then")
        keys = {self.project_id: project, self.milestone_id: milestone[self.milestone_id]}
        item = f"Has the {v.t} '{slots['title']}' been added to the next {v.m} of {slots['project']}?"
        fields = {**keys, **self.given(slots), "assignee_id": None, "depends_on": [], "status": "open"}
        fields |= {v.s.effort.spent: 0, **({"reviewer_id": None} if v.s.review else {})}
        return [Added(v.t.ids, fields, item, (slots["title"],))]


class Log(TaskGoal):
    """What the one task of somebody took."""

    phrases = (
        "The <<p>> {name:name} <<f.verb>> {amount:int} <<f.unit>> on the <<t>> in progress, please log that.",
        "Please log {amount:int} <<f.unit>> on the <<t>> that <<p>> {name:name} has in progress.",
    )
    needs = ("find_<<p.ids>>", "list_<<t.ids>>", "<<f.tool>>")

    def current(self, slots: Slots, state: State) -> dict[str, Any]:
        """The task that somebody has in progress."""
        who = named(state, self.v.p, slots["name"])[self.person_id]
        return dict(only(self.tasks(state, "in_progress", assignee_id=who)))

    def room(self, row: dict[str, Any]) -> int:
        """Most that can be logged."""
        f = self.v.f
        return min(f.most, row[f.planned] - row[f.spent]) if f.capped else int(f.most)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in self.tasks(state, "in_progress") if self.room(row) > 1]
        if not rows:
            return None
        row = pick(rng, rows)
        amount = int(rng.integers(1, self.room(row) + 1))
        return {"name": state[self.v.p.ids][row["assignee_id"]]["name"], "amount": amount}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.t.ids}", assignee_id=found(0, 0, self.person_id), status="in_progress"),
            call(v.f.tool, **self.id(1), **{v.f.parameter: slots["amount"]}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, f = self.current(slots, state), self.v.f
        if not 1 <= slots["amount"] <= self.room(row):
            raise LookupError("that cannot be logged")
        item = f"Have {slots['amount']} {f.unit} been logged on the {self.v.t} of {slots['name']}?"
        return self.change(row, state, item, **{f.spent: row[f.spent] + slots["amount"]})


class Postpone(TaskGoal):
    """Another due day."""

    phrases = (
        'The <<t>> "{title:text}" takes longer than planned and is now due on {due:date}.',
        'Please change the due date of the <<t>> "{title:text}" to {due:date}.',
    )
    needs = ("list_<<t.ids>>", "set_<<t.id>>_due_date")

    def limit(self, row: dict[str, Any], state: State) -> str:
        """The last day on which a task may be due."""
        return str(state[self.v.m.ids][row[self.milestone_id]]["due_on"])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row in shuffled(rng, self.tasks(state, *self.v.unfinished)):
            start = max(row["due_on"], state["today"])
            days = (date.fromisoformat(self.limit(row, state)) - date.fromisoformat(start)).days
            if days > 1:
                return {"title": row["title"], "due": later(start, int(rng.integers(1, days + 1)))}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        tool = f"set_{self.v.t.id}_due_date"
        return [self.by_title(slots), call(tool, **self.id(), due_on=slots["due"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.task(slots, state)
        if not state["today"] <= slots["due"] <= self.limit(row, state) or row["status"] == "done":
            raise LookupError("it cannot be due then")
        if slots["due"] == row["due_on"]:
            raise LookupError("it is due then already")
        item = f"Is the {self.v.t} '{slots['title']}' due on {slots['due']}?"
        also = (f"overdue {row[self.project_id]}",)
        return self.change(row, state, item, also, due_on=slots["due"])


class RaiseMostOverdue(TaskGoal):
    """Another priority for what is overdue longest."""

    phrases = (
        "In the <<j>> {project:name}, whichever <<t>> has been overdue longest should get priority {priority:name}.",
        "Please set the priority of the longest overdue <<t>> of the <<j>> {project:name} to {priority:name}.",
    )
    needs = ("find_<<j.ids>>", "list_overdue_<<t.ids>>", "set_<<t.id>>_priority")

    def oldest(self, slots: Slots, state: State) -> dict[str, Any]:
        """The task that is meant."""
        project = {self.project_id: self.project(slots, state)}
        rows = [r for r in self.tasks(state, *self.v.unfinished, **project) if r["due_on"] < state["today"]]
        return dict(only([row for row in rows if row["due_on"] == rows[0]["due_on"]]))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {
            "project": pick(rng, list(state[self.v.j.ids].values()))["name"],
            "priority": pick(rng, PRIORITIES[2:]),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        return [
            call(f"find_{v.j.ids}", text=slots["project"]),
            call(f"list_overdue_{v.t.ids}", **{self.project_id: found(0, 0, self.project_id)}),
            call(f"set_{v.t.id}_priority", **self.id(1), priority=slots["priority"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.oldest(slots, state)
        if row["priority"] == slots["priority"] or slots["priority"] not in PRIORITIES:
            raise LookupError("the priority cannot be set so")
        item = (
            f"Has the longest overdue {self.v.t} of {slots['project']} got the priority {slots['priority']}?"
        )
        return self.change(row, state, item, priority=slots["priority"])


class Depend(TaskGoal):
    """One task has to wait for another."""

    phrases = (
        'The <<t>> "{title:text}" cannot start before "{other:text}" is done, please record that dependency.',
        'Please make the <<t>> "{title:text}" depend on the <<t>> "{other:text}".',
    )
    needs = ("list_<<t.ids>>", "add_dependency")

    def reaches(self, state: State, start: str, goal: str) -> bool:
        """Whether a task depends on another one, directly or not."""
        rows = state[self.v.t.ids]
        return start == goal or any(self.reaches(state, key, goal) for key in rows[start]["depends_on"])

    def fits(self, state: State, row: dict[str, Any], other: dict[str, Any]) -> bool:
        """Whether a task may wait for another one."""
        return (
            row["status"] == "open"
            and other["status"] != "done"
            and row[self.project_id] == other[self.project_id]
            and other[self.task_id] not in row["depends_on"]
            and not self.reaches(state, other[self.task_id], row[self.task_id])
        )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.tasks(state)
        for row in shuffled(rng, rows):
            others = [other for other in rows if self.fits(state, row, other)]
            if others:
                return {"title": row["title"], "other": pick(rng, others)["title"]}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        first = {"depends_on_id": found(1, 0, self.task_id)}
        return [
            self.by_title(slots),
            self.by_title(slots, "other"),
            call("add_dependency", **self.id(), **first),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, other = self.task(slots, state), self.task(slots, state, "other")
        if not self.fits(state, row, other):
            raise LookupError("the dependency is not allowed")
        waits = [*row["depends_on"], other[self.task_id]]
        item = f"Has it been recorded that '{slots['title']}' depends on '{slots['other']}'?"
        also = (other[self.task_id], f"dependencies {row[self.project_id]}")
        return self.change(row, state, item, also, depends_on=waits)


class Undepend(TaskGoal):
    """One task need no longer wait for another."""

    phrases = (
        'The <<t>> "{title:text}" no longer has to wait for "{other:text}", please remove that dependency.',
        'Please remove the dependency of the <<t>> "{title:text}" on the <<t>> "{other:text}".',
    )
    needs = ("list_<<t.ids>>", "remove_dependency")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in self.tasks(state, "open") if row["depends_on"]]
        if not rows:
            return None
        row = pick(rng, rows)
        return {"title": row["title"], "other": state[self.v.t.ids][pick(rng, row["depends_on"])]["title"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        first = {"depends_on_id": found(1, 0, self.task_id)}
        look_up = [self.by_title(slots), self.by_title(slots, "other")]
        return [*look_up, call("remove_dependency", **self.id(), **first)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, other = self.task(slots, state), self.task(slots, state, "other")
        if row["status"] != "open" or other[self.task_id] not in row["depends_on"]:
            raise LookupError("it does not wait for that")
        waits = [key for key in row["depends_on"] if key != other[self.task_id]]
        item = f"Has '{slots['title']}' been freed from waiting for '{slots['other']}'?"
        also = (other[self.task_id], f"dependencies {row[self.project_id]}")
        return self.change(row, state, item, also, depends_on=waits)


class Reach(Create):
    """A milestone whose tasks are all done."""

    phrases = (
        "All <<t.many>> of the next open <<m>> of the <<j>> {project:name} are done, so mark that <<m>> as reached.",
        "The <<j>> {project:name} has come to its next open <<m>>, please mark that <<m>> as reached.",
    )
    needs = ("find_<<j.ids>>", "list_<<m.ids>>", "reach_<<m.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row in shuffled(rng, list(state[self.v.j.ids].values())):
            slots = {"project": row["name"]}
            try:
                self.outcome(slots, state)
            except LookupError:
                continue
            return slots
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*super().plan({**slots, **dict.fromkeys(("title", "area", "planned", "priority", "due"))})[:2],
                call(f"reach_{self.v.m.id}", **{self.milestone_id: found(1, 0, self.milestone_id)})]  # fmt: skip

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        project = self.project(slots, state)
        milestone = self.next(project, state)
        rows = self.tasks(state, **{self.milestone_id: milestone[self.milestone_id]})
        if not rows or any(row["status"] != "done" for row in rows):
            raise LookupError("something is not done")
        item = f"Has the next {self.v.m} of {slots['project']} been marked as reached?"
        fields = {"status": "reached", "reached_on": state["today"]}
        return [Changed(self.v.m.ids, milestone[self.milestone_id], fields, item, (project,))]


class Pause(TaskGoal):
    """Put a project on hold."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The <<j>> {project:name} is being put on hold, please record that.",
        "Please put the <<j>> {project:name} on hold until further notice.",
    )
    needs = ("find_<<j.ids>>", "set_<<j.id>>_status")
    old, new = "running", "on_hold"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state[self.v.j.ids].values() if row["status"] == self.old]
        return {"project": pick(rng, rows)["name"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        which = {self.project_id: found(0, 0, self.project_id)}
        tool = f"set_{self.v.j.id}_status"
        return [call(f"find_{self.v.j.ids}", text=slots["project"]), call(tool, **which, status=self.new)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key = self.project(slots, state)
        if state[self.v.j.ids][key]["status"] != self.old:
            raise LookupError("it is so already")
        item = f"Is the {self.v.j} {slots['project']} now {self.new.replace('_', ' ')}?"
        return [Changed(self.v.j.ids, key, {"status": self.new}, item)]


class Resume(Pause):
    """Go on with a project."""

    phrases = (
        "The <<j>> {project:name} is no longer on hold, so please set it to running again.",
        "Please resume the <<j>> {project:name}, which is on hold at the moment.",
    )
    old, new = "on_hold", "running"


class Board(Pattern):
    """Projects, milestones and tasks."""

    Settings = BoardSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        Start, Finish, Approve, SendBack, Assign, AssignLeastBusy, Create, Log, Postpone, RaiseMostOverdue, Depend,
        Undepend, Reach, Pause, Resume,
    )  # fmt: skip

    def vocabulary(self, s: BoardSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        j, m, t = Noun(s.project), Noun(s.milestone), Noun(s.task)
        shared[s.project] = j
        shared[s.task] = t
        ways = ("open in_progress", "in_progress in_review", "in_review done", "in_review in_progress")
        steps = [way.split() for way in (ways if s.review else ("open in_progress", "in_progress done"))]
        return {
            "j": j,
            "m": m,
            "t": t,
            "p": shared[s.person],
            "k": s.area,
            "f": s.effort,
            "areas": list(s.tasks),
            "areawords": s.area.name.replace("_", " "),
            "plannedwords": s.effort.planned.replace("_", " "),
            "finish_tool": "submit" if s.review else "complete",
            "finish": "submit" if s.review else "complete",
            "unfinished": ["open", "in_progress", *(["in_review"] if s.review else [])],
            "statuses": ["open", "in_progress", *(["in_review"] if s.review else []), "done"],
            "steps": ", ".join(f'("{one}", "{two}")' for one, two in steps),
            "filters": [x for x in s.extras if x.filter],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, j, m, p = v.s, v.j, v.m, v.p
        project = Table(
            j,
            f"{j.a[:1].upper()}{j.a[1:]} with its {v.t.many}.",
            [
                attribute(f"{j.id}_id", "str", f"unique id, e.g. {s.project_prefix}-001"),
                attribute("name", "str", "what it is called, unique"),
                attribute("lead_id", "str", f"the {p} who leads it"),
                *own(s.extras),
                attribute("status", "str", "running or on_hold; nothing starts while it is on hold"),
            ],
        )
        milestone = Table(
            m,
            f"{m.a[:1].upper()}{m.a[1:]} of {j.a}.",
            [
                attribute(f"{m.id}_id", "str", f"unique id, e.g. {s.milestone_prefix}-001"),
                attribute(f"{j.id}_id", "str", f"the {j} it belongs to"),
                attribute("name", "str", "what it is called"),
                attribute("due_on", "str", "day by which it should be reached, as YYYY-MM-DD"),
                attribute("reached_on", "str | None", "day it was reached, None before"),
                attribute("status", "str", "open or reached"),
            ],
        )
        return [project, milestone, self._task_table(v)]

    def _task_table(self, v: SimpleNamespace) -> Table:
        s, j, m, t, p, f = v.s, v.j, v.m, v.t, v.p, v.f
        reviewer = [attribute("reviewer_id", "str | None", f"the {p} who approved it, None before")]
        return Table(
            t,
            f"{t.a[:1].upper()}{t.a[1:]} of {j.a}.",
            [
                attribute(f"{t.id}_id", "str", f"unique id, e.g. {s.task_prefix}-001"),
                attribute(f"{j.id}_id", "str", f"the {j} it belongs to"),
                attribute(f"{m.id}_id", "str", f"the {m} it is needed for"),
                attribute("title", "str", "what is to be done, unique"),
                attribute(v.k.name, "str", f"{v.k.about}: {', '.join(v.areas)}"),
                attribute("assignee_id", "str | None", f"the {p} who works on it, None while nobody does"),
                attribute("priority", "str", "low, normal, high or urgent"),
                attribute("due_on", "str", f"day it is due, as YYYY-MM-DD, no later than its {m}"),
                attribute(f.planned, "int", f"planned {f.unit}, at least 1"),
                attribute(f.spent, "int", f"{f.unit} spent so far"),
                attribute(
                    "depends_on", "list[str]", f"ids of the {t.many} that have to be done before it starts"
                ),
                *(reviewer if s.review else []),
                attribute("status", "str", f"{', '.join(v.statuses[:-1])} or {v.statuses[-1]}"),
            ],
        )

    RULES = (
        RuleText(
            "<<t.a[:1]|upper>><<t.a[1:]>> only starts when every <<t>> it depends on is done.",
            """
            known = rows(before, "<<t.ids>>")
            for old, new in changed("<<t.ids>>", "status"):
                if (old.get("status"), new.get("status")) != ("open", "in_progress"):
                    continue
                waits = old.get("depends_on")
                for key in waits if isinstance(waits, list) else []:
                    if known.get(str(key), {}).get("status") != "done":
                        return False
            return True
            """,
        ),
        RuleText(
            "No <<t>> depends on itself, directly or through others, and dependencies stay within one <<j>>.",
            """
            known = rows(after, "<<t.ids>>")
            waits = {k: [str(d) for d in r.get("depends_on", [])] if isinstance(r.get("depends_on"), list) else []
                     for k, r in known.items()}
            for key, row in known.items():
                if any(known.get(d, row).get("<<j.id>>_id") != row.get("<<j.id>>_id") for d in waits[key]):
                    return False
                seen, open_ = set(), list(waits[key])
                while open_:
                    step = open_.pop()
                    if step == key:
                        return False
                    if step not in seen:
                        seen.add(step)
                        open_ += waits.get(step, [])
            return True
            """,
        ),
        RuleText(
            "Nobody has more than <<s.max_active>> <<t.many>> in progress at a time.",
            """
            counts = {}
            for row in rows(after, "<<t.ids>>").values():
                if row.get("status") == "in_progress":
                    person = str(row.get("assignee_id"))
                    counts[person] = counts.get(person, 0) + 1
            return all(count <= <<s.max_active>> for count in counts.values())
            """,
        ),
        RuleText(
            "<<t.a[:1]|upper>><<t.a[1:]>> is given to an active <<p>> of its own <<areawords>> while it is open.",
            """
            people = rows(before, "<<p.ids>>")
            for old, new in changed("<<t.ids>>", "assignee_id"):
                person = people.get(str(new.get("assignee_id")), {})
                if old.get("status") != "open" or person.get("status") != "active":
                    return False
                if person.get("<<k.name>>") != new.get("<<k.name>>"):
                    return False
            return True
            """,
        ),
        RuleText(
            "<<t.a[:1]|upper>><<t.a[1:]>> goes from open to in progress<<', in review' if s.review else ''>> and done"
            "<<'; a review can send it back' if s.review else ', and never back'>>.",
            """
            steps = (<<steps>>)
            moves = [(old.get("status"), new.get("status")) for old, new in changed("<<t.ids>>", "status")]
            return all(move in steps for move in moves)
            """,
        ),
        RuleText(
            "No <<t>> is due later than its <<m>>.",
            """
            ends = rows(after, "<<m.ids>>")
            for row in rows(after, "<<t.ids>>").values():
                end, due = ends.get(str(row.get("<<m.id>>_id")), {}).get("due_on"), row.get("due_on")
                if isinstance(end, str) and isinstance(due, str) and due > end:
                    return False
            return True
            """,
        ),
        RuleText(
            "<<m.a[:1]|upper>><<m.a[1:]>> is only reached when all its <<t.many>> are done.",
            """
            for old, new in changed("<<m.ids>>", "status"):
                for row in rows(after, "<<t.ids>>").values():
                    if row.get("<<m.id>>_id") == new.get("<<m.id>>_id") and row.get("status") != "done":
                        return False
            return True
            """,
        ),
        RuleText(
            "Whoever worked on <<t.a>> does not approve it.",
            """
            return all(
                row.get("reviewer_id") is None or row.get("reviewer_id") != row.get("assignee_id")
                for row in rows(after, "<<t.ids>>").values()
            )
            """,
            when="s.review",
        ),
        RuleText(
            "No more <<f.unit>> are spent on <<t.a>> than its <<plannedwords>>.",
            """
            for row in rows(after, "<<t.ids>>").values():
                spent, planned = row.get("<<f.spent>>"), row.get("<<f.planned>>")
                if isinstance(spent, int) and isinstance(planned, int) and spent > planned:
                    return False
            return True
            """,
            when="f.capped",
        ),
        RuleText(
            "While <<j.a>> is on hold, nothing in it starts and nothing is added.",
            """
            known = rows(before, "<<j.ids>>")
            begun = [new for old, new in changed("<<t.ids>>", "status") if old.get("status") == "open"]
            return all(
                known.get(str(row.get("<<j.id>>_id")), {}).get("status") == "running"
                for row in [*begun, *added("<<t.ids>>")]
            )
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    def _unfinished(self, <<t.id>>: <<t.type>>) -> list[str]:
        """Return the ids of what <<t.a>> depends on and is not done."""
        return [key for key in <<t.id>>["depends_on"] if self.<<t.ids>>[key]["status"] != "done"]

    def _in_progress(self, <<p.id>>_id: str | None) -> int:
        """Return how many <<t.many>> <<p.a>> has in progress."""
        return sum(
            <<t.id>>["assignee_id"] == <<p.id>>_id and <<t.id>>["status"] == "in_progress"
            for <<t.id>> in self.<<t.ids>>.values()
        )

    def _leads_to(self, start: str, goal: str) -> bool:
        """Tell whether the <<t>> `start` is `goal` or depends on it, directly or through others."""
        if start == goal:
            return True
        return any(self._leads_to(key, goal) for key in self.<<t.ids>>[start]["depends_on"])

    def _due_fault(self, due_on: str, <<m.id>>: <<m.type>>) -> str | None:
        """Return why <<t.a>> of <<m.a>> cannot be due on a day."""
        try:
            written_so = date.fromisoformat(due_on).isoformat() == due_on
        except ValueError:
            written_so = False
        if not written_so:
            return f"{due_on!r} is not a date like {self.today}."
        if due_on < self.today:
            return f"{due_on} is in the past; today is {self.today}."
        if due_on > <<m.id>>["due_on"]:
            return f"{<<m.id>>['name']} is due on {<<m.id>>['due_on']}, before {due_on}."
        return None
'''

    READS = '''
def find_<<j.ids>>(
    self,
    text: str | None = None,
    status: str | None = None,
%% for x in filters
    <<x.name>>: <<x.type>> | None = None,
%% endfor
) -> dict:
    """Search the <<j.many>>.

    Args:
        text: A part of the name; upper and lower case are the same. Leave out for all.
        status: Only those that are running or on_hold. Leave out for all.
%% for x in filters
        <<x.name>>: Only those with this value: <<x.about>>. Leave out for all.
%% endfor

    Returns:
        The matching <<j.many>> sorted by name; an empty list when nothing matches.
    """
    if status not in (None, "running", "on_hold"):
        return {"success": False, "error": f"The status is running or on_hold, not {status!r}."}
    wanted = (text or "").strip().lower()
    matches = [
        dict(<<j.id>>)
        for <<j.id>> in self.<<j.ids>>.values()
        if wanted in <<j.id>>["name"].lower()
        and status in (None, <<j.id>>["status"])
%% for x in filters
        and <<x.name>> in (None, <<j.id>>["<<x.name>>"])
%% endfor
    ]
    return {"success": True, "data": sorted(matches, key=lambda <<j.id>>: <<j.id>>["name"])}

def get_<<j.id>>(self, <<j.id>>_id: str) -> dict:
    """Show one <<j>> with how far its <<t.many>> are.

    Args:
        <<j.id>>_id: Id of the <<j>>, e.g. <<s.project_prefix>>-001.

    Returns:
        The <<j>>, its number of <<t.many>> by status and the <<f.unit>> planned and spent, or an error.
    """
    <<j.id>> = self.<<j.ids>>.get(<<j.id>>_id)
    if <<j.id>> is None:
        return {"success": False, "error": f"There is no <<j>> with the id {<<j.id>>_id!r}."}
    own = [<<t.id>> for <<t.id>> in self.<<t.ids>>.values() if <<t.id>>["<<j.id>>_id"] == <<j.id>>_id]
    return {
        "success": True,
        "data": {
            **<<j.id>>,
            "<<t.ids>>_by_status": {
                status: sum(<<t.id>>["status"] == status for <<t.id>> in own)
                for status in (<<quoted(statuses)>>)
            },
            "planned_<<f.parameter>>": sum(<<t.id>>["<<f.planned>>"] for <<t.id>> in own),
            "spent_<<f.parameter>>": sum(<<t.id>>["<<f.spent>>"] for <<t.id>> in own),
        },
    }

def list_<<t.ids>>(
    self,
    text: str | None = None,
    <<j.id>>_id: str | None = None,
    assignee_id: str | None = None,
    <<k.name>>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<t.many>>, what is due first in front.

    Args:
        text: A part of the title; upper and lower case are the same. Leave out for all.
        <<j.id>>_id: Only those of this <<j>>. Leave out for all.
        assignee_id: Only those of this <<p>>. Leave out for all.
        <<k.name>>: Only this <<areawords>>: <<areas|join(", ")>>. Leave out for all.
        status: Only this status: <<statuses|join(", ")>>. Leave out for all.

    Returns:
        The matching <<t.many>>; an empty list when there are none.
    """
    if status is not None and status not in (<<quoted(statuses)>>):
        return {"success": False, "error": f"There is no status {status!r}."}
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(areas)>>):
        return {"success": False, "error": f"There is no <<areawords>> {<<k.name>>!r}."}
    wanted = (text or "").strip().lower()
    selected = [
        dict(<<t.id>>)
        for <<t.id>> in self.<<t.ids>>.values()
        if wanted in <<t.id>>["title"].lower()
        and <<j.id>>_id in (None, <<t.id>>["<<j.id>>_id"])
        and assignee_id in (None, <<t.id>>["assignee_id"])
        and <<k.name>> in (None, <<t.id>>["<<k.name>>"])
        and status in (None, <<t.id>>["status"])
    ]
    selected.sort(key=lambda <<t.id>>: (<<t.id>>["due_on"], <<t.id>>["<<t.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Show one <<t>> with what holds it up and what waits for it.

    Args:
        <<t.id>>_id: Id of the <<t>>, e.g. <<s.task_prefix>>-001.

    Returns:
        The <<t>>, the ids of unfinished <<t.many>> it waits for and of those that wait for it, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    return {
        "success": True,
        "data": {
            **<<t.id>>,
            "waits_for": self._unfinished(<<t.id>>),
            "holds_up": sorted(key for key, other in self.<<t.ids>>.items() if <<t.id>>_id in other["depends_on"]),
        },
    }

def list_blocked_<<t.ids>>(self, <<j.id>>_id: str | None = None) -> dict:
    """List the open <<t.many>> that cannot start because something before them is not done.

    Args:
        <<j.id>>_id: Only those of this <<j>>. Leave out for all.

    Returns:
        The blocked <<t.many>>, each with the ids it `waits_for`, what is due first in front.
    """
    blocked = [
        {**<<t.id>>, "waits_for": self._unfinished(<<t.id>>)}
        for <<t.id>> in self.<<t.ids>>.values()
        if <<t.id>>["status"] == "open"
        and <<j.id>>_id in (None, <<t.id>>["<<j.id>>_id"])
        and self._unfinished(<<t.id>>)
    ]
    return {"success": True, "data": sorted(blocked, key=lambda entry: (entry["due_on"], entry["<<t.id>>_id"]))}

def list_overdue_<<t.ids>>(self, <<j.id>>_id: str | None = None) -> dict:
    """List the <<t.many>> that should have been done before today, the longest overdue first.

    Args:
        <<j.id>>_id: Only those of this <<j>>. Leave out for all.

    Returns:
        The overdue <<t.many>>; an empty list when there are none.
    """
    overdue = [
        dict(<<t.id>>)
        for <<t.id>> in self.<<t.ids>>.values()
        if <<t.id>>["status"] != "done"
        and <<t.id>>["due_on"] < self.today
        and <<j.id>>_id in (None, <<t.id>>["<<j.id>>_id"])
    ]
    return {"success": True, "data": sorted(overdue, key=lambda entry: (entry["due_on"], entry["<<t.id>>_id"]))}

def list_<<m.ids>>(self, <<j.id>>_id: str | None = None, status: str | None = None) -> dict:
    """List <<m.many>> in the order in which they are due.

    Args:
        <<j.id>>_id: Only those of this <<j>>. Leave out for all.
        status: Only those that are open or reached. Leave out for all.

    Returns:
        The matching <<m.many>>; an empty list when there are none.
    """
    if status not in (None, "open", "reached"):
        return {"success": False, "error": f"The status is open or reached, not {status!r}."}
    selected = [
        dict(<<m.id>>)
        for <<m.id>> in self.<<m.ids>>.values()
        if <<j.id>>_id in (None, <<m.id>>["<<j.id>>_id"]) and status in (None, <<m.id>>["status"])
    ]
    selected.sort(key=lambda <<m.id>>: (<<m.id>>["due_on"], <<m.id>>["<<m.id>>_id"]))
    return {"success": True, "data": selected}

def list_workload(self, <<k.name>>: str | None = None) -> dict:
    """List the active <<p.many>> with their unfinished <<t.many>>, the least busy first.

    Args:
        <<k.name>>: Only this <<areawords>>: <<areas|join(", ")>>. Leave out for all.

    Returns:
        Id, name and <<areawords>> of each with the numbers of <<t.many>> unfinished and in progress.
    """
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(areas)>>):
        return {"success": False, "error": f"There is no <<areawords>> {<<k.name>>!r}."}
    loads = [
        {
            "<<p.id>>_id": key,
            "name": <<p.id>>["name"],
            "<<k.name>>": <<p.id>>["<<k.name>>"],
            "unfinished": sum(
                entry["assignee_id"] == key and entry["status"] != "done" for entry in self.<<t.ids>>.values()
            ),
            "in_progress": self._in_progress(key),
        }
        for key, <<p.id>> in self.<<p.ids>>.items()
        if <<p.id>>["status"] == "active" and <<k.name>> in (None, <<p.id>>["<<k.name>>"])
    ]
    return {"success": True, "data": sorted(loads, key=lambda entry: (entry["unfinished"], entry["<<p.id>>_id"]))}
'''

    WRITES = '''
def create_<<t.id>>(
    self,
    <<j.id>>_id: str,
    <<m.id>>_id: str,
    title: str,
    <<k.name>>: str,
    <<f.planned>>: int,
    due_on: str,
    priority: str = "normal",
) -> dict:
    """Add <<t.a>> to <<j.a>>; nobody works on it yet.

    Args:
        <<j.id>>_id: Id of the <<j>>, which has to be running.
        <<m.id>>_id: Id of an open <<m>> of that <<j>>.
        title: What is to be done; no other <<t>> may have this title.
        <<k.name>>: One of <<areas|join(", ")>>.
        <<f.planned>>: Planned <<f.unit>>, at least 1.
        due_on: Day it is due, as YYYY-MM-DD; not in the past and no later than the <<m>>.
        priority: low, normal, high or urgent.

    Returns:
        The new <<t>>, or an error.
    """
    <<j.id>> = self.<<j.ids>>.get(<<j.id>>_id)
    if <<j.id>> is None:
        return {"success": False, "error": f"There is no <<j>> with the id {<<j.id>>_id!r}."}
    <<m.id>> = self.<<m.ids>>.get(<<m.id>>_id)
    if <<m.id>> is None:
        return {"success": False, "error": f"There is no <<m>> with the id {<<m.id>>_id!r}."}
    if <<j.id>>["status"] != "running":
        return {"success": False, "error": f"{<<j.id>>['name']} is on hold."}
    if <<m.id>>["<<j.id>>_id"] != <<j.id>>_id or <<m.id>>["status"] != "open":
        return {"success": False, "error": f"{<<m.id>>_id} is no open <<m>> of {<<j.id>>['name']}."}
    if not title.strip():
        return {"success": False, "error": "A title is required."}
    if any(entry["title"].lower() == title.strip().lower() for entry in self.<<t.ids>>.values()):
        return {"success": False, "error": f"There is <<t.a>> {title.strip()!r} already."}
    if <<k.name>> not in (<<quoted(areas)>>):
        return {"success": False, "error": f"There is no <<areawords>> {<<k.name>>!r}."}
    if <<f.planned>> < 1:
        return {"success": False, "error": f"The <<plannedwords>> must be at least 1, not {<<f.planned>>}."}
    if priority not in ("low", "normal", "high", "urgent"):
        return {"success": False, "error": f"There is no priority {priority!r}."}
    fault = self._due_fault(due_on, <<m.id>>)
    if fault is not None:
        return {"success": False, "error": fault}
    <<t.id>>: <<t.type>> = {
        "<<t.id>>_id": self._next_id(self.<<t.ids>>, "<<s.task_prefix>>"),
        "<<j.id>>_id": <<j.id>>_id,
        "<<m.id>>_id": <<m.id>>_id,
        "title": title.strip(),
        "<<k.name>>": <<k.name>>,
        "assignee_id": None,
        "priority": priority,
        "due_on": due_on,
        "<<f.planned>>": <<f.planned>>,
        "<<f.spent>>": 0,
        "depends_on": [],
%% if s.review
        "reviewer_id": None,
%% endif
        "status": "open",
    }
    self.<<t.ids>>[<<t.id>>["<<t.id>>_id"]] = <<t.id>>
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>['<<t.id>>_id']} added.", "data": dict(<<t.id>>)}

def assign_<<t.id>>(self, <<t.id>>_id: str, assignee_id: str) -> dict:
    """Give an open <<t>> to <<p.a>>, or to another one than before.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be open.
        assignee_id: Id of an active <<p>> of the same <<areawords>>.

    Returns:
        The changed <<t>>, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    <<p.id>> = self.<<p.ids>>.get(assignee_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {assignee_id!r}."}
    if <<t.id>>["status"] != "open":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not open."}
    if <<t.id>>["assignee_id"] == assignee_id:
        return {"success": False, "error": f"{<<p.id>>['name']} has {<<t.id>>_id} already."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    if <<p.id>>["<<k.name>>"] != <<t.id>>["<<k.name>>"]:
        return {"success": False, "error": f"{<<p.id>>['name']} does not do {<<t.id>>['<<k.name>>']}."}
    <<t.id>>["assignee_id"] = assignee_id
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>_id} goes to {<<p.id>>['name']}.", "data": dict(<<t.id>>)}

def start_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Start <<t.a>> that somebody has and nothing holds up.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be open; all it depends on is done, its <<j>> is running, and whoever
            has it is active, with fewer than <<s.max_active>> <<t.many>> in progress.

    Returns:
        The <<t>>, now in progress, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if <<t.id>>["status"] != "open":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not open."}
    if <<t.id>>["assignee_id"] is None:
        return {"success": False, "error": f"Nobody has {<<t.id>>_id}; assign it first."}
    if self.<<j.ids>>[<<t.id>>["<<j.id>>_id"]]["status"] != "running":
        return {"success": False, "error": f"The <<j>> of {<<t.id>>_id} is on hold."}
    unfinished = self._unfinished(<<t.id>>)
    if unfinished:
        return {"success": False, "error": f"{<<t.id>>_id} waits for {', '.join(unfinished)}."}
    <<p.id>> = self.<<p.ids>>[<<t.id>>["assignee_id"]]
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}."}
    if self._in_progress(<<t.id>>["assignee_id"]) >= <<s.max_active>>:
        return {"success": False, "error": f"{<<p.id>>['name']} has <<s.max_active>> <<t.many>> in progress already."}
    <<t.id>>["status"] = "in_progress"
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>_id} is in progress.", "data": dict(<<t.id>>)}
%% if s.review

def submit_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Hand in <<t.a>> for review.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be in progress.

    Returns:
        The <<t>>, now in review, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if <<t.id>>["status"] != "in_progress":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not in_progress."}
    <<t.id>>["status"] = "in_review"
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>_id} is in review.", "data": dict(<<t.id>>)}

def approve_<<t.id>>(self, <<t.id>>_id: str, reviewer_id: str) -> dict:
    """Approve <<t.a>> after a review; it is then done.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be in review.
        reviewer_id: Id of the active <<p>> who reviewed it, not the one who worked on it.

    Returns:
        The <<t>>, now done, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    <<p.id>> = self.<<p.ids>>.get(reviewer_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {reviewer_id!r}."}
    if <<t.id>>["status"] != "in_review":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not in_review."}
    if <<t.id>>["assignee_id"] == reviewer_id:
        return {"success": False, "error": f"{<<p.id>>['name']} worked on {<<t.id>>_id} and cannot approve it."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}."}
    <<t.id>>["reviewer_id"] = reviewer_id
    <<t.id>>["status"] = "done"
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>_id} is done.", "data": dict(<<t.id>>)}

def send_back_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Send <<t.a>> back from review to whoever worked on it.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be in review; whoever worked on it has fewer than <<s.max_active>>
            in progress.

    Returns:
        The <<t>>, in progress again, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if <<t.id>>["status"] != "in_review":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not in_review."}
    if self._in_progress(<<t.id>>["assignee_id"]) >= <<s.max_active>>:
        return {"success": False, "error": "Whoever worked on it has <<s.max_active>> <<t.many>> in progress already."}
    <<t.id>>["status"] = "in_progress"
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>_id} is in progress again.", "data": dict(<<t.id>>)}
%% else

def complete_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Complete <<t.a>> that is in progress.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be in progress.

    Returns:
        The <<t>>, now done, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if <<t.id>>["status"] != "in_progress":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not in_progress."}
    <<t.id>>["status"] = "done"
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>_id} is done.", "data": dict(<<t.id>>)}
%% endif

def <<f.tool>>(self, <<t.id>>_id: str, <<f.parameter>>: int) -> dict:
    """Log <<f.unit>> spent on <<t.a>>.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be in progress.
%% if f.capped
        <<f.parameter>>: 1 to <<f.most>> at a time, and no more than its <<plannedwords>> leaves.
%% else
        <<f.parameter>>: 1 to <<f.most>> at a time; more than planned is allowed.
%% endif

    Returns:
        The <<t>> with the <<f.unit>> spent so far, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if <<t.id>>["status"] != "in_progress":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not in_progress."}
    if not 1 <= <<f.parameter>> <= <<f.most>>:
        return {"success": False, "error": f"1 to <<f.most>> <<f.unit>> can be logged, not {<<f.parameter>>}."}
%% if f.capped
    left = <<t.id>>["<<f.planned>>"] - <<t.id>>["<<f.spent>>"]
    if <<f.parameter>> > left:
        return {"success": False, "error": f"Only {left} <<f.unit>> are left for {<<t.id>>_id}."}
%% endif
    <<t.id>>["<<f.spent>>"] += <<f.parameter>>
    return {
        "success": True,
        "message": f"{<<f.parameter>>} <<f.unit>> logged on {<<t.id>>_id}.",
        "data": dict(<<t.id>>),
    }

def set_<<t.id>>_due_date(self, <<t.id>>_id: str, due_on: str) -> dict:
    """Change the day on which <<t.a>> is due.

    Args:
        <<t.id>>_id: Id of the <<t>>, which is not done.
        due_on: New day, as YYYY-MM-DD; not in the past and no later than its <<m>>.

    Returns:
        The changed <<t>>, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if <<t.id>>["status"] == "done":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is done."}
    fault = self._due_fault(due_on, self.<<m.ids>>[<<t.id>>["<<m.id>>_id"]])
    if fault is not None:
        return {"success": False, "error": fault}
    if due_on == <<t.id>>["due_on"]:
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is due on {due_on} already."}
    <<t.id>>["due_on"] = due_on
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>_id} is due on {due_on}.", "data": dict(<<t.id>>)}

def set_<<t.id>>_priority(self, <<t.id>>_id: str, priority: str) -> dict:
    """Change the priority of <<t.a>>.

    Args:
        <<t.id>>_id: Id of the <<t>>, which is not done.
        priority: low, normal, high or urgent; another one than before.

    Returns:
        The changed <<t>>, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if <<t.id>>["status"] == "done":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is done."}
    if priority not in ("low", "normal", "high", "urgent"):
        return {"success": False, "error": f"There is no priority {priority!r}."}
    if priority == <<t.id>>["priority"]:
        return {"success": False, "error": f"The priority of {<<t.id>>_id} is {priority} already."}
    <<t.id>>["priority"] = priority
    return {"success": True, "message": f"<<t.cap>> {<<t.id>>_id} is now {priority}.", "data": dict(<<t.id>>)}

def add_dependency(self, <<t.id>>_id: str, depends_on_id: str) -> dict:
    """Make <<t.a>> wait until another one of the same <<j>> is done.

    Args:
        <<t.id>>_id: Id of the <<t>> that waits, which must be open.
        depends_on_id: Id of the <<t>> that has to be done before; it may not depend on the first one itself.

    Returns:
        The <<t>> with all it depends on, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    first = self.<<t.ids>>.get(depends_on_id)
    if first is None:
        return {"success": False, "error": f"There is no <<t>> with the id {depends_on_id!r}."}
    if <<t.id>>["status"] != "open":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not open."}
    if depends_on_id == <<t.id>>_id:
        return {"success": False, "error": f"{<<t.id>>_id} cannot depend on itself."}
    if first["<<j.id>>_id"] != <<t.id>>["<<j.id>>_id"]:
        return {"success": False, "error": f"{<<t.id>>_id} and {depends_on_id} belong to different <<j.many>>."}
    if depends_on_id in <<t.id>>["depends_on"]:
        return {"success": False, "error": f"{<<t.id>>_id} depends on {depends_on_id} already."}
    if self._leads_to(depends_on_id, <<t.id>>_id):
        return {"success": False, "error": f"{depends_on_id} waits for {<<t.id>>_id}; that would be a circle."}
    <<t.id>>["depends_on"] = [*<<t.id>>["depends_on"], depends_on_id]
    return {
        "success": True,
        "message": f"{<<t.id>>_id} now depends on {depends_on_id}.",
        "data": dict(<<t.id>>),
    }

def remove_dependency(self, <<t.id>>_id: str, depends_on_id: str) -> dict:
    """Let <<t.a>> no longer wait for another one.

    Args:
        <<t.id>>_id: Id of the <<t>> that waits, which must be open.
        depends_on_id: Id of the <<t>> it does not need to wait for any more.

    Returns:
        The <<t>> with all it still depends on, or an error.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    if depends_on_id not in <<t.id>>["depends_on"]:
        return {"success": False, "error": f"{<<t.id>>_id} does not depend on {depends_on_id!r}."}
    if <<t.id>>["status"] != "open":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}; it waits for nothing."}
    <<t.id>>["depends_on"] = [key for key in <<t.id>>["depends_on"] if key != depends_on_id]
    return {
        "success": True,
        "message": f"{<<t.id>>_id} no longer waits for {depends_on_id}.",
        "data": dict(<<t.id>>),
    }

def reach_<<m.id>>(self, <<m.id>>_id: str) -> dict:
    """Mark <<m.a>> as reached today.

    Args:
        <<m.id>>_id: Id of the <<m>>, which must be open; it has <<t.many>>, and all of them are done.

    Returns:
        The reached <<m>>, or an error.
    """
    <<m.id>> = self.<<m.ids>>.get(<<m.id>>_id)
    if <<m.id>> is None:
        return {"success": False, "error": f"There is no <<m>> with the id {<<m.id>>_id!r}."}
    if <<m.id>>["status"] != "open":
        return {"success": False, "error": f"{<<m.id>>['name']} was reached on {<<m.id>>['reached_on']}."}
    own = [<<t.id>> for <<t.id>> in self.<<t.ids>>.values() if <<t.id>>["<<m.id>>_id"] == <<m.id>>_id]
    if not own:
        return {"success": False, "error": f"{<<m.id>>['name']} has no <<t.many>> yet."}
    missing = sum(<<t.id>>["status"] != "done" for <<t.id>> in own)
    if missing:
        return {"success": False, "error": f"{missing} of {len(own)} <<t.many>> of {<<m.id>>['name']} are not done."}
    <<m.id>>["status"] = "reached"
    <<m.id>>["reached_on"] = self.today
    return {"success": True, "message": f"{<<m.id>>['name']} reached.", "data": dict(<<m.id>>)}

def set_<<j.id>>_status(self, <<j.id>>_id: str, status: str) -> dict:
    """Put <<j.a>> on hold or let it run again; <<t.many>> in progress go on.

    Args:
        <<j.id>>_id: Id of the <<j>>.
        status: running or on_hold; another one than before.

    Returns:
        The changed <<j>>, or an error.
    """
    <<j.id>> = self.<<j.ids>>.get(<<j.id>>_id)
    if <<j.id>> is None:
        return {"success": False, "error": f"There is no <<j>> with the id {<<j.id>>_id!r}."}
    if status not in ("running", "on_hold"):
        return {"success": False, "error": f"The status is running or on_hold, not {status!r}."}
    if status == <<j.id>>["status"]:
        return {"success": False, "error": f"{<<j.id>>['name']} is {status} already."}
    <<j.id>>["status"] = status
    return {"success": True, "message": f"{<<j.id>>['name']} is {status}.", "data": dict(<<j.id>>)}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        for area in v.areas:
            self._somebody_for(area, v.k.name, list(state[v.p.ids].values()))
        leads = [key for key, row in state[v.p.ids].items() if row["status"] == "active"]
        for n, name in enumerate(shuffled(rng, s.projects)[:4]):
            key = key_of(s.project_prefix, n + 1)
            state[v.j.ids][key] = {
                f"{v.j.id}_id": key,
                "name": name,
                "lead_id": pick(rng, leads),
                **{x.name: x.draw(rng) for x in s.extras},
                "status": "on_hold" if n == 3 else "running",
            }
            self._milestones(v, state, rng, key, later(today, int(rng.integers(-12, 12))))
        titles = shuffled(rng, [(area, title) for area in v.areas for title in s.tasks[area]])
        ripe = next((key for key, row in state[v.m.ids].items() if row["status"] == "open"), "")
        for milestone, (area, title) in zip(self._places(v, state, rng), titles[:28], strict=False):
            past = milestone == ripe or state[v.m.ids][milestone]["status"] == "reached"
            self._task(v, state, rng, milestone, area, title, past)

    def _somebody_for(self, area: str, field: str, people: list[dict[str, Any]]) -> None:
        """Let somebody do what nobody does: a task may only be given to a person of its own area."""
        held = [row[field] for row in people]
        if area not in held:
            people[held.index(max(held, key=held.count))][field] = area

    def _milestones(self, v: SimpleNamespace, state: State, rng: Rng, project: str, day: str) -> None:
        first = int(rng.integers(len(v.s.milestones) - 2))
        for n, name in enumerate(v.s.milestones[first : first + 3]):
            key = key_of(v.s.milestone_prefix, len(state[v.m.ids]) + 1)
            reached = n == 0 and day < state["today"]
            state[v.m.ids][key] = {
                f"{v.m.id}_id": key,
                f"{v.j.id}_id": project,
                "name": name,
                "due_on": day,
                "reached_on": later(day, -int(rng.integers(1, 4))) if reached else None,
                "status": "reached" if reached else "open",
            }
            day = later(day, int(rng.integers(18, 32)))

    def _places(self, v: SimpleNamespace, state: State, rng: Rng) -> Iterator[str]:
        """Milestones of the tasks to make, in the order of time."""
        for key, row in state[v.m.ids].items():
            for _ in range(1 if row["status"] == "reached" else int(rng.integers(2, 4))):
                yield key

    def _task(
        self, v: SimpleNamespace, state: State, rng: Rng, milestone: str, area: str, title: str, past: bool
    ) -> None:
        s, f, today = v.s, v.f, state["today"]
        end = state[v.m.ids][milestone]
        project = end[f"{v.j.id}_id"]
        earlier = [key for key, row in state[v.t.ids].items() if row[f"{v.j.id}_id"] == project]
        waits = [] if past else shuffled(rng, earlier)[: int(rng.integers(0, 3))]
        fitting = [key for key, row in state[v.p.ids].items() if row[v.k.name] == area]
        able = [key for key in fitting if state[v.p.ids][key]["status"] == "active"]
        ready = all(state[v.t.ids][key]["status"] == "done" for key in waits)
        status = "done" if past else "open"
        if not past and able and ready and end["due_on"] < later(today, 25):
            status = pick(rng, ["open", "in_progress", "in_progress", *v.unfinished[2:] * 2, "done"])
        who = pick(rng, able or fitting) if status != "open" or (able and rng.random() < 0.65) else None
        busy = sum(t["assignee_id"] == who and t["status"] == "in_progress" for t in state[v.t.ids].values())
        if status == "in_progress" and busy >= s.max_active:
            status = "open"
        planned = int(rng.integers(*f.range))
        spent = int(planned * rng.uniform(0.2, 0.8)) if status == "in_progress" else 0
        key = key_of(s.task_prefix, len(state[v.t.ids]) + 1)
        others = [k for k in state[v.p.ids] if k != who]
        state[v.t.ids][key] = {
            f"{v.t.id}_id": key,
            f"{v.j.id}_id": project,
            f"{v.m.id}_id": milestone,
            "title": title,
            v.k.name: area,
            "assignee_id": who,
            "priority": pick(rng, PRIORITIES),
            "due_on": later(end["due_on"], -int(rng.integers(0, 14))),
            f.planned: planned,
            f.spent: spent if status in ("open", "in_progress") else planned,
            "depends_on": sorted(waits),
            **({"reviewer_id": pick(rng, others) if status == "done" else None} if s.review else {}),
            "status": status,
        }


PATTERN = Board
