"""Skeletons: good parts become a class that loads, a bad part is asked for again, one bad method loses nothing."""

import ast
import json
from pathlib import Path

import library
import pytest
from library import METHODS, RULES, THEME, asked, author, fenced

from envscaler.error import PartRefused, ReplyError, SourceError, StoreError
from envscaler.model.connect import connect
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Task
from envscaler.skeletons import build_skeleton, build_skeletons, load_skeleton
from envscaler.themes import infer_theme


def test_a_theme_becomes_a_class_that_loads() -> None:
    skeleton = build_skeleton(THEME, author())
    assert skeleton.theme_id == THEME.id and skeleton.class_name == "VillageLibrary"
    assert [tool.name for tool in skeleton.tools] == list(METHODS)
    assert {tool.name for tool in skeleton.tools if tool.mutates} == library.WRITES
    assert [rule.text for rule in skeleton.rules] == RULES and all(rule.invariant for rule in skeleton.rules)
    assert skeleton.extra == {} and skeleton.origin and skeleton.origin.model == "scripted"
    assert ast.parse(skeleton.source)
    for tool in skeleton.tools:
        assert all(p.get("description") for p in tool.parameters["properties"].values()), tool.name


def test_a_rule_said_several_times_is_one_rule() -> None:
    """A weak model that says a rule without end does so again when it is given them all for the class."""
    once = json.loads(library.GOOD["skeletons/plan_state"]({}))
    often = json.dumps({**once, "rules": [*once["rules"], *once["rules"], once["rules"][0]]})
    model = author({"skeletons/plan_state": often})
    assert [rule.text for rule in build_skeleton(THEME, model).rules] == RULES
    assert asked(model, "skeletons/write_class")[0] == asked(author_of_once(), "skeletons/write_class")[0]


def author_of_once() -> ScriptedModel:
    model = author()
    build_skeleton(THEME, model)
    return model


def test_the_same_replies_make_the_same_id() -> None:
    assert build_skeleton(THEME, author()).id == build_skeleton(THEME, author()).id


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ("def get_member(member_id: str) -> dict:\n    '''Get.'''\n    return {}", "self"),
        ("def get_member(self, member_id: str) -> dict:\n    return {'success': True}", "docstring"),
        (
            "def fetch(self, member_id: str) -> dict:\n    '''Get.'''\n    return {}",
            "must be called get_member",
        ),
        ("def get_member(self, member_id) -> dict:\n    '''Get.'''\n    return {}", "annotation"),
        ("def get_member(self, **kw) -> dict:\n    '''Get.'''\n    return {}", "**kwargs"),
        ("async def get_member(self) -> dict:\n    '''Get.'''\n    return {}", "plain function"),
        ("@staticmethod\ndef get_member(self) -> dict:\n    '''Get.'''\n    return {}", "decorators"),
        ("def get_member(self, member_id: str) -> dict:\n    '''Get.'''\n    return {}", "describe"),
        ("def get_member(self) -> dict:\n    '''Get.'''", "returns nothing"),
        ("def get_member(self) -> List[Absent]:\n    '''Get.'''\n    return {}", "not defined"),
        ("def get_member(self):\n    '''Get.'''\n    return more()\n\n\ndef more(): ...", "nothing else"),
    ],
)
def test_a_faulty_method_is_asked_for_again_with_the_fault(fault: str, word: str) -> None:
    model = author({"skeletons/write_tool": [fenced(fault)]})
    assert build_skeleton(THEME, model).tool("get_member") is not None
    first, again, *_ = asked(model, "skeletons/write_tool")
    assert first["feedback"] == "" and word in again["feedback"]
    assert fault in again["feedback"], "the author sees what was written"


@pytest.mark.parametrize("bad", ["no code at all", fenced("def lend_book(self) -> dict:\n    return {}")])
def test_a_method_that_stays_bad_is_left_out_and_told(bad: str) -> None:
    def slip(b: dict[str, str], _: object) -> str | None:
        return bad if json.loads(b["tool"])["name"] == "find_book" else None

    model = author({"skeletons/write_tool": slip})
    made = build_skeletons([THEME], model, progress=False)
    assert [tool.name for tool in made[0].tools] == [name for name in METHODS if name != "find_book"]
    [failure] = made.failures
    assert failure.parent_id == THEME.id and failure.error == "ToolLeftOut" and "find_book" in failure.message
    tries = [b for b in asked(model, "skeletons/write_tool") if json.loads(b["tool"])["name"] == "find_book"]
    assert 3 <= len(tries) <= 9, "bounded"


def test_too_few_usable_tools_lose_the_environment_with_a_reason() -> None:
    made = build_skeletons([THEME], author({"skeletons/write_tool": "nothing"}), progress=False)
    assert not made and made.failures[0].error == "PartRefused"
    assert "at least 5 usable tools, got 0" in made.failures[0].message


def test_tools_of_one_kind_only_are_refused() -> None:
    def slip(b: dict[str, str], _: object) -> str:
        name = json.loads(b["tool"])["name"]
        return fenced(
            f"def {name}(self) -> dict:\n    '''Count.'''\n    return {{'success': True, 'data': 1}}"
        )

    with pytest.raises(PartRefused, match="all read"):
        build_skeleton(THEME, author({"skeletons/write_tool": slip}))


