"""How deep environments are: bodies of tools, rules and solutions, measured; ours beside the published sample.

Two tools have one *body* when their code is equal after renaming: local names, tables and other attributes, keywords
and texts that could be names (keys, fields, statuses) are numbered in the order they first come in; other texts, also
those with values put in, numbers, and lists of constants are one sign each. Docstrings, annotations, signatures and
decorators do not count. Names of builtins, of imports and of called methods of values stay; a call of another method
of the class stands for the body of that one. What is compared is code as it is written: one look-up written in two
ways is two bodies, so a single hand (a stand-in's patterns) looks poorer than a model that words each anew.

A rule's *kind* is read off its text, the only thing that both corpora have, by the first of `KINDS` that fits. Of 40
rules, 20 of each corpus, that one reader had sorted before the expressions were written, it agrees on 35
(`tests/test_show_depth.py` has them): good enough to tell corpora apart, not to sort single rules.

Nothing is executed here: sources are parsed, and one that cannot be is left out and counted.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from math import lgamma, nan
from typing import Any

import numpy as np
import pandas as pd

from envscaler.error import SourceError
from envscaler.given import a_frame, many
from envscaler.schema import Scenario, Skeleton
from envscaler.show.paper import sample_facts
from envscaler.world.tree import Function, find_class, functions, parse_tree

KINDS = {
    "log": r"leaves an? |timestamped",
    "time": r"future|same (time|day)|on one day|overlap|chronolog|day to come|earlier than|within \d+ days|time range"
    r"|valid timestamp|days ahead|hours and|dates? must fall|expires first|after \w+ \w+ deliver",
    "unique": r"\bunique\b|no two |duplicate",
    "permission": r"permission|authori[sz]|privacy|private|access rights|their own|authenticated|registered users"
    r"|can view only|\badmin|owner\b|only patients",
    "life cycle": r"transition|goes from|never back|open again|stays? (so|as|closed)|immutable|current phase",
    "derived": r"automatic|calculat|comput|\bsum of|total of|aggregate|updated? (when|daily)|based on|back into|down by"
    r"|costs? \d|sets the|vary by|affected by|determined by|is kept for whoever|comes from",
    "link": r"linked|associated|belong|\bexists?\b|existing|referential|registered|correspond|assigned|is with",
    "values": r"one of|predefined|allowed|supported types|valid\b|validated|status (can|must) be|either|conform"
    r"|include",
    "presence": r"empty|be present|has (a note|the date)|null|exactly when|populated|available if"
    r"|recorded with|required",
    "amount": r"at most|at least|no more|non-negative|below|between|exactly one|multiple|more than|only one|capacity"
    r"|range|limit|one \w+ per|two active|worth|carries",
    "showing": r"retriev|search|quer|display|sorted|visib|listed|pagination",
    "condition": r"\bonly\b|nothing|nobody|cannot|before|until|unless|never|\bnot\b|can be",
}
"""Kind of a rule → what its text has in it; the first that fits counts. `condition` is an act that needs something."""
_KINDS = {kind: re.compile(words, re.IGNORECASE) for kind, words in KINDS.items()}
_LEFT_OUT = {"annotation", "returns", "type_comment", "ctx", "kind", "decorator_list", "type_params"}
_BRANCHES = (
    ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.match_case | ast.Assert
)
_UNREADABLE = (SourceError, ValueError, RecursionError, MemoryError)
_COLUMNS = ["skeleton_id", "title", "tool", "body", "lines", "branches", "depth", "solutions"]


# Code


class _Module:
    """A module's functions and one class's methods (these named with a dot in front), and what they are made of."""

    def __init__(self, tree: ast.Module, node: ast.ClassDef | None = None) -> None:
        self.parts: dict[str, Function] = {f.name: f for f in tree.body if isinstance(f, Function)}
        self.parts |= {f".{f.name}": f for f in functions(node)} if node else {}
        self.own = {"self", "cls", node.name if node else ""}
        imports = [
            alias for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) for alias in n.names
        ]
        self.kept = set(dir(builtins)) | {(a.asname or a.name).split(".")[0] for a in imports}
        self.calls = {name: self._calls(part) for name, part in self.parts.items()}
        self._bodies: dict[str, str] = {}
        self._depths: dict[str, int] = {}
        self._reached: dict[str, set[str]] = {}

    def part(self, node: ast.AST) -> str:
        """The name of the method or function that an expression names, or nothing."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.own:
            return f".{node.attr}" if f".{node.attr}" in self.parts else ""
        return node.id if isinstance(node, ast.Name) and node.id in self.parts else ""

    def _calls(self, function: Function) -> list[str]:
        return list(dict.fromkeys(name for node in ast.walk(function) if (name := self.part(node))))

    def body(self, name: str) -> str:
        """A sign that two functions share when their bodies are equal after renaming."""
        if name not in self._bodies:
            written = _Writer(self, name).all(_statements(self.parts[name]))
            self._bodies[name] = sha256(written.encode(errors="replace")).hexdigest()[:12]
        return self._bodies[name]

    def depth(self, name: str) -> int:
        """Calls in the longest chain that begins here; one to a function that calls back ends it."""
        if name not in self._depths:
            others = [n for n in self.calls[name] if n != name]
            chains = (1 if name in self.reached(n) else 1 + self.depth(n) for n in others)
            self._depths[name] = max(chains, default=0)
        return self._depths[name]

    def reached(self, name: str) -> set[str]:
        """The function and all that it calls."""
        if name not in self._reached:
            found, todo = {name}, [name]
            while todo:
                new = set(self.calls[todo.pop()]) - found
                found |= new
                todo += new
            self._reached[name] = found
        return self._reached[name]


