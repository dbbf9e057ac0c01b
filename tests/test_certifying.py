"""Certifying many: every row once, resumed where it stopped, mended where it was torn, the same bytes at the end.

Run: python -m pytest tests/test_certifying.py -q
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from worlds import LOANS, scenario, skeleton

import envscaler.certifying.many as certifying
from envscaler import release as published_data
from envscaler.certifying.examine import Options
from envscaler.certifying.many import Certified, certify_all, table
from envscaler.commands import certify as certify_command
from envscaler.episode import roll_out
from envscaler.error import StoreError
from envscaler.schema import Call, Check, Scenario, Skeleton
from envscaler.scripted import WitnessAgent
from envscaler.store import write_records

ROOT = Path(__file__).resolve().parents[1]
QUICK = Options(calls=20)
VACUOUS = Check(
    item="Is Dune there?", source="def check_func(final_state):\n    return 'B-1' in final_state['books']"
)


def corpus(count: int = 4) -> tuple[list[Skeleton], list[Scenario]]:
    """Two worlds, and scenarios in them that differ in their task."""
    worlds = [skeleton(), skeleton(LOANS.replace("Lends books.", "Lends many books."))]
    made = [
        scenario(
            worlds[n % 2],
            task=f"Lend Dune to Ada, {n}.",
            witness=[],
            may_change=[],
            checks=[*scenario().checks, VACUOUS],
        )
        for n in range(count)
    ]
    return worlds, made


def run(out: Path | None, options: Options = QUICK, count: int = 4) -> Certified:
    return certify_all(*corpus(count), out=out, options=options, workers=2, progress=False)


def test_a_row_for_each_in_order_with_sums(tmp_path: Path) -> None:
    worlds, made = corpus()
    certified = run(tmp_path / "rows.jsonl")
    assert [row.skeleton_id for row in certified.environments] == [world.id for world in worlds]
    assert [row.scenario_id for row in certified.scenarios] == [one.id for one in made]
    assert certified.complete and not certified.missing
    totals = certified.totals
    assert (totals["environments"], totals["scenarios"], totals["checks"]) == (2, 4, 8)
    assert (totals["vacuous_checks"], totals["paid_for_nothing"], totals["mean_paid_for_nothing"]) == (
        4,
        4,
        0.5,
    )
    assert json.loads(json.dumps(totals)) == totals
    assert dict(table(certified))["checks that hold before anything is done"] == "4 of 8"


def test_what_is_given_twice_is_one_row(tmp_path: Path) -> None:
    """Files of one release repeat each other's rows."""
    worlds, made = corpus()
    certified = certify_all(
        [*worlds, worlds[0]], [*made, *made[:2]], out=tmp_path / "rows.jsonl", options=QUICK, progress=False
    )
    assert (len(certified.environments), len(certified.scenarios), certified.missing) == (2, 4, 0)
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 6 and certified.complete


def test_what_is_there_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "rows.jsonl"
    first = run(out)
    before = out.read_bytes()
    monkeypatch.setattr(certifying, "examine_scenario", lambda *_, **__: pytest.fail("done already"))
    monkeypatch.setattr(certifying, "examine_environment", lambda *_, **__: pytest.fail("done already"))
    assert run(out) == first and out.read_bytes() == before


