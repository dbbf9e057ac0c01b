"""Requests of any file come in, bad rows are named, and judging keeps order and failures."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.error import ParameterError, StoreError
from envscaler.model.request import Request
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Task
from envscaler.store import Records
from envscaler.tasks import PAPER_CLEAN_UP, add_labels, judge_task, judge_tasks, load_tasks


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_projects_own_requests_load_without_a_failure() -> None:
    tasks = load_tasks()
    assert len(tasks) >= 600
    assert tasks.failures == []
    assert sum(task.label is not None for task in tasks) >= 400


@pytest.mark.parametrize("field", ["text", "task", "query", "request", "instruction", "question"])
def test_a_request_may_stand_under_any_usual_name(tmp_path: Path, field: str) -> None:
    (task,) = load_tasks(write(tmp_path / "mine.jsonl", {field: " Renew my loan. ", "other": 3}))
    assert (task.text, task.source, task.label, task.stateful) == ("Renew my loan.", "mine", None, None)


def test_lists_dicts_and_tables_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('["Renew my loan.", {"task": "Book a room.", "task_from": "toolace"}]')
    (tmp_path / "b.json").write_text('{"x1": {"query": "Renew my loan."}, "x2": {"query": "Book a room."}}')
    (tmp_path / "c.csv").write_text('text,label,source\n"Renew my loan, please.",yes,desk\nBook a room.,,\n')
    assert [t.source for t in load_tasks(tmp_path / "a.json")] == ["a", "toolace"]
    assert [t.text for t in load_tasks(tmp_path / "b.json")] == ["Renew my loan.", "Book a room."]
    first, second = load_tasks(tmp_path / "c.csv")
    assert (first.text, first.label, first.source) == ("Renew my loan, please.", True, "desk")
    assert (second.label, second.source) == (None, "c")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"text": ', "JSON"),
        ('{"title": "no request"}', "title"),
        ('{"text": ""}', "text"),
        ('{"text": "  "}', "text"),
        ('{"text": 7}', "7"),
        ('{"text": null}', "text"),
        ("[1, 2]", "list"),
        ("null", "NoneType"),
        ('{"text": "Half a pair \\ud800."}', "request"),
        ('{"text": "Renew.", "label": "maybe"}', "maybe"),
        ('{"text": "Good request."}', "mine.jsonl:1"),
    ],
)
def test_a_bad_row_is_named_and_the_good_ones_go_on(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"text": "Good request."}\n' + row + '\n{"text": "Another one."}\n', encoding="utf-8")
    tasks = load_tasks(path)
    assert [task.text for task in tasks] == ["Good request.", "Another one."]
    (failure,) = tasks.failures
    assert failure.parent_id == f"{path}:2"
    assert failure.stage == "tasks"
    assert said in failure.message


def test_repetition_is_dropped_and_reported_as_such(tmp_path: Path) -> None:
    tasks = load_tasks(
        write(tmp_path / "mine.jsonl", {"text": "Renew."}, {"text": " Renew. "}, {"task": "renew."})
    )
    assert [task.text for task in tasks] == ["Renew.", "renew."]
    assert [failure.error for failure in tasks.failures] == ["Duplicate"]


@pytest.mark.parametrize(
    ("content", "said"), [("", "no row"), ('{"title": "x"}\n', "no row"), (None, "there is none")]
)
def test_a_file_without_requests_is_an_error(tmp_path: Path, content: str | None, said: str) -> None:
    path = tmp_path / "mine.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(StoreError, match=said):
        load_tasks(path)


@pytest.mark.parametrize("limit", [0, -1, 2.5, True, "3"])
def test_a_senseless_limit_is_refused(tmp_path: Path, limit: object) -> None:
    with pytest.raises(ParameterError, match="limit"):
        load_tasks(write(tmp_path / "m.jsonl", "A request."), limit=limit)  # type: ignore[arg-type]


@given(st.integers(1, 40), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_a_draw_keeps_file_order_and_repeats_with_its_seed(
    tmp_path_factory: pytest.TempPathFactory, limit: int, seed: int
) -> None:
    path = write(tmp_path_factory.mktemp("draw") / "m.jsonl", *(f"Request {i}." for i in range(25)))
    numbers = [int(task.text[8:-1]) for task in load_tasks(path, limit=limit, seed=seed)]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == min(limit, 25)
    assert numbers == [int(task.text[8:-1]) for task in load_tasks(path, limit=limit, seed=seed)]


def test_another_seed_draws_others(tmp_path: Path) -> None:
    path = write(tmp_path / "m.jsonl", *(f"Request {i}." for i in range(200)))
    assert load_tasks(path, limit=20, seed=1) != load_tasks(path, limit=20, seed=2)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Réserve une chambre.", "english"),
        ("Show me the Photo of it.", "modality"),
        ("Pay 5 USD to Ann.", "noise"),
        ("Mail ann@example.org.", "noise"),
        ("User:  \nAI: Hello", "user_turn"),
    ],
)
def test_clean_up_drops_and_says_which_step_did(tmp_path: Path, text: str, step: str) -> None:
    path = write(tmp_path / "m.jsonl", {"text": text}, {"text": "Renew my loan."})
    assert len(load_tasks(path)) == 2
    tasks = load_tasks(path, clean_up=PAPER_CLEAN_UP)
    assert [task.text for task in tasks] == ["Renew my loan."]
    assert [failure.error for failure in tasks.failures] == ["Filtered"]
    assert tasks.failures[0].message.startswith(step)


def test_clean_up_cuts_the_user_turn_and_then_finds_repetition(tmp_path: Path) -> None:
    dialogue = "User: Renew my loan.\nGenerate API Request: [Renew()]"
    path = write(tmp_path / "m.jsonl", {"text": dialogue}, {"text": "Renew my loan."})
    tasks = load_tasks(path, clean_up=["user_turn"])
    assert [task.text for task in tasks] == ["Renew my loan."]
    assert [failure.error for failure in tasks.failures] == ["Duplicate"]


@pytest.mark.parametrize("steps", [["polish"], "english"])
def test_an_unknown_clean_up_step_is_refused(tmp_path: Path, steps: object) -> None:
    with pytest.raises(ParameterError, match="user_turn"):
        load_tasks(write(tmp_path / "m.jsonl", "A request."), clean_up=steps)  # type: ignore[arg-type]


def answers(request: Request) -> str:
    stateful = "loan" in str(request.messages)
    return json.dumps(
        {"reason": "It speaks of a loan." if stateful else "It does not.", "stateful": stateful}
    )


def test_judging_sets_the_answer_and_keeps_the_id() -> None:
    task = Task(text="Renew my loan <b>now</b>.", source="desk", label=False)
    judged = judge_task(task, ScriptedModel(answers))
    assert (judged.stateful, judged.reason, judged.id, judged.label) == (
        True,
        "It speaks of a loan.",
        task.id,
        False,
    )
    assert judged.origin is not None
    assert judged.origin.model == "scripted"
    assert judged.origin.prompt


def test_judging_many_keeps_the_order_and_the_failures(tmp_path: Path) -> None:
    def sometimes(request: Request) -> str:
        return "I would rather not." if "loan 7" in str(request.messages) else answers(request)

    path = write(tmp_path / "m.jsonl", *(f"Renew loan {i}." for i in range(10)), {"text": 3})
    tasks = load_tasks(path)
    judged = judge_tasks(tasks, ScriptedModel(sometimes, workers=4), progress=False)
    assert [task.text for task in judged] == [task.text for task in tasks if "7" not in task.text]
    assert [(f.error, f.parent_id) for f in judged.failures] == [
        ("StoreError", f"{path}:11"),
        ("ReplyError", tasks[7].id),
    ]


@pytest.mark.release
def test_every_published_request_loads(release: Path) -> None:
    tasks = load_tasks(release / "source_tasks.json")
    assert len(tasks) == 4_000
    assert tasks.failures == []
    assert {task.source for task in tasks} == {"api-bank", "toolace"}
    assert len({task.id for task in tasks}) == 4_000


def test_labels_of_published_requests_are_found_by_hash(tmp_path: Path) -> None:
    text = "Where is parcel 12?"
    labels = tmp_path / "labels.jsonl"
    row = {"hash": hashlib.sha256(text.encode()).hexdigest()[:16], "stateful": True}
    labels.write_text(json.dumps(row) + "\n")
    tasks = Records(
        [Task(text=text), Task(text="Where is parcel 13?"), Task(text=text, label=False, source="own")]
    )
    assert [task.label for task in add_labels(tasks, labels)] == [True, None, False]


def test_every_label_finds_its_published_request(release: Path) -> None:
    tasks = add_labels(load_tasks(release / "source_tasks.json"))
    assert sum(task.label is not None for task in tasks) == 150


def test_a_path_or_a_seed_that_is_none_is_refused_in_words() -> None:
    for wrong in (
        {"path": 5},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": True},
        {"clean_up": None},
        {"clean_up": [[]]},
    ):
        with pytest.raises(ParameterError, match="Expected"):
            load_tasks(**{"limit": 3, **wrong})  # type: ignore[arg-type]


def test_labels_that_are_none_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "l.jsonl").write_text(
        'null\n{"hash": 1}\n{"stateful": true}\n{"hash": [1], "stateful": "no"}\njunk\n'
    )
    assert len(add_labels(load_tasks(limit=2), tmp_path / "l.jsonl")) == 2
