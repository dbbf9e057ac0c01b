"""The certificate of a scenario: what execution shows of its task, its checks and its witness.

Every line of it is a trial that was run, for scenarios of this library and for anybody's. An agent that does
nothing, a wiped database and garbage must earn 0; the witness must earn 1, with another seed too, and end in
the same state when the seed is the same; leaving out any write of the witness must cost something; every
check must answer on every state met here; at least one initial record must have to survive. Without a witness
the trials that need one are `unproved`.

It does not search a witness and repairs nothing.
"""

from collections.abc import Sequence
from typing import Any

from envscaler.error import EnvironmentLost, SourceError
from envscaler.record import FROM, Json, map_references
from envscaler.schema import Call, Certificate, Outcome, Proof, Scenario, Skeleton, reward_of
from envscaler.world.change import State, copied, same
from envscaler.world.check import all_broken_invariants, grade_all, survivors
from envscaler.world.environment import Environment
from envscaler.world.witness import Played, play

Witness = Sequence[Call]


def certify(skeleton: Skeleton, scenario: Scenario, *, seed: int = 0, **options: Any) -> Certificate:
    """Try a scenario out.

    Args:
        skeleton: the world it plays in.
        scenario: initial state, task, checks, and a witness if there is one.
        seed: of the first replay; another replay uses the next one.
        options: of `Environment`, e.g. `timeout` and `isolation`.
    """
    trials = _Trials(skeleton, scenario, seed, options)
    try:
        initial = trials.initial()
    except SourceError as error:
        return Certificate(proofs=[Proof(name="loads", status="failed", detail=str(error))])
    return Certificate(proofs=[*trials.without_witness(initial), *trials.with_witness(initial)])


class _Trials:
    """The trials of one scenario."""

    def __init__(self, skeleton: Skeleton, scenario: Scenario, seed: int, options: dict[str, Any]) -> None:
        self._skeleton, self._scenario, self._seed, self._options = skeleton, scenario, seed, options
        self._grading = {k: v for k, v in options.items() if k in ("timeout", "isolation")}

    def environment(self, seed: int) -> Environment:
        return Environment(self._skeleton, self._scenario, seed=seed, **self._options)

    def initial(self) -> State:
        with self.environment(self._seed) as environment:
            return environment.initial_state

    def grade(self, initial: State, finals: list[State]) -> list[list[Outcome]]:
        scenario = self._scenario
        return grade_all(scenario.checks, initial, finals, scenario.may_change, **self._grading)

    # Without a witness

    def without_witness(self, initial: State) -> list[Proof]:
        """Nothing done, wiped, garbage; a goal; something that must survive; checks that always answer."""
        states = {
            "nothing done": initial,
            "database wiped": wiped(initial),
            "garbage written": garbage(initial),
        }
        graded = dict(zip(states, self.grade(initial, list(states.values())), strict=True))
        proofs = [
            _has_goal(self._scenario),
            *(_pays_nothing(name, outcomes) for name, outcomes in graded.items()),
        ]
        return [*proofs, _idle_goals(graded["nothing done"]), _answers(graded), self._survivors(initial)]

    def _survivors(self, initial: State) -> Proof:
        count = survivors(initial, self._scenario.may_change)
        detail = "" if count else "Expected a record that must survive, but the task may change everything."
        return _proof("something must survive", bool(count), detail, figure=count)

    # With a witness

    def with_witness(self, initial: State) -> list[Proof]:
        """Replays, and the witness with each of its writes left out."""
        witness = self._scenario.witness
        if not witness:
            names = (
                "witness replayed",
                "witness replayed again",
                "witness with another seed",
                "leave one out",
            )
            return [Proof(name=name, status="unproved", detail="There is no witness.") for name in names]
        first = self._play(witness, self._seed)
        again, other = self._play(witness, self._seed), self._play(witness, self._seed + 1)
        proofs = [self._solves("witness replayed", initial, first)]
        proofs.append(_repeats(first, again))
        proofs.append(self._solves("witness with another seed", initial, other))
        if isinstance(first, str):
            return [
                *proofs,
                Proof(name="leave one out", status="unproved", detail="The witness does not play."),
            ]
        proofs.append(self._leave_one_out(initial, first[0]))
        return [*proofs, *self._rules(initial, first[0])]

    def _play(self, witness: Witness, seed: int) -> "tuple[Played, State] | str":
        """The play and the final state, or why there is none."""
        try:
            with self.environment(seed) as environment:
                environment.reset()
                played = play(environment, witness)
                return played, environment.state
        except (EnvironmentLost, SourceError) as error:
            return str(error)

    def _solves(self, name: str, initial: State, run: "tuple[Played, State] | str") -> Proof:
        if isinstance(run, str):
            return Proof(name=name, status="failed", detail=run)
        played, final = run
        if played.refused is not None:
            call, reply = played.calls[played.refused], played.replies[played.refused]
            said = f"Call {played.refused} ({call.tool}) was refused: {str(reply)[:300]}"
            return Proof(name=name, status="failed", detail=said)
        outcomes = self.grade(initial, [final])[0]
        paid = reward_of(outcomes)
        return _proof(
            name, paid == 1.0, f"Expected reward 1, got {_shown(paid)}: {_failing(outcomes)}", figure=paid
        )

    def _leave_one_out(self, initial: State, played: Played) -> Proof:
        """Each write of the witness must matter: without it the reward falls, or a later call is refused."""
        witness = self._scenario.witness
        needless = []
        writes = [place for place, changed in enumerate(played.diffs) if changed]
        for place in writes:
            run = self._play(without(witness, place, played), self._seed)
            if isinstance(run, str) or run[0].refused is not None:
                continue
            if reward_of(self.grade(initial, [run[1]])[0]) == 1.0:
                needless.append(place)
        share = (len(writes) - len(needless)) / len(writes) if writes else 0.0
        if not writes:
            return Proof(
                name="leave one out", status="failed", figure=0.0, detail="The witness changes nothing."
            )
        calls = ", ".join(f"{place} ({witness[place].tool})" for place in needless)
        return _proof("leave one out", not needless, f"Reward is 1 without call {calls}.", figure=share)

    def _rules(self, initial: State, played: Played) -> list[Proof]:
        """The invariants, along the witness."""
        if not any(rule.invariant for rule in self._skeleton.rules):
            return []
        changes = []
        with self.environment(self._seed) as environment:
            environment.reset()
            before = copied(initial)
            for call in played.calls:
                reply = environment.call(call.tool, call.arguments)
                after = environment.state
                changes.append((before, after, {**call.model_dump(mode="json"), "reply": reply}))
                before = after
        found = all_broken_invariants(self._skeleton.rules, changes, **self._grading)
        broken = [f.message for findings in found for f in findings]
        return [_proof("rules hold along the witness", not broken, " ".join(broken[:3]), figure=len(broken))]


