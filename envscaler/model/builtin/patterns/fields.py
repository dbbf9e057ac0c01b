"""Fields: what grew where and may grow next, work with machines and products, and what is brought in and stored."""

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
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

KINDS = ("sowing", "spraying", "harvest")
Row = dict[str, Any]


class Crop(Part):
    """What is sown."""

    rest: int
    """Years until it may stand on the same field again."""
    rate: float
    """Seed in kg a hectare."""
    yields: tuple[float, float]
    """Least and most tonnes a hectare."""


class Spray(Part):
    """What is sprayed."""

    rate: float
    """Litres a hectare."""
    waiting: int
    """Days from spraying to harvest."""
    crop: str = "any"
    """The only crop it is approved for, or any."""


class FieldSettings(Settings):
    """A farm's numbers and data."""

    fields: list[str]
    """Names of fields; ten are used."""
    crops: dict[str, Crop]
    """What grows here."""
    sprays: dict[str, Spray]
    """What is sprayed here."""
    machines: dict[str, str]
    """Machine → its kind of work: sowing, spraying or harvest."""
    silos: list[str]
    """Names of silos; six are used."""
    wettest: float = 20.0
    """Most moisture of a load, in percent."""


class Work(Goal):
    """What goals about fields share: a sentence names a field by its name."""

    def field(self, slots: Slots, state: State) -> Row:
        """The field a sentence names."""
        return named(state, self.v.f, slots["field"])

    def some(self, table: str, state: State, rng: Rng, **wanted: Any) -> Row:
        """A row that has these values; a value that is a function tells whether it will do."""
        fits = [
            row
            for row in state[table].values()
            if all(x(row[k]) if callable(x) else row[k] == x for k, x in wanted.items())
        ]
        if not fits:
            raise LookupError("there is none")
        row: Row = pick(rng, fits)
        return row

    def live(self, state: State, **wanted: Any) -> list[Row]:
        """Jobs that are planned or done and have these values."""
        rows = [j for j in state["jobs"].values() if j["status"] != "cancelled"]
        return [j for j in rows if all(j[k] == x for k, x in wanted.items())]

    def free_day(self, machine: str, state: State, first: str = "") -> str:
        """The first day from tomorrow on, or from a later one, on which a machine has no job."""
        taken = {j["day"] for j in self.live(state, machine=machine)}
        day = max(first, later(state["today"], 1))
        while day in taken:
            day = later(day, 1)
        return day

    def planned(
        self, field: Row, product: Row | None, kind: str, machine: str, day: str, state: State
    ) -> Outcome:
        """A new job, which needs so much of a product and is allowed on that day."""
        key, waiting = field["field_id"], product["waiting_days"] if product else 0
        amount = round(product["rate"] * field["hectares"], 1) if product else 0.0
        jobs = [j for j in state["jobs"].values() if j["status"] == "planned"]
        bound = sum(j["amount"] for j in jobs if product and j["product_id"] == product["product_id"])
        if (product and amount > product["stock"] - bound + 1e-6) or day in {
            j["day"] for j in self.live(state, machine=machine)
        }:
            raise LookupError("there is not enough of it, or no machine")
        allowed(state, key, kind, day, later(day, waiting))
        fields = {"field_id": key, "kind": kind, "product_id": product["product_id"] if product else None}
        fields |= {"machine": machine, "day": day, "amount": amount, "status": "planned"}
        fields["safe_from"] = later(day, waiting) if kind == "spraying" else ""
        return Added(
            "jobs",
            fields,
            f"Is the {kind} on {field['name']} planned for {day} with the {machine}?",
            (key,),
        )


class Sow(Work):
    """A crop is to be sown."""

    phrases: ClassVar[tuple[str, ...]] = (
        "{field:name} is to be sown with {crop:name} on {day:date}, please book the {machine:name} for it.",
        "Please plan to sow {crop:name} on {field:name} on {day:date} with the {machine:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_fields", "list_stock", "plan_sowing")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = self.some("fields", state, rng, crop="")["name"]
        when = {
            "day": later(state["today"], int(rng.integers(7, 45))),
            "machine": self.machine("sowing", rng),
        }
        return {"field": name, "crop": pick(rng, list(self.v.s.crops)), **when}

    def machine(self, kind: str, rng: Rng) -> str:
        """A machine for that kind of work."""
        return str(pick(rng, [name for name, of in self.v.s.machines.items() if of == kind]))

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            {**slots, "seed": seed_of(slots["crop"])},
            "find_fields name=field",
            "list_stock name=seed",
            "plan_sowing field_id<0 product_id<1 machine day",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.sown(slots, slots["crop"], state)

    def sown(self, slots: Slots, crop: str, state: State) -> list[Outcome]:
        """The sowing is planned, where the rotation allows it."""
        field, seed = self.field(slots, state), named(state, self.v.p, seed_of(crop))
        soon = self.live(state, field_id=field["field_id"], kind="sowing", status="planned")
        if (
            field["crop"]
            or soon
            or since(state, field["field_id"], crop, slots["day"]) < self.v.s.crops[crop].rest
        ):
            raise LookupError("the field is not free for it")
        return [self.planned(field, seed, "sowing", slots["machine"], slots["day"], state)]


class SowRested(Sow):
    """The crop that was away from the field longest is to be sown."""

    phrases = (
        "Sow {field:name} on {day:date} with the {machine:name}; take the crop that is suggested first for it.",
        "Book the {machine:name} to sow {field:name} on {day:date} with the first of the crops suggested for it.",
    )
    needs = ("find_fields", "suggest_crops", "plan_sowing")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {name: slots[name] for name in ("field", "day", "machine")}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_fields name=field",
            "suggest_crops field_id<0 day",
            "plan_sowing field_id<0 product_id<1 machine day",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key, s = self.field(slots, state)["field_id"], self.v.s
        rested = {crop: since(state, key, crop, slots["day"]) for crop in s.crops}
        able = [crop for crop, rule in s.crops.items() if rested[crop] >= rule.rest]
        return self.sown(slots, min(able, key=lambda crop: (-rested[crop], crop), default=""), state)


