"""Tensors with the same product of factors, and how a symbol enters them: as slices, as copies, as a factor, or inside a size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sympy import Expr, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, per
from paramsym.analysis.counted import total
from paramsym.analysis.explain.derivation import Product
from paramsym.analysis.wording import plain
from paramsym.core.ledger import Line

_NAMED = 4  # the most tensor names of one kind in a sentence; the others are counted


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
