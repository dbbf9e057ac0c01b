"""Which methods of a class may change its state, read off the syntax tree, careful to miss nothing common.

A value is *live* when it is part of the state (`self.rooms[i]`), and a *holder* when it is new but holds live
things (`[r for r in self.rooms.values()]`): writing into the first changes the state, writing into the second
does not, taking something out of the second gives something live. Statements are followed in order, branches
are joined, helpers are followed by name. What is found is a claim about text; `world.referee` finds out by
running.
"""

import ast
from collections.abc import Iterable, Sequence

from envscaler.world.tree import Function

Kinds = dict[str, int]

NEW, HOLDER, LIVE = 0, 1, 2

_CHANGE = frozenset(
    "append appendleft extend insert remove pop popleft popitem clear update setdefault add discard sort reverse "  # noqa: SIM905
    "__setitem__ __delitem__ difference_update intersection_update subtract move_to_end rotate".split()
)
_TAKE = frozenset("get pop popleft popitem setdefault __getitem__".split())  # noqa: SIM905
_VIEW = frozenset("values items keys copy elements most_common".split())  # noqa: SIM905
_COLLECT = frozenset(
    "list sorted tuple reversed enumerate zip filter map iter dict set frozenset copy defaultdict".split()  # noqa: SIM905
)
_PICK = frozenset("next min max".split())  # noqa: SIM905
_FIRST_ARGUMENT = frozenset(
    "setattr delattr heappush heappop heapify insort insort_left insort_right shuffle".split()  # noqa: SIM905
)


def writers(functions: Sequence[Function]) -> set[str]:
    """Names of the methods that may change the state, directly, through an alias, or through a helper."""
    known = {f.name: f for f in functions}
    facts: dict[str, _Facts] = {name: _Facts() for name in known}
    for _ in range(len(known) + 1):
        before = {name: fact.key() for name, fact in facts.items()}
        for name, function in known.items():
            facts[name] = _read(function, facts)
        if {name: fact.key() for name, fact in facts.items()} == before:
            break
    return {name for name, fact in facts.items() if fact.writes}


class _Facts:
    """What a caller must know of a method."""

    def __init__(self) -> None:
        self.writes = False
        self.writes_arguments = False
        self.returns = NEW

    def key(self) -> tuple[bool, bool, int]:
        return self.writes, self.writes_arguments, self.returns


def _read(function: Function, facts: dict[str, _Facts]) -> _Facts:
    own, given = _Walk(function, facts, NEW), _Walk(function, facts, LIVE)
    found = _Facts()
    found.writes, found.returns = own.writes, own.returns
    found.writes_arguments = given.writes and not own.writes
    return found


