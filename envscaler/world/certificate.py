"""The certificate of a scenario: what execution shows of its task, its checks and its witness.

Every line of it is a trial that was run, for scenarios of this library and for anybody's. An agent that does
nothing, a wiped database and garbage must earn 0. The witness must earn 1, in another process and with another seed
too; leaving out any of its changes must cost something; its rules must hold along it. What solves the task
otherwise must be paid as well (`otherwise`), and mutants of the solution must not be (`mutants`), nor a call more
that spoils something (`unasked`): each goal must tell one from the solution that no other goal does, each guard must
be broken by one. Every check must answer on every state met here. Without a witness the trials that need one are
`unproved`.

The witness is played once with a snapshot before every call, and what differs from it goes on from there; all states
are graded in one sealed worker. This module searches no witness and repairs nothing; what a line needs to be
proved is decided in `proofs`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from envscaler.error import EnvironmentLost, SourceError
from envscaler.record import canonical
from envscaler.schema import Certificate, Json, Outcome, Proof, Scenario, Skeleton
from envscaler.world import clock
from envscaler.world.change import State, diff, same
from envscaler.world.check import Grader, survivors
from envscaler.world.environment import Environment
from envscaler.world.mutants.calls import ARGUMENT_MORE, CallMutant, call_mutants, named
from envscaler.world.mutants.states import FREED, StateMutant, state_mutants
from envscaler.world.mutants.texts import quoted_in, text_mutants
from envscaler.world.proving import proofs
from envscaler.world.proving.alike import Alike
from envscaler.world.proving.otherwise import Otherwise, Ways, free_values, held_to
from envscaler.world.proving.proofs import Ended, Tried
from envscaler.world.proving.repeated import Repeated
from envscaler.world.proving.shape import Shape, leaves, value_at
from envscaler.world.proving.unasked import AFTERWARDS, UNASKED, afterwards, freed_tables, unasked_calls
from envscaler.world.schemas import sound
from envscaler.world.witness import Branch, Branches, play

LATER = 26 * 3600.0
"""Seconds that the later clock is ahead: another day and another hour."""


def certify(skeleton: Skeleton, scenario: Scenario, *, seed: int = 0, **options: Any) -> Certificate:
    """Try a scenario out.

    Args:
        skeleton: the world it plays in.
        scenario: initial state, task, checks, and a witness if there is one.
        seed: of the first replay, and of the choice of mutants; another replay uses the next one.
        options: of `Environment`, e.g. `timeout` and `isolation`.
    """
    try:
        with Environment(skeleton, scenario, seed=seed, **options) as environment:
            environment.reset()
            return _Trials(sound(skeleton), scenario, environment, seed, options).certificate()
    except SourceError as error:
        return Certificate(proofs=[Proof(name="loads", status="failed", detail=str(error))])


class _Trials:
    """The trials of one scenario."""

    def __init__(
        self,
        skeleton: Skeleton,
        scenario: Scenario,
        environment: Environment,
        seed: int,
        options: dict[str, Any],
    ) -> None:
        witness, self._held = held_to(scenario.task, scenario.witness or [])
        self._scenario = scenario.replace(witness=witness) if self._held else scenario
        self._skeleton, self._environment = skeleton, environment
        self._seed, self._options = seed, options
        self._initial = environment.view
        self._graded: dict[str, list[Outcome]] = {}
        self._dropped: dict[str, str] = {}  # by call left out: the end without it; none where one is refused
        self._freed = freed_tables(self._initial, scenario.may_change)
        self._sources = "\n".join(check.source for check in scenario.checks)

    def certificate(self) -> Certificate:
        """All of them."""
        kept = {name: value for name, value in self._options.items() if name in ("timeout", "isolation")}
        checks, may_change = self._scenario.checks, self._scenario.may_change
        with Grader(checks, self._initial, may_change, **kept) as self._grader:
            first = self._without_witness()
            if not self._scenario.witness:
                missing = [*proofs.PLAYED, *proofs.OTHERWISE, *proofs.MUTATED]
                lines, rest = proofs.unproved(missing, "There is no witness."), Certificate(proofs=[])
            else:
                lines, rest = self._with_witness()
        answers = proofs.always_answer(self._graded)
        return rest.model_copy(update={"proofs": [*first, answers, *lines]})

    def _grade(self, states: dict[str, State]) -> dict[str, list[Outcome]]:
        """The outcomes of each state under its name, which tells it apart in the line about checks that break."""
        graded = dict(zip(states, self._grader.grade(list(states.values())), strict=True))
        self._graded |= graded
        return graded

    # Without a witness

    def _without_witness(self) -> list[Proof]:
        """A goal; nothing done, wiped, garbage; something that must survive."""
        initial = self._initial
        graded = self._grade(
            {
                "nothing done": initial,
                "database wiped": wiped(initial),
                "garbage written": garbage(initial),
            }
        )
        return [
            proofs.has_goal(self._scenario),
            *(proofs.pays_nothing(name, outcomes) for name, outcomes in graded.items()),
            proofs.idle_goals(graded["nothing done"]),
            proofs.must_survive(survivors(initial, self._scenario.may_change)),
        ]

    # With a witness

    def _with_witness(self) -> tuple[list[Proof], Certificate]:
        """The lines, and what else the certificate holds."""
        try:
            branches = Branches(self._environment, self._scenario.witness)
        except EnvironmentLost as lost:
            first = Ended(None, self._initial, str(lost))
            return self._unplayed(first), Certificate(proofs=[])
        first = Ended(branches.played, branches.final)
        resolved = Certificate(proofs=[], resolved=branches.played.calls)
        if not first.accepted:
            return self._unplayed(first), resolved
        outcomes = self._grade({"the witness": first.final})["the witness"]
        line = proofs.solves("witness replayed", first, outcomes)
        if line.status != "proved":
            missing = [*proofs.PLAYED[1:], *proofs.OTHERWISE, *proofs.MUTATED]
            return [line, *proofs.unproved(missing, "The witness does not earn 1.")], resolved
        return self._solved(line, first, branches, resolved)

    def _unplayed(self, first: Ended) -> list[Proof]:
        missing = [*proofs.PLAYED[1:], *proofs.OTHERWISE, *proofs.MUTATED]
        line = proofs.solves("witness replayed", first, [])
        return [line, *proofs.unproved(missing, "The witness does not play.")]

    def _solved(
        self, line: Proof, first: Ended, branches: Branches, rest: Certificate
    ) -> tuple[list[Proof], Certificate]:
        """What is tried when the witness is accepted and earns 1."""
        alike = Alike(self._initial, first.final, branches.chosen_keys())
        again = self._play(self._seed)
        other, later = self._elsewhere(alike, first.final)
        ways = [*self._ways(branches, alike), *later[0]]
        tried = self._tried({f"{w.family}: {w.what}": (w.family, w.what, w.final, True) for w in ways})
        others = proofs.solved_otherwise(tried, later[1], given_up=branches.given_up)
        lines = [line, proofs.repeats(first, again), other, *others]
        mutants = self._mutants(branches, alike)
        lines += [
            self._left_out(branches),
            proofs.killed(mutants, self._held),
            proofs.freed_guarded([mutant for mutant in mutants if mutant.kind in FREED]),
            proofs.goals_needed(mutants),
            proofs.guards_broken(mutants),
            *self._rules(branches),
        ]
        kills = [kill for mutant in mutants if (kill := mutant.kill) is not None]
        return lines, rest.model_copy(update={"kills": kills})

    def _play(self, seed: int, **options: Any) -> Ended:
        """The witness, played in an environment of its own."""
        try:
            with Environment(
                self._skeleton, self._scenario, seed=seed, **{**self._options, **options}
            ) as environment:
                environment.reset()
                played = play(environment, self._scenario.witness)
                return Ended(played, environment.state)
        except (EnvironmentLost, SourceError) as error:
            return Ended(None, {}, str(error))

    def _tried(self, states: dict[str, tuple[str, str, State, bool]]) -> list[Tried]:
        graded = self._grade({name: state for name, (_, _, state, _) in states.items()})
        return [Tried(kind, what, graded[name], reach) for name, (kind, what, _, reach) in states.items()]

    # Elsewhere: another seed, a later clock

    def _elsewhere(self, alike: Alike, final: State) -> tuple[Proof, tuple[list[Otherwise], dict[str, str]]]:
        """Another seed and a later clock: first both in one play, and each by itself where that does not do."""
        name, family = "witness with another seed", "later clock"
        start = float(self._options.get("start", clock.START)) + LATER
        both = self._play(self._seed + 1, start=start)
        if both.accepted:
            line = proofs.solves(name, both, self._grade({name: both.final})[name])
            if line.status == "proved":
                alike.loosen(final, both.final)
                return line, ([Otherwise(family, "26 hours later", both.final)], {})
        seeded, later = self._play(self._seed + 1), self._play(self._seed, start=start)
        for end in (seeded, later):
            if end.accepted:
                alike.loosen(final, end.final)
        outcomes = self._grade({name: seeded.final})[name] if seeded.accepted else []
        line = proofs.solves(name, seeded, outcomes)
        if not later.accepted:
            return line, ([], {family: f"26 hours later it does not play ({later.problem[:120]})"})
        return line, ([Otherwise(family, "26 hours later", later.final)], {})

    def _ways(self, branches: Branches, alike: Alike) -> Iterator[Otherwise]:
        task = self._scenario.task.lower()
        asked = [text for text in quoted_in(self._sources) if text.lower() in task]
        free = list(free_values(self._skeleton, branches, alike, self._seed, asked))
        for way in free:
            alike.loosen(branches.final, way.final, everywhere=False)
        yield from Ways(self._skeleton, branches, alike, self._seed).all()
        yield from free

    # Mutants

    def _mutants(self, branches: Branches, alike: Alike) -> list[Tried]:
        """Mutants of calls that lead to an end of their own, then mutants of the final state."""
        repeated = Repeated(branches, alike, self._scenario.may_change, self._sources)
        ends, shape = _Ends(branches, alike, repeated), Shape(self._initial)
        options: dict[str, Any] = {"seed": self._seed, "task": self._scenario.task}
        for mutant in call_mutants(self._skeleton, branches.witness, branches.played, shape, **options):
            led_to = ends.play(mutant)
            if led_to and mutant.kind == "call dropped":
                self._dropped[mutant.what] = led_to[1] if led_to[0].refused is None else ""
        texts = self._texts(ends, shape, alike)
        for one in unasked_calls(self._skeleton, branches, self._seed):
            if not ends.is_known(one.state):
                ends.add(UNASKED, one.what, one.state, one.spoils(self._freed))
        for one in afterwards(self._skeleton, branches, alike, self._seed):
            if not ends.is_known(one.state):
                ends.add(AFTERWARDS, one.what, one.state, True)
        given = _given(branches)
        for made in self._state_mutants(branches, alike):
            if made.kind not in _MAY_BE_ALIKE or not ends.is_known(made.state):
                ends.add(made.kind, made.what, made.state, _within_reach(made, branches.final, given))
        tried = self._as_tools_take_them(self._tried(ends.taken()), texts, ends)
        return [*tried, *self._harder(branches, proofs.idle_guards(tried))]

    def _texts(self, ends: "_Ends", shape: Shape, alike: Alike) -> dict[tuple[str, str], CallMutant]:
        """Other texts in the final state, each with the call that would put it there."""
        branches = ends.branches
        states = self._initial, branches.final
        made = text_mutants(
            self._skeleton,
            branches.witness,
            branches.played,
            states,
            shape,
            loose=alike.is_loose,
            sources=self._sources,
        )
        calls = {}
        for text in made:
            if text.state is None:
                ends.play(text.call)
            else:
                calls[text.call.kind, text.call.what] = text.call
                ends.add(text.call.kind, text.call.what, text.state, True)
        return calls

    def _as_tools_take_them(
        self, tried: list[Tried], texts: dict[tuple[str, str], CallMutant], ends: "_Ends"
    ) -> list[Tried]:
        """What was tried; in the place of texts that are paid, the ends of the calls that would write them."""
        doubted = [t for t in tried if (t.kind, t.what) in texts and t.survives]
        for one in doubted:
            ends.play(texts[one.kind, one.what])
        if not doubted or ends.branches.given_up:
            return tried
        return [*(t for t in tried if t not in doubted), *self._tried(ends.taken())]

    def _state_mutants(self, branches: Branches, alike: Alike) -> Iterator[StateMutant]:
        return state_mutants(
            self._initial,
            branches.final,
            seed=self._seed,
            loose=alike.is_loose,
            named=self._sources,
            freed=self._freed,
            shape=alike.shape,
        )

    def _harder(self, branches: Branches, idle: Sequence[str]) -> list[Tried]:
        """For guards that nothing has broken yet: the final state with whole tables emptied or spoilt."""
        if not idle:
            return []
        states: dict[str, tuple[str, str, State, bool]] = {}
        final = branches.final
        for table, value in final.items():
            if isinstance(value, dict | list) and value:
                for kind, spoil in (("table emptied", wiped), ("table spoilt", garbage)):
                    states[f"{kind}: {table}"] = (kind, table, {**final, **spoil({table: value})}, False)
        return self._tried(states)

    def _left_out(self, branches: Branches) -> Proof:
        """Each change of the witness must matter: without it the reward falls, or a later call is refused."""
        writes = [named(branches.witness, n) for n, changed in enumerate(branches.played.diffs) if changed]
        ends = {call: self._graded[end] for call, end in self._dropped.items() if end}
        paid = [call for call in writes if call in ends and Tried("", "", ends[call]).survives]
        return proofs.leave_one_out(writes, paid, [call for call in writes if call not in self._dropped])

    def _rules(self, branches: Branches) -> list[Proof]:
        """The invariants, along the witness."""
        if not any(rule.invariant for rule in self._skeleton.rules):
            return []
        played, states = branches.played, branches.states
        changes = [
            (
                states[place],
                states[place + 1],
                {"tool": call.tool, "arguments": call.arguments, "reply": played.replies[place]},
            )
            for place, call in enumerate(played.calls)
        ]
        found = self._grader.broken_invariants(self._skeleton.rules, changes)
        return [proofs.holds_along([f.message for findings in found for f in findings])]


class _Ends:
    """The ends that mutants lead to, each of them once."""

    def __init__(self, branches: Branches, alike: Alike, repeated: Repeated) -> None:
        self.branches, self._alike, self._repeated = branches, alike, repeated
        self._own = alike.mark(branches.final)
        self._names = {self._own: "the witness"}
        self._states: dict[str, tuple[str, str, State, bool]] = {}

    def taken(self) -> dict[str, tuple[str, str, State, bool]]:
        """Those that were added since this was last asked, under their names."""
        states, self._states = self._states, {}
        return states

    def add(self, kind: str, what: str, state: State, reachable: bool) -> None:
        """One that was made without playing it."""
        self._states.setdefault(f"{kind}: {what}", (kind, what, state, reachable))

    def play(self, mutant: CallMutant) -> tuple[Branch, str] | None:
        """Play one; how it went, and what the first one that ended so is called. None where it is no mutant."""
        branch = self.branches.go_on(mutant.place, mutant.calls, astray=mutant.wrong)
        if branch is None or (mutant.wrong and self.branches.differs_freely(mutant.place, branch)):
            return None
        if mutant.kind == "call doubled" and self._repeated.is_noted_only(mutant.place - 1):
            return None
        mark = self._alike.mark(branch.final)
        if mark == self._own and mutant.kind not in _OTHER_NUMBER and branch.refused is None:
            # As many calls at the same times: what differs comes of the argument, also where times stand.
            mark = self._own if same(branch.final, self.branches.final) else canonical(branch.final)
        if mark not in self._names:
            self._names[mark] = f"{mutant.kind}: {mutant.what}"
            # What a new record says besides is let pass, as rows are that nobody asked for.
            reach = mutant.kind != ARGUMENT_MORE or self._concerns_old(branch.final)
            self.add(mutant.kind, mutant.what, branch.final, reach)
        return branch, self._names[mark]

    def _concerns_old(self, final: State) -> bool:
        """Whether a state differs from the witness's in a record that was there in the beginning."""
        right = self.branches.final
        new = {where for where, how in diff(self.branches.states[0], right).items() if "added" in how}
        return any(where not in new and "added" not in how for where, how in diff(right, final).items())

    def is_known(self, state: State) -> bool:
        """Whether a play of one, or the witness, ended in a state like this."""
        return self._alike.mark(state) in self._names


