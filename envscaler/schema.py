"""The records that flow through the series: frozen, typed, and named by their content.

    Task → Theme → Skeleton → Audit → Scenario → Rollout

A record that goes to disk is a frozen pydantic model here, with one docstring line under each field. Its `id` is the
first 12 hex digits of the sha256 of its *content*, so the same content has the same id on every machine, and each
record carries its parent's id, so that the chain is one join. Certificate, origin, usage, time and `extra` are
about a record, not of it: they stay out of the id.

This module does not read or write files (`store`) and does not decide anything (the stages do).
"""

import html
from statistics import fmean
from typing import ClassVar, Literal

from pydantic import Field

from envscaler.evidence import Call as Call
from envscaler.evidence import Certificate as Certificate
from envscaler.evidence import Finding as Finding
from envscaler.evidence import Kill as Kill
from envscaler.evidence import Proof as Proof
from envscaler.evidence import Severity as Severity
from envscaler.record import Json as Json
from envscaler.record import Origin as Origin
from envscaler.record import Part as Part
from envscaler.record import Record as Record
from envscaler.record import Usage as Usage
from envscaler.record import as_dict
from envscaler.record import bounded as bounded
from envscaler.record import canonical as canonical
from envscaler.record import digest as digest
from envscaler.record import read_loosely as read_loosely

Verdict = Literal["pass", "warning", "fail"]
Intent = Literal["positive", "boundary", "negative"]
Ending = Literal["finished", "stopped", "truncated", "failed"]


class Task(Record):
    """A request in natural language, as somebody might type it."""

    outside_id: ClassVar[frozenset[str]] = frozenset({"origin", "extra", "stateful", "reason", "label"})

    text: str = Field(min_length=1)
    """The request, verbatim."""
    source: str = ""
    """Where it comes from, e.g. `seeds`, `api-bank`, `toolace`, or a file name."""
    stateful: bool | None = None
    """Whether it presupposes a world with a state that tools read and change; None before it was judged."""
    reason: str = ""
    """Why it was judged so."""
    label: bool | None = None
    """What a reader said of `stateful`, where one did."""
    origin: Origin | None = None
    """How the judgement was made."""


class Theme(Record):
    """The kind of world a task presupposes."""

    title: str = Field(min_length=1)
    """A short name of the world."""
    summary: str
    """About three sentences on it: what it holds, how it changes; it does not mention the task."""
    usefulness: int = Field(ge=1, le=10)
    """How useful an environment of this kind would be, 1-10."""
    modelability: int = Field(ge=1, le=10)
    """How well one class with attributes and methods can stand for it, 1-10."""
    task_ids: list[str]
    """Ids of the tasks that presuppose it; more than one after merging."""
    example: str = ""
    """One of those tasks, verbatim; the authors of the skeleton see it."""
    origin: Origin | None = None
    """How it was inferred."""

    @property
    def text(self) -> str:
        """What is embedded: `title: summary` (PAPER 2.2, step 3)."""
        return f"{self.title}: {self.summary}"


class Attribute(Part):
    """One field of an entity."""

    name: str
    """Its name in the state."""
    type: str = ""
    """Python type, e.g. `str` or `float`; empty where the source does not say."""
    description: str = ""
    """What it means, with its unit."""


class Entity(Part):
    """One kind of thing the state holds."""

    name: str
    """Its name, in the singular."""
    table: str = ""
    """The state's table of such things; empty where the source does not say."""
    attributes: list[Attribute] = bounded(12)
    """Its fields. Their number over all entities is the paper's 'state categories' (PAPER 4.2)."""
    description: str = ""
    """What it is."""


class Rule(Part):
    """One rule of the world."""

    text: str
    """The rule in words."""
    invariant: str | None = None
    """Source of `def invariant(before, after, call) -> bool`, or None when it cannot be one."""


