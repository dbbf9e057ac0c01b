"""The stand-in's reading: clear cases are judged right, reasons name words, and themes are worded anew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.model.builtin.domain import Domain, _stems, domains, ranking
from envscaler.model.builtin.reader import CUES, FITS, LONG, find_cues, infer, judge, said_words
from envscaler.model.builtin.recall import world_in
from envscaler.themes import Inferred


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    "request_text",
    [
        "Please cancel my appointment at the eye clinic on Friday.",
        "Could you move reservation ID 4471 to Saturday and tell me what it costs?",
        "Add two boxes of nails to my order and check whether they are in stock.",
        "Is my library account still blocked?",
        "Register Ann for the pottery course that starts in May.",
        "What is the status of ticket number 88213?",
        "Transfer 40 euros from my savings account to Ben's account.",
        "Remove patient P-2041 from the waitlist.",
        "Create a new group called Tuesday Runners and invite Carla.",
    ],
)
def test_a_request_that_presupposes_records_is_stateful(request_text: str) -> None:
    assert judge({"request": request_text}, rng(), 0)["stateful"]


@pytest.mark.parametrize(
    "request_text",
    [
        "What is the tallest mountain in Peru?",
        "Write a poem about a lonely lighthouse.",
        "Calculate the monthly payment on a loan of 3,000 euros at four percent.",
        "Convert 12 miles to kilometres.",
        "Explain how vaccines work.",
        "Imagine you were a pirate. What would you eat?",
        "Can you recommend three books for a long train ride?",
        "What will the weather in Oslo be tomorrow?",
        "Thank you, that was kind.",
        "",
    ],
)
def test_a_request_for_anything_else_is_not(request_text: str) -> None:
    assert not judge({"request": request_text}, rng(), 0)["stateful"]


def test_the_reason_names_the_words_it_rests_on() -> None:
    assert "'cancel'" in judge({"request": "Please cancel booking 7."}, rng(), 0)["reason"]
    assert "'Calculate'" in judge({"request": "Calculate 7 times 8."}, rng(), 0)["reason"]


def test_upper_case_matters_only_for_numbers_of_records() -> None:
    names = {cue.name for cue, _ in find_cues("Show ID 12 and EMP-1042.")}
    assert "names a record by its number" in names
    assert "names a record by its number" not in {
        cue.name for cue, _ in find_cues("She did, emp-1042 and an idea.")
    }
    assert find_cues("CANCEL IT") == find_cues("CANCEL IT")
    assert [cue.name for cue, _ in find_cues("cancel it")] == [cue.name for cue, _ in find_cues("CANCEL IT")]


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: cue.name)
def test_every_cue_weighs_something_and_none_holds_for_everything(cue: object) -> None:
    assert cue.weight != 0  # type: ignore[attr-defined]
    assert cue not in [found for found, _ in find_cues("Hello there.")]


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_gets_an_answer_and_always_the_same(text: str) -> None:
    assert judge({"request": text}, rng(), 0) == judge({"request": text}, rng(5), 0)
    first = infer({"request": text}, rng(1), 0)
    assert first == infer({"request": text}, rng(1), 0)
    Inferred.model_validate(first)


def test_a_very_long_request_is_read_in_time() -> None:
    judge({"request": "find my " * 20_000 + "a" * 50_000}, rng(), 0)


# infer

ALL = list(domains().values())


def about(domain: Domain) -> str:
    """A request made of the words that point to a domain."""
    weighty = sorted(domain.words, key=lambda word: -domain.words[word])[:4]
    return f"I have a question on the {', the '.join(weighty)} of last week."


@pytest.mark.parametrize("domain", ALL, ids=lambda domain: domain.name)
def test_a_domain_is_found_by_its_words_and_by_the_theme_worded_of_it(domain: Domain) -> None:
    for seed in range(12):
        answer = Inferred.model_validate(infer({"request": about(domain)}, rng(seed), 0))
        assert answer.fits
        assert world_in(f"{answer.title}: {answer.summary}").domain.name == domain.name, answer


@pytest.mark.parametrize("domain", ALL, ids=lambda domain: domain.name)
def test_titles_and_summaries_are_worded_anew(domain: Domain) -> None:
    answers = [infer({"request": about(domain)}, rng(seed), 0) for seed in range(30)]
    assert len({answer["title"] for answer in answers}) >= 15
    assert len({answer["summary"] for answer in answers}) >= 15
    assert all(answer["title"][0].isupper() for answer in answers)


def test_the_theme_does_not_repeat_the_request() -> None:
    request = "Book the hotel room 4711 for Zebulon Quixworth on 2031-02-03, near the window, please."
    for seed in range(20):
        answer = infer({"request": request}, rng(seed), 0)
        text = f"{answer['title']} {answer['summary']}"
        assert answer["fits"]
        assert not any(word in text for word in ("4711", "Zebulon", "Quixworth", "2031", "window, please"))


@pytest.mark.parametrize("request_text", ["Tell me a riddle about xylophones.", "", "Zqx vrrm blug."])
def test_it_says_that_nothing_fits_and_what_it_looked_for(request_text: str) -> None:
    answer = infer({"request": request_text}, rng(), 0)
    assert (answer["fits"], answer["title"], answer["usefulness"], answer["modelability"]) == (
        False,
        "",
        1,
        1,
    )
    assert f"None of the {len(ALL)} worlds" in answer["reason"]
    assert not request_text or "'" in answer["reason"]


def test_one_weak_word_is_not_enough_and_the_reason_tells_the_score() -> None:
    weak = next(
        (d, word) for d in ALL for word, weight in d.words.items() if 0 < weight < FITS and " " not in word
    )
    answer = infer({"request": f"Something about a {weak[1]}."}, rng(), 0)
    assert answer["fits"] is False
    assert repr(weak[1]) in answer["reason"]


def test_scores_vary_and_some_themes_are_weak() -> None:
    strong = [infer({"request": about(d)}, rng(s), 0)["modelability"] for d in ALL for s in range(10)]
    doubtful = [
        infer({"request": f"Predict the stocks and write a poem: {about(d)}"}, rng(s), 0)["modelability"]
        for d in ALL
        for s in range(10)
    ]
    assert len(set(strong)) > 1
    assert np.mean(strong) > np.mean(doubtful) + 1
    assert min(doubtful) < 7 <= max(strong)


def test_the_words_of_a_domain_are_found_in_the_plural() -> None:
    hotel = domains()["hotel"]
    assert "hotel" in said_words(hotel, "Two hotels, please.")
    assert said_words(hotel, "A hospital.") == []


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("cancel my order please, it was the wrong size", "online_shop"),
        ("Cancel order 71940.", "online_shop"),
        ("Cancel order QF-71940.", "online_shop"),
        ("Upgrade us to the junior suite for two nights.", "hotel"),
        ("Move my dentist slot to Friday.", "clinic"),
        ("Reset the password for Ugo Brandt.", "it_service_desk"),
        ("Book me the phone booth from two to three.", "coworking"),
        ("Cancel the spay for the tabby, she is expecting.", "vet_clinic"),
        ("Release the four bags of O negative, the crossmatch failed.", "blood_bank"),
        ("Put the parcel for the neighbour on the porch.", "parcel_shipping"),
        ("Pin the message about the meeting and unpin the old one.", "team_chat"),
    ],
)
def test_a_short_request_is_recognised(request_text: str, name: str) -> None:
    assert infer({"request": request_text}, rng(), 0)["fits"]
    assert ranking(request_text)[0][1].name == name


@pytest.mark.parametrize(
    "request_text",
    [
        "Can you help me, please?",
        "Sort these in descending order.",
        "Get the overs of both innings of match 4.",
        "Add the individual Lion to the animal kingdom in my ontology.",
        "Book me a balloon ride.",
        "Count the syllables of every line in my sonnet.",
    ],
)
def test_a_request_about_none_of_the_worlds_is_not(request_text: str) -> None:
    assert not infer({"request": request_text}, rng(), 0)["fits"]


def test_a_number_stands_for_any_code_and_an_article_may_stand_between() -> None:
    shop = domains()["online_shop"]
    assert shop.score("order 7") == shop.score("order QF-7-12b") > shop.score("order seven")
    assert shop.score("cancel my order") >= shop.score("cancel the order") > shop.score("cancel, then order")


def test_a_long_request_needs_more_than_one_word() -> None:
    weak = next(w for w, v in domains()["hotel"].words.items() if v == FITS and " " not in w)
    assert infer({"request": f"Find the {weak}."}, rng(), 0)["fits"]
    assert not infer({"request": f"Find the {weak}. " + "and so on " * LONG}, rng(), 0)["fits"]


def test_of_equal_scores_the_one_with_more_words_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    hotel = domains()["hotel"]
    few = hotel.model_copy(update={"name": "aa_few", "words": {"lamp": 3}})
    many = hotel.model_copy(update={"name": "bb_many", "words": {"lamp": 1, "shade": 2, "wick": 2}})
    twin = many.model_copy(update={"name": "cc_twin"})
    monkeypatch.setattr("envscaler.model.builtin.domain.domains", lambda: {d.name: d for d in (few, many)})
    assert [found.name for _, found in ranking("a lamp and its shade")] == ["bb_many", "aa_few"]
    monkeypatch.setattr("envscaler.model.builtin.domain.domains", lambda: {d.name: d for d in (twin, many)})
    assert ranking("a lamp and its shade")[0][1] is many


@pytest.mark.parametrize("domain", ALL, ids=lambda domain: domain.name)
def test_no_word_of_a_domain_overrides_another_of_the_same_stem(domain: Domain) -> None:
    by_stem: dict[str, set[str]] = {}
    for word in domain.words:
        by_stem.setdefault(" ".join(_stems(word)), set()).add(word)
    assert [words for words in by_stem.values() if len(words) > 1] == []
