"""Looking for a witness: is there a way to solve a scenario that comes without one?

Recorded episodes come first, then the agents one gives, then a search that reads the checks: it proposes calls
(`searching.seeking`), tries them without making them, grades the states they lead to, makes the ones that bring
a check about, and goes back where that led nowhere. Every witness is played again from the beginning, shortened,
and certified. `not found within budget` is no proof that a scenario cannot be solved.

The search sees the state and the answers. It is an instrument, not an agent, and its witnesses say nothing on
how hard a scenario is. Scenarios without `may_change`, as published ones are, are solved when every check holds
(the published rule); the records their witness touches are then what the task may change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from envscaler.agent import Agent
from envscaler.episode import roll_out
from envscaler.given import at_least
from envscaler.schema import Call, Certificate, Rollout, Scenario, Skeleton
from envscaler.searching.referring import with_references
from envscaler.searching.seeking import Seeker
from envscaler.world.certificate import certify
from envscaler.world.change import State, diff, unescaped
from envscaler.world.retrace import calls_in

BUDGET = 20_000
"""Tool calls that a search may try."""


@dataclass(frozen=True)
class Search:
    """What came of looking for a witness."""

    result: Literal["solved", "not found within budget"]
    """Whether there is a witness; the second is no proof that there is none."""
    witness: list[Call]
    """Calls that solve the scenario, shortened; empty where none was found."""
    found_by: str
    """`searching.search`, `recorded`, or the name of the agent."""
    calls: int
    """Tool calls tried."""
    states: int
    """Different states graded."""
    best: float
    """The largest share of checks that held at once."""
    seen_true: list[bool]
    """For each check, whether it held in any state met."""
    never_together: list[tuple[int, int]] = field(default_factory=list)
    """Where it was not solved: pairs of checks that each held in some state, and in none of them together."""
    may_change: list[str] = field(default_factory=list)
    """What the witness touches, where the scenario does not say what may be touched."""
    certificate: Certificate | None = None
    """The certificate of the scenario with its witness."""

    @property
    def solved(self) -> bool:
        """Whether there is a witness."""
        return self.result == "solved"


def search_witness(
    skeleton: Skeleton,
    scenario: Scenario,
    *,
    budget: int = BUDGET,
    agents: Sequence[Agent] = (),
    recorded: Iterable[Sequence[Call] | Rollout] = (),
    seed: int = 0,
) -> Search:
    """Look for calls that solve a scenario.

    Args:
        skeleton: the world it plays in.
        scenario: its initial state, task and checks; a witness it has counts as recorded.
        budget: tool calls that may be tried.
        agents: agents to let try first.
        recorded: calls or rollouts of earlier episodes.
        seed: of the environment and the agents.

    Raises:
        ParameterError: the budget is less than one call.
        SourceError: the class cannot be loaded with the initial state.
    """
    with Seeker(skeleton, scenario, at_least(budget, 1, "a budget of calls"), seed) as seeker:
        for one in [*([scenario.witness] if scenario.witness else []), *recorded]:
            if seeker.tries(calls_of(one) if isinstance(one, Rollout) else list(one)):
                return _found(seeker, skeleton, scenario, seed, "recorded")
        for agent in agents:
            if seeker.tries(calls_of(roll_out(skeleton, scenario, agent, seed=seed))):
                return _found(seeker, skeleton, scenario, seed, agent.name)
        if seeker.look():
            return _found(seeker, skeleton, scenario, seed, "search")
        return _told(seeker, "not found within budget")


def calls_of(rollout: Rollout) -> list[Call]:
    """The tool calls of an episode, in order."""
    return [call for step in rollout.trajectory for call, _ in calls_in(step)]


def with_witness(scenario: Scenario, search: Search) -> Scenario:
    """The scenario with the witness that was found, its certificate, and what the witness may touch."""
    known = {"may_change": scenario.may_change or search.may_change, "witness": search.witness}
    return scenario.model_copy(update={**known, "certificate": search.certificate})


def _found(seeker: Seeker, skeleton: Skeleton, scenario: Scenario, seed: int, by: str) -> Search:
    """What was found, shortened, with its references, and certified."""
    short = seeker.shortened(seeker.witness)
    witness = with_references(skeleton, scenario, short, seeker.proposer, seed)
    if not seeker.tries(witness):
        witness = short
    touched = [] if scenario.may_change else touched_by(seeker.initial, seeker.final(witness) or {})
    made = scenario.model_copy(update={"witness": witness, "may_change": scenario.may_change or touched})
    certificate = certify(skeleton, made, seed=seed)
    return _told(seeker, "solved", witness, by, touched, certificate)


def _told(
    seeker: Seeker,
    result: Literal["solved", "not found within budget"],
    witness: Sequence[Call] = (),
    by: str = "",
    touched: Sequence[str] = (),
    certificate: Certificate | None = None,
) -> Search:
    tried, best = seeker.budget - seeker.left, round(seeker.best, 4)
    apart = [] if result == "solved" else seeker.never_together
    told = (tried, len(seeker.seen), best, list(seeker.true), apart, list(touched))
    return Search(result, list(witness), by, *told, certificate)


def touched_by(initial: State, final: State) -> list[str]:
    """What a solution touches, as `may_change` names it: records, rows added, and whole attributes."""
    found = set()
    for where, change in diff(initial, final).items():
        name, slash, _ = where.partition("/")
        # Places in a list say little: another row may stand there next time.
        whole = not slash or not isinstance(initial.get(unescaped(name)), dict)
        found.add(name if whole else f"{name}/+" if "added" in change else where)
    return sorted(found)
