"""The referee: proves by running that an environment keeps its contract, as Gymnasium's `check_env` does.

Some of it holds by construction of the library, some of it depends on the class. Tried is what the class can get
wrong (`trials`), in calls that reach as much of its code as the budget allows (`exploring`). The arguments are made
from schemas, code and state; they know nothing of the world, so silence of the referee is no proof that tools do
what they say (`audits` asks that).
"""

import html
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envscaler.error import EnvironmentLost, SourceError
from envscaler.schema import Call, Finding, Json, Skeleton
from envscaler.world.environment import Environment
from envscaler.world.lint import lint
from envscaler.world.schemas import sound
from envscaler.world.trials.again import Again
from envscaler.world.trials.exploring import CALLS, Explorer, Seen
from envscaler.world.trials.finding import finding
from envscaler.world.trials.habits import Habits
from envscaler.world.trials.inputs import Inputs
from envscaler.world.trials.inside import Inside, by_address
from envscaler.world.trials.replies import Replies
from envscaler.world.trials.rules import Rules
from envscaler.world.trials.schemas import check_tools
from envscaler.world.trials.trying import Values

_LOOKED_INTO = 4
"""Calls of each tool that are looked into (`trials.inside`)."""


class Findings(list[Finding]):
    """What a referee found, the severest first; a notebook shows it as a table."""

    @property
    def errors(self) -> list[Finding]:
        """Those that make the environment unusable."""
        return [finding for finding in self if finding.severity == "error"]

    def _repr_html_(self) -> str:
        counts: Counter[str] = Counter(finding.severity for finding in self)
        colour = {"error": "#b2182b", "warning": "#8a6d00", "note": "#555555"}
        rows = "".join(
            f"<tr><td style='color:{colour[f.severity]}'><b>{f.severity}</b></td><td>{html.escape(f.kind)}</td>"
            f"<td><code>{html.escape(f.where)}</code></td><td style='text-align:left'>{html.escape(f.message)}"
            f"<details><summary>evidence</summary><pre>{html.escape(_written(f.evidence))}</pre></details></td></tr>"
            for f in self
        )
        head = ", ".join(f"{counts[s]} {s}{'' if counts[s] == 1 else 's'}" for s in colour)
        return f"<b>{head}</b><table><tr><th>severity</th><th>kind</th><th>where</th><th>what</th></tr>{rows}</table>"


def _written(evidence: Json) -> str:
    return json.dumps(evidence, indent=1, ensure_ascii=False)[:4000]


def check_environment(
    skeleton: Skeleton,
    state: Mapping[str, Json] | None = None,
    *,
    seed: int = 0,
    calls: int = CALLS,
    **options: Any,
) -> Findings:
    """What an environment gets wrong; empty, or notes only, when it keeps the contract.

    Args:
        skeleton: the class, its tools and its rules.
        state: a state to play in; None for the class's own, which is mostly empty and shows less.
        seed: of the calls that are made, and of the environment.
        calls: how many calls are tried.
        options: of `Environment`, e.g. `timeout` and `isolation`.
    """
    found = [f for f in lint(skeleton.source, skeleton.class_name) if f.severity != "note"]
    try:
        found += check_tools(skeleton)
        found += by_address(skeleton)
        found += _Trial(sound(skeleton), dict(state or {}), seed, calls, options).play()
    except SourceError as error:
        found.append(finding("no-load", "error", skeleton.class_name, str(error)))
    except EnvironmentLost as error:
        found.append(finding("lost", "error", skeleton.class_name, str(error)))
    return _once(found)


def _once(findings: list[Finding]) -> Findings:
    """One finding a kind and place, the severest: it shows it as well as the tenth."""
    order = {"error": 0, "warning": 1, "note": 2}
    seen: dict[tuple[str, str], Finding] = {}
    for one in sorted(findings, key=lambda f: order[f.severity]):
        seen.setdefault((one.kind, one.where), one)
    return Findings(seen.values())


class _Trial:
    """One environment under trial."""

    def __init__(
        self, skeleton: Skeleton, state: dict[str, Json], seed: int, calls: int, options: dict[str, Any]
    ) -> None:
        self._skeleton, self._state, self._seed, self._calls = skeleton, state, seed, calls
        self._options = options
        self._found: list[Finding] = []

    def play(self) -> list[Finding]:
        """Explore, and hold everything against what was seen."""
        with Environment(self._skeleton, self._state, seed=self._seed, **self._options) as environment:
            environment.reset()
            start = environment.state
            self._replies, self._inputs = Replies(self._skeleton, start), Inputs(self._skeleton, start)
            self._habits = Habits(start, self._skeleton.source)
            limits = {k: v for k, v in self._options.items() if k in ("timeout", "isolation")}
            self._rules = Rules(self._skeleton.rules, start, **limits)
            inside = Inside(self._skeleton)
            explorer = Explorer(self._skeleton, environment, self._seed, self._calls, self._sound)
            explorer.explore()
            self._found += self._replies.at_the_end()
            self._found += self._inputs.at_the_end()
            self._found += inside.number_keys(Values(start))
            for seen in explorer.seen:
                self._found += inside.quiet(seen)
            self._found += self._look_into(inside, environment, explorer.seen)
            self._found += inside.compared_ids(Values(start), Values(environment.state))
            again = Again(self._skeleton, self._state, self._seed, self._options)
            self._found += again.on_fresh(environment, explorer.seen, [call for call, _ in explorer.made])
        self._found += again.by_chance([s for s in explorer.seen if s.before == start])
        self._found += again.repeat(_mixed(explorer))
        return self._found

    def _sound(self, batch: Sequence[Seen]) -> list[Seen]:
        """Judge the calls of one state; those that may be made are returned."""
        bad: set[int] = set()
        for seen in batch:
            self._inputs.note(seen)
            found = [*self._replies.judge(seen), *self._breaches(seen)]
            self._found += found
            if any(f.severity != "note" for f in found):
                bad.add(id(seen))
        self._found += self._replies.idle(batch)
        for seen, one in self._rules.judge(batch):
            self._found.append(one)
            bad.add(id(seen))
        return [seen for seen in batch if id(seen) not in bad]

    def _breaches(self, seen: Seen) -> Iterator[Finding]:
        if not seen.diff:
            return
        doubled = any(
            isinstance(v, list) and len({*map(str, v)}) < len(v) for v in seen.call.arguments.values()
        )
        for kind, severity, message in self._habits.breaches(seen.before, seen.after, seen.diff):
            if not (doubled and kind == "listed-twice"):
                yield finding(kind, severity, seen.call.tool, f"{seen.call.tool} {message}", **seen.told)

    def _look_into(self, inside: Inside, environment: Environment, seen: Sequence[Seen]) -> Iterator[Finding]:
        calls: list[Call] = []
        for tool in self._skeleton.tools:
            own = [one for one in seen if one.call.tool == tool.name and not one.lost]
            ways = {one.lines: one.call for one in own}
            calls += [*[one.call for one in own[:_LOOKED_INTO]], *ways.values()][-_LOOKED_INTO:]
        for call in calls:
            yield from inside.observe(environment._live, call)
        yield from inside.wrong_types(environment._live, calls)


def _mixed(explorer: Explorer) -> list[Call]:
    """The calls that were made, with some that were only watched between them."""
    watched = [s.call for s in explorer.seen if not s.lost]
    step = max(1, len(watched) // 40)
    made = [call for call, _ in explorer.made]
    mixed = [*watched[::step]]
    for place, call in enumerate(made):
        mixed.insert(min(len(mixed), place * 2), call)
    return mixed
