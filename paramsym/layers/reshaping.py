"""Layers that only arrange entries anew. They store nothing."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from paramsym.errors import ArgumentError, ShapeError
from paramsym.extents import View, Views, differ, exactly
from paramsym.layer import Layer
from paramsym.layers.axes import Pointwise, axis_of
from paramsym.size import Count, Dim, Shape, product, size, text


@dataclass(frozen=True, init=False)
class Identity(Pointwise):
    """What comes in goes out. It takes any arguments and ignores them, so that it can stand for any layer.

    Reference: ``torch.nn.Identity``.

    >>> Identity(54, unused=True).params
    0
    """

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        """Ignore everything."""
        self.__post_init__()


@dataclass(frozen=True)
class Flatten(Layer):
    """The axes ``start_dim`` to ``end_dim`` in one. Reference: ``torch.nn.Flatten``; Keras: ``Flatten``.

    >>> Flatten().params
    0
    """

    start_dim: int = 1
    end_dim: int = -1

    @property
    def gathers(self) -> bool:
        """Places stand side by side as features."""
        return True

    def output_shape(self, input_shape: Shape) -> Shape:
        """The product of the axes from ``start_dim`` to ``end_dim`` in their place; None where one of them is not known."""
        if not input_shape:
            return (1,)
        first, last = axis_of(self.start_dim, input_shape, "start_dim"), axis_of(self.end_dim, input_shape, "end_dim")
        if first > last:
            message = f"start_dim {self.start_dim} comes after end_dim {self.end_dim} in {text(input_shape)}."
            raise ShapeError(message)
        flat = input_shape[first : last + 1]
        return (*input_shape[:first], None if None in flat else product(flat), *input_shape[last + 1 :])


def _check_open_extents(shape: tuple[int | Expr, ...], name: str) -> None:
    """Allow -1, once, for the extent that follows from the others."""
    extents = [extent for extent in shape if extent != -1]
    for position, extent in enumerate(extents):
        size(extent, f"{name}[{position}]")
    if len(shape) - len(extents) > 1:
        message = f"{name} is {shape}; only one extent can be -1."
        raise ArgumentError(message)


@dataclass(frozen=True)
class Unflatten(Layer):
    """One axis in several; -1 stands for the extent that follows from the others. Reference: ``torch.nn.Unflatten``.

    Raises:
        ArgumentError: more than one -1, or no extents.
        SizeError: an extent that cannot be one.

    >>> from paramsym import C
    >>> Unflatten(1, (C, -1)).params
    0
    """

    dim: int
    unflattened_size: tuple[int | Expr, ...]

    def conditions(self) -> None:
        """There are extents, of which one may be open."""
        if not self.unflattened_size:
            message = "unflattened_size is empty; wanted at least one extent."
            raise ArgumentError(message)
        _check_open_extents(self.unflattened_size, "unflattened_size")

    def output_shape(self, input_shape: Shape) -> Shape:
        """The axis ``dim`` in several; their product must be its extent."""
        position = axis_of(self.dim, input_shape)
        several = _filled(self.unflattened_size, input_shape[position : position + 1])
        return (*input_shape[:position], *several, *input_shape[position + 1 :])


def _filled(extents: tuple[int | Expr, ...], taken: Shape) -> Shape:
    """Return the extents with the open one worked out; their product must be that of what is taken."""
    known = product(extent for extent in extents if extent != -1)
    total: Count | None = None if None in taken else product(taken)
    if -1 in extents:
        rest = None if total is None else exactly(total, known, "the entries")
        return tuple(rest if extent == -1 else extent for extent in extents)
    if differ(total, known):
        message = f"{text(taken)} has {total} entries, {text(extents)} has {known}."
        raise ShapeError(message)
    return extents


@dataclass(frozen=True)
class Reshape(Layer):
    """Everything but the batch axis in ``target_shape``; -1 stands for the extent that follows from the others.

    Reference: Keras ``Reshape``.

    Raises:
        ArgumentError: more than one -1.
        SizeError: an extent that cannot be one.

    >>> Reshape((-1, 8)).params
    0
    """

    target_shape: tuple[int | Expr, ...]

    def conditions(self) -> None:
        """One extent may be open."""
        _check_open_extents(self.target_shape, "target_shape")

    def output_shape(self, input_shape: Shape) -> Shape:
        """The batch axis and the target; the products must be equal."""
        return (*input_shape[:1], *_filled(self.target_shape, input_shape[1:]))


@dataclass(frozen=True)
class Permute(Layer):
    """The axes in another order; 1 is the first one after the batch axis. Reference: Keras ``Permute``.

    Raises:
        ArgumentError: ``order`` that is not a permutation of 1, 2, ...

    >>> Permute((2, 1)).params
    0
    """

    order: tuple[int, ...]

    def conditions(self) -> None:
        """Every axis stands once."""
        if sorted(self.order) != list(range(1, len(self.order) + 1)):
            message = f"order is {self.order}; wanted each of 1 to {len(self.order)} once, the batch axis left out."
            raise ArgumentError(message)

    def output_shape(self, input_shape: Shape) -> Shape:
        """The axes after the batch in their new order."""
        if len(input_shape) != len(self.order) + 1:
            message = f"wanted {len(self.order) + 1} axes, batch first; found {len(input_shape)}, {text(input_shape)}."
            raise ShapeError(message)
        return (input_shape[0], *(input_shape[position] for position in self.order))

    def views(self) -> tuple[View, ...]:
        """Where only the channels move, from first to last or back, every entry sees its own along the same spatial axis.

        Raises:
            NotYetError: spatial axes that change places.
        """
        places = len(self.order)
        to_last, to_first = (*range(2, places + 1), 1), (places, *range(1, places))
        if self.order in {to_last, to_first}:
            if to_last == to_first:
                return Views((), None, "other")
            return Views((), "channels_first", "channels_last") if self.order == to_last else Views((), "channels_last", "channels_first")
        return super().views()


@dataclass(frozen=True)
class RepeatVector(Layer):
    """A vector repeated ``times`` times: (batch, width) to (batch, times, width). Reference: Keras ``RepeatVector``.

    >>> RepeatVector(3).params
    0
    """

    times: Dim

    def output_shape(self, input_shape: Shape) -> Shape:
        """(batch, times, width)."""
        if len(input_shape) != 2:
            message = f"wanted 2 axes, (batch, width); found {len(input_shape)}, {text(input_shape)}."
            raise ShapeError(message)
        return (input_shape[0], self.times, input_shape[1])
