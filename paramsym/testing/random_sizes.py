"""Valid sizes for any layer, within bounds, constructed instead of found by trial."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from sympy import Integer, Symbol

from paramsym.algebra.size import substitute
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import ArgumentError, ParamsymError
from paramsym.naming import quoted
from paramsym.optional import needed
from paramsym.verify.lattice import Coordinate, Lattice, lattice

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Bounds: TypeAlias = "int | Mapping[str, int]"
SMALL = 16
_LISTED = 1000  # the most values that are tried for conditions without a formula


def hypothesis() -> Any:
    """Return the package, which is imported when it is first needed."""
    return needed("hypothesis", "drawing examples", "test")


def sizes(layer: Layer, *, largest: Bounds = SMALL, **fixed: int) -> SearchStrategy[dict[str, int]]:
    """Return a strategy for ``{symbol name: size}`` that the layer accepts: for ``layer.at(sizes)`` and ``build(**sizes)``.

    If heads must divide a width, the width is drawn as a multiple of the heads. ``largest`` bounds every size, or those that a mapping
    names (others stay small); ``sizes(layer, largest=10**6)`` draws large ones. ``fixed`` sizes are not changed. Examples shrink towards 1.

    Raises:
        ArgumentError: Hypothesis is not installed; a bound below one or for no symbol.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> from hypothesis import find
    >>> find(sizes(MultiHeadAttention(H, A)), lambda found: found["A"] > 2)
    {'A': 3, 'H': 3}
    """
    check_layer(layer)
    st = hypothesis().strategies
    _check_bounds(layer, largest)
    pinned = layer.at(fixed) if fixed else layer
    points = lattice(pinned)

    def draw_sizes(draw: Any) -> dict[str, int]:
        point: dict[Symbol, int] = {c.symbol: c.choices[0] if c.choices else 1 for c in points.coordinates}
        for coordinate in points.coordinates:
            point[coordinate.symbol] = draw(_values(st, coordinate, points, point, largest))
        found = {**fixed, **points.sizes(point)}
        try:
            pinned.at(points.sizes(point))
        except ParamsymError:  # a condition without a formula, such as two widths that must differ
            hypothesis().reject()
        return dict(sorted(found.items()))

    strategy: SearchStrategy[dict[str, int]] = st.composite(draw_sizes)()
    return strategy


def _check_bounds(layer: Layer, largest: Bounds) -> None:
    names = {symbol.name for symbol in layer.symbols}
    bounds: Mapping[str, object] = largest if isinstance(largest, Mapping) else {"": largest}
    for name, bound in bounds.items():
        if (name and name not in names) or not isinstance(bound, int) or isinstance(bound, bool) or bound < 1:
            message = f"largest is {quoted(largest)}; wanted a positive int, or one for some of {', '.join(sorted(names)) or 'no symbols'}."
            raise ArgumentError(message)


def _values(st: Any, coordinate: Coordinate, points: Lattice, point: Mapping[Symbol, int], largest: Bounds) -> Any:
    """Return a strategy for one coordinate that keeps every size within its bound, with the other coordinates fixed."""

    def fits(value: int) -> bool:
        found = points.sizes({**point, coordinate.symbol: value})
        return all(size <= (largest.get(name, SMALL) if isinstance(largest, Mapping) else largest) for name, size in found.items())

    if coordinate.choices:
        return st.sampled_from([choice for choice in coordinate.choices if fits(choice)] or list(coordinate.choices[:1]))
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
    low = bisect_left(range(high), True, low + 1, key=lambda value: not fits(value)) - 1
    tried = range(1, min(low, _LISTED) + 1) if points.left else ()
    kept = [value for value in tried if _holds(points, {**point, coordinate.symbol: value})]
    return st.sampled_from(kept) if kept else st.integers(1, low)


def _holds(points: Lattice, point: Mapping[Symbol, int]) -> bool:
    """Whether the lattice's remaining conditions hold with the coordinates drawn so far and the others at one."""
    found = points.sizes(point)
    numbers = {symbol: Integer(found[symbol.name]) for symbol in points.formulas}
    for condition in points.left:
        small, large = (substitute(side, numbers) for side in (condition.small, condition.large))
        if large % small != 0 if condition.kind == "divides" else small > large:
            return False
    return True
