"""A survey of an environment's tools: which succeed at all, and which hand out live parts of the state.

    explore → insist on tools that have not succeeded, with what their own code names → look into some replies

Silence proves nothing: a tool that refused every call may want arguments that nobody guessed. The message says how
many were tried. Faults of any other kind are the referee's to find.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envscaler.error import EnvironmentLost, SourceError
from envscaler.schema import Call, Check, Finding, Skeleton
from envscaler.searching.proposing import Proposer
from envscaler.world.change import State
from envscaler.world.environment import Environment
from envscaler.world.sandbox import WorkerLost
from envscaler.world.source import parse_class
from envscaler.world.trials.exploring import Explorer
from envscaler.world.witness import succeeded

CALLS = 20
"""Calls of each tool, on average."""
_INSISTED = 150
"""Further calls of a tool that has not succeeded yet."""
_LOOKED_INTO = 4
"""Replies of a tool that are looked into."""
_ENOUGH = 5
"""Refused calls of a tool that are worth a word."""


@dataclass(frozen=True)
class Survey:
    """What the calls showed."""

    replies: int = 0
    """Replies of calls that succeeded and were looked into."""
    aliased: int = 0
    """Those that hand out live parts of the state."""
    never: Mapping[str, int] = field(default_factory=dict)
    """Tools no call of which succeeded, with the number of calls."""

    def findings(self) -> list[Finding]:
        """Tools that refused every call; a note, for other arguments may do."""
        return [
            Finding(
                kind="never-succeeds",
                severity="note",
                where=tool,
                message=f"{tool} refused each of {number} calls with arguments that its schema admits.",
                evidence={"calls": number},
            )
            for tool, number in self.never.items()
        ]


def survey(skeleton: Skeleton, state: State, *, seed: int = 0) -> Survey:
    """Make calls in one environment; nothing where the class cannot be loaded, which the referee says.

    Args:
        skeleton: the class and its tools.
        state: the state to play in.
        seed: of the calls.
    """
    try:
        with Environment(skeleton, state, seed=seed) as environment:
            environment.reset()
            begun = environment.snapshot()
            explorer = Explorer(skeleton, environment, seed, CALLS * len(skeleton.tools))
            explorer.explore()
            tried = Counter(seen.call.tool for seen in explorer.seen)
            done: dict[str, list[Call]] = defaultdict(list)
            for seen in explorer.seen:
                if seen.done:
                    done[seen.call.tool].append(seen.call)
            for moment in (begun, environment.snapshot()):
                # What a tool needs may have been made by the calls above, or used up by them.
                environment.restore(moment)
                for name in [tool.name for tool in skeleton.tools if not done[tool.name]]:
                    tried[name] += _insist(skeleton, environment, name, done)
            never = {name: tried[name] for name in tried if not done[name] and tried[name] >= _ENOUGH}
            return Survey(*_looked_into(environment, done.values()), never)
    except (SourceError, EnvironmentLost, WorkerLost):
        return Survey()


def _insist(skeleton: Skeleton, environment: Environment, name: str, done: dict[str, list[Call]]) -> int:
    """Make further calls of one tool until one succeeds, which goes to `done`; return how many were refused."""
    method, tool = parse_class(skeleton.source, skeleton.class_name).methods.get(name), skeleton.tool(name)
    if method is None or tool is None:
        return 0
    state, refused = environment.state, 0
    proposer = Proposer(skeleton, [Check(item=name, source=method.source)], method.doc, state)
    for call in proposer.calls(tool, state, 0, _INSISTED):
        reply, _, _ = environment.attempt(call.tool, call.arguments)
        if not environment.faults and succeeded(reply):
            done[name].append(call)
            environment.call(call.tool, call.arguments)  # others may need what it made
            break
        refused += 1
        if environment.hung:
            break  # one that hangs would take two seconds each time
    return refused


def _looked_into(environment: Environment, done: Iterable[list[Call]]) -> tuple[int, int]:
    """Of the replies of some calls that succeed here and now: how many, and how many are live."""
    replies = aliased = 0
    for calls in done:
        for call in calls[:_LOOKED_INTO]:
            reply, _, _ = environment.attempt(call.tool, call.arguments)
            if not environment.faults and succeeded(reply):
                replies += 1
                aliased += bool(environment._live.observe(call.tool, call.arguments).get("aliases"))
    return replies, aliased
