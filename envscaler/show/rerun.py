"""The probes of one tool made again on an edited source, each beside what the source as it was does there.

All probes of the audit are made in order on the source as it was, so that the state rolls on as it did then;
before each probe of the edited tool, the edited world is set to that moment, clock and ids included, and makes
the same call. No model is asked: whoever judges is handed in. Where an audit's probes come from more than one
version of the source, as after a repair, the states of then cannot all be had again; `reproduced` says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

from envscaler.error import EnvironmentLost, EnvscalerError, ParameterError
from envscaler.given import told
from envscaler.schema import Audit, Json, Probe, Skeleton, Verdict
from envscaler.show.markup import INLINE, chip, escape, inline_json, shorten, soft, table
from envscaler.world.change import Diff, State, same
from envscaler.world.environment import Environment
from envscaler.world.joining import replace_method
from envscaler.world.source import read_tools

Judge = Callable[[Skeleton, Probe, State, State], tuple[Verdict, str]]
"""Says verdict and reason of a probe: the skeleton, the probe as it came out, the states before and after."""


@dataclass(frozen=True)
class Rerun:
    """One probe, with what it gives on the source as it was and on the edited one."""

    place: int
    """Its number in the audit."""
    probe: Probe
    """As it was recorded."""
    was: tuple[Json, Diff]
    """Reply and diff of the source as it was, now."""
    now: tuple[Json, Diff]
    """Reply and diff of the edited source."""
    reproduced: bool
    """Whether the source as it was still gives what was recorded."""
    verdict: Verdict | None = None
    """What the judge says of the edited source, a fail where it breaks down; None where nobody says anything."""
    reason: str = ""
    """Why, or why there is no verdict."""

    @property
    def changed(self) -> bool:
        """Whether the edit makes a difference here."""
        return not (same(self.was[0], self.now[0]) and same(self.was[1], self.now[1]))


Rerunner = Callable[[Skeleton, Audit, str, str], list[Rerun]]
"""What `rerun_probes` does, without a judge: skeleton, audit, tool, text of the edited method."""


def edited(skeleton: Skeleton, tool: str, method: str) -> Skeleton:
    """The skeleton with one method replaced.

    Raises:
        SourceError: the text does not parse or holds no method; the message has the line.
        ParameterError: it holds another tool.
    """
    source = replace_method(skeleton.source, skeleton.class_name, method)
    tools = read_tools(source, skeleton.class_name, {t.name: t.mutates for t in skeleton.tools})
    new = [t.name for t in tools if skeleton.tool(t.name) is None]
    if new or f"def {tool}" not in method:
        raise ParameterError(f"Expected the method {tool}, got {', '.join(new) or 'others'}. Keep its name.")
    return skeleton.replace(source=source, tools=tools)


def rerun_probes(
    skeleton: Skeleton, audit: Audit, tool: str, method: str, judge: Judge | None = None
) -> list[Rerun]:
    """Make the probes of one tool again on an edited method.

    Args:
        skeleton: the version that the probes were made in.
        audit: where they are.
        tool: the tool.
        method: text of its edited method.
        judge: says what to make of each on the edited source.

    Raises:
        SourceError: the text does not parse, or the edited class does not load.
        ParameterError: it holds another tool, or what the judge says is no verdict.
    """
    new = edited(skeleton, tool, method)
    undone = _undone(audit)
    made: list[Rerun] = []
    with _Roll(skeleton, audit) as old, _Roll(new, audit) as other:
        for place, probe in enumerate(audit.probes):
            if not any(p.tool == tool for p in audit.probes[place:]):
                break
            moment = old.environment.snapshot()
            if probe.tool == tool:
                other.environment.restore(moment)
                before = other.environment.state
                now = other.call(probe)
                seen = probe.model_copy(update={"reply": now[0], "diff": now[1]})
                verdict, reason = (
                    ("fail", other.fault)
                    if other.fault
                    else _judged(judge, new, seen, before, other.environment.state)
                )
            was = old.call(probe)
            if probe.tool == tool:
                known = same(was[0], probe.reply) and same(was[1], probe.diff)
                made.append(Rerun(place, probe, was, now, known, verdict, reason))
            if place in undone:
                old.environment.restore(moment)
    return made


def _judged(
    judge: Judge | None, skeleton: Skeleton, probe: Probe, before: State, after: State
) -> tuple[Verdict | None, str]:
    if judge is None:
        return None, ""
    try:
        said = judge(skeleton, probe, before, after)
    except EnvscalerError as error:
        return None, str(error)  # the next probe may fare better
    if not (isinstance(said, tuple) and len(said) == 2 and said[0] in get_args(Verdict)):
        words = ", ".join(get_args(Verdict))
        raise ParameterError(f"Expected the judge to say one of {words}, and why, got {told(said)}.")
    return said[0], str(said[1])


def _undone(audit: Audit) -> set[int]:
    """Places of probes that broke a rule: the audit took their effects back before it went on."""
    calls = [f.evidence.get("call") for f in audit.findings if f.kind == "invariant"]
    wanted = [c for c in calls if isinstance(c, dict)]
    return {
        place
        for place, p in enumerate(audit.probes)
        if {"tool": p.tool, "arguments": p.arguments, "reply": p.reply} in wanted
    }


class _Roll:
    """One version of the world, opened anew when a tool took it down."""

    def __init__(self, skeleton: Skeleton, audit: Audit) -> None:
        self._skeleton = skeleton
        self._seed = (audit.origin.seed if audit.origin else None) or 0
        self.environment = self._open(audit.initial_state)
        self.fault = ""
        """What the last call broke down with."""

    def _open(self, state: State) -> Environment:
        environment = Environment(self._skeleton, state, seed=self._seed)
        environment.reset()
        return environment

    def call(self, probe: Probe) -> tuple[Json, Diff]:
        """Reply and diff of a probe's call; a world that is lost begins again where it stood."""
        before = self.environment.state
        try:
            reply, diff = self.environment.call(probe.tool, probe.arguments), self.environment.diff
            broke = [f"{fault['kind']}: {fault['error']}" for fault in self.environment.faults]
        except EnvironmentLost as error:
            self.environment.close()
            self.environment = self._open(before)
            reply, diff, broke = {"success": False, "error": str(error)}, {}, [str(error)]
        self.fault = f"It broke down instead of replying ({broke[0]})." if broke else ""
        return reply, diff

    def __enter__(self) -> "_Roll":
        return self

    def __exit__(self, *_: object) -> None:
        self.environment.close()


