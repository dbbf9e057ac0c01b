"""Calls and tokens of every step of one run on the built-in model: the table that estimates go by.

Run: python tests/bench/sizes.py [--scale default] [--write data/sizes.csv]

It runs the notebooks 01 to 06 in a folder of their own, with a price on the built-in model, so that an account is kept.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from envscaler.project import get_scale

ROOT = Path(__file__).resolve().parents[2]
HEAD = "# Of one run of the notebooks 01 to 06 on the built-in model, scale {scale}, seed 0; tokens: characters / 4.\n"
UNITS = {"tasks": "requests", "themes": "requests", "skeletons": "environments", "audits": "probes",
         "scenarios": "scenarios", "rollouts": "rollouts"}  # fmt: skip


def main() -> None:
    """Run, sum up, write."""
    line = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    line.add_argument("--scale", default="default")
    line.add_argument("--write", type=Path, default=None)
    options = line.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        shutil.copytree(ROOT / "notebooks", home / "notebooks")
        shutil.copytree(ROOT / "data" / "tasks", home / "data" / "tasks")
        (home / "data" / "prices.yaml").write_text("builtin: [1, 1]\n")
        command = [
            "-m",
            "envscaler",
            "run",
            "--only",
            "01,02,03,04,05,06",
            "--scale",
            options.scale,
            "--no-progress",
        ]
        done = subprocess.run([sys.executable, *command], env={**os.environ, "ENVSCALER_HOME": name}, check=True,
                              capture_output=True, text=True)  # fmt: skip
        counts = json.loads(done.stdout.splitlines()[-1])["counts"]
        account = pd.read_json(home / "build" / "accounts" / f"builtin-{options.scale}.jsonl", lines=True)
    size = get_scale(options.scale)
    worlds = counts["skeletons"]["records"]
    units = {"requests": counts["tasks"]["records"], "environments": worlds, "probes": worlds * size.probes,
             "scenarios": worlds * size.scenarios, "rollouts": counts["rollouts"]["records"]}  # fmt: skip
    table = account.groupby("step")[["calls", "input_tokens", "output_tokens"]].sum().reset_index()
    table = table[table["step"] != "check"]
    table["unit"] = [UNITS[step.partition("/")[0]] for step in table["step"]]
    table["units"] = table["unit"].map(units)
    for row in table.to_dict("records"):
        print(
            json.dumps(
                {
                    "bench": "sizes",
                    "metric": row.pop("step"),
                    "value": row.pop("calls"),
                    "unit": "calls",
                    **row,
                }
            )
        )
    if options.write:
        options.write.write_text(HEAD.format(scale=options.scale) + table.to_csv(index=False))


if __name__ == "__main__":
    main()
