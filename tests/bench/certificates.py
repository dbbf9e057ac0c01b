"""How fast scenarios are certified, and how well their checks tell right from wrong: one JSON object a line.

    python tests/bench/certificates.py            220 scenarios, the time scaled to 1,000
    python tests/bench/certificates.py 1000       1,000 scenarios
    python tests/bench/certificates.py 220 kinds  which mutants survive as well, by kind and field

Scenarios are the built-in model's, without planted mistakes. The time is that of the certificates alone, every state
executed and graded in sealed workers. `cpu` counts this process and all workers, so it says more on a busy machine.
"""

import json
import os
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from envscaler.elsewhere import elsewhere
from envscaler.model.builtin import BuiltinModel
from envscaler.model.builtin.domain import domains
from envscaler.parallel import run_all
from envscaler.scenarios import build_scenarios
from envscaler.schema import Certificate, Scenario, Skeleton, Theme
from envscaler.skeletons import build_skeleton
from envscaler.world.certificate import certify

MODEL = BuiltinModel(fault_rate=0)


def tell(metric: str, value: float, unit: str) -> None:
    print(
        json.dumps({"bench": "certificates", "metric": metric, "value": round(value, 4), "unit": unit}),
        flush=True,
    )


def skeleton_of(name: str) -> Skeleton:
    chance, domain = np.random.default_rng(7), domains()[name]
    theme = Theme(
        title=domain.word_title(chance),
        summary=domain.word_summary(chance),
        usefulness=8,
        modelability=8,
        task_ids=["t"],
        example="Please help me.",
    )
    return build_skeleton(theme, MODEL)


def spent() -> float:
    """CPU seconds of this process, of the zygote, and of the workers that have ended."""
    total, ticks = time.process_time(), os.sysconf("SC_CLK_TCK")
    for process in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = process.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            total += sum(map(int, fields[11:15])) / ticks
    return total


def proofs_named(certificates: list[Certificate], start: str) -> list[float]:
    return [
        p.figure for c in certificates for p in c.proofs if p.name.startswith(start) and p.figure is not None
    ]


def main(count: int, kinds: bool) -> None:
    skeletons = {s.id: s for s in map(skeleton_of, sorted(domains()))}
    each = -(-count // len(skeletons))
    begun = time.monotonic()
    made = build_scenarios(skeletons.values(), MODEL, n=each, progress=False)
    tell("built and certified", len(made), "scenarios")
    tell("not certified", len(made.failures), "scenarios")
    tell("building, certificate included", time.monotonic() - begun, "s")
    bare = [scenario.replace(certificate=None) for scenario in made[:count]]

    def prove(scenario: Scenario) -> Scenario:
        return scenario.replace(certificate=elsewhere(certify, skeletons[scenario.skeleton_id], scenario))

    begun, before = time.monotonic(), spent()
    proved = run_all(prove, bare, stage="certificates", workers=MODEL.workers, progress=False)
    wall, cpu = time.monotonic() - begun, spent() - before
    tell(f"{len(bare)} certificates", wall, "s")
    tell("1,000 certificates", wall / len(bare) * 1000, "s")
    tell("cpu a certificate", cpu / len(bare), "s")
    certificates = [s.certificate for s in proved if s.certificate]
    tell("valid", statistics.fmean(c.valid for c in certificates), "share")
    shares = proofs_named(certificates, "mutants killed")
    tell("mutants a scenario, mean", statistics.fmean(len(c.kills) for c in certificates), "mutants")
    tell("mutants a scenario, least", min(len(c.kills) for c in certificates), "mutants")
    tell("mutants killed, mean", statistics.fmean(shares), "share")
    tell("mutants killed, least", min(shares), "share")
    solved = proofs_named(certificates, "solved otherwise")
    tell("solved otherwise, families tried", len(solved), "families")
    tell("solved otherwise, accepted", statistics.fmean(solved), "share")
    if kinds:
        survivors(proved, skeletons)


def survivors(proved: list[Scenario], skeletons: dict[str, Skeleton]) -> None:
    """Kinds of mutants that survive, with the field; the most frequent first."""
    alive: Counter[tuple[str, str, str]] = Counter()
    for scenario in proved:
        title = skeletons[scenario.skeleton_id].class_name
        for kill in scenario.certificate.kills if scenario.certificate else []:
            if not kill.killers:
                where = kill.what.partition(":")[0]
                record, _, field = where.partition(".")
                alive[kill.kind, title, f"{record.partition('/')[0]}.{field}"] += 1
    for (kind, title, field), number in alive.most_common():
        tell(f"survivor: {kind}: {title} {field}", number, "mutants")


if __name__ == "__main__":
    asked = [argument for argument in sys.argv[1:] if argument.isdecimal()]
    main(int(asked[0]) if asked else 220, "kinds" in sys.argv)
