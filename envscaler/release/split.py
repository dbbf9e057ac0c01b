"""Train and test of a corpus: divided by environment, so that no world is met again in the test.

Environments that are one world told twice are on one side: those of one theme (a mended version keeps its theme), of
one class name, of nearly the same title, and, with an encoder, of nearly the same meaning. Every scenario follows its
environment, every rollout its scenario. Nothing is written here (`corpus` does).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import HashingVectorizer

from envscaler.dedup import similar_pairs
from envscaler.error import ParameterError
from envscaler.model.request import Encoder
from envscaler.schema import Failure, Record, Rollout, Scenario, Skeleton, digest
from envscaler.store import Records
from envscaler.themes import THRESHOLD

R = TypeVar("R", bound=Record)
C = TypeVar("C", Scenario, Rollout)
SPLITS = ("train", "test")
STAGE = "corpus"
"""The stage of the failures."""
ALIKE = 0.8
"""Cosine of the letter triples of two titles, or class names, from which they count as one. Among the published
sample's 31 titles it joins two that are equal; at 0.7 'Document Management System' joins a hospital's."""
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class Split:
    """One side of a corpus."""

    skeletons: Records[Skeleton] = field(default_factory=Records)
    """The environments, in the order of their ids, as all records here."""
    scenarios: Records[Scenario] = field(default_factory=Records)
    """The scenarios in them."""
    rollouts: Records[Rollout] = field(default_factory=Records)
    """The episodes in those."""

    @property
    def records(self) -> dict[str, Records[Any]]:
        """All three under the names of their files."""
        return {"environments": self.skeletons, "scenarios": self.scenarios, "rollouts": self.rollouts}

    @property
    def counts(self) -> dict[str, int]:
        """How many environments, tools, scenarios, checks and rollouts there are."""
        return {
            "environments": len(self.skeletons),
            "tools": sum(len(skeleton.tools) for skeleton in self.skeletons),
            "scenarios": len(self.scenarios),
            "checks": sum(len(scenario.checks) for scenario in self.scenarios),
            "rollouts": len(self.rollouts),
        }


def divide(
    skeletons: Sequence[Skeleton],
    scenarios: Sequence[Scenario],
    rollouts: Sequence[Rollout],
    *,
    test_share: float,
    seed: int,
    encoder: Encoder | None = None,
) -> dict[str, Split]:
    """Both sides of a corpus whose parts are whole; without a share of the test, all is `train`.

    Raises:
        ParameterError: all environments are one world, so there is nothing to divide.
    """
    drawn = _drawn(worlds(skeletons, encoder), test_share, seed) if test_share else set()
    sides = {}
    for name in SPLITS if drawn else SPLITS[:1]:
        here = [s for s in skeletons if (s.id in drawn) == (name == "test")]
        posed = followers(scenarios, here)
        sides[name] = Split(Records(here), Records(posed), Records(followers(rollouts, posed)))
    return sides


def worlds(skeletons: Sequence[Skeleton], encoder: Encoder | None = None) -> list[list[Skeleton]]:
    """The environments in groups, a world each; see the top."""
    if not skeletons:
        return []
    names = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 3), n_features=2**10, alternate_sign=False)
    told = [[s.title for s in skeletons], [_CAPITAL.sub(" ", s.class_name) for s in skeletons]]
    near = [similar_pairs(names.transform(texts).toarray(), ALIKE) for texts in told]
    if encoder is not None:
        meant = encoder.encode([f"{s.title}: {s.summary}" for s in skeletons])
        near.append(similar_pairs(meant, THRESHOLD))
    first: dict[str, int] = {}
    themes = [
        first.setdefault(s.theme_id, place) if s.theme_id else place for place, s in enumerate(skeletons)
    ]
    i = np.concatenate([*(pairs.i for pairs in near), themes]).astype(int)
    j = np.concatenate([*(pairs.j for pairs in near), np.arange(len(skeletons))]).astype(int)
    links = coo_array((np.ones(len(i)), (i, j)), shape=(len(skeletons),) * 2)
    groups: dict[int, list[Skeleton]] = {}
    for skeleton, label in zip(skeletons, connected_components(links, directed=False)[1], strict=True):
        groups.setdefault(int(label), []).append(skeleton)
    return list(groups.values())


def _drawn(groups: list[list[Skeleton]], share: float, seed: int) -> set[str]:
    """Ids of the test's environments: groups in a seeded order, each that brings their number nearer to the share.

    The order goes by names rather than ids: code that was mended does not move its world to the other side.
    """
    if len(groups) < 2:
        raise ParameterError(
            f"Expected at least two unlike environments to divide into train and test, got {len(groups)}. "
            "With test_share=0 all of it is train."
        )
    order = sorted(groups, key=lambda group: digest([seed, min([s.class_name, s.title] for s in group)]))
    goal, chosen = share * sum(map(len, groups)), list[list[Skeleton]]()
    for group in order:
        so_far = sum(map(len, chosen))
        if abs(so_far + len(group) - goal) < abs(so_far - goal):
            chosen.append(group)
    least = min(order, key=len)
    if not chosen:
        chosen = [least]
    elif len(chosen) == len(order):
        chosen.remove(least)
    return {skeleton.id for group in chosen for skeleton in group}


# Whole parts


def parent(record: Scenario | Rollout) -> str:
    """The id of what a record is in."""
    return record.skeleton_id if isinstance(record, Scenario) else record.scenario_id


def followers(records: Iterable[C], parents: Iterable[Record]) -> list[C]:
    """The records that are in one of these."""
    known = {one.id for one in parents}
    return [record for record in records if parent(record) in known]


def once(records: Iterable[R]) -> list[R]:
    """Each record once, in the order of their ids, whatever order they came in."""
    return list({r.id: r for r in sorted(records, key=lambda r: r.model_dump_json())}.values())


def first_of_each(records: Sequence[C], most: int | None, rather: Iterable[str] = ()) -> list[C]:
    """So many records of each parent in the order of their ids, those named before the others; None for all."""
    first = set(rather)
    ordered = sorted(records, key=lambda r: (parent(r), r.id not in first, r.id))
    return once(record for _, group in groupby(ordered, parent) for record in list(group)[:most])


def left_out(records: Iterable[R], fault: Callable[[R], str], error: str) -> tuple[list[R], list[Failure]]:
    """The records without a fault, and a failure for each of the others, with what was expected of it."""
    kept, failures = list[R](), []
    for record in records:
        if why := fault(record):
            message = f"Expected a {type(record).__name__.lower()} {why}"
            failures.append(Failure(stage=STAGE, parent_id=_name(record), error=error, message=message))
        else:
            kept.append(record)
    return kept, failures


def _name(record: Record) -> str:
    try:
        return record.id
    except ValueError:  # half a surrogate pair in it, or what is no JSON
        return "(no id)"
