"""Mistakes as real models make them when they write scenarios: kinds of replies that are wrong.

`KINDS` is the registry: name → which step is spoiled, and how. A kind sees the prompt, the good reply and what went
before, as text; it executes nothing and cannot know whether its mistake will be noticed. Who makes the mistake is
`mistaken`'s business, what becomes of it `posing.catching`'s.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from envscaler.schema import Json, canonical

Rng = np.random.Generator
CHECK, CHECKLIST, TASK, WITNESS = (f"scenarios/{part}" for part in ("check", "checklist", "task", "witness"))


@dataclass(frozen=True)
class Scene:
    """What the author of a reply has before them."""

    blocks: Mapping[str, str]
    """The blocks of the prompt, and of earlier prompts of the same sample where this one does not have them."""
    other: Callable[[str], Json]
    """What the model answers to another step at this point, e.g. `scenarios/witness`, as JSON."""

    @property
    def state(self) -> dict[str, Json]:
        """The data at reset."""
        found = json.loads(self.blocks.get("state", "{}"))
        return found if isinstance(found, dict) else {}

    def rows(self) -> Iterator[tuple[str, str, dict[str, Json]]]:
        """Table, key and record of everything in the state."""
        for table, records in self.state.items():
            for key, row in records.items() if isinstance(records, dict) else ():
                if isinstance(row, dict):
                    yield table, key, row


@dataclass(frozen=True)
class Mistake:
    """A spoiled reply, and how later ones go along with it."""

    text: str
    """The reply in the place of the good one."""
    swap: tuple[str, str] = ("", "")
    """What is called otherwise from then on: the right words, and the wrong ones."""
    items: Sequence[tuple[str, str, str]] = ()
    """Questions that the checklist gets besides: text, kind, and the source of the check."""
    may_change: Sequence[str] = ()
    """What may change besides."""
    calls: Sequence[Json] = ()
    """Calls that the witness gets besides."""


@dataclass(frozen=True)
class Spoil:
    """One kind of mistake."""

    step: str
    """The step whose reply is spoiled, e.g. `scenarios/check`."""
    make: Callable[[Scene, str, Rng], Mistake | None]
    """The mistake in the place of a good reply (the code, for a check; else its text); None where there is none."""


def json_of(text: str) -> dict[str, Any]:
    """The object that a text is; an empty one where it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


# The kinds


def _pick(rng: Rng, values: Sequence[Any]) -> Any:
    return values[int(rng.integers(len(values)))] if values else None


def _always(scene: Scene, source: str, rng: Rng) -> Mistake:
    """A check that is true whatever was done."""
    table = _pick(rng, list(scene.state)) or "records"
    body = _pick(
        rng,
        [
            "return True",
            "return isinstance(final_state, dict)",
            "return len(final_state) >= 0",
            f"return final_state.get({table!r}) is not None or final_state is not None",
            f"rows = final_state.get({table!r}) or {{}}\n    return all(row is not Ellipsis for row in rows)",
        ],
    )
    return Mistake(f"def check_func(final_state) -> bool:\n    {body}\n")


def _missing_key(scene: Scene, source: str, rng: Rng) -> Mistake | None:
    """A check that reads a table or a field that is not there, so that it raises or is never true."""
    fields = {name for _, _, row in scene.rows() for name in row}
    named = [
        name for name in sorted({*scene.state, *fields}) if re.search(rf"(['\"]){re.escape(name)}\1", source)
    ]
    name = _pick(rng, named)
    if name is None:
        return None
    wrong = _pick(rng, [f"{name}_value", f"{name}s", f"current_{name}", name.title().replace("_", "")])
    spoiled = re.sub(rf"(['\"]){re.escape(name)}\1", rf"\g<1>{wrong}\1", source)
    if rng.random() < 0.5:
        spoiled = re.sub(rf"(\w+)\.get\((['\"]{wrong}['\"])(?:, [^()]*?)?\)", r"\1[\2]", spoiled)
    return Mistake(spoiled) if wrong not in fields and wrong not in scene.state else None


