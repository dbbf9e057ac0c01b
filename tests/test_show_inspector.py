"""The widgets: driven from a cell, they choose, turn pages, take verdicts, keep them, and refuse what is wrong."""

import json
import time
from pathlib import Path

import pytest
from IPython.core.formatters import DisplayFormatter
from traitlets import TraitError

from envscaler.error import ParameterError, StoreError
from envscaler.schema import Audit, Check, Outcome, Probe, Rollout, Scenario, Skeleton, Step, Tool
from envscaler.show.inspector import AuditInspector, RolloutViewer, ScenarioViewer

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
    assert (
        inspector.tool.options == ("all", "renew") and inspector.tool.value == "all" and inspector.count == 3
    )
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
    inspector = AuditInspector([library], [Audit(skeleton_id=library.id, probes=probes_of(1))])
    inspector._path = tmp_path / "file" / "labels.jsonl"
    with pytest.raises(StoreError):
        inspector.mark("fail")
    assert inspector.labels.empty


@pytest.mark.parametrize("line", ['{"audit_id": 1}', "nonsense", "[1]"])
def test_a_broken_label_file_is_named_and_not_overwritten(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(StoreError, match=r"labels\.jsonl:1"):
        AuditInspector([], [], path)
    assert path.read_text() == line + "\n"


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


def test_it_stays_quick_at_the_papers_size() -> None:
    skeletons = [skeleton_of(f"World {i}", SOURCE + f"# {i}\n" + "# filler\n" * 900) for i in range(191)]
    audits = [Audit(skeleton_id=s.id, probes=probes_of(100)) for s in skeletons]
    inspector = AuditInspector(skeletons, audits)
    inspector.environment.value = "all"
    assert inspector.count == 19_100
    started = time.process_time()
    for _ in range(50):
        inspector.next()
    inspector.go(15_000)
    inspector.verdict.value = "fail"
    inspector.mark("pass")
    # Milliseconds a page; a person feels a tenth of a second.
    assert time.process_time() - started < 53 * 0.1


# The other two


def scenario_of(task: str, skeleton: Skeleton) -> Scenario:
    check = Check(item="Done?", source="def check_func(final_state):\n    return True")
    return Scenario(skeleton_id=skeleton.id, initial_state={}, task=task, checks=[check])


def test_scenarios_are_chosen_by_environment() -> None:
    library, hotel = skeleton_of(), skeleton_of("Hotel")
    viewer = ScenarioViewer(
        [scenario_of(t, s) for t, s in [("a", library), ("b", hotel), ("c", hotel)]], [library, hotel]
    )
    assert viewer.count == 3
    viewer.environment.value = hotel.id
    assert viewer.count == 2 and viewer.current.task == "b" and "Hotel" in viewer._repr_html_()
    assert ScenarioViewer([]).current is None


def rollout_of(agent: str, steps: int, scenario: Scenario) -> Rollout:
    trajectory = [
        Step(action={"role": "assistant", "content": f"step {i}"}, observation=[]) for i in range(steps)
    ]
    return Rollout(
        scenario_id=scenario.id, agent=agent, conversation=False, messages=[], trajectory=trajectory, final_state={},
        outcomes=[Outcome(item="Done?", kind="goal", passed=True)], ending="finished",
    )  # fmt: skip


def test_a_rollout_is_read_step_by_step() -> None:
    scenario = scenario_of("renew it", skeleton_of())
    viewer = RolloutViewer([rollout_of("witness", 3, scenario), rollout_of("idle", 0, scenario)], [scenario])
    assert viewer.count == 3 and "step 0" in viewer.html() and "renew it" in viewer.html()
    assert "Done?" not in viewer.html()
    viewer.go(2)
    assert "step 2" in viewer.html() and "Done?" in viewer.html() and "reward 1.00" in viewer.html()
    viewer.agent.value = "idle"
    assert viewer.episode.value == 1 and "took no step" in viewer.html()
    assert RolloutViewer([]).current is None
