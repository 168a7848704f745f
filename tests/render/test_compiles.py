"""Every kind of LaTeX output of every layer and model compiles with a real LaTeX, without errors, and fits the lines of an article.

The line is that of ``article`` in ten points, 345 points wide, and the letters are the long ones too: a field's own name, or Kaplan's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
import strategies
from amount import cases

import paramsym as ps
from paramsym import A, H
from paramsym.algebra.letters import LETTER_SETS
from paramsym.errors import ArgumentError, ParamsymError
from paramsym.present.typeset import FORMS
from paramsym.render.latex import escape
from paramsym.render.widths import LINE
from paramsym.testing import certify

EVERY = os.environ.get("LATEX_ENGINES") == "all"
BOTH = pytest.mark.skipif(not EVERY, reason="pdfLaTeX, one set of letters, every 18th layer; LATEX_ENGINES=all runs all")
ENGINES = ("pdflatex", pytest.param("lualatex", marks=BOTH))
FIRST, *OTHERS = (letters.name for letters in LETTER_SETS)
LETTERS = (FIRST, *(pytest.param(name, marks=BOTH) for name in OTHERS))

STEP = 1 if EVERY else 18
"""Every 18th layer and model is enough while one works; a page of each of them takes a minute."""
TOLERANCE = 12.0
"""Points by which a line may stand out into the margin: no more than two letters."""


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


def formulas(layer: ps.Layer, letters: str) -> list[str | object]:
    """Every form of one closed form, in the letters of a paper; none where two of its symbols would be written alike."""
    pieces: list[str | object] = [rf"\subsection*{{{escape(type(layer).__name__)}, {letters}}}"]
    by = min(layer.params.free_symbols, key=lambda symbol: symbol.name, default=None)
    for form in FORMS:
        if form == "steps" or (form == "collected" and by is None):
            continue
        try:
            written = layer.to_latex(form, by=by if form == "collected" else None, width=LINE, letters=letters)
        except ArgumentError:
            return []
        pieces.append(written if written.startswith("\\begin{align*}") else f"\\[\n{written}\n\\]")
    return pieces


def published(model: ps.Layer) -> ps.Layer | None:
    """Return a model with the first of its published sizes that its structure has room for."""
    for name in getattr(model, "published", ()):
        with suppress(ParamsymError):
            sized = model.at(name)
            if not sized.params.free_symbols:
                return sized
    return None


def article(*pieces: object, title: str = "") -> str:
    """Return the document with the margins of the class."""
    geometry = r"\usepackage[a4paper,margin=30mm]{geometry}"
    written = ps.latex_document(*pieces, title=title)
    assert written.count(geometry) == 1
    return written.replace(geometry, "")


def compile_with(engine: str, source: str, folder: Path) -> str:
    """Compile a document and return the log; fail where LaTeX fails."""
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    (folder / "page.tex").write_text(source, encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    environment = {**os.environ, "max_print_line": "1000"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False, env=environment, timeout=300)
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


@cases(1)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("letters", LETTERS)
def test_formulas_of_every_layer(engine: str, letters: str, tmp_path: Path) -> None:
    """Expanded, collected, factored, by part, annotated and aligned, in the letters of every paper."""
    pieces = [piece for layer in [*layers(), *models()][::STEP] for piece in formulas(layer, letters)]
    assert overfull(compile_with(engine, article(*pieces), tmp_path)) == []


@cases(1)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("letters", LETTERS)
def test_tables_of_every_layer(engine: str, letters: str, tmp_path: Path) -> None:
    """Tables of tensors break across pages, tables of parts stand in the text; long names and letters get smaller type."""
    pieces: list[object] = []
    for layer in [*layers(), *models()][::STEP]:
        if formulas(layer, letters):
            short = layer.table(depth=1, letters=letters).to_latex()
            pieces += [layer.table(buffers=True, letters=letters), f"\\begin{{center}}\n{short}\n\\end{{center}}"]
    assert overfull(compile_with(engine, article(*pieces), tmp_path)) == []


@cases(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_with_sizes(engine: str, tmp_path: Path) -> None:
    """One published size of every family, with ledger and numbers put in step by step."""
    pieces: list[object] = []
    for model in list(models())[::STEP]:
        sized = published(model)
        if sized is not None:
            pieces += [sized.table(), sized.ledger(), sized.table(depth=1), sized.to_latex("steps")]
    assert len(pieces) > 100 // STEP
    assert overfull(compile_with(engine, article(*pieces), tmp_path)) == []


@cases(0)
@pytest.mark.parametrize("engine", ENGINES)
def test_derivations_of_every_layer(engine: str, tmp_path: Path) -> None:
    """One derivation per symbol of a layer, with the words between the equations, beneath each other, and without."""
    pieces: list[object] = []
    for layer in [*layers(), *models()][::STEP]:
        for symbol in sorted(layer.symbols, key=lambda symbol: symbol.name)[:3]:
            derivation = ps.explain(layer, symbol)
            pieces += [derivation.to_latex(words=words) for words in ("intertext", "text", "none")]
    assert overfull(compile_with(engine, article(*pieces), tmp_path)) == []


@cases(0)
@pytest.mark.parametrize(("option", "width"), [("onecolumn", None), ("twocolumn", 45)])
def test_lectures_fit_their_column(option: str, width: int | None, tmp_path: Path) -> None:
    """Derivations in the sentences of a lecture, in a bare article of one and of two columns: no line stands out."""
    names = ["gpt2", "bert-base-uncased", "t5-small", "meta-llama/Meta-Llama-3-8B", "deepseek-ai/DeepSeek-V3"]
    subjects = [ps.MultiHeadAttention(H, A), ps.MultiHeadAttention(H, A, kv_heads=ps.G), *(ps.load(name).origin[0] for name in names)]
    costs = [ps.flops(ps.models.Bert()), ps.activations(ps.models.Gpt2()), ps.kv_cache(ps.models.Gpt2())]
    written = [ps.explain(one, A, style="lecture").to_latex(width=width) for one in [*subjects, *costs]]
    packages = r"\usepackage[T1]{fontenc}\usepackage{lmodern}\usepackage{amsmath}"
    body = "\n\n".join(written)
    source = rf"\documentclass[{option}]{{article}}{packages}\begin{{document}}{body}\end{{document}}"
    assert overfull(compile_with("pdflatex", source, tmp_path)) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_answers(engine: str, tmp_path: Path) -> None:
    """Reconciliations, conventions, comparisons, matches, certificates, sensitivities, summaries, solutions, sweeps, limits."""
    bert = ps.models.Bert().at("bert-base-uncased")
    pieces = [
        ps.reconcile(bert, 109_786_368),
        ps.reconcile(bert, "110M").table(),
        ps.conventions(bert),
        bert,
        ps.Dense(1, 1).to_latex("steps"),
    ]
    pieces += [rf"\[{ps.reconcile(bert, 109_786_368)[0].to_latex()}\]", ps.compare(ps.models.Gpt2(), ps.models.Bert())]
    pieces += [
        ps.match(bert, ps.models.Bert().at("bert-large-uncased").shapes()),
        ps.sensitivity(bert, "H"),
        ps.asymptotics(bert.origin[0]),
    ]
    pieces += [
        certify(ps.MultiHeadAttention(H, A), lambda **sizes: 4 * sizes["H"] * (sizes["H"] + 1)),
        ps.summary(ps.models.LeNet5(), (1, 1, 32, 32)),
    ]
    pieces += [
        ps.solve(ps.Dense(H, 1), 4, {H: range(1, 9)}),
        ps.sweep(ps.Dense(H, 1), {H: range(1, 9)}),
        ps.asymptotics(ps.models.Gpt2(), H),
    ]
    assert overfull(compile_with(engine, article(*pieces), tmp_path)) == []


def test_letters_and_names(tmp_path: Path) -> None:
    """Every set of letters, and names that LaTeX would read as commands."""
    bert = ps.models.Bert()
    pieces: list[object] = [rf"\[{bert.to_latex(letters=letters.name, width=70)}\]" for letters in LETTER_SETS]
    odd = ps.Block({"a_b": ps.Dense(*ps.dims("in_features d_model_x")), "c": ps.Dense(*ps.dims("\N{GREEK SMALL LETTER ALPHA} x_1"))})
    pieces += [odd, odd.table(), odd.to_latex("align"), "\\[" + odd.to_latex("annotated", width=70) + "\\]"]
    compile_with("pdflatex", article(*pieces, title="50% of A_B & {C} #1 ~ ^ \\"), tmp_path)


def test_a_standalone_document(tmp_path: Path) -> None:
    """One argument gives something that compiles."""
    gpt2 = ps.models.Gpt2()
    compile_with("pdflatex", gpt2.to_latex("factored", letters="megatron", standalone=True), tmp_path)
