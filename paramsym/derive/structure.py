"""The laws of a whole model as a value: a law for every axis, every number of copies, and the place of every kind of copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from paramsym.derive.law import Atom, Law
from paramsym.derive.names import filled
from paramsym.derive.observe import Kind, Seen
from paramsym.derive.points import BEFORE, IN_NAME, Numbers
from paramsym.errors import SizeError

FROM_END = "~"
"""The prefix of an index that counts the copies after this one."""


Place: TypeAlias = "int | str"


@dataclass(frozen=True)
class LeafLaw:
    """One tensor: a law per axis, and its facts. ``alias`` is the first name's pattern with its numbers."""

    axes: tuple[Law, ...]
    kind: Kind
    trainable: bool
    alias: tuple[str, tuple[Place, ...]] | None = None


@dataclass(frozen=True)
class CopiesLaw:
    """Numbered copies: ``count`` from ``start``, with alternating blocks; ``index`` names their number if the blocks depend on it.

    If blocks alternate, the index counts the copies of each block from 0. With ``turn`` there are two blocks: the first one is the block of
    the copy with this number, and of every copy a multiple of ``step`` after it.
    """

    blocks: tuple[LevelLaw, ...]
    start: Law
    count: Law
    index: str
    turn: Law | None = None
    step: Law | None = None

    def block(self, position: int, numbers: Numbers) -> LevelLaw:
        """Return the block of the copy with this many copies before it."""
        if self.turn is None:
            return self.blocks[position % len(self.blocks)]
        number = position + int(self.start.value(numbers))
        return self.blocks[0 if self.before(number, numbers) == number else 1]

    def before(self, number: int, numbers: Numbers) -> int | None:
        """Return the number of the last copy of the first kind up to a copy; None if there is none."""
        assert self.turn is not None and self.step is not None  # noqa: S101, PT018 - only copies of two kinds are asked
        after = number - int(self.turn.value(numbers))
        return number - after % int(self.step.value(numbers)) if after >= 0 else None

    def placed(self, numbers: Numbers, number: int) -> Numbers:
        """Return a point with the number of one copy and that of the last one of the first kind."""
        before = self.before(number, numbers)
        return {**numbers, self.index: number} | ({} if before is None else {BEFORE + self.index: before})


@dataclass(frozen=True)
class LevelLaw:
    """A node of the laws: a tensor, and named and numbered nodes below."""

    leaf: LeafLaw | None = None
    members: tuple[tuple[str, LevelLaw | CopiesLaw], ...] = ()

    def written(self, numbers: Numbers, prefix: str = "") -> Iterator[Seen]:
        """Yield the tensors that the laws give at a point.

        Raises:
            SizeError: a law gives no whole number there, or a negative number of copies.
        """
        if self.leaf is not None:
            shape = tuple(_whole(axis, numbers) for axis in self.leaf.axes)
            alias = "" if self.leaf.alias is None else filled(self.leaf.alias[0], [_placed(p, numbers) for p in self.leaf.alias[1]])
            yield Seen(prefix, shape, self.leaf.kind, self.leaf.trainable, alias)
        dot = "." if prefix else ""
        for name, member in self.members:
            if isinstance(member, LevelLaw):
                yield from member.written(numbers, prefix + dot + name)
                continue
            start, count = _whole(member.start, numbers), _whole(member.count, numbers)
            if count < 0:
                raise SizeError(f"{member.count} is {count} at this point; no number of copies is negative.")
            for position in range(count):
                number, period = start + position, 1 if member.turn else len(member.blocks)
                inner = indexed(numbers, member.index, number, (start, start + count), period)
                inner = inner if member.turn is None else member.placed(numbers, number)
                block = member.block(position, numbers)
                if name:
                    yield from block.written(inner, prefix + dot + name.replace("{}", str(number)))
                    continue
                for leaf, law in block.members:
                    assert isinstance(law, LevelLaw)  # noqa: S101 - a number at the end of a name has nothing below it
                    yield from law.written(inner, prefix + dot + leaf.replace("{}", str(number)))

    def copies(self) -> Iterator[CopiesLaw]:
        """Yield the laws of all copies, those inside others too."""
        for _, member in self.members:
            if isinstance(member, CopiesLaw):
                yield member
            for level in member.blocks if isinstance(member, CopiesLaw) else (member,):
                yield from level.copies()

    def leaves(self) -> Iterator[LeafLaw]:
        """Yield the law of every tensor."""
        if self.leaf is not None:
            yield self.leaf
        for _, member in self.members:
            for level in member.blocks if isinstance(member, CopiesLaw) else (member,):
                yield from level.leaves()

    def laws(self) -> Iterator[tuple[str, Law]]:
        """Yield every law with its name."""
        yield from self._laws("")

    def _laws(self, prefix: str) -> Iterator[tuple[str, Law]]:
        if self.leaf is not None:
            yield from ((prefix, axis) for axis in self.leaf.axes)
        dot = "." if prefix else ""
        for name, member in self.members:
            if isinstance(member, LevelLaw):
                yield from member._laws(prefix + dot + name)
                continue
            inner = prefix + dot + name
            yield inner, member.count
            yield inner, member.start
            if member.turn is not None and member.step is not None:
                yield inner, Law.of(Atom("floor", member.turn, member.step))  # no degree: only tested
            for block in member.blocks:
                yield from block._laws(inner)


def _whole(law: Law, numbers: Numbers) -> int:
    value = law.value(numbers)
    if value.denominator != 1:
        raise SizeError(f"{law} is {value} at this point; a size is a whole number.")
    return int(value)


def _placed(place: Place, numbers: Numbers) -> int:
    return place if isinstance(place, int) else numbers[place]


def indexed(numbers: Numbers, index: str, place: int, bounds: tuple[int, int], period: int) -> Numbers:
    """Return a point with an index for one copy in a run: its number, or the number of copies of its kind before it."""
    after = (bounds[1] - 1 - place) // period
    if period == 1:
        return {**numbers, index: place, FROM_END + index: after}
    return {**numbers, index: (place - bounds[0]) // period, FROM_END + index: after, IN_NAME + index: place}
