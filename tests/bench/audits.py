"""How much an audit notices: planted faults by kind and layer, false alarms on the untouched originals, cost.

    python tests/bench/audits.py --environments 6 --per-kind 1
    python tests/bench/audits.py --held-out --judge builtin --tester chance
    python tests/bench/audits.py --held-out --plant

One JSON object a line, of the built-in environments, of the published ones where the sample is there, and of both.
Without `--held-out` the third of the environments is left out that the audit is not developed on, and so are the kinds
that were unseen while it was. A built-in judge is a stand-in: its figures measure the harness and are no result.
"""

import argparse
import importlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import held_out
import published

from envscaler.auditing.calibration import calibrate_audits
from envscaler.model.builtin import BuiltinModel
from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.connect import connect
from envscaler.schema import Skeleton, Theme
from envscaler.show.detection import cost_table, detection_table, draw_detection, false_alarm_table
from envscaler.skeletons import build_skeleton
from envscaler.world.mutants.sources import KINDS, Mutants, mutants_of
from envscaler.world.trials.exploring import CALLS

RELEASE = Path(
    os.environ.get("ENVSCALER_RELEASE", Path(__file__).resolve().parents[3] / "shared" / "release")
)
World = tuple[Skeleton, dict[str, Any]]


def built_in(options: argparse.Namespace) -> list[World]:
    """Domains of the built-in model, written without faults, and a state of each."""
    author = BuiltinModel(fault_rate=0)
    themes = []
    for name, domain in sorted(domains().items()):
        rng = np.random.default_rng(7)
        fields = {
            "title": domain.word_title(rng),
            "summary": domain.word_summary(rng),
            "example": "Please help me.",
        }
        themes.append((Theme(**fields, usefulness=8, modelability=8, task_ids=["t"]), name))
    return [
        (build_skeleton(theme, author), world_of(name).state(np.random.default_rng(7)))
        for theme, name in chosen(themes, [_named(theme.title) for theme, _ in themes], options)
    ]


def _named(title: str) -> Skeleton:
    """Something to ask for its place by its title, before it is written."""
    fields: dict[str, Any] = {"theme_id": "", "summary": "", "class_name": "", "source": ""}
    return Skeleton(title=title, state=[], rules=[], tools=[], **fields)


def released(options: argparse.Namespace) -> list[World]:
    """Published environments, with a published state or one made up from the record types."""
    if not RELEASE.is_dir():
        return []
    states = published.states(RELEASE)
    worlds = list(published.skeletons(RELEASE).items())
    return [
        (skeleton, states.get(key) or published.invented(skeleton))
        for key, skeleton in chosen(worlds, [skeleton for _, skeleton in worlds], options)
    ]


def chosen(things: list[Any], named: list[Skeleton], options: argparse.Namespace) -> list[Any]:
    """Those of the things that the options ask for."""
    some = [
        thing
        for thing, skeleton in zip(things, named, strict=True)
        if options.held_out or held_out.environment(skeleton) == options.only_held_out
    ]
    if not options.environments or options.environments >= len(some):
        return some
    return [some[int(n)] for n in np.linspace(0, len(some) - 1, options.environments)]


def report(metric: str, value: float | None, unit: str, **more: Any) -> None:
    """Print one line."""
    print(json.dumps({"bench": "audits", "metric": metric, "value": value, "unit": unit, **more}), flush=True)


def tell(frame: pd.DataFrame, of: str) -> None:
    """All figures of some rows."""
    for plain in (False, True):
        for row in detection_table(frame, plain=plain).to_dict("records"):
            name = "told" if plain else "detected"
            said = {k: row[k] for k in ("n", "detected", "low", "high", "needed")}
            report(
                f"{name}: {row['group']}: {row['kind']}: {row['layer']}", row["share"], "share", of=of, **said
            )
    for row in false_alarm_table(frame).to_dict("records"):
        said = {k: row[k] for k in ("n", "low", "high")}
        report(
            f"false alarms: {row['kind']}: {row['layer']}",
            row["share"],
            "share",
            of=of,
            told=row["detected"],
            **said,
        )
    for row in cost_table(frame).to_dict("records"):
        for unit in ("calls", "requests", "tokens", "seconds"):
            report(f"cost of an environment: {row['layer']}", row[unit], unit, of=of)


