"""Attention layers in Keras' spelling.

Attention has several inputs, so ``input_shape`` is ``{"query": ..., "value": ..., "key": ...}`` or ``[query, value, key]``; without a key,
the value is the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramsym.algebra.size import divides
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, SizeError
from paramsym.keras._arguments import takes, weights, wrong
from paramsym.keras._door import Given, Shape, axis_size, door, shape_of
from paramsym.layers import attention, scored_attention

_ROLES = ("query", "value", "key")
_DROPPED = {"dropout": 0.0, "use_bias": True}
_LAST = {**weights("kernel", "bias", activity=True), "use_gate": False, "seed": None}
_WINDOW = {"sliding_window": None, "flash_attention": None}


def _check_heads(given: Given) -> None:
    if "num_query_heads" in given.values:
        divides(given.num_key_value_heads, given.num_query_heads, "num_key_value_heads", "num_query_heads")
    if not isinstance(given.dropout, int | float):
        raise wrong(given.dropout, "dropout", "a number")
    if given.flash_attention is True and given.dropout > 0:
        message = f"dropout is {given.dropout}, which flash_attention does not support; give dropout=0, or flash_attention=False."
        raise ArgumentError(message)


@door(
    takes("num_heads", "key_dim", value_dim=None) | _DROPPED | {"output_shape": None, "attention_axes": None} | _WINDOW | _LAST,
    complete=_check_heads,
)
def MultiHeadAttention(given: Given, shapes: Any) -> Layer:
    """Return ``paramsym.MultiHeadAttention`` as Keras stores it; ``key_dim`` is the head size.

    >>> MultiHeadAttention(num_heads=2, key_dim=4, input_shape=[(None, 8, 16), (None, 8, 16)]).params
    552
    """
    return _heads(given, shapes)


@door(takes("head_dim", "num_query_heads", "num_key_value_heads") | _DROPPED | _WINDOW | _LAST, complete=_check_heads)
def GroupQueryAttention(given: Given, shapes: Any) -> Layer:
    """Return ``paramsym.MultiHeadAttention`` with ``kv_heads``, as Keras stores it.

    >>> GroupQueryAttention(4, 4, 2, input_shape=[(None, 8, 16), (None, 8, 16)], use_bias=False).params
    768
    """
    return _heads(given, shapes, rank=3)


@door(takes(use_scale=False, score_mode="dot", dropout=0.0, seed=None))
def Attention(given: Given, shapes: Any) -> Layer:
    """Return ``paramsym.DotProductAttention``: at most two learned scalars.

    >>> Attention(use_scale=True, input_shape=[(None, 5, 8), (None, 5, 8)]).params
    1
    """
    _shapes(shapes)
    return scored_attention.DotProductAttention(given.use_scale, given.score_mode, given.dropout)


@door(takes(use_scale=True, dropout=0.0, seed=None))
def AdditiveAttention(given: Given, shapes: Any) -> Layer:
    """Return ``paramsym.AdditiveAttention`` as Keras stores it: one scale as wide as the query.

    >>> AdditiveAttention(input_shape=[(None, 5, 8), (None, 5, 8)]).params
    8
    """
    width = axis_size(_shapes(shapes)[0], -1)
    return scored_attention.AdditiveAttention(width, use_scale=given.use_scale, dropout=given.dropout, dialect="keras")


def _heads(given: Given, shapes: Any, rank: int | None = None) -> Layer:
    _, value, key = found = _shapes(shapes, rank)
    if rank is None and value[1:-1] != key[1:-1]:
        raise SizeError(f"value {value} and key {key} may differ in their last axis only.")
    width, vdim, kdim = (axis_size(shape, -1) for shape in found)
    named = given.named(attention.MultiHeadAttention)
    named["output_dim"] = named.get("output_dim") or None
    return attention.MultiHeadAttention(width, kdim=kdim, vdim=vdim, **named, dialect="keras")


def _shapes(shapes: Any, rank: int | None = None) -> tuple[Shape, ...]:
    """Return the shapes of query, value and key; a missing key has the value's shape."""
    if isinstance(shapes, Mapping):
        unknown = sorted(set(shapes) - set(_ROLES))
        missing = [role for role in _ROLES[:2] if shapes.get(role) is None]
        if unknown or missing:
            fault = f"has {unknown[0]!r}" if unknown else f"has no {missing[0]!r}"
            raise ArgumentError(f"input_shape {fault}; wanted query, value and, if it differs, key.")
        found = {role: shape for role, shape in shapes.items() if shape is not None}
    else:
        several: Sequence[Any] = shapes if isinstance(shapes, list | tuple) else ()
        if len(several) not in {2, 3} or not all(isinstance(shape, list | tuple) for shape in several):
            raise wrong(shapes, "input_shape", "{'query': ..., 'value': ..., 'key': ...} or [query, value, key]")
        found = dict(zip(_ROLES, several, strict=False))
    found.setdefault("key", found["value"])
    return tuple(shape_of(found[role], rank, role) for role in _ROLES)
