"""A small library (books and loans) that the tests of the world wing play in, and helpers around it."""

import json
from typing import Any

from envscaler.schema import Call, Check, Rule, Scenario, Skeleton
from envscaler.world.source import parse_class, read_tools

LOANS = '''
import random
import uuid
from datetime import datetime
from typing import TypedDict


class Book(TypedDict):
    book_id: str
    title: str
    copies: int


class Library:
    """Lends books."""

    def __init__(self, initial_state: dict | None = None):
        self.books: dict[str, Book] = {}
        self.loans: dict[str, dict] = {}
        self.members: dict[int, dict] = {}
        self.counter = 0

    def get_book(self, book_id: str) -> dict:
        """Look up a book.

        Args:
            book_id: The book.
        """
        if book_id not in self.books:
            return {"success": False, "error": "No such book."}
        return {"success": True, "data": self.books[book_id]}

    def get_member(self, number: int) -> dict:
        """Look up a member.

        Args:
            number: The member's number.
        """
        if number not in self.members:
            return {"success": False, "error": "No such member."}
        return {"success": True, "data": self.members[number]}

    def lend(self, book_id: str, member: int, note: str | None = None) -> dict:
        """Lend a copy of a book.

        Args:
            book_id: The book.
            member: Number of the member.
            note: Anything to remember.

        Returns:
            The new loan.
        """
        if book_id not in self.books or member not in self.members:
            return {"success": False, "error": "No such book or member."}
        if self.books[book_id]["copies"] < 1:
            return {"success": False, "error": "No copy left."}
        self.books[book_id]["copies"] -= 1
        loan_id = f"L-{uuid.uuid4()}"
        self.loans[loan_id] = {
            "loan_id": loan_id, "book_id": book_id, "member": member,
            "at": datetime.now().isoformat(), "desk": random.randint(1, 1000000),
        }
        self.counter += 1
        return {"success": True, "message": "Lent.", "data": self.loans[loan_id]}

    def take_back(self, loan_id: str) -> dict:
        """Take a copy back.

        Args:
            loan_id: The loan.
        """
        if loan_id not in self.loans:
            return {"success": False, "error": "No such loan."}
        loan = self.loans.pop(loan_id)
        self.books[loan["book_id"]]["copies"] += 1
        return {"success": True, "message": "Taken back.", "data": loan}

    def _helper(self):
        self.books.clear()
'''

STATE: dict[str, Any] = {
    "books": {
        "B-1": {"book_id": "B-1", "title": "Dune", "copies": 2},
        "B-2": {"book_id": "B-2", "title": "Emma", "copies": 1},
    },
    "members": {"7": {"number": 7, "name": "Ada"}},
}


def skeleton(source: str = LOANS, class_name: str | None = None, **changes: Any) -> Skeleton:
    """The library, or any other class, as a skeleton."""
    name = class_name or parse_class(source).class_name
    fields = {
        "theme_id": "", "title": name, "summary": "A world.", "class_name": name, "source": source, "state": [],
        "rules": [], "tools": read_tools(source, name), **changes,
    }  # fmt: skip
    return Skeleton(**fields)


def scenario(world: Skeleton | None = None, **changes: Any) -> Scenario:
    """Lend Dune to Ada."""
    check = (
        "def check_func(final_state):\n"
        "    new = [l for k, l in final_state['loans'].items() if k not in initial_state.get('loans', {})]\n"
        "    return any(l['book_id'] == 'B-1' and l['member'] == 7 for l in new)"
    )
    fields: dict[str, Any] = {
        "skeleton_id": (world or skeleton()).id,
        "initial_state": STATE,
        "task": "Lend Dune to Ada.",
        "checks": [Check(item="Has Dune been lent to Ada?", source=check)],
        "may_change": ["books/B-1", "loans/+", "counter"],
        "witness": [
            Call(tool="get_member", arguments={"number": 7}),
            Call(tool="lend", arguments={"book_id": "B-1", "member": {"$from": [0, "data", "number"]}}),
        ],
    }
    return Scenario(**{**fields, **changes})


def tool(body: str, head: str = "self", top: str = "") -> Skeleton:
    """A skeleton with one tool `run` of the given body, over `self.things` and `self.n`."""
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    return skeleton(
        f"{top}\nclass World:\n    def __init__(self, initial_state=None):\n        self.things: dict = {{}}\n"
        f"        self.n = 0\n\n    def run({head}):\n        '''Run.'''\n{indented}\n\n"
        "    def count(self):\n        '''Count.'''\n        self.n += 1\n"
        "        return {'success': True, 'data': self.n}\n"
    )


def message(*calls: tuple[str, Any]) -> dict[str, Any]:
    """An assistant message with these calls."""
    made = [
        {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for place, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def contents(observation: Any) -> list[Any]:
    """The replies in an observation."""
    return [json.loads(part["content"]) for part in observation]


def rule(source: str, text: str = "A rule.") -> Rule:
    """A rule with an invariant."""
    return Rule(text=text, invariant=source)