def _wrong_id(scene: Scene, source: str, rng: Rng) -> Mistake | None:
    """A check that looks at another record than the one that is meant."""
    keys: dict[str, list[str]] = {}
    for table, key, _ in scene.rows():
        keys.setdefault(table, []).append(key)
    named = [(t, k) for t, ids in keys.items() for k in ids if re.search(rf"(['\"]){re.escape(k)}\1", source)]
    if not named:
        return None
    table, right = _pick(rng, named)
    wrong = _pick(rng, [key for key in keys[table] if key != right and key not in source])
    return Mistake(source.replace(repr(right), repr(wrong))) if wrong else None


def _free_text(scene: Scene, source: str, rng: Rng) -> Mistake | None:
    """A check that insists on the wording of something that the task leaves open."""
    calls = (scene.other(WITNESS) or {}).get("calls", [])
    texts = [call["arguments"].get(name) for call in calls for name in call.get("free", [])]
    known = canonical(scene.state)
    text = _pick(rng, [t for t in texts if isinstance(t, str) and t and t not in known])
    goal = scene.blocks.get("kind", "").strip() == "goal"
    return Mistake(source + _INSISTS.format(text=text)) if text and goal else None


_INSISTS = """

_asked = check_func


def check_func(final_state) -> bool:
    rows = [row for table in final_state.values() if isinstance(table, dict) for row in table.values()]
    texts = [value for row in rows if isinstance(row, dict) for value in row.values()]
    return _asked(final_state) and any({text!r} in str(value) for value in texts)
"""


def _changes_state(scene: Scene, source: str, rng: Rng) -> Mistake:
    """A check that changes what it is given, though what it says is right."""
    table, key, row = _pick(rng, list(scene.rows())) or ("records", "1", {})
    name = _pick(rng, list(row)) or "status"
    line = _pick(
        rng,
        [
            f"final_state.pop({table!r}, None)",
            "final_state.setdefault('checked', []).append(True)",
            f"(final_state.get({table!r}) or {{}}).pop({key!r}, None)",
            f"(final_state.get({table!r}) or {{}}).setdefault({key!r}, {{}})",
            f"[row.pop({name!r}, None) for row in (final_state.get({table!r}) or {{}}).values() if type(row) is dict]",
            "initial_state.clear()",
        ],
    )
    return Mistake(source + _CHANGES.format(line=line))


_CHANGES = """

_asked = check_func


def check_func(final_state) -> bool:
    said = _asked(final_state)
    {line}
    return said
"""


def _absent(scene: Scene, text: str, rng: Rng) -> Mistake | None:
    """A task about somebody or something that is not in the data."""
    task = str(json_of(text).get("task", ""))
    names = sorted({v for _, _, row in scene.rows() for n, v in row.items() if "name" in n or "title" in n
                    if isinstance(v, str) and len(v) > 3 and v in task})  # fmt: skip
    right = _pick(rng, names)
    if right is None:
        return None
    first, _, _ = right.rpartition(" ")
    wrong = f"{first} {_pick(rng, ['Quillfeather', 'Oxborrow', 'Zellwig', 'Tannhurst'])}".strip()
    spoiled = json.dumps({"task": task.replace(right, wrong)}, ensure_ascii=False)
    return Mistake(spoiled, swap=(right, wrong)) if wrong not in canonical(scene.state) else None


def _unsolvable(scene: Scene, text: str, rng: Rng) -> Mistake | None:
    """A task that also wants what no tool does: a record gone for good, or under another number."""
    task = str(json_of(text).get("task", ""))
    table, key, _ = _pick(rng, [(t, k, r) for t, k, r in scene.rows() if k not in task]) or ("", "", {})
    tools = scene.blocks.get("tools", "")
    if not key:
        return None
    noun, new = table.rstrip("s").replace("_", " "), f"{key}-NEW"
    erase = rng.random() < 0.5 and not re.search(r"\"(?:delete|remove|erase|drop|discard)_", tools)
    wish = (
        f"Last, erase the {noun} {key} for good."
        if erase
        else f"Last, give the {noun} {key} the number {new}."
    )
    item = f"Has the {noun} {key} been erased?" if erase else f"Has the {noun} {key} got the number {new}?"
    test = f"{key!r} not in rows" if erase else f"{new!r} in rows and {key!r} not in rows"
    source = (
        f"def check_func(final_state) -> bool:\n    rows = final_state.get({table!r})\n"
        f"    return isinstance(rows, dict) and {test}\n"
    )
    verb = "erase" if erase else "renumber"
    invented = {"tool": f"{verb}_{noun.replace(' ', '_')}", "arguments": {"number": key}}
    calls = [invented] if rng.random() < 0.5 else []
    spoiled = json.dumps({"task": f"{task} {wish}"}, ensure_ascii=False)
    changes = [f"{table}/{key}", *([] if erase else [f"{table}/+"])]
    return Mistake(spoiled, items=[(item, "goal", source)], may_change=changes, calls=calls)


