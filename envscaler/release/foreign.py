"""Guards as check functions that other graders execute: `check_func(final_state)`, with `initial_state` as a global.

The published reward is the mean of all checks. A guard beside the goals would pay an agent for doing nothing, so there
are three ways, and only the last pays as we do: goals alone; guards as further checks; or every goal asking the guards
too, which makes the published mean our reward. `bystanders`, the guard that the library adds, is written out as a
function here, with the meaning it has in `world.check`. Nothing is executed.
"""

import ast
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from envscaler import syntax
from envscaler.error import CheckError
from envscaler.schema import Scenario
from envscaler.world.check import BYSTANDERS

_BYSTANDERS = '''
def check_func(final_state):
    """Whether nothing changed but what the task may touch."""
    may_change = MAY_CHANGE
    private = PRIVATE

    def escaped(name):
        return str(name).replace("~", "~0").replace("/", "~1")

    def records(value):
        if isinstance(value, dict):
            return {str(key): record for key, record in value.items()}
        if isinstance(value, (list, tuple)):
            return {str(place): record for place, record in enumerate(value)}
        return None

    def same(one, other):
        if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
            return one is other
        if isinstance(one, dict) and isinstance(other, dict):
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            return len(one) == len(other) and all(map(same, one, other))
        return bool(one == other)

    def kept(name, old, new):
        one, other = records(old), records(new)
        if one is None or other is None or isinstance(old, dict) != isinstance(new, dict):
            return same(old, new)
        for key in [*one, *(key for key in other if key not in one)]:
            if f"{name}/{escaped(key)}" in may_change:
                continue
            if key not in one:
                if f"{name}/+" not in may_change:
                    return False
            elif key not in other or not same(one[key], other[key]):
                return False
        return True

    for name in {**initial_state, **final_state}:
        if escaped(name) in may_change or (str(name).startswith("_") and name not in private):
            continue
        if name not in initial_state or name not in final_state:
            return False
        if not kept(escaped(name), initial_state[name], final_state[name]):
            return False
    return True
'''
_ALL = """
def check_func(final_state):
    goal = _goal()(final_state)
    if goal is not True:
        return goal
    return all(guard()(final_state) is True for guard in GUARDS)
"""


def guarded(scenario: Scenario, guards: Literal["apart", "added", "within"]) -> list[tuple[str, str]]:
    """Item and source of each check function of a scenario, for a grader that takes the mean of them.

    Args:
        scenario: its checks and what it may change.
        guards: `apart` for the goals alone, `added` for the guards as checks of their own, `within` for goals that
            hold only where every guard holds.

    Raises:
        CheckError: a check's source does not parse, which `within` has to.
    """
    goals = [(check.item, check.source) for check in scenario.checks if check.kind == "goal"]
    held = [(check.item, check.source) for check in scenario.checks if check.kind == "guard"]
    if scenario.may_change:
        # Where nobody said what a task may touch, there is nothing to hold it to.
        held.append((BYSTANDERS, bystanders_source(scenario)))
    if guards == "added":
        return [*goals, *held]
    if guards == "within" and held:
        sources = [source for _, source in held]
        return [(item, _within(source, sources)) for item, source in goals]
    return goals


def bystanders_source(scenario: Scenario) -> str:
    """The guard `bystanders` of a scenario as a check function."""
    private = [name for name in scenario.initial_state if name.startswith("_")]
    values = {"MAY_CHANGE": repr(scenario.may_change), "PRIVATE": repr(private)}
    return re.sub("|".join(values), lambda found: values[found[0]], _BYSTANDERS).strip() + "\n"


def _within(goal: str, guards: Sequence[str]) -> str:
    names = [f"_guard_{number}" for number in range(len(guards))]
    parts = [_enclosed("_goal", goal), *map(_enclosed, names, guards)]
    return "\n\n".join(parts) + "\n\n" + _ALL.replace("GUARDS", f"[{', '.join(names)}]")


@lru_cache(maxsize=64)  # a scenario's guards stand in each of its goals
def _enclosed(name: str, source: str) -> str:
    """A function that returns the check function of a source, so that the helpers of one do not meet another's."""
    try:
        body = syntax.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CheckError(f"Expected a check function that parses, got {source[:60]!r} ({error}).") from error
    returned = ast.Return(ast.Name("check_func", ast.Load()))
    nothing = ast.arguments([], [], None, [], [], None, [])
    made = ast.FunctionDef(name, nothing, [*body, returned], [])
    return ast.unparse(ast.fix_missing_locations(made))
