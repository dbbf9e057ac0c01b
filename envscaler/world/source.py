"""Reading and joining the source of an environment, by its syntax tree alone: nothing here is ever executed.

A class comes in as text, written by a model or by a person. This module finds its parts (`parse_class`),
turns its public methods into tool schemas (`read_tools`; the types are read in `annotations`, the effects in
`effects`), joins a class and methods that were written one by one (`assemble`, `replace_method`), and lists
what looks wrong (`lint`, which is a hint and no boundary: the sandbox is the boundary). It does not judge
what the code does.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from envscaler.error import SourceError
from envscaler.schema import Finding, Tool
from envscaler.world.annotations import Types, key_levels
from envscaler.world.effects import writers
from envscaler.world.sandbox.allowed import ALLOWED, HIDDEN

MOST_CHARACTERS = 400_000
"""Longest source that is read; the longest published one has 47,397 characters."""
MOST_DESCRIPTION = 1024
"""Characters that OpenAI's function schema allows a description."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class MethodSource:
    """One method of a class, as text."""

    name: str
    """Its name."""
    source: str
    """Its source with decorators, at the indentation of the left margin."""
    doc: str
    """Its docstring, cleaned; empty where there is none."""
    line: int
    """The line it begins at."""
    public: bool
    """Whether it is a tool: a plain method whose name has no leading underscore."""


@dataclass(frozen=True)
class ClassSource:
    """An environment's class, taken apart."""

    class_name: str
    """The class."""
    methods: dict[str, MethodSource]
    """Its methods in source order, `__init__` included; of two with one name the last, as in Python."""
    head: str
    """From the start of the file to the end of `__init__`."""
    doc: str
    """The class's docstring, cleaned."""
    key_types: dict[str, list[str]]
    """Tables whose keys are not all text: attribute → type of the keys at each level of nesting."""


def parse_tree(source: str) -> ast.Module:
    """The syntax tree.

    Raises:
        SourceError: it is too long or does not parse.
    """
    if len(source) > MOST_CHARACTERS:
        raise SourceError(
            f"Expected a source of at most {MOST_CHARACTERS:,} characters, got {len(source):,}."
        )
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise SourceError(f"line {error.lineno}: the source does not parse: {error.msg}.") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"line 1: the source does not parse: {error}.") from None


def find_class(tree: ast.Module, class_name: str | None = None) -> ast.ClassDef:
    """The environment's class: the one of that name, else the one with most public methods.

    Raises:
        SourceError: there is none.
    """
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    named = [node for node in classes if node.name == class_name]
    if named:
        return named[-1]
    if class_name is not None:
        names = ", ".join(node.name for node in classes) or "no class"
        raise SourceError(f"line 1: expected a class {class_name}, got {names}.")
    ranked = sorted(classes, key=lambda node: sum(is_tool(f) for f in functions(node)), reverse=True)
    if not ranked:
        raise SourceError("line 1: expected a class, got none.")
    with_init = [node for node in ranked if any(f.name == "__init__" for f in functions(node))]
    return ranked[0] if any(is_tool(f) for f in functions(ranked[0])) else (with_init or ranked)[0]


def functions(node: ast.ClassDef) -> list[Function]:
    """The methods of a class in source order; of two with one name only the last, as in Python."""
    found = {f.name: f for f in node.body if isinstance(f, Function)}
    return [f for f in node.body if isinstance(f, Function) and found[f.name] is f]


def is_tool(function: Function) -> bool:
    """Whether a method is a tool: public, and no property or other accessor."""
    names = {ast.unparse(d).split("(")[0].split(".")[-1] for d in function.decorator_list}
    return not function.name.startswith("_") and not names & {
        "property",
        "cached_property",
        "setter",
        "deleter",
    }


def parse_class(source: str, class_name: str | None = None) -> ClassSource:
    """Take a class apart.

    Args:
        source: the whole Python source.
        class_name: the class; None for the one that has the most public methods.

    Raises:
        SourceError: it does not parse, or has no such class; the message has the line.
    """
    tree = parse_tree(source)
    node = find_class(tree, class_name)
    lines = source.splitlines()
    methods = {f.name: _method(f, lines) for f in functions(node)}
    init = next((f for f in functions(node) if f.name == "__init__"), None)
    end = init.end_lineno if init else _first_line(next(iter(functions(node)), node)) - 1
    head = "\n".join(lines[: end or node.lineno])
    doc = ast.get_docstring(node) or ""
    return ClassSource(node.name, methods, head, doc, key_levels(tree, node))


