"""The referee: proves by running that an environment keeps its contract, as Gymnasium's `check_env` does.

Some of it holds by construction of the library, some of it depends on the class. Tested here is what the
class can get wrong: it loads; every tool is there and described; reads change nothing; refused calls change
nothing; tools raise on no argument that their schema admits; the same seed gives the same bytes; replies and
states are JSON and no live parts of the state; a snapshot restores. The arguments are made from the schemas
and from values that the state holds; they know nothing of the world, so silence of the referee is no proof
that tools do what they say (`audits` asks that).
"""

import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

from envscaler.error import EnvironmentLost, SourceError
from envscaler.schema import Call, Finding, Json, Severity, Skeleton, Tool
from envscaler.world.change import State, same
from envscaler.world.environment import Environment
from envscaler.world.lint import lint
from envscaler.world.source import read_tools
from envscaler.world.witness import succeeded

ROUNDS = 3
"""Calls of each tool."""
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


def check_environment(
    skeleton: Skeleton, state: Mapping[str, Json] | None = None, *, seed: int = 0, **options: Any
) -> list[Finding]:
    """What an environment gets wrong; empty, or notes only, when it keeps the contract.

    Args:
        skeleton: the class and its tools.
        state: a state to play in; None for the class's own, which is mostly empty and shows less.
        seed: of the calls that are made, and of the environment.
        options: of `Environment`, e.g. `timeout` and `isolation`.
    """
    found = [f for f in lint(skeleton.source, skeleton.class_name) if f.severity != "note"]
    try:
        found += _check_tools(skeleton)
        with Environment(skeleton, state or {}, seed=seed, **options) as environment:
            environment.reset()
            calls = list(_calls(skeleton, environment.state, seed))
            found += _check_calls(environment, skeleton, calls)
        found += _check_repeats(skeleton, state, calls[:60], seed, options)
    except SourceError as error:
        found.append(_finding("no-load", "error", skeleton.class_name, str(error)))
    except EnvironmentLost as error:
        found.append(_finding("lost", "error", skeleton.class_name, str(error)))
    return _once(found)


def _finding(kind: str, severity: Severity, where: str, message: str, **evidence: Json) -> Finding:
    return Finding(kind=kind, severity=severity, where=where, message=message, evidence=evidence)


def _once(findings: list[Finding]) -> list[Finding]:
    """One finding a kind and place: the first shows it as well as the tenth."""
    seen: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        seen.setdefault((finding.kind, finding.where), finding)
    order = {"error": 0, "warning": 1, "note": 2}
    return sorted(seen.values(), key=lambda finding: order[finding.severity])


def _check_tools(skeleton: Skeleton) -> Iterator[Finding]:
    there = {tool.name: tool for tool in read_tools(skeleton.source, skeleton.class_name)}
    for tool in skeleton.tools:
        if tool.name not in there:
            yield _finding(
                "no-method", "error", tool.name, f"The tool {tool.name} is declared but no public method."
            )
            continue
        given, real = (set(t.parameters.get("properties") or {}) for t in (tool, there[tool.name]))
        if given != real and not there[tool.name].parameters.get("additionalProperties"):
            message = f"{tool.name} declares the arguments {sorted(given)}, its method takes {sorted(real)}."
            yield _finding("schema", "warning", tool.name, message)
        if there[tool.name].mutates and not tool.mutates:
            yield _finding(
                "read-may-write", "note", tool.name, f"{tool.name} is declared a read; its code writes."
            )
    for name in there.keys() - {tool.name for tool in skeleton.tools}:
        yield _finding("undeclared", "note", name, f"The public method {name} is not declared a tool.")


# Calls


def _calls(skeleton: Skeleton, state: State, seed: int) -> Iterator[Call]:
    """Calls of every tool with arguments its schema admits, in a shuffled order."""
    chance = random.Random(seed)
    values = list(_scalars(state))
    tools = [tool for tool in skeleton.tools for _ in range(ROUNDS)]
    chance.shuffle(tools)
    for tool in tools:
        yield Call(tool=tool.name, arguments=_arguments(tool, values, chance))


