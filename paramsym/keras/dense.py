"""Keras' fully connected layers, spelt as Keras spells them.

Arguments that change no weight (initialisers, regularisers) are taken and have no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.errors import ArgumentError
from paramsym.keras._base import activated, adapted, check_activation, check_dtype
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import dense
from paramsym.size import Dim, size


def Dense(
    units: Dim,
    activation: object = None,
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    lora_rank: Dim | None = None,
    lora_alpha: float | None = None,
    quantization_config: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.Dense`` with Keras' ``kernel`` and ``bias``; with ``lora_rank`` it stands inside ``paramsym.LoRA``.

    Raises:
        SizeError: an unknown last axis of the input shape.
        ArgumentError: an input shape of fewer than two axes, an unknown activation or argument.

    >>> Dense(4, input_shape=(None, 3)).params
    16
    >>> Dense(4, lora_rank=2, input_shape=(None, 3)).trainable
    18
    """
    where = "keras.Dense"
    size(units, f"{where}: units")
    check_activation(activation, where)
    check_dtype(base, where)

    def build(shape: Shape) -> Layer:
        inputs = shape_of(shape, where)
        if len(inputs) < 2:
            message = f"{where}: input_shape {inputs} has {len(inputs)} axes; wanted at least 2, batch first."
            raise ArgumentError(message)
        layer = dense.Dense(axis_size(inputs, -1, where), units, use_bias, dialect="keras")
        adapted_layer = adapted(layer, lora_rank, kernel_constraint, where)
        return finished(activated(adapted_layer, activation, where), base, where)

    return door("Dense", build, input_shape)


def EinsumDense(
    equation: str,
    output_shape: Dim | Sequence[Dim | None],
    activation: object = None,
    bias_axes: str | None = None,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    lora_rank: Dim | None = None,
    lora_alpha: float | None = None,
    gptq_unpacked_column_size: int | None = None,
    quantization_config: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.EinsumDense``; with ``lora_rank`` it stands inside ``paramsym.LoRA``.

    Raises:
        ArgumentError: an equation or shapes that do not fit each other, an unknown activation or argument.
        SizeError: an unknown extent that a weight needs.

    >>> EinsumDense("abc,cde->abde", (None, 4, 5), bias_axes="de", input_shape=(None, 7, 3)).params
    80
    """
    where = "keras.EinsumDense"
    check_activation(activation, where)
    check_dtype(base, where)
    outputs = tuple(output_shape) if isinstance(output_shape, Sequence) else output_shape

    def build(shape: Shape) -> Layer:
        layer = dense.EinsumDense(equation, outputs, shape_of(shape, where), bias_axes)
        adapted_layer = adapted(layer, lora_rank, kernel_constraint, where, lora_alpha)
        return finished(activated(adapted_layer, activation, where), base, where)

    return door("EinsumDense", build, input_shape)
