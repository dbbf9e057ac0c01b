"""The lines of a certificate: from what was graded to what is proved, one function a line.

A line is `failed` when execution shows a fault, `unproved` when it could not be tried. Where nothing of a kind
could be found to try, the line is `proved` without a figure and says so: nothing stands against the scenario.

A mutant that earns 1 is a survivor. One that an agent can bring about fails the certificate: every mutant of calls,
and every state in which a value that the witness gave by an argument is another. What only the tools write is out
of an agent's reach, and one more call that changes nothing but what `may_change` frees is let pass; survivors of
these kinds lower the share that is killed, and fail when it falls under `MUST_KILL`.

This module runs nothing; `certificate` does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envscaler.schema import Kill, Outcome, Proof, Scenario, reward_of
from envscaler.world.change import State, same
from envscaler.world.proving.otherwise import FAMILIES
from envscaler.world.proving.unasked import UNASKED
from envscaler.world.witness import Played

MUST_KILL = 0.5
"""Share of mutants that must be killed, whoever can bring them about."""
SAID = 5
"""Mutants or items that a line names at most."""
PLAYED = ("witness replayed", "witness replayed again", "witness with another seed")
"""Lines about the witness as it stands."""
MUTATED = (
    "leave one out",
    "mutants killed",
    "freed tables guarded",
    "each goal needed",
    "each guard broken",
)
"""Lines about the witness and its final state with something wrong in them."""
OTHERWISE = tuple(f"solved otherwise: {family}" for family in FAMILIES)
"""Lines about the task solved in other ways."""


GIVEN_UP = "Not tried, for calls hung or crashed again and again."
"""Why a line stays unproved where an environment does not bear to be played in other ways."""


@dataclass(frozen=True)
class Ended:
    """How a play of the whole witness ended, or why there is no end."""

    played: Played | None
    """What happened; None where the environment was lost."""
    final: State
    """The state at the end."""
    lost: str = ""
    """Why there is no end."""

    @property
    def accepted(self) -> bool:
        """Whether every call succeeded."""
        return self.played is not None and self.played.refused is None

    @property
    def problem(self) -> str:
        """The refusal or the loss, in words."""
        if self.played is None or self.played.refused is None:
            return self.lost
        call, reply = self.played.calls[self.played.refused], self.played.replies[self.played.refused]
        return f"Call {self.played.refused} ({call.tool}) was refused: {str(reply)[:300]}"


@dataclass(frozen=True)
class Tried:
    """A state that was graded."""

    kind: str
    """The family, or how a mutant was made wrong."""
    what: str
    """Which of that kind."""
    outcomes: list[Outcome]
    """What the checks say."""
    reachable: bool = True
    """Of a mutant: whether an agent can bring it about."""

    @property
    def survives(self) -> bool:
        """Whether it is paid in full."""
        return reward_of(self.outcomes) == 1.0

    @property
    def kill(self) -> Kill | None:
        """Who tells the mutant from the solution; None where only a broken check keeps it from being paid."""
        killers = [outcome.item for outcome in self.outcomes if outcome.passed is False]
        if not killers and any(outcome.passed is None for outcome in self.outcomes):
            return None
        return Kill(kind=self.kind, what=self.what, killers=killers)


def proof(name: str, holds: bool, detail: str, figure: float | None = None) -> Proof:
    """A line that is proved or failed; the detail is told of what failed."""
    return Proof(
        name=name, status="proved" if holds else "failed", figure=figure, detail="" if holds else detail
    )


def unproved(names: Sequence[str], why: str) -> list[Proof]:
    """Lines that could not be tried."""
    return [Proof(name=name, status="unproved", detail=why) for name in names]


# Without a witness


def has_goal(scenario: Scenario) -> Proof:
    """There is something to bring about."""
    goals = sum(check.kind == "goal" for check in scenario.checks)
    return proof("has a goal", goals > 0, "Expected at least one goal, got none.", figure=goals)


def pays_nothing(name: str, outcomes: Sequence[Outcome]) -> Proof:
    """A state in which nothing was achieved earns 0."""
    paid = reward_of(list(outcomes))
    passed = [o.item for o in outcomes if o.kind == "goal" and o.passed]
    detail = f"Expected reward 0, got {_shown(paid, outcomes)}; already true: {'; '.join(passed[:3])}"
    if paid is None:
        broken = failing([o for o in outcomes if o.passed is None])
        detail = f"Expected reward 0, got {_shown(paid, outcomes)}{f': {broken}' if broken else '.'}"
    return proof(name, paid == 0.0, detail, figure=paid)


def idle_goals(outcomes: Sequence[Outcome]) -> Proof:
    """At reset no goal holds and every guard does."""
    true = [o.item for o in outcomes if o.kind == "goal" and o.passed]
    broken = [o.item for o in outcomes if o.kind == "guard" and o.passed is False]
    detail = (
        f"At reset these goals hold: {'; '.join(true) or 'none'}; guards fail: {'; '.join(broken) or 'none'}."
    )
    name = "goals open, guards whole at reset"
    return proof(name, not true and not broken, detail, figure=len(true) + len(broken))


def always_answer(graded: Mapping[str, Sequence[Outcome]]) -> Proof:
    """No check broke on any state that was met."""
    broken: dict[str, str] = {}
    for name, outcomes in graded.items():
        for o in outcomes:
            if o.passed is None:
                broken.setdefault(o.item, f"{o.item} ({name}: {o.note})")
    return proof("checks always answer", not broken, "; ".join(list(broken.values())[:3]), len(broken))


def must_survive(count: int) -> Proof:
    """Something is there that the task may not touch."""
    detail = "Expected a record that must survive, but the task may change everything."
    return proof("something must survive", bool(count), detail, figure=count)


# The witness


def solves(name: str, end: Ended, outcomes: Sequence[Outcome]) -> Proof:
    """The witness is accepted and earns 1."""
    if not end.accepted:
        return Proof(name=name, status="failed", detail=end.problem)
    paid = reward_of(list(outcomes))
    return proof(
        name,
        paid == 1.0,
        f"Expected reward 1, got {_shown(paid, outcomes)}: {failing(outcomes)}",
        figure=paid,
    )


def repeats(first: Ended, again: Ended) -> Proof:
    """The same seed gives the same replies and the same end, in another process too."""
    name = "witness replayed again"
    if first.played is None or again.played is None:
        return Proof(name=name, status="failed", detail=first.lost or again.lost)
    equal = same(first.final, again.final) and all(map(same, first.played.replies, again.played.replies))
    return proof(name, equal, "Expected the same replies and final state for the same seed, got others.")


def leave_one_out(writes: Sequence[str], needless: Sequence[str], untried: Sequence[str] = ()) -> Proof:
    """Without any one change the reward falls, or a later call is refused.

    Args:
        writes: the changes of the witness.
        needless: those without which the reward is 1.
        untried: those that were not left out, for calls hung or crashed again and again.
    """
    if untried and not needless:
        return unproved(["leave one out"], f"{GIVEN_UP} Not left out: {', '.join(untried)}.")[0]
    if not writes:
        return Proof(name="leave one out", status="failed", figure=0.0, detail="The witness changes nothing.")
    share = (len(writes) - len(needless)) / len(writes)
    return proof("leave one out", not needless, f"Reward is 1 without {', '.join(needless)}.", figure=share)


def holds_along(broken: Sequence[str]) -> Proof:
    """No rule is broken on the way."""
    return proof("rules hold along the witness", not broken, " ".join(list(broken)[:3]), figure=len(broken))


# Solved otherwise


def solved_otherwise(
    tried: Sequence[Tried], none: Mapping[str, str], *, given_up: bool = False
) -> list[Proof]:
    """A line a family: each other way that was shown right must be paid 1.

    Args:
        tried: what was graded.
        none: for a family with nothing to try, why.
        given_up: whether ways were left untried, for calls hung or crashed again and again.
    """
    return [
        _family(family, [t for t in tried if t.kind == family], none.get(family, ""), given_up)
        for family in FAMILIES
    ]


def _family(family: str, tried: Sequence[Tried], why: str, given_up: bool) -> Proof:
    name = f"solved otherwise: {family}"
    if not tried and given_up and not why:
        return unproved([name], GIVEN_UP)[0]
    if not tried:
        return Proof(name=name, status="proved", detail=f"Nothing to try{f': {why}' if why else ''}.")
    unpaid = [t for t in tried if not t.survives]
    share = (len(tried) - len(unpaid)) / len(tried)
    if not unpaid:
        return Proof(name=name, status="proved", figure=share, detail=f"{len(tried)} tried, all paid.")
    told = "; ".join(f"{t.what}: {failing(t.outcomes)}" for t in unpaid[:SAID])
    detail = f"Expected reward 1 for each of {len(tried)}, but {len(unpaid)} earn less: {told}"
    return Proof(name=name, status="failed", figure=share, detail=detail)


# Mutants


def killed(tried: Sequence[Tried], held: Sequence[str] = ()) -> Proof:
    """No mutant that an agent can bring about survives, and few of the others.

    Args:
        tried: the mutants.
        held: arguments that were marked free and are not, for the task names their value.
    """
    if not tried:
        return Proof(name="mutants killed", status="failed", figure=0.0, detail="No mutant could be made.")
    alive = [t for t in tried if t.survives]
    share = (len(tried) - len(alive)) / len(tried)
    if not alive:
        return Proof(name="mutants killed", status="proved", figure=share, detail=f"All of {len(tried)}.")
    reachable = [t for t in alive if t.reachable]
    fails = bool(reachable) or share < MUST_KILL
    told = "; ".join(
        f"[{t.kind}] {t.what}" for t in [*reachable, *(t for t in alive if not t.reachable)][:SAID]
    )
    more = f"; and {len(alive) - SAID} more" if len(alive) > SAID else ""
    reach = f"{len(reachable)} within an agent's reach"
    besides = sum(t.kind == UNASKED for t in alive if not t.reachable)
    if besides:
        reach += f" (and {besides} by a call more that changes only what `may_change` frees)"
    detail = f"{len(alive)} of {len(tried)} mutants earn 1, {reach}: {told}{more}."
    if fails:
        detail += " Tighten a check, or call the argument free where the task leaves it open."
        said = [argument for argument in held if any(f"{argument}:" in t.what for t in reachable)]
        detail += f" Not free, for the task names the value: {', '.join(said)}." if said else ""
    return Proof(name="mutants killed", status="failed" if fails else "proved", figure=share, detail=detail)


def freed_guarded(tried: Sequence[Tried]) -> Proof:
    """Where a whole table may change, the checks see to the records that the task does not concern."""
    name, alive = "freed tables guarded", [t for t in tried if t.survives]
    if not tried:
        return Proof(name=name, status="proved", detail="Nothing to try.")
    told = "; ".join(f"[{t.kind}] {t.what}" for t in alive[:SAID])
    detail = (
        f"All of a table may change, and {len(alive)} of {len(tried)} changes of records that the task does not "
        f"concern are paid in full: {told}. Name the records that may change, or `table/+` where some are only added, "
        "or guard the others."
    )
    return proof(name, not alive, detail, (len(tried) - len(alive)) / len(tried))


def goals_needed(tried: Sequence[Tried]) -> Proof:
    """Each goal tells a mutant from the solution that no other goal tells from it, and no guard."""
    goals = _places(tried, "goal")
    # Where a guard is broken nothing is paid anyway, so there the goals tell nothing.
    tried = [t for t in tried if all(o.passed for o in t.outcomes if o.kind == "guard")]
    alone = {
        places[0] for t in tried if len(places := [p for p in goals if t.outcomes[p].passed is False]) == 1
    }
    idle = [p for p in goals if p not in alone]
    told = "; ".join(_beside(tried, place, goals) for place in idle[:SAID]) if tried else ""
    figure = len(alone) / len(goals) if goals else 0.0
    return proof("each goal needed", bool(goals) and not idle, told or "No mutant could be made.", figure)


def _beside(tried: Sequence[Tried], place: int, goals: Sequence[int]) -> str:
    """Why a goal is not needed."""
    said = [t for t in tried if t.outcomes[place].passed is False]
    item = tried[0].outcomes[place].item
    if not said:
        return f"{item} says no to no mutant"
    others = [g for g in goals if g != place and all(t.outcomes[g].passed is False for t in said)]
    beside = f", nor to any that “{tried[0].outcomes[others[0]].item}” says yes to" if others else ""
    return f"{item} says no to no mutant that all other goals say yes to{beside}"


def guards_broken(tried: Sequence[Tried]) -> Proof:
    """Each guard, `bystanders` too, says no to a mutant."""
    guards, idle = _places(tried, "guard"), idle_guards(tried)
    told = "; ".join(f"{item} is broken by no mutant" for item in idle[:SAID])
    share = (len(guards) - len(idle)) / len(guards) if guards else 1.0
    return proof("each guard broken", not idle, told, figure=share)


def _places(tried: Sequence[Tried], kind: str) -> list[int]:
    return [p for p, outcome in enumerate(tried[0].outcomes) if outcome.kind == kind] if tried else []


def idle_guards(tried: Sequence[Tried]) -> list[str]:
    """Guards that no mutant breaks."""
    return [
        tried[0].outcomes[p].item
        for p in _places(tried, "guard")
        if not any(t.outcomes[p].passed is False for t in tried)
    ]


def failing(outcomes: Sequence[Outcome]) -> str:
    """The items that say no, or break."""
    no = [f"{o.item}{f' ({o.note})' if o.note else ''}" for o in outcomes if o.passed is not True]
    return "; ".join(no[:3])


def _shown(paid: float | None, outcomes: Sequence[Outcome]) -> str:
    if paid is not None:
        return f"{paid:.2f}"
    goals = any(outcome.kind == "goal" for outcome in outcomes)
    return "none, for a check broke" if goals else "none, for there is no goal"
