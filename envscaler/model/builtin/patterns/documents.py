"""Documents: texts in folders with numbered versions, locks, a way to approval, and shares that say who may do what."""

from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any, ClassVar

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
from envscaler.model.builtin.phrase import Slots


class DocumentSettings(Settings):
    """A document world's words and numbers."""

    document: str = "document"
    """`document`"""
    prefix: str
    """Prefix of the documents' ids."""
    person: str = "person"
    """Who writes and reads them: a registry's noun."""
    folder: str = "folder"
    """`folder`"""
    folder_prefix: str
    """Prefix of the folders' ids."""
    folders: dict[str, list[str]]
    """Name of a folder → titles of documents in it, none a part of another."""
    new_titles: list[str]
    """Titles of documents that may be added."""
    version: str = "version"
    """`version`"""
    version_prefix: str
    """Prefix of the versions' ids."""
    share: str = "share"
    """`share`"""
    share_prefix: str
    """Prefix of the shares' ids."""
    notes: list[str]
    """What a version changed."""
    max_locks: int = 2
    """Most documents one person may have checked out."""
    max_shares: int = 6
    """Most shares of one document."""


def later(day: str, days: int) -> str:
    """The date so many days later."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


class DocumentGoal(Goal):
    """What goals about documents look up and ask of a state."""

    @property
    def document_id(self) -> str:
        """Name of the document's key."""
        return f"{self.v.d.id}_id"

    @property
    def person_id(self) -> str:
        """Name of the person's key."""
        return f"{self.v.p.id}_id"

    @property
    def share_id(self) -> str:
        """Name of the share's key."""
        return f"{self.v.h.id}_id"

    def document(self, slots: Slots, state: State) -> dict[str, Any]:
        """The document a sentence names."""
        return dict(only([row for row in state[self.v.d.ids].values() if row["title"] == slots["title"]]))

    def person(self, slots: Slots, state: State) -> dict[str, Any]:
        """The person a sentence names."""
        return named(state, self.v.p, slots["name"])

    def shares(self, state: State, **fields: Any) -> list[dict[str, Any]]:
        """Shares with these values."""
        rows = state[self.v.h.ids].values()
        return [row for row in rows if all(row[name] == value for name, value in fields.items())]

    def may_write(self, row: dict[str, Any], person: str, state: State) -> bool:
        """Whether somebody may change a document right now."""
        keys = {self.document_id: row[self.document_id], self.person_id: person}
        entitled = row["owner_id"] == person or self.shares(state, role="editor", **keys)
        active = state[self.v.p.ids][person]["status"] == "active"
        return bool(entitled and active and row["status"] == "draft" and row["locked_by"] in (None, person))

    def by_title(self, slots: Slots) -> dict[str, Any]:
        """The call that finds the document."""
        return call(f"find_{self.v.d.ids}", text=slots["title"])

    def by_name(self, slots: Slots) -> dict[str, Any]:
        """The call that finds the person."""
        return call(f"find_{self.v.p.ids}", name=slots["name"])

    def both(self) -> dict[str, Any]:
        """Arguments with document and person, found by the first and the second call."""
        return {
            self.document_id: found(0, 0, self.document_id),
            self.person_id: found(1, 0, self.person_id),
        }

    def change(
        self, row: dict[str, Any], item: str, also: tuple[str, ...] = (), **fields: Any
    ) -> list[Outcome]:
        """The document has these values."""
        return [Changed(self.v.d.ids, row[self.document_id], fields, item, also)]

    def writers(self, state: State) -> list[Slots]:
        """Document and person for everybody who may write something right now."""
        people = state[self.v.p.ids]
        return [
            {"title": row["title"], "name": people[person]["name"]}
            for row in state[self.v.d.ids].values()
            for person in people
            if self.may_write(row, person, state)
        ]


