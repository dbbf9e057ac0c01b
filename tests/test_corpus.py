"""The corpus as a product: divided by world, written whole, read back equal by every reader, and told truly."""

import json
import random
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import library
import numpy as np
import pytest
import yaml

import envscaler as es
from envscaler import __main__, release
from envscaler.error import ParameterError, StoreError
from envscaler.release import card, corpus
from envscaler.release.split import Split, worlds
from envscaler.schema import Certificate, Kill, Origin, Proof, Rollout, Scenario, Skeleton, Task
from envscaler.world.proving.proofs import OTHERWISE

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data" / "sample"
CERTIFICATE = Certificate(
    proofs=[
        Proof(name="nothing done", status="proved", figure=0.0),
        Proof(name=OTHERWISE[0], status="proved", figure=1.0),
        Proof(name=OTHERWISE[1], status="proved", detail="Nothing to try."),
    ],
    kills=[
        Kill(kind="call dropped", what="0", killers=["goal"]),
        Kill(kind="call doubled", what="1", killers=[]),
    ],
)
DOUBTFUL = Certificate(proofs=[Proof(name="nothing done", status="failed", figure=0.4, detail="Expected 0.")])
TITLES = ("Village library", "Blood bank", "Hotel rooms", "Car repair shop", "Chess federation")


def world(title: str, **changes: Any) -> Skeleton:
    name = changes.pop("class_name", title.title().replace(" ", ""))
    made = library.skeleton()
    code = made.source.replace("VillageLibrary", name)
    origin = Origin(model="builtin", prompt="abc", seed=3, version="0.1.0")
    return made.replace(
        **{"title": title, "class_name": name, "source": code, "theme_id": "", "origin": origin, **changes}
    )


def scenario(skeleton: Skeleton, number: int = 0, **changes: Any) -> Scenario:
    fields = {"skeleton_id": skeleton.id, "certificate": CERTIFICATE, "task": f"{library.TASK} {number}"}
    return library.scenario(**{**fields, **changes})


def episode(posed: Scenario, **changes: Any) -> Rollout:
    fields: dict[str, Any] = {
        "scenario_id": posed.id, "agent": "idle", "conversation": False, "trajectory": [], "outcomes": [],
        "messages": [{"role": "user", "content": posed.task}, {"role": "assistant", "content": "Done."}],
        "final_state": posed.initial_state, "ending": "finished",
    }  # fmt: skip
    return Rollout(**{**fields, **changes})


WORLDS = [world(title) for title in TITLES]
POSED = [scenario(skeleton, number) for skeleton in WORLDS for number in range(2)]
PLAYED = [episode(posed, seed=seed) for posed in POSED for seed in range(2)]


def save(folder: Path, **options: Any) -> corpus.Corpus:
    return es.save_corpus(folder, WORLDS, POSED, **{"rollouts": PLAYED, **options})


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def front_matter(folder: Path) -> dict[str, Any]:
    return yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])


# Dividing


class Meaning:
    name = "meaning"

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[1.0, 0.0] if "bank" in text or "Hotel" in text else [0.0, 1.0] for text in texts])


class Unasked(Meaning):
    def encode(self, texts: list[str]) -> np.ndarray:
        raise AssertionError("There is nothing to divide.")


@pytest.mark.parametrize(
    "twin",
    [
        world("Reading room", theme_id="t"),
        library.skeleton(
            get_member=library.METHODS["get_member"].replace("There is no", "Nobody is")
        ).replace(title="Another name", theme_id=""),
        world("Village Libraries", class_name="Lending"),
        world("Reading room", class_name="VillageLibraryDesk"),
    ],
    ids=["same theme", "mended: same class", "near title", "near class name"],
)
def test_one_world_told_twice_is_one_group(twin: Skeleton) -> None:
    first = world("Village library", theme_id="t")
    groups = worlds([first, *WORLDS[1:], twin])
    assert len(groups) == len(WORLDS) and [first, twin] in groups


