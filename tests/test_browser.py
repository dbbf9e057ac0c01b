"""The widgets where people meet them: in JupyterLab, in a browser, with mouse and keyboard.

One notebook has the inspector, the playground and the player over one audited world; each test clicks through
one of them. Screenshots of what people see go to `build/screens/`. How the widgets behave in Python is the
business of `test_inspector`, `test_playground` and `test_player`; the server and the browser are `lab`'s.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from lab import CHROMIUM, expect, new_page, run_all, wait_for
from lab import browser as browser
from lab import folder as folder
from lab import lab as lab
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
SCREENS = ROOT / "build" / "screens"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on the PATH"),
]

REQUESTS = [
    "Please renew my library book Emma, card L-204, for two more weeks.",
    "Reserve the library copy of Dune for me and tell me when it is due back.",
    "I lost the library book I borrowed in May; what do I owe?",
]
ATTACK = "<script>window.ran = 1</script><img src='x:' onerror='window.ran = 1'>"
CELLS = [
    f"""import envscaler as es

model = es.connect("builtin")
themes = es.infer_themes([es.Task(text=text, stateful=True) for text in {REQUESTS!r}], model, progress=False)
skeletons = es.build_skeletons(themes[:1], model, progress=False)
audits = es.audit_skeletons(skeletons, model, rounds=12, progress=False)""",
    f"""attack = {ATTACK!r}
probe = es.Probe(tool=audits[0].probes[0].tool, arguments={{"text": attack}}, intent="negative", verdict="warning",
                 reply={{"html": attack}}, diff={{"page": {{"changed": [None, attack]}}}}, reason=attack)
audits = [audits[0].replace(probes=[*audits[0].probes, probe])]
inspector = es.AuditInspector(skeletons, audits, labels="labels.jsonl", judge=es.judge_by(model))
inspector""",
    """world = audits[0].repaired or skeletons[0]
scenarios = es.build_scenarios([world], model, n=2, progress=False)
playground = es.Playground(world, scenarios[0])
playground""",
    """agents = [es.WitnessAgent(), es.IdleAgent(), es.RandomAgent()]
