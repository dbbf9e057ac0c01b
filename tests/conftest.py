"""What all tests share: threads kept few, figures closed, and the published sample where it is there."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A loaded machine is slow, not wrong.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
# A shell without job control starts what stands before `&` deaf to Ctrl-C, and so is all that it starts; tests that
# send one would wait in vain.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder that everything under test writes to."""
    monkeypatch.setenv("ENVSCALER_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="session")
def release() -> Path:
    """The folder with the published sample; tests that want it are skipped where it is absent."""
    folder = Path(os.environ.get("ENVSCALER_RELEASE", ROOT.parent / "shared" / "release"))
    if not folder.is_dir():
        pytest.skip(f"no published sample at {folder}; set ENVSCALER_RELEASE")
    return folder


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    import sys

    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")
