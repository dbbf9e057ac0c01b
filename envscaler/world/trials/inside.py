"""What one call does that neither its reply nor its diff shows, as the worker tells it (`sandbox.observe`).

Replies that are live parts of the state; state on the class or in the module; state that JSON would change; numbers
looked up among keys that are text; ids compared with what is none; wrong types that raise; errors kept quiet.
Nothing is changed by looking.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence

from envscaler.record import as_dict
from envscaler.schema import Call, Finding, Json, Severity, Skeleton
from envscaler.world.arguments import ArgumentsOf
from envscaler.world.live import Live
from envscaler.world.sandbox import WorkerLost
from envscaler.world.source import parse_class
from envscaler.world.tree import find_class, functions, parse_tree
from envscaler.world.trials.exploring import Seen
from envscaler.world.trials.finding import finding
from envscaler.world.trials.schemas import admitted
from envscaler.world.trials.trying import Values, is_id, wrong

_SLIPS = frozenset(
    {"KeyError", "TypeError", "AttributeError", "IndexError", "NameError", "UnboundLocalError"}
)
"""Errors that are mistakes of the code, not answers to a caller."""


class Inside:
    """Looks inside one environment."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self._met: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._looked_up: set[tuple[str, str]] = set()
        self._handlers = list(_handlers(skeleton))

    def observe(self, live: Live, call: Call) -> Iterator[Finding]:
        """What a call would do besides; a call that takes its worker down says nothing here."""
        try:
            facts = live.observe(call.tool, call.arguments)
        except WorkerLost:
            return
        told: dict[str, Json] = {"call": call.model_dump(mode="json")}
        for name, values in as_dict(facts.get("compared")).items():
            self._met[call.tool, name].update(map(str.casefold, values))
        self._looked_up.update((call.tool, name) for name in facts.get("looked up") or [])
        if facts.get("aliases"):
            message = f"{call.tool} replies with live parts of the state; only JSON between you and it makes copies."
            yield finding("alias", "note", call.tool, message, **told)
        if names := facts.get("outside"):
            message = (
                f"{call.tool} changes {', '.join(names)}, which is no part of the state: no reset undoes it."
            )
            yield finding("shared-state", "error", call.tool, message, **told)
        for name, how in as_dict(facts.get("changes in JSON")).items():
            if how == "keys":
                message = f"{name} has keys that are no text; after a restore they are, and look-ups fail."
                yield finding("int-keys", "error", name, f"{message} Annotate it as dict[int, …].", **told)
            elif how == "types":
                message = f"{name} holds tuples or sets, which a restore makes lists of."
                yield finding("not-json", "warning", name, message, **told)

    def number_keys(self, values: Values) -> Iterator[Finding]:
        """Tables with numbers as keys, which JSON holds as text, and tools that look them up with numbers."""
        known = parse_class(self._skeleton.source, self._skeleton.class_name).key_types
        numbered = {
            t for t, keys in values.keys.items() if keys and all(map(str.isdecimal, keys)) and t not in known
        }
        for tool in self._skeleton.tools:
            for name, schema in (tool.parameters.get("properties") or {}).items():
                looked = numbered & set(values.tables_like(name))
                if looked and admitted(schema) == {"number"}:
                    message = f"{tool.name} looks up {', '.join(sorted(looked))} by a number, but its keys are text."
                    yield finding("int-keys", "error", tool.name, f"{message} Annotate it as dict[int, …].")

    def compared_ids(self, *values: Values) -> Iterator[Finding]:
        """Arguments named after an id that were compared with other fields, and never with an id."""
        ids, texts = (
            set[str]().union(*parts) for parts in zip(*((v.ids, v.others) for v in values), strict=True)
        )
        for (tool, name), met in self._met.items():
            others = {text for text in met & texts - ids if text.strip()}
            if not is_id(name) or not others or met & ids:
                continue
            severity: Severity = "warning" if (tool, name) in self._looked_up else "error"
            message = f"{tool} compares {name} with {', '.join(sorted(others)[:3])}, which is no id; no id can match."
            yield finding("id-compared", severity, tool, message, compared=sorted(others)[:20])

    def wrong_types(self, live: Live, calls: Sequence[Call]) -> Iterator[Finding]:
        """One note on all tools that raise on a wrong type; the library refuses such calls, other runtimes do not."""
        given = {call.tool: call.arguments for call in calls}
        raised: dict[str, Json] = {}
        for tool in self._skeleton.tools:
            reader, told = ArgumentsOf(tool), dict[str, Json]()
            for name, arguments in wrong(tool, given.get(tool.name, {})):
                if name in told or not reader.read(arguments)[1]:
                    continue
                try:
                    error = as_dict(live.observe(tool.name, arguments).get("error"))
                except WorkerLost as lost:
                    error = {"type": str(lost)}
                if error:
                    told[name] = {"value": arguments[name], "error": error}
            if told:
                raised[tool.name] = told
        if raised:
            message = (
                f"{len(raised)} tools raise on arguments of a wrong type; here such calls are refused before."
            )
            yield finding("wrong-type-raises", "note", self._skeleton.class_name, message, **raised)

    def quiet(self, seen: Seen) -> Iterator[Finding]:
        """Errors that a call caught and said nothing of."""
        if not seen.done or not seen.errors:
            return
        for kind, line in seen.errors:
            handler = next((h for h in self._handlers if h[0] <= line <= h[1]), None)
            if handler is None:
                continue
            broad = handler[2]
            if kind in _SLIPS or (broad and not seen.diff and self._writes(seen.call.tool)):
                message = f"{seen.call.tool} reports success though {kind} was raised in line {line} and kept quiet."
                yield finding(
                    "swallowed", "warning", seen.call.tool, message, **seen.told, error=[kind, line]
                )

    def _writes(self, tool: str) -> bool:
        found = self._skeleton.tool(tool)
        return found is not None and found.mutates


def _handlers(skeleton: Skeleton) -> Iterator[tuple[int, int, bool]]:
    """First and last line of what each `try` guards, innermost first, and whether it catches everything."""
    node = find_class(parse_tree(skeleton.source), skeleton.class_name)
    found = []
    for function in functions(node):
        for part in ast.walk(function):
            if isinstance(part, ast.Try) and part.handlers:
                broad = any(h.type is None or ast.unparse(h.type) in _ALL for h in part.handlers)
                found.append((part.body[0].lineno, part.body[-1].end_lineno or part.body[-1].lineno, broad))
    yield from sorted(found, key=lambda span: span[1] - span[0])


_ALL = ("Exception", "BaseException")


def by_address(skeleton: Skeleton) -> Iterator[Finding]:
    """Tools whose code asks for the place of an object in memory, which is another one every time."""
    node = find_class(parse_tree(skeleton.source), skeleton.class_name)
    tools = {tool.name for tool in skeleton.tools}
    for function in functions(node):
        names = [part for part in ast.walk(function) if isinstance(part, ast.Name)]
        bound = {n.id for n in names if isinstance(n.ctx, ast.Store)} | {
            a.arg for a in ast.walk(function) if isinstance(a, ast.arg)
        }
        if function.name in tools and any(n.id == "id" for n in names) and "id" not in bound:
            message = (
                f"{function.name} goes by the place of objects in memory (`id`), which no seed controls."
            )
            yield finding("by-address", "warning", function.name, message)
