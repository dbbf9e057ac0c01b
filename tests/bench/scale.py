"""How the stages grow with the number of environments: prints one JSON object a line.

    python tests/bench/scale.py 8 64                              the same work an environment, twice
    python tests/bench/scale.py 191 --scenarios 38 --load         a load test: can the stages carry the paper's size?

Environments come from the built-in model: one of each domain, and where more are asked
for than there are domains, more of the same domains in other words. **Such a number says what the stages carry, not
how many worlds there are**: `--load` allows it, and every line then says `load test`. Stages run as in the notebooks,
without what these draw and measure besides. Memory is that of all processes together (a page that several share is
shared out among them), looked at every two seconds.
"""

import argparse
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import psutil

import envscaler as es
from envscaler.model.builtin.domain import domains
from envscaler.schema import Theme


class Memory:
    """The most that this process and all below it held at once, in bytes."""

    def __init__(self) -> None:
        self.most = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        me = psutil.Process()
        while True:
            held = 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    held += process.memory_full_info().pss
                except psutil.Error:  # it has ended meanwhile
                    continue
            self.most = max(self.most, held)
            time.sleep(2)


def themes(n: int, seed: int) -> list[Theme]:
    """So many themes, in turn of each domain, no two in the same words."""
    chance, made = np.random.default_rng(seed), dict[str, Theme]()
    names = sorted(domains())
    while len(made) < n:
        domain = domains()[names[len(made) % len(names)]]
        theme = Theme(
            title=domain.word_title(chance),
            summary=domain.word_summary(chance),
            usefulness=8,
            modelability=8,
            task_ids=[domain.name],
            example="Please help me.",
        )
        made.setdefault(theme.id, theme)
    return list(made.values())


def stages(n: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Seconds of each stage for n environments, and what came out of it."""
    model = es.connect("builtin", seed=arguments.seed, fault_rate=arguments.fault_rate)
    options = {"seed": arguments.seed, "progress": False}
    seconds: dict[str, float] = {}

    def timed(stage: str, work: Callable[[], Any]) -> Any:
        begun = time.perf_counter()
        made = work()
        seconds[stage] = round(time.perf_counter() - begun, 1)
        return made

    built = timed("skeletons", lambda: es.build_skeletons(themes(n, arguments.seed), model, progress=False))
    audits = timed("audits", lambda: es.audit_skeletons(built, model, rounds=arguments.probes, **options))
    kept = es.passing(built, audits)
    written = timed("scenarios", lambda: es.build_scenarios(kept, model, n=arguments.scenarios, **options))
    done = timed(
        "completing",
        lambda: es.complete_scenarios(kept, written, model, n=arguments.scenarios, audits=audits, **options),
    )
    agents = [
        es.WitnessAgent(),
        es.CarelessAgent(0.1),
        es.CarelessAgent(0.3),
        es.RandomAgent(),
        es.IdleAgent(),
    ]
    rollouts = timed(
        "rollouts",
        lambda: es.roll_out_all(
            done.skeletons, done.scenarios, agents, conversation="both", user=model,
            n=max(1, arguments.rollouts * n), **options,
        ),
    )  # fmt: skip
    counts = {
        "environments": len(built), "kept": len(kept), "scenarios": len(done.scenarios),
        "certified": sum(bool(s.certificate and s.certificate.valid) for s in done.scenarios),
        "rollouts": sum(r.reward is not None for r in rollouts),
    }  # fmt: skip
    return {"seconds": {**seconds, "total": round(sum(seconds.values()), 1)}, "counts": counts}


def main() -> None:
    """Run the stages for each number of environments."""
    parser = argparse.ArgumentParser(description="How the stages grow with the number of environments.")
    parser.add_argument("environments", type=int, nargs="+", help="how many")
    parser.add_argument("--probes", type=int, default=100, help="of each audit")
    parser.add_argument("--scenarios", type=int, default=30, help="of each environment")
    parser.add_argument("--rollouts", type=int, default=25, help="for each environment, all agents together")
    parser.add_argument("--fault-rate", type=float, default=0.15, help="how often the model errs")
    parser.add_argument("--seed", type=int, default=0, help="of every random choice")
    parser.add_argument("--load", action="store_true", help="allow more environments than there are domains")
    arguments = parser.parse_args()
    if max(arguments.environments) > len(domains()) and not arguments.load:
        parser.error(f"there are {len(domains())} domains; more environments are a load test: say --load")
    memory = Memory()
    for n in arguments.environments:
        line = {"bench": "load test" if arguments.load else "scale", **stages(n, arguments)}
        print(json.dumps({**line, "most memory so far, GB": round(memory.most / 1e9, 2)}), flush=True)


if __name__ == "__main__":
    main()
