"""The conditions of a cost: those of its layer, and those that exclude sizes at which the program has other steps and the formula is wrong.

A trace assumes that letters are different sizes above 1. Each decision that depends on this assumption adds a condition. For sizes that
break a condition, the value comes from ``at``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, islice, starmap

from sympy import Expr, Max, Symbol, ceiling, floor

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Condition, Dim, canonical, substitute, symbols_in
from paramsym.core.conditions import conditions_of
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError
from paramsym.measure.cost import Cost

_TRIED = 8  # the most pairs of equal sizes for which a cost is computed again


def conditions_of_costs(*costs: Cost) -> list[tuple[Condition, ...]]:
    """Return the distinct conditions of each cost; all of them are checked together, so one that a cost needs is not tried for another.

    >>> from paramsym import A, H, MultiHeadAttention, flops
    >>> cost = flops(MultiHeadAttention(H, A, batch_first=True), (2, 8, H))
    >>> [one for one in conditions_of_costs(cost)[0] if one.kind == "divides"]
    [Condition(kind='divides', small=A, large=H)]
    """
    tried = [[*islice(_differing(cost), _TRIED)] for cost in costs]
    needed: set[Condition] = set()
    for cost, differing in zip(costs, tried, strict=True):
        needed |= {one for one in differing if one not in needed and not _still_holds(cost, one)}
    found = []
    for cost, differing in zip(costs, tried, strict=True):
        unnoticed = [one for one in differing if one not in needed]
        together = (pair for pair in combinations(unnoticed, 2) if not _still_holds(cost, *pair))
        paired = dict.fromkeys(chain.from_iterable(starmap(_either, together)))
        asked = conditions_of(cost)
        kept = [one for one in asked if one in paired or one not in unnoticed] + [one for one in paired if one not in asked]
        longest = {one: _beside(one.small, one.large) for one in unnoticed if isinstance(one.small, Max) and one not in paired}
        kept += [Condition("differ", canonical(Max(one.large, side + 1)), one.large) for one, side in longest.items()]
        found.append((*kept, *_of_none(kept)))
        needed.update(paired)
    return found


def _differing(cost: Cost) -> Iterator[Condition]:
    """Yield the conditions that two sizes differ which the layer does not state, and which some sizes break."""
    own = conditions_of(cost.layer)
    return (one for one in conditions_of(cost) if one.kind == "differ" and one not in own and _equated(one.small, one.large))


def _beside(largest: Max, size: Dim) -> Dim:
    return canonical(Max(*(side for side in largest.args if side != size)))


def _still_holds(cost: Cost, *broken: Condition) -> bool:
    """Whether the closed form still gives the cost for sizes that break the conditions: the cost is computed again for them.

    The closed forms of stored tensors need only the layer's own conditions, so of memory only the arrays are computed again.
    """
    puts: dict[Symbol, Expr] = {}
    cost = cost.of_arrays or cost
    stated = cost.polynomial
    for one in broken:
        small, large = (canonical(substitute(side, puts)) for side in (one.small, one.large))
        put = _equated(small, large)
        if put is None and small != large:
            return not symbols_in((small, large))  # no sizes break all conditions at once
        for symbol, value in (put or {}).items():
            stated = stated.put(symbol, Polynomial.of(value))
            puts = {**{old: substitute(before, {symbol: value}) for old, before in puts.items()}, symbol: value}
    try:
        return cost.placed(_rebuilt(cost.layer, tuple(puts.items())), puts).polynomial == stated
    except ParamsymError:  # the layer refuses these sizes, though the closed form has a value for them
        return False


@lru_cache(maxsize=256)
def _rebuilt(layer: Layer, puts: tuple[tuple[Symbol, Expr], ...]) -> Layer:
    """Return the layer built again with other sizes. Costs of one layer share it, and with it the program that the layer caches."""
    layer = layer.substituted(dict(puts))
    layer.polynomial  # noqa: B018 - sizes of tensors are checked when the tensors are listed
    return layer


def _either(one: Condition, other: Condition) -> tuple[Condition, ...]:
    """Join two conditions of the form "not 1" to one, "not both 1"; return two other conditions as they are."""
    sizes = [condition.small if condition.large == 1 else condition.large for condition in (one, other)]
    return (Condition("differ", Max(*sizes), 1),) if all(1 in {pair.small, pair.large} for pair in (one, other)) else (one, other)


def _of_none(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Yield the condition "not 0" for each letter that may be 0: without copies or positions a program has fewer steps and conditions."""
    least = {one.large: one.small for one in conditions if one.kind == "at most" and one.small in {0, 1}}
    least |= {one.large: one.small for one in conditions if one.kind == "at most" and one.small == 1}
    yield from (Condition("differ", large, 0) for large, small in least.items() if small == 0 and isinstance(large, Symbol))


def _equated(one: Dim, other: Dim) -> dict[Symbol, Expr] | None:
    """Return a letter and the value that makes two sizes equal; None if no letter is alone in a term or in a rounded quotient."""
    if isinstance(one, Max) and other in one.args:  # not larger than the other size: the largest such value is taken
        one = _beside(one, other)
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
