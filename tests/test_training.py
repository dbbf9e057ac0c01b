"""Training data and rewards for trainers: real loaders keep every call, and a completion earns what it does."""

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import worlds
from hostile import ESCAPE

from envscaler.acting.finishing import FINISH
from envscaler.agent import as_text
from envscaler.episode import roll_out, system_message
from envscaler.error import ParameterError, StoreError
from envscaler.schema import Check, Outcome, Rollout, Skeleton, Step
from envscaler.scripted import CarelessAgent, WitnessAgent
from envscaler.training.picking import FILTERS, filter_funnel, pick_trajectories
from envscaler.training.rewarding import actions_of, reward_function
from envscaler.training.saving import save_sft
from envscaler.world.action import UNREADABLE
from envscaler.world.environment import Environment

MODES: tuple[Any, ...] = ("default", "strict", "paper")
WORLD = worlds.skeleton(tools=worlds.skeleton().tools[:4])
OTHER = worlds.tool("return {'success': True}")
SCENARIO = worlds.scenario(WORLD)
ELSEWHERE = worlds.scenario(OTHER, task="Elsewhere.", witness=[])
GIVEN = ([WORLD, OTHER], [SCENARIO, ELSEWHERE])


def call(name: str, arguments: Any, number: int = 0) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": text}}


def says(content: str | None, *calls: dict[str, Any], thought: str = "") -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    return (
        message
        | ({"reasoning_content": thought} if thought else {})
        | ({"tool_calls": list(calls)} if calls else {})
    )


def reply(number: int, content: str = '{"success": true}') -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}


SYSTEM, USER = {"role": "system", "content": "You operate."}, {"role": "user", "content": "Lend Dune to Ada."}
LOOK = [says(None, call("get_member", {"number": 7})), reply(0)]
DONE = says("Done.")
SHORT = [SYSTEM, USER, *LOOK, *LOOK, DONE]
TALK = [
    SYSTEM,
    USER,
    *LOOK,
    *LOOK,
    says("Which book?"),
    USER,
    *LOOK,
    DONE,
    {"role": "user", "content": "Bye."},
]


def rollout(messages: list[dict[str, Any]], passed: bool | None = True, **fields: Any) -> Rollout:
    """An episode of these messages; its goal was reached or not, or the check broke."""
    outcomes = [Outcome(item="Done?", kind="goal", passed=passed)]
    return Rollout(
        **{
            "scenario_id": SCENARIO.id, "agent": "a", "conversation": False, "messages": messages,
            "trajectory": [Step(action={}, observation=[])], "final_state": {}, "outcomes": outcomes,
            "ending": "finished", **fields,
        }
    )  # fmt: skip


# Which episodes


