"""A list with a place in it: choices on top, back and on, keys, and what is there as HTML. The widgets build on it.

All of it can be driven from a cell (`pager.next()`, `pager.agent.value = "witness"`), a bad value raises there,
and a headless run shows the same as static HTML. What is in the list is the subclass's business.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ipywidgets import (
    HTML,
    Box,
    Button,
    DOMWidget,
    Dropdown,
    HBox,
    Label,
    Layout,
    Text,
    Textarea,
    ToggleButton,
    VBox,
)

from envscaler.given import place_in
from envscaler.show.keys import KEYED, Keys
from envscaler.show.markup import Html, escape, page, plain, soft

ALL = "all"
NOTHING = "Nothing fits these choices."


class Pager(VBox):
    """A row of choices, a page, and a place in a list.

    Subclasses give `entries()` (what the choices leave) and `card(entry)` (how one is shown).

    Args:
        choices: what narrows the list, row by row, with what is said of it.
        extra: what stands between the bar and the page.
        below: what stands under the page.
        keys: what further keys do, beside n and p and the arrows.
        hint: a few words on those.
    """

    _choosing = False

    def __init__(
        self,
        choices: Sequence[Sequence[DOMWidget]],
        *,
        extra: Sequence[Box] = (),
        below: Sequence[Box] = (),
        keys: Mapping[str, Callable[[], Any]] | None = None,
        hint: str = "",
    ) -> None:
        self._entries: list[Any] = []
        self._place = 0
        self._page, self._where = HTML(), Label()
        self._back = button("previous", "Go one back (p or ←)", self.previous)
        self._on = button("next", "Go one on (n or →)", self.next)
        turns = {"n": self.next, "ArrowRight": self.next, "p": self.previous, "ArrowLeft": self.previous}
        self._keys = Keys(
            {**turns, **(keys or {})}, f"keys, after a click in here: n next · p previous{hint}"
        )
        for choice in (choice for row in choices for choice in row if isinstance(choice, Dropdown)):
            choice.observe(self._chosen, "value")
        rows = [HBox(list(row), layout=wrapped()) for row in choices]
        bar = HBox([self._back, self._on, self._where, self._keys], layout=wrapped())
        super().__init__([*rows, bar, *extra, self._page, *below])
        self.add_class(KEYED)
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
        self._place = place_in(place, "a place", len(self._entries))
        self.draw()

    def next(self) -> None:
        """Show the next entry; at the last one it stays."""
        self._turn(self._place + 1)

    def previous(self) -> None:
        """Show the entry before; at the first one it stays."""
        self._turn(self._place - 1)

    def press(self, key: str) -> None:
        """Do what a key does in the browser, named as there: `n`, `ArrowRight`, …"""
        self._keys.press(key)

    def refresh(self) -> None:
        """Look again at the choices and show the first entry they leave."""
        self._entries = self.entries()
        self._place = 0
        self.draw()

    def html(self) -> Html:
        """What is shown, as one page."""
        entry = self.current
        return page(soft(NOTHING) if entry is None else self.card(entry))

    def draw(self) -> None:
        """Bring the page and the bar up to date."""
        count = len(self._entries)
        # The page first: whoever sees the new number may take it that the page is the new one.
        self._page.value = self.html()
        self._where.value = f"{self._place + 1:,} of {count:,}" if count else "none"
        self._back.disabled = self._place == 0
        self._on.disabled = self._place >= count - 1

    def _turn(self, place: int) -> None:
        place = max(0, min(place, len(self._entries) - 1))
        if place != self._place:
            self._place = place
            self.draw()

    def _chosen(self, _: Any) -> None:
        if not self._choosing:
            self.refresh()

    def _offer(self, choice: Dropdown, options: Sequence[Any], value: Any) -> None:
        """Give a choice other options, without a look at the list in between."""
        with self._without_a_look():
            choice.options = labelled(options)
            choice.value = value

    @contextmanager
    def _without_a_look(self) -> Iterator[None]:
        """Choices that change in here do not bring up another page each."""
        before, self._choosing = self._choosing, True
        try:
            yield
        finally:
            self._choosing = before

    def _repr_html_(self) -> str:
        return page(f"<p>{escape(self._where.value)}</p>") + self.html()


def wrapped() -> Layout:
    """The layout of a row that goes on in the next line where it does not fit."""
    return Layout(flex_flow="row wrap", align_items="center")


def button(name: str, tip: str, act: Callable[[], Any]) -> Button:
    """A button and what it does."""
    made = Button(description=name, tooltip=tip, layout=Layout(width="auto"))
    made.on_click(lambda _: act())
    return made


def toggle(name: str, tip: str) -> ToggleButton:
    """A button that stays in."""
    return ToggleButton(False, description=name, tooltip=tip, layout=Layout(width="auto"))


def dropdown(name: str, options: Sequence[Any], width: str = "230px") -> Dropdown:
    """A choice with its name in front; options are values, or pairs of a label and a value."""
    style = {"description_width": "initial"}
    return Dropdown(options=labelled(options), description=name, style=style, layout=Layout(width=width))


def typed(placeholder: str = "", *, lines: int = 1, width: str = "100%", **layout: str) -> Text | Textarea:
    """A field to type in, of one line or several.

    What was typed is sent when the field is left, and so before a click elsewhere: sent letter by letter, the last ones
    wait for the kernel, and the click overtakes them.
    """
    settings = {
        "placeholder": placeholder,
        "continuous_update": False,
        "layout": Layout(width=width, **layout),
    }
    return Text(**settings) if lines == 1 else Textarea(rows=lines, **settings).add_class("es-code")


def labelled(options: Sequence[Any]) -> list[tuple[str, Any]]:
    """Options as pairs of a label and a value; a value alone is its own label."""
    return [option if isinstance(option, tuple) else (label_of(option), option) for option in options]


def label_of(text: Any, limit: int = 80) -> str:
    """A record's text as the label of a choice: on one line, cut short, nothing unprintable."""
    words = " ".join(plain(str(text)[: 4 * limit]).split())
    return words if len(words) <= limit else f"{words[: limit - 1]}…"
