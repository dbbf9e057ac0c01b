"""`python -m envscaler run`: the notebooks headless, from requests to figures. `series` does the work."""

import argparse
import ast
import os
import sys
from pathlib import Path
from typing import Any

from envscaler import project
from envscaler.commands import Commands, Report
from envscaler.error import ParameterError
from envscaler.run import Run, open_run


def add(commands: Commands) -> None:
    """Describe the command line."""
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
    run.add_argument(
        "--budget-usd", type=float, metavar="DOLLARS", help="dollars after which no model is asked any more"
    )
    run.add_argument(
        "--estimate",
        action="store_true",
        help="say about how many calls, tokens and dollars it takes, and run nothing",
    )
    run.add_argument("--no-progress", action="store_true", help="no progress bars")
    run.set_defaults(do=_run)


def _run(parsed: argparse.Namespace) -> Report:
    from envscaler.model.connect import connect
    from envscaler.series import find_notebooks, run_series

    run = open_run(parsed.model, parsed.scale, parsed.seed, parsed.run, parsed.budget_usd)
    if parsed.estimate:
        return _estimated(run), True
    notebooks = find_notebooks([part.strip() for part in parsed.only.split(",")] if parsed.only else [])
    parameters = {name: _literal(value) for name, value in parsed.parameter}
    if clash := set(parameters) & {"model", "base_url", "scale", "seed", "run", "budget_usd"}:
        raise ParameterError(f"Expected {min(clash)!r} as --{min(clash).replace('_', '-')}, got it as -p.")
    if source := parameters.get("source"):
        # Notebooks run in their own folder; the path was meant from here.
        parameters["source"] = str(Path(str(source)).absolute())
    if parsed.base_url:
        parameters["base_url"] = parsed.base_url
    if run.budget_usd is not None:
        parameters["budget_usd"] = run.budget_usd
    # Say what is wrong with the model (no key, no server, no such name) before minutes are spent on a first notebook.
    connect(parsed.model, base_url=parsed.base_url or None, ledger=run.ledger).check()
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))
    # Threads that spin while they wait for one another halve the pace of encoding beside other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return run_series(notebooks, run, parameters, progress=not parsed.no_progress), True


def _estimated(run: Run) -> dict[str, Any]:
    """About what a run takes; the table goes to the screen, its sums into the last line."""
    from envscaler.show.accounts import estimate

    table = estimate(run.scale, run.model)
    sys.stdout.write(f"{table.round(2).to_string(index=False)}\n")
    sums = table.drop(columns="step").sum(skipna=False)
    usd = None if sums["usd"] != sums["usd"] else round(float(sums["usd"]), 2)
    told = {name: int(sums[name]) for name in ("calls", "input_tokens", "output_tokens")}
    return {"estimate": True, "model": run.model, "scale": run.scale.name, **told, "usd": usd}


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
