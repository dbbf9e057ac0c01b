"""Prescriptions: what people may have again and again, in set amounts and intervals, from batches that expire."""

from types import SimpleNamespace
from typing import Any, ClassVar

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
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

MOST_ROWS = 30
"""A state has no more batches or prescriptions than this."""


class Group(Part):
    """The attribute that sorts the articles."""

    name: str
    """`substance_class`"""
    about: str
    """What it means."""
    articles: dict[str, dict[str, float]]
    """Group → article → price of a piece."""


class Strict(Part):
    """Articles that may be given only once on a prescription."""

    name: str
    """`controlled`"""
    about: str
    """What it means, beginning with `whether`."""
    articles: list[str]
    """Which they are."""


class PrescriptionSettings(Settings):
    """A dispensary's words and numbers."""

    person: str = "person"
    """Who gets it: a registry's noun."""
    article: str
    """`medicine`"""
    article_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of the articles' ids."""
    piece: str = "pack"
    """What is counted."""
    price: str = "price"
    """Name of the price of a piece."""
    currency: str = "EUR"
    """Unit of money."""
    group: Group
    """What sorts the articles."""
    batch: str = "batch"
    """`batch`"""
    batch_prefix: str
    """Prefix of the batches' ids."""
    prescription: str
    """`prescription`"""
    prescription_prefix: str
    """Prefix of the prescriptions' ids."""
    prescriber: str = "prescribed_by"
    """Name of the attribute for who ordered it."""
    prescribers: list[str]
    """Names, at least ten."""
    write: str = "add"
    """Verb for entering a prescription."""
    dispense: str = "dispense"
    """Verb for giving out what is due."""
    given: str = "given"
    """Its participle."""
    dispensing: str
    """`dispensing`"""
    dispensing_many: str | None = None
    """Its plural where it is not regular."""
    dispensing_prefix: str
    """Prefix of their ids."""
    left: str = "refills_left"
    """Name of how often it may still be given."""
    last: str = "last_dispensed_on"
    """Name of the day it was last given."""
    fee: float = 0.0
    """What is charged each time on top of the price."""
    max_quantity: int = 4
    """Most pieces at a time."""
    max_times: int = 6
    """Most times a prescription can be given before it is renewed."""
    early_days: int = 3
    """So many days before the interval is over it may be given again."""
    valid_days: int = 180
    """How long a prescription is valid."""
    intervals: list[int] = [14, 21, 28, 30, 60]
    """Usual intervals."""
    strict: Strict | None = None
    """Articles that may be given only once on a prescription."""
    intolerance: str = ""
    """The text extra of the registry that names a group the person must not get."""


def fit_batches(v: SimpleNamespace, state: State, article: str, quantity: int) -> list[dict[str, Any]]:
    """The batches with enough that have not expired, those that expire first before the others."""
    rows = [
        c
        for c in state[v.c.ids].values()
        if c[f"{v.i.id}_id"] == article and c["quantity"] >= quantity and c["expires_on"] >= state["today"]
    ]
    return sorted(rows, key=lambda c: (c["expires_on"], c[f"{v.c.id}_id"]))


def due_on(v: SimpleNamespace, row: dict[str, Any]) -> str:
    """The first day on which a prescription may be given again."""
    if row[v.s.last] is None:
        return str(row["issued_on"])
    return later(row[v.s.last], row["interval_days"] - v.s.early_days)