class _Writer:
    """Writes statements with everything abstracted that the head of the module names."""

    def __init__(self, module: _Module, name: str) -> None:
        self.name, function = name, module.parts[name]
        names = (
            n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        )
        bound = {*names, *(n.arg for n in ast.walk(function) if isinstance(n, ast.arg))}
        self.module, self.kept, self.numbers = module, module.kept - bound, dict[tuple[str, str], int]()
        self.hidden = bound - module.own

    def all(self, nodes: Sequence[ast.AST]) -> str:
        return " ".join(map(self.one, nodes))

    def number(self, sort: str, name: str) -> str:
        return f"{sort}{self.numbers.setdefault((sort, name), len(self.numbers))}"

    def one(self, node: Any, sort: str = "name") -> str:
        """The abstract form of a node, a list of them, or a name of some sort in one."""
        if isinstance(node, list):
            return f"[{' '.join(map(self.one, node))}]"
        if not isinstance(node, ast.AST):
            return self.number(sort, node) if isinstance(node, str) else repr(node)
        if isinstance(node, ast.Constant):
            return self._constant(node.value)
        if isinstance(node, ast.JoinedStr):
            return "text"
        listed = getattr(node, "elts", [])
        if listed and all(isinstance(value, ast.Constant) for value in listed):
            return "constants"
        if (part := self.module.part(node)) and part not in self.hidden:
            back = self.name in self.module.reached(part)  # else the order of asking would tell bodies apart
            return "<itself>" if back else f"<{self.module.body(part)}>"
        if isinstance(node, ast.Name):
            return node.id if node.id in self.kept else self.number("name", node.id)
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and isinstance(called, ast.Attribute) and not self.module.part(called):
            inputs = self.all([*node.args, *node.keywords])
            return f"({self.one(called.value)}.{called.attr} {inputs})"
        if isinstance(node, ast.AnnAssign):
            return self.one(ast.Assign([node.target], node.value)) if node.value else ""
        sort = type(node).__name__ if isinstance(node, ast.Attribute | ast.keyword) else "name"
        parts = (self.one(value, sort) for field, value in ast.iter_fields(node) if field not in _LEFT_OUT)
        return f"({type(node).__name__} {' '.join(parts)})"

    def _constant(self, value: Any) -> str:
        if isinstance(value, str):
            return self.number("key", value) if value.isidentifier() else "text"
        return repr(value) if value is None or isinstance(value, bool) else type(value).__name__


def _statements(function: Function) -> list[ast.stmt]:
    """The body without bare texts."""
    return [
        s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]  # fmt: skip


def _lines(function: Function) -> int:
    """Lines of the body, laid out as `ast` lays out all code: without comments and empty lines."""
    return sum(len(ast.unparse(statement).splitlines()) for statement in _statements(function))


def _branches(function: Function) -> int:
    """Places at which the way forks: cyclomatic complexity less 1."""
    nodes = list(ast.walk(function))
    more = sum(len(n.values) - 1 for n in nodes if isinstance(n, ast.BoolOp))
    more += sum(1 + len(n.ifs) for n in nodes if isinstance(n, ast.comprehension))
    return sum(isinstance(n, _BRANCHES) for n in nodes) + more


# Frames


