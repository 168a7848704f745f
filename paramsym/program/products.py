"""Sums of products: matrix products, and every other Einstein sum of two arrays; systems of equations with a triangular matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Axis, Dim, extent, shown
from paramsym.errors import RankError, ShapeError, StructureError
from paramsym.program.graph import MULTIPLY_ADD, Kept, Operation, Work
from paramsym.program.masks import Mask, Pairs
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, flat

Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract(Operation):
    """A sum of products over every axis that the result lacks, as an Einstein sum with words for axes.

    ``within`` names the axes of queries and keys, and the mask with the pairs that count.
    """

    spec: str
    within: tuple[str, str, Mask] | None = None

    def named_axes(self, *taken: ArrayType) -> dict[str, Axis]:
        """Return the axis of every word.

        Raises:
            ShapeError: an array of another rank, or one word for two sizes.
        """
        terms, _ = spelled(self.spec, tuple(len(one.shape) for one in taken))
        found: dict[str, Axis] = {}
        sizes: dict[str, Dim] = {}
        for term, one in zip(terms, taken, strict=True):
            for word, axis, size in zip(term, one.shape, one.sizes, strict=True):
                stretched = word.startswith("...")
                if word not in sizes or (sizes[word] == 1 and stretched):
                    found[word], sizes[word] = axis, size
                elif size != sizes[word] and not (size == 1 and stretched) and differ(size, sizes[word]):
                    raise ShapeError(f"axis {word} has {sizes[word]} entries in one factor and {size} in the other, in {self.spec!r}.")
        return found

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        found = self.named_axes(*taken)
        _, output = spelled(self.spec, tuple(len(one.shape) for one in taken))
        return (ArrayType(tuple(found[word] for word in output)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the factors
        found = self.named_axes(*taken)
        if self.within is None:
            return (Work(MULTIPLY_ADD, flat(tuple(found.values()))),)
        queries, keys, mask = self.within
        pairs = Pairs(extent(found.pop(queries)), extent(found.pop(keys)), mask)
        return (Work(MULTIPLY_ADD, (*flat(tuple(found.values())), pairs)),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        # torch makes a matrix, or a stack of matrices, of each factor.
        merged = _merged(self.spec, tuple(len(one.shape) for one in taken))
        return tuple(Kept("taken", n, merged=merged[n]) for n in (1, 0) if needs[1 - n])

    def run(self, xp: Any, *arrays: Any) -> Any:
        terms, output = spelled(self.spec, tuple(array.ndim for array in arrays))
        letters: dict[str, str] = {}
        for word in (*(word for term in terms for word in term), *output):
            letters.setdefault(word, chr(ord("a") + len(letters)))
        sides = [",".join("".join(letters[word] for word in term) for term in terms), "".join(letters[word] for word in output)]
        return xp.einsum("->".join(sides), *arrays, optimize=True)

    def __str__(self) -> str:
        return f"contract {self.spec!r}"


@dataclass(frozen=True, slots=True)
class Solve(Operation):
    """The solution of a system of equations with a triangular matrix; the other triangle, or ones on the diagonal, are not read."""

    upper: bool
    ones: bool

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        matrix, right = taken
        *stack, rows, columns = matrix.sizes
        if len(matrix.shape) != len(right.shape) or any(map(differ, (*stack, rows, columns), (*right.sizes[:-2], rows, right.sizes[-2]))):
            raise ShapeError(
                f"solve takes a square matrix and columns of its length; found {shown(matrix.sizes)} and {shown(right.sizes)}."
            )
        return (right,)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:
        return (Work("solve", (*flat(given[0].shape), *flat(taken[0].shape[-1:]))),)

    def backward(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Work, ...]:
        # The gradient of the right side is a solution, too; that of the matrix is its product with the solution.
        work = self.work(taken, given)
        return (*work, *(replace(one, unit=MULTIPLY_ADD) for one in work if needs[0]))

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - always the same
        return (Kept("taken"), Kept("given"))

    def run(self, xp: Any, *arrays: Any) -> Any:
        matrix, right = arrays
        read = xp.triu(matrix) if self.upper else xp.tril(matrix)
        if self.ones:
            one = xp.eye(matrix.shape[-1], dtype=matrix.dtype)
            read = read * (1 - one) + one
        return xp.linalg.solve(read, right)

    def __str__(self) -> str:
        return "solve"


def solve(matrix: Value, right: Value, *, upper: bool = False, ones: bool = False) -> Value:
    """Solve ``matrix @ y = right`` for a triangular matrix (..., n, n) and columns (..., n, m); ``ones`` takes a diagonal of ones.

    The same as ``torch.linalg.solve_triangular``.

    Raises:
        ShapeError: a matrix that is not square, or columns of another length.
    """
    return record(Solve(upper, ones), matrix, right)


def contract(spec: str, x: Value, y: Value, within: tuple[str, str, Mask] | None = None) -> Value:
    """Multiply two arrays and sum over every axis that the result lacks: ``contract("... i, o i -> ... o", x, own.weight)``.

    Every axis has a word; ``...`` means any number of leading axes. Work: one multiply-add per combination of all axes.
    """
    return record(Contract(spec, within), x, y)


@lru_cache(maxsize=1 << 10)
def spelled(spec: str, ranks: tuple[int, ...]) -> tuple[tuple[Words, ...], Words]:
    """Return the words of every term and of the result, the dots written out as ``...1``, ``...0`` from the last axis backwards.

    Raises:
        ShapeError: a term with another number of axes than its array.
        StructureError: a wrong number of terms, no arrow, or a word of the result that no term has.
    """
    left, arrow, right = spec.partition("->")
    terms, output = [term.split() for term in left.split(",")], right.split()
    if not arrow or len(terms) != len(ranks):
        raise StructureError(
            f"{spec!r} has {len(terms)} terms{'' if arrow else ' and no arrow'}; wanted one for each array, as in '... i, o i -> ... o'."
        )
    lost = next((word for word in output if not any(word in term for term in terms)), None)
    if lost is not None:
        raise StructureError(f"{spec!r} has {lost!r} in its result and in no term.")
    dots = max((rank - len(term) + 1 for term, rank in zip(terms, ranks, strict=True) if "..." in term), default=0)

    def written(term: list[str], count: int) -> Words:
        if "..." not in term:
            return tuple(term)
        where = term.index("...")
        return (*term[:where], *(f"...{number}" for number in reversed(range(count))), *term[where + 1 :])

    found = tuple(written(term, rank - len(term) + 1) for term, rank in zip(terms, ranks, strict=True))
    for term, rank in zip(found, ranks, strict=True):
        if len(term) != rank:
            raise RankError(f"{spec!r} wants {len(term)} axes; found {rank}.")
    return found, written(output, dots)


@lru_cache(maxsize=1 << 10)
def _merged(spec: str, ranks: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return for both factors the axes that a matrix product merges: shared ones, those of one factor, and summed ones."""
    terms, output = spelled(spec, ranks)
    found = []
    for term, other in (terms, terms[::-1]):
        kinds: dict[tuple[bool, bool], list[int]] = {}
        for axis, word in enumerate(term):
            kinds.setdefault((word in other, word in output), []).append(axis)
        found.append(tuple(tuple(axes) for axes in kinds.values() if len(axes) > 1))
    return tuple(found)
