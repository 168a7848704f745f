"""Fractional pooling: a given number of windows that tile the input in random steps. It stores nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paramsym import program as ops
from paramsym.algebra.convolution import scaled_length
from paramsym.algebra.size import Count, Dim, within
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layers.axes import not_empty
from paramsym.layers.pooling import Pooling
from paramsym.layers.spatial import Extents, exactly_one
from paramsym.program.lengths import along_each

if TYPE_CHECKING:
    from paramsym.program import Value


@dataclass(frozen=True)
class _FractionalMaxPool(Pooling):
    kernel_size: Extents
    output_size: Extents | None = None
    output_ratio: float | tuple[float, ...] | None = None
    return_indices: bool = False

    def conditions(self) -> None:
        self._each("kernel_size", "output_size")
        exactly_one(self, "output_size", "output_ratio")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self._each("output_ratio")[0]):
            raise ArgumentError(f"output_ratio is {self.output_ratio}; a ratio is between 0 and 1.")

    def _pooled(self, x: Value) -> Any:
        not_empty(x.sizes[1:], "the axes")
        kernel, wanted = self._each("kernel_size", "output_size" if self.output_ratio is None else "output_ratio")
        return ops.pool_to("max", x, along_each(_windows, x.sizes[2:], kernel, wanted), kernel, indices=self.return_indices)


def _windows(length: Count, kernel: Dim, wanted: Dim | float) -> Count:
    """Return the number of windows, which must fit into the input."""
    found = scaled_length(length, wanted, "output_ratio") if isinstance(wanted, float) else wanted
    if not within(found + kernel - 1, length):
        raise ShapeError(f"{found} windows of {kernel} are too large for a length of {length}.")
    return found


class FractionalMaxPool2d(_FractionalMaxPool, rank=2):
    """The largest entry of windows that tile an image in random steps (Graham 2014). Reference: ``torch.nn.FractionalMaxPool2d``.

    Raises:
        ArgumentError: both or neither of size and ratio, or a ratio outside 0 to 1.
    """


class FractionalMaxPool3d(_FractionalMaxPool, rank=3):
    """As ``FractionalMaxPool2d``, of a volume. Reference: ``torch.nn.FractionalMaxPool3d``."""
