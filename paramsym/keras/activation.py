"""Keras' activations, spelt as Keras spells them. All but ``PReLU`` store nothing and need no input shape."""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.errors import ArgumentError
from paramsym.keras._base import activation_of, axes_of
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import activation as plain
from paramsym.naming import quoted
from paramsym.size import Dim


def PReLU(
    alpha_initializer: object = "Zeros",
    alpha_regularizer: object = None,
    alpha_constraint: object = None,
    shared_axes: int | Sequence[int] | None = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.PReLU`` with Keras' ``alpha``: one slope per entry of an example, shared along ``shared_axes``.

    Raises:
        ArgumentError: an axis outside the input, or an unknown argument.
        SizeError: an axis of unknown extent that has slopes of its own.

    >>> PReLU(shared_axes=[1, 2], input_shape=(None, 8, 8, 3)).shapes()
    {'alpha': (1, 1, 3)}
    """
    where = "keras.PReLU"
    shared = () if shared_axes is None else axes_of(shared_axes, where)

    def build(shape: Shape) -> Layer:
        inputs = shape_of(shape, where)
        slopes: list[Dim | None] = list(inputs[1:])
        for axis in shared:
            if not -len(slopes) <= axis - 1 < len(slopes):
                message = f"{where}: shared_axes {shared_axes} has {axis}, which is outside the input shape {inputs}."
                raise ArgumentError(message)
            slopes[axis - 1] = 1  # counted as Keras counts: -1 is the last axis but one
        known = tuple(axis_size(tuple(slopes), axis, where) for axis in range(len(slopes)))
        return finished(plain.PReLU(known, dialect="keras"), base, where)

    return door("PReLU", build, input_shape)


def Activation(activation: object, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return the activation of that name; None is the identity, a function is known by its own name.

    Raises:
        ArgumentError: an unknown name or argument.

    >>> Activation("relu"), Activation("squareplus")
    (ReLU(), Activation('squareplus'))
    """
    where = "keras.Activation"
    return finished(activation_of(activation, where), base, where)


def ReLU(
    max_value: float | None = None,
    negative_slope: float = 0.0,
    threshold: float = 0.0,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.ReLU``.

    Raises:
        ArgumentError: a negative value, or an unknown argument.

    >>> ReLU(6.0)
    ReLU(max_value=6.0)
    """
    where = "keras.ReLU"
    if max_value is not None:
        _not_negative(max_value, "max_value", where)
    _not_negative(negative_slope, "negative_slope", where)
    _not_negative(threshold, "threshold", where)
    return finished(plain.ReLU(max_value=max_value, negative_slope=negative_slope, threshold=threshold), base, where)


def LeakyReLU(negative_slope: float = 0.3, *, alpha: float | None = None, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.LeakyReLU``; ``alpha`` is the slope's older name.

    Raises:
        ArgumentError: a negative slope, or an unknown argument.

    >>> LeakyReLU()
    LeakyReLU(negative_slope=0.3)
    """
    where = "keras.LeakyReLU"
    slope = negative_slope if alpha is None else alpha
    _not_negative(slope, "negative_slope", where)
    return finished(plain.LeakyReLU(slope), base, where)


def ELU(alpha: float = 1.0, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.ELU``.

    >>> ELU()
    ELU()
    """
    return finished(plain.ELU(alpha), base, "keras.ELU")


def Softmax(axis: int | Sequence[int] = -1, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Softmax``.

    Raises:
        ArgumentError: an axis that is no whole number, or an unknown argument.

    >>> Softmax()
    Softmax(dim=-1)
    """
    where = "keras.Softmax"
    axes = axes_of(axis, where)
    return finished(plain.Softmax(axis if isinstance(axis, int) else axes), base, where)


def _not_negative(value: object, name: str, where: str) -> None:
    if not isinstance(value, int | float) or value < 0:
        message = f"{where}: {name} is {quoted(value)}; wanted a number that is not negative."
        raise ArgumentError(message)
