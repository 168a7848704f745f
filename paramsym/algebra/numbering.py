"""Numbered copies of a part: their first number, their step and their count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from sympy import Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, Dim, canonical, shown


@dataclass(frozen=True)
class Numbers:
    """The numbered copies of a part: ``start, start + step, ...``, ``count`` of them.

    The number replaces ``{}`` in ``pattern``. With an empty pattern the copies are no step of a path: the number replaces ``{}`` in the
    names inside, as in torch's ``weight_ih_l0``. ``index`` is the symbol of the number, on which copies that differ depend. ``alone``
    marks one copy that was split off from its neighbours. ``label`` is shown in place of the numbers if these are in symbols and have no
    constant step, such as ``0,k..``.
    """

    count: Count
    start: Count = 0
    step: int = 1
    pattern: str = "{}"
    index: Symbol | None = None
    alone: bool = False
    label: str = ""

    def __str__(self) -> str:
        return self._template

    @cached_property
    def _template(self) -> str:
        if self.label:
            return self.pattern.replace("{}", f"{{{self.label}}}")
        first = canonical(self.start)
        if self.count == 1:
            return self.pattern.replace("{}", shown(first) if isinstance(first, int) else f"{{{_tight(first)}}}")
        second, last = (_tight(canonical(self.start + self.step * place)) for place in (1, self.count - 1))
        through = ".." if self.step == 1 else "," if self.count == 2 else f",{second}.."
        return self.pattern.replace("{}", f"{{{_tight(first)}{through}{last}}}")

    @property
    def values(self) -> range | None:
        """The numbers themselves, or None while they are symbolic."""
        if isinstance(self.count, int) and isinstance(self.start, int) and not self.label:
            return range(self.start, self.start + self.step * self.count, self.step)
        return None

    def name(self, number: int) -> str:
        """Return the name of one copy."""
        return self.pattern.replace("{}", str(number))

    def total(self, one: Polynomial) -> Polynomial:
        """Return the sum of ``one`` over all copies; it may contain the index."""
        count = Polynomial.of(self.count)
        return one * count if self.index is None else one.sum_over(self.index, Polynomial.of(self.start), count, self.step)

    def inside(self, name: str, number: int | None = None) -> str:
        """Return the full name of ``name`` in one copy; without a number, the template for all copies."""
        numbers = self if self.pattern else replace(self, pattern=name)
        label = str(numbers) if number is None else numbers.name(number)
        return f"{label}.{name}" if self.pattern else label


@lru_cache(maxsize=1 << 10)  # a model asks for the same few bounds once per tensor, and printing is slow
def _tight(value: Dim) -> str:
    return shown(value).replace(" ", "")
