"""What the text of a class says of its world: its entities, its rules, and whether a method is fit to be a
tool.

Static like `source`, beside which it stands: `source` reads and joins code, this module reads what a person
needs to know about it. Nothing is executed, and nothing is said about what the code does.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from envscaler import syntax
from envscaler.error import SourceError
from envscaler.schema import Attribute, Entity, Json, Skeleton
from envscaler.world.annotations import Types
from envscaler.world.tree import Function, find_class, parse_tree, text_of

_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.+)$")
_RECORD = re.compile(r"^(?:typing\.)?(?:dict|Dict)\[\s*(?:str|int)\s*,\s*['\"]?(\w+)['\"]?\s*\]$")
_RECORDS = re.compile(r"^(?:typing\.)?(?:list|List)\[\s*['\"]?(\w+)['\"]?\s*\]$")


def method_problem(source: str, name: str) -> str:
    """Why this source cannot be the tool `name`, in a sentence; "" when it can.

    A tool is one plain function of that name with `self`, annotated parameters, a docstring that describes
    every parameter, and at least one `return` of a value.
    """
    try:
        body = parse_tree(source).body
    except SourceError as error:
        return str(error)
    functions = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if len(functions) != 1 or not isinstance(functions[0], ast.FunctionDef):
        return f"Expected one plain function `def {name}(self, …)` and nothing else, got {_kinds(functions)}."
    return _function_problem(functions[0], name)


def _kinds(nodes: list[ast.stmt]) -> str:
    return ", ".join(f"{type(node).__name__} in line {node.lineno}" for node in nodes) or "nothing"


def _function_problem(function: ast.FunctionDef, name: str) -> str:
    if function.name != name:
        return f"The method must be called {name}, not {function.name}."
    if function.decorator_list:
        return "A tool has no decorators."
    parameters = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    if not parameters or parameters[0].arg != "self":
        return f"The first parameter of {name} must be self."
    if function.args.vararg or function.args.kwarg:
        return f"{name} must name its parameters; *args and **kwargs have no schema."
    if bare := [p.arg for p in parameters[1:] if p.annotation is None]:
        return f"The parameter {bare[0]} of {name} needs a type annotation."
    doc = ast.get_docstring(function) or ""
    if not doc:
        return f"{name} needs a docstring."
    if silent := [
        p.arg for p in parameters[1:] if not re.search(rf"^\s*\*{{0,2}}{p.arg}\b[^:\n]*:", doc, re.M)
    ]:
        return f"The docstring of {name} must describe the parameter {silent[0]} under `Args:`."
    returns = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function))
    return "" if returns else f"{name} returns nothing; it must reply with a dict."


def method_in(source: str, name: str, head: str = "") -> str:
    """The method `name` and its imports out of what stands around it: a class, other methods, lines that try it.

    The source as it is, for `method_problem` to speak of, where there is no such method or it needs what would go.

    Args:
        source: what was written when one method was asked for.
        name: the method.
        head: the class it is for, which may have been written down again.
    """
    try:
        body = parse_tree(source).body
        known = {getattr(node, "name", "") for node in ast.walk(parse_tree(head))}
    except SourceError:
        return source
    homes: list[tuple[ast.stmt, ast.ClassDef | None]] = [(node, None) for node in body]
    homes += [(inner, node) for node in body if isinstance(node, ast.ClassDef) for inner in node.body]
    found = [(f, home) for f, home in homes if isinstance(f, Function) and f.name == name]
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    if not found or len(body) == len(imports) + (found[-1][1] is None):
        return source
    method, home = found[-1]
    rest = [node for node in body if node not in (method, home) and node not in imports]
    rest += [node for node in (home.body if home else ()) if getattr(node, "name", "").startswith("_")]
    needed = {node.id for node in ast.walk(method) if isinstance(node, ast.Name)}
    needed |= {node.attr for node in ast.walk(method) if isinstance(node, ast.Attribute)}
    if needed & ({bound for node in rest for bound in _bound(node)} - known):
        return source
    lines = source.splitlines()
    return "\n".join([*map(ast.unparse, imports), text_of(method, lines)]) + "\n"


def _bound(node: ast.stmt) -> set[str]:
    """The names a statement gives."""
    if isinstance(node, ast.ClassDef | Function):
        return {node.name}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def signature(source: str) -> str:
    """The parameters of the first function of a source, as text: what a repair must not change."""
    function = next(
        (node for node in ast.walk(syntax.parse(source)) if isinstance(node, ast.FunctionDef)), None
    )
    return ast.unparse(function.args) if function else ""


def read_docstring(source: str, class_name: str) -> tuple[str, list[str]]:
    """First paragraph and list items of a class docstring: what the world is, and its rules."""
    lines = (ast.get_docstring(_class(source, class_name)) or "").splitlines()
    about = " ".join(line.strip() for line in _first_paragraph(lines))
    rules: list[str] = []
    for line in lines:
        if item := _ITEM.match(line):
            rules.append(item[1].strip())
        elif rules and line.strip() and line.startswith(" "):
            rules[-1] = f"{rules[-1]} {line.strip()}"
    return about, rules


def _first_paragraph(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.strip() or _ITEM.match(line):
            return
        yield line


def read_entities(source: str, class_name: str) -> list[Entity]:
    """The kinds of things a state holds: one for each record type, and one for each table without a known
    type.

    Record types are `TypedDict`s; a table is `self.rooms: dict[str, Room]` (or a list) in `__init__`.
    Descriptions are the docstring of the type and the comment behind a field.
    """
    types = _record_types(source)
    tables = _tables(source, class_name)
    entities = []
    for record, attributes in types.items():
        table = next((name for name, held in tables.items() if held == record), "")
        entities.append(
            Entity(name=record, table=table, attributes=attributes, description=_about(source, record))
        )
    known = {entity.table for entity in entities}
    loose = [name for name, held in tables.items() if name not in known and held not in types]
    return entities + [Entity(name=name, table=name, attributes=[]) for name in loose]


def state_problem(skeleton: Skeleton, state: dict[str, Json]) -> str:
    """What is plainly wrong with a state of this class, read off its text; "" when nothing is.

    Whether it loads is for `world.environment` to say, and whether it keeps the rules for `world.check`.
    """
    own = {name for name in attributes(skeleton.source, skeleton.class_name) if not name.startswith("_")}
    names = own | {entity.table for entity in skeleton.state}
    if unknown := [name for name in state if name not in names]:
        return f"The class has no attribute {unknown[0]!r}; it has {', '.join(sorted(names - {''}))}."
    if not any(isinstance(value, dict | list) and value for value in state.values()):
        return "Every table is empty; there is nothing to work with."
    for entity in skeleton.state:
        table = state.get(entity.table)
        if isinstance(table, dict):
            for key, record in table.items():
                if problem := _record_problem(entity, key, record):
                    return problem
        elif entity.table in state and entity.attributes and not isinstance(table, list):
            return f"{entity.table} must be an object from id to record, got {type(table).__name__}."
    return ""


def _record_problem(entity: Entity, key: str, record: Json) -> str:
    if not entity.attributes:
        return ""
    where = f"{entity.table}/{key}"
    if not isinstance(record, dict):
        return f"{where} must be a record with the attributes of {entity.name}, got {type(record).__name__}."
    required = [a.name for a in entity.attributes if "NotRequired" not in a.type]
    if missing := [name for name in required if name not in record]:
        return f"{where} lacks the attribute {missing[0]}."
    first = entity.attributes[0].name
    if (first == "id" or first.endswith("_id")) and str(record[first]) != key:
        return f"{where} must hold its own id: its {first} is {record[first]!r}."
    return ""


def attributes(source: str, class_name: str | None) -> dict[str, ast.expr | None]:
    """Every attribute that a class's code sets, with its annotation where it has one.

    Raises:
        SourceError: the source does not parse, or has no such class.
    """
    found: dict[str, ast.expr | None] = {}
    for node in ast.walk(_class(source, class_name)):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            found[node.target.attr] = node.annotation
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.attr, None)
    return found


@lru_cache(maxsize=64)
def _tree(source: str) -> ast.Module:
    # The states of one class are judged one after another; its tree is only ever read.
    return parse_tree(source)


def _class(source: str, class_name: str | None) -> ast.ClassDef:
    return find_class(_tree(source), class_name)


def _about(source: str, class_name: str) -> str:
    return (ast.get_docstring(_class(source, class_name)) or "").split("\n\n")[0].replace("\n", " ")


def _record_types(source: str) -> dict[str, list[Attribute]]:
    found: dict[str, list[Attribute]] = {}
    tree, lines = _tree(source), source.splitlines()
    types = Types(tree)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base).split(".")[-1] for base in node.bases]
            if "TypedDict" in bases or any(base in found for base in bases):
                found[node.name] = [_attribute(*field, lines) for field in types.fields(node).values()]
    return found


def _attribute(field: ast.AnnAssign, needed: bool, lines: list[str]) -> Attribute:
    behind = lines[(field.end_lineno or field.lineno) - 1].encode()[field.end_col_offset or 0 :].decode()
    kind = ast.unparse(field.annotation)
    return Attribute(
        name=ast.unparse(field.target),
        type=kind if needed or "NotRequired" in kind else f"NotRequired[{kind}]",
        description=behind.partition("#")[2].strip(),
    )


def _tables(source: str, class_name: str) -> dict[str, str]:
    """Name and record type of each annotated table that the class sets; "" for a type that is no name."""
    annotated = {name: _held(ast.unparse(a)) for name, a in attributes(source, class_name).items() if a}
    return {name: held for name, held in annotated.items() if held is not None and not name.startswith("_")}


def _held(annotation: str) -> str | None:
    """The record type in a table's annotation, "" for a table of something else, None for no table."""
    if match := _RECORD.match(annotation) or _RECORDS.match(annotation):
        return match[1]
    return "" if annotation.startswith(("dict", "Dict", "list", "List")) else None
