"""The conditions of a cost: those of its layer, and sizes at which its program has other steps, where the cost is another one.

A program is traced with letters taken for different sizes, larger than 1. Each decision that other sizes could change asks a condition;
a value for sizes that break one comes from ``at``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice

from sympy import Expr, Max, Symbol, ceiling, floor

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Condition, Dim
from paramsym.core.conditions import conditions_of
from paramsym.errors import ParamsymError
from paramsym.measure.cost import Cost

_TRIED = 8  # the most pairs of equal sizes for which a cost is computed again


def conditions_of_cost(cost: Cost) -> tuple[Condition, ...]:
    """Return the conditions of a cost, each once.

    >>> from paramsym import A, H, MultiHeadAttention, flops
    >>> cost = flops(MultiHeadAttention(H, A, batch_first=True), (2, 8, H))
    >>> [one for one in conditions_of_cost(cost) if one.kind == "divides"]
    [Condition(kind='divides', small=A, large=H)]
    """
    asked, own = conditions_of(cost), conditions_of(cost.layer)
    unnoticed = {*_unnoticed(cost, (one for one in asked if one.kind == "differ" and one not in own))}
    kept = tuple(one for one in asked if one not in unnoticed)
    return (*kept, *_of_none(kept))


def _unnoticed(cost: Cost, differing: Iterable[Condition]) -> Iterator[Condition]:
    """Yield the conditions without which a cost is the same: it is computed again for equal sizes, where these give a letter its value."""
    puts = {one: _equated(one.small, one.large) for one in differing}
    for one, put in islice(((one, put) for one, put in puts.items() if put is not None), _TRIED):
        ((symbol, value),) = put.items()
        try:
            if cost.substituted(put).polynomial == cost.polynomial.put(symbol, Polynomial.of(value)):
                yield one
        except ParamsymError:  # equal sizes are impossible for another reason
            continue


def _of_none(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Yield for each letter that may be 0 that it is not: without copies or positions a program has fewer steps, and fewer conditions."""
    least = {one.large: one.small for one in conditions if one.kind == "at most" and one.small in {0, 1}}
    least |= {one.large: one.small for one in conditions if one.kind == "at most" and one.small == 1}
    yield from (Condition("differ", large, 0) for large, small in least.items() if small == 0 and isinstance(large, Symbol))


def _equated(one: Dim, other: Dim) -> dict[Symbol, Expr] | None:
    """Return a letter with a value for which two sizes are equal; None if no letter is alone in a term, or in a rounded quotient."""
    if isinstance(one, Max):  # a size that is not larger than the other: the largest such
        one = Max(*(side for side in one.args if side != other))
    difference = Polynomial.of(one) - Polynomial.of(other)
    lifted: Counter[Expr] = Counter()
    for monomial in difference.terms:
        lifted |= Counter({generator: -exponent for generator, exponent in monomial if exponent < 0})
    whole = difference * Polynomial({frozenset(lifted.items()): 1})
    for monomial, c in whole.terms.items():
        ((symbol, exponent),) = monomial if len(monomial) == 1 else ((None, 0),)
        rest = Polynomial({apart: Fraction(-amount, c) for apart, amount in whole.terms.items() if apart != monomial})
        if isinstance(symbol, floor | ceiling):
            found = _equated(symbol.args[0], rest.as_expr())
            if found is not None:
                return found
        elif isinstance(symbol, Symbol) and exponent == 1 and symbol not in rest.free_symbols:
            return {symbol: rest.as_expr()}
    return None
