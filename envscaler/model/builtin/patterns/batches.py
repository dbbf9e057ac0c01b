"""Batches: lots of ingredients, recipes that draw on them, and what is made of both, through gates and recalls."""

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
    either,
    found,
    key_of,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]


class Gate(Part):
    """What is measured before a step is over."""

    test: str
    """`dough temperature`"""
    unit: str
    """`degrees`"""
    low: float
    """Least value that passes."""
    high: float
    """Greatest value that passes."""
    loss: float = 0
    """Per cent that is lost on the way to the next step, where the output is no whole number."""


class BatchesSettings(Settings):
    """A maker's words, recipes and gates."""

    recipe: str = "recipe"
    """`mash bill`"""
    batch: str = "batch"
    """`run`"""
    prefix: str = "BAT"
    """Prefix of ids of batches."""
    unit: str
    """What a batch is so many of: `dough`."""
    output: str
    """What comes of it, in the plural: `pieces`."""
    whole: bool = False
    """Whether the output is counted and not measured."""
    keeps: tuple[int, int] | None = None
    """Days that lots keep; none where they do not go off. Lots that go off first are used first."""
    ingredients: dict[str, str]
    """Ingredient → its allergen, or `none`."""
    baking: dict[str, tuple[int, int]] = {}
    """Recipe → degrees and minutes in the oven, where things are baked."""
    declares: bool = False
    """Whether allergens are declared."""
    recipes: dict[str, tuple[int, dict[str, float]]]
    """Recipe → output of a unit, and kilograms of each ingredient for it."""
    steps: dict[str, Gate]
    """Step → gate, in their order; after the last a batch is ready."""
    pace: int = 0
    """Days that a step takes."""
    masters: list[str]
    """Who may let go on what was held."""
    suppliers: list[str]
    """Where ingredients come from."""
    faults: list[str]
    """Why a lot is recalled."""

    def most(self, ingredient: str) -> float:
        """The most that a unit of any recipe takes of an ingredient."""
        return max(amounts.get(ingredient, 0) for _, amounts in self.recipes.values())


def usable(state: State, ingredient: str) -> list[Row]:
    """The lots of an ingredient in the order in which they are used."""
    lots = [
        lot
        for lot in state["lots"].values()
        if (lot["ingredient"], lot["status"]) == (ingredient, "usable")
        and lot["kg"] > 0
        and lot.get("best_before", "9") >= state["today"]
    ]
    return sorted(lots, key=lambda lot: (lot.get("best_before", lot["received_on"]), lot["lot_id"]))


def draws(state: State, amounts: dict[str, float], units: float) -> dict[str, float]:
    """Kilograms by lot that so many units take; raises `LookupError` when there is too little."""
    drawn = {}
    for ingredient, each in amounts.items():
        left = round(each * units, 2)
        for lot in usable(state, ingredient):
            if left > 0:
                drawn[lot["lot_id"]] = min(lot["kg"], left)
                left = round(left - drawn[lot["lot_id"]], 2)
        if left > 0:
            raise LookupError(f"{left} kg of {ingredient} are missing")
    return drawn


def taken(state: State, drawn: dict[str, float], who: str) -> list[Outcome]:
    """The lots have so much less."""
    return [
        Changed(
            "lots",
            key,
            {"kg": round(state["lots"][key]["kg"] - kg, 2)},
            f"Is what {who} takes off lot {key}?",
        )
        for key, kg in drawn.items()
    ]


class BatchGoal(Goal):
    """What goals about recipes and batches share."""

    status: ClassVar[str] = "good"
    """What a batch has to be."""

    def recipe(self, name: str, state: State) -> Row:
        """The recipe of that name."""
        return dict(only([row for row in state[self.v.q.ids].values() if row["name"] == name]))

    def batch(self, slots: Slots, state: State, **wanted: str) -> Row:
        """The batch a sentence names by its recipe, and by what else it is."""
        v, key = self.v, self.recipe(slots["recipe"], state)[f"{self.v.q.id}_id"]
        wanted = {f"{v.q.id}_id": key, "status": self.status, **wanted}
        return dict(only([b for b in state[v.b.ids].values() if all(b[k] == x for k, x in wanted.items())]))

    def some(self, state: State, rng: Rng, ready: bool = False) -> Row | None:
        """A batch of the status with the name of its recipe, ready or in work."""
        v = self.v
        rows = [
            {**row, "recipe": state[v.q.ids][row[f"{v.q.id}_id"]]["name"]}
            for row in state[v.b.ids].values()
            if row["status"] == self.status and (row["step"] == "ready") == ready and row["left"] > 0
        ]
        return pick(rng, rows) if rows else None

    def find(self, slots: Slots, step: str | None = None) -> Row:
        """The call that finds the batch."""
        given = {"step": step} if step else {}
        return call(f"find_{self.v.b.ids}", **{self.v.q.id: slots["recipe"]}, status=self.status, **given)

    @property
    def id(self) -> Row:
        """The batch's id out of the first reply."""
        key = f"{self.v.b.id}_id"
        return {key: found(0, 0, key)}

    def change(self, batch: Row, item: str, **fields: Any) -> Changed:
        """The batch has these values."""
        return Changed(self.v.b.ids, batch[f"{self.v.b.id}_id"], fields, item, (batch[f"{self.v.q.id}_id"],))


