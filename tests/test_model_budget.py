"""The ledger counts everything once, from many threads."""

import threading

from envscaler.model.budget import Ledger
from envscaler.schema import Usage


def test_an_empty_ledger_has_its_columns():
    frame = Ledger().frame()
    assert (
        list(frame.columns) == ["step", "model", "calls", "cached", "input_tokens", "output_tokens"]
        and frame.empty
    )
    assert Ledger().total == Usage()


def test_counts_are_kept_per_step_and_model():
    ledger = Ledger()
    ledger.add("b", "m", Usage(calls=1, input_tokens=2, output_tokens=3))
    ledger.add("b", "n", Usage(calls=1))
    ledger.add_cached("a", "m")
    rows = [tuple(row) for row in ledger.frame().itertuples(index=False)]
    assert rows == [("a", "m", 0, 1, 0, 0), ("b", "m", 1, 0, 2, 3), ("b", "n", 1, 0, 0, 0)]
    assert ledger.total == Usage(calls=2, input_tokens=2, output_tokens=3)
    assert "<table" in ledger._repr_html_()


def test_no_count_is_lost_between_threads():
    ledger = Ledger()

    def work() -> None:
        for _ in range(200):
            ledger.add("s", "m", Usage(calls=1, input_tokens=1))
            ledger.add_cached("s", "m")
            ledger.frame()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tuple(ledger.frame().iloc[0]) == ("s", "m", 800, 800, 800, 0)
