"""Taking shapes apart."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import B, C, H, W
from paramsym.errors import ShapeError
from paramsym.layers.axes import Axes, axis_of, not_empty, take_apart


def test_with_and_without_a_batch() -> None:
    """A layer of torch takes one example, one of Keras' does not. With other channels it is a batch that lacks an axis."""
    assert take_apart((3, W), 1, channels=3) == Axes((), 3, (W,))
    assert take_apart((B, W, 3), 1, "channels_last", channels=3) == Axes((B,), 3, (W,), "channels_last")
    assert take_apart((C, W), 1, batched=False).batch == ()
    for shape, options in (((3, W), {"batched": True}), ((B, C, W), {"batched": False}), ((None, W), {}), ((B, W), {"channels": 3})):
        with pytest.raises(ShapeError, match="wanted"):
            take_apart(shape, 1, **options)  # type: ignore[arg-type]


def test_channels_are_compared() -> None:
    """A wrong number is refused, with a hint where the channels stand at the other end."""
    with pytest.raises(ShapeError, match=r"axis 1 holds 8 channels; wanted 3\. The shape looks like one with the channels last"):
        take_apart((1, 8, 8, 3), 2, channels=3)
    with pytest.raises(ShapeError, match="channels first"):
        take_apart((1, 3, 8, 8), 2, "channels_last", channels=3)
    assert take_apart((B, H, W), 1, channels=3).channels == H


def test_the_axis_is_named() -> None:
    """An error along one of several axes says which; a length that must be negative is one."""
    axes = take_apart((1, 1, 5, W), 2)
    with pytest.raises(ShapeError, match="along the width, -W entries are left of W"):
        axes.each(lambda length, taken: length - taken, (1, 2 * W))
    assert axes.giving((1, 2), 7) == (1, 7, 1, 2)


def test_axes_and_emptiness() -> None:
    """Axis numbers count from both ends; only a batch may be empty."""
    assert axis_of(-1, (B, C, W)) == 2
    with pytest.raises(ShapeError, match=r"start_dim is 3; .* has axes -3 to 2"):
        axis_of(3, (B, C, W), "start_dim")
    not_empty((None, W))
    with pytest.raises(ShapeError, match="is empty"):
        not_empty((3, 0))


def test_what_is_wanted_is_said() -> None:
    """Which axes a layer reads, in their order, with the form without a batch where there is one."""
    images = ps.Conv2d(3, 4, 2)
    wanted = r"wanted \(batch, channels, height, width\), or \(channels, height, width\) without a batch, with 3 channels; found 2 axes"
    with pytest.raises(ShapeError, match=wanted):
        images.output_shape((5, 5))
    with pytest.raises(ShapeError, match=r"wanted \(batch, height, width, channels\), with 3 channels; found 2 axes"):
        ps.Conv2d(3, 4, 2, dialect="keras").output_shape((5, 5))
