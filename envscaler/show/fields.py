"""The controls of a form: one a kind of JSON value, each with `read` and `write`.

What a control cannot hold is a `ParameterError` in words for the one who typed it. Which control a schema gets
is decided in `form`; whether the arguments fit the tool is the environment's to say.
"""

import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from ipywidgets import HTML, Checkbox, Dropdown, HBox, Layout, VBox, Widget

from envscaler.error import ParameterError
from envscaler.schema import Json
from envscaler.show.markup import as_json, page, soft
from envscaler.show.pager import button, label_of, typed

_MOST_WIDE = "560px"
MOST_ITEMS = 100
"""Items of a list that get a control each; a longer one is written as JSON."""


class Control(Protocol):
    """What stands for one value."""

    widget: Widget
    """What people see."""

    def read(self) -> Json:
        """The value; raises `ParameterError` when what was typed is none."""

    def write(self, value: Json) -> None:
        """Show a value; raises `ParameterError` when it is of another kind."""


class TextControl:
    """A string."""

    def __init__(self) -> None:
        self.widget = typed(max_width=_MOST_WIDE)

    def read(self) -> Json:
        """The text, as it was typed."""
        return self.widget.value

    def write(self, value: Json) -> None:
        """Show a text; one of several lines would lose them here."""
        if not isinstance(value, str) or "\n" in value:
            raise ParameterError(f"Expected a text of one line, got {_short(value)}.")
        self.widget.value = value


class NumberControl:
    """A number, whole or not; an empty field is no number."""

    def __init__(self, whole: bool) -> None:
        self._whole = whole
        self.widget = typed("a whole number" if whole else "a number", width="180px")

    def read(self) -> Json:
        """The number."""
        text = self.widget.value.strip()
        try:
            if len(text) > 300:
                raise ValueError
            number = int(text) if self._whole or text.lstrip("+-").isdigit() else float(text)
        except ValueError:
            kind = "a whole number like 3" if self._whole else "a number like 2.5"
            raise ParameterError(f"Expected {kind}, got {_short(self.widget.value)}.") from None
        if not math.isfinite(number):
            raise ParameterError(f"Expected a number that JSON can hold, got {text}.")
        return number

    def write(self, value: Json) -> None:
        """Show a number."""
        if isinstance(value, bool) or not isinstance(value, int if self._whole else int | float):
            raise ParameterError(f"Expected a number, got {_short(value)}.")
        self.widget.value = as_json(value)


class SwitchControl:
    """True or false."""

    def __init__(self) -> None:
        self.widget = Checkbox(False, description="true", indent=False, layout=Layout(width="120px"))

    def read(self) -> Json:
        """Whether it is ticked."""
        return bool(self.widget.value)

    def write(self, value: Json) -> None:
        """Tick it or not."""
        if not isinstance(value, bool):
            raise ParameterError(f"Expected true or false, got {_short(value)}.")
        self.widget.value = value


class ChoiceControl:
    """One of a few given values."""

    def __init__(self, values: Sequence[Json]) -> None:
        self._values = list(values)
        labels = [v if isinstance(v, str) else as_json(v, indent=None) for v in self._values]
        # By number: a value may be a list, and two labels may look alike once they are cut.
        options = [(label_of(label) or "(empty)", place) for place, label in enumerate(labels)]
        self.widget = Dropdown(options=options, layout=Layout(width="100%", max_width=_MOST_WIDE))

    def read(self) -> Json:
        """The chosen value."""
        return self._values[self.widget.value]

    def write(self, value: Json) -> None:
        """Choose a value."""
        places = [
            i
            for i, v in enumerate(self._values)
            if v == value and isinstance(v, bool) == isinstance(value, bool)
        ]
        if not places:
            raise ParameterError(f"Expected one of {_short(self._values)}, got {_short(value)}.")
        self.widget.value = places[0]


class NullControl:
    """Null, which needs no control."""

    def __init__(self) -> None:
        self.widget = HTML(page(soft("null")))

    def read(self) -> Json:
        """Null."""
        return None

    def write(self, value: Json) -> None:
        """Nothing but null."""
        if value is not None:
            raise ParameterError(f"Expected null, got {_short(value)}.")


class JsonControl:
    """Any value, written as JSON."""

    def __init__(self, value: Json = "", example: str = "any JSON") -> None:
        self.widget = typed(example, lines=3, max_width=_MOST_WIDE)
        if value != "":
            self.write(value)

    def read(self) -> Json:
        """The value that is written there."""
        try:
            return json.loads(self.widget.value, parse_constant=_no_number)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise ParameterError(
                f'Expected JSON, e.g. "text", 3, [1, 2] or {{"key": "value"}}, but at {where}: {error.msg}.'
            ) from None
        except (ValueError, RecursionError) as error:
            raise ParameterError(f"Expected JSON, but {str(error)[:200]}.") from None

    def write(self, value: Json) -> None:
        """Show a value as JSON."""
        self.widget.value = as_json(value)


class ListControl:
    """A list, each item in a control of its own."""

    def __init__(self, make: Callable[[], Control]) -> None:
        self._make = make
        self.items: list[Control] = []
        self._rows = VBox()
        self.add = button("add an item", "One more at the end", self.extend)
        self.widget = VBox([self._rows, self.add])

    def extend(self) -> Control:
        """One more item at the end."""
        if len(self.items) >= MOST_ITEMS:
            raise ParameterError(f"Expected at most {MOST_ITEMS} items; write a longer list as JSON.")
        self.items.append(self._make())
        self._draw()
        return self.items[-1]

    def remove(self, item: Control) -> None:
        """Take one item out."""
        self.items = [kept for kept in self.items if kept is not item]
        self._draw()

    def read(self) -> Json:
        """The values in order."""
        values = []
        for place, item in enumerate(self.items, start=1):
            try:
                values.append(item.read())
            except ParameterError as error:
                raise ParameterError(f"Item {place}: {error}") from None
        return values

    def write(self, value: Json) -> None:
        """Show a list."""
        if not isinstance(value, list) or len(value) > MOST_ITEMS:
            raise ParameterError(f"Expected a list of at most {MOST_ITEMS} items, got {_short(value)}.")
        self.items = []
        for part in value:
            item = self._make()
            item.write(part)
            self.items.append(item)
        self._draw()

    def _draw(self) -> None:
        self._rows.children = [
            HBox([item.widget, button("✕", "Take it out", partial(self.remove, item))]) for item in self.items
        ]


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number that JSON can hold")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else as_json(value, indent=None)
    return repr(text[:60]) + ("…" if len(text) > 60 else "")
