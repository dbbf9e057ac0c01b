"""Recorded episodes re-executed: what is the same, and every kind of difference named for what it is.

The command is run on a sample in the published form that is made here, and on the published one where it is there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import worlds

from envscaler import release
from envscaler.__main__ import main
from envscaler.episode import roll_out
from envscaler.release import replaying
from envscaler.schema import Call, Check, Scenario, Skeleton
from envscaler.scripted import IdleAgent, WitnessAgent
from envscaler.world.replay import CLASSES, parsed, replay

ROOT = Path(__file__).resolve().parents[1]

DESK = '''
import time
import uuid
from datetime import datetime


class Desk:
    """Takes notes."""

    def __init__(self, initial_state: dict | None = None):
        self.notes: dict[str, dict] = {}
        self.tags: list = []

    def add_note(self, text: str) -> dict:
        """Add a note."""
        note = f"N-{uuid.uuid4()}"
        self.notes[note] = {"note": note, "text": text}
        return {"success": True, "data": note}

    def read_note(self, note: str) -> dict:
        """Read a note."""
        return {"success": note in self.notes, "data": self.notes.get(note)}

    def now(self) -> dict:
        """Tell the time."""
        return {"success": True, "data": datetime.now().isoformat()}

    def seconds(self) -> dict:
        """Tell the time in seconds."""
        return {"success": True, "data": time.time()}

    def list_tags(self) -> dict:
        """List the tags."""
        return {"success": True, "data": self.tags}

    def half_done(self, text: str) -> dict:
        """Break in the middle."""
        self.tags.append(text)
        raise KeyError(text)

    def count(self) -> dict:
        """Count."""
        return {"success": True, "data": len(self.notes) + len(self.tags)}
'''


@pytest.fixture(scope="module")
def desk() -> tuple[Skeleton, Scenario]:
    made = worlds.skeleton(DESK)
    check = "def check_func(final_state):\n    return len(final_state['notes']) == 1"
    state = {"notes": {}, "tags": ["b", "a"]}
    fields = {
        "task": "Add a note.", "checks": [Check(item="Has a note been added?", source=check)],
        "may_change": ["notes/+"],
    }  # fmt: skip
    return made, Scenario(skeleton_id=made.id, initial_state=state, **fields)


OLD = "N-00000000-1111-2222-3333-444444444444"


@pytest.mark.parametrize(
    ("calls", "kinds"),
    [
        ([("count", {}, "{'success': True, 'data': 2}")], ["same"]),
        ([("count", {}, '{"data": 2, "success": true}')], ["same"]),
        ([("count", {}, "{'success': True, 'data': 3}")], ["real"]),
        ([("count", {}, "{'success': True, 'data': 2.0}")], ["real"]),
        ([("add_note", {"text": "x"}, f"{{'success': True, 'data': '{OLD}'}}")], ["id"]),
        (
            [
                ("add_note", {"text": "x"}, f"{{'success': True, 'data': '{OLD}'}}"),
                (
                    "read_note",
                    {"note": OLD},
                    f"{{'success': True, 'data': {{'note': '{OLD}', 'text': 'x'}}}}",
                ),
                (
                    "read_note",
                    {"note": OLD},
                    f"{{'success': True, 'data': {{'note': '{OLD}', 'text': 'y'}}}}",
                ),
            ],
            ["id", "id", "real"],
        ),
        ([("now", {}, "{'success': True, 'data': '2020-02-03T10:11:12.345678'}")], ["time"]),
        ([("seconds", {}, "{'success': True, 'data': 1600000000.5}")], ["time"]),
        ([("seconds", {}, "{'success': True, 'data': 5.5}")], ["real"]),
        ([("list_tags", {}, "{'success': True, 'data': ['a', 'b']}")], ["order"]),
        ([("list_tags", {}, "{'success': True, 'data': ['a', 'a']}")], ["real"]),
        (
            [
                ("add_note", {"text": "x", "surplus": 1}, f"{{'success': True, 'data': '{OLD}'}}"),
                ("count", {}, "{'success': True, 'data': 3}"),
                ("list_tags", {}, "{'success': True, 'data': ['b', 'a']}"),
            ],
            ["validation", "follows", "same"],
        ),
        ([("no_such_tool", {}, "Error: Invalid action")], ["validation"]),
        (
            [
                ("half_done", {"text": "c"}, "Error: <Exception>\nKeyError: 'c'"),
                ("list_tags", {}, "{'success': True, 'data': ['b', 'a', 'c']}"),
            ],
            ["undone", "follows"],
        ),
        ([("list_tags", {}, "f(x)")], ["real"]),
    ],
)
def test_each_kind_of_difference_is_told_apart(desk, calls, kinds):
    made, posed = desk
    again = replay(made, posed, [(Call(tool=t, arguments=a), text) for t, a, text in calls], reward="paper")
    assert [call.kind for call in again.calls] == kinds
    assert sum(again.counts.values()) == len(calls) and set(again.counts) <= set(CLASSES)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" {'a': (1, None)}\n", {"a": [1, None]}),
        ("{1: 'x'}", {"1": "x"}),
        ("{'a'", "{'a'"),
        ("(" * 5000, "(" * 5000),
        ("__import__('os')", "__import__('os')"),
        (None, None),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_a_recorded_reply_is_a_value_or_a_text(text, value):
    assert parsed(text) == value


# The command


@pytest.fixture
def sample(tmp_path, desk) -> Path:
    """Two worlds, three scenarios and six episodes in the published form."""
    library, posed = worlds.skeleton(), worlds.scenario()
    state = {"books": posed.initial_state["books"], "members": {"7": {"number": 7, "name": "Ada"}}}
    posed = posed.replace(initial_state=state)
    made, notes = desk
    notes = notes.replace(
        witness=[Call(tool="count", arguments={}), Call(tool="add_note", arguments={"text": "x"})]
    )
    other = notes.replace(task="Add a note, please.")
    played = [
        roll_out(world, task, agent, seed=seed)
        for world, task in ((library, posed), (made, notes), (made, other))
        for seed, agent in enumerate([WitnessAgent(), IdleAgent()])
    ]
    return release.write_sample(tmp_path / "sample", [library, made], [posed, notes, other], played)


def said(capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    """The last line, and the table before it."""
    text = capsys.readouterr().out
    table, _, last = text.rstrip("\n").rpartition("\n")
    return json.loads(last), table


def changed(sample: Path, change: Any) -> None:
    """Change the recorded episodes as published; what only our records have goes, as others' files have none."""
    path = sample / "trajectories.json"
    table = json.loads(path.read_text())
    for row in table:
        row.pop("envscaler", None)
    path.write_text(json.dumps(change(table) or table))


