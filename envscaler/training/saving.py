"""Episodes as files that trainers read, so that their loaders neither pad nor lose anything.

Loaders put the values of a column under one type. Objects of different shapes (the arguments of two tools, the
schemas of two environments) would be filled up with nulls, or refused, so what differs in shape is written as text,
or where its reader is known to keep it. No loader is imported here; the tests run the real ones.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pandas.io.json import ujson_dumps, ujson_loads  # type: ignore[attr-defined]

from envscaler.episode import system_message
from envscaler.error import ParameterError, StoreError
from envscaler.given import a_path, many
from envscaler.model.request import Message
from envscaler.record import as_dict
from envscaler.schema import Rollout, Scenario, Skeleton
from envscaler.store import Records, read_text, write_text
from envscaler.training.picking import left_out, read_call

Form = Literal["trl", "llamafactory"]
"""Whose loader reads a file; see `save_sft`."""
INFO = "dataset_info.json"
"""Where LlamaFactory looks up its data sets."""


def save_sft(
    rollouts: Iterable[Rollout],
    path: str | Path,
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    *,
    form: Form = "trl",
    reasoning: bool = True,
) -> Records[Rollout]:
    """Write episodes as training data, JSON Lines, an episode a line; return those written, failures beside them.

    `trl`: the columns `messages` (OpenAI form, but arguments are objects, as chat templates take them), `tools` (a
    JSON string, which `SFTTrainer` reads) and `metadata` (a JSON string: ids, agent, mode, seed, reward). A message
    has only the keys it needs, so `load_dataset("json", …)` of the `datasets` that TRL asks for (4.7 or later) keeps
    each as it is. An older one would fill them up with nulls.

    `llamafactory`: the columns `conversations` (`from`, `value`), `system`, `tools` and `metadata`, all text, and an
    entry in `dataset_info.json` beside the file. Calls of one message are one turn, and so are their replies, joined
    as LlamaFactory joins them. Its own OpenAI form is not used: it drops what a message says beside its calls.

    In both, what comes after the last message of the assistant is left out, as nothing is learnt from it, and a
    system message that lists the tools itself gives way to one that does not: chat templates write `tools` into it.
    An episode is a failure and not written whose calls cannot be read; for TRL also one with a number that `datasets`
    would alter (of more than ten decimals or 64 bits), for LlamaFactory one whose turns do not alternate.

    Args:
        rollouts: the episodes, e.g. those of `pick_trajectories`; no filter is applied here.
        path: the file; its name without the ending is the data set's in `dataset_info.json`.
        skeletons: the worlds they were played in.
        scenarios: the scenarios that were played.
        form: whose loader is to read it.
        reasoning: whether the agent's thoughts are kept: as `reasoning_content`, or as `<think>` before the text.

    Raises:
        ParameterError: there is no such form.
        StoreError: the file or `dataset_info.json` cannot be written.
    """
    if form not in get_args(Form):
        raise ParameterError(f"Expected a form of {' or '.join(get_args(Form))}, got {form!r}.")
    worlds = {skeleton.id: skeleton for skeleton in many(skeletons, Skeleton)}
    homes = {s.id: worlds[s.skeleton_id] for s in many(scenarios, Scenario) if s.skeleton_id in worlds}
    written: Records[Rollout] = Records()
    rows: list[dict[str, Any]] = []
    for rollout in many(rollouts, Rollout):
        try:
            rows.append(_row(rollout, homes.get(rollout.scenario_id), form, reasoning))
            written.append(rollout)
        except ParameterError as error:
            written.failures.append(left_out(rollout, type(error).__name__, str(error)))
    # A loader learns the columns from the first rows: one whose messages differ in their keys must be among them.
    rows.sort(key=lambda row: not any("tool_calls" in message for message in row.get("messages", ())))
    path = a_path(path)
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    if form == "llamafactory":
        _register(path)
    return written


def _row(rollout: Rollout, skeleton: Skeleton | None, form: Form, reasoning: bool) -> dict[str, Any]:
    if skeleton is None:
        raise ParameterError(
            f"Expected scenario {rollout.scenario_id} and its skeleton, got one without; add it."
        )
    messages = _exchange(rollout, skeleton, reasoning)
    columns = _conversational(messages) if form == "trl" else _sharegpt(messages)
    told = rollout.model_dump(include={"id", "scenario_id", "agent", "conversation", "seed"})
    metadata = {**told, "skeleton_id": skeleton.id, "reward": rollout.reward}
    tools = [*(tool.function for tool in skeleton.tools), *_beside(rollout, skeleton)]
    return {**columns, "tools": _text(tools), "metadata": _text(metadata)}


def _conversational(messages: list[Message]) -> dict[str, Any]:
    """TRL's form, where the loader reads the arguments by a parser of its own."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            if not survives(call["function"]["arguments"]):
                raise ParameterError(
                    f"Expected arguments that are read back as they are, got {call['function']!r:.200} with a number "
                    "that `datasets` would alter."
                )
    return {"messages": messages}


def survives(arguments: dict[str, Any]) -> bool:
    """Whether `datasets` reads an object back as it is: it keeps ten decimals at most, and 64 bits of whole numbers."""
    # It uses these two. Where the second refuses a row, the loader pads the whole file without a word.
    try:
        return bool(ujson_loads(ujson_dumps(arguments)) == arguments)
    except (ValueError, OverflowError, RecursionError):
        return False


