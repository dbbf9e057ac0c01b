"""What a check function mentions: the values it compares fields with, the texts it looks for, the tables it reads.

Read off the syntax tree; nothing is executed. A hint is a guess at what a solution has to write, good enough
to propose calls with (`proposing`) and to say which state looks nearer to a solution; it never decides whether
a check passes (`check` runs it). Hints are for finding out whether a scenario can be solved at all: they read
the answers, so no agent may be shown any of this.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from envscaler.error import SourceError
from envscaler.record import canonical, is_number
from envscaler.schema import Check, Json
from envscaler.world.tree import parse_tree

FINAL = "final_state"
"""What check functions call the state at the end."""
_TEXT_TESTS = frozenset({"startswith", "endswith", "count", "find", "index"})
_SAME_TEXT = frozenset({"lower", "upper", "strip", "casefold", "title", "rstrip", "lstrip"})
_SAME_FIELD = frozenset({"str", "float", "int", "set", "sorted", "list", "abs"})


@dataclass(frozen=True)
class Hints:
    """What one check mentions."""

    pairs: list[tuple[str, Json]] = field(default_factory=list)
    """Fields with the value they are compared with, `!=` too: what is unequal mostly means `return False`."""
    parts: list[tuple[str, str]] = field(default_factory=list)
    """Fields with a text that is looked for in them."""
    values: list[Json] = field(default_factory=list)
    """All values it names, field names and texts of its own messages among them."""
    states: frozenset[str] = frozenset()
    """Names it takes out of the final state: `final_state["loans"]`, `final_state.get("loans")`."""
    keys: list[tuple[str, str]] = field(default_factory=list)
    """Tables with a key that it looks up in them."""

    @property
    def texts(self) -> frozenset[str]:
        """The texts among the values."""
        return frozenset(value for value in self.values if isinstance(value, str))


def hints_of(check: Check) -> Hints:
    """The hints of a check, not to be changed; none where its source does not parse."""
    return _hints(check.source)


@lru_cache(maxsize=4096)
def _hints(source: str) -> Hints:
    try:
        tree = parse_tree(source)
    except SourceError:
        return Hints()
    return _Reader(tree).hints()


def quoted(text: str) -> list[str]:
    """What a task puts into quotes."""
    found = re.findall(r"“([^”]+)”|\"([^\"]+)\"|‘([^’]+)’|(?<!\w)'([^'\n]+)'(?!\w)", text)
    return list(dict.fromkeys(part.strip() for groups in found for part in groups if part.strip()))


class _Reader:
    """One pass over a check's tree for the names it gives to values, another for what it does with them."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._named: dict[str, Json] = {}
        self._fields: dict[str, str] = {}
        self._loops: dict[str, list[Json]] = {}
        self._positions: set[str] = set()
        self._tables: dict[str, str] = {}
        # Of a method that is read so, an argument is as good as a field of its name.
        functions = [node for node in self._nodes if isinstance(node, ast.FunctionDef)]
        self._arguments = {a.arg for f in functions for a in f.args.args} - {FINAL, "self"}
        for node in self._nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    self._assign(target, node.value)
        for node in self._nodes:
            if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
                known, values = self._value(node.iter)
                if known and isinstance(values, list):
                    self._loops[node.target.id] = values

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            return
        known, found = self._value(value)
        if self._is_position(value):
            self._positions.add(target.id)
        if known:
            self._named.setdefault(target.id, found)
        elif table := self._table(value):
            self._tables.setdefault(target.id, table)
        elif name := self._field(value):
            self._fields.setdefault(target.id, name)

    # Values

    def _value(self, node: ast.expr) -> tuple[bool, Json]:
        """Whether the node is a value that is known here, and the value."""
        node = _bare(node)
        if isinstance(node, ast.Name):
            return node.id in self._named, self._named.get(node.id)
        try:
            value = ast.literal_eval(node)
            # As a state would hold it: keys are texts there, and a tuple is a list.
            return True, json.loads(json.dumps(sorted(value, key=str) if isinstance(value, set) else value))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return self._computed(node)

    def _computed(self, node: ast.expr) -> tuple[bool, Json]:
        if not isinstance(node, ast.BinOp):
            return False, None
        (one, left), (other, right) = self._value(node.left), self._value(node.right)
        if not (one and other):
            return False, None
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            return True, left + right
        # What is larger is no amount of anything, and would overflow.
        if not all(is_number(value) and abs(value) < 1e15 for value in (left, right)):
            return False, None
        if isinstance(node.op, ast.Add):
            return True, left + right
        if isinstance(node.op, ast.Sub):
            return True, left - right
        if isinstance(node.op, ast.Mult):
            return True, left * right
        return (True, left / right) if isinstance(node.op, ast.Div) and right else (False, None)

    # Fields

    def _field(self, node: ast.expr) -> str:
        """The field that an expression reads: `x["f"]`, `x.get("f", …)`, or a variable that holds one."""
        node = _bare(node)
        if isinstance(node, ast.Name):
            return self._fields.get(node.id) or (node.id if node.id in self._arguments else "")
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return node.slice.value if isinstance(node.slice.value, str) else self._field(node.value)
        if isinstance(node, ast.BoolOp):
            return self._field(node.values[0])
        if not isinstance(node, ast.Call):
            return ""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            known, name = self._value(node.args[0])
            return str(name) if known else ""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            return self._field(node.func.value)
        if isinstance(node.func, ast.Name) and node.func.id in _SAME_FIELD and node.args:
            return self._field(node.args[0])
        return ""

    def hints(self) -> Hints:
        """Everything together."""
        pairs: list[tuple[str, Json]] = []
        parts: list[tuple[str, str]] = []
        for node in self._nodes:
            if isinstance(node, ast.Compare):
                self._compare(node, pairs, parts)
            elif isinstance(node, ast.Call):
                parts += self._text_test(node)
            elif isinstance(node, ast.Dict):
                pairs += [(str(k.value), v) for k, v in self._entries(node)]
        values = list(self._values())
        return Hints(_once(pairs), _once(parts), values, frozenset(self._states()), _once(self._keys()))

    def _entries(self, node: ast.Dict) -> Iterator[tuple[ast.Constant, Json]]:
        for key, value in zip(node.keys, node.values, strict=True):
            known, found = self._value(value)
            if isinstance(key, ast.Constant) and known:
                yield key, found

    def _compare(
        self, node: ast.Compare, pairs: list[tuple[str, Json]], parts: list[tuple[str, str]]
    ) -> None:
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.Eq | ast.Is | ast.NotEq):
                self._equal(left, right, pairs, parts)
                self._equal(right, left, pairs, parts)
            elif isinstance(op, ast.In | ast.NotIn):
                parts += [(self._field(right), text) for text in self._all(left) if isinstance(text, str)]
                known, choices = self._value(right)
                if known and isinstance(choices, list) and (name := self._field(left)):
                    pairs += [(name, choice) for choice in choices]
            elif isinstance(op, ast.GtE | ast.LtE) and (name := self._field(left)):
                pairs += [(name, value) for value in self._all(right) if is_number(value)]
            left = right

    def _equal(
        self, left: ast.expr, right: ast.expr, pairs: list[tuple[str, Json]], parts: list[tuple[str, str]]
    ) -> None:
        if self._is_position(left):  # a part of some text: `text.split(", ")[0] == …`
            parts += [(self._field(left), text) for text in self._all(right) if isinstance(text, str)]
        elif name := self._field(left):
            pairs += [(name, value) for value in self._all(right)]

    def _is_position(self, node: ast.expr) -> bool:
        """Whether it is one part of a list: `parts[0]`, or a variable that holds one."""
        node = _bare(node)
        if isinstance(node, ast.Name):
            return node.id in self._positions
        return isinstance(node, ast.Subscript) and isinstance(getattr(node.slice, "value", None), int)

    def _all(self, node: ast.expr) -> list[Json]:
        """The values that a node may stand for: one, or those its loop goes through."""
        node = _bare(node)
        if isinstance(node, ast.Name) and node.id in self._loops:
            return self._loops[node.id]
        known, value = self._value(node)
        return [value] if known else []

    def _text_test(self, node: ast.Call) -> list[tuple[str, str]]:
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _TEXT_TESTS or not node.args:
            return []
        name = self._field(node.func.value)
        return [(name, value) for value in self._all(node.args[0]) if isinstance(value, str)]

    def _values(self) -> Iterator[Json]:
        for node in self._nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float):
                yield node.value
            elif isinstance(node, ast.List | ast.Dict | ast.BinOp | ast.Set | ast.Tuple):
                known, value = self._value(node)
                if known:
                    yield value

    def _states(self) -> Iterator[str]:
        return (key for whole, key in self._looked_up() if isinstance(whole, ast.Name) and whole.id == FINAL)

    def _keys(self) -> list[tuple[str, str]]:
        found = [(self._table(whole), key) for whole, key in self._looked_up()]
        return [(table, key) for table, key in found if table]

    def _looked_up(self) -> Iterator[tuple[ast.expr, str]]:
        """Every `whole[key]`, `whole.get(key)` and `key in whole` with a key that is known."""
        for node in self._nodes:
            whole, key = _look_up(node)
            if whole is not None and key is not None:
                for value in self._all(key):
                    if isinstance(value, str):
                        yield whole, value

    def _table(self, node: ast.expr) -> str:
        """The table of the final state that an expression is; empty where it is none."""
        if isinstance(node, ast.Name):
            return self._tables.get(node.id, "")
        whole, key = _look_up(node)
        if isinstance(whole, ast.Name) and whole.id == FINAL and key is not None:
            known, name = self._value(key)
            return name if known and isinstance(name, str) else ""
        return ""


def _bare(node: ast.expr) -> ast.expr:
    """A text without what only changes its letters or ends: of `x.strip().lower()` it is `x`."""
    while (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_TEXT
    ):
        node = node.func.value
    return node


def _look_up(node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        return node.comparators[0], node.left
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and node.args
    ):
        return node.func.value, node.args[0]
    return None, None


def _once(found: list) -> list:
    seen: dict[str, tuple] = {}
    for pair in found:
        seen.setdefault(canonical(pair), pair)
    return list(seen.values())