WRONG = {
    "infrastructure": [
        rollout(SHORT, ending="failed", cause="model", outcomes=[]), rollout(SHORT, ending="failed", outcomes=[]),
        rollout(SHORT, None, cause="check"),
    ],
    "format": [
        rollout([SYSTEM, USER, *LOOK, says(None, call("lend", "{'book_id': 1}")), reply(0), DONE]),
        rollout([SYSTEM, USER, *LOOK, says(None, call("lend", "[1]")), reply(0), DONE]),
        rollout([SYSTEM, USER, *LOOK, says(None, call(UNREADABLE, {})), reply(0), DONE]),
        rollout([SYSTEM, USER, *LOOK, says("<think>I look"), DONE]),
        rollout([SYSTEM, USER, *LOOK, says("I look.</think> Done."), DONE]),
        rollout([SYSTEM, USER, *LOOK, *LOOK, says("<tool_call>lend</tool_call>")]),
        rollout([SYSTEM, USER, *LOOK, *LOOK, says("  ")]), rollout([SYSTEM, USER, *LOOK, *LOOK, says(None)]),
    ],
    "turns": [
        rollout([SYSTEM, USER, *LOOK, DONE]), rollout([SYSTEM, USER, *LOOK * 29, DONE]),
        rollout([SYSTEM, USER, *LOOK * 3, DONE], conversation=True),
        rollout([SYSTEM, USER, *LOOK * 39, DONE], conversation=True), rollout([SYSTEM, USER]),
    ],
    "ending": [rollout(SHORT[:-1] + LOOK, ending="truncated")],
    "reward": [rollout(SHORT, False), rollout(SHORT, outcomes=[])],
}  # fmt: skip
RIGHT = [
    rollout(SHORT), rollout([SYSTEM, USER, *LOOK * 28, DONE]), rollout(TALK, conversation=True, ending="stopped"),
    rollout([SYSTEM, USER, *LOOK * 38, DONE], conversation=True, ending="stopped"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FILTERS)
def test_each_filter_leaves_out_its_own_and_says_so(fault: str) -> None:
    for wrong in WRONG[fault]:
        picked = pick_trajectories([*RIGHT, wrong])
        assert list(picked) == RIGHT
        [failure] = picked.failures
        assert (failure.error, failure.parent_id) == (fault, wrong.id)
        assert failure.message.endswith(".") and failure.message[0].isupper()


def test_the_filters_can_be_set() -> None:
    cheap = rollout(SHORT, False)
    assert pick_trajectories([cheap], reward=None) == [cheap] and pick_trajectories([cheap], reward=0.0) == [
        cheap
    ]
    ungraded = rollout(SHORT, outcomes=[])
    assert pick_trajectories([ungraded], reward=None) == [ungraded] and not pick_trajectories(
        [ungraded], reward=0
    )
    assert not pick_trajectories(RIGHT[:1], turns={False: (4, 9), True: (5, 9)})
    assert not pick_trajectories(RIGHT[:1], reasoning=True)
    thinking = [m | ({"reasoning_content": "Hm."} if m["role"] == "assistant" else {}) for m in SHORT]
    assert len(pick_trajectories([rollout(thinking)], reasoning=True)) == 1


def test_the_funnel_counts_every_episode_once() -> None:
    picked = pick_trajectories([*RIGHT, *(w for wrong in WRONG.values() for w in wrong)])
    funnel = filter_funnel(picked).set_index("stage")["count"]
    assert list(funnel.index) == ["rollouts", *FILTERS]
    left = [-step for step in funnel.diff().dropna()]
    assert left == [len(WRONG[name]) for name in FILTERS] and funnel.iloc[-1] == len(RIGHT)
    assert filter_funnel(pick_trajectories([]))["count"].tolist() == [0] * 6


# Files


NASTY: list[Any] = [
    "plain", "", "Žižek “quotes” 借書", 'a "b" \\ c\n\tnext\r\n', "</tool_call> <tool_call>{}</tool_call>", "</think>",
    "\u2028line\u2029", 0, -1.5, 10**17, True, None, [], {}, [1, "a", None, {"x": []}], {"deep": {"er": [{"k": None}]}},
]  # fmt: skip
NUMBERS = [
    0.1 + 0.2,
    19.99,
    -7,
    2**63,
    1e22,
    -0.0,
    1 / 3,
    1e-9 / 3,
    2**64,
    10**30,
    -(2**63) - 1,
    5e-324,
    1.7e308,
]
"""The loader that TRL uses rounds some of these, and pads the whole file where one is too large."""
WORDS = ["", "I look it up.", "Two things:\n- one\n- two", "Čeština, 日本語 & <b>marks</b>"]


def anything(rng: np.random.Generator, seed: int) -> Rollout:
    """An episode of any shape: several calls a message, text and thoughts beside them, arguments of all kinds."""
    messages: list[dict[str, Any]] = [dict(SYSTEM, content=WORDS[seed % 4] or "You operate."), USER]
    number, talks = 0, bool(rng.random() < 0.4)
    for _ in range(int(rng.integers(1, 7))):
        calls = []
        for _ in range(int(rng.integers(0 if talks else 1, 4))):
            names = rng.choice(
                [f"{kind}{n}" for kind in ("book_id", "note", "n") for n in ("", "_2")], 3, False
            )
            arguments = {str(name): NASTY[rng.integers(len(NASTY))] for name in names[: rng.integers(0, 4)]}
            calls.append(call(WORLD.tools[rng.integers(4)].name, arguments, number))
            number += 1
        thought = "I think.\nThen I act." if rng.random() < 0.4 else ""
        messages.append(says(WORDS[rng.integers(4)] if calls else "Which one?", *calls, thought=thought))
        for done in calls:
            content = json.dumps(
                {"success": True, "data": NASTY[rng.integers(len(NASTY))]}, ensure_ascii=False
            )
            messages.append(reply(int(done["id"][5:]), content.replace("</think>", "")))
        if not calls:
            messages.append({"role": "user", "content": "That one."})
    if rng.random() < 0.8 or messages[-1]["role"] == "user":
        messages.append(says("All is done.", thought="Done." if rng.random() < 0.3 else ""))
        messages += [{"role": "user", "content": "Bye."}] if talks else []
    home = ELSEWHERE if seed % 5 == 0 else SCENARIO
    return rollout(messages, bool(rng.random() < 0.7), conversation=talks, seed=seed, scenario_id=home.id)


def calls_of(episode: Rollout) -> list[list[dict[str, Any]]]:
    """Calls a message, as the model is to learn them."""
    said = [message for message in episode.messages if message["role"] == "assistant"]
    functions = [[entry["function"] for entry in message.get("tool_calls") or ()] for message in said]
    return [
        [{"name": f["name"], "arguments": json.loads(f["arguments"])} for f in told] for told in functions
    ]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


@pytest.fixture(scope="module")
def episodes() -> list[Rollout]:
    rng = np.random.default_rng(0)
    # One without a call comes first: a loader must not take its columns for all there are.
    return [rollout([SYSTEM, USER, DONE]), *(anything(rng, seed) for seed in range(40)), RIGHT[0], RIGHT[2]]


@pytest.fixture(scope="module")
def numbers() -> list[Rollout]:
    return [rollout([SYSTEM, USER, says(None, call("lend", {"n": n})), reply(0), DONE]) for n in NUMBERS]


def test_a_number_that_a_loader_would_alter_is_a_failure(tmp_path: Path, numbers: list[Rollout]) -> None:
    written = save_sft(numbers, tmp_path / "a.jsonl", *GIVEN)
    assert [NUMBERS[numbers.index(episode)] for episode in written] == [*NUMBERS[:6]]
    assert all("number" in failure.message for failure in written.failures)
    text = save_sft(numbers, tmp_path / "b.jsonl", *GIVEN, form="llamafactory")
    assert list(text) == numbers and str(10**30) in (tmp_path / "b.jsonl").read_text()


def test_no_message_has_a_key_it_does_not_need_and_no_call_is_changed(
    tmp_path: Path, episodes: list[Rollout]
) -> None:
    path = tmp_path / "sft.jsonl"
    assert list(save_sft(episodes, path, *GIVEN)) == episodes
    rows, by_id = lines(path), {episode.id: episode for episode in episodes}
    assert len(rows) == len(episodes) and "tool_calls" in path.read_text().split("\n")[0]
    for row in rows:
        assert list(row) == ["messages", "tools", "metadata"]
        metadata = json.loads(row["metadata"])
        episode = by_id[metadata["id"]]
        home = OTHER if episode.scenario_id == ELSEWHERE.id else WORLD
        assert metadata["reward"] == episode.reward and metadata["skeleton_id"] == home.id
        assert json.loads(row["tools"]) == [tool.function for tool in home.tools]
        assert row["messages"][-1]["role"] == "assistant"
        for message in row["messages"]:
            assert None not in message.values() and isinstance(message["content"], str)
            assert set(message) - {"role", "content"} <= {
                "assistant": {"tool_calls", "reasoning_content"}, "tool": {"tool_call_id", "name"},
            }.get(message["role"], set())  # fmt: skip
        said = [m for m in row["messages"] if m["role"] == "assistant"]
        functions = [[entry["function"] for entry in message.get("tool_calls", ())] for message in said]
        assert functions == calls_of(episode)
        named = {
            entry["id"]: entry["function"]["name"]
            for message in said
            for entry in message.get("tool_calls", ())
        }
        assert all(named[m["tool_call_id"]] == m["name"] for m in row["messages"] if m["role"] == "tool")


@pytest.mark.parametrize("form", ["trl", "llamafactory"])
def test_thoughts_are_kept_or_left_out(tmp_path: Path, form: Any) -> None:
    episode = rollout(
        [SYSTEM, USER, says("Let me see.", call("get_book", {}), thought="Hm, books."), reply(0), DONE]
    )
    for reasoning in (True, False):
        save_sft([episode], tmp_path / "a.jsonl", *GIVEN, form=form, reasoning=reasoning)
        text = (tmp_path / "a.jsonl").read_text()
        assert ("Hm, books." in text) == reasoning and "Let me see." in text


def test_a_system_message_that_lists_the_tools_gives_way(tmp_path: Path) -> None:
    listed = system_message(WORLD, [tool.function for tool in WORLD.tools], "rollouts/act_text")
    save_sft([rollout([listed, *SHORT[1:]]), rollout(SHORT)], tmp_path / "a.jsonl", *GIVEN)
    plain, own = (row["messages"][0] for row in lines(tmp_path / "a.jsonl"))
    assert plain == system_message(WORLD, ()) and own == SYSTEM
    assert WORLD.tools[0].name not in plain["content"]


UNSAVABLE = {
    "cannot be called": [rollout([SYSTEM, USER, says(None, call("lend", "{1}")), reply(0), DONE])],
    "is no JSON": [rollout([SYSTEM, USER, says(None, call("lend", '{"n": NaN}')), reply(0), DONE])],
    "names nothing": [rollout([SYSTEM, USER, says(None, call(UNREADABLE, {})), reply(0), DONE])],
    "no scenario": [rollout(SHORT, scenario_id="0" * 12)],
    "nothing said": [rollout([SYSTEM, USER]), rollout([])],
}
UNTURNED = [
    rollout([SYSTEM, USER, USER, *LOOK, DONE]), rollout([SYSTEM, *LOOK, DONE]), rollout([USER, DONE, DONE]),
    rollout([SYSTEM, USER, says("I <tool_call> it.", call("lend", {})), reply(0), DONE]),
    rollout([SYSTEM, USER, says("", call("lend", {}), thought="</tool_call>"), reply(0), DONE]),
]  # fmt: skip


@pytest.mark.parametrize("form", ["trl", "llamafactory"])
def test_what_cannot_be_learnt_is_a_failure_and_the_others_are_written(tmp_path: Path, form: Any) -> None:
    wrong = [episode for found in UNSAVABLE.values() for episode in found]
    wrong += UNTURNED if form == "llamafactory" else []
    written = save_sft([*wrong, *RIGHT], tmp_path / "a.jsonl", *GIVEN, form=form)
    assert list(written) == RIGHT and len(lines(tmp_path / "a.jsonl")) == len(RIGHT)
    assert [failure.parent_id for failure in written.failures] == [episode.id for episode in wrong]
    assert all(failure.message.startswith("Expected ") for failure in written.failures)


def test_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="trl or llamafactory"):
        save_sft([], tmp_path / "a.jsonl", *GIVEN, form="alpaca")  # type: ignore[arg-type]


