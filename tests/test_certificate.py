"""Certificates and witnesses: what a scenario's fault is, the certificate names; a sound one is proved."""

import library
import pytest
import worlds
from worlds import STATE, rule, scenario, skeleton

from envscaler.error import ParameterError
from envscaler.record import map_references, references
from envscaler.schema import Call, Certificate, Check, Kill, Proof, Scenario, Skeleton
from envscaler.world.certificate import certify, garbage, wiped
from envscaler.world.environment import Environment
from envscaler.world.proving.proofs import MUTATED, OTHERWISE, PLAYED
from envscaler.world.witness import play, renumbered, resolve, succeeded

LIBRARY = library.skeleton()
ITEMS = list(library.ITEMS)


def goal(body: str, kind: str = "goal") -> Check:
    return Check(item=body, source=f"def check_func(final_state):\n    return {body}", kind=kind)


def lines(made: Scenario, world: Skeleton = LIBRARY, **options: object) -> dict[str, Proof]:
    return {proof.name: proof for proof in certify(world, made, **options).proofs}


def failed(made: Scenario, world: Skeleton | None = None) -> set[str]:
    return {proof.name for proof in certify(world or skeleton(), made).proofs if proof.status != "proved"}


# What is sound


def test_a_sound_scenario_is_certified() -> None:
    certificate = certify(LIBRARY, library.scenario())
    assert certificate.valid, certificate.reasons
    assert {*PLAYED, *OTHERWISE, *MUTATED} <= {proof.name for proof in certificate.proofs}
    assert len(certificate.kills) >= 20 and not any("call" in kill.kind for kill in certificate.survivors)
    assert {item for kill in certificate.kills for item in kill.killers} == {*ITEMS, "bystanders"}
    assert len({(kill.kind, kill.what) for kill in certificate.kills}) == len(certificate.kills)


def test_the_witness_is_kept_as_it_was_resolved() -> None:
    witness = [*library.scenario().witness[:5], Call(**library.WITNESS[5], free=["due"])]
    resolved = certify(LIBRARY, library.scenario(witness=witness)).resolved
    assert [call.tool for call in resolved] == [call.tool for call in witness]
    assert references([call.arguments for call in resolved]) == []
    assert resolved[5].arguments["member_id"] == "M-1" and resolved[5].free == ["due"]


def test_the_same_seed_gives_the_same_certificate() -> None:
    one, again, other = (certify(LIBRARY, library.scenario(), seed=seed) for seed in (0, 0, 1))
    assert one == again and one.kills != other.kills and other.valid


def test_the_guard_for_bystanders_is_the_only_one_where_the_author_has_none() -> None:
    goals = [check for check in library.scenario().checks if check.kind == "goal"]
    certificate = certify(LIBRARY, library.scenario(checks=goals))
    assert not any(p.name == "each guard broken" and p.status != "proved" for p in certificate.proofs)


# What is not


GOAL = scenario().checks[0]


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        (
            {"checks": []},
            {"has a goal", "nothing done", "database wiped", "garbage written", "witness replayed"},
        ),
        ({"checks": [goal("True")]}, {"nothing done", "goals open, guards whole at reset", "leave one out"}),
        (
            {"checks": [GOAL, goal("len(final_state['loans']) == 5", "guard")]},
            {"goals open, guards whole at reset", "witness replayed", *OTHERWISE, *MUTATED},
        ),
        (
            {"checks": [GOAL, goal("final_state['books']['B-1']['copies'] == 1")]},
            {"checks always answer", "database wiped"},
        ),
        ({"may_change": ["books", "members", "loans", "counter"]}, {"something must survive"}),
        ({"may_change": []}, {"witness replayed", "witness with another seed"}),
        ({"witness": []}, {*PLAYED, *OTHERWISE, *MUTATED}),
        ({"witness": [Call(tool="nope", arguments={})]}, {*PLAYED, *OTHERWISE, *MUTATED}),
        ({"witness": scenario().witness + scenario().witness[1:]}, {"leave one out"}),
        (
            {"witness": [Call(tool="get_book", arguments={"book_id": "B-1"})]},
            {"witness replayed", "leave one out"},
        ),
        ({"initial_state": {**STATE, "books": {}}}, {"witness replayed"}),
    ],
)
def test_every_fault_has_its_line(changes: dict, names: set[str]) -> None:
    found = failed(scenario(**changes))
    assert names <= found, found


