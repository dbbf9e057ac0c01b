"""What providers refuse in the schema of a tool: one bad tool, and the whole request fails.

Each rule is a restriction that a provider's API answers with an error, not a matter of taste: OpenAI's function
calling, Gemini's function declarations (an OpenAPI subset in which a type is one word), Anthropic's tools, and
vLLM where it makes the answer follow the schema (tool choice `required` or a named function). Providers loosen
and tighten their rules; what is refused here was refused when this was written. Missing descriptions are no
fault of this kind: every provider takes them, and every agent suffers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from envscaler.record import as_dict
from envscaler.schema import Finding, Json, Tool
from envscaler.world.docstring import MOST_DESCRIPTION as MOST_DESCRIPTION

Provider = Literal["OpenAI", "Gemini", "Anthropic", "vLLM"]
PROVIDERS: tuple[Provider, ...] = ("OpenAI", "Gemini", "Anthropic", "vLLM")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_NOT_AT_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")
_NO_GRAMMAR = (
    "multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "patternProperties", "propertyNames",
)  # fmt: skip
_INSIDE = ("anyOf", "oneOf", "allOf", "prefixItems")


@dataclass(frozen=True)
class Refusal:
    """One part of a tool's schema that providers refuse."""

    tool: str
    """The tool."""
    kind: str
    """A short fixed name, e.g. `array-without-items`."""
    where: str
    """The part, e.g. `parameters.tags.items`."""
    message: str
    """What is wrong with it."""
    by: tuple[Provider, ...]
    """Who refuses it."""


def refusals(tools: Sequence[Tool]) -> list[Refusal]:
    """What providers refuse in the schemas of these tools, in the order of the tools."""
    return [refusal for tool in tools for refusal in _of_tool(tool)]


def lint_schemas(tools: Sequence[Tool]) -> list[Finding]:
    """`refusals` as findings, one for each tool and kind."""
    found: dict[tuple[str, str], list[Refusal]] = {}
    for refusal in refusals(tools):
        found.setdefault((refusal.tool, refusal.kind), []).append(refusal)
    return [_finding(tool, kind, parts) for (tool, kind), parts in found.items()]


def _finding(tool: str, kind: str, parts: list[Refusal]) -> Finding:
    by = parts[0].by
    message = f"{tool}: {parts[0].message} {_named(by)} refuse{'s' if len(by) == 1 else ''} it."
    evidence: dict[str, Json] = {"parts": [part.where for part in parts], "refused by": list(by)}
    return Finding(kind=f"schema-{kind}", severity="warning", where=tool, message=message, evidence=evidence)


def _named(providers: Sequence[str]) -> str:
    return providers[0] if len(providers) == 1 else f"{', '.join(providers[:-1])} and {providers[-1]}"


def described(tool: Tool) -> tuple[int, int]:
    """How many of a tool's parameters have a description, and how many it has."""
    parameters = as_dict(as_dict(tool.parameters).get("properties"))
    texts = [as_dict(schema).get("description") for schema in parameters.values()]
    return sum(isinstance(text, str) and bool(text.strip()) for text in texts), len(texts)


def _of_tool(tool: Tool) -> Iterator[Refusal]:
    def refused(kind: str, where: str, message: str, *by: Provider) -> Refusal:
        return Refusal(tool.name, kind, where, message, by)

    if not _NAME.fullmatch(tool.name):
        message = f"A name is letters, digits, _ and -, at most 64 of them, not {tool.name!r:.80}."
        yield refused("name", "name", message, "OpenAI", "Gemini", "Anthropic")
    if len(tool.description) > MOST_DESCRIPTION:
        message = (
            f"The description has {len(tool.description):,} characters, {MOST_DESCRIPTION:,} are allowed."
        )
        yield refused("long-description", "description", message, "OpenAI")
    top = as_dict(tool.parameters)
    if top and top.get("type") != "object":
        message = f"The parameters must be of type object, got {top.get('type')!r}."
        yield refused("not-an-object", "parameters", message, *PROVIDERS)
    for word in _NOT_AT_TOP:
        if word in top:
            by: tuple[Provider, ...] = ("OpenAI",) if word in ("enum", "not") else ("OpenAI", "Anthropic")
            yield refused("combined-at-top", f"parameters.{word}", f"{word} stands at the top.", *by)
    for where, schema in _walk(top, "parameters"):
        for kind, message, refusing in _of_part(schema):
            yield refused(kind, where, message, *refusing)


def _of_part(schema: Any) -> Iterator[tuple[str, str, tuple[Provider, ...]]]:
    if not isinstance(schema, dict):
        yield "no-schema", f"A schema is an object, got {schema!r:.40}.", ("OpenAI", "Gemini", "Anthropic")
        return
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind] if kind is not None else []
    if unknown := [k for k in kinds if not isinstance(k, str) or k not in _TYPES]:
        yield "unknown-type", f"{unknown[0]!r:.40} is no JSON type.", PROVIDERS
    if isinstance(kind, list):
        yield "type-list", f"A type is one word, got {kind}.", ("Gemini",)
    if not kinds and not {"anyOf", "$ref"} & schema.keys():
        yield "no-type", "There is no type.", ("Gemini",)
    if "array" in kinds and not isinstance(schema.get("items"), dict):
        yield "array-without-items", "An array does not say what is in it.", ("OpenAI", "Gemini")
    yield from _of_words(schema, kinds)


def _of_words(schema: dict[str, Json], kinds: list[Any]) -> Iterator[tuple[str, str, tuple[Provider, ...]]]:
    if "$ref" in schema:
        yield "reference", "Schemas must be written out, $ref is refused.", ("Gemini", "Anthropic")
    for word in ("oneOf", "allOf", "not", "const"):
        if word in schema:
            yield "unknown-word", f"{word} is not known.", ("Gemini",)
    if "enum" in schema and kinds and kinds != ["string"]:
        yield "enum-of-numbers", "Only texts can be enumerated.", ("Gemini",)
    for word in _NO_GRAMMAR:
        if word in schema:
            yield "no-grammar", f"{word} cannot be enforced while decoding.", ("vLLM",)
    properties = as_dict(schema.get("properties"))
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    if missing := [name for name in needed if not isinstance(name, str) or name not in properties]:
        yield "required-unknown", f"{missing[0]!r:.40} is required and no property.", ("Gemini",)
    if odd := [name for name in properties if not _PROPERTY.fullmatch(name)]:
        message = f"A property is letters, digits, _ . and -, at most 64 of them, not {odd[0]!r:.80}."
        yield "property-name", message, ("Anthropic",)


def _walk(schema: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Every part of a schema that is a schema itself, with its place."""
    yield where, schema
    if not isinstance(schema, dict):
        return
    for name, part in as_dict(schema.get("properties")).items():
        yield from _walk(part, f"{where}.{name}")
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            yield from _walk(schema[word], f"{where}.{word}")
    for word in _INSIDE:
        parts = schema.get(word)
        for number, part in enumerate(parts if isinstance(parts, list) else []):
            yield from _walk(part, f"{where}.{word}[{number}]")
