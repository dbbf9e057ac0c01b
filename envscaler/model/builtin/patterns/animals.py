"""Animals: patients of a vet with owner and weight, boosters due by species, doses by weight, and quarantine."""

from types import SimpleNamespace
from typing import Any, ClassVar

from pydantic import model_validator

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
    shuffled,
)
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns._snippets import put
from envscaler.model.builtin.patterns.booking import later, length
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]


class Species(Part):
    """A species the practice treats."""

    names: list[str]
    """Names its animals may have; none is a part of another."""
    weight: tuple[float, float]
    """Least and greatest weight in kg."""
    count: int
    """How many of them there are."""
    suspected: list[str]
    """Why one is quarantined."""


class Vaccine(Part):
    """A vaccine and whom it is for."""

    species: list[str]
    """Who gets it."""
    days: int
    """Days until the next one."""


class Medicine(Part):
    """A liquid medicine that is given by weight."""

    strength: float
    """mg in a ml."""
    dose: dict[str, float]
    """Species → mg a day for each kg; not for other species."""
    stock: int
    """About how many ml are there."""


class AnimalsSettings(Settings):
    """A practice's patients and what is given to them."""

    species: dict[str, Species]
    """Which it treats."""
    vaccines: dict[str, Vaccine]
    """Against what → the vaccine."""
    medicines: dict[str, Medicine]
    """Name → the medicine."""
    early: int = 30
    """A booster is given at most so many days before it is due."""
    fresh: int = 60
    """A weight counts for a dose as long as it is at most so many days old."""
    most_days: int = 14
    """The longest course of a medicine."""
    most_weight: int = 120
    """No patient weighs more kg than this."""

    @model_validator(mode="after")
    def _is_for_known_species(self) -> "AnimalsSettings":
        meant = [one for vaccine in self.vaccines.values() for one in vaccine.species]
        meant += [one for medicine in self.medicines.values() for one in medicine.dose]
        if unknown := set(meant) - set(self.species):
            raise ValueError(f"expected species that are treated, came {', '.join(sorted(unknown))}")
        return self


# What tools do, for the outcomes of goals


def course(animal: Row, medicine: Row, days: int) -> float:
    """The ml of a medicine that an animal of this species and weight takes in so many days."""
    daily = animal["weight"] * medicine["dose"][animal["species"]] / medicine["strength"]
    return round(daily * days, 2)


def dispensed(v: SimpleNamespace, state: State, animal: Row, medicine: Row, days: int) -> tuple[Row, Row]:
    """What changes in the records of animal and medicine; raises `LookupError` when it is not allowed."""
    old = length(animal["weighed_on"], state["today"]) > v.s.fresh
    taking = animal["medication"].get(medicine["name"], "") >= state["today"]
    if old or taking or animal["species"] not in medicine["dose"]:
        raise LookupError(f"{animal['name']} cannot have {medicine['name']}")
    needed = course(animal, medicine, days)
    if not 0 < needed <= medicine["left_ml"]:
        raise LookupError(f"there is not enough {medicine['name']}")
    until = later(state["today"], days - 1)
    left = round(medicine["left_ml"] - needed, 2)
    return {"medication": {**animal["medication"], medicine["name"]: until}}, {"left_ml": left}


def vaccinated(v: SimpleNamespace, state: State, animal: Row, vaccine: Row) -> Row:
    """What changes in the record of an animal; raises `LookupError` when it is not allowed."""
    due = animal["boosters"].get(vaccine["name"], "")
    early = due > later(state["today"], v.s.early)
    if early or animal["status"] != "active" or animal["species"] not in vaccine["species"]:
        raise LookupError(f"{animal['name']} cannot be vaccinated against {vaccine['name']}")
    following = later(state["today"], vaccine["booster_days"])
    return {"boosters": {**animal["boosters"], vaccine["name"]: following}}


# Goals


class Patient(Goal):
    """What goals share: an animal, a vaccine or a medicine by its name."""

    def animal(self, slots: Slots, state: State) -> Row:
        """The animal a sentence names."""
        return named(state, self.v.a, slots["name"])

    def change(self, animal: Row, item: str, **fields: Any) -> Changed:
        """The record of the animal has these values."""
        return Changed("animals", animal["animal_id"], fields, item)

    def weigh(self, state: State, rng: Rng, animal: Row) -> float:
        """A new weight that is not far from the old one."""
        weight = round(animal["weight"] * float(rng.uniform(0.9, 1.12)), 2 if animal["weight"] < 2 else 1)
        if weight == animal["weight"]:
            raise LookupError("it weighs the same")
        return weight


