"""JupyterLab and a browser for tests: a server and a Chromium of their own, started and ended with a test module.

Settings, kernels and records lie in a temporary folder. The browser must be there already: chromium of the system
(Debian: `apt install chromium`; `google-chrome` does too). Playwright only drives it, its own download is not
needed. Without one the tests that want it are skipped.
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

import pytest

psutil = pytest.importorskip("psutil", reason="psutil comes with JupyterLab's kernel")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is part of the extra dev")
expect = playwright.expect
expect.set_options(timeout=60_000)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
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

    wait_for(ran, 5 * PATIENCE)
    expect(page.locator(IDLE)).to_be_visible()
