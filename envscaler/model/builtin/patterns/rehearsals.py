"""Rehearsals: nights and halls of sections, who is excused and who stands in, the keys, and the prompt book.

Beside `meetings` on purpose: nobody is asked when it suits, sections are called; what is scarce is players of the same
section and the key of a hall. The prompt book's cues stand in an order without gaps, so one that moves moves others.
"""

from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin import names
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
    call,
    either,
    found,
    in_own_words,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]
KINDS = ("light", "sound", "flies", "trapdoor")


class RehearsalSettings(Settings):
    """The sections, halls, works and cues of a house."""

    sections: dict[str, int]
    """Section of players or singers → how many belong to it."""
    halls: dict[str, tuple[int, bool]]
    """Name of a hall → places, and whether it has a piano."""
    works: list[str]
    """What is rehearsed."""
    books: dict[str, list[tuple[str, str, str]]]
    """Stage works among them → their cues in order: kind, what happens, crew."""
    crews: list[str]
    """Crews that do the cues."""
    reasons: list[str]
    """Why people are excused."""
    faults: list[str]
    """What went wrong with cues."""


def called_of(members: int) -> int:
    """How many of a section are called to an ordinary rehearsal; the others can stand in."""
    return members - members // 3


def overlap(one: Row, two: Row) -> bool:
    """Whether two rehearsals are at the same time."""
    return bool(one["day"] == two["day"] and one["start"] < two["end"] and two["start"] < one["end"])


class RehearsalGoal(Goal):
    """What goals about rehearsals share."""

    def rehearsal(self, section: str, day: str, state: State) -> Row:
        """The one rehearsal of a section on a day that is not cancelled."""
        rows = [row for row in state["rehearsals"].values() if row["status"] != "cancelled"]
        return only([row for row in rows if (row["section"], row["day"]) == (section, day)])

    def some(self, state: State, rng: Rng, **wanted: Any) -> Row:
        """A rehearsal that is not cancelled."""
        rows = [row for row in state["rehearsals"].values() if row["status"] != "cancelled"]
        rows = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
        if not rows:
            raise LookupError("there is no such rehearsal")
        return dict(pick(rng, rows))

    def calls(self, row: Row, state: State) -> list[Row]:
        """The calls to a rehearsal."""
        return [one for one in state["calls"].values() if one["rehearsal_id"] == row["rehearsal_id"]]

    def busy(self, member: str, at: Row, state: State, *ignore: str) -> bool:
        """Whether somebody plays in another rehearsal at the time of this one."""
        for one in state["calls"].values():
            row = state["rehearsals"][one["rehearsal_id"]]
            plays = one["stand_in_id"] == member or (one["member_id"] == member and one["answer"] == "called")
            if (
                plays
                and row["status"] != "cancelled"
                and row["rehearsal_id"] not in ignore
                and overlap(row, at)
            ):
                return True
        return False

    def present(self, row: Row, state: State) -> int:
        """How many will play."""
        return sum(
            one["answer"] == "called" or one["stand_in_id"] is not None for one in self.calls(row, state)
        )

    def halls(self, at: Row, places: int, piano: bool, state: State) -> list[Row]:
        """The free halls that are large enough, the smallest first."""
        taken = [row["hall_id"] for row in state["rehearsals"].values() if overlap(row, at)]
        rows = [
            row for row in state["halls"].values() if row["places"] >= places and row["hall_id"] not in taken
        ]
        rows = [row for row in rows if row["piano"] or not piano]
        return sorted(rows, key=lambda row: (row["places"], row["name"]))

    def leader(self, section: str, state: State) -> Row:
        """Who leads a section."""
        rows = state["members"].values()
        return only([row for row in rows if row["section"] == section and row["leader"]])

    def change(self, row: Row, item: str, **fields: Any) -> Changed:
        """The rehearsal has these values."""
        return Changed("rehearsals", row["rehearsal_id"], fields, item)

    def wavers(self, row: Row, state: State) -> list[Outcome]:
        """A confirmed rehearsal is only planned when one more is missing than may be."""
        if row["status"] == "planned" or self.present(row, state) > row["least"]:
            return []
        item = f"Is the rehearsal of the {row['section']} on {row['day']} not confirmed any more?"
        return [self.change(row, item, status="planned")]


