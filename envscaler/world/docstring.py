"""What a tool's signature and Google docstring say of its arguments.

Read off the syntax tree for schemas (`source`) and for the lint; nothing is executed.
"""

import ast
import re
from collections.abc import Iterator

from envscaler.world.tree import Function

MOST_DESCRIPTION = 1024
"""Characters that OpenAI's function schema allows a description."""


def arguments_of(function: Function) -> Iterator[tuple[ast.arg, bool]]:
    """The arguments an agent gives, each with whether it has a default."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    without = len(positional) - len(given.defaults)
    static = any(ast.unparse(d) == "staticmethod" for d in function.decorator_list)
    for place, argument in enumerate(positional):
        if static or place:
            yield argument, place >= without
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield argument, default is not None


_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Yields?|Raises|Notes?|Examples?|Constraints?)\s*:\s*$"
)
_PARAMETER = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


def summary_of(doc: str) -> str:
    """The docstring without its section on arguments, which the parameters tell already."""
    kept, section = [], ""
    for line in doc.splitlines():
        if match := _SECTION.match(line):
            section = match[1]
        if not section.startswith(("Arg", "Param")):
            kept.append(line)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return text if len(text) <= MOST_DESCRIPTION else text[: MOST_DESCRIPTION - 1].rstrip() + "…"


def parameter_descriptions(doc: str) -> dict[str, str]:
    """What the `Args:` section of a Google docstring says of each parameter."""
    told: dict[str, str] = {}
    inside, margin, name = False, 0, ""
    for line in doc.splitlines():
        stripped, indent = line.strip(), len(line) - len(line.lstrip())
        if _SECTION.match(line):
            inside, margin, name = line.startswith(("Arg", "Param")), 0, ""
        elif inside and stripped:
            margin = margin or indent
            if indent == 0:
                inside = False
            elif indent <= margin and (match := _PARAMETER.match(stripped)):
                name = match[1]
                told[name] = match[2]
            elif name:
                told[name] = f"{told[name]} {stripped}".strip()
    return told
