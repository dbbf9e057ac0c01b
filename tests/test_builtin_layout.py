"""Generated code is laid out the way a formatter would, and means the same."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envscaler.model.builtin.__main__ import main, source
from envscaler.model.builtin.build import build_world
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.layout import fold, tidy

LONG = [
    'return {"success": True, "message": f"{guest[\'name\']} is now (at last) blocked.", "data": dict(guest)}',
    'found = [dict(room) for room in self.rooms.values() if room["kind"] == kind and (kind, 1) in self.pairs]',
    "rooms.sort(key=lambda room: (room['nightly_rate'], room['room_id'], room['room_id'], room['floor']))",
    'if nationality not in ("Austria", "Belgium", "Canada", "Denmark", "France", "Germany", "Ireland", "Italy"):',
    'counts = {name: {"open": 0, "assigned": 0, "resolved": 0} for name in ("housekeeping", "maintenance")}',
    'due = (date.fromisoformat(shipment["sent_on"]) + timedelta(days=self.longest_transit_days + 1)).isoformat()',
    'due = ((date.fromisoformat(shipment["sent_on"]), timedelta(days=self.longest_transit_days + 1)),)',
    'late = [dict(row) for key, row in self.rows.items() if row["open"] and key in self.overdue_since_monday]',
    'share = round(100 * (self.counts["resolved"] + self.counts["closed"]) / (self.counts["all"] or 1), 1)',
]


@pytest.mark.parametrize("line", LONG)
def test_a_folded_line_means_the_same(line: str) -> None:
    folded = fold("    " + line, 60)
    assert len(folded) > 1
    body = "\n        pass" if line.endswith(":") else ""
    plain = ast.parse(f"def f():\n    {line}{body}")
    assert ast.dump(ast.parse("def f():\n" + "\n".join(folded) + body)) == ast.dump(plain)


def test_what_fits_and_what_cannot_be_folded_stays() -> None:
    assert fold("x = call(1, 2)", 60) == ["x = call(1, 2)"]
    text = "x = '" + "a" * 80 + "'"
    assert fold(text, 60) == [text]


def test_a_long_docstring_line_hangs_under_its_parameter() -> None:
    method = (
        'def f(self, a: int) -> dict:\n    """Say.\n\n    Args:\n        a: ' + "word " * 30 + '\n    """\n'
    )
    lines = tidy(method, 80).splitlines()
    assert max(map(len, lines)) <= 80 and sum(line.startswith("            word") for line in lines) >= 1
    assert ast.parse(tidy(method, 80))


def test_what_is_wrapped_off_a_paragraph_joins_its_next_line() -> None:
    text = "the amount claimed less the deductible, at most what is left of the limit, and what"
    lines = [
        "def f(self) -> dict:",
        '    """Say.',
        "",
        "    Returns:",
        f"        {text} documents",
        "        are missing.",
    ]
    method = "\n".join([*lines, '    """'])
    assert tidy(method, 95).splitlines()[4:6] == [f"        {text}", "        documents are missing."]


@pytest.mark.parametrize("name", sorted(domains()))
def test_a_formatter_finds_little_to_do(name: str, tmp_path: Path) -> None:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("ruff is not installed beside this interpreter")
    file = tmp_path / "world.py"
    file.write_text(source(name), encoding="utf-8")
    run = subprocess.run(
        [ruff, "format", "--diff", "--line-length", "108", "--isolated", str(file)],
        capture_output=True,
        text=True,
    )
    changed = [
        line for line in run.stdout.splitlines() if line.startswith("-") and not line.startswith("---")
    ]
    assert len(changed) <= 25, run.stdout


def test_the_linter_runs_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotel", "--source"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("hotel: ok") and "class HotelFrontDesk:" in said
    assert main(["no_such_domain"]) == 1
    assert "cannot be put together" in capsys.readouterr().out


def test_two_tools_of_one_name_are_refused() -> None:
    """The later one would take the place of the other without a word."""
    luggage = domains()["delayed_luggage"]
    parts = [
        {**part, "register_verb": "trace"} if "register_verb" in part else part for part in luggage.parts
    ]
    with pytest.raises(ValueError, match="trace_bag is the name of two"):
        build_world(luggage.model_copy(update={"parts": parts}))


@pytest.mark.parametrize("name", sorted(domains()))
def test_articles_fit_their_nouns(name: str) -> None:
    """The vocabulary decides between `a` and `an`; `u` and `h` are left to the ear."""
    words = re.compile(r'^\s*(?:"""|- |[A-Z]).*', re.M)
    said = "\n".join(words.findall(source(name)))
    assert re.findall(r"\b(?:[Aa] [aei]\w+|[Aa]n [b-df-gj-np-tv-z]\w+)", said) == []
