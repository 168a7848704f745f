"""LaTeX: expressions in the order of papers, broken into lines, and booktabs tables."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import sympy
from sympy import Add, Expr, Integer, Rational, Symbol

from paramsym.render.order import fraction_of, ordered, places, sign_of
from paramsym.render.widths import width, width_of_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paramsym.render.table import Cell, Letters

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
_GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho",
    "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon",
    "Phi", "Psi", "Omega",
})  # fmt: skip
"""The Greek letters for which LaTeX has a command; the others look like Latin ones."""
_WIDEST = 40  # the most characters of a function in a fraction


def escape(words: str) -> str:
    """Return the words with LaTeX's special characters escaped."""
    return "".join(_SPECIAL.get(character, character) for character in words)


@lru_cache(maxsize=4096)
def expression(value: Expr | int, letters: Letters, times: str = " ") -> str:
    r"""Return an expanded expression as LaTeX: highest degree first, numbers before letters, ``12 L H^{2}``.

    Names such as ``d_model`` become ``d_{\text{model}}``. ``times`` separates factors.
    """
    return joined(terms(value, letters, times))


def terms(value: Expr | int, letters: Letters, times: str = " ") -> list[tuple[int, str]]:
    """Return the terms in order, each as a sign and its absolute value."""
    order = places(letters)
    return [(sign_of(term), _term(term if sign_of(term) > 0 else -term, letters, order, times)) for term in ordered(value, letters)]


def joined(signed: Iterable[tuple[int, str]]) -> str:
    """Write signed terms one after another."""
    written = ""
    for sign, body in signed:
        written += ((" - " if written else "-") if sign < 0 else (" + " if written else "")) + body
    return written or "0"


def rows(signed: Iterable[tuple[int, str]], limit: float) -> list[str]:
    """Write signed terms on several lines, none much wider than ``limit`` characters."""
    lines: list[list[tuple[int, str]]] = [[]]
    used = 0.0
    for sign, body in signed:
        wide = width(body) + 3
        if lines[-1] and used + wide > limit:
            lines.append([])
            used = 0.0
        lines[-1].append((sign, body))
        used += wide
    first, *others = (joined(line) for line in lines)
    return [first, *(line if line.startswith("-") else f"+ {line}" for line in others)]


def symbol(name: str, letters: Letters) -> str:
    """Return how a symbol is written."""
    known = dict(letters.latex).get(name)
    if known is not None:
        return known
    stem, _, index = name.partition("_")
    if not index and len(name) > 1 and name[1:].isdigit() and name[0].isalpha():
        stem, index = name[0], name[1:]
    if not index:
        return _stem(name)
    if len(stem) > 1 and not _short(index) and stem not in _GREEK:
        return _stem(name)  # num_heads is one name; in n_layer, layer is an index of n
    return rf"{_stem(stem)}_{{{index if _short(index) else rf'{chr(92)}text{{{escape(index)}}}'}}}"


def _stem(name: str) -> str:
    if len(name) == 1 and not name.isascii():
        name = _spelt(name)
    if len(name) == 1:
        return name
    return rf"\{name}" if name in _GREEK else rf"\mathit{{{escape(name)}}}"


def _spelt(character: str) -> str:
    """Return the name of a Greek letter, as LaTeX spells it; any other character as it is."""
    script, _, letter = unicodedata.name(character, "").partition(" LETTER ")
    if not script.startswith("GREEK"):
        return character
    return letter.replace("LAMDA", "LAMBDA").lower() if script.endswith("SMALL") else letter.replace("LAMDA", "LAMBDA").capitalize()


def _short(index: str) -> bool:
    return index.isdigit() or len(index) == 1


def integer(value: int) -> str:
    """Return a whole number with groups of thousands."""
    return f"{value:,}".replace(",", "{,}")


def extent(size: Expr | int, letters: Letters) -> str:
    """Return one size of a shape: numbers without groups, because commas separate sizes."""
    return str(int(size)) if isinstance(size, int | Integer) else expression(size, letters)


def words(source: str) -> str:
    r"""Return words escaped, with places where a long name may break: after dots, underscores and commas, not within a number."""
    loose = re.sub(r"(?<=[.,\0])(?<!\.\.)(?=[\w\\])(?!(?<=\d[.,])\d)", r"\\allowbreak{}", escape(source).replace(r"\_", "\0"))
    return loose.replace("\0", r"\_")


