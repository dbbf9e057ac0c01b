"""Registry: the people or organisations a world deals with, their contact details and their standing."""

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
    attribute,
    call,
    found,
    in_own_words,
    key_of,
    named,
    own,
    pick,
)
from envscaler.model.builtin.phrase import Slots


class RegistrySettings(Settings):
    """A registry's words and data."""

    person: str
    """`guest`"""
    person_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of ids."""
    suspend: str = "suspend"
    """Verb for withdrawing the right to new bookings, orders and so on."""
    suspended: str = "suspended"
    """The status that results."""
    unsuspend: str = "reinstate"
    """Verb for giving it back."""
    register_verb: str = "register"
    """Verb for adding one."""
    reasons: list[str] = [
        "unpaid invoice",
        "false contact details",
        "repeated complaints",
        "missing documents",
    ]
    """Why somebody is suspended."""
    organisations: list[str] = []
    """Names, where these are no people."""
    count: tuple[int, int] = (9, 12)
    """How many there are."""
    rises: bool = False
    """Whether the extra that can be edited is only asked to be set to its next choice, never to an earlier one."""


class Person(Goal):
    """A goal about one person who is looked up by name."""

    weight = 0.4

    def person(self, slots: Slots, state: State) -> dict[str, Any]:
        """The record of the person a sentence names."""
        return named(state, self.v.p, slots["name"])

    def look_up(self, slots: Slots) -> dict[str, Any]:
        """The call that finds the person."""
        return call(f"find_{self.v.p.ids}", name=slots["name"])

    def id(self) -> dict[str, Any]:
        """The person's id out of the first reply."""
        return found(0, 0, self.v.p.id + "_id")

    def change(self, slots: Slots, state: State, item: str, **fields: Any) -> list[Outcome]:
        """The person's record has these values."""
        return [Changed(self.v.p.ids, self.person(slots, state)[self.v.p.id + "_id"], fields, item)]

    def anyone(self, state: State, rng: Rng, status: str = "active") -> dict[str, Any] | None:
        """Somebody of that status."""
        rows = [row for row in state[self.v.p.ids].values() if row["status"] == status]
        return pick(rng, rows) if rows else None


