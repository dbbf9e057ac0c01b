"""The card of a corpus: what is in it, where it comes from, what was proved, what is not known. All of it computed.

The front matter is what the Hugging Face hub reads: licence, size, and for `datasets.load_dataset` the files of each
split and the type of each column. Whatever is not a plain value is declared as JSON there: with types guessed from the
first rows, objects of different shapes would be filled up with nulls. Fields are told in the words of `schema`.
"""

import inspect
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, get_args, get_origin

import yaml

from envscaler.release.split import SPLITS, Split
from envscaler.schema import Failure, Origin, Part, Record, Rollout, Scenario, Skeleton, Task, Theme
from envscaler.training.saving import survives
from envscaler.world.proving.proofs import OTHERWISE

FILE = "README.md"
MARK = "envscaler-corpus"
"""The tag that a corpus is known by."""
KINDS: dict[str, type[Record]] = {"environments": Skeleton, "scenarios": Scenario, "rollouts": Rollout}
NAMES = tuple(KINDS)
PUBLISHED = dict(zip(NAMES, ("env_metadata.json", "rl_scenarios.json", "trajectories.json"), strict=True))
_PLAIN: dict[Any, str] = {str: "string", int: "int64", float: "float64", bool: "bool"}
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M")
"""What the hub calls how many rows."""
_STAND_IN, _UNTOLD = "builtin", "an author who is not told"


@dataclass(frozen=True)
class About:
    """What the records do not say themselves."""

    title: str
    licence: str
    stamp: str
    """Model, scale and seed of the run."""
    test_share: float
    seed: int
    """Of the division."""
    encoder: str
    """Its name, where environments of nearly the same meaning were kept on one side."""
    certified: bool
    """Whether scenarios had to have a valid certificate."""
    sources: Mapping[str, int]
    """Requests behind the environments, by where they come from."""
    failures: Sequence[Failure]
    """What was left out."""
    whole: Split
    """What the corpus was cut from."""


def requests_behind(
    skeletons: Iterable[Skeleton], themes: Iterable[Theme], tasks: Iterable[Task]
) -> dict[str, int]:
    """How many requests the environments come from, by their `source`."""
    built = {skeleton.theme_id for skeleton in skeletons}
    asked = {task for theme in themes if theme.id in built for task in theme.task_ids}
    return dict(sorted(Counter(task.source or "not told" for task in tasks if task.id in asked).items()))


def card(splits: Mapping[str, Split], about: About) -> str:
    """The text of the card."""
    whole = {name: [r for split in splits.values() for r in split.records[name]] for name in NAMES}
    front = yaml.safe_dump(_front_matter(splits, about), sort_keys=False, allow_unicode=True)
    proved = {name: _proved(split.scenarios) for name, split in splits.items()}
    sections = {
        f"# {about.title}": _opening(about),
        "## Counts": _by_split({name: split.counts for name, split in splits.items()}) + _cut(whole, about),
        "## Train and test": _divided(splits, about),
        "## What the certificates show": "Every figure was measured by execution.\n\n" + _by_split(proved),
        "## Origin": _origin(whole, about),
        "## Licence": _licence(about),
        "## Known limits": "\n".join(f"* {limit}" for limit in _limits(whole, about)),
        "## Fields": _dictionary([name for name in NAMES if whole[name]]),
    }
    return f"---\n{front}---\n\n" + "\n".join(
        f"{head}\n\n{text.strip()}\n" for head, text in sections.items()
    )


def _front_matter(splits: Mapping[str, Split], about: About) -> dict[str, Any]:
    held = {
        name: sides for name in NAMES if (sides := [side for side in splits if splits[side].records[name]])
    }
    rows = sum(len(records) for split in splits.values() for records in split.records.values())
    size = _SIZES[min(max(len(str(rows)) - 3, 0), len(_SIZES) - 1)]
    configs = [
        {"config_name": name, "data_files": [{"split": s, "path": f"{s}/{name}.jsonl"} for s in sides]}
        for name, sides in held.items()
    ]
    features = [{"config_name": name, "features": _features(KINDS[name])} for name in held]
    return {
        "license": about.licence, "pretty_name": about.title, "size_categories": [size],
        "tags": ["tool-use", "agents", "environments", MARK], "configs": configs, "dataset_info": features,
    }  # fmt: skip


def _features(kind: type[Record]) -> list[dict[str, str]]:
    """The columns of a kind of record, as `datasets` writes them down."""
    types = {"id": str, **{name: field.annotation for name, field in kind.model_fields.items()}}
    return [
        {"name": name, "dtype": "string" if get_origin(of) is Literal else _PLAIN.get(of, "json")}
        for name, of in types.items()
    ]


# Sections