def without(witness: Witness, place: int, played: Played) -> list[Call]:
    """The witness less one call; references to it keep the values they had, others count one less."""

    def moved(way: Json) -> Json:
        if not isinstance(way, list) or not way:
            return {FROM: way}
        source, *path = way
        if source == place:
            # What it would have given is not there; a value that no record has shows it best.
            return f"missing result of call {place}"
        return {FROM: [source - (source > place), *path]}

    return [
        Call(tool=call.tool, arguments={k: map_references(v, moved) for k, v in call.arguments.items()})
        for number, call in enumerate(witness)
        if number != place
    ]


def wiped(state: State) -> State:
    """The state with every table and list empty."""
    return {name: type(value)() if isinstance(value, dict | list) else value for name, value in state.items()}


def garbage(state: State) -> State:
    """The state with every text, number and truth value replaced by one that means nothing."""
    return {name: _spoilt(value) for name, value in state.items()}


def _spoilt(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _spoilt(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_spoilt(part) for part in value]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return -987654321
    return "�garbage�"


# One line of the certificate each


def _proof(name: str, holds: bool, detail: str, figure: float | None = None) -> Proof:
    return Proof(
        name=name, status="proved" if holds else "failed", figure=figure, detail="" if holds else detail
    )


def _shown(paid: float | None) -> str:
    return "none, for a check broke" if paid is None else f"{paid:.2f}"


def _failing(outcomes: Sequence[Outcome]) -> str:
    failing = [f"{o.item}{f' ({o.note})' if o.note else ''}" for o in outcomes if o.passed is not True]
    return "; ".join(failing[:3])


def _has_goal(scenario: Scenario) -> Proof:
    goals = sum(check.kind == "goal" for check in scenario.checks)
    return _proof("has a goal", goals > 0, "Expected at least one goal, got none.", figure=goals)


def _pays_nothing(name: str, outcomes: Sequence[Outcome]) -> Proof:
    paid = reward_of(list(outcomes))
    passed = [o.item for o in outcomes if o.kind == "goal" and o.passed]
    detail = f"Expected reward 0, got {_shown(paid)}; already true: {'; '.join(passed[:3])}"
    if paid is None:
        detail = f"Expected reward 0, got {_shown(paid)}: {_failing(outcomes)}"
    return _proof(name, paid == 0.0, detail, figure=paid)


def _idle_goals(outcomes: Sequence[Outcome]) -> Proof:
    true = [o.item for o in outcomes if o.kind == "goal" and o.passed]
    broken = [o.item for o in outcomes if o.kind == "guard" and o.passed is False]
    detail = (
        f"At reset these goals hold: {'; '.join(true) or 'none'}; guards fail: {'; '.join(broken) or 'none'}."
    )
    return _proof(
        "goals open, guards whole at reset", not true and not broken, detail, figure=len(true) + len(broken)
    )


def _answers(graded: dict[str, list[Outcome]]) -> Proof:
    broken = [
        f"{o.item} ({name}: {o.note})"
        for name, outcomes in graded.items()
        for o in outcomes
        if o.passed is None
    ]
    return _proof("checks always answer", not broken, "; ".join(broken[:3]), figure=len(broken))


def _repeats(first: "tuple[Played, State] | str", again: "tuple[Played, State] | str") -> Proof:
    name = "witness replayed again"
    if isinstance(first, str) or isinstance(again, str):
        return Proof(name=name, status="failed", detail=first if isinstance(first, str) else str(again))
    equal = same(first[1], again[1]) and all(map(same, first[0].replies, again[0].replies))
    return _proof(name, equal, "Expected the same replies and final state for the same seed, got others.")
