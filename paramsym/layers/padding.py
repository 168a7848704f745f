"""Padding and cropping. They store nothing.

A torch padding is one number for every side, or the numbers of the last axis first: ``(left, right, top, bottom, front, back)``. A
negative one cuts off.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, TypeAlias

from sympy import Expr

from paramsym.errors import ArgumentError, ShapeError
from paramsym.extents import View
from paramsym.layer import Layer
from paramsym.layers.axes import Axes, DataFormat, Spatial, not_empty, take_apart
from paramsym.layers.windowed import check_copied
from paramsym.size import Count, Shape, canonical, text

Sides: TypeAlias = int | Expr | tuple[int | Expr, ...]
"""One number for every side, or one per side."""


class _Padding(Spatial):
    """What the classes share: two numbers per spatial axis."""

    rank: ClassVar[int]

    padding: Sides

    def views(self) -> tuple[View, ...]:
        """Every output entry sees one input entry, or padding."""
        return ()

    def _pairs(self) -> tuple[tuple[Count, Count], ...]:
        """Return what comes before and after, the first spatial axis first."""
        if not isinstance(self.padding, tuple):
            return ((self.padding, self.padding),) * self.rank
        return tuple(zip(self.padding[-2::-2], self.padding[::-2], strict=True))

    def conditions(self) -> None:
        """There is one number, or one per side."""
        if isinstance(self.padding, tuple) and len(self.padding) != 2 * self.rank:
            message = f"padding is {self.padding}; wanted one number, or {2 * self.rank}: two per spatial axis, the last axis first."
            raise ArgumentError(message)


class _Filled(_Padding):
    """Padding with a constant. It takes any axes in front of the spatial ones; with the channels last, batch and channels."""

    def output_shape(self, input_shape: Shape) -> Shape:
        """Each spatial axis grows by what stands before and after, or is cut where that is negative."""
        if getattr(self, "data_format", "channels_first") == "channels_last":
            axes = take_apart(input_shape, self.rank, "channels_last")
            return axes.giving(axes.each(_grown, self._pairs()))
        if len(input_shape) < self.rank:
            message = f"wanted at least {self.rank} axes to pad; found {len(input_shape)}, {input_shape}."
            raise ShapeError(message)
        position = len(input_shape) - self.rank
        return (*input_shape[:position], *Axes((), None, input_shape[position:]).each(_grown, self._pairs()))


def _grown(length: Count, sides: tuple[Count, Count]) -> Count:
    """Return a length with its sides; what is cut away first must be there."""
    cut = -sum(side for side in sides if isinstance(side, int) and side < 0)
    if isinstance(length, int) and cut > length:
        message = f"a padding of {sides} cuts {cut} of {length} entries."
        raise ShapeError(message)
    return _whole(canonical(length + sides[0] + sides[1]))


def _whole(length: Count) -> Count:
    if isinstance(length, int) and length < 0:
        message = f"the padding leaves {length} entries."
        raise ShapeError(message)
    return length


class _Copying(_Padding):
    """Padding with the input's own entries: there must be some, and a batch axis and channels in front, or channels alone."""

    mode: ClassVar[str]

    def output_shape(self, input_shape: Shape) -> Shape:
        """Each spatial axis grows by what stands before and after, or is cut where that is negative."""
        axes = take_apart(input_shape, self.rank)
        if self.mode != "circular":
            not_empty((axes.channels, *axes.extents), "the axes")
        left = axes.each(self._along, self._pairs())
        if self.mode != "circular" and all(extent == 0 for extent in left):
            message = f"the padding leaves nothing of {text(axes.extents)}."
            raise ShapeError(message)
        return axes.giving(left)

    def _along(self, length: Count, sides: tuple[Count, Count]) -> Count:
        check_copied(self.mode, length, *sides)
        return _whole(canonical(length + sides[0] + sides[1]))


@dataclass(frozen=True)
class ZeroPad1d(_Filled):
    """Zeros around a sequence. Reference: ``torch.nn.ZeroPad1d``.

    Raises:
        ArgumentError: a tuple that has not two numbers per spatial axis; likewise for the others below.

    >>> ZeroPad1d(2).params
    0
    """

    rank = 1

    padding: Sides
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class ZeroPad2d(_Filled):
    """Zeros around an image. Reference: ``torch.nn.ZeroPad2d``.

    >>> ZeroPad2d((1, 1, 2, 0)).params
    0
    """

    rank = 2

    padding: Sides
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class ZeroPad3d(_Filled):
    """Zeros around a volume. Reference: ``torch.nn.ZeroPad3d``.

    >>> ZeroPad3d(1).params
    0
    """

    rank = 3

    padding: Sides
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class ConstantPad1d(_Filled):
    """A constant around a sequence. Reference: ``torch.nn.ConstantPad1d``.

    >>> ConstantPad1d(2, 3.5).params
    0
    """

    rank = 1

    padding: Sides
    value: float


