"""The audit inspector: the probes of audits, one at a time, a person's verdict on them, and a tool edited and tried.

A `VBox` over the pure functions of `view`, to be used with the mouse, with keys, or from a cell
(`inspector.tool.value = "renew"`, `inspector.next()`, `inspector.mark("fail")`). Verdicts go to a label file
(see `labels`). What an edited tool does is found out by execution (see `rerun`); no model is asked here, whoever
judges is handed in, and what people and judge agree on is worked out elsewhere.
"""

import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, get_args

import pandas as pd
from ipywidgets import HTML, HBox, Label, Layout, VBox

from envscaler.error import EnvscalerError, ParameterError
from envscaler.given import a_path, many, told
from envscaler.schema import Audit, Intent, Probe, Skeleton, Verdict
from envscaler.show import labels as kept
from envscaler.show.markup import Html, chip, escape, folded, page, soft, titled
from envscaler.show.pager import ALL, Pager, button, dropdown, label_of, toggle, typed, wrapped
from envscaler.show.rerun import Judge, Rerun, Rerunner, rerun_probes, reruns_html
from envscaler.show.view import method_html, method_text, probe_html, source_html

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
YOURS = (ALL, "unmarked", "marked", "differs")
"""Choices by what a person said: `differs` where it is not what the judge said."""
NO_SKELETON = "The skeleton of this audit was not given, so its source cannot be shown."


