"""Expressions as plain text, in the order of the LaTeX: ``12*L*H**2 + 13*L*H``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sympy import Expr, Pow
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from paramsym.render.order import fraction_of, ordered, places, sign_of

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
        numerator, denominator, over, under = fraction_of(expr, self._places)
        above, below = ([] if abs(numerator) == 1 else [self._print(abs(numerator))]), ([] if denominator == 1 else [str(denominator)])
        for side, powers in ((above, over), (below, under)):
            factors = (base if exponent == 1 else Pow(base, exponent, evaluate=False) for base, exponent in powers)
            side.extend(self.parenthesize(factor, PRECEDENCE["Mul"], strict=False) for factor in factors)
        whole = "*".join(above) or "1"
        divided = f"({'*'.join(below)})" if len(below) > 1 else "".join(below)
        return ("-" if numerator < 0 else "") + (f"{whole}/{divided}" if below else whole)

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802 - SymPy dispatches on this name
        if expr.exp.could_extract_minus_sign():
            return self._print_Mul(expr)  # 1/K**2
        return str(super()._print_Pow(expr, rational))
