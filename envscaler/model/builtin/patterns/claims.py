"""Claims: what people ask to be paid back under a cover with a limit, the documents it takes, and who may decide it."""

from dataclasses import replace
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
    in_own_words,
    key_of,
    named,
    only,
    own,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._snippets import MACROS
from envscaler.model.builtin.patterns.booking import later, length
from envscaler.model.builtin.phrase import Slots

STATUSES = ("filed", "in_review", "approved", "paid", "rejected", "withdrawn")


class Terms(Part):
    """What a kind of cover gives."""

    limits: list[int]
    """Limits such covers have."""
    own_share: int = 0
    """What of each claim is not paid back."""
    causes: dict[str, list[str]]
    """What is covered → the documents a claim for it takes."""


class CoverKind(Part):
    """The attribute that sorts the covers."""

    name: str
    """`policy_type`"""
    about: str
    """What it means."""
    choices: dict[str, Terms]
    """Kind → its terms."""


class Field(Part):
    """A name and what it means."""

    name: str
    """Name of an attribute."""
    about: str
    """What it means."""


class ClaimSettings(Settings):
    """A claims desk's words and numbers."""

    person: str = "person"
    """Who claims: a registry's noun."""
    cover: str
    """`policy`"""
    cover_prefix: str
    """Prefix of the covers' ids."""
    claim: str
    """`claim`"""
    claim_prefix: str
    """Prefix of the claims' ids."""
    document: str = "document"
    """What has to be handed in: `document` or `receipt`."""
    document_prefix: str = "DOC"
    """Prefix of the documents' ids."""
    handler: str
    """Who decides: `adjuster`."""
    handler_prefix: str
    """Prefix of the handlers' ids."""
    kind: CoverKind
    """What sorts the covers."""
    cause: Field
    """What happened."""
    day: Field
    """When it happened."""
    limit: Field
    """The most that is paid back under a cover."""
    own_share: Field
    """What of each claim is not paid back."""
    used: Field
    """What was paid back so far."""
    authorities: list[int]
    """The highest amounts that handlers may decide, all different."""
    max_days: int = 60
    """A claim is filed within so many days."""
    file_verb: str = "file"
    """Verb for filing one."""
    reports: str = "reports"
    """How somebody speaks of a cause: `reports`."""
    pay_verb: str = "settle"
    """Verb for paying one."""
    currency: str = "EUR"
    """Unit of money."""
    refusals: list[str]
    """Why claims are rejected."""


class ClaimGoal(Goal):
    """A goal about the one claim of a status somebody has."""

    status = "filed"

    def rows(self, state: State) -> list[tuple[dict[str, Any], str]]:
        """The claims of the status with the id of the person."""
        v = self.v
        return [
            (q, state[v.c.ids][q[f"{v.c.id}_id"]][f"{v.p.id}_id"])
            for q in state[v.q.ids].values()
            if q["status"] == self.status
        ]

    def candidates(self, state: State, rng: Rng) -> list[tuple[dict[str, Any], str]]:
        """Claims whose person has just this one of the status, with the name."""
        rows = self.rows(state)
        owners = [owner for _, owner in rows]
        return shuffled(
            rng, [(q, state[self.v.p.ids][who]["name"]) for q, who in rows if owners.count(who) == 1]
        )

    def claim(self, slots: Slots, state: State) -> dict[str, Any]:
        """The claim a sentence is about."""
        person = named(state, self.v.p, slots["name"])[f"{self.v.p.id}_id"]
        return only([q for q, owner in self.rows(state) if owner == person])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        return {"name": rows[0][1]} if rows else None

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        key = f"{self.v.p.id}_id"
        return [
            call(f"find_{self.v.p.ids}", name=slots["name"]),
            call(f"list_{self.v.q.ids}", **{key: found(0, 0, key), "status": self.status}),
        ]

    def id(self, index: int = 1) -> dict[str, Any]:
        """Argument with the claim's id."""
        return {f"{self.v.q.id}_id": found(index, 0, f"{self.v.q.id}_id")}

    def change(self, claim: dict[str, Any], state: State, item: str, **fields: Any) -> list[Outcome]:
        """The claim has these values; its cover and the person are concerned."""
        v = self.v
        cover = claim[f"{v.c.id}_id"]
        also = (cover, state[v.c.ids][cover][f"{v.p.id}_id"], f"{self.status} {v.q.ids}")
        return [Changed(v.q.ids, claim[f"{v.q.id}_id"], fields, item, also)]


def missing(v: SimpleNamespace, state: State, claim: dict[str, Any]) -> list[str]:
    """The documents a claim still lacks."""
    kind = state[v.c.ids][claim[f"{v.c.id}_id"]][v.k.name]
    key = f"{v.q.id}_id"
    there = {d["kind"] for d in state[v.d.ids].values() if d[key] == claim[key]}
    return [doc for doc in v.k.choices[kind].causes[claim[v.cause]] if doc not in there]


def payable(v: SimpleNamespace, state: State, claim: dict[str, Any]) -> float:
    """The most that may be approved."""
    cover = state[v.c.ids][claim[f"{v.c.id}_id"]]
    promised = sum(
        q["amount_approved"]
        for q in state[v.q.ids].values()
        if q[f"{v.c.id}_id"] == cover[f"{v.c.id}_id"] and q["status"] == "approved"
    )
    left = cover[v.limit] - cover[v.used] - promised
    return round(max(0.0, min(claim["amount_claimed"] - cover[v.own_share], left)), 2)