class Tool(Part):
    """A public method the agent may call."""

    name: str
    """The method's name."""
    description: str = ""
    """What it does, in at most 1,024 characters (the limit of OpenAI's function schema)."""
    parameters: dict[str, Json]
    """JSON schema of its arguments, a description for every parameter."""
    mutates: bool
    """Whether it may change the state: a *write* tool, otherwise a *read* tool."""

    @property
    def properties(self) -> dict[str, Json]:
        """The schema of each argument; none where the parameters, as somebody else's may be, are no schema."""
        return as_dict(self.parameters.get("properties"))

    @property
    def required(self) -> list[str]:
        """The arguments that a call must have."""
        named = self.parameters.get("required")
        return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []

    @property
    def function(self) -> dict[str, Json]:
        """The tool in OpenAI form."""
        told = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": told}


class Skeleton(Record):
    """An executable class: state, rules, tools; no concrete data."""

    theme_id: str
    """The theme it was built from; empty for a class written by hand."""
    title: str
    """The world's name."""
    summary: str
    """What it holds and how it changes."""
    class_name: str
    """The class to instantiate."""
    source: str
    """The whole Python source."""
    state: list[Entity]
    """What the state holds."""
    rules: list[Rule]
    """What always holds."""
    tools: list[Tool]
    """What the agent may call, in source order."""
    extra: dict[str, Json] = {}
    """Fields of a published record that have no place here, kept as they came."""
    origin: Origin | None = None
    """How it was written."""

    @property
    def attributes(self) -> int:
        """Number of state attributes over all entities (the paper's 'state categories')."""
        return sum(len(entity.attributes) for entity in self.state)

    def tool(self, name: str) -> Tool | None:
        """The tool of that name, if there is one."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def _repr_html_(self) -> str:
        reads = sum(not tool.mutates for tool in self.tools)
        facts = (
            f"{reads} query + {len(self.tools) - reads} state-change tools · {len(self.state)} entities · "
            f"{self.attributes} attributes · {len(self.rules)} rules"
        )
        return (
            f"<b>{html.escape(self.title)}</b> <code>{html.escape(self.class_name)}</code><br>{facts}"
            f"<p>{html.escape(self.summary)}</p><details><summary>source</summary>"
            f"<pre>{html.escape(self.source)}</pre></details>"
        )


class Probe(Part):
    """One test call of one tool in an audit."""

    tool: str
    """The tool that was called."""
    arguments: dict[str, Json]
    """Its arguments."""
    intent: Intent
    """What the tester wanted to see."""
    reply: Json = None
    """What came back."""
    diff: dict[str, Json] = {}
    """What changed, as `world.environment` writes diffs."""
    verdict: Verdict
    """What the checker says of it."""
    reason: str = ""
    """Why."""


class Audit(Record):
    """All probes of one skeleton, and what they show."""

    skeleton_id: str
    """The skeleton as it was given."""
    initial_state: dict[str, Json] = {}
    """The state the probes began in."""
    findings: list[Finding] = []
    """What the referee and the invariants report."""
    probes: list[Probe] = []
    """The probes, in order; the state rolls on from one to the next."""
    repaired: Skeleton | None = None
    """The skeleton after repair, when something was repaired; the probes are then those of this one."""
    origin: Origin | None = None
    """How it was made."""

    @property
    def not_fail_rate(self) -> float:
        """(pass + warning) / total; 0.0 without probes (PAPER 2.4, step 3)."""
        return fmean(p.verdict != "fail" for p in self.probes) if self.probes else 0.0

    @property
    def pass_rate(self) -> float:
        """Pass / total; 0.0 without probes."""
        return fmean(p.verdict == "pass" for p in self.probes) if self.probes else 0.0


class Check(Part):
    """One question about the final state, with its code."""

    item: str
    """The question: 'Has the loan been renewed?'."""
    source: str
    """Source of `def check_func(final_state) -> bool`; a global `initial_state` is there to read."""
    kind: Literal["goal", "guard"] = "goal"
    """A goal must be brought about; a guard must not be broken."""


class Scenario(Record):
    """A skeleton with an initial state, a task and its checks."""

    outside_id: ClassVar[frozenset[str]] = frozenset({"origin", "extra", "certificate"})

    skeleton_id: str
    """The skeleton it plays in."""
    initial_state: dict[str, Json]
    """The data the tools read and change, as it is at reset."""
    task: str
    """What the user wants, in words."""
    checks: list[Check]
    """How the final state is graded."""
    may_change: list[str] = []
    """What the task may touch: `table/key` one record, `table/+` rows added, `table` all of it. See `world.check`."""
    witness: list[Call] = []
    """Calls that solve the task, to be proved by execution; empty where none is known."""
    certificate: Certificate | None = None
    """What execution showed; None before it was certified."""
    extra: dict[str, Json] = {}
    """Fields of a published record that have no place here, kept as they came."""
    origin: Origin | None = None
    """How it was written."""


class Step(Part):
    """One action and what came back."""

    action: dict[str, Json]
    """The assistant message, in OpenAI form."""
    observation: Json
    """The replies to its tool calls in order, or what the user said."""
    diff: dict[str, Json] = {}
    """What the action changed."""


class Outcome(Part):
    """What one check says of a final state."""

    item: str
    """The check's question; `bystanders` for the guard the library adds."""
    kind: Literal["goal", "guard"]
    """As declared by the check's author."""
    passed: bool | None
    """None when the check itself broke."""
    note: str = ""
    """How it broke, or which bystander changed."""


