"""Widgets to look with: probes of audits, scenarios, rollouts.

Each is a `VBox` over the pure functions of `view`: choose, go forward and back, read. `AuditInspector` also
takes a person's verdict. All of it can be driven from a cell (`inspector.tool.value = "renew"`,
`inspector.next()`), a bad value raises there, and a headless run shows the same as static HTML. Nothing is
executed here and no model is asked.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import pandas as pd
from ipywidgets import HTML, Box, Button, Dropdown, HBox, Label, Layout, Text, VBox

from envscaler.error import ParameterError, StoreError
from envscaler.schema import Audit, Intent, Probe, Rollout, Scenario, Skeleton, Verdict
from envscaler.show.markup import Html, escape, folded, page, soft, titled
from envscaler.show.view import (
    method_html,
    outcomes_html,
    probe_html,
    rollout_head,
    scenario_card,
    source_html,
    step_html,
)
from envscaler.store import read_rows, write_text

ALL = "all"
LABEL_COLUMNS = (
    "audit_id",
    "skeleton_id",
    "environment",
    "probe",
    "tool",
    "intent",
    "verdict",
    "label",
    "note",
)


class Pager(VBox):
    """A row of choices, a page, and a place in a list; what is in the list is the subclass's business.

    Subclasses give `entries()` (what the choices leave) and `card(entry)` (how one is shown).
    """

    def __init__(self, choices: Sequence[Dropdown], extra: Sequence[Box] = ()) -> None:
        self._entries: list[Any] = []
        self._place = 0
        self._choosing = False
        self._page = HTML()
        self._where = Label()
        self._back = _button("previous", "Go one back", self.previous)
        self._on = _button("next", "Go one on", self.next)
        for choice in choices:
            choice.observe(self._chosen, "value")
        bar = HBox([self._back, self._on, self._where])
        super().__init__([HBox(list(choices), layout=_WRAP), bar, *extra, self._page])
        self.refresh()

    def entries(self) -> list[Any]:
        """What the choices leave, in order."""
        raise NotImplementedError

    def card(self, entry: Any) -> str:
        """One entry as HTML."""
        raise NotImplementedError

    @property
    def current(self) -> Any:
        """The entry that is shown; None when the choices leave nothing."""
        return self._entries[self._place] if self._entries else None

    @property
    def place(self) -> int:
        """Its place among what the choices leave, from 0."""
        return self._place

    @property
    def count(self) -> int:
        """How many entries the choices leave."""
        return len(self._entries)

    def go(self, place: int) -> None:
        """Show the entry at a place, from 0.

        Raises:
            ParameterError: there is no such place.
        """
        if not 0 <= place < len(self._entries):
            raise ParameterError(f"Expected a place from 0 to {len(self._entries) - 1}, got {place}.")
        self._place = place
        self._draw()

    def next(self) -> None:
        """Show the next entry; at the last one it stays."""
        self._place = max(0, min(self._place + 1, len(self._entries) - 1))
        self._draw()

    def previous(self) -> None:
        """Show the entry before; at the first one it stays."""
        self._place = max(self._place - 1, 0)
        self._draw()

    def refresh(self) -> None:
        """Look again at the choices and show the first entry they leave."""
        self._entries = self.entries()
        self._place = 0
        self._draw()

    def html(self) -> Html:
        """What is shown, as one page."""
        entry = self.current
        return page(soft("Nothing fits these choices.") if entry is None else self.card(entry))

    def _chosen(self, change: Any) -> None:
        if not self._choosing:
            self.refresh()

    def _draw(self) -> None:
        count = len(self._entries)
        self._where.value = f"{self._place + 1:,} of {count:,}" if count else "none"
        self._back.disabled = self._place == 0
        self._on.disabled = self._place >= count - 1
        self._page.value = self.html()

    def _repr_html_(self) -> str:
        return page(f"<p>{escape(self._where.value)}</p>") + self.html()


class AuditInspector(Pager):
    """The probes of audits, one at a time, with the source they ran, and a person's verdict on them.

    Args:
        skeletons: the environments that were audited.
        audits: their audits.
        labels_path: a JSON Lines file that keeps what `mark` says; what it holds already is read first.
    """

    def __init__(
        self, skeletons: Iterable[Skeleton], audits: Iterable[Audit], labels_path: str | Path | None = None
    ) -> None:
        self._audits = list(audits)
        self._skeletons = _audited(skeletons, self._audits)
        self._ids: dict[int, str] = {}
        self._path = Path(labels_path) if labels_path else None
        self._labels = _read_labels(self._path)
        # Together no wider than JupyterLab's notebook in a window of 1280 px, its side bar open.
        self.environment = _dropdown("environment", self._environments(), width="320px")
        self.tool = _dropdown("tool", [ALL], width="215px")
        self.intent = _dropdown("intent", [ALL, *get_args(Intent)], width="145px")
        self.verdict = _dropdown("verdict", [ALL, *get_args(Verdict)], width="150px")
        self.note = Text(placeholder="note", layout=Layout(width="340px"))
        marks = [_button(v, f"You say: {v}", lambda v=v: self.mark(v)) for v in get_args(Verdict)]
        self.environment.observe(self._retool, "value")
        self._retool()
        choices = [self.environment, self.tool, self.intent, self.verdict]
        super().__init__(choices, [HBox([Label("your verdict:"), *marks, self.note], layout=_WRAP)])

    @property
    def probe(self) -> Probe | None:
        """The probe that is shown."""
        return None if self.current is None else self._audits[self.current[0]].probes[self.current[1]]

    @property
    def skeleton(self) -> Skeleton | None:
        """The skeleton it ran in: the repaired one where there was a repair."""
        return None if self.current is None else self._skeletons.get(self.current[0])

    @property
    def labels(self) -> pd.DataFrame:
        """What people said: one row a marked probe, the judge's verdict beside the label."""
        return pd.DataFrame(list(self._labels.values()), columns=list(LABEL_COLUMNS))

    def mark(self, verdict: str, note: str | None = None) -> None:
        """Say what you think of the probe that is shown; saying it again replaces it.

        Args:
            verdict: pass, warning or fail.
            note: why; without it, what stands in the note field.

        Raises:
            ParameterError: the verdict is none of the three, or no probe is shown.
        """
        if verdict not in get_args(Verdict):
            raise ParameterError(
                f"Expected a verdict out of {', '.join(get_args(Verdict))}, got {verdict!r}."
            )
        if self.current is None:
            raise ParameterError("Expected a probe to mark, but these choices leave none. Choose others.")
        audit, place = self.current
        row = self._label(audit, place, verdict, self.note.value if note is None else note)
        labels = {**self._labels, _key(row): row}
        _write_labels(self._path, labels)
        self._labels = labels
        self.note.value = ""
        self._draw()

    def entries(self) -> list[tuple[int, int]]:
        """Audit and probe numbers that the choices leave."""
        wanted = (self.tool.value, self.intent.value, self.verdict.value)
        return [
            (a, p)
            for a in self._chosen_audits()
            for p, probe in enumerate(self._audits[a].probes)
            if all(
                w in (ALL, v) for w, v in zip(wanted, (probe.tool, probe.intent, probe.verdict), strict=True)
            )
        ]

    def card(self, entry: tuple[int, int]) -> str:
        """One probe, with the source of the method it called and what a person said of it."""
        audit, place = entry
        probe, skeleton = self._audits[audit].probes[place], self._skeletons.get(audit)
        label = self._labels.get((self._audit_id(audit), place))
        said = f"<p>You said: <b>{escape(label['label'])}</b> {escape(label['note'])}</p>" if label else ""
        if skeleton is None:
            source = soft("The skeleton of this audit was not given, so its source cannot be shown.")
            return f"{said}{probe_html(probe)}{source}"
        whole = folded("whole class", source_html(skeleton.source, probe.tool))
        return f"{said}{probe_html(probe)}{titled('Source', method_html(skeleton.source, probe.tool))}{whole}"

    def _environments(self) -> list[tuple[str, str]]:
        ids = dict.fromkeys(audit.skeleton_id for audit in self._audits)
        titles = {audit.skeleton_id: self._title(place) for place, audit in enumerate(self._audits)}
        repeated = len(set(titles.values())) < len(titles)
        named = [(f"{titles[i]} ({i})" if repeated else titles[i], i) for i in ids]
        return [*named, ("all environments", ALL)]

    def _title(self, audit: int) -> str:
        skeleton = self._skeletons.get(audit)
        return skeleton.title if skeleton else self._audits[audit].skeleton_id

    def _chosen_audits(self) -> list[int]:
        wanted = self.environment.value
        return [i for i, audit in enumerate(self._audits) if wanted in (ALL, audit.skeleton_id)]

    def _retool(self, change: Any = None) -> None:
        # The tools are those of the chosen environment; the page is drawn only after it.
        tools = dict.fromkeys(p.tool for a in self._chosen_audits() for p in self._audits[a].probes)
        self._choosing = True
        try:
            self.tool.options = [ALL, *sorted(tools)]
            self.tool.value = ALL
        finally:
            self._choosing = False

    def _label(self, audit: int, place: int, verdict: str, note: str) -> dict[str, Any]:
        probe = self._audits[audit].probes[place]
        values = (
            self._audit_id(audit),
            self._audits[audit].skeleton_id,
            self._title(audit),
            place,
            probe.tool,
            probe.intent,
            probe.verdict,
            verdict,
            note,
        )
        return dict(zip(LABEL_COLUMNS, values, strict=True))

    def _audit_id(self, audit: int) -> str:
        # An id hashes the whole record; with 100 probes a page turn must not pay that again.
        if audit not in self._ids:
            self._ids[audit] = self._audits[audit].id
        return self._ids[audit]