def test_unlike_worlds_stay_apart_but_for_a_meaning_that_an_encoder_sees() -> None:
    assert worlds(WORLDS) == [[skeleton] for skeleton in WORLDS]
    system = [
        world(f"{what} Management System") for what in ("Document", "Hospital Patient", "Billing Dispute")
    ]
    assert len(worlds(system)) == 3
    assert [len(group) for group in worlds(WORLDS[1:3], Meaning())] == [2]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.99])
def test_no_world_is_on_both_sides_and_nothing_is_lost(tmp_path: Path, seed: int, share: float) -> None:
    twin = world("Blood bank", summary="Told again.")
    posed = [*POSED, scenario(twin)]
    saved = es.save_corpus(
        tmp_path / "c", [*WORLDS, twin], posed, rollouts=PLAYED, test_share=share, seed=seed
    )
    sides = list(saved.splits.values())
    titles = [{skeleton.title for skeleton in side.skeletons} for side in sides]
    assert all(titles) and not titles[0] & titles[1] and not saved.failures
    for side in sides:
        assert {s.skeleton_id for s in side.scenarios} == {s.id for s in side.skeletons}
        assert {r.scenario_id for r in side.rollouts} <= {s.id for s in side.scenarios}
    for given, name in (([*WORLDS, twin], "environments"), (posed, "scenarios"), (PLAYED, "rollouts")):
        assert sorted(r.id for side in sides for r in side.records[name]) == sorted(r.id for r in given)


def test_the_share_is_kept_and_the_seed_decides(tmp_path: Path) -> None:
    many = [
        world(f"{a} {b}", theme_id=f"{a}{b}", class_name=f"{a}{b}") for a in ("Zoo", "Mill") for b in "qwxyz"
    ]
    drawn = []
    for seed in range(5):
        saved = es.save_corpus(tmp_path / "c", many, [], test_share=0.3, seed=seed)
        assert [len(side.skeletons) for side in saved.splits.values()] == [7, 3]
        drawn.append(tuple(s.id for s in saved.splits["test"].skeletons))
    assert len(set(drawn)) > 1
    mended = [s.replace(summary="Mended.") for s in many]
    again = es.save_corpus(tmp_path / "c", mended, [], test_share=0.3, seed=4).splits["test"].skeletons
    assert {s.title for s in again} == {s.title for s in saved.splits["test"].skeletons}


def test_the_same_seed_gives_the_same_bytes_whatever_the_order(tmp_path: Path) -> None:
    stray = [*POSED, scenario(world("Elsewhere")), scenario(WORLDS[0], 9, certificate=None)]
    written = []
    for turn in range(3):
        mixed: list[list[Any]] = [list(WORLDS), list(stray), [*PLAYED, *PLAYED[:2]]]
        for records in mixed:
            random.Random(turn).shuffle(records)
        es.save_corpus(tmp_path / "c", mixed[0], mixed[1], rollouts=mixed[2])
        written.append(contents(tmp_path / "c"))
    assert written[0] == written[1] == written[2]


def test_what_cannot_be_divided_or_is_no_share_is_told(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="at least two unlike environments"):
        es.save_corpus(tmp_path / "c", WORLDS[:1], POSED[:1])
    for share in (1, -0.1, float("nan"), "half"):
        with pytest.raises(ParameterError, match="share of the test"):
            save(tmp_path / "c", test_share=share)
    with pytest.raises(ParameterError, match="as seed"):
        save(tmp_path / "c", seed=10**4500)
    with pytest.raises(StoreError, match="at least one environment"):
        es.save_corpus(tmp_path / "c", [], [])
    assert not list(tmp_path.iterdir())
    alone = es.save_corpus(tmp_path / "c", WORLDS[:1], POSED[:1], test_share=0, encoder=Unasked())
    assert list(alone.splits) == ["train"]
    with pytest.raises(StoreError, match="in test/"):
        es.load_corpus(tmp_path / "c", "test")
    with pytest.raises(ParameterError, match="train, test"):
        es.load_corpus(tmp_path / "c", "dev")


# What is left out