rollouts = es.roll_out_all([world], scenarios, agents, progress=False)
player = es.EpisodePlayer(rollouts, scenarios, [world])
player""",
]

TEXT_IS_DARK = """getComputedStyle(document.querySelector('.widget-html .es')).color
  .match(/\\d+/g).slice(0, 3).every(part => part < 128)"""
LEAST_CONTRAST = """root => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    if (!element) return [255, 255, 255];
    const [r, g, b, a = 1] = numbers(getComputedStyle(element).backgroundColor);
    return a === 0 ? behind(element.parentElement) : a === 1 ? [r, g, b]
      : behind(element.parentElement).map((v, i) => a * [r, g, b][i] + (1 - a) * v);
  };
  const ratio = element => {
    const [a, b] = [light(numbers(getComputedStyle(element).color)), light(behind(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const own = element => [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  return [...root.querySelectorAll('*')].filter(e => own(e) && e.offsetParent && !e.matches('style, :disabled'))
    .map(e => [ratio(e), e.className, e.textContent.trim().slice(0, 40)]).sort((a, b) => a[0] - b[0])[0];
}"""


def button(widget: Any, name: str) -> Any:
    return widget.get_by_role("button", name=name, exact=True).first


def card_of(widget: Any) -> Any:
    """The page of a widget: the first one with a head."""
    return widget.locator(".widget-html .es", has=widget.page.locator(".es-head")).first


def nothing_ran(page: Any) -> bool:
    return page.evaluate("window.ran") is None and not page.locator(".es script, .es img").count()


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def picture(page: Any, widget: Any, name: str) -> None:
    """A screenshot into the build folder, the window made large enough for all of the widget."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    page.set_viewport_size({"width": size["width"], "height": int(widget.bounding_box()["height"]) + 400})
    widget.scroll_into_view_if_needed()
    widget.screenshot(path=SCREENS / f"{name}.png")
    page.set_viewport_size(size)


def fits(widget: Any) -> bool:
    """Whether nothing of it sticks out to the right."""
    return widget.evaluate(
        "root => [...root.querySelectorAll('*')].every(e => e.closest('pre, select, .es-scroll')"
        " || e.getBoundingClientRect().right <= root.getBoundingClientRect().right + 1)"
    )


@pytest.fixture(scope="module")
def opened(browser: Any, lab: Callable[[str], str], folder: Path) -> Iterator[Any]:
    """A page with a notebook that was just run: the three widgets over one audited world and a hostile probe."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = list(map(new_code_cell, CELLS))
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "small.ipynb")
    with new_page(browser) as page:
        run_all(page, lab("small.ipynb"))
        yield page


@pytest.fixture
def page(opened: Any) -> Iterator[Any]:
    """The page in the light; after the test it has nothing to complain of, and no cell is gone."""
    opened.emulate_media(color_scheme="light")
    yield opened
    assert opened.errors == []
    assert opened.locator(".jp-CodeCell").count() == len(CELLS)
    assert nothing_ran(opened)


@pytest.fixture
def inspector(page: Any) -> Any:
    """The inspector at its first probe."""
    inspector = page.locator(".es-inspector")
    expect(inspector).to_have_count(1)
    inspector.get_by_label("verdict", exact=True).select_option("all")
    inspector.get_by_label("intent").select_option("negative")
    expect(inspector).not_to_contain_text("of 13")
    inspector.get_by_label("intent").select_option("all")
    expect(inspector).to_contain_text("1 of 13")
    return inspector


# The inspector


def test_a_probe_is_shown_and_next_shows_another(page: Any, inspector: Any) -> None:
    card = card_of(inspector)
    for heading in ("Arguments", "Reply", "Source"):
        expect(card.get_by_role("heading", name=heading)).to_be_visible()
    expect(card.locator("pre", has_text="def ").first).to_be_visible()
    expect(button(inspector, "previous")).to_be_disabled()

    first = card.inner_text()
    button(inspector, "next").click()
    expect(inspector).to_contain_text("2 of 13")
    wait_for(lambda: card.inner_text() != first)
    button(inspector, "previous").click()
    expect(inspector).to_contain_text("1 of 13")
    wait_for(lambda: card.inner_text() == first)
    picture(page, inspector, "inspector")


def test_a_chosen_intent_leaves_fewer_and_a_verdict_is_kept(page: Any, inspector: Any, folder: Path) -> None:
    card, note = card_of(inspector), inspector.get_by_placeholder("note")
    inspector.get_by_label("intent").select_option("negative")
    expect(inspector).not_to_contain_text("of 13")
    expect(card.locator(".es-chip", has_text="negative")).to_be_visible()

    text = f"“fine”, it says, and <b>nothing</b> changed {ATTACK}"
    note.click()
    page.keyboard.type(text)
    button(inspector, "fail").click()
    row = wait_for(lambda: rows_of(folder / "labels.jsonl"))[-1]
    assert (row["label"], row["intent"], row["note"]) == ("fail", "negative", text)
    expect(card).to_contain_text(f"You said: fail {text}")
    expect(note).to_have_value("")

    button(inspector, "next").click()
    expect(card).not_to_contain_text("You said")
    inspector.get_by_label("your verdict").select_option("marked")
    expect(card).to_contain_text(f"You said: fail {text}")
    inspector.get_by_label("your verdict").select_option("all")
    expect(inspector).not_to_contain_text("1 of 1 ")


def test_keys_turn_pages_and_mark_and_reach_neither_jupyterlab_nor_a_field(
    page: Any, inspector: Any, folder: Path
) -> None:
    card, note = card_of(inspector), inspector.get_by_placeholder("note")
    card.locator(".es-head").click(position={"x": 2, "y": 2})
    for key, place in (("n", 2), ("ArrowRight", 3), ("n", 4), ("p", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(inspector).to_contain_text(f"{place} of 13")
    page.keyboard.press("2")
    expect(card).to_contain_text("You said: warning")
    page.keyboard.press("3")
    expect(card).to_contain_text("You said: fail")
    assert [row["label"] for row in rows_of(folder / "labels.jsonl")][-2:] == ["warning", "fail"]
    # In command mode JupyterLab would cut the cell, delete it, make it Markdown, and restart the kernel.
    for key in ("x", "d", "d", "m", "0", "0"):
        page.keyboard.press(key)
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS))
    expect(page.locator(".jp-Dialog")).to_have_count(0)
    note.click()
    page.keyboard.type("n123p")
    expect(note).to_have_value("n123p")
    expect(inspector).to_contain_text("2 of 13")
    note.fill("")
    # From a button too, which keeps its own keys.
    button(inspector, "next").focus()
    page.keyboard.press("Enter")
    expect(inspector).to_contain_text("3 of 13")
    page.keyboard.press("p")
    expect(inspector).to_contain_text("2 of 13")


def test_a_tool_is_edited_and_its_probes_are_run_again(page: Any, inspector: Any) -> None:
    button(inspector, "edit this tool").click()
    draft = inspector.locator("textarea").first
    expect(draft).to_be_visible()
    text = draft.input_value()
    assert text.lstrip().startswith("def ")
    button(inspector, "run its probes again").click()
    expect(inspector).to_contain_text("made again, 0 with another result")
    head, _, body = text.partition(":\n")
    draft.fill(f"{head}:\n        return {{'success': False, 'error': 'closed today'}}\n")
    button(inspector, "run its probes again").click()
    result = inspector.locator("table", has_text="before the edit")
    expect(result.locator(".es-add", has_text="closed today").first).to_be_visible()
    expect(result.get_by_text("→").first).to_be_visible()  # the verdict of then, and that on the edited tool
    picture(page, inspector, "inspector_edit")
    draft.fill("def broken(:")
    button(inspector, "run its probes again").click()
    expect(inspector.locator(".es-chip", has_text="cannot be run")).to_be_visible()
    button(inspector, "reset").click()
    expect(draft).to_have_value(text)
    button(inspector, "edit this tool").click()
    expect(draft).not_to_be_visible()
    assert body


def test_the_class_around_a_method_is_shown_with_the_method_marked(inspector: Any) -> None:
    card = card_of(inspector)
    button(inspector, "whole class").click()
    expect(card.locator("pre", has_text="class ").first).to_be_visible()
    assert card.locator(".hll").count() > 3
    button(inspector, "whole class").click()
    expect(card.locator("pre", has_text="class ")).to_have_count(0)


def test_what_a_tool_replies_is_read_and_never_run(inspector: Any) -> None:
    for place in range(2, 14):
        button(inspector, "next").click()
        expect(inspector).to_contain_text(f"{place} of 13")
    expect(button(inspector, "next")).to_be_disabled()
    card = card_of(inspector)
    expect(card.locator("pre", has_text=ATTACK)).to_have_count(2)  # arguments and reply
    expect(card.locator("table", has_text=ATTACK)).to_have_count(1)  # what changed
    expect(card.locator(".es-head", has_text=ATTACK)).to_be_visible()  # the reason


# The playground


@pytest.fixture
def playground(page: Any) -> Any:
    """The playground at its beginning."""
    playground = page.locator(".es-playground").first
    playground.locator("select[multiple], select[size]").first.select_option(index=0)
    expect(button(playground, "undo")).to_be_disabled()
    return playground


def steps_of(playground: Any) -> Any:
    return playground.locator("select[size]").first


def test_a_form_is_filled_in_called_undone_and_rewound(page: Any, playground: Any) -> None:
    card, steps = card_of(playground), steps_of(playground)
    playground.get_by_label("tool").first.select_option("add_title")
    expect(playground).to_contain_text("copies_on_shelf")
    fields = playground.locator("input[type=text]")
    for place, text in enumerate(("Emma", "Jane Austen", "book", "three")):
        fields.nth(place).fill(text)
        fields.nth(place).press("Tab")
    button(playground, "call").click()
    expect(playground.locator(".es-chip", has_text="not called")).to_be_visible()
    expect(playground.get_by_text("Expected a whole number like 3, got 'three'").first).to_be_visible()

    fields.nth(3).fill("3")
    fields.nth(3).press("Tab")
    button(playground, "call").click()
    expect(card).to_contain_text("step 1")
    expect(card.locator(".es-add", has_text="Jane Austen")).to_be_visible()
    expect(card.locator("pre", has_text='"success": true')).to_be_visible()
    button(playground, "call").click()
    expect(card).to_contain_text("step 2")
    expect(steps.locator("option")).to_have_count(3)
    picture(page, playground, "playground")

    button(playground, "undo").click()
    expect(card).to_contain_text("step 1")
    expect(steps.locator("option").nth(2)).to_contain_text("taken back")
    steps.select_option(index=0)
    expect(playground).to_contain_text("The beginning.")
    steps.select_option(index=2)
    expect(card).to_contain_text("step 2")


def test_a_fork_goes_its_own_way(page: Any, playground: Any) -> None:
    playground.get_by_label("tool").first.select_option("find_titles")
    button(playground, "call").click()
    expect(card_of(playground)).to_contain_text("step 1")
    button(playground, "fork").click()
    fork = playground.locator(".es-playground")
    expect(fork).to_have_count(1)
    button(fork, "call").click()
    expect(card_of(fork)).to_contain_text("step 2")
    expect(steps_of(fork).locator("option")).to_have_count(3)
    expect(steps_of(playground).locator("option")).to_have_count(2)
    button(fork, "undo").click()
    expect(card_of(fork)).to_contain_text("step 1")
    picture(page, playground, "playground_fork")


def test_state_and_checks_are_there_to_be_asked(playground: Any) -> None:
    button(playground, "state").click()
    state = playground.locator("details", has_text="records").first
    expect(state).to_be_visible()
    state.locator("summary").first.click()
    expect(state.locator("pre")).to_be_visible()
    button(playground, "ask the checks").click()
    expect(playground.locator("table", has_text="bystanders").first).to_be_visible()
    button(playground, "state").click()
    expect(playground.locator("details", has_text="records")).to_have_count(0)


# The player


@pytest.fixture
def player(page: Any) -> Any:
    """The player at the beginning of the first episode, which the witness plays."""
    player = page.locator(".es-player")
    player.get_by_label("agent").select_option("witness")
    expect(player).to_contain_text("1 of ")
    return player


def test_an_episode_is_stepped_through_with_its_lights(page: Any, player: Any) -> None:
    lights = player.locator(".es-lights")
    goals = lights.locator("tr", has=page.locator(".es-chip", has_text="goal"))
    columns = lights.locator("th").count() - 1
    here = lights.locator("th.es-here")
    expect(here).to_have_text("start")
    expect(goals.first.locator(".es-light").first).to_have_text("–")
    expect(goals.first.locator(".es-light").last).to_have_text("✓")
    button(player, "next").click()
    expect(here).to_have_text("1")
    expect(player).to_contain_text(f"Step 1 of {columns - 1}")
    expect(player.get_by_role("heading", name="Reply")).to_be_visible()
    picture(page, player, "player")
    lights.locator("td").first.click()
    page.keyboard.press("End")
    expect(here).to_have_text(str(columns - 1))
    expect(player.get_by_role("heading", name="Outcomes")).to_be_visible()
    page.keyboard.press("p")
    expect(here).to_have_text(str(columns - 2))
    page.keyboard.press("Home")
    expect(here).to_have_text("start")
    assert fits(player)


def test_an_episode_is_chosen_by_agent_and_result(player: Any) -> None:
    player.get_by_label("agent").select_option("idle")
    expect(player).to_contain_text("paid nothing, idle")
    expect(player.locator(".es-chip", has_text="reward 0.00")).to_be_visible()
    expect(player.locator(".es-light", has_text="✗").first).to_be_visible()
    player.get_by_label("result").select_option("solved")
    expect(player).to_contain_text("Nothing fits these choices.")
    player.get_by_label("result").select_option("all")
    expect(player).not_to_contain_text("Nothing fits these choices.")


# How they look


def test_they_are_readable_in_light_and_in_dark(
    page: Any, inspector: Any, playground: Any, player: Any
) -> None:
    for names in (("environment", "tool"), ("intent", "verdict", "your verdict")):
        rows = {round(inspector.get_by_label(n, exact=True).bounding_box()["y"]) for n in names}
        assert len(rows) == 1, f"{', '.join(names)} do not fit on one row."
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        expect(page.locator("body")).to_have_attribute("data-jp-theme-name", f"JupyterLab {theme.title()}")
        expect(page.locator("#jupyterlab-splash")).to_have_count(0)
        # The theme's style sheet comes a moment after its name.
        wait_for(lambda theme=theme: page.evaluate(TEXT_IS_DARK) == (theme == "light"))
        for name, widget in (("inspector", inspector), ("playground", playground), ("player", player)):
            ratio, where, text = widget.evaluate(LEAST_CONTRAST)
            assert ratio >= 4.5, (
                f"In {theme}, {text!r} ({where}) of the {name} has a contrast of {ratio:.1f} only."
            )
            assert fits(widget), f"The {name} is wider than its place."
            if theme == "dark":
                picture(page, widget, f"{name}_dark")
        button(inspector, "whole class").click()
        expect(card_of(inspector).locator("pre", has_text="class ").first).to_be_visible()
        ratio, where, text = inspector.evaluate(LEAST_CONTRAST)
        assert ratio >= 4.5, f"In {theme}, {text!r} ({where}) of a class has a contrast of {ratio:.1f} only."
        button(inspector, "whole class").click()
        expect(card_of(inspector).locator("pre", has_text="class ")).to_have_count(0)
        # The arrow of a choice is a picture, so its colour is all that can be asked for.
        for widget in (inspector, playground, player):
            arrow = widget.locator(".widget-dropdown select").first.evaluate(
                "e => getComputedStyle(e).backgroundImage"
            )
            assert ("%23ddd" in arrow) == (theme == "dark"), f"In {theme}, choices show {arrow[:200]}."


def test_in_a_wide_window_a_probe_and_its_source_stand_side_by_side(page: Any, inspector: Any) -> None:
    page.set_viewport_size({"width": 1700, "height": 1000})
    parts = card_of(inspector).locator(".es-grid > div")
    wait_for(lambda: parts.nth(0).bounding_box()["y"] == parts.nth(1).bounding_box()["y"])
    assert fits(inspector)
    picture(page, inspector, "inspector_wide")
    page.set_viewport_size({"width": 1280, "height": 1000})


# A notebook of the series


def test_the_notebook_of_audits_opens_and_runs(browser: Any, lab: Callable[[str], str], folder: Path) -> None:
    """The notebook of the series itself, at smoke scale, over one world."""
    import envscaler as es

    model = es.connect("builtin")
    tasks = [es.Task(text=text, stateful=True) for text in REQUESTS]
    themes = es.infer_themes(tasks, model, progress=False)
    skeletons = es.build_skeletons(themes[:1], model, progress=False)
    for stage, records in {"themes": themes[:1], "skeletons": skeletons}.items():
        es.write_records(records, folder / "build" / "data" / stage / "builtin-smoke.jsonl")
    notebook = nbformat.read(ROOT / "notebooks" / "04_audits.ipynb", as_version=4)
    [parameters] = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    parameters.source = parameters.source.replace('scale = "default"', 'scale = "smoke"')
    nbformat.write(notebook, folder / "04_audits.ipynb")

    with new_page(browser) as page:
        run_all(page, lab("04_audits.ipynb"))
        inspector = page.locator(".es-inspector")
        expect(inspector).to_contain_text("You said: warning looked at in the notebook")
        button(inspector, "edit this tool").click()
        button(inspector, "run its probes again").click()
        result = inspector.locator("table", has_text="before the edit")
        expect(result.get_by_text("→").first).to_be_visible()
        pictures = page.locator(".jp-OutputArea img")
        assert pictures.count() >= 3
        assert pictures.evaluate_all("all => all.every(img => img.naturalWidth > 100)")
        assert page.errors == []
