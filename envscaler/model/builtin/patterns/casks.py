"""Casks: wood in racks in which what was made grows old, what the angels take of it, and what is bottled in the end."""

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
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]
BOTTLE = 0.7


class CasksSettings(Settings):
    """A warehouse's woods, racks and numbers; its spirit comes from the batches of an earlier part."""

    last_step: str
    """The step whose reading is the strength of what goes into casks."""
    years: int = 3
    """Years before it is bottled."""
    weakest: float = 40.0
    """Least strength in a bottle."""
    racks: dict[str, int]
    """Rack → casks it has room for."""
    woods: dict[str, int]
    """What a cask held before → litres it takes."""
    labels: list[str]
    """Names of bottlings."""


def age(cask: Row, today: str) -> int:
    """Whole years since the spirit came into wood."""
    return int(today[:4]) - int(cask["filled_on"][:4]) - (today[5:] < cask["filled_on"][5:])


def fillable(v: SimpleNamespace, state: State) -> list[Row]:
    """Batches of which something is to be put into casks."""
    rows = state[v.b.ids].values()
    return [b for b in rows if (b["step"], b["status"]) == ("ready", "good") and b["left"] > 0]


class CaskGoal(Goal):
    """What goals about casks share."""

    def cask(self, state: State, number: int) -> Row:
        """The cask of that number."""
        return dict(only([row for row in state["casks"].values() if row["number"] == number]))

    def sound(self, cask: Row, state: State) -> bool:
        """Whether there is spirit in it that was not recalled."""
        batch = state[self.v.b.ids].get(cask[f"{self.v.b.id}_id"])
        return bool(batch) and batch["status"] != "recalled"

    def some(self, state: State, rng: Rng, full: bool = True, years: int = 0) -> Row | None:
        """A cask with sound spirit of that age, or an empty one."""
        rows = [
            row
            for row in state["casks"].values()
            if (self.sound(row, state) and age(row, state["today"]) >= years if full else row["litres"] == 0)
        ]
        return pick(rng, rows) if rows else None

    def find(self, number: int) -> Row:
        """The call that finds it."""
        return call("find_cask", number=number)

    def change(self, cask: Row, item: str, *also: str, **fields: Any) -> Changed:
        """The cask has these values."""
        return Changed("casks", cask["cask_id"], fields, item, also)

    def filled(self, cask: Row, slots: Slots, state: State) -> list[Outcome]:
        """An empty cask holds new spirit."""
        v, litres, key = self.v, slots["litres"], f"{self.v.b.id}_id"
        named = [
            b for b in fillable(v, state) if state[v.q.ids][b[f"{v.q.id}_id"]]["name"] == slots["recipe"]
        ]
        batch = only(named)
        if cask["litres"] or not 0 < litres <= min(cask["size"], batch["left"]):
            raise LookupError("it does not fit")
        fields = {key: batch[key], "litres": litres, "filled_on": state["today"]}
        left = f"Has what is left of the {slots['recipe']} gone down by {litres:g} litres?"
        item = f"Has cask {cask['number']} been filled with {litres:g} litres of {slots['recipe']}?"
        return [
            self.change(cask, item, batch[key], **fields, strength=batch["readings"][v.s.last_step]),
            self.moved(cask, "filled", litres, state),
            Changed(v.b.ids, batch[key], {"left": round(batch["left"] - litres, 1)}, left),
        ]

    def moved(self, cask: Row, kind: str, litres: float, state: State) -> Added:
        """The cask's book says so."""
        entry = {"cask_id": cask["cask_id"], "kind": kind, "litres": litres, "made_on": state["today"]}
        return Added(
            "movements",
            entry,
            f"Is '{kind}' of {litres:g} litres entered in the book of cask {cask['number']}?",
        )


