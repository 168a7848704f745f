"""Keras' upsampling, spelt as Keras spells it. It stores nothing and needs no input shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramsym.keras._base import data_format_of, one_of
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape
from paramsym.layer import Layer
from paramsym.layers.resampling import Upsample
from paramsym.layers.spatial import per_axis
from paramsym.size import Dim, size as checked_size

_MODES = ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")


def UpSampling1D(size: Dim = 2, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Upsample`` by a whole factor along one axis.

    Raises:
        SizeError: a factor that cannot be a positive integer; likewise for the others below.
        ArgumentError: another number of factors, an unknown interpolation or argument; likewise.

    >>> UpSampling1D(3)
    Upsample(scale_factor=(3,), data_format='channels_last')
    """
    where = "keras.UpSampling1D"
    return finished(Upsample(scale_factor=_factors(size, 1, where), data_format="channels_last"), base, where)


def UpSampling2D(
    size: Dim | Sequence[Dim] = (2, 2),
    data_format: str | None = None,
    interpolation: str = "nearest",
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.Upsample`` by whole factors along two axes.

    >>> UpSampling2D(2, interpolation="bilinear")
    Upsample(scale_factor=(2, 2), mode='bilinear', data_format='channels_last')
    """
    where = "keras.UpSampling2D"
    mode: Any = one_of(interpolation, _MODES, "interpolation", where)
    layer = Upsample(scale_factor=_factors(size, 2, where), mode=mode, data_format=data_format_of(data_format, where))
    return finished(layer, base, where)


def UpSampling3D(
    size: Dim | Sequence[Dim] = (2, 2, 2), data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.Upsample`` by whole factors along three axes.

    >>> UpSampling3D(2)
    Upsample(scale_factor=(2, 2, 2), data_format='channels_last')
    """
    where = "keras.UpSampling3D"
    return finished(Upsample(scale_factor=_factors(size, 3, where), data_format=data_format_of(data_format, where)), base, where)


def _factors(given: Any, rank: int, where: str) -> tuple[Dim, ...]:
    listed = per_axis(tuple(given) if isinstance(given, list) else given, rank, f"{where}: size")
    return tuple(checked_size(factor, f"{where}: size") for factor in listed)
