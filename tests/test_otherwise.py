"""The task solved otherwise: what is shown right by execution is tried, what is not is left alone."""

import library
import pytest
import worlds

from envscaler.schema import Call, Check, Skeleton
from envscaler.world.certificate import certify
from envscaler.world.change import State, same
from envscaler.world.environment import Environment
from envscaler.world.proving.alike import Alike
from envscaler.world.proving.otherwise import FAMILIES, Otherwise, Ways, free_values
from envscaler.world.witness import Branches, play

WORLD = library.skeleton()
ROOMS = """
class Rooms:
    def __init__(self, initial_state=None):
        self.rooms: dict[str, dict] = {}

    def set_rate(self, room_id: str, rate: float):
        '''Set.

        Args:
            room_id: Room.
            rate: Rate.
        '''
        self.rooms[room_id]['rate'] = rate
        return {'success': True}
"""
WITNESS = [Call(**call) for call in library.WITNESS]


def ways(
    witness: list[Call], world: Skeleton = WORLD, state: State = library.STATE, seed: int = 0
) -> dict[str, list[Otherwise]]:
    with Environment(world, state) as environment:
        environment.reset()
        initial = environment.view
        branches = Branches(environment, witness)
        assert branches.played.refused is None
        alike = Alike(initial, branches.final)
        with Environment(world, state, seed=seed + 1, start=2e9) as later:
            play(later, witness)
            alike.loosen(branches.final, later.state)
        found = [*free_values(world, branches, alike, seed), *Ways(world, branches, alike, seed).all()]
    return {family: [way for way in found if way.family == family] for family in FAMILIES}


def test_every_family_that_there_is_a_way_for_is_tried() -> None:
    found = ways(WITNESS)
    assert {family: bool(tried) for family, tried in found.items()} == {
        "calls reordered": True,
        "reads inserted": True,
        "refused calls inserted": True,
        "done and undone": False,  # a loan that is closed stays
        "other ids": True,
        "later clock": False,  # plays of their own
        "free arguments": False,
    }


def test_calls_that_depend_on_each_other_stay_in_order() -> None:
    # Emma has one copy: it must come back before it can be lent.
    for way in ways(WITNESS)["calls reordered"]:
        order = [int(n) for n in way.what.removeprefix("in the order ").split(", ")]
        assert sorted(order) == list(range(6)) and order != sorted(order)
        assert order.index(2) < order.index(5) and order.index(1) < order.index(2)


def test_an_order_that_changes_the_end_is_not_tried() -> None:
    world = worlds.skeleton(
        "class Notes:\n    def __init__(self, initial_state=None):\n        self.note = ''\n\n"
        "    def write(self, text: str):\n        '''Write.\n\n        Args:\n            text: T.\n        '''\n"
        "        self.note = text\n        return {'success': True}\n"
    )
    calls = [Call(tool="write", arguments={"text": text}) for text in ("a", "b")]
    assert ways(calls, world, {"note": ""})["calls reordered"] == []


def test_generated_ids_change_places_with_the_order() -> None:
    world = worlds.skeleton()
    calls = [Call(tool="lend", arguments={"book_id": book, "member": 7}) for book in ("B-1", "B-2")]
    [first, *_] = ways(calls, world, worlds.STATE)["calls reordered"]
    assert sorted(loan["book_id"] for loan in first.final["loans"].values()) == ["B-1", "B-2"]


def test_a_change_is_taken_back_by_a_tool_that_is_found() -> None:
    world = worlds.skeleton()
    calls = [Call(tool="lend", arguments={"book_id": "B-1", "member": 7})]
    [way] = ways(calls, world, worlds.STATE)["done and undone"]
    assert way.what == "call 0 (lend), take_back, and again"
    assert (
        len(way.final["loans"]) == 1
        and way.final["books"]["B-1"]["copies"] == 1
        and way.final["counter"] == 2
    )


def test_a_setter_takes_itself_back_with_the_old_value() -> None:
    world = worlds.skeleton(ROOMS)
    calls = [Call(tool="set_rate", arguments={"room_id": "R-1", "rate": 90.5})]
    [way] = ways(calls, world, {"rooms": {"R-1": {"rate": 80.0}, "R-2": {"rate": 1.0}}})["done and undone"]
    assert way.what == "call 0 (set_rate), set_rate, and again" and way.final["rooms"]["R-1"]["rate"] == 90.5


def test_what_leaves_a_trace_is_not_taken_back() -> None:
    # return_book cannot be undone by lend_book: the loan would be another one.
    assert all("call 2" not in way.what for way in ways(WITNESS[:3])["done and undone"])


def test_reads_and_refused_calls_change_nothing_here() -> None:
    found = ways(WITNESS)
    [whole] = [way.final for way in found["reads inserted"]]
    assert all(same(way.final, whole) for way in found["refused calls inserted"])
    assert "return_book before call 2" in found["refused calls inserted"][0].what


def test_other_ids_are_put_in_with_their_references() -> None:
    [way] = ways(WITNESS)["other ids"]
    assert "L-4" not in way.final["loans"] and way.final["loans"]["L-1004"]["loan_id"] == "L-1004"


