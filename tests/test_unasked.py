"""Calls that nobody asked for, and tables that are free as a whole: what nobody notices is told, and refused."""

import library
import pytest
from worlds import skeleton

from envscaler.schema import Call, Certificate, Check, Proof, Scenario, Skeleton
from envscaler.world.certificate import certify
from envscaler.world.change import diff
from envscaler.world.environment import Environment
from envscaler.world.mutants.states import FREED
from envscaler.world.proving.unasked import MOST, UNASKED, Unasked, freed_tables, unasked_calls
from envscaler.world.witness import Branches

LIBRARY = library.skeleton()
WITNESS = [Call(**call) for call in library.WITNESS]


def asked_besides(world: Skeleton = LIBRARY, witness: list[Call] = WITNESS, state: dict = library.STATE,
                  **options: object) -> list[Unasked]:  # fmt: skip
    with Environment(world, state, **options) as environment:
        environment.reset()
        return list(unasked_calls(world, Branches(environment, witness)))


# Calls


def test_a_call_besides_succeeds_and_changes_what_the_witness_let_be() -> None:
    found = asked_besides()
    assert 1 <= len(found) <= MOST and len({one.call.tool for one in found}) == len(found)
    with Environment(LIBRARY, library.STATE) as environment:
        final = Branches(environment, WITNESS).final
        for one in found:
            changed = diff(final, one.state)
            assert set(one.elsewhere) <= set(changed) and "loans/L-1" not in one.elsewhere
            assert one.call.tool in library.WRITES and one.what.startswith(f"{one.call.tool}(")


def test_the_same_seed_draws_the_same_calls() -> None:
    assert [one.what for one in asked_besides()] == [one.what for one in asked_besides()]


def test_it_is_on_something_else() -> None:
    only = {**library.STATE, "members": {"M-1": library.STATE["members"]["M-1"]}, "loans": {}}
    only["books"] = {"B-1": {"book_id": "B-1", "title": "Emma", "copies": 9}}
    lend = Call(tool="lend_book", arguments={"book_id": "B-1", "member_id": "M-1", "due": "2025-04-15"})
    assert asked_besides(witness=[lend], state=only) == [], (
        "there is nothing else to lend and nobody to lend it to"
    )


@pytest.mark.parametrize("body", ["while True: pass", "raise ValueError", "return {'success': False}"])
def test_tools_that_hang_break_or_refuse_give_none(body: str) -> None:
    source = (
        "class Pots:\n    def __init__(self):\n        self.pots = {}\n"
        "    def fill(self, pot: str):\n        self.pots['a']['n'] += 1\n        return {'success': True}\n"
        f"    def other(self, pot: str):\n        self.pots['b'] = {{}}\n        {body}\n"
    )
    world = skeleton(source, "Pots")
    fill = Call(tool="fill", arguments={"pot": "a"})
    state = {"pots": {"a": {"n": 1}, "b": {"n": 1}}}
    assert asked_besides(world, [fill], state, timeout=0.2) == []


def test_a_call_besides_is_killed_by_the_guard_or_shown_alive() -> None:
    certificate = certify(LIBRARY, library.scenario())
    besides = [kill for kill in certificate.kills if kill.kind == UNASKED]
    assert besides and certificate.valid, certificate.reasons
    for kill in besides:
        if "lend_book" in kill.what:
            # `loans/+` and the counter are free, and no check counts the loans.
            assert kill.killers == []
        else:
            assert "bystanders" in kill.killers
    line = next(proof for proof in certificate.proofs if proof.name == "mutants killed")
    assert "by a call more that changes only what `may_change` frees" in line.detail


def test_a_check_that_counts_what_was_added_kills_a_call_besides() -> None:
    count = Check(
        item="Is there one new loan only?",
        kind="guard",
        source="def check_func(final_state):\n    return len(final_state.get('loans') or {}) <= 4\n",
    )
    certificate = certify(LIBRARY, library.scenario(checks=[*library.scenario().checks, count]))
    assert certificate.valid and all(kill.killers for kill in certificate.kills if kill.kind == UNASKED)


def test_a_call_besides_that_spoils_a_freed_table_is_within_reach() -> None:
    changed = {"loans/L-3": {"changed": {"out": [True, False]}}, "log/4": {"added": {}}}
    one = Unasked(Call(tool="t", arguments={}), {}, changed)
    assert one.spoils(["loans"]) and not one.spoils(["log", "members"])
    made = library.scenario(may_change=["loans", "next_loan"])
    line = next(proof for proof in certify(LIBRARY, made).proofs if proof.name == "mutants killed")
    assert line.status == "failed" and f"[{UNASKED}] return_book" in line.detail


# Tables that are free as a whole


def by_state(condition: str, kind: str = "guard") -> Check:
    """A check on the `loans` and the `books`, each a dict whatever there is."""
    return Check(
        item=condition,
        kind=kind,
        source=(
            "def check_func(final_state):\n"
            "    def table(state, name):\n"
            "        held = state.get(name)\n"
            "        return held if isinstance(held, dict) else {}\n"
            "    loans, books = table(final_state, 'loans'), table(final_state, 'books')\n"
            "    old = table(initial_state, 'loans')\n"
            f"    return {condition}\n"
        ),
    )


