"""Pooling of every kind against live torch: by windows, in random steps, to a wanted extent, and undone."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import K
from paramsym.errors import ArgumentError, ShapeError, SizeError

TORCH = [
    *(
        f"{kind}{rank}d"
        for kind in ("MaxPool", "AvgPool", "LPPool", "MaxUnpool", "AdaptiveAvgPool", "AdaptiveMaxPool")
        for rank in (1, 2, 3)
    ),
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
]
EXAMPLES: dict[str, dict[str, Any]] = {
    "MaxPool": {"kernel_size": 3, "stride": 2, "padding": 1, "dilation": 2, "return_indices": True, "ceil_mode": True},
    "AvgPool": {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False},
    "LPPool": {"norm_type": 1.5, "kernel_size": 3, "stride": 2, "ceil_mode": True},
    "MaxUnpool": {"kernel_size": 3, "stride": 2, "padding": 1},
    "AdaptiveAvgPool": {"output_size": 3},
    "AdaptiveMaxPool": {"output_size": 3, "return_indices": True},
    "FractionalMaxPool": {"kernel_size": 3, "output_ratio": 0.5, "return_indices": True},
}


@pytest.mark.parametrize("name", TORCH)
def test_torch(name: str) -> None:
    """One dict of arguments builds torch's layer and ours, and nothing is stored."""
    theirs, ours = getattr(imported("torch").nn, name), getattr(ps, name)
    options = EXAMPLES[name[:-2]]
    assert_same_signature(ours, theirs)
    assert_same_as_torch(ours(**options), lambda: theirs(**options))
    assert eval(repr(ours(**options)), {name: ours}) == ours(**options)
    assert pickle.loads(pickle.dumps(ours(**options))) == ours(**options)


@pytest.mark.parametrize("name", TORCH)
def test_one_number_per_axis(name: str) -> None:
    """A tuple has one entry per spatial axis; a list will do."""
    ours, rank = getattr(ps, name), int(name[-2])
    options = EXAMPLES[name[:-2]]
    argument = "output_size" if name.startswith("Adaptive") else "kernel_size"
    assert ours(**options | {argument: [3] * rank}) == ours(**options | {argument: (3,) * rank})
    with pytest.raises(ArgumentError, match=argument):
        ours(**options | {argument: (3,) * (rank + 1)})
    with pytest.raises(SizeError, match=argument):
        ours(**options | {argument: 0})


def test_every_pooling_of_torch_is_here() -> None:
    """No module of torch's file is missing."""
    assert sorted(imported("torch").nn.modules.pooling.__all__) == sorted(TORCH)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(0, 5), st.integers(1, 3))
def test_padding_of_more_than_half_a_window(kernel: int, padding: int, dilation: int) -> None:
    """What torch refuses when it pools is refused when the layer is built."""
    torch = imported("torch")
    try:
        torch.nn.MaxPool1d(kernel, padding=padding, dilation=dilation)(torch.zeros(1, 1, 64))
    except RuntimeError:
        with pytest.raises(SizeError, match=f"padding {padding} is more than half"):
            ps.MaxPool1d(kernel, padding=padding, dilation=dilation)
    else:
        ps.MaxPool1d(kernel, padding=padding, dilation=dilation)
    try:
        torch.nn.AvgPool2d(kernel, padding=padding)(torch.zeros(1, 1, 64, 64))
    except RuntimeError:
        with pytest.raises(SizeError, match=f"padding {padding} is more than half"):
            ps.AvgPool2d(kernel, padding=padding)
    else:
        ps.AvgPool2d(kernel, padding=padding)


def test_symbols() -> None:
    """A window in symbols is checked once numbers arrive."""
    pool = ps.MaxPool2d(K, padding=2)
    assert pool.at(K=5) == ps.MaxPool2d(5, padding=2)
    with pytest.raises(SizeError, match="more than half"):
        pool.at(K=3)


