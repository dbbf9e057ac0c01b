"""`python -m envscaler corpus`: what a run made, as a corpus with train, test and a card.

Exit status 0 when all of the run's worlds, scenarios and rollouts went in; 1 when something was left out, which is told
on stderr, and in the corpus where it could be read at all. `release.corpus` does the work.
"""

import argparse
from pathlib import Path

from envscaler import project
from envscaler.commands import Commands, Report, tell
from envscaler.run import open_run
from envscaler.store import Records


def add(commands: Commands) -> None:
    """Describe the command line."""
    corpus = commands.add_parser("corpus", help="write what a run made as a corpus: train, test and a card")
    corpus.add_argument("--model", default="builtin", help="the run's model (default: builtin)")
    corpus.add_argument("--scale", default="default", choices=list(project.SCALES), help="the run's scale")
    corpus.add_argument(
        "--run", default="", metavar="NAME", help="name of the run (default: model and scale)"
    )
    corpus.add_argument("--out", default="", metavar="DIR", help="folder (default: build/corpus/<run>)")
    corpus.add_argument(
        "--test-share", type=float, default=0.2, help="share of the environments for the test"
    )
    corpus.add_argument("--seed", type=int, default=0, help="seed of the run, and of the division")
    corpus.add_argument("--environments", type=int, metavar="N", help="so many environments at most")
    corpus.add_argument(
        "--at-most", type=int, metavar="N", help="scenarios an environment, rollouts a scenario"
    )
    corpus.add_argument("--licence", default="mit", help="as the hub writes it (default: mit)")
    corpus.add_argument("--keep-uncertified", action="store_true", help="also scenarios without certificate")
    corpus.add_argument("--no-rollouts", action="store_true", help="without the episodes")
    corpus.set_defaults(do=_corpus)


def _corpus(parsed: argparse.Namespace) -> Report:
    from envscaler.release.corpus import save_corpus

    run = open_run(parsed.model, parsed.scale, parsed.seed, parsed.run)
    worlds, scenarios = run.read("worlds"), run.read("scenarios")
    # What a run may do without: episodes, and the requests that the card tells the origin of.
    played, themes, tasks = (
        run.read(stage) if wanted and run.path(stage).exists() else Records()
        for stage, wanted in (("rollouts", not parsed.no_rollouts), ("themes", True), ("tasks", True))
    )
    corpus = save_corpus(
        Path(parsed.out) if parsed.out else project.build_dir() / "corpus" / run.name,
        worlds,
        scenarios,
        rollouts=played,
        themes=themes,
        tasks=tasks,
        test_share=parsed.test_share,
        seed=parsed.seed,
        certified=not parsed.keep_uncertified,
        environments=parsed.environments,
        at_most=parsed.at_most,
        licence=parsed.licence,
        stamp=run.stamp,
    )
    failures = [*worlds.failures, *scenarios.failures, *played.failures, *corpus.failures]
    unread = tell(failures)
    counts = {name: split.counts for name, split in corpus.splits.items()}
    told = {"out": str(corpus.folder), **counts, "failures": len(failures), "unread": unread}
    return told, not failures