@pytest.mark.parametrize("odd", [None, 3, "text", {"a": 1}, [None], SCENARIO], ids=str)
def test_what_is_no_episode_world_or_file_is_refused_in_a_sentence(tmp_path: Path, odd: Any) -> None:
    path = tmp_path / "a.jsonl"
    for use in (
        lambda: pick_trajectories(odd), lambda: save_sft(odd, path, *GIVEN), lambda: reward_function(odd, [SCENARIO]),
        lambda: save_sft([], path, odd, [SCENARIO]),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=r"^Expected "):
            use()
    with pytest.raises(ParameterError, match="Expected the path"):
        save_sft([], odd if odd != "text" else 3, *GIVEN)


def test_data_sets_are_entered_beside_each_other(tmp_path: Path) -> None:
    info = tmp_path / "dataset_info.json"
    info.write_text('{"mine": {"file_name": "mine.json"}}')
    for name in ("a", "b", "a"):
        save_sft(RIGHT, tmp_path / f"{name}.jsonl", *GIVEN, form="llamafactory")
    known = json.loads(info.read_text())
    assert list(known) == ["mine", "a", "b"] and known["b"]["file_name"] == "b.jsonl"
    for broken in ("{", "[]"):
        info.write_text(broken)
        with pytest.raises(StoreError, match="dataset_info"):
            save_sft(RIGHT, tmp_path / "a.jsonl", *GIVEN, form="llamafactory")
        assert info.read_text() == broken


