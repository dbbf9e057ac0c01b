"""A full live run, rehearsed: the whole pipeline against a server that answers as a competent, fallible model would.

    stage → connect(name, base_url) → HTTP → Fallible: which step is it? → the built-in model → spoilt now and then

The server gets HTTP bodies and nothing else. It knows the step by its system message, errs by lot (hostile shapes,
HTTP errors, hangs longer than the client's patience), and the lot hangs on the content of a request and on how often
that was sent. `rehearse` runs the same stages with the built-in model in this process and compares what was made of
each thing: where no fault struck, and where asking again was all that was needed, the records are the same.
"""

import hashlib
import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from loopback import DROP, Loopback, Seen, completion, refusal, serve
from spoiling import SHAPES, kind_of, spoilt

import envscaler as es
from envscaler import audits, rollouts, scenarios, skeletons, tasks, themes
from envscaler.error import EnvscalerError, NothingFits
from envscaler.model import prompt
from envscaler.model.builtin import BuiltinModel
from envscaler.model.request import Encoder, Model, Reply, Request, generator_of
from envscaler.parallel import run_all
from envscaler.record import canonical
from envscaler.store import Records

log = logging.getLogger(__name__)

SEED_BASE = 1 << 20
"""Sent as `seed`; a server sees which sample is wanted by what was added to it."""
STAGES = ("tasks", "themes", "skeletons", "audits", "scenarios", "rollouts")


def openings() -> dict[str, str]:
    """Step → how its system message begins, up to the first thing that is filled in."""
    first = {step: prompt.load(step).parts[0][1] for step in prompt.steps()}
    return {step: text.split("{{")[0] for step, text in first.items()}


def step_of(messages: Iterable[Mapping[str, Any]], known: Mapping[str, str]) -> str:
    """The step that a request belongs to, by its messages alone; "" where it is none."""
    said = str(next(iter(messages))["content"])
    fitting = [step for step, text in known.items() if said.startswith(text)]
    return max(fitting, key=lambda step: len(known[step]), default="")


def digest_of(body: Mapping[str, Any]) -> str:
    """What names a request's content, model included."""
    return hashlib.sha256(canonical(json.loads(json.dumps(body))).encode()).hexdigest()


@dataclass
class Fallible(Loopback):
    """A server with a competent model that errs.

    Args:
        hostile: share of requests that are answered in a hostile shape.
        errors: share that gets an HTTP error or a dropped connection.
        hangs: share that gets no answer for `hang_seconds`.
        seed: of the lot.
    """

    brain: BuiltinModel = field(default_factory=BuiltinModel)
    hostile: float = 0.10
    errors: float = 0.02
    hangs: float = 0.01
    hang_seconds: float = 3.0
    seed: int = 0
    struck: dict[str, set[str]] = field(default_factory=dict)
    """Request → what struck it: `hostile` reply, or trouble of the `network`."""
    counts: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    known: dict[str, str] = field(default_factory=openings)

    def respond(self, seen: Seen) -> Any:
        if seen.path.endswith("/models"):
            return {"data": [{"id": "rehearsed"}]}
        name = digest_of(seen.body)
        with self.lock:
            self.attempts[name] += 1
            attempt = self.attempts[name]
        chance = generator_of([self.seed, name, attempt])
        lot, pick = float(chance.random()), float(chance.random())
        if lot < self.hangs:
            self._strike(name, "network", "hang")
            time.sleep(self.hang_seconds)
            return DROP
        if lot < self.hangs + self.errors:
            return self._error(name, pick)
        return self._answered(seen.body, name, lot < self.hangs + self.errors + self.hostile, pick)

    def _strike(self, name: str, fault: str, what: str) -> None:
        with self.lock:
            self.struck.setdefault(name, set()).add(fault)
            self.counts[what] += 1

    def _error(self, name: str, pick: float) -> Any:
        kinds: dict[str, Any] = {
            "429": refusal(429, "Slow down.", {"retry-after": "0.2"}),
            "500": refusal(500, "Something broke."),
            "502": (502, {"content-type": "text/html"}, b"<html>Bad gateway</html>"),
            "503": refusal(503, "Overloaded."),
            "dropped": DROP,
        }
        kind = list(kinds)[int(pick * len(kinds))]
        self._strike(name, "network", f"error {kind}")
        return kinds[kind]

    def _answered(self, body: dict[str, Any], name: str, spoil: bool, pick: float) -> Any:
        step = step_of(body["messages"], self.known)
        if not step:
            return completion("yes")
        wanted = Request(
            step,
            tuple(body["messages"]),
            tools=tuple(body.get("tools") or ()),
            sample=int(body.get("seed", SEED_BASE)) - SEED_BASE,
        )
        try:
            reply = self.brain.answer(wanted)
        except NothingFits as error:
            return refusal(400, str(error))
        if not spoil:
            calls = {"tool_calls": list(reply.tool_calls)} if reply.tool_calls else {}
            return completion(reply.text or None, finish=reply.finish, **calls)
        kind = kind_of(step, reply)
        shape = list(SHAPES[kind])[int(pick * len(SHAPES[kind]))]
        self._strike(name, "hostile", f"{kind}: {shape}")
        return spoilt(kind, shape, reply)


