"""The environment's contract: Gymnasium's words, slips as observations, faults undone, same seed same bytes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import LOANS, STATE, contents, message, scenario, skeleton, tool

from envscaler.error import ParameterError, ResetNeeded
from envscaler.schema import Check
from envscaler.world.action import UNREADABLE
from envscaler.world.change import same
from envscaler.world.environment import Environment

LEND = message(("lend", '{"book_id": "B-1", "member": 7}'))
DONE = {"role": "assistant", "content": "Done."}


@pytest.fixture
def world():
    with Environment(skeleton(), scenario()) as made:
        yield made


def test_an_episode(world):
    observation, info = world.reset(seed=3)
    assert observation == "Lend Dune to Ada." and info == {"seed": 3, "max_steps": 30}
    observation, reward, terminated, truncated, info = world.step(LEND)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert observation[0]["role"] == "tool" and observation[0]["tool_call_id"] == "c0"
    loan = contents(observation)[0]["data"]
    assert info["diff"][f"loans/{loan['loan_id']}"] == {"added": loan}
    assert info["diff"]["books/B-1"] == {"changed": {"copies": [2, 1]}}
    observation, reward, terminated, truncated, info = world.step(DONE)
    assert (observation, reward, terminated, truncated) == ([], 1.0, True, False)
    assert [(o.kind, o.passed) for o in info["outcomes"]] == [("goal", True), ("guard", True)]
    assert info["final_state"] == world.state


def test_nothing_done_earns_nothing_and_no_answer_leaks(world):
    seen = [world.reset()]
    seen.append(world.step(message(("get_book", '{"book_id": "B-1"}'))))
    assert "check_func" not in repr(seen) and "witness" not in repr(seen) and "Has Dune" not in repr(seen)
    assert world.step(DONE)[1] == 0.0


def test_a_step_needs_a_reset_and_no_step_follows_the_end(world):
    with pytest.raises(ResetNeeded, match=r"reset\(\)"):
        world.step(LEND)
    with pytest.raises(ResetNeeded):
        world.finish()
    world.reset()
    world.step(DONE)
    for again in (lambda: world.step(LEND), world.finish, lambda: world.call("get_book", {"book_id": "B-1"})):
        with pytest.raises(ResetNeeded):
            again()
    world.reset()
    assert world.step(DONE)[2]


def test_the_step_limit_truncates_and_grades():
    with Environment(skeleton(), scenario(), max_steps=2) as world:
        world.reset()
        world.step(LEND)
        _, reward, terminated, truncated, info = world.step(message(("get_book", '{"book_id": "B-1"}')))
        assert (reward, terminated, truncated) == (1.0, False, True) and info["outcomes"]
    with Environment(skeleton(), scenario(), max_steps=1, reward="paper") as world:
        world.reset()
        assert world.step(LEND)[1:4] == (0.0, False, True)


def test_in_a_conversation_text_does_not_end_it():
    with Environment(skeleton(), scenario(), conversation=True) as world:
        world.reset()
        assert world.step(DONE)[:4] == ([], 0.0, False, False)
        world.step(LEND)
        assert world.finish()[1:4] == (1.0, True, False)


SLIPS = [
    (None, "cannot be read"),
    (5, "cannot be read"),
    ([], "cannot be read"),
    ({}, "neither content nor tool_calls"),
    ({"role": "user", "content": "hi"}, "of the role"),
    ({"role": "assistant", "content": 5}, "the content 5"),
    ({"role": "assistant", "content": None, "tool_calls": 5}, "the tool_calls 5"),
    ({"role": "assistant", "tool_calls": [5]}, "tool call cannot be read"),
    ({"role": "assistant", "tool_calls": [{"id": "a"}]}, "tool call cannot be read"),
    (
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]},
        "tool call cannot be read",
    ),
    ({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": 5}}]}, "tool call cannot be read"),
    (message((UNREADABLE, '{"tool": "get_bo')), "tool call cannot be read"),
    (message(("get_bok", "{}")), "Did you mean 'get_book'"),
    (message(("zzzzzz", "{}")), "The tools are get_book, get_member, lend, take_back"),
    (message(("__init__", "{}")), "There is no tool '__init__'"),
    (message(("__reduce__", "{}")), "There is no tool"),
    (message(("_helper", "{}")), "There is no tool"),
    (message(("books", "{}")), "There is no tool"),
    (message(("get_book", "{")), "not valid JSON"),
    (message(("get_book", "[]")), "one JSON object"),
    (message(("get_book", {"book": "B-1"})), "did you mean 'book_id'"),
    (message(("get_book", None)), "'book_id' is missing"),
    (message(("get_book", {"book_id": ["B-1"]})), "must be string"),
    (message(("lend", {"book_id": "B-1", "member": True})), "must be integer, got true"),
]


@pytest.mark.parametrize(("action", "said"), SLIPS)
def test_a_slip_is_an_observation_to_learn_from(world, action, said):
    world.reset()
    before = world.state
    observation, reward, terminated, truncated, info = world.step(action)
    reply = contents(observation)[0]
    assert reply["success"] is False and said in reply["error"] and "Traceback" not in reply["error"]
    assert (reward, terminated, truncated, info["faults"], info["diff"]) == (0.0, False, False, [], {})
    assert world.state == before
    world.step(LEND)
    assert world.step(DONE)[1] == 1.0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "tool_calls", "id", "function", "name", "arguments"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def test_no_action_whatever_raises():
    with Environment(skeleton(), scenario(), conversation=True, max_steps=10**6) as world:
        world.reset()

        @settings(max_examples=200)
        @given(json_values)
        def act(action):
            observation, reward, terminated, _, _ = world.step(action)
            assert isinstance(observation, list) and reward == 0.0 and not terminated

        act()
        assert same(world.state, world.initial_state)


def test_several_calls_run_in_order(world):
    world.reset()
    read = ("get_book", '{"book_id": "B-1"}')
    lend = ("lend", '{"book_id": "B-1", "member": 7}')
    observation, *_, info = world.step(message(read, lend, ("nope", "{}"), lend, lend, read))
    copies = [reply["data"]["copies"] for reply in (contents(observation)[0], contents(observation)[5])]
    assert copies == [2, 0] and [part["tool_call_id"] for part in observation] == [f"c{n}" for n in range(6)]
    assert [reply["success"] for reply in contents(observation)] == [True, True, False, True, False, True]
    assert info["diff"]["books/B-1"] == {"changed": {"copies": [2, 0]}} and info["calls"] == 5
    assert sum(where.startswith("loans/") for where in info["diff"]) == 2


def test_a_fault_in_the_middle_undoes_only_its_own_call():
    with Environment(tool("self.n = 50\nraise ValueError('bad')"), {}) as world:
        world.reset()
        observation, *_, info = world.step(message(("count", "{}"), ("run", "{}"), ("count", "{}")))
        assert [reply["success"] for reply in contents(observation)] == [True, False, True]
        assert world.state["n"] == 2 and "ValueError: bad" in contents(observation)[1]["error"]
        assert [(f["kind"], f["tool"]) for f in info["faults"]] == [("raised", "run")] and info["faults"][0][
            "line"
        ] > 1


def test_a_call_is_a_step_without_the_count(world):
    assert world.call("get_book", {"book_id": "B-1"})["data"]["title"] == "Dune"
    assert world.call("get_book", '{"book_id": "B-1"}')["success"] is True
    assert world.call("nope")["success"] is False and world.diff == {}
    world.call("lend", {"book_id": "B-2", "member": 7})
    assert world.diff["books/B-2"] == {"changed": {"copies": [1, 0]}}
    assert world.step(DONE)[4]["step"] == 1


def run(seed, **options):
    with Environment(skeleton(), scenario(), seed=seed, **options) as world:
        world.reset()
        replies = [world.step(LEND)[0] for _ in range(3)]
        return json.dumps([replies, world.state])


def test_same_seed_same_bytes_and_another_seed_other_ids():
    assert run(1) == run(1) and run(1) != run(2)
    assert run(1) == run(1, isolation="process")
    assert run(1, start=2e9) != run(1)


def test_reset_gives_the_first_episode_again(world):
    first = (world.reset(seed=5), world.step(LEND), world.state)
    again = (world.reset(seed=5), world.step(LEND), world.state)
    assert first == again and (world.reset(seed=6), world.step(LEND)) != first[:2]


def test_class_level_state_does_not_survive_a_reset():
    source = "class W:\n    seen = []\n    def run(self):\n        self.seen.append(1)\n        return len(self.seen)\n"
    with Environment(skeleton(source), {}) as world:
        for _ in range(3):
            world.reset()
            assert world.call("run") == 1


def test_snapshots_and_forks_go_on_as_the_original_would(world):
    world.reset()
    world.step(LEND)
    moment = world.snapshot()
    with world.fork() as twin:
        ahead = [world.step(LEND), world.state]
        assert [twin.step(LEND), twin.state] == ahead
        assert twin.step(DONE)[1] == 1.0
    world.restore(moment)
    assert [world.step(LEND), world.state] == ahead
    assert world.call("get_book", {"book_id": "B-1"})["data"]["copies"] == 0


def test_a_near_snapshot_is_returned_to_as_a_far_one_is(world):
    world.reset()
    world.step(LEND)
    near, far = world.snapshot(near=True), world.snapshot()
    ends = []
    for moment in (near, far, near, near):
        world.restore(moment)
        ends.append([world.state, world.step(LEND), world.call("get_book", {"book_id": "B-1"}), world.state])
    assert ends[0] == ends[1] == ends[2] == ends[3]
    world.restore(world.snapshot(near=True))
    assert world.state == ends[0][3]


def test_a_near_snapshot_is_returned_to_from_records_that_came_went_and_changed(world):
    world.reset()
    loan = world.call("lend", {"book_id": "B-2", "member": 7})["data"]["loan_id"]
    moment, before = world.snapshot(near=True), world.state
    world.call("take_back", {"loan_id": loan})
    world.call("lend", {"book_id": "B-1", "member": 7})
    world.restore(moment)
    assert world.state == before
    assert world.call("take_back", {"loan_id": loan})["success"]
    world.restore(moment)
    assert world.call("get_book", {"book_id": "B-2"})["data"]["copies"] == 0


def test_a_near_snapshot_outlives_its_worker(world):
    source = (
        "class W:\n    def __init__(self):\n        self.n = 0\n    def add(self):\n        self.n += 1\n"
        "        return self.n\n    def hang(self):\n        while True: pass\n"
    )
    with Environment(skeleton(source), {"n": 5}, timeout=0.2) as other:
        other.reset()
        moment = other.snapshot(near=True)
        assert other.call("add") == 6
        other.call("hang")
        other.restore(moment)
        assert other.state == {"n": 5} and other.call("add") == 6
        other.close()
        other.restore(moment)
        assert other.call("add") == 6
    world.reset()
    fork = world.fork()
    with fork:
        fork.call("lend", {"book_id": "B-2", "member": 7})
        fork.snapshot(near=True)
        fork.restore(world.snapshot(near=True))
        assert fork.call("get_book", {"book_id": "B-2"})["data"]["copies"] == 1
        assert fork.call("lend", {"book_id": "B-1", "member": 7})["success"] and world.state["loans"] == {}


def test_a_view_stays_as_it_was(world):
    world.reset()
    before = world.view
    assert before == world.state
    world.step(LEND)
    assert before["loans"] == {} and before["books"]["B-1"]["copies"] == 2 and world.view == world.state


def test_what_is_handed_out_are_copies(world):
    given_state = json.loads(json.dumps(STATE))
    with Environment(skeleton(), given_state) as other:
        other.reset()
        given_state["books"].clear()
        other.state["books"].clear()
        other.initial_state["books"].clear()
        other.tools[0]["function"]["parameters"].clear()
        reply = other.call("get_book", {"book_id": "B-1"})
        reply["data"]["title"] = "Mine"
        other.call("lend", {"book_id": "B-1", "member": 7})
        other.diff.clear()
        assert other.diff and other.state["books"]["B-1"]["title"] == "Dune"
        assert other.tools[0]["function"]["parameters"]["properties"]
    world.reset()
    info = world.step(DONE)[4]
    info["final_state"].clear()
    assert world.state["books"]


def test_int_keys_come_back_from_json(world):
    world.reset()
    assert world.call("get_member", {"number": 7})["data"]["name"] == "Ada"
    assert list(world.state["members"]) == ["7"]


@pytest.mark.parametrize("head", ["initial_state=None", "init_config", "init_config: dict"])
def test_the_loader_and_what_it_drops(head):
    name = head.split("=")[0].split(":")[0]
    source = (
        f"class W:\n    def __init__(self, {head}):\n        self.{name} = {name}\n        self.t = {{}}\n"
        "    def run(self):\n        return self.t\n"
    )
    with Environment(skeleton(source), {"t": {"a": 1}, "extra": 2}) as world:
        world.reset()
        assert world.state == {"t": {"a": 1}, "extra": 2} and world.call("run") == {"a": 1}


def test_a_table_may_have_the_name_of_a_tool():
    source = "class W:\n    def rows(self):\n        return len(vars(self)['rows'])\n"
    with Environment(skeleton(source), {"rows": {"a": 1}}) as world:
        world.reset()
        assert world.call("rows") == 1


def test_async_static_and_class_methods_are_tools():
    source = (
        "class W:\n    async def a(self):\n        return 1\n"
        "    @staticmethod\n    def b(x: int = 2):\n        return x\n"
        "    @classmethod\n    def c(cls):\n        return 3\n"
    )
    with Environment(skeleton(source), {}) as world:
        assert [world.call(name) for name in "abc"] == [1, 2, 3]


def test_time_flies_while_a_tool_sleeps():
    body = "import time\na = time.time()\ntime.sleep(3600)\nreturn [a, time.time()]"
    with Environment(tool(body), {}, timeout=1.0) as world:
        first, second = world.call("run"), world.call("run")
        assert first[1] - first[0] == pytest.approx(3600, abs=1) and second[0] - first[1] == pytest.approx(
            1, abs=0.1
        )
        moment = world.snapshot()
        third = world.call("run")
        world.restore(moment)
        assert world.call("run") == third


@pytest.mark.parametrize("state", [{"a": float("nan")}, {"a": {1}}, {"a": "\ud800"}])
def test_a_state_that_is_no_json_is_refused(state):
    with pytest.raises(ParameterError, match="JSON"):
        Environment(skeleton(), state)


@pytest.mark.parametrize("options", [{"max_steps": 0}, {"timeout": 0}, {"timeout": float("nan")}])
def test_senseless_limits_are_refused(options):
    with pytest.raises(ParameterError):
        Environment(skeleton(), {}, **options)


def test_a_broken_check_makes_the_reward_none_and_never_zero():
    broken = scenario(
        checks=[*scenario().checks, Check(item="?", source="def check_func(final_state):\n    return 1")]
    )
    with Environment(skeleton(), broken) as world:
        world.reset()
        _, reward, _, _, info = world.step(DONE)
        assert reward is None and "not a bool" in info["outcomes"][1].note
    with Environment(skeleton(), broken, reward="paper") as world:
        world.reset()
        world.step(LEND)
        assert world.step(DONE)[1] == 0.5


def test_a_bare_state_has_nothing_to_pay_for():
    with Environment(skeleton(), STATE) as world:
        assert world.reset()[0] == ""
        assert world.step(DONE)[1] == 0.0


def test_it_says_what_it_is_and_closes_twice(world):
    assert "not begun" in repr(world)
    world.reset()
    world.close()
    world.close()
    assert "step 0" in repr(world) and world.call("get_book", {"book_id": "B-1"})["success"]


def test_a_long_episode_of_many_changes_keeps_mirror_and_worker_together():
    with Environment(skeleton(LOANS), STATE, max_steps=10**6) as world:
        world.reset()
        loans = []
        for place in range(60):
            if place % 3 == 2 and loans:
                world.call("take_back", {"loan_id": loans.pop(0)})
            else:
                reply = world.call("lend", {"book_id": f"B-{place % 2 + 1}", "member": 7})
                loans += [reply["data"]["loan_id"]] if reply["success"] else []
            state = world.state
            assert list(state["loans"]) == loans
            for key in ("B-1", "B-2"):
                assert same(world.call("get_book", {"book_id": key})["data"], state["books"][key])


@pytest.mark.parametrize("given", [5, "x", [1], {1, 2}])
def test_what_is_no_state_is_refused_in_a_sentence(given: object) -> None:
    with pytest.raises(ParameterError, match="dict of tables"):
        Environment(skeleton(), given)  # type: ignore[arg-type]


def test_what_an_attempt_shows_stays_as_it_was() -> None:
    with Environment(skeleton(), STATE) as environment:
        before = environment.state
        refused = environment.attempt("lend", {"book_id": "B-1", "who": "?"})[2]
        tried = environment.attempt("lend", {"book_id": "B-1", "member": 7})[2]
        told = json.loads(json.dumps(tried))
        environment.call("lend", {"book_id": "B-1", "member": 7})
        assert environment.state != before
        assert refused == before and tried == told != before
