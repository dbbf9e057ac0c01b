"""What changed between two states: the diff's grammar, exact comparison, and the parent's mirror of a state.

A *table* is an attribute whose value is a dict (key → record) or a list (position → record). A diff names
every record:

    {"rooms/101": {"added": record}, "rooms/102": {"removed": record},
     "rooms/103": {"changed": {"status": [old, new]}}, "counter": {"changed": [old, new]}}

A record that is no dict changes as a scalar does, `{"changed": [old, new]}`; a field that is absent on one
side is null there. Keys are escaped as in JSON pointers (`~` is `~0`, `/` is `~1`), so that no key is
ambiguous. Comparison is exact (`1`, `1.0` and `True` differ) but for the order of keys, which is no content.
Nothing here runs generated code.
"""

import json
import marshal
from itertools import islice
from operator import is_
from typing import Any

import msgspec

from envscaler.error import ParameterError
from envscaler.schema import Json

State = dict[str, Json]
Diff = dict[str, Json]
_ABSENT: Any = object()


def copied(value: Json) -> Any:
    """A deep copy of a JSON value, several times faster than `copy.deepcopy`."""
    return marshal.loads(marshal.dumps(value))


def through_json(state: State) -> State:
    """The state as it is after a way through text: tuples are lists, and number keys what every worker sees.

    Raises:
        ParameterError: JSON cannot hold it.
    """
    try:
        return msgspec.json.decode(json.dumps(state, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(
            f"Expected a state that JSON can hold, got one that it cannot: {error}."
        ) from None


def shared(state: State) -> State:
    """A copy that shares the records: those of a mirror are replaced, never changed (see `apply`)."""
    return {name: dict(value) if isinstance(value, dict) else value for name, value in state.items()}


def path(table: str, key: str) -> str:
    """The name of a record in a diff or in `may_change`."""
    return f"{escaped(table)}/{escaped(key)}"


def escaped(key: str) -> str:
    """A key with `~` and `/` escaped."""
    return key.replace("~", "~0").replace("/", "~1")


def unescaped(key: str) -> str:
    """A key as it was before `escaped`."""
    return key.replace("~1", "/").replace("~0", "~")


def same(one: Json, other: Json) -> bool:
    """Whether two JSON values are equal in content and type; the order of keys does not count."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def records(value: Json) -> dict[str, Json] | None:
    """A table's records under their keys; None where the value is no table."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {str(place): record for place, record in enumerate(value)}
    return None


def diff(before: State, after: State) -> Diff:
    """What changed from one state to another."""
    found: Diff = {}
    for name in [*before, *(name for name in after if name not in before)]:
        _compare(found, name, before.get(name, _ABSENT), after.get(name, _ABSENT))
    return found


def _compare(found: Diff, name: str, old: Any, new: Any) -> None:
    if old is new:
        return
    if old is not _ABSENT and new is not _ABSENT and type(old) is type(new):
        if _parts_shared(old, new) or (not _share(old, new) and identical(old, new)):
            return
        one, other = records(old), records(new)
        if one is not None and other is not None:
            for key in [key for key, was in one.items() if other.get(key, _ABSENT) is not was]:
                _compare_records(found, path(name, key), one[key], other.get(key, _ABSENT))
            for key in [key for key in other if key not in one]:
                _compare_records(found, path(name, key), _ABSENT, other[key])
            return
    _compare_records(found, escaped(name), old, new, whole=True)


def _share(one: Json, other: Json) -> bool:
    """Whether two tables have records in common, so that going through them is the fastest way."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    return any(isinstance(v, dict) and v is other.get(k) for k, v in islice(one.items(), 4))


def _compare_records(found: Diff, where: str, old: Any, new: Any, *, whole: bool = False) -> None:
    if old is _ABSENT:
        found[where] = {"added": copied(new)}
    elif new is _ABSENT:
        found[where] = {"removed": copied(old)}
    elif isinstance(old, dict) and isinstance(new, dict) and not whole:
        if fields := _fields(old, new):
            found[where] = {"changed": fields}
    elif not same(old, new):
        found[where] = {"changed": copied([old, new])}


def identical(one: Json, other: Json) -> bool:
    """Whether two values are the same, keys in the same order too; the fast way past what is unchanged."""
    return one is other or _parts_shared(one, other) or marshal.dumps(one, 2) == marshal.dumps(other, 2)


def _parts_shared(one: Json, other: Json) -> bool:
    """Whether two tables have the very same records, as views of one state have; no record is looked into."""
    if not isinstance(one, dict) or not isinstance(other, dict) or len(one) != len(other):
        return False
    return all(map(is_, one.values(), other.values())) and list(one) == list(other)


def _fields(old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    """The fields that differ, each with both values."""
    changed = [name for name, value in old.items() if not _equal(value, new.get(name, _ABSENT))]
    changed += [name for name in new if name not in old]
    return copied({name: [old.get(name), new.get(name)] for name in changed}) if changed else {}


def _equal(one: Any, other: Any) -> bool:
    """`same`, without a look at what is plain more than once."""
    if type(one) is not type(other):
        return False
    return one == other and (not isinstance(one, dict | list) or same(one, other))


def apply(mirror: State, patch: dict[str, Any]) -> Diff:
    """Bring the mirror of a worker's state up to date; return what changed.

    Args:
        mirror: the state before; changed in place.
        patch: what the worker says has changed (see `sandbox.track`).
    """
    found: Diff = {}
    for name, value in patch.get("set", {}).items():
        _compare(found, name, mirror.get(name, _ABSENT), value)
        mirror[name] = value
    for name, changes in patch.get("records", {}).items():
        table = mirror[name]
        for key in changes["drop"]:
            _compare_records(found, path(name, key), table.pop(key), _ABSENT)
        for key, value in changes["set"].items():
            _compare_records(found, path(name, key), table.get(key, _ABSENT), value)
            table[key] = value
    for name in patch.get("gone", []):
        _compare(found, name, mirror.pop(name), _ABSENT)
    return found
