"""Gradebook: weighted assignments of school classes, work that is late, missing or excused, and what it adds up to."""

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

WEIGHTS = ((40, 35, 25), (50, 30, 20), (45, 30, 25), (40, 30, 30))
LONGEST, PASS = 14, 50.0
"""Most days an extension adds, and the score below which a test may be taken again."""
FIND = ("find_students name", "find_assignments title")
"""The calls that most plans begin with."""
BLANK = {
    "handed_in_on": None, "days_late": 0, "points": None, "retest_points": None, "score": None, "note": "",
    "corrected_by": "",
}  # fmt: skip
"""A submission of which nothing is known."""
MISSED = {"status": "missed", "points": 0, "score": 0.0}
"""What differs when it never came in."""


class GradebookSettings(Settings):
    """What a school teaches, and what it says."""

    catalogue: dict[str, dict[str, str]]
    """Subject → title → kind of assignment: at least three a subject, the first and at most one more of them a test; no
    title twice."""
    years: list[str]
    """Years and their letters: `8A`."""
    excuses: list[str]
    """Why work is excused."""
    grounds: list[str]
    """Why somebody has more time."""
    remarks: list[str]
    """What is written home."""


class BookGoal(Goal):
    """What goals about the gradebook share."""

    def assignment(self, title: str, state: State) -> dict[str, Any]:
        """The assignment of that title, in a class that is not closed."""
        one: dict[str, Any] = only([a for a in state["assignments"].values() if a["title"] == title])
        if state["school_classes"][one["school_class_id"]]["closed"]:
            raise LookupError("its class is closed")
        return one

    def work(self, student: str, assignment: str, state: State) -> dict[str, Any]:
        """What a student has in for an assignment, empty for nothing."""
        rows, pair = state["submissions"].values(), (student, assignment)
        return next((s for s in rows if (s["student_id"], s["assignment_id"]) == pair), {})

    def due(self, student: str, one: dict[str, Any], state: State) -> str:
        """The deadline of one student."""
        rows, pair = state["extensions"].values(), (student, one["assignment_id"])
        own = (e["new_due_on"] for e in rows if (e["student_id"], e["assignment_id"]) == pair)
        return str(next(own, one["due_on"]))

    def score(self, row: dict[str, Any], state: State) -> float:
        """Per cent of the points, less the penalty for days late."""
        one = state["assignments"][row["assignment_id"]]
        penalty = state["school_classes"][one["school_class_id"]]["late_penalty"]
        best = max(row["points"], row["retest_points"] or 0)
        return max(0.0, round(100 * best / one["max_points"] - penalty * row["days_late"], 1))

    def average(self, student: str, key: str, state: State, **put: float) -> float | None:
        """The weighted average in a class; `put` has scores that are to count, by the id of the submission."""
        total = weights = 0.0
        for row in state["submissions"].values():
            one, score = (
                state["assignments"][row["assignment_id"]],
                put.get(row["submission_id"], row["score"]),
            )
            if row["student_id"] == student and one["school_class_id"] == key and score is not None:
                total, weights = total + one["weight"] * score, weights + one["weight"]
        return round(total / weights, 1) if weights else None

    def missing(self, state: State, *overdue: bool) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Students and assignments of open classes with nothing in, whose deadline has passed or not."""
        return [
            (student, one)
            for one in state["assignments"].values()
            if not state["school_classes"][one["school_class_id"]]["closed"]
            for key, student in state["students"].items()
            if one["school_class_id"] in student["class_ids"]
            and not self.work(key, one["assignment_id"], state)
            and (self.due(key, one, state) < state["today"]) in (overdue or (True, False))
        ]

    def marked(self, row: dict[str, Any], item: str, state: State, **fields: Any) -> Changed:
        """The submission has these values and the score that follows from them."""
        fields |= {"score": self.score({**row, **fields}, state)}
        key = state["assignments"][row["assignment_id"]]["school_class_id"]
        return Changed("submissions", row["submission_id"], fields, item, (row["student_id"], f"work {key}"))


class EnterMark(BookGoal):
    """Points for work that was handed in."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Please enter {points:int} points for {name:name} in the {title:name}, which is waiting for a mark.",
        "I have marked the {title:name} of {name:name}: {points:int} points, please enter them.",
    )
    needs: ClassVar[tuple[str, ...]] = ("list_submissions", "enter_points")
    status: ClassVar[str] = "handed in"
    act: ClassVar[str] = "enter_points submission_id<2 points"

    def usable(self, state: State) -> list[dict[str, Any]]:
        """Submissions with which this may be done."""
        work, classes = state["assignments"], state["school_classes"]
        rows = [s for s in state["submissions"].values() if s["status"] == self.status]
        return [s for s in rows if not classes[work[s["assignment_id"]]["school_class_id"]]["closed"]]

    def row(self, slots: Slots, state: State) -> dict[str, Any]:
        """The submission a sentence is about."""
        student, one = named(state, self.v.student, slots["name"]), self.assignment(slots["title"], state)
        row = self.work(student["student_id"], one["assignment_id"], state)
        if row not in self.usable(state) or not 0 <= slots["points"] <= one["max_points"]:
            raise LookupError("there is nothing to mark so")
        return row

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.usable(state)
        if not rows:
            return None
        row = any_of(rng, rows)
        one, student = state["assignments"][row["assignment_id"]], state["students"][row["student_id"]]
        points = int(rng.integers(one["max_points"] // 3, one["max_points"] + 1))
        return {"name": student["name"], "title": one["title"], "points": points}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, *FIND, "list_submissions student_id<0 assignment_id<1", self.act)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the {slots['title']} of {slots['name']} been marked with {slots['points']} points?"
        return [self.marked(self.row(slots, state), item, state, status="marked", points=slots["points"])]


class CorrectPoints(EnterMark):
    """Points that were typed wrong, corrected in the name of the class's teacher."""

    phrases = (
        "The points of {name:name} in the {title:name} were typed wrong: please correct them to {points:int}, in the "
        "name of the teacher of that class.",
        "Please look up who teaches the class of the {title:name} and correct the points of {name:name} in it to "
        "{points:int} in that teacher's name.",
    )
    needs = ("list_submissions", "correct_points")
    status = "marked"
    act = "correct_points submission_id<2 points teacher<1"

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, points = self.row(slots, state), slots["points"]
        if row["points"] == points:
            raise LookupError("they are so already")
        one = state["assignments"][row["assignment_id"]]
        teacher = state["school_classes"][one["school_class_id"]]["teacher"]
        item = f"Has the {slots['title']} of {slots['name']} been corrected to {points} points by {teacher}?"
        return [self.marked(row, item, state, points=points, corrected_by=teacher)]


class Retest(EnterMark):
    """A failed test taken again; the better result counts and a note goes home."""

    phrases = (
        "{name:name} has taken the {title:name} again and got {points:int} points, so please record the retest.",
        "Please record the retest of {name:name} in the {title:name} with {points:int} points.",
    )
    needs = ("list_submissions", "record_retest")
    status = "marked"
    act = "record_retest submission_id<2 retest_points=points"

    def usable(self, state: State) -> list[dict[str, Any]]:
        rows = [s for s in super().usable(state) if s["score"] < PASS and s["retest_points"] is None]
        return [s for s in rows if state["assignments"][s["assignment_id"]]["kind"] == "test"]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, points = self.row(slots, state), slots["points"]
        one = state["assignments"][row["assignment_id"]]
        item = (
            f"Has the retest of {slots['name']} in the {slots['title']} been recorded with {points} points?"
        )
        changed = self.marked(row, item, state, retest_points=points)
        home = {"student_id": row["student_id"], "school_class_id": one["school_class_id"]}
        scores = {row["submission_id"]: changed.fields["score"]}
        average = self.average(row["student_id"], one["school_class_id"], state, **scores)
        text = f"Retest of {one['title']}: {points} of {one['max_points']} points."
        home |= {"about": "retest", "text": text, "written_on": state["today"]}
        item = f"Has a note about the retest gone home for {slots['name']}?"
        return [changed, Added("notes", {**home, "average": average}, item)]


class MarkLongest(EnterMark):
    """Points for the work of a class that has waited longest."""

    phrases = (
        "In {name:name}, give the work that has been waiting longest for its mark {points:int} points.",
        "Of the unmarked work in {name:name}, whatever was handed in first gets {points:int} points.",
    )
    needs = ("find_classes", "list_unmarked_work", "enter_points")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = any_of(rng, list(state["school_classes"].values()))["name"]
        return {"name": name, "points": int(rng.integers(6, 19))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        mark = "enter_points submission_id<1 points"
        return steps(slots, "find_classes name", "list_unmarked_work school_class_id<0", mark)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key, work = named(state, self.v.school_class, slots["name"])["school_class_id"], state["assignments"]
        rows = [s for s in self.usable(state) if work[s["assignment_id"]]["school_class_id"] == key]
        first = min((s["handed_in_on"] for s in rows), default="")
        row = only([s for s in rows if s["handed_in_on"] == first])
        if len(rows) < 2 or slots["points"] > work[row["assignment_id"]]["max_points"]:
            raise LookupError("there is no choice, or there are too many points")
        item = f"Has the work in {slots['name']} that waited longest been given {slots['points']} points?"
        return [self.marked(row, item, state, status="marked", points=slots["points"])]


class HandIn(BookGoal):
    """Work that comes in, on time or late."""

    phrases: ClassVar[tuple[str, ...]] = (
        "{name:name} handed in the {title:name} on {day:date}, so please record it.",
        "Please record that the {title:name} of {name:name} came in on {day:date}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_students", "find_assignments", "record_submission")
    act: ClassVar[str] = "record_submission student_id<0 assignment_id<1 handed_in_on=day"
    tests: ClassVar[bool] = False
    """Whether it may be a test, which is taken on its day rather than handed in."""

    def more(self, one: dict[str, Any], state: State, rng: Rng) -> Slots:
        """What else is said."""
        return {"day": later(state["today"], -int(rng.integers(0, 4)))}

    def draw(self, state: State, rng: Rng) -> Slots | None:
        pairs = [pair for pair in self.missing(state) if self.tests or pair[1]["kind"] != "test"]
        student, one = any_of(rng, pairs)
        return {"name": student["name"], "title": one["title"], **self.more(one, state, rng)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, *FIND, self.act)

    def pair(self, slots: Slots, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        """The student and the assignment, for which nothing is in."""
        student, one = named(state, self.v.student, slots["name"]), self.assignment(slots["title"], state)
        if (student, one) not in self.missing(state):
            raise LookupError("it is in already")
        return student, one

    def added(self, student: dict[str, Any], one: dict[str, Any], item: str, **fields: Any) -> Added:
        """A new submission."""
        ids = {"student_id": student["student_id"], "assignment_id": one["assignment_id"]}
        return Added("submissions", {**ids, **BLANK, **fields}, item, (f"work {one['school_class_id']}",))

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        (student, one), day = self.pair(slots, state), slots["day"]
        due = date.fromisoformat(self.due(student["student_id"], one, state))
        late = max(0, (date.fromisoformat(day) - due).days)
        item = f"Has the {slots['title']} of {slots['name']} been recorded as handed in on {day}?"
        return [self.added(student, one, item, handed_in_on=day, days_late=late, status="handed in")]


class Excuse(HandIn):
    """Work that need not be handed in."""

    phrases = (
        'Please excuse {name:name} from the {title:name}, with the reason "{reason:text}".',
        '{name:name} does not have to hand in the {title:name}: please excuse it with the reason "{reason:text}".',
    )
    needs = ("find_students", "find_assignments", "excuse_work")
    act = "excuse_work student_id<0 assignment_id<1 reason"
    tests = True

    def more(self, one: dict[str, Any], state: State, rng: Rng) -> Slots:
        return {"reason": any_of(rng, self.v.s.excuses)}

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has {slots['name']} been excused from the {slots['title']} with that reason?"
        return [self.added(*self.pair(slots, state), item, status="excused", note=slots["reason"])]


ExcuseInOwnWords = in_own_words(
    Excuse,
    "reason",
    "Please excuse {name:name} from the {title:name} and word the reason as you like.",
    "{name:name} need not hand in the {title:name}; excuse that with a reason in your own words.",
)


class ExcuseBoth(Excuse):
    """Everything that is overdue of somebody who was away: two pieces of work."""

    phrases = (
        'Two pieces of work by {name:name} are overdue, please excuse both of them with the reason "{reason:text}".',
        'Please look up the two assignments that {name:name} has missed and excuse both: "{reason:text}".',
    )
    needs = ("find_students", "list_open_work", "excuse_work")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        people = [student["name"] for student, _ in self.missing(state, True)]
        some = [name for name in people if people.count(name) == 2]
        return {"name": any_of(rng, some), "reason": any_of(rng, self.v.s.excuses)} if some else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        each = (f"excuse_work student_id<0 assignment_id<1/{n}/assignment_id reason" for n in (0, 1))
        return steps(slots, "find_students name", "list_open_work student_id<0 overdue=True", *each)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        pairs = [pair for pair in self.missing(state, True) if pair[0]["name"] == slots["name"]]
        if len(pairs) != 2:
            raise LookupError("it is not two")
        item = f"Has {slots['name']} been excused from the {{}} with that reason?"
        given = {"status": "excused", "note": slots["reason"]}
        return [self.added(student, one, item.format(one["title"]), **given) for student, one in pairs]


class Extend(HandIn):
    """More time for one student."""

    phrases = (
        'Please give {name:name} until {day:date} for the {title:name}, the reason is "{reason:text}".',
        '{name:name} has asked for more time: the {title:name} may come in until {day:date}, with "{reason:text}" as '
        "the reason.",
    )
    needs = ("find_students", "find_assignments", "grant_extension")
    act = "grant_extension student_id<0 assignment_id<1 new_due_on=day reason"

    def more(self, one: dict[str, Any], state: State, rng: Rng) -> Slots:
        day = later(max(one["due_on"], state["today"]), int(rng.integers(1, 10)))
        return {"day": day, "reason": any_of(rng, self.v.s.grounds)}

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        (student, one), day = self.pair(slots, state), slots["day"]
        granted = self.due(student["student_id"], one, state) != one["due_on"]
        if granted or not max(one["due_on"], state["today"]) < day <= later(one["due_on"], LONGEST):
            raise LookupError("no more time can be given")
        fields = {"student_id": student["student_id"], "assignment_id": one["assignment_id"]}
        fields |= {"new_due_on": day, "reason": slots["reason"], "granted_on": state["today"]}
        item = f"Has {slots['name']} been given until {day} for the {slots['title']}?"
        return [Added("extensions", fields, item, (f"work {one['school_class_id']}",))]


class ShiftWeight(BookGoal):
    """Weight moves from one assignment of a class to another."""

    phrases = (
        "The {title:name} should count {percent:int} percentage points more, the {other:name} that many fewer.",
        "Please take {percent:int} percentage points of weight off the {other:name} and put them on the {title:name}.",
    )
    needs = ("find_assignments", "shift_weight")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        key = any_of(rng, list(state["school_classes"]))
        titles = [a["title"] for a in state["assignments"].values() if a["school_class_id"] == key]
        title, other = shuffled(rng, titles)[:2]
        return {"title": title, "other": other, "percent": 5 * int(rng.integers(1, 3))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        ids = "to_assignment_id<0/0/assignment_id from_assignment_id<1/0/assignment_id"
        both = ("find_assignments title", "find_assignments title=other")
        return steps(slots, *both, f"shift_weight {ids} percent")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        more, less, by = *(self.assignment(slots[k], state) for k in ("title", "other")), slots["percent"]
        if less["school_class_id"] != more["school_class_id"] or less["weight"] - by < 5:
            raise LookupError("it cannot be moved")
        also = (f"weights {more['school_class_id']}",)
        item = "Has the weight of the {} become {} per cent?"
        weights = [(row, row["weight"] + change) for row, change in ((more, by), (less, -by))]
        return [
            Changed("assignments", row["assignment_id"], {"weight": w}, item.format(row["title"], w), also)
            for row, w in weights
        ]


class Raise(BookGoal):
    """More points for everybody in a test that was too hard."""

    phrases = (
        "The {title:name} was too hard, so please give everybody marked in it {points:int} more points.",
        "Please raise all marked results of the {title:name} by {points:int} points.",
    )
    needs = ("find_assignments", "raise_results")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        title = any_of(rng, list(state["assignments"].values()))["title"]
        return {"title": title, "points": int(rng.integers(2, 5))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_assignments title", "raise_results assignment_id<0 points")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, outcomes = self.assignment(slots["title"], state), list[Outcome]()
        rows = [s for s in state["submissions"].values() if s["assignment_id"] == one["assignment_id"]]
        for row in (r for r in rows if r["status"] == "marked"):
            points = min(one["max_points"], row["points"] + slots["points"])
            name = state["students"][row["student_id"]]["name"]
            item = f"Is the {one['title']} of {name} worth {points} points now?"
            outcomes += [self.marked(row, item, state, points=points)] if points > row["points"] else []
        if len(outcomes) < 2 or any(r["status"] == "handed in" for r in rows):
            raise LookupError("there is not enough to raise")
        return outcomes


class WriteHome(BookGoal):
    """A comment to the parents of the student with the lowest average of a class."""

    phrases = (
        'Please find out who has the lowest average in {name:name} and write home about that student: "{text:text}".',
        'Whoever stands lowest in {name:name} needs a note home, saying "{text:text}".',
    )
    needs = ("find_classes", "rank_class", "write_note_home")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = any_of(rng, list(state["school_classes"].values()))["name"]
        return {"name": name, "text": any_of(rng, self.v.s.remarks)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        rank = "rank_class school_class_id<0 lowest_first=True"
        return steps(slots, "find_classes name", rank, "write_note_home student_id<1 school_class_id<0 text")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key = named(state, self.v.school_class, slots["name"])["school_class_id"]
        averages = {who: self.average(who, key, state) for who in state["students"]}
        known = {who: average for who, average in averages.items() if average is not None}
        lowest = only([who for who, average in known.items() if average == min(known.values())])
        fields = {"student_id": lowest, "school_class_id": key, "about": "progress", "text": slots["text"]}
        fields |= {"average": known[lowest], "written_on": state["today"]}
        item = f"Has a note gone home about the student with the lowest average in {slots['name']}?"
        return [Added("notes", fields, item, (f"work {key}", f"weights {key}"))]


class CloseBook(HandIn):
    """A class is closed; what never came in counts as nothing."""

    phrases = (
        "All that came in for {name:name} is marked, so please close the gradebook of that class for the term.",
        "Please close the gradebook of {name:name} for the term; whatever is missing there counts 0.",
    )
    needs = ("find_classes", "close_class")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"name": any_of(rng, list(state["school_classes"].values()))["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_classes name", "close_class school_class_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = named(state, self.v.school_class, slots["name"])
        key, work = row["school_class_id"], state["assignments"]
        gaps, ahead = (
            [pair for pair in self.missing(state, which) if pair[1]["school_class_id"] == key]
            for which in (True, False)
        )
        due = [a for a in work.values() if a["school_class_id"] == key and a["due_on"] >= state["today"]]
        waiting = [s["assignment_id"] for s in state["submissions"].values() if s["status"] == "handed in"]
        if row["closed"] or ahead or due or any(work[one]["school_class_id"] == key for one in waiting):
            raise LookupError("it cannot be closed")
        item, also = f"Has the gradebook of {slots['name']} been closed?", (f"work {key}", f"weights {key}")
        missed = "Has the {} of {} been counted as 0?"
        return [
            Changed("school_classes", key, {"closed": True}, item, also),
            *(self.added(s, one, missed.format(one["title"], s["name"]), **MISSED) for s, one in gaps),
        ]


class Gradebook(Pattern):
    """Assignments, work and averages of school classes."""

    Settings = GradebookSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        EnterMark, CorrectPoints, Retest, MarkLongest, HandIn, Excuse, ExcuseInOwnWords, ExcuseBoth, Extend,
        ShiftWeight, Raise, WriteHome, CloseBook,
    )  # fmt: skip

    def vocabulary(self, s: GradebookSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        nouns = (Noun(one) for one in ("student", "assignment", "submission", "extension", "note"))
        return {"school_class": Noun("school class"), **{noun.id: noun for noun in nouns}}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(v.school_class, "A class in one subject with its gradebook.", """
                school_class_id: str = unique id, e.g. CLS-001
                name: str = subject, year and letter, e.g. History 8A
                teacher: str = who teaches it
                late_penalty: int = per cent taken off the score for each day late
                closed: bool = whether the gradebook is closed for the term"""),
            form(v.student, "A student and who is written to at home.", """
                student_id: str = unique id, e.g. STU-001
                name: str = full name
                class_ids: list[str] = ids of the classes the student is in
                parent: str = name of a parent
                parent_email: str = where notes home go"""),
            form(v.assignment, "Work that a class has to do.", """
                assignment_id: str = unique id, e.g. ASG-001
                school_class_id: str = the class
                title: str = what it is called, e.g. Fractions test
                kind: str = test, essay, project or report
                weight: int = share of the average in per cent
                max_points: int = points for faultless work
                due_on: str = deadline, as YYYY-MM-DD"""),
            form(v.submission, "What became of one student's work; without a row nothing has come in.", """
                submission_id: str = unique id, e.g. SUB-001
                student_id: str = the student
                assignment_id: str = the assignment
                handed_in_on: str | None = date, as YYYY-MM-DD; None for work never seen
                days_late: int = days after the student's own deadline
                status: str = handed in, marked, excused or missed
                points: int | None = points, None until it is marked
                retest_points: int | None = points of the retest, None without one
                score: float | None = per cent that count, None until it is marked
                note: str = why it is excused, otherwise empty
                corrected_by: str = teacher who corrected the points, otherwise empty"""),
            form(v.extension, "More time for one student.", """
                extension_id: str = unique id, e.g. EXT-001
                student_id: str = the student
                assignment_id: str = the assignment
                new_due_on: str = the student's own deadline, as YYYY-MM-DD
                reason: str = why
                granted_on: str = date, as YYYY-MM-DD"""),
            form(v.note, "A note home about a student.", """
                note_id: str = unique id, e.g. NOT-001
                student_id: str = the student
                school_class_id: str = the class it is about
                about: str = progress or retest
                text: str = what it says
                average: float | None = the student's average in the class on that day
                written_on: str = date, as YYYY-MM-DD"""),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "The score of marked work is calculated from the better of its points and those of a retest, in per cent "
            "of the points of the assignment, less the late penalty of the class for each day late, and is never "
            "below 0.",
            """
            work, classes = rows(after, "assignments"), rows(after, "school_classes")
            for row in rows(after, "submissions").values():
                if row.get("status") == "marked":
                    one = work.get(str(row.get("assignment_id"))) or {}
                    penalty = (classes.get(str(one.get("school_class_id"))) or {}).get("late_penalty") or 0
                    best = max(row.get("points") or 0, row.get("retest_points") or 0)
                    share = 100 * best / (one.get("max_points") or 1) - penalty * (row.get("days_late") or 0)
                    if abs((row.get("score") or 0) - max(0.0, share)) > 0.06:
                        return False
            return True
            """,
        ),
        RuleText(
            "The sum of the weights of all assignments of a class is 100.",
            """
            sums = {}
            for row in rows(after, "assignments").values():
                key = row.get("school_class_id")
                sums[key] = sums.get(key, 0) + (row.get("weight") or 0)
            return all(total == 100 for total in sums.values())
            """,
        ),
        RuleText(
            "No two submissions are by the same student for the same assignment.",
            """
            pairs = [(r.get("student_id"), r.get("assignment_id")) for r in rows(after, "submissions").values()]
            return len(pairs) == len(set(pairs))
            """,
        ),
        RuleText(
            "An extension ends no earlier than a day after the deadline of its assignment and at most 14 days "
            "after it.",
            """
            from datetime import date, timedelta
            work = rows(after, "assignments")
            for row in rows(after, "extensions").values():
                due = date.fromisoformat((work.get(str(row.get("assignment_id"))) or {}).get("due_on") or "2000-01-01")
                end = str(row.get("new_due_on"))
                if not due.isoformat() < end <= (due + timedelta(days=14)).isoformat():
                    return False
            return True
            """,
        ),
        RuleText(
            "A closed gradebook is never open again, and the scores in it stay as they are.",
            """
            if any(old.get("closed") for old, _ in changed("school_classes", "closed")):
                return False
            work, classes = rows(before, "assignments"), rows(before, "school_classes")
            for old, _ in changed("submissions", "score"):
                key = (work.get(str(old.get("assignment_id"))) or {}).get("school_class_id")
                if (classes.get(str(key)) or {}).get("closed"):
                    return False
            return True
            """,
        ),
        RuleText(
            "Points are corrected with the permission of the teacher of that class alone, whose name is kept; raising "
            "the results of a whole assignment is no correction.",
            """
            work, classes = rows(after, "assignments"), rows(after, "school_classes")
            for row in rows(after, "submissions").values():
                key = (work.get(str(row.get("assignment_id"))) or {}).get("school_class_id")
                if row.get("corrected_by") not in ("", (classes.get(str(key)) or {}).get("teacher")):
                    return False
            return True
            """,
        ),
        RuleText(
            "Every retest leaves a note home about the student.",
            """
            told = [row.get("student_id") for row in added("notes") if row.get("about") == "retest"]
            return all(new.get("student_id") in told for _, new in changed("submissions", "retest_points"))
            """,
        ),
        RuleText(
            "Excused work has a note with the reason and neither points nor a score, and no other work has a note.",
            """
            for row in rows(after, "submissions").values():
                excused = row.get("status") == "excused"
                if excused != bool(row.get("note")) or (excused and row.get("score") is not None):
                    return False
            return True
            """,
        ),
    )

    HELPERS = '''
    def _work(self, student_id: str, assignment_id: str) -> dict | None:
        """Return what a student has in for an assignment, None for nothing."""
        for submission in self.submissions.values():
            if (submission["student_id"], submission["assignment_id"]) == (student_id, assignment_id):
                return submission
        return None

    def _deadline(self, student_id: str, assignment: dict) -> str:
        """Return a student's own deadline: that of an extension, otherwise that of the class."""
        for extension in self.extensions.values():
            if extension["student_id"] == student_id:
                if extension["assignment_id"] == assignment["assignment_id"]:
                    return extension["new_due_on"]
        return assignment["due_on"]

    def _score(self, submission: dict) -> float:
        """Compute the per cent that count from points, retest and days late."""
        assignment = self.assignments[submission["assignment_id"]]
        penalty = self.school_classes[assignment["school_class_id"]]["late_penalty"]
        best = max(submission["points"], submission["retest_points"] or 0)
        return max(0.0, round(100 * best / assignment["max_points"] - penalty * submission["days_late"], 1))

    def _average(self, student_id: str, school_class_id: str) -> float | None:
        """Compute a student's weighted average in a class from the scores there are; None without any."""
        total = weights = 0.0
        for submission in self.submissions.values():
            assignment = self.assignments[submission["assignment_id"]]
            if submission["student_id"] != student_id or assignment["school_class_id"] != school_class_id:
                continue
            if submission["score"] is not None:
                total += assignment["weight"] * submission["score"]
                weights += assignment["weight"]
        return round(total / weights, 1) if weights else None

    def _put_in(self, student_id: str, assignment_id: str, status: str, **values: object) -> dict:
        """Add a submission; what is not given is blank."""
        submission: Submission = {
            "submission_id": self._next_id(self.submissions, "SUB"),
            "student_id": student_id,
            "assignment_id": assignment_id,
            "handed_in_on": None,
            "days_late": 0,
            "status": status,
            "points": None,
            "retest_points": None,
            "score": None,
            "note": "",
            "corrected_by": "",
        }
        submission.update(values)
        self.submissions[submission["submission_id"]] = submission
        return submission

    def _write_note(self, student_id: str, school_class_id: str, about: str, text: str) -> dict:
        """Add a note home with the average of today."""
        note: Note = {
            "note_id": self._next_id(self.notes, "NOT"),
            "student_id": student_id,
            "school_class_id": school_class_id,
            "about": about,
            "text": text,
            "average": self._average(student_id, school_class_id),
            "written_on": self.today,
        }
        self.notes[note["note_id"]] = note
        return note
'''

    READS = '''
def find_students(self, name: str) -> dict:
    """Find students by name.

    Args:
        name: Full name or a part of it; upper and lower case are the same.

    Returns:
        The matching students, each with the names of the `classes` the student is in.
    """
    refuse if not name.strip() :: The name to look for is empty.
    matches = []
    for student in self.students.values():
        if name.strip().lower() in student["name"].lower():
            classes = [self.school_classes[key]["name"] for key in student["class_ids"]]
            matches.append({**deepcopy(student), "classes": sorted(classes)})
    return {"success": True, "data": sorted(matches, key=lambda entry: entry["name"])}

def find_classes(self, name: str | None = None) -> dict:
    """Find classes by name, with how many students are in them and how many pieces of work wait for a mark.

    Args:
        name: Name or a part of it, e.g. History. Leave out for all classes.

    Returns:
        The matching classes by name.
    """
    wanted = "" if name is None else name.strip().lower()
    refuse if name is not None and not wanted :: The name to look for is empty.
    waiting = [
        self.assignments[entry["assignment_id"]]["school_class_id"]
        for entry in self.submissions.values()
        if entry["status"] == "handed in"
    ]
    matches = [
        {
            **school_class,
            "students": sum(key in student["class_ids"] for student in self.students.values()),
            "unmarked": waiting.count(key),
        }
        for key, school_class in self.school_classes.items()
        if wanted in school_class["name"].lower()
    ]
    return {"success": True, "data": sorted(matches, key=lambda entry: entry["name"])}

def find_assignments(self, title: str | None = None, school_class_id: str | None = None) -> dict:
    """Find assignments by title, the earliest deadline first.

    Args:
        title: Title or a part of it. Leave out for all.
        school_class_id: Only those of this class. Leave out for all.

    Returns:
        The matching assignments, each with the name of the `class` and its `teacher`.
    """
    refuse if title is not None and not title.strip() :: The title to look for is empty.
    wanted, matches = (title or "").strip().lower(), []
    for assignment in self.assignments.values():
        school_class = self.school_classes[assignment["school_class_id"]]
        if wanted not in assignment["title"].lower():
            continue
        if school_class_id in (None, school_class["school_class_id"]):
            told = {"class": school_class["name"], "teacher": school_class["teacher"]}
            matches.append({**assignment, **told})
    matches.sort(key=lambda entry: (entry["due_on"], entry["assignment_id"]))
    return {"success": True, "data": matches}

def list_submissions(self, student_id: str | None = None, assignment_id: str | None = None) -> dict:
    """List the work of a student, or the work for an assignment, or both.

    Args:
        student_id: Only work of this student. Leave out for everybody.
        assignment_id: Only work for this assignment. Leave out for all.

    Returns:
        The submissions by id; what has not come in is not among them.
    """
    refuse if student_id is None and assignment_id is None :: Give a student, an assignment or both.
    chosen = list(self.submissions.values())
    if student_id is not None:
        refuse if student_id not in self.students :: There is no student with the id {student_id!r}.
        chosen = [entry for entry in chosen if entry["student_id"] == student_id]
    if assignment_id is not None:
        refuse if assignment_id not in self.assignments :: There is no assignment with the id {assignment_id!r}.
        chosen = [entry for entry in chosen if entry["assignment_id"] == assignment_id]
    return {"success": True, "data": [dict(entry) for entry in chosen]}

def list_open_work(self, student_id: str, overdue: bool | None = None) -> dict:
    """List what a student still has to hand in, with the student's own deadlines.

    Args:
        student_id: Id of the student.
        overdue: True for work whose deadline has passed, False for what is still to come. Leave out for both.

    Returns:
        The assignments, the earliest deadline first, each with `deadline` and whether it is `overdue`.
    """
    need student
    still_open = []
    for assignment in self.assignments.values():
        school_class = self.school_classes[assignment["school_class_id"]]
        if school_class["closed"] or school_class["school_class_id"] not in student["class_ids"]:
            continue
        if self._work(student_id, assignment["assignment_id"]) is not None:
            continue
        deadline = self._deadline(student_id, assignment)
        if overdue is None or overdue == (deadline < self.today):
            late = deadline < self.today
            still_open.append({**assignment, "deadline": deadline, "overdue": late})
    still_open.sort(key=lambda entry: (entry["deadline"], entry["assignment_id"]))
    return {"success": True, "data": still_open}

def list_unmarked_work(self, school_class_id: str) -> dict:
    """List the work of a class that waits for its mark, the one handed in first in front.

    Args:
        school_class_id: Id of the class.

    Returns:
        The submissions, each with `days_waiting` until today.
    """
    need school_class
    waiting = []
    for submission in self.submissions.values():
        assignment = self.assignments[submission["assignment_id"]]
        if submission["status"] == "handed in" and assignment["school_class_id"] == school_class_id:
            since = date.fromisoformat(submission["handed_in_on"])
            days = (date.fromisoformat(self.today) - since).days
            waiting.append({**submission, "title": assignment["title"], "days_waiting": days})
    waiting.sort(key=lambda entry: (-entry["days_waiting"], entry["submission_id"]))
    return {"success": True, "data": waiting}

def compute_average(self, student_id: str, school_class_id: str) -> dict:
    """Compute the weighted average of a student in a class, and what it is made of.

    Args:
        student_id: Id of the student, who is in the class.
        school_class_id: Id of the class.

    Returns:
        The average in per cent (None without any score), the weight that is decided so far and the single scores.
    """
    need student
    need school_class
    refuse if school_class_id not in student["class_ids"] :: {student['name']} is not in {school_class['name']}.
    parts = []
    for assignment in self.assignments.values():
        submission = self._work(student_id, assignment["assignment_id"])
        if assignment["school_class_id"] == school_class_id and submission is not None:
            if submission["score"] is not None:
                told = {name: assignment[name] for name in ("title", "weight")}
                parts.append({**told, "score": submission["score"]})
    data = {
        "average": self._average(student_id, school_class_id),
        "decided": sum(part["weight"] for part in parts),
        "scores": parts,
    }
    return {"success": True, "data": data}

def rank_class(self, school_class_id: str, lowest_first: bool = False) -> dict:
    """Rank the students of a class by their weighted average.

    Args:
        school_class_id: Id of the class.
        lowest_first: Whether to begin with the lowest average instead of the highest.

    Returns:
        The students with `average` and the number of pieces of work `overdue`; those without any score stand last.
    """
    need school_class
    work = [one for one in self.assignments.values() if one["school_class_id"] == school_class_id]
    ranking = []
    for key, student in self.students.items():
        if school_class_id in student["class_ids"]:
            gaps = [one for one in work if self._work(key, one["assignment_id"]) is None]
            overdue = sum(self._deadline(key, one) < self.today for one in gaps)
            average = self._average(key, school_class_id)
            entry = {"student_id": key, "name": student["name"], "average": average, "overdue": overdue}
            ranking.append(entry)
    sign = 1 if lowest_first else -1
    ranking.sort(key=lambda entry: (entry["average"] is None, sign * (entry["average"] or 0), entry["name"]))
    return {"success": True, "data": ranking}

def list_notes(self, student_id: str) -> dict:
    """List the notes that went home about a student, the latest first, with the address they went to.

    Args:
        student_id: Id of the student.

    Returns:
        The notes; an empty list when there are none.
    """
    need student
    sent = [note for note in self.notes.values() if note["student_id"] == student_id]
    sent.sort(key=lambda note: (note["written_on"], note["note_id"]), reverse=True)
    return {"success": True, "data": [{**note, "sent_to": student["parent_email"]} for note in sent]}
'''

    WRITES = '''
<% macro open_book() %>
    school_class = self.school_classes[assignment["school_class_id"]]
    refuse if school_class["closed"] :: The gradebook of {school_class['name']} is closed.
<%- endmacro %>
<% macro nothing_in() %>
    need student
    need assignment
<<open_book()>>
    if school_class["school_class_id"] not in student["class_ids"]:
        refuse :: {student['name']} is not in {school_class['name']}.
    submission = self._work(student_id, assignment_id)
    if submission is not None:
        refuse :: {assignment['title']} of {student['name']} is {submission['status']} already.
<%- endmacro %>
<% macro submitted() %>
    need submission
    assignment = self.assignments[submission["assignment_id"]]
<<open_book()>>
<%- endmacro %>
<% macro points_fit(points) %>
    if <<points>> < 0 or <<points>> > assignment["max_points"]:
        refuse :: Points go from 0 to {assignment['max_points']}, so not {<<points>>}.
<%- endmacro %>
def record_submission(self, student_id: str, assignment_id: str, handed_in_on: str) -> dict:
    """Record that a student has handed something in; the days late count from the student's own deadline.

    Args:
        student_id: Id of the student, who is in the class of the assignment.
        assignment_id: Id of the assignment, for which nothing is in.
        handed_in_on: The day, not after today, as YYYY-MM-DD.

    Returns:
        The new submission, which waits for its mark, or an error.
    """
<<nothing_in()>>
    refuse if not self._is_date(handed_in_on) :: {handed_in_on!r} is not a date as YYYY-MM-DD.
    refuse if handed_in_on > self.today :: {handed_in_on} is still to come.
    deadline = date.fromisoformat(self._deadline(student_id, assignment))
    late = max(0, (date.fromisoformat(handed_in_on) - deadline).days)
    submission = self._put_in(
        student_id, assignment_id, "handed in", handed_in_on=handed_in_on, days_late=late
    )
    done dict(submission) :: {assignment['title']} of {student['name']} is in, days late: {late}.

def excuse_work(self, student_id: str, assignment_id: str, reason: str) -> dict:
    """Excuse a student from an assignment, which then does not count for the average.

    Args:
        student_id: Id of the student, who is in the class of the assignment.
        assignment_id: Id of the assignment, for which nothing is in.
        reason: Why, in a few words.

    Returns:
        The new entry, or an error.
    """
<<nothing_in()>>
    refuse if not reason.strip() :: A reason is required.
    submission = self._put_in(student_id, assignment_id, "excused", note=reason.strip())
    done dict(submission) :: {student['name']} is excused from {assignment['title']}.

def grant_extension(self, student_id: str, assignment_id: str, new_due_on: str, reason: str) -> dict:
    """Give one student more time for an assignment, once.

    Args:
        student_id: Id of the student, who is in the class of the assignment.
        assignment_id: Id of the assignment, for which nothing is in.
        new_due_on: The student's own deadline, not before today and 1 to 14 days after that of the class.
        reason: Why, in a few words.

    Returns:
        The extension, or an error.
    """
<<nothing_in()>>
    refuse if not reason.strip() :: A reason is required.
    refuse if not self._is_date(new_due_on) :: {new_due_on!r} is not a date as YYYY-MM-DD.
    refuse if new_due_on < self.today :: {new_due_on} has passed.
    days = (date.fromisoformat(new_due_on) - date.fromisoformat(assignment["due_on"])).days
    refuse if not 1 <= days <= 14 :: An extension is 1 to 14 days, not {days}.
    if self._deadline(student_id, assignment) != assignment["due_on"]:
        refuse :: {student['name']} has an extension for {assignment['title']} already.
    extension: Extension = {
        "extension_id": self._next_id(self.extensions, "EXT"),
        "student_id": student_id,
        "assignment_id": assignment_id,
        "new_due_on": new_due_on,
        "reason": reason.strip(),
        "granted_on": self.today,
    }
    self.extensions[extension["extension_id"]] = extension
    done dict(extension) :: {student['name']} has until {new_due_on}.

def enter_points(self, submission_id: str, points: int) -> dict:
    """Mark work that was handed in; its score follows from the points and the days late.

    Args:
        submission_id: Id of the submission, which has no mark yet.
        points: Points from 0 to those of the assignment.

    Returns:
        The marked submission with its score, or an error.
    """
<<submitted()>>
    refuse if submission["status"] != "handed in" :: {submission_id} is {submission['status']}, not waiting for a mark.
<<points_fit("points")>>
    submission["points"] = points
    submission["status"] = "marked"
    submission["score"] = self._score(submission)
    done dict(submission) :: {assignment['title']} is marked with {submission['score']} per cent.

def correct_points(self, submission_id: str, points: int, teacher: str) -> dict:
    """Correct the points of marked work in the name of the teacher of the class.

    Args:
        submission_id: Id of the submission, which is marked.
        points: The right points, from 0 to those of the assignment.
        teacher: Full name of who corrects them: nobody but the teacher of the class may.

    Returns:
        The submission with its new score, or an error.
    """
<<submitted()>>
    refuse if submission["status"] != "marked" :: {submission_id} is {submission['status']}, not marked.
    if teacher.strip() != school_class["teacher"]:
        refuse :: {school_class['name']} is not taught by {teacher!r}.
<<points_fit("points")>>
    refuse if points == submission["points"] :: {submission_id} has {points} points already.
    submission.update(points=points, corrected_by=teacher.strip())
    submission["score"] = self._score(submission)
    done dict(submission) :: The points were corrected to {points}.

def record_retest(self, submission_id: str, retest_points: int) -> dict:
    """Record that a failed test was taken again; the better result counts, and a note goes home.

    Args:
        submission_id: Id of the submission: a marked test with a score below 50, not taken again so far.
        retest_points: Points of the retest, from 0 to those of the assignment.

    Returns:
        The submission and the note, or an error.
    """
<<submitted()>>
    refuse if assignment["kind"] != "test" :: {assignment['title']} is no test, so it is not taken again.
    refuse if submission["status"] != "marked" :: {submission_id} is {submission['status']}, not marked.
    refuse if submission["retest_points"] is not None :: The test was taken again already.
    refuse if submission["score"] >= 50 :: With {submission['score']} per cent the test was passed.
<<points_fit("retest_points")>>
    submission["retest_points"] = retest_points
    submission["score"] = self._score(submission)
    text = f"Retest of {assignment['title']}: {retest_points} of {assignment['max_points']} points."
    note = self._write_note(submission["student_id"], school_class["school_class_id"], "retest", text)
    data = {"submission": dict(submission), "note": dict(note)}
    done data :: The retest counts {submission['score']} per cent.

def raise_results(self, assignment_id: str, points: int) -> dict:
    """Give everybody whose work for an assignment is marked more points, up to those of the assignment.

    Args:
        assignment_id: Id of the assignment, with all that came in marked.
        points: How many more, from 1 to 5.

    Returns:
        The raised submissions, or an error.
    """
    need assignment
<<open_book()>>
    refuse if not 1 <= points <= 5 :: Results are raised by 1 to 5 points, not by {points}.
    work = [entry for entry in self.submissions.values() if entry["assignment_id"] == assignment_id]
    unmarked = sum(entry["status"] == "handed in" for entry in work)
    refuse if unmarked :: The marks of {assignment['title']} still missing: {unmarked}.
    marked = [entry for entry in work if entry["status"] == "marked"]
    refuse if not marked :: Nothing is marked in {assignment['title']}.
    for submission in marked:
        submission["points"] = min(assignment["max_points"], submission["points"] + points)
        submission["score"] = self._score(submission)
    done [dict(entry) for entry in marked] :: Results of {assignment['title']} that were raised: {len(marked)}.

def shift_weight(self, from_assignment_id: str, to_assignment_id: str, percent: int) -> dict:
    """Let one assignment of a class count more and another one so much less.

    Args:
        from_assignment_id: Id of the assignment that is to count less; it keeps at least 5 per cent.
        to_assignment_id: Id of another assignment of the same class.
        percent: Per cent of the average that move, at least 1.

    Returns:
        Both assignments after the change, or an error.
    """
    less, more = self.assignments.get(from_assignment_id), self.assignments.get(to_assignment_id)
    refuse if less is None :: There is no assignment with the id {from_assignment_id!r}.
    refuse if more is None or more is less :: {to_assignment_id!r} is not another assignment.
    assignment = more
<<open_book()>>
    if less["school_class_id"] != more["school_class_id"]:
        refuse :: {less['title']} and {more['title']} are not of the same class.
    refuse if percent < 1 :: At least 1 per cent has to move, not {percent}.
    refuse if less["weight"] - percent < 5 :: {less['title']} has only {less['weight']} per cent.
    less["weight"] -= percent
    more["weight"] += percent
    done [dict(less), dict(more)] :: {percent} per cent now count for {more['title']}.

def write_note_home(self, student_id: str, school_class_id: str, text: str) -> dict:
    """Write to the parents about a student's progress in a class; the average of today is put in.

    Args:
        student_id: Id of the student, who is in the class.
        school_class_id: Id of the class.
        text: What the note says.

    Returns:
        The note, or an error.
    """
    need student
    need school_class
    refuse if school_class_id not in student["class_ids"] :: {student['name']} is not in {school_class['name']}.
    refuse if not text.strip() :: The note is empty.
    note = self._write_note(student_id, school_class_id, "progress", text.strip())
    done dict(note) :: The note went to {student['parent_email']}.

def close_class(self, school_class_id: str) -> dict:
    """Close the gradebook of a class for the term; work that never came in counts 0.

    Args:
        school_class_id: Id of the class: every deadline has passed and all that came in is marked.

    Returns:
        The class and the entries made for missing work, or an error.
    """
    need school_class
    refuse if school_class["closed"] :: The gradebook of {school_class['name']} is closed already.
    gaps = []
    for key, assignment in self.assignments.items():
        if assignment["school_class_id"] != school_class_id:
            continue
        refuse if assignment["due_on"] >= self.today :: {assignment['title']} is not due before {assignment['due_on']}.
        for student_id, student in self.students.items():
            if school_class_id not in student["class_ids"]:
                continue
            submission = self._work(student_id, key)
            if submission is None:
                if self._deadline(student_id, assignment) >= self.today:
                    refuse :: {student['name']} still has time for {assignment['title']}.
                gaps.append((student_id, key))
            elif submission["status"] == "handed in":
                refuse :: {assignment['title']} of {student['name']} is not marked.
    missed = [self._put_in(student_id, key, "missed", points=0, score=0.0) for student_id, key in gaps]
    school_class["closed"] = True
    data = {"school_class": dict(school_class), "missed": [dict(entry) for entry in missed]}
    done data :: {school_class['name']} is closed; missing work that counts 0: {len(missed)}.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today, people = v.s, state["today"], names.people(rng, 11)
        subjects, years = shuffled(rng, list(s.catalogue))[:4], shuffled(rng, s.years)[:4]
        for n, (subject, year) in enumerate(zip(subjects, years, strict=True)):
            key = key_of("CLS", n + 1)
            row = {"school_class_id": key, "name": f"{subject} {year}", "teacher": people[n], "closed": False}
            state["school_classes"][key] = {**row, "late_penalty": pick(rng, [5, 10])}
            titles = list(s.catalogue[subject].items())
            # The first class will be closed, and the second is ready to be: all their deadlines have passed.
            last = -int(rng.integers(16, 20)) if n < 2 else int(rng.integers(3, 20))
            days = (-int(rng.integers(21, 40)), last, -int(rng.integers(3, 13)))[: 3 if n else 2]
            # What is still to come is no test.
            others = sorted(shuffled(rng, titles[1:])[:2], key=lambda pair: pair[1] == "test")
            chosen = [titles[0], *others]
            weights = pick(rng, WEIGHTS) if n else (60, 40)
            for (title, kind), weight, day in zip(chosen, weights, days, strict=False):
                number = key_of("ASG", len(state["assignments"]) + 1)
                row = {"assignment_id": number, "school_class_id": key, "title": title, "kind": kind}
                row |= {"max_points": 5 * int(rng.integers(4, 9)), "due_on": later(today, day)}
                state["assignments"][number] = {**row, "weight": weight}
        for n, name in enumerate(people[4:]):
            key, parent = key_of("STU", n + 1), f"{pick(rng, names.GIVEN)} {name.split()[-1]}"
            mine = sorted(list(state["school_classes"])[i % 4] for i in (n, n + 1))
            row = {"student_id": key, "name": name, "class_ids": mine, "parent": parent}
            state["students"][key] = {**row, "parent_email": names.email(parent)}
        goal, (closed, ready, *_) = BookGoal(v, []), state["school_classes"]
        pairs = shuffled(rng, goal.missing(state))
        for student, one in sorted(pairs, key=lambda pair: pair[1]["school_class_id"] != closed):
            ids = {"student_id": student["student_id"], "assignment_id": one["assignment_id"]}
            self._work(goal, state, rng, ids, one["school_class_id"] in (closed, ready))
        for student, one in goal.missing(state):
            if one["school_class_id"] == closed:
                key = key_of("SUB", len(state["submissions"]) + 1)
                ids = {"student_id": student["student_id"], "assignment_id": one["assignment_id"]}
                state["submissions"][key] = {"submission_id": key, **ids, **BLANK, **MISSED}
        state["school_classes"][closed]["closed"] = True
        for n, student in enumerate(shuffled(rng, list(state["students"].values()))[:4]):
            key, when = key_of("NOT", n + 1), later(today, -int(rng.integers(1, 3)))
            home = {"student_id": student["student_id"], "school_class_id": pick(rng, student["class_ids"])}
            note = {"note_id": key, **home, "about": "progress", "text": pick(rng, s.remarks)}
            average = goal.average(student["student_id"], home["school_class_id"], state)
            state["notes"][key] = {**note, "average": average, "written_on": when}

    def _work(self, goal: BookGoal, state: State, rng: Rng, ids: dict[str, str], ready: bool) -> None:
        """What came in of one student's work, or that there is more time for it."""
        one, s, today, chance = (
            state["assignments"][ids["assignment_id"]],
            goal.v.s,
            state["today"],
            rng.random(),
        )
        past, due = one["due_on"] < today, one["due_on"]
        if chance < (0.16 if past else 0.85) or len(state["submissions"]) == 27:
            day, key = later(due, int(rng.integers(4, 13))), key_of("EXT", len(state["extensions"]) + 1)
            if len(state["extensions"]) < 5 and day >= today and not ready:
                row = {"extension_id": key, **ids, "new_due_on": day, "reason": pick(rng, s.grounds)}
                granted = later(min(due, today), -int(rng.integers(1, 6)))
                state["extensions"][key] = {**row, "granted_on": granted}
            return
        test, key = one["kind"] == "test", key_of("SUB", len(state["submissions"]) + 1)
        late = int(rng.integers(1, 4)) if past and not test and chance > 0.75 else 0
        handed = later(due if past else today, late or (0 if test else -int(rng.integers(0, 3))))
        row = {
            "submission_id": key,
            **ids,
            **BLANK,
            "handed_in_on": handed,
            "days_late": late,
            "status": "handed in",
        }
        if past and chance > 0.95:
            row |= {**BLANK, "status": "excused", "note": pick(rng, s.excuses)}
        elif ready or (past and chance < 0.7):
            low = one["max_points"] // 4
            row |= {"status": "marked", "points": int(rng.integers(low, one["max_points"] + 1))}
            row["score"] = goal.score(row, state)
        state["submissions"][key] = row


PATTERN = Gradebook
