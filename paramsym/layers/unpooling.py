"""Unpooling: the maxima of a pooling put back at their positions. It stores nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.algebra.size import canonical, product
from paramsym.layers.axes import spatial
from paramsym.layers.siblings import Spatial
from paramsym.layers.spatial import Extents, Margin
from paramsym.program.lengths import transposed_lengths

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class _MaxUnpool(Spatial):
    kernel_size: Extents
    stride: Extents | None = None
    padding: Margin = 0

    def conditions(self) -> None:
        self._each("kernel_size", "stride", "padding")

    def forward(self, own: Own, x: Value, indices: Value | None = None) -> Value:  # noqa: ARG002 - it stores nothing
        """The length that the pooling may have had, (length - 1)*stride - 2*padding + kernel; the indices have the input's shape."""
        x, restored = spatial(x, self.rank)
        found = x if indices is None else spatial(indices, self.rank)[0]
        kernel, stride, padding = self._each("kernel_size", "stride", "padding")
        both = tuple(canonical(2 * side) for side in padding)
        ones = (1,) * self.rank
        lengths = transposed_lengths(x.sizes[2:], kernel, kernel if self.stride is None else stride, both, ones, (0,) * self.rank)
        words = "uvw"[: self.rank]
        places = " ".join(words)
        x, found = (ops.rearrange(one, f"b c {places} -> b c ({places})") for one in (x, found))
        y = ops.put(x, found, product(lengths))
        return restored(ops.rearrange(y, f"b c ({places}) -> b c {places}", **dict(zip(words, lengths, strict=True))))


class MaxUnpool1d(_MaxUnpool, rank=1):
    """The maxima of a sequence put back at their positions, with zeros elsewhere. Reference: ``torch.nn.MaxUnpool1d``."""


class MaxUnpool2d(_MaxUnpool, rank=2):
    """The maxima of an image put back at their positions, with zeros elsewhere. Reference: ``torch.nn.MaxUnpool2d``."""


class MaxUnpool3d(_MaxUnpool, rank=3):
    """The maxima of a volume put back at their positions, with zeros elsewhere. Reference: ``torch.nn.MaxUnpool3d``."""
