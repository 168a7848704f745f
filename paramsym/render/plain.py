"""Expressions as plain text, in the order of the LaTeX: ``12*L*H**2 + 13*L*H``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sympy import Expr, Integer, Pow, Rational
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from paramsym.render.order import ordered, place_of, places, powers_of, sign_of

if TYPE_CHECKING:
    from paramsym.render.table import Letters


def expression(value: Expr | int, letters: Letters) -> str:
    """Return an expression as text that Python reads: highest degree first, letters in the order of ``letters``."""
    return str(_printer(letters).doprint(value))


@lru_cache(maxsize=32)
def _printer(letters: Letters) -> _Plain:
    return _Plain(letters)


class _Plain(StrPrinter):
    """SymPy's text with terms and factors in a paper's order."""

    def __init__(self, letters: Letters) -> None:
        super().__init__()
        self._letters, self._places = letters, places(letters)

    def _print_Add(self, expr: Any, order: Any = None) -> str:  # noqa: N802 - SymPy dispatches on this name
        del order
        written = ""
        for term in ordered(expr, self._letters):
            body = self.parenthesize(term if sign_of(term) > 0 else -term, PRECEDENCE["Add"], strict=False)
            written += ((" - " if written else "-") if sign_of(term) < 0 else (" + " if written else "")) + body
        return written

    def _print_Mul(self, expr: Any) -> str:  # noqa: N802 - SymPy dispatches on this name
        coefficient, rest = expr.as_coeff_Mul()
        numerator, denominator = coefficient.as_numer_denom() if isinstance(coefficient, Rational) else (coefficient, Integer(1))
        above, below = ([] if abs(numerator) == 1 else [self._print(abs(numerator))]), ([] if denominator == 1 else [str(denominator)])
        for base, exponent in sorted(powers_of(rest), key=lambda power: place_of(power[0], self._places)):
            flipped = exponent.could_extract_minus_sign()
            times = -exponent if flipped else exponent
            factor = base if times == 1 else Pow(base, times, evaluate=False)
            (below if flipped else above).append(self.parenthesize(factor, PRECEDENCE["Mul"], strict=False))
        whole = "*".join(above) or "1"
        divided = f"({'*'.join(below)})" if len(below) > 1 else "".join(below)
        return ("-" if numerator < 0 else "") + (f"{whole}/{divided}" if below else whole)

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802 - SymPy dispatches on this name
        if expr.exp.could_extract_minus_sign():
            return self._print_Mul(expr)  # 1/K**2
        return str(super()._print_Pow(expr, rational))
