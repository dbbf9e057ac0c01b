"""The referee finds what a class can get wrong, and is silent about a sound one."""

import pytest
from worlds import STATE, skeleton, tool

from envscaler.world.referee import check_environment


def kinds(world, state=None, **options):
    return {(f.kind, f.severity) for f in check_environment(world, state, timeout=0.5, **options)}


def test_a_sound_world_is_left_in_peace():
    assert check_environment(skeleton(), STATE) == []
    assert check_environment(skeleton()) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("self.n += 1\nraise ValueError", ("raises", "error")),
        ("self.n += 1\nreturn {'success': False, 'error': 'x'}", ("refused-writes", "error")),
        ("return 5", ("reply-form", "warning")),
        ("while True: pass", ("lost", "error")),
        ("import os", ("import", "error")),
        ("return {'success': True, 'data': object()}", ("raises", "error")),
    ],
)
def test_what_it_finds(body, found):
    assert found in kinds(tool(body))


def test_a_read_that_writes():
    world = tool("self.n += 1\nreturn {'success': True}")
    read = [t.model_copy(update={"mutates": False}) for t in world.tools]
    assert ("read-writes", "error") in kinds(world.replace(tools=read))


def test_private_state_that_a_snapshot_loses():
    body = "self._seen = getattr(self, '_seen', 0) + 1\nreturn {'success': True, 'data': self._seen}"
    keeps = "self._seen = [*getattr(self, '_seen', []), object()]\nreturn {'success': True, 'data': len(self._seen)}"
    assert ("not-repeatable", "error") in kinds(tool(keeps))
    assert ("not-repeatable", "error") not in kinds(tool(body))


def test_addresses_in_replies_are_not_repeatable():
    assert ("not-repeatable", "error") in kinds(tool("return {'success': True, 'data': repr(object())}"))


def test_declared_and_real_tools_are_compared():
    world = skeleton()
    ghost = world.tools[0].model_copy(update={"name": "ghost"})
    short = world.tools[1].model_copy(
        update={"parameters": {"type": "object", "properties": {}, "required": []}}
    )
    found = kinds(world.replace(tools=[ghost, short]), STATE)
    assert {("no-method", "error"), ("schema", "warning"), ("undeclared", "note")} <= found


def test_what_does_not_load():
    assert ("no-load", "error") in kinds(
        skeleton("class W:\n    def __init__(self):\n        1 / 0\n    def run(self): pass")
    )
