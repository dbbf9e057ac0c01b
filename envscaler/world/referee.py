"""The referee: proves by running that an environment keeps its contract, as Gymnasium's `check_env` does.

Some of it holds by construction of the library, some of it depends on the class. Tried here is what the class
can get wrong: it loads; schemas and signatures agree; the same seed gives the same bytes, and so does a
restored snapshot; reads and refused calls change nothing; no tool raises on what its schema admits; replies
are copies; no state lies on the class or in the module; all state comes back from JSON as it was, whole
numbers as keys too; an argument named after an id is compared with ids. The arguments are made from the
schemas and from the state (`trying`); they know nothing of the world, so silence of the referee is no proof
that tools do what they say (`audits` asks that).
"""

import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from envscaler.error import EnvironmentLost, SourceError
from envscaler.schema import Call, Finding, Json, Severity, Skeleton, Tool
from envscaler.world.arguments import ArgumentsOf
from envscaler.world.change import State, same
from envscaler.world.environment import Environment
from envscaler.world.lint import lint
from envscaler.world.live import Live
from envscaler.world.sandbox import WorkerLost
from envscaler.world.source import parse_class, read_tools
from envscaler.world.trying import Values, calls, is_id, wrong
from envscaler.world.witness import succeeded

ROUNDS = 4
"""Calls of each tool."""
_REPLAYED = 60
"""Calls that are made again to see whether they give the same."""
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


class Findings(list[Finding]):
    """What a referee found, the severest first; a notebook shows it as a table."""

    @property
    def errors(self) -> list[Finding]:
        """Those that make the environment unusable."""
        return [finding for finding in self if finding.severity == "error"]

    def _repr_html_(self) -> str:
        counts: Counter[str] = Counter(finding.severity for finding in self)
        colour = {"error": "#b2182b", "warning": "#8a6d00", "note": "#555555"}
        rows = "".join(
            f"<tr><td style='color:{colour[f.severity]}'><b>{f.severity}</b></td><td>{html.escape(f.kind)}</td>"
            f"<td><code>{html.escape(f.where)}</code></td><td style='text-align:left'>{html.escape(f.message)}"
            f"<details><summary>evidence</summary><pre>{html.escape(_written(f.evidence))}</pre></details></td></tr>"
            for f in self
        )
        head = ", ".join(f"{counts[s]} {s}{'' if counts[s] == 1 else 's'}" for s in colour)
        return f"<b>{head}</b><table><tr><th>severity</th><th>kind</th><th>where</th><th>what</th></tr>{rows}</table>"


def _written(evidence: Json) -> str:
    return json.dumps(evidence, indent=1, ensure_ascii=False)[:4000]


def check_environment(
    skeleton: Skeleton, state: Mapping[str, Json] | None = None, *, seed: int = 0, **options: Any
) -> Findings:
    """What an environment gets wrong; empty, or notes only, when it keeps the contract.

    Args:
        skeleton: the class and its tools.
        state: a state to play in; None for the class's own, which is mostly empty and shows less.
        seed: of the calls that are made, and of the environment.
        options: of `Environment`, e.g. `timeout` and `isolation`.
    """
    found = [f for f in lint(skeleton.source, skeleton.class_name) if f.severity != "note"]
    trial = _Trial(skeleton, state, seed, options)
    try:
        found += _check_tools(skeleton)
        found += trial.play()
        found += trial.repeat()
    except SourceError as error:
        found.append(_finding("no-load", "error", skeleton.class_name, str(error)))
    except EnvironmentLost as error:
        found.append(_finding("lost", "error", skeleton.class_name, str(error)))
    return _once(found)


def _finding(kind: str, severity: Severity, where: str, message: str, **evidence: Json) -> Finding:
    return Finding(kind=kind, severity=severity, where=where, message=message, evidence=evidence)


def _once(findings: list[Finding]) -> Findings:
    """One finding a kind and place: the first shows it as well as the tenth."""
    seen: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        seen.setdefault((finding.kind, finding.where), finding)
    order = {"error": 0, "warning": 1, "note": 2}
    return Findings(sorted(seen.values(), key=lambda finding: order[finding.severity]))


# Schemas


def _check_tools(skeleton: Skeleton) -> Iterator[Finding]:
    there = {tool.name: tool for tool in read_tools(skeleton.source, skeleton.class_name)}
    for tool in skeleton.tools:
        if tool.name not in there:
            message = f"The tool {tool.name} is declared but no public method."
            yield _finding("no-method", "error", tool.name, message)
            continue
        yield from _compare_schemas(tool, there[tool.name])
        if there[tool.name].mutates and not tool.mutates:
            message = f"{tool.name} is declared a read; its code writes."
            yield _finding("read-may-write", "note", tool.name, message)
    for name in there.keys() - {tool.name for tool in skeleton.tools}:
        yield _finding("undeclared", "note", name, f"The public method {name} is not declared a tool.")


