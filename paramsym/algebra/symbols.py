"""The shared letters of the field, defined only here: symbol, meaning, LaTeX form and source.

Every letter is a positive integer symbol. Several of them (``S``, ``E``, ``N``) are also names inside SymPy, so this library never lets
SymPy parse a string.
"""

from __future__ import annotations

import keyword
from typing import Any, NamedTuple

from sympy import Symbol

from paramsym.errors import ArgumentError
from paramsym.naming import described


class Letter(NamedTuple):
    """A letter: ``name``, ``meaning``, its LaTeX form and its source."""

    name: str
    meaning: str
    source: str
    latex: str = ""

    @property
    def symbol(self) -> Symbol:
        """The SymPy symbol, a positive integer."""
        return Symbol(self.name, integer=True, positive=True)


_BERT = "Devlin et al. 2019, section 3"
LETTERS = (
    Letter("L", "number of layers (blocks)", _BERT),
    Letter("E", "number of experts", "Shazeer et al. 2017 (there n)"),
    Letter("A", "number of attention heads", _BERT),
    Letter("G", "number of key/value heads (query groups)", "Ainslie et al. 2023, section 2.2"),
    Letter("V", "vocabulary size", "Devlin et al. 2019, appendix A.2"),
    Letter("P", "number of positions in a stored position table", "reference configurations"),
    Letter("T", "number of token types (segments)", "reference configurations"),
    Letter("F", "feed-forward width", "Vaswani et al. 2017, section 3.3 (there d_ff)"),
    Letter("H", "hidden size", _BERT),
    Letter("D", "width of one attention head", "Vaswani et al. 2017, section 3.2.2 (there d_k)"),
    Letter("R", "rank of a low-rank factor", "Hu et al. 2021 (there r)"),
    Letter("N", "number of classes, or of states in a state-space model", "reference configurations"),
    Letter("C", "number of channels", "Stanford CS231n, convolutional networks (there D)"),
    Letter("K", "kernel size", "Stanford CS231n, convolutional networks (there F)"),
    Letter("W", "width of an image or length of a signal", "Stanford CS231n, convolutional networks"),
    Letter("B", "batch size", "usual"),
    Letter("S", "sequence length", "usual"),
)
"""The shared letters in their order in a product: numbers of things first, then widths."""

BY_NAME = {letter.name: letter for letter in LETTERS}
L, E, A, G, V, P, T, F, H, D, R, N, C, K, W, B, S = (letter.symbol for letter in LETTERS)


def dims(names: str) -> Any:
    """Return positive integer symbols for the names, as ``sympy.symbols`` does: one name gives a symbol, several a tuple.

    Names are separated by spaces or commas; a trailing comma makes a tuple of one. Two calls with one name give the same symbol.

    Raises:
        ArgumentError: a name that is not an identifier, is a Python keyword, or no name at all.

    >>> d, n = dims("d n")
    >>> d.is_integer, d.is_positive, dims("d") == d
    (True, True, True)
    """
    symbols = tuple(Symbol(name, integer=True, positive=True) for name in _names(names, "dims"))
    (first, *others) = symbols
    return symbols if others or names.rstrip().endswith(",") else first


def index(name: str) -> Symbol:
    """Return the symbol of a repeat's index, a whole number that may be zero: the first copy has the number 0.

    A symbol from ``dims`` is positive, and SymPy uses that to simplify an expression at once: ``Min(3, i + 2)`` is 3 for a positive ``i``.
    If no ``Max``, ``Min`` or ``Mod`` contains the index of a ``Repeat``, a symbol from ``dims`` is equally good.

    Raises:
        ArgumentError: anything but one name.

    >>> from sympy import Min
    >>> i = index("i")
    >>> Min(3, i + 2), Min(3, dims("i") + 2)
    (Min(3, i + 2), 3)
    """
    names = _names(name, "index")
    if len(names) != 1:
        raise ArgumentError(f"index() takes one name such as 'i', got {name!r}.")
    return Symbol(names[0], integer=True, nonnegative=True)


def _names(names: str, caller: str) -> list[str]:
    if not isinstance(names, str):
        raise ArgumentError(f"{caller}() takes a string of names such as 'd n', got {described(names)}.")
    found = names.replace(",", " ").split()
    for name in found:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ArgumentError(f"{name!r} cannot name a size; use an identifier such as 'd' or 'd_model'.")
    if not found:
        raise ArgumentError(f"{caller}() was given no name; write {caller}('{'d n' if caller == 'dims' else 'i'}').")
    return found