def _opening(about: About) -> str:
    return f"""
Executable, stateful environments for agents that call tools; in each of them tasks with an initial state, check
functions that grade the final state, a *witness* (tool calls that solve the task) and a *certificate* (what execution
showed of the task and its checks).{f" Made by envscaler from: {about.stamp}." if about.stamp else ""}

```python
from datasets import load_dataset                       # 4.7 or later

scenarios = load_dataset(FOLDER_OR_NAME, "scenarios")   # or "environments", "rollouts"

import envscaler as es

train = es.load_corpus(FOLDER, "train")                 # train.skeletons, train.scenarios, train.rollouts
es.certify(train.skeletons.by_id()[train.scenarios[0].skeleton_id], train.scenarios[0])
```

`train/published/` and `test/published/` hold the same records in the form that EnvScaler's data is published in
({", ".join(f"`{name}`" for name in PUBLISHED.values())}), as far as there are any; what that form has no place for
stands there in the field `envscaler`, and `envscaler.release` reads both back equal.
"""


def _cut(taken: Mapping[str, Sequence[Any]], about: About) -> str:
    both = [(name, len(taken[name]), len(found)) for name, found in about.whole.records.items()]
    told = ", ".join(f"{some:,} of {all_:,} {name}" for name, some, all_ in both if all_)
    return f"\n\nCut on purpose: {told} were taken." * any(some < all_ for _, some, all_ in both)


def _divided(splits: Mapping[str, Split], about: About) -> str:
    if len(splits) == 1:
        return "It was not divided: all of it is `train`."
    meaning = f", or a meaning as near as that of themes that merge ({about.encoder})" * bool(about.encoder)
    return (
        f"Divided by environment: asked for {about.test_share * 100:.4g}% of the environments as test, seed "
        f"{about.seed}. Environments of one theme, one class name, nearly the same title{meaning} are on one side. "
        "Scenarios follow their environment and rollouts their scenario. Both sides have the same authors, habits "
        "included."
    )


def _proved(scenarios: Sequence[Scenario]) -> dict[str, str | int]:
    certificates = [s.certificate for s in scenarios if s.certificate]
    mutants = [len(c.kills) for c in certificates]
    killed = [1 - len(c.survivors) / len(c.kills) for c in certificates if c.kills]
    figures = [{p.name: p.figure for p in c.proofs if p.status == "proved"} for c in certificates]
    otherwise = [sum(found.get(name) is not None for name in OTHERWISE) for found in figures]
    idle = [
        p.figure for c in certificates for p in c.proofs if p.name == "nothing done" and p.figure is not None
    ]
    valid = sum(c.valid for c in certificates)
    return {
        "scenarios": len(scenarios),
        "with a valid certificate": f"{valid} ({valid / len(scenarios):.1%})" if scenarios else 0,
        "mutants of the solution a scenario, mean / least": _mean_least(mutants, "{:.1f}", "{}"),
        "share of them told from it, mean / least": _mean_least(killed, "{:.1%}", "{:.1%}"),
        f"ways to solve it otherwise that are paid, of {len(OTHERWISE)} kinds, mean / least": _mean_least(
            otherwise, "{:.1f}", "{}"
        ),
        "reward of doing nothing, most": f"{max(idle):g}" if idle else "–",
    }


def _mean_least(values: Sequence[float], mean: str, least: str) -> str:
    return f"{mean.format(fmean(values))} / {least.format(min(values))}" if values else "–"


def _origin(whole: Mapping[str, Sequence[Any]], about: About) -> str:
    seeds: dict[tuple[str, ...], list[int | None]] = {}
    for name, records in whole.items():
        for record in records:
            o = record.origin or Origin(model=_UNTOLD)
            settings = {k: v for k, v in o.settings.items() if k != "sample"}  # a number of its own for each
            key = (o.model, json.dumps(settings, sort_keys=True), o.prompt, o.version)
            seeds.setdefault((name, *key), []).append(o.seed)
    rows = [(*key, _range(found), len(found)) for key, found in sorted(seeds.items())]
    told = ", ".join(f"{n:,} from `{source}`" for source, n in about.sources.items())
    return _table(("records", "model", "settings", "prompts", "version", "seeds", "number"), rows) + (
        "\n\n`prompts` is the hash of the prompt files that were used. "
        f"Requests behind the environments, by their `source`: {told or 'not told'}."
    )


def _range(seeds: Sequence[int | None]) -> str:
    known = sorted({seed for seed in seeds if seed is not None})
    return f"{known[0]}–{known[-1]} ({len(known)})" if len(known) > 1 else str(known[0]) if known else ""


def _licence(about: About) -> str:
    foreign = ", ".join(f"`{source}`" for source in about.sources if source != "seeds")
    return (
        f"`{about.licence}`. What the built-in model wrote, code included, belongs to the envscaler project (MIT, see "
        "its LICENSE); what another model wrote is given as far as that model's terms allow. The requests that the "
        "environments were inferred from are not part of it. Those from `seeds` were written for envscaler"
    ) + (f"; those from {foreign} may carry a licence of their own." if foreign else ".")


