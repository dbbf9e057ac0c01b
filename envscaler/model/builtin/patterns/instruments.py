"""Instruments lent out by size: a pupil is measured, borrows what fits, and brings it back when it is outgrown.

The pupils are those of an earlier registry, which has the size last measured among its extras.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin.pattern import (
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
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns._snippets import put
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]
PUPIL, INSTRUMENT = Noun("pupil"), Noun("instrument")


class InstrumentsSettings(Settings):
    """What a school lends to its pupils."""

    sizes: list[str]
    """The sizes, rising; the pupils' extra `instrument_size` has the same."""
    kinds: list[str]
    """Kinds of instruments, of which there are some in every size."""
    longest: int
    """Most days for which one is lent."""
    damages: list[str]
    """What may be wrong with one that is brought back."""


# What the tools do, for draws and outcomes


def held(state: State, pupil: str) -> list[Row]:
    """The instruments that a pupil has."""
    return [row for row in state["instruments"].values() if row["pupil_id"] == pupil]


def free(state: State, kind: str, size: str) -> list[Row]:
    """The instruments of a kind and a size that can be lent."""
    wanted = (kind, size, None, "")
    rows = state["instruments"].values()
    return [row for row in rows if (row["kind"], row["size"], row["pupil_id"], row["damage"]) == wanted]


