"""Laws of the sizes of timm's networks: constants, linear in the classes or channels, or in the cells of a grid over the image."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, product
from typing import Any

from atlas_builder.fitting import NoFitError
from atlas_builder.solving import coefficients

from paramsym.atlas.expression import OutsideError, atom, evaluated

_PARTS = (1, 2, 4, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 30, 32, 40, 48, 56, 60, 64, 128)
_WINDOWS = (7, 8, 12, 14, 16, 24, 32, 6, 10, 20, 64)

_SATURATED = 3
_HALVES = (2, 4, 8, 16)  # a convolution rounds down, and a later one up

Atoms = list[Any]
_FOUND: dict[str, frozenset[str]] = {}
"""The products of atoms of earlier laws, with their keys: architectures of one class have the same laws."""


def _cells(kind: Any, side: str, part: int) -> Any:
    """Return the number of cells of a side, rounded down, up, or down and then up."""
    if kind in _HALVES:
        return ["^/", ["//", side, kind], part]
    return [kind, side, part] if part > 1 else side


def _value(probe: Mapping[str, int], law: Any) -> int | None:
    with suppress(OutsideError):
        return evaluated(probe, law)
    return None


def _names(what: Any) -> Iterator[str]:
    """Yield the keys in products of atoms."""
    if isinstance(what, list):
        for one in what:
            yield from _names(one)
    elif isinstance(what, str) and what.isidentifier() and what != "min":
        yield what


class Laws:
    """Finds the expression of each axis over points, and keeps it, because many tensors have the same sizes."""

    def __init__(self, points: Sequence[Mapping[str, Any]], linear: Sequence[str], sides: Sequence[str]) -> None:
        """Take the points; ``linear`` are the keys in which sizes are linear, ``sides`` those of the image."""
        self.points, self.linear, self.sides = points, linear, sides
        self.known: dict[tuple[int, ...], Any] = {}
        self.columns: dict[str, list[int]] = {}

    def law(self, where: Sequence[int], sizes: Sequence[int]) -> Any:
        """Return the expression of one axis that has these sizes at the points ``where``.

        Raises:
            NoFitError: none was found.
        """
        if len(set(sizes)) == 1:
            return sizes[0]
        key = (*where, *sizes)
        if key not in self.known:
            self.known[key] = self._searched(where, sizes)
        if self.known[key] is None:
            shown = [(size, dict(self.points[place])) for place, size in zip(where, sizes, strict=True)][:4]
            message = f"no law gives {shown}"
            raise NoFitError(message)
        return self.known[key]

    def doubt(self, where: Sequence[int], sizes: Sequence[int], probes: Sequence[Mapping[str, int]]) -> Mapping[str, int] | None:
        """Return sides at which two laws differ that both give these sizes; None if there is one law only."""
        laws = {json.dumps(law): law for law in (self._solved(basis, where, sizes) for basis in self._bases(sizes)) if law is not None}
        if len(laws) > 1:
            return next((probe for probe in probes if len({_value(probe, law) for law in laws.values()}) > 1), None)
        return None

    def moved(self, where: Sequence[int], sizes: Sequence[int]) -> bool:
        """Whether the sides change these sizes."""
        law = self.law(where, sizes)
        return not isinstance(law, int) and bool(set(_names(law)) & {*self.sides})

    def _searched(self, where: Sequence[int], sizes: Sequence[int]) -> Any:
        known = (json.loads(basis) for basis, used in _FOUND.items() if used <= {*self.linear, *self.sides})
        for basis in chain(known, self._bases(sizes)):
            law = self._solved(basis, where, sizes)
            if law is not None:
                _FOUND.setdefault(json.dumps(basis), frozenset(_names(basis)))
                return law
        return None

    def _bases(self, sizes: Sequence[int]) -> Iterator[list[Atoms]]:
        """Yield the products of atoms that a law may combine, the simplest first; windows only for sizes that have a largest one."""
        for key in self.linear:
            yield [[key]]
        if not self.sides:
            return
        grids = [[_cells(kind, side, part) for side in self.sides] for kind, part in product(("//", "^/", *_HALVES), _PARTS)]
        for cells in grids:
            yield from self._grids(cells)
        if list(sizes).count(max(sizes)) < _SATURATED:
            return
        for most, cells in product(_WINDOWS, grids):
            relative = [["-", ["*", 2, ["min", cell, most]], 1] for cell in cells]  # positions of one cell of a window to another
            yield [relative * (3 - len(cells))]
            yield from self._grids([["min", cell, most] for cell in cells])

    @staticmethod
    def _grids(cells: Sequence[Any]) -> Iterator[list[Atoms]]:
        """Yield a polynomial in the cells of a grid: of a side, of both, and a half or a quarter of their number."""
        if len(cells) == 1:
            yield [[cells[0]]]
            yield [[cells[0]], [cells[0], cells[0]]]
        else:
            yield from ([[cell]] for cell in cells)
            yield [[cells[0]], [cells[1]], list(cells)]
            yield [[["//", ["*", *cells], 2]]]
            yield [[["//", ["*", *cells], 4]]]

    def _solved(self, basis: Sequence[Atoms], where: Sequence[int], sizes: Sequence[int]) -> Any:
        """Return the expression in the products of a basis, or None."""
        rows = []
        for place in where:
            row = [1]
            for atoms in basis:
                term = 1
                for one in atoms:
                    term *= self._column(one)[place]
                row.append(term)
            rows.append(row)
        by_row: dict[tuple[int, ...], int] = {}
        if any(by_row.setdefault(tuple(row), size) != size for row, size in zip(rows, sizes, strict=True)):
            return None
        found = coefficients(rows, sizes)
        if found is None:
            return None
        terms = [(numerator, denominator, atoms) for (numerator, denominator), atoms in zip(found, [[], *basis], strict=True) if numerator]
        return ["+", [[numerator, denominator, _powers(atoms)] for numerator, denominator, atoms in terms]]

    def _column(self, one: Any) -> list[int]:
        key = repr(one)
        if key not in self.columns:
            self.columns[key] = [int(atom(point, one)) for point in self.points]
        return self.columns[key]


def _powers(atoms: Sequence[Any]) -> list[list[Any]]:
    """Return atoms with their powers."""
    found: list[list[Any]] = []
    for one in atoms:
        same = next((pair for pair in found if pair[0] == one), None)
        if same is None:
            found.append([one, 1])
        else:
            same[1] += 1
    return found
