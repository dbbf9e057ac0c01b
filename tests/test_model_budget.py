"""The ledger counts everything once, from many threads, over restarts; a budget is never passed."""

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.error import BudgetSpent, EnvscalerError, ModelError, ParameterError, StoreError
from envscaler.model import budget
from envscaler.model.budget import Ledger, Price, read_prices, role_of
from envscaler.model.cache import CachedModel
from envscaler.model.connect import connect
from envscaler.model.request import Reply, Request
from envscaler.model.scripted import ScriptedModel
from envscaler.parallel import run_all
from envscaler.project import PACKAGE
from envscaler.run import open_run
from envscaler.schema import Task, Usage

DEAR = {"m": (1.0, 10.0)}


def counts(ledger: Ledger) -> list[tuple]:
    frame = ledger.frame()[["step", "model", "calls", "cached", "input_tokens", "output_tokens"]]
    return [tuple(row) for row in frame.itertuples(index=False)]


def test_an_empty_ledger_has_its_columns() -> None:
    frame = Ledger().frame()
    assert {"stage", "role", "step", "model", "calls", "cached", "usd"} <= set(frame.columns) and frame.empty
    assert Ledger().total == Usage() and Ledger().spent == 0


def test_counts_are_kept_per_step_and_model() -> None:
    ledger = Ledger()
    ledger.add("b", "m", Usage(calls=1, input_tokens=2, output_tokens=3))
    ledger.add("b", "n", Usage(calls=1))
    ledger.add_cached("a", "m")
    assert counts(ledger) == [("a", "m", 0, 1, 0, 0), ("b", "m", 1, 0, 2, 3), ("b", "n", 1, 0, 0, 0)]
    assert ledger.total == Usage(calls=2, input_tokens=2, output_tokens=3)
    assert "<table" in ledger._repr_html_()


def test_no_count_is_lost_between_threads(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "account.jsonl")

    def work() -> None:
        for _ in range(200):
            ledger.add("s", "m", Usage(calls=1, input_tokens=1))
            ledger.add_cached("s", "m")
            ledger.spent  # noqa: B018 - it reads while others write

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts(ledger) == [("s", "m", 800, 800, 800, 0)]
    assert counts(Ledger(ledger.path)) == [("s", "m", 800, 0, 800, 0)]


def test_every_prompt_has_a_role() -> None:
    steps = {
        str(path.relative_to(PACKAGE / "prompts").with_suffix("")) for path in PACKAGE.glob("prompts/*/*.md")
    }
    assert set(budget._ROLES) - {"check"} <= steps
    assert {role_of(step) for step in steps} == {"author", "tester", "judge", "user simulator", "agent"}
    assert role_of("themes/embed") == "encoder"


def test_tokens_that_no_server_told_are_reckoned_and_said_to_be() -> None:
    ledger = Ledger(prices=DEAR)
    ledger.add("s", "m", Usage(calls=1), (4001, 399))
    ledger.add("s", "m", Usage(calls=1, input_tokens=10))
    row = ledger.frame().iloc[0]
    assert (row["input_tokens"], row["output_tokens"], row["untold"]) == (1001 + 10, 100, 1)
    assert row["usd"] == pytest.approx((1011 + 1000) / 1e6)


def test_an_account_goes_on_after_a_kill_and_free_models_leave_no_line(tmp_path: Path) -> None:
    path = tmp_path / "accounts" / "run.jsonl"
    first = Ledger(path, prices=DEAR)
    first.add("s", "m", Usage(calls=1, input_tokens=1_000_000))
    first.add("s", "builtin", Usage(calls=1))
    with path.open("a") as file:
        file.write('{"step": "s", "model": "m", "calls": 1, "inp')
    again = Ledger(path, prices=DEAR, budget_usd=1.5)
    assert again.spent == pytest.approx(1.0) and counts(again) == [("s", "m", 1, 0, 1_000_000, 0)]
    again.add("s", "m", Usage(calls=1, input_tokens=5))
    assert Ledger(path, prices=DEAR).total.calls in (1, 2), (
        "the line after a torn one may be lost with it, no more"
    )


def test_a_dated_name_costs_what_the_plain_one_does() -> None:
    ledger = Ledger(prices={"big": (1, 2), "big-mini": (3, 4)})
    assert ledger.price("big-2026-01-31") == Price(1, 2) and ledger.price("big-mini-2026-01-31") == Price(
        3, 4
    )
    assert ledger.price("bigger") is None and ledger.price("big-max") is None


