"""Assets: things or animals that stand somewhere, are read, switched, serviced at intervals, and have faults."""

from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin.pattern import (
    ANY_TEXT,
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
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

SEVERITIES = ("minor", "major", "critical")


class AssetKind(Part):
    """What holds for a kind of asset."""

    interval: int
    """Days from one service to the next."""
    meter: tuple[int, int]
    """Least and greatest reading of the data."""
    dial: tuple[int, int] | None = None
    """Least and greatest setting, where such assets have one."""
    labels: list[str]
    """What such assets are called by, all different; at least five."""
    faults: list[str]
    """What may be wrong with them."""


class Kinds(Part):
    """The attribute that sorts the assets."""

    name: str
    """`vehicle_type`"""
    about: str
    """What it means."""
    choices: dict[str, AssetKind]
    """Kind → what holds for it."""


class Label(Part):
    """What people call an asset by."""

    name: str
    """`plate`"""
    about: str
    """What it means."""
    quoted: bool = False
    """Whether sentences put it between quotes."""


class Meter(Part):
    """The number that is read off an asset."""

    name: str
    """`odometer`"""
    about: str
    """What it means."""
    unit: str
    """`km`"""
    rising: bool = True
    """Whether it never goes down."""
    most: int = 1_000_000
    """Greatest reading that is taken."""
    step: tuple[int, int] = (10, 900)
    """By how much a new reading differs."""
    lowest_first: bool = False
    """Whether the ranking begins with the lowest."""


class Dial(Part):
    """A number that is set."""

    name: str
    """`level`"""
    about: str
    """What it means."""


class AssetSettings(Settings):
    """An inventory's words and numbers."""

    asset: str
    """`vehicle`"""
    asset_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of the assets' ids."""
    label: Label
    """What they are called by."""
    kind: Kinds
    """What sorts them."""
    meter: Meter
    """What is read off them."""
    dial: Dial | None = None
    """What is set on them, where that is so."""
    place: str
    """Where they stand: `depot`."""
    place_prefix: str
    """Prefix of the places' ids."""
    places: list[str]
    """Names of the places, at least four."""
    said_place: str | None = None
    """How people speak of a place; with the slot `{place:name}`. None for its noun and name."""
    person: str | None = None
    """Who has them, where somebody has: a registry's noun."""
    max_held: int = 2
    """Most assets a person has."""
    hand_verb: str = "hand_over"
    """Verb for giving somebody one."""
    reading: str = "reading"
    """`reading`"""
    service: str
    """`inspection`"""
    service_prefix: str
    """Prefix of the services' ids."""
    costs: tuple[int, int] = (30, 260)
    """Least and greatest cost of a service."""
    currency: str = "EUR"
    """Unit of money."""
    fault: str
    """`defect`"""
    fault_prefix: str
    """Prefix of the faults' ids."""
    fix_verb: str = "fix"
    """Verb for ending a fault."""
    fixed: str = "fixed"
    """The status that results."""
    notes: list[str]
    """How faults end."""
    on: str
    """Status of an asset in use."""
    off: str
    """Status of one that is not."""
    on_verb: str
    """Verb for taking into use."""
    off_verb: str
    """Verb for taking out of use."""
    retire: str = "retire"
    """Verb for giving one up."""
    retired: str = "retired"
    """The status that results."""
    said_on: tuple[str, str]
    """How people ask for taking one into use; with the slot `{label:name}`."""
    said_off: tuple[str, str]
    """How they ask for taking it out of use; with the same slot."""
    said_reading: tuple[str, str]
    """How they tell a reading; with the slots `{label:name}` and `{value:int}`."""
    said_extreme: tuple[str, str]
    """How they ask for a service of the first of the ranking; with the slots `{kind:name}` and `{day:date}`."""
    said_retire: tuple[str, str]
    """How they ask for giving one up; with the slot `{label:name}`."""


class AssetGoal(Goal):
    """A goal about one asset that is called by its label."""

    def asset(self, slots: Slots, state: State) -> dict[str, Any]:
        """The asset a sentence is about."""
        v = self.v
        return only([a for a in state[v.a.ids].values() if a[v.label] == slots["label"]])

    def some(self, state: State, rng: Rng, *statuses: str) -> list[dict[str, Any]]:
        """Assets of these statuses in a random order; all that are kept when none is given."""
        wanted = statuses or (self.v.s.on, self.v.s.off)
        return shuffled(rng, [a for a in state[self.v.a.ids].values() if a["status"] in wanted])

    def look_up(self, slots: Slots) -> dict[str, Any]:
        """The call that finds it."""
        return call(f"find_{self.v.a.ids}", **{self.v.label: slots["label"]})

    def id(self, index: int = 0) -> dict[str, Any]:
        """Argument with the asset's id."""
        return {f"{self.v.a.id}_id": found(index, 0, f"{self.v.a.id}_id")}

    def key(self, asset: dict[str, Any]) -> str:
        """The asset's id."""
        return str(asset[f"{self.v.a.id}_id"])

    def change(self, asset: dict[str, Any], item: str, *also: str, **fields: Any) -> list[Outcome]:
        """The asset has these values."""
        return [Changed(self.v.a.ids, self.key(asset), fields, item, also)]

    def planned(self, asset: dict[str, Any], state: State) -> list[dict[str, Any]]:
        """Its planned services."""
        key = f"{self.v.a.id}_id"
        rows = state[self.v.t.ids].values()
        return [t for t in rows if t[key] == asset[key] and t["status"] == "planned"]

    def open_faults(self, asset: dict[str, Any], state: State) -> list[dict[str, Any]]:
        """Its open faults."""
        key = f"{self.v.a.id}_id"
        rows = state[self.v.f.ids].values()
        return [f for f in rows if f[key] == asset[key] and f["status"] == "open"]


class Record(AssetGoal):
    """A new reading."""

    phrases = ("<<s.said_reading[0]>>", "<<s.said_reading[1]>>")
    needs = ("find_<<a.ids>>", "record_<<e.id>>")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        m, asset = self.v.s.meter, self.some(state, rng)[0]
        step = int(rng.integers(m.step[0], m.step[1] + 1)) * (1 if m.rising or rng.random() < 0.5 else -1)
        value = asset[m.name] + step
        return {"label": asset[self.v.label], "value": value} if 0 < value <= m.most else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        tool = f"record_{self.v.e.id}"
        return [self.look_up(slots), call(tool, **self.id(), value=slots["value"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, m = self.v, self.v.s.meter
        asset = self.asset(slots, state)
        if asset["status"] == v.s.retired or (m.rising and slots["value"] < asset[m.name]):
            raise LookupError("such a reading is refused")
        fields = {f"{v.a.id}_id": self.key(asset), "value": slots["value"], "read_on": state["today"]}
        written = f"Has {v.e.a} of {slots['value']} been recorded for {v.a} {slots['label']}?"
        item = f"Is the {v.meterwords} of {v.a} {slots['label']} now {slots['value']}?"
        ranked = f"{v.meter} of {asset[v.kind]}"
        return [
            Added(v.e.ids, fields, written),
            *self.change(asset, item, ranked, **{v.meter: slots["value"]}),
        ]


class Switch(AssetGoal):
    """Take one into use."""

    phrases = ("<<s.said_on[0]>>", "<<s.said_on[1]>>")
    needs = ("find_<<a.ids>>", "<<s.on_verb>>_<<a.id>>")
    weight = 0.8

    def ends(self) -> tuple[str, str, str]:
        """Status before and after, and the verb."""
        return self.v.s.off, self.v.s.on, self.v.s.on_verb

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = self.some(state, rng, self.ends()[0])
        return {"label": rows[0][self.v.label]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [self.look_up(slots), call(f"{self.ends()[2]}_{self.v.a.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        before, after, _ = self.ends()
        asset = self.asset(slots, state)
        critical = any(f["severity"] == "critical" for f in self.open_faults(asset, state))
        if asset["status"] != before or (critical and after == self.v.s.on):
            raise LookupError(f"it cannot become {after}")
        item = f"Is {self.v.a} {slots['label']} {after.replace('_', ' ')} now?"
        return self.change(asset, item, status=after)


class SwitchOff(Switch):
    """Take one out of use."""

    phrases = ("<<s.said_off[0]>>", "<<s.said_off[1]>>")
    needs = ("find_<<a.ids>>", "<<s.off_verb>>_<<a.id>>")

    def ends(self) -> tuple[str, str, str]:
        return self.v.s.on, self.v.s.off, self.v.s.off_verb


class SetDial(AssetGoal):
    """Set something on one."""

    phrases = (
        "Please set the <<dialwords>> of the <<a>> <<lab>> to {value:int}.",
        "The <<dialwords>> of the <<a>> <<lab>> should be {value:int} from now on.",
    )
    needs = ("find_<<a.ids>>", "set_<<a.id>>_<<dial>>")
    when = "dial != ''"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        for asset in self.some(state, rng, v.s.on):
            span = v.kinds[asset[v.kind]].dial
            value = int(rng.integers(span[0], span[1] + 1)) if span else None
            if value is not None and value != asset[v.dial]:
                return {"label": asset[v.label], "value": value}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        tool = f"set_{self.v.a.id}_{self.v.dial}"
        return [self.look_up(slots), call(tool, **self.id(), **{self.v.dial: slots["value"]})]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        asset = self.asset(slots, state)
        span = v.kinds[asset[v.kind]].dial
        if asset["status"] != v.s.on or span is None or not span[0] <= slots["value"] <= span[1]:
            raise LookupError("it cannot be set so")
        item = f"Has the {v.dialwords} of {v.a} {slots['label']} been set to {slots['value']}?"
        return self.change(asset, item, **{v.dial: slots["value"]})


class Move(AssetGoal):
    """Move one to a place."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Please move the <<a>> <<lab>> to <<there>>.",
        "From today the <<a>> <<lab>> belongs in <<there>>, so move it.",
    )
    needs = ("find_<<a.ids>>", "list_<<l.ids>>", "move_<<a.id>>")

    def free(self, state: State) -> dict[str, int]:
        """Place → how many more it takes."""
        v, key = self.v, f"{self.v.l.id}_id"
        here = [a[key] for a in state[v.a.ids].values() if a["status"] != v.s.retired]
        return {k: row["capacity"] - here.count(k) for k, row in state[v.l.ids].items()}

    def place(self, slots: Slots, state: State) -> str:
        """The place it goes to."""
        return str(named(state, self.v.l, slots["place"])[f"{self.v.l.id}_id"])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        place = pick(rng, list(state[self.v.l.ids].values()))
        return {"label": self.some(state, rng)[0][self.v.label], "place": place["name"]}

    def find_place(self, slots: Slots) -> dict[str, Any]:
        """The call that finds the place."""
        return call(f"list_{self.v.l.ids}", name=slots["place"])

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = f"{self.v.l.id}_id"
        move = call(f"move_{self.v.a.id}", **self.id(), **{key: found(1, 0, key)})
        return [self.look_up(slots), self.find_place(slots), move]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, key = self.v, f"{self.v.l.id}_id"
        asset, place = self.asset(slots, state), self.place(slots, state)
        if asset[key] == place or asset["status"] == v.s.retired or self.free(state)[place] < 1:
            raise LookupError("it cannot be moved there")
        item = f"Has {v.a} {slots['label']} been moved to {state[v.l.ids][place]['name']}?"
        return self.change(asset, item, v.l.ids, **{key: place})


class MoveToEmptiest(Move):
    """Move one to where most room is."""

    phrases = (
        "The <<a>> <<lab>> should go to whichever <<l>> has the most free places at the moment.",
        "Please find out which <<l>> has the most free places and move the <<a>> <<lab>> there.",
        "Move the <<a>> <<lab>> to the <<l>> with the most room left, please.",
    )

    def place(self, slots: Slots, state: State) -> str:
        free = self.free(state)
        return only([k for k, n in free.items() if n == max(free.values())])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"label": self.some(state, rng)[0][self.v.label]}

    def find_place(self, slots: Slots) -> dict[str, Any]:
        return call(f"list_{self.v.l.ids}")


class PlanService(AssetGoal):
    """Plan a service for the asset that is due first."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Please plan <<t.a>> on {day:date} for the {kind:name} whose next one is due first.",
        "Of every {kind:name} we have, the one whose <<t>> falls due first should get one on {day:date}.",
        "There is time for <<t.a>> on {day:date}: plan it for whichever {kind:name} is due before the others.",
    )
    needs = ("list_due_<<a.ids>>", "plan_<<t.id>>")

    def asset(self, slots: Slots, state: State) -> dict[str, Any]:
        v = self.v
        rows = [a for a in state[v.a.ids].values() if a[v.kind] == slots["kind"]]
        # One that has a service planned counts too: no sentence says to pass it over, and the outcome refuses it.
        rows = [a for a in rows if a["status"] != v.s.retired]
        first = min((a[v.last] for a in rows), default="")
        return only([a for a in rows if a[v.last] == first])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        day = later(state["today"], int(rng.integers(1, 30)))
        return {"kind": pick(rng, list(self.v.kinds)), "day": day}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        look_up = call(f"list_due_{v.a.ids}", **{v.kind: slots["kind"]})
        return [look_up, call(f"plan_{v.t.id}", **self.id(), planned_on=slots["day"])]

    def which(self, slots: Slots) -> str:
        """The asset in words."""
        return f"the {slots['kind']} that is due first"

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        asset = self.asset(slots, state)
        if self.planned(asset, state) or asset["status"] == v.s.retired or slots["day"] <= state["today"]:
            raise LookupError("it cannot be planned")
        fields = {f"{v.a.id}_id": self.key(asset), "planned_on": slots["day"], "done_on": None, "cost": 0.0}
        item = f"Has {v.t.a} on {slots['day']} been planned for {self.which(slots)}?"
        also = (f"due {asset[v.kind]}", f"{v.meter} of {asset[v.kind]}")
        return [Added(v.t.ids, {**fields, "status": "planned"}, item, also)]


class PlanExtreme(PlanService):
    """Plan a service for the asset with the highest or lowest reading."""

    phrases = ("<<s.said_extreme[0]>>", "<<s.said_extreme[1]>>")
    needs = ("rank_<<a.ids>>", "plan_<<t.id>>")

    def asset(self, slots: Slots, state: State) -> dict[str, Any]:
        v = self.v
        rows = [a for a in state[v.a.ids].values() if a[v.kind] == slots["kind"]]
        values = [a[v.meter] for a in rows if a["status"] != v.s.retired]
        best = (min if v.s.meter.lowest_first else max)(values, default=-1)
        return only([a for a in rows if a["status"] != v.s.retired and a[v.meter] == best])

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        look_up = call(f"rank_{self.v.a.ids}", **{self.v.kind: slots["kind"]})
        return [look_up, call(f"plan_{self.v.t.id}", **self.id(), planned_on=slots["day"])]

    def which(self, slots: Slots) -> str:
        side = "lowest" if self.v.s.meter.lowest_first else "highest"
        return f"the {slots['kind']} with the {side} {self.v.meterwords}"


class ServiceGoal(AssetGoal):
    """A goal about the planned service of an asset."""

    def service(self, slots: Slots, state: State) -> dict[str, Any]:
        """That service."""
        return only(self.planned(self.asset(slots, state), state))

    def with_one(self, state: State, rng: Rng) -> dict[str, Any] | None:
        """An asset with a planned service."""
        return next((a for a in self.some(state, rng) if self.planned(a, state)), None)

    def look_ups(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        return [self.look_up(slots), call(f"list_{self.v.t.ids}", **self.id(), status="planned")]

    def service_id(self) -> dict[str, Any]:
        """Argument with its id."""
        return {f"{self.v.t.id}_id": found(1, 0, f"{self.v.t.id}_id")}


class Reschedule(ServiceGoal):
    """Another day for a planned service."""

    phrases = (
        "The <<t>> that is planned for the <<a>> <<lab>> has to be moved to {day:date}.",
        "Please reschedule the planned <<t>> of the <<a>> <<lab>> to {day:date}.",
    )
    needs = ("find_<<a.ids>>", "list_<<t.ids>>", "reschedule_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        asset = self.with_one(state, rng)
        day = later(state["today"], int(rng.integers(1, 40)))
        return asset and {"label": asset[self.v.label], "day": day}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        tool = f"reschedule_{self.v.t.id}"
        return [*self.look_ups(slots), call(tool, **self.service_id(), planned_on=slots["day"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        service = self.service(slots, state)
        if service["planned_on"] == slots["day"] or slots["day"] <= state["today"]:
            raise LookupError("it cannot be moved so")
        item = f"Has the planned {self.v.t} of {self.v.a} {slots['label']} been moved to {slots['day']}?"
        key = service[f"{self.v.t.id}_id"]
        also = (service[f"{self.v.a.id}_id"],)
        return [Changed(self.v.t.ids, key, {"planned_on": slots["day"]}, item, also)]


class Complete(ServiceGoal):
    """A planned service was done."""

    phrases = (
        "The planned <<t>> of the <<a>> <<lab>> was done today and cost {cost:money} <<s.currency>>, so complete it.",
        "Please mark the <<t>> planned for the <<a>> <<lab>> as done, at a cost of {cost:money} <<s.currency>>.",
    )
    needs = ("find_<<a.ids>>", "list_<<t.ids>>", "complete_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        asset = self.with_one(state, rng)
        cost = round(float(rng.integers(*self.v.s.costs)) + pick(rng, [0.0, 0.5, 0.9]), 2)
        return asset and {"label": asset[self.v.label], "cost": cost}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [
            *self.look_ups(slots),
            call(f"complete_{self.v.t.id}", **self.service_id(), cost=slots["cost"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        asset, service = self.asset(slots, state), self.service(slots, state)
        fields = {"done_on": state["today"], "cost": slots["cost"], "status": "done"}
        item = f"Has the planned {v.t} of {v.a} {slots['label']} been completed at {slots['cost']:.2f}?"
        last = f"Is today the date of the last {v.t} of {v.a} {slots['label']}?"
        return [
            Changed(v.t.ids, service[f"{v.t.id}_id"], fields, item),
            *self.change(asset, last, f"due {asset[v.kind]}", **{v.last: state["today"]}),
        ]


class Report(AssetGoal):
    """A fault was found."""

    phrases = (
        'The <<a>> <<lab>> has a {severity:name} <<f>>, please report it: "{what:text}".',
        'Please report "{what:text}" as a {severity:name} <<f>> of the <<a>> <<lab>>.',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<a.ids>>", "report_<<f.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        asset = self.some(state, rng)[0]
        known = {f["description"] for f in self.open_faults(asset, state)}
        fresh = [text for text in self.v.kinds[asset[self.v.kind]].faults if text not in known]
        if not fresh:
            return None
        return {"label": asset[self.v.label], "what": pick(rng, fresh), "severity": pick(rng, SEVERITIES)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        given = {"description": slots["what"], "severity": slots["severity"]}
        return [self.look_up(slots), call(f"report_{self.v.f.id}", **self.id(), **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        asset = self.asset(slots, state)
        if slots["severity"] not in SEVERITIES or asset["status"] == v.s.retired:
            raise LookupError("it cannot be reported so")
        if any(f["description"] == slots["what"] for f in self.open_faults(asset, state)):
            raise LookupError("it is reported already")
        key = f"{v.a.id}_id"
        given = {"description": slots["what"], "severity": slots["severity"]}
        fields = {key: asset[key], **given, "reported_on": state["today"], "note": ""}
        item = (
            f"Has the {slots['severity']} {v.f} '{slots['what']}' been reported for {v.a} {asset[v.label]}?"
        )
        new = Added(v.f.ids, {**fields, "status": "open"}, item, (f"open {slots['severity']}",))
        if slots["severity"] != "critical" or asset["status"] == v.s.off:
            return [new]
        stopped = f"Is {v.a} {asset[v.label]} {v.offwords} because of that?"
        return [new, *self.change(asset, stopped, status=v.s.off)]


class ReportHeld(Report):
    """A fault of the asset somebody has."""

    phrases = (
        'The <<p>> {name:name} reports a {severity:name} <<f>> of the <<a>> this <<p>> has: "{what:text}".',
        'Please report "{what:text}" as a {severity:name} <<f>> of the <<a>> that <<p>> {name:name} has.',
    )
    needs = ("find_<<p.ids>>", "list_<<a.ids>>", "report_<<f.id>>")
    when = "held"

    def asset(self, slots: Slots, state: State) -> dict[str, Any]:
        key = f"{self.v.p.id}_id"
        person = named(state, self.v.p, slots["name"])[key]
        return only([a for a in state[self.v.a.ids].values() if a[key] == person])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        asset = slots and AssetGoal.asset(self, slots, state)
        person = asset and asset[f"{self.v.p.id}_id"]
        if not slots or not person:
            return None
        name = state[self.v.p.ids][person]["name"]
        return {"name": name, "what": slots["what"], "severity": slots["severity"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        given = {"description": slots["what"], "severity": slots["severity"]}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.a.ids}", **{key: found(0, 0, key)}),
            call(f"report_{v.f.id}", **self.id(1), **given),
        ]


class Fix(AssetGoal):
    """A fault of an asset is over."""

    phrases = (
        'The open <<f>> of the <<a>> <<lab>> is done with, so enter it as <<s.fixed>> with the note "{note:text}".',
        'Please <<s.fix_verb>> the one open <<f>> of the <<a>> <<lab>>; the note is "{note:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<a.ids>>", "list_<<f.ids>>", "<<s.fix_verb>>_<<f.id>>")

    def fault(self, slots: Slots, state: State) -> dict[str, Any]:
        """The fault a sentence is about."""
        return only(self.open_faults(self.asset(slots, state), state))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [a for a in self.some(state, rng) if len(self.open_faults(a, state)) == 1]
        return {"label": rows[0][self.v.label], "note": pick(rng, self.v.s.notes)} if rows else None

    def look_ups(self, slots: Slots) -> list[dict[str, Any]]:
        """The calls that find it."""
        return [self.look_up(slots), call(f"list_{self.v.f.ids}", **self.id(), status="open")]

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, calls = self.v, self.look_ups(slots)
        key = {f"{v.f.id}_id": found(len(calls) - 1, 0, f"{v.f.id}_id")}
        return [*calls, call(f"{v.s.fix_verb}_{v.f.id}", **key, note=slots["note"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        fault = self.fault(slots, state)
        asset = state[v.a.ids][fault[f"{v.a.id}_id"]]
        note = "a note" if slots["note"] is ANY_TEXT else "that note"
        item = f"Is the {v.f} '{fault['description']}' of {v.a} {asset[v.label]} {v.s.fixed} with {note}?"
        also = (self.key(asset), f"open {fault['severity']}")
        fields = {"status": v.s.fixed, "note": slots["note"]}
        return [Changed(v.f.ids, fault[f"{v.f.id}_id"], fields, item, also)]


FixInOwnWords = in_own_words(
    Fix,
    "note",
    "The open <<f>> of the <<a>> <<lab>> is done with, so enter it as <<s.fixed>> with a note in your own words.",
    "Please <<s.fix_verb>> the one open <<f>> of the <<a>> <<lab>>; you may choose the wording of the note.",
)


class FixOldest(Fix):
    """The oldest open fault of a severity is over."""

    phrases = (
        'Of the open {severity:name} <<f.many>>, <<s.fix_verb>> the one reported first, with the note "{note:text}".',
        'The oldest open {severity:name} <<f>> is done with, so enter it as <<s.fixed>> and note "{note:text}".',
    )
    needs = ("list_<<f.ids>>", "<<s.fix_verb>>_<<f.id>>")

    def fault(self, slots: Slots, state: State) -> dict[str, Any]:
        rows = [f for f in state[self.v.f.ids].values() if f["status"] == "open"]
        rows = [f for f in rows if f["severity"] == slots["severity"]]
        first = min((f["reported_on"] for f in rows), default="")
        return only([f for f in rows if f["reported_on"] == first])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"severity": pick(rng, SEVERITIES), "note": pick(rng, self.v.s.notes)}

    def look_ups(self, slots: Slots) -> list[dict[str, Any]]:
        return [call(f"list_{self.v.f.ids}", status="open", severity=slots["severity"])]


class HandOver(AssetGoal):
    """Give somebody an asset."""

    phrases = (
        "The <<a>> <<lab>> goes to <<p>> {name:name} from today, please record that.",
        "Please <<handwords>> the <<a>> <<lab>> to <<p>> {name:name}.",
    )
    needs = ("find_<<a.ids>>", "find_<<p.ids>>", "<<s.hand_verb>>_<<a.id>>")
    when = "held"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person = pick(rng, list(state[self.v.p.ids].values()))
        return {"label": self.some(state, rng)[0][self.v.label], "name": person["name"]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        return [
            self.look_up(slots),
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"{v.s.hand_verb}_{v.a.id}", **self.id(), **{key: found(1, 0, key)}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, key = self.v, f"{self.v.p.id}_id"
        asset, person = self.asset(slots, state), named(state, v.p, slots["name"])
        has = sum(a[key] == person[key] for a in state[v.a.ids].values())
        if person["status"] != "active" or asset[key] == person[key] or has >= v.s.max_held:
            raise LookupError(f"{slots['name']} cannot get it")
        item = f"Is {v.a} {slots['label']} with {slots['name']} now?"
        also = (asset[key],) if asset[key] else ()
        return self.change(asset, item, *also, **{key: person[key]})


class Retire(AssetGoal):
    """Give an asset up."""

    phrases = ("<<s.said_retire[0]>>", "<<s.said_retire[1]>>")
    needs = ("find_<<a.ids>>", "<<s.retire>>_<<a.id>>")
    weight = 0.4

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [a for a in self.some(state, rng, self.v.s.off) if not self.planned(a, state)]
        return {"label": rows[0][self.v.label]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [self.look_up(slots), call(f"{self.v.s.retire}_{self.v.a.id}", **self.id())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        asset = self.asset(slots, state)
        if asset["status"] != v.s.off or self.planned(asset, state):
            raise LookupError("it cannot be given up")
        given_back = {f"{v.p.id}_id": None} if v.held else {}
        also = [asset[f"{v.p.id}_id"]] if v.held and asset[f"{v.p.id}_id"] else []
        item = f"Is {v.a} {slots['label']} {v.s.retired} now?"
        marks = [v.l.ids, f"due {asset[v.kind]}", f"{v.meter} of {asset[v.kind]}", *also]
        return self.change(asset, item, *marks, status=v.s.retired, **given_back)


class Assets(Pattern):
    """Things that stand somewhere and have to be looked after."""

    Settings = AssetSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Record, Switch, SwitchOff, SetDial, Move, MoveToEmptiest, PlanService, PlanExtreme, Reschedule, Complete,
        Report, ReportHeld, Fix, FixInOwnWords, FixOldest, HandOver, Retire,
    )  # fmt: skip

    def vocabulary(self, s: AssetSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        a = Noun(s.asset, s.asset_many)
        shared[s.asset] = a
        return {
            "a": a,
            "p": shared[s.person] if s.person else None,
            "held": s.person is not None,
            "l": Noun(s.place),
            "e": Noun(s.reading),
            "t": Noun(s.service),
            "f": Noun(s.fault),
            "there": s.said_place or f"the {s.place} {{place:name}}",
            "label": s.label.name,
            "labelwords": s.label.name.replace("_", " "),
            "lab": '"{label:name}"' if s.label.quoted else "{label:name}",
            "kind": s.kind.name,
            "kindwords": s.kind.name.replace("_", " "),
            "kinds": s.kind.choices,
            "kindlist": either(list(s.kind.choices)),
            "m": s.meter,
            "meter": s.meter.name,
            "meterwords": s.meter.name.replace("_", " "),
            "dial": s.dial.name if s.dial else "",
            "dialwords": s.dial.name.replace("_", " ") if s.dial else "",
            "last": f"last_{Noun(s.service).id}_on",
            "states": (s.on, s.off, s.retired),
            "statelist": either([s.on, s.off, s.retired]),
            "offwords": s.off.replace("_", " "),
            "handwords": s.hand_verb.replace("_", " "),
            "severities": SEVERITIES,
            "side": "lowest" if s.meter.lowest_first else "highest",
            "bounds": ("no less than before and " if s.meter.rising else "")
            + f"at least 0 and at most {s.meter.most}",
            "days_listed": either([f"{kind.interval} ({name})" for name, kind in s.kind.choices.items()]),
            "days_code": ", ".join(f'"{name}": {kind.interval}' for name, kind in s.kind.choices.items()),
            "spans": ", ".join(
                f"{name} {k.dial[0]}-{k.dial[1]}" for name, k in s.kind.choices.items() if k.dial
            ),
            "spans_code": ", ".join(f'"{name}": {k.dial}' for name, k in s.kind.choices.items() if k.dial),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, a, key = v.s, v.a, f"{v.a.id}_id"
        held = (
            [attribute(f"{v.p.id}_id", "str | None", f"the {v.p} who has it; None for nobody")]
            if v.held
            else []
        )
        dial = (
            [attribute(v.dial, "int | None", f"{s.dial.about}; None where there is none")] if v.dial else []
        )
        return [
            Table(
                v.l,
                f"{v.l.a[:1].upper()}{v.l.a[1:]} with room for some {a.many}.",
                [
                    attribute(f"{v.l.id}_id", "str", f"unique id, e.g. {s.place_prefix}-001"),
                    attribute("name", "str", "name"),
                    attribute("capacity", "int", f"how many {a.many} it takes"),
                ],
            ),
            Table(
                a,
                f"{a.a[:1].upper()}{a.a[1:]} and the state it is in.",
                [
                    attribute(key, "str", f"unique id, e.g. {s.prefix}-001"),
                    attribute(v.label, "str", s.label.about),
                    attribute(v.kind, "str", f"{s.kind.about}: {v.kindlist}"),
                    attribute(f"{v.l.id}_id", "str", f"the {v.l} it is in"),
                    *held,
                    attribute(v.meter, "int", f"{v.m.about}, in {v.m.unit}"),
                    *dial,
                    attribute(v.last, "str", f"date of the last {v.t}, as YYYY-MM-DD"),
                    *own(s.extras),
                    attribute("status", "str", v.statelist),
                ],
            ),
            Table(
                v.e,
                f"{v.e.a[:1].upper()}{v.e.a[1:]} of {a.a}.",
                [
                    attribute(f"{v.e.id}_id", "str", "unique id, e.g. RD-001"),
                    attribute(key, "str", f"the {a} that was read"),
                    attribute("value", "int", f"in {v.m.unit}"),
                    attribute("read_on", "str", "date, as YYYY-MM-DD"),
                ],
            ),
            Table(
                v.t,
                f"{v.t.a[:1].upper()}{v.t.a[1:]}, planned or done.",
                [
                    attribute(f"{v.t.id}_id", "str", f"unique id, e.g. {s.service_prefix}-001"),
                    attribute(key, "str", f"the {a} it is for"),
                    attribute("planned_on", "str", "date it is planned for, as YYYY-MM-DD"),
                    attribute("done_on", "str | None", "date it was done, None before"),
                    attribute("cost", "float", f"what it cost, in {s.currency}; 0 before"),
                    attribute("status", "str", "planned, done or cancelled"),
                ],
            ),
            Table(
                v.f,
                f"{v.f.a[:1].upper()}{v.f.a[1:]} that was reported.",
                [
                    attribute(f"{v.f.id}_id", "str", f"unique id, e.g. {s.fault_prefix}-001"),
                    attribute(key, "str", f"the {a} it was found on"),
                    attribute("description", "str", "what is wrong, in a few words"),
                    attribute("severity", "str", either(SEVERITIES)),
                    attribute("reported_on", "str", "date, as YYYY-MM-DD"),
                    attribute("status", "str", f"open or {s.fixed}"),
                    attribute("note", "str", "how it ended, empty before"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "<<a.a[:1]|upper>><<a.a[1:]>> with an open critical <<f>> is not <<s.on>>.",
            """
            bad = {
                row.get("<<a.id>>_id")
                for row in rows(after, "<<f.ids>>").values()
                if row.get("status") == "open" and row.get("severity") == "critical"
            }
            return all(row.get("status") != "<<s.on>>" for key, row in rows(after, "<<a.ids>>").items() if key in bad)
            """,
        ),
        RuleText(
            "No <<l>> holds more <<a.many>> than its capacity; those that are <<s.retired>> take no place.",
            """
            counts = {}
            for row in rows(after, "<<a.ids>>").values():
                if row.get("status") != "<<s.retired>>":
                    key = str(row.get("<<l.id>>_id"))
                    counts[key] = counts.get(key, 0) + 1
            places = rows(after, "<<l.ids>>")
            return all(counts.get(key, 0) <= (row.get("capacity") or 0) for key, row in places.items())
            """,
        ),
        RuleText(
            "The <<meterwords>> of <<a.a>> can never go down.",
            """
            pairs = changed("<<a.ids>>", "<<meter>>")
            return all((new.get("<<meter>>") or 0) >= (old.get("<<meter>>") or 0) for old, new in pairs)
            """,
            when="m.rising",
        ),
        RuleText(
            "The <<meterwords>> of <<a.a>> lies between 0 and <<m.most>> <<m.unit>>.",
            """
            return all(0 <= (row.get("<<meter>>") or 0) <= <<m.most>> for row in rows(after, "<<a.ids>>").values())
            """,
            when="not m.rising",
        ),
        RuleText(
            "<<a.a[:1]|upper>><<a.a[1:]>> has at most one planned <<t>>, and none once it is <<s.retired>>.",
            """
            planned = [
                row.get("<<a.id>>_id") for row in rows(after, "<<t.ids>>").values() if row.get("status") == "planned"
            ]
            gone = {key for key, row in rows(after, "<<a.ids>>").items() if row.get("status") == "<<s.retired>>"}
            return len(planned) == len(set(planned)) and not gone & set(planned)
            """,
        ),
        RuleText(
            "A done <<t>> has the date it was done, and no other <<t>> has one.",
            """
            return all(
                (row.get("status") == "done") == (row.get("done_on") is not None)
                for row in rows(after, "<<t.ids>>").values()
            )
            """,
            rank=2,
        ),
        RuleText(
            "A <<p>> has at most <<s.max_held>> <<a.many>>.",
            """
            held = [row.get("<<p.id>>_id") for row in rows(after, "<<a.ids>>").values() if row.get("<<p.id>>_id")]
            return all(held.count(key) <= <<s.max_held>> for key in held)
            """,
            when="held",
        ),
        RuleText(
            "<<f.a[:1]|upper>><<f.a[1:]>> that is <<s.fixed>> has a note on how it ended, and an open one has none.",
            """
            for row in rows(after, "<<f.ids>>").values():
                if (row.get("status") == "<<s.fixed>>") != bool(row.get("note")):
                    return False
            return True
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _due_on(<<a.id>>: dict) -> str:
        """Return the date the next <<t>> of <<a.a>> is due."""
        days = {<<days_code>>}
        due = date.fromisoformat(<<a.id>>["<<last>>"]) + timedelta(days=days[<<a.id>>["<<kind>>"]])
        return due.isoformat()

    def _free_places(self, <<l.id>>_id: str) -> int:
        """Count how many more <<a.many>> <<l.a>> takes."""
        here = sum(
            <<a.id>>["<<l.id>>_id"] == <<l.id>>_id and <<a.id>>["status"] != "<<s.retired>>"
            for <<a.id>> in self.<<a.ids>>.values()
        )
        return self.<<l.ids>>[<<l.id>>_id]["capacity"] - here

    def _planned_<<t.id>>(self, <<a.id>>_id: str) -> dict | None:
        """Return the <<t>> that is planned for <<a.a>>, None when there is none."""
        for <<t.id>> in self.<<t.ids>>.values():
            if <<t.id>>["<<a.id>>_id"] == <<a.id>>_id and <<t.id>>["status"] == "planned":
                return <<t.id>>
        return None
'''

    READS = (
        MACROS
        + '''
def find_<<a.ids>>(self, <<label>>: str) -> dict:
    """Find <<a.many>> by <<labelwords>>.

    Args:
        <<label>>: The <<labelwords>> or a part of it; upper and lower case are the same.

    Returns:
        The matching <<a.many>>, one with exactly this <<labelwords>> first; an empty list when there are none.
    """
    wanted = <<label>>.strip().lower()
    if not wanted:
        return {"success": False, "error": "The <<labelwords>> to look for is empty."}
    matches = [dict(entry) for entry in self.<<a.ids>>.values() if wanted in entry["<<label>>"].lower()]
    matches.sort(key=lambda entry: (len(entry["<<label>>"]), entry["<<label>>"]))
    return {"success": True, "data": matches}

<<getter(a, s.prefix)>>

def list_<<a.ids>>(
    self,
    <<kind>>: str | None = None,
    <<l.id>>_id: str | None = None,
%% if held
    <<p.id>>_id: str | None = None,
%% endif
    status: str | None = None,
) -> dict:
    """List the <<a.many>>, optionally narrowed down.

    Args:
        <<kind>>: Only this <<kindwords>>: <<kindlist>>. Leave out for all.
        <<l.id>>_id: Only those in this <<l>>. Leave out for all.
%% if held
        <<p.id>>_id: Only those that this <<p>> has. Leave out for all.
%% endif
        status: Only this status: <<statelist>>. Leave out for all.

    Returns:
        The matching <<a.many>> sorted by id; an empty list when there are none.
    """
<<one_of(kind, kindwords, kinds|list)>>
<<one_of("status", "status", states)>>
    selected = [
        dict(entry)
        for entry in self.<<a.ids>>.values()
        if <<kind>> in (None, entry["<<kind>>"])
        and <<l.id>>_id in (None, entry["<<l.id>>_id"])
%% if held
        and <<p.id>>_id in (None, entry["<<p.id>>_id"])
%% endif
        and status in (None, entry["status"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: entry["<<a.id>>_id"])}

def rank_<<a.ids>>(self, <<kind>>: str) -> dict:
    """Rank the <<a.many>> of one <<kindwords>> by <<meterwords>>, the <<side>> first.

    Args:
        <<kind>>: The <<kindwords>>: <<kindlist>>.

    Returns:
        The <<a.many>> of this <<kindwords>> that are not <<s.retired>>.
    """
    if <<kind>> not in (<<quoted(kinds|list)>>):
        return {"success": False, "error": f"There is no <<kindwords>> {<<kind>>!r}."}
    selected = [
        dict(entry)
        for entry in self.<<a.ids>>.values()
        if entry["<<kind>>"] == <<kind>> and entry["status"] != "<<s.retired>>"
    ]
    selected.sort(key=lambda entry: (<<"" if m.lowest_first else "-">>entry["<<meter>>"], entry["<<a.id>>_id"]))
    return {"success": True, "data": selected}

def list_due_<<a.ids>>(self, <<kind>>: str | None = None, until: str | None = None) -> dict:
    """List <<a.many>> by the date their next <<t>> is due, the first one in front.

    Args:
        <<kind>>: Only this <<kindwords>>: <<kindlist>>. Leave out for all.
        until: Only those due on or before this date, as YYYY-MM-DD. Leave out for all.

    Returns:
        The <<a.many>> without a planned <<t>>, each with `due_on`, which is <<days_listed>> days after the last
        one; those that are <<s.retired>> are left out.
    """
<<one_of(kind, kindwords, kinds|list)>>
    if until is not None and not self._is_date(until):
        return {"success": False, "error": f"{until!r} is not a date as YYYY-MM-DD."}
    selected = [
        {**entry, "due_on": self._due_on(entry)}
        for entry in self.<<a.ids>>.values()
        if <<kind>> in (None, entry["<<kind>>"])
        and entry["status"] != "<<s.retired>>"
        and self._planned_<<t.id>>(entry["<<a.id>>_id"]) is None
        and (until is None or self._due_on(entry) <= until)
    ]
    selected.sort(key=lambda entry: (entry["due_on"], entry["<<a.id>>_id"]))
    return {"success": True, "data": selected}

def list_<<l.ids>>(self, name: str | None = None) -> dict:
    """List the <<l.many>> with their free places, the one with most of them first.

    Args:
        name: Only those with this in their name; upper and lower case are the same. Leave out for all.

    Returns:
        The <<l.many>>, each with `free_places`.
    """
    selected = [
        {**entry, "free_places": self._free_places(key)}
        for key, entry in self.<<l.ids>>.items()
        if name is None or name.strip().lower() in entry["name"].lower()
    ]
    selected.sort(key=lambda entry: (-entry["free_places"], entry["<<l.id>>_id"]))
    return {"success": True, "data": selected}

def list_<<e.ids>>(self, <<a.id>>_id: str) -> dict:
    """List the <<e.many>> of <<a.a>>, the latest first.

    Args:
        <<a.id>>_id: Id of the <<a>>.

    Returns:
        The <<e.many>> in <<m.unit>>; an empty list when there are none.
    """
    if <<a.id>>_id not in self.<<a.ids>>:
        return {"success": False, "error": f"There is no <<a>> with the id {<<a.id>>_id!r}."}
    selected = [dict(entry) for entry in self.<<e.ids>>.values() if entry["<<a.id>>_id"] == <<a.id>>_id]
    selected.sort(key=lambda entry: (entry["read_on"], entry["<<e.id>>_id"]), reverse=True)
    return {"success": True, "data": selected}

def list_<<t.ids>>(self, <<a.id>>_id: str | None = None, status: str | None = None) -> dict:
    """List <<t.many>>, those planned for the earliest date first.

    Args:
        <<a.id>>_id: Only those of this <<a>>. Leave out for all.
        status: Only this status: planned, done or cancelled. Leave out for all.

    Returns:
        The matching <<t.many>>; an empty list when there are none.
    """
<<one_of("status", "status", ["planned", "done", "cancelled"])>>
    selected = [
        dict(entry)
        for entry in self.<<t.ids>>.values()
        if <<a.id>>_id in (None, entry["<<a.id>>_id"])
        and status in (None, entry["status"])
    ]
    selected.sort(key=lambda entry: (entry["planned_on"], entry["<<t.id>>_id"]))
    return {"success": True, "data": selected}

def list_<<f.ids>>(
    self, <<a.id>>_id: str | None = None, status: str | None = None, severity: str | None = None
) -> dict:
    """List <<f.many>>, the one reported first in front.

    Args:
        <<a.id>>_id: Only those of this <<a>>. Leave out for all.
        status: Only this status: open or <<s.fixed>>. Leave out for all.
        severity: Only this severity: minor, major or critical. Leave out for all.

    Returns:
        The matching <<f.many>>; an empty list when there are none.
    """
<<one_of("status", "status", ["open", s.fixed])>>
<<one_of("severity", "severity", severities)>>
    selected = [
        dict(entry)
        for entry in self.<<f.ids>>.values()
        if <<a.id>>_id in (None, entry["<<a.id>>_id"])
        and status in (None, entry["status"])
        and severity in (None, entry["severity"])
    ]
    selected.sort(key=lambda entry: (entry["reported_on"], entry["<<f.id>>_id"]))
    return {"success": True, "data": selected}
'''
    )

    WRITES = (
        MACROS
        + '''
<% macro kept() %>
    if <<a.id>>["status"] == "<<s.retired>>":
        return {"success": False, "error": f"<<a.cap>> {<<a.id>>_id} is <<s.retired>>."}
<%- endmacro %>
<% macro future(name) %>
    if not self._is_date(<<name>>) or <<name>> <= self.today:
        return {"success": False, "error": f"{<<name>>!r} is not a date as YYYY-MM-DD after today."}
<%- endmacro %>
<% macro still_planned() %>
    if <<t.id>>["status"] != "planned":
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is {<<t.id>>['status']}, not planned."}
<%- endmacro %>
def record_<<e.id>>(self, <<a.id>>_id: str, value: int) -> dict:
    """Record a new <<e>> of <<a.a>>, which becomes its <<meterwords>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must not be <<s.retired>>.
        value: What was read, in <<m.unit>>: <<bounds>>.

    Returns:
        The new <<e>>, or an error.
    """
<<known(a)>>
<<kept()>>
    if value < 0 or value > <<m.most>>:
        return {"success": False, "error": "The value must be at least 0 and at most <<m.most>>."}
%% if m.rising
    if value < <<a.id>>["<<meter>>"]:
        return {"success": False, "error": f"The <<meterwords>> had reached {<<a.id>>['<<meter>>']} already."}
%% endif
    <<e.id>>: <<e.type>> = {
        "<<e.id>>_id": self._next_id(self.<<e.ids>>, "RD"),
        "<<a.id>>_id": <<a.id>>_id,
        "value": value,
        "read_on": self.today,
    }
    self.<<e.ids>>[<<e.id>>["<<e.id>>_id"]] = <<e.id>>
    <<a.id>>["<<meter>>"] = value
<<done(e, "recorded")>>

def move_<<a.id>>(self, <<a.id>>_id: str, <<l.id>>_id: str) -> dict:
    """Move <<a.a>> to another <<l>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must not be <<s.retired>>.
        <<l.id>>_id: Id of the <<l>> it goes to, which needs a free place.

    Returns:
        The moved <<a>>, or an error.
    """
<<known(a)>>
<<known(l)>>
<<kept()>>
    if <<a.id>>["<<l.id>>_id"] == <<l.id>>_id:
        return {"success": False, "error": f"<<a.cap>> {<<a.id>>_id} is in {<<l.id>>['name']} already."}
    if self._free_places(<<l.id>>_id) < 1:
        return {"success": False, "error": f"There is no free place in {<<l.id>>['name']}."}
    <<a.id>>["<<l.id>>_id"] = <<l.id>>_id
<<done(a, "moved")>>

%% if held
def <<s.hand_verb>>_<<a.id>>(self, <<a.id>>_id: str, <<p.id>>_id: str) -> dict:
    """<<handwords|capitalize>> <<a.a>> to <<p.a>>, whoever had it before.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must not be <<s.retired>>.
        <<p.id>>_id: Id of the <<p>>, who is active, does not have it yet and has fewer than <<s.max_held>> <<a.many>>.

    Returns:
        The <<a>>, or an error.
    """
<<known(a)>>
<<known(p)>>
<<kept()>>
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}."}
    if <<a.id>>["<<p.id>>_id"] == <<p.id>>_id:
        return {"success": False, "error": f"{<<p.id>>['name']} has {<<a.id>>_id} already."}
    held = sum(entry["<<p.id>>_id"] == <<p.id>>_id for entry in self.<<a.ids>>.values())
    if held >= <<s.max_held>>:
        return {"success": False, "error": f"{<<p.id>>['name']} has {held} <<a.many>> already."}
    <<a.id>>["<<p.id>>_id"] = <<p.id>>_id
<<done(a, "handed over")>>
%% endif

%% if dial
def set_<<a.id>>_<<dial>>(self, <<a.id>>_id: str, <<dial>>: int) -> dict:
    """Set the <<dialwords>> of <<a.a>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be <<s.on>>.
        <<dial>>: <<s.dial.about|capitalize>>: <<spans>>; another than now.

    Returns:
        The changed <<a>>, or an error.
    """
<<known(a)>>
    if <<a.id>>["status"] != "<<s.on>>":
        return {"success": False, "error": f"<<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}, not <<s.on>>."}
    spans = {<<spans_code>>}
    if <<a.id>>["<<kind>>"] not in spans:
        return {"success": False, "error": f"A {<<a.id>>['<<kind>>']} has no <<dialwords>>."}
    least, most = spans[<<a.id>>["<<kind>>"]]
    if <<dial>> < least or <<dial>> > most:
        return {"success": False, "error": f"The <<dialwords>> goes from {least} to {most}."}
    if <<dial>> == <<a.id>>["<<dial>>"]:
        return {"success": False, "error": f"The <<dialwords>> is {<<dial>>} already."}
    <<a.id>>["<<dial>>"] = <<dial>>
<<done(a, "set")>>
%% endif

def <<s.on_verb>>_<<a.id>>(self, <<a.id>>_id: str) -> dict:
    """Set the status of <<a.a>> back to <<s.on>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be <<s.off>> and have no open critical <<f>>.

    Returns:
        The changed <<a>>, or an error.
    """
<<known(a)>>
    if <<a.id>>["status"] != "<<s.off>>":
        return {"success": False, "error": f"<<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}, not <<s.off>>."}
    for <<f.id>> in self.<<f.ids>>.values():
        if (
            <<f.id>>["<<a.id>>_id"] == <<a.id>>_id
            and <<f.id>>["status"] == "open"
            and <<f.id>>["severity"] == "critical"
        ):
            return {"success": False, "error": f"The critical <<f>> {<<f.id>>['<<f.id>>_id']} is open."}
    <<a.id>>["status"] = "<<s.on>>"
<<done(a, "is " ~ s.on)>>

def <<s.off_verb>>_<<a.id>>(self, <<a.id>>_id: str) -> dict:
    """Set the status of <<a.a>> to <<s.off>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be <<s.on>>.

    Returns:
        The changed <<a>>, or an error.
    """
<<known(a)>>
    if <<a.id>>["status"] != "<<s.on>>":
        return {"success": False, "error": f"<<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}, not <<s.on>>."}
    <<a.id>>["status"] = "<<s.off>>"
<<done(a, "is " ~ s.off)>>

def plan_<<t.id>>(self, <<a.id>>_id: str, planned_on: str) -> dict:
    """Plan <<t.a>> for <<a.a>> that has none planned.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must not be <<s.retired>>.
        planned_on: Date after today, as YYYY-MM-DD.

    Returns:
        The planned <<t>>, or an error.
    """
<<known(a)>>
<<kept()>>
<<future("planned_on")>>
    if self._planned_<<t.id>>(<<a.id>>_id) is not None:
        return {"success": False, "error": f"<<a.cap>> {<<a.id>>_id} has a planned <<t>> already."}
    <<t.id>>: <<t.type>> = {
        "<<t.id>>_id": self._next_id(self.<<t.ids>>, "<<s.service_prefix>>"),
        "<<a.id>>_id": <<a.id>>_id,
        "planned_on": planned_on,
        "done_on": None,
        "cost": 0.0,
        "status": "planned",
    }
    self.<<t.ids>>[<<t.id>>["<<t.id>>_id"]] = <<t.id>>
<<done(t, "planned")>>

def reschedule_<<t.id>>(self, <<t.id>>_id: str, planned_on: str) -> dict:
    """Move a planned <<t>> to another date.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be planned.
        planned_on: Another date after today, as YYYY-MM-DD.

    Returns:
        The changed <<t>>, or an error.
    """
<<known(t)>>
<<still_planned()>>
<<future("planned_on")>>
    if <<t.id>>["planned_on"] == planned_on:
        return {"success": False, "error": f"<<t.cap>> {<<t.id>>_id} is planned for {planned_on} already."}
    <<t.id>>["planned_on"] = planned_on
<<done(t, "moved")>>

def complete_<<t.id>>(self, <<t.id>>_id: str, cost: float) -> dict:
    """Record that a planned <<t>> was done today, from which the next one is counted.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be planned.
        cost: What it cost in <<s.currency>>; at least 0 and below a million.

    Returns:
        The finished <<t>>, or an error.
    """
<<known(t)>>
<<still_planned()>>
    if not 0 <= cost < 1_000_000:
        return {"success": False, "error": "The cost must be at least 0 and below a million."}
    <<t.id>>["status"] = "done"
    <<t.id>>["done_on"] = self.today
    <<t.id>>["cost"] = round(cost, 2)
    self.<<a.ids>>[<<t.id>>["<<a.id>>_id"]]["<<last>>"] = self.today
<<done(t, "completed")>>

def cancel_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Cancel a planned <<t>>.

    Args:
        <<t.id>>_id: Id of the <<t>>, which must be planned.

    Returns:
        The cancelled <<t>>, or an error.
    """
<<known(t)>>
<<still_planned()>>
    <<t.id>>["status"] = "cancelled"
<<done(t, "cancelled")>>

def report_<<f.id>>(self, <<a.id>>_id: str, description: str, severity: str) -> dict:
    """Report <<f.a>> of <<a.a>>; with a critical one the <<a>> is <<s.off>> at once.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must not be <<s.retired>>.
        description: What is wrong, in a few words; the same must not be open for this <<a>> already.
        severity: minor, major or critical.

    Returns:
        The new <<f>>, which is open, or an error.
    """
<<known(a)>>
<<kept()>>
    if not description.strip():
        return {"success": False, "error": "The description is empty."}
    if severity not in (<<quoted(severities)>>):
        return {"success": False, "error": f"There is no severity {severity!r}."}
    for entry in self.<<f.ids>>.values():
        same = entry["<<a.id>>_id"] == <<a.id>>_id and entry["description"] == description.strip()
        if same and entry["status"] == "open":
            return {"success": False, "error": f"That is reported already as {entry['<<f.id>>_id']}."}
    <<f.id>>: <<f.type>> = {
        "<<f.id>>_id": self._next_id(self.<<f.ids>>, "<<s.fault_prefix>>"),
        "<<a.id>>_id": <<a.id>>_id,
        "description": description.strip(),
        "severity": severity,
        "reported_on": self.today,
        "status": "open",
        "note": "",
    }
    self.<<f.ids>>[<<f.id>>["<<f.id>>_id"]] = <<f.id>>
    if severity == "critical":
        <<a.id>>["status"] = "<<s.off>>"
<<done(f, "reported")>>

def <<s.fix_verb>>_<<f.id>>(self, <<f.id>>_id: str, note: str) -> dict:
    """<<s.fix_verb|capitalize>> an open <<f>>; the <<a>> stays <<s.off>> if it was.

    Args:
        <<f.id>>_id: Id of the <<f>>, which must be open.
        note: How it ended, in a few words.

    Returns:
        The changed <<f>>, or an error.
    """
<<known(f)>>
    if <<f.id>>["status"] != "open":
        return {"success": False, "error": f"<<f.cap>> {<<f.id>>_id} is {<<f.id>>['status']}, not open."}
    if not note.strip():
        return {"success": False, "error": "A note on how it ended is required."}
    <<f.id>>["status"] = "<<s.fixed>>"
    <<f.id>>["note"] = note.strip()
<<done(f, "is " ~ s.fixed)>>

def <<s.retire>>_<<a.id>>(self, <<a.id>>_id: str) -> dict:
    """Mark <<a.a>> as <<s.retired>> for good.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be <<s.off>> and have no planned <<t>>.

    Returns:
        The <<a>>, now <<s.retired>><<" and without " ~ p.a if held>>, or an error.
    """
<<known(a)>>
    if <<a.id>>["status"] != "<<s.off>>":
        return {"success": False, "error": f"<<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}, not <<s.off>>."}
    if self._planned_<<t.id>>(<<a.id>>_id) is not None:
        return {"success": False, "error": f"<<a.cap>> {<<a.id>>_id} has a planned <<t>>."}
    <<a.id>>["status"] = "<<s.retired>>"
%% if held
    <<a.id>>["<<p.id>>_id"] = None
%% endif
<<done(a, "is " ~ s.retired)>>
'''
    )

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        kinds = {label: kind for kind, k in v.kinds.items() for label in k.labels}
        labels = shuffled(rng, list(kinds))[:15]
        keys = [key_of(s.place_prefix, n + 1) for n in range(len(s.places))]
        spots = [pick(rng, keys) for _ in labels]
        room = shuffled(rng, list(range(len(keys))))
        for key, name, free in zip(keys, s.places, room, strict=True):
            capacity = spots.count(key) + free
            state[v.l.ids][key] = {f"{v.l.id}_id": key, "name": name, "capacity": max(1, capacity)}
        people = [k for k, row in state[v.p.ids].items() if row["status"] == "active"] if v.held else []
        for n, label in enumerate(sorted(labels)):
            person = people[n // 2] if n % 2 == 0 and n // 2 < min(len(people), 6) else None
            self._asset(v, state, rng, label, kinds[label], spots[n], person)
        self._services(v, state, rng)
        self._faults(v, state, rng)

    def _asset(
        self,
        v: SimpleNamespace,
        state: State,
        rng: Rng,
        label: str,
        kind: str,
        place: str,
        person: str | None,
    ) -> None:
        s, k = v.s, v.kinds[kind]
        key = key_of(s.prefix, len(state[v.a.ids]) + 1)
        value = int(rng.integers(k.meter[0], k.meter[1] + 1))
        dial = int(rng.integers(k.dial[0], k.dial[1] + 1)) if k.dial else None
        days = int(k.interval * float(rng.uniform(0.2, 1.1))) + 1
        retired = rng.random() < 0.06 and person is None
        state[v.a.ids][key] = {
            f"{v.a.id}_id": key,
            v.label: label,
            v.kind: kind,
            f"{v.l.id}_id": place,
            **({f"{v.p.id}_id": person} if v.held else {}),
            v.meter: value,
            **({v.dial: dial} if v.dial else {}),
            v.last: later(state["today"], -days),
            **{x.name: x.draw(rng) for x in s.extras},
            "status": s.retired if retired else pick(rng, [s.on, s.on, s.off]),
        }
        if rng.random() < 0.7:
            number = key_of("RD", len(state[v.e.ids]) + 1)
            day = later(state["today"], -int(rng.integers(1, 40)))
            row = {f"{v.e.id}_id": number, f"{v.a.id}_id": key, "value": value, "read_on": day}
            state[v.e.ids][number] = row

    def _services(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        kept = [a for a in state[v.a.ids].values() if a["status"] != v.s.retired]
        statuses = ["done"] * 5 + ["planned"] * 5 + ["cancelled"]
        for status, asset in zip(statuses, shuffled(rng, kept), strict=False):
            key = key_of(v.s.service_prefix, len(state[v.t.ids]) + 1)
            done = status == "done"
            day = asset[v.last] if done else later(state["today"], int(rng.integers(2, 25)))
            state[v.t.ids][key] = {
                f"{v.t.id}_id": key,
                f"{v.a.id}_id": asset[f"{v.a.id}_id"],
                "planned_on": day,
                "done_on": day if done else None,
                "cost": round(float(rng.uniform(*v.s.costs)), 1) if done else 0.0,
                "status": status,
            }

    def _faults(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        kept = [a for a in state[v.a.ids].values() if a["status"] != s.retired]
        severities = ["minor", "minor", "major", "major", "critical", "critical", "minor", "major", "minor"]
        days = sorted((int(d) for d in rng.choice(range(1, 40), size=9, replace=False)), reverse=True)
        order = shuffled(rng, list(zip(severities, range(9), strict=True)))
        for (severity, n), asset, ago in zip(order, shuffled(rng, kept), days, strict=False):
            key = key_of(s.fault_prefix, len(state[v.f.ids]) + 1)
            is_open = n < 6
            if is_open and severity == "critical":
                asset["status"] = s.off
            state[v.f.ids][key] = {
                f"{v.f.id}_id": key,
                f"{v.a.id}_id": asset[f"{v.a.id}_id"],
                "description": pick(rng, v.kinds[asset[v.kind]].faults),
                "severity": severity,
                "reported_on": later(state["today"], -ago),
                "status": "open" if is_open else s.fixed,
                "note": "" if is_open else pick(rng, s.notes),
            }


PATTERN = Assets
