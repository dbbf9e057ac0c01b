"""Locating: which part a failed trial speaks against, in which order, and with what its author is told."""

import json

import library
import pytest
from library import ITEMS, MAY_CHANGE, STATE, TASK, WITNESS, asked, author, fenced

from envscaler.error import PartRefused
from envscaler.posing.doubting import evidence_of
from envscaler.posing.drafting import Draft, Stuck
from envscaler.posing.locating import behind, suspects
from envscaler.scenarios import build_scenario
from envscaler.schema import Call, Certificate, Kill, Proof

FIRST, SECOND, GUARD = ITEMS


def drafted(**slips: object) -> Draft:
    draft = Draft(library.skeleton(), author(slips))  # type: ignore[arg-type]
    draft.complete()
    return draft


def blamed(
    draft: Draft, *failed: Proof, kills: list[Kill] | None = None
) -> list[tuple[str, tuple[str, ...]]]:
    certificate = Certificate(proofs=list(failed), kills=kills or [])
    return [(s.part, s.items) for s in suspects(draft, certificate, evidence_of(draft, draft.witness))]


def line(name: str, detail: str = "") -> Proof:
    return Proof(name=name, status="failed", detail=detail)


def test_each_line_of_a_certificate_has_its_suspects() -> None:
    draft = drafted()
    assert blamed(draft, line("loads")) == [("state", ())]
    assert blamed(draft, line("something must survive")) == [("checklist", ()), ("state", ())]
    for name in (
        "nothing done",
        "database wiped",
        "checks always answer",
        "each goal needed",
        "each guard broken",
    ):
        assert blamed(draft, line(name, f"Not so: {SECOND}")) == [("check", (SECOND,)), ("checklist", ())]
    assert blamed(draft, line("each guard broken", "bystanders is broken by no mutant")) == [
        ("checklist", ())
    ]
    assert blamed(draft, line("leave one out", "call 5")) == [("witness", ()), ("checklist", ())]
    assert blamed(draft, line("witness with another seed", "Call 3 was refused.")) == [
        ("witness", ()),
        ("task", ()),
    ]
    assert blamed(draft, line("witness with another seed", FIRST)) == [("check", (FIRST,)), ("witness", ())]
    assert blamed(draft, line("solved otherwise: other ids", FIRST)) == [
        ("check", (FIRST,)),
        ("checklist", ()),
    ]
    assert [part for part, _ in blamed(draft, line("solved otherwise: free arguments", FIRST))] == [
        "check",
        "checklist",
        "witness",
    ]
    assert blamed(draft, line("a trial of tomorrow", GUARD)) == [("check", (GUARD,)), ("checklist", ())]


def test_what_only_the_skeleton_can_be_blamed_for_blames_no_part() -> None:
    draft = drafted()
    assert blamed(draft, line("rules hold along the witness", "Broken rule")) == []
    assert blamed(draft, line("witness replayed again")) == []
    assert blamed(draft, line("rules hold along the witness"), line("leave one out"))[0][0] == "witness"


def test_what_fails_first_is_looked_into_first() -> None:
    draft = drafted()
    later = [line("mutants killed"), line("leave one out"), line("each goal needed", FIRST)]
    assert blamed(draft, *later, line("nothing done", FIRST))[0] == ("check", (FIRST,))
    assert blamed(draft, *later)[0] == ("witness", ())


def test_a_survivor_goes_to_the_check_that_looks_at_what_is_wrong_in_it() -> None:
    draft = drafted()
    of_record = Kill(kind="near value", what="loans/L-1.out: false → true", killers=[])
    new_record = Kill(kind="near value", what="loans/L-4.out: true → false", killers=[])
    of_call = Kill(
        kind="other entity", what="call 5 (lend_book).due: '2025-04-15' → '2025-04-16'", killers=[]
    )
    elsewhere = Kill(kind="near value", what="shelves/S-1.room: 1 → 2", killers=[])
    dead = Kill(kind="near value", what="loans/L-2.out: true → false", killers=[GUARD])

    def of(*kills: Kill) -> list[tuple[str, tuple[str, ...]]]:
        told = "; ".join(f"[{kill.kind}] {kill.what}" for kill in kills if not kill.killers)
        return blamed(draft, line("mutants killed", told), kills=list(kills))

    assert of(of_record, dead) == [("check", (FIRST,)), ("checklist", ())]
    assert of(new_record)[0] == ("check", (FIRST, SECOND, GUARD)), "of a new record only the table is known"
    assert SECOND in of(of_call)[0][1] and of(of_call)[-1] == ("checklist", ())
    assert of(elsewhere) == [("checklist", ())]


def test_a_part_that_cannot_be_had_speaks_against_what_it_is_made_from() -> None:
    assert [s.part for s in behind(Stuck("witness", "Call 3 was refused."))] == ["task", "state"]
    assert "Call 3 was refused." in behind(Stuck("witness", "Call 3 was refused."))[0].why
    assert [s.part for s in behind(Stuck("check", "x"))] == ["checklist", "task"]
    assert [s.part for s in behind(Stuck("checklist", "x"))] == ["task"]
    assert [s.part for s in behind(Stuck("task", "x"))] == ["state"] and behind(Stuck("state", "x")) == []