@pytest.mark.parametrize("price", [1, (1,), (1, -2), ("1", 2), (1, float("inf")), None, (True, 1)])
def test_a_price_is_two_amounts(price: object) -> None:
    with pytest.raises(ParameterError, match="price of 'm'"):
        Ledger(prices={"m": price})


@pytest.mark.parametrize("text", ["- 1", "m: 3", "m: [1, 2, 3]", "m: [a, b]", "m: [1, 2", "\x00"])
def test_a_price_table_that_is_none_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(StoreError, match=r"prices.yaml: expected lines"):
        read_prices(tmp_path / "prices.yaml")


def test_own_prices_go_over_those_of_the_library(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text("gpt-4.1: [7, 8]\nmine: [0.5, 1]\n")
    prices = read_prices(tmp_path / "prices.yaml")
    assert (
        prices["gpt-4.1"] == Price(7, 8)
        and prices["mine"] == Price(0.5, 1)
        and prices["builtin"] == Price(0, 0)
    )


# The budget


def spender(usage: Usage, workers: int = 4) -> ScriptedModel:
    return ScriptedModel(lambda request: Reply("yes", usage=usage), name="m", workers=workers)


def asked(n: int) -> Request:
    return Request("s", ({"role": "user", "content": f"question {n}"},), settings={"max_tokens": 100})


@settings(max_examples=25, deadline=None)
@given(
    limit=st.floats(0, 0.02), tokens=st.integers(0, 100), threads=st.integers(1, 8), told=st.booleans(),
)  # fmt: skip
def test_a_budget_is_never_passed(limit: float, tokens: int, threads: int, told: bool) -> None:
    usage = Usage(calls=1, input_tokens=2, output_tokens=tokens) if told else Usage(calls=1)
    model = CachedModel(spender(usage), mode="off", ledger=Ledger(prices=DEAR, budget_usd=limit))

    def work(n: int) -> Task:
        model.answer(asked(n))
        return Task(text=f"Task {n}", source="test")

    try:
        done = len(run_all(work, range(60), stage="test", workers=threads, progress=False))
    except BudgetSpent as error:
        done = -1
        assert "budget" in str(error) and "budget_usd" in str(error)
    assert model.ledger.spent <= limit
    assert done == 60 or (done == -1 and limit - model.ledger.spent < 0.01 * threads)


def test_a_spent_budget_is_no_failure_of_a_record_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    inner = spender(Usage(calls=1, input_tokens=2, output_tokens=100))

    def run(limit: float) -> int:
        ledger = Ledger(tmp_path / "account.jsonl", prices=DEAR, budget_usd=limit)
        model = CachedModel(inner, path=tmp_path / "cache.sqlite", ledger=ledger)
        return len(
            run_all(
                lambda n: Task(text=f"{model.answer(asked(n)).text} {n}", source="test"),
                range(20), stage="test", workers=4, progress=False,
            )
        )  # fmt: skip

    assert not issubclass(BudgetSpent, EnvscalerError)
    with pytest.raises(BudgetSpent, match=r"of 0.005 USD"):
        run(0.005)
    made = len(inner.requests)
    assert 0 < made < 20
    assert run(1.0) == 20
    assert len(inner.requests) == 20, "what was answered before is not asked again"


def test_a_budget_needs_a_price() -> None:
    model = CachedModel(spender(Usage(calls=1)), mode="off", ledger=Ledger(budget_usd=1.0))
    with pytest.raises(ParameterError, match=r"price of 'm'.*prices="):
        model.answer(asked(0))
    with pytest.raises(ParameterError, match="budget_usd"):
        connect("builtin", budget_usd=-1)
    with pytest.raises(ParameterError, match="got both"):
        connect("builtin", budget_usd=1, ledger=Ledger())


def test_models_that_share_a_ledger_share_the_budget(tmp_path: Path) -> None:
    ledger = Ledger(prices=DEAR, budget_usd=0.0035)
    one, other = (
        CachedModel(spender(Usage(calls=1, input_tokens=2, output_tokens=100)), mode="off", ledger=ledger)
        for _ in "ab"
    )
    for n in range(3):
        (one, other)[n % 2].answer(asked(n))
    with pytest.raises(BudgetSpent):
        other.answer(asked(9))
    assert json.loads(ledger.frame().to_json(orient="records"))[0]["calls"] == 3


# What would open it


@pytest.mark.parametrize("threads", [1, 16])
def test_answers_of_unknown_length_pass_it_by_one_call_at_most(threads: int) -> None:
    inner = spender(Usage(calls=1, input_tokens=10, output_tokens=20_000), workers=threads)
    model = CachedModel(inner, mode="off", ledger=Ledger(prices=DEAR, budget_usd=0.5))

    def work(n: int) -> Task:
        model.answer(Request("s", ({"role": "user", "content": f"question {n}"},)))
        return Task(text=f"Task {n}", source="test")

    with pytest.raises(BudgetSpent):
        run_all(work, range(60), stage="test", workers=threads, progress=False)
    assert 0 < model.ledger.spent <= 0.5


def test_two_who_keep_one_account_share_its_budget(tmp_path: Path) -> None:
    path = tmp_path / "account.jsonl"
    one, other = (Ledger(path, prices=DEAR, budget_usd=0.0035) for _ in "ab")
    models = [
        CachedModel(spender(Usage(calls=1, input_tokens=2, output_tokens=100)), mode="off", ledger=ledger)
        for ledger in (one, other)
    ]
    with pytest.raises(BudgetSpent):
        for n in range(9):
            models[n % 2].answer(asked(n))
    assert Ledger(path, prices=DEAR).spent <= 0.0035
    assert one.total.calls == other.total.calls == 3 or {one.total.calls, other.total.calls} == {2, 3}


@pytest.mark.parametrize(
    "line",
    [
        '{"step": null, "model": "m", "calls": 1, "input_tokens": 1, "output_tokens": 1, "untold": false}',
        '{"step": "s", "model": 5, "calls": 1, "input_tokens": 1, "output_tokens": 1, "untold": false}',
        '{"step": "s", "model": "m", "calls": 1, "input_tokens": 1, "output_tokens": -1000000000, "untold": false}',
        '{"step": "s", "model": "m", "calls": 1, "input_tokens": 1%s, "output_tokens": 1, "untold": 0}' % ("0" * 400),
        "[" * 100_000, "null", "[]", "{}", "\\xff", "",
    ],
)  # fmt: skip
def test_a_line_that_is_none_is_passed_over(line: str, tmp_path: Path) -> None:
    good = '{"step": "s", "model": "m", "calls": 1, "input_tokens": 1000000, "output_tokens": 0, "untold": false}'
    path = tmp_path / "account.jsonl"
    path.write_text(f"\ufeff{good}\n{line}\n{good}\n")
    ledger = Ledger(path, prices=DEAR)
    assert ledger.spent == pytest.approx(2.0) and len(ledger.frame()) == 1


@pytest.mark.parametrize(
    "usage", [Usage(calls=1, output_tokens=-(10**9)), Usage(calls=1, input_tokens=-5, output_tokens=7)]
)
def test_less_than_nothing_is_never_spent(usage: Usage) -> None:
    ledger = Ledger(prices=DEAR)
    ledger.add("s", "m", usage, (40, 40))
    assert ledger.spent > 0 and ledger.total.output_tokens >= 0


def test_an_answer_that_nobody_can_read_was_paid_for_all_the_same() -> None:
    def unreadable(request: Request) -> Reply:
        fault = ModelError("expected a chat completion")
        fault.usage = Usage(calls=1, input_tokens=1000, output_tokens=100)
        raise fault

    model = CachedModel(
        ScriptedModel(unreadable, name="m"), mode="off", ledger=Ledger(prices=DEAR, budget_usd=0.01)
    )
    with pytest.raises(BudgetSpent):
        for n in range(20):
            with pytest.raises(ModelError):
                model.answer(asked(n))
    assert 0.005 < model.ledger.spent <= 0.01


def test_a_model_that_asks_another_of_the_same_account_does_not_wait_for_itself() -> None:
    ledger = Ledger(prices=DEAR, budget_usd=0.01)
    inner = CachedModel(spender(Usage(calls=1, output_tokens=100)), mode="off", ledger=ledger)
    outer = CachedModel(ScriptedModel(inner.answer, name="m"), mode="off", ledger=ledger)
    assert outer.answer(asked(0)).text == "yes"


@pytest.mark.parametrize("budget", ["5", -1, float("nan"), True, 10**400])
def test_what_is_no_budget_is_refused_where_the_run_is_opened(budget: object) -> None:
    with pytest.raises(ParameterError, match="budget_usd"):
        open_run(budget_usd=budget)  # type: ignore[arg-type]