class Share(DocumentGoal):
    """Share a document with somebody."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<p>> {name:name} needs access to the <<d>> "{title:text}" as {role:name}, please share it.',
        'Please share the <<d>> "{title:text}" with <<p>> {name:name} in the role {role:name}.',
        'Could you give {name:name}, one of our <<p.many>>, the role {role:name} for the <<d>> "{title:text}"?',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<d.ids>>", "find_<<p.ids>>", "share_<<d.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = pick(rng, list(state[self.v.d.ids].values()))
        person = pick(rng, list(state[self.v.p.ids].values()))
        return {"title": row["title"], "name": person["name"], "role": pick(rng, ("viewer", "editor"))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        share = call(f"share_{self.v.d.id}", **self.both(), role=slots["role"])
        return [self.by_title(slots), self.by_name(slots), share]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, person = self.document(slots, state), self.person(slots, state)
        keys = {self.document_id: row[self.document_id], self.person_id: person[self.person_id]}
        count = len(self.shares(state, **{self.document_id: row[self.document_id]}))
        if row["owner_id"] == person[self.person_id] or self.shares(state, **keys):
            raise LookupError("the person has it already")
        if person["status"] != "active" or row["status"] == "archived" or count >= self.v.s.max_shares:
            raise LookupError("it cannot be shared so")
        if slots["role"] not in ("viewer", "editor"):
            raise LookupError("there is no such role")
        item = f"Has '{slots['title']}' been shared with {slots['name']} as {slots['role']}?"
        return [Added(self.v.h.ids, {**keys, "role": slots["role"], "granted_on": state["today"]}, item)]


class ChangeRole(DocumentGoal):
    """Another role for somebody a document is shared with."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The role of <<p>> {name:name} for the <<d>> "{title:text}" should become {role:name}.',
        'Please change what <<p>> {name:name} may do with the <<d>> "{title:text}": the new role is {role:name}.',
    )
    needs: ClassVar[tuple[str, ...]] = (
        "find_<<d.ids>>",
        "find_<<p.ids>>",
        "list_<<h.ids>>",
        "set_<<h.id>>_role",
    )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = list(state[self.v.h.ids].values())
        if not rows:
            return None
        row = pick(rng, rows)
        return {
            "title": state[self.v.d.ids][row[self.document_id]]["title"],
            "name": state[self.v.p.ids][row[self.person_id]]["name"],
            "role": "viewer" if row["role"] == "editor" else "editor",
        }

    def share(self, slots: Slots, state: State) -> dict[str, Any]:
        """The share a sentence is about."""
        document, person = self.document(slots, state), self.person(slots, state)
        if document["locked_by"] == person[self.person_id]:
            raise LookupError("it is checked out")
        keys = {self.document_id: document[self.document_id], self.person_id: person[self.person_id]}
        return dict(only(self.shares(state, **keys)))

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        look_up = [self.by_title(slots), self.by_name(slots), call(f"list_{self.v.h.ids}", **self.both())]
        share = {self.share_id: found(2, 0, self.share_id)}
        return [*look_up, call(f"set_{self.v.h.id}_role", **share, role=slots["role"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.share(slots, state)
        if row["role"] == slots["role"] or slots["role"] not in ("viewer", "editor"):
            raise LookupError("the role cannot be set so")
        item = f"Has {slots['name']} got the role {slots['role']} for '{slots['title']}'?"
        also = (row[self.document_id], row[self.person_id])
        return [Changed(self.v.h.ids, row[self.share_id], {"role": slots["role"]}, item, also)]


class CheckOut(DocumentGoal):
    """Lock a document for somebody."""

    phrases = (
        'The <<p>> {name:name} is going to rework the <<d>> "{title:text}", so please check it out for that person.',
        'Please check out the <<d>> "{title:text}" for <<p>> {name:name}.',
    )
    needs = ("find_<<d.ids>>", "find_<<p.ids>>", "check_out_<<d.id>>")

    def fits(self, row: dict[str, Any], person: str, state: State) -> bool:
        """Whether somebody may lock a document."""
        locks = sum(d["locked_by"] == person for d in state[self.v.d.ids].values())
        free = row["locked_by"] is None and locks < self.v.s.max_locks
        return free and self.may_write(row, person, state)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [
            slots
            for slots in self.writers(state)
            if self.fits(self.document(slots, state), self.person(slots, state)[self.person_id], state)
        ]
        return pick(rng, rows) if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [
            self.by_title(slots),
            self.by_name(slots),
            call(f"check_out_{self.v.d.id}", **self.both()),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, person = self.document(slots, state), self.person(slots, state)[self.person_id]
        if not self.fits(row, person, state):
            raise LookupError("it cannot be checked out")
        item = f"Has '{slots['title']}' been checked out for {slots['name']}?"
        return self.change(row, item, (person,), locked_by=person)


class CheckIn(DocumentGoal):
    """Unlock a document."""

    phrases = (
        'Nobody is working on the <<d>> "{title:text}" any more, please check it in.',
        'Please check in the <<d>> "{title:text}", which is still locked.',
    )
    needs = ("find_<<d.ids>>", "check_in_<<d.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state[self.v.d.ids].values() if row["locked_by"]]
        return {"title": pick(rng, rows)["title"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        keys = {self.document_id: found(0, 0, self.document_id), self.person_id: found(0, 0, "locked_by")}
        return [self.by_title(slots), call(f"check_in_{self.v.d.id}", **keys)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.document(slots, state)
        if not row["locked_by"]:
            raise LookupError("it is not locked")
        item = f"Is '{slots['title']}' no longer checked out?"
        return self.change(row, item, (row["locked_by"],), locked_by=None)


class Save(DocumentGoal):
    """A new version."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<p>> {name:name} has sent a new <<v_>> of the <<d>> "{title:text}" with {size:int} kB; please save it '
        'with the note "{note:text}".',
        'Please save a new <<v_>> of the <<d>> "{title:text}" by <<p>> {name:name}: {size:int} kB, with the note '
        '"{note:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<d.ids>>", "find_<<p.ids>>", "save_<<v_.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.writers(state)
        extra = {"note": pick(rng, self.v.s.notes), "size": int(rng.integers(40, 900))}
        return {**pick(rng, rows), **extra} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        keys = {
            self.document_id: found(0, 0, self.document_id),
            "author_id": found(1, 0, self.person_id),
        }
        save = call(f"save_{self.v.v_.id}", **keys, note=slots["note"], size_kb=slots["size"])
        return [self.by_title(slots), self.by_name(slots), save]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, person = self.document(slots, state), self.person(slots, state)[self.person_id]
        if not self.may_write(row, person, state) or slots["size"] < 1:
            raise LookupError("it cannot be saved")
        item = f"Has a new {self.v.v_} of '{slots['title']}' by {slots['name']} been saved?"
        return self.saved(row, person, slots["note"], slots["size"], state, item)

    def saved(
        self, row: dict[str, Any], person: str, note: str, size: int, state: State, item: str
    ) -> list[Outcome]:
        """The next version of a document."""
        number = row["current_number"] + 1
        fields = {
            self.document_id: row[self.document_id],
            "number": number,
            "author_id": person,
            "note": note,
            "size_kb": size,
            "saved_on": state["today"],
        }
        current = {"current_number": number, "updated_on": state["today"]}
        ask = f"Is {number} now the current {self.v.v_} of '{row['title']}'?"
        return [Added(self.v.v_.ids, fields, item, (person,)), *self.change(row, ask, **current)]


SaveInOwnWords = in_own_words(
    Save,
    "note",
    'The <<p>> {name:name} has sent a new <<v_>> of the <<d>> "{title:text}" with {size:int} kB; please save it with '
    "a note in your own words.",
    'Please save a new <<v_>> of the <<d>> "{title:text}" by <<p>> {name:name}: {size:int} kB, and word the note as '
    "you like.",
)


class RestoreLatestOf(Save):
    """Go back to the latest version of somebody."""

    phrases = (
        'The latest changes to the <<d>> "{title:text}" were a mistake; please restore the last <<v_>> that '
        "{name:name} saved, in the name of the <<d>>'s owner.",
        'In the <<d>> "{title:text}", please go back to the most recent <<v_>> by {name:name}, restored by the owner.',
    )
    needs = ("find_<<d.ids>>", "find_<<p.ids>>", "list_<<v_.ids>>", "restore_<<v_.id>>")

    def latest(self, slots: Slots, state: State) -> dict[str, Any]:
        """The version that is meant."""
        row, person = self.document(slots, state), self.person(slots, state)[self.person_id]
        rows = [
            version
            for version in state[self.v.v_.ids].values()
            if version[self.document_id] == row[self.document_id] and version["author_id"] == person
        ]
        best = max(rows, key=lambda version: version["number"], default=None)
        if best is None or best["number"] == row["current_number"]:
            raise LookupError("there is no such version")
        return dict(best)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        people, documents = state[self.v.p.ids], state[self.v.d.ids]
        rows = [
            {"title": documents[row[self.document_id]]["title"], "name": people[row["author_id"]]["name"]}
            for row in state[self.v.v_.ids].values()
            if row["number"] < documents[row[self.document_id]]["current_number"]
        ]
        return pick(rng, rows) if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        document = {self.document_id: found(0, 0, self.document_id)}
        author = {"author_id": found(1, 0, self.person_id)}
        which = {"earlier_number": found(2, 0, "number"), "author_id": found(0, 0, "owner_id")}
        return [
            self.by_title(slots),
            self.by_name(slots),
            call(f"list_{self.v.v_.ids}", **document, **author),
            call(f"restore_{self.v.v_.id}", **document, **which),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, old = self.document(slots, state), self.latest(slots, state)
        if not self.may_write(row, row["owner_id"], state):
            raise LookupError("it cannot be restored")
        item = f"Has the last {self.v.v_} of '{slots['title']}' by {slots['name']} been restored?"
        return self.saved(row, row["owner_id"], f"restored from {old['number']}", old["size_kb"], state, item)


class Create(DocumentGoal):
    """A new document."""

    phrases = (
        'The <<p>> {name:name} starts a new <<d>> called "{title:text}" in the <<o>> {folder:name}, please create it.',
        'Please create the <<d>> "{title:text}" in the <<o>> {folder:name} with <<p>> {name:name} as its owner.',
    )
    needs = ("find_<<p.ids>>", "list_<<o.ids>>", "create_<<d.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        people = [row for row in state[self.v.p.ids].values() if row["status"] == "active"]
        folder = pick(rng, list(state[self.v.o.ids].values()))["name"]
        return {
            "name": pick(rng, people)["name"],
            "title": pick(rng, self.v.s.new_titles),
            "folder": folder,
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, o = self.v, f"{self.v.o.id}_id"
        keys = {"owner_id": found(0, 0, self.person_id), o: found(1, 0, o)}
        return [
            self.by_name(slots),
            call(f"list_{v.o.ids}", text=slots["folder"]),
            call(f"create_{v.d.id}", **keys, title=slots["title"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, person = self.v, self.person(slots, state)
        folder = named(state, v.o, slots["folder"])[f"{v.o.id}_id"]
        taken = any(row["title"].lower() == slots["title"].lower() for row in state[v.d.ids].values())
        if person["status"] != "active" or taken:
            raise LookupError("it cannot be created")
        fields = {
            f"{v.o.id}_id": folder,
            "title": slots["title"],
            "owner_id": person[self.person_id],
            "locked_by": None,
            "current_number": 0,
            "updated_on": state["today"],
            **v.blanks,
            "status": "draft",
        }
        item = f"Has the {v.d} '{slots['title']}' been created for {slots['name']} in {slots['folder']}?"
        return [Added(v.d.ids, fields, item, (slots["title"],))]


class Move(DocumentGoal):
    """Another folder."""

    phrases = (
        'The <<d>> "{title:text}" belongs in the <<o>> {folder:name}, please move it there.',
        'Please move the <<d>> "{title:text}" to the <<o>> {folder:name}.',
    )
    needs = ("find_<<d.ids>>", "list_<<o.ids>>", "move_<<d.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = pick(rng, list(state[self.v.d.ids].values()))
        others = [f["name"] for k, f in state[self.v.o.ids].items() if k != row[f"{self.v.o.id}_id"]]
        return {"title": row["title"], "folder": pick(rng, others)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, o = self.v, f"{self.v.o.id}_id"
        keys = {self.document_id: found(0, 0, self.document_id), o: found(1, 0, o)}
        find = call(f"list_{v.o.ids}", text=slots["folder"])
        return [self.by_title(slots), find, call(f"move_{v.d.id}", **keys)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key = f"{self.v.o.id}_id"
        row, folder = self.document(slots, state), named(state, self.v.o, slots["folder"])[key]
        if row[key] == folder or row["status"] == "archived":
            raise LookupError("it cannot be moved")
        item = f"Has '{slots['title']}' been moved to {slots['folder']}?"
        return self.change(row, item, **{key: folder})


class Submit(DocumentGoal):
    """Hand a draft in for review."""

    phrases: ClassVar[tuple[str, ...]] = (
        'The <<d>> "{title:text}" is ready to be looked at, so please put it into review.',
        'Please submit the <<d>> "{title:text}" for review.',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<d.ids>>", "set_<<d.id>>_status")
    old, new = ("draft",), "in_review"

    def fits(self, row: dict[str, Any]) -> bool:
        """Whether the status may change so."""
        return row["status"] in self.old and row["locked_by"] is None and row["current_number"] > 0

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state[self.v.d.ids].values() if self.fits(row)]
        return {"title": pick(rng, rows)["title"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        which = {self.document_id: found(0, 0, self.document_id)}
        return [self.by_title(slots), call(f"set_{self.v.d.id}_status", **which, status=self.new)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.passed_on(self.document(slots, state), f"'{slots['title']}'")

    def passed_on(self, row: dict[str, Any], said: str) -> list[Outcome]:
        """The document has the new status."""
        if not self.fits(row):
            raise LookupError("the status cannot change so")
        item = f"Is {said} now {self.new.replace('_', ' ')}?"
        return self.change(row, item, ("review queue",), status=self.new)


class Archive(Submit):
    """Archive what was approved."""

    phrases = (
        'The <<d>> "{title:text}" has been replaced by a later one, so please archive it.',
        'Please archive the approved <<d>> "{title:text}".',
    )
    old, new = ("approved",), "archived"


class ApproveOldest(Submit):
    """Approve what has been in review longest."""

    phrases = (
        "Whichever <<d>> has been waiting for review longest can be approved now.",
        "Please approve the <<d>> that has been in review for the longest time.",
    )
    needs = ("list_review_queue", "set_<<d.id>>_status")
    old, new = ("in_review",), "approved"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        which = {self.document_id: found(0, 0, self.document_id)}
        return [call("list_review_queue"), call(f"set_{self.v.d.id}_status", **which, status=self.new)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = [row for row in state[self.v.d.ids].values() if row["status"] == "in_review"]
        first = min((row["updated_on"] for row in rows), default="")
        return self.passed_on(
            only([row for row in rows if row["updated_on"] == first]), f"the {self.v.d} longest in review"
        )


class HandOver(DocumentGoal):
    """Another owner."""

    phrases = (
        'From now on the <<p>> {name:name} owns the <<d>> "{title:text}", please hand it over.',
        'Please make <<p>> {name:name} the owner of the <<d>> "{title:text}".',
    )
    needs = ("find_<<d.ids>>", "find_<<p.ids>>", "transfer_<<d.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = pick(rng, list(state[self.v.d.ids].values()))
        return {"title": row["title"], "name": pick(rng, list(state[self.v.p.ids].values()))["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        keys = {
            self.document_id: found(0, 0, self.document_id),
            "new_owner_id": found(1, 0, self.person_id),
        }
        return [
            self.by_title(slots),
            self.by_name(slots),
            call(f"transfer_{self.v.d.id}", **keys),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, person = self.document(slots, state), self.person(slots, state)
        keys = {self.document_id: row[self.document_id], self.person_id: person[self.person_id]}
        if row["owner_id"] == person[self.person_id] or self.shares(state, **keys) or row["locked_by"]:
            raise LookupError("it cannot be handed over")
        if person["status"] != "active" or row["status"] == "archived":
            raise LookupError("it cannot be handed over so")
        item = f"Is {slots['name']} the owner of '{slots['title']}' now?"
        return self.change(row, item, owner_id=person[self.person_id])


class Documents(Pattern):
    """Documents with versions and shares."""

    Settings = DocumentSettings
    GOALS: ClassVar = (
        Share, ChangeRole, CheckOut, CheckIn, Save, SaveInOwnWords, RestoreLatestOf, Create, Move, Submit, Archive,
        ApproveOldest, HandOver,
    )  # fmt: skip

    def vocabulary(self, s: DocumentSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        d, o, version, h = Noun(s.document), Noun(s.folder), Noun(s.version), Noun(s.share)
        shared[s.document] = d
        return {
            "d": d,
            "o": o,
            "v_": version,
            "h": h,
            "p": shared[s.person],
            "given": [x for x in s.extras if x.choices and x.type == "str"],
            "filters": [x for x in s.extras if x.filter],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, d, o, w, h, p = v.s, v.d, v.o, v.v_, v.h, v.p
        folder = [
            attribute(f"{o.id}_id", "str", f"unique id, e.g. {s.folder_prefix}-001"),
            attribute("name", "str", "what it is called, unique"),
        ]
        document = [
            attribute(f"{d.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
            attribute(f"{o.id}_id", "str", f"the {o} it is in"),
            attribute("title", "str", "what it is called, unique"),
            attribute("owner_id", "str", f"the {p} who owns it"),
            attribute("locked_by", "str | None", f"the {p} who has checked it out, None while nobody has"),
            attribute("current_number", "int", f"number of the current {w}, 0 while there is none"),
            attribute("updated_on", "str", "day of the last change of its text, as YYYY-MM-DD"),
            *own(s.extras),
            attribute("status", "str", "draft, in_review, approved or archived"),
        ]
        version = [
            attribute(f"{w.id}_id", "str", f"unique id, e.g. {s.version_prefix}-001"),
            attribute(f"{d.id}_id", "str", f"the {d} it belongs to"),
            attribute("number", "int", "1, 2, 3 and so on"),
            attribute("author_id", "str", f"the {p} who saved it"),
            attribute("note", "str", "what was changed"),
            attribute("size_kb", "int", "size in kB, at least 1"),
            attribute("saved_on", "str", "day it was saved, as YYYY-MM-DD"),
        ]
        share = [
            attribute(f"{h.id}_id", "str", f"unique id, e.g. {s.share_prefix}-001"),
            attribute(f"{d.id}_id", "str", f"the {d} that is shared"),
            attribute(f"{p.id}_id", "str", f"the {p} it is shared with"),
            attribute("role", "str", "viewer or editor"),
            attribute("granted_on", "str", "day it was shared, as YYYY-MM-DD"),
        ]
        return [
            Table(o, f"{o.a[:1].upper()}{o.a[1:]} with {d.many}.", folder),
            Table(d, f"{d.a[:1].upper()}{d.a[1:]}; its text is in its {w.many}.", document),
            Table(w, f"{w.a[:1].upper()}{w.a[1:]} of {d.a}, which never changes.", version),
            Table(h, f"{h.a[:1].upper()}{h.a[1:]}: what {p.a} may do with {d.a} of somebody else.", share),
        ]

    RULES = (
        RuleText(
            "The <<v_.many>> of <<d.a>> are numbered without a gap, and the highest number is the current one.",
            """
            numbers = {}
            for row in rows(after, "<<v_.ids>>").values():
                numbers.setdefault(str(row.get("<<d.id>>_id")), []).append(row.get("number"))
            for key, row in rows(after, "<<d.ids>>").items():
                own = numbers.get(key, [])
                if isinstance(row.get("current_number"), int) and all(isinstance(n, int) for n in own):
                    if sorted(own) != list(range(1, row["current_number"] + 1)):
                        return False
            return True
            """,
        ),
        RuleText(
            "A new <<v_>> is saved by the owner or an editor of <<d.a>>, and by nobody else while one of them has it "
            "checked out.",
            """
            known, shares = rows(before, "<<d.ids>>"), rows(before, "<<h.ids>>").values()
            for new in added("<<v_.ids>>"):
                author, row = new.get("author_id"), known.get(str(new.get("<<d.id>>_id")), {})
                editor = any(
                    one.get("<<d.id>>_id") == new.get("<<d.id>>_id")
                    and one.get("<<p.id>>_id") == author
                    and one.get("role") == "editor"
                    for one in shares
                )
                if row.get("owner_id") != author and not editor:
                    return False
                if row.get("locked_by") not in (None, author):
                    return False
            return True
            """,
        ),
        RuleText(
            "Only drafts get new <<v_.many>>; what was saved is never changed or removed.",
            """
            old, new = rows(before, "<<v_.ids>>"), rows(after, "<<v_.ids>>")
            known = rows(before, "<<d.ids>>")
            drafts = all(
                known.get(str(row.get("<<d.id>>_id")), {}).get("status") == "draft" for row in added("<<v_.ids>>")
            )
            return drafts and all(new.get(key) == row for key, row in old.items())
            """,
        ),
        RuleText(
            "<<d.a[:1]|upper>><<d.a[1:]>> goes from draft to in review, and back or on to approved; what is approved "
            "can be archived or become a draft again.",
            """
            steps = (
                ("draft", "in_review"), ("in_review", "draft"), ("in_review", "approved"),
                ("approved", "archived"), ("approved", "draft"),
            )
            return all((old.get("status"), new.get("status")) in steps for old, new in changed("<<d.ids>>", "status"))
            """,
        ),
        RuleText(
            "<<d.a[:1]|upper>><<d.a[1:]>> is shared with <<p.a>> once at most, never with its owner, and with at most "
            "<<s.max_shares>> <<p.many>> in all.",
            """
            owners, seen, counts = rows(after, "<<d.ids>>"), set(), {}
            for row in rows(after, "<<h.ids>>").values():
                key, person = str(row.get("<<d.id>>_id")), str(row.get("<<p.id>>_id"))
                if (key, person) in seen or owners.get(key, {}).get("owner_id") == person:
                    return False
                seen.add((key, person))
                counts[key] = counts.get(key, 0) + 1
            return all(count <= <<s.max_shares>> for count in counts.values())
            """,
        ),
        RuleText(
            "Nobody has more than <<s.max_locks>> <<d.many>> checked out, and only drafts are.",
            """
            counts = {}
            for row in rows(after, "<<d.ids>>").values():
                if row.get("locked_by") is not None:
                    person = str(row.get("locked_by"))
                    counts[person] = counts.get(person, 0) + 1
                    if row.get("status") != "draft":
                        return False
            return all(count <= <<s.max_locks>> for count in counts.values())
            """,
        ),
        RuleText(
            "No two <<d.many>> have the same title.",
            """
            titles = [str(row.get("title")).lower() for row in rows(after, "<<d.ids>>").values()]
            return len(titles) == len(set(titles))
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    def _may_write(self, <<d.id>>: <<d.type>>, <<p.id>>_id: str) -> bool:
        """Tell whether <<p.a>> owns <<d.a>> or is an editor of it."""
        return <<d.id>>["owner_id"] == <<p.id>>_id or any(
            (<<h.id>>["<<d.id>>_id"], <<h.id>>["<<p.id>>_id"]) == (<<d.id>>["<<d.id>>_id"], <<p.id>>_id)
            and <<h.id>>["role"] == "editor"
            for <<h.id>> in self.<<h.ids>>.values()
        )

    def _write_fault(self, <<d.id>>_id: str, <<p.id>>_id: str) -> str | None:
        """Return why <<p.a>> cannot change <<d.a>> right now."""
        <<d.id>>, <<p.id>> = self.<<d.ids>>.get(<<d.id>>_id), self.<<p.ids>>.get(<<p.id>>_id)
        if <<d.id>> is None:
            return f"There is no <<d>> with the id {<<d.id>>_id!r}."
        if <<p.id>> is None:
            return f"There is no <<p>> with the id {<<p.id>>_id!r}."
        if <<p.id>>["status"] != "active":
            return f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."
        if <<d.id>>["status"] != "draft":
            return f"{<<d.id>>['title']} is {<<d.id>>['status']}; only drafts can be changed."
        if not self._may_write(<<d.id>>, <<p.id>>_id):
            return f"{<<p.id>>['name']} is neither owner nor editor of {<<d.id>>['title']}."
        if <<d.id>>["locked_by"] not in (None, <<p.id>>_id):
            return f"{<<d.id>>['title']} is checked out by {<<d.id>>['locked_by']}."
        return None

    def _add_<<v_.id>>(self, <<d.id>>: <<d.type>>, author_id: str, note: str, size_kb: int) -> <<v_.type>>:
        """Add the next <<v_>> of <<d.a>> and make it the current one."""
        <<d.id>>["current_number"] += 1
        <<d.id>>["updated_on"] = self.today
        <<v_.id>>: <<v_.type>> = {
            "<<v_.id>>_id": self._next_id(self.<<v_.ids>>, "<<s.version_prefix>>"),
            "<<d.id>>_id": <<d.id>>["<<d.id>>_id"],
            "number": <<d.id>>["current_number"],
            "author_id": author_id,
            "note": note,
            "size_kb": size_kb,
            "saved_on": self.today,
        }
        self.<<v_.ids>>[<<v_.id>>["<<v_.id>>_id"]] = <<v_.id>>
        return <<v_.id>>
'''

    READS = '''
def list_<<o.ids>>(self, text: str | None = None) -> dict:
    """List the <<o.many>> with the number of <<d.many>> in each.

    Args:
        text: A part of the name; upper and lower case are the same. Leave out for all.

    Returns:
        The matching <<o.many>> sorted by name, each with `<<d.ids>>_in_it`.
    """
    wanted = (text or "").strip().lower()
    matches = [
        {
            **<<o.id>>,
            "<<d.ids>>_in_it": sum(<<d.id>>["<<o.id>>_id"] == key for <<d.id>> in self.<<d.ids>>.values()),
        }
        for key, <<o.id>> in self.<<o.ids>>.items()
        if wanted in <<o.id>>["name"].lower()
    ]
    return {"success": True, "data": sorted(matches, key=lambda entry: entry["name"])}

def find_<<d.ids>>(
    self,
    text: str | None = None,
    <<o.id>>_id: str | None = None,
    owner_id: str | None = None,
    status: str | None = None,
%% for x in filters
    <<x.name>>: <<x.type>> | None = None,
%% endfor
) -> dict:
    """Search the <<d.many>>.

    Args:
        text: A part of the title; upper and lower case are the same. Leave out for all.
        <<o.id>>_id: Only those in this <<o>>. Leave out for all.
        owner_id: Only those of this <<p>>. Leave out for all.
        status: Only those that are draft, in_review, approved or archived. Leave out for all.
%% for x in filters
        <<x.name>>: Only those with this value: <<x.about>>. Leave out for all.
%% endfor

    Returns:
        The matching <<d.many>> sorted by title; an empty list when nothing matches.
    """
    if status not in (None, "draft", "in_review", "approved", "archived"):
        return {"success": False, "error": f"There is no status {status!r}."}
    wanted = (text or "").strip().lower()
    matches = [
        dict(<<d.id>>)
        for <<d.id>> in self.<<d.ids>>.values()
        if wanted in <<d.id>>["title"].lower()
        and <<o.id>>_id in (None, <<d.id>>["<<o.id>>_id"])
        and owner_id in (None, <<d.id>>["owner_id"])
        and status in (None, <<d.id>>["status"])
%% for x in filters
        and <<x.name>> in (None, <<d.id>>["<<x.name>>"])
%% endfor
    ]
    return {"success": True, "data": sorted(matches, key=lambda <<d.id>>: <<d.id>>["title"])}

def get_<<d.id>>(self, <<d.id>>_id: str) -> dict:
    """Show one <<d>> with its current <<v_>> and with whom it is shared.

    Args:
        <<d.id>>_id: Id of the <<d>>, e.g. <<s.prefix>>-001.

    Returns:
        The <<d>>, its current <<v_>> (None while there is none) and its <<h.many>>, or an error.
    """
    <<d.id>> = self.<<d.ids>>.get(<<d.id>>_id)
    if <<d.id>> is None:
        return {"success": False, "error": f"There is no <<d>> with the id {<<d.id>>_id!r}."}
    current = next(
        (
            dict(<<v_.id>>)
            for <<v_.id>> in self.<<v_.ids>>.values()
            if (<<v_.id>>["<<d.id>>_id"], <<v_.id>>["number"]) == (<<d.id>>_id, <<d.id>>["current_number"])
        ),
        None,
    )
    <<h.ids>> = [dict(<<h.id>>) for <<h.id>> in self.<<h.ids>>.values() if <<h.id>>["<<d.id>>_id"] == <<d.id>>_id]
    return {"success": True, "data": {**<<d.id>>, "current": current, "<<h.ids>>": <<h.ids>>}}

def list_<<v_.ids>>(self, <<d.id>>_id: str, author_id: str | None = None) -> dict:
    """List the <<v_.many>> of one <<d>>, the newest first.

    Args:
        <<d.id>>_id: Id of the <<d>>.
        author_id: Only those saved by this <<p>>. Leave out for all.

    Returns:
        The <<v_.many>>, or an error for an unknown <<d>>.
    """
    if <<d.id>>_id not in self.<<d.ids>>:
        return {"success": False, "error": f"There is no <<d>> with the id {<<d.id>>_id!r}."}
    selected = [
        dict(<<v_.id>>)
        for <<v_.id>> in self.<<v_.ids>>.values()
        if <<v_.id>>["<<d.id>>_id"] == <<d.id>>_id and author_id in (None, <<v_.id>>["author_id"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: -entry["number"])}

def list_<<h.ids>>(self, <<d.id>>_id: str | None = None, <<p.id>>_id: str | None = None) -> dict:
    """List who may do what with which <<d>>, owners left out.

    Args:
        <<d.id>>_id: Only for this <<d>>. Leave out for all.
        <<p.id>>_id: Only for this <<p>>. Leave out for all.

    Returns:
        The <<h.many>> in the order in which they were granted.
    """
    selected = [
        dict(<<h.id>>)
        for <<h.id>> in self.<<h.ids>>.values()
        if <<d.id>>_id in (None, <<h.id>>["<<d.id>>_id"]) and <<p.id>>_id in (None, <<h.id>>["<<p.id>>_id"])
    ]
    selected.sort(key=lambda entry: (entry["granted_on"], entry["<<h.id>>_id"]))
    return {"success": True, "data": selected}

def list_review_queue(self) -> dict:
    """List the <<d.many>> in review, the one that has waited longest first.

    Returns:
        The <<d.many>> that wait for a review, counted from their last change; an empty list when none does.
    """
    waiting = [dict(<<d.id>>) for <<d.id>> in self.<<d.ids>>.values() if <<d.id>>["status"] == "in_review"]
    return {"success": True, "data": sorted(waiting, key=lambda entry: (entry["updated_on"], entry["<<d.id>>_id"]))}

def list_checked_out(self, <<p.id>>_id: str | None = None) -> dict:
    """List the <<d.many>> that somebody has checked out.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.

    Returns:
        The <<d.many>> sorted by title; an empty list when there are none.
    """
    locked = [
        dict(<<d.id>>)
        for <<d.id>> in self.<<d.ids>>.values()
        if <<d.id>>["locked_by"] is not None and <<p.id>>_id in (None, <<d.id>>["locked_by"])
    ]
    return {"success": True, "data": sorted(locked, key=lambda entry: entry["title"])}
'''

    WRITES = '''
def create_<<d.id>>(self, owner_id: str, <<o.id>>_id: str, title: str) -> dict:
    """Create an empty <<d>> as a draft; its first <<v_>> is saved later.

    Args:
        owner_id: Id of the active <<p>> who owns it.
        <<o.id>>_id: Id of the <<o>> it goes into.
        title: What it is called; no other <<d>> may have this title.

    Returns:
%% if given
        The new <<d>>, its <<given|map(attribute="words")|join(", ")>> still empty, or an error.
%% else
        The new <<d>>, or an error.
%% endif
    """
    <<p.id>> = self.<<p.ids>>.get(owner_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {owner_id!r}."}
    if <<o.id>>_id not in self.<<o.ids>>:
        return {"success": False, "error": f"There is no <<o>> with the id {<<o.id>>_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    if not title.strip():
        return {"success": False, "error": "A title is required."}
    if any(entry["title"].lower() == title.strip().lower() for entry in self.<<d.ids>>.values()):
        return {"success": False, "error": f"There is <<d.a>> {title.strip()!r} already."}
    <<d.id>>: <<d.type>> = {
        "<<d.id>>_id": self._next_id(self.<<d.ids>>, "<<s.prefix>>"),
        "<<o.id>>_id": <<o.id>>_id,
        "title": title.strip(),
        "owner_id": owner_id,
        "locked_by": None,
        "current_number": 0,
        "updated_on": self.today,
%% for x in extras
        "<<x.name>>": <<blank(x)>>,
%% endfor
        "status": "draft",
    }
    self.<<d.ids>>[<<d.id>>["<<d.id>>_id"]] = <<d.id>>
    return {"success": True, "message": f"<<d.cap>> {title.strip()} created.", "data": dict(<<d.id>>)}

def save_<<v_.id>>(self, <<d.id>>_id: str, author_id: str, note: str, size_kb: int) -> dict:
    """Save a new <<v_>> of <<d.a>>, which becomes the current one.

    Args:
        <<d.id>>_id: Id of the <<d>>, which must be draft and not checked out by somebody else.
        author_id: Id of the active <<p>> who saves it: its owner or an editor.
        note: What was changed, in a few words.
        size_kb: Size in kB, at least 1.

    Returns:
        The new <<v_>>, or an error.
    """
    fault = self._write_fault(<<d.id>>_id, author_id)
    if fault is not None:
        return {"success": False, "error": fault}
    if not note.strip():
        return {"success": False, "error": "A note on what was changed is required."}
    if size_kb < 1:
        return {"success": False, "error": f"The size has to be at least 1 kB, not {size_kb}."}
    <<v_.id>> = self._add_<<v_.id>>(self.<<d.ids>>[<<d.id>>_id], author_id, note.strip(), size_kb)
    return {"success": True, "message": f"<<v_.cap>> {<<v_.id>>['number']} saved.", "data": dict(<<v_.id>>)}

def restore_<<v_.id>>(self, <<d.id>>_id: str, earlier_number: int, author_id: str) -> dict:
    """Make an earlier <<v_>> the current one again, by saving it once more under the next number.

    Args:
        <<d.id>>_id: Id of the <<d>>, which must be draft and not checked out by somebody else.
        earlier_number: Number of an earlier <<v_>>.
        author_id: Id of the active <<p>> who restores it: its owner or an editor.

    Returns:
        The new <<v_>>, or an error.
    """
    fault = self._write_fault(<<d.id>>_id, author_id)
    if fault is not None:
        return {"success": False, "error": fault}
    earlier = next(
        (
            <<v_.id>>
            for <<v_.id>> in self.<<v_.ids>>.values()
            if (<<v_.id>>["<<d.id>>_id"], <<v_.id>>["number"]) == (<<d.id>>_id, earlier_number)
        ),
        None,
    )
    if earlier is None:
        return {"success": False, "error": f"{<<d.id>>_id} has no <<v_>> {earlier_number}."}
    if earlier_number == self.<<d.ids>>[<<d.id>>_id]["current_number"]:
        return {"success": False, "error": f"<<v_.cap>> {earlier_number} is the current one."}
    restored = self._add_<<v_.id>>(
        self.<<d.ids>>[<<d.id>>_id], author_id, f"restored from {earlier_number}", earlier["size_kb"]
    )
    return {
        "success": True,
        "message": f"<<v_.cap>> {earlier_number} restored as {restored['number']}.",
        "data": dict(restored),
    }

def check_out_<<d.id>>(self, <<d.id>>_id: str, <<p.id>>_id: str) -> dict:
    """Lock <<d.a>> so that only one <<p>> can change it.

    Args:
        <<d.id>>_id: Id of the <<d>>, which must be draft and not checked out.
        <<p.id>>_id: Id of its owner or an editor, active and with fewer than <<s.max_locks>> <<d.many>> checked out.

    Returns:
        The locked <<d>>, or an error.
    """
    fault = self._write_fault(<<d.id>>_id, <<p.id>>_id)
    if fault is not None:
        return {"success": False, "error": fault}
    <<d.id>> = self.<<d.ids>>[<<d.id>>_id]
    if <<d.id>>["locked_by"] == <<p.id>>_id:
        return {"success": False, "error": f"{<<d.id>>['title']} is checked out by {<<p.id>>_id} already."}
    held = sum(entry["locked_by"] == <<p.id>>_id for entry in self.<<d.ids>>.values())
    if held >= <<s.max_locks>>:
        return {"success": False, "error": f"{<<p.id>>_id} has <<s.max_locks>> <<d.many>> checked out already."}
    <<d.id>>["locked_by"] = <<p.id>>_id
    return {"success": True, "message": f"{<<d.id>>['title']} checked out.", "data": dict(<<d.id>>)}

def check_in_<<d.id>>(self, <<d.id>>_id: str, <<p.id>>_id: str) -> dict:
    """Release the lock of <<d.a>>.

    Args:
        <<d.id>>_id: Id of the <<d>>.
        <<p.id>>_id: Id of the <<p>> who has checked it out.

    Returns:
        The <<d>>, no longer locked, or an error.
    """
    <<d.id>> = self.<<d.ids>>.get(<<d.id>>_id)
    if <<d.id>> is None:
        return {"success": False, "error": f"There is no <<d>> with the id {<<d.id>>_id!r}."}
    if <<p.id>>_id not in self.<<p.ids>>:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    if <<d.id>>["locked_by"] != <<p.id>>_id:
        return {"success": False, "error": f"{<<d.id>>['title']} is not checked out by {<<p.id>>_id}."}
    <<d.id>>["locked_by"] = None
    return {"success": True, "message": f"{<<d.id>>['title']} checked in.", "data": dict(<<d.id>>)}

def share_<<d.id>>(self, <<d.id>>_id: str, <<p.id>>_id: str, role: str) -> dict:
    """Share <<d.a>> with <<p.a>>.

    Args:
        <<d.id>>_id: Id of the <<d>>, which is not archived and has fewer than <<s.max_shares>> <<h.many>>.
        <<p.id>>_id: Id of an active <<p>> who does not own it and has no <<h>> of it.
        role: viewer to read it, editor to change it as well.

    Returns:
        The new <<h>>, or an error.
    """
    <<d.id>> = self.<<d.ids>>.get(<<d.id>>_id)
    if <<d.id>> is None:
        return {"success": False, "error": f"There is no <<d>> with the id {<<d.id>>_id!r}."}
    <<p.id>> = self.<<p.ids>>.get(<<p.id>>_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    if role not in ("viewer", "editor"):
        return {"success": False, "error": f"The role is viewer or editor, not {role!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    if <<d.id>>["status"] == "archived":
        return {"success": False, "error": f"{<<d.id>>['title']} is archived."}
    if <<d.id>>["owner_id"] == <<p.id>>_id:
        return {"success": False, "error": f"{<<p.id>>['name']} owns {<<d.id>>['title']}."}
    existing = [<<h.id>> for <<h.id>> in self.<<h.ids>>.values() if <<h.id>>["<<d.id>>_id"] == <<d.id>>_id]
    if any(<<h.id>>["<<p.id>>_id"] == <<p.id>>_id for <<h.id>> in existing):
        return {"success": False, "error": f"{<<d.id>>['title']} is shared with {<<p.id>>['name']} already."}
    if len(existing) >= <<s.max_shares>>:
        return {"success": False, "error": f"{<<d.id>>['title']} has <<s.max_shares>> <<h.many>> already."}
    <<h.id>>: <<h.type>> = {
        "<<h.id>>_id": self._next_id(self.<<h.ids>>, "<<s.share_prefix>>"),
        "<<d.id>>_id": <<d.id>>_id,
        "<<p.id>>_id": <<p.id>>_id,
        "role": role,
        "granted_on": self.today,
    }
    self.<<h.ids>>[<<h.id>>["<<h.id>>_id"]] = <<h.id>>
    return {"success": True, "message": f"{<<d.id>>['title']} shared with {<<p.id>>['name']}.", "data": dict(<<h.id>>)}

def set_<<h.id>>_role(self, <<h.id>>_id: str, role: str) -> dict:
    """Change what somebody may do with <<d.a>>.

    Args:
        <<h.id>>_id: Id of the <<h>>; its <<p>> must not have the <<d>> checked out.
        role: viewer or editor; another one than before.

    Returns:
        The changed <<h>>, or an error.
    """
    <<h.id>> = self.<<h.ids>>.get(<<h.id>>_id)
    if <<h.id>> is None:
        return {"success": False, "error": f"There is no <<h>> with the id {<<h.id>>_id!r}."}
    if role not in ("viewer", "editor"):
        return {"success": False, "error": f"The role is viewer or editor, not {role!r}."}
    if <<h.id>>["role"] == role:
        return {"success": False, "error": f"The role is {role} already."}
    if self.<<d.ids>>[<<h.id>>["<<d.id>>_id"]]["locked_by"] == <<h.id>>["<<p.id>>_id"]:
        return {"success": False, "error": f"{<<h.id>>['<<p.id>>_id']} has it checked out; check it in first."}
    <<h.id>>["role"] = role
    return {"success": True, "message": f"<<h.cap>> {<<h.id>>_id} is now for a {role}.", "data": dict(<<h.id>>)}

def move_<<d.id>>(self, <<d.id>>_id: str, <<o.id>>_id: str) -> dict:
    """Move <<d.a>> into another <<o>>.

    Args:
        <<d.id>>_id: Id of the <<d>>, which is not archived.
        <<o.id>>_id: Id of the other <<o>>.

    Returns:
        The moved <<d>>, or an error.
    """
    <<d.id>> = self.<<d.ids>>.get(<<d.id>>_id)
    if <<d.id>> is None:
        return {"success": False, "error": f"There is no <<d>> with the id {<<d.id>>_id!r}."}
    if <<o.id>>_id not in self.<<o.ids>>:
        return {"success": False, "error": f"There is no <<o>> with the id {<<o.id>>_id!r}."}
    if <<d.id>>["status"] == "archived":
        return {"success": False, "error": f"{<<d.id>>['title']} is archived."}
    if <<d.id>>["<<o.id>>_id"] == <<o.id>>_id:
        return {"success": False, "error": f"{<<d.id>>['title']} is in {<<o.id>>_id} already."}
    <<d.id>>["<<o.id>>_id"] = <<o.id>>_id
    return {"success": True, "message": f"{<<d.id>>['title']} moved.", "data": dict(<<d.id>>)}

def set_<<d.id>>_status(self, <<d.id>>_id: str, status: str) -> dict:
    """Take <<d.a>> a step further or back: draft, in_review, approved, archived.

    Args:
        <<d.id>>_id: Id of the <<d>>, which is not checked out and has a <<v_>>.
        status: One of draft, in_review, approved, archived; only the next step or one back to draft is possible.

    Returns:
        The changed <<d>>, or an error.
    """
    <<d.id>> = self.<<d.ids>>.get(<<d.id>>_id)
    if <<d.id>> is None:
        return {"success": False, "error": f"There is no <<d>> with the id {<<d.id>>_id!r}."}
    steps = {"draft": ["in_review"], "in_review": ["draft", "approved"], "approved": ["draft", "archived"]}
    if status not in steps.get(<<d.id>>["status"], []):
        return {"success": False, "error": f"{<<d.id>>['title']} is {<<d.id>>['status']} and cannot become {status!r}."}
    if <<d.id>>["locked_by"] is not None:
        return {"success": False, "error": f"{<<d.id>>['title']} is checked out by {<<d.id>>['locked_by']}."}
    if <<d.id>>["current_number"] == 0:
        return {"success": False, "error": f"{<<d.id>>['title']} has no <<v_>> yet."}
    <<d.id>>["status"] = status
    return {"success": True, "message": f"{<<d.id>>['title']} is {status}.", "data": dict(<<d.id>>)}

def transfer_<<d.id>>(self, <<d.id>>_id: str, new_owner_id: str) -> dict:
    """Give <<d.a>> to another owner.

    Args:
        <<d.id>>_id: Id of the <<d>>, neither archived nor checked out.
        new_owner_id: Id of an active <<p>> with whom it is not shared.

    Returns:
        The <<d>> with its new owner, or an error.
    """
    <<d.id>> = self.<<d.ids>>.get(<<d.id>>_id)
    if <<d.id>> is None:
        return {"success": False, "error": f"There is no <<d>> with the id {<<d.id>>_id!r}."}
    <<p.id>> = self.<<p.ids>>.get(new_owner_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {new_owner_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    if <<d.id>>["status"] == "archived" or <<d.id>>["locked_by"] is not None:
        return {"success": False, "error": f"{<<d.id>>['title']} is archived or checked out."}
    if <<d.id>>["owner_id"] == new_owner_id:
        return {"success": False, "error": f"{<<p.id>>['name']} owns {<<d.id>>['title']} already."}
    shared = any(
        (<<h.id>>["<<d.id>>_id"], <<h.id>>["<<p.id>>_id"]) == (<<d.id>>_id, new_owner_id)
        for <<h.id>> in self.<<h.ids>>.values()
    )
    if shared:
        return {"success": False, "error": f"{<<d.id>>['title']} is shared with {<<p.id>>['name']}."}
    <<d.id>>["owner_id"] = new_owner_id
    return {"success": True, "message": f"{<<p.id>>['name']} owns {<<d.id>>['title']}.", "data": dict(<<d.id>>)}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        people = [key for key, row in state[v.p.ids].items() if row["status"] == "active"]
        for n, name in enumerate(shuffled(rng, list(s.folders))[:4]):
            key = key_of(s.folder_prefix, n + 1)
            state[v.o.ids][key] = {f"{v.o.id}_id": key, "name": name}
        titles = [
            (key, t) for key, row in state[v.o.ids].items() for t in shuffled(rng, s.folders[row["name"]])[:3]
        ]
        statuses = ["draft"] * 6 + ["in_review"] * 3 + ["approved"] * 2 + ["archived"]
        days = shuffled(rng, list(range(1, 60)))
        for (folder, title), status in zip(titles, shuffled(rng, statuses), strict=False):
            owner = pick(rng, people)
            self._document(v, state, rng, folder, title, owner, status, later(state["today"], -days.pop()))

    def _document(
        self,
        v: SimpleNamespace,
        state: State,
        rng: Rng,
        folder: str,
        title: str,
        owner: str,
        status: str,
        day: str,
    ) -> None:
        s = v.s
        key = key_of(s.prefix, len(state[v.d.ids]) + 1)
        others = shuffled(
            rng, [k for k, row in state[v.p.ids].items() if k != owner and row["status"] == "active"]
        )
        roles = ["editor", pick(rng, ("viewer", "editor"))][: int(rng.integers(1, 3))]
        writers = [owner]
        granted = later(day, -30)
        for person, role in zip(others, roles, strict=False):
            share = key_of(s.share_prefix, len(state[v.h.ids]) + 1)
            state[v.h.ids][share] = {
                f"{v.h.id}_id": share,
                f"{v.d.id}_id": key,
                f"{v.p.id}_id": person,
                "role": role,
                "granted_on": granted,
            }
            writers += [person] if role == "editor" else []
        count = int(rng.integers(1, 4)) if len(state[v.v_.ids]) < 19 else 1
        size = int(rng.integers(40, 600))
        for number in range(1, count + 1):
            version = key_of(s.version_prefix, len(state[v.v_.ids]) + 1)
            size = max(10, size + int(rng.integers(-30, 90)))
            state[v.v_.ids][version] = {
                f"{v.v_.id}_id": version,
                f"{v.d.id}_id": key,
                "number": number,
                "author_id": pick(rng, writers),
                "note": "first draft" if number == 1 else pick(rng, s.notes),
                "size_kb": size,
                "saved_on": later(day, 3 * (number - count)),
            }
        held = [row["locked_by"] for row in state[v.d.ids].values()]
        locked = status == "draft" and rng.random() < 0.3
        free = [person for person in writers if held.count(person) < s.max_locks]
        state[v.d.ids][key] = {
            f"{v.d.id}_id": key,
            f"{v.o.id}_id": folder,
            "title": title,
            "owner_id": owner,
            "locked_by": pick(rng, free) if locked and free else None,
            "current_number": count,
            "updated_on": day,
            **{x.name: x.draw(rng) for x in s.extras},
            "status": status,
        }


PATTERN = Documents
