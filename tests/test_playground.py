"""The playground: calls, undo, rewind, forks, forms, files; what cannot be done is said and changes nothing."""

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import worlds
from IPython.core.formatters import DisplayFormatter

from envscaler.error import ParameterError, SourceError, StoreError
from envscaler.schema import Call, Tool
from envscaler.show.playground import Playground

LEND = {"book_id": "B-1", "member": 7}


@pytest.fixture
def playground() -> Iterator[Playground]:
    playground = Playground(worlds.skeleton(), worlds.scenario())
    yield playground
    playground.close()


def test_a_call_gives_a_reply_a_diff_and_a_row(playground: Playground) -> None:
    reply = playground.call("lend", LEND)
    assert reply["success"] and playground.place == 1
    [row] = playground.history.to_dict("records")
    assert (row["step"], row["tool"], row["arguments"], row["success"], row["done"]) == (
        1,
        "lend",
        LEND,
        True,
        True,
    )
    assert "books/B-1" in row["changed"] and row["reply"] == reply
    shown = playground._page.value
    assert "es-del" in shown and "es-add" in shown and "Lent." in shown and "step 1" in shown


def test_a_slip_is_a_reply(playground: Playground) -> None:
    for tool, arguments in (
        ("lent", LEND),
        ("lend", {"book": 1}),
        ("lend", "no JSON"),
        ("_helper", {}),
        ("lend", None),
    ):
        assert playground.call(tool, arguments)["success"] is False
    assert playground.state["books"] == worlds.STATE["books"] and playground.place == 5
    assert not playground.history["success"].any()


def test_one_goes_back_on_and_another_way(playground: Playground) -> None:
    states = [playground.state]
    for book in ("B-1", "B-2", "B-1"):
        playground.call("lend", {"book_id": book, "member": 7})
        states.append(playground.state)
    playground.undo()
    assert playground.place == 2 and playground.state == states[2] and len(playground.calls) == 2
    playground.rewind(0)
    assert playground.state == states[0] and "The beginning." in playground._page.value
    playground.undo()
    assert playground.place == 0 and playground._undo.disabled
    playground.rewind(3)
    assert playground.state == states[3]
    playground.rewind(1)
    assert list(playground.history["done"]) == [True, False, False]
    playground.call("get_book", {"book_id": "B-1"})
    assert [call.tool for call in playground.calls] == ["lend", "get_book"] and len(playground.history) == 2


def test_a_call_that_json_cannot_hold_is_refused_or_travels_as_json_has_it(
    playground: Playground, tmp_path: Path
) -> None:
    for odd in (
        {1: 2},
        {None: 1},
        {"a": {1: 2}},
        {"a": float("nan")},
        {"a": object()},
        {"a": {1}},
        {"a": b"x"},
    ):
        assert playground.call("lend", odd)["success"] is False
    assert playground.calls[0].arguments == {"1": 2} and playground.calls[3].arguments == {}
    kept = playground.calls
    playground.load(playground.save(tmp_path / "calls.jsonl"))
    assert playground.calls == kept
    playground.call("\ud800")
    with pytest.raises(StoreError, match="whole characters"):
        playground.save(tmp_path / "more.jsonl")
    for odd in (object(), b"x", (1, 2)):
        with pytest.raises(ParameterError, match="arguments as an object"):
            playground.call("lend", odd)


def test_a_playground_that_cannot_be_made_goes_in_silence(recwarn: pytest.WarningsRecorder) -> None:
    broken = worlds.skeleton().replace(source="class Library:\n    def __init__(self): 1 / 0\n")
    for error, act in (
        (SourceError, lambda: Playground(broken)),
        (ParameterError, lambda: Playground(None)),  # type: ignore[arg-type]
        (ParameterError, lambda: Playground(worlds.skeleton(), seed=-1)),
        (ParameterError, lambda: Playground(worlds.skeleton(), seed=None)),  # type: ignore[arg-type]
    ):
        with pytest.raises(error):
            act()
        gc.collect()
    # What goes wrong while Python throws a widget away is a warning of pytest's.
    assert not [
        str(w.message) for w in recwarn if issubclass(w.category, pytest.PytestUnraisableExceptionWarning)
    ]


@pytest.mark.parametrize("step", [-1, 2, True, 1.0, "1", None])
def test_there_is_no_such_step(playground: Playground, step: object) -> None:
    playground.call("lend", LEND)
    with pytest.raises(ParameterError, match="step from 0 to 1"):
        playground.rewind(step)  # type: ignore[arg-type]
    assert playground.place == 1


def test_after_going_back_ids_and_draws_come_out_the_same(playground: Playground) -> None:
    first = playground.call("lend", LEND)
    playground.undo()
    assert playground.call("lend", LEND) == first


def test_a_fork_is_independent(playground: Playground) -> None:
    playground.call("lend", LEND)
    fork = playground.fork()
    assert fork.state == playground.state and fork.calls == playground.calls
    fork.call("lend", {"book_id": "B-2", "member": 7})
    assert playground.place == 1 and playground.state["books"]["B-2"]["copies"] == 1
    fork.rewind(0)
    assert fork.state["books"] == worlds.STATE["books"] and playground.state["books"]["B-1"]["copies"] == 1
    assert playground.forks == [fork] and fork in playground._below.children[0].children
    again = playground.fork()
    assert playground.call("lend", LEND) == again.call("lend", LEND)


