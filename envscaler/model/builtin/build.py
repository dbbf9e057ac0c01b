"""A world put together: what a domain's patterns give with its settings (tables, rules, code, rows, goals).

`world_of(domain)` renders every template once and keeps the result. The steps of the built-in model
(`author`, `tester`, `poser`, `player`) take their answers from it, after they recognised the domain in what
they were shown.

This module does not answer requests and executes nothing.
"""

import ast
import importlib
import re
import textwrap
from collections import Counter
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import jinja2
import numpy as np

from envscaler import syntax
from envscaler.model.builtin.domain import Domain, domains
from envscaler.model.builtin.layout import fold, tidy
from envscaler.model.builtin.pattern import Extra, Goal, Noun, Pattern, State, Table
from envscaler.model.builtin.phrase import Phrase, Slots, read_back
from envscaler.schema import Entity

MOST_RULES = 8
"""A world lists no more rules than this."""

_JINJA = jinja2.Environment(
    variable_start_string="<<",
    variable_end_string=">>",
    block_start_string="<%",
    block_end_string="%>",
    comment_start_string="<#",
    comment_end_string="#>",
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,
)


def _quoted(values: list[Any]) -> str:
    """The values as the members of a tuple in code."""
    inner = ", ".join(f'"{value}"' if isinstance(value, str) else repr(value) for value in values)
    return inner + ("," if len(values) == 1 else "")


def _blank(extra: Extra) -> str:
    """The value, in code, of an attribute nobody gives for a new record."""
    return '""' if extra.type == "str" else repr(extra.blank)


_JINJA.globals.update(quoted=_quoted, blank=_blank)

INVARIANT_HELP = """\
    def rows(state, table):
        found = state.get(table) if isinstance(state, dict) else None
        return {k: r for k, r in found.items() if isinstance(r, dict)} if isinstance(found, dict) else {}

    def changed(table, field):
        old, new = rows(before, table), rows(after, table)
        return [(old[k], new[k]) for k in new if k in old and old[k].get(field) != new[k].get(field)]

    def added(table):
        return [row for key, row in rows(after, table).items() if key not in rows(before, table)]

"""

_NEXT_ID = '''
    @staticmethod
    def _next_id(table: dict, prefix: str) -> str:
        """Return the id after the highest one in use, e.g. `"X-013"` after `"X-012"`."""
        numbers = [int(key.rpartition("-")[2]) for key in table if key.rpartition("-")[2].isdigit()]
        return f"{prefix}-{max(numbers, default=0) + 1:03d}"
'''
_IS_DATE = '''
    @staticmethod
    def _is_date(text: str) -> bool:
        """Tell whether the text is a date as YYYY-MM-DD."""
        try:
            return date.fromisoformat(text).isoformat() == text
        except ValueError:
            return False
'''


@dataclass(frozen=True)
class PlannedTool:
    """One tool of a world."""

    name: str
    purpose: str
    mutates: bool
    source: str
    """The method, at the left margin."""


@dataclass(frozen=True)
class Bound:
    """A pattern with the vocabulary a domain gives it."""

    pattern: Pattern
    v: SimpleNamespace


