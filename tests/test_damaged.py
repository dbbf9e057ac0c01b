"""Damaged files in a folder: `certify` and `replay` name each with the reason, say so at the end, and go on.

Run: python -m pytest tests/test_damaged.py -q
"""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from worlds import scenario, skeleton

from envscaler import release
from envscaler.__main__ import main
from envscaler.episode import roll_out
from envscaler.error import StoreError
from envscaler.release.rows import DamagedFile, damaged_files, read_rows
from envscaler.scripted import WitnessAgent

NAMES = ("env_metadata", "rl_scenarios", "trajectories")
COMMANDS = ("certify", "replay")
Damage = Callable[[bytes], tuple[str, bytes]]


def packed(text: bytes) -> bytes:
    return gzip.compress(text, mtime=0)


DAMAGES: dict[str, Damage] = {
    "cut short": lambda text: ("json", text[: len(text) * 2 // 3]),
    "emptied": lambda text: ("json", b""),
    "blank": lambda text: ("json", b"  \n"),
    "no text": lambda text: ("json", b"\xff\xfe" + text),
    "no JSON": lambda text: ("json", b"<html>Not found</html>"),
    "a pointer": lambda text: ("json", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
    "no number": lambda text: ("json", b"[NaN]"),
    "a torn line": lambda text: ("jsonl", b'{"env_id": "x", "env_cl'),
    "compressed, cut short": lambda text: ("json.gz", packed(text)[: len(packed(text)) // 2]),
    "compressed, without its end": lambda text: ("json.gz", packed(text)[:-6]),
    "compressed, of two bytes": lambda text: ("json.gz", packed(text)[:2]),
    "compressed, emptied": lambda text: ("jsonl.gz", b""),
    "not compressed": lambda text: ("json.gz", text),
    "compressed, overwritten": lambda text: ("json.gz", packed(text)[:20] + b"\x00" * 40 + packed(text)[60:]),
    "compressed text cut short": lambda text: ("json.gz", packed(text[: len(text) // 2])),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world, two scenarios and their episodes in the published form."""
    world = skeleton()
    state = {**scenario().initial_state, "members": {"7": {"number": 7, "name": "Ada"}}}
    posed = [scenario(world, task=f"Lend Dune to Ada, {n}.", initial_state=state) for n in range(2)]
    played = [roll_out(world, one, WitnessAgent(), seed=0) for one in posed]
    return release.write_sample(tmp_path_factory.mktemp("whole"), [world], posed, played)


@pytest.fixture
def folder(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENVSCALER_HOME", str(tmp_path / "home"))
    (tmp_path / "data").mkdir()
    for name in NAMES:
        (tmp_path / "data" / f"{name}.json").write_bytes((whole / f"{name}.json").read_bytes())
    return tmp_path / "data"


def run(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    more = ["--calls", "10"] if command == "certify" else []
    status = main([command, str(folder), "--no-progress", *more])
    told = capsys.readouterr()
    return status, json.loads(told.out.splitlines()[-1]), told.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_whole_folder_has_none(folder: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    status, told, err = run(command, folder, capsys)
    assert (status, told["unread"], told["failures"], err) == (0, {}, 0, ""), told


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_further_file_that_is_damaged_is_named_and_the_others_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, damage: str
) -> None:
    ending, content = DAMAGES[damage]((folder / "rl_scenarios.json").read_bytes())
    file = folder / f"more.{ending}"
    file.write_bytes(content)
    status, told, err = run(command, folder, capsys)
    assert status == 1 and list(told["unread"]) == [str(file)], err
    assert len(told["unread"][str(file)]) > 10 and told["unread"][str(file)] in err
    assert err.count(str(file)) <= 2, "each is told once"
    assert told["scenarios" if command == "certify" else "trajectories"] >= 2


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES)
def test_whichever_file_is_damaged_every_other_one_is_named_too(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    text = (folder / f"{name}.json").read_bytes()
    (folder / f"{name}.json").unlink()
    broken = [folder / f"{name}.json.gz", folder / "other.jsonl.gz"]
    for file in broken:
        file.write_bytes(packed(text)[:40])
    status, told, err = run(command, folder, capsys)
    assert status == 1 and set(told["unread"]) == {str(file) for file in broken}
    assert all(str(file) in err for file in broken) and "Traceback" not in err


def test_the_files_are_named_before_a_flood_of_other_failures(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "z.jsonl").write_text(
        "\n".join(json.dumps({"task_info": 5, "messages": []}) for _ in range(50))
    )
    (folder / "zz.json").write_bytes(b"")
    status, told, err = run("replay", folder, capsys)
    assert status == 1 and list(told["unread"]) == [str(folder / "zz.json")] and told["failures"] == 51
    assert "zz.json" in err.splitlines()[0] and "and 40 more" in err


@pytest.mark.parametrize("ending", ["json.gz", "jsonl.gz"])
def test_what_stands_before_the_damage_is_read(tmp_path: Path, ending: str) -> None:
    """Cut anywhere, or overwritten anywhere: the rows that came before, the damage at the end, never an exception."""
    chance = random.Random(4)
    rows = [{"number": n, "text": "".join(chance.choices("abcdefgh ", k=3000))} for n in range(1000)]
    lines = [json.dumps(row) for row in rows]
    text = "[" + ",\n".join(lines) + "]" if ending == "json.gz" else "\n".join(lines) + "\n"
    content, path = packed(text.encode()), tmp_path / f"x.{ending}"
    for _ in range(12):
        cut = chance.randrange(len(content))
        path.write_bytes(
            content[:cut] if chance.random() < 0.5 else content[:cut] + b"\0\xff" * 9 + content[cut + 18 :]
        )
        read = list(read_rows(path))
        good = [row for _, row, problem in read if problem is None]
        assert isinstance(read[-1][2], DamagedFile), cut
        # What was overwritten may still be unpacked, to something else; only the sum at the end tells.
        certain = rows[: max(0, int(cut / len(content) * 1000) - 400)]
        assert good[: len(certain)] == certain, "all but what was waiting to be unpacked"


def test_a_damaged_file_by_itself_is_an_error_or_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(packed(b"[1, 2]" * 100)[:20])
    with pytest.raises(StoreError, match=r"none can be read.*x\.json\.gz"):
        release.read_scenarios(path)
    (failure,) = release.iter_scenarios(path)
    assert getattr(failure, "error", "") == "DamagedFile" and damaged_files(path)[0][0] == path


def test_a_folder_that_cannot_be_entered_file_by_file(tmp_path: Path) -> None:
    """A name that leads nowhere is a damaged file, not the end of all."""
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a.json").write_text("[]")
    assert [p.name for p, _ in damaged_files(tmp_path)] in ([], ["gone.json"])
