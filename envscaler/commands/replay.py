"""`python -m envscaler replay PATH`: recorded episodes re-executed, and what is different now.

Prints a table; exit status 0 only when every episode could be replayed, every difference has an explanation, and every
reward is the same. `release.replaying` does the work.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from envscaler.commands import Commands, Report, each_once, readable, tell
from envscaler.error import StoreError

MOST_ROWS = 40
"""With more episodes than this the table has a row an environment."""


def add(commands: Commands) -> None:
    """Describe the command line."""
    replay = commands.add_parser("replay", help="re-execute recorded episodes and compare what comes back")
    replay.add_argument("path", metavar="PATH", help="trajectories: a file, or a folder that has all three")
    replay.add_argument(
        "--environments", default="", metavar="PATH", help="environments (default: beside them)"
    )
    replay.add_argument("--scenarios", default="", metavar="PATH", help="scenarios (default: beside them)")
    replay.add_argument("--out", default="", metavar="FILE", help="write the differences to it as JSON Lines")
    replay.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="sandboxes at once")
    replay.add_argument("--no-progress", action="store_true", help="no progress bar")
    replay.set_defaults(do=_replay)


def _replay(parsed: argparse.Namespace) -> Report:
    from envscaler import release
    from envscaler.release import replaying
    from envscaler.store import write_text

    beside = parsed.path if Path(parsed.path).is_dir() else str(Path(parsed.path).parent)
    worlds, posed = parsed.environments or beside, parsed.scenarios or beside
    with _hint("--environments", parsed.environments):
        skeletons = readable(lambda: release.read_environments(worlds), worlds)
    with _hint("--scenarios", parsed.scenarios):
        scenarios = readable(lambda: release.read_scenarios(posed, skeletons), posed)
    replays = replaying.replay_all(
        release.iter_trajectories(parsed.path, skeletons, scenarios),
        skeletons,
        scenarios,
        workers=parsed.workers,
        progress=not parsed.no_progress,
    )
    replays.failures = each_once([*skeletons.failures, *scenarios.failures, *replays.failures])
    unread = tell(replays.failures)
    table = replaying.replay_table(replays, by="task_id" if len(replays) <= MOST_ROWS else "env_id")
    sys.stdout.write(table.to_string() + "\n")
    if parsed.out:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in replaying.differences(replays)]
        write_text(Path(parsed.out), "".join(lines))
    well = bool(replays) and not replays.failures and all(r.explained for r in replays)
    return {**replaying.replay_summary(replays), "unread": unread}, well


@contextmanager
def _hint(option: str, given: str) -> Iterator[None]:
    """Says which option names the file, where it was looked for beside the trajectories."""
    try:
        yield
    except StoreError as error:
        raise error if given else StoreError(f"{error} Or give {option} PATH.") from error
