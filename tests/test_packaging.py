"""The two lists of packages agree, and each of the packages is really used."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
NAMED_BY_THE_USER = {
    "jupyterlab", "ipywidgets", "pandas", "matplotlib", "umap-learn", "sentence-transformers", "openai", "papermill",
}  # fmt: skip


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def conda() -> tuple[set[str], set[str]]:
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    plain = {entry for entry in entries if isinstance(entry, str)}
    return plain, set(next(entry["pip"] for entry in entries if isinstance(entry, dict)))


def test_environment_yml_lists_what_pyproject_lists() -> None:
    plain, by_pip = conda()
    wanted = set(project()["dependencies"])
    assert (plain | by_pip) - wanted == {
        "pip",
        "pytorch-cpu",
        "--editable .",
        f"python{project()['requires-python']}",
    }
    assert wanted <= plain | by_pip


def test_what_the_user_named_is_there() -> None:
    names = {re.split(r"[><=~!\[ ]", entry)[0] for entry in project()["dependencies"]}
    assert names >= NAMED_BY_THE_USER


def test_each_dependency_is_used() -> None:
    """By an import somewhere, or by name in a command of the Makefile (jupyterlab)."""
    spelled = {"umap-learn": "umap", "pyyaml": "yaml", "scikit-learn": "sklearn"}
    code = "\n".join(p.read_text() for p in (ROOT / "envscaler").rglob("*.py"))
    for entry in project()["dependencies"]:
        name = re.split(r"[><=~!\[ ]", entry)[0]
        if name == "jupyterlab":
            assert "jupyter lab" in (ROOT / "Makefile").read_text()
        else:
            module = spelled.get(name, name.replace("-", "_"))
            assert re.search(rf"\b(import|from) {module}\b|find_spec\(.{module}", code), name
