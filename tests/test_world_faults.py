"""Every fault of the field that concerns the runtime has a test that would catch it: those that are elsewhere are
named in `COVERED`, the others are here.

Run: python -m pytest tests/test_world_faults.py -q
"""

import json
import random
import re
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hostile import ATTACKS, ESCAPE
from worlds import LOANS, STATE, contents, message, scenario, skeleton, tool

from envscaler.error import EnvironmentLost
from envscaler.schema import Check
from envscaler.world.change import diff
from envscaler.world.check import grade
from envscaler.world.environment import Environment

COVERED = {
    "any attribute is a tool": "environment::test_a_slip_is_an_observation_to_learn_from",
    "one unknown argument ends the episode": "environment::test_a_slip_is_an_observation_to_learn_from",
    "wrongly typed arguments are written": "arguments::test_what_does_not_fit_is_told",
    "a malformed action crashes the harness": "environment::test_no_action_whatever_raises",
    "parallel calls are dropped": "environment::test_several_calls_run_in_order",
    "an exception leaves half a change": "sandbox::test_what_raises_is_undone_and_reported",
    "the configuration is kept in the state": "environment::test_the_loader_and_what_it_drops",
    "two runs share state": "faults::test_two_runs_of_one_scenario_share_nothing",
    "replies alias live state": "environment::test_what_is_handed_out_are_copies",
    "steps after the end pay again": "environment::test_a_step_needs_a_reset_and_no_step_follows_the_end",
    "no step limit": "environment::test_the_step_limit_truncates_and_grades",
    "checks true at reset are paid": "certificate::test_every_fault_has_its_line",
    "a broken check lowers the reward": "environment::test_a_broken_check_makes_the_reward_none_and_never_zero",
    "an empty checklist divides by zero": "check::test_rewards_of_ours",
    "checks share one state": "check::test_checks_share_no_state",
    "a check sets its own reward": "faults::test_a_check_that_breaks_out_forges_no_other_when_they_are_apart",
    "code runs in the trainer's process": "hostile::test_an_attack_comes_to_nothing",
    "an uncopyable attribute crashes": "change::test_what_json_cannot_hold_is_named",
    "same seed, other episode": "environment::test_same_seed_same_bytes_and_another_seed_other_ids",
    "the caller's chance is reseeded": "faults::test_the_callers_chance_is_left_alone",
    "a seed raced by threads": "faults::test_threads_do_not_race_for_a_seed",
    "diffs miss 1 and True": "change::test_a_diff_is_empty_exactly_when_the_states_are_the_same",
    "class-level state and slots are invisible": "faults::test_slots_and_class_level_state",
    "int keys become text": "environment::test_int_keys_come_back_from_json",
    "observations are repr": "environment::test_an_episode",
    "schemas lose types": "source::test_types",
    "schemas that providers refuse": "source::test_no_annotation_makes_a_schema_that_a_provider_refuses",
    "private helpers become tools": "source::test_only_plain_public_methods_are_tools",
    "a class behind a helper is misnamed": "source::test_the_class_is_found_behind_helpers_and_bases",
    "an import in a docstring is hoisted": "source::test_an_import_in_a_docstring_is_not_hoisted",
    "reset hands out the answers": "environment::test_nothing_done_earns_nothing_and_no_answer_leaks",
    "ids compared with names": "referee::test_an_id_that_is_compared_with_something_else",
    "every step keeps a copy of the state": "faults::test_steps_keep_no_copies_of_the_state",
    "25 is not 25.0": "check::test_bystanders",
    "a failure of ours is reward 0": "faults::test_a_lost_environment_pays_nothing_not_zero",
    "one giant argument": "faults::test_a_giant_malformed_argument_costs_no_time",
    "an event loop is running": "sandbox::test_works_under_a_running_event_loop",
}


@pytest.mark.parametrize("fault", list(COVERED))
def test_every_fault_has_its_test(fault):
    module, _, name = COVERED[fault].partition("::")
    found = [
        p
        for p in Path(__file__).parent.glob("test_*.py")
        if p.stem in (f"test_{module}", f"test_world_{module}")
    ]
    text = "\n".join(path.read_text() for path in found)
    assert re.search(rf"^def {name}\(", text, re.M)


def test_two_runs_of_one_scenario_share_nothing():
    one = scenario()
    before = one.model_dump_json()
    with Environment(skeleton(), one) as first, Environment(skeleton(), one) as second:
        for world in (first, second):
            world.reset()
        first.call("lend", {"book_id": "B-1", "member": 7})
        assert second.state == second.initial_state == first.initial_state != first.state
    assert one.model_dump_json() == before


def test_a_check_that_breaks_out_forges_no_other_when_they_are_apart():
    forge = f"{ESCAPE}\n{ATTACKS['worker' + chr(39) + 's judge replaced'].format()}\nreturn False"
    forger = "def check_func(final_state):\n" + "\n".join(f"    {line}" for line in forge.splitlines())
    checks = [Check(item="a", source=forger), Check(item="b", source="def check_func(s):\n    return False")]
    assert [o.passed for o in grade(checks, {}, {}, apart=True)] == [False, False, True]
    assert grade(checks, {}, {})[1].passed is True, "what the option is for"
    with Environment(skeleton(), scenario(checks=checks), reward="strict") as world:
        world.reset()
        assert world.finish()[1] == 0.0


