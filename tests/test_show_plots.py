"""The kill matrix: the table behind it, and what the picture says."""

from itertools import pairwise

import pytest
from matplotlib.figure import Figure

from envscaler.figures import draw_certificate, draw_kill_matrix, kill_table
from envscaler.schema import Certificate, Check, Kill, Proof, Scenario

CHECKS = [Check(item="Done?", source=""), Check(item="Kept?", source="", kind="guard")]


def scenario(*kills: tuple[str, list[str]], proofs: list[Proof] | None = None) -> Scenario:
    made = [Kill(kind=kind, what=f"{kind} {n}", killers=killers) for n, (kind, killers) in enumerate(kills)]
    certificate = Certificate(proofs=proofs or [Proof(name="x", status="proved")], kills=made)
    return Scenario(skeleton_id="s", initial_state={}, task="t", checks=CHECKS, certificate=certificate)


MANY = [
    scenario(
        ("date shifted", ["Done?"]),
        ("call dropped", ["Done?", "Kept?"]),
        ("bystander missing", ["bystanders"]),
    ),
    scenario(("date shifted", []), ("date shifted", ["Done?"]), ("call dropped", ["Done?"])),
    scenario(("date shifted", ["Kept?"])),
]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_a_row_a_kind_calls_first() -> None:
    table = kill_table([*MANY, MANY[0].replace(certificate=None)]).set_index("kind")
    assert list(table.index) == ["call dropped", "bystander missing", "date shifted"]
    dates = table.loc["date shifted"]
    assert (dates["scenarios"], dates["mutants"], dates["killed"]) == (3, 4, 0.75)
    assert dates["mean"] == pytest.approx(2.5 / 3) and dates["minimum"] == 0.5
    assert (dates["goals"], dates["guards"], dates["bystanders"]) == (0.5, 0.25, 0.0)
    assert (table.loc["call dropped"][["goals", "guards"]] == [1.0, 0.5]).all()
    assert table.loc["bystander missing", "bystanders"] == 1.0


def test_the_picture_says_how_many_and_which_least() -> None:
    figure = draw_kill_matrix(MANY)
    [axes] = figure.axes
    assert axes.get_title(loc="left").replace("\n", " ") == (
        "85.7 % of 7 mutants are told from the solution; least often: date shifted (75.0 %)"
    )
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "call dropped (2)", "bystander missing (1)", "date shifted (4)",
    ]  # fmt: skip
    assert texts(figure).count("100 %") == 6 and "75 %" in texts(figure) and "50 %" in texts(figure)


def test_nearly_all_is_never_called_all() -> None:
    nearly = [scenario(*([("call dropped", ["Done?"])] * 5000), ("call dropped", []))]
    assert draw_kill_matrix(nearly).axes[0].get_title(loc="left").startswith("99.9 % of 5,001")
    assert "99 %" in texts(draw_kill_matrix(nearly))
    every = draw_kill_matrix([scenario(("call dropped", ["Done?"]))]).axes[0].get_title(loc="left")
    assert every.replace("\n", " ") == "100 % of 1 mutants are told from the solution"


def test_no_mutants_say_so() -> None:
    for none in ([], [scenario()], [MANY[0].replace(certificate=None)]):
        assert kill_table(none).empty and texts(draw_kill_matrix(none)) == ["No certificate has mutants."]


def test_labels_do_not_lie_on_each_other() -> None:
    kinds = [f"a kind of mutant with a long name {n}" for n in range(24)]
    figure = draw_kill_matrix([scenario(*((kind, ["Done?"]) for kind in kinds))])
    figure.draw_without_rendering()
    labels = figure.axes[0].get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    heads = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert not any(one.overlaps(other) for one, other in pairwise(heads))


def test_a_trial_with_nothing_to_try_is_told_from_one_that_was_tried() -> None:
    idle = Proof(name="solved otherwise: other ids", status="proved", detail="Nothing to try.")
    tried = Proof(
        name="solved otherwise: other ids", status="proved", figure=1.0, detail="1 tried, all paid."
    )
    figure = draw_certificate([scenario(proofs=[idle]), scenario(proofs=[tried]).replace(task="another")])
    assert "2 of 2 (1 tried)" in texts(figure)