def test_a_torn_line_and_a_lost_one_are_made_again(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    whole = (run(out), out.read_bytes())
    lines = whole[1].splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:3]) + lines[3][: len(lines[3]) // 2])
    assert (run(out), out.read_bytes()) == whole
    out.write_bytes(b"".join([lines[4], b'{"kind": "other"}\n', lines[0], b"\n"]))
    assert (run(out), out.read_bytes()) == whole


def test_other_options_and_other_content_are_other_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, done = tmp_path / "rows.jsonl", []
    run(out)
    real = certifying.examine_scenario
    monkeypatch.setattr(
        certifying, "examine_scenario", lambda *a, **k: done.append(k["name"]) or real(*a, **k)
    )
    run(out, Options(seed=1, calls=20), count=2)
    assert len(done) == 2
    run(out, Options(seed=1, calls=20), count=3)
    assert len(done) == 3, "only the new one"
    assert len(out.read_text().splitlines()) == 5, "rows of other options were dropped"


def test_a_file_of_something_else_is_not_touched(tmp_path: Path) -> None:
    for text in ("hello\n", '{"a": 1}\n', "no line end"):
        out = tmp_path / "notes.txt"
        out.write_text(text)
        with pytest.raises(StoreError, match="name another file"):
            run(out)
        assert out.read_text() == text
    out.write_text("")
    assert run(out, count=1).complete


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Expected to write"):
        run(tmp_path / "file" / "rows.jsonl", count=1)


def test_a_scenario_of_another_environment_is_a_failure() -> None:
    worlds, made = corpus(2)
    certified = certify_all(worlds[:1], made, options=QUICK, progress=False)
    assert len(certified.scenarios) == 1 and not certified.complete
    assert worlds[1].id in certified.failures[0].message
    assert certified.totals["failures"] == 1


def test_nothing_to_certify() -> None:
    certified = certify_all([], [], progress=False)
    assert (
        certified.complete
        and certified.totals["checks"] == 0
        and certified.totals["mean_paid_for_nothing"] is None
    )


def test_names_and_recorded_episodes() -> None:
    worlds, made = corpus(1)
    world = worlds[0].model_copy(update={"extra": {"env_id": "env_7"}})
    one = made[0].model_copy(update={"extra": {"task_id": "task_9"}, "checks": made[0].checks[:1]})
    recorded = {one.id: [[(Call(tool="lend", arguments={"book_id": "B-1", "member": 7}), None)]]}
    certified = certify_all([world], [one], recorded=recorded, options=QUICK, progress=False)
    row = certified.scenarios[0]
    assert (certified.environments[0].name, row.name, row.environment) == ("env_7", "task_9", "env_7")
    assert row.searched is not None and row.searched.found_by == "recorded"
    assert certified.totals["solved"] == certified.totals["with_witness"] == 1


def command(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "ENVSCALER_HOME": str(home)}
    line = [sys.executable, "-m", "envscaler", "certify", *arguments, "--no-progress", "--calls", "20"]
    return subprocess.run(line, capture_output=True, text=True, env=env, cwd=ROOT)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Our corpus in the published form."""
    worlds, made = corpus(2)
    folder = tmp_path / "data"
    folder.mkdir()
    published_data.write_environments(worlds, folder / "envs.json")
    published_data.write_scenarios(made, folder / "scenarios.json", worlds)
    return folder


def test_the_command_certifies_a_folder(published: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = command(str(published), "--html", str(page), home=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert {"environments", "scenarios", "checks", "vacuous_checks", "paid_for_nothing"} <= told.keys()
    assert (told["environments"], told["scenarios"], told["checks"], told["vacuous_checks"]) == (2, 2, 4, 2)
    assert "checks that hold before anything is done" in done.stdout
    assert page.read_text().startswith("<!doctype html>") and Path(told["out"]).is_file()


def test_found_faults_are_no_failure_of_the_run_unless_one_says_so(published: Path, tmp_path: Path) -> None:
    assert command(str(published), "--strict", home=tmp_path).returncode == 1


def test_what_cannot_be_read_is_said_in_a_sentence(published: Path, tmp_path: Path) -> None:
    for arguments in (["nowhere"], [str(published), "--search", "-1"], [str(published), "--seed", "-1"]):
        done = command(*arguments, home=tmp_path)
        assert done.returncode == 1 and "Traceback" not in done.stderr and "Expected" in done.stderr
    rows = json.loads((published / "scenarios.json").read_text())
    rows[0]["env_id"] = "env_nowhere"
    (published / "scenarios.json").write_text(json.dumps(rows))
    done = command(str(published), home=tmp_path)
    assert done.returncode == 1 and "env_nowhere" in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["scenarios"] == 1, "the good ones went on"


def test_environments_alone(published: Path, tmp_path: Path) -> None:
    done = command(str(published / "envs.json"), home=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["environments"], told["scenarios"]) == (2, 0)


def test_a_run_of_ones_own_is_certified_with_its_witnesses(tmp_path: Path) -> None:
    worlds, _ = corpus()
    write_records(worlds, tmp_path / "skeletons" / "mine.jsonl")
    write_records([scenario(worlds[0])], tmp_path / "scenarios" / "mine.jsonl")
    done = command(str(tmp_path / "scenarios" / "mine.jsonl"), home=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["environments"], told["scenarios"], told["with_witness"], told["searched"]) == (2, 1, 1, 0)


def test_recorded_episodes_are_gone_through_and_not_held(tmp_path: Path) -> None:
    """Of thousands a few will do as witnesses, and those of scenarios that are not there are of no use."""
    world = skeleton()
    posed, other = scenario(world), scenario(world, task="Lend Dune to Ada, please.")
    played = [roll_out(world, one, WitnessAgent()) for one in (posed, other)]
    folder = published_data.write_sample(tmp_path / "data", [world], [posed], [])
    published_data.write_trajectories(played, tmp_path / "played.json", [world], [posed, other])
    rows = [{**row, "note": "x" * 20_000} for row in json.loads((tmp_path / "played.json").read_text())] * 300
    large = tmp_path / "played.jsonl"
    large.write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = argparse.Namespace(path=str(folder), environments="", trajectories=str(large))
    tracemalloc.start()
    _, _, recorded, failures = certify_command._read(line)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert recorded.keys() == {posed.id} and len(recorded[posed.id]) == certify_command.MOST_RECORDED
    assert failures == [] and most < large.stat().st_size / 2, "a chunk and a row or two"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send there")
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    worlds, made = corpus(40)
    folder = tmp_path / "data"
    folder.mkdir()
    published_data.write_environments(worlds, folder / "envs.json")
    published_data.write_scenarios(made, folder / "scenarios.json", worlds)
    out = tmp_path / "rows.jsonl"
    env = {**os.environ, "ENVSCALER_HOME": str(tmp_path)}
    line = [
        sys.executable,
        "-m",
        "envscaler",
        "certify",
        str(folder),
        "--out",
        str(out),
        "--no-progress",
        "--calls",
        "20",
    ]
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=ROOT
    )
    while not out.exists() or len(out.read_bytes().splitlines()) < 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert (process.returncode, stdout) == (130, "") and "run the same line again" in stderr
    before = out.read_bytes().splitlines()
    assert 3 <= len(before) < 42
    done = command(str(folder), "--out", str(out), home=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout.splitlines()[-1])["scenarios"] == 40
    assert set(before) <= set(out.read_bytes().splitlines()), "what was done stayed as it was"


@pytest.mark.release
def test_the_figures_of_the_published_sample(release: Path) -> None:
    worlds = published_data.read_environments(release)
    posed = published_data.read_scenarios(release / "rl_scenarios.json", worlds)
    played = {one.skeleton_id for one in posed}
    chosen = [world for world in worlds if world.id in played]
    totals = certify_all(chosen, posed, options=QUICK, progress=False).totals
    assert (totals["environments"], totals["scenarios"], totals["checks"]) == (13, 35, 598)
    assert (totals["paid_for_nothing"], totals["vacuous_checks"], totals["paid_after_wipe"]) == (22, 48, 24)
    assert round(totals["most_paid_for_nothing"], 2) == 0.46 and totals["solved_by_doing_nothing"] == 0
    assert (totals["checks_that_cannot_hold"], totals["scenarios_that_cannot_be_solved"]) == (10, 5)
    assert totals["scenarios_with_contradictions"] == 2 and totals["broken_checks"] == 0
    assert totals["parameters_described"] == 0 < totals["tools_refused"] < totals["tools"]
    assert 0 < totals["replies_aliased"] < totals["replies"]


def test_a_torn_first_line_is_mended(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    run(out)
    whole = out.read_bytes()
    out.write_bytes(whole[:200])
    run(out)
    assert out.read_bytes() == whole


def test_rows_that_cannot_be_written_are_an_error_and_no_interruption(
    published: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    done = command(str(published), "--out", str(tmp_path / "file" / "rows.jsonl"), home=tmp_path)
    assert done.returncode == 1 and "rows.jsonl" in done.stderr, done.stderr


@pytest.mark.parametrize("damage", [b"", b'[{"env_id": ', b"\xff\xfe[", b"[NaN]"])
def test_scenarios_that_cannot_be_read_are_not_passed_over(
    published: Path, tmp_path: Path, damage: bytes
) -> None:
    file = published / "scenarios.json"
    file.write_bytes(damage)
    done = command(str(published), home=tmp_path)
    assert done.returncode == 1 and file.name in done.stderr, (done.returncode, done.stderr)
