"""Whether rules bind: an invariant that says no to nothing forbids nothing.

Real transitions are taken (the state at rest, a witness where there is one, calls at random), and others are made
of them that no tool should leave: a field at an extreme, empty or with another record's value, a reference led
elsewhere, rows gone or doubled, a change undone or told of another call. Each invariant must say no to one of
these at least, and to none of the real ones; the edits that concern the tables and fields a rule names come first,
so that few are tried.

Whether a rule forbids the right thing is not decided here: an invariant may bind and still be wrong.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from envscaler.error import EnvironmentLost
from envscaler.schema import Call, Finding, Json, Rule, Scenario, Skeleton
from envscaler.world.change import State, records
from envscaler.world.environment import Environment
from envscaler.world.jury import TIMEOUT, Jury, held_once
from envscaler.world.trials.trying import Hand, Values
from envscaler.world.witness import play, succeeded

_ROUNDS, _MOVES, _ROWS, _OTHERS = 3, 12, 6, 4
"""Random calls a tool, moves that are edited, rows of a table and other values of a field that are tried."""
_BATCH, _MOST = 48, 1200
"""Transitions a worker is asked about at once, and at most for one rule."""
_FAR = 10_000
_WORD = re.compile(r"['\"](\w+)['\"]")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Binding:
    """What became of one rule."""

    skeleton_id: str
    """The skeleton whose rule it is."""
    place: int
    """Which of its rules, from 0: two may have the same words."""
    rule: str
    """The rule in words."""
    has_invariant: bool
    """Whether it has an invariant at all."""
    kind: str = ""
    """The kind of edit its invariant said no to; empty when it said no to none."""
    where: str = ""
    """What was edited: `table/key/field`, or a call's tool."""
    fault: str = ""
    """What it did on a real transition, where it should have said yes: `says no` or `cannot say`."""
    detail: str = ""
    """The call and the note that show the fault."""

    @property
    def binds(self) -> bool:
        """Whether something breaks it."""
        return bool(self.kind)


@dataclass(frozen=True)
class Move:
    """One transition, real or edited."""

    before: State
    after: State
    call: dict[str, Json] | None
    kind: str = ""
    where: str = ""


@dataclass(frozen=True)
class Edit:
    """One thing done to a state."""

    kind: str
    table: str
    key: str
    field: str = ""
    value: Json = None
    """What is put there."""
    copies: int = 0
    """How many rows are added; they are the ones that a field is set in, then."""

    @property
    def where(self) -> str:
        """What it concerns."""
        return "/".join(part for part in (self.table, self.key, self.field) if part)

    def on(self, state: State) -> State:
        """The state with this done to it; records that are not touched are shared."""
        rows = records(state.get(self.table))
        if rows is None:
            return {**state, self.table: self.value}
        table = dict(rows)
        for key in [self.key] if self.key else list(rows):
            if key in table:
                self._edit(table, key)
        return {**state, self.table: table if isinstance(state[self.table], dict) else list(table.values())}

    def _edit(self, table: dict[str, Json], key: str) -> None:
        # A row that an edit before this one added is edited further.
        row = table.get(f"{key}~0", table[key]) if self.copies else table[key]
        if not self.field and not self.copies:
            del table[key]
        elif not isinstance(row, dict):
            table |= {f"{key}~{copy}": row for copy in range(self.copies)}
        else:
            put = {self.field: self.value} if self.field else {}
            for new in [f"{key}~{copy}" for copy in range(self.copies)] or [key]:
                table[new] = {**{f: new if v == key else v for f, v in row.items()}, **put}


