"""People against the judge: κ of the inspector's labels and an audit's verdicts."""

from pathlib import Path

import pytest

from envscaler.error import ParameterError
from envscaler.schema import Audit, Probe
from envscaler.show.agreement import agreement
from envscaler.show.labels import Label, LabelFile


def audit(verdicts: list[str]) -> Audit:
    probes = [Probe(tool="t", arguments={}, intent="positive", verdict=verdict) for verdict in verdicts]  # type: ignore[arg-type]
    return Audit(skeleton_id="s", probes=probes)


def labels(of: Audit, said: list[str], **more: str) -> list[Label]:
    fields = {
        "audit_id": of.id,
        "skeleton_id": "s",
        "environment": "A world",
        "tool": "t",
        "intent": "positive",
    }
    return [
        Label.model_validate({**fields, "probe": n, "verdict": p.verdict, "label": label, **more})
        for n, (p, label) in enumerate(zip(of.probes, said, strict=True))
    ]


JUDGED = audit(["pass", "pass", "fail", "fail", "warning", "pass"])


def test_full_agreement_is_one_and_the_file_says_the_same(tmp_path: Path) -> None:
    given = labels(JUDGED, [p.verdict for p in JUDGED.probes])
    path = tmp_path / "labels.jsonl"
    file = LabelFile(path)
    for label in given:
        file.add(label)
    for found in (agreement(given), agreement(path), agreement(str(path), [JUDGED])):
        assert (found.n, found.accuracy, found.kappa) == (6, 1.0, pytest.approx(1))


def test_kappa_is_cohens() -> None:
    found = agreement(
        labels(JUDGED, ["pass", "fail", "fail", "pass", "pass", "pass"]), [JUDGED], only_fail=True
    )
    # po = 4/6; both say fail twice of six: pe = (2/6)² + (4/6)².
    assert found.kappa == pytest.approx((4 / 6 - 20 / 36) / (1 - 20 / 36))
    assert found.kappa_interval[0] <= found.kappa <= found.kappa_interval[1]


def test_pass_and_warning_are_one_where_only_fails_count() -> None:
    said = labels(JUDGED, ["warning", "pass", "fail", "fail", "pass", "warning"])
    assert agreement(said).accuracy == pytest.approx(3 / 6) and agreement(
        said, only_fail=True
    ).kappa == pytest.approx(1)


def test_a_probe_that_the_audits_do_not_have_is_missing_and_not_wrong() -> None:
    said = labels(JUDGED, [p.verdict for p in JUDGED.probes])
    other = labels(JUDGED, ["fail"] * 6, audit_id="unknown")
    found = agreement([*said, *other], [JUDGED])
    assert (found.n, found.missing, found.accuracy) == (6, 6, 1.0)


def test_the_verdicts_of_todays_audit_count_and_not_those_written_down() -> None:
    stale = [label.model_copy(update={"verdict": "warning"}) for label in labels(JUDGED, ["pass"] * 6)]
    assert agreement(stale, [JUDGED]).accuracy == pytest.approx(3 / 6)
    assert agreement(stale).accuracy == 0


def test_lines_that_cannot_be_read_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "labels.jsonl"
    for label in labels(JUDGED, [p.verdict for p in JUDGED.probes]):
        LabelFile(path).add(label)
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    assert agreement(path).n == 6 and f"1 lines are left out. First: {path}:1" in caplog.text


@pytest.mark.parametrize("nothing", [[], "nowhere.jsonl"])
def test_without_labels_it_says_where_to_make_some(nothing: object) -> None:
    with pytest.raises(ParameterError, match="inspector"):
        agreement(nothing)  # type: ignore[arg-type]
