"""Where things lie, and how large a run is.

Every path of the library hangs from the functions below; nothing else builds a path. `ENVSCALER_HOME` moves the
root (made data, figures, builds) somewhere else. This module reads no file and makes no folder.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

from envscaler.error import ParameterError, StoreError
from envscaler.given import told

PACKAGE = Path(__file__).resolve().parent
LONGEST_NAME = 160
"""Bytes of the name of a run; a file name has at most 255."""
STAGES = ("tasks", "themes", "skeletons", "audits", "scenarios", "rollouts")


def root() -> Path:
    """The project folder: `ENVSCALER_HOME`, else the checkout this package lies in, else the working folder."""
    if home := os.environ.get("ENVSCALER_HOME"):
        try:
            return Path(home).expanduser().resolve()
        except (RuntimeError, OSError, ValueError) as error:
            raise StoreError(f"Expected a folder in ENVSCALER_HOME, got {home!r:.200} ({error}).") from error
    checkout = PACKAGE.parent
    return checkout if (checkout / "notebooks").is_dir() else Path.cwd()


def build_dir() -> Path:
    """Where executed notebooks, caches, smoke runs and tests write; never under version control."""
    return root() / "build"


def data_dir(scale: str = "default") -> Path:
    """Where the records of a run lie: `data/`, and `build/data/` for smoke runs, which are thrown away."""
    return build_dir() / "data" if scale == "smoke" else root() / "data"


def figures_dir(scale: str = "default") -> Path:
    """Where figures of a run go: `figures/`, and `build/figures/` for smoke runs."""
    return build_dir() / "figures" if scale == "smoke" else root() / "figures"


def run_name(model: str, scale: str) -> str:
    """The default name of a run, e.g. `builtin-smoke`; characters a file name cannot hold become `-`."""
    plain = "".join(c if c.isalnum() or c in "._" else "-" for c in model).lstrip("._-") or "model"
    if len(plain.encode()) > LONGEST_NAME // 2:
        # Two long names that begin alike stay apart.
        plain = f"{plain[:12]}-{hashlib.sha256(model.encode()).hexdigest()[:12]}"
    return f"{plain}-{scale}"


def check_run_name(run: str) -> None:
    """Refuse a name of a run that would lead out of its folder, or into the failures of another run.

    Raises:
        ParameterError: saying what a name may be.
    """
    plain = isinstance(run, str) and re.fullmatch(r"[^\W_]([\w .+@=-]*[\w.+@=-])?", run)
    if not plain or len(run.encode()) > LONGEST_NAME or run.endswith(".failures"):
        raise ParameterError(
            f"Expected a name of a run of at most {LONGEST_NAME} bytes: a letter or digit, then letters, digits, spaces"
            f" and any of . _ - + @ =, not ending in .failures; got {run!r:.80}."
        )


def check_seed(seed: int) -> None:
    """Refuse what cannot seed every random choice of a run.

    Raises:
        ParameterError: it is no whole number from 0 to 2³¹ - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 2**31:
        raise ParameterError(f"Expected a whole number ≥ 0 and below 2³¹ as seed, got {told(seed)}.")


def stage_path(stage: str, run: str, scale: str = "default") -> Path:
    """The file of one stage of one run: `data/<stage>/<run>.jsonl`.

    Raises:
        ParameterError: `stage` is none of `STAGES`, or `run` cannot be the name of a file in its folder.
    """
    if stage not in STAGES:
        raise ParameterError(f"Expected a stage out of {', '.join(STAGES)}, got {stage!r}.")
    check_run_name(run)
    return data_dir(scale) / stage / f"{run}.jsonl"


def seed_tasks_path() -> Path:
    """The requests written for this project; like the paper's numbers, they come with the checkout."""
    return _shipped("tasks", "seeds.jsonl")


def published_labels_path() -> Path:
    """Labels of 150 published requests, by the hash of their texts."""
    return _shipped("tasks", "labels_real.jsonl")


def labelled_pairs_path() -> Path:
    """Pairs of themes, labelled as one world or two, by the hashes of their texts."""
    return _shipped("themes", "labels_pairs.jsonl")


def labelled_themes_path() -> Path:
    """The themes of those pairs: who wrote them, the text where the project may give it, their clusters."""
    return _shipped("themes", "labels_themes.jsonl")


def paper_path() -> Path:
    """The paper's published numbers; they come with the checkout and do not move with `ENVSCALER_HOME`."""
    return _shipped("paper.json")


def sample_path() -> Path:
    """Numbers of the published sample, recomputed; like the paper's."""
    return _shipped("published.json")


def benchmark_path() -> Path:
    """The API classes of a benchmark, described by this project; environments are compared with them."""
    return _shipped("bfcl_classes.yaml")


def replies_path(model: str) -> Path:
    """The recording of a model in `data/replies/`, by its name as a file can bear it; some come with the checkout."""
    return _shipped("replies", f"{run_name(model, 'replies').removesuffix('-replies')}.jsonl")


def sizes_path() -> Path:
    """Calls and tokens of every step in one run, which estimates go by; they come with the checkout."""
    return _shipped("sizes.csv")


def _shipped(*parts: str) -> Path:
    checkout = PACKAGE.parent.joinpath("data", *parts)
    return checkout if checkout.exists() else root().joinpath("data", *parts)


@dataclass(frozen=True)
class Scale:
    """How much one run makes."""

    name: str
    tasks: int | None
    """Requests that enter; None for all there are."""
    environments: int | None
    """Themes that are built; None for all that were picked."""
    probes: int
    """Probes an environment."""
    scenarios: int
    """Scenarios an environment."""
    rollouts: int
    """Episodes in all."""


SCALES = {
    "smoke": Scale("smoke", tasks=60, environments=3, probes=20, scenarios=5, rollouts=30),
    "default": Scale("default", tasks=None, environments=24, probes=100, scenarios=10, rollouts=600),
    "paper": Scale("paper", tasks=None, environments=None, probes=100, scenarios=26, rollouts=2400),
}


def get_scale(name: str) -> Scale:
    """The scale of that name.

    Raises:
        ParameterError: no scale has that name.
    """
    if name not in SCALES:
        raise ParameterError(f"Expected a scale out of {', '.join(SCALES)}, got {name!r}.")
    return SCALES[name]
