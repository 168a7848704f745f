"""Taking shapes apart."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import B, C, W
from paramsym.errors import ShapeError
from paramsym.layers.axes import axis_of, not_empty


def test_axes_and_emptiness() -> None:
    """Axis numbers count from both ends; only a batch may be empty."""
    assert axis_of(-1, (B, C, W)) == 2
    with pytest.raises(ShapeError, match=r"start_dim is 3; .* has axes -3 to 2"):
        axis_of(3, (B, C, W), "start_dim")
    not_empty((None, W))
    with pytest.raises(ShapeError, match=r"an axis of \(3, 0\) is empty"):
        not_empty((3, 0))


def test_what_is_wanted_is_said() -> None:
    """Which axes a layer reads, in their order, with the form without a batch if there is one."""
    images = ps.Conv2d(3, 4, 2)
    wanted = r"wanted \(batch, channels, height, width\), or \(channels, height, width\) without a batch, with 3 channels; found 2 axes"
    with pytest.raises(ShapeError, match=wanted):
        images.output_shape((5, 5))
    with pytest.raises(ShapeError, match=r"wanted \(batch, height, width, channels\), with 3 channels; found 2 axes"):
        ps.Conv2d(3, 4, 2, dialect="keras").output_shape((5, 5))