@dataclass(frozen=True)
class ConstantPad2d(_Filled):
    """A constant around an image. Reference: ``torch.nn.ConstantPad2d``.

    >>> ConstantPad2d(2, 3.5).params
    0
    """

    rank = 2

    padding: Sides
    value: float


@dataclass(frozen=True)
class ConstantPad3d(_Filled):
    """A constant around a volume. Reference: ``torch.nn.ConstantPad3d``.

    >>> ConstantPad3d(2, 3.5).params
    0
    """

    rank = 3

    padding: Sides
    value: float


@dataclass(frozen=True)
class ReflectionPad1d(_Copying):
    """A sequence mirrored at its ends. Reference: ``torch.nn.ReflectionPad1d``.

    >>> ReflectionPad1d(2).params
    0
    """

    rank = 1
    mode = "reflect"

    padding: Sides


@dataclass(frozen=True)
class ReflectionPad2d(_Copying):
    """An image mirrored at its edges. Reference: ``torch.nn.ReflectionPad2d``.

    >>> ReflectionPad2d(2).params
    0
    """

    rank = 2
    mode = "reflect"

    padding: Sides


@dataclass(frozen=True)
class ReflectionPad3d(_Copying):
    """A volume mirrored at its faces. Reference: ``torch.nn.ReflectionPad3d``.

    >>> ReflectionPad3d(2).params
    0
    """

    rank = 3
    mode = "reflect"

    padding: Sides


@dataclass(frozen=True)
class ReplicationPad1d(_Copying):
    """A sequence whose end values are repeated. Reference: ``torch.nn.ReplicationPad1d``.

    >>> ReplicationPad1d(2).params
    0
    """

    rank = 1
    mode = "replicate"

    padding: Sides


@dataclass(frozen=True)
class ReplicationPad2d(_Copying):
    """An image whose edge values are repeated. Reference: ``torch.nn.ReplicationPad2d``.

    >>> ReplicationPad2d(2).params
    0
    """

    rank = 2
    mode = "replicate"

    padding: Sides


@dataclass(frozen=True)
class ReplicationPad3d(_Copying):
    """A volume whose face values are repeated. Reference: ``torch.nn.ReplicationPad3d``.

    >>> ReplicationPad3d(2).params
    0
    """

    rank = 3
    mode = "replicate"

    padding: Sides


@dataclass(frozen=True)
class CircularPad1d(_Copying):
    """A sequence continued from its other end. Reference: ``torch.nn.CircularPad1d``.

    >>> CircularPad1d(2).params
    0
    """

    rank = 1
    mode = "circular"

    padding: Sides


@dataclass(frozen=True)
class CircularPad2d(_Copying):
    """An image continued from its opposite edges. Reference: ``torch.nn.CircularPad2d``.

    >>> CircularPad2d(2).params
    0
    """

    rank = 2
    mode = "circular"

    padding: Sides


@dataclass(frozen=True)
class CircularPad3d(_Copying):
    """A volume continued from its opposite faces. Reference: ``torch.nn.CircularPad3d``.

    >>> CircularPad3d(2).params
    0
    """

    rank = 3
    mode = "circular"

    padding: Sides


@dataclass(frozen=True)
class Cropping(Layer):
    """Entries cut off: ``(before, after)`` for each spatial axis, the first axis first. Reference: Keras ``Cropping1D`` to ``Cropping3D``.

    >>> Cropping(((1, 1), (2, 0))).params
    0
    """

    cropping: tuple[tuple[Count, Count], ...]
    data_format: DataFormat = "channels_first"

    def output_shape(self, input_shape: Shape) -> Shape:
        """Each spatial axis loses what is cut off before and after; something must be left."""
        axes = take_apart(input_shape, len(self.cropping), self.data_format, batched=True)
        return axes.giving(axes.each(_cropped, self.cropping))

    def views(self) -> tuple[View, ...]:
        """Every output entry sees one input entry."""
        return ()


def _cropped(length: Count, sides: tuple[Count, Count]) -> Count:
    left = canonical(length - sides[0] - sides[1])
    if isinstance(left, int) and left <= 0:
        message = f"a cropping of {sides} leaves nothing of {length} entries."
        raise ShapeError(message)
    return left
