"""Ovens: loads that are baked to the minute, and the sourdough starters that are fed from the flour in stock."""

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
    either,
    found,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns.appointments import clock, minutes
from envscaler.model.builtin.patterns.batches import draws, taken
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]
NEAR = 10
"""Degrees by which an oven may be off."""
OVEN, LOAD, STARTER = Noun("oven"), Noun("load"), Noun("starter")


class OvensSettings(Settings):
    """A bakery's ovens and starters; what is baked comes from the batches of an earlier part."""

    ovens: dict[str, int]
    """Oven → pieces it takes."""
    starters: dict[str, str]
    """Name of a starter → the flour it is fed with."""
    places: dict[str, int]
    """Where starters stand → days after which they have to be fed there."""
    fresh: list[str]
    """Names for new starters."""


class OvenGoal(Goal):
    """What goals about ovens and starters share."""

    def baking(self, oven: Row, state: State) -> Row | None:
        """The load in an oven."""
        loads = state["loads"].values()
        rows = [row for row in loads if (row["oven_id"], row["status"]) == (oven["oven_id"], "baking")]
        return rows[0] if rows else None

    def recipe_of(self, batch: str, state: State) -> Row:
        """What a batch is made by."""
        return dict(state[self.v.q.ids][state[self.v.b.ids][batch][f"{self.v.q.id}_id"]])

    def oven(self, state: State, rng: Rng, full: bool) -> Row | None:
        """An oven with or without a load."""
        rows = [row for row in state["ovens"].values() if bool(self.baking(row, state)) == full]
        return pick(rng, rows) if rows else None

    def ready(self, slots: Slots, state: State) -> Row:
        """The batch that is ready of a recipe."""
        v = self.v
        wanted = (named(state, v.q, slots["recipe"])[f"{v.q.id}_id"], "good", "ready")
        rows = state[v.b.ids].values()
        return dict(only([b for b in rows if (b[f"{v.q.id}_id"], b["status"], b["step"]) == wanted]))

    def some_ready(self, state: State, rng: Rng) -> str | None:
        """The name of the recipe of a batch that can be baked."""
        rows = [
            row
            for row in state[self.v.b.ids].values()
            if (row["status"], row["step"]) == ("good", "ready") and row["left"] > 0
        ]
        return str(self.recipe_of(pick(rng, rows)[f"{self.v.b.id}_id"], state)["name"]) if rows else None

    def find_ready(self, slots: Slots) -> Row:
        """The call that finds it."""
        return call(f"find_{self.v.b.ids}", **{self.v.q.id: slots["recipe"]}, status="good", step="ready")

    def loaded(self, batch: Row, oven: str, at: str, name: str, also: tuple[str, ...]) -> list[Outcome]:
        """All that is left of a batch is in an oven."""
        key = f"{self.v.b.id}_id"
        fields = {
            key: batch[key],
            "oven_id": oven,
            "pieces": batch["left"],
            "loaded_at": at,
            "out_at": "",
            "spoilt": 0,
            "status": "baking",
        }
        item = f"Has a load of {batch['left']} pieces of {name} gone into the right oven at {at}?"
        done = f"Is nothing of the ready {name} left to be baked?"
        return [Added("loads", fields, item, also), Changed(self.v.b.ids, batch[key], {"left": 0}, done)]

    def find(self, slots: Slots, name: str = "oven") -> Row:
        """The call that finds an oven."""
        return call("find_oven", name=slots[name])

    def stand(self, slots: Slots) -> Row:
        """The call that finds a starter."""
        return call("find_starter", name=slots["starter"])


