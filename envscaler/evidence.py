"""What execution shows: findings, and the certificate of a scenario.

Parts of the records in `schema`, which exports them; they stand here because they are about a record rather than
of the flow. This module tries nothing out (`world.certificate` and `world.referee` do).
"""

import html
from statistics import fmean
from typing import Literal

from envscaler.record import Json, Part, bounded

Severity = Literal["note", "warning", "error"]


class Finding(Part):
    """What a referee, an audit or a certificate reports."""

    kind: str
    """A short fixed name of the kind of fault, e.g. `read-writes`."""
    severity: Severity
    """`error` makes the thing unusable, `warning` makes it doubtful, `note` is worth knowing."""
    where: str = ""
    """The tool, check, table or line it concerns."""
    message: str
    """What was expected and what came."""
    evidence: dict[str, Json] = {}
    """The call, the diff or the value that shows it."""


class Call(Part):
    """One tool call of a witness."""

    tool: str
    """The tool to call."""
    arguments: dict[str, Json]
    """Its arguments; `{"$from": [i, "data", 0, "guest_id"]}` stands for a value of the i-th call's reply."""
    free: list[str] = bounded(12, default=[])
    """Names of arguments whose value the task leaves open: any legal one must be paid as well."""


class Proof(Part):
    """One line of a certificate."""

    name: str
    """What was tried, e.g. `nothing done` or `witness replayed`."""
    status: Literal["proved", "failed", "unproved"]
    """`unproved` means that it could not be tried, e.g. without a witness."""
    figure: float | None = None
    """The reward or rate that was measured."""
    detail: str = ""
    """What was expected and what came."""


class Kill(Part):
    """One mutant of the solution, and which checks tell it from the solution."""

    kind: str
    """How it was made, e.g. `call dropped` or `value off by one`."""
    what: str
    """The call or the record it concerns."""
    killers: list[str]
    """Items that said no to it, `bystanders` among them; empty when it survived, that is, earned 1."""


class Certificate(Part):
    """What execution shows about a scenario."""

    proofs: list[Proof]
    """One entry a trial."""
    kills: list[Kill] = []
    """One entry a mutant; those equal to the solution up to generated ids and times are not among them."""
    resolved: list[Call] = []
    """The witness with every reference replaced by the value it stood for when it was played."""

    @property
    def valid(self) -> bool:
        """Whether something was proved and nothing failed or stayed unproved."""
        return bool(self.proofs) and all(proof.status == "proved" for proof in self.proofs)

    @property
    def reasons(self) -> list[str]:
        """What stands against it, a sentence each."""
        return [f"{p.name}: {p.detail}" for p in self.proofs if p.status != "proved"]

    @property
    def kinds(self) -> dict[str, tuple[int, int]]:
        """For each kind of mutant how many were made and how many of them killed, in the order they were made."""
        counts: dict[str, tuple[int, int]] = {}
        for kill in self.kills:
            made, killed = counts.get(kill.kind, (0, 0))
            counts[kill.kind] = made + 1, killed + bool(kill.killers)
        return counts

    @property
    def survivors(self) -> list[Kill]:
        """Mutants that earned 1."""
        return [kill for kill in self.kills if not kill.killers]

    def _repr_html_(self) -> str:
        return self._proofs_html() + (self._kills_html() if self.kills else "")

    def _proofs_html(self) -> str:
        colour = {"proved": "#1b7837", "failed": "#b2182b", "unproved": "#8a6d00"}
        left = "style='text-align:left'"
        rows = "".join(
            f"<tr><td {left}>{html.escape(p.name)}</td><td style='color:{colour[p.status]}'><b>{p.status}</b></td>"
            f"<td>{'' if p.figure is None else f'{p.figure:g}'}</td><td {left}>{html.escape(p.detail)}</td></tr>"
            for p in self.proofs
        )
        why = "what came" if any(p.detail for p in self.proofs) else ""
        return f"<table><tr><th {left}>trial</th><th>status</th><th>measured</th><th>{why}</th></tr>{rows}</table>"

    def _kills_html(self) -> str:
        left = "style='text-align:left'"
        shares = [killed / made for made, killed in self.kinds.values()]
        alive = {kind: [k.what for k in self.survivors if k.kind == kind] for kind in self.kinds}
        rows = "".join(
            f"<tr><td {left}>{html.escape(kind)}</td><td>{made}</td><td>{killed}</td>"
            f"<td {left}>{html.escape('; '.join(alive[kind][:3]))}</td></tr>"
            for kind, (made, killed) in self.kinds.items()
        )
        total = (
            f"<tr><th {left}>all {len(shares)} kinds</th><th>{len(self.kills)}</th>"
            f"<th>{len(self.kills) - len(self.survivors)}</th>"
            f"<th {left}>a kind: {fmean(shares):.0%} on average, {min(shares):.0%} at least</th></tr>"
        )
        head = f"<tr><th {left}>mutants</th><th>made</th><th>killed</th><th {left}>survivors</th></tr>"
        return f"<table>{head}{rows}{total}</table>"
