"""The command line: `python -m envscaler run …`. The last line it prints is one JSON object.

Exit status 0 only when all went well, 1 when something could not be done (a sentence on stderr says what), 2 when
the command line itself is wrong, 130 when interrupted.
"""

import argparse
import ast
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envscaler import __version__, project
from envscaler.error import EnvscalerError, ParameterError


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, do what it says, and return the exit status."""
    parsed = _parser().parse_args(arguments)
    try:
        result = parsed.do(parsed)
    except EnvscalerError as error:
        sys.stderr.write(f"envscaler: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("envscaler: interrupted; run the same line again to go on.\n")
        return 130
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m envscaler", description=__doc__.split("\n")[0] if __doc__ else ""
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run the notebooks headless, from requests to figures")
    run.add_argument("--only", default="", metavar="02,03", help="only the notebooks whose names begin so")
    run.add_argument("--model", default="builtin", help="builtin, or a model's name (default: builtin)")
    run.add_argument(
        "--base-url", default="", help="an OpenAI-compatible server, e.g. http://localhost:8000/v1"
    )
    run.add_argument("--scale", default="default", choices=list(project.SCALES), help="how much to make")
    run.add_argument("--seed", type=int, default=0, help="seed of every random choice")
    run.add_argument("--run", default="", metavar="NAME", help="name of the run (default: model and scale)")
    run.add_argument(
        "-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
        help="a further notebook parameter; may be repeated",
    )  # fmt: skip
    run.add_argument("--no-progress", action="store_true", help="no progress bars")
    run.set_defaults(do=_run)
    return parser


def _run(parsed: argparse.Namespace) -> dict[str, Any]:
    from envscaler.model.connect import connect
    from envscaler.run import open_run
    from envscaler.series import find_notebooks, run_series

    run = open_run(parsed.model, parsed.scale, parsed.seed, parsed.run)
    notebooks = find_notebooks([part.strip() for part in parsed.only.split(",")] if parsed.only else [])
    parameters = {name: _literal(value) for name, value in parsed.parameter}
    if clash := set(parameters) & {"model", "base_url", "scale", "seed", "run"}:
        raise ParameterError(f"Expected {min(clash)!r} as --{min(clash).replace('_', '-')}, got it as -p.")
    if source := parameters.get("source"):
        # Notebooks run in their own folder; the path was meant from here.
        parameters["source"] = str(Path(str(source)).absolute())
    if parsed.base_url:
        parameters["base_url"] = parsed.base_url
    # Say what is wrong with the model (no key, no server, no such name) before minutes are spent on a first notebook.
    connect(parsed.model, base_url=parsed.base_url or None).check()
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))
    return run_series(notebooks, run, parameters, progress=not parsed.no_progress)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


if __name__ == "__main__":
    sys.exit(main())
