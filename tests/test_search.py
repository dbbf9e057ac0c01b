"""Looking for a witness: what is found is executed, what is not found is called so, and nothing is changed by trying.

Run: python -m pytest tests/test_search.py -q
"""

import pytest
from worlds import STATE, scenario, skeleton

from envscaler import release as published_data
from envscaler.episode import roll_out
from envscaler.error import ParameterError
from envscaler.schema import Call, Check, Scenario, Skeleton
from envscaler.scripted import IdleAgent, WitnessAgent
from envscaler.searching.search import calls_of, search_witness, touched_by, with_witness
from envscaler.world.certificate import certify
from envscaler.world.environment import Environment
from envscaler.world.witness import play

WITNESS = scenario().witness


def bare(**changes: object) -> Scenario:
    """The scenario as others publish theirs: no witness, nothing said on what may change."""
    return scenario(**{"witness": [], "may_change": [], **changes})


def check(item: str, body: str) -> Check:
    return Check(item=item, source=f"def check_func(final_state):\n    {body}")


def solves(world: Skeleton, made: Scenario, witness: list[Call], seed: int) -> bool:
    with Environment(world, made, seed=seed, reward="paper") as environment:
        environment.reset()
        play(environment, witness)
        return environment.finish()[1] == 1.0


def test_a_witness_is_found_executed_and_certified() -> None:
    world, made = skeleton(), bare()
    search = search_witness(world, made, budget=2000)
    assert search.solved and search.result == "solved" and search.found_by == "search"
    assert search.best == 1.0 and search.seen_true == [True] and 0 < search.calls <= 2000
    assert all(solves(world, made, search.witness, seed) for seed in (0, 1))
    assert search.certificate is not None and search.certificate.resolved
    proofs = {proof.name: proof.status for proof in search.certificate.proofs}
    assert proofs["witness replayed"] == proofs["witness with another seed"] == "proved"


def test_the_scenario_with_its_witness_says_what_it_touches() -> None:
    world, made = skeleton(), bare()
    whole = with_witness(made, search_witness(world, made, budget=2000))
    assert whole.may_change == ["books/B-1", "counter", "loans/+"]
    assert whole.certificate is not None
    again = certify(world, whole)
    assert [p.status for p in again.proofs] == [p.status for p in whole.certificate.proofs]


def test_a_declared_may_change_is_kept_to() -> None:
    made = bare(may_change=["books/B-2", "loans/+", "counter"])
    search = search_witness(skeleton(), made, budget=1500)
    assert not search.solved, "lending Dune changes a bystander"
    assert search.may_change == []


def test_what_cannot_be_solved_is_not_found_within_budget() -> None:
    made = bare(
        checks=[check("Has Emma been burnt?", "return final_state['books']['B-2'].get('title') == 'Ash'")]
    )
    search = search_witness(skeleton(), made, budget=300)
    assert search.result == "not found within budget" and not search.solved
    assert search.witness == [] and search.certificate is None and search.calls <= 300
    assert search.seen_true == [False] and search.best == 0.0


def test_checks_that_exclude_each_other_are_told() -> None:
    made = bare(
        checks=[
            check("Is nothing lent?", "return not final_state['loans']"),
            check("Has Dune been lent?", "return final_state['books']['B-1']['copies'] == 1"),
            check("And counted?", "return final_state['counter'] == 1"),
        ]
    )
    search = search_witness(skeleton(), made, budget=300)
    assert not search.solved and search.seen_true == [True, True, True]
    assert (0, 1) in search.never_together and all(one == 0 for one, _ in search.never_together)
    assert search_witness(skeleton(), bare(), budget=2000).never_together == []


def test_the_budget_is_kept_and_nothing_is_done_for_nothing() -> None:
    made = bare(checks=[check("Impossible?", "return len(final_state['books']) == 17")])
    assert search_witness(skeleton(), made, budget=7).calls <= 7
    with pytest.raises(ParameterError, match="at least 1"):
        search_witness(skeleton(), made, budget=0)


def test_generated_ids_become_references() -> None:
    """Lend, then take back: the loan's id is another one with another seed."""
    lent = "return final_state['counter'] == 1"
    taken = f"{lent} and not final_state['loans'] and final_state['books']['B-1']['copies'] == 2"
    made = bare(
        checks=[check("Has it been lent once?", lent), check("Has it come back?", taken)],
        task="Lend Dune and take it back.",
    )
    world = skeleton()
    search = search_witness(world, made, budget=4000)
    assert search.solved and [call.tool for call in search.witness] == ["lend", "take_back"]
    assert search.witness[1].arguments == {"loan_id": {"$from": [0, "data", "loan_id"]}}
    assert all(solves(world, made, search.witness, seed) for seed in (0, 3))


def test_a_found_witness_has_no_call_too_many() -> None:
    search = search_witness(skeleton(), bare(), budget=3000, recorded=[[*WITNESS, *WITNESS[:1], WITNESS[1]]])
    assert search.found_by == "recorded"
    assert [call.tool for call in search.witness] == ["get_member", "lend"], "the reference needs the read"