class Start(BatchGoal):
    """A new batch, which takes what it needs off the stock."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Please start <<b.a>> of {units:int} <<units>> of {recipe:name} and take the ingredients off the stock.",
        "We are making {recipe:name} today, {units:int} <<units>>, so start the <<b>>.",
    )
    needs = ("find_<<q.ids>>", "start_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"recipe": pick(rng, list(self.v.s.recipes)), "units": int(rng.integers(2, 5))}

    def plan(self, slots: Slots) -> list[Row]:
        v, key = self.v, f"{self.v.q.id}_id"
        units = slots.get("units", found(0, 0, "units_possible"))
        start = call(f"start_{v.b.id}", **{key: found(0, 0, key)}, units=units)
        return [call(f"find_{v.q.ids}", name=slots["recipe"]), start]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, recipe = self.v, self.recipe(slots["recipe"], state)
        units = slots.get("units") or self.most(recipe, state)
        drawn = draws(state, recipe["amounts"], units)
        if not 1 <= units <= 20:
            raise LookupError("it is too much or nothing")
        fields = {
            f"{v.q.id}_id": recipe[f"{v.q.id}_id"],
            "units": units,
            "made_on": state["today"],
            "left": recipe["yields"] * units,
            "step": next(iter(v.s.steps)),
            "drawn": drawn,
            "readings": {},
            "status": "good",
            "note": "",
        }
        item = f"Has {v.b.a} of {units} x {recipe['name']} been started?"
        return [Added(v.b.ids, fields, item), *taken(state, drawn, recipe["name"])]

    def most(self, recipe: Row, state: State) -> int:
        """How many units the stock allows."""
        stock = {name: round(sum(lot["kg"] for lot in usable(state, name)), 2) for name in recipe["amounts"]}
        return min(int(stock[name] / each + 1e-6) for name, each in recipe["amounts"].items())


class StartMost(Start):
    """As much as the stock allows."""

    phrases = (
        "Please start as many <<units>> of {recipe:name} as the stock allows, all in one <<b>>.",
        "Use up what we have for {recipe:name}: start one <<b>> as large as the ingredients permit.",
    )

    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"recipe": pick(rng, list(self.v.s.recipes))}


class Pass(BatchGoal):
    """A reading at the end of a step: the batch goes on, or is held."""

    phrases = (
        "The <<b>> of {recipe:name} that is {step:name} was measured at {reading:number}, so enter the reading "
        "for the <<b>>.",
        "Please enter {reading:number} as the reading of the {step:name} <<b>> of {recipe:name}.",
    )
    needs = ("find_<<b.ids>>", "pass_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        batch = self.some(state, rng)
        if batch is None:
            return None
        gate = self.v.s.steps[batch["step"]]
        span = (gate.low, gate.high) if rng.random() < 0.7 else (gate.high * 1.05, gate.high * 1.2)
        reading = round(float(rng.uniform(*span)), 1)
        return {"recipe": batch["recipe"], "step": batch["step"], "reading": reading}

    def plan(self, slots: Slots) -> list[Row]:
        reading = {"reading": slots["reading"]}
        return [self.find(slots, slots["step"]), call(f"pass_{self.v.b.id}", **self.id, **reading)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, step = self.v, slots["step"]
        if step not in v.s.steps:
            raise LookupError(f"nothing is {step}")
        batch, gate = self.batch(slots, state, step=step), v.s.steps[step]
        fields: Row = {"readings": {**batch["readings"], step: slots["reading"]}}
        if gate.low <= slots["reading"] <= gate.high:
            fields |= self.onward(batch)
            what = f"gone on to {fields['step']}"
        else:
            fields |= {"status": "held", "note": f"{gate.test} {slots['reading']:g} {gate.unit}"}
            what = "been held"
        return [self.change(batch, f"Has the {step} {v.b} of {slots['recipe']} {what}?", **fields)]

    def onward(self, batch: Row) -> Row:
        """What a batch is after its step."""
        names, gate = [*self.v.s.steps, "ready"], self.v.s.steps[batch["step"]]
        left = batch["left"] if self.v.s.whole else round(batch["left"] * (100 - gate.loss) / 100, 1)
        return {"step": names[names.index(batch["step"]) + 1], "left": left}


class Release(Pass):
    """Somebody who may do so lets a held batch go on."""

    status = "held"
    phrases = (
        "{who:name} has looked at the {recipe:name} that is on hold and lets it go on, so release that "
        "<<b>>.",
        "Please release the held <<b>> of {recipe:name}; {who:name} approves it.",
    )
    needs = ("find_<<b.ids>>", "release_<<b.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        batch = self.some(state, rng)
        return batch and {"recipe": batch["recipe"], "who": pick(rng, self.v.s.masters)}

    def plan(self, slots: Slots) -> list[Row]:
        return [self.find(slots), call(f"release_{self.v.b.id}", **self.id, approved_by=slots["who"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        batch = self.batch(slots, state)
        if slots["who"] not in self.v.s.masters:
            raise LookupError(f"{slots['who']} may not")
        item = f"Has the held {self.v.b} of {slots['recipe']} been released?"
        note = f"released by {slots['who']}"
        return [self.change(batch, item, status="good", note=note, **self.onward(batch))]


class Receive(BatchGoal):
    """A new lot."""

    phrases = (
        "{supplier:name} delivered {kg:number} kg of {ingredient:name}<<said>>, please take it into stock.",
        "There is a new lot to enter: {ingredient:name} from {supplier:name}, {kg:number} kg<<said>>.",
    )
    needs = ("receive_lot",)
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v = self.v
        kept = {"keeps": later(state["today"], int(rng.integers(*v.s.keeps)))} if v.s.keeps else {}
        name = pick(rng, list(v.s.ingredients))
        kg = float(int(max(v.s.most(name) * float(rng.uniform(2, 8)), 1)))
        return {"supplier": pick(rng, v.s.suppliers), "ingredient": name, "kg": kg, **kept}

    def plan(self, slots: Slots) -> list[Row]:
        kept = {"best_before": slots["keeps"]} if "keeps" in slots else {}
        return [call("receive_lot", **{k: x for k, x in slots.items() if k != "keeps"}, **kept)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if slots["ingredient"] not in self.v.s.ingredients or slots.get("keeps", "9") <= state["today"]:
            raise LookupError("it is not used here")
        fields = {
            **{name: slots[name] for name in ("ingredient", "supplier", "kg")},
            **({"best_before": slots["keeps"]} if "keeps" in slots else {}),
            **({"allergen": self.v.s.ingredients[slots["ingredient"]]} if self.v.s.declares else {}),
            "received_on": state["today"],
            "status": "usable",
        }
        item = (
            f"Has a lot of {slots['kg']:g} kg of {slots['ingredient']} from {slots['supplier']} been "
            "taken into stock?"
        )
        return [
            Added("lots", fields, item, tuple(row["lot_id"] for row in usable(state, slots["ingredient"])))
        ]


class Recall(BatchGoal):
    """The lot that is used next, and all that was made with it."""

    phrases = (
        "The lot of {ingredient:name} that is next to be used has to be recalled with all that was made "
        'of it: "{reason:text}".',
        "Please recall the {ingredient:name} we would use next, and what is made of that lot; the reason "
        'is "{reason:text}".',
    )
    needs = ("list_lots", "recall_lot")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"ingredient": pick(rng, list(self.v.s.ingredients)), "reason": pick(rng, self.v.s.faults)}

    def plan(self, slots: Slots) -> list[Row]:
        lot = {"lot_id": found(0, 0, "lot_id"), "reason": slots["reason"]}
        return [call("list_lots", ingredient=slots["ingredient"]), call("recall_lot", **lot)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, lots = self.v, usable(state, slots["ingredient"])
        if not lots:
            raise LookupError(f"there is no {slots['ingredient']}")
        key, reason = lots[0]["lot_id"], slots["reason"]
        made = [b for b in state[v.b.ids].values() if key in b["drawn"] and b["status"] != "recalled"]
        item, gone = "Is {} {} recalled with that reason?", {"status": "recalled", "note": reason}
        return [
            Changed("lots", key, {"status": "blocked"}, f"Is the next lot of {slots['ingredient']} blocked?"),
            *(self.change(b, item.format(v.b, b[f"{v.b.id}_id"]), **gone) for b in made),
        ]


class Batches(Pattern):
    """Ingredients, recipes and what is made of them."""

    Settings = BatchesSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (Start, StartMost, Pass, Release, Receive, Recall)

    def vocabulary(self, s: BatchesSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        b, q = Noun(s.batch), Noun(s.recipe)
        shared |= {"batch": b, "recipe": q, "output": Noun(s.output, s.output)}
        steps = [*s.steps, "ready"]
        gates = {
            name: (gate.test, gate.unit, gate.low, gate.high, gate.loss) for name, gate in s.steps.items()
        }
        return {
            "b": b, "q": q, "unit": s.unit, "units": Noun(s.unit).many, "out": s.output, "steps": steps,
            "steplist": either(steps), "gates": gates, "ingredients": list(s.ingredients),
            "ingredientlist": ", ".join(s.ingredients), "masters": either(s.masters),
            "said": ", best before {keeps:date}" if s.keeps else "",
            "use": "best_before" if s.keeps else "received_on",
            "told": " and its `allergens`" if s.declares else "", "first": "go off" if s.keeps else "came",
            "losses": ", ".join(f'"{name}": {gate.loss}' for name, gate in s.steps.items()),
            "statuses": ("good", "held", "recalled"), "releases": [f"released by {name}" for name in s.masters],
        }  # fmt: skip

    def tables(self, v: SimpleNamespace) -> list[Table]:
        def table(noun: Noun, about: str, *fields: tuple[str, str, str]) -> Table:
            return Table(noun, about, [attribute(*field) for field in fields])

        b, q, s = v.b, v.q, v.s
        goes_off = [("best_before", "str", "last day it is used, as YYYY-MM-DD")] if s.keeps else []
        baked = (
            [("degrees", "int", "heat of the oven"), ("minutes", "int", "minutes in it")] if s.baking else []
        )
        allergens = [("allergen", "str", "the allergen in it, or none")] if s.declares else []
        return [
            table(
                Noun("lot"), "A delivery of one ingredient, as far as it is left.",
                ("lot_id", "str", "unique id, e.g. LOT-001"), ("ingredient", "str", "what it is"), *allergens,
                ("supplier", "str", "where it came from"), ("kg", "float", "kilograms left"),
                ("received_on", "str", "date, as YYYY-MM-DD"), *goes_off,
                ("status", "str", "usable or blocked"),
            ),
            table(
                q, f"What one {s.unit} is made of.", (f"{q.id}_id", "str", "unique id, e.g. REC-001"),
                ("name", "str", "name"), ("amounts", "dict", f"kilograms of each ingredient for one {s.unit}"),
                ("yields", "int", f"{s.output} that one {s.unit} gives"), *baked,
            ),
            table(
                b, f"What is made by {q.a} at one time.", (f"{b.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                (f"{q.id}_id", "str", f"the {q}"), ("units", "int", f"number of {v.units}"),
                ("made_on", "str", "date, as YYYY-MM-DD"),
                ("left", "int" if s.whole else "float", f"{s.output} that are still to be worked on"),
                ("step", "str", v.steplist), ("drawn", "dict", "kilograms by the id of the lot they came from"),
                ("readings", "dict", "what was measured, by step"), ("status", "str", "good, held or recalled"),
                ("note", "str", "why it is held or recalled or who released it, otherwise empty"),
            ),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "What <<b.a>> takes is taken off its lots, each of which goes down by just that.",
            """
            old, new = rows(before, "lots"), rows(after, "lots")
            for row in added("<<b.ids>>"):
                drawn = row.get("drawn")
                for key, kg in drawn.items() if isinstance(drawn, dict) else ():
                    if key not in old or key not in new:
                        return False
                    if abs((old[key].get("kg") or 0) - kg - (new[key].get("kg") or 0)) > 0.011:
                        return False
            return all((row.get("kg") or 0) >= 0 for row in new.values())
            """,
        ),
        RuleText(
            "Only <<masters>> is authorised to let a held <<b>> go on.",
            """
            return all(
                new.get("note") in (<<quoted(releases)>>)
                for old, new in changed("<<b.ids>>", "status")
                if (old.get("status"), new.get("status")) == ("held", "good")
            )
            """,
        ),
        RuleText(
            "When a lot is blocked, every <<b>> that was made with it is recalled, and stays so.",
            """
            blocked = {key for key, row in rows(after, "lots").items() if row.get("status") == "blocked"}
            for row in rows(after, "<<b.ids>>").values():
                if blocked & set(row.get("drawn") or {}) and row.get("status") != "recalled":
                    return False
            return all(old.get("status") != "recalled" for old, _ in changed("<<b.ids>>", "status"))
            """,
        ),
        RuleText(
            "<<b.a[:1]|upper>><<b.a[1:]>> goes from one step to the next: <<steps|join(', ')>>.",
            """
            steps = [<<quoted(steps)>>]
            return all(
                (old.get("step"), new.get("step")) in zip(steps, steps[1:])
                for old, new in changed("<<b.ids>>", "step")
            )
            """,
        ),
        RuleText(
            "Nothing is made of a lot that is past its best-before date.",
            """
            lots, today = rows(before, "lots"), str(after.get("today"))
            return all(
                str((lots.get(key) or {}).get("best_before")) >= today
                for row in added("<<b.ids>>")
                for key in (row.get("drawn") or {})
            )
            """,
            when="s.keeps is not none",
        ),
    )

    HELPERS = '''
    def _in_order(self, ingredient: str) -> list[dict]:
        """Return the lots of an ingredient that can be used, in the order in which they are."""
        lots = [
            lot
            for lot in self.lots.values()
            if lot["ingredient"] == ingredient
            and lot["status"] == "usable"
            and lot["kg"] > 0
%% if s.keeps
            and lot["best_before"] >= self.today
%% endif
        ]
        return sorted(lots, key=lambda lot: (lot["<<use>>"], lot["lot_id"]))

    def _take(self, ingredient: str, kg: float) -> tuple[dict[str, float], float]:
        """Work out the kilograms by lot that make up an amount, and what is missing of it."""
        drawn, left = {}, round(kg, 2)
        for lot in self._in_order(ingredient):
            if left > 0:
                drawn[lot["lot_id"]] = min(lot["kg"], left)
                left = round(left - drawn[lot["lot_id"]], 2)
        return drawn, left

    def _go_on(self, <<b.id>>: dict) -> None:
        """Take <<b.a>> to its next step<% if not s.whole %>, at which some is lost<% endif %>."""
        steps = [<<quoted(steps)>>]
%% if not s.whole
        losses = {<<losses>>}
        <<b.id>>["left"] = round(<<b.id>>["left"] * (100 - losses[<<b.id>>["step"]]) / 100, 1)
%% endif
        <<b.id>>["step"] = steps[steps.index(<<b.id>>["step"]) + 1]
'''

    READS = '''
def find_<<q.ids>>(self, name: str) -> dict:
    """Find <<q.many>> by name, with how many <<units>> the stock allows.

    Args:
        name: Name or a part of it; upper and lower case are the same.

    Returns:
        The <<q.many>>, the shortest name first, each with `units_possible`<<told>>.
    """
    refuse if not name.strip() :: The name to look for is empty.
    matches = []
    for entry in self.<<q.ids>>.values():
        if name.strip().lower() not in entry["name"].lower():
            continue
        stock = {each: round(sum(lot["kg"] for lot in self._in_order(each)), 2) for each in entry["amounts"]}
        possible = min(int(stock[each] / kg + 1e-6) for each, kg in entry["amounts"].items())
%% if s.declares
        lots = [lot for lot in self.lots.values() if lot["ingredient"] in entry["amounts"]]
        allergens = sorted({lot["allergen"] for lot in lots} - {"none"})
        matches.append({**deepcopy(entry), "units_possible": possible, "allergens": allergens})
%% else
        matches.append({**deepcopy(entry), "units_possible": possible})
%% endif
    return {"success": True, "data": sorted(matches, key=lambda entry: (len(entry["name"]), entry["name"]))}

def list_lots(self, ingredient: str) -> dict:
    """List the lots of an ingredient that can be used, the one that is used next in front.

    Args:
        ingredient: One of these: <<ingredientlist>>.

    Returns:
        The lots; an empty list when there are none.
    """
    refuse if ingredient not in (<<quoted(ingredients)>>) :: There is no ingredient {ingredient!r}.
    return {"success": True, "data": [dict(lot) for lot in self._in_order(ingredient)]}

def plan_<<b.id>>(self, <<q.id>>_id: str, units: int) -> dict:
    """Work out what <<b.a>> would take of which lots and what is short, without starting it.

    Args:
        <<q.id>>_id: Id of the <<q>>.
        units: Number of <<units>>, 1 to 20.

    Returns:
        Kilograms by lot as `takes`, and by ingredient what is `short`.
    """
    need q
    refuse if not 1 <= units <= 20 :: <<b.a[:1]|upper>><<b.a[1:]>> has 1 to 20 <<units>>, not {units}.
    takes: dict[str, float] = {}
    short: dict[str, float] = {}
    for ingredient, each in <<q.id>>["amounts"].items():
        drawn, missing = self._take(ingredient, each * units)
        takes.update(drawn)
        if missing > 0:
            short[ingredient] = missing
    return {"success": True, "data": {"takes": takes, "short": short}}

def find_<<b.ids>>(self, <<q.id>>: str, status: str | None = None, step: str | None = None) -> dict:
    """Find <<b.many>> by the name of their <<q>>, the latest first.

    Args:
        <<q.id>>: Name of the <<q>> or a part of it; upper and lower case are the same.
        status: Only those that are good, held or recalled. Leave out for all.
        step: Only those at this step: <<steplist>>. Leave out for all.

    Returns:
        The <<b.many>> with the name of the <<q>> as `<<q.id>>_name`; an empty list when there are none.
    """
    refuse if status not in (None, <<quoted(statuses)>>) :: There is no status {status!r}.
    refuse if step not in (None, <<quoted(steps)>>) :: There is no step {step!r}.
    made = []
    for entry in self.<<b.ids>>.values():
        name = self.<<q.ids>>[entry["<<q.id>>_id"]]["name"]
        if <<q.id>>.strip().lower() in name.lower() and status in (None, entry["status"]):
            if step in (None, entry["step"]):
                made.append({**deepcopy(entry), "<<q.id>>_name": name})
    made.sort(key=lambda entry: (entry["made_on"], entry["<<b.id>>_id"]), reverse=True)
    return {"success": True, "data": made}

def trace_lot(self, lot_id: str) -> dict:
    """Follow a lot to all that was made with it.

    Args:
        lot_id: Id of the lot.

    Returns:
        For each <<b>> its name, step and status, and the kilograms it took of the lot, the most first.
    """
    refuse if lot_id not in self.lots :: There is no lot with the id {lot_id!r}.
    made = [
        {
            "<<b.id>>_id": key,
            "name": self.<<q.ids>>[entry["<<q.id>>_id"]]["name"],
            "step": entry["step"],
            "status": entry["status"],
            "took": entry["drawn"][lot_id],
        }
        for key, entry in self.<<b.ids>>.items()
        if lot_id in entry["drawn"]
    ]
    return {"success": True, "data": sorted(made, key=lambda entry: -entry["took"])}

%% if s.declares
def declare_allergens(self, <<b.id>>_id: str) -> dict:
    """Tell which allergens are in <<b.a>>, by the lots that went into it.

    Args:
        <<b.id>>_id: Id of the <<b>>.

    Returns:
        By allergen the ingredients that bring it in; empty when there is none.
    """
    need b
    sources: dict[str, list[str]] = {}
    for lot in (self.lots[key] for key in <<b.id>>["drawn"]):
        if lot["allergen"] != "none" and lot["ingredient"] not in sources.get(lot["allergen"], []):
            sources.setdefault(lot["allergen"], []).append(lot["ingredient"])
    return {"success": True, "data": dict(sorted(sources.items()))}
%% endif
'''

    WRITES = '''
def receive_lot(self, ingredient: str, supplier: str, kg: float<% if s.keeps %>, best_before: str<% endif %>) -> dict:
    """Take a delivery into stock as a lot of its own.

    Args:
        ingredient: One of these: <<ingredientlist>>.
        supplier: Who delivered it.
        kg: Kilograms, above 0.
