"""A small world by hand, the village library, and an author who writes it step by step, well or with given slips."""

import json
from collections.abc import Callable
from pathlib import Path

from envscaler.model.prompt import blocks
from envscaler.model.request import Request
from envscaler.model.scripted import ScriptedModel
from envscaler.schema import Call, Check, Rule, Scenario, Skeleton, Theme
from envscaler.world.joining import assemble
from envscaler.world.source import read_tools

HEAD = '''
from copy import deepcopy
from typing import TypedDict


class Member(TypedDict):
    """Somebody who may borrow."""

    member_id: str
    name: str
    active: bool  # may borrow


class Book(TypedDict):
    book_id: str
    title: str
    copies: int  # at least 1


class Loan(TypedDict):
    loan_id: str
    book_id: str
    member_id: str
    due: str  # YYYY-MM-DD
    out: bool


class VillageLibrary:
    """A village library with members, books and loans.

    Rules:
    - A book never has more open loans than copies.
    - Every loan names a book and a member
      that exist.
    """

    def __init__(self, initial_state: dict | None = None) -> None:
        self.members: dict[str, Member] = {}
        self.books: dict[str, Book] = {}
        self.loans: dict[str, Loan] = {}
        self.next_loan: int = 1
        for name, value in deepcopy(initial_state or {}).items():
            setattr(self, name, value)

    def _open_loans(self, book_id: str) -> int:
        """How many copies of a book are out."""
        return sum(1 for loan in self.loans.values() if loan["book_id"] == book_id and loan["out"])
'''.lstrip()

METHODS = {
    "get_member": '''
def get_member(self, member_id: str) -> dict:
    """Return one member.

    Args:
        member_id: Id of the member, e.g. M-1.

    Returns:
        The member, or an error.
    """
    if member_id not in self.members:
        return {"success": False, "error": f"There is no member {member_id!r}."}
    return {"success": True, "data": dict(self.members[member_id])}
''',
    "find_member": '''
def find_member(self, name: str) -> dict:
    """Find members by name.

    Args:
        name: The whole name.

    Returns:
        The members of that name.
    """
    found = [dict(m) for m in self.members.values() if m["name"].lower() == name.lower()]
    return {"success": True, "data": found}
''',
    "find_book": '''
def find_book(self, title: str) -> dict:
    """Find books by title.

    Args:
        title: The whole title.

    Returns:
        The books of that title.
    """
    return {"success": True, "data": [dict(b) for b in self.books.values() if b["title"].lower() == title.lower()]}
''',
    "list_loans": '''
def list_loans(self, member_id: str) -> dict:
    """List the open loans of a member.

    Args:
        member_id: Id of the member.

    Returns:
        The loans, or an error.
    """
    if member_id not in self.members:
        return {"success": False, "error": f"There is no member {member_id!r}."}
    found = [dict(x) for x in self.loans.values() if x["member_id"] == member_id and x["out"]]
    return {"success": True, "data": found}
''',
    "lend_book": '''
def lend_book(self, book_id: str, member_id: str, due: str) -> dict:
    """Lend a book to an active member; refused when no copy is left.

    Args:
        book_id: Id of the book.
        member_id: Id of the member.
        due: Day it must be back, YYYY-MM-DD.

    Returns:
        The new loan, or an error.
    """
    if book_id not in self.books or member_id not in self.members:
        return {"success": False, "error": "There is no such book or member."}
    if not self.members[member_id]["active"]:
        return {"success": False, "error": f"Member {member_id} may not borrow."}
    if self._open_loans(book_id) >= self.books[book_id]["copies"]:
        return {"success": False, "error": f"No copy of {book_id} is left."}
    loan = {"loan_id": f"L-{self.next_loan}", "book_id": book_id, "member_id": member_id, "due": due, "out": True}
    self.loans[loan["loan_id"]] = loan
    self.next_loan += 1
    return {"success": True, "message": "Lent.", "data": dict(loan)}
''',
    "return_book": '''
def return_book(self, loan_id: str) -> dict:
    """Close an open loan.

    Args:
        loan_id: Id of the loan.

    Returns:
        The closed loan, or an error.
    """
    if loan_id not in self.loans or not self.loans[loan_id]["out"]:
        return {"success": False, "error": f"There is no open loan {loan_id!r}."}
    self.loans[loan_id]["out"] = False
    return {"success": True, "message": "Returned.", "data": dict(self.loans[loan_id])}
''',
}
WRITES = {"lend_book", "return_book"}
GREEDY = METHODS["lend_book"].replace('>= self.books[book_id]["copies"]', ">= 99")
"""lend_book without the check of the copies: breaks the first rule."""