class Swap(RehearsalGoal):
    """Two rehearsals exchange their nights and halls."""

    phrases = (
        "Please swap two rehearsal nights: the {one:name} on {first:date} and the {two:name} on {second:date} change "
        "places, halls included.",
        "The rehearsal of the {one:name} on {first:date} and that of the {two:name} on {second:date} have to trade "
        "nights and halls.",
    )
    needs = ("find_rehearsals", "swap_nights")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one, two = self.some(state, rng), self.some(state, rng)
        return {"one": one["section"], "first": one["day"], "two": two["section"], "second": two["day"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "find_rehearsals section=one day=first",
            "find_rehearsals section=two day=second",
            "swap_nights first_id<0/0/rehearsal_id other_id<1/0/rehearsal_id",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one = self.rehearsal(slots["one"], slots["first"], state)
        two = self.rehearsal(slots["two"], slots["second"], state)
        ids = (one["rehearsal_id"], two["rehearsal_id"])
        if one is two or one["day"] == two["day"]:
            raise LookupError("it is one night")
        wanted: list[Outcome] = []
        for row, other in ((one, two), (two, one)):
            times = {name: other[name] for name in ("day", "start", "end", "hall_id")}
            if len(self.calls(row, state)) > state["halls"][other["hall_id"]]["places"]:
                raise LookupError("the hall is too small")
            if any(self.busy(each["member_id"], other, state, *ids) for each in self.calls(row, state)):
                raise LookupError("somebody would be in two places")
            item = f"Does the rehearsal of the {row['section']} have the night of {other['day']} now?"
            wanted.append(self.change(row, item, **times, status="planned"))
            for each in self.calls(row, state):
                if each["answer"] != "called":
                    who = state["members"][each["member_id"]]["name"]
                    fields = {"answer": "called", "reason": "", "stand_in_id": None}
                    item = f"Is {who} called again for the new night of the {row['section']}?"
                    wanted.append(Changed("calls", each["call_id"], fields, item))
        return wanted


class KeyToLast(RehearsalGoal):
    """The key of a hall goes along with whoever is last out of it."""

    weight: ClassVar[float] = 0.7
    phrases = (
        "The key of the {hall:name} should be with the leader of the section that finishes there last on {day:date}, "
        "so hand it over.",
        "Find out which section is the last to leave the {hall:name} on {day:date} and hand the key to its leader.",
    )
    needs: ClassVar[tuple[str, ...]] = ("last_out", "hand_key")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        return {"hall": state["halls"][row["hall_id"]]["name"], "day": row["day"]}

    def plan(self, slots: Slots) -> list[Row]:
        ids = {"hall_id": found(0, "hall_id"), "to_id": found(0, "leader_id")}
        return [call("last_out", hall=slots["hall"], day=slots["day"]), call("hand_key", **ids)]

    def handed(self, hall: Row, to: Row, state: State) -> list[Outcome]:
        """The key has gone from its holder to another."""
        key, holder = hall["hall_id"], hall["key_holder_id"]
        if holder == to["member_id"]:
            raise LookupError("the key is there already")
        fields = {"hall_id": key, "from_id": holder, "to_id": to["member_id"], "day": state["today"]}
        return [
            Changed(
                "halls",
                key,
                {"key_holder_id": to["member_id"]},
                f"Has {to['name']} the key of the {hall['name']}?",
            ),
            Added(
                "key_handovers",
                fields,
                f"Is it written down that {to['name']} got the key of the {hall['name']}?",
            ),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        hall = named(state, Noun("hall"), slots["hall"])
        rows = [row for row in state["rehearsals"].values() if row["hall_id"] == hall["hall_id"]]
        rows = [row for row in rows if row["day"] == slots["day"]]
        if not rows:
            raise LookupError("nobody is there")
        last = max(rows, key=lambda row: str(row["end"]))
        return self.handed(hall, self.leader(last["section"], state), state)


class KeyToLeader(KeyToLast):
    """The key of a hall goes to the leader of a section."""

    weight: ClassVar[float] = 0.7
    phrases = (
        "Please hand the key of the {hall:name} on to whoever leads the {section:name}.",
        "The leader of the {section:name} has picked up the key of the {hall:name}, so write that down.",
    )
    needs = ("trace_key", "find_members", "hand_key")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        hall = pick(rng, list(state["halls"].values()))
        return {"hall": hall["name"], "section": pick(rng, list(self.v.s.sections))}

    def plan(self, slots: Slots) -> list[Row]:
        calls = steps(slots, "trace_key hall", "find_members section leaders=True")
        return [*calls, call("hand_key", hall_id=found(0, "hall_id"), to_id=found(1, 0, "member_id"))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        hall = named(state, Noun("hall"), slots["hall"])
        return self.handed(hall, self.leader(slots["section"], state), state)


class Excuse(RehearsalGoal):
    """Somebody cannot come."""

    weight: ClassVar[float] = 0.7
    phrases: ClassVar[tuple[str, ...]] = (
        'Please excuse {name:name} from the rehearsal on {day:date}, the reason is "{reason:text}".',
        '{name:name} will not be at the rehearsal on {day:date}: enter the excuse "{reason:text}".',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_members", "list_calls", "excuse_member")
    answer: ClassVar[str] = "called"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [
            row for row in state["calls"].values() if row["answer"] == self.answer and not row["stand_in_id"]
        ]
        one = pick(rng, rows) if rows else None
        day = state["rehearsals"][one["rehearsal_id"]]["day"] if one else ""
        return one and {
            "name": state["members"][one["member_id"]]["name"],
            "day": day,
            "reason": pick(rng, self.v.s.reasons),
        }

    def plan(self, slots: Slots) -> list[Row]:
        calls = steps(slots, "find_members name", "list_calls member_id<0 day")
        return [*calls, call("excuse_member", call_id=found(1, 0, "call_id"), reason=slots["reason"])]

    def one(self, slots: Slots, state: State) -> tuple[Row, Row]:
        """The call of the named member on that day, and its rehearsal."""
        member = named(state, Noun("member"), slots["name"])["member_id"]
        pairs = [(row, state["rehearsals"][row["rehearsal_id"]]) for row in state["calls"].values()]
        one, row = only([p for p in pairs if p[0]["member_id"] == member and p[1]["day"] == slots["day"]])
        if row["status"] == "cancelled" or one["answer"] != self.answer or one["stand_in_id"]:
            raise LookupError("there is no such call")
        return one, row

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, row = self.one(slots, state)
        item = f"Is {slots['name']} excused on {slots['day']} with that reason?"
        fields = {"answer": "excused", "reason": slots["reason"]}
        mark = (row["rehearsal_id"],)
        return [Changed("calls", one["call_id"], fields, item, mark), *self.wavers(row, state)]


ExcuseInOwnWords = in_own_words(
    Excuse,
    "reason",
    "{name:name} has called in sick for the rehearsal on {day:date}; word the excuse as you like.",
    "Please excuse {name:name} from the rehearsal on {day:date} and put the reason into your own words.",
)


class Replace(Excuse):
    """Somebody is excused, and the one of the section who has stood in least stands in."""

    weight = 1.0
    phrases = (
        'Excuse {name:name} from the rehearsal on {day:date} with the reason "{reason:text}", and let whoever of the '
        "section is free and has stood in least take the place.",
        '{name:name} has to miss the rehearsal on {day:date}, reason "{reason:text}"; as the stand-in take the free '
        "member of the section who has stood in least so far.",
    )
    needs: ClassVar[tuple[str, ...]] = (
        "find_members", "list_calls", "excuse_member", "suggest_stand_ins", "name_stand_in",
    )  # fmt: skip

    def plan(self, slots: Slots) -> list[Row]:
        return [*super().plan(slots), *self.stand_in(3)]

    def stand_in(self, index: int) -> list[Row]:
        """The call that ranks stand-ins, at that place of the plan, and the one that takes the first."""
        one = found(1, 0, "call_id")
        return [
            call("suggest_stand_ins", call_id=one),
            call("name_stand_in", call_id=one, stand_in_id=found(index, 0, "member_id")),
        ]

    def first(self, one: Row, row: Row, state: State) -> Row:
        """The free member of the section who has stood in least; raises `LookupError` when there is none."""
        section = state["members"][one["member_id"]]["section"]
        often = [other["stand_in_id"] for other in state["calls"].values()]
        there = {other["member_id"] for other in self.calls(row, state)}
        rows = [
            m for m in state["members"].values() if m["section"] == section and m["member_id"] not in there
        ]
        free = [m for m in rows if not self.busy(m["member_id"], row, state)]
        least = min((often.count(m["member_id"]) for m in free), default=0)
        return only([m for m in free if often.count(m["member_id"]) == least])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, row = self.one(slots, state)
        who = self.first(one, row, state)
        item = f"Is {slots['name']} excused on {slots['day']}, with {who['name']} as the stand-in?"
        fields = {"answer": "excused", "reason": slots["reason"], "stand_in_id": who["member_id"]}
        mark = (row["rehearsal_id"],)
        return [Changed("calls", one["call_id"], fields, item, mark), *self.wavers(row, state)]


class StandIn(Replace):
    """Somebody who is excused already gets a stand-in."""

    answer = "excused"
    phrases = (
        "{name:name} is excused on {day:date} but nobody stands in: take the free member of the section who has stood "
        "in least.",
        "Please fill the place that {name:name} leaves empty on {day:date} with whoever is free in that section and "
        "has stood in least.",
    )
    needs = ("find_members", "list_calls", "suggest_stand_ins", "name_stand_in")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        return slots and {"name": slots["name"], "day": slots["day"]}

    def plan(self, slots: Slots) -> list[Row]:
        return [*steps(slots, "find_members name", "list_calls member_id<0 day"), *self.stand_in(2)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, row = self.one(slots, state)
        who = self.first(one, row, state)
        item = f"Does {who['name']} stand in for {slots['name']} on {slots['day']}?"
        return [
            Changed("calls", one["call_id"], {"stand_in_id": who["member_id"]}, item, (row["rehearsal_id"],))
        ]


class Confirm(RehearsalGoal):
    """A rehearsal for which enough people are there takes place."""

    weight: ClassVar[float] = 0.4
    phrases: ClassVar[tuple[str, ...]] = (
        "Enough people are there for the rehearsal of the {section:name} on {day:date}, so please confirm it.",
        "Please confirm that the {section:name} rehearse on {day:date}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_rehearsals", "confirm_rehearsal")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        return {"section": row["section"], "day": row["day"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_rehearsals section day", "confirm_rehearsal rehearsal_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.rehearsal(slots["section"], slots["day"], state)
        if row["status"] != "planned" or self.present(row, state) < row["least"]:
            raise LookupError("it cannot be confirmed")
        item = f"Is the rehearsal of the {slots['section']} on {slots['day']} confirmed?"
        return [self.change(row, item, status="confirmed")]


class Cancel(Confirm):
    """A rehearsal does not take place; hall and stand-ins are free."""

    phrases = (
        "The rehearsal of the {section:name} on {day:date} is off, so cancel it and let the hall go.",
        "Please cancel what the {section:name} have on {day:date}; stand-ins need not come either.",
    )
    needs = ("find_rehearsals", "cancel_rehearsal")

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_rehearsals section day", "cancel_rehearsal rehearsal_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.rehearsal(slots["section"], slots["day"], state)
        item = f"Is the rehearsal of the {slots['section']} on {slots['day']} cancelled?"
        return [
            self.change(row, item, status="cancelled", hall_id=None),
            *(
                Changed(
                    "calls",
                    one["call_id"],
                    {"stand_in_id": None},
                    f"Is the stand-in of {one['call_id']} free?",
                )
                for one in self.calls(row, state)
                if one["stand_in_id"]
            ),
        ]


class Piano(RehearsalGoal):
    """A rehearsal goes to the smallest free hall with a piano."""

    phrases = (
        "The {section:name} need a piano on {day:date}, so move that rehearsal into the smallest free hall that has "
        "one and a place for everybody called.",
        "Please find the smallest hall that is free when the {section:name} rehearse on {day:date} and has a piano "
        "and a place for everybody called, and put them there.",
    )
    needs = ("find_rehearsals", "rank_halls", "change_hall")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.some(state, rng)
        return {"section": row["section"], "day": row["day"]}

    def plan(self, slots: Slots) -> list[Row]:
        when = {name: found(0, 0, name) for name in ("day", "start", "end")}
        return [
            *steps(slots, "find_rehearsals section day"),
            call("rank_halls", **when, people=found(0, 0, "called"), with_piano=True),
            call("change_hall", rehearsal_id=found(0, 0, "rehearsal_id"), hall_id=found(1, 0, "hall_id")),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.rehearsal(slots["section"], slots["day"], state)
        halls = self.halls(row, len(self.calls(row, state)), True, state)
        # Whoever has a piano already would rightly be left where they are.
        if not halls or state["halls"][row["hall_id"]]["piano"]:
            raise LookupError("there is no such hall, or they have a piano")
        item = f"Are the {slots['section']} in the {halls[0]['name']} on {slots['day']}?"
        return [self.change(row, item, hall_id=halls[0]["hall_id"])]


class CallSection(RehearsalGoal):
    """A new rehearsal of a section in the smallest free hall."""

    phrases = (
        "Call the {section:name}, all {people:int} of them, for {work:name} on {day:date} from {start:time} to "
        "{end:time}, in the smallest free hall that has a place for each.",
        "We need one more rehearsal of {work:name} for the {section:name}: {day:date}, {start:time} until {end:time}, "
        "smallest free hall with places for all {people:int} of them.",
    )
    needs = ("rank_halls", "call_section")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        start, section = pick(rng, ["17:30", "18:00", "19:00"]), pick(rng, list(self.v.s.sections))
        return {
            "section": section,
            "work": pick(rng, self.v.s.works),
            "day": later(state["today"], int(rng.integers(2, 15))),
            "start": start,
            "end": f"{int(start[:2]) + 2}{start[2:]}",
            "people": sum(row["section"] == section for row in state["members"].values()),
        }

    def plan(self, slots: Slots) -> list[Row]:
        last = "call_section section work day start end hall_id<0"
        return steps(slots, "rank_halls day start end people", last)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        at = {name: slots[name] for name in ("day", "start", "end")}
        people = [key for key, row in state["members"].items() if row["section"] == slots["section"]]
        halls = self.halls(at, len(people), False, state)
        if slots["people"] != len(people):
            raise LookupError("the section is larger or smaller")
        if not halls or any(self.busy(key, at, state) for key in people):
            raise LookupError("there is no hall, or somebody is elsewhere")
        fields = {"work": slots["work"], "section": slots["section"], **at, "hall_id": halls[0]["hall_id"]}
        fields |= {"least": len(people) - 1, "status": "planned"}
        item = f"Is there a rehearsal of {slots['work']} for the {slots['section']} on {slots['day']}?"
        blank = {"answer": "called", "reason": "", "stand_in_id": None}
        return [
            Added("rehearsals", fields, item),
            *(
                Added(
                    "calls", {**blank, "member_id": who}, f"Is {state['members'][who]['name']} called for it?"
                )
                for who in people
            ),
        ]


class MoveCue(RehearsalGoal):
    """A cue comes right after another one."""

    phrases: ClassVar[tuple[str, ...]] = (
        'In the prompt book of {work:name} move the cue "{cue:text}" to right after "{after:text}".',
        'The cue "{cue:text}" of {work:name} came at the wrong moment: put it directly behind "{after:text}" in the '
        "prompt book.",
    )
    needs: ClassVar[tuple[str, ...]] = ("show_prompt_book", "move_cue")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        work = pick(rng, list(self.v.s.books))
        one, two = shuffled(rng, self.book(work, state))[:2]
        return {"work": work, "cue": one["text"], "after": two["text"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots,
            "show_prompt_book work part=cue",
            "show_prompt_book work part=after",
            "move_cue cue_id<0 after_id<1/0/cue_id",
        )

    def book(self, work: str, state: State) -> list[Row]:
        """The cues of a work in their order."""
        return sorted(
            (row for row in state["cues"].values() if row["work"] == work), key=lambda row: int(row["place"])
        )

    def cue(self, work: str, text: str, state: State) -> Row:
        """The cue of that text."""
        return only([row for row in self.book(work, state) if row["text"] == text])

    def renumbered(self, order: list[Row], work: str) -> list[Outcome]:
        """Each cue has the place it has in this order."""
        return [
            Changed(
                "cues",
                row["cue_id"],
                {"place": place},
                f"Is '{row['text']}' at place {place} in the prompt book of {work}?",
                (f"book {work}",),
            )
            for place, row in enumerate(order, start=1)
            if row["place"] != place
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        work = slots["work"]
        one, two = (self.cue(work, slots[name], state) for name in ("cue", "after"))
        order = [row for row in self.book(work, state) if row is not one]
        order.insert(order.index(two) + 1, one)
        wanted = self.renumbered(order, work)
        if one is two or not wanted:
            raise LookupError("it stands there already")
        return wanted


class InsertCue(MoveCue):
    """A new cue; those behind it move on."""

    weight: ClassVar[float] = 0.8
    phrases = (
        "Write a new {kind:name} cue for the {crew:name} into the prompt book of {work:name}, right after "
        '"{after:text}": "{cue:text}".',
        'The {crew:name} get another {kind:name} cue in {work:name}, "{cue:text}", which comes directly behind '
        '"{after:text}".',
    )
    needs = ("show_prompt_book", "insert_cue")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng) or {}
        kind, text = pick(rng, [("light", "blue wash on the cyclorama"), ("sound", "distant thunder"),
                                ("flies", "second gauze in"), ("light", "lanterns out one by one"),
                                ("sound", "church bell far off")])  # fmt: skip
        crews = [row["crew"] for row in self.book(slots["work"], state) if row["kind"] == kind]
        return {**slots, "cue": text, "kind": kind, "crew": pick(rng, crews)}

    def plan(self, slots: Slots) -> list[Row]:
        last = "insert_cue after_id<0/0/cue_id kind text=cue crew"
        return steps(slots, "show_prompt_book work part=after", last)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        work = slots["work"]
        two, order = self.cue(work, slots["after"], state), self.book(work, state)
        if any(row["text"] == slots["cue"] for row in order) or len(order) > 25:
            raise LookupError("it is there already")
        at = order.index(two) + 1
        new = {
            "work": work,
            "place": at + 1,
            "kind": slots["kind"],
            "text": slots["cue"],
            "crew": slots["crew"],
        }
        item = f"Is there a new cue '{slots['cue']}' in the prompt book of {work}?"
        moved = self.renumbered([*order[:at], {"place": at + 1}, *order[at:]], work)
        return [Added("cues", {**new, "status": "ready", "note": ""}, item, (f"book {work}",)), *moved]


class HandCrew(MoveCue):
    """All cues of a crew in a work go to another crew."""

    weight: ClassVar[float] = 0.4
    phrases = (
        "In {work:name} the {one:name} are overloaded, so all their cues go to the {two:name}.",
        "Please reassign every cue that the {one:name} have in {work:name} to the {two:name}.",
    )
    needs = ("show_prompt_book", "reassign_cues")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        one, two = shuffled(rng, self.v.s.crews)[:2]
        return {"work": pick(rng, list(self.v.s.books)), "one": one, "two": two}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "reassign_cues work from_crew=one to_crew=two")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = [row for row in self.book(slots["work"], state) if row["crew"] == slots["one"]]
        if not rows or slots["one"] == slots["two"]:
            raise LookupError("there is nothing to reassign")
        mark = (f"book {slots['work']}",)
        return [
            Changed(
                "cues",
                row["cue_id"],
                {"crew": slots["two"]},
                f"Do the {slots['two']} do '{row['text']}'?",
                mark,
            )
            for row in rows
        ]


class FlagCue(MoveCue):
    """A cue went wrong, which its crew has to know."""

    weight: ClassVar[float] = 0.5
    phrases = (
        'The cue "{cue:text}" went wrong at the dress rehearsal of {work:name}: mark it as faulty and note '
        '"{note:text}" for the crew.',
        'Please mark the cue "{cue:text}" of {work:name} as faulty, with the note "{note:text}".',
    )
    needs = ("show_prompt_book", "flag_cue")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        work = pick(rng, list(self.v.s.books))
        cue = pick(rng, self.book(work, state))["text"]
        return {"work": work, "cue": cue, "note": pick(rng, self.v.s.faults)}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "show_prompt_book work part=cue", "flag_cue cue_id<0 note")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.cue(slots["work"], slots["cue"], state)
        if row["status"] == "faulty":
            raise LookupError("it is marked already")
        item = f"Is '{slots['cue']}' marked as faulty with that note?"
        fields = {"status": "faulty", "note": slots["note"]}
        return [Changed("cues", row["cue_id"], fields, item, (f"book {slots['work']}",))]


class MendCue(MoveCue):
    """A faulty cue goes right again."""

    weight: ClassVar[float] = 0.5
    phrases = (
        'The faulty cue "{cue:text}" of {work:name} went right today, so mark it as ready again.',
        'Please mark the cue "{cue:text}" of {work:name} as ready again, for its crew has mended it.',
    )
    needs = ("show_prompt_book", "flag_cue")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = pick(rng, [row for row in state["cues"].values() if row["status"] == "faulty"])
        return {"work": row["work"], "cue": row["text"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "show_prompt_book work part=cue", "flag_cue cue_id<0 faulty=False")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.cue(slots["work"], slots["cue"], state)
        if row["status"] == "ready":
            raise LookupError("it is ready")
        item = f"Is '{slots['cue']}' ready again, without a note?"
        fields = {"status": "ready", "note": ""}
        return [Changed("cues", row["cue_id"], fields, item, (f"book {slots['work']}",))]


class Rehearsals(Pattern):
    """Rehearsals of sections, halls with keys, and a prompt book."""

    Settings = RehearsalSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Swap, KeyToLast, KeyToLeader, Excuse, ExcuseInOwnWords, Replace, StandIn, Confirm, Cancel, Piano, CallSection,
        MoveCue, InsertCue, HandCrew, FlagCue, MendCue,
    )  # fmt: skip

    def vocabulary(self, s: RehearsalSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        shared["member"] = Noun("member")
        nouns = {name: Noun(name) for name in ("rehearsal", "hall", "cue")}
        return {
            **nouns,
            "sections": either(list(s.sections)),
            "crews": either(s.crews),
            "kinds": KINDS,
            "worklist": either(list(s.books)),
            "kindlist": either(KINDS),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            form(
                Noun("member"),
                "Somebody who plays or sings in a section.",
                f"""
                member_id: str = unique id, e.g. MEM-001
                name: str = full name
                section: str = {v.sections}
                leader: bool = whether this is the leader of the section
                """,
            ),
            form(
                Noun("hall"),
                "A hall to rehearse in, with one key.",
                """
                hall_id: str = unique id, e.g. HAL-001
                name: str = name of the hall
                places: int = people who can play in it
                piano: bool = whether there is a piano
                key_holder_id: str = the member who has the key
                """,
            ),
            form(
                Noun("rehearsal"),
                "One section rehearses one work on one night.",
                """
                rehearsal_id: str = unique id, e.g. REH-001
                work: str = what is rehearsed
                section: str = the section that is called
                day: str = date, as YYYY-MM-DD
                start: str = time, as HH:MM
                end: str = time, as HH:MM
                hall_id: str | None = the hall, None once it is cancelled
                least: int = how many must be present for it to make sense
                status: str = planned, confirmed or cancelled
                """,
            ),
            form(
                Noun("call"),
                "That somebody is called to a rehearsal.",
                """
                call_id: str = unique id, e.g. CAL-001
                rehearsal_id: str = the rehearsal
                member_id: str = who is called
                answer: str = called or excused
                reason: str = why excused, otherwise empty
                stand_in_id: str | None = the member who takes an excused one's place, None while nobody does
                """,
            ),
            form(
                Noun("key handover"),
                "That the key of a hall went from one to another.",
                """
                key_handover_id: str = unique id, e.g. KEY-001
                hall_id: str = the hall
                from_id: str | None = who had the key, None when it came from the caretaker
                to_id: str = who got it
                day: str = date, as YYYY-MM-DD
                """,
            ),
            form(
                Noun("cue"),
                "A line in the prompt book of a stage work.",
                f"""
                cue_id: str = unique id, e.g. CUE-001
                work: str = {v.worklist}
                place: int = place in the order of the work, from 1
                kind: str = {v.kindlist}
                text: str = what happens
                crew: str = {v.crews}
                status: str = ready or faulty
                note: str = what went wrong, empty while it is ready
                """,
            ),
        ]

    RULES = (
        RuleText(
            "A hall is never given to two rehearsals that overlap, nor to one to which more are called than it has "
            "places.",
            """
            called, places = {}, {key: row.get("places") or 0 for key, row in rows(after, "halls").items()}
            for row in rows(after, "calls").values():
                called[row.get("rehearsal_id")] = called.get(row.get("rehearsal_id"), 0) + 1
            for key, row in rows(after, "rehearsals").items():
                if row.get("hall_id") and called.get(key, 0) > places.get(str(row.get("hall_id")), 0):
                    return False
            held = [
                (str(row.get("hall_id")), str(row.get("day")), str(row.get("start")), str(row.get("end")))
                for row in rows(after, "rehearsals").values()
                if row.get("hall_id")
            ]
            held.sort()
            return all(one[:2] != two[:2] or one[3] <= two[2] for one, two in zip(held, held[1:]))
            """,
        ),
        RuleText(
            "Nobody plays in two rehearsals at the same time, be it when called or as a stand-in.",
            """
            nights, plays = rows(after, "rehearsals"), []
            for row in rows(after, "calls").values():
                night = nights.get(str(row.get("rehearsal_id"))) or {}
                who = row.get("member_id") if row.get("answer") == "called" else row.get("stand_in_id")
                if who and night.get("status") != "cancelled":
                    plays.append((str(who), str(night.get("day")), str(night.get("start")), str(night.get("end"))))
            plays.sort()
            return all(one[:2] != two[:2] or one[3] <= two[2] for one, two in zip(plays, plays[1:]))
            """,
        ),
        RuleText(
            "A stand-in belongs to the section of the member whose place it is, and nobody stands in for somebody who "
            "is not excused.",
            """
            members = rows(after, "members")
            for row in rows(after, "calls").values():
                if row.get("stand_in_id") is not None:
                    one, two = members.get(str(row.get("member_id"))), members.get(str(row.get("stand_in_id")))
                    if row.get("answer") != "excused" or not one or not two:
                        return False
                    if one.get("section") != two.get("section"):
                        return False
            return True
            """,
        ),
        RuleText(
            "A reason is recorded with every excuse and a note with every faulty cue, and with nothing else.",
            """
            return all(
                (row.get("answer") == "excused") == bool(row.get("reason")) for row in rows(after, "calls").values()
            ) and all(
                (row.get("status") == "faulty") == bool(row.get("note")) for row in rows(after, "cues").values()
            )
            """,
        ),
        RuleText(
            "A rehearsal is confirmed only while at least as many are present as it needs.",
            """
            present = {}
            for row in rows(after, "calls").values():
                if row.get("answer") == "called" or row.get("stand_in_id"):
                    present[row.get("rehearsal_id")] = present.get(row.get("rehearsal_id"), 0) + 1
            return all(
                present.get(key, 0) >= (row.get("least") or 0)
                for key, row in rows(after, "rehearsals").items()
                if row.get("status") == "confirmed"
            )
            """,
        ),
        RuleText(
            "Every change of a key leaves a handover, and the last one names who has the key now.",
            """
            last = {}
            for key, row in sorted(rows(after, "key_handovers").items()):
                last[row.get("hall_id")] = row.get("to_id")
            return all(row.get("key_holder_id") == last.get(key) for key, row in rows(after, "halls").items())
            """,
        ),
        RuleText(
            "Only section leaders are authorised to take a key, and they get it from whoever has it.",
            """
            halls, members = rows(before, "halls"), rows(after, "members")
            for row in added("key_handovers"):
                hall, to = halls.get(str(row.get("hall_id"))) or {}, members.get(str(row.get("to_id"))) or {}
                if not to.get("leader") or row.get("from_id") != hall.get("key_holder_id"):
                    return False
            return True
            """,
        ),
        RuleText(
            "The cues of a work are numbered from 1 in the order they come, without gaps and duplicates.",
            """
            places = {}
            for row in rows(after, "cues").values():
                places.setdefault(str(row.get("work")), []).append(row.get("place"))
            return all(set(found) == set(range(1, len(found) + 1)) for found in places.values())
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _overlap(one: dict, two: dict) -> bool:
        """Tell whether two nights are at the same time."""
        return one["day"] == two["day"] and one["start"] < two["end"] and two["start"] < one["end"]

    def _wrong(self, day: str, start: str, end: str) -> str | None:
        """Say what is wrong with a night that is to be planned; None when nothing is."""
        try:
            read = date.fromisoformat(day)
        except ValueError:
            return f"{day!r} is not a date as YYYY-MM-DD."
        ahead = read - date.fromisoformat(self.today)
        if read.isoformat() != day or not timedelta(days=0) < ahead <= timedelta(days=180):
            return f"{day!r} is not a date within half a year after today."
        for time in (start, end):
            hours, minutes = time[:2], time[3:]
            if len(time) != 5 or time[2] != ":" or not (hours + minutes).isdecimal() or int(minutes) > 59:
                return f"{time!r} is not a time as HH:MM."
        if not "09:00" <= start < end <= "22:30":
            return f"From {start} to {end} is no time between 09:00 and 22:30."
        return None

    def _calls(self, rehearsal_id: str) -> list[dict]:
        """Return the calls to a rehearsal."""
        return [row for row in self.calls.values() if row["rehearsal_id"] == rehearsal_id]

    def _elsewhere(self, member_id: str, night: dict, *ignore: str) -> str | None:
        """Return the id of another rehearsal in which somebody plays on that night; None when free."""
        for row in self.calls.values():
            other = self.rehearsals[row["rehearsal_id"]]
            player = row["member_id"] if row["answer"] == "called" else row["stand_in_id"]
            if player == member_id and other["status"] != "cancelled" and self._overlap(other, night):
                if row["rehearsal_id"] not in ignore:
                    return row["rehearsal_id"]
        return None

    def _present(self, rehearsal_id: str) -> int:
        """Count who will play: those called and not excused, and the stand-ins."""
        return sum(row["answer"] == "called" or row["stand_in_id"] is not None for row in self._calls(rehearsal_id))

    def _free_halls(self, night: dict, places: int) -> list[dict]:
        """Return the halls that are free on a night and large enough, the smallest first."""
        taken = {row["hall_id"] for row in self.rehearsals.values() if self._overlap(row, night)}
        free = [row for key, row in self.halls.items() if key not in taken and row["places"] >= places]
        return sorted(free, key=lambda row: (row["places"], row["name"]))

    def _book(self, work: str) -> list[dict]:
        """Return the cues of a work in their order."""
        return sorted((row for row in self.cues.values() if row["work"] == work), key=lambda row: row["place"])

    def _hall_named(self, name: str) -> dict | None:
        """Return the hall of that name."""
        return next((row for row in self.halls.values() if row["name"].lower() == name.strip().lower()), None)
'''

    READS = '''
def find_members(self, name: str | None = None, section: str | None = None, leaders: bool = False) -> dict:
    """Find members by name, by section, or only those who lead one.

    Args:
        name: Full name or a part of it. Leave out for everybody.
        section: The section: <<sections>>. Leave out for all.
        leaders: True for section leaders only.

    Returns:
        The members sorted by section and name, each with the halls whose `keys` they have.
    """
    refuse if section not in (None, <<quoted(s.sections)>>) :: There is no section {section!r}.
    keys: dict[str, list[str]] = {}
    for hall in self.halls.values():
        keys.setdefault(hall["key_holder_id"], []).append(hall["name"])
    hits = [
        {**member, "keys": keys.get(key, [])}
        for key, member in self.members.items()
        if (name or "").lower() in member["name"].lower()
        and section in (None, member["section"])
        and (member["leader"] or not leaders)
    ]
    return {"success": True, "data": sorted(hits, key=lambda row: (row["section"], row["name"]))}

def find_rehearsals(
    self, section: str | None = None, work: str | None = None, day: str | None = None
) -> dict:
    """Find rehearsals that are not cancelled, the next one first.

    Args:
        section: Only those of this section: <<sections>>. Leave out for all.
        work: Only those of this work. Leave out for all.
        day: Only those on this day, as YYYY-MM-DD. Leave out for all.

    Returns:
        The rehearsals, each with the name of its `hall` and how many are `called`, excused or not, and `present`.
    """
    refuse if section not in (None, <<quoted(s.sections)>>) :: There is no section {section!r}.
    refuse if day is not None and not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    selected = []
    for key, row in self.rehearsals.items():
        asked = {"section": section, "work": work, "day": day}
        if row["status"] != "cancelled" and all(row[name] == value for name, value in asked.items() if value):
            counts = {"called": len(self._calls(key)), "present": self._present(key)}
            selected.append({**row, "hall": self.halls[row["hall_id"]]["name"], **counts})
    return {"success": True, "data": sorted(selected, key=lambda row: (row["day"], row["start"], row["section"]))}

def list_calls(self, member_id: str, day: str | None = None) -> dict:
    """List the nights somebody is called to or stands in, the next one first.

    Args:
        member_id: Id of the member, e.g. MEM-001.
        day: Only this day, as YYYY-MM-DD. Leave out for all.

    Returns:
        The calls with day, start, work and `role`: called, excused or stand-in; cancelled nights are left out.
    """
    refuse if member_id not in self.members :: There is no member {member_id!r}.
    refuse if day is not None and not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    listed = []
    for row in self.calls.values():
        night = self.rehearsals[row["rehearsal_id"]]
        if member_id in (row["member_id"], row["stand_in_id"]) and night["status"] != "cancelled":
            role = row["answer"] if row["member_id"] == member_id else "stand-in"
            if day in (None, night["day"]):
                listed.append({**row, "role": role, **{name: night[name] for name in ("day", "start", "work")}})
    return {"success": True, "data": sorted(listed, key=lambda row: (row["day"], row["start"]))}

def show_strength(self, rehearsal_id: str) -> dict:
    """Say who will be at a rehearsal, who is excused, and how many are missing.

    Args:
        rehearsal_id: Id of the rehearsal, e.g. REH-001.

    Returns:
        Names as `present`, `stand_ins` with whose place each takes, reasons as `excused`, and the number `missing`.
    """
    need rehearsal
    present, stand_ins, excused = [], {}, {}
    for row in self._calls(rehearsal_id):
        name = self.members[row["member_id"]]["name"]
        if row["answer"] == "called":
            present.append(name)
        elif row["stand_in_id"]:
            stand_ins[self.members[row["stand_in_id"]]["name"]] = name
        if row["answer"] == "excused":
            excused[name] = row["reason"]
    missing = max(rehearsal["least"] - len(present) - len(stand_ins), 0)
    data = {"present": sorted(present), "stand_ins": stand_ins, "excused": excused, "missing": missing}
    return {"success": True, "data": data}

def suggest_stand_ins(self, call_id: str) -> dict:
    """Rank who can take somebody's place: of the same section, not called that night and free.

    Args:
        call_id: Id of the call, e.g. CAL-001.

    Returns:
        The members with how `often` they stand in already, least first; an empty list when nobody is free.
    """
    one = self.calls.get(call_id)
    refuse if one is None :: There is no call {call_id!r}.
    night = self.rehearsals[one["rehearsal_id"]]
    called = {row["member_id"] for row in self._calls(one["rehearsal_id"])}
    section = self.members[one["member_id"]]["section"]
    counts = {
        key: sum(row["stand_in_id"] == key for row in self.calls.values())
        for key, member in self.members.items()
        if member["section"] == section and key not in called and self._elsewhere(key, night) is None
    }
    ranked = sorted(counts, key=lambda key: (counts[key], self.members[key]["name"]))
    return {"success": True, "data": [{**self.members[key], "often": counts[key]} for key in ranked]}

def rank_halls(self, day: str, start: str, end: str, people: int, with_piano: bool = False) -> dict:
    """List the halls that are free on a night and large enough, the smallest first.

    Args:
        day: The day, after today, as YYYY-MM-DD.
        start: From when, as HH:MM.
        end: Until when, as HH:MM.
        people: How many have to find a place, at least 1.
        with_piano: True for halls with a piano only.

    Returns:
        The halls with the name of the `key_holder`; an empty list when there is none.
    """
    wrong = self._wrong(day, start, end)
    if wrong:
        return {"success": False, "error": wrong}
    refuse if people < 1 :: At least one place is needed.
    ranked = []
    for hall in self._free_halls({"day": day, "start": start, "end": end}, people):
        if hall["piano"] or not with_piano:
            ranked.append({**hall, "key_holder": self.members[hall["key_holder_id"]]["name"]})
    return {"success": True, "data": ranked}

def last_out(self, hall: str, day: str) -> dict:
    """Say which section is the last to leave a hall on a day, and who leads it.

    Args:
        hall: Name of the hall.
        day: The day, as YYYY-MM-DD.

    Returns:
        `hall_id`, `section`, `end`, `leader_id` and `leader`, or an error when nobody rehearses there.
    """
    place = self._hall_named(hall)
    refuse if place is None :: There is no hall {hall!r}.
    nights = [row for row in self.rehearsals.values() if (row["hall_id"], row["day"]) == (place["hall_id"], day)]
    refuse if not nights :: Nobody rehearses in the {hall} on {day}.
    last = max(nights, key=lambda row: row["end"])
    lead = next(row for row in self.members.values() if row["leader"] and row["section"] == last["section"])
    data = {
        "hall_id": place["hall_id"],
        "section": last["section"],
        "end": last["end"],
        "leader_id": lead["member_id"],
        "leader": lead["name"],
    }
    return {"success": True, "data": data}

def trace_key(self, hall: str) -> dict:
    """Trace where the key of a hall has been.

    Args:
        hall: Name of the hall.

    Returns:
        `hall_id`, the name of the `holder`, and `trail`: from, to and day of every handover, the first one first.
    """
    place = self._hall_named(hall)
    refuse if place is None :: There is no hall {hall!r}.
    trail = []
    for key in sorted(self.key_handovers):
        row = self.key_handovers[key]
        if row["hall_id"] == place["hall_id"]:
            giver = self.members[row["from_id"]]["name"] if row["from_id"] else "caretaker"
            trail.append({"from": giver, "to": self.members[row["to_id"]]["name"], "day": row["day"]})
    holder = self.members[place["key_holder_id"]]["name"]
    return {"success": True, "data": {"hall_id": place["hall_id"], "holder": holder, "trail": trail}}

def show_prompt_book(self, work: str, part: str | None = None, crew: str | None = None) -> dict:
    """Show the cues of a stage work in the order they come.

    Args:
        work: The work: <<worklist>>.
        part: Only cues with this in their text. Leave out for all.
        crew: Only cues of this crew: <<crews>>. Leave out for all.

    Returns:
        The cues, each with the text of the one `before` it, None for the first, or an error for a work without any.
    """
    refuse if crew not in (None, <<quoted(s.crews)>>) :: There is no crew {crew!r}.
    book = self._book(work)
    refuse if not book :: There is no prompt book of {work!r}.
    shown = []
    for before, row in zip([None, *book], book, strict=False):
        if (part or "").lower() in row["text"].lower() and crew in (None, row["crew"]):
            shown.append({**row, "before": before and before["text"]})
    return {"success": True, "data": shown}
'''

    WRITES = '''
<% macro ahead() %>
    need rehearsal
    refuse if rehearsal["status"] == "cancelled" :: Rehearsal {rehearsal_id} is cancelled.
<%- endmacro %>
def call_section(self, section: str, work: str, day: str, start: str, end: str, hall_id: str) -> dict:
    """Call all members of a section to a new rehearsal, of whom at most one may be missing.

    Args:
        section: The section: <<sections>>; none of its members may play elsewhere then.
        work: What is rehearsed.
        day: The day, after today, as YYYY-MM-DD.
        start: From when, as HH:MM.
        end: Until when, as HH:MM.
        hall_id: Id of a hall that is free then and has a place for everybody.

    Returns:
        The new rehearsal with the names `called`, or an error.
    """
    people = [key for key, member in self.members.items() if member["section"] == section]
    refuse if not people :: There is no section {section!r}.
    refuse if not work.strip() :: Say what is rehearsed.
    wrong = self._wrong(day, start, end)
    if wrong:
        return {"success": False, "error": wrong}
    night = {"day": day, "start": start, "end": end}
    halls = [hall["hall_id"] for hall in self._free_halls(night, len(people))]
    refuse if hall_id not in halls :: {hall_id!r} is no hall that is free and has {len(people)} places.
    for key in people:
        other = self._elsewhere(key, night)
        refuse if other :: {self.members[key]['name']} plays in {other} then.
    rehearsal_id = self._next_id(self.rehearsals, "REH")
    self.rehearsals[rehearsal_id] = {
        "rehearsal_id": rehearsal_id,
        "work": work.strip(),
        "section": section,
        **night,
        "hall_id": hall_id,
        "least": max(len(people) - 1, 1),
        "status": "planned",
    }
    for key in people:
        call_id = self._next_id(self.calls, "CAL")
        self.calls[call_id] = {
            "call_id": call_id,
            "rehearsal_id": rehearsal_id,
            "member_id": key,
            "answer": "called",
            "reason": "",
            "stand_in_id": None,
        }
    data = {**self.rehearsals[rehearsal_id], "called": [self.members[key]["name"] for key in people]}
    done data :: The {section} are called for {day}.

def swap_nights(self, first_id: str, other_id: str) -> dict:
    """Let two rehearsals exchange night and hall; all are called anew, so excuses and stand-ins are void.

    Args:
        first_id: Id of the one rehearsal.
        other_id: Id of the other one, on another day; each hall must have a place for all called to the other.

    Returns:
        Both `nights`, to be confirmed again, and the ids of those `called_again`, or an error.
    """
    pair = [self.rehearsals.get(key) for key in (first_id, other_id)]
    one, two = pair
    refuse if one is None or two is None :: There is no rehearsal {first_id if one is None else other_id!r}.
    refuse if "cancelled" in (one["status"], two["status"]) :: One of them is cancelled.
    refuse if one["day"] == two["day"] :: Both are on {one['day']}.
    for night, other in ((one, two), (two, one)):
        refuse if night["day"] <= self.today :: {night['rehearsal_id']} is over.
        hall = self.halls[other["hall_id"]]
        if len(self._calls(night["rehearsal_id"])) > hall["places"]:
            refuse :: The {hall['name']} is too small for the {night['section']}.
        for row in self._calls(night["rehearsal_id"]):
            name, day = self.members[row["member_id"]]["name"], other["day"]
            clash = self._elsewhere(row["member_id"], other, first_id, other_id)
            refuse if clash :: {name} plays in {clash} on {day}.
    for field in ("day", "start", "end", "hall_id"):
        one[field], two[field] = two[field], one[field]
    called = []
    for night in (one, two):
        night["status"] = "planned"
        for row in self._calls(night["rehearsal_id"]):
            row.update(answer="called", reason="", stand_in_id=None)
            called.append(row["call_id"])
    done {"nights": [dict(one), dict(two)], "called_again": called} :: The nights are swapped.

def change_hall(self, rehearsal_id: str, hall_id: str) -> dict:
    """Put a rehearsal into another hall.

    Args:
        rehearsal_id: Id of the rehearsal.
        hall_id: Id of a hall that is free on that night and has a place for all who are called, excused or not.

    Returns:
        The rehearsal in its new hall and whether its key holder is there that night, or an error.
    """
<<ahead()>>
    called = self._calls(rehearsal_id)
    free = {hall["hall_id"]: hall for hall in self._free_halls(rehearsal, len(called))}
    refuse if hall_id not in free :: {hall_id!r} is not free or too small; there are {', '.join(free) or 'none'}.
    rehearsal["hall_id"] = hall_id
    holder = free[hall_id]["key_holder_id"]
    plays = [row["member_id"] if row["answer"] == "called" else row["stand_in_id"] for row in called]
    there = holder in plays
    done {**rehearsal, "key_holder_there": there} :: Rehearsal {rehearsal_id} is in the {free[hall_id]['name']}.

def confirm_rehearsal(self, rehearsal_id: str) -> dict:
    """Confirm that a planned rehearsal takes place.

    Args:
        rehearsal_id: Id of the rehearsal, for which as many as it needs are present.

    Returns:
        The confirmed rehearsal, or an error.
    """
<<ahead()>>
    refuse if rehearsal["status"] != "planned" :: Rehearsal {rehearsal_id} is {rehearsal['status']} already.
    present = self._present(rehearsal_id)
    refuse if present < rehearsal["least"] :: Only {present} of at least {rehearsal['least']} are there.
    rehearsal["status"] = "confirmed"
    done dict(rehearsal) :: Rehearsal {rehearsal_id} takes place with {present}.

def cancel_rehearsal(self, rehearsal_id: str) -> dict:
    """Cancel a rehearsal; its hall is free, and stand-ins need not come.

    Args:
        rehearsal_id: Id of the rehearsal.

    Returns:
        The cancelled rehearsal with the stand-ins `released`, names by the id of the call, or an error.
    """
<<ahead()>>
    rehearsal.update(status="cancelled", hall_id=None)
    released = {}
    for row in self._calls(rehearsal_id):
        if row["stand_in_id"]:
            released[row["call_id"]] = self.members[row["stand_in_id"]]["name"]
            row["stand_in_id"] = None
    done {**rehearsal, "released": released} :: Rehearsal {rehearsal_id} is off.

def excuse_member(self, call_id: str, reason: str) -> dict:
    """Excuse somebody from a rehearsal, which is no longer confirmed if too few are left.

    Args:
        call_id: Id of the call, to a rehearsal that is not cancelled.
        reason: Why, in a few words.

    Returns:
        The call with the `status` of its rehearsal, or an error.
    """
    one = self.calls.get(call_id)
    refuse if one is None :: There is no call {call_id!r}.
    rehearsal = self.rehearsals[one["rehearsal_id"]]
    refuse if rehearsal["status"] == "cancelled" :: That rehearsal is cancelled.
    refuse if one["answer"] == "excused" :: Already excused: {one['reason']}.
    refuse if not reason.strip() :: A reason is required.
    one.update(answer="excused", reason=reason.strip())
    if self._present(one["rehearsal_id"]) < rehearsal["least"]:
        rehearsal["status"] = "planned"
    done {**one, "status": rehearsal["status"]} :: {self.members[one['member_id']]['name']} is excused.

def name_stand_in(self, call_id: str, stand_in_id: str) -> dict:
    """Name who takes the place of an excused member.

    Args:
        call_id: Id of the call, which is excused and has no stand-in yet.
        stand_in_id: Id of a member of the same section who is not called to that rehearsal and free then.

    Returns:
        The call with its stand-in, or an error.
    """
    one, member = self.calls.get(call_id), self.members.get(stand_in_id)
    refuse if one is None or member is None :: There is no call {call_id!r}, or no member {stand_in_id!r}.
    night = self.rehearsals[one["rehearsal_id"]]
    refuse if night["status"] == "cancelled" :: That rehearsal is cancelled.
    refuse if one["answer"] != "excused" or one["stand_in_id"] :: The place is taken.
    section = self.members[one["member_id"]]["section"]
    refuse if member["section"] != section :: {member['name']} is in the {member['section']}, not in the {section}.
    called = [row["member_id"] for row in self._calls(one["rehearsal_id"])]
    refuse if stand_in_id in called :: {member['name']} is called to that rehearsal.
    other = self._elsewhere(stand_in_id, night)
    refuse if other :: {member['name']} plays in {other} then.
    one["stand_in_id"] = stand_in_id
    done dict(one) :: {member['name']} stands in on {night['day']}.

def hand_key(self, hall_id: str, to_id: str) -> dict:
    """Hand the key of a hall on and write it down.

    Args:
        hall_id: Id of the hall.
        to_id: Id of a section leader who does not have it.

    Returns:
        The handover, or an error.
    """
    need hall
    member = self.members.get(to_id)
    refuse if member is None or not member["leader"] :: {to_id!r} leads no section.
    refuse if hall["key_holder_id"] == to_id :: {member['name']} has the key already.
    key_handover_id = self._next_id(self.key_handovers, "KEY")
    self.key_handovers[key_handover_id] = {
        "key_handover_id": key_handover_id,
        "hall_id": hall_id,
        "from_id": hall["key_holder_id"],
        "to_id": to_id,
        "day": self.today,
    }
    hall["key_holder_id"] = to_id
    done dict(self.key_handovers[key_handover_id]) :: {member['name']} has the key of the {hall['name']}.

def move_cue(self, cue_id: str, after_id: str) -> dict:
    """Move a cue so that it comes right after another one; those in between close up.

    Args:
        cue_id: Id of the cue, e.g. CUE-001.
        after_id: Id of another cue of the same work.

    Returns:
        The whole prompt book in its new order, id and text of each cue, or an error.
    """
    need cue
    after = self.cues.get(after_id)
    refuse if after is None or after["work"] != cue["work"] :: {after_id!r} is no cue of {cue['work']}.
    refuse if after is cue :: It is the same cue.
    refuse if cue["place"] == after["place"] + 1 :: It comes right after that one already.
    order = [row for row in self._book(cue["work"]) if row is not cue]
    order.insert(order.index(after) + 1, cue)
    for place, row in enumerate(order, start=1):
        row["place"] = place
    data = [f"{row['cue_id']} {row['text']}" for row in order]
    done data :: Cue {cue_id} is number {cue['place']} now.

def insert_cue(self, after_id: str, kind: str, text: str, crew: str) -> dict:
    """Write a new cue into the prompt book, right after another one; those behind it move on by one.

    Args:
        after_id: Id of the cue it comes after, whose work it belongs to.
        kind: The kind of cue: <<kindlist>>.
        text: What happens, as no other cue of the work has it.
        crew: Who does it: <<crews>>.

    Returns:
        The new cue with the ids of those `moved` on, or an error.
    """
    after = self.cues.get(after_id)
    refuse if after is None :: There is no cue {after_id!r}.
    refuse if kind not in (<<quoted(kinds)>>) or crew not in (<<quoted(s.crews)>>) :: Unknown kind or crew.
    book = self._book(after["work"])
    same = [row["place"] for row in book if row["text"].lower() == text.strip().lower()]
    refuse if same or not text.strip() :: The text is empty or stands at {same}.
    moved = []
    for row in book[after["place"] :]:
        row["place"] += 1
        moved.append(row["cue_id"])
    cue_id = self._next_id(self.cues, "CUE")
    self.cues[cue_id] = {
        "cue_id": cue_id,
        "work": after["work"],
        "place": after["place"] + 1,
        "kind": kind,
        "text": text.strip(),
        "crew": crew,
        "status": "ready",
        "note": "",
    }
    done {**self.cues[cue_id], "moved": moved} :: Cue {cue_id} is number {after['place'] + 1}.

def flag_cue(self, cue_id: str, note: str = "", faulty: bool = True) -> dict:
    """Mark a cue as faulty for its crew, or a faulty one as ready again, which clears its note.

    Args:
        cue_id: Id of the cue.
        note: What went wrong. Leave out when it is ready again.
        faulty: False to mark it as ready again.

    Returns:
        The cue with the number of faulty cues its `crew_has` in that work now, or an error.
    """
    need cue
    status = "faulty" if faulty else "ready"
    refuse if cue["status"] == status :: It is {status} already.
    refuse if faulty and not note.strip() :: Say what went wrong.
    refuse if not faulty and note.strip() :: A cue that is ready has no note.
    cue.update(status=status, note=note.strip())
    faulty = [row for row in self._book(cue["work"]) if row["crew"] == cue["crew"] and row["status"] == "faulty"]
    done {**cue, "crew_has": len(faulty)} :: The {cue['crew']} know of it.

def reassign_cues(self, work: str, from_crew: str, to_crew: str) -> dict:
    """Give all cues that a crew has in a work to another crew.

    Args:
        work: The work: <<worklist>>.
        from_crew: The crew that has them: <<crews>>.
        to_crew: Another crew.

    Returns:
        The ids of the cues under `reassigned`, or an error when there are none.
    """
    refuse if to_crew not in (<<quoted(s.crews)>>) or to_crew == from_crew :: {to_crew!r} is no other crew.
    reassigned = []
    for row in self._book(work):
        if row["crew"] == from_crew:
            row["crew"] = to_crew
            reassigned.append(row["cue_id"])
    refuse if not reassigned :: The {from_crew} have no cue in {work}.
    done {"reassigned": reassigned} :: {len(reassigned)} cues go to the {to_crew}.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        parts = [*s.sections, *(section for section, size in s.sections.items() for _ in range(size - 1))]
        people = names.people(rng, len(parts))
        for n, (name, section) in enumerate(zip(people, parts, strict=True), start=1):
            row = {
                "member_id": key_of("MEM", n),
                "name": name,
                "section": section,
                "leader": n <= len(s.sections),
            }
            state["members"][key_of("MEM", n)] = row
        leaders = [key for key, row in state["members"].items() if row["leader"]]
        self._halls(v, state, rng, leaders)
        self._nights(v, state, rng)
        for work, cues in s.books.items():
            kept = [
                cues[i] for i in sorted(rng.choice(len(cues), size=min(8, len(cues)), replace=False).tolist())
            ]
            for place, (kind, text, crew) in enumerate(kept, start=1):
                key = key_of("CUE", len(state["cues"]) + 1)
                faulty = rng.random() < 0.2
                state["cues"][key] = {
                    "cue_id": key,
                    "work": work,
                    "place": place,
                    "kind": kind,
                    "text": text,
                    "crew": crew,
                    "status": "faulty" if faulty else "ready",
                    "note": pick(rng, s.faults) if faulty else "",
                }

    def _halls(self, v: SimpleNamespace, state: State, rng: Rng, leaders: list[str]) -> None:
        """Halls whose keys have gone from one leader to another."""
        for n, name in enumerate(shuffled(rng, list(v.s.halls))[:5], start=1):
            places, piano = v.s.halls[name]
            way = shuffled(rng, leaders)[: int(rng.integers(1, 4))]
            row = {"hall_id": key_of("HAL", n), "name": name, "places": places, "piano": piano}
            state["halls"][key_of("HAL", n)] = {**row, "key_holder_id": way[-1]}
            days = sorted(rng.choice(range(1, 60), size=len(way), replace=False).tolist(), reverse=True)
            for giver, to, ago in zip([None, *way], way, days, strict=False):
                key = key_of("KEY", len(state["key_handovers"]) + 1)
                links = {"hall_id": key_of("HAL", n), "from_id": giver, "to_id": to}
                state["key_handovers"][key] = {
                    "key_handover_id": key,
                    **links,
                    "day": later(state["today"], -ago),
                }

    def _nights(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        """Nights of most of a section each, some excused; each section has one night on a day at most."""
        s, goal = v.s, RehearsalGoal(v, [])
        evenings = [("17:30", "19:30"), ("18:00", "20:00"), ("19:00", "21:30"), ("20:00", "22:00")]
        days = [later(state["today"], n) for n in (1, 2, 3, 4, 7, 8, 9, 10)]
        taken: set[tuple[str, str]] = set()
        while len(state["rehearsals"]) < 7:
            section = list(s.sections)[len(state["rehearsals"]) % len(s.sections)]
            day, called = pick(rng, days[:5]), called_of(s.sections[section])
            start, end = pick(rng, evenings)
            night = {"day": day, "start": start, "end": end}
            halls = goal.halls(night, called, False, state)
            if (section, day) in taken or not halls:
                continue
            taken.add((section, day))
            key = key_of("REH", len(state["rehearsals"]) + 1)
            row = {"rehearsal_id": key, "work": pick(rng, s.works), "section": section, **night}
            row |= {"hall_id": pick(rng, halls[:2])["hall_id"], "least": called - 1, "status": "planned"}
            state["rehearsals"][key] = row
            members = [k for k, member in state["members"].items() if member["section"] == section]
            self._call(v, state, rng, row, shuffled(rng, members))
        for row in shuffled(rng, list(state["rehearsals"].values()))[:4]:
            if goal.present(row, state) >= row["least"]:
                row["status"] = "confirmed"

    def _call(self, v: SimpleNamespace, state: State, rng: Rng, row: Row, members: list[str]) -> None:
        """Most of the section; the last one of the others stands in at times."""
        called = called_of(len(members))
        excused = int(rng.integers(0, called)) if rng.random() < 0.8 else -1
        stands_in = rng.random() < 0.35
        for n, member in enumerate(members[:called]):
            key = key_of("CAL", len(state["calls"]) + 1)
            state["calls"][key] = {
                "call_id": key,
                "rehearsal_id": row["rehearsal_id"],
                "member_id": member,
                "answer": "excused" if n == excused else "called",
                "reason": pick(rng, v.s.reasons) if n == excused else "",
                "stand_in_id": members[-1] if n == excused and stands_in else None,
            }


PATTERN = Rehearsals
