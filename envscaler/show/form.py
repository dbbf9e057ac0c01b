"""A form made from a tool's JSON schema: what a person fills in becomes the arguments of a call.

Each argument has a control for each kind of value its schema admits (text, number, yes or no, one of a list, null,
a list, an object), may be left out where it is optional, and can always be written as JSON instead: so a wrong
value can be sent on purpose, and a schema that this module cannot make sense of is still usable. Nothing is
called and nothing validated here.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from ipywidgets import HTML, Dropdown, HBox, Layout, VBox

from envscaler.error import ParameterError
from envscaler.schema import Json
from envscaler.show.fields import (
    ChoiceControl,
    Control,
    JsonControl,
    ListControl,
    NullControl,
    NumberControl,
    SwitchControl,
    TextControl,
)
from envscaler.show.markup import chip, escape, page, shorten, soft

LEFT_OUT = "left out"
AS_JSON = "as JSON"
MOST_DEPTH = 4
"""Levels of lists and objects that get controls; what is deeper is written as JSON."""
MOST_FIELDS = 60
"""Fields of an object that get a control each."""
MOST_CHOICES = 500
"""Values of an `enum` that are offered; a longer one is written as what it is."""
MOST_KINDS = 12
"""Kinds of value that one field offers."""
Kind = tuple[str, Callable[[], Control]]


def kinds(schema: Any, depth: int = 0) -> list[Kind]:
    """The kinds of value a schema admits, by name, with what makes a control for each; JSON is always the last."""
    found: dict[str, Callable[[], Control]] = {}
    for name, make in islice(_admitted(schema, depth), MOST_KINDS):
        if name not in found:
            found[name] = make
        elif isinstance(make, partial) and make.func is not NumberControl:
            # Two lists or objects differ in what is inside; two texts do not.
            found[f"{name} {len(found) + 1}"] = make
    return [*found.items(), (AS_JSON, JsonControl)]


def _admitted(schema: Any, depth: int) -> Iterator[Kind]:
    if not isinstance(schema, dict) or depth > MOST_DEPTH:
        return
    parts = schema.get("anyOf") or schema.get("oneOf")
    types = schema.get("type")
    if _choices(schema):
        yield "one of", partial(ChoiceControl, _choices(schema))
    elif isinstance(parts, list):
        for part in parts[:MOST_KINDS]:
            yield from _admitted(part, depth + 1)
    else:
        for kind in types if isinstance(types, list) else [types]:
            yield from _of_type(kind, schema, depth)
    null_too = types == "null" or (isinstance(types, list) and "null" in types)
    if schema.get("nullable") is True and not null_too:
        yield "null", NullControl


def _choices(schema: Mapping[str, Any]) -> list[Json]:
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) and 0 < len(listed) <= MOST_CHOICES else []


def _of_type(kind: Any, schema: Mapping[str, Any], depth: int) -> Iterator[Kind]:
    if kind == "string":
        yield "text", TextControl
    elif kind in ("integer", "number"):
        yield ("whole number" if kind == "integer" else "number"), partial(NumberControl, kind == "integer")
    elif kind == "boolean":
        yield "true or false", SwitchControl
    elif kind == "null":
        yield "null", NullControl
    elif kind == "array" and depth < MOST_DEPTH and isinstance(schema.get("items"), dict):
        yield "list", partial(ListControl, partial(_item, schema["items"], depth + 1))
    elif kind == "object" and depth < MOST_DEPTH and fields_of(schema):
        yield "object", partial(Form, schema, depth + 1)


def fields_of(schema: Any) -> dict[str, Any]:
    """The named fields of an object's schema; none where they are not named, not readable, or too many."""
    named = schema.get("properties") if isinstance(schema, dict) else None
    fits = isinstance(named, dict) and len(named) <= MOST_FIELDS and all(isinstance(n, str) for n in named)
    return named if fits and isinstance(named, dict) else {}


def _item(schema: Any, depth: int) -> "Field":
    return Field("", schema, required=True, depth=depth)


