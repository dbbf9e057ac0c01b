"""Environments and scenarios in the published form, field by field.

An environment is a class with its tools as OpenAI function schemas, a scenario a task in one with its check functions.
What has no place in the one or the other is `exact`'s business; recorded episodes are `episodes`'. Nothing is executed,
and nothing mended: attribute names that lost their first letters are read as they stand.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

from envscaler.error import ParameterError, SourceError
from envscaler.record import as_dict
from envscaler.release.exact import Row, RowError, Shape
from envscaler.release.foreign import guarded
from envscaler.schema import Entity, Json, Scenario, Skeleton, Tool
from envscaler.world.source import parse_class, read_tools

Guards = Literal["apart", "added", "within"]
"""Where guards go in the published form; see `write_scenarios`."""
_COMMA = re.compile(r",(?![^()]*\)|[^\[\]]*\])")
"""A comma between attributes, not one in brackets."""
_NOTED = re.compile(r"(\w+) \((.*)\)", flags=re.S)
"""An attribute with a note in brackets."""
_WRITES = {"query": False, "state_change": True}


def env_id(skeleton: Skeleton) -> str:
    """The name that an environment has in published data."""
    return name_in(skeleton.extra, "env_id") or skeleton.id


def task_id(scenario: Scenario) -> str:
    """The name that a scenario has in published data."""
    return name_in(scenario.extra, "task_id") or scenario.id


def name_in(row: Row, field: str) -> str:
    """A name, which may be a number; empty where there is none."""
    name = row.get(field)
    return str(name) if isinstance(name, str | int) and not isinstance(name, bool) else ""


def _name(row: Row, field: str) -> Row:
    return {field: row[field]} if name_in(row, field) else {}


# Environments


def environments() -> Shape[Skeleton]:
    """The shape of an environment."""
    texts = frozenset(
        ("tools", "env_func_details", "env_structure", "state_space_definition", "constraints_rules", "operation_list")
    )  # fmt: skip
    return Shape(Skeleton, _read_environment, _write_environment, "env_id", texts=texts)


def _read_environment(row: Row) -> dict[str, Any]:
    source, class_name = text_in(row, "env_class_code"), text_in(row, "env_class_name", "")
    said = [(o.get("operation_name"), str(o.get("operation_type"))) for o in _rows_in(row, "operation_list")]
    mutates = {name: _WRITES[kind] for name, kind in said if isinstance(name, str) and kind in _WRITES}
    try:
        class_name = class_name or parse_class(source).class_name
        ours = {tool.name: tool for tool in _tools_of(source, class_name)}
    except SourceError as error:
        raise RowError(f"env_class_code: {error}") from error
    tools = [_tool(schema, ours, mutates) for schema in _rows_in(row, "tools")]
    return {
        "theme_id": "",
        "title": text_in(row, "environment_summary", class_name),
        "summary": text_in(row, "environment_introduction", ""),
        "class_name": class_name,
        "source": source,
        "state": [_entity(entity) for entity in _rows_in(row, "state_space_definition")],
        "rules": [{"text": str(rule)} for rule in listed(row, "constraints_rules")],
        "tools": tools if "tools" in row else [_meant(tool, mutates) for tool in ours.values()],
        "extra": _name(row, "env_id"),
    }


@lru_cache(maxsize=8)
def _tools_of(source: str, class_name: str) -> tuple[Tool, ...]:
    # Writing a row reads it several times, and most of what that takes is this.
    return tuple(read_tools(source, class_name))


@lru_cache(maxsize=8)
def _head_of(source: str, class_name: str) -> str:
    try:
        return parse_class(source, class_name).head
    except SourceError:
        return ""


def _meant(tool: Tool, mutates: dict[str, bool]) -> Row:
    return tool.model_dump() | {"mutates": mutates.get(tool.name, tool.mutates)}


def _tool(schema: Row, ours: dict[str, Tool], mutates: dict[str, bool]) -> Row:
    function = schema.get("function", schema)
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RowError(f"tools: expected function schemas with names, got {schema!r:.80}.")
    name, parameters = function["name"], as_dict(function.get("parameters"))
    known = mutates.get(name, ours[name].mutates if name in ours else True)
    about = str(function.get("description") or "")
    return {"name": name, "description": about, "parameters": parameters, "mutates": known}


def odd_parameters(skeleton: Skeleton) -> dict[str, Json]:
    """What tools were published to take where that is no object, by the tool's name; they are read as taking nothing.

    What was read otherwise than it stands is kept in `extra`.
    """
    tools = skeleton.extra.get("tools")
    functions = [as_dict(as_dict(t).get("function", t)) for t in (tools if isinstance(tools, list) else [])]
    return {
        str(function.get("name")): said
        for function in functions
        if (said := function.get("parameters")) is not None and not isinstance(said, dict)
    }


def _entity(row: Row) -> Row:
    words = row.get("attributes") or ""
    names = _COMMA.split(words) if isinstance(words, str) else words
    if not isinstance(names, list):
        raise RowError(f"state_space_definition: expected attributes as a text or a list, got {words!r:.60}.")
    attributes = [_attribute(name) for name in names if name]
    about = str(row.get("description") or "")
    return {"name": str(row.get("entity") or ""), "attributes": attributes, "description": about}


def _attribute(words: Any) -> Row:
    if isinstance(words, dict):
        return {key: str(words.get(key) or "") for key in ("name", "type", "description")}
    noted = _NOTED.fullmatch(str(words).strip())
    return {"name": noted[1], "description": noted[2]} if noted else {"name": str(words).strip()}


def _write_environment(skeleton: Skeleton) -> Row:
    return {
        "env_id": env_id(skeleton),
        "environment_summary": skeleton.title,
        "environment_introduction": skeleton.summary,
        "state_space_definition": [_entity_row(entity) for entity in skeleton.state],
        "constraints_rules": [rule.text for rule in skeleton.rules],
        "operation_list": [_operation(tool) for tool in skeleton.tools],
        "env_class_name": skeleton.class_name,
        "env_class_code": skeleton.source,
        "env_class_def": _head_of(skeleton.source, skeleton.class_name),
        "tools": [tool.function for tool in skeleton.tools],
    }


def _entity_row(entity: Entity) -> Row:
    names = ", ".join(attribute.name for attribute in entity.attributes)
    return {"entity": entity.name, "attributes": names, "description": entity.description}


def _operation(tool: Tool) -> Row:
    kind = "state_change" if tool.mutates else "query"
    return {
        "operation_name": tool.name,
        "operation_description": tool.description,
        "operation_type": kind,
    }


# Scenarios


def scenarios(skeletons: Iterable[Skeleton] = (), guards: Guards = "apart") -> Shape[Scenario]:
    """The shape of a scenario in one of some environments; without any, `skeleton_id` is the published `env_id`."""
    if guards not in get_args(Guards):
        raise ParameterError(f"Expected guards to be one of {', '.join(get_args(Guards))}, got {guards!r}.")
    known = list(skeletons)
    by_name, by_id = {env_id(s): s for s in known}, {s.id: s for s in known}

    def read(row: Row) -> dict[str, Any]:
        return _read_scenario(row, by_name)

    def write(scenario: Scenario) -> Row:
        return _write_scenario(scenario, by_id, guards)

    texts = frozenset({"init_config", "checklist_with_func", "checklist"})
    return Shape(Scenario, read, write, "task_id", texts=texts, another=guards != "apart")


def _read_scenario(row: Row, skeletons: dict[str, Skeleton]) -> dict[str, Any]:
    name, state = name_in(row, "env_id"), row.get("init_config")
    if not name:
        raise RowError(f"env_id: expected a name, got {row.get('env_id')!r:.60}.")
    if skeletons and name not in skeletons:
        raise RowError(
            f"env_id: there is no environment {name!r} among the {len(skeletons)} that were given."
        )
    if not isinstance(state, dict):
        raise RowError(f"init_config: expected an object, or one as text, got {state!r:.80}.")
    return {
        "skeleton_id": skeletons[name].id if skeletons else name,
        "initial_state": state,
        "task": text_in(row, "task"),
        "checks": [_check(check) for check in _rows_in(row, "checklist_with_func")],
        "extra": _name(row, "task_id"),
    }


def _check(row: Row) -> Row:
    # A check without a function is one that cannot be executed: it stays in the count, and is broken when graded.
    return {"item": str(row.get("check_item") or ""), "source": str(row.get("check_func") or "")}


def _write_scenario(scenario: Scenario, skeletons: dict[str, Skeleton], guards: Guards) -> Row:
    skeleton = skeletons.get(scenario.skeleton_id)
    if skeletons and skeleton is None:
        raise ParameterError(
            f"Expected the skeleton {scenario.skeleton_id} of scenario {scenario.id} among the "
            f"{len(skeletons)} given, but it is not there."
        )
    checks: Sequence[tuple[str, str]] = guarded(scenario, guards)
    return {
        "env_id": env_id(skeleton) if skeleton else scenario.skeleton_id,
        "env_class_name": skeleton.class_name if skeleton else "",
        "task_id": task_id(scenario),
        "init_config": scenario.initial_state,
        "task": scenario.task,
        "checklist_with_func": [{"check_item": item, "check_func": source} for item, source in checks],
    }


# Parts of a row


def text_in(row: Row, name: str, default: str | None = None) -> str:
    """A text of a row.

    Raises:
        RowError: it is no text, or it is missing and there is no default.
    """
    value = row.get(name, default)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise RowError(f"{name}: expected a text, got {value!r:.60}.")
    return value


def listed(row: Row, name: str) -> list[Any]:
    """A list of a row, empty where it has none.

    Raises:
        RowError: it is no list.
    """
    value = row.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RowError(f"{name}: expected a list, or one as text, got {value!r:.60}.")
    return value


def _rows_in(row: Row, name: str) -> list[Row]:
    rows = listed(row, name)
    if odd := [entry for entry in rows if not isinstance(entry, dict)]:
        raise RowError(f"{name}: expected a list of objects, got {odd[0]!r:.60} in it.")
    return rows
