"""What the widgets cost at the paper's size: 191 environments with 100 probes each, and 9,000 episodes.

    python tests/bench/widgets.py [environments] [probes] [episodes]        default: 191 100 9000

One JSON object a line. The records are made by the built-in model over a few worlds (real sources, calls, replies
and diffs) and repeated under other titles, so that all ids differ. `cpu ms` is what this process computed, which a busy
machine does not lengthen; `ms` is what a person waits, sandbox included; `kB` is what a page turn sends to the
browser. What the browser needs to draw it is not in here.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

import envscaler as es
from envscaler.show.inspector import AuditInspector
from envscaler.show.labels import Label
from envscaler.show.player import EpisodePlayer
from envscaler.show.playground import Playground
from envscaler.show.view import method_text

REQUESTS = (
    "Please renew my library book Emma, card L-204, for two more weeks.",
    "Book me a room for two nights and tell me the price.",
    "Order five boxes of gloves for the ward, we are running out.",
)


def main() -> None:
    """Print the figures."""
    environments, probes, episodes = [*map(int, sys.argv[1:4]), *(191, 100, 9000)[len(sys.argv) - 1 :]]
    model = es.connect("builtin")
    themes = es.infer_themes([es.Task(text=t, stateful=True) for t in REQUESTS], model, progress=False)
    worlds = es.build_skeletons(themes, model, progress=False)
    audits = es.audit_skeletons(worlds, model, rounds=probes, progress=False)
    kept = [audit.repaired or world for world, audit in zip(worlds, audits, strict=True)]
    inspect(*many(kept, audits, environments))
    scenarios = es.build_scenarios(kept, model, n=4, progress=False)
    agents = [es.WitnessAgent(), es.CarelessAgent(0.3), es.RandomAgent(), es.IdleAgent()]
    rollouts = es.roll_out_all(kept, scenarios, agents, progress=False)
    play(kept, scenarios, rollouts, episodes)
    walk(kept[0], scenarios[0])


def many(worlds: list[Any], audits: list[Any], count: int) -> tuple[list[Any], list[Any]]:
    """As many environments and audits as wanted, each with a title, and so an id, of its own."""
    pairs = list(islice(cycle(zip(worlds, audits, strict=True)), count))
    skeletons = [world.replace(title=f"{world.title} {n}") for n, (world, _) in enumerate(pairs)]
    return skeletons, [
        audit.replace(skeleton_id=skeleton.id, repaired=None)
        for skeleton, (_, audit) in zip(skeletons, pairs, strict=True)
    ]


def inspect(skeletons: list[Any], audits: list[Any]) -> None:
    """The inspector."""
    say("inspector", "probes", sum(len(audit.probes) for audit in audits), "")
    once("inspector", "construct", clock(lambda: AuditInspector(skeletons, audits)))
    inspector, chance = AuditInspector(skeletons, audits), random.Random(0)
    ids = [audit.skeleton_id for audit in audits]
    choose("inspector", "choose environment", inspector.environment, chance.sample(ids, min(40, len(ids))))
    choose("inspector", "choose all environments", inspector.environment, ["all"])
    for name in ("tool", "intent", "verdict", "your verdict"):
        choice = {"your verdict": inspector.yours}.get(name) or getattr(inspector, name)
        values = [value for _, value in choice.options[1:]]
        choose(
            "inspector", f"choose {name}, all environments", choice, list(islice(cycle([*values, "all"]), 40))
        )
        choice.value = "all"
    places = chance.sample(range(inspector.count), min(200, inspector.count))
    spread("inspector", "next", [clock(lambda p=p: inspector.go(p)) for p in places])
    say("inspector", "page, median", median(turned(inspector, p) for p in places) / 1000, "kB")
    inspector.whole.value = True
    spread("inspector", "next, whole class shown", [clock(lambda p=p: inspector.go(p)) for p in places])
    inspector.whole.value = False
    again = [
        clock(lambda: inspector.rerun(text_of(inspector))) for p in places[:10] if inspector.go(p) is None
    ]
    spread("inspector", "run the probes of an edited tool", again)
    labels(skeletons, audits)


def labels(skeletons: list[Any], audits: list[Any]) -> None:
    """A label file in which every probe is marked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        with path.open("w") as file:
            for skeleton, audit in zip(skeletons, audits, strict=True):
                own = {"audit_id": audit.id, "skeleton_id": skeleton.id, "environment": skeleton.title}
                for n, p in enumerate(audit.probes):
                    row = {**own, "tool": p.tool, "intent": p.intent, "verdict": p.verdict, "label": "pass"}
                    file.write(Label(**row, probe=n).model_dump_json() + "\n")
        once(
            "labels",
            "open a file with every probe marked",
            clock(lambda: AuditInspector(skeletons, audits, path)),
        )
        inspector = AuditInspector(skeletons, audits, path)
        inspector.environment.value = "all"
        spread(
            "labels",
            "mark",
            [clock(lambda n=n: mark(inspector, n)) for n in range(0, 19_000, 500) if n < inspector.count],
        )
        once(
            "labels",
            "choose differs, first time",
            clock(lambda: setattr(inspector.yours, "value", "differs")),
        )
        inspector.yours.value = "all"
        once("labels", "choose differs, again", clock(lambda: setattr(inspector.yours, "value", "differs")))


