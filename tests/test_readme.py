"""Every command and line of code in the README is run, and the README stays short."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text()
COMMANDS = [line.split("#")[0].strip() for line in re.findall(r"^    (\S.*)$", TEXT, flags=re.M)]


def commands(beginning: str) -> list[str]:
    found = [c for c in COMMANDS if c.startswith(beginning)]
    assert found, beginning
    return found


def test_it_is_short_and_its_files_are_there() -> None:
    assert len(TEXT.splitlines()) < 150
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        if "://" not in target:
            assert (ROOT / target).exists(), target


def test_it_names_every_notebook_and_module() -> None:
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"`{notebook.stem}`" in TEXT
    for module in (ROOT / "envscaler").glob("[a-z]*.py"):
        assert re.search(rf"\b{module.stem}\b", TEXT), module.stem


def test_it_counts_the_worlds() -> None:
    folder = ROOT / "envscaler" / "model" / "builtin"
    counts = [len(list((folder / f).glob("[a-z]*.*"))) for f in ("domains", "patterns")]
    assert re.search(r"(\d+) hand-written worlds on (\d+) patterns", TEXT).groups() == tuple(map(str, counts))


def test_every_make_target_is_there() -> None:
    for command in commands("make"):
        dry = subprocess.run(["make", "-n", *command.split()[1:]], cwd=ROOT, capture_output=True, text=True)
        assert dry.returncode == 0, dry.stderr
    assert (
        "pytest" in subprocess.run(["make", "-n", "check"], cwd=ROOT, capture_output=True, text=True).stdout
    )


def test_the_install_line_resolves() -> None:
    pytest.importorskip("uv")
    (command,) = commands("pip install")
    tool = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--dry-run", "--offline", "--python", sys.executable,
         *command.split()[2:3], "constraints.txt", "-e", "."],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert tool.returncode == 0, tool.stderr


@pytest.mark.notebook
def test_the_run_lines_parse_and_the_models_line_says_what_is_missing(tmp_path: Path) -> None:
    """The smoke line itself is run by test_notebooks; the one with a server is run against a closed port."""
    from envscaler.__main__ import _parser

    for command in commands("python -m envscaler"):
        assert _parser().parse_args(command.split()[3:]).do
    live = next(c for c in commands("python -m envscaler") if "--base-url" in c).split()[3:]
    live[live.index("--base-url") + 1] = "http://127.0.0.1:9/v1"
    done = subprocess.run(
        [sys.executable, "-m", "envscaler", *live], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 1 and "127.0.0.1:9" in done.stderr


@pytest.mark.notebook
def test_the_ten_lines_run(tmp_path: Path) -> None:
    code = re.search(r"```python\n(import envscaler.*?)```", TEXT, flags=re.S)
    assert code
    script = (
        code.group(1)
        + "\nassert len(rollouts) == 8 and not rollouts.failures, (len(rollouts), rollouts.failures)\n"
    )
    (tmp_path / "data").symlink_to(ROOT / "data")
    environment = {**os.environ, "ENVSCALER_HOME": str(tmp_path), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
