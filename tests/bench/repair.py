"""What repair is worth: yields by revision and by round, and what became of the tools; a JSON object a line.

    python tests/bench/repair.py            8 worlds, 3 scenarios each
    python tests/bench/repair.py 24 10      24 worlds, 10 scenarios each

The worlds are the built-in model's with planted faults, and unaudited, so that there is more to be found than after
an audit. A mended tool is held against the same world written without faults; only the bench knows it.
"""

import json
import sys
import time

from corpus import themes

import envscaler as es
from envscaler.audits import against_truth
from envscaler.model.builtin import BuiltinModel
from envscaler.model.builtin.domain import domains
from envscaler.posing.completing import mended_tools
from envscaler.schema import Audit, Skeleton
from envscaler.store import Records


def tell(metric: str, value: float, unit: str) -> None:
    print(
        json.dumps({"bench": "repair", "metric": metric, "value": round(float(value), 4), "unit": unit}),
        flush=True,
    )


def worlds(count: int, rate: float) -> Records[Skeleton]:
    """The first worlds by name, with as many faults."""
    made = themes(sorted(domains())[:count], 7)
    return es.build_skeletons(made, BuiltinModel(fault_rate=rate), progress=False)


def yields(count: int, n: int) -> None:
    model, faulty, true = BuiltinModel(fault_rate=0.15), worlds(count, 0.15), worlds(count, 0.0)
    began = time.perf_counter()
    made = es.build_scenarios(faulty, model, n=n, progress=False)
    for row in es.yield_table(made).to_dict("records"):
        refused = row["revisions"] == "refused"
        name = "scenarios refused" if refused else f"scenarios with {row['revisions']} revisions"
        tell(name, row["scenarios"], "scenarios")
    done = es.complete_scenarios(faulty, made, model, n=n, progress=False)
    for row in done.frame().to_dict("records"):
        tell(f"yield after round {row['round']}", row["yield"], "share")
        tell(f"tools in doubt in round {row['round']}", row["tools in doubt"], "tools")
    audits = [
        Audit(skeleton_id=old.id, repaired=new if new.id != old.id else None)
        for old, new in zip(faulty, done.skeletons, strict=True)
    ]
    fates = against_truth(true, faulty, audits)["fate"].value_counts()
    tell("tools mended", sum(len(mended_tools(one)) for one in done.skeletons), "tools")
    tell("mended tools that were faulty and are as they ought to be", fates.get("repaired", 0), "tools")
    tell("sound tools that were changed", fates.get("false alarm", 0), "tools")
    tell("seconds", time.perf_counter() - began, "s")


if __name__ == "__main__":
    many, each = ([int(word) for word in sys.argv[1:]] + [8, 3][len(sys.argv) - 1 :])[:2]
    yields(many, each)