class ScenarioViewer(Pager):
    """Scenarios, one at a time: task, checks, witness, certificate."""

    def __init__(self, scenarios: Iterable[Scenario], skeletons: Iterable[Skeleton] = ()) -> None:
        self._scenarios = list(scenarios)
        self._skeletons = {skeleton.id: skeleton for skeleton in skeletons}
        ids = list(dict.fromkeys(scenario.skeleton_id for scenario in self._scenarios))
        named = [(self._skeletons[i].title if i in self._skeletons else i, i) for i in ids]
        self.environment = _dropdown("environment", [("all environments", ALL), *named], width="340px")
        super().__init__([self.environment])

    def entries(self) -> list[Scenario]:
        """The scenarios of the chosen environment."""
        return [s for s in self._scenarios if self.environment.value in (ALL, s.skeleton_id)]

    def card(self, entry: Scenario) -> str:
        """One scenario."""
        return scenario_card(entry, self._skeletons.get(entry.skeleton_id))


class RolloutViewer(Pager):
    """Rollouts, step by step; choose the agent and the episode."""

    def __init__(self, rollouts: Iterable[Rollout], scenarios: Iterable[Scenario] = ()) -> None:
        self._rollouts = list(rollouts)
        self._tasks = {scenario.id: scenario.task for scenario in scenarios}
        agents = sorted({rollout.agent for rollout in self._rollouts})
        self.agent = _dropdown("agent", [ALL, *agents])
        self.episode = _dropdown("episode", [])
        self.agent.observe(self._reepisode, "value")
        self._reepisode()
        super().__init__([self.agent, self.episode])

    def entries(self) -> list[tuple[int, int]]:
        """Rollout and step numbers of the chosen episode; one entry also for an episode without a step."""
        chosen = self.episode.value
        return [] if chosen is None else [(chosen, s) for s in range(max(1, self._rollouts[chosen].steps))]

    def card(self, entry: tuple[int, int]) -> str:
        """One step, under the head of its rollout; at the last step the outcomes too."""
        rollout = self._rollouts[entry[0]]
        task = self._tasks.get(rollout.scenario_id, "")
        last = entry[1] >= rollout.steps - 1
        step = (
            step_html(rollout.trajectory[entry[1]]) if rollout.steps else f"<p>{soft('It took no step.')}</p>"
        )
        return (
            f"{rollout_head(rollout)}{titled('Task', f'<p>{escape(task)}</p>' if task else '')}"
            f"{step}"
            f"{titled('Outcomes', outcomes_html(rollout.outcomes)) if last else ''}"
        )

    def _reepisode(self, change: Any = None) -> None:
        fitting = [i for i, r in enumerate(self._rollouts) if self.agent.value in (ALL, r.agent)]
        self._choosing = True
        try:
            self.episode.options = [(self._name(i), i) for i in fitting]
            self.episode.value = fitting[0] if fitting else None
        finally:
            self._choosing = False

    def _name(self, place: int) -> str:
        rollout = self._rollouts[place]
        mode = "Conv" if rollout.conversation else "Non-Conv"
        return f"{place}: {rollout.agent}, {mode}, scenario {rollout.scenario_id}"


