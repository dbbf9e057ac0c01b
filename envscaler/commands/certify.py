"""`python -m envscaler certify PATH`: what is right and wrong with environments and scenarios.

PATH is published data (a folder, a file, a data set) or a run's own `data/<stage>/<run>.jsonl`. Exit status 0 when
everything could be examined, whatever was found; with `--strict` a finding of severity error is a 1 as well.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from envscaler import project
from envscaler.commands import Commands, Report, each_once, readable, tell
from envscaler.error import ParameterError, StoreError
from envscaler.schema import Failure, Scenario, Skeleton
from envscaler.store import Records

if TYPE_CHECKING:  # half of what a command takes to start
    from envscaler.certifying.examine import Recorded

MOST_RECORDED = 4
"""Recorded episodes of one scenario that are tried as witnesses; there may be thousands, and a few do."""
_FULL = (None,) * MOST_RECORDED


def add(commands: Commands) -> None:
    """Describe the command line."""
    certify = commands.add_parser("certify", help="examine environments and scenarios, published or your own")
    certify.add_argument("path", metavar="PATH", help="a folder, a file, or the name of a published data set")
    certify.add_argument("--environments", default="", metavar="PATH", help="where PATH's environments are")
    certify.add_argument(
        "--trajectories", default="", metavar="PATH", help="recorded episodes to take witnesses from"
    )
    certify.add_argument("--html", default="", metavar="FILE", help="write a report that needs no other file")
    certify.add_argument(
        "--out", default="", metavar="FILE", help="the file of rows, which is also the checkpoint"
    )
    certify.add_argument(
        "--search", type=int, default=0, metavar="CALLS", help="look for witnesses with so many calls each"
    )
    certify.add_argument(
        "--calls",
        type=int,
        default=200,
        metavar="N",
        help="calls the referee makes in an environment (default: 200)",
    )
    certify.add_argument("--seed", type=int, default=0, help="seed of every environment")
    certify.add_argument("--workers", type=int, default=0, help="threads at once (default: two a processor)")
    certify.add_argument(
        "--strict", action="store_true", help="exit with 1 when anything is found to be in error"
    )
    certify.add_argument("--no-progress", action="store_true", help="no progress bar")
    certify.set_defaults(do=_certify)


def _certify(parsed: argparse.Namespace) -> Report:
    from envscaler.certifying.examine import Options
    from envscaler.certifying.many import certify_all, table
    from envscaler.show.report import write_report

    if parsed.search < 0 or parsed.calls < 1 or parsed.workers < 0:
        raise ParameterError("Expected --search and --workers of at least 0, --calls of at least 1.")
    project.check_seed(parsed.seed)
    skeletons, scenarios, recorded, failures = _read(parsed)
    out = Path(parsed.out) if parsed.out else project.build_dir() / "certify" / f"{_stem(parsed.path)}.jsonl"
    certified = certify_all(
        skeletons,
        scenarios,
        recorded=recorded,
        out=out,
        options=Options(seed=parsed.seed, search=parsed.search, calls=parsed.calls),
        workers=parsed.workers or None,
        progress=not parsed.no_progress,
    )
    if certified.missing:
        raise KeyboardInterrupt  # what is done is in the file of rows
    certified.failures[:] = each_once([*failures, *certified.failures])
    width = max(len(name) for name, _ in table(certified))
    sys.stdout.writelines(f"{name:<{width}}  {figure}\n" for name, figure in table(certified))
    told = {**certified.totals, "unread": tell(certified.failures), "out": str(out)}
    if parsed.html:
        told["html"] = str(write_report(certified, Path(parsed.html), title=_stem(parsed.path)))
    return told, certified.complete and not (parsed.strict and certified.errors)


Read: TypeAlias = "tuple[Records[Skeleton], Records[Scenario], dict[str, list[Recorded]], list[Failure]]"


def _read(parsed: argparse.Namespace) -> Read:
    """Environments, scenarios and recorded episodes, as far as there are any."""
    from envscaler import release

    path = parsed.path
    where = parsed.environments or _beside(path, "skeletons") or path
    skeletons = readable(lambda: release.read_environments(where), where)
    try:
        scenarios = readable(lambda: release.read_scenarios(path, skeletons), path)
    except StoreError as error:
        if parsed.environments:
            raise
        # Environments alone are worth examining too, but not where scenarios are meant and cannot be read.
        meant = Path(path).is_file() and where != path
        scenarios = Records[Scenario]([], [release.failure(path, error)] if meant else [])
    failures = [*skeletons.failures, *scenarios.failures]
    recorded: dict[str, list[Recorded]] = {scenario.id: [] for scenario in scenarios}
    if parsed.trajectories:
        for one in release.iter_trajectories(parsed.trajectories, skeletons, scenarios):
            if isinstance(one, Failure):
                failures.append(one)
            elif (
                release.recorded_reward(one) == 1.0
                and len(recorded.get(one.scenario_id, _FULL)) < MOST_RECORDED
            ):
                recorded[one.scenario_id].append(release.recorded_calls(one))
    return skeletons, scenarios, recorded, failures


def _beside(path: str, stage: str) -> str:
    """The file of another stage of the same run: `data/skeletons/x.jsonl` for `data/scenarios/x.jsonl`."""
    given = Path(path)
    other = given.parent.parent / stage / given.name
    return str(other) if given.parent.name == "scenarios" and other.is_file() else ""


def _stem(path: str) -> str:
    return re.sub(r"[^\w.-]+", "-", Path(path).resolve().name.split(".")[0]) or "release"
