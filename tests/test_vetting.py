"""Vetting: what is wrong with a part as it comes, by execution, and by words where no state can show it."""

import library
import pytest
from library import ITEMS, STATE

from envscaler.posing.vetting import (
    changing_checks,
    check_problems,
    checklist_problem,
    kept_words,
    leaves_no_trace,
    plain,
    refusal,
    strange_checks,
    task_problem,
    witness_problem,
)
from envscaler.scenarios import build_scenario
from envscaler.schema import Call, Check
from envscaler.world.environment import Environment
from envscaler.world.witness import play

WORDS = kept_words(library.skeleton().state, STATE)
GOAL = ("Has the loan L-1 been closed?", "goal")


def check(body: str, kind: str = "goal") -> Check:
    return Check(item="It?", source=f"def check_func(final_state):\n    {body}\n", kind=kind)


@pytest.mark.parametrize(
    "item",
    [
        "Has the id been validated?",
        "Has the record of Ida Berg been looked up?",
        "Has the assistant verified that the loan exists?",
        "Has the user been informed of the new date?",
        "Has the member been correctly identified before the change?",
        "Has the list been carefully reviewed?",
        "Has the availability of Emma been checked?",
        "Is it certain that L-1 was considered?",
    ],
)
def test_what_leaves_no_trace_is_no_item(item: str) -> None:
    assert leaves_no_trace(item, WORDS)
    problem = checklist_problem([GOAL, (item, "goal")], [], library.skeleton(), STATE)
    assert "No state can show" in problem and item in problem


@pytest.mark.parametrize(
    "item",
    [
        *ITEMS,
        "Has the guest of room 7 been checked in?",
        "Has the lost umbrella been found and returned to its owner?",
        "Has a note 'please check the heating' been added to the ticket?",
        "Has the found bicycle been registered?",
        "Is the reviewed draft still in the archive?",
        "Is the umbrella that was found in May back with its owner?",
    ],
)
def test_what_a_state_can_show_is_one(item: str) -> None:
    assert not leaves_no_trace(item, WORDS)


def test_a_world_that_keeps_a_status_for_it_can_show_it() -> None:
    item = "Has the booking of Ida Berg been confirmed?"
    assert leaves_no_trace(item, WORDS)
    state = {**STATE, "bookings": {"K-1": {"status": "confirmed"}}}
    assert not leaves_no_trace(item, kept_words(library.skeleton().state, state))
    assert leaves_no_trace(
        item, kept_words([], {"notes": {"N-1": {"text": f"please have it confirmed {'x' * 40}"}}})
    )


@pytest.mark.parametrize(
    ("item", "fine"),
    [
        ("Has the list of loans been gone through?", False),
        ("Has it been made sure that the right book was taken?", False),
        ("Has the loan L-2 been left as it was?", True),
        ("Has no other loan been closed?", True),
        ("Has the due date of L-2 remained unchanged?", True),
        ("Is the loan L-2 still open?", True),
    ],
)
def test_a_guard_does_not_ask_whether_something_has_been_done(item: str, fine: bool) -> None:
    problem = checklist_problem([GOAL, (item, "guard")], [], library.skeleton(), STATE)
    assert (problem == "") == fine
    assert checklist_problem([GOAL, (item, "goal")], [], library.skeleton(), STATE) == ""


@pytest.mark.parametrize(
    "body",
    [
        "final_state.pop('loans', None); return False",
        "final_state.setdefault('seen', []).append(1); return False",
        "final_state['loans'] = {}; return False",
        "final_state.get('members', {}).clear(); return False",
        "del initial_state['members']; return False",
        "(final_state.get('loans') or {}).update(x=1); return False",
        "(final_state.get('loans') or {}).setdefault('L-1', {}); return False",
    ],
)
def test_a_check_that_changes_what_it_is_given_is_told_so(body: str) -> None:
    problems = check_problems([check(body)], STATE, ["loans"])
    assert "changes the state" in problems["It?"]


