"""What changed in an environment's state, found cheaply, inside the worker.

An environment's state is its instance attributes, as JSON; the parent shows the public ones. `Tracker` keeps
every attribute as bytes; after a call one pass over the bytes tells which attributes changed, and only inside
those are records compared. The same bytes put everything back when a call fails. Standard library only, for
the worker; the parent keeps its own mirror of the state and applies the patches that this module writes. It
does not judge whether a change was right.
"""

import json
import marshal
import re
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

LOSES = frozenset({"init_config", "initial_state"})
"""Attributes that would keep a second copy of the state; taken off unless the state names them."""

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


def attributes(instance: object) -> dict[str, Any]:
    """The instance's attributes, slots included."""
    found = dict(getattr(instance, "__dict__", {}))
    for kind in type(instance).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(instance, slot):
                found[slot] = getattr(instance, slot)
    return found


class Kept:
    """One attribute as it was at the last `commit`."""

    def __init__(self, value: Any) -> None:
        self.records: dict[Any, bytes] | None = None
        self.whole = b""
        if isinstance(value, dict):
            self.records = {key: pack(record) for key, record in value.items()}
        else:
            self.whole = pack(value)
        self.quick = quick(value)

    def value(self) -> Any:
        """A fresh copy."""
        if self.records is None:
            return unpack(self.whole)
        return {key: unpack(record) for key, record in self.records.items()}


def quick(value: Any) -> bytes:
    """Bytes that are equal only for equal values, made three times faster than `pack`; empty where there are none.

    Equal values may still give different bytes, for these depend on what else refers to a part.
    """
    try:
        return _dumps(value)
    except ValueError:
        return b""


class Tracker:
    """Follows the attributes of one instance from call to call: the state, and private ones as long as JSON can
    hold them, so that a restored environment has them too."""

    def __init__(self, instance: object, named: frozenset[str]) -> None:
        self._instance = instance
        self._named = named
        self._lost: set[str] = set()
        self._kept: dict[str, Kept] = {}
        self._fresh: dict[str, Kept] = {}
        self._unsettled: set[str] = set()
        for name, value in self.state().items():
            if (made := self._tried(name, Kept, value)) is not None:
                self._kept[name] = made

    def state(self) -> dict[str, Any]:
        """The live attributes that are followed, not a copy."""
        found = attributes(self._instance)
        return {k: v for k, v in found.items() if k not in self._lost} if self._lost else found

    def _tried(self, name: str, work: Callable[..., T], *given: Any) -> T | None:
        """What `work` makes of what it is given; None for a private attribute that JSON cannot hold.

        Such an attribute is followed no longer.

        Raises:
            NotJson: a public attribute holds what JSON cannot; the message names it.
        """
        try:
            return work(*given)
        except (NotJson, ValueError, RecursionError) as error:
            if name.startswith("_") and name not in self._named:
                self._lost.add(name)
                return None
            raise NotJson(f"the attribute {name} holds what JSON cannot: {error}") from None

    def json(self, besides: dict[str, bytes]) -> bytes:
        """The JSON of the state, less the attributes whose quick bytes are as in `besides`.

        Raises:
            NotJson: an attribute holds what JSON cannot; the message names it.
        """
        parts = []
        for name, value in self.state().items():
            known = self._kept[name].quick
            if known and besides.get(name) == known:
                continue
            written = self._tried(name, encode, value)
            if written is not None:
                parts.append(b"%s:%s" % (encode(name), written))
            else:
                del self._kept[name]
        return b"{%s}" % b",".join(parts)

    def patch(self) -> bytes:
        """What changed since the last `commit`, as the JSON of a patch of the parent's mirror.

        Raises:
            NotJson: an attribute holds what JSON cannot; the message names it.
        """
        live, patch = self.state(), Changes()
        self._fresh = {}
        for name, value in live.items():
            kept = self._kept.get(name)
            if kept is None or not kept.quick or quick(value) != kept.quick:
                fresh = self._tried(name, patch.compare, name, kept, value)
                if fresh is not None:
                    self._fresh[name] = fresh
        patch.gone = [name for name in self._kept if name not in live or name in self._lost]
        return patch.json()

    def commit(self) -> None:
        """Take the last `patch` as done."""
        self._kept.update(self._fresh)
        self._kept = {name: self._kept[name] for name in self.state()}
        self._unsettled.update(self._fresh)

    def settle(self) -> None:
        """Refresh the quick bytes of what changed, now that the request no longer refers to parts of the state."""
        live = self.state()
        for name in self._unsettled & live.keys():
            self._kept[name].quick = quick(live[name])
        self._unsettled.clear()

    def roll_back(self) -> None:
        """Put everything back as it was at the last `commit`, whatever is there now."""
        live = self.state()
        for name in live:
            if name not in self._kept:
                delattr(self._instance, name)
        for name, kept in self._kept.items():
            if name not in live or not kept.quick or quick(live[name]) != kept.quick:
                old = kept.value()
                setattr(self._instance, name, old)
                kept.quick = quick(old)

    def mark(self) -> dict[str, Kept]:
        """This moment, to `rewind` to; what does not change is shared with the next."""
        return dict(self._kept)

    def rewind(self, mark: dict[str, Kept]) -> None:
        """Put everything back as it was at a moment."""
        self._kept = dict(mark)
        self._unsettled.clear()
        self.roll_back()


