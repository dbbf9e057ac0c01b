"""Seeded mistakes: a model that writes scenarios well, but for one reply, which is wrong as real models are wrong.

`MistakenModel` wraps another model and spoils the first fitting reply of one step in each sample; what it is asked
afterwards it answers as an author would who did not notice. Told what is wrong, it answers rightly, unless it is
`stubborn`. `KINDS` is the registry: name → which step is spoiled, and how. A kind sees the prompt, the good reply and
what went before, as text; it executes nothing and cannot know whether its mistake will be noticed.

This module measures nothing: `catching` does.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from envscaler.model import prompt
from envscaler.model import reply as replies
from envscaler.model.reply import Code
from envscaler.model.request import Model, Reply, Request, generator_of
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


@dataclass
class Plot:
    """What became of one sample."""

    item: str = ""
    """The question whose check was spoiled, where it was a check."""
    mistake: Mistake | None = None
    """The mistake, once it is made."""
    spoiled: list[str] = field(default_factory=list)
    """Every spoiled reply that was given."""
    blocks: dict[str, str] = field(default_factory=dict)
    """The latest blocks seen."""
    asked: set[str] = field(default_factory=set)
    """Questions whose checks were asked for."""
    items: int = 0
    """How many questions there are."""


class MistakenModel:
    """A model that makes one kind of mistake; see the module.

    Args:
        model: who answers otherwise, and rightly.
        kind: the kind of mistake, a name in `KINDS`, or one that is not registered.
        seed: of the choice of the reply and of the mistake.
        stubborn: whether it repeats the mistake when it is told.
    """

    def __init__(self, model: Model, kind: str | Spoil, *, seed: int = 0, stubborn: bool = False) -> None:
        self.name, self.workers = f"{model.name} with mistakes", model.workers
        self.stubborn = stubborn
        self.plots: dict[int, Plot] = {}
        """By sample: what was spoiled."""
        self._model, self._seed = model, seed
        self._spoil = KINDS[kind] if isinstance(kind, str) else kind
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Reply:
        """The wrapped model's reply, or the spoiled one."""
        with self._lock:
            plot = self.plots.setdefault(request.sample, Plot())
        shown = prompt.blocks(request.messages)
        plot.blocks |= shown
        good = self._follow(plot, request, shown)
        if request.step == CHECKLIST and (listed := _json(good.text)):
            plot.items, plot.asked = len(listed.get("items", [])), set()
        if request.step == self._spoil.step and self._is_due(plot, shown):
            return self._spoiled(plot, request, shown, good)
        return good

    # What is spoiled

    def _is_due(self, plot: Plot, shown: Mapping[str, str]) -> bool:
        told = bool(shown.get("feedback", "").strip())
        if plot.mistake is None:
            return not told or self.stubborn
        return self.stubborn and (not plot.item or plot.item == shown.get("item", "").strip())

    def _spoiled(self, plot: Plot, request: Request, shown: Mapping[str, str], good: Reply) -> Reply:
        rng = self._rng(request)
        if request.step == CHECK and plot.mistake is None and not self._is_chosen(plot, shown, rng):
            return good
        text = str(replies.parse(good, Code)) if request.step == CHECK else good.text
        mistake = self._spoil.make(
            Scene(plot.blocks, lambda step: self._other(plot, request, step)), text, rng
        )
        if mistake is None or mistake.text.strip() == text.strip():
            return good
        plot.mistake, plot.item = mistake, shown.get("item", "").strip()
        plot.spoiled.append(mistake.text)
        return replace(
            good, text=f"```python\n{mistake.text.strip()}\n```" if request.step == CHECK else mistake.text
        )

    def _is_chosen(self, plot: Plot, shown: Mapping[str, str], rng: Rng) -> bool:
        """Whether this is the check to be spoiled: each is as likely, and the last one is where none was before."""
        plot.asked.add(shown.get("item", ""))
        return bool(rng.random() * max(1, plot.items - len(plot.asked) + 1) < 1)

    def _rng(self, request: Request) -> Rng:
        return generator_of([self._seed, self._spoil.step, request.sample, prompt.blocks(request.messages)])

    def _other(self, plot: Plot, request: Request, step: str) -> Json:
        """What the model answers to another step about the same parts."""
        variables = {**plot.blocks, "feedback": ""}
        wanted = {name: variables.get(name, "") for name in prompt.load(step).variables}
        asked = Request(step, prompt.render(step, wanted), sample=request.sample)
        return _json(self._model.answer(asked).text)

    # What goes along with it

    def _follow(self, plot: Plot, request: Request, shown: Mapping[str, str]) -> Reply:
        """The reply of one who believes in the mistake, as long as it stands."""
        mistake = plot.mistake
        if mistake is None or not self._stands(plot, mistake, request, shown):
            return self._model.answer(request)
        for item, _, source in mistake.items if request.step == CHECK else ():
            if item == shown.get("item", "").strip():
                return Reply(f"```python\n{source}\n```")
        right, wrong = mistake.swap
        messages = tuple({**m, "content": _swapped(m.get("content"), wrong, right)} for m in request.messages)
        good = self._model.answer(replace(request, messages=messages))
        text = _swapped(good.text, right, wrong)
        return replace(good, text=_extended(text, request.step, mistake))

    def _stands(self, plot: Plot, mistake: Mistake, request: Request, shown: Mapping[str, str]) -> bool:
        if self._spoil.step == TASK:
            task = (_json(mistake.text) or {}).get("task")
            return request.step != TASK and shown.get("task", "").strip() == str(task).strip()
        return request.step == CHECK and any(
            item == shown.get("item", "").strip() for item, *_ in mistake.items
        )


def _swapped(text: Any, old: str, new: str) -> Any:
    return text.replace(old, new) if old and isinstance(text, str) else text


def _extended(text: str, step: str, mistake: Mistake) -> str:
    """A checklist or a witness with what the mistake brings besides."""
    answer = _json(text)
    if step == CHECKLIST and answer and mistake.items:
        answer["items"] = [*answer["items"], *({"item": i, "kind": k} for i, k, _ in mistake.items)]
        answer["may_change"] = [*answer["may_change"], *mistake.may_change]
    elif step == WITNESS and answer and mistake.calls:
        answer["calls"] = [*answer["calls"], *mistake.calls]
    else:
        return text
    return json.dumps(answer, ensure_ascii=False)


def _json(text: str) -> dict[str, Any]:
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
    task = str(_json(text).get("task", ""))
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
    task = str(_json(text).get("task", ""))
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
    listed = _json(text)
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


KINDS: dict[str, Spoil] = {
    "check always passes": Spoil(CHECK, _always),
    "check reads a missing key": Spoil(CHECK, _missing_key),
    "check with the wrong id": Spoil(CHECK, _wrong_id),
    "check compares free text": Spoil(CHECK, _free_text),
    "check changes its state": Spoil(CHECK, _changes_state),
    "task names an absent record": Spoil(TASK, _absent),
    "unsolvable task": Spoil(TASK, _unsolvable),
    "item no state can show": Spoil(CHECKLIST, _traceless),
}
"""The kinds there are; another one is added by its name."""
