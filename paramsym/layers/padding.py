"""Padding and cropping. They store nothing.

A torch padding is one number for every side, or the numbers of the last axis first: ``(left, right, top, bottom, front, back)``. A
negative one cuts off.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypeAlias

from sympy import Expr

from paramsym.errors import ArgumentError
from paramsym.layer import Layer
from paramsym.size import Count

Sides: TypeAlias = int | Expr | tuple[int | Expr, ...]
"""One number for every side, or one per side."""
DataFormat: TypeAlias = Literal["channels_first", "channels_last"]
"""Where the channels stand: torch has them first, Keras last unless told otherwise."""


class _Padding(Layer):
    """What the classes share: two numbers per spatial axis."""

    rank: ClassVar[int]

    padding: Sides

    def conditions(self) -> None:
        """There is one number, or one per side."""
        if isinstance(self.padding, tuple) and len(self.padding) != 2 * self.rank:
            message = f"padding is {self.padding}; wanted one number, or {2 * self.rank}: two per spatial axis, the last axis first."
            raise ArgumentError(message)


@dataclass(frozen=True)
class ZeroPad1d(_Padding):
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
class ZeroPad2d(_Padding):
    """Zeros around an image. Reference: ``torch.nn.ZeroPad2d``.

    >>> ZeroPad2d((1, 1, 2, 0)).params
    0
    """

    rank = 2

    padding: Sides
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class ZeroPad3d(_Padding):
    """Zeros around a volume. Reference: ``torch.nn.ZeroPad3d``.

    >>> ZeroPad3d(1).params
    0
    """

    rank = 3

    padding: Sides
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class ConstantPad1d(_Padding):
    """A constant around a sequence. Reference: ``torch.nn.ConstantPad1d``.

    >>> ConstantPad1d(2, 3.5).params
    0
    """

    rank = 1

    padding: Sides
    value: float


@dataclass(frozen=True)
class ConstantPad2d(_Padding):
    """A constant around an image. Reference: ``torch.nn.ConstantPad2d``.

    >>> ConstantPad2d(2, 3.5).params
    0
    """

    rank = 2

    padding: Sides
    value: float


@dataclass(frozen=True)
class ConstantPad3d(_Padding):
    """A constant around a volume. Reference: ``torch.nn.ConstantPad3d``.

    >>> ConstantPad3d(2, 3.5).params
    0
    """

    rank = 3

    padding: Sides
    value: float


@dataclass(frozen=True)
class ReflectionPad1d(_Padding):
    """A sequence mirrored at its ends. Reference: ``torch.nn.ReflectionPad1d``.

    >>> ReflectionPad1d(2).params
    0
    """

    rank = 1

    padding: Sides


@dataclass(frozen=True)
class ReflectionPad2d(_Padding):
    """An image mirrored at its edges. Reference: ``torch.nn.ReflectionPad2d``.

    >>> ReflectionPad2d(2).params
    0
    """

    rank = 2

    padding: Sides


@dataclass(frozen=True)
class ReflectionPad3d(_Padding):
    """A volume mirrored at its faces. Reference: ``torch.nn.ReflectionPad3d``.

    >>> ReflectionPad3d(2).params
    0
    """

    rank = 3

    padding: Sides


@dataclass(frozen=True)
class ReplicationPad1d(_Padding):
    """A sequence whose end values are repeated. Reference: ``torch.nn.ReplicationPad1d``.

    >>> ReplicationPad1d(2).params
    0
    """

    rank = 1

    padding: Sides


@dataclass(frozen=True)
class ReplicationPad2d(_Padding):
    """An image whose edge values are repeated. Reference: ``torch.nn.ReplicationPad2d``.

    >>> ReplicationPad2d(2).params
    0
    """

    rank = 2

    padding: Sides


@dataclass(frozen=True)
class ReplicationPad3d(_Padding):
    """A volume whose face values are repeated. Reference: ``torch.nn.ReplicationPad3d``.

    >>> ReplicationPad3d(2).params
    0
    """

    rank = 3

    padding: Sides


@dataclass(frozen=True)
class CircularPad1d(_Padding):
    """A sequence continued from its other end. Reference: ``torch.nn.CircularPad1d``.

    >>> CircularPad1d(2).params
    0
    """

    rank = 1

    padding: Sides


@dataclass(frozen=True)
class CircularPad2d(_Padding):
    """An image continued from its opposite edges. Reference: ``torch.nn.CircularPad2d``.

    >>> CircularPad2d(2).params
    0
    """

    rank = 2

    padding: Sides


@dataclass(frozen=True)
class CircularPad3d(_Padding):
    """A volume continued from its opposite faces. Reference: ``torch.nn.CircularPad3d``.

    >>> CircularPad3d(2).params
    0
    """

    rank = 3

    padding: Sides


@dataclass(frozen=True)
class Cropping(Layer):
    """Entries cut off: ``(before, after)`` for each spatial axis, the first axis first. Reference: Keras ``Cropping1D`` to ``Cropping3D``.

    >>> Cropping(((1, 1), (2, 0))).params
    0
    """

    cropping: tuple[tuple[Count, Count], ...]
    data_format: DataFormat = "channels_first"
