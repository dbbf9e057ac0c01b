"""Surveys: forms in versions, who is invited, answers that are checked and counted up to a quota, and follow-ups."""

from types import SimpleNamespace
from typing import Any, ClassVar, Literal

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


class Ask(Part):
    """One question."""

    text: str
    """Its wording."""
    better: str = ""
    """Another wording, for those on a scale."""
    kind: Literal["choice", "scale", "number"] = "scale"
    """How it is answered; a scale is from 1 to 5."""
    options: list[str] = []
    """What there is to choose."""


class SurveySettings(Settings):
    """What is asked, and of whom."""

    forms: dict[str, list[Ask]]
    """Title → three questions, two or more of them on a scale; at least five forms."""
    segments: list[str]
    """Kinds of contacts."""
    doubts: list[str]
    """Why responses are set aside."""
    outcomes: list[str]
    """What comes of follow-ups."""


class SurveyGoal(Goal):
    """What goals about surveys share."""

    def form(self, slots: Slots, state: State, status: str = "open") -> Row:
        """The form a sentence names, with this status unless it is empty."""
        row: Row = only([f for f in state["forms"].values() if f["title"] == slots["title"]])
        if status not in ("", row["status"]):
            raise LookupError(f"it is {row['status']}")
        return row

    def of(self, table: str, key: str, state: State, **wanted: Any) -> list[Row]:
        """The rows of a form with these values."""
        rows = [row for row in state[table].values() if row["form_id"] == key]
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def questions(self, key: str, state: State) -> list[Row]:
        """The questions of a form in their order."""
        return sorted(self.of("questions", key, state), key=lambda row: int(row["position"]))

    def worst(self, key: str, state: State) -> Row:
        """The question on a scale with the lowest mean of counted responses."""
        counted = [row["answers"] for row in self.of("responses", key, state, status="counted")]
        means = {}
        for row in self.of("questions", key, state, kind="scale"):
            values = [int(one[row["question_id"]]) for one in counted if row["question_id"] in one]
            if values:
                means[row["question_id"]] = sum(values) / len(values)
        lowest = only([one for one, mean in means.items() if mean == min(means.values())])
        if len(means) < 2:
            raise LookupError("there is nothing to compare")
        return dict(state["questions"][lowest])

    def some(self, state: State, rng: Rng, *statuses: str) -> Row:
        """A form with one of these statuses."""
        rows = [f for f in state["forms"].values() if f["status"] in (statuses or ("open",))]
        return dict(any_of(rng, rows))

    def lapsed(self, row: Row, state: State, *but: str) -> list[Outcome]:
        """Who was invited to a form and has not answered when it closes."""
        item = "Has the invitation of {} to the form lapsed?"
        outstanding = self.of("invitations", row["form_id"], state, status="sent")
        return [
            Changed(
                "invitations",
                one["invitation_id"],
                {"status": "lapsed"},
                item.format(state["contacts"][one["contact_id"]]["name"]),
                (row["form_id"], one["contact_id"]),
            )
            for one in outstanding
            if one["contact_id"] not in but
        ]