def _beside(rollout: Rollout, skeleton: Skeleton) -> list[dict[str, Any]]:
    """What the episode offered beside the world's tools: `finish`, where that was asked for."""
    # In what was read back, all tools stand together.
    offered = rollout.extra.get("offered") or rollout.extra.get("tools")
    given = offered if isinstance(offered, list) else []
    functions = [(tool, as_dict(as_dict(tool).get("function"))) for tool in given]
    return [tool for tool, f in functions if f and skeleton.tool(str(f.get("name"))) is None]


def _exchange(rollout: Rollout, skeleton: Skeleton, reasoning: bool) -> list[Message]:
    """The messages up to the last one of the assistant, each with the keys it needs and no other."""
    said = [place for place, message in enumerate(rollout.messages) if message.get("role") == "assistant"]
    names: dict[str, str] = {}
    found = []
    for message in rollout.messages[: said[-1] + 1 if said else 0]:
        told: Message = {"role": message["role"], "content": str(message.get("content") or "")}
        if message["role"] == "system" and _lists_tools(told["content"], skeleton):
            told = system_message(skeleton, ())
        elif message["role"] == "tool":
            answered = message.get("tool_call_id") or ""
            told |= {"tool_call_id": answered, "name": names.get(answered, "")}
        elif message["role"] == "assistant":
            if reasoning and message.get("reasoning_content"):
                told["reasoning_content"] = message["reasoning_content"]
            if calls := [
                _sayable(call, number) for number, call in enumerate(message.get("tool_calls") or ())
            ]:
                told["tool_calls"] = calls
                names |= {call["id"]: call["function"]["name"] for call in calls}
        found.append(told)
    if not found:
        raise ParameterError("Expected an episode in which the agent says something, got one without.")
    return found


def _lists_tools(system: str, skeleton: Skeleton) -> bool:
    """Whether a system message has the tools in it, as that of an agent without function calling."""
    return bool(skeleton.tools) and all(json.dumps(tool.name) in system for tool in skeleton.tools)


def _sayable(call: Any, number: int) -> dict[str, Any]:
    read = read_call(call)
    if read is None:
        raise ParameterError(
            f"Expected calls with a name and a JSON object of arguments, got {call!r:.200}; pick_trajectories leaves "
            "such episodes out."
        )
    name, arguments = read
    return {
        "id": call.get("id") or f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# LlamaFactory's form

_TAGS = {"user": "human", "assistant": "gpt", "tool": "observation"}
_JOINT = "\n</tool_response>\n<tool_response>\n"
"""What LlamaFactory puts between the replies to several calls of one message."""


def _sharegpt(messages: Sequence[Message]) -> dict[str, Any]:
    """System message and turns; humans and observations alternate with what the assistant says or calls."""
    system = messages[0]["content"] if messages[0]["role"] == "system" else ""
    turns: list[dict[str, Any]] = []
    for message in messages[1:] if messages[0]["role"] == "system" else messages:
        tag = "function_call" if message.get("tool_calls") else _TAGS.get(message["role"], message["role"])
        value = _value(message)
        if tag == "observation" and turns and turns[-1]["from"] == tag:
            turns[-1]["value"] += _JOINT + value
        else:
            turns.append({"from": tag, "value": value})
    for place, turn in enumerate(turns):
        expected = ("gpt", "function_call") if place % 2 else ("human", "observation")
        if turn["from"] not in expected:
            raise ParameterError(
                f"Expected turns of user or tools and of the assistant by turns, got {turn['from']!r} as turn "
                f"{place + 1}; LlamaFactory skips such an episode."
            )
    return {"conversations": turns, "system": system}


def _value(message: Message) -> str:
    """What a turn says. `<\\/` is the same text to a reader of JSON and closes no mark."""
    if message["role"] == "tool":
        return message["content"].replace("</tool_response>", "<\\/tool_response>")
    thought = message.get("reasoning_content")
    words = (f"<think>\n{thought}\n</think>\n\n" if thought else "") + message["content"]
    if not (calls := message.get("tool_calls")):
        return words
    functions = [
        {"name": call["function"]["name"], "arguments": call["function"]["arguments"]} for call in calls
    ]
    told = _text(functions).replace("</", "<\\/")
    if "tool_call>" in words:
        raise ParameterError("Expected thoughts and text without the mark <tool_call>, got one with it.")
    # Without words beside them calls are plain JSON, which every template takes.
    return f"{words}\n<tool_call>{told}</tool_call>" if message["content"] else words + told


def _register(path: Path) -> None:
    """Enter a file in the `dataset_info.json` beside it."""
    beside = path.with_name(INFO)
    try:
        known = json.loads(read_text(beside)) if beside.exists() else {}
    except ValueError as error:
        raise StoreError(f"Expected JSON in {beside}, but {error}. Mend it or move it away.") from error
    if not isinstance(known, dict):
        raise StoreError(f"Expected a dict of data sets in {beside}, got {type(known).__name__}.")
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    known[path.stem] = {"file_name": path.name, "formatting": "sharegpt", "columns": columns}
    write_text(beside, json.dumps(known, ensure_ascii=False, indent=2) + "\n")
