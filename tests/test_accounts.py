"""What a run costs: sums that add up, prices of what was kept, a figure that shows them, an estimate beforehand."""

import json
import math
from pathlib import Path

import pytest

import envscaler as es
from envscaler.error import CacheMiss, ParameterError, StoreError
from envscaler.model import prompt
from envscaler.model.cache import CachedModel
from envscaler.model.connect import connect
from envscaler.model.request import Metered, Request
from envscaler.model.scripted import RecordedModel, ScriptedModel
from envscaler.project import SCALES
from envscaler.schema import Usage

PRICED = {"m": (1.0, 10.0)}
MOVE = "Move appointment 7."


def ledger() -> es.Ledger:
    made = es.Ledger(prices=PRICED)
    for step, calls in (
        ("skeletons/write_tool", 4),
        ("audits/probe", 3),
        ("audits/judge", 3),
        ("rollouts/user", 2),
    ):
        for _ in range(calls):
            made.add(step, "m", Usage(calls=1, input_tokens=100_000, output_tokens=10_000))
    made.add("rollouts/act", "strange", Usage(calls=1, input_tokens=100_000))
    return made


def test_rows_add_up_to_the_last_one() -> None:
    table = es.account_table(ledger())
    assert table["calls"].iloc[-1] == table["calls"].iloc[:-1].sum() == 13
    assert table["usd"].iloc[-1] == pytest.approx(table["usd"].iloc[:-1].sum()) == pytest.approx(12 * 0.2)
    assert set(table["role"]) == {"author", "tester", "judge", "user simulator", "agent", ""}
    assert math.isnan(table.loc[table["model"] == "strange", "usd"].item())
    assert len(es.account_table(es.Ledger())) == 1


def test_what_was_dropped_is_in_the_price_of_what_was_kept() -> None:
    table = es.cost_table(ledger(), {"environment": 2, "scenario": 0, "rollout": 1}).set_index("one")
    assert table.loc["environment", "usd"] == pytest.approx(10 * 0.2 / 2)
    assert table.loc["environment", "calls"] == 5
    assert math.isnan(table.loc["scenario", "usd"]) and math.isnan(table.loc["rollout", "usd"])
    for wrong in ({"tool": 1}, {"scenario": -1}):
        with pytest.raises(ParameterError, match="Expected counts"):
            es.cost_table(ledger(), wrong)


def test_the_figure_has_a_bar_for_each_stage_and_says_what_is_dear() -> None:
    axes = es.draw_accounts(ledger()).axes[0]
    assert "audits" in axes.get_title(loc="left") and {t.get_text() for t in axes.get_yticklabels()} >= {
        "skeletons",
        "rollouts",
    }
    assert "Nothing" in es.draw_accounts(es.Ledger()).axes[0].get_title(loc="left")


def test_an_estimate_grows_with_the_scale_and_knows_every_step() -> None:
    sums = [es.estimate(name, "gpt-4.1")[["calls", "usd"]].sum() for name in ("smoke", "default", "paper")]
    assert [s["calls"] for s in sums] == sorted(s["calls"] for s in sums) and sums[0]["usd"] > 0
    known = set(prompt.steps())
    told = es.estimate(SCALES["smoke"], "nobody")
    assert set(told["step"]) <= known and told["usd"].isna().all()
    assert set(told["step"].str.partition("/")[0]) == {
        "tasks",
        "themes",
        "skeletons",
        "audits",
        "scenarios",
        "rollouts",
    }
    twice = (
        es.estimate("paper", "m", environments=20)["calls"].sum()
        / es.estimate("paper", "m", environments=10)["calls"].sum()
    )
    assert 1 < twice <= 2


def test_sizes_that_cannot_be_read_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("envscaler.show.accounts.sizes_path", lambda: tmp_path / "sizes.csv")
    for text in (None, "a,b\n1,2\n", ""):
        if text is not None:
            (tmp_path / "sizes.csv").write_text(text)
        with pytest.raises(StoreError, match=r"sizes.csv: expected a table"):
            es.estimate("smoke", "m")


