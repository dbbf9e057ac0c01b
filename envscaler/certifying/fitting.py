"""Whether an initial state fits the class it is for: its tables, their records' fields, and the fields' types.

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
from envscaler.world.outline import attributes
from envscaler.world.tree import parse_tree

_MOST_SHOWN = 5
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
