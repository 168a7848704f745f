"""Exact linear equations: the coefficients with which a few columns of whole numbers give a column of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

_PRIME = (1 << 127) - 1
_DENOMINATORS = frozenset({1, 2, 3, 4, 6, 8, 12, 24})
_LARGEST = 10**10  # a larger coefficient fits by chance


def coefficients(rows: Iterable[tuple[Sequence[int], int]], width: int, spare: int) -> list[Fraction] | None:
    """Return exact coefficients of equations ``(row, result)``, or None if none fit or fewer than ``spare`` equations remain as a check.

    Columns that depend on earlier ones get 0, so the simplest columns come first. The elimination runs modulo a large prime, ends at the
    first contradiction, and every equation is checked in whole numbers afterwards.

    >>> coefficients([([1, 2], 7), ([1, 3], 10), ([1, 5], 16)], 2, spare=1)
    [Fraction(1, 1), Fraction(3, 1)]
    >>> coefficients([([1, 2], 7), ([1, 3], 10), ([1, 5], 17)], 2, spare=1) is None
    True
    """
    unique: dict[tuple[int, ...], int] = {}
    matrix: list[list[int]] = []
    pivots: list[int] = []
    for stated, result in rows:
        row = tuple(stated)
        if unique.setdefault(row, result) != result:
            return None
        reduced = [value % _PRIME for value in (*row, result)]
        for pivot, known in zip(pivots, matrix, strict=True):
            factor = reduced[pivot]
            if factor:
                reduced = [(value - factor * other) % _PRIME for value, other in zip(reduced, known, strict=True)]
        lead = next((column for column, value in enumerate(reduced) if value), -1)
        if lead == width:
            return None
        if lead >= 0:
            scale = pow(reduced[lead], -1, _PRIME)
            reduced = [value * scale % _PRIME for value in reduced]
            for position, known in enumerate(matrix):
                factor = known[lead]
                if factor:
                    matrix[position] = [(value - factor * other) % _PRIME for value, other in zip(known, reduced, strict=True)]
            pivots.append(lead)
            matrix.append(reduced)
    if len(unique) < len(pivots) + spare:
        return None
    return _checked(unique, width, pivots, matrix)


def _checked(unique: dict[tuple[int, ...], int], width: int, pivots: list[int], matrix: list[list[int]]) -> list[Fraction] | None:
    found = [Fraction(0)] * width
    for pivot, row in zip(pivots, matrix, strict=True):
        number = _rational(row[width])
        if number.denominator not in _DENOMINATORS or abs(number) > _LARGEST:
            return None
        found[pivot] = number
    scale = 24
    whole = [int(number * scale) for number in found]
    kept = [(position, number) for position, number in enumerate(whole) if number]
    if any(sum(number * row[position] for position, number in kept) != scale * result for row, result in unique.items()):
        return None
    return found


def _rational(residue: int) -> Fraction:
    """Return the fraction of small numerator and denominator that has this residue."""
    a, b, s, t = _PRIME, residue, 0, 1
    while 2 * b * b > _PRIME:
        quotient = a // b
        a, b, s, t = b, a - quotient * b, t, s - quotient * t
    return Fraction(b, t) if t else Fraction(0)
