"""Where no seal holds: code of the built-in library runs by itself, any other code only when asked for by name."""

import pytest
from worlds import LOANS, skeleton

import envscaler as es
from envscaler.error import SandboxError
from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.faults import spoil
from envscaler.schema import Check
from envscaler.world.check import grade
from envscaler.world.environment import Environment
from envscaler.world.joining import assemble
from envscaler.world.sandbox import pool, trust
from envscaler.world.sandbox.trust import is_known
from envscaler.world.source import parse_class


@pytest.fixture
def unsealed(monkeypatch):
    """A machine like a Mac: no seal."""
    fresh = pool._Pool()
    monkeypatch.setattr(pool, "_pool", fresh)
    monkeypatch.setattr(fresh, "_try_seal", lambda: "the seal is made for x86-64 Linux")
    yield
    fresh.close()


def library_world(name="hotel", title="Another title", class_name="Other", change=lambda source: source):
    world = world_of(name)
    head = world.head(title, class_name, ["A rule in other words."])
    return assemble(head, [change(tool.source) for tool in world.tools.values()])


@pytest.mark.parametrize("name", list(domains()))
def test_every_world_of_the_library_is_known_under_any_title(name):
    assert is_known(library_world(name))


def test_tools_with_faults_of_the_library_are_known():
    import numpy as np

    rng = np.random.default_rng(0)
    assert is_known(library_world(change=lambda source: spoil(source, rng)))


STRANGE = [
    LOANS,
    "import os",
    "x = 1",
    "def check_func(final_state):\n    return True",
    "(",
    "class W:\n    def run(self): return __import__('os').system('true')",
]


@pytest.mark.parametrize("source", STRANGE)
def test_other_code_is_not_known(source):
    assert not is_known(source)


@pytest.mark.parametrize(
    "added",
    [
        "\nimport os\n",
        "\nprint(1)\n",
        "\n    def extra(self):\n        return 1\n",
        "\n    x = [].append(1)\n",
        "\nclass Room(list): pass\n",
        "\nclass Room(metaclass=print): pass\n",
        "\n@print\nclass Room: pass\n",
    ],
)
def test_one_strange_piece_makes_it_unknown(added):
    assert not is_known(library_world() + added)


def test_a_changed_method_default_or_decorator_is_a_strange_piece():
    source = library_world()
    parsed = parse_class(source)
    first = next(method for method in parsed.methods.values() if method.public)
    for old, new in (
        (f"def {first.name}(self", f"def {first.name}(self, a=print()"),
        (f"    def {first.name}(", f"    @print\n    def {first.name}("),
        ("deepcopy(initial_state or {})", "(print(), initial_state or {})[1]"),
    ):
        assert old in source and not is_known(source.replace(old, new, 1))


def test_library_code_runs_by_itself_and_other_code_is_refused(unsealed, caplog, monkeypatch):
    made = skeleton(library_world())
    with Environment(made, {}) as world:
        world.reset()
        world.call(made.tools[0].name)
    with Environment(skeleton(), {}) as world, pytest.raises(SandboxError, match="isolation='process'"):
        world.reset()
    with pytest.raises(SandboxError, match="not of the built-in library"):
        grade([Check(item="?", source="def check_func(final_state):\n    return True")], {}, {})
    for _ in range(2):
        with Environment(skeleton(), {}, isolation="process") as world:
            world.reset()
    monkeypatch.setenv("ENVSCALER_ISOLATION", "process")
    with Environment(skeleton(), {}) as world:
        world.reset()
    assert sum("time-limited, not sealed" in record.message for record in caplog.records) == 1
    monkeypatch.setenv("ENVSCALER_ISOLATION", "none")
    with Environment(skeleton(), {}) as world, pytest.raises(SandboxError, match="'none'"):
        world.reset()


def test_the_series_runs_unsealed_on_the_built_in_model(unsealed):
    model = es.connect("builtin", fault_rate=0)
    theme = es.Theme(
        title="Hotel reservations",
        summary="A hotel keeps rooms, guests and reservations.",
        usefulness=9,
        modelability=9,
        task_ids=["x"],
    )
    made = es.build_skeleton(theme, model)
    scenario = es.build_scenario(made, model)
    assert scenario.certificate is not None and scenario.certificate.valid
    audit = es.audit_skeleton(made, model, rounds=10)
    assert len(audit.probes) == 10


def test_without_vouchers_nothing_is_known(monkeypatch):
    monkeypatch.setattr(trust, "vouchers", [])
    trust.forget()
    try:
        assert not is_known(library_world())
    finally:
        trust.forget()
