"""Faults in what a method does and says: a wrong field, a change it should not make, a reply that lies, chance.

Each operator says where in a method its fault fits; whether it changes anything is found out by running (`sources`).
"""

import ast
from collections.abc import Iterator

from envscaler.world.mutants.kinds import kind
from envscaler.world.mutants.method import (
    Change,
    Method,
    Write,
    before,
    begin,
    bindings,
    end,
    names,
    replaced,
)
from envscaler.world.witness import succeeded


@kind(
    "wrong field updated",
    "judge",
    "Another field of the same type is as good as the right one to who does not know.",
)
def wrong_field_updated(method: Method) -> Iterator[Change]:
    """A value written into another field of the same record."""
    for node in method.writes:
        match method.written(node):
            case ast.Subscript(value=record, slice=ast.Constant(value=str(field)) as key):
                for other in method.world.siblings(field, _used(method, record)):
                    told = f"{field} is not written, {other} is instead."
                    yield Change((replaced(key, f'"{other}"'),), told)


def _used(method: Method, record: ast.expr) -> set[str]:
    """Fields that the method uses of a record."""
    text = method.text(record)
    return {
        n.slice.value
        for n in ast.walk(method.node)
        if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant)
        and isinstance(n.slice.value, str) and method.text(n.value) == text
    }  # fmt: skip


@kind(
    "change on failure",
    "execution",
    "A call that is refused changes the state.",
    proof=lambda d: not d.raised and not succeeded(d.reply) and bool(d.diff),
)
def change_on_failure(method: Method) -> Iterator[Change]:
    """A write that is made although the call is refused."""
    for guard in method.guards:
        known = method.bound_before(guard) | {"self"}
        for node in method.writes if not method.asks_existence(guard) else ():
            if begin(node) > end(guard) and _needs(method, node) <= known:
                told = f"The refusal of line {guard.lineno} makes the change of line {node.lineno}."
                yield Change((before(guard.body[-1], method.text(node)),), told)


def _needs(method: Method, node: ast.stmt) -> set[str]:
    """Names of the method that a statement reads; what is not bound in the method is global."""
    bound = {n.id for n in ast.walk(method.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own = {n for part in ast.walk(node) if isinstance(part, ast.comprehension) for n in names(part.target)}
    return names(node) & (bound | method.parameters.keys()) - own


@kind(
    "read that writes",
    "execution",
    "A tool that is declared a read changes the state.",
    proof=lambda d: not d.raised and bool(d.diff),
)
def read_that_writes(method: Method) -> Iterator[Change]:
    """A read that keeps a note of itself, tidies up, or makes what it does not find."""
    if method.tool.mutates:
        return
    found = [*_noted(method), *_made_or_marked(method)]
    yield from found
    asked = sorted(method.parameters)[0] if method.parameters else repr(method.tool.name)
    for node in method.successes if not found else ():
        yield Change(
            (before(node, f"self.last_read = {asked}"),), "What was asked last is kept in the state."
        )


def _noted(method: Method) -> Iterator[Change]:
    """The record that is read is counted or tidied."""
    for node in method.successes:
        for name in sorted(_records_at(method, node)):
            counted = f'{name}["views"] = {name}.get("views", 0) + 1'
            yield Change((before(node, counted),), f"Every reading is counted in the record, {name}.")
            for field in _texts(method, name):
                tidied = f'{name}["{field}"] = {name}["{field}"].strip().title()'
                yield Change((before(node, tidied),), f"The {field} of {name} is tidied when it is read.")


def _made_or_marked(method: Method) -> Iterator[Change]:
    """What is not there is made when asked for; what is looked through is marked."""
    for part in ast.walk(method.node):
        match part:
            case ast.Call(func=ast.Attribute(attr="get") as get, args=[key]) if method.root(get.value):
                text = method.text(get.value)
                made = replaced(part, f"{text}.setdefault({method.text(key)}, {{}})")
                yield Change((made,), f"What is not in {text} is made when it is asked for.")
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Attribute(attr="values", value=table)),
                body=[first, *_],
            ) if method.root(table):
                yield Change(
                    (before(first, f'{name}["seen"] = True'),), f"Every {name} that is looked at is marked."
                )


def _records_at(method: Method, node: ast.stmt) -> set[str]:
    """Names that hold one record of the state when a statement is reached: `self.table[x]`, `self.table.get(x)`."""
    known = method.bound_before(node)
    return {
        name
        for other in method.statements
        for name, value in bindings(other)
        if name in known and method.root(value) and _is_look_up(value)
    }


def _is_look_up(value: ast.expr) -> bool:
    match value:
        case ast.Subscript(value=ast.Name() | ast.Attribute()):
            return True
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Name() | ast.Attribute())):
            return True
    return False


