"""Keras' batch normalisation, spelt as Keras spells it."""

from __future__ import annotations

from collections.abc import Mapping

from paramsym.errors import ArgumentError
from paramsym.keras._base import axes_of
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d

_BY_RANK = {4: BatchNorm2d, 5: BatchNorm3d}


def BatchNormalization(
    axis: int = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: object = "zeros",
    gamma_initializer: object = "ones",
    moving_mean_initializer: object = "zeros",
    moving_variance_initializer: object = "ones",
    beta_regularizer: object = None,
    gamma_regularizer: object = None,
    beta_constraint: object = None,
    gamma_constraint: object = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, float] | None = None,
    renorm_momentum: float = 0.99,
    synchronized: bool = False,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.BatchNorm1d``, ``2d`` or ``3d``, by the rank of the input, with what Keras stores.

    ``gamma`` and ``beta`` are parameters, ``moving_mean`` and ``moving_variance`` buffers; ``renorm=True`` adds three more of these.
    ``momentum`` is Keras': the share of the old statistics that stays.

    Raises:
        ArgumentError: an axis outside the input, an unknown key of ``renorm_clipping``, or an unknown argument.
        SizeError: an axis of unknown extent.

    >>> norm = BatchNormalization(input_shape=(None, 8, 8, 3))
    >>> norm.params, list(norm.shapes(buffers=True))
    (6, ['gamma', 'beta', 'moving_mean', 'moving_variance'])
    """
    where = "keras.BatchNormalization"
    axes = axes_of(axis, where)
    unknown = sorted(set(renorm_clipping or {}) - {"rmax", "rmin", "dmax"}) if renorm else []
    if unknown:
        message = f"{where}: renorm_clipping has the key {unknown[0]!r}; known are rmax, rmin and dmax."
        raise ArgumentError(message)

    def build(shape: Shape) -> Layer:
        inputs = shape_of(shape, where)
        kind = _BY_RANK.get(len(inputs), BatchNorm1d)
        channels = axis_size(inputs, axes[0], where)
        layer = kind(
            channels, epsilon, momentum, bias=center, scale=scale, renorm=renorm, dialect="keras", axis=None if axes[0] == -1 else axes[0]
        )
        return finished(layer, base, where)

    return door("BatchNormalization", build, input_shape)
