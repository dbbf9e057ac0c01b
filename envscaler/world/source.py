"""Reading the source of an environment, by its syntax tree alone: nothing here is ever executed.

A class comes in as text, written by a model or by a person. This module finds its parts (`parse_class`) and
turns its public methods into tool schemas (`read_tools`; the types are read in `annotations`, the effects in
`effects`). It does not judge what the code does, and does not write code (`joining` does).
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from envscaler.schema import Tool
from envscaler.world.annotations import Types, key_levels
from envscaler.world.docstring import MOST_DESCRIPTION, arguments_of, parameter_descriptions, summary_of
from envscaler.world.effects import writers
from envscaler.world.tree import Function, find_class, first_line, functions, is_tool, parse_tree, text_of


@dataclass(frozen=True)
class MethodSource:
    """One method of a class, as text."""

    name: str
    """Its name."""
    source: str
    """Its source with decorators, at the indentation of the left margin."""
    doc: str
    """Its docstring, cleaned; empty where there is none."""
    line: int
    """The line it begins at."""
    public: bool
    """Whether it is a tool: a plain method whose name has no leading underscore."""


@dataclass(frozen=True)
class ClassSource:
    """An environment's class, taken apart."""

    class_name: str
    """The class."""
    methods: dict[str, MethodSource]
    """Its methods in source order, `__init__` included; of two with one name the last, as in Python."""
    head: str
    """From the start of the file to the end of `__init__`."""
    doc: str
    """The class's docstring, cleaned."""
    key_types: dict[str, list[str]]
    """Tables whose keys are not all text: attribute → type of the keys at each level of nesting."""


def parse_class(source: str, class_name: str | None = None) -> ClassSource:
    """Take a class apart.

    Args:
        source: the whole Python source.
        class_name: the class; None for the one that has the most public methods.

    Raises:
        SourceError: it does not parse, or has no such class; the message has the line.
    """
    tree = parse_tree(source)
    node = find_class(tree, class_name)
    lines = source.splitlines()
    methods = {f.name: _method(f, lines) for f in functions(node)}
    init = next((f for f in functions(node) if f.name == "__init__"), None)
    end = init.end_lineno if init else first_line(next(iter(functions(node)), node)) - 1
    head = "\n".join(lines[: end or node.lineno])
    doc = ast.get_docstring(node) or ""
    return ClassSource(node.name, methods, head, doc, key_levels(tree, node))


def _method(function: Function, lines: list[str]) -> MethodSource:
    text = text_of(function, lines)
    return MethodSource(
        function.name, text, ast.get_docstring(function) or "", first_line(function), is_tool(function)
    )


# Tools


def read_tools(source: str, class_name: str | None, mutates: Mapping[str, bool] | None = None) -> list[Tool]:
    """The tools of a class: its public methods, with schemas that OpenAI and Gemini both take.

    Args:
        source: the whole Python source.
        class_name: the class.
        mutates: whether a tool may change the state, where its author has said so; else it is read off the code.

    Raises:
        SourceError: it does not parse, or has no such class.
    """
    tree = parse_tree(source)
    node = find_class(tree, class_name)
    types = Types(tree)
    written = writers(functions(node))
    said = mutates or {}
    return [
        Tool(
            name=f.name,
            description=summary_of(ast.get_docstring(f) or "") or f.name.replace("_", " ").capitalize() + ".",
            parameters=_parameters(f, types),
            mutates=said.get(f.name, f.name in written),
        )
        for f in functions(node)
        if is_tool(f)
    ]


def _parameters(function: Function, types: Types) -> dict[str, object]:
    told = parameter_descriptions(ast.get_docstring(function) or "")
    properties: dict[str, object] = {}
    required = []
    for argument, has_default in arguments_of(function):
        schema = types.schema(argument.annotation)
        description = told.get(argument.arg) or argument.arg.replace("_", " ").strip().capitalize() + "."
        properties[argument.arg] = {**schema, "description": description[:MOST_DESCRIPTION]}
        if not has_default:
            required.append(argument.arg)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