class ArticleGoal(Goal):
    """What goals about articles and prescriptions share."""

    def article(self, slots: Slots, state: State) -> dict[str, Any]:
        """The article a sentence names."""
        return named(state, self.v.i, slots["article"])

    def person(self, slots: Slots, state: State) -> dict[str, Any]:
        """The person a sentence names."""
        return named(state, self.v.p, slots["name"])

    def fresh(self, state: State) -> dict[str, Any]:
        """What a prescription entered today holds besides what was ordered."""
        s = self.v.s
        days = {"issued_on": state["today"], "valid_until": later(state["today"], s.valid_days)}
        return {**days, s.last: None, "status": "active"}

    def may_have(self, state: State, person: dict[str, Any], article: dict[str, Any]) -> bool:
        """Whether a new prescription of the article could be entered for the person."""
        bad = self.must_not_get(person, article)
        return person["status"] == "active" and not bad and not self.active(state, person, article)

    def must_not_get(self, person: dict[str, Any], article: dict[str, Any]) -> bool:
        """Whether the person does not tolerate the article."""
        v = self.v
        return v.s.intolerance != "" and person[v.s.intolerance] == article[v.g.name]

    def active(self, state: State, person: dict[str, Any], article: dict[str, Any]) -> list[dict[str, Any]]:
        """The active prescriptions of an article that a person has."""
        return self.rows(state, "active", person, article)

    def rows(
        self,
        state: State,
        status: str,
        person: dict[str, Any] | None = None,
        article: dict[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """The prescriptions of a status, of a person and an article where these are given."""
        p, i = f"{self.v.p.id}_id", f"{self.v.i.id}_id"
        return [
            x
            for x in state[self.v.x.ids].values()
            if x["status"] == status
            and (person is None or x[p] == person[p])
            and (article is None or x[i] == article[i])
        ]

    def names_of(self, row: dict[str, Any], state: State) -> Slots:
        """The slots that point out a prescription."""
        v = self.v
        return {
            "name": state[v.p.ids][row[f"{v.p.id}_id"]]["name"],
            "article": state[v.i.ids][row[f"{v.i.id}_id"]]["name"],
        }

    def look_up(self, slots: Slots, status: str) -> list[dict[str, Any]]:
        """The calls that find person, article and the prescription of that status."""
        v = self.v
        keys = {f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"), f"{v.i.id}_id": found(1, 0, f"{v.i.id}_id")}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.i.ids}", name=slots["article"]),
            call(f"list_{v.x.ids}", **keys, status=status),
        ]

    def given(
        self, row: dict[str, Any], state: State, whose: str, also: tuple[str, ...] = ()
    ) -> list[Outcome]:
        """The prescription was given once, from the batch that expires first."""
        v, key = self.v, f"{self.v.x.id}_id"
        today, article = state["today"], state[v.i.ids][row[f"{v.i.id}_id"]]
        batches = fit_batches(v, state, article[f"{v.i.id}_id"], row["quantity"])
        if not batches or due_on(v, row) > today or row["valid_until"] < today or row[v.s.left] < 1:
            raise LookupError(f"{row[key]} cannot be given")
        if len(batches) > 1 and batches[0]["expires_on"] == batches[1]["expires_on"]:
            raise LookupError(f"either of two may be used for {row[key]}")
        if self.must_not_get(state[v.p.ids][row[f"{v.p.id}_id"]], article):
            raise LookupError(f"{row[key]} must not be given")
        batch, left = batches[0], row[v.s.left] - 1
        fields = {v.s.left: left, v.s.last: today, "status": "active" if left else "used_up"}
        marks = (row[f"{v.p.id}_id"], article[f"{v.i.id}_id"], *also)
        entry = {
            key: row[key],
            f"{v.c.id}_id": batch[f"{v.c.id}_id"],
            "day": today,
            "charge": round(article[v.s.price] * row["quantity"] + v.s.fee, 2),
        }
        rest = {"quantity": batch["quantity"] - row["quantity"]}
        lower = f"Has the {v.c} of {article['name']} that expires first gone down by {row['quantity']} for {whose}?"
        return [
            Changed(v.x.ids, row[key], fields, f"Does {whose} show that it was given today?", marks),
            Changed(v.c.ids, batch[f"{v.c.id}_id"], rest, lower),
            Added(v.d.ids, entry, f"Has {v.d.a} for {whose} been written with its charge?"),
        ]


class Dispense(ArticleGoal):
    """Give out what is due to somebody."""

    phrases = (
        "The <<p>> {name:name} is here for {article:name}; please <<s.dispense>> the active <<x>>, from "
        "whichever <<c>> expires first.",
        "Please <<s.dispense>> the <<x>> of {article:name} that <<p>> {name:name} has open, using the <<c>> "
        "that expires first and is large enough.",
        "{name:name} is due for {article:name}, so <<s.dispense>> that <<x>> out of the usable <<c>> with the "
        "earliest expiry date.",
    )
    needs = (
        "find_<<p.ids>>", "find_<<i.ids>>", "list_<<x.ids>>", "list_<<c.ids>>", "<<s.dispense>>_<<x.id>>",
    )  # fmt: skip

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [
            x
            for x in self.rows(state, "active")
            if due_on(self.v, x) <= state["today"] <= x["valid_until"]
            and fit_batches(self.v, state, x[f"{self.v.i.id}_id"], x["quantity"])
        ]
        return self.names_of(pick(rng, rows), state) if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        which = {f"{v.i.id}_id": found(1, 0, f"{v.i.id}_id"), "min_quantity": found(2, 0, "quantity")}
        keys = {f"{v.x.id}_id": found(2, 0, f"{v.x.id}_id"), f"{v.c.id}_id": found(3, 0, f"{v.c.id}_id")}
        return [
            *self.look_up(slots, "active"),
            call(f"list_{v.c.ids}", **which),
            call(f"{v.s.dispense}_{v.x.id}", **keys),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = only(self.active(state, self.person(slots, state), self.article(slots, state)))
        return self.given(row, state, f"the {self.v.x} of {slots['article']} for {slots['name']}")


class DispenseLongestDue(ArticleGoal):
    """Give out the prescription of an article that has been due longest."""

    phrases = (
        "Of all <<x.many>> of {article:name} that are due, please <<s.dispense>> the one that has been due "
        "longest, from the <<c>> that expires first.",
        "Look up who has been waiting longest for a due <<x>> of {article:name} and <<s.dispense>> it from the "
        "earliest expiring <<c>>.",
    )
    needs = ("find_<<i.ids>>", "list_due_<<x.ids>>", "list_<<c.ids>>", "<<s.dispense>>_<<x.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [x for x in self.rows(state, "active") if due_on(self.v, x) <= state["today"]]
        return {"article": self.names_of(pick(rng, rows), state)["article"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        article = {f"{v.i.id}_id": found(0, 0, f"{v.i.id}_id")}
        keys = {f"{v.x.id}_id": found(1, 0, f"{v.x.id}_id"), f"{v.c.id}_id": found(2, 0, f"{v.c.id}_id")}
        return [
            call(f"find_{v.i.ids}", name=slots["article"]),
            call(f"list_due_{v.x.ids}", **article),
            call(f"list_{v.c.ids}", **article, min_quantity=found(1, 0, "quantity")),
            call(f"{v.s.dispense}_{v.x.id}", **keys),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, article = self.v, self.article(slots, state)
        rows = [
            x
            for x in self.rows(state, "active", article=article)
            if due_on(v, x) <= state["today"] <= x["valid_until"]
        ]
        first = min((due_on(v, x) for x in rows), default="")
        row = only([x for x in rows if due_on(v, x) == first])
        return self.given(row, state, f"the longest due {v.x} of {slots['article']}")


class Write(ArticleGoal):
    """Enter a new prescription."""

    phrases = (
        "{who:name} has ordered {article:name} for <<p>> {name:name}: {n:int} <<s.piece>>s every {every:int} days, "
        "{times:int} times in all; please enter that <<x>>.",
        "Please <<writewords>> <<x.a>> of {article:name} for <<p>> {name:name}, ordered by {who:name}: "
        "{times:int} times {n:int} <<s.piece>>s at intervals of {every:int} days.",
        "For <<p>> {name:name} a new <<x>> came in from {who:name}, namely {n:int} <<s.piece>>s of "
        "{article:name} every {every:int} days, to be <<s.given>> {times:int} times.",
    )
    needs = ("find_<<p.ids>>", "find_<<i.ids>>", "<<s.write>>_<<x.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        article = pick(rng, list(state[v.i.ids].values()))
        if v.s.strict is not None and article[v.s.strict.name]:
            return None
        return {
            "name": pick(rng, list(state[v.p.ids].values()))["name"],
            "article": article["name"],
            "who": pick(rng, v.s.prescribers),
            "n": int(rng.integers(min(2, v.s.max_quantity), v.s.max_quantity + 1)),
            "every": pick(rng, v.s.intervals),
            "times": int(rng.integers(2, v.s.max_times + 1)),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        arguments = {
            f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"),
            f"{v.i.id}_id": found(1, 0, f"{v.i.id}_id"),
            v.s.prescriber: slots["who"],
            "quantity": slots["n"],
            "interval_days": slots["every"],
            "times": slots["times"],
        }
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.i.ids}", name=slots["article"]),
            call(f"{v.s.write}_{v.x.id}", **arguments),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, person, article = self.v, self.person(slots, state), self.article(slots, state)
        if not self.may_have(state, person, article):
            raise LookupError(f"{slots['name']} cannot get {slots['article']}")
        fields = {
            f"{v.p.id}_id": person[f"{v.p.id}_id"],
            f"{v.i.id}_id": article[f"{v.i.id}_id"],
            v.s.prescriber: slots["who"],
            "quantity": slots["n"],
            "interval_days": slots["every"],
            v.s.left: slots["times"],
            **self.fresh(state),
        }
        item = f"Has {v.x.a} of {slots['article']} with the given details been entered for {slots['name']}?"
        return [Added(v.x.ids, fields, item)]


class Renew(ArticleGoal):
    """Renew a prescription that is used up."""

    phrases = (
        "The <<x>> of {article:name} for <<p>> {name:name} is used up, please renew it for {times:int} more times.",
        "Please renew the used-up <<x>> of {article:name} that <<p>> {name:name} had, so that it can be <<s.given>> "
        "{times:int} times again.",
    )
    needs = ("find_<<p.ids>>", "find_<<i.ids>>", "list_<<x.ids>>", "renew_<<x.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.rows(state, "used_up")
        times = int(rng.integers(2, self.v.s.max_times + 1))
        return {**self.names_of(pick(rng, rows), state), "times": times} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.x.id}_id": found(2, 0, f"{self.v.x.id}_id")}
        return [
            *self.look_up(slots, "used_up"),
            call(f"renew_{self.v.x.id}", **key, times=slots["times"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, person, article = self.v, self.person(slots, state), self.article(slots, state)
        row = only(self.rows(state, "used_up", person, article))
        strict = v.s.strict is not None and article[v.s.strict.name]
        if strict or not self.may_have(state, person, article) or not 1 <= slots["times"] <= v.s.max_times:
            raise LookupError("it cannot be renewed")
        fields = {
            v.s.left: slots["times"],
            "valid_until": later(state["today"], v.s.valid_days),
            "status": "active",
        }
        item = f"Has the used-up {v.x} of {slots['article']} for {slots['name']} been renewed?"
        marks = (person[f"{v.p.id}_id"], article[f"{v.i.id}_id"])
        return [Changed(v.x.ids, row[f"{v.x.id}_id"], fields, item, marks)]


class Cancel(ArticleGoal):
    """Cancel an active prescription."""

    phrases = (
        "The <<p>> {name:name} no longer needs {article:name}, so please cancel the active <<x>>.",
        "Please cancel the active <<x>> of {article:name} for <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "find_<<i.ids>>", "list_<<x.ids>>", "cancel_<<x.id>>")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.rows(state, "active")
        return self.names_of(pick(rng, rows), state) if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.x.id}_id": found(2, 0, f"{self.v.x.id}_id")}
        return [*self.look_up(slots, "active"), call(f"cancel_{self.v.x.id}", **key)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, person, article = self.v, self.person(slots, state), self.article(slots, state)
        row = only(self.active(state, person, article))
        item = f"Has the active {v.x} of {slots['article']} for {slots['name']} been cancelled?"
        marks = (person[f"{v.p.id}_id"], article[f"{v.i.id}_id"])
        return [Changed(v.x.ids, row[f"{v.x.id}_id"], {"status": "cancelled"}, item, marks)]


class Switch(ArticleGoal):
    """Replace an active prescription by one of another article, with the same amount and interval."""

    phrases = (
        "{who:name} wants <<p>> {name:name} to change from {article:name} to {other:name}: cancel the active "
        "<<x>> and enter one of the new <<i>> with the same quantity and interval, for {times:int} times.",
        "Please replace the active <<x>> of {article:name} for <<p>> {name:name} by one of {other:name} from "
        "{who:name}, keeping quantity and interval as they were, to be <<s.given>> {times:int} times.",
    )
    needs = (
        "find_<<p.ids>>", "find_<<i.ids>>", "list_<<x.ids>>", "cancel_<<x.id>>", "<<s.write>>_<<x.id>>",
    )  # fmt: skip

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.rows(state, "active")
        if not rows:
            return None
        slots = self.names_of(pick(rng, rows), state)
        others = [i for i in state[self.v.i.ids].values() if i["name"] != slots["article"]]
        other = pick(rng, others)
        if self.v.s.strict is not None and other[self.v.s.strict.name]:
            return None
        times = int(rng.integers(2, self.v.s.max_times + 1))
        who = pick(rng, self.v.s.prescribers)
        return {**slots, "other": other["name"], "who": who, "times": times}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        arguments = {
            f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"),
            f"{v.i.id}_id": found(3, 0, f"{v.i.id}_id"),
            v.s.prescriber: slots["who"],
            "quantity": found(2, 0, "quantity"),
            "interval_days": found(2, 0, "interval_days"),
            "times": slots["times"],
        }
        return [
            *self.look_up(slots, "active"),
            call(f"find_{v.i.ids}", name=slots["other"]),
            call(f"cancel_{v.x.id}", **{f"{v.x.id}_id": found(2, 0, f"{v.x.id}_id")}),
            call(f"{v.s.write}_{v.x.id}", **arguments),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, person, article = self.v, self.person(slots, state), self.article(slots, state)
        other = named(state, v.i, slots["other"])
        row = only(self.active(state, person, article))
        if other is article or not self.may_have(state, person, other):
            raise LookupError(f"{slots['name']} cannot get {slots['other']}")
        fields = {
            f"{v.p.id}_id": person[f"{v.p.id}_id"],
            f"{v.i.id}_id": other[f"{v.i.id}_id"],
            v.s.prescriber: slots["who"],
            "quantity": row["quantity"],
            "interval_days": row["interval_days"],
            v.s.left: slots["times"],
            **self.fresh(state),
        }
        marks = (person[f"{v.p.id}_id"], article[f"{v.i.id}_id"])
        gone = (
            f"Has the active {v.x} of {slots['article']} for {slots['name']} been cancelled for the change?"
        )
        new = f"Has {v.x.a} of {slots['other']} been entered for {slots['name']} with quantity and interval kept?"
        return [
            Changed(v.x.ids, row[f"{v.x.id}_id"], {"status": "cancelled"}, gone, marks),
            Added(v.x.ids, fields, new),
        ]


class Receive(ArticleGoal):
    """A delivery came in."""

    phrases = (
        "A new <<c>> of {n:int} <<s.piece>>s of {article:name} has come in, expiring on {day:date}; please add it.",
        "Please book in {n:int} <<s.piece>>s of {article:name} as one <<c>> with the expiry date {day:date}.",
    )
    needs = ("find_<<i.ids>>", "receive_<<c.id>>")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {
            "article": pick(rng, list(state[self.v.i.ids].values()))["name"],
            "n": int(rng.integers(10, 90)),
            "day": later(state["today"], int(rng.integers(90, 700))),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        key = {f"{v.i.id}_id": found(0, 0, f"{v.i.id}_id")}
        return [
            call(f"find_{v.i.ids}", name=slots["article"]),
            call(f"receive_{v.c.id}", **key, quantity=slots["n"], expires_on=slots["day"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        key = {f"{v.i.id}_id": self.article(slots, state)[f"{v.i.id}_id"]}
        fields = {**key, "quantity": slots["n"], "expires_on": slots["day"]}
        item = f"Has {v.c.a} of {slots['n']} {v.s.piece}s of {slots['article']} been added?"
        return [Added(v.c.ids, fields, item)]


class Discard(ArticleGoal):
    """Discard what has expired longest of an article."""

    phrases = (
        "Some of the {article:name} has expired: look up its <<c>> with the earliest expiry date and discard it.",
        "Please discard the <<c>> of {article:name} that has been past its expiry date for the longest time.",
    )
    needs = ("find_<<i.ids>>", "list_expired_<<c.ids>>", "discard_<<c.id>>")

    def expired(self, state: State) -> list[dict[str, Any]]:
        """The batches that have expired and still hold something."""
        rows = state[self.v.c.ids].values()
        return [c for c in rows if c["quantity"] > 0 and c["expires_on"] < state["today"]]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.expired(state)
        if not rows:
            return None
        return {"article": state[self.v.i.ids][pick(rng, rows)[f"{self.v.i.id}_id"]]["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        return [
            call(f"find_{v.i.ids}", name=slots["article"]),
            call(f"list_expired_{v.c.ids}", **{f"{v.i.id}_id": found(0, 0, f"{v.i.id}_id")}),
            call(f"discard_{v.c.id}", **{f"{v.c.id}_id": found(1, 0, f"{v.c.id}_id")}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, key = self.v, f"{self.v.i.id}_id"
        article = self.article(slots, state)[key]
        rows = [c for c in self.expired(state) if c[key] == article]
        first = min((c["expires_on"] for c in rows), default="")
        batch = only([c for c in rows if c["expires_on"] == first])
        item = f"Has the {v.c} of {slots['article']} that expired first been discarded?"
        return [Changed(v.c.ids, batch[f"{v.c.id}_id"], {"quantity": 0}, item, (article,))]


class SetPrice(Goal):
    """A new price for the cheapest article of a group."""

    phrases = (
        "The cheapest <<i>> of the <<groupword>> {group:name} now costs {price:money} <<s.currency>> a "
        "<<s.piece>>, please change that.",
        "Please set the <<pricewords>> of the least expensive <<i>> in the <<groupword>> {group:name} to "
        "{price:money} <<s.currency>>.",
    )
    needs = ("list_<<i.ids>>", "set_<<i.id>>_price")
    weight = 0.6

    def cheapest(self, slots: Slots, state: State) -> dict[str, Any]:
        """The cheapest article of the group."""
        rows = [i for i in state[self.v.i.ids].values() if i[self.v.g.name] == slots["group"]]
        least = min((i[self.v.s.price] for i in rows), default=0)
        return only([i for i in rows if i[self.v.s.price] == least])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots: Slots = {"group": pick(rng, self.v.groups)}
        price = self.cheapest(slots, state)[self.v.s.price]
        return {**slots, "price": round(price * float(rng.choice([0.85, 1.1, 1.2, 1.3])), 1)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        key = {f"{v.i.id}_id": found(0, 0, f"{v.i.id}_id"), v.s.price: slots["price"]}
        return [call(f"list_{v.i.ids}", **{v.g.name: slots["group"]}), call(f"set_{v.i.id}_price", **key)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, row = self.v, self.cheapest(slots, state)
        if slots["price"] <= 0 or slots["price"] == row[v.s.price]:
            raise LookupError("that is no new price")
        item = f"Has the cheapest {v.i} of {slots['group']} been given the new {v.pricewords}?"
        return [Changed(v.i.ids, row[f"{v.i.id}_id"], {v.s.price: slots["price"]}, item)]


class Prescriptions(Pattern):
    """Repeated dispensing from batches that expire."""

    Settings = PrescriptionSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Dispense, DispenseLongestDue, Write, Renew, Cancel, Switch, Receive, Discard, SetPrice,
    )  # fmt: skip

    def vocabulary(self, s: PrescriptionSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        i, c, x = Noun(s.article, s.article_many), Noun(s.batch), Noun(s.prescription)
        d = Noun(s.dispensing, s.dispensing_many)
        shared.update({s.article: i, s.prescription: x})
        return {
            "i": i,
            "c": c,
            "x": x,
            "d": d,
            "p": shared[s.person],
            "g": s.group,
            "groups": list(s.group.articles),
            "groupword": s.group.name.replace("_", " "),
            "pricewords": s.price.replace("_", " "),
            "writewords": s.write.replace("_", " "),
            "leftwords": s.left.replace("_", " "),
            "whowords": s.prescriber.replace("_", " "),
            "strict": s.strict,
            "strictwords": s.strict.about.removeprefix("whether ") if s.strict else "",
            "early": f"{s.early_days} day{'s' if s.early_days != 1 else ''}",
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, i, c, x, d, p = v.s, v.i, v.c, v.x, v.d, v.p
        strict = [attribute(s.strict.name, "bool", s.strict.about)] if s.strict else []
        return [
            Table(
                i,
                f"{i.a[:1].upper()}{i.a[1:]} that can be prescribed.",
                [
                    attribute(f"{i.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                    attribute("name", "str", "name, unique"),
                    attribute(s.group.name, "str", f"{s.group.about}: {', '.join(v.groups)}"),
                    attribute(s.price, "float", f"what one {s.piece} costs in {s.currency}, above 0"),
                    *strict,
                    *own(s.extras),
                ],
            ),
            Table(
                c,
                f"{c.a[:1].upper()}{c.a[1:]} of {i.a} in store.",
                [
                    attribute(f"{c.id}_id", "str", f"unique id, e.g. {s.batch_prefix}-001"),
                    attribute(f"{i.id}_id", "str", f"the {i} it holds"),
                    attribute("quantity", "int", f"{s.piece}s left in it, at least 0"),
                    attribute("expires_on", "str", "last day of use, as YYYY-MM-DD"),
                ],
            ),
            Table(
                x,
                f"{x.a[:1].upper()}{x.a[1:]} that {p.a} has.",
                [
                    attribute(f"{x.id}_id", "str", f"unique id, e.g. {s.prescription_prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p} it is for"),
                    attribute(f"{i.id}_id", "str", f"the {i}"),
                    attribute(s.prescriber, "str", "who ordered it"),
                    attribute("quantity", "int", f"{s.piece}s each time, 1 to {s.max_quantity}"),
                    attribute("interval_days", "int", "days from one time to the next"),
                    attribute(s.left, "int", "how often it may still be given, at least 0"),
                    attribute("issued_on", "str", "day it was entered, as YYYY-MM-DD"),
                    attribute("valid_until", "str", "last day it can be used, as YYYY-MM-DD"),
                    attribute(s.last, "str | None", "day it was last given, as YYYY-MM-DD, or None"),
                    attribute("status", "str", "active, used_up or cancelled"),
                ],
            ),
            Table(
                d,
                f"{d.a[:1].upper()}{d.a[1:]}: what was given on {x.a} on one day.",
                [
                    attribute(f"{d.id}_id", "str", f"unique id, e.g. {s.dispensing_prefix}-001"),
                    attribute(f"{x.id}_id", "str", f"the {x}"),
                    attribute(f"{c.id}_id", "str", f"the {c} it was taken from"),
                    attribute("day", "str", "date, as YYYY-MM-DD"),
                    attribute("charge", "float", f"what it cost in {s.currency}"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "No <<c>> holds less than 0 <<s.piece>>s, and nothing is given from one that has expired.",
            """
            batches = rows(after, "<<c.ids>>")
            if any(isinstance(row.get("quantity"), int) and row["quantity"] < 0 for row in batches.values()):
                return False
            for entry in added("<<d.ids>>"):
                expiry = batches.get(str(entry.get("<<c.id>>_id")), {}).get("expires_on")
                if isinstance(expiry, str) and isinstance(entry.get("day"), str) and expiry < entry["day"]:
                    return False
            return True
            """,
        ),
        RuleText(
            "What is given comes from the <<c>> that expires first among those of the <<i>> that are large "
            "enough and not expired.",
            """
            orders, batches, today = rows(before, "<<x.ids>>"), rows(before, "<<c.ids>>"), before.get("today")
            for entry in added("<<d.ids>>"):
                order, taken = orders.get(str(entry.get("<<x.id>>_id"))), batches.get(str(entry.get("<<c.id>>_id")))
                if order is None or taken is None:
                    continue
                try:
                    fit = [
                        row["expires_on"]
                        for row in batches.values()
                        if row["<<i.id>>_id"] == order["<<i.id>>_id"]
                        and row["quantity"] >= order["quantity"]
                        and row["expires_on"] >= today
                    ]
                    if not fit or taken["expires_on"] != min(fit):
                        return False
                except (KeyError, TypeError):
                    continue
            return True
            """,
        ),
        RuleText(
            "Each time <<x.a>> is <<s.given>>, its <<leftwords>> go down by one, never below 0; at 0 it is used up.",
            """
            for row in rows(after, "<<x.ids>>").values():
                left = row.get("<<s.left>>")
                if isinstance(left, int) and (left < 0 or (left == 0) != (row.get("status") == "used_up")):
                    if left < 0 or row.get("status") in ("active", "used_up"):
                        return False
            old = rows(before, "<<x.ids>>")
            for entry in added("<<d.ids>>"):
                key = str(entry.get("<<x.id>>_id"))
                was = old.get(key, {}).get("<<s.left>>")
                now = rows(after, "<<x.ids>>").get(key, {}).get("<<s.left>>")
                if isinstance(was, int) and isinstance(now, int) and now != was - 1:
                    return False
            return True
            """,
        ),
        RuleText(
            "<<x.a[:1]|upper>><<x.a[1:]>> is not <<s.given>> again earlier than <<early>> before its "
            "interval is over, and never after it has lapsed.",
            """
            from datetime import date

            old = rows(before, "<<x.ids>>")
            for entry in added("<<d.ids>>"):
                order = old.get(str(entry.get("<<x.id>>_id")), {})
                try:
                    if order["valid_until"] < entry["day"]:
                        return False
                    if order["<<s.last>>"] is None:
                        continue
                    gone = (date.fromisoformat(entry["day"]) - date.fromisoformat(order["<<s.last>>"])).days
                    if gone < order["interval_days"] - <<s.early_days>>:
                        return False
                except (KeyError, TypeError, ValueError):
                    continue
            return True
            """,
        ),
        RuleText(
            "<<p.a[:1]|upper>><<p.a[1:]>> never has two active <<x.many>> of the same <<i>>.",
            """
            pairs = [
                (str(row.get("<<p.id>>_id")), str(row.get("<<i.id>>_id")))
                for row in rows(after, "<<x.ids>>").values()
                if row.get("status") == "active"
            ]
            return len(pairs) == len(set(pairs))
            """,
        ),
        RuleText(
            "New <<x.many>> are only entered for <<p.a>> who is active, for 1 to <<s.max_quantity>> "
            "<<s.piece>>s at a time and at most <<s.max_times>> times.",
            """
            people = rows(before, "<<p.ids>>")
            for row in added("<<x.ids>>"):
                many, times = row.get("quantity"), row.get("<<s.left>>")
                if people.get(str(row.get("<<p.id>>_id")), {}).get("status") != "active":
                    return False
                if not isinstance(many, int) or not isinstance(times, int):
                    return False
                if not (1 <= many <= <<s.max_quantity>> and 1 <= times <= <<s.max_times>>):
                    return False
            return True
            """,
        ),
        RuleText(
            "<<p.a[:1]|upper>><<p.a[1:]>> is never prescribed <<i.a>> of the <<groupword>> that stands in the "
            "record as <<s.intolerance>>.",
            """
            people, articles = rows(before, "<<p.ids>>"), rows(before, "<<i.ids>>")
            for row in added("<<x.ids>>"):
                group = articles.get(str(row.get("<<i.id>>_id")), {}).get("<<g.name>>")
                bad = people.get(str(row.get("<<p.id>>_id")), {}).get("<<s.intolerance or 'status'>>")
                if group is not None and group == bad:
                    return False
            return True
            """,
            when="s.intolerance != ''",
        ),
        RuleText(
            "Where <<strictwords>>, the <<x>> is for a single time and cannot be renewed.",
            """
            articles = rows(after, "<<i.ids>>")
            return not any(
                articles.get(str(row.get("<<i.id>>_id")), {}).get("<<strict.name>>") is True
                and isinstance(row.get("<<s.left>>"), int)
                and row["<<s.left>>"] > 1
                for row in rows(after, "<<x.ids>>").values()
            )
            """,
            when="strict is not none",
            rank=2,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _is_day(day: str) -> bool:
        """Tell whether a text is a date written as YYYY-MM-DD."""
        try:
            return date.fromisoformat(day).isoformat() == day
        except ValueError:
            return False

    @staticmethod
    def _due_on(<<x.id>>: <<x.type>>) -> str:
        """Return the first day on which <<x.a>> may be <<s.given>> again."""
        if <<x.id>>["<<s.last>>"] is None:
            return <<x.id>>["issued_on"]
        last = date.fromisoformat(<<x.id>>["<<s.last>>"])
        return (last + timedelta(days=<<x.id>>["interval_days"] - <<s.early_days>>)).isoformat()

    def _usable_<<c.ids>>(self, <<i.id>>_id: str, quantity: int) -> list[<<c.type>>]:
        """Return the <<c.many>> that hold enough and have not expired, the first to expire in front."""
        usable = [
            <<c.id>>
            for <<c.id>> in self.<<c.ids>>.values()
            if <<c.id>>["<<i.id>>_id"] == <<i.id>>_id
            and <<c.id>>["quantity"] >= quantity
            and <<c.id>>["expires_on"] >= self.today
        ]
        return sorted(usable, key=lambda <<c.id>>: (<<c.id>>["expires_on"], <<c.id>>["<<c.id>>_id"]))
'''

    READS = '''
def find_<<i.ids>>(self, name: str) -> dict:
    """Find <<i.many>> by name; one that is called exactly so comes first.

    Args:
        name: Name or a part of it; upper and lower case are the same.

    Returns:
        The matching <<i.many>>; an empty list when there are none.
    """
    wanted = name.strip().lower()
    if not wanted:
        return {"success": False, "error": "The name to look for is empty."}
    matches = [dict(<<i.id>>) for <<i.id>> in self.<<i.ids>>.values() if wanted in <<i.id>>["name"].lower()]
    matches.sort(key=lambda <<i.id>>: (<<i.id>>["name"].lower() != wanted, <<i.id>>["name"]))
    return {"success": True, "data": matches}

def list_<<i.ids>>(self, <<g.name>>: str | None = None) -> dict:
    """List the <<i.many>> with what is usable in store, the cheapest first.

    Args:
        <<g.name>>: Only this <<groupword>>: <<groups|join(", ")>>. Leave out for all.

    Returns:
        The <<i.many>> sorted by <<pricewords>>, each with `usable`, the <<s.piece>>s that have not expired.
    """
    if <<g.name>> is not None and <<g.name>> not in (<<quoted(groups)>>):
        return {"success": False, "error": f"There is no <<groupword>> {<<g.name>>!r}."}
    selected = [
        {**<<i.id>>, "usable": sum(<<c.id>>["quantity"] for <<c.id>> in self._usable_<<c.ids>>(key, 1))}
        for key, <<i.id>> in self.<<i.ids>>.items()
        if <<g.name>> in (None, <<i.id>>["<<g.name>>"])
    ]
    selected.sort(key=lambda <<i.id>>: (<<i.id>>["<<s.price>>"], <<i.id>>["<<i.id>>_id"]))
    return {"success": True, "data": selected}

def list_<<c.ids>>(self, <<i.id>>_id: str, min_quantity: int = 1) -> dict:
    """List the <<c.many>> of <<i.a>> that can be used, the one that expires first in front.

    Args:
        <<i.id>>_id: Id of the <<i>>, e.g. <<s.prefix>>-001.
        min_quantity: Only those that hold so many <<s.piece>>s or more, at least 1.

    Returns:
        The <<c.many>> that have not expired and hold enough, or an error.
    """
    if <<i.id>>_id not in self.<<i.ids>>:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
    if min_quantity < 1:
        return {"success": False, "error": f"The quantity has to be at least 1, not {min_quantity}."}
    usable = self._usable_<<c.ids>>(<<i.id>>_id, min_quantity)
    return {"success": True, "data": [dict(<<c.id>>) for <<c.id>> in usable]}

def list_expired_<<c.ids>>(self, <<i.id>>_id: str | None = None) -> dict:
    """List the <<c.many>> that have expired and still hold something, the longest expired first.

    Args:
        <<i.id>>_id: Only those of this <<i>>. Leave out for all.

    Returns:
        The expired <<c.many>>; an empty list when there are none.
    """
    expired = [
        dict(<<c.id>>)
        for <<c.id>> in self.<<c.ids>>.values()
        if <<i.id>>_id in (None, <<c.id>>["<<i.id>>_id"])
        and <<c.id>>["quantity"] > 0
        and <<c.id>>["expires_on"] < self.today
    ]
    expired.sort(key=lambda <<c.id>>: (<<c.id>>["expires_on"], <<c.id>>["<<c.id>>_id"]))
    return {"success": True, "data": expired}

def list_<<x.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<i.id>>_id: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<x.many>>, optionally narrowed down.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<i.id>>_id: Only those of this <<i>>. Leave out for all.
        status: Only those that are active, used_up or cancelled. Leave out for all.

    Returns:
        The matching <<x.many>> sorted by id; an empty list when there are none.
    """
    if status not in (None, "active", "used_up", "cancelled"):
        return {"success": False, "error": f"There is no status {status!r}."}
    selected = [
        dict(<<x.id>>)
        for <<x.id>> in self.<<x.ids>>.values()
        if <<p.id>>_id in (None, <<x.id>>["<<p.id>>_id"])
        and <<i.id>>_id in (None, <<x.id>>["<<i.id>>_id"])
        and status in (None, <<x.id>>["status"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda <<x.id>>: <<x.id>>["<<x.id>>_id"])}

def get_<<x.id>>(self, <<x.id>>_id: str) -> dict:
    """Show one <<x>> with the day it is due and all that was given on it.

    Args:
        <<x.id>>_id: Id of the <<x>>, e.g. <<s.prescription_prefix>>-001.

    Returns:
        The <<x>> with `due_on` and its <<d.many>> in order, or an error for an unknown id.
    """
    <<x.id>> = self.<<x.ids>>.get(<<x.id>>_id)
    if <<x.id>> is None:
        return {"success": False, "error": f"There is no <<x>> with the id {<<x.id>>_id!r}."}
    given = [dict(<<d.id>>) for <<d.id>> in self.<<d.ids>>.values() if <<d.id>>["<<x.id>>_id"] == <<x.id>>_id]
    given.sort(key=lambda <<d.id>>: (<<d.id>>["day"], <<d.id>>["<<d.id>>_id"]))
    due = self._due_on(<<x.id>>) if <<x.id>>["status"] == "active" else None
    return {"success": True, "data": {**<<x.id>>, "due_on": due, "<<d.ids>>": given}}

def list_due_<<x.ids>>(self, <<i.id>>_id: str | None = None) -> dict:
    """List the active <<x.many>> that may be <<s.given>> today, those due longest first.

    Args:
        <<i.id>>_id: Only those of this <<i>>. Leave out for all.

    Returns:
        The <<x.many>> that are due and have not lapsed, each with `due_on`.
    """
    due = [
        {**<<x.id>>, "due_on": self._due_on(<<x.id>>)}
        for <<x.id>> in self.<<x.ids>>.values()
        if <<i.id>>_id in (None, <<x.id>>["<<i.id>>_id"])
        and <<x.id>>["status"] == "active"
        and self._due_on(<<x.id>>) <= self.today <= <<x.id>>["valid_until"]
    ]
    due.sort(key=lambda <<x.id>>: (<<x.id>>["due_on"], <<x.id>>["<<x.id>>_id"]))
    return {"success": True, "data": due}

def list_<<d.ids>>(self, since: str, <<c.id>>_id: str | None = None) -> dict:
    """List what was given since a day, e.g. to trace <<c.a>>.

    Args:
        since: First day, as YYYY-MM-DD.
        <<c.id>>_id: Only what came from this <<c>>. Leave out for all.

    Returns:
        The <<d.many>> in the order of their days, or an error when the day cannot be read.
    """
    if not self._is_day(since):
        return {"success": False, "error": f"{since!r} is not a date like {self.today}."}
    given = [
        dict(<<d.id>>)
        for <<d.id>> in self.<<d.ids>>.values()
        if <<d.id>>["day"] >= since
        and <<c.id>>_id in (None, <<d.id>>["<<c.id>>_id"])
    ]
    given.sort(key=lambda <<d.id>>: (<<d.id>>["day"], <<d.id>>["<<d.id>>_id"]))
    return {"success": True, "data": given}
'''

    WRITES = '''
def <<s.write>>_<<x.id>>(
    self,
    <<p.id>>_id: str,
    <<i.id>>_id: str,
    <<s.prescriber>>: str,
    quantity: int,
    interval_days: int,
    times: int,
) -> dict:
    """Enter a new <<x>>; it is valid for <<s.valid_days>> days.

    Args:
        <<p.id>>_id: Id of the <<p>>, who has to be active.
        <<i.id>>_id: Id of the <<i>>, of which the <<p>> has no active <<x>> yet.
        <<s.prescriber>>: Full name of who ordered it.
        quantity: <<s.piece|capitalize>>s each time, 1 to <<s.max_quantity>>.
        interval_days: Days from one time to the next, 1 to <<s.valid_days>>.
%% if strict is not none
        times: How often it may be <<s.given>>, 1 to <<s.max_times>>; only 1 where <<strictwords>>.
%% else
        times: How often it may be <<s.given>>, 1 to <<s.max_times>>.
%% endif

    Returns:
        The new <<x>>, which is due at once, or an error.
    """
    <<p.id>> = self.<<p.ids>>.get(<<p.id>>_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    <<i.id>> = self.<<i.ids>>.get(<<i.id>>_id)
    if <<i.id>> is None:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
%% if s.intolerance
    if <<p.id>>["<<s.intolerance>>"] == <<i.id>>["<<g.name>>"]:
        return {"success": False, "error": f"{<<p.id>>['name']} must not get {<<i.id>>['<<g.name>>']}."}
%% endif
    if not <<s.prescriber>>.strip():
        return {"success": False, "error": "It has to say who ordered it."}
    if not 1 <= quantity <= <<s.max_quantity>>:
        return {"success": False, "error": f"1 to <<s.max_quantity>> <<s.piece>>s are allowed, not {quantity}."}
    if not 1 <= interval_days <= <<s.valid_days>>:
        return {"success": False, "error": f"An interval of {interval_days} days is not possible."}
    if not 1 <= times <= <<s.max_times>>:
        return {"success": False, "error": f"It can be <<s.given>> 1 to <<s.max_times>> times, not {times}."}
%% if strict is not none
    if <<i.id>>["<<strict.name>>"] and times > 1:
        return {"success": False, "error": f"{<<i.id>>['name']} can only be ordered for a single time."}
%% endif
    for <<x.id>> in self.<<x.ids>>.values():
        same = (<<x.id>>["<<p.id>>_id"], <<x.id>>["<<i.id>>_id"]) == (<<p.id>>_id, <<i.id>>_id)
        if same and <<x.id>>["status"] == "active":
            return {"success": False, "error": f"{<<p.id>>['name']} has {<<x.id>>['<<x.id>>_id']} for that already."}
    valid_until = date.fromisoformat(self.today) + timedelta(days=<<s.valid_days>>)
    new: <<x.type>> = {
        "<<x.id>>_id": self._next_id(self.<<x.ids>>, "<<s.prescription_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<i.id>>_id": <<i.id>>_id,
        "<<s.prescriber>>": <<s.prescriber>>.strip(),
        "quantity": quantity,
        "interval_days": interval_days,
        "<<s.left>>": times,
        "issued_on": self.today,
        "valid_until": valid_until.isoformat(),
        "<<s.last>>": None,
        "status": "active",
    }
    self.<<x.ids>>[new["<<x.id>>_id"]] = new
    return {
        "success": True,
        "message": f"<<x.cap>> {new['<<x.id>>_id']} entered for {<<p.id>>['name']}.",
        "data": dict(new),
    }

def <<s.dispense>>_<<x.id>>(self, <<x.id>>_id: str, <<c.id>>_id: str) -> dict:
    """<<s.dispense|capitalize>> once, today, what <<x.a>> says.
%% if s.intolerance

    It is refused where the <<i>> is of the <<groupword>> that stands in the record as <<s.intolerance>>.
%% endif
%% if s.fee > 0

    The charge is the price of the <<s.piece>>s and <<"%.2f"|format(s.fee)>> <<s.currency>> for the service.
%% endif

    Args:
        <<x.id>>_id: Id of the <<x>>; it must be active, due and not lapsed.
        <<c.id>>_id: Id of the <<c>>: of those that hold enough and have not expired, the one that expires first.

    Returns:
        The <<d>> with its charge, or an error.
    """
    <<x.id>> = self.<<x.ids>>.get(<<x.id>>_id)
    if <<x.id>> is None:
        return {"success": False, "error": f"There is no <<x>> with the id {<<x.id>>_id!r}."}
    if <<x.id>>["status"] != "active":
        return {"success": False, "error": f"<<x.cap>> {<<x.id>>_id} is {<<x.id>>['status']}, not active."}
    <<c.id>> = self.<<c.ids>>.get(<<c.id>>_id)
    if <<c.id>> is None:
        return {"success": False, "error": f"There is no <<c>> with the id {<<c.id>>_id!r}."}
    if <<c.id>>["<<i.id>>_id"] != <<x.id>>["<<i.id>>_id"]:
        return {"success": False, "error": f"<<c.cap>> {<<c.id>>_id} holds another <<i>>."}
    if <<x.id>>["valid_until"] < self.today:
        return {"success": False, "error": f"<<x.cap>> {<<x.id>>_id} lapsed on {<<x.id>>['valid_until']}."}
    if self._due_on(<<x.id>>) > self.today:
        return {"success": False, "error": f"<<x.cap>> {<<x.id>>_id} is not due before {self._due_on(<<x.id>>)}."}
%% if s.intolerance
    <<p.id>> = self.<<p.ids>>[<<x.id>>["<<p.id>>_id"]]
    <<g.name>> = self.<<i.ids>>[<<x.id>>["<<i.id>>_id"]]["<<g.name>>"]
    if <<p.id>>["<<s.intolerance>>"] == <<g.name>>:
        return {"success": False, "error": f"{<<p.id>>['name']} must not get {<<g.name>>}."}
%% endif
    usable = self._usable_<<c.ids>>(<<x.id>>["<<i.id>>_id"], <<x.id>>["quantity"])
    if <<c.id>> not in usable:
        return {"success": False, "error": f"<<c.cap>> {<<c.id>>_id} has expired or holds too little."}
    if <<c.id>>["expires_on"] != usable[0]["expires_on"]:
        return {"success": False, "error": f"<<c.cap>> {usable[0]['<<c.id>>_id']} expires first and has to be used."}
    price = self.<<i.ids>>[<<x.id>>["<<i.id>>_id"]]["<<s.price>>"]
    <<d.id>>: <<d.type>> = {
        "<<d.id>>_id": self._next_id(self.<<d.ids>>, "<<s.dispensing_prefix>>"),
        "<<x.id>>_id": <<x.id>>_id,
        "<<c.id>>_id": <<c.id>>_id,
        "day": self.today,
%% if s.fee > 0
        "charge": round(price * <<x.id>>["quantity"] + <<s.fee>>, 2),
%% else
        "charge": round(price * <<x.id>>["quantity"], 2),
%% endif
    }
    self.<<d.ids>>[<<d.id>>["<<d.id>>_id"]] = <<d.id>>
    <<c.id>>["quantity"] -= <<x.id>>["quantity"]
    <<x.id>>["<<s.left>>"] -= 1
    <<x.id>>["<<s.last>>"] = self.today
    if <<x.id>>["<<s.left>>"] == 0:
        <<x.id>>["status"] = "used_up"
    return {
        "success": True,
        "message": f"<<s.given|capitalize>> today; {<<x.id>>['<<s.left>>']} times are left.",
        "data": dict(<<d.id>>),
    }

def renew_<<x.id>>(self, <<x.id>>_id: str, times: int) -> dict:
    """Make <<x.a>> that is used up active again, valid for <<s.valid_days>> days from today.

    What holds for a new <<x>> holds here too: the <<p>> is active and has no other active one of the <<i>>.
%% if strict is not none
    Where <<strictwords>>, it was for a single time and cannot be renewed.
%% endif

    Args:
        <<x.id>>_id: Id of the <<x>>, which has to be used up.
        times: How often it may be <<s.given>> from now on, 1 to <<s.max_times>>.

    Returns:
        The renewed <<x>>, or an error.
    """
    <<x.id>> = self.<<x.ids>>.get(<<x.id>>_id)
    if <<x.id>> is None:
        return {"success": False, "error": f"There is no <<x>> with the id {<<x.id>>_id!r}."}
    if <<x.id>>["status"] != "used_up":
        return {"success": False, "error": f"<<x.cap>> {<<x.id>>_id} is {<<x.id>>['status']}, not used_up."}
    if not 1 <= times <= <<s.max_times>>:
        return {"success": False, "error": f"It can be <<s.given>> 1 to <<s.max_times>> times, not {times}."}
    <<p.id>> = self.<<p.ids>>[<<x.id>>["<<p.id>>_id"]]
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
%% if s.intolerance
    <<g.name>> = self.<<i.ids>>[<<x.id>>["<<i.id>>_id"]]["<<g.name>>"]
    if <<p.id>>["<<s.intolerance>>"] == <<g.name>>:
        return {"success": False, "error": f"{<<p.id>>['name']} must not get {<<g.name>>}."}
%% endif
%% if strict is not none
    if self.<<i.ids>>[<<x.id>>["<<i.id>>_id"]]["<<strict.name>>"]:
        return {"success": False, "error": f"<<x.cap>> {<<x.id>>_id} was for a single time and cannot be renewed."}
%% endif
    for other in self.<<x.ids>>.values():
        same = all(other[key] == <<x.id>>[key] for key in ("<<p.id>>_id", "<<i.id>>_id"))
        if same and other["status"] == "active":
            return {"success": False, "error": f"{<<p.id>>['name']} has {other['<<x.id>>_id']} for that already."}
    <<x.id>>["<<s.left>>"] = times
    <<x.id>>["valid_until"] = (date.fromisoformat(self.today) + timedelta(days=<<s.valid_days>>)).isoformat()
    <<x.id>>["status"] = "active"
    return {"success": True, "message": f"<<x.cap>> {<<x.id>>_id} renewed.", "data": dict(<<x.id>>)}

def cancel_<<x.id>>(self, <<x.id>>_id: str) -> dict:
    """Cancel <<x.a>>, of which nothing more is given then.

    Args:
        <<x.id>>_id: Id of the <<x>>; it must be active.

    Returns:
        The cancelled <<x>>, or an error.
    """
    <<x.id>> = self.<<x.ids>>.get(<<x.id>>_id)
    if <<x.id>> is None:
        return {"success": False, "error": f"There is no <<x>> with the id {<<x.id>>_id!r}."}
    if <<x.id>>["status"] != "active":
        return {"success": False, "error": f"<<x.cap>> {<<x.id>>_id} is {<<x.id>>['status']}, not active."}
    <<x.id>>["status"] = "cancelled"
    return {"success": True, "message": f"<<x.cap>> {<<x.id>>_id} cancelled.", "data": dict(<<x.id>>)}

def receive_<<c.id>>(self, <<i.id>>_id: str, quantity: int, expires_on: str) -> dict:
    """Add <<c.a>> of <<i.a>> that was delivered.

    Args:
        <<i.id>>_id: Id of the <<i>>.
        quantity: <<s.piece|capitalize>>s delivered, at least 1.
        expires_on: Last day of use, as YYYY-MM-DD; later than today.

    Returns:
        The new <<c>>, or an error.
    """
    if <<i.id>>_id not in self.<<i.ids>>:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
    if quantity < 1:
        return {"success": False, "error": f"At least 1 <<s.piece>> has to come in, not {quantity}."}
    if not self._is_day(expires_on):
        return {"success": False, "error": f"{expires_on!r} is not a date like {self.today}."}
    if expires_on <= self.today:
        return {"success": False, "error": f"The expiry date {expires_on} is not later than today, {self.today}."}
    <<c.id>>: <<c.type>> = {
        "<<c.id>>_id": self._next_id(self.<<c.ids>>, "<<s.batch_prefix>>"),
        "<<i.id>>_id": <<i.id>>_id,
        "quantity": quantity,
        "expires_on": expires_on,
    }
    self.<<c.ids>>[<<c.id>>["<<c.id>>_id"]] = <<c.id>>
    return {"success": True, "message": f"<<c.cap>> {<<c.id>>['<<c.id>>_id']} added.", "data": dict(<<c.id>>)}

def discard_<<c.id>>(self, <<c.id>>_id: str) -> dict:
    """Throw away what is left in <<c.a>> that has expired.

    Args:
        <<c.id>>_id: Id of the <<c>>; its expiry date has passed and something is left in it.

    Returns:
        The <<c>>, now empty, or an error.
    """
    <<c.id>> = self.<<c.ids>>.get(<<c.id>>_id)
    if <<c.id>> is None:
        return {"success": False, "error": f"There is no <<c>> with the id {<<c.id>>_id!r}."}
    if <<c.id>>["expires_on"] >= self.today:
        return {"success": False, "error": f"<<c.cap>> {<<c.id>>_id} can be used until {<<c.id>>['expires_on']}."}
    if <<c.id>>["quantity"] == 0:
        return {"success": False, "error": f"<<c.cap>> {<<c.id>>_id} is empty already."}
    <<c.id>>["quantity"] = 0
    return {"success": True, "message": f"<<c.cap>> {<<c.id>>_id} discarded.", "data": dict(<<c.id>>)}

def set_<<i.id>>_price(self, <<i.id>>_id: str, <<s.price>>: float) -> dict:
    """Change the <<pricewords>> of <<i.a>>.

    Args:
        <<i.id>>_id: Id of the <<i>>.
        <<s.price>>: New price of one <<s.piece>> in <<s.currency>>, above 0.

    Returns:
        The changed <<i>>, or an error.
    """
    <<i.id>> = self.<<i.ids>>.get(<<i.id>>_id)
    if <<i.id>> is None:
        return {"success": False, "error": f"There is no <<i>> with the id {<<i.id>>_id!r}."}
    if <<s.price>> <= 0:
        return {"success": False, "error": f"The <<pricewords>> has to be above 0, not {<<s.price>>}."}
    if round(<<s.price>>, 2) == <<i.id>>["<<s.price>>"]:
        return {"success": False, "error": f"{<<i.id>>['name']} costs that already."}
    <<i.id>>["<<s.price>>"] = round(<<s.price>>, 2)
    return {"success": True, "message": f"{<<i.id>>['name']} has a new price.", "data": dict(<<i.id>>)}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        self._articles(v, state)
        for n, key in enumerate(state[v.i.ids]):
            room = MOST_ROWS - len(state[v.c.ids]) - (len(state[v.i.ids]) - n - 1)
            self._batches(v, state, rng, key, room)
        people = [k for k, p in state[v.p.ids].items() if p["status"] == "active"]
        for person in shuffled(rng, people):
            for article in shuffled(rng, list(state[v.i.ids]))[: int(rng.integers(1, 4))]:
                self._prescription(v, state, rng, person, article)

    def _articles(self, v: SimpleNamespace, state: State) -> None:
        s = v.s
        every = [(group, name, price) for group, of in s.group.articles.items() for name, price in of.items()]
        for n, (group, name, price) in enumerate(every):
            key = key_of(s.prefix, n + 1)
            strict = {s.strict.name: name in s.strict.articles} if s.strict else {}
            state[v.i.ids][key] = {
                f"{v.i.id}_id": key,
                "name": name,
                s.group.name: group,
                s.price: float(price),
                **strict,
            }

    def _batches(self, v: SimpleNamespace, state: State, rng: Rng, article: str, room: int) -> None:
        """Batches of one article, at most as many as there is room for; the first has not expired."""
        days = [int(rng.integers(10, 500)), -25, int(rng.integers(10, 500))]
        kept = [days[0], *(day for day in days[1:] if rng.random() < (0.35 if day < 0 else 0.75))]
        for ahead in kept[:room]:
            key = key_of(v.s.batch_prefix, len(state[v.c.ids]) + 1)
            shift = int(rng.integers(0, 20)) if ahead < 0 else 0
            state[v.c.ids][key] = {
                f"{v.c.id}_id": key,
                f"{v.i.id}_id": article,
                "quantity": int(rng.integers(1, 40)),
                "expires_on": later(state["today"], ahead - shift),
            }

    def _prescription(self, v: SimpleNamespace, state: State, rng: Rng, person: str, article: str) -> None:
        s, today, row = v.s, state["today"], state[v.i.ids][article]
        if s.intolerance and state[v.p.ids][person][s.intolerance] == row[s.group.name]:
            return
        if len(state[v.x.ids]) == MOST_ROWS:
            return
        once = s.strict is not None and row[s.strict.name]
        every, many = pick(rng, s.intervals), int(rng.integers(1, s.max_quantity + 1))
        status = pick(rng, ["active"] * 6 + ["used_up"] * 3 + ["cancelled"])
        given = int(status == "used_up" or (rng.random() < 0.7 and not once))
        ago = every * given + int(rng.integers(-9, 16)) if given else int(rng.integers(0, 12))
        last = later(today, -max(ago, 2)) if given else None
        issued = later(last or today, -(every if given else max(ago, 1)))
        left = 0 if status == "used_up" else 1 if once else int(rng.integers(1, s.max_times))
        key = key_of(s.prescription_prefix, len(state[v.x.ids]) + 1)
        state[v.x.ids][key] = {
            f"{v.x.id}_id": key,
            f"{v.p.id}_id": person,
            f"{v.i.id}_id": article,
            s.prescriber: pick(rng, s.prescribers),
            "quantity": many,
            "interval_days": every,
            s.left: left,
            "issued_on": issued,
            "valid_until": later(issued, s.valid_days),
            s.last: last,
            "status": status,
        }
        if last is not None:
            self._dispensing(v, state, rng, key, last)

    def _dispensing(self, v: SimpleNamespace, state: State, rng: Rng, prescription: str, day: str) -> None:
        s, row = v.s, state[v.x.ids][prescription]
        article = row[f"{v.i.id}_id"]
        batches = [c for c in state[v.c.ids].values() if c[f"{v.i.id}_id"] == article]
        batch = pick(rng, [c for c in batches if c["expires_on"] >= day])
        key = key_of(s.dispensing_prefix, len(state[v.d.ids]) + 1)
        state[v.d.ids][key] = {
            f"{v.d.id}_id": key,
            f"{v.x.id}_id": prescription,
            f"{v.c.id}_id": batch[f"{v.c.id}_id"],
            "day": day,
            "charge": round(state[v.i.ids][article][s.price] * row["quantity"] + s.fee, 2),
        }


PATTERN = Prescriptions
