"""One finding of a trial, made in one line. What counts as one is decided in the trials."""

from typing import Any

from envscaler.schema import Finding, Json, Severity


def finding(kind: str, severity: Severity, where: str, message: str, **evidence: Json) -> Finding:
    """A finding with its evidence."""
    return Finding(kind=kind, severity=severity, where=where, message=message, evidence=evidence)


def as_dict(value: Any) -> dict[str, Any]:
    """The value where it is a dict, else an empty one."""
    return value if isinstance(value, dict) else {}
