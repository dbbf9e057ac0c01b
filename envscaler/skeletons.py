"""Skeletons: from a theme to one executable class with state, rules and tools.

    theme → plan of the state → class → plan of the tools → a method a tool → one class → rules as invariants

A model writes the parts; this module asks for them, sends a part back that cannot be used (with what is
wrong, a bounded number of times), and puts them together. A method that stays unusable is left out and
named; the rest goes on while enough tools remain. Tools and their schemas are read from the finished
source. `load_skeleton` takes a class that a person wrote down the same path.

It does not say whether the tools do what they say: that is `audits`. It never executes generated code itself;
`world.environment` does, elsewhere.
"""

import ast
import logging
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from envscaler import syntax
from envscaler.error import PartRefused, ReplyError, SourceError
from envscaler.given import a_path
from envscaler.model.ask import origin
from envscaler.model.reply import Code
from envscaler.model.request import Model
from envscaler.model.revise import ask_usable
from envscaler.parallel import run_all
from envscaler.schema import Entity, Failure, Finding, Json, Part, Rule, Skeleton, Theme, bounded
from envscaler.store import Records, read_text
from envscaler.world.check import broken_invariants
from envscaler.world.environment import Environment
from envscaler.world.joining import assemble
from envscaler.world.outline import method_in, method_problem, read_docstring, read_entities
from envscaler.world.source import parse_class, read_tools

log = logging.getLogger(__name__)

FEWEST_TOOLS = 5
STEPS = ("plan_state", "write_class", "plan_tools", "write_tool", "write_invariant")


class StatePlan(Part):
    """What the state holds, before there is code."""

    class_name: str
    """Name of the class to write."""
    entities: list[Entity] = bounded(8)
    """The kinds of things it holds."""
    rules: list[str] = bounded(12)
    """What always holds, a sentence each."""


class ToolPlan(Part):
    """One tool to be written."""

    name: str
    """Name of the method."""
    purpose: str
    """What it does and when it refuses."""
    mutates: bool
    """Whether it is meant to change the state; the finished source has the last word."""


class ToolsPlan(Part):
    """The tools to be written."""

    tools: list[ToolPlan] = bounded(40, least=FEWEST_TOOLS)
    """In the order in which they will stand in the class."""


class Invariant(Part):
    """One rule as a function, or why it cannot be one."""

    reason: str
    """Why it can or cannot be decided from the state."""
    source: str | None
    """Source of `def invariant(before, after, call) -> bool`."""


def build_skeleton(theme: Theme, model: Model) -> Skeleton:
    """Write the class of one theme.

    Raises:
        PartRefused: a part that cannot be left out stayed unusable, or fewer than five tools remain.
        ReplyError: the model did not answer in the form asked for.
        SourceError: the finished class does not load.
    """
    skeleton, left_out = _build(theme, model)
    for failure in left_out:
        log.warning("skeletons: %s: %s", theme.title, failure.message)
    return skeleton


def build_skeletons(
    themes: Iterable[Theme], model: Model, *, seed: int = 0, progress: bool = True
) -> Records[Skeleton]:
    """Write the classes of many themes; tools that were left out stand in `.failures`, beside themes that
    failed.

    Args:
        themes: what to build.
        model: who writes.
        seed: recorded in the origin.
        progress: whether to show a bar.
    """

    def build(theme: Theme) -> Records[Skeleton]:
        skeleton, left_out = _build(theme, model, seed)
        return Records([skeleton], left_out)

    return run_all(build, themes, stage="skeletons", workers=model.workers, progress=progress)


def load_skeleton(
    path: Path | str, *, title: str | None = None, summary: str | None = None, class_name: str | None = None
) -> Skeleton:
    """Read a class that a person wrote.

    Entities come from its `TypedDict`s and annotated tables, rules from the list in its docstring (without
    invariants), tools from its public methods.

    Args:
        path: the Python file.
        title: name of the world; the class name when left out.
        summary: what it holds; the first paragraph of the class docstring when left out.
        class_name: the class, where the file has several.

    Raises:
        StoreError: there is no such file.
        SourceError: it cannot be parsed, has no class with tools, or does not load.
    """
    source = read_text(a_path(path))
    name = parse_class(source, class_name).class_name
    about, rules = read_docstring(source, name)
    skeleton = Skeleton(
        theme_id="",
        title=title or name,
        summary=summary or about or f"The world of {name}.",
        class_name=name,
        source=source,
        state=read_entities(source, name),
        rules=[Rule(text=text) for text in rules],
        tools=read_tools(source, name),
    )
    if not skeleton.tools:
        raise SourceError(
            f"Expected public methods in class {name} of {path}, got none. An agent can call only those."
        )
    prove_it_loads(skeleton)
    return skeleton


