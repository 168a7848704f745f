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


@pytest.mark.parametrize(
    ("rope", "length", "wanted"),
    [
        (Rope(kind="linear", factor=4.0), 100, [0.25, 0.025, 0.0025, 0.00025]),
        (Rope(kind="dynamic", factor=2.0, positions=8192), 16384, [1.0, 0.06933612376, 0.004807498306, 0.00033333333]),
        (Rope(kind="dynamic", factor=2.0, positions=8192), 4096, [1.0, 0.1, 0.01, 0.001]),
        (
            Rope(theta=100.0, kind="llama3", factor=8.0, positions=512, original_positions=64),
            100,
            [1.0, 0.24438458681, 0.01304225624, 0.00395284733],
        ),
        (Rope(kind="yarn", factor=4.0, positions=8192, original_positions=2048), 100, [1.0, 0.1, 0.006249999627, 0.00025]),
        (
            Rope(kind="longrope", factor=4.0, original_positions=2048, short_factor=(1.0, 1.1, 1.2, 1.3), long_factor=(1.0, 2.0, 3.0, 4.0)),
            100,
            [1.0, 0.09090909361, 0.008333332837, 0.00076923077],
        ),
        (
            Rope(kind="longrope", factor=4.0, original_positions=2048, short_factor=(1.0, 1.1, 1.2, 1.3), long_factor=(1.0, 2.0, 3.0, 4.0)),
            4000,
            [1.0, 0.05, 0.003333333414, 0.00025],
        ),
        (Rope(kind="proportional", share=0.5), 100, [1.0, 0.1, 0.0, 0.0]),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_frequencies(rope: Rope, length: int, wanted: list[float]) -> None:
    """Those of transformers 5.23 (``ROPE_INIT_FUNCTIONS``) for heads of eight entries; it computes in float32."""
    assert rope.frequencies(imported("numpy"), 8, length).tolist() == pytest.approx(wanted, rel=1e-6)


def test_the_amplitude_of_yarn() -> None:
    """As in transformers 5.23 for four times as many positions: 0.1 ln 4 + 1."""
    assert Rope(kind="yarn", factor=4.0, positions=8192, original_positions=2048).amplitude == pytest.approx(1.138629436111989, rel=1e-15)