def test_what_is_left_out_is_told_with_its_reason(tmp_path: Path) -> None:
    stray, doubtful = scenario(world("Elsewhere")), scenario(WORLDS[0], 8, certificate=DOUBTFUL)
    bare = scenario(WORLDS[0], 9, certificate=None)
    posed, played = [*POSED, stray, doubtful, bare], [*PLAYED, episode(doubtful), episode(POSED[0], seed=7)]
    saved = es.save_corpus(tmp_path / "c", WORLDS, posed, rollouts=played)
    told = {failure.parent_id: failure.error for failure in saved.failures}
    assert told == {
        stray.id: "NoEnvironment", doubtful.id: "NotCertified", bare.id: "NotCertified",
        episode(doubtful).id: "NoScenario",
    }  # fmt: skip
    assert es.read_records(tmp_path / "c" / "failures.jsonl", es.Failure) == saved.failures
    assert (
        "Left out: 1 NoEnvironment, 1 NoScenario, 2 NotCertified"
        in (tmp_path / "c" / "README.md").read_text()
    )
    kept = es.save_corpus(tmp_path / "c", WORLDS, posed, rollouts=played, certified=False)
    assert [failure.parent_id for failure in kept.failures] == [stray.id]
    assert "2 scenarios without a valid certificate" in (tmp_path / "c" / "README.md").read_text()
    twice = es.save_corpus(tmp_path / "c", WORLDS, [*POSED, POSED[0].replace(certificate=None)])
    assert not twice.failures  # it is there with its certificate


def test_what_cannot_be_written_or_read_back_is_left_out_and_the_others_go_on(tmp_path: Path) -> None:
    unread = world("Tea garden", source="class (")
    named = [skeleton.replace(extra={"env_id": "env_1"}) for skeleton in WORLDS[:2]]
    given = [*named, *WORLDS[2:], unread]
    home = WORLDS[2]
    odd = [
        scenario(home, 1, initial_state={"x": float("nan")}), scenario(home, 2, initial_state={"x": 10**5000}),
        scenario(home, 3, initial_state={"x": "\ud800"}), scenario(home, 4, initial_state={"x": (1, 2)}),
        scenario(home, 5, checks=[es.Check(item="?", source="def (")]), scenario(unread),
    ]  # fmt: skip
    saved = es.save_corpus(tmp_path / "c", given, [*odd, *POSED[4:]], rollouts=[episode(odd[0]), *PLAYED[8:]])
    assert sorted(failure.error for failure in saved.failures) == [
        "NameTaken", "NoEnvironment", "NoScenario", *["Unwritable"] * 6
    ]  # fmt: skip
    assert all(f.message.startswith("Expected a ") and f.message.endswith(".") for f in saved.failures)
    assert saved.frame()[["environments", "scenarios", "rollouts"]].sum().tolist() == [4, 6, 12]
    for name, split in saved.splits.items():
        there = tmp_path / "c" / name / "published"
        assert es.load_corpus(tmp_path / "c", name) == split
        assert release.read_environments(there) == split.skeletons
    with pytest.raises(StoreError, match="does not parse"):
        es.save_corpus(tmp_path / "d", [unread], [scenario(unread)])


def test_a_smaller_corpus_has_so_many_of_each(tmp_path: Path) -> None:
    saved = save(tmp_path / "c", at_most=1)
    assert saved.frame()[["environments", "scenarios", "rollouts"]].sum().tolist() == [5, 5, 5]
    assert not saved.failures
    text = (tmp_path / "c" / "README.md").read_text()
    assert "Cut on purpose: 5 of 5 environments, 5 of 10 scenarios, 5 of 20 rollouts were taken." in text
    save(tmp_path / "c", environments=9)
    assert "Cut on purpose" not in (tmp_path / "c" / "README.md").read_text()
    last = [max(pair, key=lambda s: s.id) for pair in zip(POSED[::2], POSED[1::2], strict=True)]
    played = [episode(scenario) for scenario in last]
    saved = save(tmp_path / "c", rollouts=played, at_most=1, environments=3)
    assert saved.frame()[["environments", "scenarios", "rollouts"]].sum().tolist() == [3, 3, 3]
    assert not saved.failures  # what was not asked for is no failure


