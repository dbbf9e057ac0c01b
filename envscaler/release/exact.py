"""A published row and our record of it, there and back without loss.

A `Shape` says how the fields of one are the fields of the other. What it cannot say is kept: what a row has beyond
that, or says in words of its own, stands in the record's `extra` under the name it came with; what a record has beyond
that stands in the row under `envscaler`, which other tools pass over. An original is given back while it still says
what the record says; once a part of the record was changed, that part is written anew.

Some releases hold objects as text, in JSON or as Python prints them. They are read as objects and written back as the
text they were. What is not kept is white space between values, the order of keys, and which of two equal keys came
first. This module knows no field by name (`shapes` and `episodes` do).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from envscaler.schema import Json, Rollout, Scenario, Skeleton
from envscaler.store import sentence
from envscaler.world.change import same
from envscaler.world.replay import parsed

R = TypeVar("R", Skeleton, Scenario, Rollout)
Row = dict[str, Any]
OWN = "envscaler"
"""The field of a row that holds what only our records have."""
_MARKS = OWN
"""The entry of `extra` that says how a row was written, beyond its fields; no row has a field of that name left."""
_ABSENT: Any = object()
"""Stands for a field that a row does not have."""
_FORMS: dict[str, Callable[[Json], str]] = {
    "json": lambda value: json.dumps(value, ensure_ascii=False),
    "ascii": json.dumps,
    "compact": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "python": repr,
}
"""The ways in which a value is usually made a text."""


class RowError(ValueError):
    """A row does not say what a row of its kind must; the message is a sentence."""


@dataclass(frozen=True)
class Shape(Generic[R]):
    """How the rows of one kind say what a record says."""

    kind: type[R]
    """The record."""
    read: Callable[[Row], dict[str, Any]]
    """The record's fields out of a row; raises `RowError`."""
    write: Callable[[R], Row]
    """The row of a record, complete."""
    name: str = ""
    """The field with the name that the published data gives a row; ours is the record's id."""
    texts: frozenset[str] = field(default_factory=frozenset)
    """Fields that are objects, and in some releases texts of objects."""
    as_text: frozenset[str] = field(default_factory=frozenset)
    """Those of them that are written as text, however they came."""
    another: bool = False
    """Whether it writes rows in another form than a reader takes them to have been written in."""
    made: frozenset[str] = field(default_factory=frozenset)
    """Fields in which the record has the last word, whatever was read."""
    own: Callable[[R], bool] = lambda record: False
    """Whether a record's `extra` is its own and nothing that a row had; then it is no field of a row either."""


def record_of(row: Row, shape: Shape[R]) -> R:
    """The record of a row.

    Raises:
        RowError: the row does not say what it must.
    """
    plain, forms = _without_text(row, shape)
    own = plain.pop(OWN, {})
    if not isinstance(own, dict):
        raise RowError(f"{OWN}: expected an object, got {own!r:.60}.")
    said = shape.read(plain)
    bare = made(shape, {**said, **own})
    if "extra" in own:
        return bare
    again = shape.write(bare)
    kept = {k: v for k, v in plain.items() if k not in again or not same(again[k], v)}
    marks: Row = {"text": forms} if forms else {}
    if absent := [name for name in again if name not in row]:
        marks["absent"] = absent
    name = {} if bare.extra.get(shape.name) == bare.id else bare.extra
    extra = {**name, **kept, **({_MARKS: marks} if marks else {})}
    return bare.model_copy(update={"extra": extra})


def _marks_in(extra: dict[str, Json]) -> tuple[list[str], dict[str, str]]:
    """Fields that the row did not have, and how others were written as text; an `extra` may hold anything."""
    found = extra.get(_MARKS)
    marks = found if isinstance(found, dict) else {}
    absent, text = marks.get("absent"), marks.get("text")
    return (
        [name for name in absent if isinstance(name, str)] if isinstance(absent, list) else [],
        {k: v for k, v in text.items() if isinstance(v, str)} if isinstance(text, dict) else {},
    )


def row_of(record: R, shape: Shape[R]) -> Row:
    """The row of a record: reading it back gives an equal record."""
    row, content = shape.write(record), _content(record)
    absent, texts = _marks_in(record.extra)
    base = _said(row, shape)
    kept = {} if shape.own(record) else record.extra
    given: list[tuple[str, Any]] = [(k, v) for k, v in kept.items() if k != OWN]
    for name, value in given + [(name, _ABSENT) for name in absent]:
        changed = {k: v for k, v in {**row, name: value}.items() if v is not _ABSENT}
        if name not in row:
            row = changed
        elif name not in shape.made and (meant := _as_good(changed, shape, base, content)):
            row, base = changed, meant
    said = _said(row, shape)
    own = {k: v for k, v in content.items() if not same(v, said.get(k))}
    if own:
        row[OWN] = own
    row = _with_text(row, {**dict.fromkeys(shape.as_text, "json"), **texts})
    # What a form leaves out is no less a part of the record, and a reader does not know which form it was.
    if shape.another or record_of(row, shape).extra != record.extra:
        row[OWN] = {**own, "extra": record.extra}
    return row


def made(shape: Shape[R], fields: Row) -> R:
    """The record of its own fields.

    Raises:
        RowError: they do not make one.
    """
    try:
        record = shape.kind.model_validate(fields)
        record.id  # noqa: B018  What has no id, such as half a surrogate pair, cannot be written again either.
        return record
    except ValidationError as error:
        raise RowError(f"Expected a {shape.kind.__name__}: {sentence(error)}") from error
    except (ValueError, RecursionError) as error:
        raise RowError(f"Expected a {shape.kind.__name__} that can be written again, but {error}.") from error


def _content(record: R) -> Row:
    content = record.model_dump(mode="json")
    return {k: v for k, v in content.items() if k not in ("id", "extra")}


def _said(row: Row, shape: Shape[R]) -> Row:
    return _content(made(shape, shape.read(row)))


def _as_good(row: Row, shape: Shape[R], base: Row, content: Row) -> Row | None:
    """What a row with an original in it says, where that is what the record or the row without it says."""
    try:
        said = _said(row, shape)
    except RowError:
        return None
    fits = all(same(value, base[name]) or same(value, content[name]) for name, value in said.items())
    return said if fits else None


def _without_text(row: Row, shape: Shape[R]) -> tuple[Row, Row]:
    """The row with its texts opened, and for each of them the form it had, or the text itself."""
    plain, forms = dict(row), {}
    for name in shape.texts & row.keys():
        value = parsed(row[name])
        if isinstance(row[name], str) and not isinstance(value, str):
            plain[name] = value
            forms[name] = next((f for f, write in _FORMS.items() if write(value) == row[name]), row[name])
    return plain, forms


def _with_text(row: Row, forms: Row) -> Row:
    texts = {}
    for name in forms.keys() & row.keys():
        form = forms[name]
        write = _FORMS.get(form)
        verbatim = write is None and same(parsed(form), row[name])
        texts[name] = form if verbatim else (write or _FORMS["json"])(row[name])
    return {**row, **texts}
