"""Keras' attention layers, spelt as Keras spells them.

Attention has several inputs, so ``input_shape`` is ``{"query": ..., "value": ..., "key": ...}`` or ``[query, value, key]``; without a key,
the value is the key. Arguments that change no weight (initialisers, regularisers, masks, dropout) are taken and have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from paramsym.errors import ArgumentError, SizeError
from paramsym.keras._base import axes_of
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import additive_attention, attention
from paramsym.naming import quoted
from paramsym.size import Dim, divides, size

Shapes: TypeAlias = "Mapping[str, Shape | None] | Sequence[Shape]"
_ROLES = ("query", "value", "key")
_BASE = frozenset({"autocast", "dtype", "name", "trainable"})


def MultiHeadAttention(
    num_heads: Dim,
    key_dim: Dim,
    value_dim: Dim | None = None,
    dropout: float = 0.0,
    use_bias: bool = True,
    output_shape: Dim | Sequence[Dim] | None = None,
    attention_axes: int | Sequence[int] | None = None,
    sliding_window: int | None = None,
    flash_attention: bool | None = None,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    use_gate: bool = False,
    seed: int | None = None,
    *,
    input_shape: Shapes | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.MultiHeadAttention`` with what Keras stores; ``key_dim`` is the width of one head.

    >>> shapes = {"query": (None, 8, 16), "value": (None, 8, 16)}
    >>> MultiHeadAttention(num_heads=2, key_dim=4, input_shape=shapes).params
    552
    """
    del kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer
    del kernel_constraint, bias_constraint, seed
    where = "keras.MultiHeadAttention"
    sizes = {"num_heads": num_heads, "key_dim": key_dim} | ({} if value_dim is None else {"value_dim": value_dim})
    for name, given in sizes.items():
        size(given, f"{where}: {name}")
    _check_window(sliding_window, dropout, flash=flash_attention, where=where)
    outputs = tuple(output_shape) if isinstance(output_shape, Sequence) else output_shape
    along = attention_axes if attention_axes is None else axes_of(attention_axes, where)

    def build(shapes: Shapes) -> Layer:
        query, value, key = _shapes(shapes, where)
        if value[1:-1] != key[1:-1]:
            message = f"{where}: value {value} and key {key} may differ in their last axis only."
            raise SizeError(message)
        layer = attention.MultiHeadAttention(
            axis_size(query, -1, where),
            num_heads,
            dropout,
            use_bias,
            kdim=axis_size(key, -1, where),
            vdim=axis_size(value, -1, where),
            head_dim=key_dim,
            value_head_dim=value_dim,
            output_dim=outputs or None,
            gate=use_gate,
            attention_axes=along,
            window=sliding_window,
            dialect="keras",
        )
        return _finished(layer, base, where)

    return door("MultiHeadAttention", build, input_shape)


