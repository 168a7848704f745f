"""Keras' layers that disturb their input in training, spelt as Keras spells them. They store nothing and need no input shape."""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.keras._base import data_format_of
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape
from paramsym.layer import Layer
from paramsym.layers import dropout
from paramsym.layers.reshaping import Identity


def Dropout(
    rate: float,
    noise_shape: Sequence[int | None] | None = None,
    seed: int | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.Dropout``.

    Raises:
        ArgumentError: a rate outside 0 to 1, or an unknown argument; likewise for the others below.

    >>> Dropout(0.1)
    Dropout(p=0.1)
    """
    return finished(dropout.Dropout(rate), base, "keras.Dropout")


def SpatialDropout1D(rate: float, seed: int | None = None, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Dropout1d``.

    >>> SpatialDropout1D(0.1)
    Dropout1d(p=0.1)
    """
    return finished(dropout.Dropout1d(rate), base, "keras.SpatialDropout1D")


def SpatialDropout2D(
    rate: float, data_format: str | None = None, seed: int | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.Dropout2d``.

    >>> SpatialDropout2D(0.1)
    Dropout2d(p=0.1)
    """
    data_format_of(data_format, "keras.SpatialDropout2D")
    return finished(dropout.Dropout2d(rate), base, "keras.SpatialDropout2D")


def SpatialDropout3D(
    rate: float, data_format: str | None = None, seed: int | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.Dropout3d``.

    >>> SpatialDropout3D(0.1)
    Dropout3d(p=0.1)
    """
    data_format_of(data_format, "keras.SpatialDropout3D")
    return finished(dropout.Dropout3d(rate), base, "keras.SpatialDropout3D")


def AlphaDropout(
    rate: float,
    noise_shape: Sequence[int | None] | None = None,
    seed: int | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.AlphaDropout``.

    >>> AlphaDropout(0.1)
    AlphaDropout(p=0.1)
    """
    return finished(dropout.AlphaDropout(rate), base, "keras.AlphaDropout")


def GaussianDropout(rate: float, seed: int | None = None, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.GaussianDropout``.

    >>> GaussianDropout(0.1)
    GaussianDropout(0.1)
    """
    return finished(dropout.GaussianDropout(rate), base, "keras.GaussianDropout")


def GaussianNoise(stddev: float, seed: int | None = None, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.GaussianNoise``.

    >>> GaussianNoise(0.1)
    GaussianNoise(0.1)
    """
    return finished(dropout.GaussianNoise(stddev), base, "keras.GaussianNoise")


def ActivityRegularization(l1: float = 0.0, l2: float = 0.0, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Identity``: the layer adds to the loss and changes nothing.

    >>> ActivityRegularization()
    Identity()
    """
    return finished(Identity(), base, "keras.ActivityRegularization")
