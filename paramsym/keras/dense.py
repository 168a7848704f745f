"""Dense layers and embeddings in Keras' spelling, optionally with low-rank factors."""

from __future__ import annotations

from typing import Any

from paramsym.algebra.size import Dim
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError
from paramsym.keras._activations import activated
from paramsym.keras._arguments import takes, weights
from paramsym.keras._door import Given, anywhere, axis_size, door, shape_of
from paramsym.layers import activation, dense, einsum, embedding
from paramsym.layers.lora import LoRA
from paramsym.naming import quoted


def adapted(layer: Layer, given: Given, lora_alpha: Any = None) -> Layer:
    """Add low-rank factors to a layer if ``lora_rank`` is given; without ``lora_alpha`` their product is not scaled.

    In Keras 3.15 the ``lora_alpha`` of dense layers and embeddings has no effect: building them sets it to the rank.

    Raises:
        ArgumentError: low-rank factors for a kernel with a constraint, which Keras refuses.
    """
    rank, constraint = (given.values.get(name) for name in ("lora_rank", "kernel_constraint"))
    if not rank:
        return layer
    if constraint is not None or given.values.get("embeddings_constraint") is not None:
        raise ArgumentError(f"lora_rank={rank} together with a constraint; Keras takes one of them, not both.")
    return LoRA(layer, rank, lora_alpha=lora_alpha)


_LORA = {"lora_rank": None, "lora_alpha": None}
_QUANTISED = {"quantization_config": None}


@door(takes("units", activation=None, use_bias=True) | weights("kernel", "bias", activity=True) | _LORA | _QUANTISED)
def Dense(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.Dense`` with Keras' ``kernel`` and ``bias``; with ``lora_rank`` it is inside ``paramsym.LoRA``.

    >>> Dense(4, input_shape=(None, 3)).params
    16
    """
    inputs = shape_of(shape)
    if len(inputs) < 2:
        raise ArgumentError(f"input_shape {inputs} has {len(inputs)} axes; wanted at least 2, batch first.")
    layer = dense.Dense(axis_size(inputs, -1), given.units, given.use_bias, dialect="keras")
    return activated(adapted(layer, given), given.activation)


@door(
    takes("equation", "output_shape", activation=None, bias_axes=None)
    | weights("kernel", "bias")
    | _LORA
    | {"gptq_unpacked_column_size": None}
    | _QUANTISED
)
def EinsumDense(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.EinsumDense``; with ``lora_rank`` it is inside ``paramsym.LoRA``.

    >>> EinsumDense("abc,cde->abde", (None, 4, 5), bias_axes="de", input_shape=(None, 7, 3)).params
    80
    """
    layer = einsum.EinsumDense(given.equation, given.output_shape, shape_of(shape), given.bias_axes)
    return activated(adapted(layer, given, given.lora_alpha), given.activation)


@door(
    takes("input_dim", "output_dim") | weights("embeddings") | {"mask_zero": False, "weights": None} | _LORA | _QUANTISED,
    {"input_length": None},
    complete=anywhere,
)
def Embedding(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.Embedding`` with Keras' ``embeddings``; with ``lora_rank`` it is inside ``paramsym.LoRA``.

    >>> Embedding(100, 8).params
    800
    """
    _ = shape is None or shape_of(shape)
    return adapted(embedding.Embedding(given.input_dim, given.output_dim, dialect="keras"), given)


@door(
    takes("input_dim", "output_dim", tie_weights=True)
    | weights("embeddings")
    | {"mask_zero": False, "reverse_dtype": None, "logit_soft_cap": None},
    {"weights": None, **_LORA, **_QUANTISED, "input_length": None},
    complete=anywhere,
)
def ReversibleEmbedding(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.ReversibleEmbedding``; tied, it is inside ``paramsym.LoRA`` with ``lora_rank``.

    >>> ReversibleEmbedding(100, 8, tie_weights=False).params
    1600
    """
    _ = shape is None or shape_of(shape)
    return adapted(embedding.ReversibleEmbedding(**given.named(embedding.ReversibleEmbedding)), given)


@door({"alpha_initializer": "Zeros", "alpha_regularizer": None, "alpha_constraint": None, "shared_axes": None})
def PReLU(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.PReLU`` with Keras' ``alpha``: a slope per entry of an example, shared along ``shared_axes``.

    >>> PReLU(shared_axes=[1, 2], input_shape=(None, 8, 8, 3)).shapes()
    {'alpha': (1, 1, 3)}
    """
    inputs = shape_of(shape)
    slopes: list[Dim | None] = list(inputs[1:])
    for axis in given.shared_axes:
        if not -len(slopes) <= axis - 1 < len(slopes):
            raise ArgumentError(f"shared_axes has {quoted(axis)}, which is outside the input shape {inputs}.")
        slopes[axis - 1] = 1  # as in Keras, where -1 is the last axis but one
    return activation.PReLU(tuple(axis_size(tuple(slopes), axis) for axis in range(len(slopes))), dialect="keras")
