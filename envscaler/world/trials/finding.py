"""One finding of a trial, made in one line. What counts as one is decided in the trials."""

from envscaler.schema import Finding, Json, Severity


def finding(kind: str, severity: Severity, where: str, message: str, **evidence: Json) -> Finding:
    """A finding with its evidence."""
    return Finding(kind=kind, severity=severity, where=where, message=message, evidence=evidence)
