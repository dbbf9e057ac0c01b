"""The published sample in numbers: what Fig. 4 counts, and how deep its environments are.

    python tests/bench/published_sample.py [--write]

Prints the facts as one JSON object a line, `{"bench", "metric", "value", "unit"}`; with `--write` they go to
`data/published.json`, which holds numbers alone. Reads the folder that ENVSCALER_RELEASE names. The solutions of the
sample are the calls of its recorded episodes, for it has no witnesses.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from envscaler import project, release
from envscaler.release.shapes import env_id
from envscaler.schema import Scenario, Skeleton
from envscaler.show.depth import depth_facts
from envscaler.show.stats import environment_frame
from envscaler.store import write_text

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "release"
COUNTED = {
    "query_tools": "query_tools",
    "state_change_tools": "state_change_tools",
    "state_attributes": "attributes",
}
SOURCE = (
    "EnvScaler release (MIT, RUC-NLPIR) as redistributed by ToolHazard (MIT): 31 environments, 10 episodes"
)


def facts(folder: Path) -> dict[str, Any]:
    """All that `data/published.json` holds."""
    skeletons = release.read_environments(folder / "env_metadata.json")
    frame = environment_frame(skeletons)
    about = {"source": SOURCE, "command": "python tests/bench/published_sample.py --write"}
    return {
        "about": about,
        **{
            name: histogram(frame[column])
            for name, column in {**COUNTED, "tools": "tools", "rules": "rules"}.items()
        },
        "depth": depth_facts(skeletons, solutions(folder, skeletons)),
    }


def histogram(values: Any) -> dict[str, Any]:
    """A block of the form that the paper's have."""
    counts = {str(value): int(number) for value, number in values.value_counts().sort_index().items()}
    return {
        "counts_by_value": counts,
        "mean": round(float(values.mean()), 2),
        "median": float(values.median()),
        "environments": len(values),
    }


def solutions(folder: Path, skeletons: list[Skeleton]) -> list[Scenario]:
    """Recorded episodes as if their calls were witnesses."""
    worlds = {env_id(skeleton): skeleton.id for skeleton in skeletons}
    posed = release.read_scenarios(folder / "trajectory_scenarios.json", skeletons).by_id()
    played = release.read_trajectories(folder / "trajectories.json", skeletons, posed.values())
    assert len(worlds) == len(skeletons)
    return [
        posed[rollout.scenario_id].replace(witness=[call for call, _ in release.recorded_calls(rollout)])
        for rollout in played
    ]


def main() -> None:
    """Print the facts, or write them."""
    found = facts(Path(os.environ.get("ENVSCALER_RELEASE", DEFAULT)))
    if sys.argv[1:] == ["--write"]:
        lines = [f" {json.dumps(name)}: {json.dumps(block)}" for name, block in found.items()]
        write_text(project.sample_path(), "{\n" + ",\n".join(lines) + "\n}\n")
    for name, block in found.items():
        for metric, value in block.items():
            if isinstance(value, int | float):
                line = {
                    "bench": "published_sample",
                    "metric": f"{name}, {metric}",
                    "value": value,
                    "unit": "number",
                }
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
