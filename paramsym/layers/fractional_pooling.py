"""Fractional pooling: a given number of windows that tile the input in random steps. It stores nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from paramsym.algebra.convolution import scaled_length
from paramsym.algebra.size import Count, Dim, within
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layers.axes import not_empty, spatial
from paramsym.layers.siblings import Sibling
from paramsym.layers.spatial import Extents, per_axis
from paramsym.program import Own, Value, pool_to
from paramsym.program.windows import along_each


@dataclass(frozen=True)
class _FractionalMaxPool(Sibling):
    """The common base of fractional pooling."""

    rank: ClassVar[int]

    kernel_size: Extents
    output_size: Extents | None = None
    output_ratio: float | tuple[float, ...] | None = None
    return_indices: bool = False

    def conditions(self) -> None:
        per_axis(self.kernel_size, self.rank, "kernel_size")
        per_axis(self.output_size, self.rank, "output_size")
        if (self.output_size is None) == (self.output_ratio is None):
            message = f"output_size is {self.output_size} and output_ratio {self.output_ratio}; wanted exactly one of them."
            raise ArgumentError(message)
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in per_axis(self.output_ratio, self.rank, "output_ratio")):
            message = f"output_ratio is {self.output_ratio}; a ratio is between 0 and 1."
            raise ArgumentError(message)

    def forward(self, own: Own, x: Value) -> Any:  # noqa: ARG002 - it stores nothing
        """The given number of windows, which overlap by less than a window."""
        x, restored = spatial(x, self.rank)
        not_empty(x.sizes[1:], "the axes")
        wanted = per_axis(self.output_size if self.output_ratio is None else self.output_ratio, self.rank, "output_size")
        kernel = per_axis(self.kernel_size, self.rank, "kernel_size")
        pooled = pool_to("max", x, along_each(_windows, x.sizes[2:], kernel, wanted), kernel, indices=self.return_indices)
        return tuple(map(restored, pooled)) if self.return_indices else restored(pooled)


def _windows(length: Count, kernel: Dim, wanted: Dim | float) -> Count:
    """Return the number of windows, which must fit into the input."""
    found = scaled_length(length, wanted, "output_ratio") if isinstance(wanted, float) else wanted
    if not within(found + kernel - 1, length):
        message = f"{found} windows of {kernel} are too large for a length of {length}."
        raise ShapeError(message)
    return found


@dataclass(frozen=True)
class FractionalMaxPool2d(_FractionalMaxPool, rank=2):
    """The largest entry of windows that tile an image in random steps (Graham 2014). Reference: ``torch.nn.FractionalMaxPool2d``.

    Raises:
        ArgumentError: both or neither of size and ratio, or a ratio outside 0 to 1.
    """


@dataclass(frozen=True)
class FractionalMaxPool3d(_FractionalMaxPool, rank=3):
    """The largest entry of windows that tile a volume in random steps. Reference: ``torch.nn.FractionalMaxPool3d``.

    Raises:
        ArgumentError: both or neither of size and ratio, or a ratio outside 0 to 1.
    """