def plant(worlds: list[World], kinds: list[str], options: argparse.Namespace, of: str) -> int:
    """Count mutants, attempts that no call tells from the original, and environments without a place, by kind."""

    def one(world: World) -> Mutants:
        return mutants_of(world[0], kinds, options.per_kind, options.seed, state=world[1])

    with ThreadPoolExecutor(options.workers) as pool:
        made = list(pool.map(one, worlds))
    for kind in kinds:
        planted = [m for some in made for m in some if m.kind == kind]
        by_execution = sum(m.by_execution for m in planted)
        told = {
            "by_execution": by_execution,
            "equivalent": sum(some.equivalent[kind] for some in made),
            "no_place": sum(some.no_place[kind] for some in made),
        }
        report(f"planted: {kind}", len(planted), "mutants", of=of, environments=len(made), **told)
    return sum(map(len, made))


def parsed() -> argparse.Namespace:
    """The command line."""
    line = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    line.add_argument(
        "--environments", type=int, default=0, help="so many of each origin, evenly drawn; 0 for all"
    )
    line.add_argument("--origin", choices=("both", "built-in", "published"), default="both")
    line.add_argument("--plant", action="store_true", help="only plant, and count what was planted")
    line.add_argument("--per-kind", type=int, default=1)
    line.add_argument("--kinds", default="", help="comma-separated; default all")
    line.add_argument("--held-out", action="store_true", help="the held-out environments and kinds too")
    line.add_argument(
        "--only-held-out", action="store_true", help="the held-out environments alone, all kinds"
    )
    line.add_argument("--judge", default="", help="a model's name; none for the layers without a model")
    line.add_argument("--tester", choices=("model", "chance"), default="chance")
    line.add_argument("--rounds", type=int, default=6)
    line.add_argument("--calls", type=int, default=CALLS)
    line.add_argument("--seed", type=int, default=0)
    line.add_argument("--workers", type=int, default=2)
    line.add_argument("--folder", default="", help="where rows are kept, and found again")
    line.add_argument("--figure", default="", help="a PNG to draw")
    line.add_argument("--register", default="", help="a module that registers further kinds")
    return line.parse_args()


def main() -> None:
    """Plant, look, tell."""
    options = parsed()
    if options.register:
        importlib.import_module(options.register)
    unseen = set() if options.held_out or options.only_held_out else held_out.KINDS
    kinds = options.kinds.split(",") if options.kinds else [kind for kind in KINDS if kind not in unseen]
    origins = {"built-in": built_in, "published": released}
    worlds = {name: make(options) for name, make in origins.items() if options.origin in ("both", name)}
    if options.plant:
        total = sum(plant(some, kinds, options, name) for name, some in worlds.items())
        report("planted", total, "mutants", environments=sum(map(len, worlds.values())))
        return
    both = [world for some in worlds.values() for world in some]
    begun = time.perf_counter()
    rows = calibrate_audits(
        [skeleton for skeleton, _ in both],
        connect(options.judge, fault_rate=0) if options.judge else None,
        states={skeleton.id: state for skeleton, state in both},
        kinds=kinds, per_kind=options.per_kind, rounds=options.rounds, calls=options.calls, tester=options.tester,
        seed=options.seed, workers=options.workers, folder=Path(options.folder) if options.folder else None,
    )  # fmt: skip
    frame = rows.frame()
    for name, some in worlds.items():
        tell(frame[frame["skeleton_id"].isin([skeleton.id for skeleton, _ in some])], name)
    tell(frame, "all")
    report("mutants", frame.loc[frame["kind"] != "", "mutant"].nunique(), "mutants", environments=len(both))
    report("time", time.perf_counter() - begun, "seconds", failures=len(rows.failures))
    for failure in rows.failures[:5]:
        report("failure", None, "", parent=failure.parent_id, message=failure.message[:200])
    if options.figure:
        draw_detection(frame).savefig(options.figure, dpi=130, bbox_inches="tight")


if __name__ == "__main__":
    main()