def _first_line(node: Function | ast.ClassDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _method(function: Function, lines: list[str]) -> MethodSource:
    text = _text_of(function, lines)
    return MethodSource(
        function.name, text, ast.get_docstring(function) or "", _first_line(function), is_tool(function)
    )


def _text_of(function: Function, lines: list[str]) -> str:
    return textwrap.dedent("\n".join(lines[_first_line(function) - 1 : function.end_lineno]))


# Tools


def read_tools(source: str, class_name: str | None, mutates: Mapping[str, bool] | None = None) -> list[Tool]:
    """The tools of a class: its public methods, with schemas that OpenAI and Gemini both take.

    Args:
        source: the whole Python source.
        class_name: the class.
        mutates: whether a tool may change the state, where its author has said so; else it is read off the code.

    Raises:
        SourceError: it does not parse, or has no such class.
    """
    tree = parse_tree(source)
    node = find_class(tree, class_name)
    types = Types(tree)
    written = writers(functions(node))
    said = mutates or {}
    return [
        Tool(
            name=f.name,
            description=_summary(ast.get_docstring(f) or "") or f.name.replace("_", " ").capitalize() + ".",
            parameters=_parameters(f, types),
            mutates=said.get(f.name, f.name in written),
        )
        for f in functions(node)
        if is_tool(f)
    ]


def _parameters(function: Function, types: Types) -> dict[str, object]:
    told = parameter_descriptions(ast.get_docstring(function) or "")
    properties: dict[str, object] = {}
    required = []
    for argument, has_default in _arguments(function):
        schema = types.schema(argument.annotation)
        description = told.get(argument.arg) or argument.arg.replace("_", " ").strip().capitalize() + "."
        properties[argument.arg] = {**schema, "description": description[:MOST_DESCRIPTION]}
        if not has_default:
            required.append(argument.arg)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _arguments(function: Function) -> Iterator[tuple[ast.arg, bool]]:
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    without = len(positional) - len(given.defaults)
    static = any(ast.unparse(d) == "staticmethod" for d in function.decorator_list)
    for place, argument in enumerate(positional):
        if static or place:
            yield argument, place >= without
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield argument, default is not None


_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Yields?|Raises|Notes?|Examples?|Constraints?)\s*:\s*$"
)
_PARAMETER = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


def _summary(doc: str) -> str:
    """The docstring without its section on arguments, which the parameters tell already."""
    kept, section = [], ""
    for line in doc.splitlines():
        if match := _SECTION.match(line):
            section = match[1]
        if not section.startswith(("Arg", "Param")):
            kept.append(line)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return text if len(text) <= MOST_DESCRIPTION else text[: MOST_DESCRIPTION - 1].rstrip() + "…"


def parameter_descriptions(doc: str) -> dict[str, str]:
    """What the `Args:` section of a Google docstring says of each parameter."""
    told: dict[str, str] = {}
    inside, margin, name = False, 0, ""
    for line in doc.splitlines():
        stripped, indent = line.strip(), len(line) - len(line.lstrip())
        if _SECTION.match(line):
            inside, margin, name = line.startswith(("Arg", "Param")), 0, ""
        elif inside and stripped:
            margin = margin or indent
            if indent == 0:
                inside = False
            elif indent <= margin and (match := _PARAMETER.match(stripped)):
                name = match[1]
                told[name] = match[2]
            elif name:
                told[name] = f"{told[name]} {stripped}".strip()
    return told


# Joining


def assemble(class_source: str, methods: Sequence[str]) -> str:
    """One source out of a class and methods that were written one by one.

    Imports of all parts go to the top, each once; a method that the class has already is replaced.

    Args:
        class_source: imports, record types, and the class with its `__init__`.
        methods: sources of a method each, at any indentation, imports allowed before the `def`.

    Raises:
        SourceError: a part does not parse, or a method's source holds none; the message has the line.
    """
    tree = parse_tree(class_source)
    node = find_class(tree)
    imports, parts = _imports(tree), []
    for place, text in enumerate(methods, start=1):
        more, functions_found = _read_method(text, place)
        imports += more
        parts += functions_found
    new = dict(parts)
    return _joined(class_source, tree, node, imports, new)


def replace_method(source: str, class_name: str, method_source: str) -> str:
    """The source with one method put in the place of the one of its name, or at the end of the class.

    Raises:
        SourceError: a part does not parse, there is no such class, or the method's source holds no method.
    """
    tree = parse_tree(source)
    node = find_class(tree, class_name)
    imports, parts = _read_method(method_source, 1)
    return _joined(source, tree, node, _imports(tree) + imports, dict(parts))


def _read_method(text: str, place: int) -> tuple[list[str], list[tuple[str, str]]]:
    try:
        text = _dedented(text)
        tree = parse_tree(text)
    except SourceError as error:
        raise SourceError(f"method {place}, {error}") from None
    lines = text.splitlines()
    found: list[ast.stmt] = []
    for node in tree.body:
        found += node.body if isinstance(node, ast.ClassDef) else [node]
    parts = [(f.name, _text_of(f, lines)) for f in found if isinstance(f, Function)]
    if not parts:
        raise SourceError(f"method {place}, line 1: expected the source of a method, got none.")
    return _imports(tree), parts