# Reading it back


def test_both_forms_are_read_back_equal(tmp_path: Path) -> None:
    saved = save(tmp_path / "c")
    for name, split in saved.splits.items():
        read = es.load_corpus(tmp_path / "c", name)
        assert read == split
        there = tmp_path / "c" / name / "published"
        skeletons = release.read_environments(there)
        scenarios = release.read_scenarios(there, skeletons)
        rollouts = release.read_trajectories(there, skeletons, scenarios)
        assert Split(skeletons, scenarios, rollouts) == split
        whole = {s.id: s.certificate for s in scenarios}
        assert whole == {s.id: s.certificate for s in split.scenarios}


def test_rows_of_a_damaged_corpus_are_told_and_the_others_read(tmp_path: Path) -> None:
    save(tmp_path / "c", test_share=0)
    file = tmp_path / "c" / "train" / "environments.jsonl"
    first, second, *rest = file.read_text().splitlines(keepends=True)
    file.write_text(
        "".join([first[:-100] + "\n", second.replace('"summary":"', '"summary":"Edited. '), *rest])
    )
    read = es.load_corpus(tmp_path / "c")
    assert [f.parent_id for f in read.skeletons.failures] == [f"{file}:1"] and len(read.skeletons) == 4
    lost = {json.loads(line)["id"] for line in (first, second)}
    strays = {s.id for s in POSED if s.skeleton_id in lost}
    assert {f.parent_id for f in read.scenarios.failures} == strays and len(read.scenarios) == 6
    assert {f.error for f in read.rollouts.failures} == {"NoScenario"} and len(read.rollouts) == 12


def test_datasets_reads_every_column_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", minversion="4.7")
    # A first row that is empty where others are full, and a text that looks like JSON.
    bare = WORLDS[0].replace(state=[], rules=[], summary='{"a": 1}')
    odd = [
        scenario(bare, 1),
        scenario(bare, 2, initial_state={"1": [1.5, None, {}], "books": {}}, witness=[]),
    ]
    saved = es.save_corpus(tmp_path / "c", [bare, *WORLDS[1:]], [*odd, *POSED[2:]], rollouts=PLAYED[4:])
    for kind in card.NAMES:
        loaded = datasets.load_dataset(str(tmp_path / "c"), kind, cache_dir=str(tmp_path / "cache"))
        assert set(loaded) == set(saved.splits)
        for name, split in saved.splits.items():
            assert list(loaded[name]) == [record.model_dump(mode="json") for record in split.records[kind]]


# Writing it whole


def test_a_corpus_is_replaced_whole_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "c"
    save(here)
    before = contents(here)
    monkeypatch.setattr(
        corpus, "write_text", lambda *_: (_ for _ in ()).throw(StoreError("The disk is full."))
    )
    with pytest.raises(StoreError, match="full"):
        save(here, rollouts=())
    assert contents(here) == before and [p.name for p in tmp_path.iterdir()] == ["c"]
    monkeypatch.undo()
    save(here, rollouts=())
    assert not list(here.rglob("rollouts.jsonl")) and "rollouts" not in str(front_matter(here)["configs"])
    (here / "mine.txt").write_text("x")
    with pytest.raises(StoreError, match=r"holds mine\.txt"):
        save(here)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "README.md").write_text("# Mine")
    with pytest.raises(StoreError, match="Choose another folder"):
        save(tmp_path / "other")
    with pytest.raises(StoreError, match="Expected a folder"):
        save(here / "mine.txt")
    (here / "mine.txt").unlink()
    for name in ("train/published/notes.txt", "published/notes.txt", "train/README.md"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("Mine.")
        with pytest.raises(StoreError, match=name):
            save(here)
        (here / name).unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="links and names are other there")
