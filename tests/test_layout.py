"""The house keeps its plan: who may import whom, how long a module may be, how light an import is."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "envscaler"
FLOW = ("tasks", "themes", "skeletons", "audits", "scenarios", "rollouts", "figures")
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path) -> set[str]:
    """Dotted names below `envscaler` that a module imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.ImportFrom)
            and node.level == 0
            and node.module
            and node.module.split(".")[0] == "envscaler"
        ):
            inner = node.module.removeprefix("envscaler").lstrip(".")
            found |= {f"{inner}.{alias.name}".lstrip(".") for alias in node.names} if not inner else {inner}
        elif isinstance(node, ast.Import):
            found |= {
                a.name.removeprefix("envscaler.") for a in node.names if a.name.startswith("envscaler.")
            }
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: relative import"
    return found


GRAPH = {name_of(path): imports_of(path) for path in MODULES}


def under(name: str, wing: str) -> bool:
    return name == wing or name.startswith(f"{wing}.")


@pytest.mark.parametrize("stage", FLOW)
def test_a_stage_never_imports_a_later_one(stage: str) -> None:
    assert stage in GRAPH, f"envscaler/{stage}.py is missing"
    later = set(FLOW[FLOW.index(stage) + 1 :])
    assert not GRAPH[stage] & later


@pytest.mark.parametrize(
    ("wing", "forbidden"),
    [
        ("world", ("model", "agent", "acting", "show", "episode", *FLOW)),
        ("model", ("world", "agent", "acting", "show", "episode", *FLOW)),
        ("schema", ("model", "world", "store", "run", "series", *FLOW)),
        ("show.view", ("model", "world", *FLOW)),
        ("episode", FLOW),
        ("agent", FLOW),
        ("acting", ("agent", "episode", *FLOW)),
    ],
)
def test_the_wings_do_not_know_each_other(wing: str, forbidden: tuple[str, ...]) -> None:
    members = {name: found for name, found in GRAPH.items() if under(name, wing)}
    assert members, f"envscaler.{wing} is missing"
    wrong = [
        (name, other)
        for name, found in members.items()
        for other in found
        if any(under(other, f) for f in forbidden)
    ]
    assert not wrong


def test_only_connect_knows_the_builtin_model() -> None:
    knowing = {name for name, found in GRAPH.items() if any(under(f, "model.builtin") for f in found)}
    outside = {name for name in knowing if not under(name, "model.builtin")}
    assert outside <= {"model.connect"}


def test_there_are_no_circles() -> None:
    def reach(name: str, seen: tuple[str, ...]) -> None:
        assert name not in seen, " → ".join((*seen, name))
        for other in GRAPH.get(name, ()):
            if other in GRAPH and other != name and other not in done:
                reach(other, (*seen, name))
        done.add(name)

    done: set[str] = set()
    for name in GRAPH:
        reach(name, ())


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_opens_with_what_it_is_and_stays_short(path: Path) -> None:
    text = path.read_text()
    if not text:
        return
    assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
    # A pattern is one file by design, and most of it is the text of the methods that it writes.
    most = 2000 if path.parent.name == "patterns" else 420
    assert len(text.splitlines()) <= most, f"{path} has {len(text.splitlines())} lines"


def lines_of_code(path: Path) -> int:
    """Lines that hold code: no blank line, comment or docstring."""
    text = path.read_text()
    described = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            described |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    plain = {
        n for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.strip().startswith("#")
    }
    return len(plain - described)


def test_the_library_without_the_built_in_worlds_does_not_grow_unseen() -> None:
    counted = [p for p in MODULES if "patterns" not in p.parts]
    assert sum(map(lines_of_code, counted)) < 28_500


def test_import_is_light() -> None:
    code = (
        "import sys, time; t = time.perf_counter(); import envscaler; s = time.perf_counter() - t\n"
        "heavy = {'torch', 'umap', 'openai', 'sentence_transformers', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy; assert s < 1, s"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_command_line_is_parsed_before_anything_heavy_is_imported() -> None:
    code = (
        "import sys, envscaler.__main__\n"
        "heavy = {'torch', 'umap', 'openai', 'sklearn', 'matplotlib', 'jsonschema', 'IPython'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there() -> None:
    import envscaler

    for name in envscaler.__all__:
        assert getattr(envscaler, name) is not None
    with pytest.raises(AttributeError, match="has no 'nonsense'"):
        envscaler.nonsense  # noqa: B018
