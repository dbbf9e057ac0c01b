"""Data sets by their name: the real hub library against a server on this machine, and paths that it is never asked for.

Run: python -m pytest tests/test_hub.py -q
"""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import scenario, skeleton

from envscaler import release
from envscaler.error import StoreError
from envscaler.release import hub

ROOT = Path(__file__).resolve().parents[1]
needs_hub = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None, reason="huggingface_hub is not installed"
)


# The real library


@dataclass
class Hub:
    """What a hub on this machine holds, and what it was asked for."""

    url: str = ""
    sets: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    """Status of data sets that are not for everybody, or not well."""
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        name = next((n for n in [*self.sets, *self.refused] if f"/{n}/" in path), None)
        if name is None or name in self.refused:
            return self.refused.get(name or "", 404), {}, b""
        files = self.sets[name]
        if path.startswith(f"/api/datasets/{name}/tree/main"):
            told = [{"type": "file", "path": f, "size": len(c), "oid": "0" * 40} for f, c in files.items()]
            return 200, {"Content-Type": "application/json"}, json.dumps(told).encode()
        content = files.get(path.partition("/resolve/main/")[2])
        if content is None:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        mark = hashlib.sha1(content).hexdigest()
        return 200, {"ETag": f'"{mark}"', "X-Repo-Commit": "1" * 40}, content


@pytest.fixture
def here() -> Iterator[Hub]:
    held = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            held.asked.append(path)
            status, headers, body = held.answer(path)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    held.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield held
    server.shutdown()
    server.server_close()


SCRIPT = """
import json, sys, time
time.sleep = lambda seconds: None  # the library waits longer and longer between its tries
from envscaler import release
from envscaler.error import StoreError
for name in sys.argv[1:]:
    try:
        told = [release.env_id(one) for one in release.read_environments(name)]
    except StoreError as error:
        told = str(error)
    print(json.dumps(told))
"""


def read(url: str, home: Path, *names: str) -> list[Any]:
    """What a process of its own reads under each name: names of environments, or the sentence that says why not."""
    env = {**os.environ, "HF_ENDPOINT": url, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *names], capture_output=True, text=True, env=env, cwd=ROOT
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("rows") / "x.json"
    release.write_environments([skeleton()], path)
    return path.read_bytes()


@needs_hub
def test_a_data_set_is_read_by_its_name_also_without_a_network(
    here: Hub, rows: bytes, tmp_path: Path
) -> None:
    here.sets = {
        "Somebody/Worlds": {"README.md": b"# Worlds", "x_metadata.json": rows, "x_metadata_processed.json": b"[]"},
        "some-body/two.files": {"sub/a.json": rows, "b.json": b"[]"},
    }  # fmt: skip
    names = (
        "Somebody/Worlds", "hf://datasets/some-body/two.files/sub/a.json", "hf://datasets/Somebody/Worlds",
        "some-body/two.files",
    )  # fmt: skip
    *found, several = read(here.url, tmp_path, *names)
    assert found == [[skeleton().id]] * 3
    assert "b.json" in several and "Name it: hf://datasets/some-body/two.files/FILE" in several
    assert all("datasets/" in path for path in here.asked)
    kept = read("http://127.0.0.1:9", tmp_path, *names[:3])
    assert kept == found, "what was fetched is read again without the network"


@needs_hub
def test_what_cannot_be_had_is_one_sentence(here: Hub, rows: bytes, tmp_path: Path) -> None:
    here.sets = {
        "Somebody/Worlds": {"a.json": b"not JSON", "b.json": rows[:40]},
        "Nobody/Nothing": {"README.md": b""},
    }
    here.refused = {"Some/Gated": 403, "Some/Private": 401, "Some/Broken": 500}
    names = ["Somebody/Missing", *here.refused, "Nobody/Nothing", "hf://datasets/Somebody/Worlds/c.json"]
    names += [f"hf://datasets/Somebody/Worlds/{file}" for file in ("a.json", "b.json")]
    names += ["hf://datasets/Somebody", "hf://datasets//x", "hf://models/a/b", "hf://"]
    told = read(here.url, tmp_path, *names)
    for name, sentence in zip(names, told, strict=True):
        assert isinstance(sentence, str) and sentence.startswith("Expected") and sentence.endswith("."), name
        assert len(sentence) < 420 and "\n" not in sentence, sentence
    (offline,) = read("http://127.0.0.1:9", tmp_path, "Somebody/Elsewhere")
    assert "neither can be had" in offline and "onnect" in offline


