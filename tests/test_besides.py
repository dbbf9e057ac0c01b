"""Plays that do more than was asked, or do it twice: what is wrong is refused, what is right is let pass."""

import pytest
from worlds import skeleton

from envscaler.schema import Call, Certificate, Check, Proof, Scenario
from envscaler.world.certificate import certify
from envscaler.world.mutants.calls import ARGUMENT_MORE
from envscaler.world.proving.otherwise import is_said
from envscaler.world.proving.unasked import AFTERWARDS

DESK = """
class Desk:
    def __init__(self, initial_state=None):
        self.tickets: dict[str, dict] = {}
        self.staff: dict[str, dict] = {}
        self.history: list = []
        self.payments: list = []

    def change(self, ticket_id: str, room: str | None = None, title: str | None = None, urgent: bool | None = None):
        '''Change.

        Args:
            ticket_id: The ticket.
            room: Its room.
            title: Its title.
            urgent: Whether it is urgent.
        '''
        if ticket_id not in self.tickets:
            return {"success": False, "error": "No such ticket."}
        given = {"room": room, "title": title, "urgent": urgent}
        self.tickets[ticket_id].update({k: v for k, v in given.items() if v is not None})
        return {"success": True}

    def assign(self, ticket_id: str, staff_id: str):
        '''Assign.

        Args:
            ticket_id: The ticket.
            staff_id: To whom.
        '''
        if ticket_id not in self.tickets or staff_id not in self.staff:
            return {"success": False, "error": "No such ticket or person."}
        self.tickets[ticket_id]["staff_id"] = staff_id
        self.tickets[ticket_id]["version"] += 1
        self.NOTED.append({"ticket_id": ticket_id, "to": staff_id})
        return {"success": True, "data": dict(self.tickets[ticket_id])}

    def label(self, ticket_id: str, labels: list[str]):
        '''Label.

        Args:
            ticket_id: The ticket.
            labels: Its labels.
        '''
        if ticket_id not in self.tickets:
            return {"success": False, "error": "No such ticket."}
        self.tickets[ticket_id]["labels"] = list(labels)
        return {"success": True}

    def close(self, ticket_id: str):
        '''Close.

        Args:
            ticket_id: The ticket.
        '''
        if ticket_id not in self.tickets or self.tickets[ticket_id]["shut"]:
            return {"success": False, "error": "No such open ticket."}
        self.tickets[ticket_id]["shut"] = True
        return {"success": True}
"""
STATE = {
    "tickets": {
        f"T{n}": {
            "ticket_id": f"T{n}", "title": title, "room": f"A{n}", "urgent": False, "staff_id": f"S{n}",
            "version": n + 4, "labels": [f"old{n}"], "shut": False,
        }
        for n, title in enumerate(["Printer", "Mouse", "Screen"], start=1)
    },
    "staff": {f"S{n}": {"name": name} for n, name in enumerate(["Ada", "Bob", "Cy"], start=1)},
    "history": [],
    "payments": [],
}  # fmt: skip
REST = (
    "x.get('title') == 'Mouse' and x.get('urgent') is False and x.get('shut') is False "
    "and x.get('labels') == ['old2']"
)


def certified(
    condition: str, *witness: Call, task: str = "See to T2.", noted: str = "history"
) -> tuple[Certificate, Proof]:
    """The certificate of a task about the second ticket, `x`, and its line about mutants."""
    world = skeleton(DESK.replace("NOTED", noted), "Desk")
    source = (
        "def check_func(final_state):\n    held = final_state.get('tickets')\n"
        "    x = held.get('T2') if isinstance(held, dict) else None\n"
        f"    return isinstance(x, dict) and bool({condition})\n"
    )
    made = Scenario(
        skeleton_id=world.id,
        initial_state=STATE,
        task=task,
        checks=[Check(item="Is T2 seen to?", source=source)],
        may_change=["tickets/T2", f"{noted}/+"],
        witness=list(witness),
    )
    certificate = certify(world, made)
    return certificate, next(proof for proof in certificate.proofs if proof.name == "mutants killed")


def call(tool: str, free: tuple[str, ...] = (), **given: object) -> Call:
    return Call(tool=tool, arguments={"ticket_id": "T2", **given}, free=list(free))


ROOM = "x.get('room') == 'B9' and x.get('staff_id') == 'S2' and x.get('shut') is False and x.get('labels') == ['old2']"


def test_an_argument_more_that_changes_a_record_nobody_spoke_of_is_refused() -> None:
    certificate, line = certified(ROOM, call("change", room="B9"))
    assert not certificate.valid and f"[{ARGUMENT_MORE}] call 0 (change).title" in line.detail
    assert f"[{ARGUMENT_MORE}] call 0 (change).urgent" in line.detail


