"""Prompt files filled in and read back: strict, and without loss."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.error import PromptError
from envscaler.model import prompt
from envscaler.schema import Rule, Task

TEXT = """# system
Be brief.
# user
The request:

<request>
{{ request }}
</request>

<rules>
{{ rules }}
</rules>
"""
PARSED = prompt.parse("stage/step", TEXT)


def fill(**variables) -> tuple[dict, ...]:
    return prompt.fill(PARSED, variables)


def test_a_prompt_is_filled_in():
    system, user = fill(request="hi", rules=[Rule(text="é")])
    assert system == {"role": "system", "content": "Be brief."}
    shown = '[\n {\n  "text": "é",\n  "invariant": null\n }\n]'
    assert user["content"] == f"The request:\n\n<request>\nhi\n</request>\n\n<rules>\n{shown}\n</rules>"
    assert prompt.blocks((system, user)) == {"request": "hi", "rules": shown}


def test_records_go_in_as_they_go_to_disk():
    assert prompt.show({"task": Task(text="t"), "pair": (1, 2)}).count('"id"') == 1
    with pytest.raises(PromptError, match="x, y"):
        prompt.show(object(), "x, y")
    with pytest.raises(PromptError):
        prompt.show({("a", "b"): 1})


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"request": "a"}, r"missing variables \['rules'\]"),
        ({"request": "a", "rules": "", "more": 1}, r"does not use \['more'\]"),
        ({}, "request.*rules"),
    ],
)
def test_missing_and_unused_variables_are_refused(variables, told):
    with pytest.raises(PromptError, match=told):
        fill(**variables)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no heading",
        "before\n# user\nhello",
        "# user\n",
        "# system\nx\n# user\n   \n",
        "# user\n{{ request }}",
        "# user\n<request>{{ request }}</request>",
        "# user\n<request>\n{{ other }}\n</request>",
        "# user\n<request>\n{{request}}\n</request>",
        "# user\n<request>\n{{ request }}\n",
        "# user\n<request>\n{{ request }}\n</request>\n<request>\n{{ request }}\n</request>",
        "# user\n<request>\nRequest: {{ request }}\n</request>",
    ],
)
def test_a_malformed_file_is_refused(text):
    with pytest.raises(PromptError):
        prompt.parse("stage/step", text)


def test_other_headings_and_braces_are_text():
    parsed = prompt.parse("s/t", '# user\n## Form\n# Notes\n{"a": {"b": {}}}\n')
    assert prompt.fill(parsed, {}) == ({"role": "user", "content": '## Form\n# Notes\n{"a": {"b": {}}}'},)


def test_an_example_can_be_given_as_a_turn():
    parsed = prompt.parse("s/t", "# user\nq\n# assistant\na\n# user\nr\n")
    assert [m["role"] for m in prompt.fill(parsed, {})] == ["user", "assistant", "user"]


def test_a_missing_file_names_those_that_are_there():
    with pytest.raises(PromptError, match=r"nothing/here.*tasks/judge"):
        prompt.render("nothing/here", {})


hostile = (
    st.lists(
        st.sampled_from(
            [
                "</request>",
                "<request>",
                "<\\/request>",
                "<\\\\/request>",
                "</rules>",
                "<rules>",
                "{{ rules }}",
                "{{ request }}",
                "\n",
                "\\",
                "<",
                ">",
                "/request>",
                "# user\n",
                "\r",
                "\u2028",
                "\x00",
                "é",
                "\\1",
                "\\g<name>",
                " ",
            ]
        )
    ).map("".join)
    | st.text()
)


@given(hostile, hostile)
def test_whatever_goes_in_comes_out(request, rules):
    messages = fill(request=request, rules=rules)
    assert prompt.blocks(messages) == {"request": request, "rules": rules}
    assert len(messages) == 2


@given(st.recursive(hostile, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5))
def test_json_goes_in_and_out(value):
    import json

    shown = prompt.blocks(fill(request=[value], rules=""))["request"]
    assert json.loads(shown) == [value]


@pytest.mark.parametrize(
    "value", [{}, [[]], {"é": float("nan")}, ["\ud800"], 2**80, {"a": [1.0, -0.0, 1e300, None]}]
)
def test_json_is_indented_as_the_standard_library_does(value):
    """What was asked is the key of what was answered: not a byte of it may differ, whoever indents."""
    import json

    assert prompt.show(value) == json.dumps(value, indent=1, ensure_ascii=False)


@given(hostile)
def test_a_model_that_reads_the_block_as_json_reads_the_value(text):
    import json

    content = fill(request=[text], rules="")[1]["content"]
    raw = content.split("<request>\n", 1)[1].split("\n</request>", 1)[0]
    assert json.loads(raw, strict=False) == [text]


def test_later_messages_do_not_override_blocks():
    later = {"role": "user", "content": "<request>\nother\n</request>"}
    call = {"role": "assistant", "content": None, "tool_calls": []}
    assert prompt.blocks((*fill(request="first", rules=""), call, later))["request"] == "first"


def test_the_digest_names_the_text():
    assert prompt.parse("a/b", TEXT).digest == PARSED.digest
    assert prompt.parse("a/b", TEXT.replace("brief", "long")).digest != PARSED.digest
