"""The built-in model: a hand-written stand-in for an LLM that needs no key, no network and no GPU.

    domain · pattern · phrase                what it knows: words of a world, ways of keeping books, sentences
    domains/*.yaml  patterns/*.py            the worlds and their parts
    build · recall                           a world put together; which world a prompt is about
    reader author tester checker poser player   its answers, by stage
    faults  checks  names                    mistakes on purpose; check functions; data

It gets what any model gets (the step and the rendered messages), reads its inputs back out of the named
blocks, and says `NothingFits` when it has nothing to say. It executes nothing and keeps nothing between
requests; every random choice comes from seed, step, blocks and sample. **Its behaviour is never a result.**
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from envscaler.error import NothingFits
from envscaler.model.builtin import author, checker, player, poser, reader, tester
from envscaler.model.builtin.recall import need
from envscaler.model.prompt import blocks as read_blocks
from envscaler.model.request import Reply, Request, generator_of

Answer = Callable[[Mapping[str, str], np.random.Generator, float], dict[str, Any] | str]

NEEDS = {
    "tasks/judge": "request",
    "themes/infer": "request",
    "skeletons/plan_state": "title summary example feedback",
    "skeletons/write_class": "title summary class_name entities rules feedback",
    "skeletons/plan_tools": "title summary class_source rules feedback",
    "skeletons/write_tool": "title summary class_source rules tools tool feedback",
    "skeletons/write_invariant": "title class_source rule feedback",
    "audits/initial_state": "title summary class_source entities rules feedback",
    "audits/probe": "summary tools state counts suggestion feedback",
    "audits/judge": "summary rules class_source tool_source call before after diff reply",
    "audits/repair": "summary rules class_source tool_source evidence feedback",
    "scenarios/state": "title summary class_source entities rules feedback",
    "scenarios/task": "summary entities tools rules state feedback",
    "scenarios/checklist": "summary state task feedback",
    "scenarios/check": "summary state task item kind feedback",
    "scenarios/witness": "summary tools rules state task feedback",
    "rollouts/act": "summary rules",
    "rollouts/act_schema": "summary rules tools",
    "rollouts/act_text": "summary rules tools",
    "rollouts/user": "task dialogue",
}
"""Step → the blocks it reads; a prompt that lacks one is not answered, as no model should have to guess."""

ANSWERS: dict[str, Answer] = {
    "tasks/judge": reader.judge,
    "themes/infer": reader.infer,
    "skeletons/plan_state": author.plan_state,
    "skeletons/write_class": author.write_class,
    "skeletons/plan_tools": author.plan_tools,
    "skeletons/write_tool": author.write_tool,
    "skeletons/write_invariant": author.write_invariant,
    "audits/initial_state": poser.state,
    "audits/probe": tester.probe,
    "audits/judge": checker.judge,
    "audits/repair": author.repair,
    "scenarios/state": poser.state,
    "scenarios/task": poser.task,
    "scenarios/checklist": poser.checklist,
    "scenarios/check": poser.check,
    "scenarios/witness": poser.witness,
    "rollouts/user": player.user,
}
"""Step → who answers it; the acting steps see the chat as well and are answered apart."""


class BuiltinModel:
    """The stand-in. Free, deterministic, offline.

    Args:
        seed: of every random choice.
        fault_rate: how often a tool it writes carries a fault.
    """

    name = "builtin"
    workers = 4

    def __init__(self, *, seed: int = 0, fault_rate: float = 0.15) -> None:
        self.seed = seed
        self.fault_rate = fault_rate

    def answer(self, request: Request) -> Reply:
        """Answer one request; raises `NothingFits` when no pattern or domain does."""
        blocks = read_blocks(request.messages)
        for name in NEEDS.get(request.step, "").split():
            need(blocks, name)
        rng = self._generator(request, blocks)
        if request.step == "rollouts/act":
            return _acted(player.act(blocks, request.messages, request.tools, rng), request)
        if request.step == "rollouts/act_text":
            return Reply(text=player.act_text(blocks, request.messages, rng))
        if request.step == "rollouts/act_schema":
            return Reply(text=player.act_schema(blocks, request.messages, rng))
        if request.step not in ANSWERS:
            known = ", ".join(NEEDS)
            raise NothingFits(
                f"The built-in model has no answer to the step {request.step!r}, only to {known}."
            )
        answer = ANSWERS[request.step](blocks, rng, self.fault_rate)
        return Reply(text=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))

    def _generator(self, request: Request, blocks: Mapping[str, str]) -> np.random.Generator:
        return generator_of([self.seed, request.step, dict(blocks), request.sample])


def _acted(turn: player.Turn, request: Request) -> Reply:
    if turn.call is None:
        return Reply(text=turn.text)
    number = sum(len(message.get("tool_calls") or ()) for message in request.messages)
    function = {
        "name": turn.call["name"],
        "arguments": json.dumps(turn.call["arguments"], ensure_ascii=False),
    }
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return Reply(text="", tool_calls=(call,), finish="tool_calls")
