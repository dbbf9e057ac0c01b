"""Planted faults: each kind where it fits, proved by running, and never by knowing an environment."""

import ast
import random

import held_out
import library
import published
import pytest
import worlds
from hypothesis import given
from hypothesis import strategies as st

from envscaler.error import ParameterError
from envscaler.world.environment import Environment
from envscaler.world.mutants.kinds import KINDS, any_difference, kind
from envscaler.world.mutants.method import Edit, Method, World, edited
from envscaler.world.mutants.sources import Mutants, mutants_of, plant
from envscaler.world.source import parse_class
from envscaler.world.witness import succeeded

LIBRARY = library.skeleton()


@pytest.fixture(scope="module")
def planted() -> Mutants:
    return mutants_of(LIBRARY, per_kind=6, state=library.STATE)


def test_there_are_a_dozen_kinds_and_each_says_who_can_see_it() -> None:
    assert len(KINDS) >= 9
    assert {k.shown for k in KINDS.values()} == {"execution", "rule", "judge"}
    assert all(k.why.endswith(".") for k in KINDS.values())


def test_most_kinds_fit_the_village_library(planted: Mutants) -> None:
    found = {m.kind for m in planted}
    assert len(found) >= 7
    assert found | planted.no_place.keys() | planted.equivalent.keys() == set(KINDS)


def test_a_mutant_differs_in_one_method_and_is_declared_as_before(planted: Mutants) -> None:
    was = parse_class(LIBRARY.source).methods
    for mutant in planted:
        now = parse_class(mutant.skeleton.source).methods
        assert [name for name in was if was[name].source != now[name].source] == [mutant.tool]
        assert mutant.skeleton.tools == LIBRARY.tools and mutant.skeleton.rules == LIBRARY.rules
        assert mutant.told and mutant.skeleton.id != LIBRARY.id


def test_the_call_that_proves_a_mutant_shows_a_fault_of_its_kind(planted: Mutants) -> None:
    by_kind = {m.kind: m.difference for m in planted}
    refused = by_kind["change on failure"]
    assert refused and not succeeded(refused.reply) and refused.diff
    read = by_kind["read that writes"]
    assert read and read.diff and not read.expected_diff
    rule = by_kind["rule not enforced"]
    assert rule and succeeded(rule.reply) and not succeeded(rule.expected)
    for mutant in planted:
        assert mutant.difference and KINDS[mutant.kind].proof(mutant.difference)


def test_a_rule_that_has_an_invariant_is_seen_to_break(planted: Mutants) -> None:
    rules = [m for m in planted if m.kind == "rule not enforced"]
    copies = [m for m in rules if "copies" in m.told]
    assert copies and all(m.breaks_a_rule and m.by_execution for m in copies)
    active = [m for m in rules if "active" in m.told]
    assert active and not any(m.breaks_a_rule or m.by_execution for m in active)


def test_same_seed_same_mutants() -> None:
    one, other = (
        mutants_of(LIBRARY, ["off by one", "nondeterminism"], 2, 5, state=library.STATE) for _ in "ab"
    )
    assert [m.skeleton.source for m in one] == [m.skeleton.source for m in other]
    assert one == other and one


def test_what_no_call_tells_apart_is_dropped_and_counted() -> None:
    # Nobody can tell `>= 99` from `>= 100` when there are three loans.
    world = library.skeleton(lend_book=library.GREEDY)
    found = mutants_of(world, ["off by one"], 4, state=library.STATE)
    assert found.equivalent["off by one"] > 0
    assert not any("99" in m.told for m in found)


def test_a_world_without_a_place_for_a_kind_is_told_so() -> None:
    bare = worlds.tool("return {'success': True, 'data': 1}")
    assert plant(bare, "missing validation", random.Random(0)) is None
    assert mutants_of(bare, ["missing validation"]).no_place == {"missing validation": 1}


def test_an_unknown_kind_and_a_taken_name_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"out of .*missing validation"):
        plant(LIBRARY, "typo", random.Random(0))
    with pytest.raises(ParameterError, match="taken"):
        kind("off by one", "judge", "Why.", proof=any_difference)(lambda method: iter(()))


@pytest.mark.parametrize("name", list(KINDS))
def test_every_proposed_edit_parses_and_stays_in_its_method(name: str) -> None:
    world = World(LIBRARY.source, LIBRARY.class_name)
    for tool in LIBRARY.tools:
        method = Method(world, tool)
        first, last = method.node.lineno, method.node.end_lineno or 0
        for change in KINDS[name].operator(method):
            ast.parse(edited(LIBRARY.source, change.edits))
            assert all(first <= e.start[0] <= e.end[0] <= last for e in change.edits)


def test_mutants_load(planted: Mutants) -> None:
    for mutant in planted:
        with Environment(mutant.skeleton, library.STATE) as environment:
            environment.reset()


def test_published_environments_take_every_kind(release) -> None:  # type: ignore[no-untyped-def]
    skeleton = published.skeletons(release)["env_145_rl"]
    found = mutants_of(skeleton, state=published.states(release)["env_145_rl"])
    assert len({m.kind for m in found}) >= len(KINDS) - 2


def test_a_third_of_the_environments_is_held_out_whatever_their_code() -> None:
    worlds_ = [LIBRARY.replace(title=f"World {n}") for n in range(300)]
    assert 70 < sum(map(held_out.environment, worlds_)) < 130
    assert held_out.environment(LIBRARY) == held_out.environment(LIBRARY.replace(source="class A: ..."))


@given(
    st.lists(st.sampled_from("aé\n𝄞\u2028"), max_size=12),
    st.integers(0, 12),
    st.integers(0, 12),
    st.text(max_size=3),
)
def test_an_edit_replaces_what_it_names(parts: list[str], one: int, other: int, new: str) -> None:
    text = "".join(parts)
    first, last = sorted((min(one, len(text)), min(other, len(text))))

    def place(offset: int) -> tuple[int, int]:
        lines = text[:offset].split("\n")
        return len(lines), len(lines[-1].encode())

    assert edited(text, [Edit(place(first), place(last), new)]) == text[:first] + new + text[last:]