def test_odd_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("real", "here"):
        (tmp_path / name).mkdir()
    for link, to in (("link", "real"), ("broken", "new"), ("loop", "loop")):
        (tmp_path / link).symlink_to(tmp_path / to)
    for link in ("link", "broken"):  # where a link leads is written to, and the link stays
        assert save(tmp_path / link).folder == (tmp_path / link).resolve() and (tmp_path / link).is_symlink()
    for bad in ("loop", "a\0b", "x" * 300):
        with pytest.raises(StoreError, match="Expected"):
            save(tmp_path / bad)
    save(tmp_path / ("ö\n" * 80))
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(
        StoreError, match="you are in it"
    ):  # whoever is in it would stay in a folder that is gone
        save(Path())


def test_ctrl_c_is_no_bad_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "c")
    before = contents(tmp_path / "c")

    def interrupted(*_: Any, **__: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("envscaler.record.digest", interrupted)
    for act in (lambda: es.load_corpus(tmp_path / "c"), lambda: save(tmp_path / "c", seed=1)):
        with pytest.raises(KeyboardInterrupt):
            act()
    monkeypatch.undo()
    assert contents(tmp_path / "c") == before and [p.name for p in tmp_path.iterdir()] == ["c"]
    remove, turns = shutil.rmtree, iter((interrupted, shutil.rmtree))
    monkeypatch.setattr(shutil, "rmtree", lambda *args, **options: next(turns, remove)(*args, **options))
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path / "c", seed=1)
    assert [p.name for p in tmp_path.iterdir()] == ["c"]  # the old one is gone, not beside it


