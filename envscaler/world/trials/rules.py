"""Rules held against every change: their invariants, asked of the state before and after a call and of the call.

A rule that the state at reset breaks by itself is not held against any tool; one that cannot be evaluated is told
by `audits`. This module knows nothing of rules without invariants.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from envscaler.schema import Finding, Rule
from envscaler.world.change import State
from envscaler.world.check import all_broken_invariants, broken_invariants
from envscaler.world.trials.exploring import Seen
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
        changed: dict[str, list[Seen]] = defaultdict(list)
        for seen in batch:
            if seen.diff:
                changed[f"{seen.call.tool} {seen.diff}"].append(seen)
        yield from self._judge(self._rules, list(changed.values()))
        if self._of_calls:
            idle = {(s.call.tool, s.done): s for s in batch if not s.diff and not s.raised and not s.lost}
            yield from self._judge(self._of_calls, [[seen] for seen in idle.values()])

    def _judge(self, rules: list[Rule], alike: list[list[Seen]]) -> Iterator[tuple[Seen, Finding]]:
        """One call of each group is judged, for all of them."""
        if not rules or not alike:
            return
        firsts = [group[0] for group in alike]
        changes: list[Any] = [
            (s.before, s.after, {**s.call.model_dump(mode="json"), "reply": s.reply}) for s in firsts
        ]
        # A state that breaks a rule by itself is no fault of the calls that are made in it.
        changes.append((firsts[0].before, firsts[0].before, None))
        *found, before = all_broken_invariants(rules, changes, **self._options)
        broken_before = {one.message for one in before}
        for group, broken in zip(alike, found, strict=True):
            for one in broken:
                if one.kind == "invariant" and one.message not in broken_before:
                    for seen in group:
                        yield seen, finding("invariant", "error", seen.call.tool, one.message, **seen.told)