# What is asked, and what is not


class Asked:
    """A hub library that only notes that it was asked."""

    def __init__(self, file: Path | None = None, files: tuple[str, ...] = ("x.json",)) -> None:
        self.names: list[str] = []
        self._file, self._files = file, files

    def list_repo_files(self, name: str, **_: Any) -> list[str]:
        self.names.append(name)
        return list(self._files)

    def hf_hub_download(self, name: str, file: str, **_: Any) -> str:
        self.names.append(f"{name}:{file}")
        return str(self._file)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with files and folders as a project has them."""
    (tmp_path / "release" / "v1").mkdir(parents=True)
    (tmp_path / "My Data").mkdir()
    (tmp_path / "worlds.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    return tmp_path


MISTYPED = [
    "release/v2", "relaese/v1", "Release/v1", "releases/v1", "release1/v1", "releas/v1", "data/published", "build/out",
    "world.json/x", "worlds.jsno/x", "nowhere.json", "some/thing.json", "some/thing.jsonl.gz", "some/thing.csv",
    "other/skeletons/run.jsonl", "a/b/c", "./a/b", "../a/b", "/a/b", "~/a", "~a/b", "a", "a/b c", "My Data/x", "a//b",
    "a/b/", "a\\b/c", "C:/a", "a/.b", ".a/b", "-a/b", "", ".", "..", "a/..", "file:///a/b", "https://huggingface.co/a/b",
]  # fmt: skip


@pytest.mark.parametrize("name", MISTYPED)
def test_a_path_even_a_mistyped_one_is_not_asked_of_the_hub(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", asked := Asked())
    with pytest.raises(StoreError, match="Expected"):
        release.read_environments(name)
    assert asked.names == []


@given(st.data())
def test_a_slip_in_any_path_is_not_asked_of_the_hub(data: st.DataObject) -> None:
    """A letter left out, doubled, swapped with the next, put for another, in the other case, in a path that is here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setitem(sys.modules, "huggingface_hub", asked := Asked())
        folder, _, rest = data.draw(
            st.sampled_from(["tests/worlds", "envscaler/release", "data/tasks/x.jsonl"])
        ).partition("/")
        place = data.draw(st.integers(0, len(folder) - 1))
        left, letter, right = folder[:place], folder[place], folder[place + 1 :]
        slips = [left + right, left + 2 * letter + right, left + right[:1] + letter + right[1:], left + "x" + right,
                 left + letter.upper() + right]  # fmt: skip
        with pytest.raises(StoreError, match="Expected"):
            release.read_environments(f"{data.draw(st.sampled_from(slips))}/{rest}-")
        assert asked.names == []


def test_what_is_here_is_taken_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", asked := Asked())
    (folder / "Somebody" / "Worlds").mkdir(parents=True)
    for name in ("release/v1", "Somebody/Worlds", "worlds.json"):
        assert hub.local(name) == Path(name)
    assert hub.local(Path("Elsewhere/Worlds")) == Path("Elsewhere/Worlds"), "a Path is a path"
    assert asked.names == []


def test_a_name_that_can_only_be_a_data_set_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posed = folder / "posed.json"
    release.write_scenarios([scenario()], posed, [skeleton()])
    files = ("README.md", "rl_metadata.json", "rl_metadata_processed.json")
    monkeypatch.setitem(sys.modules, "huggingface_hub", asked := Asked(posed, files))
    assert len(release.read_scenarios("Somebody/Scenarios-1.0")) == 1
    assert len(release.read_scenarios("hf://datasets/Somebody/Scenarios-1.0/sub/other.json")) == 1
    name = "Somebody/Scenarios-1.0"
    assert asked.names == [name, f"{name}:rl_metadata.json", f"{name}:sub/other.json"]


def test_without_the_library_or_a_network_a_sentence_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise ConnectionError("no\nnetwork")

    fake = SimpleNamespace(list_repo_files=offline, snapshot_download=offline)
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    with pytest.raises(StoreError, match=r"neither can be had .ConnectionError: no network"):
        release.read_environments("Somebody/Environments")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(StoreError, match=r"pip install 'envscaler\[hub\]'"):
        release.read_environments("Somebody/Environments")