def test_free_arguments_get_values_that_the_tool_accepts() -> None:
    free = [*WITNESS[:5], Call(**library.WITNESS[5], free=["due", "nothing of that name"])]
    tried = ways(free)["free arguments"]
    dues = {way.final["loans"]["L-4"]["due"] for way in tried}
    assert len(dues) >= 2 and "2025-04-15" not in dues
    members = [*WITNESS[:5], Call(**library.WITNESS[5], free=["member_id"])]
    borrowers = {way.final["loans"]["L-4"]["member_id"] for way in ways(members)["free arguments"]}
    assert borrowers == {"M-2"}  # M-3 may not borrow


def test_the_same_seed_finds_the_same_ways() -> None:
    told = [[way.what for tried in ways(WITNESS, seed=1).values() for way in tried] for _ in range(2)]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("family", "check"),
    [
        ("other ids", "return 'L-4' in (final_state.get('loans') or {})"),
        ("free arguments", "return '2025-04-15' in str(final_state.get('loans'))"),
    ],
)  # fmt: skip
def test_a_check_that_asks_for_more_than_the_task_is_found_by_its_family(family: str, check: str) -> None:
    strict = Check(item="Too strict?", source=f"def check_func(final_state):\n    {check}")
    witness = [*WITNESS[:5], Call(**library.WITNESS[5], free=["due"])]
    certificate = certify(WORLD, library.scenario(checks=[strict], witness=witness))
    line = next(p for p in certificate.proofs if p.name == f"solved otherwise: {family}")
    assert (
        line.status == "failed"
        and line.figure is not None
        and line.figure < 1
        and "Too strict?" in line.detail
    )


def test_a_check_that_any_one_of_several_free_arguments_meets_is_found_by_all_of_them_at_once() -> None:
    second = {"book_id": "B-2", "member_id": "M-1", "due": "2025-04-15"}
    witness = [
        *WITNESS[:5],
        Call(**library.WITNESS[5], free=["due"]),
        Call(tool="lend_book", arguments=second, free=["due"]),
    ]
    strict = Check(
        item="On that day?",
        source="def check_func(final_state):\n    return '2025-04-15' in str(final_state.get('loans'))",
    )
    certificate = certify(WORLD, library.scenario(checks=[strict], witness=witness))
    line = next(p for p in certificate.proofs if p.name == "solved otherwise: free arguments")
    assert line.status == "failed" and line.figure is not None and 0 < line.figure < 1
    assert "all of them at once: On that day?" in line.detail
    each = ways([*WITNESS[:5], Call(**library.WITNESS[5], free=["due"])])["free arguments"]
    assert "all of them at once" not in {way.what for way in each}, "there is one only"


def test_a_count_of_changes_is_found_by_doing_and_undoing() -> None:
    once = Check(
        item="Once?", source="def check_func(final_state):\n    return final_state.get('counter') == 1"
    )
    lines = {p.name: p for p in certify(worlds.skeleton(), worlds.scenario(checks=[once])).proofs}
    line = lines["solved otherwise: done and undone"]
    assert line.status == "failed" and line.figure == 0.0 and "take_back, and again: Once?" in line.detail


def test_a_later_clock_finds_a_check_that_asks_for_the_day() -> None:
    dated = Check(
        item="Lent on 2 June?",
        source="def check_func(final_state):\n    loans = final_state.get('loans', {}).values()\n"
        "    return any(isinstance(x, dict) and str(x.get('at')).startswith('2025-06-02') for x in loans)",
    )
    scenario = worlds.scenario(checks=[dated])
    lines = {p.name: p for p in certify(worlds.skeleton(), scenario).proofs}
    assert lines["solved otherwise: later clock"].status == "failed"
    assert lines["witness with another seed"].status == "proved"
    later = {p.name: p for p in certify(worlds.skeleton(), worlds.scenario()).proofs}
    assert later["solved otherwise: later clock"].figure == 1.0


def test_a_tool_that_hangs_is_not_tried_again_and_again_for_taking_a_change_back() -> None:
    source = (
        "class Pots:\n    def __init__(self):\n        self.pots = {}\n"
        "    def fill(self, pot: str, n: int):\n        self.pots[pot]['n'] += n\n        return {'success': True}\n"
        "    def drain(self, pot: str, n: int):\n        while True: self.pots\n"
        "    def empty(self, pot: str, n: int):\n        while True: self.pots\n"
    )
    world = worlds.skeleton(source, "Pots")
    world = world.replace(tools=[tool.model_copy(update={"mutates": True}) for tool in world.tools])
    state, call = {"pots": {"a": {"n": 1}}}, Call(tool="fill", arguments={"pot": "a", "n": 2})
    with Environment(world, state, timeout=0.2) as environment:
        branches = Branches(environment, [call, call])
        tried = []
        attempt = environment.attempt
        environment.attempt = lambda *given: tried.append(given[0]) or attempt(*given)
        assert not list(Ways(world, branches, Alike(state, branches.final)).undone())
    assert tried == ["fill", "drain"] * 2  # and not `empty` as well