def test_our_own_episodes_are_paid_as_they_were(sample, capsys, tmp_path):
    out = tmp_path / "differences.jsonl"
    status = main(["replay", str(sample), "--no-progress", "--out", str(out)])
    counts, table = said(capsys)
    assert status == 0
    assert counts["trajectories"] == 6 and counts["failures"] == 0
    assert counts["rewards"] == counts["rewards_same"] == 6
    assert counts["calls"] == counts["observations_same"] + sum(counts["classes"].values()) == 6
    assert set(counts["classes"]) == set(CLASSES) - {"same"} and counts["classes"]["real"] == 0
    assert len(table.splitlines()) == 6 + 2
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == sum(counts["classes"].values())


def test_a_reply_that_is_another_is_real_and_the_status_says_so(sample, capsys, tmp_path):
    def tamper(table: list[dict[str, Any]]) -> None:
        table[2]["trajectory"][1]["observation"]["content"] = "{'success': True, 'data': 17}"

    changed(sample, tamper)
    out = tmp_path / "differences.jsonl"
    assert main(["replay", str(sample), "--no-progress", "--out", str(out)]) == 1
    counts, _ = said(capsys)
    assert counts["classes"]["real"] == 1 and counts["rewards_same"] == 6
    (line,) = [row for row in map(json.loads, out.read_text().splitlines()) if row["class"] == "real"]
    assert line["tool"] == "count" and line["recorded"]["data"] == 17 and line["reply"]["data"] == 2
    assert line["number"] == 0 and line["task_id"]


def test_a_reward_that_is_another_is_told(sample, capsys, tmp_path):
    def tamper(table: list[dict[str, Any]]) -> None:
        table[0]["total_reward"] = 0.25

    changed(sample, tamper)
    out = tmp_path / "differences.jsonl"
    assert main(["replay", str(sample), "--no-progress", "--out", str(out)]) == 1
    counts, _ = said(capsys)
    assert (counts["rewards"], counts["rewards_same"], counts["classes"]["real"]) == (6, 5, 0)
    assert '"class": "reward"' in out.read_text()


def test_what_we_graded_is_paid_by_our_rule(tmp_path, desk, capsys):
    """A bystander that was touched: 0 by our rule, 1 by the published one."""
    made, posed = desk
    posed = posed.replace(may_change=["tags"], witness=[Call(tool="add_note", arguments={"text": "x"})])
    release.write_sample(tmp_path / "s", [made], [posed], [roll_out(made, posed, WitnessAgent())])
    assert main(["replay", str(tmp_path / "s"), "--no-progress"]) == 0
    assert said(capsys)[0]["rewards_same"] == 1
    changed(tmp_path / "s", lambda table: None)
    assert main(["replay", str(tmp_path / "s"), "--no-progress"]) == 1
    assert said(capsys)[0]["rewards_same"] == 0


def test_an_episode_that_was_cut_off_was_paid_nothing(sample, capsys):
    def cut(table: list[dict[str, Any]]) -> None:
        for row in table:
            row |= {"terminated": False, "truncated": True, "total_reward": 0.0}

    changed(sample, cut)
    assert main(["replay", str(sample), "--no-progress"]) == 0
    assert said(capsys)[0]["rewards_same"] == 6