# Labels


def _audited(skeletons: Iterable[Skeleton], audits: Sequence[Audit]) -> dict[int, Skeleton]:
    known = {skeleton.id: skeleton for skeleton in skeletons}
    pairs = ((i, audit.repaired or known.get(audit.skeleton_id)) for i, audit in enumerate(audits))
    return {i: skeleton for i, skeleton in pairs if skeleton is not None}


def _key(row: dict[str, Any]) -> tuple[str, int]:
    return row["audit_id"], row["probe"]


def _read_labels(path: Path | None) -> dict[tuple[str, int], dict[str, Any]]:
    if path is None or not path.exists():
        return {}
    labels = {}
    for place, row, problem in read_rows(path):
        if problem is None and (not isinstance(row, dict) or set(row) != set(LABEL_COLUMNS)):
            problem = f"Expected the fields {', '.join(LABEL_COLUMNS)}."
        if problem is not None:
            raise StoreError(f"{place}: {problem} Mend the line or choose another labels_path.")
        labels[_key(row)] = row
    return labels


def _write_labels(path: Path | None, labels: dict[tuple[str, int], dict[str, Any]]) -> None:
    if path is not None:
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in labels.values()))


# Parts of a widget

_WRAP = Layout(flex_flow="row wrap")


def _button(name: str, tip: str, act: Any) -> Button:
    button = Button(description=name, tooltip=tip, layout=Layout(width="auto"))
    button.on_click(lambda _: act())
    return button


def _dropdown(name: str, options: Sequence[Any], width: str = "230px") -> Dropdown:
    style = {"description_width": "initial"}
    return Dropdown(options=options, description=name, style=style, layout=Layout(width=width))
