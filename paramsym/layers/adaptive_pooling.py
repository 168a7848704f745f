"""Pooling to a given output size, or to one number per channel, for inputs of any size. It stores nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from paramsym import program as ops
from paramsym.algebra.size import Dim, within
from paramsym.errors import ShapeError
from paramsym.layers.axes import DataFormat, not_empty, spatial
from paramsym.layers.pooling import Pooling
from paramsym.layers.siblings import Variant

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Target: TypeAlias = Dim | tuple[Dim | None, ...] | None
"""One extent for every spatial axis, or one per axis; None keeps the input's."""


@dataclass(frozen=True)
class _AdaptivePool(Pooling):
    statistic: ClassVar[Literal["mean", "max"]]

    output_size: Target
    _: KW_ONLY
    data_format: DataFormat = "channels_first"

    def conditions(self) -> None:
        self._each("output_size")

    def _pooled(self, x: Value) -> Any:
        (wanted,) = self._each("output_size")
        lengths = tuple(length if size is None else size for length, size in zip(x.sizes[2:], wanted, strict=True))
        everything = all(length == 1 for length in lengths)
        if self.statistic == "max" or not everything:  # for one number per channel, torch also takes the mean of an empty map
            not_empty(x.sizes[1 if self.statistic == "max" else 2 :], "the axes")
        if everything and not self.return_indices:
            return ops.reduce(self.statistic, x, *range(2, x.rank), keep=True)
        return ops.pool_to(self.statistic, x, lengths, indices=self.return_indices)


class AdaptiveAvgPool1d(_AdaptivePool, rank=1, statistic="mean"):
    """Means over a given number of windows of a sequence. Reference: ``torch.nn.AdaptiveAvgPool1d``."""


class AdaptiveAvgPool2d(_AdaptivePool, rank=2, statistic="mean"):
    """Means over a given number of windows of an image. Reference: ``torch.nn.AdaptiveAvgPool2d``."""


class AdaptiveAvgPool3d(_AdaptivePool, rank=3, statistic="mean"):
    """Means over a given number of windows of a volume. Reference: ``torch.nn.AdaptiveAvgPool3d``."""


@dataclass(frozen=True)
class _AdaptiveMaxPool(_AdaptivePool, statistic="max"):
    return_indices: bool = False


class AdaptiveMaxPool1d(_AdaptiveMaxPool, rank=1):
    """Maxima over a given number of windows of a sequence. Reference: ``torch.nn.AdaptiveMaxPool1d``."""


class AdaptiveMaxPool2d(_AdaptiveMaxPool, rank=2):
    """Maxima over a given number of windows of an image. Reference: ``torch.nn.AdaptiveMaxPool2d``."""


class AdaptiveMaxPool3d(_AdaptiveMaxPool, rank=3):
    """Maxima over a given number of windows of a volume. Reference: ``torch.nn.AdaptiveMaxPool3d``."""


@dataclass(frozen=True)
class _GlobalPool(Variant):
    statistic: ClassVar[Literal["mean", "max"]]

    rank: Dim
    keepdims: bool = False
    data_format: DataFormat = "channels_first"

    def _refused(self) -> Iterator[str]:
        if not within(self.rank, 3):
            yield f"rank is {self.rank}; wanted 1, 2 or 3, the number of spatial axes."

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        if not isinstance(self.rank, int):
            raise ShapeError(f"the number of spatial axes is {self.rank}; it must be known.")
        x, restored = spatial(x, self.rank, self.data_format, batched=True)
        y = ops.reduce(self.statistic, x, *range(2, x.rank), keep=self.keepdims)
        return restored(y) if self.keepdims else y


class GlobalAvgPool(_GlobalPool, statistic="mean"):
    """The mean of each channel over all spatial axes, which are removed, or stay with size 1 with ``keepdims``.

    Reference: Keras ``GlobalAveragePooling1D`` to ``GlobalAveragePooling3D``.
    """


class GlobalMaxPool(_GlobalPool, statistic="max"):
    """The maximum of each channel over all spatial axes, which are removed, or stay with size 1 with ``keepdims``.

    Reference: Keras ``GlobalMaxPooling1D`` to ``GlobalMaxPooling3D``.
    """
