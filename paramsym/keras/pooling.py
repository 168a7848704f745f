"""Keras' pooling, spelt as Keras spells it, with its shorter names. It stores nothing and needs no input shape."""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.errors import ArgumentError
from paramsym.keras._base import data_format_of
from paramsym.keras._common import finished, padding_word, per_axis_argument
from paramsym.keras._unbuilt import Shape
from paramsym.layer import Layer
from paramsym.layers import adaptive_pooling, pooling
from paramsym.size import Dim

_MAX = (pooling.MaxPool1d, pooling.MaxPool2d, pooling.MaxPool3d)
_AVERAGE = (pooling.AvgPool1d, pooling.AvgPool2d, pooling.AvgPool3d)
_ADAPTIVE_MAX = (adaptive_pooling.AdaptiveMaxPool1d, adaptive_pooling.AdaptiveMaxPool2d, adaptive_pooling.AdaptiveMaxPool3d)
_ADAPTIVE_AVERAGE = (adaptive_pooling.AdaptiveAvgPool1d, adaptive_pooling.AdaptiveAvgPool2d, adaptive_pooling.AdaptiveAvgPool3d)


def MaxPooling1D(
    pool_size: Dim | Sequence[Dim] = 2,
    strides: Dim | Sequence[Dim] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.MaxPool1d`` with Keras' words for the padding.

    Raises:
        SizeError: a window or a stride that cannot be one; likewise for the others below.
        ArgumentError: another number of entries than axes, an unknown padding, data format or argument; likewise.

    >>> MaxPooling1D(3)
    MaxPool1d(3, padding='valid', data_format='channels_last')
    """
    return _windows(_MAX, 1, "MaxPooling1D", pool_size, strides, padding, data_format, base)


def MaxPooling2D(
    pool_size: Dim | Sequence[Dim] = (2, 2),
    strides: Dim | Sequence[Dim] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.MaxPool2d``.

    >>> MaxPooling2D(padding="same")
    MaxPool2d((2, 2), padding='same', data_format='channels_last')
    """
    return _windows(_MAX, 2, "MaxPooling2D", pool_size, strides, padding, data_format, base)


def MaxPooling3D(
    pool_size: Dim | Sequence[Dim] = (2, 2, 2),
    strides: Dim | Sequence[Dim] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.MaxPool3d``.

    >>> MaxPooling3D(2, strides=1)
    MaxPool3d(2, stride=1, padding='valid', data_format='channels_last')
    """
    return _windows(_MAX, 3, "MaxPooling3D", pool_size, strides, padding, data_format, base)


def AveragePooling1D(
    pool_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.AvgPool1d``.

    >>> AveragePooling1D(3)
    AvgPool1d(3, padding='valid', data_format='channels_last')
    """
    return _windows(_AVERAGE, 1, "AveragePooling1D", pool_size, strides, padding, data_format, base)


def AveragePooling2D(
    pool_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.AvgPool2d``.

    >>> AveragePooling2D(2, data_format="channels_first")
    AvgPool2d(2, padding='valid')
    """
    return _windows(_AVERAGE, 2, "AveragePooling2D", pool_size, strides, padding, data_format, base)


def AveragePooling3D(
    pool_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.AvgPool3d``.

    >>> AveragePooling3D(2)
    AvgPool3d(2, padding='valid', data_format='channels_last')
    """
    return _windows(_AVERAGE, 3, "AveragePooling3D", pool_size, strides, padding, data_format, base)


def GlobalMaxPooling1D(
    data_format: str | None = None, keepdims: bool = False, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.GlobalMaxPool`` over one axis.

    >>> GlobalMaxPooling1D()
    GlobalMaxPool(1, data_format='channels_last')
    """
    where = "keras.GlobalMaxPooling1D"
    return finished(adaptive_pooling.GlobalMaxPool(1, keepdims, data_format_of(data_format, where)), base, where)


def GlobalMaxPooling2D(
    data_format: str | None = None, keepdims: bool = False, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.GlobalMaxPool`` over two axes.

    >>> GlobalMaxPooling2D(keepdims=True)
    GlobalMaxPool(2, keepdims=True, data_format='channels_last')
    """
    where = "keras.GlobalMaxPooling2D"
    return finished(adaptive_pooling.GlobalMaxPool(2, keepdims, data_format_of(data_format, where)), base, where)


def GlobalMaxPooling3D(
    data_format: str | None = None, keepdims: bool = False, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.GlobalMaxPool`` over three axes.

    >>> GlobalMaxPooling3D()
    GlobalMaxPool(3, data_format='channels_last')
    """
    where = "keras.GlobalMaxPooling3D"
    return finished(adaptive_pooling.GlobalMaxPool(3, keepdims, data_format_of(data_format, where)), base, where)


def GlobalAveragePooling1D(
    data_format: str | None = None, keepdims: bool = False, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.GlobalAvgPool`` over one axis.

    >>> GlobalAveragePooling1D()
    GlobalAvgPool(1, data_format='channels_last')
    """
    where = "keras.GlobalAveragePooling1D"
    return finished(adaptive_pooling.GlobalAvgPool(1, keepdims, data_format_of(data_format, where)), base, where)


def GlobalAveragePooling2D(
    data_format: str | None = None, keepdims: bool = False, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.GlobalAvgPool`` over two axes.

    >>> GlobalAveragePooling2D()
    GlobalAvgPool(2, data_format='channels_last')
    """
    where = "keras.GlobalAveragePooling2D"
    return finished(adaptive_pooling.GlobalAvgPool(2, keepdims, data_format_of(data_format, where)), base, where)


def GlobalAveragePooling3D(
    data_format: str | None = None, keepdims: bool = False, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.GlobalAvgPool`` over three axes.

    >>> GlobalAveragePooling3D()
    GlobalAvgPool(3, data_format='channels_last')
    """
    where = "keras.GlobalAveragePooling3D"
    return finished(adaptive_pooling.GlobalAvgPool(3, keepdims, data_format_of(data_format, where)), base, where)


def AdaptiveMaxPooling1D(
    output_size: Dim | Sequence[Dim], data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.AdaptiveMaxPool1d``.

    >>> AdaptiveMaxPooling1D(4)
    AdaptiveMaxPool1d(4, data_format='channels_last')
    """
    return _adaptive(_ADAPTIVE_MAX, 1, "AdaptiveMaxPooling1D", output_size, data_format, base)


def AdaptiveMaxPooling2D(
    output_size: Dim | Sequence[Dim], data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.AdaptiveMaxPool2d``.

    >>> AdaptiveMaxPooling2D((4, 5))
    AdaptiveMaxPool2d((4, 5), data_format='channels_last')
    """
    return _adaptive(_ADAPTIVE_MAX, 2, "AdaptiveMaxPooling2D", output_size, data_format, base)


def AdaptiveMaxPooling3D(
    output_size: Dim | Sequence[Dim], data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.AdaptiveMaxPool3d``.

    >>> AdaptiveMaxPooling3D(4)
    AdaptiveMaxPool3d(4, data_format='channels_last')
    """
    return _adaptive(_ADAPTIVE_MAX, 3, "AdaptiveMaxPooling3D", output_size, data_format, base)


def AdaptiveAveragePooling1D(
    output_size: Dim | Sequence[Dim], data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.AdaptiveAvgPool1d``.

    >>> AdaptiveAveragePooling1D(4)
    AdaptiveAvgPool1d(4, data_format='channels_last')
    """
    return _adaptive(_ADAPTIVE_AVERAGE, 1, "AdaptiveAveragePooling1D", output_size, data_format, base)


def AdaptiveAveragePooling2D(
    output_size: Dim | Sequence[Dim], data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.AdaptiveAvgPool2d``.

    >>> AdaptiveAveragePooling2D(4)
    AdaptiveAvgPool2d(4, data_format='channels_last')
    """
    return _adaptive(_ADAPTIVE_AVERAGE, 2, "AdaptiveAveragePooling2D", output_size, data_format, base)


def AdaptiveAveragePooling3D(
    output_size: Dim | Sequence[Dim], data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.AdaptiveAvgPool3d``.

    >>> AdaptiveAveragePooling3D(4)
    AdaptiveAvgPool3d(4, data_format='channels_last')
    """
    return _adaptive(_ADAPTIVE_AVERAGE, 3, "AdaptiveAveragePooling3D", output_size, data_format, base)


MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = GlobalAveragePooling1D, GlobalAveragePooling2D, GlobalAveragePooling3D


def _windows(
    kinds: tuple[type[Layer], ...],
    rank: int,
    name: str,
    pool_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] | None,
    padding: str,
    data_format: str | None,
    base: dict[str, object],
) -> Layer:
    """Build the kind of that rank."""
    where = f"keras.{name}"
    layer = kinds[rank - 1](
        per_axis_argument(pool_size, rank, "pool_size", where),
        per_axis_argument(strides, rank, "strides", where),
        padding_word(padding, where),
        data_format=data_format_of(data_format, where),
    )
    return finished(layer, base, where)


def _adaptive(
    kinds: tuple[type[Layer], ...],
    rank: int,
    name: str,
    output_size: Dim | Sequence[Dim],
    data_format: str | None,
    base: dict[str, object],
) -> Layer:
    """Build the kind of that rank."""
    where = f"keras.{name}"
    if output_size is None:
        message = f"{where}: output_size is None; wanted a size, or one per spatial axis."
        raise ArgumentError(message)
    extents = per_axis_argument(output_size, rank, "output_size", where)
    return finished(kinds[rank - 1](extents, data_format=data_format_of(data_format, where)), base, where)
