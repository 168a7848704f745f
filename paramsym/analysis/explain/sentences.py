"""The sentences of a derivation: how a symbol enters each group of tensors, and what is added up. ``lecture`` has those of a lecture."""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Expr, Symbol

from paramsym.algebra.size import Count, Dim, per, symbols_in, text, with_quotients
from paramsym.analysis.counted import Counted, Words, holder, title
from paramsym.analysis.explain.derivation import Said
from paramsym.analysis.explain.groups import Group, quotients
from paramsym.analysis.wording import listed, once_per
from paramsym.core.ledger import Line

_SLICED = frozenset("AG")
_TIMES = {2: " twice", 3: " three times"}


def aside(layer: Counted, symbol: Symbol, arguments: list[str]) -> str:
    """Explain a symbol that no stored tensor has: it may count uses, or another symbol may be meant."""
    if any(symbol in set(symbols_in(line.used)) for line in layer.lines):
        return " It says how often what is stored is used."
    name = title(layer)
    alike = sorted(other.name for other in layer.symbols if other.name.startswith(f"{symbol.name}_"))
    if symbol not in layer.symbols and alike:
        return f" {name} has {listed(alike)}."
    if symbol not in layer.symbols and (key := holder(layer).argument_of(symbol)):
        return f" In {name} {key} is a number, not a letter."
    if symbol.name in arguments or not arguments:
        return ""
    return f" {name} was built with numbers; ask for one by its name, {listed(arguments)}."


def of_group(group: Group, symbol: Symbol, spoken: Words, earlier: Iterable[Group] = ()) -> tuple[Said, ...]:
    """Say which tensors a group has, and how the symbol enters them."""
    del earlier
    return (f"{group.tensors} {spoken.one}{'s' if group.tensors > 1 else ''} ({group.names}): ", *how(group, symbol), ".")


def together(symbol: Symbol, *, entered: bool, rest: bool) -> tuple[Said, ...]:
    """Introduce the sum of all terms: whether the symbol entered any, and whether there is a ``rest`` without it."""
    if not rest:
        return ("Everything together:",)
    return ("Everything together, the last term without " if entered else "Everything together, no term with ", symbol, ":")


def two_parts(groups: Iterable[Group], symbol: Symbol) -> tuple[Said, ...]:
    """Introduce a derivative as the sum of what the symbol multiplies and what it divides."""
    if any(how(group, symbol)[:2] == (symbol, " slices of width ") for group in groups):
        return "The derivative in ", symbol, " has two parts: one more slice of the same width, and the smaller width of every slice."
    return "The derivative: first the terms that ", symbol, " multiplies, then the terms that it divides."


def how(group: Group, symbol: Symbol) -> tuple[Said, ...]:
    """Describe how the symbol enters a group: as slices, as a number of slices or copies, or inside a size."""
    line = group.lines[0]
    each = " each" if len(group.lines) > 1 else ""
    if any(span.index is not None and symbol in set(symbols_in((span.count, span.start))) for span in line.spans):
        return (f"one{each} for every copy, and the copies differ: their sizes are summed",)
    if any(quotients(group.factors, symbol)):
        return _divided(group, symbol, each)
    copies = next((count for count in line.stored if symbol in set(symbols_in(count))), None)
    if copies is not None:
        per_what = f", {once_per(symbol)}" if copies == symbol and symbol.name in {"L", "E"} else ""
        return ("stored " if line.shape else "", copies, " times", each, per_what)
    if symbol in group.factors:
        return _multiplied(group, symbol, each)
    size = next(factor for factor in group.factors if symbol in set(symbols_in(factor)))
    for axis in line.axes:
        slices = [factor for factor in axis if factor != size]
        if isinstance(size, per) and size.as_quotient()[0] == symbol and len(slices) == 1 and size in axis:
            return (f"the width{each} is ", symbol, ", divided among ", slices[0], " slices")
    return (symbol, " is inside a size", each, ", ", size)


def _divided(group: Group, symbol: Symbol, each: str) -> tuple[Said, ...]:
    slices, width = sliced(group, symbol)
    if width is None:
        size = next(factor for factor in group.factors if any(quotients((factor,), symbol)))
        return (symbol, " divides inside a size", each, ", ", size, ", and stays")
    if slices == symbol:
        return (symbol, " slices of width ", width, f"{each}, because the width is divided exactly")
    if slices is not None:
        return (slices, " slices of width ", width, f"{each}, and ", slices, " is not ", symbol, ": ", symbol, " stays")
    if symbol.name in _SLICED:
        return ("one slice of width ", width, f"{each}, shared by all: nothing multiplies the division away, and ", symbol, " stays")
    return ("a width of ", width, f"{each}: nothing multiplies the division away, and ", symbol, " stays")


def sliced(group: Group, symbol: Symbol) -> tuple[Dim | None, Expr | None]:
    """Return the number of slices, None for one, and their width, which is divided by the symbol; None if no axis is so divided."""
    stays = symbol in group.amount.free_symbols
    for factors in group.lines[0].axes or (_slices_first(group.factors, symbol),):
        for factor in factors:
            if isinstance(factor, per) and symbol in factor.as_quotient()[1].free_symbols:
                slices = next((other for other in factors if other is not factor and other != 1), None)
                if not (slices == symbol and stays):  # else another axis is divided as well
                    return slices, with_quotients(factor)
    return None, None


def _slices_first(factors: tuple[Count, ...], symbol: Symbol) -> tuple[Dim, ...]:
    """Return the factors of a line without a shape as one axis: the number of slices, then their width."""
    widths = [factor for factor in factors if isinstance(factor, per)]
    known = {text(width.as_quotient()[1]) for width in widths}
    return (*(factor for factor in factors if factor == symbol or text(factor) in known), *widths)


def _multiplied(group: Group, symbol: Symbol, each: str) -> tuple[Said, ...]:
    line = group.lines[0]
    if line.role == "table" and symbol.name in _SLICED:
        return (symbol, f" is a factor of the table{each}, and no width in it is divided by ", symbol)
    if line.role == "table" and line.sizes[0] == symbol:
        return (f"a table{each} with one row for each of ", symbol)
    width = _beside(line, symbol) if symbol.name in _SLICED and line.shape else None
    if width is not None:
        return (symbol, " slices of width ", width, f"{each}, a separate size: ", symbol, " stays")
    times = group.factors.count(symbol)
    often = _TIMES.get(times, f" {times} times") if times > 1 else ""
    return (symbol, " is a factor", f" of each{',' if often else ''}" if each else "", often)


def _beside(line: Line, symbol: Symbol) -> Symbol | None:
    """Return the width that follows a number of slices among the factors of a tensor."""
    following = line.factors[line.factors.index(symbol) + 1 :]
    return next((factor for factor in following[:1] if isinstance(factor, Symbol)), None)
