"""The published sample as the tests of the world wing need it, read by `envscaler.release`."""

import ast
import json
import random
from pathlib import Path
from typing import Any

from envscaler import release
from envscaler.release.exact import record_of
from envscaler.release.shapes import scenarios
from envscaler.schema import Call, Scenario, Skeleton
from envscaler.world.annotations import Types
from envscaler.world.replay import parsed
from envscaler.world.source import read_tools
from envscaler.world.tree import parse_tree
from envscaler.world.trials.trying import Values, example, is_id


def plain(value: Any) -> Any:
    """A value that the files hold as itself, as JSON text or as a Python literal."""
    return parsed(value)


def rows(folder: Path, name: str) -> Any:
    """A file of the sample."""
    return json.loads((folder / f"{name}.json").read_text())


def skeletons(folder: Path, *, declared: bool = False) -> dict[str, Skeleton]:
    """The environments by their id; with the published tool schemas when `declared`, else with ours."""
    found = {release.env_id(skeleton): skeleton for skeleton in release.read_environments(folder)}
    if declared:
        return found
    return {key: s.replace(tools=read_tools(s.source, s.class_name)) for key, s in found.items()}


def scenario(row: dict[str, Any], skeleton: Skeleton) -> Scenario:
    """A published scenario; its checks are all goals, for nobody declared them."""
    return record_of(row, scenarios([skeleton]))


def states(folder: Path) -> dict[str, dict[str, Any]]:
    """An initial state for each environment that a scenario is there for."""
    both = [*rows(folder, "trajectory_scenarios"), *rows(folder, "rl_scenarios")]
    return {row["env_id"]: plain(row["init_config"]) for row in both}


def episodes(folder: Path) -> list[tuple[str, dict[str, Any], list[tuple[Call, Any]], float]]:
    """Recorded episodes: environment, scenario, calls with their replies, reward."""
    posed = {row["task_id"]: row for row in rows(folder, "trajectory_scenarios")}
    found = []
    for rollout in release.read_trajectories(folder):
        row, reward = posed[rollout.scenario_id], release.recorded_reward(rollout)
        assert reward is not None
        found.append((row["env_id"], row, release.recorded_calls(rollout), reward))
    return found


def invented(skeleton: Skeleton, rows_each: int = 4) -> dict[str, Any]:
    """A state for an environment that none was published for: rows of the annotated record types, ids that fit."""
    tree = parse_tree(skeleton.source)
    types, tables = Types(tree), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            rows_of = types.schema(node.annotation).get("additionalProperties")
            if isinstance(rows_of, dict) and rows_of.get("properties"):
                tables[node.target.attr] = rows_of["properties"]
    keys = {name: [f"{name[:4].upper()}-{n}" for n in range(rows_each)] for name in tables}
    values, chance = Values({name: dict.fromkeys(ids) for name, ids in keys.items()}), random.Random(0)
    return {
        name: {key: _row(fields, key, n, values, chance) for n, key in enumerate(keys[name])}
        for name, fields in tables.items()
    }


def _row(
    fields: dict[str, Any], key: str, number: int, values: Values, chance: random.Random
) -> dict[str, Any]:
    own = next((name for name in fields if is_id(name)), next(iter(fields)))
    made = {}
    for name, schema in fields.items():
        theirs = [k for table in values.tables_like(name) for k in values.keys[table]]
        text = schema.get("type") == "string" and not schema.get("enum")
        made[name] = example(schema, values, chance, name)
        if text:
            times = any(word in name for word in ("time", "date", "_at"))
            made[name] = "2025-05-0" + str(number + 1) + "T10:00:00" if times else f"{name} {number}"
        if text and is_id(name) and theirs:
            made[name] = theirs[number % len(theirs)]
    return {**made, own: key} if fields[own].get("type") == "string" else made
