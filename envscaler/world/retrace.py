"""The states an episode went through, rebuilt: at reset, and after each of its steps.

First out of the recorded diffs, which are what really happened; where there are none (as in an episode of
somebody else), or they do not lead to the recorded final state, by making the steps again. Where that does not
either, the last state is the recorded one, those before it are the nearest there are, and `certain` is False. A
record cannot tell a field that went away from one that became null, so the two count as one. Nothing is graded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from envscaler.error import EnvscalerError, ParameterError
from envscaler.schema import Call, Json, Rollout, Scenario, Skeleton, Step, read_loosely
from envscaler.world.action import read_action
from envscaler.world.change import State, copied, same, unescaped
from envscaler.world.environment import Environment
from envscaler.world.replay import made_again


@dataclass(frozen=True)
class Retraced:
    """The states of an episode."""

    states: list[State]
    """At reset, then after each step."""
    way: str
    """How they were had: `diffs` or `replay`."""
    certain: bool | None
    """Whether they lead to the recorded final state; None where there is none to hold them against."""


def retrace(rollout: Rollout, scenario: Scenario, skeleton: Skeleton | None = None) -> Retraced:
    """The states an episode went through.

    Args:
        rollout: the episode.
        scenario: where it was played.
        skeleton: its world; without it nothing is executed, and the first state is the scenario's.
    """
    # An episode that was lost has no final state of its own, and one of somebody else none at all.
    final = None if rollout.ending == "failed" else rollout.final_state or None
    recorded = _recorded(rollout, scenario, skeleton, final)
    if recorded.certain or skeleton is None or (final is None and any(s.diff for s in rollout.trajectory)):
        best = recorded
    else:
        made = _by_replay(rollout, scenario, skeleton)
        best = Retraced(made, "replay", _leads_to(made, final))
    if best.certain is False and final is not None and rollout.steps:
        best = Retraced([*best.states[:-1], final], best.way, False)
    return best


def _recorded(
    rollout: Rollout, scenario: Scenario, skeleton: Skeleton | None, final: State | None
) -> Retraced:
    try:
        states = _by_diffs(_first(scenario, skeleton, rollout.seed), rollout.trajectory)
    except EnvscalerError:
        return Retraced([scenario.initial_state] * (rollout.steps + 1), "diffs", False)
    return Retraced(states, "diffs", _leads_to(states, final))


def patched(state: State, diff: Mapping[str, Json]) -> State:
    """The state after a recorded change; see `change` for the grammar. The one given stays as it is.

    Raises:
        ParameterError: the change does not fit the state.
    """
    after = dict(state)
    own: set[str] = set()
    for where, change in diff.items():
        name, slash, key = where.partition("/")
        name = unescaped(name)
        try:
            if not slash:
                _put(after, name, change)
                continue
            if name not in own:
                after[name] = copied(after[name])
                own.add(name)
            _put(after[name], unescaped(key), change)
        except (KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
            raise ParameterError(f"The change of {where!r} does not fit the state: {error!r}.") from error
    return after


def _put(holder: Json, key: str, change: Json) -> None:
    """Carry out one change in a table or in the state."""
    place = int(key) if isinstance(holder, list) else key
    if "removed" in change:
        # Of a list, what is removed is its tail, from the first place on.
        if isinstance(holder, list):
            del holder[int(key) :]
        else:
            del holder[key]
    if "added" in change:
        if isinstance(holder, list):
            holder.insert(int(key), copied(change["added"]))
        else:
            holder[key] = copied(change["added"])
    if "changed" in change:
        holder[place] = _changed(holder[place], change["changed"])


def _changed(old: Json, change: Json) -> Json:
    if isinstance(change, list):
        _, new = change
        return copied(new)
    return {**old, **{field: copied(new) for field, (_, new) in change.items()}}


def _first(scenario: Scenario, skeleton: Skeleton | None, seed: int) -> State:
    if skeleton is None:
        return scenario.initial_state
    with Environment(skeleton, scenario, seed=seed) as environment:
        return environment.initial_state


def _by_diffs(state: State, steps: list[Step]) -> list[State]:
    states = [state]
    for step in steps:
        states.append(patched(states[-1], step.diff) if step.diff else states[-1])
    return states


def _by_replay(rollout: Rollout, scenario: Scenario, skeleton: Skeleton) -> list[State]:
    states = [scenario.initial_state]
    steps = [list(calls_in(step)) for step in rollout.trajectory]
    try:
        with Environment(skeleton, scenario, seed=rollout.seed) as environment:
            environment.reset()
            states = [environment.state]
            # With ids that were made anew since put in the place of those of then.
            made = made_again(environment, chain.from_iterable(steps))
            for calls in steps:
                for _ in calls:
                    next(made)
                states.append(environment.state if calls else states[-1])
    except EnvscalerError:
        states += [states[-1]] * (rollout.steps + 1 - len(states))
    return states


def calls_in(step: Step) -> Iterator[tuple[Call, Json]]:
    """The calls of a step that could be read, each with its reply; the others changed nothing."""
    replies = step.observation if isinstance(step.observation, list) else []
    for place, call in enumerate(read_action(step.action).calls):
        told = call.arguments or {}
        given = read_loosely(told) if isinstance(told, str) else told
        reply = replies[place] if place < len(replies) else None
        if not call.problem and isinstance(call.name, str) and isinstance(given, dict):
            content = reply.get("content") if isinstance(reply, dict) else reply
            yield Call(tool=call.name, arguments=given), content


def _leads_to(states: list[State], final: State | None) -> bool | None:
    return None if final is None else same(_without_nulls(states[-1]), _without_nulls(final))


def _without_nulls(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value
