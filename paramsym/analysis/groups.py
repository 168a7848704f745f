"""Tensors with the same product of factors, and how a symbol enters them: as slices, as copies, as a factor, or inside a size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sympy import Expr, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, Dim, per, symbols_in, text, with_quotients
from paramsym.analysis.counted import total
from paramsym.analysis.derivation import Product, Said
from paramsym.analysis.wording import once_per, plain
from paramsym.core.ledger import Line

_SLICED = frozenset("AG")
_NAMED = 4  # the most tensor names of one kind in a sentence; the others are counted
_TIMES = {2: " twice", 3: " three times"}


@dataclass(frozen=True)
class Group:
    """Tensors that contribute the same product of factors."""

    factors: tuple[Count, ...]
    lines: tuple[Line, ...]

    @cached_property
    def amount(self) -> Polynomial:
        """The contribution of the whole group."""
        return total(self.lines)

    @property
    def product(self) -> Product:
        """The contribution of one tensor, not simplified: numbers of copies first, then the axes; a sum if copies differ."""
        return Product(self.factors, self.lines[0].spans)

    @property
    def tensors(self) -> int:
        """The number of tensors; the labelled segments of a tensor count once."""
        return tensors(self.lines)

    @property
    def names(self) -> str:
        """The first few names; names that differ in one step are joined: ``attention.{query,key,value}.weight``."""
        found = merged(self.lines)
        left_out = sum(count for _, count in found[_NAMED:])
        return ", ".join(name for name, _ in found[:_NAMED]) + (f" and {left_out} more" if left_out else "")


def grouped(lines: Iterable[Line]) -> Iterator[Group]:
    """Yield the groups of lines with the same factors; a single copy is not a factor."""
    found: dict[tuple[object, ...], list[Line]] = {}
    for line in lines:
        found.setdefault((line.stored, line.factors, line.spans), []).append(line)
    for members in found.values():
        factors = tuple(factor for factor in (*members[0].stored, *members[0].factors) if factor != 1)
        if not members[0].shape:  # for a cost, the operations per unit come first
            factors = tuple(sorted(factors, key=lambda factor: not isinstance(factor, int)))
        yield Group(factors or (1,), tuple(members))


def tensors(lines: Iterable[Line]) -> int:
    """Return the number of tensors of some lines."""
    return len({line.name if line.label else number for number, line in enumerate(lines)})


def merged(lines: Iterable[Line]) -> list[tuple[str, int]]:
    """Return the names of tensors, names that differ in one step joined with braces, each with the number of joined names."""
    labels: dict[tuple[str, ...], list[str]] = {}
    for line in lines:
        labels.setdefault(plain(line), []).append(line.label)
    families: list[tuple[list[list[str]], list[str]]] = []
    for path, segments in labels.items():
        for steps, known in families:
            differ = [i for i, (step, other) in enumerate(zip(path, steps, strict=False)) if step not in other]
            varies = {i for i, other in enumerate(steps) if len(other) > 1}
            if len(path) == len(steps) and segments == known and len(differ) == 1 and varies <= set(differ):
                steps[differ[0]].append(path[differ[0]])
                break
        else:
            families.append(([[step] for step in path], segments))
    return [(_spelt(steps, segments), max(map(len, steps))) for steps, segments in families]


def _spelt(steps: list[list[str]], segments: list[str]) -> str:
    name = ".".join(step[0] if len(step) == 1 else f"{{{','.join(step)}}}" for step in steps)
    return f"{name} [{', '.join(segments)}]" if any(segments) else name


def quotients(factors: Iterable[Count], symbol: Symbol) -> Iterator[Expr]:
    """Yield the exact quotients by the symbol anywhere in the factors."""
    for factor in factors:
        if isinstance(factor, Expr):
            yield from (quotient for quotient in factor.atoms(per) if symbol in quotient.args[1].free_symbols)


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
    stays = symbol in group.amount.free_symbols
    for factors in group.lines[0].axes or (_slices_first(group.factors, symbol),):
        for factor in factors:
            if not isinstance(factor, per) or symbol not in factor.as_quotient()[1].free_symbols:
                continue
            width = with_quotients(factor)
            slices = next((other for other in factors if other is not factor and other != 1), None)
            if slices == symbol and stays:
                continue  # another axis is divided as well
            if slices == symbol:
                return (symbol, " slices of width ", width, f"{each}, because the width is divided exactly")
            if slices is not None:
                return (slices, " slices of width ", width, f"{each}, and ", slices, " is not ", symbol, ": ", symbol, " stays")
            if symbol.name in _SLICED:
                said = f"{each}, shared by all: nothing multiplies the division away, and "
                return ("one slice of width ", width, said, symbol, " stays")
            return ("a width of ", width, f"{each}: nothing multiplies the division away, and ", symbol, " stays")
    size = next(factor for factor in group.factors if any(quotients((factor,), symbol)))
    return (symbol, " divides inside a size", each, ", ", size, ", and stays")


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