def prove_it_loads(skeleton: Skeleton) -> dict:
    """Instantiate the class once, with an empty state, in isolation; return the state it begins with.

    Raises:
        SourceError: it does not load.
        EnvironmentLost: its process was lost.
    """
    with Environment(skeleton, {}) as environment:
        environment.reset(seed=0)
        return environment.state


def tools_to_show(skeleton: Skeleton) -> list[dict[str, Json]]:
    """The tools the way prompts show them: name, description, parameters; what mutates is for agents to find out."""
    return [tool.model_dump(mode="json", exclude={"mutates"}) for tool in skeleton.tools]


# How one skeleton is built


def _build(theme: Theme, model: Model, seed: int | None = None) -> tuple[Skeleton, list[Failure]]:
    plan = _plan_state(theme, model)
    head = _write_class(theme, plan, model)
    tools = _plan_tools(theme, plan, head, model)
    methods, left_out = _write_tools(theme, plan, head, tools, model)
    class_name = parse_class(head).class_name
    source = assemble(head, list(methods.values()))
    skeleton = Skeleton(
        theme_id=theme.id,
        title=theme.title,
        summary=theme.summary,
        class_name=class_name,
        source=source,
        state=plan.entities,
        rules=[Rule(text=text) for text in plan.rules],
        tools=read_tools(source, class_name),
        origin=origin(model, *(f"skeletons/{step}" for step in STEPS), seed=seed),
    )
    _require_both_kinds(skeleton, tools)
    begin = prove_it_loads(skeleton)
    rules = [_write_invariant(skeleton, rule, begin, model) for rule in plan.rules]
    return skeleton.replace(rules=rules), [_failure(theme, name, why) for name, why in left_out.items()]


def _failure(theme: Theme, tool: str, why: str) -> Failure:
    message = f"Expected a usable method {tool} in {theme.title!r}; it was left out: {why}"
    return Failure(stage="skeletons", parent_id=theme.id, error="ToolLeftOut", message=message)


def _plan_state(theme: Theme, model: Model) -> StatePlan:
    variables = {"title": theme.title, "summary": theme.summary, "example": theme.example}
    plan = ask_usable(model, "skeletons/plan_state", variables, StatePlan, _state_plan_problem)
    # A weak model says a rule several times, and asked for the class it then goes on saying it without end.
    return plan.model_copy(update={"rules": list(dict.fromkeys(plan.rules))})


def _state_plan_problem(plan: StatePlan) -> str:
    if not plan.class_name.isidentifier():
        return f"class_name must be a Python name, got {plan.class_name!r}."
    tables = [entity.table for entity in plan.entities]
    if wrong := [table for table in tables if not table.isidentifier() or table.startswith("_")]:
        return f"Every entity needs a table with a Python name, got {wrong[0]!r}."
    if len(set(tables)) < len(tables) or not tables:
        return f"Expected at least one entity and a table of its own for each, got the tables {tables}."
    if empty := [entity.name for entity in plan.entities if not entity.attributes]:
        return f"Every entity needs attributes; {empty[0]} has none."
    return "" if plan.rules else "Expected at least one rule, got none."


def _write_class(theme: Theme, plan: StatePlan, model: Model) -> str:
    variables = {
        "title": theme.title,
        "summary": theme.summary,
        "class_name": plan.class_name,
        "entities": plan.entities,
        "rules": plan.rules,
    }
    return ask_usable(
        model, "skeletons/write_class", variables, Code, lambda code: _class_problem(code, plan)
    )


