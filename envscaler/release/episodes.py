"""Recorded episodes in the published forms, field by field: the result form, and the form of training data.

A result is `{task_info, tools, messages, user_messages, trajectory, total_reward, …}`; its trajectory has one entry a
call, `{step, action, observation, …}`, with tool replies as Python prints them. Training data has no trajectory and no
reward, and holds `tools`, `messages` and `user_messages` as text. Either way a step of ours is one recorded action.

Arguments are taken from the messages where both have them: in a recorded trajectory they were live parts of the state,
and show what a later call wrote into them. This module replays nothing (`world.replay` does).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from envscaler.acting.wording import parse_calls
from envscaler.error import ParameterError
from envscaler.release.exact import Row, RowError, Shape
from envscaler.release.shapes import env_id, listed, name_in, task_id
from envscaler.schema import Call, Json, Rollout, Scenario, Skeleton, Step

Form = Literal["result", "training"]
"""What a trajectory is written as; see `write_trajectories`."""
TALK = "chat_with_user"
"""The action that stands for a message without a tool call."""
RECORDED = "recorded"
"""The agent of an episode that was read and is not ours."""
FINISHED = "Task finished"
RAISED = "Error: <Exception>"
"""How the observation begins that ends a recorded episode because its tool raised."""
_TEXTS = frozenset({"tools", "messages", "user_messages", "task_info", "trajectory", "final_observation"})


def trajectories(
    skeletons: Iterable[Skeleton] = (), scenarios: Iterable[Scenario] = (), form: Form = "result"
) -> Shape[Rollout]:
    """The shape of an episode in one of some scenarios; without any, `scenario_id` is the published `task_id`."""
    if form not in get_args(Form):
        raise ParameterError(f"Expected a form out of {', '.join(get_args(Form))}, got {form!r}.")
    known = list(scenarios)
    worlds, by_id = {s.id: s for s in skeletons}, {s.id: s for s in known}
    by_name = {task_id(s): s.id for s in known}

    def write(rollout: Rollout) -> Row:
        scenario = by_id.get(rollout.scenario_id)
        row = _write(rollout, scenario, worlds.get(scenario.skeleton_id) if scenario else None)
        return row if form == "result" else _training_row(row)

    return Shape(
        kind=Rollout,
        read=lambda row: _read(row, by_name),
        write=write,
        texts=_TEXTS,
        as_text=frozenset({"tools", "messages", "user_messages"} if form == "training" else ()),
        another=form == "training",
        made=frozenset({"total_reward"}),
        own=lambda rollout: rollout.agent != RECORDED,
    )


# Reading


def _read(row: Row, scenario_ids: Mapping[str, str]) -> dict[str, Any]:
    info = row.get("task_info")
    if not isinstance(info, dict) or not name_in(info, "task_id"):
        raise RowError(f"task_info: expected an object with a task_id, or one as text, got {info!r:.80}.")
    messages = listed(row, "messages")
    if odd := [m for m in messages if not isinstance(m, dict) or not isinstance(m.get("role"), str)]:
        raise RowError(f"messages: expected objects with a role, got {odd[0]!r:.80} among them.")
    recorded = listed(row, "trajectory")
    steps = list(_recorded_steps(recorded, messages) if recorded else _told_steps(messages))
    conversation = row.get("traj_type") == "conversation" or bool(row.get("user_messages"))
    raised = bool(steps) and str(steps[-1].observation).startswith(RAISED)
    ended = "stopped" if conversation else "finished"
    whole = row.get("terminated", True) and not row.get("truncated")
    return {
        "scenario_id": scenario_ids.get(name_in(info, "task_id"), name_in(info, "task_id")),
        "agent": RECORDED,
        "conversation": conversation,
        "messages": messages,
        "trajectory": steps,
        "final_state": {},
        "outcomes": [],
        "ending": "failed" if raised else ended if whole else "truncated",
        "cause": "environment" if raised else "",
        "extra": {"total_reward": row["total_reward"]} if "total_reward" in row else {},
    }


def _recorded_steps(recorded: Sequence[Json], messages: Sequence[Row]) -> Iterator[Step]:
    """A step for each entry that has an action; the first has only the task."""
    taken = [entry for entry in recorded if isinstance(entry, dict) and "action" in entry]
    said = [message for message in messages if message.get("role") == "assistant"]
    for number, entry in enumerate(taken):
        # Only where nothing is missing does the n-th message belong to the n-th action.
        message = said[number] if len(said) == len(taken) else {}
        yield _step(number, entry["action"], entry.get("observation"), message)


def _step(number: int, action: Json, observation: Json, message: Row) -> Step:
    seen = observation if isinstance(observation, dict) else {"content": observation}
    content = seen.get("content")
    if not isinstance(action, dict) or not isinstance(action.get("name"), str):
        text = action if isinstance(action, str) else None
        return Step(action={"role": "assistant", "content": text}, observation=content)
    arguments = action.get("arguments")
    if action["name"] == TALK:
        words = arguments.get("content") if isinstance(arguments, dict) else None
        return Step(action={"role": "assistant", "content": words}, observation=content)
    told = _calls_in(message)[:1]
    text = told[0][1] if told and told[0][0] == action["name"] else json.dumps(arguments, ensure_ascii=False)
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": action["name"], "arguments": text},
    }
    spoken = {"role": "assistant", "content": None, "tool_calls": [call]}
    if seen.get("type") != "tool":
        return Step(action=spoken, observation=content)
    return Step(
        action=spoken, observation=[{"role": "tool", "tool_call_id": f"call_{number}", "content": content}]
    )


def _told_steps(messages: Sequence[Row]) -> Iterator[Step]:
    """A step for each message of the assistant, with what came back up to the next one."""
    places = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    for place, after in zip(places, [*places, len(messages)][1:], strict=True):
        calls, content = _calls_in(messages[place]), messages[place].get("content")
        entries = [
            {"id": f"call_{place}_{n}", "type": "function", "function": {"name": name, "arguments": text}}
            for n, (name, text) in enumerate(calls)
        ]
        action = {"role": "assistant", "content": content, **({"tool_calls": entries} if entries else {})}
        replies = [_content(message) for message in messages[place + 1 : after]]
        if entries and replies and any(_is_reply(message) for message in messages[place + 1 : after]):
            seen: Json = [
                {"role": "tool", "tool_call_id": entry["id"], "content": reply}
                for entry, reply in zip(entries, replies, strict=False)
            ]
        else:
            seen = "\n".join(map(str, replies))
        yield Step(action=action, observation=seen)


_REPLY = "<tool_response>"


def _is_reply(message: Row) -> bool:
    return message["role"] == "tool" or str(message.get("content")).lstrip().startswith(_REPLY)


def _content(message: Row) -> Json:
    text = message.get("content")
    if isinstance(text, str) and text.lstrip().startswith(_REPLY):
        return text.strip().removeprefix(_REPLY).removesuffix("</tool_response>").strip("\n")
    return text


def _calls_in(message: Row) -> list[tuple[str, str]]:
    """Name and arguments, as JSON text, of each call in a message, as fields or written out as text."""
    entries = message.get("tool_calls")
    if isinstance(entries, list) and entries:
        functions = [e.get("function", e) for e in entries if isinstance(e, dict)]
        return [(str(f.get("name")), _as_text(f.get("arguments"))) for f in functions if isinstance(f, dict)]
    text = message.get("content")
    return list(parse_calls(text).calls) if isinstance(text, str) and "<tool_call>" in text else []


def _as_text(arguments: Json) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


# What a replay needs


def recorded_calls(rollout: Rollout) -> list[tuple[Call, Json]]:
    """Each call of a recorded episode with the reply that was recorded for it, in order."""
    found: list[tuple[Call, Json]] = []
    for step in rollout.trajectory:
        calls = step.action.get("tool_calls") or []
        replies = step.observation if isinstance(step.observation, list) else [{"content": step.observation}]
        for entry, reply in zip(calls, replies, strict=False):
            function = entry["function"]
            try:
                arguments = json.loads(function["arguments"])
            except (ValueError, RecursionError):
                arguments = None
            given = arguments if isinstance(arguments, dict) else {}
            found.append((Call(tool=function["name"], arguments=given), reply.get("content")))
    return found


def recorded_reward(rollout: Rollout) -> float | None:
    """The reward that was recorded, None where none was: training data has none."""
    reward = rollout.extra.get("total_reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        return rollout.reward
    return float(reward)


# Writing


def _write(rollout: Rollout, scenario: Scenario | None, skeleton: Skeleton | None) -> Row:
    opening = next((str(m.get("content")) for m in rollout.messages if m.get("role") == "user"), "")
    entries = [{"step": 0, "observation": opening}, *_entries(rollout)]
    users = [
        m for m in rollout.messages if m.get("role") in ("user", "assistant") and not m.get("tool_calls")
    ]
    row = {
        "task_info": {
            "env_id": env_id(skeleton) if skeleton else "",
            "task_id": task_id(scenario) if scenario else rollout.scenario_id,
            "task": scenario.task if scenario else opening,
        },
        "tools": [*(t.function for t in skeleton.tools), *_offered(rollout)] if skeleton else [],
        "messages": rollout.messages,
        "user_messages": users if rollout.conversation else None,
        "trajectory": entries,
        "terminated": rollout.ending in ("finished", "stopped"),
        "truncated": rollout.ending == "truncated",
        "final_observation": entries[-1]["observation"],
        "steps": len(entries) - 1,
    }
    return {**row, "total_reward": rollout.reward} if rollout.outcomes else row


def _offered(rollout: Rollout) -> list[Json]:
    """Tools that the agent had beside the world's; what a published row says there may be anything."""
    offered = rollout.extra.get("offered")
    return offered if isinstance(offered, list) and rollout.agent != RECORDED else []