def certified(may_change: list[str], *checks: Check) -> tuple[Certificate, Proof]:
    made = library.scenario(may_change=may_change, checks=[*library.scenario().checks, *checks])
    certificate = certify(LIBRARY, made)
    return certificate, next(proof for proof in certificate.proofs if proof.name == "freed tables guarded")


def test_where_no_table_is_free_there_is_nothing_to_guard() -> None:
    certificate, line = certified(library.MAY_CHANGE)
    assert (line.status, line.figure) == ("proved", None)
    assert not any(kill.kind in FREED for kill in certificate.kills)


@pytest.mark.parametrize("table", ["loans", "books", "members"])
def test_a_freed_table_whose_records_nobody_guards_is_refused_and_named(table: str) -> None:
    others = [one for one in library.MAY_CHANGE if table != "loans" or not one.startswith("loans")]
    certificate, line = certified([*others, table])
    assert not certificate.valid and line.status == "failed" and line.figure is not None and line.figure < 1
    assert f"] {table}/" in line.detail and "`table/+`" in line.detail
    alive = {kill.kind for kill in certificate.survivors}
    assert alive & set(FREED)


GUARD = by_state("all(loans.get(k) == old[k] for k in old if k != 'L-1')")


def test_a_freed_table_that_a_guard_looks_after_is_not() -> None:
    certificate, line = certified(["loans", "next_loan"], GUARD)
    assert certificate.valid and line.figure == 1.0, certificate.reasons
    assert {kill.kind for kill in certificate.kills} >= set(FREED)


@pytest.mark.parametrize(
    "condition",
    [
        "old.keys() <= loans.keys()",
        "all(dict(loans[k])['out'] == old[k]['out'] for k in loans if k in old and k != 'L-1')",
    ],
)  # fmt: skip
def test_a_guard_that_looks_at_a_part_of_it_is_not_enough(condition: str) -> None:
    certificate, line = certified(["loans", "next_loan"], by_state(condition))
    assert not certificate.valid and line.status == "failed" and 0 < (line.figure or 0) < 1


LOG = """
class Shop:
    def __init__(self, initial_state=None):
        self.goods: dict[str, dict] = {}
        self.log: list = []
        self.next_ids: dict[str, int] = {}

    def price(self, good_id: str, price: float):
        '''Price.

        Args:
            good_id: The good.
            price: What it costs.
        '''
        if good_id not in self.goods:
            return {"success": False, "error": "No such good."}
        self.goods[good_id]["price"] = price
        self.log.append({"good": good_id, "n": self.next_ids["log"]})
        self.next_ids["log"] += 1
        return {"success": True}
"""
SHOP_STATE = {
    "goods": {f"G-{n}": {"good_id": f"G-{n}", "price": float(n)} for n in range(1, 4)},
    "log": [{"good": "G-1", "n": 1}, {"good": "G-2", "n": 2}],
    "next_ids": {"log": 3, "good": 4},
}


def shop(may_change: list[str]) -> Certificate:
    world = skeleton(LOG, "Shop")
    source = (
        "def check_func(final_state):\n    goods = final_state.get('goods')\n"
        "    row = goods.get('G-1') if isinstance(goods, dict) else None\n"
        "    return isinstance(row, dict) and row.get('price') == 9.5\n"
    )
    made = Scenario(
        skeleton_id=world.id,
        initial_state=SHOP_STATE,
        task="Let G-1 cost 9.5.",
        checks=[Check(item="Does G-1 cost 9.5?", source=source)],
        may_change=["goods/G-1", *may_change],
        witness=[Call(tool="price", arguments={"good_id": "G-1", "price": 9.5})],
    )
    return certify(world, made)


def test_a_log_is_free_for_what_is_added_and_a_counter_as_it_is() -> None:
    certificate = shop(["log/+", "next_ids"])
    failed = {proof.name for proof in certificate.proofs if proof.status != "proved"}
    assert "freed tables guarded" not in failed and "something must survive" not in failed


def test_a_log_that_is_free_as_a_whole_may_be_forged_and_is_refused() -> None:
    certificate = shop(["log", "next_ids"])
    line = next(proof for proof in certificate.proofs if proof.name == "freed tables guarded")
    assert line.status == "failed" and "log/0" in line.detail and "next_ids" not in line.detail


def test_which_tables_are_free_as_a_whole() -> None:
    state = {
        "a/b": {"x": {}},
        "log": [1],
        "empty": {},
        "n": 3,
        "next_ids": {"loan": 4},
        "stock": {"apple": 4},
    }
    every = ["a~1b", "log", "empty", "n", "next_ids", "stock"]
    assert freed_tables(state, every) == ["a/b", "log", "stock"]
    assert freed_tables(state, ["log/+", "stock/apple", "a/b"]) == []