def _compare_schemas(tool: Tool, real: Tool) -> Iterator[Finding]:
    """What a caller who keeps to the declared schema runs into."""
    said, takes = (dict(t.parameters.get("properties") or {}) for t in (tool, real))
    must, needs = (set(t.parameters.get("required") or []) for t in (tool, real))
    evidence: dict[str, Json] = {"declared": dict(tool.parameters), "method": dict(real.parameters)}
    if unknown := sorted(said.keys() - takes.keys()):
        message = f"{tool.name} declares {', '.join(unknown)}, which its method does not take."
        yield _finding("schema", "error", tool.name, message, **evidence)
    if missing := sorted(needs - must):
        message = f"{tool.name} needs {', '.join(missing)}, which its schema does not require."
        yield _finding("schema-required", "error", tool.name, message, **evidence)
    if stricter := sorted(must & takes.keys() - needs):
        message = f"{tool.name} requires {', '.join(stricter)}, which its method has a default for."
        yield _finding("schema-required", "note", tool.name, message, **evidence)
    for name in said.keys() & takes.keys():
        if not _kinds(said[name]) & _kinds(takes[name]):
            kinds = [" or ".join(sorted(_kinds(schema))) for schema in (said[name], takes[name])]
            message = f"{tool.name} declares {name} as {kinds[0]}; the method is annotated with {kinds[1]}."
            yield _finding("schema-type", "warning", tool.name, message, **evidence)


def _kinds(schema: Any) -> set[str]:
    """The JSON types that a schema admits; whole numbers are numbers."""
    if not isinstance(schema, dict):
        return {"string", "number", "boolean", "array", "object"}
    if "anyOf" in schema:
        return set().union(*map(_kinds, schema["anyOf"]))
    kind = schema.get("type") or ["string", "number", "boolean", "array", "object"]
    return {"number" if k == "integer" else str(k) for k in ([kind] if isinstance(kind, str) else kind)}


# Calls


