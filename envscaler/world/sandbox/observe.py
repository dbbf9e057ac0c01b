"""What one call does that its reply and its diff do not show, found inside the worker for the referee.

Whether the reply is a live part of the state; what the text arguments were compared with; whether state on the
class or in the module changed; what of the state would not come back from JSON as it was. Standard library
only. The caller puts the state back afterwards, and judges what is found.
"""

import inspect
import json
from collections.abc import Iterator
from typing import Any

from envscaler.world.sandbox.track import NotJson, as_before, attributes, encode, pack, with_keys

_MOST = 200
"""Compared values that are told."""


class Notes:
    """What one argument met."""

    def __init__(self) -> None:
        self.compared: set[str] = set()
        self.looked_up = False


class Traced(str):
    """A text that takes note of what it is compared with, and of being looked up."""

    notes: Notes

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and len(self.notes.compared) < _MOST:
            self.notes.compared.add(other[:200])
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        self.notes.looked_up = True
        return str.__hash__(self)


def traced(text: str, notes: Notes) -> Traced:
    """The text, noting into `notes`."""
    made = Traced(text)
    made.notes = notes
    return made


def _passed_on(name: str) -> Any:
    return lambda self, *given: traced(getattr(str, name)(self, *given), self.notes)


for _name in ("lower", "upper", "casefold", "strip"):
    setattr(Traced, _name, _passed_on(_name))


def observe(
    instance: Any, tool: str, arguments: dict[str, Any], key_types: dict[str, list[str]]
) -> dict[str, Any]:
    """The facts of one call; `raised` holds its error if there was one."""
    kind = type(instance)
    method = inspect.getattr_static(kind, tool).__get__(instance, kind)
    notes = {name: Notes() for name, value in arguments.items() if type(value) is str}
    given = {k: traced(v, notes[k]) if k in notes else v for k, v in arguments.items()}
    before = _outside(kind, method)
    facts: dict[str, Any] = {"aliases": False}
    try:
        reply = method(**given)
        live = {id(part) for value in attributes(instance).values() for part in _containers(value)}
        facts["aliases"] = any(id(part) in live for part in _containers(reply))
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises is a fact about it
        facts["raised"] = error
    after = _outside(kind, method)
    facts["outside"] = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    facts["compared"] = {name: sorted(note.compared) for name, note in notes.items()}
    facts["looked up"] = [name for name, note in notes.items() if note.looked_up]
    facts["changes in JSON"] = dict(_unlike(instance, key_types))
    return facts


def _containers(value: Any, depth: int = 0) -> Iterator[Any]:
    """What in a value can be written into, itself included."""
    if depth > 20:
        return
    if isinstance(value, dict | list | set):
        yield value
    if isinstance(value, dict | list | tuple | set):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _containers(part, depth + 1)


def _outside(kind: type, method: Any) -> dict[str, bytes]:
    """State that is not the instance's: on the class, and in the module."""
    found = {
        f"{owner.__name__}.{name}": value
        for owner in kind.__mro__[:-1]
        for name, value in vars(owner).items()
    }
    found |= getattr(method, "__globals__", {})
    return {
        name: _bytes(value)
        for name, value in found.items()
        if "__" not in name and isinstance(value, dict | list | set | int | float | str)
    }


def _bytes(value: Any) -> bytes:
    try:
        return pack(value)
    except (ValueError, NotJson, TypeError, RecursionError):
        return b"?"


def _unlike(instance: Any, key_types: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Attributes that JSON would change: `keys` that become text, or `types` (tuples, sets) that become lists."""
    for name, value in attributes(instance).items():
        try:
            back = as_before(value, with_keys(json.loads(encode(value)), key_types.get(name, [])))
            if _bytes(back) != _bytes(value):
                yield name, "keys" if _has_other_keys(value) else "types"
        except (NotJson, ValueError, RecursionError):
            yield name, "none"


def _has_other_keys(value: Any, depth: int = 0) -> bool:
    if depth > 20:
        return False
    if isinstance(value, dict):
        return any(not isinstance(k, str) or _has_other_keys(v, depth + 1) for k, v in value.items())
    return isinstance(value, list | tuple) and any(_has_other_keys(part, depth + 1) for part in value)
