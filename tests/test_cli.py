"""The command line: what is wrong is said in a sentence, with a non-zero exit and nothing half-written."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envscaler import project

ROOT = Path(__file__).resolve().parents[1]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")} | environment
    return subprocess.run(
        [sys.executable, "-m", "envscaler", *arguments], capture_output=True, text=True, env=env, cwd=ROOT
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode not in (0, 130), done.stdout
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_unknown_scale_notebook_and_parameter(home: Path) -> None:
    (home / "notebooks").symlink_to(ROOT / "notebooks")
    assert "smoke" in said(run("run", "--scale", "huge"))
    assert "99" in said(run("run", "--only", "99"))
    assert "'bogus'" in said(run("run", "--scale", "smoke", "-p", "bogus", "1"))
    assert "--seed" in said(run("run", "--scale", "smoke", "-p", "seed", "1"))
    assert "whole number" in said(run("run", "--seed", "-1"))
    assert not (home / "build").exists()


def test_no_key_and_unreachable_server(home: Path) -> None:
    (home / "notebooks").symlink_to(ROOT / "notebooks")
    text = said(run("run", "--only", "01", "--scale", "smoke", "--model", "gpt-4.1"))
    assert "OPENAI_API_KEY" in text
    url = f"http://127.0.0.1:{closed_port()}/v1"
    assert url in said(run("run", "--only", "01", "--scale", "smoke", "--model", "m", "--base-url", url))
    assert not (home / "build" / "notebooks").exists()


def test_no_notebooks_here(home: Path) -> None:
    assert "ENVSCALER_HOME" in said(run("run"))


@pytest.mark.skipif(sys.platform == "win32", reason="folders are made read-only by other means there")
def test_a_folder_that_cannot_be_written(home: Path) -> None:
    (home / "notebooks").symlink_to(ROOT / "notebooks")
    (home / "build").write_text(
        "a file where the folder should be"
    )  # holds for root too, whom no mode bit stops
    text = said(run("run", "--only", "01", "--scale", "smoke", "--no-progress"))
    assert "ENVSCALER_HOME" in text
    assert {p.name for p in home.iterdir()} == {"notebooks", "build"}


def test_a_notebook_without_what_it_reads_names_the_one_to_run_first(home: Path) -> None:
    for name in ("notebooks", "data"):
        (home / name).symlink_to(ROOT / name)
    text = said(run("run", "--only", "03", "--scale", "smoke", "--no-progress"))
    assert "02_themes" in text
    assert "03_skeletons.failed.ipynb" in text
    assert (home / "build" / "notebooks" / "03_skeletons.failed.ipynb").exists()
    assert not (home / "build" / "notebooks" / "03_skeletons.ipynb").exists()


def test_help_and_version() -> None:
    done = run("run", "--help")
    assert done.returncode == 0 and "--base-url" in done.stdout
    assert json.loads(f'"{run("--version").stdout.strip()}"')
    assert said(run())


@pytest.mark.parametrize(
    "name", ["../../x", "/tmp/x", "..", ".", " ", "a/b", "a\nb", "x" * 300, "a.failures"]
)
def test_a_name_of_a_run_stays_in_its_folder(home: Path, name: str) -> None:
    (home / "notebooks").symlink_to(ROOT / "notebooks")
    assert "name of a run" in said(run("run", "--scale", "smoke", "--run", name))
    assert not (home / "build").exists()


def test_a_model_of_any_name_has_a_run_name_that_is_a_file_name(home: Path) -> None:
    for model in ("Qwen/Qwen3-30B-A3B", "a/../../b", "..", "ü" * 300, "qwen3:8b"):
        path = project.stage_path("tasks", project.run_name(model, "smoke"))
        assert path.parent == home / "data" / "tasks" and len(path.name.encode()) < 200


def test_parameters_that_no_notebook_can_hold(home: Path) -> None:
    (home / "notebooks").symlink_to(ROOT / "notebooks")
    assert "a notebook can hold" in said(run("run", "--only", "02", "-p", "merge_at", "{1, 2}"))
    assert "below" in said(run("run", "--seed", "9" * 30))
    assert "'builtin'" in said(run("run", "--base-url", "http://localhost:8000/v1"))
    assert not (home / "build").exists()


def test_a_source_is_meant_from_where_the_command_is_given_and_needs_no_labels(home: Path) -> None:
    for name in ("notebooks", "data"):
        (home / name).symlink_to(ROOT / name)
    (home / "mine.csv").write_text("text\nBook a room for two on Tuesday\nWhat is 2 + 2?\n")
    env = {**os.environ, "ENVSCALER_HOME": str(home)}
    line = [sys.executable, "-m", "envscaler", "run", "--scale", "smoke", "--only", "01", "--no-progress"]
    done = subprocess.run(
        [*line, "-p", "source", "mine.csv"], capture_output=True, text=True, env=env, cwd=home
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["tasks"] == {"records": 2, "failures": 0}
    assert not done.stderr


def test_a_notebook_that_is_none(home: Path) -> None:
    (home / "notebooks").mkdir()
    for text in ("not json", '{"cells": 5}', "[]"):
        (home / "notebooks" / "01_tasks.ipynb").write_text(text)
        assert "01_tasks.ipynb" in said(run("run", "--only", "01", "--scale", "smoke"))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send there")
def test_an_interrupt_is_told_and_leaves_nothing_half_written(home: Path) -> None:
    for name in ("notebooks", "data"):
        (home / name).symlink_to(ROOT / name)
    line = [sys.executable, "-m", "envscaler", "run", "--scale", "smoke", "--only", "01", "--no-progress"]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not (home / "build" / "notebooks").exists():
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, "")
    assert stderr == "envscaler: interrupted; run the same line again to go on.\n"
    assert not list((home / "build" / "notebooks").iterdir())


def test_a_relative_home_is_the_same_folder_for_the_kernels(home: Path) -> None:
    for name in ("notebooks", "data"):
        (home / name).symlink_to(ROOT / name)
    env = {**os.environ, "ENVSCALER_HOME": home.name}
    command = [sys.executable, "-m", "envscaler", "run", "--only", "01", "--scale", "smoke", "--no-progress"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=home.parent)
    assert json.loads(done.stdout.splitlines()[-1])["counts"]["tasks"]["records"] == 60, done.stderr
    assert (home / "build" / "data" / "tasks" / "builtin-smoke.jsonl").exists()
    assert not (ROOT / "notebooks" / home.name).exists()