class _Trial:
    """One environment under trial."""

    def __init__(
        self, skeleton: Skeleton, state: Mapping[str, Json] | None, seed: int, options: dict[str, Any]
    ) -> None:
        self._skeleton, self._state, self._seed, self._options = skeleton, state or {}, seed, options
        self._calls: list[Call] = []
        self._met: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._looked_up: set[tuple[str, str]] = set()

    def _environment(self) -> Environment:
        return Environment(self._skeleton, self._state, seed=self._seed, **self._options)

    def play(self) -> Iterator[Finding]:
        """Make calls, and look at what each of them does."""
        with self._environment() as environment:
            environment.reset()
            values = Values(environment.state)
            self._calls = list(calls(self._skeleton, values, self._seed, ROUNDS))
            yield from self._int_keys(values)
            for call in self._calls:
                yield from self._observe(environment._live, call)
                reply = environment.call(call.tool, call.arguments)
                yield from self._judge(call, reply, environment)
            yield from self._ids(values, Values(environment.state))
            yield from self._wrong_types(environment._live)

    def _judge(self, call: Call, reply: Json, environment: Environment) -> Iterator[Finding]:
        tool, changed = self._skeleton.tool(call.tool), environment.diff
        told = {"call": call.model_dump(mode="json"), "reply": reply, "diff": changed}

        def fault(kind: str, severity: Severity, message: str) -> Finding:
            return _finding(kind, severity, call.tool, f"{call.tool} {message}", **told)

        for one in environment.faults:
            kind = "not-json" if str(one["error"]).startswith("NotJson") else "raises"
            yield fault(kind, "error", f"{one['kind']}: {one['error']}.")
        if changed and tool is not None and not tool.mutates:
            yield fault("read-writes", "error", "is a read and changed the state.")
        if changed and not succeeded(reply):
            yield fault("refused-writes", "error", "refused and changed the state all the same.")
        if _ADDRESS.search(str(reply)):
            message = "replies with an address in memory, which is another one every time."
            yield fault("not-repeatable", "error", message)
        sound = isinstance(reply, dict) and isinstance(reply.get("success"), bool)
        if not environment.faults and not sound:
            message = f'should reply {{"success": true or false, …}}, got {str(reply)[:100]}.'
            yield fault("reply-form", "warning", message)

    def _observe(self, live: Live, call: Call) -> Iterator[Finding]:
        """What the reply and the diff do not show; nothing is changed by looking."""
        try:
            facts = live.observe(call.tool, call.arguments)
        except WorkerLost:
            return  # the call itself will show it
        told: dict[str, Json] = {"call": call.model_dump(mode="json")}
        for name, values in _dict(facts.get("compared")).items():
            self._met[call.tool, name].update(map(str.casefold, values))
        self._looked_up.update((call.tool, name) for name in facts.get("looked up") or [])
        if facts.get("aliases"):
            message = f"{call.tool} replies with live parts of the state; only JSON between you and it makes copies."
            yield _finding("alias", "note", call.tool, message, **told)
        if names := facts.get("outside"):
            message = (
                f"{call.tool} changes {', '.join(names)}, which is no part of the state: no reset undoes it."
            )
            yield _finding("shared-state", "error", call.tool, message, **told)
        for name, how in _dict(facts.get("changes in JSON")).items():
            if how == "keys":
                message = f"{name} has keys that are no text; after a restore they are, and look-ups fail."
                yield _finding("int-keys", "error", name, f"{message} Annotate it as dict[int, …].", **told)
            elif how == "types":
                message = f"{name} holds tuples or sets, which a restore makes lists of."
                yield _finding("not-json", "warning", name, message, **told)

    def _int_keys(self, values: Values) -> Iterator[Finding]:
        """Tables with numbers as keys, which JSON holds as text, and tools that look them up with numbers."""
        known = parse_class(self._skeleton.source, self._skeleton.class_name).key_types
        numbered = {
            t for t, keys in values.keys.items() if keys and all(map(str.isdecimal, keys)) and t not in known
        }
        for tool in self._skeleton.tools:
            for name, schema in (tool.parameters.get("properties") or {}).items():
                looked = numbered & set(values.tables_like(name))
                if looked and _kinds(schema) == {"number"}:
                    message = f"{tool.name} looks up {', '.join(sorted(looked))} by a number, but its keys are text."
                    yield _finding("int-keys", "error", tool.name, f"{message} Annotate it as dict[int, …].")

    def _ids(self, *values: Values) -> Iterator[Finding]:
        """Arguments named after an id that were compared with other fields, and never with an id."""
        ids, texts = (
            set[str]().union(*parts) for parts in zip(*((v.ids, v.others) for v in values), strict=True)
        )
        for (tool, name), met in self._met.items():
            others = met & texts - ids
            if not is_id(name) or not others or met & ids:
                continue
            severity: Severity = "warning" if (tool, name) in self._looked_up else "error"
            message = f"{tool} compares {name} with {', '.join(sorted(others)[:3])}, which is no id; no id can match."
            yield _finding("id-compared", severity, tool, message, compared=sorted(others)[:20])

    def _wrong_types(self, live: Live) -> Iterator[Finding]:
        """Tools that raise on a wrong type; the library refuses such calls before, other runtimes do not."""
        given = {call.tool: call.arguments for call in self._calls}
        for tool in self._skeleton.tools:
            reader, raised = ArgumentsOf(tool), dict[str, Json]()
            for name, arguments in wrong(tool, given.get(tool.name, {})):
                if name in raised or not reader.read(arguments)[1]:
                    continue
                try:
                    error = _dict(live.observe(tool.name, arguments).get("error"))
                except WorkerLost as lost:
                    error = {"type": str(lost)}
                if error:
                    raised[name] = {"value": arguments[name], "error": error}
            if raised:
                message = f"{tool.name} raises on a wrong type of {', '.join(raised)}."
                yield _finding("wrong-type-raises", "note", tool.name, message, **raised)

    # Again

    def repeat(self) -> Iterator[Finding]:
        """The same calls again: in a fresh worker, and with a restore after every few of them."""
        plain, pausing = self._run(every=0), self._run(every=5)
        if (difference := self._difference(plain, pausing)) is None:
            return
        if (again := self._difference(plain, self._run(every=0))) is not None:
            yield _finding(
                "not-repeatable", "error", again[0], f"{again[0]} differs in a replay.", **again[1]
            )
        else:
            message = f"{difference[0]} differs after a restore: it keeps state where no snapshot sees it."
            yield _finding("restore-loses", "error", difference[0], message, **difference[1])

    def _run(self, *, every: int) -> tuple[list[Json], State]:
        with self._environment() as environment:
            environment.reset()
            replies = []
            for place, call in enumerate(self._calls[:_REPLAYED]):
                if every and place % every == every - 1:
                    environment.restore(environment.snapshot())
                replies.append(environment.call(call.tool, call.arguments))
            return replies, environment.state

    def _difference(
        self, one: tuple[list[Json], State], other: tuple[list[Json], State]
    ) -> tuple[str, dict[str, Json]] | None:
        for call, first, second in zip(self._calls, one[0], other[0], strict=False):
            if not same(first, second):
                return call.tool, {"call": call.model_dump(mode="json"), "first": first, "second": second}
        return None if same(one[1], other[1]) else (self._skeleton.class_name, {})


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
