"""Convolutions, depthwise and separable ones, through the Keras door against live Keras."""

from __future__ import annotations

from inspect import signature
from itertools import count
from typing import Any

import pytest
from frameworks import entries, imported, keras_weights
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym.errors import ParamsymError

FULL = ["Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]
SEPARATE = ["DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"]


@st.composite
def keras_arguments(draw: st.DrawFn, name: str) -> tuple[dict[str, Any], list[int | None]]:
    """Draw arguments and an input shape that Keras takes."""
    rank = int(name[name.index("D") - 1] if not name.startswith("Depth") else name[-2])
    first = draw(st.booleans())

    def each(low: int, high: int) -> Any:
        one = st.integers(low, high)
        return draw(one | st.tuples(*[one] * rank) | st.lists(one, min_size=rank, max_size=rank))

    groups = draw(st.integers(1, 3)) if name in FULL[:3] else 1
    named: dict[str, Any] = {
        "kernel_size": each(1, 3),
        "padding": draw(st.sampled_from(["valid", "same", "SAME", *(["causal"] if name == "Conv1D" else [])])),
        "use_bias": draw(st.booleans()),
        "data_format": "channels_first" if first else draw(st.sampled_from([None, "channels_last"])),
        draw(st.sampled_from(["strides", "dilation_rate"])): each(1, 2),
    }
    if not name.startswith("Depth"):
        named["filters"] = groups * draw(st.integers(1, 4))
    if groups > 1:
        named["groups"] = groups
    if name in SEPARATE:
        named["depth_multiplier"] = draw(st.integers(1, 3))
    if draw(st.booleans()):
        named["trainable"] = draw(st.booleans())
    if name in FULL[:3] and draw(st.booleans()):
        named["lora_rank"] = draw(st.integers(1, 3))
        named.pop("trainable", None)
    channels = groups * draw(st.integers(1, 4))
    spatial: list[int | None] = [draw(st.sampled_from([None, 5, 6, 9])) for _ in range(rank)]
    return named, [None, channels, *spatial] if first else [None, *spatial, channels]


@pytest.mark.parametrize("name", FULL + SEPARATE)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_live(name: str, data: st.DataObject) -> None:
    """Names, shapes, order, trainable or not, for the same arguments and the same input shape."""
    layers = imported("keras").layers
    named, shape = data.draw(keras_arguments(name))
    theirs = keras_weights(getattr(layers, name)(**named), tuple(shape))
    assert entries(getattr(ps.keras, name)(**named, input_shape=shape)) == theirs
    assert entries(getattr(ps.keras, name)(**named).build(shape)) == theirs


@pytest.mark.parametrize("name", FULL + SEPARATE)
def test_kerass_signature(name: str) -> None:
    """Same arguments in the same order with the same defaults."""
    layers = imported("keras").layers
    theirs = [(p.name, p.default) for p in signature(getattr(layers, name).__init__).parameters.values()][1:-1]
    ours = [(p.name, p.default) for p in signature(getattr(ps.keras, name)).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert ours == theirs


@pytest.mark.parametrize(
    ("name", "named", "shape"),
    [
        ("Conv2D", {"filters": 4, "kernel_size": 3, "groups": 3}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 6, "kernel_size": 3, "groups": 3}, (None, 8, 8, 4)),
        ("Conv2D", {"filters": 0, "kernel_size": 3}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": -4, "kernel_size": 3}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 0}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": (3,)}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "strides": 0}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "strides": (2, 2, 2)}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "strides": 2, "dilation_rate": 2}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "padding": "causal"}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "data_format": "last"}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3}, (None, 8, 8)),
        ("Conv2D", {"filters": 4, "kernel_size": 9}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 5, "dilation_rate": 2}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3}, (None, 8, 8, None)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "kernels": 2}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "activation": "bent"}, (None, 8, 8, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "trainable": 1}, (None, 8, 8, 3)),
        ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "output_padding": 1}, (None, 8, 8, 3)),
        ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "groups": 2}, (None, 8, 8, 4)),
        ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "lora_rank": 2}, (None, 8, 8, 4)),
        ("DepthwiseConv2D", {"kernel_size": 3, "depth_multiplier": 0}, (None, 8, 8, 4)),
        ("DepthwiseConv2D", {"kernel_size": 3}, (None, 2, 8, 4)),
        ("SeparableConv2D", {"filters": 0, "kernel_size": 3}, (None, 8, 8, 4)),
        ("SeparableConv1D", {"filters": 4, "kernel_size": 3, "padding": "causal"}, (None, 8, 4)),
    ],
    ids=count(),
)
def test_what_keras_refuses(name: str, named: dict[str, Any], shape: tuple[int | None, ...]) -> None:
    """Where Keras raises, we raise one error of our own."""
    layers = imported("keras").layers
    with pytest.raises((ValueError, TypeError)):
        getattr(layers, name)(**named).build(shape)
    with pytest.raises(ParamsymError):
        getattr(ps.keras, name)(**named, input_shape=shape)


def test_low_rank_factors() -> None:
    """They cost r*(k*k*c + f), and beside them only the bias is trained; a constraint excludes them, in Keras as well."""
    C, F, K, R = ps.C, ps.F, ps.K, ps.R
    plain, adapted = (ps.keras.Conv2D(F, K, lora_rank=rank, input_shape=(None, 8, 8, C)) for rank in (None, R))
    assert (adapted.params - plain.params).expand() == (R * (C * K**2 + F)).expand()
    assert adapted.trainable == (R * (C * K**2 + F) + F).expand()
    with pytest.raises(ParamsymError, match="not both"):
        ps.keras.Conv1D(4, 3, kernel_constraint="non_neg", lora_rank=2, input_shape=(None, 8, 3))


def test_same_value_as_the_layer() -> None:
    """The door and the layer give equal values; sizes may be symbols."""
    C, F, K = ps.C, ps.F, ps.K
    assert ps.keras.Conv2D(F, K, input_shape=(None, None, None, C)).shapes() == ps.Conv2d(C, F, K, dialect="keras").shapes()
    assert ps.keras.Conv2D(F, K, input_shape=(None, 8, 8, C)).params == C * F * K**2 + F
    assert ps.keras.SeparableConv1D(4, 3, input_shape=(None, 9, 5)) == ps.SeparableConv1d(5, 4, 3, padding="valid", dialect="keras")
