"""The ledger: lines of (path, factors, copies stored, copies used), each one a product.

Parameters, FLOPs, activations and caches are ledgers. Analysis takes a ledger and returns an answer or another ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sympy import Expr

from paramsym.algebra.line import Kind, Line
from paramsym.algebra.polynomial import Polynomial
from paramsym.render.tabular import Tabular

if TYPE_CHECKING:
    from paramsym.render.table import Table

__all__ = ["Kind", "Ledger", "Line"]


@dataclass(frozen=True)
class Ledger(Tabular):
    """An immutable sequence of lines.

    >>> from paramsym import Dense, F, H
    >>> [(line.name, line.amount) for line in Dense(H, F).ledger()]
    [('weight', F*H), ('bias', F)]
    """

    lines: tuple[Line, ...]

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, keep: Callable[[Line], bool]) -> Ledger:
        """Return the lines for which ``keep`` is true."""
        return Ledger(tuple(line for line in self.lines if keep(line)))

    def polynomial(self, kind: Kind = "stored") -> Polynomial:
        """Return the sum of all lines."""
        return Polynomial.total(line.polynomial(kind) for line in self.lines)

    def table(self, letters: Any = None) -> Table:
        """Return the lines as a table: name, factors, copies and their contribution."""
        from paramsym.present.tabulate import tabulate_lines

        return tabulate_lines(self.lines, letters)

    def to_latex(self, letters: Any = None, **options: Any) -> str:
        """Return the table as LaTeX; ``options`` are those of ``Table.to_latex``."""
        return self.table(letters).to_latex(**options)

    @cached_property
    def stored(self) -> Expr:
        """Everything stored, expanded."""
        return self.polynomial().as_expr()

    @cached_property
    def used(self) -> Expr:
        """Everything used per token, expanded."""
        return self.polynomial("used").as_expr()

    @cached_property
    def trainable(self) -> Expr:
        """What is stored and trained, expanded."""
        return self.where(lambda line: line.trainable).stored
