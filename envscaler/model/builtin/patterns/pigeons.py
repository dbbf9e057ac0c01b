"""Pigeons: lofts and ringed birds, races by velocity, clocked arrivals, pools and transfers of rings."""

from math import asin, cos, radians, sin, sqrt
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
    key_of,
    only,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import any_of, form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]


class PigeonsSettings(Settings):
    """A club's release points and rules."""

    home: tuple[float, float]
    """Latitude and longitude of the club's town; lofts lie around it."""
    points: dict[str, tuple[float, float]]
    """Release point → latitude and longitude; five or more."""
    country: str
    """Letters that rings begin with."""
    most: int = 4
    """Most birds of a loft in one race."""
    stake: int = 20
    """Highest stake on a bird in EUR."""
    shares: tuple[float, float] = (0.3, 0.2)
    """Shares of the pool for the second and the third bird; the first gets the rest."""


# What tools do, for the outcomes of goals


def metres(loft: Row, race: Row) -> int:
    """Distance over the great circle between a loft and a release point."""
    north, east = radians(race["lat"] - loft["lat"]), radians(race["lon"] - loft["lon"])
    arc = sin(north / 2) ** 2 + cos(radians(loft["lat"])) * cos(radians(race["lat"])) * sin(east / 2) ** 2
    return round(2 * 6371008.8 * asin(sqrt(arc)))


def seconds(time: str) -> int:
    """Seconds since midnight of HH:MM:SS."""
    hours, minutes, rest = map(int, time.split(":"))
    return 3600 * hours + 60 * minutes + rest


def as_time(total: int) -> str:
    """HH:MM:SS."""
    return f"{total // 3600:02d}:{total // 60 % 60:02d}:{total % 60:02d}"


def velocity(loft: Row, race: Row, arrived: str) -> float:
    """Metres in a minute."""
    return round(60 * metres(loft, race) / (seconds(arrived) - seconds(race["released_at"])), 3)


def loft_of(state: State, start: Row) -> Row:
    """The loft that sent the bird of a start."""
    return dict(state["lofts"][start["loft_id"]])


def starts_of(state: State, race: str, *statuses: str) -> list[Row]:
    """The starts in a race that have one of these statuses."""
    return [s for s in state["starts"].values() if s["race_id"] == race and s["status"] in statuses]


def prizes(v: SimpleNamespace, starts: list[Row]) -> list[tuple[Row, float]]:
    """Who gets how much of the pool of a race."""
    pool = sum(s["stake"] for s in starts)
    best = sorted((s for s in starts if s["stake"] and s["status"] == "homed"), key=lambda s: -s["velocity"])[
        :3
    ]
    rest = [round(pool * share, 2) for share in v.s.shares][: max(len(best) - 1, 0)]
    return list(zip(best, [round(pool - sum(rest), 2), *rest], strict=False))


# Goals


class Club(Goal):
    """What goals share: a race by its release point, a bird by its ring, a loft by its fancier."""

    def race(self, slots: Slots, state: State, status: str) -> Row:
        """The race of that status from the place a sentence names."""
        rows = [r for r in state["races"].values() if r["status"] == status]
        return dict(only([r for r in rows if r["place"] == slots["place"]]))

    def loft(self, slots: Slots, state: State, slot: str = "fancier") -> Row:
        """The loft of a fancier."""
        return dict(only([row for row in state["lofts"].values() if row["fancier"] == slots[slot]]))

    def bird(self, slots: Slots, state: State) -> Row:
        """The bird with a ring."""
        return dict(only([row for row in state["pigeons"].values() if row["ring"] == slots["ring"]]))

    def some(self, state: State, rng: Rng, status: str) -> Row:
        """A race of this status; raises `LookupError` for none."""
        if not (rows := [r for r in state["races"].values() if r["status"] == status]):
            raise LookupError(f"no race is {status}")
        return dict(any_of(rng, rows))

    def start(self, start: Row, item: str, *also: str, **fields: Any) -> Changed:
        """The start has these values; bird and race are concerned."""
        return Changed("starts", start["start_id"], fields, item, (start["pigeon_id"], *also))