def depth_frame(skeletons: Iterable[Skeleton], scenarios: Iterable[Scenario] = ()) -> pd.DataFrame:
    """One row a tool: its body's sign, lines, branches, depth of calls, and how many witnesses call it.

    Lines and branches are of the tool with every method and function it reaches. `depth` counts calls in the longest
    chain of them that begins at the tool. `solutions` counts the scenarios whose witness calls it. A skeleton whose
    class is missing or cannot be parsed has no row, nor has a tool that is no method of it.
    """
    used = Counter(
        (s.skeleton_id, tool) for s in many(scenarios, Scenario) for tool in {c.tool for c in s.witness}
    )
    rows: list[tuple[Any, ...]] = []
    for skeleton in many(skeletons, Skeleton):
        with suppress(*_UNREADABLE):  # not there: `depth_table` counts it
            rows += _tool_rows(skeleton, used)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _tool_rows(skeleton: Skeleton, used: Mapping[tuple[str, str], int]) -> list[tuple[Any, ...]]:
    tree = parse_tree(skeleton.source)
    module = _Module(tree, find_class(tree, skeleton.class_name))
    sizes = {name: (_lines(part), _branches(part)) for name, part in module.parts.items()}
    rows = []
    for tool in (t.name for t in skeleton.tools if f".{t.name}" in module.parts):
        reached = [sizes[part] for part in module.reached(f".{tool}")]
        lines, branches = (sum(each) for each in zip(*reached, strict=True))
        measures = (module.body(f".{tool}"), lines, branches, module.depth(f".{tool}"))
        rows.append((skeleton.id, skeleton.title, tool, *measures, used[skeleton.id, tool]))
    return rows


def rule_kind(text: str) -> str:
    """The kind of a rule by its text, one of `KINDS`; empty where none fits."""
    return next((kind for kind, words in _KINDS.items() if words.search(text)), "")


def _invariant(source: str) -> str | None:
    """The sign of an invariant, as of a tool's body."""
    try:
        module = _Module(parse_tree(source))
        return module.body("invariant") if "invariant" in module.parts else None
    except _UNREADABLE:
        return None


def depth_facts(skeletons: Iterable[Skeleton], scenarios: Iterable[Scenario] = ()) -> dict[str, Any]:
    """The depth of one corpus in numbers alone, as `data/published.json` keeps it of the published sample.

    Args:
        skeletons: the environments; one that is there twice counts once, as do scenarios.
        scenarios: what was posed in them; those with a witness count.
    """
    worlds = list({s.id: s for s in many(skeletons, Skeleton)}.values())
    here = {skeleton.id for skeleton in worlds}
    given = (s for s in many(scenarios, Scenario) if s.witness and s.skeleton_id in here)
    posed = list({s.id: s for s in given}.values())
    frame = depth_frame(worlds, posed)
    homes = frame.groupby("body")["skeleton_id"].nunique()
    tools = frame.groupby("skeleton_id")["tool"].agg(set)
    rules = [rule for skeleton in worlds for rule in skeleton.rules]
    solved = frame[frame["skeleton_id"].isin({s.skeleton_id for s in posed})]
    witnesses = [(tools[s.skeleton_id], {c.tool for c in s.witness}) for s in posed if s.skeleton_id in tools]
    each = [len(there & called) / len(there) for there, called in witnesses]
    invariants = {sign for rule in rules if rule.invariant and (sign := _invariant(rule.invariant))}
    return {
        "environments": len(worlds),
        "unread": len(worlds) - len(tools),
        "tools": len(frame),
        "body_sizes": _counts(frame["body"].value_counts()),
        "own_bodies": int(frame["body"].map(homes).eq(1).sum()),
        "lines": _counts(frame["lines"]),
        "branches": _counts(frame["branches"]),
        "depths": _counts(frame["depth"]),
        "rule_kinds": dict(sorted(Counter(rule_kind(rule.text) for rule in rules).items())),
        "rules_tested": sum(rule.invariant is not None for rule in rules),
        "invariants": len(invariants),
        "solution_lengths": _counts(len(s.witness) for s in posed),
        "solved_tools": len(solved),
        "used_tools": int((solved["solutions"] > 0).sum()),
        "used_by_one": round(float(np.mean(each)), 4) if each else None,
        "solved_environments": len({s.skeleton_id for s in posed}),
    }


def _counts(values: Iterable[int]) -> dict[str, int]:
    """How often each value is there, in the form of the published facts."""
    return {str(value): number for value, number in sorted(Counter(map(int, values)).items())}


# Ours beside the published


def depth_table(skeletons: Iterable[Skeleton], scenarios: Iterable[Scenario] = ()) -> pd.DataFrame:
    """The depth of ours beside that of the published sample, a row a measure; `poorer` where ours has less.

    Measures that go with the size of a corpus are shown and never `poorer`.

    For the published sample nobody wrote witnesses: its solutions are the calls of ten recorded episodes, failed and
    needless ones among them. Where a measure is of something that one corpus has none of, it is NaN.

    Args:
        skeletons: our environments.
        scenarios: those posed in them, with their witnesses.
    """
    ours, sample = depth_facts(skeletons, scenarios), sample_facts()["depth"]
    equal = min(ours["tools"], sample["tools"])
    table = pd.DataFrame({"ours": _measures(ours, equal), "published": _measures(sample, equal)})
    table["poorer"] = (table["ours"] < table["published"] - 1e-9) & ~table.index.isin(_NO_DEPTH)
    return table.rename_axis("measure")


