"""Replies as models write them, good, odd and broken."""

import ast
import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict
from replies_table import CLASSES, TABLE, Shape

from envscaler.acting.user import UserTurn
from envscaler.auditing.probing import Choice, Judgement
from envscaler.error import ReplyError
from envscaler.model.ask import ask
from envscaler.model.reply import Code, JsonObject, parse, parse_code, read_json, schema_of, split_thinking
from envscaler.model.request import Reply
from envscaler.model.scripted import ScriptedModel
from envscaler.model.strict import strict_schema
from envscaler.posing.drafting import Checklist, TaskText, Witness
from envscaler.skeletons import Invariant, StatePlan, ToolsPlan
from envscaler.themes import Inferred
from envscaler.world.outline import method_in, method_problem


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    reason: str
    stateful: bool


def judge(text: str, finish: str = "stop") -> Answer:
    return parse(Reply(text, finish=finish), Answer)


GOOD = '{"reason": "r", "stateful": true}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  \n{GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"```JSON\n{GOOD}",
        f"~~~\n{GOOD}\n~~~",
        f"````json\n{GOOD}\n````",
        f"   ```json\n   {GOOD}\n   ```",
        f"Sure! Here it is:\n\n```json\n{GOOD}\n```\n\nAnything else?",
        f"Here it is: {GOOD} - I hope it helps.",
        f"<think>maybe {{no}}</think>\n{GOOD}",
        f"thinking … {{\n</think>{GOOD}",
        '{"reason": "r", "stateful": true,}',
        "{'reason': 'r', 'stateful': True}",
        "{“reason”: “r”, “stateful”: true}",
        '{reason: "r", stateful: true}',
        '{"reason": "r"\n "stateful": true}',
        '{"reason": "r", // why\n"stateful": true}',
        '{"reason": "r", "stateful": TRUE}',
        '\ufeff{"reason": "r", "stateful": true}',
        # A model that corrects itself: the last one counts.
        f'{{"reason": "long first thought", "stateful": false}}\nNo, wait:\n{GOOD}',
        # An example of the form that does not fit is passed over.
        f'The form is {{"reason": "…", "stateful": "…"}}. So: {GOOD}',
        f"{GOOD}\nwhere {{x}} is nothing.",
    ],
)
def test_what_is_meant_is_read(text):
    assert judge(text) == Answer(reason="r", stateful=True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty reply"),
        ("<think>I wonder</think>", "empty reply"),
        ("YES", "got text without one: 'YES'"),
        ("[1, 2]", "whole"),
        ('"text"', "without one"),
        ("null", "without one"),
        ("{}", "reason: Field required"),
        ('{"reason": "r", "stateful": "perhaps"}', "stateful: Input should be a valid boolean.*perhaps"),
        ('{"reason": "r", "stateful": true, "x": 1}', "x: Extra inputs"),
        ('{"reason": "r", "stateful": true, "reason": "s"}', "'reason' twice"),
        ('{"reason": "r", "stateful": true', "ends in"),
        ('{"reason": "r", "stateful": tr', "ends in"),
        ('{"reason": {"a": {"b": 1}, "c": {"d": 2}', "ends in"),
        ('{"reason": "\\ud83d", "stateful": true}', "surrogate"),
        ("{" * 100_000, "in each other"),
        ("[" * 100_000 + "]" * 100_000, "in each other"),
        ("{garbage in, garbage out}", "Expected"),
        ("x" * 1_000_001, "at most 1,000,000"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words_for_the_model(text, told):
    with pytest.raises(ReplyError, match=told):
        judge(text)


def test_a_reply_that_was_cut_off_is_told_so_and_never_completed():
    with pytest.raises(ReplyError, match="cut off at its length limit"):
        judge('{"reason": "r", "stateful": true', finish="length")
    with pytest.raises(ReplyError, match="cut off"):
        judge("", finish="length")
    assert judge(GOOD, finish="length").stateful


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "nan"])
@pytest.mark.parametrize("comma", ["", ","])
def test_numbers_that_are_none_are_refused_also_by_repair(number, comma):
    with pytest.raises(ReplyError):
        read_json(f'{{"a": {number}{comma}}}')


