"""Every world of the built-in model, written, executed and proved: what its linter cannot see.

`pytest tests/test_builtin_worlds.py -k hotel` proves one domain.
"""

import ast
import json

import numpy as np
import pytest
from builtin import MODEL, skeleton_of

from envscaler import connect_encoder
from envscaler.agent import PromptAgent, SchemaAgent, ToolAgent
from envscaler.audits import audit_skeleton
from envscaler.episode import roll_out
from envscaler.model.builtin.build import World, world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.lint import facts, lint_domain
from envscaler.model.builtin.pattern import Added, Changed, Goal
from envscaler.scenarios import build_scenario
from envscaler.schema import Call, Rule
from envscaler.world.check import broken_invariants
from envscaler.world.environment import Environment
from envscaler.world.lint import lint
from envscaler.world.proving.binding import binding_rules
from envscaler.world.source import parse_class
from envscaler.world.witness import resolve

NAMES = sorted(domains())
every_world = pytest.mark.parametrize("name", NAMES)


@every_world
def test_the_linter_finds_nothing(name: str) -> None:
    assert lint_domain(name) == []


@every_world
def test_an_environment_is_of_the_size_of_one(name: str) -> None:
    skeleton = skeleton_of(name)
    reads = sum(not tool.mutates for tool in skeleton.tools)
    assert 14 <= len(skeleton.tools) <= 25 and reads >= 6
    assert 2 <= len(skeleton.state) <= 6 and 3 <= len(skeleton.rules) <= 8
    assert all(rule.invariant for rule in skeleton.rules)
    assert facts(world_of(name))["query_tools"] == reads, (
        "a tool is declared to read or write otherwise than it does"
    )


@every_world
def test_code_reads_as_written_by_hand(name: str) -> None:
    skeleton = skeleton_of(name)
    assert [f.message for f in lint(skeleton.source, skeleton.class_name) if f.severity == "error"] == []
    assert "<<" not in skeleton.source and "%%" not in skeleton.source and "  #  " not in skeleton.source
    assert max(map(len, skeleton.source.splitlines())) <= 110
    for tool in skeleton.tools:
        described = [p.get("description") for p in tool.parameters["properties"].values()]
        assert tool.description and all(described), tool.name


@every_world
def test_data_are_plausible_and_keep_the_rules(name: str) -> None:
    skeleton, world = skeleton_of(name), world_of(name)
    for seed in range(3):
        state = world.state(np.random.default_rng(seed))
        assert json.loads(json.dumps(state)) == state
        assert [f.message for f in broken_invariants(skeleton.rules, state, state, None)] == []
        ids = {key for table in world.tables for key in state[table.noun.ids]}
        for table in world.tables:
            planned = {a.name for a in table.attributes}
            for key, row in state[table.noun.ids].items():
                assert set(row) == planned and row[f"{table.noun.id}_id"] == key
                links = {v for field, v in row.items() if field.endswith("_id") and v is not None}
                assert links <= ids
    assert world.state(np.random.default_rng(1)) != world.state(np.random.default_rng(2))


@every_world
def test_scenarios_are_proved_by_execution(name: str) -> None:
    skeleton = skeleton_of(name)
    scenario = build_scenario(skeleton, MODEL, sample=len(name))
    assert scenario.certificate is not None and scenario.certificate.valid
    writes = [call for call in scenario.witness if skeleton.tool(call.tool).mutates]
    assert len(scenario.task.split()) >= 50 and len(scenario.witness) >= 8 and len(writes) >= 3
    # Asked in one of three ways, it does the same.
    kind = (ToolAgent, SchemaAgent, PromptAgent)[len(name) % 3]
    assert roll_out(skeleton, scenario, kind(MODEL)).reward == 1.0


@every_world
def test_what_is_no_date_is_refused_and_not_answered_with_nothing(name: str) -> None:
    skeleton, state = skeleton_of(name), world_of(name).state(np.random.default_rng(0))
    ids = {f"{table.noun.id}_id": next(iter(state[table.noun.ids]), "") for table in world_of(name).tables}
    samples = {"integer": 1, "number": 1.0, "boolean": True, "array": []}
    with Environment(skeleton, state, max_steps=10_000) as environment:
        environment.reset(seed=0)
        for tool in skeleton.tools:
            parts, needed = tool.parameters["properties"], tool.parameters.get("required", [])
            # Another argument may be refused first: then nothing is claimed about the date.
            others = {
                part: ids.get(part) or parts[part].get("enum", [samples.get(parts[part].get("type"), "x")])[0]
                for part in needed
            }
            for part in (part for part, of in parts.items() if "YYYY-MM-DD" in of.get("description", "")):
                for text in ("next Tuesday", "2025-13-45", ""):
                    reply = environment.call(tool.name, {**others, part: text})
                    assert not reply["success"], (tool.name, part, text, reply)


