"""Real code: the published environments load, expose their declared tools, and their scenarios are graded."""

import ast
import json

import pytest

from envscaler.schema import Check, Scenario, Skeleton
from envscaler.world.environment import Environment
from envscaler.world.source import read_tools

pytestmark = pytest.mark.release


def plain(value):
    """A value that the files hold as itself, as JSON text or as a Python literal."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return ast.literal_eval(value)


@pytest.fixture(scope="module")
def skeletons(release):
    found = {}
    for key, row in json.loads((release / "env_metadata.json").read_text()).items():
        source, name = row["env_class_code"], row["env_class_name"]
        declared = [tool["function"]["name"] for tool in plain(row["tools"])]
        made = Skeleton(
            theme_id="",
            title=key,
            summary="",
            class_name=name,
            source=source,
            state=[],
            rules=[],
            tools=read_tools(source, name),
        )
        found[key] = (made, declared, plain(row["operation_list"]))
    return found


@pytest.fixture(scope="module")
def scenarios(release):
    return json.loads((release / "rl_scenarios.json").read_text())


def test_all_load_with_exactly_their_declared_tools(skeletons):
    assert len(skeletons) == 31
    for made, declared, _ in skeletons.values():
        with Environment(made, {}) as world:
            world.reset()
            assert [tool["function"]["name"] for tool in world.tools] == declared


def test_effects_read_off_the_code_agree_with_the_authors(skeletons):
    agree = total = 0
    for made, _, operations in skeletons.values():
        kinds = {row["operation_name"]: row["operation_type"] for row in operations}
        for tool in made.tools:
            if tool.name in kinds:
                total += 1
                agree += tool.mutates == (kinds[tool.name] != "query")
    # The two they disagree on: a query that creates an attribute, and a state change that changes nothing.
    assert total > 500 and total - agree <= 2


def test_every_scenario_can_be_reset_and_graded(skeletons, scenarios):
    paid = []
    for row in scenarios:
        made, _, _ = skeletons[row["env_id"]]
        checks = [
            Check(item=c["check_item"], source=c["check_func"]) for c in plain(row["checklist_with_func"])
        ]
        scenario = Scenario(
            skeleton_id=made.id, initial_state=plain(row["init_config"]), task=row["task"], checks=checks
        )
        with Environment(made, scenario, reward="paper") as world:
            world.reset()
            _, reward, terminated, _, info = world.step({"role": "assistant", "content": "Task Completed"})
            assert terminated and all(o.passed is not None for o in info["outcomes"])
            paid.append(reward)
    assert len(paid) == 35 and 0 < sum(paid) / len(paid) < 0.2, (
        "doing nothing is paid in the published scenarios"
    )
