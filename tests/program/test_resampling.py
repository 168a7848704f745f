"""Interpolation against JAX and the identities that define it; torch's modes are compared in the tests of the layers."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported
from hypothesis import given, settings, strategies as st

from paramsym import B, W
from paramsym.program.resampling import Resample
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
