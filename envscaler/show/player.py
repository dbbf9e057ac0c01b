"""The episode player: one rollout step by step, and at every step what each check says of the state by then.

A `VBox` over the pure functions of `view`, to be used with the mouse, with keys, or from a cell
(`player.episode.value = 3`, `player.next()`). The states in between are rebuilt (see `world.retrace`) and graded
by the scenario's own checks, all steps of an episode at once when it is first looked at. The last step shows
what was recorded. No agent acts here, and no reward is changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from envscaler.error import EnvscalerError
from envscaler.schema import Outcome, Rollout, Scenario, Skeleton, reward_of
from envscaler.show.markup import Html, folded, page, prose_block, soft, text_block, titled
from envscaler.show.pager import ALL, Pager, dropdown, label_of
from envscaler.show.view import lights_html, message_html, outcomes_html, rollout_head, step_html
from envscaler.world.action import read_action
from envscaler.world.change import State, same
from envscaler.world.check import BYSTANDERS, grade_all
from envscaler.world.retrace import Retraced, retrace

RESULTS = (ALL, "solved", "paid in part", "paid nothing", "no reward")


@dataclass(frozen=True)
class Lights:
    """What the checks of an episode say at every step."""

    outcomes: list[list[Outcome]]
    """At reset, then after each step; empty where they cannot be had."""
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
        self._rollouts = list(rollouts)
        self._scenarios = {scenario.id: scenario for scenario in scenarios}
        self._skeletons = {skeleton.id: skeleton for skeleton in skeletons}
        self._results = [_result(rollout) for rollout in self._rollouts]
        self._lights: dict[int, Lights] = {}
        agents = sorted({rollout.agent for rollout in self._rollouts})
        self.agent = dropdown("agent", [ALL, *agents], width="240px")
        self.result = dropdown("result", list(RESULTS), width="180px")
        self.episode = dropdown("episode", [], width="560px")
        for choice in (self.agent, self.result):
            choice.observe(self._reepisode, "value")
        self._reepisode()
        ends = {"Home": lambda: self._turn(0), "End": lambda: self._turn(self.count - 1)}
        super().__init__([[self.agent, self.result], [self.episode]], keys=ends, hint=" · Home · End")
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
        """What the checks say at every step of an episode, by its number; worked out once."""
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
                titled(f"Step {step} of {rollout.steps}" if step else "Start", self._step(rollout, step)),
                titled("Outcomes", outcomes_html(rollout.outcomes)) if last else "",
                self._error(rollout) if last else "",
            )
        )

    def _step(self, rollout: Rollout, step: int) -> str:
        if step:
            return step_html(rollout.trajectory[step - 1])
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
        whole = "".join(folded(_heading(rollout, n), self._step(rollout, n)) for n in steps if rollout)
        return Html(super()._repr_html_() + (page(titled("All steps", whole)) if whole else ""))

    # Lights

    def _graded(self, rollout: Rollout) -> Lights:
        scenario = self._scenarios.get(rollout.scenario_id)
        if scenario is None:
            return Lights([], "The scenario of this episode was not given, so its checks are not known.")
        try:
            trace = retrace(rollout, scenario, self._skeletons.get(scenario.skeleton_id))
            outcomes = _grade(trace.states, scenario)
        except EnvscalerError as error:
            return Lights([], f"The checks could not be asked: {error}")
        return Lights(*_with_recorded(outcomes, rollout, trace))

    # Choices

    def _reepisode(self, _: object = None) -> None:
        wanted = (
            (self.agent.value, lambda i: self._rollouts[i].agent),
            (self.result.value, self._results.__getitem__),
        )
        fitting = [i for i in range(len(self._rollouts)) if all(w in (ALL, value(i)) for w, value in wanted)]
        self._offer(self.episode, [(self._name(i), i) for i in fitting], fitting[0] if fitting else None)

    def _name(self, place: int) -> str:
        rollout = self._rollouts[place]
        scenario = self._scenarios.get(rollout.scenario_id)
        mode = "Conv" if rollout.conversation else "Non-Conv"
        what = scenario.task if scenario else f"scenario {rollout.scenario_id}"
        return label_of(f"{place}: {self._results[place]}, {rollout.agent}, {mode}: {what}")


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
    return [graded[place] for place in where]


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
