"""The referee finds what a class can get wrong, and is silent about a sound one."""

import pytest
from worlds import STATE, skeleton, tool

from envscaler.world.environment import Environment
from envscaler.world.referee import check_environment


def kinds(world, state=None, **options):
    return {(f.kind, f.severity) for f in check_environment(world, state, timeout=0.5, **options)}


def test_a_sound_world_is_left_in_peace():
    assert {f.severity for f in check_environment(skeleton(), STATE)} <= {"note"}
    assert {f.severity for f in check_environment(skeleton())} <= {"note"}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("self.n += 1\nraise ValueError", ("raises", "error")),
        ("self.n += 1\nreturn {'success': False, 'error': 'x'}", ("refused-writes", "error")),
        ("return 5", ("reply-form", "warning")),
        ("while True: pass", ("lost", "error")),
        ("import os", ("import", "error")),
        ("return {'success': True, 'data': object()}", ("not-json", "error")),
        ("self.n = b'x'\nreturn {'success': True}", ("not-json", "error")),
        ("self.things['x'] = (1, 2)\nreturn {'success': True}", ("not-json", "warning")),
        ("self.things[7] = 1\nreturn {'success': True}", ("int-keys", "error")),
        ("return {'success': True, 'data': self.things}", ("alias", "note")),
        ("World.total = getattr(World, 'total', 0) + 1\nreturn {'success': True}", ("shared-state", "error")),
        ("World.__dict__.get('x')\nCACHE.append(1)\nreturn {'success': True}", ("shared-state", "error")),
    ],
)
def test_what_it_finds(body, found):
    assert found in kinds(tool(body, top="CACHE = []"))


def test_a_read_that_writes():
    world = tool("self.n += 1\nreturn {'success': True}")
    read = [t.model_copy(update={"mutates": False}) for t in world.tools]
    assert ("read-writes", "error") in kinds(world.replace(tools=read))


def test_private_state_that_a_snapshot_loses():
    body = "self._seen = getattr(self, '_seen', 0) + 1\nreturn {'success': True, 'data': self._seen}"
    keeps = "self._seen = [*getattr(self, '_seen', []), object()]\nreturn {'success': True, 'data': len(self._seen)}"
    assert ("restore-loses", "error") in kinds(tool(keeps))
    assert ("restore-loses", "error") not in kinds(tool(body))


def test_an_annotated_table_keeps_its_whole_keys():
    source = (
        "class W:\n    def __init__(self):\n        self.rows: dict[int, dict] = {}\n"
        "    def get_row(self, row_id: int):\n        '''Get.'''\n"
        "        return {'success': row_id in self.rows, 'error': 'no'}\n"
    )
    state = {"rows": {"1": {"x": 1}, "2": {"x": 2}}}
    assert ("int-keys", "error") not in kinds(skeleton(source), state)
    assert ("int-keys", "error") in kinds(skeleton(source.replace(": dict[int, dict]", "")), state)


STAFF = {
    "departments": {
        "D-1": {"department_id": "D-1", "name": "Sales"},
        "D-2": {"department_id": "D-2", "name": "Law"},
    },
    "staff": {
        "S-1": {"staff_id": "S-1", "department_id": "D-1", "department": "Sales"},
        "S-2": {"staff_id": "S-2", "department_id": "D-2", "department": "Law"},
    },
}


def staff(body):
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return skeleton(
        "class W:\n    def __init__(self):\n        self.departments: dict = {}\n        self.staff: dict = {}\n\n"
        f"    def staff_of(self, department_id: str):\n        '''List.'''\n{lines}\n"
    )


REPLY = "\nreturn {'success': True, 'data': found}"


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("found = [s for s in self.staff.values() if s['department'] == department_id]", "error"),
        ("found = [s for s in self.staff.values() if department_id.lower() == s['department'].lower()]", "error"),
        ("found = [d for d in [r['name'] for r in self.departments.values()] if department_id in [d]]", "error"),
        ("found = department_id in {'x': 1} and 1\n"
         "found = [s for s in self.staff.values() if s['department'] == department_id]", "warning"),
        ("found = [s for s in self.staff.values() if s['department_id'] == department_id]", None),
        ("found = department_id in self.departments", None),
        ("found = department_id == 'all'", None),
        ("found = [s for s in self.staff.values() if department_id in (s['department_id'], s['department'])]", None),
    ],
)  # fmt: skip
def test_an_id_that_is_compared_with_something_else(body, severity):
    found = dict(kinds(staff(body + REPLY), STAFF))
    assert found.get("id-compared") == severity


def test_wrong_types_that_raise_are_told_though_the_library_refuses_them():
    found = check_environment(staff("found = department_id.lower()" + REPLY), STAFF)
    told = next(f for f in found if f.kind == "wrong-type-raises")
    assert told.severity == "note" and [f.kind for f in found].count("wrong-type-raises") == 1
    assert told.evidence["staff_of"]["department_id"]["error"]["type"] == "AttributeError"


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"properties": {"dept": {"type": "string"}}, "required": ["dept"]}, ("schema", "error")),
        ({"properties": {"department_id": {"type": "string"}}, "required": []}, ("schema-required", "error")),
        (
            {"properties": {"department_id": {"type": "object"}}, "required": ["department_id"]},
            ("schema-type", "warning"),
        ),
    ],
)  # fmt: skip
def test_schema_and_signature_are_compared(parameters, found):
    world = staff("found = department_id in self.departments" + REPLY)
    declared = world.tools[0].model_copy(update={"parameters": {"type": "object", **parameters}})
    assert found in kinds(world.replace(tools=[declared]), STAFF)
    assert found not in kinds(world, STAFF)


def test_looking_changes_nothing():
    world = tool("self.n += 1\nself.things['x'] = self.n\nreturn {'success': True, 'data': self.n}")
    with Environment(world, {}) as environment:
        environment.reset()
        for _ in range(3):
            environment._live.observe("run", {})
        assert environment.call("run")["data"] == 1 and environment.state == {"things": {"x": 1}, "n": 1}


def test_addresses_in_replies_are_not_repeatable():
    assert ("not-repeatable", "error") in kinds(tool("return {'success': True, 'data': repr(object())}"))


def test_declared_and_real_tools_are_compared():
    world = skeleton()
    ghost = world.tools[0].model_copy(update={"name": "ghost"})
    short = world.tools[1].model_copy(
        update={"parameters": {"type": "object", "properties": {}, "required": []}}
    )
    found = kinds(world.replace(tools=[ghost, short]), STATE)
    assert {("no-method", "error"), ("schema-required", "error"), ("undeclared", "note")} <= found


def test_what_does_not_load():
    assert ("no-load", "error") in kinds(
        skeleton("class W:\n    def __init__(self):\n        1 / 0\n    def run(self): pass")
    )


def test_findings_show_themselves():
    found = check_environment(tool("self.n += 1\nraise ValueError('<b>')"), {})
    page = found._repr_html_()
    assert found.errors and found[0].severity == "error" and "raises" in page and "&lt;b&gt;" in page
    assert "<b>'" not in page and "evidence" in page
    assert "0 errors" in check_environment(skeleton(), STATE)._repr_html_()
