"""The audit inspector where people meet it: in JupyterLab, in a browser, with mouse and keyboard.

A server and a browser of their own are started for this file and ended with it; settings, kernels and records lie
in a temporary folder. How the widget behaves in Python is `test_inspector`'s business.

The browser must be there already: chromium of the system (Debian: `apt install chromium`; `google-chrome` does too).
Playwright only drives it, its own download is not needed. Without one the tests are skipped.
"""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

psutil = pytest.importorskip("psutil", reason="psutil comes with JupyterLab's kernel")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is part of the extra dev")
expect = playwright.expect
expect.set_options(timeout=60_000)

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on the PATH"),
]

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60.0
"""Seconds that anything may take; a loaded machine is slow, not wrong."""
SETTINGS = {
    # A cell out of sight would otherwise not be in the page.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none", "autoStartDefaultKernel": True},
    # The question whether to fetch news would lie over the notebook.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # Light or dark as the browser says, so that a test can turn the light off.
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
}
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
audits = [audits[0].replace(probes=[*audits[0].probes, probe])]""",
    "es.AuditInspector(skeletons, audits, labels_path='labels.jsonl')",
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
IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
FAILED = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'


# A server and a browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the notebooks of this file lie, and all they write."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def lab(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """A running JupyterLab: the address of a notebook in its folder."""
    private = tmp_path_factory.mktemp("jupyter")
    settings = private / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS))
    moved = {f"JUPYTER_{kind.upper()}_DIR": str(private / kind) for kind in ("config", "data", "runtime")}
    # Kernels draw with their own backend, not with that of the tests.
    inherited = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    token, port = secrets.token_hex(16), free_port()
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", f"--ServerApp.token={token}", f"--ServerApp.root_dir={folder}",
        "--LabApp.extension_manager=readonly",
        # Should this process be killed, the server ends by itself.
        "--ServerApp.shutdown_no_activity_timeout=300", "--MappingKernelManager.cull_idle_timeout=300",
    ]  # fmt: skip
    environment = {
        **inherited, **moved, "IPYTHONDIR": str(private / "ipython"), "ENVSCALER_HOME": str(folder),
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    log = private / "log.txt"
    with log.open("wb") as out:
        server = subprocess.Popen(command, env=environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    try:
        try:
            wait_for(lambda: answers(f"{base}/api/status?token={token}", server))
        except AssertionError:
            pytest.fail(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-4000:]}")
        yield lambda name: f"{base}/lab/workspaces/{Path(name).stem}/tree/{name}?token={token}"
    finally:
        end(server)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless chromium."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def new_page(browser: Any) -> Iterator[Any]:
    """A fresh page; what went wrong in it is in `page.errors`."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, color_scheme="light")
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(f"uncaught: {error}"))
    page.on("console", lambda said: page.errors.append(said.text) if is_error(said) else None)
    try:
        yield page
    finally:
        context.close()


def is_error(said: Any) -> bool:
    # A first connection to a kernel that is not up yet is refused, and JupyterLab tries again.
    return said.type == "error" and not said.text.startswith("WebSocket connection to")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(address: str, server: subprocess.Popen) -> bool:
    if server.poll() is not None:
        raise AssertionError(f"The server ended with {server.returncode}.")
    try:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return direct.open(address, timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False


def end(server: subprocess.Popen) -> None:
    """End a server with its kernels and what they started."""
    family = [psutil.Process(server.pid), *children(server.pid)] if server.poll() is None else []
    server.terminate()
    _, left = psutil.wait_procs(family, timeout=15)
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=5)
    server.wait(timeout=5)


