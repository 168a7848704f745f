"""Layers that only rearrange entries. They store nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sympy import Expr

from paramsym import program as ops
from paramsym.algebra.convolution import differ, exactly
from paramsym.algebra.size import Count, Dim, product, size, text
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, RankError, ShapeError
from paramsym.layers.axes import axis_of, check_rank
from paramsym.layers.siblings import Sibling

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True, init=False)
class Identity(Layer):
    """The identity. It takes any arguments and ignores them, so that it can replace any layer.

    Reference: ``torch.nn.Identity``.
    """

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        self.__post_init__()

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        return x


@dataclass(frozen=True)
class Flatten(Layer):
    """The axes ``start_dim`` to ``end_dim`` merged into one. Reference: ``torch.nn.Flatten``; Keras: ``Flatten``."""

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        if x.rank == 0:
            return ops.rearrange(x, " -> ()")
        first, last = axis_of(self.start_dim, x.sizes, "start_dim"), axis_of(self.end_dim, x.sizes, "end_dim")
        if first > last:
            raise ShapeError(f"start_dim {self.start_dim} comes after end_dim {self.end_dim} in {text(x.sizes)}.")
        return _merged(x, first, last + 1)


def _merged(x: Value, first: int, end: int) -> Value:
    """Return the array with the axes from ``first`` up to ``end`` merged."""
    words = [f"a{n}" for n in range(end)]
    left, inside = " ".join(words[:first]), " ".join(words[first:])
    return ops.rearrange(x, f"{left} {inside} ... -> {left} ({inside}) ...")


def _split(x: Value, position: int, extents: tuple[Count, ...]) -> Value:
    """Split one axis; -1 means the extent that follows from the others."""
    total, stated = x.sizes[position], product(extent for extent in extents if extent != -1)
    if -1 in extents:
        rest = exactly(total, stated, "the entries")
        extents = tuple(rest if extent == -1 else extent for extent in extents)
    elif differ(total, stated):
        raise ShapeError(f"{text((total,))} has {total} entries, {text(extents)} has {stated}.")
    if len(extents) == 1:
        return ops.known(x, *x.shape[:position], *extents, *x.shape[position + 1 :])
    left, new = " ".join(f"a{n}" for n in range(position)), [f"b{n}" for n in range(len(extents))]
    inside = " ".join(new)
    return ops.rearrange(x, f"{left} ({inside}) ... -> {left} {inside} ...", **dict(zip(new, extents, strict=True)))


def _check_open_extents(shape: tuple[int | Expr, ...], name: str) -> None:
    """Check that at most one extent is -1, which follows from the others."""
    extents = [extent for extent in shape if extent != -1]
    for position, extent in enumerate(extents):
        size(extent, f"{name}[{position}]")
    if len(shape) - len(extents) > 1:
        raise ArgumentError(f"{name} is {shape}; only one extent can be -1.")


@dataclass(frozen=True)
class Unflatten(Layer):
    """One axis split into several; -1 means the extent that follows from the others. Reference: ``torch.nn.Unflatten``.

    Raises:
        ArgumentError: more than one -1, or no extents.
        SizeError: an impossible extent.
    """

    dim: int
    unflattened_size: tuple[int | Expr, ...]

    def conditions(self) -> None:
        if not self.unflattened_size:
            raise ArgumentError("unflattened_size is empty; wanted at least one extent.")
        _check_open_extents(self.unflattened_size, "unflattened_size")

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        return _split(x, axis_of(self.dim, x.sizes), self.unflattened_size)


@dataclass(frozen=True)
class Reshape(Layer):
    """All axes but the batch reshaped to ``target_shape``; -1 means the extent that follows from the others.

    Reference: Keras ``Reshape``.

    Raises:
        ArgumentError: more than one -1.
        SizeError: an impossible extent.
    """

    target_shape: tuple[int | Expr, ...]

    def conditions(self) -> None:
        _check_open_extents(self.target_shape, "target_shape")

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        if x.rank == 0:
            raise RankError("wanted a batch axis in front; found no axes.")
        return _split(_merged(x, 1, x.rank), 1, self.target_shape)


@dataclass(frozen=True)
class Permute(Sibling):
    """The axes in another order; 1 is the first one after the batch axis. Reference: Keras ``Permute``.

    Raises:
        ArgumentError: ``order`` that is not a permutation of 1, 2, ...
    """

    order: tuple[int, ...]

    def _refused(self) -> Iterator[str]:
        if sorted(self.order) != list(range(1, len(self.order) + 1)):
            yield f"order is {self.order}; wanted each of 1 to {len(self.order)} once, without the batch axis."

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        check_rank(x, x.rank == len(self.order) + 1, f"{len(self.order) + 1} axes, batch first")
        words = [f"a{n}" for n in range(x.rank)]
        return ops.rearrange(x, f"{' '.join(words)} -> a0 {' '.join(words[n] for n in self.order)}")


@dataclass(frozen=True)
class RepeatVector(Layer):
    """A vector repeated ``times`` times: (batch, width) to (batch, times, width). Reference: Keras ``RepeatVector``."""

    times: Dim

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        check_rank(x, x.rank == 2, "2 axes, (batch, width)")
        return ops.copies(ops.rearrange(x, "b w -> b () w"), self.times, axis=1)
