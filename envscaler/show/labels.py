"""A person's verdicts on probes, and the file that keeps them: JSON Lines, one a line, added at the end.

A later line on the same probe replaces an earlier one. A line that cannot be read is told with its number,
stays in the file as it is, and costs nobody else. Who agrees with whom is not worked out here.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from envscaler.error import StoreError
from envscaler.schema import Intent, Part, Verdict
from envscaler.store import append_line, refuse_no_file, sentence


class Label(Part):
    """What a person says of one probe, with the judge's verdict beside it."""

    audit_id: str
    """The audit."""
    skeleton_id: str
    """The skeleton as it was given to the audit."""
    environment: str
    """Its title."""
    probe: int
    """Number of the probe in the audit, from 0."""
    tool: str
    """The tool that was called."""
    intent: Intent
    """What the tester wanted to see."""
    verdict: Verdict
    """What the judge said."""
    label: Verdict
    """What the person says."""
    note: str = ""
    """Why."""

    @property
    def key(self) -> tuple[str, int]:
        """The probe it is about."""
        return self.audit_id, self.probe


COLUMNS = list(Label.model_fields)


@dataclass
class LabelFile:
    """The labels by probe; kept in a file where a path is given, which is read first.

    Raises:
        StoreError: the path cannot be read, as when it is a folder or a device.
    """

    path: Path | None = None
    """Where they are kept; None for nowhere."""
    labels: dict[tuple[str, int], Label] = field(default_factory=dict)
    """The last label of each probe, in the order in which the probes were first marked."""
    skeletons: set[str] = field(default_factory=set)
    """Ids of the skeletons that have one."""
    problems: list[str] = field(default_factory=list)
    """One sentence a line that cannot be read: `file:line`, what was expected, what came."""

    def __post_init__(self) -> None:
        if self.path is None:
            return
        try:
            refuse_no_file(self.path)
            content = self.path.read_bytes() if self.path.exists() or self.path.is_symlink() else b""
        except (OSError, ValueError) as error:  # ValueError: a path that no file system takes
            why = getattr(error, "strerror", None) or error
            raise StoreError(f"Expected to read labels from {self.path}, but {why}.") from error
        for number, line in enumerate(content.split(b"\n"), start=1):
            if line.strip():
                self._take(line, f"{self.path}:{number}")

    def add(self, label: Label) -> None:
        """Take a label, in the file first.

        Raises:
            StoreError: it cannot be written; then it is not taken.
        """
        if self.path is not None:
            append_line(self.path, json.dumps(label.model_dump(), ensure_ascii=False), sync=True)
        self._keep(label)

    def _keep(self, label: Label) -> None:
        self.labels[label.key] = label
        self.skeletons.add(label.skeleton_id)

    def _take(self, line: bytes, place: str) -> None:
        try:
            label = Label.model_validate(json.loads(line.decode("utf-8")))
        except ValidationError as error:
            self.problems.append(f"{place}: expected a label, but {sentence(error)}")
        except (ValueError, RecursionError) as error:
            start = line[:60].decode("utf-8", "replace")
            self.problems.append(f"{place}: expected one JSON object on this line, got {start!r} ({error}).")
        else:
            self._keep(label)