def children(pid: int) -> list[Any]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def wait_for(holds: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """The first true value of `holds`."""
    until = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < until, f"Nothing came in {seconds} s."
        time.sleep(0.1)
    return value


# A person in front of it


def run_all(page: Any, address: str) -> None:
    """Open a notebook and run its cells from the menu, until every one of them has run, none with an error."""
    page.goto(address)
    expect(page.locator(IDLE)).to_be_visible()
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle")
    asked = 0.0

    def ran() -> bool:
        nonlocal asked
        prompts = page.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts()
        # A kernel whose first connection breaks forgets what it was asked: a person asks again.
        if all(text.strip() == "[ ]:" for text in prompts) and time.monotonic() - asked > 4:
            page.locator("#jp-MainMenu").get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
            asked = time.monotonic()
        failed = page.locator(FAILED)
        assert not failed.count(), failed.first.inner_text()
        return bool(prompts) and all(re.fullmatch(r"\[\d+\]:", text.strip()) for text in prompts)

    wait_for(ran)
    expect(page.locator(IDLE)).to_be_visible()


def inspector_in(page: Any) -> Any:
    return page.locator(
        ".jp-OutputArea .widget-vbox", has=page.get_by_role("button", name="next", exact=True)
    )


def button(inspector: Any, name: str) -> Any:
    return inspector.get_by_role("button", name=name, exact=True)


def card_of(inspector: Any) -> Any:
    return inspector.locator(".widget-html .es")


def nothing_ran(page: Any) -> bool:
    return page.evaluate("window.ran") is None and not card_of(page).locator("script, img").count()


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def opened(browser: Any, lab: Callable[[str], str], folder: Path) -> Iterator[Any]:
    """A page with a notebook that was just run: the inspector over one audited world and a hostile probe."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(
        new_notebook(cells=list(map(new_code_cell, CELLS)), metadata=kernel), folder / "small.ipynb"
    )
    with new_page(browser) as page:
        run_all(page, lab("small.ipynb"))
        yield page


@pytest.fixture
def inspector(opened: Any) -> Iterator[Any]:
    """The inspector at its first probe; after the test, the page has nothing to complain of."""
    inspector = inspector_in(opened)
    expect(inspector).to_have_count(1)
    inspector.get_by_label("verdict").select_option("all")
    inspector.get_by_label("intent").select_option("negative")
    expect(inspector).not_to_contain_text("of 13")
    inspector.get_by_label("intent").select_option("all")
    expect(inspector).to_contain_text("1 of 13")
    yield inspector
    assert opened.errors == []


# What they see


def test_a_probe_is_shown_and_next_shows_another(inspector: Any) -> None:
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


def test_a_chosen_intent_leaves_fewer_and_a_verdict_is_kept(
    opened: Any, inspector: Any, folder: Path
) -> None:
    card, note = card_of(inspector), inspector.get_by_placeholder("note")
    inspector.get_by_label("intent").select_option("negative")
    expect(inspector).not_to_contain_text("of 13")
    expect(card.locator(".es-chip", has_text="negative")).to_be_visible()

    text = f"“fine”, it says, and <b>nothing</b> changed {ATTACK}"
    note.click()
    opened.keyboard.type(text)
    button(inspector, "fail").click()
    [row] = wait_for(lambda: rows_of(folder / "labels.jsonl"))
    assert (row["label"], row["intent"], row["note"]) == ("fail", "negative", text)
    expect(card).to_contain_text(f"You said: fail {text}")
    expect(note).to_have_value("")
    assert nothing_ran(opened)

    button(inspector, "next").click()
    expect(card).not_to_contain_text("You said")


def test_what_a_tool_replies_is_read_and_never_run(opened: Any, inspector: Any) -> None:
    for place in range(2, 14):
        button(inspector, "next").click()
        expect(inspector).to_contain_text(f"{place} of 13")
    expect(button(inspector, "next")).to_be_disabled()
    card = card_of(inspector)
    expect(card.locator("pre", has_text=ATTACK)).to_have_count(2)  # arguments and reply
    expect(card.locator("table", has_text=ATTACK)).to_have_count(1)  # what changed
    expect(card.locator("div", has_text=ATTACK).first).to_be_visible()  # the reason
    assert nothing_ran(opened)


def test_it_is_readable_in_light_and_in_dark(opened: Any, inspector: Any, tmp_path: Path) -> None:
    rows = {
        round(inspector.get_by_label(n).bounding_box()["y"])
        for n in ("environment", "tool", "intent", "verdict")
    }
    assert len(rows) == 1, "The choices do not fit on one row."
    for theme in ("light", "dark"):
        opened.emulate_media(color_scheme=theme)
        expect(opened.locator("body")).to_have_attribute("data-jp-theme-name", f"JupyterLab {theme.title()}")
        expect(opened.locator("#jupyterlab-splash")).to_have_count(0)
        # The theme's style sheet comes a moment after its name.
        wait_for(lambda theme=theme: opened.evaluate(TEXT_IS_DARK) == (theme == "light"))
        opened.screenshot(path=tmp_path / f"{theme}.png")
        ratio, where, text = inspector.evaluate(LEAST_CONTRAST)
        assert ratio >= 3, f"In {theme}, {text!r} ({where}) has a contrast of {ratio:.1f} only."


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
        expect(inspector_in(page)).to_contain_text("You said: warning looked at in the notebook")
        pictures = page.locator(".jp-OutputArea img")
        expect(pictures).to_have_count(3)
        assert pictures.evaluate_all("all => all.every(img => img.naturalWidth > 100)")
        assert page.errors == []
