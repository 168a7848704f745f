"""Scaled rotary positions against the formulas of their papers."""

from __future__ import annotations

from math import sqrt

import pytest
from frameworks import imported

from paramsym.program.rotary import Rope


def test_the_amplitude_of_longrope() -> None:
    """Ding et al. 2024, arXiv:2402.13753: sqrt(1 + ln s / ln n); for Phi-3's 131072 = 32 * 4096 positions, ln 32 / ln 4096 is 5/12."""
    assert Rope(kind="longrope", positions=131072, original_positions=4096).amplitude == pytest.approx(sqrt(1 + 5 / 12), rel=1e-15)
    assert Rope(kind="longrope", positions=4096, original_positions=4096).amplitude == 1


def test_what_pairs_keep_in_yarn() -> None:
    """Peng et al. 2023, section 3.2: the ramp ends at the last feature, 3 of 4, at most; the second of two pairs keeps 1 - 1/3."""
    xp = imported("numpy")
    rope = Rope(theta=10, kind="yarn", factor=2.0, positions=8192, original_positions=4096, beta_fast=1000, beta_slow=1)
    assert rope._kept(xp, 4).tolist() == pytest.approx([1, 2 / 3])
