"""A complete LaTeX document around pieces of LaTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paramsym.render import latex

if TYPE_CHECKING:
    from collections.abc import Iterable

PREAMBLE = r"""\documentclass{article}
\usepackage[a4paper,margin=30mm]{geometry}
\usepackage{amsmath,array,booktabs,float,longtable}
\floatplacement{table}{H}
\setlength{\parindent}{0pt}
\setlength{\emergencystretch}{6em}
\allowdisplaybreaks"""
"""The smallest preamble for all pieces, for pdflatex and lualatex. A table with a caption is not moved."""


def document(pieces: Iterable[str], title: str = "") -> str:
    """Return a document with the pieces one after another."""
    head = [r"\section*{" + latex.escape(title) + "}"] if title else []
    return "\n\n".join([PREAMBLE, r"\begin{document}", *head, *pieces, r"\end{document}"]) + "\n"


def displayed(piece: str) -> str:
    """Return a piece for running text: a displayed formula, or an environment or a table unchanged."""
    start = re.sub(r"^\{\\[^\n]*\n", "", piece)  # a font size
    if start.startswith(r"\begin{tabular"):
        return f"\\begin{{center}}\n{piece}\n\\end{{center}}"
    if start.startswith(r"\begin{") and not start.startswith(r"\begin{aligned}"):
        return piece
    return f"\\[\n{piece}\n\\]"
