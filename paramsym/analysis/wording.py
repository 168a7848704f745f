"""Words for tensors and terms: the shortest unique names, and products in the notation of papers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import sympy
from sympy import Add, Expr, Mul, Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.symbols import LETTERS
from paramsym.analysis.explain.derivation import shown
from paramsym.core.ledger import Line
from paramsym.naming import one_line

_ORDER = {letter.name: position for position, letter in enumerate(LETTERS)}
ONE_OF = {"A": "head", "G": "key/value head", "E": "expert", "L": "layer", "C": "channel", "T": "token type"}
"""The word for one of a letter's things."""
_MOST_TERMS = 40  # a longer sum is not factored, because that takes too long
_MOST_NAMED = 5


def each_of(size: Expr | int) -> str:
    """Return the word for one of ``size`` things: head for A, layer for L, otherwise "one of n"."""
    return ONE_OF.get(str(size), f"one of {shown(size)}")


def once_per(size: Expr | int) -> str:
    """Return "once per head", or "once for each of n"."""
    return f"once per {ONE_OF[str(size)]}" if str(size) in ONE_OF else f"once for each of {shown(size)}"


def listed(words: Sequence[str]) -> str:
    """Join words: "query, key and value"."""
    words = list(dict.fromkeys(map(one_line, words)))
    if len(words) > _MOST_NAMED:
        words = [*words[: _MOST_NAMED - 1], f"{len(words) - _MOST_NAMED + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


class ShortNames:
    """The shortest unique tails of the paths of a layer's parts and tensors."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._owners: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for line in lines:
            path = plain(line)
            for end in range(1, len(path) + 1):
                whole = path[:end]
                for start in range(end):
                    self._owners.setdefault(whole[start:], set()).add(whole)

    def short(self, path: tuple[str, ...]) -> str:
        """Return the shortest tail of a path that is unique; numbered copies stay a template."""
        for start in range(len(path) - 1, -1, -1):
            tail = path[start:]
            if self._owners.get(tail) == {path} and not _vague(tail[0]):
                return ".".join(tail)
        return ".".join(path)

    def owner(self, line: Line) -> str:
        """Return the name of the owner of a tensor; the owner of a labelled segment is its label."""
        if line.label:
            return line.label
        path = plain(line)[:-1]
        return self.short(path) if path else plain(line)[-1]

    def tensor(self, line: Line) -> str:
        """Return the words for one tensor."""
        path = plain(line)
        if line.label:
            return f"{line.label} in {self.short(path)}"
        if line.role == "table":
            owner = path[:-1] if path[-1] in {"weight", "embeddings"} else path
            return f"the table {self.short(owner or path)}"
        return f"the {path[-1]} of {self.short(path[:-1])}" if path[:-1] else path[-1]


def plain(line: Line) -> tuple[str, ...]:
    """Return the steps of a path; a dotted part name is several steps, and numbered copies are one."""
    steps: list[str] = []
    for step in line.path:
        steps.extend([str(step)] if isinstance(step, Numbers) else step.split("."))
    return tuple(steps)


def _vague(step: str) -> bool:
    return step.isdigit() or step.startswith("{") or step in {"weight", "bias", "kernel"}


@lru_cache(maxsize=512)
def written(term: Expr) -> str:
    """Write a term as a paper would: ``3*L*H*(A - 1)``, ``-L*F``.

    >>> from paramsym import A, H, L
    >>> written(3*A*H*L - 3*H*L), written(-2*H)
    ('3*L*H*(A - 1)', '-2*H')
    """
    if len(Add.make_args(term)) > _MOST_TERMS:
        return shown(term)
    together = sympy.factor(term)
    if isinstance(together, Add):
        return _sum(together)
    coefficient, rest = together.as_coeff_Mul()  # kept separate: SymPy would multiply a single number into a sum
    over, under = sympy.fraction(coefficient)
    numerator, denominator = sympy.fraction(rest)
    sign, number = _factors(over)
    above = [*number, *_factors(numerator)[1]]
    below = [*_factors(under)[1], *_factors(denominator)[1]]
    body = "*".join(above) or "1"
    return sign + body + (f"/{below[0]}" if len(below) == 1 else f"/({'*'.join(below)})" if below else "")


def _factors(product: Expr) -> tuple[str, list[str]]:
    coefficient, rest = product.as_coeff_Mul()
    sign = "-" if coefficient.is_negative else ""
    numbers = [str(abs(coefficient))] if abs(coefficient) != 1 else []
    if product == 0:
        return "", ["0"]
    powers = [factor.as_base_exp() for factor in Mul.make_args(rest) if factor != 1]
    powers.sort(key=lambda power: _place(power[0]))
    return sign, [*numbers, *(_power(base, exponent) for base, exponent in powers)]


def _place(base: Expr) -> tuple[int, int, str]:
    if isinstance(base, Symbol):
        return (0, _ORDER.get(base.name, len(_ORDER)), base.name)
    return (1, 0, str(base))


def _power(base: Expr, exponent: Expr) -> str:
    inner = f"({_sum(base)})" if isinstance(base, Add) else shown(base)
    return inner if exponent == 1 else f"{inner}**{shown(exponent)}"


def _sum(value: Expr) -> str:
    terms = sorted(Add.make_args(value), key=lambda term: (-_degree(term), str(term)))
    if _factors(terms[0])[0] and not all(_factors(term)[0] for term in terms):
        terms.sort(key=lambda term: bool(_factors(term)[0]))
    shown = ""
    for term in terms:
        sign, factors = _factors(term)
        body = "*".join(factors) or "1"
        shown += (f" {sign or '+'} " if shown else sign) + body
    return shown


def _degree(term: Expr) -> int:
    return sum(int(power.as_base_exp()[1]) for power in Mul.make_args(term) if not power.is_Number and power.as_base_exp()[1].is_Integer)