def test_without_a_goal_the_reason_is_that_there_is_none() -> None:
    guards = [check for check in library.scenario().checks if check.kind == "guard"]
    for checks in ([], guards):
        found = lines(library.scenario(checks=checks))
        told = " ".join(found[name].detail for name in ("nothing done", "database wiped", "witness replayed"))
        assert "there is no goal" in told and "broke" not in told, told


def test_without_a_witness_nothing_is_failed_that_was_not_tried() -> None:
    found = lines(library.scenario(witness=[]))
    assert {name for name, p in found.items() if p.status == "unproved"} == {*PLAYED, *OTHERWISE, *MUTATED}
    assert not any(proof.status == "failed" for proof in found.values())


def test_what_an_agent_may_do_unpunished_fails_and_is_named() -> None:
    twice = lines(scenario(), skeleton())["mutants killed"]
    assert twice.status == "failed" and "[call doubled] call 1 (lend)" in twice.detail
    item = ITEMS[1]
    careless = Check(item=item, source=library.ITEMS[item][1].replace("and x.get('due') == '2025-04-15'", ""))
    checks = [careless if check.item == item else check for check in library.scenario().checks]
    line = lines(library.scenario(checks=checks))["mutants killed"]
    assert line.status == "failed" and "call 5 (lend_book).due" in line.detail and line.figure is not None
    free = [*library.scenario().witness[:5], Call(**library.WITNESS[5], free=["due"])]
    certificate = certify(LIBRARY, library.scenario(checks=checks, witness=free))
    assert certificate.valid, certificate.reasons


DESKS = """
class Desks:
    def __init__(self, initial_state=None):
        self.desks: dict[str, dict] = {}
        self.bookings: dict[str, dict] = {}

    def list_desks(self, floor: int | None = None):
        '''List free desks.

        Args:
            floor: Only this floor.
        '''
        found = [dict(d) for d in self.desks.values() if d["free"] and floor in (None, d["floor"])]
        return {"success": True, "data": found}

    def book(self, desk_id: str, name: str):
        '''Book a desk.

        Args:
            desk_id: The desk.
            name: For whom.
        '''
        if not self.desks.get(desk_id, {}).get("free"):
            return {"success": False, "error": "No such free desk."}
        self.desks[desk_id]["free"] = False
        key = f"BK-{len(self.bookings) + 1}"
        self.bookings[key] = {"booking_id": key, "desk_id": desk_id, "name": name}
        return {"success": True, "data": key}
"""


@pytest.mark.parametrize("free", [[], ["desk_id"]])
def test_a_choice_that_the_task_leaves_open_is_no_mutant_however_it_is_made(free: list[str]) -> None:
    world = skeleton(DESKS, "Desks")
    source = (
        "def check_func(final_state):\n    made = list((final_state.get('bookings') or {}).values())\n"
        "    desks = (final_state.get('desks') or {}).items()\n"
        "    taken = [k for k, d in desks if isinstance(d, dict) and not d.get('free')]\n"
        "    return (len(made) == 1 and isinstance(made[0], dict) and made[0].get('name') == 'Ada'\n"
        "            and taken == [made[0].get('desk_id')])\n"
    )
    desks = {f"D-{n}": {"desk_id": f"D-{n}", "floor": n % 2, "free": True} for n in range(1, 7)}
    made = Scenario(
        skeleton_id=world.id,
        initial_state={"desks": desks, "rooms": {"R-1": {"room_id": "R-1"}}},
        task="Book any free desk for Ada.",
        checks=[Check(item="Has Ada a desk?", source=source)],
        may_change=["desks", "bookings/+"],
        witness=[
            Call(tool="list_desks", arguments={"floor": 1}),
            Call(
                tool="book",
                arguments={"desk_id": {"$from": [0, "data", 0, "desk_id"]}, "name": "Ada"},
                free=free,
            ),
        ],
    )
    line = lines(made, world)["mutants killed"]
    assert ("[call" in line.detail) is not free and line.status == ("proved" if free else "failed"), (
        line.detail
    )
    assert (lines(made, world)["solved otherwise: free arguments"].figure == 1.0) is bool(free)