def binding_rules(
    skeleton: Skeleton,
    scenario_or_state: Scenario | State,
    *,
    seed: int = 0,
    **options: Any,
) -> list[Binding]:
    """One row a rule: what breaks its invariant, and what it says of transitions that are real.

    Args:
        skeleton: the world.
        scenario_or_state: where to begin; a scenario's witness is played too.
        seed: of the calls and the edits.
        options: of `Environment`: `timeout` and `isolation`.
    """
    chance = random.Random(seed)
    rules = {place: rule for place, rule in enumerate(skeleton.rules) if rule.invariant}
    moves = _real_moves(skeleton, scenario_or_state, seed, options) if rules else []
    faults = _faults(rules, moves, options)
    # One that cannot answer for what is real is not asked about the rest: it may hang each time.
    able = {place: rule for place, rule in rules.items() if faults.get(place, ("", ""))[0] != "cannot say"}
    broken = _broken(able, moves, chance, options)
    rows = []
    for place, rule in enumerate(skeleton.rules):
        fault, detail = faults.get(place, ("", ""))
        row = Binding(skeleton.id, place, rule.text, bool(rule.invariant), fault=fault, detail=detail)
        edit = broken.get(place)
        rows.append(replace(row, kind=edit.kind, where=edit.where) if edit else row)
    return rows


def binding_findings(
    skeleton: Skeleton, scenario_or_state: Scenario | State, *, seed: int = 0, **options: Any
) -> list[Finding]:
    """Rules that nothing breaks, and rules that say no, or nothing, where a tool did what it may.

    Args:
        skeleton: the world.
        scenario_or_state: where to begin; a scenario's witness is played too.
        seed: of the calls and the edits.
        options: of `Environment`: `timeout` and `isolation`.
    """
    found = []
    for row in binding_rules(skeleton, scenario_or_state, seed=seed, **options):
        evidence: dict[str, Json] = {"rule": row.rule, "place": row.place}
        if row.fault:
            kind = "rule-broken-in-play" if row.fault == "says no" else "rule-cannot-say"
            message = (
                f"The invariant of the rule “{row.rule}” {row.fault} where it should hold: {row.detail}."
            )
            found.append(_warning(kind, message, evidence))
        if row.has_invariant and not row.binds and row.fault != "cannot say":
            message = (
                f"The rule “{row.rule}” cannot be broken: its invariant said no to none of the edits tried."
            )
            found.append(_warning("rule-never-broken", message, evidence))
    return found


def _warning(kind: str, message: str, evidence: dict[str, Json]) -> Finding:
    return Finding(kind=kind, severity="warning", where="rules", message=message, evidence=evidence)


# Real transitions


def _real_moves(
    skeleton: Skeleton, given: Scenario | State, seed: int, options: dict[str, Any]
) -> list[Move]:
    """The state at rest, then what the calls of a witness and calls at random did."""
    moves: list[Move] = []
    with Environment(skeleton, given, seed=seed, **options) as environment:
        environment.reset()
        start = environment.view
        moves.append(Move(start, start, None))
        witness = given.witness if isinstance(given, Scenario) else []
        values, chance = Values(start), random.Random(seed)
        hands = [Hand(tool, values, chance) for tool in skeleton.tools]
        tried = (Call(tool=h.tool.name, arguments=h.fresh()) for _ in range(_ROUNDS) for h in hands)
        try:
            for call in [*_literal(skeleton, given, witness, seed, options), *tried]:
                moves.append(_made(environment, moves[-1].after, call))
        except EnvironmentLost:
            pass  # the referee tells of it; what was done until then is real
    return moves


def _literal(
    skeleton: Skeleton, given: Scenario | State, witness: Sequence[Call], seed: int, options: dict[str, Any]
) -> list[Call]:
    if not witness:
        return []
    try:
        with Environment(skeleton, given, seed=seed, **options) as environment:
            environment.reset()
            return play(environment, witness).calls
    except EnvironmentLost:
        return []


def _made(environment: Environment, before: State, call: Call) -> Move:
    reply = environment.call(call.tool, call.arguments)
    told = {"tool": call.tool, "arguments": call.arguments, "reply": reply}
    return Move(before, environment.view if environment.diff else before, told)


