"""Pooling, padding, resampling and reshaping compute what torch computes, on random settings."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from frameworks import imported, only_with
from running import assert_runs_as_torch

import paramsym as ps
from paramsym.errors import NotYetError

only_with("numpy", "torch")

NOT_RUN = {
    "FractionalMaxPool2d": "torch draws the windows at random in evaluation mode too",
    "FractionalMaxPool3d": "likewise",
}
"""The layers of these files that cannot be run, and why."""


class Draw:
    """Random settings for layers over ``rank`` spatial axes."""

    def __init__(self, random: Random, rank: int) -> None:
        """Keep the source and the rank."""
        self.random, self.rank = random, rank

    def each(self, least: int, most: int) -> tuple[int, ...]:
        """One number per axis."""
        return tuple(self.random.randint(least, most) for _ in range(self.rank))

    def flag(self) -> bool:
        """True or False."""
        return self.random.random() < 0.5

    def one_of(self, *options: Any) -> Any:
        """One of some options."""
        return self.random.choice(options)

    def windows(self) -> dict[str, Any]:
        """Windows, their steps and margins of at most half a window."""
        kernel = self.each(1, 4)
        padding = tuple(self.random.randint(0, size // 2) for size in kernel)
        return {"kernel_size": kernel, "stride": self.one_of(None, self.each(1, 3)), "padding": padding, "ceil_mode": self.flag()}

    def image(self, channels: int = 3, least: int = 4, *, batched: bool = False) -> Any:
        """An array with or without a batch."""
        lead = (2,) if batched or self.random.random() < 0.7 else ()
        return imported("torch").randn(*lead, channels, *self.each(least, 8), dtype=imported("torch").float64)


def max_pool(draw: Draw) -> tuple[dict[str, Any], Any]:
    """Gaps, and where the maxima are."""
    return draw.windows() | {"dilation": draw.each(1, 2), "return_indices": draw.flag()}, draw.image(least=5)


def avg_pool(draw: Draw) -> tuple[dict[str, Any], Any]:
    """With and without the padding, or another divisor."""
    divisor = {"divisor_override": draw.one_of(None, None, 3)} if draw.rank > 1 else {}
    return draw.windows() | {"count_include_pad": draw.flag()} | divisor, draw.image()


def lp_pool(draw: Draw) -> tuple[dict[str, Any], Any]:
    """Powers; torch takes one number for one axis."""
    settings = draw.windows()
    del settings["padding"]
    if draw.rank == 1:
        settings |= {name: settings[name][0] for name in ("kernel_size", "stride") if settings[name]}
    return settings | {"norm_type": draw.one_of(1.0, 2.0, 3.0, 1.5, 2)}, draw.image().abs()


def adaptive_pool(draw: Draw, **more: Any) -> tuple[dict[str, Any], Any]:
    """An extent for all axes or one for each, None for the input's."""
    each = tuple(draw.one_of(1, 2, 3, 4, None) for _ in range(draw.rank)) if draw.rank > 1 else draw.random.randint(1, 5)
    return {"output_size": draw.one_of(each, each, 1)} | more, draw.image()


def max_unpool(draw: Draw) -> tuple[dict[str, Any], Any]:
    """The maxima of a pooling whose windows tile the input."""
    torch, kernel = imported("torch"), draw.each(1, 3)
    extents = (size * count for size, count in zip(kernel, draw.each(1, 3), strict=True))
    image = torch.randn(2, 3, *extents, dtype=torch.float64)
    return {"kernel_size": kernel}, getattr(torch.nn, f"MaxPool{draw.rank}d")(kernel, return_indices=True)(image)


def margins(draw: Draw, **more: Any) -> tuple[dict[str, Any], Any]:
    """Margins of every side, or one for all; those below zero cut."""
    sides = tuple(draw.random.randint(-1, 3) for _ in range(2 * draw.rank))
    return {"padding": draw.one_of(sides, sides, draw.random.randint(0, 3))} | more, draw.image()


def upsample(draw: Draw) -> tuple[dict[str, Any], Any]:
    """Every mode of that many axes, to a size or by a factor."""
    linear = ("linear", "bilinear", "trilinear")[draw.rank - 1]
    mode = draw.one_of("nearest", "nearest-exact", "area", linear, linear, *(("bicubic",) * 3 if draw.rank == 2 else ()))
    settings: dict[str, Any] = {"mode": mode}
    if draw.flag():
        settings["size"] = draw.one_of(draw.each(1, 12), draw.random.randint(1, 9))
    else:
        factors = tuple(draw.one_of(0.4, 0.5, 1.3, 1.5, 2, 2.6, 3) for _ in range(draw.rank))
        settings |= {"scale_factor": draw.one_of(factors, factors[0]), "recompute_scale_factor": draw.one_of(None, True)}
    if mode in {linear, "bicubic"}:
        settings["align_corners"] = draw.flag()
    return settings, draw.image(least=3, batched=True)


def by_two(draw: Draw) -> tuple[dict[str, Any], Any]:
    """To a size or by a factor."""
    return draw.one_of({"size": draw.each(1, 12)}, {"scale_factor": draw.one_of(2, 1.5, 0.6)}), draw.image(batched=True)


