"""The episode player: one rollout step by step, and at every step what each check says of the state by then.

A `VBox` over the pure functions of `view`, to be used with the mouse, with keys, or from a cell
(`player.episode.value = 3`, `player.next()`). The states in between are rebuilt (see `world.retrace`) and graded
by the scenario's own checks, all steps of an episode at once when it is first looked at. The last step shows
what was recorded. No agent acts here, and no reward is changed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pandas as pd
from ipywidgets import Label

from envscaler.error import EnvscalerError
from envscaler.given import many, place_in
from envscaler.schema import Outcome, Rollout, Scenario, Skeleton, reward_of
from envscaler.show.markup import Html, folded, page, prose_block, soft, text_block, titled
from envscaler.show.pager import ALL, Pager, dropdown, label_of
from envscaler.show.view import lights_html, message_html, outcomes_html, rollout_head, step_html
from envscaler.world.action import read_action
from envscaler.world.change import Diff, State, diff, same
from envscaler.world.check import BYSTANDERS, grade_all
from envscaler.world.retrace import Retraced, retrace

MOST_LISTED = 500
"""Episodes that are offered by name; a browser takes seconds over thousands."""
RESULTS = (ALL, "solved", "paid in part", "paid nothing", "no reward")


@dataclass(frozen=True)
class Lights:
    """What the checks of an episode say at every step."""

    outcomes: list[list[Outcome]]
    """At reset, then after each step; empty where they cannot be had."""
    diffs: list[Diff] = field(default_factory=list)
    """What each step changed, as recorded, or else between the rebuilt states."""
    remark: str = ""
    """What there is to know about them."""


class EpisodePlayer(Pager):
    """Rollouts, step by step: messages, calls, replies, what changed, and the lights of the checks.

    Args:
        rollouts: the episodes.
        scenarios: where they were played; without its scenario an episode has no lights.
        skeletons: the worlds; needed to make an episode again whose diffs are not recorded.
    """

    def __init__(
        self,
        rollouts: Iterable[Rollout],
        scenarios: Iterable[Scenario] = (),
        skeletons: Iterable[Skeleton] = (),
    ) -> None:
        self._rollouts = many(rollouts, Rollout)
        self._scenarios = {scenario.id: scenario for scenario in many(scenarios, Scenario)}
        self._skeletons = {skeleton.id: skeleton for skeleton in many(skeletons, Skeleton)}
        self._facts = [
            (self._world_of(rollout), rollout.agent, _result(rollout)) for rollout in self._rollouts
        ]
        self._lights: dict[int, Lights] = {}
        self._listed = Label()
        agents = sorted({rollout.agent for rollout in self._rollouts})
        self.environment = dropdown("environment", [ALL, *self._environments()], width="380px")
        self.agent = dropdown("agent", [ALL, *agents], width="220px")
        self.result = dropdown("result", list(RESULTS), width="180px")
        self.episode = dropdown("episode", [], width="700px")
        for choice in (self.environment, self.agent, self.result):
            choice.observe(self._reepisode, "value")
        self._reepisode()
        ends = {"Home": lambda: self._turn(0), "End": lambda: self._turn(self.count - 1)}
        rows = [[self.environment, self.agent, self.result], [self.episode, self._listed]]
        super().__init__(rows, keys=ends, hint=" · Home · End")
        self.add_class("es-player")

    @property
    def rollout(self) -> Rollout | None:
        """The episode that is shown."""
        return None if self.episode.value is None else self._rollouts[self.episode.value]

    @property
    def lights(self) -> pd.DataFrame:
        """What each check says at reset (row 0) and after each step, with the reward by then."""
        steps = self.lights_of(self.episode.value).outcomes if self.episode.value is not None else []
        rows = [
            {**{f"{n}: {o.item}": o.passed for n, o in enumerate(step)}, "reward": reward_of(step)}
            for step in steps
        ]
        return pd.DataFrame(rows)

    def lights_of(self, episode: int) -> Lights:
        """What the checks say at every step of an episode, by its number; worked out once.

        Raises:
            ParameterError: there is no such episode.
        """
        episode = place_in(episode, "an episode", len(self._rollouts))
        if episode not in self._lights:
            self._lights[episode] = self._graded(self._rollouts[episode])
        return self._lights[episode]

    def entries(self) -> list[tuple[int, int]]:
        """Rollout and step of the chosen episode; step 0 is the reset."""
        chosen = self.episode.value
        return [] if chosen is None else [(chosen, step) for step in range(self._rollouts[chosen].steps + 1)]

    def card(self, entry: tuple[int, int]) -> str:
        """One step under the head of its episode and the lights."""
        number, step = entry
        rollout, lights = self._rollouts[number], self.lights_of(number)
        last = step == rollout.steps
        shown = lights_html(lights.outcomes, step) + (
            f"<p>{soft(lights.remark)}</p>" if lights.remark else ""
        )
        return "".join(
            (
                rollout_head(rollout),
                titled("Checks", shown),
                titled(
                    f"Step {step} of {rollout.steps}" if step else "Start",
                    self._step(rollout, step, lights.diffs),
                ),
                titled("Outcomes", outcomes_html(rollout.outcomes)) if last else "",
                self._error(rollout) if last else "",
            )
        )

    def _step(self, rollout: Rollout, step: int, diffs: list[Diff]) -> str:
        if step:
            made = rollout.trajectory[step - 1]
            return step_html(made.model_copy(update={"diff": diffs[step - 1]}) if diffs else made)
        opening = []
        for message in rollout.messages:
            if message.get("role") not in ("system", "user"):
                break
            opening.append(message_html(message))
        scenario = self._scenarios.get(rollout.scenario_id)
        task = folded("the task as it was posed", prose_block(scenario.task)) if scenario else ""
        return "".join(opening) + task + ("" if rollout.steps else f"<p>{soft('It took no step.')}</p>")

    def _error(self, rollout: Rollout) -> str:
        error = rollout.extra.get("error")
        return titled("What broke", text_block(str(error))) if error else ""

    def _repr_html_(self) -> Html:
        rollout = self.rollout
        steps = range(rollout.steps + 1) if rollout else ()
        diffs = [] if rollout is None else self.lights_of(self.episode.value).diffs
        parts = (folded(_heading(rollout, n), self._step(rollout, n, diffs)) for n in steps if rollout)
        whole = "".join(parts)
        return Html(super()._repr_html_() + (page(titled("All steps", whole)) if whole else ""))

    # Lights

    def _graded(self, rollout: Rollout) -> Lights:
        scenario = self._scenarios.get(rollout.scenario_id)
        if scenario is None:
            return Lights(
                [], remark="The scenario of this episode was not given, so its checks are not known."
            )
        try:
            trace = retrace(rollout, scenario, self._skeletons.get(scenario.skeleton_id))
            outcomes = _grade(trace.states, scenario)
        except EnvscalerError as error:
            return Lights([], remark=f"The checks could not be asked: {error}")
        outcomes, remark = _with_recorded(outcomes, rollout, trace)
        return Lights(outcomes, _diffs(rollout, trace), remark)

    # Choices

    def play(self, episode: int) -> None:
        """Show an episode by its number among the rollouts, whatever was chosen before.

        Raises:
            ParameterError: there is no such episode.
        """
        episode = place_in(episode, "an episode", len(self._rollouts))
        with self._without_a_look():
            for choice in (self.environment, self.agent, self.result):
                choice.value = ALL
        self._list(range(len(self._rollouts)), episode)
        self.refresh()

    def _reepisode(self, _: object = None) -> None:
        wanted = (self.environment.value, self.agent.value, self.result.value)
        fitting = [
            place
            for place, facts in enumerate(self._facts)
            if all(w in (ALL, f) for w, f in zip(wanted, facts, strict=True))
        ]
        self._list(fitting, fitting[0] if fitting else None)

    def _list(self, fitting: Sequence[int], chosen: int | None) -> None:
        start = 0 if chosen is None else min(fitting.index(chosen), max(0, len(fitting) - MOST_LISTED))
        listed = fitting[start : start + MOST_LISTED]
        self._offer(self.episode, [(self._name(place), place) for place in listed], chosen)
        cut = len(listed) < len(fitting)
        self._listed.value = f"{len(listed):,} of {len(fitting):,} are listed; choose more" if cut else ""

    def _environments(self) -> list[tuple[str, str]]:
        """Titles of the worlds that were played in, where they are known."""
        ids = dict.fromkeys(environment for environment, _, _ in self._facts if environment)
        known = {i: self._skeletons[i].title if i in self._skeletons else i for i in ids}
        return sorted((label_of(title), i) for i, title in known.items())

    def _world_of(self, rollout: Rollout) -> str:
        scenario = self._scenarios.get(rollout.scenario_id)
        return scenario.skeleton_id if scenario else ""

    def _name(self, place: int) -> str:
        rollout = self._rollouts[place]
        scenario = self._scenarios.get(rollout.scenario_id)
        mode = "Conv" if rollout.conversation else "Non-Conv"
        what = scenario.task if scenario else f"scenario {rollout.scenario_id}"
        return label_of(f"{place}: {self._facts[place][2]}, {rollout.agent}, {mode}: {what}")


def _heading(rollout: Rollout, step: int) -> str:
    """What a folded step is called: its number and what it calls or says."""
    if not step:
        return "start"
    action = rollout.trajectory[step - 1].action
    called = ", ".join(call.name or "a broken call" for call in read_action(action).calls)
    return label_of(f"step {step}: {called or action.get('content') or 'nothing'}")


def _result(rollout: Rollout) -> str:
    reward = rollout.reward
    if reward is None:
        return "no reward"
    return "solved" if reward == 1 else "paid in part" if reward else "paid nothing"


def _grade(states: list[State], scenario: Scenario) -> list[list[Outcome]]:
    """Outcomes of every state, of equal ones in a row once."""
    distinct: list[State] = []
    where: list[int] = []
    for state in states:
        if not distinct or not (state is distinct[-1] or same(state, distinct[-1])):
            distinct.append(state)
        where.append(len(distinct) - 1)
    graded = grade_all(scenario.checks, states[0], distinct, scenario.may_change)
    if not scenario.may_change:
        # Nobody has said what this task may touch, so the guard for the rest has nothing to say.
        graded = [[o for o in outcomes if o.item != BYSTANDERS] for outcomes in graded]
    return [graded[place] for place in where]


def _diffs(rollout: Rollout, trace: Retraced) -> list[Diff]:
    """What each step changed; an episode of somebody else has not recorded it."""
    steps = zip(rollout.trajectory, pairwise(trace.states), strict=True)
    return [step.diff or diff(before, after) for step, (before, after) in steps]


def _with_recorded(
    outcomes: list[list[Outcome]], rollout: Rollout, trace: Retraced
) -> tuple[list[list[Outcome]], str]:
    """The outcomes with the recorded ones at the end, and a remark where the two do not agree."""
    remarks = []
    if trace.certain is None and rollout.ending != "failed":
        remarks.append("No final state was recorded that the steps in between could be held against.")
    if trace.certain is False:
        remarks.append(
            "The steps in between could not be rebuilt to the recorded end, so their lights may be wrong."
        )
    if rollout.ending == "failed":
        remarks.append("The episode failed, so it has no reward; the lights are those of the steps it made.")
    now, recorded = outcomes[-1], rollout.outcomes
    if recorded and BYSTANDERS not in {outcome.item for outcome in recorded}:
        # Episodes of others were graded without the library's own guard.
        recorded = [*recorded, *(outcome for outcome in now if outcome.item == BYSTANDERS)]
    if recorded and [o.item for o in recorded] != [o.item for o in now]:
        remarks.append("Other checks were recorded than the scenario has; see the outcomes at the last step.")
    elif recorded:
        if [o.passed for o in recorded] != [o.passed for o in now]:
            remarks.append("Asked again, the checks say something else of the last state than was recorded.")
        outcomes = [*outcomes[:-1], recorded]
    return outcomes, " ".join(remarks)
