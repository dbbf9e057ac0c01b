"""What repair is worth: yields by revision and by round, and seeded mistakes caught; a JSON object a line.

    python tests/bench/repair.py               8 worlds, 3 scenarios each, 2 mistakes of each kind
    python tests/bench/repair.py 24 10 20      24 worlds, 10 scenarios each, 20 mistakes of each kind

The worlds are the built-in model's with planted faults, and unaudited, so that there is more to be found than after
an audit. A mended tool is held against the same world written without faults; only the bench knows it.
"""

import json
import sys
import time

import numpy as np

import envscaler as es
from envscaler.audits import against_truth
from envscaler.model.builtin import BuiltinModel
from envscaler.model.builtin.domain import domains
from envscaler.posing.completing import mended_tools
from envscaler.schema import Audit, Skeleton, Theme
from envscaler.store import Records


def tell(metric: str, value: float, unit: str) -> None:
    print(
        json.dumps({"bench": "repair", "metric": metric, "value": round(float(value), 4), "unit": unit}),
        flush=True,
    )


def worlds(count: int, rate: float) -> Records[Skeleton]:
    themes = []
    for name in sorted(domains())[:count]:
        chance, domain = np.random.default_rng(7), domains()[name]
        title, summary = domain.word_title(chance), domain.word_summary(chance)
        about = {"usefulness": 8, "modelability": 8, "task_ids": [name], "example": "Please help me."}
        themes.append(Theme(title=title, summary=summary, **about))
    return es.build_skeletons(themes, BuiltinModel(fault_rate=rate), progress=False)


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


def mistakes(count: int, n: int) -> None:
    began = time.perf_counter()
    attempts = es.try_mistakes(worlds(count, 0.0), n=n, progress=False)
    planted = [attempt for attempt in attempts if attempt.planted]
    for row in es.mistake_table(attempts).to_dict("records"):
        tell(f"caught: {row['kind']}", row["caught"], "share")
    tell("mistakes planted", len(planted), "mistakes")
    tell("mistakes caught", sum(attempt.caught for attempt in planted) / max(1, len(planted)), "share")
    tell(
        "mistakes located", sum(attempt.located_right for attempt in planted) / max(1, len(planted)), "share"
    )
    tell("seconds for the mistakes", time.perf_counter() - began, "s")


if __name__ == "__main__":
    many, each, of_a_kind = ([int(word) for word in sys.argv[1:]] + [8, 3, 2][len(sys.argv) - 1 :])[:3]
    yields(many, each)
    mistakes(many, of_a_kind)
