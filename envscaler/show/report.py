"""The report of a certification: one HTML file that needs no other, to be opened, searched, sorted and sent around.

What was found is `certifying.many`'s; here it is put into words (`words`), counted by kind, and drawn. Every text of
the data goes through the template's escaping. Nothing is computed that the rows do not say.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment as Templates
from markupsafe import Markup, escape

from envscaler import __version__
from envscaler.certifying.many import Certified, Report, cannot_hold, paid_for, table
from envscaler.certifying.rows import EnvironmentReport, ScenarioReport
from envscaler.given import a_path, one
from envscaler.schema import Finding, Proof
from envscaler.show.markup import as_json, shorten
from envscaler.show.words import CHECKS, SCHEMAS, STATES, words_of
from envscaler.store import write_text

EXAMPLES = 8
"""Findings of one kind that are shown with their evidence."""
MOST_DETAILED = 600
"""Scenarios that are listed one by one; in larger data only those with an error are."""
MOST_FAILED = 200
"""Things that could not be examined that are listed."""
_BINS = 10
_ORDER = {"error": 0, "warning": 1, "note": 2}
ELSEWHERE = {
    "… that pay an agent for doing nothing": "53 of 86",
    "… that pay after the database is wiped": "38 of 84",
    "checks that hold before anything is done": "31 % of 87 scenarios' checks",
    "checks that read initial_state": "1,208 of 40,231",
    "replies that hand out live state": "209 of 399",
    "parameters with a description": "0 of 1,681",
    "tools a strict provider refuses": "35 of 953",
    "… whose code asks for clock, ids or chance": "35 of 50 gave other results",
}
"""What the same measurements gave on earlier samples of the EnvScaler release, for comparison."""


def write_report(certified: Certified, path: str | Path, *, title: str = "Certificates") -> Path:
    """Write the report; returns its path."""
    return write_text(a_path(path), render_report(certified, title=title))


def render_report(certified: Certified, *, title: str = "Certificates") -> str:
    """The report as one HTML text without references to anything outside it."""
    totals = one(certified, Certified).totals
    rows: Sequence[Report] = [*certified.environments, *certified.scenarios]
    anchors = {row.key: f"row-{place}" for place, row in enumerate(rows)}
    detailed = len(certified.scenarios) <= MOST_DETAILED
    paid = [p for row in certified.scenarios if (p := paid_for(row, "nothing")) is not None]
    return _template().render(
        title=title,
        headline=_headline(title, totals),
        subtitle=_subtitle(totals),
        cards=_cards(totals),
        histogram=Markup(histogram(paid)) if paid else "",
        idle=_idle(totals, paid),
        kinds=_groups(certified, anchors),
        found=_found(totals),
        environments=[_environment(row, anchors) for row in certified.environments],
        scenarios=[_scenario(row, anchors, detailed) for row in certified.scenarios],
        figures=[{"words": w, "here": h, "elsewhere": ELSEWHERE.get(w, "")} for w, h in table(certified)],
        beside="Every figure with what it is counted out of; beside it what the same measurement gave on earlier, "
        "other samples of the EnvScaler release, so that sizes can be compared.",
        how=_how(certified),
        failures=certified.failures[:MOST_FAILED],
        failed=len(certified.failures),
    )


@lru_cache(maxsize=1)
def _template() -> Any:
    text = files("envscaler.show").joinpath("report.html").read_text(encoding="utf-8")
    return Templates(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(text)


# Words


def _headline(title: str, totals: dict[str, Any]) -> str:
    if totals["scenarios"] and totals["paid_for_nothing"]:
        share = totals["paid_for_nothing"] / totals["scenarios"]
        return f"{title}: {share:.0%} of the scenarios pay an agent that does nothing"
    if totals["scenarios"]:
        return f"{title}: no scenario pays an agent that does nothing"
    return f"{title}: {_count(totals['environments_with_errors'], 'environment')} with an error"


def _subtitle(totals: dict[str, Any]) -> str:
    parts = [
        _count(totals[name], name.removesuffix("s"))
        for name in ("environments", "tools", "scenarios", "checks")
    ]
    return f"{', '.join(parts)}, each examined by running it in a sealed sandbox."


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _cards(t: dict[str, Any]) -> list[dict[str, Any]]:
    def card(words: str, figure: int, of: int, look: str = "bad", *, high: bool = False) -> dict[str, Any]:
        """A figure out of how many; green where none is wrong, or where all are right."""
        fine = figure == of if high else not figure
        return {"words": words, "figure": f"{figure:,}", "of": f"{of:,}", "look": "good" if fine else look}

    cards = [
        card("scenarios pay an agent that does nothing", t["paid_for_nothing"], t["scenarios"]),
        card("checks hold before anything is done", t["vacuous_checks"], t["checks"]),
        card("scenarios have a check that cannot hold", t["scenarios_that_cannot_be_solved"], t["scenarios"]),
        card("environments have an error", t["environments_with_errors"], t["environments"]),
        card("tools have a schema that a provider refuses", t["tools_refused"], t["tools"], "warn"),
        card("parameters are described", t["parameters_described"], t["parameters"], "warn", high=True),
        card("replies hand out live parts of the state", t["replies_aliased"], t["replies"], "warn"),
    ]
    if t["searched"] or t["with_witness"]:
        cards.append(
            card(
                "scenarios have a witness that solves them",
                t["with_witness"],
                t["scenarios"],
                "warn",
                high=True,
            )
        )
    return [c for c in cards if c["of"] != "0"]


def _idle(t: dict[str, Any], paid: Sequence[float]) -> str:
    if not paid:
        return ""
    if not t["paid_for_nothing"]:
        return "In none of the scenarios is a check paid that held from the beginning."
    return (
        f"An agent that answers without a single call is paid in {t['paid_for_nothing']:,} of {len(paid):,} scenarios: "
        f"{t['mean_paid_for_nothing']:.3f} on average and {max(paid):.2f} at most, by the published rule (checks that "
        "hold over all checks)."
    )


def _found(t: dict[str, Any]) -> str:
    parts = [_count(t[name], name.removesuffix("s")) for name in ("errors", "warnings", "notes")]
    return (
        f"{parts[0]}, {parts[1]} and {parts[2]}. An error makes a thing unusable as it is, a warning makes it "
        "doubtful, a note is worth knowing. Open a line for what it means and what shows it."
    )


def _how(certified: Certified) -> str:
    searched = certified.totals["searched"]
    text = (
        f"envscaler {__version__} loaded every class in a sealed process, called its tools with arguments made from "
        "their schemas and the initial states, and graded the checks on three states that nobody brought about: as at "
        "reset, with every table emptied, with every value replaced. What checks cannot do was read off their code. "
    )
    if searched:
        text += (
            f"In {_count(searched, 'scenario')} a witness was looked for; not finding one within the budget is no "
            "proof that there is none. "
        )
    return (
        text
        + "Without a witness, the lines of a certificate that need one are unproved, which is not the same as failed."
    )


# Findings by kind


def _groups(certified: Certified, anchors: dict[str, str]) -> list[dict[str, Any]]:
    by_kind: dict[str, list[tuple[Report, Finding]]] = defaultdict(list)
    for row, finding in certified.findings:
        by_kind[finding.kind].append((row, finding))
    titles = {"checks": CHECKS, "initial states": STATES, "schemas of tools": SCHEMAS}
    groups: dict[str, list[dict[str, Any]]] = {title: [] for title in [*titles, "environments"]}
    for kind, found in by_kind.items():
        home = next((title for title, words in titles.items() if kind in words), "environments")
        home = "schemas of tools" if home == "environments" and kind.startswith("schema-") else home
        groups[home].append(_kind(kind, found, anchors))
    ordered = {t: sorted(ks, key=lambda k: (_ORDER[k["severity"]], -k["number"])) for t, ks in groups.items()}
    return [{"title": f"In {title}", "kinds": kinds} for title, kinds in ordered.items() if kinds]


def _kind(kind: str, found: list[tuple[Report, Finding]], anchors: dict[str, str]) -> dict[str, Any]:
    title, why = words_of(kind)
    in_scenarios = isinstance(found[0][0], ScenarioReport)
    places = len({row.key for row, _ in found})
    severity = min((finding.severity for _, finding in found), key=_ORDER.__getitem__)
    severest = sum(finding.severity == severity for _, finding in found)
    return {
        "kind": kind,
        "title": title,
        "why": why,
        "severity": severity,
        "number": len(found),
        "count": f"{len(found):,}" + (f" ({_count(severest, severity)})" if severest < len(found) else ""),
        "places": _count(places, "scenario" if in_scenarios else "environment"),
        "examples": [_example(row, finding, anchors) for row, finding in _spread(found)],
        "more": max(0, len(found) - EXAMPLES),
    }


def _spread(found: list[tuple[Report, Finding]]) -> list[tuple[Report, Finding]]:
    """Some of the findings, the severest first, and of those the first of each row before the second of any."""
    seen: dict[str, int] = defaultdict(int)
    ranked = []
    for place, (row, finding) in enumerate(found):
        ranked.append((_ORDER[finding.severity], seen[row.key], place, row, finding))
        seen[row.key] += 1
    ranked.sort(key=lambda one: one[:3])
    return [(row, finding) for *_, row, finding in ranked[:EXAMPLES]]


def _example(row: Report, finding: Finding, anchors: dict[str, str]) -> dict[str, Any]:
    rest = {name: value for name, value in finding.evidence.items() if name != "check"}
    return {
        "name": row.name,
        "anchor": anchors[row.key],
        "message": finding.message,
        "evidence": finding.evidence,
        "code": shorten(str(finding.evidence.get("check", "")), 3000),
        "rest": shorten(as_json(rest), 2000) if rest else "",
    }


# Rows


def _severities(row: Report) -> dict[str, int]:
    return {s: sum(f.severity == s for f in row.findings) for s in _ORDER}


def _environment(row: EnvironmentReport, anchors: dict[str, str]) -> dict[str, Any]:
    counts = _severities(row)
    return {
        "name": row.name,
        "title": row.title or row.class_name,
        "anchor": anchors[row.key],
        "tools": row.tools,
        "described": _of(row.described, row.parameters),
        "described_share": row.described / row.parameters if row.parameters else 1.0,
        "refused": row.refused.get("any", 0),
        "aliased": _of(row.aliased, row.replies),
        "aliased_share": row.aliased / row.replies if row.replies else 0.0,
        "errors": counts["error"],
        "warnings": counts["warning"],
        "findings": _listed(row.findings),
        "detailed": True,
    }


def _of(some: int, total: int) -> str:
    return f"{some} of {total}" if total else "–"


def _scenario(row: ScenarioReport, anchors: dict[str, str], detailed: bool) -> dict[str, Any]:
    proofs = row.certificate.proofs
    return {
        "name": row.name,
        "title": f"in {row.environment}",
        "anchor": anchors[row.key],
        "environment": row.environment,
        "task": row.task,
        "checks": row.checks,
        "vacuous": len(row.vacuous),
        "paid": paid_for(row, "nothing"),
        "cannot": len(cannot_hold(row)),
        "calls": len(row.witness),
        "pay": _pay(row),
        "witness": [call.tool for call in row.witness],
        **{status: sum(p.status == status for p in proofs) for status in ("proved", "failed", "unproved")},
        "findings": _listed(row.findings),
        "proofs": _told(proofs),
        "detailed": detailed or bool(_severities(row)["error"]),
    }


def _told(proofs: Sequence[Proof]) -> list[dict[str, str]]:
    """The lines of a certificate; those that nothing could be said of for one reason are one line."""
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for place, proof in enumerate(proofs):
        alike = (proof.status, proof.detail) if proof.status == "unproved" else (str(place),)
        line = lines.setdefault(alike, {"status": proof.status, "name": "", "detail": proof.detail})
        line["name"] += f"{', ' if line['name'] else ''}{proof.name}"
    return list(lines.values())


def _pay(row: ScenarioReport) -> str:
    """What is paid for nothing, by each rule."""
    paid = row.paid.get("nothing")
    if paid is None:
        return ""
    said = [
        f"{'none, for a check broke' if one is None else f'{one:.2f}'} by {rule}"
        for one, rule in (
            (paid.paper, "the published rule"),
            (paid.default, "the mean of the goals where every guard holds"),
            (paid.strict, "all or nothing"),
        )
    ]
    return f"For doing nothing an agent is paid {', '.join(said)}."


def _listed(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: _ORDER[finding.severity])


# The picture


def histogram(paid: Sequence[float], width: int = 1040, height: int = 250) -> str:
    """How many scenarios pay how much for nothing, as SVG; those that pay nothing stand apart."""
    counts = [sum(p <= 0 for p in paid)] + [0] * _BINS
    for reward in paid:
        if reward > 0:
            counts[1 + min(_BINS - 1, int(reward * _BINS - 1e-9))] += 1
    labels = ["0", *(f"≤ {(n + 1) / _BINS:.1f}" for n in range(_BINS))]
    left, bottom, top = 8, 44, 24
    step = (width - 2 * left) / len(counts)
    tallest = max(counts) or 1
    parts = []
    for place, (count, label) in enumerate(zip(counts, labels, strict=True)):
        tall = (height - bottom - top) * count / tallest
        x, y = left + place * step, height - bottom - tall
        colour = "var(--zero)" if place == 0 else "var(--bar)"
        parts.append(
            f'<rect x="{x + 6:.1f}" y="{y:.1f}" width="{step - 12:.1f}" height="{tall:.1f}" rx="2" fill="{colour}">'
            f"<title>{count} scenarios</title></rect>"
            f'<text class="soft" x="{x + step / 2:.1f}" y="{height - bottom + 18}" text-anchor="middle">{label}</text>'
        )
        if count:
            parts.append(
                f'<text x="{x + step / 2:.1f}" y="{y - 6:.1f}" text-anchor="middle">{count:,}</text>'
            )
    line = height - bottom + 0.5
    words = escape("reward of an agent that does nothing (the green bar: rightly nothing)")
    return (
        f'<svg viewBox="0 0 {width} {height}" width="100%" role="img" aria-label="{words}">{"".join(parts)}'
        f'<line x1="{left}" x2="{width - left}" y1="{line}" y2="{line}" stroke="var(--line)"/>'
        f'<text class="soft" x="{width / 2}" y="{height - 6}" text-anchor="middle">{words}</text></svg>'
    )
