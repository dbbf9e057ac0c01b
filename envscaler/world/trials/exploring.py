"""Exploring: calls that reach as much of an environment's code as a budget allows, each tried before it is made.

    draw arguments → watch the call (nothing is kept) → now and then make one that worked → go on from there

A call that ran a line of its tool nobody ran before is remembered and varied, for what lies behind a branch
opens to its neighbours. Tools with lines left to reach get more of the calls. What is seen is not judged here
(`trials` do that), and a line that was not reached proves nothing.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from envscaler.error import EnvironmentLost
from envscaler.schema import Call, Json, Skeleton, Tool
from envscaler.world.arguments import ArgumentsOf
from envscaler.world.change import Diff, State, shared
from envscaler.world.environment import Environment
from envscaler.world.live import ToolRaised
from envscaler.world.reading import Code, read_code
from envscaler.world.sandbox import WorkerLost
from envscaler.world.trials.trying import Hand, Values
from envscaler.world.witness import succeeded

CALLS = 1500
"""Calls that are watched, unless another number is asked for."""
_OPENING = 0.4
"""Share of them that is spent in the state at reset."""
_STAY = 18
"""Calls watched in a state before the next one is made."""
_DWELL = 12
"""Calls made around one record."""
_KEPT = 12
"""Remembered calls of a tool."""


@dataclass(frozen=True)
class Seen:
    """A call and what came of it."""

    call: Call
    """The call."""
    reply: Json
    """Its reply; None where it raised."""
    before: State
    """The state it was made in; shares its records with others."""
    after: State
    """The state it left."""
    diff: Diff
    """What it changed."""
    lines: frozenset[int]
    """The lines it ran."""
    errors: tuple[tuple[str, int], ...]
    """Type and line of the errors that were raised in it."""
    raised: str = ""
    """The error that came out of it."""
    lost: str = ""
    """Why its worker was lost."""

    @property
    def done(self) -> bool:
        """Whether it says that it was done."""
        return not self.raised and not self.lost and succeeded(self.reply)

    @property
    def told(self) -> dict[str, Json]:
        """What a finding shows of it."""
        return {"call": self.call.model_dump(mode="json"), "reply": self.reply, "diff": self.diff}


class Explorer:
    """Makes the calls and keeps what was seen.

    Args:
        skeleton: the class and its tools.
        environment: where to play; it is left in the state of the last call.
        seed: of the arguments.
        calls: how many calls to watch.
        sound: which of some calls, watched in one state, may be made; a fault once made would be blamed on others.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        environment: Environment,
        seed: int,
        calls: int,
        sound: Callable[[Sequence[Seen]], Sequence[Seen]] = list,
    ) -> None:
        self.skeleton, self.environment = skeleton, environment
        self.seen: list[Seen] = []
        self.made: list[tuple[Call, Json]] = []
        self.lost: set[str] = set()
        self._calls, self._chance = calls, random.Random(seed)
        self._tools = {tool.name: tool for tool in skeleton.tools}
        self._readers = {tool.name: ArgumentsOf(tool) for tool in skeleton.tools}
        self._code = read_code(skeleton)
        self._reached: dict[str, set[int]] = defaultdict(set)
        self._kept: dict[str, list[tuple[int, dict[str, Json]]]] = defaultdict(list)
        self._sound = sound
        self._worked: list[Call] = []
        self._looked: list[Call] = []
        self._focus = ""
        self._edges: dict[str, list[dict[str, Json]]] = {}
        self._count: Counter[str] = Counter()
        self._committed: Counter[str] = Counter()

    def explore(self) -> None:
        """Spend the budget."""
        self._stay(int(self._calls * _OPENING))
        while len(self.seen) < self._calls and self._tools.keys() - self.lost:
            self._go_on()
            self._stay(min(_STAY, self._calls - len(self.seen)))

    def reached(self, tool: str) -> float:
        """Share of the tool's own lines that were run."""
        lines = self._code[tool].lines if tool in self._code else set()
        return len(self._reached[tool] & lines) / len(lines) if lines else 1.0

    # Calls

    def _stay(self, count: int) -> None:
        """Watch this many calls in the present state."""
        first = len(self.seen)
        values = Values(self.environment.state)
        hands = {
            name: Hand(tool, values, self._chance, code.named, code.tables, self._in_focus(values))
            for name, tool in self._tools.items()
            for code in [self._code.get(name, Code(set(), {}))]
        }
        for _ in range(count):
            names = [name for name in self._tools if name not in self.lost]
            if not names:
                break
            name = min(names, key=self._due)
            hand, kept = hands[name], self._kept[name]
            if self._edges.get(name) and self._chance.random() < 0.5:
                arguments = self._edges[name].pop()
            else:
                old = self._deep(kept) if kept and self._chance.random() < 0.6 else None
                arguments = hand.near(old) if old is not None else hand.fresh()
            if self._try(self._tools[name], arguments) and name not in self._edges:
                # The first call that worked is taken to its edges, one argument after another.
                self._edges[name] = list(hand.neighbours(arguments))
                self._chance.shuffle(self._edges[name])
        sound = [s for s in self._sound(self.seen[first:]) if s.done]
        self._worked = [s.call for s in sound if s.diff]
        self._looked = [s.call for s in sound if not s.diff]

    def _deep(self, kept: list[tuple[int, dict[str, Json]]]) -> dict[str, Json]:
        """One of the remembered calls, rather one that came far."""
        return max(self._chance.choices(kept, k=2), key=lambda one: one[0])[1]

    def _due(self, name: str) -> tuple[float, float]:
        """The tool with fewest calls is next; one that is all reached counts its calls twice, a write half."""
        weight = 1.0 if self.reached(name) < 1 else 2.0
        return self._count[name] * weight * (0.5 if self._tools[name].mutates else 1.0), self._chance.random()

    def _in_focus(self, values: Values) -> tuple[str, str] | None:
        """The record to dwell on, while it is there."""
        found = [(t, key) for t, rows in values.tables.items() for key in [self._focus] if key in rows]
        return found[0] if found else None

    def _try(self, tool: Tool, arguments: dict[str, Json]) -> bool:
        """Watch a call; whether it worked."""
        self._count[tool.name] += 1
        given, problem = self._readers[tool.name].read(arguments)
        if problem:
            return False
        seen = self.watch(Call(tool=tool.name, arguments=given))
        self.seen.append(seen)
        if seen.lost:
            self.lost.add(tool.name)
        new = seen.lines & self._own(tool.name) - self._reached[tool.name]
        self._reached[tool.name] |= seen.lines
        if new or (seen.done and self._chance.random() < 0.1):
            self._kept[tool.name] = [*self._kept[tool.name][-_KEPT + 1 :], (len(seen.lines), arguments)]
        return seen.done

    def _own(self, tool: str) -> set[int]:
        return self._code[tool].lines if tool in self._code else set()

    def watch(self, call: Call) -> Seen:
        """Try one call in the present state."""
        live, before = self.environment._live, shared(self.environment._live.state)
        show = self.environment._shown
        try:
            reply, changed, after, lines, errors = live.watch(call.tool, call.arguments)
        except ToolRaised as raised:
            return Seen(call, None, show(before), show(before), {}, frozenset(), (), raised=str(raised))
        except WorkerLost as lost:
            return Seen(call, None, show(before), show(before), {}, frozenset(), (), lost=str(lost))
        told = tuple((str(e[0]), int(e[1])) for e in errors)
        return Seen(call, reply, show(before), show(after), show(changed), frozenset(lines), told)

    def _go_on(self) -> None:
        """Make a read, which may remember what it saw, and a call that worked: of tools of which fewest were made.

        Several calls in a row dwell on one record, for limits are only met by whoever comes again.
        """
        if len(self.made) % _DWELL == 0:
            texts = [v for call in self._worked for v in call.arguments.values() if isinstance(v, str)]
            keys = [text for text in texts if self._in_any_table(text)]
            self._focus = self._chance.choice(keys) if keys else ""
        for calls in (self._looked, self._worked):
            if not calls:
                continue
            near = [c for c in calls if self._focus in c.arguments.values()]
            calls = near if near and self._chance.random() < 0.7 else calls
            least = min(self._committed[call.tool] for call in calls)
            call = self._chance.choice([c for c in calls if self._committed[c.tool] == least])
            self._committed[call.tool] += 1
            try:
                self.made.append((call, self.environment.call(call.tool, call.arguments)))
            except EnvironmentLost:
                self.lost.add(call.tool)

    def _in_any_table(self, key: str) -> bool:
        return any(key in rows for rows in self.environment._live.state.values() if isinstance(rows, dict))
