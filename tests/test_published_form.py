"""What we write has the shape of what is published: the sample says what that is, field by field.

Run: python -m pytest tests/test_published_form.py -q
"""

# ruff: noqa: F811  (a fixture of another module)

import copy
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import library
import pytest
import worlds
from test_release import environment, put, rollouts_of, trajectory, village  # noqa: F401  (a fixture)
from test_release import scenario as published_scenario

from envscaler import release as published_data
from envscaler.schema import Rollout, Scenario, Skeleton

FILES = {
    "env_metadata.json": "environments",
    "rl_scenarios.json": "scenarios",
    "trajectories.json": "trajectories",
}
OPEN = ("init_config", "parameters", "arguments", "envscaler")
"""Fields in which stands what the data is about, of any shape, or what other tools pass over."""
Kinds = dict[str, set[str]]


def shape_of(value: Any, path: str = "", found: Kinds | None = None) -> Kinds:
    """The types that stand at each place, as JSON names them; `x?` of a field that not all have."""
    found = defaultdict(set) if found is None else found
    found[path].add({int: "number", float: "number"}.get(type(value), type(value).__name__))
    if isinstance(value, list):
        for part in value:
            shape_of(part, f"{path}[]", found)
        for name in {n for part in value if isinstance(part, dict) for n in part}:
            if any(isinstance(part, dict) and name not in part for part in value):
                found[f"{path}[].{name}"].add("absent")
    elif isinstance(value, dict) and path.rpartition(".")[2] not in OPEN:
        for name, part in value.items():
            shape_of(part, f"{path}.{name}", found)
    return found


def rows_of(path: Path) -> tuple[str, list[Any]]:
    content = json.loads(path.read_text())
    if isinstance(content, dict):
        assert all(row["env_id"] == key for key, row in content.items())
    return type(content).__name__, list(content.values()) if isinstance(content, dict) else content


def differences(ours: Kinds, theirs: Kinds, more: Mapping[str, str] = {}) -> Iterator[str]:
    """Where ours is not of their shape, but for what else there may be: a beginning of a path, and why."""
    for path, kinds in theirs.items():
        parent = path.rpartition("." if path.rpartition(".")[2].count("[]") == 0 else "[]")[0]
        if path not in ours and "absent" not in kinds and parent in ours and "[]" not in path[len(parent) :]:
            yield f"{path} is missing"
    for path, kinds in ours.items():
        known = next((why for begin, why in more.items() if path.startswith(begin)), None)
        if known is None and (wrong := kinds - theirs.get(path, set())):
            yield f"{path} is {sorted(wrong)}, not {sorted(theirs.get(path, ['absent']))}"


CALLS = {
    "[].messages[].tool_calls": "a call in a field of its own, as servers take it; theirs are in the text",
    "[].messages[].tool_call_id": "which call a reply is to",
    "[].messages[].content": "nothing is said beside a call",
    "[].messages[].reasoning_content": "thoughts, as the published training data has them",
    "[].envscaler": "what only our records have",
}  # fmt: skip


@pytest.fixture
def ours(tmp_path: Path, village: tuple[Skeleton, Scenario]) -> Path:
    """Two worlds, scenarios with goals, guards and witnesses, and episodes of several agents."""
    made, posed = village
    posed, other = posed.model_copy(update={"extra": {}}), worlds.skeleton()
    played = rollouts_of(made, posed)
    return published_data.write_sample(
        tmp_path / "ours", [made, other], [posed, worlds.scenario(other)], played
    )


@pytest.mark.release
@pytest.mark.parametrize("name", FILES)
def test_our_files_have_the_shape_of_the_sample(release: Path, ours: Path, name: str) -> None:
    (kind, theirs), (own, rows) = rows_of(release / name), rows_of(ours / name)
    assert kind == own, "a dict by name, or a list"
    told = list(differences(shape_of(rows), shape_of(theirs), CALLS))
    assert not told, "\n".join(told)


@pytest.mark.release
def test_the_comparison_sees_what_is_different(release: Path) -> None:
    """A field left out, of another type, or unheard of, anywhere."""
    theirs = shape_of(rows_of(release / "trajectories.json")[1])
    assert list(differences(theirs, theirs)) == []
    for change, told in [
        ({"steps": "2"}, "steps is ['str']"),
        ({"tools": "[]"}, "tools is ['str']"),
        ({"unheard_of": 1}, "unheard_of"),
        ({"task_info": {"env_id": "x", "task_id": "y"}}, "task_info.task is missing"),
        ({"trajectory": [{"step": 0, "observation": ["x"]}]}, "observation is ['list']"),
    ]:
        found = list(differences(shape_of([trajectory(**change)]), theirs))
        assert any(told in line for line in found), (told, found)