def pixels(draw: Draw, name: str) -> tuple[dict[str, Any], Any]:
    """Any axes in front, lengths and channels that the factor divides."""
    torch, factor = imported("torch"), draw.random.randint(1, 3)
    lead = (2, 3)[: draw.random.randint(0, 2)]
    channels, factors = (2 * factor**2, 1) if name == "upscale_factor" else (2, factor)
    return {name: factor}, torch.randn(*lead, channels, 3 * factors, 2 * factors, dtype=torch.float64)


def channel_shuffle(draw: Draw) -> tuple[dict[str, Any], Any]:
    """Groups of channels."""
    groups = draw.random.randint(1, 4)
    return {"groups": groups}, draw.image(3 * groups, batched=True)


def unfold(draw: Draw) -> tuple[dict[str, Any], Any]:
    """Windows with gaps."""
    names = {"kernel_size": 3, "dilation": 2, "stride": 3}
    return {name: draw.each(1, most) for name, most in names.items()} | {"padding": draw.each(0, 2)}, draw.image(least=5)


def fold(draw: Draw) -> tuple[dict[str, Any], Any]:
    """As many columns as the output has windows."""
    settings, image = unfold(draw)
    return settings | {"output_size": tuple(image.shape[-2:])}, imported("torch").nn.Unfold(**settings)(image)


def flatten(draw: Draw) -> tuple[dict[str, Any], Any]:
    """From any axis to any later one."""
    start = draw.random.randint(0, 3)
    return {"start_dim": start - draw.one_of(0, 4), "end_dim": draw.random.randint(start, 3)}, draw.image(batched=True)


def unflatten(draw: Draw) -> tuple[dict[str, Any], Any]:
    """The channels in several axes."""
    return {"dim": draw.one_of(1, -3), "unflattened_size": draw.one_of((2, 6), (-1, 3), (2, -1, 2), (12,))}, draw.image(12, batched=True)


OVER_AXES: dict[str, Callable[[Draw], tuple[dict[str, Any], Any]]] = {
    "MaxPool": max_pool,
    "AvgPool": avg_pool,
    "LPPool": lp_pool,
    "AdaptiveAvgPool": adaptive_pool,
    "AdaptiveMaxPool": lambda draw: adaptive_pool(draw, return_indices=draw.flag()),
    "MaxUnpool": max_unpool,
    "ZeroPad": margins,
    "ConstantPad": lambda draw: margins(draw, value=draw.random.random()),
    "ReflectionPad": margins,
    "ReplicationPad": margins,
    "CircularPad": margins,
}
OVER_IMAGES: dict[str, Callable[[Draw], tuple[dict[str, Any], Any]]] = {
    "UpsamplingNearest2d": by_two,
    "UpsamplingBilinear2d": by_two,
    "PixelShuffle": lambda draw: pixels(draw, "upscale_factor"),
    "PixelUnshuffle": lambda draw: pixels(draw, "downscale_factor"),
    "ChannelShuffle": channel_shuffle,
    "Unfold": unfold,
    "Fold": fold,
    "Flatten": flatten,
    "Unflatten": unflatten,
    "Identity": lambda draw: ({}, draw.image()),
}
CASES = [
    *((f"{kind}{rank}d", rank, draw) for kind, draw in OVER_AXES.items() for rank in (1, 2, 3)),
    *((name, 2, draw) for name, draw in OVER_IMAGES.items()),
    *(("Upsample", rank, upsample) for rank in (1, 2, 3)),
]


@pytest.mark.filterwarnings("ignore:.*recompute_scale_factor")
@pytest.mark.parametrize(("name", "rank", "drawn"), CASES, ids=[f"{name}-{rank}" for name, rank, _ in CASES])
def test_torch(name: str, rank: int, drawn: Callable[[Draw], tuple[dict[str, Any], Any]]) -> None:
    """Thirty random settings each, with and without a batch."""
    draw, runs = Draw(Random(rank), rank), 0
    while runs < 30:
        settings, inputs = drawn(draw)
        arrays = inputs if isinstance(inputs, tuple) else (inputs,)
        module = getattr(imported("torch").nn, name)(**settings)
        try:
            module(*arrays)
        except RuntimeError:
            continue  # windows that do not fit
        assert_runs_as_torch(getattr(ps, name)(**settings), module, *arrays)
        runs += 1


def test_every_layer_is_run() -> None:
    """All modules of torch's files are among those that run, or their reason stands above."""
    modules = imported("torch").nn.modules
    files = (
        modules.pooling,
        modules.padding,
        modules.upsampling,
        modules.pixelshuffle,
        modules.channelshuffle,
        modules.fold,
        modules.flatten,
    )
    assert {name for file in files for name in file.__all__} == {name for name, _, _ in CASES} - {"Identity"} | NOT_RUN.keys()
    for name in NOT_RUN:
        layer = getattr(ps, name)(2, output_ratio=0.5)
        with pytest.raises(NotYetError, match="at random"):
            ps.run(layer, {}, imported("numpy").ones((1, 2, *(6,) * layer.rank)))
