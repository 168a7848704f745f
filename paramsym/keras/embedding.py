"""Keras' embeddings, spelt as Keras spells them. Their weights do not depend on the input, so they need no input shape."""

from __future__ import annotations

from paramsym.keras._base import adapted, check_dtype
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape, shape_of
from paramsym.layer import Layer
from paramsym.layers import embedding
from paramsym.size import Dim, size


def Embedding(
    input_dim: Dim,
    output_dim: Dim,
    embeddings_initializer: object = "uniform",
    embeddings_regularizer: object = None,
    embeddings_constraint: object = None,
    mask_zero: bool = False,
    weights: object = None,
    lora_rank: Dim | None = None,
    lora_alpha: float | None = None,
    quantization_config: object = None,
    *,
    input_length: int | None = None,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.Embedding`` with Keras' ``embeddings``; with ``lora_rank`` it stands inside ``paramsym.LoRA``.

    Raises:
        SizeError: a width that cannot be one.
        ArgumentError: ``lora_rank`` together with a constraint; an unknown argument.

    >>> Embedding(100, 8).params
    800
    """
    where = "keras.Embedding"
    _checked(input_dim, output_dim, input_shape, where)
    check_dtype(base, where)
    layer = embedding.Embedding(input_dim, output_dim, dialect="keras")
    return finished(adapted(layer, lora_rank, embeddings_constraint, where), base, where)


def ReversibleEmbedding(
    input_dim: Dim,
    output_dim: Dim,
    tie_weights: bool = True,
    embeddings_initializer: object = "uniform",
    embeddings_regularizer: object = None,
    embeddings_constraint: object = None,
    mask_zero: bool = False,
    reverse_dtype: object = None,
    logit_soft_cap: float | None = None,
    *,
    weights: object = None,
    lora_rank: Dim | None = None,
    lora_alpha: float | None = None,
    quantization_config: object = None,
    input_length: int | None = None,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer:
    """Return ``paramsym.ReversibleEmbedding``; with ``lora_rank`` it stands inside ``paramsym.LoRA``.

    Raises:
        SizeError: a width that cannot be one.
        ArgumentError: ``lora_rank`` without tied weights, which Keras cannot build; an unknown argument.

    >>> ReversibleEmbedding(100, 8).params, ReversibleEmbedding(100, 8, tie_weights=False).params
    (800, 1600)
    """
    where = "keras.ReversibleEmbedding"
    _checked(input_dim, output_dim, input_shape, where)
    check_dtype(base, where)
    layer = embedding.ReversibleEmbedding(input_dim, output_dim, tie_weights, mask_zero, logit_soft_cap)
    return finished(adapted(layer, lora_rank, embeddings_constraint, where), base, where)


def _checked(input_dim: Dim, output_dim: Dim, input_shape: Shape | None, where: str) -> None:
    """Word the errors in Keras' arguments."""
    size(input_dim, f"{where}: input_dim")
    size(output_dim, f"{where}: output_dim")
    if input_shape is not None:
        shape_of(input_shape, where)