def _entries(rollout: Rollout) -> list[Row]:
    """An entry for each call or message; what happened at the end stands in the last."""
    pairs = [pair for step in rollout.trajectory for pair in _actions(step)]
    entries: list[Row] = [
        {
            "step": n,
            "action": action,
            "observation": seen,
            "reward": 0.0,
            "terminated": False,
            "truncated": False,
        }
        for n, (action, seen) in enumerate(pairs, start=1)
    ]
    if entries:
        entries[-1] |= {
            "reward": recorded_reward(rollout) or 0.0,
            "terminated": rollout.ending in ("finished", "stopped"),
            "truncated": rollout.ending == "truncated",
        }
    return entries


def _actions(step: Step) -> Iterator[tuple[Row, Row]]:
    calls = step.action.get("tool_calls") or []
    if not calls:
        words = step.observation if isinstance(step.observation, str) and step.observation else FINISHED
        yield (
            {"name": TALK, "arguments": {"content": step.action.get("content")}},
            {"type": "user", "content": words},
        )
    replies = _replies(step.observation)
    for place, call in enumerate(calls):
        name, text = call["function"]["name"], call["function"]["arguments"]
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError):
            arguments = text
        tool = {"type": "tool", "content": replies[place]} if place < len(replies) else None
        yield {"name": name, "arguments": arguments}, tool or {"type": "user", "content": step.observation}


