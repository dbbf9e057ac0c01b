"""Seeded mistakes: each is made once, believed in by what follows, and caught; a harmless one shows what a miss is."""

import json

import library
import pytest
from library import ITEMS, MAY_CHANGE, STATE, TASK, WITNESS, author

from envscaler.error import ParameterError
from envscaler.model.connect import connect
from envscaler.model.mistaken import MistakenModel
from envscaler.model.mistakes import CHECK, CHECKLIST, KINDS, Mistake, Scene, Spoil
from envscaler.model.mistakes import TASK as TASK_STEP
from envscaler.model.mistakes import WITNESS as WITNESS_STEP
from envscaler.posing.catching import Attempt, holds, mistake_table, try_mistakes
from envscaler.scenarios import build_samples, build_scenario
from envscaler.schema import Call, Check, Scenario, Skeleton, Task
from envscaler.skeletons import build_skeleton
from envscaler.themes import infer_theme

BY_HAND = [kind for kind in KINDS if kind != "check compares free text"]
"""Kinds that the village library offers a place for: its author leaves no text free."""


@pytest.fixture(scope="module")
def worlds() -> list[Skeleton]:
    """Two worlds of the built-in model, written without faults."""
    model = connect("builtin", fault_rate=0.0)
    asked_for = ("Please book a double room in our hotel.", "Track the parcels of our depot.")
    themes = [infer_theme(Task(text=text, stateful=True), model) for text in asked_for]
    return [build_skeleton(theme, model) for theme in themes]


@pytest.mark.parametrize("kind", BY_HAND)
def test_a_mistake_is_made_caught_and_located(kind: str) -> None:
    [attempt] = try_mistakes([library.skeleton()], author(), kinds=[kind], n=1, progress=False)
    assert attempt.planted and attempt.caught and attempt.located_right, attempt
    assert attempt.spoiled and attempt.revisions and attempt.why


@pytest.mark.parametrize("kind", BY_HAND)
def test_an_author_who_never_sees_it_has_no_scenario_certified_with_it(kind: str) -> None:
    [attempt] = try_mistakes([library.skeleton()], author(), kinds=[kind], n=1, stubborn=True, progress=False)
    assert attempt.planted and attempt.outcome in ("refused", "repaired"), attempt


def test_the_built_in_model_with_mistakes(worlds: list[Skeleton]) -> None:
    attempts = try_mistakes(worlds, n=1, progress=False)
    # Not every scenario leaves a text free.
    assert {attempt.kind for attempt in attempts if attempt.planted} >= set(BY_HAND)
    assert not attempts.failures and not [a for a in attempts if a.outcome == "failed"]
    assert sum(attempt.caught for attempt in attempts) >= len(BY_HAND) - 1
    again = try_mistakes(worlds, kinds=["unsolvable task"], n=1, progress=False)
    assert again == [attempt for attempt in attempts if attempt.kind == "unsolvable task"]


def _remark(scene: Scene, source: str, rng: object) -> Mistake:
    return Mistake(f"{source}\n# Nothing else.\n")


def test_a_mistake_that_changes_nothing_is_missed() -> None:
    [attempt] = try_mistakes(
        [library.skeleton()], author(), kinds={"remark": Spoil(CHECK, _remark)}, n=1, progress=False
    )
    assert attempt.planted and attempt.outcome == "missed" and not attempt.caught
    [row] = mistake_table([attempt]).to_dict("records")
    assert (row["kind"], row["planted"], row["missed"], row["caught"]) == ("remark", 1, 1, 0.0)


def test_where_there_is_no_place_for_a_mistake_it_counts_for_nothing() -> None:
    kinds = {
        "none": Spoil(CHECK, lambda scene, source, rng: None),
        "same": Spoil(TASK_STEP, lambda s, t, r: Mistake(t)),
    }
    attempts = try_mistakes([library.skeleton()], author(), kinds=kinds, n=1, progress=False)
    assert [attempt.outcome for attempt in attempts] == ["unplanted", "unplanted"]
    assert mistake_table(attempts).empty


def test_another_error_than_a_refused_part_is_no_catch() -> None:
    kinds = {"prose": Spoil(CHECKLIST, lambda s, t, r: Mistake("I would rather not."))}
    [attempt] = try_mistakes([library.skeleton()], author(), kinds=kinds, n=1, stubborn=True, progress=False)
    assert attempt.outcome == "failed" and not attempt.caught


def test_only_one_reply_is_spoiled_and_the_rest_is_as_good() -> None:
    good, model = author(), MistakenModel(author(), "check always passes")
    plain, mended = build_scenario(library.skeleton(), good), build_scenario(library.skeleton(), model)
    assert mended.id == plain.id and mended.origin.model == "scripted with mistakes"
    [plot] = model.plots.values()
    assert len(plot.spoiled) == 1 and plot.item in ITEMS