class Field:
    """One argument: what it is called, what it may be, and a control for the kind that is chosen."""

    def __init__(self, name: str, schema: Any, *, required: bool, depth: int = 0) -> None:
        self._kinds = dict(kinds(schema, depth))
        self._controls: dict[str, Control] = {}
        names = [*([] if required else [LEFT_OUT]), *self._kinds]
        self.kind = Dropdown(options=names, layout=Layout(width="128px"), tooltip="What kind of value")
        self._body = HBox(layout=Layout(flex="1 1 auto"))
        self._wrong = HTML()
        heading = [HTML(_heading(name, schema, required))] if name else []
        self.widget = VBox(
            [*heading, HBox([self.kind, self._body]), self._wrong], layout=Layout(width="100%")
        )
        self.kind.observe(lambda _: self._draw(), "value")
        self._draw()

    @property
    def left_out(self) -> bool:
        """Whether the call goes without it."""
        return bool(self.kind.value == LEFT_OUT)

    @property
    def control(self) -> Control:
        """The control of the chosen kind; of an argument that is left out, the first one."""
        name = next(iter(self._kinds)) if self.left_out else self.kind.value
        if name not in self._controls:
            self._controls[name] = self._kinds[name]()
        return self._controls[name]

    def read(self) -> Json:
        """The value; what is wrong with it is also shown beside it."""
        self._wrong.value = ""
        try:
            return self.control.read()
        except ParameterError as error:
            self._wrong.value = page(f"{chip('✗', 'bad')} {escape(error)}")
            raise

    def write(self, value: Json) -> None:
        """Show a value in the first kind that can hold it."""
        for name in self._kinds:
            control = self._controls.get(name) or self._kinds[name]()
            try:
                control.write(value)
            except ParameterError:
                continue
            self._controls[name] = control
            self.kind.value = name
            self._draw()
            return

    def leave_out(self) -> None:
        """Send the call without it, where it may be left out."""
        if LEFT_OUT in self.kind.options:
            self.kind.value = LEFT_OUT

    def _draw(self) -> None:
        self._wrong.value = ""
        shown = self.control.widget
        if self.left_out and not isinstance(self.control, ListControl | Form | NullControl):
            # Typing into it says that it is wanted.
            shown.observe(self._wanted, "value")
            self._body.children = [shown]
        else:
            self._body.children = [] if self.left_out else [shown]

    def _wanted(self, _: Any) -> None:
        if self.left_out:
            self.kind.value = next(iter(self._kinds))


def _heading(name: str, schema: Any, required: bool) -> str:
    said = schema.get("description") if isinstance(schema, dict) else ""
    star = "" if required else soft(" optional")
    words = soft(("" if required else "· ") + shorten(str(said), 300)) if said else ""
    return page(f"<b><code>{escape(shorten(name, 120))}</code></b>{star} {words}")


class Form:
    """The fields of an object's schema; where it names none, the whole object as JSON."""

    def __init__(self, schema: Any, depth: int = 0) -> None:
        required = schema.get("required") if isinstance(schema, dict) else None
        needed = set(map(str, required)) if isinstance(required, list) else set()
        self.fields = {
            name: Field(name, part, required=name in needed, depth=depth)
            for name, part in fields_of(schema).items()
        }
        self._whole = None if self.fields or _takes_nothing(schema) else JsonControl({}, "an object as JSON")
        parts = [field.widget for field in self.fields.values()] or [
            self._whole.widget if self._whole else HTML(page(soft("It takes no arguments.")))
        ]
        self.widget = VBox(parts, layout=Layout(width="100%", padding="0 0 0 18px" if depth else "0"))

    def read(self) -> dict[str, Json]:
        """The arguments as they are filled in.

        Raises:
            ParameterError: one of them is no value of its kind; all that are wrong are shown beside them.
        """
        if self._whole is not None:
            value = self._whole.read()
            if not isinstance(value, dict):
                raise ParameterError(f'Expected one JSON object, e.g. {{"key": "value"}}, got {value!r:.60}.')
            return value
        given, wrong = {}, []
        for name, field in self.fields.items():
            if not field.left_out:
                try:
                    given[name] = field.read()
                except ParameterError as error:
                    wrong.append(f"{shorten(name, 60)}: {error}")
        if wrong:
            raise ParameterError(" ".join(wrong))
        return given

    def write(self, value: Json) -> None:
        """Show arguments; those that are not among them are left out.

        Raises:
            ParameterError: it is no object, or has fields that the form has not.
        """
        if not isinstance(value, dict):
            raise ParameterError(f"Expected an object, got {value!r:.60}.")
        if self._whole is not None:
            self._whole.write(value)
            return
        if unknown := [shorten(str(name), 60) for name in value if name not in self.fields]:
            raise ParameterError(f"Expected the fields {', '.join(self.fields)}, got {', '.join(unknown)}.")
        for name, field in self.fields.items():
            field.write(value[name]) if name in value else field.leave_out()


def _takes_nothing(schema: Any) -> bool:
    named = schema.get("properties") if isinstance(schema, dict) else None
    return named == {} or (
        schema == {} or (isinstance(schema, dict) and set(schema) == {"type"} and schema["type"] == "object")
    )