def _dedented(text: str) -> str:
    """A method's text at the left margin; models indent the `def`, or all but their imports."""
    text = textwrap.dedent(text.expandtabs(4)).strip("\n")
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(r"\s+(@|def |async def )", line)), None)
    top = next((i for i, line in enumerate(lines) if re.match(r"(@|def |async def |class )", line)), None)
    if start is None or (top is not None and top <= start):
        return text
    return "\n".join([*lines[:start], textwrap.dedent("\n".join(lines[start:]))])


def _imports(tree: ast.Module) -> list[str]:
    return [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]


def merged_imports(imports: Sequence[str]) -> list[str]:
    """Import statements, each name once, `__future__` first, then by module."""
    plain: dict[str, None] = {}
    names: dict[tuple[int, str], dict[str, None]] = {}
    for node in parse_tree("\n".join(imports)).body:
        if isinstance(node, ast.Import):
            plain.update({ast.unparse(ast.Import([alias])): None for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            here = names.setdefault((node.level, node.module or ""), {})
            here.update({ast.unparse(alias): None for alias in node.names})
    froms = [
        f"from {'.' * level}{module} import {', '.join(sorted(n))}" for (level, module), n in names.items()
    ]
    return sorted(sorted(plain) + sorted(froms), key=lambda line: not line.startswith("from __future__"))


def _joined(
    source: str, tree: ast.Module, node: ast.ClassDef, imports: list[str], new: dict[str, str]
) -> str:
    lines = source.expandtabs(4).splitlines()
    blocks = []
    doc = ast.get_docstring(tree, clean=False)
    for part in tree.body:
        if isinstance(part, ast.Import | ast.ImportFrom) or (doc is not None and part is tree.body[0]):
            continue
        first = _first_line(part) if isinstance(part, ast.ClassDef | Function) else part.lineno
        first = _with_comments(lines, first)
        text = "\n".join(lines[first - 1 : part.end_lineno])
        blocks.append(_class_text(lines, node, new) if part is node else text.rstrip())
    head = [ast.get_source_segment(source, tree.body[0]) or ""] if doc is not None else []
    top = "\n\n".join([*head, *(["\n".join(merged_imports(imports))] if imports else [])])
    joined = "\n\n\n".join([*([top] if top else []), *blocks]) + "\n"
    parse_tree(joined)
    return joined


def _with_comments(lines: list[str], first: int) -> int:
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first


def _class_text(lines: list[str], node: ast.ClassDef, new: dict[str, str]) -> str:
    """The class with a blank line between methods, its own formatting otherwise untouched."""
    first = _with_comments(lines, _first_line(node))
    pieces, at, left = [], first, dict(new)
    kept = functions(node)
    for part in node.body:
        if not isinstance(part, Function):
            continue
        begin = _with_comments(lines, _first_line(part))
        pieces.append("\n".join(lines[at - 1 : begin - 1]).rstrip())
        at = (part.end_lineno or begin) + 1
        if part in kept:
            pieces.append(
                _indented(left.pop(part.name)) if part.name in left else "\n".join(lines[begin - 1 : at - 1])
            )
    pieces.append("\n".join(lines[at - 1 : node.end_lineno]).rstrip())
    pieces += [_indented(text) for text in left.values()]
    body = [piece.rstrip() for piece in pieces if piece.strip()]
    if new and len(node.body) == 1 and isinstance(node.body[0], ast.Pass):
        body[0] = re.sub(r"\n?\s*pass\s*$", "", body[0])
    return "\n\n".join(body)


def _indented(text: str) -> str:
    """A method's text one level in; the insides of multi-line strings move with it, as a docstring wants."""
    return textwrap.indent(textwrap.dedent(text).strip("\n"), "    ")


# Lint


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
        if isinstance(node, ast.Attribute) and re.fullmatch(
            r"__\w+__|[a-z]{2}_(frame|code|globals|back)", node.attr
        ):
            if node.attr not in ("__init__", "__name__", "__class__", "__dict__", "__annotations__"):
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
    for function in functions(node):
        for part in ast.walk(function):
            if (
                isinstance(part, ast.Attribute)
                and isinstance(part.ctx, ast.Store)
                and part.attr.startswith("_")
            ):
                if isinstance(part.value, ast.Name) and part.value.id == "self":
                    yield _finding(
                        "private-state",
                        "warning",
                        part,
                        f"self.{part.attr} is not part of the state; snapshots lose it.",
                    )
    names = [f.name for f in node.body if isinstance(f, Function)]
    for function in (f for f in node.body if isinstance(f, Function)):
        if names.count(function.name) > 1:
            yield _finding(
                "twice",
                "warning",
                function,
                f"{function.name} is defined more than once; the last one counts.",
            )


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
        for argument, _ in _arguments(function):
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
