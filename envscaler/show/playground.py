"""The playground: call the tools of a world by hand, see what each call changes, go back, and split off.

A `VBox` over `Environment`, to be used with the mouse or from a cell (`playground.call("renew", {…})`,
`playground.undo()`, `playground.rewind(3)`, `playground.fork()`). Calls are counted from 1; step 0 is the
beginning. Going back keeps the calls that were made, until another one takes their place. The calls can be
saved, loaded and made again. Nothing is graded unless the checks of a scenario are asked, and no agent acts.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from ipywidgets import HTML, HBox, Layout, Select, VBox
from pydantic import ValidationError

from envscaler.error import EnvironmentLost, EnvscalerError, ParameterError, StoreError
from envscaler.given import a_path, many, one, place_in, told
from envscaler.project import check_seed
from envscaler.schema import Call, Json, Outcome, Scenario, Skeleton, read_loosely
from envscaler.show.form import Form
from envscaler.show.markup import (
    Html,
    chip,
    escape,
    inline_json,
    name_html,
    page,
    shorten,
    soft,
    table,
    titled,
)
from envscaler.show.pager import button, dropdown, label_of, toggle, wrapped
from envscaler.show.view import outcomes_html, reply_html, state_html
from envscaler.store import read_rows, sentence, write_text
from envscaler.world.arguments import not_json
from envscaler.world.change import Diff, State
from envscaler.world.check import grade
from envscaler.world.environment import Environment, Snapshot
from envscaler.world.witness import resolve, succeeded


@dataclass(frozen=True)
class Move:
    """One call that was made."""

    call: Call
    """What was called."""
    reply: Json
    """What came back."""
    diff: Diff
    """What changed."""
    after: Snapshot
    """The moment after it."""


class Playground(VBox):
    """A world to play in by hand.

    Args:
        skeleton: the world.
        state_or_scenario: where it begins; None for the class's own empty state.
        seed: of times, ids and draws.

    Raises:
        SourceError: the class does not load with this state.
        ParameterError: it is no skeleton, no state or no seed.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        state_or_scenario: Scenario | Mapping[str, Json] | None = None,
        *,
        seed: int = 0,
    ) -> None:
        check_seed(seed)
        self.forks: list[Playground] = []
        self._skeleton, self._given, self._seed = one(skeleton, Skeleton), state_or_scenario, seed
        self._environment = Environment(skeleton, state_or_scenario, seed=seed)
        self._start = self._environment.snapshot()
        self._moves: list[Move] = []
        self._place = 0
        self._forms: dict[str, Form] = {}
        self._syncing = False
        self.tool = dropdown("tool", [t.name for t in skeleton.tools], width="380px")
        self.steps = Select(rows=8, layout=Layout(width="auto"), tooltip="Choose a step to go to it")
        self.seeing = toggle("state", "The whole state at this step")
        self._about, self._form, self._page = HTML(), VBox(), HTML()
        self._below = VBox()
        self._undo = button("undo", "Take the last call back", self.undo)
        acts: dict[str, Callable[[], Any]] = {"call": self.submit, "fork": self.fork}
        self._buttons = {name: button(name, tip, acts[name]) for name, tip in TIPS.items()}
        for choice, act in (
            (self.tool, self._tooled),
            (self.steps, self._stepped),
            (self.seeing, self._seen),
        ):
            choice.observe(act, "value")
        super().__init__(self._parts())
        self.add_class("es-playground")
        self._tooled()
        self.draw()

    # What there is

    @property
    def state(self) -> State:
        """The state at this step, a fresh copy."""
        return self._environment.state

    @property
    def place(self) -> int:
        """The step it stands at: how many calls lie behind it."""
        return self._place

    @property
    def calls(self) -> list[Call]:
        """The calls that lead here."""
        return [move.call for move in self._moves[: self._place]]

    @property
    def last(self) -> Move | None:
        """The call that leads here; None at the beginning."""
        return self._moves[self._place - 1] if self._place else None

    @property
    def history(self) -> pd.DataFrame:
        """One row a call: its step, what it gave, what it changed, and whether it lies behind (`done`)."""
        rows = [
            (
                n,
                move.call.tool,
                move.call.arguments,
                succeeded(move.reply),
                list(move.diff),
                n <= self._place,
                move.reply,
            )
            for n, move in enumerate(self._moves, start=1)
        ]
        columns = ["step", "tool", "arguments", "success", "changed", "done", "reply"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def outcomes(self) -> list[Outcome]:
        """What the scenario's checks say of this step's state.

        Raises:
            ParameterError: it began in a bare state, which has no checks.
        """
        if not isinstance(self._given, Scenario):
            raise ParameterError(
                "Expected a scenario with checks, but this playground began in a bare state."
            )
        first = self._environment.initial_state
        return grade(self._given.checks, first, self.state, self._given.may_change)

    # What can be done

    def call(self, tool: str, arguments: Json = None) -> Json:
        """Make one call; its reply. Calls that were taken back before are forgotten.

        A call that cannot be made as it is written is refused in the reply, and kept without arguments.
        """
        if not isinstance(arguments, str | int | float | list | dict | None):
            raise ParameterError(f"Expected the arguments as an object, got {told(arguments)}.")
        before = self._moment
        try:
            reply = self._environment.call(tool, arguments)
            diff = self._environment.diff
        except EnvironmentLost as error:
            reply, diff = {"success": False, "error": str(error)}, {}
            self._environment.restore(before)
        after = replace(self._environment.snapshot(), losses=0)
        # Here a hang costs no episode, so it is not counted against the next one.
        if self._environment.faults:
            self._environment.restore(after)
        move = Move(Call(tool=str(tool), arguments=_as_sent(arguments)), reply, diff, after)
        self._moves = [*self._moves[: self._place], move]
        self._place += 1
        self.draw()
        return reply

    def submit(self) -> None:
        """Make the call that is filled in; what cannot be read is said in its place."""
        try:
            arguments = self.form.read()
        except ParameterError as error:
            self._page.value = page(f"<p>{chip('not called', 'bad')} {escape(error)}</p>")
            return
        self.call(self.tool.value, arguments)

    def undo(self) -> None:
        """Take the last call back; at the beginning nothing happens."""
        self.rewind(max(0, self._place - 1))

    def rewind(self, step: int) -> None:
        """Go to a step: back, or on again to a call that was taken back.

        Args:
            step: 0 for the beginning, n for the moment after the n-th call.

        Raises:
            ParameterError: there is no such step.
        """
        self._place = place_in(step, "a step", len(self._moves) + 1)
        self._environment.restore(self._moment)
        self.draw()

    def fork(self) -> "Playground":
        """An independent playground that stands where this one stands; it is shown below."""
        other = Playground(self._skeleton, self._given, seed=self._seed)
        other._moves, other._place = self._moves[: self._place], self._place
        other._environment.restore(self._moment)
        other.tool.value = self.tool.value
        other.draw()
        self.forks.append(other)
        head = HTML(page(f"<b>Fork {len(self.forks)}</b> {soft(f'from step {self._place}')}"))
        look = Layout(border_left="3px solid #e69f00", padding="0 0 0 12px", margin="14px 0 0 0")
        self._below.children = [*self._below.children, VBox([head, other], layout=look)]
        return other

    def replay(self, calls: Iterable[Call]) -> list[Json]:
        """Make calls one after the other, a witness for example; their replies.

        Raises:
            ParameterError: one is no call, or refers to an earlier reply where there is nothing; the calls before
                such a reference are made.
        """
        replies: list[Json] = []
        for written in many(calls, Call):
            call = resolve(written, replies)
            replies.append(self.call(call.tool, call.arguments))
        return replies

    def save(self, path: str | Path) -> Path:
        """Write the calls that lead here, one a line.

        Raises:
            StoreError: the file cannot be written.
        """
        return write_text(a_path(path), "".join(map(_line, self.calls)))

    def load(self, path: str | Path) -> list[Json]:
        """Make the calls of a file again, from the beginning; their replies.

        Raises:
            StoreError: the file cannot be read, or one of its lines is no call; then nothing is done.
        """
        calls = list(_read_calls(a_path(path)))
        self.rewind(0)
        return self.replay(calls)

    def close(self) -> None:
        """End the world's process and the widget, those of its forks too."""
        # Python closes a widget that is thrown away, also one whose making broke off before it had all of this.
        for fork in getattr(self, "forks", ()):
            fork.close()
        if hasattr(self, "_environment"):
            self._environment.close()
        super().close()

    # What is shown

    @property
    def form(self) -> Form:
        """The form of the chosen tool."""
        name = self.tool.value
        if name is None:
            raise ParameterError("Expected a tool to call, but this world has none.")
        if name not in self._forms:
            tool = self._skeleton.tool(name)
            self._forms[name] = Form(tool.parameters if tool else {})
        return self._forms[name]

    def html(self) -> Html:
        """The call that leads here, and the state where it is asked for."""
        move = self.last
        if move is None:
            shown = soft("Nothing was called yet." if not self._moves else "The beginning.")
        else:
            mark = chip("done", "pass") if succeeded(move.reply) else chip("refused", "warning")
            call = f"<b>{name_html(move.call.tool)}</b> {inline_json(move.call.arguments)} {mark}"
            shown = f"<div class='es-head'>{chip(f'step {self._place}')} {call}</div>" + reply_html(
                move.reply, move.diff
            )
        return page(shown, titled("State", state_html(self.state)) if self.seeing.value else "")

    def draw(self) -> None:
        """Bring the page and the list of steps up to date."""
        self._page.value = self.html()
        options = [("0  start", 0)] + [
            (label_of(f"{n}  {_name(move)}{'' if n <= self._place else '   (taken back)'}"), n)
            for n, move in enumerate(self._moves, start=1)
        ]
        self._syncing = True
        try:
            self.steps.options, self.steps.value = options, self._place
        finally:
            self._syncing = False
        self._undo.disabled = self._place == 0

    @property
    def _moment(self) -> Snapshot:
        return self._moves[self._place - 1].after if self._place else self._start

    def _ask(self) -> None:
        try:
            shown = outcomes_html(self.outcomes)
        except EnvscalerError as error:
            shown = f"<p>{chip('not asked', 'bad')} {escape(error)}</p>"
        self._page.value = self.html() + page(titled("Checks", shown))

    def _parts(self) -> list[Any]:
        asking = isinstance(self._given, Scenario)
        ask = [button("ask the checks", "What the checks say of this state", self._ask)] if asking else []
        bar = HBox(
            [self._buttons["call"], self._undo, self._buttons["fork"], self.seeing, *ask], layout=wrapped()
        )
        left = VBox([self.tool, self._about, self._form], layout=Layout(flex="1 1 420px", min_width="0"))
        right = VBox(
            [HTML(page("<b>Steps</b>")), self.steps], layout=Layout(flex="0 1 300px", min_width="200px")
        )
        top = HBox([left, right], layout=Layout(flex_flow="row wrap", max_width="1100px"))
        title = HTML(page(f"<b>{escape(shorten(self._skeleton.title, 200))}</b>"))
        return [title, top, bar, self._page, self._below]

    def _tooled(self, _: Any = None) -> None:
        tool = self._skeleton.tool(self.tool.value) if self.tool.value else None
        if tool is None:
            self._about.value = page(soft("This world has no tool."))
            return
        kind = chip("write" if tool.mutates else "read", "write" if tool.mutates else "read")
        self._about.value = page(f"{kind} {escape(shorten(tool.description, 600))}")
        self._form.children = [self.form.widget]

    def _stepped(self, change: Any) -> None:
        if not self._syncing and change["new"] is not None:
            self.rewind(change["new"])

    def _seen(self, _: Any) -> None:
        self.draw()

    def _repr_html_(self) -> Html:
        rows = [
            (
                str(n),
                f"<code>{escape(m.call.tool)}</code>",
                inline_json(m.call.arguments),
                inline_json(m.reply),
            )
            for n, m in enumerate(self._moves[: self._place], start=1)
        ]
        calls = table(("step", "tool", "arguments", "reply"), rows, (0,)) if rows else ""
        return Html(page(f"<b>{escape(shorten(self._skeleton.title, 200))}</b>", calls) + self.html())


TIPS = {
    "call": "Make the call that is filled in",
    "fork": "Another playground that stands here, shown below",
}


def _name(move: Move) -> str:
    mark = "✓" if succeeded(move.reply) else "✗"
    return f"{mark} {move.call.tool} {f'({len(move.diff)} changed)' if move.diff else ''}"


def _as_sent(arguments: Json) -> dict[str, Json]:
    """The arguments as they travel, the keys as texts; none where they cannot."""
    read = read_loosely(arguments) if isinstance(arguments, str) else arguments
    sent = isinstance(read, dict) and not_json(read) is None
    return json.loads(json.dumps(read)) if sent else {}


def _line(call: Call) -> str:
    return json.dumps(call.model_dump(), ensure_ascii=False) + "\n"


def _read_calls(path: Path) -> Iterable[Call]:
    for place, row, problem in read_rows(path):
        if problem is None:
            try:
                yield Call.model_validate(row)
                continue
            except ValidationError as error:
                problem = f"Expected a call, but {sentence(error)}"
        raise StoreError(f"{place}: {problem} Mend the line or choose another file.")
