"""One entry per spatial axis."""

from __future__ import annotations

import pytest

from paramsym import K
from paramsym.errors import ArgumentError
from paramsym.layers.spatial import exclude, per_axis


def test_one_entry_per_axis() -> None:
    """A number stands for every axis; a tuple says each, and must be long enough."""
    assert per_axis(K, 3, "stride") == (K, K, K)
    assert per_axis((1, K), 2, "stride") == (1, K)
    with pytest.raises(ArgumentError, match=r"stride is .* 2 entries; wanted one size or a tuple of 3"):
        per_axis((1, 2), 3, "stride")


def test_stride_and_dilation_exclude_each_other() -> None:
    """A symbol may still turn out to be one."""
    exclude((1, 2), (1, 1))
    exclude((K, K), (2, 2))
    with pytest.raises(ArgumentError, match="stride 2 together with dilation"):
        exclude((2, 2), (1, 3))


def test_a_refusal_shows_every_number_that_differs() -> None:
    """One number for an axis is shown as it was given, several as a tuple."""
    with pytest.raises(ArgumentError, match=r"stride \(1, 2\) together with dilation \(2, 1\)"):
        exclude((1, 2), (2, 1))
