"""Prompt files: read, filled in, and read back.

One step of a stage is one file `prompts/<stage>/<step>.md`: lines `# system`, `# user` (and `# assistant`,
for an example) begin its messages, and each variable stands alone in a block of its own name:

    <request>
    {{ request }}
    </request>

Filling in is strict: a missing or an unused variable raises. `blocks` gets the values back out of the
messages; the built-in model reads its inputs that way, so it sees what any model sees. A closing tag inside
a value is written `<\\/name>` (in a JSON string the same value), and read back as it was. A file of the same
name under `prompts/` in the project folder goes over the one that comes with the library, and what a recording was
made with over both (`for_model`). Nothing here asks a model anything.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from pydantic import BaseModel

from envscaler.error import PromptError
from envscaler.model.request import Message
from envscaler.project import PACKAGE, root
from envscaler.schema import digest

_HEADING = re.compile(r"^# (system|user|assistant)[ \t]*$", re.MULTILINE)
_SLOT = re.compile(r"^<(?P<name>[a-z_]+)>\n\{\{ (?P=name) \}\}\n</(?P=name)>$", re.MULTILINE)
_BLOCK = re.compile(r"^<(?P<name>[a-z_]+)>\n(?P<value>.*?)\n</(?P=name)>$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Prompt:
    """One prompt file, parsed."""

    step: str
    """Its name, e.g. `tasks/judge`."""
    parts: tuple[tuple[str, str], ...]
    """Role and template of each message."""
    variables: tuple[str, ...]
    """The variables it names, in order."""

    @property
    def digest(self) -> str:
        """Names the prompt's content in the `origin` of what it made."""
        return digest([list(part) for part in self.parts])


def prompts_dir() -> Path:
    """Where the prompt files of the library lie."""
    return PACKAGE / "prompts"


def steps() -> list[str]:
    """The steps that have a prompt file, sorted."""
    folder = prompts_dir()
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.md"))


def load(step: str) -> Prompt:
    """Read one prompt file, the user's own where there is one.

    Raises:
        PromptError: there is no such file, or it is malformed.
    """
    own = root() / "prompts" / f"{step}.md"
    path = own if own.is_file() else prompts_dir() / f"{step}.md"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        known = ", ".join(steps()) or "none"
        raise PromptError(f"No prompt file for the step {step!r}; there are: {known}.") from error
    return parse(step, text)


def for_model(model: object, step: str) -> Prompt:
    """The prompt that a model is asked with: a recorded model's own where it has one, else today's.

    Raises:
        PromptError: there is none.
    """
    own: Mapping[str, Prompt] = getattr(model, "prompts", None) or {}
    return own.get(step) or load(step)


def parse(step: str, text: str) -> Prompt:
    """Take the text of a prompt file apart.

    Raises:
        PromptError: no message, an empty one, text before the first, or a variable not alone in its block.
    """
    text = text.replace("\r\n", "\n")
    head, *rest = _HEADING.split(text)
    parts = tuple((role, body.strip()) for role, body in zip(rest[::2], rest[1::2], strict=True))
    if head.strip() or not parts or not all(body for _, body in parts):
        raise PromptError(
            f"{step}: expected messages under '# system' and '# user', none empty, nothing before."
        )
    variables = tuple(match["name"] for _, body in parts for match in _SLOT.finditer(body))
    if stray := [line for _, body in parts for line in _SLOT.sub("", body).splitlines() if "{{" in line]:
        raise PromptError(
            f"{step}: expected '{{{{ name }}}}' alone between <name> and </name>, got {stray[0]!r}."
        )
    if twice := {name for name in variables if variables.count(name) > 1}:
        raise PromptError(f"{step}: the variable {sorted(twice)[0]!r} stands in two blocks; one is enough.")
    return Prompt(step, parts, variables)


def written(prompt: Prompt) -> str:
    """The text of a prompt file that is parsed to this prompt."""
    return "".join(f"# {role}\n{body}\n" for role, body in prompt.parts)


def render(step: str, variables: Mapping[str, Any]) -> tuple[Message, ...]:
    """Fill in a prompt file: text as it is, everything else as indented JSON.

    Raises:
        PromptError: the file is missing or malformed, or the variables are not exactly those it names.
    """
    return fill(load(step), variables)


def fill(prompt: Prompt, variables: Mapping[str, Any]) -> tuple[Message, ...]:
    """Fill in a parsed prompt.

    Raises:
        PromptError: the variables are not exactly those the prompt names, or one has no JSON form.
    """
    named, given = set(prompt.variables), set(variables)
    if named != given:
        missing, unused = sorted(named - given), sorted(given - named)
        raise PromptError(f"{prompt.step}: missing variables {missing}, variables it does not use {unused}.")
    values = {name: show(value, f"{prompt.step}, {name}") for name, value in variables.items()}
    return tuple(
        {"role": role, "content": _SLOT.sub(partial(_write_block, values), body)}
        for role, body in prompt.parts
    )


def show(value: Any, where: str = "value") -> str:
    """A value as a prompt shows it.

    Raises:
        PromptError: it has no JSON form; `where` says whose it is.
    """
    if isinstance(value, str):
        return value
    try:
        return _indented(json.dumps(value, ensure_ascii=False, default=_dump), value)
    except (TypeError, ValueError) as error:
        raise PromptError(f"{where}: expected text or something with a JSON form ({error}).") from error


def _indented(text: str, value: Any) -> str:
    try:
        return msgspec.json.format(text, indent=1)  # what the standard library writes, in a fifth of its time
    except (msgspec.DecodeError, UnicodeEncodeError):  # nan, half of a surrogate pair: not JSON to others
        return json.dumps(value, indent=1, ensure_ascii=False, default=_dump)


def _dump(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"got {type(value).__name__}")


def _write_block(values: Mapping[str, str], slot: re.Match[str]) -> str:
    name = slot["name"]
    return f"<{name}>\n{_escape(name, values[name])}\n</{name}>"


def _escape(name: str, value: str) -> str:
    # One backslash more than was there, so that one fewer gives exactly what was there.
    return re.sub(rf"<(\\*)/{name}>", rf"<\\\1/{name}>", value)


def _unescape(name: str, value: str) -> str:
    return re.sub(rf"<\\(\\*)/{name}>", rf"<\1/{name}>", value)


def blocks(messages: Sequence[Message]) -> dict[str, str]:
    """The values of the blocks, by name; where a later message repeats a name, the first one counts."""
    found: dict[str, str] = {}
    for message in messages:
        content = message.get("content")
        for match in _BLOCK.finditer(content if isinstance(content, str) else ""):
            found.setdefault(match["name"], _unescape(match["name"], match["value"]))
    return found