def test_the_callers_chance_is_left_alone():
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002 - the global state is the point
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    with Environment(skeleton(), scenario(), seed=9) as world:
        world.reset(seed=11)
        world.call("lend", {"book_id": "B-1", "member": 7})
        world.finish()
    assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002


def _episode(seed):
    with Environment(skeleton(), scenario()) as world:
        world.reset(seed=seed)
        for _ in range(5):
            world.call("lend", {"book_id": "B-1", "member": 7})
        return json.dumps(world.state)


def test_threads_do_not_race_for_a_seed():
    alone = [_episode(seed) for seed in range(4)]
    together = [""] * 4

    def work(seed):
        together[seed] = _episode(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert together == alone and len(set(alone)) == 4


def test_sets_have_one_order_in_every_process():
    body = "return list({str(n) for n in range(50)})"
    replies = []
    for _ in range(2):
        with Environment(tool(body), {}) as world:
            replies.append(world.call("run"))
    with Environment(tool(body), {}, isolation="process") as world:
        replies.append(world.call("run"))
    assert replies[0] == replies[1] == replies[2]


def test_slots_and_class_level_state():
    source = (
        "class W:\n    __slots__ = ('rows',)\n    seen = []\n    def __init__(self):\n        self.rows = {}\n"
        "    def add(self):\n        self.rows['a'] = 1\n        W.seen.append(1)\n        return len(W.seen)\n"
    )
    with Environment(skeleton(source), {}) as world:
        world.reset()
        assert world.call("add") == 1 and world.diff == {"rows/a": {"added": 1}}
        world.reset()
        assert world.call("add") == 1, "state of the class does not reach another episode"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"n": 1}, {"n": True}),
        ({"n": 1}, {"n": 1.0}),
        ({"t": {"added": {"x": 1}}}, {"t": {"added": {"x": True}}}),
    ],
)
def test_a_diff_sees_types(one, other):
    assert diff(one, other) and not diff(one, one)


def test_steps_keep_no_copies_of_the_state():
    state = {"books": {f"B-{n}": {"book_id": f"B-{n}", "title": "x" * 100, "copies": 5} for n in range(700)}}
    with Environment(skeleton(), {**state, "members": STATE["members"]}, max_steps=10**6) as world:
        world.reset()
        lend = message(("lend", {"book_id": "B-1", "member": 7}), ("get_book", {"book_id": "B-1"}))
        world.step(lend)
        tracemalloc.start()
        for _ in range(30):
            world.step(lend)
        grown, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert grown < 200_000, "the reference keeps 6 MiB for 30 steps of 100 kB"


def test_a_lost_environment_pays_nothing_not_zero():
    body = f"{ESCAPE}\nos['_exit'](1)"
    with Environment(tool(body), scenario(tool(body), initial_state={}), timeout=1.0) as world:
        world.reset()
        for place in range(2):
            observation, reward, *_, info = world.step(message(("run", {})))
            assert reward == 0.0 and info["faults"][0]["kind"] == "crashed" and place < 2
            assert "crashed and was stopped; nothing was changed" in contents(observation)[0]["error"]
        with pytest.raises(EnvironmentLost):
            world.step(message(("run", {})))


def test_a_restore_that_fails_is_a_loss():
    with Environment(tool("setattr(self, '__odd', 1)\nreturn {'success': True}"), {}) as world:
        world.reset()
        world.call("run")
        moment = world.snapshot()
        world.restore(moment)
        with pytest.raises(EnvironmentLost, match="could not be restored"):
            world.call("count")


@pytest.mark.parametrize(
    "arguments",
    ['{"book_id": "' + "x" * 5_000_000, '{"a' * 100_000, "[" * 200_000, '{"book_id": ' + "9" * 100_000 + "}"],
)
def test_a_giant_malformed_argument_costs_no_time(arguments):
    with Environment(skeleton(), STATE) as world:
        world.reset()
        begun = time.monotonic()
        reply = contents(world.step(message(("get_book", arguments)))[0])[0]
        assert reply["success"] is False and len(reply["error"]) < 2000 and time.monotonic() - begun < 3


def test_a_giant_well_formed_argument_is_a_refusal_and_no_crash():
    with Environment(skeleton(), STATE) as world:
        world.reset()
        reply = world.call("get_book", {"book_id": "x" * 9_000_000})
        assert reply["success"] is False and "large" in reply["error"]
        assert world.call("get_book", {"book_id": "B-1"})["success"]


def test_private_attributes_outlive_a_restore():
    source = LOANS.replace(
        "        self.counter = 0", "        self.counter = 0\n        self._calls: list = []"
    )
    source = source.replace(
        '        if book_id not in self.books:\n            return {"success": False, "error": "No such book."}\n'
        '        return {"success": True, "data": self.books[book_id]}',
        '        self._calls.append(book_id)\n        return {"success": True, "data": len(self._calls)}',
    )
    assert "_calls.append" in source
    with Environment(skeleton(source), STATE) as world:
        world.reset()
        assert world.call("get_book", {"book_id": "B-1"})["data"] == 1
        assert world.diff == {} and "_calls" not in world.state and "_calls" not in world.initial_state
        world.restore(world.snapshot())
        assert world.call("get_book", {"book_id": "B-1"})["data"] == 2
        with world.fork() as other:
            assert other.call("get_book", {"book_id": "B-1"})["data"] == 3
