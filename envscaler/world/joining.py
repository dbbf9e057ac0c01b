"""Joining a class and methods that were written one by one into one source.

Works on the text, by the places the syntax tree names, so that comments and formatting stay. Nothing is executed.
"""

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Sequence

from envscaler import syntax
from envscaler.error import SourceError
from envscaler.world.tree import Function, find_class, first_line, functions, parse_tree, text_of


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
    """The imports and the functions in a method's source."""
    text, tree = _parsed_method(text.expandtabs(4).strip("\n"), place)
    lines = text.splitlines()
    found: list[ast.stmt] = []
    for node in tree.body:
        found += node.body if isinstance(node, ast.ClassDef) else [node]
    parts = [(f.name, text_of(f, lines)) for f in found if isinstance(f, Function)]
    if not parts:
        raise SourceError(f"method {place}, line 1: expected the source of a method, got none.")
    return _imports(tree), parts


def _parsed_method(text: str, place: int) -> tuple[str, ast.Module]:
    """The text in the first form that parses: as it is, moved to the left, or inside a class."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(r"\s+(@|def |async def )", line)), 0)
    moved = "\n".join([*lines[:start], textwrap.dedent("\n".join(lines[start:]))])
    problem: SourceError | None = None
    for form in (text, textwrap.dedent(text), moved, f"class _:\n{text}"):
        try:
            return form, parse_tree(form)
        except SourceError as error:
            problem = problem or error
    raise SourceError(f"method {place}, {problem}") from None


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
        first = first_line(part) if isinstance(part, ast.ClassDef | Function) else part.lineno
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
    first = _with_comments(lines, first_line(node))
    pieces, at, left = [], first, dict(new)
    kept = functions(node)
    for part in node.body:
        if not isinstance(part, Function):
            continue
        begin = _with_comments(lines, first_line(part))
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
    """A function's text one level in; a docstring moves along, other strings keep their insides."""
    still = _inside_strings(text)
    lines = text.strip("\n").splitlines()
    return "\n".join(
        line if n in still or not line else f"    {line}" for n, line in enumerate(lines, start=1)
    )


def _inside_strings(text: str) -> set[int]:
    """Lines that begin inside a string which is no docstring."""
    tree = syntax.parse(text)
    docs = {
        n.body[0].lineno
        for n in ast.walk(tree)
        if isinstance(n, Function) and ast.get_docstring(n) is not None
    }
    inside: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and token.start[0] not in docs:
            inside.update(range(token.start[0] + 1, token.end[0] + 1))
    return inside
