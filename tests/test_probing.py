"""Probing: tools and intents stay balanced whatever their number; a broken rule is undone; calls can be made again."""

from collections import Counter

import library
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library import GREEDY, METHODS, STATE, author

from envscaler.probing import INTENTS, PER_TOOL, Bench, Plan
from envscaler.schema import Probe, Tool


def tool(number: int, parameters: bool = True) -> Tool:
    properties = {"x": {"type": "string", "description": "x"}} if parameters else {}
    return Tool(name=f"t{number}", parameters={"type": "object", "properties": properties}, mutates=False)


@given(st.integers(1, 25), st.integers(1, 120), st.integers(0, 1000))
def test_suggestions_are_balanced_over_tools_and_intents(tools: int, rounds: int, seed: int) -> None:
    plan = Plan([tool(number) for number in range(tools)], rounds, seed)
    made: list[Probe] = []
    for _ in range(rounds):
        due = plan.suggest(made)
        made.append(Probe(tool=due["tool"], arguments={}, intent=due["intent"], verdict="pass"))
    per_tool = Counter(probe.tool for probe in made)
    counts = [per_tool[f"t{number}"] for number in range(tools)]
    assert max(counts) - min(counts) <= 1 and max(counts) <= max(PER_TOOL, -(-rounds // tools))
    for name in per_tool:
        intents = Counter(probe.intent for probe in made if probe.tool == name)
        assert max(intents.values()) - min(intents[intent] for intent in INTENTS) <= 1


def test_a_tool_without_parameters_is_only_tried_as_meant() -> None:
    plan = Plan([tool(0, parameters=False)], 5, 0)
    assert {plan.suggest([])["intent"] for _ in range(5)} == {"positive"}


def test_an_audit_shorter_than_the_tools_still_has_all_intents() -> None:
    plan = Plan([tool(number) for number in range(22)], 20, 0)
    intents = Counter(plan.suggest([])["intent"] for _ in range(20))
    assert min(intents.values()) >= 6 and len(intents) == 3


def test_a_tester_that_ignores_suggestions_leaves_the_rest_open() -> None:
    plan = Plan([tool(0), tool(1)], 20, 0)
    made = [Probe(tool="t0", arguments={}, intent="positive", verdict="pass")] * PER_TOOL
    assert plan.suggest(made)["tool"] == "t1" and plan.open == {"t1"}


def test_the_order_of_tools_follows_the_seed() -> None:
    tools = [tool(number) for number in range(20)]

    def order(seed: int) -> list[str]:
        plan = Plan(tools, 20, seed)
        return [plan.suggest([])["tool"] for _ in tools]

    assert order(1) == order(1) != order(2)


def test_a_call_that_breaks_a_rule_is_undone() -> None:
    bench = Bench(library.skeleton(lend_book=GREEDY), STATE, author(), 0)
    trials = bench.roll(18)
    place = next(i for i, trial in enumerate(trials) if trial.findings)
    assert trials[place].probe.verdict == "fail" and trials[place].probe.diff
    assert place + 1 < len(trials) and trials[place + 1].before == trials[place].before


def test_trials_are_made_again_where_they_were_made() -> None:
    bench = Bench(library.skeleton(), STATE, author(), 0)
    trials = bench.roll(18)
    again = bench.again(trials)
    assert [t.probe.reply for t in again] == [t.probe.reply for t in trials]
    assert [t.before for t in again] == [t.before for t in trials]
    assert bench.asked == 36, "no sample is asked for twice"


def test_only_the_wanted_tools_are_tried() -> None:
    trials = Bench(library.skeleton(), STATE, author(), 0).roll(4, {"find_book"})
    assert {trial.probe.tool for trial in trials} == {"find_book"}
    assert Bench(library.skeleton(), STATE, author(), 0).roll(4, set()) == []


@pytest.mark.parametrize("body", ["while True:\n        pass", "import os\n    os._exit(1)"])
def test_a_tool_that_takes_its_process_down_is_a_finding_every_time(body: str) -> None:
    method = METHODS["find_book"].split("    return {")[0] + f"    {body}\n    return {{}}\n"
    trials = Bench(library.skeleton(find_book=method), STATE, author(), 0).roll(
        4, {"find_book", "get_member"}
    )
    verdicts = {
        name: {t.probe.verdict for t in trials if t.probe.tool == name}
        for name in ("find_book", "get_member")
    }
    assert len(trials) == 4 and verdicts == {"find_book": {"fail"}, "get_member": {"pass"}}
    assert all(t.findings[0].kind == "tool-fault" for t in trials if t.probe.tool == "find_book")