def test_the_list_of_steps_goes_to_a_step(playground: Playground) -> None:
    playground.call("lend", LEND)
    playground.call("lend", LEND)
    assert [value for _, value in playground.steps.options] == [0, 1, 2] and playground.steps.value == 2
    playground.steps.value = 1
    assert playground.place == 1 and "taken back" in playground.steps.options[2][0]


def test_the_form_makes_the_call(playground: Playground) -> None:
    playground.tool.value = "lend"
    assert set(playground.form.fields) == {"book_id", "member", "note"}
    playground.form.write(LEND)
    playground._buttons["call"].click()
    assert playground.place == 1 and playground.last is not None and playground.last.call.arguments == LEND
    playground.form.fields["member"].control.widget.value = "Ada"
    playground.submit()
    assert playground.place == 1 and "whole number like 3, got &#x27;Ada&#x27;" in playground._page.value


def test_a_witness_can_be_played_and_the_checks_asked(playground: Playground) -> None:
    assert [outcome.passed for outcome in playground.outcomes] == [False, True]
    replies = playground.replay(worlds.scenario().witness)
    assert len(replies) == 2 and [outcome.passed for outcome in playground.outcomes] == [True, True]
    playground._ask()
    assert "bystanders" in playground._page.value
    with pytest.raises(ParameterError, match="leads nowhere"):
        playground.replay([Call(tool="get_book", arguments={"book_id": {"$from": [4, "x"]}})])


def test_a_bare_state_has_no_checks() -> None:
    playground = Playground(worlds.skeleton(), worlds.STATE)
    with pytest.raises(ParameterError, match="bare state"):
        _ = playground.outcomes
    assert "B-1" in playground.state["books"]
    empty = Playground(worlds.skeleton())
    assert empty.state["books"] == {} and empty.call("get_book", {"book_id": "B-1"})["success"] is False


def test_calls_are_saved_and_made_again(playground: Playground, tmp_path: Path) -> None:
    playground.call("lend", LEND)
    playground.call("lend", {"book_id": "B-2", "member": 7, "note": "für Zoë"})
    playground.call("get_book", {"book_id": "B-2"})
    playground.undo()
    path = playground.save(tmp_path / "deep" / "calls.jsonl")
    assert [json.loads(line)["tool"] for line in path.read_text().splitlines()] == ["lend", "lend"]
    other = Playground(worlds.skeleton(), worlds.scenario())
    other.call("get_book", {"book_id": "B-1"})
    replies = other.load(path)
    assert other.state == playground.state and other.calls == playground.calls and len(replies) == 2


@pytest.mark.parametrize("line", ["nonsense", '{"tool": "lend"}', "[1]", '{"tool": 1, "arguments": {}}'])
def test_a_file_that_holds_no_calls_changes_nothing(
    playground: Playground, tmp_path: Path, line: str
) -> None:
    playground.call("lend", LEND)
    path = tmp_path / "calls.jsonl"
    path.write_text('{"tool": "get_book", "arguments": {}}\n' + line + "\n")
    with pytest.raises(StoreError, match=r"calls\.jsonl:2"):
        playground.load(path)
    assert playground.place == 1
    with pytest.raises(StoreError):
        playground.load(tmp_path / "absent.jsonl")


def test_a_world_that_hangs_again_and_again_is_still_there() -> None:
    world = worlds.tool("import time\nself.n += 1\ntime.sleep = None\nwhile True: pass")
    playground = Playground(world, {"n": 3})
    playground._environment._timeout = playground._environment._live._timeout = 0.2
    for _ in range(4):
        assert playground.call("run", {})["success"] is False
    assert playground.call("count", {}) == {"success": True, "data": 4} and playground.place == 5
    playground.undo()
    assert playground.state["n"] == 3


def test_a_class_that_does_not_load_says_so() -> None:
    with pytest.raises(SourceError):
        Playground(
            worlds.skeleton("class World:\n    def __init__(self, s=None):\n        1 / 0\n"), {"a": 1}
        )


def test_a_world_without_tools_is_no_error() -> None:
    playground = Playground(
        worlds.skeleton("class World:\n    def __init__(self, s=None):\n        self.n = 0\n")
    )
    assert "no tool" in playground._about.value and playground.state == {"n": 0}
    playground.submit()
    assert "Expected a tool" in playground._page.value


def test_hostile_schemas_and_texts_stay_text() -> None:
    evil = "<script>alert(1)</script>\0\u202e" + "x" * 50_000
    world = worlds.skeleton()
    tools = [Tool(name="lend", description=evil, parameters={"properties": {evil: 3}}, mutates=True)]
    playground = Playground(world.replace(title=evil, tools=tools), {"books": {evil: evil}})
    playground.seeing.value = True
    playground.call(evil, {evil: evil})
    shown = (
        playground._repr_html_()
        + playground._about.value
        + playground.form.fields[evil].widget.children[0].value
    )
    assert "<script" not in shown and "\0" not in shown and len(shown) < 400_000


def test_a_notebook_gets_the_widget_and_its_static_form(playground: Playground) -> None:
    playground.call("lend", LEND)
    shown, _ = DisplayFormatter().format(playground)
    assert {"application/vnd.jupyter.widget-view+json", "text/html"} <= set(shown)
    assert "lend" in shown["text/html"] and "What changed" in shown["text/html"]