class File(Goal):
    """File a new claim under the cover of a kind."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Please <<s.file_verb>> <<q.a>> for <<p>> {name:name} under the {kind:name} <<c>>: {cause:name}, "
        "{day:date}, {amount:money} <<s.currency>>.",
        "The <<p>> {name:name} asks for {amount:money} <<s.currency>> from the {kind:name} <<c>>, so please "
        "<<s.file_verb>> <<q.a>> with the <<causeword>> {cause:name} and the date {day:date}.",
        "{name:name} <<s.reports>> {cause:name} on {day:date} and wants {amount:money} <<s.currency>> back under the "
        "{kind:name} <<c>>; <<s.file_verb>> the <<q>>, please.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "list_<<c.ids>>", "<<s.file_verb>>_<<q.id>>")

    def cover(self, slots: Slots, state: State) -> dict[str, Any]:
        """The cover it goes to."""
        v = self.v
        person = named(state, v.p, slots["name"])
        if person["status"] != "active":
            raise LookupError(f"{slots['name']} is {person['status']}")
        return only(
            [
                c
                for c in state[v.c.ids].values()
                if c[f"{v.p.id}_id"] == person[f"{v.p.id}_id"]
                and c[v.k.name] == slots["kind"]
                and c["status"] == "active"
            ]
        )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        cover = pick(rng, [c for c in state[v.c.ids].values() if c["status"] == "active"])
        day = later(state["today"], -int(rng.integers(1, min(v.s.max_days, 25))))
        if not cover["starts_on"] <= day <= cover["expires_on"]:
            return None
        return {
            "name": state[v.p.ids][cover[f"{v.p.id}_id"]]["name"],
            "kind": cover[v.k.name],
            "cause": pick(rng, list(v.k.choices[cover[v.k.name]].causes)),
            "day": day,
            "amount": round(float(rng.integers(4, 40)) / 100 * cover[v.limit] + 0.4, 2),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        wanted = {key: found(0, 0, key), v.k.name: slots["kind"], "status": "active"}
        given = {v.cause: slots["cause"], v.day: slots["day"], "amount_claimed": slots["amount"]}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.c.ids}", **wanted),
            call(f"{v.s.file_verb}_{v.q.id}", **{f"{v.c.id}_id": found(1, 0, f"{v.c.id}_id")}, **given),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        cover = self.cover(slots, state)
        if slots["cause"] not in v.k.choices[slots["kind"]].causes:
            raise LookupError(f"{slots['cause']} is not covered")
        fields = {
            f"{v.c.id}_id": cover[f"{v.c.id}_id"],
            v.cause: slots["cause"],
            v.day: slots["day"],
            "amount_claimed": slots["amount"],
            "amount_approved": 0.0,
            f"{v.w.id}_id": None,
            "filed_on": state["today"],
            "paid_on": None,
            "status": "filed",
            "note": "",
        }
        item = f"Has {v.q.a} over {slots['amount']:.2f} for {slots['cause']} been filed for {slots['name']}?"
        also = (cover[f"{v.p.id}_id"], f"filed {v.q.ids}")
        return [Added(v.q.ids, fields, item, also)]


class Assign(ClaimGoal):
    """Give a claim to whoever may just decide it."""

    phrases = (
        "Please give the newly filed <<q>> of <<p>> {name:name} to the <<w>> on duty with the lowest authority that is "
        "still enough for the amount.",
        "The filed <<q>> of {name:name} should be reviewed by the <<w>> on duty whose authority is just high enough.",
    )
    needs = ("find_<<p.ids>>", "list_<<q.ids>>", "list_<<w.ids>>", "assign_<<q.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        able = {"min_authority": found(1, 0, "amount_claimed"), "on_duty": True}
        return [
            *self.look_up(slots),
            call(f"list_{v.w.ids}", **able),
            call(f"assign_{v.q.id}", **self.id(), **{f"{v.w.id}_id": found(2, 0, f"{v.w.id}_id")}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        claim = self.claim(slots, state)
        able = [
            w
            for w in state[v.w.ids].values()
            if w["on_duty"] and w["authority_limit"] >= claim["amount_claimed"]
        ]
        handler = min(able, key=lambda w: (w["authority_limit"], w[f"{v.w.id}_id"]), default=None)
        if handler is None:
            raise LookupError(f"no {v.w} may decide {claim['amount_claimed']}")
        item = f"Is the filed {v.q} of {slots['name']} in review with the {v.w} of the lowest sufficient authority?"
        fields = {f"{v.w.id}_id": handler[f"{v.w.id}_id"], "status": "in_review"}
        return self.change(claim, state, item, **fields)


class AddDocument(ClaimGoal):
    """A missing document has come in."""

    status = "in_review"
    phrases = (
        "We have received the {doc:name} for the <<q>> of <<p>> {name:name} that is in review, please enter it.",
        "{name:name} has sent the {doc:name} that the <<q>> in review still lacked, so add it to that <<q>>.",
    )
    needs = ("find_<<p.ids>>", "list_<<q.ids>>", "add_<<d.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for claim, name in self.candidates(state, rng):
            if lacking := missing(self.v, state, claim):
                return {"name": name, "doc": lacking[0]}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"add_{self.v.d.id}", **self.id(), kind=slots["doc"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        claim = self.claim(slots, state)
        if slots["doc"] not in missing(v, state, claim):
            raise LookupError(f"no {slots['doc']} is missing")
        key = f"{v.q.id}_id"
        fields = {key: claim[key], "kind": slots["doc"], "received_on": state["today"]}
        cover = claim[f"{v.c.id}_id"]
        also = (cover, state[v.c.ids][cover][f"{v.p.id}_id"])
        item = f"Has the {slots['doc']} been added to the {v.q} of {slots['name']}?"
        return [Added(v.d.ids, fields, item, also)]


class Approve(ClaimGoal):
    """Approve a claim that is complete with all that can be paid."""

    status = "in_review"
    phrases = (
        "All papers for the <<q>> in review of <<p>> {name:name} are there, so approve it with the full amount that an "
        "assessment says is payable.",
        "Please assess the <<q>> of {name:name} that is in review and approve exactly what is payable.",
        "The <<q>> of <<p>> {name:name} that is in review is justified; work out the payable amount and approve that.",
    )
    needs = ("find_<<p.ids>>", "list_<<q.ids>>", "assess_<<q.id>>", "approve_<<q.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [name for claim, name in self.candidates(state, rng) if not missing(self.v, state, claim)]
        return {"name": rows[0]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        amount = {"amount": found(2, "payable")}
        return [
            *self.look_up(slots),
            call(f"assess_{v.q.id}", **self.id()),
            call(f"approve_{v.q.id}", **self.id(), **amount),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        claim = self.claim(slots, state)
        amount = payable(self.v, state, claim)
        if missing(self.v, state, claim) or amount <= 0:
            raise LookupError("it cannot be approved")
        item = f"Has the {self.v.q} of {slots['name']} in review been approved with the payable {amount:.2f}?"
        outcomes = self.change(claim, state, item, status="approved", amount_approved=amount)
        # A newly approved claim may be the oldest one that is approved.
        first = outcomes[0]
        return [replace(first, also=(*first.also, f"approved {self.v.q.ids}"))]


class Reject(ClaimGoal):
    """Reject a claim."""

    status = "in_review"
    phrases = (
        'Please reject the <<q>> of <<p>> {name:name} that is in review, giving "{reason:text}" as the reason.',
        'The <<q>> of {name:name} that is in review has to be rejected: "{reason:text}".',
    )
    needs = ("find_<<p.ids>>", "list_<<q.ids>>", "reject_<<q.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {**slots, "reason": pick(rng, self.v.s.refusals)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"reject_{self.v.q.id}", **self.id(), reason=slots["reason"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        claim = self.claim(slots, state)
        item = f"Has the {self.v.q} of {slots['name']} in review been rejected with the reason '{slots['reason']}'?"
        return self.change(claim, state, item, status="rejected", note=slots["reason"])


RejectInOwnWords = in_own_words(
    Reject,
    "reason",
    "Please reject the <<q>> of <<p>> {name:name} that is in review and give the reason in your own words.",
    "The <<q>> of {name:name} that is in review has to be rejected; how you put the reason is up to you.",
)


class Pay(ClaimGoal):
    """Pay an approved claim."""

    status = "approved"
    phrases = (
        "Please <<paywords>> the approved <<q>> of <<p>> {name:name}.",
        "The approved <<q>> of {name:name} is due, so <<paywords>> it today.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "list_<<q.ids>>", "<<s.pay_verb>>_<<q.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"{self.v.s.pay_verb}_{self.v.q.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.paid(self.claim(slots, state), state, f"approved {self.v.q} of {slots['name']}")

    def paid(self, claim: dict[str, Any], state: State, which: str) -> list[Outcome]:
        """The claim is paid and its cover is used up by the amount."""
        v = self.v
        cover = state[v.c.ids][claim[f"{v.c.id}_id"]]
        used = round(cover[v.used] + claim["amount_approved"], 2)
        first = self.change(
            claim, state, f"Has the {which} been paid today?", status="paid", paid_on=state["today"]
        )
        item = f"Is what was paid for the {which} counted in its {v.c}?"
        return [*first, Changed(v.c.ids, cover[f"{v.c.id}_id"], {v.used: used}, item)]


class PayOldest(Pay):
    """Pay the approved claim that has waited longest."""

    phrases = (
        "Please <<paywords>> whichever approved <<q>> under the {kind:name} <<c.many>> was filed first.",
        "Of the approved <<q.many>> under {kind:name} <<c.many>> the one filed first has waited long enough, so "
        "<<paywords>> that one.",
    )
    needs = ("list_<<q.ids>>", "<<s.pay_verb>>_<<q.id>>")

    def claim(self, slots: Slots, state: State) -> dict[str, Any]:
        v = self.v
        rows = [q for q, _ in self.rows(state)]
        rows = [q for q in rows if state[v.c.ids][q[f"{v.c.id}_id"]][v.k.name] == slots["kind"]]
        first = min((q["filed_on"] for q in rows), default="")
        return only([q for q in rows if q["filed_on"] == first])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"kind": pick(rng, list(self.v.k.choices))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        return [
            call(f"list_{v.q.ids}", **{v.k.name: slots["kind"]}, status=self.status),
            call(f"{v.s.pay_verb}_{v.q.id}", **self.id(0)),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.paid(
            self.claim(slots, state),
            state,
            f"oldest approved {self.v.q} under the {slots['kind']} {self.v.c.many}",
        )


class Withdraw(ClaimGoal):
    """Withdraw a claim nobody has looked at."""

    weight = 0.8
    phrases = (
        "The <<p>> {name:name} no longer wants anything, so please withdraw the filed <<q>>.",
        "Please withdraw the <<q>> of <<p>> {name:name} that is only filed so far.",
    )
    needs = ("find_<<p.ids>>", "list_<<q.ids>>", "withdraw_<<q.id>>")

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.look_up(slots), call(f"withdraw_{self.v.q.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the filed {self.v.q} of {slots['name']} been withdrawn?"
        return self.change(self.claim(slots, state), state, item, status="withdrawn")


class CorrectAmount(ClaimGoal):
    """The amount was wrong."""

    phrases = (
        "The amount of the filed <<q>> of <<p>> {name:name} is wrong and should be {amount:money} <<s.currency>>.",
        "Please correct the filed <<q>> of {name:name} to {amount:money} <<s.currency>>.",
    )
    needs = ("find_<<p.ids>>", "list_<<q.ids>>", "correct_<<q.id>>_amount")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.candidates(state, rng)
        if not rows:
            return None
        amount = round(rows[0][0]["amount_claimed"] * float(rng.uniform(0.6, 0.95)), 2)
        return {"name": rows[0][1], "amount": amount}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        tool = f"correct_{self.v.q.id}_amount"
        return [*self.look_up(slots), call(tool, **self.id(), amount_claimed=slots["amount"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        claim = self.claim(slots, state)
        if claim["amount_claimed"] == slots["amount"]:
            raise LookupError("it is that already")
        item = f"Has the amount of the filed {self.v.q} of {slots['name']} been corrected to {slots['amount']:.2f}?"
        return self.change(claim, state, item, amount_claimed=slots["amount"])


class Renew(File):
    """Extend a cover by a year."""

    phrases = (
        "Please renew the {kind:name} <<c>> of <<p>> {name:name} for another year.",
        "The {kind:name} <<c>> of {name:name} should run a year longer, please renew it.",
    )
    needs = ("find_<<p.ids>>", "list_<<c.ids>>", "renew_<<c.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        cover = pick(rng, [c for c in state[v.c.ids].values() if c["status"] == "active"])
        return {"name": state[v.p.ids][cover[f"{v.p.id}_id"]]["name"], "kind": cover[v.k.name]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.c.id}_id": found(1, 0, f"{self.v.c.id}_id")}
        file_plan = super().plan({**slots, "cause": "", "day": "", "amount": 0.0})
        return [*file_plan[:2], call(f"renew_{self.v.c.id}", **key)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        cover = self.cover(slots, state)
        if length(state["today"], cover["expires_on"]) > 90:
            raise LookupError("it runs long enough")
        item = f"Has the {slots['kind']} {v.c} of {slots['name']} been renewed for 365 days?"
        fields = {"expires_on": later(cover["expires_on"], 365)}
        return [Changed(v.c.ids, cover[f"{v.c.id}_id"], fields, item, (cover[f"{v.p.id}_id"],))]


class Claims(Pattern):
    """Claims under covers with limits."""

    Settings = ClaimSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        File, Assign, AddDocument, Approve, Reject, RejectInOwnWords, Pay, PayOldest, Withdraw, CorrectAmount,
        Renew,
    )  # fmt: skip

    def vocabulary(self, s: ClaimSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        c, q = Noun(s.cover), Noun(s.claim)
        shared[s.cover], shared[s.claim] = c, q
        kinds = list(s.kind.choices)
        causes = [cause for terms in s.kind.choices.values() for cause in terms.causes]
        return {
            "p": shared[s.person],
            "c": c,
            "q": q,
            "d": Noun(s.document),
            "w": Noun(s.handler),
            "k": s.kind,
            "kinds": kinds,
            "kindlist": either(kinds),
            "kindword": s.kind.name.replace("_", " "),
            "causes": causes,
            "causeword": s.cause.name.replace("_", " "),
            "cause": s.cause.name,
            "day": s.day.name,
            "limit": s.limit.name,
            "own_share": s.own_share.name,
            "shareword": s.own_share.name.replace("_", " "),
            "used": s.used.name,
            "paywords": s.pay_verb.replace("_", " "),
            "statuses": STATUSES,
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, p, c, q, d, w = v.s, v.p, v.c, v.q, v.d, v.w
        return [
            Table(
                c,
                f"What {p.a} can claim under, up to a limit.",
                [
                    attribute(f"{c.id}_id", "str", f"unique id, e.g. {s.cover_prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p} it belongs to"),
                    attribute(v.k.name, "str", f"{v.k.about}: {v.kindlist}"),
                    attribute(v.limit, "float", s.limit.about),
                    attribute(v.own_share, "float", s.own_share.about),
                    attribute(v.used, "float", s.used.about),
                    attribute("starts_on", "str", "first day, as YYYY-MM-DD"),
                    attribute("expires_on", "str", "last day, as YYYY-MM-DD"),
                    *own(s.extras),
                    attribute("status", "str", "active or cancelled"),
                ],
            ),
            Table(
                w,
                f"{w.a[:1].upper()}{w.a[1:]}, who decides {q.many} up to an amount.",
                [
                    attribute(f"{w.id}_id", "str", f"unique id, e.g. {s.handler_prefix}-001"),
                    attribute("name", "str", "full name"),
                    attribute("authority_limit", "float", f"highest amount in {s.currency} they may decide"),
                    attribute("on_duty", "bool", "whether they take new work"),
                ],
            ),
            Table(
                q,
                f"{q.a[:1].upper()}{q.a[1:]} and what became of it.",
                [
                    attribute(f"{q.id}_id", "str", f"unique id, e.g. {s.claim_prefix}-001"),
                    attribute(f"{c.id}_id", "str", f"the {c} it is made under"),
                    attribute(v.cause, "str", s.cause.about),
                    attribute(v.day, "str", f"{s.day.about}, as YYYY-MM-DD"),
                    attribute("amount_claimed", "float", f"what is asked for, in {s.currency}"),
                    attribute("amount_approved", "float", f"what was approved, in {s.currency}; 0 before"),
                    attribute(f"{w.id}_id", "str | None", f"the {w} who decides it; None while filed"),
                    attribute("filed_on", "str", "date, as YYYY-MM-DD"),
                    attribute("paid_on", "str | None", "date it was paid, None before"),
                    attribute("status", "str", either(STATUSES)),
                    attribute("note", "str", "why it was rejected, otherwise empty"),
                ],
            ),
            Table(
                d,
                f"{d.a[:1].upper()}{d.a[1:]} handed in for {q.a}.",
                [
                    attribute(f"{d.id}_id", "str", f"unique id, e.g. {s.document_prefix}-001"),
                    attribute(f"{q.id}_id", "str", f"the {q} it belongs to"),
                    attribute("kind", "str", "what it is"),
                    attribute("received_on", "str", "date, as YYYY-MM-DD"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "No more is paid and promised under <<c.a>> than its limit.",
            """
            promised = {}
            for row in rows(after, "<<q.ids>>").values():
                if row.get("status") == "approved":
                    key = str(row.get("<<c.id>>_id"))
                    promised[key] = promised.get(key, 0) + (row.get("amount_approved") or 0)
            for key, row in rows(after, "<<c.ids>>").items():
                if (row.get("<<used>>") or 0) + promised.get(key, 0) > (row.get("<<limit>>") or 0) + 0.005:
                    return False
            return True
            """,
        ),
        RuleText(
            "An approved <<q>> is approved with no more than was claimed less the <<shareword>> of its <<c>>.",
            """
            covers = rows(after, "<<c.ids>>")
            for row in rows(after, "<<q.ids>>").values():
                share = (covers.get(str(row.get("<<c.id>>_id"))) or {}).get("<<own_share>>") or 0
                claimed, approved = row.get("amount_claimed") or 0, row.get("amount_approved") or 0
                if approved and approved > claimed - share + 0.005:
                    return False
            return True
            """,
        ),
        RuleText(
            "Every <<q>> in review or approved is with <<w.a>> whose authority covers the amount claimed.",
            """
            staff = rows(after, "<<w.ids>>")
            for row in rows(after, "<<q.ids>>").values():
                if row.get("status") in ("in_review", "approved"):
                    authority = (staff.get(str(row.get("<<w.id>>_id"))) or {}).get("authority_limit") or 0
                    if authority < (row.get("amount_claimed") or 0):
                        return False
            return True
            """,
        ),
        RuleText(
            "A <<d>> of each kind is handed in at most once per <<q>>.",
            """
            pairs = [(row.get("<<q.id>>_id"), row.get("kind")) for row in rows(after, "<<d.ids>>").values()]
            return len(pairs) == len(set(pairs))
            """,
            rank=2,
        ),
        RuleText(
            "A paid <<q>> has the date it was paid, and no other <<q>> has one.",
            """
            for row in rows(after, "<<q.ids>>").values():
                if (row.get("status") == "paid") != (row.get("paid_on") is not None):
                    return False
            return True
            """,
            rank=2,
        ),
        RuleText(
            "A <<q>> once paid, rejected or withdrawn stays as it is.",
            """
            old = rows(before, "<<q.ids>>")
            final = ("paid", "rejected", "withdrawn")
            return all(rows(after, "<<q.ids>>").get(k) == row for k, row in old.items() if row.get("status") in final)
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _required(<<k.name>>: str) -> dict[str, list[str]]:
        """Return each <<causeword>> that this <<kindword>> covers, with the <<d.many>> it takes."""
        return {
%% for kind, terms in k.choices.items()
            "<<kind>>": {
%% for cause, docs in terms.causes.items()
                "<<cause>>": <<docs|tojson>>,
%% endfor
            },
%% endfor
        }.get(<<k.name>>, {})

    def _missing_<<d.ids>>(self, <<q.id>>: dict) -> list[str]:
        """Return the kinds of <<d>> that <<q.a>> still lacks."""
        <<k.name>> = self.<<c.ids>>[<<q.id>>["<<c.id>>_id"]]["<<k.name>>"]
        there = {d["kind"] for d in self.<<d.ids>>.values() if d["<<q.id>>_id"] == <<q.id>>["<<q.id>>_id"]}
        return [kind for kind in self._required(<<k.name>>).get(<<q.id>>["<<cause>>"], []) if kind not in there]

    def _remaining(self, <<c.id>>: dict) -> float:
        """Return what is neither paid nor promised under <<c.a>>."""
        promised = sum(
            <<q.id>>["amount_approved"]
            for <<q.id>> in self.<<q.ids>>.values()
            if <<q.id>>["<<c.id>>_id"] == <<c.id>>["<<c.id>>_id"] and <<q.id>>["status"] == "approved"
        )
        return round(<<c.id>>["<<limit>>"] - <<c.id>>["<<used>>"] - promised, 2)

    def _payable(self, <<q.id>>: dict) -> float:
        """Return the most that may be approved of <<q.a>>."""
        <<c.id>> = self.<<c.ids>>[<<q.id>>["<<c.id>>_id"]]
        justified = <<q.id>>["amount_claimed"] - <<c.id>>["<<own_share>>"]
        return round(max(0.0, min(justified, self._remaining(<<c.id>>))), 2)