def reward_of(outcomes: list[Outcome]) -> float | None:
    """Mean of the goals if every guard holds, else 0; None when a check broke or there is no goal."""
    goals = [o.passed for o in outcomes if o.kind == "goal"]
    if not goals or any(o.passed is None for o in outcomes):
        return None
    return fmean(map(bool, goals)) if all(o.passed for o in outcomes if o.kind == "guard") else 0.0


class Rollout(Record):
    """The record of one episode."""

    outside_id: ClassVar[frozenset[str]] = frozenset({"origin", "extra", "usage"})

    scenario_id: str
    """The scenario that was played."""
    agent: str
    """Name of the agent."""
    conversation: bool
    """Whether a simulated user held the task and revealed it piece by piece."""
    seed: int = 0
    """Seed of the environment, the agent and the user."""
    messages: list[dict[str, Json]]
    """The whole exchange in OpenAI form; a tool call's `arguments` is a JSON string."""
    trajectory: list[Step]
    """The steps; a step is one assistant message."""
    final_state: dict[str, Json]
    """The state at the end."""
    outcomes: list[Outcome]
    """What the checks say of it; empty when the episode failed."""
    ending: Ending
    """The agent `finished`, the user `stopped`, we `truncated`, or the infrastructure `failed`."""
    cause: str = ""
    """For `failed`: `agent` (its own code raised), `user`, `environment` or `model`; for `truncated`: `agent` where it
    said nothing again and again; with a broken check: `check`."""
    usage: Usage = Usage()
    """What the agent and the user cost."""
    extra: dict[str, Json] = {}
    """Fields of a published record that have no place here, kept as they came."""
    origin: Origin | None = None
    """How it was made."""

    @property
    def reward(self) -> float | None:
        """The default reward of the outcomes; None, never 0, when the infrastructure or a check failed."""
        return None if self.ending == "failed" else reward_of(self.outcomes)

    @property
    def solved(self) -> bool:
        """Whether the reward is 1."""
        return self.reward == 1.0

    @property
    def steps(self) -> int:
        """Number of actions."""
        return len(self.trajectory)


class Failure(Record):
    """Something that could not be made, and why; its siblings went on."""

    stage: str
    """The stage it happened in."""
    parent_id: str
    """What it was to be made from: a record's id, or `file:line`."""
    error: str
    """Class of the error."""
    message: str
    """What was expected, what came, what to do."""
    findings: list[Finding] = []
    """Faults of the skeleton that came to light by it, for its audit."""
    origin: Origin | None = None
    """How it was tried."""
