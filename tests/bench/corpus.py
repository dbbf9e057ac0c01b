"""What the built-in model's scenarios are worth: prints one JSON object a line, `{"bench", "metric", "value", "unit"}`.

    python tests/bench/corpus.py                              24 domains × 50 scenarios, about an hour on two cores
    python tests/bench/corpus.py --domains 4 --scenarios 6    a taste
    python tests/bench/corpus.py --fault-rate 0.15            with tools that err, audited and repaired first

Certificates are those the scenarios come with. `before repair` counts scenarios none of whose parts was asked for
again, `after repair` all that were certified, both of those asked for. A query counts when changing its answer in
the initial state makes the unchanged witness fail (`world.proving.queries`); `fed` are those whose value a later
call is given. Two tasks of an environment are alike when they consist of the same sub-tasks with the same values; the
similarity is the cosine of their embeddings. Rules bind when some edited transition breaks them
(`world.proving.binding`).
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import fmean, median
from typing import Any

import numpy as np

import envscaler as es
from envscaler.model.builtin import BuiltinModel
from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.parallel import run_all
from envscaler.schema import Audit, Scenario, Skeleton, Theme
from envscaler.world.proving.binding import Binding, binding_rules
from envscaler.world.proving.queries import Query, counting_queries


def tell(metric: str, value: float, unit: str) -> None:
    """Print one line."""
    line = {"bench": "corpus", "metric": metric, "value": round(float(value), 4), "unit": unit}
    print(json.dumps(line), flush=True)


def themes(names: Iterable[str], seed: int) -> list[Theme]:
    """A theme of each domain."""
    chance = np.random.default_rng(seed)
    return [
        Theme(
            title=domains()[name].word_title(chance),
            summary=domains()[name].word_summary(chance),
            usefulness=8,
            modelability=8,
            task_ids=[name],
            example="Please help me.",
        )
        for name in names
    ]


def timed(what: str, work: Callable[[], Any]) -> Any:
    """What the work returns; how long it took is printed."""
    begun = time.perf_counter()
    made = work()
    tell(f"time of {what}", time.perf_counter() - begun, "s")
    return made


def in_threads(work: Callable[[Any], list[Any]], things: Iterable[Any], model: BuiltinModel) -> list[Any]:
    """What the work gives for each thing, in order."""
    return list(run_all(work, things, stage="corpus", workers=model.workers, progress=False))


# Figures


def environments(
    skeletons: list[Skeleton], model: BuiltinModel, arguments: argparse.Namespace
) -> tuple[list[Skeleton], list[Audit]]:
    """Those to go on with, as they are, or audited where tools may err; and the audits."""
    tell("environments", len(skeletons), "count")
    if not arguments.fault_rate:
        return skeletons, []
    audits = es.audit_skeletons(
        skeletons, model, rounds=arguments.rounds, seed=arguments.seed, progress=False
    )
    kept = list(es.passing(skeletons, audits))
    tell("environments kept by the audit", len(kept), "count")
    return kept, list(audits)


def certified(scenarios: list[Scenario], asked: int) -> None:
    """Yields, and what the certificates say of mutants and of other solutions."""
    tell("certified after repair", len(scenarios) / asked, "share")
    kills = [[bool(kill.killers) for kill in s.certificate.kills] for s in scenarios if s.certificate]
    tell("mutants of a scenario, least", min(map(len, kills)), "count")
    tell("mutants killed, mean", fmean(fmean(rows) for rows in kills), "share")
    tell("mutants killed, least", min(fmean(rows) for rows in kills), "share")
    other = [
        p
        for s in scenarios
        if s.certificate
        for p in s.certificate.proofs
        if p.name.startswith("solved other")
    ]
    tell("solved otherwise, paid", fmean(proof.status == "proved" for proof in other), "share")
    free = [p for p in other if p.name.endswith("free arguments") and p.figure is not None]
    tell("scenarios with free arguments tried", len(free), "count")


def unrevised(scenarios: Iterable[Scenario]) -> int:
    """How many were certified as they were written."""
    return sum(not (s.origin and s.origin.settings.get("revisions")) for s in scenarios)


def witnesses(scenarios: list[Scenario], tools: dict[str, Skeleton]) -> None:
    """How long they are, and how much they change."""
    lengths = [len(s.witness) for s in scenarios]
    writes = {key: {tool.name for tool in s.tools if tool.mutates} for key, s in tools.items()}
    changes = [sum(call.tool in writes[s.skeleton_id] for call in s.witness) for s in scenarios]
    tell("witness length, median", median(lengths), "calls")
    tell("witness length, least", min(lengths), "calls")
    tell("changes, median", median(changes), "calls")
    tell("changes, least", min(changes), "calls")


def queries(scenarios: list[Scenario], tools: dict[str, Skeleton], model: BuiltinModel, most: int) -> None:
    """How many queries of a witness count, in all scenarios or in so many of each environment."""
    of: dict[str, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        of[scenario.skeleton_id].append(scenario)
    chosen = [scenario for rows in of.values() for scenario in rows[: most or None]]

    def asked(scenario: Scenario) -> list[list[Query]]:
        return [counting_queries(tools[scenario.skeleton_id], scenario)]

    rows = in_threads(asked, chosen, model)
    tell("scenarios whose queries were tried", len(rows), "count")
    for name, how in (("queries that count", ("feeds", "decides")), ("fed queries that count", ("feeds",))):
        counts = [sum(query.counts and query.how in how for query in row) for row in rows]
        tell(f"{name}, median", median(counts), "calls")
        tell(f"{name}, least", min(counts), "calls")
        tell(f"{name}, at least 3", fmean(count >= 3 for count in counts), "share")


def likeness(scenarios: list[Scenario], names: dict[str, str]) -> None:
    """How alike the tasks of an environment are."""
    encoder = es.connect_encoder()
    by_world: dict[str, list[str]] = defaultdict(list)
    for scenario in scenarios:
        by_world[scenario.skeleton_id].append(scenario.task)
    near, same = [], 0
    for key, tasks in by_world.items():
        vectors = np.asarray(encoder.encode(tasks), dtype=float)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        near += list((vectors @ vectors.T)[np.triu_indices(len(tasks), 1)])
        read = [sub_tasks(names[key], task) for task in tasks]
        same += len(read) - len(set(read))
    if near:
        tell("pairs of tasks", len(near), "count")
        tell("similarity, mean", fmean(near), "cosine")
        tell("similarity, 99th percentile", float(np.percentile(near, 99)), "cosine")
        tell("similarity, most", max(near), "cosine")
        tell("similarity above 0.95", fmean(value > 0.95 for value in near), "share")
    tell("tasks alike", same, "count")


def sub_tasks(domain: str, task: str) -> frozenset[tuple[str, str]]:
    """What a task asks for: each sub-task with its values, whatever the wording and the order."""
    read = world_of(domain).read(task)
    return frozenset((type(goal).__name__, str(sorted(slots.items()))) for goal, slots, _ in read)


def rules(skeletons: list[Skeleton], names: dict[str, str], model: BuiltinModel, seed: int) -> None:
    """How many rules have an invariant, and how many of these bind."""

    def bound(skeleton: Skeleton) -> list[list[Binding]]:
        state = world_of(names[skeleton.id]).state(np.random.default_rng(seed))
        return [binding_rules(skeleton, state, seed=seed)]

    rows = [row for table in in_threads(bound, skeletons, model) for row in table]
    with_invariant = [row for row in rows if row.has_invariant]
    tell("rules", len(rows), "count")
    tell("rules with an invariant", len(with_invariant) / len(rows), "share")
    tell("rules that bind", fmean(row.binds for row in with_invariant), "share")
    tell("rules that are wrong on a real transition", sum(bool(row.fault) for row in rows), "count")


def main() -> None:
    """Make the corpus and print its figures."""
    parser = argparse.ArgumentParser(description="What the built-in model's scenarios are worth.")
    parser.add_argument("--domains", type=int, default=24, help="the first so many by name")
    parser.add_argument("--scenarios", type=int, default=50, help="of each environment")
    parser.add_argument("--fault-rate", type=float, default=0.0, help="how often the model errs")
    parser.add_argument("--rounds", type=int, default=60, help="probes of an audit, where tools may err")
    parser.add_argument(
        "--queries", type=int, default=0, help="scenarios of each whose queries are tried; 0: all"
    )
    parser.add_argument("--seed", type=int, default=0, help="of every random choice")
    arguments = parser.parse_args()
    model = BuiltinModel(fault_rate=arguments.fault_rate)
    chosen = sorted(domains())[: arguments.domains]
    made = themes(chosen, arguments.seed)
    built = list(timed("skeletons", lambda: es.build_skeletons(made, model, progress=False)))
    skeletons, audits = timed("audits", lambda: environments(built, model, arguments))
    domain_of = {theme.id: name for theme, name in zip(made, chosen, strict=True)}
    asked = len(skeletons) * arguments.scenarios
    options = {"n": arguments.scenarios, "seed": arguments.seed, "progress": False}
    scenarios = timed("scenarios", lambda: es.build_scenarios(skeletons, model, **options))
    tell("certified, none of their parts asked for again", unrevised(scenarios) / asked, "share")
    tell("certified, no tool asked for again", len(scenarios) / asked, "share")
    done = timed(
        "completing", lambda: es.complete_scenarios(skeletons, scenarios, model, audits=audits, **options)
    )
    skeletons, scenarios = list(done.skeletons), done.scenarios
    for row in done.rounds:
        print(json.dumps({"bench": "corpus", "round": row}), flush=True)
    names = {skeleton.id: domain_of[skeleton.theme_id] for skeleton in skeletons}
    tools = {skeleton.id: skeleton for skeleton in skeletons}
    for failure in scenarios.failures:
        failed = {"failed": names.get(failure.parent_id, failure.parent_id), "message": failure.message[:300]}
        print(json.dumps({"bench": "corpus", **failed}), flush=True)
    tell("scenarios", len(scenarios), "count")
    certified(list(scenarios), asked)
    likeness(list(scenarios), names)
    timed("rules", lambda: rules(skeletons, names, model, arguments.seed))
    witnesses(list(scenarios), tools)
    timed("queries", lambda: queries(list(scenarios), tools, model, arguments.queries))


if __name__ == "__main__":
    main()
