"""The command line: `python -m envscaler run | certify | replay | corpus`. The last line it prints is one JSON object.

Exit status 0 only when all went well, 1 when something could not be done or what was looked at is not in order (a
sentence on stderr says what), 2 when the command line itself is wrong, 130 when interrupted. The commands themselves
are in `commands`.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from envscaler import __version__
from envscaler.commands import certify, corpus, replay, run
from envscaler.error import BudgetSpent, EnvscalerError

_COMMANDS = (run, certify, replay, corpus)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, do what it says, and return the exit status."""
    parsed = _parser().parse_args(arguments)
    try:
        result, well = parsed.do(parsed)
    except (EnvscalerError, BudgetSpent) as error:
        sys.stderr.write(f"envscaler: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("envscaler: interrupted; run the same line again to go on.\n")
        return 130
    sys.stdout.write(json.dumps(result) + "\n")
    return 0 if well else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m envscaler", description=__doc__.split("\n")[0] if __doc__ else ""
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
