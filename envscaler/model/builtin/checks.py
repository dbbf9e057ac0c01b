"""Check functions written out from what a goal demands.

Each is code that stands alone, for any state: it never raises, reads only its own record or the new rows of one table,
and is False on a state where nothing was done. This module knows no domain and grades nothing (`world.check` does).
"""

from collections.abc import Sequence

from envscaler.model.builtin.pattern import Added, Changed, Outcome, State

_SAME = """\
    def same(value, wanted):
        if wanted is ...:  # any words will do
            return isinstance(value, str) and bool(value.strip())
        if isinstance(wanted, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
            return abs(value - wanted) < 0.005
        if isinstance(wanted, str) and isinstance(value, str):
            return value.strip() == wanted.strip()
        return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)

"""

_CHANGED = """\
def check_func(final_state) -> bool:
{same}    rows = final_state.get({table!r}) if isinstance(final_state, dict) else None
    row = rows.get({key!r}) if isinstance(rows, dict) else None
    old = initial_state.get({table!r}, {{}}).get({key!r}, {{}})
    if not isinstance(row, dict) or not old:
        return False
    wanted = {{**old, **{fields}}}
    return row.keys() == wanted.keys() and all(same(row[name], wanted[name]) for name in wanted)
"""

_ADDED = """\
def check_func(final_state) -> bool:
{same}    rows = final_state.get({table!r}) if isinstance(final_state, dict) else None
    if not isinstance(rows, dict):
        return False
    old = initial_state.get({table!r}, {{}})
    new = [row for key, row in rows.items() if key not in old and isinstance(row, dict)]
    wanted = {fields}
    return sum(all(same(row.get(name), wanted[name]) for name in wanted) for row in new) == {count}
"""

_NO_MORE = """\
def check_func(final_state) -> bool:
    rows = final_state.get({table!r}) if isinstance(final_state, dict) else None
    if not isinstance(rows, dict):
        return False
    old = initial_state.get({table!r}, {{}})
    return sum(key not in old for key in rows) <= {count}
"""


def check_source(outcome: Outcome, count: int = 1) -> str:
    """Source of the check function of one demand; `count` rows are new where several goals want the same."""
    fields = repr(dict(outcome.fields))
    if isinstance(outcome, Changed):
        return _CHANGED.format(same=_SAME, table=outcome.table, key=outcome.key, fields=fields)
    return _ADDED.format(same=_SAME, table=outcome.table, fields=fields, count=count)


def guard_item(table: str, count: int) -> str:
    """The question of the guard that no more rows than wanted were added to a table."""
    rows = "row" if count == 1 else "rows"
    return f"Is there no more than the {count} wanted new {rows} in {table}?"


def guard_source(table: str, count: int) -> str:
    """Source of that guard."""
    return _NO_MORE.format(table=table, count=count)


def may_change(outcomes: Sequence[Outcome]) -> list[str]:
    """What the demands touch, in the form of `Scenario.may_change`."""
    marks = [f"{o.table}/+" if isinstance(o, Added) else f"{o.table}/{o.key}" for o in outcomes]
    return list(dict.fromkeys(marks))


def touched(outcomes: Sequence[Outcome]) -> frozenset[str]:
    """The ids that demands concern: of changed records, and those that changed or new fields refer to."""
    ids = {outcome.key for outcome in outcomes if isinstance(outcome, Changed)}
    for outcome in outcomes:
        ids |= set(outcome.also)
        ids |= {v for name, v in outcome.fields.items() if name.endswith("_id") and isinstance(v, str)}
    return frozenset(ids)


def brought_about(outcomes: Sequence[Outcome], state: State) -> State:
    """The state in which what is demanded is so, as far as the demands tell."""
    after = {**state}
    for number, outcome in enumerate(outcomes):
        rows, new = dict(after[outcome.table]), isinstance(outcome, Added)
        key = f"new-{number}" if isinstance(outcome, Added) else outcome.key
        sample = next(iter(rows.values()), {}) if new else rows[key]
        after[outcome.table] = {**rows, key: {**sample, **outcome.fields}}
    return after
