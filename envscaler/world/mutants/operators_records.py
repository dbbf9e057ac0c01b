"""Faults of records and their units: an index left behind, errors swallowed, ids doubled, units mistaken.

Each operator says where in a method its fault fits; whether it changes anything is found out by running (`sources`).
"""

import ast
from collections.abc import Iterator

from envscaler.world.mutants.kinds import Difference, accepted, kind
from envscaler.world.mutants.method import CHANGERS, Change, Method, Write, bindings, replaced
from envscaler.world.witness import succeeded

FACTORS = {
    "100": "price cost amount balance fee total rate salary budget allowance deposit meter length height width depth",
    "1000": "second weight kg gram ml liter litre dose dosage volume distance km",
    "60": "minute hour duration", "24": "day", "7": "week", "30": "month", "0.01": "percent", "1.8": "temperature",
    "10": "score rating", "12": "quantity", "1024": "size",
}  # fmt: skip
"""What a quantity is multiplied with when its unit is mistaken: factor → words in its name."""


@kind("wrong unit", "judge", "In which unit a number is kept, only its description says.")
def wrong_unit(method: Method) -> Iterator[Change]:
    """A quantity written or compared in cents for euros, minutes for hours, grams for kilograms."""
    for name, node in _quantities(method):
        fitting = (f for f, words in FACTORS.items() if any(word in name.lower() for word in words.split()))
        factor = next(fitting, None)
        if factor and not (isinstance(node, ast.Constant) and node.value == 0):
            told = f"{name} is taken in a unit that is {factor} times another one."
            yield Change((replaced(node, f"({method.text(node)}) * {factor}"),), told)
    for part in ast.walk(method.node):
        match part:
            case ast.Call(func=ast.Name(id="timedelta") | ast.Attribute(attr="timedelta"), keywords=[word]):
                other = {"days": "hours", "hours": "minutes", "minutes": "seconds", "weeks": "days"}.get(
                    word.arg or ""
                )
                if other:
                    text = f"{method.text(part.func)}({other}={method.text(word.value)})"
                    yield Change((replaced(part, text),), f"{word.arg} are taken for {other}.")


def _quantities(method: Method) -> Iterator[tuple[str, ast.expr]]:
    """Numbers that are written into a field or compared, with the name of what they are."""
    for part in ast.walk(method.node):
        match part:
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str(field)))], value=value):
                written = [(field, value)] if part in method.writes else []
            case ast.AugAssign(target=ast.Subscript(slice=ast.Constant(value=str(field))), value=value):
                written = [(field, value)] if part in method.writes else []
            case ast.Dict():
                both = zip(part.keys, part.values, strict=True)
                written = [(str(k.value), v) for k, v in both if isinstance(k, ast.Constant)]
            case ast.Compare(
                left=ast.Name(id=name) as left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]
            ):
                written = [(name, left)] if method.is_number(left) else []
            case _:
                written = []
        yield from ((name, value) for name, value in written if _is_quantity(method, name, value))


def _is_quantity(method: Method, field: str, value: ast.expr) -> bool:
    types = method.world.types(field)
    return method.is_number(value) or (bool(types) and types <= {"int", "float"})


@kind(
    "swallowed error",
    "execution",
    "What is refused for good reason, an unknown id above all, is answered with success, and nothing is done.",
    proof=lambda d: accepted(d) and not d.diff,
)
def swallowed_error(method: Method) -> Iterator[Change]:
    """A refusal that reports success instead."""
    reply = (
        '{"success": True, "message": "Done."}' if method.tool.mutates else '{"success": True, "data": []}'
    )
    for guard in method.guards:
        last = guard.body[-1]
        if isinstance(last, ast.Return) and (method.tool.mutates or method.asks_existence(guard)):
            told = f"The refusal of line {last.lineno} is reported as a success."
            yield Change((replaced(last, f"return {reply}"),), told)


def _overwrites(difference: Difference) -> bool:
    """An existing record changes, where the original adds one or refuses."""
    replaced_ = {where for where, change in difference.diff.items() if "changed" in change and "/" in where}
    known = {where for where, change in difference.expected_diff.items() if "changed" in change}
    return not difference.raised and succeeded(difference.reply) and bool(replaced_ - known)


