"""One method of an environment as an operator sees it: where it refuses, what it writes, which names hold state.

Read off the syntax tree and careful to claim little: a place that is not understood is passed over. Edits are made
in the text, so what is not touched reads as before. Nothing is executed, and nothing here knows a kind of fault.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from envscaler.record import as_dict, is_number
from envscaler.schema import Tool
from envscaler.world.tree import Function, find_class, functions, parse_tree

CHANGERS = frozenset(
    "append appendleft extend insert remove pop popleft popitem clear update add discard sort reverse".split()  # noqa: SIM905
)
"""Methods that change what they are called on."""
_VIEWS = frozenset("get setdefault values items keys pop copy".split())  # noqa: SIM905
_PICKERS = frozenset("next sorted list reversed enumerate filter max min iter".split())  # noqa: SIM905
Write = ast.Assign | ast.AugAssign | ast.Delete | ast.Expr
Place = tuple[int, int]


@dataclass(frozen=True)
class Edit:
    """A stretch of the source to replace; lines from 1, columns in bytes, as syntax trees count."""

    start: Place
    """Where it begins."""
    end: Place
    """Where it ends; the same as the start to insert."""
    text: str
    """What stands there afterwards."""


@dataclass(frozen=True)
class Change:
    """What an operator proposes to do to a method."""

    edits: tuple[Edit, ...]
    """The edits, which do not overlap."""
    told: str
    """The fault in words."""


class Text:
    """A source by lines and columns, as syntax trees count them."""

    def __init__(self, source: str) -> None:
        self.whole = source.encode()
        # Not `splitlines`, which breaks at more characters than Python does.
        self._starts = [0]
        for line in self.whole.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def place(self, at: Place) -> int:
        """The byte at a line and column."""
        return self._starts[at[0] - 1] + at[1]

    def of(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        return self.whole[self.place(begin(node)) : self.place(end(node))].decode()


def edited(source: str, edits: Sequence[Edit]) -> str:
    """The source with the edits made."""
    text = Text(source)
    made = text.whole
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        made = made[: text.place(edit.start)] + edit.text.encode() + made[text.place(edit.end) :]
    return made.decode()


def begin(node: ast.expr | ast.stmt) -> Place:
    """Where a node begins."""
    return node.lineno, node.col_offset


def end(node: ast.expr | ast.stmt) -> Place:
    """Where a node ends."""
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def replaced(node: ast.expr | ast.stmt, text: str) -> Edit:
    """A node replaced by a text."""
    return Edit(begin(node), end(node), text)


def before(node: ast.stmt, *statements: str) -> Edit:
    """Statements put before another one, at its indentation."""
    margin = " " * node.col_offset
    return Edit(begin(node), begin(node), "".join(f"{statement}\n{margin}" for statement in statements))


def names(node: ast.AST) -> set[str]:
    """The names that are read or written in a node."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def bindings(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The name that an assignment binds, with its value."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value


