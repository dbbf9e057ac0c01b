"""What the code of a class says of its tools' arguments: the lines to reach, constants to try, tables looked up in.

Read off the syntax tree for `exploring` and `trials`; a hint at most, for code may be wrong. Nothing is executed.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from envscaler.schema import Json, Skeleton
from envscaler.world.tree import Function, find_class, functions, parse_tree

_LOOKS = frozenset({"get", "pop", "setdefault"})


@dataclass(frozen=True)
class Code:
    """One method."""

    lines: set[int]
    """The lines of its statements."""
    named: dict[str, list[Json]]
    """Constants that stand beside an argument in a comparison; under "" all others."""
    tables: dict[str, set[str]] = field(default_factory=dict)
    """Tables that an argument is looked up in, here or by an argument of its name in another method."""
    own: dict[str, set[str]] = field(default_factory=dict)
    """Those it is looked up in here."""


def read_code(skeleton: Skeleton) -> dict[str, Code]:
    """The methods of a skeleton by name."""
    tree = parse_tree(skeleton.source)
    methods = functions(find_class(tree, skeleton.class_name))
    literals = _literals(tree)
    own = {f.name: _tables(f) for f in methods}
    anywhere: dict[str, set[str]] = defaultdict(set)
    for tables in own.values():
        for name, found in tables.items():
            anywhere[name] |= found
    return {
        f.name: Code(
            _lines(f), _named(f, literals), {a: anywhere[a] for a in sorted(_arguments(f))}, own[f.name]
        )
        for f in methods
    }


def _arguments(function: Function) -> set[str]:
    return {a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]}


def _inside(function: Function) -> Iterator[ast.AST]:
    for statement in function.body:
        yield from ast.walk(statement)


def _lines(function: Function) -> set[int]:
    return {
        p.lineno
        for p in _inside(function)
        if isinstance(p, ast.stmt) and not (isinstance(p, ast.Expr) and isinstance(p.value, ast.Constant))
    }


def _literals(tree: ast.Module) -> dict[str, list[Json]]:
    """Collections of constants by the names or attributes that hold them."""
    found: dict[str, list[Json]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            inner = node.value.args[0] if isinstance(node.value, ast.Call) and node.value.args else node.value
            if isinstance(inner, ast.List | ast.Set | ast.Tuple | ast.Dict):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    name = getattr(target, "id", getattr(target, "attr", ""))
                    found[name] += _constants(
                        ast.Tuple(elts=list(filter(None, inner.keys)))
                        if isinstance(inner, ast.Dict)
                        else inner
                    )
    return found


def _constants(node: ast.AST) -> list[Json]:
    """Texts and numbers in an expression, but for the names of fields."""
    fields = {id(part.slice) for part in ast.walk(node) if isinstance(part, ast.Subscript)}
    return [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str | int | float)
        and not isinstance(part.value, bool) and id(part) not in fields
    ]  # fmt: skip


def _named(function: Function, literals: dict[str, list[Json]]) -> dict[str, list[Json]]:
    named: dict[str, list[Json]] = defaultdict(list)
    for part in _inside(function):
        if isinstance(part, ast.Compare):
            constants, names = _constants(part), set[str]()
            for node in ast.walk(part):
                name = getattr(node, "id", getattr(node, "attr", ""))
                constants += literals.get(name, [])
                names |= {node.id} if isinstance(node, ast.Name) else set()
            for name in sorted(names) or [""]:
                named[name] += constants
    named[""] = [value for values in list(named.values()) for value in values]
    return dict(named)


def _tables(function: Function) -> dict[str, set[str]]:
    """The tables of `self` that each argument is looked up in."""
    arguments, found = _arguments(function), defaultdict[str, set[str]](set)
    for part in _inside(function):
        match part:
            case ast.Compare(left=ast.Name(id=name), ops=[ast.In() | ast.NotIn()], comparators=[table]):
                pass
            case ast.Subscript(value=table, slice=ast.Name(id=name)):
                pass
            case ast.Call(func=ast.Attribute(attr=attr, value=table), args=[ast.Name(id=name), *_]) if (
                attr in _LOOKS
            ):
                pass
            case _:
                continue
        if (
            name in arguments
            and isinstance(table, ast.Attribute)
            and getattr(table.value, "id", "") == "self"
        ):
            found[name].add(table.attr)
    return dict(found)