@dataclass(frozen=True)
class World:
    """All that the patterns of a domain give."""

    domain: Domain
    parts: tuple[Bound, ...]
    tables: tuple[Table, ...]
    rules: dict[str, str]
    """Rule in words → source of its invariant."""
    helpers: str
    tools: dict[str, PlannedTool]
    goals: tuple[Goal, ...]

    @property
    def entities(self) -> list[Entity]:
        """The plan of the state."""
        return [table.entity for table in self.tables]

    @property
    def names(self) -> frozenset[str]:
        """Names of its tables, entities and tools: what it is known by once it is written."""
        return frozenset(self.tools) | {t.noun.ids for t in self.tables} | {t.noun.type for t in self.tables}

    def state(self, rng: np.random.Generator) -> State:
        """Rows for every table."""
        state: State = {"today": self.domain.today}
        for table in self.tables:
            state[table.noun.ids] = {}
        for part in self.parts:
            part.pattern.generate(part.v, state, rng)
        return state

    def read(self, text: str) -> list[tuple[Goal, Slots, str]]:
        """The sub-tasks that stand in a text, in its order, each with its sentence."""
        return read_back(text, ((goal, phrase) for goal in self.goals for phrase in goal.said))

    def head(self, title: str, class_name: str, rules: list[str]) -> str:
        """The class without tools: imports, records, docstring, constructor, helpers."""
        about = textwrap.fill(self.domain.about, 100)
        lines = [f'"""{title}.', "", about, '"""', "", *self._imports(), ""]
        for table in self.tables:
            lines += ["", *_typed_dict(table), ""]
        wrapped = [
            textwrap.fill(f"- {rule}", 100, initial_indent="    ", subsequent_indent="      ")
            for rule in rules
        ]
        doc = '    """' + re.split(r"[:.]", self.domain.about)[0] + "."
        lines += [
            "",
            f"class {class_name}:",
            doc,
            "",
            "    Rules:",
            *wrapped,
            '    """',
            "",
            *self._constructor(),
        ]
        return "\n".join(lines) + "\n" + tidy(_NEXT_ID) + self.helpers

    def _imports(self) -> list[str]:
        wanted = {"from copy import deepcopy", "from typing import TypedDict"}
        wanted |= {line for part in self.parts for line in part.pattern.IMPORTS}
        if _IS_DATE in self.helpers:
            wanted.add("from datetime import date")
        names: dict[str, set[str]] = {}
        for line in wanted:
            module, _, imported = line.partition(" import ")
            names.setdefault(module, set()).update(filter(None, imported.split(", ")))
        lines = [f"{m} import {', '.join(sorted(n))}" if n else m for m, n in names.items()]
        return sorted(lines, key=lambda line: line.split()[1])

    def _constructor(self) -> list[str]:
        names = [f'"{table.noun.ids}"' for table in self.tables]
        return [
            "    def __init__(self, initial_state: dict | None = None) -> None:",
            *(f"        self.{t.noun.ids}: dict[str, {t.noun.type}] = {{}}" for t in self.tables),
            f'        self.today: str = "{self.domain.today}"  # the current date, as YYYY-MM-DD',
            "        for name, value in deepcopy(initial_state or {}).items():",
            *fold(f"            if name in ({', '.join([*names, chr(34) + 'today' + chr(34)])}):", 108),
            "                setattr(self, name, value)",
        ]


@cache
def world_of(name: str) -> World:
    """The world of a domain, by its name."""
    return build_world(domains()[name])


def build_world(domain: Domain) -> World:
    """Bind the domain's parts in their order and render their templates."""
    shared: dict[str, Noun] = {}
    parts = tuple(_bind(settings, shared) for settings in domain.parts)
    planned = [tool for part in parts for tool in _tools(part)]
    tools = {tool.name: tool for tool in planned}
    if len(tools) < len(planned):
        twice = Counter(tool.name for tool in planned).most_common(1)[0][0]
        raise ValueError(f"expected tools of different names; {twice} is the name of two")
    ranked = sorted((rule for part in parts for rule in _rules(part)), key=_rank)[:MOST_RULES]
    rules = {text: source for _, text, source in ranked}
    goals = tuple(goal for part in parts for goal in _goals(part, tools))
    tables = tuple(table for part in parts for table in part.pattern.tables(part.v))
    helpers = list(
        dict.fromkeys(tidy(_render(p.pattern.HELPERS, p.v)) for p in parts if p.pattern.HELPERS.strip())
    )
    if any("self._is_date(" in code for code in [*helpers, *(tool.source for tool in planned)]):
        helpers.insert(0, _IS_DATE)
    return World(domain, parts, tables, rules, "".join(helpers), tools, goals)


def patterns() -> list[str]:
    """Names of all patterns."""
    from envscaler.model.builtin.domain import FOLDER

    files = (FOLDER.parent / "patterns").glob("*.py")
    return sorted(file.stem for file in files if not file.stem.startswith("_"))


