"""Widths that are halved, bounded or rounded, against the builds themselves."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import pytest
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


@pytest.mark.parametrize("build", [dense_net, style, patches], ids=lambda build: build.__name__)
def test_the_form_is_the_build(build: Callable[..., Shapes]) -> None:
    """Every tensor, in order, and the count."""
    form = ps.derive(build, tests=60, seconds=60)
    for sized, wanted in drawn(form, build, 10, {"blocks_0", "blocks_1", "blocks_2"}):
        assert sized.shapes() == wanted
        assert sized.count == sum(map(prod, wanted.values()))


def test_half_of_a_sum_is_one_law() -> None:
    """The transition after a dense block: a polynomial of three sizes, halved."""
    assert str(ps.derive(dense_net, blocks=(2, 3), tests=60).shapes()["t0.w"][0]) == "floor(blocks_0*growth/2 + init/2)"