def test_a_text_that_speaks_of_nan_is_a_text():
    assert read_json('{"a": "NaN", "b": "is it NaN?",}') == {"a": "NaN", "b": "is it NaN?"}


def arrays(schema: object, place: str = "") -> Iterator[tuple[str, dict]]:
    """Every array in a schema, and where it stands."""
    if isinstance(schema, dict):
        if schema.get("type") == "array":
            yield place, schema
        for word, part in schema.items():
            yield from arrays(part, f"{place}/{word}")


ASKED = (StatePlan, ToolsPlan, Invariant, Choice, Judgement, TaskText, Checklist, Witness, UserTurn, Inferred)


@pytest.mark.parametrize("answer", ASKED, ids=lambda answer: answer.__name__)
def test_every_list_a_model_is_asked_for_ends(answer):
    """A server that enforces the schema closes a list that runs on; strict mode keeps the bound."""
    for made in (schema_of(answer), strict_schema(schema_of(answer)) or {}):
        assert not [place for place, array in arrays(made) if not 0 < array.get("maxItems", 0) <= 40]


def test_a_list_longer_than_its_bound_is_read_all_the_same():
    plan = {"class_name": "Many", "entities": [], "rules": [f"Rule {n}." for n in range(100)]}
    assert len(parse(Reply(json.dumps(plan)), StatePlan).rules) == 100


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
        ),
        max_leaves=12,
    )
)
def test_json_is_read_as_json_reads_it(value):
    assert read_json(json.dumps(value)) == value
    wrapped = f"Of course:\n```json\n{json.dumps({'v': value}, indent=1)}\n```\nDone."
    assert parse(Reply(wrapped), JsonObject) == {"v": value}


def test_a_text_with_fences_inside_its_json_is_not_torn_apart():
    meant = {"source": "```python\ndef f():\n    return '{'\n```", "n": "}"}
    assert parse(Reply(json.dumps(meant, indent=1)), JsonObject) == meant
    assert parse(Reply(f"Here: {json.dumps(meant)} and so on"), JsonObject) == meant


def test_of_several_objects_the_free_form_answer_is_the_longest():
    assert parse(Reply('For instance {"a": 1}.\n{"rooms": {"R1": {"id": "R1"}}}\nand {}'), JsonObject) == {
        "rooms": {"R1": {"id": "R1"}}
    }
    with pytest.raises(ReplyError, match="JSON object"):
        parse(Reply("[[1], [2]]"), JsonObject)


def test_plain_text_is_taken_as_it_is():
    assert parse(Reply("<think>x</think>\n hello\n"), str) == "hello"


def test_schemas():
    assert schema_of(Answer)["required"] == ["reason", "stateful"]
    assert schema_of(JsonObject) == {"type": "object"}
    assert schema_of(Code) is None and schema_of(str) is None


@given(st.text(), st.text())
def test_thinking_is_parted_from_the_answer(thought, answer):
    if "think" in thought + answer or answer != answer.strip("\n"):
        return
    assert split_thinking(f"<think>{thought}</think>\n\n{answer}") == (answer, thought.strip())
    assert split_thinking(answer) == (answer, "")


def test_a_tag_inside_a_json_string_parts_nothing():
    meant = {"reason": "it ends with </think> and goes on", "stateful": True}
    assert split_thinking(json.dumps(meant)) == (json.dumps(meant), "")
    assert judge(json.dumps(meant)).reason == meant["reason"]
    assert judge(f"I wonder {{</think>{json.dumps(meant)}").reason == meant["reason"]


METHOD = 'def f(self, x: int) -> dict:\n    """Doc."""\n    return {"a": x}\n'


