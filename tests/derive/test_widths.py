"""Widths that are halved, bounded or rounded, against the builds themselves."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import pytest
from amount import cases
from derive.drawn import drawn
from derive.factories import Shapes

import paramsym as ps


def dense_net(init: int = 16, growth: int = 8, blocks: tuple[int, ...] = (2, 3, 2), squeeze: int = 4) -> Shapes:
    """Widths that grow in a block and are halved after it, rounded down."""
    found: Shapes = {}
    width = init
    for stage, number in enumerate(blocks):
        for layer in range(number):
            found[f"b{stage}.{layer}.w"] = (squeeze * growth, width + layer * growth)
        width += number * growth
        if stage + 1 < len(blocks):
            found[f"t{stage}.w"] = (width // 2, width)
            width //= 2
    return found | {"fc": (10, width)}


def style(base: int = 1024, most: int = 64) -> Shapes:
    """Channels by resolution, at most so many."""
    return {f"b{side}.w": (min(base // side, most), min(base // max(4, side // 2), most)) for side in (4, 8, 16, 32)}


def patches(base: int = 16, most: int = 64, channels: int = 3) -> Shapes:
    """Channels that double up to a bound."""
    widths = [channels, *(min(base * 2**level, most) for level in range(4))]
    return {f"l{level}.w": (widths[level + 1], widths[level]) for level in range(4)}


def divisible(channels: float, divisor: int) -> int:
    """The function ``make_divisible`` of convolutional networks."""
    nearest = max(divisor, int(channels + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * channels else nearest


def squeezed(channels: int = 96, classes: int = 10) -> Shapes:
    """A quarter of the channels, rounded to a multiple of 8."""
    return {"reduce.w": (divisible(channels // 4, 8), channels), "fc": (classes, divisible(channels, 8))}


def by_any_divisor(channels: int = 96, divisor: int = 8) -> Shapes:
    """The divisor is an argument too."""
    return {"w": (divisible(channels, divisor), channels)}


def at_least_one_multiple(channels: int = 96) -> Shapes:
    """Rounded down to a multiple of 8, at least 8."""
    return {"w": (max(8, channels // 8 * 8), channels)}


def shuffled(groups: int = 3, width: int = 24) -> Shapes:
    """A quarter of the channels in each group, rounded down, and all groups."""
    inside = width * groups // 4
    return {"squeeze.w": (inside * groups, width), "expand.w": (width * groups, inside)}


def flattened(image: int = 28, first: int = 6, second: int = 16) -> Shapes:
    """Two convolutions of 5 pixels with pooling: all pixels that are left, times the channels."""
    side = ((image - 4) // 2 - 4) // 2
    return {"conv.w": (second, first, 5, 5), "fc.w": (120, second * side**2)}


BUILDS = (dense_net, style, patches, squeezed, by_any_divisor, at_least_one_multiple, shuffled, flattened)


@cases(2)
@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
def test_the_form_is_the_build(build: Callable[..., Shapes]) -> None:
    """Every tensor, in order, and the count."""
    form = ps.derive(build, tests=60, seconds=60)
    for sized, wanted in drawn(form, build, 10, {"blocks_0", "blocks_1", "blocks_2", "divisor"}):
        assert sized.shapes() == wanted
        assert sized.count == sum(map(prod, wanted.values()))


def test_half_of_a_sum_is_one_law() -> None:
    """The transition after a dense block: a polynomial of three sizes, halved."""
    assert str(ps.derive(dense_net, blocks=(2, 3), tests=60).shapes()["t0.w"][0]) == "floor(blocks_0*growth/2 + init/2)"


def test_small_numbers_that_are_rounded_down_too_far() -> None:
    """9, 10, 11, 18, 19 and 27 channels get one more multiple of 8, because less than 9/10 of them would be left; larger numbers do not."""
    form = ps.derive(squeezed, tests=60)
    assert [form.at(channels=channels).shapes()["fc"][1] for channels in (1, 8, 9, 11, 12, 17, 18, 27, 28, 35)] == [
        8, 8, 16, 16, 16, 16, 24, 32, 32, 32,
    ]  # fmt: skip