def _faults(rules: dict[int, Rule], moves: list[Move], options: dict[str, Any]) -> dict[int, tuple[str, str]]:
    """By place of the rule: what it should not have said of a real transition, and of which."""
    found: dict[int, tuple[str, str]] = {}
    for start in range(0, len(moves), _BATCH):
        batch = moves[start : start + _BATCH]
        for at, answers in _ask(rules, batch, options).items():
            for move, answer in zip(batch, answers, strict=True):
                if answer["passed"] is not True and at not in found:
                    place = "the initial state" if move.call is None else f"a call of {move.call['tool']}"
                    found[at] = (
                        "says no" if answer["passed"] is False else "cannot say",
                        f"{place} {answer['note']}".strip(),
                    )
    return found


def _ask(
    rules: dict[int, Rule], moves: Sequence[Move], options: dict[str, Any]
) -> dict[int, list[dict[str, Any]]]:
    """For each rule, by its place, what it says of each move."""
    values, runs = held_once((move.before, move.after, move.call) for move in moves)
    timeout, isolation = options.get("timeout", TIMEOUT), options.get("isolation", "auto")
    with Jury(values, runs, timeout=timeout, isolation=isolation) as jury:
        answers = jury.ask("invariant", [rule.invariant or "" for rule in rules.values()])
    return dict(zip(rules, answers, strict=True))


# Edited ones


def _broken(
    rules: dict[int, Rule], moves: list[Move], chance: random.Random, options: dict[str, Any]
) -> dict[int, Move]:
    """By place of the rule: the first edited transition it says no to."""
    broken: dict[int, Move] = {}
    for at, rule in rules.items():
        edited = islice(_edited(rule, moves, chance), _MOST)
        while at not in broken and (batch := list(islice(edited, _BATCH))):
            left = {place: other for place, other in rules.items() if place not in broken}
            for place, answers in _ask(left, batch, options).items():
                said_no = [m for m, a in zip(batch, answers, strict=True) if a["passed"] is False]
                broken.update({place: said_no[0]} if said_no else {})
    return broken


def _edited(rule: Rule, moves: list[Move], chance: random.Random) -> Iterator[Move]:
    """Moves that should break some rule, those that concern what this one names first."""
    source, rest = rule.invariant or "", moves[0].after
    pool = list(_pool(rest, sorted(set(_WORD.findall(source))), chance))
    chance.shuffle(pool)
    ranked = sorted(pool, key=lambda edit: -_concerns(edit, source))
    changing = [move for move in moves if move.before is not move.after] or moves
    chosen = chance.sample(changing, min(_MOVES, len(changing)))
    kinds = [
        (Move(rest, edit.on(rest), None, edit.kind, edit.where) for edit in ranked),
        _retold(chosen, moves, source, chance),
        (_on_move(chance.choice(chosen), edit, chance) for edit in ranked),
        (_then_more(edit, rest) for edit in ranked),
        _pairs(ranked, rest, source, chance),
    ]
    while kinds:
        for kind in tuple(kinds):
            if (move := next(kind, None)) is None:
                kinds.remove(kind)
            else:
                yield move


def _concerns(edit: Edit, source: str) -> int:
    """How much a rule's source speaks of what an edit touches."""
    return 2 * (repr(edit.table)[1:-1] in source) + (bool(edit.field) and edit.field in source)


def _then_more(edit: Edit, rest: State) -> Move:
    """Every row doubled in a state that was edited before, for rules on what may be added."""
    before = after = edit.on(rest)
    for name in before:
        after = Edit("", name, "", copies=1).on(after) if records(before[name]) else after
    return Move(before, after, None, f"{edit.kind}, then every row doubled", edit.where)


def _on_move(move: Move, edit: Edit, chance: random.Random) -> Move:
    """A real transition whose beginning or end is edited."""
    if chance.random() < 0.5:
        return replace(move, before=edit.on(move.before), kind=edit.kind, where=edit.where)
    return replace(move, after=edit.on(move.after), kind=edit.kind, where=edit.where)


def _pairs(ranked: list[Edit], rest: State, source: str, chance: random.Random) -> Iterator[Move]:
    """Two edits at once, for rules that one alone does not meet."""
    near = [edit for edit in ranked if _concerns(edit, source)] or ranked
    for _ in range(_MOST if near else 0):
        one = chance.choice(near)
        akin = [e for e in near if (e.table, e.key, e.copies) == (one.table, one.key, one.copies)]
        other = chance.choice(akin if chance.random() < 0.5 else near)
        kind, where = f"{one.kind} and {other.kind}", f"{one.where} and {other.where}"
        before = one.on(rest)
        yield Move(before, other.on(before), None, kind, where)
        yield Move(rest, other.on(before), None, kind, where)


