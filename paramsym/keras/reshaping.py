"""Keras' layers that only arrange entries anew, spelt as Keras spells them. They store nothing and need no input shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sympy import Expr

from paramsym.errors import ArgumentError
from paramsym.keras._base import data_format_of
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape
from paramsym.layer import Layer
from paramsym.layers import preprocessing, reshaping
from paramsym.naming import quoted
from paramsym.size import Dim

_Entry = TypeVar("_Entry")


def Flatten(data_format: str | None = None, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Flatten``.

    Raises:
        ArgumentError: an unknown data format or argument; likewise for the others below.

    >>> Flatten()
    Flatten()
    """
    data_format_of(data_format, "keras.Flatten")
    return finished(reshaping.Flatten(), base, "keras.Flatten")


def Reshape(target_shape: Sequence[int | Expr], *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Reshape``.

    >>> Reshape((-1, 8))
    Reshape((-1, 8))
    """
    return finished(reshaping.Reshape(_listed(target_shape, "target_shape", "keras.Reshape")), base, "keras.Reshape")


def Permute(dims: Sequence[int], *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Permute``.

    >>> Permute((2, 1))
    Permute((2, 1))
    """
    return finished(reshaping.Permute(_listed(dims, "dims", "keras.Permute")), base, "keras.Permute")


def RepeatVector(n: Dim, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.RepeatVector``.

    >>> RepeatVector(3)
    RepeatVector(3)
    """
    return finished(reshaping.RepeatVector(n), base, "keras.RepeatVector")


def Identity(*, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Identity``.

    >>> Identity()
    Identity()
    """
    return finished(reshaping.Identity(), base, "keras.Identity")


def Masking(mask_value: float = 0.0, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Masking``, which makes masked steps zero; that later layers skip them is not stated.

    >>> Masking()
    Masking()
    """
    return finished(preprocessing.Masking(mask_value), base, "keras.Masking")


def Rescaling(
    scale: float | Sequence[float], offset: float | Sequence[float] = 0.0, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.Rescaling``: scale and offset are constants, not weights.

    >>> Rescaling(1 / 255).params
    0
    """
    scale, offset = (tuple(value) if isinstance(value, Sequence) else value for value in (scale, offset))
    return finished(preprocessing.Rescaling(scale, offset), base, "keras.Rescaling")


def _listed(values: Sequence[_Entry], name: str, where: str) -> tuple[_Entry, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        message = f"{where}: {name} is {quoted(values)}; wanted a tuple."
        raise ArgumentError(message)
    return tuple(values)