'''

    READS = (
        MACROS
        + '''
def list_<<c.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<k.name>>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<c.many>>, optionally narrowed down.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<k.name>>: Only this <<kindword>>: <<kindlist>>. Leave out for all.
        status: Only this status: active or cancelled. Leave out for all.

    Returns:
        The <<c.many>> sorted by id; an empty list when there are none.
    """
<<one_of(k.name, kindword, kinds)>>
<<one_of("status", "status", ["active", "cancelled"])>>
    selected = [
        dict(<<c.id>>)
        for <<c.id>> in self.<<c.ids>>.values()
        if <<p.id>>_id in (None, <<c.id>>["<<p.id>>_id"])
        and <<k.name>> in (None, <<c.id>>["<<k.name>>"])
        and status in (None, <<c.id>>["status"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda <<c.id>>: <<c.id>>["<<c.id>>_id"])}

<<getter(c, s.cover_prefix)>>

def list_expiring_<<c.ids>>(self, until: str) -> dict:
    """List the active <<c.many>> that expire by a date, the first to expire first.

    Args:
        until: The last date that counts, as YYYY-MM-DD.

    Returns:
        The <<c.many>> with their last day.
    """
    if not self._is_date(until):
        return {"success": False, "error": f"{until!r} is not a date as YYYY-MM-DD."}
    selected = [
        dict(<<c.id>>)
        for <<c.id>> in self.<<c.ids>>.values()
        if <<c.id>>["status"] == "active" and <<c.id>>["expires_on"] <= until
    ]
    selected.sort(key=lambda <<c.id>>: (<<c.id>>["expires_on"], <<c.id>>["<<c.id>>_id"]))
    return {"success": True, "data": selected}

def get_remaining_<<limit>>(self, <<c.id>>_id: str) -> dict:
    """Show how much of the limit of <<c.a>> is left.

    Args:
        <<c.id>>_id: Id of the <<c>>.

    Returns:
        The limit, what was paid, and what is neither paid nor promised yet.
    """
<<known(c)>>
    data = {
        "<<c.id>>_id": <<c.id>>_id,
        "<<limit>>": <<c.id>>["<<limit>>"],
        "<<used>>": <<c.id>>["<<used>>"],
        "remaining": self._remaining(<<c.id>>),
    }
    return {"success": True, "data": data}

def list_<<q.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<c.id>>_id: str | None = None,
    <<k.name>>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<q.many>>, the one filed first in front.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<c.id>>_id: Only those under this <<c>>. Leave out for all.
        <<k.name>>: Only those under <<c.a>> of this <<kindword>>: <<kindlist>>. Leave out for all.
        status: Only this status: <<statuses|join(", ")>>. Leave out for all.

    Returns:
        The matching <<q.many>>; an empty list when there are none.
    """