def name(source: str) -> str:
    """Return a name in the code: in typewriter type, with places where it may break."""
    return rf"\texttt{{{words(source)}}}"


def shape(sizes: tuple[Expr | int, ...], letters: Letters) -> str:
    """Return a shape as mathematics writes it: a single size has no comma after it."""
    return f"({', '.join(extent(size, letters) for size in sizes)})"


def wrapped(said: str, limit: float) -> list[str]:
    """Return escaped words on one or more lines; a long dotted name may break after its dots."""
    lines = [""]
    for piece in re.split(r"(?<=[^.]\.)(?=\w)|(?<=\s)(?=\S)", said):
        if lines[-1] and width_of_words(escape(lines[-1] + piece.rstrip())) > limit:
            lines.append("")
        lines[-1] += piece
    return [escape(line.strip()) for line in lines]


def cell(value: Cell, letters: Letters) -> str:
    """Return one cell."""
    if value is None:
        return ""
    if isinstance(value, str):
        return words(value)
    if isinstance(value, tuple):
        return f"${shape(value, letters)}$"
    if isinstance(value, int | Integer):
        return f"${integer(int(value))}$"
    return f"${expression(value, letters)}$"


def _term(term: Expr, letters: Letters, order: Mapping[str, int], times: str = " ") -> str:
    numerator, denominator, over, under = fraction_of(term, order)
    above, below = ([_power(base, exponent, letters) for base, exponent in side] for side in (over, under))
    if numerator != 1 or not above:
        above.insert(0, integer(int(numerator)))
    if denominator != 1:
        below.insert(0, integer(int(denominator)))
    if below:
        # A line cannot be broken inside a fraction: the largest of many arrays is a factor behind it.
        wide = [factor for factor in above if factor.startswith((r"\max", r"\min")) and width(factor) > _WIDEST]
        if wide:
            rest = [factor for factor in above if factor not in wide] or ["1"]
            return _multiplied([rf"\frac{{{_multiplied(rest, times)}}}{{{_multiplied(below, times)}}}", *wide], times)
        above, below = _unbracketed(above), _unbracketed(below)
    return rf"\frac{{{_multiplied(above, times)}}}{{{_multiplied(below, times)}}}" if below else _multiplied(above, times)


def _unbracketed(factors: list[str]) -> list[str]:
    """Remove the brackets around a sum that is the whole numerator or denominator."""
    alone = re.fullmatch(r"\\left\((.*)\\right\)", factors[0]) if len(factors) == 1 else None
    return [alone[1]] if alone else factors


def _multiplied(factors: list[str], times: str) -> str:
    r"""Write factors side by side: a dot before a digit, so that 2 times 2^L is not 22^L, and a thin space between whole words."""
    written = factors[0]
    for before, factor in pairwise(factors):
        if factor[0].isdigit():
            written += r" \cdot "
        else:
            written += r" \, " if times == " " and r"\mathit" in before + factor else times
        written += factor
    return written


def _power(base: Expr, exponent: Expr, letters: Letters) -> str:
    if isinstance(base, Symbol):
        body = symbol(base.name, letters)
    elif isinstance(base, Integer):
        body = str(base)
    elif isinstance(base, Add):
        body = rf"\left({expression(base, letters)}\right)"
    elif isinstance(base, sympy.floor | sympy.ceiling):
        name = "floor" if isinstance(base, sympy.floor) else "ceil"
        body = rf"\left\l{name} {expression(base.args[0], letters)} \right\r{name}"
    else:
        body = sympy.latex(base, symbol_names={s: symbol(s.name, letters) for s in cast("set[Symbol]", base.free_symbols)})
        if isinstance(base, sympy.Mod):  # without brackets, V H mod 3 would be (V H) mod 3
            body = rf"\left({body}\right)"
    if exponent == 1:
        return body
    if exponent == Rational(1, 2):
        return rf"\sqrt{{{_unbracketed([body])[0]}}}"
    power = expression(exponent, letters) if isinstance(exponent, Expr) else str(exponent)
    grouped = body if isinstance(base, Symbol | Integer | Add) and "^" not in body else f"{{{body}}}"
    return f"{grouped}^{{{power}}}"