def _traceless(scene: Scene, text: str, rng: Rng) -> Mistake | None:
    """An item about something that leaves no trace in any state."""
    listed = json_of(text)
    table, key, _ = _pick(rng, list(scene.rows())) or ("", "", {})
    if not key or "items" not in listed:
        return None
    noun = table.rstrip("s").replace("_", " ")
    item = _pick(
        rng,
        [
            f"Has the id of the {noun} {key} been validated before the change?",
            f"Has the {noun} {key} been looked up?",
            f"Has the assistant verified that the {noun} {key} exists?",
            f"Has the user been informed about the {noun} {key}?",
            f"Has it been made sure that the right {noun} was chosen?",
            f"Is it certain that {key} was considered?",
            f"Has the list of all {table.replace('_', ' ')} been gone through?",
            f"Has the {noun} {key} been correctly identified?",
        ],
    )
    kind = _pick(rng, ["goal", "goal", "guard"])
    source = (
        f"def check_func(final_state) -> bool:\n    rows = final_state.get({table!r})\n"
        f"    return isinstance(rows, dict) and {key!r} in rows\n"
    )
    items = [*listed["items"], {"item": item, "kind": kind}]
    return Mistake(json.dumps({**listed, "items": items}, ensure_ascii=False), items=[(item, kind, source)])


def _no_bool(scene: Scene, source: str, rng: Rng) -> Mistake:
    """A check that answers with something other than True or False."""
    line = _pick(
        rng,
        [
            "return 1 if said else 0",
            "return 'yes' if said else 'no'",
            "return [said] if said else []",
            "return said or None",
            "return {'passed': said}",
        ],
    )
    return Mistake(f"{source}\n\n_asked = check_func\n\n\ndef check_func(final_state) -> bool:\n"
                   f"    said = _asked(final_state)\n    {line}\n")  # fmt: skip


def _wrong_argument(scene: Scene, text: str, rng: Rng) -> Mistake | None:
    """A witness with one argument that is another record's, another value, misspelt or missing."""
    calls = json_of(text).get("calls", [])
    places = [
        (number, name)
        for number, call in enumerate(calls)
        for name, value in call["arguments"].items()
        if name not in call.get("free", []) and isinstance(value, str | int | float)
    ]
    place = _pick(rng, places)
    if place is None:
        return None
    number, name = place
    arguments = calls[number]["arguments"]
    value, how = arguments[name], rng.integers(3)
    if how == 0:
        del arguments[name]
        arguments[f"{name}_value"] = value
    elif how == 1 and isinstance(value, str):
        columns = [
            row[n] for _, _, row in scene.rows() for n in row if value in row.values() and row[n] == value
        ]
        others = [v for _, _, row in scene.rows() for v in row.values() if isinstance(v, str) and v != value]
        alike = [v for v in others if len(v) == len(value) and v[:3] == value[:3]] if columns else []
        arguments[name] = _pick(rng, alike or [f"{value} II"])
    else:
        arguments[name] = f"{value}-X" if isinstance(value, str) else value + 7
    return Mistake(json.dumps({"calls": calls}, ensure_ascii=False))


KINDS: dict[str, Spoil] = {
    "check always passes": Spoil(CHECK, _always),
    "check reads a missing key": Spoil(CHECK, _missing_key),
    "check with the wrong id": Spoil(CHECK, _wrong_id),
    "check compares free text": Spoil(CHECK, _free_text),
    "check changes its state": Spoil(CHECK, _changes_state),
    "task names an absent record": Spoil(TASK, _absent),
    "unsolvable task": Spoil(TASK, _unsolvable),
    "item no state can show": Spoil(CHECKLIST, _traceless),
    "check gives no bool": Spoil(CHECK, _no_bool),
    "witness with a wrong argument": Spoil(WITNESS, _wrong_argument),
}
"""The kinds there are; another one is added by its name."""