def _bind(settings: dict[str, Any], shared: dict[str, Noun]) -> Bound:
    name = settings.get("pattern", "")
    if name not in patterns():
        raise ValueError(f"expected a pattern of {', '.join(patterns())}; came {name!r}")
    pattern: Pattern = importlib.import_module(f"envscaler.model.builtin.patterns.{name}").PATTERN()
    chosen = pattern.Settings.model_validate(settings)
    words = pattern.vocabulary(chosen, shared)
    blanks = {x.name: x.blank for x in chosen.extras}
    return Bound(
        pattern, SimpleNamespace(**{"s": chosen, "extras": chosen.extras, "blanks": blanks, **words})
    )


def _spelt_out(template: str) -> str:
    """A template of methods without its shorthand; see `pattern`."""
    long = re.sub(r"^( +)need (\w+)$", _need, template, flags=re.MULTILINE)
    long = re.sub(r"^( +)refuse if (.*) :: (.*)$", r"\1if \2:\n\1    refuse :: \3", long, flags=re.MULTILINE)
    long = re.sub(r"^( +)refuse :: (.*)$", _refuse, long, flags=re.MULTILINE)
    return re.sub(r"^( +)done (.*) :: (.*)$", _done, long, flags=re.MULTILINE)


def _need(line: re.Match[str]) -> str:
    indent, noun = line.groups()
    record = f"<<{noun}.id>>"
    return (
        f"{indent}{record} = self.<<{noun}.ids>>.get({record}_id)\n"
        f"{indent}refuse if {record} is None :: There is no <<{noun}>> with the id {{{record}_id!r}}."
    )


def _refuse(line: re.Match[str]) -> str:
    indent, message = line.groups()
    return f'{indent}return {{"success": False, "error": {_text(message)}}}'


def _done(line: re.Match[str]) -> str:
    indent, data, message = line.groups()
    return f'{indent}return {{"success": True, "message": {_text(message)}, "data": {data}}}'


def _text(message: str) -> str:
    return ("f" if "{" in message else "") + f'"{message}"'


def _render(template: str, v: SimpleNamespace) -> str:
    # Jinja's own line statements swallow a blank line that follows; blocks do not.
    blocks = re.sub(r"^[ \t]*%% (.*)$", r"<% \1 %>", template, flags=re.MULTILINE)
    return _JINJA.from_string(blocks).render(vars(v))


def _tools(part: Bound) -> list[PlannedTool]:
    found = []
    for mutates, template in ((False, part.pattern.READS), (True, part.pattern.WRITES)):
        source = tidy(_render(_spelt_out(textwrap.dedent(template)), part.v))
        for node in syntax.parse(source).body:
            assert isinstance(node, ast.FunctionDef), ast.dump(node)
            code = "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])
            purpose = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
            found.append(PlannedTool(node.name, purpose, mutates, code + "\n"))
    unknown = set(part.v.s.without) - {tool.name for tool in found}
    if unknown:
        raise ValueError(f"without names no tool of {part.v.s.pattern}: {', '.join(sorted(unknown))}")
    return [tool for tool in found if tool.name not in part.v.s.without]


def _rules(part: Bound) -> list[tuple[int, str, str]]:
    kept = [rule for rule in part.pattern.RULES if _holds(rule.when, part.v)]
    return [
        (rule.rank, _render(rule.text, part.v), _invariant(_render(rule.source, part.v))) for rule in kept
    ]


def _rank(rule: tuple[int, str, str]) -> int:
    return rule[0]


def _invariant(body: str) -> str:
    code = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"def invariant(before, after, call) -> bool:\n{INVARIANT_HELP}{code}\n"


def _goals(part: Bound, tools: dict[str, PlannedTool]) -> list[Goal]:
    found = []
    for kind in part.pattern.GOALS:
        if _holds(kind.when, part.v) and all(_render(need, part.v) in tools for need in kind.needs):
            found.append(kind(part.v, [Phrase(_render(text, part.v)) for text in kind.phrases]))
    return found


def _holds(condition: str, v: SimpleNamespace) -> bool:
    return bool(_JINJA.compile_expression(condition, undefined_to_none=False)(**vars(v)))


def _typed_dict(table: Table) -> list[str]:
    fields = [
        textwrap.fill(
            f"{a.name}: {a.type}  # {a.description}", 108, initial_indent="    ", subsequent_indent="    # "
        )
        for a in table.attributes
    ]
    return [f"class {table.noun.type}(TypedDict):", f'    """{table.about}"""', "", *fields]