def _scalars(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _scalars(part)
    elif isinstance(value, list):
        for part in value:
            yield from _scalars(part)
    else:
        yield value


def _arguments(tool: Tool, values: list[Json], chance: random.Random) -> dict[str, Json]:
    required = tool.parameters.get("required") or []
    properties = tool.parameters.get("properties") or {}
    chosen = {n: s for n, s in properties.items() if n in required or chance.random() < 0.5}
    return {name: example(schema, values, chance) for name, schema in chosen.items()}


def example(schema: Any, values: list[Json], chance: random.Random, depth: int = 0) -> Json:
    """A value that a schema admits, out of the state where one fits."""
    if not isinstance(schema, dict) or depth > 4:
        return "x"
    if schema.get("enum"):
        return chance.choice(schema["enum"])
    if schema.get("anyOf"):
        return example(chance.choice(schema["anyOf"]), values, chance, depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "array":
        return [example(schema.get("items"), values, chance, depth + 1) for _ in range(chance.randrange(3))]
    if kind == "object":
        parts = schema.get("properties") or {}
        return {name: example(part, values, chance, depth + 1) for name, part in parts.items()}
    return _scalar(str(kind), schema, values, chance)


def _scalar(kind: str, schema: dict[str, Any], values: list[Json], chance: random.Random) -> Json:
    if kind == "boolean":
        return chance.random() < 0.5
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", -1), schema.get("maximum", 9)
        number = chance.randint(int(low), max(int(low), int(high)))
        return float(number) + 0.5 if kind == "number" and chance.random() < 0.3 else number
    texts = [value for value in values if isinstance(value, str)]
    return (
        chance.choice(texts)
        if texts and chance.random() < 0.8
        else chance.choice(["", "unknown-1", "é\n\"'"])
    )


def _check_calls(environment: Environment, skeleton: Skeleton, calls: list[Call]) -> Iterator[Finding]:
    for call in calls:
        tool = skeleton.tool(call.tool)
        reply = environment.call(call.tool, call.arguments)
        evidence: dict[str, Json] = {
            "call": call.model_dump(mode="json"),
            "reply": reply,
            "diff": environment.diff,
        }
        for fault in environment.faults:
            yield _finding(
                "raises", "error", call.tool, f"{call.tool} {fault['kind']}: {fault['error']}.", **evidence
            )
        if environment.diff and tool is not None and not tool.mutates:
            yield _finding(
                "read-writes", "error", call.tool, f"{call.tool} is a read and changed the state.", **evidence
            )
        if environment.diff and not succeeded(reply):
            message = f"{call.tool} refused and changed the state all the same."
            yield _finding("refused-writes", "error", call.tool, message, **evidence)
        if _ADDRESS.search(str(reply)):
            message = f"{call.tool} replies with an address in memory, which is another one every time."
            yield _finding("not-repeatable", "error", call.tool, message, **evidence)
        if not environment.faults and (
            not isinstance(reply, dict) or not isinstance(reply.get("success"), bool)
        ):
            message = (
                f'Expected a reply {{"success": true or false, …}} from {call.tool}, got {str(reply)[:100]}.'
            )
            yield _finding("reply-form", "warning", call.tool, message, **evidence)


def _check_repeats(
    skeleton: Skeleton,
    state: Mapping[str, Json] | None,
    calls: list[Call],
    seed: int,
    options: dict[str, Any],
) -> Iterator[Finding]:
    """Twice the same calls, the second time interrupted by a snapshot: same replies, same state."""
    plain = _run(skeleton, state, calls, seed, options, pause=None)
    again = _run(skeleton, state, calls, seed, options, pause=len(calls) // 2)
    for call, one, other in zip(calls, plain[0], again[0], strict=True):
        if not same(one, other):
            evidence: dict[str, Json] = {"call": call.model_dump(mode="json"), "first": one, "second": other}
            yield _finding(
                "not-repeatable",
                "error",
                call.tool,
                f"{call.tool} replied differently in a replay.",
                **evidence,
            )
            return
    if not same(plain[1], again[1]):
        yield _finding(
            "not-repeatable", "error", skeleton.class_name, "The same calls ended in another state."
        )


def _run(
    skeleton: Skeleton,
    state: Mapping[str, Json] | None,
    calls: list[Call],
    seed: int,
    options: dict[str, Any],
    pause: int | None,
) -> tuple[list[Json], State]:
    with Environment(skeleton, state or {}, seed=seed, **options) as environment:
        environment.reset()
        replies = []
        for place, call in enumerate(calls):
            if place == pause:
                environment.restore(environment.snapshot())
            replies.append(environment.call(call.tool, call.arguments))
        return replies, environment.state
