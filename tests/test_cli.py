"""The command line: what is wrong is said in a sentence, with a non-zero exit and nothing half-written."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

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
