"""The report: one file that needs no other, in which every text of the data is text.

Run: python -m pytest tests/test_report.py -q
"""

import re
import shutil
from pathlib import Path

import pytest
from worlds import scenario, skeleton

from envscaler.certifying.examine import Options
from envscaler.certifying.many import Certified, certify_all
from envscaler.certifying.rows import EnvironmentReport
from envscaler.schema import Check, Failure, Finding, Severity
from envscaler.show.report import MOST_FAILED, histogram, render_report, write_report
from envscaler.show.words import KINDS, words_of

NASTY = "<script>alert('x')</script>&\"'"
VACUOUS = Check(item=NASTY, source="def check_func(final_state):\n    return 'B-1' in final_state['books']")


@pytest.fixture(scope="module")
def certified() -> Certified:
    world = skeleton().model_copy(update={"title": NASTY, "extra": {"env_id": NASTY}})
    checks = [*scenario().checks, VACUOUS]
    bare = scenario(world, task=NASTY, witness=[], may_change=[], checks=checks)
    made = certify_all([world], [bare, scenario(world)], options=Options(calls=20), progress=False)
    made.failures.append(Failure(stage="certify", parent_id=NASTY, error="StoreError", message=NASTY))
    return made


def test_it_needs_nothing_from_outside(certified: Certified) -> None:
    page = render_report(certified, title="Sample")
    assert not re.search(r'\b(src|href)="(?!#)', page), "links lead to anchors only"
    assert "http" not in page and "@import" not in page and "url(" not in page
    assert len(re.findall("<script>", page)) == 1


def test_texts_of_the_data_are_escaped(certified: Certified) -> None:
    page = render_report(certified, title=NASTY)
    assert "alert('x')" not in page and "&lt;script&gt;alert(" in page


def test_every_anchor_is_there(certified: Certified) -> None:
    page = render_report(certified)
    wanted, there = set(re.findall(r'href="#([^"]+)"', page)), re.findall(r'id="([^"]+)"', page)
    assert wanted <= set(there) and len(there) == len(set(there))


def test_the_figures_stand_in_it(certified: Certified) -> None:
    page = render_report(certified, title="Sample")
    assert "50% of the scenarios pay an agent that does nothing" in page
    for text in ("1 of 3", "What an agent earns by doing nothing", "vacuous", "53 of 86", "why it matters"):
        assert text in page, text
    assert page == render_report(certified, title="Sample")


def test_environments_alone_and_nothing_at_all(certified: Certified) -> None:
    page = render_report(Certified(certified.environments, []), title="Alone")
    assert "<svg" not in page and not {"scenarios", "idle"} & set(
        re.findall(r'(?:id|href)="#?([^"]+)"', page)
    )
    assert "<h1>" in render_report(Certified([], []))


def test_what_could_not_be_examined_stands_at_the_top_and_does_not_flood(certified: Certified) -> None:
    page = render_report(certified)
    assert page.index('id="failures"') < page.index('class="cards"') and "1 thing could not" in page
    failed = [
        Failure(stage="certify", parent_id=f"x:{n}", error="StoreError", message="No.") for n in range(5000)
    ]
    page = render_report(Certified(certified.environments, certified.scenarios, failed))
    assert "5000 things could not" in page and page.count("<code>x:") == MOST_FAILED and "4800 more" in page
    assert 'id="failures"' not in render_report(Certified(certified.environments, []))


def test_lines_that_say_one_thing_are_one_line(certified: Certified) -> None:
    page = render_report(certified)
    bare = next(row for row in certified.scenarios if not row.witness)
    unproved = [proof for proof in bare.certificate.proofs if proof.status == "unproved"]
    assert len(unproved) > 10 and page.count("There is no witness.") == 1
    assert all(proof.name in page for proof in bare.certificate.proofs)


def test_a_kind_that_is_not_always_as_severe_says_how_often() -> None:
    def row(name: str, severity: Severity) -> EnvironmentReport:
        one = Finding(kind="raises", severity=severity, where=name, message="It raises.", evidence={})
        return EnvironmentReport(
            key=name, skeleton_id=name, name=name, title="", class_name="A", tools=1, parameters=0, described=0,
            refused={}, long_descriptions=0, chances=[], findings=[one],
        )  # fmt: skip

    rows: list[Severity] = ["note"] * 20 + ["error", "error"]
    page = render_report(Certified([row(f"env_{n}", severity) for n, severity in enumerate(rows)], []))
    assert "22 (2 errors) in 22 environments" in page
    shown = page[page.index('id="kind-raises"') : page.index('id="environments"')]
    assert ">env_20<" in shown and ">env_21<" in shown and ">env_0<" in shown and ">env_19<" not in shown
    page = render_report(Certified([row(f"env_{n}", "note") for n in range(3)], []))
    assert "3 in 3 environments" in page and "0 of 0" not in page


def test_the_histogram_counts_everyone() -> None:
    picture = histogram([0.0, 0.0, 0.05, 0.1, 0.11, 1.0])
    assert [int(n) for n in re.findall(r"<title>(\d+) scenarios", picture)] == [
        2,
        2,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
    ]
    assert histogram([0.3]).count("<rect") == 11


def test_every_kind_has_its_words_and_unknown_ones_a_name() -> None:
    assert all(title and why for title, why in KINDS.values())
    assert words_of("some-new-kind") == ("Some new kind", "")


@pytest.mark.browser
@pytest.mark.skipif(not shutil.which("chromium"), reason="no Chromium here")
def test_tables_sort_and_links_open(certified: Certified, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    page_file = write_report(certified, tmp_path / "report.html", title="Sample")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(page_file.as_uri())
        cells = "#scenarios + p + div tbody td:nth-child(5)"
        page.click("#scenarios + p + div th:nth-child(5)")
        down = page.locator(cells).all_text_contents()
        page.click("#scenarios + p + div th:nth-child(5)")
        up = page.locator(cells).all_text_contents()
        assert sorted(down) != down and down == up[::-1]
        page.click("#scenarios + p + div tbody tr:first-child a")
        assert page.evaluate("document.querySelector(location.hash).open") is True
        assert not errors
        browser.close()
