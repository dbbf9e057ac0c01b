"""The audit inspector: driven from a cell it chooses, turns pages, takes verdicts, runs edited tools."""

import html
import json
from pathlib import Path

import pytest
import worlds
from IPython.core.formatters import DisplayFormatter
from traitlets import TraitError

from envscaler.auditing.probing import judge_by
from envscaler.error import EnvscalerError, ParameterError, StoreError
from envscaler.model.connect import connect
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Audit, Call, Probe, Skeleton, Tool
from envscaler.show.inspector import AuditInspector
from envscaler.show.rerun import reruns_html
from envscaler.show.view import method_text
from envscaler.world.environment import Environment

SOURCE = """class Library:
    def renew(self):
        return {'old': True}

    def list_loans(self):
        return {}
"""
INTENTS = ("positive", "boundary", "negative")
VERDICTS = ("pass", "warning", "fail")


def skeleton_of(title: str = "Library", source: str = SOURCE) -> Skeleton:
    tools = [Tool(name=name, parameters={}, mutates=True) for name in ("renew", "list_loans")]
    return Skeleton(
        theme_id="",
        title=title,
        summary="",
        class_name="Library",
        source=source,
        state=[],
        rules=[],
        tools=tools,
    )


def probes_of(count: int, **changes: object) -> list[Probe]:
    def one(i: int) -> Probe:
        fields: dict = {
            "tool": ("renew", "list_loans")[i % 2],
            "arguments": {"i": i},
            "intent": INTENTS[i % 3],
        }
        return Probe(
            **(fields | {"verdict": VERDICTS[i // 2 % 3], "reply": {"n": i}, "reason": f"why {i}"} | changes)
        )

    return [one(i) for i in range(count)]


@pytest.fixture
def inspector() -> AuditInspector:
    library, hotel = skeleton_of(), skeleton_of("Hotel")
    audits = [
        Audit(skeleton_id=library.id, probes=probes_of(12)),
        Audit(skeleton_id=hotel.id, probes=probes_of(3, tool="renew")),
    ]
    return AuditInspector([library, hotel], audits)


def test_it_begins_with_the_first_probe_of_the_first_environment(inspector: AuditInspector) -> None:
    assert inspector.count == 12 and inspector.place == 0
    assert inspector.probe == probes_of(12)[0]
    page = inspector.html()
    assert "def</span>" in page and "renew" in page and "why 0" in page


def test_choices_narrow_what_is_shown(inspector: AuditInspector) -> None:
    inspector.tool.value = "renew"
    inspector.intent.value = "positive"
    assert [probes_of(12)[place].arguments["i"] for _, place in inspector.entries()] == [0, 6]
    inspector.verdict.value = "fail"
    assert inspector.count == 0 and inspector.probe is None and "Nothing fits" in inspector.html()
    inspector.verdict.value = "all"
    assert inspector.count == 2


def test_choosing_an_environment_offers_its_tools(inspector: AuditInspector) -> None:
    inspector.tool.value = "list_loans"
    inspector.environment.value = inspector.environment.options[1][1]
    assert [value for _, value in inspector.tool.options] == ["all", "renew"]
    assert inspector.tool.value == "all" and inspector.count == 3
    inspector.environment.value = "all"
    assert inspector.count == 15


def test_pages_turn_and_stop_at_the_ends(inspector: AuditInspector) -> None:
    inspector.previous()
    assert inspector.place == 0
    for _ in range(20):
        inspector.next()
    assert inspector.place == 11 and "why 11" in inspector.html()
    inspector.go(3)
    assert inspector.probe == probes_of(12)[3]
    for wrong in (-1, 12):
        with pytest.raises(ParameterError, match="place from 0 to 11"):
            inspector.go(wrong)


def test_buttons_do_what_the_methods_do(inspector: AuditInspector) -> None:
    inspector._on.click()
    assert inspector.place == 1
    inspector._back.click()
    assert inspector.place == 0 and inspector._back.disabled and not inspector._on.disabled


def test_bad_values_raise(inspector: AuditInspector) -> None:
    with pytest.raises(TraitError):
        inspector.tool.value = "no_such_tool"
    with pytest.raises(TraitError):
        inspector.verdict.value = "maybe"
    with pytest.raises(ParameterError, match="pass, warning, fail"):
        inspector.mark("great")
    assert inspector.labels.empty


def test_a_mark_is_kept_beside_the_judges_verdict_and_replaced_by_the_next(inspector: AuditInspector) -> None:
    inspector.mark("fail", note="wrong date")
    inspector.mark("warning")
    inspector.next()
    inspector.note.value = "typed"
    inspector.mark("pass")
    labels = inspector.labels
    assert list(labels["label"]) == ["warning", "pass"] and list(labels["note"]) == ["", "typed"]
    assert list(labels["verdict"]) == ["pass", "pass"] and list(labels["environment"]) == ["Library"] * 2
    assert inspector.note.value == "" and "You said: <b>pass</b> typed" in inspector.html()


def test_labels_survive_in_a_file(tmp_path: Path) -> None:
    path, library = tmp_path / "deep" / "labels.jsonl", skeleton_of()
    audit = Audit(skeleton_id=library.id, probes=probes_of(4))
    AuditInspector([library], [audit], path).mark("fail", note="für Zoë\n日本")
    again = AuditInspector([library], [audit], path)
    assert list(again.labels["note"]) == ["für Zoë\n日本"] and "You said: <b>fail</b>" in again.html()
    again.next()
    again.mark("pass")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(row["probe"], row["label"], row["tool"]) for row in rows] == [
        (0, "fail", "renew"),
        (1, "pass", "list_loans"),
    ]
    assert not list(path.parent.glob(".*"))


def test_a_label_that_cannot_be_saved_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    library = skeleton_of()
    audits = [Audit(skeleton_id=library.id, probes=probes_of(1))]
    inspector = AuditInspector([library], audits, tmp_path / "file" / "labels.jsonl")
    with pytest.raises(StoreError):
        inspector.mark("fail")
    assert inspector.labels.empty


def test_lines_that_cannot_be_read_are_told_and_the_others_count(tmp_path: Path) -> None:
    path, library = tmp_path / "labels.jsonl", skeleton_of()
    audits = [Audit(skeleton_id=library.id, probes=probes_of(4))]
    AuditInspector([library], audits, path).mark("fail", note="first")
    path.write_bytes(b"nonsense\n" + path.read_bytes() + b"\xff\xfe\n[1]\n")
    again = AuditInspector([library], audits, path)
    assert list(again.labels["note"]) == ["first"] and "You said: <b>fail</b>" in again.html()
    assert [problem.split(": ")[0] for problem in again.problems] == [f"{path}:{n}" for n in (1, 3, 4)]
    again.next()
    again.mark("pass")
    assert path.read_bytes().startswith(b"nonsense\n") and len(path.read_bytes().split(b"\n")) == 6
    assert "3 lines of the label file cannot be read" in texts_of(again)


def test_what_a_person_said_is_a_choice_too(inspector: AuditInspector) -> None:
    inspector.yours.value = "marked"
    assert inspector.count == 0
    inspector.yours.value = "unmarked"
    assert inspector.count == 12
    inspector.mark("pass")  # as the judge said
    inspector.next()
    inspector.mark("fail")  # not as the judge said
    inspector.refresh()
    assert inspector.count == 10
    inspector.yours.value = "differs"
    assert [place for _, place in inspector.entries()] == [1]
    inspector.yours.value = "marked"
    assert [place for _, place in inspector.entries()] == [0, 1]


def test_keys_do_what_the_buttons_do(inspector: AuditInspector) -> None:
    inspector.press("n")
    inspector.press("ArrowRight")
    inspector.press("p")
    assert inspector.place == 1
    inspector.press("3")
    assert list(inspector.labels["label"]) == ["fail"]
    inspector._keys._handle_custom_msg({"key": "1"}, [])
    assert list(inspector.labels["label"]) == ["pass"]
    for strange in ("x", "", "constructor"):
        inspector.press(strange)
    inspector._keys._handle_custom_msg({"key": 3}, [])
    inspector._keys._handle_custom_msg("n", [])
    assert inspector.place == 1 and set(inspector._keys.listened) == {*"np123", "ArrowLeft", "ArrowRight"}


def texts_of(widget: object) -> str:
    """All that a widget shows in labels and pages."""
    own = str(getattr(widget, "value", "")) if type(widget).__name__ in ("Label", "HTML") else ""
    return own + "".join(map(texts_of, getattr(widget, "children", ())))


def test_nothing_to_inspect_is_no_error() -> None:
    for audits in ([], [Audit(skeleton_id="x")]):
        inspector = AuditInspector([], audits)
        inspector.next()
        assert inspector.count == 0 and inspector.probe is None and inspector.skeleton is None
        assert "Nothing fits" in inspector._repr_html_()
        with pytest.raises(ParameterError, match="leave none"):
            inspector.mark("pass")


def test_without_its_skeleton_a_probe_is_still_shown() -> None:
    inspector = AuditInspector([], [Audit(skeleton_id="unknown", probes=probes_of(1))])
    assert "was not given" in inspector.html() and inspector.environment.options[0] == ("unknown", "unknown")


def test_after_a_repair_the_repaired_source_is_shown() -> None:
    library = skeleton_of()
    repaired = library.replace(source=SOURCE.replace("old", "new"))
    inspector = AuditInspector(
        [library], [Audit(skeleton_id=library.id, probes=probes_of(1), repaired=repaired)]
    )
    assert (
        inspector.skeleton == repaired
        and "new" in inspector.html()
        and "&#39;old&#39;" not in inspector.html()
    )


def test_environments_of_one_title_are_told_apart() -> None:
    first, second = skeleton_of(), skeleton_of(source=SOURCE + "\n")
    audits = [Audit(skeleton_id=s.id, probes=probes_of(1)) for s in (first, second)]
    names = [name for name, _ in AuditInspector([first, second], audits).environment.options]
    assert len(set(names)) == 3 and first.id in names[0]


def test_a_script_in_a_reply_stays_text() -> None:
    library = skeleton_of()
    probes = probes_of(1, reply="<script>alert(1)</script>", reason="<img src=x onerror=alert(1)>")
    inspector = AuditInspector([library], [Audit(skeleton_id=library.id, probes=probes)])
    inspector.mark("fail", note="<script>alert(2)</script>")
    for page in (inspector._page.value, inspector._repr_html_()):
        assert "<script" not in page and "<img" not in page and "&lt;script&gt;alert(2)" in page


def test_a_notebook_gets_the_widget_and_its_static_form(inspector: AuditInspector) -> None:
    shown, _ = DisplayFormatter().format(inspector)
    assert {"application/vnd.jupyter.widget-view+json", "text/html"} <= set(shown)
    assert "why 0" in shown["text/html"] and "1 of 12" in shown["text/html"]


def test_hostile_texts_are_shown_and_choose_nothing_wrong() -> None:
    evil = "<script>\0\u202e\ud800" + "x" * 200_000
    library = skeleton_of(title="T" + evil.replace("\ud800", ""))
    probes = probes_of(1, tool="t" + evil.replace("\ud800", ""), reply=evil, reason=evil)
    inspector = AuditInspector([library], [Audit(skeleton_id=library.id, probes=probes)])
    inspector.tool.value = probes[0].tool
    assert inspector.count == 1
    shown = inspector._page.value + inspector._repr_html_() + str(inspector.tool.options[1][0])
    shown.encode("utf-8")
    assert "<script" not in shown.replace(str(inspector.tool.options[1][0]), "") and "\0" not in shown
    assert len(inspector._page.value) < 200_000 and len(inspector.tool.options[1][0]) <= 80


def test_ids_are_not_worked_out_where_nobody_said_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """An id hashes a whole record; 191 of them at each change of a choice would be felt."""
    skeletons = [skeleton_of(f"World {i}") for i in range(20)]
    inspector = AuditInspector(skeletons, [Audit(skeleton_id=s.id, probes=probes_of(6)) for s in skeletons])
    inspector.mark("fail")
    monkeypatch.setattr(Audit, "id", property(lambda _: pytest.fail("an id was worked out")))
    inspector.environment.value = "all"
    for choice in ("unmarked", "marked", "differs"):
        inspector.yours.value = choice
        inspector.next()
    assert inspector.count == 1


# Editing


def played(*calls: Call) -> tuple[Skeleton, Audit]:
    """The village library with an audit whose probes are these calls, as they really come out."""
    world = worlds.skeleton()
    probes = []
    with Environment(world, worlds.STATE) as environment:
        environment.reset()
        for call in calls:
            reply = environment.call(call.tool, call.arguments)
            fields = {
                "tool": call.tool,
                "arguments": call.arguments,
                "reply": reply,
                "diff": environment.diff,
            }
            probes.append(Probe(**fields, intent="positive", verdict="pass"))
    return world, Audit(skeleton_id=world.id, initial_state=worlds.STATE, probes=probes)


def text_of_tool(world: Skeleton, tool: str) -> str:
    return method_text(world.source, tool)


LEND = Call(tool="lend", arguments={"book_id": "B-1", "member": 7})
LOOK = Call(tool="get_book", arguments={"book_id": "B-1"})


def test_an_edited_tool_is_run_on_its_probes_and_only_there() -> None:
    world, audit = played(LEND, LOOK, LEND, LEND)
    inspector = AuditInspector([world], [audit])
    inspector.editing.value = True
    assert inspector.draft.value.lstrip().startswith("def lend")
    inspector.draft.value = inspector.draft.value.replace("< 1", "< 2")
    made = inspector.rerun()
    assert [rerun.place for rerun in made] == [0, 2, 3] and all(rerun.reproduced for rerun in made)
    assert [rerun.changed for rerun in made] == [False, True, False]
    assert (
        made[1].now == ({"success": False, "error": "No copy left."}, {})
        and made[1].was[1] == audit.probes[2].diff
    )
    assert "<b>3</b> probes made again, <b>1</b> with another result" in inspector._result.value


def test_a_slip_in_the_editor_is_told_there_and_raises_in_a_cell() -> None:
    world, audit = played(LOOK)
    inspector = AuditInspector([world], [audit])
    inspector.editing.value = True
    for text, said in (
        ("def get_book(self:", "line 1"),
        ("def other(self) -> dict:\n    return {}", "got other"),
    ):
        inspector.draft.value = text
        inspector._try_rerun()
        assert "cannot be run" in inspector._result.value and said in inspector._result.value
        with pytest.raises(EnvscalerError, match=said):
            inspector.rerun()


def test_a_draft_stays_while_one_looks_around_and_can_be_dropped() -> None:
    world, audit = played(LOOK, LEND)
    inspector = AuditInspector([world], [audit])
    inspector.editing.value = True
    whole = inspector.draft.value
    inspector.draft.value = whole + "\n        # mine"
    inspector.next()
    assert "def lend" in inspector.draft.value
    inspector.previous()
    assert inspector.draft.value.endswith("# mine")
    inspector._reset()
    assert inspector.draft.value == whole


def test_who_runs_and_who_judges_is_handed_in() -> None:
    world, audit = played(LEND)
    asked: list = []

    def judge(skeleton: Skeleton, probe: Probe, before: dict, after: dict) -> tuple:
        asked.append((skeleton.source != world.source, probe.reply, before["counter"], after["counter"]))
        return "fail", "Nothing is lent."

    inspector = AuditInspector([world], [audit], judge=judge)
    empty = "def lend(self, book_id: str, member: int, note: str | None = None) -> dict:\n    return {'success': True}"
    [made] = inspector.rerun(empty)
    assert (made.verdict, made.reason) == ("fail", "Nothing is lent.")
    assert asked == [(True, {"success": True}, 0, 0)] and "Nothing is lent." in inspector._result.value
    calls: list = []
    other = AuditInspector([world], [audit], rerun=lambda *given: calls.append(given) or [])
    assert other.rerun("text") == [] and calls == [(world, audit, "lend", "text")]


def test_a_model_judges_what_an_edited_tool_does() -> None:
    world, audit = played(LEND, LOOK)
    inspector = AuditInspector([world], [audit], judge=judge_by(connect("builtin")))
    [fine] = inspector.rerun(text_of_tool(world, "lend"))
    assert fine.verdict == "pass"
    [wordless] = inspector.rerun(
        "def lend(self, book_id: str, member: int) -> dict:\n    return {'success': False}"
    )
    assert wordless.verdict == "fail" and "without saying why" in wordless.reason
    assert "without saying why" in inspector._result.value and "→" in inspector._result.value


def test_a_rule_that_an_edit_breaks_is_no_matter_of_opinion() -> None:
    world, audit = played(LEND)
    rule = worlds.rule(
        "def invariant(before, after, call):\n    return after['counter'] < 2", "The counter stays below two."
    )
    ruled = world.replace(rules=[rule])
    said = json.dumps({"analysis": "Fine.", "verdict": "pass", "reason": ""})
    judge = judge_by(ScriptedModel(lambda _: said, name="mild"))
    inspector = AuditInspector([ruled], [audit.replace(skeleton_id=ruled.id)], judge=judge)
    edit = text_of_tool(world, "lend").replace("self.counter += 1", "self.counter += 5")
    assert edit != text_of_tool(world, "lend")
    [made] = inspector.rerun(edit)
    assert made.verdict == "fail" and "The counter stays below two." in made.reason
    # One that the state breaks before the call says nothing about the call.
    before = {**worlds.STATE, "counter": 7}
    assert judge(ruled, audit.probes[0], before, before) == ("pass", "")


def test_a_judge_that_cannot_be_asked_costs_its_verdicts_only() -> None:
    world, audit = played(LEND, LOOK, LEND)
    mute = judge_by(ScriptedModel([], name="mute"))
    made = AuditInspector([world], [audit], judge=mute).rerun(text_of_tool(world, "lend"))
    assert [(r.verdict, bool(r.reason)) for r in made] == [(None, True)] * 2
    assert made[0].reason in html.unescape(reruns_html(made))
    for nonsense in (None, "pass", ("nice", ""), ("pass",), 3):
        inspector = AuditInspector([world], [audit], judge=lambda *_, said=nonsense: said)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="the judge to say one of pass, warning, fail"):
            inspector.rerun(text_of_tool(world, "lend"))


def test_what_breaks_down_fails_whoever_judges() -> None:
    world, audit = played(LEND)
    for judge in (None, lambda *_: ("pass", "")):
        inspector = AuditInspector([world], [audit], judge=judge)
        [made] = inspector.rerun("def lend(self, book_id: str, member: int) -> dict:\n    return 1 / 0")
        assert made.verdict == "fail" and "division by zero" in made.reason


def test_without_a_skeleton_there_is_nothing_to_run() -> None:
    inspector = AuditInspector([], [Audit(skeleton_id="unknown", probes=probes_of(1))])
    inspector.editing.value = True
    with pytest.raises(ParameterError, match="skeleton was given"):
        inspector.rerun()
