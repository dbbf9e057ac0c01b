"""Faults of checks: each kind is named, with what shows it, and a sound check is left alone.

Run: python -m pytest tests/test_world_checklist.py -q
"""

import pytest
from worlds import LOANS, STATE

from envscaler import release as published_data
from envscaler.certifying.checklist import find_faults
from envscaler.schema import Check
from envscaler.world.certificate import garbage, wiped
from envscaler.world.check import grade_all

INITIAL = {**STATE, "loans": {}, "counter": 0}


def check(body: str, kind: str = "goal", item: str = "Has it been done?") -> Check:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return Check(item=item, source=f"def check_func(final_state):\n{lines}", kind=kind)


def faults(*checks: Check, task: str = "", **told: object) -> dict[str, str]:
    graded = grade_all(checks, INITIAL, [INITIAL, wiped(INITIAL), garbage(INITIAL)], list(INITIAL))
    found = find_faults(checks, INITIAL, graded, source=LOANS, task=task, **told)
    assert all(f.evidence["check"] in {c.source for c in checks} for f in found)
    return {finding.kind: finding.severity for finding in found}


@pytest.mark.parametrize(
    ("body", "kind", "severity"),
    [
        (
            "return final_state['books']['B-1']['copies'] == 2 if final_state['books'] else False",
            "vacuous",
            "error",
        ),
        ("return final_state['nowhere']['x']['y'] == 1", "missing-table", "error"),
        ("return final_state['books'] is 5 or 1 / 0 > 1", "always-broken", "error"),
        ("return [b for b in final_state['books']]", "always-broken", "error"),
        ("return final_state['books']['B-1']['copies'] == 1", "sometimes-broken", "warning"),
        ("return True", "blind", "error"),
        ("return final_state['books'].get('B-1', {}).get('colour') == 'red'", "missing-field", "warning"),
        ("for b in final_state['books']:\n    pass\nreturn False", "only-false", "error"),
        ("return final_state.get('loans', {}).get('L-77') is True", "absent-record", "note"),
        (
            "return len(final_state.get('loans', {})) > len(initial_state.get('loans', {}))",
            "reads-initial-state",
            "note",
        ),
        ("return 'x' in final_state.get('init_config', {})", "reads-init-config", "warning"),
        ('return final_state.get("counter") == "\\ud83d\\ude21"', "half-characters", "error"),
    ],
)
def test_each_fault_is_named(body: str, kind: str, severity: str) -> None:
    assert faults(check(body))[kind] == severity


@pytest.mark.parametrize(
    "body",
    [
        "return any(l.get('book_id') == 'B-1' for l in final_state.get('loans', {}).values() if isinstance(l, dict))",
        "return final_state.get('counter') == 1",
        "if not final_state.get('loans'):\n    return False\nreturn True",
    ],
)
def test_a_sound_check_is_left_alone(body: str) -> None:
    assert set(faults(check(body))) <= {"vacuous"}
    if "counter" in body:
        assert faults(check(body)) == {}


def test_a_guard_may_hold_at_reset() -> None:
    body = "return len(final_state.get('members', {})) == 1"
    assert "vacuous" in faults(check(body)) and "vacuous" not in faults(check(body, "guard"))


def test_sources_that_are_none() -> None:
    for source in ("", "def", "x = 1"):
        broken = Check(item="?", source=source)
        graded = grade_all([broken], INITIAL, [INITIAL], list(INITIAL))
        kinds = {f.kind for f in find_faults([broken], INITIAL, graded)}
        assert {"no-source", "always-broken"} <= kinds


def test_helpers_are_told_and_harmless() -> None:
    helper = "def helper(s):\n    return s.get('counter')\n\n"
    source = f"{helper}def check_func(final_state):\n    return helper(final_state) == 3"
    made = Check(item="?", source=source)
    assert faults(made) == {"helpers": "note"}


def test_a_key_that_the_task_names_is_not_absent() -> None:
    body = "return final_state.get('loans', {}).get('L-77') is True"
    assert faults(check(body), task="Make a loan called L-77.") == {}


def test_checks_that_contradict_each_other() -> None:
    one = check("return final_state['books'].get('B-1', {}).get('title') == 'Ash'", item="Ash?")
    other = check("return final_state['books'].get('B-1', {}).get('title') == 'Oak'", item="Oak?")
    third = check("return final_state['books'].get('B-2', {}).get('title') == 'Oak'", item="Other?")
    assert faults(one, other)["contradiction"] == "warning"
    assert "contradiction" not in faults(one, third) and "contradiction" not in faults(one, one)
    either = check("return final_state['books'].get('B-1', {}).get('title') in ('Oak', 'Elm')")
    assert "contradiction" not in faults(one, either)


def test_what_a_search_never_saw() -> None:
    body = "return final_state.get('counter') == 99"
    assert faults(check(body), seen_true=[False], states=40) == {"never-true": "warning"}
    assert faults(check(body), seen_true=[True], states=40) == {}
    cannot = check("if final_state:\n    return False\nreturn False")
    assert "never-true" not in faults(cannot, seen_true=[False], states=40), "it is said better already"


def test_what_a_search_never_saw_together() -> None:
    one, other = (
        check("return final_state.get('counter') == 5", item="Five?"),
        check("return final_state.get('counter') == 6"),
    )
    assert faults(one, other, states=9, never_together=[(0, 1)]) == {"never-together": "warning"}


@pytest.mark.release
def test_what_is_wrong_with_the_published_checks(release) -> None:
    """The figures that the report of the sample shows."""
    skeletons = published_data.read_environments(release)
    worlds, kinds = skeletons.by_id(), []
    for made in published_data.read_scenarios(release / "rl_scenarios.json", skeletons):
        state = made.initial_state
        graded = grade_all(made.checks, state, [state], list(state))
        source = worlds[made.skeleton_id].source
        kinds += [f.kind for f in find_faults(made.checks, state, graded, source=source, task=made.task)]
    counts = {kind: kinds.count(kind) for kind in set(kinds)}
    assert counts["vacuous"] == 48 and counts["missing-table"] == 7 and counts["only-false"] == 1
    assert counts["half-characters"] == 2 and counts["reads-initial-state"] == 4
    assert "always-broken" not in counts and "no-source" not in counts
