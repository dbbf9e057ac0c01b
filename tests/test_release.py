"""Published data: every shape is read, what is wrong is told with its place, and nothing is lost on the way back."""

import copy
import gzip
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import library
import pytest
import worlds
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler import release
from envscaler.episode import roll_out
from envscaler.error import ParameterError, StoreError
from envscaler.release import episodes, exact, rows, shapes
from envscaler.release.replaying import replay_episode
from envscaler.schema import Call, Check, Rollout, Scenario, Skeleton, Step
from envscaler.scripted import IdleAgent, RandomAgent, WitnessAgent, act_on
from envscaler.store import write_records
from envscaler.world.change import same
from envscaler.world.check import grade
from envscaler.world.check import reward as pay
from envscaler.world.environment import Environment

SOURCE = '''from typing import Dict


class ReadingRoom:
    def __init__(self, init_config: dict):
        self.seats: Dict[str, dict] = {}
        self.log: list = []

    def get_seat(self, seat_id: str) -> dict:
        """Look a seat up."""
        return {"success": seat_id in self.seats, "data": self.seats.get(seat_id)}

    def take_seat(self, seat_id: str, reader: str) -> dict:
        """Take a seat."""
        self.seats[seat_id]["reader"] = reader
        return {"success": True, "message": "Taken."}
'''


