"""States to begin in: asked of a model, tried by execution, and refused with a reason.

A state must hold what the skeleton's entities say, load into its class, and keep the rules that can be decided
of a state alone. Audits and scenarios both begin here. This module invents no data and mends none.
"""

from collections.abc import Callable, Sequence

from envscaler.error import ParameterError, SourceError
from envscaler.model.reply import JsonObject
from envscaler.model.request import Model
from envscaler.model.revise import ask_usable
from envscaler.schema import Finding, Json, Rule, Skeleton
from envscaler.world.check import broken_invariants
from envscaler.world.environment import Environment
from envscaler.world.outline import state_problem


def ask_state(
    skeleton: Skeleton,
    model: Model,
    step: str,
    *,
    sample: int,
    problem: Callable[[dict[str, Json]], str],
    feedback: str = "",
    again: Callable[[str], None] | None = None,
) -> dict[str, Json]:
    """A state of this skeleton by a model: one without a `problem`; see `ask_usable`.

    Raises:
        PartRefused: there still is one after the last try.
    """
    variables = {
        "title": skeleton.title,
        "summary": skeleton.summary,
        "class_source": skeleton.source,
        "entities": skeleton.state,
        "rules": [rule.text for rule in skeleton.rules],
    }
    state = ask_usable(
        model, step, variables, JsonObject, problem, sample=sample, feedback=feedback, again=again
    )
    # As the class has it at reset: with what its `__init__` adds to the state it is given.
    with Environment(skeleton, state) as environment:
        return environment.initial_state


def loading_problem(skeleton: Skeleton, state: dict[str, Json]) -> str:
    """Why a state cannot be used, or "": unknown names, incomplete records, or it does not load."""
    if problem := state_problem(skeleton, state):
        return problem
    try:
        with Environment(skeleton, state) as environment:
            environment.reset()
    except (SourceError, ParameterError) as error:
        return f"The state does not load: {error}"
    return ""


def start_problem(skeleton: Skeleton, state: dict[str, Json]) -> str:
    """Why an environment should not begin in a state, or "": it cannot be used, or it breaks rules."""
    return loading_problem(skeleton, state) or " ".join(
        finding.message for finding in broken_rules(skeleton.rules, state)
    )


def broken_rules(rules: Sequence[Rule], state: dict[str, Json]) -> list[Finding]:
    """The rules a state breaks when it is looked at on its own."""
    found = broken_invariants(rules, state, state, None)
    return [finding for finding in found if finding.kind == "invariant"]
