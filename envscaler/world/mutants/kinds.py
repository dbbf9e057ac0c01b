"""The register of fault kinds: a name, how such a fault is put into a method, and which layer can see it at all.

Operators register themselves with `@kind`, those of other modules too. This module plants nothing (`sources` does).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from envscaler.error import ParameterError
from envscaler.schema import Call, Json
from envscaler.world.mutants.method import Change, Method
from envscaler.world.witness import succeeded

Shown = Literal["execution", "rule", "judge"]
"""Who can see it: whoever runs the code; whoever also has an invariant that it breaks; only who knows what is meant."""
Operator = Callable[[Method], Iterator[Change]]


@dataclass(frozen=True)
class Difference:
    """One call that comes out differently in a mutant, from the same state."""

    call: Call
    """The call."""
    expected: Json
    """What the original replied."""
    expected_diff: dict[str, Json]
    """What the original changed."""
    reply: Json
    """What the mutant replied."""
    diff: dict[str, Json]
    """What the mutant changed."""
    raised: bool
    """Whether the mutant raised, hung or crashed."""


@dataclass(frozen=True)
class Kind:
    """One kind of fault."""

    name: str
    """What is wrong, in two or three words."""
    shown: Shown
    """Who can see it."""
    why: str
    """Why so."""
    operator: Operator
    """The places of a method where it can be planted, each with its edits."""
    proof: Callable[[Difference], bool]
    """Whether a difference is one of this kind; others do not make a mutant of it."""


KINDS: dict[str, Kind] = {}
"""All kinds by name, in the order in which they were registered."""


def any_difference(difference: Difference) -> bool:
    """Every difference is a proof, unless the mutant just breaks down."""
    return not difference.raised


def accepted(difference: Difference) -> bool:
    """What the original refuses is done."""
    return not difference.raised and succeeded(difference.reply) and not succeeded(difference.expected)


def kind(
    name: str, shown: Shown, why: str, *, proof: Callable[[Difference], bool] = any_difference
) -> Callable[[Operator], Operator]:
    """Register an operator under a kind's name.

    Args:
        name: the kind.
        shown: who can see it.
        why: why so.
        proof: which differences from the original are of this kind.

    Raises:
        ParameterError: the name is taken.
    """

    def registered(operator: Operator) -> Operator:
        if name in KINDS:
            raise ParameterError(f"Expected a new name for a kind of fault, got {name!r}, which is taken.")
        KINDS[name] = Kind(name, shown, why, operator, proof)
        return operator

    return registered
