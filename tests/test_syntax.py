"""Parsing from several threads at once, with the garbage collector as busy as it can be."""

import ast
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from envscaler import syntax

PACKAGE = Path(syntax.__file__).parent
SOURCE = (PACKAGE / "schema.py").read_text()


def test_trees_are_those_of_ast() -> None:
    assert ast.dump(syntax.parse(SOURCE)) == ast.dump(ast.parse(SOURCE))
    assert isinstance(syntax.parse("1 + 1", mode="eval"), ast.Expression)
    with pytest.raises(SyntaxError):
        syntax.parse("def")


@pytest.fixture
def switching() -> Iterator[None]:
    """The collector runs often and switches threads each time: without the lock, parsing fails at once."""

    def switch(*_: object) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.set_threshold(50, 2, 2)
    gc.callbacks.append(switch)
    yield
    gc.callbacks.remove(switch)
    gc.set_threshold(*before)


def test_many_threads_parse_at_once(switching: None) -> None:
    with ThreadPoolExecutor(8) as pool:
        bodies = list(pool.map(lambda _: len(syntax.parse(SOURCE).body), range(24)))
    assert len(set(bodies)) == 1


def test_nothing_else_of_the_library_parses_by_itself() -> None:
    parsing = {path.name for path in PACKAGE.rglob("*.py") if "ast.parse(" in path.read_text()}
    assert parsing <= {"syntax.py", "worker.py"}
