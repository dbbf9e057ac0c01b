"""What a simulated user did wrong is found, also in other words; a user who plays well is left alone."""

import time

import pandas as pd
import pytest
from bench.users import WORDED, measure, talks, worded_talks

import envscaler as es
from envscaler.acting.forms import Heard
from envscaler.acting.user_faults import facts, user_faults, wishes
from envscaler.schema import Rollout, Scenario

TASK = (
    "Good morning, I have a few errands at the bank. Please freeze the savings account of client Julia Lindgren until "
    "further notice. Move 1,235.00 EUR from account A-17 to account B-20 on 27 March 2025. Please record the note "
    '"called twice" for client Samir Hartmann, and send it to s.hartmann@mail.example by 09:30.'
)
SCENARIO = Scenario(skeleton_id="k", initial_state={}, task=TASK, checks=[])
GOOD = [
    "Hi there! I'd like to put a hold on Julia Lindgren's savings account, until I say otherwise.",
    "Done, it is frozen. What else can I do for you?",
    "Great, thank you! Next: can you move 1235 EUR from A-17 over to B-20? It should go out on March 27th, 2025.",
    "From which of her two accounts, A-17 or A-18?",
    "From A-17, as I said.",
    "That is done; the transfer has the number T-991. Is there anything else?",
    'Perfect. T-991, noted. Then please note "called twice" for Samir Hartmann, and mail it to s.hartmann@mail.example '
    "before 9:30.",
    "The note was recorded and sent. Can I help you with anything else?",
    "No, that was it. Thanks a lot!",
]


def talk(*said, ending="stopped", conversation=True):
    messages = [{"role": "system", "content": "s"}]
    messages += [
        {"role": ("assistant", "user")[n % 2 == 0], "content": text} for n, text in enumerate(said, start=0)
    ]
    return Rollout(
        scenario_id=SCENARIO.id,
        agent="a",
        conversation=conversation,
        messages=messages,
        trajectory=[],
        final_state={},
        outcomes=[],
        ending=ending,
    )


def kinds(*said, **how):
    return [fault.kind for fault in user_faults(talk(*said, **how), SCENARIO)]


def test_a_user_who_plays_well_in_words_of_its_own_is_left_alone():
    assert kinds(*GOOD) == []


def test_without_a_conversation_there_is_no_user():
    assert kinds(TASK, conversation=False) == [] and kinds() == []


@pytest.mark.parametrize("cut", [2, 4, 6])
def test_who_leaves_before_the_last_wish_is_told_stopped_early(cut):
    faults = user_faults(talk(*GOOD[:cut], "Thanks, bye."), SCENARIO)
    assert [fault.kind for fault in faults] == ["user-stopped-early"]
    assert "called twice" in str(faults[0].evidence["untold"])


def test_a_wish_that_comes_with_the_good_bye_was_told_to_nobody():
    assert kinds(*GOOD[:6], f"{GOOD[6]} That is all, bye!") == ["user-stopped-early"]


def test_who_leaves_a_question_open_stopped_early_but_not_who_declines_an_offer():
    asked = "Recorded. To which address shall I send it?"
    assert kinds(*GOOD[:7], asked, "Bye.") == ["user-stopped-early"]
    assert kinds(*GOOD[:7], "Do you need any other help?", "Bye.") == []


def test_a_talk_that_was_cut_off_was_not_stopped_by_the_user():
    assert kinds(*GOOD[:4], ending="truncated") == []
    assert kinds(GOOD[0], ending="failed") == []


@pytest.mark.parametrize(
    "opening",
    [
        TASK,
        TASK.upper().replace("S.HARTMANN@MAIL.EXAMPLE", "s.hartmann@mail.example"),
        " ".join(GOOD[0:7:2]),
        "- " + "\n- ".join(reversed(GOOD[0:7:2])),
    ],
)
def test_a_first_message_that_holds_all_wishes_tells_all(opening):
    assert "user-told-all" in kinds(opening, "Done.", "Thanks!")


def test_a_first_message_with_all_but_one_wish_does_not_tell_all():
    assert "user-told-all" not in kinds(f"{GOOD[0]} {GOOD[2]}", *GOOD[5:])


def test_a_task_of_one_wish_has_to_be_told_at_once():
    scenario = SCENARIO.replace(task="Hello. Please freeze the account of client Julia Lindgren.")
    rollout = talk("Freeze the account of client Julia Lindgren, please.", "Done.", "Thanks.")
    assert user_faults(rollout, scenario) == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("It is urgent, my reference is K-4711.", "K-4711"),
        ("Take account A-18 then.", "A-18"),
        ("Make it 1,325.00 EUR.", "1,325.00"),
        ("My colleague Anna Berg knows about it.", "Anna"),
        ("It is for Mr. Quist.", "Quist"),
        ("Ottilie's account is the other one.", "Ottilie"),
        ("Please add “final notice” to it.", "final notice"),
        ("Write to julia@mail.example.", "julia@mail.example"),
        ("It must be done on 28 March 2025.", "28"),
        ("It must be done by Friday.", "Friday"),
        ("There are thirty of them.", "thirty"),
        ("Call me at 555-0199.", "555-0199"),
    ],
)
def test_what_nobody_told_the_user_is_invented(said, fact):
    faults = user_faults(talk(*GOOD[:2], f"{GOOD[2]} {said}", *GOOD[3:]), SCENARIO)
    assert [fault.kind for fault in faults] == ["user-invented"], said
    assert fact in faults[0].evidence["facts"] and "message 3" in faults[0].message


