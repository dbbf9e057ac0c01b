"""Probing: tools and intents stay balanced whatever their number; who is shown what; the state rolls on, is undone,
rewound; calls can be made again."""

import json
from collections import Counter

import library
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library import GREEDY, METHODS, STATE, asked, author

from envscaler.auditing.probing import INTENTS, PER_TOOL, Bench, Plan
from envscaler.schema import Probe, Tool


def tool(number: int, parameters: bool = True) -> Tool:
    properties = {"x": {"type": "string", "description": "x"}} if parameters else {}
    return Tool(name=f"t{number}", parameters={"type": "object", "properties": properties}, mutates=False)


@given(st.integers(1, 25), st.integers(1, 120), st.integers(0, 1000))
def test_suggestions_are_balanced_over_tools_and_intents(tools: int, rounds: int, seed: int) -> None:
    plan = Plan([tool(number) for number in range(tools)], seed)
    made: list[Probe] = []
    for _ in range(min(rounds, tools * PER_TOOL)):
        due = plan.suggest(made)
        made.append(Probe(tool=due["tool"], arguments={}, intent=due["intent"], verdict="pass"))
    per_tool = Counter(probe.tool for probe in made)
    counts = [per_tool[f"t{number}"] for number in range(tools)]
    assert max(counts) - min(counts) <= 1 and max(counts) <= PER_TOOL
    for name in per_tool:
        intents = Counter(probe.intent for probe in made if probe.tool == name)
        assert max(intents.values()) - min(intents[intent] for intent in INTENTS) <= 1


def test_a_tool_without_parameters_is_only_tried_as_meant() -> None:
    plan = Plan([tool(0, parameters=False)], 0)
    assert {plan.suggest([])["intent"] for _ in range(5)} == {"positive"}


def test_an_audit_shorter_than_the_tools_still_has_all_intents() -> None:
    plan = Plan([tool(number) for number in range(22)], 0)
    intents = Counter(plan.suggest([])["intent"] for _ in range(20))
    assert min(intents.values()) >= 6 and len(intents) == 3


def test_a_tester_that_ignores_suggestions_leaves_the_rest_open() -> None:
    plan = Plan([tool(0), tool(1)], 0)
    made = [Probe(tool="t0", arguments={}, intent="positive", verdict="pass")] * PER_TOOL
    assert plan.suggest(made)["tool"] == "t1" and plan.open == {"t1"}


def test_the_order_of_tools_follows_the_seed() -> None:
    tools = [tool(number) for number in range(20)]

    def order(seed: int) -> list[str]:
        plan = Plan(tools, seed)
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


def test_a_tool_gets_ten_probes_at_most_unless_more_are_asked_for() -> None:
    def counts(**options: int) -> Counter[str]:
        bench = Bench(library.skeleton(), STATE, author(), 0, **options)
        return Counter(trial.probe.tool for trial in bench.roll(50, {"find_book", "get_member"}))

    assert set(counts().values()) == {PER_TOOL}
    assert set(counts(per_tool=3).values()) == {3} and sum(counts(per_tool=40).values()) == 50


def test_the_state_rolls_on() -> None:
    on = Bench(library.skeleton(), STATE, author(), 0).roll(18)
    moved = [t for t in on if t.probe.diff]
    assert moved and any(t.before != on[0].before for t in on)


def test_the_tester_sees_the_live_state_and_what_callers_know_but_no_code() -> None:
    model = author()
    world = library.skeleton()
    trials = Bench(world, STATE, model, 0).roll(12)
    requests = asked(model, "audits/probe")
    assert len(requests) == len(trials)
    for trial, seen in zip(trials, requests, strict=True):
        assert json.loads(seen["state"]) == trial.before, "the state as it is now, not as it was at first"
        assert all(tool.name in seen["tools"] for tool in world.tools)
        assert world.tool("lend_book").description.splitlines()[0] in seen["tools"]
    for request in (r for r in model.requests if r.step == "audits/probe"):
        text = "".join(str(message["content"]) for message in request.messages)
        bodies = [
            line.strip() for line in world.source.splitlines() if "self." in line and "def " not in line
        ]
        assert not [line for line in bodies if line in text]


def test_the_checker_sees_all_there_is_to_a_call() -> None:
    model = author()
    world = library.skeleton()
    bench = Bench(world, STATE, model, 0)
    trials = bench.roll(12)
    for trial, seen in zip(trials, asked(model, "audits/judge"), strict=True):
        probe = trial.probe
        assert seen["tool_source"].strip() == bench.method(probe.tool).strip()
        assert '"""' in seen["tool_source"] and all(rule.text in seen["rules"] for rule in world.rules)
        told = json.loads(seen["call"])
        assert (told["tool"], told["arguments"], told["intent"]) == (
            probe.tool,
            probe.arguments,
            probe.intent,
        )
        assert json.loads(seen["before"]) == trial.before and json.loads(seen["diff"]) == probe.diff
        assert json.loads(seen["reply"]) == probe.reply
        changed = json.loads(seen["after"]) != trial.before
        assert changed == bool(probe.diff)


def test_one_tool_a_round_and_every_call_fits_its_schema() -> None:
    def odd(b: dict[str, str], request: object) -> str | None:
        if "feedback" in b and b["feedback"].strip():
            return None
        wrong = {"thought": "", "tool": "get_member", "intent": "negative", "arguments": {"member_id": 5}}
        return json.dumps(wrong)

    trials = Bench(library.skeleton(), STATE, author({"audits/probe": odd}), 0).roll(6)
    assert trials and all(isinstance(t.probe.arguments.get("member_id", ""), str) for t in trials)