class Load(OvenGoal):
    """All that is left of a batch into the smallest oven that suits."""

    phrases = (
        "The whole batch of {recipe:name} that is ready goes at {at:time} into the smallest free oven "
        "that takes it "
        "and has the right heat.",
        "Please load all that is left of the ready batch of {recipe:name} at {at:time}, into whichever "
        "suitable oven "
        "is the smallest.",
    )
    needs = ("find_<<b.ids>>", "list_suitable_ovens", "load_oven")
    weight = 1.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        recipe, at = self.some_ready(state, rng), clock(minutes("05:30") + int(rng.integers(0, 90)))
        return {"recipe": recipe, "at": at} if recipe else None

    def plan(self, slots: Slots) -> list[Row]:
        key = f"{self.v.b.id}_id"
        batch = {key: found(0, 0, key)}
        into = {"oven_id": found(1, 0, "oven_id"), "pieces": found(0, 0, "left"), "at": slots["at"]}
        look = [self.find_ready(slots), call("list_suitable_ovens", **batch)]
        return [*look, call("load_oven", **batch, **into)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        batch, degrees = self.ready(slots, state), named(state, self.v.q, slots["recipe"])["degrees"]
        empty = {key: row for key, row in state["ovens"].items() if not self.baking(row, state)}
        fits = [
            (oven["pieces"], key)
            for key, oven in empty.items()
            if oven["pieces"] >= batch["left"] > 0 and abs(oven["degrees"] - degrees) <= NEAR
        ]
        if not fits or [size for size, _ in fits].count(min(fits)[0]) > 1:
            raise LookupError("no oven is the smallest")
        return self.loaded(batch, min(fits)[1], slots["at"], slots["recipe"], tuple(empty))


class Unload(OvenGoal):
    """A load comes out, some of it spoilt."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The {oven:name} was emptied at {at:time}, and {spoilt:int} pieces were no good.",
        "Please take out what is in the {oven:name} at {at:time}; {spoilt:int} pieces of it are spoilt.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_oven", "unload_oven")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        oven = self.oven(state, rng, full=True)
        load = self.baking(oven, state) if oven else None
        if not oven or not load:
            return None
        long = self.recipe_of(load[f"{self.v.b.id}_id"], state)["minutes"] + int(rng.integers(0, 9))
        at = clock(minutes(load["loaded_at"]) + long)
        return {"oven": oven["name"], "at": at, "spoilt": int(rng.integers(1, min(load["pieces"], 6)))}

    def plan(self, slots: Slots) -> list[Row]:
        out = {"at": slots["at"], "spoilt": slots["spoilt"]}
        return [self.find(slots), call("unload_oven", oven_id=found(0, "oven_id"), **out)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        oven = named(state, OVEN, slots["oven"])
        load = self.baking(oven, state)
        if not load or slots["spoilt"] > load["pieces"]:
            raise LookupError("it cannot come out")
        least = self.recipe_of(load[f"{self.v.b.id}_id"], state)["minutes"]
        if minutes(slots["at"]) - minutes(load["loaded_at"]) < least:
            raise LookupError("it is not baked yet")
        fields = {"status": "baked", "out_at": slots["at"], "spoilt": slots["spoilt"]}
        item = f"Has the load of the {slots['oven']} come out at {slots['at']} with {slots['spoilt']} spoilt?"
        return [Changed("loads", load["load_id"], fields, item, (oven["oven_id"],))]


class Turnaround(Unload):
    """A load comes out, and what needs another heat goes in."""

    phrases = (
        "When the {oven:name} is emptied at {at:time}, with {spoilt:int} pieces spoilt, heat it as the "
        "recipe for "
        "{recipe:name} says and put the whole ready batch in at {then:time}.",
        "Take the load out of the {oven:name} at {at:time} ({spoilt:int} pieces were no good), set the "
        "heat that the "
        "recipe for {recipe:name} asks for, and load the whole ready batch at {then:time}.",
    )
    needs = ("find_oven", "unload_oven", "find_<<b.ids>>", "find_<<q.ids>>", "heat_oven", "load_oven")
    weight = 1.2

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, recipe = super().draw(state, rng), self.some_ready(state, rng)
        if not slots or not recipe:
            return None
        return {**slots, "recipe": recipe, "then": clock(minutes(slots["at"]) + int(rng.integers(10, 40)))}

    def plan(self, slots: Slots) -> list[Row]:
        key, oven = f"{self.v.b.id}_id", {"oven_id": found(0, "oven_id")}
        load = {key: found(2, 0, key), **oven, "pieces": found(2, 0, "left"), "at": slots["then"]}
        return [
            *super().plan(slots),
            self.find_ready(slots),
            call(f"find_{self.v.q.ids}", name=slots["recipe"]),
            call("heat_oven", **oven, degrees=found(3, 0, "degrees")),
            call("load_oven", **load),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        oven, batch = named(state, OVEN, slots["oven"]), self.ready(slots, state)
        heat = {"degrees": named(state, self.v.q, slots["recipe"])["degrees"]}
        if heat["degrees"] == oven["degrees"] or not oven["pieces"] >= batch["left"] > 0:
            raise LookupError("it is no use")
        hot = f"Has the {slots['oven']} the heat for the {slots['recipe']}?"
        return [
            *super().outcome(slots, state),
            Changed("ovens", oven["oven_id"], heat, hot),
            *self.loaded(batch, oven["oven_id"], slots["then"], slots["recipe"], ()),
        ]


class Rescue(OvenGoal):
    """An oven fails, and its load is finished in another one."""

    phrases = (
        "The {oven:name} has failed: get its load over into the {other:name} and switch the broken one off.",
        "Please move what is in the {oven:name}, which has broken down, to the {other:name}.",
    )
    needs = ("find_oven", "rescue_load")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        oven, other = self.oven(state, rng, full=True), self.oven(state, rng, full=False)
        return oven and other and {"oven": oven["name"], "other": other["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"oven_id": found(0, "oven_id"), "to_oven_id": found(1, "oven_id")}
        return [self.find(slots), self.find(slots, "other"), call("rescue_load", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        oven, other = named(state, OVEN, slots["oven"]), named(state, OVEN, slots["other"])
        load = self.baking(oven, state)
        if not load or self.baking(other, state) or other["pieces"] < load["pieces"]:
            raise LookupError("it cannot go there")
        item = f"Is the load of the {slots['oven']} in the {slots['other']} now?"
        off, on = {"degrees": 0}, {"degrees": oven["degrees"]}
        outcomes: list[Outcome] = [
            Changed("loads", load["load_id"], {"oven_id": other["oven_id"]}, item, (oven["oven_id"],)),
            Changed("ovens", oven["oven_id"], off, f"Is the {slots['oven']} switched off?"),
        ]
        if on["degrees"] != other["degrees"]:
            hot = f"Has the {slots['other']} the heat of the {slots['oven']}?"
            outcomes.append(Changed("ovens", other["oven_id"], on, hot))
        return outcomes


class Heat(OvenGoal):
    """Another heat for an empty oven."""

    phrases = (
        "Heat the {oven:name} to {degrees:int} degrees.",
        "Please set the empty {oven:name} to {degrees:int} degrees for the next load.",
    )
    needs = ("find_oven", "heat_oven")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        oven = self.oven(state, rng, full=False)
        return oven and {"oven": oven["name"], "degrees": 150 + 5 * int(rng.integers(0, 25))}

    def plan(self, slots: Slots) -> list[Row]:
        return [self.find(slots), call("heat_oven", oven_id=found(0, "oven_id"), degrees=slots["degrees"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        oven = named(state, OVEN, slots["oven"])
        if self.baking(oven, state) or oven["degrees"] == slots["degrees"]:
            raise LookupError("it stays as it is")
        item = f"Has the {slots['oven']} been set to {slots['degrees']} degrees?"
        return [Changed("ovens", oven["oven_id"], {"degrees": slots["degrees"]}, item)]


class Feed(OvenGoal):
    """A starter gets flour out of the stock, and as much water."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Feed the starter {starter:name} with {grams:int} grams of its flour out of the stock.",
        "Please record a feed for the starter called {starter:name}: {grams:int} grams of flour.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_starter", "feed_starter")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        starter = pick(rng, list(state["starters"].values()))
        return {"starter": starter["name"], "grams": 50 * int(rng.integers(2, 25))}

    def plan(self, slots: Slots) -> list[Row]:
        given = {"starter_id": found(0, "starter_id"), "weight": slots["grams"]}
        return [self.stand(slots), call("feed_starter", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.fed(named(state, STARTER, slots["starter"]), slots["grams"], state)

    def fed(self, starter: Row, grams: int, state: State) -> list[Outcome]:
        """The starter is fed, and the flour is off the stock."""
        drawn = draws(state, {starter["flour"]: grams / 1000}, 1)
        if starter["fed_on"] == state["today"] or not 10 <= grams <= 5000 or grams % 10:
            raise LookupError("it is fed")
        fields = {"grams": starter["grams"] + 2 * grams, "fed_on": state["today"]}
        item = f"Has {starter['name']} been fed with {grams} grams of flour today?"
        return [
            Changed("starters", starter["starter_id"], fields, item),
            *taken(state, drawn, starter["name"]),
        ]


class FeedHungriest(Feed):
    """The starter that has been waiting longest."""

    phrases = (
        "Find the starter that is overdue most and feed it with {grams:int} grams of flour.",
        "Whichever starter is the hungriest gets {grams:int} grams of flour now.",
    )
    needs = ("list_hungry_starters", "feed_starter")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"grams": 50 * int(rng.integers(2, 25))}

    def plan(self, slots: Slots) -> list[Row]:
        given = {"starter_id": found(0, 0, "starter_id"), "weight": slots["grams"]}
        return [call("list_hungry_starters"), call("feed_starter", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        due = {
            key: later(row["fed_on"], self.v.s.places[row["place"]]) for key, row in state["starters"].items()
        }
        first = only([key for key, day in due.items() if day == min(due.values()) and day < state["today"]])
        return self.fed(state["starters"][first], slots["grams"], state)


class Shelve(OvenGoal):
    """A starter stands somewhere else."""

    phrases = (
        "Move the starter {starter:name} to the {place:name}.",
        "Please put {starter:name}, the starter, on the {place:name}.",
    )
    needs = ("find_starter", "move_starter")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        starter = pick(rng, list(state["starters"].values()))
        return {"starter": starter["name"], "place": pick(rng, list(self.v.s.places))}

    def plan(self, slots: Slots) -> list[Row]:
        given = {"starter_id": found(0, "starter_id"), "place": slots["place"]}
        return [self.stand(slots), call("move_starter", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        starter, place = named(state, STARTER, slots["starter"]), slots["place"]
        if starter["place"] == place or place not in self.v.s.places:
            raise LookupError("it stands there")
        item = f"Has {slots['starter']} been moved to the {place}?"
        return [Changed("starters", starter["starter_id"], {"place": place}, item)]


class Divide(OvenGoal):
    """A piece of a starter becomes one of its own."""

    phrases = (
        "Take {grams:int} grams off the starter {starter:name} and keep them as a starter of their own, "
        "named {fresh:name}.",
        "Please divide {starter:name}: {grams:int} grams become a new starter with the name {fresh:name}.",
    )
    needs = ("find_starter", "divide_starter")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        starter = pick(rng, list(state["starters"].values()))
        grams = 50 * int(rng.integers(1, max(starter["grams"] // 100, 2)))
        return {"starter": starter["name"], "grams": grams, "fresh": pick(rng, self.v.s.fresh)}

    def plan(self, slots: Slots) -> list[Row]:
        given = {
            "starter_id": found(0, "starter_id"),
            "part_grams": slots["grams"],
            "new_name": slots["fresh"],
        }
        return [self.stand(slots), call("divide_starter", **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        starter, grams = named(state, STARTER, slots["starter"]), slots["grams"]
        if (
            any(row["name"] == slots["fresh"] for row in state["starters"].values())
            or grams * 2 > starter["grams"]
        ):
            raise LookupError("it cannot be divided so")
        kept = {name: starter[name] for name in ("flour", "place", "fed_on")}
        left = f"Has {slots['starter']} {grams} grams less?"
        item = f"Has a starter {slots['fresh']} of {grams} grams been made of {slots['starter']}?"
        return [
            Changed("starters", starter["starter_id"], {"grams": starter["grams"] - grams}, left),
            Added("starters", {**kept, "name": slots["fresh"], "grams": grams}, item, (slots["fresh"],)),
        ]


class Ovens(Pattern):
    """Ovens and starters of a bakery."""

    Settings = OvensSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (Load, Unload, Turnaround, Rescue, Heat, Feed, FeedHungriest, Shelve, Divide)

    def vocabulary(self, s: OvensSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        return {
            "b": shared["batch"], "q": shared["recipe"], "o": OVEN, "near": NEAR,
            "places": ", ".join(f'"{place}": {days}' for place, days in s.places.items()),
            "placelist": either(list(s.places)), "st": STARTER,
        }  # fmt: skip

    def tables(self, v: SimpleNamespace) -> list[Table]:
        def table(noun: Noun, about: str, *fields: tuple[str, str, str]) -> Table:
            return Table(noun, about, [attribute(*field) for field in fields])

        return [
            table(
                OVEN, "An oven.", ("oven_id", "str", "unique id, e.g. OVN-001"),
                ("name", "str", "what it is called"),
                ("pieces", "int", "pieces it takes at a time"),
                ("degrees", "int", "heat it is set to, 0 when it is off"),
            ),
            table(
                LOAD, "What went into an oven together.", ("load_id", "str", "unique id, e.g. LOD-001"),
                (f"{v.b.id}_id", "str", f"the {v.b} it is of"), ("oven_id", "str", "the oven"),
                ("pieces", "int", "pieces that went in"), ("loaded_at", "str", "time, as HH:MM"),
                ("out_at", "str", "when it came out, as HH:MM, empty before"),
                ("spoilt", "int", "pieces that were no good"), ("status", "str", "baking or baked"),
            ),
            table(
                STARTER, "A sourdough starter that is kept alive.", ("starter_id", "str", "unique id, e.g. STR-001"),
                ("name", "str", "what it is called"), ("flour", "str", "the flour it is fed with"),
                ("grams", "int", "its weight"), ("place", "str", v.placelist),
                ("fed_on", "str", "when it was fed last, as YYYY-MM-DD"),
            ),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "An oven bakes one load at a time, of no more pieces than it takes.",
            """
            ovens, loads = rows(after, "ovens"), rows(after, "loads").values()
            busy = [str(row.get("oven_id")) for row in loads if row.get("status") == "baking"]
            return len(busy) == len(set(busy)) and all(
                (row.get("pieces") or 0) <= ((ovens.get(str(row.get("oven_id"))) or {}).get("pieces") or 0)
                for row in loads
            )
            """,
        ),
        RuleText(
            "A load does not come out earlier than the minutes of its <<q>> say.",
            """
            def clock(text):
                hours, _, minutes = str(text).partition(":")
                return int(hours) * 60 + int(minutes) if hours.isdigit() and minutes.isdigit() else 0

            batches, recipes = rows(after, "<<b.ids>>"), rows(after, "<<q.ids>>")
            for row in rows(after, "loads").values():
                batch = batches.get(str(row.get("<<b.id>>_id"))) or {}
                least = (recipes.get(str(batch.get("<<q.id>>_id"))) or {}).get("minutes") or 0
                if row.get("status") == "baked" and clock(row.get("out_at")) - clock(row.get("loaded_at")) < least:
                    return False
            return True
            """,
        ),
        RuleText(
            "A load has a time at which it came out exactly when it is baked.",
            """
            return all(
                (row.get("status") == "baked") == bool(row.get("out_at")) for row in rows(after, "loads").values()
            )
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _minutes(clock: str) -> int | None:
        """Return the minutes since midnight of a time as HH:MM, None when it is none."""
        parts = clock.split(":")
        if [len(part) for part in parts] != [2, 2] or not all(part.isdigit() for part in parts):
            return None
        hours, minutes = map(int, parts)
        return 60 * hours + minutes if hours < 24 and minutes < 60 else None

    def _load_in(self, oven_id: str) -> dict | None:
        """Return what is baking in an oven, None when it is empty."""
        for load in self.loads.values():
            if load["oven_id"] == oven_id and load["status"] == "baking":
                return load
        return None

    def _recipe_of(self, <<b.id>>_id: str) -> dict:
        """Return the <<q>> of <<b.a>>."""
        return self.<<q.ids>>[self.<<b.ids>>[<<b.id>>_id]["<<q.id>>_id"]]

    def _overdue(self, starter: dict) -> int:
        """Return by how many days a starter has gone without food too long, below 0 when it is not due yet."""
        patience = {<<places>>}[starter["place"]]
        return (date.fromisoformat(self.today) - date.fromisoformat(starter["fed_on"])).days - patience
'''

    READS = '''
def find_oven(self, name: str) -> dict:
    """Find an oven by its name, with what is baking in it.

    Args:
        name: What it is called; upper and lower case are the same.

    Returns:
        The oven with its `load` (None when it is empty) and when that is `done_at`, or an error.
    """
    for oven in self.ovens.values():
        if oven["name"].lower() == name.strip().lower():
            load, done = self._load_in(oven["oven_id"]), ""
            if load is not None:
                end = self._minutes(load["loaded_at"]) + self._recipe_of(load["<<b.id>>_id"])["minutes"]
                done = f"{end // 60 % 24:02d}:{end % 60:02d}"
            return {"success": True, "data": {**oven, "load": load and dict(load), "done_at": done}}
    refuse :: There is no oven called {name!r}.

def list_suitable_ovens(self, <<b.id>>_id: str) -> dict:
    """List the empty ovens that take all that is left of <<b.a>> and are within <<near>> degrees of its heat.

    Args:
        <<b.id>>_id: Id of the <<b>>.

    Returns:
        The ovens, the smallest first, each with the degrees it is `off`.
    """
    need b
    wanted = self._recipe_of(<<b.id>>_id)["degrees"]
    suitable = [
        {**oven, "off": oven["degrees"] - wanted}
        for key, oven in self.ovens.items()
        if self._load_in(key) is None
        and oven["pieces"] >= <<b.id>>["left"]
        and abs(oven["degrees"] - wanted) <= <<near>>
    ]
    return {"success": True, "data": sorted(suitable, key=lambda oven: (oven["pieces"], abs(oven["off"])))}

def list_due_loads(self, at: str) -> dict:
    """List what has to come out of the ovens, the most overdue first.

    Args:
        at: Time of day, as HH:MM.

    Returns:
        The oven, what is in it, and the minutes it is `over`.
    """
    now = self._minutes(at)
    refuse if now is None :: {at!r} is not a time as HH:MM.
    due = []
    for load in self.loads.values():
        recipe = self._recipe_of(load["<<b.id>>_id"])
        over = now - self._minutes(load["loaded_at"]) - recipe["minutes"]
        if load["status"] == "baking" and over >= 0:
            oven = self.ovens[load["oven_id"]]["name"]
            due.append({"oven": oven, "name": recipe["name"], "pieces": load["pieces"], "over": over})
    return {"success": True, "data": sorted(due, key=lambda row: -row["over"])}

def count_baked(self) -> dict:
    """Count what came out of the ovens, by <<q>>, and how much of it was spoilt.

    Returns:
        By name of the <<q>> the good pieces, the spoilt ones and these in per cent.
    """
    counts: dict[str, dict] = {}
    for load in self.loads.values():
        if load["status"] == "baked":
            name = self._recipe_of(load["<<b.id>>_id"])["name"]
            entry = counts.setdefault(name, {"good": 0, "spoilt": 0})
            entry["good"] += load["pieces"] - load["spoilt"]
            entry["spoilt"] += load["spoilt"]
    for entry in counts.values():
        entry["per_cent"] = round(100 * entry["spoilt"] / max(entry["good"] + entry["spoilt"], 1), 1)
    return {"success": True, "data": dict(sorted(counts.items()))}

def find_starter(self, name: str) -> dict:
    """Find a starter by its name, with the days by which its food is overdue.

    Args:
        name: What it is called; upper and lower case are the same.

    Returns:
        The starter, `overdue` below 0 when it is not hungry yet, or an error.
    """
    called = name.strip().lower()
    starter = next((row for row in self.starters.values() if row["name"].lower() == called), None)
    refuse if starter is None :: There is no starter called {name!r}.
    return {"success": True, "data": {**starter, "overdue": self._overdue(starter)}}

def list_hungry_starters(self) -> dict:
    """List the starters that should have been fed before today, the hungriest first.

    Returns:
        The starters, each with the days it is `overdue`.
    """
    hungry = [{**row, "overdue": self._overdue(row)} for row in self.starters.values()]
    hungry = [row for row in hungry if row["overdue"] > 0]
    return {"success": True, "data": sorted(hungry, key=lambda row: (-row["overdue"], row["name"]))}
'''

    WRITES = '''
def heat_oven(self, oven_id: str, degrees: int) -> dict:
    """Set the heat of an empty oven.

    Args:
        oven_id: Id of the oven, which is empty.
        degrees: The heat, 120 to 300.

    Returns:
        The oven, or an error.
    """
    need o
    refuse if self._load_in(oven_id) is not None :: Something is baking in the {oven['name']}.
    refuse if not 120 <= degrees <= 300 :: The heat is 120 to 300 degrees, not {degrees}.
    refuse if degrees == oven["degrees"] :: The {oven['name']} has {degrees} degrees.
    oven["degrees"] = degrees
    done dict(oven) :: The {oven['name']} is set to {degrees} degrees.

def load_oven(self, <<b.id>>_id: str, oven_id: str, pieces: int, at: str) -> dict:
    """Put pieces of <<b.a>> into an empty oven.

    Args:
        <<b.id>>_id: Id of the <<b>>, which must be good, and ready.
        oven_id: Id of the oven, within <<near>> degrees of the heat that the <<q>> says.
        pieces: How many, at least 1, no more than are left and than the oven takes.
        at: Time of day, as HH:MM; it has to be done before midnight.

    Returns:
        The load, or an error.
    """
    need b
    need o
    if (<<b.id>>["status"], <<b.id>>["step"]) != ("good", "ready"):
        refuse :: <<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']} and {<<b.id>>['step']}.
    refuse if self._minutes(at) is None :: {at!r} is not a time as HH:MM.
    refuse if self._load_in(oven_id) is not None :: Something is baking in the {oven['name']}.
    recipe = self._recipe_of(<<b.id>>_id)
    refuse if self._minutes(at) + recipe["minutes"] >= 1440 :: It would not be done before midnight.
    wanted = recipe["degrees"]
    refuse if abs(oven["degrees"] - wanted) > <<near>> :: It needs {wanted} degrees, not {oven['degrees']}.
    most = min(<<b.id>>["left"], oven["pieces"])
    refuse if not 1 <= pieces <= most :: At most {most} pieces can go in, not {pieces}.
    <<b.id>>["left"] -= pieces
    load: Load = {
        "load_id": self._next_id(self.loads, "LOD"),
        "<<b.id>>_id": <<b.id>>_id,
        "oven_id": oven_id,
        "pieces": pieces,
        "loaded_at": at,
        "out_at": "",
        "spoilt": 0,
        "status": "baking",
    }
    self.loads[load["load_id"]] = load
    done dict(load) :: {pieces} pieces are in the {oven['name']}.

def unload_oven(self, oven_id: str, at: str, spoilt: int = 0) -> dict:
    """Take a load that is baked out of its oven.

    Args:
        oven_id: Id of the oven, in which something is baking.
        at: Time of day, as HH:MM, when the minutes of the <<q>> have passed.
        spoilt: Pieces that are no good, at least 0 and no more than went in.

    Returns:
        The load, or an error.
    """
    need o
    load = self._load_in(oven_id)
    refuse if load is None :: Nothing is baking in the {oven['name']}.
    refuse if self._minutes(at) is None :: {at!r} is not a time as HH:MM.
    passed = self._minutes(at) - self._minutes(load["loaded_at"])
    least = self._recipe_of(load["<<b.id>>_id"])["minutes"]
    refuse if passed < least :: It needs {least} minutes, and {passed} have passed.
    refuse if not 0 <= spoilt <= load["pieces"] :: {load['pieces']} pieces went in, {spoilt} cannot be spoilt.
    load.update(status="baked", out_at=at, spoilt=spoilt)
    done dict(load) :: {load['pieces'] - spoilt} good pieces came out of the {oven['name']}.

def rescue_load(self, oven_id: str, to_oven_id: str) -> dict:
    """Get a load out of an oven that fails into an empty one, which takes over its heat; the first is switched off.

    Args:
        oven_id: Id of the oven that fails, in which something is baking.
        to_oven_id: Id of an empty oven that takes as many pieces.

    Returns:
        The load and both ovens, or an error.
    """
    need o
    other = self.ovens.get(to_oven_id)
    refuse if other is None :: There is no oven with the id {to_oven_id!r}.
    load = self._load_in(oven_id)
    refuse if load is None :: Nothing is baking in the {oven['name']}.
    if self._load_in(to_oven_id) is not None or other["pieces"] < load["pieces"]:
        refuse :: The {other['name']} is not empty, or is too small for {load['pieces']} pieces.
    load["oven_id"] = to_oven_id
    other["degrees"], oven["degrees"] = oven["degrees"], 0
    data = {"load": dict(load), "ovens": [dict(oven), dict(other)]}
    done data :: The load is in the {other['name']} now.

def feed_starter(self, starter_id: str, weight: int) -> dict:
    """Feed a starter with flour out of the stock and as much water.

    Args:
        starter_id: Id of the starter, which was not fed today.
        weight: Grams of its flour, 10 to 5000, in steps of 10.

    Returns:
        The starter and the kilograms of flour by lot, or an error when there is too little.
    """
    need st
    if not 10 <= weight <= 5000 or weight % 10:
        refuse :: A feed is 10 to 5000 grams of flour in steps of 10, not {weight}.
    refuse if starter["fed_on"] == self.today :: {starter['name']} was fed today.
    drawn, missing = self._take(starter["flour"], weight / 1000)
    refuse if missing > 0 :: {missing} kg of {starter['flour']} are missing.
    for lot_id, kg in drawn.items():
        self.lots[lot_id]["kg"] = round(self.lots[lot_id]["kg"] - kg, 2)
    starter["grams"] += 2 * weight
    starter["fed_on"] = self.today
    done {**starter, "flour_from": drawn} :: {starter['name']} weighs {starter['grams']} grams now.

def move_starter(self, starter_id: str, place: str) -> dict:
    """Put a starter somewhere else, where it gets hungry faster or more slowly.

    Args:
        starter_id: Id of the starter.
        place: Where to: <<placelist>>.

    Returns:
        The starter, or an error.
    """
    need st
    refuse if place not in (<<quoted(s.places)>>) :: There is no place {place!r} for starters.
    refuse if place == starter["place"] :: {starter['name']} stands there already.
    starter["place"] = place
    done dict(starter) :: {starter['name']} stands on the {place}.

def divide_starter(self, starter_id: str, part_grams: int, new_name: str) -> dict:
    """Take up to a half of a starter and keep it as another one, at the same place.

    Args:
        starter_id: Id of the starter.
        part_grams: How much to take, at least 1 and no more than half of it.
        new_name: What the new one is called; no other starter has that name.

    Returns:
        The old starter and the new one, or an error.
    """
    need st
    refuse if not 1 <= part_grams <= starter["grams"] // 2 :: {starter['name']} weighs {starter['grams']} grams.
    called = {row["name"].lower() for row in self.starters.values()}
    refuse if not new_name.strip() or new_name.strip().lower() in called :: {new_name!r} is no new name.
    starter["grams"] -= part_grams
    new: Starter = {
        **starter,
        "starter_id": self._next_id(self.starters, "STR"),
        "name": new_name.strip(),
        "grams": part_grams,
    }
    self.starters[new["starter_id"]] = new
    done {"old": dict(starter), "new": dict(new)} :: {new['name']} weighs {part_grams} grams.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today, key = v.s, state["today"], f"{v.b.id}_id"
        heats = [row["degrees"] for row in state[v.q.ids].values()]
        for n, (name, pieces) in enumerate(s.ovens.items(), 1):
            state["ovens"][key_of("OVN", n)] = {
                "oven_id": key_of("OVN", n), "name": name, "pieces": pieces, "degrees": pick(rng, heats),
            }  # fmt: skip
        ready = [row for row in state[v.b.ids].values() if (row["step"], row["status"]) == ("ready", "good")]
        hot = shuffled(rng, list(state["ovens"].values()))
        for n, batch in enumerate([*ready[:2], *ready]):
            oven, recipe = hot[n % len(hot)], state[v.q.ids][batch[f"{v.q.id}_id"]]
            pieces, baked = min(oven["pieces"], batch["left"] // 3), n < 2
            if not baked and n > 3:
                oven["degrees"] = recipe["degrees"]
                continue
            at = minutes("03:00" if baked else "05:00") + int(rng.integers(0, 50))
            oven["degrees"] = recipe["degrees"]
            out = clock(at + recipe["minutes"] + int(rng.integers(0, 9))) if baked else ""
            batch["left"] -= pieces
            number = key_of("LOD", len(state["loads"]) + 1)
            state["loads"][number] = {
                "load_id": number, key: batch[key], "oven_id": oven["oven_id"], "pieces": pieces,
                "loaded_at": clock(at), "out_at": out, "spoilt": int(rng.integers(0, 4)) if baked else 0,
                "status": "baked" if baked else "baking",
            }  # fmt: skip
        for n, (name, flour) in enumerate(s.starters.items(), 1):
            place = pick(rng, list(s.places))
            fed = later(today, -int(rng.integers(1, s.places[place] + 4)))
            state["starters"][key_of("STR", n)] = {
                "starter_id": key_of("STR", n), "name": name, "flour": flour,
                "grams": 50 * int(rng.integers(6, 40)), "place": place, "fed_on": fed,
            }  # fmt: skip


PATTERN = Ovens
