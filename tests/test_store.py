"""Files: nothing lost, nothing half-written, every bad row named."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envscaler.error import ParameterError, StoreError
from envscaler.schema import Failure, Scenario, Task
from envscaler.store import (
    Records,
    append_line,
    read_records,
    read_rows,
    read_text,
    write_records,
    write_text,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, unique=True, max_size=8))
def test_records_come_back_as_they_went(tmp_path: Path, wanted: list[str]) -> None:
    records = Records([Task(text=text) for text in wanted])
    assert read_records(write_records(records, tmp_path / "t.jsonl"), Task) == list(records)


def test_bad_rows_are_named_and_the_good_ones_go_on(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(
        '{"text": "one"}\n{"text": \n\n{"text": ""}\n[1]\nnull\n{"text": "two", "wrong": 1}\n{"text": "three"}\n'
    )
    records = read_records(file, Task)
    assert [r.text for r in records] == ["one", "three"]
    assert [f.parent_id for f in records.failures] == [f"{file}:{line}" for line in (2, 4, 5, 6, 7)]
    assert "text" in records.failures[1].message


def test_a_line_separator_inside_a_string_is_not_a_line_end(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps({"text": "a\u2028b\x85c"}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_records(file, Task)[0].text == "a\u2028b\x85c"


def test_missing_malformed_and_unreadable_files_say_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is none"):
        read_records(tmp_path / "no.jsonl", Task)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(StoreError, match=r"name it \.jsonl"):
        list(read_rows(tmp_path / "bad.json"))
    (tmp_path / "latin.jsonl").write_bytes(b'{"text": "\xe9"}\n')
    with pytest.raises(StoreError, match="UTF-8"):
        read_records(tmp_path / "latin.jsonl", Task)
    (tmp_path / "none.jsonl").write_text("x\ny\n")
    with pytest.raises(StoreError, match="none can be read"):
        read_records(tmp_path / "none.jsonl", Task)
    with pytest.raises(StoreError):
        read_records(tmp_path, Task)


def test_a_list_a_dict_and_csv_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text('[{"text": "a"}, {"text": "b"}]')
    (tmp_path / "d.json").write_text('{"k": {"text": "a"}}')
    (tmp_path / "c.csv").write_text('text,source\n"a, b",x\nonly\n"two\nlines",y\n')
    assert [row["text"] for _, row, _ in read_rows(tmp_path / "l.json")] == ["a", "b"]
    assert [place for place, _, _ in read_rows(tmp_path / "d.json")] == [f"{tmp_path / 'd.json'}:k"]
    rows = list(read_rows(tmp_path / "c.csv"))
    assert [problem is None for _, _, problem in rows] == [True, False, True]
    assert rows[2][1]["text"] == "two\nlines"


def test_failures_lie_beside_the_records_and_go_when_there_are_none(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    failure = Failure(stage="tasks", parent_id="x", error="E", message="m")
    write_records(Records([Task(text="a")], [failure]), file)
    assert read_records(tmp_path / "t.failures.jsonl", Failure) == [failure]
    write_records(Records([Task(text="a")]), file)
    assert not (tmp_path / "t.failures.jsonl").exists()


def test_a_write_that_cannot_be_done_leaves_the_old_file_and_no_scraps(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(StoreError, match="ENVSCALER_HOME"):
        write_text(tmp_path / "file" / "below.txt", "new")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(StoreError):
        write_text(tmp_path / "folder.txt", "new")
    assert {p.name for p in tmp_path.iterdir()} == {"file", "folder.txt"}


def test_a_kill_while_writing_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "big.txt"
    code = (
        "from envscaler.store import write_text\nfrom pathlib import Path\nfrom itertools import count\n"
        f"for n in count(1): write_text(Path({str(file)!r}), str(n) * 200_000)"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    while not file.exists():
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    text = file.read_text()
    unit = text[: len(text) // 200_000]
    assert text == unit * 200_000


def test_frame_and_preview() -> None:
    records = Records([Task(text="x" * 200)])
    assert list(records.frame().columns)[:2] == ["id", "text"]
    assert "1 × Task" in records._repr_html_() and repr(records) == "<1 × Task, 0 failures>"
    assert "0 × record" in Records()._repr_html_()
    assert records.by_id()[records[0].id] is records[0]


HUGE = "9" * 5000


@pytest.mark.parametrize(
    "row", [f'{{"text": {HUGE}}}', '{"text": "a\\ud800"}', "[" * 9999, HUGE, '{"\\udc00": 1}']
)
def test_a_row_that_python_cannot_hold_is_a_bad_row_like_another(tmp_path: Path, row: str) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(f'{row}\n{{"text": "good"}}\n')
    records = read_records(file, Task)
    assert [r.text for r in records] == ["good"]
    assert [f.parent_id for f in records.failures] == [f"{file}:1"]


@pytest.mark.parametrize("value", ['"\\ud800"', '{"\\udc00": 1}', '{"a":' * 300 + "1" + "}" * 300])
def test_a_record_that_could_not_be_written_again_is_not_read(tmp_path: Path, value: str) -> None:
    file = tmp_path / "s.jsonl"
    row = '{"skeleton_id": "x", "initial_state": {"a": %s}, "task": "t", "checks": [], "may_change": [], "witness": []}'
    file.write_text(f"{row % value}\n{row % 1}\n")
    records = read_records(file, Scenario)
    assert len(records) == len(records.failures) == 1
    assert read_records(write_records(records, file), Scenario) == list(records)


def test_csv_with_giant_cells_and_endings_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "c.CSV").write_text(f"text\n{'x' * 200_000}\n")
    (tmp_path / "l.JSON").write_text('["a"]')
    assert [len(row["text"]) for _, row, _ in read_rows(tmp_path / "c.CSV")] == [200_000]
    assert [row for _, row, _ in read_rows(tmp_path / "l.JSON")] == ["a"]


def test_paths_and_texts_that_no_file_system_takes(tmp_path: Path) -> None:
    for bad in ("a\0b", "x" * 5000):
        with pytest.raises(StoreError):
            read_records(tmp_path / bad, Task)
        with pytest.raises(StoreError):
            write_text(tmp_path / bad, "a")
    with pytest.raises(StoreError, match="whole characters"):
        write_text(tmp_path / "t.txt", "\ud800")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders there")
def test_a_pipe_or_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="no file"):
        write_text(tmp_path / "pipe", "new")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders there")
@pytest.mark.parametrize(
    "read", [read_text, lambda path: read_records(path, Task), lambda path: [*read_rows(path)]]
)
def test_a_pipe_a_device_and_a_folder_are_not_read(tmp_path: Path, read: Callable[[Any], Any]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), "/dev/full", tmp_path, str(tmp_path)):
        with pytest.raises(StoreError, match=r"no file|a folder"):
            read(path)


@pytest.mark.parametrize("odd", [None, 3, b"a", ["a"]])
def test_what_is_no_path_is_told(odd: Any) -> None:
    for act in (read_text, lambda path: write_text(path, "a"), lambda path: write_records([], path)):
        with pytest.raises(ParameterError, match="path of a file or folder"):
            act(odd)


def test_only_records_are_written(tmp_path: Path) -> None:
    for odd in (None, 3, [3], "text", [None]):
        with pytest.raises(ParameterError, match="Record"):
            write_records(odd, tmp_path / "t.jsonl")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_interrupt_or_a_full_disk_leaves_the_old_file_and_no_scraps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    (tmp_path / "t.txt").write_text("old")

    def fail(handle: int) -> None:
        raise fault

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((KeyboardInterrupt, StoreError)):
        write_text(tmp_path / "t.txt", "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("t.txt", "old")]


@pytest.mark.parametrize("sync", [False, True])
def test_lines_are_added_whole_and_a_torn_one_swallows_none(tmp_path: Path, sync: bool) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    append_line(path, "één", sync=sync)
    path.write_bytes(path.read_bytes() + b"tor")
    append_line(path, "two", sync=sync)
    append_line(path, "three", sync=sync)
    assert path.read_text(encoding="utf-8").split("\n") == ["één", "tor", "two", "three", ""]


@pytest.mark.parametrize("line", ["fine", "half \ud800"])
def test_a_line_that_cannot_be_added_is_told_and_leaves_nothing(tmp_path: Path, line: str) -> None:
    path = tmp_path if line == "fine" else tmp_path / "rows.jsonl"
    with pytest.raises(StoreError, match="Expected to add a line to"):
        append_line(path, line)
    assert not path.is_file() or path.read_bytes() == b""