def _replies(observation: Json) -> list[Json]:
    entries = observation if isinstance(observation, list) else []
    return [entry.get("content") for entry in entries if isinstance(entry, dict)]


def _training_row(row: Row) -> Row:
    kind = "conversation" if row["user_messages"] else "non_conversation"
    kept = {name: row[name] for name in ("task_info", "tools", "messages", "user_messages", "steps")}
    return {"traj_type": kind, **kept, "messages": alternating(row["messages"])}


def alternating(messages: Sequence[Row]) -> list[Row]:
    """The exchange as the published training recipe takes it: one call a message, each followed by its reply.

    Every message of the assistant has `reasoning_content`, empty where there was none.
    """
    told: list[Row] = []
    waiting: list[Row] = []
    for message in messages:
        if message.get("role") == "tool" and waiting:
            told += [waiting.pop(0), message]
            continue
        told += waiting
        parts = list(_apart(message)) if message.get("role") == "assistant" else [message]
        waiting = parts if message.get("tool_calls") else []
        told += [] if waiting else parts
    return [*told, *waiting]


def _apart(message: Row) -> Iterator[Row]:
    """A message for each call of one; words and thoughts go with the first."""
    words = {name: message.get(name) or "" for name in ("content", "reasoning_content")}
    for number, call in enumerate(message.get("tool_calls") or [None]):
        said = {"role": "assistant", **(dict.fromkeys(words, "") if number else words)}
        yield {**said, "tool_calls": [call]} if call else said
