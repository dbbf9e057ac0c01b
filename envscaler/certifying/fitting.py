"""Whether an initial state, and what is said of states, fits the class: tables, their records' fields, their types.

What a class expects is read off its annotations (`self.rooms: Dict[str, RoomInfo]`); nothing is executed. A class
without annotations expects nothing, and then nothing is found. A state that does not fit may still load, for
Python does not look: a tool then raises, or silently finds nothing, in the middle of an episode.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from envscaler.error import SourceError
from envscaler.schema import Finding, Json, Severity, Skeleton
from envscaler.world.annotations import Types
from envscaler.world.change import State
from envscaler.world.outline import attributes, read_entities
from envscaler.world.tree import parse_tree

_MOST_SHOWN = 5
_STRIPPED = frozenset("- Attributes: ")
"""What some published descriptions were stripped of at both ends, letter by letter."""
_PYTHON: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
}  # fmt: skip


def expected(source: str, class_name: str | None) -> dict[str, dict[str, Any]]:
    """The attributes that a class sets, with the JSON schema of their annotation; `{}` where it has none.

    Raises:
        SourceError: the source does not parse, or has no such class.
    """
    types = Types(parse_tree(source))
    found = attributes(source, class_name)
    return {name: types.schema(annotation) if annotation else {} for name, annotation in found.items()}


def misfits(skeleton: Skeleton, state: State) -> list[Finding]:
    """What of a state does not fit the class; one finding for each table and fault, with examples."""
    try:
        wanted = expected(skeleton.source, skeleton.class_name)
    except SourceError:
        return []  # that it cannot be loaded is said elsewhere
    found = []
    unknown = sorted(name for name in state if name not in wanted and not name.startswith("_"))
    if unknown and wanted:
        message = f"The state has {', '.join(unknown)}, which the class never sets."
        found.append(_finding("unknown-table", "warning", unknown[0], message, tables=list(unknown)))
    for name, value in state.items():
        if schema := wanted.get(name):
            found += _of_table(name, schema, value)
    return found


def clipped(skeleton: Skeleton) -> list[Finding]:
    """Names that lost letters at an end where the state is described, as the class's record types show; one note."""
    try:
        entities = read_entities(skeleton.source, skeleton.class_name)
    except SourceError:
        return []
    types = [{attribute.name for attribute in entity.attributes} for entity in entities]
    lost: dict[str, Json] = {}
    for entity in skeleton.state:
        said = [attribute.name for attribute in entity.attributes]
        fields = max(types, key=lambda fields: len(fields & set(said)), default=set())
        left = sorted(fields - set(said)) if fields & set(said) else []
        for name, whole in ((said[:1], str.endswith), (said[-1:], str.startswith)):
            if not name or name[0] in fields:
                continue
            meant = [f for f in left if whole(f, name[0]) and set(f.replace(name[0], "", 1)) <= _STRIPPED]
            if len(meant) == 1:
                lost[f"{entity.name}.{name[0]}"] = meant[0]
    if not lost:
        return []
    shown = ", ".join(f"{name} for {field}" for name, field in list(lost.items())[:_MOST_SHOWN])
    number = f"{len(lost)} names have" if len(lost) > 1 else "a name has"
    message = f"Where the state is described, {number} lost letters: {shown}."
    return [_finding("clipped", "note", skeleton.class_name, message, names=lost)]


def _finding(kind: str, severity: Severity, where: str, message: str, **evidence: Json) -> Finding:
    return Finding(kind=f"state-{kind}", severity=severity, where=where, message=message, evidence=evidence)


def _of_table(name: str, schema: dict[str, Any], value: Json) -> Iterator[Finding]:
    faults: dict[tuple[str, str], list[str]] = {}
    rows = 0
    for key, row, of_row in _rows(schema, value):
        rows += 1
        for fault, field in _of_row(of_row, row):
            faults.setdefault((fault, field), []).append(key)
    if schema.get("type") and not _is_a(value, schema):
        message = f"{name} should be of type {schema['type']}, got {type(value).__name__}."
        yield _finding("wrong-type", "warning", name, message)
    kinds = Counter(fault for fault, _ in faults)
    for (fault, field), keys in faults.items():
        message = {
            "missing-field": f"{len(keys)} of {rows} records of {name} lack {field}, which the class declares.",
            "unknown-field": f"{len(keys)} of {rows} records of {name} have {field}, which the class does not declare.",
            "wrong-type": f"{len(keys)} of {rows} records of {name} hold another type in {field} than declared.",
            "no-record": f"{len(keys)} of {rows} entries of {name} are no records, as the class declares them.",
        }[fault]
        severity: Severity = "note" if fault == "unknown-field" else "warning"
        told: dict[str, Json] = {"records": keys[:_MOST_SHOWN], "of this kind": kinds[fault]}
        yield _finding(fault, severity, f"{name}.{field}" if field else name, message, **told)


def _rows(schema: dict[str, Any], value: Json) -> Iterator[tuple[str, Json, dict[str, Any]]]:
    """Records with the schema that the class declares for them."""
    if isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        yield from ((str(key), row, schema["additionalProperties"]) for key, row in value.items())
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        yield from ((str(place), row, schema["items"]) for place, row in enumerate(value))


def _of_row(schema: dict[str, Any], row: Json) -> Iterator[tuple[str, str]]:
    fields = schema.get("properties")
    if not fields:
        return
    if not isinstance(row, dict):
        yield "no-record", ""
        return
    for name in schema.get("required") or []:
        if name not in row:
            yield "missing-field", name
    for name, part in row.items():
        if name not in fields:
            yield "unknown-field", name
        elif not _is_a(part, fields[name]):
            yield "wrong-type", name


def _is_a(value: Json, schema: dict[str, Any]) -> bool:
    """Whether a value is of a schema's type; a whole number is a number, and null is what `nullable` allows."""
    if "anyOf" in schema:
        return (value is None and bool(schema.get("nullable"))) or any(
            _is_a(value, p) for p in schema["anyOf"]
        )
    kind = schema.get("type")
    if kind not in _PYTHON or (value is None and schema.get("nullable")):
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _PYTHON[kind])
