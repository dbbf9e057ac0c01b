"""JSON schemas as OpenAI's strict mode wants them, where they can be.

Strict mode makes a server's answer follow the schema to the letter, but it knows no free-form objects, no
defaults, and wants every property required. `strict_schema` rewrites a schema for it or says that it cannot
be; `client` uses it. Nothing here validates an answer.
"""

from collections.abc import Mapping
from typing import Any

_UNKNOWN_TO_STRICT = {"default", "title", "examples", "minLength", "maxLength", "uniqueItems", "prefixItems"}
_FREE = {"patternProperties", "propertyNames", "oneOf", "allOf", "not", "if", "prefixItems"}


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema in strict form; None when it allows what strict mode cannot say, e.g. a free-form object."""
    try:
        return _strict(dict(schema))
    except _Free:
        return None


class _Free(Exception):
    """A part of the schema has no strict form."""


def _strict(schema: Any) -> dict[str, Any]:
    # A schema that says nothing (`{}` or `true`) allows anything, which strict mode refuses.
    if not isinstance(schema, dict) or not {"type", "$ref", "anyOf", "enum", "const"} & set(schema):
        raise _Free
    if _FREE & set(schema):
        raise _Free
    made = {key: value for key, value in schema.items() if key not in _UNKNOWN_TO_STRICT}
    if "$ref" in made:
        # No sibling may stand beside a reference; a description is the only one that pydantic writes.
        made = {key: made[key] for key in ("$ref", "$defs") if key in made}
    for key in ("$defs", "properties"):
        if key in made:
            made[key] = {name: _strict(part) for name, part in made[key].items()}
    if "anyOf" in made:
        made["anyOf"] = [_strict(part) for part in made["anyOf"]]
    return _strict_type(made)


def _strict_type(made: dict[str, Any]) -> dict[str, Any]:
    if made.get("type") == "array":
        made["items"] = _strict(made.get("items"))
    if made.get("type") == "object":
        if not made.get("properties") or made.get("additionalProperties") not in (None, False):
            raise _Free
        made |= {"additionalProperties": False, "required": list(made["properties"])}
    return made
