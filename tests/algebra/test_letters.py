"""Sets of letters: the papers' own, checked against what the papers print."""

from __future__ import annotations

import pytest
from sympy import Symbol

import paramsym as ps
from paramsym import A, C, F, H, K, L, P, S, V
from paramsym.algebra.letters import LETTER_SETS, LetterSet, lettering
from paramsym.errors import ArgumentError
from paramsym.render.table import Letters


@pytest.mark.parametrize(
    ("letters", "layer", "expected"),
    [
        ("megatron", ps.models.Gpt2(), r"12 l h^{2} + 13 l h + V h + s h + 2 h"),
        ("kaplan", ps.L * ps.Dense(H, H, bias=False), r"n_{\text{layer}} d_{\text{model}}^{2}"),
        ("vaswani", ps.FeedForward(H, F, bias=False), r"2 d_{\text{model}} d_{\text{ff}}"),
        ("vaswani", ps.Embedding(V, H), r"V d_{\text{model}}"),
        ("vaswani", ps.Embedding(P, H), r"P d_{\text{model}}"),  # beside the paper's own V d_model
        ("megatron", ps.FeedForward(H, F, bias=False), "2 F h"),
        ("cs231n", ps.Conv2d(C, F, K), r"F^{2} D K + K"),
        ("bert", ps.MultiHeadAttention(H, A), "4 H^{2} + 4 H"),
        ({"H": r"d", "q": r"\beta"}, ps.Dense(H, Symbol("q", integer=True, positive=True), bias=False), r"d \beta"),
        ({H: "d"}, ps.Dense(H, H), "d^{2} + d"),
        (Letters((("H", "w"),)), ps.Dense(H, H), "w^{2} + w"),
    ],
)
def test_a_paper_writes_its_own(letters: object, layer: ps.Layer, expected: str) -> None:
    """One argument switches the letters and the order of a product."""
    assert layer.to_latex(letters=letters) == expected


@pytest.mark.parametrize("letters", LETTER_SETS, ids=lambda letters: letters.name)
def test_every_letter_has_a_form(letters: LetterSet) -> None:
    """A set covers all shared letters; two share a form only where the paper has one quantity for both."""
    forms = dict(letters.letters.latex)
    assert set(forms) >= {letter.name for letter in ps.LETTERS}
    shared = [name for name, form in forms.items() if list(forms.values()).count(form) > 1]
    assert set(shared) <= {"P", "S"}
    assert letters.source


def test_two_symbols_written_alike_are_refused() -> None:
    """Megatron's s is both positions and sequence: a formula with both needs letters of its own."""
    with pytest.raises(ArgumentError, match="write both P and S as s"):
        ps.Dense(P, S).to_latex(letters="megatron")
    with pytest.raises(ArgumentError, match="write both H and h as h"):
        ps.Dense(H, Symbol("h", integer=True, positive=True)).to_latex(letters="megatron")
    assert ps.Embedding(V, H).to_latex(letters="kaplan") == r"n_{\text{vocab}} d_{\text{model}}"


@pytest.mark.parametrize("letters", ["gpt5", 3, {"H": 3}, {"H": ""}])
def test_letters_nobody_knows(letters: object) -> None:
    """A clear error lists what there is."""
    with pytest.raises(ArgumentError, match="letters"):
        lettering(letters)  # type: ignore[arg-type]


def test_explanations_and_tables_take_letters() -> None:
    """The same argument everywhere."""
    attention = ps.MultiHeadAttention(H, A)
    assert r"\frac{h}{a}" in ps.explain(attention, A).to_latex("megatron")
    assert "h" in attention.table(letters="megatron").to_latex()
    assert "h" in attention.ledger().to_latex("megatron")
    assert L in ps.models.Bert().symbols
