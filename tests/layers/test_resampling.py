"""Upsampling, shuffling, folding against live torch."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported

import paramsym as ps
from paramsym import K
from paramsym.errors import ArgumentError, ShapeError, SizeError

EXAMPLES: dict[str, dict[str, Any]] = {
    "Upsample": {"scale_factor": 2, "mode": "bilinear", "align_corners": True},
    "UpsamplingNearest2d": {"size": (8, 9)},
    "UpsamplingBilinear2d": {"scale_factor": (2.0, 1.5)},
    "PixelShuffle": {"upscale_factor": 2},
    "PixelUnshuffle": {"downscale_factor": 2},
    "ChannelShuffle": {"groups": 2},
    "Unfold": {"kernel_size": (2, 3), "dilation": 2, "padding": 1, "stride": 2},
    "Fold": {"output_size": (4, 5), "kernel_size": 2, "dilation": 1, "padding": 0, "stride": 1},
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_torch(name: str) -> None:
    """One dict of arguments builds torch's layer and ours, and nothing is stored."""
    theirs, ours = getattr(imported("torch").nn, name), getattr(ps, name)
    assert_same_signature(ours, theirs)
    assert_same_as_torch(ours(**EXAMPLES[name]), lambda: theirs(**EXAMPLES[name]))
    assert eval(repr(ours(**EXAMPLES[name])), {name: ours}) == ours(**EXAMPLES[name])


def test_every_module_of_torch_is_here() -> None:
    """No module of torch's files is missing."""
    modules = imported("torch").nn.modules
    files = (modules.upsampling, modules.pixelshuffle, modules.channelshuffle, modules.fold)
    assert {name for file in files for name in file.__all__} == set(EXAMPLES)


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("Upsample", {}, ArgumentError, "exactly one"),
        ("Upsample", {"size": 2, "scale_factor": 2}, ArgumentError, "exactly one"),
        ("Upsample", {"scale_factor": -0.5}, ArgumentError, "positive"),
        ("Upsample", {"scale_factor": float("inf")}, ArgumentError, "positive"),
        ("Upsample", {"scale_factor": float("nan")}, ArgumentError, "positive"),
        ("Upsample", {"scale_factor": 0}, SizeError, "scale_factor is 0"),
        ("Upsample", {"size": 2, "mode": "cubic"}, ArgumentError, "mode is 'cubic'"),
        ("PixelShuffle", {"upscale_factor": 0}, SizeError, "upscale_factor is 0"),
        ("ChannelShuffle", {"groups": 0}, SizeError, "groups is 0"),
        ("Fold", {"output_size": 4, "kernel_size": 2, "padding": -1}, SizeError, "padding is -1"),
    ],
)
def test_what_cannot_be(name: str, options: dict[str, Any], error: type[Exception], words: str) -> None:
    """Sizes are sizes, and an output is given in one way."""
    with pytest.raises(error, match=words):
        getattr(ps, name)(**options)


def test_symbols() -> None:
    """Factors may be symbols."""
    assert ps.Upsample(scale_factor=(K, 2)).at(K=3) == ps.Upsample(scale_factor=(3, 2))
    assert ps.PixelShuffle(K).at(K=3) == ps.PixelShuffle(3)


@pytest.mark.parametrize(
    ("mode", "ranks"),
    [
        ("nearest", {1, 2, 3}),
        ("linear", {1}),
        ("bilinear", {2}),
        ("bicubic", {2}),
        ("trilinear", {3}),
        ("lanczos3", {2}),
        ("lanczos5", {2}),
    ],
)
def test_a_mode_belongs_to_its_axes(mode: str, ranks: set[int]) -> None:
    """Torch's linear modes are for as many axes as their names say; Keras' other modes are for images."""
    layer = ps.Upsample(scale_factor=2, mode=mode)  # type: ignore[arg-type]
    for rank in (1, 2, 3):
        given = (1, 5, *[3] * rank)
        if rank in ranks:
            assert layer.output_shape(given) == (1, 5, *[6] * rank)
        else:
            with pytest.raises(ShapeError, match=f"wants {' or '.join(str(rank + 2) for rank in ranks)} axes"):
                layer.output_shape(given)


def test_an_axis_that_is_not_known() -> None:
    """A shuffle doubles the one that is, and leaves the other open."""
    assert ps.PixelShuffle(2).output_shape((1, 8, None, 4)) == (1, 2, None, 8)