def test_survivors_out_of_reach_lower_the_share_and_do_not_fail_alone() -> None:
    # The last copy is lent, so no agent can bring about a second loan like the new one.
    certificate = certify(LIBRARY, library.scenario())
    line = next(p for p in certificate.proofs if p.name == "mutants killed")
    assert any(kill.what == "loans/L-5, a copy of loans/L-4" for kill in certificate.survivors)
    assert (
        line.status == "proved"
        and 0.7 < (line.figure or 0) < 1
        and "0 within an agent's reach" in line.detail
    )


def test_a_goal_that_another_one_makes_superfluous_is_named() -> None:
    weak = Check(
        item="Is there any new loan?",
        source="def check_func(final_state):\n    return len(final_state.get('loans') or {}) > 3\n",
    )
    line = lines(library.scenario(checks=[*library.scenario().checks, weak]))["each goal needed"]
    assert line.status == "failed" and line.detail.startswith(weak.item) and ITEMS[1] in line.detail
    assert line.figure == pytest.approx(2 / 3)


def test_a_guard_that_nothing_breaks_is_named() -> None:
    idle = Check(item="Is all well?", kind="guard", source="def check_func(final_state):\n    return True\n")
    line = lines(library.scenario(checks=[*library.scenario().checks, idle]))["each guard broken"]
    assert line.status == "failed" and line.detail == "Is all well? is broken by no mutant"


def test_a_guard_over_a_whole_table_is_broken_by_emptying_it() -> None:
    few = Check(
        item="Are there still books?",
        kind="guard",
        source="def check_func(final_state):\n    return bool(final_state.get('books'))\n",
    )
    certificate = certify(LIBRARY, library.scenario(checks=[*library.scenario().checks, few]))
    assert certificate.valid, certificate.reasons
    assert any(kill.kind == "table emptied" and few.item in kill.killers for kill in certificate.kills)


def test_a_check_that_breaks_on_a_mutant_is_named_with_it() -> None:
    source = (
        "def check_func(final_state):\n    loans = final_state.get('loans') or {}\n"
        "    if isinstance(loans.get('L-4'), dict) and loans['L-4'].get('member_id') == 'M-2':\n"
        "        raise ValueError('boom')\n    return isinstance(loans.get('L-4'), dict)\n"
    )
    line = lines(library.scenario(checks=[Check(item="Lent?", source=source), *library.scenario().checks]))
    broken = line["checks always answer"]
    assert (
        broken.status == "failed"
        and "Lent? (call on another entity" in broken.detail
        and "boom" in broken.detail
    )


def test_a_check_that_hangs_on_some_mutants_does_not_hang_the_certificate() -> None:
    source = (
        "def check_func(final_state):\n    loans = final_state.get('loans') or {}\n"
        "    while 'L-4' in loans and loans['L-4'].get('due') != '2025-04-15':\n        pass\n"
        "    return 'L-4' in loans\n"
    )
    checks = [Check(item="Lent?", source=source), *library.scenario().checks]
    broken = lines(library.scenario(checks=checks), timeout=0.3)["checks always answer"]
    assert broken.status == "failed" and "Lent?" in broken.detail and "did not finish" in broken.detail


def test_a_world_that_does_not_load_is_said_so() -> None:
    broken = skeleton(
        "class Library:\n    def __init__(self):\n        raise ValueError\n    def run(self): pass"
    )
    assert [p.name for p in certify(broken, scenario()).proofs] == ["loads"]


def test_a_witness_that_hangs_the_world_is_said_so() -> None:
    world = worlds.tool("while True: pass")
    made = Scenario(
        skeleton_id=world.id,
        initial_state={"things": {}, "n": 0},
        task="Run.",
        checks=[goal("final_state['n'] == 3")],
        witness=[Call(tool="run", arguments={})] * 3,
    )
    line = lines(made, world, timeout=0.2)["witness replayed"]
    assert line.status == "failed" and "3 times" in line.detail


