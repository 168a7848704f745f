"""Depthwise and separable convolutions against live torch and the paper's ratio."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from frameworks import imported, on_meta
from hypothesis import given, settings, strategies as st
from sympy import Rational, simplify

import paramsym as ps
from paramsym import C, F, K
from paramsym.errors import ArgumentError, ShapeError

m = ps.dims("m")
RANKS = [1, 2, 3]


@pytest.mark.parametrize("rank", RANKS)
@settings(max_examples=12, deadline=None)
@given(channels=st.integers(1, 6), multiplier=st.integers(1, 4), kernel=st.integers(1, 4), bias=st.booleans())
def test_a_depthwise_convolution_is_torchs_with_a_group_per_channel(
    rank: int, channels: int, multiplier: int, kernel: int, *, bias: bool
) -> None:
    """The storage is that of ``Conv2d(in, in*multiplier, kernel, groups=in)``."""
    nn = imported("torch").nn
    theirs = on_meta(lambda: getattr(nn, f"Conv{rank}d")(channels, channels * multiplier, kernel, groups=channels, bias=bias))
    ours = getattr(ps, f"DepthwiseConv{rank}d")(channels, kernel, multiplier, bias=bias)
    assert list(ours.shapes().items()) == [(name, tuple(tensor.shape)) for name, tensor in theirs.state_dict().items()]


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("multiplier", [1, 3])
def test_a_separable_convolution_is_two_of_torchs(rank: int, multiplier: int) -> None:
    """One group per channel without bias, then kernel size 1 with one."""
    nn = imported("torch").nn
    conv = getattr(nn, f"Conv{rank}d")
    theirs = on_meta(
        lambda: nn.ModuleDict(
            {
                "depthwise": conv(4, 4 * multiplier, 3, stride=2, groups=4, bias=False),
                "pointwise": conv(4 * multiplier, 6, 1),
            }
        )
    )
    ours = getattr(ps, f"SeparableConv{rank}d")(4, 6, 3, stride=2, depth_multiplier=multiplier)
    assert list(ours.shapes().items()) == [(name, tuple(tensor.shape)) for name, tensor in theirs.state_dict().items()]


def test_the_papers_ratio() -> None:
    """Howard et al. 2017, section 3.1: separable costs 1/N + 1/D_K**2 of a full convolution's weights."""
    separable = ps.SeparableConv2d(C, F, K, bias=False).params
    assert simplify(separable / ps.Conv2d(C, F, K, bias=False).params - (1 / F + Rational(1) / K**2)) == 0


@pytest.mark.parametrize("rank", RANKS)
def test_both_dialects_hold_as_many(rank: int) -> None:
    """Keras stores the same numbers in another order."""
    for name in ("DepthwiseConv", "SeparableConv"):
        given_ = (C, K) if name == "DepthwiseConv" else (C, F, K)
        torch, keras = (getattr(ps, f"{name}{rank}d")(*given_, depth_multiplier=m, dialect=dialect) for dialect in ("torch", "keras"))
        assert torch.params == keras.params
        assert torch.at(C=3, K=2, m=2).params == keras.at(C=3, K=2, m=2).params
        assert eval(repr(keras), {type(keras).__name__: type(keras), "C": C, "F": F, "K": K, "m": m}) == keras


def test_a_bias_between_the_steps() -> None:
    """One for every channel and multiplier, where it is asked for."""
    with_bias, without = (ps.SeparableConv2d(C, F, K, depth_multiplier=m, depthwise_bias=flag) for flag in (True, False))
    assert with_bias.params - without.params == C * m


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: ps.DepthwiseConv2d(3, 3, stride=2, padding="same"), "no 'same' for strided"),
        (lambda: ps.SeparableConv2d(3, 4, 3, stride=2, padding="same"), "no 'same' for strided"),
        (lambda: ps.DepthwiseConv2d(3, (3, 3, 3)), "tuple of 2"),
        (lambda: ps.SeparableConv1d(3, 4, 3, dilation=(1, 1)), "tuple of 1"),
        (lambda: ps.SeparableConv1d(3, 4, 3, padding=(1, 1)), "tuple of 1"),
        (lambda: ps.SeparableConv2d(3, 4, 3, depthwise_bias=True, dialect="keras"), "one bias"),
        (lambda: ps.DepthwiseConv2d(3, 3, padding_mode="reflect", dialect="keras"), "pad with zeros"),
    ],
    ids=count(),
)
def test_errors(build: Any, words: str) -> None:
    """What was found, and what is wanted."""
    with pytest.raises(ArgumentError, match=words):
        build()


@pytest.mark.parametrize("name", ["DepthwiseConv2d", "SeparableConv2d"])
def test_keras_filters_batches(name: str) -> None:
    """Keras' convolutions take no input without a batch; torch's do."""
    arguments = (3, 2) if name.startswith("Depthwise") else (3, 4, 2)
    out = 3 if name.startswith("Depthwise") else 4
    keras, torch = getattr(ps, name)(*arguments, dialect="keras"), getattr(ps, name)(*arguments)
    assert keras.output_shape((7, 5, 5, 3)) == (7, 4, 4, out)
    with pytest.raises(ShapeError):
        keras.output_shape((5, 5, 3))
    assert torch.output_shape((3, 5, 5)) == (out, 4, 4)
    first = getattr(ps, name)(*arguments, dialect="keras", data_format="channels_first")
    assert first.output_shape((7, 3, 5, 5)) == (7, out, 4, 4)
    with pytest.raises(ShapeError):
        first.output_shape((3, 5, 5))


def test_the_depthwise_step_pads_as_it_is_told() -> None:
    """torch: "Padding size should be less than the corresponding input dimension" where it mirrors; zeros go without end."""
    assert ps.SeparableConv1d(3, 4, 3, padding=2).output_shape((1, 3, 2)) == (1, 4, 4)
    depthwise, _ = ps.SeparableConv1d(3, 4, 3, padding=2, padding_mode="reflect").own_parts
    assert depthwise.layer.padding_mode == "reflect"
    with pytest.raises(ShapeError, match="must be smaller than the input, which has 2"):
        depthwise.layer.output_shape((1, 3, 2))
