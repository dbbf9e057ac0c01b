"""Examining one environment or one scenario of anybody's: what was tried, what it showed, as a record.

`examine_environment` asks the referee and the lint of tool schemas; `examine_scenario` grades states that nobody
brought about, looks for faults in the checks and in the initial state, looks for a witness where it is told to,
and makes the certificate. Many at once, resumed and summed up, are `certifying.many`'s business. Nothing is repaired.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.certifying.checklist import find_faults
from envscaler.certifying.fitting import clipped, misfits
from envscaler.certifying.providers import MOST_DESCRIPTION, PROVIDERS, described, lint_schemas, refusals
from envscaler.certifying.rows import EnvironmentReport, Paid, ScenarioReport, Searched
from envscaler.certifying.surveying import Survey, survey
from envscaler.error import EnvironmentLost, SourceError
from envscaler.release.shapes import odd_parameters
from envscaler.schema import Call, Finding, Json, Outcome, Scenario, Skeleton
from envscaler.searching.search import Search, search_witness
from envscaler.world.certificate import certify, garbage, wiped
from envscaler.world.change import State
from envscaler.world.check import BYSTANDERS, grade_all, reward
from envscaler.world.environment import Environment
from envscaler.world.referee import check_environment
from envscaler.world.replay import replay
from envscaler.world.schemas import sound
from envscaler.world.tree import parse_tree

Recorded = Sequence[tuple[Call, Json]]
"""A recorded episode: each call with the reply that was recorded for it."""
IDLE = ("nothing", "wiped", "garbage")
"""States that nobody brought about: as at reset, every table emptied, every value replaced."""
CANNOT_HOLD = frozenset(
    {"always-broken", "only-false", "blind", "missing-table", "no-source", "half-characters"}
)
"""Findings that say that a check cannot hold, whatever an agent does; then no witness is looked for."""
MOST_TASK = 400
"""Characters of a task that its row shows."""
CALLS = 200
"""Calls of the referee in an environment, unless another number is asked for: quick, and enough for common faults."""
_CHANCES = {
    "uuid": ("uuid1", "uuid4"),
    "datetime": ("now", "utcnow", "today"),
    "date": ("today",),
    "time": ("time", "time_ns"),
    "random": (),
    "secrets": (),
}


@dataclass(frozen=True)
class Options:
    """How thoroughly to look."""

    seed: int = 0
    """Of every environment and every choice."""
    search: int = 0
    """Tool calls that the search for a witness may try in a scenario; 0 looks for none."""
    calls: int = CALLS
    """Calls that the referee makes in an environment."""


# Environments


def examine_environment(
    skeleton: Skeleton, state: State | None = None, *, name: str = "", options: Options | None = None
) -> EnvironmentReport:
    """Look at one environment.

    Args:
        skeleton: the class and its tools.
        state: a state to play in, e.g. that of a scenario; None for the class's own.
        name: its name in the data it comes from.
        options: how thoroughly to look.
    """
    chosen = options or Options()
    found = check_environment(skeleton, state, seed=chosen.seed, calls=chosen.calls)
    refused = refusals(skeleton.tools)
    told = [described(tool) for tool in skeleton.tools]
    by: dict[str, int] = {p: len({r.tool for r in refused if p in r.by}) for p in PROVIDERS}
    # In the empty state of a class most calls are refused, and that says nothing of its tools.
    seen = survey(sound(skeleton), state, seed=chosen.seed) if state else Survey()
    return EnvironmentReport(
        skeleton_id=skeleton.id,
        name=name or skeleton.id,
        title=skeleton.title,
        class_name=skeleton.class_name,
        tools=len(skeleton.tools),
        parameters=sum(total for _, total in told),
        described=sum(some for some, _ in told),
        refused={**by, "any": len({r.tool for r in refused})},
        long_descriptions=sum(len(tool.description) > MOST_DESCRIPTION for tool in skeleton.tools),
        chances=chances(skeleton.source),
        findings=[
            *found,
            *lint_schemas(skeleton.tools),
            *_not_schemas(skeleton),
            *clipped(skeleton),
            *seen.findings(),
        ],
        replies=seen.replies,
        aliased=seen.aliased,
        never_succeeded=dict(seen.never),
    )


def _not_schemas(skeleton: Skeleton) -> list[Finding]:
    """Tools that were published with parameters that are no object, of which `release` reads none."""
    return [
        Finding(
            kind="schema-malformed",
            severity="error",
            where=name,
            message=f"{name} declares what is no schema: expected an object for its parameters, got {said!r:.60}.",
            evidence={"parameters": said},
        )
        for name, said in odd_parameters(skeleton).items()
    ]


def chances(source: str) -> list[str]:
    """Calls of clocks, id makers and random numbers, e.g. `uuid.uuid4`, each once."""
    try:
        tree = parse_tree(source)
    except SourceError:
        return []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            where = ast.unparse(node.func.value).rpartition(".")[2]
            wanted = _CHANCES.get(where)
            if wanted is not None and (not wanted or node.func.attr in wanted):
                found.add(f"{where}.{node.func.attr}")
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("uuid4", "uuid1")
        ):
            found.add(f"uuid.{node.func.id}")
    return sorted(found)


# Scenarios


def examine_scenario(
    skeleton: Skeleton,
    scenario: Scenario,
    *,
    name: str = "",
    environment: str = "",
    recorded: Sequence[Recorded] = (),
    options: Options | None = None,
) -> ScenarioReport:
    """Look at one scenario.

    Args:
        skeleton: the world it plays in.
        scenario: initial state, task, checks, and a witness if there is one.
        name: its name in the data it comes from.
        environment: the environment's name there.
        recorded: recorded episodes, which may solve it; they are replayed, for their ids are others now.
        options: how thoroughly to look.
    """
    chosen = options or Options()
    about: dict[str, Json] = {
        "scenario_id": scenario.id,
        "skeleton_id": skeleton.id,
        "name": name or scenario.id,
        "environment": environment or skeleton.id,
        "task": scenario.task[:MOST_TASK] + "…" * (len(scenario.task) > MOST_TASK),
        "checks": len(scenario.checks),
    }
    fits = misfits(skeleton, scenario.initial_state)
    try:
        with Environment(skeleton, scenario, seed=chosen.seed) as world:
            initial = world.initial_state
    except (SourceError, EnvironmentLost):
        certificate = certify(skeleton, scenario, seed=chosen.seed)
        return ScenarioReport(**about, findings=fits, certificate=certificate)
    graded = grade_all(
        scenario.checks, initial, [initial, wiped(initial), garbage(initial)], scenario.may_change
    )
    told: dict[str, Any] = {"source": skeleton.source, "task": scenario.task}
    faults = find_faults(scenario.checks, initial, graded, **told)
    search = None
    if not any(fault.kind in CANNOT_HOLD and fault.severity == "error" for fault in faults):
        search = _searched(skeleton, scenario, recorded, chosen)
    if search and search.calls > 1:
        told |= {"seen_true": search.seen_true, "states": search.states}
        told["never_together"] = search.never_together
        faults = find_faults(scenario.checks, initial, graded, **told)
    proved = (
        search.certificate if search and search.certificate else certify(skeleton, scenario, seed=chosen.seed)
    )
    return ScenarioReport(
        **about,
        vacuous=[o.item for o in graded[0] if o.kind == "goal" and o.passed],
        paid={idle: _paid(outcomes) for idle, outcomes in zip(IDLE, graded, strict=True)},
        findings=[*faults, *fits],
        searched=_told(search) if search else None,
        witness=search.witness if search else scenario.witness,
        certificate=proved,
    )


def _searched(
    skeleton: Skeleton, scenario: Scenario, recorded: Sequence[Recorded], options: Options
) -> Search | None:
    if scenario.witness or not (options.search or recorded):
        return None
    # With a budget of one call, only what was recorded is tried.
    again = [_replayed(skeleton, scenario, episode, options.seed) for episode in recorded]
    return search_witness(
        skeleton, scenario, budget=max(1, options.search), recorded=again, seed=options.seed
    )


def _replayed(skeleton: Skeleton, scenario: Scenario, episode: Recorded, seed: int) -> list[Call]:
    try:
        return [one.call for one in replay(skeleton, scenario, episode, seed=seed).calls]
    except EnvironmentLost:
        return [call for call, _ in episode]


def _told(search: Search) -> Searched:
    return Searched(
        result=search.result,
        found_by=search.found_by,
        calls=search.calls,
        states=search.states,
        best=search.best,
    )


def _paid(outcomes: Sequence[Outcome]) -> Paid:
    own = [o for o in outcomes if o.item != BYSTANDERS]
    return Paid(
        paper=reward(own, "paper"), default=reward(outcomes, "default"), strict=reward(outcomes, "strict")
    )