@pytest.mark.parametrize("options", [{}, {"output_size": 2, "output_ratio": 0.5}, {"output_ratio": 1.5}, {"output_ratio": 0.0}])
@pytest.mark.parametrize("name", ["FractionalMaxPool2d", "FractionalMaxPool3d"])
def test_fractional(name: str, options: dict[str, Any]) -> None:
    """A fractional pooling has a size or a ratio, not both, and ratios lie between 0 and 1; torch refuses the same."""
    theirs = getattr(imported("torch").nn, name)
    with pytest.raises(ValueError, match=r"output.size|output.ratio|output_size"):
        theirs(2, **options)
    with pytest.raises(ArgumentError, match="output_"):
        getattr(ps, name)(2, **options)
    with pytest.raises(ArgumentError, match="output_ratio"):
        getattr(ps, name)(2, output_ratio=(0.5,) * 4)


def test_adaptive_keeps_an_extent() -> None:
    """None keeps the input's extent."""
    nn = imported("torch").nn
    assert_same_as_torch(ps.AdaptiveAvgPool2d((None, 7)), lambda: nn.AdaptiveAvgPool2d((None, 7)))


def test_keras_words() -> None:
    """Keras' words for padding are taken, others are not."""
    assert ps.MaxPool2d(2, padding="same").params == 0
    with pytest.raises(ArgumentError, match="'causal'"):
        ps.MaxPool2d(2, padding="causal")  # type: ignore[arg-type]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Avg", "Max"])
def test_adaptive_pooling_gives_what_is_asked(kind: str, rank: int) -> None:
    """As many entries per spatial axis as are wanted, with a batch or without; other numbers of axes are refused."""
    layer = getattr(ps, f"Adaptive{kind}Pool{rank}d")(2)
    assert layer.output_shape((4, 3, *[5] * rank)) == (4, 3, *[2] * rank)
    assert layer.output_shape((3, *[5] * rank)) == (3, *[2] * rank)
    for axes in (rank, rank + 3):
        with pytest.raises(ShapeError):
            layer.output_shape((5,) * axes)


@pytest.mark.parametrize("ratio", [0.0, 1.0, 1.5])
def test_a_ratio_is_between_0_and_1(ratio: float) -> None:
    """torch: output_ratio must be between 0 and 1, both excluded."""
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        ps.FractionalMaxPool2d(2, output_ratio=ratio)
    assert ps.FractionalMaxPool2d(2, output_ratio=0.5).output_shape((1, 1, 8, 8)) == (1, 1, 4, 4)


def test_keras_pools_batches() -> None:
    """A padding in Keras' words makes it Keras' layer, which takes no input without a batch; torch's does."""
    assert ps.MaxPool2d(2, padding="same").output_shape((1, 3, 5, 5)) == (1, 3, 3, 3)
    with pytest.raises(ShapeError):
        ps.MaxPool2d(2, padding="same").output_shape((3, 5, 5))
    assert ps.MaxPool2d(2).output_shape((3, 5, 5)) == (3, 2, 2)


@pytest.mark.parametrize(("kernel", "step", "extent"), [(1, 2, 5), (1, 3, 5), (1, 3, 6), (3, 2, 5)])
def test_keras_leaves_even_padding_to_torch(kernel: int, step: int, extent: int) -> None:
    """What "same" adds to each axis, none too, is even here, so torch sees volumes smaller than the window, and refuses them (Keras 3.15).

    An odd padding Keras makes itself, before torch looks.
    """
    window, stride = (3, kernel, kernel), (1, step, step)
    with pytest.raises(ShapeError, match="smaller than the window"):
        ps.AvgPool3d(window, stride, "same").output_shape((1, 2, 1, extent, extent))
    assert ps.AvgPool3d(window, stride, "same").output_shape((1, 2, 4, extent, extent))[:3] == (1, 2, 4)
    assert ps.AvgPool3d((3, 2, 2), (1, 2, 2), "same").output_shape((1, 2, 1, 5, 5)) == (1, 2, 1, 3, 3)


def test_what_is_pooled_over_everything() -> None:
    """Keras: the spatial axes go, or stay as ones."""
    assert ps.GlobalAvgPool(2).output_shape((2, 3, 5, 6)) == (2, 3)
    assert ps.GlobalMaxPool(2, keepdims=True, data_format="channels_last").output_shape((2, 5, 6, 3)) == (2, 1, 1, 3)
