"""Syntax trees of environments: parsing within limits, and finding the class and its methods.

What `source`, `joining` and `lint` share. Nothing is ever executed, and hostile text costs no more than a parse.
"""

import ast
import base64
import functools
import marshal

from envscaler import syntax
from envscaler.error import SourceError

MOST_CHARACTERS = 400_000
"""Longest source that is read; the longest published one has 47,397 characters."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


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
        return syntax.parse(source)
    except SyntaxError as error:
        raise SourceError(f"line {error.lineno}: the source does not parse: {error.msg}.") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"line 1: the source does not parse: {error}.") from None


@functools.lru_cache(maxsize=256)
def packed_code(source: str) -> str:
    """The code of a source, as base64 of marshalled bytes for workers; empty where it is not compiled here.

    Compiling a class takes a worker longer than all of a witness's calls, and one class is loaded again and again.
    """
    try:
        tree = parse_tree(source)
        if any(getattr(node, "finalbody", None) for node in ast.walk(tree)):
            return ""  # its code is repeated for every way out: a short source can have gigabytes of it
        code = syntax.compiled(tree)
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # the worker says what is wrong, and where
    return base64.b64encode(marshal.dumps(code)).decode()


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


def first_line(node: ast.AST) -> int:
    """The line a class or function begins at, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([getattr(node, "lineno", 1), *(d.lineno for d in decorators)])


def text_of(function: Function, lines: list[str]) -> str:
    """A function's text at the left margin; the insides of strings that begin further left stay as they are."""
    margin = function.col_offset
    own = lines[first_line(function) - 1 : function.end_lineno]
    return "\n".join(line[margin:] if not line[:margin].strip() else line for line in own)
