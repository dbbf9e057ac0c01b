"""Trials of the referee: what a call does not name may be meant, and what it names may not be there."""

import pytest
from worlds import skeleton

from envscaler.world.referee import check_environment

OFFICE = '''
class Office:
    """An office: every tool of it is right, though it changes a record that its call does not name, or none at all."""

    def __init__(self, initial_state: dict | None = None) -> None:
        self.slots: dict = {}
        self.settings: dict = {}
        self.users: dict = {}
        self.stars: dict = {}
        self.notes: dict = {}
        self.items: dict = {}
        self.me = ""
        self.last = ""
        for name, value in (initial_state or {}).items():
            setattr(self, name, value)

    def reserve(self, name: str, hours: int) -> dict:
        """Send a team to the first free slot."""
        for slot in self.slots.values():
            if slot["name"] == "free" and name.strip() and hours > 0:
                slot.update(name=name, hours=hours)
                return {"success": True, "message": "It is yours."}
        return {"success": False, "error": "There is nothing free."}

    def open_session(self, user_id: str, device: str) -> dict:
        """Log in; who was logged in is logged out."""
        if user_id not in self.users or not device.strip():
            return {"success": False, "error": "There is no such user."}
        self.settings["session"] = {"user_id": user_id, "device": device}
        self.me = user_id
        return {"success": True, "message": "Welcome."}

    def submit_profile(self, city: str) -> dict:
        """Change the profile of who is logged in."""
        self.users[self.me] = {**self.users[self.me], "city": city}
        return {"success": True, "message": "So it is."}

    def give_stars(self, user_id: str, item_id: str, number: int, comment: str) -> dict:
        """Give stars to an item; those that were given before are gone."""
        if user_id not in self.users or item_id not in self.items or not 1 <= number <= 5:
            return {"success": False, "error": "There is no such user or item."}
        self.stars[f"{user_id}/{item_id}"] = {"number": number, "comment": comment}
        return {"success": True, "message": "Thank you."}

    def add_note(self, text: str) -> dict:
        """Add a note."""
        self.last = f"N{max(int(key[1:]) for key in self.notes) + 1}"
        self.notes[self.last] = {"text": text, "pinned": False}
        return {"success": True, "message": "It is kept."}

    def correct_last(self, text: str) -> dict:
        """Correct the note that was written last."""
        if self.last not in self.notes:
            return {"success": False, "error": "There is no such note."}
        self.notes[self.last]["text"] = text
        return {"success": True, "message": "It is kept."}

    def remove_note(self, note_id: str) -> dict:
        """Remove a note, but for the only one."""
        if note_id not in self.notes or len(self.notes) < 2:
            return {"success": False, "error": "There is no such note."}
        del self.notes[note_id]
        return {"success": True, "message": "It is gone."}

    def discount(self, below: int, percent: int) -> dict:
        """Discount everything of which fewer are left."""
        if not 1 <= percent <= 90:
            return {"success": False, "error": "So much is too much."}
        for item in self.items.values():
            if item["left"] < below:
                item["percent"] = percent
        return {"success": True, "message": "Done."}

    def archive_older(self, than: str) -> dict:
        """Archive what was made before a day."""
        for item in self.items.values():
            item["archived"] = item["archived"] or item["made"] < than
        return {"success": True, "message": "Done."}

    def rename_category(self, category: str, new_name: str) -> dict:
        """Rename a category wherever it stands."""
        for item in self.items.values():
            if item["category"] == category:
                item["category"] = new_name
        return {"success": True, "message": "Renamed."}

    def raise_bid(self, item_id: str, bid: int) -> dict:
        """Bid for an item; only the highest bid counts."""
        if item_id not in self.items or bid < 1:
            return {"success": False, "error": "There is no such item or bid."}
        self.items[item_id]["bid"] = max(bid, self.items[item_id]["bid"])
        return {"success": True, "data": dict(self.items[item_id])}

    def set_place(self, item_id: str, place: str) -> dict:
        """Set where an item is: in the hall, the shed or the yard."""
        if item_id not in self.items:
            return {"success": False, "error": "There is no such item."}
        if place not in ("hall", "shed", "yard"):
            return {"success": False, "error": "There is no such place."}
        self.items[item_id]["place"] = place
        return {"success": True, "data": dict(self.items[item_id])}
'''
AT_WORK = {
    "slots": {f"S{n}": {"name": name, "hours": n % 3} for n, name in enumerate(("free", "Ada", "Ben", "free"))},
    "settings": {"session": {"user_id": "U1", "device": "phone"}, "display": {"user_id": "U2", "device": "tv"}},
    "users": {f"U{n}": {"name": name, "city": city} for n, name, city in ((1, "Ada", "Ulm"), (2, "Ben", "Graz"))},
    "stars": {"U1/I1": {"number": 3, "comment": "so so"}, "U2/I2": {"number": 5, "comment": "great"}},
    "notes": {f"N{n}": {"text": text, "pinned": False} for n, text in ((1, "milk"), (3, "tax"), (4, "gift"))},
    "items": {
        f"I{n}": {"item_id": f"I{n}", "category": kind, "left": 4 * n, "percent": 0, "made": f"202{n}-02-01",
                  "archived": n < 2, "bid": 50 * n, "place": ("hall", "shed", "yard")[n % 3], "tags": []}
        for n, kind in enumerate(("pen", "ink", "pen", "pad"), 1)
    },
    "me": "U1",
    "last": "N1",
}  # fmt: skip
HIGHEST = 'f"N{max(int(key[1:]) for key in self.notes) + 1}"'


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", set()),
        (HIGHEST, 'f"N{len(self.notes) + 1}"', {("error", "displaced", "add_note")}),
        (HIGHEST, "max(self.notes)", {("warning", "displaced", "add_note")}),
        (
            '{"success": False, "error": "There is no such place."}',
            '{"success": True, "data": dict(self.items[item_id])}',
            {("warning", "idle-success", "set_place")},
        ),
    ],
)
def test_what_a_call_does_not_name_may_be_meant_and_what_it_names_may_not_be_there(
    old: str, new: str, told: set[tuple[str, str, str]]
) -> None:
    assert not old or OFFICE.count(old) == 1
    office = skeleton(OFFICE.replace(old, new) if old else OFFICE)
    kinds = ("displaced", "idle-success", "argument-lost")
    found = check_environment(office, AT_WORK, calls=1500)
    assert {(f.severity, f.kind, f.where) for f in found if f.kind in kinds and f.severity != "note"} == told
