"""Points with results, pairs of points that differ in only one number, and lines of such points."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

from paramsym.derive.law import Generator

Numbers: TypeAlias = Mapping[str, int]
IN_NAME = "#"
"""The prefix of an index for the number in the names of alternating copies, whose own index counts the copies of each kind."""
BEFORE = "<"
"""The prefix of an index for the number of the last copy of the first kind, whose tensors a copy of the second kind may share."""
_MOST_LINES = 6  # the most lines of one coordinate
_DEGREE = 6


@dataclass(frozen=True, eq=False)
class Points:
    """Several points; ``free`` are the coordinates, from which every other number of a point follows."""

    at: tuple[Numbers, ...]
    free: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.at)

    @cached_property
    def lines(self) -> dict[str, list[list[int]]]:
        """For each coordinate the groups of points that differ only in it, in its order; the longest groups first."""
        found: dict[str, list[list[int]]] = {}
        for name in self.free:
            groups: dict[tuple[int, ...], dict[int, int]] = {}
            others = [other for other in self.free if other != name]
            for position, numbers in enumerate(self.at):
                groups.setdefault(tuple(numbers[other] for other in others), {}).setdefault(numbers[name], position)
            lines = [[group[value] for value in sorted(group)] for group in groups.values() if len(group) > 1]
            found[name] = sorted(lines, key=len, reverse=True)
        return found

    @cached_property
    def mixed(self) -> tuple[int, ...]:
        """The positions of the points in a fixed order in which neighbours have little in common."""
        order = list(range(len(self.at)))
        random.Random(0).shuffle(order)  # noqa: S311 - no secret
        return tuple(order)

    @cached_property
    def _columns(self) -> dict[Generator, list[Fraction | int]]:
        return {}

    def values_of(self, generator: Generator) -> list[Fraction | int]:
        """Return a named number or a step at every point."""
        if generator not in self._columns:
            self._columns[generator] = [
                numbers[generator] if isinstance(generator, str) else generator.value(numbers) for numbers in self.at
            ]
        return self._columns[generator]

    @cached_property
    def derived(self) -> tuple[str, ...]:
        """The numbers that follow from the coordinates, without those in names."""
        return tuple(name for name in self.at[0] if name not in self.free and not name.startswith((IN_NAME, BEFORE)))

    def movers(self, values: Sequence[int]) -> list[str]:
        """Return the coordinates that change the values between some pair of points."""
        return [name for name in self.free if any(len({values[position] for position in line}) > 1 for line in self.lines[name])]

    def apart(self, values: Sequence[int]) -> frozenset[frozenset[str]]:
        """Return the pairs of coordinates of which no product occurs: a change of both adds what the changes of each add."""
        found: set[frozenset[str]] = set()
        place = {tuple(numbers[name] for name in self.free): position for position, numbers in enumerate(self.at)}
        for (i, one), (j, other) in combinations(enumerate(self.free), 2):
            mixed: set[bool] = set()
            for corner, position in place.items():
                for line in self._through.get((position, one), ()):
                    across = [(*corner[:i], self.at[line][one], *corner[i + 1 :])]
                    for beside in self._through.get((position, other), ()):
                        far = (*across[0][:j], self.at[beside][other], *across[0][j + 1 :])
                        if far in place:
                            mixed.add(values[place[far]] - values[line] - values[beside] + values[position] != 0)
                if True in mixed:
                    break
            if mixed == {False}:
                found.add(frozenset((one, other)))
        return frozenset(found)

    @cached_property
    def _through(self) -> dict[tuple[int, str], list[int]]:
        """For each position and coordinate the positions that differ in it only."""
        return {
            (position, name): [other for other in line if other != position]
            for name, lines in self.lines.items()
            for line in lines
            for position in line
        }

    def exponents(self, name: str, values: Sequence[int]) -> set[int] | None:
        """Return the powers of a coordinate that its lines show; None if a line is not a polynomial of low degree."""
        found: set[int] = set()
        for line in self.lines[name][:_MOST_LINES]:
            if len(line) < max(3, max(found, default=0) + 2):  # too short to tell a polynomial of this degree from anything else
                continue
            powers = line_powers([self.at[position][name] for position in line], [values[position] for position in line])
            if powers is None:
                return None
            found |= powers
        return found

    def dense(self, name: str, values: Sequence[int]) -> list[tuple[list[int], list[int]]]:
        """Return runs of consecutive values of a coordinate with their results, the longest first."""
        found = []
        for line in self.lines[name][:_MOST_LINES]:
            run: list[int] = []
            runs: list[list[int]] = []
            for position in line:
                if run and self.at[position][name] != self.at[run[-1]][name] + 1:
                    runs.append(run)
                    run = []
                run.append(position)
            runs.append(run)
            longest = max(runs, key=len)
            found.append(([self.at[position][name] for position in longest], [values[position] for position in longest]))
        return sorted(found, key=lambda pair: len(pair[0]), reverse=True)


def line_powers(places: Sequence[int], values: Sequence[int]) -> set[int] | None:
    """Return the powers with a coefficient in the polynomial through a line, at least one value left to check it; None for no such one.

    >>> line_powers([1, 2, 3, 5], [3, 12, 27, 75]), line_powers([1, 2, 3, 4], [0, 1, 1, 2])
    ({2}, None)
    """
    table = [Fraction(value) for value in values]
    newton = [table[0]]
    for order in range(1, len(places)):
        table = [(table[k + 1] - table[k]) / (places[k + order] - places[k]) for k in range(len(table) - 1)]
        newton.append(table[0])
        if not any(table):
            break
    else:
        return None
    while newton and not newton[-1]:
        newton.pop()
    if len(newton) > _DEGREE + 1:
        return None
    powers = [Fraction(0)] * max(1, len(newton))
    for order in reversed(range(len(newton))):
        shifted = [Fraction(0), *powers[:-1]]
        powers = [high - places[order] * low for high, low in zip(shifted, powers, strict=True)]
        powers[0] += newton[order]
    return {power for power, coefficient in enumerate(powers) if coefficient}
