"""Pictures of counts: shares by part, growth, two models side by side, why heads cancel, what a convolution stores.

Needs matplotlib: ``pip install paramsym[plot]``. Every function returns a ``Picture`` with its matplotlib ``figure``, its description
``alt``, and ``save(path)``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence, Sized
from itertools import islice
from math import isqrt
from typing import Any, Literal, cast

from sympy import Expr, Integer, Symbol, ceiling

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import size, symbols_in
from paramsym.algebra.symbols import BY_NAME
from paramsym.algebra.wanted import symbol_of
from paramsym.analysis.compare import compare as compared
from paramsym.analysis.counted import Counted, check_counted, lines as lines_of, title as title_of, words
from paramsym.analysis.roles import by_role
from paramsym.arguments import check_depth
from paramsym.errors import ArgumentError, SizeError
from paramsym.naming import described, quoted
from paramsym.present.typeset import PartTotal, names, shares
from paramsym.render import latex
from paramsym.render.order import ordered
from paramsym.render.plot import Box, Lead, Picture, bars, curves, icicle, stacks, tiling

__all__ = ["Picture", "cancellation", "compare", "convolution", "growth", "share", "spread"]

_NUMBERS = re.compile(r"\.?\{([^{},.]+)\.\.([^{},.]+)\}")
_RANGE = re.compile(r"(?<=\w)\.\.(?=\w)")
_MOST = 7  # terms with a separate colour
_MOST_PLACES = 10_000
_COUNTED = 1000  # items that are drawn one by one
_LARGEST = 10**15  # pictures are drawn with floats, which are exact up to here


def share(layer: Counted, depth: int | None = None, kind: Literal["bars", "icicle"] = "bars") -> Picture:
    """Draw the share of each part, as bars at one depth or as an icicle of all depths down to ``depth``.

    Raises:
        SizeError: while symbols are left.
        ArgumentError: an unknown kind.

    ``share(Bert().at("bert-base-uncased"), kind="icicle").save("bert.pdf")`` writes a picture to a file.
    """
    drawn = _drawn(layer, depth)
    unit = words(layer).unit
    title = f"{title_of(layer)}: {drawn:,} {unit}"
    if kind == "icicle":
        lines = [(_steps(line.path), int(line.amount)) for line in lines_of(layer)]
        return icicle(Box(title_of(layer), layer.count, _nested(lines, depth or 3)), unit, title)
    if kind != "bars":
        raise ArgumentError(f"kind {quoted(kind)} is not known; wanted 'bars' or 'icicle'.")
    found = shares(lines_of(layer), depth)
    return bars(_named(found), [(title_of(layer), [int(one.total) for one in found])], unit, title)


def compare(one: Counted, other: Counted, depth: int | None = 1, labels: Sequence[str] = ()) -> Picture:
    """Draw the parts of two models side by side, paired by name; if no name is in both models, paired by role.

    Raises:
        SizeError: while symbols are left in either.
    """
    if not isinstance(labels, tuple | list) or len(labels) not in {0, 2}:
        raise ArgumentError(f"labels is {described(labels)}; wanted two names, or none.")
    amounts = []
    for layer in (one, other):
        _drawn(layer, depth)
        found = shares(lines_of(layer), depth)
        amounts.append(dict(zip(_named(found), (int(part.total) for part in found), strict=True)))
    if depth == 1 and amounts[0].keys().isdisjoint(amounts[1]):
        amounts = [{role: int(amount.as_expr()) for role, amount in by_role(lines_of(layer)).items()} for layer in (one, other)]
    called = tuple(map(str, labels)) or _told_apart(one, other)
    parts = list(dict.fromkeys([*amounts[0], *amounts[1]]))
    series = [(name, [part.get(label, 0) for label in parts]) for name, part in zip(called, amounts, strict=True)]
    title = " and ".join(f"{name}: {layer.count:,}" for name, layer in zip(called, (one, other), strict=True))
    units = dict.fromkeys(words(layer).unit for layer in (one, other))
    return bars(parts, series, " and ".join(units), title)


def _named(found: tuple[PartTotal, ...]) -> list[str]:
    """Return a label for each part; several copies are "layer 1 to 5"."""
    return [_RANGE.sub(r" to ", name) for name in names(found)]


def growth(layer: Counted, symbol: Symbol | str, values: Iterable[int], *, letters: Lettering = None) -> Picture:
    """Draw the count and its terms against one symbol on logarithmic axes, and mark where each term is the largest.

    Raises:
        UnknownNameError: a symbol that is not in the count.
        SizeError: other symbols are left, or fewer than two values.

    ``growth(FeedForward(H, 4 * H), "H", spread(1, 10_000))`` marks where 8*H**2 overtakes 5*H.
    """
    check_counted(layer)
    closed = layer.polynomial.as_expr()
    if not isinstance(symbol, str | Symbol):
        raise ArgumentError(f"symbol is {described(symbol)}; wanted a symbol or its name.")
    found = symbols_in(closed)
    name = symbol if isinstance(symbol, str) else symbol.name
    grown = symbol_of(f"the {words(layer).count} of {title_of(layer)}", name, found)
    if len(found) > 1:
        others = ", ".join(sorted(one.name for one in found - {grown}))
        raise SizeError(f"the {words(layer).count} of {title_of(layer)} also has {others}; put sizes in with .at(...), all but {name}.")
    places = sorted({_place(value, name) for value in _listed(values, name)})
    if len(places) < 2:
        raise SizeError("a curve needs at least two positive values.")
    chosen = lettering(letters, symbols_in(closed))
    terms = ordered(closed, chosen)
    rows = [(latex.expression(term, chosen), term, [_value(term, grown, place) for place in places]) for term in terms]
    total = [_value(closed, grown, place) for place in places]
    largest = sorted(rows, key=lambda row: -max(row[2]))[:_MOST]
    shown, kept = [(words, amounts) for words, _, amounts in largest], [(words, term) for words, term, _ in largest]
    known = BY_NAME.get(name)
    axis = f"${latex.symbol(name, chosen)}$" + (f", {known.meaning}" if known is not None else "")
    title = f"{title_of(layer)}: ${latex.expression(closed, chosen)}$"
    return curves(places, total, shown, _leads(kept, grown, places[0], places[-1]), axis, words(layer).unit, title)


def _value(term: Expr, symbol: Symbol, place: int) -> int:
    return int(Polynomial.of(cast("Expr", term.xreplace({symbol: Integer(place)}))).as_expr())


def _leads(terms: list[tuple[str, Expr]], symbol: Symbol, first: int, last: int) -> list[Lead]:
    """Return the ranges over which one term is the largest, with exact bounds."""
    name, leader = max(terms, key=lambda term: (_value(term[1], symbol, first), _value(term[1], symbol, last)))
    start: Expr = Integer(first)
    found: list[Lead] = []
    while True:
        ahead = [
            (at, -_value(term, symbol, last), other, term)
            for other, term in terms
            if term != leader and _value(term, symbol, last) > _value(leader, symbol, last)
            for at in _crossings(leader, term, symbol, first, last)
            if at >= start
        ]
        if not ahead:
            return [*found, Lead(name, float(start), float(last), int(ceiling(start)), last)]
        at, _, other, term = min(ahead, key=lambda one: one[:2])
        if at > start:
            found.append(Lead(name, float(start), float(at), int(ceiling(start)), int(ceiling(at)) - 1))
        start, name, leader = at, other, term


def _crossings(one: Expr, other: Expr, symbol: Symbol, first: int, last: int) -> list[Expr]:
    """Return where the second term overtakes the first: exactly, or, for terms with rounding, the first whole number."""
    exact = [crossover.at for crossover in compared(one, other).crossovers if crossover.symbol == symbol and crossover.at <= last]
    if exact or one.is_polynomial(symbol):
        return exact
    ahead = bisect_left(range(last), True, first, key=lambda place: _value(other, symbol, place) > _value(one, symbol, place))
    return [Integer(ahead)]


def cancellation(heads: int = 4, *, letters: Lettering = None) -> Picture:
    """Draw why the number of heads cancels: ``heads`` matrices of width H/A tile one H x H matrix, for any number of heads."""
    _check(_COUNTED, heads=heads)
    chosen = lettering(letters)
    width, number = latex.symbol("H", chosen), latex.symbol("A", chosen)
    title = rf"${number} \cdot \frac{{{width}}}{{{number}}} \cdot {width} = {width}^{{2}}$, here ${number} = {heads}$"
    alt = f"A square of side H, cut into {heads} bands of width H/A, one per head. Together they are the whole square, for every A."
    return tiling(heads, lambda head: f"head {head + 1}", title, width, rf"\frac{{{width}}}{{{number}}}", alt)


def convolution(filters: int = 3, channels: int = 3, kernel: int = 3, *, letters: Lettering = "cs231n") -> Picture:
    """Draw what a two-dimensional convolution stores: ``filters`` stacks of ``channels`` kernels of ``kernel`` x ``kernel`` weights."""
    _check(_COUNTED, filters=filters, channels=channels, kernel=kernel)
    chosen = lettering(letters)
    side, deep, many = (latex.symbol(name, chosen) for name in ("K", "C", "F"))
    labels = (f"${side} = {kernel}$", f"${deep} = {channels}$ deep", f"${many} = {filters}$ filters, each with one bias")
    total = filters * (channels * kernel**2 + 1)
    title = rf"${many}\,({side} \cdot {side} \cdot {deep} + 1) = {total}$ parameters"
    stack = f"{filters} filters, each a stack of {channels} kernels of {kernel} by {kernel} weights"
    alt = f"{stack}. With one bias per filter {total:,} parameters."
    return stacks(filters, channels, kernel, labels, title, alt)


def _drawn(layer: Counted, depth: object) -> int:
    check_counted(layer)
    check_depth(depth)
    if layer.count > _LARGEST:
        raise SizeError(f"{title_of(layer)} has more than 10**15 {words(layer).unit}, which no picture shows; ask for its table.")
    return layer.count


def _listed(values: object, name: str) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable) or (isinstance(values, Sized) and len(values) > _MOST_PLACES):
        message = f"values is {described(values)}; wanted at most {_MOST_PLACES:,} sizes for {name}, as from ps.plot.spread(1, 10_000)."
        raise ArgumentError(message)
    return list(islice(values, _MOST_PLACES))


def _place(value: object, name: str) -> int:
    found = size(value, f"a value of {name}")
    if not isinstance(found, int) or found > _LARGEST:
        raise SizeError(f"a value of {name} is {described(found)}; wanted a whole number of at most 10**15.")
    return found


def _check(most: int | None, **numbers: Any) -> None:
    """Refuse a number that cannot be drawn item by item."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1 or (most is not None and number > most):
            limit = "" if most is None else f" up to {most:,}"
            raise SizeError(f"{name} is {described(number)}; wanted a positive whole number{limit}.")


