"""A full live run, rehearsed: prints one JSON object a line, `{"bench", "metric", "value", "unit"}`, and its funnel.

    python tests/bench/rehearsal.py                                                  24 × 10 × 400
    python tests/bench/rehearsal.py --environments 6 --scenarios 3 --rollouts 40     a middle one

Every stage has one line: `in = out + failures` (else `lost`), what the built-in model's own run made of it, how many
records are `equal` by id, and what became of each thing by what struck its requests: nothing (`clean`), trouble of the
`network` alone, or a `hostile` reply. `of another parent` are those whose like the other run never had.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rehearsing import Rehearsal, Size, rehearse

import envscaler as es


def tell(metric: str, value: Any, unit: str = "count") -> None:
    """Print one line."""
    print(json.dumps({"bench": "rehearsal", "metric": metric, "value": value, "unit": unit}), flush=True)


def tell_all(run: Rehearsal) -> None:
    """The funnel, what the server did, and why things failed."""
    for row in run.funnel():
        print(json.dumps({"bench": "rehearsal", "funnel": row}), flush=True)
    for name, made in (("live", run.live), ("built-in", run.direct)):
        endings = Counter(f"{r.ending} {r.cause}".strip() for r in made["rollouts"])
        paid = [r.reward for r in made["rollouts"] if r.reward is not None]
        tell(f"endings, {name}", dict(endings.most_common()))
        tell(f"reward, {name}", round(sum(paid) / max(len(paid), 1), 4), "mean")
        errors = Counter(f"{f.stage}: {f.error}" for stage in made.values() for f in stage.failures)
        tell(f"failures, {name}", dict(errors.most_common()))
    tell("replies to requests no fault struck", dict(run.replies()))
    tell("requests sent", sum(run.server.attempts.values()))
    tell("struck", dict(run.server.counts.most_common()))


def main() -> None:
    """Rehearse, and tell."""
    line = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    line.add_argument("--environments", type=int, default=24)
    line.add_argument("--scenarios", type=int, default=10, help="of each environment")
    line.add_argument("--rollouts", type=int, default=400)
    line.add_argument("--requests", type=int, help="that enter; default all of the project's own")
    line.add_argument("--rounds", type=int, default=100, help="probes of an audit")
    line.add_argument("--timeout", type=float, default=2.0, help="seconds the client waits; hangs are longer")
    line.add_argument("--in-flight", type=int, default=8)
    line.add_argument("--hostile", type=float, default=0.10, help="share of replies in a hostile shape")
    line.add_argument(
        "--errors", type=float, default=0.02, help="share of HTTP errors and dropped connections"
    )
    line.add_argument("--hangs", type=float, default=0.01)
    line.add_argument("--seed", type=int, default=0, help="of the faults")
    options = line.parse_args()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("rehearsing").setLevel(logging.INFO)  # a line a stage, for the patient
    size = Size(options.environments, options.scenarios, options.rollouts, options.requests, options.rounds)
    faults = {name: getattr(options, name) for name in ("hostile", "errors", "hangs", "seed")}
    with tempfile.TemporaryDirectory() as home:
        os.environ["ENVSCALER_HOME"] = home
        run = rehearse(
            size, es.connect_encoder(), timeout=options.timeout, in_flight=options.in_flight, **faults
        )
        tell_all(run)


if __name__ == "__main__":
    main()
