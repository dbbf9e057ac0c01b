"""A call made twice that is right all the same: it sets what is set already, and all it adds is a note of that.

A setter may be called again without harm, yet where its tool keeps a history or counts versions the states differ.
That is no fault of the play, and no check ought to see one. So a doubled call is let pass when what it set stays as
it is, and what is new stands in a log that rows may be added to, or in a counter of versions, neither of which a
check looks at. A second payment, booking or order sets nothing anew, and is none.
"""

import re
from collections.abc import Collection

from envscaler.error import EnvironmentLost
from envscaler.record import is_number
from envscaler.schema import Json
from envscaler.world.change import Diff, unescaped
from envscaler.world.proving.alike import Alike
from envscaler.world.proving.shape import Leaf
from envscaler.world.witness import Branches, succeeded

_LOG = re.compile(
    r"log(?![a-z])|logs|histor|audit|journal|trail|timeline|activit|transition|revision", re.IGNORECASE
)
_VERSION = re.compile(r"version|revision|(?:^|_)rev(?:$|_)|updates|edits|changes|seq|etag", re.IGNORECASE)


class Repeated:
    """Says whether a call of a witness, made again, only takes a note."""

    def __init__(self, branches: Branches, alike: Alike, may_change: Collection[str], sources: str) -> None:
        """
        Args:
            branches: the witness, played and accepted.
            alike: says which values may be any.
            may_change: what the task may touch.
            sources: of the checks, for what they look at.
        """
        self._branches, self._alike, self._may_change, self._sources = branches, alike, may_change, sources

    def is_noted_only(self, place: int) -> bool:
        """Whether the call of a place, made again at once, succeeds and does nothing but take a note."""
        call = self._branches.played.calls[place]
        try:
            reply, again, _ = self._branches.go_to(place + 1).attempt(call.tool, call.arguments)
        except EnvironmentLost:
            return False
        return (
            succeeded(reply)
            and self._is_set(self._branches.played.diffs[place], again)
            and all(self._is_note(where, change) for where, change in again.items())
        )

    def _is_set(self, first: Diff, again: Diff) -> bool:
        """Whether the call set a value that stayed when it was made again."""
        for where, change in first.items():
            fields, moved = change.get("changed"), (again.get(where) or {}).get("changed")
            for field in fields if "/" in where and isinstance(fields, dict) else ():
                if not (isinstance(moved, dict) and field in moved) and not self._may_be_any(where, (field,)):
                    return True
        return False

    def _is_note(self, where: str, change: dict[str, Json]) -> bool:
        table = unescaped(where.partition("/")[0])
        if "added" in change:
            freed = "/" in where and f"{where.partition('/')[0]}/+" in self._may_change
            return freed and bool(_LOG.search(table)) and not self._is_looked_at(table)
        now = change.get("changed")
        if isinstance(now, dict):
            return all(self._may_be_any(where, (f,)) or self._counts(f, pair) for f, pair in now.items())
        return self._may_be_any(where, ()) or (isinstance(now, list) and self._counts(table, now))

    def _counts(self, name: str, pair: Json) -> bool:
        """Whether a value went on as a counter of versions does, or a list that is written on."""
        if not isinstance(pair, list | tuple) or len(pair) != 2 or self._is_looked_at(name):
            return False
        old, new = pair
        if isinstance(old, list) and isinstance(new, list):
            return bool(_LOG.search(name)) and new[: len(old)] == old
        return is_number(old) and is_number(new) and new - old == 1 and bool(_VERSION.search(name))

    def _may_be_any(self, where: str, way: tuple[str, ...]) -> bool:
        name, slash, key = where.partition("/")
        return self._alike.is_loose(Leaf(unescaped(name), unescaped(key) if slash else None, way))

    def _is_looked_at(self, name: str) -> bool:
        return re.search(rf"\b{re.escape(name)}\b", self._sources) is not None
