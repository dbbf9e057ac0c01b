"""Faults in what a method checks: a validation, an existence check or a rule weakened, a bound off by one.

Each operator says where in a method its fault fits; whether it changes anything is found out by running (`sources`).
"""

import ast
from collections.abc import Iterator

from envscaler.world.mutants.kinds import accepted, kind
from envscaler.world.mutants.method import Change, Method, names, replaced


@kind(
    "missing validation",
    "judge",
    "What values an argument may have, only its description says.",
    proof=accepted,
)
def missing_validation(method: Method) -> Iterator[Change]:
    """A guard that looks at arguments alone, left out or with one of its conditions left out."""
    for guard in method.guards:
        if names(guard.test) & method.parameters.keys() and not method.reads_state(guard.test):
            yield from _weakened(method, guard)


@kind(
    "missing existence check",
    "execution",
    "Something that is nowhere in the state is asked for, and the tool breaks down or does as if it were there.",
    proof=lambda d: d.raised or accepted(d),
)
def missing_existence_check(method: Method) -> Iterator[Change]:
    """A guard against ids that are not there, left out."""
    for guard in method.guards:
        if method.asks_existence(guard):
            yield _without(method, guard)


@kind(
    "rule not enforced",
    "rule",
    "The state shows it where the rule has an invariant that the call breaks.",
    proof=accepted,
)
def rule_not_enforced(method: Method) -> Iterator[Change]:
    """A guard that looks at the state for more than existence, weakened or left out."""
    for guard in method.guards:
        plain = method.asks_existence(guard) or method.asks_novelty(guard)
        if method.reads_state(guard.test) and not plain:
            yield from _weakened(method, guard)
            yield from _one_value_less(method, guard)


def _without(method: Method, guard: ast.If) -> Change:
    return Change((replaced(guard, "pass"),), f"The check `{_short(method, guard.test)}` is left out.")


def _weakened(method: Method, guard: ast.If) -> Iterator[Change]:
    """The guard left out, or one of its alternatives."""
    yield _without(method, guard)
    if isinstance(guard.test, ast.BoolOp) and isinstance(guard.test.op, ast.Or):
        for place, part in enumerate(guard.test.values):
            rest = [method.text(v) for n, v in enumerate(guard.test.values) if n != place]
            told = f"The check no longer asks `{_short(method, part)}`."
            yield Change((replaced(guard.test, f"({' or '.join(rest)})"),), told)


def _one_value_less(method: Method, guard: ast.If) -> Iterator[Change]:
    """Of several values that a guard refuses, one is forgotten."""
    for node in ast.walk(guard.test):
        match node:
            case ast.Compare(ops=[ast.In()], comparators=[ast.Tuple() | ast.List() | ast.Set() as values]):
                for part in values.elts if len(values.elts) > 1 else []:
                    rest = ", ".join(method.text(v) for v in values.elts if v is not part)
                    told = f"{method.text(part)} is no longer among what is refused."
                    yield Change((replaced(values, f"({rest},)"),), told)


@kind(
    "off by one",
    "rule",
    "One more or less is wrong only by a rule; where that has an invariant, the state shows it.",
)
def off_by_one(method: Method) -> Iterator[Change]:
    """A bound, a count or a slice that is one too large or too small."""
    for node in _reckoned(method):
        for step in (1, -1):
            text = _moved(method, node, step)
            told = f"`{_short(method, node)}` in line {node.lineno} has become `{text}`."
            yield Change((replaced(node, text),), told)


def _reckoned(method: Method) -> Iterator[ast.expr]:
    """Numbers that bound, count or cut something."""
    for node in ast.walk(method.node):
        match node:
            case ast.Compare(
                left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[bound]
            ):
                if method.is_number(bound) and not isinstance(left, ast.Constant):
                    yield bound
            case ast.AugAssign(value=ast.Constant() as step) if method.is_number(step):
                yield step
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=ast.Constant(value=int() as step)):
                if method.is_number(left) and not isinstance(step, bool):
                    yield node.right
            case ast.Subscript(slice=ast.Slice(upper=ast.expr() as bound)) if method.is_number(bound):
                yield bound


def _moved(method: Method, node: ast.expr, step: int) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(node.value + step)
    return f"({method.text(node)} {'+' if step > 0 else '-'} 1)"


def _short(method: Method, node: ast.expr) -> str:
    text = " ".join(method.text(node).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
