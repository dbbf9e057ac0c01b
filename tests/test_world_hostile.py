"""Hostile code in sources, tools and checks: nothing happens outside, nothing is paid, and the next episode is sound.

Run: python -m pytest tests/test_world_hostile.py -q
"""

import os
from pathlib import Path

import pytest
from hostile import ATTACKS, ENDLESS, PLACES, Outside, attack, next_episode

from envscaler.world.sandbox import isolation_in_use

pytestmark = pytest.mark.skipif(isolation_in_use() != "sealed", reason="no seal on this machine")


@pytest.fixture(scope="module")
def outside():
    made = Outside()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _short_loading(monkeypatch):
    monkeypatch.setattr("envscaler.world.live._LOADING", 0.4)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", list(ATTACKS))
def test_an_attack_comes_to_nothing(name, place, outside, capfd):
    said = attack(place, ATTACKS[name], outside)
    assert outside.effects(said) == []
    assert "hunter2" not in "".join(capfd.readouterr())
    assert "error" in said or not said["reward"], "it was paid"
    assert next_episode() == 1.0


def test_there_are_attacks_enough_and_they_do_work_where_nothing_holds_them(outside, monkeypatch):
    """The suite can fail: without a seal the same statements do reach out."""
    assert len(ATTACKS) * len(PLACES) >= 120
    monkeypatch.setenv("ENVSCALER_ISOLATION", "process")
    before = outside.secret.read_text()
    for name in ("read a file", "write a file", "open a connection", "run a shell", "read a file with io"):
        fresh = Outside()
        try:
            assert fresh.effects(attack("tool", ATTACKS[name], fresh, timeout=2.0)), name
        finally:
            fresh.close()
    assert outside.secret.read_text() == before


def _children():
    mine = str(os.getpid())
    stats = [
        p.read_text().rpartition(")")[2].split() for p in Path("/proc").glob("[0-9]*/stat") if p.exists()
    ]
    return sum(stat[1] == mine for stat in stats)


def test_no_child_is_left_after_the_endless_ones(outside):
    next_episode()
    before = _children()
    for name in list(ENDLESS)[:4]:
        attack("tool", ENDLESS[name], outside)
    assert _children() == before
