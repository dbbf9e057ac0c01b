"""Rules held against every change: their invariants, asked of the state before and after a call and of the call.

A rule that the state at reset breaks by itself is not held against any tool; one that cannot be evaluated is told
by `audits`. This module knows nothing of rules without invariants.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from envscaler.schema import Finding, Rule
from envscaler.world.change import State
from envscaler.world.check import all_broken_invariants, broken_invariants
from envscaler.world.exploring import Seen
from envscaler.world.trials.finding import finding


class Rules:
    """The rules that hold at reset."""

    def __init__(self, rules: Sequence[Rule], state: State, **options: Any) -> None:
        rules = [rule for rule in rules if rule.invariant]
        broken = " ".join(f.message for f in broken_invariants(rules, state, state, None, **options))
        self._rules = [rule for rule in rules if rule.text not in broken]
        # Its first mention of `call` is the parameter.
        self._of_calls = [rule for rule in self._rules if (rule.invariant or "").count("call") > 1]
        self._options = options

    def judge(self, batch: Sequence[Seen]) -> Iterator[tuple[Seen, Finding]]:
        """The calls that broke a rule, with the finding."""
        changed: dict[str, Seen] = {}
        for seen in batch:
            if seen.diff:
                changed.setdefault(f"{seen.call.tool} {seen.diff}", seen)
        yield from self._judge(self._rules, list(changed.values()))
        if self._of_calls:
            idle = {(s.call.tool, s.done): s for s in batch if not s.diff and not s.raised and not s.lost}
            yield from self._judge(self._of_calls, list(idle.values()))

    def _judge(self, rules: list[Rule], batch: list[Seen]) -> Iterator[tuple[Seen, Finding]]:
        changes = [(s.before, s.after, {**s.call.model_dump(mode="json"), "reply": s.reply}) for s in batch]
        for seen, broken in zip(batch, all_broken_invariants(rules, changes, **self._options), strict=True):
            for one in broken:
                if one.kind == "invariant":
                    yield seen, finding("invariant", "error", seen.call.tool, one.message, **seen.told)
