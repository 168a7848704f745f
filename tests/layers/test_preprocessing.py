"""Layers that prepare inputs."""

from __future__ import annotations

from frameworks import imported

import paramsym as ps


def test_rescaling_by_channels() -> None:
    """1 * 2 + 0 and 1 * 3 + 1."""
    xp = imported("numpy")
    assert ps.run(ps.Rescaling((2.0, 3.0), (0.0, 1.0)), {}, xp.ones((1, 2))).tolist() == [[2, 4]]