@pytest.mark.skipif(sys.platform == "win32", reason="folders are renamed by other rules there")
def test_a_fault_at_the_last_moment_brings_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "c")
    before, rename = contents(tmp_path / "c"), Path.rename

    def faulty(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", faulty)
    with pytest.raises(StoreError, match="No space left"):
        save(tmp_path / "c", seed=1)
    assert contents(tmp_path / "c") == before


# The card


def test_the_card_tells_fields_in_the_words_of_the_schema_and_figures_as_they_are(tmp_path: Path) -> None:
    tasks = [
        Task(text="Lend me Emma.", source="seeds"),
        Task(text="Book a room.", source="toolace"),
        Task(text="x"),
    ]
    theme = library.THEME.replace(task_ids=[task.id for task in tasks[:2]])
    homes = [WORLDS[0].replace(theme_id=theme.id), *WORLDS[1:]]
    saved = es.save_corpus(
        tmp_path / "c", homes, POSED[2:], rollouts=PLAYED[4:], themes=[theme], tasks=tasks,
        stamp="model builtin · scale smoke · seed 0", title="Small worlds", licence="cc-by-4.0",
    )  # fmt: skip
    text = (tmp_path / "c" / "README.md").read_text()
    for kind in (*card.KINDS.values(), es.Check, es.Certificate, es.Call, es.Tool, es.Step, Kill, Origin):
        for name, field in kind.model_fields.items():
            row = next(
                line for line in text.split(f"`{kind.__name__}`\n")[1].splitlines() if f"`{name}`" in line
            )
            assert " ".join(str(field.description).split()).replace("|", "\\|") in row
    counts = {name: split.counts for name, split in saved.splits.items()}
    for what, number in counts["train"].items():
        assert f"| {what} | {number} | {counts['test'][what]} |" in text
    assert "1 from `seeds`, 1 from `toolace`" in text and "those from `toolace` may carry" in text
    for line in (
        "# Small worlds", "`cc-by-4.0`", "model builtin · scale smoke · seed 0", "The built-in model is a stand-in",
        "| environments | builtin | {} | abc | 0.1.0 | 3 | 5 |",
        "16 idle; 0 are solved, 16 have no reward", "1 of 5 environments have no scenario",
        "8 of 16 mutants of solutions are paid in full", "asked for 20%",
    ):  # fmt: skip
        assert line in text
    assert re.search(r"mutants of the solution a scenario, mean / least \| 2\.0 / 2 \|", text)
    assert re.search(r"that are paid, of \d kinds, mean / least \| 1\.0 / 1 \|", text)
    assert re.search(r"told from it, mean / least \| 50\.0% / 50\.0% \|", text)
    told = front_matter(tmp_path / "c")
    assert (told["license"], told["size_categories"], told["pretty_name"]) == (
        "cc-by-4.0",
        ["n<1K"],
        "Small worlds",
    )


def test_only_what_is_there_has_a_place_in_the_card(tmp_path: Path) -> None:
    es.save_corpus(tmp_path / "c", [w.replace(origin=None) for w in WORLDS], [])
    text = (tmp_path / "c" / "README.md").read_text()
    assert [c["config_name"] for c in front_matter(tmp_path / "c")["configs"]] == ["environments"]
    assert "`Scenario`" not in text and "Rollouts are of" not in text and "stand-in" not in text
    assert "an author who is not told" in text and "`source`: not told" in text


def test_the_card_counts_what_datasets_would_alter(tmp_path: Path) -> None:
    odd = [
        scenario(WORLDS[0], n, witness=[es.Call(tool="t", arguments={"x": x})])
        for n, x in ((8, 0.12345678901), (9, 2**64))
    ]
    es.save_corpus(tmp_path / "c", WORLDS, [*POSED, *odd])
    assert "* 2 records have a number of more than ten decimals" in (tmp_path / "c" / "README.md").read_text()


# The command


def command(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, dict[str, Any]]:
    status = __main__.main(["corpus", "--scale", "smoke", *arguments])
    out, err = capsys.readouterr()
    return status, err, json.loads(out.splitlines()[-1]) if out else {}


def test_the_command_writes_what_a_run_made(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, err, _ = command(capsys=capsys)
    assert status == 1 and "05_scenarios" in err
    run = es.open_run("builtin", "smoke")
    run.write("worlds", es.Records(WORLDS))
    run.write("scenarios", es.Records(POSED))
    status, err, told = command(capsys=capsys)
    assert (status, err, told["out"]) == (0, "", str(home / "build" / "corpus" / "builtin-smoke"))
    assert told["train"]["environments"] + told["test"]["environments"] == 5 and told["failures"] == 0
    run.write("rollouts", es.Records([*PLAYED, episode(scenario(world("Elsewhere")))]))
    status, err, told = command(
        "--out", str(home / "mine"), "--test-share", "0.4", "--at-most", "1", capsys=capsys
    )
    assert status == 1 and "whose scenario" in err and told["failures"] == 1
    assert told["test"] == es.load_corpus(home / "mine", "test").counts and told["test"]["rollouts"] == 2
    run.path("rollouts").write_text("{")  # nobody asks for them
    assert command("--out", str(home / "mine"), "--no-rollouts", capsys=capsys)[0] == 0
    assert command("--out", str(home), capsys=capsys)[0] == 1


# The sample


def test_the_sample_is_what_its_card_says_and_small() -> None:
    text = (SAMPLE / "README.md").read_text()
    counts = [es.load_corpus(SAMPLE, name).counts for name in ("train", "test")]
    for what in counts[0]:
        assert f"| {what} | {counts[0][what]} | {counts[1][what]} |" in text
    assert all(side["environments"] and side["scenarios"] for side in counts)
    assert counts[0]["rollouts"] + counts[1]["rollouts"]
    assert sum(p.stat().st_size for p in SAMPLE.rglob("*") if p.is_file()) < 800_000


@pytest.mark.parametrize("name", ["train", "test"])
def test_the_sample_is_whole_and_its_scenarios_are_certified_anew(name: str) -> None:
    split = es.load_corpus(SAMPLE, name)
    there = SAMPLE / name / "published"
    skeletons = release.read_environments(there)
    assert skeletons == split.skeletons and release.read_scenarios(there, skeletons) == split.scenarios
    homes = split.skeletons.by_id()
    assert all(scenario.skeleton_id in homes and scenario.certificate.valid for scenario in split.scenarios)
    first = split.scenarios[0]
    again = es.certify(homes[first.skeleton_id], first)
    assert again.valid, again.reasons
    assert [proof.name for proof in again.proofs] == [proof.name for proof in first.certificate.proofs]
