"""Interpolation against JAX and the identities that define it; torch's modes are compared in the tests of the layers."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported
from hypothesis import given, settings, strategies as st

from paramsym import B, W
from paramsym.program.resampling import Resample, Sample
from paramsym.program.types import ArrayType

MODES: dict[Any, int] = {"nearest": 1, "nearest-exact": 1, "linear": 2, "cubic": 4, "lanczos3": 6, "lanczos5": 10}


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(sorted(MODES)), st.integers(1, 6), st.integers(1, 9), st.booleans())
def test_constants_stay_constant(mode: Any, size: int, length: int, aligned: bool) -> None:
    """The weights of every output entry add up to one."""
    xp = imported("numpy")
    found = Resample(mode, (length,), (None,), aligned).run(xp, xp.full((2, size), 3.5))
    assert found.shape == (2, length)
    assert abs(found - 3.5).max() < 1e-12


@pytest.mark.parametrize("mode", ["lanczos3", "lanczos5", "linear"])
def test_against_jax(mode: Any) -> None:
    """``jax.image.resize`` to twice and three times the size."""
    jax, xp = imported("jax"), imported("numpy")
    x = xp.random.default_rng(0).standard_normal((5, 7)).astype("float32")
    wanted = xp.asarray(jax.image.resize(x, (10, 21), mode))
    assert abs(Resample(mode, (10, 21), (None, None)).run(xp, x.astype(float)) - wanted).max() < 1e-5


@pytest.mark.parametrize(("mode", "taps"), MODES.items())
def test_work(mode: Any, taps: int) -> None:
    """One operation for every entry that an output entry is made of, a square of them in two axes."""
    taken, operation = ArrayType((B, W, W)), Resample(mode, (2 * W, 2 * W), (2, 2))
    (work,) = operation.work((taken,), operation.gives(taken))
    assert (work.unit, work.factors) == (mode, (B, 2 * W, 2 * W, taps, taps))


@pytest.mark.parametrize("beyond", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligned", [False, True])
def test_points_between_entries(beyond: Any, *, aligned: bool) -> None:
    """The four neighbours of a point, each by its distance; outside are zeros, the nearest entry, or the image in a mirror."""
    xp = imported("numpy")
    chance = xp.random.default_rng(0)
    x, points = chance.standard_normal((1, 1, 4, 5)), chance.uniform(-1.4, 1.4, (1, 3, 2, 2))

    def inside(at: float, size: int) -> float:
        low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
        while beyond == "reflection" and not low <= at <= high:
            at = 2 * low - at if at < low else 2 * high - at
        return at if beyond == "zeros" else min(max(at, 0.0), size - 1.0)

    def entry(row: int, column: int) -> float:
        return float(x[0, 0, row, column]) if 0 <= row < 4 and 0 <= column < 5 else 0.0

    found = Sample("linear", beyond, aligned).run(xp, x, points)
    nearest = Sample("nearest", beyond, aligned).run(xp, x, points)
    assert found.shape == (1, 1, 3, 2)
    for i, j in xp.ndindex(3, 2):
        column, row = (
            inside((one + 1) / 2 * (size - 1) if aligned else ((one + 1) * size - 1) / 2, size)
            for one, size in zip(points[0, i, j], (5, 4), strict=True)
        )
        top, left = int(xp.floor(row)), int(xp.floor(column))
        parts = [entry(top + a, left + b) * (1 - abs(row - top - a)) * (1 - abs(column - left - b)) for a in range(2) for b in range(2)]
        assert abs(found[0, 0, i, j] - sum(parts)) < 1e-12
        assert nearest[0, 0, i, j] == entry(round(row), round(column))