@pytest.mark.parametrize(
    "body",
    [
        "loans = dict(final_state.get('loans') or {}); loans.pop('L-1', None); return not loans",
        "found = []; found.append(1); return found == [2]",
        "names = sorted(final_state); names.sort(); return names == []",
    ],
)
def test_a_check_that_changes_its_own_copy_is_fine(body: str) -> None:
    assert check_problems([check(body)], STATE, ["loans"]) in ({}, {"It?": ""})


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("return (final_state.get('loan_list') or {}).get('L-1') is None", "loan_list"),
        (
            "loan = (final_state.get('loans') or {}).get('L-1') or {}\n    return loan.get('state_now') == 'closed'",
            "state_now",
        ),
        ("return final_state.get('loans', {}).get('L-77', {}).get('out') is True", "L-77"),
        ("return False", "only answer no"),
    ],
)
def test_a_check_that_reads_what_nobody_knows_is_strange(body: str, word: str) -> None:
    strange = strange_checks([check(body)], library.skeleton(), STATE, library.TASK)
    assert word in strange.get("It?", "") or "never looks" in strange["It?"]


def test_checks_that_read_what_there_is_are_not() -> None:
    checks = [Check(item=text, source=source, kind=kind) for text, (kind, source) in ITEMS.items()]
    assert strange_checks(checks, library.skeleton(), STATE, library.TASK) == {}


def test_what_is_strange_is_told_once_and_may_be_meant() -> None:
    source = library.fenced(
        "def check_func(final_state):\n"
        "    loan = (final_state.get('loans') or {}).get('L-1')\n"
        "    return isinstance(loan, dict) and loan.get('colour') is None and loan.get('out') is False\n"
    )
    slip = lambda b, _: source if b["item"] == next(iter(ITEMS)) else None  # noqa: E731
    model = library.author({"scenarios/check": slip})
    assert build_scenario(library.skeleton(), model).certificate.valid
    told = [b["feedback"] for b in library.asked(model, "scenarios/check") if b["feedback"]]
    assert len(told) == 1 and "colour" in told[0]


def test_a_change_that_only_the_final_state_provokes_is_seen_there() -> None:
    sly = check(
        "done = final_state.get('next_loan') == 5\n    done and final_state.pop('loans')\n    return done"
    )
    assert check_problems([sly], STATE, []) == {}
    assert "changes the state" in changing_checks([sly], STATE, lambda: [{**STATE, "next_loan": 5}])["It?"]


def test_nothing_is_played_for_checks_that_only_look() -> None:
    def never() -> list:
        raise AssertionError("The final state was asked for.")

    assert changing_checks([check("return final_state.get('a') == 1")], STATE, never) == {}


@pytest.mark.parametrize(
    ("body", "kind", "word"),
    [
        ("return True", "goal", "says True"),
        ("return False", "guard", "says False"),
        ("return 1", "goal", "True or False"),
        ("return final_state['loans']['L-1']['out'] is False", "goal", "damaged"),
        ("while True: pass", "goal", "True or False"),
    ],
)
def test_checks_that_say_what_they_must_not(body: str, kind: str, word: str) -> None:
    assert word in check_problems([check(body, kind)], STATE, [])["It?"]


def test_a_refusal_says_what_was_made_of_references_and_what_found_nothing() -> None:
    calls = [
        Call(tool="find_member", arguments={"name": "Nobody Atall"}),
        Call(tool="find_book", arguments={"title": "Emma"}),
        Call(tool="return_book", arguments={"loan_id": {"$from": [1, "data", 0, "book_id"]}}),
    ]
    with Environment(library.skeleton(), STATE) as environment:
        environment.reset()
        played = play(environment, calls)
    said = refusal(calls, played)
    assert "Call 2" in said and '"loan_id":"B-1"' in said and "no open loan" in said
    assert 'find_member({"name":"Nobody Atall"}) found nothing' in said
    assert witness_problem(calls, played) == said


def test_tasks_are_told_apart_without_case_and_space() -> None:
    task = "word " * 50
    assert plain("  A  b\nC ") == "a b c"
    assert task_problem(task, set()) == "" and "49 words" in task_problem("word " * 49, set())
    assert "same words" in task_problem(task.upper(), {plain(task)})
