"""The names of ``keras.activations``, and their layers here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from paramsym.core.around import Around
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError
from paramsym.layers import activation as plain
from paramsym.layers.reshaping import Identity
from paramsym.naming import quoted
from paramsym.program import Own, Value

_NAMELESS = ("exponential", "sparse_plus", "sparse_sigmoid", "sparsemax", "squareplus", "threshold")


ACTIVATIONS: dict[str, Layer] = {
    "hard_shrink": plain.Hardshrink(),
    "hard_sigmoid": plain.Hardsigmoid(),
    "hard_silu": plain.Hardswish(),
    "hard_swish": plain.Hardswish(),
    "hard_tanh": plain.Hardtanh(),
    "leaky_relu": plain.LeakyReLU(0.2),
    "linear": Identity(),
    "log_sigmoid": plain.LogSigmoid(),
    "log_softmax": plain.LogSoftmax(-1),
    "soft_shrink": plain.Softshrink(),
    "softmax": plain.Softmax(-1),
    "swish": plain.SiLU(),
    "tanh_shrink": plain.Tanhshrink(),
    **{kind.__name__.lower(): kind() for kind in (plain.CELU, plain.ELU, plain.GELU, plain.GLU, plain.Mish, plain.ReLU, plain.ReLU6)},
    **{kind.__name__.lower(): kind() for kind in (plain.SELU, plain.Sigmoid, plain.SiLU, plain.Softplus, plain.Softsign, plain.Tanh)},
    **{name: plain.Activation(name) for name in _NAMELESS},
}
"""The names that ``keras.activations.get`` knows (Keras 3.15); torch has no layer for the last ones."""


@dataclass(frozen=True)
class Activated(Around):
    """A layer and the activation that Keras applies to its output."""

    activation: Layer

    @property
    def computed_as(self) -> Layer:
        return self  # the activation belongs to its forward pass

    def forward(self, own: Own, x: Value) -> Value:  # pyright: ignore[reportIncompatibleMethodOverride] - the function inside takes one
        return cast("Value", self.activation.forward(own, self.layer.forward(own, x)))


def activation_of(activation: object, name: str) -> Layer:
    """Return the layer of an activation; None is the identity, and a function is identified by its name.

    Raises:
        ArgumentError: an unknown name.
    """
    if isinstance(activation, Layer):
        return activation
    if isinstance(activation, str) and activation not in ACTIVATIONS:
        raise ArgumentError(f"{name} is {quoted(activation)}; wanted one of {', '.join(sorted(ACTIVATIONS))}.")
    called = "linear" if activation is None else activation if isinstance(activation, str) else getattr(activation, "__name__", "")
    return ACTIVATIONS.get(called) or plain.Activation(called or type(activation).__name__)


def activated(layer: Layer, activation: Layer) -> Layer:
    """Return the layer with an activation after it; the layer itself for the identity."""
    return layer if isinstance(activation, Identity) else Activated(layer, activation)