# The real loaders


def loaded(loader: str, python: str, path: Path, folder: Path) -> list[dict[str, Any]]:
    offline = {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / "hub"),
        "OMP_NUM_THREADS": "1",
        "WANDB_DISABLED": "1",
    }
    done = subprocess.run(
        [python, str(Path(__file__).with_name("loaders.py")), loader, str(path), str(folder)],
        capture_output=True, text=True, env={**os.environ, **offline},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "loaded.json").read_text())


def python_with(loader: str) -> str:
    """A Python that has the trainer: this one, or what `make loaders` has installed."""
    apart = Path(__file__).resolve().parents[1] / "build" / loader / "bin" / "python"
    python = str(apart) if apart.exists() else sys.executable
    find = f"import importlib.util as u, sys; sys.exit(u.find_spec({loader!r}) is None)"
    if subprocess.run([python, "-c", find]).returncode:
        pytest.skip(
            f"{loader} is not installed: trl comes with the extra dev, llamafactory with make loaders"
        )
    return python


@pytest.mark.parametrize("loader", ["trl", "llamafactory"])
def test_the_real_loader_learns_every_call_and_nothing_else(
    tmp_path: Path, episodes: list[Rollout], numbers: list[Rollout], loader: Any
) -> None:
    python, path = python_with(loader), tmp_path / "sft.jsonl"
    written = save_sft([*numbers, *episodes], path, *GIVEN, form=loader)
    assert written[-len(episodes) :] == episodes
    order = [json.loads(row["metadata"])["id"] for row in lines(path)]
    by_id = {episode.id: episode for episode in written}
    found = loaded(loader, python, path, tmp_path)
    assert len(found) == len(written) > len(episodes)
    for episode, row in zip(map(by_id.__getitem__, order), found, strict=True):
        assert row["calls"] == calls_of(episode)
        home = OTHER if episode.scenario_id == ELSEWHERE.id else WORLD
        assert row["tools"] == [tool.function for tool in home.tools]
        learnt = row["learnt"]
        for message in episode.messages:
            said = [message.get("content") or "", message.get("reasoning_content") or ""]
            if message["role"] == "assistant":
                assert all(words in row["text"] and words in learnt for words in said)
                assert all(entry["function"]["name"] in learnt for entry in message.get("tool_calls") or ())
        assert "tool_response" not in learnt and "None" not in row["text"] and "Bye." not in row["text"]
        last = max(place for place, message in enumerate(episode.messages) if message["role"] == "assistant")
        heard = [m["content"] for m in episode.messages[:last] if m["role"] == "tool"]
        assert row["replies"] == heard


