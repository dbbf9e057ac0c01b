"""Records: frozen, named by their content, the same after a round trip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from envscaler.schema import (
    Audit,
    Certificate,
    Check,
    Origin,
    Outcome,
    Probe,
    Proof,
    Rollout,
    Scenario,
    Skeleton,
    Task,
    Theme,
    Usage,
    canonical,
    digest,
    reward_of,
)
from envscaler.store import Records

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(text=texts, source=texts)
def test_a_record_survives_its_own_json_and_keeps_its_id(text: str, source: str) -> None:
    task = Task(text=text, source=source)
    again = Task.model_validate_json(task.model_dump_json())
    assert again == task
    assert again.id == task.id


@given(state=st.dictionaries(texts, json_values, max_size=4))
def test_a_scenario_with_any_state_survives(state: dict) -> None:
    scenario = Scenario(skeleton_id="x", initial_state=state, task="t", checks=[])
    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario


def test_the_id_is_of_the_content_and_of_nothing_else() -> None:
    task = Task(text="Renew my loan", source="seeds")
    assert task.replace(stateful=True, reason="r", label=False, origin=Origin(model="m")).id == task.id
    assert task.replace(text="Renew my loans").id != task.id
    scenario = Scenario(skeleton_id="s", initial_state={"a": {}}, task="t", checks=[])
    assert scenario.replace(certificate=Certificate(proofs=[]), extra={"x": 1}).id == scenario.id
    assert scenario.replace(initial_state={"a": {"b": 1}}).id != scenario.id


def test_how_a_record_within_was_made_is_no_content_either() -> None:
    mended = Skeleton(
        theme_id="t", title="a", summary="b", class_name="C", source="x", state=[], rules=[], tools=[]
    )
    audit = Audit(skeleton_id="s", repaired=mended)
    elsewhere = mended.replace(origin=Origin(model="m"), extra={"x": 1})
    assert audit.replace(repaired=elsewhere).id == audit.id
    assert audit.replace(repaired=mended.replace(source="y")).id != audit.id
    assert audit.replace(repaired=None).id != audit.id
    assert Audit.model_validate(audit.model_dump(mode="json")).id == audit.id


def test_the_id_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'


def test_a_stale_id_in_a_file_is_made_anew() -> None:
    assert Task.model_validate({"id": "0" * 12, "text": "x"}).id == Task(text="x").id


@pytest.mark.parametrize("left_out", ["text", "source", "stateful"])
def test_a_part_of_a_record_keeps_the_id_of_the_whole(left_out: str) -> None:
    task = Task(text="Renew my loan", source="seeds", stateful=True)
    assert task.model_dump(exclude={left_out})["id"] == task.id == task.model_dump(include={"text"})["id"]
    assert task.id in Records([task])._repr_html_()


def test_unknown_fields_and_changes_are_refused() -> None:
    with pytest.raises(ValidationError):
        Task.model_validate({"text": "x", "colour": "red"})
    with pytest.raises(ValidationError):
        Task(text="")
    with pytest.raises(ValidationError):
        Theme(title="t", summary="s", usefulness=11, modelability=5, task_ids=[])
    task = Task(text="x")
    with pytest.raises(ValidationError):
        task.text = "y"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        task.replace(text="")


def outcome(kind: str, passed: bool | None) -> Outcome:
    return Outcome(item="i", kind=kind, passed=passed)


@pytest.mark.parametrize(
    ("outcomes", "reward"),
    [
        ([], None),
        ([outcome("guard", True)], None),
        ([outcome("goal", True)], 1.0),
        ([outcome("goal", True), outcome("goal", False)], 0.5),
        ([outcome("goal", True), outcome("guard", False)], 0.0),
        ([outcome("goal", True), outcome("goal", None)], None),
        ([outcome("goal", True), outcome("guard", None)], None),
    ],
)
def test_the_reward(outcomes: list[Outcome], reward: float | None) -> None:
    assert reward_of(outcomes) == reward


def test_a_failed_episode_has_no_reward() -> None:
    fields = {
        "scenario_id": "s",
        "agent": "a",
        "conversation": False,
        "messages": [],
        "trajectory": [],
        "final_state": {},
    }
    good = Rollout(**fields, outcomes=[outcome("goal", True)], ending="finished")
    assert (good.reward, good.solved) == (1.0, True)
    lost = good.replace(ending="failed", cause="environment")
    assert (lost.reward, lost.solved) == (None, False)


def test_rates_of_an_audit() -> None:
    probes = [
        Probe(tool="t", arguments={}, intent="positive", verdict=v)
        for v in ("pass", "pass", "warning", "fail")
    ]
    audit = Audit(skeleton_id="s", probes=probes)
    assert (audit.not_fail_rate, audit.pass_rate) == (0.75, 0.5)
    assert Audit(skeleton_id="s").not_fail_rate == 0.0


def test_a_certificate_is_valid_only_when_all_is_proved() -> None:
    proved, failed = Proof(name="a", status="proved"), Proof(name="b", status="failed", detail="got 0.5")
    assert Certificate(proofs=[proved]).valid
    assert not Certificate(proofs=[]).valid
    assert Certificate(proofs=[proved, failed]).reasons == ["b: got 0.5"]
    assert not Certificate(proofs=[proved, Proof(name="c", status="unproved")]).valid


def test_usage_adds_up() -> None:
    assert Usage(calls=1, input_tokens=2) + Usage(calls=1, output_tokens=3) == Usage(
        calls=2, input_tokens=2, output_tokens=3
    )


def test_records_show_themselves_without_running_what_they_hold() -> None:
    shown = Scenario(
        skeleton_id="s", initial_state={}, task="<script>x</script>", checks=[Check(item="<b>", source="")]
    )
    assert "<script>" not in shown._repr_html_()


def test_a_changed_copy_has_an_id_of_its_own_and_a_known_id_makes_no_difference() -> None:
    """The id is reckoned once; a copy must not carry that of what it was made from."""
    import pickle

    known, fresh = Task(text="a"), Task(text="a")
    assert known.id and known == fresh and known.model_dump() == fresh.model_dump()
    assert known.model_copy(update={"text": "b"}).id == Task(text="b").id != known.id
    assert known.replace(text="b").id == Task(text="b").id
    assert (
        pickle.loads(pickle.dumps(known)).id == known.id
        and "id" not in repr(known).split("(")[1].split("=")[0]
    )
