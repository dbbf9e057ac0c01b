"""How far a judge agrees with people: accuracy and Cohen's κ, of any labels and of the inspector's.

`agreement` takes the inspector's labels of probes and the verdicts of audits, `compare_labels` any two lists. Who is
right where they differ, is not said.
"""

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from envscaler.error import ParameterError
from envscaler.given import a_path, many, told
from envscaler.schema import Audit
from envscaler.show.labels import Label, LabelFile
from envscaler.show.stats import check_settings, quantiles, wilson

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Agreement:
    """How well a judge agrees with labels."""

    n: int
    """Items that both have an opinion on."""
    missing: int
    """Items one of them has none on; they count in nothing else."""
    accuracy: float
    """Share of equal opinions."""
    accuracy_interval: tuple[float, float]
    """Wilson's interval for it."""
    kappa: float
    """Cohen's κ; NaN where both always say the same one thing."""
    kappa_interval: tuple[float, float]
    """Bootstrap over items."""
    confusion: pd.DataFrame
    """Counts, a row a label, a column a judgement."""

    def frame(self) -> pd.DataFrame:
        """Accuracy and κ, a row each, with intervals and n."""
        bounds = (self.accuracy_interval, self.kappa_interval)
        return pd.DataFrame(
            {
                "measure": ["accuracy", "kappa"],
                "value": [self.accuracy, self.kappa],
                "low": [low for low, _ in bounds],
                "high": [high for _, high in bounds],
                "n": self.n,
                "missing": self.missing,
            }
        )


def agreement(
    labels: str | Path | Iterable[Label],
    audits: Iterable[Audit] | None = None,
    *,
    only_fail: bool = False,
    seed: int = 0,
) -> Agreement:
    """Accuracy and Cohen's κ of a judge's verdicts against people's labels of the same probes, with intervals.

    Args:
        labels: the inspector's label file, or the labels.
        audits: audits to take the judge's verdicts from, by audit and number of the probe; a label whose probe they do
            not have counts as missing. None takes the verdict that stood beside the label when it was given.
        only_fail: whether pass and warning are one, as they are for the share that decides what is kept.
        seed: of the resampling.

    Raises:
        StoreError: the file cannot be read.
        ParameterError: it holds no label, or none of a probe that has a verdict.
    """
    given = _read(labels)
    if not given:
        where = f" in {labels}" if isinstance(labels, str | os.PathLike) else ""
        raise ParameterError(f"Expected labels of probes{where}, got none; mark some in the inspector.")
    verdicts: dict[tuple[str, int], str] | None = None
    if audits is not None:
        verdicts = {(a.id, n): probe.verdict for a in many(audits, Audit) for n, probe in enumerate(a.probes)}
    judged = [label.verdict if verdicts is None else verdicts.get(label.key) for label in given]
    said = [label.label for label in given]
    if only_fail:
        return compare_labels(list(map(_failed, said)), list(map(_failed, judged)), seed=seed)
    return compare_labels(said, judged, seed=seed)


def _read(labels: str | Path | Iterable[Label]) -> list[Label]:
    """The labels; of a file that is not there none."""
    if not isinstance(labels, str | os.PathLike):
        return many(labels, Label)
    file = LabelFile(a_path(labels))
    if file.problems:
        log.warning("%d lines are left out. First: %s", len(file.problems), file.problems[0])
    return list(file.labels.values())


def _failed(verdict: str | None) -> str | None:
    return None if verdict is None else "fail" if verdict == "fail" else "not fail"


def compare_labels(
    labels: Sequence[Any],
    judged: Sequence[Any],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Accuracy and Cohen's κ of judgements against labels, with intervals and the confusion table.

    Args:
        labels: what is taken for true; None where it is not known.
        judged: what the judge said, in the same order; None where it said nothing.
        resamples: how often items are resampled for κ's interval.
        seed: of the resampling.

    Raises:
        ParameterError: the two differ in length, or no item has both.
    """
    check_settings(resamples, seed)
    for given in (labels, judged):
        if not isinstance(given, Sequence | pd.Series | np.ndarray) or isinstance(given, str | bytes):
            raise ParameterError(f"Expected a list of labels and one of judgements, got {told(given)}.")
        if not all(map(pd.api.types.is_scalar, given)):
            raise ParameterError(
                "Expected labels and judgements that are plain values, got some that are not."
            )
    if len(labels) != len(judged):
        raise ParameterError(f"Expected as many labels as judgements, got {len(labels)} and {len(judged)}.")
    pairs = [(a, b) for a, b in zip(labels, judged, strict=True) if not (pd.isna(a) or pd.isna(b))]
    if not pairs:
        raise ParameterError(f"Expected an item with label and judgement, got none among {len(labels)}.")
    kinds = sorted(dict.fromkeys(kind for pair in pairs for kind in pair), key=str)
    index = {kind: place for place, kind in enumerate(kinds)}
    table = np.zeros((len(kinds), len(kinds)), dtype=int)
    np.add.at(table, ([index[a] for a, _ in pairs], [index[b] for _, b in pairs]), 1)
    n, equal = len(pairs), int(np.trace(table))
    drawn = np.random.default_rng(seed).multinomial(n, table.ravel() / n, size=resamples)
    rows, columns = pd.Index(kinds, name="label"), pd.Index(kinds, name="judged")
    return Agreement(
        n,
        len(labels) - n,
        equal / n,
        wilson(equal, n),
        float(_kappa(table[None])[0]),
        quantiles(_kappa(drawn.reshape(-1, *table.shape))),
        pd.DataFrame(table, rows, columns),
    )


def _kappa(tables: np.ndarray) -> np.ndarray:
    """Cohen's κ of each table; NaN where chance alone gives full agreement."""
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    observed = np.trace(shares, axis1=1, axis2=2)
    expected = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    spread = 1 - expected
    return np.divide(observed - expected, spread, out=np.full_like(spread, np.nan), where=spread > 1e-12)