@pytest.mark.parametrize(
    "text",
    [
        METHOD,
        f"```python\n{METHOD}```",
        f"```py\n{METHOD}\n```\n",
        f"```\n{METHOD}```",
        f"``` python\n{METHOD}```",
        f"```python\n{METHOD}",
        f"{METHOD}```",
        f"python\n{METHOD}",
        f"Here is the method:\n\n```python\n{METHOD}```\n\nUse it so:\n\n```python\ne.f(1)\n```",
        f"Here is the method:\n\n{METHOD}\n\nIt returns a dict. Don't forget x.",
        f"{METHOD}\n**Explanation**: it's simple.",
        "```python\n" + "".join(f"    {line}\n" for line in METHOD.splitlines()) + "```",
        "".join(f"    {line}\n" for line in METHOD.splitlines()),
        f"<think>```python\ndef g(): pass\n```</think>```python\n{METHOD}```",
        METHOD.replace("\n", "\r\n"),
    ],
)
def test_the_python_in_a_reply_is_found(text):
    assert parse(Reply(text), Code) == METHOD.replace("\r\n", "\n")


def test_of_several_blocks_the_longest_that_parses_counts():
    text = f"```python\n{METHOD}```\nor\n```python\ndef broken(:\n    # {'x' * 200}\n```"
    assert parse_code(text) == METHOD


def test_a_fence_inside_a_docstring_does_not_end_the_block():
    source = 'def f():\n    """Say\n\n    >>> ```x```\n    """\n    return 1\n'
    assert parse_code(f"```python\n{source}```") == source


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("I cannot do that.", "Expected"),
        ("garbage", "function or a class"),
        ("x = 1\n", "function or a class"),
        ("```python\ndef f(:\n    pass\n```", r"line 1.*def f\(:"),
        ("```python\ndef f():\n    x = 1\n     y = 2\n```", "line 3"),
        ("def f():\n    return 1\x00", "parses"),
        ("def f():\n    return " + "(" * 5000, "Expected"),
        ("def f():\n    x = [1, 2\n\ndef g():\n    return 1\n", "never closed"),
    ],
)
def test_what_is_no_python_is_refused_with_its_line(text, told):
    with pytest.raises(ReplyError, match=told):
        parse(Reply(text), Code)


def test_code_after_a_fault_is_never_cut_away():
    # Half a class would pass for a whole one.
    with pytest.raises(ReplyError, match="line 5"):
        parse_code(
            "class A:\n    def f(self):\n        return 1\nThis is - broken\n    def g(self):\n        return 2\n"
        )


@given(st.text())
def test_whatever_comes_is_an_answer_or_a_reply_error(text):
    for kind in (Answer, Code, JsonObject):
        try:
            parse(Reply(text), kind)
        except ReplyError as error:
            assert str(error)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n" + "prose line\n" * 60_000,
        "import x\n" * 60_000,
        "```\n" * 100_000,
        "{" * 300_000 + "}",
        '{"a": ' * 50_000 + "}",
        "{'a': [" + "1, " * 100_000 + "]}",
        "{} " * 100_000,
        '{"a": "' + '\\"' * 100_000,
        "[" * 3_000 + "]" * 3_000,
        "<think>" * 50_000,
        "x" * 900_000 + "</think>",
    ],
    ids=lambda text: text[:8],
)
@pytest.mark.parametrize("kind", [Answer, Code, JsonObject])
def test_a_giant_reply_does_not_hang(text, kind):
    begun = time.process_time()
    with suppress(ReplyError):
        parse(Reply(text), kind)
    assert time.process_time() - begun < 10


