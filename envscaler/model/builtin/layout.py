"""How the source of a world is laid out: lines that vocabulary made too long are folded the way a formatter
would.

Docstrings are wrapped, code is split at its last bracket: the members of a literal one a line, the
arguments of a call on one line if they fit. Everything that fits stays as the template has it. This module
knows Python's brackets, no more.
"""

import io
import re
import textwrap
import tokenize
from collections.abc import Iterator

WIDTH = 104
"""Longest line of a method at the left margin; in the class it stands four columns further right."""


def tidy(source: str, width: int = WIDTH) -> str:
    """The source with every line that is too long folded."""
    lines: list[str] = []
    inside = False
    todo = source.splitlines()[::-1]
    while todo:
        line = todo.pop()
        quotes = line.count('"""')
        if len(line) <= width:
            lines.append(line)
        elif inside or quotes:
            lines += _wrap(line, width, inside)
            if todo and inside and _goes_on(lines[-1], todo[-1]):
                # What was wrapped off goes before the next line of the paragraph, not on a line of its own.
                todo[-1] = f"{lines.pop()} {todo[-1].strip()}"
        else:
            lines += fold(line, width)
        inside ^= quotes % 2 == 1
    return "\n".join(lines) + "\n"


def _goes_on(wrapped: str, following: str) -> bool:
    """Whether the next line of a docstring is of the same paragraph as the end of a wrapped one."""
    text = following.strip()
    indents = {len(line) - len(line.lstrip()) for line in (wrapped, following)}
    return bool(text) and len(indents) == 1 and '"""' not in text and not re.match(r"[-*`\w]+: ", text)


def _wrap(line: str, width: int, inside: bool) -> list[str]:
    """A line of a docstring, wrapped; what follows `name: ` hangs."""
    text = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    hang = indent + ("    " if inside and re.match(r"\w+: ", text) else "")
    closes = not inside and text.endswith('"""')
    body = text.removesuffix('"""') if closes else text
    wrapped = textwrap.fill(body, width, initial_indent=indent, subsequent_indent=hang).splitlines()
    return [*wrapped, f'{indent}"""'] if closes else wrapped


def fold(line: str, width: int) -> list[str]:
    """A line of code, split at its last bracket, again and again until it fits or cannot be split."""
    if len(line) <= width:
        return [line]
    clauses = list(_clauses(line))
    if len(clauses) > 1:
        return [piece for clause in clauses for piece in fold(clause, width)]
    span = _last_bracket(line)
    if span is None:
        return [line]
    opening, closing = span
    indent = line[: len(line) - len(line.lstrip())]
    head, body, tail = line[: opening + 1], line[opening + 1 : closing].strip(), line[closing:]
    call = re.search(r"[\w\])]$", line[:opening]) is not None
    inner = f"{indent}    {body}"
    members = list(_members(body))
    if call and len(inner) <= width:
        middle = [inner]
    elif len(members) > 1 or not call:
        # A comma after the one thing in plain parentheses would make a tuple of it.
        grouping = not call and line[opening] == "(" and len(members) == 1 and not body.endswith(",")
        comma = "" if grouping or _is_comprehension(body) else ","
        parts = [f"{indent}    {member}{comma}" for member in members]
        middle = [piece for part in parts for piece in fold(part, width)]
    else:
        middle = fold(inner, width)
    return [*fold(head, width)[:-1], head, *middle, f"{indent}{tail}"]


def _clauses(line: str) -> Iterator[str]:
    """The conditions of a comprehension, one a line."""
    indent = line[: len(line) - len(line.lstrip())]
    if line.lstrip().startswith("if ") and not line.endswith(":"):
        depth, begin = 0, len(indent)
        for text, column in _tokens(line):
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if depth == 0 and text == "and":
                yield indent + line[begin:column].strip()
                begin = column
        yield indent + line[begin:].strip()


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Operators and names with their column; whatever stands in strings is left out."""
    depth_of_string = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.strip() + "\n").readline):
            name = tokenize.tok_name[token.type]
            depth_of_string += {"FSTRING_START": 1, "FSTRING_END": -1}.get(name, 0)
            if not depth_of_string and token.type in (tokenize.OP, tokenize.NAME) and token.start[0] == 1:
                yield token.string, token.start[1] + len(text) - len(text.lstrip())
    except (tokenize.TokenError, IndentationError):
        return


def _last_bracket(line: str) -> tuple[int, int] | None:
    """Where the last outermost bracket that holds something opens and closes; one that indexes does not count."""
    opened: list[int] = []
    last = None
    for text, column in _tokens(line):
        if text in ("(", "[", "{"):
            opened.append(column)
        elif text in (")", "]", "}") and opened:
            start = opened.pop()
            indexes = line[start] == "[" and re.search(r"[\w\])]$", line[:start])
            if not opened and line[start + 1 : column].strip() and not indexes:
                last = (start, column)
    return None if opened else last


def _members(body: str) -> Iterator[str]:
    """What stands between the outermost commas, or the clauses of a comprehension."""
    depth, begin = 0, 0
    # A comma outermost in a comprehension stands between its names: for key, row in …
    ends = ("for", "if") if _is_comprehension(body) else (",",)
    for text, column in list(_tokens(body)):
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth == 0 and begin < column and text in ends:
            yield body[begin:column].strip()
            begin = column + (text == ",")
    if body[begin:].strip():
        yield body[begin:].strip()


def _is_comprehension(body: str) -> bool:
    depth = 0
    for text, _ in _tokens(body):
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth == 0 and text == "for":
            return True
    return False
