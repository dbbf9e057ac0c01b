"""A model that writes scenarios well, but for one reply, which is wrong as those of real models are wrong.

`MistakenModel` wraps another model and spoils the first fitting reply of one step in each sample; what it is asked
afterwards it answers as an author would who did not notice. Told what is wrong, it answers rightly, unless it is
`stubborn`. The kinds of mistakes are in `mistakes`, what becomes of them is measured by `posing.catching`.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from envscaler.model import prompt
from envscaler.model import reply as replies
from envscaler.model.mistakes import (
    CHECK,
    CHECKLIST,
    KINDS,
    TASK,
    WITNESS,
    Mistake,
    Rng,
    Scene,
    Spoil,
    json_of,
)
from envscaler.model.reply import Code
from envscaler.model.request import Model, Reply, Request, generator_of
from envscaler.schema import Json


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
        if request.step == CHECKLIST and (listed := json_of(good.text)):
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
        return json_of(self._model.answer(asked).text)

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
            task = (json_of(mistake.text) or {}).get("task")
            return request.step != TASK and shown.get("task", "").strip() == str(task).strip()
        return request.step == CHECK and any(
            item == shown.get("item", "").strip() for item, *_ in mistake.items
        )


def _swapped(text: Any, old: str, new: str) -> Any:
    return text.replace(old, new) if old and isinstance(text, str) else text


def _extended(text: str, step: str, mistake: Mistake) -> str:
    """A checklist or a witness with what the mistake brings besides."""
    answer = json_of(text)
    if step == CHECKLIST and answer and mistake.items:
        answer["items"] = [*answer["items"], *({"item": i, "kind": k} for i, k, _ in mistake.items)]
        answer["may_change"] = [*answer["may_change"], *mistake.may_change]
    elif step == WITNESS and answer and mistake.calls:
        answer["calls"] = [*answer["calls"], *mistake.calls]
    else:
        return text
    return json.dumps(answer, ensure_ascii=False)