@every_world
def test_clean_code_passes_its_audit(name: str) -> None:
    audit = audit_skeleton(skeleton_of(name), MODEL, rounds=30)
    failed = [
        (probe.tool, probe.arguments, probe.reason) for probe in audit.probes if probe.verdict == "fail"
    ]
    assert len(failed) <= 1 and not [f for f in audit.findings if f.severity == "error"], failed


@every_world
def test_each_goal_is_reached_by_its_plan_and_by_nothing_less(name: str) -> None:
    """One goal at a time, through the tools: its demands are met, and nothing else changed."""
    skeleton, world = skeleton_of(name), world_of(name)
    wanted, seed = {type(goal).__name__ for goal in world.goals}, 0
    while wanted and seed < 40:
        rng = np.random.default_rng(seed)
        state = world.state(rng)
        with Environment(skeleton, state, max_steps=10_000) as environment:
            environment.reset(seed=0)
            mark = environment.snapshot()
            for goal in world.goals:
                if type(goal).__name__ in wanted and (drawn := _drawn(goal, state, rng)):
                    environment.restore(mark)
                    _reach(environment, world, goal, drawn)
                    wanted.remove(type(goal).__name__)
        seed += 1
    assert not wanted


def _drawn(goal: Goal, state: dict, rng: np.random.Generator) -> tuple[dict, list] | None:
    try:
        slots = goal.draw(state, rng)
        return (slots, goal.outcome(slots, state)) if slots is not None else None
    except LookupError:
        return None


def _reach(environment: Environment, world: World, goal: Goal, drawn: tuple[dict, list]) -> None:
    slots, outcomes = drawn
    before, replies = environment.state, []
    for call in goal.plan(slots):
        replies.append(environment.call(call["tool"], resolve(Call(**call), replies).arguments))
        assert replies[-1]["success"], (goal, call, replies[-1])
    after = environment.state
    for outcome in outcomes:
        assert _met(outcome, before, after), (type(goal).__name__, outcome)
    expected = {o.key for o in outcomes if isinstance(o, Changed)}
    for table in world.tables:
        old, new = before[table.noun.ids], after[table.noun.ids]
        assert {k for k in old if old[k] != new.get(k)} <= expected, type(goal).__name__
        added = sum(isinstance(o, Added) and o.table == table.noun.ids for o in outcomes)
        assert len(new) - len(old) == added, type(goal).__name__


@every_world
def test_every_rule_can_be_broken_and_none_is_broken_in_play(name: str) -> None:
    """An invariant that holds whatever happens to the data says nothing."""
    rows = binding_rules(skeleton_of(name), world_of(name).state(np.random.default_rng(0)))
    assert [row for row in rows if row.fault or not row.binds] == []


def test_a_broken_invariant_is_told_by_its_text() -> None:
    rule = Rule(text="Never.", invariant="def invariant(before, after, call) -> bool:\n    return False\n")
    assert "Never." in broken_invariants([rule], {}, {}, None)[0].message


def test_no_two_worlds_share_their_code() -> None:
    bodies = {name: _bodies(name) for name in NAMES}
    for one in NAMES:
        for two in NAMES:
            if one < two:
                shared = len(bodies[one] & bodies[two]) / min(len(bodies[one]), len(bodies[two]))
                assert shared < 0.5, (one, two, shared)


def test_there_are_many_worlds_and_no_two_have_nearly_the_same_theme() -> None:
    assert (
        len(NAMES) >= 64
        and len({part["pattern"] for domain in domains().values() for part in domain.parts}) >= 20
    )
    themes = [
        f"{domain.word_title(rng)}\n{domain.word_summary(rng)}"
        for domain in domains().values()
        for rng in map(np.random.default_rng, range(3))
    ]
    near = np.inner(*[connect_encoder().encode(themes)] * 2)
    worlds = np.repeat(np.arange(len(NAMES)), 3)
    near[worlds[:, None] == worlds] = 0
    one, two = np.unravel_index(near.argmax(), near.shape)
    assert near.max() < 0.90, (themes[one], themes[two])


def _bodies(name: str) -> set[str]:
    source = skeleton_of(name).source
    methods = parse_class(source, skeleton_of(name).class_name).methods.values()
    return {ast.unparse(ast.parse(m.source)) for m in methods if m.public}


def _met(outcome: Added | Changed, before: dict, after: dict) -> bool:
    if isinstance(outcome, Changed):
        wanted = {**before[outcome.table][outcome.key], **outcome.fields}
        return after[outcome.table].get(outcome.key) == wanted
    new = [row for key, row in after[outcome.table].items() if key not in before[outcome.table]]
    return any(all(row.get(k) == v for k, v in outcome.fields.items()) for row in new)
