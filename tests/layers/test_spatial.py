"""One entry per spatial axis."""

from __future__ import annotations

import pytest

from paramsym import K
from paramsym.errors import ArgumentError
from paramsym.layers.spatial import exceeds_one, per_axis


def test_one_entry_per_axis() -> None:
    """A number stands for every axis; a tuple says each, and must be long enough."""
    assert per_axis(K, 3, "stride") == (K, K, K)
    assert per_axis((1, K), 2, "stride") == (1, K)
    with pytest.raises(ArgumentError, match=r"stride is .* 2 entries; wanted one size or a tuple of 3"):
        per_axis((1, 2), 3, "stride")


def test_only_numbers_exceed_one() -> None:
    """A symbol may still turn out to be one."""
    assert exceeds_one((1, 2))
    assert not exceeds_one((1, K))
