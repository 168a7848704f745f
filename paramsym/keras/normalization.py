"""Normalisation layers in Keras' spelling.

Axes are those of the whole input, the batch axis included; several are sorted as in Keras, so -1 comes before 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramsym.algebra.size import Dim
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError
from paramsym.keras._arguments import any_axes, takes, weights, wrong
from paramsym.keras._door import Given, axis_size, door, shape_of
from paramsym.layers import normalization
from paramsym.layers.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from paramsym.naming import quoted

_BY_RANK = {4: BatchNorm2d, 5: BatchNorm3d}
_AFFINE = takes(center=True, scale=True) | weights("beta", "gamma")


@door(takes(axis=-1, epsilon=1e-3) | _AFFINE, {"rms_scaling": False})
def LayerNormalization(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.LayerNorm`` with Keras' ``gamma`` and ``beta``; the deprecated ``rms_scaling`` has only ``gamma``.

    >>> LayerNormalization(axis=[1, 2], input_shape=(None, 3, 4)).params
    24
    """
    extents, axis = _over(shape, given)
    rms = given.rms_scaling
    kept = {"bias": given.center and not rms, "scale": given.scale or rms}
    return normalization.LayerNorm(extents, given.epsilon, **kept, dialect="keras", axis=axis, rms_scaling=rms)


@door(takes(axis=-1, epsilon=1e-6))
def RMSNormalization(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.RMSNorm`` with Keras' ``scale``.

    >>> RMSNormalization(input_shape=(None, 3, 4)).params
    4
    """
    extents, axis = _over(shape, given)
    return normalization.RMSNorm(extents, given.epsilon, dialect="keras", axis=axis)


@door(takes(groups=32, axis=-1, epsilon=1e-3) | _AFFINE)
def GroupNormalization(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.GroupNorm`` with Keras' ``gamma`` and ``beta``; ``groups=-1`` is one group per channel.

    >>> GroupNormalization(2, input_shape=(None, 8, 6)).params
    12
    """
    channels, named = _channels(shape, given)
    return normalization.GroupNorm(channels if given.groups == -1 else given.groups, channels, **named)


def _check_clipping(given: Given) -> None:
    clipping = given.renorm_clipping
    if given.renorm and clipping is not None and not (isinstance(clipping, Mapping) and clipping.keys() <= {"rmax", "rmin", "dmax"}):
        raise wrong(clipping, "renorm_clipping", "a dict with the keys rmax, rmin or dmax")


@door(
    takes(axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True)
    | weights("beta", "gamma", more={"moving_mean_initializer": "zeros", "moving_variance_initializer": "ones"})
    | {"renorm": False, "renorm_clipping": None, "renorm_momentum": 0.99, "synchronized": False},
    complete=_check_clipping,
)
def BatchNormalization(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.BatchNorm1d``, ``2d`` or ``3d``, by the rank of the input: ``gamma``, ``beta`` and two buffers.

    ``momentum`` is Keras': the share of the old statistics that is kept. ``renorm=True`` adds three more buffers.

    >>> norm = BatchNormalization(input_shape=(None, 8, 8, 3))
    >>> norm.params, list(norm.shapes(buffers=True))
    (6, ['gamma', 'beta', 'moving_mean', 'moving_variance'])
    """
    channels, named = _channels(shape, given)
    return _BY_RANK.get(len(shape), BatchNorm1d)(channels, momentum=given.momentum, renorm=given.renorm, **named)


def _check_statistics(given: Given) -> None:
    if (given.mean is None) != (given.variance is None):
        missing = "mean" if given.mean is None else "variance"
        raise ArgumentError(f"mean and variance are given together or not at all; {missing} is None.")


@door(takes(axis=-1, mean=None, variance=None, invert=False), reads={"axis": any_axes}, complete=_check_statistics)
def Normalization(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.Normalization``: statistics of ``axis`` as buffers, or none if ``mean`` and ``variance`` are given.

    >>> Normalization(input_shape=(None, 8)).shapes(buffers=True)
    {'mean': (8,), 'variance': (8,), 'count': ()}
    """
    extents, _ = _over(shape, given)
    places = [axis % len(shape) for axis in given.axis]
    twice = next((axis for axis in sorted(places) if places.count(axis) > 1), None)
    if twice is not None:
        raise ArgumentError(f"axis is {quoted(given.axis)}, which contains axis {twice} twice; give each axis once.")
    kept = dict(sorted(zip(places, extents, strict=True)))
    return normalization.Normalization(tuple(kept.values()), given.mean is not None, given.invert, _elsewhere(tuple(kept), len(shape)))


def _channels(shape: Any, given: Given) -> tuple[Dim, dict[str, Any]]:
    """Return the extent of the single normalised axis, and the settings of its norm."""
    if len(given.axis) != 1:
        raise wrong(given.axis, "axis", "one axis")
    (axis,) = given.axis
    named = {"eps": given.epsilon, "bias": given.center, "scale": given.scale, "dialect": "keras", "axis": None if axis == -1 else axis}
    return axis_size(shape_of(shape), axis), named


def _over(shape: Any, given: Given) -> tuple[tuple[Dim, ...], tuple[int, ...] | None]:
    """Return the extents of the axes, and the axes if they are not the last ones in order."""
    inputs = shape_of(shape)
    return tuple(axis_size(inputs, axis) for axis in given.axis), _elsewhere(given.axis, len(inputs))


def _elsewhere(axes: tuple[int, ...], rank: int) -> tuple[int, ...] | None:
    return None if tuple(axis % rank for axis in axes) == tuple(range(rank - len(axes), rank)) else axes