def test_it_is_no_fault_where_the_checks_look_or_the_task_leaves_it_free() -> None:
    for condition, free in ((f"{ROOM} and x.get('title') == 'Mouse' and x.get('urgent') is False", ()),
                            (ROOM, ("title", "urgent"))):  # fmt: skip
        certificate, _ = certified(condition, call("change", free, room="B9"))
        tried = [kill for kill in certificate.kills if kill.kind == ARGUMENT_MORE]
        assert bool(tried) == (not free) and all(kill.killers for kill in tried)


@pytest.mark.parametrize("condition", ["x.get('staff_id') == 'S3' and x.get('title') == 'Mouse'"])
def test_a_call_afterwards_on_what_was_touched_is_refused(condition: str) -> None:
    certificate, line = certified(condition, call("assign", staff_id="S3"))
    assert not certificate.valid and f'[{AFTERWARDS}] close(ticket_id="T2")' in line.detail


@pytest.mark.parametrize(("noted", "valid"), [("history", True), ("payments", False)])
def test_a_setter_made_twice_is_right_where_only_a_log_and_a_version_tell(noted: str, valid: bool) -> None:
    certificate, line = certified(
        f"x.get('staff_id') == 'S3' and x.get('room') == 'A2' and {REST}",
        call("assign", staff_id="S3"),
        noted=noted,
    )
    assert certificate.valid is valid, certificate.reasons
    assert ("[call doubled]" in line.detail) is not valid
    assert any(kill.kind == AFTERWARDS and kill.killers for kill in certificate.kills)


@pytest.mark.parametrize(
    ("condition", "task", "kind"),
    [
        ("{'a1', 'b2', 'c3'} <= set(map(str, x.get('labels') or []))", "Label T2 a1, b2, c3.", "entry more"),
        ("sorted(map(str, x.get('labels') or [])) == ['a1', 'b2', 'c3']", "Label T2 a1, b2, c3 in this order.",
         "entries in another order"),
        ("sorted(map(str, x.get('labels') or [])) == ['a1', 'b2', 'c3']", "Label T2 a1, b2, c3.", ""),
        ("set(map(str, x.get('labels') or [])) == {'a1', 'b2', 'c3'}", "Label T2 a1, b2, c3.", ""),
        ("(x.get('labels') or []) and set(map(str, x['labels'])) <= {'a1', 'b2', 'c3'}", "Label T2 a1, b2, c3.",
         "entry missing"),
    ],
)  # fmt: skip
def test_a_list_is_held_to_its_entries_and_to_its_order_where_the_task_speaks_of_one(
    condition: str, task: str, kind: str
) -> None:
    rest = REST.replace(
        " and x.get('labels') == ['old2']", " and x.get('staff_id') == 'S2' and x.get('room') == 'A2'"
    )
    certificate, line = certified(
        f"{condition} and {rest}", call("label", labels=["a1", "b2", "c3"]), task=task
    )
    assert certificate.valid is (not kind), certificate.reasons
    assert f"[{kind}]" in line.detail or not kind


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("Put T2 into B9.", True),
        ("Put T2 into room b9, please.", True),
        ("Put T2 into a room that you like, but not B99 or B9.5.", False),
    ],
)
def test_what_the_task_names_is_not_free_whatever_is_marked(task: str, said: bool) -> None:
    loose = f"x.get('room') != 'A2' and x.get('staff_id') == 'S2' and {REST}"
    certificate, line = certified(loose, call("change", ("room",), room="B9"), task=task)
    assert certificate.valid is not said, certificate.reasons
    assert ("Not free, for the task names the value: call 0 (change).room." in line.detail) is said
    strict, _ = certified(
        loose.replace("!= 'A2'", "== 'B9'"), call("change", ("room",), room="B9"), task=task
    )
    assert strict.valid is said, "a check that insists on it is right where the task names it"


@pytest.mark.parametrize(
    ("value", "task", "said"),
    [
        (4, "Order 4 pens.", True),
        (100.0, "Pay 100 dollars.", True),
        (4, "Order 4.5 litres or 42 pens.", False),
        ("2025-04-15", "Lend it until 2025-04-15.", True),
        ("2025-04-15", "It has to be back on 2025-04-15 at the latest.", False),
        (4, "Order at least 4 pens.", False),
        (4, "Order 4 pens or more.", False),
        ("B9", "Put it into a room such as B9.", False),
        (["a1", "b2"], "Label it b2 and a1.", True),
        (["a1", "b2"], "Label it b2.", False),
        (True, "It is true.", False),
        (None, "None", False),
        ("", "", False),
        ({"$from": [0, "data", "id"]}, "0 data id", False),
    ],
)
def test_which_values_a_task_says(value: object, task: str, said: bool) -> None:
    assert is_said(value, task) is said