class InstrumentGoal(Goal):
    """What goals share: a pupil by name, and what that pupil has of a kind."""

    def pupil(self, slots: Slots, state: State) -> Row:
        """The pupil a sentence names."""
        return named(state, PUPIL, slots["name"])

    def lent(self, slots: Slots, state: State) -> Row:
        """The instrument of a kind that the pupil has."""
        rows = held(state, self.pupil(slots, state)["pupil_id"])
        return dict(only([row for row in rows if row["kind"] == slots["kind"]]))

    def back(self, row: Row, item: str, damage: str = "") -> Changed:
        """The instrument is at the school again."""
        gone = {"pupil_id": None, "lent_on": None, "due_on": None, "damage": damage}
        return Changed("instruments", row["instrument_id"], gone, item, (row["pupil_id"],))

    def lending(self, slots: Slots, state: State, size: str) -> Changed:
        """The newest free instrument of a size is lent to the pupil."""
        pupil, rows, today = self.pupil(slots, state), free(state, slots["kind"], size), state["today"]
        if pupil["status"] != "active" or not today < slots["due"] <= later(today, self.v.s.longest):
            raise LookupError("it cannot be lent so")
        row = only([row for row in rows if row["made_in"] == max(one["made_in"] for one in rows)])
        fields = {"pupil_id": pupil["pupil_id"], "lent_on": today, "due_on": slots["due"]}
        item = f"Has {slots['name']} the newest free {slots['kind']} of size {size} until {slots['due']}?"
        return Changed("instruments", row["instrument_id"], fields, item)

    def active(self, state: State, rng: Rng) -> Row:
        """A pupil who may borrow."""
        return dict(any_of(rng, [row for row in state["pupils"].values() if row["status"] == "active"]))

    def some_lent(self, state: State, rng: Rng) -> Slots:
        """Who has what, of those who have something."""
        row = any_of(rng, [row for row in state["instruments"].values() if row["pupil_id"]])
        return {"name": state["pupils"][row["pupil_id"]]["name"], "kind": row["kind"]}

    def some_day(self, state: State, rng: Rng) -> str:
        """A day up to which something may be lent."""
        return later(state["today"], int(rng.integers(self.v.s.longest // 3, self.v.s.longest + 1)))

    def larger(self, size: str) -> str:
        """The next size; raises `LookupError` for the largest."""
        return str(dict(zip(self.v.s.sizes, self.v.s.sizes[1:], strict=False))[size])


class Lend(InstrumentGoal):
    """The newest instrument that fits."""

    phrases = (
        "Please lend the pupil {name:name} a {kind:name} of the right size until {due:date}, the newest that is free.",
        "The pupil {name:name} is to have a {kind:name} from our stock until {due:date}: choose the newest free one "
        "of the size that was measured.",
    )
    needs = ("find_pupils", "find_instruments", "lend_instrument")
    weight = 1.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name, kind = self.active(state, rng)["name"], pick(rng, self.v.s.kinds)
        return {"name": name, "kind": kind, "due": self.some_day(state, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_pupils name",
            "find_instruments kind size<0/0/instrument_size free=True",
            "lend_instrument instrument_id<1 pupil_id<0 due_on=due",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        pupil = self.pupil(slots, state)
        if any(row["kind"] == slots["kind"] for row in held(state, pupil["pupil_id"])):
            raise LookupError("there is one already")
        return [self.lending(slots, state, pupil["instrument_size"])]


class TakeBack(InstrumentGoal):
    """A pupil brings an instrument back as it was."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The pupil {name:name} has brought back the {kind:name} on loan, and it is in good order.",
        "Please take back the {kind:name} that the pupil {name:name} had on loan; nothing is wrong with it.",
    )
    needs = ("find_pupils", "find_instruments", "return_instrument")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some_lent(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        damage = " damage" if "damage" in slots else ""
        return steps(
            slots,
            "find_pupils name",
            "find_instruments kind pupil_id<0",
            f"return_instrument instrument_id<1{damage}",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.lent(slots, state)
        return [self.back(row, f"Is the {slots['kind']} of {slots['name']} back, in good order?")]


class TakeBackDamaged(TakeBack):
    """A pupil brings an instrument back that has to be mended."""

    phrases = (
        'The {kind:name} that the pupil {name:name} brings back from the loan is damaged, please note "{damage:text}".',
        'Please take back the {kind:name} on loan to the pupil {name:name} and enter the damage "{damage:text}".',
    )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {**self.some_lent(state, rng), "damage": pick(rng, self.v.s.damages)}

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Is the {slots['kind']} of {slots['name']} back, with the damage '{slots['damage']}'?"
        return [self.back(self.lent(slots, state), item, slots["damage"])]


class TakeBackLatest(InstrumentGoal):
    """The instrument that should have been back first of all is back."""

    phrases = (
        "The instrument that has been overdue for longest was handed in this morning in good order, please enter that.",
        "Whichever lent instrument is overdue by the most days has now come back undamaged, so please take it back.",
    )
    needs = ("find_instruments", "return_instrument")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_instruments overdue=True", "return_instrument instrument_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        late = [row for row in state["instruments"].values() if (row["due_on"] or "9") < state["today"]]
        row = only([row for row in late if row["due_on"] == min(one["due_on"] for one in late)])
        return [self.back(row, "Is the instrument that was overdue for longest back, in good order?")]


class Measure(InstrumentGoal):
    """A pupil has grown."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The pupil {name:name} has grown and was measured for the instrument size {size:name}, please record that.",
        "Please enter that the pupil {name:name} now needs the instrument size {size:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_pupils", "measure_pupil")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        pupil = self.active(state, rng)
        return {"name": pupil["name"], "size": self.larger(pupil["instrument_size"])}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_pupils name", "measure_pupil pupil_id<0 instrument_size=size")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        pupil, sizes = self.pupil(slots, state), self.v.s.sizes
        if sizes.index(slots["size"]) <= sizes.index(pupil["instrument_size"]):
            raise LookupError("nobody shrinks")
        item = f"Is the instrument size of {slots['name']} {slots['size']} now?"
        return [Changed("pupils", pupil["pupil_id"], {"instrument_size": slots["size"]}, item)]


class Outgrow(Measure):
    """A pupil has outgrown what is on loan, and gets the same in the new size."""

    phrases = (
        "The pupil {name:name} has outgrown the {kind:name} on loan: record the instrument size {size:name}, take the "
        "old one back in good order, and lend the newest free one of the new size until {due:date}.",
        "Please exchange the {kind:name} of the pupil {name:name}, whose new instrument size {size:name} has yet to be "
        "recorded: the old one is back undamaged, and the newest free one of the new size goes out until {due:date}.",
    )
    needs = ("find_pupils", "measure_pupil", "find_instruments", "return_instrument", "lend_instrument")
    weight = 1.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some_lent(state, rng)
        size = self.larger(self.pupil(slots, state)["instrument_size"])
        return {**slots, "size": size, "due": self.some_day(state, rng)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_pupils name",
            "measure_pupil pupil_id<0 instrument_size=size",
            "find_instruments kind pupil_id<0",
            "return_instrument instrument_id<2",
            "find_instruments kind size free=True",
            "lend_instrument instrument_id<4 pupil_id<0 due_on=due",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.lent(slots, state)
        if row["size"] == slots["size"]:
            raise LookupError("that is no exchange for a larger one")
        back = self.back(
            row, f"Is the {slots['kind']} that {slots['name']} has outgrown back, in good order?"
        )
        return [*super().outcome(slots, state), back, self.lending(slots, state, slots["size"])]


class Instruments(Pattern):
    """Instruments of a school, lent to its pupils."""

    Settings = InstrumentsSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (Lend, TakeBack, TakeBackDamaged, TakeBackLatest, Measure, Outgrow)

    def vocabulary(self, s: InstrumentsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        return {
            "p": shared["pupil"],
            "i": INSTRUMENT,
            "kinds": ", ".join(s.kinds),
            "sizes": ", ".join(s.sizes),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(
                INSTRUMENT,
                "An instrument of the school, which is lent to pupils.",
                f"""
                instrument_id: str = unique id, e.g. IN-001
                kind: str = {v.kinds}
                size: str = {v.sizes}
                made_in: int = year in which it was made
                damage: str = what has to be mended before it can be lent, otherwise empty
                pupil_id: str | None = the pupil who has it, None while it is at the school
                lent_on: str | None = day it was lent, as YYYY-MM-DD, or None
                due_on: str | None = day by which it has to be back, as YYYY-MM-DD, or None
                """,
            )
        ]

    RULES = (
        RuleText(
            "An instrument is lent undamaged, in the size the pupil was last measured for, and for at most "
            "<<s.longest>> days; no pupil has two of one kind.",
            """
            from datetime import date

            pupils, instruments = rows(after, "pupils"), rows(after, "instruments").values()
            for _, new in changed("instruments", "pupil_id"):
                pupil = pupils.get(str(new.get("pupil_id")))
                if pupil is not None and (new.get("damage") or pupil.get("instrument_size") != new.get("size")):
                    return False
            out = [row for row in instruments if row.get("pupil_id") is not None]
            for row in out:
                try:
                    days = (date.fromisoformat(row["due_on"]) - date.fromisoformat(row["lent_on"])).days
                except (KeyError, TypeError, ValueError):
                    return False
                if not 0 < days <= <<s.longest>>:
                    return False
            return len(out) == len({(str(row["pupil_id"]), str(row.get("kind"))) for row in out})
            """,
            rank=0,
        ),
    )

    READS = '''
def find_instruments(
    self,
    kind: str | None = None,
    size: str | None = None,
    pupil_id: str | None = None,
    free: bool = False,
    overdue: bool = False,
) -> dict:
    """Search the instruments that the school lends.

    Args:
        kind: Only this kind: <<kinds>>. Leave out for all.
        size: Only this size: <<sizes>>. Leave out for all.
        pupil_id: Only what this pupil has. Leave out for all.
        free: True for only those that are at the school and undamaged.
        overdue: True for only those that should have been back before today.

    Returns:
        The matching instruments, those that are due first in front, then the newest; an empty list when there are none.
    """
    refuse if kind is not None and kind not in (<<quoted(s.kinds)>>) :: There is no kind {kind!r}.
    refuse if size is not None and size not in (<<quoted(s.sizes)>>) :: There is no size {size!r}.
    found = [
        dict(row)
        for row in self.instruments.values()
        if kind in (None, row["kind"])
        and size in (None, row["size"])
        and pupil_id in (None, row["pupil_id"])
        and not (free and (row["pupil_id"] is not None or row["damage"]))
        and not (overdue and (row["due_on"] is None or row["due_on"] >= self.today))
    ]
    found.sort(key=lambda row: (row["due_on"] or "9999-12-31", -row["made_in"], row["instrument_id"]))
    return {"success": True, "data": found}
'''

    WRITES = '''
def measure_pupil(self, pupil_id: str, instrument_size: str) -> dict:
    """Record that a pupil has grown; what the pupil has on loan stays until it is brought back.

    Args:
        pupil_id: Id of the pupil.
        instrument_size: The size that fits now: <<sizes>>; larger than before.

    Returns:
        The pupil's record, or an error.
    """
    need p
    sizes = (<<quoted(s.sizes)>>)
    refuse if instrument_size not in sizes :: There is no size {instrument_size!r}.
    before = pupil["instrument_size"]
    if sizes.index(instrument_size) <= sizes.index(before):
        refuse :: {pupil['name']} was measured for {before}, and {instrument_size} is not larger.
    pupil["instrument_size"] = instrument_size
    done dict(pupil) :: {pupil['name']} needs size {instrument_size} now.

def lend_instrument(self, instrument_id: str, pupil_id: str, due_on: str) -> dict:
    """Lend an instrument to a pupil from today on.

    Args:
        instrument_id: Id of the instrument, which is at the school, undamaged and of the pupil's size.
        pupil_id: Id of the pupil, who is active and has no other instrument of this kind.
        due_on: Day by which it has to be back, as YYYY-MM-DD: after today, <<s.longest>> days from now at most.

    Returns:
        The instrument, or an error.
    """
    need i
    need p
    kind, size = instrument["kind"], instrument["size"]
    refuse if instrument["pupil_id"] is not None :: {instrument_id} is lent until {instrument['due_on']}.
    refuse if instrument["damage"] :: {instrument_id} has to be mended: {instrument['damage']}.
    refuse if pupil["status"] != "active" :: {pupil['name']} is {pupil['status']}: {pupil['status_note']}.
    if size != pupil["instrument_size"]:
        refuse :: {pupil['name']} needs size {pupil['instrument_size']}, not {size}.
    if any((row["pupil_id"], row["kind"]) == (pupil_id, kind) for row in self.instruments.values()):
        refuse :: {pupil['name']} has another {kind}.
    try:
        due_on = date.fromisoformat(due_on).isoformat()
    except ValueError:
        refuse :: {due_on!r} is not a date like {self.today}.
    days = (date.fromisoformat(due_on) - date.fromisoformat(self.today)).days
    refuse if not 0 < days <= <<s.longest>> :: It can be lent for 1 to <<s.longest>> days, not for {days}.
    instrument.update(pupil_id=pupil_id, lent_on=self.today, due_on=due_on)
    done dict(instrument) :: {pupil['name']} has the {kind} until {due_on}.

def return_instrument(self, instrument_id: str, damage: str = "") -> dict:
    """Take back an instrument that was lent.

    Args:
        instrument_id: Id of the instrument.
        damage: What has to be mended before it is lent again. Leave out when it is in good order.

    Returns:
        The instrument, or an error.
    """
    need i
    refuse if instrument["pupil_id"] is None :: {instrument_id} is at the school.
    instrument.update(pupil_id=None, lent_on=None, due_on=None, damage=damage.strip())
    done dict(instrument) :: The {instrument['kind']} {instrument_id} is back.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, year = v.s, int(state["today"][:4])
        for kind in s.kinds:
            for size in s.sizes:
                for age in sorted(shuffled(rng, range(1, 14))[: int(rng.integers(1, 3))]):
                    damage = pick(rng, s.damages) if rng.random() < 0.12 else ""
                    row = {"kind": kind, "size": size, "made_in": year - age, "damage": damage}
                    put(state, INSTRUMENT, "IN", **row, pupil_id=None, lent_on=None, due_on=None)
        due = iter(shuffled(rng, range(-12, 60)))
        for pupil, kind in self._borrowers(v, state, rng):
            rows = free(state, kind, pupil["instrument_size"])
            if rows:
                back = later(state["today"], next(due))
                lent = later(back, -int(rng.integers(max(s.longest // 2, 61), s.longest + 1)))
                pick(rng, rows).update(pupil_id=pupil["pupil_id"], lent_on=lent, due_on=back)

    def _borrowers(self, v: SimpleNamespace, state: State, rng: Rng) -> Iterator[tuple[Row, str]]:
        """About half of the pupils, each with what they play."""
        for pupil in shuffled(rng, list(state["pupils"].values())):
            if pupil["status"] == "active" and rng.random() < 0.6:
                yield pupil, pick(rng, v.s.kinds)


PATTERN = Instruments