class Fill(CaskGoal):
    """New spirit goes into an empty cask."""

    phrases = (
        "Please fill cask {number:int} with {litres:number} litres of the {recipe:name} that is ready.",
        "{litres:number} litres of the finished {recipe:name} go into the empty cask {number:int}.",
    )
    needs = ("find_<<b.ids>>", "find_cask", "fill_cask")
    weight = 1.2

    def draw(self, state: State, rng: Rng) -> Slots | None:
        v, cask, new = self.v, self.some(state, rng, full=False), fillable(self.v, state)
        if not cask or not new:
            return None
        batch = pick(rng, new)
        litres = float(int(min(cask["size"], batch["left"]) * float(rng.uniform(0.6, 1))))
        return {
            "number": cask["number"],
            "litres": litres,
            "recipe": state[v.q.ids][batch[f"{v.q.id}_id"]]["name"],
        }

    def plan(self, slots: Slots) -> list[Row]:
        v, key = self.v, f"{self.v.b.id}_id"
        into = {key: found(0, 0, key), "cask_id": found(1, "cask_id"), "litres": slots["litres"]}
        ready = call(f"find_{v.b.ids}", **{v.q.id: slots["recipe"]}, status="good", step="ready")
        return [ready, self.find(slots["number"]), call("fill_cask", **into)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.filled(self.cask(state, slots["number"]), slots, state)


class MoveCask(CaskGoal):
    """Another rack."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Cask {number:int} is to be moved to the {rack:name}.",
        "Please move cask {number:int} over to the {rack:name}, where there is room for it.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_cask", "move_cask")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        cask = self.some(state, rng)
        return cask and {"number": cask["number"], "rack": pick(rng, list(self.v.s.racks))}

    def plan(self, slots: Slots) -> list[Row]:
        return [
            self.find(slots["number"]),
            call("move_cask", cask_id=found(0, "cask_id"), rack=slots["rack"]),
        ]

    def rooms(self, state: State) -> dict[str, int]:
        """How many more casks each rack takes."""
        held = [row["rack"] for row in state["casks"].values()]
        return {rack: room - held.count(rack) for rack, room in self.v.s.racks.items()}

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.put(self.cask(state, slots["number"]), slots["rack"], state)

    def put(self, cask: Row, rack: str, state: State) -> list[Outcome]:
        """The cask lies in the rack; who else comes or goes there would matter."""
        if cask["rack"] == rack or self.rooms(state).get(rack, 0) < 1:
            raise LookupError("it cannot lie there")
        return [self.change(cask, f"Has cask {cask['number']} been moved to the {rack}?", rack=rack)]


class MoveToRoom(MoveCask):
    """The rack with the most room."""

    phrases = (
        "Cask {number:int} has to go to whichever rack has the most room left.",
        "Please find the rack with the most free berths and move cask {number:int} there.",
    )
    needs = ("find_cask", "show_racks", "move_cask")
    weight = 1.0

    def draw(self, state: State, rng: Rng) -> Slots | None:
        cask = self.some(state, rng)
        return cask and {"number": cask["number"]}

    def plan(self, slots: Slots) -> list[Row]:
        where = {"cask_id": found(0, "cask_id"), "rack": found(1, 0, "rack")}
        return [self.find(slots["number"]), call("show_racks"), call("move_cask", **where)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rooms = self.rooms(state)
        rack = only([name for name, room in rooms.items() if room == max(rooms.values())])
        return self.put(self.cask(state, slots["number"]), rack, state)


class Gauge(CaskGoal):
    """What is measured in a cask; the rest went to the angels."""

    phrases = (
        "We gauged cask {number:int} today: {litres:number} litres at {strength:number} per cent, the "
        "rest is the angels' share.",
        "Please enter the gauge of cask {number:int}, which has {litres:number} litres left at "
        "{strength:number} per cent.",
    )
    needs = ("find_cask", "gauge_cask")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        cask = self.some(state, rng)
        if cask is None:
            return None
        less = [round(cask[name] * float(rng.uniform(0.95, 0.99)), 1) for name in ("litres", "strength")]
        return {"number": cask["number"], "litres": less[0], "strength": less[1]}

    def plan(self, slots: Slots) -> list[Row]:
        read = {"litres": slots["litres"], "strength": slots["strength"]}
        return [self.find(slots["number"]), call("gauge_cask", cask_id=found(0, "cask_id"), **read)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        cask, read = self.cask(state, slots["number"]), {k: slots[k] for k in ("litres", "strength")}
        lost = round(read["litres"] - cask["litres"], 1)
        if lost >= 0 or not 0 < read["strength"] <= cask["strength"] or read["litres"] <= 0:
            raise LookupError("that cannot be")
        item = (
            f"Has cask {cask['number']} been gauged at {read['litres']:g} litres and {read['strength']:g} "
            "per cent?"
        )
        return [self.change(cask, item, **read), self.moved(cask, "angels_share", lost, state)]


class Sample(CaskGoal):
    """A little for the nose."""

    phrases = (
        "Please draw a sample of {litres:number} litres from cask {number:int}.",
        "We took {litres:number} litres out of cask {number:int} as a sample, which has to be entered.",
    )
    needs = ("find_cask", "draw_sample")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        cask = self.some(state, rng)
        return cask and {"number": cask["number"], "litres": int(rng.integers(1, 10)) / 10}

    def plan(self, slots: Slots) -> list[Row]:
        sample = call("draw_sample", cask_id=found(0, "cask_id"), litres=slots["litres"])
        return [self.find(slots["number"]), sample]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        cask, litres = self.cask(state, slots["number"]), slots["litres"]
        if not 0 < litres <= 2 or litres >= cask["litres"]:
            raise LookupError("that is no sample")
        left = round(cask["litres"] - litres, 1)
        item = f"Has a sample of {litres:g} litres been drawn from cask {cask['number']}?"
        return [self.change(cask, item, litres=left), self.moved(cask, "sample", -litres, state)]


class RackOver(CaskGoal):
    """Everything from one cask into an empty one, for another wood."""

    phrases = (
        "Rack everything in cask {number:int} over to the empty cask {other:int} for a finish.",
        "What lies in cask {number:int} shall be finished in cask {other:int}, so please rack it over.",
    )
    needs = ("find_cask", "rack_over")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        cask, other = self.some(state, rng), self.some(state, rng, full=False)
        if not cask or not other or cask["wood"] == other["wood"]:
            return None
        return {"number": cask["number"], "other": other["number"]}

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"cask_id": found(0, "cask_id"), "to_cask_id": found(1, "cask_id")}
        return [self.find(slots["number"]), self.find(slots["other"]), call("rack_over", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, two = self.cask(state, slots["number"]), self.cask(state, slots["other"])
        if not self.sound(one, state) or two["litres"] or one["litres"] > two["size"]:
            raise LookupError("it cannot be racked over")
        key, litres = f"{self.v.b.id}_id", one["litres"]
        kept = {name: one[name] for name in (key, "litres", "strength", "filled_on")}
        return [
            self.change(one, f"Is cask {one['number']} empty?", one[key], **EMPTY, **{key: None}),
            self.moved(one, "racked_over", -litres, state),
            self.change(two, f"Is what was in cask {one['number']} in cask {two['number']}?", **kept),
            self.moved(two, "racked_over", litres, state),
        ]


EMPTY: Row = {"litres": 0.0}


class Bottle(CaskGoal):
    """A cask that is old enough becomes bottles."""

    phrases: ClassVar[tuple[str, ...]] = (
        'Please bottle cask {number:int} at {strength:number} per cent under the name "{label:text}".',
        "Cask {number:int} goes to bottling, brought down to {strength:number} per cent and labelled "
        '"{label:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_cask", "bottle_cask")
    weight = 0.3

    def draw(self, state: State, rng: Rng) -> Slots | None:
        cask = self.some(state, rng, years=self.v.s.years)
        if cask is None:
            return None
        strength = pick(rng, [40.0, 43.0, 46.0, 48.5])
        label = f"{pick(rng, self.v.s.labels)} {int(rng.integers(2, 20))}"
        return {"number": cask["number"], "strength": strength, "label": label}

    def plan(self, slots: Slots) -> list[Row]:
        given = {"name": slots["label"], "strength": slots["strength"]}
        return [self.find(slots["number"]), call("bottle_cask", cask_id=found(0, "cask_id"), **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.bottled(self.cask(state, slots["number"]), slots, state)

    def bottled(self, cask: Row, slots: Slots, state: State) -> list[Outcome]:
        """The cask is empty, and there are as many bottles as its spirit gives."""
        strength, key = slots["strength"], f"{self.v.b.id}_id"
        if not self.sound(cask, state) or age(cask, state["today"]) < self.v.s.years:
            raise LookupError("it is not to be bottled")
        if not self.v.s.weakest <= strength <= cask["strength"]:
            raise LookupError("it has not that strength")
        bottles = int(cask["litres"] * cask["strength"] / strength / BOTTLE + 1e-6)
        fields = {
            "name": slots["label"],
            "cask_id": cask["cask_id"],
            "strength": strength,
            "bottles": bottles,
        }
        item = f"Has cask {cask['number']} been bottled as {slots['label']} at {strength:g} per cent?"
        return [
            self.change(
                cask, f"Is cask {cask['number']} empty after its bottling?", cask[key], **EMPTY, **{key: None}
            ),
            self.moved(cask, "bottled", -cask["litres"], state),
            Added("bottlings", {**fields, "bottled_on": state["today"]}, item),
        ]


class BottleOldest(Bottle):
    """The oldest cask of a wood."""

    phrases = (
        "Find the oldest {wood:name} cask that is ripe and bottle it at {strength:number} per cent as "
        '"{label:text}".',
        "Of the ripe {wood:name} casks, please bottle the oldest; the strength is {strength:number} per "
        'cent, the name "{label:text}".',
    )
    needs = ("list_ripe_casks", "bottle_cask")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        wood = self.cask(state, slots["number"])["wood"] if slots else ""
        return slots and {"wood": wood, "strength": slots["strength"], "label": slots["label"]}

    def plan(self, slots: Slots) -> list[Row]:
        given = {"name": slots["label"], "strength": slots["strength"]}
        ripe = call("list_ripe_casks", wood=slots["wood"])
        return [ripe, call("bottle_cask", cask_id=found(0, 0, "cask_id"), **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        casks = [
            row for row in state["casks"].values() if row["wood"] == slots["wood"] and self.sound(row, state)
        ]
        first = min((row["filled_on"] for row in casks), default="")
        return self.bottled(only([row for row in casks if row["filled_on"] == first]), slots, state)


class BottleAndRefill(Bottle):
    """A cask is bottled and takes new spirit at once."""

    phrases = (
        'Bottle cask {number:int} at {strength:number} per cent as "{label:text}", and while its wood is '
        "wet fill it with "
        "{litres:number} litres of the ready {recipe:name}.",
        'Cask {number:int} is to be bottled ("{label:text}", {strength:number} per cent) and then '
        "refilled with "
        "{litres:number} litres of the {recipe:name} that is ready.",
    )
    needs = ("find_cask", "bottle_cask", "find_<<b.ids>>", "fill_cask")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, new = super().draw(state, rng), fillable(self.v, state)
        if not slots or not new:
            return None
        batch = pick(rng, new)
        most = min(self.cask(state, slots["number"])["size"], batch["left"])
        litres = float(int(most * float(rng.uniform(0.6, 1))))
        return {**slots, "litres": litres, "recipe": state[self.v.q.ids][batch[f"{self.v.q.id}_id"]]["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        key = f"{self.v.b.id}_id"
        ready = call(f"find_{self.v.b.ids}", **{self.v.q.id: slots["recipe"]}, status="good", step="ready")
        fill = {key: found(2, 0, key), "cask_id": found(0, "cask_id"), "litres": slots["litres"]}
        return [*super().plan(slots), ready, call("fill_cask", **fill)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        _, out, bottles = super().outcome(slots, state)
        empty = {**self.cask(state, slots["number"]), **EMPTY}
        return [out, bottles, *self.filled(empty, slots, state)]


class Casks(Pattern):
    """A warehouse of casks."""

    Settings = CasksSettings
    GOALS: ClassVar = (
        Fill,
        MoveCask,
        MoveToRoom,
        Gauge,
        Sample,
        RackOver,
        Bottle,
        BottleOldest,
        BottleAndRefill,
    )

    def vocabulary(self, s: CasksSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        return {
            "b": shared["batch"], "q": shared["recipe"], "k": Noun("cask"), "racks": list(s.racks),
            "racklist": either(list(s.racks)), "woods": list(s.woods), "woodlist": either(list(s.woods)),
            "bottle": BOTTLE,
            "capacity": ", ".join(f'"{rack}": {room}' for rack, room in s.racks.items()),
        }  # fmt: skip

    def tables(self, v: SimpleNamespace) -> list[Table]:
        def table(noun: Noun, about: str, *fields: tuple[str, str, str]) -> Table:
            return Table(noun, about, [attribute(*field) for field in fields])

        return [
            table(
                v.k, "A cask in the warehouse, full or empty.", ("cask_id", "str", "unique id, e.g. CSK-001"),
                ("number", "int", "number on its head"), ("wood", "str", f"kind of wood: {v.woodlist}"),
                ("size", "int", "litres it takes"), ("rack", "str", f"where it lies: {v.racklist}"),
                (f"{v.b.id}_id", "str | None", f"the {v.b} in it, None when it is empty"),
                ("litres", "float", "litres in it"),
                ("strength", "float", "alcohol in per cent of what is or last was in it"),
                ("filled_on", "str", "when that came into wood, as YYYY-MM-DD, empty for a new cask"),
            ),
            table(
                Noun("movement"), "A line in the book of a cask.", ("movement_id", "str", "unique id, e.g. MOV-001"),
                ("cask_id", "str", "the cask"),
                ("kind", "str", "filled, angels_share, sample, racked_over or bottled"),
                ("litres", "float", "litres in, below 0 for out"),
                ("made_on", "str", "date, as YYYY-MM-DD"),
            ),
            table(
                Noun("bottling"), "Bottles that were filled from a cask.",
                ("bottling_id", "str", "unique id, e.g. BTL-001"), ("name", "str", "name on the label"),
                ("cask_id", "str", "the cask"), ("strength", "float", "alcohol in per cent"),
                ("bottles", "int", f"bottles of {BOTTLE} litres"), ("bottled_on", "str", "date, as YYYY-MM-DD"),
            ),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "The litres in a cask are the sum of its movements, and never more than it takes.",
            """
            sums = {}
            for row in rows(after, "movements").values():
                sums[str(row.get("cask_id"))] = sums.get(str(row.get("cask_id")), 0) + (row.get("litres") or 0)
            for key, row in rows(after, "casks").items():
                litres = row.get("litres") or 0
                if abs(litres - sums.get(key, 0)) > 0.05 or not 0 <= litres <= (row.get("size") or 0):
                    return False
            return True
            """,
        ),
        RuleText(
            "Each rack has no more casks than it has room for: <% for name, room in s.racks.items() %>"
            "<<name>> <<room>><% if not loop.last %>, <% endif %><% endfor %>.",
            """
            room = {<<capacity>>}
            held = [row.get("rack") for row in rows(after, "casks").values()]
            return all(held.count(rack) <= room.get(rack, 0) for rack in held)
            """,
        ),
        RuleText(
            "The bottling date must fall <<s.years>> years or more after the spirit came into wood.",
            """
            casks, today = rows(before, "casks"), str(after.get("today"))
            for row in added("bottlings"):
                filled = str((casks.get(str(row.get("cask_id"))) or {}).get("filled_on"))
                if not filled[:4].isdigit() or f"{int(filled[:4]) + <<s.years>>}{filled[4:]}" > today:
                    return False
            return True
            """,
        ),
        RuleText(
            "How many bottles there are is calculated from what the cask held, at <<bottle>> litres "
            "each, and nothing "
            "is bottled below <<s.weakest>> per cent.",
            """
            casks = rows(before, "casks")
            for row in added("bottlings"):
                cask, strength = casks.get(str(row.get("cask_id"))) or {}, row.get("strength") or 0
                if strength < <<s.weakest>>:
                    return False
                whole = (cask.get("litres") or 0) * (cask.get("strength") or 0) / strength / <<bottle>>
                if row.get("bottles") != int(whole + 1e-6):
                    return False
            return True
            """,
        ),
    )

    HELPERS = '''
    def _age(self, cask: dict) -> int:
        """Return the whole years since the spirit in a cask came into wood."""
        filled = cask["filled_on"]
        return int(self.today[:4]) - int(filled[:4]) - (self.today[5:] < filled[5:])

    def _unsound(self, cask: dict) -> str:
        """Say why nothing can be done with what is in a cask, empty when something can."""
        if cask["<<b.id>>_id"] is None:
            return f"Cask {cask['number']} is empty."
        status = self.<<b.ids>>[cask["<<b.id>>_id"]]["status"]
        return f"What is in cask {cask['number']} is recalled." if status == "recalled" else ""

    def _move(self, cask: dict, kind: str, litres: float) -> None:
        """Change what is in a cask and enter it in its book."""
        movement: Movement = {
            "movement_id": self._next_id(self.movements, "MOV"),
            "cask_id": cask["cask_id"],
            "kind": kind,
            "litres": round(litres, 1),
            "made_on": self.today,
        }
        self.movements[movement["movement_id"]] = movement
        cask["litres"] = round(cask["litres"] + litres, 1)
        if cask["litres"] == 0:
            cask["<<b.id>>_id"] = None
'''

    READS = '''
def find_cask(self, number: int) -> dict:
    """Find a cask by its number, with what is in it and for how long.

    Args:
        number: The number on its head.

    Returns:
        The cask with its `spirit` (None when it is empty) and the spirit's `age` in whole years, or an error.
    """
    for cask in self.casks.values():
        if cask["number"] == number:
            run = self.<<b.ids>>.get(cask["<<b.id>>_id"] or "")
            spirit = self.<<q.ids>>[run["<<q.id>>_id"]]["name"] if run else None
            return {"success": True, "data": {**cask, "spirit": spirit, "age": self._age(cask) if run else 0}}
    refuse :: There is no cask with the number {number}.

def list_empty_casks(self, wood: str | None = None, litres: float = 0.0) -> dict:
    """List the empty casks that take so many litres, the smallest first.

    Args:
        wood: Only casks of this wood: <<woodlist>>. Leave out for all.
        litres: What has to go in.

    Returns:
        The casks; an empty list when there are none.
    """
    refuse if wood not in (None, <<quoted(woods)>>) :: There is no wood {wood!r}.
    empty = [cask for cask in self.casks.values() if cask["<<b.id>>_id"] is None and cask["size"] >= litres]
    data = [
        {"cask_id": cask["cask_id"], "number": cask["number"], "wood": cask["wood"], "size": cask["size"]}
        for cask in sorted(empty, key=lambda cask: (cask["size"], cask["number"]))
        if wood in (None, cask["wood"])
    ]
    return {"success": True, "data": data}

def list_ripe_casks(self, wood: str | None = None, years: int = <<s.years>>) -> dict:
    """List the casks whose spirit is old enough and was not recalled, the oldest first.

    Args:
        wood: Only casks of this wood: <<woodlist>>. Leave out for all.
        years: How old it has to be, at least <<s.years>>.

    Returns:
        The casks with the whole years of their spirit as `age`.
    """
    refuse if wood not in (None, <<quoted(woods)>>) :: There is no wood {wood!r}.
    refuse if years < <<s.years>> :: Nothing is ripe before <<s.years>> years.
    ripe = [
        {**cask, "age": self._age(cask)}
        for cask in self.casks.values()
        if wood in (None, cask["wood"]) and not self._unsound(cask) and self._age(cask) >= years
    ]
    return {"success": True, "data": sorted(ripe, key=lambda cask: (cask["filled_on"], cask["number"]))}

def show_racks(self) -> dict:
    """Show how many casks lie in each rack and how many more it takes, the one with the most room first.

    Returns:
        For each rack the numbers of its casks, its litres and its `room`.
    """
    capacity = {<<capacity>>}
    shown = []
    for rack, places in capacity.items():
        there = [cask for cask in self.casks.values() if cask["rack"] == rack]
        litres = round(sum(cask["litres"] for cask in there), 1)
        numbers = sorted(cask["number"] for cask in there)
        shown.append({"rack": rack, "casks": numbers, "litres": litres, "room": places - len(there)})
    return {"success": True, "data": sorted(shown, key=lambda row: -row["room"])}

def plan_bottling(self, cask_id: str, strength: float) -> dict:
    """Work out what a cask would give in bottles, without touching it.

    Args:
        cask_id: Id of the cask.
        strength: Alcohol in per cent that the bottles shall have.

    Returns:
        The litres of water to add, the bottles, and the litres that are left over; or an error.
    """
    need k
    fault = self._unsound(cask)
    if fault:
        return {"success": False, "error": fault}
    if not <<s.weakest>> <= strength <= cask["strength"]:
        refuse :: The strength can be <<s.weakest>> to {cask['strength']} per cent.
    volume = cask["litres"] * cask["strength"] / strength
    bottles = int(volume / <<bottle>> + 1e-6)
    data = {
        "water": round(volume - cask["litres"], 1),
        "bottles": bottles,
        "left_over": round(volume - bottles * <<bottle>>, 2),
    }
    return {"success": True, "data": data}

def trace_to_casks(self, lot_id: str) -> dict:
    """Follow a lot of grain into the casks in which spirit made of it lies.

    Args:
        lot_id: Id of the lot.

    Returns:
        The casks by rack, each with its number, its litres and its <<b>>; racks without any are left out.
    """
    refuse if lot_id not in self.lots :: There is no lot with the id {lot_id!r}.
    runs = {key for key, entry in self.<<b.ids>>.items() if lot_id in entry["drawn"]}
    racks: dict[str, list[dict]] = {}
    for cask in self.casks.values():
        if cask["<<b.id>>_id"] in runs:
            line = {"number": cask["number"], "litres": cask["litres"], "<<b.id>>": cask["<<b.id>>_id"]}
            racks.setdefault(cask["rack"], []).append(line)
    return {"success": True, "data": dict(sorted(racks.items()))}

def report_losses(self) -> dict:
    """Report what the angels took, by the rack a cask lies in now, in litres and in per cent of what was filled.

    Returns:
        By rack the litres filled, the litres lost and the share.
    """
    report = {rack: {"filled": 0.0, "lost": 0.0, "per_cent": 0.0} for rack in (<<quoted(racks)>>)}
    for movement in self.movements.values():
        entry = report[self.casks[movement["cask_id"]]["rack"]]
        if movement["kind"] == "filled":
            entry["filled"] += movement["litres"]
        elif movement["kind"] == "angels_share":
            entry["lost"] -= movement["litres"]
    for entry in report.values():
        entry.update({name: round(entry[name], 1) for name in ("filled", "lost")})
        entry["per_cent"] = round(100 * entry["lost"] / entry["filled"], 1) if entry["filled"] else 0.0
    return {"success": True, "data": report}

def show_cask_book(self, cask_id: str) -> dict:
    """Show the book of a cask line by line, with the litres that were in it after each.

    Args:
        cask_id: Id of the cask.

    Returns:
        The movements, the oldest first, each with the litres `after` it.
    """
    refuse if cask_id not in self.casks :: There is no cask with the id {cask_id!r}.
    lines = [row for row in self.movements.values() if row["cask_id"] == cask_id]
    lines.sort(key=lambda row: (row["made_on"], row["movement_id"]))
    book, litres = [], 0.0
    for row in lines:
        litres = round(litres + row["litres"], 1)
        book.append({**row, "after": litres})
    return {"success": True, "data": book}
'''

    WRITES = '''
<% macro sound() %>
    fault = self._unsound(cask)
    if fault:
        return {"success": False, "error": fault}
<%- endmacro %>
def fill_cask(self, <<b.id>>_id: str, cask_id: str, litres: float) -> dict:
    """Fill an empty cask from <<b.a>>.

    Args:
        <<b.id>>_id: Id of the <<b>>, which must be good, and ready.
        cask_id: Id of the cask, which is empty.
        litres: How much, above 0, no more than the cask takes and than is left of the <<b>>.

    Returns:
        The cask, or an error.
    """
    need b
    need k
    if (<<b.id>>["status"], <<b.id>>["step"]) != ("good", "ready"):
        refuse :: <<b.cap>> {<<b.id>>_id} is {<<b.id>>['status']} and {<<b.id>>['step']}.
    refuse if cask["<<b.id>>_id"] is not None :: Cask {cask['number']} is not empty.
    most = min(cask["size"], <<b.id>>["left"])
    refuse if not 0 < round(litres, 1) <= most :: Between 0 and {most} litres can go in, not {litres}.
    <<b.id>>["left"] = round(<<b.id>>["left"] - litres, 1)
    strength = <<b.id>>["readings"]["<<s.last_step>>"]
    cask.update(<<b.id>>_id=<<b.id>>_id, strength=strength, filled_on=self.today)
    self._move(cask, "filled", litres)
    done dict(cask) :: Cask {cask['number']} holds {cask['litres']} litres.

def move_cask(self, cask_id: str, rack: str) -> dict:
    """Move a cask to another rack with room for it.

    Args:
        cask_id: Id of the cask.
        rack: The rack: <<racklist>>.

    Returns:
        The cask, or an error.
    """
    need k
    capacity = {<<capacity>>}
    refuse if rack not in capacity :: There is no rack {rack!r}.
    refuse if rack == cask["rack"] :: Cask {cask['number']} lies there already.
    lying = sum(other["rack"] == rack for other in self.casks.values())
    refuse if lying >= capacity[rack] :: The {rack} is full.
    cask["rack"] = rack
    done dict(cask) :: Cask {cask['number']} lies in the {rack} now.

def gauge_cask(self, cask_id: str, litres: float, strength: float) -> dict:
    """Enter what was measured in a cask; what is missing since the last time is the angels' share.

    Args:
        cask_id: Id of the cask, with spirit in it that was not recalled.
        litres: Litres that were measured, above 0 and fewer than at the last time.
        strength: Alcohol in per cent, above 0 and not more than at the last time.

    Returns:
        The cask, or an error.
    """
    need k
<<sound()>>
    if not 0 < round(litres, 1) < cask["litres"] or not 0 < strength <= cask["strength"]:
        refuse :: It held {cask['litres']} litres at {cask['strength']} %, and cannot hold more.
    self._move(cask, "angels_share", round(litres - cask["litres"], 1))
    cask["strength"] = strength
    done dict(cask) :: Cask {cask['number']} holds {cask['litres']} litres at {strength} per cent.

def draw_sample(self, cask_id: str, litres: float) -> dict:
    """Draw a sample from a cask.

    Args:
        cask_id: Id of the cask, with spirit in it that was not recalled.
        litres: How much, above 0 and at most 2.

    Returns:
        The cask, or an error.
    """
    need k
<<sound()>>
    if not 0 < round(litres, 1) <= 2 or round(litres, 1) >= cask["litres"]:
        refuse :: A sample is at most 2 litres of {cask['litres']}, not {litres}.
    self._move(cask, "sample", -round(litres, 1))
    done dict(cask) :: {cask['litres']} litres are left in cask {cask['number']}.

def rack_over(self, cask_id: str, to_cask_id: str) -> dict:
    """Rack all that is in a cask over to an empty one; its age goes on counting.

    Args:
        cask_id: Id of the cask it comes from; what was recalled stays where it is.
        to_cask_id: Id of the cask it goes to, empty and large enough.

    Returns:
        Both casks, or an error.
    """
    need k
    target = self.casks.get(to_cask_id)
    refuse if target is None :: There is no cask with the id {to_cask_id!r}.
<<sound()>>
    if target["<<b.id>>_id"] is not None or target["size"] < cask["litres"]:
        refuse :: Cask {target['number']} is in use, or too small for {cask['litres']} litres.
    litres = cask["litres"]
    target.update({name: cask[name] for name in ("<<b.id>>_id", "strength", "filled_on")})
    self._move(cask, "racked_over", -litres)
    self._move(target, "racked_over", litres)
    done {"from": dict(cask), "to": dict(target)} :: {litres} litres are in cask {target['number']} now.

def bottle_cask(self, cask_id: str, name: str, strength: float) -> dict:
    """Bottle all that is in a cask, brought down with water to a strength.

    Args:
        cask_id: Id of the cask, whose spirit has been in wood for <<s.years>> years and was not recalled.
        name: Name on the label.
        strength: Alcohol in per cent, at least <<'%.0f'|format(s.weakest)>> and not more than in the cask.

    Returns:
        The bottling with its number of bottles of <<bottle>> litres, or an error.
    """
    need k
<<sound()>>
    refuse if self._age(cask) < <<s.years>> :: Cask {cask['number']} has to lie for <<s.years>> years.
    if not <<s.weakest>> <= strength <= cask["strength"]:
        refuse :: The strength can be <<s.weakest>> to {cask['strength']} per cent, not {strength}.
    refuse if not name.strip() :: It needs a name.
    bottling: Bottling = {
        "bottling_id": self._next_id(self.bottlings, "BTL"),
        "name": name.strip(),
        "cask_id": cask_id,
        "strength": strength,
        "bottles": int(cask["litres"] * cask["strength"] / strength / <<bottle>> + 1e-6),
        "bottled_on": self.today,
    }
    self.bottlings[bottling["bottling_id"]] = bottling
    self._move(cask, "bottled", -cask["litres"])
    done dict(bottling) :: {bottling['bottles']} bottles of {bottling['name']} are filled.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, link = v.s, f"{v.b.id}_id"
        places = shuffled(rng, [rack for rack, room in s.racks.items() for _ in range(room - 1)])
        old = [self._old(v, state, rng, days) for days in (*rng.integers(1200, 4000, size=3), 400)]
        numbers = sorted(int(n) for n in rng.choice(range(101, 400), size=13, replace=False))
        for n, number in enumerate(numbers, 1):
            wood = list(s.woods)[n % len(s.woods)]
            cask: Row = {
                "cask_id": key_of("CSK", n), "number": number, "wood": wood, "size": s.woods[wood],
                "rack": places[n], link: None, "litres": 0.0, "strength": 0.0, "filled_on": "",
            }  # fmt: skip
            state["casks"][cask["cask_id"]] = cask
            if n % 4 and n <= 11:
                batch = pick(rng, old)
                filled = later(batch["made_on"], 10 + n)
                self._move(
                    state, cask, "filled", round(s.woods[wood] * float(rng.uniform(0.8, 0.98)), 1), filled
                )
                cask.update(
                    {link: batch[link], "filled_on": filled, "strength": batch["readings"][s.last_step]}
                )
                self._move(
                    state, cask, "angels_share", -round(cask["litres"] * float(rng.uniform(0.02, 0.2)), 1)
                )
                cask["strength"] = round(cask["strength"] * float(rng.uniform(0.85, 0.97)), 1)
        first = min(old, key=lambda batch: str(batch["made_on"]))
        empty = [cask for cask in state["casks"].values() if not cask["litres"]]
        for n, cask in enumerate(shuffled(rng, empty)[:3]):
            filled = later(first["made_on"], 10 + n)
            day = max(later(filled, 366 * s.years), later(state["today"], -int(rng.integers(30, 400))))
            key, strength = key_of("BTL", n + 1), pick(rng, [43.0, 46.0])
            self._move(state, cask, "filled", round(cask["size"] * float(rng.uniform(0.8, 0.95)), 1), filled)
            cask.update(filled_on=filled, strength=round(first["readings"][s.last_step] * 0.9, 1))
            lost = round(cask["litres"] * float(rng.uniform(0.05, 0.2)), 1)
            self._move(state, cask, "angels_share", -lost, day)
            state["bottlings"][key] = {
                "bottling_id": key, "name": f"{s.labels[n % len(s.labels)]} 1", "cask_id": cask["cask_id"],
                "strength": strength, "bottled_on": day,
                "bottles": int(cask["litres"] * cask["strength"] / strength / BOTTLE + 1e-6),
            }  # fmt: skip
            self._move(state, cask, "bottled", -cask["litres"], day)

    def _old(self, v: SimpleNamespace, state: State, rng: Rng, days: int) -> Row:
        """A batch of years ago: what it was made of is used up, and all of it is in casks."""
        recipe, made = pick(rng, list(state[v.q.ids].values())), later(state["today"], -int(days))
        drawn = {}
        for name, kg in recipe["amounts"].items():
            lot = next(row for row in state["lots"].values() if row["ingredient"] == name)
            number = key_of("LOT", len(state["lots"]) + 1)
            received: Row = {"kg": 0.0, "received_on": later(made, -10), "status": "usable"}
            state["lots"][number], drawn[number] = {**lot, "lot_id": number, **received}, kg * 4
        row = next(row for row in state[v.b.ids].values() if row["step"] == "ready")
        key = key_of(row[f"{v.b.id}_id"].split("-")[0], len(state[v.b.ids]) + 1)
        fresh: Row = {
            f"{v.b.id}_id": key,
            f"{v.q.id}_id": recipe[f"{v.q.id}_id"],
            "made_on": made,
            "left": 0.0,
        }
        state[v.b.ids][key] = {**row, **fresh, "units": 4, "drawn": drawn, "readings": dict(row["readings"])}
        return dict(state[v.b.ids][key])

    def _move(self, state: State, cask: Row, kind: str, litres: float, day: str = "") -> None:
        key = key_of("MOV", len(state["movements"]) + 1)
        state["movements"][key] = {
            "movement_id": key, "cask_id": cask["cask_id"], "kind": kind, "litres": litres,
            "made_on": day or later(state["today"], -20),
        }  # fmt: skip
        cask["litres"] = round(cask["litres"] + litres, 1)


PATTERN = Casks