@kind(
    "duplicate id accepted",
    "execution",
    "A call that adds a record puts it in the place of another one.",
    proof=_overwrites,
)
def duplicate_id_accepted(method: Method) -> Iterator[Change]:
    """A check for ids in use left out, or an id made that is in use."""
    for guard in method.guards:
        if method.asks_novelty(guard):
            yield Change((replaced(guard, "pass"),), "Whether the id is in use is not asked.")
    for table in sorted({t for node in method.writes if (t := _added_to(node))}):
        for node in ast.walk(method.node):
            if isinstance(node, ast.expr) and _makes_an_id(node, table):
                text = f"(max(self.{table}) if self.{table} else {method.text(node)})"
                yield Change((replaced(node, text),), f"A new record of {table} gets the highest id in use.")


def _added_to(node: Write) -> str | None:
    """The table that a statement puts a whole record into."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=table))]):
            return table
    return None


def _makes_an_id(node: ast.expr, table: str) -> bool:
    """Whether an id is made out of a table: `self._next_id(self.table, …)`, `f"x_{len(self.table) + 1}"`."""
    if isinstance(node, ast.JoinedStr):
        return f"len(self.{table})" in ast.unparse(node)
    match node:
        case ast.Call(func=ast.Attribute(attr=attr), args=arguments) if "id" in attr:
            return f"self.{table}" in map(ast.unparse, arguments)
    return False


@kind(
    "stale index",
    "rule",
    "That two places belong together is known to who is told so; the state shows it where a rule says it.",
    proof=lambda d: not d.raised and succeeded(d.reply) and succeeded(d.expected),
)
def stale_index(method: Method) -> Iterator[Change]:
    """What a second place keeps of a change, an entry in a list, a count or a last date, is left as it was."""
    moved = {_table_of(method, node) for node in method.writes if _moves_records(method, node)}
    for node in method.writes:
        table = _table_of(method, node)
        others = {_table_of(method, other) for other in method.writes if other is not node}
        entry = _is_entry(method, node) and bool(others)
        if entry or (_is_field(method, node) and moved - {table, None} and table not in moved):
            told = f"Line {node.lineno} no longer brings {table} up to date."
            yield Change((replaced(node, "pass"),), told)


def _table_of(method: Method, node: Write) -> str | None:
    target = method.written(node)
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return target.attr
    inner = target.value if isinstance(target, ast.Subscript) else target
    return method.root(inner) if inner is not None else None


def _moves_records(method: Method, node: Write) -> bool:
    """Whether whole records come into a table or go out of it."""
    target = method.written(node)
    container = target.value if isinstance(target, ast.Subscript) else target
    own = isinstance(container, ast.Attribute) and method.root(container) is not None
    return own and not _is_field(method, node)


def _is_field(method: Method, node: Write) -> bool:
    match node:
        case (
            ast.Assign(targets=[ast.Subscript(slice=ast.Constant())])
            | ast.AugAssign(target=ast.Subscript(slice=ast.Constant()))
        ):
            return True
    return False


def _is_entry(method: Method, node: Write) -> bool:
    """Whether a statement adds an entry to a list or look-up inside the state, or takes one out; no whole record."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr, value=container), args=arguments)):
            plain = not any(isinstance(a, ast.Dict) or _is_record(method, a) for a in arguments)
            nested = not isinstance(container, ast.Attribute)
            return attr in CHANGERS - {"update", "sort", "reverse", "clear"} and plain and nested
        case ast.Delete(targets=[ast.Subscript(value=container, slice=key)]):
            return not isinstance(container, ast.Attribute) and not isinstance(key, ast.Constant)
        case ast.Assign(targets=[ast.Subscript(value=container, slice=key)], value=value):
            inner = not isinstance(container, ast.Attribute) or isinstance(value, ast.Name | ast.Constant)
            return inner and not isinstance(key, ast.Constant) and not _is_record(method, value)
    return False


def _is_record(method: Method, value: ast.expr) -> bool:
    """Whether a value is a record: a dict, or a name that is bound to one."""
    bound = {name: v for node in method.statements for name, v in bindings(node)}
    value = bound.get(value.id, value) if isinstance(value, ast.Name) else value
    copied = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "dict"
    return isinstance(value, ast.Dict) or copied or method.root(value) is not None