def test_recorded_calls_and_rollouts_are_witnesses_when_they_solve() -> None:
    world, made = skeleton(), bare()
    assert search_witness(world, made, budget=1, recorded=[list(WITNESS)]).found_by == "recorded"
    rollout = roll_out(world, scenario(world), WitnessAgent())
    assert rollout.reward == 1.0
    assert [call.tool for call in calls_of(rollout)] == ["get_member", "lend"]
    broken = rollout.trajectory[0].model_copy(
        update={"action": {"role": "assistant", "tool_calls": [{"id": 1}, 7]}}
    )
    assert calls_of(rollout.model_copy(update={"trajectory": [broken, *rollout.trajectory]})) == calls_of(
        rollout
    )
    assert search_witness(world, made, budget=1, recorded=[rollout]).found_by == "recorded"
    useless = [Call(tool="get_book", arguments={"book_id": "B-1"})]
    assert not search_witness(world, made, budget=1, recorded=[useless]).solved


def test_agents_that_are_given_try_first() -> None:
    class Lender:
        name = "lender"

        def act(self, messages, tools, *, seed):
            if any(m["role"] == "tool" for m in messages):
                return {"role": "assistant", "content": "Done."}
            function = {"name": "lend", "arguments": '{"book_id": "B-1", "member": 7}'}
            return {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": function}],
            }

    world, made = skeleton(), bare()
    assert search_witness(world, made, budget=2000, agents=[IdleAgent(), Lender()]).found_by == "lender"
    assert search_witness(world, made, budget=2000, agents=[IdleAgent()]).found_by == "search"


def test_the_same_search_finds_the_same() -> None:
    world, made = skeleton(), bare()
    one, other = (search_witness(world, made, budget=2000, seed=4) for _ in range(2))
    assert one == other


def test_a_tool_that_hangs_is_left_alone() -> None:
    source = (
        "class World:\n    def __init__(self, initial_state=None):\n        self.things: dict = {}\n\n"
        "    def hang(self, thing_id: str):\n        '''Hang.'''\n        while True:\n"
        "            self.things['x'] = 1\n\n"
        "    def make(self, thing_id: str):\n        '''Make.'''\n"
        "        self.things[thing_id] = {'thing_id': thing_id}\n        return {'success': True}\n"
    )
    world = skeleton(source)
    made = Scenario(
        skeleton_id=world.id, initial_state={"things": {}}, task="Make T-1.",
        checks=[check("Is there a T-1?", "return 'T-1' in final_state['things']")],
    )  # fmt: skip
    search = search_witness(world, made, budget=200)
    assert [call.tool for call in search.witness] == ["make"]


def test_what_a_solution_touches() -> None:
    final = {
        "books": {"B-1": {**STATE["books"]["B-1"], "copies": 1}},
        "members": STATE["members"],
        "loans": {"a/b": {}},
        "n": 2,
    }
    initial = {**STATE, "loans": {}, "n": 1}
    assert touched_by(initial, final) == ["books/B-1", "books/B-2", "loans/+", "n"]
    assert touched_by({"a~b": {"c/d": 1}}, {"a~b": {}}) == ["a~0b/c~1d"]
    assert touched_by(initial, initial) == []
    # What the guard for bystanders would complain of, and only that.
    assert touched_by({"a": {"k": {"x": False}}, "l": [1, 2]}, {"a": {"k": {"x": 0}}, "l": [1, 3]}) == [
        "a/k",
        "l",
    ]


def test_trying_a_call_changes_nothing_and_tells_what_making_it_would() -> None:
    with Environment(skeleton(), STATE, seed=5) as world:
        world.reset()
        before = world.state
        reply, diff, state = world.attempt("lend", {"book_id": "B-1", "member": 7})
        assert world.state == before and diff and state != before
        assert world.attempt("lend", {"book_id": "B-1", "member": 7}) == (reply, diff, state)
        assert world.call("lend", {"book_id": "B-1", "member": 7}) == reply
        assert (world.diff, world.state) == (diff, state)
        for name, arguments in (("lend", {"book_id": 5}), ("no_tool", {}), ("lend", "{")):
            reply, diff, state = world.attempt(name, arguments)
            assert reply["success"] is False and diff == {} and state == world.state


@pytest.mark.release
@pytest.mark.parametrize("name", ["env_145_rl-task_1", "env_184_rl-task_1", "env_191_rl-task_5"])
def test_published_scenarios_are_solved_without_a_model(release, name: str) -> None:
    skeletons = published_data.read_environments(release)
    scenarios = published_data.read_scenarios(release / "rl_scenarios.json", skeletons)
    made = next(s for s in scenarios if published_data.task_id(s) == name)
    world = skeletons.by_id()[made.skeleton_id]
    search = search_witness(world, made, budget=3000)
    assert search.solved
    assert solves(world, made, search.witness, 0)
