"""The built-in model as a model: it sees what any model sees, needs every block, and is deterministic."""

import json
from typing import Any

import numpy as np
import pytest

from envscaler.error import NothingFits
from envscaler.model.builtin import ANSWERS, NEEDS, BuiltinModel
from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.lint import _lines
from envscaler.model.builtin.recall import world_in
from envscaler.model.prompt import blocks, load, render, steps
from envscaler.model.request import Request

RNG = np.random.default_rng(5)
WORLD = world_of("hotel")
STATE = WORLD.state(np.random.default_rng(11))
TITLE, SUMMARY = WORLD.domain.word_title(RNG), WORLD.domain.word_summary(RNG)
RULES = list(WORLD.rules)
HEAD = WORLD.head(TITLE, "FrontDesk", RULES)
PLANNED = [{"name": t.name, "purpose": t.purpose, "mutates": t.mutates} for t in WORLD.tools.values()]
SCHEMAS = [
    {
        "name": t.name,
        "description": t.purpose,
        "parameters": {"type": "object", "properties": {}, "required": []},
    }
    for t in WORLD.tools.values()
]
CALL = {"tool": "book_room", "arguments": {"guest_id": "GST-001"}, "intent": "positive"}
VALUES: dict[str, Any] = {
    "request": "Please book a double room in a hotel for two nights and cancel my reservation.",
    "title": TITLE,
    "summary": SUMMARY,
    "example": "Book me a room.",
    "class_name": "FrontDesk",
    "entities": [entity.model_dump() for entity in WORLD.entities],
    "rules": RULES,
    "rule": RULES[1],
    "class_source": HEAD,
    "tools": SCHEMAS,
    "tool": PLANNED[6],
    "tool_source": WORLD.tools["book_room"].source,
    "feedback": "",
    "state": STATE,
    "kind": "goal",
    "counts": "Tool | total",
    "suggestion": {"tool": "block_guest", "intent": "negative"},
    "call": CALL,
    "before": STATE,
    "after": STATE,
    "diff": {},
    "reply": {"success": False, "error": "The room is taken."},
    "evidence": [],
    "dialogue": [],
}


def values_for(step: str) -> dict[str, Any]:
    """Variables of a step, as its stage would give them; later ones are made from earlier answers."""
    names = load(step).variables
    values = {name: VALUES.get(name) for name in names}
    if "task" in names:
        values["task"] = _said("scenarios/task", values_for("scenarios/task"))["task"]
    if "item" in names:
        values["item"] = _said("scenarios/checklist", values_for("scenarios/checklist"))["items"][0]["item"]
    assert None not in values.values(), values
    return values


def _answer(step: str, values: dict[str, Any], *, sample: int = 0, **model: Any) -> str:
    return BuiltinModel(**model).answer(Request(step, render(step, values), sample=sample)).text


def _said(step: str, values: dict[str, Any]) -> dict[str, Any]:
    return json.loads(_answer(step, values))


@pytest.mark.parametrize("step", sorted(ANSWERS))
def test_a_step_is_answered_and_the_same_again(step: str) -> None:
    values = values_for(step)
    first = _answer(step, values)
    assert first and first == _answer(step, values)


@pytest.mark.parametrize("step", sorted(NEEDS))
def test_without_any_one_block_it_fails(step: str) -> None:
    messages = render(step, values_for(step))
    for name in load(step).variables:
        cut = tuple({**m, "content": m["content"].replace(f"<{name}>\n", "<gone>\n")} for m in messages)
        assert name not in blocks(cut)
        with pytest.raises(NothingFits):
            BuiltinModel().answer(Request(step, cut))


def test_every_prompt_has_an_answer() -> None:
    assert set(steps()) == set(ANSWERS) | {"rollouts/act", "rollouts/act_schema", "rollouts/act_text"}


def test_an_unknown_step_is_told() -> None:
    with pytest.raises(NothingFits, match="no answer to the step"):
        BuiltinModel().answer(Request("poems/write", ({"role": "user", "content": "Hello."},)))


def test_samples_and_seeds_give_other_states_and_tasks() -> None:
    values = values_for("scenarios/state")
    answers = {_answer("scenarios/state", values, sample=n) for n in range(5)}
    answers |= {_answer("scenarios/state", values, seed=n) for n in range(1, 5)}
    assert len(answers) == 9


def test_a_foreign_world_is_refused() -> None:
    values = values_for("skeletons/plan_state") | {
        "title": "Orbital mechanics",
        "summary": "Rockets and burns.",
    }
    with pytest.raises(NothingFits, match="knows no world"):
        _answer("skeletons/plan_state", values)


def test_a_foreign_class_is_refused() -> None:
    source = "class Hotel:\n    def __init__(self, initial_state=None):\n        self.beds = {}\n"
    with pytest.raises(NothingFits, match="did not write this class"):
        _answer("skeletons/plan_tools", values_for("skeletons/plan_tools") | {"class_source": source})


def test_a_task_in_other_words_is_not_guessed() -> None:
    values = values_for("scenarios/witness") | {"task": "Make everything nice, please."}
    with pytest.raises(NothingFits, match="understands no sentence"):
        _answer("scenarios/witness", values)


