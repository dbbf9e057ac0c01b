"""The label file: added at the end, read back, told line by line what cannot be read, and never half written."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.error import StoreError
from envscaler.show.labels import Label, LabelFile


def label(probe: int = 0, **changes: Any) -> Label:
    fields = {"audit_id": "a", "skeleton_id": "s", "environment": "Library", "probe": probe, "tool": "renew"}
    return Label(**{**fields, "intent": "negative", "verdict": "pass", "label": "fail", **changes})


def test_what_is_added_is_read_back_and_the_last_word_counts(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "labels.jsonl"
    kept = LabelFile(path)
    for said in (label(0), label(1), label(0, label="warning", note="für Zoë\n日本")):
        kept.add(said)
    assert len(path.read_bytes().splitlines()) == 3
    again = LabelFile(path)
    assert again.labels == kept.labels and again.problems == []
    assert list(again.labels) == [("a", 0), ("a", 1)] and again.labels["a", 0].label == "warning"


def test_two_who_write_to_one_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    one, other = LabelFile(path), LabelFile(path)
    for n in range(5):
        one.add(label(2 * n))
        other.add(label(2 * n + 1))
    assert sorted(probe for _, probe in LabelFile(path).labels) == list(range(10))


@pytest.mark.parametrize(
    "torn", [b'{"audit_id": "a", "ski', b"\xff\xfe", b"null", b"[" * 5000, b'{"audit_id": 1}']
)
def test_a_broken_line_is_told_and_costs_nobody_else(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "labels.jsonl"
    LabelFile(path).add(label(0))
    path.write_bytes(path.read_bytes() + torn)  # as a crash leaves it: without its end
    kept = LabelFile(path)
    assert list(kept.labels) == [("a", 0)]
    [problem] = kept.problems
    assert problem.startswith(f"{path}:2: expected") and len(problem) < 600
    kept.add(label(1))
    again = LabelFile(path)
    assert list(again.labels) == [("a", 0), ("a", 1)] and again.problems == [problem]
    assert torn in path.read_bytes()


@pytest.mark.parametrize("changes", [{"label": "great"}, {"probe": "x"}, {"extra": 1}, {"intent": None}])
def test_a_line_with_other_fields_is_told(tmp_path: Path, changes: dict) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({**label().model_dump(), **changes}) + "\n\n")
    kept = LabelFile(path)
    assert not kept.labels and len(kept.problems) == 1 and next(iter(changes)) in kept.problems[0]


def test_what_cannot_be_written_is_not_taken_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    kept = LabelFile(path)
    kept.add(label(0))
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another file"):
        kept.add(label(1, note="\ud800"))
    assert path.read_bytes() == before and list(kept.labels) == [("a", 0)]
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="another file"):
        LabelFile(tmp_path / "file" / "labels.jsonl").add(label())


def test_a_folder_is_no_label_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Expected to read labels"):
        LabelFile(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders there")
def test_a_pipe_or_a_device_is_no_label_file_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/full"), tmp_path / ("x" * 5000)):
        with pytest.raises(StoreError, match="Expected to read labels"):
            LabelFile(path)


def test_without_a_path_labels_live_in_memory() -> None:
    kept = LabelFile()
    kept.add(label())
    assert list(kept.labels) == [("a", 0)]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.text(st.characters(codec="utf-8"), max_size=20)), max_size=12)
)
def test_any_notes_come_back(tmp_path_factory: pytest.TempPathFactory, said: list) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    kept = LabelFile(path)
    for probe, note in said:
        kept.add(label(probe, note=note))
    assert LabelFile(path).labels == kept.labels
