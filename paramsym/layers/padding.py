"""Padding and cropping. They store nothing.

A padding of torch is one number for every side, or two numbers per axis, the last axis first: ``(left, right, top, bottom, front, back)``.
A negative number cuts off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from sympy import Expr

from paramsym import program as ops
from paramsym.algebra.size import Count, canonical, text
from paramsym.core.layer import Layer
from paramsym.errors import ShapeError
from paramsym.layers.axes import DataFormat, check_rank, named, not_empty, spatial
from paramsym.layers.siblings import Spatial
from paramsym.layers.spatial import both_sides
from paramsym.layers.windowed import check_copied

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Sides: TypeAlias = int | Expr | tuple[int | Expr, ...]
"""One number for every side, or one per side."""


@dataclass(frozen=True)
class _Padding(Spatial):
    padding: Sides

    def _refused(self) -> Iterator[str]:
        if isinstance(self.padding, tuple) and len(self.padding) != 2 * self.rank:
            yield f"padding is {self.padding}; wanted one number, or {2 * self.rank}: two per spatial axis, the last axis first."

    def _pairs(self) -> tuple[tuple[Count, Count], ...]:
        """Return the margins before and after, the first spatial axis first."""
        if not isinstance(self.padding, tuple):
            return both_sides((self.padding,) * self.rank)
        return tuple(zip(self.padding[-2::-2], self.padding[::-2], strict=True))


class _Filled(_Padding):
    """Padding with a constant. Any axes may precede the spatial ones; with the channels last, these are batch and channels."""

    value: float
    data_format: DataFormat = "channels_first"

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        if self.data_format == "channels_last":
            x, restored = spatial(x, self.rank, "channels_last")
            return restored(ops.pad(x, self._pairs(), value=self.value))
        check_rank(x, x.rank >= self.rank, f"at least {self.rank} axes to pad")
        return ops.pad(x if x.rank == self.rank else named(x, self.rank), self._pairs(), value=self.value)


class _Copying(_Padding):
    """Padding with entries of the input, which must not be empty; batch and channels, or only channels, precede the spatial axes."""

    mode: ClassVar[Literal["reflect", "replicate", "circular"]]

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        x, restored = spatial(x, self.rank)
        check_copied(self.mode, x.sizes[2:], self._pairs())
        y = ops.pad(x, self._pairs(), self.mode)
        if self.mode != "circular":
            not_empty(x.sizes[1:], "the axes")
            if all(extent == 0 for extent in y.sizes[2:]):
                raise ShapeError(f"the padding leaves nothing of {text(x.sizes[2:])}.")
        return restored(y)


@dataclass(frozen=True)
class _Zeros(_Filled, value=0.0):
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class _Constant(_Filled):
    value: float


class ZeroPad1d(_Zeros, rank=1):
    """Zeros around a sequence. Reference: ``torch.nn.ZeroPad1d``.

    Raises:
        ArgumentError: a tuple without two numbers per spatial axis.
    """


class ZeroPad2d(_Zeros, rank=2):
    """Zeros around an image. Reference: ``torch.nn.ZeroPad2d``."""


class ZeroPad3d(_Zeros, rank=3):
    """Zeros around a volume. Reference: ``torch.nn.ZeroPad3d``."""


class ConstantPad1d(_Constant, rank=1):
    """A constant around a sequence. Reference: ``torch.nn.ConstantPad1d``."""


class ConstantPad2d(_Constant, rank=2):
    """A constant around an image. Reference: ``torch.nn.ConstantPad2d``."""


class ConstantPad3d(_Constant, rank=3):
    """A constant around a volume. Reference: ``torch.nn.ConstantPad3d``."""


class ReflectionPad1d(_Copying, rank=1, mode="reflect"):
    """A sequence mirrored at its ends. Reference: ``torch.nn.ReflectionPad1d``."""


class ReflectionPad2d(_Copying, rank=2, mode="reflect"):
    """An image mirrored at its edges. Reference: ``torch.nn.ReflectionPad2d``."""


class ReflectionPad3d(_Copying, rank=3, mode="reflect"):
    """A volume mirrored at its faces. Reference: ``torch.nn.ReflectionPad3d``."""


class ReplicationPad1d(_Copying, rank=1, mode="replicate"):
    """A sequence whose end values are repeated. Reference: ``torch.nn.ReplicationPad1d``."""


class ReplicationPad2d(_Copying, rank=2, mode="replicate"):
    """An image whose edge values are repeated. Reference: ``torch.nn.ReplicationPad2d``."""


class ReplicationPad3d(_Copying, rank=3, mode="replicate"):
    """A volume whose face values are repeated. Reference: ``torch.nn.ReplicationPad3d``."""


class CircularPad1d(_Copying, rank=1, mode="circular"):
    """A sequence continued from its other end. Reference: ``torch.nn.CircularPad1d``."""


class CircularPad2d(_Copying, rank=2, mode="circular"):
    """An image continued from its opposite edges. Reference: ``torch.nn.CircularPad2d``."""


class CircularPad3d(_Copying, rank=3, mode="circular"):
    """A volume continued from its opposite faces. Reference: ``torch.nn.CircularPad3d``."""


@dataclass(frozen=True)
class Cropping(Layer):
    """Entries cut off: ``(before, after)`` for every spatial axis, first axis first. Reference: Keras ``Cropping1D`` to ``Cropping3D``."""

    cropping: tuple[tuple[Count, Count], ...]
    data_format: DataFormat = "channels_first"

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        x, restored = spatial(x, len(self.cropping), self.data_format, batched=True)
        y = ops.pad(x, tuple((canonical(-before), canonical(-after)) for before, after in self.cropping))
        for left, length, sides in zip(y.sizes[2:], x.sizes[2:], self.cropping, strict=True):
            if left == 0:
                raise ShapeError(f"a cropping of {text(sides)} leaves nothing of {length} entries.")
        return restored(y)
