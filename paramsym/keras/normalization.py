"""Keras' normalisation layers, spelt as Keras spells them.

Arguments that change no weight (initialisers, regularisers, constraints) are taken and have no effect. Axes are those of the whole input,
the batch axis included; several are taken in the order in which Keras sorts them, so that -1 stands before 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.errors import ArgumentError
from paramsym.keras._base import axes_of
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import normalization
from paramsym.size import Dim


def LayerNormalization(
    axis: int | Sequence[int] = -1,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: object = "zeros",
    gamma_initializer: object = "ones",
    beta_regularizer: object = None,
    gamma_regularizer: object = None,
    beta_constraint: object = None,
    gamma_constraint: object = None,
    *,
    rms_scaling: bool = False,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.LayerNorm`` with Keras' ``gamma`` and ``beta``; the deprecated ``rms_scaling`` keeps ``gamma`` alone.

    Raises:
        ArgumentError: an axis outside the input, or an unknown argument.
        SizeError: an axis of unknown extent.

    >>> LayerNormalization(axis=[1, 2], input_shape=(None, 3, 4)).params
    24
    """
    where = "keras.LayerNormalization"
    axes = axes_of(axis, where)

    def build(shape: Shape) -> Layer:
        layer = normalization.LayerNorm(
            _extents(shape, axes, where),
            epsilon,
            bias=center and not rms_scaling,
            scale=scale or rms_scaling,
            dialect="keras",
            axis=_elsewhere(axes, shape),
            rms_scaling=rms_scaling,
        )
        return finished(layer, base, where)

    return door("LayerNormalization", build, input_shape)


def RMSNormalization(
    axis: int | Sequence[int] = -1,
    epsilon: float = 1e-6,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.RMSNorm`` with Keras' ``scale``.

    Raises:
        ArgumentError: an axis outside the input, or an unknown argument.
        SizeError: an axis of unknown extent.

    >>> RMSNormalization(input_shape=(None, 3, 4)).params
    4
    """
    where = "keras.RMSNormalization"
    axes = axes_of(axis, where)

    def build(shape: Shape) -> Layer:
        return finished(
            normalization.RMSNorm(_extents(shape, axes, where), epsilon, dialect="keras", axis=_elsewhere(axes, shape)), base, where
        )

    return door("RMSNormalization", build, input_shape)


def GroupNormalization(
    groups: Dim = 32,
    axis: int = -1,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: object = "zeros",
    gamma_initializer: object = "ones",
    beta_regularizer: object = None,
    gamma_regularizer: object = None,
    beta_constraint: object = None,
    gamma_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.GroupNorm`` with Keras' ``gamma`` and ``beta``; ``groups=-1`` is one group per channel.

    Raises:
        DivisibilityError: groups that do not divide the channels.
        ArgumentError: an axis outside the input, or an unknown argument.
        SizeError: an axis of unknown extent.

    >>> GroupNormalization(2, input_shape=(None, 8, 6)).params
    12
    """
    where = "keras.GroupNormalization"
    axes = axes_of(axis, where)

    def build(shape: Shape) -> Layer:
        channels = axis_size(shape_of(shape, where), axes[0], where)
        layer = normalization.GroupNorm(
            channels if groups == -1 else groups,
            channels,
            epsilon,
            bias=center,
            scale=scale,
            dialect="keras",
            axis=None if axes[0] == -1 else axes[0],
        )
        return finished(layer, base, where)

    return door("GroupNormalization", build, input_shape)


def UnitNormalization(axis: int | Sequence[int] = -1, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.UnitNormalization``, which stores nothing.

    Raises:
        ArgumentError: an axis that is no whole number, or an unknown argument.

    >>> UnitNormalization(input_shape=(None, 8)).params
    0
    """
    where = "keras.UnitNormalization"
    axes = axes_of(axis, where)
    if input_shape is not None:
        shape_of(input_shape, where)
    return finished(normalization.UnitNormalization(axis if isinstance(axis, int) else axes), base, where)


def Normalization(
    axis: int | Sequence[int] | None = -1,
    mean: object = None,
    variance: object = None,
    invert: bool = False,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.Normalization``: statistics of ``axis`` as buffers, or none where ``mean`` and ``variance`` are given.

    Raises:
        ArgumentError: a mean without a variance or the other way round; an axis outside the input; an unknown argument.
        SizeError: an axis of unknown extent.

    >>> Normalization(input_shape=(None, 8)).shapes(buffers=True)
    {'mean': (8,), 'variance': (8,), 'count': ()}
    """
    where = "keras.Normalization"
    if (mean is None) != (variance is None):
        message = f"{where}: mean and variance are given together or not at all; {'mean' if mean is None else 'variance'} is None."
        raise ArgumentError(message)
    axes = () if axis is None else axes_of(axis, where)

    def build(shape: Shape) -> Layer:
        inputs = shape_of(shape, where)
        extents = _extents(inputs, axes, where)
        kept = sorted(zip((axis % len(inputs) for axis in axes), extents, strict=True), key=lambda pair: pair[0])
        layer = normalization.Normalization(
            tuple(extent for _, extent in kept),
            given=mean is not None,
            invert=invert,
            axis=_elsewhere(tuple(axis for axis, _ in kept), inputs),
        )
        return finished(layer, base, where)

    return door("Normalization", build, input_shape)


def _extents(shape: Shape, axes: tuple[int, ...], where: str) -> tuple[Dim, ...]:
    inputs = shape_of(shape, where)
    return tuple(axis_size(inputs, axis, where) for axis in axes)


def _elsewhere(axes: tuple[int, ...], shape: Shape) -> tuple[int, ...] | None:
    """Return the axes; None where they are the last ones in order."""
    rank = len(shape)
    return None if tuple(axis % rank for axis in axes) == tuple(range(rank - len(axes), rank)) else axes
