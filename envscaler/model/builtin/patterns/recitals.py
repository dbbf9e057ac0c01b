"""Recitals: what pupils play, in which order, and whether it fits the time of the evening.

The pupils are those of an earlier registry, and what they learn is told by the courses of an earlier enrolment.
"""

from collections.abc import Iterator
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
    either,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns._snippets import put
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]
PUPIL, PERFORMANCE = Noun("pupil"), Noun("performance")


class RecitalsSettings(Settings):
    """The recitals of a term, and what may be played there."""

    course: str
    """What pupils take: an enrolment's noun."""
    taking: str
    """That they take it: the same enrolment's noun."""
    family: str
    """The attribute of a course that tells for which instruments it is."""
    recitals: dict[str, int]
    """Recital → minutes it may last."""
    changeover: int
    """Minutes between two pieces."""
    pieces: dict[str, dict[str, int]]
    """Family of instruments → piece → minutes."""


class Evening:
    """What may be asked of the recitals of a state, for draws and outcomes."""

    def __init__(self, v: SimpleNamespace, state: State) -> None:
        self.v = v
        self.state = state

    def programme(self, recital: str) -> list[Row]:
        """What is played, in its order."""
        rows = [
            row
            for row in self.state["performances"].values()
            if row["recital"] == recital and row["position"] is not None
        ]
        return sorted(rows, key=lambda row: row["position"])

    def left(self, recital: str) -> int:
        """Minutes that are left; before a further piece, one changeover is taken off."""
        played = sum(row["minutes"] + self.v.s.changeover for row in self.programme(recital))
        return int(self.v.s.recitals[recital] - played)

    def families(self, pupil: str) -> list[str]:
        """What a pupil may play: the families of the courses that the pupil takes or has completed."""
        v, c = self.v, f"{self.v.c.id}_id"
        taken = [row for row in self.state[v.e.ids].values() if row["pupil_id"] == pupil]
        courses = [row[c] for row in taken if row["status"] in ("enrolled", "completed")]
        return sorted({self.state[v.c.ids][key][v.s.family] for key in courses})

    def may_play(self, pupil: Row, recital: str, family: str, minutes: int) -> bool:
        """Whether a pupil may play so long a piece, last in a recital."""
        there = any(row["pupil_id"] == pupil["pupil_id"] for row in self.programme(recital))
        able = pupil["status"] == "active" and family in self.families(pupil["pupil_id"])
        return able and not there and 1 <= minutes <= self.left(recital)

    def unplayed(self, family: str) -> list[tuple[str, int]]:
        """Pieces of a family that nobody plays, with their minutes."""
        played = {row["piece"] for row in self.state["performances"].values()}
        return [(piece, long) for piece, long in self.v.s.pieces[family].items() if piece not in played]


class RecitalGoal(Goal):
    """What goals share: the programme of a recital after a change."""

    def ordered(self, rows: list[Row], items: dict[str, str]) -> list[Outcome]:
        """These pieces follow one another from 1 on; those that have moved are named."""
        told: list[Outcome] = []
        for number, row in enumerate(rows, 1):
            key = row["performance_id"]
            if row["position"] != number:
                item = items.get(key) or f"Is '{row['piece']}' number {number} of the {row['recital']}?"
                also = (row["pupil_id"], row["recital"])
                told.append(Changed("performances", key, {"position": number}, item, also))
        return told

    def playing(self, slots: Slots, state: State) -> Row:
        """What a pupil plays in a recital."""
        pupil = named(state, PUPIL, slots["name"])["pupil_id"]
        rows = Evening(self.v, state).programme(slots["recital"])
        return dict(only([row for row in rows if row["pupil_id"] == pupil]))

    def some(self, state: State, rng: Rng) -> Slots:
        """Somebody who plays in a recital."""
        row = any_of(rng, [row for row in state["performances"].values() if row["position"] is not None])
        return {"name": state["pupils"][row["pupil_id"]]["name"], "recital": row["recital"]}

    def added(self, slots: Slots, state: State, recital: str) -> Added:
        """A piece is the last one of a recital."""
        evening, pupil = Evening(self.v, state), named(state, PUPIL, slots["name"])
        if not evening.may_play(pupil, recital, slots["family"], slots["minutes"]):
            raise LookupError("it cannot be played there")
        fields = {
            "recital": recital,
            "position": len(evening.programme(recital)) + 1,
            "pupil_id": pupil["pupil_id"],
            self.v.s.family: slots["family"],
            "piece": slots["piece"],
            "minutes": slots["minutes"],
        }
        item = f"Has '{slots['piece']}' by {slots['name']} been added at the end of the right recital?"
        return Added("performances", fields, item, (recital,))

    def some_piece(self, state: State, rng: Rng) -> Slots:
        """Somebody and a piece for what that pupil learns."""
        evening = Evening(self.v, state)
        able = [row for row in state["pupils"].values() if row["status"] == "active"]
        pupil = any_of(rng, [row for row in able if evening.families(row["pupil_id"])])
        family = pick(rng, evening.families(pupil["pupil_id"]))
        piece, minutes = any_of(rng, evening.unplayed(family))
        return {"name": pupil["name"], "family": family, "piece": piece, "minutes": minutes}