_NO_DEPTH = [
    "environments", "environments left out", "tools", "distinct bodies", "distinct bodies, share of tools",
    "tools with a body of no other environment, share", "longest chain of calls", "rules", "rule kinds",
    "rules of no kind, share", "distinct codes of rules, share of those", "calls of the longest solution",
    "solutions (published: recorded episodes)", "solutions an environment that has any",
    "tools called by any solution, share",
]  # fmt: skip
"""Measures of how much there is, or that grow or fall with it: not compared. Ten solutions reach more tools than two,
the longest of many is longer, and among more tools fewer have a body of their own."""


def _measures(facts: Mapping[str, Any], equal: int) -> dict[str, float]:
    kinds, tools = {k: n for k, n in facts["rule_kinds"].items() if k}, facts["tools"]
    rules = sum(facts["rule_kinds"].values())
    shares = np.array(list(kinds.values())) / max(1, sum(kinds.values()))
    evenly = float(np.exp(-(shares * np.log(shares)).sum()))
    return {
        "environments": facts["environments"],
        "environments left out": facts["unread"],
        "tools": tools,
        "distinct bodies": sum(facts["body_sizes"].values()),
        "distinct bodies, share of tools": _share(sum(facts["body_sizes"].values()), tools),
        "distinct bodies among equally many tools": _distinct_among(facts["body_sizes"], equal),
        "tools with a body of no other environment, share": _share(facts["own_bodies"], tools),
        "lines a tool": _mean(facts["lines"]),
        "branches a tool": _mean(facts["branches"]),
        "tools that call another method, share": _share(tools - facts["depths"].get("0", 0), tools),
        "longest chain of calls": max(map(int, facts["depths"]), default=nan),
        "rules": rules,
        "rule kinds": len(kinds),
        "rule kinds, as if equally frequent": evenly if kinds else nan,
        "rules of no kind, share": _share(facts["rule_kinds"].get("", 0), rules),
        "rules with code that tests them, share": _share(facts["rules_tested"], rules),
        "distinct codes of rules, share of those": _share(facts["invariants"], facts["rules_tested"]),
        "solutions (published: recorded episodes)": sum(facts["solution_lengths"].values()),
        "solutions an environment that has any": _share(
            sum(facts["solution_lengths"].values()), facts["solved_environments"]
        ),
        "calls a solution": _mean(facts["solution_lengths"]),
        "calls of the longest solution": max(map(int, facts["solution_lengths"]), default=nan),
        "tools called by one solution, share": nan if facts["used_by_one"] is None else facts["used_by_one"],
        "tools called by any solution, share": _share(facts["used_tools"], facts["solved_tools"]),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else nan


def _mean(counts: Mapping[str, int]) -> float:
    return _share(sum(int(value) * number for value, number in counts.items()), sum(counts.values()))


def _distinct_among(sizes: Mapping[str, int], draws: int) -> float:
    """Distinct bodies to be expected among so many tools drawn at random (rarefaction), as more tools have fewer each.

    Args:
        sizes: how many tools share a body → how many such bodies.
        draws: tools drawn, at most as many as there are.
    """
    total = sum(int(size) * number for size, number in sizes.items())

    def ways(n: int) -> float:
        return lgamma(n + 1) - lgamma(n - draws + 1)

    missed = {
        s: np.exp(ways(total - int(s)) - ways(total)) if total - int(s) >= draws else 0.0 for s in sizes
    }
    return float(sum(number * (1 - missed[size]) for size, number in sizes.items())) if draws else nan


def depth_finding(table: pd.DataFrame) -> str:
    """One sentence on what `depth_table` shows: what is poorer in ours, and what is not."""
    rows = a_frame(table, ["ours", "published", "poorer"], "`depth_table`").drop(_NO_DEPTH, errors="ignore")
    rows = rows.dropna(subset=["ours", "published"])
    if rows.empty:
        return "Nothing of ours can be compared with the published sample."
    poorer = rows[rows["poorer"].astype(bool)]
    if poorer.empty:
        return f"Ours is nowhere poorer than the published sample in {len(rows)} measures that both have."
    told = [f"{name} ({r['ours']:.3g} to {r['published']:.3g})" for name, r in poorer.iterrows()]
    even = f"in the other {len(rows) - len(told)} of {len(rows)} measures that both have it is as deep or deeper."
    return f"Ours is poorer than the published sample in {'; '.join(told)}; {even}"
