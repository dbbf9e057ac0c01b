"""Paper and ink of every figure: the house style, axes to draw on, titles, and the files a figure becomes.

`figures` and its neighbours draw on what `canvas` gives them and know no file; this module knows files and no record.
Figures are made through pyplot, so that notebooks can display them, and closed at once, so that a notebook shows
them once and a long run does not collect them.
"""

import io
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, cast

import pandas as pd

from envscaler.error import ParameterError
from envscaler.given import a_path, many, one, told
from envscaler.store import write_bytes

if TYPE_CHECKING:  # matplotlib is heavy; it is imported when something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")
STYLE = Path(__file__).with_name("house.mplstyle")
OURS, PAPER, THIRD = "#0072b2", "#e69f00", "#009e73"
GOOD, DOUBTFUL, BAD, QUIET = "#009e73", "#f0c04c", "#d55e00", "#8a8a8a"
INK = "#222222"


@contextmanager
def house_style() -> Iterator[None]:
    """The house style for what is drawn inside."""
    from matplotlib import style

    with style.context(STYLE):
        yield


def in_house_style(draw: Callable[P, "Figure"]) -> Callable[P, "Figure"]:
    """A draw function that draws in the house style, whatever the notebook's settings are."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        with house_style():
            return draw(*args, **kwargs)

    return drawn


def axes_for(
    ax: "Axes | Sequence[Axes] | None", size: tuple[float, float], rows: int = 1, columns: int = 1
) -> "tuple[Figure, list[Axes]]":
    """The axes to draw on: those given, or those of a new figure of `size` inches.

    Raises:
        ParameterError: another number of axes was given than the figure has panels.
    """
    import numpy as np

    if ax is None:
        import matplotlib.pyplot as plt

        figure, made = plt.subplots(rows, columns, figsize=size, squeeze=False)
        plt.close(figure)
        return figure, list(made.flat)
    from matplotlib.axes import Axes as Panel

    given = many(list(np.ravel(cast(Any, ax))), Panel)
    if len(given) != rows * columns:
        raise ParameterError(f"Expected {rows * columns} axes for this figure, got {len(given)}.")
    return cast("Figure", given[0].get_figure(root=True)), given


def say(axes: "Axes", sentence: str, note: str = "", room: float = 0.0) -> None:
    """Title the axes with a sentence that fits their width, and a quieter note under it.

    Args:
        axes: what to title.
        sentence: the finding, in bold.
        note: what the reader must know beside it.
        room: points to leave free between title and axes, for a legend.
    """
    pad = room + 6.0
    if note:
        lines = wrap(note, axes, 8.3)
        axes.annotate(
            lines,
            (0, 1),
            (0, pad),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=8.3,
            color="#555555",
        )
        pad += 10.5 * (lines.count("\n") + 1) + 3
    axes.set_title(wrap(sentence, axes, 11), pad=pad)


def wrap(sentence: str, axes: "Axes", points: float) -> str:
    """A sentence in as few lines as fit the width of the axes, the lines about equally long."""
    figure = cast("Figure", axes.get_figure(root=True))
    figure.draw_without_rendering()  # the lay-out, and with it the width, is only known after a draw
    # A letter of DejaVu Sans is about 0.5 em wide, one of a bold title 0.57.
    letter = points * (0.57 if points > 9 else 0.5)
    widest = max(int(axes.get_window_extent().width / figure.dpi * 72 / letter), 20)
    lines = textwrap.wrap(sentence, widest, break_long_words=False)
    even = next(
        (
            n
            for n in range(20, widest)
            if len(textwrap.wrap(sentence, n, break_long_words=False)) == len(lines)
        ),
        widest,
    )
    return "\n".join(textwrap.wrap(sentence, even, break_long_words=False))


def caption(figure: "Figure", text: str) -> None:
    """A quiet line at the top of a figure of several panels."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=9, fontweight="normal", color="#555555")


def count_axis(axes: "Axes", which: Literal["x", "y"]) -> None:
    """Counts on an axis: whole numbers only, however few there are."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def percent_axis(axes: "Axes") -> None:
    """Shares on the y axis, in whole percents."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def says_nothing(axes: "Axes", sentence: str) -> None:
    """An empty panel that says why it is empty."""
    axes.set_axis_off()
    axes.text(
        0.5, 0.5, sentence, ha="center", va="center", color="#555555", transform=axes.transAxes, wrap=True
    )


# A figure becomes files


def save_figure(
    figure: "Figure",
    name: str,
    folder: str | Path,
    table: pd.DataFrame,
    stamp: str,
) -> Path:
    """Write a figure as PNG and PDF, and the table behind it as CSV; the three differ in their ending only.

    The same figure gives the same bytes again: no date and no version is written into the files.

    Args:
        figure: what a `draw_…` function returned.
        name: file name without ending, the notebook's number first: `02_theme_map`.
        folder: where to write; it is made.
        table: the numbers that are drawn.
        stamp: model, scale and seed, set small under the figure; one that draws no run's numbers brings its own
            stamp as its label, and that is set instead.

    Returns:
        The path of the PNG.

    Raises:
        ParameterError: the name cannot be a file name, or there is no figure or table.
        StoreError: the folder cannot be made or written to.
    """
    from matplotlib.figure import Figure as Drawn

    if not isinstance(name, str) or not name or name != Path(name).name or Path(name).suffix:
        raise ParameterError(f"Expected a file name without folder and ending, got {told(name)}.")
    place = a_path(folder)
    for given, kind in ((figure, Drawn), (table, pd.DataFrame)):
        one(given, kind)
    with house_style(), _stamped(figure, str(figure.get_label()) or stamp):
        png = _printed(figure, format="png", dpi=200, metadata={"Software": None})
        pdf = _printed(
            figure, format="pdf", metadata={"CreationDate": None, "Producer": None, "Creator": None}
        )
    plain = table if isinstance(table.index, pd.RangeIndex) else table.reset_index()
    write_bytes(place / f"{name}.csv", plain.to_csv(index=False, lineterminator="\n").encode())
    write_bytes(place / f"{name}.pdf", pdf)
    return write_bytes(place / f"{name}.png", png)


def _printed(figure: "Figure", **settings: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, bbox_inches="tight", pad_inches=0.12, **settings)
    return buffer.getvalue()


@contextmanager
def _stamped(figure: "Figure", text: str) -> Iterator[None]:
    # Under the figure, where the tight box of the file takes it in and nothing of the drawing can lie.
    footer = figure.text(0.995, -0.012, text, ha="right", va="top", fontsize=7, color="#777777")
    footer.set_in_layout(True)
    engine = figure.get_layout_engine()
    try:
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        yield
    finally:
        footer.remove()
        figure.set_layout_engine(engine)