class Changes:
    """A patch in the making, every part of it JSON already:

    {"set": {attribute: value}, "gone": [attribute], "records": {attribute: {"set": {key: value}, "drop": [key]}}}
    """

    def __init__(self) -> None:
        self._set: list[bytes] = []
        self._records: list[bytes] = []
        self.gone: list[str] = []

    def compare(self, name: str, kept: Kept | None, value: Any) -> Kept:
        """Note what changed in one attribute; return it as it is to be kept.

        Raises:
            NotJson: it holds what JSON cannot.
        """
        fresh = Kept(value)
        if kept is None or kept.records is None or fresh.records is None:
            if kept is None or kept.records is not fresh.records or kept.whole != fresh.whole:
                self._set.append(_entry(name, encode(value)))
        elif kept.records != fresh.records or list(kept.records) != list(fresh.records):
            self._table(name, kept.records, fresh.records, value)
        return fresh

    def _table(self, name: str, old: dict[Any, bytes], new: dict[Any, bytes], value: dict[Any, Any]) -> None:
        if list(new) != [key for key in old if key in new] + [key for key in new if key not in old]:
            # The order of the records changed too, which only the whole table can say.
            self._set.append(_entry(name, encode(value)))
            return
        changed = {key: value[key] for key, record in new.items() if old.get(key) != record}
        drop = [key_text(key) for key in old if key not in new]
        self._records.append(_entry(name, encode({"set": changed, "drop": drop})))

    def json(self) -> bytes:
        """The JSON of the patch."""
        parts = {"set": self._set, "records": self._records}
        made = [_entry(name, b"{%s}" % b",".join(part)) for name, part in parts.items() if part]
        return b"{%s}" % b",".join([*made, *([_entry("gone", encode(self.gone))] if self.gone else [])])


def _entry(name: str, written: bytes) -> bytes:
    return b"%s:%s" % (encode(name), written)


def key_text(key: Any) -> str:
    """A key as JSON writes it."""
    return key if isinstance(key, str) else _encode(key)


def as_before(old: Any, new: Any) -> Any:
    """A list out of JSON becomes a set where `__init__` had put a set."""
    return type(old)(new) if type(old) in (set, frozenset) and isinstance(new, list) else new


_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)\Z")


def with_keys(value: Any, types: list[str]) -> Any:
    """A table whose keys JSON turned into text, with the keys its annotation promises."""
    if not types or not isinstance(value, dict):
        return value
    whole = types[0] == "int" and all(_WHOLE.match(key) for key in value)
    return {int(k) if whole else k: with_keys(v, types[1:]) for k, v in value.items()}