class SprayNext(Sow):
    """A field is to be sprayed on the next day on which the sprayer is free."""

    phrases = (
        "{field:name} needs {product:name}: book the {machine:name} for its first free day from tomorrow on.",
        "From tomorrow on, as soon as the {machine:name} is free, spray {field:name} with {product:name}; plan that.",
    )
    needs = ("find_fields", "list_stock", "list_free_days", "plan_spraying")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        field = self.some("fields", state, rng, crop=bool)
        fit = [name for name, spray in self.v.s.sprays.items() if spray.crop in ("any", field["crop"])]
        return {"field": field["name"], "product": pick(rng, fit), "machine": self.machine("spraying", rng)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_fields name=field",
            "list_stock name=product",
            "list_free_days machine",
            "plan_spraying field_id<0 product_id<1 machine day<2/free/0",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        field, spray = self.field(slots, state), named(state, self.v.p, slots["product"])
        if not field["crop"] or spray["crop"] not in ("any", field["crop"]):
            raise LookupError("it is not for this field")
        day = self.free_day(slots["machine"], state)
        return [self.planned(field, spray, "spraying", slots["machine"], day, state)]


class HarvestSoon(Sow):
    """A field is to be harvested as early as waiting periods and the machine allow."""

    phrases = (
        "Please book the {machine:name} for {field:name} on the earliest day from tomorrow on that allows a harvest.",
        "{field:name} is ripe; plan its harvest with the {machine:name} for the first day possible from tomorrow on.",
    )
    needs = ("find_fields", "check_harvest", "plan_harvest")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        field = self.some("fields", state, rng, crop=bool)
        return {"field": field["name"], "machine": self.machine("harvest", rng)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_fields name=field",
            "check_harvest field_id<0 machine",
            "plan_harvest field_id<0 machine day<1/first_day",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        field = self.field(slots, state)
        if not field["crop"] or self.live(
            state, field_id=field["field_id"], kind="harvest", status="planned"
        ):
            raise LookupError("there is nothing to harvest")
        sprayed = self.live(state, field_id=field["field_id"], kind="spraying")
        first = max([f"{grown(state, field)['year']}-01-01", *(j["safe_from"] for j in sprayed)])
        day = self.free_day(slots["machine"], state, first)
        if day > later(state["today"], 90):
            raise LookupError("it is not ripe for long")
        return [self.planned(field, None, "harvest", slots["machine"], day, state)]


class Finish(Work):
    """A planned job was done, with all that follows from it."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The {kind:name} on {field:name} is done, please enter that.",
        "We have finished the {kind:name} on {field:name}, so close that job.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_fields", "list_jobs", "finish_job")
    act: ClassVar[tuple[str, ...]] = ("finish_job job_id<1",)

    def draw(self, state: State, rng: Rng) -> Slots | None:
        job = self.some("jobs", state, rng, status="planned", day=lambda day: day <= state["today"])
        return {"field": state["fields"][job["field_id"]]["name"], "kind": job["kind"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            {**slots, "status": "planned"},
            "find_fields name=field",
            "list_jobs field_id<0 kind status",
            *self.act,
        )

    def job(self, slots: Slots, state: State) -> tuple[Row, Row]:
        """The planned job that a sentence names, and its field."""
        field = self.field(slots, state)
        return only(self.live(state, field_id=field["field_id"], kind=slots["kind"], status="planned")), field

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        (job, field), name, today = self.job(slots, state), slots["field"], state["today"]
        if job["day"] > today:
            raise LookupError("it is not due yet")
        done = Changed("jobs", job["job_id"], {"status": "done"}, f"Is the {slots['kind']} on {name} done?")
        if job["kind"] == "harvest":
            if not grown(state, field)["tonnes"]:
                raise LookupError("nothing was brought in")
            item = f"Is {name} bare now?"
            return [done, Changed("fields", field["field_id"], {"crop": "", "sown_on": ""}, item)]
        product = state["products"][job["product_id"]]
        left = {"stock": round(product["stock"] - job["amount"], 1)}
        used = Changed("products", job["product_id"], left, f"Is what was used on {name} out of stock?")
        if job["kind"] == "spraying":
            return [done, used]
        entry = {
            "field_id": field["field_id"],
            "crop": product["crop"],
            "year": season(job["day"]),
            "tonnes": 0.0,
        }
        fields = {"crop": product["crop"], "sown_on": job["day"]}
        return [
            done,
            used,
            Changed("fields", field["field_id"], fields, f"Does {product['crop']} stand on {name}?"),
            Added("crop_years", entry, f"Has the sowing been entered in the rotation of {name}?"),
        ]


class PutOff(Finish):
    """A planned job is moved to the next day on which its machine is free."""

    phrases = (
        "It is too wet for the {kind:name} on {field:name}; move it to its machine's first free day from tomorrow on.",
        "Please put the {kind:name} on {field:name} off to its machine's first free day from tomorrow on.",
    )
    needs = ("find_fields", "list_jobs", "list_free_days", "move_job")
    act = ("list_free_days machine<1", "move_job job_id<1 day<2/free/0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        job, field = self.job(slots, state)
        day, fields = self.free_day(job["machine"], state), {}
        if job["kind"] == "spraying":
            fields["safe_from"] = later(day, state["products"][job["product_id"]]["waiting_days"])
        allowed(state, field["field_id"], job["kind"], day, fields.get("safe_from", ""))
        item = f"Has the {slots['kind']} on {slots['field']} been moved to {day}?"
        return [Changed("jobs", job["job_id"], {"day": day, **fields}, item, (field["field_id"],))]


class CallOff(Finish):
    """A planned job is cancelled."""

    phrases = (
        "We can do without the {kind:name} on {field:name}, so cancel that job.",
        "Please call off the {kind:name} that is planned for {field:name}.",
    )
    needs = ("find_fields", "list_jobs", "cancel_job")
    act = ("cancel_job job_id<1",)
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        job = self.some("jobs", state, rng, status="planned")
        return {"field": state["fields"][job["field_id"]]["name"], "kind": job["kind"]}

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        job, field = self.job(slots, state)
        item = f"Has the {slots['kind']} on {slots['field']} been cancelled?"
        return [Changed("jobs", job["job_id"], {"status": "cancelled"}, item, (field["field_id"],))]


class BringIn(Work):
    """A load from a field that is being harvested goes into the silo that suits it best."""

    phrases = (
        "A load of {tonnes:number} t with {moisture:number} percent moisture came in from {field:name}; "
        "put it into the silo that ranks first for it.",
        "Enter {tonnes:number} t from {field:name} at {moisture:number} percent moisture, "
        "in the silo that ranks first for it.",
    )
    needs = ("find_fields", "rank_silos", "bring_load")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        job = self.some(
            "jobs", state, rng, status="planned", kind="harvest", day=lambda day: day <= state["today"]
        )
        load = {"tonnes": int(rng.integers(60, 180)) / 10, "moisture": int(rng.integers(130, 190)) / 10}
        return {"field": state["fields"][job["field_id"]]["name"], **load}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_fields name=field",
            "rank_silos crop<0 tonnes",
            "bring_load field_id<0 silo_id<1 tonnes moisture",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        field, tonnes, wet = self.field(slots, state), slots["tonnes"], slots["moisture"]
        able = [
            silo
            for silo in state["silos"].values()
            if silo["crop"] in ("", field["crop"]) and room(silo) >= tonnes
        ]
        able.sort(key=lambda silo: (silo["crop"] == "", room(silo), silo["silo_id"]))
        year, silo = grown(state, field), able[0]
        if not field["crop"] or not self.live(
            state, field_id=field["field_id"], kind="harvest", status="planned"
        ):
            raise LookupError("it is not being harvested")
        load = {"field_id": field["field_id"], "silo_id": silo["silo_id"], "tonnes": tonnes, "moisture": wet}
        held = {"crop": field["crop"], **poured(silo, tonnes, wet)}
        counted = {"tonnes": round(year["tonnes"] + tonnes, 2)}
        name = slots["field"]
        return [
            Added("loads", {**load, "brought_on": state["today"]}, f"Has the load from {name} been entered?"),
            Changed("silos", silo["silo_id"], held, f"Is the load from {name} in the {silo['name']}?"),
            Changed("crop_years", year["crop_year_id"], counted, f"Is it counted as yield of {name}?"),
        ]


class Dry(Work):
    """What is in a silo is dried."""

    phrases = (
        "Please run the dryer on the {silo:name} until its moisture is down to {moisture:number} percent.",
        "The grain in the {silo:name} is too damp, so dry it to {moisture:number} percent.",
    )
    needs = ("find_silos", "dry_silo")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        silo = self.some("silos", state, rng, moisture=lambda m: m > 14.5)
        return {"silo": silo["name"], "moisture": pick(rng, [13.0, 13.5, 14.0])}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_silos name=silo", "dry_silo silo_id<0 moisture")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        silo, wet = named(state, self.v.o, slots["silo"]), slots["moisture"]
        if silo["moisture"] <= wet:
            raise LookupError("it is dry")
        stored = round(silo["stored"] * (100 - silo["moisture"]) / (100 - wet), 2)
        item = f"Has the {slots['silo']} been dried to {wet} percent, with what is lost by it?"
        return [Changed("silos", silo["silo_id"], {"moisture": wet, "stored": stored}, item, (silo["crop"],))]


class Empty(Work):
    """All of a silo goes into another one."""

    phrases = (
        "Please move everything from the {silo:name} over to the {other:name}, so that it can be swept.",
        "The {silo:name} has to be emptied: all of it goes into the {other:name}.",
    )
    needs = ("find_silos", "move_grain")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one = self.some("silos", state, rng, stored=lambda tonnes: tonnes > 0)
        rest = [
            silo for silo in state["silos"].values() if silo is not one and silo["crop"] in ("", one["crop"])
        ]
        able = [silo["name"] for silo in rest if room(silo) >= one["stored"]]
        return {"silo": one["name"], "other": pick(rng, able)} if able else None

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_silos name=silo",
            "find_silos name=other",
            "move_grain from_silo_id<0/0/silo_id to_silo_id<1/0/silo_id tonnes<0/0/stored",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, two = (named(state, self.v.o, slots[end]) for end in ("silo", "other"))
        if not one["stored"] or two["crop"] not in ("", one["crop"]) or room(two) < one["stored"]:
            raise LookupError("it does not go in there")
        bare = {"crop": "", "stored": 0.0, "moisture": 0.0}
        full = {"crop": one["crop"], **poured(two, one["stored"], one["moisture"])}
        also = (one["crop"],)
        return [
            Changed("silos", one["silo_id"], bare, f"Is the {slots['silo']} empty?", also),
            Changed("silos", two["silo_id"], full, f"Is all of it in the {slots['other']}?", also),
        ]


class Restock(Work):
    """A delivery."""

    phrases = (
        "A delivery of {amount:int} {unit:name} of {product:name} has arrived, please add it to the stock.",
        "Please book in {amount:int} {unit:name} of {product:name} that were delivered today.",
    )
    needs = ("list_stock", "restock_product")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        product = self.some("products", state, rng)
        amount = int(rng.integers(2, 9)) * (100 if product["unit"] == "kg" else 10)
        return {"product": product["name"], "unit": product["unit"], "amount": amount}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_stock name=product", "restock_product product_id<0 amount")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        product = named(state, self.v.p, slots["product"])
        if product["unit"] != slots["unit"]:
            raise LookupError("it is measured otherwise")
        item = f"Has the delivery of {slots['product']} been added to the stock?"
        stock = round(product["stock"] + slots["amount"], 1)
        return [Changed("products", product["product_id"], {"stock": stock}, item)]


def seed_of(crop: str) -> str:
    """The name of the seed of a crop: `winter oat seed` of `winter oats`."""
    return f"{crop.removesuffix('s')} seed"


def season(day: str) -> int:
    """The year of the harvest that a sowing is for."""
    return int(day[:4]) + (day[5:7] >= "07")


def since(state: State, field: str, crop: str, day: str) -> int:
    """Years from the last time a crop stood on a field to a sowing on that day; 99 for never."""
    years = [y["year"] for y in state["crop_years"].values() if (y["field_id"], y["crop"]) == (field, crop)]
    return season(day) - max(years, default=season(day) - 99)


def grown(state: State, field: Row) -> Row:
    """The latest entry in the rotation of a field."""
    rows = [y for y in state["crop_years"].values() if y["field_id"] == field["field_id"]]
    return max(rows, key=lambda y: y["year"])


def poured(silo: Row, tonnes: float, moisture: float) -> Row:
    """What a silo holds with so much more in it."""
    stored = round(silo["stored"] + tonnes, 2)
    mixed = (silo["stored"] * silo["moisture"] + tonnes * moisture) / stored
    return {"stored": stored, "moisture": round(mixed, 2)}


def room(silo: Row) -> float:
    """Tonnes that a silo still takes."""
    return round(float(silo["capacity"] - silo["stored"]), 2)


def allowed(state: State, field: str, kind: str, day: str, safe: str) -> None:
    """Raise `LookupError` when a job on that day gets in the way of others on the same field."""
    for job in state["jobs"].values():
        if job["field_id"] == field and job["status"] != "cancelled":
            open_, harvest = job["status"] == "planned", job["kind"] == "harvest"
            if (kind == "spraying" and open_ and harvest and job["day"] < safe) or (
                kind == "harvest" and job["kind"] == "spraying" and job["safe_from"] > day
            ):
                raise LookupError("the waiting period is not over by then")


TABLES: dict[str, tuple[str, str, str]] = {
    "field": (
        "FLD",
        "A field of the farm.",
        """
        name: str = what it is called
        hectares: float = size
        soil: str = loam, clay or sand
        crop: str = what stands on it; empty while it is bare
        sown_on: str = date, as YYYY-MM-DD; empty while it is bare
        """,
    ),
    "crop year": (
        "CRY",
        "An entry in the rotation: what stood on a field in a year.",
        """
        field_id: str = the field
        crop: str = the crop
        year: int = year of the harvest
        tonnes: float = what was brought in
        """,
    ),
    "product": (
        "PRD",
        "Seed or spray in stock.",
        """
        name: str = what it is called
        kind: str = seed or spray
        crop: str = crop it gives, or the only one it is approved for; any for a spray for all
        unit: str = kg or litres
        rate: float = how much a hectare needs
        stock: float = how much there is
        waiting_days: int = days from spraying to harvest, 0 for seed
        """,
    ),
    "job": (
        "JOB",
        "Work on a field on one day, for which a machine is booked.",
        """
        field_id: str = the field
        kind: str = sowing, spraying or harvest
        product_id: str | None = seed or spray; None for a harvest
        machine: str = the machine
        day: str = date, as YYYY-MM-DD
        amount: float = how much of the product is needed, 0 for a harvest
        safe_from: str = of a spraying: first day of harvest after it; otherwise empty
        status: str = planned, done or cancelled
        """,
    ),
    "silo": (
        "SIL",
        "A silo for one crop at a time.",
        """
        name: str = what it is called
        capacity: float = tonnes it takes
        crop: str = what is in it; empty when there is nothing
        stored: float = tonnes in it
        moisture: float = moisture of what is in it, in percent; 0 when there is nothing
        """,
    ),
    "load": (
        "LOD",
        "A load of the harvest.",
        """
        field_id: str = the field it comes from
        silo_id: str = the silo it was put into
        tonnes: float = weight
        moisture: float = percent
        brought_on: str = date, as YYYY-MM-DD
        """,
    ),
}


class Fields(Pattern):
    """Fields with rotation, jobs, stock and silos."""

    Settings = FieldSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Sow, SowRested, SprayNext, HarvestSoon, Finish, PutOff, CallOff, BringIn, Dry, Empty, Restock,
    )  # fmt: skip

    def vocabulary(self, s: FieldSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        if set(s.machines.values()) != set(KINDS):
            raise ValueError(f"expected machines for {', '.join(KINDS)}")
        nouns = {"f": "field", "p": "product", "j": "job", "o": "silo"}
        rests = ", ".join(f'"{crop}": {rule.rest}' for crop, rule in s.crops.items())
        told = ", ".join(f"{crop} {rule.rest}" for crop, rule in s.crops.items())
        return {
            **{letter: Noun(word) for letter, word in nouns.items()},
            "rests": rests,
            "told": told,
            "crops": list(s.crops),
            "machines": list(s.machines),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(
                Noun(word), about, f"{Noun(word).id}_id: str = unique id, e.g. {prefix}-001\n{fields.strip()}"
            )
            for word, (prefix, about, fields) in TABLES.items()
        ]

    RULES = (
        RuleText(
            "No field is harvested earlier than the waiting periods of its sprayings end.",
            """
            live = [r for r in rows(after, "jobs").values() if r.get("status") != "cancelled"]
            for cut in (r for r in live if r.get("kind") == "harvest"):
                for row in live:
                    if row.get("kind") == "spraying" and row.get("field_id") == cut.get("field_id"):
                        if str(row.get("day")) <= str(cut.get("day")) < str(row.get("safe_from")):
                            return False
            return True
            """,
        ),
        RuleText(
            "No two jobs use the same machine on one day, unless one of them is cancelled.",
            """
            live = [r for r in rows(after, "jobs").values() if r.get("status") != "cancelled"]
            marks = [(str(row.get("machine")), str(row.get("day"))) for row in live]
            return len(marks) == len(set(marks))
            """,
        ),
        RuleText(
            "A crop comes back to a field only after so many years: <<told>>.",
            """
            rests = {<<rests>>}
            every = list(rows(after, "crop_years").values())
            for new in added("crop_years"):
                for row in every:
                    same = (row.get("field_id"), row.get("crop")) == (new.get("field_id"), new.get("crop"))
                    if row is not new and same:
                        if abs((new.get("year") or 0) - (row.get("year") or 0)) < rests.get(new.get("crop"), 0):
                            return False
            return True
            """,
        ),
        RuleText(
            "What a sowing or spraying needs is calculated: the rate of the product for every hectare of the field.",
            """
            for row in rows(after, "jobs").values():
                product = rows(after, "products").get(str(row.get("product_id"))) or {}
                size = (rows(after, "fields").get(str(row.get("field_id"))) or {}).get("hectares") or 0
                if abs((row.get("amount") or 0) - (product.get("rate") or 0) * size) > 0.051:
                    return False
            return True
            """,
        ),
        RuleText(
            "There is at least as much of a product in stock as all planned jobs need of it.",
            """
            bound = {}
            for row in rows(after, "jobs").values():
                if row.get("status") == "planned":
                    key = str(row.get("product_id"))
                    bound[key] = bound.get(key, 0) + (row.get("amount") or 0)
            return all(
                (row.get("stock") or 0) >= bound.get(key, 0) - 0.05 for key, row in rows(after, "products").items()
            )
            """,
        ),
        RuleText(
            "Every sowing that is done leaves an entry in the rotation of its field.",
            """
            sown = {(n.get("field_id"), n.get("crop")) for _, n in changed("fields", "crop") if n.get("crop")}
            return sown == {(row.get("field_id"), row.get("crop")) for row in added("crop_years")}
            """,
        ),
        RuleText(
            "A silo has a crop exactly when something is stored in it, and it never holds more than its capacity.",
            """
            return all(
                bool(row.get("crop")) == ((row.get("stored") or 0) > 0)
                and (row.get("stored") or 0) <= (row.get("capacity") or 0) + 0.005
                for row in rows(after, "silos").values()
            )
            """,
        ),
        RuleText(
            "A job goes from planned to done or cancelled and never back.",
            """
            return all(old.get("status") == "planned" for old, _ in changed("jobs", "status"))
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _later(day: str, days: int) -> str:
        """Return the date so many days later."""
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()

    def _is_ahead(self, text: str) -> bool:
        """Tell whether the text is a date as YYYY-MM-DD, from today on and within 90 days."""
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return False
        return day.isoformat() == text and self.today <= text <= self._later(self.today, 90)

    @staticmethod
    def _work_of(machine: str) -> str | None:
        """Return the kind of work a machine is made for, None for an unknown one."""
        made = {
%% for machine, kind in s.machines.items()
            "<<machine>>": "<<kind>>",
%% endfor
        }
        return made.get(machine)

    @staticmethod
    def _rest_of(crop: str) -> int:
        """Return the years until a crop may stand on the same field again."""
        rests = {<<rests>>}
        return rests.get(crop, 0)

    def _jobs_of(self, field_id: str, kind: str, *statuses: str) -> list[dict]:
        """Return the jobs of a kind on a field that have one of the statuses."""
        return [
            job
            for job in self.jobs.values()
            if job["field_id"] == field_id and job["kind"] == kind and job["status"] in statuses
        ]

    def _is_booked(self, machine: str, day: str) -> bool:
        """Tell whether a machine has a job on a day."""
        mine = (job for job in self.jobs.values() if job["machine"] == machine and job["day"] == day)
        return any(job["status"] != "cancelled" for job in mine)

    def _unbound(self, product_id: str) -> float:
        """Return how much of a product is in stock and not needed by planned jobs."""
        planned = (job for job in self.jobs.values() if job["product_id"] == product_id)
        bound = sum(job["amount"] for job in planned if job["status"] == "planned")
        return round(self.products[product_id]["stock"] - bound, 1)

    def _years_since(self, field_id: str, crop: str, day: str) -> int | None:
        """Return the years from the last time a crop stood on a field to the harvest of a sowing; None for never."""
        years = [
            entry["year"]
            for entry in self.crop_years.values()
            if entry["field_id"] == field_id and entry["crop"] == crop
        ]
        return self._season(day) - max(years) if years else None

    @staticmethod
    def _season(day: str) -> int:
        """Return the year of the harvest: what is sown from July on is harvested in the next year."""
        return int(day[:4]) + (day[5:7] >= "07")

    def _entry_of(self, field_id: str) -> dict:
        """Return the latest entry in the rotation of a field."""
        entries = [entry for entry in self.crop_years.values() if entry["field_id"] == field_id]
        return max(entries, key=lambda entry: entry["year"])

    def _waits_until(self, field_id: str) -> str:
        """Return the first day on which all waiting periods on a field are over; empty when there are none."""
        sprayed = self._jobs_of(field_id, "spraying", "planned", "done")
        return max((job["safe_from"] for job in sprayed), default="")

    def _ripe_from(self, field_id: str) -> str:
        """Return the first day of harvest: in the year its crop is for, when all waiting periods are over."""
        return max(f"{self._entry_of(field_id)['year']}-01-01", self._waits_until(field_id))

    @staticmethod
    def _pour(silo: dict, crop: str, tonnes: float, moisture: float) -> None:
        """Put so much into a silo and mix the moisture."""
        stored = round(silo["stored"] + tonnes, 2)
        mixed = (silo["stored"] * silo["moisture"] + tonnes * moisture) / stored
        silo.update(crop=crop, stored=stored, moisture=round(mixed, 2))

    def _book(self, field_id: str, kind: str, product: dict | None, machine: str, day: str) -> dict:
        """Write a planned job, with what it needs of its product and when its waiting period is over."""
        spraying = kind == "spraying" and product is not None
        job: Job = {
            "job_id": self._next_id(self.jobs, "JOB"),
            "field_id": field_id,
            "kind": kind,
            "product_id": product["product_id"] if product else None,
            "machine": machine,
            "day": day,
            "amount": round(product["rate"] * self.fields[field_id]["hectares"], 1) if product else 0.0,
            "safe_from": self._later(day, product["waiting_days"]) if spraying else "",
            "status": "planned",
        }
        self.jobs[job["job_id"]] = job
        return dict(job)
'''

    READS = '''
def find_fields(self, name: str) -> dict:
    """Find fields by name.

    Args:
        name: The name or a part of it.

    Returns:
        The matching fields, each with its number of planned `jobs` and, where it was sprayed, the first day of
        harvest as `safe_from`.
    """
    wanted = name.strip().lower()
    matches = []
    for key, field in self.fields.items():
        if wanted and wanted in field["name"].lower():
            jobs = sum(job["field_id"] == key and job["status"] == "planned" for job in self.jobs.values())
            matches.append({**field, "jobs": jobs, "safe_from": self._waits_until(key)})
    return {"success": True, "data": sorted(matches, key=lambda field: field["name"])}

def trace_rotation(self, field_id: str) -> dict:
    """Trace what stood on a field, the latest year first.

    Args:
        field_id: Id of the field, e.g. FLD-001.

    Returns:
        The entries of its rotation, each with the `yield` in tonnes a hectare, or an error.
    """
    need f
    entries = [entry for entry in self.crop_years.values() if entry["field_id"] == field_id]
    entries.sort(key=lambda entry: entry["year"], reverse=True)
    told = [{**entry, "yield": round(entry["tonnes"] / field["hectares"], 2)} for entry in entries]
    return {"success": True, "data": told}

def suggest_crops(self, field_id: str, day: str) -> dict:
    """Suggest crops that the rotation allows on a field, the one that was away longest first.

    Args:
        field_id: Id of the field.
        day: Day of sowing, as YYYY-MM-DD, from today on and within 90 days.

    Returns:
        The crops, each with the id of its seed and the years `since` it stood there (99 for never), or an error.
    """
    refuse if field_id not in self.fields :: There is no field with the id {field_id!r}.
    refuse if not self._is_ahead(day) :: {day!r} is not a date from today on and within 90 days.
    suggested = []
    for product in self.products.values():
        if product["kind"] == "seed":
            years = self._years_since(field_id, product["crop"], day)
            since = 99 if years is None else years
            if since >= self._rest_of(product["crop"]):
                row = {"product_id": product["product_id"], "crop": product["crop"], "since": since}
                suggested.append(row)
    return {"success": True, "data": sorted(suggested, key=lambda row: (-row["since"], row["crop"]))}

def check_harvest(self, field_id: str, machine: str) -> dict:
    """Work out the first day on which a field may be harvested and a machine is free for it.

    Args:
        field_id: Id of the field.
        machine: A machine for the harvest.

    Returns:
        The day the waiting periods are over as `safe_from` (empty when there are none), and the `first_day` from
        tomorrow on, or an error.
    """
    refuse if field_id not in self.fields :: There is no field with the id {field_id!r}.
    refuse if self._work_of(machine) != "harvest" :: {machine!r} is no machine for the harvest.
    safe_from = self._waits_until(field_id)
    day = max(self._later(self.today, 1), self._ripe_from(field_id))
    while self._is_booked(machine, day):
        day = self._later(day, 1)
    return {"success": True, "data": {"safe_from": safe_from, "first_day": day}}

def list_stock(self, name: str = "") -> dict:
    """List seed and sprays, what is scarcest first.

    Args:
        name: Only products whose name contains this. Leave out for all.

    Returns:
        The products, each with what is `free` of its stock for further jobs.
    """
    selected = [
        {**product, "free": self._unbound(key)}
        for key, product in self.products.items()
        if name.strip().lower() in product["name"].lower()
    ]
    return {"success": True, "data": sorted(selected, key=lambda row: row["free"] / row["rate"])}

def list_free_days(self, machine: str, count: int = 5) -> dict:
    """List the next days from tomorrow on for which a machine is not booked.

    Args:
        machine: One of: <<machines|join(", ")>>.
        count: How many days, 1 to 20.

    Returns:
        The `free` days, or an error.
    """
    refuse if self._work_of(machine) is None :: There is no machine {machine!r}.
    refuse if not 1 <= count <= 20 :: The count must be 1 to 20.
    free: list[str] = []
    day = self.today
    while len(free) < count:
        day = self._later(day, 1)
        if not self._is_booked(machine, day):
            free.append(day)
    return {"success": True, "data": {"machine": machine, "free": free}}

def list_jobs(self, field_id: str | None = None, kind: str | None = None, status: str | None = None) -> dict:
    """List jobs in the order of their days.

    Args:
        field_id: Only those on this field. Leave out for all.
        kind: Only sowing, spraying or harvest. Leave out for all.
        status: Only those that are planned, done or cancelled. Leave out for all.

    Returns:
        The jobs, or an error.
    """
    if field_id is not None and field_id not in self.fields:
        refuse :: There is no field with the id {field_id!r}.
    refuse if kind not in (None, "sowing", "spraying", "harvest") :: There is no kind {kind!r}.
    refuse if status not in (None, "planned", "done", "cancelled") :: There is no status {status!r}.
    wanted = {"field_id": field_id, "kind": kind, "status": status}
    asked = {name: value for name, value in wanted.items() if value is not None}
    jobs = [dict(job) for job in self.jobs.values() if asked.items() <= job.items()]
    return {"success": True, "data": sorted(jobs, key=lambda job: (job["day"], job["job_id"]))}

def find_silos(self, name: str) -> dict:
    """Find silos by name.

    Args:
        name: The name or a part of it.

    Returns:
        The matching silos, each with its `room` in tonnes and from which fields loads came in as `sources`.
    """
    wanted, matches = name.strip().lower(), []
    for key, silo in self.silos.items():
        if wanted and wanted in silo["name"].lower():
            fields = {load["field_id"] for load in self.loads.values() if load["silo_id"] == key}
            sources = sorted(self.fields[field]["name"] for field in fields)
            matches.append({**silo, "room": round(silo["capacity"] - silo["stored"], 2), "sources": sources})
    return {"success": True, "data": sorted(matches, key=lambda silo: silo["name"])}

def rank_silos(self, crop: str, tonnes: float) -> dict:
    """Rank the silos that can take so much of a crop.

    Args:
        crop: The crop: <<crops|join(", ")>>.
        tonnes: How much, above 0.

    Returns:
        The silos with enough `room` for it: those that hold this crop already before empty ones, and among them
        the one with the least room first; or an error.
    """
    refuse if crop not in (<<quoted(crops)>>) :: There is no crop {crop!r}.
    refuse if tonnes <= 0 :: The weight has to be above 0.
    able = []
    for silo in self.silos.values():
        room = round(silo["capacity"] - silo["stored"], 2)
        if silo["crop"] in ("", crop) and room >= tonnes:
            able.append({**silo, "room": room})
    able.sort(key=lambda silo: (silo["crop"] == "", silo["room"], silo["silo_id"]))
    return {"success": True, "data": [{"silo_id": row["silo_id"], "room": row["room"]} for row in able]}
'''

    WRITES = '''
<% macro bookable(kind) %>
    refuse if self._work_of(machine) != "<<kind>>" :: {machine!r} is no machine for <<kind>>.
    refuse if not self._is_ahead(day) :: {day!r} is not a date from today on and within 90 days.
    refuse if self._is_booked(machine, day) :: The {machine} is booked for {day} already.
<%- endmacro %>
<% macro enough() %>
    amount = round(product["rate"] * field["hectares"], 1)
    refuse if amount > self._unbound(product_id) :: {amount} {product['unit']} are needed, more than is free.
<%- endmacro %>
<% macro planned() %>
    refuse if job["status"] != "planned" :: Job {job_id} is {job['status']}, not planned.
<%- endmacro %>
def plan_sowing(self, field_id: str, product_id: str, machine: str, day: str) -> dict:
    """Plan to sow a field and book a machine for it.

    Args:
        field_id: Id of the field, which is bare and not to be sown already.
        product_id: Id of the seed, of a crop that the rotation allows there, with enough of it free.
        machine: A machine for sowing.
        day: From today on and within 90 days, as YYYY-MM-DD; the machine is not booked for it.

    Returns:
        The job, or an error.
    """
    need f
    need p
    refuse if product["kind"] != "seed" :: {product['name']} is no seed.
    refuse if field["crop"] :: {field['crop']} stands on {field['name']}.
    refuse if self._jobs_of(field_id, "sowing", "planned") :: {field['name']} is to be sown already.
<<bookable("sowing")>>
    crop = product["crop"]
    years, rest = self._years_since(field_id, crop, day), self._rest_of(crop)
    if years is not None and years < rest:
        refuse :: Only {years} year(s) since {crop} stood there; {rest} are needed.
<<enough()>>
    job = self._book(field_id, "sowing", product, machine, day)
    done job :: {crop} will be sown on {field['name']} on {day}.

def plan_spraying(self, field_id: str, product_id: str, machine: str, day: str) -> dict:
    """Plan to spray a field and book a machine for it.

    Args:
        field_id: Id of the field, on which a crop stands.
        product_id: Id of the spray, approved for that crop, with enough of it free.
        machine: A machine for spraying.
        day: From today on and within 90 days, as YYYY-MM-DD; the waiting period is over before a planned harvest.

    Returns:
        The job with the first day of harvest after it, or an error.
    """
    need f
    need p
    refuse if product["kind"] != "spray" :: {product['name']} is no spray.
    refuse if not field["crop"] :: {field['name']} is bare.
    refuse if product["crop"] not in ("any", field["crop"]) :: {product['name']} is not approved for {field['crop']}.
<<bookable("spraying")>>
    safe_from = self._later(day, product["waiting_days"])
    for harvest in self._jobs_of(field_id, "harvest", "planned"):
        refuse if harvest["day"] < safe_from :: The harvest on {harvest['day']} would be too early after it.
<<enough()>>
    job = self._book(field_id, "spraying", product, machine, day)
    done job :: {field['name']} may be harvested from {safe_from} on.

def plan_harvest(self, field_id: str, machine: str, day: str) -> dict:
    """Plan the harvest of a field and book a machine for it.

    Args:
        field_id: Id of the field, on which a crop stands and no harvest is planned.
        machine: A machine for the harvest.
        day: From today on and within 90 days, as YYYY-MM-DD, in the year that the rotation has for the crop, when
            all waiting periods are over.

    Returns:
        The job, or an error.
    """
    need f
    refuse if not field["crop"] :: {field['name']} is bare.
    refuse if self._jobs_of(field_id, "harvest", "planned") :: The harvest of {field['name']} is planned already.
<<bookable("harvest")>>
    ripe_from = self._ripe_from(field_id)
    refuse if day < ripe_from :: {field['name']} is not harvested before {ripe_from}.
    job = self._book(field_id, "harvest", None, machine, day)
    done job :: {field['name']} will be harvested on {day}.

def move_job(self, job_id: str, day: str) -> dict:
    """Move a planned job to another day on which its machine is free.

    Args:
        job_id: Id of the job, which must be planned.
        day: Another day, from today on and within 90 days, as YYYY-MM-DD, which waiting periods allow.

    Returns:
        The job, or an error.
    """
    need j
<<planned()>>
    machine, field_id, safe_from = job["machine"], job["field_id"], job["safe_from"]
    refuse if not self._is_ahead(day) :: {day!r} is not a date from today on and within 90 days.
    refuse if self._is_booked(machine, day) :: The {machine} is booked for {day} already.
    if job["kind"] == "spraying":
        safe_from = self._later(day, self.products[job["product_id"]]["waiting_days"])
        if any(harvest["day"] < safe_from for harvest in self._jobs_of(field_id, "harvest", "planned")):
            refuse :: A harvest is planned before {safe_from}.
    elif job["kind"] == "harvest" and day < self._ripe_from(field_id):
        refuse :: It is not harvested before {self._ripe_from(field_id)}.
    job.update(day=day, safe_from=safe_from)
    done dict(job) :: Job {job_id} is moved to {day}.

def cancel_job(self, job_id: str) -> dict:
    """Cancel a planned job; its machine, seed and spray are free again.

    Args:
        job_id: Id of the job, which must be planned.

    Returns:
        The job, or an error.
    """
    need j
<<planned()>>
    job["status"] = "cancelled"
    done dict(job) :: Job {job_id} is cancelled.

def finish_job(self, job_id: str) -> dict:
    """Enter that a job was done: what it used leaves the stock, a sown field bears its crop, a harvested one is bare.

    Args:
        job_id: Id of the job, which must be planned for today or a day before; of a harvest, loads came in already.

    Returns:
        The `job` and the `field`, or an error.
    """
    need j
<<planned()>>
    field = self.fields[job["field_id"]]
    refuse if job["day"] > self.today :: Job {job_id} is planned for {job['day']}.
    if job["kind"] == "harvest":
        refuse if not self._entry_of(job["field_id"])["tonnes"] :: Nothing was brought in from {field['name']}.
        field.update(crop="", sown_on="")
    else:
        product = self.products[job["product_id"]]
        product["stock"] = round(product["stock"] - job["amount"], 1)
        if job["kind"] == "sowing":
            field.update(crop=product["crop"], sown_on=job["day"])
            key = self._next_id(self.crop_years, "CRY")
            self.crop_years[key] = {
                "crop_year_id": key,
                "field_id": job["field_id"],
                "crop": product["crop"],
                "year": self._season(job["day"]),
                "tonnes": 0.0,
            }
    job["status"] = "done"
    done {"job": dict(job), "field": dict(field)} :: The {job['kind']} on {field['name']} is done.

def bring_load(self, field_id: str, silo_id: str, tonnes: float, moisture: float) -> dict:
    """Bring in a load from a field that is being harvested; its moisture mixes with that of the silo.

    Args:
        field_id: Id of the field, whose harvest is planned for today or a day before.
        silo_id: Id of the silo, which is empty or holds the same crop and has room for it.
        tonnes: Weight, at least 0.1 and at most 40.
        moisture: Percent, at least 5 and at most <<s.wettest|int>>.

    Returns:
        The `load` and the `silo`, or an error.
    """
    need f
    need o
    due = [job for job in self._jobs_of(field_id, "harvest", "planned") if job["day"] <= self.today]
    refuse if not due :: {field['name']} is not being harvested.
    refuse if not 0.1 <= tonnes <= 40 or not 5 <= moisture <= <<s.wettest|int>> :: Weight or moisture is out of range.
    refuse if silo["crop"] not in ("", field["crop"]) :: There is {silo['crop']} in the {silo['name']}.
    refuse if round(silo["stored"] + tonnes, 2) > silo["capacity"] :: The {silo['name']} has no room for {tonnes} t.
    entry = self._entry_of(field_id)
    load: Load = {
        "load_id": self._next_id(self.loads, "LOD"),
        "field_id": field_id,
        "silo_id": silo_id,
        "tonnes": tonnes,
        "moisture": moisture,
        "brought_on": self.today,
    }
    self.loads[load["load_id"]] = load
    self._pour(silo, field["crop"], tonnes, moisture)
    entry["tonnes"] = round(entry["tonnes"] + tonnes, 2)
    data = {"load": dict(load), "silo": dict(silo), "season": dict(entry)}
    done data :: {tonnes} t of {field['crop']} are in the {silo['name']}.

def move_grain(self, from_silo_id: str, to_silo_id: str, tonnes: float) -> dict:
    """Move grain from one silo to another.

    Args:
        from_silo_id: Id of the silo that is to be emptied or relieved.
        to_silo_id: Id of another silo, which is empty or holds the same crop and has room for it.
        tonnes: How much, at least 0.1 and no more than is stored.

    Returns:
        Both silos after it, or an error.
    """
    source, target = self.silos.get(from_silo_id), self.silos.get(to_silo_id)
    refuse if source is None :: There is no silo with the id {from_silo_id!r}.
    refuse if target is None :: There is no silo with the id {to_silo_id!r}.
    refuse if source is target :: It is the same silo.
    refuse if not 0.1 <= tonnes <= source["stored"] :: There are {source['stored']} t in the {source['name']}.
    refuse if target["crop"] not in ("", source["crop"]) :: There is {target['crop']} in the {target['name']}.
    refuse if round(target["stored"] + tonnes, 2) > target["capacity"] :: The {target['name']} has no room for it.
    self._pour(target, source["crop"], tonnes, source["moisture"])
    source["stored"] = round(source["stored"] - tonnes, 2)
    if not source["stored"]:
        source.update(crop="", moisture=0.0)
    done {"from": dict(source), "to": dict(target)} :: {tonnes} t are in the {target['name']} now.

def dry_silo(self, silo_id: str, moisture: float) -> dict:
    """Dry what is in a silo; the water that goes is lost in weight.

    Args:
        silo_id: Id of the silo, in which something is stored.
        moisture: Percent to dry to, at least 8 and below what it is now.

    Returns:
        The silo, or an error.
    """
    need o
    refuse if not 8 <= moisture < silo["moisture"] :: The moisture of the {silo['name']} is {silo['moisture']} percent.
    kept = (100 - silo["moisture"]) / (100 - moisture)
    silo.update(stored=round(silo["stored"] * kept, 2), moisture=moisture)
    done dict(silo) :: The {silo['name']} is at {moisture} percent, with {silo['stored']} t left.

def restock_product(self, product_id: str, amount: float) -> dict:
    """Add a delivery to the stock of a product.

    Args:
        product_id: Id of the product.
        amount: How much came, in its unit, at least 0.5 and at most 5000.

    Returns:
        The product, or an error.
    """
    need p
    refuse if not 0.5 <= amount <= 5000 :: {amount} is no delivery.
    product["stock"] = round(product["stock"] + amount, 1)
    done dict(product) :: There are {product['stock']} {product['unit']} of {product['name']} now.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        year = int(today[:4])

        def add(word: str, **fields: Any) -> Row:
            noun = Noun(word)
            key = key_of(TABLES[word][0], len(state[noun.ids]) + 1)
            row: Row = {f"{noun.id}_id": key, **fields}
            state[noun.ids][key] = row
            return row

        for crop, rule in s.crops.items():
            stock = round(rule.rate * float(rng.uniform(18, 45)), 1)
            seed = {"name": seed_of(crop), "kind": "seed", "crop": crop, "unit": "kg", "rate": rule.rate}
            add("product", **seed, stock=stock, waiting_days=0)
        for name, spray in s.sprays.items():
            stock = round(spray.rate * float(rng.uniform(25, 50)), 1)
            about = {"name": name, "kind": "spray", "crop": spray.crop, "unit": "litres", "rate": spray.rate}
            add("product", **about, stock=stock, waiting_days=spray.waiting)
        for n, name in enumerate(shuffled(rng, s.fields)[:10]):
            size = round(float(rng.uniform(2.5, 9.5)), 1)
            field = add(
                "field",
                name=name,
                hectares=size,
                soil=pick(rng, ["loam", "clay", "sand"]),
                crop="",
                sown_on="",
            )
            for past in (year - 2, year - 1, year):
                able = [
                    c for c, rule in s.crops.items()
                    if since(state, field["field_id"], c, f"{past}-03-01") >= rule.rest
                ]  # fmt: skip
                crop = pick(rng, able)
                got = (
                    round(size * float(rng.uniform(*s.crops[crop].yields)), 1)
                    if past < year or n >= 6
                    else 0.0
                )
                if n < 9 or past > year - 2:
                    add("crop year", field_id=field["field_id"], crop=crop, year=past, tonnes=got)
            if n < 6:
                field |= {"crop": crop, "sown_on": later(f"{year - 1}-09-05", int(rng.integers(0, 30)))}
        self._jobs(v, state, rng, add)

    def _jobs(self, v: SimpleNamespace, state: State, rng: Rng, add: Any) -> None:
        """Work that was done and is to come; a state has too few fields for two jobs of a kind on one of them."""
        s, today, goal = v.s, state["today"], Sow(v, [])
        plan = [
            ("spraying", -18),
            ("spraying", -9),
            ("spraying", -6),
            ("harvest", -1),
            ("harvest", 0),
            ("spraying", 0),
        ]
        plan += [("spraying", 3), ("harvest", 9)]
        standing = shuffled(rng, [f for f in state["fields"].values() if f["crop"]])
        bare = shuffled(rng, [f for f in state["fields"].values() if not f["crop"]])
        work = [(standing[n % 6], kind, away) for n, (kind, away) in enumerate(plan)]
        work += [(bare[0], "sowing", -1), (bare[1], "sowing", 0), (bare[2], "sowing", 16)]
        work += [(field, "harvest", -12 - 3 * n) for n, field in enumerate(bare)]
        for field, kind, away in work:
            day, machine = later(today, away), goal.machine(kind, rng)
            fits = [
                p
                for p in state["products"].values()
                if p["kind"] == {"sowing": "seed", "spraying": "spray"}.get(kind)
            ]
            if kind == "sowing":
                fits = [
                    p
                    for p in fits
                    if since(state, field["field_id"], p["crop"], day) >= s.crops[p["crop"]].rest
                ]
            fits = [p for p in shuffled(rng, fits) if kind == "sowing" or p["crop"] in ("any", field["crop"])]
            for product in fits if kind != "harvest" else [None]:
                try:
                    job = goal.planned(field, product, kind, machine, day, state)
                except LookupError:
                    continue
                past = (field in bare and kind == "harvest") or (kind == "spraying" and away < 0)
                add("job", **{**job.fields, "status": "done" if past else "planned"})
                break
        add(
            "job", field_id=standing[-1]["field_id"], kind="harvest", product_id=None,
            machine=goal.machine("harvest", rng), day=later(today, -3), amount=0.0, safe_from="", status="cancelled",
        )  # fmt: skip
        cut = [*bare, *standing[3:5]]
        grains = list(dict.fromkeys(grown(state, field)["crop"] for field in shuffled(rng, cut)))[:4]
        for name, crop in zip(shuffled(rng, s.silos)[:6], [*grains, "", "", "", ""], strict=False):
            size, wet = 20.0 * int(rng.integers(5, 12)), round(float(rng.uniform(13, 17.5)), 1)
            stored = round(size * float(rng.uniform(0.2, 0.8)), 1) if crop else 0.0
            add("silo", name=name, capacity=size, crop=crop, stored=stored, moisture=wet if crop else 0.0)
        for n, field in enumerate(cut):
            entry = grown(state, field)
            for silo in [silo for silo in state["silos"].values() if silo["crop"] == entry["crop"]]:
                weight = round(float(rng.uniform(0.3, 0.9)) * (entry["tonnes"] or 15), 1)
                entry["tonnes"] = entry["tonnes"] or weight
                load = {
                    "field_id": field["field_id"],
                    "silo_id": silo["silo_id"],
                    "tonnes": min(weight, 40.0),
                }
                day = later(today, -12 - 3 * n if field in bare else n - 5)
                add("load", **load, moisture=round(float(rng.uniform(13, 17)), 1), brought_on=day)


PATTERN = Fields