<<one_of(k.name, kindword, kinds)>>
<<one_of("status", "status", statuses)>>
    selected = []
    for <<q.id>> in self.<<q.ids>>.values():
        <<c.id>> = self.<<c.ids>>[<<q.id>>["<<c.id>>_id"]]
        if (
            <<p.id>>_id in (None, <<c.id>>["<<p.id>>_id"])
            and <<c.id>>_id in (None, <<c.id>>["<<c.id>>_id"])
            and <<k.name>> in (None, <<c.id>>["<<k.name>>"])
            and status in (None, <<q.id>>["status"])
        ):
            selected.append(dict(<<q.id>>))
    selected.sort(key=lambda <<q.id>>: (<<q.id>>["filed_on"], <<q.id>>["<<q.id>>_id"]))
    return {"success": True, "data": selected}

<<getter(q, s.claim_prefix)>>

def assess_<<q.id>>(self, <<q.id>>_id: str) -> dict:
    """Work out what could be approved of <<q.a>> and what it still lacks.

    Args:
        <<q.id>>_id: Id of the <<q>>.

    Returns:
        `payable`: the amount claimed less the <<shareword>>, at most what is left of the limit; and what <<d.many>>
        are missing.
    """
<<known(q)>>
    data = {
        "<<q.id>>_id": <<q.id>>_id,
        "payable": self._payable(<<q.id>>),
        "missing_<<d.ids>>": self._missing_<<d.ids>>(<<q.id>>),
    }
    return {"success": True, "data": data}