def test_what_could_not_be_tried_for_calls_hang_is_unproved() -> None:
    body = "while key not in self.books: pass"
    source = (
        "class Shelf:\n    def __init__(self):\n        self.books, self.seen = {}, {}\n"
        f"    def put(self, key: str, n: int):\n        {body}\n        self.books[key]['n'] = n\n"
        "        return {'success': True}\n"
        f"    def look(self, key: str):\n        {body}\n        self.seen[key] = 1\n"
        "        return {'success': True}\n"
    )
    world = skeleton(source, "Shelf")
    look, put = Call(tool="look", arguments={"key": "b"}), Call(tool="put", arguments={"key": "a", "n": 7})
    made = Scenario(
        skeleton_id=world.id,
        initial_state={"books": {"a": {"n": 1}, "b": {"n": 2}}, "seen": {}},
        task="Set a to 7.",
        checks=[goal("final_state['books'].get('a', {}).get('n') == 7")],
        may_change=["books/a", "seen/+"],
        witness=[look, put],
    )
    found = lines(made, world, timeout=0.3)
    # `look` is needless, but wrong keys hang the world before that is seen.
    assert found["leave one out"].status == "unproved" and "hung" in found["leave one out"].detail
    assert found["solved otherwise: done and undone"].status == "unproved"
    assert found["solved otherwise: later clock"].status == "proved"


def test_rules_are_watched_along_the_witness() -> None:
    good = skeleton(
        rules=[
            rule(
                "def invariant(before, after, call):\n    return all(b['copies'] >= 0 for b in after['books'].values())"
            )
        ]
    )
    bad = skeleton(rules=[rule("def invariant(before, after, call):\n    return after['counter'] == 0")])
    assert "rules hold along the witness" not in failed(scenario(), good)
    assert "rules hold along the witness" in failed(scenario(), bad)


def test_rules_see_each_call_with_the_states_around_it() -> None:
    body = (
        "return call['tool'] != 'lend' or (after['counter'] == before['counter'] + 1"
        " and call['reply']['success'] and call['arguments']['member'] == 7)"
    )
    watching = skeleton(rules=[rule(f"def invariant(before, after, call):\n    {body}")])
    assert "rules hold along the witness" not in failed(scenario(), watching)


# Worlds of every kind


ODD = '''
class Odd:
    def __init__(self, initial_state=None):
        self.люди: dict[int, dict] = {}
        self.список = []
        self.empty = {}
        self.settings = {"цвет": "синий"}
        self.n = 0

    def add(self, имя: str, amount: float, tags: list[str] | None = None):
        """Add somebody.

        Args:
            имя: The name.
            amount: An amount.
            tags: Some tags.
        """
        key = max(self.люди, default=0) + 1
        self.люди[key] = {"id": key, "имя": имя, "amount": amount, "tags": tags or [], "more": {"deep": [{"x": key}]}}
        self.список.append({"id": len(self.список) + 1, "who": key})
        return {"success": True, "data": key}
'''


def test_numbers_for_keys_lists_for_tables_and_other_alphabets() -> None:
    world = skeleton(ODD, "Odd")
    state = {
        "люди": {"1": {"id": 1, "имя": "Ася", "amount": 2.5, "tags": ["é"], "more": {}}},
        "список": [],
        "n": 0,
    }
    source = (
        "def check_func(final_state):\n"
        "    new = [x for k, x in final_state.get('люди', {}).items() if k not in initial_state['люди']]\n"
        "    rows = final_state.get('список', [])\n"
        "    return (len(new) == 1 and new[0].get('имя') == 'Ёж' and new[0].get('amount') == 7.5\n"
        "            and new[0].get('tags') == ['ж', 'з']\n"
        "            and new[0].get('more') == {'deep': [{'x': new[0].get('id')}]}\n"
        "            and [row.get('who') for row in rows if isinstance(row, dict)] == [new[0].get('id')])\n"
    )
    made = Scenario(
        skeleton_id=world.id,
        initial_state=state,
        task="Add the hedgehog.",
        checks=[Check(item="Есть ли ёж?", source=source)],
        may_change=["люди/+", "список/+"],
        witness=[Call(tool="add", arguments={"имя": "Ёж", "amount": 7.5, "tags": ["ж", "з"]})],
    )
    certificate = certify(world, made)
    assert certificate.valid, certificate.reasons
    assert len(certificate.kills) >= 20


