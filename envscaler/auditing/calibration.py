"""How good an audit is: known faults are planted in good environments, and each layer is asked whether it notices.

    environment → mutants (proved to differ) → referee, invariants, judge → a sighting each → tables, figure

The untouched originals go the same way, with the same seeds: what is told of them is a false alarm, and a mutant counts
as detected only for what is not told of its original. A judge is any model; it is given as many probes of the tool in
question as an audit would make of it, by a tester that is the same model or one that draws arguments by chance, where
the judge alone is to be measured. A layer that sees nothing where only a judge can see is no worse for it: whether
execution can show a fault is said of each mutant. Nothing is repaired here, and no environment is kept or dropped.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, get_args

from envscaler.auditing.probing import Bench, Trial
from envscaler.auditing.starting import ask_state, loading_problem
from envscaler.elsewhere import elsewhere, stage_of
from envscaler.error import EnvscalerError, ParameterError, StoreError
from envscaler.given import a_path, at_least, many, told
from envscaler.model.prompt import blocks
from envscaler.model.request import Metered, Model, Reply, Request
from envscaler.parallel import run_all
from envscaler.project import check_seed
from envscaler.record import digest
from envscaler.schema import Failure, Finding, Json, Record, Skeleton, Usage
from envscaler.store import Records, read_records, write_records
from envscaler.world.mutants.sources import KINDS, Planted, mutants_of
from envscaler.world.referee import check_environment
from envscaler.world.trials.exploring import CALLS
from envscaler.world.trials.trying import Hand, Values

Layer = Literal["referee", "invariants", "judge"]
LAYERS: tuple[Layer, ...] = ("referee", "invariants", "judge")
Tester = Literal["model", "chance"]
_OF_RULES = frozenset({"invariant", "invariant-broken"})
"""Findings of the referee that are those of the invariants; the calls are the same."""
_TESTS = "audits/probe"


class Sighting(Record):
    """What one layer said of one tool, in a mutant or in an untouched original."""

    outside_id: ClassVar[frozenset[str]] = frozenset({"usage", "seconds"})

    skeleton_id: str
    """The original."""
    environment: str
    """Its title."""
    mutant: str = ""
    """Id of the mutant; empty for the original."""
    kind: str = ""
    """The kind of fault that was planted; empty for the original."""
    by_execution: bool = False
    """Whether execution can show the fault to somebody who does not know what is meant."""
    tool: str
    """The tool with the fault; empty for what is said of an original as a whole."""
    fault: str = ""
    """The fault in words."""
    layer: Layer
    """Who looked."""
    told: bool
    """Whether it reported an error or a warning, or judged a probe a fail, at this tool or at the class."""
    new: bool
    """Whether some of that was not told of the original as well."""
    said: str = ""
    """The first thing it said."""
    calls: int
    """Calls that were made, of the referee and the invariants in all, of the judge of this tool."""
    needed: int | None = None
    """Which probe was the first to fail; None where none did and for those who look at all calls together."""
    how: str
    """Names the settings; rows of other settings do not mix."""
    usage: Usage = Usage()
    """What it cost in tokens."""
    seconds: float = 0.0
    """How long it took, on a machine that may have had other things to do."""


@dataclass(frozen=True)
class _Settings:
    kinds: tuple[str, ...]
    per_kind: int
    rounds: int
    calls: int
    tester: Tester
    seed: int
    model: str

    @property
    def key(self) -> str:
        return digest(self.__dict__ | {"kinds": list(self.kinds)})


def calibrate_audits(
    skeletons: Iterable[Skeleton],
    model: Model | None = None,
    *,
    states: Mapping[str, Mapping[str, Json]] | None = None,
    kinds: Iterable[str] | None = None,
    per_kind: int = 1,
    rounds: int = 6,
    calls: int = CALLS,
    tester: Tester = "model",
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Records[Sighting]:
    """Plant faults in environments, and see which layer of an audit notices which.

    Args:
        skeletons: one environment or several that are taken to be good.
        model: the judge; None measures the layers that need none.
        states: initial states by the id of the skeleton; where there is none the model is asked for one.
        kinds: one kind of fault or several; None for all.
        per_kind: mutants of each kind in each environment, at most.
        rounds: probes the judge is given of a tool; an audit of 100 rounds makes about 5.
        calls: calls the referee makes in an environment.
        tester: who chooses the judge's probes: the model, as in an audit, or `chance`, which asks it nothing.
        seed: of mutants, calls and samples.
        folder: where the rows of each environment are kept; what is there already is not done again. Rows from which
            the judge is missing, because it could not be asked, are not kept.
        workers: threads at once; default as many as the model takes, or two a processor without one.
        progress: whether to show the bar.

    Raises:
        ParameterError: there is no such kind or tester, a number is below 1, something is of another kind than it
            is to be, or there is neither a state nor a model to ask.
        StoreError: the folder cannot be made.
    """
    worlds = many(skeletons, Skeleton)
    if model is not None and not callable(getattr(model, "answer", None)):
        raise ParameterError(f"Expected a model as `connect` makes one, or None, got {told(model)}.")
    if not isinstance(tester, str) or tester not in get_args(Tester):
        raise ParameterError(f"Expected a tester out of {', '.join(get_args(Tester))}, got {told(tester)}.")
    for number, name in ((per_kind, "per_kind"), (rounds, "rounds"), (calls, "calls")):
        at_least(number, 1, name)
    check_seed(seed)
    settings = _Settings(
        _named(kinds), per_kind, rounds, calls, tester, seed, model.name if model is not None else ""
    )
    known, place = _known(states), None if folder is None else _made(a_path(folder))
    usual = model.workers if model is not None else 2 * (os.cpu_count() or 1)
    return run_all(
        lambda skeleton: _kept(skeleton, model, known.get(skeleton.id), settings, place),
        worlds,
        stage="calibration",
        workers=usual if workers is None else at_least(workers, 1, "workers"),
        progress=progress,
    )


def _named(kinds: Iterable[str] | None) -> tuple[str, ...]:
    given = tuple(KINDS) if kinds is None else tuple(many(kinds, str))
    if unknown := [name for name in given if name not in KINDS]:
        raise ParameterError(f"Expected kinds out of {', '.join(KINDS)}, got {', '.join(unknown)}.")
    return given


def _known(states: Mapping[str, Mapping[str, Json]] | None) -> Mapping[str, Mapping[str, Json]]:
    if states is None:
        return {}
    if not isinstance(states, Mapping) or not all(isinstance(state, Mapping) for state in states.values()):
        raise ParameterError(f"Expected initial states by the id of their skeleton, got {told(states)}.")
    return states


def _made(folder: Path) -> Path:
    """The folder, made now: hours later would be too late to hear that it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a path that no file system takes
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"Expected a folder to keep rows in at {folder}, but {why}.") from error
    return folder


