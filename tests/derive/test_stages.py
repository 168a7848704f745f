"""Copies in stages whose lengths are arguments, and an own kind in every k-th copy, against the builds themselves."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import pytest
from amount import cases
from derive.drawn import drawn
from derive.factories import Shapes, conv, linear, norm

import paramsym as ps
from paramsym.errors import NoLawError


def mobile(settings: tuple[tuple[int, int, int], ...] = ((3, 16, 2), (6, 24, 3)), stem: int = 20) -> Shapes:
    """MobileNetV2's features: one list of layers, of which each stage has its expansion, channels and repeats."""
    found: Shapes = {"features.0.first": (stem, 3)}
    place, inside = 1, stem
    for expand, channels, repeats in settings:
        for _ in range(repeats):
            if expand != 1:
                found[f"features.{place}.expand"] = (expand * inside, inside)
            found[f"features.{place}.project"] = (channels, expand * inside)
            place, inside = place + 1, channels
    return found | {f"features.{place}.last": (10, inside)}


def vgg(repeats: tuple[int, ...] = (1, 2), widths: tuple[int, ...] = (16, 24)) -> Shapes:
    """Convolutions, norms, activations and poolings in one list, of which the last two store nothing."""
    found: Shapes = {}
    place, inside = 0, 3
    for number, width in zip(repeats, widths, strict=True):
        for _ in range(number):
            found |= conv(f"features.{place}", inside, width, 3) | {f"features.{place + 1}.weight": (width,)}
            place, inside = place + 3, width
        place += 1
    return found


def flat_unet(base: int = 8, blocks: int = 2, classes: int = 5) -> Shapes:
    """The input blocks of a diffusion model in one list: blocks of a level, then one that halves the picture."""
    found, place, inside = conv("blocks.0", 3, base, 3), 1, base
    for level, factor in enumerate((1, 2, 3)):
        for _ in range(blocks):
            found |= conv(f"blocks.{place}.conv", inside, factor * base, 3)
            found |= linear(f"blocks.{place}.attention", factor * base, classes) if level == 1 else {}
            place, inside = place + 1, factor * base
        if level < 2:
            found |= conv(f"blocks.{place}.down", inside, inside, 3)
            place += 1
    return found


def skip_in_the_middle(depth: int = 8, width: int = 20, inputs: int = 6) -> Shapes:
    """NeRF: the inputs are seen again in the middle."""
    return {f"l.{i}.w": (width, inputs if i == 0 else width + inputs * (i == depth // 2)) for i in range(depth)}


def sparse(layers: int = 6, every: int = 2, width: int = 16, experts: int = 3) -> Shapes:
    """A mixture of experts in every k-th layer, from the first one on."""
    found: Shapes = {}
    for i in range(layers):
        found |= linear(f"layers.{i}.attention", width, width)
        names = [f"experts.{e}" for e in range(experts)] if i % every == 0 else ["dense"]
        for name in names:
            found |= linear(f"layers.{i}.{name}", width, 4 * width)
    return found


def hybrid(layers: int = 8, interval: int = 4, width: int = 16) -> Shapes:
    """Full attention in the last of each few layers, linear attention in the others."""
    return {
        f"h.{i}.{'full' if (i + 1) % interval == 0 else 'linear'}.w": (width, 3 if (i + 1) % interval == 0 else 2) for i in range(layers)
    }


def gated(depth: int = 6, every: int = 3, offset: int = 1, width: int = 16) -> Shapes:
    """One more tensor of the same name in every k-th layer after an offset."""
    assert offset < every
    return {f"l.{i}.{j}.w": (width, j + 2) for i in range(depth) for j in range(2 if i % every == offset else 1)}


def adapters(layers: int = 6, every: int = 2, width: int = 16) -> Shapes:
    """One adapter at every k-th layer, named by the number of its layer."""
    return {f"layer_{i}.w": (width, 3) for i in range(layers)} | {f"adapter_{i}.w": (width, 4) for i in range(0, layers, every)}


def patch_gan(channels: int = 3, width: int = 16, down: int = 3) -> Shapes:
    """A first convolution, pairs of a convolution and a normalisation that double the channels, and a last one whose number follows."""
    found, inside = conv("0", channels, width, 4), width
    for i in range(down):
        found |= conv(f"{3 * i + 2}", inside, 2 * inside, 4, bias=False) | norm(f"{3 * i + 3}", 2 * inside)
        inside *= 2
    return found | conv(f"{3 * down + 2}", inside, 1, 4)


def radiance_field(depth: int = 8, width: int = 32, inputs: int = 63) -> Shapes:
    """The inputs again after half of the layers; with fewer than three layers nowhere."""
    found = linear("layers.0", inputs, width)
    for i in range(depth - 1):
        found |= linear(f"layers.{i + 1}", width + inputs if i == depth // 2 else width, width)
    return found


BUILDS = (patch_gan, radiance_field, mobile, vgg, flat_unet, skip_in_the_middle, sparse, hybrid, gated, adapters)
COUNTS = {
    "down",
    "repeats_0",
    "repeats_1",
    "blocks",
    "depth",
    "layers",
    "every",
    "interval",
    "offset",
    "experts",
    "settings_0_2",
    "settings_1_2",
}


@cases(2)
@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
def test_the_form_is_the_build(build: Callable[..., Shapes]) -> None:
    """Every tensor, in order, and the count."""
    form = ps.derive(build, tests=60, seconds=60)
    for sized, wanted in drawn(form, build, 8, COUNTS):
        assert sized.shapes() == wanted
        assert sized.count == sum(map(prod, wanted.values()))


def test_the_places_of_every_kth_copy_are_tested_only() -> None:
    """They follow a remainder, which no degree bounds; the count has a closed form that also code and tables take."""
    form = ps.derive(hybrid, tests=60)
    assert str(form.params) == "2*layers*width + width*floor(layers/interval)"
    assert form.certificate.stepping == ("h.{}",)
    assert "h.{interval-1,2*interval-1..}.full.w" in str(form.table())
    assert [ps.evaluate(form, layers=n, interval=3, width=5) for n in (2, 3, 8)] == [
        sum(map(prod, hybrid(n, 3, 5).values())) for n in (2, 3, 8)
    ]


@cases(0)
def test_one_stage_that_is_another_kind_is_left_out() -> None:
    """A first stage without expansion is another kind: as a start it must be held, and the form excludes other such stages."""
    usual = ((1, 16, 2), (6, 24, 3))
    with pytest.raises(NoLawError, match=r"held=\{'settings_0_0': 1\}"):
        ps.derive(mobile, settings=usual, tests=60)
    form = ps.derive(mobile, settings=usual, held={"settings_0_0": 1}, tests=60)
    assert form.certificate.demands == ("2 <= settings_1_0",)
    sized = form.at(settings_0_1=5, settings_0_2=3, settings_1_0=4, settings_1_1=7, settings_1_2=2, stem=6)
    assert sized.shapes() == mobile(((1, 5, 3), (4, 7, 2)), 6)