def _class_problem(source: str, plan: StatePlan) -> str:
    try:
        found = parse_class(source, plan.class_name)
    except SourceError as error:
        return str(error)
    if "__init__" not in found.methods:
        return f"Class {plan.class_name} has no __init__."
    if public := [name for name, method in found.methods.items() if method.public]:
        return f"The tools are written later; {public[0]} must not stand in the class yet."
    set_here = {
        node.attr
        for node in ast.walk(syntax.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    missing = [entity.table for entity in plan.entities if entity.table not in set_here]
    if missing:
        return f"__init__ does not set self.{missing[0]}, which the plan has as a table."
    return _loading_problem(source, plan.class_name)


def _loading_problem(source: str, class_name: str) -> str:
    """Why a class in the making does not load, e.g. a name in an annotation that is not imported."""
    bare = Skeleton(
        theme_id="", title="", summary="", class_name=class_name, source=source, state=[], rules=[], tools=[]
    )
    try:
        prove_it_loads(bare)
    except SourceError as error:
        return str(error)
    return ""


def _plan_tools(theme: Theme, plan: StatePlan, head: str, model: Model) -> list[ToolPlan]:
    variables = {"title": theme.title, "summary": theme.summary, "class_source": head, "rules": plan.rules}
    taken = {entity.table for entity in plan.entities}
    return ask_usable(
        model, "skeletons/plan_tools", variables, ToolsPlan, lambda answer: _tools_problem(answer, taken)
    ).tools


def _tools_problem(plan: ToolsPlan, taken: set[str]) -> str:
    names = [tool.name for tool in plan.tools]
    if wrong := [name for name in names if not name.isidentifier() or name.startswith("_") or name in taken]:
        return (
            f"{wrong[0]!r} cannot be the name of a tool: it must be a public Python name that no table has."
        )
    if double := [name for name in names if names.count(name) > 1]:
        return f"The tool {double[0]} is planned twice."
    if len(names) < FEWEST_TOOLS:
        return f"Expected at least {FEWEST_TOOLS} tools, got {len(names)}."
    return ""


def _write_tools(
    theme: Theme, plan: StatePlan, head: str, tools: Sequence[ToolPlan], model: Model
) -> tuple[dict[str, str], dict[str, str]]:
    """The methods that can be used, and for each other tool what is wrong with it."""
    methods: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for tool in tools:
        variables = {
            "title": theme.title,
            "summary": theme.summary,
            "class_source": head,
            "rules": plan.rules,
            "tools": list(tools),
            "tool": tool,
        }
        try:
            written = ask_usable(
                model,
                "skeletons/write_tool",
                variables,
                Code,
                partial(_tool_problem, tool.name, head),
            )
            methods[tool.name] = method_in(written, tool.name, head)
        except (PartRefused, ReplyError) as error:
            left_out[tool.name] = str(error)
    if len(methods) < FEWEST_TOOLS:
        first = next(iter(left_out.values()))
        raise PartRefused(
            f"Expected at least {FEWEST_TOOLS} usable tools, got {len(methods)}. First fault: {first}"
        )
    return methods, left_out


def _tool_problem(name: str, head: str, method: str) -> str:
    method = method_in(method, name, head)
    if problem := method_problem(method, name):
        return problem
    try:
        source = assemble(head, [method])
    except SourceError as error:
        return str(error)
    return _loading_problem(source, parse_class(head).class_name)


def _require_both_kinds(skeleton: Skeleton, plan: Sequence[ToolPlan]) -> None:
    """At least one tool reads and one writes, as the source has it; where plan and source differ, say so."""
    planned = {tool.name: tool.mutates for tool in plan}
    for tool in skeleton.tools:
        if planned.get(tool.name, tool.mutates) != tool.mutates:
            log.info(
                "skeletons: %s.%s was planned otherwise, the source %s",
                skeleton.title,
                tool.name,
                "writes" if tool.mutates else "only reads",
            )
    if len({tool.mutates for tool in skeleton.tools}) < 2:
        kind = "change the state" if skeleton.tools[0].mutates else "read"
        raise PartRefused(f"Expected tools that read and tools that write in {skeleton.title!r}; all {kind}.")


def _write_invariant(skeleton: Skeleton, text: str, begin: dict, model: Model) -> Rule:
    """The rule with its function; without one where none is possible or none could be written."""
    variables = {
        "title": skeleton.title,
        "class_source": parse_class(skeleton.source, skeleton.class_name).head,
        "rule": text,
    }

    def problem(answer: Invariant) -> str:
        if answer.source is None:
            return ""
        broken: list[Finding] = broken_invariants(
            [Rule(text=text, invariant=answer.source)], begin, begin, None
        )
        return f"On a state without records, where the rule holds: {broken[0].message}" if broken else ""

    try:
        answer = ask_usable(model, "skeletons/write_invariant", variables, Invariant, problem)
    except (PartRefused, ReplyError) as error:
        log.warning("skeletons: %s: rule %r goes without an invariant: %s", skeleton.title, text, error)
        return Rule(text=text)
    return Rule(text=text, invariant=answer.source)
