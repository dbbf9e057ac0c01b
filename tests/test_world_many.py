"""Many episodes at once: bounded workers, some of them killed, none left behind.

Run: python -m pytest tests/test_world_many.py -q; the full size is in `bench/runtime.py`.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "bench"))
from crowd import Crowd

from envscaler.world import live
from envscaler.world.sandbox import isolation_in_use

pytestmark = pytest.mark.skipif(isolation_in_use() != "sealed", reason="no seal on this machine")


@pytest.mark.parametrize("threads", [1, 4])
def test_many_at_once_some_killed(threads):
    crowd = Crowd(episodes=40, steps=8, kills=6, threads=threads)
    told = crowd.run()
    assert told["finished"] == 40 and told["paid"] == 40 and told["killed"] == 6
    assert told["reported"] >= 1 and told["errors"] == []
    assert told["processes left"] == told["descriptors left"] == told["files left"] == 0


def test_more_episodes_than_workers(monkeypatch):
    monkeypatch.setattr(live, "MOST_WARM", 10)
    crowd = Crowd(episodes=30, steps=5, kills=0, threads=3)
    told = crowd.run()
    assert told["finished"] == told["paid"] == 30 and told["errors"] == []
    # One more for each thread that loads while the others are busy.
    assert told["most workers"] <= 13


def test_parking_changes_nothing(monkeypatch):
    from test_world_environment import run

    plain = run(7)
    monkeypatch.setattr(live.Live, "_ready", _parking(live.Live._ready))
    assert run(7) == plain


def _parking(ready):
    def parked(self):
        self.rest()
        return ready(self)

    return parked


def test_descriptors_above_1023_work():
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    try:
        crowd = Crowd(episodes=2, steps=3, kills=0, threads=1)
        assert crowd.run()["paid"] == 2
    finally:
        [os.close(fd) for fd in held]