RULES = ["A book never has more open loans than copies.", "Every loan names a book and a member that exist."]
INVARIANTS = {
    RULES[0]: (
        "def invariant(before, after, call):\n"
        "    out = [l['book_id'] for l in after.get('loans', {}).values() if l.get('out')]\n"
        "    return all(out.count(k) <= b.get('copies', 0) for k, b in after.get('books', {}).items())\n"
    ),
    RULES[1]: (
        "def invariant(before, after, call):\n"
        "    return all(l.get('book_id') in after.get('books', {}) and l.get('member_id') in after.get('members', {})\n"
        "               for l in after.get('loans', {}).values())\n"
    ),
}
STATE = {
    "members": {
        "M-1": {"member_id": "M-1", "name": "Ida Berg", "active": True},
        "M-2": {"member_id": "M-2", "name": "Tom Aske", "active": True},
        "M-3": {"member_id": "M-3", "name": "Lou Vik", "active": False},
    },
    "books": {
        "B-1": {"book_id": "B-1", "title": "Emma", "copies": 1},
        "B-2": {"book_id": "B-2", "title": "Kim", "copies": 2},
        "B-3": {"book_id": "B-3", "title": "Ivanhoe", "copies": 1},
    },
    "loans": {
        "L-1": {"loan_id": "L-1", "book_id": "B-1", "member_id": "M-2", "due": "2025-03-01", "out": True},
        "L-2": {"loan_id": "L-2", "book_id": "B-2", "member_id": "M-2", "due": "2025-03-01", "out": True},
        "L-3": {"loan_id": "L-3", "book_id": "B-3", "member_id": "M-1", "due": "2025-03-08", "out": True},
    },
    "next_loan": 4,
}
TASK = (
    "Hello, I am at the desk of the library this morning. Tom Aske has just brought back the copy of Emma that he had "
    "borrowed, so please take it back for him and leave his other book as it is. Ida Berg has been waiting for exactly "
    "that title; lend it to her right away, and it has to be back with us on 2025-04-15 at the latest."
)
ITEMS = {
    "Has Tom Aske's loan L-1 of Emma been closed?": (
        "goal",
        "def check_func(final_state):\n"
        "    loan = (final_state.get('loans') or {}).get('L-1')\n"
        "    return isinstance(loan, dict) and loan.get('out') is False\n",
    ),
    "Has a loan of Emma to Ida Berg until 2025-04-15 been added?": (
        "goal",
        "def check_func(final_state):\n"
        "    loans = final_state.get('loans')\n"
        "    if not isinstance(loans, dict):\n"
        "        return False\n"
        "    return any(k not in initial_state['loans'] and isinstance(x, dict) and x.get('book_id') == 'B-1'\n"
        "               and x.get('member_id') == 'M-1' and x.get('due') == '2025-04-15' and x.get('out') is True\n"
        "               for k, x in loans.items())\n",
    ),
    "Is Tom Aske's loan L-2 of Kim still open?": (
        "guard",
        "def check_func(final_state):\n"
        "    loan = (final_state.get('loans') or {}).get('L-2')\n"
        "    return isinstance(loan, dict) and loan.get('out') is True\n",
    ),
}
MAY_CHANGE = ["loans/L-1", "loans/+", "next_loan"]
WITNESS = [
    {"tool": "find_member", "arguments": {"name": "Tom Aske"}},
    {"tool": "list_loans", "arguments": {"member_id": {"$from": [0, "data", 0, "member_id"]}}},
    {"tool": "return_book", "arguments": {"loan_id": {"$from": [1, "data", 0, "loan_id"]}}},
    {"tool": "find_member", "arguments": {"name": "Ida Berg"}},
    {"tool": "find_book", "arguments": {"title": "Emma"}},
    {
        "tool": "lend_book",
        "arguments": {
            "book_id": {"$from": [4, "data", 0, "book_id"]},
            "member_id": {"$from": [3, "data", 0, "member_id"]},
            "due": "2025-04-15",
        },
    },
]
ENTITIES = [
    {"name": "Member", "table": "members", "attributes": [{"name": n} for n in ("member_id", "name", "active")]},
    {"name": "Book", "table": "books", "attributes": [{"name": n} for n in ("book_id", "title", "copies")]},
    {"name": "Loan", "table": "loans",
     "attributes": [{"name": n} for n in ("loan_id", "book_id", "member_id", "due", "out")]},
]  # fmt: skip
THEME = Theme(
    title="Village library",
    summary="Members borrow books.",
    usefulness=8,
    modelability=9,
    task_ids=["t"],
    example="Lend me Emma.",
)
PLAN = {"tools": [{"name": n, "purpose": n, "mutates": n in WRITES} for n in METHODS]}


def fenced(code: str) -> str:
    return f"```python\n{code.strip()}\n```"