_OTHER_NUMBER = frozenset({"call dropped", "call doubled"})
"""Mutants with another number of calls, which shifts the times of those that follow."""
_MAY_BE_ALIKE = frozenset({"points elsewhere", "values swapped"})
"""Mutants of states that may be the solution with its generated ids exchanged."""


def _given(branches: Branches) -> tuple[set[tuple[str, Json]], set[str]]:
    """What the witness gave by arguments that are not free: values with names, and texts."""
    pairs: set[tuple[str, Json]] = set()
    for call in branches.played.calls:
        for name, given in call.arguments.items():
            if name not in call.free:
                pairs |= {(str(way[-1]) if way else name, v) for way, v in leaves(given) if _plain(v)}
                pairs |= {(name, v) for _, v in leaves(given) if _plain(v)}
    return pairs, {value for _, value in pairs if isinstance(value, str) and len(value) > 2}


def _within_reach(mutant: StateMutant, final: State, given: tuple[set[tuple[str, Json]], set[str]]) -> bool:
    """Whether the value made wrong was given by an argument, so that another argument may have made it so."""
    if not mutant.done or not mutant.place.path:
        return False
    value = value_at(final, mutant.place)
    name = next((step for step in reversed(mutant.place.path) if isinstance(step, str)), "")
    return _plain(value) and ((name, value) in given[0] or value in given[1])


def _plain(value: Json) -> bool:
    return value is not None and not isinstance(value, dict | list)


# States that must earn nothing


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
    return "\ufffdgarbage\ufffd"
