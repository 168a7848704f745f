"""The subject of questions about growth: a polynomial, its parts by name, and the sizes that were put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from sympy import Expr, Integer, Symbol, cancel, fraction

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, expressions, shown, size, substitute
from paramsym.algebra.wanted import symbol_of
from paramsym.analysis.counted import Counted, lines as lines_of, numbers, sums, title, words
from paramsym.arguments import check_depth
from paramsym.core.ledger import Line
from paramsym.errors import ArgumentError, SizeError
from paramsym.naming import described

Subject: TypeAlias = Counted | Expr
_ENOUGH = 3  # the fewest parts worth showing; a model that only wraps another is split


@dataclass(frozen=True)
class Formula:
    """A polynomial by parts, in letters, and its sizes, if any."""

    name: str
    polynomial: Polynomial
    parts: Mapping[str, Polynomial]
    sizes: Mapping[Symbol, Dim]
    symbols: frozenset[Symbol]
    unit: str = "parameters"
    lines: tuple[Line, ...] = ()

    def symbol(self, wanted: Symbol | str) -> Symbol:
        """Return one of the formula's symbols.

        Raises:
            UnknownNameError: a symbol that the formula does not have.
        """
        return symbol_of(self.name, wanted, self.symbols)

    def value(self, value: Polynomial | Expr) -> Expr:
        """Put the sizes in."""
        result = substitute(value.as_expr() if isinstance(value, Polynomial) else value, expressions(self.sizes))
        return Integer(result) if isinstance(result, int) else cast("Expr", result)


def formula_of(subject: Subject, at: Any = None, depth: int | None = None) -> Formula:
    """Return the formula of a layer or a cost before sizes were put in, or of an expression.

    ``at`` puts further sizes in, like ``Layer.at``. ``depth`` is the depth of the parts; by default the first with three parts.

    Raises:
        ArgumentError: neither a layer, a cost nor an expression, sizes for an expression that are not a mapping, or an impossible depth.
    """
    check_depth(depth)
    if isinstance(subject, Counted):
        sized = subject if at is None else subject.at(at)
        root, sizes = sized.origin
        # Expressions such as F = 4*H change the formula; numbers are only shown beside it.
        expressions = {symbol: size for symbol, size in sizes.items() if not isinstance(size, int)}
        root = root.at(expressions) if expressions else root
        lines, unit = lines_of(root), words(subject).unit
        return Formula(title(subject), root.polynomial, _parts(lines, depth), numbers(sizes), root.symbols, unit, lines)
    if not isinstance(subject, Expr):
        raise ArgumentError(f"wanted a layer, a cost or an expression in symbols from dims(), not {described(subject)}.")
    if not isinstance(at, Mapping | None):
        raise ArgumentError(f"at is {described(at)}; an expression takes its sizes as a mapping, such as {{'H': 768}}.")
    polynomial = Polynomial.of(size(subject, "the expression") if isinstance(subject, Symbol) else subject)
    formula = Formula(title(subject), polynomial, {"": polynomial}, {}, frozenset(cast("set[Symbol]", subject.free_symbols)))
    return replace(formula, sizes={formula.symbol(key): _whole(value) for key, value in dict(at or {}).items()})


def quotient(above: Polynomial, below: Polynomial) -> Expr:
    """Divide, term by term if possible, otherwise with common factors cancelled."""
    if len(below.terms) == 1:
        return (above * below.inverse()).as_expr()
    one, other = fraction(cancel(above.as_expr() / below.as_expr()))
    return -one / -other if other.could_extract_minus_sign() else one / other


def one_more(polynomial: Polynomial, symbol: Symbol) -> Polynomial:
    """Return the exact difference between the value at the next whole number and the value here."""
    return polynomial.put(symbol, Polynomial.of(symbol + 1)) - polynomial if symbol in polynomial.free_symbols else Polynomial.of(0)


def number(value: Expr) -> str:
    """Write a whole number with thousands separators, anything else in the order of papers."""
    return f"{int(value):,}" if isinstance(value, Integer) else shown(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | Integer):
        raise SizeError(f"{described(value)} is not a size; wanted a whole number.")
    return int(value)


def _parts(lines: tuple[Line, ...], depth: int | None) -> dict[str, Polynomial]:
    found: dict[str, Polynomial] = {}
    deepest = max((len(line.path) for line in lines), default=1)
    for level in range(1, deepest + 1) if depth is None else (depth,):
        found = sums(lines, lambda line, level=level: ".".join(map(str, line.path[:level])))  # type: ignore[misc]
        if len(found) >= _ENOUGH:
            break
    return found