def _texts(method: Method, name: str) -> list[str]:
    """Fields of a record that the method reads and that are texts."""
    read = {
        n.slice.value
        for n in ast.walk(method.node)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == name
        and isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, str)
    }  # fmt: skip
    return sorted(
        field for field in read if method.world.types(field) == {"str"} and not field.endswith("id")
    )


@kind(
    "reply that lies",
    "execution",
    "The call reports success, and the state is not as its reply says or is as before.",
    proof=lambda d: not d.raised and succeeded(d.reply) and succeeded(d.expected),
)
def reply_that_lies(method: Method) -> Iterator[Change]:
    """A change made to a copy and lost, or a reply that shows the record as it was before the change."""
    yield from _lost(method)
    yield from _stale_reply(method)


def _lost(method: Method) -> Iterator[Change]:
    seen = set()
    for node in method.writes:
        target = method.written(node)
        match target:
            case ast.Subscript(value=ast.Name(id=name)) if name not in seen and not _put_back(method, name):
                seen.add(name)
                yield Change(
                    (before(node, f"{name} = dict({name})"),), f"The change is made to a copy of {name}."
                )
            case ast.Subscript(value=ast.Subscript() as record):
                same = [t for t in map(method.written, method.writes) if isinstance(t, ast.Subscript)]
                text = method.text(record)
                edits = [replaced(t.value, f"dict({text})") for t in same if method.text(t.value) == text]
                if text not in seen:
                    seen.add(text)
                    yield Change(tuple(edits), f"The change is made to a copy of {text}.")


def _put_back(method: Method, name: str) -> bool:
    """Whether a record is written into its table again afterwards."""
    return any(
        isinstance(n, ast.Assign) and isinstance(n.value, ast.Name) and n.value.id == name
        for n in method.writes
    )


def _stale_reply(method: Method) -> Iterator[Change]:
    for node in method.writes:
        target = method.written(node)
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            continue
        name = target.value.id
        for success in method.successes:
            shown = [
                part
                for part in ast.walk(success)
                if isinstance(part, ast.Call | ast.Name)
                and method.text(part) in (name, f"dict({name})", f"{name}.copy()")
            ]
            if shown and begin(success) > end(node) and success.col_offset <= node.col_offset:
                edits = (before(node, f"as_shown = dict({name})"), replaced(shown[0], "as_shown"))
                yield Change(
                    edits, f"The reply shows {name} as it was before the change of line {node.lineno}."
                )


@kind(
    "nondeterminism",
    "execution",
    "The same call in the same state has another outcome.",
    proof=lambda d: not d.raised,
)
def nondeterminism(method: Method) -> Iterator[Change]:
    """An order or a value by chance or by place in memory, or an answer that hangs on calls long past."""
    first = next((n for n in method.node.body if not _is_text(n)), None)
    if first is None:
        return
    found = [
        *_in_another_order(method, first),
        *(c for write in method.writes for c in _by_chance(method, write, first)),
    ]
    yield from found or [_remembering(method, first)]


def _in_another_order(method: Method, first: ast.stmt) -> Iterator[Change]:
    for node in method.successes:
        for value in _listed(method, node):
            text = method.text(value)
            shuffled = (
                before(first, "import random"),
                replaced(value, f"random.sample({text}, len({text}))"),
            )
            yield Change(shuffled, f"`{text}` comes in an order by chance.")
            yield Change(
                (replaced(value, f"sorted({text}, key=id)"),), f"`{text}` comes in the order of memory."
            )
            half = f"[part for part in {text} if random.random() < 0.7]"
            yield Change(
                (before(first, "import random"), replaced(value, half)), f"`{text}` misses some by chance."
            )


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _listed(method: Method, node: ast.Return) -> Iterator[ast.expr]:
    """Lists that a reply brings."""
    for value in node.value.values if isinstance(node.value, ast.Dict) else ():
        if (isinstance(value, ast.Name) and value.id in method.lists) or isinstance(value, ast.ListComp):
            yield value


def _remembering(method: Method, first: ast.stmt) -> Change:
    """The reply depends on how often the method was called in this process, which no state shows."""
    count = 'type(self).requests = getattr(type(self), "requests", 0) + 1'
    refuse = (
        'if type(self).requests % 3 == 0:\n{margin}    return {"success": False, "error": "Try again later."}'
    )
    statements = (count, refuse.replace("{margin}", " " * first.col_offset))
    return Change((before(first, *statements),), "Every third call is refused, counted outside the state.")


def _by_chance(method: Method, write: Write, first: ast.stmt) -> Iterator[Change]:
    if isinstance(write, ast.Assign | ast.AugAssign) and method.is_number(write.value):
        text = f"({method.text(write.value)}) + random.choice((0, 1))"
        edits = (before(first, "import random"), replaced(write.value, text))
        yield Change(edits, f"What line {write.lineno} writes depends on chance.")