def success_of(node: ast.stmt) -> bool | None:
    """What a return statement's reply says of success; None where it cannot be read off."""
    value = node.value if isinstance(node, ast.Return) else None
    if not isinstance(value, ast.Dict):
        return None
    for key, item in zip(value.keys, value.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == "success" and isinstance(item, ast.Constant):
            return bool(item.value)
    return None


class World:
    """The class around the methods: its record types and tables."""

    def __init__(self, source: str, class_name: str) -> None:
        self.text = Text(source)
        tree = parse_tree(source)
        self.node = find_class(tree, class_name)
        self.functions = {f.name: f for f in functions(self.node)}
        self.record_types = [
            {
                part.target.id: ast.unparse(part.annotation)
                for part in node.body
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
            }
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node is not self.node
        ]
        self.tables = {
            part.attr
            for part in ast.walk(self.node)
            if isinstance(part, ast.Attribute) and _is_self(part.value) and part.attr not in self.functions
        }

    def siblings(self, field: str, used: set[str]) -> list[str]:
        """Other fields of the record type that has this field and those used with it, of the same type."""
        fitting = [fields for fields in self.record_types if used | {field} <= fields.keys()]
        return sorted(
            {n for fields in fitting for n, type_ in fields.items() if n != field and type_ == fields[field]}
        )

    def types(self, field: str) -> set[str]:
        """The annotated types of the fields of this name."""
        return {fields[field] for fields in self.record_types if field in fields}


class Method:
    """One tool's method."""

    def __init__(self, world: World, tool: Tool) -> None:
        self.world, self.tool = world, tool
        self.node: Function = world.functions[tool.name]
        self.parameters = tool.properties
        self._roots: dict[str, str] = {}
        self._tainted: set[str] = set()
        for _ in range(4):  # names bound late may be used early in a loop
            self._follow()

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node."""
        return self.world.text.of(node)

    # Statements

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """All statements, in source order."""
        found = [n for n in ast.walk(self.node) if isinstance(n, ast.stmt) and n is not self.node]
        return sorted(found, key=begin)

    @cached_property
    def guards(self) -> list[ast.If]:
        """Each `if` that does nothing but refuse."""
        return [
            n for n in self.statements
            if isinstance(n, ast.If) and not n.orelse and success_of(n.body[-1]) is False
        ]  # fmt: skip

    @cached_property
    def successes(self) -> list[ast.Return]:
        """Returns that report success."""
        return [n for n in self.statements if isinstance(n, ast.Return) and success_of(n) is True]

    @cached_property
    def writes(self) -> list[Write]:
        """Statements that change the state themselves, not through a helper."""
        return [n for n in self.statements if isinstance(n, Write) and self.written(n) is not None]

    def written(self, node: ast.stmt) -> ast.expr | None:
        """What a statement writes into: a part of the state, or None."""
        match node:
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute() as target]):
                return target if self._is_state(target) else None
            case ast.AugAssign(target=ast.Subscript() | ast.Attribute() as target):
                return target if self._is_state(target) else None
            case ast.Delete(targets=[ast.Subscript() as target]):
                return target if self._is_state(target) else None
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr, value=value))):
                return value if attr in CHANGERS and self.root(value) else None
        return None

    def _is_state(self, target: ast.Subscript | ast.Attribute) -> bool:
        return _is_self(target.value) or self.root(target.value) is not None

    # What is state

    def root(self, node: ast.expr) -> str | None:
        """The table that an expression is a live part of; None for values of its own."""
        match node:
            case ast.Name():
                return self._roots.get(node.id)
            case ast.Attribute():
                return node.attr if _is_self(node.value) and node.attr in self.world.tables else None
            case ast.Subscript():
                return self.root(node.value)
            case ast.Call(func=ast.Attribute(attr=attr, value=value)):
                return self.root(value) if attr in _VIEWS - {"copy"} else None
            case ast.Call(func=ast.Name(id=name), args=[first, *_]):
                return self.root(first) if name in _PICKERS else None
            case ast.GeneratorExp() | ast.ListComp():
                inner = {n for g in node.generators for n in names(g.target)}
                taken = names(node.elt) & inner if isinstance(node.elt, ast.Name) else set()
                return self.root(node.generators[0].iter) if taken else None
            case ast.BoolOp():
                return next((r for r in map(self.root, node.values) if r), None)
            case ast.IfExp():
                return self.root(node.body) or self.root(node.orelse)
        return None

    def reads_state(self, node: ast.AST) -> bool:
        """Whether an expression depends on the state, directly, through a name or through a helper."""
        return any(
            (isinstance(part, ast.Name) and part.id in self._tainted)
            or (isinstance(part, ast.Attribute) and _is_self(part.value))
            for part in ast.walk(node)
        )

    def _follow(self) -> None:
        for node in ast.walk(self.node):
            match node:
                case ast.Assign(targets=[target], value=value):
                    self._bind(target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._bind(target, value)
                case ast.AugAssign(target=ast.Name() as target, value=value) if self.reads_state(value):
                    self._tainted.add(target.id)
                case ast.For(target=target, iter=value):
                    self._bind(target, value)
                case ast.NamedExpr(target=target, value=value):
                    self._bind(target, value)
                case ast.Call(func=ast.Attribute(attr=attr, value=ast.Name() as name), args=[value, *_]):
                    if attr in CHANGERS and self.reads_state(value):
                        self._tainted.add(name.id)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        bound = names(target) if isinstance(target, ast.Name | ast.Tuple | ast.List) else set()
        if self.reads_state(value):
            self._tainted |= bound
        root = self.root(value)
        if root:
            self._roots |= dict.fromkeys(bound, root)

    # Kinds of guard

    def asks_existence(self, guard: ast.If) -> bool:
        """Whether a guard refuses what is not there: `x not in self.table`, `record is None`, `not record`."""
        return self._is_absence(guard.test)

    def _is_absence(self, test: ast.expr) -> bool:
        match test:
            case ast.Compare(ops=[ast.NotIn()], left=left, comparators=[table]):
                return self.root(table) is not None and bool(names(left))
            case ast.Compare(ops=[ast.Is()], left=found, comparators=[ast.Constant(value=None)]):
                return self._is_found(found)
            case ast.UnaryOp(op=ast.Not(), operand=found):
                return self._is_found(found) or (isinstance(found, ast.Name) and found.id in self.lists)
            case ast.BoolOp(values=parts):
                return all(map(self._is_absence, parts))
        return False

    def _is_found(self, node: ast.expr) -> bool:
        """Whether an expression is what was looked up in the state."""
        return isinstance(node, ast.Name | ast.Call) and self.root(node) is not None

    @cached_property
    def lists(self) -> set[str]:
        """Names that are bound to a list made in the method."""
        return {
            name
            for node in self.statements
            for name, value in bindings(node)
            if isinstance(value, ast.List | ast.ListComp)
            or (isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("list", "sorted"))
        }

    def asks_novelty(self, guard: ast.If) -> bool:
        """Whether a guard refuses what is there already: `x in self.table`."""
        match guard.test:
            case ast.Compare(ops=[ast.In()], left=left, comparators=[table]):
                return isinstance(table, ast.Attribute) and self.root(table) is not None and bool(names(left))
        return False

    def bound_before(self, node: ast.stmt) -> set[str]:
        """Names that have a value when a statement is reached, as far as the text shows."""
        found = {a.arg for a in [*self.node.args.args, *self.node.args.kwonlyargs]}
        for other in self.statements:
            if end(other) <= begin(node) and other.col_offset <= node.col_offset:
                found |= {
                    n.id for n in ast.walk(other) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                }
        return found

    def is_number(self, node: ast.expr) -> bool:
        """Whether an expression is a number, by its form, its parameter's schema or its field's type."""
        match node:
            case ast.Constant(value=value):
                return is_number(value)
            case ast.Name(id=name):
                return as_dict(self.parameters.get(name)).get("type") in ("integer", "number")
            case ast.Subscript(slice=ast.Constant(value=str(field))):
                types = self.world.types(field)
                return bool(types) and types <= {"int", "float"}
            case ast.Call(func=ast.Name(id=name)):
                return name in ("len", "sum", "round", "int", "float", "abs")
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), left=left, right=right):
                return self.is_number(left) and self.is_number(right)
        return False


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