@pytest.mark.release
def test_what_is_read_of_the_sample_and_written_with_ours_has_one_shape(
    release: Path, tmp_path: Path
) -> None:
    """A folder that goes on growing: theirs read, ours added, written; other tools see one form."""
    worlds_there = [*published_data.read_environments(release), library.skeleton()]
    posed = [*published_data.read_scenarios(release / "rl_scenarios.json", worlds_there)]
    folder = published_data.write_sample(tmp_path, worlds_there, posed)
    for name in ("env_metadata.json", "rl_scenarios.json"):
        mixed, theirs = shape_of(rows_of(folder / name)[1]), shape_of(rows_of(release / name)[1])
        assert not list(differences(mixed, theirs, CALLS)), name
        mixed.pop("[].envscaler", None)
        assert theirs.keys() - mixed.keys() == set()


@pytest.mark.parametrize("guards", ["apart", "within"])
def test_a_runtime_like_the_published_one_plays_what_we_write(
    tmp_path: Path,
    village: tuple[Skeleton, Scenario],
    guards: Any,
) -> None:
    """It finds a world by its name, sets the state's fields on the object, calls by keyword, and takes a mean."""
    folder = published_data.write_sample(
        tmp_path, [village[0], worlds.skeleton()], [village[1]], guards=guards
    )
    items, tasks = (
        json.loads((folder / name).read_text()) for name in ("env_metadata.json", "rl_scenarios.json")
    )
    for task in tasks:
        item, space = items[task["env_id"]], {"__name__": "world"}
        exec(compile(item["env_class_code"], "world", "exec"), space)  # our own, of the tests' library
        made = space[task["env_class_name"]](copy.deepcopy(task["init_config"]))  # type: ignore[operator]
        for name, value in task["init_config"].items():
            setattr(made, name, copy.deepcopy(value))
        assert all(callable(getattr(made, tool["function"]["name"])) for tool in item["tools"])
        assert all(isinstance(rule, str) for rule in item["constraints_rules"])
        initial = copy.deepcopy(vars(made))
        for call in task["envscaler"]["witness"]:
            assert getattr(made, call["tool"])(**call["arguments"])["success"] is True
        assert paid(task, initial, initial) == 0.0 and paid(task, initial, vars(made)) == 1.0


def paid(task: dict[str, Any], initial: dict[str, Any], final: dict[str, Any]) -> float:
    results = []
    for check in task["checklist_with_func"]:
        names: dict[str, Any] = {"initial_state": copy.deepcopy(initial)}
        exec(check["check_func"], names)
        results.append(names["check_func"](copy.deepcopy(final)))
    assert results and all(isinstance(result, bool) for result in results)
    return sum(results) / len(results)


def test_training_data_is_text_where_theirs_is(tmp_path: Path, village: tuple[Skeleton, Scenario]) -> None:
    made, posed = village
    played = rollouts_of(made, posed)
    published_data.write_trajectories(played, tmp_path / "t.json", [made], [posed], form="training")
    for row in rows_of(tmp_path / "t.json")[1]:
        texts = {name for name in row if isinstance(row[name], str)}
        assert texts == {"traj_type", "tools", "messages", "user_messages"}
        assert all(isinstance(json.loads(row[name]), list | None) for name in texts - {"traj_type"})
        assert set(row) <= {*texts, "task_info", "steps", "envscaler"}


@pytest.mark.parametrize("field", ["tools", "offered", "error", "faults"])
@pytest.mark.parametrize("odd", [5, "x", {}, [], [5], {"a": [None]}])
def test_what_an_episode_of_others_says_in_our_words_stays_where_it_was(
    tmp_path: Path, field: str, odd: Any
) -> None:
    made = published_data.read_environments(put(tmp_path / "e.json", [environment()]))
    posed = published_data.read_scenarios(put(tmp_path / "s.json", [published_scenario()]), made)
    row = trajectory(**{field: odd})
    path = put(tmp_path / "t.json", [row])
    if field == "tools" and not isinstance(odd, list):
        row = trajectory(**{field: [odd]})
        put(path, [row])
    read: list[Rollout] = published_data.read_trajectories(path, made, posed)
    assert rows_of(published_data.write_trajectories(read, tmp_path / "back.json", made, posed))[1] == [row]


def test_what_only_our_episodes_have_is_in_the_field_of_ours(
    tmp_path: Path, village: tuple[Skeleton, Scenario]
) -> None:
    made, posed = village
    extra = {
        "offered": [{"type": "function", "function": {"name": "finish"}}],
        "error": "KeyError",
        "more": 5,
    }
    played = [one.model_copy(update={"extra": extra}) for one in rollouts_of(made, posed)]
    path = published_data.write_trajectories(played, tmp_path / "t.json", [made], [posed])
    for row in rows_of(path)[1]:
        assert not extra.keys() & row.keys() and row["envscaler"]["extra"] == extra
        assert [tool["function"]["name"] for tool in row["tools"]][-1] == "finish"
    assert published_data.read_trajectories(path, [made], [posed]) == played
