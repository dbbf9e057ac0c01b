"""The stage `rollouts`: which agent plays which scenario in which mode, in parallel, as `Records[Rollout]`.

`roll_out_all` plays every combination, or a seeded subset that is balanced: every chosen scenario is played
by all agents in all modes, and the scenarios are spread evenly over the environments, so that agents can be
compared on the same ground. How one episode goes is `episode`'s; what the rewards show is `show.stats`'s.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from envscaler.agent import TEMPERATURE, Agent
from envscaler.episode import default_user, roll_out
from envscaler.error import ParameterError
from envscaler.given import at_least
from envscaler.model.request import Model
from envscaler.parallel import run_all
from envscaler.schema import Failure, Rollout, Scenario, Skeleton
from envscaler.store import Records

SCRIPTED_WORKERS = 2


@dataclass(frozen=True)
class Plan:
    """One episode to play."""

    scenario: Scenario
    agent: Agent
    conversation: bool

    @property
    def id(self) -> str:
        """The scenario's id, which a failure to play it is filed under."""
        return self.scenario.id


def roll_out_all(
    skeletons: Iterable[Skeleton],
    scenarios: Iterable[Scenario],
    agents: Agent | Sequence[Agent],
    *,
    conversation: bool | Literal["both"] = False,
    user: Model | None = None,
    n: int | None = None,
    seed: int = 0,
    max_steps: int | None = None,
    finish: bool = False,
    user_temperature: float | None = TEMPERATURE,
    workers: int | None = None,
    progress: bool = True,
) -> Records[Rollout]:
    """Play many episodes; one that a model, the user, the world or an agent's own code broke is a rollout that failed.

    Args:
        skeletons: the worlds; a scenario whose skeleton is not among them becomes a failure.
        scenarios: what to play.
        agents: one agent, or several with different names.
        conversation: with a simulated user, without, or `"both"`.
        user: the model behind the user; default the built-in one.
        n: how many episodes to play; None for all combinations of scenario, agent and mode.
        seed: of the choice, and of every episode.
        max_steps: actions at most; default 30, in a conversation 40.
        finish: whether agents are offered a tool `finish` that ends their work; not in conversations.
        user_temperature: of the user's sampling; None leaves it to the server.
        workers: episodes at once; default what the agents' and the user's models allow.
        progress: whether to show a bar.
    """
    worlds = {skeleton.id: skeleton for skeleton in skeletons}
    players = _distinct(agents)
    modes = (False, True) if conversation == "both" else (bool(conversation),)
    speaker = (user or default_user(seed)) if True in modes else None
    known, failures = _with_skeleton(scenarios, worlds)
    plans = plan_rollouts(known, players, modes, n=n, seed=seed)

    def play(plan: Plan) -> Rollout:
        return roll_out(
            worlds[plan.scenario.skeleton_id],
            plan.scenario,
            plan.agent,
            conversation=plan.conversation,
            user=speaker,
            seed=seed,
            max_steps=max_steps,
            finish=finish,
            user_temperature=user_temperature,
        )

    at_once = workers or max(_workers_of(player) for player in [*players, speaker])
    rollouts = run_all(play, plans, stage="rollouts", workers=at_once, progress=progress)
    return Records(rollouts, [*failures, *rollouts.failures])


def plan_rollouts(
    scenarios: Sequence[Scenario],
    agents: Sequence[Agent],
    modes: Sequence[bool] = (False,),
    *,
    n: int | None = None,
    seed: int = 0,
) -> list[Plan]:
    """Choose episodes: all of them, or `n` balanced over scenarios, agents, modes and environments.

    Scenarios are taken one environment after the other, and each is given to all agents in all modes before
    the next; only the last one may go to some of them.
    """
    n = None if n is None else at_least(n, 1, "n")
    cells = [(agent, mode) for mode in modes for agent in agents]
    if n is None or n >= len(scenarios) * len(cells):
        return [Plan(scenario, *cell) for scenario in scenarios for cell in cells]
    rng = np.random.default_rng(seed)
    order = spread(scenarios, rng)
    # The last scenario is shared out at random, so that no agent is always the one left out.
    last = [cells[i] for i in rng.permutation(len(cells))[: n % len(cells)]]
    whole = n // len(cells)
    plans = [Plan(scenario, *cell) for scenario in order[:whole] for cell in cells]
    return plans + [Plan(scenario, *cell) for scenario in order[whole : whole + 1] for cell in last]


def spread(scenarios: Sequence[Scenario], rng: np.random.Generator) -> list[Scenario]:
    """Scenarios in a random order that visits each environment once before any a second time."""
    shuffled = [scenarios[i] for i in rng.permutation(len(scenarios))]
    visits: dict[str, int] = {}
    rounds: list[int] = []
    for scenario in shuffled:
        rounds.append(visits.get(scenario.skeleton_id, 0))
        visits[scenario.skeleton_id] = rounds[-1] + 1
    return [shuffled[i] for i in sorted(range(len(shuffled)), key=rounds.__getitem__)]


def _distinct(agents: Agent | Sequence[Agent]) -> list[Agent]:
    players = list(agents) if isinstance(agents, Sequence) else [agents]
    names = [player.name for player in players]
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"Expected agents with names that differ, got {names}. Give each a `name=`.")
    return players


def _with_skeleton(
    scenarios: Iterable[Scenario], worlds: dict[str, Skeleton]
) -> tuple[list[Scenario], list[Failure]]:
    known: list[Scenario] = []
    failures: list[Failure] = []
    for scenario in scenarios:
        if scenario.skeleton_id in worlds:
            known.append(scenario)
        else:
            message = f"Expected its skeleton {scenario.skeleton_id} among the {len(worlds)} given; add it."
            failures.append(
                Failure(stage="rollouts", parent_id=scenario.id, error="ParameterError", message=message)
            )
    return known, failures


def _workers_of(player: object) -> int:
    model = getattr(player, "model", player)
    return int(getattr(model, "workers", SCRIPTED_WORKERS))