def test_the_source_has_the_last_word_on_what_mutates() -> None:
    plan = {"tools": [{**tool, "mutates": not tool["mutates"]} for tool in library.PLAN["tools"]]}
    skeleton = build_skeleton(THEME, author({"skeletons/plan_tools": [json.dumps(plan)]}))
    assert {tool.name for tool in skeleton.tools if tool.mutates} == library.WRITES


@pytest.mark.parametrize(
    ("tools", "word"),
    [
        (library.PLAN["tools"][:3], "at least 5"),
        ([*library.PLAN["tools"], library.PLAN["tools"][0]], "twice"),
        ([*library.PLAN["tools"], {"name": "_peek", "purpose": "", "mutates": False}], "_peek"),
        ([*library.PLAN["tools"], {"name": "books", "purpose": "", "mutates": False}], "books"),
    ],
)
def test_a_bad_plan_of_tools_goes_back(tools: list[dict], word: str) -> None:
    model = author({"skeletons/plan_tools": [json.dumps({"tools": tools})]})
    build_skeleton(THEME, model)
    assert word in asked(model, "skeletons/plan_tools")[1]["feedback"]


@pytest.mark.parametrize(
    ("head", "word"),
    [
        (library.HEAD.replace("class VillageLibrary", "class Library"), "VillageLibrary"),
        (library.HEAD.replace("self.loans: dict[str, Loan] = {}", "pass"), "self.loans"),
        (library.HEAD + "\n    def peek(self) -> dict:\n        return {}\n", "peek"),
        (library.HEAD.split("    def __init__")[0], "__init__"),
        (library.HEAD.replace("copies: int", "copies: list[Loan]"), "'Loan' is not defined"),
    ],
)
def test_a_bad_class_goes_back(head: str, word: str) -> None:
    model = author({"skeletons/write_class": [fenced(head)]})
    build_skeleton(THEME, model)
    assert word in asked(model, "skeletons/write_class")[1]["feedback"]


def test_a_class_that_does_not_load_is_a_failure_not_a_crash() -> None:
    head = library.HEAD.replace("self.next_loan: int = 1", "self.next_loan: int = 1 // 0")
    made = build_skeletons([THEME], author({"skeletons/write_class": fenced(head)}), progress=False)
    assert not made and "ZeroDivision" in made.failures[0].message


def test_an_invariant_that_raises_goes_back_and_is_dropped_when_it_stays_bad() -> None:
    bad = json.dumps(
        {"reason": "", "source": "def invariant(before, after, call):\n    return after['x'] > 1"}
    )

    def slip(b: dict[str, str], _: object) -> str | None:
        return bad if b["rule"] == RULES[0] else None

    model = author({"skeletons/write_invariant": slip})
    first, second = build_skeleton(THEME, model).rules
    assert first.text == RULES[0] and first.invariant is None and second.invariant
    assert any(b["feedback"] for b in asked(model, "skeletons/write_invariant"))


def test_a_rule_may_have_no_invariant() -> None:
    null = json.dumps({"reason": "It speaks of manners.", "source": None})
    assert all(
        r.invariant is None for r in build_skeleton(THEME, author({"skeletons/write_invariant": null})).rules
    )


def test_a_model_that_answers_nonsense_gives_a_failure() -> None:
    with pytest.raises(ReplyError):
        build_skeleton(THEME, author({"skeletons/plan_state": "I would rather not."}))


def test_a_class_a_person_wrote(tmp_path: Path) -> None:
    skeleton = load_skeleton(library.write_file(tmp_path), title="My library")
    assert skeleton.title == "My library" and skeleton.theme_id == "" and skeleton.extra == {}
    assert skeleton.summary == "A village library with members, books and loans."
    assert [rule.text for rule in skeleton.rules] == RULES
    assert [(e.name, e.table, len(e.attributes)) for e in skeleton.state] == [
        ("Member", "members", 3), ("Book", "books", 3), ("Loan", "loans", 5)
    ]  # fmt: skip
    copies = next(a for e in skeleton.state for a in e.attributes if a.name == "copies")
    assert (copies.type, copies.description) == ("int", "at least 1")
    assert {tool.name for tool in skeleton.tools} == set(METHODS)


def test_what_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is none"):
        load_skeleton(tmp_path / "absent.py")
    for text, word in (
        ("class A:\n    def x(self:", "parse"),
        ("x = 1", "class"),
        ("class A:\n    def __init__(self): pass", "public methods"),
        ("class A:\n    def __init__(self, initial_state=None):\n        raise ValueError('broken')\n\n"
         "    def read(self) -> dict:\n        return {}", "broken"),
    ):  # fmt: skip
        (tmp_path / "bad.py").write_text(text)
        with pytest.raises(SourceError, match=word):
            load_skeleton(tmp_path / "bad.py")


REQUESTS = (
    "Please book a double room in our hotel for two nights.",
    "Transfer 50 EUR from my savings account to my bank card.",
)


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_built_in_model_writes_a_whole_world(request_: str) -> None:
    model = connect("builtin", fault_rate=0)
    skeleton = build_skeleton(infer_theme(Task(text=request_, stateful=True), model), model)
    assert 14 <= len(skeleton.tools) <= 25 and 2 <= len(skeleton.state) <= 6 and 3 <= len(skeleton.rules) <= 8
    assert sum(rule.invariant is not None for rule in skeleton.rules) >= 0.8 * len(skeleton.rules)
