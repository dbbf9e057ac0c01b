"""What is wrong with a domain or a pattern: everything that can be said without executing a line of what
they give.

`lint_domain` binds the parts, renders every template, reads the methods, draws states and poses tasks. What
only execution shows (that the witness works and doing nothing does not) is proved by
`tests/test_builtin_worlds.py`, domain by domain.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
from pydantic import ValidationError

from envscaler import syntax
from envscaler.error import NothingFits
from envscaler.model.builtin.build import PlannedTool, World, world_of
from envscaler.model.builtin.domain import ENOUGH, FOLDER, Domain, domains, ranking, read_domain, wordings
from envscaler.model.builtin.poser import pose

STATES = 60
"""States that are drawn and in which a task is posed."""
WIDTH = 110
ALIKE = 0.6
"""Share of code lines above which two worlds are one under two names."""


def lint_domain(name: str) -> list[str]:
    """What is wrong with a domain, a sentence each; empty when nothing is."""
    try:
        domain = read_domain(FOLDER / f"{name}.yaml")
        world = world_of(name)
    except ValidationError as error:
        return [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
    except (ValueError, KeyError, SyntaxError, OSError) as error:
        return [f"It cannot be put together: {type(error).__name__}: {error}."]
    found = [*_words(domain), *_counts(world), *_code(world)]
    return found or [*_tasks(world), *_likeness(world)]


def _words(domain: Domain) -> Iterator[str]:
    """Titles and summaries that would be taken for another world's."""
    for title in dict.fromkeys(t for template in domain.titles for t in wordings(template)):
        yield from _heard(domain, title, ENOUGH)
    slots = [[w for sentence in slot for w in wordings(sentence)] for slot in domain.summary]
    rng = np.random.default_rng(0)
    for _ in range(STATES):
        yield from _heard(domain, " ".join(str(rng.choice(slot)) for slot in slots), ENOUGH)


def _heard(domain: Domain, text: str, least: float) -> Iterator[str]:
    (best, nearest), (second, _) = ranking(text)[:2]
    if nearest.name != domain.name or best < least:
        yield f"words: {text!r} sounds like {nearest.name} ({best:g}), not like {domain.name} ({domain.score(text):g})."
    elif best <= second:
        yield f"words: {text!r} sounds as much like another domain."


def _counts(world: World) -> Iterator[str]:
    """Sizes outside what environments here should have."""
    reads = sum(not tool.mutates for tool in world.tools.values())
    sizes = {
        "tools": (len(world.tools), 14, 25),
        "query tools": (reads, 6, 15),
        "entities": (len(world.tables), 2, 6),
        "rules": (len(world.rules), 3, 8),
        "goals": (len(world.goals), 6, 40),
    }
    for what, (count, least, most) in sizes.items():
        if not least <= count <= most:
            yield f"It has {count} {what}; expected {least} to {most}. Use `without`, or another pattern."
    doubled = [name for name, count in Counter(t.noun.ids for t in world.tables).items() if count > 1]
    if doubled:
        yield f"Two tables are called {doubled[0]}; give one of the parts another noun."


def _code(world: World) -> Iterator[str]:
    """Methods without descriptions, and lines that vocabulary made too long."""
    source = world.head(world.domain.name, world.domain.class_name, list(world.rules))
    syntax.parse(source)
    for place, text in [("class", source), *((tool.name, tool.source) for tool in world.tools.values())]:
        indent = 0 if place == "class" else 4
        long = [line.strip() for line in text.splitlines() if len(line) + indent > WIDTH]
        if long:
            yield f"{place}: a line has {len(long[0]) + 4} characters and more; shorten a noun: {long[0][:70]}…"
    for tool in world.tools.values():
        yield from _docstring(tool)


def _docstring(tool: PlannedTool) -> Iterator[str]:
    method = syntax.parse(tool.source).body[0]
    doc = ast.get_docstring(method) or "" if isinstance(method, ast.FunctionDef) else ""
    names = [a.arg for a in method.args.args[1:]] if isinstance(method, ast.FunctionDef) else []
    for name in names:
        if f"    {name}: " not in doc:
            yield f"{tool.name}: the parameter {name} has no description."
    if "Returns:" not in doc:
        yield f"{tool.name}: the docstring has no Returns."


def _tasks(world: World) -> Iterator[str]:
    """States in which no task is found, and goals that never come up."""
    drawn: Counter[str] = Counter()
    failed = 0
    for seed in range(STATES):
        rng = np.random.default_rng(seed)
        state = world.state(rng)
        thin = [t.noun.ids for t in world.tables if not 3 <= len(state[t.noun.ids]) <= 30]
        if thin:
            yield f"generate: {thin[0]} has {len(state[thin[0]])} rows in state {seed}; expected 3 to 30."
            return
        try:
            drawn.update(type(goal).__name__ for goal, _, _ in world.read(pose(world, state, rng)))
        except NothingFits:
            failed += 1
    if failed > STATES // 10:
        yield f"In {failed} of {STATES} states no task was found; its goals exclude each other or are too short."
    never = {type(goal).__name__ for goal in world.goals} - set(drawn)
    if never:
        yield f"Never drawn in {STATES} states: {', '.join(sorted(never))}; the data do not allow them."


def _likeness(world: World) -> Iterator[str]:
    """Worlds whose code is the same line by line."""
    mine = _lines(world)
    for other in map(world_of, sorted(set(domains()) - {world.domain.name})):
        theirs = _lines(other)
        share = len(mine & theirs) / min(len(mine), len(theirs))
        if share > ALIKE:
            yield f"{share:.0%} of its code lines are those of {other.domain.name}; give it words of its own."


def _lines(world: World) -> frozenset[str]:
    """Lines of code that carry a name of the world."""
    code = (line.strip() for tool in world.tools.values() for line in tool.source.splitlines())
    nouns = [n for t in world.tables for n in (t.noun.id, t.noun.ids)]
    return frozenset(line for line, noun in product(code, nouns) if noun in line)


def facts(world: World) -> dict[str, int]:
    """How large a world is."""
    reads = sum(not tool.mutates for tool in world.tools.values())
    return {
        "query_tools": reads,
        "change_tools": len(world.tools) - reads,
        "entities": len(world.tables),
        "attributes": sum(len(table.attributes) for table in world.tables),
        "rules": len(world.rules),
        "goals": len(world.goals),
    }