def _steps(path: tuple[Any, ...]) -> tuple[str, ...]:
    """Return a path in words, a number joined to the name before it: ``layer.{0..11}`` is the one step "layer 0 to 11"."""
    found: list[str] = []
    for step in path:
        if isinstance(step, str) or not found or step.pattern != "{}":
            found.append(str(step))
        else:
            found[-1] = f"{found[-1]}.{step}"
    return tuple(_NUMBERS.sub(r" \1 to \2", step).replace("_", " ") for step in found)


def _nested(amounts: list[tuple[tuple[str, ...], int]], left: int) -> tuple[Box, ...]:
    if not left:
        return ()
    groups: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for path, amount in amounts:
        if path:
            groups.setdefault(path[0], []).append((path[1:], amount))
    return tuple(
        Box(name, sum(amount for _, amount in inside), _nested([one for one in inside if one[0]], left - 1))
        for name, inside in groups.items()
    )


def _told_apart(one: Counted, other: Counted) -> tuple[str, str]:
    first, second = title_of(one), title_of(other)
    return (first, second) if first != second else (f"{first} 1", f"{second} 2")


def spread(first: int, last: int, count: int = 40) -> list[int]:
    """Return whole numbers from ``first`` to ``last``, evenly spaced on a logarithmic axis, exactly and without floats.

    >>> spread(1, 100, 3)
    [1, 10, 100]
    """
    _check(_MOST_PLACES, count=count)
    _check(None, first=first, last=last)
    found = {first, last}
    edges = [(first, last, count - 2)]
    while edges:
        low, high, left = edges.pop()
        middle = isqrt(low * high)
        if left > 0 and low < middle < high:
            found.add(middle)
            edges += [(low, middle, (left - 1) // 2), (middle, high, (left - 1) // 2)]
    return sorted(found)
