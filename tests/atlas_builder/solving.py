"""Exact linear systems over many samples: solved modulo a prime, read back as small fractions, checked on every sample."""

from __future__ import annotations

from collections.abc import Sequence

_PRIME = 2**127 - 1
_DENOMINATORS = frozenset({1, 2, 3, 4, 6, 8})
_LARGEST = 10**7
_SPARE = 4


def _fraction(residue: int) -> tuple[int, int]:
    """Return the small fraction that a residue stands for."""
    a, b = _PRIME, residue % _PRIME
    s, t = 0, 1
    while b * b * 2 > _PRIME:
        quotient = a // b
        a, b = b, a - quotient * b
        s, t = t, s - quotient * t
    return (-b, -t) if t < 0 else (b, t)


def coefficients(rows: Sequence[Sequence[int]], results: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return fractions that combine the columns of ``rows`` to ``results``, 0 for columns that depend on others; None if none do.

    None also where the samples are hardly more than the unknowns: a law that fits all of so few is no law.

    >>> coefficients([[1, n] for n in range(8)], [2 * n + 1 for n in range(8)])
    [(1, 1), (2, 1)]
    """
    width = len(rows[0])
    seen: set[tuple[int, ...]] = set()
    matrix: list[list[int]] = []
    for row, result in zip(rows, results, strict=True):
        key = tuple(row)
        if key not in seen:
            seen.add(key)
            matrix.append([*(value % _PRIME for value in row), result % _PRIME])
    pivots: list[int] = []
    for column in range(width):
        rank = len(pivots)
        found = next((i for i in range(rank, len(matrix)) if matrix[i][column]), None)
        if found is None:
            continue
        matrix[rank], matrix[found] = matrix[found], matrix[rank]
        inverse = pow(matrix[rank][column], -1, _PRIME)
        pivot = matrix[rank] = [value * inverse % _PRIME for value in matrix[rank]]
        for i in range(rank + 1, len(matrix)):
            factor = matrix[i][column]
            if factor:
                matrix[i] = [(a - factor * b) % _PRIME for a, b in zip(matrix[i], pivot, strict=True)]
        pivots.append(column)
    rank = len(pivots)
    if len(matrix) < rank + max(2, min(rank, _SPARE)) or any(row[width] for row in matrix[rank:]):
        return None
    solution = [0] * width
    for i in range(rank - 1, -1, -1):
        column = pivots[i]
        rest = sum(matrix[i][j] * solution[j] for j in range(column + 1, width))
        solution[column] = (matrix[i][width] - rest) % _PRIME
    fractions = [_fraction(value) for value in solution]
    small = all(abs(a) < _LARGEST and b in _DENOMINATORS for a, b in fractions)
    return fractions if small else None
