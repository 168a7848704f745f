"""Unpooling: the maxima of a pooling put back in their places. It stores nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from paramsym.extents import spread
from paramsym.layers.axes import Spatial, take_apart
from paramsym.layers.spatial import Extents, Margin, per_axis
from paramsym.size import Shape, canonical


class _MaxUnpool(Spatial):
    """What undoing a pooling by maximum shares."""

    rank: ClassVar[int]

    kernel_size: Extents
    stride: Extents | None
    padding: Margin

    def conditions(self) -> None:
        """There is one number per axis."""
        per_axis(self.kernel_size, self.rank, "kernel_size")
        per_axis(self.stride, self.rank, "stride")
        per_axis(self.padding, self.rank, "padding")

    def output_shape(self, input_shape: Shape) -> Shape:
        """The length that the pooling may have had: (length - 1)*stride - 2*padding + kernel."""
        axes = take_apart(input_shape, self.rank)
        kernel = per_axis(self.kernel_size, self.rank, "kernel_size")
        stride = kernel if self.stride is None else per_axis(self.stride, self.rank, "stride")
        padding = (canonical(2 * side) for side in per_axis(self.padding, self.rank, "padding"))
        return axes.giving(axes.each(spread, kernel, stride, tuple(padding)))


@dataclass(frozen=True)
class MaxUnpool1d(_MaxUnpool):
    """The maxima of a sequence put back in their places, zeros elsewhere. Reference: ``torch.nn.MaxUnpool1d``.

    >>> MaxUnpool1d(2).params
    0
    """

    rank = 1

    kernel_size: Extents
    stride: Extents | None = None
    padding: Margin = 0


@dataclass(frozen=True)
class MaxUnpool2d(_MaxUnpool):
    """The maxima of an image put back in their places, zeros elsewhere. Reference: ``torch.nn.MaxUnpool2d``.

    >>> MaxUnpool2d(2).params
    0
    """

    rank = 2

    kernel_size: Extents
    stride: Extents | None = None
    padding: Margin = 0


@dataclass(frozen=True)
class MaxUnpool3d(_MaxUnpool):
    """The maxima of a volume put back in their places, zeros elsewhere. Reference: ``torch.nn.MaxUnpool3d``.

    >>> MaxUnpool3d(2).params
    0
    """

    rank = 3

    kernel_size: Extents
    stride: Extents | None = None
    padding: Margin = 0