def tool_schema(name: str, *parameters: str) -> dict[str, Any]:
    properties = {p: {"type": "string"} for p in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": f"{name}.", "parameters": schema}}


def environment(**changes: Any) -> dict[str, Any]:
    """A row as it is published, clipped names and all."""
    operations = [("get_seat", "query"), ("take_seat", "state_change")]
    return {
        "env_id": "env_1_sft",
        "environment_summary": "Reading room",
        "environment_introduction": "Seats are taken and left.",
        "state_space_definition": [
            {"entity": "Sea", "attributes": "eat_id, status (free, taken), reade", "description": "A seat."}
        ],
        "constraints_rules": ["A seat has one reader."],
        "operation_list": [
            {"operation_name": n, "operation_description": f"Do {n}.", "operation_type": kind}
            for n, kind in operations
        ],
        "env_class_name": "ReadingRoom",
        "env_class_code": SOURCE,
        "env_class_def": "class ReadingRoom: ...",
        "tools": [tool_schema("get_seat", "seat_id"), tool_schema("take_seat", "seat_id", "reader")],
        **changes,
    }


CHECK = "def check_func(final_state):\n    return final_state['seats']['S1']['reader'] == 'Ada'"


def scenario(**changes: Any) -> dict[str, Any]:
    return {
        "env_id": "env_1_sft",
        "env_class_name": "ReadingRoom",
        "task_id": "env_1_sft-task_1",
        "init_config": {"seats": {"S1": {"seat_id": "S1", "reader": ""}}, "unheard_of": {}},
        "task": "Give seat S1 to Ada.",
        "checklist_with_func": [{"check_item": "Has Ada got S1?", "check_func": CHECK}],
        **changes,
    }


TAKE = {"name": "take_seat", "arguments": {"seat_id": "S1", "reader": "Ada"}}
REPLY = "{'success': True, 'message': 'Taken.'}"


def trajectory(**changes: Any) -> dict[str, Any]:
    """A recorded result, in which every step says that it is the first."""
    said = f"<tool_call>\n{json.dumps(TAKE)}\n</tool_call>"
    talk = {"name": "chat_with_user", "arguments": {"content": "Task Completed"}}
    flags = {"terminated": False, "truncated": False}
    done = {"type": "user", "content": "Task finished"}
    return {
        "task_info": {"env_id": "env_1_sft", "task_id": "env_1_sft-task_1", "task": "Give seat S1 to Ada."},
        "tools": environment()["tools"],
        "messages": [
            {"role": "system", "content": "Be good."},
            {"role": "user", "content": "Give seat S1 to Ada."},
            {"role": "assistant", "content": said},
            {"role": "user", "content": f"<tool_response>\n{REPLY}\n</tool_response>"},
            {"role": "assistant", "content": "Task Completed"},
            {"role": "user", "content": "Task finished"},
        ],
        "user_messages": None,
        "trajectory": [
            {"step": 0, "observation": "Give seat S1 to Ada."},
            {"step": 0, "action": TAKE, "observation": {"type": "tool", "content": REPLY}, "reward": 0.0, **flags},
            {"step": 0, "action": talk, "observation": done, "reward": 1.0, "terminated": True, "truncated": False},
        ],
        "total_reward": 1.0,
        "terminated": True,
        "truncated": False,
        "final_observation": done,
        "steps": 2,
        **changes,
    }  # fmt: skip


def put(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def back_and_forth(folder: Path, kind: str, published: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows after reading and writing."""
    source, target = put(folder / "in.json", published), folder / "out.json"
    worlds_there = release.read_environments(put(folder / "env.json", [environment()]))
    if kind == "environments":
        release.write_environments(release.read_environments(source), target, keyed=False)
    elif kind == "scenarios":
        release.write_scenarios(release.read_scenarios(source, worlds_there), target, worlds_there)
    else:
        release.write_trajectories(release.read_trajectories(source), target, worlds_there, [])
    return json.loads(target.read_text())


# The published sample


@pytest.mark.release
@pytest.mark.parametrize(
    ("name", "number"),
    [("env_metadata", 31), ("rl_scenarios", 35), ("trajectory_scenarios", 10), ("trajectories", 10)],
)
def test_the_published_files_come_back_as_they_were(release_files, tmp_path, name, number):
    folder, skeletons = release_files
    source, target = folder / f"{name}.json", tmp_path / "back.json"
    if name == "env_metadata":
        read = skeletons
        release.write_environments(read, target)
    elif name == "trajectories":
        read = release.read_trajectories(source)
        release.write_trajectories(read, target, [], [])
    else:
        read = release.read_scenarios(source, skeletons)
        release.write_scenarios(read, target, skeletons)
    assert (len(read), len(read.failures)) == (number, 0)
    assert same(json.loads(source.read_text()), json.loads(target.read_text()))


@pytest.fixture(scope="module")
def release_files(request):
    folder = request.getfixturevalue("release")
    return folder, release.read_environments(folder / "env_metadata.json")


@pytest.mark.release
def test_what_the_published_environments_are(release_files):
    folder, skeletons = release_files
    assert sum(len(s.tools) for s in skeletons) == 588
    assert sum(not tool.mutates for s in skeletons for tool in s.tools) == 328, "as their authors say"
    assert all(s.rules and not any(rule.invariant for rule in s.rules) for s in skeletons)
    assert "amen" in {a.name for s in skeletons for e in s.state for a in e.attributes} or any(
        a.name.startswith("eat") for s in skeletons for e in s.state for a in e.attributes
    ), "clipped names are read as they stand"
    again = release.read_environments(folder)
    assert again == skeletons, "a folder is searched for what is wanted"


@pytest.mark.release
def test_the_recorded_episodes_are_read_with_calls_and_rewards(release_files):
    folder, skeletons = release_files
    posed = release.read_scenarios(folder, skeletons)
    read = release.read_trajectories(folder, skeletons, posed)
    assert len(posed) == 45 and sum(len(release.recorded_calls(r)) for r in read) == 110
    assert {r.scenario_id for r in read} <= {s.id for s in posed}
    assert max(release.recorded_reward(r) for r in read) == 0.9167
    assert all(r.reward is None and r.ending == "finished" for r in read), "we have not graded them"


# Shapes


def as_text(row: dict[str, Any], write: Any) -> dict[str, Any]:
    names = (
        exact.OWN,
        "tools",
        "operation_list",
        "init_config",
        "messages",
        "user_messages",
        "checklist_with_func",
    )
    return {k: write(v) if k in names else v for k, v in row.items()}


@pytest.mark.parametrize(
    "write", [json.dumps, repr, lambda v: json.dumps(v, indent=1), lambda v: f" {v!r}\n"]
)
@pytest.mark.parametrize(
    ("kind", "row"),
    [("environments", environment()), ("scenarios", scenario()), ("trajectories", trajectory())],
)
def test_objects_as_text_are_read_as_objects_and_written_as_text(tmp_path, kind, row, write):
    text = as_text(row, write)
    read = {
        "environments": release.read_environments,
        "scenarios": release.read_scenarios,
        "trajectories": release.read_trajectories,
    }[kind]
    plain = read(put(tmp_path / "plain.json", [row]))
    strings = read(put(tmp_path / "text.json", [text]))
    assert [r.id for r in strings] == [r.id for r in plain] and not strings.failures
    assert back_and_forth(tmp_path, kind, [text]) == [text]


def test_one_file_in_all_its_wrappings(tmp_path):
    table = [scenario(task_id=f"t-{n}", task=f"Task {n}, ünïcode") for n in range(5)]
    text = "\n".join(json.dumps(row) for row in table)
    files = {
        "list.json": json.dumps(table, indent=2).encode(),
        "bom.json": b"\xef\xbb\xbf" + json.dumps(table, ensure_ascii=False).encode(),
        "keyed.json": json.dumps({row["task_id"]: row for row in table}).encode(),
        "lines.jsonl": text.encode(),
        "lines.json": text.encode(),
        "blank.jsonl": ("\n\n" + text.replace("\n", "\r\n\r\n") + "\n").encode(),
        "list.jsonl": json.dumps(table).encode(),
        "list.json.gz": gzip.compress(json.dumps(table).encode()),
        "lines.jsonl.gz": gzip.compress(text.encode()),
    }
    expected = None
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        read = release.read_scenarios(tmp_path / name)
        assert not read.failures, (name, read.failures)
        expected = expected or read
        assert read == expected and len(read) == 5, name


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    table = [as_text(scenario(task_id=f"t-{n}"), json.dumps) for n in range(200)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), tmp_path / "s.parquet")
    assert len(release.read_scenarios(tmp_path / "s.parquet")) == 200
    (tmp_path / "odd.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(StoreError, match="parquet"):
        release.read_scenarios(tmp_path / "odd.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "s.parquet").write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=r"pip install 'envscaler\[hub\]'"):
        release.read_scenarios(tmp_path / "s.parquet")


def test_a_row_whose_name_is_its_key_alone(tmp_path):
    row = environment()
    del row["env_id"]
    assert release.env_id(release.read_environments(put(tmp_path / "e.json", {"env_7": row}))[0]) == "env_7"


def test_names_may_be_numbers(tmp_path):
    skeletons = release.read_environments(
        put(tmp_path / "e.json", [environment(env_id=0), environment(env_id=7)])
    )
    table = [scenario(env_id=0, task_id=3), scenario(env_id=7, task_id=4)]
    posed = release.read_scenarios(put(tmp_path / "s.json", table), skeletons)
    played = [trajectory(task_info={"env_id": 7, "task_id": 4, "task": "x"})]
    read = release.read_trajectories(put(tmp_path / "t.json", played), skeletons, posed)
    assert len(skeletons) == 2 and [release.env_id(s) for s in skeletons] == ["0", "7"]
    assert read[0].scenario_id == posed[1].id
    release.write_scenarios(posed, tmp_path / "s2.json", skeletons)
    release.write_trajectories(read, tmp_path / "t2.json", skeletons, posed)
    assert json.loads((tmp_path / "s2.json").read_text()) == table
    assert json.loads((tmp_path / "t2.json").read_text()) == played


def test_a_lone_object_is_a_row(tmp_path):
    assert len(release.read_scenarios(put(tmp_path / "one.json", scenario()))) == 1
    assert len(release.read_trajectories(put(tmp_path / "t.json", trajectory()))) == 1


def test_a_folder_is_searched_by_what_its_files_hold(tmp_path):
    put(tmp_path / "a.json", [trajectory()])
    put(tmp_path / "b.json", {"env_1_sft": environment()})
    put(tmp_path / "c.json", [scenario()])
    put(tmp_path / "requests.json", [{"task": "no scenario", "task_from": "x"}])
    (tmp_path / "broken.json").write_text("{")
    worlds_there = release.read_environments(tmp_path)
    posed = release.read_scenarios(tmp_path, worlds_there)
    assert (len(worlds_there), len(posed), len(release.read_trajectories(tmp_path, worlds_there, posed))) == (
        1,
        1,
        1,
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match="Expected a file of scenarios"):
        release.read_scenarios(tmp_path / "empty")


# Quirks


def test_an_environment_keeps_what_its_author_said(tmp_path):
    made = release.read_environments(put(tmp_path / "e.json", [environment()]))[0]
    assert [(t.name, t.mutates) for t in made.tools] == [("get_seat", False), ("take_seat", True)]
    assert [a.name for a in made.state[0].attributes] == ["eat_id", "status", "reade"]
    assert made.attributes == 3, "a comma in brackets is none between attributes"
    assert (made.title, made.rules[0].text, release.env_id(made)) == (
        "Reading room", "A seat has one reader.", "env_1_sft",
    )  # fmt: skip


def test_tools_are_read_off_the_class_where_none_are_published(tmp_path):
    row = environment()
    del row["tools"], row["operation_list"]
    made = release.read_environments(put(tmp_path / "e.json", [row]))[0]
    assert [(t.name, t.mutates) for t in made.tools] == [("get_seat", False), ("take_seat", True)]
    assert "tools" not in back_and_forth(tmp_path, "environments", [row])[0]


def test_scenarios_without_checks_with_helpers_and_with_445_checks(tmp_path):
    bare = scenario()
    del bare["checklist_with_func"]
    helped = "def wanted():\n    return 'Ada'\n\n" + CHECK.replace("'Ada'", "wanted()")
    reads = "def check_func(final_state):\n    return final_state != initial_state"
    table = [
        bare,
        scenario(checklist_with_func=[{"check_item": "i", "check_func": helped}]),
        scenario(checklist_with_func=[{"check_item": "i", "check_func": reads}]),
        scenario(checklist_with_func=[{"check_item": str(n), "check_func": CHECK} for n in range(445)]),
        scenario(checklist_with_func=[{"check_item": "no function"}]),
    ]
    assert back_and_forth(tmp_path, "scenarios", table) == table
    read = release.read_scenarios(tmp_path / "in.json")
    assert [len(s.checks) for s in read] == [0, 1, 1, 445, 1]
    final = {"seats": {"S1": {"seat_id": "S1", "reader": "Ada"}}, "unheard_of": {}}
    paid = [pay(grade(s.checks, s.initial_state, final), "paper") for s in read]
    assert paid == [None, 1.0, 1.0, 1.0, 0.0]


def test_a_config_with_tables_that_the_class_does_not_have_is_played(tmp_path):
    skeletons = release.read_environments(put(tmp_path / "e.json", [environment()]))
    posed = release.read_scenarios(put(tmp_path / "s.json", [scenario()]), skeletons)[0]
    with Environment(skeletons[0], posed, reward="paper") as world:
        world.reset()
        assert "unheard_of" in world.state
        assert world.call("take_seat", {"seat_id": "S1", "reader": "Ada"})["success"] is True
        assert world.finish()[1] == 1.0


def test_arguments_are_taken_from_the_messages(tmp_path):
    row = trajectory()
    row["trajectory"][1]["action"] = {"name": "take_seat", "arguments": {"seat_id": "S1", "reader": "later"}}
    read = release.read_trajectories(put(tmp_path / "t.json", [row]))[0]
    assert release.recorded_calls(read)[0][0].arguments == TAKE["arguments"]
    assert back_and_forth(tmp_path, "trajectories", [row]) == [row]
    del row["messages"][4]
    read = release.read_trajectories(put(tmp_path / "t.json", [row]))[0]
    assert release.recorded_calls(read)[0][0].arguments["reader"] == "later", "one message is missing"


TOLD = {
    "role": "assistant", "content": "", "reasoning_content": "Hm.",
    "tool_calls": [{"id": "c", "type": "function", "function": TAKE}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        (TOLD, {"role": "tool", "tool_call_id": "c", "content": REPLY}),
        ({**TOLD, "tool_calls": [{"function": {**TAKE, "arguments": json.dumps(TAKE["arguments"])}}]},
         {"role": "tool", "content": REPLY}),
        (trajectory()["messages"][2], trajectory()["messages"][3]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["conversation", "non_conversation"])
def test_training_data_has_its_calls_in_the_messages(tmp_path, said, seen, kind):
    whole = trajectory()
    messages = [*whole["messages"][:2], said, seen, {"role": "assistant", "content": "Task Completed"}]
    row = {
        "traj_type": kind,
        "task_info": whole["task_info"],
        "tools": json.dumps(whole["tools"]),
        "messages": json.dumps(messages, ensure_ascii=False),
        "user_messages": "null",
        "steps": 2,
    }
    read = release.read_trajectories(put(tmp_path / "t.json", [row]))[0]
    ((call, reply),) = release.recorded_calls(read)
    assert (call.tool, call.arguments, reply) == ("take_seat", TAKE["arguments"], REPLY)
    assert read.conversation is (kind == "conversation") and release.recorded_reward(read) is None
    assert back_and_forth(tmp_path, "trajectories", [row]) == [row]


def test_how_an_episode_ended(tmp_path):
    raised = trajectory()
    raised["trajectory"] = [
        raised["trajectory"][0],
        {
            "step": 1,
            "action": TAKE,
            "observation": {"type": "user", "content": "Error: <Exception>\nKeyError"},
        },
    ]
    odd = trajectory(terminated=False)
    odd["trajectory"][1]["action"] = "no JSON at all"
    table = [
        trajectory(),
        trajectory(user_messages=[{"role": "user", "content": "Hello"}]),
        trajectory(terminated=False, truncated=True),
        odd,
        raised,
    ]
    read = release.read_trajectories(put(tmp_path / "t.json", table))
    assert [r.ending for r in read] == ["finished", "stopped", "truncated", "truncated", "failed"]
    assert read[-1].cause == "environment" and read[1].conversation
    assert back_and_forth(tmp_path, "trajectories", table) == table


@pytest.mark.parametrize("said", [[], [1], 0, 5, "", "x", False, True])
def test_parameters_that_are_no_object_cost_the_tool_and_not_the_environment(tmp_path, said):
    tools = [tool_schema("get_seat", "seat_id"), tool_schema("take_seat")]
    tools[1]["function"]["parameters"] = said
    row = environment(tools=tools)
    (read,) = release.read_environments(put(tmp_path / "e.json", [row]))
    assert [bool(tool.properties) for tool in read.tools] == [True, False]
    assert shapes.odd_parameters(read) == {"take_seat": said}
    assert same(back_and_forth(tmp_path, "environments", [row]), [row])
    (read,) = release.read_environments(put(tmp_path / "e.json", [environment()]))
    assert shapes.odd_parameters(read) == {}


# What is wrong


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (5, "Expected an object"),
        (None, "Expected an object"),
        (environment(env_class_code=None), "env_class_code: expected a text"),
        (environment(env_class_code="class X(:\n    pass"), "line 1"),
        (environment(env_class_name="Other"), "Other"),
        (environment(tools="not JSON"), "tools: expected a list"),
        (environment(tools=[5]), "tools: expected a list of objects"),
        (environment(tools=[{"function": {"name": 5}}]), "function schemas with names"),
        (environment(state_space_definition=[{"attributes": 5}]), "attributes"),
        (environment(environment_summary=["x"]), "environment_summary: expected a text"),
        (environment(environment_introduction="\ud800"), "written again"),
        (environment(envscaler=[]), "envscaler: expected an object"),
        (environment(envscaler={"tools": 5}), "Expected a Skeleton"),
        (environment(envscaler={"unknown": 5}), "Expected a Skeleton"),
        (environment(number=float("nan")), "NaN"),
    ],
)
def test_an_environment_that_cannot_be_read_is_told_and_the_others_go_on(tmp_path, row, told):
    path = put(tmp_path / "e.json", [environment(), row, environment(env_id="env_2")])
    read = release.read_environments(path)
    assert [release.env_id(s) for s in read] == ["env_1_sft", "env_2"]
    (failure,) = read.failures
    assert (
        failure.parent_id == f"{path}:[1]" and told in failure.message and "Traceback" not in failure.message
    )


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (scenario(env_id="env_9"), "no environment 'env_9'"),
        (scenario(env_id=None), "env_id: expected a name"),
        (scenario(init_config="{'a': "), "init_config: expected an object"),
        (scenario(init_config=[]), "init_config: expected an object"),
        (scenario(init_config="{'a': {1, 2}}"), "init_config: expected an object"),
        (scenario(task=5), "task: expected a text"),
        (scenario(checklist_with_func=["a"]), "checklist_with_func"),
        (scenario(init_config={"a": float("inf")}), "Infinity"),
    ],
)
def test_a_scenario_that_cannot_be_read(tmp_path, row, told):
    skeletons = release.read_environments(put(tmp_path / "e.json", [environment()]))
    path = put(tmp_path / "s.json", [row, scenario()])
    read = release.read_scenarios(path, skeletons)
    assert len(read) == 1 and told in read.failures[0].message and read.failures[0].parent_id == f"{path}:[0]"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (trajectory(task_info=None), "task_info"),
        (trajectory(task_info={"task_id": [5]}), "task_info"),
        (trajectory(messages="x"), "messages: expected a list"),
        (trajectory(messages=[{"content": "x"}]), "role"),
        (trajectory(trajectory={"a": 1}), "trajectory: expected a list"),
    ],
)
def test_an_episode_that_cannot_be_read(tmp_path, row, told):
    read = release.read_trajectories(put(tmp_path / "t.json", [row, trajectory()]))
    assert len(read) == 1 and told in read.failures[0].message


HOSTILE: list[Any] = [
    None,
    True,
    5,
    -1.5,
    "",
    "x",
    "{",
    "[]",
    "{}",
    [],
    [None],
    [[]],
    {},
    {"a": None},
    [{"a": 1}],
]


@pytest.mark.parametrize("kind", ["environments", "scenarios", "trajectories"])
def test_any_field_may_hold_anything(tmp_path, kind):
    """A row is read or told, and what was read is written as it was; no other exception."""
    row = {"environments": environment(), "scenarios": scenario(), "trajectories": trajectory()}[kind]
    table = [{**row, name: value} for name in row for value in HOSTILE]
    table += [{k: v for k, v in row.items() if k != name} for name in row]
    for nested in (
        "trajectory",
        "messages",
        "tools",
        "operation_list",
        "checklist_with_func",
        "state_space_definition",
    ):
        for place, entry in enumerate(row.get(nested, [])):
            for name in entry:
                for value in HOSTILE:
                    odd = copy.deepcopy(row)
                    odd[nested][place][name] = value
                    table.append(odd)
    iterate = {
        "environments": release.iter_environments,
        "scenarios": release.iter_scenarios,
        "trajectories": release.iter_trajectories,
    }[kind]
    kept = [r for r in table if not hasattr(next(iterate(put(tmp_path / "one.json", [r])), None), "message")]
    assert len(kept) > len(table) / 4
    if kind == "scenarios":
        kept = [r for r in kept if r.get("env_id") == "env_1_sft"]
    if kind == "environments":
        kept = [{**r, "env_id": f"env_{n}"} for n, r in enumerate(kept)]
    again = back_and_forth(tmp_path, kind, kept)
    assert len(again) == len(kept)
    for old, new in zip(kept, again, strict=True):
        assert same(old, new), (old, new)


@pytest.mark.parametrize(
    ("name", "text", "good", "told"),
    [
        ("a.json", '[{"a": 1},\n {"b": }, {"c": 1}]', 1, "line 2"),
        ("a.json", '[{"a": 1} {"b": 1}]', 1, "comma"),
        ("a.json", '[{"a": 1}, {"b": "x', 1, "not read"),
        ("a.json", '{"a": {"b": 1}, "c" {}}', 1, "colon"),
        ("a.json", "hello", 0, "begins with"),
        ("a.jsonl", '{"a": 1}\nhello\n{"b": 1}\n', 2, "this line"),
        ("a.json", '[{"a": 1}, {"a": NaN}, {"a": 1}]', 2, "NaN"),
        ("a.jsonl", '{"a": -Infinity}\n{"a": 1}', 1, "Infinity"),
        ("a.json", "[" * 100_000, 0, "not read"),
        ("a.json", '[{"a": 1}, ' + '{"x":' * 100_000, 1, "not read"),
        ("a.json", '[{"a": ' + "9" * 5000 + "}]", 0, "not read"),
        ("a.json", '{"env_id": "x", "a": 1}\n{"env_id": "y"', 1, "not read"),
    ],
)
def test_a_file_that_is_broken_somewhere(tmp_path, name, text, good, told):
    (tmp_path / name).write_text(text)
    found = list(rows.read_rows(tmp_path / name))
    assert sum(problem is None for *_, problem in found) == good
    (problem,) = [f"{place} {problem}" for place, _, problem in found if problem]
    assert told in problem and problem.startswith(str(tmp_path / name))


def test_files_that_are_none(tmp_path):
    for content in (b"\xff\xfe\x00", b"[\xff]"):
        (tmp_path / "x.json").write_bytes(content)
        with pytest.raises(StoreError, match="UTF-8"):
            release.read_scenarios(tmp_path / "x.json")
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b"[1, 2, 3]" * 1000)[:-20])
    with pytest.raises(StoreError):
        release.read_scenarios(tmp_path / "x.json.gz")
    with pytest.raises(StoreError, match="there is none"):
        release.read_scenarios(tmp_path / "absent.json")
    with pytest.raises(StoreError, match="none can be read"):
        release.read_scenarios(put(tmp_path / "x.json", [1, 2]))
    assert release.read_scenarios(put(tmp_path / "x.json", [])) == []


def test_one_name_for_two_environments(tmp_path):
    table = [environment(), environment(), environment(environment_summary="Another")]
    read = release.read_environments(put(tmp_path / "e.json", table))
    assert len(read) == 1 and "is there twice" in read.failures[0].message


# Streaming


@settings(max_examples=150)
@given(
    st.lists(
        st.dictionaries(
            st.text(max_size=4),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
                | st.text(),
                lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
                max_leaves=6,
            ),
            max_size=4,
        ),
        max_size=5,
    ),
    st.integers(1, 40),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)  # fmt: skip
def test_however_a_file_falls_into_pieces_its_rows_are_those_that_json_reads(
    tmp_path_factory, table, size, indent, ascii
):
    path = tmp_path_factory.getbasetemp() / "pieces.json"
    path.write_text(json.dumps(table, indent=indent, ensure_ascii=ascii), errors="surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "CHUNK", size)
        read = list(rows.read_rows(path))
        assert [problem for *_, problem in read if problem] == []
        assert same([row for _, row, _ in read], table)
        path = path.with_suffix(".jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in table))
        assert same([row for _, row, _ in rows.read_rows(path)], table)


@pytest.mark.parametrize("name", ["big.json", "big.jsonl"])
def test_a_large_file_is_not_held(tmp_path, name, monkeypatch):
    monkeypatch.setattr(
        rows, "CHUNK", 1 << 14
    )  # the sizes of a release, all scaled down (see tests/bench/release.py)
    row = json.dumps(scenario(init_config={"seats": {f"S{n}": {"seat_id": f"S{n}"} for n in range(100)}}))
    number = 400
    with (tmp_path / name).open("w") as file:
        between = ",\n" if name == "big.json" else "\n"
        file.write(
            ("[" if name == "big.json" else "")
            + between.join([row] * number)
            + ("]" if name == "big.json" else "")
        )
    size = (tmp_path / name).stat().st_size
    tracemalloc.start()
    read = sum(isinstance(made, Scenario) for made in release.iter_scenarios(tmp_path / name))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read == number and size > 1e6 and most < size / 3, (size, most)


# Our own records


@pytest.fixture(scope="module")
def village() -> tuple[Skeleton, Scenario]:
    """The library by hand, with a task that has a goal, a guard and a witness of several calls a message."""
    made = library.skeleton()
    state = {
        "members": {"M1": {"member_id": "M1", "name": "Ada", "active": True}},
        "books": {b: {"book_id": b, "title": b, "copies": 2} for b in ("B1", "B2")},
        "loans": {"L1": {"loan_id": "L1", "book_id": "B2", "member_id": "M1", "due": "2025-05-01", "out": True}},
    }  # fmt: skip
    lent = (
        "def check_func(final_state):\n    loans = final_state['loans'].values()\n"
        "    return any(l['book_id'] == 'B1' and l['out'] for l in loans)"
    )
    old = (
        "def helper(s):\n    return s['loans'].get('L1')\n\n"
        "def check_func(final_state):\n    return helper(final_state) == helper(initial_state)"
    )
    posed = Scenario(
        skeleton_id=made.id,
        initial_state=state,
        task="Lend B1 to Ada.",
        checks=[
            Check(item="Has B1 been lent?", source=lent),
            Check(item="Is L1 as it was?", source=old, kind="guard"),
        ],
        may_change=["loans/+", "next_loan"],
        witness=[Call(tool="lend_book", arguments={"book_id": "B1", "member_id": "M1", "due": "2025-06-01"})],
        extra={"note": "kept", "task": "not what it says"},
    )
    return made, posed


class FinishingAgent:
    """The witness, but that it ends with a call of `finish`."""

    name, player = "finisher", None

    def prepared(self, scenario, seed):
        self.player = WitnessAgent().prepared(scenario, seed)
        return self

    def act(self, messages, tools, *, seed):
        said = self.player.act(messages, tools, seed=seed)
        return said if said.get("tool_calls") else act_on([("finish", {"report": "Lent."})], first=99)


def rollouts_of(skeleton: Skeleton, posed: Scenario) -> list[Rollout]:
    agents = [WitnessAgent(), IdleAgent(), RandomAgent()]
    played = [roll_out(skeleton, posed, agent, seed=3) for agent in agents]
    return [*played, roll_out(skeleton, posed, FinishingAgent(), seed=3, finish=True)]


def test_an_episode_that_was_ended_by_finish_is_published_with_that_tool_and_replays(tmp_path, village):
    made, posed = village
    *_, played = rollouts_of(made, posed)
    assert (played.ending, played.reward) == ("finished", 1.0)
    release.write_trajectories([played], tmp_path / "t.json", [made], [posed])
    (row,) = json.loads((tmp_path / "t.json").read_text())
    assert [t["function"]["name"] for t in row["tools"]] == [*(t.name for t in made.tools), "finish"]
    assert row["trajectory"][-1]["action"]["name"] == "finish" and row["terminated"]
    again = replay_episode(played, {made.id: made}, {posed.id: posed})
    assert again.explained and again.reward == 1.0


@pytest.mark.parametrize("guards", ["apart", "added", "within"])
@pytest.mark.parametrize("form", ["result", "training"])
def test_our_records_come_back_as_they_were(tmp_path, village, guards, form):
    made, posed = village
    played = rollouts_of(made, posed)
    assert max(len(step.action.get("tool_calls") or ()) for r in played for step in r.trajectory) >= 1
    release.write_environments([made], tmp_path / "e.json")
    release.write_scenarios([posed], tmp_path / "s.jsonl", [made], guards=guards)
    release.write_trajectories(played, tmp_path / "t.json", [made], [posed], form=form)
    assert release.read_environments(tmp_path / "e.json") == [made]
    assert release.read_scenarios(tmp_path / "s.jsonl", [made]) == [posed]
    assert release.read_trajectories(tmp_path / "t.json", [made], [posed]) == played


def test_a_sample_is_a_folder_that_is_read_whole(tmp_path, village):
    made, posed = village
    release.write_sample(tmp_path / "x", [made], [posed], rollouts_of(made, posed))
    assert sorted(p.name for p in (tmp_path / "x").iterdir()) == [
        "env_metadata.json", "rl_scenarios.json", "trajectories.json",
    ]  # fmt: skip
    skeletons = release.read_environments(tmp_path / "x")
    assert skeletons == [made] and release.read_scenarios(tmp_path / "x", skeletons) == [posed]


def test_records_as_we_keep_them_are_read_too(tmp_path, village):
    made, posed = village
    played = rollouts_of(made, posed)
    for name, records in (("a", [made]), ("b", [posed]), ("c", played)):
        write_records(records, tmp_path / f"{name}.jsonl")
    (tmp_path / "b.jsonl").open("a").write('{"skeleton_id": "x", "initial_state": 5, "task": "t"}\n')
    assert release.read_environments(tmp_path) == [made]
    assert release.read_trajectories(tmp_path) == played
    scenarios = release.read_scenarios(tmp_path, [made])
    assert scenarios == [posed] and "initial_state" in scenarios.failures[0].message


def test_writing_what_cannot_be_written(tmp_path, village):
    made, posed = village
    with pytest.raises(ParameterError, match="Expected the skeleton"):
        release.write_scenarios([posed], tmp_path / "s.json", [worlds.skeleton()])
    with pytest.raises(ParameterError, match="apart, added, within"):
        release.write_scenarios([posed], tmp_path / "s.json", [made], guards="none")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="result, training"):
        release.write_trajectories([], tmp_path / "s.json", [], [], form="none")  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="JSON can hold"):
        odd = posed.model_copy(update={"extra": {"x": float("nan")}})
        release.write_scenarios([odd], tmp_path / "s.json", [made])
    assert not list(tmp_path.iterdir())


def test_a_changed_part_is_written_anew_and_the_rest_as_it_came(tmp_path):
    row = environment(
        tools=json.dumps([tool_schema("get_seat", "seat_id"), {**tool_schema("take_seat"), "strict": True}])
    )
    made = release.read_environments(put(tmp_path / "e.json", [row]))[0]
    changed = made.replace(title="Quiet room", tools=made.tools[:1])
    release.write_environments([changed], tmp_path / "out.json", keyed=False)
    (back,) = json.loads((tmp_path / "out.json").read_text())
    assert back["environment_summary"] == "Quiet room" and "strict" not in back["tools"]
    assert [t["function"]["name"] for t in json.loads(back["tools"])] == ["get_seat"], "still a text"
    assert back["state_space_definition"] == row["state_space_definition"]
    assert release.read_environments(tmp_path / "out.json") == [changed]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc/~_", max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
TABLE = st.dictionaries(st.text("abcd", min_size=1, max_size=3), JSON, max_size=3)
NAMES = st.sampled_from(
    ["task", "env_id", "task_id", "init_config", "checklist_with_func", "published", "envscaler", "z"]
)


@settings(max_examples=80)
@given(
    st.text("abc ?", max_size=5), TABLE,
    st.lists(
        st.tuples(
            st.text("ab", max_size=2), st.sampled_from([CHECK, "", "x = 1"]), st.sampled_from(["goal", "guard"])
        ),
        max_size=3,
    ),
    st.lists(st.text("ab/+", max_size=3), max_size=2), st.dictionaries(NAMES, JSON, max_size=3),
)  # fmt: skip
def test_any_scenario_of_ours_comes_back(task, state, checks, may_change, extra):
    made = worlds.skeleton()
    asked = [Check(item=item, source=source, kind=kind) for item, source, kind in checks]
    posed = Scenario(
        skeleton_id=made.id, initial_state=state, task=task, checks=asked, may_change=may_change, extra=extra
    )
    reader = shapes.scenarios([made])
    for guards in ("apart", "added", "within"):
        row = json.loads(json.dumps(exact.row_of(posed, shapes.scenarios([made], guards))))
        assert exact.record_of(row, reader) == posed


@settings(max_examples=80)
@given(
    st.lists(st.sampled_from(["system", "user", "assistant", "tool"]), max_size=6), JSON, JSON,
    st.sampled_from(["finished", "stopped", "truncated", "failed"]), st.booleans(),
    st.lists(st.integers(0, 3), max_size=4), TABLE,
    st.dictionaries(st.sampled_from(["total_reward", "traj_type", "steps", "z"]), JSON),
)  # fmt: skip
def test_any_rollout_of_ours_comes_back(roles, content, seen, ending, conversation, calls, state, extra):
    entry = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    messages = [{"role": role, "content": content} for role in roles]
    steps = [
        Step(action={"role": "assistant", "content": None, "tool_calls": [entry] * n}, observation=seen)
        for n in calls
    ]
    played = Rollout(
        scenario_id="s", agent="a", conversation=conversation, messages=messages, trajectory=steps, final_state=state,
        outcomes=[], ending=ending, extra=extra,
    )  # fmt: skip
    for form in ("result", "training"):
        row = json.loads(json.dumps(exact.row_of(played, episodes.trajectories(form=form))))
        assert exact.record_of(row, episodes.trajectories()) == played


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from([*scenario(), "checklist", "more"]), JSON), st.booleans())
def test_any_published_scenario_that_is_read_comes_back(changes, text):
    row = {**scenario(), **changes}
    if text and not isinstance(row["init_config"], str):
        row["init_config"] = json.dumps(row["init_config"])
    try:
        read = exact.record_of(row, shapes.scenarios())
    except exact.RowError:
        return
    assert same(exact.row_of(read, shapes.scenarios()), row)


# What others' tools are given

FOREIGN = """
import copy, json, sys, types

environments, scenarios, calls, states = json.load(open(sys.argv[1]))


def grade(row, initial, final):
    paid = 0
    for check in row["checklist_with_func"]:
        names = {"initial_state": copy.deepcopy(initial)}
        try:
            exec(check["check_func"], names)
            said = names["check_func"](final)
            paid += said if isinstance(said, bool) else 0
        except Exception:
            pass
    return round(paid / len(row["checklist_with_func"]), 4)


def begin(row):
    entry = environments[row["env_id"]]
    module = types.ModuleType("world")
    exec(entry["env_class_code"], module.__dict__)
    kind = getattr(module, row["env_class_name"])
    config = copy.deepcopy(row["init_config"])
    try:
        world = kind(config)
    except TypeError:
        world = kind()
    for name, value in config.items():
        setattr(world, name, value)
    return world


said = []
for row in scenarios:
    world = begin(row)
    initial = copy.deepcopy(vars(world))
    paid = [grade(row, initial, copy.deepcopy(vars(world)))]
    for call in calls:
        str(getattr(world, call["tool"])(**call["arguments"]))
    paid.append(grade(row, initial, copy.deepcopy(vars(world))))
    said.append(paid + [grade(row, initial, state) for state in states])
print(json.dumps(said))
"""


def test_the_published_rule_pays_as_we_do_when_goals_ask_the_guards(tmp_path, village):
    """Constructed, called and graded by the published rule (PAPER 1.3) in a process that knows nothing of us."""
    made, posed = village
    with Environment(made, posed) as world:
        world.reset()
        full = world.initial_state
        world.call("lend_book", posed.witness[0].arguments)
        won = world.state
    spoilt = [copy.deepcopy(won) for _ in range(6)]
    spoilt[0]["loans"]["L1"]["out"] = False
    spoilt[1]["books"]["B2"]["copies"] = 5
    del spoilt[2]["members"]["M1"]
    spoilt[3]["members"]["M2"] = {"member_id": "M2"}
    spoilt[4]["books"]["B2"]["copies"] = 2.0
    del spoilt[5]["books"]
    release.write_environments([made], tmp_path / "e.json")
    told = {}
    for guards in ("apart", "added", "within"):
        release.write_scenarios([posed], tmp_path / "s.json", [made], guards=guards)
        bundle = [
            json.loads((tmp_path / "e.json").read_text()), json.loads((tmp_path / "s.json").read_text()),
            [c.model_dump() for c in posed.witness], spoilt,
        ]  # fmt: skip
        put(tmp_path / "bundle.json", bundle)
        done = subprocess.run(
            [sys.executable, "-c", FOREIGN, tmp_path / "bundle.json"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        told[guards] = json.loads(done.stdout)[0]
    ours = [pay(grade(posed.checks, full, state, posed.may_change)) for state in [full, won, *spoilt]]
    assert told["within"] == ours == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    assert told["apart"] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "goals alone do not see what was spoilt"
    assert told["added"][0] == round(2 / 3, 4), "guards as checks pay for doing nothing"


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from(["a", "b/c", "_p", "~d"]), TABLE | JSON, min_size=1, max_size=3),
    st.data(),
)
def test_bystanders_written_out_says_what_ours_says(initial, data):
    final = copy.deepcopy(initial)
    for name in data.draw(st.lists(st.sampled_from(list(initial)), max_size=2)):
        change = data.draw(st.sampled_from(["replace", "row", "drop", "table"]))
        if change == "row" and isinstance(final.get(name), dict):
            final[name][data.draw(st.text("abcd", min_size=1, max_size=2))] = data.draw(JSON)
        elif change == "drop" and isinstance(final.get(name), dict) and final[name]:
            final[name].popitem()
        elif change == "table":
            final.pop(name, None)
        else:
            final[name] = data.draw(JSON)
    allowed = data.draw(
        st.lists(st.sampled_from(["a", "a/+", "a/a", "b~1c", "b~1c/+", "~0d/a"]), min_size=1, max_size=3)
    )
    posed = Scenario(skeleton_id="s", initial_state=initial, task="t", checks=[], may_change=allowed)
    source = release.bystanders_source(posed)
    names: dict[str, Any] = {"initial_state": initial}
    exec(compile(source, "guard", "exec"), names)
    (ours,) = grade([], initial, final, allowed)
    assert names["check_func"](final) is ours.passed


def test_training_rows_are_what_the_recipe_takes(tmp_path, village):
    """Texts that load as JSON, turns that alternate, thoughts for every turn, one call a message."""
    made, posed = village
    call = Call(tool="get_member", arguments={"member_id": "M1"})
    many = posed.replace(witness=[call] * 40 + posed.witness)
    played = roll_out(made, many, WitnessAgent(), seed=1)
    assert any(len(m.get("tool_calls") or ()) > 1 for m in played.messages)
    release.write_trajectories([played], tmp_path / "t.json", [made], [many], form="training")
    (row,) = json.loads((tmp_path / "t.json").read_text())
    messages = json.loads(row["messages"])
    assert json.loads(row["tools"])[0]["type"] == "function" and json.loads(row["user_messages"]) is None
    turns = ["user" if m["role"] == "tool" else m["role"] for m in messages]
    assert turns == ["system"] + ["user", "assistant"] * (len(turns) // 2)
    assert all(isinstance(m["reasoning_content"], str) for m in messages if m["role"] == "assistant")
    assert all(len(m.get("tool_calls", ())) <= 1 for m in messages)
    ids = [m["tool_calls"][0]["id"] for m in messages if m.get("tool_calls")]
    assert ids == [m["tool_call_id"] for m in messages if m["role"] == "tool"] and len(ids) == 41
    assert release.read_trajectories(tmp_path / "t.json", [made], [many]) == [played]