# As HTML


def reruns_html(reruns: Sequence[Rerun]) -> str:
    """Probes made again on an edited tool: what each gave before the edit, and what it gives now."""
    if not reruns:
        return f"<p>{soft('No probe calls this tool.')}</p>"
    differ = sum(rerun.changed for rerun in reruns)
    lost = sum(not rerun.reproduced for rerun in reruns)
    what = "probe" if len(reruns) == 1 else "probes"
    remark = f"{lost} no longer gave what was recorded before the edit: the state of then is not at hand."
    counts = f"<b>{len(reruns)}</b> {what} made again, <b>{differ}</b> with another result."
    head = f"<p>{counts} {soft(remark) if lost else ''}</p>"
    rows = [
        (
            str(r.place + 1),
            chip(r.probe.intent),
            inline_json(r.probe.arguments),
            *_was_and_now(r),
            _verdicts(r),
        )
        for r in reruns
    ]
    return head + table(("", "intent", "arguments", "before the edit", "now", "verdict"), rows, (0,))


def _was_and_now(rerun: Rerun) -> tuple[str, str]:
    was, now = (inline_json(reply) + _small_diff(diff) for reply, diff in (rerun.was, rerun.now))
    if not rerun.changed:
        return was, soft("the same")
    return f"<div class='es-del'>{was}</div>", f"<div class='es-add'>{now}</div>"


def _small_diff(diff: Diff) -> str:
    return f"<div>{soft('changed: ')}{inline_json(diff)}</div>" if diff else ""


def _verdicts(rerun: Rerun) -> str:
    was = chip(rerun.probe.verdict, rerun.probe.verdict)
    if rerun.verdict is None:
        return f"{was} {soft(shorten(rerun.reason, INLINE))}" if rerun.reason else was
    both = f"<span class='es-name'>{was} → {chip(rerun.verdict, rerun.verdict)}</span>"
    return f"{both} {escape(shorten(rerun.reason, INLINE))}"