@pytest.mark.parametrize(
    "said",
    [
        "I don't know, please choose for me.",
        "Two more things, then I am done.",
        "OK. I'd say the first one is fine.",
        "That's right, on 2025-03-27 and not later.",
        "Yes, 27/3/2025, 9.30 at the latest.",
        "No, EUR of course.",
        "Hello? Are you there? Thanks. Great, I'll wait.",
        "Is T-991 the number I should quote?",
        "It's Julia's account, as I told you: Lindgren.",
        "The ID is A-17, i.e. the first of the two.",
    ],
)
def test_what_was_told_in_any_form_and_small_talk_are_not_invented(said):
    assert kinds(*GOOD[:6], f"{said} {GOOD[6]}", *GOOD[7:]) == []


def test_what_the_agent_said_first_is_no_invention_but_what_it_says_later_is():
    assert kinds(*GOOD[:6], GOOD[6].replace("T-991", "T-992"), "It is T-992 indeed.", GOOD[8]) == [
        "user-invented"
    ]


def test_an_invention_is_found_once_and_not_in_each_message_that_repeats_it():
    first, again = f"{GOOD[2]} My name is Wanda Quist.", f"{GOOD[6]} As I said, this is Wanda Quist."
    assert kinds(*GOOD[:2], first, *GOOD[3:6], again, *GOOD[7:]) == ["user-invented"]


def test_facts_and_wishes():
    assert facts('Send "a b" to x@y.example, 3 of R-2; ask Bo. Then go.') == {
        "a b",
        "x@y.example",
        "3",
        "R-2",
        "Bo",
    }
    assert facts("Please do it now. I'd like that.") == set()
    assert len(wishes(TASK)) == 3 and wishes("Do it. Do that.") == ["Do it.", "Do that."]


def test_the_table_counts_conversations_and_gives_an_example():
    bad = talk(*GOOD[:2], "Thanks, Wanda, bye. It was about K-4711.")
    alone = talk(TASK, conversation=False)
    table = es.user_fault_table([talk(*GOOD), bad, bad, alone], [SCENARIO])
    assert isinstance(table, pd.DataFrame) and list(table["conversations"]) == [3, 3, 3]
    assert list(table["shown in"]) == [2, 0, 2] and "K-4711" in table["for example"][2]
    assert list(es.user_fault_table([], [])["shown in"]) == [0, 0, 0]


def test_planted_faults_are_found_and_few_alarms_are_false():
    """The bench at small size; its planter shares no code with the detectors."""
    measured = measure(talks(12, seed=3, worlds=1), seed=3)
    for kind in ("user-stopped-early", "user-told-all", "user-invented"):
        assert measured[kind]["planted"] >= 10
        assert measured[kind]["recall"] >= 0.9, kind
        assert measured[kind]["false alarms"] <= 0.07, kind


def test_planted_faults_are_found_in_other_words_than_the_built_in_models():
    """The same in `bench.wordings`: numbers in words, dates and times otherwise, other manners, other orders."""
    measured = measure(worded_talks(100, seed=1), seed=1, plants=WORDED)
    for kind, least in {"user-stopped-early": 0.95, "user-told-all": 0.95, "user-invented": 0.8}.items():
        assert measured[kind]["planted"] >= 90
        assert measured[kind]["recall"] >= least, (kind, measured)
        assert measured[kind]["false alarms"] <= 0.03, (kind, measured)


FORMS = [
    ("2025-03-27", "the twenty-seventh of March, 2025"), ("27 March 2025", "27/3/2025"),
    ("March 27, 2025", "27-Mar-2025"),
    ("09:30", "half past nine"), ("16:45", "quarter to five"), ("14:00", "2 p.m."), ("14:00", "two o'clock"),
    ("84", "eighty-four"), ("seventeen", "17"), ("12", "a dozen"), ("250", "two hundred and fifty"),
    ("INV-2041", "inv 2041"), ("INV-2041", "INV2041"), ("15%", "fifteen per cent"), ("1,250.00", "1250"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), FORMS)
def test_a_fact_in_another_form_is_the_same_fact(one, other):
    for fact, said in ((one, other), (other, one)):
        for part in facts(f"It is about {fact}."):
            assert Heard.of(f"That was {said}, then.").knows(part), (part, said)


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("2025-03-28", "the twenty-seventh of March, 2025"), ("9:45", "half past nine"), ("13:00", "2 pm"),
        ("eighty-five", "84"), ("thirty", "at 09:30"), ("INV-2042", "INV 2041"), ("QX-2041", "INV-2041"),
        ("15%", "15 of them"), ("20 percent", "15%, and 20 more"), ("251", "two hundred and fifty"),
    ],
)  # fmt: skip
def test_another_fact_is_another_one_in_any_form(fact, said):
    assert not Heard.of(f"That was {said}, then.").knows(fact)


def test_what_was_told_may_lack_the_year_and_the_letters_of_a_code():
    assert Heard.of("27 March 2025").knows("3/27/25")
    heard = Heard.of("It is number 2041, on the 27th of March.")
    assert heard.knows("2025-03-27", loosely=True) and not heard.knows("2025-03-27")
    assert heard.knows("INV-2041", loosely=True) and not heard.knows("INV-2041")
    assert not heard.knows("INV-2042", loosely=True) and not heard.knows("2025-03-28", loosely=True)


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "1" * 200_000, "a-" * 100_000, '"' * 100_000, "a@" * 50_000, "A " * 50_000]
)
def test_a_giant_message_does_not_hang(text):
    begun = time.process_time()
    kinds(GOOD[0], text, text, text, "Bye.")
    assert time.process_time() - begun < 10
