"""The stand-in as tester: `audits/probe` chooses calls, `audits/judge` says what it thinks of one.

The tester draws a sub-task that needs the tool and takes its values, or guesses values by the parameters'
names from the records at hand; for a negative or a boundary call it then bends one of them. The judge sees
the code of the tool only as text, and decides by rules of thumb on call, reply and change: it knows no
fault by name and can be wrong.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from envscaler.model.builtin.build import World
from envscaler.model.builtin.pattern import Changed, Outcome, Rng, State, pick, shuffled
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.recall import need, read, world_with

Blocks = Mapping[str, str]
Json = Any

# probe


def probe(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """A call of the tool that is due, with the intent that is due."""
    need(blocks, "counts")
    world = world_with(need(blocks, "summary"), need(blocks, "tools") + need(blocks, "state"))
    tools = {tool["name"]: tool for tool in read(blocks, "tools")}
    due, given = read(blocks, "suggestion"), read(blocks, "state")
    name = due["tool"] if due.get("tool") in tools else pick(rng, list(tools))
    intent = due.get("intent", "positive")
    parameters = tools[name]["parameters"].get("properties", {})
    required = set(tools[name]["parameters"].get("required", []))
    arguments = (_from_goal(world, name, given, rng) if rng.random() < 0.8 else None) or {
        p: _guess(p, schema, given, rng)
        for p, schema in parameters.items()
        if p in required or rng.random() < 0.5
    }
    arguments = {p: v for p, v in arguments.items() if p in parameters}
    thought = f"{name} with values that fit together."
    if intent != "positive":
        thought = _bend(arguments, parameters, given, rng, intent)
    return {"thought": thought, "tool": name, "intent": intent, "arguments": arguments}


def _from_goal(world: World, tool: str, given: State, rng: Rng) -> dict[str, Any] | None:
    """Arguments of the tool in the plan of a sub-task, its references taken from what the sub-task demands."""
    for goal in shuffled(rng, world.goals):
        try:
            slots = goal.draw(given, rng)
            outcomes = goal.outcome(slots, given) if slots is not None else []
        except LookupError:
            continue
        calls = [call for call in goal.plan(slots) if call["tool"] == tool] if slots is not None else []
        if calls:
            arguments = calls[-1]["arguments"]
            filled = {
                p: _demanded(p, v, outcomes) if isinstance(v, dict) else v for p, v in arguments.items()
            }
            if None not in filled.values():
                return filled
    return None


def _demanded(parameter: str, reference: Json, outcomes: list[Outcome]) -> Json:
    field = [step for step in reference["$from"] if isinstance(step, str)][-1]
    fields = [o.fields[name] for o in outcomes for name in (parameter, field) if name in o.fields]
    keys = [o.key for o in outcomes if isinstance(o, Changed) and field.endswith("_id")]
    return next(iter([*fields, *(keys if not parameter.startswith("to_") else keys[::-1])]), None)


def _guess(parameter: str, schema: Mapping[str, Any], given: State, rng: Rng) -> Json:
    """A value for a parameter, by its name: one that a record has, or a plain one of its type."""
    tables = [table for table in given.values() if isinstance(table, dict)]
    rows = [row for table in tables for row in table.values() if isinstance(row, dict)]
    names = [parameter, re.sub(r"^(from|to|new|min|max)_", "", parameter)]
    seen = [row[name] for row in rows for name in names if row.get(name) is not None]
    types = json.dumps(schema)
    if seen and '"boolean"' not in types:
        return pick(rng, seen)
    if parameter.endswith(("date", "_on", "since")):
        return later(given["today"], int(rng.integers(-5, 20)))
    plain = {'"integer"': int(rng.integers(1, 9)), '"number"': float(rng.integers(1, 90)), '"boolean"': True}
    return next((value for kind, value in plain.items() if kind in types), "a note")


def _bend(
    arguments: dict[str, Any], parameters: Mapping[str, Any], given: State, rng: Rng, intent: str
) -> str:
    """Bend one argument to what is not allowed, or to its edge; the thought says which."""
    for name in shuffled(rng, list(arguments)):
        value, old = arguments[name], given.get("today", "2025-01-01")
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        if name.endswith("_id"):
            guess = _guess(name, parameters.get(name, {}), given, rng)
            arguments[name] = "NONE-999" if intent == "negative" and rng.random() < 0.5 else guess
        elif numeric and intent == "negative":
            arguments[name] = type(value)(pick(rng, [-3, 0, 100_000]))
        elif numeric:
            arguments[name] = type(value)(pick(rng, [1, 0, 2, *_bounds(str(parameters.get(name)))]))
        elif isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            edge = [old, later(value, 1), later(value, -1)]
            arguments[name] = pick(
                rng, ["yesterday", later(old, -400), later(value, 400)] if intent == "negative" else edge
            )
        elif isinstance(value, str):
            arguments[name] = pick(rng, ["", "  ", "nonsense"]) if intent == "negative" else value
        else:
            continue
        return f"{intent}: {name} is {arguments[name]!r}."
    return f"{intent}: the same once more."


def _bounds(text: str) -> list[int]:
    return [int(n) + by for n in re.findall(r"\b\d{1,4}\b", text) for by in (0, 1)]


# judge

Case = dict[str, Any]


def judge(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """The verdict on one call, from what the blocks show."""
    case: Case = {n: read(blocks, n) for n in ("call", "before", "after", "diff", "reply")}
    case["world"] = "".join(need(blocks, name) for name in ("summary", "rules", "class_source"))
    case["code"] = need(blocks, "tool_source")
    case["reads"] = '"message":' not in case["code"]
    for question in (_form, _refused_and_changed, _read_that_wrote, _no_effect, _wrongly_refused, _wrongly_accepted,
                     _out_of_bounds, _contradiction, _other_value, _stranger, _unfiltered):  # fmt: skip
        if complaint := question(case):
            return {"analysis": complaint, "verdict": "fail", "reason": complaint}
    if case["call"]["intent"] == "positive" and not case["reply"].get("success"):
        return {"analysis": "A refusal that the values explain.", "verdict": "pass", "reason": ""}
    return {"analysis": "Reply and change fit the description.", "verdict": "pass", "reason": ""}


def _succeeded(case: Case) -> bool:
    return isinstance(case["reply"], dict) and case["reply"].get("success") is True


def _form(case: Case) -> str:
    reply = case["reply"]
    if not isinstance(reply, dict) or not isinstance(reply.get("success"), bool):
        return f"The reply has no success: {str(reply)[:80]}."
    if not reply["success"] and not (isinstance(reply.get("error"), str) and reply["error"].strip()):
        return "It refuses without saying why."
    return ""


def _refused_and_changed(case: Case) -> str:
    return (
        ""
        if _succeeded(case) or not case["diff"]
        else f"It refuses but changed {', '.join(case['diff'])[:80]}."
    )


def _read_that_wrote(case: Case) -> str:
    return (
        f"It only reads but changed {', '.join(case['diff'])[:80]}." if case["reads"] and case["diff"] else ""
    )


def _no_effect(case: Case) -> str:
    wrote = _succeeded(case) and not case["reads"] and not case["diff"]
    return "It reports a change, but nothing changed." if wrote else ""


def _rows(state: Json) -> dict[str, dict[str, Any]]:
    tables = [table for table in state.values() if isinstance(table, dict)]
    return {key: row for table in tables for key, row in table.items() if isinstance(row, dict)}


def _wrongly_refused(case: Case) -> str:
    error = str(case["reply"].get("error", ""))
    named = re.search(r"no .* with the id '?([\w-]+)'?", error)
    if named and named[1] in _rows(case["before"]):
        return f"It says that there is no {named[1]}, but there is."
    return ""


def _wrongly_accepted(case: Case) -> str:
    """An id, date, text or status that no such tool may take."""
    if not _succeeded(case):
        return ""
    rows = _rows(case["before"])
    for name, value in case["call"]["arguments"].items():
        if name.endswith("_id") and isinstance(value, str) and value not in rows and not case["reads"]:
            return f"It accepted the unknown {name} {value!r}."
        if isinstance(value, str) and not value.strip() and not case["reads"]:
            return f"It accepted an empty {name}."
        needed = re.search(rf"^\s*{name}: [^\n]*?must be (\w+)(?! and have)", case["code"], re.MULTILINE)
        row = rows.get(value, {}) if isinstance(value, str) else {}
        if needed and "status" in row and needed[1] in _words_of_status(case["code"]):
            line = re.search(rf"^\s*{name}: .*(?:\n {{16,}}.*)*", case["code"], re.MULTILINE)
            if row["status"].replace("_", " ") not in (line[0].replace("_", " ") if line else ""):
                return f"{value} is {row['status']}, but it must be {needed[1]}."
        if (
            re.search(rf"^\s*{name}: [^\n]*must be in service", case["code"], re.MULTILINE)
            and row.get("in_service") is False
        ):
            return f"{value} is out of service."
    return ""


def _words_of_status(code: str) -> set[str]:
    return set(re.findall(r"\"(\w+)\"", code))


def _out_of_bounds(case: Case) -> str:
    """A number outside what the description of its parameter says."""
    for name, value in case["call"]["arguments"].items() if _succeeded(case) else ():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        line = re.search(rf"^\s*{name}: (.*(?:\n {{12,}}.*)*)", case["code"], re.MULTILINE)
        said = line[1] if line else ""
        bounds = [(r"above (\d+)", lambda v, b: v > b), (r"at least (\d+)", lambda v, b: v >= b),
                  (r"at most (\d+)", lambda v, b: v <= b), (r"\d+ to (\d+)", lambda v, b: v <= b),
                  (r"(\d+) to \d+", lambda v, b: v >= b)]  # fmt: skip
        for pattern, fits in bounds:
            bound = re.search(pattern, said)
            if bound and not fits(value, float(bound[1])):
                return f"It accepted {name} {value}, though the description says {bound[0]!r}."
    return ""


def _contradiction(case: Case) -> str:
    """A record in the reply that the state afterwards has otherwise."""
    data = case["reply"].get("data")
    rows = _rows(case["after"])
    for record in data if isinstance(data, list) else [data]:
        key = (
            next((v for k, v in record.items() if k.endswith("_id")), None)
            if isinstance(record, dict)
            else None
        )
        row = rows.get(key, {}) if isinstance(key, str) else {}
        wrong = [name for name in row if name in record and record[name] != row[name]]
        if wrong:
            return f"The reply says {wrong[0]} {record[wrong[0]]!r} of {key}, the state {row[wrong[0]]!r}."
    return ""


def _other_value(case: Case) -> str:
    """An argument that the record it should be written to does not show, or a status it never heard of."""
    data = case["reply"].get("data")
    if not _succeeded(case) or case["reads"] or not isinstance(data, dict):
        return ""
    for name, value in case["call"]["arguments"].items():
        plain = value.strip() if isinstance(value, str) else value
        if name in data and plain is not None and data[name] != plain and not isinstance(value, float):
            return f"{name} should be {plain!r} in the record, but is {data[name]!r}."
    status = data.get("status")
    if isinstance(status, str) and status.replace("_", " ") not in case["world"].replace("_", " "):
        return f"There is no status {status!r}."
    return ""


def _stranger(case: Case) -> str:
    """A changed record that the call does not speak of."""
    spoken = json.dumps([case["call"]["arguments"], case["reply"].get("data")])
    rows = _rows(case["before"])
    linked = json.dumps([rows.get(key) for key in re.findall(r"[A-Z]+-\d+", spoken)])
    for path, change in case["diff"].items():
        key = path.rpartition("/")[2]
        if "changed" in change and "/" in path and key not in spoken + linked:
            return f"It changed {path}, of which the call does not speak."
    return ""


def _unfiltered(case: Case) -> str:
    """A record in a list that does not have what was asked for."""
    data = case["reply"].get("data")
    if not case["reads"] or not isinstance(data, list):
        return ""
    for name, value in case["call"]["arguments"].items():
        for record in data if value is not None and name != "name" else ():
            if isinstance(record, dict) and record.get(name, value) != value:
                return f"Only {name} {value!r} was asked for, but {record[name]!r} is among them."
    return ""