# Who is asked for which thing


@dataclass
class Made:
    """What a stage made of one thing, and what it asked for that."""

    requests: set[str]
    contents: list[str]
    failures: list[str]


class Watch:
    """A model that writes down which requests were asked for which thing, and how they went over the wire."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.name, self.workers = inner, inner.name, inner.workers
        self.made: dict[str, dict[Any, Made]] = {stage: {} for stage in STAGES}
        self.sent: dict[str, set[str]] = {}
        self.replies: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self._here, self._lock = threading.local(), threading.Lock()
        if server := getattr(getattr(inner, "inner", None), "server", None):
            self._post, server.chat = server.chat, self._chat

    def answer(self, request: Request) -> Reply:
        key = request.key("")
        self._here.key = key
        getattr(self._here, "requests", set()).add(key)
        reply = self.inner.answer(request)
        self.replies[key] = digest_of({"text": reply.text, "calls": list(reply.tool_calls)})
        return reply

    def _chat(self, body: dict[str, Any]) -> bytes:
        with self._lock:
            self.sent.setdefault(getattr(self._here, "key", ""), set()).add(digest_of(body))
        return self._post(body)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While this lasts, what the stages do is written down thing by thing."""
        with ExitStack() as stack:
            for module in (tasks, themes, skeletons, audits, scenarios, rollouts):
                stack.enter_context(mock.patch.object(module, "run_all", self._run_all))
            yield

    def _run_all(self, function: Callable[[Any], Any], things: Iterable[Any], **options: Any) -> Records[Any]:
        made = self.made[options["stage"]]

        def watched(thing: Any) -> Any:
            self._here.requests = asked = set()
            try:
                result = function(thing)
            except EnvscalerError as error:
                made[name_of(thing)] = Made(asked, [], [type(error).__name__])
                raise
            rows = result if isinstance(result, list) else [result]
            left_out = [failure.error for failure in getattr(result, "failures", [])]
            made[name_of(thing)] = Made(asked, [content_of(row) for row in rows], left_out)
            return result

        begun = time.monotonic()
        rows = run_all(watched, things, **options)
        self.seconds[options["stage"]] = round(time.monotonic() - begun, 1)
        log.info(
            "%s, %s: %d made in %.0f s", self.name, options["stage"], len(rows), time.monotonic() - begun
        )
        return rows


def name_of(thing: Any) -> Any:
    """What a thing is called in both runs."""
    if isinstance(thing, tuple):
        return (thing[0].id, *thing[1:])
    if isinstance(thing, rollouts.Plan):
        return (thing.scenario.id, thing.agent.name, thing.conversation)
    return thing.id


def content_of(record: Any) -> str:
    """All that a record says but how it came about: more than its id, which leaves out certificates and verdicts."""
    made_so: Any = {"origin": True, "usage": True, "repaired": {"origin": True}}
    return canonical(record.model_dump(mode="json", exclude=made_so))


# The pipeline


@dataclass(frozen=True)
class Size:
    """How much is made."""

    environments: int = 24
    scenarios: int = 10
    rollouts: int = 400
    requests: int | None = None
    """Requests that enter; None for all of the project's own."""
    rounds: int = 100
    """Probes of an audit."""


def pipeline(model: Model, encoder: Encoder, size: Size) -> dict[str, Records[Any]]:
    """All that the stages make, by stage; `picked` and `kept` beside them."""
    quiet = {"progress": False}
    given = es.load_tasks(limit=size.requests)
    judged = es.judge_tasks(given, model, **quiet)
    inferred = es.infer_themes(judged, model, **quiet)
    picked = es.pick_themes(es.merge_themes(inferred, encoder), encoder, n=size.environments)
    built = es.build_skeletons(picked, model, **quiet)
    audited = es.audit_skeletons(built, model, rounds=size.rounds, **quiet)
    kept = es.passing(built, audited)
    posed = es.build_scenarios(kept, model, n=size.scenarios, **quiet)
    agents = [
        es.ToolAgent(model, "tools"), es.SchemaAgent(model, "schema"), es.PromptAgent(model, "prompt"),
    ]  # fmt: skip
    played = es.roll_out_all(kept, posed, agents, conversation="both", user=model, n=size.rollouts, **quiet)
    return {
        "given": given, "tasks": judged, "themes": inferred, "picked": picked, "skeletons": built, "audits": audited,
        "kept": kept, "scenarios": posed, "rollouts": played,
    }  # fmt: skip


