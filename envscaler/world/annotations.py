"""Types of Python annotations as JSON schemas that OpenAI and Gemini both take, read off the syntax tree.

A value that may be None is written `{"type": T, "nullable": true}`: Gemini's function declarations follow
OpenAPI 3.0, where `type` is one word (a list of types fails the whole request) and `nullable` is the way to
say it; OpenAI reads the type and passes over the word. Every schema has a type or typed alternatives, and
every array says what is in it, since one bare array makes a provider refuse all tools. The arguments'
validator (`arguments`) honours `nullable`. Nothing is executed.
"""

import ast
from collections.abc import Iterator
from typing import Any

from envscaler import syntax

Schema = dict[str, Any]

_PLAIN = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "Decimal": "number", "bytes": "string",
    "date": "string", "datetime": "string", "time": "string", "UUID": "string", "Number": "number", "complex": "string",
}  # fmt: skip
_ARRAYS = frozenset(
    "list List Sequence MutableSequence Iterable Collection set Set FrozenSet frozenset tuple Tuple deque".split()  # noqa: SIM905
)
_OBJECTS = frozenset("dict Dict Mapping MutableMapping OrderedDict DefaultDict defaultdict Counter".split())  # noqa: SIM905
_WRAPPERS = frozenset("Annotated Final Required NotRequired ReadOnly ClassVar".split())  # noqa: SIM905
_DEEPEST = 6
"""Levels to which record types are unfolded; types that name themselves end there."""


def anything(deep: int = 1) -> Schema:
    """The schema of `Any`: every kind of JSON value, each with its type."""
    kinds: list[Schema] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
    if deep:
        kinds += [{"type": "array", "items": anything(0)}, {"type": "object", "additionalProperties": True}]
    return {"anyOf": kinds, "nullable": True}


class Types:
    """Reads annotations, knowing the record types, enums and aliases of their module."""

    def __init__(self, tree: ast.Module) -> None:
        self._classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self._aliases = dict(filter(None, map(_alias, tree.body)))

    def schema(self, annotation: ast.expr | None, depth: int = 0) -> Schema:
        """The JSON schema of an annotation; of none, that of anything."""
        if annotation is None or depth > _DEEPEST:
            return anything() if depth <= _DEEPEST else {"type": "object", "additionalProperties": True}
        if isinstance(annotation, ast.Constant):
            return self._constant(annotation.value, depth)
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return self._union(_alternatives(annotation), depth)
        if isinstance(annotation, ast.Subscript):
            return self._subscript(_name(annotation.value), _parts(annotation.slice), depth)
        return self._named(_name(annotation), depth)

    def _constant(self, value: object, depth: int) -> Schema:
        if not isinstance(value, str):
            return anything()
        try:
            return self.schema(syntax.parse(value, mode="eval").body, depth + 1)
        except SyntaxError:
            return anything()

    def _named(self, name: str, depth: int) -> Schema:
        if name in self._classes:
            return self._record(self._classes[name], depth)
        if name in self._aliases:
            return self.schema(self._aliases[name], depth + 1)
        if name in _PLAIN:
            return {"type": _PLAIN[name]}
        if name in _ARRAYS:
            return {"type": "array", "items": anything()}
        if name in ("Any", "object", "Optional", "Union"):
            return anything()
        return {"type": "object", "additionalProperties": True}

    def _subscript(self, name: str, parts: list[ast.expr], depth: int) -> Schema:
        if name == "Literal":
            return _literal([part.value for part in parts if isinstance(part, ast.Constant)])
        if name in ("Optional", "Union"):
            none = [ast.Constant(None)] if name == "Optional" else []
            return self._union([*parts, *none], depth)
        if name in _WRAPPERS:
            return self.schema(parts[0], depth)
        if name in _ARRAYS:
            items = [p for p in parts if not (isinstance(p, ast.Constant) and p.value is Ellipsis)]
            return {"type": "array", "items": self._union(items, depth + 1) if items else anything()}
        if name in _OBJECTS:
            return {"type": "object", "additionalProperties": self._values(parts, depth)}
        return self._named(name, depth)

    def _values(self, parts: list[ast.expr], depth: int) -> Schema | bool:
        if len(parts) < 2 or _name(parts[1]) in ("Any", "object"):
            return True
        return self.schema(parts[1], depth + 1)

    def _union(self, parts: list[ast.expr], depth: int) -> Schema:
        nullable = any(isinstance(p, ast.Constant) and p.value is None for p in parts)
        kinds: list[Schema] = []
        for part in parts:
            if not (isinstance(part, ast.Constant) and part.value is None):
                found = self.schema(part, depth)
                nullable = nullable or bool(found.get("nullable"))
                kinds += [kind for kind in found.get("anyOf", [found]) if kind not in kinds]
        if {"type": "number"} in kinds:
            kinds = [kind for kind in kinds if kind != {"type": "integer"}]
        made: Schema = {**kinds[0]} if len(kinds) == 1 else {"anyOf": kinds} if kinds else {"type": "string"}
        made.pop("nullable", None)
        return {**made, "nullable": True} if nullable else made

    def _record(self, node: ast.ClassDef, depth: int) -> Schema:
        bases = {_name(base) for base in node.bases}
        if any(base.endswith("Enum") or base == "StrEnum" for base in bases):
            values = [
                n.value.value
                for n in node.body
                if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)
            ]
            return _literal(values)
        fields = self.fields(node)
        if not fields:
            return {"type": "object", "additionalProperties": True}
        properties = {name: self.schema(field.annotation, depth + 1) for name, (field, _) in fields.items()}
        needed = [name for name, (_, must) in fields.items() if must]
        return {"type": "object", "properties": properties, "required": needed}

    def fields(self, node: ast.ClassDef) -> dict[str, tuple[ast.AnnAssign, bool]]:
        """The fields of a record type, those of its bases first, and whether a record must have each."""
        line, waiting = dict[ast.ClassDef, None](), [node]
        while waiting:  # each once, for a text may make a type its own base
            one = waiting.pop()
            if one not in line:
                line[one] = None
                waiting += [self._classes[n] for base in one.bases if (n := _name(base)) in self._classes]
        return {name: field for one in reversed(line) for name, field in _own_fields(one)}


