"""Values of a witness that nobody could have known: generated ids become references to the replies that show them.

A search finds its calls with the state in sight and so names ids as they are. With another seed they are others,
and no agent could have guessed them. Each such value is replaced by a reference to an earlier reply that holds
it, and where none does, a read that does is put before the call.
"""

from collections.abc import Iterator
from typing import Any

from envscaler.record import FROM, canonical
from envscaler.schema import Call, Json, Scenario, Skeleton
from envscaler.searching.proposing import Proposer
from envscaler.world.change import State
from envscaler.world.environment import Environment
from envscaler.world.witness import play, succeeded

_READS = 12
"""Calls of each read that are tried to find where a value is shown."""


def with_references(
    skeleton: Skeleton, scenario: Scenario, witness: list[Call], proposer: Proposer, seed: int
) -> list[Call]:
    """The witness with references in the place of generated values; as it was where there are none.

    Args:
        skeleton: the world it plays in.
        scenario: what it solves.
        witness: calls with literal arguments.
        proposer: where arguments of reads come from.
        seed: of the environment the calls were found in.
    """
    with Environment(skeleton, scenario, seed=seed) as environment:
        environment.reset()
        given = set(_texts(environment.initial_state))
        known = canonical([scenario.task, [check.source for check in scenario.checks]])
        made: list[Call] = []
        replies: list[Json] = []
        for call in witness:
            unknown = [
                t for t in _texts(call.arguments) if t not in given and canonical(t)[1:-1] not in known
            ]
            for text in dict.fromkeys(unknown):
                if _place(text, replies) is None:
                    _read(skeleton, environment, proposer, text, made, replies)
            made.append(Call(tool=call.tool, arguments=_referring(call.arguments, set(unknown), replies)))
            replies += play(environment, [call]).replies
    return made


def _read(
    skeleton: Skeleton,
    environment: Environment,
    proposer: Proposer,
    text: str,
    made: list[Call],
    replies: list[Json],
) -> None:
    """Make the first read whose reply shows the text."""
    for call in proposer.reads(skeleton, environment.state, _READS):
        if text in _texts(call.arguments):
            continue
        reply, diff, _ = environment.attempt(call.tool, call.arguments)
        if succeeded(reply) and not diff and _place(text, [reply]) is not None:
            made.append(call)
            replies += play(environment, [call]).replies
            return


def _referring(value: Json, unknown: set[str], replies: list[Json]) -> Any:
    if isinstance(value, dict):
        return {key: _referring(part, unknown, replies) for key, part in value.items()}
    if isinstance(value, list):
        return [_referring(part, unknown, replies) for part in value]
    way = _place(value, replies) if isinstance(value, str) and value in unknown else None
    return value if way is None else {FROM: way}


def _place(text: str, replies: list[Json]) -> list[Json] | None:
    """Where in the replies a text stands as a value, as a reference says it."""
    todo: list[tuple[list[Json], Json]] = [([], replies)]
    while todo:
        way, value = todo.pop(0)
        if isinstance(value, str) and value == text:
            return way
        if isinstance(value, dict):
            todo += [([*way, key], part) for key, part in value.items()]
        elif isinstance(value, list):
            todo += [([*way, place], part) for place, part in enumerate(value)]
    return None


def _texts(value: Json | State) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (key for key in value if isinstance(key, str))
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
