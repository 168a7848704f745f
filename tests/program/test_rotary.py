"""Scaled rotary positions against the formulas of their papers."""

from __future__ import annotations

from math import sqrt

import pytest

from paramsym.program.rotary import Rope


def test_the_amplitude_of_longrope() -> None:
    """Ding et al. 2024, arXiv:2402.13753: sqrt(1 + ln s / ln n); for Phi-3's 131072 = 32 * 4096 positions, ln 32 / ln 4096 is 5/12."""
    assert Rope(kind="longrope", positions=131072, original_positions=4096).amplitude == pytest.approx(sqrt(1 + 5 / 12), rel=1e-15)
    assert Rope(kind="longrope", positions=4096, original_positions=4096).amplitude == 1