def _kept(
    skeleton: Skeleton,
    model: Model | None,
    state: Mapping[str, Json] | None,
    settings: _Settings,
    folder: Path | None,
) -> Records[Sighting]:
    """The rows of one environment, from its file where they are there already."""
    path = folder / f"{skeleton.id}.jsonl" if folder else None
    if path is not None and path.exists():
        rows = read_records(path, Sighting)
        if rows and not rows.failures and all(row.how == settings.key for row in rows):
            return rows
    rows = _Calibration(skeleton, model, _state(skeleton, model, state, settings.seed), settings).rows()
    if path is not None and not rows.failures:
        write_records(rows, path)
    return rows


def _state(
    skeleton: Skeleton, model: Model | None, state: Mapping[str, Json] | None, seed: int
) -> dict[str, Json]:
    if state is not None:
        return dict(state)
    if model is None:
        raise ParameterError(
            f"Expected an initial state for {skeleton.title!r} (id {skeleton.id}) or a model to ask for one."
        )
    problem = partial(loading_problem, skeleton)
    return ask_state(skeleton, model, "audits/initial_state", sample=seed, problem=problem)


class _Calibration:
    """One environment, its mutants, and what is said of them."""

    def __init__(
        self, skeleton: Skeleton, model: Model | None, state: dict[str, Json], settings: _Settings
    ) -> None:
        self._skeleton, self._model, self._state, self._settings = skeleton, model, state, settings
        self._found: dict[str, Counter[tuple[str, str]]] = {}
        self._judged: dict[str, bool] = {}
        self._failures: list[Failure] = []

    def rows(self) -> Records[Sighting]:
        """A row for each tool and layer of the original, and for each layer of each mutant."""
        made = [*self._look(None, self._skeleton, [*(t.name for t in self._skeleton.tools), ""])]
        settings = self._settings
        planted = mutants_of(
            self._skeleton, settings.kinds, settings.per_kind, settings.seed, state=self._state
        )
        with stage_of(len(planted)):  # few worlds, and yet much to do
            for mutant in planted:
                made += self._look(mutant, mutant.skeleton, [mutant.tool])
        return Records(made, self._failures)

    def _look(self, mutant: Planted | None, skeleton: Skeleton, tools: list[str]) -> list[Sighting]:
        begun = time.perf_counter()
        settings = self._settings
        found = elsewhere(check_environment, skeleton, self._state, seed=settings.seed, calls=settings.calls)
        seconds = time.perf_counter() - begun
        rows = []
        for layer in LAYERS[:2]:
            own = [
                f for f in found if f.severity != "note" and (f.kind in _OF_RULES) == (layer == "invariants")
            ]
            if mutant is None:
                self._found[layer] = Counter(map(_key, own))
            rows += [self._executed(mutant, tool, layer, own, seconds) for tool in tools]
        return rows + [row for tool in tools if tool and (row := self._judge(mutant, skeleton, tool))]

    def _executed(
        self, mutant: Planted | None, tool: str, layer: Layer, found: list[Finding], seconds: float
    ) -> Sighting:
        names = {t.name for t in self._skeleton.tools}
        at = [f for f in found if f.where == tool or (f.where not in names and (mutant or not tool))]
        fresh = Counter(map(_key, at)) - self._found[layer]
        said = [f.message for f in at if mutant is None or _key(f) in fresh]
        return self._row(mutant, tool, layer, bool(at), bool(fresh), said, self._settings.calls, seconds)

    def _judge(self, mutant: Planted | None, skeleton: Skeleton, tool: str) -> Sighting | None:
        """What the judge says of probes of one tool; None where there is no judge or it cannot be asked."""
        if self._model is None or self._failures:
            return None
        begun, asked = time.perf_counter(), _Asked(self._model, skeleton, self._settings)
        try:
            trials = _without_rules(skeleton, self._state, asked, self._settings).roll(
                self._settings.rounds, {tool}
            )
        except EnvscalerError as error:
            self._failures.append(
                Failure(
                    stage="calibration", parent_id=skeleton.id, error=type(error).__name__, message=str(error)
                )
            )
            return None
        seconds = time.perf_counter() - begun
        failed = [place for place, trial in enumerate(trials, start=1) if _fails(trial)]
        if mutant is None:
            self._judged[tool] = bool(failed)
        new = bool(failed) and not self._judged[tool]
        said = [trials[place - 1].probe.reason for place in failed]
        row = self._row(mutant, tool, "judge", bool(failed), new, said, len(trials), seconds)
        return row.replace(needed=failed[0] if failed else None, usage=asked.usage)

    def _row(
        self,
        mutant: Planted | None,
        tool: str,
        layer: Layer,
        told: bool,
        new: bool,
        said: list[str],
        calls: int,
        seconds: float,
    ) -> Sighting:
        row = Sighting(
            skeleton_id=self._skeleton.id,
            environment=self._skeleton.title,
            tool=tool,
            layer=layer,
            told=told,
            new=new and mutant is not None,
            said=said[0] if said else "",
            calls=calls,
            how=self._settings.key,
            seconds=round(seconds, 3),
        )
        if mutant is None:
            return row
        return row.replace(
            mutant=mutant.skeleton.id,
            kind=mutant.kind,
            by_execution=mutant.by_execution,
            fault=mutant.told,
        )