def test_the_task_is_read_not_remembered() -> None:
    """Another name in the task's text changes the checks; a name nobody has is refused."""
    values = values_for("scenarios/checklist")
    people = [row["name"] for row in STATE["guests"].values()]
    named = next(name for name in people if name in values["task"])
    with pytest.raises(NothingFits, match="sees no way"):
        _answer("scenarios/checklist", values | {"task": values["task"].replace(named, "Nobody Known")})


def test_an_unknown_rule_has_no_invariant() -> None:
    answer = _said(
        "skeletons/write_invariant", values_for("skeletons/write_invariant") | {"rule": "Be kind."}
    )
    assert answer["source"] is None and answer["reason"]


def test_at_fault_rate_one_tools_differ_and_at_zero_they_are_clean() -> None:
    spoiled = 0
    for tool in PLANNED:
        values = values_for("skeletons/write_tool") | {"tool": tool}
        clean = f"```python\n{WORLD.tools[tool['name']].source.strip()}\n```"
        assert _answer("skeletons/write_tool", values, fault_rate=0) == clean
        spoiled += _answer("skeletons/write_tool", values, fault_rate=1) != clean
        told = values | {"feedback": "It is wrong."}
        assert _answer("skeletons/write_tool", told, fault_rate=1) == clean
    assert spoiled >= 0.75 * len(PLANNED)


def test_repairs_are_mostly_clean() -> None:
    values = values_for("audits/repair") | {"tool_source": "def book_room(self):\n    return 1\n"}
    clean = f"```python\n{WORLD.tools['book_room'].source.strip()}\n```"
    answers = [_answer("audits/repair", values, sample=n) for n in range(60)]
    assert 0.75 < sum(answer == clean for answer in answers) / 60 < 1
    assert all(_answer("audits/repair", values, sample=n, fault_rate=0) == clean for n in range(10))


def test_domains_are_recognised_by_ordinary_words() -> None:
    heard = {
        "I want to book a hotel room for three nights": "hotel",
        "Transfer 200 dollars from my checking account to savings": "bank",
        "I need to rent a car, an SUV, for the weekend": "car_rental",
        "Can I borrow a drill and a ladder from the tool library?": "tool_library",
        "The VPN on my laptop fails, please open a ticket with the help desk": "it_service_desk",
    }
    for request, name in heard.items():
        assert world_in(request).domain.name == name, request
    with pytest.raises(NothingFits, match="knows no world like"):
        world_in("What is the capital of France?")


def test_no_two_domains_are_one_under_two_names() -> None:
    lines = {name: _lines(world_of(name)) for name in domains()}
    for one in lines:
        for two in lines:
            if one < two:
                share = len(lines[one] & lines[two]) / min(len(lines[one]), len(lines[two]))
                assert share < 0.6, (one, two, share)


JUDGED = {
    "refuses and changes": ({"diff": {"guests/GST-001": {"changed": {"phone": ["1", "2"]}}}}, "fail"),
    "refuses for a reason": ({}, "pass"),
    "says nothing": ({"reply": {"success": False, "error": ""}}, "fail"),
    "no dict": ({"reply": "done"}, "fail"),
    "nothing done": ({"reply": {"success": True, "message": "Booked.", "data": {}}}, "fail"),
    "denies what is there": (
        {"reply": {"success": False, "error": "There is no guest with the id 'GST-001'."}},
        "fail",
    ),
}


@pytest.mark.parametrize("case", sorted(JUDGED))
def test_the_judge_sees_what_is_plain(case: str) -> None:
    changed, verdict = JUDGED[case]
    assert _said("audits/judge", values_for("audits/judge") | changed)["verdict"] == verdict


def test_the_user_reveals_a_task_piece_by_piece_and_leaves() -> None:
    task = values_for("rollouts/user")["task"]
    dialogue: list[dict[str, str]] = []
    for _ in range(20):
        turn = _said("rollouts/user", {"task": task, "dialogue": dialogue})
        if turn["done"]:
            break
        assert turn["message"] in task
        dialogue += [{"role": "user", "content": turn["message"]}, {"role": "assistant", "content": "Done."}]
    assert turn["done"] and len(dialogue) >= 6
    assert " ".join(d["content"] for d in dialogue if d["role"] == "user") == task


def test_the_agent_asks_when_it_understands_nothing() -> None:
    messages = (
        *render("rollouts/act", {"summary": SUMMARY, "rules": RULES}),
        {"role": "user", "content": "Sing me a song."},
    )
    tools = tuple({"type": "function", "function": schema} for schema in SCHEMAS)
    reply = BuiltinModel().answer(Request("rollouts/act", messages, tools=tools))
    assert not reply.tool_calls and reply.text.endswith("?")


def test_the_agent_passes_over_what_a_look_up_does_not_find() -> None:
    messages = (
        *render("rollouts/act", {"summary": SUMMARY, "rules": RULES}),
        {"role": "user", "content": "Please cancel the upcoming stay of guest Nobody Known."},
    )
    tools = tuple({"type": "function", "function": schema} for schema in SCHEMAS)
    first = BuiltinModel().answer(Request("rollouts/act", messages, tools=tools))
    assert first.tool_calls[0]["function"]["name"] == "find_guests"
    called = {"role": "assistant", "content": None, "tool_calls": list(first.tool_calls)}
    empty = {"role": "tool", "tool_call_id": "call_0", "content": '{"success": true, "data": []}'}
    last = BuiltinModel().answer(Request("rollouts/act", (*messages, called, empty), tools=tools))
    assert not last.tool_calls and "found nothing" in last.text