# The same, all the way


def other_task(b: dict[str, str], _: object) -> str:
    """A task that cannot be done, and once its author was told, the good one."""
    wish = TASK.replace("lend it to her", "lend it to Lou Vik, her neighbour,")
    return json.dumps({"task": TASK if b["feedback"] else wish})


def for_lou(text: str) -> str:
    return text.replace("Ida Berg", "Lou Vik").replace("M-1", "M-3")


def believing(step: str) -> object:
    """An author of the later parts who does what the impossible task says."""

    def slip(b: dict[str, str], _: object) -> str | None:
        if "Lou Vik" not in b["task"]:
            return None
        if step == "check":
            asked_for = b["item"].replace("Lou Vik", "Ida Berg")
            return fenced(for_lou(ITEMS[asked_for][1]))
        return for_lou(library.GOOD[f"scenarios/{step}"](b))

    return slip


def test_an_unsolvable_task_goes_back_once_its_calls_stay_refused() -> None:
    steps = ("checklist", "check", "witness")
    model = author({"scenarios/task": other_task, **{f"scenarios/{s}": believing(s) for s in steps}})
    scenario = build_scenario(library.skeleton(), model)
    assert scenario.certificate.valid and scenario.task == TASK
    parts = [row["part"] for row in scenario.origin.settings["revisions"]]
    assert parts == ["witness", "witness", "task"]
    told = asked(model, "scenarios/task")[1]["feedback"]
    assert "may not borrow" in told and "Lou Vik" in told, "with the refusal and the task as it was"


def test_a_checklist_that_asks_for_what_no_function_can_see_goes_back() -> None:
    odd = "Has the wish of Ida Berg been taken seriously?"
    items = [{"item": text, "kind": kind} for text, (kind, _) in ITEMS.items()]
    spoiled = json.dumps({"items": [*items, {"item": odd, "kind": "goal"}], "may_change": MAY_CHANGE})

    def slip(b: dict[str, str], _: object) -> str | None:
        return fenced("def check_func(final_state):\n    return True") if b["item"] == odd else None

    model = author({"scenarios/checklist": [spoiled], "scenarios/check": slip})
    scenario = build_scenario(library.skeleton(), model)
    assert [check.item for check in scenario.checks] == list(ITEMS)
    assert [row["part"] for row in scenario.origin.settings["revisions"]] == ["check", "check", "checklist"]
    assert odd in asked(model, "scenarios/checklist")[1]["feedback"]


def test_a_check_that_holds_on_to_a_generated_id_goes_back() -> None:
    strict = ITEMS[SECOND][1].replace(
        "k not in initial_state['loans'] and", "k == 'L-4' and x.get('out') and"
    )
    skeleton = library.skeleton(
        lend_book=library.METHODS["lend_book"].replace(
            'f"L-{self.next_loan}"', "f\"L-{self.next_loan}-{__import__('random').randrange(1000, 9999)}\""
        )
    )
    model = author(
        {
            "scenarios/check": lambda b, _: (
                fenced(strict) if b["item"] == SECOND and not b["feedback"] else None
            )
        }
    )
    scenario = build_scenario(skeleton, model)
    assert scenario.certificate.valid
    assert "check" in [row["part"] for row in scenario.origin.settings["revisions"]]


def test_weak_checks_come_back_with_the_mutants_they_let_through() -> None:
    weak = (
        "def check_func(final_state):\n"
        "    loans = final_state.get('loans')\n"
        "    return isinstance(loans, dict) and any(k not in initial_state['loans'] for k in loans)\n"
    )
    model = author(
        {"scenarios/check": lambda b, _: fenced(weak) if b["item"] == SECOND and not b["feedback"] else None}
    )
    scenario = build_scenario(library.skeleton(), model)
    assert scenario.certificate.valid
    told = [b["feedback"] for b in asked(model, "scenarios/check") if b["feedback"]]
    assert any("lend_book" in text and "paid" in text for text in told)


def test_an_author_who_insists_is_believed_no_longer_than_is_bounded() -> None:
    model = author({"scenarios/witness": json.dumps({"calls": WITNESS[:3]})})
    with pytest.raises(PartRefused, match="loan of Emma to Ida"):
        build_scenario(library.skeleton(), model)
    assert len(model.requests) < 40


def test_the_evidence_is_what_happened() -> None:
    draft = drafted()
    found = evidence_of(draft, [Call(**call) for call in WITNESS])
    assert found.refused is None and all(outcome.passed for outcome in found.outcomes)
    assert (
        len(found.states) == len(WITNESS) + 1 and found.states[0] == STATE and found.states[-1] == draft.final
    )
    assert found.played.replies == draft.play().replies and not found.faults
