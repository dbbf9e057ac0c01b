"""The notebooks: their contract, read statically, and the whole series executed at smoke scale."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from loopback import serve
from rehearsing import Fallible

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXPECTED = [
    "00_tour",
    "01_tasks",
    "02_themes",
    "03_skeletons",
    "04_audits",
    "05_scenarios",
    "06_rollouts",
    "07_corpus",
    "08_outcomes",
    "09_release",
    "10_models",
]
BANNED = [
    r"\binteract\(",
    r"\binteractive\(",
    r"with .*Output\(\)",
    r"sys\.path",
    r"[\"'](/root|/home|/tmp|/work)/",
    r"(?m)^class \w+",
]


def test_the_series_is_complete() -> None:
    assert [n.stem for n in NOTEBOOKS] == EXPECTED


@pytest.fixture(params=NOTEBOOKS, ids=lambda n: n.stem)
def notebook(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    return nbformat.read(request.param, as_version=4)


def code_of(notebook: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def test_outputs_are_stripped(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        assert cell.cell_type != "code" or (not cell.outputs and cell.execution_count is None)
    assert "widgets" not in notebook.metadata and "papermill" not in notebook.metadata
    nbformat.validate(notebook)


def test_cells_are_short_and_few(notebook: nbformat.NotebookNode) -> None:
    assert 16 <= len(notebook.cells) <= 32
    for source in code_of(notebook):
        assert len(source.splitlines()) <= 20, source
        for pattern in BANNED:
            assert not re.search(pattern, source), (pattern, source)


def test_it_opens_with_one_question_and_a_table(notebook: nbformat.NotebookNode) -> None:
    first = notebook.cells[0]
    assert first.cell_type == "markdown" and first.source.startswith("# ")
    assert first.source.count("?") >= 1
    for word in ("reads", "writes", "figures"):
        assert word in first.source


def test_its_parameters_are_plain_literals_with_a_comment(notebook: nbformat.NotebookNode) -> None:
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    names = []
    for line in tagged[0].source.splitlines():
        assert re.fullmatch(r"\w+ = .+  # .+", line), line
        statement = ast.parse(line).body[0]
        assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant), line
        names.append(statement.targets[0].id)  # type: ignore[attr-defined]
    assert names[:5] == ["model", "base_url", "scale", "seed", "run"]


def test_it_closes_with_what_was_found_and_what_is_next(notebook: nbformat.NotebookNode) -> None:
    closing = "\n".join(cell.source for cell in notebook.cells[-4:])
    assert "## What we found" in closing
    assert "## Next" in closing


def test_the_inspector_is_handed_who_judges() -> None:
    audits = nbformat.read(ROOT / "notebooks" / "04_audits.ipynb", as_version=4)
    [shown] = [source for source in code_of(audits) if "es.AuditInspector(" in source]
    assert re.search(r"AuditInspector\(.*judge=es\.judge_by\(auditor", shown)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The series at smoke scale, run by the command line in a project folder of its own."""
    home = tmp_path_factory.mktemp("home")
    for name in ("notebooks", "data"):
        (home / name).symlink_to(ROOT / name)
    done = subprocess.run(
        [sys.executable, "-m", "envscaler", "run", "--scale", "smoke", "--no-progress"],
        capture_output=True, text=True, env={**os.environ, "ENVSCALER_HOME": str(home)}, cwd=home,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return home, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.notebook
def test_the_whole_series_runs(smoke: tuple[Path, dict[str, Any]]) -> None:
    home, last = smoke
    assert last["notebooks"] == EXPECTED
    assert last["seconds"]["total"] > 0
    for stage in ("tasks", "themes", "skeletons", "audits", "scenarios", "rollouts"):
        assert last["counts"][stage]["records"] > 0, stage
    for name in EXPECTED:
        assert (home / "build" / "notebooks" / f"{name}.html").stat().st_size > 10_000
    for figure in last["figures"]:
        for ending in (".png", ".pdf", ".csv"):
            assert (home / "build" / "figures" / figure).with_suffix(ending).exists(), figure + ending


@pytest.mark.notebook
def test_smoke_writes_under_build_only(smoke: tuple[Path, dict[str, Any]]) -> None:
    home, _ = smoke
    assert {path.name for path in home.iterdir()} == {"notebooks", "data", "build"}
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", "data", "figures", "notebooks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if changed.returncode == 0 and os.environ.get("CI"):
        assert changed.stdout == ""


@pytest.mark.notebook
def test_no_cell_warned_or_printed_an_error(smoke: tuple[Path, dict[str, Any]]) -> None:
    home, _ = smoke
    for name in EXPECTED:
        executed = nbformat.read(home / "build" / "notebooks" / f"{name}.ipynb", as_version=4)
        for cell in executed.cells:
            for output in cell.get("outputs", []):
                assert output.output_type != "error"
                text = output.get("text", "") if output.output_type == "stream" else ""
                assert "Traceback" not in text and "Warning" not in text, (name, cell.source, text)


@pytest.mark.notebook
def test_every_task_is_proved_and_nothing_is_paid_for_nothing(smoke: tuple[Path, dict[str, Any]]) -> None:
    from envscaler.schema import Rollout, Scenario
    from envscaler.store import read_records

    home, last = smoke
    data = home / "build" / "data"
    scenarios = read_records(data / "scenarios" / f"{last['run']}.jsonl", Scenario)
    assert all(s.certificate and s.certificate.valid for s in scenarios)
    rollouts = read_records(data / "rollouts" / f"{last['run']}.jsonl", Rollout)
    rewards = {
        agent: {r.reward for r in rollouts if r.agent == agent and not r.conversation}
        for agent in ("witness", "idle")
    }
    assert rewards == {"witness": {1.0}, "idle": {0.0}}


@pytest.mark.notebook
def test_agents_are_played_and_compared_by_a_model_behind_a_server(
    smoke: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """06 and 08 in the worlds of the series; the server gets HTTP bodies, and errs as servers and models do."""
    from envscaler.schema import Rollout
    from envscaler.store import read_records

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("notebooks", "data"):
        (tmp_path / name).symlink_to(ROOT / name)
    data = tmp_path / "build" / "data"
    shutil.copytree(smoke[0] / "build" / "data" / "scenarios", data / "scenarios")
    fallible = Fallible(hang_seconds=1.0)
    server = serve(fallible)
    command = [
        sys.executable, "-m", "envscaler", "run", "--scale", "smoke", "--only", "06,08", "--no-progress",
        "--model", "m", "--base-url", fallible.url, "--run", smoke[1]["run"], "-p", "repeats", "2",
        "-p", "repeated", "2",
    ]  # fmt: skip
    env = {**os.environ, "ENVSCALER_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    server.shutdown()
    server.server_close()
    assert done.returncode == 0, done.stderr[-4000:]
    assert fallible.counts, "nothing went wrong on the way"
    rollouts = read_records(data / "rollouts" / f"{smoke[1]['run']}.jsonl", Rollout)
    mine = [r for r in rollouts if r.agent == "m"]
    assert {r.conversation for r in mine} == {True, False} and all(
        r.origin.model == "m" for r in mine if r.origin
    )
    assert any(r.reward for r in mine), "a competent model earns something"
    assert all(r.usage.calls for r in mine if r.ending != "failed"), "every call was counted"


@pytest.mark.notebook
def test_some_notebooks_run_on_what_the_series_made(smoke: tuple[Path, dict[str, Any]]) -> None:
    """The README's line with `--only`, as it stands there."""
    home, _ = smoke
    line = re.search(
        r"^    python -m envscaler (run .*--only \S+)", (ROOT / "README.md").read_text(), flags=re.M
    )
    assert line
    command = [sys.executable, "-m", "envscaler", *line.group(1).split(), "--no-progress"]
    env = {**os.environ, "ENVSCALER_HOME": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=home)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1])["notebooks"] == ["07_corpus", "08_outcomes"]
