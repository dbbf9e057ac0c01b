"""What looks wrong in a source, before anything is run.

A hint for authors and audits. It is no boundary: code can get past any such list, and the sandbox is what holds it.
"""

import ast
import re
from collections.abc import Iterator

from envscaler.error import SourceError
from envscaler.schema import Finding
from envscaler.world.docstring import arguments_of, parameter_descriptions
from envscaler.world.sandbox.allowed import ALLOWED, HIDDEN
from envscaler.world.tree import Function, find_class, functions, is_tool, parse_tree

_REACHES = re.compile(r"__\w+__|[a-z]{2}_(frame|code|globals|back)")
_HARMLESS = frozenset({"__init__", "__name__", "__class__", "__dict__", "__annotations__"})


def lint(source: str, class_name: str | None = None) -> list[Finding]:
    """What looks wrong in a source: each finding with its line; errors first.

    A hint for authors and audits. It is no boundary: code can get past any such list.
    """
    try:
        tree = parse_tree(source)
        node = find_class(tree, class_name)
    except SourceError as error:
        return [Finding(kind="no-source", severity="error", where="source", message=str(error))]
    found = [*_lint_names(tree), *_lint_top(tree, node), *_lint_class(node), *_lint_tools(node)]
    order = {"error": 0, "warning": 1, "note": 2}
    return sorted(found, key=lambda finding: order[finding.severity])


def _finding(kind: str, severity: str, node: ast.AST, message: str) -> Finding:
    line = getattr(node, "lineno", 1)
    return Finding.model_validate(
        {"kind": kind, "severity": severity, "where": f"line {line}", "message": f"line {line}: {message}"}
    )


def _lint_names(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        for name in _imported(node):
            if name not in ALLOWED:
                yield _finding(
                    "import",
                    "error",
                    node,
                    f"{name} cannot be imported; allowed: {', '.join(sorted(ALLOWED))}.",
                )
        if isinstance(node, ast.Name) and node.id in HIDDEN | {"globals", "__import__", "__builtins__"}:
            yield _finding("builtin", "error", node, f"{node.id} is not there for an environment.")
        if isinstance(node, ast.Attribute) and _REACHES.fullmatch(node.attr) and node.attr not in _HARMLESS:
            yield _finding("dunder", "warning", node, f"{node.attr} reaches into the interpreter.")


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return []


def _lint_top(tree: ast.Module, node: ast.ClassDef) -> Iterator[Finding]:
    calm = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign)
    for part in tree.body:
        is_text = isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
        if not isinstance(part, calm) and not is_text:
            yield _finding("top-level", "warning", part, "a statement outside the class runs at import.")


def _lint_class(node: ast.ClassDef) -> Iterator[Finding]:
    for part in node.body:
        value = getattr(part, "value", None)
        if isinstance(part, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Dict | ast.List | ast.Set):
            yield _finding(
                "class-state",
                "warning",
                part,
                "state on the class is not part of the state; set it in __init__.",
            )
    for name, line in _private_state(node):
        message = f"{name} is not part of the state that is seen and graded."
        yield _finding("private-state", "note", line, message)
    names = [f.name for f in node.body if isinstance(f, Function)]
    for function in (f for f in node.body if isinstance(f, Function)):
        if names.count(function.name) > 1:
            yield _finding(
                "twice",
                "warning",
                function,
                f"{function.name} is defined more than once; the last one counts.",
            )


def _private_state(node: ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    for part in ast.walk(node):
        if (
            isinstance(part, ast.Attribute)
            and isinstance(part.ctx, ast.Store)
            and part.attr.startswith("_")
            and isinstance(part.value, ast.Name)
            and part.value.id == "self"
        ):
            yield f"self.{part.attr}", part


def _lint_tools(node: ast.ClassDef) -> Iterator[Finding]:
    tools = [f for f in functions(node) if is_tool(f)]
    if not tools:
        yield _finding(
            "no-tools", "error", node, f"{node.name} has no public method, so there is nothing to call."
        )
    for function in tools:
        doc = ast.get_docstring(function)
        told = parameter_descriptions(doc or "")
        if not doc:
            yield _finding("no-docstring", "warning", function, f"{function.name} has no docstring.")
        for argument, _ in arguments_of(function):
            if argument.annotation is None:
                yield _finding(
                    "no-type", "warning", function, f"{function.name}: {argument.arg} has no annotation."
                )
            if argument.arg not in told:
                yield _finding(
                    "no-description", "note", function, f"{function.name}: {argument.arg} is not described."
                )
        if function.args.vararg or function.args.kwarg:
            yield _finding(
                "star", "warning", function, f"{function.name} takes * arguments, which no schema can say."
            )
