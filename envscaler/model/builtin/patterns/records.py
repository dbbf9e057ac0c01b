"""Records: measurements and activities that people log by kind, within plausible ranges, and targets for them."""

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
    in_own_words,
    key_of,
    named,
    only,
    own,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns.booking import later, length
from envscaler.model.builtin.phrase import Slots


class Measure(Part):
    """One kind of entry."""

    unit: str
    """`mmHg`"""
    plausible: tuple[float, float]
    """Least and greatest value that can be entered at all."""
    usual: tuple[float, float]
    """Least and greatest value that needs no attention."""
    aim: str
    """The better direction: `low` or `high`."""


class RecordSettings(Settings):
    """A log's words and numbers."""

    person: str = "person"
    """Whose entries they are: a registry's noun."""
    measure: str
    """`vital sign`"""
    measure_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of the measures' ids."""
    group: str
    """Name of what sorts the measures, e.g. `area`."""
    measures: dict[str, dict[str, Measure]]
    """Group → name → measure."""
    entry: str
    """`reading`"""
    entry_many: str | None = None
    """Its plural where it is not regular."""
    entry_prefix: str
    """Prefix of the entries' ids."""
    log: str = "log"
    """Verb for making an entry."""
    target: str = "target"
    """`target`"""
    target_prefix: str
    """Prefix of the targets' ids."""
    review: str = "review"
    """Verb for looking at an entry outside the usual range."""
    remarks: list[str]
    """What is written down at a review, at least ten."""
    correct_days: int = 14
    """How old an entry may be that is corrected or removed."""
    max_targets: int = 3
    """Most open targets a person may have."""
    spans: list[int] = [7, 14, 30]
    """Usual numbers of days for an average."""


def rows_of(
    v: SimpleNamespace, state: State, person: str | None = None, measure: str | None = None
) -> list[dict[str, Any]]:
    """The entries of a person and a measure, the newest first."""
    rows = [
        e
        for e in state[v.e.ids].values()
        if person in (None, e[f"{v.p.id}_id"]) and measure in (None, e[f"{v.m.id}_id"])
    ]
    return sorted(rows, key=lambda e: (e["day"], e[f"{v.e.id}_id"]), reverse=True)


def unusual(measure: dict[str, Any], value: float) -> bool:
    """Whether a value lies outside the usual range."""
    return not measure["usual_min"] <= value <= measure["usual_max"]


def near(measure: dict[str, Any], rng: Rng) -> float:
    """A value of a measure that may well occur."""
    low, high = measure["usual_min"], measure["usual_max"]
    wide = (high - low) * 0.25
    value = float(rng.uniform(low - wide, high + wide))
    value = min(max(value, measure["plausible_min"]), measure["plausible_max"])
    return float(round(value)) if high - low >= 20 else round(value, 1)


