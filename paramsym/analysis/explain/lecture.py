"""The sentences of ``explain(..., style="lecture")``: "Each head has width H/A; A of them give H."."""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Expr, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count
from paramsym.analysis.counted import Words
from paramsym.analysis.explain.derivation import Said
from paramsym.analysis.explain.groups import Group
from paramsym.analysis.explain.sentences import how, sliced
from paramsym.analysis.wording import ONE_OF


def of_group(group: Group, symbol: Symbol, spoken: Words, earlier: Iterable[Group] = ()) -> tuple[Said, ...]:
    """Say how wide one slice is and what all slices give, or what each copy has; what was said of an ``earlier`` group is not repeated."""
    slices, width = sliced(group, symbol)
    if slices is not None and width is not None:
        return _slices(group, symbol, slices, width, again=any(sliced(before, symbol) == (slices, width) for before in earlier))
    if symbol in group.lines[0].stored:
        one, has = ONE_OF.get(symbol.name, "copy"), "has its own" if spoken.one == "tensor" else "has"
        return (f"Each {one} {has} {group.names}; ", symbol, f" {one}s have ", symbol, " times as many.")
    return (f"{group.names}: ", *how(group, symbol), ".")


def _slices(group: Group, symbol: Symbol, slices: Count, width: Expr, *, again: bool) -> tuple[Said, ...]:
    if again and slices == symbol:
        return (symbol, f" cancels from {group.names} in the same way.")
    one = ONE_OF.get(str(slices), "slice")
    together = Polynomial.product((slices, width)).as_expr()
    whole: tuple[Said, ...] = (f"Each {one} has width ", width, "; ", slices, " of them give ", together)
    if slices == symbol:
        return (*whole, ". So ", symbol, f" cancels from {group.names}.")
    return (*whole, ". There are ", slices, ", not ", symbol, ", so ", symbol, f" stays in {group.names}.")


def together(symbol: Symbol, *, entered: bool, rest: bool) -> tuple[Said, ...]:
    """Introduce the sum of all terms."""
    if not rest:
        return ("The sum:",)
    return ("The rest does not contain " if entered else "Nothing contains ", symbol, ". The sum:")


def two_parts(groups: Iterable[Group], symbol: Symbol) -> tuple[Said, ...]:
    """Introduce a derivative as what one more slice adds and what all thinner slices take away."""
    if not any(sliced(group, symbol)[0] == symbol for group in groups):
        return ("What ", symbol, " multiplies grows, and what it divides shrinks:")
    one = ONE_OF.get(symbol.name, "slice")
    return (f"One more {one} adds the first part. Each {one} becomes narrower, which takes the second part away:",)