def test_a_run_has_one_account_for_all_its_notebooks(home: Path) -> None:
    first = es.open_run("m", "smoke", budget_usd=5).ledger
    first.prices.update(es.Ledger(prices=PRICED).prices)
    first.add("tasks/judge", "m", Usage(calls=1, input_tokens=10))
    again = es.open_run("m", "smoke", budget_usd=7)
    assert again.ledger.total.calls == 1 and again.ledger is again.ledger and again.ledger.budget_usd == 7
    assert es.open_run("m", "smoke", run="other").ledger.total.calls == 0


# Recorded models, own prompts


@pytest.mark.parametrize("name", ["weak", "qwen3:8b", "Qwen/Qwen3-30B-A3B"])
def test_a_recording_is_a_model_by_its_name(name: str, home: Path) -> None:
    script = lambda request: json.dumps({"reason": "It names a record.", "stateful": True})  # noqa: E731
    live = CachedModel(ScriptedModel(script, name=name), path=home / "weak.sqlite", settings={"seed": 3})
    tasks = [es.Task(text=f"Move appointment {n}.", source="test") for n in range(3)]
    judged = es.judge_tasks(tasks, live, progress=False)
    assert live.record().parent == home / "data" / "replies"
    for seed in (0, 3):
        recorded = connect(f"recorded:{name}", seed=seed)
        assert isinstance(recorded, RecordedModel) and recorded.name == name
        recorded.check()
        assert es.judge_tasks(tasks, recorded, progress=False) == judged, "without a seed it has its own"
    with pytest.raises(CacheMiss, match="others than when it was recorded"):
        recorded.answer(Request("tasks/judge", ({"role": "user", "content": "?"},)))
    failures = es.judge_tasks(tasks, connect(f"recorded:{name}", seed=4), progress=False).failures
    assert [f.error for f in failures] == ["CacheMiss"] * 3, "another seed is another request"


def test_a_recording_is_asked_with_its_own_prompts_and_says_where_todays_differ(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = lambda request: json.dumps({"reason": "It names a record.", "stateful": True})  # noqa: E731
    live = CachedModel(ScriptedModel(script, name="old"), path=home / "old.sqlite")
    judged = es.judge_tasks([es.Task(text=MOVE)], live, progress=False)
    live.record(about={"date": "2026-11-30"})
    same = connect("recorded:old")
    assert isinstance(same, RecordedModel) and not same.changed and not caplog.records and len(same) == 1
    own = home / "prompts" / "tasks" / "judge.md"
    own.parent.mkdir(parents=True)
    own.write_text("# user\n<request>\n{{ request }}\n</request>\nStateful? Answer in JSON.\n")
    recorded = connect("recorded:old")
    assert isinstance(recorded, RecordedModel) and recorded.about == {"date": "2026-11-30"}
    assert recorded.changed == ["tasks/judge"] and "other prompts than today's for tasks/judge" in caplog.text
    metered = Metered(recorded)
    again = [es.judge_tasks([es.Task(text=MOVE)], model, progress=False) for model in (recorded, metered)]
    assert again == [judged, judged] and again[0][0].origin == judged[0].origin, (
        "it names the prompt it was asked with"
    )
    live.mode = "replay_only"
    assert es.judge_tasks([es.Task(text=MOVE)], live, progress=False).failures[0].error == "CacheMiss"


@pytest.mark.parametrize("step", prompt.steps())
def test_a_prompt_is_written_as_it_is_read(step: str) -> None:
    read = prompt.load(step)
    assert prompt.parse(step, prompt.written(read)) == read


@pytest.mark.parametrize("name", ["recorded:", "recorded:../x", "recorded:a/b", "recorded:none"])
def test_a_recording_that_is_not_there_is_told(name: str, home: Path) -> None:
    with pytest.raises((ParameterError, StoreError)):
        connect(name)
    with pytest.raises(ParameterError, match="needs no server"):
        connect(name, base_url="http://localhost:1/v1")


def test_a_prompt_of_ones_own_goes_over_the_library_s(home: Path) -> None:
    before = prompt.load("tasks/judge")
    own = home / "prompts" / "tasks" / "judge.md"
    own.parent.mkdir(parents=True)
    own.write_text("# user\n<request>\n{{ request }}\n</request>\nStateful? Answer in JSON.\n")
    assert prompt.load("tasks/judge").digest != before.digest
    assert "Answer in JSON" in prompt.render("tasks/judge", {"request": "x"})[0]["content"]
    assert prompt.load("themes/infer").parts