class Clock(Club):
    """A bird is home."""

    phrases = (
        "The pigeon with the ring {ring:token} came home from {place:name} at {time:token}, please clock it in.",
        "Please enter {time:token} as the arrival of {ring:token} in the race from {place:name}.",
    )
    needs = ("list_races", "find_pigeons", "clock_pigeon")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        race = self.some(state, rng, "released")
        start = any_of(rng, starts_of(state, race["race_id"], "basketed"))
        flown = int(60 * metres(loft_of(state, start), race) / rng.uniform(850, 1150))
        time = as_time(seconds(race["released_at"]) + flown)
        return {"ring": state["pigeons"][start["pigeon_id"]]["ring"], "place": race["place"], "time": time}

    def plan(self, slots: Slots) -> list[Row]:
        race = {**slots, "released": "released"}
        return steps(
            race,
            "list_races place status=released",
            "find_pigeons ring",
            "clock_pigeon race_id<0 pigeon_id<1 time",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race, bird = self.race(slots, state, "released"), self.bird(slots, state)
        rows = starts_of(state, race["race_id"], "basketed")
        start = only([s for s in rows if s["pigeon_id"] == bird["pigeon_id"]])
        speed = velocity(loft_of(state, start), race, slots["time"])
        item = f"Has {slots['ring']} been clocked at {slots['time']} with {speed} metres a minute?"
        fields = {"arrived_at": slots["time"], "velocity": speed, "status": "homed"}
        return [self.start(start, item, bird["loft_id"], race["race_id"], **fields)]


class BasketBest(Club):
    """The best bird of a loft."""

    phrases = (
        "{fancier:name} sends the best bird of the loft to {place:name}, so basket whichever has the highest average "
        "velocity, with a stake of {stake:int} EUR.",
        "Please basket for the race from {place:name} the bird of {fancier:name} with the best average so far, stake "
        "{stake:int} EUR.",
    )
    needs = ("find_lofts", "list_races", "rank_birds", "basket_pigeon")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        place, loft = self.some(state, rng, "basketing")["place"], any_of(rng, list(state["lofts"].values()))
        return {"fancier": loft["fancier"], "place": place, "stake": int(rng.integers(2, 12))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            {**slots, "basketing": "basketing"},
            "find_lofts fancier",
            "list_races place status=basketing",
            "rank_birds loft_id<0 race_id<1",
            "basket_pigeon race_id<1 pigeon_id<2 stake",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race, loft = self.race(slots, state, "basketing"), self.loft(slots, state)
        rows = state["starts"].values()
        same = [s for s in rows if state["races"][s["race_id"]]["day"] == race["day"]]
        busy = {s["pigeon_id"] for s in same if s["status"] != "withdrawn"}
        mine = [p for p in state["pigeons"].values() if p["loft_id"] == loft["loft_id"]]
        sent = sum(s["loft_id"] == loft["loft_id"] for s in starts_of(state, race["race_id"], "basketed"))
        if loft["closed_until"] >= race["day"] or sent >= self.v.s.most:
            raise LookupError("this loft sends no more birds")
        year = int(race["day"][:4])
        able = [p for p in mine if p["status"] == "racing" and p["pigeon_id"] not in busy]
        able = [p for p in able if (p["hatched"] == year) == (race["birds"] == "young")]
        means = {}
        for bird in able:
            flown = [
                s["velocity"] for s in rows if s["pigeon_id"] == bird["pigeon_id"] and s["status"] == "homed"
            ]
            means[bird["ring"]] = round(sum(flown) / len(flown), 3) if flown else 0.0
        best = only([bird for bird in able if means[bird["ring"]] == max(means.values())])
        fields = {"race_id": race["race_id"], "pigeon_id": best["pigeon_id"], "stake": slots["stake"]}
        fields |= {"loft_id": loft["loft_id"], "arrived_at": "", "velocity": 0.0, "status": "basketed"}
        item = f"Has {best['ring']} been basketed for {slots['place']} with a stake of {slots['stake']} EUR?"
        return [Added("starts", fields, item)]


class Withdraw(Club):
    """A bird stays at home."""

    phrases = (
        "{ring:token} is not fit to fly, please take the bird out of the race from {place:name}.",
        "Please withdraw the pigeon {ring:token} from the race from {place:name}.",
    )
    needs = ("list_races", "find_pigeons", "withdraw_pigeon")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        race = self.some(state, rng, "basketing")
        start = any_of(rng, starts_of(state, race["race_id"], "basketed"))
        return {"ring": state["pigeons"][start["pigeon_id"]]["ring"], "place": race["place"]}

    def plan(self, slots: Slots) -> list[Row]:
        race = {**slots, "basketing": "basketing"}
        return steps(
            race,
            "list_races place status=basketing",
            "find_pigeons ring",
            "withdraw_pigeon race_id<0 pigeon_id<1",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race, bird = self.race(slots, state, "basketing"), self.bird(slots, state)
        rows = starts_of(state, race["race_id"], "basketed")
        start = only([s for s in rows if s["pigeon_id"] == bird["pigeon_id"]])
        item = f"Has {slots['ring']} been withdrawn from {slots['place']}?"
        return [self.start(start, item, bird["loft_id"], status="withdrawn", stake=0)]


class CorrectClock(Club):
    """A clock was wrong."""

    phrases = (
        "At the check the clock of {fancier:name} was {late:int} seconds fast, so correct the arrivals of that loft "
        "from {place:name}.",
        "Please correct the arrivals from {place:name} at the loft of {fancier:name}, whose clock ran {late:int} "
        "seconds fast.",
    )
    needs = ("find_lofts", "list_races", "correct_clock")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        race = self.some(state, rng, "released")
        loft = loft_of(state, any_of(rng, starts_of(state, race["race_id"], "homed")))
        return {"fancier": loft["fancier"], "place": race["place"], "late": int(rng.integers(4, 60))}

    def plan(self, slots: Slots) -> list[Row]:
        race = {**slots, "released": "released"}
        return steps(
            race,
            "find_lofts fancier",
            "list_races place status=released",
            "correct_clock loft_id<0 race_id<1 fast=late",
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race, loft = self.race(slots, state, "released"), self.loft(slots, state)
        told: list[Outcome] = []
        for start in starts_of(state, race["race_id"], "homed"):
            if loft_of(state, start)["loft_id"] == loft["loft_id"]:
                time = as_time(seconds(start["arrived_at"]) - slots["late"])
                ring = state["pigeons"][start["pigeon_id"]]["ring"]
                item = f"Has the arrival of {ring} from {slots['place']} been corrected to {time}?"
                fields = {"arrived_at": time, "velocity": velocity(loft, race, time)}
                told.append(self.start(start, item, loft["loft_id"], **fields))
        if not told:
            raise LookupError("no bird is home")
        return told


class Release(Club):
    """The birds are up."""

    phrases = (
        "The birds were let go at {place:name} at {time:token}, please enter the release.",
        "Please record that the race from {place:name} was released at {time:token}.",
    )
    needs = ("list_races", "release_race")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        time = as_time(60 * int(rng.integers(390, 560)))
        return {"place": self.some(state, rng, "basketing")["place"], "time": time}

    def plan(self, slots: Slots) -> list[Row]:
        race = {**slots, "basketing": "basketing"}
        return steps(race, "list_races place status=basketing", "release_race race_id<0 time")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race = self.race(slots, state, "basketing")
        if race["day"] != state["today"] or not starts_of(state, race["race_id"], "basketed"):
            raise LookupError("it is not the day")
        item = f"Has the race from {slots['place']} been released at {slots['time']}?"
        fields = {"released_at": slots["time"], "status": "released"}
        return [Changed("races", race["race_id"], fields, item)]


class Close(Club):
    """The result stands, and the pool is paid."""

    phrases = (
        "The race from {place:name} is over: close it, report the birds that are still out as lost, and pay the pool.",
        "Please close the race from {place:name} and divide its pool among the fastest birds.",
    )
    needs = ("list_races", "close_race")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"place": self.some(state, rng, "released")["place"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            {**slots, "released": "released"}, "list_races place status=released", "close_race race_id<0"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        race = self.race(slots, state, "released")
        starts = starts_of(state, race["race_id"], "homed", "basketed")
        item = f"Has the race from {slots['place']} been closed?"
        told: list[Outcome] = [Changed("races", race["race_id"], {"status": "closed"}, item)]
        for start in starts:
            if start["status"] == "basketed":
                ring = state["pigeons"][start["pigeon_id"]]["ring"]
                told.append(self.start(start, f"Is {ring} missing from {slots['place']}?", status="missing"))
                item = f"Is {ring} on record as lost?"
                told.append(Changed("pigeons", start["pigeon_id"], {"status": "lost"}, item))
        for start, amount in prizes(self.v, starts):
            loft = loft_of(state, start)
            fields = {"race_id": race["race_id"], "start_id": start["start_id"], "amount": amount}
            item = f"Has {loft['fancier']} won {amount:.2f} EUR of the pool of {slots['place']}?"
            fields |= {"loft_id": loft["loft_id"]}
            told.append(Added("prizes", {**fields, "paid_on": state["today"]}, item))
        if not any(s["status"] == "homed" for s in starts):
            raise LookupError("no bird is home")
        return told


class HandOver(Club):
    """A bird is sold."""

    phrases = (
        "{fancier:name} has bought the pigeon {ring:token}, please transfer the ring to that loft.",
        "Please transfer {ring:token} to the loft of {fancier:name}.",
    )
    needs = ("find_lofts", "find_pigeons", "transfer_pigeon")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        bird = any_of(rng, list(state["pigeons"].values()))
        others = [row for key, row in state["lofts"].items() if key != bird["loft_id"]]
        return {"ring": bird["ring"], "fancier": any_of(rng, others)["fancier"]}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(
            slots, "find_lofts fancier", "find_pigeons ring", "transfer_pigeon pigeon_id<1 loft_id<0"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        bird, loft = self.bird(slots, state), self.loft(slots, state)
        flying = [s for s in state["starts"].values() if s["pigeon_id"] == bird["pigeon_id"]]
        live = [
            s
            for s in flying
            if state["races"][s["race_id"]]["status"] != "closed" and s["status"] != "withdrawn"
        ]
        shut = max(state["lofts"][key]["closed_until"] for key in (bird["loft_id"], loft["loft_id"]))
        if bird["status"] == "lost" or live or bird["loft_id"] == loft["loft_id"] or shut >= state["today"]:
            raise LookupError("it cannot be sold now")
        item = f"Does {slots['ring']} belong to {slots['fancier']}?"
        log = f"Has the transfer of {slots['ring']} been written down?"
        fields = {
            "pigeon_id": bird["pigeon_id"],
            "from_loft_id": bird["loft_id"],
            "to_loft_id": loft["loft_id"],
        }
        return [
            Changed("pigeons", bird["pigeon_id"], {"loft_id": loft["loft_id"]}, item, (bird["loft_id"],)),
            Added("transfers", {**fields, "made_on": state["today"]}, log),
        ]


class Ring(Club):
    """A new bird."""

    phrases = (
        "{fancier:name} has ringed a young {sex:name} with {ring:token}, please enter it.",
        "Please enter the new {sex:name} {ring:token} in the loft of {fancier:name}.",
    )
    needs = ("find_lofts", "register_pigeon")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        ring = f"{self.v.s.country}-{state['today'][2:4]}-{int(rng.integers(5000, 9999))}"
        loft = any_of(rng, list(state["lofts"].values()))
        return {"fancier": loft["fancier"], "ring": ring, "sex": any_of(rng, ["cock", "hen"])}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_lofts fancier", "register_pigeon loft_id<0 ring sex")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        if any(row["ring"] == slots["ring"] for row in state["pigeons"].values()):
            raise LookupError("the ring is taken")
        loft, year = self.loft(slots, state), int(state["today"][:4])
        fields = {"ring": slots["ring"], "loft_id": loft["loft_id"], "hatched": year, "sex": slots["sex"]}
        item = f"Has the {slots['sex']} {slots['ring']} been entered for {slots['fancier']}?"
        return [Added("pigeons", {**fields, "status": "racing"}, item)]


class Quarantine(Club):
    """A sick loft."""

    phrases = (
        "The vet has closed the loft of {fancier:name} for {days:int} days, so quarantine it and take its birds out of "
        "the coming races.",
        "Please put the loft of {fancier:name} under quarantine for {days:int} days and withdraw its basketed birds.",
    )
    needs = ("find_lofts", "quarantine_loft")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        loft = any_of(rng, list(state["lofts"].values()))
        return {"fancier": loft["fancier"], "days": int(rng.integers(10, 30))}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_lofts fancier", "quarantine_loft loft_id<0 days")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        loft, until = self.loft(slots, state), later(state["today"], slots["days"])
        if loft["closed_until"] >= until:
            raise LookupError("it is closed for longer")
        item = f"Is the loft of {slots['fancier']} under quarantine until {until}?"
        told: list[Outcome] = [Changed("lofts", loft["loft_id"], {"closed_until": until}, item)]
        for start in state["starts"].values():
            race = state["races"][start["race_id"]]
            waits = race["status"] == "basketing" and start["status"] == "basketed" and race["day"] <= until
            if waits and loft_of(state, start)["loft_id"] == loft["loft_id"]:
                ring = state["pigeons"][start["pigeon_id"]]["ring"]
                item = f"Has {ring} been taken out of the race from {race['place']}?"
                told.append(self.start(start, item, status="withdrawn", stake=0))
        return told


class Found(Club):
    """A lost bird is back."""

    phrases = (
        "The pigeon {ring:token} that was lost has been found, please enter it as fit to race again.",
        "Good news: {ring:token}, one of the lost birds, is back, so put it among the racing birds.",
    )
    needs = ("find_pigeons", "report_found")
    weight = 0.4

    def draw(self, state: State, rng: Rng) -> Slots | None:
        lost = [p["ring"] for p in state["pigeons"].values() if p["status"] == "lost"]
        return {"ring": any_of(rng, lost)} if lost else None

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_pigeons ring", "report_found pigeon_id<0")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        bird = self.bird(slots, state)
        if bird["status"] != "lost":
            raise LookupError("it is not lost")
        item = f"Is {slots['ring']} among the racing birds again?"
        return [Changed("pigeons", bird["pigeon_id"], {"status": "racing"}, item, (bird["loft_id"],))]


class Pigeons(Pattern):
    """A pigeon club: lofts, ringed birds, races by velocity, pools and transfers."""

    Settings = PigeonsSettings
    IMPORTS = ("from math import asin, cos, radians, sin, sqrt", "from datetime import date, timedelta")
    GOALS: ClassVar = (
        Clock, BasketBest, Withdraw, CorrectClock, Release, Close, HandOver, Ring, Quarantine, Found,
    )  # fmt: skip

    def vocabulary(self, s: PigeonsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        words = ["loft", "pigeon", "race", "start", "transfer", "prize"]
        return dict(zip("lpraxz", map(Noun, words), strict=True))

    def tables(self, v: SimpleNamespace) -> list[Table]:
        def made(noun: Noun, about: str, fields: str) -> Table:
            return form(
                noun, about, f"{noun.id}_id: str = unique id, e.g. {noun.id[:3].upper()}-001\n{fields}"
            )

        return [
            made(v.l, "Where a member keeps pigeons.", """fancier: str = the member, full name
                lat: float = latitude in degrees
                lon: float = longitude in degrees
                closed_until: str = last day of a quarantine, as YYYY-MM-DD; empty without one"""),
            made(v.p, "A pigeon with a ring.", f"""ring: str = country, year and number, e.g. {v.s.country}-24-0417
                loft_id: str = where it lives
                hatched: int = year
                sex: str = cock or hen
                status: str = racing, breeding or lost"""),
            made(v.r, "A race home from a release point.", """place: str = where the birds are released
                lat: float = latitude of that place in degrees
                lon: float = longitude of that place in degrees
                day: str = date, as YYYY-MM-DD
                birds: str = young (hatched that year) or old
                released_at: str = time, as HH:MM:SS; empty before
                status: str = basketing, released or closed"""),
            made(v.a, "A pigeon sent to a race.", """race_id: str = the race
                pigeon_id: str = the bird
                loft_id: str = the loft that sent it
                stake: int = EUR put on it in the pool, 0 for none
                arrived_at: str = time, as HH:MM:SS; empty before
                velocity: float = metres a minute, 0 before it is home
                status: str = basketed, homed, missing or withdrawn"""),
            made(v.x, "A pigeon that changed hands.", """pigeon_id: str = the bird
                from_loft_id: str = where it lived
                to_loft_id: str = where it went
                made_on: str = date, as YYYY-MM-DD"""),
            made(v.z, "A share of the pool of a race.", """race_id: str = the race
                start_id: str = the start that won it
                loft_id: str = who got it
                amount: float = EUR
                paid_on: str = date, as YYYY-MM-DD"""),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "No two pigeons wear the same ring.",
            """
            rings = [str(row.get("ring")).upper() for row in rows(after, "pigeons").values()]
            return len(rings) == len(set(rings))
            """,
        ),
        RuleText(
            "The velocity of a bird is calculated from the way from release point to loft and the time it flew.",
            """
            import math
            races, lofts = rows(after, "races"), rows(after, "lofts")

            def clock(text):
                parts = str(text).split(":")
                return sum(int(p) * f for p, f in zip(parts, (3600, 60, 1))) if len(parts) == 3 else 0

            for row in rows(after, "starts").values():
                race = races.get(str(row.get("race_id"))) or {}
                loft = lofts.get(str(row.get("loft_id")))
                if row.get("status") == "homed" and loft and race:
                    here, there = math.radians(loft["lat"]), math.radians(race["lat"])
                    arc = math.sin((there - here) / 2) ** 2
                    east = math.radians(race["lon"] - loft["lon"])
                    arc += math.cos(here) * math.cos(there) * math.sin(east / 2) ** 2
                    flown = clock(row.get("arrived_at")) - clock(race.get("released_at"))
                    way = 2 * 6371008.8 * math.asin(math.sqrt(min(arc, 1)))
                    if flown <= 0 or abs(60 * way / flown - (row.get("velocity") or 0)) > 0.2:
                        return False
            return True
            """,
        ),
        RuleText(
            "A loft has at most <<s.most>> birds in one race.",
            """
            counts = {}
            for row in rows(after, "starts").values():
                if row.get("status") == "basketed":
                    pair = (row.get("race_id"), row.get("loft_id"))
                    counts[pair] = counts.get(pair, 0) + 1
            return all(count <= <<s.most>> for count in counts.values())
            """,
        ),
        RuleText(
            "No bird is in two races on one day.",
            """
            races, seen = rows(after, "races"), set()
            for row in rows(after, "starts").values():
                if row.get("status") != "withdrawn":
                    pair = (row.get("pigeon_id"), (races.get(str(row.get("race_id"))) or {}).get("day"))
                    if pair in seen:
                        return False
                    seen.add(pair)
            return True
            """,
        ),
        RuleText(
            "A bird that changes lofts leaves a transfer with both of them.",
            """
            moved = sorted((str(new.get("pigeon_id")), str(old.get("loft_id")), str(new.get("loft_id")))
                           for old, new in changed("pigeons", "loft_id"))
            written = sorted((str(row.get("pigeon_id")), str(row.get("from_loft_id")), str(row.get("to_loft_id")))
                             for row in added("transfers"))
            return moved == written
            """,
        ),
        RuleText(
            "Only birds hatched in the year of the race fly in a race for young birds, and only others in one for old "
            "birds.",
            """
            races, birds = rows(after, "races"), rows(after, "pigeons")
            for row in rows(after, "starts").values():
                race, bird = races.get(str(row.get("race_id"))), birds.get(str(row.get("pigeon_id")))
                if race and bird and row.get("status") != "withdrawn":
                    young = str(bird.get("hatched")) == str(race.get("day"))[:4]
                    if young != (race.get("birds") == "young"):
                        return False
            return True
            """,
        ),
        RuleText(
            "Prizes of a closed race are in sum its stakes, unless no bird with a stake came home.",
            """
            for key, race in rows(after, "races").items():
                mine = [row for row in rows(after, "starts").values() if row.get("race_id") == key]
                won = [row.get("amount") or 0 for row in rows(after, "prizes").values() if row.get("race_id") == key]
                home = any(row.get("stake") and row.get("status") == "homed" for row in mine)
                due = sum(row.get("stake") or 0 for row in mine) if race.get("status") == "closed" and home else 0
                if abs(sum(won) - due) > 0.01:
                    return False
            return True
            """,
        ),
        RuleText(
            "A closed race stays closed, and arrivals in it stay as they are.",
            """
            shut = [key for key, row in rows(before, "races").items() if row.get("status") == "closed"]
            old, new = rows(before, "starts"), rows(after, "starts")
            if any(rows(after, "races").get(key, {}).get("status") != "closed" for key in shut):
                return False
            return all(new.get(key) == row for key, row in old.items() if row.get("race_id") in shut)
            """,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _seconds(time: str) -> int:
        """Return a time as HH:MM:SS in seconds since midnight, -1 for anything else."""
        parts = time.split(":")
        if [len(part) for part in parts] != [2, 2, 2] or not all(p.isascii() and p.isdecimal() for p in parts):
            return -1
        hours, minutes, seconds = (int(part) for part in parts)
        return 3600 * hours + 60 * minutes + seconds if hours < 24 and minutes < 60 and seconds < 60 else -1

    @staticmethod
    def _metres(loft: dict, race: dict) -> int:
        """Return the distance over the great circle between a loft and a release point."""
        north, east = radians(race["lat"] - loft["lat"]), radians(race["lon"] - loft["lon"])
        arc = sin(north / 2) ** 2 + cos(radians(loft["lat"])) * cos(radians(race["lat"])) * sin(east / 2) ** 2
        return round(2 * 6371008.8 * asin(sqrt(arc)))

    def _loft(self, start: dict) -> dict:
        """Return the loft that sent the bird of a start."""
        return self.lofts[start["loft_id"]]

    def _starts(self, race_id: str, *statuses: str) -> list[dict]:
        """Return the starts in a race that have one of these statuses."""
        return [s for s in self.starts.values() if s["race_id"] == race_id and s["status"] in statuses]

    def _order(self, race_id: str) -> list[dict]:
        """Return the birds that are home, the fastest first."""
        return sorted(self._starts(race_id, "homed"), key=lambda start: (-start["velocity"], start["start_id"]))

    def _velocity(self, start: dict, arrived: int) -> float:
        """Return the metres a minute of a bird that arrives at a second of the day."""
        race = self.races[start["race_id"]]
        flown = arrived - self._seconds(race["released_at"])
        return round(60 * self._metres(self._loft(start), race) / flown, 3) if flown > 0 else 0.0

    def _average(self, pigeon_id: str) -> float:
        """Return the mean velocity of a bird in the races it came home from, 0 without any."""
        flown = [s["velocity"] for s in self.starts.values() if s["pigeon_id"] == pigeon_id and s["status"] == "homed"]
        return round(sum(flown) / len(flown), 3) if flown else 0.0

    def _kept_home(self, pigeon: dict, race: dict) -> str:
        """Tell why a bird cannot be sent to a race; empty when it can."""
        if pigeon["status"] != "racing":
            return f"{pigeon['ring']} is {pigeon['status']}, not racing."
        if race["status"] != "basketing" or race["day"] < self.today:
            return f"No birds are basketed for {race['place']} any more."
        if self.lofts[pigeon["loft_id"]]["closed_until"] >= race["day"]:
            return "The loft is under quarantine on that day."
        if (pigeon["hatched"] == int(race["day"][:4])) != (race["birds"] == "young"):
            return f"The race is for {race['birds']} birds; {pigeon['ring']} hatched in {pigeon['hatched']}."
        for start in self.starts.values():
            same = self.races[start["race_id"]]["day"] == race["day"]
            if same and start["pigeon_id"] == pigeon["pigeon_id"] and start["status"] != "withdrawn":
                return f"{pigeon['ring']} flies from {self.races[start['race_id']]['place']} that day."
        return ""

    def _shares(self, race_id: str) -> list[tuple[dict, float]]:
        """Return which starts get how much of the pool as the race stands, the fastest first."""
        pool = sum(start["stake"] for start in self._starts(race_id, "basketed", "homed", "missing"))
        best = [start for start in self._order(race_id) if start["stake"]][:3]
        parts = [round(pool * <<s.shares[0]>>, 2), round(pool * <<s.shares[1]>>, 2)][: max(len(best) - 1, 0)]
        return list(zip(best, [round(pool - sum(parts), 2), *parts], strict=False))
'''

    READS = '''
def find_lofts(self, fancier: str) -> dict:
    """Find lofts by the name of the member they belong to.

    Args:
        fancier: Name of the member, or a part of it.

    Returns:
        The lofts, each with the number of birds that are `racing`, by name.
    """
    refuse if not fancier.strip() :: Give the name of the fancier.
    lofts = []
    for key, loft in self.lofts.items():
        if fancier.strip().lower() in loft["fancier"].lower():
            racing = sum(p["loft_id"] == key and p["status"] == "racing" for p in self.pigeons.values())
            lofts.append({**loft, "racing": racing})
    return {"success": True, "data": sorted(lofts, key=lambda loft: loft["fancier"])}

def find_pigeons(self, ring: str) -> dict:
    """Find pigeons by the ring or the end of it.

    Args:
        ring: The ring, or its last figures.

    Returns:
        The pigeons with the name of their fancier and their average velocity, by ring.
    """
    end = ring.strip().upper()
    refuse if not end :: Give at least the last figures of the ring.
    birds = []
    for pigeon in self.pigeons.values():
        if pigeon["ring"].endswith(end):
            owner = self.lofts[pigeon["loft_id"]]["fancier"]
            birds.append({**pigeon, "fancier": owner, "average": self._average(pigeon["pigeon_id"])})
    return {"success": True, "data": sorted(birds, key=lambda bird: bird["ring"])}

def list_races(self, place: str | None = None, status: str | None = None) -> dict:
    """List races in the order of their days, with the number of birds sent and home.

    Args:
        place: Only those from this release point. Leave out for all.
        status: Only those that are basketing, released or closed. Leave out for all.

    Returns:
        The races, each with the birds `sent` and `home`.
    """
    refuse if status not in (None, "basketing", "released", "closed") :: A race is never {status!r}.
    races = []
    for key, race in self.races.items():
        if place in (None, race["place"]) and status in (None, race["status"]):
            sent, home = self._starts(key, "basketed", "homed", "missing"), self._starts(key, "homed")
            races.append({**race, "sent": len(sent), "home": len(home)})
    return {"success": True, "data": sorted(races, key=lambda race: (race["day"], race["place"]))}

def measure_distance(self, loft_id: str, race_id: str, velocity: float = 1200.0) -> dict:
    """Measure how far a loft is from a release point, and how long a bird needs for it.

    Args:
        loft_id: Id of the loft.
        race_id: Id of the race.
        velocity: Metres a minute to reckon with, 300 to 2500.

    Returns:
        The distance in `metres`, and the `minutes` a bird of that velocity needs.
    """
    need l
    need r
    refuse if not 300 <= velocity <= 2500 :: {velocity} metres a minute is not likely.
    metres = self._metres(loft, race)
    return {"success": True, "data": {"metres": metres, "minutes": round(metres / velocity, 1)}}

def rank_race(self, race_id: str) -> dict:
    """Rank the birds that are home from a race by velocity.

    Args:
        race_id: Id of a race that was released.

    Returns:
        For each the `place`, ring, fancier, arrival, velocity, and the seconds it would have had to be faster to lead.
    """
    need r
    refuse if race["status"] == "basketing" :: The birds for {race['place']} have not been released.
    order = self._order(race["race_id"])
    table = []
    for place, start in enumerate(order, 1):
        loft = self._loft(start)
        needed = 60 * self._metres(loft, race) / order[0]["velocity"]
        flown = self._seconds(start["arrived_at"]) - self._seconds(race["released_at"])
        line = {"place": place, "ring": self.pigeons[start["pigeon_id"]]["ring"], "fancier": loft["fancier"]}
        line |= {"arrived_at": start["arrived_at"], "velocity": start["velocity"], "behind": round(flown - needed)}
        table.append(line)
    return {"success": True, "data": table}

def rank_birds(self, loft_id: str, race_id: str) -> dict:
    """Rank the birds of a loft that can be sent to a race by their average velocity so far.

    Args:
        loft_id: Id of the loft.
        race_id: Id of a race that birds are basketed for.

    Returns:
        The birds with their `average`, the best first; those never home from a race have 0.
    """
    need l
    need r
    able = [
        {**pigeon, "average": self._average(key)}
        for key, pigeon in self.pigeons.items()
        if pigeon["loft_id"] == loft["loft_id"] and not self._kept_home(pigeon, race)
    ]
    return {"success": True, "data": sorted(able, key=lambda bird: (-bird["average"], bird["ring"]))}

def rank_lofts(self, best: int = 2) -> dict:
    """Rank the lofts over all closed races: each of their best birds scores the number of birds it has left behind.

    Args:
        best: How many birds of a loft score in a race, 1 to 4.

    Returns:
        The lofts with their `points` and the number of races `won`, the champion first.
    """
    refuse if not 1 <= best <= 4 :: Between 1 and 4 birds score in a race, not {best}.
    points, won = dict.fromkeys(self.lofts, 0), dict.fromkeys(self.lofts, 0)
    for race_id, race in self.races.items():
        if race["status"] == "closed":
            sent, scored = len(self._starts(race_id, "homed", "missing")), dict.fromkeys(self.lofts, 0)
            for place, start in enumerate(self._order(race_id), 1):
                key = start["loft_id"]
                won[key] += place == 1
                if scored[key] < best:
                    points[key], scored[key] = points[key] + sent - place, scored[key] + 1
    table = [
        {"loft_id": key, "fancier": loft["fancier"], "points": points[key], "won": won[key]}
        for key, loft in self.lofts.items()
    ]
    return {"success": True, "data": sorted(table, key=lambda row: (-row["points"], row["fancier"]))}

def list_birds_out(self, race_id: str, velocity: float = 900.0) -> dict:
    """List the birds that are not home yet, with the time they are expected at a velocity.

    Args:
        race_id: Id of a race that is released.
        velocity: Metres a minute to reckon with, 300 to 2500.

    Returns:
        Ring, fancier and the time `due` as HH:MM of each, the first due in front.
    """
    need r
    refuse if race["status"] != "released" :: The race from {race['place']} is {race['status']}, not released.
    refuse if not 300 <= velocity <= 2500 :: {velocity} metres a minute is not likely.
    out = []
    for start in self._starts(race["race_id"], "basketed"):
        loft, begun = self._loft(start), self._seconds(race["released_at"]) // 60
        due = begun + int(self._metres(loft, race) / velocity)
        clock = f"{due // 60 % 24:02d}:{due % 60:02d}"
        ring = self.pigeons[start["pigeon_id"]]["ring"]
        out.append((due, ring, {"ring": ring, "fancier": loft["fancier"], "due": clock}))
    return {"success": True, "data": [line[-1] for line in sorted(out, key=lambda line: line[:2])]}

def show_pool(self, race_id: str) -> dict:
    """Show the pool of a race and how it would be divided as the birds have come home.

    Args:
        race_id: Id of the race.

    Returns:
        The `pool` in EUR, the number of birds with a stake, and the `shares` by ring.
    """
    need r
    staked = [start for start in self._starts(race["race_id"], "basketed", "homed", "missing") if start["stake"]]
    shares = {}
    for start, part in self._shares(race["race_id"]):
        shares[self.pigeons[start["pigeon_id"]]["ring"]] = part
    data = {"pool": sum(start["stake"] for start in staked), "birds": len(staked), "shares": shares}
    return {"success": True, "data": data}
'''

    WRITES = '''
def register_pigeon(self, loft_id: str, ring: str, sex: str) -> dict:
    """Enter a pigeon that was hatched and ringed this year.

    Args:
        loft_id: Id of the loft it lives in.
        ring: Ring of this year, in the form <<s.country>>-25-0417; nobody else wears it.
        sex: cock or hen.

    Returns:
        The new pigeon, which may race, or an error.
    """
    need l
    parts = ring.split("-")
    number = parts[2] if len(parts) == 3 else ""
    right = parts[:2] == ["<<s.country>>", self.today[2:4]] and len(number) == 4 and number.isascii()
    refuse if not right or not number.isdecimal() :: {ring!r} is no ring of this year.
    refuse if any(other["ring"] == ring for other in self.pigeons.values()) :: The ring {ring} is taken.
    refuse if sex not in ("cock", "hen") :: A pigeon is a cock or a hen, not {sex!r}.
    pigeon: Pigeon = {
        "pigeon_id": self._next_id(self.pigeons, "PIG"),
        "ring": ring,
        "loft_id": loft["loft_id"],
        "hatched": int(self.today[:4]),
        "sex": sex,
        "status": "racing",
    }
    self.pigeons[pigeon["pigeon_id"]] = pigeon
    done dict(pigeon) :: {ring} lives with {loft['fancier']}.

def basket_pigeon(self, race_id: str, pigeon_id: str, stake: int = 0) -> dict:
    """Send a bird to a race, with or without a stake in its pool.

    Args:
        race_id: Id of a race that birds are basketed for.
        pigeon_id: Id of a racing bird of the right age whose loft is not under quarantine and sends fewer than
            <<s.most>> birds.
        stake: Stake in EUR, at most <<s.stake>>; 0 for none.

    Returns:
        The new start, or an error.
    """
    need r
    need p
    if obstacle := self._kept_home(pigeon, race):
        return {"success": False, "error": obstacle}
    refuse if not 0 <= stake <= <<s.stake>> :: The stake is between 0 and <<s.stake>> EUR, not {stake}.
    mates = [start for start in self._starts(race_id, "basketed") if start["loft_id"] == pigeon["loft_id"]]
    refuse if len(mates) >= <<s.most>> :: The loft sends <<s.most>> birds already.
    start: Start = {
        "start_id": self._next_id(self.starts, "STA"),
        "race_id": race_id,
        "pigeon_id": pigeon_id,
        "loft_id": pigeon["loft_id"],
        "stake": stake,
        "arrived_at": "",
        "velocity": 0.0,
        "status": "basketed",
    }
    self.starts[start["start_id"]] = start
    done dict(start) :: {pigeon['ring']} is basketed for {race['place']}.

def withdraw_pigeon(self, race_id: str, pigeon_id: str) -> dict:
    """Take a bird out of a race before the release; its stake is given back.

    Args:
        race_id: Id of a race that birds are basketed for.
        pigeon_id: Id of a bird that is basketed for it.

    Returns:
        The start with the stake `returned`, or an error.
    """
    need r
    need p
    refuse if race["status"] != "basketing" :: The race from {race['place']} is {race['status']}.
    for start in self._starts(race_id, "basketed"):
        if start["pigeon_id"] == pigeon_id:
            returned, start["stake"], start["status"] = start["stake"], 0, "withdrawn"
            done {**start, "returned": returned} :: {pigeon['ring']} is withdrawn.
    refuse :: {pigeon['ring']} is not basketed for {race['place']}.

def release_race(self, race_id: str, time: str) -> dict:
    """Enter when the birds of a race were released.

    Args:
        race_id: Id of a race of today that birds are basketed for.
        time: Time of the release, as HH:MM:SS.

    Returns:
        The race with the number of birds `up`, or an error.
    """
    need r
    refuse if race["status"] != "basketing" :: The race from {race['place']} is {race['status']} already.
    refuse if race["day"] != self.today :: The race from {race['place']} is on {race['day']}, not today.
    refuse if self._seconds(time) < 0 :: {time!r} is no time as HH:MM:SS.
    up = self._starts(race_id, "basketed")
    refuse if not up :: No birds are basketed for {race['place']}.
    race["released_at"], race["status"] = time, "released"
    done {**race, "up": len(up)} :: {len(up)} birds released at {race['place']}.

def clock_pigeon(self, race_id: str, pigeon_id: str, time: str) -> dict:
    """Clock a bird in and work out its velocity.

    Args:
        race_id: Id of a race that is released.
        pigeon_id: Id of a bird that is still out.
        time: Time of its arrival, as HH:MM:SS, such that it flew 200 to 2500 metres a minute.

    Returns:
        The start with the velocity and the `place` it has at the moment, or an error.
    """
    need r
    need p
    out = [start for start in self._starts(race_id, "basketed") if start["pigeon_id"] == pigeon_id]
    refuse if race["status"] != "released" :: The race from {race['place']} is {race['status']}, not released.
    refuse if not out :: {pigeon['ring']} is not out in this race.
    refuse if self._seconds(time) < 0 :: {time!r} is no time as HH:MM:SS.
    start, velocity = out[0], self._velocity(out[0], self._seconds(time))
    refuse if not 200 <= velocity <= 2500 :: {velocity} metres a minute is not likely.
    start["arrived_at"], start["velocity"], start["status"] = time, velocity, "homed"
    place = 1 + self._order(race_id).index(start)
    done {**start, "place": place} :: {pigeon['ring']} is home, {velocity} metres a minute.

def correct_clock(self, loft_id: str, race_id: str, fast: int) -> dict:
    """Correct all arrivals of a loft in a race after its clock was checked; velocities are worked out anew.

    Args:
        loft_id: Id of the loft.
        race_id: Id of a race that is released.
        fast: Seconds the clock was fast, below 0 for slow: -300 to 300, not 0.

    Returns:
        The corrected starts, or an error.
    """
    need l
    need r
    refuse if race["status"] != "released" :: The race from {race['place']} is {race['status']}, not released.
    refuse if fast == 0 or not -300 <= fast <= 300 :: A clock is corrected by 1 to 300 seconds, not by {fast}.
    home = [start for start in self._starts(race_id, "homed") if start["loft_id"] == loft_id]
    refuse if not home :: No bird of {loft['fancier']} is home from {race['place']}.
    for start in home:
        arrived = self._seconds(start["arrived_at"]) - fast
        clock = f"{arrived // 3600:02d}:{arrived // 60 % 60:02d}:{arrived % 60:02d}"
        refuse if self._seconds(clock) <= self._seconds(race["released_at"]) :: {clock} would be no arrival.
    for start in home:
        arrived = self._seconds(start["arrived_at"]) - fast
        start["arrived_at"] = f"{arrived // 3600:02d}:{arrived // 60 % 60:02d}:{arrived % 60:02d}"
        start["velocity"] = self._velocity(start, arrived)
    done [dict(start) for start in home] :: {len(home)} arrivals corrected.

def close_race(self, race_id: str) -> dict:
    """Close a race: birds still out are lost, and the pool goes to the three fastest of those with a stake.

    Args:
        race_id: Id of a race that is released and from which a bird is home.

    Returns:
        The race, the pigeons that are `lost`, the starts that are `missing` and the `prizes`, or an error.
    """
    need r
    refuse if race["status"] != "released" :: The race from {race['place']} is {race['status']}, not released.
    refuse if not self._starts(race_id, "homed") :: No bird is home from {race['place']} yet.
    won = []
    for start, amount in self._shares(race_id):
        prize: Prize = {
            "prize_id": self._next_id(self.prizes, "PRI"),
            "race_id": race_id,
            "start_id": start["start_id"],
            "loft_id": start["loft_id"],
            "amount": amount,
            "paid_on": self.today,
        }
        self.prizes[prize["prize_id"]] = prize
        won.append(dict(prize))
    missing = self._starts(race_id, "basketed")
    for start in missing:
        start["status"] = "missing"
        self.pigeons[start["pigeon_id"]]["status"] = "lost"
    race["status"] = "closed"
    gone = {"lost": [s["pigeon_id"] for s in missing], "missing": [s["start_id"] for s in missing]}
    done {**race, **gone, "prizes": won} :: The race from {race['place']} is closed.

def transfer_pigeon(self, pigeon_id: str, loft_id: str) -> dict:
    """Transfer the ring of a bird to another loft; neither may be under quarantine.

    Args:
        pigeon_id: Id of a bird that is not lost and in no race at the moment.
        loft_id: Id of the loft it goes to.

    Returns:
        The pigeon, which must be broken to its new loft, or an error.
    """
    need p
    need l
    refuse if pigeon["loft_id"] == loft_id :: {pigeon['ring']} lives there already.
    refuse if pigeon["status"] == "lost" :: {pigeon['ring']} is lost.
    for place in (self.lofts[pigeon["loft_id"]], loft):
        refuse if place["closed_until"] >= self.today :: The loft of {place['fancier']} is under quarantine.
    for start in self.starts.values():
        live = self.races[start["race_id"]]["status"] != "closed" and start["status"] != "withdrawn"
        refuse if live and start["pigeon_id"] == pigeon_id :: {pigeon['ring']} is in a race at the moment.
    transfer: Transfer = {
        "transfer_id": self._next_id(self.transfers, "TRA"),
        "pigeon_id": pigeon_id,
        "from_loft_id": pigeon["loft_id"],
        "to_loft_id": loft_id,
        "made_on": self.today,
    }
    self.transfers[transfer["transfer_id"]] = transfer
    pigeon["loft_id"] = loft_id
    done dict(pigeon) :: {pigeon['ring']} belongs to {loft['fancier']} now.

def quarantine_loft(self, loft_id: str, days: int) -> dict:
    """Put a loft under quarantine: its birds are withdrawn from the races before its end, and stakes given back.

    Args:
        loft_id: Id of the loft.
        days: Days from today, 1 to 90; a quarantine is never shortened.

    Returns:
        The loft with the ids of the starts that were `withdrawn`, or an error.
    """
    need l
    refuse if not 1 <= days <= 90 :: A quarantine lasts 1 to 90 days, not {days}.
    until = (date.fromisoformat(self.today) + timedelta(days=days)).isoformat()
    refuse if loft["closed_until"] >= until :: It lasts until {loft['closed_until']} already.
    loft["closed_until"] = until
    withdrawn = []
    for race_id, race in self.races.items():
        for start in self._starts(race_id, "basketed") if race["status"] == "basketing" else []:
            if race["day"] <= until and self._loft(start) is loft:
                start["status"], start["stake"] = "withdrawn", 0
                withdrawn.append(start["start_id"])
    done {**loft, "withdrawn": withdrawn} :: The loft of {loft['fancier']} is closed until {until}.

def report_found(self, pigeon_id: str) -> dict:
    """Put a lost bird that has come back among the racing birds.

    Args:
        pigeon_id: Id of a bird that is lost.

    Returns:
        The pigeon, or an error.
    """
    need p
    refuse if pigeon["status"] != "lost" :: {pigeon['ring']} is {pigeon['status']}, not lost.
    pigeon["status"] = "racing"
    done dict(pigeon) :: {pigeon['ring']} is back.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]
        year = int(today[:4])
        for n, name in enumerate(names.people(rng, 7)):
            key, north, east = key_of("LOF", n + 1), rng.uniform(-0.12, 0.12), rng.uniform(-0.2, 0.2)
            state["lofts"][key] = {
                **{"loft_id": key, "fancier": name, "closed_until": ""},
                **{"lat": round(s.home[0] + north, 4), "lon": round(s.home[1] + east, 4)},
            }
        state["lofts"][key_of("LOF", 7)]["closed_until"] = later(today, int(rng.integers(2, 6)))
        numbers = rng.choice(range(100, 4999), size=24, replace=False)
        for n, number in enumerate(int(number) for number in numbers):
            key, hatched = key_of("PIG", n + 1), year if n < 10 else year - int(rng.integers(1, 5))
            state["pigeons"][key] = {
                **{"pigeon_id": key, "ring": f"{s.country}-{hatched % 100:02d}-{number:04d}"},
                **{
                    "loft_id": key_of("LOF", n % 6 + 1),
                    "hatched": hatched,
                    "sex": any_of(rng, ["cock", "hen"]),
                },
                "status": "breeding" if n in (22, 23) else "racing",
            }
        days = [-15, -8, 0, 0, int(rng.integers(2, 9))]
        for n, (place, day) in enumerate(zip(shuffled(rng, list(s.points)), days, strict=False)):
            key = key_of("RAC", n + 1)
            state["races"][key] = {
                **{"race_id": key, "place": place, "lat": s.points[place][0], "lon": s.points[place][1]},
                **{"day": later(today, day), "birds": "young" if n in (0, 3) else "old"},
                "released_at": as_time(60 * int(rng.integers(360, 480))) if n < 3 else "",
                "status": ("closed", "closed", "released", "basketing", "basketing")[n],
            }
            self._field(v, state, rng, state["races"][key], 5 if n != 2 else 8)
        for n in range(3):
            key, (one, other) = key_of("TRA", n + 1), shuffled(rng, list(state["lofts"]))[:2]
            state["transfers"][key] = {
                **{"transfer_id": key, "pigeon_id": key_of("PIG", 22 + n), "from_loft_id": one},
                **{"to_loft_id": other, "made_on": later(today, -int(rng.integers(20, 300)))},
            }
            state["pigeons"][key_of("PIG", 22 + n)]["loft_id"] = other

    def _field(self, v: SimpleNamespace, state: State, rng: Rng, race: Row, size: int) -> None:
        young, over = race["birds"] == "young", race["status"] == "closed"
        birds = [p for p in list(state["pigeons"].values())[:21] if p["status"] == "racing"]
        birds = [p for p in birds if (p["hatched"] == int(race["day"][:4])) == young]
        for n, bird in enumerate(shuffled(rng, birds)[:size]):
            key, loft = key_of("STA", len(state["starts"]) + 1), state["lofts"][bird["loft_id"]]
            home = race["released_at"] != "" and (n < size - 1 if over else n < 4)
            flown = int(60 * metres(loft, race) / rng.uniform(1150, 1450)) if home else 0
            arrived = as_time(seconds(race["released_at"]) + flown) if home else ""
            state["starts"][key] = {
                **{"start_id": key, "race_id": race["race_id"], "pigeon_id": bird["pigeon_id"]},
                **{"loft_id": bird["loft_id"]},
                **{"stake": any_of(rng, [0, 2, 5, 5, 10]) if n else 5, "arrived_at": arrived},
                **{"velocity": velocity(loft, race, arrived) if home else 0.0},
                "status": "homed" if home else "missing" if over else "basketed",
            }
            if over and not home:
                bird["status"] = "lost"
        for start, amount in prizes(v, starts_of(state, race["race_id"], "homed", "missing")) if over else []:
            key = key_of("PRI", len(state["prizes"]) + 1)
            state["prizes"][key] = {
                **{"prize_id": key, "race_id": race["race_id"], "start_id": start["start_id"]},
                **{"loft_id": loft_of(state, start)["loft_id"], "amount": amount, "paid_on": race["day"]},
            }


PATTERN = Pigeons
