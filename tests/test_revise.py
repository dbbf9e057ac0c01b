"""Revise: an answer is asked for until it will do, with what was wrong, a bounded number of times."""

import json
from pathlib import Path

import pytest

from envscaler.error import PartRefused, ReplyError
from envscaler.model.cache import CachedModel
from envscaler.model.prompt import blocks
from envscaler.model.request import Model
from envscaler.model.revise import TRIES, ask_usable, told
from envscaler.model.scripted import ScriptedModel
from envscaler.posing.drafting import TaskText

VARIABLES = dict.fromkeys(("summary", "entities", "tools", "rules", "state"), "x")


def ask(model: Model, **options: object) -> TaskText:
    return ask_usable(
        model,
        "scenarios/task",
        VARIABLES,
        TaskText,
        lambda a: "" if a.task == "good" else "It is bad.",
        **options,
    )  # type: ignore[call-overload]


def said(*tasks: str) -> ScriptedModel:
    return ScriptedModel([json.dumps({"task": task}) for task in tasks])


def test_a_good_answer_is_asked_for_once() -> None:
    model = said("good")
    assert ask(model).task == "good" and blocks(model.requests[0].messages)["feedback"] == ""


def test_the_fault_and_the_answer_go_back() -> None:
    model = said("bad one", "good")
    assert ask(model, sample=4).task == "good"
    feedback = blocks(model.requests[1].messages)["feedback"]
    assert "It is bad." in feedback and "bad one" in feedback
    assert {request.sample for request in model.requests} == {4}


def test_feedback_can_be_there_from_the_start() -> None:
    model = said("good")
    ask(model, feedback="Mind the gap.")
    assert blocks(model.requests[0].messages)["feedback"] == "Mind the gap."


def test_it_ends() -> None:
    model = said(*["bad"] * 9)
    with pytest.raises(PartRefused, match=rf"scenarios/task: It is bad. \(asked {TRIES} times\)"):
        ask(model)
    assert len(model.requests) == TRIES


def test_an_answer_that_cannot_be_parsed_is_a_reply_error() -> None:
    with pytest.raises(ReplyError):
        ask(ScriptedModel(["no", "no", "no"]))


def test_a_long_answer_is_cut_in_the_feedback() -> None:
    model = said("x" * 9000, "good")
    ask(model)
    feedback = blocks(model.requests[1].messages)["feedback"]
    assert len(feedback) < 4200 and feedback.startswith("What you wrote was (the first 4000 characters):\n{")
    assert "x\n\nThis cannot" in feedback and feedback.endswith("It is bad."), (
        "no mark in it, and the fault last"
    )


def test_a_model_that_repeats_itself_is_asked_and_not_its_memory(tmp_path: Path) -> None:
    """Also where it repeats what it was told about from the start."""
    for number, feedback in enumerate(("", told("It is bad.", TaskText(task="bad")))):
        inner = said("bad", "bad", "good")
        model = CachedModel(inner, path=tmp_path / f"{number}.sqlite")
        assert ask(model, feedback=feedback).task == "good" and len(inner.requests) == 3
        assert len({request.key("m") for request in inner.requests}) == 3
        # Begun again, nothing is asked.
        assert ask(CachedModel(said(), path=tmp_path / f"{number}.sqlite"), feedback=feedback).task == "good"


def test_a_fault_that_is_new_is_told_as_it_stands() -> None:
    model = said("bad", "worse", "good")
    ask(model)
    feedback = [blocks(request.messages)["feedback"] for request in model.requests]
    assert feedback[1:] == [told("It is bad.", TaskText(task=task)) for task in ("bad", "worse")]


def test_who_wants_to_know_is_told_why_it_is_asked_again() -> None:
    heard: list[str] = []
    ask(said("bad", "worse", "good"), again=heard.append)
    assert heard == ["It is bad.", "It is bad."]
    ask(said("good"), again=heard.append)
    assert len(heard) == 2