class Play(RecitalGoal):
    """One more piece for a recital."""

    phrases = (
        'The pupil {name:name} would like to play in the {recital:name}: "{piece:text}" ({family:name}, {minutes:int} '
        "minutes), please add it at the end of the programme.",
        'Please put "{piece:text}" ({family:name}, {minutes:int} minutes), performed by the pupil {name:name}, at the '
        "end of the programme of the {recital:name}.",
    )
    needs = ("find_pupils", "add_to_recital")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {**self.some_piece(state, rng), "recital": pick(rng, list(self.v.s.recitals))}

    def plan(self, slots: Slots) -> list[Row]:
        given = f"{self.v.s.family}=family piece minutes"
        return steps(slots, "find_pupils name", f"add_to_recital pupil_id<0 recital {given}")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if slots["recital"] not in self.v.s.recitals:
            raise LookupError("there is no such recital")
        return [self.added(slots, state, slots["recital"])]


class PlayWhereRoom(RecitalGoal):
    """One more piece for the recital that has most time left."""

    phrases = (
        'The pupil {name:name} may perform "{piece:text}" ({family:name}, {minutes:int} minutes): add it to whichever '
        "recital has the most minutes left.",
        'Please find out which recital has the most time left and put "{piece:text}" ({family:name}, {minutes:int} '
        "minutes) of the pupil {name:name} at its end.",
    )
    needs = ("find_pupils", "list_recitals", "add_to_recital")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some_piece(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        given = f"{self.v.s.family}=family piece minutes"
        add = f"add_to_recital pupil_id<0 recital<1 {given}"
        return steps(slots, "find_pupils name", "list_recitals", add)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        evening = Evening(self.v, state)
        left = {recital: evening.left(recital) for recital in self.v.s.recitals}
        most = only([recital for recital in left if left[recital] == max(left.values())])
        added = self.added(slots, state, most)
        return [Added(added.table, added.fields, added.item, tuple(left))]


class Drop(RecitalGoal):
    """A pupil does not play after all."""

    phrases = (
        "The pupil {name:name} cannot perform in the {recital:name}, please take the piece off the programme.",
        "Please withdraw what the pupil {name:name} was to perform in the {recital:name}.",
    )
    needs = ("find_pupils", "find_performances", "withdraw_performance")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_pupils name",
            "find_performances recital pupil_id<0",
            "withdraw_performance performance_id<1",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.playing(slots, state)
        key, also = row["performance_id"], (row["pupil_id"], row["recital"])
        item = f"Has '{row['piece']}' by {slots['name']} been taken off the {row['recital']}?"
        rest = [
            one for one in Evening(self.v, state).programme(row["recital"]) if one["performance_id"] != key
        ]
        return [Changed("performances", key, {"position": None}, item, also), *self.ordered(rest, {})]


class Move(RecitalGoal):
    """A pupil plays earlier or later."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The pupil {name:name} should perform as number {position:int} of the {recital:name}, please change the order.",
        "Please move the piece of the pupil {name:name} in the {recital:name} to position {position:int}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_pupils", "find_performances", "move_performance")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng)
        many = len(Evening(self.v, state).programme(slots["recital"]))
        return {**slots, "position": int(rng.integers(1, many + 1))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_pupils name",
            "find_performances recital pupil_id<0",
            "move_performance performance_id<1 position",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.moved(self.playing(slots, state), slots["position"], state)

    def moved(self, row: Row, position: int, state: State) -> list[Outcome]:
        """A piece has another position, and the others keep their order."""
        rows = Evening(self.v, state).programme(row["recital"])
        if not 1 <= position <= len(rows) or position == row["position"]:
            raise LookupError("it cannot be moved there")
        key = row["performance_id"]
        rest = [one for one in rows if one["performance_id"] != key]
        item = f"Is '{row['piece']}' number {position} of the {row['recital']} now?"
        return self.ordered([*rest[: position - 1], row, *rest[position - 1 :]], {key: item})


class OpenWithShortest(Move):
    """The shortest piece comes first."""

    phrases = (
        "The {recital:name} should begin with its shortest piece, so please move that one to the front.",
        "Please let the {recital:name} open with whichever of its pieces is the shortest.",
    )
    needs = ("find_performances", "move_performance")
    weight = 0.8

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"recital": pick(rng, list(self.v.s.recitals))}

    def plan(self, slots: Slots) -> list[Row]:
        first = {**slots, "one": 1}
        find = "find_performances recital shortest_first=True"
        return steps(first, find, "move_performance performance_id<0 position=one")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = Evening(self.v, state).programme(slots["recital"])
        least = min((row["minutes"] for row in rows), default=0)
        return self.moved(only([row for row in rows if row["minutes"] == least]), 1, state)


class Recitals(Pattern):
    """Recitals of a school and their programmes."""

    Settings = RecitalsSettings
    GOALS: ClassVar = (Play, PlayWhereRoom, Drop, Move, OpenWithShortest)

    def vocabulary(self, s: RecitalsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        lasting = [f"the {name} at most {most} minutes" for name, most in s.recitals.items()]
        return {
            "p": shared["pupil"],
            "c": shared[s.course],
            "e": shared[s.taking],
            "f": PERFORMANCE,
            "families": list(s.pieces),
            "names": list(s.recitals),
            "listed": either(list(s.recitals)),
            "lasting": ", ".join(lasting),
            "limits": ", ".join(f'"{name}": {most}' for name, most in s.recitals.items()),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(
                PERFORMANCE,
                "A piece that a pupil performs in a recital.",
                f"""
                performance_id: str = unique id, e.g. PF-001
                recital: str = {v.listed}
                position: int | None = its place in the programme, counted from 1; None once it is withdrawn
                pupil_id: str = the pupil who performs
                {v.s.family}: str = what it is performed with: {", ".join(v.families)}
                piece: str = what is performed
                minutes: int = how long it lasts
                """,
            )
        ]

    RULES = (
        RuleText(
            "The pieces of a recital are numbered from 1 without a gap, each by a different pupil, and fit its time "
            "with <<s.changeover>> minutes between two of them: <<lasting>>.",
            """
            programmes = {}
            for row in rows(after, "performances").values():
                if row.get("position") is not None:
                    programmes.setdefault(str(row.get("recital")), []).append(row)
            for recital, pieces in programmes.items():
                if any(not isinstance(row.get(name), int) for row in pieces for name in ("position", "minutes")):
                    return False
                if sorted(row["position"] for row in pieces) != list(range(1, len(pieces) + 1)):
                    return False
                if len({str(row.get("pupil_id")) for row in pieces}) < len(pieces):
                    return False
                lasts = sum(row["minutes"] + <<s.changeover>> for row in pieces) - <<s.changeover>>
                if lasts > {<<limits>>}.get(recital, 0):
                    return False
            return True
            """,
            rank=0,
        ),
    )

    HELPERS = '''
    def _programme(self, recital: str) -> list[Performance]:
        """Return what is performed in a recital, in its order."""
        pieces = [row for row in self.performances.values() if row["recital"] == recital]
        return sorted((row for row in pieces if row["position"] is not None), key=lambda row: row["position"])

    def _minutes_left(self, recital: str) -> int:
        """Return how long a further piece may be, after the changeover that it needs."""
        most = {<<limits>>}[recital]
        return max(0, most - sum(row["minutes"] + <<s.changeover>> for row in self._programme(recital)))

    def _number(self, pieces: list[Performance]) -> None:
        """Give the pieces of a recital their positions, from 1 on."""
        for position, row in enumerate(pieces, 1):
            row["position"] = position
'''

    READS = '''
def list_recitals(self) -> dict:
    """List the recitals of this term, the one with the most time left first.

    Returns:
        Each `recital` with the number of `pieces` and the `minutes_left`: how long a further piece may be.
    """
    recitals = [
        {"recital": name, "pieces": len(self._programme(name)), "minutes_left": self._minutes_left(name)}
        for name in (<<quoted(names)>>)
    ]
    return {"success": True, "data": sorted(recitals, key=lambda row: -row["minutes_left"])}

def find_performances(
    self, recital: str | None = None, pupil_id: str | None = None, shortest_first: bool = False
) -> dict:
    """Show what is performed in the recitals; what was withdrawn is left out.

    Args:
        recital: Only this one: <<listed>>. Leave out for all.
        pupil_id: Only what this pupil performs. Leave out for all.
        shortest_first: True to have the shortest pieces in front instead of the order of the programme.

    Returns:
        The matching performances with the `pupil` by name; an empty list when there are none.
    """
    refuse if recital is not None and recital not in (<<quoted(names)>>) :: There is no recital {recital!r}.
    found = [
        {**row, "pupil": self.pupils[row["pupil_id"]]["name"]}
        for name in (<<quoted(names)>>)
        for row in self._programme(name)
        if recital in (None, name) and pupil_id in (None, row["pupil_id"])
    ]
    if shortest_first:
        found.sort(key=lambda row: row["minutes"])
    return {"success": True, "data": found}
'''

    WRITES = '''
def add_to_recital(self, recital: str, pupil_id: str, <<s.family>>: str, piece: str, minutes: int) -> dict:
    """Put a piece at the end of the programme of a recital.

    Args:
        recital: One of: <<listed>>.
        pupil_id: Id of the pupil: active, with a place in <<c.a>> of that family or a completed one, and not in this
            recital already.
        <<s.family>>: What it is performed with: <<families|join(", ")>>.
        piece: What is performed.
        minutes: How long it lasts: at least 1, and no more than the recital has left.

    Returns:
        The performance with its position, or an error.
    """
    need p
    refuse if recital not in (<<quoted(names)>>) :: There is no recital {recital!r}.
    refuse if not piece.strip() :: The piece has no name.
    refuse if pupil["status"] != "active" :: {pupil['name']} is {pupil['status']}: {pupil['status_note']}.
    learnt = [
        self.<<c.ids>>[row["<<c.id>>_id"]]["<<s.family>>"]
        for row in self.<<e.ids>>.values()
        if row["pupil_id"] == pupil_id and row["status"] in ("enrolled", "completed")
    ]
    refuse if <<s.family>> not in learnt :: {pupil['name']} has no <<c>> for {<<s.family>>}.
    programme, left = self._programme(recital), self._minutes_left(recital)
    if any(row["pupil_id"] == pupil_id for row in programme):
        refuse :: {pupil['name']} performs in the {recital} already.
    refuse if minutes < 1 :: A piece lasts at least 1 minute, not {minutes}.
    refuse if minutes > left :: The {recital} has {left} minutes left, {minutes} do not fit.
    performance: Performance = {
        "performance_id": self._next_id(self.performances, "PF"),
        "recital": recital,
        "position": len(programme) + 1,
        "pupil_id": pupil_id,
        "<<s.family>>": <<s.family>>,
        "piece": piece.strip(),
        "minutes": minutes,
    }
    self.performances[performance["performance_id"]] = performance
    done dict(performance) :: {pupil['name']} performs as number {performance['position']} of the {recital}.

def move_performance(self, performance_id: str, position: int) -> dict:
    """Give a piece another place in the programme of its recital; the others keep their order.

    Args:
        performance_id: Id of the performance, which is not withdrawn.
        position: The new place, 1 for the first.

    Returns:
        The programme of the recital, or an error.
    """
    need f
    refuse if performance["position"] is None :: {performance['piece']} was withdrawn.
    programme = self._programme(performance["recital"])
    refuse if not 1 <= position <= len(programme) :: The places are 1 to {len(programme)}, not {position}.
    refuse if position == performance["position"] :: {performance['piece']} is number {position} already.
    programme.remove(performance)
    programme.insert(position - 1, performance)
    self._number(programme)
    done [dict(row) for row in programme] :: {performance['piece']} is number {position} now.

def withdraw_performance(self, performance_id: str) -> dict:
    """Take a piece off the programme of its recital; those behind it move up.

    Args:
        performance_id: Id of the performance, which is not withdrawn.

    Returns:
        What is left of the programme, or an error.
    """
    need f
    refuse if performance["position"] is None :: {performance['piece']} was withdrawn already.
    performance["position"] = None
    programme = self._programme(performance["recital"])
    self._number(programme)
    done [dict(row) for row in programme] :: {performance['piece']} is off the programme.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        evening = Evening(v, state)
        for recital in v.s.recitals:
            many = int(rng.integers(3, 7))
            for pupil, family in self._performers(evening, rng):
                piece, minutes = any_of(rng, evening.unplayed(family) or [("", 0)])
                number = len(evening.programme(recital)) + 1
                if number <= many and evening.may_play(pupil, recital, family, minutes):
                    row = {"recital": recital, "position": number, "pupil_id": pupil["pupil_id"]}
                    put(state, PERFORMANCE, "PF", **row, **{v.s.family: family}, piece=piece, minutes=minutes)

    def _performers(self, evening: Evening, rng: Rng) -> Iterator[tuple[Row, str]]:
        """The pupils in some order, each with something to perform with."""
        for pupil in shuffled(rng, list(evening.state["pupils"].values())):
            families = evening.families(pupil["pupil_id"])
            if families:
                yield pupil, pick(rng, families)


PATTERN = Recitals
