"""Activations by their names in configurations. Nearly all store nothing; two have parameters, which a count must include."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.activation import sloped
from paramsym.program import Own, Value, apply, compare, where
from paramsym.program.losses import smaller

_STEPS: Mapping[str, tuple[tuple[Any, ...], ...]] = {
    "gelu_10": (("gelu",), ("clip", -10.0, 10.0)),
    "gelu_accurate": (("gelu_tanh",),),
    "gelu_bloom": (("gelu_tanh", 0.79788456),),  # written out to eight digits in the reference's model, without a configuration name
    "gelu_fast": (("gelu_tanh", 0.7978845608),),
    "gelu_python": (("gelu",),),
    "gelu_python_tanh": (("gelu_tanh",),),
    "gelu_pytorch_tanh": (("gelu_tanh",),),
    "linear": (),
    "relu2": (("relu_squared",),),
    "sqrtsoftplus": (("softplus",), ("sqrt",)),
    "swish": (("silu",),),
}
"""The functions of a configuration name, applied in order, if it is not the function of the same name."""
LEARNED = frozenset({"prelu", "xielu"})
"""The activations that store tensors."""
_PLAIN = {"gelu", "gelu_new", "hardswish", "laplace", "leaky_relu", "mish", "quick_gelu", "relu", "relu6", "sigmoid", "silu", "tanh"}
NAMES = frozenset({*_PLAIN, *_STEPS, *LEARNED} - {"gelu_bloom"})
"""Every name that ``transformers.activations.ACT2CLS`` knows (5.23)."""


class Activation(Declared):
    """An activation function by its configuration name.

    ``prelu`` learns one slope (He et al. 2015, section 2.1); ``xielu`` learns ``alpha_p`` and ``alpha_n`` and keeps ``beta`` and ``eps`` as
    scalar buffers (Huang and Schlag 2024, arXiv:2411.13010). Everything else stores nothing. Reference: ``transformers.activations``.

    Raises:
        ArgumentError: a name that the reference does not know.

    >>> Activation("gelu").params, Activation("prelu").params, Activation("xielu").params
    (0, 1, 2)
    """

    function: str

    def conditions(self) -> None:
        check_activation(self.function, "function")

    def tensors(self) -> Iterator[Tensor]:
        if self.function == "prelu":
            yield Tensor("weight", (1,))
        elif self.function == "xielu":
            yield Tensor("alpha_p", (1,))
            yield Tensor("alpha_n", (1,))
            yield Tensor("beta", (), role="statistic", buffer=True)
            yield Tensor("eps", (), role="statistic", buffer=True)

    def forward(self, own: Own, x: Value) -> Value:
        if self.function == "prelu":
            return sloped(x, own.weight)
        if self.function == "xielu":
            rising = apply("softplus", own.alpha_p) * x * x + own.beta * x
            falling = (apply("expm1", smaller(x, own.eps)) - x) * (own.beta + apply("softplus", own.alpha_n)) + own.beta * x
            return where(compare(x, "greater", 0), rising, falling)
        return activated(self.function, x)


def activated(function: str, x: Value) -> Value:
    """Apply a function that stores nothing, by its configuration name."""
    for name, *settings in _STEPS.get(function, ((function,),)):
        x = apply(name, x, *settings)
    return x


def check_activation(function: str, where: str) -> None:
    """Raise ``ArgumentError`` for a name that no activation has."""
    if function not in NAMES:
        raise ArgumentError(f"{where} is {function!r:.80}, which is not an activation; wanted one of {', '.join(sorted(NAMES))}.")


def learned(name: str, function: str) -> dict[str, Layer]:
    """Return ``{name: activation}`` for a ``Block`` if it stores tensors, otherwise an empty dictionary."""
    return {name: Activation(function)} if function in LEARNED else {}
