"""Estimated widths, held against those that TeX measures."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import strategies
from amount import ALL, cases, sample

import paramsym as ps
from paramsym.algebra.letters import LETTER_SETS
from paramsym.render.latex import escape
from paramsym.render.widths import LINE, width, width_of_words

CHARACTER = 5.0
"""Points."""


def measured(boxes: list[str], folder: Path) -> list[float]:
    """Return how many characters wide TeX sets each box."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    lines = [rf"\setbox0\hbox{{{box}}}\typeout{{WIDTH \the\wd0}}" for box in boxes]
    source = [r"\documentclass{article}", r"\usepackage{amsmath}", r"\begin{document}", *lines, r"\typeout{WIDTH \the\textwidth}"]
    (folder / "boxes.tex").write_text("\n".join([*source, r"\end{document}"]), encoding="utf-8")
    done = subprocess.run(["pdflatex", "-interaction=batchmode", "boxes.tex"], cwd=folder, capture_output=True, check=False)  # noqa: S607
    assert done.returncode == 0
    found = re.findall(r"^WIDTH (-?[\d.]+)pt", (folder / "boxes.log").read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    assert len(found) == len(boxes) + 1
    return [float(points) / CHARACTER for points in found]


@cases(0)
def test_formulas_are_as_wide_as_tex_sets_them(tmp_path: Path) -> None:
    """Every family's formula, in the letters of every paper: within a tenth, and hardly ever wider than estimated."""
    formulas = []
    for cls in sample(33, strategies.model_classes()):
        model = strategies.plain(cls)
        for letters in LETTER_SETS:
            if not (cls is ps.models.Deepseek and letters.name == "vaswani"):  # it has a k of its own
                formulas += [model.to_latex(form, letters=letters.name) for form in ("expanded", "factored", "annotated")]
    *widths, line = measured([rf"$\displaystyle {formula}$" for formula in formulas], tmp_path)
    assert line - 3 < LINE < line
    ratios = sorted(width(formula) / real for formula, real in zip(formulas, widths, strict=True) if real > 3)
    assert len(ratios) > (500 if ALL else 200)
    assert ratios[0] > 0.85
    assert ratios[-1] < 1.15
    assert ratios[len(ratios) // 20] > 0.93


def test_words_are_as_wide_as_tex_sets_them(tmp_path: Path) -> None:
    """The names of tensors."""
    names = [name for cls in (ps.models.Bert, ps.models.Swin, ps.models.T5) for name in cls().shapes()]
    *widths, _ = measured([escape(name) for name in names], tmp_path)
    assert all(0.85 < width_of_words(escape(name)) / real < 1.15 for name, real in zip(names, widths, strict=True))


def test_lines_stand_beneath_each_other() -> None:
    """Of several lines the widest counts; an index is smaller than what it is beside; braces that do not match are no matter."""
    assert width("\\begin{aligned}\n&H + H \\\\\n&+ H\n\\end{aligned}") == pytest.approx(width("H + H"))
    assert width("A = \\begin{aligned}\n&H \\\\\n&H\n\\end{aligned} + H") == pytest.approx(width("A = H + H"))
    assert width("H") < width("H_{H}") < width("H H")
    assert width(r"\underbrace{H}_{\text{x}}") == pytest.approx(3.6)
    assert width("H}H") == width("H")
    assert width("-H") < width("H - H") - width("H")
