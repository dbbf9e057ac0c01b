"""How far a judge agrees with people: the inspector's labels against the verdicts of audits.

Cohen's κ and accuracy are those of `stats`. Who is right where they differ, is not said.
"""

from collections.abc import Iterable
from pathlib import Path

from envscaler.error import ParameterError
from envscaler.schema import Audit
from envscaler.show.labels import Label, LabelFile
from envscaler.show.stats import Agreement
from envscaler.show.stats import agreement as _agreement


def agreement(
    labels: str | Path | Iterable[Label],
    audits: Iterable[Audit] | None = None,
    *,
    only_fail: bool = False,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Accuracy and Cohen's κ of a judge's verdicts against people's labels of the same probes, with intervals.

    Args:
        labels: the inspector's label file, or the labels.
        audits: audits to take the judge's verdicts from, by audit and number of the probe; a label whose probe they do
            not have counts as missing. None takes the verdict that stood beside the label when it was given.
        only_fail: whether pass and warning are one, as they are for the share that decides what is kept.
        resamples: how often probes are resampled for κ's interval.
        level: coverage of both intervals.
        seed: of the resampling.

    Raises:
        StoreError: the file cannot be read.
        ParameterError: it holds no label, or none of a probe that has a verdict.
    """
    given = list(_read(labels))
    if not given:
        raise ParameterError(
            f"Expected labels of probes in {labels!r}, got none; mark some in the inspector."
        )
    verdicts: dict[tuple[str, int], str] | None = None
    if audits is not None:
        verdicts = {(a.id, n): probe.verdict for a in audits for n, probe in enumerate(a.probes)}
    judged = [label.verdict if verdicts is None else verdicts.get(label.key) for label in given]
    said = [label.label for label in given]
    if only_fail:
        return _agreement(
            list(map(_failed, said)), list(map(_failed, judged)), resamples=resamples, level=level, seed=seed
        )
    return _agreement(said, judged, resamples=resamples, level=level, seed=seed)


def _read(labels: str | Path | Iterable[Label]) -> Iterable[Label]:
    if not isinstance(labels, str | Path):
        return labels
    if not Path(labels).exists():
        raise ParameterError(
            f"Expected a label file at {labels}, but there is none; mark probes in the inspector."
        )
    return LabelFile(Path(labels)).labels.values()


def _failed(verdict: str | None) -> str | None:
    return None if verdict is None else "fail" if verdict == "fail" else "not fail"