%% if s.keeps
        best_before: Last day it is used, after today, as YYYY-MM-DD.
%% endif

    Returns:
        The new lot, or an error.
    """
    refuse if ingredient not in (<<quoted(ingredients)>>) :: There is no ingredient {ingredient!r}.
    refuse if not supplier.strip() :: It needs a supplier.
    refuse if kg <= 0 :: The weight has to be above 0, not {kg}.
%% if s.keeps
    if not self._is_date(best_before) or best_before <= self.today:
        refuse :: {best_before!r} is not a day to come, as YYYY-MM-DD.
%% endif
%% if s.declares
    allergens = {
%% for name, allergen in s.ingredients.items()
        "<<name>>": "<<allergen>>",
%% endfor
    }
%% endif
    lot: Lot = {
        "lot_id": self._next_id(self.lots, "LOT"),
        "ingredient": ingredient,
%% if s.declares
        "allergen": allergens[ingredient],
%% endif
        "supplier": supplier.strip(),
        "kg": round(kg, 2),
        "received_on": self.today,
%% if s.keeps
        "best_before": best_before,
%% endif
        "status": "usable",
    }
    self.lots[lot["lot_id"]] = lot
    done dict(lot) :: Lot {lot['lot_id']} is in stock.

def start_<<b.id>>(self, <<q.id>>_id: str, units: int) -> dict:
    """Start <<b.a>> and take what it needs off the stock, from the lots that <<first>> first.

    Args:
        <<q.id>>_id: Id of the <<q>>.
        units: Number of <<units>>, 1 to 20.

    Returns:
        The new <<b>> with the kilograms it took of each lot, or an error when something is short.
    """
    need q
    refuse if not 1 <= units <= 20 :: <<b.a[:1]|upper>><<b.a[1:]>> has 1 to 20 <<units>>, not {units}.
    drawn: dict[str, float] = {}
    for ingredient, each in <<q.id>>["amounts"].items():
        takes, missing = self._take(ingredient, each * units)
        refuse if missing > 0 :: {missing} kg of {ingredient} are missing.
        drawn.update(takes)
    for lot_id, kg in drawn.items():
        self.lots[lot_id]["kg"] = round(self.lots[lot_id]["kg"] - kg, 2)
    <<b.id>>: <<b.type>> = {
        "<<b.id>>_id": self._next_id(self.<<b.ids>>, "<<s.prefix>>"),
        "<<q.id>>_id": <<q.id>>_id,
        "units": units,
        "made_on": self.today,
        "left": <<q.id>>["yields"] * units,
        "step": "<<steps[0]>>",
        "drawn": drawn,
        "readings": {},
        "status": "good",
        "note": "",
    }
    self.<<b.ids>>[<<b.id>>["<<b.id>>_id"]] = <<b.id>>
    done deepcopy(<<b.id>>) :: {units} <<units>> of {<<q.id>>['name']} started.

def pass_<<b.id>>(self, <<b.id>>_id: str, reading: float) -> dict:
    """Enter what was measured at the end of a step: within the limits the <<b>> goes on, else it is held.
