"""Schemas held against signatures: what a caller who keeps to the declared schema runs into. Nothing is executed."""

from collections.abc import Iterator
from typing import Any

from envscaler.schema import Finding, Json, Skeleton, Tool
from envscaler.world.schemas import problems, sound_schema
from envscaler.world.source import read_tools
from envscaler.world.trials.finding import finding

_MOST = 20
"""Parts of a schema that are told."""


def check_tools(skeleton: Skeleton) -> Iterator[Finding]:
    """What declared tools and public methods disagree on."""
    there = {tool.name: tool for tool in read_tools(skeleton.source, skeleton.class_name)}
    for tool in skeleton.tools:
        if wrong := problems(tool.parameters):
            message = f"{tool.name} declares what is no schema: {wrong[0]}."
            yield finding("schema-malformed", "error", tool.name, message, parts=wrong[:_MOST])
        if tool.name not in there:
            message = f"The tool {tool.name} is declared but no public method."
            yield finding("no-method", "error", tool.name, message)
            continue
        yield from _compare(tool, there[tool.name])
        if there[tool.name].mutates and not tool.mutates:
            message = f"{tool.name} is declared a read; its code writes."
            yield finding("read-may-write", "note", tool.name, message)
    for name in there.keys() - {tool.name for tool in skeleton.tools}:
        yield finding("undeclared", "note", name, f"The public method {name} is not declared a tool.")


def _compare(tool: Tool, real: Tool) -> Iterator[Finding]:
    plain = tool.model_copy(update={"parameters": sound_schema(tool.parameters)})
    said, takes = plain.properties, real.properties
    must, needs = set(plain.required), set(real.required)
    evidence: dict[str, Json] = {"declared": dict(tool.parameters), "method": dict(real.parameters)}
    if unknown := sorted(said.keys() - takes.keys()):
        message = f"{tool.name} declares {', '.join(unknown)}, which its method does not take."
        yield finding("schema", "error", tool.name, message, **evidence)
    if missing := sorted(needs - must):
        message = f"{tool.name} needs {', '.join(missing)}, which its schema does not require."
        yield finding("schema-required", "error", tool.name, message, **evidence)
    if stricter := sorted(must & takes.keys() - needs):
        message = f"{tool.name} requires {', '.join(stricter)}, which its method has a default for."
        yield finding("schema-required", "note", tool.name, message, **evidence)
    for name in said.keys() & takes.keys():
        if not admitted(said[name]) & admitted(takes[name]):
            kinds = [" or ".join(sorted(admitted(schema))) for schema in (said[name], takes[name])]
            message = f"{tool.name} declares {name} as {kinds[0]}; the method is annotated with {kinds[1]}."
            yield finding("schema-type", "warning", tool.name, message, **evidence)


def admitted(schema: Any) -> set[str]:
    """The JSON types that a schema admits; whole numbers are numbers."""
    if not isinstance(schema, dict):
        return {"string", "number", "boolean", "array", "object"}
    if "anyOf" in schema:
        return set().union(*map(admitted, schema["anyOf"]))
    kind = schema.get("type") or ["string", "number", "boolean", "array", "object"]
    return {"number" if k == "integer" else str(k) for k in ([kind] if isinstance(kind, str) else kind)}
