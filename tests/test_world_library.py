"""The referee is silent about the built-in library: every world of it, without faults, keeps the contract."""

import numpy as np
import pytest

from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.schema import Skeleton
from envscaler.world.joining import assemble
from envscaler.world.referee import check_environment
from envscaler.world.source import read_tools


@pytest.mark.parametrize("name", list(domains()))
def test_no_false_error(name):
    world = world_of(name)
    source = assemble(world.head(name, "World", list(world.rules)), [t.source for t in world.tools.values()])
    tools = read_tools(source, "World", {t.name: t.mutates for t in world.tools.values()})
    fields = {
        "theme_id": "",
        "title": name,
        "summary": "",
        "class_name": "World",
        "source": source,
        "state": [],
    }
    found = check_environment(
        Skeleton(**fields, rules=[], tools=tools), world.state(np.random.default_rng(1))
    )
    assert [f"{f.kind} {f.message}" for f in found if f.severity != "note"] == []
