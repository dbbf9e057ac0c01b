"""Faults as they are made: a method with one seeded, realistic mistake in it.

The mistakes are those of real generated code: a validation left out, a bound off by one, a field not
written, a sign or a status wrong, a change made before it was checked, an argument ignored. They are made
in the text of the method, so what was not touched reads as before. A method that offers no place for any
comes back as it was.

This module does not decide whether to err (`author` does) and knows no domain.
"""

import ast
from collections.abc import Callable, Iterator

from envscaler import syntax
from envscaler.model.builtin.pattern import Rng, pick, shuffled

Edit = tuple[int, int, str]
"""First and last line (from 0, inclusive) to replace, and the text."""


def spoil(method: str, rng: Rng) -> str:
    """The method with one fault."""
    body = syntax.parse(method).body
    lines = method.splitlines()
    for kind in shuffled(rng, list(KINDS)):
        edits = [edit for node in body for edit in KINDS[kind](node, lines)]
        if edits:
            spoiled = edited(lines, pick(rng, edits))
            if spoiled and spoiled != method:
                return spoiled
    return method


def edited(lines: list[str], edit: Edit) -> str:
    """The text with one edit made; empty where that is no code any more."""
    first, last, text = edit
    made = "\n".join([*lines[:first], *([text] if text else []), *lines[last + 1 :]]) + "\n"
    try:
        syntax.parse(made)
    except SyntaxError:
        return ""
    return made


def _refusals(tree: ast.AST) -> Iterator[ast.If]:
    """Validations: an `if` that does nothing but refuse, for another reason than a missing record."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.If) or node.orelse or not isinstance(node.body[0], ast.Return):
            continue
        test = ast.unparse(node.test)
        if "is None" not in test and " not in self." not in test:
            yield node


def _drop_validation(tree: ast.AST, lines: list[str]) -> Iterator[Edit]:
    for node in _refusals(tree):
        yield node.lineno - 1, (node.end_lineno or node.lineno) - 1, ""


def _off_by_one(tree: ast.AST, lines: list[str]) -> Iterator[Edit]:
    swaps = {" <= ": " < ", " >= ": " > ", " < ": " <= ", " > ": " >= "}
    for node in _refusals(tree):
        line = lines[node.lineno - 1]
        for old, new in swaps.items():
            if line.count(old) == 1 and line.strip().startswith("if "):
                yield node.lineno - 1, node.lineno - 1, line.replace(old, new)


def _writes(tree: ast.AST) -> Iterator[ast.Assign | ast.AugAssign]:
    """Statements that change a field of a record."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                yield node


def _drop_write(tree: ast.AST, lines: list[str]) -> Iterator[Edit]:
    writes = list(_writes(tree))
    for node in writes if len(writes) > 1 else []:
        yield node.lineno - 1, (node.end_lineno or node.lineno) - 1, ""


def _wrong_sign(tree: ast.AST, lines: list[str]) -> Iterator[Edit]:
    for node in _writes(tree):
        line = lines[node.lineno - 1]
        for old, new in ((" += ", " -= "), (" -= ", " += ")):
            if isinstance(node, ast.AugAssign) and old in line:
                yield node.lineno - 1, node.lineno - 1, line.replace(old, new)


def _wrong_status(tree: ast.AST, lines: list[str]) -> Iterator[Edit]:
    for node in _writes(tree):
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
            line = lines[node.lineno - 1]
            yield node.lineno - 1, node.lineno - 1, line.replace(f'"{value.value}"', '"done"')


def _early_change(tree: ast.AST, lines: list[str]) -> Iterator[Edit]:
    """A write moved before the last validation."""
    refusals = sorted(_refusals(tree), key=lambda node: node.lineno)
    top = [node for node in getattr(tree, "body", []) if node in list(_writes(tree))]
    if not refusals or not top or refusals[-1].col_offset != top[0].col_offset:
        return
    write, last = top[0], refusals[-1]
    names = {n.id for n in ast.walk(write) if isinstance(n, ast.Name)}
    known = {n.id for node in getattr(tree, "body", []) if node.lineno < last.lineno for n in ast.walk(node)
             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip
    arguments = {
        argument.arg for argument in getattr(tree, "args", ast.arguments([], [], None, [], [], None, [])).args
    }
    if write.lineno > last.lineno and names <= known | arguments | {"self", "round"}:
        first, end = last.lineno - 1, (write.end_lineno or write.lineno) - 1
        moved = lines[write.lineno - 1 : end + 1]
        yield first, end, "\n".join([*moved, *lines[first : write.lineno - 1]])


def _ignored_filter(tree: ast.AST, lines: list[str]) -> Iterator[Edit]:
    """One condition of a selection left out."""
    for number, line in enumerate(lines):
        if line.strip().startswith("and ") and " in (None, " in line and line.rstrip().endswith(")"):
            yield number, number, ""


KINDS: dict[str, Callable[[ast.AST, list[str]], Iterator[Edit]]] = {
    "validation left out": _drop_validation,
    "bound off by one": _off_by_one,
    "field not written": _drop_write,
    "wrong sign": _wrong_sign,
    "wrong status": _wrong_status,
    "change before check": _early_change,
    "filter ignored": _ignored_filter,
}
