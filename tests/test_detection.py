"""The detection matrix: shares, intervals and false alarms of rows made by hand, and the picture of them."""

from pathlib import Path

import pandas as pd
import pytest

from envscaler.auditing.calibration import Sighting
from envscaler.error import ParameterError
from envscaler.show import detection
from envscaler.show.canvas import save_figure
from envscaler.show.detection import (
    ALL_KINDS,
    BY_EXECUTION,
    BY_JUDGE,
    cost_table,
    detection_table,
    draw_detection,
    false_alarm_table,
)
from envscaler.show.stats import wilson


def row(layer: str, told: bool, mutant: str = "", kind: str = "", **more: object) -> Sighting:
    fields = {"skeleton_id": "s1", "environment": "A world", "tool": "lend", "calls": 10, "how": "x", **more}
    return Sighting(layer=layer, told=told, mutant=mutant, kind=kind, new=bool(told and mutant), **fields)


ROWS = [
    *(row("referee", n < 3, f"m{n}", "read that writes", by_execution=True) for n in range(4)),
    *(row("invariants", n == 3, f"m{n}", "read that writes", by_execution=True) for n in range(4)),
    row("judge", True, "m0", "read that writes", by_execution=True, needed=3),
    row("referee", False, "m9", "wrong unit"),
    row("invariants", False, "m9", "wrong unit"),
    *(row(name, False, tool=t, seconds=2.0) for name in ("referee", "invariants") for t in ("lend", "give", "")),
    row("judge", True, tool="lend", usage={"calls": 4, "input_tokens": 90, "output_tokens": 10}),
    row("judge", False, tool="give", usage={"calls": 4, "input_tokens": 100, "output_tokens": 0}),
]  # fmt: skip


def cell(table: pd.DataFrame, kind: str, layer: str) -> pd.Series:
    found = table[(table["kind"] == kind) & (table["layer"] == layer)]
    assert len(found) == 1
    return found.iloc[0]


def test_layers_count_alone_and_together() -> None:
    table = detection_table(ROWS)
    assert cell(table, "read that writes", "referee")["share"] == 0.75
    assert cell(table, "read that writes", "invariants")["share"] == 0.25
    both = cell(table, "read that writes", "referee + invariants")
    assert (both["n"], both["detected"], both["share"]) == (4, 4, 1.0)
    assert (both["low"], both["high"]) == wilson(4, 4)


def test_only_mutants_that_all_layers_looked_at_count_for_all_of_them() -> None:
    table = detection_table(ROWS)
    judge, everything = (cell(table, "read that writes", name) for name in ("judge", "all"))
    assert (judge["n"], judge["needed"], everything["n"]) == (1, 3, 1)


def test_kinds_stand_under_who_can_see_them() -> None:
    table = detection_table(ROWS)
    assert set(table[table["group"] == BY_EXECUTION]["kind"]) == {"read that writes", ALL_KINDS}
    assert set(table[table["group"] == BY_JUDGE]["kind"]) == {"wrong unit", ALL_KINDS}
    split = [*ROWS, row("referee", True, "m5", "wrong unit", by_execution=True)]
    assert set(detection_table(split).query("kind == 'wrong unit'")["group"]) == {BY_EXECUTION, BY_JUDGE}


def test_what_is_told_of_the_original_as_well_counts_only_plainly() -> None:
    rows = [row("referee", True, "m0", "wrong unit").replace(new=False)]
    assert cell(detection_table(rows), "wrong unit", "referee")["share"] == 0
    assert cell(detection_table(rows, plain=True), "wrong unit", "referee")["share"] == 1


def test_false_alarms_are_a_share_of_tools_and_of_environments() -> None:
    table = false_alarm_table(ROWS)
    assert cell(table, "tools", "referee")["share"] == 0 and cell(table, "tools", "referee")["n"] == 2
    assert cell(table, "tools", "judge")["share"] == 0.5
    assert cell(table, "environments", "judge")["share"] == 1
    assert cell(table, "tools", "all")["share"] == 0.5


def test_cost_is_that_of_one_environment() -> None:
    table = cost_table(ROWS).set_index("layer")
    assert table.loc["referee", "calls"] == 10 and table.loc["referee", "seconds"] == 2
    assert table.loc["judge", "tokens"] == 200 and table.loc["judge", "requests"] == 8


def test_the_picture_says_what_the_table_says() -> None:
    figure = draw_detection(ROWS)
    axes = figure.axes[0]
    shown = [text.get_text() for text in axes.texts]
    assert {"75%", "25%", "100%", BY_EXECUTION, BY_JUDGE, detection.ORIGINALS} <= set(shown)
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == [
        "read that writes  (4)",
        "all kinds  (4)",
    ]
    assert axes.get_title("left").replace("\n", " ").startswith("Referee and invariants notice 100%")
    figure.draw_without_rendering()
    # No two texts of the matrix lie over each other.
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text().strip()]
    overlap = [(a, b) for n, a in enumerate(boxes) for b in boxes[n + 1 :] if _area(a, b) > 4]
    assert not overlap


def _area(a: object, b: object) -> float:
    (ax, ay, aX, aY), (bx, by, bX, bY) = (box.extents for box in (a, b))  # type: ignore[attr-defined]
    return float(max(0, min(aX, bX) - max(ax, bx)) * max(0, min(aY, bY) - max(ay, by)))


def test_drawing_again_gives_the_same_files(tmp_path: Path) -> None:
    one, other = (
        save_figure(draw_detection(ROWS), "04_detection", tmp_path / name, detection_table(ROWS), "stamp")
        for name in "ab"
    )
    assert one.read_bytes() == other.read_bytes()


def test_without_rows_it_says_what_was_expected() -> None:
    with pytest.raises(ParameterError, match="calibrate_audits"):
        detection_table([])