def list_<<d.ids>>(self, <<q.id>>_id: str) -> dict:
    """List the <<d.many>> that were handed in for <<q.a>>.

    Args:
        <<q.id>>_id: Id of the <<q>>.

    Returns:
        The <<d.many>> in the order they came in; an empty list when there are none.
    """
    if <<q.id>>_id not in self.<<q.ids>>:
        return {"success": False, "error": f"There is no <<q>> with the id {<<q.id>>_id!r}."}
    selected = [dict(d) for d in self.<<d.ids>>.values() if d["<<q.id>>_id"] == <<q.id>>_id]
    selected.sort(key=lambda d: (d["received_on"], d["<<d.id>>_id"]))
    return {"success": True, "data": selected}

def list_<<w.ids>>(self, min_authority: float | None = None, on_duty: bool | None = None) -> dict:
    """List the <<w.many>>, the one with the lowest authority first.

    Args:
        min_authority: Only those who may decide at least this amount in <<s.currency>>. Leave out for all.
        on_duty: True for only those on duty, False for only those who are not. Leave out for all.

    Returns:
        The <<w.many>> with the highest amount each may decide.
    """
    selected = [
        dict(<<w.id>>)
        for <<w.id>> in self.<<w.ids>>.values()
        if (min_authority is None or <<w.id>>["authority_limit"] >= min_authority)
        and on_duty in (None, <<w.id>>["on_duty"])
    ]
    selected.sort(key=lambda <<w.id>>: (<<w.id>>["authority_limit"], <<w.id>>["<<w.id>>_id"]))
    return {"success": True, "data": selected}
