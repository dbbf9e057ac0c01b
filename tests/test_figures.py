"""Figures: drawn on the right data, titled by it, readable, and written with their table, the same each time."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from envscaler import figures, project, schema
from envscaler.error import ParameterError, StoreError
from envscaler.schema import Audit, Certificate, Check, Probe, Proof, Rollout, Scenario, Skeleton, Theme, Tool
from envscaler.show import theme_map
from envscaler.show.canvas import OURS
from envscaler.show.stats import environment_frame, win_rates

STAMP = "model builtin · scale smoke · seed 0"


def environments(count: int = 5, scenarios: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "skeleton_id": [f"e{i}" for i in range(count)],
            "query_tools": rng.integers(6, 14, count),
            "state_change_tools": rng.integers(5, 11, count),
            "attributes": rng.integers(10, 60, count),
            "scenarios": [scenarios] * count,
        }
    )


def rollouts(
    agents: dict[str, float], modes: tuple[str, ...] = ("non-conversation", "conversation")
) -> pd.DataFrame:
    rows = [
        {"agent": agent, "mode": mode, "scenario_id": f"c{s}", "skeleton_id": f"e{s % 4}", "reward": reward,
         "solved": float(reward == 1), "steps": 5 + s % 3}
        for agent, reward in agents.items()
        for mode in modes
        for s in range(12)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def themes(count: int, seed: int = 0) -> tuple[list[Theme], np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(6, 64))
    vectors = centres[rng.integers(0, 6, count)] + rng.normal(size=(count, 64))
    words = ("Hotel room", "Hospital asset", "Student information", "Music streaming", "Online advertising")
    named = [
        Theme(title=f"{words[i % 5]} management system number {i}", summary="", usefulness=8, modelability=8,
              task_ids=["t"] * (1 + i % 4))
        for i in range(count)
    ]  # fmt: skip
    return named, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def audit(failing: int = 1) -> Audit:
    verdicts = ["fail"] * failing + ["warning", "pass", "pass"]
    return Audit(skeleton_id="s", probes=[Probe(tool=f"tool_{i % 2}", arguments={}, intent="positive", verdict=v)
                                          for i, v in enumerate(verdicts)])  # fmt: skip


def scenario(task: str, **statuses: str) -> Scenario:
    proofs = [Proof(name=name.replace("_", " "), status=status) for name, status in statuses.items()]
    certificate = Certificate(proofs=proofs) if proofs else None
    check = Check(item="?", source="")
    return Scenario(skeleton_id="s", initial_state={}, task=task, checks=[check], certificate=certificate)


def nothing(*columns: str) -> pd.DataFrame:
    return pd.DataFrame(columns=list(columns))


SWEEP = pd.DataFrame({"threshold": [0.7, 0.8, 0.9], "themes": [10, 30, 40]})
PAIRS = pd.DataFrame({"similarity": [0.71, 0.79, 0.8, 0.83, 0.99]})
COUNTS = {"requests": 60, "stateful": 40, "themes": 12, "skeletons": 3}
AGENTS = {"witness": 1.0, "careless": 0.5, "idle": 0.0}
DRAWINGS: dict[str, Callable[[], Figure]] = {
    "corpus": lambda: figures.draw_corpus(environments()),
    "corpus, one environment": lambda: figures.draw_corpus(environments(1, 0)),
    "corpus, none": lambda: figures.draw_corpus([]),
    "funnel": lambda: figures.draw_funnel(COUNTS),
    "funnel, steep": lambda: figures.draw_funnel({"requests": 100_000, "picked": 24, "kept": 0}),
    "outcomes": lambda: figures.draw_outcomes(rollouts(AGENTS)),
    "outcomes, one agent and mode": lambda: figures.draw_outcomes(
        rollouts({"witness": 1.0}, ("conversation",))
    ),
    "outcomes, no reward": lambda: figures.draw_outcomes(rollouts({"a": np.nan, "b": 1.0})),
    "outcomes, none": lambda: figures.draw_outcomes([]),
    "win rates": lambda: figures.draw_win_rates(win_rates(rollouts(AGENTS))),
    "main results": figures.draw_main_results,
    "dedup curve": lambda: figures.draw_dedup_curve(SWEEP, threshold=0.8),
    "dedup curve, no threshold": lambda: figures.draw_dedup_curve(SWEEP),
    "dedup curve, none": lambda: figures.draw_dedup_curve(SWEEP.iloc[:0], threshold=0.8),
    "likeness, none": lambda: figures.draw_benchmark_similarity(nothing("title", "nearest", "max", "half")),
    "diversity, none": lambda: figures.draw_diversity(
        nothing("measure", "environments", "mean", "low", "high")
    ),
    "similarities": lambda: figures.draw_similarities(PAIRS, 0.8),
    "similarities, none": lambda: figures.draw_similarities(PAIRS.iloc[:0], 0.8),
    "similarities, none above": lambda: figures.draw_similarities(PAIRS, 0.995),
    "probes": lambda: figures.draw_probe_matrix(audit()),
    "probes, many audits": lambda: figures.draw_probe_matrix([audit(), audit(2)]),
    "probes, none": lambda: figures.draw_probe_matrix([]),
    "certificate": lambda: figures.draw_certificate(
        [scenario("a", witness="proved"), scenario("b", witness="failed")]
    ),
    "certificate, none": lambda: figures.draw_certificate([scenario("a")]),
    "themes, one": lambda: figures.draw_theme_map(*themes(1)),
    "themes, four": lambda: figures.draw_theme_map(*themes(4)),
}


def sentences(figure: Figure) -> str:
    titles = [axes.get_title(loc="left").replace("\n", " ") for axes in figure.axes]
    return " | ".join(titles)


def said(figure: Figure) -> str:
    return " | ".join(text.get_text().replace("\n", " ") for text in figure.findobj(Text))


@pytest.fixture(scope="module")
def drawn() -> Callable[[str], Figure]:
    """A drawing by name, drawn once for all tests that look at it."""
    made: dict[str, Figure] = {}

    def draw(name: str) -> Figure:
        if name not in made:
            made[name] = DRAWINGS[name]()
            made[name].draw_without_rendering()
        return made[name]

    return draw


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_drawing_is_complete_and_readable(name: str, drawn: Callable[[str], Figure]) -> None:
    figure = drawn(name)
    assert isinstance(figure, Figure) and not plt.get_fignums(), "the figure is shown twice in a notebook"
    words = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    assert words and not any(word in said(figure).lower().split() for word in ("nan", "inf", "none"))
    assert all(text.get_fontsize() >= 7 for text in words)
    for axes in figure.axes:
        title = axes.get_title(loc="left")
        assert not axes.axison or len(title.split()) >= 3, f"{title!r} is no sentence"


def headings(axes: Axes) -> list[Artist]:
    """What stands above the data: the title, its note, the legend."""
    notes = [text for text in axes.texts if isinstance(text, Annotation) and text.xycoords == "axes fraction"]
    legend = [axes.get_legend()] if axes.get_legend() else []
    return [*([axes._left_title] if axes.get_title(loc="left") else []), *notes, *legend]


@pytest.mark.parametrize("name", [name for name in DRAWINGS if "none" not in name])
def test_titles_and_legends_lie_on_nothing(name: str, drawn: Callable[[str], Figure]) -> None:
    figure = drawn(name)
    for axes in figure.axes:
        boxes = [part.get_window_extent() for part in headings(axes)]
        assert boxes and all(box.y0 >= axes.get_window_extent().y1 - 1 for box in boxes), "on the data"
        for one, other in itertools.combinations(boxes, 2):
            assert min(one.y1, other.y1) - max(one.y0, other.y0) <= 1, "title, note and legend overlap"
        assert all(box.y1 <= figure.bbox.height * 1.01 for box in boxes), "a title leaves the figure"
    titles = [axes._left_title.get_window_extent() for axes in figure.axes]
    assert not [1 for one, other in itertools.combinations(titles, 2) if one.overlaps(other)]


SMALL: dict[str, tuple[Callable[[], Figure], str]] = {
    "dedup curve": (lambda: figures.draw_dedup_curve(SWEEP.assign(themes=range(1, len(SWEEP) + 1))), "y"),
    "similarities": (lambda: figures.draw_similarities(PAIRS.iloc[:1], 0.8), "y"),
    "corpus": (lambda: figures.draw_corpus(environments(1, 1)), "x"),
}
"""Figures of few things, and which axis counts them."""


@pytest.mark.parametrize("name", SMALL)
def test_what_is_counted_is_counted_in_whole_numbers(name: str) -> None:
    draw, which = SMALL[name]
    figure = draw()
    figure.draw_without_rendering()
    for axes in figure.axes:
        ticks = getattr(axes, f"get_{which}ticks")()
        labels = [label.get_text() for label in getattr(axes, f"get_{which}ticklabels")()]
        assert len(ticks) > 1 and all(float(tick).is_integer() for tick in ticks)
        assert not any("." in label for label in labels)


# Files


def test_a_saved_figure_is_three_files_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    table = pd.DataFrame({"stage": ["a"], "count": [1]})
    contents = []
    for turn in ("one", "two"):
        path = figures.save_figure(figures.draw_funnel(COUNTS), "07_funnel", tmp_path / turn, table, STAMP)
        assert path == tmp_path / turn / "07_funnel.png"
        files = sorted((tmp_path / turn).iterdir())
        assert [file.name for file in files] == ["07_funnel.csv", "07_funnel.pdf", "07_funnel.png"]
        contents.append([file.read_bytes() for file in files])
    assert contents[0] == contents[1]
    csv, pdf, png = contents[0]
    assert csv == b"stage,count\na,1\n"
    assert (
        b"CreationDate" not in pdf
        and pdf.startswith(b"%PDF")
        and png.startswith(b"\x89PNG")
        and b"Matplotlib" not in png
    )


def test_saving_twice_the_same_figure_leaves_it_as_it_was(tmp_path: Path) -> None:
    figure = figures.draw_dedup_curve(SWEEP)
    first, second = (
        figures.save_figure(figure, name, tmp_path, pd.DataFrame(), STAMP).read_bytes() for name in ("a", "b")
    )
    assert first == second and STAMP not in said(figure)


def test_the_stamp_is_in_the_picture(tmp_path: Path) -> None:
    def picture(stamp: str) -> bytes:
        return figures.save_figure(
            figures.draw_funnel(COUNTS), "x", tmp_path, pd.DataFrame(), stamp
        ).read_bytes()

    assert picture("model builtin · seed 0") != picture("model gpt-4.1 · seed 0")


def test_published_numbers_bring_their_own_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    footers = []
    write = Figure.text
    monkeypatch.setattr(
        Figure, "text", lambda self, x, y, s, **k: (footers.append(s), write(self, x, y, s, **k))[1]
    )
    for figure in (figures.draw_main_results(), figures.draw_dedup_curve(SWEEP)):
        figures.save_figure(figure, "x", tmp_path, pd.DataFrame(), STAMP)
    assert footers[-1] == STAMP and figures.PUBLISHED in footers and footers.count(STAMP) == 1


@pytest.mark.parametrize("name", ["", "a/b", "x.png", "../x"])
def test_a_name_that_is_no_file_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="file name"):
        figures.save_figure(figures.draw_funnel(COUNTS), name, tmp_path, pd.DataFrame(), STAMP)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Expected to write"):
        figures.save_figure(figures.draw_funnel(COUNTS), "x", tmp_path / "file" / "x", pd.DataFrame(), STAMP)


def test_the_names_of_rows_are_a_column_of_the_csv(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1]}, index=["x"]).rename_axis("agent")
    figures.save_figure(figures.draw_funnel(COUNTS), "x", tmp_path, table, STAMP)
    assert (tmp_path / "x.csv").read_text() == "agent,a\nx,1\n"


def test_a_figure_can_be_drawn_on_given_axes() -> None:
    figure, axes = plt.subplots(1, 2, figsize=(12, 4))
    assert (
        figures.draw_funnel(COUNTS, axes[0]) is figure and figures.draw_dedup_curve(SWEEP, axes[1]) is figure
    )
    assert axes[0].patches and axes[1].lines
    with pytest.raises(ParameterError, match="4 axes"):
        figures.draw_corpus(environments(), ax=list(axes))


def test_drawing_leaves_the_readers_settings_alone() -> None:
    before = dict(plt.rcParams)
    figures.draw_corpus(environments())
    assert dict(plt.rcParams) == before


# What is said and drawn


def test_the_corpus_shows_three_labelled_histograms_and_says_their_means() -> None:
    frame = environments(8)
    figure = figures.draw_corpus(frame)
    table = figures.corpus_table(frame)
    mean = frame["query_tools"].mean()
    assert f"{mean:.1f} query tools an environment; paper 10.4, sample 10.6" in sentences(figure)
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert legend[0] == "paper, 191: mean 10.44, median 10"
    assert legend[1] == "published sample, recomputed, 31: mean 10.58, median 11"
    assert legend[2] == f"ours, 8: mean {mean:.2f}, median {frame['query_tools'].median():g}"
    for axes, (panel, rows) in zip(figure.axes, table.groupby("panel", sort=False), strict=True):
        shown = (
            ["paper_share", "sample_share", "our_share"]
            if panel != "scenarios"
            else ["paper_share", "our_share"]
        )
        for bars, column in zip(axes.containers, shown, strict=True):
            # Every value is in some bar, also beyond the paper's last bin.
            heights = [bar.get_height() for bar in bars]
            assert heights == pytest.approx(list(rows[column])) and sum(heights) == pytest.approx(1), panel
        # Without colour: bars of three widths, one hatched, and lines of three kinds.
        assert len({(bars[0].get_width(), bars[0].get_hatch()) for bars in axes.containers}) == len(shown)
        assert len({line.get_linestyle() for line in axes.lines}) == len(axes.lines) == len(shown)
    assert "its scenarios are an excerpt" in said(figure)


def test_without_scenarios_their_panel_does_not_claim_zero() -> None:
    assert "No scenarios of ours to count; paper 37.3" in sentences(figures.draw_corpus(environments(3, 0)))


def test_the_corpus_takes_skeletons() -> None:
    tools = [Tool(name=f"t{i}", parameters={}, mutates=i < 2) for i in range(5)]
    made = Skeleton(
        theme_id="", title="x", summary="", class_name="X", source="", state=[], rules=[], tools=tools
    )
    assert "3.0 query tools" in sentences(figures.draw_corpus([made]))
    assert list(environment_frame([made])["state_change_tools"]) == [2]


def test_the_funnel_says_where_it_begins_and_ends() -> None:
    figure = figures.draw_funnel(COUNTS)
    assert sentences(figure) == "60 requests lead to 3 skeletons"
    assert "40  67% of requests" in said(figure) and "logarithmic" not in said(figure)
    assert "logarithmic" in said(figures.draw_funnel({"a": 100_000, "b": 3}))
    frame = pd.DataFrame({"stage": ["asked", "kept"], "count": [4, 2]})
    assert sentences(figures.draw_funnel(frame)) == "4 asked lead to 2 kept"
    with pytest.raises(ParameterError, match="at least one"):
        figures.draw_funnel({})


@pytest.mark.parametrize(
    ("agents", "sentence"),
    [
        (AGENTS, "witness earns the most, idle the least"),
        ({"a": 1.0, "b": 1.0, "c": 0.0}, "a and b earn the most, c the least"),
        ({"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0}, "3 agents earn the most, d the least"),
        ({"a": 0.5, "b": 0.5}, "Every agent earns 0.50"),
        ({"a": 0.5}, "a earns 0.50"),
        ({"a": np.nan}, "No episode has a reward"),
    ],
)
def test_outcomes_name_the_best_and_the_worst_and_no_tie_alone(agents: dict, sentence: str) -> None:
    assert sentences(figures.draw_outcomes(rollouts(agents))).startswith(sentence)


def test_steps_say_from_and_to() -> None:
    frame = rollouts({"tool agent": 1.0, "idle": 0.0})
    frame.loc[frame["agent"] == "idle", "steps"] = 0
    text = sentences(figures.draw_outcomes(frame))
    assert "tool agent earns the most, idle the least | idle acts least, tool agent most" in text


def test_outcomes_draw_means_with_intervals_and_count_what_is_missing() -> None:
    frame = rollouts(AGENTS)
    frame.loc[0, "reward"] = np.nan
    table = figures.outcome_table(frame)
    figure = figures.draw_outcomes(table)
    assert "1 episodes without reward left out" in said(figure)
    drawn = {round(float(x), 6) for line in figure.axes[0].lines for x in line.get_xdata()}
    assert {round(float(mean), 6) for mean in table[table["measure"] == "reward"]["mean"]} <= drawn
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["witness", "careless", "idle"]


def test_outcomes_take_records() -> None:
    played = [
        Rollout(scenario_id=f"c{i}", agent="idle", conversation=False, messages=[], trajectory=[], final_state={},
                outcomes=[schema.Outcome(item="?", kind="goal", passed=False)], ending="finished")
        for i in range(3)
    ]  # fmt: skip
    assert "idle earns 0.00" in sentences(figures.draw_outcomes(played))


def test_win_rates_state_n_and_put_the_best_first() -> None:
    won = win_rates(rollouts(AGENTS), n=7)
    figure = figures.draw_win_rates(won)
    assert "witness wins most: 100% of comparisons on 7 scenarios" in sentences(figure)
    assert "n = 7 scenarios" in said(figure)
    image = figure.axes[0].images[0].get_array()
    assert image[0, 1] == 1 and image[2, 0] == 0 and np.isnan(np.asarray(image.filled(np.nan))[1, 1])


def test_the_dedup_figures_say_what_the_threshold_does() -> None:
    assert sentences(figures.draw_dedup_curve(SWEEP, threshold=0.8)) == "At 0.80, 30 of 40 themes stand"
    figure = figures.draw_similarities(PAIRS, 0.8)
    assert sentences(figure) == "3 of 5 listed pairs reach the threshold of 0.80"
    # No bar lies on both sides of the threshold, and the coloured ones hold exactly the pairs above it.
    bars = figure.axes[0].patches
    assert all(b.get_x() >= 0.8 - 1e-9 or b.get_x() + b.get_width() <= 0.8 + 1e-9 for b in bars)
    blue = [b for b in bars if b.get_facecolor()[:3] == pytest.approx(plt.matplotlib.colors.to_rgb(OURS))]
    assert sum(b.get_height() for b in blue) == 3


def test_probes_are_counted_by_tool_or_environment() -> None:
    table = figures.probe_table(audit())
    assert table.to_dict("records") == [
        {"tool": "tool_0", "pass": 1, "warning": 0, "fail": 1},
        {"tool": "tool_1", "pass": 1, "warning": 1, "fail": 0},
    ]
    assert "1 of 4 probes fail, in 1 of 2 tools" in sentences(figures.draw_probe_matrix(audit()))
    assert list(figures.probe_table([audit(), audit()]).columns) == ["environment", "pass", "warning", "fail"]


def test_certificates_are_counted_and_the_missing_named() -> None:
    many = [
        scenario("a", nothing="proved", leave_one_out="proved"),
        scenario("b", nothing="proved", leave_one_out="failed"),
    ]
    figure = figures.draw_certificate([*many, scenario("c")])
    assert (
        sentences(figure) == "1 of 2 certificates prove all they tried; most often missing: leave one out (1)"
    )
    assert (
        "1 scenarios were not certified" in said(figure)
        and "1 of 2" in said(figure)
        and "2 of 2" in said(figure)
    )


# The theme map


def test_labels_of_the_map_do_not_overlap_and_stay_inside() -> None:
    named, vectors = themes(120)
    figure = figures.draw_theme_map(named, vectors)
    for _ in range(2):  # also when the figure is drawn again
        figure.canvas.draw()
        axes = figure.axes[0]
        titles = {theme.title[:12] for theme in named}
        texts = [text for text in axes.texts if text.get_text().replace("\n", " ")[:12] in titles]
        assert 20 <= len(texts) <= 30
        boxes = [text.get_window_extent() for text in texts]
        assert not [1 for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]
        frame = axes.get_window_extent()
        assert all(
            frame.x0 <= b.x0 and b.x1 <= frame.x1 and frame.y0 <= b.y0 and b.y1 <= frame.y1 for b in boxes
        )
    assert "120 themes fall into 8 groups" in sentences(figure) and "UMAP" in said(figure)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 10])
def test_a_map_of_few_themes_has_a_place_for_each(count: int) -> None:
    table = figures.theme_table(*themes(count))
    assert len(table) == count and np.isfinite(table[["x", "y"]].to_numpy()).all()
    assert ("PCA" in table.attrs["how"]) == (count < theme_map.FEWEST_FOR_UMAP)


def test_the_map_is_the_same_each_time_and_exact_neighbours_change_nothing() -> None:
    named, vectors = themes(theme_map.EXACT_ABOVE + 20)
    first, second = theme_map.lay_out(vectors)[0], theme_map.lay_out(vectors)[0]
    assert np.array_equal(first, second) and first.shape == (len(named), 2)
    places, distances = theme_map._neighbours(vectors, 5)
    exact = 1 - vectors @ vectors.T
    assert np.allclose(distances, np.sort(exact, axis=1)[:, :5], atol=1e-6)
    assert (places[:, 0] == np.arange(len(named))).all()


def test_equal_themes_can_be_drawn() -> None:
    named, vectors = themes(6)
    assert figures.draw_theme_map(named, np.repeat(vectors[:1], 6, axis=0)).axes


@pytest.mark.parametrize("count", [0, 3])
def test_a_map_needs_a_vector_for_each_theme(count: int) -> None:
    named, _ = themes(count)
    with pytest.raises(ParameterError, match="finite numbers for each"):
        figures.draw_theme_map(named, np.zeros((2, 4)))


def test_spread_takes_far_rows_and_each_once() -> None:
    places = np.array([[0.0, 0], [0.1, 0], [10, 0], [0, 10], [-10, 0]])
    assert set(theme_map.spread(places, 4)) >= {2, 3, 4}
    assert sorted(theme_map.spread(np.zeros((5, 2)), 9)) == [0, 1, 2, 3, 4]
    assert theme_map.spread(np.zeros((0, 2)), 3) == []


# The paper


def test_the_papers_facts_carry_sources_and_add_up() -> None:
    facts = figures.paper_facts()
    assert all(block["source"] for block in facts.values())
    for name in ("query_tools", "state_change_tools", "state_attributes", "scenarios"):
        block = facts[name]
        assert sum(block["counts"]) == block["environments"] == facts["funnel"]["kept"] == 191
        assert len(block["edges"]) == len(block["counts"]) + 1
        middles = (np.array(block["edges"][:-1]) + block["edges"][1:]) / 2
        # Bins of width 1 give the mean itself, wider ones are off by at most half their width.
        off = abs(np.average(middles, weights=block["counts"]) - block["mean"])
        assert off < (0.005 if name.endswith("tools") else 0.5), name
    assert facts["averages"]["tools"] == pytest.approx(
        facts["query_tools"]["mean"] + facts["state_change_tools"]["mean"]
    )
    release = facts["release"]
    assert release["query_tools"] + release["state_change_tools"] == release["tools"]
    assert release["sft_envs"] + release["rl_envs"] == 191


def test_the_main_results_are_recomputed_and_the_one_difference_is_named() -> None:
    table = figures.main_results()
    assert len(table) == 13 * 3
    different = table[table["differs"]]
    assert list(different["model"]) == ["Qwen3-4B+SFT"] and list(different["benchmark"]) == ["Tau-Bench"]
    gains = table[table["stage"] == "SFT"].groupby("benchmark")["gain"].mean()
    assert gains["BFCL-v3 Multi-Turn"] == pytest.approx(8.67, abs=0.01)
    assert gains["ACEBench-Agent"] == pytest.approx(11.57, abs=0.01)
    text = said(figures.draw_main_results())
    assert "Published numbers" in text and "printed 38.20, recomputed 38.175" in text and "38.2*" in text


def test_every_item_of_the_paper_is_accounted_for() -> None:
    items = figures.paper_items()
    assert set(items["status"]) == {
        "reproduced from new data", "redrawn from published numbers", "not reproducible here",
    }  # fmt: skip
    wanted = [
        "Fig. 1",
        "Fig. 2",
        "Fig. 3",
        "Fig. 4a",
        "Fig. 4b",
        "Fig. 4c",
        "Fig. 4d",
        "Fig. 4e",
        "Table 2",
        "Fig. 5",
    ]
    wanted += ["Fig. 6 / Table 4", "Table 6", "Table 9", "Fig. 7 left", "Fig. 7 right"]
    assert set(wanted) <= set(items["item"]) and items["item"].is_unique
    assert items["why"].str.len().min() > 10
    names = items["where"].str.extractall(r"(draw_\w+|paper_facts)")[0]
    assert len(names) and all(hasattr(figures, name) for name in names)


def test_broken_facts_are_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "paper_path", lambda: tmp_path / "paper.json")
    with pytest.raises(StoreError, match="there is none"):
        figures.paper_facts()
    (tmp_path / "paper.json").write_text("{")
    with pytest.raises(StoreError, match="Restore"):
        figures.paper_facts()
    monkeypatch.setattr(project, "sample_path", lambda: tmp_path / "paper.json")
    with pytest.raises(StoreError, match="Restore"):
        figures.sample_facts()


# The dictionary of the data


def test_the_dictionary_names_every_record_field_and_file() -> None:
    data = project.PACKAGE.parent / "data"
    text = (data / "README.md").read_text()
    # A record has a second line further down, on its published form.
    lines = {line.split("`")[1]: line for line in reversed(text.splitlines()) if line.startswith("| `")}
    records = [
        schema.Task,
        schema.Theme,
        schema.Skeleton,
        schema.Audit,
        schema.Scenario,
        schema.Rollout,
        schema.Failure,
    ]
    for record in records:
        line = lines[record.__name__]
        for field in record.model_fields:
            quiet = field in record.outside_id
            assert (f"*`{field}`*" if quiet else f"`{field}`") in line, f"{record.__name__}.{field}"
            assert quiet or f"*`{field}`*" not in line, f"{record.__name__}.{field} is in the id"
    parts = {
        name
        for name, kind in vars(schema).items()
        if isinstance(kind, type) and issubclass(kind, schema.Part)
    }
    assert not [name for name in parts - {"Part", "Record"} if f"`{name}`" not in text]
    for stage in project.STAGES:
        assert f"`{stage}/<run>.jsonl`" in text
    assert json.loads((data / "paper.json").read_text())
