"""The activation of a configuration as a layer; two store parameters. The words themselves are in ``atlas.activations``."""

from __future__ import annotations

from collections.abc import Iterator

from paramsym.atlas.activations import WORDS
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.activation import sloped
from paramsym.program import Own, Value, apply, compare, where
from paramsym.program.losses import smaller

LEARNED = frozenset(word for word, one in WORDS.items() if one.stores)
"""The activations that store tensors."""
NAMES = frozenset(WORDS)
_FUNCTIONS = {
    **{word: one.functions for word, one in WORDS.items() if one.functions is not None},
    "gelu_bloom": (("gelu_tanh", 0.79788456),),  # written out to eight digits in the reference's model, without a configuration name
}


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
    for name, *settings in _FUNCTIONS.get(function, ((function,),)):
        x = apply(name, x, *settings)
    return x


def check_activation(function: str, where: str) -> None:
    """Raise ``ArgumentError`` for a name that no activation has."""
    if function not in NAMES:
        raise ArgumentError(f"{where} is {function!r:.80}, which is not an activation; wanted one of {', '.join(sorted(NAMES))}.")


def learned(name: str, function: str) -> dict[str, Layer]:
    """Return ``{name: activation}`` for a ``Block`` if it stores tensors, otherwise an empty dictionary."""
    return {name: Activation(function)} if function in LEARNED else {}