class LogGoal(Goal):
    """A goal about entries or targets of one person and one measure."""

    def person(self, slots: Slots, state: State) -> dict[str, Any]:
        """The person a sentence names."""
        return named(state, self.v.p, slots["name"])

    def measure(self, slots: Slots, state: State) -> dict[str, Any]:
        """The measure a sentence names."""
        return named(state, self.v.m, slots["measure"])

    def keys(self, slots: Slots, state: State) -> dict[str, str]:
        """The ids of both, as fields."""
        v = self.v
        return {
            f"{v.p.id}_id": self.person(slots, state)[f"{v.p.id}_id"],
            f"{v.m.id}_id": self.measure(slots, state)[f"{v.m.id}_id"],
        }

    def marks(self, slots: Slots, state: State) -> tuple[str, ...]:
        """What no other goal of the task may concern: this person's entries of this measure."""
        return ("/".join(self.keys(slots, state).values()), *self.keys(slots, state).values())

    def entries(self, slots: Slots, state: State) -> list[dict[str, Any]]:
        """The entries of both, the newest first."""
        return rows_of(self.v, state, *self.keys(slots, state).values())

    def active(self, state: State) -> list[dict[str, Any]]:
        """The people who are active."""
        return [p for p in state[self.v.p.ids].values() if p["status"] == "active"]

    def somebody(self, state: State, rng: Rng) -> Slots:
        """A person who is active and a measure of which there are entries."""
        v = self.v
        person = pick(rng, self.active(state))
        rows = rows_of(v, state, person[f"{v.p.id}_id"])
        if not rows:
            raise LookupError(f"{person['name']} has no {v.e.many}")
        measure = state[v.m.ids][pick(rng, rows)[f"{v.m.id}_id"]]
        return {"name": person["name"], "measure": measure["name"]}

    def look_up(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find both."""
        v = self.v
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.m.ids}", name=slots["measure"]),
        ]

    def found_keys(self) -> dict[str, Any]:
        """Arguments with both ids."""
        v = self.v
        return {f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"), f"{v.m.id}_id": found(1, 0, f"{v.m.id}_id")}

    def fits(self, measure: dict[str, Any], value: float) -> None:
        """Raise `LookupError` when the value is not plausible."""
        if not measure["plausible_min"] <= value <= measure["plausible_max"]:
            raise LookupError(f"{value} is not plausible")

    def new(self, slots: Slots, state: State, value: float, item: str) -> list[Outcome]:
        """There is one new entry with this value."""
        measure = self.measure(slots, state)
        if self.person(slots, state)["status"] != "active" or slots["day"] > state["today"]:
            raise LookupError("it cannot be entered")
        # With one of that day there already, to correct it would be as right.
        if any(e["day"] == slots["day"] for e in self.entries(slots, state)):
            raise LookupError(f"there is {self.v.e.a} of that day")
        self.fits(measure, value)
        fields = {
            **self.keys(slots, state),
            "value": value,
            "day": slots["day"],
            "attention": unusual(measure, value),
            "remark": "",
        }
        return [Added(self.v.e.ids, fields, item, self.marks(slots, state))]


class LogValue(LogGoal):
    """Make an entry."""

    phrases = (
        "Please <<s.log>> {value:number} for {measure:name} of <<p>> {name:name}, taken on {day:date}.",
        "On {day:date} the <<p>> {name:name} had {value:number} for {measure:name}, please enter it.",
        "The {measure:name} of <<p>> {name:name} on {day:date} was {value:number}, which is not in the <<e.many>> yet.",
    )
    needs = ("find_<<p.ids>>", "find_<<m.ids>>", "<<s.log>>_<<e.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        slots = {
            "name": pick(rng, self.active(state))["name"],
            "measure": pick(rng, list(state[v.m.ids].values()))["name"],
            "day": later(state["today"], -int(rng.integers(0, 4))),
        }
        return {**slots, "value": near(self.measure(slots, state), rng)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        what = {"value": slots["value"], "day": slots["day"]}
        return [*self.look_up(slots), call(f"{self.v.s.log}_{self.v.e.id}", **self.found_keys(), **what)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = (
            f"Has {self.v.e.a} of {slots['value']} for {slots['measure']} of {slots['name']} on {slots['day']} "
            "been added?"
        )
        return self.new(slots, state, slots["value"], item)


class LogAgain(LogGoal):
    """Make an entry with the value of the latest one."""

    phrases = (
        "The {measure:name} of <<p>> {name:name} on {day:date} was the same as at the latest <<e>>, so please "
        "<<s.log>> that value again.",
        "Please look up the latest {measure:name} of <<p>> {name:name} and <<s.log>> the same value for {day:date}.",
    )
    needs = ("find_<<p.ids>>", "find_<<m.ids>>", "get_latest_<<e.id>>", "<<s.log>>_<<e.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.somebody(state, rng)
        return {**slots, "day": later(state["today"], -int(rng.integers(0, 2)))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        return [
            *self.look_up(slots),
            call(f"get_latest_{v.e.id}", **self.found_keys()),
            call(f"{v.s.log}_{v.e.id}", **self.found_keys(), value=found(2, "value"), day=slots["day"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = self.entries(slots, state)
        if not rows or rows[0]["day"] >= slots["day"]:
            raise LookupError("there is no earlier value to repeat")
        item = f"Has the latest {slots['measure']} of {slots['name']} been entered again for {slots['day']}?"
        return self.new(slots, state, rows[0]["value"], item)


class OneEntry(LogGoal):
    """A goal about one entry that the state points out."""

    def entry(self, slots: Slots, state: State) -> dict[str, Any]:
        """The entry meant."""
        rows = self.entries(slots, state)
        if not rows or len([e for e in rows if e["day"] == rows[0]["day"]]) > 1:
            raise LookupError("it is not clear which is the latest")
        return rows[0]

    def recent(self, row: dict[str, Any], state: State) -> dict[str, Any]:
        """The entry, when it may still be changed."""
        if length(row["day"], state["today"]) > self.v.s.correct_days:
            raise LookupError(f"the {self.v.e} is too old")
        return row


class Correct(OneEntry):
    """Correct the latest entry."""

    phrases = (
        "The latest {measure:name} of <<p>> {name:name} was mistyped, it should be {value:number}.",
        "Please correct the most recent {measure:name} of <<p>> {name:name} to {value:number}.",
        "I made a mistake in the last {measure:name} I entered for <<p>> {name:name}, it has to be {value:number}.",
    )
    needs = ("find_<<p.ids>>", "find_<<m.ids>>", "get_latest_<<e.id>>", "correct_<<e.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.somebody(state, rng)
        return {**slots, "value": near(self.measure(slots, state), rng)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        key = {f"{v.e.id}_id": found(2, f"{v.e.id}_id")}
        return [
            *self.look_up(slots),
            call(f"get_latest_{v.e.id}", **self.found_keys()),
            call(f"correct_{v.e.id}", **key, value=slots["value"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, measure = self.v, self.measure(slots, state)
        row = self.recent(self.entry(slots, state), state)
        self.fits(measure, slots["value"])
        if row["value"] == slots["value"]:
            raise LookupError("it has that value")
        fields = {"value": slots["value"], "attention": unusual(measure, slots["value"]), "remark": ""}
        item = f"Has the latest {slots['measure']} of {slots['name']} been corrected to {slots['value']}?"
        return [Changed(v.e.ids, row[f"{v.e.id}_id"], fields, item, self.marks(slots, state))]


class Review(LogGoal):
    """Write a remark on the entry that has needed attention longest."""

    phrases = (
        "Among the <<e.many>> of <<p>> {name:name} that still need attention, <<reviewwords>> the oldest one "
        'with the remark "{remark:text}".',
        "Please <<reviewwords>> the oldest <<e>> of <<p>> {name:name} that is outside the usual range and "
        'has no remark yet, and write "{remark:text}".',
    )
    needs = ("find_<<p.ids>>", "list_open_<<e.ids>>", "<<s.review>>_<<e.id>>")

    def waiting(self, slots: Slots, state: State) -> list[dict[str, Any]]:
        """The person's entries that need attention and have no remark, the oldest first."""
        rows = rows_of(self.v, state, self.person(slots, state)[f"{self.v.p.id}_id"])
        return [e for e in reversed(rows) if e["attention"] and not e["remark"]]

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [e for e in state[self.v.e.ids].values() if e["attention"] and not e["remark"]]
        if not rows:
            return None
        person = state[self.v.p.ids][pick(rng, rows)[f"{self.v.p.id}_id"]]
        return {"name": person["name"], "remark": pick(rng, self.v.s.remarks)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        key = {f"{v.e.id}_id": found(1, 0, f"{v.e.id}_id")}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_open_{v.e.ids}", **{f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id")}),
            call(f"{v.s.review}_{v.e.id}", **key, remark=slots["remark"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, rows = self.v, self.waiting(slots, state)
        row = only([e for e in rows if e["day"] == rows[0]["day"]])
        marks = (row[f"{v.p.id}_id"], f"{row[f'{v.p.id}_id']}/{row[f'{v.m.id}_id']}")
        item = f"Has the oldest {v.e} of {slots['name']} that needed attention got the remark?"
        return [Changed(v.e.ids, row[f"{v.e.id}_id"], {"remark": slots["remark"]}, item, marks)]


ReviewInOwnWords = in_own_words(
    Review,
    "remark",
    "Among the <<e.many>> of <<p>> {name:name} that still need attention, <<reviewwords>> the oldest one with a "
    "remark in your own words.",
    "Please <<reviewwords>> the oldest <<e>> of <<p>> {name:name} that is outside the usual range and has no remark "
    "yet, and write what you think fit.",
)


class SetTarget(LogGoal):
    """Set a target with a value that was asked for."""

    phrases = (
        "The <<p>> {name:name} wants to reach {value:number} for {measure:name} by {day:date}, please set that <<g>>.",
        "Please set <<g.a>> of {value:number} for {measure:name} for <<p>> {name:name}, to be reached by {day:date}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<p.ids>>", "find_<<m.ids>>", "set_<<g.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        slots = {
            "name": pick(rng, self.active(state))["name"],
            "measure": pick(rng, list(state[v.m.ids].values()))["name"],
            "day": later(state["today"], int(rng.integers(20, 150))),
        }
        measure = self.measure(slots, state)
        return {**slots, "value": measure["usual_max" if measure["aim"] == "low" else "usual_min"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        what = {"goal_value": slots["value"], "due_on": slots["day"]}
        return [*self.look_up(slots), call(f"set_{self.v.g.id}", **self.found_keys(), **what)]

    def new_target(self, slots: Slots, state: State, value: float, item: str) -> list[Outcome]:
        """There is one new target with this value."""
        v, keys = self.v, self.keys(slots, state)
        person = self.person(slots, state)
        rows = [
            g
            for g in state[v.g.ids].values()
            if g["status"] == "open" and g[f"{v.p.id}_id"] == person[f"{v.p.id}_id"]
        ]
        taken = any(g[f"{v.m.id}_id"] == keys[f"{v.m.id}_id"] for g in rows)
        if person["status"] != "active" or taken or len(rows) >= v.s.max_targets:
            raise LookupError(f"{slots['name']} cannot have this {v.g}")
        self.fits(self.measure(slots, state), value)
        if slots["day"] <= state["today"]:
            raise LookupError("that day is over")
        fields = {**keys, "goal_value": value, "due_on": slots["day"], "status": "open"}
        return [Added(v.g.ids, fields, item, self.marks(slots, state))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = (
            f"Has {self.v.g.a} of {slots['value']} for {slots['measure']} of {slots['name']} by {slots['day']} "
            "been set?"
        )
        return self.new_target(slots, state, slots["value"], item)


class SetTargetToAverage(SetTarget):
    """Set a target at the average of the last days."""

    phrases = (
        "Take the average {measure:name} of <<p>> {name:name} over the last {span:int} days and set it as "
        "<<g>> until {day:date}.",
        "The <<p>> {name:name} wants to stay at the average {measure:name} of the last {span:int} days, so set "
        "exactly that average as <<g>> until {day:date}.",
    )
    needs = ("find_<<p.ids>>", "find_<<m.ids>>", "get_<<e.id>>_average", "set_<<g.id>>")

    def average(self, slots: Slots, state: State) -> float:
        """The average of the last days."""
        since = later(state["today"], -slots["span"])
        values = [e["value"] for e in self.entries(slots, state) if e["day"] > since]
        if not values:
            raise LookupError("there is nothing to average")
        return round(sum(values) / len(values), 2)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = {**self.somebody(state, rng), "span": pick(rng, self.v.s.spans)}
        if not self.entries(slots, state):
            return None
        return {**slots, "day": later(state["today"], int(rng.integers(20, 150)))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        what = {"goal_value": found(2, "average"), "due_on": slots["day"]}
        return [
            *self.look_up(slots),
            call(f"get_{v.e.id}_average", **self.found_keys(), days=slots["span"]),
            call(f"set_{v.g.id}", **self.found_keys(), **what),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the average {slots['measure']} of {slots['name']} been set as {self.v.g}?"
        return self.new_target(slots, state, self.average(slots, state), item)


class OneTarget(LogGoal):
    """A goal about the open target of a person for a measure."""

    def open_targets(self, state: State) -> list[dict[str, Any]]:
        """All open targets."""
        return [g for g in state[self.v.g.ids].values() if g["status"] == "open"]

    def target(self, slots: Slots, state: State) -> dict[str, Any]:
        """The target a sentence is about."""
        keys = self.keys(slots, state)
        return only([g for g in self.open_targets(state) if all(g[k] == keys[k] for k in keys)])

    def names_of(self, row: dict[str, Any], state: State) -> Slots:
        """The slots that point a target out."""
        v = self.v
        return {
            "name": state[v.p.ids][row[f"{v.p.id}_id"]]["name"],
            "measure": state[v.m.ids][row[f"{v.m.id}_id"]]["name"],
        }

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.open_targets(state)
        return self.names_of(pick(rng, rows), state) if rows else None

    def listed(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        return [*self.look_up(slots), call(f"list_{self.v.g.ids}", **self.found_keys(), status="open")]

    def id(self) -> dict[str, Any]:
        """Argument with its id."""
        return {f"{self.v.g.id}_id": found(2, 0, f"{self.v.g.id}_id")}

    def change(self, slots: Slots, state: State, item: str, **fields: Any) -> list[Outcome]:
        """The target has these values."""
        key = self.target(slots, state)[f"{self.v.g.id}_id"]
        return [Changed(self.v.g.ids, key, fields, item, self.marks(slots, state))]


class Postpone(OneTarget):
    """Give a target more time."""

    phrases = (
        "Give <<p>> {name:name} until {day:date} to reach the open {measure:name} <<g>>.",
        "Please move the due date of the open <<g>> for {measure:name} of <<p>> {name:name} to {day:date}.",
    )
    needs = ("find_<<p.ids>>", "find_<<m.ids>>", "list_<<g.ids>>", "postpone_<<g.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        if slots is None:
            return None
        due = self.target(slots, state)["due_on"]
        return {**slots, "day": later(max(due, state["today"]), int(rng.integers(7, 60)))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.listed(slots), call(f"postpone_{self.v.g.id}", **self.id(), due_on=slots["day"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if slots["day"] <= max(self.target(slots, state)["due_on"], state["today"]):
            raise LookupError("that is no later day")
        item = f"Has the due date of the {slots['measure']} {self.v.g} of {slots['name']} been moved to {slots['day']}?"
        return self.change(slots, state, item, due_on=slots["day"])


class Drop(OneTarget):
    """Give a target up."""

    phrases = (
        "The <<p>> {name:name} gives up the open <<g>> for {measure:name}, please drop it.",
        "Please drop the open {measure:name} <<g>> of <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "find_<<m.ids>>", "list_<<g.ids>>", "drop_<<g.id>>")
    weight = 0.8

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.listed(slots), call(f"drop_{self.v.g.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Has the open {self.v.g} for {slots['measure']} of {slots['name']} been dropped?"
        return self.change(slots, state, item, status="dropped")


class Reached(OneTarget):
    """Close a target that the latest entry meets."""

    phrases = (
        "The latest <<e>> shows that <<p>> {name:name} has reached the open <<g>> for {measure:name}, so close it as "
        "reached.",
        "Please close the open {measure:name} <<g>> of <<p>> {name:name} as reached, the last <<e>> meets it.",
    )
    needs = ("find_<<p.ids>>", "find_<<m.ids>>", "list_<<g.ids>>", "close_<<g.id>>")

    def met(self, row: dict[str, Any], state: State) -> bool:
        """Whether the latest entry meets a target."""
        v = self.v
        rows = rows_of(v, state, row[f"{v.p.id}_id"], row[f"{v.m.id}_id"])
        low = state[v.m.ids][row[f"{v.m.id}_id"]]["aim"] == "low"
        return bool(rows) and (
            rows[0]["value"] <= row["goal_value"] if low else rows[0]["value"] >= row["goal_value"]
        )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [g for g in self.open_targets(state) if self.met(g, state)]
        return self.names_of(pick(rng, rows), state) if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [*self.listed(slots), call(f"close_{self.v.g.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if not self.met(self.target(slots, state), state):
            raise LookupError("it is not reached")
        item = f"Has the open {self.v.g} for {slots['measure']} of {slots['name']} been closed as reached?"
        return self.change(slots, state, item, status="reached")


class SetUsual(Goal):
    """A new usual range of a measure."""

    phrases = (
        "From now on the usual range of {measure:name} goes from {low:number} to {high:number}, please change it.",
        "Please set the usual range for {measure:name} to {low:number} up to {high:number}; older <<e.many>> "
        "stay as they are.",
    )
    needs = ("find_<<m.ids>>", "set_usual_range")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = pick(rng, list(state[self.v.m.ids].values()))
        step = (row["usual_max"] - row["usual_min"]) * float(rng.choice([0.05, 0.1, 0.2]))
        digits = 0 if row["usual_max"] - row["usual_min"] >= 20 else 1
        low, high = round(row["usual_min"] + step, digits), round(row["usual_max"] - step, digits)
        return {"measure": row["name"], "low": low, "high": high}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        key = {f"{v.m.id}_id": found(0, 0, f"{v.m.id}_id")}
        ends = {"usual_min": slots["low"], "usual_max": slots["high"]}
        return [call(f"find_{v.m.ids}", name=slots["measure"]), call("set_usual_range", **key, **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, row = self.v, named(state, self.v.m, slots["measure"])
        ends = {"usual_min": slots["low"], "usual_max": slots["high"]}
        inside = row["plausible_min"] <= slots["low"] < slots["high"] <= row["plausible_max"]
        if not inside or all(row[k] == ends[k] for k in ends):
            raise LookupError("that is no new range")
        item = f"Has the usual range of {slots['measure']} been set to {slots['low']} up to {slots['high']}?"
        return [Changed(v.m.ids, row[f"{v.m.id}_id"], ends, item)]


class RecordLog(Pattern):
    """Entries by kind, and targets."""

    Settings = RecordSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        LogValue, LogAgain, Correct, Review, ReviewInOwnWords, SetTarget, SetTargetToAverage, Postpone, Drop,
        Reached, SetUsual,
    )  # fmt: skip

    def vocabulary(self, s: RecordSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        m, e, g = Noun(s.measure, s.measure_many), Noun(s.entry, s.entry_many), Noun(s.target)
        shared.update({s.measure: m, s.entry: e, s.target: g})
        return {
            "m": m,
            "e": e,
            "g": g,
            "p": shared[s.person],
            "groups": list(s.measures),
            "reviewwords": s.review.replace("_", " "),
            "groupword": s.group.replace("_", " "),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, m, e, g, p = v.s, v.m, v.e, v.g, v.p
        return [
            Table(
                m,
                f"{m.a[:1].upper()}{m.a[1:]} that can be logged.",
                [
                    attribute(f"{m.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                    attribute("name", "str", "name, unique"),
                    attribute(s.group, "str", f"{v.groupword}: {', '.join(v.groups)}"),
                    attribute("unit", "str", "unit of its values"),
                    attribute("plausible_min", "float", "least value that can be entered"),
                    attribute("plausible_max", "float", "greatest value that can be entered"),
                    attribute("usual_min", "float", "least value that needs no attention"),
                    attribute("usual_max", "float", "greatest value that needs no attention"),
                    attribute("aim", "str", "which values are better: low or high"),
                ],
            ),
            Table(
                e,
                f"{e.a[:1].upper()}{e.a[1:]}: a value of one {m} for one {p} on one day.",
                [
                    attribute(f"{e.id}_id", "str", f"unique id, e.g. {s.entry_prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p}"),
                    attribute(f"{m.id}_id", "str", f"the {m}"),
                    attribute("value", "float", f"value in the unit of the {m}"),
                    attribute("day", "str", "date, as YYYY-MM-DD"),
                    attribute(
                        "attention", "bool", "whether its value was outside the usual range when entered"
                    ),
                    attribute("remark", "str", "what was written at the review, empty before"),
                    *own(s.extras),
                ],
            ),
            Table(
                g,
                f"{g.a[:1].upper()}{g.a[1:]} that {p.a} wants to reach.",
                [
                    attribute(f"{g.id}_id", "str", f"unique id, e.g. {s.target_prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p}"),
                    attribute(f"{m.id}_id", "str", f"the {m}"),
                    attribute("goal_value", "float", "value to reach"),
                    attribute("due_on", "str", "day by which, as YYYY-MM-DD"),
                    attribute("status", "str", "open, reached or dropped"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "The value of <<e.a>> lies within the plausible range of its <<m>>.",
            """
            kinds = rows(after, "<<m.ids>>")
            for row in rows(after, "<<e.ids>>").values():
                kind = kinds.get(str(row.get("<<m.id>>_id")), {})
                ends = (kind.get("plausible_min"), row.get("value"), kind.get("plausible_max"))
                if all(isinstance(end, (int, float)) for end in ends) and not ends[0] <= ends[1] <= ends[2]:
                    return False
            return True
            """,
        ),
        RuleText(
            "No <<e>> is made for a day to come or for <<p.a>> who is not active.",
            """
            people, today = rows(before, "<<p.ids>>"), before.get("today")
            return all(
                isinstance(row.get("day"), str)
                and isinstance(today, str)
                and row["day"] <= today
                and people.get(str(row.get("<<p.id>>_id")), {}).get("status") == "active"
                for row in added("<<e.ids>>")
            )
            """,
        ),
        RuleText(
            "<<e.a[:1]|upper>><<e.a[1:]>> needs attention exactly when its value was outside the usual range "
            "at the time it was entered or corrected.",
            """
            kinds = rows(after, "<<m.ids>>")
            for row in added("<<e.ids>>") + [new for _, new in changed("<<e.ids>>", "value")]:
                kind, value = kinds.get(str(row.get("<<m.id>>_id")), {}), row.get("value")
                ends = (kind.get("usual_min"), value, kind.get("usual_max"))
                if all(isinstance(end, (int, float)) for end in ends):
                    if row.get("attention") is (ends[0] <= ends[1] <= ends[2]):
                        return False
            return True
            """,
        ),
        RuleText(
            "<<e.cap>> values are only corrected<<' or removed' if 'remove_' ~ e.id not in s.without else ''>> within "
            "<<s.correct_days>> days.",
            """
            from datetime import date

            old, new = rows(before, "<<e.ids>>"), rows(after, "<<e.ids>>")
            gone = [old[key] for key in old if key not in new]
            for row in gone + [one for one, _ in changed("<<e.ids>>", "value")]:
                try:
                    age = (date.fromisoformat(before["today"]) - date.fromisoformat(row["day"])).days
                except (KeyError, TypeError, ValueError):
                    continue
                if age > <<s.correct_days>>:
                    return False
            return True
            """,
        ),
        RuleText(
            "<<p.a[:1]|upper>><<p.a[1:]>> has at most one open <<g>> for each <<m>> and <<s.max_targets>> in all.",
            """
            pairs, counts = [], {}
            for row in rows(after, "<<g.ids>>").values():
                if row.get("status") == "open":
                    person = str(row.get("<<p.id>>_id"))
                    pairs.append((person, str(row.get("<<m.id>>_id"))))
                    counts[person] = counts.get(person, 0) + 1
            return len(pairs) == len(set(pairs)) and all(count <= <<s.max_targets>> for count in counts.values())
            """,
        ),
        RuleText(
            "<<g.a[:1]|upper>><<g.a[1:]>> that was reached or dropped stays so, and it is only reached when "
            "the latest <<e>> meets it.",
            """
            kinds = rows(before, "<<m.ids>>")
            for old, new in changed("<<g.ids>>", "status"):
                if old.get("status") != "open" or new.get("status") not in ("reached", "dropped"):
                    return False
                if new["status"] == "dropped":
                    continue
                values = [
                    (str(row.get("day")), str(row.get("<<e.id>>_id")), row.get("value"))
                    for row in rows(before, "<<e.ids>>").values()
                    if row.get("<<p.id>>_id") == old.get("<<p.id>>_id")
                    and row.get("<<m.id>>_id") == old.get("<<m.id>>_id")
                    and isinstance(row.get("value"), (int, float))
                ]
                low = kinds.get(str(old.get("<<m.id>>_id")), {}).get("aim") == "low"
                if not values or not isinstance(old.get("goal_value"), (int, float)):
                    return False
                latest = max(values)[2]
                if not (latest <= old["goal_value"] if low else latest >= old["goal_value"]):
                    return False
            return True
            """,
        ),
        RuleText(
            "Remarks are only written on <<e.many>> that need attention.",
            """
            return not any(
                row.get("remark") and row.get("attention") is not True for row in rows(after, "<<e.ids>>").values()
            )
            """,
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

    def _<<e.ids>>_of(self, <<p.id>>_id: str | None = None, <<m.id>>_id: str | None = None) -> list[<<e.type>>]:
        """Return the <<e.many>> of <<p.a>> and <<m.a>>, the newest first."""
        selected = [
            <<e.id>>
            for <<e.id>> in self.<<e.ids>>.values()
            if <<p.id>>_id in (None, <<e.id>>["<<p.id>>_id"]) and <<m.id>>_id in (None, <<e.id>>["<<m.id>>_id"])
        ]
        return sorted(selected, key=lambda <<e.id>>: (<<e.id>>["day"], <<e.id>>["<<e.id>>_id"]), reverse=True)

    def _age(self, day: str) -> int:
        """Return how many days have passed since a date."""
        return (date.fromisoformat(self.today) - date.fromisoformat(day)).days
'''

    READS = '''
def find_<<m.ids>>(self, name: str) -> dict:
    """Find <<m.many>> by name; one that is called exactly so comes first.

    Args:
        name: Name or a part of it; upper and lower case are the same.

    Returns:
        The matching <<m.many>> with unit and ranges; an empty list when there are none.
    """
    wanted = name.strip().lower()
    if not wanted:
        return {"success": False, "error": "The name to look for is empty."}
    matches = [dict(<<m.id>>) for <<m.id>> in self.<<m.ids>>.values() if wanted in <<m.id>>["name"].lower()]
    matches.sort(key=lambda <<m.id>>: (<<m.id>>["name"].lower() != wanted, <<m.id>>["name"]))
    return {"success": True, "data": matches}

def list_<<m.ids>>(self, <<s.group>>: str | None = None) -> dict:
    """List the <<m.many>> that can be logged.

    Args:
        <<s.group>>: Only this <<groupword>>: <<groups|join(", ")>>. Leave out for all.

    Returns:
        The <<m.many>> with unit and ranges, sorted by name.
    """
    if <<s.group>> is not None and <<s.group>> not in (<<quoted(groups)>>):
        return {"success": False, "error": f"There is no <<groupword>> {<<s.group>>!r}."}
    selected = [
        dict(<<m.id>>) for <<m.id>> in self.<<m.ids>>.values() if <<s.group>> in (None, <<m.id>>["<<s.group>>"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda <<m.id>>: <<m.id>>["name"])}

def list_<<e.ids>>(
    self, <<p.id>>_id: str | None = None, <<m.id>>_id: str | None = None, since: str | None = None
) -> dict:
    """List <<e.many>>, the newest first.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<m.id>>_id: Only those of this <<m>>. Leave out for all.
        since: First day, as YYYY-MM-DD. Leave out for all.

    Returns:
        The matching <<e.many>>; an empty list when there are none.
    """
    if since is not None and not self._is_day(since):
        return {"success": False, "error": f"{since!r} is not a date like {self.today}."}
    selected = self._<<e.ids>>_of(<<p.id>>_id, <<m.id>>_id)
    shown = [dict(<<e.id>>) for <<e.id>> in selected if since is None or <<e.id>>["day"] >= since]
    return {"success": True, "data": shown}

def get_latest_<<e.id>>(self, <<p.id>>_id: str, <<m.id>>_id: str) -> dict:
    """Show the latest <<e>> of <<p.a>> for one <<m>>.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        <<m.id>>_id: Id of the <<m>>, e.g. <<s.prefix>>-001.

    Returns:
        The <<e>> of the latest day, or an error when there is none.
    """
    selected = self._<<e.ids>>_of(<<p.id>>_id, <<m.id>>_id)
    if not selected:
        return {"success": False, "error": f"{<<p.id>>_id} has no <<e>> of {<<m.id>>_id}."}
    return {"success": True, "data": dict(selected[0])}

def get_<<e.id>>_average(self, <<p.id>>_id: str, <<m.id>>_id: str, days: int) -> dict:
    """Work out the average of the last days.

    Args:
        <<p.id>>_id: Id of the <<p>>.
        <<m.id>>_id: Id of the <<m>>.
        days: How many days up to and including today, at least 1.

    Returns:
        The average to two decimals with the number of <<e.many>>, the least and the greatest value, or an error.
    """
    if days < 1:
        return {"success": False, "error": f"At least 1 day has to be looked at, not {days}."}
    values = [
        <<e.id>>["value"]
        for <<e.id>> in self._<<e.ids>>_of(<<p.id>>_id, <<m.id>>_id)
        if 0 <= self._age(<<e.id>>["day"]) < days
    ]
    if not values:
        return {"success": False, "error": f"{<<p.id>>_id} has no <<e>> of {<<m.id>>_id} in the last {days} days."}
    summary = {
        "average": round(sum(values) / len(values), 2),
        "count": len(values),
        "least": min(values),
        "greatest": max(values),
    }
    return {"success": True, "data": summary}

def list_open_<<e.ids>>(self, <<p.id>>_id: str | None = None) -> dict:
    """List the <<e.many>> that need attention and have no remark yet, the oldest first.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.

    Returns:
        The <<e.many>> that were outside the usual range when entered and that nobody has looked at.
    """
    waiting = [
        dict(<<e.id>>)
        for <<e.id>> in reversed(self._<<e.ids>>_of(<<p.id>>_id))
        if <<e.id>>["attention"] and not <<e.id>>["remark"]
    ]
    return {"success": True, "data": waiting}

def list_<<g.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<m.id>>_id: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<g.many>>, those due first in front.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<m.id>>_id: Only those for this <<m>>. Leave out for all.
        status: Only those that are open, reached or dropped. Leave out for all.

    Returns:
        The matching <<g.many>>; an empty list when there are none.
    """
    if status not in (None, "open", "reached", "dropped"):
        return {"success": False, "error": f"There is no status {status!r}."}
    selected = [
        dict(<<g.id>>)
        for <<g.id>> in self.<<g.ids>>.values()
        if <<p.id>>_id in (None, <<g.id>>["<<p.id>>_id"])
        and <<m.id>>_id in (None, <<g.id>>["<<m.id>>_id"])
        and status in (None, <<g.id>>["status"])
    ]
    selected.sort(key=lambda <<g.id>>: (<<g.id>>["due_on"], <<g.id>>["<<g.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<g.id>>_progress(self, <<g.id>>_id: str) -> dict:
    """Show how far <<g.a>> is from being reached.

    Args:
        <<g.id>>_id: Id of the <<g>>, e.g. <<s.target_prefix>>-001.

    Returns:
        The <<g>> with the latest value, what is missing (0 when it is met) and the days left, or an error.
    """
    <<g.id>> = self.<<g.ids>>.get(<<g.id>>_id)
    if <<g.id>> is None:
        return {"success": False, "error": f"There is no <<g>> with the id {<<g.id>>_id!r}."}
    latest = self._<<e.ids>>_of(<<g.id>>["<<p.id>>_id"], <<g.id>>["<<m.id>>_id"])
    if not latest:
        return {"success": False, "error": f"There is no <<e>> yet to measure {<<g.id>>_id} by."}
    value = latest[0]["value"]
    gap = value - <<g.id>>["goal_value"]
    if self.<<m.ids>>[<<g.id>>["<<m.id>>_id"]]["aim"] == "high":
        gap = -gap
    progress = {
        **<<g.id>>,
        "latest_value": value,
        "missing": round(max(gap, 0.0), 2),
        "days_left": -self._age(<<g.id>>["due_on"]),
    }
    return {"success": True, "data": progress}
'''

    WRITES = '''
def <<s.log>>_<<e.id>>(self, <<p.id>>_id: str, <<m.id>>_id: str, value: float, day: str) -> dict:
    """<<s.log|capitalize>> a value of <<m.a>> for <<p.a>>.

    Args:
        <<p.id>>_id: Id of the <<p>>, who has to be active.
        <<m.id>>_id: Id of the <<m>>, whose plausible range and unit apply.
        value: The value, in the unit of the <<m>>.
        day: Date it belongs to, as YYYY-MM-DD; not after today.

    Returns:
        The new <<e>>, which says whether it needs attention, or an error.
    """
    <<p.id>> = self.<<p.ids>>.get(<<p.id>>_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    <<m.id>> = self.<<m.ids>>.get(<<m.id>>_id)
    if <<m.id>> is None:
        return {"success": False, "error": f"There is no <<m>> with the id {<<m.id>>_id!r}."}
    if not <<m.id>>["plausible_min"] <= value <= <<m.id>>["plausible_max"]:
        return {"success": False, "error": f"{value} {<<m.id>>['unit']} is not plausible for {<<m.id>>['name']}."}
    if not self._is_day(day):
        return {"success": False, "error": f"{day!r} is not a date like {self.today}."}
    if day > self.today:
        return {"success": False, "error": f"{day} lies in the future; today is {self.today}."}
    <<e.id>>: <<e.type>> = {
        "<<e.id>>_id": self._next_id(self.<<e.ids>>, "<<s.entry_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<m.id>>_id": <<m.id>>_id,
        "value": value,
        "day": day,
        "attention": not <<m.id>>["usual_min"] <= value <= <<m.id>>["usual_max"],
        "remark": "",
    }
    self.<<e.ids>>[<<e.id>>["<<e.id>>_id"]] = <<e.id>>
    return {
        "success": True,
        "message": f"{<<m.id>>['name']} of {<<p.id>>['name']} entered for {day}.",
        "data": dict(<<e.id>>),
    }

def correct_<<e.id>>(self, <<e.id>>_id: str, value: float) -> dict:
    """Correct the value of a recent <<e>>; a remark on the old value is taken off.

    Args:
        <<e.id>>_id: Id of the <<e>>, not older than <<s.correct_days>> days.
        value: The right value, in the unit of the <<m>>.

    Returns:
        The corrected <<e>>, or an error.
    """
    <<e.id>> = self.<<e.ids>>.get(<<e.id>>_id)
    if <<e.id>> is None:
        return {"success": False, "error": f"There is no <<e>> with the id {<<e.id>>_id!r}."}
    if self._age(<<e.id>>["day"]) > <<s.correct_days>>:
        return {"success": False, "error": f"<<e.cap>> {<<e.id>>_id} is older than <<s.correct_days>> days."}
    <<m.id>> = self.<<m.ids>>[<<e.id>>["<<m.id>>_id"]]
    if not <<m.id>>["plausible_min"] <= value <= <<m.id>>["plausible_max"]:
        return {"success": False, "error": f"{value} {<<m.id>>['unit']} is not plausible for {<<m.id>>['name']}."}
    if value == <<e.id>>["value"]:
        return {"success": False, "error": f"<<e.cap>> {<<e.id>>_id} has this value already."}
    <<e.id>>["value"] = value
    <<e.id>>["attention"] = not <<m.id>>["usual_min"] <= value <= <<m.id>>["usual_max"]
    <<e.id>>["remark"] = ""
    return {"success": True, "message": f"<<e.cap>> {<<e.id>>_id} corrected.", "data": dict(<<e.id>>)}

def remove_<<e.id>>(self, <<e.id>>_id: str) -> dict:
    """Remove a recent <<e>> that was made by mistake.

    Args:
        <<e.id>>_id: Id of the <<e>>, not older than <<s.correct_days>> days.

    Returns:
        The removed <<e>> as it was, or an error.
    """
    <<e.id>> = self.<<e.ids>>.get(<<e.id>>_id)
    if <<e.id>> is None:
        return {"success": False, "error": f"There is no <<e>> with the id {<<e.id>>_id!r}."}
    if self._age(<<e.id>>["day"]) > <<s.correct_days>>:
        return {"success": False, "error": f"<<e.cap>> {<<e.id>>_id} is older than <<s.correct_days>> days."}
    del self.<<e.ids>>[<<e.id>>_id]
    return {"success": True, "message": f"<<e.cap>> {<<e.id>>_id} removed.", "data": <<e.id>>}

def <<s.review>>_<<e.id>>(self, <<e.id>>_id: str, remark: str) -> dict:
    """Write a remark on <<e.a>> that needs attention, which is then dealt with.

    Args:
        <<e.id>>_id: Id of the <<e>>, which needs attention and has no remark yet.
        remark: What is to be said about it.

    Returns:
        The <<e>> with the remark, or an error.
    """
    <<e.id>> = self.<<e.ids>>.get(<<e.id>>_id)
    if <<e.id>> is None:
        return {"success": False, "error": f"There is no <<e>> with the id {<<e.id>>_id!r}."}
    if not <<e.id>>["attention"]:
        return {"success": False, "error": f"<<e.cap>> {<<e.id>>_id} does not need attention."}
    if <<e.id>>["remark"]:
        return {"success": False, "error": f"<<e.cap>> {<<e.id>>_id} has a remark already."}
    if not remark.strip():
        return {"success": False, "error": "The remark is empty."}
    <<e.id>>["remark"] = remark.strip()
    return {"success": True, "message": f"Remark on <<e>> {<<e.id>>_id} saved.", "data": dict(<<e.id>>)}

def set_<<g.id>>(self, <<p.id>>_id: str, <<m.id>>_id: str, goal_value: float, due_on: str) -> dict:
    """Set <<g.a>> for <<p.a>>.

    Args:
        <<p.id>>_id: Id of the <<p>>, who has to be active and have fewer than <<s.max_targets>> open <<g.many>>.
        <<m.id>>_id: Id of the <<m>>, for which the <<p>> has no open <<g>> yet.
        goal_value: Value to reach, in the unit of the <<m>> and within its plausible range.
        due_on: Day by which, as YYYY-MM-DD; after today.

    Returns:
        The new <<g>>, or an error.
    """
    <<p.id>> = self.<<p.ids>>.get(<<p.id>>_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    <<m.id>> = self.<<m.ids>>.get(<<m.id>>_id)
    if <<m.id>> is None:
        return {"success": False, "error": f"There is no <<m>> with the id {<<m.id>>_id!r}."}
    if not <<m.id>>["plausible_min"] <= goal_value <= <<m.id>>["plausible_max"]:
        return {"success": False, "error": f"{goal_value} {<<m.id>>['unit']} is not plausible for {<<m.id>>['name']}."}
    if not self._is_day(due_on):
        return {"success": False, "error": f"{due_on!r} is not a date like {self.today}."}
    if due_on <= self.today:
        return {"success": False, "error": f"{due_on} does not lie after today, {self.today}."}
    open_<<g.ids>> = [
        <<g.id>>
        for <<g.id>> in self.<<g.ids>>.values()
        if <<g.id>>["<<p.id>>_id"] == <<p.id>>_id and <<g.id>>["status"] == "open"
    ]
    if any(<<g.id>>["<<m.id>>_id"] == <<m.id>>_id for <<g.id>> in open_<<g.ids>>):
        return {"success": False, "error": f"{<<p.id>>['name']} has an open <<g>> for {<<m.id>>['name']} already."}
    if len(open_<<g.ids>>) >= <<s.max_targets>>:
        return {"success": False, "error": f"{<<p.id>>['name']} has <<s.max_targets>> open <<g.many>> already."}
    new: <<g.type>> = {
        "<<g.id>>_id": self._next_id(self.<<g.ids>>, "<<s.target_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<m.id>>_id": <<m.id>>_id,
        "goal_value": goal_value,
        "due_on": due_on,
        "status": "open",
    }
    self.<<g.ids>>[new["<<g.id>>_id"]] = new
    return {
        "success": True,
        "message": f"<<g.cap>> {new['<<g.id>>_id']} set for {<<p.id>>['name']}.",
        "data": dict(new),
    }

def postpone_<<g.id>>(self, <<g.id>>_id: str, due_on: str) -> dict:
    """Give more time for <<g.a>>.

    Args:
        <<g.id>>_id: Id of the <<g>>; it must be open.
        due_on: New day, as YYYY-MM-DD; after today and later than the present one.

    Returns:
        The changed <<g>>, or an error.
    """
    <<g.id>> = self.<<g.ids>>.get(<<g.id>>_id)
    if <<g.id>> is None:
        return {"success": False, "error": f"There is no <<g>> with the id {<<g.id>>_id!r}."}
    if <<g.id>>["status"] != "open":
        return {"success": False, "error": f"<<g.cap>> {<<g.id>>_id} is {<<g.id>>['status']}, not open."}
    if not self._is_day(due_on):
        return {"success": False, "error": f"{due_on!r} is not a date like {self.today}."}
    if due_on <= max(<<g.id>>["due_on"], self.today):
        return {"success": False, "error": f"{due_on} is not later than {max(<<g.id>>['due_on'], self.today)}."}
    <<g.id>>["due_on"] = due_on
    return {"success": True, "message": f"<<g.cap>> {<<g.id>>_id} is due on {due_on}.", "data": dict(<<g.id>>)}

def close_<<g.id>>(self, <<g.id>>_id: str) -> dict:
    """Close <<g.a>> as reached; the latest <<e>> has to meet it.

    Args:
        <<g.id>>_id: Id of the <<g>>; it must be open.

    Returns:
        The reached <<g>>, or an error.
    """
    <<g.id>> = self.<<g.ids>>.get(<<g.id>>_id)
    if <<g.id>> is None:
        return {"success": False, "error": f"There is no <<g>> with the id {<<g.id>>_id!r}."}
    if <<g.id>>["status"] != "open":
        return {"success": False, "error": f"<<g.cap>> {<<g.id>>_id} is {<<g.id>>['status']}, not open."}
    latest = self._<<e.ids>>_of(<<g.id>>["<<p.id>>_id"], <<g.id>>["<<m.id>>_id"])
    if not latest:
        return {"success": False, "error": f"There is no <<e>> yet to measure {<<g.id>>_id} by."}
    value = latest[0]["value"]
    low = self.<<m.ids>>[<<g.id>>["<<m.id>>_id"]]["aim"] == "low"
    if (low and value > <<g.id>>["goal_value"]) or (not low and value < <<g.id>>["goal_value"]):
        return {"success": False, "error": f"The latest value {value} does not meet {<<g.id>>['goal_value']}."}
    <<g.id>>["status"] = "reached"
    return {"success": True, "message": f"<<g.cap>> {<<g.id>>_id} is reached.", "data": dict(<<g.id>>)}

def drop_<<g.id>>(self, <<g.id>>_id: str) -> dict:
    """Give <<g.a>> up.

    Args:
        <<g.id>>_id: Id of the <<g>>; it must be open.

    Returns:
        The dropped <<g>>, or an error.
    """
    <<g.id>> = self.<<g.ids>>.get(<<g.id>>_id)
    if <<g.id>> is None:
        return {"success": False, "error": f"There is no <<g>> with the id {<<g.id>>_id!r}."}
    if <<g.id>>["status"] != "open":
        return {"success": False, "error": f"<<g.cap>> {<<g.id>>_id} is {<<g.id>>['status']}, not open."}
    <<g.id>>["status"] = "dropped"
    return {"success": True, "message": f"<<g.cap>> {<<g.id>>_id} dropped.", "data": dict(<<g.id>>)}

def set_usual_range(self, <<m.id>>_id: str, usual_min: float, usual_max: float) -> dict:
    """Change the usual range of <<m.a>>; <<e.many>> already made stay as they are.

    Args:
        <<m.id>>_id: Id of the <<m>>.
        usual_min: Least usual value, below the greatest and within the plausible range.
        usual_max: Greatest usual value, within the plausible range.

    Returns:
        The changed <<m>>, or an error.
    """
    <<m.id>> = self.<<m.ids>>.get(<<m.id>>_id)
    if <<m.id>> is None:
        return {"success": False, "error": f"There is no <<m>> with the id {<<m.id>>_id!r}."}
    if usual_min >= usual_max:
        return {"success": False, "error": f"{usual_min} is not below {usual_max}."}
    low, high = <<m.id>>["plausible_min"], <<m.id>>["plausible_max"]
    if usual_min < low or usual_max > high:
        return {"success": False, "error": f"Plausible are {low} to {high} {<<m.id>>['unit']}."}
    if (usual_min, usual_max) == (<<m.id>>["usual_min"], <<m.id>>["usual_max"]):
        return {"success": False, "error": f"{<<m.id>>['name']} has this usual range already."}
    <<m.id>>["usual_min"] = usual_min
    <<m.id>>["usual_max"] = usual_max
    return {"success": True, "message": f"Usual range of {<<m.id>>['name']} changed.", "data": dict(<<m.id>>)}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        self._measures(v, state)
        for person, row in state[v.p.ids].items():
            kinds = shuffled(rng, list(state[v.m.ids]))[:2]
            for kind in kinds:
                self._entries(v, state, rng, person, kind)
            if row["status"] == "active":
                for kind in kinds[: int(rng.integers(1, min(2, v.s.max_targets) + 1))]:
                    self._target(v, state, rng, person, kind)

    def _measures(self, v: SimpleNamespace, state: State) -> None:
        s = v.s
        every = [(group, name, kind) for group, of in s.measures.items() for name, kind in of.items()]
        for n, (group, name, kind) in enumerate(every):
            key = key_of(s.prefix, n + 1)
            state[v.m.ids][key] = {
                f"{v.m.id}_id": key,
                "name": name,
                s.group: group,
                "unit": kind.unit,
                "plausible_min": kind.plausible[0],
                "plausible_max": kind.plausible[1],
                "usual_min": kind.usual[0],
                "usual_max": kind.usual[1],
                "aim": kind.aim,
            }

    def _entries(self, v: SimpleNamespace, state: State, rng: Rng, person: str, kind: str) -> None:
        s, measure = v.s, state[v.m.ids][kind]
        ages = sorted((int(n) for n in rng.choice(20, size=2, replace=False)), reverse=True)
        for age in ages:
            value = near(measure, rng)
            attention = unusual(measure, value)
            key = key_of(s.entry_prefix, len(state[v.e.ids]) + 1)
            state[v.e.ids][key] = {
                f"{v.e.id}_id": key,
                f"{v.p.id}_id": person,
                f"{v.m.id}_id": kind,
                "value": value,
                "day": later(state["today"], -age),
                "attention": attention,
                "remark": pick(rng, s.remarks) if attention and rng.random() < 0.4 else "",
            }

    def _target(self, v: SimpleNamespace, state: State, rng: Rng, person: str, kind: str) -> None:
        measure = state[v.m.ids][kind]
        key = key_of(v.s.target_prefix, len(state[v.g.ids]) + 1)
        middle = (measure["usual_min"] + measure["usual_max"]) / 2
        state[v.g.ids][key] = {
            f"{v.g.id}_id": key,
            f"{v.p.id}_id": person,
            f"{v.m.id}_id": kind,
            "goal_value": float(round(middle)) if middle >= 20 else round(middle, 1),
            "due_on": later(state["today"], int(rng.integers(5, 60))),
            "status": pick(rng, ["open", "open", "open", "open", "reached", "dropped"]),
        }


PATTERN = RecordLog