def test_states_of_a_megabyte_are_certified() -> None:
    books = {
        f"B-{n}": {"book_id": f"B-{n}", "title": f"Title {n} " + "x" * 60, "copies": 2}
        for n in range(3, 8000)
    }
    state = {**library.STATE, "books": {**library.STATE["books"], **books}}
    certificate = certify(LIBRARY, library.scenario(initial_state=state))
    assert certificate.valid, certificate.reasons


# Reading a certificate


def test_kills_are_counted_by_kind_and_survivors_shown() -> None:
    certificate = Certificate(
        proofs=[Proof(name="x", status="proved")],
        kills=[
            Kill(kind="call dropped", what="call 1 (<b>)", killers=["A?"]),
            Kill(kind="call dropped", what="call 2 (<b>)", killers=[]),
            Kill(kind="date shifted", what="t/a.due", killers=["bystanders"]),
        ],
    )
    assert certificate.kinds == {"call dropped": (2, 1), "date shifted": (1, 1)}
    assert [kill.what for kill in certificate.survivors] == ["call 2 (<b>)"]
    shown = certificate._repr_html_()
    assert "call 2 (&lt;b&gt;)" in shown and "75% on average, 50% at least" in shown and "call 1" not in shown


def test_wiped_and_garbage() -> None:
    state = {"t": {"a": {"x": 1, "y": "b", "z": True}}, "l": [1], "n": 3}
    assert wiped(state) == {"t": {}, "l": [], "n": 3}
    spoilt = garbage(state)
    assert spoilt["t"]["a"]["x"] != 1 and spoilt["t"]["a"]["y"] != "b" and spoilt["t"]["a"]["z"] is False
    assert state["t"]["a"]["x"] == 1


# Witnesses


def test_references_are_resolved() -> None:
    replies = [{"data": [{"id": "A"}]}, {"n": 0}]
    call = Call(
        tool="t",
        arguments={
            "a": {"$from": [0, "data", 0, "id"]},
            "b": [{"c": {"$from": [1, "n"]}}],
            "d": {"$from": [1]},
        },
        free=["d"],
    )
    assert resolve(call, replies).arguments == {"a": "A", "b": [{"c": 0}], "d": {"n": 0}}
    assert resolve(call, replies).free == ["d"]


@pytest.mark.parametrize(
    "way", [[], [5], [0, "nope"], [0, "data", 9], [-1], "x", [True, "n"], [0, "data", "0"], [0, "data", -1]]
)
def test_a_reference_that_leads_nowhere_is_told(way: object) -> None:
    with pytest.raises(ParameterError):
        resolve(Call(tool="t", arguments={"a": {"$from": way}}), [{"data": [1]}, {"n": 0}])


def test_only_an_object_of_the_one_key_is_a_reference() -> None:
    value = {"a": [{"$from": [0, "n"]}], "b": {"$from": [1], "more": {"$from": [2]}}, "c": "$from"}
    assert references(value) == [[0, "n"], [2]]
    assert map_references(value, len) == {"a": [2], "b": {"$from": [1], "more": 1}, "c": "$from"}


def test_references_are_counted_anew_and_nonsense_is_left_as_it_is() -> None:
    call = Call(
        tool="t", arguments={"a": {"$from": [2, "x"]}, "b": {"$from": "nonsense"}, "c": {"$from": [0]}}
    )
    moved = renumbered(call, {2: 5}.get).arguments
    assert moved == {"a": {"$from": [5, "x"]}, "b": {"$from": "nonsense"}, "c": "missing result of call 0"}


