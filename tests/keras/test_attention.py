"""The Keras door for attention against live Keras."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from frameworks import entries, imported, keras_weights
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import A, D, G, H
from paramsym.errors import ArgumentError, DivisibilityError, ParamsymError, SizeError

few = settings(max_examples=20, deadline=None)
small = st.integers(1, 5)
PAIR = {"query": (None, 3, 7), "value": (None, 4, 6)}


@few
@given(
    required=st.fixed_dictionaries({"num_heads": small, "key_dim": small}),
    options=st.fixed_dictionaries(
        {},
        optional={
            "value_dim": st.none() | small,
            "dropout": st.sampled_from([0.0, 0.4]),
            "use_bias": st.booleans(),
            "output_shape": st.none() | small | st.lists(small, max_size=2) | st.tuples(small, small),
            "attention_axes": st.sampled_from([None, 1, (1,)]),
            "sliding_window": st.none() | small,
            "kernel_initializer": st.just("zeros"),
            "use_gate": st.booleans(),
            "seed": st.just(3),
        },
    ),
    shapes=st.tuples(small, small, st.none() | small),
    more=st.sampled_from([(), (2,)]),
)
def test_multi_head_attention(
    required: dict[str, int], options: dict[str, Any], shapes: tuple[int, int, int | None], more: tuple[int, ...]
) -> None:
    """Names, shapes and order from the same arguments and input shapes, with and without a key, with more than one free axis."""
    keras = imported("keras")
    query, value = (None, 3, *more, shapes[0]), (None, 4, *more, shapes[1])
    given_shapes = {"query": query, "value": value}
    if shapes[2] is not None:
        given_shapes["key"] = (None, 4, *more, shapes[2])
    theirs = keras_weights(
        keras.layers.MultiHeadAttention(**required, **options), **{f"{role}_shape": shape for role, shape in given_shapes.items()}
    )
    assert entries(ps.keras.MultiHeadAttention(**required, **options, input_shape=given_shapes)) == theirs
    assert entries(ps.keras.MultiHeadAttention(**required, **options, input_shape=list(given_shapes.values()))) == theirs


@few
@given(
    groups=small,
    repeats=small,
    head_dim=small,
    options=st.fixed_dictionaries({}, optional={"use_bias": st.booleans(), "use_gate": st.booleans(), "dropout": st.just(0.1)}),
    widths=st.tuples(small, small, st.none() | small),
)
def test_group_query_attention(
    groups: int, repeats: int, head_dim: int, options: dict[str, Any], widths: tuple[int, int, int | None]
) -> None:
    """Names, shapes and order from the same arguments and input shapes."""
    keras = imported("keras")
    shapes: dict[str, Any] = {"query": (2, 3, widths[0]), "value": (2, 4, widths[1])}
    if widths[2] is not None:
        shapes["key"] = (2, 4, widths[2])
    arguments = {"head_dim": head_dim, "num_query_heads": groups * repeats, "num_key_value_heads": groups, **options}
    theirs = keras_weights(keras.layers.GroupQueryAttention(**arguments), **{f"{role}_shape": shape for role, shape in shapes.items()})
    assert entries(ps.keras.GroupQueryAttention(**arguments, input_shape=shapes)) == theirs


def test_signatures_are_keras() -> None:
    """Every argument of Keras is taken, in Keras' order, with Keras' default."""
    import inspect

    keras = imported("keras")
    for name in ("MultiHeadAttention", "GroupQueryAttention", "Attention", "AdditiveAttention"):
        theirs = list(inspect.signature(getattr(keras.layers, name).__init__).parameters.values())[1:-1]
        ours = [p for p in inspect.signature(getattr(ps.keras, name)).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert [(p.name, p.default) for p in ours][: len(theirs)] == [(p.name, p.default) for p in theirs]


def test_symbols_go_through_the_door() -> None:
    """Heads, head widths and input widths may be symbols; the derivative by A is what the algebra says."""
    layer = ps.keras.MultiHeadAttention(A, D, input_shape={"query": (None, None, H), "value": (None, None, H)})
    assert layer.params == 4 * A * D * H + 3 * A * D + H
    assert layer == ps.MultiHeadAttention(H, A, head_dim=D, kdim=H, vdim=H, dialect="keras")
    assert layer.params.diff(A) == 4 * D * H + 3 * D
    grouped = ps.keras.GroupQueryAttention(D, A, G, use_bias=False, input_shape=[(None, None, H), (None, None, H)])
    assert grouped.params == 2 * A * D * H + 2 * D * G * H


def test_waiting_for_an_input_shape() -> None:
    """Without input shapes the door gives something that builds later, as Keras does."""
    waiting = ps.keras.MultiHeadAttention(2, 3)
    with pytest.raises(AttributeError, match=r"keras\.MultiHeadAttention has no 'params' before its input shape is known"):
        waiting.params  # noqa: B018
    assert copy.copy(waiting) == waiting
    assert not hasattr(waiting, "_repr_html_")
    assert waiting.build(PAIR) == ps.keras.MultiHeadAttention(2, 3, input_shape=PAIR)
    assert ps.keras.AdditiveAttention().build([(None, 3, 7), (None, 4, 7)]).params == 7


def test_arguments_of_every_keras_layer() -> None:
    """``name`` and ``dtype`` change nothing, ``trainable=False`` freezes; an unknown argument is named."""
    layer = ps.keras.MultiHeadAttention(2, 3, name="self", dtype="float32", input_shape=PAIR)
    assert layer == ps.keras.MultiHeadAttention(2, 3, input_shape=PAIR)
    frozen = ps.keras.MultiHeadAttention(2, 3, trainable=False, input_shape=PAIR)
    assert (frozen.trainable, frozen.params) == (0, layer.params)
    with pytest.raises(ArgumentError, match="has no argument 'head_dim'"):
        ps.keras.MultiHeadAttention(2, 3, head_dim=4, input_shape=PAIR)


@pytest.mark.parametrize(
    ("name", "arguments", "error", "words"),
    [
        ("MultiHeadAttention", {"num_heads": 0, "key_dim": 2, "input_shape": PAIR}, SizeError, "num_heads is 0"),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2.0, "input_shape": PAIR}, SizeError, "key_dim is 2.0"),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "value_dim": 0, "input_shape": PAIR}, SizeError, "value_dim is 0"),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "input_shape": (2, 3, 4)}, ArgumentError, "'query': ..., 'value': ..."),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "input_shape": {"query": (2, 3, 4)}}, ArgumentError, "has no 'value'"),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "input_shape": PAIR | {"mask": (2,)}}, ArgumentError, "has 'mask'"),
        (
            "MultiHeadAttention",
            {"num_heads": 2, "key_dim": 2, "input_shape": PAIR | {"key": (2, 9, 4)}},
            SizeError,
            "in their last axis only",
        ),
        (
            "MultiHeadAttention",
            {"num_heads": 2, "key_dim": 2, "input_shape": [(2, 3, None), (2, 3, 4)]},
            SizeError,
            "is None, but the weights",
        ),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "sliding_window": 0, "input_shape": PAIR}, SizeError, "sliding_window is 0"),
        (
            "MultiHeadAttention",
            {"num_heads": 2, "key_dim": 2, "flash_attention": True, "dropout": 0.1, "input_shape": PAIR},
            ArgumentError,
            "flash_attention does not support",
        ),
        (
            "GroupQueryAttention",
            {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 3, "input_shape": PAIR},
            DivisibilityError,
            "num_query_heads 4 is not divisible by num_key_value_heads 3",
        ),
        (
            "GroupQueryAttention",
            {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2, "input_shape": [(2, 3, 4, 5), (2, 3, 4, 5)]},
            ArgumentError,
            "has 4 axes; wanted 3",
        ),
        ("Attention", {"score_mode": "sum", "input_shape": [(2, 3, 4), (2, 3, 4)]}, ArgumentError, "wanted one of 'dot', 'concat'"),
        ("Attention", {"input_shape": [(2, 3, 4)]}, ArgumentError, "query, value, key"),
        ("AdditiveAttention", {"use_scale": 1, "input_shape": [(2, 3, 4), (2, 3, 4)]}, ArgumentError, "use_scale is 1"),
    ],
)
def test_wrong_input(name: str, arguments: dict[str, Any], error: type[ParamsymError], words: str) -> None:
    """One clear error when the layer is built."""
    with pytest.raises(error, match=words):
        getattr(ps.keras, name)(**arguments)
