"""Faults made on purpose: code that still parses, differs in one place, and does differ in what it does."""

import ast
from collections import Counter

import numpy as np
import pytest

from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.faults import KINDS, spoil

METHODS = [tool.source for name in domains() for tool in world_of(name).tools.values()]


def test_a_spoiled_method_parses_keeps_its_name_and_differs() -> None:
    rng = np.random.default_rng(0)
    same = 0
    for method in METHODS:
        spoiled = spoil(method, rng)
        old, new = ast.parse(method).body[0], ast.parse(spoiled).body[0]
        assert isinstance(old, ast.FunctionDef) and isinstance(new, ast.FunctionDef)
        assert old.name == new.name and ast.dump(old.args) == ast.dump(new.args)
        assert ast.get_docstring(old) == ast.get_docstring(new)
        same += ast.dump(old) == ast.dump(new)
    assert same < 0.25 * len(METHODS), "read tools without a filter offer no place; most others do"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_fault_finds_a_place(kind: str) -> None:
    places = sum(bool(list(KINDS[kind](ast.parse(m).body[0], m.splitlines()))) for m in METHODS)
    assert places >= 5


def test_faults_are_seeded_and_varied() -> None:
    method = world_of("hotel").tools["book_room"].source
    made = [spoil(method, np.random.default_rng(seed)) for seed in range(40)]
    assert made == [spoil(method, np.random.default_rng(seed)) for seed in range(40)]
    assert len(Counter(made)) >= 8


def test_what_offers_no_place_comes_back_as_it_was() -> None:
    method = (
        'def now(self) -> dict:\n    """Tell the date."""\n    return {"success": True, "data": self.today}\n'
    )
    assert spoil(method, np.random.default_rng(0)) == method