class Record(SurveyGoal):
    """Somebody's answers to three questions, which may fill the quota."""

    phrases = (
        "{name:name} has filled in the survey {title:name} on paper: {one:name} for the first question, {two:name} "
        "for the second and {three:name} for the third; please record that.",
        "Please record the answers of {name:name} to the survey {title:name}, in the order of the questions: "
        "{one:name}, then {two:name}, then {three:name}.",
    )
    needs = ("find_forms", "find_contacts", "record_response")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        invited = any_of(rng, self.of("invitations", row["form_id"], state, status="sent"))
        asked = self.questions(row["form_id"], state)
        given = [answer_to(one, rng) for one in asked]
        if len(given) != 3:
            return None
        name = state["contacts"][invited["contact_id"]]["name"]
        return {"name": name, "title": row["title"], **dict(zip(("one", "two", "three"), given, strict=True))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        answers = [slots["one"], slots["two"], slots["three"]]
        record = "record_response form_id<0 contact_id<1 answers"
        return steps({**slots, "answers": answers}, "find_forms title", "find_contacts name", record)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, contact = self.form(slots, state), named(state, self.v.contact, slots["name"])["contact_id"]
        asked = self.questions(row["form_id"], state)
        invited = only(self.of("invitations", row["form_id"], state, status="sent", contact_id=contact))
        given = [slots["one"], slots["two"], slots["three"]]
        answers = {q["question_id"]: a for q, a in zip(asked, given, strict=False)}
        if len(asked) != 3 or not all(fits(q, a) for q, a in zip(asked, given, strict=True)):
            raise LookupError("the answers do not fit")
        full = row["answered"] + 1 == row["quota"]
        fields = {
            "form_id": row["form_id"],
            "version": row["version"],
            "answers": answers,
            "status": "counted",
        }
        fields |= {
            "contact_id": None if row["anonymous"] else contact,
            "given_on": state["today"],
            "note": "",
        }
        count = {"answered": row["answered"] + 1} | ({"status": "closed"} if full else {})
        whom = f"{slots['name']} to {row['title']}"
        said = " and the form been closed, its quota being full" if full else ""
        return [
            Added("responses", fields, f"Has a response with the answers of {whom} been recorded?"),
            Changed("forms", row["form_id"], count, f"Has the response of {whom} been counted{said}?"),
            Changed(
                "invitations",
                invited["invitation_id"],
                {"status": "answered"},
                f"Is the invitation of {whom} answered?",
                (contact,),
            ),
            *(self.lapsed(row, state, contact) if full else []),
        ]


class SetAside(SurveyGoal):
    """A response that is not to count."""

    phrases = (
        'Please set the response of {name:name} to the survey {title:name} aside, because of "{reason:text}".',
        'The answers of {name:name} to the survey {title:name} must not count: please set them aside, "{reason:text}".',
    )
    needs = ("find_forms", "find_contacts", "list_responses", "set_aside_response")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        rows = [r for r in self.of("responses", row["form_id"], state, status="counted") if r["contact_id"]]
        if not rows:
            return None
        name = state["contacts"][any_of(rng, rows)["contact_id"]]["name"]
        return {"name": name, "title": row["title"], "reason": any_of(rng, self.v.s.doubts)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        mine = "list_responses form_id<0 contact_id<1"
        act = "set_aside_response response_id<2 reason"
        return steps(slots, "find_forms title", "find_contacts name", mine, act)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, contact = self.form(slots, state), named(state, self.v.contact, slots["name"])["contact_id"]
        response = only(self.of("responses", row["form_id"], state, contact_id=contact))
        if response["status"] != "counted":
            raise LookupError("it does not count")
        whom = f"{slots['name']} to {row['title']}"
        item = f"Has the response of {whom} been set aside with that reason?"
        fields = {"status": "set aside", "note": slots["reason"]}
        count, off = {"answered": row["answered"] - 1}, f"Is the response of {whom} taken off the count?"
        return [
            Changed("responses", response["response_id"], fields, item, (contact,)),
            Changed("forms", row["form_id"], count, off),
        ]


SetAsideInOwnWords = in_own_words(
    SetAside,
    "reason",
    "Please set the response of {name:name} to the survey {title:name} aside and give a reason in your own words.",
    "The answers of {name:name} to the survey {title:name} must not count: set them aside for a reason you word.",
)


class Reword(SurveyGoal):
    """A better wording for the question that came off worst."""

    phrases = (
        'In the survey {title:name}, find the question with the lowest mean and change its wording to "{text:name}".',
        'The question that came off worst in the survey {title:name} should be worded "{text:name}", please change it.',
    )
    needs = ("find_forms", "rank_questions", "reword_question")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        worst = self.worst(row["form_id"], state)
        better = {ask.text: ask.better for asks in self.v.s.forms.values() for ask in asks}
        text = better.get(worst["text"])
        return {"title": row["title"], "text": text} if text else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        act = "reword_question question_id<1 text"
        return steps(slots, "find_forms title", "rank_questions form_id<0", act)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.form(slots, state)
        worst, version = self.worst(row["form_id"], state), row["version"] + 1
        if any(q["text"] == slots["text"] for q in self.questions(row["form_id"], state)):
            raise LookupError("it is worded so")
        item = f"Has the question with the lowest mean in {row['title']} got that wording?"
        return [
            Changed("questions", worst["question_id"], {"text": slots["text"]}, item),
            Changed("forms", row["form_id"], {"version": version}, f"Is {row['title']} in version {version} now?"),
        ]  # fmt: skip


class OpenFollowUps(SurveyGoal):
    """Everybody who was unhappy with what came off worst is to be contacted."""

    phrases = (
        "In the survey {title:name}, open follow-ups with everybody who gave {points:int} or less to the question with "
        "the lowest mean.",
        "Please look up which question of the survey {title:name} has the lowest mean, and open follow-ups for the "
        "answers of at most {points:int} to it.",
    )
    needs = ("find_forms", "rank_questions", "open_follow_ups")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng, "open", "closed")
        return {"title": row["title"], "points": int(rng.integers(2, 4))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        act = "open_follow_ups question_id<1 at_most=points"
        return steps(slots, "find_forms title", "rank_questions form_id<0", act)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.form(slots, state, "")
        worst, outcomes = self.worst(row["form_id"], state), list[Outcome]()
        known = {f["response_id"] for f in state["follow_ups"].values()}
        for response in self.of("responses", row["form_id"], state, status="counted"):
            value = response["answers"].get(worst["question_id"])
            if value is None or int(value) > slots["points"] or response["response_id"] in known:
                continue
            fields = {"form_id": row["form_id"], "response_id": response["response_id"], "outcome": ""}
            fields |= {"contact_id": response["contact_id"], "reason": f"gave {value} of 5: {worst['text']}"}
            fields |= {"opened_on": state["today"], "done": False}
            name = state["contacts"][str(response["contact_id"])]["name"]
            outcomes.append(Added("follow_ups", fields, f"Has a follow-up with {name} been opened?"))
        if row["anonymous"] or len(outcomes) != 2:
            raise LookupError("it is not two that are followed up")
        return outcomes


class Remind(SurveyGoal):
    """Reminders to the two who have kept an invitation longest."""

    phrases = (
        "Of those who have neither answered the survey {title:name} nor been reminded, remind the two invited first.",
        "Of those with no answer and no reminder, remind the two of the survey {title:name} who were invited first.",
    )
    needs = ("find_forms", "list_unanswered", "send_reminder")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"title": self.some(state, rng)["title"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        each = (f"send_reminder invitation_id<1/{n}/invitation_id" for n in (0, 1))
        return steps(slots, "find_forms title", "list_unanswered form_id<0 reminded=False", *each)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.form(slots, state)
        rows = self.of("invitations", row["form_id"], state, status="sent", reminded_on="")
        rows = sorted(rows, key=lambda one: str(one["sent_on"]))
        dates = [one["sent_on"] for one in rows[:3]]
        if len(rows) < 2 or len(set(dates)) < len(dates) or dates[1] > later(state["today"], -3):
            raise LookupError("it is too early, or there are not two")
        item = f"Has {{}} been reminded of the survey {row['title']} today?"
        return [
            Changed(
                "invitations",
                one["invitation_id"],
                {"reminded_on": state["today"]},
                item.format(state["contacts"][one["contact_id"]]["name"]),
                (row["form_id"], one["contact_id"]),
            )
            for one in rows[:2]
        ]


class InviteSegment(SurveyGoal):
    """Everybody of a segment who was not invited so far."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Please invite all {segment:name} to the survey {title:name} who have not been invited so far.",
        "The survey {title:name} should also go to all {segment:name} who have no invitation to it yet.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_forms", "invite_segment")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"title": self.some(state, rng)["title"], "segment": any_of(rng, self.v.s.segments)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_forms title", "invite_segment form_id<0 segment")

    def invited(self, row: Row, contact: Row, state: State) -> Added:
        """A new invitation."""
        fields = {"form_id": row["form_id"], "contact_id": contact["contact_id"], "reminded_on": ""}
        item = f"Has {contact['name']} been invited to {row['title']}?"
        return Added("invitations", {**fields, "sent_on": state["today"], "status": "sent"}, item)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.form(slots, state)
        known = {one["contact_id"] for one in self.of("invitations", row["form_id"], state)}
        contacts = [c for c in state["contacts"].values() if c["segment"] == slots["segment"]]
        fresh = [c for c in contacts if c["contact_id"] not in known]
        if not 0 < len(fresh) < 4:
            raise LookupError("all are invited, or too many are not")
        return [self.invited(row, contact, state) for contact in fresh]


class InviteTwo(InviteSegment):
    """Two people more."""

    phrases = (
        "Please invite {name:name} and {other:name} to the survey {title:name}.",
        "{name:name} and {other:name} should get invitations to the survey {title:name} as well.",
    )
    needs = ("find_forms", "find_contacts", "invite_contact")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one, two = shuffled(rng, [c["name"] for c in state["contacts"].values()])[:2]
        return {"title": self.some(state, rng)["title"], "name": one, "other": two}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        look = ("find_forms title", "find_contacts name", "find_contacts name=other")
        each = (f"invite_contact form_id<0 contact_id<{n}/0/contact_id" for n in (1, 2))
        return steps(slots, *look, *each)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.form(slots, state)
        both = [named(state, self.v.contact, slots[which]) for which in ("name", "other")]
        known = {one["contact_id"] for one in self.of("invitations", row["form_id"], state)}
        if any(contact["contact_id"] in known for contact in both):
            raise LookupError("there is an invitation")
        return [self.invited(row, contact, state) for contact in both]


class CloseForm(SurveyGoal):
    """No more answers; open invitations lapse."""

    phrases = (
        "We have enough answers, so please close the survey {title:name}; whoever has not answered need not do so now.",
        "Please close the survey {title:name} for further answers and let the open invitations lapse.",
    )
    needs = ("find_forms", "close_form")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"title": self.some(state, rng)["title"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_forms title", "close_form form_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, item = self.form(slots, state), f"Has {slots['title']} been closed?"
        return [Changed("forms", row["form_id"], {"status": "closed"}, item), *self.lapsed(row, state)]


class OpenForm(InviteSegment):
    """A draft goes out, to one person at first."""

    phrases = (
        "The survey {title:name} is ready, please open it until {day:date} and invite {name:name} first.",
        "Please open the draft survey {title:name}, with {day:date} as its last day, and invite {name:name} to it.",
    )
    needs = ("find_forms", "find_contacts", "open_form", "invite_contact")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row, day = self.some(state, rng, "draft"), later(state["today"], int(rng.integers(5, 40)))
        return {
            "title": row["title"],
            "day": day,
            "name": any_of(rng, list(state["contacts"].values()))["name"],
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        look = ("find_forms title", "find_contacts name")
        return steps(
            slots, *look, "open_form form_id<0 closes_on=day", "invite_contact form_id<0 contact_id<1"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, contact = self.form(slots, state, "draft"), named(state, self.v.contact, slots["name"])
        item = f"Is {slots['title']} open for answers until {slots['day']}?"
        fields = {"status": "open", "closes_on": slots["day"]}
        return [Changed("forms", row["form_id"], fields, item), self.invited(row, contact, state)]


class Extend(SurveyGoal):
    """More time for answers."""

    phrases = (
        "Please give people more time for the survey {title:name}: it should stay open until {day:date}.",
        "Too few have answered, so move the last day of the survey {title:name} to {day:date}.",
    )
    needs = ("find_forms", "extend_form")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        return {"title": row["title"], "day": later(row["closes_on"], int(rng.integers(5, 30)))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return steps(slots, "find_forms title", "extend_form form_id<0 closes_on=day")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, day = self.form(slots, state), slots["day"]
        if not row["closes_on"] < day <= later(state["today"], 90):
            raise LookupError("the day does not fit")
        item = f"Is {slots['title']} open for answers until {day} now?"
        return [Changed("forms", row["form_id"], {"closes_on": day}, item)]


class Finish(SurveyGoal):
    """A follow-up is done."""

    phrases = (
        'The open follow-up with {name:name} is done: "{outcome:text}", please enter that.',
        'I have talked to {name:name}, so please complete the open follow-up with "{outcome:text}".',
    )
    needs = ("find_contacts", "list_follow_ups", "complete_follow_up")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [f for f in state["follow_ups"].values() if not f["done"]]
        name = state["contacts"][any_of(rng, rows)["contact_id"]]["name"]
        return {"name": name, "outcome": any_of(rng, self.v.s.outcomes)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        rest = "list_follow_ups contact_id<0 open_only=True"
        return steps(slots, "find_contacts name", rest, "complete_follow_up follow_up_id<1 outcome")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        contact = named(state, self.v.contact, slots["name"])["contact_id"]
        rows = [f for f in state["follow_ups"].values() if not f["done"] and f["contact_id"] == contact]
        item = f"Is the follow-up with {slots['name']} done, with what came of it?"
        fields = {"done": True, "outcome": slots["outcome"]}
        return [Changed("follow_ups", only(rows)["follow_up_id"], fields, item, (contact,))]


def answer_to(question: Row, rng: Rng) -> str:
    """An answer that fits a question."""
    if question["kind"] == "choice":
        return str(any_of(rng, question["options"]))
    return str(int(rng.integers(1, 6) if question["kind"] == "scale" else rng.integers(1, 40)))


def fits(question: Row, answer: str) -> bool:
    """Whether an answer is one of the options, 1 to 5, or a whole number."""
    if question["kind"] == "choice":
        return answer in question["options"]
    return answer in ("1", "2", "3", "4", "5") if question["kind"] == "scale" else answer.isdecimal()


class Surveys(Pattern):
    """Forms, invitations, responses and follow-ups."""

    Settings = SurveySettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Record, SetAside, SetAsideInOwnWords, Reword, OpenFollowUps, Remind, InviteSegment, InviteTwo, CloseForm,
        OpenForm, Extend, Finish,
    )  # fmt: skip

    def vocabulary(self, s: SurveySettings, shared: dict[str, Noun]) -> dict[str, Any]:
        words = ("form", "question", "contact", "invitation", "response", "follow up")
        nouns = {noun.id: noun for noun in map(Noun, words)}
        nouns["follow_up"].one, nouns["follow_up"].many = "follow-up", "follow-ups"
        return {**nouns, "segments": s.segments, "segmentlist": either(s.segments)}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(v.form, "A form with questions.", """
                form_id: str = unique id, e.g. FRM-001
                title: str = its title, no two alike
                status: str = draft, open or closed
                version: int = from 1, one more with each change of a question
                anonymous: bool = whether responses are kept without names
                quota: int = responses after which it closes
                answered: int = responses that count
                closes_on: str = last day for answers, as YYYY-MM-DD; empty in a draft"""),
            form(v.question, "A question of a form.", """
                question_id: str = unique id, e.g. QST-001
                form_id: str = the form
                position: int = its place in the form, from 1
                text: str = its wording
                kind: str = choice, scale (1 to 5) or number (whole)
                options: list[str] = what there is to choose, empty for other kinds
                required: bool = whether it must be answered"""),
            form(v.contact, "Somebody who can be asked.", f"""
                contact_id: str = unique id, e.g. CON-001
                name: str = full name
                email: str = email address
                segment: str = {v.segmentlist}"""),
            form(v.invitation, "An invitation to answer a form.", """
                invitation_id: str = unique id, e.g. INV-001
                form_id: str = the form
                contact_id: str = who is invited
                sent_on: str = date, as YYYY-MM-DD
                reminded_on: str = date of the reminder, empty without one
                status: str = sent, answered or lapsed"""),
            form(v.response, "What somebody answered.", """
                response_id: str = unique id, e.g. RSP-001
                form_id: str = the form
                version: int = version of the form that was answered
                contact_id: str | None = who answered, None in an anonymous form
                answers: dict[str, str] = id of the question to answer; what was left out is not in it
                given_on: str = date, as YYYY-MM-DD
                status: str = counted or set aside
                note: str = why it was set aside, otherwise empty"""),
            form(v.follow_up, "A talk with somebody about a response.", """
                follow_up_id: str = unique id, e.g. FUP-001
                form_id: str = the form
                response_id: str = the response
                contact_id: str = whom to talk to
                reason: str = the answer it is about
                opened_on: str = date, as YYYY-MM-DD
                done: bool = whether it is done
                outcome: str = what came of it, empty before"""),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "The number of answers a form has is calculated as the sum of its counted responses.",
            """
            counted = [r.get("form_id") for r in rows(after, "responses").values() if r.get("status") == "counted"]
            return all(row.get("answered") == counted.count(key) for key, row in rows(after, "forms").items())
            """,
        ),
        RuleText(
            "A form has at most as many answers as its quota, and is not open once the quota is reached.",
            """
            for row in rows(after, "forms").values():
                left = (row.get("quota") or 0) - (row.get("answered") or 0)
                if left < 0 or (left == 0 and row.get("status") == "open"):
                    return False
            return True
            """,
        ),
        RuleText(
            "Responses to an anonymous form are private and name no contact; any other response names somebody who "
            "was invited to the form.",
            """
            invited = {(r.get("form_id"), r.get("contact_id")) for r in rows(after, "invitations").values()}
            for row in rows(after, "responses").values():
                anonymous = (rows(after, "forms").get(str(row.get("form_id"))) or {}).get("anonymous")
                if anonymous and row.get("contact_id") is not None:
                    return False
                if not anonymous and (row.get("form_id"), row.get("contact_id")) not in invited:
                    return False
            return True
            """,
        ),
        RuleText(
            "Each answer is one of the options of its question, a whole number from 1 to 5 on a scale, or else a whole "
            "number.",
            """
            asked = rows(after, "questions")
            for row in rows(after, "responses").values():
                answers = row.get("answers")
                for key, value in (answers.items() if isinstance(answers, dict) else [("", "")]):
                    kind, value = (asked.get(key) or {}).get("kind"), str(value)
                    if kind == "choice" and value not in ((asked.get(key) or {}).get("options") or []):
                        return False
                    if kind != "choice" and not (value.isdecimal() and (kind == "number" or 1 <= int(value) <= 5)):
                        return False
            return True
            """,
        ),
        RuleText(
            "No two invitations to a form go to the same contact.",
            """
            pairs = [(row.get("form_id"), row.get("contact_id")) for row in rows(after, "invitations").values()]
            return len(pairs) == len(set(pairs))
            """,
        ),
        RuleText(
            "A form goes from draft to open to closed and never back.",
            """
            steps = {("draft", "open"), ("open", "closed")}
            return all((old.get("status"), new.get("status")) in steps for old, new in changed("forms", "status"))
            """,
        ),
        RuleText(
            "Every change of a question's wording leaves a new version of its form.",
            """
            newer = {new.get("form_id") for old, new in changed("forms", "version")
                     if (new.get("version") or 0) > (old.get("version") or 0)}
            return all(new.get("form_id") in newer for _, new in changed("questions", "text"))
            """,
        ),
        RuleText(
            "Nobody is reminded earlier than 3 days after the invitation.",
            """
            from datetime import date, timedelta
            for row in rows(after, "invitations").values():
                if row.get("reminded_on"):
                    first = date.fromisoformat(row.get("sent_on") or "9000-01-01") + timedelta(days=3)
                    if str(row["reminded_on"]) < first.isoformat():
                        return False
            return True
            """,
        ),
    )

    HELPERS = '''
    def _questions(self, form_id: str) -> list[dict]:
        """Return the questions of a form in their order."""
        asked = [question for question in self.questions.values() if question["form_id"] == form_id]
        return sorted(asked, key=lambda question: question["position"])

    def _counted(self, form_id: str) -> list[dict]:
        """Return the responses of a form that count."""
        return [
            response
            for response in self.responses.values()
            if response["form_id"] == form_id and response["status"] == "counted"
        ]

    def _invitation(self, form_id: str, contact_id: str) -> dict | None:
        """Return somebody's invitation to a form, None for nobody invited."""
        for invitation in self.invitations.values():
            if invitation["form_id"] == form_id and invitation["contact_id"] == contact_id:
                return invitation
        return None

    @staticmethod
    def _fits(question: dict, answer: str) -> bool:
        """Tell whether an answer can be given to a question; nothing fits what is not required."""
        if not answer:
            return not question["required"]
        if question["kind"] == "choice":
            return answer in question["options"]
        return answer.isdecimal() and (question["kind"] == "number" or answer in ("1", "2", "3", "4", "5"))

    def _invite(self, form_id: str, contact_id: str) -> dict:
        """Add an invitation of today."""
        invitation: Invitation = {
            "invitation_id": self._next_id(self.invitations, "INV"),
            "form_id": form_id,
            "contact_id": contact_id,
            "sent_on": self.today,
            "reminded_on": "",
            "status": "sent",
        }
        self.invitations[invitation["invitation_id"]] = invitation
        return invitation

    def _close(self, form: dict) -> list[dict]:
        """Close a form, let its open invitations lapse and return these."""
        form["status"] = "closed"
        outstanding = [
            invitation
            for invitation in self.invitations.values()
            if invitation["form_id"] == form["form_id"] and invitation["status"] == "sent"
        ]
        for invitation in outstanding:
            invitation["status"] = "lapsed"
        return [dict(invitation) for invitation in outstanding]
'''

    READS = '''
def find_forms(self, title: str | None = None) -> dict:
    """Find forms by title, with the number of their questions and of the people invited.

    Args:
        title: Title or a part of it; upper and lower case are the same. Leave out for all forms.

    Returns:
        The matching forms; one whose title is exactly this comes first, then by title.
    """
    refuse if title is not None and not title.strip() :: The title to look for is empty.
    wanted, matches = (title or "").strip().lower(), []
    for key, form in self.forms.items():
        if wanted in form["title"].lower():
            invited = sum(invitation["form_id"] == key for invitation in self.invitations.values())
            matches.append({**form, "questions": len(self._questions(key)), "invited": invited})
    matches.sort(key=lambda form: (form["title"].lower() != wanted, form["title"]))
    return {"success": True, "data": matches}

def show_form(self, form_id: str) -> dict:
    """Show a form with its questions in their order.

    Args:
        form_id: Id of the form.

    Returns:
        The form and its `questions`, or an error.
    """
    need form
    return {"success": True, "data": {**form, "questions": deepcopy(self._questions(form_id))}}

def find_contacts(self, name: str) -> dict:
    """Find people who can be asked, by name.

    Args:
        name: Full name or a part of it; upper and lower case are the same.

    Returns:
        The matching contacts by name, each with how many invitations are `unanswered`.
    """
    refuse if not name.strip() :: The name to look for is empty.
    waiting = [one["contact_id"] for one in self.invitations.values() if one["status"] == "sent"]
    matches = [
        {**contact, "unanswered": waiting.count(key)}
        for key, contact in self.contacts.items()
        if name.strip().lower() in contact["name"].lower()
    ]
    return {"success": True, "data": sorted(matches, key=lambda contact: contact["name"])}

def list_unanswered(self, form_id: str, reminded: bool | None = None) -> dict:
    """List the invitations to a form without an answer, the one sent first in front.

    Args:
        form_id: Id of the form.
        reminded: True for those reminded already, False for the others. Leave out for both.

    Returns:
        The invitations, each with the `name` of the contact and the `days` since it was sent.
    """
    need form
    today, rest = date.fromisoformat(self.today), []
    for invitation in self.invitations.values():
        if invitation["form_id"] != form_id or invitation["status"] != "sent":
            continue
        if reminded is None or reminded == bool(invitation["reminded_on"]):
            days = (today - date.fromisoformat(invitation["sent_on"])).days
            rest.append({**invitation, "name": self.contacts[invitation["contact_id"]]["name"], "days": days})
    rest.sort(key=lambda invitation: (-invitation["days"], invitation["invitation_id"]))
    return {"success": True, "data": rest}

def list_responses(self, form_id: str, contact_id: str | None = None, counted_only: bool = False) -> dict:
    """List the responses to a form in the order they came in.

    Args:
        form_id: Id of the form.
        contact_id: Only the response of this contact, if the form is not anonymous. Leave out for all.
        counted_only: Whether to leave out those that were set aside.

    Returns:
        The responses; an empty list when there are none.
    """
    need form
    if contact_id is not None:
        refuse if contact_id not in self.contacts :: There is no contact with the id {contact_id!r}.
        refuse if form["anonymous"] :: {form['title']} is anonymous: nobody can be told from the others.
    chosen = self._counted(form_id) if counted_only else list(self.responses.values())
    mine = [one for one in chosen if one["form_id"] == form_id and contact_id in (None, one["contact_id"])]
    mine.sort(key=lambda one: (one["given_on"], one["response_id"]))
    return {"success": True, "data": deepcopy(mine)}

def tally_question(self, question_id: str) -> dict:
    """Tally the counted answers to a question.

    Args:
        question_id: Id of the question.

    Returns:
        How often each answer was given, most frequent first, with its share in per cent, and the mean of numbers.
    """
    need question
    given = [
        response["answers"][question_id]
        for response in self._counted(question["form_id"])
        if question_id in response["answers"]
    ]
    tally = [
        {"answer": answer, "times": given.count(answer), "share": round(100 * given.count(answer) / len(given), 1)}
        for answer in sorted(set(given), key=lambda answer: (-given.count(answer), answer))
    ]
    mean = None
    if given and question["kind"] != "choice":
        mean = round(sum(map(int, given)) / len(given), 2)
    return {"success": True, "data": {"question": question["text"], "tally": tally, "mean": mean}}

def rank_questions(self, form_id: str) -> dict:
    """Rank the questions on a scale by the mean of their counted answers, the lowest first.

    Args:
        form_id: Id of the form.

    Returns:
        The questions that were answered, each with `mean` and the number of `answers`.
    """
    need form
    ranked = []
    for question in self._questions(form_id):
        key = question["question_id"]
        if question["kind"] == "scale":
            values = [int(one["answers"][key]) for one in self._counted(form_id) if key in one["answers"]]
            if values:
                told = {name: question[name] for name in ("question_id", "position", "text")}
                ranked.append({**told, "mean": sum(values) / len(values), "answers": len(values)})
    return {"success": True, "data": sorted(ranked, key=lambda one: (one["mean"], one["position"]))}

def compute_rates(self, form_id: str) -> dict:
    """Compute which share of the people invited to a form has answered, segment by segment.

    Args:
        form_id: Id of the form.

    Returns:
        For each segment that was invited the numbers `invited` and `answered` and the `rate` in per cent.
    """
    need form
    segments = {}
    for invitation in self.invitations.values():
        if invitation["form_id"] == form_id:
            segment = self.contacts[invitation["contact_id"]]["segment"]
            segments.setdefault(segment, []).append(invitation["status"] == "answered")
    told = [
        {"segment": name, "invited": len(each), "answered": sum(each), "rate": round(100 * sum(each) / len(each), 1)}
        for name, each in segments.items()
    ]
    return {"success": True, "data": sorted(told, key=lambda one: (-one["rate"], one["segment"]))}

def list_follow_ups(self, contact_id: str | None = None, open_only: bool = False) -> dict:
    """List follow-ups, the one opened first in front.

    Args:
        contact_id: Only those with this contact. Leave out for all.
        open_only: Whether to leave out those that are done.

    Returns:
        The follow-ups, each with the `name` and the `email` of the contact.
    """
    if contact_id is not None and contact_id not in self.contacts:
        refuse :: There is no contact with the id {contact_id!r}.
    told = []
    for follow_up in self.follow_ups.values():
        if contact_id in (None, follow_up["contact_id"]) and not (open_only and follow_up["done"]):
            contact = self.contacts[follow_up["contact_id"]]
            told.append({**follow_up, "name": contact["name"], "email": contact["email"]})
    return {"success": True, "data": sorted(told, key=lambda one: (one["opened_on"], one["follow_up_id"]))}
'''

    WRITES = '''
<% macro is_open() %>
    need form
    refuse if form["status"] != "open" :: {form['title']} is {form['status']}, not open.
<%- endmacro %>
<% macro good_day(after) %>
    refuse if not self._is_date(closes_on) :: {closes_on!r} is not a date as YYYY-MM-DD.
    last = (date.fromisoformat(self.today) + timedelta(days=90)).isoformat()
    refuse if not <<after>> < closes_on <= last :: The last day is after {<<after>>} and by {last}, not {closes_on}.
<%- endmacro %>
def open_form(self, form_id: str, closes_on: str) -> dict:
    """Open a draft for answers.

    Args:
        form_id: Id of the form, a draft with at least one question.
        closes_on: Last day for answers, after today and within 90 days, as YYYY-MM-DD.

    Returns:
        The open form, or an error.
    """
    need form
    refuse if form["status"] != "draft" :: {form['title']} is {form['status']}, not a draft.
    refuse if not self._questions(form_id) :: {form['title']} has no question.
<<good_day("self.today")>>
    form.update(status="open", closes_on=closes_on)
    done dict(form) :: {form['title']} is open until {closes_on}.

def extend_form(self, form_id: str, closes_on: str) -> dict:
    """Give more time for the answers to an open form.

    Args:
        form_id: Id of the form.
        closes_on: New last day, later than before and within 90 days, as YYYY-MM-DD.

    Returns:
        The form, or an error.
    """
<<is_open()>>
    before = form["closes_on"]
<<good_day("before")>>
    form["closes_on"] = closes_on
    done dict(form) :: {form['title']} stays open until {closes_on}.

def close_form(self, form_id: str) -> dict:
    """Close an open form; invitations without an answer lapse.

    Args:
        form_id: Id of the form.

    Returns:
        The form and the invitations that `lapsed`, or an error.
    """
<<is_open()>>
    lapsed = self._close(form)
    done {"form": dict(form), "lapsed": lapsed} :: {form['title']} is closed with {form['answered']} answers.

def reword_question(self, question_id: str, text: str) -> dict:
    """Change the wording of a question, which makes a new version of its form.

    Args:
        question_id: Id of the question, whose form is not closed.
        text: The new wording; no other question of the form may have it.

    Returns:
        The question and the new version of its form, or an error.
    """
    need question
    form = self.forms[question["form_id"]]
    refuse if form["status"] == "closed" :: {form['title']} is closed.
    wordings = [other["text"].lower() for other in self._questions(form["form_id"])]
    refuse if not text.strip() or text.strip().lower() in wordings :: The wording {text!r} is empty or there already.
    question["text"] = text.strip()
    form["version"] += 1
    done {**deepcopy(question), "version": form["version"]} :: {form['title']} is in version {form['version']}.

def invite_contact(self, form_id: str, contact_id: str) -> dict:
    """Invite one person to an open form.

    Args:
        form_id: Id of the form.
        contact_id: Id of somebody who was not invited to it before.

    Returns:
        The invitation, or an error.
    """
<<is_open()>>
    need contact
    if self._invitation(form_id, contact_id) is not None:
        refuse :: {contact['name']} was invited to {form['title']} before.
    invitation = self._invite(form_id, contact_id)
    done dict(invitation) :: {contact['name']} is invited to {form['title']}.

def invite_segment(self, form_id: str, segment: str) -> dict:
    """Invite everybody of a segment to an open form who was not invited before.

    Args:
        form_id: Id of the form.
        segment: <<segmentlist>>.

    Returns:
        The new invitations, or an error when there is nobody left to invite.
    """
<<is_open()>>
    refuse if segment not in (<<quoted(segments)>>) :: There is no segment {segment!r}.
    fresh = [
        key
        for key, contact in self.contacts.items()
        if contact["segment"] == segment and self._invitation(form_id, key) is None
    ]
    refuse if not fresh :: All {segment} were invited to {form['title']} before.
    sent = [dict(self._invite(form_id, key)) for key in fresh]
    done sent :: {len(sent)} invitation(s) to {form['title']} sent.

def send_reminder(self, invitation_id: str) -> dict:
    """Remind somebody of an invitation, once and no earlier than 3 days after it was sent.

    Args:
        invitation_id: Id of the invitation, which has no answer.

    Returns:
        The invitation, or an error.
    """
    need invitation
    refuse if invitation["status"] != "sent" :: {invitation_id} is {invitation['status']}.
    refuse if invitation["reminded_on"] :: There was a reminder on {invitation['reminded_on']}.
    days = (date.fromisoformat(self.today) - date.fromisoformat(invitation["sent_on"])).days
    refuse if days < 3 :: The invitation is only {days} day(s) old.
    invitation["reminded_on"] = self.today
    done dict(invitation) :: {self.contacts[invitation['contact_id']]['name']} was reminded.

def record_response(self, form_id: str, contact_id: str, answers: list[str]) -> dict:
    """Record what somebody answered to an open form; when the quota is reached, the form is closed.

    Args:
        form_id: Id of the form.
        contact_id: Id of somebody with an invitation that has no answer; not kept when the form is anonymous.
        answers: One for each question in the order of the form: an option, a whole number, 1 to 5 on a scale, or
            empty where no answer is required.

    Returns:
        The response, the form, the invitation and those that `lapsed` because the form was closed, or an error.
    """
<<is_open()>>
    need contact
    invitation = self._invitation(form_id, contact_id)
    if invitation is None or invitation["status"] != "sent":
        refuse :: {contact['name']} has no open invitation to {form['title']}.
    asked = self._questions(form_id)
    refuse if len(answers) != len(asked) :: {form['title']} has {len(asked)} questions, not {len(answers)}.
    for question, answer in zip(asked, answers, strict=True):
        refuse if not self._fits(question, answer) :: {answer!r} is no answer to question {question['position']}.
    pairs = zip(asked, answers, strict=True)
    kept = {question["question_id"]: answer for question, answer in pairs if answer}
    response: Response = {
        "response_id": self._next_id(self.responses, "RSP"),
        "form_id": form_id,
        "version": form["version"],
        "contact_id": None if form["anonymous"] else contact_id,
        "answers": kept,
        "given_on": self.today,
        "status": "counted",
        "note": "",
    }
    self.responses[response["response_id"]] = response
    invitation["status"] = "answered"
    form["answered"] += 1
    lapsed = self._close(form) if form["answered"] == form["quota"] else []
    data = {
        "response": deepcopy(response),
        "form": dict(form),
        "invitation": dict(invitation),
        "lapsed": lapsed,
    }
    done data :: {form['title']} has {form['answered']} of {form['quota']} answers.

def set_aside_response(self, response_id: str, reason: str) -> dict:
    """Set a response to an open form aside, so that it does not count.

    Args:
        response_id: Id of the response, which counts.
        reason: Why, in a few words.

    Returns:
        The response, or an error.
    """
    need response
    form = self.forms[response["form_id"]]
    refuse if form["status"] != "open" :: {form['title']} is closed and stays as it is.
    refuse if response["status"] != "counted" :: {response_id} does not count.
    refuse if not reason.strip() :: A reason is required.
    response.update(status="set aside", note=reason.strip())
    form["answered"] -= 1
    done deepcopy(response) :: {form['title']} has {form['answered']} answers.

def open_follow_ups(self, question_id: str, at_most: int) -> dict:
    """Open a follow-up with everybody whose counted answer on a scale is low and who has none about the response.

    Args:
        question_id: Id of a question on a scale, in a form that is not anonymous.
        at_most: The highest answer that is followed up, from 1 to 4.

    Returns:
        The new follow-ups, or an error when nobody is left to follow up.
    """
    need question
    form = self.forms[question["form_id"]]
    refuse if form["anonymous"] :: {form['title']} is anonymous.
    refuse if question["kind"] != "scale" :: The question is not on a scale but a {question['kind']}.
    refuse if not 1 <= at_most <= 4 :: A low answer is from 1 to 4, not {at_most}.
    known = {follow_up["response_id"] for follow_up in self.follow_ups.values()}
    opened = []
    for response in self._counted(form["form_id"]):
        value = response["answers"].get(question_id)
        if value is None or int(value) > at_most or response["response_id"] in known:
            continue
        follow_up: FollowUp = {
            "follow_up_id": self._next_id(self.follow_ups, "FUP"),
            "form_id": form["form_id"],
            "response_id": response["response_id"],
            "contact_id": response["contact_id"],
            "reason": f"gave {value} of 5: {question['text']}",
            "opened_on": self.today,
            "done": False,
            "outcome": "",
        }
        self.follow_ups[follow_up["follow_up_id"]] = follow_up
        opened.append(dict(follow_up))
    refuse if not opened :: Nobody gave {at_most} or less without a follow-up.
    done opened :: {len(opened)} follow-up(s) opened.

def complete_follow_up(self, follow_up_id: str, outcome: str) -> dict:
    """Complete a follow-up.

    Args:
        follow_up_id: Id of the follow-up, which is open.
        outcome: What came of it, in a few words.

    Returns:
        The follow-up, or an error.
    """
    need follow_up
    refuse if follow_up["done"] :: {follow_up_id} is done.
    refuse if not outcome.strip() :: Say what came of it.
    follow_up.update(done=True, outcome=outcome.strip())
    done dict(follow_up) :: {follow_up_id} is done.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        for n, name in enumerate(names.people(rng, 12)):
            key, segment = key_of("CON", n + 1), s.segments[n % len(s.segments)]
            row = {"contact_id": key, "name": name, "email": names.email(name), "segment": segment}
            state["contacts"][key] = row
        titles = shuffled(rng, list(s.forms))[:6]
        statuses = ("open", "open", "open", "open", "closed", "draft")
        for n, (title, status) in enumerate(zip(titles, statuses, strict=True)):
            key = key_of("FRM", n + 1)
            row = {"form_id": key, "title": title, "status": status, "anonymous": n == 3, "answered": 0}
            row |= {"version": 1 if status == "draft" else int(rng.integers(1, 4)), "closes_on": ""}
            state["forms"][key] = row
            for place, ask in enumerate(s.forms[title]):
                number = key_of("QST", len(state["questions"]) + 1)
                asked = {"question_id": number, "form_id": key, "position": place + 1, "text": ask.text}
                more = {"kind": ask.kind, "options": ask.options, "required": ask.kind != "number"}
                state["questions"][number] = {**asked, **more}
            if status != "draft":
                days = int(rng.integers(3, 20)) if status == "open" else -int(rng.integers(2, 9))
                row["closes_on"] = later(today, days)
                self._invited(v, state, rng, row)
            row["quota"] = row["answered"] + int(rng.choice([1, 2, 5, 8])) if status == "open" else 12
        rows = [r for r in state["responses"].values() if r["contact_id"] and r["status"] == "counted"]
        scales = [k for k, q in state["questions"].items() if q["kind"] == "scale"]
        for n, response in enumerate(shuffled(rng, rows)[:4]):
            key, worst = key_of("FUP", n + 1), next(k for k in response["answers"] if k in scales)
            row = {"follow_up_id": key, "response_id": response["response_id"], "done": n > 2}
            row |= {name: response[name] for name in ("form_id", "contact_id")}
            gave = f"gave {response['answers'][worst]} of 5: {state['questions'][worst]['text']}"
            row |= {"reason": gave, "opened_on": response["given_on"]}
            state["follow_ups"][key] = {**row, "outcome": pick(rng, s.outcomes) if n > 2 else ""}

    def _invited(self, v: SimpleNamespace, state: State, rng: Rng, row: Row) -> None:
        """Who was invited to a form, and what came back."""
        goal, today, key = SurveyGoal(v, []), state["today"], row["form_id"]
        days = sorted((int(d) for d in rng.choice(range(2, 22), size=6, replace=False)), reverse=True)
        ago = 0 if row["status"] == "open" else 20
        asked = goal.questions(key, state)
        for n, (contact, day) in enumerate(
            zip(shuffled(rng, list(state["contacts"]))[:6], days, strict=True)
        ):
            number, sent = key_of("INV", len(state["invitations"]) + 1), later(today, -day - ago)
            answered = n in (0, 2, 4) or (n == 3 and rng.random() < 0.4)
            reminded = n == 1 and day > 5 and rng.random() < 0.5
            status = "answered" if answered else "sent" if row["status"] == "open" else "lapsed"
            one = {"invitation_id": number, "form_id": key, "contact_id": contact, "sent_on": sent}
            back = later(sent, 4) if reminded else ""
            state["invitations"][number] = {**one, "reminded_on": back, "status": status}
            if answered:
                number, aside = key_of("RSP", len(state["responses"]) + 1), rng.random() < 0.1
                answers = {q["question_id"]: answer_to(q, rng) for q in asked}
                reply = {"response_id": number, "form_id": key, "version": row["version"], "answers": answers}
                reply |= {"contact_id": None if row["anonymous"] else contact, "given_on": later(sent, 1)}
                note = pick(rng, v.s.doubts) if aside else ""
                state["responses"][number] = {
                    **reply,
                    "status": "set aside" if aside else "counted",
                    "note": note,
                }
                row["answered"] += not aside


PATTERN = Surveys