def skeleton(**methods: str) -> Skeleton:
    """The library as a skeleton, some methods exchanged."""
    source = assemble(HEAD, list({**METHODS, **methods}.values()))
    return Skeleton(
        theme_id=THEME.id, title=THEME.title, summary=THEME.summary, class_name="VillageLibrary", source=source,
        state=ENTITIES, rules=[Rule(text=t, invariant=i) for t, i in INVARIANTS.items()],
        tools=read_tools(source, "VillageLibrary"),
    )  # fmt: skip


def scenario(**changes: object) -> Scenario:
    """The library's scenario as its author writes it, some fields exchanged."""
    fields: dict = {
        "skeleton_id": skeleton().id, "initial_state": STATE, "task": TASK, "may_change": MAY_CHANGE,
        "checks": [Check(item=item, kind=kind, source=source) for item, (kind, source) in ITEMS.items()],
        "witness": [Call(**call) for call in WITNESS], **changes,
    }  # fmt: skip
    return Scenario(**fields)


def write_file(folder: Path) -> Path:
    path = folder / "mine.py"
    path.write_text(skeleton().source)
    return path


PROBES = {
    "get_member": ({"member_id": "M-1"}, {"member_id": "M-3"}, {"member_id": "M-99"}),
    "find_member": ({"name": "Ida Berg"}, {"name": "ida berg"}, {"name": "Nobody"}),
    "find_book": ({"title": "Emma"}, {"title": "emma"}, {"title": "Nothing"}),
    "list_loans": ({"member_id": "M-2"}, {"member_id": "M-1"}, {"member_id": "M-99"}),
    "lend_book": (
        {"book_id": "B-2", "member_id": "M-1", "due": "2025-05-01"},
        {"book_id": "B-2", "member_id": "M-1", "due": "2025-05-02"},
        {"book_id": "B-3", "member_id": "M-1", "due": "2025-05-03"},
    ),
    "return_book": ({"loan_id": "L-2"}, {"loan_id": "L-1"}, {"loan_id": "L-99"}),
}


def _probe(b: dict[str, str]) -> str:
    due = json.loads(b["suggestion"])
    place = ("positive", "boundary", "negative").index(due["intent"])
    arguments = PROBES[due["tool"]][place]
    return json.dumps({"thought": "", "tool": due["tool"], "intent": due["intent"], "arguments": arguments})


GOOD: dict[str, Callable[[dict[str, str]], str]] = {
    "skeletons/plan_state": lambda b: json.dumps(
        {"class_name": "VillageLibrary", "entities": ENTITIES, "rules": RULES}
    ),
    "skeletons/write_class": lambda b: fenced(HEAD),
    "skeletons/plan_tools": lambda b: json.dumps(PLAN),
    "skeletons/write_tool": lambda b: fenced(METHODS[json.loads(b["tool"])["name"]]),
    "skeletons/write_invariant": lambda b: json.dumps({"reason": "", "source": INVARIANTS[b["rule"]]}),
    "audits/initial_state": lambda b: json.dumps(STATE),
    "audits/probe": _probe,
    "audits/judge": lambda b: json.dumps({"analysis": "", "verdict": "pass", "reason": ""}),
    "audits/repair": lambda b: fenced(METHODS[b["tool_source"].split("def ")[1].split("(")[0]]),
    "scenarios/state": lambda b: json.dumps(STATE),
    "scenarios/task": lambda b: json.dumps({"task": TASK}),
    "scenarios/checklist": lambda b: json.dumps(
        {"items": [{"item": t, "kind": k} for t, (k, _) in ITEMS.items()], "may_change": MAY_CHANGE}
    ),
    "scenarios/check": lambda b: fenced(ITEMS[b["item"]][1]),
    "scenarios/witness": lambda b: json.dumps({"calls": WITNESS}),
}

Slip = str | Callable[[dict[str, str], Request], str | None]


def author(slips: dict[str, list[Slip] | Slip] | None = None) -> ScriptedModel:
    """Somebody who writes the library well, but for slips: a list of first answers a step, or a standing one."""
    waiting = {
        step: list(given) if isinstance(given, list) else given for step, given in (slips or {}).items()
    }

    def answer(request: Request) -> str:
        b = blocks(request.messages)
        slip = waiting.get(request.step)
        if isinstance(slip, list):
            slip = slip.pop(0) if slip else None
        said = slip(b, request) if callable(slip) else slip
        return GOOD[request.step](b) if said is None else said

    return ScriptedModel(answer)


def asked(model: ScriptedModel, step: str) -> list[dict[str, str]]:
    """The blocks of every request of one step."""
    return [blocks(request.messages) for request in model.requests if request.step == step]
