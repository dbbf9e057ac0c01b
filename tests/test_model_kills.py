"""A pipeline that is killed and begun again: nothing is lost, and nothing is asked twice but what was in flight."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "bench"))

from kills import kill_and_resume


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_lose_nothing_and_repeat_only_what_was_in_flight(
    seed: int, tmp_path: Path, monkeypatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    told = kill_and_resume(calls=120, kills=3, in_flight=4, folder=tmp_path, seed=seed)
    assert told["kills"] == 3, "the kills came too late to strike"
    assert told["distinct"] == told["in peace"] == 120
    assert told["twice"] <= 3 * 4
    assert told["same"] and told["files"]