def _own_fields(node: ast.ClassDef) -> Iterator[tuple[str, tuple[ast.AnnAssign, bool]]]:
    total = not any(k.arg == "total" and ast.unparse(k.value) == "False" for k in node.keywords)
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            yield part.target.id, (part, total and part.value is None and not _optional(part.annotation))


def _optional(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Subscript) and _name(annotation.value) == "NotRequired"


def _literal(values: list[Any]) -> Schema:
    """Gemini takes enums of text only, so whole numbers get their range instead."""
    nullable = {"nullable": True} if None in values else {}
    values = [value for value in values if value is not None]
    if values and all(isinstance(value, str) for value in values):
        return {"type": "string", "enum": values, **nullable}
    if values and all(isinstance(value, bool) for value in values):
        return {"type": "boolean", **nullable}
    if values and all(type(value) is int for value in values):
        return {"type": "integer", "minimum": min(values), "maximum": max(values), **nullable}
    return anything()


def _alias(node: ast.stmt) -> tuple[str, ast.expr] | None:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.Name | ast.BinOp):
        target = node.targets[0]
        return (target.id, node.value) if isinstance(target, ast.Name) else None
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return node.target.id, node.value
    return None


def _name(node: ast.expr) -> str:
    """The last part of a dotted name: `typing.Optional` is `Optional`; text in quotes is a name too."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [node]


def key_levels(tree: ast.Module, node: ast.ClassDef) -> dict[str, list[str]]:
    """Attributes annotated as dictionaries with `int` keys: attribute → key type at each level of nesting.

    JSON has text keys only; the loader gives such tables back the keys that the class looks up.
    """
    aliases = dict(filter(None, map(_alias, tree.body)))
    found: dict[str, list[str]] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.AnnAssign):
            levels = _levels(part.annotation, aliases, 0)
            name = (
                part.target.attr if isinstance(part.target, ast.Attribute) else getattr(part.target, "id", "")
            )
            if "int" in levels and name:
                found[name] = levels
    return found


def _levels(annotation: ast.expr, aliases: dict[str, ast.expr], depth: int) -> list[str]:
    if isinstance(annotation, ast.Name) and annotation.id in aliases and depth < _DEEPEST:
        return _levels(aliases[annotation.id], aliases, depth + 1)
    if isinstance(annotation, ast.Subscript) and _name(annotation.value) in _OBJECTS:
        parts = _parts(annotation.slice)
        if len(parts) == 2:
            return [_name(parts[0]), *_levels(parts[1], aliases, depth + 1)]
    return []
