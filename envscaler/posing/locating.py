"""Locating: which part of a scenario a failed trial speaks against.

A part is never blamed without evidence, and mostly more than one can be at fault: whether a goal stays open because
the calls are wrong or the check is, cannot be seen from outside. So the suspects are named in the order of their
likelihood, each with what its author has to be told, and they take their turns. That a tool of the skeleton may be at
fault is for `posing.doubting` to say. Nothing is written or mended here.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from envscaler.posing.doubting import Evidence, concerned, literals, unmet_in_words
from envscaler.posing.drafting import Draft, PartName, Stuck
from envscaler.posing.vetting import refusal, shown
from envscaler.schema import Certificate, Kill, Proof
from envscaler.world.change import unescaped
from envscaler.world.check import BYSTANDERS


@dataclass(frozen=True)
class Suspect:
    """A part that may be at fault."""

    part: PartName
    """Which."""
    why: str
    """What its author has to know."""
    items: tuple[str, ...] = ()
    """The questions whose checks are meant, where it is the checks."""


def behind(stuck: Stuck) -> list[Suspect]:
    """Who may be at fault when a part cannot be had: the parts that it is made from, the nearest first."""
    what = {
        "task": "No task could be had for these data that will do.",
        "checklist": "No checklist could be had for this task that will do.",
        "check": "No function could be had that answers this question. Perhaps no state can show it.",
        "witness": "No calls could be had that do this task. Perhaps it names what is not there, or asks for what the "
        "tools or the rules do not allow.",
    }
    parts: dict[PartName, tuple[PartName, ...]] = {
        "task": ("state",),
        "checklist": ("task",),
        "check": ("checklist", "task"),
        "witness": ("task", "state"),
    }
    return [Suspect(part, f"{what[stuck.part]} {stuck.why}") for part in parts.get(stuck.part, ())]


@dataclass(frozen=True)
class _Case:
    """A draft that was not certified, and what there is to judge by."""

    draft: Draft
    certificate: Certificate
    found: Evidence


def suspects(draft: Draft, certificate: Certificate, found: Evidence) -> list[Suspect]:
    """Who may be at fault when the whole is not certified; empty where no part of the scenario can be."""
    case = _Case(draft, certificate, found)
    open_lines = [proof for proof in certificate.proofs if proof.status != "proved"]
    for beginnings, accuse in _ACCUSERS:
        lines = [proof for proof in open_lines if proof.name.startswith(beginnings)]
        if lines and (blamed := accuse(case, lines)):
            return blamed
    rest = [proof for proof in open_lines if proof.name not in _BLAMELESS]
    return _of_checks(case, rest) if rest else []


def _of_state(case: _Case, lines: Sequence[Proof]) -> list[Suspect]:
    return [Suspect("state", _said(lines))]


def _of_survival(case: _Case, lines: Sequence[Proof]) -> list[Suspect]:
    return [Suspect("checklist", _said(lines)), Suspect("state", _said(lines))]


def _of_checks(case: _Case, lines: Sequence[Proof]) -> list[Suspect]:
    """The checks that lines name, then the list they are on."""
    items = _named(case, lines)
    blamed = [Suspect("check", _said(lines), items)] if items else []
    return [*blamed, Suspect("checklist", _said(lines))]


def _of_witness(case: _Case, lines: Sequence[Proof]) -> list[Suspect]:
    """Calls that are refused, leave a goal open or touch what they must not: the calls, then who asked for them."""
    draft, found = case.draft, case.found
    if found.refused is not None:
        why = refusal(draft.witness, found.played)
        return [Suspect("witness", why), Suspect("task", _as_played(draft, why))]
    unmet = [o for o in found.outcomes if not o.passed and o.item != BYSTANDERS]
    strays = [o for o in found.outcomes if not o.passed and o.item == BYSTANDERS]
    why = unmet_in_words(found.outcomes)
    if unmet:
        items = tuple(outcome.item for outcome in unmet)
        checks = Suspect("check", _as_played(draft, why), items)
        return [Suspect("witness", why), checks, Suspect("task", _as_played(draft, why))]
    if strays:
        return [Suspect("witness", why), Suspect("checklist", _as_played(draft, why))]
    return []


def _of_seeds(case: _Case, lines: Sequence[Proof]) -> list[Suspect]:
    """Another seed means other generated ids and times: calls or checks that hold on to those of one seed."""
    why = (
        f"{_said(lines)} Generated ids and times differ from run to run: refer to them, never write them out."
    )
    calls, items = Suspect("witness", why), _named(case, lines)
    return [Suspect("check", why, items), calls] if items else [calls, Suspect("task", why)]


def _of_other_ways(case: _Case, lines: Sequence[Proof]) -> list[Suspect]:
    """Right solutions that are not paid: checks that ask for more than the task does, or too little may change."""
    why = f"{_said(lines)}\nThese solve the task as well. Ask for nothing that the task does not fix."
    items = _named(case, lines)
    blamed = [Suspect("check", why, items)] if items else []
    blamed.append(Suspect("checklist", why))
    free = any("free" in line.name for line in lines)
    return (
        [*blamed, Suspect("witness", f"{why} Mark as free only what the task leaves open.")]
        if free
        else blamed
    )


def _of_needless(case: _Case, lines: Sequence[Proof]) -> list[Suspect]:
    why = f"{_said(lines)} Either the task does not ask for that call, or no question of the checklist does."
    return [Suspect("witness", why), Suspect("checklist", why)]


def _of_survivors(case: _Case, lines: Sequence[Proof]) -> list[Suspect]:
    """Mutants that are paid: the checks that look at what is wrong in them; the checklist, where none does."""
    why = (
        f"{_said(lines)}\nThese are wrong ends that are paid in full: a question must say no to each of them."
    )
    told = "".join(line.detail for line in lines)
    alive = [k for k in case.certificate.kills if not k.killers and f"[{k.kind}] {k.what}" in told]
    looking = {item for kill in alive for item in _looking_at(kill, case)}
    items = tuple(item for item in case.draft.checks if item in looking)
    blamed = [Suspect("check", why, items)] if items else []
    return [*blamed, Suspect("checklist", why)]


def _looking_at(kill: Kill, case: _Case) -> list[str]:
    """The questions whose checks look at what a mutant made wrong: its call, its record, or else its table."""
    checks = case.draft.checks
    if call := re.match(r"call (\d+) ", kill.what):
        return [i for i, check in checks.items() if int(call[1]) in concerned(check, case.draft, case.found)]
    place = re.match(r"([^/.:]+)(?:/([^.:]+))?", kill.what)
    for name in reversed(place.groups() if place else ()):
        if name and (found := [i for i, check in checks.items() if unescaped(name) in literals(check)]):
            return found
    return []


_BLAMELESS = ("rules hold along the witness", "witness replayed again")
"""What only the skeleton can be blamed for."""
_IDLE = (
    "has a goal",
    "nothing done",
    "goals open",
    "database wiped",
    "garbage written",
    "checks always answer",
)
_ACCUSERS: tuple[tuple[tuple[str, ...], Callable[[_Case, Sequence[Proof]], list[Suspect]]], ...] = (
    (("loads",), _of_state),
    (("something must survive",), _of_survival),
    (_IDLE, _of_checks),
    (("witness replayed",), _of_witness),
    (("witness with another seed",), _of_seeds),
    (("solved otherwise",), _of_other_ways),
    (("leave one out",), _of_needless),
    (("mutants killed",), _of_survivors),
    (("each goal needed", "each guard broken"), _of_checks),
)
"""How the names of lines begin, in the order in which they are looked into: what fails early makes others fail."""


def _named(case: _Case, lines: Iterable[Proof]) -> tuple[str, ...]:
    """The questions that lines name."""
    text = _said(lines)
    return tuple(item for item in case.draft.checks if item in text)


def _said(proofs: Iterable[Proof]) -> str:
    return "\n".join(f"{proof.name}: {proof.detail}" for proof in proofs)


def _as_played(draft: Draft, why: str) -> str:
    """The evidence with the calls: their author was told, and stays by them."""
    calls = "\n".join(f"{number}. {shown(call)}" for number, call in enumerate(draft.witness))
    return f"{why}\nThe calls were:\n{calls}"