@pytest.fixture(scope="module")
def weak() -> list[dict]:
    """What a small real model wrote, where it is there."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "replies" / "weak_model.json"
    path = Path(os.environ.get("ENVSCALER_WEAK_REPLIES", shared))
    if not path.is_file():
        pytest.skip(f"no replies of a weak model at {path}; set ENVSCALER_WEAK_REPLIES")
    return json.loads(path.read_text())


def test_what_a_weak_model_wrote_parses_where_it_is_python_at_all(weak):
    assert all(ast.parse(parse_code(theme["class_definition"])) for theme in weak)
    methods = [tool["code"] for theme in weak for tool in theme["tools"]]
    parsed = 0
    for code in methods:
        try:
            parsed += bool(parse(Reply(code or ""), Code))
        except ReplyError:
            continue
    assert (len(methods), parsed) == (33, 28)


def test_json_too_deep_for_a_record_is_refused() -> None:
    with pytest.raises(ReplyError, match="in each other"):
        parse(Reply('{"a":' * 300 + "1" + "}" * 300), JsonObject)
    assert parse(Reply('{"a":' * 90 + "[]" + "}" * 90), JsonObject)


def test_any_number_of_values_in_a_reply_takes_a_bounded_time() -> None:
    begun = time.perf_counter()
    assert parse(Reply("{}" * 400_000 + ' {"a": 1}'), JsonObject) == {"a": 1}
    assert time.perf_counter() - begun < 20


# The table


def read_shape(shape: Shape) -> object:
    """What a stage makes of a reply; the reason, for one that is refused."""
    try:
        answer = parse(
            Reply(shape.text, reasoning=shape.reasoning, finish=shape.finish), CLASSES[shape.asked]
        )
    except ReplyError as error:
        return error
    if shape.asked == "method":
        answer = method_in(answer, "count_copies")
        if problem := method_problem(answer, "count_copies"):
            return ReplyError(problem)
    return answer.model_dump() if isinstance(answer, BaseModel) else answer


@pytest.mark.parametrize("shape", TABLE, ids=lambda shape: f"{shape.asked}: {shape.name}")
def test_a_reply_of_any_shape_is_read_exactly_or_refused_by_its_fault(shape):
    made = read_shape(shape)
    if shape.told:
        assert isinstance(made, ReplyError) and shape.told in str(made)
        assert len(str(made)) < 1500, "it goes back to the model"
    else:
        assert made == shape.gives


def test_the_table_is_large_and_of_all_kinds():
    assert len({(s.asked, s.name) for s in TABLE}) == len(TABLE) >= 60
    assert {s.asked for s in TABLE} == set(CLASSES)
    assert 40 <= sum(bool(s.told) for s in TABLE) <= len(TABLE) - 40


REFUSED = [s for s in TABLE if s.told and s.asked != "method"]


@pytest.mark.parametrize("shape", REFUSED, ids=lambda shape: f"{shape.asked}: {shape.name}")
def test_the_reason_is_told_to_the_model_a_bounded_number_of_times(shape):
    reply = Reply(shape.text, reasoning=shape.reasoning, finish=shape.finish)
    model = ScriptedModel(lambda request: reply)
    with pytest.raises(ReplyError):
        ask(model, "tasks/judge", {"request": "x"}, CLASSES[shape.asked])
    assert len(model.requests) == 3
    assert shape.told in model.requests[1].messages[-1]["content"]


# JSON that is almost JSON

ODD = [
    "it's",
    "a, b",
    "x: y",
    "# no",
    "http://a.b",
    'he said "hi"',
    "line\nbreak",
    "C:\\dir",
    " padded ",
    "{brace}",
    "[1]",
    "True",
    "None",
    "1.50",
    "é’“”",
    "\n/* c */",
    "a\\nb",
    "'q'",
    "end\n",
    "...",
    "]",
    "😀",
    ",}",
    "' or '",
]
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(ODD)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


def written(value: dict, way: str) -> str:
    """A JSON value as one or another model writes it down."""
    if way == "python":
        return repr(value)
    plain = json.dumps(value, ensure_ascii=False, indent=1)
    if way == "comma":
        return f"{plain[:-1]},}}"
    if way == "no commas":
        return plain.replace('",\n', '"\n')
    if way == "comment":
        return f"{plain[:-1]}, // done\n}}"
    return plain.replace('": ', "': ").replace('{\n "', "{\n '")


@given(
    st.dictionaries(words, values, min_size=1, max_size=3),
    st.sampled_from(["python", "comma", "no commas", "comment", "quotes"]),
)
def test_what_is_mended_is_what_was_meant_and_the_rest_refused(value, way):
    try:
        read = read_json(written(value, way))
    except ReplyError:
        # Only where quotes were confused can nobody say what was meant.
        assert way == "quotes"
    else:
        assert read == value


@given(st.text(alphabet="{}[]\",:'\\ \n/#*+atrue01.-“”", max_size=60))
def test_no_text_breaks_the_reader_of_json(text):
    with suppress(ReplyError):
        json.dumps(read_json("{" + text + "}"), allow_nan=False)