'''
    )

    WRITES = (
        MACROS
        + '''
def <<s.file_verb>>_<<q.id>>(
    self, <<c.id>>_id: str, <<cause>>: str, <<day>>: str, amount_claimed: float
) -> dict:
    """<<s.file_verb|capitalize>> a new <<q>> under <<c.a>>.

    Args:
        <<c.id>>_id: Id of the <<c>>, which must be active; its <<p>> too.
        <<cause>>: <<s.cause.about|capitalize>>, one that the <<kindword>> covers.
        <<day>>: <<s.day.about|capitalize>>, as YYYY-MM-DD: while the <<c>> ran, <<s.max_days>> days ago or less.
        amount_claimed: What is asked for, in <<s.currency>>; above 0.

    Returns:
        The new <<q>>, or an error.
    """
<<known(c)>>
    if <<c.id>>["status"] != "active":
        return {"success": False, "error": f"<<c.cap>> {<<c.id>>_id} is {<<c.id>>['status']}."}
    <<p.id>> = self.<<p.ids>>[<<c.id>>["<<p.id>>_id"]]
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}."}
    if <<cause>> not in self._required(<<c.id>>["<<k.name>>"]):
        return {"success": False, "error": f"{<<c.id>>['<<k.name>>']} does not cover {<<cause>>!r}."}
    if not self._is_date(<<day>>):
        return {"success": False, "error": f"{<<day>>!r} is not a date as YYYY-MM-DD."}
    if not <<c.id>>["starts_on"] <= <<day>> <= <<c.id>>["expires_on"]:
        return {"success": False, "error": f"<<c.cap>> {<<c.id>>_id} did not run on {<<day>>}."}
    days = (date.fromisoformat(self.today) - date.fromisoformat(<<day>>)).days
    if days < 0 or days > <<s.max_days>>:
        return {"success": False, "error": f"{<<day>>} is not within the last <<s.max_days>> days."}
    if not 0 < round(amount_claimed, 2) < 1_000_000_000:
        return {"success": False, "error": "The amount must be above 0."}
    <<q.id>>: <<q.type>> = {
        "<<q.id>>_id": self._next_id(self.<<q.ids>>, "<<s.claim_prefix>>"),
        "<<c.id>>_id": <<c.id>>_id,
        "<<cause>>": <<cause>>,
        "<<day>>": <<day>>,
        "amount_claimed": round(amount_claimed, 2),
        "amount_approved": 0.0,
        "<<w.id>>_id": None,
        "filed_on": self.today,
        "paid_on": None,
        "status": "filed",
        "note": "",
    }
    self.<<q.ids>>[<<q.id>>["<<q.id>>_id"]] = <<q.id>>