class _Walk:
    """One pass over one function."""

    def __init__(self, function: Function, facts: dict[str, _Facts], arguments: int) -> None:
        self.writes = False
        self.returns = NEW
        self._facts = facts
        names = [a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]]
        self._self = names[0] if names else "self"
        self._kinds: Kinds = dict.fromkeys(names[1:], arguments)
        self._body(function.body)

    # Statements

    def _body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.If():
                self._kind(node.test)
                self._branches(node.body, node.orelse)
            case ast.For() | ast.AsyncFor():
                for _ in range(2):  # what the first round binds, the second one uses
                    self._bind(node.target, LIVE if self._kind(node.iter) else NEW)
                    self._branches(node.body, [])
                self._body(node.orelse)
            case ast.While():
                for _ in range(2):
                    self._kind(node.test)
                    self._branches(node.body, [])
                self._body(node.orelse)
            case ast.Try() | ast.TryStar():
                self._body(node.body)
                self._branches(*[handler.body for handler in node.handlers], node.orelse)
                self._body(node.finalbody)
            case ast.With() | ast.AsyncWith():
                self._body(node.body)
            case ast.Match():
                self._kind(node.subject)
                self._branches(*[case.body for case in node.cases], [])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._body(node.body)
            case _:
                self._simple(node)

    def _branches(self, *bodies: Iterable[ast.stmt]) -> None:
        before, ends = self._kinds, []
        for body in bodies:
            self._kinds = dict(before)
            self._body(body)
            ends.append(self._kinds)
        self._kinds = {name: max(end.get(name, NEW) for end in ends) for name in set().union(*ends)}

    def _simple(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                kind = self._kind(node.value)
                for target in node.targets:
                    self._bind(target, kind)
            case ast.AnnAssign():
                self._bind(node.target, self._kind(node.value) if node.value else NEW)
            case ast.AugAssign():
                kind = self._kind(node.value)
                if isinstance(node.target, ast.Name):
                    # `tags += ["x"]` writes into the list, `count += 1` does not.
                    grows = kind or isinstance(node.value, ast.List | ast.ListComp | ast.Dict | ast.Set)
                    self.writes |= bool(grows) and self._kinds.get(node.target.id) == LIVE
                else:
                    self._bind(node.target, NEW)
            case ast.Delete():
                for target in node.targets:
                    if not isinstance(target, ast.Name):
                        self._bind(target, NEW)
            case ast.Return():
                self.returns = max(self.returns, self._kind(node.value) if node.value else NEW)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._kind(child)

    def _bind(self, target: ast.expr, kind: int) -> None:
        match target:
            case ast.Name():
                self._kinds[target.id] = kind
            case ast.Tuple() | ast.List():
                for part in target.elts:
                    self._bind(part, LIVE if kind else NEW)
            case ast.Starred():
                self._bind(target.value, kind)
            case ast.Attribute():
                self.writes |= self._is_self(target.value) or self._kind(target.value) == LIVE
            case ast.Subscript():
                self.writes |= self._kind(target.value) == LIVE

    # Expressions

    def _is_self(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self._self

    def _kind(self, node: ast.expr) -> int:
        match node:
            case ast.Name():
                return LIVE if self._is_self(node) else self._kinds.get(node.id, NEW)
            case ast.Attribute():
                return LIVE if self._kind(node.value) else NEW
            case ast.Subscript():
                self._kind(node.slice)
                kind = self._kind(node.value)
                return HOLDER if kind and isinstance(node.slice, ast.Slice) else LIVE if kind else NEW
            case ast.Call():
                return self._call(node)
            case ast.NamedExpr():
                kind = self._kind(node.value)
                self._bind(node.target, kind)
                return kind
            case ast.IfExp():
                self._kind(node.test)
                return max(self._kind(node.body), self._kind(node.orelse))
            case ast.BoolOp():
                return max(map(self._kind, node.values))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.Await() | ast.Starred():
                return self._kind(node.value)
            case ast.Lambda():
                self._kind(node.body)
                return NEW
        inner = node.values if isinstance(node, ast.Dict) else ast.iter_child_nodes(node)
        parts = [self._kind(child) for child in inner if isinstance(child, ast.expr)]
        holds = isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.BinOp) and any(parts)
        return HOLDER if holds else NEW

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> int:
        outer = dict(self._kinds)
        for generator in node.generators:
            self._bind(generator.target, LIVE if self._kind(generator.iter) else NEW)
            for test in generator.ifs:
                self._kind(test)
        # A key cannot be written into, so only what is under it counts.
        kind = self._kind(node.value if isinstance(node, ast.DictComp) else node.elt)
        self._kinds = outer
        return HOLDER if kind else NEW

    def _call(self, node: ast.Call) -> int:
        given = [self._kind(part) for part in [*node.args, *(k.value for k in node.keywords)]]
        function = node.func
        if isinstance(function, ast.Attribute):
            if self._is_self(function.value) and function.attr in self._facts:
                return self._helper(self._facts[function.attr], given)
            base = self._kind(function.value)
            if function.attr in _CHANGE and base == LIVE:
                self.writes = True
            if base:
                return LIVE if function.attr in _TAKE else HOLDER if function.attr in _VIEW else NEW
        return self._plain(getattr(function, "attr", getattr(function, "id", "")), given)

    def _helper(self, facts: _Facts, given: list[int]) -> int:
        self.writes |= facts.writes or (facts.writes_arguments and LIVE in given)
        # A helper may hand back what it was given.
        return max([facts.returns, *given])

    def _plain(self, name: str, given: list[int]) -> int:
        if name in _FIRST_ARGUMENT and given and given[0] == LIVE:
            self.writes = True
        if not any(given):
            return NEW
        return LIVE if name in _PICK else HOLDER if name in _COLLECT else NEW
