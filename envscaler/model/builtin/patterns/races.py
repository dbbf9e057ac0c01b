"""Races: running races with entries, waiting lists, bibs and waves, finish times, rankings, protests and fees."""

from datetime import date
from types import SimpleNamespace
from typing import Any, ClassVar

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
    key_of,
    named,
    only,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]


class Distance(Part):
    """A race of the year."""

    km: float
    """How long it is."""
    fee: float
    """Entry fee."""
    min_age: int
    """Age that runners reach in the year at least."""


class RacesSettings(Settings):
    """A running club's races and rules; the first two races are being run, the others are ahead."""

    races: dict[str, Distance]
    """Name of the race → what it is; five or more."""
    clubs: list[str]
    """Clubs of the runners."""
    reasons: list[str]
    """Why runners protest."""
    late_days: int = 14
    """From so many days before, an entry costs the late fee too, and less comes back."""
    late_fee: float = 8.0
    """What is added then."""
    transfer_fee: float = 6.0
    """Price of handing a place on."""


# What tools do, for the outcomes of goals


def days_to(state: State, race: Row) -> int:
    """Days until a race."""
    return (date.fromisoformat(race["day"]) - date.fromisoformat(state["today"])).days


def age(race: Row, runner: Row) -> int:
    """What a runner turns in the year of the race."""
    return int(race["day"][:4]) - int(runner["born"])


def fee_of(v: SimpleNamespace, state: State, race: Row, runner: Row) -> float:
    """What an entry costs today."""
    late = v.s.late_fee if days_to(state, race) < v.s.late_days else 0.0
    return float(round(race["fee"] * (0.5 if age(race, runner) < 18 else 1) + late, 2))


def paid_for(state: State, entry: str) -> float:
    """What was paid for an entry, transfers of the place aside."""
    rows = [c for c in state["charges"].values() if c["entry_id"] == entry and c["kind"] != "transfer fee"]
    return float(sum(-c["amount"] if c["kind"] == "refund" else c["amount"] for c in rows))


def entries_of(state: State, race: str, *statuses: str) -> list[Row]:
    """The entries of a race that have one of these statuses."""
    return [e for e in state["entries"].values() if e["race_id"] == race and e["status"] in statuses]


def next_bib(state: State, race: Row) -> int:
    """The bib that the next entry gets."""
    bibs = [e["bib"] for e in state["entries"].values() if e["race_id"] == race["race_id"]]
    return int(max([race["first_bib"] - 1, *bibs])) + 1


