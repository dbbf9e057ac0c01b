"""Mailbox: one person's emails in threads and folders, filters that sort them, and who is answered or blocked."""

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
    found,
    in_own_words,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._snippets import first_fitting, put, table_of
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]
SYSTEM = ("Inbox", "Sent", "Snoozed", "Spam", "Archive")
TEXT_KB = 8
"""What an email takes without attachments."""


class MailboxSettings(Settings):
    """A mailbox's data."""

    folders: list[str]
    """Folders of the owner's own."""
    labels: list[str]
    """Labels in use."""
    fresh: list[str]
    """Labels not in use yet."""
    letters: dict[str, list[str]]
    """Subject → what is written about it, one email after the other."""
    replies: list[str]
    """What the owner answers."""
    absences: list[str]
    """What the automatic reply says."""
    quota_kb: int = 60_000
    """Room for all emails."""


class Mail(Goal):
    """What goals about a mailbox share."""

    def contact(self, name: str, state: State) -> str:
        """The id of a contact."""
        return str(named(state, self.v.contact, name)["contact_id"])

    def folder(self, name: str, state: State) -> str:
        """The id of a folder."""
        return str(named(state, self.v.folder, name)["folder_id"])

    def latest(self, name: str, state: State, *folders: str) -> Row:
        """The newest email from somebody, in one of these folders."""
        where, contact = {self.folder(folder, state) for folder in folders}, self.contact(name, state)
        for _, email in sorted(state["emails"].items(), reverse=True):
            if email["contact_id"] == contact and not email["outgoing"]:
                if folders and email["folder_id"] not in where:
                    continue
                return dict(email)
        raise LookupError(f"nothing has come from {name}")

    def thread(self, thread: str, state: State) -> list[Row]:
        """What came in of a thread."""
        return [m for m in state["emails"].values() if m["thread_id"] == thread and not m["outgoing"]]

    def now(self, email: Row, item: str, **fields: Any) -> Changed:
        """An email has these values."""
        return Changed("emails", email["email_id"], fields, item, (email["thread_id"], email["contact_id"]))

    def anyone(self, state: State, rng: Rng, **slots: Any) -> Slots | None:
        """Those slots with the name of a contact who fits."""
        rows = shuffled(rng, list(state["contacts"].values()))
        return first_fitting(self, ({"name": row["name"], **slots} for row in rows), state)

    def sent(
        self,
        thread: str,
        contact: str,
        text: str,
        state: State,
        extra: int,
        answers: str | None,
        forwards: str | None,
    ) -> list[Outcome]:
        """A new email has gone out, and its thread counts it."""
        fields: Row = {
            "thread_id": thread,
            "folder_id": self.folder("Sent", state),
            "contact_id": contact,
            "text": text,
        }
        fields |= {"outgoing": True, "unread": False, "answered": False, "labels": [], "snoozed_until": None}
        fields |= {
            "sent_on": state["today"],
            "attachment_kb": extra,
            "size_kb": TEXT_KB + extra,
            "answers_id": answers,
            "forwards_id": forwards,
        }
        if sum(email["size_kb"] for email in state["emails"].values()) + TEXT_KB + extra > self.v.s.quota_kb:
            raise LookupError("the mailbox is full")
        name = state["contacts"][contact]["name"]
        counted = {"email_count": state["threads"][thread]["email_count"] + 1, "latest_on": state["today"]}
        return [
            Added("emails", fields, f"Has the wanted {'reply' if answers else 'email'} to {name} been sent?"),
            Changed("threads", thread, counted, f"Is the new email counted in the thread {thread}?"),
        ]


def look(*people: str) -> list[Row]:
    """The calls that find contacts."""
    return [call("find_contacts", name=name) for name in people]


def contact(index: int) -> Row:
    """The contact found by that call."""
    return found(index, 0, "contact_id")


def from_first(**more: Any) -> Row:
    """The call that lists what came from the contact of the first call, the newest first."""
    return call("search_emails", contact_id=contact(0), outgoing=False, **more)