def GroupQueryAttention(
    head_dim: Dim,
    num_query_heads: Dim,
    num_key_value_heads: Dim,
    dropout: float = 0.0,
    use_bias: bool = True,
    sliding_window: int | None = None,
    flash_attention: bool | None = None,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    use_gate: bool = False,
    seed: int | None = None,
    *,
    input_shape: Shapes | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.MultiHeadAttention`` with ``kv_heads``, as Keras stores it.

    >>> shapes = {"query": (None, 8, 16), "value": (None, 8, 16)}
    >>> GroupQueryAttention(4, 4, 2, input_shape=shapes, use_bias=False).params
    768
    """
    del kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer
    del kernel_constraint, bias_constraint, seed
    where = "keras.GroupQueryAttention"
    for name, given in (("head_dim", head_dim), ("num_query_heads", num_query_heads), ("num_key_value_heads", num_key_value_heads)):
        size(given, f"{where}: {name}")
    divides(num_key_value_heads, num_query_heads, "num_key_value_heads", f"{where}: num_query_heads")
    _check_window(sliding_window, dropout, flash=flash_attention, where=where)

    def build(shapes: Shapes) -> Layer:
        query, value, key = _shapes(shapes, where, rank=3)
        layer = attention.MultiHeadAttention(
            axis_size(query, -1, where),
            num_query_heads,
            dropout,
            use_bias,
            kdim=axis_size(key, -1, where),
            vdim=axis_size(value, -1, where),
            kv_heads=num_key_value_heads,
            head_dim=head_dim,
            gate=use_gate,
            window=sliding_window,
            dialect="keras",
        )
        return _finished(layer, base, where)

    return door("GroupQueryAttention", build, input_shape)


def Attention(
    use_scale: bool = False,
    score_mode: str = "dot",
    dropout: float = 0.0,
    seed: int | None = None,
    *,
    input_shape: Shapes | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.DotProductAttention``: at most two learned scalars.

    >>> Attention(use_scale=True, input_shape=[(None, 5, 8), (None, 5, 8)]).params
    1
    """
    del seed
    where = "keras.Attention"

    def build(shapes: Shapes) -> Layer:
        _shapes(shapes, where)
        return _finished(attention.DotProductAttention(use_scale, score_mode, dropout), base, where)  # type: ignore[arg-type]

    return door("Attention", build, input_shape)


def AdditiveAttention(
    use_scale: bool = True,
    dropout: float = 0.0,
    seed: int | None = None,
    *,
    input_shape: Shapes | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.AdditiveAttention`` with what Keras stores: one scale as wide as the query.

    >>> AdditiveAttention(input_shape=[(None, 5, 8), (None, 5, 8)]).params
    8
    """
    del seed
    where = "keras.AdditiveAttention"

    def build(shapes: Shapes) -> Layer:
        query, *_ = _shapes(shapes, where)
        layer = additive_attention.AdditiveAttention(axis_size(query, -1, where), use_scale=use_scale, dropout=dropout, dialect="keras")
        return _finished(layer, base, where)

    return door("AdditiveAttention", build, input_shape)


def _shapes(shapes: Shapes, where: str, rank: int | None = None) -> tuple[tuple[Dim | None, ...], ...]:
    """Return the shapes of query, value and key; the value's serves a key that is not given."""
    if isinstance(shapes, Mapping):
        unknown = sorted(set(shapes) - set(_ROLES))
        missing = [role for role in _ROLES[:2] if shapes.get(role) is None]
        if unknown or missing:
            wrong = f"has {unknown[0]!r}" if unknown else f"has no {missing[0]!r}"
            message = f"{where}: input_shape {wrong}; wanted query, value and, where it differs, key."
            raise ArgumentError(message)
        found = {role: shape for role, shape in shapes.items() if shape is not None}
    else:
        each: Sequence[object] = shapes
        several = isinstance(shapes, list | tuple) and all(isinstance(shape, list | tuple) for shape in each)
        if not several or len(shapes) not in {2, 3}:
            message = f"{where}: input_shape is {quoted(shapes)}; wanted {{'query': ..., 'value': ..., 'key': ...}} or [query, value, key]."
            raise ArgumentError(message)
        found = dict(zip(_ROLES, shapes, strict=False))
    found.setdefault("key", found["value"])
    return tuple(shape_of(found[role], f"{where}: {role}", rank=rank) for role in _ROLES)


def _check_window(sliding_window: int | None, dropout: float, *, flash: bool | None, where: str) -> None:
    if sliding_window is not None:
        size(sliding_window, f"{where}: sliding_window")
    if not isinstance(dropout, int | float):
        message = f"{where}: dropout is {quoted(dropout)}; wanted a number."  # type: ignore[unreachable]
        raise ArgumentError(message)
    if flash is True and dropout > 0:
        message = f"{where}: dropout is {dropout}, which flash_attention does not support; set one of them to nothing."
        raise ArgumentError(message)


def _finished(layer: Layer, base: Mapping[str, object], where: str) -> Layer:
    """Heed the arguments that every Keras layer has; of these, only ``trainable`` changes what is stored."""
    unknown = sorted(set(base) - _BASE)
    if unknown:
        message = f"{where} has no argument {unknown[0]!r}."
        raise ArgumentError(message)
    return layer.freeze() if base.get("trainable") is False else layer
