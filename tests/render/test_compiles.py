"""Every kind of LaTeX output of every layer and model compiles with a real LaTeX, without errors, and fits its page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
import strategies

import paramsym as ps
from paramsym.letters import LETTER_SETS
from paramsym.render.latex import escape
from paramsym.typeset import FORMS

TOLERANCE = 15.0
"""Points by which a line may stand out into the margin: a long name in a table has few places to break."""


@cache
def layers() -> tuple[ps.Layer, ...]:
    """Every public layer that stores something, with symbols for sizes."""
    return tuple(strategies.plain(cls) for cls in strategies.storing_classes())


@cache
def models() -> tuple[ps.Layer, ...]:
    """Every public family, with symbols for sizes where it has defaults for them."""
    found = []
    for cls in strategies.model_classes():
        try:
            found.append(cls())
        except TypeError:  # a part of a model that needs arguments
            continue
    return tuple(found)


def letters(layer: ps.Layer) -> dict[str, str]:
    """Short forms for the long names that the fields of a layer have."""
    names = sorted(symbol.name for symbol in [*layer.symbols, *strategies.bound(layer)])
    return {name: name if len(name) == 1 else rf"{name[0]}_{{{number}}}" for number, name in enumerate(names)}


def formulas(layer: ps.Layer) -> list[str | object]:
    """Every form of one closed form."""
    pieces: list[str | object] = [rf"\subsection*{{{escape(type(layer).__name__)}}}"]
    for form in FORMS:
        if form == "steps":
            continue
        by = min(layer.params.free_symbols, key=lambda symbol: symbol.name, default=None)
        if form == "collected" and by is None:
            continue
        written = layer.to_latex(form, by=by if form == "collected" else None, width=76, letters=letters(layer))
        pieces.append(written if written.startswith("\\begin{align*}") else f"\\[\n{written}\n\\]")
    return pieces


def compile_with(engine: str, source: str, folder: Path) -> str:
    """Compile a document and return the log; fail where LaTeX fails."""
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    (folder / "page.tex").write_text(source, encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    environment = {**os.environ, "max_print_line": "1000"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False, env=environment)
    log = (folder / "page.log").read_text(encoding="utf-8", errors="replace")
    errors = re.findall(r"^!.*\n(?:.*\n){0,8}", log, re.MULTILINE)
    assert done.returncode == 0, "".join(errors)[:2000]
    assert not errors
    assert "Missing character" not in log
    return log


def overfull(log: str) -> list[str]:
    """Return the boxes that stand out more than the tolerance."""
    found = re.findall(r"^Overfull \\hbox \(([\d.]+)pt too wide\).*(?:\n.*)?", log, re.MULTILINE)
    whole = [match.group() for match in re.finditer(r"^Overfull \\hbox \(([\d.]+)pt too wide\).*(?:\n.*)?", log, re.MULTILINE)]
    return [words for points, words in zip(found, whole, strict=True) if float(points) > TOLERANCE]


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_formulas_of_every_layer(engine: str, tmp_path: Path) -> None:
    """Expanded, collected, factored, by part, annotated and aligned."""
    pieces = [piece for layer in (*layers(), *models()) for piece in formulas(layer)]
    assert overfull(compile_with(engine, ps.latex_document(*pieces), tmp_path)) == []


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_tables_of_every_layer(engine: str, tmp_path: Path) -> None:
    """Tables of tensors break across pages, tables of parts stand in the text."""
    pieces: list[object] = []
    for layer in (*layers(), *models()):
        short = layer.table(depth=1, letters=letters(layer)).to_latex()
        pieces += [layer.table(buffers=True, letters=letters(layer)), f"\\begin{{center}}\n{short}\n\\end{{center}}"]
    assert overfull(compile_with(engine, ps.latex_document(*pieces), tmp_path)) == []


def test_derivations_of_every_layer(tmp_path: Path) -> None:
    """One derivation per symbol of a layer, with the words between the equations, beneath each other, and without."""
    pieces: list[object] = []
    for layer in (*layers(), *models()):
        for symbol in sorted(layer.symbols, key=lambda symbol: symbol.name)[:3]:
            derivation = ps.explain(layer, symbol)
            pieces += [derivation.to_latex(letters(layer), words=words) for words in ("intertext", "text", "none")]
    assert overfull(compile_with("pdflatex", ps.latex_document(*pieces), tmp_path)) == []


def test_answers_and_numbers(tmp_path: Path) -> None:
    """Steps with numbers, ledgers, reconciliations and conventions."""
    bert = ps.models.Bert().at("bert-base-uncased")
    pieces = [bert.to_latex("steps"), bert.ledger(), ps.reconcile(bert, 109_786_368), ps.reconcile(bert, "110M").table()]
    pieces += [ps.conventions(bert).table(), bert, bert.table(), ps.Dense(1, 1).to_latex("steps")]
    pieces += [rf"\[{ps.reconcile(bert, 109_786_368)[0].to_latex()}\]"]
    assert overfull(compile_with("pdflatex", ps.latex_document(*pieces), tmp_path)) == []


def test_letters_and_names(tmp_path: Path) -> None:
    """Every set of letters, and names that LaTeX would read as commands."""
    bert = ps.models.Bert()
    pieces: list[object] = [rf"\[{bert.to_latex(letters=letters.name, width=70)}\]" for letters in LETTER_SETS]
    odd = ps.Block({"a_b": ps.Dense(*ps.dims("in_features d_model_x")), "c": ps.Dense(*ps.dims("\N{GREEK SMALL LETTER ALPHA} x_1"))})
    pieces += [odd, odd.table(), odd.to_latex("align"), "\\[" + odd.to_latex("annotated", width=70) + "\\]"]
    compile_with("pdflatex", ps.latex_document(*pieces, title="50% of A_B & {C} #1 ~ ^ \\"), tmp_path)


def test_a_standalone_document(tmp_path: Path) -> None:
    """One argument gives something that compiles."""
    gpt2 = ps.models.Gpt2()
    compile_with("pdflatex", gpt2.to_latex("factored", letters="megatron", standalone=True), tmp_path)
