"""What is wrong with a list of checks, told in words with what shows it; for anybody's scenarios.

Some of it is seen by running the checks: one that holds before anything is done (the agent is paid for nothing),
one that raises or answers with something else than a bool. Some is read off the code: one that can only say no,
one that never looks at the final state, one that reads a table which neither the state nor the class knows. The
rest is a matter of how far one looked: a check that held in none of N states may still hold in another, and the
message says how many were tried.
"""

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from envscaler.error import SourceError
from envscaler.schema import Check, Finding, Json, Outcome, Severity
from envscaler.searching.hints import Hints, hints_of
from envscaler.world.change import State
from envscaler.world.tree import parse_tree
from envscaler.world.trials.trying import Values


def find_faults(
    checks: Sequence[Check],
    initial: State,
    graded: Sequence[Sequence[Outcome]],
    *,
    source: str = "",
    task: str = "",
    seen_true: Sequence[bool] = (),
    states: int = 0,
    never_together: Sequence[tuple[int, int]] = (),
) -> list[Finding]:
    """What is wrong with the checks of a scenario.

    Args:
        checks: the checks.
        initial: the state at reset.
        graded: outcomes of the checks: at reset first, then on any other states.
        source: the class's source, which may name tables that the state does not have yet.
        task: the task; a record that it names may well be there only at the end.
        seen_true: for each check whether it held in any state that a search met; empty where none was made.
        states: how many different states that search graded.
        never_together: pairs of checks that each held in some of them, and in none together.
    """
    found: list[Finding] = []
    known = _Known(initial, source, task)
    for place, check in enumerate(checks):
        answers = [row[place] for row in graded]
        hints = hints_of(check)
        faults = [
            *_answers(check, answers, len(checks)),
            *_code(check, any(answer.passed for answer in answers)),
            *known.missing(check, hints, answers),
        ]
        if seen_true and not seen_true[place] and not any(f.severity == "error" for f in faults):
            message = f"“{check.item}” held in none of {states:,} different states tried."
            faults.append(_finding("never-true", "warning", check, message, states=states))
        found += faults
    for one, other in dict(never_together).items():
        message = (
            f"“{checks[one].item}” and “{checks[other].item}” each held in some of {states:,} states tried, "
            "and in none together."
        )
        found.append(
            _finding("never-together", "warning", checks[one], message, against=checks[other].source)
        )
    return [*found, *_contradictions(checks, initial)]


def _finding(kind: str, severity: Severity, check: Check, message: str, **evidence: Json) -> Finding:
    told: dict[str, Json] = {**evidence, "check": check.source}
    return Finding(kind=kind, severity=severity, where=check.item, message=message, evidence=told)


# By running


def _answers(check: Check, answers: Sequence[Outcome], total: int) -> Iterator[Finding]:
    first = answers[0].passed if answers else None
    if first and check.kind == "goal":
        message = f"“{check.item}” holds before anything is done, and pays {1 / total:.2f} for it."
        yield _finding("vacuous", "error", check, message, pays=round(1 / total, 4))
    broken = [answer for answer in answers if answer.passed is None]
    if broken and len(broken) == len(answers):
        message = f"“{check.item}” broke on every state it was asked about: it {broken[0].note}."
        yield _finding("always-broken", "error", check, message, states=len(answers))
    elif broken:
        severity: Severity = "error" if first is None else "warning"
        message = f"“{check.item}” broke on {len(broken)} of {len(answers)} states: it {broken[0].note}."
        yield _finding("sometimes-broken", severity, check, message, states=len(answers))


# By reading