class Reply(Mail):
    """Answer somebody's latest email."""

    phrases: ClassVar[tuple[str, ...]] = (
        'Answer the latest email from {name:name} with "{text:text}".',
        '{name:name} is waiting for a reply to the latest email that came from there: "{text:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_contacts", "search_emails", "reply_to_email")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng, text=pick(rng, self.v.s.replies))

    def plan(self, slots: Slots) -> list[Row]:
        answer = call("reply_to_email", answers_id=found(1, 0, "email_id"), text=slots["text"])
        return [*look(slots["name"]), from_first(), answer]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.answer(self.latest(slots["name"], state), slots["text"], state)

    def answer(self, email: Row, text: str, state: State) -> list[Outcome]:
        """The email is answered."""
        if email["folder_id"] == self.folder("Spam", state):
            raise LookupError("spam is not answered")
        item = f"Is the email {email['email_id']} marked as answered?"
        return [
            self.now(email, item, answered=True, unread=False),
            *self.sent(email["thread_id"], email["contact_id"], text, state, 0, email["email_id"], None),
        ]


ReplyInOwnWords = in_own_words(
    Reply,
    "text",
    "Answer the latest email from {name:name} for me, as you think fit.",
    "{name:name} is waiting for a reply to the latest email that came from there; word it as you like.",
)


class ReplyLongest(Reply):
    """Answer whoever has waited longest."""

    phrases = (
        "Of those whose email is the last of its thread and has had no answer for {days:int} days or more, write to "
        'the one who has waited longest: "{text:text}".',
        "Of the threads whose last email has waited {days:int} days or more for an answer, reply to the one waiting "
        'longest with "{text:text}".',
    )
    needs = ("list_waiting", "reply_to_email")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = {"days": int(rng.integers(4, 12)), "text": pick(rng, self.v.s.replies)}
        return first_fitting(self, [slots], state)

    def plan(self, slots: Slots) -> list[Row]:
        answer = call("reply_to_email", answers_id=found(0, 0, "email_id"), text=slots["text"])
        return [call("list_waiting", days=slots["days"]), answer]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        last: dict[str, Row] = {}
        for _, email in sorted(state["emails"].items()):
            last[email["thread_id"]] = email
        spam, until = self.folder("Spam", state), later(state["today"], -slots["days"])
        rows = [
            m for m in last.values() if not m["outgoing"] and m["folder_id"] != spam and m["sent_on"] <= until
        ]
        oldest = min((m["sent_on"] for m in rows), default="")
        return self.answer(only([m for m in rows if m["sent_on"] == oldest]), slots["text"], state)


class Forward(Mail):
    """Pass somebody's latest email on."""

    phrases = (
        'Forward the latest email from {name:name} to {other:name} with the note "{text:text}".',
        '{other:name} should see the latest email from {name:name}, so pass it on and write "{text:text}" above it.',
    )
    needs = ("find_contacts", "search_emails", "forward_email")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        other = pick(rng, list(state["contacts"].values()))["name"]
        return self.anyone(state, rng, other=other, text="Please have a look at this")

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"forwards_id": found(2, 0, "email_id"), "contact_id": contact(1), "note": slots["text"]}
        return [*look(slots["name"], slots["other"]), from_first(), call("forward_email", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        email, other = self.latest(slots["name"], state), self.contact(slots["other"], state)
        if state["contacts"][other]["blocked"] or other == email["contact_id"]:
            raise LookupError("it cannot be passed on to them")
        return self.sent(
            email["thread_id"], other, slots["text"], state, email["attachment_kb"], None, email["email_id"]
        )


class Block(Mail):
    """Somebody is blocked."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Block {name:name}; what came from there goes to the spam, and filters for that sender are switched off.",
        "I do not want to hear from {name:name} any more, so block that contact.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_contacts", "block_contact")
    ends: ClassVar[tuple[str, str]] = ("Inbox", "Spam")
    blocked: ClassVar[bool] = True

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        return [*look(slots["name"]), call(self.needs[1], contact_id=contact(0))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, (origin, target) = self.contact(slots["name"], state), self.ends
        if state["contacts"][one]["blocked"] == self.blocked:
            raise LookupError("it is so already")
        places = [self.folder(name, state) for name in ({origin, "Snoozed"} if self.blocked else {origin})]
        mine = [m for m in state["emails"].values() if m["contact_id"] == one and m["folder_id"] in places]
        new = {"folder_id": self.folder(target, state), "snoozed_until": None}
        off = [
            k for k, f in state["filters"].items() if f["contact_id"] == one and f["active"] and self.blocked
        ]
        item = f"Is {slots['name']} {'blocked' if self.blocked else 'no longer blocked'}?"
        return [
            Changed("contacts", one, {"blocked": self.blocked}, item),
            *(self.now(m, f"Is the email {m['email_id']} in the folder {target}?", **new) for m in mine),
            *(Changed("filters", k, {"active": False}, f"Is the filter {k} switched off?") for k in off),
        ]


class Unblock(Block):
    """Somebody is heard again."""

    phrases = (
        "{name:name} was blocked by mistake, so undo that and bring those emails back from the spam.",
        "Unblock {name:name}, and let what came from there return to the inbox.",
    )
    needs = ("find_contacts", "unblock_contact")
    ends = ("Spam", "Inbox")
    blocked = False


class Snooze(Mail):
    """An email comes back later."""

    phrases = (
        "Snooze the latest email from {name:name} in the inbox until {until:date}.",
        "The latest email in the inbox that {name:name} sent can wait, so let it come back on {until:date}.",
    )
    needs = ("list_folders", "find_contacts", "search_emails", "snooze_email")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng, until=later(state["today"], int(rng.integers(2, 30))))

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"email_id": found(2, 0, "email_id"), "snoozed_until": slots["until"]}
        inbox = call("list_folders", name="Inbox")
        return [
            *look(slots["name"]),
            inbox,
            from_first(folder_id=found(1, 0, "folder_id")),
            call("snooze_email", **ends),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        email = self.latest(slots["name"], state, "Inbox")
        item = f"Is the latest email from {slots['name']} snoozed until {slots['until']}?"
        new = {"folder_id": self.folder("Snoozed", state), "snoozed_until": slots["until"]}
        return [self.now(email, item, **new)]


class FileThread(Mail):
    """A whole thread goes into a folder."""

    phrases = (
        "Put the whole thread of the latest email from {name:name} into the folder {folder:name}.",
        "File everything that belongs to the latest email from {name:name} under {folder:name}.",
    )
    needs = ("find_contacts", "search_emails", "list_folders", "move_thread")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng, folder=pick(rng, [*self.v.s.folders, "Archive"]))

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"thread_id": found(1, 0, "thread_id"), "folder_id": found(2, 0, "folder_id")}
        folder = call("list_folders", name=slots["folder"])
        return [*look(slots["name"]), from_first(), folder, call("move_thread", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        thread, folder = self.latest(slots["name"], state)["thread_id"], self.folder(slots["folder"], state)
        moved = [m for m in self.thread(thread, state) if m["folder_id"] != folder]
        if not moved or any(m["folder_id"] == self.folder("Spam", state) for m in moved):
            raise LookupError("there is nothing to move")
        item = f"Is the email {{}} in the folder {slots['folder']}?"
        new = {"folder_id": folder, "snoozed_until": None}
        return [self.now(m, item.format(m["email_id"]), **new) for m in moved]


class LabelThread(Mail):
    """A whole thread gets a label."""

    phrases = (
        "Label the whole thread of the latest email from {name:name} as {label:name}, sent replies included.",
        "Every email of the thread that the latest one from {name:name} belongs to should be labelled {label:name}.",
    )
    needs = ("find_contacts", "search_emails", "label_thread")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng, label=pick(rng, [*self.v.s.labels, *self.v.s.fresh]))

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"thread_id": found(1, 0, "thread_id"), "label": slots["label"]}
        return [*look(slots["name"]), from_first(), call("label_thread", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        thread, label = self.latest(slots["name"], state)["thread_id"], slots["label"]
        plain = [m for m in state["emails"].values() if m["thread_id"] == thread and label not in m["labels"]]
        if not plain:
            raise LookupError("all of it has that label")
        item = f"Has the email {{}} got the label {label}?"
        return [self.now(m, item.format(m["email_id"]), labels=sorted([*m["labels"], label])) for m in plain]


class FilterFor(Mail):
    """A filter is made and sorts what is there."""

    phrases = (
        "Make a filter that puts emails from {name:name} into the folder {folder:name} with the label {label:name}, "
        "and run it over the inbox at once.",
        "From now on emails from {name:name} go to the folder {folder:name} and get the label {label:name}; create "
        "the filter and apply it to what is in the inbox already.",
    )
    needs = ("find_contacts", "list_folders", "create_filter", "apply_filter")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        label = pick(rng, [*self.v.s.labels, *self.v.s.fresh])
        return self.anyone(state, rng, folder=pick(rng, self.v.s.folders), label=label)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"contact_id": contact(0), "folder_id": found(1, 0, "folder_id"), "label": slots["label"]}
        return [
            *look(slots["name"]),
            call("list_folders", name=slots["folder"]),
            call("create_filter", **ends),
            call("apply_filter", filter_id=found(2, "filter_id")),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, inbox = self.contact(slots["name"], state), self.folder("Inbox", state)
        hit = [m for m in state["emails"].values() if m["contact_id"] == one and m["folder_id"] == inbox]
        if not hit or state["contacts"][one]["blocked"]:
            raise LookupError("there is nothing to sort")
        new = {"folder_id": self.folder(slots["folder"], state), "label": slots["label"]}
        fields = {"contact_id": one, "words": None, **new, "active": True, "hits": len(hit)}
        item, folder = "Has the filter sorted the email {}?", {"folder_id": new["folder_id"]}
        return [
            Added("filters", fields, f"Has the filter for {slots['name']} been made, and run once?"),
            *(
                self.now(
                    m, item.format(m["email_id"]), **folder, labels=sorted({*m["labels"], slots["label"]})
                )
                for m in hit
            ),
        ]


class PlanAbsence(Mail):
    """An automatic reply for days ahead."""

    phrases = (
        'I am away from {first:date} to {last:date}, so plan an automatic reply for these days: "{text:text}".',
        'Set up an automatic reply from {first:date} to {last:date} that says "{text:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = ("plan_absence",)
    weight = 0.35

    def days(self, state: State, rng: Rng) -> Slots:
        """Some days ahead."""
        first = later(state["today"], int(rng.integers(1, 120)))
        return {"first": first, "last": later(first, int(rng.integers(1, 15)))}

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = ({**self.days(state, rng), "text": pick(rng, self.v.s.absences)} for _ in range(9))
        return first_fitting(self, slots, state)

    def plan(self, slots: Slots) -> list[Row]:
        return [call("plan_absence", first_day=slots["first"], last_day=slots["last"], text=slots["text"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        self.clear(slots, state)
        fields = {
            "first_day": slots["first"],
            "last_day": slots["last"],
            "text": slots["text"],
            "status": "planned",
        }
        item = f"Has an automatic reply from {slots['first']} to {slots['last']} been planned?"
        return [Added("absences", fields, item, ("absences",))]

    def clear(self, slots: Slots, state: State, ignore: str = "") -> None:
        """Refuse days that another absence has."""
        for key, row in state["absences"].items():
            overlaps = row["first_day"] <= slots["last"] and slots["first"] <= row["last_day"]
            if key != ignore and row["status"] == "planned" and overlaps:
                raise LookupError("another absence is planned then")


class MoveAbsence(PlanAbsence):
    """The next absence is on other days."""

    phrases = (
        "My next planned absence is from {first:date} to {last:date} instead, please move its automatic reply.",
        "Move the automatic reply of my next absence to the days from {first:date} to {last:date}.",
    )
    needs = ("list_absences", "move_absence")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return first_fitting(self, (self.days(state, rng) for _ in range(9)), state)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {
            "absence_id": found(0, 0, "absence_id"),
            "first_day": slots["first"],
            "last_day": slots["last"],
        }
        return [call("list_absences", ahead=True), call("move_absence", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = [
            a
            for a in state["absences"].values()
            if a["status"] == "planned" and a["first_day"] > state["today"]
        ]
        if not rows:
            raise LookupError("none is ahead")
        key = min(rows, key=lambda row: str(row["first_day"]))["absence_id"]
        self.clear(slots, state, key)
        fields = {"first_day": slots["first"], "last_day": slots["last"]}
        item = f"Is the next absence from {slots['first']} to {slots['last']} now?"
        return [Changed("absences", key, fields, item, ("absences",))]


class Strip(Mail):
    """Room is made."""

    phrases = (
        "The mailbox is filling up, so remove the attachments of the largest email in it.",
        "Make some room: find the largest email of the whole mailbox and strip it of its attachments.",
    )
    needs = ("check_quota", "strip_attachments")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return first_fitting(self, [{}], state)

    def plan(self, slots: Slots) -> list[Row]:
        return [call("check_quota"), call("strip_attachments", email_id=found(0, "largest", 0, "email_id"))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        most = max(m["size_kb"] for m in state["emails"].values())
        email = only([m for m in state["emails"].values() if m["size_kb"] == most > TEXT_KB])
        left = {"attachment_kb": 0, "size_kb": most - email["attachment_kb"]}
        return [self.now(email, "Has the largest email been stripped of its attachments?", **left)]


class Rename(Mail):
    """A label is called otherwise."""

    phrases = (
        "Rename the label {old:name} to {new:name} wherever it is used, in filters too.",
        "The label {old:name} should be called {new:name} from now on, on all emails and in all filters.",
    )
    needs = ("rename_label",)
    weight = 0.4

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return first_fitting(
            self, [{"old": pick(rng, self.v.s.labels), "new": pick(rng, self.v.s.fresh)}], state
        )

    def plan(self, slots: Slots) -> list[Row]:
        return [call("rename_label", old_label=slots["old"], new_label=slots["new"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        old, new = slots["old"], slots["new"]
        emails = [m for m in state["emails"].values() if old in m["labels"]]
        if not emails:
            raise LookupError("nothing has that label")
        filters = [key for key, row in state["filters"].items() if row["label"] == old]
        item = f"Is {old} replaced by {new} in {{}}?"
        return [
            *(
                self.now(m, item.format(m["email_id"]), labels=sorted({new, *m["labels"]} - {old}))
                for m in emails
            ),
            *(Changed("filters", key, {"label": new}, item.format(key), ("labels",)) for key in filters),
        ]


class Mailbox(Pattern):
    """Contacts, folders, threads, emails, filters and automatic replies."""

    Settings = MailboxSettings
    GOALS: ClassVar = (
        Reply, ReplyInOwnWords, ReplyLongest, Forward, Block, Unblock, Snooze, FileThread, LabelThread, FilterFor,
        PlanAbsence, MoveAbsence, Strip, Rename,
    )  # fmt: skip
    IMPORTS = ("from collections import Counter", "from datetime import date")

    def vocabulary(self, s: MailboxSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        words = ("contact", "folder", "thread", "email", "filter", "absence")
        return {**{word: Noun(word) for word in words}, "text_kb": TEXT_KB}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            table_of(
                v.contact,
                "Somebody the owner of the mailbox writes to or hears from.",
                contact_id=("str", "unique id, e.g. CON-001"),
                name=("str", "full name"),
                address=("str", "email address"),
                blocked=("bool", "whether nothing of theirs reaches the inbox"),
            ),
            table_of(
                v.folder,
                "A place for emails.",
                folder_id=("str", "unique id, e.g. FLD-001"),
                name=("str", "name, unique"),
                kind=("str", "system or own"),
            ),
            table_of(
                v.thread,
                "Emails about one subject.",
                thread_id=("str", "unique id, e.g. THR-001"),
                subject=("str", "what it is about"),
                email_count=("int", "how many emails it has"),
                latest_on=("str", "date of its latest email, as YYYY-MM-DD"),
            ),
            table_of(
                v.email,
                "An email that came in or was sent.",
                email_id=("str", "unique id, e.g. EML-001; later ones have higher numbers"),
                thread_id=("str", "the thread"),
                folder_id=("str", "where it lies"),
                contact_id=("str", "who sent it, or to whom it was sent"),
                outgoing=("bool", "whether the owner sent it"),
                text=("str", "what it says"),
                sent_on=("str", "date, as YYYY-MM-DD"),
                attachment_kb=("int", "size of its attachments, 0 for none"),
                size_kb=("int", f"size of all of it: {TEXT_KB} for the text, and the attachments"),
                unread=("bool", "whether it has not been read yet"),
                answered=("bool", "whether a reply to it was sent"),
                labels=("list[str]", "its labels, sorted"),
                snoozed_until=("str | None", "day it comes back to the inbox, None unless snoozed"),
                answers_id=("str | None", "the email it is a reply to, otherwise None"),
                forwards_id=("str | None", "the email it passes on, otherwise None"),
            ),
            table_of(
                v.filter,
                "What is to happen to certain emails in the inbox.",
                filter_id=("str", "unique id, e.g. FLT-001"),
                contact_id=("str | None", "only emails from this contact, None for all"),
                words=("str | None", "only emails with these words in subject or text, None for all"),
                folder_id=("str | None", "where they are moved, None for nowhere"),
                label=("str | None", "label they get, None for none"),
                active=("bool", "whether it can be applied"),
                hits=("int", "emails it has sorted so far"),
            ),
            table_of(
                v.absence,
                "Days on which an automatic reply is sent.",
                absence_id=("str", "unique id, e.g. ABS-001"),
                first_day=("str", "first day, as YYYY-MM-DD"),
                last_day=("str", "last day, as YYYY-MM-DD"),
                text=("str", "what the reply says"),
                status=("str", "planned or cancelled"),
            ),
        ]

    RULES = (
        RuleText(
            "The email count of a thread is the total of its emails, and its date is that of the latest.",
            """
            days = {}
            for row in rows(after, "emails").values():
                days.setdefault(row.get("thread_id"), []).append(str(row.get("sent_on")))
            return all(
                (row.get("email_count"), row.get("latest_on")) == (len(days.get(key, [])), max(days.get(key, [""])))
                for key, row in rows(after, "threads").items()
            )
            """,
        ),
        RuleText(
            "An email lies in Snoozed exactly when it has a day on which it returns.",
            """
            folders = rows(after, "folders")
            return all(
                ((folders.get(str(row.get("folder_id"))) or {}).get("name") == "Snoozed")
                == (row.get("snoozed_until") is not None)
                for row in rows(after, "emails").values()
            )
            """,
        ),
        RuleText(
            "Nothing from a blocked contact lies in the Inbox.",
            """
            folders, contacts = rows(after, "folders"), rows(after, "contacts")
            for row in rows(after, "emails").values():
                if (folders.get(str(row.get("folder_id"))) or {}).get("name") == "Inbox":
                    if (contacts.get(str(row.get("contact_id"))) or {}).get("blocked"):
                        return False
            return True
            """,
        ),
        RuleText(
            "Planned absences do not overlap, and none ends before it begins.",
            """
            kept = [row for row in rows(after, "absences").values() if row.get("status") == "planned"]
            kept.sort(key=lambda row: str(row.get("first_day")))
            ends = [str(row.get("last_day")) for row in kept]
            begins = [str(row.get("first_day")) for row in kept]
            if any(begin > end for begin, end in zip(begins, ends)):
                return False
            return all(end < begin for end, begin in zip(ends, begins[1:]))
            """,
        ),
        RuleText(
            "All emails together take at most <<s.quota_kb>> KB.",
            """
            return sum(row.get("size_kb") or 0 for row in rows(after, "emails").values()) <= <<s.quota_kb>>
            """,
        ),
        RuleText(
            "Every reply leaves a mark on the email it answers, and no other email has one.",
            """
            replied = {row.get("answers_id") for row in rows(after, "emails").values() if row.get("outgoing")}
            return all(row.get("answered") == (key in replied) for key, row in rows(after, "emails").items())
            """,
        ),
        RuleText(
            "The text of what was sent stays as it was written, and it lies in Sent.",
            """
            sent = [key for key, row in rows(after, "folders").items() if row.get("name") == "Sent"]
            for key, row in rows(after, "emails").items():
                if bool(row.get("outgoing")) != (row.get("folder_id") in sent):
                    return False
            return not any(new.get("outgoing") for old, new in changed("emails", "text"))
            """,
        ),
        RuleText(
            "A filter cannot be active without a condition and something that it does.",
            """
            for row in rows(after, "filters").values():
                condition = row.get("contact_id") or row.get("words")
                if row.get("active") and not (condition and (row.get("folder_id") or row.get("label"))):
                    return False
            return True
            """,
        ),
    )

    HELPERS = '''
    def _system(self, name: str) -> str:
        """Return the id of a system folder: Inbox, Sent, Snoozed, Spam or Archive."""
        return next(key for key, f in self.folders.items() if f["kind"] == "system" and f["name"] == name)

    def _used_kb(self) -> int:
        """Return what all emails take."""
        return sum(email["size_kb"] for email in self.emails.values())

    def _send(self, thread_id: str, contact_id: str, text: str, attachment_kb: int, **about: str) -> dict:
        """Add a sent email to a thread, with the id of the email it is about: `answers_id` or `forwards_id`."""
        email: Email = {
            "email_id": self._next_id(self.emails, "EML"),
            "thread_id": thread_id,
            "folder_id": self._system("Sent"),
            "contact_id": contact_id,
            "outgoing": True,
            "text": text.strip(),
            "sent_on": self.today,
            "attachment_kb": attachment_kb,
            "size_kb": <<text_kb>> + attachment_kb,
            "unread": False,
            "answered": False,
            "labels": [],
            "snoozed_until": None,
            "answers_id": about.get("answers_id"),
            "forwards_id": about.get("forwards_id"),
        }
        self.emails[email["email_id"]] = email
        self.threads[thread_id]["email_count"] += 1
        self.threads[thread_id]["latest_on"] = self.today
        return email

    def _hits(self, rule: dict) -> list[dict]:
        """Return the emails in the Inbox that a filter is about."""
        inbox, words = self._system("Inbox"), (rule["words"] or "").lower()
        return [
            email
            for email in self.emails.values()
            if email["folder_id"] == inbox
            and rule["contact_id"] in (None, email["contact_id"])
            and words in f"{self.threads[email['thread_id']]['subject']} {email['text']}".lower()
        ]

    def _span_fault(self, first_day: str, last_day: str, ignore: str = "") -> str:
        """Tell what is wrong with the days of an absence; empty when nothing is."""
        try:
            first, last = date.fromisoformat(first_day), date.fromisoformat(last_day)
        except ValueError:
            return "Both days are given as YYYY-MM-DD."
        plain = (first.isoformat(), last.isoformat()) == (first_day, last_day)
        if not plain or not 0 <= (last - first).days <= 60:
            return f"From {first_day} to {last_day} is not a span of 1 to 61 days."
        if first_day <= self.today:
            return "The first day must be after today."
        for absence_id, row in self.absences.items():
            if absence_id == ignore or row["status"] == "cancelled":
                continue
            if row["first_day"] <= last_day and first_day <= row["last_day"]:
                return f"{absence_id} is planned from {row['first_day']} to {row['last_day']}."
        return ""
'''

    READS = '''
def find_contacts(self, name: str) -> dict:
    """Find contacts by name or address.

    Args:
        name: A part of the name or of the address; upper and lower case are the same.

    Returns:
        The matching contacts, sorted by name.
    """
    wanted = name.strip().lower()
    refuse if not wanted :: The name to look for is empty.
    hits = [dict(c) for c in self.contacts.values() if wanted in c["name"].lower() or wanted in c["address"]]
    return {"success": True, "data": sorted(hits, key=lambda c: c["name"])}

def list_folders(self, name: str | None = None) -> dict:
    """List the folders with what is in them.

    Args:
        name: Only the folder of this name; upper and lower case are the same. Leave out for all.

    Returns:
        The folders, each with the number of `emails` and of those `unread_emails`, and `total_kb`.
    """
    listed = []
    for folder_id, folder in self.folders.items():
        if name is None or folder["name"].lower() == name.strip().lower():
            inside = [email for email in self.emails.values() if email["folder_id"] == folder_id]
            unread = sum(email["unread"] for email in inside)
            size = sum(email["size_kb"] for email in inside)
            listed.append({**folder, "emails": len(inside), "unread_emails": unread, "total_kb": size})
    return {"success": True, "data": listed}

def search_emails(
    self,
    contact_id: str | None = None,
    folder_id: str | None = None,
    outgoing: bool | None = None,
    unread: bool | None = None,
    label: str | None = None,
    words: str | None = None,
) -> dict:
    """Search the mailbox, the newest emails first.

    Args:
        contact_id: Only emails from or to this contact. Leave out for all.
        folder_id: Only emails in this folder. Leave out for all.
        outgoing: Only sent ones, or only those that came in. Leave out for both.
        unread: Only unread ones, or only read ones. Leave out for both.
        label: Only those with this label. Leave out for all.
        words: Only those with these words in subject or text. Leave out for all.

    Returns:
        The matching emails, each with its `subject`; an empty list when there are none.
    """
    wanted = (words or "").strip().lower()
    selected = [
        {**deepcopy(email), "subject": self.threads[email["thread_id"]]["subject"]}
        for email in self.emails.values()
        if contact_id in (None, email["contact_id"])
        and folder_id in (None, email["folder_id"])
        and outgoing in (None, email["outgoing"])
        and unread in (None, email["unread"])
        and (label is None or label in email["labels"])
    ]
    selected = [email for email in selected if wanted in f"{email['subject']} {email['text']}".lower()]
    return {"success": True, "data": sorted(selected, key=lambda email: email["email_id"], reverse=True)}

def show_thread(self, thread_id: str) -> dict:
    """Show a thread from its first email to its last.

    Args:
        thread_id: Id of the thread, e.g. THR-001.

    Returns:
        The thread with its `emails` in their order, and the names of the `people` in it.
    """
    need thread
    emails = sorted((m for m in self.emails.values() if m["thread_id"] == thread_id), key=lambda m: m["email_id"])
    people = sorted({self.contacts[email["contact_id"]]["name"] for email in emails})
    return {"success": True, "data": {**thread, "emails": deepcopy(emails), "people": people}}

def list_waiting(self, days: int) -> dict:
    """List threads, spam aside, whose last email came in and has had no answer for some days.

    Args:
        days: How many days at least: 0 to 365.

    Returns:
        The last email of each of these threads with `waiting_days`, the longest waiting first.
    """
    refuse if not 0 <= days <= 365 :: The number of days must be 0 to 365.
    today, waiting, newest = date.fromisoformat(self.today), [], {}
    for email in sorted(self.emails.values(), key=lambda m: m["email_id"]):
        newest[email["thread_id"]] = email
    for last in newest.values():
        age = (today - date.fromisoformat(last["sent_on"])).days
        if not last["outgoing"] and last["folder_id"] != self._system("Spam") and age >= days:
            waiting.append({**deepcopy(last), "waiting_days": age})
    return {"success": True, "data": sorted(waiting, key=lambda m: (-m["waiting_days"], m["email_id"]))}

def rank_senders(self, folder_id: str) -> dict:
    """Rank who fills a folder, by number of emails and then by size.

    Args:
        folder_id: Id of the folder, e.g. FLD-001.

    Returns:
        The contacts with `contact_id`, `name`, the number of `emails` and `total_kb`, the busiest first.
    """
    need folder
    counts, sizes = Counter(), Counter()
    for email in self.emails.values():
        if email["folder_id"] == folder_id:
            counts[email["contact_id"]] += 1
            sizes[email["contact_id"]] += email["size_kb"]
    ranked = [
        {"contact_id": key, "name": self.contacts[key]["name"], "emails": counts[key], "total_kb": sizes[key]}
        for key in sorted(counts, key=lambda key: (-counts[key], -sizes[key], key))
    ]
    return {"success": True, "data": ranked}

def check_quota(self) -> dict:
    """Tell how full the mailbox is, and which five emails take most.

    Returns:
        `used_kb`, `free_kb` and the `largest` emails, each with `email_id`, `size_kb` and `attachment_kb`.
    """
    ranked = sorted(self.emails.values(), key=lambda email: (-email["size_kb"], email["email_id"]))
    largest = [{name: email[name] for name in ("email_id", "size_kb", "attachment_kb")} for email in ranked[:5]]
    used = self._used_kb()
    return {"success": True, "data": {"used_kb": used, "free_kb": <<s.quota_kb>> - used, "largest": largest}}

def preview_filter(self, filter_id: str) -> dict:
    """Show which emails in the Inbox a filter would sort if it were applied now.

    Args:
        filter_id: Id of the filter, e.g. FLT-001.

    Returns:
        The emails, the oldest first; an empty list when there are none.
    """
    need filter
    return {"success": True, "data": sorted(deepcopy(self._hits(filter)), key=lambda email: email["email_id"])}

def list_filters(self, contact_id: str | None = None, active: bool | None = None) -> dict:
    """List the filters, those that sorted most emails first.

    Args:
        contact_id: Only filters for this sender. Leave out for all.
        active: Only active ones, or only others. Leave out for both.

    Returns:
        The matching filters.
    """
    selected = [
        dict(entry)
        for entry in self.filters.values()
        if contact_id in (None, entry["contact_id"])
        and active in (None, entry["active"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: (-entry["hits"], entry["filter_id"]))}

def list_absences(self, ahead: bool | None = None) -> dict:
    """List the days with an automatic reply in their order.

    Args:
        ahead: Only planned ones that have not begun, or only all others. Leave out for both.

    Returns:
        The absences, the earliest first.
    """
    listed = []
    for absence in sorted(self.absences.values(), key=lambda row: row["first_day"]):
        coming = absence["status"] == "planned" and absence["first_day"] > self.today
        if ahead is None or ahead == coming:
            listed.append(dict(absence))
    return {"success": True, "data": listed}
'''

    WRITES = '''
def move_thread(self, thread_id: str, folder_id: str) -> dict:
    """Move what came in of a thread to one folder, also what is snoozed of it; sent emails stay where they are.

    Args:
        thread_id: Id of the thread, nothing of which is spam.
        folder_id: Id of the Inbox, the Archive or a folder of one's own.

    Returns:
        The ids of the `moved` emails, or an error.
    """
    need thread
    need folder
    refuse if folder["name"] in ("Sent", "Snoozed", "Spam") :: Threads are not moved to {folder['name']}.
    emails = [m for m in self.emails.values() if m["thread_id"] == thread_id and not m["outgoing"]]
    spam = self._system("Spam")
    refuse if any(m["folder_id"] == spam for m in emails) :: A part of {thread_id} is spam.
    blocked = any(self.contacts[m["contact_id"]]["blocked"] for m in emails)
    refuse if blocked and folder["name"] == "Inbox" :: {thread_id} has emails from somebody who is blocked.
    moved = [m for m in emails if m["folder_id"] != folder_id]
    refuse if not moved :: All of {thread_id} is in {folder['name']} already.
    for email in moved:
        email["folder_id"], email["snoozed_until"] = folder_id, None
    data = {"thread_id": thread_id, "folder_id": folder_id, "moved": [m["email_id"] for m in moved]}
    return {"success": True, "message": f"{len(moved)} moved to {folder['name']}.", "data": data}

def label_thread(self, thread_id: str, label: str) -> dict:
    """Give every email of a thread a label, sent ones too.

    Args:
        thread_id: Id of the thread.
        label: The label, an old or a new one.

    Returns:
        The ids of the `labelled` emails that had not got it, or an error.
    """
    need thread
    refuse if not label.strip() :: A label cannot be empty.
    label = label.strip()
    plain = [m for m in self.emails.values() if m["thread_id"] == thread_id and label not in m["labels"]]
    refuse if not plain :: All of {thread_id} has that label.
    for email in plain:
        email["labels"] = sorted([*email["labels"], label])
    data = {"thread_id": thread_id, "labelled": [email["email_id"] for email in plain]}
    return {"success": True, "message": f"{len(plain)} emails got the label {label}.", "data": data}

def rename_label(self, old_label: str, new_label: str) -> dict:
    """Put another label in place of one, on all emails and in all filters; it may be one that is in use.

    Args:
        old_label: The label that goes, which some email or filter has.
        new_label: The label that takes its place.

    Returns:
        The ids of the changed `emails` and `filters`, or an error.
    """
    refuse if not new_label.strip() or new_label.strip() == old_label :: Another label is required.
    emails = [email for email in self.emails.values() if old_label in email["labels"]]
    filters = [rule for rule in self.filters.values() if rule["label"] == old_label]
    refuse if not emails and not filters :: Nothing has the label {old_label!r}.
    for email in emails:
        email["labels"] = sorted({new_label.strip(), *email["labels"]} - {old_label})
    for rule in filters:
        rule["label"] = new_label.strip()
    data = {"emails": [email["email_id"] for email in emails], "filters": [rule["filter_id"] for rule in filters]}
    return {"success": True, "message": f"{old_label} is {new_label.strip()} now.", "data": data}

def create_filter(
    self,
    contact_id: str | None = None,
    words: str | None = None,
    folder_id: str | None = None,
    label: str | None = None,
) -> dict:
    """Make a filter with one or two conditions and one or two things to do; it sorts nothing until it is applied.

    Args:
        contact_id: Only emails from this contact, who is not blocked. Leave out for all.
        words: Only emails with these words in subject or text. Leave out for all.
        folder_id: Id of the Archive or of a folder of one's own to which they go. Leave out to leave them.
        label: Label they get. Leave out for none.

    Returns:
        The new filter, which is active, or an error.
    """
    refuse if contact_id is None and words is None :: A filter needs a sender or words to look for.
    refuse if folder_id is None and label is None :: A filter needs a folder or a label.
    refuse if any(t is not None and not t.strip() for t in (words, label)) :: Words and label cannot be empty.
    if contact_id is not None:
        need contact
        refuse if contact["blocked"] :: {contact['name']} is blocked.
    if folder_id is not None:
        need folder
        refuse if folder["name"] in ("Inbox", "Sent", "Snoozed", "Spam") :: Filters do not move to {folder['name']}.
    rule: Filter = {
        "filter_id": self._next_id(self.filters, "FLT"),
        "contact_id": contact_id,
        "words": words and words.strip(),
        "folder_id": folder_id,
        "label": label and label.strip(),
        "active": True,
        "hits": 0,
    }
    self.filters[rule["filter_id"]] = rule
    done dict(rule) :: Filter {rule['filter_id']} has been made.

def apply_filter(self, filter_id: str) -> dict:
    """Apply a filter to what is in the Inbox.

    Args:
        filter_id: Id of the filter, an active one.

    Returns:
        The filter with the ids of the `sorted_emails`, or an error when there is nothing to sort.
    """
    need filter
    refuse if not filter["active"] :: Filter {filter_id} is switched off.
    hit = self._hits(filter)
    refuse if not hit :: Nothing in the Inbox fits {filter_id}.
    for email in hit:
        email["folder_id"] = filter["folder_id"] or email["folder_id"]
        email["labels"] = sorted({*email["labels"], *([filter["label"]] if filter["label"] else [])})
    filter["hits"] += len(hit)
    done {**filter, "sorted_emails": [m["email_id"] for m in hit]} :: {len(hit)} emails sorted.

def snooze_email(self, email_id: str, snoozed_until: str) -> dict:
    """Put an email of the Inbox aside until a day.

    Args:
        email_id: Id of the email, which is in the Inbox.
        snoozed_until: The day it comes back, after today and within a year, as YYYY-MM-DD.

    Returns:
        The snoozed email, or an error.
    """
    need email
    refuse if email["folder_id"] != self._system("Inbox") :: {email_id} is not in the Inbox.
    try:
        back = date.fromisoformat(snoozed_until)
    except ValueError:
        return {"success": False, "error": "The day must be a date as YYYY-MM-DD."}
    ahead = (back - date.fromisoformat(self.today)).days
    soon = back.isoformat() == snoozed_until and 1 <= ahead <= 366
    refuse if not soon :: The day must be after today and within a year, as YYYY-MM-DD.
    email["folder_id"], email["snoozed_until"] = self._system("Snoozed"), snoozed_until
    done deepcopy(email) :: {email_id} comes back on {snoozed_until}.

def wake_email(self, email_id: str) -> dict:
    """Bring a snoozed email back to the Inbox at once.

    Args:
        email_id: Id of the email, which is snoozed.

    Returns:
        The email, unread again, or an error.
    """
    need email
    refuse if email["snoozed_until"] is None :: {email_id} is not snoozed.
    email.update(folder_id=self._system("Inbox"), snoozed_until=None, unread=True)
    done deepcopy(email) :: {email_id} is back in the Inbox.

def reply_to_email(self, answers_id: str, text: str) -> dict:
    """Reply to an email that came in, which is thereby read and answered.

    Args:
        answers_id: Id of the email that is answered; no spam, and not one that was sent.
        text: What the reply says.

    Returns:
        The reply, or an error, also when the mailbox is full.
    """
    original = self.emails.get(answers_id)
    refuse if original is None :: There is no email with the id {answers_id!r}.
    refuse if original["outgoing"] :: {answers_id} was sent from here.
    refuse if original["folder_id"] == self._system("Spam") :: {answers_id} is spam.
    refuse if not text.strip() :: A reply cannot be empty.
    refuse if self._used_kb() + <<text_kb>> > <<s.quota_kb>> :: The mailbox is full.
    original["answered"], original["unread"] = True, False
    reply = self._send(original["thread_id"], original["contact_id"], text, 0, answers_id=answers_id)
    done deepcopy(reply) :: {answers_id} is answered.

def forward_email(self, forwards_id: str, contact_id: str, note: str) -> dict:
    """Forward an email with its attachments to another contact, in the same thread.

    Args:
        forwards_id: Id of the email.
        contact_id: Id of the contact it goes to: not the one it is from or to, and nobody who is blocked.
        note: What is written above it, kept as the text.

    Returns:
        The sent email, or an error, also when the mailbox has no room for another copy.
    """
    email = self.emails.get(forwards_id)
    refuse if email is None :: There is no email with the id {forwards_id!r}.
    need contact
    refuse if contact["blocked"] :: {contact['name']} is blocked.
    refuse if email["contact_id"] == contact_id :: {contact['name']} knows that email.
    refuse if not note.strip() :: A note is required.
    size = <<text_kb>> + email["attachment_kb"]
    refuse if self._used_kb() + size > <<s.quota_kb>> :: The mailbox has no room for {size} KB.
    copy = self._send(email["thread_id"], contact_id, note, email["attachment_kb"], forwards_id=forwards_id)
    done deepcopy(copy) :: {forwards_id} has been forwarded to {contact['name']}.

def block_contact(self, contact_id: str) -> dict:
    """Block a contact: emails of theirs in Inbox and Snoozed become spam, and filters for them are switched off.

    Args:
        contact_id: Id of the contact, who is not blocked.

    Returns:
        The contact with the ids of the `spam` and of the `filters` that are off, or an error.
    """
    need contact
    refuse if contact["blocked"] :: {contact['name']} is blocked already.
    contact["blocked"] = True
    places, spam = (self._system("Inbox"), self._system("Snoozed")), self._system("Spam")
    hit = [m for m in self.emails.values() if m["contact_id"] == contact_id and m["folder_id"] in places]
    for email in hit:
        email["folder_id"], email["snoozed_until"] = spam, None
    off = [rule for rule in self.filters.values() if rule["contact_id"] == contact_id and rule["active"]]
    for rule in off:
        rule["active"] = False
    data = {**contact, "spam": [m["email_id"] for m in hit], "filters": [rule["filter_id"] for rule in off]}
    return {"success": True, "message": f"{contact['name']} is blocked.", "data": data}

def unblock_contact(self, contact_id: str) -> dict:
    """Unblock a contact, whose emails return from Spam to the Inbox; filters stay switched off.

    Args:
        contact_id: Id of the contact, who is blocked.

    Returns:
        The contact with the ids of the `returned` emails, or an error.
    """
    need contact
    refuse if not contact["blocked"] :: {contact['name']} is not blocked.
    contact["blocked"] = False
    returned, inbox, spam = [], self._system("Inbox"), self._system("Spam")
    for email_id, email in self.emails.items():
        if email["contact_id"] == contact_id and email["folder_id"] == spam:
            email["folder_id"] = inbox
            returned.append(email_id)
    done {**contact, "returned": returned} :: {contact['name']} is heard again.

def plan_absence(self, first_day: str, last_day: str, text: str) -> dict:
    """Plan an automatic reply for some days.

    Args:
        first_day: First day, after today, as YYYY-MM-DD.
        last_day: Last day, up to 60 days later, as YYYY-MM-DD; no other absence is planned in between.
        text: What the reply says.

    Returns:
        The planned absence, or an error.
    """
    fault = self._span_fault(first_day, last_day)
    refuse if fault :: {fault}
    refuse if not text.strip() :: A text is required.
    absence: Absence = {
        "absence_id": self._next_id(self.absences, "ABS"),
        "first_day": first_day,
        "last_day": last_day,
        "text": text.strip(),
        "status": "planned",
    }
    self.absences[absence["absence_id"]] = absence
    done dict(absence) :: {absence['absence_id']} is planned.

def move_absence(self, absence_id: str, first_day: str, last_day: str) -> dict:
    """Move a planned absence that has not begun to other days.

    Args:
        absence_id: Id of the absence.
        first_day: New first day, after today, as YYYY-MM-DD.
        last_day: New last day, up to 60 days later, as YYYY-MM-DD; no other absence is planned in between.

    Returns:
        The moved absence, or an error.
    """
    need absence
    refuse if absence["status"] != "planned" :: {absence_id} is cancelled.
    refuse if absence["first_day"] <= self.today :: {absence_id} has begun on {absence['first_day']}.
    fault = self._span_fault(first_day, last_day, absence_id)
    refuse if fault :: {fault}
    refuse if (absence["first_day"], absence["last_day"]) == (first_day, last_day) :: These are the days it has.
    absence["first_day"], absence["last_day"] = first_day, last_day
    done dict(absence) :: {absence_id} is moved.

def strip_attachments(self, email_id: str) -> dict:
    """Remove the attachments of an email for good, which makes room.

    Args:
        email_id: Id of an email with attachments.

    Returns:
        The email as it is now, or an error.
    """
    need email
    refuse if not email["attachment_kb"] :: {email_id} has no attachments.
    freed = email["attachment_kb"]
    email["size_kb"] -= freed
    email["attachment_kb"] = 0
    done deepcopy(email) :: {freed} KB are free again.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]

        folders = {
            name: put(state, v.folder, "FLD", name=name, kind="system" if name in SYSTEM else "own")
            for name in (*SYSTEM, *s.folders)
        }
        for n, name in enumerate(names.people(rng, int(rng.integers(8, 11)))):
            put(state, v.contact, "CON", name=name, address=names.email(name), blocked=n in (2, 5))
        contacts = list(state["contacts"])
        drafts = []
        for n, subject in enumerate(shuffled(rng, list(s.letters))[:10]):
            thread = put(state, v.thread, "THR", subject=subject, email_count=0, latest_on="")
            ago = int(rng.integers(3, 60))
            for number, text in enumerate(s.letters[subject][: 1 + int(rng.integers(0, 3))]):
                ago = max(0, ago - int(rng.integers(1, 9)) * (number > 0))
                drafts.append((later(today, -ago), thread, contacts[n % len(contacts)], text))
        for day, thread, one, text in sorted(drafts, key=lambda draft: draft[:2]):
            blocked, chance = state["contacts"][one]["blocked"], rng.random()
            own = pick(rng, [*s.folders, "Archive"])
            place = "Spam" if blocked else "Inbox" if chance < 0.6 else "Snoozed" if chance < 0.75 else own
            back = later(today, int(rng.integers(1, 25))) if place == "Snoozed" else None
            row = {"thread_id": thread, "folder_id": folders[place], "contact_id": one, "snoozed_until": back}
            answered = not blocked and rng.random() < 0.3 and len(state["emails"]) < 26
            labels = sorted(shuffled(rng, s.labels)[: int(rng.integers(0, 3))])
            kept = {"labels": labels, "unread": not answered and rng.random() < 0.5}
            size = int(rng.integers(150, 4000)) if rng.random() < 0.6 else 0
            key = self._email(v, state, row, day, text, size, answered=answered, **kept)
            if answered:
                row |= {"folder_id": folders["Sent"], "snoozed_until": None}
                reply = pick(rng, s.replies)
                self._email(v, state, row, later(day, 0), reply, 0, outgoing=True, answers_id=key)
        heard = shuffled(rng, [key for key in contacts if not state["contacts"][key]["blocked"]])
        for n, own in enumerate([*s.folders, s.folders[0]]):
            fields = {"contact_id": heard[n], "words": None, "folder_id": folders[own], "label": None}
            if n == 1:
                fields |= {"contact_id": None, "words": "invoice", "label": pick(rng, s.labels)}
            put(state, v.filter, "FLT", **fields, active=n != 2, hits=int(rng.integers(0, 30)))
        for n, ago in enumerate((-200, -60, 20, 70)):
            first = later(today, ago + int(rng.integers(0, 20)))
            row = {"first_day": first, "last_day": later(first, int(rng.integers(2, 14)))}
            status = "cancelled" if n == 0 else "planned"
            put(state, v.absence, "ABS", **row, text=pick(rng, s.absences), status=status)

    def _email(
        self, v: SimpleNamespace, state: State, row: Row, day: str, text: str, size: int, **more: Any
    ) -> str:
        thread = state["threads"][row["thread_id"]]
        thread["email_count"] += 1
        thread["latest_on"] = max(thread["latest_on"], day)
        plain = {
            "outgoing": False,
            "text": text,
            "sent_on": day,
            "attachment_kb": size,
            "size_kb": TEXT_KB + size,
        }
        plain |= {"unread": False, "answered": False, "labels": [], "answers_id": None, "forwards_id": None}
        return put(state, v.email, "EML", **row, **{**plain, **more})


PATTERN = Mailbox
