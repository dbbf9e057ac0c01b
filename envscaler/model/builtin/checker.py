"""The stand-in as checker: its answer to `audits/judge`.

It sees the code of the tool only as text and decides by rules of thumb on call, reply and change: a refusal
that changed something, a read that wrote, a success without effect, a value out of the described bounds, a
record in the reply that is otherwise in the state, … It knows no fault by name, compares with no clean
version, and can be wrong.
"""

import json
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from envscaler.model.builtin.pattern import Rng
from envscaler.model.builtin.recall import need, read

Blocks = Mapping[str, str]
Case = dict[str, Any]

BOUNDS: tuple[tuple[str, Callable[[float, float], bool]], ...] = (
    (r"above (\d+)", operator.gt), (r"at least (\d+)", operator.ge), (r"at most (\d+)", operator.le),
    (r"\d+ to (\d+)", operator.le), (r"(\d+) to \d+", operator.ge),
)  # fmt: skip
"""How a description says what a number may be."""


def judge(blocks: Blocks, rng: Rng, fault_rate: float) -> dict[str, Any]:
    """The verdict on one call, from what the blocks show."""
    case: Case = {n: read(blocks, n) for n in ("call", "before", "after", "diff")}
    case["reply"] = read(blocks, "reply") if need(blocks, "reply").startswith("{") else None
    case["world"] = "".join(need(blocks, name) for name in ("summary", "rules", "class_source"))
    case["code"] = need(blocks, "tool_source")
    case["reads"] = '"message":' not in case["code"]
    for question in (_form, _idle_but_changed, _no_effect, _wrongly_refused, _wrongly_accepted, _out_of_bounds,
                     _contradiction, _other_value, _stranger, _unfiltered):  # fmt: skip
        if complaint := question(case):
            return {"analysis": complaint, "verdict": "fail", "reason": complaint}
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


def _idle_but_changed(case: Case) -> str:
    what = "only reads" if case["reads"] else "refuses"
    idle = case["reads"] or not _succeeded(case)
    return f"It {what} but changed {', '.join(case['diff'])[:80]}." if idle and case["diff"] else ""


def _no_effect(case: Case) -> str:
    data = case["reply"].get("data")
    given = {k: v for k, v in case["call"]["arguments"].items() if not k.endswith("_id")}
    already = isinstance(data, dict) and bool(given) and all(data.get(k) == v for k, v in given.items())
    idle = _succeeded(case) and not case["reads"] and not case["diff"] and not already
    return "It reports a change, but nothing changed." if idle else ""


def _rows(state: Any) -> dict[str, dict[str, Any]]:
    tables = [table for table in state.values() if isinstance(table, dict)]
    return {key: row for table in tables for key, row in table.items() if isinstance(row, dict)}


def _wrongly_refused(case: Case) -> str:
    error = str(case["reply"].get("error", ""))
    named = re.search(r"no (.*) with the id '?([\w-]+)'?", error)
    if named and _rows(case["before"]).get(named[2], {}).get(f"{named[1].replace(' ', '_')}_id") == named[2]:
        return f"It says that there is no {named[2]}, but there is."
    return ""


def _wrongly_accepted(case: Case) -> str:
    """An id, text, date or status that the description of its parameter rules out."""
    rows, today = _rows(case["before"]), case["before"].get("today", "")
    for name, value in case["call"]["arguments"].items() if _succeeded(case) else ():
        said = _described(case, name)
        if not isinstance(value, str):
            continue
        if case["reads"]:
            if _not_listed(said, name, value, rows):
                return f"It accepted {name} {value!r}, which is none of those it names."
        elif name.endswith("_id") and value not in rows:
            return f"It accepted the unknown {name} {value!r}."
        elif (
            not value.strip()
            or (name == "email" and "@" not in value)
            or _not_listed(said, name, value, rows)
        ):
            return f"It accepted {value!r} as {name}."
        elif "not in the past" in said and value < today and not _kept(case, value):
            return f"It accepted {name} {value}, which lies in the past."
        elif complaint := _wrong_state(case, said, rows.get(value, {})):
            return f"It accepted {value}: {complaint}"
    return ""


def _described(case: Case, name: str) -> str:
    """What the docstring says of a parameter."""
    line = re.search(rf"^\s*{name}: (.*(?:\n {{12,}}.*)*)", case["code"], re.MULTILINE)
    return " ".join(line[1].split()) if line else ""


def _not_listed(said: str, name: str, value: str, rows: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a description lists values, of which records have some, and this is none of them."""
    listed = re.search(r"(?:^|: )((?:[\w -]+, )+[\w -]+?(?: or [\w -]+)?)(?:\.|;|$)", said)
    values = set(re.split(r", | or ", listed[1])) if listed else set()
    known = any(f" {item}".endswith(f" {value}") for item in values)
    return not known and bool(values & {str(row.get(name)) for row in rows.values()})


def _kept(case: Case, value: str) -> bool:
    return any(
        value in _rows(case["before"]).get(str(v), {}).values() for v in case["call"]["arguments"].values()
    )


def _wrong_state(case: Case, said: str, row: dict[str, Any]) -> str:
    """What a record is, though the description of the parameter says that it must be something else."""
    needed = re.search(r"must (?:not )?be (\w+)", said)
    status = str(row.get("status", "")).replace("_", " ")
    known = needed is not None and status != "" and needed[1] in case["world"]
    if needed and known and ("must not be" in said) == (status in said):
        return f"it is {status}, but {needed[0]}."
    for flag, words in (("in_service", "in service"), ("on_duty", "on duty")):
        if row.get(flag) is False and f"must be {words}" in said:
            return f"it is not {words}."
    return ""


def _out_of_bounds(case: Case) -> str:
    """A number outside what the description of its parameter says."""
    for name, value in case["call"]["arguments"].items() if _succeeded(case) else ():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        said = _described(case, name)
        for pattern, fits in BOUNDS:
            bound = re.search(pattern, said)
            if bound and not fits(value, float(bound[1])):
                return f"It accepted {name} {value}, though the description says {bound[0]!r}."
    return ""


def _contradiction(case: Case) -> str:
    """A record in the reply that the state afterwards has otherwise."""
    data = case["reply"].get("data")
    rows = _rows(case["after"])
    for record in data if isinstance(data, list) else [data]:
        ids = [v for k, v in record.items() if k.endswith("_id")] if isinstance(record, dict) else []
        row = rows.get(str(ids[0]), {}) if ids else {}
        wrong = [name for name in row if name in record and record[name] != row[name]]
        if wrong:
            return f"The reply says {wrong[0]} {record[wrong[0]]!r}, the state {row[wrong[0]]!r}."
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