def _retold(chosen: list[Move], moves: list[Move], source: str, chance: random.Random) -> Iterator[Move]:
    """Changes undone, turned round, told of another call (those that the rule names first), or with another reply."""
    by_tool = {str(move.call["tool"]): move for move in chance.sample(moves, len(moves)) if move.call}
    others = [move for tool, move in by_tool.items() if tool in source] or list(by_tool.values())[:3]
    for move in chosen:
        told = move.call or {}
        where = str(told.get("tool", ""))
        for other in others:
            yield replace(move, call=other.call, kind="told of another call", where=where)
        yield replace(move, after=move.before, kind="change undone", where=where)
        yield replace(move, before=move.after, after=move.before, kind="change turned round", where=where)
        yield replace(move, call={**told, "arguments": {}}, kind="arguments lost", where=where)
        said = {"success": not succeeded(told.get("reply"))}
        yield replace(move, call={**told, "reply": said}, kind="reply turned round", where=where)


# Edits of a state


def _pool(state: State, words: list[str], chance: random.Random) -> Iterator[Edit]:
    """Every single edit of some records of each table, and of the scalars."""
    for name, value in state.items():
        table = records(value)
        if table is None:
            yield from (Edit(kind, name, "", "", new) for kind, new in _others(value, [], [], state))
            continue
        yield from (Edit("all rows gone", name, ""), Edit("every row doubled", name, "", copies=3))
        for key in chance.sample(list(table), min(_ROWS, len(table))):
            yield from (Edit("row gone", name, key), Edit("row doubled", name, key, copies=1))
            yield from _of_row(state, name, table, key, words, chance)


def _of_row(
    state: State, name: str, table: dict[str, Json], key: str, words: list[str], chance: random.Random
) -> Iterator[Edit]:
    row = table[key]
    for field, value in row.items() if isinstance(row, dict) else ():
        seen = [r[field] for r in table.values() if isinstance(r, dict) and field in r and r[field] != value]
        few = chance.sample(seen, min(_OTHERS, len(seen)))
        for kind, new in _others(value, few, [word for word in words if word not in row], state):
            yield Edit(kind, name, key, field, new)
            yield Edit(f"{kind} in every row", name, "", field, new)
            yield Edit(f"{kind} in an added row", name, key, field, new, copies=1)


def _others(value: Json, seen: list[Json], words: list[str], state: State) -> Iterator[tuple[str, Json]]:
    """Values that could stand in the place of one, each with the kind of edit it is."""
    if value is None:
        keys = [next(iter(table)) for table in state.values() if isinstance(table, dict) and table]
        yield from (("filled in", new) for new in [*keys, *words])
    else:
        yield "emptied", None
    for other in seen:
        yield "another record's value", other
    if isinstance(value, bool):
        yield "truth turned", not value
    elif isinstance(value, int | float):
        for new in (value + 1, value - 1, value + _FAR, value - _FAR, type(value)(0)):
            yield "number moved", new
    elif isinstance(value, list):
        yield from (("list emptied", []), ("list doubled", value * 2))
    elif isinstance(value, str):
        yield from _other_texts(value, words, state)


def _other_texts(value: str, words: list[str], state: State) -> Iterator[tuple[str, Json]]:
    yield "text emptied", ""
    if _DATE.match(value):
        yield from (("date moved", "1931" + value[4:]), ("date moved", "2131" + value[4:]))
        return
    homes = [table for table in state.values() if isinstance(table, dict) and value in table]
    for table in homes:
        yield "reference led elsewhere", next((key for key in table if key != value), f"{value}?")
        yield "reference led nowhere", f"{value}?"
    if not homes:
        yield from (("a word that the rule names", word) for word in words if word != value)