def test_play_goes_on_after_a_refusal() -> None:
    witness = [
        Call(tool="lend", arguments={"book_id": "B-9", "member": 7}),
        Call(tool="take_back", arguments={"loan_id": {"$from": [0, "data", "loan_id"]}}),
        Call(tool="lend", arguments={"book_id": "B-2", "member": 7}),
        Call(tool="take_back", arguments={"loan_id": {"$from": [2, "data", "loan_id"]}}),
    ]
    with Environment(skeleton(), scenario()) as world:
        played = play(world, witness)
    assert played.refused == 0 and [succeeded(reply) for reply in played.replies] == [
        False,
        False,
        True,
        True,
    ]
    assert played.diffs[0] == {} and played.diffs[1] == {} and played.diffs[2]
    assert played.calls[3].arguments["loan_id"].startswith("L-")


def test_a_play_goes_on_from_replies_that_are_known() -> None:
    rest = [Call(tool="lend", arguments={"book_id": "B-2", "member": {"$from": [0, "data", "number"]}})]
    with Environment(skeleton(), scenario()) as world:
        played = play(world, rest, [{"data": {"number": 7}}])
        refused = play(world, rest, [{"data": {}}])
    assert played.refused is None and len(played.replies) == 2 and played.calls[0].arguments["member"] == 7
    assert refused.refused == 1


DEPOT = '''
from datetime import datetime, timedelta


class Depot:
    """Keeps loans with a due time, tags by their slug, and what was taken in."""

    def __init__(self, initial_state: dict | None = None) -> None:
        self.loans: dict = {}
        self.tags: dict = {}
        self.sales: list = []
        self.total = 0
        for name, value in (initial_state or {}).items():
            setattr(self, name, value)

    def renew(self, loan_id: str, days: int) -> dict:
        """Renew a loan."""
        if loan_id not in self.loans:
            return {"success": False, "error": "no such loan"}
        loan = self.loans[loan_id]
        loan["due"] = (datetime.now() + timedelta(days=days)).isoformat()
        loan["renewals"] += 1
        return {"success": True, "data": dict(loan)}

    def add_tag(self, title: str) -> dict:
        """Add a tag."""
        self.tags[title.lower().replace(" ", "-")] = {"title": title}
        return {"success": True}

    def sell(self, seats: int) -> dict:
        """Sell seats."""
        self.sales.append({"seats": seats})
        self.total += seats
        return {"success": True, "data": self.total}
'''
DEPOT_STATE = {
    "loans": {
        "L1": {"due": "2025-06-01T00:00:00", "renewals": 0},
        "L2": {"due": "2025-06-01T00:00:00", "renewals": 0},
    },
    "tags": {"old": {"title": "Old"}},
    "sales": [{"seats": 2}],
    "total": 7,
}


def depot(witness: Call, *checks: Check, may_change: list[str]) -> set[str]:
    world = worlds.skeleton(DEPOT)
    made = scenario(
        world, initial_state=DEPOT_STATE, checks=list(checks), may_change=may_change, witness=[witness]
    )
    return {proof.name for proof in certify(world, made).proofs if proof.status != "proved"}


def test_an_argument_that_only_moves_a_time_is_tested_as_well() -> None:
    check = goal(
        "final_state['loans']['L1']['renewals'] == 1 if 'L1' in final_state.get('loans', {}) else False"
    )
    wide = depot(Call(tool="renew", arguments={"loan_id": "L1", "days": 14}), check, may_change=["loans/L1"])
    assert "mutants killed" in wide
    left_open = Call(tool="renew", arguments={"loan_id": "L1", "days": 14}, free=["days"])
    assert "mutants killed" not in depot(left_open, check, may_change=["loans/L1"])


def test_an_amount_is_no_counter_of_the_rows_that_were_added() -> None:
    check = goal("type(final_state.get('total')) is int and final_state['total'] > 7")
    assert "mutants killed" in depot(
        Call(tool="sell", arguments={"seats": 1}), check, may_change=["total", "sales"]
    )


def test_a_key_that_is_made_of_what_was_given_is_not_generated() -> None:
    check = goal(
        "'new-tag' in (final_state.get('tags') or {}) and final_state['tags']['new-tag'] == {'title': 'New tag'}"
    )
    failed = depot(Call(tool="add_tag", arguments={"title": "New tag"}), check, may_change=["tags/+"])
    assert "solved otherwise: other ids" not in failed