@dataclass
class Rehearsal:
    """Both runs, and what the server did."""

    live: dict[str, Records[Any]]
    direct: dict[str, Records[Any]]
    watched: tuple[Watch, Watch]
    server: Fallible

    def funnel(self) -> list[dict[str, Any]]:
        """One row a stage: what went in and came out, and what became of each thing by what struck it."""
        return [self._row(stage) for stage in STAGES]

    def _row(self, stage: str) -> dict[str, Any]:
        live, direct = (watch.made[stage] for watch in self.watched)
        row: Counter[str] = Counter({"calls": len({key for made in live.values() for key in made.requests})})
        for name, made in live.items():
            row[f"{self._struck(made)}, {self._fate(made, direct.get(name))}"] += 1
        row["not reached"] = len(direct.keys() - live.keys())
        made, built_in = self.live[stage], self.direct[stage]
        return {
            "stage": stage, "in": len(live), "out": len(made), "lost": self._lost(stage), "built-in, in": len(direct),
            "built-in, out": len(built_in), "equal": len({r.id for r in made} & {r.id for r in built_in}), **row,
            "seconds": self.watched[0].seconds[stage], "built-in, seconds": self.watched[1].seconds[stage],
        }  # fmt: skip

    def _struck(self, made: Made) -> str:
        faults = {fault for key in made.requests for fault in self.faults_of(key)}
        return next((fault for fault in ("hostile", "network") if fault in faults), "clean")

    def faults_of(self, request: str) -> set[str]:
        """What struck a request on any way it went over the wire."""
        sent = self.watched[0].sent.get(request, ())
        return {fault for name in sent for fault in self.server.struck.get(name, ())}

    @staticmethod
    def _fate(made: Made, other: Made | None) -> str:
        if other is None:
            return "of another parent"
        if not made.contents:
            return "failed in both" if not other.contents else "failed"
        return "same" if made.contents == other.contents else "differs"

    def _lost(self, stage: str) -> int:
        """Things that went in and are neither among the records nor among the failures."""
        made = self.live[stage]
        # A tool that was left out is a failure beside its skeleton; failures of the stage before are handed on.
        failed = [f for f in made.failures if f.stage == stage and f.error != "ToolLeftOut"]
        return len(self.watched[0].made[stage]) - len(made) - len(failed)

    def replies(self) -> Counter[str]:
        """Requests of both runs that no fault struck, by whether the reply came over the wire as it was given."""
        live, direct = (watch.replies for watch in self.watched)
        shared = [key for key in live.keys() & direct.keys() if not self.faults_of(key)]
        return Counter("same" if live[key] == direct[key] else "differs" for key in shared)


def rehearse(
    size: Size,
    encoder: Encoder,
    *,
    timeout: float = 2.0,
    in_flight: int = 8,
    fault_rate: float = 0.15,
    **faults: Any,
) -> Rehearsal:
    """Run the pipeline with the built-in model and with the server; `ENVSCALER_HOME` is where the cache goes.

    Args:
        size: how much is made.
        encoder: of both runs.
        timeout: seconds the client waits for one answer.
        in_flight: requests at once.
        fault_rate: how often a tool the model writes is wrong.
        faults: `hostile`, `errors`, `hangs` and `seed` of the server.
    """
    fallible = Fallible(brain=BuiltinModel(fault_rate=fault_rate), hang_seconds=1.5 * timeout, **faults)
    direct = Watch(es.connect("builtin", fault_rate=fault_rate))
    with direct.watching():
        made_directly = pipeline(direct, encoder, size)
    server = serve(fallible)
    try:
        model = es.connect(
            "rehearsed", base_url=fallible.url, seed=SEED_BASE, timeout=timeout, workers=in_flight
        )
        model.check()
        live = Watch(model)
        with live.watching():
            made_live = pipeline(live, encoder, size)
    finally:
        server.shutdown()
        server.server_close()
    return Rehearsal(made_live, made_directly, (live, direct), fallible)