class UpdatePhone(Person):
    """A new telephone number."""

    phrases = (
        "The <<p>> {name:name} has a new phone number, {phone:token}, so please put it on record.",
        "Please change the phone number of <<p>> {name:name} to {phone:token}.",
        "{name:name}, one of our <<p.many>>, can now be reached at {phone:token}, which needs to go into the record.",
    )
    needs = ("find_<<p.ids>>", "update_<<p.id>>_contact")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person = self.anyone(state, rng)
        return person and {"name": person["name"], "phone": names.phone(rng)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.p.id}_id": self.id()}
        return [self.look_up(slots), call(f"update_{self.v.p.id}_contact", **key, phone=slots["phone"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the phone number of {slots['name']} been changed to {slots['phone']}?"
        return self.change(slots, state, item, phone=slots["phone"])


class UpdateEmail(Person):
    """A new e-mail address."""

    phrases = (
        "The <<p>> {name:name} now uses the email address {email:token}, please update that.",
        "Please record {email:token} as the new email address of <<p>> {name:name}.",
        "We also have to replace the email address of <<p>> {name:name} with {email:token}.",
    )
    needs = ("find_<<p.ids>>", "update_<<p.id>>_contact")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person = self.anyone(state, rng)
        return person and {"name": person["name"], "email": names.email(person["name"], "mail.example.net")}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.p.id}_id": self.id()}
        return [self.look_up(slots), call(f"update_{self.v.p.id}_contact", **key, email=slots["email"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the email address of {slots['name']} been changed to {slots['email']}?"
        return self.change(slots, state, item, email=slots["email"])


class Suspend(Person):
    """Withdraw somebody's good standing."""

    phrases = (
        'Please <<s.suspend>> <<p>> {name:name} and give "{reason:text}" as the reason.',
        'The <<p>> {name:name} has to be <<s.suspended>>, with the reason "{reason:text}".',
    )
    needs = ("find_<<p.ids>>", "<<s.suspend>>_<<p.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person = self.anyone(state, rng)
        return person and {"name": person["name"], "reason": pick(rng, self.v.s.reasons)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.p.id}_id": self.id()}
        return [self.look_up(slots), call(f"{self.v.s.suspend}_{self.v.p.id}", **key, reason=slots["reason"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has {slots['name']} been {self.v.s.suspended} with the reason '{slots['reason']}'?"
        return self.change(slots, state, item, status=self.v.s.suspended, status_note=slots["reason"])


SuspendInOwnWords = in_own_words(
    Suspend,
    "reason",
    "Please <<s.suspend>> <<p>> {name:name} and put the reason into your own words.",
    "The <<p>> {name:name} has to be <<s.suspended>>; word the reason as you like.",
)


class Reinstate(Person):
    """Give it back."""

    phrases = (
        "The matter with <<p>> {name:name} is settled, so please <<s.unsuspend>> that <<p>>.",
        "Please <<s.unsuspend>> <<p>> {name:name}, who is <<s.suspended>> at the moment.",
    )
    needs = ("find_<<p.ids>>", "<<s.unsuspend>>_<<p.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person = self.anyone(state, rng, self.v.s.suspended)
        return person and {"name": person["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.p.id}_id": self.id()}
        return [self.look_up(slots), call(f"{self.v.s.unsuspend}_{self.v.p.id}", **key)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if self.person(slots, state)["status"] != self.v.s.suspended:
            raise LookupError(f"{slots['name']} is not {self.v.s.suspended}")
        return self.change(slots, state, f"Is {slots['name']} active again?", status="active", status_note="")


class Register(Person):
    """Somebody new."""

    phrases = (
        "Please <<registerwords>> {name:name} as a new <<p>> with the email address {email:token} "
        "and the phone number {phone:token}<<said_extras>>.",
        "There is a new <<p>> to <<registerwords>>: {name:name}, email {email:token}, "
        "phone {phone:token}<<said_extras>>.",
    )
    needs = ("<<s.register_verb>>_<<p.id>>",)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        if self.v.s.organisations:
            fresh = [f"{pick(rng, names.PLACE)} {self.v.s.organisations[0].split()[-1]}"]
        else:
            fresh = names.people(rng, 1, frozenset(row["name"] for row in state[self.v.p.ids].values()))
        slots = {"name": fresh[0], "email": names.email(fresh[0]), "phone": names.phone(rng)}
        return {**slots, **{x.name: x.draw(rng) for x in self.v.given}}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [call(f"{self.v.s.register_verb}_{self.v.p.id}", **slots)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if any(row["email"] == slots["email"] for row in state[self.v.p.ids].values()):
            raise LookupError(f"{slots['email']} is taken")
        item = f"Has {slots['name']} been added as {self.v.p.a} with the given details?"
        return [Added(self.v.p.ids, {**self.v.blanks, **slots, "status": "active", "status_note": ""}, item)]


class SetExtra(Person):
    """Change the attribute of the domain's own that can be edited."""

    phrases = (
        "Please set the <<e.words>> of <<p>> {name:name} to {value:name}.",
        "The <<e.words>> of <<p>> {name:name} is out of date and should read {value:name}.",
        "From today the <<p>> {name:name} has the <<e.words>> {value:name}, please enter that.",
    )
    needs = ("find_<<p.ids>>", "set_<<p.id>>_<<e.name>>")
    when = "e is not none"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person = self.anyone(state, rng)
        extra = self.v.e
        others = [c for c in extra.choices if person and c != person[extra.name]]
        if person and self.v.s.rises:
            others = extra.choices[extra.choices.index(person[extra.name]) + 1 :][:1]
        return person and {"name": person["name"], "value": str(pick(rng, others))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        extra = self.v.e.name
        arguments = {f"{self.v.p.id}_id": self.id(), extra: slots["value"]}
        return [self.look_up(slots), call(f"set_{self.v.p.id}_{extra}", **arguments)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        extra = self.v.e
        item = f"Has the {extra.words} of {slots['name']} been set to {slots['value']}?"
        if slots["value"] not in extra.choices:
            raise LookupError(f"{extra.words} cannot be {slots['value']}")
        return self.change(slots, state, item, **{extra.name: slots["value"]})


class Registry(Pattern):
    """People or organisations with contact details and a standing."""

    Settings = RegistrySettings
    GOALS: ClassVar = (UpdatePhone, UpdateEmail, Suspend, SuspendInOwnWords, Reinstate, Register, SetExtra)

    def vocabulary(self, s: RegistrySettings, shared: dict[str, Noun]) -> dict[str, Any]:
        p = Noun(s.person, s.person_many)
        shared[s.person] = p
        shared.setdefault("person", p)
        given = [x for x in s.extras if x.type == "str"]
        said = "".join(f", {x.words} {{{x.name}:name}}" for x in given)
        e = next((x for x in s.extras if x.editable), None)
        return {
            "p": p,
            "given": given,
            "registerwords": s.register_verb.replace("_", " "),
            "said_extras": said,
            "e": e,
            "filters": [x for x in s.extras if x.filter],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        p, s = v.p, v.s
        return [
            Table(
                p,
                f"{p.a[:1].upper()}{p.a[1:]} on record.",
                [
                    attribute(f"{p.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                    attribute("name", "str", "full name"),
                    attribute("email", "str", "email address, unique among all records"),
                    attribute("phone", "str", "telephone number"),
                    *own(s.extras),
                    attribute("status", "str", f'"active" or "{s.suspended}"'),
                    attribute("status_note", "str", f"why the {p} is {s.suspended}, otherwise empty"),
                ],
            )
        ]

    RULES = (
        RuleText(
            "No two <<p.many>> have the same email address.",
            """
            mails = [row.get("email") for row in rows(after, "<<p.ids>>").values() if isinstance(row.get("email"), str)]
            return len(mails) == len({mail.lower() for mail in mails})
            """,
        ),
        RuleText(
            "Each <<p>> is either active or <<s.suspended>>, and a reason is kept for every <<p>> that is "
            "<<s.suspended>>.",
            """
            for row in rows(after, "<<p.ids>>").values():
                if row.get("status") not in ("active", "<<s.suspended>>"):
                    return False
                if row["status"] == "<<s.suspended>>" and not row.get("status_note"):
                    return False
            return True
            """,
            rank=3,
        ),
    )

    READS = '''
def find_<<p.ids>>(self, name: str) -> dict:
    """Find <<p.many>> by name.

    Args:
        name: Full name or a part of it; upper and lower case are the same.

    Returns:
        The matching <<p.many>> sorted by name; an empty list when nobody matches.
    """
    wanted = name.strip().lower()
    refuse if not wanted :: The name to look for is empty.
    matches = [dict(entry) for entry in self.<<p.ids>>.values() if wanted in entry["name"].lower()]
    return {"success": True, "data": sorted(matches, key=lambda entry: entry["name"])}

def get_<<p.id>>(self, <<p.id>>_id: str) -> dict:
    """Show the record of one <<p>>.

    Args:
        <<p.id>>_id: Id of the <<p>>, e.g. <<s.prefix>>-001.

    Returns:
        The record with contact details and status, or an error for an unknown id.
    """
    need p
    return {"success": True, "data": dict(<<p.id>>)}

def list_<<p.ids>>(
    self,
    status: str | None = None,
%% for x in filters
    <<x.name>>: <<x.type>> | None = None,
%% endfor
) -> dict:
    """List the <<p.many>> on record, optionally narrowed down.

    Args:
        status: Only those that are "active" or "<<s.suspended>>"; leave out for all.
%% for x in filters
        <<x.name>>: Only those with this <<x.words>>; leave out for all.
%% endfor

    Returns:
        The <<p.many>> sorted by id.
    """
    if status is not None and status not in ("active", "<<s.suspended>>"):
        refuse :: The status is active or <<s.suspended>>, not {status!r}.
    selected = [
        dict(entry)
        for entry in self.<<p.ids>>.values()
        if status in (None, entry["status"])
%% for x in filters
        and <<x.name>> in (None, entry["<<x.name>>"])
%% endfor
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: entry["<<p.id>>_id"])}
'''

    WRITES = '''
def <<s.register_verb>>_<<p.id>>(
    self,
    name: str,
    email: str,
    phone: str,
%% for x in given
    <<x.name>>: <<x.type>>,
%% endfor
) -> dict:
    """Add a new <<p>> to the records.

    Args:
        name: Full name.
        email: Email address; must not belong to another <<p>>.
        phone: Telephone number.
%% for x in given
        <<x.name>>: <<x.about[:1]|upper>><<x.about[1:]>>: <<x.listed>>.
%% endfor

    Returns:
        The new record, which is active at once, or an error.
    """
    refuse if not name.strip() or not phone.strip() :: A name and a phone number are required.
    refuse if "@" not in email.strip("@") :: {email!r} is not an email address.
    if any(entry["email"].lower() == email.lower() for entry in self.<<p.ids>>.values()):
        refuse :: The email address {email} is already in use.
%% for x in given
    refuse if <<x.name>> not in (<<quoted(x.choices)>>) :: Unknown <<x.words>> {<<x.name>>!r}.
%% endfor
    <<p.id>>: <<p.type>> = {
        "<<p.id>>_id": self._next_id(self.<<p.ids>>, "<<s.prefix>>"),
        "name": name.strip(),
        "email": email,
        "phone": phone.strip(),
%% for x in extras
%% if x in given
        "<<x.name>>": <<x.name>>,
%% else
        "<<x.name>>": <<blank(x)>>,
%% endif
%% endfor
        "status": "active",
        "status_note": "",
    }
    self.<<p.ids>>[<<p.id>>["<<p.id>>_id"]] = <<p.id>>
    done dict(<<p.id>>) :: {name.strip()} is now on record.

def update_<<p.id>>_contact(
    self, <<p.id>>_id: str, email: str | None = None, phone: str | None = None
) -> dict:
    """Change the email address, the phone number or both of one <<p>>.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        email: New email address; must not belong to another <<p>>. Leave out to keep the old one.
        phone: New telephone number. Leave out to keep the old one.

    Returns:
        The changed record, or an error.
    """
    need p
    refuse if email is None and phone is None :: Nothing to change: give an email address or a phone number.
    refuse if phone is not None and not phone.strip() :: The phone number is empty.
    if email is not None:
        refuse if "@" not in email.strip("@") :: {email!r} is not an email address.
        others = (entry for key, entry in self.<<p.ids>>.items() if key != <<p.id>>_id)
        if any(entry["email"].lower() == email.lower() for entry in others):
            refuse :: The email address {email} is already in use.
        <<p.id>>["email"] = email
    if phone is not None:
        <<p.id>>["phone"] = phone.strip()
    done dict(<<p.id>>) :: Contact details of {<<p.id>>['name']} are now as given.

%% if e is not none
def set_<<p.id>>_<<e.name>>(self, <<p.id>>_id: str, <<e.name>>: str) -> dict:
    """Change the <<e.words>> of one <<p>>.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        <<e.name>>: The new <<e.words>>: <<e.listed>>.

    Returns:
        The changed record, or an error.
    """
    need p
    refuse if <<e.name>> not in (<<quoted(e.choices)>>) :: The <<e.words>> is <<e.listed>>, not {<<e.name>>!r}.
    refuse if <<p.id>>["<<e.name>>"] == <<e.name>> :: The <<e.words>> is already {<<e.name>>}.
    <<p.id>>["<<e.name>>"] = <<e.name>>
    done dict(<<p.id>>) :: The <<e.words>> of {<<p.id>>['name']} is now {<<e.name>>}.
%% endif

def <<s.suspend>>_<<p.id>>(self, <<p.id>>_id: str, reason: str) -> dict:
    """<<s.suspend|capitalize>> <<p.a>>: tools that need an active <<p>> then refuse.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        reason: Why, in a few words; kept in the record.

    Returns:
        The changed record, or an error.
    """
    need p
    refuse if not reason.strip() :: A reason is required.
    refuse if <<p.id>>["status"] == "<<s.suspended>>" :: {<<p.id>>['name']} is already <<s.suspended>>.
    <<p.id>>["status"] = "<<s.suspended>>"
    <<p.id>>["status_note"] = reason.strip()
    done dict(<<p.id>>) :: {<<p.id>>['name']} is now <<s.suspended>>.

def <<s.unsuspend>>_<<p.id>>(self, <<p.id>>_id: str) -> dict:
    """<<s.unsuspend|capitalize>> <<p.a>> who is <<s.suspended>>.

    Args:
        <<p.id>>_id: Id of the <<p>>.

    Returns:
        The record, active again, or an error.
    """
    need p
    refuse if <<p.id>>["status"] != "<<s.suspended>>" :: {<<p.id>>['name']} is not <<s.suspended>>.
    <<p.id>>["status"] = "active"
    <<p.id>>["status_note"] = ""
    done dict(<<p.id>>) :: {<<p.id>>['name']} is active again.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        count = int(rng.integers(s.count[0], s.count[1] + 1))
        everyone = s.organisations[:count] or names.people(rng, count)
        behind = set(rng.choice(len(everyone), size=2, replace=False).tolist())
        for i, name in enumerate(everyone):
            key = key_of(s.prefix, i + 1)
            state[v.p.ids][key] = {
                f"{v.p.id}_id": key,
                "name": name,
                "email": names.email(name),
                "phone": names.phone(rng),
                **{x.name: x.draw(rng) for x in s.extras},
                "status": s.suspended if i in behind else "active",
                "status_note": pick(rng, s.reasons) if i in behind else "",
            }


PATTERN = Registry