<<done(q, "is filed")>>

def correct_<<q.id>>_amount(self, <<q.id>>_id: str, amount_claimed: float) -> dict:
    """Correct what is asked for in <<q.a>> that nobody reviews yet.

    Args:
        <<q.id>>_id: Id of the <<q>>, which must be filed.
        amount_claimed: The right amount in <<s.currency>>; above 0.

    Returns:
        The changed <<q>>, or an error.
    """
<<known(q)>>
    if <<q.id>>["status"] != "filed":
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} is {<<q.id>>['status']}, not filed."}
    if not 0 < round(amount_claimed, 2) < 1_000_000_000:
        return {"success": False, "error": "The amount must be above 0."}
    if round(amount_claimed, 2) == <<q.id>>["amount_claimed"]:
        return {"success": False, "error": "That is the amount already."}
    <<q.id>>["amount_claimed"] = round(amount_claimed, 2)
<<done(q, "corrected")>>

def add_<<d.id>>(self, <<q.id>>_id: str, kind: str) -> dict:
    """Enter <<d.a>> that was handed in for an undecided <<q>>.

    Args:
        <<q.id>>_id: Id of the <<q>>, which must be filed or in review.
        kind: What was handed in; one that the <<q>> still lacks.

    Returns:
        The new <<d>>, or an error.
    """
<<known(q)>>
    if <<q.id>>["status"] not in ("filed", "in_review"):
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} is {<<q.id>>['status']} already."}
    if kind not in self._missing_<<d.ids>>(<<q.id>>):
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} lacks no {kind!r}."}
    <<d.id>>: <<d.type>> = {
        "<<d.id>>_id": self._next_id(self.<<d.ids>>, "<<s.document_prefix>>"),
        "<<q.id>>_id": <<q.id>>_id,
        "kind": kind,
        "received_on": self.today,
    }
    self.<<d.ids>>[<<d.id>>["<<d.id>>_id"]] = <<d.id>>
<<done(d, "entered")>>

def assign_<<q.id>>(self, <<q.id>>_id: str, <<w.id>>_id: str) -> dict:
    """Give <<q.a>> to <<w.a>> for review, or hand it on to another one.

    Args:
        <<q.id>>_id: Id of the <<q>>, which must be filed or in review.
        <<w.id>>_id: Id of the <<w>>: on duty, with enough authority for the amount claimed.

    Returns:
        The <<q>>, now in review, or an error.
    """
<<known(q)>>
<<known(w)>>
    if <<q.id>>["status"] not in ("filed", "in_review"):
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} is {<<q.id>>['status']} already."}
    if <<q.id>>["<<w.id>>_id"] == <<w.id>>_id:
        return {"success": False, "error": f"{<<w.id>>['name']} has {<<q.id>>_id} already."}
    if not <<w.id>>["on_duty"]:
        return {"success": False, "error": f"{<<w.id>>['name']} is not on duty."}
    if <<w.id>>["authority_limit"] < <<q.id>>["amount_claimed"]:
        return {"success": False, "error": f"{<<w.id>>['name']} may not decide such an amount."}
    <<q.id>>["<<w.id>>_id"] = <<w.id>>_id
    <<q.id>>["status"] = "in_review"
<<done(q, "is in review")>>

def approve_<<q.id>>(self, <<q.id>>_id: str, amount: float) -> dict:
    """Approve <<q.a>> with an amount, which is thereby promised under its <<c>>.

    Args:
        <<q.id>>_id: Id of the <<q>>, which must be in review and lack no <<d>>.
        amount: Amount in <<s.currency>>; above 0 and no more than an assessment says is payable.

    Returns:
        The approved <<q>>, or an error.
    """
<<known(q)>>
    if <<q.id>>["status"] != "in_review":
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} is {<<q.id>>['status']}, not in review."}
    lacking = self._missing_<<d.ids>>(<<q.id>>)
    if lacking:
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} still lacks: {', '.join(lacking)}."}
    if not round(amount, 2) > 0:
        return {"success": False, "error": "The amount must be above 0."}
    if amount > self._payable(<<q.id>>):
        return {"success": False, "error": f"No more than {self._payable(<<q.id>>)} is payable."}
    <<q.id>>["amount_approved"] = round(amount, 2)
    <<q.id>>["status"] = "approved"
<<done(q, "approved")>>

def reject_<<q.id>>(self, <<q.id>>_id: str, reason: str) -> dict:
    """Reject <<q.a>> in review.

    Args:
        <<q.id>>_id: Id of the <<q>>, which must be in review.
        reason: Why, in a few words; kept as its note.

    Returns:
        The rejected <<q>>, or an error.
    """
<<known(q)>>
    if <<q.id>>["status"] != "in_review":
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} is {<<q.id>>['status']}, not in review."}
    if not reason.strip():
        return {"success": False, "error": "A reason is required."}
    <<q.id>>["status"] = "rejected"
    <<q.id>>["note"] = reason.strip()
<<done(q, "rejected")>>

def <<s.pay_verb>>_<<q.id>>(self, <<q.id>>_id: str) -> dict:
    """<<paywords|capitalize>> what was approved of <<q.a>> and count it towards the limit of its <<c>>.

    Args:
        <<q.id>>_id: Id of the <<q>>, which must be approved.

    Returns:
        The paid <<q>>, or an error.
    """
<<known(q)>>
    if <<q.id>>["status"] != "approved":
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} is {<<q.id>>['status']}, not approved."}
    <<c.id>> = self.<<c.ids>>[<<q.id>>["<<c.id>>_id"]]
    <<c.id>>["<<used>>"] = round(<<c.id>>["<<used>>"] + <<q.id>>["amount_approved"], 2)
    <<q.id>>["status"] = "paid"
    <<q.id>>["paid_on"] = self.today