def test_every_sample_has_its_own_mistake_and_the_same_seed_makes_the_same() -> None:
    def spoiled(seed: int) -> dict[int, str]:
        model = MistakenModel(author(), "check reads a missing key", seed=seed)
        for sample in range(4):
            build_samples([(library.skeleton(), sample)], model, again_from=9, progress=False)
        return {sample: plot.spoiled[0] for sample, plot in model.plots.items()}

    one = spoiled(1)
    assert len(one) == 4 and len(set(one.values())) > 1
    assert spoiled(1) == one != spoiled(2)


def test_what_follows_believes_in_a_task_that_is_wrong() -> None:
    model = MistakenModel(author(), "task names an absent record", stubborn=True)
    made = build_samples([(library.skeleton(), 0)], model, again_from=9, progress=False)
    assert not made
    [plot] = model.plots.values()
    right, wrong = plot.mistake.swap
    assert right in TASK and right not in json.loads(plot.mistake.text)["task"]
    assert wrong not in json.dumps(STATE)
    assert wrong in made.failures[0].message, "the look-up that found nothing is told"


def test_unknown_kinds_and_numbers_are_refused() -> None:
    with pytest.raises(ParameterError, match="check always passes"):
        try_mistakes([library.skeleton()], author(), kinds=["nonsense"])
    for worlds, n in (([], 1), ([library.skeleton()], 0)):
        with pytest.raises(ParameterError, match="at least one skeleton"):
            try_mistakes(worlds, author(), n=n)


def test_what_a_scenario_still_holds() -> None:
    items = [{"item": text, "kind": kind} for text, (kind, _) in ITEMS.items()]
    scenario = Scenario(
        skeleton_id="s", initial_state=STATE, task=TASK, may_change=MAY_CHANGE,
        checks=[Check(item=t, source=s, kind=k) for t, (k, s) in ITEMS.items()],
        witness=[Call(**call) for call in WITNESS],
    )  # fmt: skip
    first = next(iter(ITEMS.values()))[1]
    cases = {
        CHECK: (f"{first}\n", first.replace("False", "True")),
        TASK_STEP: (json.dumps({"task": TASK}), json.dumps({"task": "Else."})),
        CHECKLIST: (
            json.dumps({"items": items, "may_change": MAY_CHANGE}),
            json.dumps({"items": items, "may_change": []}),
        ),
        WITNESS_STEP: (json.dumps({"calls": WITNESS}), json.dumps({"calls": WITNESS[1:]})),
        "scenarios/state": (json.dumps(STATE), json.dumps({})),
    }
    for step, (there, gone) in cases.items():
        assert holds(scenario, step, there) and not holds(scenario, step, gone), step
    assert not holds(scenario, TASK_STEP, "no JSON")


def test_the_table_counts_what_was_planted() -> None:
    attempt = Attempt(
        kind="k",
        skeleton_id="s",
        sample=0,
        step=CHECK,
        planted=True,
        outcome="repaired",
        revisions=("check",),
    )
    others = [
        attempt.replace(outcome="missed", revisions=()),
        attempt.replace(outcome="refused", revisions=("task",)),
        attempt.replace(planted=False, outcome="unplanted"),
    ]
    [row] = mistake_table([attempt, *others]).to_dict("records")
    assert (
        row["planted"] == 3
        and row["caught"] == pytest.approx(2 / 3)
        and row["located"] == pytest.approx(1 / 3)
    )


NOTED = library.METHODS["lend_book"].replace("due: str)", "due: str, note: str)").replace(
    "        due: Day it must be back, YYYY-MM-DD.\n",
    "        due: Day it must be back, YYYY-MM-DD.\n        note: Anything worth noting.\n",
).replace('"out": True}', '"out": True, "note": note}')  # fmt: skip


def test_a_check_that_insists_on_a_wording_is_caught_where_the_wording_is_free() -> None:
    lend = WITNESS[-1]
    said = {**lend, "arguments": {**lend["arguments"], "note": "As asked at the desk."}, "free": ["note"]}
    state = {**STATE, "loans": {key: {**loan, "note": ""} for key, loan in STATE["loans"].items()}}
    slips = {
        "scenarios/witness": json.dumps({"calls": [*WITNESS[:-1], said]}),
        "scenarios/state": json.dumps(state),
    }
    entities = [entity.model_dump() for entity in library.skeleton().state]
    entities[2]["attributes"].append({"name": "note"})
    skeleton = library.skeleton(lend_book=NOTED).replace(state=entities)
    kind = "check compares free text"
    [attempt] = try_mistakes([skeleton], author(slips), kinds=[kind], n=1, progress=False)
    assert attempt.planted and attempt.outcome == "repaired" and attempt.located == "check"
    assert "free arguments" in attempt.why