def play(worlds: list[Any], scenarios: list[Any], rollouts: list[Any], count: int) -> None:
    """The player."""
    episodes = list(islice(cycle(rollouts), count))
    say("player", "episodes", len(episodes), "")
    once("player", "construct", clock(lambda: EpisodePlayer(episodes, scenarios, worlds)))
    player = EpisodePlayer(episodes, scenarios, worlds)
    looks = [
        clock(lambda n=n: setattr(player.episode, "value", n))
        for n in range(1, min(len(rollouts), count, 40))
    ]
    spread("player", "first look at an episode, its checks asked at every step", looks)
    steps = [
        clock(player.next)
        for n in range(1, min(count, 20))
        if setattr(player.episode, "value", n) is None
        for _ in range(5)
    ]
    spread("player", "next", steps)
    values = ["solved", "paid nothing", "all"]
    spread(
        "player", "choose result", [clock(lambda v=v: setattr(player.result, "value", v)) for v in values * 4]
    )


def walk(world: Any, scenario: Any) -> None:
    """The playground."""
    once("playground", "construct", clock(lambda: Playground(world, scenario)))
    playground = Playground(world, scenario)
    names = [tool.name for tool in world.tools]
    spread(
        "playground",
        "choose a tool, its form made",
        [clock(lambda n=n: setattr(playground.tool, "value", n)) for n in names[1:]],
    )
    call = scenario.witness[0]
    for _ in range(100):
        playground.call(call.tool, call.arguments)
    spread(
        "playground",
        "call, 100 calls behind",
        [clock(lambda: playground.call(call.tool, call.arguments)) for _ in range(40)],
    )
    places = random.Random(0).sample(range(len(playground.history)), 40)
    spread("playground", "rewind", [clock(lambda p=p: playground.rewind(p)) for p in places])
    spread("playground", "fork", [clock(playground.fork) for _ in range(3)])


def turned(inspector: AuditInspector, place: int) -> int:
    inspector.go(place)
    return len(inspector.html())


def text_of(inspector: AuditInspector) -> str:
    assert inspector.skeleton is not None and inspector.probe is not None
    return method_text(inspector.skeleton.source, inspector.probe.tool)


def mark(inspector: AuditInspector, place: int) -> None:
    inspector.go(place)
    inspector.mark("fail", note="bench")


Time = tuple[float, float]


def clock(act: Callable[[], Any]) -> Time:
    """CPU milliseconds of this process, and milliseconds of the clock on the wall."""
    before = time.process_time(), time.perf_counter()
    act()
    return 1000 * (time.process_time() - before[0]), 1000 * (time.perf_counter() - before[1])


def choose(bench: str, metric: str, choice: Any, values: list[Any]) -> None:
    spread(bench, metric, [clock(lambda v=v: setattr(choice, "value", v)) for v in values])


def once(bench: str, metric: str, took: Time) -> None:
    say(bench, metric, took[0], "cpu ms")
    say(bench, metric, took[1], "ms")


def spread(bench: str, metric: str, times: list[Time]) -> None:
    for place, unit in enumerate(("cpu ms", "ms")):
        say(bench, f"{metric}, median", median(took[place] for took in times), unit)
        say(bench, f"{metric}, slowest", max(took[place] for took in times), unit)


def say(bench: str, metric: str, value: float, unit: str) -> None:
    print(json.dumps({"bench": bench, "metric": metric, "value": round(value, 2), "unit": unit}), flush=True)


if __name__ == "__main__":
    main()
