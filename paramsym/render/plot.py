"""Pictures with matplotlib, from plain data: bars, icicles, curves, tilings. Every picture has a description in words."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import Any

from paramsym.optional import needed
from paramsym.render.table import percent

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""Okabe and Ito's colours, which readers with any colour vision can distinguish."""
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (6, 3)))
_SMALLEST = 0.04  # of the whole height; smaller boxes of an icicle have no words


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure and its description in words.

    ``save("x.pdf")`` writes it; a notebook shows it with its words as alternative text.
    """

    figure: Any
    alt: str

    def save(self, path: Any, **options: Any) -> None:
        """Write the picture to a file, in the format of its ending."""
        self.figure.savefig(path, **{"bbox_inches": "tight", **options})

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.figure.savefig(out, format="png", dpi=144, bbox_inches="tight", facecolor="white")
        return out.getvalue()

    def _repr_html_(self) -> str:
        source = base64.b64encode(self._repr_png_()).decode()
        return f'<img alt="{escape(self.alt)}" style="max-width:100%" src="data:image/png;base64,{source}">'


def _figure(width: float, height: float) -> tuple[Any, Any]:
    figure = needed("matplotlib.figure", "a picture", "plot").Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _rectangle(axes: Any, corner: tuple[float, float], width: float, height: float, colour: str, **look: Any) -> None:
    shape = needed("matplotlib.patches", "a picture", "plot").Rectangle
    axes.add_patch(shape(corner, width, height, facecolor=colour, edgecolor="white", **look))


def _bare(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _drawing(figure: Any, axes: Any, title: str, alt: str) -> Picture:
    """Finish a picture without axes, whose lengths are true."""
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title, fontsize=10)
    return Picture(figure, alt)


def bars(labels: Sequence[str], series: Sequence[tuple[str, Sequence[int]]], unit: str, title: str) -> Picture:
    """Return horizontal bars, one group per label, with the number and its share at the end of each."""
    figure, axes = _figure(7, 0.6 + 0.42 * len(labels) * len(series))
    thick = 0.8 / len(series)
    sums = [max(sum(values), 1) for _, values in series]
    largest = max((value for _, values in series for value in values), default=1)
    said = []
    for number, (name, values) in enumerate(series):
        places = [row + (number - (len(series) - 1) / 2) * thick for row in range(len(labels))]
        look = {"color": COLOURS[number], "hatch": "//" if number else "", "edgecolor": "white"}
        drawn = axes.barh(places, values, thick * 0.9, label=name, **look)
        words = [f"{value:,} ({percent(value, sums[number])})" for value in values]
        axes.bar_label(drawn, [f" {one}" if value else "" for one, value in zip(words, values, strict=True)], fontsize=8)
        parts = ", ".join(f"{label} {one}" for label, one in zip(labels, words, strict=True))
        said.append(f"{name}: {parts}")
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.35 * largest)
    axes.set_xlabel(unit)
    axes.xaxis.set_major_locator(needed("matplotlib.ticker", "a picture", "plot").MaxNLocator(4, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title(title, fontsize=10)
    if len(series) > 1:
        figure.legend(loc="outside lower right", ncols=len(series), frameon=False, fontsize=8)
    _bare(axes)
    return Picture(figure, f"Bar chart of {unit}. {title}. {'. '.join(said)}.")


@dataclass(frozen=True)
class Box:
    """A box of an icicle: its words, its amount and its inner boxes."""

    name: str
    amount: int
    inside: tuple[Box, ...] = ()


def icicle(root: Box, unit: str, title: str) -> Picture:
    """Return nested columns: the whole at the left, its parts to the right, each as high as its share."""
    figure, axes = _figure(8, 5)
    deepest = _draw(axes, root, 0, 0.0, 1.0, 0)
    axes.set_xlim(0, deepest)
    axes.set_ylim(1, 0)
    axes.set_xticks([])
    axes.set_ylabel(f"share of {unit}")
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_title(title, fontsize=10)
    parts = ", ".join(f"{box.name} {percent(box.amount, max(root.amount, 1))}" for box in root.inside)
    return Picture(figure, f"Icicle of {unit}. {title}. {root.name} {root.amount:,}: {parts}.")


def _draw(axes: Any, box: Box, depth: int, top: float, height: float, colour: int) -> int:
    shade = COLOURS[colour % len(COLOURS)]
    face = "#DDDDDD" if depth == 0 else shade
    _rectangle(axes, (depth, top), 1, height, face, alpha=1.0 if depth < 2 else 0.75)
    if height > _SMALLEST:
        dark = depth and shade in {"#0072B2", "#D55E00", "#009E73"}
        words = f"{box.name}\n{box.amount:,}" if height > 2 * _SMALLEST else box.name
        look = {"ha": "center", "va": "center", "fontsize": 8, "clip_on": True}
        axes.text(depth + 0.5, top + height / 2, words, color="white" if dark else "black", **look)
    deepest = depth + 1
    for number, inner in enumerate(box.inside):
        share = height * inner.amount / max(box.amount, 1)
        deepest = max(deepest, _draw(axes, inner, depth + 1, top, share, number if depth == 0 else colour))
        top += share
    return deepest


@dataclass(frozen=True)
class Lead:
    """Where one term is the largest: from ``start`` to ``end`` on the axis, and from ``first`` to ``last`` in whole numbers."""

    name: str
    start: float
    end: float
    first: int
    last: int


def curves(
    values: Sequence[int],
    total: Sequence[int],
    terms: Sequence[tuple[str, Sequence[int]]],
    leads: Sequence[Lead],
    axis: str,
    unit: str,
    title: str,
) -> Picture:
    """Return a count and its terms on logarithmic axes, and mark the ranges in which each term is the largest."""
    figure, axes = _figure(7, 4.5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.plot(values, total, color="black", linewidth=2.5, label="all")
    for number, (name, amounts) in enumerate(terms):
        shown = [(value, amount) for value, amount in zip(values, amounts, strict=True) if amount > 0]
        if shown:
            xs, ys = zip(*shown, strict=True)
            axes.plot(xs, ys, color=COLOURS[number % len(COLOURS)], linestyle=_DASHES[number % len(_DASHES)], label=f"${name}$")
    names = [name for name, _ in terms]
    for lead in leads:
        axes.axvspan(lead.start, lead.end, color=COLOURS[names.index(lead.name) % len(COLOURS)], alpha=0.1, linewidth=0)
        middle = (lead.start * lead.end) ** 0.5
        axes.annotate(f"${lead.name}$ leads", (middle, 0.02), xycoords=("data", "axes fraction"), ha="center", fontsize=8)
    for lead in leads[1:]:
        axes.axvline(lead.start, color="black", linewidth=0.8, linestyle=":")
        place = {"xycoords": ("data", "axes fraction"), "xytext": (3, 0), "textcoords": "offset points"}
        axes.annotate(f"{lead.start:,.1f}".removesuffix(".0"), (lead.start, 0.07), fontsize=8, **place)
    axes.set_xlim(values[0], values[-1])
    axes.set_xlabel(axis)
    axes.set_ylabel(unit)
    axes.set_title(title, fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    axes.grid(which="major", alpha=0.3)
    _bare(axes)
    led = "; ".join(f"{lead.name} is the largest term from {lead.first:,} to {lead.last:,}" for lead in leads)
    ends = f"from {total[0]:,} at {values[0]:,} to {total[-1]:,} at {values[-1]:,}"
    words = f"Curves of {unit} against {axis} on logarithmic axes. {title}. The sum runs {ends}. {led}."
    return Picture(figure, words.replace("$", "").replace("{,}", ","))


def tiling(heads: int, words: Callable[[int], str], title: str, side: str, slice_width: str, alt: str) -> Picture:
    """Return a square cut into equal bands, one per head."""
    figure, axes = _figure(4.6, 4.6)
    for head in range(heads):
        colour = COLOURS[head % (len(COLOURS) - 1)]
        _rectangle(axes, (0, head / heads), 1, 1 / heads, colour, linewidth=2, alpha=0.55)
        axes.text(0.5, (head + 0.5) / heads, words(head), ha="center", va="center", fontsize=9)
    for start, end in (((0, -0.05), (1, -0.05)), ((-0.05, 0), (-0.05, 1)), ((1.05, 0), (1.05, 1 / heads))):
        axes.annotate("", start, end, arrowprops={"arrowstyle": "<->"}, annotation_clip=False)
    axes.text(0.5, -0.11, f"${side}$ inputs", ha="center", va="center")
    axes.text(-0.12, 0.5, f"${side}$ outputs", ha="center", va="center", rotation=90)
    axes.text(1.08, 0.5 / heads, f"${slice_width}$", ha="left", va="center", fontsize=12)
    axes.set_xlim(-0.2, 1.25)
    axes.set_ylim(1.05, -0.2)
    return _drawing(figure, axes, title, alt)


def stacks(filters: int, channels: int, kernel: int, labels: tuple[str, str, str], title: str, alt: str) -> Picture:
    """Return filters side by side, each a stack of square kernels drawn one after the other."""
    figure, axes = _figure(1.2 + 1.5 * filters, 2.9)
    step = kernel + channels * 0.55 + 1.2
    for one in range(filters):
        left = one * step
        for behind, row, column in product(reversed(range(channels)), range(kernel), range(kernel)):
            shift = behind * 0.5
            _rectangle(axes, (left + shift + column, shift + row), 1, 1, COLOURS[behind % len(COLOURS)], linewidth=1)
        axes.text(left + kernel / 2, -0.7, f"filter {one + 1}", ha="center", va="center", fontsize=8)
    wide, deep, many = labels
    axes.text(-0.4, kernel / 2, wide, ha="right", va="center", rotation=90, fontsize=9)
    axes.text(kernel + 0.2, -0.1 + (channels - 1) * 0.1, deep, ha="left", va="top", fontsize=9, rotation=0)
    axes.text(filters * step / 2, -1.7, many, ha="center", va="center", fontsize=9)
    axes.set_xlim(-1.6, filters * step + 1)
    axes.set_ylim(-2.3, kernel + channels * 0.55 + 0.3)
    return _drawing(figure, axes, title, alt)
