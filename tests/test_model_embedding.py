"""Encoders: normalised rows in the order of the texts, the same bytes each time, no hub."""

import subprocess
import sys

import numpy as np
import pytest
from loopback import Seen, completion, loopback_server, refusal  # noqa: F401

from envscaler.error import BudgetSpent, ModelError, ParameterError
from envscaler.model import embedding
from envscaler.model.ask import ask
from envscaler.model.budget import Ledger
from envscaler.model.connect import connect
from envscaler.model.embedding import EndpointEncoder, LocalEncoder, RememberingEncoder, connect_encoder
from envscaler.run import open_run
from envscaler.show.accounts import account_table, draw_accounts

TEXTS = ["Hotel room booking desk", "A hotel's reservations", "Blood bank stock", "", "Blood bank stock"]


class Counting:
    """Vectors that tell the texts apart, and a list of what was asked for."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts):
        self.asked.append(list(texts))
        return np.array([[len(text), 1] for text in texts], np.float32).reshape(-1, 2)


@pytest.fixture(scope="module")
def local() -> LocalEncoder:
    return LocalEncoder()


def test_the_packaged_model_knows_what_is_alike(local):
    rows = local.encode(TEXTS)
    assert rows.shape == (5, 384) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[0] @ rows[1] > 0.6 > 0.4 > rows[0] @ rows[2]
    assert np.array_equal(rows[2], rows[4])
    assert np.array_equal(rows, local.encode(TEXTS))
    assert local.encode([]).shape == (0, 384)


def test_rows_stand_in_the_order_of_the_texts_whatever_their_length(local):
    texts = [f"{'long ' * (i % 7)}text number {i}" for i in range(150)]
    rows = local.encode(texts)
    for i in (0, 1, 77, 149):
        assert rows[i] @ local.encode([texts[i]])[0] > 0.9999


def test_the_packaged_model_asks_no_hub_and_changes_no_environment(home):
    code = (
        "import os, socket\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "before = dict(os.environ)\n"
        "from envscaler.model.embedding import connect_encoder\n"
        "assert connect_encoder().encode(['a']).shape == (1, 384)\n"
        "assert {k for k in os.environ if k.startswith(('HF_', 'TRANSFORMERS_'))} <= set(before)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Loading weights" not in run.stderr


def test_a_model_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"'/no/such/model' cannot be loaded"):
        LocalEncoder("/no/such/model").encode(["a"])


def test_what_was_encoded_is_remembered_text_by_text(tmp_path):
    inner = Counting()
    first = RememberingEncoder(inner, tmp_path / "v.sqlite")
    rows = first.encode(["bb", "a", "bb"])
    assert inner.asked == [["a", "bb"]] and rows[:, 0].tolist() == [2, 1, 2]
    again = RememberingEncoder(inner, tmp_path / "v.sqlite").encode(["ccc", "a", "\ud800"])
    assert inner.asked[1] == ["\ud800", "ccc"] and again[:, 0].tolist() == [3, 1, 1]
    assert first.encode([]).shape == (0, 2) and first.name == "counting"


@pytest.mark.parametrize("texts", ["a text", [1, 2], [None]])
def test_something_else_than_texts_is_refused(tmp_path, texts):
    with pytest.raises(ParameterError, match="Expected a list of texts"):
        RememberingEncoder(Counting(), tmp_path / "v.sqlite").encode(texts)


def embed(seen: Seen):
    vectors = [[len(text), 0.0, 1.0] for text in seen.body["input"]]
    data = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return {"data": data[::-1], "usage": {"prompt_tokens": len(data), "total_tokens": len(data)}}


def test_an_endpoint_is_asked_in_batches_for_plain_numbers(loopback, home):
    loopback.otherwise = embed
    loopback.answers = [refusal(500, "oops")]
    encoder = connect_encoder("e5", base_url=loopback.url, api_key="k")
    texts = ["x" * (i + 1) for i in range(130)] + [""]
    rows = encoder.encode(texts)
    assert rows.shape == (131, 3) and np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.allclose(rows[:130, 0] / rows[:130, 2], np.arange(1, 131), rtol=1e-5)
    assert all(
        seen.body["encoding_format"] == "float" and seen.body["model"] == "e5" for seen in loopback.seen
    )
    assert all(text for seen in loopback.seen for text in seen.body["input"])
    assert encoder.inner.ledger.total.calls == 3 and encoder.inner.ledger.total.input_tokens == 131
    asked = len(loopback.seen)
    assert np.array_equal(encoder.encode(texts), rows) and len(loopback.seen) == asked


# What an endpoint costs


def account(ledger: Ledger) -> dict[str, dict]:
    rows = account_table(ledger).set_index("stage")
    return rows[["role", "model", "calls", "input_tokens", "output_tokens", "untold"]].to_dict("index")


def test_what_an_endpoint_reads_is_in_the_account_with_its_stage_and_price(loopback, home):
    loopback.otherwise = embed
    ledger = Ledger(home / "account.jsonl", prices={"e5": (1000.0, 4000.0)})
    encoder = connect_encoder("e5", base_url=loopback.url, ledger=ledger)
    encoder.encode([f"text {i}" for i in range(100)])
    connect_encoder("e5", base_url=loopback.url, ledger=ledger, stage="corpus").encode(["another"])
    rows = account(ledger)
    assert rows["themes"] == {"role": "encoder", "model": "e5", "calls": 2, "input_tokens": 100, "output_tokens": 0,
                              "untold": 0}  # fmt: skip
    assert rows["corpus"]["input_tokens"] == 1 and ledger.spent == pytest.approx(0.101)
    # A run that is begun again goes on counting, and what is remembered costs nothing.
    again = Ledger(ledger.path, prices=ledger.prices)
    connect_encoder("e5", base_url=loopback.url, ledger=again).encode(["text 7", "another"])
    assert account(again) == rows and len(loopback.seen) == 3
    draw_accounts(ledger)


def test_tokens_of_an_endpoint_that_tells_none_are_reckoned(loopback, home):
    loopback.otherwise = lambda seen: {"data": embed(seen)["data"]}
    ledger = Ledger()
    connect_encoder("e5", base_url=loopback.url, ledger=ledger).encode(["x" * 400])
    assert (account(ledger)["themes"]["input_tokens"], account(ledger)["themes"]["untold"]) == (100, 1)


def test_the_model_of_a_run_and_its_encoder_share_an_account(loopback, home):
    loopback.otherwise = lambda seen: embed(seen) if "input" in seen.body else completion("yes")
    ledger = open_run("m", "smoke").ledger
    ask(connect("m", base_url=loopback.url, ledger=ledger), "tasks/judge", {"request": "x"}, str)
    connect_encoder("e5", base_url=loopback.url, ledger=ledger).encode(["a"])
    assert set(account(open_run("m", "smoke").ledger)) == {"tasks", "themes", "all"}


def test_a_hard_budget_holds_for_an_endpoint_and_what_was_paid_for_is_kept(loopback, home):
    loopback.otherwise = embed
    texts = [f"text number {i:04}" for i in range(320)]

    def encode(budget):
        ledger = Ledger(home / "a.jsonl", prices={"e5": (1e6, 9e9)}, budget_usd=budget)
        return ledger, connect_encoder("e5", base_url=loopback.url, ledger=ledger)

    # A token costs a dollar, a batch of 64 texts as many tokens; it is taken to have a token for three characters.
    ledger, encoder = encode(500.0)
    with pytest.raises(BudgetSpent, match="themes/embed"):
        encoder.encode(texts)
    assert len(loopback.seen) == 3 and ledger.spent == 192
    ledger, encoder = encode(1000.0)
    assert encoder.encode(texts).shape == (320, 3)
    read = [text for seen in loopback.seen for text in seen.body["input"]]
    assert sorted(read) == texts and ledger.spent == 320, "no text was paid for twice"


def test_a_budget_wants_a_price_of_the_encoder_too(loopback, home):
    encoder = connect_encoder("e5", base_url=loopback.url, ledger=Ledger(budget_usd=1.0))
    with pytest.raises(ParameterError, match="price of 'e5'"):
        encoder.encode(["a"])
    assert not loopback.seen


def test_an_answer_without_vectors_was_paid_for_all_the_same(loopback, home):
    loopback.otherwise = lambda seen: {"data": [], "usage": {"prompt_tokens": 9}}
    ledger = Ledger()
    with pytest.raises(ModelError, match="1 vectors"):
        connect_encoder("e5", base_url=loopback.url, ledger=ledger).encode(["a"])
    assert ledger.total.input_tokens == 9
    loopback.otherwise = lambda seen: refusal(400, "too long")
    with pytest.raises(ModelError, match="too long"):
        connect_encoder("e5", base_url=loopback.url, ledger=ledger).encode(["a"])
    assert ledger.total.calls == 1, "an error is no call"


def test_an_encoder_on_this_machine_is_free(home, local):
    ledger = Ledger(budget_usd=0.0)
    assert connect_encoder(ledger=ledger).encode(["a"]).shape == (1, 384) and ledger.total.calls == 0


def test_an_endpoint_that_refuses_is_told_without_the_key(loopback):
    loopback.otherwise = lambda seen: refusal(401, "bad key sk-very-secret")
    with pytest.raises(ModelError, match="refuses the key") as caught:
        EndpointEncoder("e5", base_url=loopback.url, api_key="sk-very-secret").encode(["a"])
    assert "secret" not in str(caught.value) and caught.value.__context__ is None


def test_openais_encoders_need_a_key(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        connect_encoder("text-embedding-3-large")


def test_a_bar_shows_over_many_texts(monkeypatch, capfd, tmp_path):
    monkeypatch.setattr(embedding, "_BAR_FROM", 3)
    embedding._in_batches(["a", "b"], Counting().encode, 1)
    assert "encode" not in capfd.readouterr().err
    embedding._in_batches(["a", "b", "c"], Counting().encode, 1)
    assert "encode" in capfd.readouterr().err
    # One batch has nothing to show: what encodes it may have a bar of its own.
    embedding._in_batches(["a", "b", "c"], Counting().encode, 3)
    assert "encode" not in capfd.readouterr().err
