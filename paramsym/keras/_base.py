"""How the doors of single layers read activations, axes, words and low-rank factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from paramsym.edit import Around
from paramsym.errors import ArgumentError, NotYetError
from paramsym.layer import Layer
from paramsym.layers import activation as plain
from paramsym.layers.lora import LoRA
from paramsym.layers.reshaping import Identity
from paramsym.naming import quoted
from paramsym.program import Own, Value
from paramsym.size import Dim

ACTIVATIONS = frozenset(
    {
        "celu",
        "elu",
        "exponential",
        "gelu",
        "glu",
        "hard_shrink",
        "hard_sigmoid",
        "hard_silu",
        "hard_swish",
        "hard_tanh",
        "leaky_relu",
        "linear",
        "log_sigmoid",
        "log_softmax",
        "mish",
        "relu",
        "relu6",
        "selu",
        "sigmoid",
        "silu",
        "soft_shrink",
        "softmax",
        "softplus",
        "softsign",
        "sparse_plus",
        "sparse_sigmoid",
        "sparsemax",
        "squareplus",
        "swish",
        "tanh",
        "tanh_shrink",
        "threshold",
    }
)
"""The names that ``keras.activations.get`` knows (Keras 3.15)."""

_LAYERS: dict[str, Layer] = {
    "celu": plain.CELU(),
    "elu": plain.ELU(),
    "gelu": plain.GELU(),
    "glu": plain.GLU(),
    "hard_shrink": plain.Hardshrink(),
    "hard_sigmoid": plain.Hardsigmoid(),
    "hard_silu": plain.Hardswish(),
    "hard_swish": plain.Hardswish(),
    "hard_tanh": plain.Hardtanh(),
    "leaky_relu": plain.LeakyReLU(0.2),
    "linear": Identity(),
    "log_sigmoid": plain.LogSigmoid(),
    "log_softmax": plain.LogSoftmax(-1),
    "mish": plain.Mish(),
    "relu": plain.ReLU(),
    "relu6": plain.ReLU6(),
    "selu": plain.SELU(),
    "sigmoid": plain.Sigmoid(),
    "silu": plain.SiLU(),
    "soft_shrink": plain.Softshrink(),
    "softmax": plain.Softmax(-1),
    "softplus": plain.Softplus(),
    "softsign": plain.Softsign(),
    "swish": plain.SiLU(),
    "tanh": plain.Tanh(),
    "tanh_shrink": plain.Tanhshrink(),
}
"""What a name means, where torch has a layer for it."""


def check_dtype(base: Mapping[str, object], where: str) -> None:
    """Raise ``NotYetError`` for a quantised ``dtype`` such as "int8_from_float32": it stores other tensors."""
    dtype = base.get("dtype")
    if isinstance(dtype, str) and "_from_" in dtype:
        message = f"{where}: dtype {quoted(dtype)} stores a quantised kernel and its scales, which are not stated yet."
        raise NotYetError(message)


def adapted(layer: Layer, lora_rank: Dim | None, constraint: object, where: str, lora_alpha: Any = None) -> Layer:
    """Put low-rank factors beside a layer, where Keras is asked to; without ``lora_alpha`` their product is added as it is.

    In Keras 3.15 the ``lora_alpha`` of dense layers and embeddings has no effect: building them sets it to the rank.

    Raises:
        ArgumentError: low-rank factors beside a kernel under a constraint, which Keras refuses.
    """
    if not lora_rank:
        return layer
    if constraint:
        message = f"{where}: lora_rank={lora_rank} together with a constraint; Keras takes one of them, not both."
        raise ArgumentError(message)
    return LoRA(layer, lora_rank, lora_alpha=lora_alpha)


def check_activation(activation: object, where: str) -> None:
    """Raise ``ArgumentError`` for a name that is no activation; functions and their configurations are taken as they are."""
    if isinstance(activation, str) and activation not in ACTIVATIONS:
        message = f"{where}: activation is {quoted(activation)}; known are {', '.join(sorted(ACTIVATIONS))}."
        raise ArgumentError(message)


@dataclass(frozen=True)
class Activated(Around):
    """A layer and the function that Keras applies to what comes out of it."""

    activation: Layer

    @property
    def computed_as(self) -> Layer:
        """This layer: the activation belongs to its forward pass."""
        return self

    def forward(self, own: Own, x: Value) -> Value:  # pyright: ignore[reportIncompatibleMethodOverride] - what it stands around takes one
        """The activation of what the layer computes."""
        return cast("Value", self.activation.forward(own, self.layer.forward(own, x)))


@dataclass(frozen=True)
class Unstated(Around):
    """A layer that computes something else than its own forward pass, which is not stated yet; tensors and shapes are the same."""

    @property
    def computes(self) -> bool:
        """No: ``trace``, ``run`` and ``flops`` raise ``NotYetError``."""
        return False


def activation_of(activation: object, where: str) -> Layer:
    """Return the layer of an activation; None is the identity, a function is known by its own name.

    Raises:
        ArgumentError: an unknown name.
    """
    check_activation(activation, where)
    if isinstance(activation, Layer):
        return activation
    name = "linear" if activation is None else activation if isinstance(activation, str) else getattr(activation, "__name__", "")
    return _LAYERS.get(name) or plain.Activation(name or type(activation).__name__)


def activated(layer: Layer, activation: object, where: str) -> Layer:
    """Return the layer with an activation after it; the layer itself, where that is the identity."""
    after = activation_of(activation, where)
    return layer if isinstance(after, Identity) else Activated(layer, after)


def data_format_of(data_format: object, where: str) -> Literal["channels_first", "channels_last"]:
    """Return the data format; Keras has the channels last unless told otherwise."""
    if data_format is None:
        return "channels_last"
    lowered = data_format.lower() if isinstance(data_format, str) else data_format
    if lowered == "channels_first":
        return "channels_first"
    if lowered == "channels_last":
        return "channels_last"
    message = f"{where}: data_format is {quoted(data_format)}; wanted 'channels_first' or 'channels_last'."
    raise ArgumentError(message)


def axes_of(axis: object, where: str) -> tuple[int, ...]:
    """Return one axis, or several, as a tuple in Keras' order: sorted as they are written, so that -1 stands before 1."""
    listed: tuple[Any, ...] = tuple(axis) if isinstance(axis, Sequence) and not isinstance(axis, str) else (axis,)
    for one in listed:
        if not isinstance(one, int) or isinstance(one, bool):
            message = f"{where}: axis is {quoted(axis)}; wanted a whole number, or several."
            raise ArgumentError(message)
    return tuple(sorted(listed))


def one_of(value: object, options: Sequence[str], name: str, where: str) -> str:
    """Return a word in lower case where it is among the options, else raise ``ArgumentError``."""
    lowered = value.lower() if isinstance(value, str) else value
    if lowered in options:
        return str(lowered)
    message = f"{where}: {name} is {quoted(value)}; wanted one of {', '.join(map(repr, options))}."
    raise ArgumentError(message)