%% for name, gate in gates.items()
<% if loop.first %>

<% endif %>
    <<name|capitalize>>: <<gate[0]>>, <<gate[2]>> to <<gate[3]>> <<gate[1]>>
    <%- if gate[4] %>; <<gate[4]>> per cent of the <<out>> are lost<% endif %>.
%% endfor

    Args:
        <<b.id>>_id: Id of the <<b>>, which must be good and not ready.
        reading: What was measured.

    Returns:
        The <<b>>, at its next step or held, or an error.
    """
    need b
    step = <<b.id>>["step"]
    if <<b.id>>["status"] != "good" or step == "ready":
        refuse :: <<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']} and {step}.
    test, unit, low, high = {
%% for name, gate in gates.items()
        "<<name>>": ("<<gate[0]>>", "<<gate[1]>>", <<gate[2]>>, <<gate[3]>>),
%% endfor
    }[step]
    <<b.id>>["readings"][step] = reading
    if low <= reading <= high:
        self._go_on(<<b.id>>)
        done deepcopy(<<b.id>>) :: <<b.cap>> {<<b.id>>_id} is {<<b.id>>['step']} now.
    <<b.id>>.update(status="held", note=f"{test} {reading:g} {unit}")
    done deepcopy(<<b.id>>) :: <<b.cap>> {<<b.id>>_id} is held: {test} is not {low} to {high} {unit}.

def release_<<b.id>>(self, <<b.id>>_id: str, approved_by: str) -> dict:
    """Let a held <<b>> go on to its next step.

    Args:
        <<b.id>>_id: Id of the <<b>>, which must be held.
        approved_by: Who decided it: <<masters>>.

    Returns:
        The <<b>>, which is good again, or an error.
    """
    need b
    refuse if approved_by not in (<<quoted(s.masters)>>) :: {approved_by!r} is not authorised to release anything.
    refuse if <<b.id>>["status"] != "held" :: <<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']}, not held.
    self._go_on(<<b.id>>)
    <<b.id>>.update(status="good", note=f"released by {approved_by}")
    done deepcopy(<<b.id>>) :: <<b.cap>> {<<b.id>>_id} is {<<b.id>>['step']} now.

def recall_lot(self, lot_id: str, reason: str) -> dict:
    """Block a lot, and recall all that was made with it.

    Args:
        lot_id: Id of the lot, which must be usable.
        reason: Why, in a few words.

    Returns:
        The lot and the <<b.many>> that are recalled, or an error.
    """
    lot = self.lots.get(lot_id)
    refuse if lot is None :: There is no lot with the id {lot_id!r}.
    refuse if lot["status"] != "usable" :: Lot {lot_id} is {lot['status']}.
    refuse if not reason.strip() :: A reason is required.
    lot["status"] = "blocked"
    recalled = [
        entry
        for entry in self.<<b.ids>>.values()
        if lot_id in entry["drawn"] and entry["status"] != "recalled"
    ]
    for entry in recalled:
        entry.update(status="recalled", note=reason.strip())
    data = {"lot": dict(lot), "recalled": [deepcopy(entry) for entry in recalled]}
    done data :: Lot {lot_id} is blocked, {len(recalled)} <<b.many>> are recalled.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        for n, (name, (yields, amounts)) in enumerate(s.recipes.items(), 1):
            key, baked = (
                key_of("REC", n),
                dict(zip(("degrees", "minutes"), s.baking.get(name, ()), strict=False)),
            )
            row = {f"{v.q.id}_id": key, "name": name, "amounts": dict(amounts), "yields": yields, **baked}
            state[v.q.ids][key] = row
        for ingredient in [*s.ingredients, *shuffled(rng, list(s.ingredients))]:
            key = key_of("LOT", len(state["lots"]) + 1)
            received = later(today, -int(rng.integers(14, 45)))
            state["lots"][key] = {
                "lot_id": key, "ingredient": ingredient,
                **({"allergen": s.ingredients[ingredient]} if s.declares else {}),
                "supplier": pick(rng, s.suppliers), "kg": round(float(s.most(ingredient) * rng.uniform(3, 9)), 1),
                "received_on": received,
                **({"best_before": later(today, int(rng.integers(s.keeps[0] - 4, s.keeps[1])))} if s.keeps else {}),
                "status": "usable",
            }  # fmt: skip
        names = shuffled(rng, list(state[v.q.ids].values()))
        works = [(step, "good") for step in s.steps] + [
            (list(s.steps)[-1], "held"),
            (next(iter(s.steps)), "held"),
        ]
        ready = [("ready", "good")] * 4
        for n, (step, status) in enumerate([*ready, *works]):
            self._batch(v, state, rng, names[n % len(names)], step, status)
        used = {key for batch in state[v.b.ids].values() for key in batch["drawn"]}
        spoilt = [lot for key, lot in state["lots"].items() if key not in used]
        if spoilt:
            pick(rng, spoilt)["status"] = "blocked"

    def _batch(self, v: SimpleNamespace, state: State, rng: Rng, recipe: Row, step: str, status: str) -> None:
        units, names = int(rng.integers(1, 3)), [*v.s.steps, "ready"]
        key, done = key_of(v.s.prefix, len(state[v.b.ids]) + 1), names.index(step)
        try:
            drawn = draws(state, recipe["amounts"], units)
        except LookupError:
            return
        for lot, kg in drawn.items():
            state["lots"][lot]["kg"] = round(state["lots"][lot]["kg"] - kg, 2)
        left, readings, note = recipe["yields"] * units, {}, ""
        for name in names[:done]:
            gate = v.s.steps[name]
            readings[name] = round(float(rng.uniform(gate.low, gate.high)), 1)
            left = left if v.s.whole else round(left * (100 - gate.loss) / 100, 1)
        if status == "held":
            gate = v.s.steps[step]
            readings[step] = round(gate.high * float(rng.uniform(1.05, 1.2)), 1)
            note = f"{gate.test} {readings[step]:g} {gate.unit}"
        state[v.b.ids][key] = {
            f"{v.b.id}_id": key, f"{v.q.id}_id": recipe[f"{v.q.id}_id"], "units": units,
            "made_on": later(state["today"], -v.s.pace * done - int(rng.integers(0, 2))), "left": left,
            "step": step, "drawn": drawn, "readings": readings, "status": status, "note": note,
        }  # fmt: skip


PATTERN = Batches
