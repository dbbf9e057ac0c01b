"""Models that answer from a script."""

import pytest

from envscaler.error import ModelError
from envscaler.model.request import Reply, Request
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Usage

ASKED = Request("tasks/judge", ({"role": "user", "content": "q"},))


def test_a_script_is_followed_to_its_end():
    model = ScriptedModel(["a", Reply("b"), ValueError("c")], name="s", workers=3)
    assert (model.name, model.workers) == ("s", 3)
    assert [model.answer(ASKED).text for _ in range(2)] == ["a", "b"]
    with pytest.raises(ValueError, match="c"):
        model.answer(ASKED)
    with pytest.raises(ModelError, match="no reply left for call 4"):
        model.answer(ASKED)
    assert model.requests == [ASKED] * 4


def test_a_function_may_answer():
    model = ScriptedModel(lambda request: request.messages[0]["content"] * 2)
    assert model.answer(ASKED).text == "qq"
    assert model.ledger.total == Usage(calls=1)