def test_training_data_has_no_rewards_to_compare(sample, capsys):
    skeletons = release.read_environments(sample)
    posed = release.read_scenarios(sample, skeletons)
    played = release.read_trajectories(sample, skeletons, posed)
    path = sample / "trajectories.json"
    release.write_trajectories(played, path, skeletons, posed, form="training")
    changed(sample, lambda table: None)
    assert main(["replay", str(sample), "--no-progress"]) == 0
    counts, _ = said(capsys)
    assert (counts["rewards"], counts["calls"], counts["classes"]["real"]) == (0, 6, 0)


def test_what_cannot_be_replayed_is_a_failure_and_the_others_go_on(sample, capsys, tmp_path):
    def tamper(table: list[dict[str, Any]]) -> list[Any]:
        table[1]["task_info"]["task_id"] = "nowhere"
        return [*table, {"task_info": 5, "messages": []}]

    changed(sample, tamper)
    out = tmp_path / "differences.jsonl"
    assert main(["replay", str(sample), "--no-progress", "--out", str(out)]) == 1
    captured = capsys.readouterr()
    counts = json.loads(captured.out.splitlines()[-1])
    assert (counts["trajectories"], counts["failures"]) == (5, 2)
    assert "nowhere" in captured.err and "--scenarios" in captured.err and "[6]" in captured.err
    assert out.read_text().count('"class": "failure"') == 2


def test_an_environment_that_is_lost_is_a_failure_and_no_difference(sample, capsys):
    path = sample / "env_metadata.json"
    table = json.loads(path.read_text())
    for row in table.values():
        row["env_class_code"] = row["env_class_code"].replace('"""Count."""', "while True: pass")
        row.pop("envscaler", None)
    path.write_text(json.dumps(table))

    def many(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[2]["trajectory"][1:2] *= 4
        return rows[2:3]

    changed(sample, many)
    assert main(["replay", str(sample), "--no-progress"]) == 1
    captured = capsys.readouterr()
    counts = json.loads(captured.out.splitlines()[-1])
    assert (counts["trajectories"], counts["failures"], counts["calls"]) == (0, 1, 0)


def test_the_three_files_may_lie_apart(sample, capsys, tmp_path):
    for name in ("env_metadata", "rl_scenarios", "trajectories"):
        (tmp_path / name).mkdir()
        (sample / f"{name}.json").rename(tmp_path / name / "x.json")
    where = {
        name: str(tmp_path / name / "x.json") for name in ("env_metadata", "rl_scenarios", "trajectories")
    }
    line = ["replay", where["trajectories"], "--no-progress"]
    assert main(line) == 1
    assert "environments" in capsys.readouterr().err
    line += ["--environments", where["env_metadata"], "--scenarios", where["rl_scenarios"], "--workers", "1"]
    assert main(line) == 0
    assert said(capsys)[0]["trajectories"] == 6


def test_what_is_the_same_keeps_no_replies(sample):
    """Episodes are replayed by the ten thousand, and their replies are most of them."""

    def tamper(table: list[dict[str, Any]]) -> None:
        table[2]["trajectory"][1]["observation"]["content"] = "{'success': True, 'data': 17}"

    changed(sample, tamper)
    skeletons = release.read_environments(sample)
    posed = release.read_scenarios(sample, skeletons)
    played = release.read_trajectories(sample, skeletons, posed)
    calls = [
        call for one in replaying.replay_all(played, skeletons, posed, progress=False) for call in one.calls
    ]
    assert {"same", "real"} <= {call.kind for call in calls}
    assert all((call.recorded is None and call.reply is None) == (call.kind == "same") for call in calls)


def test_many_episodes_have_a_row_an_environment(sample, capsys):
    changed(sample, lambda table: table * 8)
    assert main(["replay", str(sample), "--no-progress"]) == 0
    counts, table = said(capsys)
    assert counts["trajectories"] == 48 and len(table.splitlines()) == 2 + 2


def test_the_same_replay_twice_says_the_same(sample, capsys, tmp_path):
    texts = []
    for name in ("a", "b"):
        assert main(["replay", str(sample), "--no-progress", "--out", str(tmp_path / name)]) == 0
        texts.append((capsys.readouterr().out, (tmp_path / name).read_text()))
    assert texts[0] == texts[1]


def test_it_is_a_command_of_its_own_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "envscaler", "replay", str(tmp_path)],
        capture_output=True, text=True, cwd=ROOT, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr
    assert done.stderr.startswith("envscaler: Expected a file of environments")


def test_a_table_of_nothing_has_its_columns():
    assert replaying.replay_table([]).columns[0] == "calls"


@pytest.mark.release
def test_the_published_episodes(release, capsys, tmp_path):
    """110 calls: 101 the same, 9 with ids that were generated anew; the ten rewards equal."""
    status = main(["replay", str(release), "--no-progress", "--out", str(tmp_path / "d.jsonl")])
    counts, table = said(capsys)
    assert status == 0 and len(table.splitlines()) == 12
    assert counts == {
        "trajectories": 10, "calls": 110, "observations_same": 101, "rewards": 10, "rewards_same": 10,
        "classes": {**dict.fromkeys(CLASSES[1:], 0), "id": 9}, "failures": 0, "unread": {},
    }  # fmt: skip
    assert len((tmp_path / "d.jsonl").read_text().splitlines()) == 9
