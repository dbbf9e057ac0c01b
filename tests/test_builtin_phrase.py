"""Sentences of the built-in model can be filled and read back, and nothing else is read into them."""

from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.phrase import TYPES, Phrase, read_back

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=30)
VALUES = {
    "text": WORDS,
    "name": WORDS,
    "token": WORDS,
    "int": st.integers(0, 10**9),
    "money": st.integers(0, 10**9).map(lambda cents: cents / 100),
    "number": st.integers(0, 10**6).map(lambda tenths: tenths / 10),
    "date": st.dates(date(1000, 1, 1)).map(date.isoformat),
    "time": st.tuples(st.integers(0, 23), st.integers(0, 59)).map(lambda t: f"{t[0]:02}:{t[1]:02}"),
}
PHRASES = [phrase for name in domains() for goal in world_of(name).goals for phrase in goal.said]


@given(st.data(), st.sampled_from(PHRASES))
def test_what_can_be_filled_reads_back(data, phrase: Phrase) -> None:
    slots = {name: data.draw(VALUES[kind], label=name) for name, kind in phrase._slots}
    try:
        text = phrase.fill(slots)
    except ValueError:
        assume(False)
    assert phrase.match(text) == slots
    [(_, found, sentence)] = read_back(f"Hello there. {text} Thank you.", [(0, phrase)])
    assert found == slots and sentence == text


@given(st.data(), st.sampled_from(PHRASES), WORDS)
def test_reading_never_raises(data, phrase: Phrase, text: str) -> None:
    around = data.draw(st.sampled_from([phrase.template, phrase.template.replace("{", ""), ""]))
    assert phrase.match(text + around) is None or isinstance(phrase.match(text + around), dict)


def test_values_that_would_not_come_back_are_refused() -> None:
    phrase = Phrase("Please call {name:name} on {day:date}.")
    for name in ("Ida. Then leave", "", 'Ida "the rose"', "Ida\nBerg"):
        with pytest.raises(ValueError):
            phrase.fill({"name": name, "day": "2025-03-01"})


def test_an_impossible_date_is_no_sentence() -> None:
    phrase = Phrase("Please come on {day:date}.")
    assert phrase.match("Please come on 31 February 2025.") is None
    assert phrase.match("Please come on 28 February 2025.") == {"day": "2025-02-28"}


def test_the_first_letter_may_follow_a_lead() -> None:
    phrase = Phrase("Please lock door {n:int}.")
    assert [
        slots for _, slots, _ in read_back("Also, please lock door 3. Please lock door 4.", [(0, phrase)])
    ] == [
        {"n": 3},
        {"n": 4},
    ]


def test_of_overlapping_sentences_the_longest_counts() -> None:
    short, long = Phrase("Move {a:name}."), Phrase("Move {a:name} to {b:name}.")
    assert read_back("Move Ida to Bonn. Move Bo.", [("s", short), ("l", long)]) == [
        ("l", {"a": "Ida", "b": "Bonn"}, "Move Ida to Bonn."),
        ("s", {"a": "Bo"}, "Move Bo."),
    ]


@pytest.mark.parametrize("template", ["No end", "Twice {a} and {a}.", "Odd {a:colour}."])
def test_a_malformed_phrase_is_refused(template: str) -> None:
    with pytest.raises(ValueError):
        Phrase(template)


def test_all_wordings_of_a_goal_have_the_same_slots() -> None:
    for name in domains():
        for goal in world_of(name).goals:
            assert len({phrase.names for phrase in goal.said}) == 1, (name, type(goal).__name__)
            assert len(goal.said) >= 2, (name, type(goal).__name__)


def test_every_slot_type_is_tried() -> None:
    assert set(VALUES) == set(TYPES)
