"""What changed in an environment's state, found cheaply, inside the worker.

An environment's state is its public instance attributes, as JSON. `Tracker` keeps every attribute as bytes;
after a call one pass over the bytes tells which attributes changed, and only inside those are records
compared. The same bytes put everything back when a call fails. Standard library only, for the worker; the
parent keeps its own mirror of the state and applies the patches that this module writes. It does not judge
whether a change was right.
"""

import json
import marshal
from collections.abc import Callable
from typing import Any

LOSES = frozenset({"init_config", "initial_state"})
"""Attributes that would keep a second copy of the state; taken off unless the state names them."""

Patch = dict[str, Any]
"""{"set": {attribute: value}, "gone": [attribute], "records": {attribute: {"set": {key: value}, "drop": [key]}}}"""

# Bound here, before generated code could put something else in their place.
_dumps, _loads = marshal.dumps, marshal.loads


def _sets(value: Any) -> Any:
    """Sets become sorted lists, since honest code keeps them; nothing else is bent into JSON."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=_encode)
    raise TypeError(f"a {type(value).__name__} is nothing that JSON can hold")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_sets).encode


class NotJson(Exception):
    """A value that JSON cannot hold; the message says where and what."""


def encode(value: Any) -> bytes:
    """The JSON text of a value.

    Raises:
        NotJson: JSON cannot hold it.
    """
    try:
        return _encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def pack(value: Any) -> bytes:
    """Bytes that differ whenever two values differ in content or type, and that `unpack` reads."""
    try:
        # Version 2 has no references, so equal content has equal bytes whatever is shared inside.
        return _dumps(value, 2)
    except ValueError:  # a subclass of a plain type, e.g. defaultdict
        return _dumps(json.loads(encode(value)), 2)


unpack: Callable[[bytes], Any] = _loads


def attributes(instance: object, named: frozenset[str]) -> dict[str, Any]:
    """The state: public instance attributes, slots included, and private ones that the given state names."""
    found = dict(getattr(instance, "__dict__", {}))
    for kind in type(instance).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(instance, slot):
                found[slot] = getattr(instance, slot)
    return {name: value for name, value in found.items() if not name.startswith("_") or name in named}


class Tracker:
    """Follows the state of one instance from call to call."""

    def __init__(self, instance: object, named: frozenset[str]) -> None:
        self._instance = instance
        self._named = named
        self._kept: dict[str, bytes] = {}
        self._fresh: dict[str, bytes] = {}
        self._kept = {name: self._pack(name, value) for name, value in self.state().items()}
        for name, value in self.state().items():
            self._whole(name, value)

    @staticmethod
    def _whole(name: str, value: Any) -> None:
        try:
            encode(value)
        except NotJson as error:
            raise NotJson(f"the attribute {name} holds what JSON cannot: {error}") from None

    def state(self) -> dict[str, Any]:
        """The live state, not a copy."""
        return attributes(self._instance, self._named)

    def patch(self) -> Patch:
        """What changed since the last `commit`, as a patch of the parent's mirror."""
        live = self.state()
        self._fresh = {name: self._pack(name, value) for name, value in live.items()}
        patch: Patch = {}
        for name, packed in self._fresh.items():
            old = self._kept.get(name)
            if old != packed:
                self._compare(patch, name, old, packed)
        if gone := [name for name in self._kept if name not in self._fresh]:
            patch["gone"] = gone
        return patch

    def _compare(self, patch: Patch, name: str, old: bytes | None, new: bytes) -> None:
        before, after = None if old is None else unpack(old), unpack(new)
        records = _records(before, after) if isinstance(before, dict) and isinstance(after, dict) else None
        if records is None:
            patch.setdefault("set", {})[name] = after
        else:
            patch.setdefault("records", {})[name] = records

    def commit(self) -> None:
        """Take the last `patch` as done."""
        self._kept = self._fresh

    def roll_back(self) -> None:
        """Put everything back as it was at the last `commit`, whatever is there now."""
        live = self.state()
        for name in live:
            if name not in self._kept:
                delattr(self._instance, name)
        for name, kept in self._kept.items():
            if name not in live or self._differs(live[name], kept):
                setattr(self._instance, name, unpack(kept))

    @staticmethod
    def _differs(value: Any, kept: bytes) -> bool:
        try:
            return pack(value) != kept
        except (NotJson, ValueError, TypeError, RecursionError):
            return True

    @staticmethod
    def _pack(name: str, value: Any) -> bytes:
        try:
            return pack(value)
        except (NotJson, ValueError, RecursionError) as error:
            raise NotJson(f"the attribute {name} holds what JSON cannot: {error}") from None


def _records(before: dict[Any, Any], after: dict[Any, Any]) -> Patch | None:
    """The changed records of a table, or None where their order changed too, so that it must be sent whole."""
    changed = {k: v for k, v in after.items() if k not in before or pack(v) != pack(before[k])}
    kept = [key for key in before if key in after]
    if list(after) != kept + [key for key in after if key not in before]:
        return None
    return {"set": changed, "drop": [key_text(key) for key in before if key not in after]}


def key_text(key: Any) -> str:
    """A key as JSON writes it."""
    return key if isinstance(key, str) else _encode(key)