def _code(check: Check, holds: bool) -> Iterator[Finding]:
    try:
        tree = parse_tree(check.source)
    except SourceError as error:
        yield _finding("no-source", "error", check, f"“{check.item}” cannot be read: {error}")
        return
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    function = next((f for f in functions if f.name == "check_func"), functions[-1] if functions else None)
    if function is None:
        yield _finding("no-source", "error", check, f"“{check.item}” has no check function.")
        return
    nodes = list(ast.walk(function))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    every = names if len(tree.body) == 1 else {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    if function.args.args and function.args.args[0].arg not in names:
        yield _finding(
            "blind",
            "error",
            check,
            f"“{check.item}” never looks at the final state, so no run can change it.",
        )
    elif halves := _halves(nodes):
        message = (
            f"“{check.item}” compares with {halves[0]}, half a character, which nothing out of JSON equals."
        )
        yield _finding("half-characters", "warning" if holds else "error", check, message, texts=list(halves))
    elif _only(nodes, False):
        yield _finding(
            "only-false", "error", check, f"“{check.item}” can only answer no: every return is False."
        )
    if "initial_state" in every:
        message = f"“{check.item}” reads initial_state, which the runtime must supply as a global."
        yield _finding("reads-initial-state", "note", check, message)
    if len(functions) > 1:
        helpers = ", ".join(f.name for f in functions if f is not function)
        yield _finding("helpers", "note", check, f"“{check.item}” brings helper functions: {helpers}.")


def _only(nodes: Sequence[ast.AST], value: bool) -> bool:
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    return bool(returned) and all(isinstance(v, ast.Constant) and v.value is value for v in returned)


def _halves(nodes: Sequence[ast.AST]) -> list[str]:
    """Texts with one half of a surrogate pair: an emoji written as two escapes, which Python keeps apart."""
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [ascii(t) for t in texts if isinstance(t, str) and any(0xD800 <= ord(c) <= 0xDFFF for c in t)]


def _contradictions(checks: Sequence[Check], initial: State) -> Iterator[Finding]:
    """Checks that want different values in one field of one record, which no state has at once.

    Only checks that look up one record and go through no others are taken at their word.
    """
    wanted: dict[tuple[str, str, str], tuple[Check, Json]] = {}
    for check in checks:
        hints = hints_of(check)
        fields = [name for name, _ in hints.pairs]
        row = _record(initial, hints.keys)
        if row is None or len(hints.states) != 1 or " for " in check.source:
            continue
        for name, value in hints.pairs:
            if fields.count(name) > 1 or name not in row:
                continue  # one of several values will do
            first, other = wanted.setdefault((*hints.keys[0], name), (check, value))
            if other != value:
                record = "/".join(hints.keys[0])
                wants = f"wants {value!r:.60} in {name} of {record}, where “{first.item}” wants {other!r:.60}"
                message = f"“{check.item}” {wants}; both cannot hold at the end."
                yield _finding("contradiction", "warning", check, message, against=first.source)


def _record(initial: State, keys: Sequence[tuple[str, str]]) -> dict[str, Json] | None:
    """The one record that a check looks up, where it is there from the beginning."""
    table = initial.get(keys[0][0]) if len(keys) == 1 else None
    row = table.get(keys[0][1]) if isinstance(table, dict) else None
    return row if isinstance(row, dict) else None


class _Known:
    """What there is to read: the tables of the state and of the class, their keys, and what the task names."""

    def __init__(self, initial: State, source: str, task: str) -> None:
        self._initial, self._task = initial, task
        self._attributes = _attributes(source) | initial.keys()
        values = Values(initial)
        self._texts = {*values.texts, *(key for keys in values.keys.values() for key in keys)}
        self._words = _words(source) | set(_keys(initial)) if source else None

    def missing(self, check: Check, hints: Hints, answers: Sequence[Outcome]) -> Iterator[Finding]:
        """Tables and records that a check reads and that are not there."""
        holds = any(answer.passed for answer in answers)
        if "init_config" in hints.states and "init_config" not in self._initial:
            message = f"“{check.item}” reads init_config, which is there only where a runtime keeps it in the state."
            yield _finding("reads-init-config", "warning", check, message)
        tables = sorted(hints.states - self._attributes - {"init_config"})
        if tables:
            # Another branch may do without it, and a check that asks for a table's absence holds at once.
            severity: Severity = "warning" if holds or hints.states & self._attributes else "error"
            names = ", ".join(tables)
            message = f"“{check.item}” reads {names}, which neither the initial state nor the class has."
            yield _finding("missing-table", severity, check, message, reads=list(tables))
        others = (self._words or set()) | hints.states | {key for _, key in hints.keys}
        fields = sorted({name for name, _ in hints.pairs} - others) if self._words else []
        if fields and not holds:
            names = ", ".join(fields)
            message = (
                f"“{check.item}” reads the field {names}, which neither the state nor the class's code names."
            )
            yield _finding("missing-field", "warning", check, message, reads=list(fields))
        keys = sorted(
            {
                f"{table}/{key}"
                for table, key in hints.keys
                if isinstance(self._initial.get(table), dict) and self._is_absent(key)
            }
        )
        if keys:
            message = f"“{check.item}” looks up {', '.join(keys[:3])}, which is neither in the state nor in the task."
            yield _finding("absent-record", "note", check, message, reads=list(keys))

    def _is_absent(self, key: str) -> bool:
        return key not in self._texts and key not in self._task


def _keys(value: Json) -> Iterator[str]:
    """Every key of a value, however deep."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield from value
    for part in parts:
        yield from _keys(part)


@lru_cache(maxsize=64)
def _words(source: str) -> frozenset[str]:
    """Every name and short text in a source."""
    try:
        nodes = list(ast.walk(parse_tree(source)))
    except SourceError:
        return frozenset()
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    names = [n.id for n in nodes if isinstance(n, ast.Name)] + [
        n.arg for n in nodes if isinstance(n, ast.arg)
    ]
    return frozenset([*texts, *names, *(n.attr for n in nodes if isinstance(n, ast.Attribute))])


@lru_cache(maxsize=64)
def _attributes(source: str) -> frozenset[str]:
    """Every attribute that a class's code gives to `self`, wherever it does."""
    try:
        tree = parse_tree(source)
    except SourceError:
        return frozenset()
    return frozenset(
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    )