class Weigh(Patient):
    """An animal was on the scales."""

    phrases = (
        "{name:name} was on the scales today and weighs {weight:number} kg, please enter that.",
        "Please enter {weight:number} kg as today's weight of {name:name}.",
    )
    needs = ("find_animals", "weigh_animal")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        animal = any_of(rng, list(state["animals"].values()))
        return {"name": animal["name"], "weight": self.weigh(state, rng, animal)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_animals name", "weigh_animal animal_id<0 weight")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        animal = self.animal(slots, state)
        item = f"Has {slots['name']} been weighed today at {slots['weight']:g} kg?"
        return [self.change(animal, item, weight=slots["weight"], weighed_on=state["today"])]


class Vaccinate(Patient):
    """An animal gets a vaccination."""

    phrases = (
        "{name:name} has been vaccinated against {vaccine:name} just now, please enter it.",
        "Please record today's vaccination of {name:name} against {vaccine:name}.",
    )
    needs = ("find_animals", "list_vaccines", "vaccinate_animal")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for animal in shuffled(rng, list(state["animals"].values())):
            for vaccine in shuffled(rng, list(state["vaccines"].values())):
                due = animal["boosters"].get(vaccine["name"], "")
                if animal["species"] in vaccine["species"] and due <= later(state["today"], self.v.s.early):
                    return {"name": animal["name"], "vaccine": vaccine["name"]}
        return None

    def plan(self, slots: Slots) -> list[Row]:
        look_up = ("find_animals name", "list_vaccines name=vaccine")
        return steps(slots, *look_up, "vaccinate_animal animal_id<0 vaccine_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        animal, vaccine = self.animal(slots, state), named(state, self.v.c, slots["vaccine"])
        item = f"Has {slots['name']} been vaccinated against {slots['vaccine']} today?"
        return [self.change(animal, item, **vaccinated(self.v, state, animal, vaccine))]


class VaccinateOverdue(Patient):
    """The animal of a species whose booster is overdue the longest gets it."""

    phrases = (
        "The {species:name} whose {vaccine:name} booster has been overdue the longest was vaccinated this morning, so "
        "find out which one that is and enter it.",
        "Of all patients of the species {species:name}, the one whose booster against {vaccine:name} has been overdue "
        "the longest is here and gets it now, please record that.",
    )
    needs = ("list_vaccines", "list_due_vaccinations", "vaccinate_animal")

    def overdue(self, slots: Slots, state: State) -> list[Row]:
        """Animals of the species whose booster should have been given before today, the first one first."""
        name, rows = slots["vaccine"], state["animals"].values()
        late = [row for row in rows if "" < row["boosters"].get(name, "") < state["today"]]
        return sorted(
            (row for row in late if row["species"] == slots["species"]), key=lambda row: row["boosters"][name]
        )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for vaccine in shuffled(rng, list(state["vaccines"].values())):
            for species in shuffled(rng, vaccine["species"]):
                slots = {"species": species, "vaccine": vaccine["name"]}
                if len(self.overdue(slots, state)) > 1:
                    return slots
        return None

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "list_vaccines name=vaccine",
            "list_due_vaccinations vaccine_id<0 species",
            "vaccinate_animal animal_id<1 vaccine_id<0",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        name, late = slots["vaccine"], self.overdue(slots, state)
        since = min((row["boosters"][name] for row in late), default="")
        animal = only([row for row in late if row["boosters"][name] == since])
        item = f"Has {animal['name']}, overdue the longest, been vaccinated against {name} today?"
        vaccine = named(state, self.v.c, name)
        return [self.change(animal, item, **vaccinated(self.v, state, animal, vaccine))]


class Dispense(Patient):
    """A medicine is dispensed by the weight on record."""

    phrases = (
        "{name:name} goes home with {medicine:name} for {days:int} days, please dispense it.",
        "Please dispense {medicine:name} for {days:int} days to {name:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_animals", "list_medicines", "dispense_medicine")

    def able(self, state: State, stale: bool) -> list[Row]:
        """The animals whose weight is too old for a dose, or is not."""
        rows = state["animals"].values()
        return [row for row in rows if (length(row["weighed_on"], state["today"]) > self.v.s.fresh) == stale]

    def pair(self, state: State, rng: Rng, stale: bool) -> tuple[Row, Slots]:
        """An animal, and which medicine for how long; raises `LookupError` for none."""
        animal = any_of(rng, self.able(state, stale))
        meant = [row for row in state["medicines"].values() if animal["species"] in row["dose"]]
        medicine = any_of(rng, meant)
        days = int(rng.integers(3, self.v.s.most_days // 2 + 1))
        return animal, {"name": animal["name"], "medicine": medicine["name"], "days": days}

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.pair(state, rng, stale=False)[1]

    def plan(self, slots: Slots) -> list[Row]:
        look_up = ("find_animals name", "list_medicines name=medicine")
        return steps(slots, *look_up, "dispense_medicine animal_id<0 medicine_id<1 days")

    def given(self, slots: Slots, state: State, animal: Row, **also: Any) -> list[Outcome]:
        """The medicine is on the record of the animal and gone from the cupboard."""
        medicine = named(state, self.v.m, slots["medicine"])
        taken, left = dispensed(self.v, state, animal, medicine, slots["days"])
        said = f"{course(animal, medicine, slots['days']):g} ml of {slots['medicine']}"
        weighed = f"been weighed at {animal['weight']:g} kg and " if also else ""
        item = f"Has {slots['name']} {weighed}been given {slots['medicine']} for {slots['days']} days?"
        gone = f"Has the stock fallen by {said} for {slots['name']}?"
        return [
            self.change(animal, item, **also, **taken),
            Changed("medicines", medicine["medicine_id"], left, gone),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.given(slots, state, self.animal(slots, state))


class WeighAndDispense(Dispense):
    """The weight on record is too old, so a new one comes first."""

    phrases = (
        "{name:name} weighs {weight:number} kg today; enter that, and then dispense {medicine:name} for {days:int} "
        "days by the new weight.",
        "Please enter the weight of {name:name}, {weight:number} kg as of today, before you dispense {medicine:name} "
        "for {days:int} days.",
    )
    needs = ("find_animals", "list_medicines", "weigh_animal", "dispense_medicine")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        animal, slots = self.pair(state, rng, stale=True)
        return {**slots, "weight": self.weigh(state, rng, animal)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_animals name",
            "weigh_animal animal_id<0 weight",
            "list_medicines name=medicine",
            "dispense_medicine animal_id<0 medicine_id<2 days",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        new = {"weight": slots["weight"], "weighed_on": state["today"]}
        return self.given(slots, state, {**self.animal(slots, state), **new}, **new)


class RestockLowest(Patient):
    """A delivery for the medicine of which least is left."""

    phrases = (
        "A delivery of {ml:int} ml has come for the medicine of which we have the fewest ml left, please add it to the "
        "stock.",
        "Please look up which medicine has the fewest ml left and add the {ml:int} ml of it that were delivered.",
    )
    needs = ("list_medicines", "restock_medicine")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"ml": 50 * int(rng.integers(2, 9))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_medicines", "restock_medicine medicine_id<0 ml")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = list(state["medicines"].values())
        least = min(row["left_ml"] for row in rows)
        row = only([row for row in rows if row["left_ml"] == least])
        item = f"Has the stock of {row['name']}, which was the lowest, grown by {slots['ml']} ml?"
        left = round(row["left_ml"] + slots["ml"], 2)
        return [Changed("medicines", row["medicine_id"], {"left_ml": left}, item)]


class Quarantine(Patient):
    """An animal may have something others could catch."""

    phrases = (
        'Please put {name:name} in quarantine for {days:int} days, with "{reason:text}" as the reason.',
        '{name:name} has to be quarantined for {days:int} days; the reason is "{reason:text}".',
    )
    needs = ("find_animals", "quarantine_animal")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        animal = any_of(rng, [row for row in state["animals"].values() if row["status"] == "active"])
        reason = any_of(rng, self.v.s.species[animal["species"]].suspected)
        return {"name": animal["name"], "days": int(rng.integers(7, 29)), "reason": reason}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_animals name", "quarantine_animal animal_id<0 reason days")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        animal, until = self.animal(slots, state), later(state["today"], slots["days"])
        if animal["status"] != "active":
            raise LookupError(f"{slots['name']} is quarantined")
        item = f"Is {slots['name']} in quarantine until {until}, with the reason '{slots['reason']}'?"
        fields = {"status": "quarantined", "status_note": slots["reason"], "quarantine_until": until}
        return [self.change(animal, item, **fields)]


QuarantineInOwnWords = in_own_words(
    Quarantine,
    "reason",
    "Please put {name:name} in quarantine for {days:int} days and word the reason as you like.",
    "{name:name} has to be quarantined for {days:int} days, with a reason in your own words.",
)


class Release(Patient):
    """A quarantine has ended well."""

    phrases = (
        "{name:name} has come through quarantine in good health, so please release the animal.",
        "Please release {name:name} from quarantine, for the time is up.",
    )
    needs = ("find_animals", "release_animal")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        kept = [row for row in state["animals"].values() if row["status"] == "quarantined"]
        over = [row["name"] for row in kept if row["quarantine_until"] <= state["today"]]
        return {"name": any_of(rng, over)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_animals name", "release_animal animal_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        animal = self.animal(slots, state)
        if animal["status"] != "quarantined" or animal["quarantine_until"] > state["today"]:
            raise LookupError(f"{slots['name']} cannot be released")
        fields = {"status": "active", "status_note": "", "quarantine_until": ""}
        return [self.change(animal, f"Is {slots['name']} out of quarantine?", **fields)]


class Register(Patient):
    """A new patient."""

    phrases = (
        "{owner:name}, phone {phone:token}, brings us a new patient, a {species:name} called {name:name} that weighs "
        "{weight:number} kg, so please register it.",
        "Please register a {species:name} called {name:name}, weight {weight:number} kg, that belongs to {owner:name}, "
        "phone {phone:token}.",
    )
    needs = ("register_animal",)
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        species = any_of(rng, list(self.v.s.species))
        taken = {row["name"] for row in state["animals"].values()}
        owners = frozenset(row["owner"] for row in state["animals"].values())
        low, high = self.v.s.species[species].weight
        return {
            "name": any_of(rng, [one for one in self.v.s.species[species].names if one not in taken]),
            "species": species,
            "owner": names.people(rng, 1, owners)[0],
            "phone": names.phone(rng),
            "weight": round(float(rng.uniform(low, high)), 2 if high < 2 else 1),
        }

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "register_animal name species owner phone weight")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if any(row["name"] == slots["name"] for row in state["animals"].values()):
            raise LookupError(f"there is a {slots['name']} already")
        item = f"Has the {slots['species']} {slots['name']} of {slots['owner']} been registered as told?"
        fields = {**slots, "weighed_on": state["today"], "boosters": {}, "medication": {}, "status": "active"}
        return [Added("animals", {**fields, "status_note": "", "quarantine_until": ""}, item)]


class ChangePhone(Patient):
    """An owner has a new number."""

    phrases = (
        "The owner of {name:name} can now be reached at {phone:token}, so change the phone number for all animals of "
        "that owner.",
        "Please look up whom {name:name} belongs to and change the phone number of that owner to {phone:token}.",
    )
    needs = ("find_animals", "change_owner_phone")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        animal = any_of(rng, list(state["animals"].values()))
        return {"name": animal["name"], "phone": names.phone(rng)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_animals name", "change_owner_phone owner<0 phone")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        owner = self.animal(slots, state)["owner"]
        rows = [row for row in state["animals"].values() if row["owner"] == owner]
        if any(row["phone"] == slots["phone"] for row in rows):
            raise LookupError("that is the number on record")
        item = "Has the phone number of the owner of {} been changed to {}?"
        return [
            self.change(row, item.format(row["name"], slots["phone"]), phone=slots["phone"]) for row in rows
        ]


class Animals(Pattern):
    """Patients of a vet: owners, weights, boosters, medicines by weight and quarantine.

    One of its rules also speaks of new `visits`, the table of appointments in the same world.
    """

    Settings = AnimalsSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Weigh, Vaccinate, VaccinateOverdue, Dispense, WeighAndDispense, RestockLowest, Quarantine,
        QuarantineInOwnWords, Release, Register, ChangePhone,
    )  # fmt: skip

    def vocabulary(self, s: AnimalsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        a = Noun("animal")
        shared.update({"animal": a})
        kinds = list(s.species)
        return {"a": a, "c": Noun("vaccine"), "m": Noun("medicine"), "kinds": kinds, "listed": either(kinds)}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(v.a, "A patient.", f"""animal_id: str = unique id, e.g. ANI-001
                name: str = what it is called, unique
                species: str = {v.listed}
                owner: str = full name of the owner
                phone: str = telephone number of the owner
                weight: float = last weight in kg
                weighed_on: str = date of that weight, as YYYY-MM-DD
                boosters: dict[str, str] = name of each vaccine it has had and the date the next one is due
                medication: dict[str, str] = name of each medicine it was given and the last day it takes it
                status: str = active or quarantined
                status_note: str = why it is quarantined, otherwise empty
                quarantine_until: str = date from which it may be released, otherwise empty"""),
            form(v.c, "A vaccine.", """vaccine_id: str = unique id, e.g. VAC-001
                name: str = the illness it is against, unique
                species: list[str] = the species it is meant for
                booster_days: int = days after which the next one is due"""),
            form(v.m, "A liquid medicine that is given by weight.", """medicine_id: str = unique id, e.g. MED-001
                name: str = name, unique
                strength: float = mg in one ml
                dose: dict[str, float] = each species it is meant for and its mg a day for one kg of weight
                left_ml: float = ml in the cupboard"""),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "Vaccines and medicines are given only to animals of the species they are meant for.",
            """
            meant = {}
            for table, kinds in (("vaccines", "species"), ("medicines", "dose")):
                for row in rows(after, table).values():
                    meant[str(row.get("name"))] = row.get(kinds) or []
            for field in ("boosters", "medication"):
                for old, new in changed("animals", field):
                    had, has = old.get(field) or {}, new.get(field) or {}
                    given = [name for name in has if has[name] != had.get(name)]
                    if any(new.get("species") not in meant.get(name, []) for name in given):
                        return False
            return True
            """,
            rank=0,
        ),
        RuleText(
            "A medicine is dispensed by a weight at most <<s.fresh>> days old: the ml that leave the cupboard are kg "
            "times the mg a day for the species, divided by the strength, times the days.",
            """
            from datetime import date

            medicines, today = rows(before, "medicines"), date.fromisoformat(before["today"])
            for old, new in changed("animals", "medication"):
                had, has = old.get("medication") or {}, new.get("medication") or {}
                for key, row in medicines.items():
                    name = row.get("name")
                    if name not in has or has[name] == had.get(name):
                        continue
                    try:
                        days = (date.fromisoformat(has[name]) - today).days + 1
                        age = (today - date.fromisoformat(old["weighed_on"])).days
                        needed = old["weight"] * row["dose"][old["species"]] / row["strength"] * days
                        gone = row["left_ml"] - rows(after, "medicines")[key]["left_ml"]
                    except (KeyError, TypeError, ValueError):
                        return False
                    if age > <<s.fresh>> or abs(gone - needed) > 0.02:
                        return False
            return True
            """,
            rank=0,
        ),
        RuleText(
            "A quarantined animal is not vaccinated and gets no new visit; it is not released before the date its "
            "quarantine ends.",
            """
            shut = {key for key, row in rows(before, "animals").items() if row.get("status") == "quarantined"}
            if any(old.get("animal_id") in shut for old, new in changed("animals", "boosters")):
                return False
            if any(row.get("animal_id") in shut for row in added("visits")):
                return False
            ended = [old for old, new in changed("animals", "status") if new.get("status") == "active"]
            return all(str(old.get("quarantine_until")) <= before["today"] for old in ended)
            """,
            rank=0,
        ),
        RuleText(
            "All animals of one owner have the same phone number on record.",
            """
            pairs = {(str(row.get("owner")), str(row.get("phone"))) for row in rows(after, "animals").values()}
            return len(pairs) == len({owner for owner, phone in pairs})
            """,
            rank=3,
        ),
    )

    HELPERS = '''
    def _in_days(self, days: int) -> str:
        """Return the date so many days after today."""
        return (date.fromisoformat(self.today) + timedelta(days=days)).isoformat()
'''

    READS = '''
def find_animals(self, name: str) -> dict:
    """Find animals by name.

    Args:
        name: Name or a part of it; upper and lower case are the same.

    Returns:
        The matching animals with owner, weight, boosters and medication, sorted by name.
    """
    wanted = name.strip().lower()
    refuse if not wanted :: The name to look for is empty.
    matches = [dict(animal) for animal in self.animals.values() if wanted in animal["name"].lower()]
    return {"success": True, "data": sorted(matches, key=lambda animal: animal["name"])}

def list_animals(self, species: str | None = None, status: str | None = None, owner: str | None = None) -> dict:
    """List the animals the practice treats, optionally narrowed down.

    Args:
        species: Only those of this species: <<listed>>. Leave out for all.
        status: Only those that are active or quarantined. Leave out for all.
        owner: Only those of the owner with this full name. Leave out for all.

    Returns:
        The animals sorted by id.
    """
    refuse if species not in (None, <<quoted(kinds)>>) :: The practice treats no {species!r}.
    refuse if status not in (None, "active", "quarantined") :: There is no status {status!r}.
    selected = [
        dict(animal)
        for animal in self.animals.values()
        if species in (None, animal["species"])
        and status in (None, animal["status"])
        and (owner is None or owner.strip().lower() == animal["owner"].lower())
    ]
    return {"success": True, "data": sorted(selected, key=lambda animal: animal["animal_id"])}

def list_vaccines(self, species: str | None = None, name: str | None = None) -> dict:
    """List the vaccines with the species they are meant for and the days until the next one.

    Args:
        species: Only those meant for this species: <<listed>>. Leave out for all.
        name: Only those whose name contains this; upper and lower case are the same. Leave out for all.

    Returns:
        The vaccines sorted by name; one that is called exactly as asked comes first.
    """
    refuse if species not in (None, <<quoted(kinds)>>) :: The practice treats no {species!r}.
    wanted = (name or "").strip().lower()
    selected = [
        dict(vaccine)
        for vaccine in self.vaccines.values()
        if wanted in vaccine["name"].lower() and (species is None or species in vaccine["species"])
    ]
    selected.sort(key=lambda vaccine: (vaccine["name"].lower() != wanted, vaccine["name"]))
    return {"success": True, "data": selected}

def list_due_vaccinations(self, vaccine_id: str | None = None, species: str | None = None) -> dict:
    """List which animals need which vaccination, by the vaccines meant for their species.

    Args:
        vaccine_id: Only those with this vaccine. Leave out for all.
        species: Only those of animals of this species: <<listed>>. Leave out for all.

    Returns:
        Animal, vaccine and `due_on` of what was due before today or can be given now, i.e. is due within <<s.early>>
        days; what is overdue the longest comes first, and animals that never had the vaccine (`due_on` is None) last.
        Quarantined animals are listed too.
    """
    refuse if vaccine_id is not None and vaccine_id not in self.vaccines :: There is no vaccine {vaccine_id!r}.
    refuse if species not in (None, <<quoted(kinds)>>) :: The practice treats no {species!r}.
    due = []
    for animal in self.animals.values():
        for key, vaccine in self.vaccines.items():
            if vaccine_id not in (None, key) or species not in (None, animal["species"]):
                continue
            due_on = animal["boosters"].get(vaccine["name"])
            if animal["species"] in vaccine["species"] and (due_on is None or due_on <= self._in_days(<<s.early>>)):
                due.append(
                    {
                        "animal_id": animal["animal_id"],
                        "name": animal["name"],
                        "vaccine_id": key,
                        "vaccine": vaccine["name"],
                        "due_on": due_on,
                        "status": animal["status"],
                    }
                )
    due.sort(key=lambda entry: (entry["due_on"] is None, entry["due_on"] or "", entry["animal_id"]))
    return {"success": True, "data": due}

def list_medicines(self, species: str | None = None, name: str | None = None) -> dict:
    """List the medicines with strength, dose for each species they are meant for, and stock.

    Args:
        species: Only those meant for this species: <<listed>>. Leave out for all.
        name: Only those whose name contains this; upper and lower case are the same. Leave out for all.

    Returns:
        The medicines, those of which the fewest ml are left first.
    """
    refuse if species not in (None, <<quoted(kinds)>>) :: The practice treats no {species!r}.
    wanted = (name or "").strip().lower()
    selected = [
        dict(medicine)
        for medicine in self.medicines.values()
        if wanted in medicine["name"].lower() and (species is None or species in medicine["dose"])
    ]
    selected.sort(key=lambda medicine: (medicine["left_ml"], medicine["medicine_id"]))
    return {"success": True, "data": selected}
'''

    WRITES = '''
def register_animal(self, name: str, species: str, owner: str, phone: str, weight: float) -> dict:
    """Register a new patient, which counts as weighed today and has had no vaccination yet.

    Args:
        name: What it is called; no other animal on record may have the name.
        species: <<listed>>.
        owner: Full name of the owner.
        phone: Telephone number of the owner; where other animals of the owner are on record, the one given there.
        weight: Weight in kg, 0.01 to <<s.most_weight>>.

    Returns:
        The new animal, or an error.
    """
    name, owner, phone = name.strip(), owner.strip(), phone.strip()
    refuse if not name or not owner or not phone :: A name, the owner and a phone number are required.
    refuse if species not in (<<quoted(kinds)>>) :: The practice treats no {species!r}.
    refuse if not 0.01 <= weight <= <<s.most_weight>> :: A weight is 0.01 to <<s.most_weight>> kg, not {weight}.
    for other in self.animals.values():
        refuse if other["name"].lower() == name.lower() :: There is an animal called {name} already.
        if other["owner"].lower() == owner.lower():
            refuse if other["phone"] != phone :: {owner} is on record with the phone number {other['phone']}.
    animal: Animal = {
        "animal_id": self._next_id(self.animals, "ANI"),
        "name": name,
        "species": species,
        "owner": owner,
        "phone": phone,
        "weight": round(weight, 2),
        "weighed_on": self.today,
        "boosters": {},
        "medication": {},
        "status": "active",
        "status_note": "",
        "quarantine_until": "",
    }
    self.animals[animal["animal_id"]] = animal
    done dict(animal) :: {name} is registered.

def change_owner_phone(self, owner: str, phone: str) -> dict:
    """Change the phone number of an owner, in the records of all animals of that owner.

    Args:
        owner: Full name of the owner.
        phone: New telephone number.

    Returns:
        The changed animals, or an error.
    """
    refuse if not phone.strip() :: The phone number is empty.
    owned = [animal for animal in self.animals.values() if animal["owner"].lower() == owner.strip().lower()]
    refuse if not owned :: No animal on record belongs to {owner!r}.
    for animal in owned:
        animal["phone"] = phone.strip()
    done [dict(animal) for animal in owned] :: The phone number of {owned[0]['owner']} is now {phone.strip()}.

def weigh_animal(self, animal_id: str, weight: float) -> dict:
    """Enter what an animal weighs today.

    Args:
        animal_id: Id of the animal.
        weight: Weight in kg, 0.01 to <<s.most_weight>>.

    Returns:
        The changed animal, or an error.
    """
    need a
    refuse if not 0.01 <= weight <= <<s.most_weight>> :: A weight is 0.01 to <<s.most_weight>> kg, not {weight}.
    animal["weight"] = round(weight, 2)
    animal["weighed_on"] = self.today
    done dict(animal) :: {animal['name']} weighs {animal['weight']} kg.

def vaccinate_animal(self, animal_id: str, vaccine_id: str) -> dict:
    """Record that an animal is vaccinated today; the date of the next one is worked out.

    Args:
        animal_id: Id of the animal, which must not be quarantined.
        vaccine_id: Id of a vaccine that is meant for its species, and that it never had or that is due by
            <<s.early>> days from now.

    Returns:
        The changed animal, or an error.
    """
    need a
    need c
    if animal["species"] not in vaccine["species"]:
        kind, meant = animal["species"], ", ".join(vaccine["species"])
        refuse :: The vaccine against {vaccine['name']} is not for a {kind}; it is for: {meant}.
    refuse if animal["status"] != "active" :: {animal['name']} is {animal['status']}: {animal['status_note']}.
    due_on = animal["boosters"].get(vaccine["name"], "")
    refuse if due_on > self._in_days(<<s.early>>) :: {animal['name']} is not due for that before {due_on}.
    animal["boosters"] = {**animal["boosters"], vaccine["name"]: self._in_days(vaccine["booster_days"])}
    done dict(animal) :: {animal['name']} is vaccinated against {vaccine['name']}.

def dispense_medicine(self, animal_id: str, medicine_id: str, days: int) -> dict:
    """Dispense a medicine to an animal from today on, quarantined or not; the amount is worked out by its weight.

    The ml are the weight in kg times the dose for the species, divided by the strength, times the days; they are
    rounded to 0.01 ml, and less than that is not dispensed.

    Args:
        animal_id: Id of the animal, which was weighed in the last <<s.fresh>> days and does not take it now.
        medicine_id: Id of a medicine that is meant for its species and of which enough is left.
        days: For how many days, 1 to <<s.most_days>>, today being the first.

    Returns:
        The changed animal with the `ml` that were dispensed, or an error.
    """
    need a
    need m
    if animal["species"] not in medicine["dose"]:
        kind, meant = animal["species"], ", ".join(medicine["dose"])
        refuse :: {medicine['name']} is not for a {kind}; it is for: {meant}.
    refuse if not 1 <= days <= <<s.most_days>> :: A medicine is dispensed for 1 to <<s.most_days>> days, not {days}.
    if animal["weighed_on"] < self._in_days(-<<s.fresh>>):
        refuse :: Weigh {animal['name']} first; the last weight is of {animal['weighed_on']}.
    until = animal["medication"].get(medicine["name"], "")
    refuse if until >= self.today :: {animal['name']} takes {medicine['name']} until {until} already.
    daily = animal["weight"] * medicine["dose"][animal["species"]] / medicine["strength"]
    ml = round(daily * days, 2)
    refuse if not ml :: That comes to less than 0.01 ml of {medicine['name']}.
    refuse if ml > medicine["left_ml"] :: It takes {ml} ml, and only {medicine['left_ml']} ml are left.
    medicine["left_ml"] = round(medicine["left_ml"] - ml, 2)
    animal["medication"] = {**animal["medication"], medicine["name"]: self._in_days(days - 1)}
    done {**animal, "ml": ml} :: {ml} ml of {medicine['name']} dispensed to {animal['name']}.

def restock_medicine(self, medicine_id: str, ml: float) -> dict:
    """Add a delivery to the stock of a medicine.

    Args:
        medicine_id: Id of the medicine.
        ml: How many ml were delivered, 0.01 to 5000.

    Returns:
        The changed medicine, or an error.
    """
    need m
    refuse if not 0.01 <= ml <= 5000 :: A delivery is 0.01 to 5000 ml, not {ml}.
    medicine["left_ml"] = round(medicine["left_ml"] + ml, 2)
    done dict(medicine) :: There are {medicine['left_ml']} ml of {medicine['name']} now.

def quarantine_animal(self, animal_id: str, reason: str, days: int) -> dict:
    """Put an animal in quarantine: no vaccinations and no new visits; what is booked already stays.

    Args:
        animal_id: Id of the animal, which must be active.
        reason: What it may have, in a few words; kept in the record.
        days: Days from today until it may be released, 1 to 180.

    Returns:
        The changed animal, or an error.
    """
    need a
    refuse if not reason.strip() :: A reason is required.
    refuse if not 1 <= days <= 180 :: A quarantine lasts 1 to 180 days, not {days}.
    refuse if animal["status"] == "quarantined" :: {animal['name']} is quarantined already.
    animal["status"] = "quarantined"
    animal["status_note"] = reason.strip()
    animal["quarantine_until"] = self._in_days(days)
    done dict(animal) :: {animal['name']} is quarantined until {animal['quarantine_until']}.

def release_animal(self, animal_id: str) -> dict:
    """Release an animal from quarantine.

    Args:
        animal_id: Id of an animal that is quarantined, until today or an earlier date.

    Returns:
        The animal, active again, or an error.
    """
    need a
    refuse if animal["status"] != "quarantined" :: {animal['name']} is not quarantined.
    until = animal["quarantine_until"]
    refuse if until > self.today :: {animal['name']} stays in quarantine until {until}.
    animal["status"] = "active"
    animal["status_note"] = ""
    animal["quarantine_until"] = ""
    done dict(animal) :: {animal['name']} is active again.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        for name, vaccine in v.s.vaccines.items():
            put(state, v.c, "VAC", name=name, species=vaccine.species, booster_days=vaccine.days)
        for name, medicine in v.s.medicines.items():
            left = round(medicine.stock * float(rng.uniform(0.6, 1.4)), 1)
            fields = {"strength": medicine.strength, "dose": medicine.dose, "left_ml": left}
            put(state, v.m, "MED", name=name, **fields)
        self._patients(v, state, rng)
        self._quarantines(v, state, rng)

    def _patients(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        kinds = shuffled(rng, [kind for kind, species in v.s.species.items() for _ in range(species.count)])
        called = {kind: shuffled(rng, species.names) for kind, species in v.s.species.items()}
        owners = [(name, names.phone(rng)) for name in names.people(rng, len(kinds) - 2)]
        for n, kind in enumerate(kinds):
            owner, phone = owners[n % len(owners)]
            low, high = v.s.species[kind].weight
            since = rng.integers(v.s.fresh + 10, 300) if n % 3 == 0 else rng.integers(1, v.s.fresh - 5)
            state["animals"][key_of("ANI", n + 1)] = {
                "animal_id": key_of("ANI", n + 1),
                "name": called[kind].pop(),
                "species": kind,
                "owner": owner,
                "phone": phone,
                "weight": round(float(rng.uniform(low, high)), 2 if high < 2 else 1),
                "weighed_on": later(state["today"], -int(since)),
                "boosters": self._boosters(v, state, rng, kind),
                "medication": self._medication(v, state, rng, kind, int(since)),
                "status": "active",
                "status_note": "",
                "quarantine_until": "",
            }

    def _boosters(self, v: SimpleNamespace, state: State, rng: Rng, kind: str) -> dict[str, str]:
        """When what an animal had of the vaccines for its species is due again: some of it is overdue."""
        due = {}
        for name, vaccine in v.s.vaccines.items():
            if kind in vaccine.species and rng.random() < 0.88:
                ahead = rng.integers(-80, 0) if rng.random() < 0.45 else rng.integers(1, vaccine.days - 20)
                due[name] = later(state["today"], int(ahead))
        return due

    def _medication(
        self, v: SimpleNamespace, state: State, rng: Rng, kind: str, since: int
    ) -> dict[str, str]:
        """At most one medicine for the species, begun when the weight of so many days ago was fresh."""
        meant = [name for name, medicine in v.s.medicines.items() if kind in medicine.dose]
        if rng.random() < 0.5 or not meant:
            return {}
        begun = -since + int(rng.integers(min(since, v.s.fresh) + 1))
        return {any_of(rng, meant): later(state["today"], begun + int(rng.integers(3, 8)))}

    def _quarantines(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        for row, days in zip(shuffled(rng, list(state["animals"].values())), (0, -2, 9), strict=False):
            row["status"] = "quarantined"
            row["status_note"] = any_of(rng, v.s.species[row["species"]].suspected)
            row["quarantine_until"] = later(state["today"], days)


PATTERN = Animals