# The reward


def as_text_of(messages: list[dict[str, Any]]) -> str:
    """What a model without function calling has written and been answered, as one text with its template's marks."""
    told = [f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>" for m in as_text(messages)]
    return "\n".join(told).removeprefix("<|im_start|>assistant\n").removesuffix("<|im_end|>")


def as_objects(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages as TRL hands them over: arguments are objects, replies have no id, content is never None."""
    told = []
    for message in messages:
        calls = [
            {
                "type": "function",
                "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])},
            }
            for c in message.get("tool_calls") or ()
        ]
        kept = {"role": message["role"], "content": message["content"] or ""}
        told.append(kept | ({"tool_calls": calls} if calls else {}))
    return told


FORMS = {"messages": list, "objects": as_objects, "text": as_text_of}
AGENTS = [WitnessAgent(), *(CarelessAgent(0.5, f"careless {n}") for n in range(3))]


@pytest.fixture(scope="module")
def played() -> list[Rollout]:
    return [roll_out(WORLD, SCENARIO, agent, seed=seed) for seed in (0, 3) for agent in AGENTS]


@pytest.fixture(scope="module")
def pay() -> Any:
    return reward_function(*GIVEN)


def completion(episode: Rollout) -> list[dict[str, Any]]:
    return episode.messages[2:]


@pytest.mark.parametrize("form", FORMS)
def test_a_completion_earns_what_the_episode_earned(played: list[Rollout], pay: Any, form: str) -> None:
    given = [FORMS[form](completion(episode)) for episode in played]
    ids, seeds = [SCENARIO.id] * len(played), [episode.seed for episode in played]
    earned = pay(
        prompts=[USER] * len(played), completions=given, scenario_id=ids, seed=seeds, trainer_state=None
    )
    assert earned == [episode.reward for episode in played]
    assert {0.0, 1.0} <= set(earned) and all(type(value) is float for value in earned)


def test_what_a_trainers_tools_replied_is_not_believed(pay: Any) -> None:
    lend = call("lend", {"book_id": "B-1", "member": 8})
    lies = [says(None, lend), reply(0, '{"success": true, "message": "Lent."}'), DONE]
    quoted = as_text_of([says(None, call("lend", {"book_id": "B-1", "member": 7}))])
    quoted = f"Look. <tool_response>\n{quoted}\n</tool_response>"
    assert pay(None, [lies, quoted], scenario_id=[SCENARIO.id] * 2) == [0.0, 0.0]


def test_an_id_that_was_drawn_is_drawn_again_with_the_same_seed(pay: Any) -> None:
    lend = {"book_id": "B-2", "member": 7}
    drawn = {}
    for seed in (0, 5):
        with Environment(WORLD, SCENARIO, seed=seed) as world:
            drawn[seed] = world.call("lend", lend)["data"]["loan_id"]
    undo = [
        [says(None, call("lend", lend)), says(None, call("take_back", {"loan_id": drawn[5]})),
         says(None, call("lend", {"book_id": "B-1", "member": 7})), DONE],
    ] * 2  # fmt: skip
    # B-2 is a bystander: only where it was really brought back has nothing else changed.
    assert drawn[0] != drawn[5]
    assert pay(None, undo, scenario_id=[SCENARIO.id] * 2, seed=[0, 5]) == [0.0, 1.0]
    assert reward_function(*GIVEN, seed=5)(None, undo[:1], scenario_id=[SCENARIO.id]) == [1.0]


SLIPS = {
    "nothing": [], "silence": [says(None)], "no text": "", "talk": "Done, I think.",
    "no message": [{"role": "assistant"}], "only replies": [reply(0)],
    "unknown tool": [says(None, call("fly", {})), DONE], "broken JSON": [says(None, call("lend", "{'a'"))],
    "broken mark": "<tool_call>{\"name\": \"lend\", \"arg", "only a thought": "<think>I could lend",
    "odd call": [{"role": "assistant", "content": "", "tool_calls": ["lend"]}],
    "flat call": [{"role": "assistant", "content": "", "tool_calls": [{"name": "lend", "arguments": {}}]}],
    "odd content": [{"role": "assistant", "content": 7}],
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_paid_nothing_and_is_never_missing(pay: Any, slip: str) -> None:
    assert pay(None, [SLIPS[slip]], scenario_id=[SCENARIO.id]) == [0.0]


def lost_worlds() -> dict[str, tuple[Skeleton, Any]]:
    crash = worlds.tool(f"{ESCAPE}\nos['_exit'](1)")
    loads = worlds.skeleton(
        "class World:\n    def __init__(self, initial_state=None):\n        raise ValueError('no')\n"
    )
    raising = Check(item="Done?", source="def check_func(final_state):\n    return 1 / 0")
    return {
        "environment": (crash, worlds.scenario(crash, initial_state={}, checks=SCENARIO.checks)),
        "class": (loads, worlds.scenario(loads, initial_state={})),
        "check": (WORLD, worlds.scenario(WORLD, checks=[raising])),
        "nothing to grade": (WORLD, worlds.scenario(WORLD, checks=[])),
    }


@pytest.mark.parametrize("what", lost_worlds())
def test_what_breaks_here_is_none_and_never_nought(what: str, played: list[Rollout]) -> None:
    world, scenario = lost_worlds()[what]
    hang = [says(None, call("run", {})), says(None, call("run", {})), says(None, call("run", {})), DONE]
    pay = reward_function([world, WORLD], [scenario, SCENARIO])
    assert pay(None, [hang, completion(played[0])], scenario_id=[scenario.id, SCENARIO.id]) == [None, 1.0]


def test_other_rewards() -> None:
    half = worlds.scenario(
        WORLD, checks=[*SCENARIO.checks, Check(item="Never?", source="def check_func(s):\n    return False")]
    )
    lend = says(None, call("lend", {"book_id": "B-1", "member": 7}))
    given = [[lend, DONE], [lend], [lend, DONE, USER, says("Bye.")]]
    earned = {
        mode: reward_function([WORLD], [half], reward=mode)(None, given, scenario_id=[half.id] * 3)
        for mode in MODES
    }
    # The published rule pays nothing for an episode that was cut off.
    assert earned == {"default": [0.5] * 3, "strict": [0.0] * 3, "paper": [0.5, 0.0, 0.5]}


def test_in_a_conversation_a_word_to_the_user_is_no_end_and_else_it_is(pay: Any) -> None:
    lend = says(None, call("lend", {"book_id": "B-1", "member": 7}))
    given = [[says("Which book?"), USER, lend, DONE], [DONE, lend]]
    assert pay(None, given, scenario_id=[SCENARIO.id] * 2) == [1.0, 0.0]


FINISHES = says("", call("finish", {"report": "Done."}))


def test_finish_ends_an_episode_here_as_it_does_there(pay: Any) -> None:
    lend = call("lend", {"book_id": "B-1", "member": 7})
    given = [
        [says(None, lend), FINISHES],
        [FINISHES, says(None, lend)],
        [says("", call("finish", {})), says(None, lend)],
    ]
    ids = [SCENARIO.id] * 3
    assert pay(None, given, scenario_id=ids) == [1.0, 0.0, 1.0]
    assert reward_function(*GIVEN, reward="paper")(None, given, scenario_id=ids) == [1.0, 0.0, 0.0]


def test_a_tool_that_was_offered_beside_the_worlds_is_written_beside_them(tmp_path: Path) -> None:
    offered = rollout([SYSTEM, USER, *LOOK, FINISHES, reply(0)], extra={"tools": [FINISH.function]})
    foreign = [
        rollout(SHORT, extra={"tools": given}) for given in ("none", [1, {"function": {"name": "lend"}}])
    ]
    assert len(save_sft([offered, *foreign], tmp_path / "a.jsonl", *GIVEN)) == 3
    tools = [[t["function"]["name"] for t in json.loads(row["tools"])] for row in lines(tmp_path / "a.jsonl")]
    own = [tool.name for tool in WORLD.tools]
    assert tools == [[*own, "finish"], own, own]


@pytest.mark.parametrize(
    ("given", "ids", "said"),
    [
        (["a"], ["0" * 12], "got '000000000000'"), (["a", "b"], [SCENARIO.id], "for each of 2 completions"),
        ([7], [SCENARIO.id], "text or messages"), ([[7]], [SCENARIO.id], "text or messages"),
        ([None], [SCENARIO.id], "text or messages"), (["a"], [], "column `scenario_id`"),
    ],
)  # fmt: skip
def test_a_callers_mistake_is_said_in_a_sentence(pay: Any, given: Any, ids: list[str], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        pay(None, given, scenario_id=ids)


def test_scenarios_without_a_world_and_unknown_rewards_are_refused_at_once() -> None:
    with pytest.raises(ParameterError, match=WORLD.id):
        reward_function([OTHER], [SCENARIO])
    with pytest.raises(ParameterError, match="default, strict or paper"):
        reward_function(*GIVEN, reward="most")  # type: ignore[arg-type]
    assert reward_function(*GIVEN)(None, [], scenario_id=[]) == []


def test_it_can_be_called_from_threads_and_sent_to_another_process(pay: Any, played: list[Rollout]) -> None:
    given, ids = [completion(episode) for episode in played], [SCENARIO.id] * len(played)
    seeds = [episode.seed for episode in played]
    copy = pickle.loads(pickle.dumps(pay))
    assert copy.__name__ == pay.__name__ == "envscaler_reward"
    with ThreadPoolExecutor(6) as pool:
        calls = [pool.submit(fn, None, given, scenario_id=ids, seed=seeds) for fn in (pay, copy) * 3]
        assert [c.result() for c in calls] == [[episode.reward for episode in played]] * 6


@pytest.mark.parametrize("marks", ["<think>{}</think>", "{}</think>", ""])
def test_a_text_of_several_turns_is_read_turn_by_turn(marks: str) -> None:
    one, two = (
        f"<tool_call>\n{json.dumps({'name': n, 'arguments': {}})}\n</tool_call>" for n in ("one", "two")
    )
    heard = "<tool_response>\n<tool_call>{}</tool_call>\n</tool_response>"
    thought = marks.format("I could lend it.")
    text = f"{thought}{one}{two}<|im_end|>\n<|im_start|>user\n{heard}\n{heard}<|im_end|>\n{thought}\n{one}\n{heard}\n"
    for end, last in (("", "one"), ("Done.", None)):
        actions, talks = actions_of(text + end)
        named = [[c["function"]["name"] for c in action.get("tool_calls", ())] for action in actions]
        assert named == [["one", "two"], ["one"], *([] if last else [[]])] and not talks


def test_trl_trains_with_it(tmp_path: Path, pay: Any, played: list[Rollout]) -> None:
    """Its own trainer makes a step with the reward, and gets out of it what was put in, None as missing."""
    python = python_with("trl")
    world, scenario = lost_worlds()["check"]
    fn = reward_function([WORLD, world], [SCENARIO, scenario])
    given = [as_objects(completion(episode)) for episode in [*played[:3], played[0]]]
    ids = [SCENARIO.id] * 3 + [scenario.id]
    (tmp_path / "reward.pickle").write_bytes(pickle.dumps((fn, given, ids)))
    found = loaded("grpo", python, tmp_path / "reward.pickle", tmp_path)
    assert found["rewards"] == [*(episode.reward for episode in played[:3]), None]
    assert found["steps"] == 1 and found["name"] == "envscaler_reward" and found["mean"] == 0.0