def _key(found: Finding) -> tuple[str, str]:
    # A mutant may have more lines than its original.
    return found.kind, "" if found.where.startswith("line ") else found.where


def _fails(trial: Trial) -> bool:
    return trial.probe.verdict == "fail"


def _without_rules(skeleton: Skeleton, state: dict[str, Json], model: Model, settings: _Settings) -> Bench:
    """A bench on which no invariant speaks, so that what fails was failed by the judge or broke down."""
    rules = [rule.model_copy(update={"invariant": None}) for rule in skeleton.rules]
    return Bench(skeleton.replace(rules=rules), state, model, settings.seed, per_tool=settings.rounds)


class _Asked(Metered):
    """A model whose tokens are counted, and whose testing is done by chance where that is wanted."""

    def __init__(self, model: Model, skeleton: Skeleton, settings: _Settings) -> None:
        super().__init__(model)
        self._tools = {tool.name: tool for tool in skeleton.tools}
        self._chance = random.Random(settings.seed) if settings.tester == "chance" else None

    def answer(self, request: Request) -> Reply:
        """The judge's answer; to the tester's question one by chance where that is wanted."""
        if request.step == _TESTS and self._chance is not None:
            return Reply(self._choice(blocks(request.messages), self._chance))
        return super().answer(request)

    def _choice(self, said: Mapping[str, str], chance: random.Random) -> str:
        due = json.loads(said["suggestion"])
        hand = Hand(self._tools[due["tool"]], Values(json.loads(said["state"])), chance)
        arguments = hand.fresh() if due["intent"] == "positive" else hand.near(hand.fresh())
        return json.dumps({"thought": "", **due, "arguments": arguments})