def as_time(seconds: int) -> str:
    """1:02:03."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


# Goals


class Club(Goal):
    """What goals share: a runner and a race by name."""

    def race(self, slots: Slots, state: State, slot: str = "race", status: str = "open") -> Row:
        """The race a sentence names."""
        race = named(state, self.v.r, slots[slot])
        if race["status"] != status or (status == "open" and days_to(state, race) < 1):
            raise LookupError(f"{race['name']} is {race['status']}")
        return race

    def entry(self, slots: Slots, state: State) -> Row:
        """The entry of that runner in that race."""
        runner = named(state, self.v.u, slots["name"])["runner_id"]
        rows = entries_of(state, self.race(slots, state)["race_id"], "entered")
        return dict(only([e for e in rows if e["runner_id"] == runner]))

    def some(self, state: State, rng: Rng) -> Slots | None:
        """A runner and a race ahead that this runner is entered for."""
        rows = [e for e in state["entries"].values() if e["status"] == "entered"]
        rows = [e for e in rows if state["races"][e["race_id"]]["status"] == "open"]
        if not rows:
            return None
        entry = any_of(rng, rows)
        name = state["runners"][entry["runner_id"]]["name"]
        return {"name": name, "race": state["races"][entry["race_id"]]["name"]}

    def charge(self, entry: str, kind: str, amount: float, state: State, who: str) -> Added:
        """A charge has been written, or a refund where the amount is below 0."""
        kind, amount = ("refund", -amount) if amount < 0 else (kind, amount)
        item = f"Has {kind} of {amount:.2f} EUR been written for {who}?"
        fields = {"entry_id": entry, "kind": kind, "amount": round(amount, 2)}
        return Added("charges", {**fields, "charged_on": state["today"]}, item)

    def change(self, entry: Row, item: str, **fields: Any) -> Changed:
        """The entry has these values; runner and race are concerned."""
        return Changed("entries", entry["entry_id"], fields, item, (entry["runner_id"], entry["race_id"]))

    def moved_up(self, race: Row, free: int, bib: int, state: State) -> list[Outcome]:
        """The first of the waiting list get the free places."""
        waiting = entries_of(state, race["race_id"], "waiting")
        told: list[Outcome] = []
        for n, entry in enumerate(sorted(waiting, key=lambda e: (e["entered_on"], e["entry_id"]))[:free]):
            runner = state["runners"][entry["runner_id"]]
            fee = fee_of(self.v, state, race, runner)
            item = f"Has {runner['name']} moved up from the waiting list of the {race['name']}?"
            told.append(self.change(entry, item, status="entered", bib=bib + n, fee=fee))
            told.append(self.charge(entry["entry_id"], "entry fee", fee, state, runner["name"]))
        return told


OWN = (
    "find_runners name",
    "list_races name=race",
    "list_entries runner_id<0 race_id<1 status=entered",
)


class Enter(Club):
    """A new entry."""

    phrases = (
        "Please enter {name:name} for the {race:name}, expected time {minutes:int} minutes.",
        "{name:name} wants to run the {race:name} and hopes for {minutes:int} minutes, so enter this runner.",
    )
    needs = ("find_runners", "list_races", "enter_runner")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        race = any_of(rng, [r for r in state["races"].values() if r["status"] == "open"])
        runner = any_of(rng, list(state["runners"].values()))
        return {
            "name": runner["name"],
            "race": race["name"],
            "minutes": int(race["km"] * rng.uniform(4.2, 7)),
        }

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, *OWN[:2], "enter_runner runner_id<0 race_id<1 expected=minutes")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race, runner = self.race(slots, state), named(state, self.v.u, slots["name"])
        rows = entries_of(state, race["race_id"], "entered", "waiting")
        if age(race, runner) < race["min_age"] or any(e["runner_id"] == runner["runner_id"] for e in rows):
            raise LookupError("this runner cannot be entered")
        full = sum(e["status"] == "entered" for e in rows) >= race["places"]
        fee = 0.0 if full else fee_of(self.v, state, race, runner)
        fields = {
            **{"race_id": race["race_id"], "runner_id": runner["runner_id"], "entered_on": state["today"]},
            **{"expected": slots["minutes"], "bib": 0 if full else next_bib(state, race), "wave": 0},
            **{"status": "waiting" if full else "entered", "seconds": 0, "penalty": 0, "fee": fee},
        }
        what = "put on the waiting list of" if full else "entered for"
        told: list[Outcome] = [
            Added("entries", fields, f"Has {slots['name']} been {what} the {slots['race']}?")
        ]
        if not full:
            paid = {"kind": "entry fee", "amount": fee, "charged_on": state["today"]}
            told.append(Added("charges", paid, f"Has {slots['name']} been charged {fee:.2f} EUR?"))
        return told


class Scratch(Club):
    """A runner does not start, and somebody moves up."""

    phrases = (
        "{name:name} is injured and will not start in the {race:name}; scratch the entry and give back what is due.",
        "Please scratch {name:name} from the {race:name}, so that the next on the waiting list can run.",
    )
    needs = ("find_runners", "list_races", "list_entries", "scratch_entry")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.some(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        return steps({**slots, "entered": "entered"}, *OWN, "scratch_entry entry_id<2")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race, entry, ahead = self.race(slots, state), self.entry(slots, state), 0
        ahead = days_to(state, race)
        share = 0.8 if ahead >= self.v.s.late_days else 0.4 if ahead >= 3 else 0.0
        back = round(entry["fee"] * share, 2)
        item = f"Has {slots['name']} been scratched from the {slots['race']}?"
        left = {"status": "scratched", "bib": 0, "wave": 0, "fee": round(entry["fee"] - back, 2)}
        told: list[Outcome] = [self.change(entry, item, **left)]
        if back:
            told.append(self.charge(entry["entry_id"], "refund", -back, state, slots["name"]))
        rest = {k: e for k, e in state["entries"].items() if k != entry["entry_id"]}
        return [*told, *self.moved_up(race, 1, next_bib({**state, "entries": rest}, race), state)]


class HandOn(Club):
    """Somebody else runs."""

    phrases = (
        "{name:name} gives away the place in the {race:name} to {friend:name}, please transfer it.",
        "Please transfer the place of {name:name} in the {race:name} to {friend:name} and charge the fee.",
    )
    needs = ("find_runners", "list_races", "list_entries", "transfer_place")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.some(state, rng)
        friends = [r["name"] for r in state["runners"].values() if slots and r["name"] != slots["name"]]
        return slots and {**slots, "friend": any_of(rng, friends)}

    def plan(self, slots: Slots) -> list[Row]:
        friend = ("find_runners name=friend", "transfer_place entry_id<2 runner_id<3")
        return steps({**slots, "entered": "entered"}, *OWN, *friend)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race, entry = self.race(slots, state), self.entry(slots, state)
        friend, fee = named(state, self.v.u, slots["friend"]), self.v.s.transfer_fee
        rows = entries_of(state, race["race_id"], "entered", "waiting")
        if age(race, friend) < race["min_age"] or any(e["runner_id"] == friend["runner_id"] for e in rows):
            raise LookupError("the friend cannot run")
        item = f"Has the place of {slots['name']} in the {slots['race']} gone to {slots['friend']}?"
        fields = {"runner_id": friend["runner_id"], "fee": round(entry["fee"] + fee, 2)}
        charge = self.charge(entry["entry_id"], "transfer fee", fee, state, slots["friend"])
        return [self.change(entry, item, **fields), charge]


class OtherRace(Club):
    """Another distance."""

    phrases = (
        "{name:name} is entered for the {race:name} but would rather run the {other:name}, so move the entry.",
        "Please move {name:name} from the {race:name} to the {other:name} and settle the difference to what was paid.",
    )
    needs = ("find_runners", "list_races", "list_entries", "change_race")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots, races = self.some(state, rng), state["races"].values()
        others = [r["name"] for r in races if slots and r["status"] == "open" and r["name"] != slots["race"]]
        return slots and {**slots, "other": any_of(rng, others)}

    def plan(self, slots: Slots) -> list[Row]:
        other = ("list_races name=other", "change_race entry_id<2 race_id<3")
        return steps({**slots, "entered": "entered"}, *OWN, *other)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        old, new, entry = (
            self.race(slots, state),
            self.race(slots, state, "other"),
            self.entry(slots, state),
        )
        runner = state["runners"][entry["runner_id"]]
        rows = entries_of(state, new["race_id"], "entered", "waiting")
        there = any(e["runner_id"] == runner["runner_id"] for e in rows)
        if there or len(rows) >= new["places"] or age(new, runner) < new["min_age"]:
            raise LookupError("the other race does not take this runner")
        more = round(fee_of(self.v, state, new, runner) - paid_for(state, entry["entry_id"]), 2)
        fields = {"race_id": new["race_id"], "bib": next_bib(state, new), "wave": 0}
        item = f"Has {slots['name']} been moved from the {slots['race']} to the {slots['other']}?"
        fields["fee"] = round(entry["fee"] + more, 2)
        told: list[Outcome] = [self.change(entry, item, **fields)]
        if more:
            told.append(self.charge(entry["entry_id"], "change of race", more, state, slots["name"]))
        rest = {k: e for k, e in state["entries"].items() if k != entry["entry_id"]}
        return [*told, *self.moved_up(old, 1, next_bib({**state, "entries": rest}, old), state)]


class AddPlaces(Club):
    """More may run."""

    phrases = (
        "The council allows {count:int} more places in the {race:name}; add them and let the waiting list move up.",
        "Please add {count:int} places to the {race:name}, so that those who have waited longest can run.",
    )
    needs = ("list_races", "add_places")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        waiting = [e["race_id"] for e in state["entries"].values() if e["status"] == "waiting"]
        open_ = [key for key in waiting if state["races"][key]["status"] == "open"]
        return (
            {"race": state["races"][any_of(rng, open_)]["name"], "count": int(rng.integers(2, 5))}
            if open_
            else None
        )

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_races name=race", "add_places race_id<0 count")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race = self.race(slots, state)
        places = race["places"] + slots["count"]
        item = f"Has the {slots['race']} {places} places now?"
        told: list[Outcome] = [Changed("races", race["race_id"], {"places": places}, item)]
        free = places - len(entries_of(state, race["race_id"], "entered"))
        return [*told, *self.moved_up(race, free, next_bib(state, race), state)]


class DrawWaves(Club):
    """Everybody is put into a wave by the time they expect."""

    phrases = (
        "Please draw the start waves of the {race:name} with {size:int} runners in each, the fastest in front.",
        "The {race:name} is to start in waves of {size:int}, so sort its runners into them by expected time.",
    )
    needs = ("list_races", "draw_waves")
    weight = 1.0

    def draw(self, state: State, rng: Rng) -> Slots | None:
        races = [r["name"] for r in state["races"].values() if r["status"] == "open"]
        return {"race": any_of(rng, races), "size": int(rng.integers(2, 4))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_races name=race", "draw_waves race_id<0 size")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = entries_of(state, self.race(slots, state)["race_id"], "entered")
        told: list[Outcome] = []
        for n, entry in enumerate(sorted(rows, key=lambda e: (e["expected"], e["bib"]))):
            wave = n // slots["size"] + 1
            item = f"Is bib {entry['bib']} of the {slots['race']} in wave {wave}?"
            told += [self.change(entry, item, wave=wave)] if wave != entry["wave"] else []
        if len(told) < 2:
            raise LookupError("there is nothing to draw")
        return told


class StartRace(Club):
    """The gun goes off."""

    phrases = (
        "The {race:name} of today has been started, please enter that and take everybody who still waits off the list.",
        "Please start the {race:name}, which is run today; its waiting list is void.",
    )
    needs = ("list_races", "start_race")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        races = [r for r in state["races"].values() if r["status"] == "open" and r["day"] == state["today"]]
        return {"race": any_of(rng, races)["name"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_races name=race", "start_race race_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race = named(state, self.v.r, slots["race"])
        if race["status"] != "open" or race["day"] != state["today"]:
            raise LookupError("it does not start today")
        item = f"Has the {slots['race']} been started?"
        told: list[Outcome] = [Changed("races", race["race_id"], {"status": "running"}, item)]
        for entry in entries_of(state, race["race_id"], "waiting"):
            item = f"Is {state['runners'][entry['runner_id']]['name']} off the waiting list of the {slots['race']}?"
            told.append(self.change(entry, item, status="scratched"))
        return told


class Finish(Club):
    """A finish time."""

    phrases = (
        "Bib {bib:int} finished the {race:name} in {time:token} net, please record that.",
        "Please record {time:token} as the net time of bib {bib:int} in the {race:name}.",
    )
    needs = ("list_races", "record_finish")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        race = any_of(rng, [r for r in state["races"].values() if r["status"] == "running"])
        rows = entries_of(state, race["race_id"], "entered")
        time = as_time(int(race["km"] * rng.uniform(230, 400)))
        return {"bib": any_of(rng, rows)["bib"], "race": race["name"], "time": time} if rows else None

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_races name=race", "record_finish race_id<0 bib time")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = entries_of(state, self.race(slots, state, status="running")["race_id"], "entered")
        entry = only([e for e in rows if e["bib"] == slots["bib"]])
        hours, minutes, seconds = map(int, slots["time"].split(":"))
        net = {"seconds": 3600 * hours + 60 * minutes + seconds, "status": "finished"}
        item = f"Has bib {slots['bib']} finished the {slots['race']} in {slots['time']}?"
        return [self.change(entry, item, **net)]


class ProtestLeader(Club):
    """Against whoever leads."""

    phrases = (
        "Bib {bib:int} protests against the first of the {group:name} in the {race:name}; the reason is "
        '"{reason:text}".',
        'Please file a protest of bib {bib:int} against whoever leads among the {group:name} in the {race:name}: '
        '"{reason:text}".',
    )  # fmt: skip
    needs = ("list_races", "rank_runners", "file_protest")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        race = any_of(rng, [r for r in state["races"].values() if r["status"] == "running"])
        rows = entries_of(state, race["race_id"], "finished")
        given = {"group": any_of(rng, ["women", "men"]), "reason": any_of(rng, self.v.s.reasons)}
        return {"bib": any_of(rng, rows)["bib"], "race": race["name"], **given} if rows else None

    def plan(self, slots: Slots) -> list[Row]:
        ranking = ("list_races name=race", "rank_runners race_id<0 group")
        return steps(slots, *ranking, "file_protest race_id<0 bib<1 by_bib=bib reason")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race = self.race(slots, state, status="running")
        rows = entries_of(state, race["race_id"], "finished")
        by = only([e for e in rows if e["bib"] == slots["bib"]])
        ranked = [e for e in rows if state["runners"][e["runner_id"]]["sex"] == slots["group"]]
        best = min((e["seconds"] + e["penalty"] for e in ranked), default=0)
        first = only([e for e in ranked if e["seconds"] + e["penalty"] == best])
        open_ = [p for p in state["protests"].values() if p["entry_id"] == first["entry_id"]]
        if first is by or any(p["by_entry_id"] == by["entry_id"] for p in open_):
            raise LookupError("there is no such protest")
        fields = {"race_id": race["race_id"], "entry_id": first["entry_id"], "by_entry_id": by["entry_id"]}
        given = {"reason": slots["reason"], "filed_on": state["today"], "status": "open", "penalty": 0}
        item = f"Has bib {slots['bib']} protested against the first of the {slots['group']} of the {slots['race']}?"
        return [Added("protests", {**fields, **given}, item, (race["race_id"],))]


class Decide(Club):
    """A protest is decided."""

    phrases = (
        "The jury upholds the open protest against bib {bib:int} in the {race:name}, with {penalty:int} seconds added.",
        "Please uphold the open protest against bib {bib:int} of the {race:name} and add {penalty:int} seconds.",
    )
    needs = ("list_races", "list_protests", "decide_protest")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        protest = any_of(rng, [p for p in state["protests"].values() if p["status"] == "open"])
        bib, race = state["entries"][protest["entry_id"]]["bib"], state["races"][protest["race_id"]]["name"]
        return {"bib": bib, "race": race, "penalty": any_of(rng, [30, 45, 60, 120])}

    def plan(self, slots: Slots) -> list[Row]:
        listed = ("list_races name=race", "list_protests race_id<0 bib status=open")
        return steps({**slots, "open": "open"}, *listed, "decide_protest protest_id<1 upheld=True penalty")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race = self.race(slots, state, status="running")
        rows = entries_of(state, race["race_id"], "finished")
        entry = only([e for e in rows if e["bib"] == slots["bib"]])
        open_ = [p for p in state["protests"].values() if p["entry_id"] == entry["entry_id"]]
        protest = only([p for p in open_ if p["status"] == "open"])
        fields = {"status": "upheld", "penalty": slots["penalty"]}
        item = f"Has the protest against bib {slots['bib']} in the {slots['race']} been upheld?"
        more = f"Have {slots['penalty']} seconds been added to bib {slots['bib']}?"
        total = entry["penalty"] + slots["penalty"]
        return [
            Changed("protests", protest["protest_id"], fields, item),
            self.change(entry, more, penalty=total),
        ]


class MakeOfficial(Club):
    """The results stand."""

    phrases = (
        "All protests are settled, so make the results of the {race:name} official.",
        "Please declare the {race:name} official; whoever has no time yet did not come.",
    )
    needs = ("list_races", "make_official")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"race": any_of(rng, [r["name"] for r in state["races"].values() if r["status"] == "running"])}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "list_races name=race", "make_official race_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race = self.race(slots, state, status="running")
        open_ = [p for p in state["protests"].values() if p["race_id"] == race["race_id"]]
        if any(p["status"] == "open" for p in open_):
            raise LookupError("a protest is open")
        item = f"Are the results of the {slots['race']} official?"
        told: list[Outcome] = [Changed("races", race["race_id"], {"status": "official"}, item)]
        for entry in entries_of(state, race["race_id"], "entered"):
            item = f"Is bib {entry['bib']} of the {slots['race']} recorded as absent?"
            told.append(self.change(entry, item, status="absent"))
        return told


class Races(Pattern):
    """Running races: runners, entries with bibs and times, charges and protests."""

    Settings = RacesSettings
    IMPORTS = ("from datetime import date",)
    GOALS: ClassVar = (
        Enter, Scratch, HandOn, OtherRace, AddPlaces, DrawWaves, StartRace, Finish, ProtestLeader, Decide, MakeOfficial,
    )  # fmt: skip

    def vocabulary(self, s: RacesSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        nouns = dict(zip("rueco", map(Noun, ["race", "runner", "entry", "charge", "protest"]), strict=True))
        return {**nouns, "clubs": s.clubs}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        def made(noun: Noun, about: str, fields: str) -> Table:
            return form(
                noun, about, f"{noun.id}_id: str = unique id, e.g. {noun.id[:3].upper()}-001\n{fields}"
            )

        return [
            made(v.r, "A race over one distance.", """name: str = what it is called
                km: float = how long it is in kilometres
                day: str = date, as YYYY-MM-DD
                places: int = how many may run
                fee: float = entry fee in EUR; half of it for those who turn 17 or less that year
                min_age: int = age that a runner must reach in the year of the race
                first_bib: int = lowest bib
                status: str = open for entries, running until the results stand, then official"""),
            made(v.u, "Somebody who runs.", """name: str = full name
                born: int = year of birth
                sex: str = women or men, the ranking the runner is in
                club: str = club the runner scores for"""),
            made(v.e, "A runner in a race.", """race_id: str = the race
                runner_id: str = who runs
                entered_on: str = date, as YYYY-MM-DD
                expected: int = minutes the runner hopes for
                bib: int = number on the chest, 0 while waiting and once scratched
                wave: int = start wave from 1, 0 until waves are drawn
                status: str = waiting, entered, scratched, finished, dropped_out, absent or disqualified
                seconds: int = net time, 0 without one
                penalty: int = seconds added by the jury
                fee: float = all charges less all refunds in EUR"""),
            made(v.c, "Money charged for an entry or given back.", """entry_id: str = the entry
                kind: str = entry fee, transfer fee, change of race or refund
                amount: float = EUR, charged or given back
                charged_on: str = date, as YYYY-MM-DD"""),
            made(v.o, "A protest of one runner against another.", """race_id: str = the race
                entry_id: str = the entry it is against
                by_entry_id: str = the entry of whoever protests
                reason: str = what happened
                filed_on: str = date, as YYYY-MM-DD
                status: str = open, upheld or dismissed
                penalty: int = seconds the jury added for it, 0 otherwise"""),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "No two runners of a race have the same bib, and nobody is entered twice for it.",
            """
            seen = set()
            for row in rows(after, "entries").values():
                if row.get("status") != "scratched":
                    marks = [("runner", row.get("race_id"), row.get("runner_id"))]
                    marks += [("bib", row.get("race_id"), row.get("bib"))] if row.get("bib") else []
                    if seen.intersection(marks):
                        return False
                    seen.update(marks)
            return True
            """,
        ),
        RuleText(
            "A race has at most as many runners as places, and nobody waits while a place is free.",
            """
            for key, race in rows(after, "races").items():
                mine = [row.get("status") for row in rows(after, "entries").values() if row.get("race_id") == key]
                if race.get("status") == "open":
                    free = (race.get("places") or 0) - mine.count("entered")
                    if free < 0 or (free > 0 and "waiting" in mine):
                        return False
            return True
            """,
        ),
        RuleText(
            "The fee of an entry is the sum of its charges less its refunds.",
            """
            sums = {}
            for row in rows(after, "charges").values():
                amount = (row.get("amount") or 0) * (-1 if row.get("kind") == "refund" else 1)
                sums[row.get("entry_id")] = sums.get(row.get("entry_id"), 0) + amount
            return all(
                abs((row.get("fee") or 0) - sums.get(key, 0)) < 0.01 for key, row in rows(after, "entries").items()
            )
            """,
        ),
        RuleText(
            "Whoever finished has a net time, and nobody else has one, except who was disqualified afterwards.",
            """
            for row in rows(after, "entries").values():
                if row.get("status") == "finished" and not row.get("seconds"):
                    return False
                if row.get("status") not in ("finished", "disqualified") and row.get("seconds"):
                    return False
            return True
            """,
        ),
        RuleText(
            "Only runners old enough in the year of the race are entered for it or wait for a place.",
            """
            races, people = rows(after, "races"), rows(after, "runners")
            for row in rows(after, "entries").values():
                race, person = races.get(str(row.get("race_id"))), people.get(str(row.get("runner_id")))
                year = str((race or {}).get("day"))[:4]
                if race and person and year.isdigit() and row.get("status") != "scratched":
                    if int(year) - (person.get("born") or 0) < (race.get("min_age") or 0):
                        return False
            return True
            """,
        ),
        RuleText(
            "The penalty of a runner is calculated from the protests upheld against the entry.",
            """
            sums = {}
            for row in rows(after, "protests").values():
                if row.get("status") == "upheld":
                    sums[row.get("entry_id")] = sums.get(row.get("entry_id"), 0) + (row.get("penalty") or 0)
            return all((row.get("penalty") or 0) == sums.get(key, 0) for key, row in rows(after, "entries").items())
            """,
        ),
        RuleText(
            "Results become official once no protest is open, and then they stay as they are.",
            """
            official = [key for key, row in rows(after, "races").items() if row.get("status") == "official"]
            for row in rows(after, "protests").values():
                if row.get("race_id") in official and row.get("status") == "open":
                    return False
            for key, row in rows(before, "races").items():
                if row.get("status") == "official":
                    old = [row for row in rows(before, "entries").values() if row.get("race_id") == key]
                    new = [row for row in rows(after, "entries").values() if row.get("race_id") == key]
                    if key not in official or old != new:
                        return False
            return True
            """,
        ),
        RuleText(
            "A protest is filed within 2 days of the race, by another runner of the same race.",
            """
            entries, races = rows(after, "entries"), rows(after, "races")
            for row in rows(after, "protests").values():
                one, two = (entries.get(str(row.get(name))) or {} for name in ("entry_id", "by_entry_id"))
                if one.get("race_id") != two.get("race_id") or row.get("entry_id") == row.get("by_entry_id"):
                    return False
                day, filed = str((races.get(str(row.get("race_id"))) or {}).get("day")), str(row.get("filed_on"))
                if filed < day or (filed[:8] == day[:8] and int(filed[8:10]) > int(day[8:10]) + 2):
                    return False
            return True
            """,
        ),
    )

    HELPERS = '''
    def _days_to(self, race: dict) -> int:
        """Return the days until a race, below 0 when it is over."""
        return (date.fromisoformat(race["day"]) - date.fromisoformat(self.today)).days

    def _entries(self, race_id: str, *statuses: str) -> list[dict]:
        """Return the entries of a race that have one of these statuses."""
        return [e for e in self.entries.values() if e["race_id"] == race_id and e["status"] in statuses]

    def _with_bib(self, race_id: str, bib: int) -> dict | None:
        """Return the entry that runs with a bib, None when there is none."""
        return next((e for e in self.entries.values() if e["race_id"] == race_id and e["bib"] == bib > 0), None)

    def _next_bib(self, race: dict) -> int:
        """Return the bib after the highest one of a race."""
        bibs = [entry["bib"] for entry in self.entries.values() if entry["race_id"] == race["race_id"]]
        return max([race["first_bib"] - 1, *bibs]) + 1

    def _fee(self, race: dict, runner: dict) -> float:
        """Return what an entry costs today: half for the young, more in the last <<s.late_days>> days."""
        young = int(race["day"][:4]) - runner["born"] < 18
        late = <<s.late_fee>> if self._days_to(race) < <<s.late_days>> else 0.0
        return round(race["fee"] * (0.5 if young else 1.0) + late, 2)

    def _charge(self, entry: dict, kind: str, amount: float) -> None:
        """Write a charge, or a refund where the amount is below 0, and add it to the fee of the entry."""
        if amount:
            charge: Charge = {
                "charge_id": self._next_id(self.charges, "CHA"),
                "entry_id": entry["entry_id"],
                "kind": kind if amount > 0 else "refund",
                "amount": round(abs(amount), 2),
                "charged_on": self.today,
            }
            self.charges[charge["charge_id"]] = charge
            entry["fee"] = round(entry["fee"] + amount, 2)

    def _admit(self, entry: dict) -> None:
        """Give an entry a place: a bib, and the fee is charged."""
        race, runner = self.races[entry["race_id"]], self.runners[entry["runner_id"]]
        entry["bib"], entry["status"] = self._next_bib(race), "entered"
        self._charge(entry, "entry fee", self._fee(race, runner))

    def _move_up(self, race: dict) -> list[str]:
        """Give free places to those who have waited longest; return the ids of their entries."""
        free = race["places"] - len(self._entries(race["race_id"], "entered"))
        queue = self._entries(race["race_id"], "waiting")
        queue.sort(key=lambda entry: (entry["entered_on"], entry["entry_id"]))
        for entry in queue[: max(free, 0)]:
            self._admit(entry)
        return [entry["entry_id"] for entry in queue[: max(free, 0)]]

    def _unfit(self, race: dict, runner: dict) -> str:
        """Tell why a runner cannot be entered for a race; empty when nothing speaks against it."""
        if race["status"] != "open" or self._days_to(race) < 1:
            return f"Entries for the {race['name']} are closed."
        if int(race["day"][:4]) - runner["born"] < race["min_age"]:
            return f"Runners of the {race['name']} must turn {race['min_age']} in its year."
        known = [entry["runner_id"] for entry in self._entries(race["race_id"], "entered", "waiting")]
        return f"{runner['name']} is on the list already." if runner["runner_id"] in known else ""
'''

    READS = '''
def find_runners(self, name: str, club: str | None = None) -> dict:
    """Find runners by name, with the number of races they are entered for.

    Args:
        name: Full name or the beginning of a word of it.
        club: Only runners of this club. Leave out for all.

    Returns:
        The matching runners, each with the number of `starts` ahead.
    """
    words = f" {name.strip().lower()}"
    refuse if not words.strip() :: The name is empty.
    found = []
    for key, runner in self.runners.items():
        if words in f" {runner['name'].lower()}" and club in (None, runner["club"]):
            starts = sum(entry["runner_id"] == key and entry["status"] == "entered" for entry in self.entries.values())
            found.append({**runner, "starts": starts})
    return {"success": True, "data": sorted(found, key=lambda runner: runner["name"])}

def list_races(self, name: str | None = None, status: str | None = None) -> dict:
    """List races in the order of their days, with the places left and the length of the waiting list.

    Args:
        name: Only the race with this name. Leave out for all.
        status: Only open, running or official ones. Leave out for all.

    Returns:
        The races, each with places `left` and the number `waiting`.
    """
    refuse if status not in (None, "open", "running", "official") :: There is no status {status!r}.
    calendar = []
    for key, race in self.races.items():
        if name in (None, race["name"]) and status in (None, race["status"]):
            running = self._entries(key, "entered", "finished", "dropped_out", "disqualified", "absent")
            waiting = len(self._entries(key, "waiting"))
            calendar.append({**race, "left": max(race["places"] - len(running), 0), "waiting": waiting})
    return {"success": True, "data": sorted(calendar, key=lambda race: (race["day"], race["km"]))}

def list_entries(
    self, runner_id: str | None = None, race_id: str | None = None, status: str | None = None
) -> dict:
    """List entries by race and bib.

    Args:
        runner_id: Only those of this runner. Leave out for all.
        race_id: Only those for this race. Leave out for all.
        status: Only this status: waiting, entered, scratched, finished, dropped_out, absent or disqualified. Leave out
            for all.

    Returns:
        The entries, each with the name of the runner.
    """
    states = ("waiting", "entered", "scratched", "finished", "dropped_out", "absent", "disqualified")
    refuse if status is not None and status not in states :: There is no status {status!r}.
    asked = (("runner_id", runner_id), ("race_id", race_id), ("status", status))
    found = [
        {**entry, "name": self.runners[entry["runner_id"]]["name"]}
        for entry in self.entries.values()
        if all(value in (None, entry[field]) for field, value in asked)
    ]
    return {"success": True, "data": sorted(found, key=lambda entry: (entry["race_id"], entry["bib"]))}

def quote_entry(self, race_id: str, runner_id: str) -> dict:
    """Tell what an entry would cost today and whether there is a place.

    Args:
        race_id: Id of a race that is open.
        runner_id: Id of a runner who is old enough and not on the list yet.

    Returns:
        The `fee`, the part of it that is the `late` fee, and the place on the waiting list, 0 for a place at once.
    """
    need r
    need u
    if obstacle := self._unfit(race, runner):
        return {"success": False, "error": obstacle}
    late = <<s.late_fee>> if self._days_to(race) < <<s.late_days>> else 0.0
    full = len(self._entries(race_id, "entered")) >= race["places"]
    queue = len(self._entries(race_id, "waiting")) + 1 if full else 0
    return {"success": True, "data": {"fee": self._fee(race, runner), "late": late, "queue": queue}}

def rank_runners(self, race_id: str, group: str | None = None, age_from: int = 0) -> dict:
    """Rank those who finished by net time and penalty; equal times share a place, and the next place is left out.

    Args:
        race_id: Id of a race that is running or official.
        group: women or men. Leave out for both together.
        age_from: Only runners who turn at least this age in the year of the race.

    Returns:
        For each the `place`, name, club, bib, `total` seconds and seconds `behind` the first.
    """
    need r
    refuse if race["status"] == "open" :: The {race['name']} has not been run yet.
    refuse if group not in (None, "women", "men") :: There is no ranking of {group!r}.
    ranking: list[dict] = []
    finished = self._entries(race_id, "finished")
    finished.sort(key=lambda entry: (entry["seconds"] + entry["penalty"], entry["bib"]))
    for entry in finished:
        runner = self.runners[entry["runner_id"]]
        if group in (None, runner["sex"]) and int(race["day"][:4]) - runner["born"] >= age_from:
            total = entry["seconds"] + entry["penalty"]
            same = bool(ranking) and ranking[-1]["total"] == total
            line = {"place": ranking[-1]["place"] if same else len(ranking) + 1, "bib": entry["bib"]}
            line |= {"name": runner["name"], "club": runner["club"], "total": total}
            line["behind"] = total - ranking[0]["total"] if ranking else 0
            ranking.append(line)
    return {"success": True, "data": ranking}

def rank_clubs(self, race_id: str, scorers: int = 2) -> dict:
    """Rank clubs by the sum of the times of their fastest runners.

    Args:
        race_id: Id of a race that is running or official.
        scorers: How many runners count for a club, 1 to 5; clubs with fewer are not ranked.

    Returns:
        For each club the `time` in seconds and the bibs that `scored`, the fastest club first.
    """
    need r
    refuse if race["status"] == "open" :: The {race['name']} has not been run yet.
    refuse if not 1 <= scorers <= 5 :: Between 1 and 5 runners score for a club, not {scorers}.
    teams: dict[str, list[tuple[int, int]]] = {}
    for entry in self._entries(race["race_id"], "finished"):
        club = self.runners[entry["runner_id"]]["club"]
        teams.setdefault(club, []).append((entry["seconds"] + entry["penalty"], entry["bib"]))
    table = []
    for club, times in teams.items():
        best = sorted(times)[:scorers]
        if len(best) == scorers:
            table.append({"club": club, "time": sum(t[0] for t in best), "scored": [t[1] for t in best]})
    return {"success": True, "data": sorted(table, key=lambda team: (team["time"], team["club"]))}

def show_start_list(self, race_id: str) -> dict:
    """Show who starts in which wave, and who is in none yet.

    Args:
        race_id: Id of the race.

    Returns:
        For each wave its bibs in the order of expected times, and the waves' slowest expected time in minutes.
    """
    need r
    waves: dict[str, list[dict]] = {}
    for entry in sorted(self._entries(race["race_id"], "entered"), key=lambda entry: (entry["expected"], entry["bib"])):
        waves.setdefault(f"wave {entry['wave']}" if entry["wave"] else "none", []).append(entry)
    plan = {
        name: {"bibs": [entry["bib"] for entry in waves[name]], "slowest": waves[name][-1]["expected"]}
        for name in sorted(waves)
    }
    return {"success": True, "data": plan}

def list_protests(self, race_id: str | None = None, bib: int | None = None, status: str | None = None) -> dict:
    """List protests with both bibs, the one filed first in front.

    Args:
        race_id: Only those of this race. Leave out for all.
        bib: Only those against this bib. Leave out for all.
        status: Only open, upheld or dismissed ones. Leave out for all.

    Returns:
        The protests, each with the bib it is `against` and the bib it is `by`.
    """
    refuse if status not in (None, "open", "upheld", "dismissed") :: There is no status {status!r}.
    heard = []
    for protest in self.protests.values():
        against = self.entries[protest["entry_id"]]["bib"]
        if race_id in (None, protest["race_id"]) and bib in (None, against) and status in (None, protest["status"]):
            heard.append({**protest, "against": against, "by": self.entries[protest["by_entry_id"]]["bib"]})
    return {"success": True, "data": sorted(heard, key=lambda protest: (protest["filed_on"], protest["protest_id"]))}
'''

    WRITES = '''
def enter_runner(self, runner_id: str, race_id: str, expected: int) -> dict:
    """Enter a runner for a race; when all places are taken, the runner waits and pays nothing yet.

    Args:
        runner_id: Id of a runner who is old enough.
        race_id: Id of a race that is open and after today.
        expected: Minutes the runner hopes for, 10 to 900.

    Returns:
        The new entry, entered with a bib or waiting, or an error.
    """
    need u
    need r
    if obstacle := self._unfit(race, runner):
        return {"success": False, "error": obstacle}
    refuse if not 10 <= expected <= 900 :: The expected time is between 10 and 900 minutes, not {expected}.
    entry: Entry = {
        "entry_id": self._next_id(self.entries, "ENT"),
        "race_id": race_id,
        "runner_id": runner_id,
        "entered_on": self.today,
        "expected": expected,
        "bib": 0,
        "wave": 0,
        "status": "waiting",
        "seconds": 0,
        "penalty": 0,
        "fee": 0.0,
    }
    self.entries[entry["entry_id"]] = entry
    self._move_up(race)
    done dict(entry) :: {runner['name']} is {entry['status']} for the {race['name']}.

def scratch_entry(self, entry_id: str) -> dict:
    """Scratch an entry before the race: part of the fee comes back and the first who waits moves up.

    Args:
        entry_id: Id of an entry that is entered or waiting. Until <<s.late_days>> days before the race 80 percent
            of the fee come back, until 3 days before 40 percent, then nothing.

    Returns:
        The entry, the `refund` and the ids of entries that `moved_up`, or an error.
    """
    need e
    race = self.races[entry["race_id"]]
    refuse if entry["status"] not in ("entered", "waiting") :: Entry {entry_id} is {entry['status']}.
    refuse if race["status"] != "open" :: The {race['name']} is {race['status']}; record a dropout instead.
    ahead = self._days_to(race)
    share = 0.8 if ahead >= <<s.late_days>> else 0.4 if ahead >= 3 else 0.0
    refund = round(entry["fee"] * share, 2)
    entry["status"], entry["bib"], entry["wave"] = "scratched", 0, 0
    self._charge(entry, "refund", -refund)
    data = {**entry, "refund": refund, "moved_up": self._move_up(race)}
    return {"success": True, "message": f"Entry {entry_id} is scratched.", "data": data}

def transfer_place(self, entry_id: str, runner_id: str) -> dict:
    """Hand a place on to another runner, who keeps bib and wave, for <<s.transfer_fee>> EUR.

    Args:
        entry_id: Id of an entry that is entered, for a race after today.
        runner_id: Id of a runner who is old enough and not on the list of the race.

    Returns:
        The entry in its new name, or an error.
    """
    need e
    need u
    race = self.races[entry["race_id"]]
    refuse if entry["status"] != "entered" :: Entry {entry_id} is {entry['status']}; there is no place to hand on.
    if obstacle := self._unfit(race, runner):
        return {"success": False, "error": obstacle}
    entry["runner_id"] = runner_id
    self._charge(entry, "transfer fee", <<s.transfer_fee>>)
    done dict(entry) :: {runner['name']} runs with bib {entry['bib']}.

def change_race(self, entry_id: str, race_id: str) -> dict:
    """Move an entry to another race that has a free place, at its fee of today less what was paid for the entry.

    Args:
        entry_id: Id of an entry that is entered, for a race that is open.
        race_id: Id of another race that is open, with a place left. Fees for a transfer of the place do not count as
            paid for the entry.

    Returns:
        The entry with its new bib, the `difference`, and the ids of entries that `moved_up` in the old race, or an
        error.
    """
    need e
    need r
    old, runner = self.races[entry["race_id"]], self.runners[entry["runner_id"]]
    refuse if entry["status"] != "entered" or old["status"] != "open" :: Entry {entry_id} cannot be moved.
    if obstacle := self._unfit(race, runner):
        return {"success": False, "error": obstacle}
    taken = len(self._entries(race_id, "entered", "waiting"))
    refuse if taken >= race["places"] :: All places of the {race['name']} are taken.
    charges = [c for c in self.charges.values() if c["entry_id"] == entry_id and c["kind"] != "transfer fee"]
    paid = sum(-charge["amount"] if charge["kind"] == "refund" else charge["amount"] for charge in charges)
    difference = round(self._fee(race, runner) - paid, 2)
    entry["bib"] = self._next_bib(race)
    entry["race_id"], entry["wave"] = race_id, 0
    self._charge(entry, "change of race", difference)
    data = {**entry, "difference": difference, "moved_up": self._move_up(old)}
    return {"success": True, "message": f"{runner['name']} runs the {race['name']}.", "data": data}

def add_places(self, race_id: str, count: int) -> dict:
    """Add places to a race, which go to those who have waited longest.

    Args:
        race_id: Id of a race that is open.
        count: How many, 1 to 500.

    Returns:
        The race with the ids of the entries that `moved_up`, or an error.
    """
    need r
    refuse if race["status"] != "open" :: Entries for the {race['name']} are closed.
    refuse if not 1 <= count <= 500 :: Between 1 and 500 places can be added, not {count}.
    race["places"] += count
    done {**race, "moved_up": self._move_up(race)} :: The {race['name']} has {race['places']} places.

def draw_waves(self, race_id: str, size: int) -> dict:
    """Put everybody who is entered for a race into start waves, the fastest in front.

    Args:
        race_id: Id of a race that is open.
        size: Runners in a wave, 1 to 200; the last one may have fewer.

    Returns:
        The entries with their waves, by expected time and then by bib, or an error.
    """
    need r
    refuse if race["status"] != "open" :: The {race['name']} is {race['status']}.
    refuse if not 1 <= size <= 200 :: A wave has between 1 and 200 runners, not {size}.
    grid = sorted(self._entries(race_id, "entered"), key=lambda entry: (entry["expected"], entry["bib"]))
    refuse if not grid :: Nobody is entered for the {race['name']}.
    waves = [1 + n // size for n in range(len(grid))]
    refuse if waves == [entry["wave"] for entry in grid] :: These waves are drawn already.
    for entry, wave in zip(grid, waves, strict=True):
        entry["wave"] = wave
    done [dict(entry) for entry in grid] :: {waves[-1]} waves drawn.

def start_race(self, race_id: str) -> dict:
    """Start a race on its day; whoever still waits for a place is taken off the list.

    Args:
        race_id: Id of a race that is open, of today.

    Returns:
        The race with the number of runners on the `course` and the ids of entries taken `off`, or an error.
    """
    need r
    refuse if race["status"] != "open" or race["day"] != self.today :: The {race['name']} does not start today.
    course, queue = self._entries(race_id, "entered"), self._entries(race_id, "waiting")
    refuse if not course :: Nobody is entered for the {race['name']}.
    for entry in queue:
        entry["status"] = "scratched"
    race["status"] = "running"
    data = {**race, "course": len(course), "off": [entry["entry_id"] for entry in queue]}
    return {"success": True, "message": f"{len(course)} runners are on the course.", "data": data}

def record_finish(self, race_id: str, bib: int, time: str) -> dict:
    """Record the net time of a runner who has finished.

    Args:
        race_id: Id of a race that is running.
        bib: Bib of a runner without a result.
        time: Net time as H:MM:SS, between 2 and 20 minutes for a kilometre.

    Returns:
        The entry with its time and the `place` it has at the moment, or an error.
    """
    need r
    entry = self._with_bib(race_id, bib)
    refuse if race["status"] != "running" :: The {race['name']} is {race['status']}, not running.
    refuse if entry is None or entry["status"] != "entered" :: Nobody with bib {bib} is still on the course.
    pieces = time.split(":")
    right = len(pieces) == 3 and all(piece.isdecimal() and piece.isascii() and len(piece) <= 2 for piece in pieces)
    refuse if not right :: {time!r} is no time as H:MM:SS.
    seconds = 3600 * int(pieces[0]) + 60 * int(pieces[1]) + int(pieces[2])
    refuse if int(pieces[1]) > 59 or int(pieces[2]) > 59 :: {time!r} is no time as H:MM:SS.
    refuse if not 120 <= seconds / race["km"] <= 1200 :: {time} is not likely for {race['km']} km.
    entry["seconds"], entry["status"] = seconds, "finished"
    faster = [e for e in self._entries(race_id, "finished") if e["seconds"] + e["penalty"] < seconds + entry["penalty"]]
    done {**entry, "place": len(faster) + 1} :: Bib {bib} finished in {time}.

def record_dropout(self, race_id: str, bib: int) -> dict:
    """Record that a runner has given up on the course.

    Args:
        race_id: Id of a race that is running.
        bib: Bib of a runner without a result.

    Returns:
        The entry and how many are still on the `course`, or an error.
    """
    need r
    entry = self._with_bib(race_id, bib)
    refuse if race["status"] != "running" :: The {race['name']} is {race['status']}, not running.
    refuse if entry is None or entry["status"] != "entered" :: Nobody with bib {bib} is still on the course.
    entry["status"] = "dropped_out"
    done {**entry, "course": len(self._entries(race_id, "entered"))} :: Bib {bib} has dropped out.

def file_protest(self, race_id: str, bib: int, by_bib: int, reason: str) -> dict:
    """File a protest of one runner against another, no later than 2 days after the race.

    Args:
        race_id: Id of a race that is running, at most 2 days ago.
        bib: Bib of a runner who finished, against whom the protest is.
        by_bib: Bib of another runner who finished.
        reason: What happened, in a few words.

    Returns:
        The open protest, or an error.
    """
    need r
    refuse if race["status"] != "running" or self._days_to(race) < -2 :: It is not the time for a protest.
    refuse if bib == by_bib or not reason.strip() :: A protest needs two runners and a reason.
    accused, other = self._with_bib(race_id, bib), self._with_bib(race_id, by_bib)
    for number, entry in ((bib, accused), (by_bib, other)):
        refuse if entry is None or entry["status"] != "finished" :: Bib {number} has not finished.
    pair = (accused["entry_id"], other["entry_id"])
    known = [(earlier["entry_id"], earlier["by_entry_id"]) for earlier in self.protests.values()]
    refuse if pair in known :: Bib {by_bib} has protested against bib {bib} before.
    protest: Protest = {
        "protest_id": self._next_id(self.protests, "PRO"),
        "race_id": race_id,
        "entry_id": accused["entry_id"],
        "by_entry_id": other["entry_id"],
        "reason": reason.strip(),
        "filed_on": self.today,
        "status": "open",
        "penalty": 0,
    }
    self.protests[protest["protest_id"]] = protest
    done dict(protest) :: Protest against bib {bib} filed.

def decide_protest(self, protest_id: str, upheld: bool, penalty: int = 0) -> dict:
    """Decide an open protest: dismiss it, or uphold it with seconds added or, without any, a disqualification.

    Args:
        protest_id: Id of an open protest.
        upheld: Whether the jury agrees with it.
        penalty: Seconds added to the time, at most 600; 0 disqualifies the runner when the protest is upheld.

    Returns:
        The protest and the `entry` it was against, or an error.
    """
    need o
    entry = self.entries[protest["entry_id"]]
    refuse if protest["status"] != "open" :: Protest {protest_id} is {protest['status']} already.
    refuse if not 0 <= penalty <= 600 :: At most 600 seconds can be added, not {penalty}.
    refuse if penalty and not upheld :: A protest that is dismissed adds no seconds.
    protest["status"] = "upheld" if upheld else "dismissed"
    protest["penalty"] = penalty
    entry["penalty"] += penalty
    if upheld and not penalty:
        entry["status"] = "disqualified"
    done {**protest, "entry": dict(entry)} :: Protest {protest_id} is {protest['status']}.

def make_official(self, race_id: str) -> dict:
    """Let the results of a race stand: nothing of it changes any more, and who has no result was absent.

    Args:
        race_id: Id of a race that is running, without an open protest.

    Returns:
        The race and the ids of the entries that were `absent`, or an error.
    """
    need r
    refuse if race["status"] != "running" :: The {race['name']} is {race['status']}, not running.
    waiting = [p["protest_id"] for p in self.protests.values() if p["race_id"] == race_id and p["status"] == "open"]
    refuse if waiting :: Protest {waiting[0]} is still open.
    absent = self._entries(race_id, "entered")
    for entry in absent:
        entry["status"] = "absent"
    race["status"] = "official"
    data = {**race, "absent": [entry["entry_id"] for entry in absent]}
    return {"success": True, "message": f"The results of the {race['name']} are official.", "data": data}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        for n, name in enumerate(names.people(rng, 15)):
            key = key_of("RUN", n + 1)
            born = int(today[:4]) - (int(rng.integers(14, 18)) if n % 5 == 4 else int(rng.integers(19, 66)))
            state["runners"][key] = {
                **{"runner_id": key, "name": name, "born": born, "sex": ("women", "men")[n % 2]},
                "club": any_of(rng, s.clubs),
            }
        ahead = sorted(int(d) for d in rng.choice(range(2, 60), size=len(s.races), replace=False))
        for n, (name, race) in enumerate(zip(shuffled(rng, list(s.races)), ahead, strict=True)):
            key, day = key_of("RAC", n + 1), (-1, -2, 0)[n] if n < 3 else race
            plan = s.races[name]
            state["races"][key] = {
                **{"race_id": key, "name": name, "km": plan.km, "day": later(today, day)},
                **{"places": 5 if n in (2, 3) else 8, "fee": plan.fee, "min_age": plan.min_age},
                **{"first_bib": 100 * n + 101, "status": "running" if n < 2 else "open"},
            }
            self._field(v, state, rng, state["races"][key], (6, 6, 6, 7, 4)[n])
        for n, race in enumerate(list(state["races"])[:2]):
            one, two, three = shuffled(rng, [e["entry_id"] for e in entries_of(state, race, "finished")])
            for pair in ((one, two), (two, three))[: n + 1]:
                self._protest(v, state, rng, pair, n == 1)

    def _protest(
        self, v: SimpleNamespace, state: State, rng: Rng, pair: tuple[str, str], is_open: bool
    ) -> None:
        key, penalty = key_of("PRO", len(state["protests"]) + 1), 0 if is_open else 30
        entry = state["entries"][pair[0]]
        entry["penalty"] += penalty
        state["protests"][key] = {
            **{"protest_id": key, "race_id": entry["race_id"], "entry_id": pair[0], "by_entry_id": pair[1]},
            **{"reason": any_of(rng, v.s.reasons), "filed_on": state["today"]},
            **{"status": "open" if is_open else "upheld", "penalty": penalty},
        }

    def _field(self, v: SimpleNamespace, state: State, rng: Rng, race: Row, size: int) -> None:
        able = [r for r in state["runners"].values() if age(race, r) >= race["min_age"]]
        for n, runner in enumerate(shuffled(rng, able)[:size]):
            key, place = key_of("ENT", len(state["entries"]) + 1), n < race["places"]
            status = "entered" if place else "waiting"
            if race["status"] == "running":
                status = ("finished", "finished", "finished", "entered", "entered", "dropped_out")[n]
            pace, fee = rng.uniform(230, 400), round(race["fee"] * (0.5 if age(race, runner) < 18 else 1), 2)
            state["entries"][key] = {
                **{"entry_id": key, "race_id": race["race_id"], "runner_id": runner["runner_id"]},
                **{"entered_on": later(state["today"], n - 60), "expected": int(race["km"] * pace / 60)},
                **{
                    "bib": race["first_bib"] + n if place else 0,
                    "wave": 0 if race["status"] == "open" else 1 + n // 4,
                },
                **{"status": status, "seconds": int(race["km"] * pace) if status == "finished" else 0},
                **{"penalty": 0, "fee": fee if place else 0.0},
            }
            if place:
                paid = key_of("CHA", len(state["charges"]) + 1)
                state["charges"][paid] = {
                    **{"charge_id": paid, "entry_id": key, "kind": "entry fee", "amount": fee},
                    "charged_on": state["entries"][key]["entered_on"],
                }


PATTERN = Races
