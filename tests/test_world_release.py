"""Real code: the published environments load, take any call, are graded, and replay as they were recorded.

Run: python -m pytest tests/test_world_release.py -q
"""

import json
import random
from collections import Counter

import published
import pytest
from worlds import contents, message

from envscaler.schema import Check
from envscaler.world.check import grade
from envscaler.world.environment import Environment
from envscaler.world.referee import check_environment
from envscaler.world.replay import parsed, replay
from envscaler.world.trials.trying import Values, arguments

pytestmark = pytest.mark.release
HOSTILE = [
    "{",
    "[]",
    "null",
    "NaN",
    '{"a": ' * 500,
    {"__class__": 1},
    {"self": 1},
    {"x" * 10_000: 1},
    {"a": {"b": [None] * 100}},
    5,
    True,
    ["x"],
    {5: 6},
    {"a": float("inf")},
    {"a": "\ud800"},
]
STRANGE: list = [
    None,
    True,
    -1,
    0,
    10**30,
    1e308,
    "",
    "x" * 5000,
    "\x00",
    "' OR 1=1 --",
    [],
    [[]],
    {},
    {"a": {}},
    "null",
]


@pytest.fixture(scope="module")
def skeletons(release):
    return published.skeletons(release)


def test_all_load_with_exactly_their_declared_tools(release, skeletons):
    assert len(skeletons) == 31
    for key, row in published.rows(release, "env_metadata").items():
        declared = [tool["function"]["name"] for tool in published.plain(row["tools"])]
        with Environment(skeletons[key], {}) as world:
            world.reset()
            assert [tool["function"]["name"] for tool in world.tools] == declared


def test_effects_read_off_the_code_agree_with_the_authors(release, skeletons):
    agree = total = 0
    for key, row in published.rows(release, "env_metadata").items():
        kinds = {o["operation_name"]: o["operation_type"] for o in published.plain(row["operation_list"])}
        for tool in skeletons[key].tools:
            if tool.name in kinds:
                total += 1
                agree += tool.mutates == (kinds[tool.name] != "query")
    # The two they disagree on: a query that creates an attribute, and a state change that changes nothing.
    assert total > 500 and total - agree <= 2


def test_every_scenario_can_be_reset_and_graded(release, skeletons):
    paid = []
    for row in published.rows(release, "rl_scenarios"):
        made = skeletons[row["env_id"]]
        with Environment(made, published.scenario(row, made), reward="paper") as world:
            world.reset()
            _, reward, terminated, _, info = world.step({"role": "assistant", "content": "Task Completed"})
            assert terminated and all(o.passed is not None for o in info["outcomes"])
            paid.append(reward)
    assert len(paid) == 35 and 0 < sum(paid) / len(paid) < 0.2, (
        "doing nothing is paid in the published scenarios"
    )


def strange_call(made, values, chance):
    """A call that no schema admits, or that none should."""
    tool = chance.choice(made.tools)
    fitting = arguments(tool, values, chance)
    match chance.randrange(5):
        case 0:
            return tool.name, chance.choice(HOSTILE)
        case 1:
            return chance.choice(
                ["__init__", "__reduce__", "_x", tool.name + "s", "", *vars(values)]
            ), fitting
        case 2:
            return tool.name, {**fitting, "surplus": 1}
        case 3:
            return tool.name, json.dumps(fitting)[:-2]
    return tool.name, {name: chance.choice(STRANGE) for name in tool.parameters["properties"]}


def test_200_random_and_hostile_calls_each_and_no_exception(release, skeletons):
    """Half of the calls fit the schemas, half are hostile; every reply is JSON, every state too."""
    states, told = published.states(release), Counter()
    for number, (key, made) in enumerate(skeletons.items()):
        chance = random.Random(number)
        with Environment(made, states.get(key), max_steps=10**6, timeout=5.0) as world:
            world.reset()
            values = Values(world.state)
            for place in range(200):
                tool = chance.choice(made.tools)
                if place % 2:
                    name, given = tool.name, arguments(tool, values, chance)
                else:
                    name, given = strange_call(made, values, chance)
                before = world.state
                observation, reward, terminated, truncated, info = world.step(message((name, given)))
                reply = contents(observation)[0]
                assert (reward, terminated, truncated) == (0.0, False, False)
                if info["faults"] or name not in {t.name for t in made.tools}:
                    assert world.state == before and reply["success"] is False
                told.update(fault["kind"] for fault in info["faults"])
                told["success" if isinstance(reply, dict) and reply.get("success") else "refused"] += 1
            json.dumps(world.state, allow_nan=False)
    assert told["success"] > 1000 and told["refused"] > 2000, told
    assert told["crashed"] == told["timed out"] == 0 and told["raised"] < 100, told


def test_the_recorded_episodes_replay(release, skeletons):
    """Every observation equal but for generated ids and times, and every reward equal."""
    counts, recorded_calls = Counter(), 0
    for key, row, calls, reward in published.episodes(release):
        made = skeletons[key]
        again = replay(made, published.scenario(row, made), calls, reward="paper")
        assert again.reward == reward
        counts += again.counts
        recorded_calls += len(calls)
    assert recorded_calls == sum(counts.values()) == 110
    assert counts == {"same": 101, "id": 9}


def test_a_replay_tells_what_is_different(release, skeletons):
    key, row, calls, _ = max(published.episodes(release), key=lambda episode: len(episode[2]))
    made = skeletons[key]
    (first, reply), (second, other), *rest = calls
    odd = first.model_copy(update={"arguments": {**first.arguments, "surplus": 1}})
    told = [(odd, reply), (second, {"success": True, "data": "other"}), *rest]
    again = replay(made, published.scenario(row, made), told)
    assert [c.kind for c in again.calls[:2]] == ["validation", "follows"]
    again = replay(made, published.scenario(row, made), [(second, other), (first, {"nothing": "like it"})])
    assert again.calls[1].kind == "real"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': (1, None)}", {"a": [1, None]}),
        ('{"a": true}', {"a": True}),
        ("text", "text"),
        ("f(x)", "f(x)"),
        (5, 5),
    ],
)
def test_recorded_replies_are_parsed(text, value):
    assert parsed(text) == value


def test_the_referee_on_real_code(release, skeletons):
    states = published.states(release)
    found = Counter(
        f.kind for key, made in skeletons.items() for f in check_environment(made, states.get(key))
    )
    assert found["alias"] > 50 and found["no-load"] == found["lost"] == found["not-repeatable"] == 0
    assert found["schema"] == found["schema-required"] == 0, "our own schemas agree with the signatures"
    theirs = published.skeletons(release, declared=True)
    found = Counter(f.kind for key, made in theirs.items() for f in check_environment(made, states.get(key)))
    assert found["schema-required"] + found["schema-type"] > 0, "the published schemas do not always"


def test_how_many_published_scenarios_pay_for_nothing(release):
    """The figures that the README gives: the published checks, executed on the published initial states."""
    rewards, true = [], []
    for row in json.loads((release / "rl_scenarios.json").read_text()):
        state = parsed(row["init_config"]) if isinstance(row["init_config"], str) else row["init_config"]
        checks = [Check(item=c["check_item"], source=c["check_func"]) for c in row["checklist_with_func"]]
        met = [o.passed is True for o in grade(checks, state, state, list(state)) if o.item != "bystanders"]
        rewards.append(sum(met) / len(checks))
        true += met
    assert (len(rewards), sum(r > 0 for r in rewards), round(max(rewards), 2)) == (35, 22, 0.46)
    assert (len(true), sum(true)) == (598, 48)