<<done(q, "paid")>>

def withdraw_<<q.id>>(self, <<q.id>>_id: str) -> dict:
    """Withdraw <<q.a>> that nobody reviews yet.

    Args:
        <<q.id>>_id: Id of the <<q>>, which must be filed.

    Returns:
        The withdrawn <<q>>, or an error.
    """
<<known(q)>>
    if <<q.id>>["status"] != "filed":
        return {"success": False, "error": f"<<q.cap>> {<<q.id>>_id} is {<<q.id>>['status']}, not filed."}
    <<q.id>>["status"] = "withdrawn"
<<done(q, "withdrawn")>>

def renew_<<c.id>>(self, <<c.id>>_id: str) -> dict:
    """Let <<c.a>> that expires within 90 days run for 365 days more.

    Args:
        <<c.id>>_id: Id of the <<c>>, which must be active.

    Returns:
        The renewed <<c>>, or an error.
    """
<<known(c)>>
    if <<c.id>>["status"] != "active":
        return {"success": False, "error": f"<<c.cap>> {<<c.id>>_id} is {<<c.id>>['status']}."}
    last = date.fromisoformat(<<c.id>>["expires_on"])
    if (last - date.fromisoformat(self.today)).days > 90:
        return {"success": False, "error": f"<<c.cap>> {<<c.id>>_id} runs until {last} anyway."}
    <<c.id>>["expires_on"] = (last + timedelta(days=365)).isoformat()
<<done(c, "renewed")>>
'''
    )

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        taken = frozenset(row["name"] for row in state[v.p.ids].values())
        for n, name in enumerate(names.people(rng, len(s.authorities) + 1, taken)):
            key = key_of(s.handler_prefix, n + 1)
            limit = float([*s.authorities, s.authorities[0]][n])
            state[v.w.ids][key] = {
                f"{v.w.id}_id": key,
                "name": name,
                "authority_limit": limit,
                "on_duty": n < len(s.authorities) and (rng.random() < 0.75 or n + 1 == len(s.authorities)),
            }
        self._covers(v, state, rng)
        covers = shuffled(rng, [key for key, c in state[v.c.ids].items() if c["status"] == "active"])
        statuses = ["filed"] * 4 + ["in_review"] * 4 + ["approved"] * 3 + ["paid", "rejected"]
        days = sorted(
            (int(d) for d in rng.choice(range(2, 45), size=len(statuses), replace=False)), reverse=True
        )
        for n, status in enumerate(shuffled(rng, statuses)):
            self._claim(v, state, rng, covers[n % len(covers)], status, later(state["today"], -days[n]))

    def _covers(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        wanted = [(who, k) for n, who in enumerate(state[v.p.ids]) for k in
                  shuffled(rng, list(v.kinds))[: 1 + (n % 2)]]  # fmt: skip
        for n, (person, kind) in enumerate(wanted):
            key = key_of(s.cover_prefix, n + 1)
            first = later(state["today"], -int(rng.integers(120, 350)))
            state[v.c.ids][key] = {
                f"{v.c.id}_id": key,
                f"{v.p.id}_id": person,
                v.k.name: kind,
                v.limit: float(pick(rng, v.k.choices[kind].limits)),
                v.own_share: float(v.k.choices[kind].own_share),
                v.used: 0.0,
                "starts_on": first,
                "expires_on": later(first, 365),
                **{x.name: x.draw(rng) for x in s.extras},
                "status": "cancelled" if rng.random() < 0.08 else "active",
            }

    def _claim(
        self, v: SimpleNamespace, state: State, rng: Rng, cover_id: str, status: str, day: str
    ) -> None:
        s, cover = v.s, state[v.c.ids][cover_id]
        key = key_of(s.claim_prefix, len(state[v.q.ids]) + 1)
        least = cover[v.own_share] / cover[v.limit] + 0.03
        amount = round(float(rng.uniform(least, least + 0.25)) * cover[v.limit], 2)
        amount = min(amount, float(max(s.authorities)))
        able = [k for k, w in state[v.w.ids].items() if w["authority_limit"] >= amount]
        cause = pick(rng, list(v.k.choices[cover[v.k.name]].causes))
        claim = {
            f"{v.q.id}_id": key,
            f"{v.c.id}_id": cover_id,
            v.cause: cause,
            v.day: later(day, -int(rng.integers(1, 10))),
            "amount_claimed": amount,
            "amount_approved": 0.0,
            f"{v.w.id}_id": None if status == "filed" else pick(rng, able),
            "filed_on": day,
            "paid_on": None,
            "status": status,
            "note": pick(rng, s.refusals) if status == "rejected" else "",
        }
        granted = payable(v, state, claim)
        if status in ("approved", "paid"):
            claim["amount_approved"] = granted
        if status == "paid":
            claim["paid_on"] = later(state["today"], -1)
            cover[v.used] = round(cover[v.used] + granted, 2)
        state[v.q.ids][key] = claim
        self._documents(v, state, rng, claim, v.k.choices[cover[v.k.name]].causes[cause])

    def _documents(
        self, v: SimpleNamespace, state: State, rng: Rng, claim: dict[str, Any], kinds: list[str]
    ) -> None:
        complete = claim["status"] in ("approved", "paid") or rng.random() < 0.5
        for kind in kinds if complete else kinds[:-1]:
            key = key_of(v.s.document_prefix, len(state[v.d.ids]) + 1)
            last = max(1, (date.fromisoformat(state["today"]) - date.fromisoformat(claim["filed_on"])).days)
            state[v.d.ids][key] = {
                f"{v.d.id}_id": key,
                f"{v.q.id}_id": claim[f"{v.q.id}_id"],
                "kind": kind,
                "received_on": later(claim["filed_on"], int(rng.integers(0, min(last, 6)))),
            }


PATTERN = Claims
