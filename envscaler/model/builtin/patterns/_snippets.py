"""Snippets that several patterns begin their templates with: the validations and the plain look-up every world has.

They are jinja macros, so they cost the written code nothing: `<<known(c)>>` becomes the lines that find a record or
refuse. `MACROS` must stand first in a template that uses them. Below them are functions that goals, tables and rows
of several patterns are made with. This module is no pattern.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from envscaler.model.builtin.pattern import Goal, Noun, State, Table, attribute, key_of
from envscaler.model.builtin.phrase import Slots

MACROS = '''\
<% macro known(n) %>
    <<n.id>> = self.<<n.ids>>.get(<<n.id>>_id)
    if <<n.id>> is None:
        return {"success": False, "error": f"There is no <<n>> with the id {<<n.id>>_id!r}."}
<%- endmacro %>
<% macro one_of(name, what, values) %>
    if <<name>> is not None and <<name>> not in (<<quoted(values)>>):
        return {"success": False, "error": f"There is no <<what>> {<<name>>!r}."}
<%- endmacro %>
<% macro getter(n, prefix) %>
def get_<<n.id>>(self, <<n.id>>_id: str) -> dict:
    """Show one <<n>>.

    Args:
        <<n.id>>_id: Id of the <<n>>, e.g. <<prefix>>-001.

    Returns:
        The <<n>> with all its details, or an error for an unknown id.
    """
<<known(n)>>
    return {"success": True, "data": dict(<<n.id>>)}
<%- endmacro %>
<% macro done(n, said) %>
    return {
        "success": True,
        "message": f"<<n.cap>> {<<n.id>>['<<n.id>>_id']} <<said>>.",
        "data": dict(<<n.id>>),
    }
<%- endmacro %>
'''


def first_fitting(goal: Goal, options: Iterable[Slots], state: State) -> Slots | None:
    """The first slots of which the goal's outcome says that the state allows them, None for none."""
    for slots in options:
        with suppress(LookupError):
            goal.outcome(slots, state)
            return slots
    return None


def table_of(noun: Noun, about: str, **fields: tuple[str, str]) -> Table:
    """A table with its attributes: name → type and meaning."""
    return Table(noun, about, [attribute(name, *said) for name, said in fields.items()])


def put(state: State, noun: Noun, prefix: str, **row: Any) -> str:
    """Add a row to the noun's table under the next id, and return that."""
    key = key_of(prefix, len(state[noun.ids]) + 1)
    state[noun.ids][key] = {f"{noun.id}_id": key, **row}
    return key