def _limits(whole: Mapping[str, Sequence[Any]], about: About) -> list[str]:
    skeletons, scenarios, rollouts = (whole[name] for name in NAMES)
    models = sorted({r.origin.model if r.origin else _UNTOLD for r in (*skeletons, *scenarios)})
    rules = [rule for skeleton in skeletons for rule in skeleton.rules]
    kills = [kill for s in scenarios if s.certificate for kill in s.certificate.kills]
    alive = sum(not kill.killers for kill in kills)
    found = [f"All was written by {' and '.join(models)}; another would write otherwise."]
    if _STAND_IN in models:
        found.append(
            "The built-in model is a stand-in: it puts hand-written patterns together. How many distinct patterns the "
            "environments come from is not recorded, so they are more alike than their number says, and nothing "
            "measured on them says how worlds of a language model would do."
        )
    altered = sum(not survives(r.model_dump(mode="json")) for records in whole.values() for r in records)
    posed = {scenario.skeleton_id for scenario in scenarios}
    tested = sum(rule.invariant is not None for rule in rules)
    found += [
        f"{sum(s.id not in posed for s in skeletons)} of {len(skeletons)} environments have no scenario.",
        f"{tested} of {len(rules)} rules can be tested; the others stand in words alone.",
        f"{alive} of {len(kills):,} mutants of solutions are paid in full. A certificate shows what was tried.",
    ]
    if not about.certified:
        doubtful = sum(not (s.certificate and s.certificate.valid) for s in scenarios)
        found.append(f"{doubtful} scenarios without a valid certificate were kept.")
    if about.failures:
        why = ", ".join(
            f"{n} {error}" for error, n in sorted(Counter(f.error for f in about.failures).items())
        )
        found.append(f"Left out: {why}; `failures.jsonl` has the reasons.")
    if rollouts:
        agents = ", ".join(f"{n} {agent}" for agent, n in sorted(Counter(r.agent for r in rollouts).items()))
        unpaid = sum(r.reward is None for r in rollouts)
        solved = sum(r.solved for r in rollouts)
        found.append(f"Rollouts are of these agents: {agents}; {solved} are solved, {unpaid} have no reward.")
    return [
        *found,
        "The code is generated: run it in a sandbox. `envscaler` does.",
        f"{altered} records have a number of more than ten decimals, which `datasets` alters, or of more than 64 bits, "
        "for which it refuses the file; `es.load_corpus` reads all as they are.",
    ]


# Fields


def _dictionary(names: Sequence[str]) -> str:
    kinds = [KINDS[name] for name in names]
    parts = list(dict.fromkeys(part for kind in kinds for part in _parts_of(kind)))
    titles = [f"`{name}.jsonl`: `{kind.__name__}`" for name, kind in zip(names, kinds, strict=True)]
    titles += [f"`{part.__name__}`" for part in parts]
    ident = "Every line begins with `id`, the first 12 hex digits of the sha256 of the content; others name it by that."
    return f"{ident}\n\n" + "\n\n".join(
        f"### {title}\n\n{_first_line(kind)}\n\n{_table(('field', 'type', 'meaning'), _fields(kind))}"
        for title, kind in zip(titles, [*kinds, *parts], strict=True)
    )


def _fields(kind: type[Part]) -> list[tuple[str, str, str]]:
    return [
        (f"`{name}`", f"`{_type(field.annotation)}`", " ".join((field.description or "").split()))
        for name, field in kind.model_fields.items()
    ]


def _parts_of(kind: type[Part]) -> list[type[Part]]:
    """The parts in a record, and those in them."""
    inner = [found for field in kind.model_fields.values() for found in _classes(field.annotation)]
    return [part for one in inner if issubclass(one, Part) for part in (one, *_parts_of(one))]


def _classes(annotation: Any) -> list[type]:
    inner = [found for part in get_args(annotation) for found in _classes(part)]
    return [annotation] if inspect.isclass(annotation) else inner


def _type(annotation: Any) -> str:
    text = annotation.__name__ if inspect.isclass(annotation) else str(annotation)
    return re.sub(r"\bAny\b", "JSON", re.sub(r"\b(?:\w+\.)+(\w)", r"\1", text))


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").split("\n")[0]


# Markdown


def _by_split(columns: Mapping[str, Mapping[str, Any]]) -> str:
    names = [name for name in SPLITS if name in columns]
    rows = [(what, *(columns[name][what] for name in names)) for what in columns[names[0]]]
    return _table(("", *names), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(c).replace("|", "\\|") for c in line) + " |" for line in lines)
