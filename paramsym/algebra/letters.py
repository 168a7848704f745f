"""The letters of papers: how each paper writes the shared symbols, and in which order they appear in a product.

A set is data, one row per paper. Every function that writes LaTeX or HTML takes ``letters``: the name of a set, a mapping from symbols to
LaTeX, or a ``Letters`` value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sympy import Symbol

from paramsym.algebra.symbols import LETTERS
from paramsym.arguments import known_word
from paramsym.errors import ArgumentError
from paramsym.naming import quoted
from paramsym.render.latex import symbol as written
from paramsym.render.table import Letters


@dataclass(frozen=True)
class LetterSet:
    """The letters of one paper: ``forms`` has for each shared letter the paper's LaTeX, ordered as in its products."""

    name: str
    source: str
    forms: tuple[tuple[str, str], ...]

    @property
    def letters(self) -> Letters:
        """The forms, with every shared letter that the paper does not use after its predecessor in the default order."""
        taken = {form for _, form in self.forms}
        written = dict(self.forms)
        order = [name for name, _ in self.forms]
        before = ""
        for letter in LETTERS:
            if letter.name not in written:
                form = letter.latex or letter.name
                written[letter.name] = form if form not in taken else rf"\mathcal{{{form}}}"
                order.insert(order.index(before) + 1 if before else 0, letter.name)
            before = letter.name
        return Letters(tuple((name, written[name]) for name in order))


LETTER_SETS = (
    LetterSet("bert", "Devlin et al. 2019, section 3", tuple((letter.name, letter.latex or letter.name) for letter in LETTERS)),
    LetterSet(
        "vaswani",
        "Vaswani et al. 2017, sections 3.1 to 3.3",
        (
            ("L", "N"), ("A", "h"), ("V", "V"), ("S", "n"),
            ("H", r"d_{\text{model}}"), ("F", r"d_{\text{ff}}"), ("D", "d_k"), ("K", "k"),
        ),
    ),
    LetterSet(
        "kaplan",
        "Kaplan et al. 2020, section 2.1 and table 1",
        (
            ("L", r"n_{\text{layer}}"), ("A", r"n_{\text{heads}}"), ("V", r"n_{\text{vocab}}"), ("P", r"n_{\text{ctx}}"),
            ("S", r"n_{\text{ctx}}"), ("H", r"d_{\text{model}}"), ("F", r"d_{\text{ff}}"), ("D", r"d_{\text{head}}"),
        ),
    ),
    LetterSet(
        "megatron",
        "Narayanan et al. 2021, section 5.1",
        (("L", "l"), ("A", "a"), ("V", "V"), ("P", "s"), ("S", "s"), ("B", "b"), ("H", "h")),
    ),
    LetterSet("palm", "Chowdhery et al. 2022, appendix B", (("L", "L"), ("A", "H"), ("D", "Q"), ("S", "T"))),
    LetterSet(
        "cs231n",
        "Stanford CS231n, convolutional networks",
        (("K", "F"), ("C", "D"), ("F", "K"), ("W", "W"), ("S", "S"), ("P", "P")),
    ),
)  # fmt: skip
"""The papers whose letters have a name."""

Lettering: TypeAlias = str | Mapping[str | Symbol, str] | Letters | None
"""What ``letters`` may be: the name of a set, a mapping from symbols to LaTeX, a ``Letters`` value, or None for the default."""


USUAL = LETTER_SETS[0].letters
"""The letters and the order of everything that is printed without a choice of letters."""


def lettering(letters: Lettering = None, symbols: Iterable[Symbol] = ()) -> Letters:
    """Return how symbols are written, after checking that no two of ``symbols`` have the same form.

    Raises:
        ArgumentError: an unknown set, a mapping of other things than names to strings, or two symbols with one form.

    >>> dict(lettering("megatron").latex)["H"], dict(lettering({"H": r"d"}).latex)["H"]
    ('h', 'd')
    """
    found = _letters(letters)
    taken: dict[str, Symbol] = {}
    for symbol in sorted(symbols, key=lambda one: one.name):
        form = written(symbol.name, found)
        other = taken.setdefault(form, symbol)
        if other != symbol:
            raise ArgumentError(
                f"letters {quoted(letters)} write both {other.name} and {symbol.name} as {form}; give one of them another letter,"
                f" as in letters={{{symbol.name!r}: '...'}}."
            )
    return found


def _letters(letters: Lettering) -> Letters:
    if letters is None:
        return USUAL
    if isinstance(letters, Letters):
        return letters
    if isinstance(letters, str):
        known = {one.name: one for one in LETTER_SETS}
        return known[known_word("letters", letters, known)].letters
    given: Any = letters  # callers without a type checker
    if not isinstance(given, Mapping) or not all(isinstance(form, str) and form for form in given.values()):
        raise ArgumentError(f"letters are the name of a set or a mapping from symbols to LaTeX, not {quoted(letters)}.")
    own = {key if isinstance(key, str) else key.name: form for key, form in letters.items()}
    return Letters(tuple({**dict(USUAL.latex), **own}.items()))