class AuditInspector(Pager):
    """The probes of audits, with the source they ran and a person's verdict on them.

    Args:
        skeletons: the environments that were audited.
        audits: their audits.
        labels: a JSON Lines file that keeps what `mark` says; what it holds already is read first.
        rerun: makes the probes of a tool again on an edited method; default by execution, as `rerun_probes` does.
        judge: says what to make of each probe made again, e.g. `judge_by(model)`; without one, old and new are shown
            and nobody judges.
    """

    def __init__(
        self,
        skeletons: Iterable[Skeleton],
        audits: Iterable[Audit],
        labels: str | os.PathLike[str] | None = None,
        *,
        rerun: Rerunner | None = None,
        judge: Judge | None = None,
    ) -> None:
        for who, what in (
            (judge, "a judge as `judge_by(model)` makes one"),
            (rerun, "a function that reruns"),
        ):
            if not (who is None or callable(who)):
                raise ParameterError(f"Expected {what}, got {told(who)}.")
        self._audits = many(audits, Audit)
        self._skeletons = _audited(skeletons, self._audits)
        self._ids: dict[int, str] = {}
        self._file = kept.LabelFile(None if isinstance(labels, str | None) and not labels else a_path(labels))
        self._rerun = partial(rerun_probes, judge=judge) if rerun is None else rerun
        self._drafts: dict[tuple[int, str], str] = {}
        for place, audit in enumerate(self._audits):
            # Now rather than at the first choice by what was said, which is to be quick.
            if audit.skeleton_id in self._file.skeletons:
                self._audit_id(place)
        self.environment = dropdown("environment", self._environments(), width="430px")
        self.tool = dropdown("tool", [ALL], width="380px")
        self.intent = dropdown("intent", [ALL, *get_args(Intent)], width="180px")
        self.verdict = dropdown("verdict", [ALL, *VERDICTS], width="180px")
        self.yours = dropdown("your verdict", list(YOURS), width="200px")
        self.note = typed("note", width="340px")
        self.whole = toggle("whole class", "The class around the method")
        self.editing = toggle("edit this tool", "Change it and run its probes again")
        self.draft = typed(lines=12, width="98%", height="260px")
        self._result = HTML()
        self._editor = VBox(self._editor_parts(), layout=Layout(display="none"))
        for switch, act in ((self.whole, self._redrawn), (self.editing, self._edit)):
            switch.observe(act, "value")
        self.draft.observe(self._drafted, "value")
        self.environment.observe(self._retool, "value")
        self._retool()
        super().__init__(
            [[self.environment, self.tool], [self.intent, self.verdict, self.yours]],
            extra=[self._mark_bar()],
            below=[HBox([self.whole, self.editing]), self._editor],
            keys={str(n): partial(self.mark, v) for n, v in enumerate(VERDICTS, start=1)},
            hint=" · 1 pass · 2 warning · 3 fail",
        )
        self.add_class("es-inspector")

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
        rows = [label.model_dump() for label in self._file.labels.values()]
        return pd.DataFrame(rows, columns=kept.COLUMNS)

    @property
    def problems(self) -> list[str]:
        """Lines of the label file that cannot be read: where, what was expected, what came."""
        return list(self._file.problems)

    # Marking

    def mark(self, verdict: str, note: str | None = None) -> None:
        """Say what you think of the probe that is shown; saying it again replaces it.

        Args:
            verdict: pass, warning or fail.
            note: why; without it, what stands in the note field.

        Raises:
            ParameterError: the verdict is none of the three, or no probe is shown.
            StoreError: the label file cannot be written; then the verdict is not taken.
        """
        if not isinstance(verdict, str) or verdict not in VERDICTS:
            raise ParameterError(f"Expected a verdict out of {', '.join(VERDICTS)}, got {told(verdict)}.")
        if not isinstance(note, str | None):
            raise ParameterError(f"Expected a text as note, got {told(note)}.")
        if self.current is None:
            raise ParameterError("Expected a probe to mark, but these choices leave none. Choose others.")
        audit, place = self.current
        probe = self._audits[audit].probes[place]
        label = kept.Label(
            audit_id=self._audit_id(audit), skeleton_id=self._audits[audit].skeleton_id,
            environment=self._title(audit), probe=place, tool=probe.tool, intent=probe.intent,
            verdict=probe.verdict, label=verdict, note=self.note.value if note is None else note,
        )  # fmt: skip
        self._file.add(label)
        self.note.value = ""
        self.draw()

    # Editing

    def rerun(self, method: str | None = None) -> list[Rerun]:
        """Make the probes of the tool that is shown again, on an edited method.

        Args:
            method: its text; without it, what stands in the editor.

        Raises:
            ParameterError: no probe is shown, its skeleton is not there, or the text holds another tool.
            SourceError: the text does not parse, or the class does not load with it.
        """
        if self.current is None or self.probe is None or self.skeleton is None:
            raise ParameterError("Expected a probe whose skeleton was given, but none is shown.")
        if not isinstance(method, str | None):
            raise ParameterError(f"Expected the text of a method, got {told(method)}.")
        if method is not None:
            self.draft.value = method
        made = self._rerun(self.skeleton, self._audits[self.current[0]], self.probe.tool, self.draft.value)
        self._result.value = page(reruns_html(made))
        return made

    def _try_rerun(self) -> None:
        # A slip in the editor is the reader's to mend, where they look.
        self._result.value = page(soft("running …"))
        try:
            self.rerun()
        except EnvscalerError as error:
            self._result.value = page(f"<p>{chip('cannot be run', 'bad')} {escape(error)}</p>")

    def _reset(self) -> None:
        if self.current is not None and self.probe is not None:
            self._drafts.pop((self.current[0], self.probe.tool), None)
        self._load_draft()

    def _load_draft(self) -> None:
        shown, self._result.value = "", ""
        if self.current is not None and self.probe is not None and self.skeleton is not None:
            text = method_text(self.skeleton.source, self.probe.tool)
            shown = self._drafts.get((self.current[0], self.probe.tool), text)
        with self._without_a_look():
            self.draft.value = shown

    def _drafted(self, _: Any) -> None:
        if not self._choosing and self.current is not None and self.probe is not None:
            self._drafts[self.current[0], self.probe.tool] = self.draft.value

    def _edit(self, _: Any) -> None:
        self._editor.layout.display = "" if self.editing.value else "none"
        self._load_draft()

    # What is shown

    def entries(self) -> list[tuple[int, int]]:
        """Audit and probe numbers that the choices leave."""
        wanted = (self.tool.value, self.intent.value, self.verdict.value)
        tests = [(n, v) for n, v in zip(("tool", "intent", "verdict"), wanted, strict=True) if v != ALL]
        found = [
            (a, p)
            for a in self._chosen_audits()
            for p, probe in enumerate(self._audits[a].probes)
            if all(getattr(probe, name) == value for name, value in tests)
        ]
        return found if self.yours.value == ALL else [entry for entry in found if self._fits_yours(*entry)]

    def card(self, entry: tuple[int, int]) -> str:
        """One probe beside the source of the method it called, and what a person said of it."""
        audit, place = entry
        probe, skeleton = self._audits[audit].probes[place], self._skeletons.get(audit)
        label = self._label_of(audit, place)
        said = f"<p>You said: <b>{escape(label.label)}</b> {escape(label.note)}</p>" if label else ""
        if skeleton is None:
            return said + probe_html(probe, soft(NO_SKELETON))
        shown = source_html if self.whole.value else method_html
        return said + probe_html(probe, titled("Source", shown(skeleton.source, probe.tool)))

    def draw(self) -> None:
        """Bring the page, the bar and the editor up to date."""
        super().draw()
        if self.editing.value:
            self._load_draft()

    def _repr_html_(self) -> Html:
        shown = super()._repr_html_()
        if self.skeleton is None or self.probe is None or self.whole.value:
            return Html(shown)
        return Html(shown + page(folded("whole class", source_html(self.skeleton.source, self.probe.tool))))

    def _redrawn(self, _: Any) -> None:
        self.draw()

    def _fits_yours(self, audit: int, place: int) -> bool:
        label = self._label_of(audit, place)
        if self.yours.value == "unmarked" or label is None:
            return self.yours.value == "unmarked" and label is None
        return self.yours.value == "marked" or label.label != self._audits[audit].probes[place].verdict

    def _label_of(self, audit: int, place: int) -> kept.Label | None:
        # An id hashes the whole record, so it is not asked for where nobody has said anything.
        if self._audits[audit].skeleton_id not in self._file.skeletons:
            return None
        return self._file.labels.get((self._audit_id(audit), place))

    def _environments(self) -> list[tuple[str, str]]:
        ids = dict.fromkeys(audit.skeleton_id for audit in self._audits)
        titles = {audit.skeleton_id: self._title(place) for place, audit in enumerate(self._audits)}
        repeated = len(set(titles.values())) < len(titles)
        named = [(label_of(f"{titles[i]} ({i})" if repeated else titles[i]), i) for i in ids]
        return [*named, ("all environments", ALL)]

    def _title(self, audit: int) -> str:
        skeleton = self._skeletons.get(audit)
        return skeleton.title if skeleton else self._audits[audit].skeleton_id

    def _chosen_audits(self) -> list[int]:
        wanted = self.environment.value
        return [i for i, audit in enumerate(self._audits) if wanted in (ALL, audit.skeleton_id)]

    def _retool(self, _: Any = None) -> None:
        # The tools are those of the chosen environment; the page is drawn only after it.
        tools = dict.fromkeys(p.tool for a in self._chosen_audits() for p in self._audits[a].probes)
        self._offer(self.tool, [ALL, *sorted(tools)], ALL)

    def _audit_id(self, audit: int) -> str:
        # With 100 probes a page turn must not pay for that hash again.
        if audit not in self._ids:
            self._ids[audit] = self._audits[audit].id
        return self._ids[audit]

    # Parts

    def _mark_bar(self) -> HBox:
        marks = [
            button(v, f"You say: {v} ({n})", partial(self.mark, v)) for n, v in enumerate(VERDICTS, start=1)
        ]
        lost = len(self._file.problems)
        told = (
            f"{lost} line{'s' * (lost > 1)} of the label file cannot be read, see .problems" if lost else ""
        )
        return HBox([Label("you say:"), *marks, self.note, Label(told)], layout=wrapped())

    def _editor_parts(self) -> Sequence[Any]:
        run = button("run its probes again", "On the edited tool, each in the state of then", self._try_rerun)
        return [
            self.draft,
            HBox([run, button("reset", "Back to the source as it is", self._reset)]),
            self._result,
        ]


def _audited(skeletons: Iterable[Skeleton], audits: Sequence[Audit]) -> dict[int, Skeleton]:
    known = {skeleton.id: skeleton for skeleton in many(skeletons, Skeleton)}
    pairs = ((i, audit.repaired or known.get(audit.skeleton_id)) for i, audit in enumerate(audits))
    return {i: skeleton for i, skeleton in pairs if skeleton is not None}
